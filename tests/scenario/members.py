"""`x in column` and `not (x in column)` of columns of files (opt/members.c, part/key_set.c) are what Python says: values of every type, near
and far apart, texts of all lengths, NaN, infinities and zeros of both signs, nulls, columns without rows, in every way of running.
usage: members.py [COUNT] [SEED]"""
import datetime
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, Place, check, finish

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 30
draw = random.Random(sys.argv[2] if len(sys.argv) > 2 else "members")
place = Place()
script, want = [], []
for case in range(COUNT):
    kind = draw.choice(["i64", "f64", "text", "date", "bool", "i16", "u64", "f32", "datetime"])
    n, m = draw.choice([0, 1, 50, 3000, 9000]), draw.choice([0, 1, 5, 300, 2000])
    wide = draw.choice([3, 100, 10**6, 10**15])
    def value():
        k = draw.randrange(-min(wide, 30000), wide)
        if kind == "i64":
            return k
        if kind == "i16":
            return k % 30000
        if kind == "u64":
            return abs(k)
        if kind == "f64":
            return draw.choice([math.nan, -0.0, 0.0, math.inf, k / 4])
        if kind == "f32":
            return float(k % 1000) / 4
        if kind == "text":
            return draw.choice(["", f"t{k % 500}", f"a somewhat longer text number {k}"])
        if kind == "bool":
            return draw.random() < 0.2
        return k % 20000
    def cell(v):
        if kind == "date":
            return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=v))
        if kind == "datetime":
            return (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=v)).isoformat() + "Z"
        if kind == "text":
            return '"' + v + '"'
        if kind == "bool":
            return str(v).lower()
        return "NaN" if v != v else "Inf" if v == math.inf else repr(v)
    a, b = [value() for _ in range(n)], [value() for _ in range(m)]
    null = draw.random() < 0.3
    valid = [not (null and draw.random() < 0.2) for _ in a]
    for name, vs, ok in ("a", a, valid), ("b", b, [True] * m):
        (place.path / f"{name}{case}.csv").write_text("i,v\n" + "".join(f"{i},{cell(v) if o else '<n>'}\n" for i, (v, o) in enumerate(zip(vs, ok))))
    script += [f'let b{case} = read_csv("b{case}.csv", null = "<n>", types = (v: {kind}))', f'let a{case} = read_csv("a{case}.csv", null = "<n>", types = (i: i64, v: {kind}{"?" if null else ""}))']
    has = set(b)
    hit = [o and v == v and v in has for v, o in zip(a, valid)]
    script += [f'print("{case} {{len(a{case} |> where(v in b{case}.v))}} {{sum((a{case} |> where(v in b{case}.v, i > 3)).i)}}")']
    want += [f"{case} {sum(hit)} {sum(i for i, h in enumerate(hit) if h and i > 3)}"]
    if not null:
        script += [f'print("{case} {{sum((a{case} |> where(not (v in b{case}.v))).i)}}")']
        want += [f"{case} {sum(i for i, h in enumerate(hit) if not h)}"]
place.write("ask.flow", "\n".join(script) + "\n")
memory = "40M" if PATIENCE == 1 else "120M"  # sanitizers leave gaps around all that is small
for way in ([], ["--workers", "3"], ["--memory", memory], ["-O0"], ["--interp"]):
    early = [w for w in way if w in ("-O0", "--interp")]
    run = place.run("run", "--no-cache", *early, "ask.flow", *[w for w in way if w not in early])
    found = run.stdout.splitlines()
    check(len(found) == len(want), f"{way}: as many lines as expected", f"{len(found)}, expected {len(want)}\n{run.stderr[-1500:]}")
    for have, expected in zip(found, want):
        check(have == expected, f"{way}: {expected}", have)
ir = place.run("build", "--emit=ir", "ask.flow").stdout
check(ir.count("= in_keys<i=2") >= COUNT, "values are looked up", ir.count("= in_keys<i=2"))
# NaNs are equal to nothing, so none is entered: as many as these would be compared with each other.
place.write("nans.flow", """param n: i64 = 400_000
let b = sort([for i in 0..n: if i % 2 == 0 { nan } else { f64(i) }])
print(len(table(v = sort([for i in 0..n: f64(i)])) |> where(v in b)))
""")
run = place.run("run", "--no-cache", "nans.flow")
check(run.stdout == "200000\n", "a column of which half is NaN", run.stdout + run.stderr)
check("= in_keys<i=2" in place.run("build", "--emit=ir", "nans.flow").stdout, "which is looked up")
finish()
