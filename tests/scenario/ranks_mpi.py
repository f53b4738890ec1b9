#!/usr/bin/env python3
"""--ranks over the MPIs that this machine has, Open MPI and MPICH: examples, errors, standard input and files are those of a
run alone, `mpirun -n N` starts the same binaries, ranks that are killed or interrupted end all within five seconds, and what
is missing is said. Without an MPI only the last is checked."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, PATIENCE, ROOT, SHORT, STAGES, Place, check, finish, without_ranks

if PATIENCE > 1:  # MPICH leaves memory behind that is its own
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
LAUNCHERS = [name for name in ("mpirun.openmpi", "mpirun.mpich") if shutil.which(name)]
EXAMPLES = ["01_hello", "04_kmeans", "06_grid_search", "09_autoencoder", "11_pca", "13_subjects"]
SCRIPTS = {
    "fails": "stage f(n: i64) -> i64 = 10 // (n - 5)\nprint(1)\nprint([for k in 0..9: f(k)])\n",
    "reads": 'type Row = (a: i64)\nlet t: Row[_] = read_csv("-")\nprint(len(t))\nprint([for k in 0..5: sum(t.a) * k])\n'
             'write_csv(t, "out.csv")\n',
    "notes": "stage f(n: i64) -> f64 { note(n = n)\n sqrt(f64(n)) }\nprint([for k in 0..9: f(k)])\n",
    "slow": "stage f(n: i64) -> f64 = sum(for i in 0..n: sin(f64(i)))\nprint(0)\n"
            "print([for k in 0..400: f(20000000 + k)])\n",
}


def both(place, launcher, name, given=""):
    """A script alone and over three ranks: what it prints, says, writes and returns."""
    outcomes = []
    for ranks in ([], ["--ranks", "3"]):
        (place.path / "out.csv").unlink(missing_ok=True)
        done = subprocess.run([FLOWC, "run", f"{name}.flow", "--no-cache", *ranks], cwd=place.path, text=True, input=given,
                              capture_output=True, timeout=300 * PATIENCE, env=dict(place.env, FLOW_MPIRUN=launcher))
        wrote = place.path / "out.csv"
        said = without_ranks(done.stderr)
        said = STAGES.sub("", said) if done.returncode else said  # after a failure it is by chance what else ran
        outcomes.append((done.returncode, done.stdout, said, wrote.read_bytes() if wrote.exists() else b""))
    return outcomes


def children(pid):
    """All processes below one."""
    below = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rsplit(")", 1)[1].split()[1]) == pid:
                below.append(int(path.parent.name))
        except (OSError, IndexError):
            pass
    return below + [deep for child in below for deep in children(child)]


def ranks_of(pid):
    """The processes below that run the script."""
    found = []
    for child in children(pid):
        try:
            words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"flowc"):
            found.append(child)
    return sorted(found)


def ends(place, launcher, what, which, how):
    """Starts a long run, sends a signal to the launcher (which: None) or a rank, and waits for all to end."""
    p = subprocess.Popen([FLOWC, "run", "slow.flow", "--no-cache", "--ranks", "3", "--workers", "1"], cwd=place.path, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, stdin=subprocess.DEVNULL,
                         env=dict(place.env, FLOW_MPIRUN=launcher))
    until = time.time() + 60
    while len(ranks_of(p.pid)) < 3 and time.time() < until:
        time.sleep(0.05)
    time.sleep(1)
    ranks = ranks_of(p.pid)
    everyone = children(p.pid)
    os.kill(p.pid if which is None else ranks[which], how)
    begin = time.time()
    try:
        said = p.communicate(timeout=30 * PATIENCE)[1]
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        said = p.communicate()[1]
    left = everyone
    while left and time.time() < begin + 6 * PATIENCE:
        left = [pid for pid in everyone if pathlib.Path(f"/proc/{pid}").exists()]
        time.sleep(0.05)
    took = time.time() - begin
    check(took < 5 * PATIENCE and p.returncode != 0 and not left,
          f"{launcher}: {what} ends all within 5 seconds ({took:.1f} s, status {p.returncode}, left {left})")
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return said


place = Place()
kept = place.path / "kept"
kept.mkdir()
place.env["TMPDIR"] = str(kept)
for name, text in SCRIPTS.items():
    place.write(f"{name}.flow", text)
done = subprocess.run([FLOWC, "run", "notes.flow", "--ranks", "2"], cwd=place.path, text=True, capture_output=True,
                      env=dict(place.env, FLOW_MPIRUN="no-such-mpirun"))
check(done.returncode == 4 and "deps --mpi" in done.stderr and "no-such-mpirun" in done.stderr, "MPI that is missing is said", done)
for variable in ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, {"PMI_RANK": "0", "PMI_SIZE": "2"}):
    if not LAUNCHERS:
        done = subprocess.run([FLOWC, "run", "notes.flow"], cwd=place.path, text=True, capture_output=True,
                              env=dict(place.env, **variable))
        check(done.returncode == 4 and "is not there" in done.stderr, "its library, too", done)
done = subprocess.run([FLOWC, "run", "notes.flow", "--ranks", "many"], cwd=place.path, text=True, capture_output=True, env=place.env)
check(done.returncode == 2 and "--ranks" in done.stderr, "a number is wanted", done)

subprocess.run([FLOWC, "build", "notes.flow", "-o", "single"], cwd=place.path, env=place.env, check=True)
done = subprocess.run(["./single", "--ranks", "2"], cwd=place.path, text=True, capture_output=True, env=place.env)
check(done.returncode == 4 and "flowc build --ranks" in done.stderr, "a static binary says how it is to be built", done)

for launcher in LAUNCHERS:
    for name in ("fails", "reads", "notes"):
        alone, over = both(place, launcher, name, "a\n1\n2\n3\n" if name == "reads" else "")
        check(alone == over, f"{launcher}: {name} is the same over ranks", f"{alone}\n{over}")
    example = Place()
    shutil.copytree(ROOT / "examples", example.path / "e")
    for name in EXAMPLES[:3] if SHORT else EXAMPLES:
        done = subprocess.run([FLOWC, "run", f"{name}.flow", "--ranks", "2"], cwd=example.path / "e", capture_output=True,
                              timeout=300 * PATIENCE, env=dict(example.env, FLOW_MPIRUN=launcher))
        check(done.returncode == 0 and done.stdout == (ROOT / f"examples/{name}.out").read_bytes(), f"{launcher}: {name}", done)
    subprocess.run([FLOWC, "build", "--ranks", "notes.flow", "-o", "notes"], cwd=place.path, env=place.env, check=True)
    want = subprocess.run(["./notes", "--no-cache"], cwd=place.path, capture_output=True, text=True, env=place.env)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    for command in (["./notes", "--no-cache", "--ranks", "2"], [launcher, "-n", "3", "./notes", "--no-cache"]):
        done = subprocess.run(command, cwd=place.path, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=dict(place.env, FLOW_MPIRUN=launcher, **root))
        check((done.returncode, done.stdout, without_ranks(done.stderr)) == (0, want.stdout, want.stderr), f"{launcher}: {command}", done)
    done = subprocess.run([FLOWC, "run", "notes.flow", "--no-cache", "--ranks", "3", "--trace", "t.json"], cwd=place.path, capture_output=True,
                          text=True, env=dict(place.env, FLOW_MPIRUN=launcher))
    spans = [e for e in json.loads((place.path / "t.json").read_text())["traceEvents"] if e["ph"] == "X"]
    check({(e["pid"], e["cat"]) for e in spans} >= {(k, cat) for k in range(3) for cat in ("stage", "meeting")} and
          sum(e["cat"] == "stage" for e in spans) == 9, f"{launcher}: a timeline with a lane a rank, and nine calls over all", done)
    check(re.match(r"9 stages: 9 run, 0 cached; 3 ranks sent \d", done.stderr), f"{launcher}: the closing line is of all ranks", done.stderr)
    ends(place, launcher, "SIGTERM to what the user started", None, signal.SIGTERM)
    ends(place, launcher, "SIGINT to what the user started", None, signal.SIGINT)
    ends(place, launcher, "SIGKILL to what the user started", None, signal.SIGKILL)
    ends(place, launcher, "a killed rank", 1, signal.SIGKILL)
    ends(place, launcher, "a killed rank 0", 0, signal.SIGKILL)
    place.write("deaf", f'#!/bin/sh\nexec {launcher} "$@" 2>/dev/null\n')  # as one that is killed before it hands on what it was told
    (place.path / "deaf").chmod(0o755)
    names = "openmpi" in launcher  # the other's kills all before they can say which one was killed first
    for which, how, word in ((1, signal.SIGKILL, "error E0920: " + "rank 1 (" * names), (0, signal.SIGKILL, "error E0920: " + "rank 0 (" * names),
                             (None, signal.SIGTERM, "interrupted (SIGTERM)"), (2, signal.SIGTERM, "interrupted (SIGTERM)")):
        said = ends(place, str(place.path / "deaf"), f"{how.name} to {which}, by {launcher} that hands nothing on,", which, how)
        check(said.startswith(word) and len(re.findall("^(?:error|interrupted)", said, re.M)) == 1, f"{launcher}: {how.name} to {which} is told", said)
    check(not list(kept.glob("flow-*")), f"{launcher}: nothing is left behind", list(kept.iterdir()))
    if not SHORT:
        ends(place, launcher, "an interrupted rank", 2, signal.SIGTERM)
finish()
