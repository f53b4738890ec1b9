"""Functions that assign elements of arrays in loops and branches: what may be written in place, and what may not.

Two arrays and a list of arrays are stored into, read, swapped, given other names, handed to functions and captured by
comprehensions, in blocks of statements nested up to three deep. All numbers stay below 1000."""
from scalars import Scalars


class Stores(Scalars):
    """One such function and a call of it."""

    def store_number(self, scope):
        """An i64 from -999 to 999."""
        a, b = self.pick("a", "b"), self.pick("a", "b")
        at, other = self.store_at(scope), self.store_at(scope)
        return self.pick(f"{a}[{at}]", f"({a}[{at}] * 3 + {b}[{other}]) % 997", f"({a}[{at}] - {self.pick(*scope)}) % 499",
                         f"sum(for q in 0..n: {a}[q]) % 97", f"l[({at}) % 3][{other}]", f"{self.number(-99, 99)}",
                         f"first[{at}]")

    def store_at(self, scope):
        """A position in 0..n, or with faults seldom another."""
        text = self.pick(f"({self.pick(*scope)} * {self.number(1, 5)} + {self.number(0, 9)}) % n", f"{self.pick(*scope)} % n", "0", "n - 1")
        return f"({text}) + n * k" if self.faults and self.chance(0.03) else text

    def store_condition(self, scope):
        return self.pick(f"{self.store_number(scope)} > {self.store_number(scope)}", f"{self.pick(*scope)} % {self.number(2, 4)} == 1",
                         f"a[{self.store_at(scope)}] % 2 == 0")

    def store_block(self, scope, depth, pad, jumps):
        lines = []
        for _ in range(self.number(1, 3)):
            lines += self.store_statement(scope, depth, pad, jumps)
        return lines

    def store_statement(self, scope, depth, pad, jumps):
        a, b = self.pick(("a", "b"), ("b", "a"))
        at, value = self.store_at(scope), self.store_number(scope)
        form = self.number(0, 17 if depth > 0 else 11)
        if form <= 4:
            return [f"{pad}{a}[{at}] = {value}"]
        if form == 5:
            return [f"{pad}{a}[{at}] += {self.number(-9, 9)}", f"{pad}{a}[{at}] = {a}[{at}] % 997"]
        if form == 6:
            name = self.fresh("z")
            return [f"{pad}let {name} = {a}", f"{pad}{a} = {b}", f"{pad}{b} = {name}"]
        if form == 7:
            return [f"{pad}{a} = {self.pick(b, f'[for q in 0..n: {a}[q] + {b}[n - 1 - q] % 9]', 'p', f'{a}[..]')}"
                    if self.chance(0.7) else f"{pad}{a} = [for q in 0..n: ({a}[q] + {self.number(0, 9)}) % 997]"]
        if form == 8:
            return [f"{pad}l[{self.pick(*scope)} % 3] = {self.pick('a', 'b', 'p')}"]
        if form == 9:
            return [f"{pad}{a} = l[{self.pick(*scope)} % 3]"]
        if form == 10:
            return [f"{pad}let m = cumsum({a})", f"{pad}{b}[{at}] = m[{self.store_at(scope)}] % 997"]
        if form == 11:
            if jumps and self.chance(0.6):
                return [f"{pad}if {self.store_condition(scope)} {{ {self.pick('break', 'continue')} }}"]
            return [f"{pad}kept = {a}"]
        inner = lambda extra, more: self.store_block(scope + extra, depth - 1, pad + "  ", more)
        if form <= 13:
            i = self.fresh("i")
            return [f"{pad}for {i} in 0..{self.pick('n', str(self.number(0, 5)), 'n - 3')} {{", *inner([i], True), f"{pad}}}"]
        if form == 14:
            w = self.fresh("w")
            return [f"{pad}var {w} = 0", f"{pad}while {w} < {self.number(0, 6)} {{", f"{pad}  {w} += {self.number(1, 2)}",
                    *inner([w], True), f"{pad}}}"]
        if self.chance(0.5):
            return [f"{pad}if {self.store_condition(scope)} {{", *inner([], jumps), f"{pad}}}"]
        return [f"{pad}if {self.store_condition(scope)} {{", *inner([], jumps), f"{pad}}} else {{", *inner([], jumps), f"{pad}}}"]

    def stores(self):
        name = self.fresh("f")
        start = lambda: self.pick("p", "[for q in 0..n: q * 7 % 10]", "p[..]", "zeros_of(p)", "[for q in 0..n: p[q]]")
        self.lines.append(
            f"fn {name}(p: i64[n], k: i64) -> (a: i64[n], b: i64[n], kept: i64[n], all: i64[n]) {{\n"
            f"  let zeros_of = x => [for v in x: v * 0]\n"
            f"  var a = {start()}\n  var b = {self.pick('a', start())}\n  var kept = a\n  let first = {self.pick('a', 'b', 'p')}\n"
            f"  var l: i64[_][_] = [for u in 0..3: {self.pick('a', 'b', 'p')}[..n - u * 0]]\n"
            + "\n".join(self.store_block(["k", "n"], 3, "  ", False) + self.store_block(["k", "n"], 3, "  ", False))
            + "\n  (a = a, b = b, kept = kept, all = [for q in 0..n: l[0][q] + l[1][q] * 2 + l[2][q] * 3 + first[q]])\n}")
        n = self.number(1, 12)
        source = self.fresh("v")
        self.lines.append(f"let {source} = [for q in 0..{n}: (q * {self.number(1, 99)} + p0) % 97]")
        if self.chance(0.3):
            self.lines.append(f"for e in [for u in 0..4: {name}({source}, u)] {{ print(\"{{e.a}} {{e.b}} {{e.kept}} {{e.all}}\") }}")
        else:
            r = self.fresh("v")
            self.lines.append(f"let {r} = {name}({source}, {self.number(0, 9)})\nprint(\"{{{r}.a}} {{{r}.b}} {{{r}.kept}} {{{r}.all}} {{{source}}}\")")
