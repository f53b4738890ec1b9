"""Computes data/scipy.csv and data/linear_values.csv: how many digits of the certified parameters scipy and numpy reach on
the NIST problems beside this file, and the exact solutions of the linear ones, which are rational numbers.
Run: python3 tests/run/nist/make.py (numpy and scipy 1.17 are needed)."""
import csv
import fractions
import pathlib
import warnings

import numpy as np
from scipy import optimize

DATA = pathlib.Path(__file__).parent / "data"
exp = np.exp


def gauss(b, x, _):
    return b[0] * exp(-b[1] * x) + b[2] * exp(-(((x - b[3]) / b[4]) ** 2)) + b[5] * exp(-(((x - b[6]) / b[7]) ** 2))


def lanczos(b, x, _):
    return b[0] * exp(-b[1] * x) + b[2] * exp(-b[3] * x) + b[4] * exp(-b[5] * x)


def cubic_ratio(b, x, _):
    return (b[0] + x * (b[1] + x * (b[2] + x * b[3]))) / (1 + x * (b[4] + x * (b[5] + x * b[6])))


def chwirut(b, x, _):
    return exp(-b[0] * x) / (b[1] + b[2] * x)


def enso(b, x, _):
    a = 2 * np.pi * x
    return (b[0] + b[1] * np.cos(a / 12) + b[2] * np.sin(a / 12) + b[4] * np.cos(a / b[3]) + b[5] * np.sin(a / b[3])
            + b[7] * np.cos(a / b[6]) + b[8] * np.sin(a / b[6]))


MODELS = {
    "Bennett5": lambda b, x, _: b[0] * (b[1] + x) ** (-1 / b[2]),
    "BoxBOD": lambda b, x, _: b[0] * (1 - exp(-b[1] * x)),
    "Chwirut1": chwirut,
    "Chwirut2": chwirut,
    "DanWood": lambda b, x, _: b[0] * x ** b[1],
    "ENSO": enso,
    "Eckerle4": lambda b, x, _: b[0] / b[1] * exp(-0.5 * ((x - b[2]) / b[1]) ** 2),
    "Gauss1": gauss,
    "Gauss2": gauss,
    "Gauss3": gauss,
    "Hahn1": cubic_ratio,
    "Kirby2": lambda b, x, _: (b[0] + x * (b[1] + x * b[2])) / (1 + x * (b[3] + x * b[4])),
    "Lanczos1": lanczos,
    "Lanczos2": lanczos,
    "Lanczos3": lanczos,
    "MGH09": lambda b, x, _: b[0] * (x * x + x * b[1]) / (x * x + x * b[2] + b[3]),
    "MGH10": lambda b, x, _: b[0] * exp(b[1] / (x + b[2])),
    "MGH17": lambda b, x, _: b[0] + b[1] * exp(-x * b[3]) + b[2] * exp(-x * b[4]),
    "Misra1a": lambda b, x, _: b[0] * (1 - exp(-b[1] * x)),
    "Misra1b": lambda b, x, _: b[0] * (1 - (1 + b[1] * x / 2) ** -2),
    "Misra1c": lambda b, x, _: b[0] * (1 - (1 + 2 * b[1] * x) ** -0.5),
    "Misra1d": lambda b, x, _: b[0] * b[1] * x / (1 + b[1] * x),
    "Nelson": lambda b, x, z: b[0] - b[1] * x * exp(-b[2] * z),
    "Rat42": lambda b, x, _: b[0] / (1 + exp(b[1] - b[2] * x)),
    "Rat43": lambda b, x, _: b[0] / (1 + exp(b[1] - b[2] * x)) ** (1 / b[3]),
    "Roszman1": lambda b, x, _: b[0] - b[1] * x - np.arctan(b[2] / (x - b[3])) / np.pi,
    "Thurber": cubic_ratio,
}


def digits(found, certified, most):
    """The least over the parameters of -log10 of the relative error, between 0 and what is certified."""
    error = np.max(np.abs(np.asarray(found, float) / certified - 1))
    return most if error == 0 else 0.0 if not error < 1 else min(most, -np.log10(error))


def read(name):
    with open(DATA / name) as file:
        return list(csv.DictReader(file))


def nonlinear():
    """Per problem and start: curve_fit as it comes, and the best of least_squares at its tightest tolerances."""
    data, parameters = read("nonlinear.csv"), read("parameters.csv")
    tight = {"ftol": 2.3e-16, "xtol": 2.3e-16, "gtol": 2.3e-16, "max_nfev": 20000}
    rows = []
    for name, model in MODELS.items():
        y, x1, x2 = np.array([[float(r[k]) for k in ("y", "x1", "x2")] for r in data if r["problem"] == name]).T
        y = np.log(y) if name == "Nelson" else y
        mine = [r for r in parameters if r["problem"] == name]
        certified = np.array([float(r["value"]) for r in mine])
        for start in (1, 2):
            b = np.array([float(r[f"start{start}"]) for r in mine])
            found = []
            tries = [lambda: optimize.curve_fit(lambda x, *p: model(p, x1, x2), x1, y, b)[0]]
            for method in ("lm", "trf", "dogbox"):
                for scale in (1.0, "jac"):
                    for jacobian in ("2-point", "3-point", "cs"):
                        tries.append(lambda m=method, s=scale, j=jacobian: optimize.least_squares(
                            lambda p: model(p, x1, x2) - y, b, method=m, jac=j, x_scale=s, **tight).x)
            for k, attempt in enumerate(tries):
                try:
                    found.append(digits(attempt(), certified, 11.0))
                except (RuntimeError, ValueError, np.linalg.LinAlgError):
                    found.append(0.0)
            rows.append([name, start, f"{found[0]:.2f}", f"{max(found):.2f}"])
            print(*rows[-1])
    return rows


def columns_of(name, rows):
    """y and the columns of the problem, as fractions, and whether there is an intercept."""
    y = [fractions.Fraction(r["y"]) for r in rows]
    powers = {"Pontius": 2, "Filip": 10}.get(name, 5 if name.startswith("Wampler") else 1)
    width = 6 if name == "Longley" else 1
    x = [[fractions.Fraction(r[f"x{j + 1}"]) ** p for j in range(width) for p in range(1, powers + 1)] for r in rows]
    return y, x, not name.startswith("NoInt")


def solve(a, b):
    """Gauss's elimination in fractions."""
    n = len(b)
    a = [row[:] + [v] for row, v in zip(a, b)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if a[i][k] != 0)
        a[k], a[pivot] = a[pivot], a[k]
        a[k] = [v / a[k][k] for v in a[k]]
        for i in range(n):
            if i != k:
                a[i] = [v - a[i][k] * w for v, w in zip(a[i], a[k])]
    return [row[n] for row in a]


def linear():
    """Per problem the exact solution of the normal equations, the intercept first, and the digits of numpy and scipy."""
    data, values, rows = read("linear.csv"), [], []
    for name in dict.fromkeys(r["problem"] for r in data):
        y, x, intercept = columns_of(name, [r for r in data if r["problem"] == name])
        x = [[fractions.Fraction(1)] * intercept + row for row in x]
        d = range(len(x[0]))
        exact = solve([[sum(r[i] * r[j] for r in x) for j in d] for i in d], [sum(r[i] * v for r, v in zip(x, y)) for i in d])
        values += [[name, j + (not intercept), repr(float(v))] for j, v in enumerate(exact)]
        a, b = np.array(x, float), np.array(y, float)
        certified = np.array(exact, float)
        found = [np.linalg.lstsq(a, b, rcond=None)[0], np.linalg.lstsq(a, b, rcond=0)[0]]
        for driver in ("gelsd", "gelss", "gelsy"):
            found.append(__import__("scipy.linalg").linalg.lstsq(a, b, cond=0, lapack_driver=driver)[0])
        q, r = np.linalg.qr(a)
        found.append(np.linalg.solve(r, q.T @ b))
        of = [digits(f, certified, 15.0) for f in found]
        rows.append([name, 0, f"{of[0]:.2f}", f"{max(of):.2f}"])
        print(*rows[-1], [f"{v:.1f}" for v in of])
    return values, rows


def write(name, header, rows):
    (DATA / name).write_text("\n".join(",".join(map(str, r)) for r in [header] + rows) + "\n")


warnings.simplefilter("ignore")
values, of_linear = linear()
write("linear_values.csv", ["problem", "parameter", "value"], values)
write("scipy.csv", ["problem", "start", "usual", "best"], nonlinear() + of_linear)
