#!/usr/bin/env python3
"""Random scripts, of right syntax and no sense, through the formatter.

usage: formatter.py [GOLDEN_SYNTAX [SEED [COUNT]]]
Writes COUNT scripts to a temporary folder, without comments and with comments in all places, and lets
`golden_syntax --properties` check each: the formatted text has the same tree, formatting it again changes nothing.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

NAMES = ["x", "y", "t", "foo", "bar_baz", "`a b`", "stage", "type", "test", "by", "from", "train", "n"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "@", "^", "==", "<", "and", "or", "??", "in", "|>", ".."]
TEXTS = ['"a {x} b {y:.3f}"', '"t {f(x)} {[for i in xs: i]} {if a { 1 } else { 2 }}"', 'r"\\d"', '"""\n two\n lines {x}"""']


class Scripts:
    def __init__(self, seed, comments):
        self.random = random.Random(seed)
        self.comments = comments  # how likely a comment is where one may stand

    def pick(self, choices):
        """One of several texts, or what one of several functions gives."""
        choice = self.random.choice(choices)
        return choice() if callable(choice) else choice

    def gap(self):
        if self.random.random() < self.comments:
            return self.pick(["  # behind\n", "\n# on its own line\n", "\n", "  ## doc\n"])
        return self.pick(["", " "])

    def line_gap(self):
        return self.pick([" ", " ", "\n", "  # behind\n" if self.comments else " "])

    def name(self):
        return self.pick(NAMES)

    def several(self, low, high, make, separator=","):
        return separator.join(self.gap() + make() + self.gap() for _ in range(self.random.randint(low, high)))

    def named(self, depth):
        return self.pick(["", "", self.name() + " = "]) + self.expr(depth)

    def expr(self, depth):
        if depth <= 0:
            return self.pick([self.name, lambda: str(self.random.randint(0, 99)), "1.5e3", "null", "pi", "col.x", "true"] + TEXTS)
        down = depth - 1 - self.random.randint(0, 1)
        e = lambda: self.expr(down)
        bracketed = lambda: "(" + self.gap() + e() + self.gap() + ")"
        operand = lambda: self.pick([e, bracketed])
        index = lambda: self.pick([e, ":", "new", "1..", "..n", "a..b by 2"])
        arm = lambda: self.pick(["1", '"a"', "v if " + e(), "_", "0..3", "-1", "2.."]) + " => " + e()
        body = lambda: self.pick([": " + e(), " " + self.block(down)])
        clause = lambda: self.pick([", j in " + e(), " if " + e(), ""])
        newline = self.pick(["\n", ""])
        return self.pick([
            lambda: f"{operand()} {self.pick(OPERATORS)}{self.line_gap()}{operand()}",
            lambda: f"{operand()} {self.pick(OPERATORS)}{self.line_gap()}{operand()}",
            lambda: "-" + e(),
            lambda: "not " + e(),
            lambda: self.name() + "(" + self.several(0, 4, lambda: self.named(down)) + ")",
            lambda: self.name() + "[" + self.several(1, 3, index) + "]",
            lambda: self.name() + self.pick([".a", ".if", ".type", "'", ".b'"]),
            lambda: "[" + self.several(0, 5, e) + "]",
            lambda: "(" + self.several(2, 4, lambda: self.named(down)) + ")",
            lambda: f"[for i in {e()}{clause()}{body()}]",
            lambda: f"sum(for i in 0..n{clause()}{body()})",
            lambda: f"if {e()} {self.block(down)} else {self.block(down)}",
            lambda: f"match {e()} {{{newline}{self.pick([chr(10), ', ']).join(arm() for _ in range(3))}{newline}}}",
            lambda: "(" + self.pick(["x", "(a, b)", "_", "()"]) + " => " + e() + ")",
            lambda: f"{e()}\n  |> {self.name()}{self.pick(['', '(' + e() + ')', '(1).f', '(x)[1]', '.g'])}{self.pick(['', ' |> show'])}",
            bracketed,
            lambda: self.block(down),
            lambda: self.pick(["x => ", "(a, b) => "]) + e(),
        ])

    def type(self, depth):
        if depth <= 0:
            return self.pick(["f64", "text", "linear.Ridge", "_"])
        t = lambda: self.type(depth - 1)
        return self.pick([
            lambda: t() + "[n, _, 3, n + 1]",
            lambda: f"(a: {t()}, {self.pick(['..', 'b: ' + t()])})",
            lambda: f"({t()}, {t()})",
            lambda: t() + "?",
            lambda: f"({t()} -> {t()})",
            lambda: "typeof(x[0])",
        ])

    def block(self, depth):
        statements = self.pick(["\n", "; "]).join(self.statement(depth) for _ in range(self.random.randint(0, 3)))
        return "{" + self.pick([" ", "\n"]) + statements + self.pick([" ", "\n"]) + "}"

    def statement(self, depth):
        param = lambda: "x" + self.pick(["", ": " + self.type(1), " = " + self.expr(1)])
        text = self.pick([
            lambda: f"let {self.pick(['x', '(a, b)', '_'])}{self.pick(['', ': ' + self.type(2)])} ={self.line_gap()}{self.expr(depth)}",
            lambda: f"{self.name()} += {self.expr(depth)}",
            lambda: f"for i in {self.expr(depth - 1)} {self.block(depth - 1)}",
            lambda: f"while {self.expr(depth - 1)} {self.block(depth - 1)}",
            lambda: f"@memo(never) fn f({self.several(0, 3, param)}) -> {self.type(1)} = {self.expr(depth - 1)}",
            lambda: f"stage f({self.several(1, 2, param)}) {self.block(depth - 1)}",
            lambda: f"assert {self.expr(depth - 1)}{self.pick(['', ', ' + TEXTS[0]])}",
            lambda: "type P[a, b] = " + self.type(3),
            lambda: f"param p: {self.type(1)} = {self.expr(1)}  ## doc",
            lambda: self.expr(depth),
        ])
        if self.random.random() < self.comments:
            text += self.pick(["  # behind", "\n# below", "\n\n# further below"]) + "\n"
        return text

    def script(self):
        return "\n".join(self.statement(self.random.randint(1, 5)) for _ in range(self.random.randint(1, 6))) + "\n"


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    build = pathlib.Path(os.environ["FLOWC"]).parent if "FLOWC" in os.environ else root / "build"
    golden = (sys.argv[1:] + [str(build / "tests/golden_syntax")])[0]
    seed, count = int((sys.argv[2:] + ["1"])[0]), int((sys.argv[3:] + ["600"])[0])
    with tempfile.TemporaryDirectory() as folder:
        for comments in (0.0, 0.2):
            scripts = Scripts(f"{seed} {comments}", comments)
            for i in range(count // 2):
                (pathlib.Path(folder) / f"{comments}-{i}.flow").write_text(scripts.script())
        print(f"seed {seed}", flush=True)
        done = subprocess.run([golden, "--properties", folder])
    sys.exit(done.returncode)


main()
