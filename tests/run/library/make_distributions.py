"""data/distributions.npz: densities, probabilities, tails and quantiles in 25 digits (mpmath), rounded once.

mpmath 1.3 or later: python3 make_distributions.py. Probabilities are integrals of the densities, so they owe nothing to the methods of
the library. Rows: argument, parameters, what is expected. Minutes.
"""
import pathlib

import mpmath as mp
import numpy as np

mp.mp.dps = 25
HERE = pathlib.Path(__file__).resolve().parent
out = {}
F = mp.mpf


def beta_front(x, y, a, b):
    """x^a y^b / B(a, b)."""
    return mp.exp(mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b) + a * mp.log(x) + b * mp.log(y))


def beta_below(x, y, a, b):
    """I_x(a, b) for x up to the mean: over x e^-s, as parts of the density at x."""
    exponent = lambda s: a * s - (b - 1) * mp.log1p(-x / y * mp.expm1(-s))
    ends = [F(0), 1 / (abs(a - (b - 1) * x / y) + mp.sqrt(a + b * x / y / y + 1)) / 4]
    while len(ends) < 80 and exponent(ends[-1]) < 75:
        ends.append(2 * ends[-1])
    return beta_front(x, y, a, b) / y * mp.quad(lambda s: mp.exp(-exponent(s)), ends)


def beta_both(x, y, a, b):
    """I_x(a, b) and 1 - I_x(a, b)."""
    if a * y >= b * x:
        low = beta_below(x, y, a, b)
        return low, 1 - low
    high = beta_below(y, x, b, a)
    return 1 - high, high


def gamma_both(a, x):
    """P(a, x) and Q(a, x): over x e^-s below a, x e^s above."""
    sign = 1 if x > a else -1
    exponent = lambda s: x * mp.expm1(sign * s) - sign * a * s
    ends = [F(0), 1 / (abs(a - x) + mp.sqrt(a) + 1) / 4]
    while len(ends) < 80 and exponent(ends[-1]) < 75:
        ends.append(2 * ends[-1])
    one = mp.exp(a * mp.log(x) - x - mp.loggamma(a)) * mp.quad(lambda s: mp.exp(-exponent(s)), ends)
    return (1 - one, one) if sign > 0 else (one, 1 - one)


def t_of(t, df):
    """Density, cdf, sf."""
    t, df = F(t), F(df)
    a, b = df / 2, F(1) / 2
    x, y = df / (df + t * t), t * t / (df + t * t)
    density = mp.exp(mp.loggamma(a + b) - mp.loggamma(a) - (a + b) * mp.log1p(t * t / df)) / mp.sqrt(df * mp.pi)
    tail = beta_both(x, y, a, b)[0] / 2 if t else F(1) / 2
    return (density, 1 - tail, tail) if t >= 0 else (density, tail, 1 - tail)


def chi2_of(x, df):
    x, a = F(x) / 2, F(df) / 2
    return (mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a)) / 2, *gamma_both(a, x))


def f_of(x, d1, d2):
    x, d1, d2 = F(x), F(d1), F(d2)
    z = d1 * x / d2
    a, b = d1 / 2, d2 / 2
    u, v = z / (1 + z), 1 / (1 + z)
    return (beta_front(u, v, a, b) / x, *beta_both(u, v, a, b))


def normal_of(x):
    x = F(x)
    return mp.npdf(x), mp.erfc(-x / mp.sqrt(2)) / 2, mp.erfc(x / mp.sqrt(2)) / 2


def quantile(x, density, cdf, sf):
    """The double p next to the cdf at x, and the quantile of it: a step of Newton's, after which the square of an ulp is left. None
    where p tells little of x."""
    p = float(cdf)
    if not 1e-300 < p < 1 - 1e-6 or p == 0.5:
        return None
    return p, F(x) - ((cdf - F(p)) if p < 0.5 else ((1 - F(p)) - sf)) / density


def number(v):
    """Doubles below the normal ones have few digits: they count as none."""
    v = float(v)
    return v if abs(v) > 1e-305 else 0.0


def table(of, points):
    rows, quantiles = [], []
    for x, *args in points:
        found = of(x, *args)
        rows.append([x, *args, *(number(v) for v in found)])
        there = quantile(x, *found) if x != 0 else None
        if there:
            quantiles.append([there[0], *args, float(there[1])])
    return np.array(rows), np.array(quantiles)


def spread(df):
    """Points of a distribution of mean df and variance 2 df, and far out."""
    s = (2 * df) ** 0.5
    near = [df + z * s for z in (-20, -6, -2, -0.01, 0, 0.5, 2, 6, 20)]
    return [x for x in near + [df * q for q in (1e-9, 0.01, 0.3, 3, 30)] if x > 0]


DF = [0.1, 0.5, 1, 2.5, 10, 100, 1999, 2001, 1e5, 1e6, 3.3e7, 1e10]
out["normal"], out["normal_ppf"] = table(normal_of, [[x] for x in (-38, -37.5, -30, -20, -8, -5, -4.9, -3, -1, -0.7, -0.67, -0.1, -1e-9, 0, 1e-300,
                                                                 1e-9, 0.1, 0.5, 0.68, 1, 3, 5.5, 6.7, 8, 20, 30, 37.9)])
out["t"], out["t_ppf"] = table(t_of, [[s * t, df] for df in DF for t in (0, 1e-9, 0.1, 0.99, 1, 1.01, 2, 5, 12, 30, 1e3)
                                      for s in (1, -1) if t or s > 0])
out["chi2"], out["chi2_ppf"] = table(chi2_of, [[x, df] for df in DF for x in spread(df)])
pairs = [(a, b) for a in (0.1, 1, 10, 500, 3000, 1e6, 1e10) for b in (0.5, 3, 500, 3000, 1e6, 1e10)]
points = []
for a, b in pairs:
    s = (2 / a + 2 / b) ** 0.5
    points += [[x, a, b] for x in [1 + z * s for z in (-8, -2, 0, 0.01, 0.3, 8)] + [1e-6, 0.2, 100] if x > 0]
out["f"], out["f_ppf"] = table(f_of, points)
# Normal quantiles of what floats reach
ps = [1e-320, 3e-310, 2.2e-308, 1e-300, 1e-100, 1e-20, 1e-9, 0.2499, 0.25, 0.2501, 0.5 - 1e-12, 0.5, 0.5 + 1e-15, 0.75, 0.999, 1 - 2.0**-53]
found = []
for p in ps:
    tail = min(F(p), 1 - F(p))
    z = mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - mp.log(tail), mp.sqrt(-2 * mp.log(tail)) if tail < F("0.2") else F("0.1"))
    found.append([p, float(-z if p < 0.5 else z)])
out["normal_ppf"] = np.concatenate([out["normal_ppf"], [row for row in found if row[0] != 0.5]])
np.savez_compressed(HERE / "data/distributions.npz", **out)
print({k: v.shape for k, v in out.items()})
