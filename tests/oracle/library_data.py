"""Cases of the oracle of the library, and the awkward data that they are about."""
import math
from fractions import Fraction


class Want:
    """An expression of flow, one value or an array of them, and what it gives: values to a tolerance, or a test of them."""

    def __init__(self, text, expected, tolerance, scale, scalar):
        self.text, self.expected, self.tolerance, self.scale, self.scalar = text, expected, tolerance, scale, scalar

    def problem(self, values):
        if callable(self.expected):
            return self.expected(values)
        expected = [self.expected] if self.scalar else list(self.expected)
        if len(values) != len(expected):
            return f"{len(values)} values, expected {len(expected)}: {values[:9]}, {expected[:9]}"
        sizes = [abs(float(e)) for e in expected if isinstance(e, (int, float, Fraction)) and math.isfinite(e)]
        scale = self.scale if self.scale is not None else max(sizes, default=0.0)
        for k, (v, e) in enumerate(zip(values, expected)):
            if not near(v, e, self.tolerance, scale):
                return f"element {k} is {v!r}, expected {e if e is None or isinstance(e, str) else float(e)!r}"
        return None


def near(v, e, tolerance, scale):
    if isinstance(e, str) or e is None or isinstance(v, str) or v is None:
        return v == e
    e = float(e)
    if math.isnan(e) or math.isnan(v):
        return math.isnan(e) and math.isnan(v)
    if math.isinf(e) or math.isinf(v):
        return e == v
    return abs(v - e) <= tolerance * max(scale, abs(e)) + 1e-300


class Case:
    def __init__(self, name):
        self.name, self.modules, self.lines, self.wants, self.fails = name, set(), [], [], None

    def uses(self, *modules):
        self.modules |= set(modules)

    def let(self, name, text):
        """Binds a name of this case alone, and gives it."""
        own = f"{name}{len(self.lines)}_{self.name.split()[-1]}"
        self.lines.append(f"let {own} = {text}")
        return own

    def one(self, text, expected, tolerance=1e-9, scale=None):
        self.wants.append(Want(text, expected, tolerance, scale, True))

    def texts(self, text, expected):
        """An array of texts; marked, so that none looks like a number or like nothing."""
        self.many(f"[for t in {text}: \"'\" + replace(t, \"\\n\", \"~\")]", ["'" + t.replace("\n", "~") for t in expected], 0)

    def many(self, text, expected, tolerance=1e-9, scale=None):
        self.wants.append(Want(text, expected, tolerance, scale, False))

    def failing(self, text, pattern):
        """The whole case is one call that fails with a message like this."""
        self.lines.append(f"show({text})")
        self.wants, self.fails = [], pattern


def flow(value):
    """A literal of flow: numbers, texts, bools, lists of these, of any depth."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("{", "\\{") + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    return str(value)


def exact(values):
    return [exact(v) if isinstance(v, list) else Fraction(v) for v in values]


def root(square):
    """The square root of a fraction, as a float."""
    if square == 0:
        return 0.0
    shift = 0
    while square * 4**shift < 2**120:
        shift += 1
    while square * Fraction(4)**shift > 2**130:
        shift -= 1
    return math.isqrt(int(square * Fraction(4)**shift)) / 2.0**shift if abs(shift) < 1000 else math.sqrt(float(square))


def solved(a, b):
    """x with a @ x = b of fractions; None where a is singular."""
    n = len(a)
    rows = [list(a[i]) + [b[i]] for i in range(n)]
    for c in range(n):
        p = next((r for r in range(c, n) if rows[r][c] != 0), None)
        if p is None:
            return None
        rows[c], rows[p] = rows[p], rows[c]
        rows[c] = [v / rows[c][c] for v in rows[c]]
        for r in range(n):
            if r != c and rows[r][c] != 0:
                f = rows[r][c]
                rows[r] = [v - f * w for v, w in zip(rows[r], rows[c])]
    return [rows[i][n] for i in range(n)]


class Data:
    def __init__(self, rng):
        self.rng = rng

    def pick(self, *choices):
        return self.rng.choice(choices)

    def number(self, low, high):
        return self.rng.randint(low, high)

    def chance(self, p):
        return self.rng.random() < p

    def column(self, n, *kinds):
        """n floats of some kind."""
        kind = self.pick(*(kinds or ("normal", "normal", "ties", "constant", "tenths", "offset", "large", "small", "sparse")))
        r = self.rng
        if kind == "constant":
            v = self.pick(0.1, 0.0, 3.0, -0.7, 1e6 + 0.1, 1e-9, 1e8 / 3)
            return [v] * n
        if kind == "ties":
            return [float(r.randint(-2, 3)) for _ in range(n)]
        if kind == "tenths":
            return [r.randint(-3, 9) / 10 for _ in range(n)]
        if kind == "sparse":
            return [round(r.gauss(0, 2), 2) if r.random() < 0.3 else 0.0 for _ in range(n)]
        level, scale = {"normal": (0.0, 1.0), "offset": (self.pick(1e3, -1e6), 1.0), "large": (0.0, 1e6), "small": (0.0, 1e-6)}[kind]
        return [level + scale * round(r.gauss(0, 1), 5) for _ in range(n)]

    def matrix(self, n, d, *kinds, alike=0.15):
        columns = []
        for j in range(d):
            if j and self.chance(alike):
                columns.append(list(self.pick(*columns)))
            else:
                columns.append(self.column(n, *kinds))
        return [[columns[j][i] for j in range(d)] for i in range(n)]

    def labels(self, n, k):
        names = self.pick(list(range(k)), [7 * c - 3 for c in range(k)])
        return [self.pick(*names) for _ in range(n)]
