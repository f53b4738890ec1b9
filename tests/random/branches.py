"""Random conditions by element whose branches mix scalars, elements and whole arrays, and what a plain model says of each.

In: the source of randomness of evaluation.py. Out: statements that bind `r`, an i64, and what is expected, as there.
An expression is a tree of Nodes: its text, and its value for element i as a function, which raises what the program fails with. A node
is evaluated for the elements that reach it; an argument of `sum`, `max`, `sort` for all elements. Each case has one way to fail, so
it does not matter which of several failures comes first.
"""
import functools
import re


class Node:
    """text: of the expression. at(i): its value for element i. many: it has a value for each element."""

    def __init__(self, text, at, many):
        self.text, self.at, self.many = text, at, many


class Branches:
    """One case: arrays v and w and u (may be null), scalars d, k, b and o (may be null), a text s."""

    def __init__(self, pick, number, fails, codes):
        self.pick, self.number, self.fails = pick, number, fails
        self.way = pick(*codes)
        self.codes = codes
        self.n = number(1, 4)
        self.v = [number(0, 3) for _ in range(self.n)]
        self.w = [number(0, 2) for _ in range(self.n)]
        self.u = [pick(None, number(0, 3)) for _ in range(self.n)]
        self.d = pick(0, 0, 1, 2)
        self.k = number(0, 4)
        self.p = pick(number(0, 6), number(0, 6), 10**15)
        self.b = pick(True, False)
        self.o = pick(None, number(0, 3))
        self.s = pick("x", "7")
        self.place = pick("script", "script", "derive", "where", "comma", "each", "group")

    def head(self):
        may = lambda x: "null" if x is None else f"{x} + z"
        lines = [f"let {name} = [{', '.join(f'{x} + z' for x in values)}]" for name, values in (("v", self.v), ("w", self.w))]
        lines.append(f"let u: i64?[_] = [{', '.join(map(may, self.u))}]")
        lines.append(f"let d = {self.d} + z\nlet k = {self.k} + z\nlet p = {self.p} + z\nlet b = z {'==' if self.b else '!='} 0")
        lines.append(f"let o: i64? = if z == 0 {{ {may(self.o)} }} else {{ z }}")
        lines.append(f'let s = if z == 0 {{ "{self.s}" }} else {{ "" }}')
        return "\n".join(lines)

    def whole(self, e):
        return [e.at(i) for i in range(self.n)]

    def divide(self, a, b):
        if b == 0:
            raise self.fails(self.codes["division"])
        return a // b

    # ---- what may fail ----

    def risk(self, depth):
        """A scalar or an array that fails in the way of this case, or may."""
        c = self.number(2, 9)
        if self.way == "parse":
            def parse(i):
                if self.s == "x":
                    raise self.fails(self.codes["parse"])
                return 7
            return Node("parse_i64(s)", parse, False)
        if self.way == "assert":
            def positive(i):
                if self.d <= 0:
                    raise self.fails(self.codes["assert"])
                return self.d
            return Node("positive(d)", positive, False)
        if self.way == "index":
            at, form = self.pick("d + k", "p", "p"), self.number(0, 3)  # p is made beside the branch: only its check moves into it

            def place():
                return self.p if at == "p" else self.d + self.k

            def within(last):
                if place() > last:
                    raise self.fails(self.codes["index"])
            if form == 0 or self.place in ("group", "each"):
                def take(i):
                    within(self.n - 1)
                    return self.v[place()]
                return Node(f"v[{at}]", take, False)
            if form == 1:
                def known(i):
                    within(4)
                    return 3 * place()
                return Node(f"[for q in 0..5: q * 3][{at}]", known, False)
            if form == 2:
                def rest(i):
                    within(self.n)
                    return sum(self.v[place():])
                return Node(f"sum(v[{at}..])", rest, False)

            def gathered(i):
                within(self.n - 1)
                return self.v[place()] * 2
            return Node(f"sum(v[[{at}, {at}]])", gathered, False)
        form = self.number(0, 5)
        if form == 0 or form > 3 and self.place in ("group", "each"):
            return Node(f"{c} // d", lambda i: self.divide(c, self.d), False)
        if form == 1:
            return Node(f"{c} // w", lambda i: self.divide(c, self.w[i]), True)
        if form == 2:
            e = self.value(depth - 1)
            return Node(f"({c} // ({e.text}))", lambda i: self.divide(c, e.at(i)), e.many)
        if form == 3:
            return Node(f"{c} // d % (k + 1)", lambda i: self.divide(c, self.d) % (self.k + 1), False)
        if form == 4 or self.place != "script":
            e = self.array(depth - 1)
            return Node(f"sum({c} // {e.text})", lambda i: sum(self.divide(c, x) for x in self.whole(e)), False)
        e = self.array(depth - 1)
        return Node(f"sort({c} // {e.text})", lambda i: sorted(self.divide(c, x) for x in self.whole(e))[i], True)

    def array(self, depth):
        """An array of the script, or made of one; in a verb a column."""
        e = self.value(depth)
        if depth <= 0:
            return Node("w", lambda i: self.w[i], True)
        return Node(f"(w + ({e.text}))", lambda i: self.w[i] + e.at(i), True)

    # ---- expressions ----

    def atom(self):
        c = self.number(0, 3)
        return self.pick(Node("v", lambda i: self.v[i], True), Node("w", lambda i: self.w[i], True),
                         Node(str(c), lambda i: c, False), Node("k", lambda i: self.k, False))

    def value(self, depth):
        if depth <= 0:
            return self.atom()
        form = self.number(0, 9)
        if form == 0:
            return self.atom()
        if form <= 3:
            return self.risk(depth)
        if form <= 5:
            a, b = self.value(depth - 1), self.value(depth - 1)
            return Node(f"({a.text} + {b.text})", lambda i: a.at(i) + b.at(i), a.many or b.many)
        if form == 6:
            left = self.pick(Node("u", lambda i: self.u[i], True), Node("o", lambda i: self.o, False))
            e = self.value(depth - 1)
            return Node(f"({left.text} ?? {e.text})", lambda i: e.at(i) if left.at(i) is None else left.at(i), left.many or e.many)
        if form == 7:
            of, a, b, c = self.value(depth - 1), self.value(depth - 1), self.value(depth - 1), self.number(0, 2)

            def arm(i):
                x = of.at(i)
                return 5 if x == 0 else x + a.at(i) if x > c else b.at(i)
            text = f"(match {of.text} {{ 0 => 5, q if q > {c} => q + {a.text}, _ => {b.text} }})"
            return Node(text, arm, of.many or a.many or b.many)
        return self.branch(depth)

    def branch(self, depth):
        c, a, b = self.condition(depth - 1), self.value(depth - 1), self.value(depth - 1)
        text = self.pick(f"(if {c.text} {{ {a.text} }} else {{ {b.text} }})", f"if_else({c.text}, {a.text}, {b.text})")
        return Node(text, lambda i: a.at(i) if c.at(i) else b.at(i), a.many or b.many or c.many)

    def condition(self, depth):
        if depth > 0 and self.number(0, 1):
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            if self.number(0, 1):
                return Node(f"({a.text} and {b.text})", lambda i: a.at(i) and b.at(i), a.many or b.many)
            return Node(f"({a.text} or {b.text})", lambda i: a.at(i) or b.at(i), a.many or b.many)
        if self.number(0, 7) == 0:
            return Node("b", lambda i: self.b, False)
        a, b, op = self.value(depth), self.atom(), self.pick("<", ">", "==", "!=")
        test = {"<": lambda x, y: x < y, ">": lambda x, y: x > y, "==": lambda x, y: x == y, "!=": lambda x, y: x != y}[op]
        return Node(f"({a.text} {op} {b.text})", lambda i: test(a.at(i), b.at(i)), a.many or b.many)

    # ---- places ----

    def case(self):
        """Statements that bind r, and a function that gives it."""
        say = [self.head()]
        rows = range(self.n)
        weigh = "let r = sum(for i in 0..len(c): c[i] * (i + 1))"
        total = lambda e: sum(e.at(i) * (i + 1) for i in rows)
        table = "table(c_v = v, c_w = w, c_u = u, g = v % 2)"
        column = lambda text: re.sub(r"\b([vwu])\b(?!\[)", r"c_\1", text)
        if self.place in ("where", "comma"):
            c = self.condition(3)
            e = self.condition(3)
            both = f"({c.text} or {e.text})" if self.place == "where" else f"v >= 0, {c.text}, {e.text}"
            say.append(f"let r = {table} |> where({column(both)}) |> count()")
            holds = (lambda i: c.at(i) or e.at(i)) if self.place == "where" else (lambda i: c.at(i) and e.at(i))
            return "\n".join(say), lambda: sum(bool(holds(i)) for i in rows)
        e = self.branch(4)
        e = e if e.many else Node(f"(v + {e.text})", lambda i, e=e: self.v[i] + e.at(i), True)
        if self.place == "script":
            say.append(f"let c = {e.text}\n{weigh}")
        elif self.place == "each":
            one = re.sub(r"\b([vwu])\b(?!\[)", r"\1[i]", e.text)
            say.append(f"let c = [for i in 0..{self.n} + z: {one}]\n{weigh}")
        elif self.place == "derive":
            say.append(f"let c = ({table} |> derive(c = {column(e.text)})).c\n{weigh}")
        else:
            say.append(f"let c = ({table} |> group_by(g) |> derive(c = {column(e.text)}) |> ungroup()).c\n{weigh}")
        return "\n".join(say), functools.partial(total, e)
