#!/usr/bin/env python3
"""flowc diff: rows by key, columns, order, texts, the first stage that differs, against a model in Python over random tables; what is
shown where; another script; data that changed; bounds; what cannot be compared; the last run stays what it was.

usage: diff.py [CASES]"""
import datetime
import itertools
import random
import re
import struct
import sys

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

# seconds: 15
CASES = int(sys.argv[1]) if sys.argv[1:] else 30
place = Place()


def diff(*words, status=1):
    done = place.run("diff", *words)
    check(done.returncode == status, f"diff {words}: status {status}", f"{done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def ran(script="main.flow", *words):
    done = place.run("run", script, *words)
    check(done.returncode == 0, f"{script} runs", done.stderr)
    return done.stdout


# ---- the model ----

class Table:
    def __init__(self, names, types, rows):
        self.names, self.types, self.rows = names, types, rows

    def literal(self, value):
        return "null" if value is None else f'"{value}"' if isinstance(value, str) else repr(value)

    def text(self):
        columns = (f"{n} = [{', '.join(self.literal(r[k]) for r in self.rows)}]" for k, n in enumerate(self.names))
        return f"table({', '.join(columns)})"


def said(value):
    return "null" if value is None else value if isinstance(value, str) else repr(value)


def model(was, is_):
    """The lines that are said, as a set of kinds: key, removed, added, changed, first row that moved."""
    shared = [n for n in is_.names if n in was.names]
    a = [{n: r[was.names.index(n)] for n in was.names} for r in was.rows]
    b = [{n: r[is_.names.index(n)] for n in is_.names} for r in is_.rows]
    able = [n for n in shared if was.types[was.names.index(n)] != "f64"]

    def keys(rows, key):
        return [tuple(r[n] for n in key) for r in rows]

    def found(key):
        x, y = keys(a, key), keys(b, key)
        return len(set(x) & set(y)) if len(set(x)) == len(x) and len(set(y)) == len(y) else -1

    candidates = [[n] for n in able]
    for k in range(2, len(able) + 1):
        candidates.append(able[:k])
        if found(able[:k]) >= 0:
            break
    best = max(candidates, key=found, default=None)  # the first of several
    if best is None or found(best) < 0:
        best = None
        x, y = keys(a, shared), keys(b, shared)
        partner, left = [], {}
        for i, k in enumerate(x):
            left.setdefault(k, []).append(i)
        for k in y:
            partner.append(left[k].pop(0) if left.get(k) else None)
    else:
        x = {k: i for i, k in enumerate(keys(a, best))}
        partner = [x.get(k) for k in keys(b, best)]
    taken = set(partner)
    removed = [[said(v) for v in was.rows[i]] for i in range(len(a)) if i not in taken]
    added = [[said(v) for v in is_.rows[i]] for i in range(len(b)) if partner[i] is None]
    changed = []
    for i, p in enumerate(partner):
        cells = [f"{n} {said(a[p][n])} -> {said(b[i][n])}" for n in shared if p is not None and a[p][n] != b[i][n]]
        if cells:
            changed.append(", ".join(said(b[i][n]) for n in best) + ": " + ", ".join(cells))
    order = [p for p in partner if p is not None]
    moved = next((i for i, p in enumerate(partner) if p is not None and any(q is not None and q > p for q in partner[:i])), None)
    check(moved is None or order != sorted(order), "the model agrees with itself")
    return best, removed, added, changed, moved


def found_in(out):
    """The same, from what diff says of the only table."""
    head = re.search(r"rows(, whole rows.*?|, by (.*?)): (\d+) removed, (\d+) added, (\d+) changed$", out, re.M)
    if not head:
        return None
    rows = {mark: [line[4:] for line in out.splitlines() if line.startswith(f"  {mark} ") and not line[4:].startswith("column ")]
            for mark in "-+~"}
    moved = next((int(m[1]) - 1 for line in rows["~"] if (m := re.match(r"the order of the rows, from row (\d+) on", line))), None)
    changed = [line for line in rows["~"] if not line.startswith("the order of")]
    check([int(head[3]), int(head[4]), int(head[5])] == [len(rows["-"]), len(rows["+"]), len(changed)], "the counts are of the rows", out)
    return (head[2].split(", ") if head[2] else None, [r.split() for r in rows["-"]], [r.split() for r in rows["+"]], changed, moved)


def drawn(draw):
    n = draw.randrange(1, 9)
    names = ["shop", "day", "n", "x"]
    ids = draw.sample("abcdefghijkl", n) if draw.random() < 0.6 else draw.choices("abc", k=n)
    days = [draw.randrange(1, 4) if draw.random() < 0.9 else None for _ in range(n)]
    if all(d is None for d in days):
        days[0] = 1
    rows = [[ids[i], days[i], draw.randrange(1, 12), draw.choice([0.5, 1.5, 0.1, 2.0])] for i in range(n)]
    return Table(names, ["text", "i64", "i64", "f64"], rows)


def edited(draw, t):
    rows = [list(r) for r in t.rows]
    for _ in range(draw.randrange(4)):
        kind = draw.randrange(4)
        if kind == 0 and len(rows) > 1:
            del rows[draw.randrange(len(rows))]
        elif kind == 1:
            rows.insert(draw.randrange(len(rows) + 1), [draw.choice("abcdemnop"), draw.randrange(1, 4), draw.randrange(1, 12), 0.25])
        elif kind == 2:
            row = draw.choice(rows)
            k = draw.randrange(1, 4)
            row[k] = draw.choice([0.5, 3.5]) if k == 3 else draw.randrange(1, 12)
        else:
            draw.shuffle(rows)
    names, types = list(t.names), list(t.types)
    if draw.random() < 0.15:
        del names[3], types[3]
        rows = [r[:3] for r in rows]
    elif draw.random() < 0.15:
        names.append("more")
        types.append("i64")
        rows = [r + [draw.randrange(5)] for r in rows]
    if all(r[1] is None for r in rows):
        rows[0][1] = 2
    return Table(names, types, rows)


for case in range(CASES):
    draw = random.Random(case)
    was = drawn(draw)
    is_ = edited(draw, was)
    place.write("main.flow", f"let t = {was.text()}\nshow(t)\n")
    ran()
    place.write("main.flow", f"let t = {is_.text()}\nshow(t)\n")
    want = model(was, is_)
    same = not any(want[1:4]) and want[4] is None and was.names == is_.names
    out = diff("main.flow", status=0 if same else 1)
    if same:
        check("what is shown is the same: 1 table" in out, f"case {case}: nothing differs", out)
        continue
    got = found_in(out)
    check(got == want, f"case {case}: what differs", f"{was.text()}\n{is_.text()}\nwanted {want}\nfound {got}\n{out}")
    check(("+ column more: i64" in out) == ("more" in is_.names) and ("- column x: f64" in out) == ("x" not in is_.names), f"case {case}: columns", out)
    check(diff("main.flow", "run") == out, f"case {case}: the last run is what it was", out)

# ---- a key that is given; types; more rows than are listed ----
place.write("main.flow", "show(table(a = [1, 2, 3], b = [7, 8, 9], c = [1, 2, 3]))\n")
ran()
place.write("main.flow", "show(table(a = [1, 2, 3], b = [9, 8, 7], c = [1.0, 2.5, 3.0]))\n")
out = diff("main.flow", "--key", "b")
check("by b: 0 removed, 0 added, 3 changed" in out and "~ 9: a 3 -> 1, c 3 -> 1.0" in out, "a key that is given", out)
out = diff("main.flow")
check("column c: i64 -> f64" in out and "by a: 0 removed, 0 added, 3 changed" in out and "~ 2: c 2 -> 2.5" in out, "numbers of two types are compared as numbers", out)
check("~ 1: b 7 -> 9\n" in out, "1 is 1.0", out)
place.write("main.flow", "show(table(a = [for i in 0..100: i]))\n")
ran()
place.write("main.flow", "show(table(a = [for i in 0..100: i + 50]))\n")
out = diff("main.flow")
check("50 removed, 50 added, 0 changed" in out and out.count("\n  - ") == 21 and "  - ... and 30 more" in out, "a long list is cut, and says so", out)
place.write("main.flow", "show(table(a = [for i in 0..30000: i]))\nshow(table(a = [1]))\n")
ran()
place.write("main.flow", "show(table(a = [for i in 0..30001: i]))\nshow(table(a = [2]))\n")
out = diff("main.flow")
check("30000 -> 30001 rows; they are not compared" in out and "  + 2" in out, "a table without room in the record", out)

place.write("main.flow", 'show(table(a = [repeat_text("x", 100000), "b"], c = [1, 2]))\nshow(table(a = [1]))\n')
ran()
place.edit("main.flow", "a = [1]", "a = [2]")
out = diff("main.flow")
check("2 rows; they are not compared" in out and "  + 2" in out, "a value without room in the record", out)

# ---- what is shown where ----
place.write("main.flow", 'let rmse = 0.5\nprint("rmse {rmse}")\nshow([1, 2])\nfor i in 0..3 { print("round {i}") }\nprint("a b:c=%20")\n')
ran()
place.write("main.flow", '# better\nlet rmse = 0.25\nprint("rmse {rmse}")\nfor i in 0..2 { print("round {i}") }\nprint("a b:c=%20")\nprint("new")\n')
out = diff("main.flow")
check('line 3, `print("rmse {rmse}")`\n  - rmse 0.5\n  + rmse 0.25\n' in out, "a text that differs", out)
check(out.count("not shown any more") == 2 and "line 3 before: not shown any more" in out and "line 4 before: not shown any more" in out, "what is gone", out)
check('line 6, `print("new")`: shown now, and not before' in out and "a b:c" not in out, "what is new, and what is the same", out)

# ---- stages, data, params, two scripts ----
place.write("sales.csv", "shop,price\n" + "".join(f"{'abc'[i % 3]},{i}\n" for i in range(300)))
place.write("main.flow", """param low: f64 = 50.0
let sales = read_csv("sales.csv")
stage dear(t: _[n], low: f64) = t |> where(price > low)
stage shops(t: _[n]) = t |> group_by(shop) |> summarize(n = count(), most = max(price))
shops(dear(sales, low)) |> show
""")
ran()
out = diff("main.flow", status=0)
check("what is shown is the same" in out and "first stage" not in out, "nothing differs", out)
out = diff("main.flow", "--low", "290")
check("first stage that differs: dear, line 3, low: 50.0 -> 290.0" in out and "~ a: n 83 -> 3\n" in out, "another param", out)
place.edit("main.flow", "max(price)", "min(price)")
out = diff("main.flow")
check("first stage that differs: shops, line 4, its code changed" in out and "~ a: most 297 -> 51" in out, "the first stage that differs", out)
place.write("other.flow", (place.path / "main.flow").read_text().replace("price > low", "price >= low"))
out = diff("main.flow", "other.flow")
check(out.startswith("other.flow against main.flow\nfirst stage that differs: dear, line 3, its code changed\n"), "two scripts", out)
check("~ c: n 83 -> 84, most 53 -> 50" in out, "their rows", out)
with open(place.path / "sales.csv", "a") as f:
    f.write("d,1000\n")
out = diff("main.flow")
check(re.search(r"^/.*sales\.csv has changed since: \d+ -> \d+ bytes$", out, re.M) and "  + d" in out, "data that changed", out)

# ---- in every way of running the record is the same ----
place.write("shapes.flow", """let t = table(a = [1, 2], b = ["x y", ""], c = [null, 0.1], d = [date("2026-01-02"), date("2026-01-03")], e = [decimal("1.50"), decimal("2.00")],
  f = category(["u", "v"]), g = [true, false])
show(t)
show((a = 1, b = "two"))
show([[1.0, 2.0]])
""")


def shown_in(raw):
    """The columns of the first table of a record, as exec/shown.h says they stand there: (dtype, validity, values or texts)."""
    line, raw = raw.split(b"\n", 1)
    found = []
    for _ in range(int(line.split(b" ")[5])):
        head, raw = raw.split(b"\n", 1)
        n = int(head.split(b" ")[1])
        column, raw = raw[:n], raw[n + 1:]
        flags, each = column[1], int.from_bytes(column[2:10], "little")
        count, at = int(line.split(b" ")[3]) * each, 10
        valid = list(column[at:at + count]) if flags & 1 else None
        at += count if flags & 1 else 0
        found.append((valid, column[at:]))
    return found


lines = []
for words in (["--workers", "1"], ["--workers", "3"], ["-O0"], ["--interp"]):
    options = [w for w in words if w in ("-O0", "--interp")]
    place.run("run", *options, "shapes.flow", *[w for w in words if w not in options])
    records = [p.read_bytes() for p in place.store.glob("records/*/*") if b"shapes.flow" in p.read_bytes()]
    lines.append(records[0].split(b"\n===\n")[1])
    check(lines[-1] == lines[0], f"{words}: what was shown", lines[-1])
    day = (datetime.date(2026, 1, 2) - datetime.date(1970, 1, 1)).days
    check(shown_in(lines[-1]) == [(None, struct.pack("<2q", 1, 2)), (None, struct.pack("<2I", 3, 0) + b"x y"), ([0, 1], struct.pack("<2d", 0, 0.1)),
                                  (None, struct.pack("<2i", day, day + 1)), (None, struct.pack("<2q", 150, 200)), (None, struct.pack("<2I", 1, 1) + b"uv"),
                                  (None, b"\1\0")], f"{words}: as it lies in memory", shown_in(lines[-1]))
check("what is shown is the same: 3 tables and lines" in diff("shapes.flow", status=0), "shapes of all kinds", "")

# ---- what cannot be compared ----
place.write("fresh.flow", "show(1)\n")
done = place.run("diff", "fresh.flow")
check(done.returncode == 2 and "no run of fresh.flow is remembered: run it first" in done.stderr, "no last run", done.stderr)
ran("fresh.flow")
place.write("fresh.flow", 'error("no")\n')
done = place.run("diff", "fresh.flow")
check(done.returncode == 1 and "did not end well: nothing is compared" in done.stderr and not done.stdout, "a run that fails", done.stdout + done.stderr)
place.write("fresh.flow", "show(y)\n")
done = place.run("diff", "fresh.flow")
check(done.returncode == 3 and "there is no `y`" in done.stderr, "a script that does not compile", done.stderr)
place.write("fresh.flow", "show(1)\n")
done = place.run("diff", "fresh.flow", "--ranks", "2")
check(done.returncode == 2 and "runs alone" in done.stderr, "ranks", done.stderr)
done = place.run("diff", "fresh.flow", "--keys", "a")
check(done.returncode == 2 and "keys" in done.stderr, "an option that there is not", done.stderr)
done = place.run("diff", "fresh.flow", "--no-cache")
check(done.returncode == 2 and "has left no record" in done.stderr, "no record", done.stderr)
finish()
