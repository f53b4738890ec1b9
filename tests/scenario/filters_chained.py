#!/usr/bin/env python3
"""Filters of what filters kept, as a plain Python model has them: conditions on numbers, texts, dates and columns that may be null, some of
which can fail or cost much; of tables in memory, of files, of arguments of stages; whole tables written, aggregates, numbers of rows in
between; and what each filter kept is in the record of the run. usage: filters_chained.py [CASES] [SEED]"""
import csv
import functools
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, SHORT, Place, check, finish

WORDS = ["", "a", "ab", "b", "a text longer than sixteen bytes", "k"]
CONDITIONS = [  # the text, what it says of a row: None counts as no
    ("a > {n}", lambda r, n: r["a"] > n), ("a % 3 != {m}", lambda r, n: r["a"] % 3 != n % 3), ("b < {x}", lambda r, n: r["b"] < n / 4),
    ("a + c < {n}", lambda r, n: None if r["c"] is None else r["a"] + r["c"] < n), ("c >= {n}", lambda r, n: None if r["c"] is None else r["c"] >= n),
    ("is_null(c) or c < {n}", lambda r, n: r["c"] is None or r["c"] < n), ('s == "{w}"', lambda r, n: r["s"] == WORDS[n % 6]),
    ('s != "{w}"', lambda r, n: r["s"] != WORDS[n % 6]), ('s in ["a", "k", "{w}"]', lambda r, n: r["s"] in ("a", "k", WORDS[n % 6])),
    ('starts_with(s, "a")', lambda r, n: r["s"].startswith("a")), ('d == "{w}"', lambda r, n: None if r["d"] is None else r["d"] == WORDS[n % 6]),
    ("100 // a != {n}", lambda r, n: 100 // r["a"] != n), ("not e", lambda r, n: not r["e"]), ("e or a > {n}", lambda r, n: r["e"] or r["a"] > n),
    ("sqrt(b * b) > {x}", lambda r, n: abs(r["b"]) > n / 4), ("n_chars(s) < {n}", lambda r, n: len(r["s"]) < n),
    ("len(s) > {n}", lambda r, n: r["all"]("n") > n), ("a < len(c)", lambda r, n: r["a"] < r["all"]("n")),  # of the columns as a whole
    ("b <= mean(b) + {x}", lambda r, n: r["b"] <= r["all"]("mean") + n / 4), ("a == max(a) or i % 2 == 0", lambda r, n: r["a"] == r["all"]("max a") or r["i"] % 2 == 0),
    ("sum(a) - a > {n} or e", lambda r, n: r["all"]("sum") - r["a"] > n or r["e"]), ("c < max(c)", lambda r, n: None if r["c"] is None else r["c"] < r["all"]("max c")),
    ("count(e) * 3 > len(e)", lambda r, n: r["all"]("true") * 3 > r["all"]("n")), ("any(e) and a < {n}", lambda r, n: r["all"]("true") > 0 and r["a"] < n),
]
WHOLE = {"n": len, "mean": lambda t: math.fsum(r["b"] for r in t) / len(t), "max a": lambda t: max(r["a"] for r in t), "sum": lambda t: sum(r["a"] for r in t),
         "max c": lambda t: max(r["c"] for r in t if r["c"] is not None), "true": lambda t: sum(r["e"] for r in t)}


def whole(rows):
    """What is said of all rows, found out once."""
    return functools.cache(lambda what: WHOLE[what](rows))


def rows_of(r, n):
    zero = 0 if r.random() < 0.2 else 1
    return [{"a": r.choice([1, 2, 5, 9, -3, zero]), "b": r.randrange(-40, 40) / 8, "c": None if r.random() < 0.3 else r.randrange(-9, 9), "s": r.choice(WORDS[1:]),
             "d": None if r.random() < 0.3 else r.choice(WORDS[1:]), "e": r.random() < 0.5, "i": k} for k in range(n)]


def one(r, place, k):
    rows = rows_of(r, r.choice([0, 1, 5, 400, 3000, 70000 if r.random() < 0.2 else 50]))
    with open(place.path / "t.csv", "w", newline="") as to:
        out = csv.writer(to, lineterminator="\n")
        out.writerow(["a", "b", "c", "s", "d", "e", "i"])
        out.writerows([row["a"], row["b"], "" if row["c"] is None else row["c"], row["s"], "" if row["d"] is None else row["d"], str(row["e"]).lower(), row["i"]] for row in rows)
    read = 'read_csv("t.csv", types = (a: i64, b: f64, c: i64?, s: text, d: text?, e: bool, i: i64))'
    script, want, kept, failed, steps = f"let t0 = {read}\n", [], rows, False, 0
    if r.random() < 0.5:
        script += "let m = len(t0)\n" if r.random() < 0.5 else "show(t0 |> sort(desc(i)) |> head(1))\n"
    for _ in range(r.randint(2, 5)):
        text, holds = r.choice(CONDITIONS)
        n = r.randrange(-4, 8)
        script += f"let t{steps + 1} = t{steps} |> where({text.format(n=n, m=n % 3, x=n / 4, w=WORDS[n % 6])})\n"
        steps += 1
        try:
            of_all = whole(kept)
            kept = [row for row in kept if holds(row | {"all": of_all}, n)]
        except ZeroDivisionError:
            failed = True
            break
        if r.random() < 0.3:
            script += f'print("n {{len(t{steps})}}")\n'
            want.append(f"n {len(kept)}")
        if r.random() < 0.15:
            script += f't{steps} |> select(a, i) |> write_csv("w{steps}.csv")\n'
        if r.random() < 0.15:
            script += f"let u{steps} = t{steps} |> derive(b = b + 1.0)\n".replace(f"u{steps}", f"t{steps + 1}")
            kept, steps = [row | {"b": row["b"] + 1.0} for row in kept], steps + 1
    if r.random() < 0.5:
        script += f"stage of(t: _[n]) = t |> where(i % 2 == 0) |> where(a < 9)\nlet last = of(t{steps})\n"
        kept = kept if failed else [row for row in kept if row["i"] % 2 == 0 and row["a"] < 9]
    else:
        script += f"let last = t{steps}\n"
    script += 'print("s {sum(last.i)} {len(last)}")\nlast |> write_csv("last.csv")\n'
    script += 'let g = last |> group_by(s) |> summarize(n = count(), m = sum(b), top = max(a), c = sum(c))\ng |> write_csv("g.csv")\n' if r.random() < 0.7 else "let g = last\n"
    by_text = {}
    for row in kept:
        by_text.setdefault(row["s"], []).append(row)
    groups = {s: (len(of), math.fsum(x["b"] for x in of), max(x["a"] for x in of), sum(x["c"] or 0 for x in of)) for s, of in by_text.items()} if "summarize" in script else None
    if groups is not None and r.random() < 0.5:
        script += 't0 |> join(g |> where(n > 2), on = s, how = "semi") |> write_csv("j.csv")\n'
    place.write("x.flow", script)
    want.append(f"s {sum(row['i'] for row in kept)} {len(kept)}")
    said = []
    for mode in ((), ("--workers", "1"), ("-O0",), ("--interp",)) if k % 3 == 0 else ((),):
        p = place.run("run", "--no-cache", "-q", *mode, "x.flow")
        said.append((p.returncode, p.stderr))
        if failed:
            check(p.returncode == 1 and "E0702" in p.stderr and p.stderr == said[0][1], f"case {k} {mode}: the same error", script + p.stderr + said[0][1])
            continue
        found = [line for line in p.stdout.splitlines() if line[:2] in ("n ", "s ")]
        check(p.returncode == 0 and found == want, f"case {k} {mode}: {found}, wanted {want}", script + p.stderr)
        if p.returncode:
            continue
        with open(place.path / "last.csv", newline="") as lines:
            numbers = [(int(row["i"]), float(row["b"])) for row in csv.DictReader(lines)]
        if groups is not None:
            with open(place.path / "g.csv", newline="") as lines:
                found = {row["s"]: (int(row["n"]), float(row["m"]), int(row["top"]), int(row["c"] or 0)) for row in csv.DictReader(lines)}
            check(found == groups, f"case {k} {mode}: groups {found}, wanted {groups}", script)
        if '"j.csv"' in script:
            with open(place.path / "j.csv", newline="") as lines:
                found = [int(row["i"]) for row in csv.DictReader(lines)]
            check(found == [row["i"] for row in rows if groups.get(row["s"], [0])[0] > 2], f"case {k} {mode}: rows of groups that are kept", script)
        check(numbers == [(row["i"], row["b"]) for row in kept], f"case {k} {mode}: the rows kept", script)


def record(place):
    """The record of a run has what each filter kept, though they are one."""
    place.write("r.flow", """let t = read_csv("t.csv", types = (a: i64, b: f64))
let u = t |> where(a >= 100)
let v = u |> where(b < 300.0)
let w = v |> where(a < 500)
w |> write_csv("w.csv")
""")
    place.write("t.csv", "a,b\n" + "".join(f"{k},{k * 7 % 1000}\n" for k in range(1000)))
    p = place.run("run", "r.flow")
    check(p.returncode == 0, "the run that is recorded", p.stderr)
    kept = [sum(ask(k, k * 7 % 1000) for k in range(1000)) for ask in (
        lambda a, b: a >= 100, lambda a, b: a >= 100 and b < 300, lambda a, b: 100 <= a < 500 and b < 300)]
    text = next(place.store.glob("records/*/*")).read_bytes().decode("utf-8", "replace")
    places = [line.split() for line in text.splitlines() if line.startswith("place compress ")]
    check([int(line[11]) for line in sorted(places, key=lambda line: int(line[3]))] == kept, f"filters kept {kept} rows", places)
    check(len(place.path.joinpath("w.csv").read_text().splitlines()) == kept[2] + 1, "the rows written")


def main():
    words = [int(w) for w in sys.argv[1:]] + [None, None]
    r = random.Random(words[1] or 1)
    place = Place()
    for k in range(words[0] or (250 if ALL else 40 if SHORT else 90)):
        one(r, place, k)
    record(place)
    finish()


main()
