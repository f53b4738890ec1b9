#!/usr/bin/env python3
"""flowc repl: what is shown, once; errors leave the session as it was; names defined anew; nothing is computed twice; commands;
a terminal, with Ctrl-C; random sessions against a model in Python, and as one script.

usage: repl.py [SEED COUNT]"""
import os
import pty
import random
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, PATIENCE, SHORT, Place, check, finish

place = Place()
values = place.path / "values"
values.mkdir()
place.env["TMPDIR"] = str(values)


def session(text, *words):
    return subprocess.run([FLOWC, "repl", *words], cwd=place.path, env=place.env, input=text, text=True, capture_output=True,
                          timeout=30 * PATIENCE)


def shows(text, want, status=0, said=(), words=()):
    done = session(text, *words)
    check(done.stdout == want and done.returncode == status, f"session {text!r}", f"{done.returncode}\n{done.stdout}{done.stderr}")
    for part in said:
        check(part in done.stderr, f"{text!r} says {part!r}", done.stderr)
    if not said:
        check(not status or done.stderr, f"{text!r} says why", done.stderr)
    check(not list(values.iterdir()), f"{text!r} leaves no values behind")


# ---- what is shown, and once ----
shows("let x = 2\nx + 1\n", "3\n")
shows("", "")
shows("1", "1\n")
shows("# nothing\n\n2 # two\n", "2\n")
shows('print("once")\nlet y = 5\ny\n', "once\n5\n")
shows("[1,\n\n 2,\n3]\nlet a = 1 +\n  2\na\n", "[1, 2, 3]\n3\n")
shows("1\n  |> text\n  |> n_chars\nif 1 > 2 {\n 3 }\nelse { 4 }\n", "1\n4\n")
shows('let (a, `odd b`) = (1, "u{1 + 1}")\na; `odd b`\n', "1\nu2\n")
shows("let f = y => y * 2\nlet x = 4\nlet g = y => f(y) + x\nlet x = 100\ng(1)\n", "6\n")

# ---- names defined anew: later statements see the new one, earlier results stay ----
shows("let x = 1\nlet y = x + 1\nlet x = 10\nx\ny\n", "10\n2\n")
shows("fn f(k: i64) = k + 1\nlet y = f(1)\nfn f(k: i64) = k * 10\nf(1)\ny\n", "10\n2\n")
shows('fn f(k: i64) = "whole"\nf(1)\nfn f(k: f64) = "real"\nf(1.5)\n', "whole\nreal\n")
shows('type P = (a: i64)\ntype Q = (b: i64)\nlet p: P = (a = 1)\nlet q: Q = (b = 1)\nfn f(k: P) = "p"\nfn f(k: Q) = "q"\nf(p)\nf(q)\n'
      'fn f(k: Q) = "new"\nf(p)\nf(q)\n', "p\nq\np\nnew\n")
shows("fn f(k: i64) = 1\nfn g(k: i64) = f(k) + 1\ng(0)\nfn f(k: i64) = 5\ng(0)\n", "2\n6\n")
shows("type P = (a: i64)\nlet p: P = (a = 1)\ntype P = (a: i64, b: i64)\nlet q: P = (a = 1, b = 2)\nq.b\n", "2\n")
shows("import metrics\nimport metrics\n1\n", "1\n")
shows("let x = 1\nlet x = x + 1\nlet x = x + 1\nx\n", "3\n")

# ---- variables ----
shows("var z = 1\nfor i in 0..3 { z += i; print(z) }\nz\nz = 7\nz += 1\nz\n", "1\n2\n4\n4\n8\n")
shows("var a = [1, 2]\na[0] = 5\na\nvar z = 1\nlet f = y => y + z\nz += 1\nf(1)\nz\n", "[5, 2]\n2\n2\n")

# ---- errors leave the session as it was ----
shows("let x = 1\nlet x = 1 // 0\nx\n", "1\n", 1, ["(session):2:9: error E0702"])
shows("var z = 1\nfor i in 0..3 { z += i; assert z < 2 }\nz\n", "1\n", 1, ["E0710"])
shows("let x = nope\nlet x = 3\nx\n", "3\n", 3, ["(session):1:9: error E0201"])
shows("fn f(k: i64) = 1\nfn f(k: i64) = nope(k)\nf(1)\n", "1\n", 3, ["E0201"])
shows("let x = 1; let y = 1 // 0\nx\n", "", 1, ["E0702", "there is no `x`"])
shows("let = 3\n5\n", "5\n", 3, ["(session):1:5"])
shows("let x = (1\n", "", 3, ["E0102"])
shows("let x =\n", "", 3, ["E0101"])

# ---- nothing is computed again: files may change, programs run once, times stay ----
place.write("t.csv", "a,b\n1,x\n2,y\n3,z\n")
done = subprocess.Popen([FLOWC, "repl"], cwd=place.path, env=place.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line, want in (('let t = read_csv("t.csv")\nlen(t)\n', "3\n"), ("sum(t.a)\n", "6\n")):
    done.stdin.write(line)
    done.stdin.flush()
    check(done.stdout.readline() == want, f"answer to {line!r}")
    (place.path / "t.csv").unlink(missing_ok=True)
done.stdin.close()
check(done.wait() == 0, "ends well")
place.write("t.csv", "a,b\n1,x\n2,y\n3,z\n")
shows("let t1 = now()\nlet t2 = t1\nt1 == t2\n", "true\n")
shows('write_csv(read_csv("t.csv"), "out.csv")\nlet n = len(read_csv("out.csv"))\nn\n', "3\n")

# ---- commands ----
shows(":type [1.5, 2.0]\nlet t = read_csv(\"t.csv\")\n:type t |> where(b == \"x\")\n", "f64[_]\n(a: i64, b: text)[_]\n")
shows(":type let x = 1\n", "", 2, [":type takes an expression"])
shows(":type nope\n", "", 3, ["E0201"])
shows(":hel\n:foo\n", "", 2, ["did you mean `:help`?", "`:help` lists what there is"])
shows("let x = 1\n:reset\nx\n", "", 3, ["there is no `x`"])
shows("1\n:quit\n2\n", "1\n")
shows(":load nope.flow\n", "", 2, ["cannot read nope.flow"])
check(all(c in session(":help\n").stdout for c in (":type", ":load", ":save", ":reset", ":quit")), ":help lists the commands")
place.write("s.flow", "let x = f(2)\nx\n\n## doubles\nfn f(k: i64) = g(k) * 2\nfn g(k: i64) = k + 1\nparam q: i64 = 5\nx\n  |> text\nprint(\"{q}\")\n")
shows("x\nf(q)\n", "6\n6\n5\n6\n12\n", words=["s.flow"])
shows("let y = 1\n:load s.flow\nx + y\n", "6\n6\n5\n7\n")
shows("let x = 2\nlet y = 1 // 0\nfn f(k: i64) =\n  k + x\nf(1)\n:save saved.flow\n:save saved.flow\n", "3\n", 1, ["E0702", "there already"])
done = place.run("run", "saved.flow")
check(done.stdout == "3\n", ":save writes what ended well", done.stdout + done.stderr)
check(session("1\n", "--workrs").returncode == 2 and session("1\n", "a.flow", "b.flow").returncode == 2, "wrong words")
check("[FILE]" in session("", "--help").stdout, "--help")

# ---- sessions that are killed: the next one takes away what they left, and nothing of those that live ----
def begun():
    """A session that holds a value, and the folder of it."""
    before = set(values.iterdir())
    run = subprocess.Popen([FLOWC, "repl"], cwd=place.path, env=place.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    run.stdin.write("let x = [1, 2, 3]\nsum(x)\n")
    run.stdin.flush()
    check(run.stdout.readline() == "6\n", "a session begins")
    return run, (set(values.iterdir()) - before).pop()


for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP):
    lives, kept = begun()
    killed, left = begun()
    killed.send_signal(number)
    killed.wait(timeout=30 * PATIENCE)
    check(any(left.iterdir()), f"{number.name}: values are left")
    for tries in range(20):  # what it had begun may end a moment later
        done = session("1 + 1\n")
        if not left.exists():
            break
    check(done.stdout == "2\n" and not left.exists() and any(kept.iterdir()), f"{number.name}: the next session takes them away", done.stderr)
    out, _ = lives.communicate("sum(x) + 1\n", timeout=30 * PATIENCE)
    check(out == "7\n" and not list(values.iterdir()), f"{number.name}: the other session goes on", out)

# ---- a terminal ----


def typed(*keys):
    """keys: what is typed, and what a terminal then shows, in turn."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(place.path)
        os.execve(FLOWC, ["flowc", "repl"], dict(place.env, TERM="xterm"))
    seen, at = "", 0
    for text, what in [("", "flow> "), *keys, ("\x04", None)]:
        time.sleep(0.3 * PATIENCE if text in ("\x03", "\x04") else 0)
        os.write(fd, text.encode())
        end = time.time() + 10 * PATIENCE
        while (what is None or what not in seen[at:]) and time.time() < end:
            if not select.select([fd], [], [], 0.2)[0]:
                continue
            try:
                seen += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
        if what is None:
            continue
        found = seen.find(what, at)
        check(found >= 0, f"terminal shows {what!r} after {text!r}", seen)
        at = max(at, found + len(what))
    over = os.waitpid(pid, os.WNOHANG)
    if over[0] == 0:
        time.sleep(1)
        over = os.waitpid(pid, os.WNOHANG)
    check(over[0] and os.waitstatus_to_exitcode(over[1]) == 0, "the terminal's session ends well", f"{over} {seen}")
    if not over[0]:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(fd)


typed(("let x = 20\n", "flow> "), ("x +\n", "... "), ("1\n", "21\r\n"), ("[1,\n", "... "), ("\x03", "flow> "), ("x + 2\n", "22\r\n"),
      ("exit\n", "to leave: :quit"), ("nope\n", "E0201"), ("x\n", "20\r\n"),
      ('print("be" + "gun"); let x = sum(for i in 0..900000000000: sqrt(f64(i + x)))\n', "begun\r\n"), ("\x03", "interrupted"), ("", "flow> "),
      ("x + 3\n", "23\r\n"), ("", "flow> "))
check(not list(values.iterdir()), "terminals leave no values behind")

# ---- Tab: what the language server offers ----
place.write("shops.csv", "shop,amount\nnorth,1\nsouth,2\n")
typed(("let shopping = [1, 2]\n", "flow> "), ("len(shopp\t)\n", "2\r\n"), ('let t = read_csv("sho\t")\n', "flow> "),
      ("t |>\n", "... "), ("  where(amo\t > 1) |> len\n", "1\r\n"), (":ty\t 1.5 + 1.0\n", "f64\r\n"), ("summar\t", "ize"), ("\x03", "flow> "))

# ---- what was entered stays for the next session ----
history = place.path / ".state/flow/history"
check(history.stat().st_mode & 0o777 == 0o600, "the history is its user's alone", oct(history.stat().st_mode))
lines = history.read_text().splitlines()
check(lines[0] == "let x = 20" and "x +\\n1" in lines, "an entry a line, its lines apart by \\n", lines)
typed(("let kept = 30 + 3\n", "flow> "))
typed(("\x10\n", "let kept = 30 + 3\r\n"), ("kept\n", "33\r\n"))
before = history.read_text()
session("let piped = 1\n")
check(history.read_text() == before, "what is not typed is no history")
history.write_text("".join(f"{n} + 0{' ' * 300}\n" for n in range(3000)))
typed(("1 + 1\n", "2\r\n"))
lines = history.read_text().splitlines()
check(len(lines) == 1000 and lines[-1] == "1 + 1" and lines[0].startswith("2001 + 0"), "the last thousand", [len(lines), lines[:1], lines[-1:]])
history.chmod(0o644)
typed(("2 + 2\n", "4\r\n"))
check(history.read_text().splitlines()[-1] == "1 + 1", "a file that others may read is left alone")
history.unlink()
history.symlink_to(place.path / "elsewhere")
typed(("2 + 3\n", "5\r\n"))
check(not (place.path / "elsewhere").exists(), "a link is not followed")
history.unlink()
home = {k: place.env.pop(k, None) for k in ("HOME", "XDG_STATE_HOME")}
typed(("2 + 4\n", "6\r\n"))
place.env.update({k: v for k, v in home.items() if v is not None})
check(not history.exists(), "without a home there is none")


# ---- random sessions: a model in Python ----


def random_session(seed):
    """Lines, and what they show. Functions and lambdas see a name as it is where they are called, as in a script, and only what is no
    variable."""
    draw = random.Random(seed)
    lets, variables, functions, lines, want = {}, {}, {}, [], []

    def term(of=("lets", "variables")):
        names = [*lets, *(variables if "variables" in of else ())]
        return draw.choice(names) if names and draw.random() < 0.7 else str(draw.randrange(9))

    def value(text):
        return lets[text] if text in lets else variables[text] if text in variables else int(text)

    for k in range(draw.randrange(4, 12)):
        kind, a, b, n = draw.randrange(8), term(), term(), draw.randrange(3)
        name = f"{'xyz'[n]}"
        if kind == 0:
            lines.append(f"let {name} = {a} + 2 * {b}")
            v = value(a) + 2 * value(b)
            variables.pop(name, None)
            lets[name] = v
        elif kind == 1 and name not in functions.values():  # what a function uses may not become a variable (E0222)
            lines.append(f"var {name} = {a} - {b}")
            v = value(a) - value(b)
            lets.pop(name, None)
            variables[name] = v
        elif kind == 2 and variables:
            name = draw.choice(list(variables))
            lines.append(f"{name} += {a}")
            variables[name] += value(a)
        elif kind == 3 and variables:
            name = draw.choice(list(variables))
            lines.append(f"for i in 0..3 {{ {name} += i; print({name}) }}")
            for i in range(3):
                variables[name] += i
                want.append(variables[name])
        elif kind in (4, 5):
            a = term(("lets",))
            lines.append(f"let g{n} = k => k * 3 + {a}" if kind == 4 else f"fn f{n}(k: i64) = k * 3 + {a}")
            functions[f"{'gf'[kind - 4]}{n}"] = a
        elif kind == 6:
            lines.append(f"{a} // 0" if draw.random() < 0.5 else f"let {name} = nothing_{a}")
        for f, c in functions.items():
            if draw.random() < 0.3 and c not in variables:
                lines.append(f"{f}({b})")
                want.append(3 * value(b) + value(c))
        if draw.random() < 0.5:
            lines.append(f"{a} * {b}")
            want.append(value(a) * value(b))
    return lines, want


first, count = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (0, 6 if SHORT else 20)
for seed in range(first, first + count):
    lines, want = random_session(seed)
    done = session("".join(line + "\n" for line in lines), "--workers", str([1, 2, 3, 8][seed % 4]))
    check(done.stdout == "".join(f"{w}\n" for w in want), f"random session {seed}",
          "\n".join(lines) + "\n--\n" + done.stdout + done.stderr + "\n--\n" + "\n".join(map(str, want)))
finish()
