"""What the grammar lets repeat, many times: arms, elements, fields, parameters, statements, declarations. Every script gives
what the same loop in Python gives, compiled and interpreted; with 4,000 repetitions (3,000 of `continue` with names behind) there is an answer
or a message (the chains of operators and of `else if`, which are as deep as they are long), never a signal or a bug of the compiler, and memory
grows no more than with their number. With --all more constants than an object has sections, too. Prints "N passed, N failed"."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, Place, check, finish

P = "param p: i64 = 3\n"


def each(n, text, between=", "):
    return between.join(text.replace("#", str(k)).replace("@", str(k + 7)) for k in range(n))


def jumps(n, binds):
    """A loop of n jumps, some behind others and in blocks, and what it gives: a model in Python."""
    line = "if (i * 7 + #) % 211 == 5 { if # % 3 == 0 { y = y + 1 }\n continue }\n"
    line += "let a# = i + #\ny = (y * 3 + a#) % 1009\n" if binds else "y = (y * 3 + i + #) % 1009\n"
    script = "var y = 0\nvar i = 0\nwhile i < 40 {\ni = i + 1\n" + each(n, line, "") + f"if i > 30 {{ break }}\ny = y + 1\n}}\nprint(y)"
    y = i = 0
    while i < 40:
        i += 1
        for k in range(n):
            if (i * 7 + k) % 211 == 5:
                y += k % 3 == 0
                break
            y = (y * 3 + i + k) % 1009
        else:
            if i > 30:
                break
            y += 1
    return script, str(y)


# name -> (script of n repetitions, what it prints)
SHAPES = {
    "match arms": lambda n: (P + "print(match p { " + each(n, "@ => #") + ", 3 => 8, _ => 0 })", "8"),
    "match lines": lambda n: (P + "print(match p {\n" + each(n, "@ => #\n", "") + "_ => 5\n})", "5"),
    "match of texts": lambda n: ('param q: text = "k2"\nprint(match q { ' + each(n, '"k#" => #') + ", _ => 0 })", "2"),
    "match with guards": lambda n: (P + "print(match p { " + each(n, "x if x > # + 1 and x < # + 3 => x + #") + ", _ => 0 })", "4"),
    "match of ranges": lambda n: ("param q: f64 = 4.5\nprint(match q { " + each(n, "#.0..#.75 => #") + ", _ => 0 })", "4"),
    "match that assigns": lambda n: (P + "var y = 0\nmatch p { " + each(n, "# => { y = @ }") + ", _ => { y = 1 } }\nprint(y)", "10"),
    "match of null": lambda n: ("let q: i64? = null\nprint(match q { " + each(n, "# => #") + ", null => 9, x => x })", "9"),
    "match behind null": lambda n: ("let q: i64? = -5\nprint(match q { null => 9, " + each(n, "# => #") + ", x => x + 1 })", "-4"),
    "match of numbers written": lambda n: ("let q = f32(0.1)\nlet y = match p2(5) { " + each(n, "@ => #") + ", _ => q }\n"
                                           "print(y == f32(0.1))\nfn p2(x: i64) = x", "true"),
    "match by element": lambda n: ("let q = [1, 2, 3, -1]\nprint(sum(match q { " + each(min(n, 400), "# => @") + ", _ => 0 }))", "27"),
    "match in a kernel": lambda n: ("print(sum(for i in 0..9: match i { " + each(n, "# => @") + ", _ => 0 }))", "99"),
    "match in a function": lambda n: ("stage f(x: i64) -> f64 = match x { " + each(n, "# => #.5") + ", _ => 0.0 }\nprint(f(3))", "3.5"),
    "ifs": lambda n: (P + "var y = 0\n" + each(n, "if p == # { y = @ }", "\n") + "\nprint(y)", "10"),
    "else ifs": lambda n: (P + "print(" + each(n, "if p == # { @ } else ", "") + "{ 0 })", "10"),
    "and": lambda n: (P + "print(" + each(n, "p != @", " and ") + ")", "true"),
    "sums": lambda n: (P + "print(" + each(n, "p", " + ") + ")", str(3 * n)),
    "pipes": lambda n: (P + "p" + " |> abs" * n + " |> print", "3"),
    "elements": lambda n: (P + "print(sum([" + each(n, "p + #") + "]))", str(3 * n + n * (n - 1) // 2)),
    "elements of floats": lambda n: ("print(sum([" + each(n, "#.5") + "]))", f"{n / 2 + n * (n - 1) / 2!r}"),
    "elements of texts": lambda n: ("print(len([" + each(n, '"t#"') + "]))", str(n)),
    "rows": lambda n: ("print(sum([" + each(n, "[#, 1]") + "]))", str(n + n * (n - 1) // 2)),
    "fields": lambda n: (P + "let a = (" + each(n, "f# = p + #") + ")\nprint(a.f2)", "5"),
    "fields of a type": lambda n: ("type T = (" + each(n, "f#: i64") + ")\nfn g(t: T) = t.f2\nprint(g((" + each(n, "f# = #") + ")))", "2"),
    "patterns": lambda n: ("let (" + each(n, "a#") + ") = (" + each(n, "#") + ")\nprint(a2)", "2"),
    "parameters": lambda n: ("fn f(" + each(n, "a#: i64") + ") = a2 + 1\nprint(f(" + each(n, "#") + "))", "3"),
    "named arguments": lambda n: ("fn f(" + each(n, "a#: i64") + ") = a2 + 1\nprint(f(" + each(n, "a# = #") + "))", "3"),
    "interpolations": lambda n: (P + 'let s = "' + each(n, "{p}", "") + '"\nprint(s)', "3" * n),
    "lets in a block": lambda n: (P + "fn f(x: i64) = {\nlet b = x\n" + each(n, "let a# = b + #\n", "") + "a2\n}\nprint(f(p))", "5"),
    "assignments in a loop": lambda n: ("var y = 0\nfor i in 0..2 {\n" + each(n, "y = (y + #) % 97\n", "") + "}\nprint(y)",
                                        str(2 * (n * (n - 1) // 2) % 97)),
    "functions": lambda n: (each(n, "fn f#(x: i64) = x + #\n", "") + "print(f2(1))", "3"),
    "types": lambda n: (each(n, "type T# = (a: i64, b#: i64)\n", "") + "print(1)", "1"),
    "params": lambda n: (each(n, "param p#: i64 = #\n", "") + "print(p2)", "2"),
    "columns": lambda n: ("let t = table(" + each(n, "c# = [1, #]") + ")\nprint(sum(t.c2))", "3"),
    "derived columns": lambda n: ("let t = table(a = [1, 2]) |> derive(" + each(n, "c# = a + #") + ")\nprint(sum(t.c2))", "7"),
    "prints": lambda n: (P + each(n, 'print("line #: {p + #}")', "\n"), "\n".join(f"line {k}: {3 + k}" for k in range(n))),
    "tests": lambda n: (each(n, 'test "t#" { assert # == # }\n', "") + "print(1)", "1"),
    "continues": lambda n: (P + "var y = 0\nfor i in 0..1 {\n" + each(n, "if p == @ + 1 { continue }\ny = y + 1\n", "") + "}\nprint(y)", str(n)),
    "breaks": lambda n: (P + "var y = 0\nfor i in 0..2 {\n" + each(n, "if p == @ + 1 { break }\ny = y + 1\n", "") + "}\nprint(y)", str(2 * n)),
    "jumps": lambda n: jumps(n, False),
    "jumps over names": lambda n: jumps(n, True),
}
DEEP = ("else ifs", "and", "sums", "pipes", "jumps over names")  # as deep as they are long: what goes too deep is an error
place = Place()


def run(*words):
    return place.run(*words, timeout=120)


for name, make in SHAPES.items():
    for n in (10, 300) if ALL or name.startswith("match") else (300,):
        script, expected = make(n)
        place.write("x.flow", script + "\n")
        ways = ([], ["--interp"]) if n == 300 or name.startswith("match") else (["--interp"],)
        for way in ways:
            done = run("run", "--no-cache", *way, "x.flow")
            check(done.returncode == 0 and done.stdout == expected + "\n", f"{name}, {n}, {way}", done.stdout[-200:] + done.stderr[-400:])
    used = {}
    # What sees a name that is bound behind a `continue` is nested in it: 7,000 is too deep.
    sizes = (1000, 3000) if name == "jumps over names" else (1000, 4000)
    for n in sizes:
        place.write("x.flow", make(n)[0] + "\n")
        for command in (["check"], ["fmt", "--check"]):
            process = subprocess.Popen(place.command(*command, "x.flow"), cwd=place.path, env=place.env,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            status = os.waitstatus_to_exitcode(status)
            fine = (0, 3) if name in DEEP else (0, 1) if command[0] == "fmt" else (0,)
            check(status in fine + (1,) * (command[0] == "fmt"), f"{name}, {n}: {command[0]} ends with {status}")
            used[command[0], n] = usage.ru_maxrss / 1024
    for command in ("check", "fmt"):
        small, large = (used[command, n] for n in sizes)
        check("FLOW_SANITIZE" in os.environ or large < 6 * small, f"{name}: memory of {command} is in step", f"{small}, {large} MB")

# What once was nested as deep as there are arms, and broke the compiler; and what asked of each of them whether all is a kernel.
# And a function that is too long for passes that look at all edges into a block; and, with --all, more constants than an object has sections.
for name, n in (("match arms", 16000), ("match in a kernel", 8000), ("breaks", 8000), ("prints", 16000 if ALL else 4000)):
    script, expected = SHAPES[name](n)
    expected += "\n"
    place.write("x.flow", script + "\n")
    for way in ([], ["--interp"]):
        done = run("run", "--no-cache", *way, "x.flow")
        check(done.returncode == 0 and done.stdout == expected, f"{name}, {n}, {way}", done.stdout + done.stderr[-400:])
finish()
