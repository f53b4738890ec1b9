"""Random tables and chains of verbs, with the result that they should have.

A `Case` is one pipeline: its source tables, its verbs, how it is wrapped, and what is expected: a table, or the codes
one of which a failure may have. It writes itself as statements of a script; what flow wrote is read back by `check`.
"""
import csv
import io
import math
import random

import tables as verbs
from arrays_of_rows import PRELUDE, ArraysOfRows
from columns import Columns
from expressions import column, row, whole
from features import on
from functions import UNITS
from tables import Impossible, Table
from values import FLOATS, INTS, OPEN, Fault, Type, held, key, literal, same, to_float

KINDS = ("i64", "i64", "i64", "f64", "f64", "text", "text", "bool", "date", "datetime", "duration", "category", "i32", "u8", "f32", "i16", "u32")
LEVELS = (["S", "M", "L"], ["b", "a"], ["only"])
NULL = "<null>"
IN_FILES = {"i64", "f64", "text", "bool", "date", "datetime", "i32", "u8", "i16", "u32"}  # kinds whose values a CSV file gives back


class Source:
    """A table written in the script."""

    def __init__(self, name, table, origin="plain"):
        self.name, self.table, self.origin = name, table, origin

    def fits_file(self):
        return bool(self.table.columns) and all(
            t.kind in IN_FILES and (t.kind != "f64" or all(v is None or math.isfinite(v) for v in values)) for t, values in self.table.columns.values())

    def file(self):
        """The text of a CSV file of it; of origin `kept` between rows that a filter drops."""
        def line(values, keep):
            return ",".join([*(NULL if v is None else cell(v, t.kind) for v, t in zip(values, types)), *([keep] if self.origin == "kept" else [])])
        types = list(self.table.types().values())
        rows = [[values[i] for _, values in self.table.columns.values()] for i in range(self.table.n)]
        lines = [",".join([*self.table.columns, *(["keep_"] if self.origin == "kept" else [])])]
        for k, values in enumerate(rows):
            lines += [line(values, "true")] + [line(rows[(k * 7 + 3) % len(rows)], "false")] * (k % 3 if self.origin == "kept" else 0)
        return "\n".join(lines) + "\n"

    def text(self):
        parts, padded = [], False
        if self.origin in ("file", "kept"):
            types = ", ".join([f"{name}: {t.kind}{'?' if t.null else ''}" for name, t in self.table.types().items()] + ["keep_: bool"] * (self.origin == "kept"))
            kept = " |> where(keep_) |> drop(keep_)" if self.origin == "kept" else ""
            return f'let {self.name} = read_csv("{self.name}.in.csv", null = "{NULL}", types = ({types})){kept}'
        for name, (type_, values) in self.table.columns.items():
            if not values or type_.null and (all(v is None for v in values) or None not in values):
                padded = True
        for name, (type_, values) in self.table.columns.items():
            if padded:
                values = [*values, filler(type_), *([None] if any(t.null for t in self.table.types().values()) and type_.null else
                                                   [filler(type_)] if any(t.null for t in self.table.types().values()) else [])]
            body = f"[{', '.join(literal(v, type_.kind, type_.levels) for v in values)}]"
            if type_.kind == "category":
                body = f"category({body}, levels = [{', '.join(literal(k, 'category', type_.levels) for k in range(len(type_.levels)))}])"
            parts.append(f"{name} = {body}")
        text = f"table({', '.join(parts)})"
        n = self.table.n
        if padded:
            text += f" |> head({n})"
        lines = [f"let {self.name} = {text}"]
        if self.origin == "halves":
            lines = [f"let {self.name}_all = {text}",
                     f"let {self.name} = concat({self.name}_all |> head({n // 2}), {self.name}_all |> tail({n - n // 2}))"]
        elif self.origin == "if":
            lines = [f"let {self.name}_all = {text}", f"let {self.name} = if len({self.name}_all) > 2 {{ {self.name}_all }} else {{ {self.name}_all |> head({n}) }}"]
        return "\n".join(lines)


def cell(value, kind):
    """As a CSV file has it."""
    if kind == "text":
        return '"' + value.replace('"', '""') + '"'
    return literal(value, kind).split('"')[1] if kind in ("date", "datetime") else str(value).lower() if kind == "bool" else repr(value)


def filler(type_):
    return {"text": "", "bool": False}.get(type_.kind, 0.0 if type_.kind in FLOATS else 0)


class Case:
    def __init__(self, sources, chain, wrap):
        self.sources, self.chain, self.wrap = sources, chain, wrap
        self.expected = self.codes = None
        self.grouped = False  # is the last table one of groups?

    def evaluate(self):
        """Fills in what is expected."""
        self.expected = self.codes = None
        table, verb = self.sources[0].table, None
        try:
            for verb in self.chain:
                table = verb.apply(table)
            self.expected, self.grouped = table, table.keys is not None
        except Fault as fault:
            if OPEN in fault.codes:
                raise Impossible from None
            self.codes = fault.codes
            self.grouped = (table.keys is not None or "group_by" in verb.uses) and not verb.uses & {"summarize", "ungroup", "value_counts"}
        return self

    @property
    def name(self):
        return self.sources[0].name

    def features(self):
        return set().union(*[v.features() for v in self.chain])

    def text(self):
        """The statements of the case, which write its result to NAME.csv."""
        chain = " |> ".join(v.text for v in self.chain)
        lines = [s.text() for s in [*self.sources[1:], self.sources[0]] if s is self.sources[0] or s.name in chain]
        first = self.sources[0].name
        table = self.expected
        if self.grouped:
            chain += " |> ungroup"
        pipe = f" |> {chain}" if chain else ""
        if self.wrap in ("fn", "stage"):
            lines.append(f"{self.wrap} f_{first}(t: _[n]) = t{pipe}")
            lines.append(f"let r_{first} = f_{first}({first})")
        else:
            lines.append(f"let r_{first} = {first}{pipe}")
        shown = f"r_{first}"
        if table is not None:
            times = [n for n, (t, _) in table.columns.items() if t.kind == "duration"]
            if times:
                shown += f" |> derive({', '.join(f'{n} = {n} // microseconds(1)' for n in times)})"
        lines.append(f'write_csv({shown}, "{first}.csv", null = "{NULL}")')
        return "\n".join(lines) + "\n"

    def files(self):
        """What the script reads: (name, text) of each."""
        return [(f"{s.name}.in.csv", s.file()) for s in self.sources if s.origin in ("file", "kept")]

    @staticmethod
    def prelude(script):
        """The functions that a script calls."""
        return "".join(line + "\n" for line in PRELUDE.splitlines() if line.split("(")[0][3:] + "(" in script)

    def result(self, run):
        """What the run wrote for this case, or None."""
        path = run.folder / f"{self.name}.csv"
        return path.read_text() if path.exists() else None

    def check(self, found):
        """What is wrong with the CSV text that flow wrote, or ""."""
        rows = list(csv.reader(io.StringIO(found)))
        table = self.expected
        if not rows or rows[0] != list(table.columns):
            return f"columns: {rows[0] if rows else None}, expected {list(table.columns)}"
        if len(rows) - 1 != table.n and not (len(table.columns) == 1 and len(rows) <= table.n + 1):
            return f"{len(rows) - 1} rows, expected {table.n}"
        if len(table.columns) == 1:
            rows = [r or [""] for r in rows]
        for k, (name, (type_, values)) in enumerate(table.columns.items()):
            for i, (expected, line) in enumerate(zip(values, rows[1:])):
                value = None if line[k] == NULL else line[k]
                if not same(expected, value, type_):
                    shown = expected if expected is None or type_.kind not in ("date", "datetime") else literal(expected, type_.kind)
                    return f"column {name} ({type_}), row {i}: {line[k]!r}, expected {shown!r}"
        return ""

    # -- shrinking --
    def smaller(self):
        for k in reversed(range(len(self.chain))):
            yield Case(self.sources, self.chain[:k] + self.chain[k + 1:], self.wrap)
        if self.wrap:
            yield Case(self.sources, self.chain, "")
        for s, source in enumerate(self.sources):
            if source.origin != "plain":
                yield Case([*self.sources[:s], Source(source.name, source.table), *self.sources[s + 1:]], self.chain, self.wrap)
        main, rest = self.sources[0], self.sources[1:]
        n = main.table.n
        size = max(1, n // 2)
        while n and size:
            for at in range(0, n, size):
                kept = [i for i in range(n) if not at <= i < at + size]
                yield Case([Source(main.name, main.table.take(kept), main.origin), *rest], self.chain, self.wrap)
            size //= 2
        for name in main.table.columns:
            if len(main.table.columns) > 1:
                less = {n: c for n, c in main.table.columns.items() if n != name}
                yield Case([Source(main.name, Table(less, n), main.origin), *rest], self.chain, self.wrap)
        for k, verb in enumerate(self.chain):
            for less in verb.smaller():
                yield Case(self.sources, [*self.chain[:k], less, *self.chain[k + 1:]], self.wrap)


class Maker(ArraysOfRows, Columns):
    """Makes cases. faults: is one that fails wanted?"""

    def __init__(self, seed, faults=False):
        super().__init__(random.Random(seed))
        self.faults, self.counter, self.in_groups = faults, 0, False

    def fresh(self, prefix="c"):
        self.counter += 1
        return f"{prefix}{self.counter}"

    # -- tables --
    def table(self, n, like=None):
        columns = {}
        kinds = ["i64", "f64", "text", *self.random.sample(KINDS, self.number(1, 5))] if like is None else like
        self.random.shuffle(kinds)
        for kind in kinds:
            null, levels = self.chance(0.4), self.pick(*LEVELS) if kind == "category" else None
            pool = [self.value(kind, levels) for _ in range(self.number(1, 4))] if self.chance(0.5) else None
            share = self.pick(0.0, 0.2, 0.5, 1.0) if null else 0.0
            values = [None if self.chance(share) else self.pick(*pool) if pool else self.value(kind, levels) for _ in range(n)]
            columns[self.fresh(kind[0])] = Type(kind, null, levels), values
        return Table(columns, n)

    def source(self, name, table, origins=("plain", "plain", "halves", "if")):
        found = Source(name, table, self.pick(*(["kept"] * 3 if self.files else origins), "file", "kept"))
        return found if found.origin not in ("file", "kept") or found.fits_file() else Source(name, table)

    def size(self):
        return self.pick(0, 1, 2, 3, 5, 8, 12, 12, 20, 40)

    def case(self, name):
        self.counter = 0
        self.name, self.files = name, self.chance(0.2)  # is it of files alone, most of which are joined?
        kinds = [self.pick(*sorted(IN_FILES)) for _ in range(self.number(1, 4))] if self.files else None
        table = self.table(self.size(), kinds and ["i64", "f64", *kinds])
        self.sources = [self.source(name, table)]
        chain = []
        wanted = self.number(1, 6)
        tries = 0
        while len(chain) < wanted and tries < 40:
            tries += 1
            before = len(self.sources)
            verb = self.verb(table)
            if verb is None:
                continue
            try:
                after = verb.apply(table)
            except Impossible:
                continue
            except Fault as fault:
                if self.faults and OPEN not in fault.codes:
                    chain.append(verb)
                    break
                del self.sources[before:]
                continue
            if after.n > 300:
                continue
            if not after.columns:
                continue
            chain.append(verb)
            table = after
        return Case(self.sources, chain, self.pick("", "", "fn", "stage")).evaluate()

    # -- verbs --
    def scoped(self, table):
        self.scope = table.types()
        self.filled = self.in_groups = table.keys is not None
        self.aggregates = self.windows = True

    def keys(self, table, most=2):
        names = [n for n, t in table.types().items() if not t.approx and t.kind != "duration"] or []
        few = [n for n in names if len({key(v) for v in table.values(n)}) <= 4]
        names = few if few and self.chance(0.7) else names
        return self.random.sample(names, min(len(names), self.number(1, most)))

    def verb(self, table):
        self.scoped(table)
        if table.keys is not None:
            names = ["where", "derive", "derive", "summarize", "summarize", "sort", "head", "top", "distinct", "ungroup", "value_counts",
                     "fill"]
        else:
            names = ["where", "where", "derive", "derive", "select", "drop", "rename", "group_by", "group_by", "summarize", "summarize_by", "sort", "sort", "head",
                     "top", "distinct", "join", "join", "join_asof", "concat", "drop_null", "fill_null", "fill", "unpivot", "pivot", "value_counts",
                     "complete", "describe", "derive_by", "each", "sets", "sample", "where_each"]
        if self.files:
            names = ["where", "derive", "join", "join", "join", "select", "summarize_by", "drop_null"]
        name = self.pick(*names)
        return getattr(self, "verb_" + name)(table) if on(name) else None

    def any_expression(self, depth=3):
        kind = self.pick(*KINDS)
        if kind == "category" and not self.columns("category"):
            kind = "i64"
        if self.windows and kind in ("i64", "f64") and self.chance(0.3):
            made = self.running(kind, 1, True)
            if made is not None:
                return made
        return self.make(kind, self.number(1, depth), True)

    def of_all_rows(self, kind, depth, null):
        return super().of_all_rows(kind, depth, null) if self.chance(0.5) else self.of_rows(kind, depth)

    def verb_where(self, table):
        return verbs.where([("", self.of_bool("bool", 2, True))])

    def verb_derive(self, table):
        parts = {}
        for _ in range(self.number(1, 3)):
            name = self.fresh() if self.chance(0.7) else self.pick(*table.columns)
            e = self.any_expression()
            if e is not None and name not in (table.keys or []):
                parts[name] = e
        return verbs.derive(list(parts.items())) if parts else None

    def verb_derive_by(self, table):
        if not on("by ="):
            return None
        by = self.keys(table, 1)
        if not by:
            return None
        grouped = Table(table.columns, table.n, by)
        self.scoped(grouped)
        e = self.any_expression()
        if e is None:
            return None
        name = self.fresh()
        inner = verbs.derive([(name, e)])

        def apply(table):
            after = inner.apply(Table(table.columns, table.n, by if table.values(by[0]) is not None else None))
            return Table(after.columns, after.n)

        return verbs.Verb(f"derive({name} = {e.text}, by = {by[0]})", apply, [(name, e)], None, ["derive by"])

    def verb_select(self, table):
        kept = self.random.sample(list(table.columns), self.number(1, len(table.columns)))
        parts = [(self.fresh(), self.any_expression())] if self.chance(0.5) else []
        return verbs.select(kept)([p for p in parts if p[1] is not None])

    def verb_drop(self, table):
        if len(table.columns) < 2:
            return None
        return verbs.drop(self.random.sample(list(table.columns), self.number(1, min(2, len(table.columns) - 1))))

    def verb_rename(self, table):
        return verbs.rename(self.fresh(), self.pick(*table.columns))

    def verb_group_by(self, table):
        parts = [("", column(n, table.types()[n])) for n in self.keys(table)]
        if self.chance(0.3) or not parts:
            self.aggregates = self.windows = False
            e = self.make(self.pick("i64", "text", "bool", "date"), 1, True)
            parts.append((self.fresh(), e))
        return verbs.group_by(parts)

    def verb_ungroup(self, table):
        return verbs.simple("ungroup", lambda t: Table(t.columns, t.n), "ungroup")

    def aggregates_of(self, table, number):
        parts = []
        for _ in range(number):
            kind = self.pick("i64", "f64", "f64", "i64", "bool", "text", "date", "datetime", "duration", "category", "i32", "u8")
            if kind == "category" and not self.columns("category"):
                continue
            self.alone = self.chance(0.5)
            e = self.aggregate(kind, 2) if self.chance(0.7) else self.of_rows(kind, 2)
            if not self.alone and e is not None and kind in ("i64", "f64") and self.chance(0.25):
                other = self.aggregate("i64", 1)
                if other is not None:
                    symbol, operate = self.float_symbol() if kind == "f64" else ("+", None)
                    if kind == "f64":
                        e = row("f64", f"($0 {symbol} $1)", lambda x, y, operate=operate: operate(x, to_float(y)), e, other)
                    else:
                        e = row("i64", "($0 + $1)", lambda x, y: held("i64", x + y), e, other)
            self.alone = False
            if e is not None:
                parts.append((self.fresh("a"), e))
        return parts

    def verb_summarize(self, table):
        parts = self.aggregates_of(table, self.number(1, 4))
        return verbs.summarize(None)(parts) if parts else None

    def verb_summarize_by(self, table):
        keys = self.keys(table)
        if not keys or not on("by ="):
            return None
        computed = self.verb_group_by(table).parts if self.chance(0.4) else []
        self.scoped(table)
        self.filled = self.in_groups = True
        parts = self.aggregates_of(table, self.number(1, 3))
        return (verbs.summarize_by(computed)(parts) if computed else verbs.summarize(keys)(parts)) if parts else None

    def verb_sort(self, table):
        parts, downs = [], []
        for _ in range(self.number(1, 3)):
            kind = self.pick("i64", "f64", "text", "bool", "date", "datetime", "duration", "category", "i32")
            if kind == "category" and not self.columns("category"):
                continue
            e = self.make(kind, self.pick(0, 0, 1), True)
            if e is None or not e.varies():
                continue
            down = self.pick("", "", "desc", "-" if kind in ("i64", "f64", "i32") and e.how == "column" else "desc")
            if down == "-" and table.n and min((v for v in table.values(e.form) if v is not None), default=0) in (-(2**63), -(2**31)):
                down = ""
            parts.append(("", e))
            downs.append(down)
        return verbs.sort(downs)(parts) if parts else None

    def verb_head(self, table):
        n, name = self.number(0, 8), self.pick("head", "tail")
        if self.chance(0.2):
            n, text = 5, name
        else:
            text = f"{name}({n})"
        return verbs.per_group(text, lambda t, rows: rows[:n] if name == "head" else rows[max(0, len(rows) - n):], name)

    def verb_top(self, table):
        names = [n for n, t in table.types().items() if t.kind in ("i64", "f64", "date", "datetime", "i32", "u8", "duration") and not t.approx]
        return verbs.top(self.number(0, 5), self.pick(*names)) if names else None

    def verb_sample(self, table):
        if table.n > 20 or self.chance(0.5):
            return verbs.simple(f"sample(0, seed = {self.number(0, 9)})", lambda t: t.take([]), "sample")

        def apply(t):
            if t.n < table.n:
                raise Impossible
            return t.take(list(range(table.n))) if t.n == table.n else (_ for _ in ()).throw(Impossible())

        return verbs.simple(f"sample({table.n}, seed = {self.number(0, 9)})", apply, "sample")

    def verb_distinct(self, table):
        names = self.keys(table)
        if not names or any(t.approx for t in table.types().values()):
            return None
        return verbs.distinct(names if self.chance(0.8) else [])

    def verb_join(self, table):
        keys = [n for n in self.keys(table) if table.types()[n].kind not in ("category", "duration", "f32")]
        if not keys:
            return None
        m, columns, on_ = self.pick(0, 1, 3, 6, 10), {}, []
        for left in keys:
            type_ = table.types()[left]
            pool = [v for v in table.values(left) if v is not None]
            null = self.chance(0.3)
            values = [None if null and self.chance(0.3) else self.pick(*pool) if pool and self.chance(0.7) else self.value(type_.kind) for _ in range(m)]
            right = left if self.chance(0.4) else self.fresh("r")
            columns[right] = Type(type_.kind, null), values
            on_.append((left, right))
        for name, c in self.table(m, [self.pick("i64", "text", "f64", "date", "bool") for _ in range(self.number(0, 2))]).columns.items():
            columns[name] = c
        if self.chance(0.3) and "suffix" not in columns:
            name = self.pick(*table.columns)
            if name not in columns and name not in keys and name + "_r" not in table.columns:
                columns[name] = Type("i64"), [self.value("i64") for _ in range(m)]
        other = Table(columns, m)
        self.sources.append(self.source(self.fresh(self.name + "o"), other, ("plain",)))
        how = self.pick("inner", "left", "right", "full", "semi", "anti", *(["inner", "semi"] * 2 * self.files))
        expect = self.chance(0.1) and how not in ("semi", "anti")
        names = [n + "_r" if n in table.columns else n for n in columns]
        both = how not in ("semi", "anti") and len(set(names) | set(table.columns)) == len(names) + len(table.columns) and self.chance(0.3)
        condition = None
        if len(set(names) | set(table.columns)) == len(names) + len(table.columns) and self.chance(0.5):
            on_ = on_ if self.chance(0.5) else []
            condition = self.pairs_condition(table, other, on_)
        return verbs.join(self.sources[-1].name, other, on_, how, "_r", expect, both, condition)

    def pairs_condition(self, table, other, on_):
        """Comparisons of a column of either table, then anything of both."""
        right = {n + "_r" if n in table.columns else n: t for n, t in other.types().items() if n not in [b for _, b in on_]}
        numbers = ("i64", "f64", "f32", "i32", "u8", "i16", "u32")
        some = [(a, b) for a in table.types().items() for b in right.items() if not a[1].approx and
                (a[1].kind == b[1].kind != "category" or a[1].kind in numbers and b[1].kind in numbers)]
        made = []
        for a, b in self.random.sample(some, min(len(some), self.number(0, 3))):
            symbol = self.pick("<", "<=", ">", ">=", "<", "<=", ">", ">=", "==") if a[1].kind != "bool" else "=="
            test = {"<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y, "==": lambda x, y: x == y}[symbol]
            pair = [column(*a), column(*b)]
            form = f"$0 {symbol} $1"
            if self.chance(0.3):
                form = f"$1 { {'<': '>', '>': '<', '<=': '>=', '>=': '<=', '==': '=='}[symbol]} $0"
            made.append(row("bool", form, test, *pair, uses=[symbol]))
        if self.chance(0.5):
            self.scope = {**table.types(), **right}
            self.filled = self.in_groups = self.aggregates = self.windows = False
            e = self.of_bool("bool", 1, True)
            made.append(row("bool", "(($0) == true)", lambda x: x is True, e))
        return made

    def verb_join_asof(self, table):
        names = [n for n, t in table.types().items() if t.kind in ("i64", "f64", "date", "datetime", "duration") and not t.approx]
        if not names:
            return None
        left = self.pick(*names)
        type_ = table.types()[left]
        m = self.pick(0, 1, 4, 9)
        pool = [v for v in table.values(left) if v is not None]
        null = self.chance(0.3)
        right = left if self.chance(0.3) else self.fresh("r")
        columns = {right: (Type(type_.kind, null), [None if null and self.chance(0.3) else self.pick(*pool) if pool and self.chance(0.4) else self.value(type_.kind)
                                                    for _ in range(m)])}
        by = [n for n in self.keys(table, 1) if n not in (left, right) and table.types()[n].kind in ("text", "i64", "bool", "date")] if self.chance(0.5) else []
        for name in by:
            t = table.types()[name]
            pool = [v for v in table.values(name) if v is not None]
            columns[name] = Type(t.kind), [self.pick(*pool) if pool and self.chance(0.8) else self.value(t.kind) for _ in range(m)]
        columns[self.fresh("v")] = Type("i64"), list(range(m))
        other = Table(columns, m)
        within = None
        if self.chance(0.4):
            within = self.number(0, 9) * (1 if type_.kind in ("i64", "f64") else UNITS["hours"] * 6)
            if type_.kind == "date":
                return None
        self.sources.append(Source(self.fresh(self.name + "o"), other))
        return verbs.join_asof(self.sources[-1].name, other, left, right, by, within, self.pick("backward", "forward", "nearest"), self.chance(0.8))

    def verb_concat(self, table):
        if any(t.approx for t in table.types().values()):
            return None
        m = self.pick(0, 1, 3)
        columns = {}
        for name, t in table.types().items():
            columns[name] = t, [None if t.null and self.chance(0.3) else self.value(t.kind, t.levels) for _ in range(m)]
        other = Table(columns, m)
        self.sources.append(Source(self.fresh(self.name + "o"), other))

        def apply(t):
            if {n: str(x) for n, x in t.types().items()} != {n: str(x) for n, x in other.types().items()}:
                raise Impossible
            return Table({n: (x, v + other.values(n)) for n, (x, v) in t.columns.items()}, t.n + other.n)

        return verbs.simple(f"concat({self.sources[-1].name})", apply, "concat")

    def verb_drop_null(self, table):
        names = [n for n, t in table.types().items() if t.null]
        return verbs.drop_null(self.random.sample(names, self.number(1, min(2, len(names))))) if names else None

    def verb_fill_null(self, table):
        names = [n for n, t in table.types().items() if t.null and not t.approx and t.kind in ("i64", "f64", "text", "bool", "date", "datetime")]
        if not names:
            return None
        name = self.pick(*names)
        value = self.value(table.types()[name].kind)
        return verbs.fill_null(name, literal(value, table.types()[name].kind), value)

    def verb_fill(self, table):
        verb = self.pick("fill_down", "fill_up")
        names = [n for n in table.columns if n not in (table.keys or [])]
        if not on(verb) or not names:
            return None
        return verbs.fill(verb, self.random.sample(names, self.number(0, min(2, len(names)))))

    def verb_unpivot(self, table):
        name = self.pick(*table.columns)
        kind = table.types()[name]
        if kind.kind == "category" or kind.approx:
            return None
        names = [n for n, t in table.types().items() if t.same(kind)]
        if not names:
            return None
        return verbs.unpivot(self.random.sample(names, self.number(1, len(names))), self.fresh("n"), self.fresh("v"))

    def verb_pivot(self, table):
        if any(t.approx for t in table.types().values()):
            return None
        by = self.pick(*table.columns)
        values = [n for n, t in table.types().items() if n != by and t.kind in ("i64", "f64", "text", "date")]
        type_ = table.types()[by]
        if not values or type_.kind not in ("text", "i64", "bool", "date", "i32") or len(table.columns) < 3:
            return None
        value = self.pick(*values)
        seen = list({key(v): v for v in table.values(by) if v is not None}.values())
        if type_.kind in ("text", "i64") and self.chance(0.3):
            seen.append(self.value(type_.kind))
        seen = list({key(v): v for v in seen}.values())
        if not seen:
            return None
        whole_ = self.chance(0.4) and len(seen) <= 5
        wanted = seen if whole_ else self.random.sample(seen, min(len(seen), self.number(1, 3)))
        how = self.pick("", "count", "first", "last", "min", "max", "sum")
        if how == "sum" and table.types()[value].kind not in ("i64", "f64") or how in ("min", "max") and table.types()[value].kind == "text":
            how = "first"
        if how in table.columns and not on("pivot by aggregates of names"):
            return None
        into = [(self.fresh("p"), v, literal(v, type_.kind)) for v in wanted]
        return verbs.pivot(by, value, into, how, not whole_ or None in table.values(by))

    def verb_value_counts(self, table):
        names = [n for n in self.keys(table) if n not in (table.keys or [])]
        if not names or "count" in table.columns:
            return None
        return verbs.value_counts(names)

    def verb_complete(self, table):
        names = self.keys(table)
        if not names or any(t.approx for t in table.types().values()):
            return None
        return verbs.complete(names)

    def verb_describe(self, table):
        if any(t.approx or t.kind in ("duration", "f32") for t in table.types().values()):
            return None
        return verbs.describe()

    # -- sets of columns --
    def verb_sets(self, table):
        numbers = [n for n, t in table.types().items() if t.kind in INTS or t.kind in FLOATS]
        form = self.number(0, 4)
        if form == 0 and numbers:
            return verbs.simple("select(numeric())", keep(lambda n, t: t.kind in INTS or t.kind in FLOATS), "numeric")
        if form == 1 and numbers and len(numbers) < len(table.columns):
            return verbs.simple("drop(numeric())", keep(lambda n, t: not (t.kind in INTS or t.kind in FLOATS)), "numeric")
        letter = self.pick("i", "f", "t", "c")
        if form == 2 and any(n.startswith(letter) for n in table.columns):
            return verbs.simple(f'select(cols("{letter}*"))', keep(lambda n, t: n.startswith(letter)), "cols")
        gone = self.random.sample(list(table.columns), self.number(1, 2) if len(table.columns) > 2 else 1)
        if form == 3 and len(table.columns) > 2:
            return verbs.simple(f"select(except({', '.join(gone)}))", keep(lambda n, t: n not in gone), "except")
        first = self.pick(*table.columns)
        return verbs.simple(f"select({first}, all())", lambda t: Table({n: t.columns[n] for n in sorted(t.columns, key=lambda n: n != first)}, t.n)
                            if first in t.columns else keep(lambda n, t: False)(t), "all")

    def verb_each(self, table):
        numbers = [n for n, t in table.types().items() if t.kind == "i64" and not t.approx]
        if not numbers or any(t.approx for t in table.types().values()):
            return None
        end = "_" + self.fresh("e")
        form = self.number(0, 2)
        names = self.random.sample(numbers, self.number(1, len(numbers)))
        made, parts = [], []
        for name in names:
            c = column(name, table.types()[name])
            if form == 0:
                made.append((name + end, whole(Type("i64", True), "max($0)", lambda rows, v: max((x for x in v if x is not None), default=None), c)))
            elif form == 1:
                made.append((name + end, row("i64", "($0 % 7)", lambda x: x % 7, c)))
            else:
                made.append((name + end, row("bool", "($0 > 2)", lambda x: x > 2, c)))
            parts.append(name)
        function = ["max", "x => x % 7", "x => x > 2"][form]
        inner = verbs.derive(made)
        return verbs.Verb(f'derive(each(({", ".join(parts)}), {function}, name = "*{end}"))', inner.apply, uses=["each"])

    def verb_where_each(self, table):
        numbers = [n for n, t in table.types().items() if t.kind == "i64" and not t.null]
        if not numbers:
            return None
        names, n = self.random.sample(numbers, self.number(1, len(numbers))), self.number(-2, 6)
        name, operate = self.pick(("any", any), ("all", all))

        def apply(t):
            return t.take([i for i in range(t.n) if operate(t.values(c)[i] > n for c in names)])

        return verbs.simple(f"where({name}(each(({', '.join(names)}), x => x > {literal(n, 'i64')})))", apply, "each")


def keep(test):
    def apply(table):
        columns = {n: c for n, c in table.columns.items() if test(n, c[0])}
        if not columns:
            raise Impossible
        return Table(columns, table.n)
    return apply
