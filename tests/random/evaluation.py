"""Random small programs about what is evaluated, and what a plain model of the rule says of each (LANGUAGE 5).

In: a seed and a number of cases. Out: (name, statements that bind `r`, an i64, and what is expected: ("value", n) or ("fails", code)).
A case computes an array or a value that may fail, in one of many ways, and uses it in full, for its size alone, for one
element, as a column, in a loop that runs or does not, or not at all. The model, written from the page of the language:

  - a `let` that nobody uses is not evaluated, nor what a `var` holds that is never read;
  - a field of a tuple, and a column of a table, that nobody uses is like a binding that nobody uses;
  - any other use, were it for the size alone, evaluates the whole array;
  - a branch, and a side of `and`, `or`, `??`, is evaluated for the elements that take it; a loop as often as it runs. So are the
    scalars and whole arrays that elements of a branch read (branches.py).

`z` is 0 and not known when compiling; so are the elements of the arrays.
"""
import random
import re

import branches

DIVISION, OVERFLOW, NARROW, INDEX, EMPTY, PARSE, ASSERT, SHAPE, ERROR, LEVEL = (
    "E0702", "E0701", "E0705", "E0704", "E0709", "E0706", "E0710", "E0708", "E0711", "E0261")

# What the scalars and arrays that branches read fail with (branches.py).
CODES = {"division": DIVISION, "parse": PARSE, "assert": ASSERT, "index": INDEX}

HEAD = """param z: i64 = 0
fn positive(x: i64) -> i64 { assert x > 0; x }
fn many(x: i64[n], least: i64) -> i64[n] { assert n >= least; x }
fn ignored(x: i64[n]) -> i64 = 3
fn size(x: i64[n]) -> i64 = n
fn words(x: i64[n]) -> text[n] = [for q in x: if q == 0 { "none" } else { "{q}" }]
"""


class Fails(Exception):
    """The program fails with this code."""


class Cases:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *of):
        return self.random.choice(of)

    def number(self, low, high):
        return self.random.randint(low, high)

    # ---- arrays that may fail: (text, function that gives the list or raises Fails) ----

    def given(self):
        values = [self.number(0, 5) for _ in range(self.number(1, 6))]
        if self.random.random() < 0.4:
            values = [v or 1 for v in values]
        return values

    def array(self, name, v):
        """An expression of the array `name`, whose elements are v."""
        n = len(v)
        form = self.number(0, 15)

        def division(k, over):
            def run():
                if 0 in over:
                    raise Fails(DIVISION)
                return [k // x for x in over]
            return run

        k = self.number(2, 9)
        if form == 0:
            return f"{k} // {name}", division(k, v)
        if form == 1:
            return f"[for x in {name}: {k} // x]", division(k, v)
        if form == 2:
            least = self.number(0, 2)
            kept = [x for x in v if x > least - 1]
            return f"[for x in {name} if x > {least} - 1: {k} // x]", division(k, kept)
        if form == 3:
            at = [self.number(0, n) if self.random.random() < 0.5 else self.number(0, n - 1) for _ in range(self.number(1, 3))]

            def take():
                if any(i >= n for i in at):
                    raise Fails(INDEX)
                return [v[i] for i in at]
            return f"{name}[[{', '.join(f'{i} + z' for i in at)}]]", take
        if form == 4:
            low = self.number(0, 2)
            high = low + self.number(0, n)

            def cut():
                if high > n:
                    raise Fails(INDEX)
                return v[low:high]
            return f"{name}[{low} + z..{high} + z]", cut
        if form == 5:
            factor = 2**62 if self.random.random() < 0.6 else 2**40

            def times():
                out = [x * factor for x in v]
                if any(x > 2**63 - 1 for x in out):
                    raise Fails(OVERFLOW)
                return [x // factor for x in out]
            return f"({name} * {factor}) // {factor}", times
        if form == 6:
            factor = self.pick(20, 30, 60)

            def narrow():
                if any(x * factor > 127 for x in v):
                    raise Fails(NARROW)
                return [x * factor for x in v]
            return f"i64(i8({name} * {factor}))", narrow
        if form == 7:
            above = self.number(0, 5)

            def largest():
                kept = [x for x in v if x > above]
                if not kept:
                    raise Fails(EMPTY)
                return [x + max(kept) for x in v]
            return f"({name} + max({name}[{name} > {above}]))", largest
        if form == 8:
            def parse():
                if 0 in v:
                    raise Fails(PARSE)
                return v
            return f"parse_i64(words({name}))", parse
        if form == 9:
            def asserted():
                if 0 in v:
                    raise Fails(ASSERT)
                return v
            return f"positive({name})", asserted
        if form == 10:
            least = self.number(1, 6)

            def enough():
                if n < least:
                    raise Fails(ASSERT)
                return v
            return f"many({name}, {least})", enough
        if form == 11:
            def stacked():
                if len(set(v)) > 1:
                    raise Fails(SHAPE)
                return [x * (x - 1) // 2 for x in v]
            return f"sum(stack([for x in {name}: [for j in 0..x: j]]), axis = 1)", stacked
        if form == 12:
            def stopped():
                if 0 in v:
                    raise Fails(ERROR)
                return v
            return f'[for x in {name}: if x == 0 {{ error("zero") }} else {{ x }}]', stopped
        if form == 13:
            def guarded():
                return [k // x if x > 0 else -1 for x in v]
            return f"(if {name} > 0 {{ {k} // {name} }} else {{ -1 }})", guarded
        if form == 14:
            least = self.number(0, 2)

            def kept_by():
                out = []
                for x in v:
                    if x >= least:
                        if x == 0:
                            raise Fails(DIVISION)
                        if k // x > 1:
                            out.append(x)
                return out
            return f"{name}[{name} >= {least} and {k} // {name} > 1]", kept_by
        inner, run = self.array(name, v)
        return f"many({inner}, 0)", run

    # ---- uses: statements that bind r; a function that gives r ----

    def case(self):
        v = self.given()
        text, run = self.array("v", v)
        form = self.number(0, 57)
        if form > 47:
            return branches.Branches(self.pick, self.number, Fails, CODES).case()
        if form > 40:
            return self.logic_case()
        lines = [f"let v = [{', '.join(f'{x} + z' for x in v)}]"]
        say = lines.append

        def value(f):
            return lambda: f(run())

        if form == 0:
            say(f"let r = sum({text})")
            want = value(sum)
        elif form == 1:
            say(f"let r = len({text})")
            want = value(len)
        elif form == 2:
            say(f"let w = {text}\nlet r = len(w)")
            want = value(len)
        elif form == 3:
            say(f"let w = {text}\nlet r = 7")
            want = lambda: 7
        elif form == 4:
            say(f"let w = {text}\nlet u = len(w)\nlet r = 7")
            want = lambda: 7
        elif form == 5:
            say(f"let w = {text}\nlet u = len(w)\nlet r = u + 1")
            want = value(lambda w: len(w) + 1)
        elif form == 6:
            say(f"let r = sum(for q in {text}: 1)")
            want = value(len)
        elif form == 7:
            say(f"let r = len([for q in {text}: 1])")
            want = value(len)
        elif form == 8:
            say(f"let r = fold((s, q) => s + 1, 0, {text})")
            want = value(len)
        elif form == 9:
            say(f"var s = 0\nfor q in {text} {{ s += 1 }}\nlet r = s")
            want = value(len)
        elif form == 10:
            say(f"var s = 0\ns = sum({text})\ns = 1\nlet r = s")
            want = lambda: 1
        elif form == 11:
            say(f"var s: i64[_] = v\ns = {text}\nlet r = len(s)")
            want = value(len)
        elif form == 12:
            say(f"var s: i64[_] = v\ns = {text}\ns = v\nlet r = len(s)")
            want = lambda: len(v)
        elif form == 13:
            say(f"let r = ignored({text})")
            want = value(lambda w: 3)
        elif form == 14:
            say(f"let r = size({text})")
            want = value(len)
        elif form == 15:
            say(f"let p = (a = {text}, b = 5)\nlet r = p.b")
            want = lambda: 5
        elif form == 16:
            say(f"let p = (a = {text}, b = 5)\nlet r = p.b + len(p.a)")
            want = value(lambda w: 5 + len(w))
        elif form == 17:
            say(f"let (a, b) = (a = {text}, b = 5)\nlet r = b")
            want = lambda: 5
        elif form == 18:
            times = self.number(0, 1)
            say(f"var s = 0\nfor i in 0..{times} + z {{ s += len({text}) }}\nlet r = s")
            want = value(len) if times else lambda: 0
        elif form == 19:
            taken = self.pick(True, False)
            say(f"let r = if z {'==' if taken else '!='} 0 {{ len({text}) }} else {{ 4 }}")
            want = value(len) if taken else lambda: 4
        elif form == 20:
            taken = self.pick(True, False)
            say(f"let r = if z {'==' if taken else '!='} 0 and len({text}) > 0 {{ 1 }} else {{ 4 }}")
            want = value(lambda w: 1 if w else 4) if taken else lambda: 4
        elif form == 21:
            say(f"let r = len(({text})[..0])")
            want = value(lambda w: 0)
        elif form == 22:
            say(f"let w = concat({text}, v)\nlet r = w[-1]")
            want = value(lambda w: v[-1])
        elif form == 23:
            say(f"let t = table(a = concat({text}, v))\nlet r = count(t)")
            want = value(lambda w: len(w) + len(v))  # the column says how many rows there are
        elif form == 24:
            say(f"var i = 0\nwhile i < len({text}) {{ i += 1 }}\nlet r = i")
            want = value(len)
        elif form == 25:
            say(f"let r = len(for q in v: len({text}))")
            want = value(lambda w: len(v))
        elif form == 26:
            say(f"let f = (x, y) => y\nlet r = f({text}, 9)")
            want = value(lambda w: 9)
        elif form == 27:
            say(f"var s: i64[_] = v\nfor i in 0..2 + z {{ s = {text} }}\nlet r = len(s)")
            want = value(len)
        elif form == 28:
            say(f"var s: i64[_] = v\nif z == 0 {{ s = {text} }}\ns = v\nlet r = sum(s)")
            want = lambda: sum(v)
        elif form == 29:
            # A loop, a comprehension, a reduction over nothing, or whose filter keeps nothing: what it holds is not evaluated.
            most = self.number(0, 1)
            inner = self.pick("len({})", "sum({})").format(text)
            say(self.pick(f"let r = sum(for i in 0..{most} + z: {inner})",
                          f"let r = sum([for i in 0..{most} + z: {inner}])",
                          f"let r = sum(for q in v if q > {5 - 6 * most} and q == v[0] and z == 0: {inner}) // max(count(for q in v: q == v[0]), 1)",
                          f"let r = fold((s, i) => s + {inner}, 0, [for i in 0..{most} + z: i])"))
            want = value(len if inner.startswith("len") else sum) if most else lambda: 0
        elif form == 30:
            # A side by element.
            above = self.number(0, 4)
            k = self.number(2, 9)
            how = self.number(0, 3)
            say(self.pick(f"let w = if v > {above} {{ {k} // v }} else {{ 0 }}",
                          f"let w = if_else(v > {above}, {k} // v, 0)",
                          f"let w = match v {{ x if x > {above} => {k} // x, _ => 0 }}",
                          f"let w = [for x in v: if x > {above} {{ {k} // x }} else {{ 0 }}]"))
            say(self.pick("let r = sum(w)", "let r = sum(w) + 0 * len(w)"))
            want = lambda: sum(k // x for x in v if x > above)
        elif form == 31:
            # Null, and what stands for it.
            k = self.number(2, 9)
            known = [self.random.random() < 0.6 for _ in v]
            say("let u: i64?[_] = [" + ", ".join(f"{x} + z" if y else "null" for x, y in zip(v, known)) + "]")
            say(self.pick(f"let w = u ?? {k} // (v - 2)", f"let w = [for i in 0..len(v): u[i] ?? {k} // (v[i] - 2)]"))
            say("let r = sum(w)")

            def want():
                if any(not y and x == 2 for x, y in zip(v, known)):
                    raise Fails(DIVISION)
                return sum(x if y else k // (x - 2) for x, y in zip(v, known))
        else:
            return self.table_case()
        return "\n".join(lines), want

    def logic_case(self):
        """`and`, `or`, `??` of scalars and arrays, either of which may be null and the right one fail: in a script, a loop, a verb."""
        n = self.number(1, 4)
        word = self.pick("and", "or", "??")
        k = self.number(2, 9)
        lines = []
        say = lines.append

        def operand(name, element, many, null):
            """Binds `name`; its values, or its one value."""
            values = [None if null and self.random.random() < 0.4 else element() for _ in range(n if many else 1)]
            texts = ["null" if x is None else f"{x} + z" if not isinstance(x, bool) else f"z {'==' if x else '!='} 0" for x in values]
            if many:
                say(f"let {name}: {kind}{'?' if null else ''}[_] = [{', '.join(texts)}]")
            elif null:  # what is null is not known when compiling
                say(f"let {name}: {kind}? = if z == 0 {{ {texts[0]} }} else {{ {'z == 0' if kind == 'bool' else 'z'} }}")
            elif kind == "bool" and self.random.random() < 0.4:
                say(f"let {name} = {str(values[0]).lower()}")
            else:
                say(f"let {name} = {texts[0]}")
            return values * (n // len(values))

        left_many, right_many = self.pick((True, True), (True, False), (False, True), (False, False))
        in_verb = (left_many or right_many) and self.random.random() < 0.5
        null_left, null_right = word == "??" or self.random.random() < 0.4, self.random.random() < 0.4
        kind = "i64" if word == "??" else "bool"
        lefts = operand("l", (lambda: self.number(0, 5)) if word == "??" else (lambda: self.pick(True, False)), left_many, null_left)
        kind = "i64"
        by = operand("d", lambda: self.pick(0, 1, 2), right_many, False)
        other = operand("o", lambda: self.number(0, 5), right_many, True) if null_right else [0] * n
        if word == "??":
            right = f"(o + {k} // d)" if null_right else f"{k} // d"
        else:
            right = f"(o < {k} // d)" if null_right else f"{k} // d > 2"

        def element(i):
            a = lefts[i]
            if word == "??" and a is not None or word == "or" and a is True or word == "and" and a is False:
                return a
            if by[i] == 0:
                raise Fails(DIVISION)
            q = k // by[i]
            if word == "??":
                return None if null_right and other[i] is None else other[i] + q
            b = None if null_right and other[i] is None else other[i] < q if null_right else q > 2
            if a is None:
                return None if b is None or b == (word == "and") else b
            return b

        def digits(values):
            code = lambda x: -7 if x is None else int(x)
            return sum(code(x) * (i + 1) for i, x in enumerate(values))

        kind = "i64" if word == "??" else "bool"
        null = kind + ("?" if null_right or null_left and word != "??" else "")
        code = {"i64": "q", "bool": "if q { 1 } else { 0 }", "i64?": "q ?? -7", "bool?": "match q { null => -7, true => 1, false => 0 }"}[null]
        if not (left_many or right_many):
            say(self.pick(f"let w: {null} = l {word} {right}", f"let f = (l, d) => l {word} {right}\nlet w: {null} = f(l, d)",
                          f"let w: {null} = [for i in 0..1 + z: l {word} {right}][0]"))
            say(f"let r = [for q in [w]: {code}][0]")
            return "\n".join(lines), lambda: digits([element(0)])
        named = lambda f, text: re.sub(r"\b[ldo]\b", lambda m: f(m[0]), text)
        columns = [c for c, many in (("l", left_many), ("d", right_many), ("o", right_many and null_right)) if many]
        if in_verb:
            row = lambda name: f"c_{name}" if name in columns else name
            say(f"let t = table({', '.join(f'c_{c} = {c}' for c in columns)})")
            if word != "??" and self.random.random() < 0.6:
                comma = word == "and" and self.random.random() < 0.4
                say(f"let r = t |> where({named(row, f'l, {right}' if comma else f'l {word} {right}')}) |> count()")
                if comma:  # a condition that is null keeps no row, and what comes behind it is for the rows that are kept
                    lefts = [bool(x) for x in lefts]
                return "\n".join(lines), lambda: sum(element(i) is True for i in range(n))
            say(f"let w: {null}[_] = (t |> derive(w = {named(row, f'l {word} {right}')})).w")
        elif self.random.random() < 0.3:
            at = lambda name: f"{name}[i]" if name in columns else name
            say(f"let w: {null}[_] = [for i in 0..{n} + z: {named(at, f'l {word} {right}')}]")
        else:
            say(f"let w: {null}[_] = l {word} {right}")
        say(f"let c = [for q in w: {code}]\nlet r = sum(for i in 0..len(c): c[i] * (i + 1))")
        return "\n".join(lines), lambda: digits([element(i) for i in range(n)])

    @staticmethod
    def nothing_left():
        raise Fails(INDEX)  # the first of no rows

    def table_case(self):
        """Verbs: rows are decided by what is written, columns are bindings."""
        a = self.given()
        b = [self.number(0, 3) for _ in a]
        n = len(a)
        k = self.number(2, 9)
        lines = [f"let t = table(a = [{', '.join(f'{x} + z' for x in a)}], b = [{', '.join(f'{x} + z' for x in b)}])"]
        say = lines.append
        form = self.number(0, 27)

        def by(x):
            if x == 0:
                raise Fails(DIVISION)
            return k // x

        if form == 0:
            say(f"let r = t |> derive(c = {k} // a) |> count()")
            want = lambda: n
        elif form == 1:
            say(f"let r = sum((t |> derive(c = {k} // a) |> select(b)).b)")
            want = lambda: sum(b)
        elif form == 2:
            say(f"let r = sum((t |> derive(c = {k} // a) |> where(b > 0)).c)")
            want = lambda: sum(c for c, y in zip([by(x) for x in a], b) if y > 0)
        elif form == 3:
            say(f"let r = t |> where({k} // a > 1) |> count()")
            want = lambda: sum(by(x) > 1 for x in a)
        elif form == 4:
            say(f"let r = t |> where(b > 0 and {k} // b > 1) |> count()")
            want = lambda: sum(x > 0 and by(x) > 1 for x in b)
        elif form == 5:
            say(f"let r = t |> where(b > 0, {k} // b > 1) |> count()")
            want = lambda: sum(x > 0 and by(x) > 1 for x in b)
        elif form == 6:
            say(f"let r = t |> where(b == 0 or {k} // b > 1) |> count()")
            want = lambda: sum(x == 0 or by(x) > 1 for x in b)
        elif form == 7:
            say(f"let r = t |> where(a > 0) |> where({k} // a > 1) |> count()")
            want = lambda: sum(by(x) > 1 for x in a if x > 0)
        elif form == 8:
            say(f"let r = sum((t |> derive(c = if b > 0 {{ {k} // b }} else {{ 0 }})).c)")
            want = lambda: sum(by(x) if x > 0 else 0 for x in b)
        elif form == 9:
            say(f"let r = t |> sort({k} // a) |> count()")
            want = lambda: len([by(x) for x in a])
        elif form == 10:
            say(f"let r = t |> group_by(g = {k} // a) |> summarize(n = count()) |> count()")
            want = lambda: len({by(x) for x in a})
        elif form == 11:
            say(f"let r = sum((t |> group_by(b) |> summarize(s = sum({k} // a), n = count())).n)")
            want = lambda: n
        elif form == 12:
            at = self.number(0, n)
            say(f"let r = t |> derive(c = a[{at} + z]) |> count()")
            want = lambda: n
        elif form == 13:
            at = self.number(0, n)
            say(f"let r = sum((t |> derive(c = a[{at} + z])).c)")

            def want():
                if at >= n:
                    raise Fails(INDEX)
                return a[at] * n
        elif form == 14:
            say("let r = sum((t |> derive(c = positive(a), d = a + 1)).d)")
            want = lambda: sum(a) + n
        elif form == 15:
            into = sorted(set(b))[: self.number(1, 3)]
            names = ", ".join(f"x{x}" for x in into)
            say('let u = t |> derive(s = "x{b}", h = 1)')
            say(f"let r = u |> select(h, s, a) |> pivot(name = s, value = a, into = ({names})) |> count()")

            def want():
                if any(x not in into for x in b):
                    raise Fails(LEVEL)
                if len(set(b)) < n:
                    raise Fails("E0646")
                return 1
        elif form == 16:
            known = sorted(set(b))[: self.number(1, 4)]
            levels = ", ".join(f'"x{x}"' for x in known)
            say('let c = category([for x in t.b: "x{x}"], levels = [' + levels + "])")
            say("let r = len(c)")

            def want():
                if any(x not in known for x in b):
                    raise Fails(LEVEL)
                return n
        elif form == 17:
            say(f"let r = (t |> head(1) |> derive(c = {k} // a)).c[0]")
            want = lambda: by(a[0])
        elif form == 18:
            say(f"let r = sum((t |> where(a > 9) |> derive(c = a[0] + {k} // b)).c)")
            want = self.nothing_left
        elif form == 19:
            say(f"let r = sum((t |> head(z) |> derive(c = {k} // (b - b))).c)")
            want = lambda: 0
        elif form == 20:
            least = self.number(0, 1)
            say(f"let u = t |> where(a > {least} - 1) |> derive(c = {k} // a, d = b) |> where(c > 1)")
            say(self.pick("let r = count(u)", "let r = len(u.d)", "let r = len(u.c)"))
            want = lambda: sum(by(x) > 1 for x in a if x >= least)
        elif form == 21:
            say(f"let u = t |> derive(c = {k} // a, d = b)")
            say(self.pick("let r = len(u.d)", "let r = count(u)", "let r = count(for q in u: q.d >= 0)"))
            want = lambda: n
        elif form == 22:
            say(f"let u = t |> derive(c = {k} // a, d = b)\nlet r = len(u.c)")
            want = lambda: len([by(x) for x in a])
        elif form == 23:
            say(f"let u = t |> group_by(b) |> summarize(m = max({k} // a), n = count())")
            use = self.pick("count(u)", "sum(u.n)", "len(u.m)")
            say(f"let r = {use}")
            want = {"count(u)": lambda: len(set(b)), "sum(u.n)": lambda: n, "len(u.m)": lambda: [by(x) for x in a] and len(set(b))}[use]
        elif form == 24:
            at = [self.number(0, n) for _ in range(2)]
            say(f"let r = count(t[[{at[0]} + z, {at[1]} + z]])")

            def want():
                if max(at) >= n:
                    raise Fails(INDEX)
                return 2
        elif form == 25:
            say(f"let r = t |> join(t |> select(b, q = {k} // a) |> distinct(b), on = b) |> count()")
            want = lambda: n
        elif form == 26:
            say(f"let u = concat(t, t |> derive(a = {k} // a))")
            use = self.pick("count(u)", "sum(u.b)", "sum(u.a)")
            say(f"let r = {use}")
            want = {"count(u)": lambda: 2 * n, "sum(u.b)": lambda: 2 * sum(b),
                    "sum(u.a)": lambda: sum(a) + sum(by(x) for x in a)}[use]
        else:
            say(f"let r = t |> derive(c = if a > 0 and {k} // a > 1 {{ {k} // a }} else {{ 0 }}) |> where(c > 0 or b > 9) |> count()")
            want = lambda: sum(x > 0 and k // x > 1 for x in a)
        return "\n".join(lines), want

    def make(self):
        text, want = self.case()
        try:
            return text, ("value", want())
        except Fails as fault:
            return text, ("fails", str(fault))


def cases(seed, n):
    """n cases of this seed."""
    made = Cases(seed)
    return [made.make() for _ in range(n)]
