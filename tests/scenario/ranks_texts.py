#!/usr/bin/env python3
"""Texts as keys of tables that stay in parts between ranks: rows that are sorted, grouped and joined by texts, alone and beside
numbers, with nulls, go from rank to rank and give what one rank gives, and what plain Python gives. Texts among them
that are empty, that begin others, that have their first 40 bytes in common, and some of more than one byte a character; few
different ones, and nearly as many as rows. Then that nobody has all rows: bytes that are sent.
"""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ranks
from scenario_kit import SHORT, check, finish

WAYS = [(1, 2, 0, ""), (2, 1, 0, ""), (2, 2, 20, ""), (3, 1, 0, ""), (3, 2, 0, "a"), (5, 2, 20, ""), (8, 1, 0, ""), (8, 2, 0, "a")]
NAMES = """
let n = {n}
fn name_of(v: i64) -> text = if v % 997 == 4 {{ "" }} else {{ if v % 5 == 0 {{ "https://www.example.org/a/path/of/some/length/{{v}}" }} else {{
  if v % 5 == 1 {{ "größe {{v % 1000}}" }} else {{ if v % 5 == 2 {{ "a" + text(v // 10) }} else {{ text(v) }} }} }} }}
let kinds = [for i in 0..n: (i * 7919) % 100003 % {few}]
let names = [for v in kinds: name_of(v)]
let t = table(name = names, some = if_else(kinds % 11 == 3, null, names), k = kinds, row = [for i in 0..n: i], x = [for i in 0..n: i * 31 % 1009 - 300])
"""
ORDERS = NAMES + """
let a = t |> sort(name, desc(x))
let b = t |> sort(desc(name))
let c = t |> sort(some, desc(k))
let d = t |> sort(desc(some), x)
let e = t |> where(k % 3 != 1) |> sort(x % 7, name, desc(k))
let up = argsort(names)
let s = sort(names)
print("{{sum(for i in 0..n: i * a.row[i])}} {{sum(for i in 0..n: i * b.row[i])}} {{sum(for i in 0..n: i * c.row[i])}} {{sum(for i in 0..n: i * d.row[i])}}")
print("{{sum(for i in 0..len(e): i * e.row[i])}} {{sum(for i in 0..n: i * up[i])}} {{sum(for i in 0..n: i % 97 * n_chars(s[i]))}} {{sum(for i in 0..n: i % 97 * n_chars(b.name[i]))}}")
print("{{count(for i in 0..n: s[i] == a.name[i])}} {{count(for i in 0..n: s[i] == b.name[n - 1 - i])}} {{count(for v in c.some: is_null(v))}}")
"""
GROUPS = NAMES + """
let a = t |> group_by(name) |> summarize(rows = count(), s = sum(x), one = first(row), least = min(some), most = max(name))
let b = t |> group_by(some, half = k % 2) |> summarize(rows = count(), s = sum(x), w = last(some), m = min(name))
let c = t |> group_by(x, name) |> summarize(one = last(row), mean = mean(k))
print("{{len(a)}} {{sum(for i in 0..len(a): i % 97 * (a.rows[i] + 3 * a.s[i] + 5 * a.one[i]))}} {{sum(for i in 0..len(a): i % 89 * n_chars(a.name[i]))}} {{count(for i in 0..len(a): a.name[i] == a.most[i])}} {{count(for v in a.least: is_null(v))}}")
print("{{len(b)}} {{sum(for i in 0..len(b): i % 97 * (b.rows[i] + 3 * b.s[i] + 5 * b.half[i]))}} {{count(for v in b.some: is_null(v))}} {{count(for i in 0..len(b): (b.w[i] ?? "") == (b.some[i] ?? ""))}} {{sum(for i in 0..len(b): i % 89 * n_chars(b.m[i]))}}")
print("{{len(c)}} {{sum(for i in 0..len(c): i % 97 * (c.one[i] + 3 * c.x[i]))}} {{sum(for i in 0..len(c): i % 89 * n_chars(c.name[i]))}}")
"""
JOINS = NAMES + """
let m = {m}
let key = [for i in 0..m: (i * 31 + 7) % ({few} + 5)]
let all = table(name = [for v in key: name_of(v // 2 * 2)], some = [for v in key: if v % 17 == 1 {{ null }} else {{ name_of(v) }}], k = [for v in key: v // 2], y = [for i in 0..m: i])
let u = {right}
fn told(rows: i64[p], ys: i64[p]) -> text = "{{p}} {{sum(for i in 0..p: i % 997 * (3 * rows[i] + ys[i]))}}"
let a = t |> join(u, on = name)
let b = t |> join(u, on = name, how = "left")
let c = t |> join(u, on = name, how = "semi")
let d = t |> join(u, on = name, how = "anti")
let e = t |> join(u, on = name, how = "right")
let f = t |> join(u, on = name, how = "full")
let g = t |> join(u, on = some)
let h = t |> join(u, on = some, how = "full")
let j = t |> derive(k = k // 2) |> join(u, on = (name, k), how = "left")
print(told(a.row, a.y), told(b.row, b.y ?? -1), told(c.row, c.x), told(d.row, d.x), told(e.row ?? -1, e.y), told(f.row ?? -1, f.y ?? -1))
print(told(g.row, g.y), told(h.row ?? -1, h.y ?? -1), told(j.row, j.y ?? -1))
"""


def name_of(v):
    return ("" if v % 997 == 4 else f"https://www.example.org/a/path/of/some/length/{v}" if v % 5 == 0 else f"größe {v % 1000}" if v % 5 == 1
            else f"a{v // 10}" if v % 5 == 2 else str(v))


class Model:
    """The table, and what the scripts say of it."""

    def __init__(self, n, few):
        self.k = [i * 7919 % 100003 % few for i in range(n)]
        self.name = [name_of(v) for v in self.k]
        self.some = [None if v % 11 == 3 else name for v, name in zip(self.k, self.name)]
        self.x = [i * 31 % 1009 - 300 for i in range(n)]
        self.n, self.rows = n, range(n)

    def up(self, texts):
        """Numbers that order as the texts do by their bytes, null last."""
        place = {text: at for at, text in enumerate(sorted({t.encode() for t in texts if t is not None}))}
        return [len(place) if t is None else place[t.encode()] for t in texts]

    def orders(self):
        name, some, k, x = self.up(self.name), self.up(self.some), self.k, self.x
        null = max(some, default=0) + 1
        orders = [sorted(self.rows, key=lambda i: (name[i], -x[i])), sorted(self.rows, key=lambda i: -name[i]), sorted(self.rows, key=lambda i: (some[i], -k[i])),
                  sorted(self.rows, key=lambda i: (null if self.some[i] is None else -some[i], x[i])),
                  sorted((i for i in self.rows if k[i] % 3 != 1), key=lambda i: (x[i] % 7, name[i], -k[i])), sorted(self.rows, key=lambda i: name[i])]
        told = [sum(i * row for i, row in enumerate(order)) for order in orders]
        told += [sum(i % 97 * len(self.name[row]) for i, row in enumerate(order)) for order in (orders[5], orders[1])]
        return f"{' '.join(map(str, told[:4]))}\n{' '.join(map(str, told[4:]))}\n{self.n} {self.n} {self.some.count(None)}\n"

    def grouped(self, *keys):
        groups = {}
        for i in self.rows:
            groups.setdefault(tuple(key[i] for key in keys), []).append(i)
        return [g for _, g in sorted(groups.items())]

    def groups(self):
        name, some, x, k = self.up(self.name), self.up(self.some), self.x, self.k
        text = lambda i: len(self.name[i])
        a, b, c = self.grouped(name), self.grouped(some, [v % 2 for v in k]), self.grouped(x, name)
        first = [len(a), sum(i % 97 * (len(g) + 3 * sum(x[r] for r in g) + 5 * g[0]) for i, g in enumerate(a)), sum(i % 89 * text(g[0]) for i, g in enumerate(a)),
                 len(a), sum(all(self.some[r] is None for r in g) for g in a)]
        second = [len(b), sum(i % 97 * (len(g) + 3 * sum(x[r] for r in g) + 5 * (k[g[0]] % 2)) for i, g in enumerate(b)), sum(self.some[g[0]] is None for g in b),
                  len(b), sum(i % 89 * text(min(g, key=lambda r: name[r])) for i, g in enumerate(b))]
        third = [len(c), sum(i % 97 * (g[-1] + 3 * x[g[0]]) for i, g in enumerate(c)), sum(i % 89 * text(g[0]) for i, g in enumerate(c))]
        return "".join(" ".join(map(str, told)) + "\n" for told in (first, second, third))

    def joins(self, m, few, distinct):
        key = [(i * 31 + 7) % (few + 5) for i in range(m)]
        right = [(name_of(v // 2 * 2), None if v % 17 == 1 else name_of(v), v // 2, i) for i, v in enumerate(key)]
        if distinct:
            seen = {}
            for row in right:
                seen.setdefault(row[0], row)
            right = list(seen.values())
        pairs = lambda left, of: self.pairs(left, [of(row) for row in right])
        by_name, by_some = pairs(self.name, lambda r: r[0]), pairs(self.some, lambda r: r[1])
        by_both = pairs([(a, v // 2) for a, v in zip(self.name, self.k)], lambda r: (r[0], r[2]))
        y = [row[3] for row in right]
        told = lambda rows: f"{len(rows)} {sum(i % 997 * (3 * a + b) for i, (a, b) in enumerate(rows))}"
        inner = lambda found: [(i, y[r]) for i, rs in enumerate(found) for r in rs]
        left = lambda found: [(i, y[r] if r is not None else -1) for i, rs in enumerate(found) for r in rs or [None]]
        alone = lambda found: [(-1, y[r]) for r in sorted(set(range(len(right))) - {r for rs in found for r in rs})]
        whether = lambda found, yes: [(i, self.x[i]) for i, rs in enumerate(found) if bool(rs) == yes]
        first = [inner(by_name), left(by_name), whether(by_name, True), whether(by_name, False), inner(by_name) + alone(by_name), left(by_name) + alone(by_name)]
        second = [inner(by_some), left(by_some) + alone(by_some), left(by_both)]
        return f"{' '.join(map(told, first))}\n{' '.join(map(told, second))}\n"

    @staticmethod
    def pairs(left, right):
        places = {}
        for at, key in enumerate(right):
            if key is not None:
                places.setdefault(key, []).append(at)
        return [places.get(key, []) for key in left]


def compare(text, expected, told):
    script = ranks.scratch(text)
    wrong = ranks.compare(script, WAYS)
    check(not wrong, f"{told} over ranks", "\n".join(wrong))
    got = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode()
    check(got == expected, f"{told} are those of Python", f"{got}\n{expected}")
    shutil.rmtree(script.parent)


def sent(text):
    """Bytes that two ranks sent together, who keep arrays in parts from 100 elements on."""
    script = ranks.scratch(text)
    alone, got = ranks.run(script, [(2, 2, 0, "")])
    shutil.rmtree(script.parent)
    check(got["out"] == alone["out"], "the same is printed", got["err"])
    return got.sent


def moves():
    """About half of the rows of each rank go to the other one, once; what is looked at to find cuts is few."""
    n = 100_000
    made = f"let n = {n}\nlet names = [for i in 0..n: \"the name of {{i * 7919 % 100003}} here\"]\nlet x = [for i in 0..n: random(7, i)]\n"
    bytes_of_rows = n * (16 + 24)  # what a text of 22 bytes takes in a parcel, and a number beside it
    some = sent(made + "let t = table(name = names, x = x) |> sort(name)\nprint(sum(for i in 0..n: t.x[i] * f64(i % 7)))\n")
    check(0 < some < 1.5 * bytes_of_rows, "rows that are sorted by texts go to the other rank, once", f"{some} bytes were sent, of {bytes_of_rows}")
    some = sent(made + "let u = table(name = [for i in 0..n: \"the name of {i * 31 % 100003} here\"], y = x)\nlet t = table(name = names, x = x) |> join(u, on = name)\n"
                "print(len(t), sum(for i in 0..len(t): t.x[i] * t.y[i]))\n")
    check(0 < some < 2 * bytes_of_rows, "keys that are texts go to the other rank, once", f"{some} bytes were sent, of {bytes_of_rows}")


if __name__ == "__main__":
    moves()
    for rows, kinds in ((0, 9), (1, 9), (3, 1009), (40, 33), (4097, 1009), (4097, 100_000), (9001, 2), (9001, 7001)) + (() if SHORT else ((70_001, 50_001),)):
        model, case = Model(rows, kinds), f"{rows} rows of {kinds} names"
        compare(ORDERS.format(n=rows, few=kinds), model.orders(), f"orders of {case}")
        compare(GROUPS.format(n=rows, few=kinds), model.groups(), f"groups of {case}")
        few_of_each = kinds * 4 > rows
        others = rows * 3 // 4 + 5
        compare(JOINS.format(n=rows, few=kinds, m=others, right="all" if few_of_each else "all |> distinct(name)"),
                model.joins(others, kinds, not few_of_each), f"joins of {case}")
    finish()
