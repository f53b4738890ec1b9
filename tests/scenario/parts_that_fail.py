"""What may fail, in a part of a file (opt/quiet.c): sums and products of whole numbers and decimals of random rows that go into aggregates.
What Python's integers say is right; where one does not fit 64 bits the message is that of the file read as a whole, in every way of
running, from CSV, Arrow and Parquet files of several parts. usage: parts_that_fail.py [COUNT] [SEED]

# seconds: 40"""
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, Place, check, finish

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 12 if ALL else 6
draw = random.Random(sys.argv[2] if len(sys.argv) > 2 else "parts that fail")
ROWS = 140_000
LEAST, MOST = -(1 << 63), (1 << 63) - 1
SCALES = {"a": 0, "b": 0, "p": 2, "q": 3}  # columns and how many digits are behind the point
ROW = "type Row = (k: text, day: i64, a: i64, b: i64, p: decimal(18, 2), q: decimal(18, 3))\n"
READERS = ["csv", "arrow"] + (["parquet"] if os.path.exists(os.environ.get("FLOW_DUCKDB", "")) else [])
place = Place()
place.env["FLOW_CACHE"] = ""


class Overflow(Exception):
    pass


def held(units):
    if not LEAST <= units <= MOST:
        raise Overflow
    return units


class Node:
    def __init__(self, text, scale, of, whole):
        self.text, self.scale, self.of, self.whole = text, scale, of, whole  # whole: an i64, no decimal


def scaled(node, scale):
    power = 10 ** (scale - node.scale)
    return node.of if power == 1 else lambda row: held(node.of(row) * power)


def leaf():
    if draw.random() < 0.3:
        n = draw.choice([0, 1, 2, 7, 100])
        return Node(str(n), 0, lambda row: n, True)
    name = draw.choice("abpq")
    return Node(name, SCALES[name], lambda row: row[name], name in "ab")


def expression(depth):
    if depth == 0:
        return leaf()
    x, y = expression(depth - 1), expression(depth - 1 if draw.random() < 0.4 else 0)
    sign = draw.choice("+-**")
    if sign == "*" and x.scale + y.scale > 9:
        sign = "+"
    text, whole = f"({x.text} {sign} {y.text})", x.whole and y.whole
    if sign == "*":
        return Node(text, x.scale + y.scale, lambda row: held(x.of(row) * y.of(row)), whole)
    scale, of = max(x.scale, y.scale), 1 if sign == "+" else -1
    p, q = scaled(x, scale), scaled(y, scale)
    if draw.random() < 0.2 and sign == "-":
        return Node(f"(-{text})", scale, lambda row: held(-held(p(row) - q(row))), whole)
    return Node(text, scale, lambda row: held(p(row) + of * q(row)), whole)


def spelled(units, scale):
    digits = f"{abs(units):0{scale + 1}}"
    return ("-" if units < 0 else "") + (digits[:-scale] + "." + digits[-scale:] if scale else digits)


def rows_of(case):
    size = [30, 2000, 10**6][case % 3]
    rows = [dict(k="xyz"[i % 3] if case % 2 else "one", day=i % 400, **{c: draw.randrange(-size, size + 1) for c in SCALES}) for i in range(ROWS)]
    for _ in range(draw.choice([0, 1, 2, 5])):  # rows whose products may not fit
        row = rows[draw.randrange(ROWS)]
        for c in SCALES:
            if draw.random() < 0.6:
                row[c] = draw.choice([-1, 1]) * draw.randrange(10**8, 10**17)
    return rows


def expected_of(rows, keep, sums, grouped):
    """The table as CSV; None: something does not fit."""
    kept, groups = [r for r in rows if keep is None or r["day"] < keep], {}
    try:
        values = [[node.of(row) for row in kept] for node, _ in sums]
    except Overflow:
        return None
    for i, row in enumerate(kept):
        groups.setdefault(row["k"] if grouped else "", []).append(i)
    lines = []
    for key in sorted(groups):
        cells = [key] if grouped else []
        for (node, kind), column in zip(sums, values):
            some = [column[i] for i in groups[key]]
            value = {"sum": sum, "min": min, "max": max}[kind](some)
            if not LEAST <= value <= MOST:
                return None
            cells.append(spelled(value, node.scale))
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


folded = failed = 0
for case in range(COUNT):
    rows = rows_of(case)
    place.write("t.csv", "k,day,a,b,p,q\n" + "".join(
        f"{r['k']},{r['day']},{r['a']},{r['b']},{spelled(r['p'], 2)},{spelled(r['q'], 3)}\n" for r in rows))
    place.write("make.flow", ROW + 'let t: Row[_] = read_csv("t.csv")\n' + "".join(f'write_{f}(t, "t.{f}")\n' for f in READERS[1:]))
    done = place.run("run", "-q", "make.flow")
    check(done.returncode == 0, f"{case}: files are made", done.stderr)
    for form in READERS:
        keep, grouped = draw.choice([None, 300, 40]), draw.random() < 0.6
        sums = []
        while len(sums) < 3:
            node = expression(draw.randrange(1, 4))
            if any(c in node.text for c in "abpq"):
                sums.append((node, draw.choice(["sum", "sum", "min", "max"])))
        where = "" if keep is None else f"|> where(day < {keep}) "
        by = "|> group_by(k) " if grouped else ""
        text = ROW + f'let t: Row[_] = read_{form}("t.{form}")\nt {where}{by}|> summarize(' + \
            ", ".join(f"s{i} = {kind}({node.text})" for i, (node, kind) in enumerate(sums)) + ') |> write_csv("out.csv")\n'
        place.write("case.flow", text)
        expected = expected_of(rows, keep, sums, grouped)
        folded += "partial" in place.run("build", "--emit=ir", "case.flow").stdout
        whole = None
        for way in ["-O0"], ["--interp"], *(["--workers", w] for w in "1238"):
            out = place.path / "out.csv"
            out.unlink(missing_ok=True)
            done = place.run("run", "-q", *way, "case.flow")
            found = out.read_text().split("\n", 1)[1] if out.exists() else None
            check(found == expected, f"{case} {form} {way}: what Python says", f"{text}\nexpected {expected}\nfound {found}\n{done.stderr}")
            whole = whole or (done.returncode, done.stderr)
            check((done.returncode, done.stderr) == whole, f"{case} {form} {way}: the message of the whole file", (whole, done.stderr))
        failed += expected is None
check(folded > 0.9 * COUNT * len(READERS), "what may fail is in the reader", folded)
check(0 < failed < COUNT * len(READERS), "some fail and some do not", failed)
finish()
