#!/usr/bin/env python3
"""Table aggregates are exact and rounded once: sum mean var std cov corr weighted_mean of all rows, by group, on every
row, over windows of rows and of time, running, and in the parts of a CSV file, against Python's fractions. Numbers with
exponents far apart, subnormal, near the largest, decimals, integers beyond 2^53, nulls, infinities and NaN; compiled
and with --interp. Tables of thousands of rows too, whose floats are summed as pairs of doubles where these are sure.

`exact_aggregates.py SEED COUNT` runs COUNT rounds of other numbers."""
import fractions
import math
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, Place, check, finish

F = fractions.Fraction
INF, NAN = math.inf, math.nan
ROWS, MANY = 120, 2500


# ---- the model ------------------------------------------------------------------------------------------------------

def rounded(q):
    try:
        return float(q)
    except OverflowError:
        return INF if q > 0 else -INF


def root(q):
    """The square root of a fraction, rounded once: 64 bits and whether anything is below them decide."""
    if q == 0:
        return 0.0
    k = 2 * 1200
    n = q.numerator * 4**k
    m = math.isqrt(n // q.denominator)
    exact = m * m * q.denominator == n
    return rounded(F(2 * m + (not exact), 2 * 2**k))


def finite(values):
    return all(isinstance(v, int) or math.isfinite(v) for v in values)


def special_sum(values):
    """The sum of doubles of which some are infinite or NaN."""
    bad = [v for v in values if not math.isfinite(v)]
    return bad[0] if bad and all(v == bad[0] for v in bad) else NAN


def total(x):
    return sum(map(F, x), F(0))


def agg_sum(x):
    if x and isinstance(x[0], int):
        return sum(x)
    return rounded(total(x)) + 0.0 if finite(x) else special_sum(x)


def agg_mean(x):
    if not x:
        return None
    return rounded(total(x) / len(x)) if finite(x) else special_sum(x)


def moment(x, y):
    return len(x) * total(F(a) * F(b) for a, b in zip(x, y)) - total(x) * total(y)


def agg_var(x, ddof=1, std=False):
    if len(x) < max(1, ddof + 1):
        return None
    if not finite(x):
        return NAN
    q = moment(x, x) / (len(x) * (len(x) - ddof))
    return root(q) if std else rounded(q)


def agg_std(x, ddof=1):
    return agg_var(x, ddof, True)


def agg_cov(x, y):
    if len(x) < 2:
        return None
    return rounded(moment(x, y) / (len(x) * (len(x) - 1))) if finite(x) and finite(y) else NAN


def agg_corr(x, y):
    if len(x) < 2:
        return None
    if not finite(x) or not finite(y):
        return NAN
    xx, yy, xy = moment(x, x), moment(y, y), moment(x, y)
    if xx == 0 or yy == 0:
        return NAN
    return math.copysign(root(xy * xy / (xx * yy)), 1 if xy >= 0 else -1)


def agg_weighted(x, w):
    if not x:
        return None
    if finite(x) and finite(w):
        top, below = total(F(a) * F(b) for a, b in zip(x, w)), total(w)
        return rounded(top / below) if below else NAN if top == 0 else INF if top > 0 else -INF
    products = [NAN if not finite([a, b]) and 0 in (a, b) else float(a) * float(b)
                for a, b in zip(x, w) if not finite([a, b])]
    top = special_sum(products) if any(not math.isfinite(p) for p in products) else 1.0
    below = special_sum([float(v) for v in w]) if not finite(w) else rounded(total(w))
    if math.isinf(below):
        return NAN if not math.isfinite(top) else 0.0
    return NAN if math.isnan(below) or math.isnan(top) else INF if (top > 0) == (math.copysign(1, below) > 0) else -INF


ONE = {"sum(x)": agg_sum, "mean(x)": agg_mean, "var(x)": agg_var, "std(x)": agg_std,
       "var(x, ddof = 0)": lambda x: agg_var(x, 0), "std(x, ddof = 0)": lambda x: agg_std(x, 0),
       "count(x)": len}
TWO = {"cov(x, y)": agg_cov, "corr(x, y)": agg_corr, "weighted_mean(x, y)": agg_weighted}
SELF = {"corr(x, x)": lambda x: agg_corr(x, x), "cov(x, x)": lambda x: agg_cov(x, x),
        "corr(x, 0 - x)": lambda x: agg_corr(x, [-v for v in x])}


# ---- numbers --------------------------------------------------------------------------------------------------------

def bits(low, high):
    """Doubles of random bits with exponents between these."""
    e = random.randint(low + 1023, high + 1023)
    return struct.unpack("<d", struct.pack("<Q", random.getrandbits(52) | e << 52 | random.getrandbits(1) << 63))[0]


KINDS = {
    "decimal": ("f64", lambda: round(random.uniform(-3, 3), 1)),
    "tenth": ("f64", lambda: 0.1),
    "price": ("f64", lambda: round(random.uniform(0, 1e5), 2)),
    "normal": ("f64", lambda: random.gauss(0, 1)),
    "offset": ("f64", lambda: 1e9 + random.random()),
    "near": ("f64", lambda: bits(-40, 40)),
    "wide": ("f64", lambda: bits(-1022, 1023)),
    "tiny": ("f64", lambda: random.choice([-1, 1]) * random.randint(0, 9) * 5e-324),
    "huge": ("f64", lambda: random.choice([1.7e308, 8.9e307, -1.7e308, 1.79e308, 1e300])),
    "mixed": ("f64", lambda: random.choice([1.0, -1.0, 1e-30, 1e30, 1e200, -1e200, 5e-324, 0.0, -0.0])),
    "special": ("f64", lambda: random.choice([1.5, 2.5, -0.25, 1e300, 2.0, 3.0, -4.0] * 4 + [INF, -INF, NAN])),
    "single": ("f32", lambda: struct.unpack("<f", struct.pack("<f", random.gauss(0, 1)))[0]),
    "i64": ("i64", lambda: random.randint(-2**55, 2**55)),
    "counts": ("i64", lambda: random.randint(0, 9)),
    "u64": ("u64", lambda: random.randint(0, 2**57)),
    "i32": ("i32", lambda: random.randint(-2**31, 2**31 - 1)),
    "u8": ("u8", lambda: random.randint(0, 255)),
}
PARTNERS = {"i64": ["price", "i32", "u64"], "u64": ["wide", "u8"], "i32": ["normal", "i64"], "u8": ["u8", "special"],
            "special": ["special", "counts"], "tenth": ["decimal", "counts"], "single": ["single", "u8"]}


def written(v):
    return "" if v is None else repr(v) if isinstance(v, int) or v == v else "nan"


class Table:
    def __init__(self, name, kind, partner, holes, rows=ROWS):
        self.name, self.holes, self.rows = name, holes, rows
        self.type = [KINDS[k][0] + ("?" if holes else "") for k in (kind, partner)]
        self.ints = KINDS[kind][0] not in ("f64", "f32")
        self.unsigned = KINDS[kind][0] in ("u64", "u8")
        column = lambda k: [None if holes and random.random() < 0.2 else KINDS[k][1]() for _ in range(rows)]
        self.x, self.y = column(kind), column(partner)
        self.g = [random.choice("aaabbcccccde") for _ in range(rows)]
        self.g[random.randrange(rows)] = "z"  # a group of one row
        self.t, at = [], 0
        for _ in range(rows):
            at += random.randint(0, 3)
            self.t.append(at)

    def drift(self):
        """Values whose size changes along the rows, of which y is nearly a multiple of x."""
        far = random.choice([1, 4, 30])
        for i in range(self.rows):
            self.x[i] = random.gauss(0, 1) * 2.0**(i // 300 % 5 * far)
            self.y[i] = self.x[i] * random.choice([-3.0, -3.0, -3.0000000001])
        return self

    def csv(self):
        rows = ("{},{},{},{}".format(g, t, written(x), written(y)) for g, t, x, y in
                zip(self.g, self.t, self.x, self.y))
        return "g,t,x,y\n" + "\n".join(rows) + "\n"


class Script:
    """Lines that print a list of values each, and what they are to be."""

    def __init__(self):
        self.lines = ['fn line(x: text[n]) -> text = join_text(x, " ")', "fn shown(x) -> text = \"{x}\""]
        self.wanted, self.files = [], {}

    def expect(self, what, code, values):
        self.lines.append(f'print("#{len(self.wanted)} " + line([for r in {code}: shown(r.r)]))')
        self.wanted.append((what, values))

    def add(self, t):
        self.files[t.name + ".csv"] = t.csv()
        n = t.name
        self.lines.append(f"type Row{n} = (g: text, t: i64, x: {t.type[0]}, y: {t.type[1]})")
        read = f'read_csv("{n}.csv")'
        self.lines.append(f"let {n}: Row{n}[_] = {read}")
        everywhere = {k: f for k, f in {**ONE, **SELF}.items() if not (t.unsigned and "-" in k)}
        keys = sorted(set(t.g))
        one = lambda rows: [t.x[i] for i in rows if t.x[i] is not None]
        both = lambda rows: [i for i in rows if t.x[i] is not None and t.y[i] is not None]
        by = {k: [i for i in range(t.rows) if t.g[i] == k] for k in keys}
        calls = [(c, lambda rows, f=f: f(one(rows))) for c, f in everywhere.items()]
        calls += [(c, lambda rows, f=f: f([t.x[i] for i in both(rows)], [t.y[i] for i in both(rows)]))
                  for c, f in TWO.items()]
        for c, f in calls:
            self.expect(f"{n} {c}", f"({n} |> summarize(r = {c}))", [f(range(t.rows))])
            if t.rows > ROWS:
                continue
            self.expect(f"{n} {c} by group", f"({n} |> group_by(g) |> summarize(r = {c}))", [f(by[k]) for k in keys])
            self.expect(f"{n} {c} on rows", f"({n} |> group_by(g) |> derive(r = {c}) |> head(1) |> sort(g) |> ungroup)",
                        [f(by[k]) for k in keys])
        if t.rows > ROWS:
            return
        for c in ("mean(x)", "sum(x)", "count(x)"):  # in the parts of the file
            self.lines.append(f"let part{len(self.wanted)}: Row{n}[_] = {read}")
            self.expect(f"{n} {c} in parts", f"(part{len(self.wanted)} |> group_by(g) |> summarize(r = {c}))",
                        [ONE[c](one(by[k])) for k in keys])
        for width, by_time in ((1, False), (2, False), (3, False), (8, False), (50, False), (5, True)):
            for f, model in (("sum", agg_sum), ("mean", agg_mean), ("var", agg_var), ("std", agg_std)):
                values = []
                for i in range(ROWS):
                    if by_time:
                        rows = [j for j in range(ROWS) if t.t[i] - width < t.t[j] <= t.t[i]]
                    else:
                        rows = range(max(0, i - width + 1), i + 1)
                    x = one(rows)
                    values.append(model(x) if x else None)
                more = ", by = t" if by_time else ", min_periods = 1"
                self.expect(f"{n} rolling {f} {width}{more}", f"({n} |> derive(r = rolling(x, {width}, `{f}`{more})))", values)
        if not t.ints:
            values, seen = [], []
            for v in t.x:
                if v is not None:
                    seen.append(v)
                values.append(None if v is None else agg_sum(seen))
            self.expect(f"{n} cumsum", f"({n} |> derive(r = cumsum(x)))", values)

    def run(self, mode):
        place = Place(x__flow="\n".join(self.lines) + "\n")
        for name, text in self.files.items():
            place.write(name, text)
        done = place.run("run", *mode, "--no-cache", "x.flow")
        check(done.returncode == 0, f"the script runs {mode}", done.stderr)
        if done.returncode != 0:
            return
        found = dict(line.split(" ", 1) if " " in line else (line, "") for line in done.stdout.splitlines()
                     if line.startswith("#"))
        for k, (what, values) in enumerate(self.wanted):
            compare(f"{what} {mode}", values, found.get(f"#{k}", "").split())


def same(want, got):
    if want is None:
        return got == "null"
    if isinstance(want, int):
        return got == str(want)
    if want != want:
        return got == "nan"
    try:
        return float(got) == want and math.copysign(1, float(got)) == math.copysign(1, want)
    except ValueError:
        return False


def compare(what, values, got):
    wrong = [(i, v, got[i]) for i, v in enumerate(values) if i < len(got) and not same(v, got[i])]
    check(len(got) == len(values) and not wrong, what, f"{len(values)} expected, {len(got)} found, wrong: {wrong[:5]}")


seed, rounds = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (14, 1)
for turn in range(rounds):
    random.seed(seed + turn)
    script, number = Script(), 0
    for kind in KINDS:
        partner = random.choice(PARTNERS.get(kind, list(KINDS)))
        script.add(Table(f"t{number}{kind}", kind, partner, holes=random.random() < 0.5))
        number += 1
    for kind in [k for k in KINDS if KINDS[k][0] in ("f64", "f32")][:: 1 if ALL else 2]:
        partner = random.choice(["decimal", "price", "normal", "offset", "near", "single", kind])
        script.add(Table(f"t{number}{kind}", kind, partner, holes=random.random() < 0.5, rows=MANY + random.randrange(9)))
        number += 1
    for _ in range(4 if ALL else 2):
        script.add(Table(f"t{number}drift", "normal", "normal", False, MANY).drift())
        number += 1
    for mode in ([], ["--interp"]):
        script.run(mode)
finish()
