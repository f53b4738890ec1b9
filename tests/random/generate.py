#!/usr/bin/env python3
"""Random well-typed flow scripts, the same ones for the same seed.

In: a seed, the number of programs in the script, whether they may fail. Out: the text of a script.
A program is one group of statements with results of its own: it begins with a line `print("program K")` and shows at
least one value that its statements compute. Programs of a script share only its params, which keep their values from
being constants, and the functions and types before them. What always holds: a script without faults runs to its end;
in a script with faults, one program may fail in any of the ways of scalars.py.

usage: generate.py SEED [PROGRAMS] [--faults] [--only K]
"""
import argparse

from scalars import NARROW, RANGES
from stores import Stores
from tables import Tables

HEAD = """param p0: i64 = 7
param p1: i64 = -3
param p2: f64 = 0.75
param p3: bool = true
param t0: text = "Flow"
param t1: text = "12"
param p4: i32 = 11
param p5: u8 = 200
param p6: f32 = 1.5
"""
PARAMS = [("i64", "p0", (7, 7)), ("i64", "p1", (-3, -3)), ("f64", "p2", None), ("bool", "p3", None),
          ("text", "t0", None), ("text", "t1", None), ("i32", "p4", (11, 11)), ("u8", "p5", (200, 200)),
          ("f32", "p6", None)]
ARRAYS = ("i64[]", "f64[]", "f32[]", "text[]", "i64?[]", *(kind + "[]" for kind in NARROW))


class Programs(Tables, Stores):
    """Statements, and programs of them."""

    def bind(self, kind, text, more=None):
        name = self.fresh("v")
        self.lines.append(f"let {name} = {text}")
        self.names.append((kind, name, more))
        return name

    def bindings(self):
        for _ in range(self.number(1, 4)):
            kind = self.pick("i64", "f64", "bool", "text", "i64[]", "i64[]", "i64[]", "f64[]", "f64[]", self.pick(*NARROW),
                             self.pick(*NARROW) + "[]", "f32", "f32[]", "date", "text[]", "i64?[]")
            if kind in RANGES:
                text, low, high = self.integer(3, kind)
                self.bind(kind, text, (low, high))
            elif kind[:-2] in RANGES:
                text, *more = self.int_array(2, kind[:-2])
                self.bind(kind, text, tuple(more))
            else:
                self.bind(kind, {"f64": self.real, "bool": self.boolean, "text": self.words, "f32": self.single,
                                 "date": self.date, "f64[]": self.real_array, "f32[]": self.single_array,
                                 "text[]": self.text_array, "i64?[]": self.null_array}[kind](3))

    def function(self):
        """fn with loops: a var, break, continue, a while; or one that takes a function; or a recursive one."""
        name, a, x, s, i, k = (self.fresh(p) for p in ("f", "a", "x", "s", "i", "k"))
        form = self.number(0, 5)
        if form == 0:
            scope = [("i64", a, (0, 49)), ("i64", f"g_{s}({a})", (-999, 999))]
            step = self.alone(scope, lambda: self.small(self.integer(2))[0])
            self.lines.append(f"fn {name}({a}: i64, g_{s}: i64 -> i64) -> i64 = (g_{s}(g_{s}({a})) + {step}) % 1000")
            self.functions.append((name, ("small", "i64 -> i64"), 0, 999))
            return
        if form == 1:
            step = self.alone([("i64", a, (0, 49)), ("text", x, None)], lambda: self.integer(2)[0])
            self.lines.append(f"fn {name}({a}: i64, {x}: text) -> i64 =\n  if {a} < {self.number(1, 9)} {{ n_chars({x}) % 50 }} "
                              f"else {{ ({name}({a} // 2, {x}) + ({step}) % 99) % 1000 }}")
            self.functions.append((name, ("small", "text"), 0, 999))
            return
        scope = [("i64", a, (0, 49)), ("f64", x, None), ("i64", s, (0, 9999)), ("i64", i, (0, 9))]
        step, skip, leave = self.alone(scope, lambda: (self.integer(2)[0], self.boolean(1), self.boolean(2)))
        self.lines.append(
            f"fn {name}({a}: i64, {x}: f64) -> i64 {{\n  var {s} = {a} % 10\n  for {i} in 0..{self.number(0, 9)} {{\n"
            f"    if {skip} {{ continue }}\n    if {leave} {{ break }}\n"
            f"    {s} = wrap_add({s}, {step}) % 10000\n  }}\n  var {k} = 0\n"
            f"  while {k} < {self.number(1, 9)} {{\n    {k} += {self.number(1, 3)}\n"
            f"    if {s} > {self.number(0, 9999)} {{ break }}\n    {s} = ({s} + {k}) % 10000\n  }}\n  {s}\n}}")
        self.functions.append((name, ("small", "f64"), 0, 9999))

    def stage(self):
        """A stage of an array, a number and a text, whose body may call the functions of the script."""
        name, x, k, w = (self.fresh(p) for p in ("s", "x", "k", "w"))
        scope = [("i64[]", x, (-50, 50, 20)), ("i64", k, (0, 49)), ("text", w, None), *PARAMS[:3]]
        functions = self.functions
        fields = []

        def make():
            self.functions = functions
            text, low, high = self.integer(3)
            fields.append(("i64", "a", text, (low, high)))
            text, *more = self.int_array(2)
            fields.append(("i64[]", "b", text, tuple(more)))
            if self.chance(0.4):
                fields.append(("f64[]", "c", self.real_array(2), None))
            if self.chance(0.3):
                fields.append(("text", "d", self.words(2), None))
            if self.chance(0.3):
                fields.append(("text[]", "e", self.text_array(2), None))
            if self.chance(0.3):
                text, *more = self.matrix_value(2)
                fields.append(("i64[,]", "m", text, tuple(more)))
            if self.chance(0.3):
                fields.append(("i64?[]", "n", self.null_array(2), None))
            if self.chance(0.2):
                fields.append(("list", "l", f"[for u in 0..3: [for v in 0..u * 2: {x}[..len({x}) // 2]]][1]", None))

        self.alone(scope, make)
        body = ", ".join(f"{field} = {text}" for _, field, text, _ in fields)
        self.lines.append(f"stage {name}({x}: i64[n], {k}: i64, {w}: text) = ({body})")
        for _ in range(self.number(1, 2)):
            result, i = self.fresh("r"), self.fresh("i")
            at = self.integer(2)[0]
            self.lines.append(f"let {result} = {name}([for {i} in 0..{self.number(0, 20)}: ({i} * 7 - 20) % 50], ({at}) % 50, "
                              f"{self.words(1)})")
            for kind, field, _, more in fields:
                if kind != "list":
                    self.names.append((kind, f"{result}.{field}", more))
        if self.chance(0.4):
            i = self.fresh("i")
            self.lines.append(f"show([for {i} in 0..{self.number(1, 4)}: {name}([{i}, 3, p0], {i} * 3, t0).a])")

    def tuples(self):
        """A named type, values of it, and arrays of them."""
        kind, make, p, i = self.fresh("P"), self.fresh("f"), self.fresh("p"), self.fresh("i")
        low, high = -1000, 1000
        scope = [("i64", "a", (low, high)), ("f64", "x", None)]
        first, second = self.alone(scope, lambda: (self.integer(2)[0], self.real(2)))
        self.lines.append(f"type {kind} = (a: i64, b: f64, c: i64)")
        self.lines.append(f"fn {make}(a: i64, x: f64) -> {kind} = (b = {second}, a = ({first}) % 1000, c = a + 1)")
        self.lines.append(f"let {p}: {kind} = {make}(({self.integer(2)[0]}) % 100, {self.real(2)})")
        fields = [("i64", f"{p}.a", (0, 999)), ("i64", f"{p}.c", (0, 1001)), ("f64", f"{p}.b", None)]
        self.names += fields
        q, n = self.fresh("q"), self.number(0, 9)
        at, x = self.inside([("i64", i, (0, n))], lambda: (self.integer(1)[0], self.real(1)))
        form = self.number(0, 7)
        if form == 0:
            self.lines.append(f"let {q} = [for {i} in 0..{n}: {make}(({at}) % 100, {x})]\nshow({q})")
            self.names += [("i64[]", f"{q}.a", (0, 999, n)), ("f64[]", f"{q}.b", None)]
        elif form == 1:
            self.lines.append(f"let {q} = {p} * 2 - {make}(3, 0.5)\nshow({q})")
        elif form == 2:
            self.lines.append(f"fn {q}(r: {kind}, n: i64) -> {kind} {{\n  var o = r\n  for {i} in 0..n {{ o.a = (o.c + {i}) % 97; "
                              f"o.c = o.a; o.b = o.b / 2 }}\n  o\n}}\nshow({q}({p}, {n}))\nshow({p})")
        elif form == 3:
            self.lines.append(f"show(if {self.boolean(2)} {{ {p} }} else {{ {make}(1, {self.real(1)}) }})")
        elif form == 4:
            self.lines.append(f"let (c, a) = {p}\nprint(c, a)\nlet ({q}, r_{q}) = ({p}.b, (1, {self.words(1)}))\nlet (u_{q}, w_{q}) = r_{q}\nprint({q}, u_{q}, w_{q})")
        elif form == 5:
            self.lines.append(f"show(best(for {i} in 0..{n + 1}: {make}(({at}) % 100, {x}), by = a))")
        elif form == 6:
            self.lines.append(f"let {q} = [for {i} in 0..{n}: ({i}, {self.inside([('i64', i, (0, n))], lambda: self.words(1))}, (u = {at}, v = {x}))]\nshow({q})")
        else:
            self.lines.append(f"show(match {p}.a % 3 {{ 0 => {p}, 1 => {make}(2, 2.0), _ => {p} + {p} }})")

    def loop(self):
        """Effects at the top level, in order; a var of the script."""
        i, v = self.fresh("i"), self.fresh("y")
        body, more = self.inside([("i64", i, (0, 5)), ("i64", v, (0, 999))], lambda: (self.integer(2)[0], self.integer(1)[0]))
        if self.chance(0.5):
            self.lines.append(f"var {v} = {self.number(0, 9)}\nfor {i} in 0..{self.number(0, 4)} {{ print({i}, {body}); "
                              f"{v} = ({v} + ({more}) % 1000) % 1000 }}")
        else:
            self.lines.append(f"var {v} = 0\nwhile {v} < {self.number(1, 4)} {{ let {i} = {v}; {v} += 1; print({v}, {body}) }}")
        self.names.append(("i64", v, (0, 999)))

    def program(self, number):
        """Adds the statements of one program."""
        self.names = list(PARAMS)
        self.functions = []
        self.lines.append(f'print("program {number}")')
        if self.chance(0.3):
            self.function()
        self.bindings()
        for maker, share in ((self.stage, 0.15), (self.list_of_arrays, 0.12), (self.tuples, 0.12), (self.matrix, 0.18),
                             (self.table, 0.3), (self.reductions, 0.15), (self.changing_function, 0.12), (self.loop, 0.1),
                             (self.stores, 0.2)):
            if self.chance(share):
                maker()
        results = [self.integer(4)[0], self.real(3), self.boolean(3)]
        if self.chance(0.5):
            results.append(self.pick(
                self.words(3), self.nullable(2)[0], f'"{{p2 + {self.real(1)}:.3f}}|{{p0 + {self.small(self.integer(1))[0]}}}"',
                self.date(3), self.duration(2), self.single(3), self.integer(3, self.pick(*NARROW))[0]))
        for kind, name, _ in [name for name in self.names if name[0] in ARRAYS]:
            if self.chance(0.6):
                self.lines.append(f"show({name})")
            elif kind in ("i64[]", "f64[]"):
                self.lines.append(f"print(len({name}), sum({name}), sum(for v in {name}: v * 2))")
        for _, name, _ in self.known("i64[,]"):
            if self.chance(0.3):
                self.lines.append(f"show({name})")
        self.lines.append(f"print({', '.join(results)})")


def script(seed, programs, faults=False, only=0):
    """The text of a script with that many programs, or with one of them alone: each has a random stream of its own."""
    lines = []
    for number in [only] if only else range(1, programs + 1):
        made = Programs(f"{seed}.{number}", faults)
        made.counter = number * 1000
        made.program(number)
        lines += made.lines
    return HEAD + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Print a random script.")
    parser.add_argument("seed", type=int)
    parser.add_argument("programs", type=int, nargs="?", default=1)
    parser.add_argument("--faults", action="store_true", help="programs may fail")
    parser.add_argument("--only", type=int, default=0, metavar="K", help="only program K of the script")
    given = parser.parse_args()
    print(script(given.seed, given.programs, given.faults, given.only), end="")


if __name__ == "__main__":
    main()
