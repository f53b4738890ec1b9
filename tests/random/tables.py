"""Random tables and chains of verbs.

`columns` of a table: name -> type, with a "?" where null may stand. What always holds: integers in columns stay small,
so that no aggregate overflows; a chain ends in something shown.
"""
from arrays import Arrays

KEYS = ("i64", "text", "date", "bool", "i32")


class Tables(Arrays):
    grouped = False  # are column expressions made for a summarize?

    # -- expressions of columns, elementwise --
    def column(self, columns, *kinds):
        """A column of one of these types, or None."""
        found = [name for name, kind in columns.items() if kind in kinds]
        return self.pick(*found) if found else None

    def column_int(self, columns, depth=2):
        a = self.column(columns, "i64", "i32", "u8")
        if depth <= 0 or not a:
            if not a:
                return "row_number()"
            return a if columns[a] == "i64" else f"i64({a})"
        b = self.column_int(columns, depth - 1)
        null, text, when, real = (self.column(columns, kind) for kind in ("i64?", "text", "date", "f64"))
        forms = [lambda: f"({b} + {self.column_int(columns, depth - 1)}) % 1000", lambda: f"({b} * {self.number(-3, 9)}) % 1000",
                 lambda: f"{b} // {self.number(1, 5)}", lambda: f"if_else({self.column_test(columns, depth - 1)}, {b}, {self.column_int(columns, 0)})",
                 lambda: f"(if {self.column_test(columns, depth - 1)} {{ {b} }} else {{ {self.number(0, 9)} }})",
                 lambda: f"(match {b} {{ 0 => 1, 1..5 => {self.column_int(columns, 0)}, _ => {b} % 7 }})",
                 lambda: f"max({b}, {self.column_int(columns, depth - 1)})", lambda: f"abs({b})",
                 lambda: f"({b} - sum({self.column_int(columns, 0)} % 9)) % 1000"]
        if not self.grouped:
            forms.append(lambda: f"row_number() % {self.number(1, 9)}")
        if null:
            forms += [lambda: f"({null} ?? {b})"] * 2
        if text:
            forms += [lambda: f"n_chars({text})", lambda: f"(try_parse_i64({text}) ?? {b})"]
        if when:
            forms += [lambda: f"{self.pick('year', 'month', 'day', 'weekday')}({when})"]
        if real:
            forms += [lambda: f"round(clamp(if_else(is_nan({real}), 0.0, {real}), -99.0, 99.0))"]
        if self.faults and self.chance(0.2):
            return self.pick(f"({b} // {self.column_int(columns, 0)})", f"i64(i8({b}))", f"[3, 4, 5][{b}]", f"({b} ^ 8 * {b})")
        return self.pick(*forms)()

    def column_real(self, columns, depth=2):
        a = self.column(columns, "f64")
        if depth <= 0 or not a:
            return a or f"({self.column_int(columns, 0)} * 0.5)"
        b, null = self.column_real(columns, depth - 1), self.column(columns, "f64?")
        return self.pick(f"({b} * {self.column_int(columns, 1)})", f"({b} / 3)" if self.grouped or self.chance(0.5) else f"({b} - (mean({a}) ?? 0.0))",
                         f"sqrt(abs({b}))", f"({b} + random({self.number(0, 9)}))", f"if_else({self.column_test(columns, 1)}, {b}, -{a})",
                         f"({null} ?? {b})" if null else f"sin({b})", f"min({b}, {self.real(0)})", f"({a} - p2)")

    def column_test(self, columns, depth=1):
        real, text, flag, when, null = (self.column(columns, kind) for kind in ("f64", "text", "bool", "date", "i64?"))
        forms = [lambda: f"{self.column_int(columns, depth)} {self.pick('<', '==', '>=')} {self.column_int(columns, 0)}",
                 lambda: f"{self.column_int(columns, 0)} % 2 == {self.number(0, 1)}"]
        if real:
            forms += [lambda: f"{self.column_real(columns, depth)} > {self.pick('0.5', '10.0', '-3.0', 'p2')}"]
        if text:
            forms += [lambda: f'{text} {self.pick("==", "!=", "<")} "s{self.number(0, 3)}"', lambda: f'contains({text}, "1")']
        if flag:
            forms += [lambda: flag]
        if when:
            forms += [lambda: f'{when} > date("2024-0{self.number(1, 9)}-15")']
        if null:
            forms += [lambda: f"is_null({null})", lambda: f"(({null} > {self.number(0, 9)}) ?? {self.pick('true', 'false')})"]
        if depth > 0:
            forms += [lambda: f"(not ({self.column_test(columns, 0)}))",
                      lambda: f"({self.column_test(columns, 0)} {self.pick('and', 'or')} {self.column_test(columns, 0)})"]
        return self.pick(*forms)()

    def column_text(self, columns):
        text = self.column(columns, "text")
        if not text:
            return f'"c" + text({self.column_int(columns, 1)} % 3)'
        return self.pick(f"upper({text})", f'({text} + "z")', f"if_else({self.column_test(columns)}, {text}, \"s0\")",
                         f'(match {text} {{ "s1" => "one", _ => {text} }})', f"slice({text}, 0, 1)",
                         f'"{{{text}}}-{{{self.column_int(columns, 0)} % 3}}"')

    def column_any(self, columns):
        """(type, text) of a new column."""
        kind = self.pick("i64", "i64", "f64", "f64", "text", "bool", "i64?", "i64?", "date", "f64?")
        if kind == "i64":
            return kind, self.column_int(columns, 3)
        if kind == "f64":
            return kind, self.column_real(columns, 3)
        if kind == "text":
            return kind, self.column_text(columns)
        if kind == "bool":
            return kind, self.column_test(columns, 2)
        if kind == "date":
            when = self.column(columns, "date")
            if not when:
                return "f64", self.column_real(columns)
            return kind, self.pick(f"({when} + days({self.column_int(columns, 1)} % 100))", f'date_trunc("month", {when})',
                                   f"add_months({when}, {self.column_int(columns, 1)} % 12)")
        whole, null = self.column(columns, kind[:-1]), self.column(columns, kind)
        forms = []
        if whole:
            forms += [f"{self.pick('lag', 'lead')}({whole})", f"{self.pick('lag', 'lead')}({whole}, {self.number(0, 3)})",
                      f"if_else({self.column_test(columns)}, {whole}, null)"]
        if null:
            forms += [f"({null} * 2)", f"if_else({self.column_test(columns)}, {null}, {whole or null})", f"abs({null})",
                      f"({null} + {whole or null})"]
        if not forms:
            return "i64", self.column_int(columns, 2)
        text = self.pick(*forms)
        return kind, f"{text} % 1000" if kind == "i64?" else text

    # -- verbs: what they append, and the columns after --
    def verb(self, columns):
        new = dict(columns)
        if self.chance(0.25):
            found = self.shaping_verb(columns)
            if found:
                return found
        form = self.number(0, 15)
        names = list(columns)
        keys = [name for name in names if columns[name].rstrip("?") in KEYS]
        if form <= 1:
            return f"where({self.column_test(columns, 2)})", new
        if form <= 4:
            parts = {}
            for _ in range(self.number(1, 3)):
                kind, text = self.column_any(columns)
                parts[self.pick(self.fresh("c"), *names)] = kind, text
            new.update({name: kind for name, (kind, _) in parts.items()})
            return f"derive({', '.join(f'{name} = {text}' for name, (_, text) in parts.items())})", new
        if form == 5:
            by = [self.pick(f"{k}", f"desc({k})") for k in self.random.sample(names, min(len(names), self.number(1, 2)))]
            return f"sort({', '.join(by)})", new
        if form == 6:
            return self.pick(f"head({self.number(0, 20)})", f"tail({self.number(0, 9)})"), new
        if form == 7 and keys:
            return f"distinct({', '.join(self.random.sample(keys, min(len(keys), self.number(1, 2))))})", new
        if form in (8, 9) and keys:
            by = self.random.sample(keys, min(len(keys), self.number(1, 2)))
            real = self.column(columns, "f64")
            whole = self.column({n: k for n, k in columns.items() if n not in by}, "i64")
            inside = [f"head({self.number(0, 3)})"]
            if real and real not in by:
                inside += [f"derive({real} = {real} - mean({real}))", f"where({real} >= mean({real}) or is_nan({real}))",
                           f"derive({real} = {real} / (1 + abs(sum({real}))))"]
            if whole:
                inside += [f"derive({whole} = {whole} - min({whole}))", f"where({whole} == max({whole}))",
                           f"derive({whole} = count() + {whole} % 5)"]
            return f"group_by({', '.join(by)}) |> {self.pick(*inside)} |> ungroup", new
        if form in (10, 11) and "i64" in columns.values():
            key = self.column(columns, "i64")
            how = self.pick("inner", "left", "right", "full", "semi", "anti", "left")
            n, value = self.number(0, 6), self.fresh("z")
            other = (f"table({value}k = [for i in 0..{n}: i * {self.number(1, 3)} % {self.pick(4, 7)}], {value} = [for i in 0..{n}: i * 10], "
                     f"{value}t = [for i in 0..{n}: \"j{{i % 2}}\"])")
            optional = "" if how in ("inner", "right") else "?"
            if how not in ("semi", "anti"):
                if how in ("right", "full"):
                    new = {name: kind if kind[-1] == "?" or name == key else kind + "?" for name, kind in new.items()}
                new[value], new[value + "t"] = "i64" + optional, "text" + optional
            return f'join({other}, on = ({key} = {value}k), how = "{how}")', new
        if form == 12 and len(names) > 2:
            gone = self.pick(*names)
            del new[gone]
            return f"drop({gone})", new
        if form == 13:
            null = self.column(columns, "i64?", "f64?", "text?", "date?")
            if not null:
                return f"sample({self.number(0, 3) if self.faults else 0}, seed = {self.number(0, 9)})", new
            new[null] = columns[null][:-1]
            if columns[null] in ("i64?", "f64?") and self.chance(0.5):
                return f"fill_null({null} = {'7' if columns[null] == 'i64?' else '0.25'})", new
            return f"drop_null({null})", new
        if form == 14:
            old, name = self.pick(*names), self.fresh("c")
            return f"rename({name} = {old})", {name if n == old else n: kind for n, kind in columns.items()}
        kept = self.random.sample(names, self.number(1, len(names)))
        kind, text = self.column_any(columns)
        name = self.fresh("c")
        return f"select({', '.join(kept)}, {name} = {text})", {**{n: columns[n] for n in kept}, name: kind}

    def shaping_verb(self, columns):
        """A verb of sets of columns, or one that changes the shape; None: the columns are not there for it."""
        new, names = dict(columns), list(columns)
        whole = [name for name in names if columns[name] == "i64"]
        form = self.number(0, 6)
        if form == 0 and len(names) > 1:
            gone = self.random.sample(names, self.number(1, min(2, len(names) - 1)))
            return f"select(except({', '.join(gone)}))", {n: k for n, k in columns.items() if n not in gone}
        if form == 1 and whole:
            end = self.fresh("e")
            new.update({f"{name}{end}": "i64" for name in whole})
            return f'derive(each(({", ".join(whole)}), v => (v * {self.number(2, 5)} + count() - (min(v) ?? 0)) % 1000, name = "*{end}"))', new
        if form == 2 and whole:
            return f"where({self.pick('any', 'all')}(each(({', '.join(whole)}), v => v % {self.number(2, 4)} != 1)))", new
        if form == 3 and len(whole) > 1:
            turned = self.random.sample(whole, 2)
            name, value = self.fresh("c"), self.fresh("c")
            new = {n: k for n, k in columns.items() if n not in turned}
            return f"unpivot({', '.join(turned)}, name = {name}, value = {value})", {**new, name: "text", value: "i64"}
        if form == 4 and len(whole) > 1:
            by, value = self.random.sample(whole, 2)
            a, b = self.fresh("c"), self.fresh("c")
            new = {n: k for n, k in columns.items() if n not in (by, value)}
            how = self.pick("max", "min", "count", "first")
            return (f'pivot(name = {by} % 4, value = {how}({value}), into = ({a} = {self.number(0, 1)}, {b} = 2), unknown = "drop")',
                    {**new, a: "i64?", b: "i64?"})
        if form == 5 and whole:
            key, n, value = self.pick(*whole), self.number(0, 9), self.fresh("z")
            other = f"table({value}k = [for i in 0..{n}: i * 7 % {self.pick(4, 11)}], {value} = [for i in 0..{n}: i])"
            within = self.pick("", ", within = 2", ", exact = false")
            direction = self.pick("backward", "forward", "nearest")
            return (f'join_asof({other}, on = ({key} = {value}k), direction = "{direction}"{within})',
                    {**new, value + "k": "i64?", value: "i64?"})
        if form == 6 and whole:
            return f"sort(each(({', '.join(whole)}), v => -v))", new
        return None

    def summary(self, columns):
        """summarize with or without groups, shown as it is."""
        keys = [name for name in columns if columns[name].rstrip("?") in KEYS]
        by = self.random.sample(keys, self.number(0, min(2, len(keys))))
        parts = ["n_0 = count()"]
        for k, (name, kind) in enumerate((n, c) for n, c in columns.items() if n not in by):
            base = kind.rstrip("?")
            if base in ("i64", "f64"):
                parts.append(f"a_{k} = {self.pick('sum', 'mean', 'min', 'max', 'median', 'std', 'first', 'last', 'n_distinct', 'count', 'var')}({name})")
                if self.chance(0.2):
                    parts.append(f"q_{k} = quantile({name}, 0.25)")
            elif base == "bool":
                parts.append(f"a_{k} = {self.pick('any', 'all', 'count')}({name})" if kind == "bool" else f"a_{k} = first({name})")
            elif base in ("text", "date"):
                parts.append(f"a_{k} = {self.pick('first', 'last', 'n_distinct')}({name})")
        if self.chance(0.3) and self.column(columns, "i64"):
            self.grouped = True
            parts.append(f"m_0 = sum({self.column_int(columns, 2)})")
            self.grouped = False
        group = f"group_by({', '.join(by)}) |> " if by else ""
        return f"{group}summarize({', '.join(parts)})"

    def table(self):
        i, n, t = self.fresh("i"), self.pick(0, 1, 5, 12, 40, 300, 5000 if self.chance(0.2) else 12), self.fresh("t")
        names = [("i64", i, (0, max(n - 1, 0))), *self.many(n)]
        a, _, _ = self.inside(names, lambda: self.integer(2 if n < 1000 else 1))
        x = self.inside(names, lambda: self.real(2 if n < 1000 else 0))
        parts = {"ka": ("i64", f"({a}) % {self.number(1, 6)}"), "xa": ("f64", f"{x} + {i} * 0.125"),
                 "ia": ("i64", f"{i} * {self.number(1, 7)} % 11"), "sa": ("text", f'"s{{{i} % 4}}"'),
                 "na": ("i64?", f"if {i} % {self.number(2, 5)} == 0 {{ null }} else {{ {i} % 9 }}"),
                 "ba": ("bool", self.inside(names, lambda: self.boolean(1))),
                 "da": ("date", f'date("2024-01-31") + days({i} * {self.number(1, 9)} % 400)'),
                 "ua": ("i32", f"i32({i} % 5)")}
        kept = ["ka", "xa", "ia", "sa", *self.random.sample(["na", "ba", "da", "ua"], self.number(0, 3))]
        self.lines.append(f"let {t} = table({', '.join(f'{name} = [for {i} in 0..{n}: {parts[name][1]}]' for name in kept)})")
        columns = {name: parts[name][0] for name in kept}
        tables = [(t, columns)]

        def chain():
            for _ in range(self.number(1, 2)):
                source, columns = self.pick(*tables)
                verbs = []
                for _ in range(self.number(1, 4)):
                    text, columns = self.verb(columns)
                    verbs.append(text)
                name = self.fresh("t")
                if self.chance(0.2):
                    stage = self.fresh("s")
                    self.lines.append(f"stage {stage}(t: _[n]) = {' |> '.join(['t', *verbs])}")
                    self.lines.append(f"let {name} = {stage}({source})")
                else:
                    self.lines.append(f"let {name} = {' |> '.join([source, *verbs])}")
                tables.append((name, columns))

        self.alone([name for name in self.names if name[1] in ("p0", "p1", "p2", "t0")], chain)
        for name, columns in tables[1:]:
            self.lines.append(f"show({name})" if self.chance(0.6) else f"{name} |> {self.summary(columns)} |> show")
        name, columns = self.pick(*tables)
        if self.chance(0.25):
            part, seed = self.fresh("t"), self.number(0, 9)
            many = f"table({', '.join(f'{name} = [for {i} in 0..6: {parts[name][1]}]' for name in kept)})"
            self.lines.append(self.pick(
                f"let {part} = split({name}, {self.pick('0.8', '0.5', '0.0')}, seed = {seed})\nshow({part}.train)\nprint(len({part}.test))",
                f"let {part} = kfold(concat({t}, {many}), {self.number(2, 4)}, seed = {seed})\nshow([for f in {part}: len(f.train) - len(f.test)])\nshow({part}[0].test)",
                f"let {part} = split(concat({t}, {many}), {self.pick('0.7', '0.5')}, seed = {seed}, group = ka, stratify = sa)\nshow({part}.train)\nprint(len({part}.test))",
                f"show(sample({name}, len({name}) // 2, seed = {seed}))", f"show(concat({name}, {name} |> head(2)))",
                f"show([for r in {name} |> tail(3): r.{self.pick(*columns)}])",
                f"for r in {name} |> head(2) {{ print(len({name})) }}"))
        whole = [name for name, kind in columns.items() if kind == "i64"]
        if whole and self.chance(0.3):
            self.names.append(("i64[]", f"{name}.{self.pick(*whole)}", (-(2**40), 2**40, 50000)))
        numeric = [c for c, kind in columns.items() if kind in ("i64", "f64")]
        if numeric and self.chance(0.15):
            self.lines.append(f"show(sum(matrix({name}, {', '.join(numeric)}), axis = 0))")
