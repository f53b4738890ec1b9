#!/usr/bin/env python3
"""Random programs (tests/random/generate.py) give the same over ranks as alone: ranks that are threads of one process, with
random delays, that share all loops, every other one, or those that pay, and keep arrays in parts from few elements on: six of
all ways each (tests/scenario/ranks.py has them).

usage: ranks_random.py [SEED SCRIPTS FAULTING]
A script without faults holds 25 programs, one that may fail holds one. 0 as SEED makes fresh ones, and says from which.
"""
import concurrent.futures
import pathlib
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "random"))
import generate
import ranks
from scenario_kit import ALL, SHARD, SHARDS, check, finish

# shards: 2
PROGRAMS = 25


def run(seed, programs, faults):
    """(programs that count, what is wrong)."""
    script = ranks.scratch(generate.script(seed, programs, faults))
    wrong = ranks.compare(script, ranks.some_ways(seed))
    shutil.rmtree(script.parent)
    if wrong and faults and wrong[0].startswith("3: "):
        return 0, ""  # a failure that is known when compiling
    told = f"script {seed} {programs}{' --faults' if faults else ''} of tests/random/generate.py\n" + "\n".join(wrong)
    return (0, told) if wrong else (programs, "")


def main():
    numbers = [int(word) for word in sys.argv[1:]]
    seed = (numbers[0] if numbers else 2) or time.time_ns() // 1000 % 10**9
    scripts, faulting = numbers[1:3] if len(numbers) == 3 else (8, 20) if ALL else (4, 10)
    print(f"seed {seed}: tests/scenario/ranks_random.py {seed} {scripts} {faulting}", flush=True)
    jobs = [(seed * 1000 + k, PROGRAMS, False) for k in range(scripts)]
    jobs += [(seed * 1000 + scripts + k, 1, True) for k in range(faulting)]
    counted = 0
    with concurrent.futures.ThreadPoolExecutor(2 if SHARDS == 1 else 1) as pool:
        for programs, wrong in pool.map(lambda job: run(*job), jobs[SHARD::SHARDS]):
            counted += programs
            check(not wrong, "ranks agree with one", wrong)
    print(f"{counted} programs agree")
    finish()


if __name__ == "__main__":
    main()
