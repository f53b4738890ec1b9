"""Random programs mean the same however they run: interpreted, at -O0, tried, optimised, on 1 and 4 workers, remembered or not.

tests/random/generate.py makes the scripts from seeds. One program is one group of statements that begins with
`print("program K")` and shows results of its own; a script without faults holds 25 of them, one that may fail holds
one. A program counts when its script compiled and, without faults, ran to its end. What is compared: standard output,
exit status, and standard error (what it says and where) but for the line that counts stages.

usage: random_programs.py [SEED [SCRIPTS FAULTING]]
       random_programs.py again SCRIPT_SEED PROGRAMS [faults]
Without SEED the programs are the same each time, so that a failure is of what was changed; 0 makes fresh ones and says from
which seed, which makes them again. The second repeats one script, and where it fails each of its programs alone.
"""
import concurrent.futures
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "random"))
import generate
from scenario_kit import ALL, SHARD, SHARDS, SHORT, STAGES, Place, check, finish, stages

# shards: 4
PROGRAMS = 25
# In this order, in one folder. (name, options, is compiled code remembered, does the store of results start empty)
# "workers-4" loads the code that "workers-1" stored, and "cached" finds the results that "workers-4" stored.
WAYS = [("interp", ["--interp", "--no-cache"], True, True), ("O0", ["-O0", "--workers", "2"], False, True),
        ("tried", ["--workers", "2"], False, True),
        ("workers-1", ["--workers", "1", "--no-cache"], True, True), ("workers-4", ["--workers", "4"], True, True),
        ("cached", ["--workers", "4"], True, False)]


def compared(done):
    """Status, output and messages of a run."""
    return done.returncode, done.stdout, "\n".join(l for l in done.stderr.splitlines() if not STAGES.match(l))


def difference(a, b):
    """The first line in which two texts differ, and its number."""
    for number, (x, y) in enumerate(zip(a.splitlines(), b.splitlines()), 1):
        if x != y:
            return f"line {number}: {x[:300]!r} and {y[:300]!r}"
    return f"{len(a.splitlines())} and {len(b.splitlines())} lines" if a != b else "nothing"


def wrong_way(place, faults):
    """What is wrong with the script in this folder, or "": the ways that differ, and in what."""
    first = None
    for way, options, code, from_empty in WAYS:
        if from_empty:
            for path in place.store_files():
                path.unlink(missing_ok=True)
        place.env["FLOW_CODE_CACHE"] = str(place.path / ".code") if code else ""
        place.env["FLOW_KERNELS"] = "late"
        if way == "tried":
            del place.env["FLOW_KERNELS"]
        try:
            done = place.run("run", *options, "r.flow", timeout=300)
        except Exception as reason:
            return f"[{way}] {reason}"
        found = compared(done)
        if first is None:
            first = found
            if found[0] == 3 and faults:
                return ""  # a failure that is known when compiling
            if found[0] not in ((0, 1) if faults else (0,)):
                return f"[{way}] status {found[0]}\n{found[2][:2000]}"
        elif found != first:
            return (f"[{WAYS[0][0]}] and [{way}] differ: status {first[0]} and {found[0]}\n"
                    f"output, {difference(first[1], found[1])}\nmessages, {difference(first[2], found[2])}")
        if way == "cached" and found[0] == 0 and (stages(done) or (0, 0))[0]:
            return f"[{way}] stages ran again: {done.stderr.splitlines()[-1]}"
    return ""


def run(seed, programs, faults):
    """(programs that count, what is wrong or "") of one script; where it fails, of the first program that does alone."""
    place = Place(**{"r__flow": generate.script(seed, programs, faults)})
    wrong = wrong_way(place, faults)
    if not wrong:
        return programs, ""
    options = " --faults" if faults else ""
    told = f"{wrong}\nagain: python3 tests/scenario/random_programs.py again {seed} {programs}{' faults' if faults else ''}"
    for only in range(1, programs + 1):
        place = Place(**{"r__flow": generate.script(seed, programs, faults, only)})
        alone = wrong_way(place, faults)
        if alone:
            return 0, f"{told}\nalone: python3 tests/random/generate.py {seed} {programs}{options} --only {only}\n{alone}"
    return 0, told + "\n(no program of it fails alone)"


def main():
    words = sys.argv[1:]
    if words[:1] == ["again"]:
        jobs = [(int(words[1]), int(words[2]), "faults" in words)]
    else:
        numbers = [int(word) for word in words]
        seed = (numbers[0] if numbers else 1) or time.time_ns() // 1000 % 10**9
        scripts, faulting = numbers[1:3] if len(numbers) == 3 else (16, 32) if ALL else (8, 16) if SHORT else (12, 24)
        print(f"seed {seed}: tests/scenario/random_programs.py {seed} {scripts} {faulting}", flush=True)
        jobs = [(seed * 1000 + k, PROGRAMS, False) for k in range(scripts)]
        jobs += [(seed * 1000 + scripts + k, 1, True) for k in range(faulting)]
        jobs = jobs[SHARD::SHARDS]
    counted = 0
    with concurrent.futures.ThreadPoolExecutor(2 if SHARDS == 1 else 1) as pool:
        for programs, wrong in pool.map(lambda job: run(*job), jobs):
            counted += programs
            check(not wrong, "every way of running agrees", wrong)
    print(f"{counted} programs agree")
    finish()


if __name__ == "__main__":
    main()
