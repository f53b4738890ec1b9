#!/usr/bin/env python3
"""Every construct of the language within itself, far deeper than anyone writes: a message or a result from check, fmt, run and
each step that `build --emit` shows, whatever `ulimit -s` says; and recursion without end, while compiling and running, which
stops at a bound of flow's own. Prints "N passed, N failed"."""
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import scenario_kit as kit  # noqa: E402
from scenario_kit import ALL, check  # noqa: E402


def nest(n, before, after, core):
    return before * n + core + after * n


def functions(n):
    return "".join(f"fn f{k}(x: i64) = f{k + 1}(x)\n" for k in range(n)) + f"fn f{n}(x: i64) = x\nprint(f0(1))"


CONSTRUCTS = {
    "brackets": lambda n: "print(" + nest(n, "(", ")", "1") + ")",
    "calls": lambda n: "print(" + nest(n, "abs(", ")", "1") + ")",
    "calls of a function": lambda n: "fn f(x) = x\nprint(" + nest(n, "f(", ")", "1") + ")",
    "arrays": lambda n: "let a = " + nest(n, "[", "]", "1") + "\nshow(a)",
    "tuples": lambda n: "let a = " + nest(n, "(1, ", ")", "1") + "\nshow(a)",
    "named tuples": lambda n: "let a = " + nest(n, "(a = ", ")", "1") + "\nshow(a)",
    "lambdas": lambda n: "let f = " + nest(n, "x => ", "", "1") + "\nlet g = f",
    "lambdas called": lambda n: "print(" + nest(n, "(x => ", ")(1)", "x") + ")",
    "ifs": lambda n: "print(" + nest(n, "if 1 < 2 { ", " } else { 0 }", "1") + ")",
    "else ifs": lambda n: "let x = 1\nprint(" + nest(n, "if x < 0 { 0 } else ", "", "{ 1 }") + ")",
    "matches": lambda n: "print(" + nest(n, "match 1 { 1 => ", ", _ => 0 }", "1") + ")",
    "blocks": lambda n: "print(" + nest(n, "{ let y = 1\n", "\n}", "1") + ")",
    "pipes": lambda n: "1" + " |> abs" * n + " |> print",
    "comprehensions": lambda n: "let a = " + nest(n, "[for i in 0..1: ", "]", "1") + "\nshow(a)",
    "reductions": lambda n: "print(" + nest(n, "sum(for i in 0..1: ", ")", "1") + ")",
    "loops": lambda n: "var y = 0\n" + nest(n, "for i in 0..1 {\n", "\n}", "y = y + 1") + "\nprint(y)",
    "whiles": lambda n: "var y = 0\n" + nest(n, "while y < 1 {\n", "\n}", "y = y + 1") + "\nprint(y)",
    "types": lambda n: "type T = " + nest(n, "(a: ", ")", "i64"),
    "lists in types": lambda n: "fn f(x: i64" + "[_]" * n + ") = 1\nprint(f(1))",
    "function types": lambda n: "fn f(x: " + "i64 -> " * n + "i64) = 1\nprint(1)",
    "texts in texts": lambda n: "print(" + nest(n, '"{', '}"', "1") + ")",
    "minus": lambda n: "print(" + "- " * n + "1)",
    "not": lambda n: "print(" + "not " * n + "true)",
    "sums": lambda n: "let x = 1\nprint(" + "x + " * n + "1)",
    "powers": lambda n: "let x = 1.0\nprint(" + "x ^ " * n + "1)",
    "comparisons in and": lambda n: "let x = 1\nprint(" + "x < 2 and " * n + "true)",
    "fallbacks": lambda n: "let x: i64? = 1\nprint(" + "x ?? " * n + "1)",
    "subscripts": lambda n: "let a = [0]\nprint(" + nest(n, "a[", "]", "0") + ")",
    "fields": lambda n: "let a = (a = 1)\nprint(a" + ".a" * n + ")",
    "transposes": lambda n: "let a = [[1.0]]\nprint((a" + "'" * n + ")[0, 0])",
    "derivatives": lambda n: "let f = " + nest(n, "grad(", ")", "x => x * x") + "\nprint(f(1.0))",
    "patterns": lambda n: "let " + nest(n, "(a, ", ")", "b") + " = 1",
    "functions": lambda n: functions(min(n, 700)),
    "verbs": lambda n: "table(a = [1])" + " |> where(a > 0)" * min(n, 200) + " |> show",
    "options": lambda n: "fn f(x: i64" + "?" * n + ") = 1\nprint(f(1))",
    "opened": lambda n: "(" * n,
    "opened braces": lambda n: "if true { " * n,
    "opened texts": lambda n: 'print("{' * n,
    "closed": lambda n: ")" * n,
}
STACKS = (1 << 20, 8 << 20, resource.RLIM_INFINITY)
STEPS = {"check": ["check"], "fmt": ["fmt", "--check"], "tokens": ["build", "--emit=tokens"], "ast": ["build", "--emit=ast"],
         "ir": ["build", "--emit=ir"], "interp": ["run", "--interp"], "run": ["run"]}
# How deep, and by which steps; --all takes every step at more depths.
PLAN = {40: ("check", "run", "interp"), 3000: ("check", "fmt", "ast")}
if ALL:
    PLAN = {40: STEPS, 700: STEPS, 3000: ("check", "fmt", "tokens", "ast", "ir"), 30000: ("check", "fmt", "tokens", "ast")}


def limits(stack):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_STACK, (stack, resource.RLIM_INFINITY))
        if "FLOW_SANITIZE" not in kit.os.environ:
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))

    return set_limits


place = kit.Place()


def run(words, stack):
    try:
        return subprocess.run(place.command(*words), cwd=place.path, env=place.env, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60 * kit.PATIENCE, preexec_fn=limits(stack))
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, "time", b"", b"")


which = 0
for name, make in CONSTRUCTS.items():
    for depth, steps in PLAN.items():
        place.write("x.flow", make(depth))
        for step in steps:
            which += 1
            stack = STACKS[which % 3]
            done = run([*STEPS[step], "x.flow"], stack)
            check(done.returncode in (0, 1, 3) and (done.returncode == 0 or done.stderr or done.stdout),
                  f"{name}, {depth} deep: flowc {' '.join(STEPS[step])} (stack {stack}) ends: {done.returncode}", done.stderr[-400:])

# Recursion without end, at run time: status 1 and a sentence, in every way and with every limit.
place.write("run.flow", "fn f(n: i64) -> i64 = f(n + 1) + 1\nstage g(n: i64) -> i64 = f(n)\nprint(g(0))\n")
place.write("tail.flow", "fn f(n: i64, x: f64[k]) -> f64 = if n < 0 { 0.0 } else { f(n + 1, x) + sum(x) }\nprint(f(0, [1.0, 2.0]))\n")
check(place.run("build", "run.flow", "-o", "run.bin").returncode == 0, "a recursion without end can be built")
for stack in STACKS:
    for script in ("run.flow", "tail.flow"):
        for way in ([], ["-O0"], ["--interp"]):
            done = run(["run", *way, "--no-cache", script], stack)
            check(done.returncode == 1 and b"too deeply" in done.stderr, f"{script} {way} with stack {stack}: {done.returncode}", done.stderr)
    done = subprocess.run(["./run.bin", "--no-cache"], cwd=place.path, capture_output=True, preexec_fn=limits(stack))
    check(done.returncode == 1 and b"too deeply" in done.stderr, f"run.bin with stack {stack}: {done.returncode}", done.stderr)
# Recursion that ends is as deep everywhere.
place.write("deep.flow", "fn f(n: i64) -> i64 = if n == 0 { 0 } else { f(n - 1) + 1 }\nprint(f(30000))\n")
for stack in STACKS:
    for way in ([], ["--interp"]):
        done = run(["run", *way, "deep.flow"], stack)
        check(done.stdout == b"30000\n", f"a recursion of 30,000 calls {way} with stack {stack}", done.stderr)
kit.finish()
