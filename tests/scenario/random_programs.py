"""Random programs mean the same however they run: interpreted, at -O0, optimised, on 1 and 4 workers, remembered or not.

tests/random/generate.py makes the scripts from seeds. One program is one group of statements that begins with
`print("program K", ...)` and shows results of its own; a script without faults holds 25 of them, one that may fail
holds one. A program counts when its script compiled and, without faults, when its last statement was reached. What is
compared: standard output, exit status, and the first message on standard error (what it says and where).

usage: random_programs.py [SEED [SCRIPTS FAULTING]]
Without arguments always the same programs. Seed 0 makes fresh ones and says from which seed, which makes them again.
"""
import concurrent.futures
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "random"))
import generate
from scenario_kit import SHORT, Place, check, finish

PROGRAMS = 25
# In this order, in one folder: the first ways start from an empty store, "cached" finds what "workers-4" stored.
WAYS = [("interp", ["--interp"], True), ("O0", ["-O0", "--workers", "2"], True), ("workers-1", ["--workers", "1"], True),
        ("workers-4", ["--workers", "4"], True), ("cached", ["--workers", "4"], False)]
MESSAGE = re.compile(r"^.*: (?:error|warning).*$", re.M)
POSITION = re.compile(r"^ *note: at position.*$", re.M)


def compared(done):
    """Status, output, the first message of a run and the positions that it names."""
    message = MESSAGE.search(done.stderr)
    return done.returncode, done.stdout, message[0] if message else "", POSITION.findall(done.stderr)


def empty(place):
    for path in place.store_files():
        path.unlink(missing_ok=True)


def run(seed, programs, faults):
    """(programs that count, what is wrong or "") of one script."""
    place = Place(**{"r__flow": generate.script(seed, programs, faults)})
    how = f"tests/random/generate.py {seed} {programs}{' --faults' if faults else ''}"
    first = None
    for way, options, from_empty in WAYS:
        if from_empty:
            empty(place)
        try:
            found = compared(place.run("run", *options, "r.flow", timeout=120))
        except Exception as reason:
            return 0, f"{how} [{way}]: {reason}"
        if first is None:
            first = found
            if found[0] not in (0, 1):
                # Some failures of a faulting program are known when compiling; every other script compiles. A script
                # that fails while running must do so at the same place in every way.
                return 0, "" if faults and found[0] == 3 else f"{how} [{way}]: status {found[0]}\n{found[2]}"
        elif found != first:
            lines = [(a, b) for a, b in zip(first[1].splitlines(), found[1].splitlines()) if a != b]
            return 0, (f"{how} [{way}]: status {first[0]} and {found[0]}\n{first[2]}\n{found[2]}\n"
                       f"first different lines: {lines[:1]}")
    return min(programs, first[1].count("program ")), ""


def main():
    words = [int(word) for word in sys.argv[1:]]
    seed = 1 if not words else words[0] or time.time_ns() // 1000 % 10**9
    scripts, faulting = words[1:3] if len(words) == 3 else (8, 16) if SHORT else (88, 60)
    print(f"seed {seed}: random_programs.py {seed} {scripts} {faulting}", flush=True)
    jobs = [(seed * 1000 + k, PROGRAMS, False) for k in range(scripts)]
    jobs += [(seed * 1000 + scripts + k, 1, True) for k in range(faulting)]
    counted = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for programs, wrong in pool.map(lambda job: run(*job), jobs):
            counted += programs
            check(not wrong, "every way of running agrees", wrong)
    enough = scripts * PROGRAMS * 19 // 20
    check(counted >= enough, f"{counted} programs count, {enough} are wanted (seed {seed})")
    print(f"{counted} programs agree")
    finish()


if __name__ == "__main__":
    main()
