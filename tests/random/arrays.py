"""Random expressions and statements of arrays, matrices and lists.

What is known of an array "i64[]": (lowest, highest, most elements); of a matrix "i64[,]": (lowest, highest, rows,
columns), sizes that the text of the program shows; of a list "list": (lowest, highest, elements, most in one).
"""
from scalars import Scalars


class Arrays(Scalars):
    def body(self, names, depth, kind="i64"):
        """An element of a comprehension: small bounds."""
        made = self.inside(names, lambda: self.integer(depth, kind))
        return self.small(made) if kind == "i64" else made

    def int_array(self, depth, kind="i64"):
        """(text, low, high, most elements)"""
        arrays = self.known(kind + "[]")
        form = self.number(0, 15)
        if not arrays or form <= 3 or depth <= 0:
            if kind == "i64" and self.chance(0.06):
                return self.long_array()
            text, names, most, rank = self.generators(depth - 1)
            body, low, high = self.body(names, depth, kind)
            return f"[for {text}{' if true' if rank > 1 else ''}: {body}]", low, high, most
        _, a, (low, high, size) = self.pick(*arrays)
        if form == 4:
            if kind != "i64":
                by = f"{kind}({self.number(2, 9)})"
                return (f"({a} - {a} % {by})" if low >= 0 else f"({a} // {by})"), min(low, 0), high, size
            b, bl, bh = self.integer(depth - 1)
            most = 3 * max(abs(low), abs(high))
            made = self.held(f"({a} * {self.number(-3, 3)} + {b})", bl - most, bh + most)
            return (*self.small(made), size) if made else (a, low, high, size)
        if form == 5:
            return f"{a}[{a} > {self.integer(depth - 1, kind)[0]}]", low, high, size
        if form == 6 and kind == "i64":
            return f"{a}[{a} % {self.number(2, 4)} == 0 or {a} < {self.integer(depth - 1)[0]}]", low, high, size
        if form == 7 and kind == "i64":
            b, bl, bh = self.small(self.integer(depth - 1))
            return (f"if_else({a} > {b}, {a} // 2, {b} - {a} % 7)", min(low // 2, bl - 6), max(high // 2, high, bh), size)
        if form == 8 and kind == "i64":
            b, bl, bh = self.small(self.integer(depth - 1))
            return (f"(match {a} {{ 0 => {b}, 1..9 => {a} - 1, _ => {a} % 5 }})", min(bl, 0), max(bh, 9), size)
        if form == 9:
            if self.faults and self.chance(0.5):
                return f"{a}[{self.number(0, 3)}..{self.number(3, 9)}]", low, high, size
            return self.pick(f"{a}[len({a}) // 3..len({a})]", f"{a}[..len({a}) // 2]", f"{a}[len({a}) // 2..]"), low, high, size
        if form == 10 and kind == "i64":
            # Of one length with a: a comprehension over its positions.
            i = self.fresh("i")
            body, bl, bh = self.body([("i64", i, (0, max(size - 1, 0))), *self.many(size)], depth - 1)
            made = self.held(f"({a} + [for {i} in 0..len({a}): {body}])", low + bl, high + bh)
            return (*self.small(made), size) if made else (a, low, high, size)
        if form == 11 and kind == "i64" and high <= 2**40:
            return f"cumsum({a})", min(low * size, low), max(high * size, high), size
        if form == 12:
            _, b, (bl, bh, more) = self.pick(*arrays)
            return f"concat({a}, {b})", min(low, bl), max(high, bh), size + more
        if form == 13 and kind == "i64":
            i = self.fresh("i")
            body = self.inside([("i64", i, (low, high)), *self.many(size)], lambda: self.boolean(depth - 1))
            return f"[for {i} in {a} if {body}: {i} // {self.number(1, 3)}]", min(low, 0), max(high, 0), size
        if form == 14 and kind == "i64" and self.known("list"):
            _, l, (low, high, count, most) = self.pick(*self.known("list"))
            if self.chance(0.5):
                return f"{l}[{self.number(0, count - 1)}]", low, high, most
            v = self.fresh("l")
            return f"[for {v} in {l}: sum({v}) + len({v})]", min(low, 0) * most, max(high, 1) * most + most, count
        if form == 15 and kind == "i64" and self.known("i64[,]"):
            _, m, (low, high, rows, columns) = self.pick(*self.known("i64[,]"))
            if self.chance(0.4):
                return f"{m}[{self.number(0, rows - 1)}, :]", low, high, columns
            if self.chance(0.5):
                return f"{m}[:, {self.number(0, columns - 1)}]", low, high, rows
            return f"max({m}, axis = 0)", low, high, columns
        return f"{a}[argsort({a})]", low, high, size

    def long_array(self):
        """More than one partition."""
        i, n, by = self.fresh("i"), self.pick(4095, 4097, 9001, 20000), self.number(2, 1000)
        if self.chance(0.3):
            return f"[for {i} in 0..{n} if {i} % {by} != {self.number(0, 1)}: {i} % 1009]", 0, 1008, n
        cheap = self.pick(f"{i} * {by} % 1009", f"random_int({by}, -9, 10, {i})", f"({i} - p0) // {by}")
        return f"[for {i} in 0..{n}: {cheap}]", -30000, 30000, n

    def real_array(self, depth):
        arrays, whole, single = self.known("f64[]"), self.known("i64[]"), self.known("f32[]")
        form = self.number(0, 8)
        if form <= 3 and arrays:
            a = self.pick(*arrays)[1]
            i = self.fresh("i")
            return self.pick(f"({a} * {self.real(1)} - {self.real(1)})", f"sqrt(abs({a}) + 1)", f"({a} + sin({a}) / 3)",
                             f"if_else({a} > {self.real(1)}, {a}, -{a} / 2)", f"{a}[{a} < {self.real(1)}]",
                             f"clamp({a}, -1.0, 2.5)", f"cumsum({a})", f"({a} - [for {i} in 0..len({a}): random(3, {i})])",
                             f"{a}[argsort({a})]", f"{a}[len({a}) // 2..]", f"concat({a}, [0.5], {a})",
                             f"({a} * {a} - {a})", f"[for {i} in {a} if {i} > 0.25: {i} * 2]",
                             f"if_else({a} > 0.5, {a} / 3, {self.real(1)})", f"(exp(clamp({a}, -9.0, 9.0)) + {a})",
                             f"max({a}, {self.real(0)})")
        if form == 4 and whole:
            return f"({self.pick(*whole)[1]} * {self.pick('0.5', 'p2', '1.25')})"
        if form == 5 and single:
            return f"({self.pick(*single)[1]} + f64(0.1))"
        size = self.pick(0, 1, 7, 33, 100, 100, 4099, 9001)
        i = self.fresh("i")
        body = self.inside([("i64", i, (0, size))], lambda: self.real(2 if size <= 100 else 1))
        if size > 100:
            return f"[for {i} in 0..{size}: random({self.number(0, 9)}, {i}) - p2 * {i}]"
        return f"[for {i} in 0..{size}: {body} + {i} * 0.25]"

    def single_array(self, depth):
        arrays = self.known("f32[]")
        if arrays and self.chance(0.5):
            a = self.pick(*arrays)[1]
            return self.pick(f"({a} * {a} + p6)", f"({a} / 3)", f"{a}[{a} > 0.5]", f"sqrt(abs({a}))", f"-{a}",
                             f"if_else({a} < p6, {a}, p6)", f"f32({a} * 0.1)", f"cumsum({a})", f"{a}[argsort({a})]")
        i, size = self.fresh("i"), self.pick(0, 3, 40, 5000)
        if size > 100:
            return f"[for {i} in 0..{size}: f32(random({self.number(0, 9)}, {i})) * p6]"
        body = self.inside([("i64", i, (0, size))], lambda: self.single(2))
        return f"[for {i} in 0..{size}: {body} + f32({i})]"

    def text_array(self, depth):
        arrays = self.known("text[]")
        i = self.fresh("i")
        if arrays and self.chance(0.6):
            a = self.pick(*arrays)[1]
            w = self.words(1)
            return self.pick(f"upper({a})", f"({a} + {w})", f"{a}[{a} > {w}]", f"{a}[argsort({a})]",
                             f"if_else({a} == {w}, {w}, {a})", f"concat({a}, [{w}])", f"replace({a}, \"a\", {w})",
                             f"[for {i} in 0..len({a}): {a}[{i}] + \"{{{i}}}\"]", f"slice({a}, 0, {self.number(1, 5)})",
                             f"[for {i} in {a} if contains({i}, \"a\"): {i} + \"!\"]")
        n = self.pick(0, 3, 9, 9, 4100)
        if n > 100:
            return f"[for {i} in 0..{n}: \"n{{{i} % 7}}\" + t0]"
        return f"[for {i} in 0..{n}: {self.inside([('i64', i, (0, n))], lambda: self.words(2))}]"

    def null_array(self, depth):
        """i64? values."""
        arrays = self.known("i64?[]")
        if arrays and self.chance(0.6):
            a = self.pick(*arrays)[1]
            return self.pick(f"({a} * 2)", f"({a} + {self.number(0, 9)})", f"if_else(({a} > 3) ?? false, {a}, {self.number(0, 9)})",
                             f"{a}[is_null({a})]", f"concat({a}, {a})", f"{a}[argsort({a})]", f"{a}[({a} < 5) ?? true]",
                             f"abs({a})", f"{a}[len({a}) // 2..]")
        i, n = self.fresh("i"), self.number(0, 9)
        body = self.inside([("i64", i, (0, n))], lambda: f"({self.nullable(1)[0]}) % 1000")
        return f"[for {i} in 0..{n}: {body}]"

    # -- matrices --
    def matrix_value(self, depth):
        """(text, low, high, rows, columns)"""
        known = self.known("i64[,]")
        if known and self.chance(0.7):
            _, w, (low, high, n, m) = self.pick(*known)
            form = self.number(0, 9)
            row, column = self.number(0, n - 1), self.number(0, m - 1)
            if form == 0:
                return f"{w}'", low, high, m, n
            if form == 1:
                return f"{w}[{row}..{n}, {column}..{m}]", low, high, n - row, m - column
            if form == 2:
                return f"({w} % 10 - {w}[{row}, :] % 7)", -15, 15, n, m
            if form == 3:
                return f"({w}' @ {w})" if max(-low, high) < 10**6 else f"({w}' % 9 @ ({w} % 9))", -(10**15), 10**15, m, m
            if form == 4:
                return f"{w}[[{', '.join(str(self.number(0, n - 1)) for _ in range(3))}], :]", low, high, 3, m
            if form == 5:
                return f"concat({w}, {w}[{row}..{n}, :])", low, high, 2 * n - row, m
            if form == 6:
                return f"reshape({w}, {m}, {n})", low, high, m, n
            if form == 7:
                i = self.fresh("i")
                return f"[for {i} in 0..{n}: {w}[{n - 1} - {i}]]", low, high, n, m
            if form == 8:
                return f"{w}[{row}..]", low, high, n - row, m
            return f"if_else({w} > {self.number(-3, 9)}, {w} % 11, {w}[:, {column}][:, new] // 2)", min(low, 0), max(high, 10), n, m
        i, j, n, m = self.fresh("i"), self.fresh("j"), self.number(1, 7), self.number(1, 7)
        names = [("i64", i, (0, n - 1)), ("i64", j, (0, m - 1))]
        body, low, high = self.body(names, depth)
        if self.chance(0.3):
            return f"[for {i} in 0..{n}: [for {j} in 0..{m}: {body}]]", low, high, n, m
        return f"[for {i} in 0..{n}, {j} in 0..{m}: {body}]", low, high, n, m

    def matrix(self):
        for _ in range(self.number(1, 3)):
            text, *known = self.matrix_value(2)
            name = self.fresh("w")
            self.lines.append(f"let {name} = {text}")
            self.names.append(("i64[,]", name, tuple(known)))
        _, name, (_, _, n, m) = self.pick(*self.known("i64[,]"))
        row, column = self.number(0, n - 1), self.number(0, m - 1)
        self.lines.append("show(" + self.pick(
            f"{name}'", f"sum({name}, axis = {self.number(0, 1)})", f"{name}[{row}, :]", f"{name}[:, {column}]",
            f"{name} - {name}[{row}, :]", f"max({name}, axis = 0)", f"{name}[{row}..{n}, 0..{column}]",
            f"mean({name}, axis = 1)", f"{name} / (abs(sum({name} % 100, axis = 1)) + 1)[:, new]",
            f"({name} % 100) @ ({name}[{row}, :] % 100)", f"argmax({name}, axis = 1)",
            f"f64({name} % 50)' @ f64({name} % 50)", f"min({name}[:, new, :] - {name}[new, :, :], axis = 2)",
            f"[for r in {name}: max(r)]", f"any({name} > 3, axis = 0)") + ")")

    # -- several reductions of one array --
    def reductions(self):
        i, x, n = self.fresh("i"), self.fresh("x"), self.pick(1, 5, 33, 100, 4096, 5000, 9001)
        kind = self.pick("i64", "f64", "f64", "f32", "i32", "u8")
        real = self.pick(f"random(3, {i}) - 0.5", f"{i} * 0.1 - 40.0", f"if {i} % 7 == 3 {{ nan }} else {{ random_normal(1, {i}) }}",
                         f"if {i} % 5 == 2 {{ -0.0 }} else {{ 0.0 }}", f"1.0 / ({i} % 9 - 4)")
        body = {"i64": self.pick(f"{i} * 7 % 13 - 6", f"random_int(1, -1000, 1000, {i})", f"wrap_mul({i}, 7046029254386353131) // 65536"),
                "f64": real, "f32": f"f32({real})", "i32": f"i32({i} * 31 % 97 - 50)", "u8": f"u8({i} * 31 % 256)"}[kind]
        self.lines.append(f"let {x} = [for {i} in 0..{n}: {body}]")
        parts = []
        for _ in range(self.number(2, 6)):
            v = self.fresh("v")
            scope = [("i64", v, (-(2**47), 2**47))] if kind == "i64" else [("f64", f"f64({v})", None)]
            test = self.inside(scope, lambda: self.boolean(1))
            small = f"{v} % 1000" if kind in ("i64", "i32") else v
            parts.append(self.pick(
                f"{self.pick('sum', 'min', 'max', 'mean')}({x})", f"{self.pick('argmin', 'argmax')}({x})", f"count(for {v} in {x}: {test})",
                f"{self.pick('any', 'all')}(for {v} in {x}: {test})", f"sum(for {v} in {x} if {test}: {small})",
                f"sum(for {v} in {x}: {v} * f64({v}))", f"{self.pick('min', 'max')}(for {v} in {x}: f64({v}) * 0.5)",
                f"sum(for {i} in 0..len({x}): {x}[{i}] * 0.25)", f"{self.pick('argmin', 'argmax')}(for {v} in {x}: -f64({v}))",
                f"sum(for {i} in 0..len({x}) - 1: f64({x}[{i}]) - {x}[{i} + 1])", f"product(for {v} in {x}: f64({v}) + 0.5)",
                f"mean(for {v} in {x}: {v} * 2.0)", f"sum(f64({x}) * {x})"))
            if self.faults and self.chance(0.3):
                parts[-1] = f"{self.pick('min', 'max', 'mean', 'argmax')}(for {v} in {x} if {test}: {v})"
        self.lines.append(f"print({', '.join(parts)})")

    # -- lists --
    def list_of_arrays(self):
        k, i = self.fresh("k"), self.fresh("i")
        count, most = self.number(1, 4), self.number(1, 6)
        scope = [("i64", k, (0, count - 1)), ("i64", i, (0, most))]
        body, low, high = self.body(scope, 2)
        size = self.inside(scope[:1], lambda: f"({self.integer(1)[0]}) % {most}")
        name = self.fresh("l")
        kept = f" if {i} != {self.number(0, 3)}" if self.chance(0.4) else ""
        self.lines.append(f"let {name} = [for {k} in 0..{count}: [for {i} in 0..{size}{kept}: {body}]]")
        self.names.append(("list", name, (low, high, count, most)))
        v = self.fresh("l")
        self.lines.append(self.pick(
            f"show({name})", f"show([for {v} in {name}: sum({v})])", f"for {v} in {name} {{ show({v}) }}",
            f"show(concat({name}[0], {name}[{count - 1}]))", f"show([for {v} in {name}: {v} * 2])",
            f"show([for {v} in {name}: (n = len({v}), v = {v})])", f"print(len({name}), sum({name}[0]))",
            f"show([for {v} in {name} if len({v}) > 1: len({v})])"))

    # -- functions that change arrays in place --
    def changing_function(self):
        """Arrays and a matrix that are views and copies of each other, changed element by element."""
        name, i = self.fresh("g"), self.fresh("i")
        n = self.number(2, 6)
        arrays = ["a", "b", "c"]

        def value():
            scope = [("i64", "k", (0, n - 1)), ("i64", f"{self.pick(*arrays)}[k]", (-999, 999)),
                     ("i64", f"{self.pick(*arrays)}[n - 1 - k]", (-999, 999)), ("i64", "m[k, 0]", (-999, 999))]
            if self.chance(0.3):
                scope.append(("i64[]", self.pick(*arrays), (-999, 999, n)))
            return f"({self.inside(scope, lambda: self.integer(2)[0])}) % 1000"

        def statement(depth=2):
            x, y = self.pick(*arrays), self.pick(*arrays)
            form = self.number(0, 14)
            if form <= 4:
                return f"{x}[k] = {value()}"
            if form == 5:
                return f"{x} = {y}"
            if form == 6:
                return f"m[k, {self.number(0, n - 1)}] = {value()}"
            if form == 7:
                return self.pick(f"{x} = m[k, :]", f"{x} = m[:, k]", f"{x} = m[{self.number(0, n - 1)}]")
            if form == 8:
                return self.pick("m = m'", f"m = m - {x} % 10", f"m = [for u in 0..n, v in 0..n: m[v, u] - {x}[u] % 100]")
            if form == 9:
                return f"{x} = ({y} + {value()}) % 1000"
            if form == 10:
                return f"{x} = {y}[argsort({y})]"
            if form == 11 and depth:
                return f"if {x}[k] > {self.number(-5, 20)} {{ {statement(0)} }} else {{ {statement(0)} }}"
            if form == 12 and depth:
                return f"for k in 0..n {{ {statement(0)} }}"
            if form == 13 and depth:
                return f"if {self.inside([('i64', 'k', (0, n - 1))], lambda: self.boolean(1))} {{ {self.pick('break', 'continue')} }}"
            return f"{x}[{self.pick('0', '-1', 'n - 1 - k')}] += {self.pick('k', '1', f'{y}[0] % 9')}"

        def make():
            lines = [f"  var a = [for u in 0..n: ({self.body([('i64', 'u', (0, n - 1)), ('i64', 'q', (0, 49))], 1)[0]}) % 1000]",
                     f"  var b = {self.pick('a', 'a * 2 % 1000', '[for u in 0..n: u]')}", f"  var c = {self.pick('a', 'b', 'a[argsort(a)]')}",
                     f"  var m = {self.pick('[for u in 0..n, v in 0..n: u * n + v]', '[for u in 0..n, v in 0..n: (a[u] - b[v]) % 100]')}"]
            lines.append("  for k in 0..n {")
            lines += [f"    {statement()}" for _ in range(self.number(2, 5))]
            lines.append("  }")
            if self.chance(0.5):
                lines += ["  var k = 0", "  while k < n {", f"    {statement(0)}", "    k += 1", "  }"]
            lines.append(f"  {self.pick('a', 'a + b', 'concat(a, b, c)', 'a - c + m[0, :]', 'concat(c, m[:, 0], m[1, :])')}")
            return lines

        body = self.alone([("i64", "q", (0, 49)), ("i64", "n", (n, n))], make)
        self.lines.append(f"fn {name}(n: i64, q: i64) -> i64[_] {{\n" + "\n".join(body) + "\n}")
        self.lines.append(f"show({name}({n}, ({self.integer(1)[0]}) % 50))")
        if self.chance(0.3):
            self.lines.append(f"show([for {i} in 0..4: sum({name}({n}, {i}))])")
