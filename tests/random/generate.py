#!/usr/bin/env python3
"""Random well-typed flow scripts, the same ones for the same seed.

In: a seed, the number of programs in the script, whether they may fail. Out: the text of a script.
A program is one group of statements with results of its own: it begins with a line `print("program K", ...)` and
shows at least one value that its statements compute. Programs of a script share only its params, which keep their
values from being constants. What always holds: a script without faults gives every program's results (each integer
expression comes with bounds, which the checked arithmetic around it cannot leave); in a script with faults, one
program may overflow, divide by zero, index out of bounds, narrow what does not fit, parse what is no number, or fail
on purpose.

usage: generate.py SEED [PROGRAMS] [--faults]
"""
import random
import sys

RANGES = {"i8": (-128, 127), "i16": (-(2**15), 2**15 - 1), "i32": (-(2**31), 2**31 - 1), "u8": (0, 255),
          "u16": (0, 65535), "u32": (0, 2**32 - 1), "i64": (-(2**45), 2**45)}
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
WORDS = ["flow", "data", " b ", "", "Zürich", "a,b", "x y", "12", "-3"]


class Generator:
    """Expressions and statements by type. `self.names` holds what is in scope: (type, text, bounds or length)."""

    def __init__(self, seed, faults=False):
        self.random = random.Random(seed)
        self.faults = faults
        self.counter = 0
        self.names = []
        self.lines = []
        self.functions = []

    # -- small helpers --
    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self, low, high):
        return self.random.randint(low, high)

    def chance(self, share):
        return self.random.random() < share

    def fresh(self, prefix):
        self.counter += 1
        return f"{prefix}_{self.counter}"

    def known(self, kind):
        return [name for name in self.names if name[0] == kind]

    # -- integers: (text, lowest, highest) --
    def held(self, text, low, high, kind="i64"):
        """The expression, made small where its bounds leave the type (or left as it is, to fail)."""
        lowest, highest = RANGES[kind]
        if lowest <= low and high <= highest:
            return text, low, high
        if self.faults and self.chance(0.5):
            return text, max(low, lowest), min(high, highest)
        return None

    def integer(self, depth=3, kind="i64"):
        if kind != "i64" and self.chance(0.2):
            return self.literal(kind)
        names = self.known(kind)
        if depth <= 0 or self.chance(0.1):
            if names and self.chance(0.8):
                _, text, bounds = self.pick(*names)
                return text, *bounds
            return self.literal(kind)
        makers = [self.integer_arithmetic] * 6 + [self.integer_choice] * 2
        if kind == "i64":
            makers += [self.integer_reduction] * 3 + [self.integer_conversion] * 2 + [self.integer_other] * 3
            if self.faults:
                makers += [self.integer_fault] * 3
        for _ in range(4):
            made = self.pick(*makers)(depth - 1, kind)
            if made:
                return made
        return self.literal(kind)

    def literal(self, kind):
        low, high = RANGES[kind]
        value = self.number(max(low, -9), min(high, 20))
        if self.faults and self.chance(0.1) and kind == "i64":
            value = self.pick(2**62, -(2**62), 0)
        text = f"({value})" if value < 0 else str(value)
        return (text if kind == "i64" else f"{kind}({text})"), value, value

    def integer_arithmetic(self, depth, kind):
        a, al, ah = self.integer(depth, kind)
        b, bl, bh = self.integer(depth, kind)
        how = self.pick("+", "-", "*", "+", "-", "//", "%", "abs", "min", "max", "clamp", "minus")
        if how == "+":
            return self.held(f"({a} + {b})", al + bl, ah + bh, kind)
        if how == "-":
            return self.held(f"({a} - {b})", al - bh, ah - bl, kind)
        if how == "*":
            ends = [al * bl, al * bh, ah * bl, ah * bh]
            return self.held(f"({a} * {b})", min(ends), max(ends), kind)
        if how in ("//", "%"):
            by = self.number(2, 9)
            text = str(by) if kind == "i64" else f"{kind}({by})"
            if bl > 0 or (self.faults and self.chance(0.6)):
                text, by = b, max(abs(bl), abs(bh), 1)
                if how == "//":
                    most = max(abs(al), abs(ah))
                    return f"({a} // {text})", (-most - 1 if al < 0 or bl < 0 else 0), most
                return f"({a} % {text})", (-by if bl < 0 else 0), by
            return (f"({a} // {text})", al // by, ah // by) if how == "//" else (f"({a} % {text})", 0, by - 1)
        if how == "abs":
            return self.held(f"abs({a})", 0, max(abs(al), abs(ah)), kind)
        if how == "minus":
            return self.held(f"(-{a})", -ah, -al, kind) if kind[0] == "i" else None
        if how == "clamp":
            low, high = sorted((self.number(0, 9), self.number(0, 40)))
            ends = (f"{low}", f"{high}") if kind == "i64" else (f"{kind}({low})", f"{kind}({high})")
            return f"clamp({a}, {ends[0]}, {ends[1]})", low, high
        both = (min(al, bl), min(ah, bh)) if how == "min" else (max(al, bl), max(ah, bh))
        return f"{how}({a}, {b})", *both

    def integer_choice(self, depth, kind):
        a, al, ah = self.integer(depth, kind)
        b, bl, bh = self.integer(depth, kind)
        low, high = min(al, bl), max(ah, bh)
        if kind != "i64" or self.chance(0.5):
            form = self.pick("if {c} {{ {a} }} else {{ {b} }}", "if_else({c}, {a}, {b})")
            return "(" + form.format(c=self.boolean(depth), a=a, b=b) + ")", low, high
        on = self.integer(depth)[0]
        limit = self.number(0, 6)
        v = self.fresh("m")
        arms = f"{self.number(-4, 4)} => {a}, {limit}..{limit + self.number(1, 9)} => {b}"
        if self.chance(0.5):
            arms += f", {v} if {v} > {self.number(0, 30)} => {self.pick(a, b)}"
        return f"(match {on} {{ {arms}, _ => {self.pick(a, b)} }})", low, high

    def generators(self, depth):
        """(text, names, most elements) of the generators of a comprehension."""
        i, n = self.fresh("i"), self.number(0, 12)
        names = [("i64", i, (0, max(n - 1, 0)))]
        form = self.number(0, 5)
        if form == 0:
            j = self.fresh("j")
            return f"{i} in 0..{n}, {j} in 0..{i}", [*names, ("i64", j, (0, max(n - 1, 0)))], n * n
        if form == 1:
            self.names += names
            keep = self.boolean(depth)
            del self.names[-1]
            return f"{i} in 0..{n} if {keep}", names, n
        if form == 2 and self.known("i64[]"):
            _, text, (low, high, size) = self.pick(*self.known("i64[]"))
            return f"{i} in {text}", [("i64", i, (low, high))], size
        if form == 3:
            by = self.number(1, 4)
            return f"{i} in 1..{n + 2} by {by}", [("i64", i, (1, n + 1))], n + 1
        if form == 4:
            j, m = self.fresh("j"), self.number(1, 5)
            return f"{i} in 0..{n}, {j} in 0..{m}", [*names, ("i64", j, (0, m - 1))], n * m
        return f"{i} in 0..{n}", names, n

    def inside(self, names, make):
        """What `make()` gives with more names in scope."""
        before = len(self.names)
        self.names += names
        made = make()
        del self.names[before:]
        return made

    def integer_reduction(self, depth, _):
        text, names, most = self.generators(depth)
        if self.chance(0.3):
            return f"count(for {text}: {self.inside(names, lambda: self.boolean(depth))})", 0, most
        body, low, high = self.inside(names, lambda: self.integer(depth))
        arrays = self.known("i64[]")
        how = self.pick("sum", "max", "array", "fold")
        if how == "array" and arrays:
            _, array, (low, high, size) = self.pick(*arrays)
            do = self.pick("sum", "len", "first", "at", "fold", "argmax")
            if do == "len":
                return f"len({array})", 0, size
            if do == "sum":
                return self.held(f"sum({array})", min(0, low * size), max(0, high * size))
            if do == "argmax":
                return f"argmax(concat({array}, [{self.number(-3, 9)}]))", 0, size
            if do == "fold":
                a, b = self.fresh("a"), self.fresh("b")
                return f"fold(({a}, {b}) => ({a} * 3 + {b}) % 1009, {self.number(0, 5)}, {array})", 0, 1008
            if do == "at" and self.faults:
                return f"{array}[{self.integer(depth)[0]}]", low, high
            return f"concat({array}, [0])[0]", min(low, 0), max(high, 0)
        if how == "max":
            zero = self.number(-5, 5)
            return f"max(concat([for {text}: {body}], [{zero}]))" if ", " not in text and " in 0.." in text else \
                f"max(concat([for {text} if true: {body}], [{zero}]))", min(low, zero), max(high, zero)
        return self.held(f"sum(for {text}: {body})", min(0, low * most), max(0, high * most))

    def integer_conversion(self, depth, _):
        kind = self.pick("i32", "u8", "u16", "i16", "u32", "i8", "f64", "text", "null")
        if kind == "f64":
            return f"{self.pick('round', 'floor', 'ceil', 'trunc')}(clamp({self.real(depth)}, -50.0, 50.0))", -50, 50
        if kind == "text":
            return f"n_chars({self.words(depth)})", 0, 400
        if kind == "null":
            a, al, ah = self.integer(depth)
            n, nl, nh = self.nullable(depth)
            return f"({n} ?? {a})", min(al, nl), max(ah, nh)
        a, low, high = self.integer(depth, kind)
        return f"i64({a})", low, high

    def integer_other(self, depth, _):
        how = self.number(0, 4)
        a, low, high = self.integer(depth)
        if how == 0:
            top = self.number(1, 50)
            return f"random_int({self.number(0, 99)}, 0, {top}, {a})", 0, top - 1
        if how == 1 and self.functions:
            name, low, high = self.pick(*self.functions)
            return f"{name}(({a}) % 50, {self.real(depth)})", low, high
        if how == 2:
            x = self.fresh("x")
            made = self.inside([("i64", x, (low, high))], lambda: self.integer(depth))
            return f"({x} => {made[0]})({a})", made[1], made[2]
        if how == 3:
            x = self.fresh("x")
            made = self.inside([("i64", x, (low, high))], lambda: self.integer(depth))
            return (f"(if {self.boolean(depth)} {{ let {x} = {a}; {made[0]} }} else {{ 1 }})", min(made[1], 1),
                    max(made[2], 1))
        other, ol, oh = self.integer(depth)
        return f"(a = {a}, b = {other}).b", ol, oh

    def integer_fault(self, depth, _):
        a = self.integer(depth)[0]
        return self.pick((f"i64(i8({a}))", -128, 127), (f"i64(u8({a}))", 0, 255), (f"i64(i32({a} * {a}))", -999, 999),
                         (f"parse_i64({self.words(depth)})", -99, 99), (f"({a} ^ 9)", -999, 999),
                         (f"(if {self.boolean(depth)} {{ {a} }} else {{ error(\"asked {{p0 + {a}}}\") }})", -99, 99),
                         (f"[for k in 0..5: k][{a}]", 0, 4), (f"(100 // {a})", -100, 100), (f"(p0 % {a})", -99, 99))

    # -- other types --
    def nullable(self, depth):
        a, low, high = self.integer(depth - 1)
        form = self.number(0, 3)
        if form == 0:
            return f"try_parse_i64({self.pick('t0', 't1')})", -99, 99
        if form == 1:
            return f"(if {self.boolean(depth - 1)} {{ {a} }} else {{ null }})", low, high
        n, nl, nh = self.nullable(depth - 1) if depth > 0 else ("try_parse_i64(t1)", -99, 99)
        made = self.held(f"({n} + {a})", nl + low, nh + high)
        return made or (n, nl, nh)

    def real(self, depth=3):
        names = self.known("f64")
        if depth <= 0 or self.chance(0.1):
            if names and self.chance(0.8):
                return self.pick(*names)[1]
            return self.pick("0.5", "2.25", "(-1.75)", "1e-3", "3.0", "pi", "1e6")
        a = self.real(depth - 1)
        form = self.number(0, 12)
        if form <= 3:
            return f"({a} {self.pick('+', '-', '*', '/', '+', '-')} {self.real(depth - 1)})"
        if form == 4:
            return self.pick(f"sqrt(abs({a}))", f"exp(clamp({a}, -20.0, 20.0))", f"log(abs({a}) + 1)", f"sin({a})",
                             f"cos({a})", f"tanh({a})", f"floor(clamp({a}, -99.0, 99.0)) / 2", f"abs({a})",
                             f"round({a}, digits = 2)", f"({a})^2", f"log1p(abs({a}))", f"atan2({a}, 2.0)", f"erf({a})")
        if form == 5:
            return f"f64({self.integer(depth - 1)[0]})"
        if form == 6:
            return f"(if {self.boolean(depth - 1)} {{ {a} }} else {{ {self.real(depth - 1)} }})"
        if form == 7:
            text, names, _ = self.generators(depth - 1)
            return f"sum(for {text}: {self.inside(names, lambda: self.real(depth - 1))})"
        if form == 8:
            how = self.pick("random", "random_normal")
            return f"{how}({self.number(0, 9)}, {self.integer(depth - 1)[0]})"
        if form == 9:
            return f"f64({self.single(depth - 1)})"
        if form == 10:
            return f"{self.pick('min', 'max', 'hypot')}({a}, {self.real(depth - 1)})"
        arrays = self.known("f64[]")
        if form == 11 and arrays:
            array = self.pick(*arrays)[1]
            return self.pick(f"sum({array})", f"mean(concat({array}, [1.0]))", f"max(concat({array}, [0.0]))",
                             f"sum({array} * {array})", f"product({array} / 2)")
        return f"({a} * {self.integer(depth - 1)[0]})"

    def single(self, depth):
        """f32."""
        if depth <= 0:
            return self.pick("p6", "f32(0.1)", "f32(p2)", "f32(-3.5)")
        a = self.single(depth - 1)
        return self.pick(f"({a} {self.pick('+', '-', '*', '/')} {self.single(depth - 1)})", f"sqrt(abs({a}))",
                         f"f32({self.real(depth - 1)})", f"min({a}, {self.single(depth - 1)})", f"sin({a})")

    def boolean(self, depth=3):
        names = self.known("bool")
        if depth <= 0:
            if names and self.chance(0.6):
                return self.pick(*names)[1]
            return f"({self.integer(0)[0]} {self.pick('<', '>', '==')} {self.integer(0)[0]})"
        form = self.number(0, 8)
        order = self.pick("<", "<=", ">", ">=", "==", "!=")
        if form <= 2:
            kind = self.pick("i64", "i64", "i32", "u8")
            return f"({self.integer(depth - 1, kind)[0]} {order} {self.integer(depth - 1)[0]})"
        if form == 3:
            return f"({self.real(depth - 1)} {order} {self.real(depth - 1)})"
        if form == 4:
            return f"({self.boolean(depth - 1)} {self.pick('and', 'or')} {self.boolean(depth - 1)})"
        if form == 5:
            return f"(not {self.boolean(depth - 1)})"
        if form == 6:
            a = self.words(depth - 1)
            return self.pick(f"({a} {order} {self.words(depth - 1)})", f"contains({a}, \"a\")",
                             f"starts_with({a}, {self.words(0)})")
        if form == 7:
            return self.pick(f"is_null({self.nullable(depth - 1)[0]})",
                             f"(({self.nullable(depth - 1)[0]} > {self.integer(depth - 1)[0]}) ?? {self.pick('true', 'p3')})")
        text, names, _ = self.generators(depth - 1)
        return f"{self.pick('any', 'all')}(for {text}: {self.inside(names, lambda: self.boolean(depth - 1))})"

    def words(self, depth=2):
        names = self.known("text")
        if depth <= 0 or self.chance(0.2):
            if names and self.chance(0.6):
                return self.pick(*names)[1]
            return f'"{self.pick(*WORDS)}"'
        a = self.words(depth - 1)
        return self.pick(lambda: f"({a} + {self.words(depth - 1)})", lambda: f"upper({a})", lambda: f"trim({a})",
                         lambda: f"lower({a})", lambda: f'replace({a}, "a", "bb")', lambda: f'split_part({a} + ",q", ",", 0)',
                         lambda: f"text({self.integer(1)[0]})",
                         lambda: f"(if {self.boolean(1)} {{ {a} }} else {{ {self.words(0)} }})")()

    # -- arrays: elementwise, slices, masks, comprehensions --
    def int_array(self, depth):
        """(text, low, high, most elements)"""
        arrays = self.known("i64[]")
        form = self.number(0, 9)
        if not arrays or form <= 2 or depth <= 0:
            text, names, most = self.generators(depth - 1)
            body, low, high = self.inside(names, lambda: self.integer(depth))
            if text.count(" in ") == 2 and " in 0..i_" not in text:
                text += " if true"
            return f"[for {text}: {body}]", low, high, most
        _, a, (low, high, size) = self.pick(*arrays)
        b, bl, bh = self.integer(depth - 1)
        if form == 3:
            made = self.held(f"({a} * {self.number(-3, 3)} + {b})", -3 * max(abs(low), abs(high)) + bl,
                             3 * max(abs(low), abs(high)) + bh)
            return (*made, size) if made else (a, low, high, size)
        if form == 4:
            return f"{a}[{a} > {b}]", low, high, size
        if form == 5:
            return f"{a}[{a} % {self.number(2, 4)} == 0 or {a} < {b}]", low, high, size
        if form == 6:
            return f"if_else({a} > {b}, {a} // 2, {b} - {a} % 7)", min(low // 2, bl - 6), max(high // 2, high, bh), size
        if form == 7:
            return f"(match {a} {{ 0 => {b}, 1..9 => {a} - 1, _ => {a} % 5 }})", min(bl, 0), max(bh, 9), size
        if form == 8:
            if self.faults and self.chance(0.5):
                return f"{a}[{self.number(0, 3)}..{self.number(3, 9)}]", low, high, size
            return f"{a}[len({a}) // 3..len({a})]", low, high, size
        return f"{a}[argsort({a})]", low, high, size

    def real_array(self, depth):
        arrays, whole = self.known("f64[]"), self.known("i64[]")
        form = self.number(0, 6)
        if form <= 2 and arrays:
            a = self.pick(*arrays)[1]
            return self.pick(f"({a} * {self.real(1)} - {self.real(1)})", f"sqrt(abs({a}) + 1)", f"({a} + sin({a}) / 3)",
                             f"if_else({a} > {self.real(1)}, {a}, -{a} / 2)", f"{a}[{a} < {self.real(1)}]",
                             f"clamp({a}, -1.0, 2.5)", f"cumsum({a})")
        if form == 3 and whole:
            return f"({self.pick(*whole)[1]} * {self.pick('0.5', 'p2', '1.25')})"
        size = self.pick(0, 1, 7, 33, 100, 100, 4099, 9001)
        i = self.fresh("i")
        body = self.inside([("i64", i, (0, size))], lambda: self.real(2 if size <= 100 else 1))
        if size > 100:
            return f"[for {i} in 0..{size}: random({self.number(0, 9)}, {i}) - {body} * {i}]"
        return f"[for {i} in 0..{size}: {body} + {i} * 0.25]"

    # -- statements --
    def bind(self, kind, text, more=None):
        name = self.fresh("v")
        self.lines.append(f"let {name} = {text}")
        self.names.append((kind, name, more))
        return name

    def bindings(self):
        for _ in range(self.number(1, 3)):
            kind = self.pick("i64", "f64", "bool", "text", "i64[]", "i64[]", "f64[]", "i32", "u8")
            if kind in RANGES:
                text, low, high = self.integer(3, kind)
                self.bind(kind, text, (low, high))
            elif kind == "i64[]":
                text, *more = self.int_array(2)
                self.bind(kind, text, tuple(more))
            else:
                self.bind(kind, {"f64": self.real, "bool": self.boolean, "text": self.words,
                                 "f64[]": self.real_array}[kind](3))

    def function(self):
        """fn with a loop: a var, break, continue, a while."""
        name, a, x, s, i, k = (self.fresh(p) for p in ("f", "a", "x", "s", "i", "k"))
        before, self.names = self.names, [("i64", a, (0, 49)), ("f64", x, None), ("i64", s, (0, 9999)),
                                          ("i64", i, (0, 9))]
        functions, self.functions = self.functions, []
        step = self.integer(2)[0]
        self.lines.append(
            f"fn {name}({a}: i64, {x}: f64) -> i64 {{\n  var {s} = {a} % 10\n  for {i} in 0..{self.number(0, 9)} {{\n"
            f"    if {self.boolean(1)} {{ continue }}\n    if {self.boolean(2)} {{ break }}\n"
            f"    {s} = abs({s} + {step}) % 10000\n  }}\n  var {k} = 0\n"
            f"  while {k} < {self.number(1, 9)} {{\n    {k} += {self.number(1, 3)}\n"
            f"    if {s} > {self.number(0, 9999)} {{ break }}\n    {s} = ({s} + {k}) % 10000\n  }}\n  {s}\n}}")
        self.names, self.functions = before, [*functions, (name, 0, 9999)]

    def stage(self):
        name, x, k = self.fresh("s"), self.fresh("x"), self.fresh("k")
        before, self.names = self.names, [("i64[]", x, (-50, 50, 20)), ("i64", k, (0, 49))]
        functions, self.functions = self.functions, []
        body, low, high = self.integer(3)
        array, *more = self.int_array(2)
        self.lines.append(f"stage {name}({x}: i64[n], {k}: i64) = (a = {body}, b = {array})")
        self.names, self.functions = before, functions
        result, i = self.fresh("r"), self.fresh("i")
        at, _, _ = self.integer(2)
        self.lines.append(f"let {result} = {name}([for {i} in 0..{self.number(0, 20)}: ({i} * 7 - 20) % 50], ({at}) % 50)")
        self.names += [("i64", f"{result}.a", (low, high)), ("i64[]", f"{result}.b", tuple(more))]

    def matrix(self):
        i, j, n, m = self.fresh("i"), self.fresh("j"), self.number(1, 7), self.number(1, 7)
        names = [("i64", i, (0, n - 1)), ("i64", j, (0, m - 1))]
        body, low, high = self.inside(names, lambda: self.integer(2))
        name = self.fresh("w")
        self.lines.append(f"let {name} = [for {i} in 0..{n}, {j} in 0..{m}: {body}]")
        row, column = self.number(0, n - 1), self.number(0, m - 1)
        shown = self.pick(f"{name}'", f"sum({name}, axis = {self.number(0, 1)})", f"{name}[{row}, :]",
                          f"{name}[:, {column}]", f"{name} - {name}[{row}, :]", f"max({name}, axis = 0)",
                          f"{name}[{row}..{n}, 0..{column}]", f"mean({name}, axis = 1)",
                          f"{name} / (abs(sum({name}, axis = 1)) + 1)[:, new]")
        self.lines.append(f"show({shown})")

    def table(self):
        i, n, t = self.fresh("i"), self.pick(0, 1, 5, 12, 40, 300), self.fresh("t")
        names = [("i64", i, (0, max(n - 1, 0)))]
        a, al, ah = self.inside(names, lambda: self.integer(2))
        x = self.inside(names, lambda: self.real(2))
        self.lines.append(
            f"let {t} = table(ka = [for {i} in 0..{n}: ({a}) % {self.number(1, 6)}], xa = [for {i} in 0..{n}: {x}], "
            f"ia = [for {i} in 0..{n}: {i} * {self.number(1, 7)} % 11], sa = [for {i} in 0..{n}: \"s{{{i} % 4}}\"])")
        before, self.names = self.names, [("i64", "ka", (0, 5)), ("f64", "xa", None), ("i64", "ia", (0, 10))]
        functions, self.functions = self.functions, []
        verbs = []
        for _ in range(self.number(1, 4)):
            verbs.append(self.pick(
                lambda: f"where({self.column_test()})", lambda: f"derive(xa = xa * {self.number(1, 5)} - ia, ka = ka + 1)",
                lambda: f"sort({self.pick('ka', '-xa', 'sa, -ia', 'desc(sa), ka')})", lambda: f"head({self.number(0, 20)})",
                lambda: f"derive(ia = if_else({self.column_test()}, ia // 2, ia + 1))", lambda: "distinct(ka, sa)",
                lambda: f"tail({self.number(0, 9)})", lambda: "group_by(ka) |> derive(xa = xa - mean(xa)) |> ungroup",
                lambda: f"derive(xa = xa + random({n}))",
                lambda: "join(table(ia = [1, 2, 2, 7], za = [10, 20, 21, 70]), on = (ia), how = \"left\") |> "
                        "derive(ia = za ?? -1) |> drop(za)")())
        last = self.pick("", f"group_by({self.pick('ka', 'sa', 'ka, sa')}) |> summarize(n = count(), m = mean(xa), "
                         f"s = sum({self.pick('ia', 'xa')}), l = {self.pick('first(ia)', 'max(xa)', 'median(xa)', 'std(xa)', 'n_distinct(ia)', 'min(ia)')})",
                         "summarize(n = count(), s = sum(xa), c = sum(ia))", "select(sa, z = xa / (ia + 1), ka)",
                         "join(table(ia = [3, 1, 2, 2], zb = [0.5, 1.5, 2.5, 3.5]), on = (ia))")
        self.names, self.functions = before, functions
        self.lines.append(" |> ".join(filter(None, [t, *verbs, last, "show"])))

    def column_test(self):
        return self.pick(f"xa > {self.pick('0.5', '10.0', '-3.0')}", f"ka % 2 == {self.number(0, 1)}",
                         f"ia < {self.number(0, 10)} and sa != \"s1\"", f"not (ka == {self.number(0, 3)}) or xa < ia")

    def loop(self):
        """Effects at the top level, in order."""
        i = self.fresh("i")
        body = self.inside([("i64", i, (0, 5))], lambda: self.integer(2)[0])
        self.lines.append(f"for {i} in 0..{self.number(0, 4)} {{ print({i}, {body}) }}")

    def program(self, number):
        """Adds the statements of one program."""
        self.names = [("i64", "p0", (7, 7)), ("i64", "p1", (-3, -3)), ("f64", "p2", None), ("bool", "p3", None),
                      ("text", "t0", None), ("text", "t1", None), ("i32", "p4", (11, 11)), ("u8", "p5", (200, 200))]
        self.functions = []
        self.lines.append(f'print("program {number}")')
        if self.chance(0.3):
            self.function()
        self.bindings()
        if self.chance(0.15):
            self.stage()
        for maker, share in ((self.matrix, 0.15), (self.table, 0.25), (self.loop, 0.1)):
            if self.chance(share):
                maker()
        results = [self.integer(4)[0], self.real(3), self.boolean(3)]
        if self.chance(0.4):
            results.append(self.pick(self.words(3), self.nullable(2)[0], f'"{{p2 + {self.real(1)}:.3f}}|{{p0 + {self.integer(1)[0]}}}"'))
        arrays = self.known("i64[]") + self.known("f64[]")
        for kind, name, _ in arrays:
            self.lines.append(f"show({name})" if self.chance(0.7) else f"print(len({name}), sum({name} * 2))")
        self.lines.append(f"print({', '.join(results)})")


def script(seed, programs, faults=False):
    """The text of a script with that many programs."""
    made = Generator(seed, faults)
    for number in range(1, programs + 1):
        made.program(number)
    return HEAD + "\n".join(made.lines) + "\n"


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--faults"]
    print(script(int(words[0]), int(words[1]) if len(words) > 1 else 1, "--faults" in sys.argv), end="")
