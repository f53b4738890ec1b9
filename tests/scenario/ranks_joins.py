#!/usr/bin/env python3
"""Joins of tables that are in parts between ranks, and rows taken by their numbers: all kinds of join give the pairs, in the order, that
plain Python makes of nested loops, over ranks x workers; keys of one and of two columns, of numbers and of texts, with nulls, NaN and zeros of both signs; right
tables of few rows, that go to all, and of many; keys that are all different, that come again and again, and one that half of the rows have.
Then rows of all kinds of columns, by numbers that are own rows, rows of others, none, and wrong; and texts that go with rows that are sorted.

usage: ranks_joins.py
"""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ranks
from scenario_kit import SHORT, check, finish

os.environ["FLOW_CODES_FROM"] = "2"  # one rank has columns of texts that are codes alone, several have not
WAYS = [(1, 2, 0, ""), (2, 1, 0, ""), (2, 2, 20, ""), (3, 1, 0, ""), (3, 2, 0, "a"), (5, 2, 20, ""), (8, 1, 0, ""), (8, 2, 0, "a")]
HOW = ("inner", "left", "right", "full", "semi", "anti")
# Of each pair its place times what stands for the left and the right row; rows that are missing stand for 1,000,003 and 2,000,003.
TABLES = """
let n = {n}
let m = {m}
let k = [for i in 0..n: {left}]
let q = [for i in 0..m: {right}]
fn odd(v: i64) -> f64 = if v % 1009 == 5 {{ nan }} else if v == 6 {{ -0.0 }} else if v == 8 {{ 0.0 }} else {{ f64(v) }}
let t = table(key = if_else(k % 11 == 3, null, k), x = [for v in k: odd(v)], half = k % 2 == 0, small = [for v in k: i16(v % 1000)], a = [for i in 0..n: i], single = [for i in 0..n: f32(i)], word = if_else(k % 13 == 2, null, [for v in k: "the word {{v % 700}}"]))
let u = table(key = if_else(q % 7 == 3, null, q), x = [for v in q: odd(v)], half = q % 3 == 0, small = [for v in q: i16(v % 1000)], b = [for i in 0..m: i], late = if_else(q % 5 == 1, null, q * 3), name = [for v in q: "name {{v % 9}}"], word = if_else(q % 17 == 3, null, [for v in q: "the word {{v % 700}}"]))
fn told(left: i64?[p], right: i64?[p]) -> i64 = sum(for i in 0..p: (i % 997 + 1) * ((left[i] ?? 1000003) * 7 + (right[i] ?? 2000003)) % 1000000007)
fn one(left: i64[p]) -> i64 = sum(for i in 0..p: (i % 997 + 1) * (left[i] * 7) % 1000000007)
"""
PAIRS = """
let {name} = t |> join(u, on = ({on}), how = "{how}")
print("{how} {{len({name})}} {{told({name}.a, {name}.b)}}")
"""
HALF = """
let {name} = t |> join(u, on = ({on}), how = "{how}")
print("{how} {{len({name})}} {{one({name}.a)}}")
"""
# What is joined goes on: columns of both sides, of numbers with nulls and of texts, are folded, filtered, grouped and joined again.
MORE = """
let all = t |> join(u, on = key, how = "left")
print("{{sum(for v in all.late: v ?? -1)}} {{count(for v in all.name: v == "name 4")}} {{sum(for v in all.single: f64(v))}}")
let some = all |> where(a % 3 == 1) |> join(u |> select(small, b2 = b), on = small, how = "inner")
print("{{len(some)}} {{sum(for v in some.b2: v * 3)}} {{sum(some.a)}}")
"""
SIDES = {  # what the keys are: of left row i, of right row i
    "few": ("(i * 7919) % 1009 % 37", "(i * 31) % 101"),
    "different": ("(i * 7919) % 100003", "(i * 31) % 100003"),
    "skewed": ("if i % 2 == 0 {{ 40 }} else {{ (i * 7919) % 1009 }}", "(i * 31) % 1013"),
    "skewed right": ("(i * 7919) % 5003 + 40", "if i % 2 == 0 {{ 41 }} else {{ (i * 31) % 10007 }}"),
}
MODEL = {
    "few": (lambda i: i * 7919 % 1009 % 37, lambda i: i * 31 % 101),
    "different": (lambda i: i * 7919 % 100003, lambda i: i * 31 % 100003),
    "skewed": (lambda i: 40 if i % 2 == 0 else i * 7919 % 1009, lambda i: i * 31 % 1013),
    "skewed right": (lambda i: i * 7919 % 5003 + 40, lambda i: 41 if i % 2 == 0 else i * 31 % 10007),
}


def odd(v):
    return "nan" if v % 1009 == 5 else 0.0 if v in (6, 8) else float(v)


def pairs(left, right, how):
    """Of keys, None where a row has none: the pairs of rows, None where one side has none."""
    rows = {}
    for j, key in enumerate(right):
        if key is not None:
            rows.setdefault(key, []).append(j)
    if how in ("semi", "anti"):
        return [(i, None) for i, key in enumerate(left) if (key in rows) == (how == "semi")]
    out, found = [], set()
    for i, key in enumerate(left):
        its = rows.get(key, []) if key is not None else []
        out += [(i, j) for j in its]
        found.update(its)
        if not its and how in ("left", "full"):
            out.append((i, None))
    if how in ("right", "full"):
        out += [(None, j) for j in range(len(right)) if j not in found]
    return out


def told(made, how):
    if how in ("semi", "anti"):
        return f"{how} {len(made)} {sum((at % 997 + 1) * (i * 7) % 1000000007 for at, (i, _) in enumerate(made))}"
    total = sum((at % 997 + 1) * ((1000003 if i is None else i) * 7 + (2000003 if j is None else j)) % 1000000007 for at, (i, j) in enumerate(made))
    return f"{how} {len(made)} {total}"


def exact_of(n, m, kind):
    left, right = MODEL[kind]
    k, q = [left(i) for i in range(n)], [right(i) for i in range(m)]
    keys = {"key": ([None if v % 11 == 3 else v for v in k], [None if v % 7 == 3 else v for v in q]),
            "x": ([odd(v) for v in k], [odd(v) for v in q]),
            "word": ([None if v % 13 == 2 else v % 700 for v in k], [None if v % 17 == 3 else v % 700 for v in q]),
            "key, half": ([None if v % 11 == 3 else (v, v % 2 == 0) for v in k], [None if v % 7 == 3 else (v, v % 3 == 0) for v in q])}
    return [told(pairs(*keys[on], how), how) for on in keys for how in HOW], list(keys)


def joins():
    sizes = ((0, 5), (5, 0), (1, 1), (3, 40), (700, 9), (4097, 40), (900, 700), (40, 4097), (4097, 4097)) + (() if SHORT else ((30_001, 9001), (9001, 30_001)))
    for n, m in sizes:
        for kind, (left, right) in SIDES.items():
            if kind != "different" and n * m > 4_000_000:
                continue
            text = TABLES.format(n=n, m=m, left=left.format(), right=right.format())
            exact, on = exact_of(n, m, kind)
            names = iter(range(100))
            for key in on:
                for how in HOW:
                    text += (HALF if how in ("semi", "anti") else PAIRS).format(name=f"j{next(names)}", on=key, how=how)
            script = ranks.scratch(text + (MORE.format() if n * m < 1_000_000 else ""))
            wrong = ranks.compare(script, WAYS)
            check(not wrong, f"joins of {n} rows with {m}, keys {kind}, over ranks", "\n".join(wrong))
            got = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().splitlines()[:len(exact)]
            check(got == exact, f"joins of {n} rows with {m}, keys {kind}, are those of Python", "\n".join(f"{a} | {b}" for a, b in zip(got, exact) if a != b) or f"{got}\n{exact}")
            shutil.rmtree(script.parent)


# More than one partner where one is expected, at the first, a middle and the last row of the left table.
MANY = """
let n = {n}
let t = table(key = [for i in 0..n: if i == {at} {{ 1 }} else {{ i * 3 + 2 }}], a = [for i in 0..n: i])
let u = table(key = [for i in 0..{m}: i // 2 * 2 + 1 - 2 * (i // 4) * (i % 2)], b = [for i in 0..{m}: i])
print(sum(t.a))
let j = t |> join(u, on = key, how = "left", expect = "one")
print(sum(for v in j.a: v * 3))
"""

TAKES = """
let n = {n}
let k = [for i in 0..n: (i * 7919) % 1009]
let x = [for v in k: f64(v) * 0.5]
let wide = [for i in 0..n, j in 0..3: k[i] * 10 + j]
let small = [for v in k: i8(v % 100)]
let yes = [for v in k: v % 3 == 0]
let names = [for v in k: "name {{v}}"]
let row = [for i in 0..n: i]
let same = x[row]
let near = [for i in 0..n: i - i % 2]
let far = [for i in 0..n: (i * 7919 + 13) % max(n, 1)]
let few = [for i in 0..n if k[i] % 50 == 7: n - 1 - i]
let of_near = x[near]
let of_far = k[far]
print("{{sum(for i in 0..n: same[i] * f64(i % 97))}} {{sum(for i in 0..n: of_near[i] * f64(i % 97))}} {{sum([for v in x[far]: v * 2.0])}}")
print("{{sum(for i in 0..n: of_far[i] * (i % 97))}} {{sum(wide[far], axis = 0)}} {{sum(wide[few][0..0], axis = 0)}} {{sum(for v in small[far]: i64(v))}} {{count(for v in yes[far]: v)}} {{count(for v in names[far]: v == "name 12")}}")
print("{{len(few)}} {{sum(for v in k[few]: v * 3)}} {{sum(for v in x[few]: v)}} {{count(for v in names[few]: v == "name 12")}}")
let by = argsort([for v in k: -v])
let of_by = k[by]
print("{{sum(for i in 0..n: of_by[i] * (i % 97))}} {{sum(for v in x[by]: v)}}")
if n > 3 {{ print("{{x[[3, 0, n - 1]]}} {{wide[[n - 1, 1]]}} {{names[[n - 1]]}}") }}
print("{{sum(k)}} {{sum(x)}} {{sum(row)}}")
"""
WRONG = """
let n = {n}
let k = [for i in 0..n: i]
let a = sum(k)
let at = [for v in k: if v == {at} {{ a * 0 + {value} }} else {{ (v * 7) % n }}]
let x = [for v in k: v * 2 + a]
print(sum(at))
let y = x[at]
print(sum(y))
"""


def takes():
    for n in (0, 1, 3, 40, 700, 4097, 9001) + (() if SHORT else (70_001,)):
        script = ranks.scratch(TAKES.format(n=n))
        wrong = ranks.compare(script, WAYS)
        check(not wrong, f"rows of {n} taken over ranks", "\n".join(wrong))
        k = [i * 7919 % 1009 for i in range(n)]
        far, few = [(i * 7919 + 13) % max(n, 1) for i in range(n)], [n - 1 - i for i in range(n) if k[i] % 50 == 7]
        sums = [sum(k[row] * 10 + j for row in far) for j in range(3)]
        exact = [f"{sum(k[row] * (i % 97) for i, row in enumerate(far))} [{sums[0]}, {sums[1]}, {sums[2]}] [0, 0, 0] {sum(k[row] % 100 for row in far)} "
                 f"{sum(k[row] % 3 == 0 for row in far)} {sum(k[row] == 12 for row in far)}",
                 f"{len(few)} {sum(k[row] * 3 for row in few)} {float(sum(k[row] for row in few)) / 2:.17g} {sum(k[row] == 12 for row in few)}"]
        got = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().splitlines()
        plain = [word for word in f"{got[1]} {got[2]}".split()]
        same = len(plain) == len(" ".join(exact).split()) and all(a == b or float(a) == float(b) for a, b in zip(plain, " ".join(exact).split()))
        check(same, f"rows of {n} that were taken are those of Python", f"{got[1:3]}\n{exact}")
        shutil.rmtree(script.parent)
    for n, at in ((5, 0), (5, 4), (9000, 0), (9000, 4097), (9000, 8999)):
        for value in ("n", "-n - 1", "4000000000"):
            script = ranks.scratch(WRONG.format(n=n, at=at, value=value))
            wrong = ranks.compare(script, WAYS)
            alone = ranks.run(script, [])[0]
            check(not wrong and alone["status"].strip() != "0", f"number {value} at {at} of {n} rows over ranks", "\n".join(wrong) or str(alone))
            shutil.rmtree(script.parent)
    for n, at, m in ((5, 0, 3), (5, 4, 3), (9000, 0, 30), (9000, 8999, 30), (900, 450, 2000), (9000, 4097, 9000)):
        script = ranks.scratch(MANY.format(n=n, at=at, m=m))
        wrong = ranks.compare(script, WAYS)
        alone = ranks.run(script, [])[0]
        check(not wrong and alone["status"].strip() != "0" and b"E0972" in alone["err"], f"two partners of row {at} of {n} over ranks", "\n".join(wrong) or str(alone))
        shutil.rmtree(script.parent)


# Texts, some of them null, that go with rows which are sorted by numbers, once and once more.
CARRIED = """
let n = {n}
let k = [for i in 0..n: (i * 7919) % 1009]
let names = [for v in k: "name {{v % 37}}, of some length"]
let t = table(key = k, name = names, late = if_else(k % 11 == 3, null, k % 90 - 20), row = [for i in 0..n: i], word = if_else(k % 5 == 1, null, names))
let a = t |> sort(desc(key))
let b = t |> sort(late, desc(col.row))
let c = a |> where(key > 300) |> sort(col.row) |> select(name, word)
fn places(s: text[m], word: text) -> i64 = sum(for i in 0..m: if s[i] == word {{ i + 1 }} else {{ 0 }})
fn known(s: text?[m]) -> i64 = sum(for i in 0..m: if is_null(s[i]) {{ 0 }} else {{ i + 1 }})
let all = "name 7, of some length"
print("{{places(a.name, all)}} {{places(b.name, all)}} {{places(c.name, all)}} {{known(a.word)}} {{known(b.word)}} {{known(c.word)}} {{sum(for i in 0..n: i * b.row[i])}}")
show(b |> head(2))
"""


def carried():
    for n in (0, 1, 2, 40, 4097, 9001) + (() if SHORT else (50_001,)):
        script = ranks.scratch(CARRIED.format(n=n))
        wrong = ranks.compare(script, WAYS)
        check(not wrong, f"texts of {n} rows that are sorted over ranks", "\n".join(wrong))
        k = [i * 7919 % 1009 for i in range(n)]
        late = [1000 if v % 11 == 3 else v % 90 - 20 for v in k]
        a, b = sorted(range(n), key=lambda i: -k[i]), sorted(range(n), key=lambda i: (late[i], -i))
        orders = [a, b, [i for i in range(n) if k[i] > 300]]
        exact = [sum(at + 1 for at, row in enumerate(order) if k[row] % 37 == 7) for order in orders]
        exact += [sum(at + 1 for at, row in enumerate(order) if k[row] % 5 != 1) for order in orders] + [sum(i * row for i, row in enumerate(b))]
        got = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().splitlines()[0]
        check(got == " ".join(map(str, exact)), f"texts of {n} rows that are sorted are those of Python", f"{got}\n{exact}")
        shutil.rmtree(script.parent)


if __name__ == "__main__":
    carried()
    takes()
    joins()
    finish()
