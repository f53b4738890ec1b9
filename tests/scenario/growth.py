"""What compiling takes grows with the size of a script, not with its square or a power of two: long scripts and deep calls
build within memory that a square would go far past; calls beyond the budget of inlining give what calls within it give."""
import os
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, Place, check, finish

place = Place()
SANITIZED = "FLOW_SANITIZE" in os.environ  # sanitizers take memory of their own


def cost(name, lines, *command):
    """Seconds of the processor and MB that the command takes at most; (None, None): it failed."""
    place.write(name, "\n".join(lines) + "\n")
    limit = None if SANITIZED else lambda: resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    process = subprocess.Popen(place.command(*command), cwd=place.path, env=place.env, preexec_fn=limit,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    return (used.ru_utime + used.ru_stime, used.ru_maxrss / 1024) if status == 0 else (None, None)


def memory(name, lines, *command):
    return cost(name, lines, *command)[1]


def calls(n, of, body, last):
    first = f"fn f0(x: {of}) -> {of} = x + 1"
    return [first] + [f"fn f{k}(x: {of}) -> {of} = {body.format(k - 1)}" for k in range(1, n)] + [last.format(n - 1)]


long = {
    "lets": (["let a0 = [1.0, 2.0]"] + [f"let a{k} = a{k - 1} + 1.0" for k in range(1, 3000)] + ["print(sum(a2999))"], 400),
    "body": (["fn f(x: f64[n]) -> f64[n] {", "  let a0 = x"] + [f"  let a{k} = a{k - 1} * 1.5 + {k}.0" for k in range(1, 1500)]
             + ["  a1499", "}", "print(sum(f([1.0, 2.0])))"], 400),
    "numbers": ([f"print({k} + {k}.5)" for k in range(2000)], 400),
    "literal": ([f"let a = [{', '.join(str(k) + '.5' for k in range(20000))}]", "print(sum(a))"], 400),
    "scalars": (calls(120, "f64", "f{0}(x) * 0.5 + f{0}(x)", "print(f{}(1.0))"), 400),
    "arrays": (calls(120, "f64[n]", "f{0}(x) * 0.5 + f{0}(x)", "print(sum(f{}([1.0, 2.0])))"), 400),
    "loops": (calls(24, "f64", "f{0}(x) * 0.5 + f{0}(x)", "print(sum(for i in 0..3: f{}(f64(i))))"), 600),
    "quantiles": (["import distributions"] + [f"print(distributions.t_ppf(0.{k}, 5.0))" for k in range(1, 40)], 400),
}
long["types of calls"] = (["fn f0(x: f64) -> f64 = x + 1"] + [
    f"fn f{k}(x: typeof(f{k - 1}(1.0))) -> typeof(f{k - 1}(1.0)) = f{k - 1}(x) + 1" for k in range(1, 40)] + ["print(f39(1.0))"], 400)
# Operations that may join are found without looking at all that is behind each: some ten times the seconds it takes are allowed.
questions = ["let t = table(a = [1.0, 2.0, 3.0], k = [1, 1, 2])"] + [
    f"t |> where(a > {k}.0) |> group_by(k) |> summarize(m = mean(a)) |> show" for k in range(4000)]
seconds, _ = cost("questions.flow", questions, "build", "questions.flow", "--emit", "ir", "-o", "questions.ir")
check(seconds is not None and (SANITIZED or seconds < 5), "4,000 pipelines are optimised in seconds", f"{seconds} s")
# Loops over many calls: beyond a size LLVM's passes are left out, and some ten times the seconds it takes then are allowed.
for kind, term, x in (("maths", "exp(-(x * {0}.5))", "x: f64"), ("integers", "(x // {0})", "x: i64"), ("sums", "sum(for j in 0..3: x * f64(j + {0}))", "x: f64")):
    given = "i + {0} * q" if x == "x: i64" else "f64(i + {0} * q)"
    for n in (60, 100) if ALL else (100,):
        kernel = ["param q: i64 = 3", f"fn f({x}) = " + " + ".join(term.format(k) for k in range(1, 13)),
                  "let a = [for i in 0..5: " + " + ".join(f"f({given.format(k)})" for k in range(n)) + "]", "print(a)"]
        seconds, found = cost("kernel.flow", kernel, "build", "kernel.flow", "-o", "kernel")
        check(seconds is not None and (SANITIZED or seconds < 30 and found < 500), f"{n} calls of a function of {kind} in a loop",
              f"{seconds} s, {found} MB")
        done, meant = place.run("run", "kernel.flow"), place.run("run", "--interp", "kernel.flow")
        check(done.returncode == 0 and done.stdout == meant.stdout, f"{n} calls of a function of {kind}: the same bits", done.stderr + done.stdout)
# Each function calls the one before: all of them are elaborated once, called or not.
chain = ["fn f0(x: i64) -> i64 = x"] + [f"fn f{k}(x: i64) -> i64 = f{k - 1}(x) + 1" for k in range(1, 3000)]
for name, lines in {"uncalled": chain, "called": [*chain, "param p: i64 = 3", "print(f2999(p))"],
                    "not typed": [line.replace(": i64", "").replace(" -> i64", "") for line in chain] + ["print(f2999(3))"]}.items():
    found = memory("chain.flow", lines, "check", "chain.flow")
    check(found is not None and (SANITIZED or found < 300), f"3,000 functions in a chain, {name}, are checked within 300 MB", f"{found} MB")
done = place.run("run", "--interp", "chain.flow")
check(done.stdout == "3002\n", "what they give", done.stdout + done.stderr)
nested = "[for i19 in 0..2 if i19 > 0: 1.0]"
for k in reversed(range(19)):
    nested = f"[for i{k} in 0..2 if i{k} > 0: {nested}]"
for name, (lines, most) in long.items():
    found = memory(f"{name}.flow", lines, "build", f"{name}.flow", "-o", name)
    check(found is not None and (SANITIZED or found < most), f"{name} builds within {most} MB", f"{found} MB")

found = memory("nested.flow", [f"let deep = {nested}", "print(len(deep))"], "check", "nested.flow")
check(found is not None and (SANITIZED or found < 100), "comprehensions 20 deep are checked within 100 MB", f"{found} MB")
done = place.run("run", "nested.flow")
check((done.returncode, done.stdout) == (0, "1\n"), "comprehensions 20 deep", done.stderr)

# f_k(x) = 3 f_(k-1)(x): x + 1 times 3^k, exact in f64 up to k = 32. Within the budget, beyond it, in every way of running.
for n in (6, 16, 30):
    place.write("three.flow", "\n".join(calls(n, "f64", "f{0}(x) * 2 + f{0}(x)", "print(f{}(1.0))")) + "\n")
    expected = f"{2.0 * 3 ** (n - 1)!r}\n"
    ways = ([], ["-O0"], ["--interp"]) if n < 20 else ([],)
    for way in ways:
        done = place.run("run", *way, "three.flow")
        check(done.returncode == 0 and done.stdout == expected, f"{n} deep, {way}: {expected}", done.stdout + done.stderr)

# Kind of argument or result x place: 20 deep, what calls of calls take does not double; 12 deep, they give what Python gives.
def deep(n, params, first, body):
    return [f"fn f0({params}) = {first}"] + [f"fn f{k}({params}) = {body.replace('@', f'f{k - 1}')}" for k in range(1, n)]


def halves(n, x, first, step=lambda k, call: call * 0.5 + call):
    y = first(x)
    for k in range(1, n):
        y = step(k, y)
    return y


KINDS = {  # (lines, the call of the last, what it gives for x), each for a depth
    "tuple": lambda n: (deep(n, "x: (a: f64, b: f64)", "x.a + x.b", "@(x) * 0.5 + @(x)"), f"f{n - 1}((a = #, b = 2.0))", lambda x: halves(n, x, lambda x: x + 2)),
    "tuple made": lambda n: (deep(n, "x: (a: f64, b: f64)", "x.a + x.b", "@((a = x.b, b = x.a)) * 0.5 + @(x)"), f"f{n - 1}((a = #, b = 2.0))",
                             lambda x: halves(n, x, lambda x: x + 2)),
    "tuple given": lambda n: (["fn f0(x: f64) = (a = x, b = x)"] + [f"fn f{k}(x: f64) = (a = f{k - 1}(x).a * 0.5 + f{k - 1}(x).b, b = f{k - 1}(x).b)" for k in range(1, n)],
                              f"f{n - 1}(#).a", lambda x: halves(n, x, lambda x: x, lambda k, y: y * 0.5 + x)),
    "constant": lambda n: (deep(n, "x: f64, k: i64", "x + k", "@(x, 1) * 0.5 + @(x, 1)"), f"f{n - 1}(#, 3)", lambda x: halves(n, x, lambda x: x + 1)),
    "constants": lambda n: (deep(n, "x: f64, k: i64", "x + k", "@(x, 2 * k) * 0.5 + @(x, 2 * k + 1)"), f"f{n - 1}(#, 1)",
                            lambda x: sum((x + k) * 0.5 ** (n - 1 - (k - 2 ** (n - 1)).bit_count()) for k in range(2 ** (n - 1), 2 ** n)) if n < 16 else None),
    "all constant": lambda n: (deep(n, "x: i64", "x + 1", "@(x) * 2 + @(x)"), f"# + f64(f{n - 1}(1))", lambda x: x + 2 * 3 ** (n - 1)),
    "text": lambda n: (deep(n, "x: f64, t: text", 'if t == "a" { x } else { x + 1.0 }', '@(x, "a") * 0.5 + @(x, "a")'), f'f{n - 1}(#, "b")', lambda x: halves(n, x, lambda x: x)),
    "function": lambda n: (["fn h(x: f64) = x * 1.5"] + deep(n, "g, x: f64", "g(x) + 1.0", "@(g, x) * 0.5 + @(g, x)"), f"f{n - 1}(h, #)", lambda x: halves(n, x, lambda x: x * 1.5 + 1)),
    "lambda": lambda n: (deep(n, "g, x: f64", "g(x) + 1.0", "@(y => y * 1.5, x) * 0.5 + @(y => y * 1.5, x)"), f"f{n - 1}(y => y, #)", lambda x: halves(n, x, lambda x: x * 1.5 + 1)),
    "array": lambda n: (deep(n, "x", "x + 1.0", "@(x) * 0.5 + @(x)"), f"sum(f{n - 1}([#, 2.0]))", lambda x: halves(n, x + 2, lambda x: x + 2)),
    "array declared": lambda n: (["fn f0(x: f64[k]) -> f64[k] = x + 1.0"] + [f"fn f{k}(x: f64[k]) -> f64[k] = f{k - 1}(x) * 0.5 + f{k - 1}(x)" for k in range(1, n)],
                                 f"sum(f{n - 1}([#, 2.0]))", lambda x: halves(n, x + 2, lambda x: x + 2)),
    "array cut": lambda n: (deep(n, "x", "x[1..]", "@(x) * 0.5 + @(x)"), f"sum(f{n - 1}([2.0, #, 3.0]))", lambda x: halves(n, x + 3, lambda x: x)),
    "array kept": lambda n: (deep(n, "x", "[for y in x if y > 2.0: y]", "@(x) * 0.5 + @(x)") if n < 16 else deep(n, "x", "sort(x)", "@(x) * 0.5 + @(x)"),
                             f"sum(f{n - 1}([2.5, #]))", lambda x: halves(n, 2.5 + x * (x > 2), lambda x: x)),
    "array reduced": lambda n: (deep(n, "x", "sum(x)", "@(x) * 0.5 + @(x)"), f"f{n - 1}([#, 2.0])", lambda x: halves(n, x, lambda x: x + 2)),
    "array in a tuple": lambda n: (["fn f0(x) = (a = x, b = x)"] + [f"fn f{k}(x) = (a = f{k - 1}(x).a * 0.5 + f{k - 1}(x).b, b = f{k - 1}(x).b)" for k in range(1, n)],
                                   f"sum(f{n - 1}([#, 2.0]).a)", lambda x: halves(n, x + 2, lambda x: x, lambda k, y: y * 0.5 + x + 2)),
    "matrix": lambda n: (deep(n, "x", "x + [1.0, 2.0]", "@(x) * 0.5 + @(x)"), f"sum(f{n - 1}([[#, 2.0], [3.0, 4.0]]))", lambda x: halves(n, x + 9, lambda x: x + 6)),
    "rows of calls": lambda n: (deep(n, "x", "x + 1.0", "@(x) * 0.5 + @(x)"), f"sum([for j in 0..2: f{n - 1}([#, f64(j)])])", lambda x: halves(n, 2 * x + 1, lambda x: x + 4)),
    "capture": lambda n: (deep(n, "g, x: f64", "g(x) + 1.0", "@(g, x) * 0.5 + @(g, x)"), f"f{n - 1}(y => y * p, #)", lambda x: halves(n, x, lambda x: x * 1.5 + 1)),
}
PLACES = {  # the script's last line, what it prints given the function
    "print": ("print(abs((@) - {}) < 1e-9 * {})", "p", lambda f: f(1.5)),
    "loop": ("print(abs(sum(for i in 0..3: @) - {}) < 1e-9 * {})", "f64(i)", lambda f: f(0) + f(1) + f(2)),
    "derive": ("fn w(v: f64) = @\nprint(abs(sum((table(a = [1.0, 2.0]) |> derive(b = w(a))).b) - {}) < 1e-9 * {})", "v", lambda f: f(1) + f(2)),
}
for kind, make in KINDS.items():
    for where, (line, x, gives) in PLACES.items():
        script = lambda n: ["param p: f64 = 1.5", *make(n)[0], line.replace("@", make(n)[1].replace("#", x))]
        value = gives(make(12)[2])
        place.write("deep.flow", "\n".join(script(12)).replace("{}", repr(float(value))) + "\n")
        done = place.run("run", "--interp", "--no-cache", "deep.flow")
        check(done.returncode == 0 and done.stdout == "true\n", f"{kind}, {where}: {value}", done.stdout + done.stderr)
        found = memory("deep.flow", [row.replace("{}", "1.0") for row in script(20)], "check", "deep.flow")
        check(found is not None and (SANITIZED or found < 60), f"{kind}, {where}: 20 deep is checked within 60 MB", f"{found} MB")
# What cannot be shared ends with a message.
lines = deep(40, "x: f64", "x + 1.0", "@(x) * 0.5 + @(x)") + ["print(grad(f39)(1.0))"]
place.write("grad.flow", "\n".join(lines) + "\n")
done = place.run("check", "grad.flow")
check(done.returncode == 3 and done.stderr.count("error E0227") == 1, "calls that double under grad", done.stderr[-600:])
finish()
