"""Random column expressions: what stands inside of verbs.

`scope` is name -> Type of the columns that may be read. What a method makes is an Expr (expressions.py). `null` says
whether the result may be null; where it may not, what could be null is filled by `??`.
"""
import math

from aggregates import aggregate_of, covariance, ranks, tiles, tiles_by, weighted
from expressions import Rows, column, constant, lazy, row, whole, window
from features import on
from functions import (DATE_FORMATS, DATE_UNITS, DOMAINS, MATHEMATICS, PARTS, TIME_PARTS, TIME_UNITS, UNITS, as_date, divide,
                       edit_distance, extract, find, float_op, formatted_time, int_power, months_later, must, pad, round_digits,
                       rounding, sign_of, split_part, sqrt, text_slice, times, title, truncate, try_parse_date, try_parse_f64,
                       try_parse_i64)
from values import (DIV_ZERO, FLOATS, INTS, NARROW, OPEN, Fault, Type, day_of, exact, f32, held, is_nan, key, literal, quantile_of,
                    quoted, smallest, sum_of, text_of, time_of, to_float)

DAY = UNITS["days"]
WORDS = ["a", "b", "ab", "b c", "", "Rome", "oslo", "x-1", "12", "-7", "3.5", "zz", "2024-02-29", "Straße", "日本", "ﬁt", "ΟΔΟΣ", "İz", "b,a", 'q"q', " a ", "null", "nan"]
PATTERNS = [r"\d+", r"(\w)-(\d)", r"^[a-c]", r"[aeiou]", r"b$", r"(\d{4})-\d\d"]
INTERPOLATED = ("median", "quantile")  # how they are rounded is not on the page: compared nearly, and used no further
GROUP_AGGREGATES = ("sum", "mean", "min", "max", "count", "any", "all", "first", "last", "n_distinct", "median", "quantile", "var", "std")


class Columns:
    """Makes expressions. whole_table: may aggregates stand here; grouped: of groups that are never empty; windows: may they."""

    def __init__(self, rng):
        self.random = rng
        self.scope, self.windows, self.aggregates, self.filled = {}, True, True, True
        self.alone = False  # is the aggregate that is made a column by itself?

    # -- small helpers --
    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self, low, high):
        return self.random.randint(low, high)

    def chance(self, share):
        return self.random.random() < share

    def columns(self, *kinds, null=None):
        return [(n, t) for n, t in self.scope.items() if t.kind in kinds and not t.approx and (null is None or t.null == null)]

    # -- leaves --
    def value(self, kind, levels=None):
        """A random value of a kind, not null."""
        r = self.random
        if kind in INTS:
            low, high = INTS[kind]
            if self.chance(0.02):
                return self.pick(low, high, low + 1, high - 1)
            return r.randint(max(low, -6), 9) if self.chance(0.85) else r.randint(max(low, -100), min(high, 120))
        if kind in FLOATS:
            if self.chance(0.06):
                return self.pick(math.nan, math.inf, -math.inf, -0.0, 0.0, 1e300, 5e-324, 1e15) if kind == "f64" else self.pick(math.nan, math.inf, -0.0)
            if self.chance(0.5):
                return r.randint(-20, 40) / 4
            if self.chance(0.1) and kind == "f64":
                return r.choice([-1, 1]) * r.random() * 10.0 ** r.randint(-12, 14)
            value = round(r.uniform(-50, 50), 2)
            return f32(value) if kind == "f32" else value
        if kind == "bool":
            return self.chance(0.5)
        if kind == "text":
            return r.choice(WORDS)
        if kind == "date":
            return 19700 + r.randint(-30, 60) if self.chance(0.9) else r.randint(-60000, 100000)
        if kind == "datetime":
            return (19700 + r.randint(-3, 6)) * DAY + r.randint(0, 47) * 1_800_000_000 + (r.randint(0, 999999) if self.chance(0.1) else 0)
        if kind == "duration":
            return r.randint(-8, 30) * r.choice([1_800_000_000, DAY, 1_000_000])
        return r.randrange(len(levels))

    def constant(self, kind, levels=None):
        value = self.value(kind, levels)
        return constant(Type(kind, False, levels), literal(value, kind, levels), value)

    def leaf(self, kind, null=False):
        known = self.columns(kind) if null else self.columns(kind, null=False)
        if known and self.chance(0.85):
            return column(*self.pick(*known))
        if kind == "category":
            return None
        return self.constant(kind)

    def filled_up(self, expr):
        """Without null."""
        if not expr.type.null:
            return expr
        kind = expr.type.kind
        if kind == "category":
            return None
        value = self.value(kind)
        return self.or_else(expr, constant(Type(kind), literal(value, kind), value))

    def or_else(self, a, b):
        def meaning(rows, i, a, b):
            value = a.at(rows, i)
            return b.at(rows, i) if value is None else value
        return lazy(Type(a.type.kind, b.type.null, a.type.levels), "($0 ?? $1)", meaning, a, b, uses=["??"])

    def make(self, kind, depth, null=False):
        """An expression of this kind."""
        if depth <= 0 or self.chance(0.1):
            return self.leaf(kind, null)
        for _ in range(6):
            forms = getattr(self, "of_int" if kind in INTS else "of_float" if kind in FLOATS else "of_" + kind)
            made = self.any_kind(kind, depth - 1, null) if self.chance(0.35) else forms(kind, depth - 1, null)
            if made is not None and made.type.null and not null:
                made = self.filled_up(made)
            if made is not None and not (made.how != "whole" and not made.varies() and fails(made)):
                return made
        return self.leaf(kind, null)

    def known_kind(self, *kinds):
        """A kind that there are columns of, else i64."""
        found = [t.kind for _, t in self.columns(*kinds)]
        return self.pick(*found) if found else kinds[0]

    # -- what there is of every kind --
    def any_kind(self, kind, depth, null):
        makers = [self.choice, self.choice, self.match]
        if null:
            makers += [self.null_where]
        if self.aggregates:
            makers += [self.of_all_rows] * 2
        if self.windows:
            makers += [self.shift] + ([self.running] * 3 if kind in ("i64", "f64") else [])
        return self.pick(*makers)(kind, depth, null)

    def choice(self, kind, depth, null):
        test, a, b = self.of_bool("bool", 1, False), self.make(kind, depth, null), self.make(kind, depth, null)
        if None in (test, a, b) or test.type.null or a.type.levels != b.type.levels:
            return None
        form = self.pick("if_else($0, $1, $2)", "(if $0 { $1 } else { $2 })")
        return lazy(Type(kind, a.type.null or b.type.null, a.type.levels), form,
                    lambda rows, i, c, a, b: (a if c.at(rows, i) else b).at(rows, i), test, a, b, uses=["if_else"])

    def null_where(self, kind, depth, null):
        test, a = self.of_bool("bool", 1, False), self.make(kind, depth, True)
        if a is None or test.type.null or not test.varies() and kind == "category" and not on("category or null by one condition"):
            return None
        return lazy(a.type.with_null(), "if_else($0, $1, null)", lambda rows, i, c, a: a.at(rows, i) if c.at(rows, i) else None, test, a,
                    uses=["null"])

    def match(self, kind, depth, null):
        subject = self.pick("i64", "text")
        on_, a, b, c = self.make(subject, 1), *[self.make(kind, depth if k == 0 else 0, null) for k in range(3)]
        if None in (on_, a, b, c) or len({str(e.type.levels) for e in (a, b, c)}) > 1:
            return None
        result = Type(kind, any(e.type.null for e in (a, b, c)), a.type.levels)
        if subject == "text":
            word = self.pick(*WORDS)
            return lazy(result, f"(match $0 {{ {quoted(word)} => $1, _ => $2 }})",
                        lambda rows, i, s, a, b: (a if s.at(rows, i) == word else b).at(rows, i), on_, a, b, uses=["match"])
        low = self.number(-3, 4)
        high, guard = low + self.number(1, 5), self.number(3, 9)

        def meaning(rows, i, s, a, b, c):
            v = s.at(rows, i)
            return (c if v is None else a if low <= v < high else b if v > guard else c).at(rows, i)

        span = f"{low}..{high}" if low >= 0 else f"v if v >= {low} and v < {high}"
        return lazy(result, f"(match $0 {{ {span} => $1, v if v > {guard} => $2, _ => $3 }})", meaning, on_, a, b, c, uses=["match"])

    def shift(self, kind, depth, null):
        inner = self.make(kind, min(depth, 1), null)
        if inner is None or not inner.varies():
            return None
        name, n = self.pick("lag", "lead"), self.number(0, 3)
        step = -n if name == "lag" else n
        return window(inner.type.with_null(), f"{name}($0)" if n == 1 else f"{name}($0, {n})",
                      lambda rows, v: [v[i + step] if 0 <= i + step < rows.n else None for i in range(rows.n)], inner, uses=[name])

    def running(self, kind, depth, null):
        inner = self.make(kind, min(depth, 1), null)
        name = self.pick("cumsum", "cummin", "cummax", "cumsum", "cumprod", "rank", "ntile", "row_number", "rolling")
        if name == "row_number" and kind == "i64":
            return window(Type("i64"), "row_number()", lambda rows: list(range(rows.n)), uses=[name])
        if name == "ntile" and kind == "i64":
            k = self.number(1, 4)
            by = self.make(self.pick("i64", "f64", "text", "date"), 1, True) if self.chance(0.5) else None
            if by is not None and by.varies():
                return window(Type("i64", by.type.null), f"ntile({k}, by = $0)", lambda rows, v: tiles_by(v, k), by, uses=["ntile"])
            return window(Type("i64"), f"ntile({k})", lambda rows: tiles(rows.n, k), uses=[name])
        if name == "rolling":
            return self.rolling(kind, depth)
        if inner is None or not inner.varies() or name in ("ntile", "row_number"):
            return None
        if name == "rank":
            return self.rank(kind, depth)
        if name == "cumprod":
            if kind == "f64":
                return None
            step = lambda so_far: held(kind, math.prod(so_far))
        elif name == "cumsum":
            step = lambda so_far: sum_of(so_far, kind)
        else:
            step = lambda so_far: smallest(so_far, 1 if name == "cummin" else -1)

        def meaning(rows, v):
            return [None if x is None else step([y for y in v[:i + 1] if y is not None]) for i, x in enumerate(v)]

        return window(inner.type, f"{name}($0)", meaning, inner, uses=[name])

    def rank(self, kind, depth):
        inner = self.make(self.known_kind("i64", "f64", "text", "date", "bool"), min(depth, 1), True)
        if not inner.varies():
            return None
        down = self.chance(0.4)
        method = "average" if kind == "f64" else self.pick("min", "max", "dense", "first")
        options = "" if method == "average" else f', method = "{method}"'
        return window(Type(kind, inner.type.null), f"rank({'desc($0)' if down else '$0'}{options})",
                      lambda rows, v: ranks(v, down, method), inner, uses=["rank"])

    def rolling(self, kind, depth):
        name = self.pick("sum", "min", "max", "first", "last") if kind == "i64" else self.pick("mean", "sum", "min", "max")
        of = kind if name != "mean" else self.pick("i64", "f64")
        inner, n = self.make(of, 1, True), self.number(1, 4)
        if not inner.varies():
            return None
        times = [t for t in self.columns("date", "datetime", null=False)]
        if times and self.chance(0.4) and name not in ("first", "last"):
            return self.rolling_by(kind, name, of, inner, column(*self.pick(*times)))
        least = self.number(1, n) if self.chance(0.5) else n
        options = "" if least == n else f", min_periods = {least}"
        operate = aggregate_of(name, of)

        def meaning(rows, v):
            out = []
            for i in range(rows.n):
                held_values = [x for x in v[max(0, i - n + 1):i + 1] if x is not None]
                out.append(operate(held_values) if len(held_values) >= least else None)
            return out

        return window(Type(kind, True), f"rolling($0, {n}, {name}{options})", meaning, inner, uses=["rolling"])

    def rolling_by(self, kind, name, of, inner, when):
        """By time: of the rows of the time (t - n, t], in whatever order they stand."""
        n, step = self.number(1, 20), 1 if when.type.kind == "date" else DAY
        operate = aggregate_of(name, of)

        def meaning(rows, v, at):
            windows = [[x for x, t in zip(v, at) if x is not None and now - n * step < t <= now] for now in at]
            return [operate(held_values) if held_values else None for held_values in windows]

        return window(Type(kind, True), f"rolling($0, days({n}), {name}, by = $1)", meaning, inner, when, uses=["rolling", "rolling by"])

    # -- aggregates --
    def of_all_rows(self, kind, depth, null):
        """One value of the whole group, in a place where each row has one."""
        return self.aggregate(kind, depth) if on("aggregates") else None

    def aggregate(self, kind, depth):
        """An aggregate of this kind."""
        before = self.aggregates, self.windows
        self.aggregates = self.windows = False
        try:
            made = self.aggregate_inside(kind, depth)
            if made is not None and self.chance(0.3) and "join_text" not in made.uses:
                made = self.of_some_rows(made)
            if made is not None and made.args and not all(a.varies() for a in made.args) and not on("aggregates of constants"):
                return None
            return made
        finally:
            self.aggregates, self.windows = before

    def of_some_rows(self, made):
        """f(x, where = c): x is null, and not evaluated, where c is not true."""
        chosen = self.of_bool("bool", 1, True)
        taken = [lazy(Type(a.type.kind, True, a.type.levels), "$0", lambda rows, i, x, c: x.at(rows, i) if c.at(rows, i) is True else None, a, chosen)
                 for a in made.args]
        type_ = made.type if made.uses & {"sum", "count", "any", "all", "n_distinct"} else Type(made.type.kind, True, made.type.levels, made.type.approx)
        if not made.args:  # count()
            return whole(type_, "count(where = $0)", lambda rows, c: sum(v is True for v in c), chosen, uses=["count", "aggregate where"])
        form = f"{made.form[:-1]}, where = ${len(taken)})"
        return whole(type_, form, lambda rows, *values: made.meaning(rows, *values[:-1]), *taken, chosen, uses=[*made.uses, "aggregate where"])

    def aggregate_inside(self, kind, depth):
        names = ["min", "max", "first", "last", "mode"]
        if kind in ("bool", "text", "category", "duration", "date", "datetime"):
            names = ["first", "last", "min", "max"] if kind not in ("bool",) else ["any", "all", "first", "last"]
            if kind == "category":
                names = ["first", "last"]
            if kind == "text" and on("join_text of groups"):
                names += ["join_text"]
        elif kind == "i64":
            names += ["sum", "count", "count_rows", "n_distinct", "count_true", "sum"]
        elif kind == "f64":
            names += ["sum", "mean", "median", "quantile", "var", "std", "mean", "cov", "corr", "weighted_mean"]
        names = [n for n in names if self.alone or n not in INTERPOLATED]
        name = self.pick(*names)
        if name == "count_rows":
            return whole(Type("i64"), "count()", lambda rows: rows.n, uses=["count"])
        if name in ("any", "all"):
            inner = self.of_bool("bool", 1, True)
            operate = any if name == "any" else all
            return whole(Type("bool"), f"{name}($0)", lambda rows, v: operate(x for x in v if x is not None), inner, uses=[name])
        if name == "count_true":
            return whole(Type("i64"), "count($0)", lambda rows, v: sum(x is True for x in v), self.of_bool("bool", 1, True), uses=["count"])
        if name in ("count", "n_distinct"):
            inner = self.make(self.known_kind("i64", "f64", "text", "date", "datetime"), min(depth, 1), True)
            operate = (lambda v: len(v)) if name == "count" else (lambda v: len({key(x) for x in v}))
            return whole(Type("i64"), f"{name}($0)", lambda rows, v: operate([x for x in v if x is not None]), inner, uses=[name])
        if name in ("cov", "corr", "weighted_mean"):
            return self.of_two(name, depth)
        of = kind
        if name in ("mean", "median", "quantile", "var", "std"):
            of = self.pick("i64", "f64", "f64")
        if name == "mean" and self.chance(0.2):
            of = "bool"
        inner = self.make(of, min(depth, 2), True)
        if inner is None:
            return None
        nullable = inner.type.null or not self.filled or name == "std" or name == "var"
        form = f"{name}($0)"
        if name == "quantile":
            q = self.pick(0.0, 0.25, 0.5, 0.9, 1.0)
            form, operate = f"quantile($0, {q})", lambda v: quantile_of(v, q)
        elif name == "join_text":
            if not inner.varies():  # it takes an array: a text alone is none
                return None
            separator = self.pick("-", ",", "")
            return whole(Type("text"), f"join_text($0, {quoted(separator)})", lambda rows, v: separator.join(x for x in v if x is not None),
                         inner, uses=[name])
        elif name in ("var", "std") and self.chance(0.3):
            form, operate = f"{name}($0, ddof = 0)", aggregate_of(name, of, 0)
        else:
            operate = aggregate_of(name, of)
        if name == "sum":
            nullable = False
        return whole(Type(kind, nullable, inner.type.levels, name in INTERPOLATED), form, lambda rows, v: operate([x for x in v if x is not None]), inner, uses=[name])

    def of_two(self, name, depth):
        a, b = self.make("f64", min(depth, 1), True), self.make("f64", min(depth, 1), True)

        def meaning(rows, x, y):
            pairs = [(p, q) for p, q in zip(x, y) if p is not None and q is not None]
            if name == "weighted_mean":
                return weighted(pairs)
            return covariance(pairs, name == "corr")

        return whole(Type("f64", True), f"{name}($0, $1)", meaning, a, b, uses=[name])

    # -- integers --
    def of_int(self, kind, depth, null):
        if kind != "i64":
            a, b = self.make(kind, depth, null), self.leaf(kind, null)
            form = self.number(0, 3)
            if form == 0:
                return row(kind, f"{kind}($0)", lambda v: held(kind, v, NARROW), self.make("i64", depth, null), uses=[kind])
            name, operate = self.pick(("min", min), ("max", max)) if form == 1 else ("+-*"[form % 3], None)
            if operate:
                return row(kind, f"{name}($0, $1)", operate, a, b, uses=[name])
            symbol = self.pick("+", "-", "*")
            operate = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": times}[symbol]
            return row(kind, f"($0 {symbol} $1)", lambda x, y: held(kind, operate(x, y)), a, b, uses=[symbol])
        makers = [self.int_arithmetic] * 4 + [self.int_division] * 2 + [self.int_of_others] * 4 + [self.int_function] * 2
        return self.pick(*makers)(depth, null)

    def int_arithmetic(self, depth, null):
        symbol = self.pick("+", "-", "*", "+")
        operate = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": times}[symbol]
        other = "i64" if self.chance(0.7) else self.known_kind("i64", "i32", "u8", "i16", "u32")
        a, b = self.make("i64", depth, null), self.make(other, depth, null)
        if other != "i64" and not (a.varies() and b.varies()):
            return None  # a literal takes the type of the other side
        return row("i64", f"($0 {symbol} $1)", lambda x, y: held("i64", operate(x, y)), a, b, uses=[symbol])

    def int_division(self, depth, null):
        symbol = self.pick("//", "%")

        def meaning(x, y):
            if y == 0:
                raise Fault(DIV_ZERO)
            return held("i64", x // y if symbol == "//" else x % y)

        b = self.make("i64", depth, null) if self.chance(0.3) else self.constant("i64")
        return row("i64", f"($0 {symbol} $1)", meaning, self.make("i64", depth, null), b, uses=[symbol])

    def int_function(self, depth, null):
        a = self.make("i64", depth, null)
        form = self.number(0, 8)
        if form == 0:
            return row("i64", "abs($0)", lambda x: held("i64", abs(x)), a, uses=["abs"])
        if form == 1:
            return row("i64", "(-$0)", lambda x: held("i64", -x), a, uses=["unary -"])
        if form == 2:
            return row("i64", "sign($0)", lambda x: (x > 0) - (x < 0), a, uses=["sign"])
        if form == 3:
            low = self.number(-5, 3)
            return row("i64", f"clamp($0, {literal(low, 'i64')}, {low + 5})", lambda x: max(low, min(low + 5, x)), a, uses=["clamp"])
        if form == 4:
            b, name = self.make("i64", depth, null), self.pick("min", "max")
            return row("i64", f"{name}($0, $1)", min if name == "min" else max, a, b, uses=[name])
        if form == 5:
            n = self.number(0, 3)
            return row("i64", f"($0 ^ {n})", lambda x: int_power("i64")(x, n), a, uses=["^"])
        if form == 6:
            name, operate = self.pick(("wrap_add", lambda x, y: x + y), ("wrap_sub", lambda x, y: x - y), ("wrap_mul", times))
            return row("i64", f"{name}($0, $1)", lambda x, y: (operate(x, y) + 2**63) % 2**64 - 2**63, a, self.make("i64", depth, null), uses=[name])
        if form == 7:
            b = self.leaf("i64", null)
            return row("i64", "($0 ^ $1)", int_power("i64"), a, b, uses=["^"]) if b.varies() else None
        name = self.pick("round", "floor", "ceil", "trunc")
        return row("i64", f"{name}($0)", rounding(name), self.make("f64", depth, null), uses=[name])

    def int_of_others(self, depth, null):
        form = self.number(0, 9)
        if form <= 2:
            text = self.make("text", depth, null)
            word = self.pick("a", "b", "-", "o")
            return self.pick(
                lambda: row("i64", "n_chars($0)", len, text, uses=["n_chars"]),
                lambda: row("i64", f"find($0, {quoted(word)})", lambda s: find(s, word), text, null=True, uses=["find"]),
                lambda: row("i64", "try_parse_i64($0)", try_parse_i64, text, null=True, uses=["try_parse_i64"]),
                lambda: row("i64", "parse_i64($0)", must(try_parse_i64), text, uses=["parse_i64"]),
                lambda: self.count_matches(text),
                lambda: row("i64", "edit_distance($0, $1)", edit_distance, text, self.leaf("text", null), uses=["edit_distance"]))()
        if form <= 5:
            kind = self.known_kind("date", "datetime")
            when = self.make(kind, depth, null)
            if kind == "datetime" and self.chance(0.6):
                name = self.pick(*TIME_PARTS)
                return row("i64", f"{name}($0)", lambda v: TIME_PARTS[name](time_of(v)), when, uses=[name])
            name = self.pick(*PARTS)
            return row("i64", f"{name}($0)", lambda v: PARTS[name](as_date(v, kind)), when, uses=[name])
        if form == 6:
            a, unit = self.make("duration", depth, null), self.pick(*UNITS)
            return row("i64", f"($0 // {unit}(1))", lambda v: v // UNITS[unit], a, uses=["//", unit])
        if form == 7 and self.columns("category"):
            return row("i64", "codes($0)", lambda v: v, column(*self.pick(*self.columns("category"))), uses=["codes"])
        if form == 8:
            kind = self.known_kind("i32", "u8", "i16", "u32")
            return row("i64", "i64($0)", lambda v: v, self.make(kind, depth, null), uses=["i64"])
        kind = self.known_kind("f64", "f32")
        return row("i64", "round(clamp($0, -99.0, 99.0))", lambda x: rounding("round")(x if x != x else max(-99.0, min(99.0, x))), self.make("f64", depth, null),
                   uses=["round", "clamp"])

    def count_matches(self, text):
        import re
        pattern = self.pick(*PATTERNS)
        return row("i64", f'count_matches($0, r"{pattern}")', lambda s: len(re.findall(pattern, s)), text, uses=["count_matches"])

    # -- floats --
    def of_float(self, kind, depth, null):
        a = self.make(kind, depth, null)
        if kind == "f32":
            if self.chance(0.2):
                return row(kind, "f32($0)", lambda v: f32(v), self.make("f64", depth, null), uses=["f32"])
            symbol, operate = self.float_symbol()
            return row(kind, f"($0 {symbol} $1)", float_op("f32", operate), a, self.leaf(kind, null), uses=[symbol])
        form = self.number(0, 13)
        if form <= 3:
            symbol, operate = self.float_symbol()
            other = "f64" if self.chance(0.6) else self.known_kind("i64", "f32", "u8", "i32")
            pair = [a, self.make(other, depth, null)]
            if other == "f32" and not (pair[0].varies() and pair[1].varies()):
                return None  # a literal takes the type of the other side
            self.random.shuffle(pair)
            return row(kind, f"($0 {symbol} $1)", lambda x, y: operate(to_float(x), to_float(y)), *pair, uses=[symbol])
        if form == 4:
            return row(kind, "($0 / $1)", lambda x, y: divide(to_float(x), to_float(y)), self.make("i64", depth, null), self.make("i64", depth, null), uses=["/"])
        if form == 5:
            return self.pick(lambda: row(kind, "abs($0)", abs, a, uses=["abs"]), lambda: row(kind, "(-$0)", lambda x: -x, a, uses=["unary -"]),
                             lambda: row(kind, "sqrt($0)", sqrt, a, uses=["sqrt"]), lambda: row(kind, "($0 ^ 2)", lambda x: times(x, x), a, uses=["^"]),
                             lambda: row(kind, "sign($0)", sign_of, a, uses=["sign"]))()
        if form == 6:
            b, name = self.make(kind, depth, null), self.pick("min", "max")
            return row(kind, f"{name}($0, $1)", lambda x, y: smallest([x, y], 1 if name == "min" else -1), a, b, uses=[name])
        if form == 7:
            digits = self.number(0, 3)
            return row(kind, f"(round(clamp($0, -1000.0, 1000.0), digits = {digits}) + 0.0)",
                       lambda x: x if x != x else round_digits(max(-1000.0, min(1000.0, x)), digits) + 0.0, a, uses=["round", "clamp"])
        if form in (8, 13):
            name = self.pick(*MATHEMATICS)
            low, high = DOMAINS.get(name, (-4.0, 4.0))
            return row(kind, f"(round({name}(clamp($0, {literal(low, 'f64')}, {literal(high, 'f64')})), digits = 6) + 0.0)",
                       lambda x: x if x != x else round(MATHEMATICS[name](max(low, min(high, x))), 6) + 0.0, a, uses=[name])
        if form == 12:
            b, c = self.make(kind, depth, null), self.leaf(kind, null)
            name, operate = self.pick(("atan2", math.atan2), ("hypot", math.hypot))
            if self.chance(0.4):
                return row(kind, "fma($0, $1, $2)", fused, a, b, c, uses=["fma"])
            held_in = "clamp($%d, -9.0, 9.0)"
            return row(kind, f"(round({name}({held_in % 0}, {held_in % 1}), digits = 6) + 0.0)",
                       lambda x, y: math.nan if x != x or y != y else round(operate(max(-9.0, min(9.0, x)), max(-9.0, min(9.0, y))), 6) + 0.0, a, b, uses=[name])
        if form == 9:
            text = self.make("text", depth, null)
            if self.chance(0.5):
                return row(kind, "try_parse_f64($0)", try_parse_f64, text, null=True, uses=["try_parse_f64"])
            return row(kind, "parse_f64($0)", must(try_parse_f64), text, uses=["parse_f64"])
        if form == 10:
            unit = self.pick(*UNITS)
            return row(kind, f"($0 / {unit}(1))", lambda v: to_float(exact(v) / UNITS[unit]) if abs(v) < 2**53 else v / UNITS[unit],
                       self.make("duration", depth, null), uses=["/", unit])
        return row(kind, "f64($0)", to_float, self.make(self.known_kind("i64", "f32", "u8", "i32", "i16", "u32"), depth, null), uses=["f64"])

    def float_symbol(self):
        return self.pick(("+", lambda x, y: x + y), ("-", lambda x, y: x - y), ("*", times), ("/", divide))

    # -- booleans: three-valued --
    def of_bool(self, kind, depth, null):
        form = self.number(0, 11)
        made = None
        if form <= 4:
            made = self.comparison(depth, null)
        elif form == 5 and depth > 0:
            made = row("bool", "(not $0)", lambda x: not x, self.of_bool(kind, depth - 1, null), uses=["not"])
        elif form <= 7 and depth > 0:
            made = self.and_or(depth, null)
        elif form == 8:
            name, type_ = self.pick(*self.scope.items()) if self.scope else ("", Type("bool"))
            if type_.null and not type_.approx:
                made = lazy(Type("bool"), "is_null($0)", lambda rows, i, a: a.at(rows, i) is None, column(name, type_), uses=["is_null"])
        elif form == 9:
            made = self.text_test(depth, null)
        elif form == 10:
            name, test = self.pick(("is_nan", is_nan), ("is_finite", math.isfinite))
            made = row("bool", f"{name}($0)", test, self.make("f64", depth, null), uses=[name])
        else:
            a = self.make("i64", depth, null)
            some = [self.value("i64") for _ in range(self.number(1, 3))]
            if on("in"):
                made = row("bool", f"($0 in [{', '.join(literal(v, 'i64') for v in some)}])", lambda x: x in some, a, uses=["in"])
        if made is None:
            made = self.leaf("bool", null)
        return made if null or not made.type.null else self.or_else(made, self.constant("bool"))

    def comparison(self, depth, null):
        kind = self.pick("i64", "i64", "f64", "text", self.known_kind("date", "datetime", "duration", "category", "u8", "i32", "bool"))
        if kind == "category" and self.columns("category"):
            name, type_ = self.pick(*self.columns("category"))
            other = self.constant("category", type_.levels)
            left = column(name, type_)
        elif kind == "category":
            return None
        else:
            left = self.make(kind, depth, null)
            numbers = [k for k in ("i64", "f64", "f32", "u8", "i32") if kind in INTS or kind in FLOATS]
            other = self.make(self.pick(kind, kind, *numbers) if numbers and "u64" not in numbers else kind, min(depth, 1), null)
        if left is None or other is None:
            return None
        symbols = ("==", "!=") if kind == "bool" else ("<", "<=", ">", ">=", "==", "!=")
        symbol = self.pick(*symbols)
        operate = {"<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y,
                   "==": lambda x, y: x == y, "!=": lambda x, y: x != y}[symbol]
        if self.chance(0.5) and other.form[0] == "-":
            return None
        return row("bool", f"($0 {symbol} $1)", operate, left, other, uses=[symbol])

    def and_or(self, depth, null):
        a, b = self.of_bool("bool", depth - 1, null), self.of_bool("bool", depth - 1, null)
        word = self.pick("and", "or")
        ends = word == "or"

        def meaning(rows, i, a, b):
            x = a.at(rows, i)
            if x is ends:
                return x
            y = b.at(rows, i)
            return y if y is ends else None if x is None or y is None else y

        return lazy(Type("bool", a.type.null or b.type.null), f"($0 {word} $1)", meaning, a, b, uses=[word])

    def text_test(self, depth, null):
        import re
        text, part = self.make("text", depth, null), self.pick("a", "b", "1", "o", "")
        name = self.pick("contains", "starts_with", "ends_with", "matches")
        if name == "matches":
            pattern = self.pick(*PATTERNS)
            return row("bool", f'matches($0, r"{pattern}")', lambda s: re.search(pattern, s) is not None, text, uses=[name])
        test = {"contains": lambda s: part in s, "starts_with": lambda s: s.startswith(part), "ends_with": lambda s: s.endswith(part)}[name]
        return row("bool", f"{name}($0, {quoted(part)})", test, text, uses=[name])

    # -- texts --
    def of_text(self, kind, depth, null):
        a = self.make("text", depth, null)
        form = self.number(0, 15)
        part = self.pick("a", "b", "-", "o", ",")
        simple = {0: ("lower", str.lower), 1: ("upper", str.upper), 2: ("title", title), 3: ("trim", lambda s: s.strip()),
                  4: ("trim_start", lambda s: s.lstrip()), 5: ("trim_end", lambda s: s.rstrip()), 6: ("reverse_text", lambda s: s[::-1])}
        if form in simple:
            name, operate = simple[form]
            return row(kind, f"{name}($0)", operate, a, uses=[name])
        if form == 7:
            return row(kind, "($0 + $1)", lambda x, y: x + y, a, self.leaf(kind, null), uses=["+"])
        if form == 8:
            new = self.pick("", "x", "aa")
            return row(kind, f"replace($0, {quoted(part)}, {quoted(new)})", lambda s: s.replace(part, new), a, uses=["replace"])
        if form == 9:
            i = self.number(-1, 2)
            return row(kind, f"split_part($0, {quoted(part)}, {i})", lambda s: split_part(s, part, i), a, uses=["split_part"])
        if form == 10:
            low, high = self.number(-2, 2), self.pick(None, 1, 2, 4)
            return row(kind, f"slice($0, {low})" if high is None else f"slice($0, {low}, {high})", lambda s: text_slice(s, low, high), a, uses=["slice"])
        if form == 11:
            width, fill = self.number(-5, 5), self.pick(" ", "0", "é")
            return row(kind, f"pad($0, {literal(width, 'i64')}, {quoted(fill)})", lambda s: pad(s, width, fill), a, uses=["pad"])
        if form == 12:
            n = self.number(0, 2)
            return row(kind, f"repeat_text($0, {n})", lambda s: s * n, a, uses=["repeat_text"])
        if form == 13:
            return self.regex_text(a)
        if form == 14 and self.columns("category") and self.chance(0.3):
            inner = column(*self.pick(*self.columns("category")))
            return row(kind, "text($0)", lambda v: inner.type.levels[v], inner, uses=["text"])
        if form == 14:
            of = self.known_kind("i64", "f64", "bool", "date", "datetime", "text", "i32")
            inner = self.make(of, depth, null)
            if inner.type.null and not on("text of null"):
                inner = self.filled_up(inner)
            return row(kind, "text($0)", lambda v: text_of(v, of), inner, uses=["text"])
        return self.interpolation(depth, null)

    def regex_text(self, a):
        import re
        pattern = self.pick(*PATTERNS)
        if self.chance(0.5):
            return row("text", f'extract($0, r"{pattern}")', lambda s: extract(s, pattern), a, null=True, uses=["extract"])
        new = self.pick("", "#", "[$0]")
        return row("text", f'replace_regex($0, r"{pattern}", {quoted(new)})'.replace("[$0]", "<>"),
                   lambda s: re.sub(pattern, new.replace("[$0]", "<>"), s), a, uses=["replace_regex"])

    def interpolation(self, depth, null):
        of = self.known_kind("i64", "f64", "text", "date", "bool", "datetime")
        inner = self.make(of, min(depth, 1), null and on("text of null in braces"))
        if '"' in inner.text or "\\" in inner.text or not inner.args and inner.how != "column":
            return None
        if of in ("date", "datetime") and self.chance(0.5) and not inner.type.null:
            spec = self.pick(*DATE_FORMATS)
            return row("text", f'"<{{$0:{spec}}}>"', lambda v: f"<{formatted_time(v, spec, of)}>", inner, uses=["format"])
        if of == "i64" and self.chance(0.5) and not inner.type.null:
            spec = self.pick(",", "05")
            return row("text", f'"{{$0:{spec}}}|"', lambda v: f"{v:{spec}}|", inner, uses=["format"])
        return lazy(Type("text"), '"[{$0}]"', lambda rows, i, a: f"[{text_of(a.at(rows, i), of)}]", inner, uses=["braces"])

    # -- times --
    def of_date(self, kind, depth, null):
        a = self.make("date", depth, null)
        form = self.number(0, 6 if on("min of dates") else 5)
        if form == 0:
            unit = self.pick(*DATE_UNITS)
            return row(kind, f'date_trunc("{unit}", $0)', lambda v: truncate(unit, v, kind), a, uses=["date_trunc"])
        if form == 1:
            n = self.number(-14, 14)
            way, month = self.pick(("add_months($0, {})", 1), ("($0 + months({}))", 1), ("($0 - months({}))", -1), ("($0 + years({}))", 12), ("($0 - years({}))", -12))
            return row(kind, way.format(literal(n, "i64")), lambda v: months_later(v, n * month, kind), a, uses=["add_months", "months", "years"])
        if form == 2:
            n = self.number(-9, 40)
            return row(kind, f"($0 + days({literal(n, 'i64')}))", lambda v: v + n, a, uses=["days"])
        if form == 3:
            return row(kind, "date($0)", lambda v: v // DAY, self.make("datetime", depth, null), uses=["date"])
        if form == 4:
            text = self.make("text", depth, null)
            if self.chance(0.3):
                return row(kind, "parse_date($0)", must(try_parse_date), text, uses=["parse_date"])
            if self.chance(0.5):
                spec, when = self.pick("%d.%m.%Y", "%Y/%m/%d", "%d %B %Y"), self.make("date", depth, null)
                return row(kind, f'parse_date(format($0, "{spec}"), "{spec}")', lambda v: written(day_of(v)) and v, when, uses=["parse_date", "format"])
            return row(kind, "try_parse_date($0)", try_parse_date, text, null=True, uses=["try_parse_date"])
        if form == 5 and self.chance(0.5):
            when = self.make(kind, depth, null)
            return row(kind, "date(year($0), month($0), day($0))", lambda v: written(day_of(v)) and v, when, uses=["date"])
        if form == 5:
            return None
        name = self.pick("min", "max")
        return row(kind, f"{name}($0, $1)", min if name == "min" else max, a, self.leaf(kind, null), uses=[name])

    def of_datetime(self, kind, depth, null):
        a = self.make("datetime", depth, null)
        form = self.number(0, 5)
        if form == 5:
            which = self.pick("parse_datetime", "try_parse_datetime")
            return row(kind, f'{which}(format($0, "%Y-%m-%d %H:%M"), "%Y-%m-%d %H:%M")', lambda v: written(time_of(v)) and v // 60_000_000 * 60_000_000, a,
                       null=a.type.null or which[0] == "t", uses=[which, "format"])
        if form == 0:
            unit = self.pick(*DATE_UNITS, *TIME_UNITS)
            return row(kind, f'date_trunc("{unit}", $0)', lambda v: truncate(unit, v, kind), a, uses=["date_trunc"])
        if form == 1:
            n = self.number(-14, 14)
            way, month = self.pick(("add_months($0, {})", 1), ("($0 + months({}))", 1), ("($0 - months({}))", -1), ("($0 + years({}))", 12), ("($0 - years({}))", -12))
            return row(kind, way.format(literal(n, "i64")), lambda v: months_later(v, n * month, kind), a, uses=["add_months", "months", "years"])
        if form == 2:
            return row(kind, "datetime($0)", lambda v: v * DAY, self.make("date", depth, null), uses=["datetime"])
        if form == 3:
            return row(kind, "($0 - $1)", lambda x, y: held("i64", x - y), a, self.make("duration", depth, null), uses=["-"])
        return row(kind, "($0 + $1)", lambda x, y: held("i64", x + y), a, self.make("duration", depth, null), uses=["+"])

    def of_duration(self, kind, depth, null):
        form = self.number(0, 5)
        if form <= 1:
            of = self.known_kind("date", "datetime")
            step = DAY if of == "date" else 1
            return row(kind, "($0 - $1)", lambda x, y: held("i64", (x - y) * step), self.make(of, depth, null), self.make(of, depth, null), uses=["-"])
        a = self.make(kind, depth, null)
        if form == 2:
            return row(kind, "($0 * $1)", lambda x, y: held("i64", x * y), a, self.leaf("i64", null), uses=["*"])
        if form == 3:
            symbol = self.pick("+", "-")
            return row(kind, f"($0 {symbol} $1)", lambda x, y: held("i64", x + y if symbol == "+" else x - y), a, self.make(kind, depth, null), uses=[symbol])
        if form == 4:
            unit = self.pick("hours", "days", "minutes")
            return row(kind, f"($0 % {unit}(1))", lambda v: v % UNITS[unit], a, uses=["%"])
        unit = self.pick(*UNITS)
        return row(kind, f"{unit}($0)", lambda n: held("i64", n * UNITS[unit]), self.make("i64", depth, null), uses=[unit])

    def of_category(self, kind, depth, null):
        known = self.columns("category") if null else self.columns("category", null=False)
        return column(*self.pick(*known)) if known else None


def written(when):
    """True for what has four digits of the year; how others are written is not on the page."""
    if when.year < 1000:
        raise Fault(OPEN)
    return True


def fused(x, y, z):
    """x * y + z, rounded once."""
    if not all(map(math.isfinite, (x, y, z))):
        return times(x, y) + z
    total = exact(x) * exact(y) + exact(z)
    return to_float(total) if total else x * y + z


def fails(expr):
    """Does an expression without columns fail? Where it stands before no row the page does not decide."""
    try:
        expr.at(Rows({name: [] for name in expr.names()}, 0), 0)
    except Fault:
        return True
    return False
