#!/usr/bin/env python3
"""`requires flow >= 0.2`: versions compare as a plain model of them does, at the edges of this flow's own; the message names both and is the only one, also
where the rest is no text of this flow; in scripts, modules, every command; where it may stand; `requires` stays a name elsewhere."""
import itertools
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, Place, check, finish

place = Place()
here = [int(n) for n in place.run("version").stdout.split()[1].split(".")]
ours = ".".join(map(str, here))
OPERATORS = {">=": lambda o: o >= 0, ">": lambda o: o > 0, "<=": lambda o: o <= 0, "<": lambda o: o < 0, "==": lambda o: o == 0}


def model(sign, bound):
    have = here[:len(bound)]
    return OPERATORS[sign]((have > bound) - (have < bound))


# Every bound near this version, of one to three numbers, each sign; many files are checked at once.
bounds = {tuple(b) for n in (1, 2, 3) for b in itertools.product(*[sorted({0, max(h - 1, 0), h, h + 1, 10 * h + 10}) for h in here[:n]])}
cases = [(sign, list(bound)) for sign in OPERATORS for bound in sorted(bounds)]
for i, (sign, bound) in enumerate(cases):
    place.write(f"case{i}.flow", f"requires flow {sign} {'.'.join(map(str, bound))}\nprint(1)\n")
p = place.run("check", *[f"case{i}.flow" for i in range(len(cases))])
refused = {int(n) for n in re.findall(r"^case(\d+)\.flow:1:\d+: error E0117", p.stderr, re.M)}
wrong = [(case, i in refused) for i, case in enumerate(cases) if (i in refused) == model(*case)]
check(len(cases) > 200 and not wrong and len(refused) == p.stderr.count("error"), f"{len(cases)} bounds", wrong[:10])


def said(text, command="check", name="x.flow", *more):
    place.write(name, text)
    p = place.run(command, name, *more)
    return p.returncode, p.stdout + p.stderr


def errors(text):
    return re.findall(r"error (E\d+)", said(text)[1])


# The message, alone, whatever follows.
for rest in ("print(1)", "let = = 1", "\"not closed", "a ? b : c \x01 $$ 0.1.2.3.4", "grid x { => }", "print(nothing)", "\xff"):
    status, text = said(f"# a note\n\nrequires flow >= 99.1  # later\n{rest}\n")
    check(status == 3 and text.count("error") == 1 and f"this file is for flow >= 99.1, and this is flow {ours}" in text and "x.flow:3:15" in text,
          f"both versions, and nothing of {rest!r}", text)
for command in ("run", "build", "check", "test", "fmt", "explain", "version"):
    check(said("requires flow >= 99\nprint(1)\n", command)[0] == 3, f"{command}: status 3")
place.write("module.flow", "requires flow > 98.2\nfn f() => 3 ~~ x\n")
status, text = said('import "module.flow" as m\nprint(m.f())\nprint(nothing)\n')
check(status == 3 and "module.flow:1:15: error E0117" in text and "module.flow:2" not in text, "in a module", text)
place.write("module.flow", f"requires flow >= {ours}\nfn f() -> i64 = 3\n")
check(said('requires flow == ' + ours + '\nimport "module.flow" as m\nprint(m.f())\n', "run")[1] == "3\n", "both fit")
check(errors(f"requires flow >= 0, < 99.5, == {here[0]}\nprint(1)\n") == [] and errors("requires flow >= 0, < 0, > 99\nprint(1)\n") == ["E0117"],
      "several bounds: the first that does not hold")
check(errors("requires flow >= 0; print(1.5)\n") == [], "a statement on the same line")
check(errors("## The doc\nrequires flow >= 0\nlet x = 0.5 + 1\nprint(x >= 0.25)\n") == [], "numbers on other lines are numbers")
for bad in ("0.x", "0.1.2.3", "0..1", "0.1-rc", "0.1.", "1_0", "99999999999"):
    check(errors(f"requires flow >= {bad}\nprint(1)\n") == ["E0118"], f"{bad} is no version", said(f"requires flow >= {bad}\n")[1])
check(errors("print(1)\nrequires flow >= 0\n") == ["E0118"] and errors("requires flow >= 0\nrequires flow >= 0\n") == ["E0118"], "it stands first, once")
check("E0208" in errors("if true {\n  requires flow >= 0\n}\n"), "not in a block")
for text in ("requires flow\n", "requires flow 0.2\n", "requires flow >=\n", "requires flow >= v1\n", "requires flow != 0.1\n"):
    found = errors(text)
    check(len(found) == 1 and found[0].startswith("E01"), f"{text!r} is an error of the form", found)
check(said("let requires = 3\nlet flow = 1\nprint(requires, requires >= flow)\nprint((requires = 4).requires)\n", "run")[1] == "3 true\n4\n", "still a name")
check(said("fn requires(x: i64) -> i64 = x\nprint(requires(2))\n", "run")[1] == "2\n", "and a function")
p = subprocess.run([FLOWC, "fmt", "-"], input="requires   flow>=0 ,<99.5.1   # so\nprint( 1 )\n", capture_output=True, text=True)
check(p.stdout == "requires flow >= 0, < 99.5.1  # so\nprint(1)\n", "formatted", p.stdout + p.stderr)
p = place.run("build", "--emit=ast", "case0.flow")
check("(requires (>= 0))" in p.stdout, "in the tree", p.stdout)
finish()
