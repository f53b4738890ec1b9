"""Random functions of texts in loops, and what they give by Python: texts that are made, appended to and handed on in some
rounds and not in others, in branches, loops within loops, recursion. Whatever dies with a round must not be what is still used.

    texts.py SEED COUNT    prints the script, then what it prints"""
import random
import sys

NAMES = ("a", "b", "c")
MOST = 4000  # bytes of a text, about


class Texts:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.depth = 0

    def expression(self, counters):
        """(in flow, in Python) of a text."""
        r = self.r
        form = r.randrange(9)
        x, y = r.choice(NAMES), r.choice(NAMES)
        word = "".join(r.choice("uvwxyz") for _ in range(r.choice((1, 3, 9, 40))))
        i = r.choice(counters) if counters else "n"
        if form <= 2:
            return f'{x} + "{word}"', f'{x} + "{word}"'
        if form == 3:
            return f'{x} + "{word}{{{i}}}"', f'{x} + f"{word}{{{i}}}"'
        if form == 4:
            return f'"{word}" + text({i})', f'"{word}" + str({i})'
        if form == 5:
            return f"{x} + {y}", f"{x} + {y}"
        if form == 6:
            return f"upper({x})", f"{x}.upper()"
        if form == 7:
            return x, x
        return f'if {i} % 2 == 0 {{ {x} }} else {{ {y} + "{word}" }}', f'({x} if {i} % 2 == 0 else {y} + "{word}")'

    def statements(self, counters, pad):
        """Lines of flow, of Python."""
        r, flow, python = self.r, [], []
        for _ in range(r.randint(2, 4) if self.depth < 2 else r.randint(1, 2)):
            what = r.randrange(10)
            if what <= 4 or self.depth > 3:
                name = r.choice(NAMES)
                f, p = self.expression(counters)
                flow.append(f"{pad}{name} = {f}")
                python.append(f"{pad}{name} = {p}")
            elif what <= 6:
                i = r.choice(counters) if counters else "n"
                test = f"{i} % {r.randint(2, 3)} == {r.randint(0, 1)}"
                yes, no = self.within(counters, pad), self.within(counters, pad)
                flow += [f"{pad}if {test} {{", *yes[0], f"{pad}}} else {{", *no[0], f"{pad}}}"]
                python += [f"{pad}if {test}:", *yes[1], f"{pad}else:", *no[1]]
            elif what <= 8:
                i = f"i{self.depth}_{r.randrange(1000)}"
                (f, p), (f_cut, p_cut) = self.within([*counters, i], pad), self.cut(pad + "  ")
                times = r.randint(1, 5)
                flow += [f"{pad}for {i} in 0..{times} {{", *f, *f_cut, f"{pad}}}"]
                python += [f"{pad}for {i} in range({times}):", *p, *p_cut]
            else:
                i = f"w{self.depth}_{r.randrange(1000)}"
                (f, p), (f_cut, p_cut) = self.within([*counters, i], pad), self.cut(pad + "  ")
                times = r.randint(1, 4)
                flow += [f"{pad}var {i} = 0", f"{pad}while {i} < {times} {{", *f, *f_cut, f"{pad}  {i} += 1", f"{pad}}}"]
                python += [f"{pad}{i} = 0", f"{pad}while {i} < {times}:", *p, *p_cut, f"{pad}  {i} += 1"]
        return flow, python

    def within(self, counters, pad):
        self.depth += 1
        made = self.statements(counters, pad + "  ")
        self.depth -= 1
        return made

    def cut(self, pad):
        name = self.r.choice(NAMES)
        flow = [f"{pad}if n_chars({x}) > {MOST} {{ {x} = slice({x}, 0, {7 if x == name else 900}) }}" for x in NAMES]
        python = [f"{pad}{x} = {x}[:{7 if x == name else 900}] if len({x}) > {MOST} else {x}" for x in NAMES]
        return flow, python

    def function(self, k):
        """One that goes some calls deep before its loops, as a stage now and then."""
        flow, python = self.statements([], "  ")
        word = "stage" if self.r.random() < 0.3 else "fn"
        back = self.r.random() < 0.4 and word == "fn"
        call = f"  if n > 0 {{ let deeper = f{k}(n - 1, c + \"q\"); b = deeper + b }}" if back else ""
        python_call = f"  if n > 0:\n    b = f{k}(n - 1, c + \"q\") + b" if back else "  pass"
        both = self.cut("  ")
        head = f"{word} f{k}(n: i64, start: text) -> text {{\n  var a = start + text(n)\n  var b = \"\"\n  var c = \"c\""
        return ("\n".join([head, *flow, *both[0], call, *both[0], '  "{a}|{b}|{c}"', "}"]),
                "\n".join([f"def f{k}(n, start):", "  a = start + str(n)", '  b = ""', '  c = "c"', *python, *both[1], python_call, *both[1],
                           '  return f"{a}|{b}|{c}"']))


def script(seed, count):
    """(the script, what it prints)"""
    flow, python, prints = ["param n: i64 = 3"], [], []
    for k in range(count):
        f, p = Texts(seed * 1000 + k).function(k)
        flow.append(f)
        python.append(p)
        prints.append(f'print(f{k}(n % 3, "s"))\nlet many{k} = [for i in 0..4: f{k}(i % 2, "t{{i}}")]\nprint(join_text(many{k}, ";"))\n'
                      f'print((table(i = [0, 1, 2]) |> derive(x = [for v in i: f{k}(1, "r{{v}}")])).x[2])')
        python.append(f'out.append(f{k}(0, "s"))\nout.append(";".join(f{k}(i % 2, f"t{{i}}") for i in range(4)))\nout.append(f{k}(1, "r2"))')
    space = {"out": []}
    exec("\n".join(python), space)
    return "\n".join([*flow, *prints, ""]), "\n".join(space["out"]) + "\n"


if __name__ == "__main__":
    text, printed = script(int(sys.argv[1]), int(sys.argv[2]))
    print(text)
    print(printed)
