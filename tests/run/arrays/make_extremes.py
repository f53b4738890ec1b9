#!/usr/bin/env python3
"""Writes extremes.flow and what it has to print: minima, maxima, their positions, any, all, counts and sums of arrays, along each axis and of all
of it, of every type, with ties, NaN, zeros of both signs, infinities, and shapes about the sizes of lanes and blocks. What is expected is numpy's.

    build/peers/bin/python tests/run/arrays/make_extremes.py

Of many values what is printed is a sum in which each has its weight (all are exact in binary), and how many are NaN and -0. Sums along axes
of values that are not exact are compared with the order that the language has: blocks of 4096, 32 lanes, a tree."""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SHAPES = [(3, 1), (2, 63), (2, 64), (3, 100), (2, 4096), (2, 4097), (2, 9001), (4100, 3), (70, 130), (9, 300)]
KINDS = 6
FLOATS, INTS = ["f64", "f32"], {"i64": 2**30, "i32": 20000, "i16": 1, "u64": 2**30, "u32": 20000, "u8": 1}
CUBES = [(90, 100, 70), (7, 4, 33), (3, 5, 20), (2, 3, 700), (2, 2, 9), (3, 100, 70), (2, 33, 300), (2, 4100, 5), (1, 129, 1), (2, 31, 520), (1, 9000, 9)]

SCRIPT = """# made by make_extremes.py
fn number(i: i64, j: i64) -> i64 = (i * 7919 + j * 104729 + j * j * 31) % 100003 - 50001
fn value(kind: i64, i: i64, j: i64) -> f64 {
  let q = number(i, j)
  if kind == 0 { f64(q) / 8.0 }
  else { if kind == 1 { f64(q % 5 - 2) }
  else { if kind == 2 { if (i * 17 + j * 31) % 1009 == 7 { nan } else { f64(q) / 8.0 } }
  else { if kind == 3 { if q % 3 == 0 { if q % 2 == 0 { -0.0 } else { 0.0 } } else { f64(q % 3) * -0.5 } }
  else { if kind == 4 { if q % 3 == 0 { if q % 2 == 0 { -0.0 } else { 0.0 } } else { f64(q % 3) * 0.5 } }
  else { if q % 2 == 0 { -inf } else { if q % 16001 == 1 { nan } else { -inf } } } } } } }
}
fn told(x: f64[n]) -> text {
  let s = sum(for i in 0..n: (if x[i] == x[i] and x[i] > -1e300 { x[i] } else { 999.125 }) * f64(i % 7 + 1))
  "{s} {count(for v in x: v != v)} {count(for v in x: v == 0.0 and 1.0 / v < 0.0)}"
}
fn places(x: i64[n]) -> i64 = sum(for i in 0..n: x[i] * (i % 7 + 1))
fn flags(x: bool[n]) -> i64 = sum(for i in 0..n: if x[i] { i % 7 + 1 } else { 0 })
"""


def number(n, m):
    i, j = np.indices((n, m))
    return np.fmod(i * 7919 + j * 104729 + j * j * 31, 100003) - 50001


def value(kind, n, m):
    i, j = np.indices((n, m))
    q = number(n, m)
    mod = np.mod  # of flow too: the sign of the divisor
    zero = np.where(mod(q, 2) == 0, -0.0, 0.0)
    if kind == 0: return q / 8
    if kind == 1: return (mod(q, 5) - 2).astype(float)
    if kind == 2: return np.where((i * 17 + j * 31) % 1009 == 7, np.nan, q / 8)
    if kind == 3: return np.where(mod(q, 3) == 0, zero, mod(q, 3) * -0.5)
    if kind == 4: return np.where(mod(q, 3) == 0, zero, mod(q, 3) * 0.5)
    return np.where((mod(q, 2) != 0) & (mod(q, 16001) == 1), np.nan, -np.inf)


def first(x, axis, how):
    """The position of the first best one: the first NaN, else the first of equals (0 and -0 are)."""
    return (np.argmax if how == "max" else np.argmin)(x, axis=axis)


def best(x, axis, how):
    return np.take_along_axis(x, np.expand_dims(first(x, axis, how), axis), axis).squeeze(axis)


def shown(v):
    return repr(float(v))


def told(x):
    x = np.asarray(x, dtype=float)
    w = np.arange(len(x)) % 7 + 1
    s = (np.where((x == x) & (x > -1e300), x, 999.125) * w).sum()
    return f"{shown(s)} {int((x != x).sum())} {int(((x == 0) & np.signbit(x)).sum())}"


def places(x):
    return int((x * (np.arange(len(x)) % 7 + 1)).sum())


def tree(v):
    if len(v) == 1: return v[0]
    p = 1
    while p * 2 < len(v): p *= 2
    return tree(v[:p]) + tree(v[p:])


def folded(column):
    """A sum as the language orders it."""
    blocks = []
    for at in range(0, len(column), 4096):
        lanes = np.zeros(32, column.dtype)
        block = column[at:at + 4096]
        for row in range(0, len(block), 32):
            part = block[row:row + 32]
            lanes[:len(part)] += part
        for half in (16, 8, 4, 2, 1): lanes = lanes[:half] + lanes[half:2 * half]
        blocks.append(lanes[0])
    return tree(blocks)


lines, out = [SCRIPT.rstrip()], []
lines += [f"let rows = {[a for a, _ in SHAPES]}", f"let columns = {[b for _, b in SHAPES]}", f"let cubes = {[list(c) for c in CUBES]}"]

for t in FLOATS:
    lines.append(f"stage data_{t}(kind: i64, n: i64, m: i64) -> {t}[_, _] = [for i in 0..n, j in 0..m: {t}(value(kind, i, j))]")
    lines.append(f"for kind in 0..{KINDS} {{")
    lines.append(f"  for k in 0..{len(SHAPES)} {{")
    lines.append(f"    let x = data_{t}(kind, rows[k], columns[k])")
    for how in ("max", "min"):
        lines.append(f'    print("{t} {how}", kind, told([for v in {how}(x, axis = 0): f64(v)]), told([for v in {how}(x, axis = 1): f64(v)]), '
                     f'told([f64({how}(x)), f64({how}(x[1]))]), places(arg{how}(x, axis = 0)), places(arg{how}(x, axis = 1)), arg{how}(x[1]))')
    lines.append(f'    print("{t} terms", places([for r in x: argmax(for v in r: v * -0.5)]), told([for r in x: f64(min(for v in r: v + 1))]))')
    lines.append('    let f = [for r in x: [for v in r: v > -1]]')
    lines.append(f'    print("{t} flags", flags(any(f, axis = 0)), flags(any(f, axis = 1)), any(f), any(f[1]), flags(all(f, axis = 0)), flags(all(f, axis = 1)), all(f), all(f[1]), '
                 'count(f), places([for r in f: count(r)]), flags([for r in x: any(for v in r: v > 6250)]), flags([for r in x: all(for v in r: v == v)]))')
    lines += ["  }", "}"]
    for kind in range(KINDS):
        for n, m in SHAPES:
            x = value(kind, n, m).astype(np.float32 if t == "f32" else np.float64)
            for how in ("max", "min"):
                flat = x.reshape(-1)
                out.append(f"{t} {how} {kind} {told(best(x, 0, how))} {told(best(x, 1, how))} {told([best(flat, 0, how), best(x[1], 0, how)])} "
                           f"{places(first(x, 0, how))} {places(first(x, 1, how))} {first(x[1], 0, how)}")
            out.append(f"{t} terms {places(np.array([np.argmax(r * np.float32(-0.5)) for r in x]))} {told([best(r + np.float32(1), 0, 'min') for r in x])}")
            f = x > -1
            bit = lambda b: "true" if b else "false"
            out.append(f"{t} flags {places(f.any(0))} {places(f.any(1))} {bit(f.any())} {bit(f[1].any())} {places(f.all(0))} {places(f.all(1))} {bit(f.all())} {bit(f[1].all())} "
                       f"{f.sum()} {places(f.sum(1))} {places((x > 6250).any(1))} {places((x == x).all(1))}")

for t, scale in INTS.items():
    off = 50001 if t[0] == "u" else 0
    term = {"u8": "number(i, j) % 251", "i16": "number(i, j) % 60000 - 30000"}.get(t, f"(number(i, j) + {off}) * {scale}")
    lines.append(f"stage data_{t}(n: i64, m: i64) -> {t}[_, _] = [for i in 0..n, j in 0..m: {t}({term})]")
    lines.append(f"for k in 0..{len(SHAPES)} {{")
    lines.append(f"  let x = data_{t}(rows[k], columns[k])")
    for how in ("max", "min"):
        lines.append(f'  print("{t} {how}", places([for v in {how}(x, axis = 0): i64(v) % 1009]), places([for v in {how}(x, axis = 1): i64(v) % 1009]), {how}(x), {how}(x[1]), '
                     f"places(arg{how}(x, axis = 0)), places(arg{how}(x, axis = 1)), arg{how}(x[1]))")
    lines.append(f'  print("{t} sums", places([for v in sum([for r in x: [for v in r: i64(v)]], axis = 0): v % 1009]), places([for r in x: sum(for v in r: i64(v)) % 1009]), '
                 'sum(for r in x, v in r: i64(v) // 1009))')
    lines.append("}")
    for n, m in SHAPES:
        q = number(n, m)
        x = {"u8": np.mod(q, 251), "i16": np.mod(q, 60000) - 30000}.get(t, (q + off) * scale).astype(t.replace("i", "int").replace("u", "uint") if t[0] != "u" else "uint" + t[1:])
        y = x.astype(np.int64)
        for how in ("max", "min"):
            out.append(f"{t} {how} {places(np.mod(best(y, 0, how), 1009))} {places(np.mod(best(y, 1, how), 1009))} {best(y.reshape(-1), 0, how)} {best(y[1], 0, how)} "
                       f"{places(first(y, 0, how))} {places(first(y, 1, how))} {first(y[1], 0, how)}")
        out.append(f"{t} sums {places(np.mod(y.sum(0), 1009))} {places(np.mod(y.sum(1), 1009))} {(y // 1009).sum()}")

for t in FLOATS:
    lines.append(f"stage cube_{t}(p: i64, n: i64, m: i64) -> {t}[_, _, _] = [for h in 0..p, i in 0..n, j in 0..m: {t}(f64(number(i + h, j)) / 7.0)]")
    lines.append(f"for k in 0..{len(CUBES)} {{")
    lines.append(f"  let x = cube_{t}(cubes[k, 0], cubes[k, 1], cubes[k, 2])")
    lines.append("  let s = sum(x, axis = 1)\n  let r = sum(x, axis = 2)\n  let q = sum(x, axis = 0)")
    lines.append(f'  print("{t} sum", sum(x), [for v in s[0]: f64(v)][0], s[0, cubes[k, 2] // 2], s[cubes[k, 0] - 1, cubes[k, 2] - 1], r[0, cubes[k, 1] - 1], q[cubes[k, 1] - 1, 0], '
                 'told([for v in s[0]: f64(v) % 1.0]), told([for v in r[0]: f64(v) % 1.0]))')
    lines.append("}")
    for p, n, m in CUBES:
        x = np.stack([number(n + h, m)[h:] for h in range(p)]) / 7.0
        x = x.astype(np.float32 if t == "f32" else np.float64)
        s = np.array([[folded(x[h, :, j]) for j in range(m)] for h in range(p)])
        r = np.array([[folded(x[h, i]) for i in range(n)] for h in range(p)])
        q = folded(x[:, n - 1, 0])
        num = lambda v: np.format_float_positional(v, unique=True, trim="0")
        part = lambda v: folded(np.mod(v.astype(float), 1.0) * (np.arange(len(v)) % 7 + 1))
        out.append(f"{t} sum {num(folded(x.reshape(-1)))} {num(np.float64(s[0, 0]))} {num(s[0, m // 2])} {num(s[p - 1, m - 1])} {num(r[0, n - 1])} {num(q)} "
                   f"{num(part(s[0]))} 0 {int((np.mod(s[0].astype(float), 1.0) == 0)[:0].sum())} {num(part(r[0]))} 0 0")

(HERE / "extremes.flow").write_text("\n".join(lines) + "\n")
(HERE / "extremes.out").write_text("\n".join(out) + "\n")
