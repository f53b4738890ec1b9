#!/usr/bin/env python3
"""Arrays that stay in parts between ranks: columns that are made, derived, filtered and folded by their own rows, read at others,
changed in rounds and passed on give what one rank gives, from small sizes on; so do matrices, whose columns are summed and that are multiplied,
texts, empty arrays, fewer rows than ranks,
files' rows that are kept, errors in some part (the first in the program, the right row). Then that they do stay: bytes
that are sent, and memory. (ranks_rows_random.py has random programs.)
"""
import fractions
import math
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ranks
from scenario_kit import SHARD, SHARDS, SHORT, check, finish

# shards: 2
os.environ["FLOW_STRIPS_FROM"] = "1"
os.environ["FLOW_UNWRITTEN_FROM"] = "2"  # one rank has columns of texts that are codes alone, several have not
# By 2 x ranks + workers (tests/ranks/run.c): from 2 elements on, from 100, as always.
WAYS = [(2, 2, 20, ""), (3, 1, 0, ""), (5, 2, 0, ""), (8, 1, 0, ""), (3, 2, 20, "a"), (2, 1, 0, "a"), (1, 1, 0, "a")]

COLUMNS = """
let n = {n}
let x = [for i in 0..n: random(7, i)]
let mean = sum(x) / {n}.5
let d = [for v in x: v - mean]
print("{{sum(d)}} {{sum(for v in d: v * v)}} {{sum(x)}} {{mean}}")
let k = [for i in 0..n: (i * 7919) % 1009]
let big = [for i in 0..n if k[i] > 500: d[i] * f64(k[i])]
let small = sum(big) / {n}.5
print("{{len(big)}} {{sum(big)}} {{sum(for v in big: (v - small)^2)}}")
let names = [for v in k: "name {{v % 12}}"]
let picked = [for i in 0..n if k[i] > 300: names[i]]
let rare = [for i in 0..n if k[i] == 77: names[i]]
print("{{len(picked)}} {{count(for v in picked: v == "name 2")}} {{len(rare)}} {{if len(picked) > 0 {{ picked[0] + picked[-1] }} else {{ "none" }}}} {{if len(rare) > 0 {{ rare[-1] }} else {{ "none" }}}}")
let t = table(a = x, b = k, name = names) |> where(a > 0.25 and name != "name 3") |> derive(c = a * f64(b))
let z = sum(t.c) / {n}.5
print("{{len(t)}} {{sum(t.c)}} {{sum(for v in t.c: abs(v - z))}} {{count(for v in t.name: v == "name 5")}}")
let again = t |> where(c > 100)
let most = sum(again.c)
print("{{len(again)}} {{sum(for v in again.c: v / (1 + most))}} {{sum(again.b)}}")
show(again |> group_by(name) |> summarize(rows = count(), s = sum(c)))
show(t |> derive(half = b % 2, some = if_else(b % 5 == 1, null, c * 1e-300 + a)) |> group_by(half, name) |> summarize(rows = count(), m = mean(some), least = min(c), most = max(name), last = last(some), known = count(some), s = sum(some), bs = sum(b)))
show(t |> derive(each = b * 1000 + floor(a * 1000)) |> group_by(each) |> summarize(rows = count(), s = sum(c)) |> head(5))
show(t |> group_by(name) |> summarize(mid = median(a), s = sum(c)))
stage folded(u: _[m]) = u |> where(a > 0.4, b < 900) |> derive(c = a * f64(b)) |> group_by(name) |> summarize(rows = count(), s = sum(c), m = mean(a), last = last(b))
stage summed(u: _[m]) = u |> where(b % 3 == 1) |> summarize(rows = count(), s = sum(a), most = max(b * 7), bs = sum(b * 7), one = first(b))
show(folded(table(a = x, b = k, name = names)))
show(summed(table(a = d, b = k)))
let tiny = t |> derive(known = if_else(b % 5 == 1, null, c * 1e-300 + a))
show(tiny |> summarize(rows = count(), s = sum(known), m = mean(known), least = min(c), n = count(known), last = last(name), ks = sum(b), mk = mean(b), one = first(known)))
show(again |> head(3))
var y = x
for r in 0..3 {{ y = y * 0.5 + x }}
let ym = sum(y)
print("{{ym}} {{sum(for v in y: v * ym)}}")
let m = [for i in 0..n, j in 0..3: x[i] * f64(j + k[i])]
let ms = sum(m)
print("{{ms}} {{sum(m / (1 + abs(ms)))}} {{sum(m, axis = 0)}}")
let near = [for i in 0..n: d[max(i - 1, 0)] + d[min(i + 1, n - 1)]]
let ns = sum(near)
print("{{ns}} {{sum(near * ns)}} {{sum([for i in 0..n: near[(i * 31) % n]])}}")
"""
# Sums along columns and products of rows in parts: the cut is even, or what a filter left.
MATRICES = """
let n = {n}
let k = [for i in 0..n: (i * 7919) % 1009]
let x = [for i in 0..n, j in 0..5: f64((k[i] + j * 331) % 1009 - 500) / 7.0]
let w = [for i in 0..5, j in 0..3: f64(i * 3 + j) - 6.3]
let y = x @ w
let some = [for i in 0..n if k[i] > 400: f64(k[i] % 97) - 48.5]
let b = [for i in 0..len(some), j in 0..30: f32(some[i] * f64(j % 7) - random(3, i, j))]
let e = b @ [for i in 0..40, j in 0..30: f32(random(5, i, j))]'
let wide = [for i in 0..n, j in 0..300: random(11, i, j) - 0.5]
let r = wide @ [for i in 0..300, j in 0..4: random(12, i, j)]
let c = [for i in 0..n: x[i, 0] * f64(k[i] % 5)]
let z = x @ [0.5, 1.5, -2.5, 3.25, 1.0]
let s = sum(x, axis = 0)
let cubes = [for i in 0..n, p in 0..2, q in 0..3: x[i, p] * f64(q + 1)]
let odd = [for i in 0..n, j in 0..2: if i * 2 == n + n % 2 {{ inf }} else {{ if i == 1 {{ -inf }} else {{ x[i, j] }} }}]
print("{{s}} {{x' @ y}} {{x' @ c}}")
if n > 0 {{ print("{{mean(x * s[0], axis = 0)}} {{sum(x * y[0, 0], axis = 0)}}") }}
print("{{sum(cubes, axis = 0)}} {{sum(x * s[3], axis = 0)}} {{sum(x^2, axis = 0) / 3.0}}")
print("{{x' @ x}} {{c @ y}} {{c @ c}} {{sum(z)}} {{sum(z * c)}} {{sum((y @ w') * s[1])}}")
print("{{sum(e, axis = 0)}} {{sum(e' @ b)}} {{sum(b, axis = 0)}} {{sum(e)}}")
print("{{sum(r, axis = 0)}} {{sum(wide' @ r)}} {{sum(r * s[2])}} {{sum(odd, axis = 0)}} {{odd' @ x}}")
var g = w * 0.0
for t in 0..3 {{ g = g - 1e-6 * (x' @ (x @ (w + g) - y * 0.5)) }}
print("{{g}}")
"""
# The nearest of some centers to rows that are whole and that are in parts, sums and counts by label, k-means.
SWEEPS = """
import cluster
let n = {n}
let k = [for i in 0..n: (i * 7919) % 1009]
let x = [for i in 0..n, j in 0..3: f64((k[i] + j * 331) % 1009 - 500)]
let centers = [for c in 0..4, j in 0..3: f64(c * 200 - 301 + j)]
let near = nearest_centers(x, centers)
let label = near.label
print("{{segment_sum(x, label, 4)}} {{segment_count(label, 4)}} {{segment_sum(k, label, 4)}} {{sum(near.distance)}}")
let some = [for i in 0..n if k[i] > 400: f64(k[i] % 97) - 48.5]
let by = [for v in some: i64(v + 48.5) % 7]
let m = sum(some)
print("{{segment_sum(some, by, 7)}} {{segment_sum([for v in some: f32(v * 0.1)], by, 7)}} {{segment_count(by, 9)}} {{segment_sum([for v in some: v * m], by, 2000)[6]}}")
let odd = [for i in 0..n, j in 0..2: if i * 2 == n + n % 2 {{ inf }} else {{ if i == 1 {{ -inf }} else {{ x[i, j] }} }}]
print("{{segment_sum(odd, label, 4)}} {{segment_sum([for i in 0..n: x[i, 1] * random(3, i)], label, 4)}}")
print("{{sum(label)}} {{sum(for v in near.distance: v * m)}} {{sum([for i in 0..n if label[i] == 2: near.distance[i]])}}")
if n >= 4 {{
  let f = cluster.kmeans(x, 4, init = centers, iters = 12)
  let g = cluster.kmeans([for i in 0..n, j in 0..2: random(5, i, j) * (1 + 0 * sum(x))], 3, seed = 4)
  let far = cluster.kmeans(x, 3, init = [[0.0, 0.0, 0.0], [1e9, 0.0, 0.0], [0.0, 1e9, 0.0]])
  print("{{f.centers}} {{f.rounds}} {{f.inertia}} {{sum(for v in f.label: v * v)}} {{g.centers}} {{g.inertia}} {{g.label[n // 2]}} {{far.centers}} {{sum(far.label)}}")
}}
"""
# Tasks of which each reads a block of rows, of arrays that are cut evenly or as a filter left them; blocks that another loop would read
# otherwise, that are more than the rows have, that ask what rank 0 alone may ask, and that fail.
BLOCKS = """
import tall, linear, decomposition
param size: i64 = {size}
let n = {n}
let k = [for i in 0..n: (i * 7919) % 1009]
let x = [for i in 0..n, j in 0..3: f64((k[i] + j * 331) % 1009 - 500)]
let y = [for i in 0..n: f64(k[i] % 13 - 6)]
let some = [for i in 0..n if k[i] > 400: f64(k[i] % 97 - 48)]
let names = [for v in k: "the name of {{v}}, long enough"]
fn matrix_block(a: f64[m, d], b: i64, size: i64) -> f64[_, d] = a[b * size..min(m, (b + 1) * size)]
fn longest(a: text[m], b: i64) -> text = if b % 3 == 0 {{ sort(a)[m - 1] }} else {{ a[0] }}
fn block(a: f64[m], b: i64, size: i64) -> f64[_] = a[b * size..min(m, (b + 1) * size)]
fn most(a: f64[m], from: i64) -> f64 {{
  var found = -1e300
  for i in 0..m {{ if a[i] > found {{ found = a[i] }} }}
  found * 1000 + f64(m + from)
}}
let m = (n + size - 1) // size
print("{{[for b in 0..m: sum(block(y, b, size))]}}")
print("{{[for b in 0..m: most(block(y, b, size), b)]}}")
print("{{[for b in 0..(len(some) + size - 1) // size: sum(block(some, b, size)) + most(block(some, b, size), b)]}}")
print("{{[for b in 0..m: sum(y[b * size..min(n, (b + 1) * size)]) + y[b]]}} {{[for b in 0..(m + 1) // 2: sum(block(y, b, size))]}}")
print("{{[for b in 0..m: sum(block(y, b, size)) + sum(block(some, min(b, len(some) // size), size))]}}")
let views = [for b in 0..m: matrix_block(x, b, size)]
let some_sorted = [for b in 0..m: if b % 2 == 0 {{ block(y, b, size) }} else {{ sort(block(y, b, size)) }}]
let texts = [for b in 0..m: names[b * size..min(n, (b + 1) * size)]]
print("{{len(views)}} {{[for v in views: sum(v[:, 1])]}} {{[for v in some_sorted: v[0] + v[-1]]}} {{[for t in texts: t[-1]]}}")
print("{{[for b in 0..m: longest(names[b * size..min(n, (b + 1) * size)], b)]}} {{count(for v in names: v == "the name of 7, long enough")}}")
if n > 3 {{
  let f = linear.ridge(x, y, lambda = 0.5)
  let p = decomposition.pca(x, 2)
  print("{{tall.means(x)}} {{tall.moments(x).variance}} {{tall.gram(x, [1.0, 2.0, 3.0])}} {{tall.normal(x, [0.5, 1.0, 0.0], y).gram}} {{tall.product(x, zeros(3), y)}}")
  print("{{f.coefficients}} {{f.intercept}} {{p.components}} {{sum(x * f.coefficients[0], axis = 0)}} {{sum(y)}}")
}}
"""
# Orders that ranks make together: of rows by several keys, of one column's values, of what is in order or falls all the way, of few
# different keys, of what a filter left; nulls, NaN, zeros of both signs.
SORTS = """
let n = {n}
let k = [for i in 0..n: (i * 7919) % 1009]
let odd = [for i in 0..n: if k[i] == 5 {{ nan }} else if k[i] == 6 {{ -0.0 }} else if k[i] == 8 {{ 0.0 }} else {{ f64((k[i] - 400) * (k[i] % 3)) }}]
let names = [for v in k: "name {{v % 37}}"]
let row = [for i in 0..n: i]
let t = table(key = k, half = k % 2 == 0, x = odd, name = names, late = if_else(k % 11 == 3, null, k % 90 - 20), row = row)
let by_name = t |> sort(name, desc(key))
let by_late = t |> sort(desc(late), half)
let by_x = t |> sort(x, name)
let few = t |> where(key > 300) |> sort(half)
print("{{sum(for i in 0..n: i * by_name.row[i])}} {{sum(for i in 0..n: i * by_late.row[i])}} {{sum(for i in 0..n: i * by_x.row[i])}} {{sum(for i in 0..len(few.row): i * few.row[i])}}")
let up = sort(k)
let by = argsort([for v in k: -v])
print("{{sum(for i in 0..n: i * up[i])}} {{sum(for i in 0..n: i * by[i])}}")
let z = sort(odd)
print("{{sum(for i in 0..n: if is_finite(z[i]) {{ z[i] * f64(i) }} else {{ 1.0 }})}} {{[for i in 0..n if z[i] == 0: 1.0 / z[i]] |> sum}} {{sum(sort([for i in 0..n: i]))}} {{if n > 3 {{ sort([for i in 0..n: n - i])[3] }} else {{ 0 }}}}")
let w = sum(z[0..min(n, 9)])
print("{{sum([for v in by_x.key: v * 3 + n])}} {{sum(for v in sort([for v in k: f64(v) + w]): v * 0.5)}} {{if n > 0 {{ by_name.name[n // 3] }} else {{ "none" }}}}")
let places = [for i in 0..n if k[i] % 3 == 1: (i * 31) % n]
let there = odd[places]
let called = names[places]
print("{{sum(for i in 0..len(places): places[i] * (i % 5))}} {{sum(for v in there: if is_finite(v) {{ v }} else {{ 0.5 }})}} {{count(for v in called: v == "name 7")}}")
let back = names[by]
print("{{if n > 0 {{ back[n - 1] }} else {{ "none" }}}} {{count(for v in odd[by]: v > 3)}} {{sum([for i in 0..n: row[by][i] * i])}}")
show(by_late |> derive(r = row_number(), c = cumsum(key)) |> head(5))
show(few |> group_by(name) |> summarize(f = first(key), l = last(x)) |> head(3))
show(t |> sort(name) |> distinct(half) |> head(3))
"""
FAULTS = [  # each fails, at a row that none is before; in a later step another would
    "let n = {n}\nlet x = [for i in 0..n: random(1, i)]\nlet s = sum(x)\nlet k = [for i in 0..n: i * 3]\nlet y = [for i in 0..n: k[i] // (k[i] - {at} * 3)]\nlet w = [for i in 0..n: k[i] // (k[i] - 3)]\nprint(\"{{s}} {{sum(x * s)}} {{sum(y)}} {{sum(y * w)}} {{sum(w)}}\")\n",
    "let n = {n}\nlet k = [for i in 0..n: i]\nlet a = sum(k)\nlet y = [for i in 0..n if k[i] % 3 != 1: 100 // (k[i] - {at})]\nprint(\"{{a}} {{sum([for v in k: v * a])}} {{len(y)}} {{sum(y)}}\")\n",
    "let n = {n}\nlet k = [for i in 0..n: i]\nlet a = sum(k)\nlet b = [for v in k: v + a]\nprint(sum(for i in 0..n: b[i] // (k[i] - {at})))\nprint(sum(b))\nprint(sum([for v in b: v - a]))\n",
    "let n = {n}\nlet k = [for i in 0..n: i]\nlet t = table(q = k, h = [for v in k: 4000000000000000000 + v]) |> where(q % 2 == {at} % 2)\nlet s = sum(t.q)\nprint(\"{{s}} {{sum([for v in t.q: v * s])}}\")\nshow(t |> derive(g = q % 4) |> group_by(g) |> summarize(w = sum(h)))\n",
    "let n = {n}\nlet k = [for i in 0..n: i]\nlet t = table(q = k, h = [for v in k: 4000000000000000000 + v]) |> where(q % 2 == {at} % 2)\nlet s = sum(t.q)\nprint(\"{{s}} {{sum([for v in t.q: v * s])}}\")\nshow(t |> summarize(m = mean(h), least = min(h), w = sum(h)))\n",
    "let n = {n}\nlet k = [for i in 0..n: i]\nlet a = sum(k)\nlet y = [for v in k: f64(v + a - a)]\nfn f(z: f64[m]) -> f64 {{\n  var s = 0.0\n  for i in 0..m {{\n    assert z[i] != {at}.0, \"row {{z[i]}} of {{m}}\"\n    s = s + z[i]\n  }}\n  s\n}}\nprint(sum(y))\nprint([for b in 0..({n} + 6) // 7: f(y[b * 7..min({n}, (b + 1) * 7)])])\nprint(sum(y))\n",
    "let n = {n}\nlet k = [for i in 0..n: i]\nlet a = sum(k)\nlet by = [for v in k: if v == {at} {{ a - a - 1 }} else {{ v % 5 }}]\nlet x = [for v in k: f64(v + a)]\nprint(sum(x))\nprint(segment_sum(x, by, 5))\nprint(segment_count(by, 5))\n",
    "let n = {n}\nlet k = [for i in 0..n: i]\nlet a = sum(k)\nlet h = [for v in k: (4611686018427387904 + v) * (1 + 0 * a)]\nlet by = [for v in k: v % 2]\nprint(sum(by))\nprint(segment_sum(h, by, 2 + {at} * 0))\n",
    "let n = {n}\nlet k = [for i in 0..n: i]\nlet a = sum(k)\nlet at = [for v in k: if v == {at} {{ a + n }} else {{ (v * 7) % n }}]\nlet x = [for v in k: v * 2 + a]\nprint(sum(at))\nlet y = x[at]\nprint(sum(y))\n",
    "import linear\nlet n = {n}\nlet k = [for i in 0..n: i]\nlet x = [for i in 0..n, j in 0..3: if i == {at} and j == 1 {{ nan }} else {{ f64((i + 1) * (j + 2) % 7) }}]\nlet y = [for v in k: f64(v % 5)]\nprint(sum(y))\nprint(linear.ridge(x, y, lambda = 0.5).intercept)\n",
    "import linear\nlet n = {n}\nlet k = [for i in 0..n: i]\nlet x = [for i in 0..n, j in 0..3: f64((i + 1) * (j + 2) % 7)]\nlet y = [for v in k: if v == {at} {{ inf }} else {{ f64(v % 5) }}]\nprint(sum(k))\nprint(linear.ridge(x, y, lambda = 0.5).intercept)\n",
    "let n = {n}\nlet k = [for i in 0..n: i * 3]\nlet a = sum(k)\nlet d = [for v in k: v - a]\nfn g(v: i64[n], w: i64[n], at: i64) -> i64[n] = if all(for i in 0..n: v[i] != at * 3) {{ v }} else {{\n  var s = 0\n  for i in 0..n {{ if v[i] > s {{ s = w[i] }} }}\n  error(\"{{v[at]}} {{w[n - 1]}} {{s}} {{sort(v)[0]}} {{[for i in 0..n: v[i] + w[0]][at]}} {{sum(w)}}\")\n}}\nprint(a)\nlet y = g(k, d, {at})\nprint(sum(y))\nprint(sum([for i in 0..n: d[i] * y[i]]))\n",
    "let n = {n}\nlet k = [for i in 0..n: i]\nlet t = table(q = k, x = [for v in k: f64(v) * 0.5]) |> where(q % 2 == {at} % 2) |> derive(y = 1000 // (q - {at}))\nlet s = sum(t.x)\nprint(\"{{s}} {{sum(t.x * s)}} {{sum(t.y)}}\")\n",
]
READ = """
type Row = (id: i64, km: f64, x: f64, late: i64?, city: text)
let t: Row[_] = read_{kind}("rows.{kind}")
let few = t |> where(km > 300 and not is_null(late)) |> derive(z = x * km)
let m = sum(few.z) / 1000.0
print("{{len(few)}} {{m}} {{sum(for v in few.z: (v - m)^2)}} {{sum(few.x * m)}} {{sum(few.id)}}")
print(sum(few.late))
let far = few |> where(z > m)
print("{{len(far)}} {{sum(far.z)}} {{count(for c in far.city: c == "city 3")}}")
show(far |> group_by(city) |> summarize(n = count(), s = sum(z), late = mean(late)))
show(few |> group_by(late) |> summarize(n = count(), first = first(city), s = sum(x)))
"""


def compare(text, ways=WAYS, beside=None, name=""):
    script = ranks.scratch(text)
    for path in beside or []:
        (script.parent / path.name).symlink_to(path)
    wrong = ranks.compare(script, ways)
    shutil.rmtree(script.parent)
    check(not wrong, f"{name} over ranks", "\n".join(wrong))


def fixed():
    for n in (0, 1, 3, 40, 4096, 4099, 8191) + (() if SHORT else (50_001,)):
        compare(COLUMNS.format(n=n), name=f"columns of {n} rows")
    for n, at in ((5, 4), (5, 0), (5, 2), (9000, 8999), (9000, 4097), (9000, 0)):
        for number, text in enumerate(FAULTS):
            compare(text.format(n=n, at=at), name=f"fault {number} at row {at} of {n}")


def close(text, exact):
    """Numbers that were printed, beside sums of rationals."""
    got = [float(word) for word in re.findall(r"[-+0-9.e]+", text)]
    return len(got) == len(exact) and all(abs(g - e) <= 1e-11 * max(size, 1) for g, (e, size) in zip(got, exact))


def matrices():
    """Over ranks as one, and that as the definition says, in exact arithmetic."""
    ways = [(1, 1, 0, ""), (1, 2, 0, ""), (2, 1, 0, ""), (2, 2, 20, ""), (3, 1, 0, ""), (3, 2, 0, ""), (5, 1, 0, ""), (5, 2, 20, ""), (8, 1, 0, ""), (8, 2, 0, "")]
    for n in (0, 1, 3, 700, 4097) + (() if SHORT else (20_001,)):
        script = ranks.scratch(MATRICES.format(n=n))
        wrong = ranks.compare(script, ways)
        check(not wrong, f"sums along columns and products of {n} rows over ranks", "\n".join(wrong))
        k = [i * 7919 % 1009 for i in range(n)]
        x = [[fractions.Fraction((k[i] + j * 331) % 1009 - 500, 7) for j in range(5)] for i in range(n)]
        w = [[fractions.Fraction(10 * (i * 3 + j) - 63, 10) for j in range(3)] for i in range(5)]
        y = [[sum(row[i] * w[i][j] for i in range(5)) for j in range(3)] for row in x]
        c = [[row[0] * (at % 5)] for row, at in zip(x, k)]
        exact = [(sum(column), sum(map(abs, column))) for column in ([row[j] for row in x] for j in range(5))]
        for other in (y, c):
            exact += [(sum(t), sum(map(abs, t))) for i in range(5) for j in range(len(other[0]) if n else 3 if other is y else 1)
                      for t in [[a[i] * b[j] for a, b in zip(x, other)]]]
        first = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().splitlines()[0]
        check(close(first, exact), f"sums and products of {n} rows are those of exact arithmetic", first)
        shutil.rmtree(script.parent)

# Tables of numbers alone, whose rows go to whoever puts them in order: few or many different keys, all kinds of numbers, nulls, NaN,
# zeros of both signs; what is sorted already, what a filter left, and what is sorted once more.
TRADES = """
let n = {n}
let k = [for i in 0..n: (i * 7919) % 1009 % {few}]
let odd = [for i in 0..n: if k[i] == 5 {{ nan }} else if k[i] == 6 {{ -0.0 }} else if k[i] == 8 {{ 0.0 }} else {{ f64((k[i] - 400) * (k[i] % 3)) }}]
let row = [for i in 0..n: i]
let t = table(key = k, x = odd, late = if_else(k % 11 == 3, null, k % 90 - 20), low = if_else(k % 7 == 3, null, odd), yes = k % 2 == 0, small = [for v in k: i8(v % 5)], single = [for v in odd: f32(v)], row = row)
let a = t |> sort(desc(late), yes)
let b = t |> sort(x, desc(key))
let c = t |> sort(desc(x))
let d = t |> sort(yes)
let e = t |> sort(small, desc(low), late)
let f = t |> where(key > {few} // 3) |> sort(desc(single), col.row)
let g = a |> sort(desc(key))
let h = b |> sort(col.row)
let by = argsort([for i in 0..n: -odd[i]])
fn told(s: i64[m]) -> i64 = sum(for i in 0..m: i * s[i])
print("{{told(a.row)}} {{told(b.row)}} {{told(c.row)}} {{told(d.row)}} {{told(e.row)}} {{told(f.row)}} {{told(g.row)}} {{told(h.row)}} {{told(by)}}")
print("{{count(for i in 0..n: (a.late[i] ?? 1000) == (t.late[a.row[i]] ?? 1000))}} {{count(for i in 0..n: (e.low[i] ?? 7.5) == (t.low[e.row[i]] ?? 7.5))}} {{count(for v in e.low: v |> is_null)}}")
let z = sort(odd)
print("{{count(for v in z: v == 0)}} {{[for i in 0..n if z[i] == 0: if 1.0 / z[i] < 0 {{ i }} else {{ 0 }}] |> sum}} {{sum(sort([for v in k: -v]))}} {{if n > 3 {{ sort(k)[3] }} else {{ 0 }}}}")
"""

# Groups of so few rows that rows go by their keys to ranks that have whole groups; keys and values with nulls, NaN and zeros of both
# signs among the keys; groups that one rank has all of; a sum that has no place in some group.
KEYED = """
let n = {n}
let k = [for i in 0..n: (i * 7919) % 100003 % {few}]
let odd = [for i in 0..n: if k[i] == 5 {{ nan }} else if k[i] == 6 {{ -0.0 }} else if k[i] == 8 {{ 0.0 }} else {{ f64(k[i] % 50 - 20) }}]
let t = table(key = k, half = if_else(k % 11 == 3, null, k // 2), x = odd, v = [for i in 0..n: i * 31 % 1009 - 300], w = if_else(k % 5 == 1, null, k * 3), r = [for i in 0..n: random(1, i) * 1e10 ^ f64(i % 5)])
let a = t |> group_by(key) |> summarize(rows = count(), s = sum(v), least = min(v), one = first(v), m = mean(r), e = sum(r))
let b = t |> group_by(half, x) |> summarize(s = sum(v), known = count(w), most = max(w), one = last(v))
let c = t |> group_by(x) |> summarize(rows = count())
print("{{len(a)}} {{sum(for i in 0..len(a): (i % 97) * (a.key[i] + 3 * a.rows[i] + 5 * a.s[i] + 7 * a.least[i] + 11 * a.one[i]))}}")
print("{{len(b)}} {{sum(for i in 0..len(b): (i % 97) * ((b.half[i] ?? -7) + 3 * b.s[i] + 5 * b.known[i] + 7 * (b.most[i] ?? -5) + 11 * b.one[i]))}} {{[for i in 0..len(c): c.rows[i]]}}")
print("{{sum(a.m)}} {{sum(a.e)}}")
let big = table(key = k, v = [for i in 0..n: if k[i] == {few} - 2 {{ 9000000000000000000 }} else {{ 1 }}]) |> group_by(key) |> summarize(s = sum(v), m = max(v))
print("{{sum(big.key)}}")
"""

# Groups of which some ranks have about as many as rows, and others few, by numbers and by texts
UNEVEN = """
let n = {n}
let k = [for i in 0..n: if i % {every} == 0 and i < n // 3 {{ 1000 + i * 7919 % 100003 }} else {{ i % 3 }}]
let t = table(key = k, name = [for v in k: "z{{v}}"], v = [for i in 0..n: i * 31 % 1009 - 300])
let a = t |> group_by(key) |> summarize(rows = count(), s = sum(v), last = last(v))
let b = t |> group_by(name) |> summarize(rows = count(), s = sum(v), first = first(v))
print("{{len(a)}} {{sum(for i in 0..len(a): (i % 97) * (a.key[i] + 3 * a.rows[i] + 5 * a.s[i] + 11 * a.last[i]))}}")
print("{{len(b)}} {{sum(for i in 0..len(b): (i % 97) * (3 * b.rows[i] + 5 * b.s[i] + 11 * b.first[i]))}}")
"""


def sweeps():
    """Over ranks as one, and sums and labels as a plain model says, in whole numbers."""
    ways = [(1, 1, 0, ""), (1, 2, 0, ""), (2, 1, 0, ""), (2, 2, 20, ""), (3, 1, 0, ""), (3, 2, 0, "a"), (5, 1, 0, ""), (5, 2, 20, ""), (8, 1, 0, ""), (8, 2, 0, "a")]
    for n in (0, 1, 3, 700, 4097, 12_289) + (() if SHORT else (50_001,)):
        script = ranks.scratch(SWEEPS.format(n=n))
        wrong = ranks.compare(script, ways)
        check(not wrong, f"sweeps of {n} rows over ranks", "\n".join(wrong))
        k = [i * 7919 % 1009 for i in range(n)]
        sums, counts, of_k, distance = [[0] * 3 for _ in range(4)], [0] * 4, [0] * 4, 0
        for at in k:
            row = [(at + j * 331) % 1009 - 500 for j in range(3)]
            away = [sum((row[j] - (c * 200 - 301 + j)) ** 2 for j in range(3)) for c in range(4)]
            c = away.index(min(away))
            sums[c] = [a + b for a, b in zip(sums[c], row)]
            counts[c] += 1
            of_k[c] += at
            distance += away[c]
        exact = [(v, abs(v)) for v in [*sum(sums, []), *counts, *of_k, distance]]
        first = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().splitlines()[0]
        check(close(first, exact), f"labels and sums of {n} rows are those of the model", f"{first}\n{exact}")
        shutil.rmtree(script.parent)


def blocks():
    """Over ranks as one, and that as the definition says, in whole numbers."""
    ways = [(1, 2, 0, ""), (2, 1, 0, ""), (2, 2, 20, ""), (3, 1, 0, ""), (3, 2, 0, "a"), (5, 2, 20, ""), (8, 1, 0, "")]
    for n, size in ((0, 5), (1, 1), (3, 2), (700, 7), (700, 1000), (4097, 64), (4097, 4096), (9001, 100)) + (() if SHORT else ((50_001, 999),)):
        script = ranks.scratch(BLOCKS.format(n=n, size=size))
        wrong = ranks.compare(script, ways)
        check(not wrong, f"blocks of {size} of {n} rows over ranks", "\n".join(wrong))
        y = [i * 7919 % 1009 % 13 - 6 for i in range(n)]
        of = [y[b:b + size] for b in range(0, n, size)]
        exact = [(sum(b), 1) for b in of]
        first = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().splitlines()
        check(close(first[0], exact), f"sums of blocks of {size} of {n} rows", first[0][:300])
        exact = [(max(b) * 1000 + len(b) + k, 1) for k, b in enumerate(of)]
        check(close(first[1], exact), f"what a function finds in blocks of {size} of {n} rows", first[1][:300])
        shutil.rmtree(script.parent)


def sorts():
    """Over ranks as one, and orders as Python has them."""
    ways = [(1, 2, 0, ""), (2, 1, 0, ""), (2, 2, 20, ""), (3, 1, 0, ""), (3, 2, 0, "a"), (5, 2, 20, ""), (8, 1, 0, "")]
    for n in (0, 1, 2, 3, 40, 4097, 9001) + (() if SHORT else (70_001,)):
        script = ranks.scratch(SORTS.format(n=n))
        wrong = ranks.compare(script, ways)
        check(not wrong, f"orders of {n} rows over ranks", "\n".join(wrong))
        k = [i * 7919 % 1009 for i in range(n)]
        x = [math.inf if v == 5 else float((v - 400) * (v % 3)) if v not in (6, 8) else 0.0 for v in k]
        name = [f"name {v % 37}" for v in k]
        orders = [sorted(range(n), key=lambda i: (name[i], -k[i])),
                  sorted(range(n), key=lambda i: (1, 0, k[i] % 2 == 0) if k[i] % 11 == 3 else (0, -(k[i] % 90), k[i] % 2 == 0)),
                  sorted(range(n), key=lambda i: (x[i], name[i])),
                  sorted((i for i in range(n) if k[i] > 300), key=lambda i: k[i] % 2 == 0)]
        exact = [sum(i * row for i, row in enumerate(order)) for order in orders] + [sum(i * v for i, v in enumerate(sorted(k))),
                                                                                 sum(i * row for i, row in enumerate(sorted(range(n), key=lambda i: -k[i])))]
        first = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().splitlines()
        got = [int(word) for word in f"{first[0]} {first[1]}".split()]
        check(got == exact, f"orders of {n} rows are those of Python", f"{got}\n{exact}")
        shutil.rmtree(script.parent)


def trades():
    """Orders of rows that go from rank to rank, as one rank and Python have them."""
    ways = [(1, 2, 0, ""), (2, 1, 0, ""), (2, 2, 20, ""), (3, 1, 0, ""), (3, 2, 0, "a"), (5, 2, 20, ""), (8, 1, 0, ""), (8, 2, 0, "a")]
    for n, few in ((0, 2), (1, 9), (2, 9), (3, 1009), (40, 2), (4097, 1009), (4097, 1), (9001, 2), (9001, 12)) + (() if SHORT else ((70_001, 1009), (600_001, 1009))):
        script = ranks.scratch(TRADES.format(n=n, few=few))
        wrong = ranks.compare(script, ways)
        check(not wrong, f"orders of {n} rows of {few} kinds over ranks", "\n".join(wrong))
        k = [i * 7919 % 1009 % few for i in range(n)]
        x = [math.inf if v == 5 else float((v - 400) * (v % 3)) if v not in (6, 8) else 0.0 for v in k]
        late = [math.inf if v % 11 == 3 else v % 90 - 20 for v in k]  # null is behind all, NaN before it, both ways
        down = [math.inf if v == math.inf else -v for v in late]
        fall = [math.inf if v == math.inf else -v for v in x]
        low = [(1, 0) if v % 7 == 3 else (0, fall[i]) for i, v in enumerate(k)]
        rows_of = range(n)
        a = sorted(rows_of, key=lambda i: (down[i], k[i] % 2 == 0))
        orders = [a, sorted(rows_of, key=lambda i: (x[i], -k[i])), sorted(rows_of, key=lambda i: fall[i]), sorted(rows_of, key=lambda i: k[i] % 2 == 0),
                  sorted(rows_of, key=lambda i: (k[i] % 5, low[i], late[i])), sorted((i for i in rows_of if k[i] > few // 3), key=lambda i: fall[i]),
                  sorted(a, key=lambda i: -k[i]), rows_of, sorted(rows_of, key=lambda i: fall[i])]
        first = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().split()
        exact = [sum(i * row for i, row in enumerate(order)) for order in orders] + [n, n - k.count(5), sum(v % 7 == 3 for v in k), sum(v == 0 for v in x)]
        exact += [sum(i for i, row in enumerate(sorted(rows_of, key=lambda i: x[i])) if k[row] == 6), -sum(k)]
        check([int(word) for word in first[:len(exact)]] == exact, f"orders of {n} rows of {few} kinds are those of Python", f"{first}\n{exact}")
        shutil.rmtree(script.parent)


def keyed():
    """Groups of rows that go from rank to rank, as one rank and Python have them."""
    ways = [(1, 2, 0, ""), (2, 1, 0, ""), (2, 2, 20, ""), (3, 1, 0, ""), (3, 2, 0, "a"), (5, 2, 20, ""), (8, 1, 0, ""), (8, 2, 0, "a")]
    for n, few in ((0, 9), (1, 9), (3, 1009), (40, 33), (4097, 1009), (4097, 100_000), (9001, 2), (9001, 7001)) + (() if SHORT else ((70_001, 50_001),)):
        script = ranks.scratch(KEYED.format(n=n, few=few))
        wrong = ranks.compare(script, ways)
        check(not wrong, f"groups of {n} rows by {few} keys over ranks", "\n".join(wrong))
        k = [i * 7919 % 100003 % few for i in range(n)]
        x = [math.inf if v == 5 else float(v % 50 - 20) if v not in (6, 8) else 0.0 for v in k]
        v, w = [i * 31 % 1009 - 300 for i in range(n)], [None if key % 5 == 1 else key * 3 for key in k]
        a, b, c = {}, {}, {}
        for i in range(n):
            a.setdefault(k[i], []).append(i)
            b.setdefault((math.inf if k[i] % 11 == 3 else k[i] // 2, x[i]), []).append(i)
            c.setdefault(x[i], []).append(i)
        first = sum(at % 97 * (key + 3 * len(g) + 5 * sum(v[i] for i in g) + 7 * min(v[i] for i in g) + 11 * v[g[0]])
                    for at, (key, g) in enumerate(sorted(a.items())))
        second = sum(at % 97 * ((-7 if key[0] == math.inf else key[0]) + 3 * sum(v[i] for i in g) + 5 * sum(w[i] is not None for i in g)
                                + 7 * max((w[i] for i in g if w[i] is not None), default=-5) + 11 * v[g[-1]])
                     for at, (key, g) in enumerate(sorted(b.items())))
        got = ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().splitlines()[:2]
        exact = [f"{len(a)} {first}", f"{len(b)} {second} {[len(g) for _, g in sorted(c.items())]}"]
        check(got == exact, f"groups of {n} rows by {few} keys are those of Python", f"{got}\n{exact}")
        shutil.rmtree(script.parent)


def uneven():
    """Groups that are many at some ranks and few at others, as one rank and Python have them."""
    ways = [(1, 2, 0, ""), (2, 1, 0, ""), (3, 1, 0, ""), (3, 2, 0, "a"), (4, 1, 20, ""), (5, 2, 0, ""), (8, 1, 0, "")]
    for n, every in ((3, 1), (50, 1), (4097, 1), (9001, 2), (30_001, 1)):
        script = ranks.scratch(UNEVEN.format(n=n, every=every))
        wrong = ranks.compare(script, ways)
        check(not wrong, f"uneven groups of {n} rows over ranks", "\n".join(wrong))
        groups = {}
        for i in range(n):
            groups.setdefault(1000 + i * 7919 % 100003 if i % every == 0 and i < n // 3 else i % 3, []).append(i)
        v = [i * 31 % 1009 - 300 for i in range(n)]
        first = sum(at % 97 * (key + 3 * len(g) + 5 * sum(v[i] for i in g) + 11 * v[g[-1]]) for at, (key, g) in enumerate(sorted(groups.items())))
        by_name = sorted(groups.items(), key=lambda of: f"z{of[0]}")
        second = sum(at % 97 * (3 * len(g) + 5 * sum(v[i] for i in g) + 11 * v[g[0]]) for at, (_, g) in enumerate(by_name))
        got, exact = ranks.run(script, [(3, 1, 0, "")])[1]["out"].decode().splitlines(), [f"{len(groups)} {first}", f"{len(groups)} {second}"]
        check(got == exact, f"uneven groups of {n} rows are those of Python", f"{got}\n{exact}")
        shutil.rmtree(script.parent)


def files():
    folder = ranks.scratch("").parent
    made = ["id,km,x,late,city\n"]
    made += [f"{i},{(i * 7919 % 100_003) / 100:.2f},{(i * 31 % 997) / 500 - 1:.3f},{'' if i % 11 == 3 else i % 90 - 20},city {i % 37}\n"
             for i in range(60_000 if SHORT else 120_000)]
    (folder / "rows.csv").write_text("".join(made))
    script = folder / "s.flow"
    script.write_text('type Row = (id: i64, km: f64, x: f64, late: i64?, city: text)\nlet t: Row[_] = read_csv("rows.csv")\nwrite_arrow(t, "rows.arrow")\n')
    (folder / "rows.arrow").write_bytes(ranks.run(script, [])[0]["rows.arrow"])
    for kind in ("csv", "arrow"):
        compare(READ.format(kind=kind), beside=[folder / f"rows.{kind}"], name=f"rows kept of rows.{kind}")
    shutil.rmtree(folder)


def sent(text):
    """Bytes that two ranks sent together, who keep arrays in parts from 100 elements on."""
    script = ranks.scratch(text)
    alone, got = ranks.run(script, [(2, 2, 0, "")])
    shutil.rmtree(script.parent)
    check(got["out"] == alone["out"], "the same is printed", got["err"])
    return got.sent


def stays():
    """What stays is not sent: of derived, filtered and folded columns, states alone."""
    n = 100_000
    some = sent(f"""let x = [for i in 0..{n}: random(7, i)]
let m = sum(x) / {n}.0
let d = [for v in x: v - m]
let s = sum(for v in d: v * v)
let big = [for v in d if v > 0.1: v * s]
let bm = sum(big)
let t = table(a = x, b = d) |> where(a > 0.5) |> derive(c = a * b)
let c = sum(t.c)
print("{{m}} {{s}} {{bm}} {{sum(for v in big: v - bm)}} {{sum(for v in t.c: v * c)}} {{len(t)}}")
""")
    check(0 < some < 2 * n, "columns of 800,000 bytes stay where they are, but for blocks at borders", f"{some} bytes were sent")
    some = sent(f"""let x = [for i in 0..{n}, j in 0..8: random(7, i, j)]
let m = mean(x, axis = 0)
let y = x @ [for i in 0..8, j in 0..4: random(8, i, j) - m[j]]
let g = x' @ y
print("{{sum(g)}} {{m}} {{sum(y * g[0, 0], axis = 0)}}")
""")
    check(0 < some < 8 * n, "matrices of 6,400,000 bytes stay where they are; what is summed of them is sent", f"{some} bytes were sent")
    some = sent(f"""import cluster
let x = [for i in 0..{n}, j in 0..8: random(7, i, j)]
let f = cluster.kmeans(x, 5, init = [for c in 0..5, j in 0..8: random(8, c, j)], iters = 10)
print("{{f.centers}} {{f.inertia}} {{sum(for v in f.label: v * v)}}")
""")
    # Cuts that are uneven now and then: the first labels and gaps may be cut otherwise.
    check(0 < some < 17 * n, "rows, labels and gaps of k-means stay where they are, for 11 sweeps", f"{some} bytes were sent")
    some = sent(f"""import linear, decomposition
let x = [for i in 0..{n}, j in 0..8: random(7, i, j)]
let y = [for i in 0..{n}: x[i, 2] - x[i, 5] + random(8, i)]
let f = linear.ridge(x, y)
print("{{f.coefficients}} {{decomposition.pca(x, 3).components}}")
""")
    # A block of 4,096 rows at the border, in each of the passes, where cuts are uneven
    check(0 < some < 8 * n, "ridge and principal components of 6,400,000 bytes send what is summed", f"{some} bytes were sent")
    some = sent(f"""let k = [for i in 0..{n}: i * 7919 % 1009]
let x = [for i in 0..{n}: random(7, i)]
let t = table(key = k, value = x) |> sort(key, value)
print("{{sum(for i in 0..{n}: t.value[i] * f64(i % 7))}} {{sum(for i in 0..{n}: t.key[i] * (i % 5))}}")
""")
    # What is looked at to find cuts is 8,192 rows of 24 bytes; where cuts are uneven, one column is made whole before.
    check(0 < some < 20 * n, "of 1,600,000 bytes that are sorted about half go to the other rank, once", f"{some} bytes were sent")
    all_of_it = sent(f"let x = [for i in 0..{n}: random(7, i)]\nlet m = sum(x)\nlet t = table(a = [for v in x: v * m]) |> where(a > 0)\n"
                     f"show(t |> sort(a) |> head(3))\nprint(sum(t.a))\n")
    check(all_of_it >= 8 * n, "who needs any row has all of them", f"{all_of_it} bytes were sent")


if __name__ == "__main__":
    if SHARD == 0:
        stays()
        matrices()
        sweeps()
        blocks()
        sorts()
        trades()
        keyed()
        uneven()
        fixed()
    if SHARD == SHARDS - 1:
        files()
    finish()
