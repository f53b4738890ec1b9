"""Tables of the model, and the verbs: what each does to a table, and how random ones are made.

A verb is an object with `text` (as it stands after |>), `apply(table)` and `smaller()` (verbs with fewer parts). Tables
are never changed in place. What always holds: `apply` gives a new table or raises Fault with every code that may be
reported; Impossible says that a verb does not fit the table (a column is missing), which only shrinking can cause.
"""
import math

from aggregates import aggregate_of
from columns import fails
from expressions import Rows, everywhere, settled
from values import CELLS, MATCHES, Fault, Type, descending, exact, is_nan, key, mean_of, quantile_of, smallest, std_of, text_of


class Impossible(Exception):
    pass


class Table:
    """names -> (Type, values), the number of rows, and the keys of its groups, or None."""

    def __init__(self, columns, n, keys=None):
        self.columns, self.n, self.keys = columns, n, keys

    def types(self):
        return {name: type_ for name, (type_, _) in self.columns.items()}

    def take(self, rows):
        return Table({name: (t, [v[i] for i in rows]) for name, (t, v) in self.columns.items()}, len(rows), self.keys)

    def values(self, name):
        if name not in self.columns:
            raise Impossible(name)
        return self.columns[name][1]

    def key_of(self, names):
        return [tuple(map(key, row)) for row in zip(*[self.values(name) for name in names])] if names else [()] * self.n

    def groups(self, names=None):
        """Positions of the rows of each group, by ascending key."""
        names = self.keys if names is None else names
        if names is None:
            return [list(range(self.n))]
        found = {}
        for i, k in enumerate(self.key_of(names)):
            found.setdefault(k, []).append(i)
        return [found[k] for k in sorted(found)]

    def contexts(self):
        values = {name: v for name, (_, v) in self.columns.items()}
        for rows in self.groups():
            yield rows, Rows({name: [v[i] for i in rows] for name, v in values.items()}, len(rows))

    def evaluate(self, exprs):
        """Values of each expression in every row, with the rows of its group around it."""
        for e in exprs:
            if not e.names() <= self.columns.keys():
                raise Impossible
            if any(self.columns[c.form][0].null > c.type.null or self.columns[c.form][0].kind != c.type.kind for c in column_nodes(e)):
                raise Impossible
        out, codes = [[None] * self.n for _ in exprs], set()
        if self.n == 0 and any(undecided(e) for e in exprs):
            raise Impossible
        for rows, context in self.contexts():
            for values, e in zip(out, exprs):
                try:
                    for i, v in zip(rows, everywhere(e, context)):
                        values[i] = v
                    settled(e, context)
                except Fault as fault:
                    codes |= fault.codes
        if codes:
            raise Fault(*codes)
        return out


def column_nodes(expr):
    if expr.how == "column":
        yield expr
    for a in expr.args:
        yield from column_nodes(a)


def undecided(expr):
    """Is there a part that is one value for all rows, and fails? Without rows the page does not say whether it does."""
    if expr.how != "column" and not expr.varies():
        return fails(expr)
    return any(undecided(a) for a in expr.args)


class Verb:
    """name(fixed, parts..): parts are (text before, Expr)."""

    def __init__(self, text, apply, parts=(), rebuild=None, uses=()):
        self.text, self.apply, self.parts, self.rebuild, self.uses = text, apply, parts, rebuild, set(uses)

    def features(self):
        return self.uses.union(*[e.features() for _, e in self.parts])

    def smaller(self):
        if not self.rebuild:
            return
        parts = list(self.parts)
        for k in range(len(parts)):
            if len(parts) > 1:
                yield self.rebuild(parts[:k] + parts[k + 1:])
        for k, (name, e) in enumerate(parts):
            for less in e.smaller():
                yield self.rebuild(parts[:k] + [(name, less)] + parts[k + 1:])


def written(parts):
    return ", ".join(f"{name} = {e.text}" if name else e.text for name, e in parts)


def where(parts):
    def apply(table):
        (kept,) = table.evaluate([parts[0][1]])
        return table.take([i for i, v in enumerate(kept) if v is True])
    return Verb(f"where({written(parts)})", apply, parts, where, ["where"])


def derive(parts):
    def apply(table):
        columns = dict(table.columns)
        for (name, e), values in zip(parts, table.evaluate([e for _, e in parts])):
            columns[name] = e.type, values
        return Table(columns, table.n, table.keys)
    return Verb(f"derive({written(parts)})", apply, parts, derive, ["derive"])


def select(names):
    def make(parts):
        def apply(table):
            columns = {name: (table.types()[name], table.values(name)) for name in names if table.values(name) is not None}
            for (name, e), values in zip(parts, table.evaluate([e for _, e in parts])):
                columns[name] = e.type, values
            return Table(columns, table.n)
        return Verb(f"select({', '.join([*names, *([written(parts)] if parts else [])])})", apply, parts, make, ["select"])
    return make


def summarize(keys):
    """keys: names given by `by =`; None: by the groups of the table, or the whole of it."""
    def make(parts):
        def apply(table):
            by = keys if keys is not None else table.keys or []
            grouped = Table(table.columns, table.n, by)
            columns = {name: (table.types()[name], []) for name in by if table.values(name) is not None}
            columns.update({name: (e.type, []) for name, e in parts})
            codes = set()
            groups = list(grouped.contexts()) if by else [(list(range(table.n)), Rows({c: v for c, (_, v) in table.columns.items()}, table.n))]
            for rows, context in groups:
                for name in by:
                    columns[name][1].append(table.values(name)[rows[0]])
                for name, e in parts:
                    if not e.names() <= table.columns.keys() or any(table.columns[c.form][0].null > c.type.null for c in column_nodes(e)):
                        raise Impossible
                    if context.n == 0 and undecided(e):
                        raise Impossible
                    try:
                        columns[name][1].append(e.at(context, 0))
                        settled(e, context)
                    except Fault as fault:
                        codes |= fault.codes
            if codes:
                raise Fault(*codes)
            return Table(columns, len(groups))
        by = "" if keys is None else f", by = {keys[0]}" if len(keys) == 1 else f", by = ({', '.join(keys)})"
        return Verb(f"summarize({written(parts)}{by})", apply, parts, make, ["summarize"])
    return make


def group_by(parts):
    def apply(table):
        columns = dict(table.columns)
        new = [(name, e) for name, e in parts if name]
        plain = Table(columns, table.n)
        for (name, e), values in zip(new, plain.evaluate([e for _, e in new])):
            columns[name] = e.type, values
        return Table(columns, table.n, [name or e.form for name, e in parts if name or table.values(e.form) is not None])
    return Verb(f"group_by({written(parts)})", apply, parts, group_by, ["group_by"])


def summarize_by(keys):
    """keys: columns, and by a name what is computed of each row, given by `by =`: as behind a group_by of them."""
    def make(parts):
        def apply(table):
            return summarize(None)(parts).apply(group_by(keys).apply(table))
        return Verb(f"summarize({written(parts)}, by = ({written(keys)}))", apply, parts, make, ["summarize"])
    return make


def sort(downs):
    """downs: of each key "", "-" or "desc"."""
    def make(parts):
        def apply(table):
            if len(parts) != len(downs):
                raise Impossible
            found = [descending(v) if down else [key(x) for x in v] for down, v in zip(downs, table.evaluate([e for _, e in parts]))]
            order = sorted(range(table.n), key=lambda i: [k[i] for k in found])
            return table.take(order)
        shown = [f"desc({e.text})" if down == "desc" else down + e.text for down, (_, e) in zip(downs, parts)]
        return Verb(f"sort({', '.join(shown)})", apply, parts, make, ["sort"])
    return make


def simple(text, apply, *uses):
    return Verb(text, apply, uses=uses)


def per_group(text, choose, *uses):
    """choose(positions of a group) gives those that stay; the rows keep their order."""
    return simple(text, lambda table: table.take(sorted(i for rows in table.groups() for i in choose(table, rows))), *uses)


def top(n, name, down=False):
    def apply(table):
        order = descending(table.values(name))
        kept = [i for rows in table.groups() for i in sorted(rows, key=lambda i: order[i])[:n]]
        return table.take(kept)
    return simple(f"top({n}, by = {name})", apply, "top")


def distinct(names):
    def apply(table):
        keys, seen, kept = table.key_of((table.keys or []) + (names or list(table.columns))), set(), []
        for i, k in enumerate(keys):
            if k not in seen:
                seen.add(k)
                kept.append(i)
        return table.take(kept)
    return simple(f"distinct({', '.join(names)})", apply, "distinct")


def drop(names):
    def apply(table):
        if not set(names) < set(table.columns):
            raise Impossible
        return Table({n: c for n, c in table.columns.items() if n not in names}, table.n)
    return simple(f"drop({', '.join(names)})", apply, "drop")


def rename(new, old):
    def apply(table):
        table.values(old)
        return Table({new if n == old else n: c for n, c in table.columns.items()}, table.n)
    return simple(f"rename({new} = {old})", apply, "rename")


def drop_null(names):
    def apply(table):
        kept = table.take([i for i in range(table.n) if all(table.values(n)[i] is not None for n in names or table.columns)])
        kept.columns = {n: (t.with_null(False), v) if n in names or not names else (t, v) for n, (t, v) in kept.columns.items()}
        return kept
    return simple(f"drop_null({', '.join(names)})", apply, "drop_null")


def fill_null(name, text, value):
    def apply(table):
        values, columns, type_ = table.values(name), dict(table.columns), table.types().get(name)
        columns[name] = type_.with_null(False), [value if v is None else v for v in values]
        return Table(columns, table.n)
    return simple(f"fill_null({name} = {text})", apply, "fill_null")


def fill(verb, names):
    """names: none: all columns but the keys."""
    def apply(table):
        columns = dict(table.columns)
        if set(names) & set(table.keys or []):
            raise Impossible
        for name in names or [n for n in columns if n not in (table.keys or [])]:
            type_, values = table.types().get(name), list(table.values(name))
            for rows in table.groups():
                last = None
                for i in rows if verb == "fill_down" else reversed(rows):
                    last = values[i] = last if values[i] is None else values[i]
            columns[name] = type_, values
        return Table(columns, table.n, table.keys)
    return simple(f"{verb}({', '.join(names)})", apply, verb)


def joined_pairs(table, other, on_, suffix, pairs, condition):
    """The pairs of rows of which the conditions are true, each asked of those that the ones before it left."""
    keys = {b for _, b in on_}
    for e in condition:
        columns = {name: (type_, [values[i] for i, _ in pairs]) for name, (type_, values) in table.columns.items()}
        for name, (type_, values) in other.columns.items():
            if name not in keys:
                columns[name + suffix if name in table.columns else name] = type_, [values[j] for _, j in pairs]
        (kept,) = Table(columns, len(pairs)).evaluate([e])
        pairs = [p for p, v in zip(pairs, kept) if v is True]
    return pairs


def join(other_text, other, on_, how, suffix, expect, both=False, condition=None):
    """on_: pairs (left, right). both: the right table's keys stay, and the left ones are its own alone. condition: expressions of
    columns of the result, of which `and` makes the condition; None: there is none."""
    def apply(table):
        lefts, rights = table.key_of([a for a, _ in on_]), other.key_of([b for _, b in on_])
        where_, used = {}, set()
        for i, k in enumerate(rights):
            where_.setdefault(k, []).append(i)
        pairs = [(i, j) for i, k in enumerate(lefts) if not any(part[0] == 2 for part in k) for j in where_.get(k, [])]
        partners = {}
        for i, j in joined_pairs(table, other, on_, suffix, pairs, condition or []):
            partners.setdefault(i, []).append(j)
        pairs = []
        for i in range(table.n):
            found = partners.get(i, [])
            if expect and len(found) > 1:
                raise Fault(MATCHES)
            if how in ("semi", "anti"):
                pairs += [(i, None)] if bool(found) == (how == "semi") else []
                continue
            used.update(found)
            pairs += [(i, j) for j in found] or ([(i, None)] if how in ("left", "full") else [])
        if how in ("right", "full"):
            pairs += [(None, j) for j in range(other.n) if j not in used]
        columns, keys = {}, {} if both else dict(on_)
        for name, (type_, values) in table.columns.items():
            null = type_.null or how in ("right", "full") and name not in keys
            if name in keys:
                null = type_.null or how in ("right", "full") and other.types()[keys[name]].null
            columns[name] = type_.with_null(null), [values[i] if i is not None else other.values(keys[name])[j] if name in keys else None
                                                    for i, j in pairs]
        if how not in ("semi", "anti"):
            for name, (type_, values) in other.columns.items():
                if name in keys.values():
                    continue
                name = name + suffix if name in table.columns else name
                columns[name] = type_.with_null(type_.null or how in ("left", "full")), [None if j is None else values[j] for _, j in pairs]
        return Table(columns, len(pairs))
    keys = ", ".join(a if a == b else f"{a} = {b}" for a, b in on_)
    options = f', how = "{how}"' if how != "inner" else ""
    options += f', suffix = "{suffix}"' if suffix != "_r" else ""
    options += ', expect = "one"' if expect else ""
    options += ', keys = "both"' if both else ""
    if condition is None:
        return simple(f"join({other_text}, on = ({keys}){options})", apply, "join", "join " + how)
    text = f"join({other_text}, " + (f"on = ({keys}), " if on_ else "")

    def rebuild(parts):
        return join(other_text, other, on_, how, suffix, expect, both, [e for _, e in parts])
    return Verb(text + "where = " + (" and ".join(e.text for e in condition) or "true") + options + ")", apply, [("", e) for e in condition], rebuild,
                ["join", "join " + how, "join where"])


def join_asof(other_text, other, left, right, by, within, direction, exact_):
    def apply(table):
        out = []
        for i in range(table.n):
            at, before, after = table.values(left)[i], None, None
            mine = tuple(key(table.values(b)[i]) for b in by)
            for j in range(other.n):
                there = other.values(right)[j]
                if None in (at, there) or is_nan(at) or is_nan(there) or any(k[0] != 0 for k in mine):
                    continue
                if mine != tuple(key(other.values(b)[j]) for b in by) or at == there and not exact_:
                    continue
                if within is not None and distance(at, there) > within:
                    continue
                if there < at or there == at and direction != "forward":
                    if before is None or there >= other.values(right)[before]:
                        before = j
                if there > at or there == at and direction == "forward":
                    if after is None or there < other.values(right)[after]:
                        after = j
            if direction == "nearest" and None not in (before, after):
                nearer = distance(at, other.values(right)[before]) <= distance(at, other.values(right)[after])
                before, after = (before, None) if nearer else (None, after)
            out.append({"backward": before, "forward": after}.get(direction, after if before is None else before))
        columns = dict(table.columns)
        for name, (type_, values) in other.columns.items():
            if name in by or name == right and left == right:
                continue
            name = name + "_r" if name in table.columns else name
            columns[name] = type_.with_null(), [None if j is None else values[j] for j in out]
        return Table(columns, table.n)
    options = f", by = {by[0]}" if len(by) == 1 else f", by = ({', '.join(by)})" if by else ""
    if within is not None:
        options += f", within = {within}" if table_kind(other, right) in ("i64", "f64") else f", within = microseconds({within})"
    options += f', direction = "{direction}"' if direction != "backward" else ""
    options += ", exact = false" if not exact_ else ""
    key_text = left if left == right else f"({left} = {right})"
    return simple(f"join_asof({other_text}, on = {key_text}{options})", apply, "join_asof", "join_asof " + direction)


def distance(a, b):
    """Of two numbers; infinities are far from all but themselves."""
    if math.isinf(a) or math.isinf(b):
        return 0 if a == b else math.inf
    return abs(exact(a) - exact(b))


def table_kind(table, name):
    return table.types()[name].kind


def value_counts(names):
    def apply(table):
        by = (table.keys or []) + names
        found = sorted(table.groups(by), key=lambda rows: ([key(table.values(n)[rows[0]]) for n in table.keys or []], -len(rows),
                                                           [key(table.values(n)[rows[0]]) for n in names]))
        columns = {n: (table.types()[n], [table.values(n)[rows[0]] for rows in found]) for n in by}
        columns["count"] = Type("i64"), [len(rows) for rows in found]
        return Table(columns, len(found))
    return simple(f"value_counts({', '.join(names)})", apply, "value_counts")


def complete(names):
    def apply(table):
        sets = [sorted({key(v): v for v in table.values(n)}.items(), key=lambda item: item[0]) for n in names]
        combos = [()]
        for values in sets:
            combos = [(*c, v) for c in combos for v in values]
        found = {}
        for i, k in enumerate(table.key_of(names)):
            found.setdefault(k, []).append(i)
        picks = [(c, i) for c in combos for i in found.get(tuple(k for k, _ in c), [None])]
        columns = {}
        for name, (type_, values) in table.columns.items():
            if name in names:
                columns[name] = type_, [c[names.index(name)][1] if i is None else values[i] for c, i in picks]
            else:
                columns[name] = type_.with_null(), [None if i is None else values[i] for _, i in picks]
        return Table(columns, len(picks))
    return simple(f"complete({', '.join(names)})", apply, "complete")


def unpivot(names, name, value):
    def apply(table):
        if any(not table.types()[n].same(table.types()[names[0]]) for n in names if table.values(n) is not None):
            raise Impossible
        kept = [n for n in table.columns if n not in names]
        columns = {n: (table.types()[n], [v for v in table.values(n) for _ in names]) for n in kept}
        columns[name] = Type("text"), names * table.n
        first = table.types()[names[0]]
        columns[value] = Type(first.kind, any(table.types()[n].null for n in names), first.levels, any(table.types()[n].approx for n in names)), [table.values(n)[i] for i in range(table.n) for n in names]
        return Table(columns, table.n * len(names))
    return simple(f"unpivot({', '.join(names)}, name = {name}, value = {value})", apply, "unpivot")


def pivot(by, value, into, how, dropped):
    """into: pairs (new name, value of `by`, its text)."""
    def apply(table):
        keys = table.keys if table.keys is not None else [n for n in table.columns if n not in (by, value)]
        if not keys:
            raise Impossible
        wanted = {key(v): k for k, (_, v, _) in enumerate(into)}
        known = [wanted.get(key(v)) for v in table.values(by)]
        if None in known and not dropped:
            raise Fault("E0644", "E0711", CELLS)
        of = table.types()[value] if table.values(value) is not None else None
        type_ = Type("i64" if how == "count" else "f64" if how == "mean" else of.kind, True, of.levels)
        columns = {n: (table.types()[n], []) for n in keys}
        columns.update({n: (type_, []) for n, _, _ in into})
        groups = table.groups(keys)
        groups = [rows for rows in groups if any(known[i] is not None for i in rows)]
        for rows in groups:
            for n in keys:
                columns[n][1].append(table.values(n)[next(i for i in rows if known[i] is not None)])
            for k, (n, _, _) in enumerate(into):
                cell = [table.values(value)[i] for i in rows if known[i] == k]
                if not how and len(cell) > 1:
                    raise Fault(CELLS)
                if how == "count":
                    result = sum(v is not None for v in cell) if cell else None
                elif how:
                    result = aggregate_of(how, of.kind)([v for v in cell if v is not None]) if cell else None
                else:
                    result = cell[0] if cell else None
                columns[n][1].append(result)
        return Table(columns, len(groups))
    shown = ", ".join(n if text is None else f"{n} = {text}" for n, _, text in into)
    option = ', unknown = "drop"' if dropped else ""
    return simple(f"pivot(name = {by}, value = {f'{how}({value})' if how else value}, into = ({shown}){option})", apply, "pivot")


def describe():
    def apply(table):
        out = {n: (Type(k, null, approx=n in ("type", "q25", "median", "q75")), []) for n, k, null in (
            ("column", "text", False), ("type", "text", False), ("count", "i64", False), ("nulls", "i64", False), ("distinct", "i64", True),
            ("mean", "f64", True), ("std", "f64", True), ("min", "text", True), ("q25", "f64", True), ("median", "f64", True),
            ("q75", "f64", True), ("max", "text", True))}
        for name, (type_, all_values) in table.columns.items():
            values = [v for v in all_values if v is not None]
            number = type_.kind[0] in "iuf"
            least, most = smallest(values), smallest(values, -1)
            row_ = [name, repr(type_), len(values), table.n - len(values), len({key(v) for v in values}),
                    mean_of(values) if number or type_.kind == "bool" else None, std_of(values) if number else None,
                    None if least is None or type_.kind == "bool" else text_of(least, type_.kind, type_.levels)]
            row_ += [quantile_of(values, q) if number else None for q in (0.25, 0.5, 0.75)]
            row_.append(None if most is None or type_.kind == "bool" else text_of(most, type_.kind, type_.levels))
            for (_, values_), v in zip(out.values(), row_):
                values_.append(v)
        return Table(out, len(table.columns))
    return simple("describe", apply, "describe")
