"""Tables of hundreds of columns through every verb: values by a plain model of Python, compiled, interpreted and on one and
two workers the same bytes; and what compiling makes of thousands of columns grows with their number, not faster."""
import csv
import os
import pathlib
import random
import resource
import subprocess
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, PATIENCE, Place, check, finish

place = Place()
random.seed(17)
N, ROWS = 300, 40
KINDS = ["num", "null", "int", "text"]


def cell(kind):
    if kind == "num":
        return round(random.uniform(-50, 50), 3)
    if kind == "null":
        return None if random.random() < 0.2 else round(random.uniform(-50, 50), 3)
    if kind == "int":
        return random.randrange(-9, 10)
    return random.choice(["a", "bb", "c c", "d,d"])


def written(v):
    return "" if v is None else repr(v) if isinstance(v, (int, float)) else f'"{v}"' if "," in v else v


names = [f"c{i}" for i in range(N)]
kind_of = {name: KINDS[i % 4] for i, name in enumerate(names)}
rows = [{name: cell(kind_of[name]) for name in names} for _ in range(ROWS)]
for name in names:
    rows[-1][name] = rows[-1][name] if rows[-1][name] is not None else 1.5  # some value in each column
    if kind_of[name] == "null":
        rows[0][name] = None
for i, r in enumerate(rows):
    r["c2"] = i % 7 - 3


def put(path, columns, data):
    text = ",".join(columns) + "\n" + "".join(",".join(written(r[c]) for c in columns) + "\n" for r in data)
    place.write(path, text)


put("t.csv", names, rows)
numeric = [n for n in names if kind_of[n] != "text"]
plain = [n for n in names if kind_of[n] == "num"]
ints = [n for n in names if kind_of[n] == "int"]


def mean(values):
    values = [v for v in values if v is not None]
    return float(sum(map(Fraction, values)) / len(values)) if values else None


def least(values):
    values = [v for v in values if v is not None]
    return min(values) if values else None


def nulls_last(v):
    return (v is None, 0 if v is None else v)


wanted = {}  # name of an output -> columns, rows
script = ['let t = read_csv("t.csv")']


def verb(name, code, columns, data):
    script.append(f't |> {code} |> write_csv("{name}.csv")')
    wanted[name] = (columns, data)


verb("all", "where(true)", names, rows)
verb("means", "summarize(each(numeric(), mean))", numeric, [{n: mean([r[n] for r in rows]) for n in numeric}])
groups = sorted({r["c2"] for r in rows})
in_group = {g: [r for r in rows if r["c2"] == g] for g in groups}
others = [n for n in numeric if n != "c2"]
verb("by_group", "group_by(c2) |> summarize(each(numeric(), min))", ["c2"] + others,
     [{"c2": g, **{n: least([r[n] for r in in_group[g]]) for n in others}} for g in groups])
verb("derived", "derive(each(numeric(), x => x * 2 + 1, name = \"*_d\")) |> select(cols(\"*_d\"))",
     [n + "_d" for n in numeric],
     [{n + "_d": None if r[n] is None else r[n] * 2 + 1 for n in numeric} for r in rows])
verb("filled", "derive(each(numeric(), x => x ?? 0)) |> select(numeric())", numeric,
     [{n: 0.0 if r[n] is None else r[n] for n in numeric} for r in rows])
verb("selected", "select(c0, c298, c3, c150)", ["c0", "c298", "c3", "c150"], rows)
verb("dropped", "drop(c1, c7, c299)", [n for n in names if n not in ("c1", "c7", "c299")], rows)
verb("renamed", "rename(first = c0, last = c299)", ["first"] + names[1:-1] + ["last"],
     [{**r, "first": r["c0"], "last": r["c299"]} for r in rows])
verb("kept", "where(c0 > 0, c2 < 2)", names, [r for r in rows if r["c0"] > 0 and r["c2"] < 2])
verb("without_null", "drop_null(c1, c5)", names, [r for r in rows if r["c1"] is not None and r["c5"] is not None])
verb("sorted", "sort(c2, desc(c0))", names, sorted(sorted(rows, key=lambda r: -r["c0"]), key=lambda r: r["c2"]))
verb("sorted_nulls", "sort(c1)", names, sorted(rows, key=lambda r: nulls_last(r["c1"])))
verb("top", "head(7)", names, rows[:7])
script.append('concat(t, t |> head(3)) |> write_csv("twice.csv")')
wanted["twice"] = (names, rows + rows[:3])
script.append('let other = t |> group_by(c2) |> summarize(w = max(c0), k = count())\n'
              't |> join(other, on = c2) |> write_csv("joined.csv")')
wanted["joined"] = (names + ["w", "k"], [{**r, "w": max(q["c0"] for q in in_group[r["c2"]]), "k": len(in_group[r["c2"]])}
                                         for r in rows])
script.append('stage scaled(t: _[n]) = t |> derive(each(numeric(), x => x - 1))\nscaled(t) |> write_csv("staged.csv")')
wanted["staged"] = (names, [{n: r[n] if kind_of[n] == "text" or r[n] is None else r[n] - 1 for n in names} for r in rows])
script.append('save(t, "t.flowdata")')
script.append("print(sum(matrix(t |> select(" + ", ".join(ints) + "))))")
script.append("print(len(t |> describe()))")
script.append("let long = t |> select(" + ", ".join(ints) + ") |> unpivot(numeric(), name = which, value = v)\n"
              'long |> write_csv("long.csv")')
wanted["long"] = (["which", "v"], [{"which": n, "v": r[n]} for r in rows for n in ints])
script.append("show(t)")
place.write("wide.flow", "\n".join(script) + "\n")
place.write("load.flow", 'let t = load("t.flowdata")\nt |> write_csv("loaded.csv")\n')


def read(name):
    with open(place.path / f"{name}.csv", newline="") as f:
        lines = list(csv.reader(f))
    return lines[0], lines[1:]


def same(text, v):
    if v is None or isinstance(v, str):
        return text == (v or "")
    return text != "" and float(text) == v


def compare(name, columns, data, how):
    head, lines = read(name)
    ok = head == columns and len(lines) == len(data)
    bad = [] if ok else [f"{len(head)} columns, {len(lines)} rows; {[c for c in head if c not in columns][:3]}"]
    for i, (line, r) in enumerate(zip(lines, data)):
        bad += [f"row {i}, {c}: {x!r}, not {r[c]!r}" for c, x in zip(columns, line) if ok and not same(x, r[c])]
    check(not bad, f"{name}, {how}", "\n".join(bad[:5]))


def outputs():
    return {p.name: p.read_bytes() for p in sorted(place.path.glob("*.csv"))} | {
        "data": (place.path / "t.flowdata").read_bytes()}


first = None
for how, options in {"compiled": ["--workers", "1"], "two workers": ["--workers", "2"], "-O0": ["-O0"],
                     "interpreted": ["--interp"]}.items():
    for p in list(place.path.glob("*.csv")):
        if p.name != "t.csv":
            p.unlink()
    flags = [o for o in options if o in ("-O0", "--interp")]
    rest = [o for o in options if o not in flags]
    place.env["FLOW_CACHE"] = ""
    done = place.run("run", *flags, "wide.flow", *rest)
    check(done.returncode == 0, f"the verbs run, {how}", done.stderr)
    if done.returncode:
        continue
    now = (done.stdout, outputs())
    if first is None:
        first = now
        for name, (columns, data) in wanted.items():
            compare(name, columns, data, how)
        lines = done.stdout.splitlines()
        check(float(lines[0]) == sum(r[n] for r in rows for n in ints), "the sum of a matrix", lines[0])
        check(lines[1] == str(N), "describe has a row for each column", lines[1])
        check(max(map(len, lines[2:])) <= 600, "show is no wider than it should be", max(map(len, lines[2:])))
    check(now == first, f"the same bytes, {how}", [n for n in now[1] if now[1][n] != first[1].get(n)])
done = place.run("run", "load.flow")
check(done.returncode == 0, "what was saved loads", done.stderr)
compare("loaded", names, rows, "saved and loaded")

# An error in one of the columns is the first in program order, at the same place, however it is run.
place.write("fails.flow", 'let t = read_csv("t.csv")\nt |> select(' + ", ".join(ints) +
            ') |> derive(each(numeric(), x => 100 // x)) |> write_csv("q.csv")\n')
fails = [place.run("run", *flags, "fails.flow", *rest) for flags, rest in
         [([], ["--workers", "1"]), ([], ["--workers", "2"]), (["--interp"], []), (["-O0"], [])]]
check(all(f.returncode == fails[0].returncode != 0 for f in fails), "a division by zero fails", fails[0].stderr)
check(all(f.stderr == fails[0].stderr for f in fails), "the same error however it is run",
      "\n".join(f.stderr for f in fails))

# What is found in a file of long rows: the one null is far behind the first megabytes.
line = ",".join(["0.12345678901234"] * 5000) + "\n"
place.write("long.csv", ",".join(f"c{i}" for i in range(5000)) + "\n" + line * 50 + "," + line.split(",", 1)[1] + line * 10)
place.write("long.flow", 'let t = read_csv("long.csv")\nprint(sum(is_null(t.c0)), sum(t.c4999 > 0))\n')
done = place.run("run", "long.flow")
check(done.stdout.split() == ["1", "61"], "a null is found in row 51 of long rows", done.stdout + done.stderr)

# Messages name a few columns and say how many more there are.
for code in ("let x: f64 = t", "fn f(t: (a: f64, b: f64)[_]) = sum(t.a)\nprint(f(t))", "concat(t, t |> rename(z = c7)) |> show",
             "t |> select(nothing) |> show", "t |> where(nothing > 1) |> show", "t |> join(t |> drop(c0), on = c0) |> show"):
    place.write("message.flow", f'let t = read_csv("t.csv")\n{code}\n')
    done = place.run("check", "message.flow")
    check(done.returncode == 3 and max(map(len, done.stderr.splitlines())) < 400, f"a short message: {code}",
          done.stderr[:2000])

# How much there is to compile: instructions stay, tables grow with the columns.
SHAPES = {
    "summarize": "t |> summarize(each(numeric(), mean)) |> write_csv(\"o.csv\")",
    "derive": "t |> derive(each(numeric(), x => x * 2.0 + 1.0)) |> write_csv(\"o.csv\")",
    "where": "t |> where(c0 > 0) |> write_csv(\"o.csv\")",
    "describe": "t |> describe() |> write_csv(\"o.csv\")",
    "concat": "concat(t, t) |> write_csv(\"o.csv\")",
    "unpivot": "t |> unpivot(numeric(), name = which, value = v) |> write_csv(\"o.csv\")",
}
for n in (250, 1000, 5000):
    many = [f"c{i}" for i in range(n)]
    put(f"w{n}.csv", many, [{c: round(random.uniform(-9, 9), 2) for c in many} for _ in range(3)])
for name, code in SHAPES.items():
    found = []
    for n in (250, 1000):
        place.write("shape.flow", f'let t = read_csv("w{n}.csv")\n{code}\n')
        made = place.run("build", "shape.flow", "--emit=llvm")
        check(made.returncode == 0, f"{name} of {n} columns compiles", made.stderr)
        found.append((sum(line.startswith("  %") for line in made.stdout.splitlines()), len(made.stdout)))
    (few, small), (more, large) = found
    check(more <= few + 600 and large <= 6 * small, f"{name}: four times the columns are no more code",
          f"{few} and {more} instructions, {small} and {large} bytes")

# 5,000 columns from the text to the result, in time and memory that leave room for a loaded machine.
place.write("shape.flow", 'let t = read_csv("w5000.csv")\n' + SHAPES["summarize"] + "\n")


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


limits = {} if "FLOW_SANITIZE" in os.environ else {"preexec_fn": limited}
done = subprocess.run([FLOWC, "run", "shape.flow"], cwd=place.path, env=place.env, capture_output=True, text=True,
                      timeout=30 * PATIENCE, **limits)
check(done.returncode == 0, "5,000 columns are summarized", done.stderr)
done = place.run("run", "shape.flow", "--workers", "2")
head, lines = read("o")
check(len(head) == 5000 and len(lines) == 1, "one row of 5,000 means", len(head))
finish()
