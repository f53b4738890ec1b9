#!/usr/bin/env python3
"""Writes columns_apart.flow and what it has to print: folds along the rows of columns that stand apart, which are read where they are. What
is expected is a model of the order of folds: 32 lanes, a butterfly, blocks of 4096, a tree.

    python3 tests/run/arrays/make_columns_apart.py"""
import math
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS, ROWS = 45, [1, 33, 520, 4100]


def value(i, j):
    if (i * 31 + j * 17) % 701 == 5: return math.nan
    if (i + j) % 11 == 3: return -0.0 if i % 2 == 0 else 0.0
    return 1 / (1.0 + i * 7 + j * j) if (i + j) % 3 else -2.5 / (1.0 + i + j)


def tree(v):
    if len(v) == 1: return v[0]
    p = 1
    while p * 2 < len(v): p *= 2
    return tree(v[:p]) + tree(v[p:])


def fold(values):
    blocks = []
    for at in range(0, len(values), 4096):
        lanes = [0.0] * 32
        for p, v in enumerate(values[at:at + 4096]): lanes[p % 32] += v
        while len(lanes) > 1: lanes = [a + b for a, b in zip(lanes, lanes[len(lanes) // 2:])]
        blocks.append(lanes[0])
    return tree(blocks) if blocks else 0.0


def first(row, better):
    best = 0
    for p, v in enumerate(row):
        if row[best] == row[best] and (v != v or better(v, row[best])): best = p
    return best


def shown(v):
    return "NaN" if v != v else repr(v).replace("e-0", "e-")


def told(v):
    """The last one, and a sum of all but NaN."""
    return f"{shown(v[-1])} {shown(fold([x if x == x else 1.0 for x in v]))}"


lines = ["# made by make_columns_apart.py", "# status: 1", "# modes: build", """fn value(i: i64, j: i64) -> f64 = if (i * 31 + j * 17) % 701 == 5 { nan }
  else if (i + j) % 11 == 3 { if i % 2 == 0 { -0.0 } else { 0.0 } }
  else if (i + j) % 3 != 0 { 1 / (1.0 + i * 7 + j * j) } else { -2.5 / (1.0 + i + j) }
fn column(n: i64, j: i64) -> f64[n] = [for i in 0..n: value(i, j)]
fn told(x: f64[n]) -> text = "{x[n - 1]} {sum(for v in x: if v == v { v } else { 1.0 })}"
stage sums(t: _[n]) = sum(matrix(t), axis = 1)
stage means(t: _[n]) = mean(matrix(t), axis = 1)
stage largest(t: _[n]) = max(matrix(t), axis = 1)
stage places(t: _[n]) = argmin(matrix(t), axis = 1)
stage norms(t: _[n]) = [for r in matrix(t): sqrt(sum(for v in r: v^2))]
stage positive(t: _[n]) = [for r in matrix(t): count(for v in r: v > 0)]
stage both(t: _[n]) { let m = matrix(t); sum(m, axis = 1) - max(m, axis = 1) }
stage whole(t: _[n]) = sum(for r in matrix(table(i = [for v in t.c0: i64(1000 * (if v == v { v } else { 0.0 }))], k = [for i in 0..n: i])): sum(r))
stage rows(t: _[n]) = sum(matrix(table(i = [for v in t.c0: i64(1000 * (if v == v { v } else { 0.0 }))], k = [for i in 0..n: i])), axis = 1)
stage two(a: f64[n], b: f64[m], k: i64) = sum(reshape(concat(a, b), 2, k), axis = 0)"""]
lines[-1] = lines[-1].replace("i64(1000 * (if v == v { v } else { 0.0 }))", "floor(1000 * (if v == v { v } else { 0.0 }))")
lines.append("fn table_of(n: i64) -> _ = table(" + ", ".join(f"c{j} = column(n, {j})" for j in range(COLUMNS)) + ")")
lines.append(f"for n in {ROWS} {{")
lines.append("  let t = table_of(n)")
lines.append('  print(n, told(sums(t)), told(means(t)), told(largest(t)), sum(places(t)), told(norms(t)), sum(positive(t)), told(both(t)), sum(rows(t)), whole(t))')
lines.append("}")
lines += ["print(two([1.0, 2.0, 4.0], [8.0, 16.0, 32.0], 3))", "print(two([1.0, 2.0, 4.0, 8.0], [16.0, 32.0], 3))", "print(two([1.0, 2.0, 4.0], [8.0, 16.0], 3))"]
(HERE / "columns_apart.flow").write_text("\n".join(lines) + "\n")

out = []
for n in ROWS:
    x = [[value(i, j) for j in range(COLUMNS)] for i in range(n)]
    sums, largest = [fold(r) for r in x], [r[first(r, lambda a, b: a > b)] for r in x]
    whole = [math.floor(1000 * (r[0] if r[0] == r[0] else 0.0)) + i for i, r in enumerate(x)]
    out.append(" ".join([str(n), told(sums), told([s / COLUMNS for s in sums]), told(largest), str(sum(first(r, lambda a, b: a < b) for r in x)),
                         told([math.sqrt(v) for v in [fold([q * q for q in r]) for r in x]]), str(sum(v > 0 for r in x for v in r)),
                         told([a - b for a, b in zip(sums, largest)]), shown(float(sum(whole))), shown(float(sum(whole)))]))
out += ["[ 9.0, 18.0, 36.0]", "[ 9.0, 18.0, 36.0]"]
(HERE / "columns_apart.out").write_text("\n".join(out) + "\n")
