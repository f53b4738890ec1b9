#!/usr/bin/env python3
"""The record of a script's last run: rows by place as a model in Python counts them, in every way of running; what failed, was
interrupted or was killed leaves one; notes over runs; bounds; who has no store leaves none; what is no record is none."""
import random
import re
import signal
import sys
import time

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, Place, check, finish


def record(place, script="main.flow"):
    """The lines of the record of a script: {word: [fields]}; None: there is none."""
    name = b"run of " + str((place.path / script).resolve()).encode()
    for p in place.store.glob("records/*/*"):
        data = p.read_bytes()
        at = data.find(b"flow run 5\n")
        if at < 0 or name + b"flow" in data or data.count(name, 0, at + 1) == 0:
            continue
        lines = {}
        for line in data[at:].split(b"\n---\n")[0].decode().split("\n")[1:]:
            lines.setdefault(line.split(" ")[0], []).append(line.split(" ")[1:])
        return lines, len(data)
    return None


def rows(lines):
    """{(operator, line): (calls, rows in, rows out)}"""
    return {(p[0], int(p[2])): (int(p[7]), int(p[9]), int(p[10])) for p in lines["place"]}


# ---- rows, as Python counts them ----
draw = random.Random(19)
sales = [(draw.choice(["north", "south", "east"]), draw.randrange(30), draw.randrange(1, 50), draw.randrange(1, 100)) for _ in range(5000)]
shops = [("north", 3), ("south", 5), ("west", 9)]
place = Place()
place.write("sales.csv", "shop,day,amount,price\n" + "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in sales))
place.write("shops.csv", "shop,size\n" + "".join(f"{a},{b}\n" for a, b in shops))
place.write("main.flow", """let sales = read_csv("sales.csv")
let dear = sales |> where(price > 40)
show(dear |> sort(price) |> head(2))
let joined = sales |> join(read_csv("shops.csv"), on = shop)
let large = joined |> where(size > 4)
show(large |> group_by(day) |> summarize(n = count()) |> tail(2))
stage days(t: _[n]) = t |> distinct(day)
show(days(dear))
""")
dear = [s for s in sales if s[3] > 40]
large = [s for s in sales if dict(shops).get(s[0], 0) > 4]
WANT = {("read_table", 1): len(sales), ("compress", 2): len(dear), ("join", 4): sum(s[0] in dict(shops) for s in sales),
        ("compress", 5): len(large), ("group", 6): len({s[1] for s in large})}
for mode in (["--workers", "1"], ["--workers", "2"], ["--workers", "3"], ["--workers", "8"], ["-O0"], ["--interp"]):
    options = [m for m in mode if m in ("-O0", "--interp")]
    done = place.run("run", *options, "main.flow", *[m for m in mode if m not in options])
    check(done.returncode == 0, f"{mode} runs", done.stderr)
    lines, _ = record(place)
    found = rows(lines)
    for key, n in WANT.items():
        check(key in found and found[key][2] == n, f"{mode}: {key} gives {n} rows", found.get(key))
    run = lines["run"][0]
    check(run[1:3] == ["ended", "0"] and int(run[3]) > 0 and int(run[4]) > 1 << 20, f"{mode}: the run ended", run)
    check([f[2].endswith(e) for f, e in zip(lines["read"], ("sales.csv", "shops.csv"))] == [True, True], "which files it read", lines["read"])
    check([f[0] for f in lines["file"]] == [str((place.path / "main.flow").resolve())], "its source", lines["file"])
    stage = lines["stage"][0]
    check(stage[0] == "days" and stage[2] == "yes" and stage[6] == str(len(dear)) and stage[7] == "30", f"{mode}: the stage", stage)
check(len(lines["run"]) == 6 and {r[6] for r in lines["run"]} == {run[6]}, "a line of each run, of one source", lines["run"])
check(len(run[6]) == 32 and run[6] in place.run("version", "main.flow").stdout, "the digest of its text", run)
profile = place.run("explain", "--profile", "main.flow")
check(profile.returncode == 0 and re.search(r"\n.*%.* 2  let dear = sales", profile.stdout) and "changed" not in profile.stdout, "explain --profile", profile.stdout)
place.write("main.flow", "# one more line\n" + (place.path / "main.flow").read_text())
profile = place.run("explain", "--profile", "main.flow")
check(re.search(r"changed since\n(.*\n)*.* 3  let dear = sales", profile.stdout), "lines of a text that has changed are found", profile.stdout)
check("run it first" in place.run("explain", "--profile", "other.flow").stderr, "explain --profile without a run")

# ---- the most that the run held while a place ran: blocks of whole pages, for each column that lives then ----
N = 500_000
place = Place(main__flow=f"""let n = {N}
let a = [for i in 0..n: f64((i * 7919) % 500009)]
let b = sort(a)
let c = [for x in b: x * 2.0 + 1.0]
print(sum(c) > 0.0, b[0])
let few = sort([3, 2, 1])
print(few)
stage large(x: f64[m]) -> f64 = sum(sort(x))
let d = [for i in 0..2 * n: f64(i % 1000)]
print(large(d), d[1])
""")
PAGE, HUGE = 4096, 2 << 20  # whole huge pages where these are an eighth more at most
least, whole = (-(-8 * N // size) * size for size in (PAGE, HUGE))
column = whole if whole - least <= least // 8 else least
for mode in (["--workers", "1"], ["--workers", "2"], ["--workers", "3"]):
    done = place.run("run", "main.flow", *mode)
    check(done.returncode == 0, f"{mode} runs", done.stderr)
    lines, _ = record(place)
    held = {}
    for p in lines["place"]:
        held[(p[0], int(p[2]))] = max(int(p[12]), held.get((p[0], int(p[2])), 0))
    most = {line: max(h for (_, at), h in held.items() if at == line) for _, line in held}
    peak = int(lines["run"][0][4])
    check(held["loop", 2] == column, f"{mode}: one column while it is made", [held, column])
    there = column if mode == ["--workers", "1"] else 2 * column  # nobody reads what is sorted: one worker does it where it stands
    check(there <= most[3] <= 4 * column, f"{mode}: two, or one, and what sorting needs", [held, column])
    loops = [h for (op, line), h in held.items() if op == "loop" and line in (4, 5)]
    check(loops and set(loops) == {column}, f"{mode}: what nobody needs any more is held no more", [held, column])
    check(most[6] == 0, f"{mode}: nothing large while three numbers are sorted", held)
    check(all(0 <= h <= peak for h in held.values()), f"{mode}: not more than the process had", [held, peak])
    stage = lines["stage"][0]
    if mode == ["--workers", "1"]: # later ones remember it
        check(4 * column - 2 * PAGE <= held["sort_values", 8] <= 9 * column, f"{mode}: in a stage", held)
        check(int(stage[9]) == held["sort_values", 8], f"{mode}: a stage holds what its steps do", [stage, held])
    else:
        check(stage[1] == "cached" and int(stage[9]) >= 2 * column - PAGE, f"{mode}: a stage that is remembered", stage)
    moved = {(p[0], int(p[2])): int(p[13]) for p in lines["place"]}
    check(moved["loop", 2] == 8 * N and moved["sort_values", 3] == 16 * N, f"{mode}: a column made; one read, one made", moved)
    check(sum(b for (op, line), b in moved.items() if op == "loop" and line in (4, 5)) == 8 * N, f"{mode}: one read", moved)
    check(moved["print", 5] == -1, f"{mode}: what is printed is not known", moved)
said = place.run("explain", "--profile", "main.flow").stdout
for line in (2, 3):
    ns = sum(int(p[8]) for p in lines["place"] if int(p[2]) == line)
    speed = sum(b for (_, at), b in moved.items() if at == line) / ns
    check(re.search(rf" MiB +{speed:.2f} +{line}  ", said), f"explain --profile says how fast line {line} is", [speed, said])
check(re.search(r"\d% +3 +7  print\(few\)", said), "and nothing of a line that only shows", said)
source, target = bytearray(1 << 26), bytearray(1 << 26)
best = 1e9
for k in range(5):
    began = time.perf_counter()
    target[:] = source
    best = min(best, time.perf_counter() - began)
mine, limit = 2 * len(source) / best / 1e9, re.search(r"of which 3 threads can copy ([0-9.]+) GB/s here", said)
check(limit and mine / 8 < float(limit[1]) < 8 * max(3, 1) * mine, "what memory can is what Python finds, roughly", [mine, said])
for line in (2, 3):
    check(re.search(rf" {most[line] / 2**20:.1f} MiB +[0-9.]+ +{line}  ", said), f"explain --profile says what line {line} held", said)
check(re.search(r"\d% +3 +[0-9.]+ +6  let few", said), "and nothing where that is not known", said)
place.write("tiny.flow", 'print("nothing that lies in columns")\n')
place.run("run", "tiny.flow")
said = place.run("explain", "--profile", "tiny.flow").stdout
check("\nGB/s: no line reads or writes whole columns of numbers alone, so none is said\n" in said and "can copy" not in said, "why there is no speed", said)
place.run("run", "main.flow", "--report", "run.html")
lines, _ = record(place)
page = (place.path / "run.html").read_text()
for p in lines["place"]:
    if p[0] == "sort_values" and p[2] in "36":
        want = f"{int(p[12]) / 1e6:.1f} MB" if int(p[12]) else ""
        row = re.search(rf"<tr><td class=n>{p[2]}<td>sort_values(.*)", page)
        check(p[2] == "6" and not row or row and re.findall("<td class=n>([^<]*)", row[1])[4] == want, f"the page says what line {p[2]} held", row and row[0])

# ---- bytes that operators read and wrote; of calls that are timed, as the time is ----
place = Place()
place.write("t.csv", "a,b,c\n" + "".join(f"{i},{i * 0.5},x{i % 9}\n" for i in range(20_000)))
place.write("main.flow", """let t = read_csv("t.csv")
let numbers = t |> select(a, b)
let few = numbers |> where(a % 4 == 0)
show(few |> tail(1))
let texts = t |> where(a % 5 == 0)
show(texts |> tail(1))
var s = 0
for i in 0..1000 {
  s = s + sum(sort([i, 3, 2, 1]))
}
print(s)
""")
for mode in (["--workers", "1"], ["--workers", "3"]):
    done = place.run("run", "main.flow", *mode)
    check(done.returncode == 0, f"{mode} runs", done.stderr)
    lines, _ = record(place)
    moved = {(p[0], int(p[2])): int(p[13]) for p in lines["place"]}
    check(moved.get(("compress", 3)) == 20_000 * (1 + 16) + 5_000 * 16, f"{mode}: which rows, two columns, and what is kept of them", moved)
    check(moved.get(("compress", 5)) == -1, f"{mode}: of texts it is not known", moved)
    check(all(b == -1 for (op, line), b in moved.items() if op != "loop" and line == 1), f"{mode}: nor of a file", moved)
    timed = sum(1 if k < 64 else 16 for k in range(1000) if k < 64 or k % 16 == 0)
    check(moved.get(("sort_values", 9)) == timed * 64, f"{mode}: calls that are timed count for those that are not", [moved, timed])

# ---- notes over runs; how stages were kept ----
place = Place(main__flow="""param rate: f64 = 0.5
stage fit(rate: f64) -> f64 {
  note(loss = rate * 2.0, `a b=c` = "x %\\ny")
  rate
}
stage never(x: f64) -> f64 = x + 1.0
print(fit(rate), never(rate))
""")
for k in range(25):
    place.run("run", "main.flow", "--rate", str(k))
lines, _ = record(place)
check(len(lines["run"]) == 20, "twenty runs are remembered", len(lines["run"]))
check([r[10] for r in lines["run"]] == [f"loss={2.0 * k}" for k in range(24, 4, -1)], "the notes of each run, the latest first", lines["run"])
check(lines["run"][0][11] == "a%20b%3dc=\"x%20%25%20y\"", "what is no word stands as one", lines["run"][0])

# ---- failed, interrupted, killed ----
place = Place(main__flow="""param n: i64 = 1
param file: file = "none.csv"
type Row = (a: i64)
stage slow(n: i64) -> i64 {
  var k = 0
  var s = 0
  while k < n {
    s = s + sum([for i in 0 .. 1000: i * k])
    k = k + 1
  }
  s
}
let first = sort([3, 2, 1])
print(first)
print(slow(n))
let t: Row[_] = read_csv(file)
show(t)
""")
done = place.run("run", "main.flow")
check(record(place), "a record", done.stderr)
lines, _ = record(place)
check(done.returncode == 1 and lines["run"][0][1:3] == ["failed", "1"] and lines["stage"][0][1] == "run", "a failed run leaves one", done.stderr)
began = lines["run"][0][0]
for how, state in ((signal.SIGINT, "stopped"), (signal.SIGKILL, "running"), (signal.SIGTERM, "stopped")):
    running = place.start("run", "main.flow", "--n", str(10 ** 9 + how))
    until = time.time() + 20 * PATIENCE
    while time.time() < until:
        lines, _ = record(place)
        if lines["run"][0][0] != began and lines.get("stage"):
            break
        time.sleep(0.02)
    check(lines["run"][0][1] == "running" and lines["stage"][0][:2] == ["slow", "running"], "while it runs", lines["run"][0])
    running.send_signal(how)
    running.communicate(timeout=60 * PATIENCE)
    lines, _ = record(place)
    began = lines["run"][0][0]
    check(lines["run"][0][1] == state, f"{how}: the state of the run", lines["run"][0])
    check(any(p[0].startswith("sort") for p in lines["place"]), "what it did outside of stages", lines["place"])
    said = place.run("why", "main.flow").stdout
    check(("interrupted" if state == "stopped" else "killed") in said, f"{how}: why says so", said)
    check(("slow: interrupted\n" if state == "stopped" else "slow: running when") in said, f"{how}: why says it of the stage", said)

# ---- one loop for long, in which nobody looks at the clock, behind many lines that are printed while a stage runs ----
for how, states in ((signal.SIGKILL, {"running"}), (signal.SIGINT, {"stopped"})):
    place = Place(main__flow="""stage slow(k: i64) -> f64 = sum(for i in 0 .. 30000000: sqrt(f64(i + k)))
let parts = [for k in 0 .. 8: slow(k)]
for i in 0 .. 5000 { print("line {i}") }
var s = sum(parts)
for i in 0 .. 100000000000 { s += sqrt(f64(i)) }
print(s)
""")
    running = place.start("run", "main.flow", "--workers", "2")
    until = time.time() + 20 * PATIENCE
    while time.time() < until and not (record(place) and len(record(place)[0].get("stage", [])) == 8):
        time.sleep(0.05)
    time.sleep(0.3)
    running.send_signal(how)
    running.communicate(timeout=60 * PATIENCE)
    found = record(place)
    check(found and found[0]["run"][0][1] in states, f"{how} in one loop leaves a record", found and found[0]["run"])
    check(place.run("why", "main.flow").returncode == 0, f"{how} in one loop: it is readable")

# ---- bounds ----
place = Place(main__flow="""stage one(k: i64) -> i64 {
  note(k = k)
  k + 1
}
print(sum([for k in 0 .. 10500: one(k)]))
""")
place.run("run", "main.flow", "--no-cache")
check(record(place) is None, "without a store there is no record")
done = place.run("run", "main.flow", timeout=600)
lines, size = record(place)
check(done.returncode == 0 and len(lines["stage"]) == 10000 and len(lines["note"]) == 500 and size < 3 << 20, "bounded", [len(lines["stage"]), size])
check(lines["run"][0][7] == "10500", "all calls are counted", lines["run"][0])

# ---- what is no record ----
for p in place.store.glob("records/*/*"):
    data = bytearray(p.read_bytes())
    for _ in range(20):
        broken = bytearray(data)
        for _ in range(draw.randrange(1, 5)):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        p.write_bytes(broken[:draw.randrange(len(broken))] if draw.random() < 0.3 else broken)
        for words in (["why", "main.flow"], ["explain", "--profile", "main.flow"], ["explain", "main.flow"]):
            check(place.run(*words).returncode in (0, 1), f"{words} of a damaged record")
before = len(list(place.store.glob("records/*/*")))
for options in ({"args": ["-"], "input": "print(2)\n"}, {"args": ["-c", "print(2)"]}):
    done = place.run("run", *options.pop("args"), **options)
    check(done.returncode == 0 and len(list(place.store.glob("records/*/*"))) == before, "standard input and -c have no record", done.stderr)

# ---- FLOW_RECORD=off ----
place = Place(main__flow="print(1)\nshow(table(a = [1, 2]))\n")
place.env["FLOW_RECORD"] = "off"
done = place.run("run", "main.flow")
check(done.returncode == 0 and record(place) is None, "no record is left where none is wanted", done.stdout + done.stderr)
place.env["FLOW_RECORD"] = "on"
place.run("run", "main.flow")
check(record(place), "and one is left else")
place.env["FLOW_RECORD"] = "off"
done = place.run("diff", "main.flow")
check(done.returncode == 0 and "the same: 2 tables" in done.stdout, "diff compares with it all the same", done.stdout + done.stderr)
finish()
