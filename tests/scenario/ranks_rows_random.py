#!/usr/bin/env python3
"""Random programs of rows in parts (tests/random/rows.py, and of files, row_files.py) give the same over ranks as alone, with all that they print,
say and end with: arrays stay in parts from few elements on, ranks are threads of one process with random delays, six ways each
(tests/scenario/ranks.py).

usage: ranks_rows_random.py [SEED PROGRAMS FAULTING]; 0 as SEED makes fresh ones, and says from which.
"""
import concurrent.futures
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "random"))
import ranks
import row_files
import rows
from scenario_kit import ALL, SHARD, SHARDS, check, finish

# shards: 2
os.environ["FLOW_STRIPS_FROM"] = "1"
os.environ["FLOW_UNWRITTEN_FROM"] = "2"  # one rank has columns of texts that are codes alone, several have not


def pool():
    """The files that the programs read; the folder is the caller's."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flow-ranks-pool-"))
    script = ranks.scratch(row_files.pool())
    for name, content in ranks.run(script, [])[0].items():
        if name.startswith("pool"):
            (folder / name).write_bytes(content)
    shutil.rmtree(script.parent)
    return folder


def beside(folder, text):
    """Those of them that a program names."""
    return [path for path in sorted(folder.iterdir()) if f'"{path.name}"' in text]


def run(folder, seed, faults):
    """(programs that count, what is wrong)."""
    text = rows.script(seed, faults, files=True)
    script = ranks.scratch(text, beside(folder, text))
    wrong = ranks.compare(script, ranks.some_ways(seed), "-q")  # how many stages ran behind an element that failed is chance
    shutil.rmtree(script.parent)
    if wrong and faults and wrong[0].startswith("3: "):
        return 0, ""  # a failure that is known when compiling
    told = f"tests/random/rows.py {seed} --files{' --faults' if faults else ''}\n" + "\n".join(wrong)
    return (0, told) if wrong else (1, "")


def main():
    numbers = [int(word) for word in sys.argv[1:]]
    seed = (numbers[0] if numbers else 3) or time.time_ns() // 1000 % 10**9
    plain, faulting = numbers[1:3] if len(numbers) == 3 else (24, 24) if ALL else (12, 12)
    print(f"seed {seed}: tests/scenario/ranks_rows_random.py {seed} {plain} {faulting}", flush=True)
    jobs = [(seed * 1000 + k, False) for k in range(plain)] + [(seed * 1000 + plain + k, True) for k in range(faulting)]
    counted, folder = 0, pool()
    with concurrent.futures.ThreadPoolExecutor(2 if SHARDS == 1 else 1) as threads:
        for programs, wrong in threads.map(lambda job: run(folder, *job), jobs[SHARD::SHARDS]):
            counted += programs
            check(not wrong, "ranks agree with one", wrong)
    shutil.rmtree(folder)
    print(f"{counted} programs agree")


if __name__ == "__main__":
    main()
    finish()
