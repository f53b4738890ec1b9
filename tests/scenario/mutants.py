#!/usr/bin/env python3
"""Scripts that nobody would write: those of tests/, examples/ and stdlib/ with tokens deleted, doubled and swapped, names
misspelt, literals changed, calls put under `grad`, `value_and_grad` and `jvp`, into loops, behind `@derivative`, lines taken from
other scripts. Whatever they say, flowc must end by itself: no signal, no status 70, no more time or memory than is given to it,
compiled and with --interp. Prints "N passed, N failed".

    mutants.py [--count 120] [--seed 1] [--kind grad|any|both] [--keep FOLDER] [--one SEED]

A mutant is a function of its number (seed * 1,000,000 + k) and of the scripts that are here: --one makes and prints it again."""
import argparse
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "derivatives"))
import scenario_kit as kit  # noqa: E402
from rows import ROWS  # noqa: E402

TOKEN = re.compile(
    r'#[^\n]*|"""(?:.|\n)*?"""|r#".*?"#|r"[^"\n]*"|"(?:\\.|[^"\\\n])*"|`[^`\n]*`|\d[\w.]*(?:[eE][-+]\d+)?|@?[A-Za-z_]\w*'
    r"|\|>|=>|->|==|!=|<=|>=|\.\.|//|\?\?|~=|\+=|[ \t]+|\n|.")
MODULES = {path.stem for path in (kit.ROOT / "stdlib").glob("?*.flow")}
LARGEST = 9000  # bytes of a script that is taken
SECONDS, MEMORY = 10, 3 << 30
NUMBERS = ["0", "1", "2", "3", "-1", "7", "0.0", "1.5", "-2.5", "1e308", "1e-320", "9223372036854775807", "nan", "inf", "100"]
OTHERS = ["null", "true", "false", '""', '"é\\n"', "[]", "[1.0, 2.0]", "[[1.0, 2.0], [3.0, 4.0]]", "(a = 1.0, b = 2.0)", "x", "i",
          "date(\"2026-01-31\")", "[1, null]", "category([\"a\", \"b\"])", "table(a = [1.0, 2.0], b = [\"u\", \"v\"])", "(x => x)"]
ARGUMENTS = ["1.5", "[1.0, 2.0, 3.0]", "[[1.0, 2.0], [3.0, 4.0]]", "(a = 1.0, b = [1.0, 2.0])", "2", "[1, 2]", '"a"', "x => x * 2",
             "f32(0.5)", "[(u = 1.0, v = 2.0), (u = 3.0, v = 4.0)]", "(1.0, 2.0)"]


def tokens(text):
    return TOKEN.findall(text)


def is_space(token):
    return token.isspace() or token.startswith("#")


def is_number(token):
    return token[0].isdigit()


def is_name(token):
    return token[0].isalpha() or token[0] == "_"


def corpus():
    """(path, text) of every script; a module of the library with one of its tests as the script's own lines."""
    found = []
    for top in ("tests", "examples", "stdlib"):
        for path in sorted((kit.ROOT / top).rglob("?*.flow")):
            text = path.read_bytes().decode("utf-8", "replace")
            if len(text) <= LARGEST and path.name != "bad_utf8.flow":
                found.append((path, text))
            elif top == "stdlib":
                found.append((path, text))
    return found


class Mutant:
    """One mutant; r decides everything."""

    def __init__(self, scripts, names, number, grad):
        self.r = random.Random(number)
        self.scripts, self.names = scripts, names
        if grad and self.r.random() < 0.6:
            self.folder = kit.ROOT / "tests/derivatives"
            self.tokens = tokens(self.of_rows())
            for _ in range(self.r.choice((1, 1, 1, 2))):
                self.mutate(self.r.random() < 0.6)
            self.text = "".join(self.tokens)
            return
        wanted = [s for s in scripts if re.search(r"\b(grad|value_and_grad|jvp)\(", s[1])]
        path, text = self.r.choice(wanted if grad and self.r.random() < 0.6 else scripts)
        self.folder = path.parent
        self.tokens = tokens(self.part_of(path, text))
        under = False
        if grad:
            under = self.r.random() < 0.75 and (self.derive_call() if self.r.random() < 0.5 else self.wrap(True))
            if self.r.random() < 0.15:
                self.own_derivative()
        if not under or self.r.random() < 0.6:
            for _ in range(self.r.choice((1, 1, 1, 2, 3))):
                self.mutate()
        self.text = "".join(self.tokens)

    def part_of(self, path, text):
        if path.parts[-2] != "stdlib":
            return text
        blocks = re.findall(r'^test "[^"]*" \{\n(.*?)^\}\n', text, re.S | re.M)
        text = re.sub(r'^test "[^"]*" \{\n(.*?)^\}\n', "", text, flags=re.S | re.M)
        return text + "\n" + (self.r.choice(blocks) if blocks else "")

    def of_rows(self):
        """A short script that compiles before it is changed: derivatives of two functions of the table of derivatives, also of
        one after the other, in loops, by numbers within, behind branches. More mutants of these get through the check."""
        r = self.r
        lines = []
        for k in range(2):
            row = r.choice([row for row in ROWS if row["reverse"]])
            n, d = r.choice(row["shapes"])
            size = max(0, eval(row["size"], {"n": n, "d": d}))
            here = "[" + ", ".join(f"{r.uniform(-1.5, 1.5):.3f}" for _ in range(size)) + "]" if size else "[for k in 0..0: 0.0]"
            own = lambda text, k=k: re.sub(r"\b([nd]|here|u0)\b", lambda m: {"here": "x"}.get(m[1], m[1]) + str(k), text)  # noqa: E731
            lines += [f"let n{k} = {n}", f"let d{k} = {d}", f"let x{k} = {{ let z = {here}\n {own(row['domain'])} }}"]
            if row["before"]:
                lines.append(own(row["before"]))
            lines.append(own(f"fn f{k}(u: f64[_]) = {row['body']}"))
        first, second = r.sample(range(2), 2)
        f = r.choice((f"sum(f{first}(u))", f"sum(f{first}(u)) * 2 + f{first}(u)[0]", f"{{ let y = f{first}(u)\n sum(y * y) }}",
                      f"{{ var a = u\n for i in 0..3 {{ a = a * 0.5 + sum(f{first}(a)) }}\n sum(a) }}",
                      f"{{ var a = 0.0\n var i = 0\n while i < 3 {{ a = sin(a) + sum(f{first}(u * (i + 1))); i += 1 }}\n a }}",
                      f"sum(f{first}(u)) * sum(f{second}(x{second}))", f"if sum(u) > 0 {{ sum(f{first}(u)) }} else {{ sum(f{first}(u) * 2) }}",
                      f"sum(for i in 0..2: sum(f{first}(u + i)))", f"fold((s, v) => s + v * sum(f{first}(u)), 0.0, [1.0, 2.0])",
                      f"sum([for v in f{first}(u) if v > 0: v * sum(u)])"))
        d = r.choice((f"grad(u => {f})(x{first})", f"grad(u => {f})(x{first})", f"value_and_grad(u => {f})(x{first})",
                      f"jvp(u => {f})(x{first}, x{first})", f"grad(a => {{ let u = x{first} * a\n {f} }})(0.7)",
                      f"grad(u => sum(grad(u => {f})(u)))(x{first})", f"[for k in 0..2: sum(grad(u => {f})(x{first} + k))]"))
        lines.insert(0, "stage squares(x: f64[n]) -> f64[n] = x^2")
        used = sorted(set(re.findall(r"(?<![\w.])([a-z_]+)\.[a-z]", "\n".join(lines))) & MODULES)
        return "\n".join([*(f"import {name}" for name in used), *lines, f"print({d})", ""])

    # ---- places ----

    def at(self, want):
        places = [i for i, t in enumerate(self.tokens) if not is_space(t) and want(t)]
        return self.r.choice(places) if places else None

    def closing(self, i):
        """The bracket that closes the one at i, or None."""
        depth = 0
        for k in range(i, len(self.tokens)):
            depth += self.tokens[k] in ("(", "[", "{")
            depth -= self.tokens[k] in (")", "]", "}")
            if depth == 0:
                return k
        return None

    def expression(self):
        """(from, to) of a call, a bracket or a literal."""
        i = self.at(lambda t: t in ("(", "[") or is_number(t))
        if i is None:
            return None
        if is_number(self.tokens[i]):
            return i, i + 1
        end = self.closing(i)
        if end is None:
            return None
        while i > 0 and (is_name(self.tokens[i - 1]) or self.tokens[i - 1] == "."):
            i -= 1
        return i, end + 1

    def lines(self, text):
        return [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]

    # ---- changes ----

    def mutate(self, gently=False):
        """Gently: an expression, an operator or a literal becomes another one, which may well compile."""
        r = self.r
        what = r.choice((5, 6, 8, 9, 10, 11) if gently else range(12))
        i = self.at(lambda t: True)
        if i is None:
            return
        if what == 0:
            del self.tokens[i]
        elif what == 1:
            self.tokens.insert(i, self.tokens[i] + (" " if is_name(self.tokens[i]) else ""))
        elif what == 2:
            k = self.at(lambda t: True)
            self.tokens[i], self.tokens[k] = self.tokens[k], self.tokens[i]
        elif what == 3:  # a name misspelt
            k = self.at(is_name)
            if k is not None:
                t = self.tokens[k]
                self.tokens[k] = t[:-1] if len(t) > 1 and r.random() < 0.5 else t + "x"
        elif what == 4:  # another name of this script, or a function of the language
            k, other = self.at(is_name), self.at(is_name)
            if k is not None:
                self.tokens[k] = self.tokens[other] if r.random() < 0.5 else r.choice(self.names)
        elif what == 5:
            k = self.at(lambda t: is_number(t) or t[0] == '"' or t in ("true", "false", "null"))
            if k is not None:
                self.tokens[k] = r.choice(NUMBERS if r.random() < 0.6 else OTHERS)
        elif what == 6:
            k = self.at(lambda t: t in ("+", "-", "*", "/", "//", "%", "^", "@", "==", "<", ">", "<=", ">=", "and", "or", "??", "|>"))
            if k is not None:
                self.tokens[k] = r.choice(("+", "-", "*", "/", "//", "%", "^", "@", "==", "<", "and", "or", "??", "|>", ".."))
        elif what == 7:  # a line of another script
            line = r.choice(self.lines(r.choice(self.scripts)[1]) or [""])
            ends = [k for k, t in enumerate(self.tokens) if t == "\n"] or [0]
            k = r.choice(ends)
            self.tokens[k:k] = ["\n", *tokens(line)]
        elif what == 8:  # an expression in the place of another
            a, b = self.expression(), self.expression()
            if a and b:
                self.tokens[a[0]:a[1]] = self.tokens[b[0]:b[1]]
        elif what == 9:
            a = self.expression()
            if a:
                self.tokens[a[0]:a[1]] = [r.choice(OTHERS)]
        else:
            self.wrap(what == 10)

    def wrap(self, derive):
        """An expression under a derivative, or in a loop; whether there was one."""
        r, a = self.r, self.expression()
        if not a:
            return False
        inner = list(self.tokens[a[0]:a[1]])
        q = f"q{r.randrange(9)}"
        if derive:
            places = [k for k, t in enumerate(inner) if is_number(t)]
            for k in places:
                if r.random() < 0.6:
                    inner[k] = q
            e, x = "".join(inner), r.choice(ARGUMENTS[:4] if r.random() < 0.8 else ARGUMENTS)
            e = r.choice((e, f"sum({e})", f"{{ let y = {e}\n y }}", f"({e}) * {q}"))
            new = r.choice((f"grad({q} => {e})({x})", f"value_and_grad({q} => {e})({x})", f"jvp({q} => {e})({x}, {x})",
                            f"grad({q} => sum(grad({q} => {e})({q})))({x})", f"[for z in 0..2: grad({q} => {e})({x})]",
                            f"grad({q} => {{ var w = {q}\n for z in 0..2 {{ w = w * sum({e}) }}\n w }})({x})",
                            f"grad({q} => {{ var w = {q}\n while sum(w) < 9 {{ w = w + {e} }}\n sum(w) }})({x})",
                            f"grad({q} => sum([for z in 0..3: {e}]))({x})", f"grad({q} => sum(for z in 0..3 if z > 0: {e}))({x})",
                            f"grad({q} => if sum({q}) > 0 {{ {e} }} else {{ 0.0 }})({x})",
                            f"grad({q} => fold((s, v) => s + v * {e}, 0.0, [1.0, 2.0]))({x})"))
        else:
            e = "".join(inner)
            new = r.choice((f"[for z in 0..3: {e}]", f"sum(for z in 0..2: {e})", f"if 1 < 2 {{ {e} }} else {{ {e} }}", f"({e}, {e})",
                            f"[{e}, {e}]", f"[for z in 0..3 if z > 1: {e}]", f"(x => x)({e})", f"fold((s, v) => {e}, 0.0, [1.0])",
                            f"{{ var w = {e}\n for z in 0..2 {{ w = {e} }}\n w }}", f"(a = {e}, b = [{e}])", f"-({e})", f"({e}) ?? 0",
                            f"match 1 {{ 1 => {e}, _ => {e} }}", f"[for z in 0..3, y in 0..z: {e}]", f"best(for z in 0..2: {e}, by = 1)",
                            f'"{{{e}}}"' if '"' not in e and "{" not in e else e, f"scan((s, v) => {e}, 0.0, [1.0])"))
        self.tokens[a[0]:a[1]] = [new]
        self.tokens = tokens("".join(self.tokens))
        return True

    def derive_call(self):
        """A derivative of a function of the script."""
        r = self.r
        found = re.findall(r"^(?:stage|fn) (\w+)\((.*?)\)", "".join(self.tokens), re.M | re.S)
        if not found:
            return False
        name, params = r.choice(found)
        args = []
        for p in [p for p in re.split(r",(?![^(\[]*[)\]])", params) if p.strip()]:
            if "=" in p and r.random() < 0.7:
                continue
            kind = p.partition(":")[2]
            fit = (ARGUMENTS[2] if re.search(r"\[.*,.*\]", kind) else ARGUMENTS[1] if "f64[" in kind else ARGUMENTS[5] if "i64[" in kind else
                   ARGUMENTS[4] if "i64" in kind else ARGUMENTS[7] if "->" in kind else ARGUMENTS[0] if "f64" in kind else r.choice(ARGUMENTS))
            args.append(fit if r.random() < 0.9 else r.choice(ARGUMENTS))
        d = r.choice(("grad", "grad", "value_and_grad", "jvp"))
        if d == "jvp" and args:
            args.insert(1, args[0])
        call = f"{d}({name})({', '.join(args)})"
        if r.random() < 0.3 and args:
            rest = ", ".join(["q", *args[1:]])
            call = f"{d}(q => sum({name}({rest})))({args[0]})"
        self.tokens += tokens(f"\nprint({call})\n" if r.random() < 0.5 else f"\nshow({call})\n")
        return True

    def own_derivative(self):
        r, text = self.r, "".join(self.tokens)
        found = list(re.finditer(r"^fn (\w+)\(([^()]*)\)", text, re.M))
        if not found:
            return
        m = r.choice(found)
        names = [p.split(":")[0].strip() for p in m[2].split(",") if p.strip()]
        by = r.choice((m[1], "own_vjp", "own_vjp", "own_vjp"))
        body = r.choice(("g", "(" + ", ".join(["g"] * max(1, len(names))) + ")", names[0] if names else "y", "g * y", "y", "1.0"))
        vjp = f"fn own_vjp({', '.join([*names, 'y', 'g'])}) = {body}\n"
        self.tokens = tokens(text[:m.start()] + f"@derivative({by})\n" + text[m.start():] + "\n" + vjp)


# ---- running ----


def limits():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS * kit.PATIENCE, SECONDS * kit.PATIENCE + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if "FLOW_SANITIZE" not in os.environ:  # sanitizers take terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Runner:
    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="flow-mutants-"))
        self.env = dict(os.environ, FLOW_CODE_CACHE=str(self.top / "code"), NO_COLOR="1", LC_ALL="C.UTF-8", HOME=str(self.top))

    def place(self, mutant, number):
        """A folder of its own with copies of what lies beside the script, as far as its text names it."""
        where = self.top / str(number)
        where.mkdir()
        for other in mutant.folder.iterdir():
            if other.is_file() and other.stat().st_size < 1 << 20 and (other.name in mutant.text or "*" in mutant.text):
                shutil.copy(other, where / other.name)
        if (mutant.folder / "data").is_dir() and "data/" in mutant.text:
            shutil.copytree(mutant.folder / "data", where / "data")
        (where / "m.flow").write_text(mutant.text)
        return where

    def flowc(self, where, *words):
        """(status, or "time"; what it said)"""
        command = [kit.FLOWC, *words]
        try:
            done = subprocess.run(command, cwd=where, env=dict(self.env, FLOW_CACHE=str(where / ".flow")), stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=6 * SECONDS * kit.PATIENCE, preexec_fn=limits)
        except subprocess.TimeoutExpired:
            return "time", b"", b""
        stopped = (-signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU)  # a mutation may well make a loop endless
        status = "time" if done.returncode in stopped else done.returncode
        return status, done.stdout, done.stderr

    def problem(self, mutant, number):
        """What is wrong with how flowc treats it, or None; and how far it came."""
        where = self.place(mutant, number)
        status, _, err = self.flowc(where, "check", "m.flow")
        if status not in (0, 2, 3) or b"E0299" in err:
            return f"check: {status}\n{err.decode('utf-8', 'replace')[-600:]}", "check"
        if status == 3 and not err:
            return "check: status 3 without a word", "check"
        if status:
            return None, "check"
        outs = []
        for way in (["--interp"], []):
            status, out, err = self.flowc(where, "run", *way, "--no-cache", "--workers", "1", "m.flow")
            bad = status not in (0, 1, 2, 3, 4, "time") or b"flow itself" in err
            if bad or (status == 4 and b"memory" not in err):
                return f"run {' '.join(way)}: {status}\n{err.decode('utf-8', 'replace')[-600:]}", "run"
            outs.append((status, out))
        if outs[0][0] == outs[1][0] == 0 and outs[0][1] != outs[1][1] and "now" not in mutant.text:
            return f"compiled and --interp differ:\n{outs[0][1][-300:]}\n{outs[1][1][-300:]}", "run"
        return None, "run"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--kind", default="both")
    p.add_argument("--keep")
    p.add_argument("--one", type=int)
    o = p.parse_args()
    scripts = corpus()
    names = re.findall(r"^FL_\w+\((\w+), \"", (kit.ROOT / "compiler/sema/builtins/builtins.def").read_text(), re.M)
    runner = Runner()
    numbers = [o.one] if o.one else [o.seed * 1_000_000 + k for k in range(o.count)]
    reached = {"check": 0, "run": 0}
    try:
        for number in numbers:
            grad = o.kind == "grad" or (o.kind == "both" and number % 2 == 0)
            mutant = Mutant(scripts, names, number, grad)
            if o.one:
                print(mutant.text)
            why, stage = runner.problem(mutant, number)
            reached[stage] += 1
            kit.check(not why, f"mutant {number} of {mutant.folder.relative_to(kit.ROOT)}", why)
            if why and o.keep:
                where = pathlib.Path(o.keep) / str(number)
                shutil.rmtree(where, ignore_errors=True)
                shutil.copytree(runner.top / str(number), where)
                (where / "why").write_text(why)
            shutil.rmtree(runner.top / str(number), ignore_errors=True)
    finally:
        shutil.rmtree(runner.top, ignore_errors=True)
    print(f"{len(numbers)} mutants, {reached['run']} compiled", file=sys.stderr)
    kit.finish()


if __name__ == "__main__":
    main()
