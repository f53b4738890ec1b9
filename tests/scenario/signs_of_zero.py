#!/usr/bin/env python3
"""Signs of zero: `%`, `//`, unary minus, products and differences, divided by numbers of both signs, of integers and floats, as
literals and as values that only the run knows, against Python, whose rules for them are those of the language. Compiled, with -O0
and --interp. Prints "N passed, N failed"."""
import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

VALUES = ["36", "-36", "0", "7", "36.0", "-36.0", "0.0", "-0.0"]
DIVISORS = ["6", "-6", "6.0", "-6.0"]
LAST = ["1", "-1", "2.0", "-2.0"]
FORMS = ["({a} % {b}) / {i}", "({a} // {b}) / {i}", "-({a} % {b}) / {i}", "{a} * {b} / {i}", "({a} - {a}) / {i}"]

lines, wanted = ["param one: f64 = 1.0", "param n: i64 = 1"], []
for (a, b, i), known in itertools.product(itertools.product(VALUES, DIVISORS, LAST), [True, False]):
    at = {k: f"({v})" if known else f"({v}) * {'one' if '.' in v else 'n'}" for k, v in zip("abi", (a, b, i))}
    at = {k: f"({v})" for k, v in at.items()}
    lines.append("print(" + ", ".join(form.format(**at) for form in FORMS) + ")")
    numbers = {k: f"({v})" for k, v in zip("abi", (a, b, i))}
    wanted.append(" ".join(repr(float(eval(form.format(**numbers)))) for form in FORMS))

p = Place()
p.write("signs.flow", "\n".join(lines) + "\n")
for way in ([], ["-O0"], ["--interp"]):
    done = p.run("run", *way, "signs.flow")
    found = done.stdout.splitlines()
    check(len(found) == len(wanted), f"a line for each {way}", done.stderr)
    for want, line, code in zip(wanted, found, lines[2:]):
        check(line == want, f"{code} {way}: {want}", line)
finish()
