"""flowc doctor: what it says of this machine is what using it shows, each thing that is taken away is said with what to do, the exit status
is that of what every script needs, and nothing stays behind."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, Place, check, finish

place = Place()
tmp = place.path / "tmp"
tmp.mkdir()
place.env["TMPDIR"] = str(tmp)


def doctor(*words, flowc=FLOWC, **env):
    done = subprocess.run([flowc, "doctor", *words], cwd=place.path, env=place.env | env, capture_output=True, text=True)
    check(done.stderr == "" and not list(tmp.iterdir()), f"{words} {env}: nothing is left", (done.stderr, list(tmp.iterdir())))
    return done


def states(**more):
    done = doctor("--json", **more)
    said = json.loads(done.stdout)
    check(said["well"] == (done.returncode == 0) and done.returncode in (0, 1), f"{more}: well, and the status", done.stdout)
    return {c["name"]: c for c in said["checks"]}


text, found = doctor(), states()
check(text.returncode == 0 and [c["state"] for c in found.values()].count("wrong") == 0, "scripts run here", text.stdout)
for name, c in found.items():
    check(f"{c['state']:<8} {name:<11} " in text.stdout and (c["help"] in text.stdout), f"{name}: lines and JSON say the same", c)
    check(bool(c["found"]) and (c["state"] == "ok") == (c["help"] == ""), f"{name}: what is not there has a help", c)
workers = len(os.sched_getaffinity(0))
check(any(f"; {n} worker" in found["processor"]["found"] for n in range(1, workers + 1)), "workers", found["processor"])
check((shutil.which("mpirun") is not None) == (found["ranks"]["state"] == "ok"), "ranks start where mpirun is", found["ranks"])
check(str(place.store) in found["store"]["found"], "where results are remembered", found["store"])

# What scripts say of a library, the doctor says.
place.write("q.flow", 'let d = table(a = [1])\nlet t: (a: i64)[_] = sql("select a from d", d = d)\nshow(t)\n')
asked = place.run("run", "--no-cache", "q.flow")
check((asked.returncode == 0) == (found["DuckDB"]["state"] == "ok"), "DuckDB, as a script finds it", (asked.stderr, found["DuckDB"]))

# What is taken away.
missing = states(FLOW_DUCKDB="/nowhere/libduckdb.so", FLOW_MPIRUN="no-such-launcher", FLOW_CACHE="/proc/nowhere/cache")
check(missing["DuckDB"]["state"] == "missing" and "/nowhere/libduckdb.so" in missing["DuckDB"]["found"], "a library that is not there", missing)
check(missing["ranks"]["state"] == "missing" and "no-such-launcher" in missing["ranks"]["found"], "a launcher that is not there", missing)
check(missing["store"]["state"] == "missing" and "FLOW_CACHE" in missing["store"]["help"], "a store that cannot be made", missing)
silent = states(FLOW_MPIRUN="/bin/true")  # says no version, and starts nothing
check(silent["ranks"]["state"] == "missing" and "starts no ranks" in silent["ranks"]["found"], "a launcher that starts nothing", silent)
check(states(TMPDIR="/nowhere")["flowc run"]["state"] == "ok", "another folder where TMPDIR is not there")

# flowc without what it needs to make code.
alone = place.path / "alone" / "flowc"
alone.parent.mkdir()
shutil.copy(FLOWC, alone)
lost = doctor(flowc=alone)
check(lost.returncode == 1 and "wrong    flowc build" in lost.stdout and "libflow_llvm.so" in lost.stdout and "every script needs" in lost.stdout,
      "flowc alone", (lost.returncode, lost.stdout))

# A folder beside, where nothing is.
usage = subprocess.run([FLOWC, "doctor", "--jsn"], env=place.env, capture_output=True, text=True)
check(usage.returncode == 2 and "--json" in usage.stderr, "an option that is not there", usage.stderr)
finish()
