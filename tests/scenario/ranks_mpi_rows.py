#!/usr/bin/env python3
"""Random programs of rows in parts (tests/random/rows.py, row_files.py) as ranks that are processes, over the MPIs that this machine has: all that
they give is what one rank gives, where arrays stay in parts from 2 elements on, from 100, and as always. Nothing without an MPI.

usage: ranks_mpi_rows.py [SEED PROGRAMS [LAUNCHER]]; 0 as SEED makes a fresh one, and says which; with the launcher's name it alone is used."""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "random"))
import ranks
import ranks_rows_random
import rows
from scenario_kit import PATIENCE, SHORT, check, finish

if PATIENCE > 1:  # MPI leaves memory behind that is its own
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
LAUNCHERS = [name for name in ("mpirun.openmpi", "mpirun.mpich") if shutil.which(name)]
# Ranks and workers, of which ranks_run makes what is shared and what stays in parts.
WAYS = [(2, 2), (3, 1), (2, 1), (5, 2), (3, 2), (8, 1)]
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none"}


def over(launcher, script, n, workers):
    """What n processes give."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="flow-ranks-"))
    try:
        folder = top / "1"
        ranks.lay(folder, script)
        ranks.lay(top / "at", script)
        words = [launcher, "-n", str(n), str(ranks.TOOL), "-q", script.name, f"{folder},,{n},{workers},0,-1,0", "--"]
        done = subprocess.run(words, cwd=top / "at", text=True, capture_output=True, timeout=300 * PATIENCE,
                              env=dict(os.environ, NO_COLOR="1", **ROOT))
        if not pathlib.Path(f"{folder}.status").exists():
            raise RuntimeError(f"{shlex.join(words)}: {done.returncode}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        return dict(ranks.outcome(folder, False))
    finally:
        shutil.rmtree(top, ignore_errors=True)


def compare(launcher, folder, seed, faults, n, workers):
    text = rows.script(seed, faults, files=True)
    script = ranks.scratch(text, ranks_rows_random.beside(folder, text))
    told = f"{launcher}, {n} ranks of {workers}: tests/random/rows.py {seed} --files{' --faults' if faults else ''}"
    try:
        alone = dict(ranks.run(script, [], "-q")[0])
        alone["err"] = ranks.COUNTS.sub(b"", alone["err"])
        got = over(launcher, script, n, workers)
    except (RuntimeError, subprocess.TimeoutExpired) as reason:
        if faults and str(reason).startswith("3: "):
            return  # a failure that is known when compiling
        check(False, told, str(reason)[:1500])
        return
    finally:
        shutil.rmtree(script.parent)
    names = [name for name in {*got, *alone} if got.get(name) != alone.get(name)]
    check(not names, told, names and f"{names[0]}: {str(got.get(names[0]))[:600]}\n    alone: {str(alone.get(names[0]))[:600]}")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:3]]
    launchers = [name for name in LAUNCHERS if name in sys.argv[3:]] if sys.argv[3:] else LAUNCHERS
    first = (numbers[0] if numbers else 7) or time.time_ns() // 1000 % 10**9
    programs = numbers[1] if len(numbers) == 2 else 3 if SHORT else 12
    print(f"seed {first}: tests/scenario/ranks_mpi_rows.py {first} {programs}", flush=True)
    pool = ranks_rows_random.pool()
    for kind in launchers:
        for k in range(programs):
            compare(kind, pool, first * 1000 + k, k % 2 == 1, *WAYS[k % len(WAYS)])
    shutil.rmtree(pool)
    finish()
