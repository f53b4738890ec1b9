#!/usr/bin/env python3
"""Where an error points: faults x places. Each case is a way from a line of the script to an operation that fails; what
must be shown follows from the way as it is written here: the markers `#@1 callee`, `#@2 callee`, ... stand on the lines
of the calls in that order, `#@!` on the line that fails. Compiled, with -O0, --interp, 1 and 3 workers, and as a built
binary, the message has the same place and the same calls.

    python3 tests/scenario/error_chains.py [--all] [--only PLACE]     --all: every fault at every place
"""
import re
import sys

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, ROOT, Place, check, finish

# Expressions of type f64 that fail while k is 0, and the code they fail with.
FAULTS = {
    "index": ("E0704", "[1.0, 2.0][k + 5]"),
    "division": ("E0702", "f64(7 // k)"),
    "overflow": ("E0701", "f64(9223372036854775807 + (k + 1))"),
    "assert": ("E0710", '{ assert k > 0, "k is {k}"; 1.0 }'),
    "error": ("E0711", 'if k == 0 { error("k is {k}") } else { 1.0 }'),
    "parse": ("E0706", 'parse_f64("x{k}")'),
    "cast": ("E0705", "f64(i8(k + 300))"),
    "null": ("E0711", '(if k > 0 { 1.0 } else { null }) ?? error("no value")'),
    "shape": ("E0708", "sum([1.0, 2.0, 3.0] + [for i in 0..k + 4: 1.0])"),
    "category": ("E0261", 'f64(codes(category(["a", "b{k}"], levels = ["a"]))[1])'),
    "cholesky": ("E0976", "cholesky([[f64(k), 0.0], [0.0, 1.0]])[0, 0]"),
    "empty": ("E0709", "max([for i in 0..k: 1.0])"),
    "memory": ("E0712", "sum([for i in 0..(k + 1) * 10000000000000000: f64(i)] |> sort)"),
    "missing file": ("E0930", '{ let t: (a: f64)[_] = read_csv("none.csv"); sum(t.a) + f64(k) }'),
    "bad cell": ("E0931", '{ let t: (a: f64)[_] = read_csv("bad.csv"); sum(t.a) + f64(k) }'),
}

# A file that a stage or a recursion names is looked up before the first call of it, which is the last that is shown: so many of the
# place's. Functions that call each other cannot name one.
LOOKED_UP = {"recursion": 1}

# Places: files and the way. {E} is the fault, of k.
PLACES = {
    "top": {"main": "print({E})  #@!"},
    "binding": {"main": "let a = {E}  #@!\nprint(a + 1.0)"},
    "function": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nprint(f(k))  #@1 f"},
    "untyped": {"main": "fn f(k) {\n  let a = {E}  #@!\n  a + 1.0\n}\nprint(f(k))  #@1 f"},
    "nested": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nfn g(k: i64) -> f64 =\n  f(k) + 1.0  #@3 f\n"
                       "fn h(k: i64) -> f64 {\n  g(k)  #@2 g\n}\nprint(h(k) + 1.0)  #@1 h"},
    "twice": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nlet a = f(k)  #@1 f\nlet b = f(k)\nprint(a + b)"},
    "lambda": {"main": "let g = k =>\n  {E}  #@!\nprint(g(k))  #@1 g"},
    "lambda in a function": {"main": "fn h(k: i64) -> f64 {\n  let g = (a, b) =>\n    a + {E}  #@!\n  g(1.0, k) + 1.0  #@2 g\n}\nprint(h(k))  #@1 h"},
    "lambda passed on": {"main": "let mine = k =>\n  {E}  #@!\nprint(helper.apply(mine, k))  #@1 apply",
                         "helper": "fn apply(f, k: i64) -> f64 =\n  f(k)  #@2 mine"},
    "lambda without a name": {"main": "fn f(k: i64) -> f64 =\n  (a =>\n    {E}  #@!\n  )(k)\nprint(f(k))  #@1 f"},
    "recursion": {"main": "fn f(n: i64, k: i64) -> f64 =\n  if n == 0 {\n    {E}  #@!\n  } else {\n"
                          "    f(n - 1, k)  #@2 f #@3 f #@4 f\n  }\nprint(f(3, k))  #@1 f"},
    "even and odd": {"main": "fn even(n: i64, k: i64) -> f64 =\n  if n == 0 {\n    {E}  #@!\n  } else {\n"
                             "    odd(n - 1, k)  #@2 odd #@4 odd\n  }\nfn odd(n: i64, k: i64) -> f64 =\n"
                             "  even(n - 1, k)  #@3 even #@5 even\nprint(even(4, k))  #@1 even"},
    "module": {"main": "print(helper.f(k))  #@1 f", "helper": "fn f(k: i64) -> f64 =\n  {E}  #@!"},
    "modules": {"main": "fn g(k: i64) -> f64 =\n  helper.f(k)  #@2 f\nprint(g(k))  #@1 g",
                "helper": 'import "other.flow" as other\nfn f(k: i64) -> f64 {\n  other.deep(k)  #@3 deep\n}',
                "other": "fn deep(k: i64) -> f64 =\n  {E}  #@!"},
    "lambda to a module": {"main": "print(helper.apply(k =>  #@1 apply\n  {E}, k))  #@!",
                           "helper": "fn apply(f, k: i64) -> f64 =\n  f(k)  #@2 f"},
    "default": {"main": "fn f(a: f64, k: i64,\n  b: f64 = {E}  #@!\n  ) -> f64 = a + b\nprint(f(1.0, k))  #@1 f"},
    "stage": {"main": "stage s(k: i64) -> f64 =\n  {E}  #@!\nprint(s(k))  #@1 s"},
    "function of a stage": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nstage s(k: i64) -> f64 =\n  f(k) + 1.0  #@2 f\n"
                                    "print(s(k))  #@1 s"},
    "stage of a stage": {"main": "stage s(k: i64) -> f64 =\n  {E}  #@!\nstage u(k: i64) -> f64 {\n  s(k) + 1.0  #@2 s\n}\n"
                                 "print(u(k))  #@1 u"},
    "stage of a function": {"main": "stage s(k: i64) -> f64 =\n  {E}  #@!\nfn u(k: i64) -> f64 {\n  s(k) + 1.0  #@2 s\n}\n"
                                    "print(u(k))  #@1 u"},
    "stage in a loop": {"main": "stage s(k: i64) -> f64 =\n  {E}  #@!\nfor i in 0..2 {\n  print(s(k))  #@1 s\n}"},
    "stage of a module": {"main": "print(helper.s(k))  #@1 s", "helper": "stage s(k: i64) -> f64 =\n  {E}  #@!"},
    "never remembered": {"main": "@memo(never)\nstage s(k: i64) -> f64 =\n  {E}  #@!\nprint(s(k))  #@1 s"},
    "stages of elements": {"main": "stage s(k: i64) -> f64 =\n  {E}  #@!\nprint([for i in 0..3:\n  s(k * i)])  #@1 s"},
    "elements": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nprint([for i in 0..3:\n  f(k * i)])  #@1 f"},
    "fused": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nlet a = [for i in 0..3: f(k * i)]  #@1 f\n"
                      "let b = [for v in a: v + 1.0]\nprint(sum(b))"},
    "reduction": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nprint(sum(for i in 0..3: f(k * i)))  #@1 f"},
    "lifted": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nprint(f([for i in 0..3: k * i]))  #@1 f"},
    "column": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nlet t = table(c = [for i in 0..3: k * i])\n"
                       "show(t |> derive(d = f(c)))  #@1 f"},
    "filter": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nlet t = table(c = [for i in 0..3: k * i])\n"
                       "show(t |> where(f(c) > 0.0))  #@1 f"},
    "each": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nlet t = table(c = [for i in 0..3: k * i])\n"
                     "show(t |> derive(each(all(), f)))  #@1 f"},
    "group": {"main": "fn f(x: i64[n]) -> f64 {\n  let k = sum(x)\n  {E}  #@!\n}\n"
                      "let t = table(g = [1, 1, 2], c = [for i in 0..3: k * i])\n"
                      "show(t |> group_by(g) |> summarize(d = f(c)))  #@1 f"},
    "fold": {"main": "fn f(a: f64, k: i64) -> f64 =\n  a + {E}  #@!\nprint(fold(f, 0.0, [k, k]))  #@1 f"},
    "lambda to a builtin": {"main": "print(fold((a, k) =>\n  a + {E}, 0.0, [k, k]))  #@!"},
    "comprehension": {"main": "let a = [for i in 0..3:\n  {E}]  #@!\nprint(sum(a))"},
    "derived": {"main": "let t = table(c = [1, 2, 3])\nshow(t |> derive(d = c + (\n  {E})))  #@!"},
    "summarized": {"main": "let t = table(g = [1, 1, 2], c = [1.0, 2.0, 3.0])\n"
                           "show(t |> group_by(g) |> summarize(d = sum(c) + (\n  {E})))  #@!"},
    "loop": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nfn g(k: i64) -> f64 {\n  var a = 0.0\n  for i in 0..3 {\n"
                     "    a += f(k)  #@2 f\n  }\n  a\n}\nprint(g(k))  #@1 g"},
    "while": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nfn g(k: i64) -> f64 {\n  var a = 0.0\n  while a < 3.0 {\n"
                      "    a += f(k) + 1.0  #@2 f\n  }\n  a\n}\nprint(g(k))  #@1 g"},
    "match": {"main": "fn f(k: i64) -> f64 =\n  match k {\n    5 => 1.0\n    _ => {E}  #@!\n  }\nprint(f(k))  #@1 f"},
    "grad": {"main": "fn f(k: i64) -> f64 =\n  {E}  #@!\nfn g(p: f64, k: i64) -> f64 =\n  p * p * f(k)  #@2 f\n"
                     "print(grad(g)(1.0, k))  #@1 g"},
    "grad of a stage": {"main": "stage s(p: f64, k: i64) -> f64 {\n  let a =\n    {E}  #@!\n  p * a\n}\n"
                                "print(grad(s)(1.0, k))  #@1 s"},
    "own derivative": {"main": "fn d(p: f64, k: i64, y: f64, a: f64) -> f64 =\n  a * {E}  #@!\n@derivative(d)\n"
                               "fn g(p: f64, k: i64) -> f64 = p * p\nprint(grad(g)(1.0, k))  #@1 d"},
    "library": {"main": "fn g(p: f64) -> f64 {\n  let a =\n    {E}  #@!\n  a * p * p\n}\n"
                        "print(optim.gd(p => g(p), start = 1.0, iters = 2).x)  #@1 gd #@4 g"},
}


# Failures of the library and of operators that are calls themselves: code, command line, files.
REFUSALS = {
    "an assert of the library": ("E0710", ["main.flow"], {
        "main": "import linear\nfn fitted(m: f64[n, d], k: i64) {\n"
                "  linear.ridge(m, [1.0, 2.0, 3.0], lambda = f64(k - 1))  #@! #@2 ridge\n}\n"
                "print(fitted([[1.0, 2.0], [2.0, 4.0], [3.0, 5.0]], k))  #@1 fitted"}),
    "a row that does not read": ("E0931", ["main.flow", "--f", "d.csv"], {
        "main": "type Row = (a: i64)\nparam f: file\nstage s(f: file) -> i64 {\n  let t: Row[_] = read_csv(f)  #@!\n"
                "  sum(t.a)\n}\nprint(s(f))  #@1 s",
        "d.csv": "a\n1\nx\n"}),
    "a file that a stage is given": ("E0930", ["main.flow"], {
        "main": "param p: file = \"none.csv\"\nstage s(p: file, k: i64) -> i64 {\n  let t: (a: f64)[_] = read_csv(p)\n  len(t)\n}\n"
                "fn f(p: file, k: i64) -> i64 =\n  s(p, k) + 1  #@!\nprint(f(p, k))  #@1 f"}),
    "a program that fails": ("E0245", ["--allow-exec", "main.flow"], {
        "main": "fn f(k: i64) -> i64 {\n  let t: (id: i64)[_] = exec(\"exit 3; echo {k}\")  #@!\n  len(t)\n}\n"
                "print(f(k))  #@1 f"}),
    "a C function": ("E0701", ["main.flow"], {
        "main": 'extern fn labs(x: i64) -> i64 from "c"\nfn f(k: i64) -> i64 =\n'
                "  labs(k) + 9223372036854775807 + 1  #@!\nprint(f(k))  #@1 f"}),
}


def line_in(file, function, part):
    """The line of a function of the library that holds `part`."""
    lines = (ROOT / "stdlib" / file).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"fn {function}("))
    return next(i + 1 for i, line in enumerate(lines) if i >= start and part in line)


def way(place):
    """The calls, the outermost first, as (file, line, callee), and the (file, line) that fails."""
    calls, failed = {}, None
    if place == "an assert of the library":
        calls[3] = ("stdlib/linear.flow", line_in("linear.flow", "ridge", "_checked_lambda("), "_checked_lambda")
        calls[4] = ("stdlib/linear.flow", line_in("linear.flow", "_checked_lambda", "assert "), None)
    if place == "library":
        calls[2] = ("stdlib/optim.flow", line_in("optim.flow", "gd", "_derived(f"), "_derived")
        calls[3] = ("stdlib/optim.flow", line_in("optim.flow", "_derived", "value_and_grad(f)"), "f")
    for name, text in (PLACES.get(place) or REFUSALS[place][2]).items():
        for number, line in enumerate(script(name, text, "").splitlines(), 1):
            for word in re.findall(r"#@(!|\d+ \S+)", line):
                if word == "!":
                    failed = (f"{name}.flow", number)
                else:
                    step, callee = word.split()
                    calls[int(step)] = (f"{name}.flow", number, callee)
    return [calls[k] for k in sorted(calls)], failed


def script(name, text, fault):
    head = 'import "helper.flow" as helper\n' if name == "main" and "helper." in text else ""
    head += "import optim\n" if "optim." in text else ""
    return head + ("param k: i64 = 0\n" if name == "main" else "") + text.replace("{E}", fault) + "\n"


def expected(place, code):
    """What is shown: the place and code of the first line, and the lines of the calls."""
    calls, (file, line) = way(place)
    shown = [f"    {f}:{n}: " + ("in a lambda" if c == "-" else f"in {c}(..)" if c else "") for f, n, c in calls]
    return f"{file}:{line}", code, shown


def found(text):
    first = re.search(r"^(\S+:\d+):\d+: error (E\d+): ", text, re.M)
    calls = re.search(r"^  calls:\n((?:    .*\n)*)", text, re.M)
    lines = [re.sub(r"^(    \S+:\d+: )(?!in ).*", r"\1", line) for line in calls[1].splitlines()] if calls else []
    return (first[1], first[2], lines) if first else (text, None, [])


def try_case(place, fault, ways):
    code, expression = FAULTS[fault]
    p = Place()
    p.write("bad.csv", "a\n1\nx\n")
    for name, text in PLACES[place].items():
        p.write(f"{name}.flow", script(name, text, expression))
    want = expected(place, code)
    if place == "even and odd" and "read_csv" in expression:
        return
    if place in LOOKED_UP and fault == "missing file":
        want = (*want[:2], want[2][:LOOKED_UP[place]])
    for options in ways:
        if options == ["build"]:
            done = p.run("build", "main.flow", "-o", "main")
            done = p.run_binary("main") if done.returncode == 0 else done
        else:
            done = p.run("run", *options, "main.flow")
        check(found(done.stderr) == want, f"{fault} at {place} {' '.join(options)}: {want}", done.stderr)


def main():
    every = ALL or "--only" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    # Each fault and each place several times; with --all, all pairs.
    for i, place in enumerate(PLACES):
        if only and place != only:
            continue
        for j, fault in enumerate(FAULTS):
            if fault == "missing file" and not every:
                try_case(place, fault, [["-O0"]])
            elif every or (i + j) % len(FAULTS) == 0:
                try_case(place, fault, [["--workers", "3"], ["-O0"], ["--interp"]] + ([["build"]] if i % 6 == 0 else []))
    for name, (code, options, files) in REFUSALS.items():
        p = Place()
        for file, text in files.items():
            p.write(file if "." in file else f"{file}.flow", text if "." in file else script(file, text, ""))
        for more in ([], ["-O0"], ["--interp"]):
            done = p.run("run", *more, *options)
            check(found(done.stderr) == expected(name, code), f"{name} {more}: {expected(name, code)}", done.stderr)
    in_test_blocks()
    long_recursion()
    first_of_equal_stages()
    finish()


def in_test_blocks():
    for fault in FAULTS:
        p = Place()
        p.write("bad.csv", "a\n1\nx\n")
        p.write("main.flow", "fn f(k: i64) -> f64 =\n  {E}\nfn g(k: i64) -> f64 =\n  f(k) + 1.0\n"
                             'test "a" {\n  assert g(0) > 0.0\n}\n'.replace("{E}", FAULTS[fault][1]))
        done = p.run("test", "main.flow")
        shown = done.stdout + done.stderr
        want = ("main.flow:2", FAULTS[fault][0], ["    main.flow:6: in g(..)", "    main.flow:4: in f(..)"])
        check(found(shown) == want, f"{fault} in a test block: {want}", shown)


def long_recursion():
    p = Place()
    p.write("main.flow", "param k: i64 = 0\nfn f(n: i64) -> i64 =\n  if n == 0 { 7 // k } else { f(n - 1) }\nprint(f(1000))\n")
    for options in ([], ["-O0"], ["--interp"]):
        calls = found(p.run("run", *options, "main.flow").stderr)[2]
        want = ["    main.flow:4: in f(..)"] + ["    main.flow:3: in f(..)"] * 7 + ["    ... 985 more calls"]
        check(calls == want + ["    main.flow:3: in f(..)"] * 8, "1,001 calls are shown as 16 and their number", calls)


def first_of_equal_stages():
    """Two calls of one stage with the same arguments are one computation: the first call is shown."""
    p = Place()
    p.write("main.flow", "param k: i64 = 0\nstage s(k: i64) -> i64 =\n  7 // k\nlet a = s(k)\nlet b = s(k)\nprint(a + b)\n")
    for options in (["--workers", "1"], ["--workers", "3"], ["--interp"]):
        calls = found(p.run("run", *options, "main.flow").stderr)[2]
        check(calls == ["    main.flow:4: in s(..)"], "the first of two equal calls", calls)


main()
