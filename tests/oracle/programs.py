"""Random programs of scalars and arrays, with what they should print.

A program is a list of statements; each binds a name to a `Node`, whose value the model computes while it is made. What
is inside of elements (bodies of comprehensions, functions, lambdas, elementwise arithmetic) are the expressions of
columns.py, with loop variables, parameters or arrays in place of columns.
"""
import math
import random
import re

from columns import Columns
from expressions import Rows, everywhere
from features import on
from values import EMPTY, FLOATS, INDEX, INTS, OPEN, Fault, Type, f32, held, is_nan, key, literal, quoted, same, smallest, to_float

SCALARS = ("i64", "i64", "f64", "f64", "bool", "text", "i32", "u8", "i16", "u32", "i8", "u16", "u64", "f32", "date", "datetime", "duration")
ELEMENTS = ("i64", "i64", "i64", "f64", "f64", "f64", "bool", "text", "i32", "u8", "f32", "date")


class Impossible(Exception):
    pass


class Node:
    """A value with its type: shape () is a scalar; data are its elements, row-major."""

    def __init__(self, type_, shape, data):
        self.type, self.shape, self.data = type_, tuple(shape), data


class Case:
    """statements: (names that it makes, text); outputs: (name, Node). The last may fail."""

    def __init__(self, name, statements, outputs, codes=None, used=()):
        self.name, self.statements, self.outputs, self.codes, self.used = name, statements, outputs, codes, set(used)

    def features(self):
        return self.used

    def evaluate(self):
        return self

    def text(self):
        lines = [f'print("## {self.name}")', *[text for _, text in self.statements]]
        for name, node in self.outputs:
            lines.append(f'print("# {name}")')
            if node.shape == ():
                lines.append(f"print({name} // microseconds(1))" if node.type.kind == "duration" else f"print({name})")
            else:
                lines.append(f"print({', '.join(f'len({name}{chr(39) * k})' for k in range(len(node.shape)))})")
                flat = name if len(node.shape) == 1 else f"reshape({name}, {math.prod(node.shape)})"
                lines.append(f"for v in {flat} {{ print(v{' // microseconds(1)' if node.type.kind == 'duration' else ''}) }}")
        return "\n".join(lines) + "\n"

    @staticmethod
    def prelude(script):
        return ""

    def result(self, run):
        """What the script printed for this case, or None."""
        parts = run.out.split(f"## {self.name}\n")
        if len(parts) < 2:
            return None
        return parts[1].split("\n## ")[0] if "\n## " in parts[1] else parts[1].removesuffix("\n")

    def check(self, found):
        sections = {part.partition("\n")[0]: part.partition("\n")[2] for part in ("\n" + found).split("\n# ")[1:]}
        for name, node in self.outputs:
            if name not in sections:
                return f"nothing printed for {name}"
            body = sections[name]
            if node.shape != ():
                shape, _, body = body.partition("\n")
                if shape != " ".join(map(str, node.shape)):
                    return f"{name} has the sizes {shape}, expected {' '.join(map(str, node.shape))}"
            lines = body.split("\n") if node.data else []
            if len(lines) != len(node.data):
                return f"{name}: {len(lines)} values, expected {len(node.data)}"
            for i, (expected, line) in enumerate(zip(node.data, lines)):
                if not same(expected, None if line == "null" and expected is None else line, node.type):
                    return f"{name} ({node.type}), element {i}: {line!r}, expected {expected!r}"
        return ""

    def smaller(self):
        for k in range(len(self.outputs)):
            yield self.reduced([o for j, o in enumerate(self.outputs) if j != k]) if len(self.outputs) > 1 else self
        for output in self.outputs:
            yield self.reduced([output])

    def reduced(self, outputs):
        """With these outputs and only the statements that they need."""
        needed, kept = {name for name, _ in outputs}, []
        for k, (names, text) in reversed(list(enumerate(self.statements))):
            if names & needed or self.codes is not None and k == len(self.statements) - 1:
                kept.append((names, text))
                needed |= set(re.findall(r"[A-Za-z_]\w*", text))
        return Case(self.name, kept[::-1], outputs, self.codes, self.used)


def lanes(values, start, operate):
    """Reduction of a block of at most 4096 floats: 32 lanes by position, joined by a butterfly. None: left out."""
    state = [start] * 32
    for i, v in enumerate(values):
        if v is not None:
            state[i % 32] = operate(state[i % 32], v)
    width = 16
    while width:
        for lane in range(width):
            state[lane] = operate(state[lane], state[lane + width])
        width //= 2
    return state[0]


def reduce(name, values, kind):
    """An array reduction: (value) of elements of which some may be null."""
    there = [v for v in values if v is not None]
    if name == "count":
        return sum(v is True for v in there) if kind == "bool" else len(there)
    if name in ("any", "all"):
        return (any if name == "any" else all)(there)
    if name == "sum":
        if kind in FLOATS:
            total = lanes(values, 0.0, lambda a, b: a + b)
            return f32(total) if kind == "f32" else total
        return held("i64" if kind in ("u8", "u16", "u32", "bool") else kind, sum(there))
    if name == "product":
        if kind in FLOATS:
            return lanes(values, 1.0, lambda a, b: a * b)
        if math.prod(v or 1 for v in there).bit_length() >= INTS[kind][1].bit_length():
            raise Fault(OPEN)  # where is it checked?
        return math.prod(there)
    if not there:
        raise Fault(EMPTY)
    if name == "mean":
        if kind in FLOATS:
            return lanes(values, 0.0, lambda a, b: a + b) / len(there)
        if any(abs(v) > 2**53 for v in there) or sum(map(abs, there)) > 2**53:
            raise Fault(OPEN)  # is the sum one of integers or of floats?
        return to_float(sum(there)) / len(there)
    if name in ("min", "max"):
        return smallest(there, 1 if name == "min" else -1)
    best = smallest(there, 1 if name == "argmin" else -1)
    return values.index(best)


RESULTS = {"count": "i64", "any": "bool", "all": "bool", "mean": "f64", "argmin": "i64", "argmax": "i64"}


class Maker(Columns):
    def __init__(self, seed, faults=False):
        super().__init__(random.Random(seed))
        self.faults = faults
        self.aggregates = self.windows = self.filled = False
        self.scalars_only = True

    def chooses(self, test):
        return True if self.scalars_only else super().chooses(test)

    def interpolation(self, depth, null):
        return super().interpolation(depth, null) if self.scalars_only else None

    def any_kind(self, kind, depth, null):
        return self.pick(self.choice, self.choice, self.match, *([self.null_where] if null else []))(kind, depth, null)

    def fresh(self, prefix="v"):
        self.counter += 1
        return f"{prefix}{self.name}_{self.counter}"

    # -- evaluating expressions of columns.py --
    def within(self, places, kind, depth, null=True, scalars=True):
        """(Expr, its values): places are name -> (Type, values), one value for each time that the expression is computed."""
        scope = {n: v.type for n, v in self.vars.items() if v.shape == ()} if scalars else {}
        scope.update({n: t for n, (t, _) in places.items()})
        self.scope, self.scalars_only = scope, scalars
        return self.make(kind, depth, null)

    def values(self, expr, places, n):
        columns = {name: v.data * n for name, v in self.vars.items() if v.shape == ()}
        columns.update({name: v for name, (_, v) in places.items()})
        return everywhere(expr, Rows(columns, n))

    # -- programs --
    def case(self, name):
        self.name, self.counter, self.vars, self.statements, self.used, self.functions = name, 0, {}, [], set(), []
        codes, tries = None, 0
        wanted = self.number(3, 9)
        while len(self.statements) < wanted and tries < 60:
            tries += 1
            before = len(self.statements)
            try:
                self.pick(*[self.scalar] * 4, *[self.array] * 3, *[self.elementwise] * 3, *[self.reduction] * 3, *[self.indexing] * 3,
                          *[self.comprehension] * 3, self.reduced_comprehension, self.reduced_comprehension, self.function, self.call, self.loop,
                          self.running, self.shaping)()
            except Fault as fault:
                if self.faults and OPEN not in fault.codes and len(self.statements) == before + 1:
                    codes = fault.codes
                    break
                del self.statements[before:]
        outputs = list(self.vars.items())
        if codes is not None:
            outputs = outputs[-2:]
            last = self.statements[-1]
            (bound,) = last[0]
            case = Case(name, self.statements, outputs, codes, self.used).reduced(outputs)
            case.statements.append((set(), f"show({bound})"))
            case.statements[-2:] = [(last[0], last[1] + f"\nshow({bound})")]
            return case
        return Case(name, self.statements, outputs, None, self.used)

    def bind(self, text, compute, prefix="v"):
        """Adds `let NAME = text`; compute() gives the Node, or raises Fault."""
        name = self.fresh(prefix)
        self.statements.append(({name}, f"let {name} = {text}"))
        self.vars[name] = compute()

    def scalar(self):
        e = self.within({}, self.pick(*SCALARS), self.number(1, 4))
        if e is not None and e.args:
            self.used |= e.features()
            self.bind(e.text, lambda: Node(e.type, (), self.values(e, {}, 1)))

    def arrays(self, rank=None, kinds=None, null=None):
        return [(n, v) for n, v in self.vars.items() if v.shape != () and (rank is None or len(v.shape) == rank) and (kinds is None or v.type.kind in kinds)
                and (null is None or v.type.null == null)]

    def array(self):
        """A literal."""
        kind, null = self.pick(*ELEMENTS), self.chance(0.2)
        n, d = self.pick(1, 2, 3, 5, 8), self.pick(1, 2, 3)
        rank = self.pick(1, 1, 2)
        count = n if rank == 1 else n * d
        data = [self.value(kind) for _ in range(count)]
        if null and rank == 1 and n > 1:
            data[self.number(0, n - 1)] = None
            if all(v is None for v in data):
                return
        null = None in data
        words = [literal(v, kind) for v in data]
        text = f"[{', '.join(words)}]" if rank == 1 else f"[{', '.join('[' + ', '.join(words[i * d:i * d + d]) + ']' for i in range(n))}]"
        self.bind(text, lambda: Node(Type(kind, null), (n,) if rank == 1 else (n, d), data))

    def elementwise(self):
        """Operators and functions over arrays of one shape; one of rank 2 with one that lacks its first dimension."""
        known = self.arrays()
        if not known:
            return
        _, first = self.pick(*known)
        count, places = math.prod(first.shape), {}
        for n, v in known:
            if v.shape == first.shape:
                places[n] = v.type, v.data
            elif len(first.shape) == 2 and v.shape == first.shape[1:]:
                places[n] = v.type, v.data * first.shape[0]
        kind = self.pick(*ELEMENTS)
        e = self.within(places, kind, self.number(1, 3), scalars=False)
        if e is None or not e.args or not e.varies():
            return
        shapes = {self.vars[n].shape for n in e.names()}
        if first.shape not in shapes or len(shapes) > 1 and e.features() & {"if_else", "match", "null", "??", "and", "or"}:
            return  # branches have no more dimensions than their condition
        self.used |= e.features()
        self.bind(e.text, lambda: Node(e.type, first.shape, self.values(e, places, count)))

    def reduction(self):
        name = self.pick("sum", "product", "min", "max", "mean", "any", "all", "argmin", "argmax", "count", "sum")
        kinds = ("bool",) if name in ("any", "all") else ("i64", "f64", "i32", "u8") if name != "count" else ("bool", "i64", "f64", "text")
        known = self.arrays(kinds=kinds, null=None if name in ("sum", "count", "min", "max", "mean") and on("nulls of arrays") else False)
        if not known:
            return
        array, v = self.pick(*known)
        if name in ("argmin", "argmax") and any(is_nan(x) for x in v.data):
            return
        flags = [(text, c) for text, c in self.arrays(kinds=("bool",)) if c.shape == v.shape]
        if v.data and self.chance(0.4):
            data, n = [self.chance(0.7) for _ in v.data], v.shape[-1]
            rows = [", ".join(str(x).lower() for x in data[k:k + n]) for k in range(0, len(data), n)]
            text = f"[{rows[0]}]" if len(v.shape) == 1 else f"[[{'], ['.join(rows)}]]"
            return self.reduction_of_some(name, array, v, *self.pick((text, data), *[(flag, c.data) for flag, c in flags]))
        result = RESULTS.get(name, v.type.kind)
        if name == "sum" and result in ("u8", "u16", "u32"):
            result = "i64"
        null = v.type.null and name in ("min", "max", "mean")
        if null and all(x is None for x in v.data):
            return
        self.used |= {name}
        if len(v.shape) == 2 and self.chance(0.6) and not v.type.null and name not in ("count",):
            axis = self.number(0, 1)
            n, d = v.shape
            slices = [v.data[j::d] for j in range(d)] if axis == 0 else [v.data[i * d:i * d + d] for i in range(n)]
            self.used.add("axis")
            self.bind(f"{name}({array}, axis = {axis})", lambda: Node(Type(result), (len(slices),), [reduce(name, s, v.type.kind) for s in slices]))
            return
        if len(v.shape) == 2 and name in ("argmin", "argmax", "count"):
            return
        self.bind(f"{name}({array})", lambda: Node(Type(result, null and on("null results")), (), [reduce(name, v.data, v.type.kind)]))

    def reduction_of_some(self, name, array, v, flag, chosen):
        """f(x, where = c): x is null where c is not true."""
        result, n = RESULTS.get(name, v.type.kind), v.shape[-1]
        if name == "sum" and result in ("u8", "u16", "u32"):
            result = "i64"
        data = [x if t is True else None for x, t in zip(v.data, chosen)]
        slices, shape, axis = [data], (), ""
        if len(v.shape) == 2 and name != "count" and (name in ("argmin", "argmax") or self.chance(0.5)):
            k, shape = self.number(0, 1), v.shape[1:]
            slices, axis = [data[j::n] for j in range(n)], ", axis = 0"
            if k == 1:
                slices, shape, axis = [data[i * n:i * n + n] for i in range(v.shape[0])], v.shape[:1], ", axis = 1"
        if name in ("min", "max", "mean", "argmin", "argmax") and any(all(x is None for x in s) for s in slices):
            return
        self.used |= {name, "reduction where"}
        self.bind(f"{name}({array}{axis}, where = {flag})", lambda: Node(Type(result), shape, [reduce(name, s, v.type.kind) for s in slices]))

    # -- indexing --
    def index(self, n):
        """(text, position) of one element; in faults sometimes out of bounds."""
        if n == 0 or self.faults and self.chance(0.2):
            value = self.pick(n, n + 1, n + 7)
        elif self.chance(0.2):
            return "-1", n - 1
        else:
            value = self.number(0, n - 1)
        scalars = [m for m, v in self.vars.items() if v.shape == () and v.type.kind == "i64" and not v.type.null and abs(v.data[0]) < 2**40]
        if scalars and self.chance(0.4):
            name = self.pick(*scalars)
            return f"{name} + {literal(value - self.vars[name].data[0], 'i64')}", value
        return str(value), value

    def indexing(self):
        known = self.arrays()
        if not known:
            return
        name, v = self.pick(*known)
        n = v.shape[0]
        d = math.prod(v.shape[1:])
        rows = [v.data[i * d:i * d + d] for i in range(n)]
        form = self.number(0, 8)
        rest = v.shape[1:]

        def row_at(i):
            if not 0 <= i < n:
                raise Fault(INDEX)
            return rows[i]

        def taken(chosen):
            return Node(v.type, (len(chosen), *rest), [x for i in chosen for x in row_at(i)])

        if form <= 1:
            text, at = self.index(n)
            self.used.add("x[i]")
            if len(v.shape) == 1:
                self.bind(f"{name}[{text}]", lambda: Node(v.type, (), row_at(at)))
            else:
                self.bind(f"{name}[{text}, :]" if self.chance(0.5) else f"{name}[{text}]", lambda: Node(v.type, rest, row_at(at)))
        elif form == 2:
            low = self.number(0, n)
            high = self.number(low, n)
            if self.faults and self.chance(0.3):
                high = n + self.number(1, 3)
            text = self.pick(f"{low}..{high}", f"{low}..") if high == n else f"{low}..{high}"
            self.used.add("slice of array")

            def compute():
                if high > n:
                    raise Fault(INDEX)
                return taken(list(range(low, high)))

            self.bind(f"{name}[{text}]", compute)
        elif form == 3 and len(v.shape) == 1:
            masks = [(m, u) for m, u in self.arrays(1, ("bool",), False) if u.shape == v.shape]
            if masks:
                mask, u = self.pick(*masks)
                self.used.add("mask")
                self.bind(f"{name}[{mask}]", lambda: taken([i for i, c in enumerate(u.data) if c]))
            elif v.type.kind in ("i64", "f64") and not v.type.null:
                least = self.value("i64")
                self.used.add("mask")
                self.bind(f"{name}[{name} > {literal(least, 'i64')}]", lambda: taken([i for i, x in enumerate(v.data) if x > least]))
        elif form == 4:
            if n:
                chosen = [self.number(0, n - 1) for _ in range(self.number(1, 5))]
                self.used.add("indices")
                self.bind(f"{name}[[{', '.join(map(str, chosen))}]]", lambda: taken(chosen))
        elif form == 5 and len(v.shape) == 2:
            text, at = self.index(v.shape[1])
            self.used.add("x[:, j]")

            def compute():
                if not 0 <= at < v.shape[1]:
                    raise Fault(INDEX)
                return Node(v.type, (n,), v.data[at::v.shape[1]])

            self.bind(f"{name}[:, {text}]", compute)
        elif form == 6 and len(v.shape) == 2 and v.data:
            i, j = [self.number(0, n - 1) for _ in range(2)], [self.number(0, v.shape[1] - 1) for _ in range(3)]
            if self.chance(0.5):
                self.used.add("grid")
                self.bind(f"{name}[[{i[0]}, {i[1]}], [{', '.join(map(str, j))}]]", lambda: Node(v.type, (2, 3), [rows[a][b] for a in i for b in j]))
            else:
                self.used.add("gather")
                self.bind(f"gather({name}, [{i[0]}, {i[1]}], [{j[0]}, {j[1]}])", lambda: Node(v.type, (2,), [rows[a][b] for a, b in zip(i, j)]))
        elif form == 7 and len(v.shape) == 2:
            self.used.add("transpose")
            text = self.pick(f"{name}'", f"transpose({name})")
            self.bind(text, lambda: Node(v.type, (v.shape[1], n), [v.data[i * v.shape[1] + j] for j in range(v.shape[1]) for i in range(n)]))
        elif form == 8 and len(v.shape) == 2:
            (ti, i), (tj, j) = self.index(n), self.index(v.shape[1])
            self.used.add("x[i, j]")

            def compute():
                if not (0 <= i < n and 0 <= j < v.shape[1]):
                    raise Fault(INDEX)
                return Node(v.type, (), [rows[i][j]])

            self.bind(f"{name}[{ti}, {tj}]", compute)

    def shaping(self):
        known = self.arrays(1)
        if not known:
            return
        name, v = self.pick(*known)
        n = v.shape[0]
        form = self.number(0, 9)
        if form == 0:
            others = [(m, u) for m, u in known if u.type.kind == v.type.kind and u.type.null == v.type.null]
            other, u = self.pick(*others)
            self.used.add("concat")
            self.bind(f"concat({name}, {other})", lambda: Node(v.type, (n + u.shape[0],), v.data + u.data))
        elif form == 1 and n % 2 == 0 and n:
            self.used.add("reshape")
            self.bind(f"reshape({name}, {n // 2}, 2)", lambda: Node(v.type, (n // 2, 2), v.data))
        elif form == 2 and v.type.kind in ("i64", "text", "f64") and not v.type.null:
            self.used.add("argsort")
            self.bind(f"argsort({name})", lambda: Node(Type("i64"), (n,), sorted(range(n), key=lambda i: key(v.data[i]))))
        elif form == 3 and v.type.kind in ("i64", "f64") and not v.type.null:
            other, u = self.pick(*self.arrays(1, (v.type.kind,), False))
            symbol, operate = ("-", lambda a, b: a - b) if self.chance(0.5) else ("+", lambda a, b: a + b)
            k = u.shape[0]
            if n and k:
                self.used.add("new axis")
                check = (lambda x: held("i64", x)) if v.type.kind == "i64" else lambda x: x
                self.bind(f"{name}[:, new] {symbol} {other}", lambda: Node(v.type, (n, k), [check(operate(a, b)) for a in v.data for b in u.data]))
        elif form == 4:
            self.used.add("len")
            self.bind(f"len({name})", lambda: Node(Type("i64"), (), [n]))
        elif form == 5 and v.type.kind in ("i64", "f64") and not v.type.null:
            self.used.add("sort")
            self.bind(f"sort({name})", lambda: Node(v.type, (n,), sorted(v.data, key=key)))
        elif form == 6 and v.type.kind == "text" and not v.type.null and n:
            at, separator = self.number(0, n - 1), self.pick("-", ",", " ", "a")
            parts = v.data[at].split(separator)
            self.used.add("split_text")
            self.bind(f"split_text({name}[{at}], {quoted(separator)})", lambda: Node(Type("text"), (len(parts),), parts))
        elif form == 7 and v.type.kind == "text" and not v.type.null:
            separator = self.pick("-", ", ", "")
            self.used.add("join_text")
            self.bind(f"join_text({name}, {quoted(separator)})", lambda: Node(Type("text"), (), [separator.join(v.data)]))
        elif form == 8:
            self.made()
        elif form == 9 and v.type.kind in ("i64", "f64") and not v.type.null:
            self.segments(name, v)

    def made(self):
        """zeros, ones, eye, date_range, extract_all."""
        n, d = self.number(0, 4), self.number(1, 3)
        which = self.pick("zeros", "ones", "eye", "date_range", "extract_all", "bytes")
        self.used.add(which)
        real = Type("f64")
        if which == "eye":
            self.bind(f"eye({d})", lambda: Node(real, (d, d), [float(i == j) for i in range(d) for j in range(d)]))
        elif which == "date_range":
            low, count = self.value("date"), self.number(0, 5)
            high = literal(low + count, "date")
            self.bind(f"date_range({literal(low, 'date')}, {high})", lambda: Node(Type("date"), (count,), list(range(low, low + count))))
        elif which == "extract_all":
            text = self.value("text")
            self.bind(f'extract_all({quoted(text)}, r"[a-z]+")', lambda: Node(Type("text"), (len(re.findall("[a-z]+", text)),), re.findall("[a-z]+", text)))
        elif which == "bytes":
            found = list(self.value("text").encode())
            self.bind(f"bytes({quoted(bytes(found).decode())})", lambda: Node(Type("u8"), (len(found),), found))
        else:
            self.bind(f"{which}({n}, {d})", lambda: Node(real, (n, d), [float(which == "ones")] * (n * d)))

    def segments(self, name, v):
        """segment_sum, segment_mean, segment_count by labels below k."""
        n, k = v.shape[0], self.number(1, 4)
        if not n:
            return
        labels = [self.number(0, k - 1) for _ in range(n)]
        parts = [[x for x, at in zip(v.data, labels) if at == c] for c in range(k)]
        shown = f"[{', '.join(map(str, labels))}]"
        which = self.pick("segment_sum", "segment_count")
        self.used.add(which)
        if which == "segment_count":
            self.bind(f"segment_count({shown}, {k})", lambda: Node(Type("i64"), (k,), [len(p) for p in parts]))
        elif v.type.kind == "i64":
            self.bind(f"segment_sum({name}, {shown}, {k})", lambda: Node(Type("i64"), (k,), [held("i64", sum(p)) for p in parts]))

    # -- comprehensions --
    def generators(self):
        """(text, places, n, shape or None): ranges and arrays, one or two, independent, dependent, filtered."""
        form = self.pick("range", "range", "two", "dependent", "array", "array", "by")
        i, j = self.fresh("i"), self.fresh("j")
        n, m = self.pick(0, 1, 2, 3, 5, 9, 33), self.number(0, 4)
        index = Type("i64")
        if form == "range":
            return f"for {i} in 0..{n}", {i: (index, list(range(n)))}, n, (n,)
        if form == "by":
            step = self.number(1, 4)
            found = list(range(0, n, step))
            self.used.add("by")
            return f"for {i} in 0..{n} by {step}", {i: (index, found)}, len(found), (len(found),)
        if form == "two":
            n = min(n, 5)
            return (f"for {i} in 0..{n}, {j} in 0..{m}", {i: (index, [a for a in range(n) for _ in range(m)]), j: (index, list(range(m)) * n)}, n * m, (n, m))
        if form == "dependent":
            n = min(n, 5)
            pairs = [(a, b) for a in range(n) for b in range(a)]
            self.used.add("dependent generator")
            return f"for {i} in 0..{n}, {j} in 0..{i}", {i: (index, [a for a, _ in pairs]), j: (index, [b for _, b in pairs])}, len(pairs), (len(pairs),)
        known = self.arrays(1)
        if not known:
            return f"for {i} in 0..{n}", {i: (index, list(range(n)))}, n, (n,)
        name, v = self.pick(*known)
        return f"for {i} in {name}", {i: (v.type, v.data)}, v.shape[0], v.shape

    def filtered(self, text, places, n, shape):
        """With a filter at times. Filtered positions are marked by None in `kept`."""
        if self.chance(0.4):
            test = self.within(places, "bool", 1, False)
            if test.type.null:
                return text, places, list(range(n)), n, shape
            passed = [i for i, c in enumerate(self.values(test, places, n)) if c]
            self.used.add("filter")
            return f"{text} if {test.text}", {k: (t, [v[i] for i in passed]) for k, (t, v) in places.items()}, passed, n, (len(passed),)
        return text, places, list(range(n)), n, shape

    def comprehension(self):
        text, places, n, shape = self.generators()
        text, places, kept, _, shape = self.filtered(text, places, n, shape)
        e = self.within(places, self.pick(*ELEMENTS), self.number(1, 3), null=self.chance(0.3))
        if e is None:
            return
        self.used |= e.features() | {"comprehension"}
        body = f"[{text}: {e.text}]"
        if self.chance(0.2):
            local = self.fresh("w")
            body = f"[{text} {{ let {local} = {e.text}; {local} }}]"
        self.bind(body, lambda: Node(e.type, shape, self.values(e, places, len(kept))))

    def reduced_comprehension(self):
        text, places, n, shape = self.generators()
        text, places, kept, n, shape = self.filtered(text, places, n, shape)
        name = self.pick("sum", "product", "min", "max", "mean", "any", "all", "count")
        kind = "bool" if name in ("any", "all", "count") else self.pick("i64", "f64")
        e = self.within(places, kind, self.number(1, 3), null=False)
        if e is None or not e.varies():
            return
        self.used |= e.features() | {name + "(for)"}

        def compute():
            found = self.values(e, places, len(kept))
            spread = [None] * n
            for i, v in zip(kept, found):
                spread[i] = v
            return Node(Type(RESULTS.get(name, kind)), (), [reduce(name, spread, kind)])

        self.bind(f"{name}({text}: {e.text})", compute)

    # -- functions and loops --
    def parameters(self):
        kinds = [self.pick("i64", "f64", "text", "bool", "i64") for _ in range(self.number(1, 3))]
        return {self.fresh("p"): Type(k) for k in kinds}

    def function(self):
        params = self.parameters()
        e = self.only(params, self.pick("i64", "f64", "text", "bool"), 3)
        if e is None or not e.args:
            return
        name = self.fresh("f")
        self.used |= e.features() | {"fn"}
        self.statements.append(({name}, f"fn {name}({', '.join(f'{p}: {t.kind}' for p, t in params.items())}) = {e.text}"))
        self.functions.append((name, params, e))

    def only(self, scope, kind, depth):
        self.scope, self.scalars_only = dict(scope), True
        return self.make(kind, depth, False)

    def call(self):
        if not self.functions:
            return
        name, params, e = self.pick(*self.functions)
        lifted = self.chance(0.5)
        known = {k: self.arrays(1, (k,), False) for k in ("i64", "f64", "text", "bool")}
        shape, args, data = None, [], []
        for t in params.values():
            fitting = [(m, v) for m, v in known[t.kind] if shape is None or v.shape == shape]
            if lifted and fitting and self.chance(0.7):
                m, v = self.pick(*fitting)
                shape = v.shape
                args.append(m)
                data.append(v.data)
            else:
                value = self.value(t.kind)
                args.append(literal(value, t.kind))
                data.append(value)
        n = 1 if shape is None else shape[0]
        columns = {p: d if isinstance(d, list) else [d] * n for p, d in zip(params, data)}
        self.used.add("lifted call" if shape else "call")
        self.bind(f"{name}({', '.join(args)})", lambda: Node(e.type, shape or (), everywhere(e, Rows(columns, n))))

    def loop(self):
        """A function with a `var` and a loop."""
        kind = self.pick("i64", "f64", "i64")
        s, i, n, p = self.fresh("s"), self.fresh("i"), self.fresh("n"), self.fresh("p")
        scope = {s: Type(kind), i: Type("i64"), p: Type("f64")}
        step, stop = self.only(scope, kind, 2), self.only(scope, "bool", 1)
        if step is None or stop is None or stop.type.null or not step.args:
            return
        name, word, count = self.fresh("g"), self.pick("break", "continue", ""), self.number(0, 9)
        if not stop.args:
            word = ""
        start, q = self.value(kind), self.value("f64")
        guard = f"    if {stop.text} {{ {word} }}\n" if word else ""
        if self.chance(0.5):
            head = f"  for {i} in 0..{n} {{\n"
        else:
            head = f"  var {i} = -1\n  while {i} < {n} - 1 {{\n    {i} += 1\n"
        self.used |= step.features() | {"loop", "var"}
        self.statements.append(({name}, f"fn {name}({n}: i64, {p}: f64) -> {kind} {{\n  var {s}: {kind} = {literal(start, kind)}\n{head}{guard}    {s} = {step.text}\n  }}\n  {s}\n}}"))

        def compute():
            state = start
            for at in range(count):
                rows = Rows({s: [state], i: [at], p: [q]}, 1)
                if word and stop.at(rows, 0):
                    if word == "break":
                        break
                    continue
                state = step.at(rows, 0)
            return Node(Type(kind), (), [state])

        bound = self.fresh("v")
        self.statements[-1] = ({name, bound}, self.statements[-1][1] + f"\nlet {bound} = {name}({count}, {literal(q, 'f64')})")
        try:
            self.vars[bound] = compute()
        except Fault:
            self.statements[-1] = ({bound}, self.statements[-1][1])
            raise

    def running(self):
        """scan, fold, cumsum and its like."""
        known = self.arrays(1, ("i64", "f64"), False)
        if not known:
            return
        name, v = self.pick(*known)
        kind = v.type.kind
        form = self.number(0, 3)
        n = v.shape[0]
        if form == 0:
            which = self.pick("cummin", "cummax", *(["cumsum", "cumprod"] if kind == "i64" else []))
            step = {"cummin": lambda x: smallest(x), "cummax": lambda x: smallest(x, -1), "cumsum": lambda x: held(kind, sum(x)),
                    "cumprod": lambda x: held(kind, math.prod(x))}[which]
            self.used.add(which)
            self.bind(f"{which}({name})", lambda: Node(v.type, v.shape, [step(v.data[:i + 1]) for i in range(n)]))
            return
        a, x = self.fresh("a"), self.fresh("x")
        e = self.only({a: v.type, x: v.type}, kind, 2)
        if e is None or not {a, x} <= e.names():
            return
        start = self.value(kind)
        which = "scan" if form <= 1 else "fold"
        self.used |= e.features() | {which}

        def compute():
            state, states = start, []
            for value in v.data:
                state = e.at(Rows({a: [state], x: [value]}, 1), 0)
                states.append(state)
            return Node(v.type, v.shape, states) if which == "scan" else Node(v.type, (), [state])

        self.bind(f"{which}(({a}, {x}) => {e.text}, {literal(start, kind)}, {name})", compute)


def script(seed, pack, faults):
    """Cases without failures, then one that fails."""
    maker, cases = Maker(seed), []
    while len(cases) < pack:
        case = maker.case(f"q{len(cases)}")
        if case.outputs:
            cases.append(case)
    if faults:
        failing = Maker(f"{seed} faults", True)
        for _ in range(60):
            case = failing.case(f"q{len(cases)}")
            if case.codes is not None:
                cases.append(case)
                break
    return cases
