#!/usr/bin/env python3
"""Random calls of the library against models in Python, on awkward data: columns that do not vary or depend on each other, ties, few
rows, large offsets and scales, zeros, one class alone.

usage: library.py [--count N] [--seed N] [--only NAME,..] [--ways interp,O0,compiled] [--all]

A case is some calls of flow and what they give: numbers, a test of them, or a failure. Models (library_*.py) are written from
the definitions, in fractions where these are exact, and not from the library. A script holds PACK cases; those that fail run alone. Ends
with "N passed, N failed"; of each kind of difference the first is shown with its script, all of them with --all.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import library_fits
import library_numbers
import library_scores
from library_data import Case, Data

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLOWC = os.environ.get("FLOWC", str(ROOT / "build/flowc"))
PATIENCE = 5 if "FLOW_SANITIZE" in os.environ else 1
PACK = 12
WAYS = {"interp": ["--interp"], "O0": ["-O0", "--workers", "2"], "compiled": ["--workers", "2"]}
KINDS = {**library_scores.KINDS, **library_fits.KINDS, **library_numbers.KINDS}


def script_of(cases):
    modules = sorted({m for case in cases for m in case.modules})
    lines = [f"import {', '.join(modules)}"] if modules else []
    for case in cases:
        lines += [f'print("## {case.name}")', *case.lines]
        for k, want in enumerate(case.wants):
            lines.append(f'print("# {k}")')
            lines.append(f"print({want.text})" if want.scalar else f"for v in {want.text} {{ print(v) }}")
    return "\n".join(lines) + "\n"


def number(line):
    """What a printed line says; a text as it is."""
    if line in ("true", "false", "null"):
        return {"true": 1.0, "false": 0.0, "null": None}[line]
    return float(line) if re.fullmatch(r"[-+]?(\d+(\.\d+)?(e[-+]?\d+)?|inf|nan)", line) else line


def run(cases, way, folder):
    (folder / "case.flow").write_text(script_of(cases))
    env = dict(os.environ, FLOW_CACHE=str(folder / ".flow"), FLOW_CODE_CACHE=str(folder / ".code"), NO_COLOR="1", LC_ALL="C.UTF-8")
    env.setdefault("FLOW_KERNELS", "late")  # code, and not what is tried before there is any
    try:
        done = subprocess.run([FLOWC, "run", "--no-cache", *WAYS[way], "case.flow"], cwd=folder, env=env, capture_output=True, text=True, timeout=300 * PATIENCE)
    except subprocess.TimeoutExpired:
        return "timeout", "", ""
    return done.returncode, done.stdout, done.stderr


def wrong_with(case, status, out, err):
    """What is wrong with a case in what a script printed, or None."""
    if case.fails is not None:
        return None if status == 1 and re.search(case.fails, err) else f"status {status}, expected a failure with /{case.fails}/\n{out[-300:]}{err[-700:]}"
    parts = ("\n" + out).split(f"\n## {case.name}\n")
    if len(parts) < 2:
        return f"nothing printed, status {status}\n{err[-900:]}"
    sections = dict(part.partition("\n")[::2] for part in ("\n" + parts[1].split("\n## ")[0]).split("\n# ")[1:])
    for k, want in enumerate(case.wants):
        if str(k) not in sections:
            return f"{want.text}: nothing printed, status {status}\n{err[-900:]}"
        values = [number(line) for line in sections[str(k)].split("\n") if line != ""]
        problem = want.problem(values)
        if problem:
            return f"{want.text}: {problem}"
    return None


def groups_of(cases):
    good = [case for case in cases if case.fails is None]
    return [good[at:at + PACK] for at in range(0, len(good), PACK)] + [[case] for case in cases if case.fails is not None]


def tried(count, seed, ways=("compiled",), only=(), everything=False, show=lambda text: None):
    """(how many cases agree, differences) of `count` cases of a seed, each kind in turn, each script in the next one of the ways."""
    names = [n for n in KINDS if not only or any(n.startswith(o) for o in only)]
    cases = []
    for k in range(count):
        name = names[k % len(names)]
        case = Case(f"{name} {seed} {k}")
        KINDS[name](case, Data(random.Random(f"{seed} {k} {name}")))
        cases.append(case)
    passed, differences, seen = 0, [], set()
    with tempfile.TemporaryDirectory(prefix="flow-oracle-") as folder:
        folder = pathlib.Path(folder)
        for g, group in enumerate(groups_of(cases)):
            way = ways[g % len(ways)]
            result = run(group, way, folder)
            for case in group:
                problem = wrong_with(case, *result)
                if problem and len(group) > 1:
                    alone = wrong_with(case, *run([case], way, folder))
                    problem = alone or (f"{problem}\n(only beside the others of its script)" if result[0] == 0 else None)
                if problem is None:
                    passed += 1
                    continue
                differences.append(f"--- {case.name} [{way}]\n{script_of([case])}=> {problem}\n")
                kind = case.name.split()[0] + problem.split(":")[0]
                if everything or kind not in seen:
                    show(differences[-1])
                seen.add(kind)
    return passed, differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", default="compiled")
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    passed, differences = tried(args.count, args.seed, args.ways.split(","), [o for o in args.only.split(",") if o], args.all,
                                lambda text: print(text, flush=True))
    print(f"{passed} passed, {len(differences)} failed")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
