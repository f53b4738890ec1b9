"""Arrow files that are read part by part (opt/parts.c, io/arrow_parts.c) give what plain Python says of the same rows: every type, nulls,
dictionaries, few and many texts; filters by dates, lists and arithmetic of constants; filters of all rows, of none, after each other;
aggregates by groups; and the errors are those of a file that is read as a whole (-O0), though a filter drops the row.

The file has several batches, and batches of several parts. usage: arrow_parts.py [--all]: of more rows."""
import datetime
import math
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, PATIENCE, Place, check, finish

ROWS = 300_000 if ALL else 160_000  # more parts than one, of each batch
PATHS = [["--workers", "1"], ["--workers", "3"]]
MAKE = f"""let names = ["oak", "elm", "", "ßäöü", "a longer name of a tree"]
let ranks = ["low", "mid", "top"]
let n = {ROWS}
write_arrow(table(i = [for k in 0..n: k * 7919 % 1009 - 300], x = [for k in 0..n: f64(k * 31 % 1001) / 8 - 20], f = [for k in 0..n: f32(k * 17 % 64) / 4],
  nx = [for k in 0..n: if k % 7 == 3 {{ null }} else {{ f64(k * 13 % 501) / 16 }}], s = [for k in 0..n: names[k * 13 % 5]], u = [for k in 0..n: "text number {{k * 11 % 99991}}"],
  ns = [for k in 0..n: if k % 5 == 1 {{ null }} else {{ names[k * 7 % 5] }}], d = [for k in 0..n: date("2020-01-01") + days(k * 17 % 900)],
  tm = [for k in 0..n: datetime("2020-01-01 00:00:00") + minutes(k * 29 % 70001)], b = [for k in 0..n: k * 3 % 4 == 0],
  c = category([for k in 0..n: ranks[k * 5 % 3]], levels = ranks)), "t.arrow")
"""
NAMES = ["oak", "elm", "", "ßäöü", "a longer name of a tree"]
START = datetime.date(2020, 1, 1)
TABLE = [dict(i=k * 7919 % 1009 - 300, x=(k * 31 % 1001) / 8 - 20, f=(k * 17 % 64) / 4, nx=None if k % 7 == 3 else (k * 13 % 501) / 16, s=NAMES[k * 13 % 5],
              u=f"text number {k * 11 % 99991}", ns=None if k % 5 == 1 else NAMES[k * 7 % 5], d=START + datetime.timedelta(days=k * 17 % 900),
              tm=datetime.datetime(2020, 1, 1) + datetime.timedelta(minutes=k * 29 % 70001), b=k * 3 % 4 == 0, c=["low", "mid", "top"][k * 5 % 3]) for k in range(ROWS)]
READ = 'read_arrow("t.arrow", types = (c: text))'

FILTERS = [
    ("i > 650", lambda r: r["i"] > 650),
    ('d >= date("2020-03-01") + months(1), d < date("2020-04-10")', lambda r: datetime.date(2020, 4, 1) <= r["d"] < datetime.date(2020, 4, 10)),
    ('tm <= datetime("2020-01-05 12:00:00") - hours(30)', lambda r: r["tm"] <= datetime.datetime(2020, 1, 4, 6)),
    ('d <= date("2020-01-31") - days(29) and s in ["oak", "ßäöü"]', lambda r: r["d"] <= datetime.date(2020, 1, 2) and r["s"] in ("oak", "ßäöü")),
    ('ns == "elm" and i in [0, 7, 50 + 1, -3]', lambda r: r["ns"] == "elm" and r["i"] in (0, 7, 51, -3)),
    ('c == "top" and x < -19', lambda r: r["c"] == "top" and r["x"] < -19),
    ('u == "text number 77" or is_null(nx) and b and i == 9', lambda r: r["u"] == "text number 77" or r["nx"] is None and r["b"] and r["i"] == 9),
    ("nx > 31", lambda r: r["nx"] is not None and r["nx"] > 31),
    ("f == f32(15.75), b, x > limit", lambda r: r["f"] == 15.75 and r["b"] and r["x"] > 95.5),
    ("i > 10_000", lambda r: False),
    ("x >= -20", lambda r: True),
]
AGGREGATES = "n = count(), i = sum(i), x = sum(x), nx = mean(nx), k = count(nx), lo = min(s), hi = max(d), t = max(tm), a = first(u), z = last(ns), b = any(b), q = all(b), e = sum(x, where = i > 100)"


def shown(v):
    if v is None:
        return "null"
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, datetime.datetime):
        return v.strftime("%Y-%m-%dT%H:%M:%SZ")
    return repr(v) if isinstance(v, float) else str(v)


def aggregates(rows):
    there = [r["nx"] for r in rows if r["nx"] is not None]
    first = lambda of: next((v for v in of if v is not None), None)
    return [len(rows), sum(r["i"] for r in rows), float(sum(r["x"] for r in rows)), math.fsum(there) / len(there) if there else None, len(there),
            min((r["s"].encode() for r in rows), default=None), max((r["d"] for r in rows), default=None), max((r["tm"] for r in rows), default=None),
            rows[0]["u"] if rows else None, first(r["ns"] for r in reversed(rows)), any(r["b"] for r in rows), all(r["b"] for r in rows),
            float(sum(r["x"] for r in rows if r["i"] > 100))]


def line(values):
    return " | ".join(shown(v.decode() if isinstance(v, bytes) else v) for v in values)


def script_and_model():
    """One script of all questions, and the lines that it must print."""
    script, lines = [f"let limit = 90.0 + 5.5\nlet t = {READ}\n"], []
    every = " | ".join("{r.%s}" % name for name in "n i x nx k lo hi t a z b q e".split())
    for k, (text, model) in enumerate(FILTERS):
        source = f"{READ.replace('t.arrow', f't{k}.arrow')} |> where({text})"  # a file of its own: equal reads are one
        kept = [r for r in TABLE if model(r)]
        script.append(f"for r in ({source} |> summarize({AGGREGATES})) {{ print(\"{every}\") }}")
        lines.append(line(aggregates(kept)))
        for by in ("c", "s", "d"):
            script.append(f"for r in ({source} |> group_by(g = {by}) |> summarize({AGGREGATES}) |> head(7)) {{ print(\"{{r.g}} | {every}\") }}")
            groups = {}
            for r in kept:
                groups.setdefault(r[by], []).append(r)
            order = sorted(groups, key=lambda g: g.encode() if isinstance(g, str) else g)
            lines += [line([g, *aggregates(groups[g])]) for g in order[:7]]
        script.append(f"let u{k} = {source} |> derive(y = x * 2 + i) |> where(y > 40, not b) |> select(i, y, nx, s, u, d, c)")
        script.append(f"print(len(u{k}))\nfor r in head(u{k}, 3) {{ print(\"{{r.i}} | {{r.y}} | {{r.nx}} | {{r.s}} | {{r.u}} | {{r.d}} | {{r.c}}\") }}")
        script.append(f"for r in (u{k} |> sort(-y, u, i) |> head(2)) {{ print(\"{{r.i}} | {{r.y}} | {{r.u}}\") }}")
        less = [dict(r, y=r["x"] * 2 + r["i"]) for r in kept]
        less = [r for r in less if r["y"] > 40 and not r["b"]]
        lines.append(str(len(less)))
        lines += [line([r[name] for name in ("i", "y", "nx", "s", "u", "d", "c")]) for r in less[:3]]
        lines += [line([r["i"], r["y"], r["u"]]) for r in sorted(less, key=lambda r: (-r["y"], r["u"].encode(), r["i"]))[:2]]
    script.append("print(\"{len(t |> where(i == 5))} {len(t)} {sum(t.i)}\")")
    lines.append(f"{sum(r['i'] == 5 for r in TABLE)} {ROWS} {sum(r['i'] for r in TABLE)}")
    return "\n".join(script) + "\n", lines


place = Place()
place.write("make.flow", MAKE)
made = place.run("run", "make.flow")
check(made.returncode == 0, "the file is written", made.stderr)
for k in range(len(FILTERS)):
    os.link(place.path / "t.arrow", place.path / f"t{k}.arrow")
text, expected = script_and_model()
place.write("ask.flow", text)
for path in (*PATHS, ["-O0", "--workers", "2"]):
    run = place.run("run", *[p for p in path if p == "-O0"], "ask.flow", *[p for p in path if p != "-O0"])
    found = run.stdout.splitlines()
    check(len(found) == len(expected), f"{path}: as many lines as expected", f"{len(found)}, expected {len(expected)}\n{run.stderr}")
    for have, want in zip(found, expected):
        check(have == want, f"{path}: {want}", have)
ir = place.run("build", "--emit=ir", "ask.flow").stdout
check(ir.count("= table_parts<") >= 2 * len(FILTERS), "the filters went into the reader", ir.count("= table_parts<"))

# ---- groups of few rows that stand together: states or rows, which is told by their bytes -----------------

MANY = 600_000  # more parts than eight, of which the first is asked
WIDTHS = [2, 3, 4, 5, 6, 7, 9]
STATES = {"x = sum(x)": lambda rows: [float(sum(x for x, _ in rows))], "n = count()": lambda rows: [len(rows)],
          "x = sum(x), h = max(x), n = count()": lambda rows: [float(sum(x for x, _ in rows)), max(x for x, _ in rows), len(rows)],
          "x = sum(x), j = sum(j), l = min(j)": lambda rows: [float(sum(x for x, _ in rows)), sum(j for _, j in rows), min(j for _, j in rows)]}
place.write("clusters.flow", f"let n = {MANY}\nwrite_arrow(table(x = [for k in 0..n: f64(k * 31 % 1001) / 8 - 20], j = [for k in 0..n: k * 7919 % 1009 - 300], "
            + ", ".join(f"g{w} = [for k in 0..n: k // {w}]" for w in WIDTHS) + "), \"clusters.arrow\")\n")
made = place.run("run", "clusters.flow")
check(made.returncode == 0, "the file of clusters is written", made.stderr)
VALUES = [((k * 31 % 1001) / 8 - 20, k * 7919 % 1009 - 300) for k in range(MANY)]
script, expected = [], []
for w in WIDTHS:
    for k, (states, model) in enumerate(STATES.items()):
        os.link(place.path / "clusters.arrow", place.path / f"clusters{w}_{k}.arrow")
        names = [part.split(" = ")[0] for part in states.split(", ")]
        sums = ", ".join(f"{name} = sum({name} * ((g{w} % 97) + 1))" for name in names)
        script.append(f'for r in (read_arrow("clusters{w}_{k}.arrow") |> group_by(g{w}) |> summarize({states}) |> summarize(rows = count(), {sums})) '
                      + '{ print("{r.rows} | ' + " | ".join("{r.%s}" % name for name in names) + '") }')
        groups = [[(g % 97 + 1) * v for v in model(VALUES[g * w:g * w + w])] for g in range((MANY + w - 1) // w)]
        expected.append(line([len(groups), *[sum(column) for column in zip(*groups)]]))
place.write("few.flow", "\n".join(script) + "\n")
for path in (*PATHS, ["--workers", "2", "--memory", "40M" if PATIENCE == 1 else "8000M"]):  # a sanitizer's own memory counts too
    found = place.run("run", "few.flow", *path)
    check(found.stdout.splitlines() == expected, f"{path}: groups of few rows", (found.stdout, expected, found.stderr))
check("partial" in place.run("build", "--emit=ir", "few.flow").stdout, "states are made in the reader", script[0])

# ---- what is wrong in a row that no filter keeps ---------------------------------------------------------

good = (place.path / "t.arrow").read_bytes()
mark = b"text number 77"
bad = good[:good.rfind(mark)] + b"text \xff\xfember 77" + good[good.rfind(mark) + len(mark):]
(place.path / "bad.arrow").write_bytes(bad)
for name, source in {"too large": 'read_arrow("t.arrow", types = (i: i8, c: text))', "null": 'read_arrow("t.arrow", types = (nx: f64, c: text))',
                     "no UTF-8": 'read_arrow("bad.arrow", types = (c: text))'}.items():
    place.write("wrong.flow", f"let t = {source}\nprint(len(t |> where(d == date(\"2019-01-01\") and i > 2 and nx > 0.5 and u == \"x\")))\n")
    said = [place.run("run", *o, "wrong.flow") for o in ([], ["-O0"], ["--interp"])]
    check(said[0].stderr.count("error ") == 1 and not said[0].stdout, f"{name}: an error", said[0].stderr)
    for other in said[1:]:
        check(said[0].stderr == other.stderr, f"{name}: the same error as of the whole file", said[0].stderr + other.stderr)
finish()
