"""Tables in memory go through their filters part by part where only aggregates see what is kept (opt/parts_rows.c): random pipelines of one to
three filters, computed columns of floats and whole numbers, groups and aggregates of all rows, of none to four parts of rows, of which other
statements want columns, too. What plain Python says of the rows is right, to the last bit (sums are exact); every way of running gives the same
bytes; what does not fit 64 bits is said with its row, as without parts (-O0). usage: row_parts.py [COUNT] [SEED]

# seconds: 40"""
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, Place, check, finish

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 40 if ALL else 8
draw = random.Random(sys.argv[2] if len(sys.argv) > 2 else "row parts")
SIZES = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_003]
TABLE = """let n = {n}
let t = table(k = [for i in 0..n: (i * 7919 + {a}) % 13], q = [for i in 0..n: (i * 104729 + {a}) % 1009 - 300],
              x = [for i in 0..n: if (i % 977 == 5) {{ -0.0 }} else {{ f64((i * 31 + {a}) % 1013) / 7.0 - 50 }}],
              s = [for i in 0..n: "name {{(i * 13) % {b}}}"]) |> derive(m = if_else(q % 5 == 0, null, q * 3))
"""
FILTERS = [("x > {c}.5", lambda r, c: r["x"] > c + 0.5), ("q < {c} * 4", lambda r, c: r["q"] < c * 4), ("k != {c} % 13", lambda r, c: r["k"] != c % 13),
           ('s in ["name 1", "name {c}"]', lambda r, c: r["s"] in ("name 1", f"name {c}")), ("not (m ?? 0) > {c}", lambda r, c: not (r["m"] or 0) > c),
           ("k == 1 or x <= {c}", lambda r, c: r["k"] == 1 or r["x"] <= c), ("false", lambda r, c: False), ("q > -1000", lambda r, c: True)]
COMPUTED = [("x * {c}", lambda r, c: r["x"] * c), ("q * {c} + k", lambda r, c: r["q"] * c + r["k"]), ("x * x - {c}", lambda r, c: r["x"] * r["x"] - c),
            ("abs(q)", lambda r, c: abs(r["q"])), ("if_else(k > 6, x, -x)", lambda r, c: r["x"] if r["k"] > 6 else -r["x"])]
KEYS = [None, ["k"], ["s"], ["k", "s"], ["s", "h"]]


def some(values):
    return [v for v in values if v is not None]


def mean(values):
    known = some(values)
    if not known:
        return None
    return math.fsum(known) / len(known)


AGGREGATES = [("count()", lambda rows, z: len(rows)), ("sum({v})", lambda rows, z: math.fsum(z) if isinstance((z + [0])[0], float) else sum(z)),
              ("min({v})", lambda rows, z: min(z, default=None)), ("max({v})", lambda rows, z: max(z, default=None)),
              ("sum(m)", lambda rows, z: sum(some(r["m"] for r in rows))), ("count(m)", lambda rows, z: len(some(r["m"] for r in rows))),
              ("first(s)", lambda rows, z: rows[0]["s"] if rows else None), ("last(q)", lambda rows, z: rows[-1]["q"] if rows else None),
              ("mean(m)", lambda rows, z: mean([r["m"] for r in rows])), ("max(s)", lambda rows, z: max((r["s"] for r in rows), default=None))]
NUMBER = {"first(s)": '"none"', "max(s)": '"none"'}


def table_of(n, a, b):
    rows = []
    for i in range(n):
        q = (i * 104729 + a) % 1009 - 300
        x = -0.0 if i % 977 == 5 else float((i * 31 + a) % 1013) / 7.0 - 50
        rows.append({"k": (i * 7919 + a) % 13, "q": q, "x": x, "s": f"name {(i * 13) % b}", "m": None if q % 5 == 0 else q * 3})
    return rows


def pipeline(k, rows):
    """A statement that writes out K.csv, and the rows that should stand there."""
    c, text, kept = draw.randrange(1, 60), "t", rows
    for _ in range(draw.randrange(1, 4)):
        said, holds = draw.choice(FILTERS[:6] if draw.random() < 0.9 else FILTERS)
        text += f"\n  |> where({said.replace('{c}', str(c))})"
        kept = [r for r in kept if holds(r, c)]
    said, of = draw.choice(COMPUTED)
    d = draw.randrange(1, 9)
    text += f"\n  |> derive(v = {said.replace('{c}', str(d))}, h = q > 100)"
    kept = [dict(r, v=of(r, d), h=r["q"] > 100) for r in kept]
    keys = draw.choice(KEYS)
    chosen = draw.sample(AGGREGATES, draw.randrange(1, 5))
    groups = {}
    for r in kept:
        groups.setdefault(tuple(r[key] for key in keys or []), []).append(r)
    if not keys:
        groups.setdefault((), [])
    if keys:
        text += f"\n  |> group_by({', '.join(keys)})"
    names = [f"a{i}" for i in range(len(chosen))]
    text += f"\n  |> summarize({', '.join(name + ' = ' + said.replace('{v}', 'v') for name, (said, _) in zip(names, chosen))})"
    expected = [[*key, *(f(groups[key], [r["v"] for r in groups[key]]) for _, f in chosen)] for key in sorted(groups)]
    return f'{text}\n  |> write_csv("out{k}.csv")\n', expected


def cell(value):
    return "" if value is None else ("true" if value else "false") if isinstance(value, bool) else value


def same(found, value):
    value = cell(value)
    if isinstance(value, float):
        return found != "" and float(found) == value
    return found == str(value)


place = Place()
place.env["FLOW_CACHE"] = ""
WAYS = [["--workers", "1"], ["--workers", "3"], ["-O0"], ["--interp"]]
moved = 0
for k in range(COUNT):
    n, a, b = draw.choice(SIZES), draw.randrange(1000), draw.choice([3, 12, 70])
    rows = table_of(n, a, b)
    statements = [pipeline(j, rows) for j in range(2)]
    script = TABLE.format(n=n, a=a, b=b) + "".join(text for text, _ in statements)
    if draw.random() < 0.4:  # somebody else wants columns of all rows, or a computed one
        script += draw.choice(["print(sum(t.q))\n", 'print(len(t |> where(x > 3)))\n', "print(t |> derive(v = x * 2) |> head(2))\n"])
    place.write("p.flow", script)
    moved += "row_part" in place.run("build", "--emit=ir", "p.flow").stdout
    kept = None
    for way in WAYS if n < 100_000 or k % 4 == 0 else WAYS[:3]:
        done = place.run("run", "--no-cache", "-q", *way, "p.flow")
        check(done.returncode == 0, f"{k}: runs {way}", done.stderr + script)
        found = [(place.path / f"out{j}.csv").read_text() for j in range(2)]
        check(kept is None or found == kept, f"{k}: the same bytes {way}", script)
        kept = found
    for j, (text, expected) in enumerate(statements):
        lines = [line.split(",") for line in kept[j].splitlines()[1:]]
        fine = len(lines) == len(expected) and all(len(f) == len(e) and all(map(same, f, e)) for f, e in zip(lines, expected))
        check(fine, f"{k}: what Python says", f"{script}\n{lines[:3]}\n{expected[:3]}")
check(moved > COUNT // 2, "pipelines go by parts", str(moved))

for n, bad in (70_000, 69_999), (200_000, 3), (200_000, 131_072):
    place.write("over.flow", f"""let t = table(g = [for i in 0..{n}: i % 3], q = [for i in 0..{n}: if i == {bad} {{ 9_000_000_000_000_000_000 }} else {{ i }}])
print(t |> where(q > 1) |> group_by(g) |> summarize(s = max(q * 2)))
""")
    said = [place.run("run", "--no-cache", "-q", *way, "over.flow") for way in WAYS]
    check(all(d.returncode == 1 and d.stderr == said[2].stderr for d in said), f"what does not fit is said, row {bad} of {n}", "".join(d.stderr for d in said))
    check(f"position {bad - 2}" in said[0].stderr, "with its place among what is kept", said[0].stderr)
finish()
