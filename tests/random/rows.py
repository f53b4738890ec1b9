"""Random programs of long arrays and tables whose rows are read by their own: what several ranks keep in parts.

Columns of one length are derived from each other, filtered, folded, read at neighbours and at any place, changed in
rounds, in branches, by functions and stages; tables are joined, sorted, grouped, given windows; loops of tasks read
blocks of rows, single rows, and have tasks of their own; what may be written over is handed on (row_reuse.py); texts, dates, decimals and nulls among them, as keys, too; with
`files` (row_files.py) rows come from files; with `faults` some element, some check of rows, or some task may fail.
usage: rows.py SEED [--faults] [--files]
"""
import random
import sys

from row_files import Files
from row_reuse import Reuse

SIZES = (0, 1, 2, 3, 5, 17, 64, 900, 4095, 4096, 4097, 8192, 9001, 20000)


class Rows(Files, Reuse):
    def __init__(self, seed, faults=False, files=False):
        self.draw = random.Random(seed)
        self.faults, self.files, self.lines, self.n = faults, files, [], 0
        self.spaces = []  # [{kind: [names]}] columns of one length, which some names stand for

    def fresh(self, letter):
        self.n += 1
        return f"{letter}{self.n}"

    def pick(self, *from_these):
        return self.draw.choice(from_these)

    def column(self, space, kind="f64"):
        return self.draw.choice(space[kind])

    # ---- elements ---------------------------------------------------------------------------------------

    def float_of(self, names, depth=2):
        """An f64 of f64 `names`, without a fault."""
        if depth == 0 or self.draw.random() < 0.2:
            return self.draw.choice([*names, f"{self.draw.uniform(-2, 2):.3f}"])
        a, b = self.float_of(names, depth - 1), self.float_of(names, depth - 1)
        return self.pick(f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"sin({a})", f"abs({a})", f"min({a}, {b})",
                         f"sqrt(abs({a}))", f"({a} / (1.5 + abs({b})))", f"if_else({a} > {b}, {a}, 0.25)")

    def int_of(self, names, index):
        a, k = self.draw.choice([*names, index]), self.draw.randrange(2, 30)
        if self.faults and self.draw.random() < 0.3:
            return self.pick(f"({index} * 7 // ({a} - {self.draw.randrange(40)}))", f"(1000 // ({index} - {self.draw.choice(SIZES)}))",
                             f"({a} * 3037000500 * ({index} + 1))")
        return self.pick(f"({a} % {k})", f"({a} // {k} + {index})", f"({k} - {a} % 11)", f"min({a}, {k})")

    def condition(self, f64s, i64s):
        return self.pick(f"{self.float_of(f64s, 1)} > {self.draw.uniform(-1, 1):.2f}", f"{self.draw.choice(i64s)} % {self.draw.randrange(2, 7)} != 1",
                         f"{self.draw.choice(i64s)} < {self.draw.choice(SIZES)}")

    # ---- statements -------------------------------------------------------------------------------------

    def source(self):
        n, seed = self.draw.choice(SIZES), self.draw.randrange(99)
        x, k, space = self.fresh("x"), self.fresh("k"), {"text": []}
        self.lines += [f"let {x} = [for i in 0..{n}: random({seed}, i) * 4.0 - 2.0]", f"let {k} = [for i in 0..{n}: i * {seed + 3} % 101]"]
        space.update({"f64": [x], "i64": [k]})
        self.spaces.append(space)

    def derive(self, space):
        x, y, k = self.column(space), self.column(space), self.column(space, "i64")
        if self.draw.random() < 0.4:
            name = self.fresh("k")
            self.lines.append(f"let {name} = [for i in 0..len({k}): {self.int_of([f'{k}[i]'], 'i')}]")
            space["i64"].append(name)
            return
        name = self.fresh("x")
        a, m, i = f"{x}[i]", self.fresh("m"), self.fresh("i")
        how = self.draw.randrange(8)
        if how == 0:
            self.lines.append(f"let {m} = sum({x}) / {self.draw.randrange(1, 9)}.0")
            value = f"[for i in 0..len({x}): {self.float_of([a, f'{y}[i]', m])}]"
        elif how == 1:
            value = f"[for i in 0..len({x}): {a} + {y}[max(i - {self.draw.randrange(1, 5)}, 0)]]"
        elif how == 2:
            value = f"[for i in 0..len({x}): {a} - {y}[(i * 13 + 5) % len({x})]]"
        elif how == 3:
            value = f"cumsum({x})"
        elif how == 4:
            self.lines += [f"var {m} = {x}", f"for {i} in 0..{self.draw.randrange(4)} {{ {m} = {m} * 0.5 + {y} }}"]
            value = m
        elif how == 5:
            value = f"(if sum({x}) > {self.draw.uniform(-9, 9):.1f} {{ {x} + {y} }} else {{ {y} }})"
        elif how == 6:
            value = self.pick(f"change({x}, {y})", f"change_kept({x}, {y})", f"{x}[argsort({y})]")
        else:
            value = f"{x} * {y} + 1.0"
        self.lines.append(f"let {name} = {value}")
        space["f64"].append(name)

    def text_of(self, v):
        """A text of an integer: of few different ones, of many, with much in common, empty now and then."""
        return self.pick(f'"v{{{v} % 7}}"', f'"v{{{v} % 7}}"', f'"v{{{v}}}"', f'"a long beginning that all have {{{v}}}"',
                         f'(if {v} % 5 == 2 {{ "" }} else {{ "größe {{{v} % 50}}" }})')

    def texts(self, space):
        k, name = self.column(space, "i64"), self.fresh("t")
        self.lines.append(f"let {name} = [for v in {k}: {self.text_of('v')}]")
        space["text"].append(name)

    def filtered(self, space):
        x, k, r = self.column(space), self.column(space, "i64"), self.fresh("x")
        keep = self.condition([f"{x}[i]"], [f"{k}[i]"])
        if self.draw.random() < 0.5:
            ks = self.fresh("k")
            self.lines += [f"let {r} = [for i in 0..len({x}) if {keep}: {self.float_of([f'{x}[i]'], 1)}]",
                           f"let {ks} = [for i in 0..len({r}): i * 3]"]
            self.spaces.append({"f64": [r], "i64": [ks], "text": []})
            return
        t, columns = self.fresh("w"), {"a": x, "b": k}
        if space["text"]:
            columns["c"] = self.column(space, "text")
        self.lines.append(f"let {t} = table({', '.join(f'{c} = {v}' for c, v in columns.items())}) |> where({self.condition(['a'], ['b'])})")
        self.spaces.append({"f64": [f"{t}.a"], "i64": [f"{t}.b"], "text": [f"{t}.c"] if "c" in columns else []})
        if self.draw.random() < 0.6:
            self.grouped(t, list(columns))

    def table_of(self, space):
        """A table with columns a and b, c where there are texts, and some that are derived: g, now and then d, when, price, some."""
        t, columns = self.fresh("q"), {"a": self.column(space), "b": self.column(space, "i64")}
        if space["text"]:
            columns["c"] = self.column(space, "text")
        nulls = ", d = if_else(b % 3 == 0, null, a * 0.5)" if self.draw.random() < 0.4 else ""
        columns.update({"g": "", "d": ""} if nulls else {"g": ""})
        if self.draw.random() < 0.3:
            nulls += ', when = date("2024-02-20") + days(b % 40), price = decimal(b % 1000, 2) * decimal("0.25")'
            columns.update({"when": "", "price": ""})
        if "c" in columns and self.draw.random() < 0.3:
            nulls += ", some = if_else(b % 4 == 1, null, c)"
            columns["some"] = ""
        self.lines.append(f"let {t} = table({', '.join(f'{c} = {v}' for c, v in columns.items() if v)}) |> derive(g = b % {self.pick(1, 2, 7, 50, 5000)}{nulls})")
        return t, columns, "d" in columns

    def becomes(self, t, columns):
        """Its columns are columns of other statements."""
        self.spaces.append({"f64": [f"{t}.a"], "i64": [f"{t}.b"], "text": [f"{t}.c"] if "c" in columns else []})

    def sorted_rows(self, space):
        t, columns, _ = self.table_of(space)
        keys = self.draw.sample(sorted(columns), self.draw.randrange(1, 3))
        s, by = self.fresh("s"), ", ".join(k if self.draw.random() < 0.6 else f"desc({k})" for k in keys)
        more = self.pick("", "", f" |> where({self.condition(['a'], ['b'])})", f" |> head({self.draw.choice((0, 1, 7, 5000))})",
                         f" |> top({self.draw.choice((1, 4, 60))}, by = a)", " |> distinct(g)", f" |> sample({self.draw.choice((0, 3, 100))}, seed = 4)")
        self.lines += [f"let {s} = {t} |> sort({by}){more}", f"print(\"{{len({s})}} {{sum(for i in 0..len({s}): {s}.a[i] * f64(i % 7))}}\")"]
        self.becomes(s, columns)

    def joined(self, space):
        t, columns, _ = self.table_of(space)
        other, u, j = self.draw.choice(self.spaces), self.fresh("u"), self.fresh("j")
        y, k = self.column(other), self.column(other, "i64")
        text = f", w = {self.column(other, 'text')}" if other["text"] and self.draw.random() < 0.5 else ""
        how = self.draw.choice(("", "", "left", "semi", "anti", "right", "full"))
        form = self.pick("distinct(g)", "distinct(g)", "where(g % 3 > 0) |> distinct(g)", "head(20)", "where(g < 9) |> distinct(g)")
        self.lines.append(f"let {u} = table(g = {k}, y = {y}{text}) |> {form}")
        self.lines.append(f"let {j} = {t} |> join({u}, on = g{f', how = {chr(34)}{how}{chr(34)}' if how else ''})")
        if text and how not in ("semi", "anti"):
            value = "v" if how in ("", "right") else '(v ?? "v3")'
            self.lines.append(f"print(count(for v in {j}.w: {value} == \"v3\"))")
        if how in ("right", "full"):
            self.lines.append(f"print(\"{{len({j})}} {{sum(for i in 0..len({j}): ({j}.a[i] ?? 0.5) * f64(i % 7))}} {{sum(for v in {j}.b: v ?? -1)}}\")")
            return
        self.lines.append(self.pick(f"print(\"{{len({j})}} {{sum({j}.a)}}\")", f"show({j} |> group_by(g) |> summarize(n = count(), s = sum(a)) |> head(5))",
                                    f"print(\"{{len({j})}} {{sum(for i in 0..len({j}): {j}.a[i] * f64(i % 7))}}\")", f"show({j} |> tail(2))"))
        self.becomes(j, columns)

    def taken(self, space):
        """Rows by numbers: of any place, of few places, now and then of none."""
        x, k, at = self.column(space), self.column(space, "i64"), self.fresh("p")
        keep = self.pick("", "", f" if {k}[i] % 5 == 1")
        past = " + 1" if self.faults and self.draw.random() < 0.2 else ""
        self.lines.append(f"let {at} = [for i in 0..len({x}){keep}: ({self.pick('i * 31 + 7', 'i', 'i // 3', f'{k}[i] % 50 * i', f'len({x}) - 1 - i')}) % (len({x}){past})]")
        made = {"f64": [self.fresh("x")], "i64": [self.fresh("k")], "text": []}
        self.lines += [f"let {made['f64'][0]} = {x}[{at}]", f"let {made['i64'][0]} = {k}[{at}]"]
        if space["text"]:
            made["text"].append(self.fresh("t"))
            self.lines.append(f"let {made['text'][0]} = {self.column(space, 'text')}[{at}]")
        self.spaces.append(made)

    def windows(self, space):
        t, columns, nulls = self.table_of(space)
        w = self.fresh("v")
        every = ["row_number()", "lag(a)", "lead(b, 2)", "cumsum(a)", "cumsum(b)", "rank(a)", "cummax(a)", "cummin(b)", "ntile(3)", "mean(a)", "count()", "a - mean(a)",
                 "rolling(a, 3, v => max(v) - min(v), min_periods = 1)"] + ["cumsum(d)"] * nulls
        some = self.draw.sample(every, self.draw.randrange(1, 4))
        before, by = self.pick(("", ""), ("", ", by = g"), ("sort(b, a) |> ", ""), ("sort(g, a) |> ", ", by = g"))
        if "c" in columns and self.draw.random() < 0.5:
            before, by = self.pick(("", ", by = c"), ("sort(c, a) |> ", ""), ("sort(c, b) |> ", ", by = c"), ("", ", by = (c, g)"))
        columns_made = ", ".join(f"w{i} = {x}" for i, x in enumerate(some))
        self.lines += [f"let {w} = {t} |> {before}derive({columns_made}{by})", f"show({w} |> tail(2))",
                       f"show({w} |> summarize(n = count(), {', '.join(f's{i} = sum(f64(w{i}))' for i in range(len(some)))}))"]
        self.becomes(w, columns)

    def tasks(self, space):
        """Loops whose elements are host code: blocks of rows, single rows, loops within."""
        x, k, name = self.column(space), self.column(space, "i64"), self.fresh("l")
        n, size, how = f"len({x})", self.pick(1, 3, 64, 1000, 4096), self.draw.randrange(7)
        size = f"({n} // 9 + {size})" if size < 64 else size
        block = f"{x}[b * {size}..min({n}, (b + 1) * {size})]"
        blocks = f"0..({n} + {size} - 1) // {size}"
        if how == 0:
            self.lines.append(f"let {name} = [for b in {blocks}: walk({block}, b)]")
        elif how == 1:
            self.lines.append(f"let {name} = [for b in {blocks}: sum({block}) + walk({block}, {self.pick('0', 'b')})]")
        elif how == 2:
            self.lines.append(f"let {name} = concat([for b in {blocks}: {self.pick(f'sort({block})', block, f'cumsum({block})')}])")
        elif how == 3:
            self.lines.append(f"let {name} = [for b in 0..5: sum([for c in 0..3: walk({x}, b * c)]) + {self.float_of([f'f64(b)'], 1)}]")
        elif how == 4:
            self.lines.append(f"let {name} = [for b in 0..min({n}, 12): walk([for i in 0..b + 2: {x}[(i * 7 + b) % {n}]], {k}[b])]")
        elif how == 5:
            self.lines.append(f"let {name} = [for b in 0..4: walk(walked({x}, b), b) + sum([for c in {blocks}: f64(c)])]")
        else:
            self.lines.append(f"let {name} = [for b in {blocks}: sum(change({block}, {block}))]")
        self.lines.append(f"print(\"{{len({name})}} {{sum({name})}}\")")

    def learned(self, space):
        """Of the library, what reads tall matrices by blocks, and checks their rows."""
        x, y, m = self.column(space), self.column(space), self.fresh("f")
        columns = self.draw.choice((1, 2, 5))
        bad = f"if i == {self.draw.choice(SIZES)} and j == 0 {{ nan }} else {{ " if self.faults and self.draw.random() < 0.4 else "if i < 0 { 0.0 } else { "
        fit = self.pick(f"print(linear.ridge({m}, {y}, lambda = 0.5).coefficients)", f"print(tall.moments({m}).variance)",
                        f"print(preprocess.standardise({m}).shift)", f"print(cluster.kmeans({m}, 2, seed = 3).inertia)")
        self.lines += [f"let {m} = [for i in 0..len({x}), j in 0..{columns}: {bad}{x}[i] * random(j, i) + f64(j) }}]",
                       f"if len({x}) > {columns + 2} {{ {fit} }}"]

    def checked(self, space):
        x, name = self.column(space), self.fresh("x")
        limit = f"{self.draw.uniform(1.0, 2.2):.2f}" if self.faults else "1e200"
        self.lines.append(f"let {name} = held({x}, {limit})")
        space["f64"].append(name)

    def joined_large(self, space):
        """Two tables of many rows, of which few are partners of one: by numbers, texts, dates, decimals, pairs of them, nulls."""
        other, u, j, t = self.draw.choice(self.spaces), self.fresh("u"), self.fresh("j"), self.fresh("q")
        x, k, y = self.column(space), self.column(space, "i64"), self.column(other)
        kinds = {"n": "@", "s": self.text_of("(@)"), "e": 'date("2024-02-20") + days((@) % 10000)', "p": 'decimal(@, 2) * decimal("0.25")'}
        keys = self.draw.sample(sorted(kinds), self.pick(1, 1, 2))
        left = self.pick(f"{k}[i] % 1000", f"(i * 13 + {k}[i] % 3) % (len({x}) + 1)")
        right = f"i * 7919 % (len({y}) + 3) // {self.pick(1, 2)}"
        some = lambda value, key: f"if_else(i % 6 == 1, null, {value})" if key in nulls else value
        nulls = set(keys) if self.draw.random() < 0.3 else set()
        columns = lambda value, n: ", ".join(f"{key} = [for i in 0..len({n}): {some(kinds[key].replace('@', value), key)}]" for key in keys)
        self.lines += [f"let {t} = table(a = {x}, b = {k}, {columns(left, x)})",
                       f"let {u} = table(y = {y}, {columns(right, y)})" + self.pick("", "", " |> where(y > -1)")]
        few = any('% 7' in kinds[key] or '% 50' in kinds[key] for key in keys)
        how = self.draw.choice(("", "left", "semi", "anti") if few else ("", "left", "semi", "anti", "right", "full"))
        on = keys[0] if len(keys) == 1 else f"({', '.join(keys)})"
        shape = f" |> distinct({', '.join(keys)})" if few else ""
        self.lines.append(f"let {j} = {t} |> join({u}{shape}, on = {on}{f', how = {chr(34)}{how}{chr(34)}' if how else ''})")
        a, y = f"({j}.a[i] ?? 0.5)" if how in ("right", "full") else f"{j}.a[i]", f"({j}.y[i] ?? 0.25)" if how in ("left", "full") else f"{j}.y[i]"
        self.lines.append(f"print(\"{{len({j})}} {{sum(for i in 0..len({j}): {a} * f64(i % 7))}} "
                          + ("\")" if how in ("semi", "anti") else f"{{sum(for i in 0..len({j}): {y} * f64(i % 5))}}\")"))
        if how not in ("right", "full"):
            self.becomes(j, {})

    def grouped(self, table, columns):
        """Groups of its rows, by numbers or texts, with aggregates that have states and some that have none."""
        keys = self.draw.sample(["g", "c"], self.draw.randrange(1, 3)) if "c" in columns else ["g"]
        keys += self.draw.choice((["a"], ["d"])) if self.draw.random() < 0.25 else []  # of which nearly each row has its own
        keys += self.draw.choice((["when"], ["price"], ["id"], ["some"])) if self.draw.random() < 0.25 else []
        every = ["count()", "sum(a)", "mean(a)", "max(a)", "min(b)", "sum(b)", "first(a)", "last(b)", "mean(b)", "sum(d)", "mean(d)", "count(d)", "min(d)",
                 "any(a > 1)", "mean(a > 0)", "sum(price)", "max(price)", "min(when)", "last(id)", "min(some)"] + ["first(c)", "max(c)"] * ("c" in columns)
        some = self.draw.sample(every, self.draw.randrange(1, 6)) + (["median(a)"] if self.draw.random() < 0.1 else [])
        some += ["sum(b * 3037000500 * 3037000499)"] if self.faults and self.draw.random() < 0.2 else []
        by = self.draw.choice((1, 2, 5, 40, 10**6))
        group = f"group_by({', '.join(keys)}) |> " if self.draw.random() < 0.75 else ""
        self.lines.append(f"let {table}g = {table} |> derive(g = b % {by}, d = if_else(b % 3 == 0, null, a * 0.5), when = date(\"2024-02-20\") + days(b % 40), price = decimal(b % 1000, 2), "
                          f"id = \"{{b}} of {{a}}\", some = if_else(b % 4 == 1, null, \"{{b % 77}}\")) |> {group}"
                          f"summarize({', '.join(f'v{i} = {x}' for i, x in enumerate(some))})")
        self.lines += [f"show({table}g)", f"print(len({table}g))"]

    def matrix(self, space):
        x, m, c = self.column(space), self.fresh("m"), self.draw.choice((1, 2, 3, 8, 50))
        self.lines.append(f"let {m} = [for i in 0..len({x}), j in 0..{c}: {x}[i] * f64(j + 1)]")
        self.lines.append(self.pick(f"print(sum({m}))", f"print([for i in 0..len({x}): sum({m}[i, :])] |> sum)", f"print(sum({m}, axis = 0))",
                                    f"print(sum({m} * {m}) + sum(for i in 0..len({x}), j in 0..{c}: {m}[i, j] * {x}[i]))", f"print({m}' @ {m})",
                                    f"print(sum({m} @ [for i in 0..{c}, j in 0..3: random(i, j)], axis = 0))", f"print({m}' @ {x})",
                                    f"print({m}' @ ({m} @ [for i in 0..{c}, j in 0..2: random(i, j) - 0.5]))"))

    def beside(self, space):
        """Columns side by side: products, rows by their numbers, the nearest centers."""
        t, _, _ = self.table_of(space)
        m, n = self.fresh("m"), f"len({t})"
        self.lines += [f"let {m} = matrix({t} |> derive(h = f64(g) * 0.5), a, h)",
                       self.pick(f"print(sum({m} @ [0.5, -1.25]))", f"print({m}' @ {t}.a)", f"print(sum({m}, axis = 0))", f"print({m}' @ {m})",
                                 f"print(sum(for i in 0..{n}: {m}[i * 7 % {n}, i % 2]))", f"print(sum([for i in 0..{n}: sum({m}[i, :])]))",
                                 f"print(sum(nearest_centers({m}, [[0.0, 0.5], [1.0, 2.0]]).label))",
                                 f"if {n} > 5 {{ print(cluster.kmeans({m}, 3, seed = 4, iters = 5).centers) }}")]

    def trained(self, space):
        """Sums of gradients of shards, behind the program where there is a delay."""
        x, y, f = self.column(space), self.column(space), self.fresh("f")
        d, shards, delay, batch = self.pick(1, 3, 40), self.pick(1, 2, 3, 5), self.pick(0, 1, 2), self.pick(4, 9, 20)
        way = self.pick("sgd", "adam_batches")
        self.lines.append(f"if len({x}) > 3 {{ let {f} = optim.{way}((w, b) => cost(w, {x}[b.rows], {y}[b.rows], b.seed), [for i in 0..{d}: 0.1], min(len({x}), 70), "
                          f"epochs = 2, batch = {batch}, rate = 0.01, seed = 3, shards = {shards}, delay = {delay})\n  print(\"{{{f}.x}} {{{f}.losses}}\") }}")

    def said(self, space):
        x, k = self.column(space), self.column(space, "i64")
        ways = [f"sum({x})", f"sum(for v in {x}: v * v)", f"sum({k})", f"count(for v in {x} if v > 0.1: v > 0)", f"len({x})", f"any({x} > 1.9)",
                f"sum(for i in 0..len({x}) if {k}[i] % 2 == 0: {x}[i] * 1.5)", f"sum({x}[{k} % 3 == 0])", f"fold((s, v) => 0.5 * s + v, 0.0, {x})"]
        if self.faults or self.draw.random() < 0.3:
            ways += [f"(if len({x}) > 0 {{ max({x}) + min({x}) }} else {{ 0.0 }})", f"(if len({x}) > 2 {{ {x}[1] + {x}[-1] }} else {{ 0.0 }})",
                     f"(if len({x}) > 0 {{ argmax({x}) }} else {{ -1 }})"]
        if space["text"]:
            t = self.column(space, "text")
            ways += [f"count(for v in {t}: v == \"v3\")", f"sum(for v in {t}: n_chars(v))"]
        for _ in range(self.draw.randrange(1, 3)):
            self.lines.append(f"print({self.draw.choice(ways)})")
        if self.draw.random() < 0.25:
            self.lines.append(f"print({x})")

    def program(self):
        self.lines += ["import cluster, linear, optim, preprocess, tall",
                       "fn cost(w: f64[d], x: f64[n], y: f64[n], seed: i64) -> f64 = mean([for i in 0..n: (x[i] * w[i % d] - y[i])^2]) + random(seed, 0) * w[0]", "fn change(x: f64[n], y: f64[n]) -> f64[n] { let m = sum(x)", "  [for i in 0..n: x[i] * m - y[i]] }",
                       "stage change_kept(x: f64[n], y: f64[n]) -> f64[n] = [for i in 0..n: x[i] + y[i] * y[i]]",
                       "fn walk(x: f64[n], b: i64) -> f64 { var s = f64(b)", "  for i in 0..n { s = s * 0.5 + x[i] }",
                       '  assert s < 3.9, "{s} at {b} of {n}"' if self.faults and self.draw.random() < 0.3 else "", "  s }",
                       "stage walked(x: f64[n], b: i64) -> f64[n] = cumsum([for i in 0..n: x[i] + f64(b)])",
                       "fn both(x: f64[n], s: f64) { let y = [for v in x: v * 0.5 + s]", "  (y, sum(y) * 0.125) }",
                       "fn held(x: f64[n], limit: f64) -> f64[n] = if all(for i in 0..n: abs(x[i]) <= limit) { x } else {",
                       "  let at = argmax(for i in 0..n: if abs(x[i]) <= limit { 0 } else { 1 })",
                       "  error(\"row {at} of {n} is {x[at]}; the last is {x[n - 1]}, in order {sort(x)[0]}\") }"]
        self.source()
        for _ in range(self.draw.randrange(6, 16)):
            space = self.draw.choice(self.spaces)
            form = self.draw.choices((self.source, self.derive, self.texts, self.filtered, self.matrix, self.said, self.sorted_rows, self.joined,
                                      self.windows, self.tasks, self.learned, self.checked, self.taken, self.joined_large, self.beside, self.trained,
                                      self.reused, self.products, self.file_rows, self.file_groups),
                                     (2, 12, 3, 6, 3, 6, 4, 3, 2, 4, 1, 2, 3, 3, 1, 1, 6, 1, 2 * self.files, 2 * self.files))[0]
            form() if form in (self.source, self.file_rows, self.file_groups) else form(space)
        for space in self.spaces:
            self.said(space)
        return "\n".join(self.lines) + "\n"


def script(seed, faults=False, files=False):
    return Rows(seed, faults, files).program()


if __name__ == "__main__":
    sys.stdout.write(script(int(sys.argv[1]), "--faults" in sys.argv, "--files" in sys.argv))
