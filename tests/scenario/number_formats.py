"""What stands behind the colon in "{x:...}" is a part of Python's format specification: random formats of numbers, texts and bools give
what Python's format() gives, interpreted and compiled.

usage: number_formats.py [COUNT SEED]
"""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

COUNT, SEED = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (120, 1)
INTEGERS = [0, 1, -1, 7, -42, 255, 999, 1000, -1000, 999999, 123456789, -(2**63) + 1, 2**63 - 1]
PLAIN = [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 0.125, 123456.789, -0.04, 99.995, 1e15, 0.1 + 0.2, -1234567.0]  # without a type in digits alone
FLOATS = PLAIN + [1e-5, 1e16, 1e22, 1e300, 5e-324, float("inf"), float("-inf"), float("nan")]
TEXTS = ["", "a", "héllo", "日本", "abc def", "é"]
rng = random.Random(SEED)


def pick(*choices):
    return rng.choice(choices)


def fill():
    return pick("", "", pick("", "*", "é", "0", "x") + pick("<", ">", "^"))


def number(types):
    grouped = pick("", "", ",") if not set(types) <= set("eExXob") else ""
    kind = pick(*types) if not grouped else pick(*[t for t in types if t not in ("e", "E", "x", "X", "o", "b")])
    return (pick(fill(), "=", "0=", "é=") + pick("", "+", "-", " ") + pick("", "", "0") + pick("", "8", "12", "13", "20") + grouped, kind)


def cases():
    """(values, format) at random."""
    for _ in range(COUNT):
        what = pick("integers", "integers", "floats", "floats", "floats", "texts", "bools")
        if what == "integers":
            yield INTEGERS, "".join(number(("", "d", "x", "X", "o", "b", "e", "f", "g", "%")))
        elif what == "floats":
            head, kind = number(("", "e", "E", "f", "F", "g", "G", "%"))
            yield (FLOATS, head + pick("", ".0", ".1", ".2", ".3", ".10") + kind) if kind else (PLAIN, head)
        else:
            values = TEXTS if what == "texts" else [True, False]
            yield values, fill() + pick("", "3", "8") + pick("", ".2", ".0") + pick("", "s")


def literal(value):
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else repr(value)


def python(value, spec):
    return format({True: "true", False: "false"}[value] if isinstance(value, bool) else value, spec)


place, lines, wanted = Place(), [], []
for values, spec in cases():
    if spec:
        lines.append(f'for v in [{", ".join(map(literal, values))}] {{ print("[{{v:{spec}}}]") }}')
        wanted += [(spec, value, f"[{python(value, spec)}]") for value in values]
place.write("formats.flow", "\n".join(lines) + "\n")
for way in ("--interp", "-O0"):
    done = place.run("run", "--no-cache", way, "formats.flow")
    found = done.stdout.split("\n")[:-1]
    check(len(found) == len(wanted) and done.returncode == 0, f"{way}: all of {len(wanted)} values are printed", done.stderr)
    differ = [f"{value!r} by {spec!r}: {line}, in Python {want}" for (spec, value, want), line in zip(wanted, found) if line != want]
    check(not differ, f"{way}: what Python's format gives", "\n".join(differ[:20]))
finish()
