#!/usr/bin/env python3
"""What is evaluated: random small programs that use a result in part, or not at all, against a plain model of the rule
(tests/random/evaluation.py says which). Each case is run in a compiled binary, in one without optimisation, and interpreted.

usage: what_is_evaluated.py [SEED CASES]
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "random"))
import evaluation
from scenario_kit import SHORT, Place, check, finish

CHUNK = 120
FAILED = re.compile(r'^case\.flow: test "(\d+)" failed \(status (\d+)\)\n(.*)$', re.M)


def functions(cases):
    out = [evaluation.HEAD]
    for i, (text, _) in enumerate(cases):
        body = "\n".join("  " + line for line in text.split("\n"))
        out.append(f"fn case{i}(z: i64) -> i64 {{\n{body}\n  r\n}}\n")
    return "\n".join(out)


def says(want, status, out, err):
    if want[0] == "value":
        return status == 0 and out.strip() == str(want[1])
    return status == 1 and want[1] in err


def compiled(place, cases, *options):
    text = functions(cases) + "param which: i64 = 0\n"
    text += "".join(f'if which == {i} {{ print("{{case{i}(z)}}") }}\n' for i in range(len(cases)))
    place.write("case.flow", text)
    built = place.run("build", *options, "case.flow", "-o", "case")
    check(built.returncode == 0, f"a script of cases builds {options}", built.stderr)
    for i, (text, want) in enumerate(cases):
        p = subprocess.run(["./case", "--which", str(i), "--quiet", "--no-cache"], cwd=place.path, env=place.env,
                           capture_output=True, text=True)
        check(says(want, p.returncode, p.stdout, p.stderr), f"{options} {want}: status {p.returncode}, {p.stdout.strip()}",
              text + "\n" + p.stderr)


def interpreted(place, cases):
    text = functions(cases)
    for i, (_, want) in enumerate(cases):
        text += f'test "{i}" {{ assert case{i}(z) == {want[1] if want[0] == "value" else "case%d(z)" % i} }}\n'
    place.write("case.flow", text)
    p = place.run("test", "case.flow")
    found = {int(m[1]): (int(m[2]), m[3]) for m in FAILED.finditer(p.stdout)}
    for i, (text, want) in enumerate(cases):
        status, message = found.get(i, (0, ""))
        fine = status == 0 if want[0] == "value" else status == 1 and want[1] in message
        check(fine, f"interpreted {want}: status {status}, {message}", text)


def main():
    seed, n = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1, 240 if SHORT else 480)
    place = Place()
    for at in range(0, n, CHUNK):
        cases = evaluation.cases(seed * 1000 + at, min(CHUNK, n - at))
        compiled(place, cases)
        if len(sys.argv) > 2:
            compiled(place, cases, "-O0")
            interpreted(place, cases)
        elif at == 0:
            compiled(place, cases[: CHUNK // 2], "-O0")
            interpreted(place, cases[: CHUNK // 3])
    finish()


main()
