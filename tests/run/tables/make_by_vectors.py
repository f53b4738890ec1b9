#!/usr/bin/env python3
"""Writes by_vectors.flow and what it has to print: rows kept, turned and sorted, columns reduced and grouped at sizes around those of vectors and
of the blocks that operators take at once, by numpy and Python.

    build/peers/bin/python tests/run/tables/make_by_vectors.py

Many values are shown as one whole number, the sum of them weighted by their places; doubles are compared with what Python found."""
import math
import pathlib
from fractions import Fraction

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
lines = ["# What goes by vectors and blocks: written by make_by_vectors.py", "# modes: compiled",
         "fn shown(v: i64[n]) -> i64 = sum(for i in 0..n: v[i] * (i % 1000 + 1))"]
wanted = []


def expect(code, value):
    lines.append(f"print({code})")
    wanted.append(value)


def shown(values):
    v = np.asarray(values).astype(object)
    return f"{sum(int(x) * (i % 1000 + 1) for i, x in enumerate(v))}"


# -- rows that are kept: elements of each width, masks that keep few, half, nearly all and all --
N = 70_003
I = np.arange(N, dtype=np.int64)
X = (I * 7919) % 10_007
MASKS = {"few": ("i % 997 == 5", I % 997 == 5), "half": ("(i * 7 + i // 5) % 2 == 0", (I * 7 + I // 5) % 2 == 0), "most": ("i % 50 != 7", I % 50 != 7),
         "every": ("i >= 0", I >= 0), "none": ("i < 0", I < 0), "ends": ("i < 3 or i > 70000", (I < 3) | (I > 70_000))}
WIDTHS = {"u8": "x % 256", "i16": "x", "i32": "x * 3", "i64": "x * x", "f32": "x", "f64": "x"}
OF = {"u8": X % 256, "i16": X, "i32": X * 3, "i64": X * X, "f32": X, "f64": X}
lines.append(f"let rows = table(i = [for i in 0..{N}: i], x = [for i in 0..{N}: (i * 7919) % 10007])")
lines.append("let wide = rows |> derive(" + ", ".join(f"c_{d} = {d}({e})" for d, e in WIDTHS.items()) +
             ", c_bool = x % 3 == 0, c_null = if x % 3 == 0 { null } else { x }, c_text = text(x))")
for name, (code, mask) in MASKS.items():
    lines.append(f"let {name} = wide |> where({code})")
    for d, values in OF.items():
        expect(f"shown([for r in {name}: i64(r.c_{d})])", shown(values[mask]))
    expect(f"shown([for r in {name}: if r.c_bool {{ 1 }} else {{ 0 }}])", shown((X % 3 == 0)[mask]))
    expect(f"shown([for r in {name}: r.c_null ?? -1])", shown(np.where(X % 3 == 0, -1, X)[mask]))
    expect(f"shown([for r in {name}: parse_i64(r.c_text)])", shown(X[mask]))

# -- columns that become rows, and arrays that are turned --
for n in (1, 7, 8, 33, 1003):
    k, x = np.arange(n, dtype=np.int64), (np.arange(n, dtype=np.int64) * 7919) % 10_007
    columns = [x * (c + 1) for c in range(9)]
    lines.append(f"let u{n} = table(k = [for i in 0..{n}: i], maybe = [for i in 0..{n}: if i % 3 == 0 {{ null }} else {{ i }}], " +
                 ", ".join(f"c{c} = [for i in 0..{n}: ((i * 7919) % 10007) * {c + 1}]" for c in range(9)) + f") |> unpivot(except(k, maybe), name = c, value = x)")
    expect(f"shown(u{n}.k)", shown(np.repeat(k, 9)))
    expect(f"shown([for r in u{n}: r.maybe ?? -1])", shown(np.repeat(np.where(k % 3 == 0, -1, k), 9)))
    expect(f"shown(u{n}.x)", shown(np.stack(columns, axis=1).ravel()))
    expect(f"shown([for r in u{n}: parse_i64(slice(r.c, 1, 2))])", shown(np.tile(np.arange(9), n)))
for n, d in ((1, 9), (8, 8), (9, 7), (31, 40), (33, 65), (64, 17)):
    grid = np.arange(n * d, dtype=np.int64).reshape(n, d) * 7919 % 10_007
    for dtype in ("i64", "f64", "f32", "i16"):
        expect(f"shown([for v in reshape([for i in 0..{n}, j in 0..{d}: {dtype}(((i * {d} + j) * 7919) % 10007)]', {n * d}): i64(v)])", shown(grid.T.ravel()))


# -- reductions along columns: lanes of 32, joined by halves, as the language says --
def lanes(values):
    sums = [0.0] * 32
    for i, v in enumerate(values):
        sums[i % 32] += v
    half = 16
    while half:
        sums = [sums[j] + sums[j + half] for j in range(half)]
        half //= 2
    return sums[0]


for n in (1, 4, 5, 6, 9, 31, 32, 33, 63, 64, 65, 95, 96, 97, 129, 200):
    d = 37
    whole = (np.arange(n)[:, None] * 7919 + np.arange(d)[None, :] * 104_729) % 10_007
    grid = whole / 7.0
    lines.append(f"let m{n} = [for i in 0..{n}, j in 0..{d}: f64((i * 7919 + j * 104729) % 10007) / 7.0]")
    lines.append(f"let gaps{n} = [for i in 0..{n}, j in 0..{d}: if (i + j) % 41 == 40 {{ nan }} else {{ m{n}[i, j] }}]")
    lines += [f"let {name}{n} = {how}(m{n}, axis = 0)" for name, how in (("sums", "sum"), ("most", "max"), ("at", "argmax"), ("low", "argmin"))]
    lines.append(f"let nans{n} = max(gaps{n}, axis = 0)")
    found = [lanes(grid[:, j].tolist()) for j in range(d)]
    expect(f"sum(for j in 0..{d}: if sums{n}[j] == [{', '.join(map(repr, found))}][j] {{ 1 }} else {{ 0 }})", f"{d}")
    expect(f"shown(at{n}) + shown(low{n})", f"{int(shown(whole.argmax(axis=0))) + int(shown(whole.argmin(axis=0)))}")
    expect(f"shown([for v in most{n}: i64(round(v * 7.0))])", shown(whole.max(axis=0)))
    expect(f"count([for v in nans{n}: is_nan(v)])",
           f"{int(((np.arange(n)[:, None] + np.arange(d)[None, :]) % 41 == 40).any(axis=0).sum())}")

# -- several sums of few groups: exact, rounded once --
n = 5003
i = np.arange(n, dtype=np.int64)
columns = {"a": (i * 7919 % 10_007) / 7.0, "b": (i * 31 % 1009) * 1e-9, "c": (i % 17 - 8) * 1e15 + (i * 13 % 97) / 3.0, "d": 1.0 / (i + 1), "e": np.where(i % 100 == 0, 1e300, i / 3.0)}
lines.append(f"let g = table(few = [for i in 0..{n}: (i * 13 + i // 7) % 5], more = [for i in 0..{n}: (i * 7919) % 61], a = [for i in 0..{n}: f64(i * 7919 % 10007) / 7.0], "
             f"b = [for i in 0..{n}: f64(i * 31 % 1009) * 1e-9], c = [for i in 0..{n}: f64(i % 17 - 8) * 1e15 + f64(i * 13 % 97) / 3.0], d = [for i in 0..{n}: 1.0 / f64(i + 1)], "
             f"e = [for i in 0..{n}: if i % 100 == 0 {{ 1e300 }} else {{ f64(i) / 3.0 }}])")
for key, of in (("few", (i * 13 + i // 7) % 5), ("more", i * 7919 % 61)):
    groups = range(int(of.max()) + 1)
    lines.append(f"let by_{key} = g |> group_by({key}) |> summarize(" + ", ".join(f"s_{c} = sum({c}), m_{c} = mean({c})" for c in columns) + ")")
    for c, values in columns.items():
        parts = [values[of == k].tolist() for k in groups]
        sums, means = [math.fsum(p) for p in parts], [float(sum(map(Fraction, p), Fraction()) / len(p)) for p in parts]
        for name, found in (("s", sums), ("m", means)):
            expect(f"sum(for j in 0..{len(found)}: if by_{key}.{name}_{c}[j] == [{', '.join(map(repr, found))}][j] {{ 1 }} else {{ 0 }})", f"{len(found)}")

# -- texts that begin alike, that begin others, and that come more than once --
n = 6007
numbers = [q * 7919 % 3001 for q in range(n)]
STARTS = ["", "https://example.org/some/rather/long/path/", "https://example.org/some/rather/other/path/", "zz"]


def text_of(q):
    start = STARTS[0 if numbers[q] % 50 == 0 else 1 if numbers[q] % 50 < 40 else 2 if numbers[q] % 50 < 45 else 3]
    return start + f"{numbers[q] % 2500}" + "/é" * (numbers[q] % 4)


lines.append(f"let numbers = [for q in 0..{n}: q * 7919 % 3001]")
lines.append('let starts = [' + ", ".join(f'"{s}"' for s in STARTS) + "]")
lines.append("let texts = [for q in numbers: starts[if q % 50 == 0 { 0 } else if q % 50 < 40 { 1 } else if q % 50 < 45 { 2 } else { 3 }] + text(q % 2500) + repeat_text(\"/é\", q % 4)]")
order = sorted(range(n), key=lambda q: text_of(q).encode())
expect("shown(argsort(texts))", shown(order))
expect("shown([for s in sort(texts): n_chars(s)])", shown([len(text_of(q)) for q in order]))
expect(f"shown((table(s = texts, q = [for q in 0..{n}: q]) |> group_by(s) |> summarize(q = sum(q))).q)",
       shown([sum(q for q in range(n) if text_of(q) == s) for s in sorted({text_of(q) for q in range(n)}, key=str.encode)]))

# -- cases: letters that become one, several, longer and shorter ones beside ASCII of each length --
for letter in ("ü", "ß", "ŉ", "İ", "ﬁ", "ΑΣ", "日本", "ⱥ", "ẞ", "Ⅷ"):
    for before, behind in (("", ""), ("a", "Z" * 9), ("abCdefg", "q"), ("Mixed Case", "tail Of 17 bytes."), ("{[@`~}]", "AZaz09 AZaz09 AZ")):
        whole = before + letter + behind
        written = whole.replace("{", "\\{")
        for function in ("upper", "lower"):
            expect(f'{function}("{written}")', getattr(whole, function)())

(HERE / "by_vectors.flow").write_text("\n".join(lines) + "\n")
(HERE / "by_vectors.out").write_text("\n".join(wanted) + "\n")
