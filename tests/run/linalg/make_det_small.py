#!/usr/bin/env python3
"""Writes det_small.flow and what it has to print: determinants of matrices of whole numbers with sides 1 to 18, some singular, some of which
rows must change places, in f64 and f32, by Python's fractions.

    python3 tests/run/linalg/make_det_small.py"""
import fractions
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
random.seed(3)


def det(m):
    m, sign, out = [[fractions.Fraction(v) for v in row] for row in m], 1, fractions.Fraction(1)
    for k in range(len(m)):
        at = next((i for i in range(k, len(m)) if m[i][k]), None)
        if at is None:
            return 0
        if at != k:
            m[at], m[k], sign = m[k], m[at], -sign
        out *= m[k][k]
        for i in range(k + 1, len(m)):
            share = m[i][k] / m[k][k]
            m[i] = [a - share * b for a, b in zip(m[i], m[k])]
    return int(sign * out)


lines, wanted = ["# determinants of whole numbers against fractions: written by make_det_small.py"], []
for n in range(1, 19):
    for kind in ("full", "sparse", "singular"):
        m = [[random.randint(-4, 4) if kind != "sparse" or random.random() < 0.5 else 0 for _ in range(n)] for _ in range(n)]
        if kind == "singular" and n > 1:
            m[-1] = [2 * v for v in m[0]]
        rows = ", ".join("[" + ", ".join(f"{v}.0" for v in row) + "]" for row in m)
        d = det(m)
        size = max(1.0, abs(d))
        lines.append(f"let m{n}{kind} = [{rows}]")
        lines.append(f"print({n}, abs(det(m{n}{kind}) - ({d}.0)) <= {1e-10 * size:.3g} + 1e-6 * {float(kind == 'singular')}, "
                     f"abs(f64(det([for r in m{n}{kind}: [for x in r: f32(x)]])) - ({d}.0)) <= {1e-2 * size:.3g} + 10.0 ^ {n - 6 if kind == 'singular' else -9}.0)")
        wanted.append(f"{n} true true")
for n in (1, 2, 3, 4, 7, 18):  # of many: what each has, and its derivative
    names = [f"m{n}{kind}" for kind in ("full", "sparse", "singular")]
    lines.append(f"let s{n} = [{', '.join(names)}]")
    lines.append(f"print({n}, max(abs(det(s{n}) - [{', '.join(f'det({name})' for name in names)}])) == 0.0, "
                 f"max(abs(flatten(grad(z => sum(det(z)))(s{n})) - flatten([{', '.join(f'grad(z => det(z))({name})' for name in names)}]))) == 0.0)")
    wanted.append(f"{n} true true")
lines.append("print(len(det(zeros(3, 0, 0))), sum(det(zeros(3, 0, 0))), len(det([for i in 0..0, j in 0..2, k in 0..2: 1.0])))")
wanted.append("3 3.0 0")
lines.append("print(det([[0.0, 1.0], [1.0, 0.0]]), det([[1e200, 0.0], [0.0, 1e200]]), det([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]]), det([[-0.0]]))")
wanted.append("-1.0 inf 0.0 0.0")
(HERE / "det_small.flow").write_text("\n".join(lines) + "\n")
(HERE / "det_small.out").write_text("\n".join(wanted) + "\n")
