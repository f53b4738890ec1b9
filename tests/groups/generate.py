#!/usr/bin/env python3
"""Writes scripts of grouped expressions, and what they have to print: functions x places x verbs x origins x types.

What is expected is computed here, group by group: pandas splits the rows, plain Python and numpy say what each function
gives of the rows of one group. flow has no part in it. `tests/run.py` runs the scripts, compiled and with --interp.

To write the files again: `python3 tests/groups/generate.py` (Debian's python3-pandas). A builtin that takes arrays and is in
no expression fails tests/lint/groups.py.

A case is a line "## NAME", then the values of its expression: in `summarize` one a group, elsewhere one a row. A name that
starts with ~ compares numbers within 1e-12. In a template V stands for an array of the group: how it is made is the place.
"""
import math
import pathlib

import pandas

HERE = pathlib.Path(__file__).resolve().parent
NAN = float("nan")

# ---- the table: groups of four, three, two rows and of one, out of order; all values exact in binary ----------------

KEYS = ["b", "a", "c", "a", "b", "a", "d", "b", "d", "a"]
COLUMNS = {
    "x": ("f64", [1.5, 4.0, -2.0, 2.5, 8.0, 4.0, 0.25, 3.0, 16.0, 1.0]),
    "y": ("f64", [2.0, 1.0, 3.0, 4.0, 0.5, 2.0, 6.0, 1.0, 0.5, 8.0]),
    "i": ("i64", [3, 7, 2, 7, 9, 1, 5, 3, 4, 6]),
    "s": ("text", ["pear", "fig", "kiwi", "apple", "fig", "fig", "plum", "date", "plum", "lime"]),
    "b": ("bool", [True, False, True, True, False, True, False, True, False, False]),
    "d": ("date", ["2026-03-01", "2025-12-31", "1969-07-20", "2026-03-01", "2000-02-29", "2026-03-02", "2024-02-29",
                   "1999-01-01", "2024-02-29", "2020-06-15"]),
    "nx": ("f64?", [None, 4.0, -2.0, None, 8.0, 0.5, None, 3.0, None, 1.0]),
    "ni": ("i64?", [3, None, 2, 7, None, 1, None, 3, None, 6]),
    "ns": ("text?", ["pear", None, "kiwi", "apple", "fig", None, None, "date", None, "lime"]),
    "z": ("f64", [1.5, NAN, 2.0, 2.5, NAN, 4.0, NAN, 3.0, NAN, 1.0]),
}
FRAME = pandas.DataFrame({"g": KEYS, "at": range(len(KEYS))})
GROUPS = {key: list(rows["at"]) for key, rows in FRAME.groupby("g")}  # ascending keys, rows in their order


class Rows:
    """The rows of one group: its columns as lists."""

    def __init__(self, at):
        self.at, self.n = at, len(at)

    def __getattr__(self, name):
        return [COLUMNS[name][1][k] for k in self.at]


def valid(v):
    return [e for e in v if e is not None]


def is_nan(e):
    return isinstance(e, float) and e != e


def ordered(v):
    """Ascending, NaN last, null behind it."""
    return sorted(v, key=lambda e: (2, 0) if e is None else (1, 0) if is_nan(e) else (0, e))


def argsort(v):
    return sorted(range(len(v)), key=lambda k: ((2, 0) if v[k] is None else (1, 0) if is_nan(v[k]) else (0, v[k]), k))


def least(v, pick):
    """min and max of values: a NaN among them is the result."""
    v = valid(v)
    if not v:
        return None
    return NAN if any(map(is_nan, v)) else pick(v)


def mean(v):
    v = valid(v)
    return math.fsum(v) / len(v) if v else None


def variance(v, ddof=1):
    v = valid(v)
    if len(v) <= ddof:
        return None
    m = math.fsum(v) / len(v)
    return math.fsum((e - m) ** 2 for e in v) / (len(v) - ddof)


def root(v):
    return None if v is None else math.sqrt(v)


def quantile(v, q):
    v = sorted(valid(v))
    if not v:
        return None
    at = q * (len(v) - 1)
    low = math.floor(at)
    high = min(low + 1, len(v) - 1)
    return v[low] + (v[high] - v[low]) * (at - low)


def covariance(v, w):
    m, k = math.fsum(v) / len(v), math.fsum(w) / len(w)
    return math.fsum((a - m) * (b - k) for a, b in zip(v, w)) / (len(v) - 1) if len(v) > 1 else None


def running(v, f):
    out = []
    for e in v:
        out.append(f(out[-1], e) if out else e)
    return out


def mode(v):
    """The most frequent value, the least of equals."""
    v = valid(v)
    return min(sorted(set(v)), key=lambda e: -v.count(e)) if v else None


def mad(v):
    middle = quantile(v, 0.5)
    return None if middle is None else quantile([abs(e - middle) for e in valid(v)], 0.5)


def product(v):
    return math.prod(valid(v)) if v else 1.0


def total(v):
    return math.fsum(v) if any(isinstance(e, float) for e in v) else sum(v)


# ---- functions: template, meaning; of f64 arrays without null, of one value -----------------------------------------

class F:
    """text: V is the array. aggregate: null over nothing, so it may stand on a mask that leaves no row."""

    def __init__(self, text, f, aggregate=False, near=False, kind="f64"):
        self.text, self.f, self.aggregate, self.near, self.kind = text, f, aggregate, near, kind


AGGREGATES = [
    F("sum(V)", total, True), F("mean(V)", mean, True, near=True), F("min(V)", lambda v: least(v, min), True),
    F("max(V)", lambda v: least(v, max), True), F("product(V)", product, True),
    F("var(V)", variance, True, near=True), F("std(V, ddof = 0)", lambda v: root(variance(v, 0)), True, near=True),
    F("median(V)", lambda v: quantile(v, 0.5), True, near=True),
    F("quantile(V, 0.25)", lambda v: quantile(v, 0.25), True, near=True),
    F("mad(V)", mad, True, near=True),
    F("first(V)", lambda v: v[0] if v else None, True), F("last(V)", lambda v: v[-1] if v else None, True),
    F("mode(V)", mode, True), F("n_distinct(V)", lambda v: len(set(v)), True, kind="i64"),
    F("argmin(V)", lambda v: v.index(min(v)), kind="i64"), F("argmax(V)", lambda v: v.index(max(v)), kind="i64"),
    F("count(V)", len, kind="i64"), F("len(V)", len, kind="i64"),
    F("any(V > 3)", lambda v: any(e > 3 for e in v), True, kind="bool"),
    F("all(V > 0)", lambda v: all(e > 0 for e in v), True, kind="bool"),
    F("count(V > 2)", lambda v: sum(e > 2 for e in v), True, kind="i64"),
    F("weighted_mean(V, V + 20)", lambda v: math.fsum(e * (e + 20) for e in v) / math.fsum(e + 20 for e in v), near=True),
    F("cov(V, 2 * V) ?? -1.0", lambda v: covariance(v, [2 * e for e in v]) if len(v) > 1 else -1.0, near=True),
    F("is_null(corr(V, V + 1))", lambda v: len(set(v)) < 2 and len(v) < 2, kind="bool"),
]
ARRAYS = [
    F("V[0]", lambda v: v[0]), F("V[-1]", lambda v: v[-1]), F("sum(V[0..1])", lambda v: v[0]),
    F("sum(V[1..])", lambda v: total(v[1:])), F("len(V[V > 2])", lambda v: sum(e > 2 for e in v), kind="i64"),
    F("sum(V[V > 2])", lambda v: math.fsum(e for e in v if e > 2)), F("V[argmax(V)]", max),
    F("sum(V[[0, 0]])", lambda v: 2 * v[0]), F("sum(V[:, new])", total), F("sort(V)[0]", min), F("sort(V)[-1]", max),
    F("argsort(V)[0]", lambda v: argsort(v)[0], kind="i64"), F("V[argsort(V)][-1]", max),
    F("dot(V, V)", lambda v: math.fsum(e * e for e in v)), F("V @ V", lambda v: math.fsum(e * e for e in v)),
    F("norm(V)", lambda v: math.sqrt(math.fsum(e * e for e in v)), near=True),
    F("fold((p, e) => p + e, 0.0, V)", total), F("scan((p, e) => p + e, 0.0, V)[-1]", total),
    F("max(scan(for e in V: e))", lambda v: max(running(v, lambda p, e: p + e))),
    F("sum(for e in V: e^2)", lambda v: math.fsum(e * e for e in v)), F("max(for e in V: -e)", lambda v: -min(v)),
    F("product(for e in V: e)", product), F("mean(for e in V: e)", mean, near=True),
    F("any(for e in V: e > 3)", lambda v: any(e > 3 for e in v), kind="bool"),
    F("count(for e in V: e > 2)", lambda v: sum(e > 2 for e in v), kind="i64"),
    F("argmin(for e in V: e)", lambda v: v.index(min(v)), kind="i64"),
    F("best(for e in V: (k = e, w = -e), by = w).k", min),
    F("sum([for e in V: e + 1.0])", lambda v: math.fsum(e + 1 for e in v)),
    F("sum([for e in V if e > 0: e])", lambda v: math.fsum(e for e in v if e > 0)),
    F("sum([for p in 0..len(V): V[p]])", total), F("[for p in V, q in V: p * q][0, 0]", lambda v: v[0] * v[0]),
    F("sum(concat(V, V))", lambda v: 2 * math.fsum(v)), F("len(concat(V, [1.0]))", lambda v: len(v) + 1, kind="i64"),
    F("sum(reshape(V, len(V), 1))", total), F("transpose(V[:, new])[0, 0]", lambda v: v[0]),
    F("V[:, new]'[0, len(V) - 1]", lambda v: v[-1]), F("sum(V[:, new] * V[new, :])", lambda v: math.fsum(v) ** 2),
    F("stack([V, V])[1, 0]", lambda v: v[0]), F("gather(V, [0])[0]", lambda v: v[0]),
    F("sum(segment_sum(V, [for e in V: 0], 1))", total), F("segment_mean(V, [for e in V: 0], 1)[0]", mean, near=True),
    F("segment_count([for e in V: 0], 1)[0]", len, kind="i64"),
    F("len(zeros(len(V)))", len, kind="i64"), F("sum(ones(len(V)))", lambda v: float(len(v))),
    F("sum(eye(len(V)))", lambda v: float(len(v))), F("len(uniform(1, len(V)))", len, kind="i64"),
    F("len(normal(1, len(V)))", len, kind="i64"), F("len(integers(1, 0, 5, len(V)))", len, kind="i64"),
    F("sum(permutation(1, len(V)))", lambda v: len(v) * (len(v) - 1) // 2, kind="i64"),
    F("max(choice(1, len(V), 1)) < len(V)", lambda v: True, kind="bool"),
    F("len(bytes(V))", lambda v: 8 * len(v), kind="i64"), F("cumsum(V)[-1]", total), F("cumprod(V)[-1]", product),
    F("cummin(V)[-1]", min), F("cummax(V)[-1]", max), F("lag(V)[-1] ?? -1.0", lambda v: v[-2] if len(v) > 1 else -1.0),
    F("lead(V)[0] ?? -1.0", lambda v: v[1] if len(v) > 1 else -1.0),
    F("rank(V)[0]", lambda v: (sum(e < v[0] for e in v) + sum(e <= v[0] for e in v) + 1) / 2),
    F("rolling(V, 2, sum)[-1] ?? -1.0", lambda v: v[-1] + v[-2] if len(v) > 1 else -1.0),
    F("rolling(V, 2, w => w[1] - w[0])[-1] ?? -1.0", lambda v: v[-1] - v[-2] if len(v) > 1 else -1.0),
    F("rolling(V, 1, w => w[0] - V[0])[-1] ?? -1.0", lambda v: v[-1] - v[0]),
    F("sum(head(V, 2))", lambda v: math.fsum(v[:2])), F("sum(tail(V, 2))", lambda v: math.fsum(v[-2:])),
    F("max(value_counts(V).count)", lambda v: max(v.count(e) for e in v), kind="i64"),
    F("(table(q = V) |> where(q > 2) |> count())", lambda v: sum(e > 2 for e in v), kind="i64"),
    F("(table(q = V) |> summarize(m = max(q))).m[0] ?? 0.0", max), F("sum(matrix(table(q = V), q))", total),
    F("column_names(table(q = V))[0]", lambda v: "q", kind="text"),
    F("sum(solve(eye(len(V)), V))", total, near=True), F("sum(inv(eye(len(V))) @ V)", total, near=True),
    F("det([[V[0]]])", lambda v: v[0], near=True), F("cholesky([[V[0]^2 + 1.0]])[0, 0]", lambda v: math.sqrt(v[0] ** 2 + 1), near=True),
    F("abs(qr(V[:, new]).r[0, 0])", lambda v: math.sqrt(math.fsum(e * e for e in v)), near=True),
    F("svd(V[:, new]).s[0]", lambda v: math.sqrt(math.fsum(e * e for e in v)), near=True),
    F("eigh([[V[0]]]).values[0]", lambda v: v[0], near=True), F("eig([[V[0]]]).values.re[0]", lambda v: v[0], near=True),
    F("lstsq(V[:, new], 2 * V).x[0]", lambda v: 2.0 if any(v) else 0.0, near=True), F("sum(pinv(V[:, new]) @ V)", lambda v: 1.0 if any(v) else 0.0, near=True),
    F("fft(V).re[0]", total, near=True), F("rfft(V).re[0]", total, near=True), F("ifft(fft(V)).re[0] + 1.0", lambda v: v[0] + 1, near=True),
    F("sum(irfft(rfft(V), len(V))) + 1.0", lambda v: total(v) + 1.0, near=True),
    F("grad(p => sum(p^2))(V)[0]", lambda v: 2 * v[0]), F("{ let (q, dq) = value_and_grad(p => sum(p^2))(V); q }", lambda v: math.fsum(e * e for e in v)),
    F("{ let (q, dq) = jvp(p => sum(p^2))(V, V); dq }", lambda v: 2 * math.fsum(e * e for e in v)),
    F("flatten((p = V, q = V))[-1]", lambda v: v[-1]), F("unflatten(2 * flatten((p = V, q = 1.0)), (p = V, q = 1.0)).p[0]", lambda v: 2 * v[0]),
    F("nearest_centers(V[:, new], [[V[0]]]).label[0]", lambda v: 0, kind="i64"),
    F("sum(V |> sort)", total), F("V |> sum", total, True), F("len(date_range(date(\"2026-01-01\"), date(\"2026-01-01\") + days(len(V))))", len, kind="i64"),
    F("sum([V, V][0])", total), F("max([for k in 1..3: V[0] * k])", lambda v: max(2 * v[0], v[0])),
    F("{ let k = V[0]; k * 2 }", lambda v: 2 * v[0]), F("(if V[0] > 1 { V[-1] } else { V[0] })", lambda v: v[-1] if v[0] > 1 else v[0]),
    F("(match len(V) { 1 => V[0], _ => V[1] })", lambda v: v[0] if len(v) == 1 else v[1]),
    F("len(split_text(join_text([for e in V: \"q\"], \",\"), \",\"))", len, kind="i64"),
    F("join_text([for e in V: \"{e}\"], \"-\")", lambda v: "-".join(map(show, v)), kind="text"),
    F("stats_se(V)", lambda v: math.sqrt(variance(v)) / math.sqrt(len(v)) if len(v) > 1 else -1.0, near=True),
    F("metrics.rmse(V, V + 2.0)", lambda v: 2.0, near=True), F("spread(V)", lambda v: max(v) - min(v)),
    F("head_of(V)[0]", lambda v: v[0]), F("half(V)[0]", lambda v: v[0] / 2), F("twice(sum(V))", lambda v: 2 * total(v)),
    F("(q => q * 3)(sum(V))", lambda v: 3 * total(v)), F("sum(twice(V))", lambda v: 2 * total(v)), F("half(sum(V))", lambda v: total(v) / 2),
    F("stage_sum(V)", total),
]
BY_TEXT = [
    F("V[0]", lambda v: v[0], kind="text"), F("V[-1]", lambda v: v[-1], kind="text"), F("first(V)", lambda v: v[0], kind="text"),
    F("last(V)", lambda v: v[-1], kind="text"), F("min(V)", min, kind="text"), F("max(V)", max, kind="text"),
    F("mode(V)", mode, kind="text"), F("n_distinct(V)", lambda v: len(set(v)), kind="i64"), F("count(V)", len, kind="i64"),
    F("len(V)", len, kind="i64"), F("join_text(V, \"+\")", "+".join, kind="text"), F("sort(V)[0]", min, kind="text"),
    F("argsort(V)[-1]", lambda v: argsort(v)[-1], kind="i64"), F("count(for e in V: e == V[0])", lambda v: v.count(v[0]), kind="i64"),
    F("len(V[V == \"fig\"])", lambda v: v.count("fig"), kind="i64"), F("concat(V, [\"w\"])[-1]", lambda v: "w", kind="text"),
    F("fold((p, e) => p + e, \"\", V)", "".join, kind="text"), F("V[argmax([for e in V: n_chars(e)])]", lambda v: v[[len(e) for e in v].index(max(map(len, v)))], kind="text"),
    F("sum(n_chars(V))", lambda v: sum(map(len, v)), kind="i64"), F("max(n_chars(V))", lambda v: max(map(len, v)), kind="i64"),
    F("any(V == \"fig\")", lambda v: "fig" in v, kind="bool"), F("upper(V[0])", lambda v: v[0].upper(), kind="text"),
    F("max(value_counts(V).count)", lambda v: max(v.count(e) for e in v), kind="i64"),
    F("sum(codes(category(V, levels = [\"apple\", \"date\", \"fig\", \"kiwi\", \"lime\", \"pear\", \"plum\"])))",
      lambda v: sum(["apple", "date", "fig", "kiwi", "lime", "pear", "plum"].index(e) for e in v), kind="i64"),
    F("len(levels(category(V)))", lambda v: len(set(v)), kind="i64"),
    F("sum(one_hot(category(V, levels = [\"apple\", \"date\", \"fig\", \"kiwi\", \"lime\", \"pear\", \"plum\"]))[:, 2])", lambda v: float(v.count("fig"))),
    F("len(extract_all(V[0], \"[a-e]\"))", lambda v: sum(c in "abcde" for c in v[0]), kind="i64"),
]
BY_DATE = [
    F("V[0]", lambda v: v[0], kind="date"), F("V[-1]", lambda v: v[-1], kind="date"), F("min(V)", min, kind="date"),
    F("max(V)", max, kind="date"), F("first(V)", lambda v: v[0], kind="date"), F("last(V)", lambda v: v[-1], kind="date"),
    F("n_distinct(V)", lambda v: len(set(v)), kind="i64"), F("len(V)", len, kind="i64"), F("sort(V)[0]", min, kind="date"),
    F("max(year(V))", lambda v: max(int(e[:4]) for e in v), kind="i64"), F("year(V[0])", lambda v: int(v[0][:4]), kind="i64"),
    F("argmax(V)", lambda v: v.index(max(v)), kind="i64"), F("V[argmin(V)]", min, kind="date"), F("mode(V)", mode, kind="date"),
    F("max(for e in V: year(e))", lambda v: max(int(e[:4]) for e in v), kind="i64"),
    F("len(V[V > date(\"2000-01-01\")])", lambda v: sum(e > "2000-01-01" for e in v), kind="i64"),
]
BY_BOOL = [
    F("any(V)", any, kind="bool"), F("all(V)", all, kind="bool"), F("count(V)", sum, kind="i64"), F("sum(V)", sum, kind="i64"),
    F("mean(V)", lambda v: sum(v) / len(v), near=True), F("V[0]", lambda v: v[0], kind="bool"), F("V[-1]", lambda v: v[-1], kind="bool"),
    F("first(V)", lambda v: v[0], kind="bool"), F("len(V)", len, kind="i64"), F("n_distinct(V)", lambda v: len(set(v)), kind="i64"),
    F("any(for e in V: e)", any, kind="bool"), F("len(V[V])", sum, kind="i64"), F("count(not V)", lambda v: len(v) - sum(v), kind="i64"),
]
BY_INT = [
    F("sum(V)", sum, kind="i64"), F("mean(V)", mean, near=True), F("min(V)", min, kind="i64"), F("max(V)", max, kind="i64"),
    F("V[0]", lambda v: v[0], kind="i64"), F("V[-1]", lambda v: v[-1], kind="i64"), F("sort(V)[0]", min, kind="i64"),
    F("median(V)", lambda v: quantile(v, 0.5), near=True), F("mode(V)", mode, kind="i64"), F("n_distinct(V)", lambda v: len(set(v)), kind="i64"),
    F("V[argmax(V)]", max, kind="i64"), F("sum(for e in V: e * e)", lambda v: sum(e * e for e in v), kind="i64"),
    F("fold((p, e) => max(p, e), 0, V)", max, kind="i64"), F("sum(V[V % 2 == 1])", lambda v: sum(e for e in v if e % 2), kind="i64"),
    F("len(V[V > 3])", lambda v: sum(e > 3 for e in v), kind="i64"), F("sum(cumsum(V))", lambda v: sum(running(v, lambda p, e: p + e)), kind="i64"),
    F("sum(V // V[0])", lambda v: sum(e // v[0] for e in v), kind="i64"), F("sum(V % V[-1])", lambda v: sum(e % v[-1] for e in v), kind="i64"),
    F("max(V) - min(V)", lambda v: max(v) - min(v), kind="i64"), F("product(V)", product, kind="i64"),
]
# Of nullable columns: nulls are skipped, and a group without a value has none.
BY_NULL = [
    F("sum(V)", lambda v: total(valid(v))), F("mean(V)", mean, near=True), F("min(V)", lambda v: least(v, min)),
    F("max(V)", lambda v: least(v, max)), F("count(V)", lambda v: len(valid(v)), kind="i64"), F("len(V)", len, kind="i64"),
    F("first(V)", lambda v: (valid(v) or [None])[0]), F("last(V)", lambda v: (valid(v) or [None])[-1]),
    F("n_distinct(V)", lambda v: len(set(valid(v))), kind="i64"), F("median(V)", lambda v: quantile(v, 0.5), near=True), F("mad(V)", mad, near=True),
    F("V[0]", lambda v: v[0]), F("V[-1]", lambda v: v[-1]), F("V[0] ?? 7", lambda v: 7 if v[0] is None else v[0]),
    F("sum(V ?? 1)", lambda v: total([1 if e is None else e for e in v])),
    F("count(is_null(V))", lambda v: v.count(None), kind="i64"), F("any(V > 2)", lambda v: any(e > 2 for e in valid(v)), kind="bool"),
    F("all(V > 2)", lambda v: all(e > 2 for e in valid(v)), kind="bool"), F("sort(V)[0]", lambda v: ordered(v)[0]),
    F("std(V)", lambda v: root(variance(v)), near=True), F("mode(V)", mode),
    F("sum(for e in V: e ?? 0)", lambda v: total([e or 0 for e in v])),
    F("fold((p, e) => p + (e ?? 1), V[0] ?? 0, V)", lambda v: total([v[0] or 0] + [1 if e is None else e for e in v])),
    F("len(V[not is_null(V)])", lambda v: len(valid(v)), kind="i64"), F("last_value(V)", lambda v: (valid(v) or [-1])[-1]),
]
BY_NAN = [
    F("sum(V)", lambda v: NAN if any(map(is_nan, v)) else total(v)), F("min(V)", lambda v: least(v, min)), F("max(V)", lambda v: least(v, max)),
    F("count(is_nan(V))", lambda v: sum(map(is_nan, v)), kind="i64"), F("V[0]", lambda v: v[0]), F("V[-1]", lambda v: v[-1]),
    F("sort(V)[-1]", lambda v: ordered(v)[-1]), F("sort(V)[0]", lambda v: ordered(v)[0]), F("len(V[V > 2])", lambda v: sum(e > 2 for e in v), kind="i64"),
    F("sum(V[not is_nan(V)])", lambda v: total([e for e in v if not is_nan(e)] or [0.0])), F("argsort(V)[0]", lambda v: argsort(v)[0], kind="i64"),
    F("sum(for e in V: if is_nan(e) { 0.0 } else { e })", lambda v: total([0.0 if is_nan(e) else e for e in v])),
]

# ---- places: how the array of the group is written, and what it is ---------------------------------------------------

PLACES = [  # name, how the array is written, what it is; C: the column
    ("bare", "C", lambda v, r: v),
    ("col", "col.C", lambda v, r: v),
    ("mask", "C[y < 100]", lambda v, r: v),
    ("some", "C[y <= mean(y)]", lambda v, r: [e for e, w in zip(v, r.y) if w <= mean(r.y)]),
    ("first_half", "C[0..(len(y) + 1) // 2]", lambda v, r: v[:(len(v) + 1) // 2]),
    ("from_last", "[C[-1], C[0]]", lambda v, r: [v[-1], v[0]]),
    ("positions", "C[argsort(y)]", lambda v, r: [v[k] for k in argsort(r.y)]),
    ("twice", "C[[0, 0]]", lambda v, r: [v[0], v[0]]),
    ("comprehension", "[for w in C: w]", lambda v, r: v),
    ("zipped", "[for k in 0..len(C): C[len(C) - 1 - k]]", lambda v, r: v[::-1]),
    ("block", "({ let w = C; w })", lambda v, r: v),
    ("function", "same(C)", lambda v, r: v),
    ("lambda", None, lambda v, r: v),
    ("empty", "C[y > 100]", lambda v, r: []),
]
NUMBER_PLACES = [
    ("shifted", "(C + 1.0)", lambda v, r: [e + 1 for e in v]),
    ("relative", "(C - C[0])", lambda v, r: [e - v[0] for e in v]),
    ("less_least", "(C - min(C) + 0.5)", lambda v, r: [e - min(v) + 0.5 for e in v]),
    ("sorted", "sort(C)", lambda v, r: ordered(v)),
]

PRELUDE = """import metrics, stats
fn spread(v: f64[n]) -> f64 = max(v) - min(v)
fn head_of(v) = v[0..1]
fn half(v: f64) -> f64 = v / 2
fn same(v) = v
fn e_of(v: f64[n]) -> f64[n] = v - v[0]
fn stats_se(v: f64[n]) -> f64 = if n > 1 { stats.standard_error(v) } else { -1.0 }
fn last_value(v) = fold((p, e) => if is_null(e) { p } else { e ?? p }, v[0] ?? -1, v)
stage stage_sum(v: f64[n]) -> f64 = sum(v)
"""


def literal(kind, values):
    if kind.startswith("date"):
        return "date(" + literal("text", values) + ")"
    out = []
    for e in values:
        out.append("null" if e is None else "nan" if is_nan(e) else str(e).lower() if isinstance(e, bool) else
                   f'"{e}"' if isinstance(e, str) else repr(e))
    return "[" + ", ".join(out) + "]"


def table_text():
    columns = ", ".join(f"{name} = {literal(kind, values)}" for name, (kind, values) in COLUMNS.items())
    return f'table(g = {literal("text", KEYS)}, at = [for k in 0..{len(KEYS)}: k], {columns})'


def show(e):
    """A value as flow prints it."""
    if e is None:
        return "null"
    if isinstance(e, bool):
        return str(e).lower()
    if isinstance(e, float):
        return "nan" if e != e else repr(e)
    return str(e)


# ---- cases -----------------------------------------------------------------------------------------------------------

class Script:
    """Cases of one file. Expressions of one verb of one table stand in one call of it, up to a number of them."""

    AT_ONCE = 40

    def __init__(self, name):
        self.name, self.calls, self.n = name, {}, 0

    def add(self, name, source, verb, expression, groups, near=False):
        """groups: one result a group, in ascending order of the keys (summarize, sort, top), or a list a group."""
        self.calls.setdefault((source, verb), []).append((("~ " if near else "") + name, expression, groups))
        self.n += 1

    def write(self):
        flow, expected = [f"{PRELUDE}let t = {table_text()}\n{AFTER_TABLE}"], []
        for number, ((source, verb), cases) in enumerate(self.calls.items()):
            for start in range(0, len(cases), self.AT_ONCE):
                some = cases[start:start + self.AT_ONCE]
                names = [plain(name) for name, _, _ in some]
                columns = [f"e{k}" for k in range(len(some))]
                if verb not in WHOLE:  # the rows that are left
                    for k, (name, (_, e, rows)) in enumerate(zip(names, some)):
                        flow.append(f"let r{number}_{start}_{k} = {source} |> {verb.replace('E', e)} |> ungroup")
                        flow.append(f'print("## {name}")\nprint(join_text(text(r{number}_{start}_{k}.at), " "))')
                        expected.append(f"## {name}\n{' '.join(map(str, rows))}\n")
                    continue
                arguments = ", ".join(f"{c} = {e}" for c, (_, e, _) in zip(columns, some))
                flow.append(f"let r{number}_{start} = {source} |> {WHOLE[verb].replace('E', arguments)} |> ungroup")
                rows = zip(*(groups if verb.startswith("summarize") else by_row(groups) for _, _, groups in some))
                flow.append('print("## ' + "\\t".join(names) + '")')
                flow.append(f"for q in r{number}_{start} {{ print(" + '"' + "\\t".join(f"{{q.{c}}}" for c in columns) + '") }')
                expected.append("## " + "\t".join(names) + "\n")
                expected.extend("\t".join(map(show, row)) + "\n" for row in rows)
        (HERE / f"{self.name}.flow").write_text("\n".join(flow) + "\n")
        (HERE / f"{self.name}.out").write_text("".join(expected))
        print(f"{self.name}: {self.n} cases")
        return self.n


# Verbs of which one call takes many expressions.
WHOLE = {"summarize": "summarize(E)", "derive": "derive(E)", "summarize by": "summarize(by = g, E)",
         "derive by": "derive(by = g, E)", "select": "select(g, E)"}


def plain(name):
    """A name without what a text would read as something else."""
    return name.translate(str.maketrans({'"': "'", "{": "(", "}": ")", "\n": " ", "\\": "/"}))


def by_row(groups):
    """Values of each row, in the order of the table, from those of each group: one, or a list."""
    out = [None] * len(KEYS)
    for at, values in zip(GROUPS.values(), groups):
        for k, row in enumerate(at):
            out[row] = values[k] if isinstance(values, list) else values
    return out


def written(f, place, text, column):
    if place == "lambda":
        return "(v => " + f.text.replace("V", "v") + f")({column})"
    array = text.replace("C", column)
    return f.text.replace("V", array)


def results(f, meaning, column):
    """Of each group; None: the function has no value there that the test may ask for."""
    out = []
    for at in GROUPS.values():
        rows = Rows(at)
        v = meaning(getattr(rows, column), rows)
        e = f.f(v)
        of_floats = f.kind == "f64" and COLUMNS[column][0].startswith("f64")
        out.append(float(e) if of_floats and type(e) is int else e)
    return out


def functions(script, column, table, places, verb, source="t |> group_by(g)", tag=""):
    kind = COLUMNS[column][0]
    for place, text, meaning in places:
        for f in table:
            if place == "empty" and not f.aggregate:
                continue
            if place == "function" and f.text.startswith(("first(", "last(")) and "?" in kind:
                continue
            groups = results(f, meaning, column)
            e = written(f, place, text, column)
            script.add(f"{tag}{verb} {place} {f.text} of {column}", source, verb, e, groups, f.near)


STRICT = [p for p in PLACES if p[0] != "empty"]
SOME = [p for p in PLACES if p[0] in ("bare", "some", "positions", "lambda", "block", "function")]
ONE = PLACES[:1]

# Where the table comes from: how `t` of the scripts, which has all rows, becomes it again.
ORIGINS = {
    "concat": "concat(t[0..4], t[4..]) |> group_by(g)",
    "if": "(if len(t) > 3 { t } else { t |> head(1) }) |> group_by(g)",
    "if of groups": "if len(t) > 3 { t |> group_by(g) } else { t |> head(2) |> group_by(g) }",
    "var": "changed |> group_by(g)",
    "var of groups": "grouped",
    "function": "in_groups(t)",
    "parameter": "ungrouped(t) |> group_by(g)",
    "stage": "staged(t) |> group_by(g)",
    "where": "concat(t, t) |> derive(k = row_number()) |> where(k < 10) |> group_by(g)",
    "where of groups": "concat(t, t) |> derive(k = row_number()) |> group_by(g) |> where(k < 10)",
    "sort": "t |> derive(k = -row_number()) |> sort(k) |> sort(-k) |> group_by(g)",
    "sort of groups": "t |> group_by(g) |> derive(k = at) |> sort(-k) |> sort(k)",
    "derive": "t |> group_by(g) |> derive(before = x[0])",
    "join": "t |> join(table(g = [\"a\", \"b\", \"c\", \"d\"], w = [1, 2, 3, 4]), on = (g)) |> group_by(g)",
    "rename": "t |> rename(h = g) |> group_by(h) |> rename(g = h)",
    "let": "kept",
    "file": "read_csv(\"rows.csv\") |> group_by(g)",
    "two keys": "t |> derive(one = 1) |> group_by(g, one)",
}
AFTER_TABLE = """fn in_groups(q) = q |> group_by(g)
fn ungrouped(q: (g: text, x: f64, ..)[n]) = q
stage staged(q: _[n]) = q |> derive(again = x)
var changed = t |> head(1)
if len(t) > 3 { changed = t }
var grouped = t |> head(1) |> group_by(g)
for k in 0..2 { if k == 1 { grouped = t |> group_by(g) } }
let kept = t |> group_by(g)
let twice = q => q * 2"""


def all_of(script, verb, places, source="t |> group_by(g)", tag=""):
    """The tables of all types."""
    functions(script, "s", BY_TEXT, places, verb, source, tag)
    functions(script, "d", BY_DATE, places, verb, source, tag)
    functions(script, "b", BY_BOOL, places, verb, source, tag)
    functions(script, "i", BY_INT, places, verb, source, tag)
    functions(script, "nx", BY_NULL, places, verb, source, tag)
    functions(script, "ni", [f for f in BY_NULL if f.text != "mode(V)"], places, verb, source, tag)
    functions(script, "z", BY_NAN, places, verb, source, tag)


def in_rows(script):
    """Expressions of the group beside those of the row: arithmetic, texts, choices."""
    shapes = [
        ("x - F", lambda x, v: x - v, False), ("F + x * 2", lambda x, v: v + x * 2, False),
        ("if_else(x >= F, 1, 0)", lambda x, v: int(x >= v), False), ('"{x} {F}"', lambda x, v: f"{show(x)} {show(v)}", True),
        ("if x > F { x } else { F }", lambda x, v: max(x, v), False), ("max(x, F)", max, False),
        ("(x > F) == (F < x)", lambda x, v: True, False),
    ]
    for f in AGGREGATES + ARRAYS:
        if f.kind != "f64":
            continue
        for shape, meaning, text in shapes:
            if (f.near and (text or shape.startswith(("if_else", "x -")))) or (shape[:2] == "if" and f.text[:3] in ("std", "var")):  # a condition is never null
                continue
            groups = []
            for at in GROUPS.values():
                v = f.f(Rows(at).x)
                v = float(v) if type(v) is int else v
                groups.append(None if v is None else [meaning(x, v) for x in Rows(at).x])
            if any(v is None for v in groups):
                continue
            e = shape.replace("F", "(" + f.text.replace("V", "x") + ")")
            script.add(f"derive {shape}: {f.text}", "t |> group_by(g)", "derive", e, groups, f.near)


def of_rows(script):
    """Functions that give the group's rows an array."""
    rows = [
        ("x / x[0]", lambda r: [e / r.x[0] for e in r.x]), ("x - x[-1]", lambda r: [e - r.x[-1] for e in r.x]),
        ("sort(x)", lambda r: sorted(r.x)), ("x[argsort(y)]", lambda r: [r.x[k] for k in argsort(r.y)]),
        ("argsort(x)", lambda r: argsort(r.x)), ("scan((p, e) => p + e, 0.0, x)", lambda r: running(r.x, lambda p, e: p + e)),
        ("scan(for e in x: e)", lambda r: running(r.x, lambda p, e: p + e)), ("[for e in x: e * 2]", lambda r: [e * 2 for e in r.x]),
        ("[for k in 0..len(x): x[k] * k]", lambda r: [e * k for k, e in enumerate(r.x)]), ("cumsum(x - x[0])", lambda r: running([e - r.x[0] for e in r.x], lambda p, e: p + e)),
        ("cummax(y)", lambda r: running(r.y, max)), ("x[[for k in 0..len(x): len(x) - 1 - k]]", lambda r: r.x[::-1]),
        ("(v => v - mean(v[0..1]))(x)", lambda r: [e - r.x[0] for e in r.x]), ("same(x)", lambda r: r.x), ("x |> sort", lambda r: sorted(r.x)),
        ("{ let w = x[0]; x * w }", lambda r: [e * r.x[0] for e in r.x]), ("concat(x[1..], x[0..1])", lambda r: r.x[1:] + r.x[:1]),
        ("reshape(x[:, new], len(x))", lambda r: r.x), ("row_number() + i[0]", lambda r: [k + r.i[0] for k in range(r.n)]),
        ("rank(x - x[0], method = \"min\")", lambda r: [1 + sum(w < e for w in r.x) for e in r.x]), ("lag(i) ?? i[-1]", lambda r: [r.i[-1]] + r.i[:-1]),
        ("lead(i[argsort(i)]) ?? -1", lambda r: sorted(r.i)[1:] + [-1]), ("s + s[0]", lambda r: [e + r.s[0] for e in r.s]),
        ("sort(s)", lambda r: sorted(r.s)), ("b == b[0]", lambda r: [e == r.b[0] for e in r.b]), ("nx ?? nx[-1]", lambda r: [r.nx[-1] if e is None else e for e in r.nx]),
        ("scan((p, e) => e ?? p, nx[0], nx)", lambda r: filled(r.nx)), ("fft(x).im * 0 + x", lambda r: r.x), ("zeros(len(x)) + x", lambda r: r.x),
        ("rolling(x, 2, w => w[1] - w[0]) ?? x[0]", lambda r: [r.x[0]] + [b - a for a, b in zip(r.x, r.x[1:])]),
        ("rolling(x, 2, w => sum(w) + x[0]) ?? 0", lambda r: [0.0] + [a + b + r.x[0] for a, b in zip(r.x, r.x[1:])]),
        ("ntile(2) + len(i[i > 0])", lambda r: [1 + (k * 2 // r.n if r.n % 2 == 0 else int(k > r.n // 2)) + r.n for k in range(r.n)]),
        ("i == i[0] or i == 3", lambda r: [e in (r.i[0], 3) for e in r.i]), ("i in [3, 7]", lambda r: [e in (3, 7) for e in r.i]),
        ("(v => v - v[0])(x)", lambda r: [e - r.x[0] for e in r.x]),
        ("any(each((x, y), v => v > v[0]))", lambda r: [a > r.x[0] or c > r.y[0] for a, c in zip(r.x, r.y)]),
        ("all(each((x, y), v => v >= min(v)))", lambda r: [True] * r.n), ("match i { 7 => i[0], _ => i }", lambda r: [r.i[0] if e == 7 else e for e in r.i]),
        ("year(d) - year(d[0])", lambda r: [int(e[:4]) - int(r.d[0][:4]) for e in r.d]), ("half(x) + half(x[0])", lambda r: [e / 2 + r.x[0] / 2 for e in r.x]),
        ("clamp(x, x[0], x[0] + 2)", lambda r: [min(max(e, r.x[0]), r.x[0] + 2) for e in r.x]), ("e_of(x)", lambda r: [e - r.x[0] for e in r.x]),
    ]
    for text, meaning in rows:
        groups = [meaning(Rows(at)) for at in GROUPS.values()]
        for verb in ("derive", "derive by", "select"):
            script.add(f"{verb}: {text}", "t" + (" |> group_by(g)" if verb != "derive by" else ""), verb, text, groups)
        if not any(v is None or isinstance(v, str) for g in groups for v in g):
            script.add(f"derive sum: {text}", "t |> group_by(g)", "summarize", f"count(for w in ({text}): w == w)", [len(g) for g in groups])


def filled(v):
    out, last = [], v[0]
    for e in v:
        last = last if e is None else e
        out.append(last)
    return out


def choosing(script):
    """where, sort, top and their kin with expressions of the group; what is compared is which rows are left."""
    every = [f for f in AGGREGATES + ARRAYS if f.kind == "f64" and not f.near]
    for f in every:
        value = {}
        for at in GROUPS.values():
            v = f.f(Rows(at).x)
            value.update({k: v for k in at})
        if any(v is None for v in value.values()):
            continue
        x, n = COLUMNS["x"][1], range(len(KEYS))
        text = f.text.replace("V", "x")
        kept = [k for k in n if x[k] >= value[k]]
        script.add(f"where x >= {f.text}", "t |> group_by(g)", f"where(x >= (E))", text, kept)
        script.add(f"sort {f.text}", "t |> group_by(g)", "sort(E, at)", text, sorted(n, key=lambda k: (value[k], k)))
        script.add(f"sort -{f.text}", "t |> group_by(g)", "sort(-(E), at)", text, sorted(n, key=lambda k: (-value[k], k)))
        by = [max(at, key=lambda k: (x[k] * value[k], -k)) for at in GROUPS.values()]
        script.add(f"top x * {f.text}", "t |> group_by(g)", "top(1, by = x * (E))", text, by)


def scripts():
    for number, start in enumerate(range(0, 3)):
        one = Script(f"f64_{number}")
        functions(one, "x", AGGREGATES + ARRAYS, (STRICT + NUMBER_PLACES)[start::3], "summarize")
        functions(one, "x", AGGREGATES + ARRAYS, (SOME + NUMBER_PLACES)[start::3], "derive")
        yield one
    types = Script("types")
    all_of(types, "summarize", SOME)
    all_of(types, "derive", PLACES[:1] + PLACES[6:7])
    yield types
    empty = Script("empty")
    functions(empty, "x", AGGREGATES, [p for p in PLACES if p[0] == "empty"], "summarize")
    functions(empty, "x", AGGREGATES, [p for p in PLACES if p[0] == "empty"], "derive")
    functions(empty, "x", AGGREGATES + ARRAYS, ONE, "summarize by", "t", "")
    functions(empty, "x", AGGREGATES + ARRAYS, ONE, "derive by", "t", "")
    yield empty
    rows = Script("rows")
    in_rows(rows)
    of_rows(rows)
    yield rows
    verbs = Script("verbs")
    choosing(verbs)
    yield verbs
    origins = Script("origins")
    few = [f for f in AGGREGATES + ARRAYS if f.text.startswith(("sum(V)", "median", "V[", "sum(for", "fold(", "sort(V)[0", "dot(", "join_text", "spread(", "head_of", "stage_sum", "len(V[", "V |> sum"))]
    for name, source in ORIGINS.items():
        for verb in ("summarize", "derive"):
            functions(origins, "x", few, ONE + PLACES[12:13], verb, source, name + ": ")
            if name != "file":
                functions(origins, "s", BY_TEXT[:12], ONE, verb, source, name + ": ")
    yield origins


def main():
    made = list(scripts())
    columns = {"g": KEYS, "at": list(range(len(KEYS))), **{name: values for name, (kind, values) in COLUMNS.items() if name in "xyi"}}
    pandas.DataFrame(columns).to_csv(HERE / "rows.csv", index=False)
    total = sum(script.write() for script in made)
    print(f"{total} cases")


if __name__ == "__main__":
    main()
