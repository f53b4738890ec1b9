"""Expressions that take a column as an array: elements, slices, masks, comprehensions, lambdas, functions of the script.

Without groups the column is the table's; after group_by it is the group's, in every verb. PRELUDE is written before the
cases of a script that use it. Floats are only picked and compared here: how sums of a part of a column are rounded is
another question.
"""
from expressions import Rows, everywhere, whole
from features import on
from values import INDEX, Fault, Type, held, key, smallest

PRELUDE = """fn ends_of(x: i64[n]) -> i64 = x[0] % 1000 - x[-1] % 1000
fn spread_of(x: i64[n]) -> i64 = max(x) % 1000 - min(x) % 1000
fn above_first(x: f64[n]) -> i64 = count(x > x[0])
fn pairs_of(x: i64[n], y: i64[n]) -> i64 = sum(for i in 0..n: x[i] % 100 * (y[i] % 100))
"""


def element(values, at):
    if not values:
        raise Fault(INDEX)
    return values[at]


class ArraysOfRows:
    """Mixed into a maker of column expressions."""

    def of_rows(self, kind, depth):
        """One value of all rows, by arrays; or None."""
        if self.in_groups and not on("arrays of groups"):
            return None
        before = self.aggregates, self.windows
        self.aggregates = self.windows = False
        try:
            made = self.of_rows_inside(kind, depth)
        finally:
            self.aggregates, self.windows = before
        return made if made is None or all(a.varies() for a in made.args) else None

    def of_rows_inside(self, kind, depth):
        x = self.make(kind, min(depth, 1), False)
        if x is None:
            return None
        form = self.number(0, 13 if kind == "i64" else 5)
        type_ = Type(kind, False, x.type.levels)
        if form <= 1:
            at = self.pick(0, -1)
            return whole(type_, f"($0)[{at}]", lambda rows, v: element(v, at), x, uses=["x[0] of rows"])
        if form == 2 and kind not in ("bool", "category"):
            y, name = self.make(self.pick("i64", "date", "text"), 1, False), self.pick("first", "last")
            at = 0 if name == "first" else -1
            return whole(type_, f"($0)[argsort($1)[{at}]]",
                         lambda rows, v, w: element([v[i] for i in sorted(range(rows.n), key=lambda i: key(w[i]))], at), x, y, uses=["argsort of rows"])
        if form == 3 and kind in ("i64", "f64"):
            y = self.make("i64", 1, False)
            name, sign = self.pick(("argmax", -1), ("argmin", 1))

            def meaning(rows, v, w):
                if not v:
                    raise Fault("E0709", INDEX)
                return v[w.index(smallest(w, sign))]

            return whole(type_, f"($0)[{name}($1) ?? 0]", meaning, x, y, uses=[name])
        if form == 4 and kind in ("i64", "f64"):
            name, sign = self.pick(("max", -1), ("min", 1))

            def meaning(rows, v):
                if not v:
                    raise Fault("E0709", INDEX)
                return smallest(v[1:] or v, sign)

            return whole(type_, f"{name}(if len($0) > 1 {{ ($0)[1..] }} else {{ $0 }})", meaning, x, uses=["slice of rows"])
        if form == 5:
            return whole(type_, "(v => v[0])($0)", lambda rows, v: element(v, 0), x, uses=["lambda of rows"])
        if kind != "i64":
            return None
        test = self.of_bool("bool", 1, False)
        if form == 6:
            return whole(type_, "sum(($0)[$1])", lambda rows, v, c: held("i64", sum(a for a, b in zip(v, c) if b)), x, test, uses=["mask of rows"])
        if form == 7:
            return whole(type_, "len(($0)[$1])", lambda rows, v, c: sum(c), x, test, uses=["len", "mask of rows"])
        if form == 8:
            body = self.inside_of({"each_v": Type("i64")}, "i64", 2)
            if body is None or "each_v" not in body.names():
                return None

            def meaning(rows, v):
                return held("i64", sum(everywhere(body, Rows({"each_v": v}, len(v)))))

            return whole(type_, f"sum(for each_v in $0: {body.text})", meaning, x, uses=["sum(for) of rows", *body.features()])
        if form == 9:
            return whole(type_, "fold((a, v) => (a * 3 + v % 100) % 1000, 1, $0)", lambda rows, v: folded(v), x, uses=["fold"])
        if form == 10:
            return whole(type_, "ends_of($0)", lambda rows, v: element(v, 0) % 1000 - v[-1] % 1000, x, uses=["fn of rows"])
        if form == 11:
            def meaning(rows, v):
                if not v:
                    raise Fault("E0709")
                return max(v) % 1000 - min(v) % 1000

            return whole(type_, "spread_of($0)", meaning, x, uses=["fn of rows"])
        if form == 12:
            y = self.make("f64", 1, False)
            return whole(type_, "above_first($0)", lambda rows, v: sum(a > element(v, 0) for a in v) if v else element(v, 0), y, uses=["fn of rows"])
        y = self.make("i64", 1, False)
        return whole(type_, "pairs_of($0, $1)", lambda rows, v, w: sum(a % 100 * (b % 100) for a, b in zip(v, w)), x, y, uses=["fn of rows"])

    def inside_of(self, scope, kind, depth):
        """An expression that sees these names alone."""
        before = self.scope
        self.scope = scope
        try:
            return self.make(kind, depth, False)
        finally:
            self.scope = before


def folded(values):
    state = 1
    for v in values:
        state = (state * 3 + v % 100) % 1000
    return state
