#!/usr/bin/env python3
"""Random programs against a model in Python: what flow prints is what the language page says.

usage: oracle.py pipelines|programs [--count N] [--seed N] [--ways interp,O0,compiled] [--every-way] [--all] ..

A script holds PACK cases, the last of which may be one that fails. Where flow and the model differ, each case of the
script runs alone, and the first that differs is made smaller: verbs, rows, columns, parts of expressions go as long as
the difference stays. Ends with "N passed, N failed". What is covered, and what is waited for: features.py.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLOWC = os.environ.get("FLOWC", str(ROOT / "build/flowc"))
PATIENCE = 5 if "FLOW_SANITIZE" in os.environ else 1
PACK = 20
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
WAYS = {"interp": ["--interp"], "O0": ["-O0", "--workers", "2"], "compiled": ["--workers", "2"]}
KNOWN = {"E0704": "E0404", "E0708": "E0401"}  # failures that may be known when compiling, under codes of their own
CODE = re.compile(r"^\S+?:\d+:\d+: error (E\d+)", re.M)


class Run:
    """A script of some cases in a folder of its own, run in one way."""

    def __init__(self, cases, way, folder):
        for old in folder.iterdir():
            if old.suffix in (".csv", ".flow"):
                old.unlink()
        self.folder = folder
        self.script = "".join(case.text() for case in cases)
        self.script = cases[0].prelude(self.script) + self.script
        (folder / "case.flow").write_text(self.script)
        for name, text in [file for case in cases for file in getattr(case, "files", list)()]:
            (folder / name).write_text(text, newline="")
        env = dict(os.environ, FLOW_CACHE=str(folder / ".flow"), FLOW_CODE_CACHE="", NO_COLOR="1", LC_ALL="C.UTF-8")
        if way == "O0":  # what operators do on older processors, and of texts that are codes alone
            env.update(FLOW_CPU_LEVEL="2", FLOW_UNWRITTEN_FROM="2", FLOW_STRIPS_FROM="1")
        try:
            done = subprocess.run([FLOWC, "run", "--no-cache", *WAYS[way], "case.flow"], cwd=folder, env=env, capture_output=True, timeout=120 * PATIENCE)
            self.status, self.out, self.err = done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            self.status, self.out, self.err = "timeout", "", ""

    def wrong(self, case):
        """(kind of difference, what it is) of one case, or None."""
        if case.codes is not None:
            found = CODE.findall(self.err)
            if found and (self.status == 1 and found[-1] in case.codes or self.status == 3 and found[0] in {KNOWN.get(c) for c in case.codes}):
                return None
            return f"failure {self.status} {found[-1] if found else ''}", f"status {self.status} {' '.join(found)}, expected a failure with {' or '.join(sorted(case.codes))}\n{self.err[-1500:]}"
        found = case.result(self)
        if found is None:
            codes = CODE.findall(self.err)
            return f"status {self.status} {codes[0] if codes else ''}", f"no result, status {self.status}\n{self.err[-1500:]}"
        text = case.check(found)
        return ("result", text + "\n" + found[:1000]) if text else None


def first_wrong(cases, way, folder):
    """(index, difference) of the first case of a script that is wrong, or None."""
    run = Run(cases, way, folder)
    expected_to_fail = cases[-1].codes is not None
    if run.status == 3 and expected_to_fail and len(cases) > 1:  # a failure that is known when compiling
        found = Run(cases[-1:], way, folder).wrong(cases[-1])
        return (len(cases) - 1, found) if found else first_wrong(cases[:-1], way, folder)
    if run.status in (3, 70) and len(cases) > 1:
        for k, case in enumerate(cases):
            found = Run([case], way, folder).wrong(case)
            if found:
                return k, found
    for k, case in enumerate(cases):
        found = run.wrong(case)
        if found:
            return k, found
    if run.status != (1 if expected_to_fail else 0):
        return 0, (f"status {run.status}", f"status {run.status}\n{run.err[-1500:]}")
    return None


def shrink(case, kind, way, folder, impossible, budget=400):
    """The smallest case found that differs in the same way."""
    progress = True
    while progress and budget > 0:
        progress = False
        for less in case.smaller():
            try:
                less.evaluate()
            except impossible:
                continue
            budget -= 1
            if budget <= 0:
                break
            if (less.codes is None) != (case.codes is None):
                continue
            found = Run([less], way, folder).wrong(less)
            if found and found[0] == kind:
                case, progress = less, True
                break
    return case


def explained(cases, k, found, way, folder, impossible, label):
    """(text, whether the case is wrong alone) of a difference: the smallest script that still has it."""
    case = cases[k]
    alone = Run([case], way, folder).wrong(case)
    if alone:
        case = shrink(case, alone[0], way, folder, impossible)
        run = Run([case], way, folder)
        found = run.wrong(case) or found
        return f"--- {label}, case {k} [{way}]\n{run.script}{found[1]}", True
    kept = folder.parent / f"{folder.name}.flow"
    kept.write_text(Run(cases, way, folder).script)
    return f"--- {label}, case {k} [{way}]: only beside the others of its script, {kept}\n{found[1]}", False


def make_script(kind, seed, faults):
    """The cases of one script."""
    if kind == "pipelines":
        import pipelines

        maker = pipelines.Maker(seed, False)
        cases = []
        while len(cases) < PACK:
            case = maker.case(f"T{len(cases)}")
            if case.codes is None:
                cases.append(case)
        if faults:
            failing = pipelines.Maker(f"{seed} faults", True)
            for _ in range(60):
                case = failing.case(f"T{len(cases)}")
                if case.codes is not None:
                    cases.append(case)
                    break
        return cases
    import programs

    return programs.script(seed, PACK, faults)


def impossible_of(kind):
    if kind == "pipelines":
        import tables

        return tables.Impossible
    import programs

    return programs.Impossible


def ways_of(number, ways):
    """The first way for each script; the others by turns, each for every fifth."""
    return [way for k, way in enumerate(ways) if k == 0 or number % 5 == k % 5]


def tried(kind, count, seed, ways=("interp", "O0", "compiled"), faults=0.5, go_on=False, every_way=False, part=(0, 1)):
    """(cases that agree, texts of differences, feature -> how often) of so many random cases. part (k, n): every n-th script is
    run, from the k-th on; the features are those of all."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flow-oracle-"))
    passed, differences, used, number, made = 0, [], {}, 0, 0
    impossible = impossible_of(kind)
    try:
        while made < count and len(differences) < (20 if go_on else 1):
            number += 1
            label = f"{seed}.{number}"
            cases = make_script(kind, label, number % 100 < 100 * faults)
            for case in cases:
                for name in case.features():
                    used[name] = used.get(name, 0) + 1
            made += len(cases)
            if number % part[1] != part[0]:
                continue
            for way in ways if every_way else ways_of(number, ways):
                found = first_wrong(cases, way, folder)
                while found and len(differences) < 20:
                    k, difference = found
                    text, alone = explained(cases, k, difference, way, folder, impossible, f"seed {label}")
                    differences.append(text)
                    print(text, flush=True)
                    del cases[k]
                    found = first_wrong(cases, way, folder) if cases and alone and go_on else None
            passed += len(cases)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return passed, differences, used


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("pipelines", "programs"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--ways", default="interp,O0,compiled", help="the first for all scripts, each other for every fifth")
    parser.add_argument("--every-way", action="store_true", help="all ways for all scripts")
    parser.add_argument("--faults", type=float, default=0.5, help="share of scripts that end with a case that fails")
    parser.add_argument("--all", action="store_true", help="go on after a difference, up to 20")
    parser.add_argument("--features", action="store_true", help="also say how often what was tried")
    options = parser.parse_args()
    began = time.time()
    passed, differences, used = tried(options.kind, options.count, options.seed, options.ways.split(","), options.faults, options.all, options.every_way)
    if options.features:
        print(" ".join(f"{name}:{n}" for name, n in sorted(used.items())))
    print(f"{time.time() - began:.1f} s", file=sys.stderr)
    print(f"{passed} passed, {len(differences)} failed")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
