"""Aggregates in the reader of CSV files of many parts: the same output and the same errors as without optimisation, on
any number of workers, by the interpreter and in a built binary; and less memory than the rows need.

usage: folds.py [--all]: more rows, and one worker, too."""
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, Place, check, finish

place = Place()
place.env["FLOW_CACHE"] = ""
random.seed(12)
ROWS = 60_000 if ALL else 25_000
WIDE = ["1e300", "-1e300", "1.7e308", "-1.7e308", "5e-324", "-5e-324", "1e-300", "0.1", "-0.0", "0.0", "-0.1", "3.25e17"]


def row(i, kind):
    km = f"{random.uniform(-1000, 1000):.4f}"
    if kind == "wide":
        km = random.choice(WIDE)
    if kind == "odd" and random.random() < 0.0002:
        km = random.choice(["nan", "inf", "-inf"])
    if kind == "odd" and random.random() < 0.3:
        km = random.choice(["-0.0", "0.0"])
    late = random.choice(["", str(random.randrange(-20, 90))])
    who = f"person {random.randrange(ROWS * 2)}" if kind == "many" else random.choice(["a", "b", '"c, ""d"""', "", "zoë"])
    if kind == "one":
        who = "only"
    big = random.choice([1, -1]) * random.randrange(2**62 - 2**40, 2**62) if kind == "large" else random.randrange(100)
    day = f"2024-0{random.randrange(1, 4)}-1{random.randrange(9)}"
    text = random.choice(["plain", '"quoted, with ""quotes"""', '"two\nlines"', "", "a rather long note without quotes"])
    return f"{i},{km},{late},{who},{big},{day},{random.choice(['true', 'false'])},{text}\n"


HEADER = "id,km,late,who,big,day,ok,note\n"
KINDS = ["plain", "wide", "odd", "many", "one", "large"]
for kind in KINDS:
    place.write(f"{kind}.csv", HEADER + "".join(row(i, kind) for i in range(240_000 if kind == "many" else ROWS)))
place.write("empty.csv", HEADER)
place.write("few.csv", HEADER + row(1, "plain") + row(2, "plain"))
good = [row(i, "plain") for i in range(ROWS)]
for name, text in {"value": "7,x,,a,1,2024-01-10,true,n\n", "ragged": "7,1.0\n"}.items():
    for where in (5, ROWS // 2, ROWS - 5):
        place.write(f"{name}_{where}.csv", HEADER + "".join(good[:where]) + text + "".join(good[where:]))
place.write("over.csv", HEADER + "".join(f"{i},1.0,,{'b' if i % 2 else 'a'},{2**62},2024-01-10,true,n\n" for i in range(ROWS)))

ROW = """param f: file = "plain.csv"
type Row = (id: i64, km: f64, late: i64?, who: text?, big: i64, day: date, ok: bool, note: text?)
let t: Row[_] = read_csv(f)
"""
place.write("groups.flow", ROW + """t |> group_by(who) |> summarize(n = count(), s = sum(km), m = mean(km), lo = min(km), hi = max(km), ml = mean(late),
  sl = sum(late), nl = count(late), a = first(note), z = last(km), some = any(ok), every = all(ok), yes = count(ok), t = sum(ok),
  mn = min(note), d = max(day)) |> head(40) |> show
t |> group_by(day, ok, late) |> summarize(n = count(), s = sum(km), lo = min(id)) |> head(30) |> show
t |> group_by(day) |> summarize(n = count(), m = mean(big), lo = min(big), s = sum(late)) |> show
print("{len(t)}")
""")
place.write("zeros.flow", ROW + """let z = t |> group_by(km) |> summarize(n = count(), s = sum(km), lo = min(km))
z |> head(30) |> show
print("{len(z)}")
""")
place.write("whole.flow", ROW + """t |> summarize(n = count(), s = sum(km), m = mean(km), lo = min(km), hi = max(km), ml = mean(late), sl = sum(late),
  nl = count(late), a = first(note), z = last(km), some = any(ok), d = min(day), mb = mean(big)) |> show
""")
place.write("filtered.flow", ROW + """let far = t |> where(km > 100 and not is_null(late)) |> derive(z = km * 1.5)
far |> group_by(who) |> summarize(n = count(), s = sum(z), m = mean(late), lo = min(z)) |> head(20) |> show
far |> summarize(n = count(), s = sum(z), m = mean(late), lo = min(z)) |> show
t |> where(km > 1e308 * 10) |> group_by(who) |> summarize(s = sum(km), m = max(late)) |> show
t |> where(km > 1e308 * 10) |> summarize(n = count(), s = sum(km), m = max(late), a = mean(km)) |> show
print("{len(t)} {len(far)}")
""")
place.write("kept.flow", ROW + """let far = t |> where(km > 100)
far |> group_by(who) |> summarize(n = count(), s = sum(km)) |> head(20) |> show
far |> group_by(day) |> summarize(n = count(), m = median(km)) |> show
far |> head(3) |> show
print("{sum(far.km)}")
""")
place.write("sums.flow", ROW + """print("before")
t |> group_by(who) |> summarize(s = sum(big)) |> show
""")
SCRIPTS = ["groups", "zeros", "whole", "filtered", "kept", "sums"]


def run(script, *options, name):
    done = place.run("run", "-q", *options, f"{script}.flow", "--f", name)
    return done.returncode, done.stdout, done.stderr


for script in SCRIPTS:
    done = place.run("build", "--emit=ir", f"{script}.flow")
    check(("partial" in done.stdout) == (script != "kept"), f"{script}: aggregates are in the reader", done.stdout)
    done = place.run("build", f"{script}.flow", "-o", f"{script}.bin")
    check(done.returncode == 0, f"{script} is built", done.stderr)
    for path in sorted(place.path.glob("*.csv")):
        expected = run(script, "-O0", name=path.name)
        bad = path.name.startswith("ragged") or (path.name.startswith("value") and script != "sums") or \
            (script == "sums" and path.name in ("over.csv", "large.csv"))
        check(expected[0] == (1 if bad else 0), f"{script} {path.name}: the status", expected)
        for workers in ("1", "3") if ALL else ("3",):
            found = run(script, "--workers", workers, name=path.name)
            check(found == expected, f"{script} {path.name}: the same with {workers} workers", (expected, found))
        if path.name in ("plain.csv", "odd.csv", "value_5.csv", "over.csv"):
            found = run(script, "--interp", name=path.name)
            check(found == expected, f"{script} {path.name}: the same when interpreted", (expected, found))
            done = subprocess.run([str(place.path / f"{script}.bin"), "-q", "--f", path.name], cwd=place.path,
                                  env=place.env, capture_output=True, text=True, timeout=300)
            check((done.returncode, done.stdout) == expected[:2], f"{script} {path.name}: the same built", (expected, done))
finish()
