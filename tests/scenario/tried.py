"""A new text is interpreted before its code is made (docs/decisions/tried.md). What it prints, says, leaves behind and records is what
its code does; what was given up shows nowhere; what cannot be done twice is done once. Counted is what code is remembered."""
# seconds: 20
import os
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

LIGHT = """stage squares(n: i64) -> f64[m] = [for i in 0..n: f64(i) ^ 2]
let x = squares(40)
print(sum(x), len(x))
note(mean = mean(x))
show(table(a = x |> head(3)))
"""
HEAVY = """print("once")
stage light(n: i64) -> f64 = sum(for i in 0..n: sqrt(f64(i)))
stage heavy(n: i64) -> f64 = sum(for i in 0..n: sin(f64(i)))
print(light(30))
print(heavy(2000000))
"""


def fresh(text, **files):
    place = Place(main__flow=text, **files)
    place.env.pop("FLOW_KERNELS", None)
    place.env["FLOW_CODE_CACHE"] = str(place.path / ".code")
    return place


def objects(place):
    """How many scripts and functions have remembered code."""
    found = [p.read_bytes()[:4096] for p in (place.path / ".code").rglob("*") if p.is_file()]
    return sum(b"flow.code" in b or b"flow.unit" in b for b in found)


def outcome(done):
    return done.returncode, done.stdout, done.stderr


def places(place):
    """{(operator, line): (calls, rows)} of the record."""
    found = {}
    for p in place.store.glob("records/*/*"):
        for line in p.read_bytes().decode("utf-8", "replace").split("\n"):
            w = line.split(" ")
            if w[0] == "place":
                calls, rows = found.get((w[1], w[3]), (0, 0))
                found[w[1], w[3]] = calls + int(w[8]), rows + max(int(w[10]), 0)
    return found


def both(text, *options, **files):
    """The same as a new text, and by its code."""
    ways = []
    for kernels in (None, "late"):
        place = fresh(text, **files)
        if kernels:
            place.env["FLOW_KERNELS"] = kernels
        ways.append((place, place.run("run", *options, "main.flow")))
    return ways


# ---- what is light is interpreted, and has its code from the second run on
(tried, first), (made, code) = both(LIGHT)
check(outcome(first) == outcome(code), "a light text: the same", f"{outcome(first)}\n{outcome(code)}")
check(objects(tried) == 0 and objects(made) > 0, "it has no code", f"{objects(tried)} {objects(made)}")
check(places(tried) == places(made) and places(tried), "its record is the same", f"{places(tried)}\n{places(made)}")
second = tried.run("run", "main.flow")
check(second.stdout == first.stdout and "0 run, 1 cached" in second.stderr, "its stage is remembered", second.stderr)
check(objects(tried) > 0, "the second run makes its code")
tried.write("main.flow", LIGHT.replace("40", "41"))
before = objects(tried)
check("41" in tried.run("run", "main.flow").stdout and objects(tried) == before, "after an edit it is tried again")

# ---- what is heavy is given up, and nothing is seen of that
(tried, first), (made, code) = both(HEAVY)
check(outcome(first) == outcome(code), "a heavy text: the same", f"{outcome(first)}\n{outcome(code)}")
check("2 stages: 2 run, 0 cached" in first.stderr, "its stages ran once", first.stderr)
check(places(tried) == places(made), "its record is the same", f"{places(tried)}\n{places(made)}")
check(objects(tried) > 0, "it has code at once")
rounds = "var s = 0.0\nfor i in 0..3000000 { s = s * 0.5 + f64(i) }\nprint(s)\n"
(tried, first), (_, code) = both(rounds)
check(outcome(first) == outcome(code) and objects(tried) > 0, "rounds without end", f"{outcome(first)}\n{outcome(code)}")

# ---- failures, recursion, stages that are asked for again
for name, text in {
    "a failure": LIGHT + "print(1 // (len(x) - 40))\n",
    "a failure in a stage": 'stage bad(n: i64) -> i64 = 10 // n\nprint("before")\nprint(bad(0))\n',
    "an assertion": LIGHT + 'assert(len(x) == 3, "three")\n',
    "the same call twice": LIGHT + "print(sum(squares(40)), squares(3)[1])\n",
    "recursion": "fn f(n: i64) -> i64 = if n == 0 { 0 } else { 1 + f(n - 1) }\nprint(f(20000))\n",
    "the environment": 'print(env("HOME", default = "none") == "")\n' + LIGHT,
}.items():
    (_, first), (_, code) = both(text)
    check(outcome(first) == outcome(code), name, f"{outcome(first)}\n{outcome(code)}")

# ---- what cannot be done twice
(tried, first), (made, code) = both('write_csv(table(a = [1, 2]), "out.csv")\nprint("written")\n')
check(outcome(first) == outcome(code) and (tried.path / "out.csv").read_bytes() == (made.path / "out.csv").read_bytes(), "a file that is written")
reads = 'type Row = (a: i64, b: text)\nlet t: Row[_] = read_csv("in")\nprint(len(t), sum(t.a))\n' + HEAVY
csv = "a,b\n" + "".join(f"{i},x\n" for i in range(500))
for name in ("a pipe", "standard input"):
    place = fresh(reads.replace('"in"', '"-"') if name == "standard input" else reads)
    if name == "a pipe":
        os.mkfifo(place.path / "in")
        writer = threading.Thread(target=lambda: (place.path / "in").write_text(csv), daemon=True)
        writer.start()
    done = subprocess.run(place.command("run", "main.flow"), cwd=place.path, env=place.env, input=csv, capture_output=True, text=True, timeout=60)
    check(done.returncode == 0 and done.stdout.startswith("500 124750\nonce\n"), f"{name} is read once", f"{done.stdout}{done.stderr}")
(tried, first), (_, code) = both(HEAVY, "--trace", "t.json")
check(outcome(first) == outcome(code) and '"heavy' in (tried.path / "t.json").read_text(), "a timeline is of the code")
finish()
