"""Random expressions of decimals, and what Python's whole numbers and decimal.Decimal say that they are.

A value is (units, scale): units of 10^-scale, within 64 bits. Fault: there is no such value, and flow must stop. The types
are ("d", scale), "i" (i64), "b", "f" (f64), "t"; every one may be null. Written from docs/language.md.

By hand: python3 tests/oracle/decimals.py FLOWC --scripts 200 --seed 7
"""
import argparse
import decimal
import fractions
import pathlib
import random
import subprocess
import sys
import tempfile

LEAST, MOST = -(1 << 63), (1 << 63) - 1
ROWS, EXPRESSIONS = 125, 40


class Fault(Exception):
    pass


def held(units):
    if not LEAST <= units <= MOST:
        raise Fault
    return units


def rescaled(units, scale, to):
    if to >= scale:
        return held(units * 10 ** (to - scale))
    if units % 10 ** (scale - to):
        raise Fault
    return units // 10 ** (scale - to)


def half_even(units, digits):
    whole, rest = divmod(units, 10 ** digits)
    return whole + (2 * rest > 10 ** digits or (2 * rest == 10 ** digits and whole % 2 == 1))


def real(units, scale):
    return float(fractions.Fraction(units, 10 ** scale))


def spelled(units, scale):
    value = decimal.Decimal(units).scaleb(-scale, decimal.Context(prec=60))
    return format(value, "f")


class Node:
    """text: as in flow; kind: its type; of(row): its value, None for null, or Fault."""

    def __init__(self, text, kind, of):
        self.text, self.kind, self.of = text, kind, of


def lifted(function):
    def of(*values):
        return None if any(v is None for v in values) else function(*values)

    return of


def scale_of(node):
    return node.kind[1] if node.kind[0] == "d" else 0


def to_scale(node, scale):
    own = scale_of(node)
    return lambda row: lifted(lambda v: rescaled(v, own, scale))(node.of(row))


def binary(sign, a, b):
    scale = max(scale_of(a), scale_of(b))
    x, y = to_scale(a, scale), to_scale(b, scale)
    text = f"({a.text} {sign} {b.text})"
    if sign == "*":
        return Node(text, ("d", scale_of(a) + scale_of(b)), lambda row: lifted(lambda p, q: held(p * q))(a.of(row), b.of(row)))
    if sign in ("+", "-"):
        sign_of = 1 if sign == "+" else -1
        return Node(text, ("d", scale), lambda row: lifted(lambda p, q: held(p + sign_of * q))(x(row), y(row)))
    if sign == "/":
        def quotient(p, q):
            p, q = real(p, scale_of(a)), real(q, scale_of(b))
            if q == 0:
                return float("nan") if p == 0 else float("inf") if p > 0 else float("-inf")
            return p / q
        return Node(text, "f", lambda row: lifted(quotient)(a.of(row), b.of(row)))

    def divided(p, q):
        if q == 0:
            raise Fault
        return held(p // q) if sign == "//" else p % q

    return Node(text, "i" if sign == "//" else ("d", scale), lambda row: lifted(divided)(x(row), y(row)))


def power(v, n):
    out = v
    for _ in range(n - 1):
        out = held(out * v)
    return out


def compared(sign, a, b):
    tests = {"==": lambda p, q: p == q, "!=": lambda p, q: p != q, "<": lambda p, q: p < q, "<=": lambda p, q: p <= q,
             ">": lambda p, q: p > q, ">=": lambda p, q: p >= q}
    scale = max(scale_of(a), scale_of(b))
    k, m = 10 ** (scale - scale_of(a)), 10 ** (scale - scale_of(b))
    return Node(f"({a.text} {sign} {b.text})", "b", lambda row: lifted(lambda p, q: tests[sign](p * k, q * m))(a.of(row), b.of(row)))


class Draw:
    def __init__(self, rng, columns):
        self.rng, self.columns = rng, columns

    def literal(self):
        """A number of the script, or what numbers of the script alone give: the decimal that they do."""
        if self.rng.random() < 0.3:
            made = binary(self.rng.choice("+-*"), self.literal(), self.literal())
            if scale_of(made) <= 10 and len(made.text) < 60:
                return made if self.rng.random() < 0.8 else Node(f"(-{made.text})", made.kind, lambda row: -made.of(row))
        scale = self.rng.choice((0, 1, 2, 2, 3, 5))
        units = self.rng.choice((0, 1, 5, self.rng.randrange(10 ** (scale + 2))))
        if not scale:
            return Node(str(units), ("d", 0), lambda row: units)
        return Node(spelled(units, scale), ("d", scale), lambda row: units)

    def column(self, small=False, decimals=False):
        choices = [c for c in self.columns if not (small and c[3]) and not (decimals and c[1] == "i")]
        name, kind, at, _ = self.rng.choice(choices)
        return Node(name, kind, lambda row: row[at])

    def amount(self, depth, decimals=False):
        """A decimal, or an integer column. decimals: only the former."""
        rng = self.rng
        if depth <= 0:
            return self.column(decimals=decimals)
        pick = rng.randrange(13)
        if pick == 12:
            x, n = self.column(True, True), rng.randrange(1, 4)
            if scale_of(x) * n <= 18:
                return Node(f"({x.text} ^ {n})", ("d", scale_of(x) * n), lambda row: lifted(lambda v: power(v, n))(x.of(row)))
        if pick < 6 or pick == 12:
            return self.operation(depth)
        a = self.amount(depth - 1, True)
        scale = scale_of(a)
        if pick == 6:
            return Node(f"(-{a.text})", a.kind, lambda row: lifted(lambda v: held(-v))(a.of(row)))
        if pick == 7:
            return Node(f"abs({a.text})", a.kind, lambda row: lifted(lambda v: held(abs(v)))(a.of(row)))
        if pick == 8:
            digits = rng.randrange(scale + 2)
            kept = min(digits, scale)
            return Node(f"round({a.text}, {digits})", ("d", kept), lambda row: lifted(lambda v: half_even(v, scale - kept))(a.of(row)))
        if pick == 9:
            to = rng.randrange(scale, min(18, scale + 3) + 1)
            return Node(f"decimal({a.text}, {to})", ("d", to), lambda row: lifted(lambda v: rescaled(v, scale, to))(a.of(row)))
        if pick == 10:
            b, name = self.amount(depth - 1), rng.choice(("min", "max"))
            least, to = min if name == "min" else max, max(scale, scale_of(b))
            x, y = to_scale(a, to), to_scale(b, to)
            return Node(f"{name}({a.text}, {b.text})", ("d", to), lambda row: lifted(least)(x(row), y(row)))
        x, y, cond = self.column(True, True), self.column(True, True), self.condition(0)
        to = max(scale_of(x), scale_of(y))
        p, q = to_scale(x, to), to_scale(y, to)
        return Node(f"if_else({cond.text} ?? false, {x.text}, {y.text})", ("d", to), lambda row: p(row) if cond.of(row) else q(row))

    def operation(self, depth):
        rng = self.rng
        sign = rng.choice(("+", "-", "*", "+", "-", "*", "%"))
        a = self.amount(depth - 1, True)
        b = self.literal() if rng.random() < 0.25 else self.amount(depth - 1)
        if sign == "*" and scale_of(a) + scale_of(b) > 18:
            sign = "+"
        if rng.random() < 0.5:
            a, b = b, a
        return binary(sign, a, b)

    def condition(self, depth):
        a = self.amount(depth, True)
        b = self.literal() if self.rng.random() < 0.3 else self.amount(depth)
        if self.rng.random() < 0.5:
            a, b = b, a
        return compared(self.rng.choice(("==", "!=", "<", "<=", ">", ">=")), a, b)

    def expression(self):
        pick, depth = self.rng.randrange(14), self.rng.randrange(1, 4)
        if pick < 7:
            return self.amount(depth, True)
        if pick < 9:
            return self.condition(depth - 1)
        a = self.amount(depth, True)
        scale = scale_of(a)
        if pick == 9:
            return Node(f"f64({a.text})", "f", lambda row: lifted(lambda v: real(v, scale))(a.of(row)))
        if pick == 10:
            return Node(f"\"{{{a.text}}}\"", "t", lambda row: "null" if a.of(row) is None else spelled(a.of(row), scale))
        if pick == 11:
            return binary(self.rng.choice(("/", "//")), a, self.amount(depth - 1))
        if pick == 12:
            b = self.column(True, True)
            to = max(scale, scale_of(b))
            x, y = to_scale(a, to), to_scale(b, to)
            if not a.text.isidentifier() or not any(c[0] == a.text and c[4] for c in self.columns_with_nulls()):
                return a
            return Node(f"({a.text} ?? {b.text})", ("d", to), lambda row: y(row) if a.of(row) is None else x(row))
        how = self.rng.choice(("floor", "ceil", "trunc", "round"))
        one = 10 ** scale
        whole = {"floor": lambda v: v // one, "ceil": lambda v: -(-v // one), "trunc": lambda v: abs(v) // one * (-1 if v < 0 else 1),
                 "round": lambda v: half_even(v, scale)}[how]
        return Node(f"{how}({a.text})", "i", lambda row: lifted(whole)(a.of(row)))

    def columns_with_nulls(self):
        return [(*c, c[0] in ("n2", "n4")) for c in self.columns]


def cell(node, value):
    if value is None:
        return ""
    if node.kind == "b":
        return "true" if value else "false"
    if node.kind == "f":
        return value
    if node.kind in ("i", "t"):
        return str(value)
    return spelled(value, node.kind[1])


def same(wanted, found):
    if isinstance(wanted, float):
        return found != "" and (float(found) == wanted or (wanted != wanted and found == "nan"))
    return wanted == found.strip('"')


class Case:
    """A table, and expressions of its columns."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        kinds = [("a2", 2, False), ("b2", 2, False), ("c0", 0, False), ("d4", 4, False), ("e6", 6, False), ("n2", 2, True), ("n4", 4, True),
                 ("big", rng.choice((0, 2, 9)), False), ("deep", 18, False)]
        self.columns = [(name, ("d", scale), k, name in ("big", "deep")) for k, (name, scale, _) in enumerate(kinds)]
        self.columns.append(("i", "i", len(kinds), False))
        self.rows = []
        for _ in range(ROWS):
            row = [None if nulls and rng.random() < 0.3 else self.units(name) for name, _, nulls in kinds]
            self.rows.append(row + [rng.choice((0, 1, -1, rng.randrange(-1000, 1000)))])
        self.types = ", ".join(f"{name}: decimal(18, {scale}){'?' if nulls else ''}" for name, scale, nulls in kinds)

    def units(self, name):
        rng = self.rng
        if name == "big":
            return rng.choice((0, MOST, LEAST + 1, rng.randrange(-10 ** 12, 10 ** 12)))
        if name == "deep":
            return rng.randrange(-10 ** 18, 10 ** 18)
        return rng.choice((0, 1, -1, 5, 50, -50, rng.randrange(-100, 100), rng.randrange(-10 ** 7, 10 ** 7)))

    def csv(self):
        lines = [",".join(c[0] for c in self.columns)]
        for row in self.rows:
            lines.append(",".join("" if v is None else str(v) if c[1] == "i" else spelled(v, c[1][1]) for c, v in zip(self.columns, row)))
        return "\n".join(lines) + "\n"

    def draw(self):
        """(expressions with their cells, expressions that fault in some row)"""
        good, bad, draw = [], [], Draw(self.rng, self.columns)
        while len(good) < EXPRESSIONS:
            node = draw.expression()
            try:
                good.append((node, [cell(node, node.of(row)) for row in self.rows]))
            except Fault:
                bad.append(node)
        return good, bad

    def script(self, nodes, to):
        made = ",\n  ".join(f"x{k} = {node.text}" for k, node in enumerate(nodes))
        return f'let t = read_csv("t.csv", types = ({self.types}))\nt |> select({made})\n  |> write_csv("{to}")\n'


WAYS = (["--interp"], ["--workers", "1"], ["--workers", "3"], ["-O0"])


def run(flowc, script, folder, way, name):
    path = folder / f"{name}.flow"
    path.write_text(script)
    return subprocess.run([flowc, "run", *way, path.name], cwd=folder, capture_output=True, text=True)


def try_case(flowc, seed, all_ways=True):
    """How many values were compared; a text instead: what is wrong."""
    case = Case(seed)
    good, bad = case.draw()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "t.csv").write_text(case.csv())
        nodes = [node for node, _ in good]
        for way in WAYS if all_ways else WAYS[1:2]:
            done = run(flowc, case.script(nodes, "out.csv"), folder, way, "s")
            if done.returncode != 0:
                return f"seed {seed} {way}: {done.stderr}"
            lines = [split(line) for line in (folder / "out.csv").read_text().splitlines()[1:]]
            for k, (node, wanted) in enumerate(good):
                for row, line in enumerate(lines):
                    if not same(wanted[row], line[k]):
                        return f"seed {seed} {way}: {node.text} in row {row + 1}: {line[k]}, not {wanted[row]}"
        for node in bad[:2]:
            for way in WAYS if all_ways else WAYS[1:2]:
                done = run(flowc, case.script([node], "bad.csv"), folder, way, "f")
                if not any(code in done.stderr for code in ("E0302", "E0701", "E0702", "E0705")):
                    return f"seed {seed} {way}: {node.text} must fail, and ends with {done.returncode}: {done.stderr}"
    return len(good) * len(case.rows)


def split(line):
    return line.split(",")


# ---- tables ---------------------------------------------------------------------------------------------------------

SCALES = {"p": 2, "q": 4, "n": 2}  # of the columns; n has nulls


class Table:
    """Rows of a key and decimals, and what verbs make of them."""

    def __init__(self, seed, rows):
        self.rng = rng = random.Random(seed)
        prices = [rng.randrange(-10 ** 9, 10 ** 9) for _ in range(40)] + [0, 1, -1]
        self.rows = [{"g": rng.randrange(7), "p": rng.choice(prices) if rng.random() < 0.7 else rng.randrange(-10 ** 6, 10 ** 6),
                      "q": rng.randrange(0, 12000), "n": None if rng.random() < 0.2 else rng.choice(prices[-8:])} for _ in range(rows)]

    def csv(self):
        def field(row, name):
            return "" if row[name] is None else spelled(row[name], SCALES[name])
        return "g,p,q,n\n" + "".join(f"{row['g']},{field(row, 'p')},{field(row, 'q')},{field(row, 'n')}\n" for row in self.rows)

    def aggregates(self, rows):
        p, q = [r["p"] for r in rows], [r["q"] for r in rows]
        n = [r["n"] for r in rows if r["n"] is not None]
        mean = lambda units, scale: repr(float(fractions.Fraction(sum(units), len(units) * 10 ** scale))) if units else ""
        some = lambda value: "" if value is None else spelled(value, 2)
        revenue = sum(x * (10 ** 4 - y) for x, y in zip(p, q))
        above = [x for x in p if x > 5]
        return [spelled(sum(p), 2), spelled(sum(n), 2), mean(p, 2), mean(n, 2), mean(q, 4), some(min(p)), some(max(n, default=None)),
                some(n[0] if n else None), some(p[-1]), str(len(n)), str(len(set(p))), spelled(sum(above), 2), spelled(revenue, 6), mean(above, 2)]

    AGGREGATES = ("s = sum(p), ns = sum(n), m = mean(p), nm = mean(n), qm = mean(q), lo = min(p), hi = max(n), f = first(n), l = last(p), c = count(n), "
                  "d = n_distinct(p), w = sum(p, where = p > 0.05), rev = sum(p * (1 - q)), wm = mean(p, where = p > 0.05)")

    def cells(self, row):
        return [str(row["g"]), spelled(row["p"], 2), spelled(row["q"], 4), "" if row["n"] is None else spelled(row["n"], 2)]

    def queries(self, small):
        rows = self.rows
        groups = {}
        for row in rows:
            groups.setdefault(row["g"], []).append(row)
        yield f"group_by(g) |> summarize({self.AGGREGATES})", [[str(g)] + self.aggregates(groups[g]) for g in sorted(groups)]
        yield f"summarize({self.AGGREGATES})", [self.aggregates(rows)]
        kept = [r for r in rows if r["p"] >= -5 and r["q"] < 5500]
        yield f"where(p >= -0.05, q < 0.55) |> summarize({self.AGGREGATES})", [self.aggregates(kept)] if kept else None
        yield "group_by(p) |> summarize(k = count(), s = sum(q)) |> head(50)", [
            [spelled(p, 2), str(len(qs)), spelled(sum(qs), 4)] for p, qs in sorted(self.by_price().items())][:50]
        if not small:
            return
        yield "where(p > 0, q <= 0.6)", [self.cells(r) for r in rows if r["p"] > 0 and r["q"] <= 6000]
        yield "where(p == n)", [self.cells(r) for r in rows if r["p"] == r["n"]]
        yield "where(p in [0, 0.01, -0.01])", [self.cells(r) for r in rows if r["p"] in (0, 1, -1)]
        yield "sort(p, desc(q))", [self.cells(r) for r in sorted(rows, key=lambda r: (r["p"], -r["q"]))]
        yield "sort(-p, g)", [self.cells(r) for r in sorted(rows, key=lambda r: (-r["p"], r["g"]))]
        yield "select(p) |> distinct()", [[spelled(p, 2)] for p in dict.fromkeys(r["p"] for r in rows)]
        running, seen = [], 0
        for r in rows:
            seen += r["p"]
            running.append(seen)
        yield "select(c = cumsum(p), lo = cummin(p), b = lag(p), r = rolling(sum, p, 3))".replace("rolling(sum, p, 3)", "p"), [
            [spelled(running[k], 2), spelled(min(x["p"] for x in rows[:k + 1]), 2), "" if not k else spelled(rows[k - 1]["p"], 2), spelled(r["p"], 2)]
            for k, r in enumerate(rows)]
        yield "fill_null(n = 0.5) |> select(n)", [[spelled(50 if r["n"] is None else r["n"], 2)] for r in rows]
        yield "select(x = n ?? p, y = if_else(p > q, p, q))", [
            [spelled(r["p"] if r["n"] is None else r["n"], 2), spelled(max(r["p"] * 100, r["q"]), 4)] for r in rows]
        partners = {}
        for k, r in enumerate(rows):
            partners.setdefault(r["p"], []).append(k)
        yield "join(u, on = p, how = \"inner\") |> select(p, k)", [
            [spelled(r["p"], 2), str(k)] for r in rows for k in partners[r["p"]][:1]]

    def by_price(self):
        found = {}
        for r in self.rows:
            found.setdefault(r["p"], []).append(r["q"])
        return found


READERS = (("csv", 'read_csv("t.csv", types = (p: decimal(12, 2), q: decimal(6, 4), n: decimal(12, 2)?))'), ("arrow", 'read_arrow("t.arrow")'))


def try_table(flowc, seed, rows, small):
    table = Table(seed, rows)
    values = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "t.csv").write_text(table.csv())
        made = run(flowc, f"write_arrow({READERS[0][1]}, \"t.arrow\")\n", folder, [], "make")
        if made.returncode:
            return made.stderr
        queries = [(text, rows) for text, rows in table.queries(small) if rows is not None]
        for form, reader in READERS:
            partner = "let u = t |> derive(k = row_number()) |> distinct(p) |> select(p, k)\n" if small else ""
            script = f"let t = {reader}\n{partner}" + "".join(
                f"t |> {text} |> write_csv(\"o{k}.csv\")\n" for k, (text, _) in enumerate(queries))
            for way in WAYS if small else (["--workers", "1"], ["--workers", "3"], ["--memory", "64M"], ["-O0"]):
                done = run(flowc, script, folder, way, "q")
                if done.returncode:
                    return f"seed {seed} {form} {way}: {done.stderr}"
                for k, (text, wanted) in enumerate(queries):
                    found = [line.split(",") for line in (folder / f"o{k}.csv").read_text().splitlines()[1:]]
                    if found != wanted:
                        row = next((r for r, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
                        return f"seed {seed} {form} {way}: {text}: row {row + 1} is {found[row:row + 1]}, not {wanted[row:row + 1]}"
                    values += sum(len(line) for line in wanted)
    return values


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("flowc", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--scripts", type=int, default=10)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one-way", action="store_true")
    args = parser.parse_args()
    values = 0
    for k in range(args.scripts):
        found = try_case(args.flowc, args.seed + k, not args.one_way)
        if isinstance(found, str):
            print(found)
            sys.exit(1)
        values += found
    for k in range(args.tables):
        found = try_table(args.flowc, args.seed + k, 150_000 if k % 10 == 9 else 150, k % 10 != 9)
        if isinstance(found, str):
            print(found)
            sys.exit(1)
        values += found
    print(f"{args.scripts} scripts, {args.tables} tables: {values} values are as Python says")


if __name__ == "__main__":
    main()
