"""Statements of programs of rows (rows.py) whose arrays may be written over: elements of lists that tasks made, of which each rank made
some and was sent the others; tuples of arrays; what rounds carry, assign elements of, sort, take, multiply and hand on; and
results of products, sorts, stages and branches that are whole at each rank and may go on in parts.
"""


class Reuse:
    """Of a class that draws, as rows.py has it."""

    def made(self, x, y, k):
        """An array of as many rows as x, which may be x, that is whole where a task asks for it."""
        return self.pick(x, x, y, f"sort({x})", f"{x}[argsort({y})]", f"cumsum({x})", f"walked({x}, 2)", f"change({x}, {y})", f"change_kept({y}, {x})",
                         f"[for v in {k}: f64(v) * 0.25]", f"{x} * 0.5", f"(if sum({y}) > 0.5 {{ {x} }} else {{ {y} }})",
                         f"([for i in 0..len({x}), j in 0..2: {x}[i] + f64(j)] @ [0.5, -0.25])", f"{x}[[for i in 0..len({x}): len({x}) - 1 - i]]")

    def listed(self, space):
        """One of a list's arrays: y, of n rows."""
        x, y, k = self.column(space), self.column(space), self.column(space, "i64")
        s, l, a = self.fresh("x"), self.fresh("l"), self.fresh("x")
        at, n = self.draw.randrange(4), f"len({x})"
        self.lines.append(f"let {s} = {self.made(x, y, k)}")
        other = self.pick(f"[for i in 0..{n}: f64(i * b % 19) * 0.5]", f"{y} * f64(b)", f"cumsum({x}) + f64(b)", f"walked({y}, b)", y)
        how = self.draw.randrange(5)
        ragged = how == 2 or self.draw.random() < 0.5  # else it may be a matrix, whose rows are read
        if ragged:
            other = f"({other})[0..max({n} - b, 0)]"
        if how == 0:  # tuples of arrays
            self.lines += [f"let {l} = [for b in 0..4: (one = if b == {at} {{ {s} }} else {{ {other} }}, two = {self.pick(x, f'{y} - f64(b)')})]",
                           f"let {a} = {l}[{at}].{self.pick('one', 'one', 'two')}"]
        elif how == 1:  # a list of what is there
            self.lines += [f"let {l} = [{s}, {y}, {self.made(y, x, k)}]", f"let {a} = {l}[{at % 3}]"]
        elif how == 2:  # one that is assigned
            self.lines += [f"var {l} = [for b in 0..4: {other}]", f"{l}[{at}] = {s}", f"let {a} = {l}[{at}]"]
        else:
            self.lines += [f"let {l} = [for b in 0..4: if b == {at} {{ {s} }} else {{ {other} }}]", f"let {a} = {l}[{at if ragged else self.pick(at, 3)}]"]
        if self.draw.random() < 0.3:
            self.lines.append(f"print(sum([for v in {l}: sum(v{'.two' if how == 0 else ''})]))")
        return a

    def rounds(self, a, space):
        """What rounds make of `a`, whose name this gives."""
        y, k, m = self.column(space), self.column(space, "i64"), self.fresh("x")
        r, t, n = self.fresh("r"), self.fresh("t"), f"len({a})"
        often = self.draw.choice((0, 1, 2, 3))
        v = self.pick("v * 0.5 + 1.0", "v - 0.25", "sin(v)")
        body = self.pick(f"{m} = [for v in {m}: {v}]", f"{m} = {m} * 0.5 + {y}", f"{m} = [for i in 0..{n}: {m}[i] - {y}[i] * f64({r})]",
                         f"let {t} = [for v in {m}: {v}]\n  {t}s = {t}s * 0.5 + sum(for v in {t}: v * v)\n  {m} = {t}",
                         f"{t}s = {t}s + sum({m})\n  {m} = {m} + {t}s / {n}.5", f"{m} = sort({m})", f"{m} = {m}[argsort({y})] + 0.5",
                         f"{m} = if {t}s > 1.0 {{ {m} * 0.25 }} else {{ {y} - {m} }}\n  {t}s = sum({m})", f"if {n} > {r} {{ {m}[{r}] = {t}s + 1.0 }}",
                         f"for i in 0..min({n}, 20) {{ {m}[i * 7 % {n}] = {m}[i] * 0.5 }}", f"{m} = change({m}, {y})", f"{m} = change_kept({m}, {y})",
                         f"{m} = [for i in 0..{n}, j in 0..2: {m}[i] * f64(j + 1)] @ [0.25, 0.5]", f"let ({t}a, {t}b) = both({m}, {t}s)\n  {m} = {t}a\n  {t}s = {t}b")
        body = body.replace(f"/ {n}.5", f"/ (f64({n}) + 0.5)")
        self.lines += [f"var {m} = {a}", f"var {t}s = 0.0", f"for {r} in 0..{often} {{\n  {body}\n}}", f"print({t}s)"]
        return m

    def reused(self, space):
        a = self.listed(space)
        for _ in range(self.draw.randrange(1, 3)):
            a = self.pick(self.rounds, self.rounds, self.rounds, self.once)(a, space)
        self.lines.append(f"print(\"{{sum({a})}} {{sum(for i in 0..len({a}): {a}[i] * f64(i % 7))}}\")")
        if self.draw.random() < 0.6:
            space["f64"].append(a)

    def once(self, a, space):
        """A value of its own, behind `a`."""
        y, b = self.column(space), self.fresh("x")
        self.lines.append(f"let {b} = {self.pick(f'[for v in {a}: v * 2.0 + 1.0]', f'{a} + {y}', f'[for i in 0..len({a}): {a}[i] * {y}[i]]', f'change({a}, {y})', f'-{a}')}")
        return b

    def products(self, space):
        """Matrices that rounds add products to, and labels of the nearest centers that rounds write again."""
        x, m, c, w = self.column(space), self.fresh("m"), self.draw.choice((1, 2, 5)), self.fresh("w")
        often, r = self.draw.choice((1, 2, 3)), self.fresh("r")
        self.lines += [f"let {m} = [for i in 0..len({x}), j in 0..{c}: {x}[i] * 0.125 + f64(j)]", f"let {w} = [for i in 0..{c}, j in 0..{c}: random(i, j) * 0.25]"]
        a = self.fresh("m")
        body = self.pick(f"{a} = {a} + {a} @ {w}", f"{a} = {a} * 0.5 + {m} @ {w}", f"{a} = {m} @ {w} + {a}", f"{a} = [for i in 0..len({x}), j in 0..{c}: {a}[i, j] * 0.5 + {m}[i, j]]",
                         f"{a} = {a} @ {w}", f"{a}[{r} % max(len({x}), 1), 0] = 0.5" if len(x) else "")
        begin = self.pick(m, f"{m} @ {w}", f"[for b in 0..3: if b == 1 {{ {m} }} else {{ {m} * f64(b) }}][{self.pick(1, 2)}]")
        if "[" in body.split("=")[0]:
            body = f"if len({x}) > 0 {{ {body} }}"
        self.lines += [f"var {a} = {begin}", f"for {r} in 0..{often} {{ {body} }}", f"print(\"{{sum({a})}} {{sum({a}, axis = 0)}}\")"]
