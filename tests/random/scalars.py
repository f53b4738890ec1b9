"""Random expressions of scalar types.

In: a random stream, what is in scope. Out: texts of expressions; those of integers with the bounds that their values keep.
What always holds: without `faults` no expression can fail; with it some overflow, divide by zero, index out of bounds,
narrow what does not fit, parse what is no number, or fail on purpose.
"""
import random

# Literals of i64 are small, or near the ends of the type: most sums of products stay inside.
RANGES = {kind: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind[0] == "i" else (0, 2**bits - 1)
          for kind in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64") for bits in [int(kind[1:])]}
NARROW = [kind for kind in RANGES if kind != "i64"]
WORDS = ["flow", "data", " b ", "", "Zürich", "a,b", "x y", "12", "-3", "ß", "{}"]
UNITS = ["days", "hours", "minutes", "seconds"]


class Scalars:
    """`names` holds what is in scope: (type, text, what is known of it)."""

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
        """What is in scope of this type. Within a loop over many elements there are no arrays: loops over loops over
        them would take hours."""
        if kind[-1] == "]" or kind == "list":
            if any(name[0] == "many" for name in self.names):
                return []
        return [name for name in self.names if name[0] == kind]

    def many(self, size):
        """A mark in the scope of the body of a loop over so many elements."""
        return [("many", "", None)] if size > 200 else []

    def inside(self, names, make):
        """What `make()` gives with more names in scope."""
        before = self.names
        self.names = [*before, *names]
        try:
            return make()
        finally:
            self.names = before

    def alone(self, names, make):
        """What `make()` gives with these names and no functions in scope."""
        before, functions = self.names, self.functions
        self.names, self.functions = list(names), []
        try:
            return make()
        finally:
            self.names, self.functions = before, functions

    def quoted(self, text):
        return '"' + text.replace("{", "\\{") + '"'

    # -- integers: (text, lowest, highest) --
    def held(self, text, low, high, kind="i64"):
        """The expression where its bounds are inside of the type; where they are not, None, or as it is, to fail."""
        lowest, highest = RANGES[kind]
        if lowest <= low and high <= highest:
            return text, low, high
        if self.faults and self.chance(0.5):
            return text, max(low, lowest), min(high, highest)
        return None

    def small(self, made):
        """An integer of small bounds, for what is added up or printed wide."""
        text, low, high = made
        return made if -(2**40) <= low and high <= 2**40 else (f"({text} % 1000003)", 0, 1000002)

    def integer(self, depth=3, kind="i64"):
        if kind != "i64" and self.chance(0.2):
            return self.literal(kind)
        names = self.known(kind)
        if depth <= 0 or self.chance(0.1):
            if names and self.chance(0.8):
                _, text, bounds = self.pick(*names)
                return text, *bounds
            return self.literal(kind)
        makers = [self.integer_arithmetic] * 6 + [self.integer_choice] * 2 + [self.integer_wrapping]
        if self.known(kind + "[]"):
            makers += [self.integer_of_array] * 2
        if kind == "i64":
            makers += [self.integer_reduction] * 3 + [self.integer_conversion] * 3 + [self.integer_other] * 4
            if self.faults:
                makers += [self.integer_fault] * 3
        elif self.faults:
            makers += [self.integer_narrowed] * 2
        for _ in range(4):
            made = self.pick(*makers)(depth - 1, kind)
            if made:
                return made
        return self.literal(kind)

    def literal(self, kind):
        low, high = RANGES[kind]
        value = self.number(max(low, -9), min(high, 20))
        if self.chance(0.15 if kind != "i64" else 0.03):
            value = self.pick(low, high, low + 1, high - 1, high // 2, high // 3)
        text = f"({value})" if value < 0 else str(value)
        if value == RANGES["i64"][0]:
            text = "(-9223372036854775807 - 1)"
        return (text if kind == "i64" else f"{kind}({text})"), value, value

    def integer_arithmetic(self, depth, kind):
        a, al, ah = self.integer(depth, kind)
        b, bl, bh = self.integer(depth, kind)
        how = self.pick("+", "-", "*", "+", "-", "//", "%", "abs", "min", "max", "clamp", "minus", "sign", "^")
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
                    return self.held(f"({a} // {text})", (-most - 1 if al < 0 or bl < 0 else 0), most, kind)
                return f"({a} % {text})", (-by if bl < 0 else 0), by
            return (f"({a} // {text})", al // by, ah // by) if how == "//" else (f"({a} % {text})", 0, by - 1)
        if how == "abs":
            return self.held(f"abs({a})", 0, max(abs(al), abs(ah)), kind)
        if how == "sign":
            return f"sign({a})", (-1 if kind[0] == "i" else 0), 1
        if how == "^":
            power = self.number(2, 3)
            ends = [al**power, ah**power, 0]
            return self.held(f"({a} ^ {power})", min(ends), max(ends), kind)
        if how == "minus":
            return self.held(f"(-{a})", -ah, -al, kind) if kind[0] == "i" else None
        if how == "clamp":
            low, high = sorted((self.number(0, 9), self.number(0, 40)))
            ends = (f"{low}", f"{high}") if kind == "i64" else (f"{kind}({low})", f"{kind}({high})")
            return f"clamp({a}, {ends[0]}, {ends[1]})", low, high
        both = (min(al, bl), min(ah, bh)) if how == "min" else (max(al, bl), max(ah, bh))
        return f"{how}({a}, {b})", *both

    def integer_wrapping(self, depth, kind):
        a, b = self.integer(depth, kind)[0], self.integer(depth, kind)[0]
        return f"{self.pick('wrap_add', 'wrap_sub', 'wrap_mul')}({a}, {b})", *RANGES[kind]

    def integer_narrowed(self, depth, kind):
        """A conversion that may not fit."""
        return f"{kind}({self.integer(depth)[0]})", *RANGES[kind]

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
        """(text, names, most elements, dimensions) of the generators of a comprehension."""
        i, n = self.fresh("i"), self.number(0, 12)
        names = [("i64", i, (0, max(n - 1, 0)))]
        form = self.number(0, 7)
        if form == 0:
            j = self.fresh("j")
            return f"{i} in 0..{n}, {j} in 0..{i}", [*names, ("i64", j, (0, max(n - 1, 0)))], n * n, 1
        if form == 1:
            return f"{i} in 0..{n} if {self.inside(names, lambda: self.boolean(depth))}", names, n, 1
        if form == 2 and self.known("i64[]"):
            _, text, (low, high, size) = self.pick(*self.known("i64[]"))
            return f"{i} in {text}", [("i64", i, (low, high)), *self.many(size)], size, 1
        if form == 3:
            by = self.number(1, 4)
            return f"{i} in 1..{n + 2} by {by}", [("i64", i, (1, n + 1))], n + 1, 1
        if form in (4, 5):
            j, m = self.fresh("j"), self.number(1, 5)
            names.append(("i64", j, (0, m - 1)))
            if form == 5:
                return (f"{i} in 0..{n}, {j} in 0..{m} if {self.inside(names, lambda: self.boolean(depth))}", names,
                        n * m, 1)
            return f"{i} in 0..{n}, {j} in 0..{m}", names, n * m, 2
        if form == 6 and self.known("f64[]"):
            x = self.fresh("x")
            _, text, _ = self.pick(*self.known("f64[]"))
            return f"{x} in {text}", [("f64", x, None), *self.many(10000)], 10000, 1
        return f"{i} in 0..{n}", names, n, 1

    def integer_reduction(self, depth, _):
        text, names, most, _ = self.generators(depth)
        if self.chance(0.3):
            return f"count(for {text}: {self.inside(names, lambda: self.boolean(depth))})", 0, most
        body, low, high = self.inside(names, lambda: self.small(self.integer(depth)))
        how = self.pick("sum", "max", "best", "argmax", "sum")
        if how == "max":
            zero = self.number(-5, 5)
            filtered = text if " if " in text else f"{text} if true"
            return f"max(concat([for {filtered}: {body}], [{zero}]))", min(low, zero), max(high, zero)
        if how in ("best", "argmax") and most and names[0][0] == "i64" and text.endswith(f"0..{most}"):
            i, bounds = names[0][1], names[0][2]
            if how == "argmax":
                return f"{self.pick('argmin', 'argmax')}(for {text}: {body})", 0, most - 1
            return f"best(for {text}: (k = {i}, s = {body}), by = s).k", *bounds
        return self.held(f"sum(for {text}: {body})", min(0, low * most), max(0, high * most))

    def integer_of_array(self, depth, kind):
        _, array, (low, high, size) = self.pick(*self.known(kind + "[]"))
        do = self.pick("sum", "len", "first", "at", "fold", "argmax", "loop", "any", "span")
        if do == "len" and kind == "i64":
            return f"len({array})", 0, size
        if do == "sum":
            return self.held(f"sum({array})", min(0, low * size), max(0, high * size)) if kind == "i64" else None
        if do == "argmax" and kind == "i64":
            return f"{self.pick('argmax', 'argmin')}(concat({array}, [{self.number(-3, 9)}]))", 0, size
        if do == "fold" and kind == "i64":
            a, b = self.fresh("a"), self.fresh("b")
            return (f"fold(({a}, {b}) => wrap_add(wrap_mul({a}, 3), {b}) % 1009, {self.number(0, 5)}, {array})", 0,
                    1008)
        if do == "loop" and kind == "i64":
            i = self.fresh("i")
            body, *bounds = self.inside([("i64", i, (0, size)), *self.many(size)], lambda: self.small(self.integer(depth)))
            return self.held(f"sum(for {i} in 0..len({array}): ({array}[{i}] % 1000) * ({body} % 100))", -(2**40), 2**40)
        if do == "span" and kind == "i64":
            return (f"{self.pick('max', 'min')}(for v in concat({array}, [0]): v)", min(low, 0), max(high, 0))
        if do == "at" and self.faults:
            return f"{array}[{self.integer(depth)[0]}]", low, high
        zero = "0" if kind == "i64" else f"{kind}(0)"
        return (f"concat({array}, [{zero}])[{self.pick('0', f'len({array})', f'len({array}) // 2', '-1')}]", min(low, 0),
                max(high, 0))

    def integer_conversion(self, depth, _):
        kind = self.pick(*NARROW, "f64", "text", "null", "date", "part", "parse")
        if kind == "f64":
            y = self.fresh("y")
            return (f"({y} => if is_nan({y}) {{ 0 }} else {{ {self.pick('round', 'floor', 'ceil', 'trunc')}"
                    f"(clamp({y}, -50.0, 50.0)) }})({self.real(depth)})"), -50, 50
        if kind == "text":
            return f"n_chars({self.words(depth)})", 0, 4000
        if kind == "null":
            a, al, ah = self.integer(depth)
            n, nl, nh = self.nullable(depth)
            return f"({n} ?? {a})", min(al, nl), max(ah, nh)
        if kind == "date":
            return f"{self.pick('year', 'month', 'day', 'weekday')}({self.date(depth)})", 1, 9999
        if kind == "part":
            return f"i64(round({self.duration(depth)} / {self.pick(*UNITS)}({self.number(1, 9)})))", -(2**46), 2**46
        if kind == "parse":
            a, low, high = self.integer(depth)
            return f"parse_i64(text({a}))", low, high
        a, low, high = self.integer(depth, kind)
        if kind == "u64" and high > RANGES["i64"][1]:
            return f"i64({a} // u64(2))", low // 2, high // 2
        return f"i64({a})", low, high

    def integer_other(self, depth, _):
        how = self.number(0, 7)
        a, low, high = self.integer(depth)
        if how == 0:
            top = self.number(1, 50)
            return f"random_int({self.number(0, 99)}, 0, {top}, {a})", 0, top - 1
        if how in (1, 2) and self.functions:
            return self.call(depth)
        if how == 3:
            x = self.fresh("x")
            made = self.inside([("i64", x, (low, high))], lambda: self.integer(depth))
            return f"({x} => {made[0]})({a})", made[1], made[2]
        if how == 4:
            x = self.fresh("x")
            made = self.inside([("i64", x, (low, high))], lambda: self.integer(depth))
            return (f"(if {self.boolean(depth)} {{ let {x} = {a}; {made[0]} }} else {{ 1 }})", min(made[1], 1),
                    max(made[2], 1))
        if how == 5:
            return self.loop_block(depth)
        other, ol, oh = self.integer(depth)
        if how == 6:
            x, y = self.fresh("x"), self.fresh("y")
            made = self.inside([("i64", x, (low, high)), ("i64", y, (ol, oh))], lambda: self.integer(depth))
            return f"(if true {{ let ({x}, {y}) = ({a}, {other}); {made[0]} }} else {{ 0 }})", min(made[1], 0), max(made[2], 0)
        return f"(a = {a}, b = {other}).b", ol, oh

    def loop_block(self, depth):
        """A block with a var and a loop; the loop's body may leave it early."""
        s, i = self.fresh("s"), self.fresh("i")
        start, low, high = self.integer(depth)
        scope = [("i64", s, (0, 999)), ("i64", i, (0, 9))]
        step = self.inside(scope, lambda: self.integer(depth)[0])
        leave = self.inside(scope, lambda: self.boolean(depth - 1))
        how = self.pick(f"if {leave} {{ break }}; {s} = wrap_add({s}, {step}) % 1000",
                        f"if {leave} {{ continue }}; {s} = wrap_add({s}, {step}) % 1000",
                        f"{s} = if {leave} {{ wrap_add({s}, {step}) % 1000 }} else {{ {s} // 2 }}")
        loop = self.pick(f"for {i} in 0..{self.number(0, 9)} {{ {how} }}",
                         f"var {i} = 0; while {i} < {self.number(0, 9)} {{ {i} += 1; {how} }}")
        return f"(if true {{ var {s} = {start} % 1000; {loop}; {s} }} else {{ 0 }})", 0, 999

    def call(self, depth):
        """A call of a function of the script, by its parameters' types."""
        name, parameters, low, high = self.pick(*self.functions)
        given = []
        for kind in parameters:
            given.append({"small": lambda: f"({self.integer(depth)[0]}) % 50", "f64": lambda: self.real(depth),
                          "i64": lambda: f"({self.integer(depth)[0]}) % 1000", "text": lambda: self.words(depth),
                          "i64 -> i64": lambda: self.function_value(depth)}[kind]())
        return f"{name}({', '.join(given)})", low, high

    def function_value(self, depth):
        x = self.fresh("x")
        body = self.inside([("i64", x, (-1000, 1000))], lambda: self.integer(depth)[0])
        return f"{x} => ({body}) % 1000"

    def integer_fault(self, depth, _):
        a = self.integer(depth)[0]
        return self.pick((f"i64(i8({a}))", -128, 127), (f"i64(u8({a}))", 0, 255), (f"i64(i32({a} * {a}))", -999, 999),
                         (f"parse_i64({self.words(depth)})", -99, 99), (f"({a} ^ 9)", -999, 999),
                         (f"(if {self.boolean(depth)} {{ {a} }} else {{ error(\"asked {{p0 + {a}}}\") }})", -99, 99),
                         (f"[for k in 0..5: k][{a}]", 0, 4), (f"(100 // {a})", -100, 100), (f"(p0 % {a})", -99, 99),
                         (f"(if true {{ assert {self.boolean(depth)}, \"told {{p0}}\"; {a} }} else {{ 0 }})", -99, 99),
                         (f"(if true {{ assert {self.boolean(depth)}; {a} }} else {{ 0 }})", -99, 99),
                         (f"floor({self.real(depth)} * 1e18)", -99, 99), (f"(2 ^ {a})", -99, 99),
                         (f"max([for k in 0..{a} % 3: k])", 0, 3),
                         (f"year(parse_date({self.words(depth)}, \"%Y-%m-%d\"))", 0, 9999))

    # -- other types --
    def nullable(self, depth):
        a, low, high = self.small(self.integer(depth - 1))
        form = self.number(0, 5)
        if form == 0:
            return f"try_parse_i64({self.pick('t0', 't1')})", -99, 99
        if form == 1:
            return f"(if {self.boolean(depth - 1)} {{ {a} }} else {{ null }})", low, high
        n, nl, nh = self.nullable(depth - 1) if depth > 0 else ("try_parse_i64(t1)", -99, 99)
        if form == 2:
            return f"if_else({self.boolean(depth - 1)}, {n}, {a})", min(low, nl), max(high, nh)
        if form == 3:
            return f"(match {n} {{ null => {a}, {self.number(0, 9)}..20 => null, _ => {a} }})", low, high
        if form == 4:
            return self.held(f"abs(-{n})", 0, max(abs(nl), abs(nh))) or (n, nl, nh)
        made = self.held(f"({n} + {a})", nl + low, nh + high)
        return made or (n, nl, nh)

    def real(self, depth=3):
        names = self.known("f64")
        if depth <= 0 or self.chance(0.1):
            if names and self.chance(0.8):
                return self.pick(*names)[1]
            return self.pick("0.5", "2.25", "(-1.75)", "1e-3", "3.0", "pi", "1e6", "(-0.0)", "1e300", "inf", "nan") \
                if self.chance(0.2) else self.pick("0.5", "2.25", "(-1.75)", "1e-3", "3.0", "pi", "1e6")
        a = self.real(depth - 1)
        form = self.number(0, 15)
        if form <= 3:
            return f"({a} {self.pick('+', '-', '*', '/', '+', '-')} {self.real(depth - 1)})"
        if form == 4:
            return self.pick(f"sqrt(abs({a}))", f"exp(clamp({a}, -20.0, 20.0))", f"log(abs({a}) + 1)", f"sin({a})",
                             f"cos({a})", f"tanh({a})", f"abs({a})", f"expm1(clamp({a}, -20.0, 20.0))",
                             f"round({a}, digits = 2)", f"({a})^2", f"log1p(abs({a}))", f"atan2({a}, 2.0)", f"erf({a})",
                             f"log2(abs({a}))", f"atan({a})", f"sign({a})", f"(-{a})", f"tan({a})", f"erfc({a})",
                             f"(abs({a}) ^ 0.3)", f"fma({a}, 2.5, {self.real(0)})", f"sinh(clamp({a}, -9.0, 9.0))")
        if form == 5:
            return f"f64({self.integer(depth - 1)[0]})"
        if form == 6:
            return f"(if {self.boolean(depth - 1)} {{ {a} }} else {{ {self.real(depth - 1)} }})"
        if form in (7, 13):
            text, names, _, _ = self.generators(depth - 1)
            how = self.pick("sum", "sum", "product")
            return f"{how}(for {text}: {self.inside(names, lambda: self.real(depth - 1))})"
        if form == 8:
            how = self.pick("random", "random_normal")
            return f"{how}({self.number(0, 9)}, {self.integer(depth - 1)[0]})"
        if form == 9:
            return f"f64({self.single(depth - 1)})"
        if form == 10:
            return f"{self.pick('min', 'max', 'hypot')}({a}, {self.real(depth - 1)})"
        arrays = self.known("f64[]")
        if form in (11, 12) and arrays:
            array = self.pick(*arrays)[1]
            return self.pick(f"sum({array})", f"mean(concat({array}, [1.0]))", f"max(concat({array}, [0.0]))",
                             f"sum({array} * {array})", f"product({array} / 2)", f"concat({array}, [2.5])[len({array})]",
                             f"sum(for v in {array}: v * {self.real(0)})", f"sum({array} * {array} + {array})",
                             f"fold((a, b) => a * 0.5 + b, 0.0, {array})", f"min(concat({array}, [0.0]))",
                             f"std(concat({array}, [1.0, 2.0]))", f"median(concat({array}, [1.0]))")
        if form == 14:
            return f"({self.duration(depth - 1)} / {self.pick(*UNITS)}(3))"
        if form == 15:
            return f"(try_parse_f64({self.words(depth - 1)}) ?? {a})"
        return f"({a} * {self.small(self.integer(depth - 1))[0]})"

    def single(self, depth):
        """f32."""
        names = self.known("f32")
        if depth <= 0:
            if names and self.chance(0.5):
                return self.pick(*names)[1]
            return self.pick("p6", "f32(0.1)", "f32(p2)", "f32(-3.5)")
        a = self.single(depth - 1)
        arrays = self.known("f32[]")
        if arrays and self.chance(0.3):
            array = self.pick(*arrays)[1]
            return self.pick(f"sum({array})", f"max(concat({array}, [f32(0.5)]))", f"concat({array}, [f32(0.5)])[0]",
                             f"sum(for v in {array}: v * v)")
        return self.pick(f"({a} {self.pick('+', '-', '*', '/')} {self.single(depth - 1)})", f"sqrt(abs({a}))",
                         f"f32({self.real(depth - 1)})", f"min({a}, {self.single(depth - 1)})", f"sin({a})",
                         f"({a} * 2)", f"({a} + 0.5)", f"exp(clamp({a}, f32(-9), f32(9)))", f"(-{a})", f"tanh({a})",
                         f"f32({self.integer(depth - 1)[0]})", f"({a})^3")

    def boolean(self, depth=2):
        names = self.known("bool")
        if depth <= 0:
            return self.pick(*names)[1] if names and self.chance(0.5) else \
                f"({self.integer(0)[0]} {self.pick('<', '==', '>')} {self.integer(0)[0]})"
        form = self.number(0, 10)
        if form <= 2:
            kind = self.pick("i64", "i64", "i64", *NARROW)
            return f"({self.integer(depth - 1, kind)[0]} {self.pick('<', '<=', '==', '!=', '>', '>=')} " \
                   f"{self.integer(depth - 1, kind)[0]})"
        if form == 3:
            return f"({self.real(depth - 1)} {self.pick('<', '>', '<=')} {self.real(depth - 1)})"
        if form == 4:
            return f"({self.boolean(depth - 1)} {self.pick('and', 'or')} {self.boolean(depth - 1)})"
        if form == 5:
            return f"(not {self.boolean(depth - 1)})"
        if form == 6:
            return f"({self.words(depth - 1)} {self.pick('==', '<', '!=', '>=')} {self.words(depth - 1)})"
        if form == 7:
            n = self.nullable(depth - 1)[0]
            return self.pick(f"is_null({n})", f"(({n} > {self.integer(0)[0]}) ?? {self.boolean(0)})",
                             f"(({n} > 3 and {self.boolean(0)}) ?? true)", f"(({n} < 3 or {self.boolean(0)}) ?? false)")
        if form == 8:
            text, names, _, _ = self.generators(depth - 1)
            return f"{self.pick('any', 'all')}(for {text}: {self.inside(names, lambda: self.boolean(depth - 1))})"
        if form == 9:
            return self.pick(f"({self.date(depth - 1)} {self.pick('<', '==', '>')} {self.date(depth - 1)})",
                             f"({self.duration(depth - 1)} > {self.duration(depth - 1)})",
                             f"({self.single(depth - 1)} < {self.single(depth - 1)})",
                             f"(i64({self.integer(depth - 1, 'i32')[0]}) < {self.real(depth - 1)})",
                             f"({self.integer(depth - 1)[0]} {self.pick('<', '==')} {self.real(depth - 1)})")
        return f"{self.pick('contains', 'starts_with', 'ends_with')}({self.words(depth - 1)}, {self.words(0)})"

    def words(self, depth=2):
        names = self.known("text")
        if depth <= 0 or self.chance(0.2):
            if names and self.chance(0.6):
                return self.pick(*names)[1]
            return self.quoted(self.pick(*WORDS))
        a = self.words(depth - 1)
        return self.pick(lambda: f"({a} + {self.words(depth - 1)})", lambda: f"upper({a})", lambda: f"trim({a})",
                         lambda: f"lower({a})", lambda: f'replace({a}, "a", "bb")',
                         lambda: f'split_part({a} + ",q", ",", {self.number(0, 1)})',
                         lambda: f"text({self.integer(1)[0]})", lambda: f"slice({a}, {self.number(0, 2)}, {self.number(2, 6)})",
                         lambda: f"pad({a}, {self.pick(8, -8, 0, 3)})", lambda: f'pad({a}, 6, fill = "*")',
                         lambda: f"text({self.date(1)})", lambda: f"text({self.real(1)})",
                         lambda: f'"<{{p0 + {self.number(0, 9)}}}|{{{self.pick(*names)[1] if names else "p0"}}}>"',
                         lambda: f"(if {self.boolean(1)} {{ {a} }} else {{ {self.words(0)} }})",
                         lambda: f'(match {a} {{ "flow" => "one", "" => {self.words(0)}, _ => {a} }})',
                         lambda: f"if_else({self.boolean(1)}, {a}, {self.words(0)})")()

    def date(self, depth):
        """Years 1000 to 4000 whatever is added."""
        names = self.known("date")
        if depth <= 0 or self.chance(0.2):
            if names and self.chance(0.6):
                return self.pick(*names)[1]
            return f'date("{self.number(1900, 2100)}-{self.number(1, 12):02}-{self.number(1, 28):02}")'
        a = self.date(0)
        n = f"(({self.integer(depth - 1)[0]}) % 1000)"
        return self.pick(f"({a} + days({n}))", f"({a} - days({n}))", f"add_months({a}, {n})", f"date(datetime({a}) + hours({n}))",
                         f'date_trunc("{self.pick("year", "quarter", "month", "week")}", {a})',
                         f"(if {self.boolean(depth - 1)} {{ {a} }} else {{ {self.date(depth - 1)} }})",
                         f"if_else({self.boolean(depth - 1)}, {a}, {self.date(0)})")

    def duration(self, depth):
        n = f"(({self.integer(depth - 1)[0]}) % 1000)"
        if depth <= 0:
            return f"{self.pick(*UNITS)}({n})"
        return self.pick(f"({self.date(depth - 1)} - {self.date(depth - 1)})", f"{self.pick(*UNITS)}({n})",
                         f"({self.duration(depth - 1)} {self.pick('+', '-')} {self.duration(depth - 1)})")
