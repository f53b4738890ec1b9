#!/usr/bin/env python3
"""Ranks that are killed, stopped, interrupted, or out of room, over the MPIs that this machine has: all processes end within
five seconds, with one message and the status of one process; nothing is left behind, and the next run continues from the store.
A process that stands still is found by its silence. Without an MPI nothing is checked.

usage: ranks_lost.py [--all] [LAUNCHER ...]: 200 kills at random moments, 20 stops, 20 full disks, 20 errors of one rank, and how long each
kind of end took; else a few of each
"""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, FLOWC, PATIENCE, Place, check, finish

# seconds: 60
CHOSEN = [word for word in sys.argv[1:] if word != "--all"]
LAUNCHERS = [name for name in CHOSEN or ("mpirun.openmpi", "mpirun.mpich") if shutil.which(name)]
TIMES = {}  # (launcher, kind) -> seconds from what ended a run to the end of its last process
KILLS, STOPS, DISKS, ERRORS = (200, 20, 20, 20) if ALL else (4, 2, 2, 2)
SCRIPT = """stage f(n: i64) -> f64 = sum(for i in 0..n: sin(f64(i)))
print(0)
print([for k in 0..40: f(6000000 + k)])
write_csv(table(x = [for k in 40..60: f(6000000 + k)]), "out.csv")
"""
LONG = SCRIPT.replace("0..40: f(6000000", "0..1200: f(5000000")  # longer than all that is waited for, also where nothing else runs
READS = """type Row = (a: i64)
let t: Row[_] = read_csv("data.csv")
print(sum(t.a))
print([for k in 0..9: sum(t.a) // k])
"""
# Steps of some tens of milliseconds, whose gradients are sent while they are computed
GRADIENTS = """import optim
type Net[d] = (a: f64[d, d], b: f64[d, d], c: f64[d, d], e: f64[d])
fn cost(p: Net[d], x: f64[n, d], y: f64[n]) -> f64 = mean((tanh(tanh(tanh(x @ p.a) @ p.b) @ p.c) @ p.e - y)^2)
let n = 4000
let x = normal(1, n, 300)
let y = normal(2, n)
let w = 0.05 * normal(3, 300, 300)
print(0)
let m = optim.sgd((p, b) => cost(p, x[b.rows], y[b.rows]), (a = w, b = w, c = w, e = w[0]), n, epochs = 100_000, batch = n, shards = 3, rate = 0.01)
print(m.losses[0])
"""
if PATIENCE > 1:  # MPICH leaves memory behind that is its own
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"


def patience():
    """Five seconds are of a machine that has a processor for each rank."""
    return PATIENCE * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def below(pid):
    """All processes below one, the nearest first."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rsplit(")", 1)[1].split()[1]) == pid:
                found.append(int(path.parent.name))
        except (OSError, IndexError):
            pass
    return found + [deep for child in found for deep in below(child)]


def rank_of(pid):
    """Which rank a process is; None: none."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        text = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    found = re.search(rb"(?:^|\0)(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", text)
    return int(found[1]) if found and words[0].endswith((b"flowc", b"model")) else None


def running(place, launcher, name, *more):
    """A run that takes some seconds, or many, and its ranks once all are there."""
    p = subprocess.Popen([FLOWC, "run", f"{name}.flow", "--ranks", "3", "--workers", "1", *more], cwd=place.path, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True,
                         env=dict(place.env, FLOW_MPIRUN=launcher))
    until = time.time() + 60 * PATIENCE
    ranks = {}
    while len(ranks) < 3 and time.time() < until and p.poll() is None:
        ranks = {r: pid for pid in below(p.pid) if (r := rank_of(pid)) is not None}
        time.sleep(0.02)
    return p, ranks


def end(p, everyone, what, kind):
    """Waits for all to end; (status, out, said)."""
    took, limit, last = 0.0, patience(), time.time()
    left = [*everyone, p.pid]
    while left and took < 20 * limit:  # time in which all stood still does not count
        time.sleep(0.02)
        took, last = took + min(time.time() - last, 0.5), time.time()
        p.poll()
        left = [pid for pid in left if alive(pid)]
    for pid in left:
        kill(pid, signal.SIGKILL)
    out, said = p.communicate()
    TIMES.setdefault(kind, []).append(took)
    check(took < 5 * limit and not left, f"{what}: all end within 5 seconds ({took:.1f} s, limit {5 * limit:.1f}, left {left})", said)
    return p.returncode, out, said


def kill(pid, how):
    """false: there is none any more."""
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return False
    return True


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def messages(said):
    return len(re.findall(r"^(?:\S+: )?(?:error|interrupted)\b", said, re.M))


def continues(place, launcher, what, want):
    """The next run, of another number of ranks, gives what one process gives, and takes what was stored."""
    left = [p for p in kept.iterdir() if p.name.startswith("flow-")]
    check(not left, f"{what}: nothing is left behind", left)
    done = place.run("run", "slow.flow", "--ranks", "2", timeout=120)
    check(done.returncode == 0 and done.stdout == want and (place.path / "out.csv").read_text() == table, f"{what}: the next run continues",
          (done.returncode, done.stderr))
    (place.path / "out.csv").unlink(missing_ok=True)
    shutil.rmtree(place.store, ignore_errors=True)


def lasts(place, launcher):
    """Seconds from when all ranks are there to the end of a run that nobody disturbs."""
    p, ranks = running(place, launcher, "slow")
    begin = time.time()
    p.communicate(timeout=120 * PATIENCE)
    (place.path / "out.csv").unlink(missing_ok=True)
    shutil.rmtree(place.store, ignore_errors=True)
    return time.time() - begin


def kills(place, launcher, want):
    """As many as wanted that meet a run: one that was over before does not count."""
    killed = k = 0
    seconds = lasts(place, launcher)
    while killed < KILLS and k < 4 * KILLS:
        k += 1
        rank, wait = random.randrange(3), random.random() * seconds
        what = f"{launcher}: rank {rank} killed after {wait:.2f} s"
        p, ranks = running(place, launcher, "slow")
        try:
            out, said = p.communicate(timeout=wait)
        except subprocess.TimeoutExpired:
            everyone = below(p.pid)
            kill(ranks[rank], signal.SIGKILL)
            status, out, said = end(p, everyone, what, (launcher, "a rank killed"))
            done = status == 0 and out.startswith(want)  # it was over; MPICH's launcher prints as well
            killed += not done
            check(done or (status == 4 and messages(said) == 1 and "E0920" in said), f"{what}: status {status}, one message", (status, len(out), said))
            wrote = place.path / "out.csv"
            check(wrote.read_text() == table if wrote.exists() else not done, f"{what}: the file is whole, or not there")
            parts = [path for path in place.path.iterdir() if path.name.endswith(".flow-tmp")]
            check(not parts or rank == 0, f"{what}: nor a part of it, unless its writer was killed", parts)
            for path in parts:  # the next run that writes there would remove it
                path.unlink()
            wrote.unlink(missing_ok=True)
        else:
            check(p.returncode == 0 and out == want, f"{what}: it was over before", (p.returncode, len(out), said))
            (place.path / "out.csv").unlink(missing_ok=True)
        if k % 4 == 0:
            continues(place, launcher, what, want)
        shutil.rmtree(place.store, ignore_errors=True)  # so that the next one is as long
    check(killed == KILLS, f"{launcher}: {killed} of {k} runs were met by a kill")


def stops(place, launcher, want):
    for k in range(STOPS):
        rank, wait = k % 3, 0.5 + random.random()
        what = f"{launcher}: rank {rank} stopped after {wait:.2f} s"
        p, ranks = running(place, launcher, "long", "--no-cache")
        time.sleep(wait)
        everyone = below(p.pid)
        os.kill(ranks[rank], signal.SIGSTOP)
        status, out, said = end(p, everyone, what, (launcher, "a rank stopped"))
        check(status == 4 and messages(said) == 1 and ("has not answered" in said or "was stopped" in said), f"{what}: {status}, found by its silence", said)
    continues(place, launcher, f"{launcher}: stops", want)


def pauses(place, launcher, want):
    """One rank that stands still for a moment, and all of them for longer than a lost one is waited for, go on: from any moment to the last."""
    whole = lasts(place, launcher)
    for which, seconds in ((1, 1.5), *((None, 5) for _ in range(STOPS))):
        p, ranks = running(place, launcher, "slow", "--no-cache")
        wait = whole * random.uniform(0.2, 1.1)
        time.sleep(wait)
        chosen = [pid for r, pid in ranks.items() if which in (None, r)]
        stood = sum(kill(pid, signal.SIGSTOP) and alive(pid) for pid in chosen)
        time.sleep(seconds)
        for pid in chosen:
            kill(pid, signal.SIGCONT)
        out, said = p.communicate(timeout=120 * PATIENCE)
        if which is None and stood < len(chosen):
            continue  # one had ended before: the others are lost ones
        check(p.returncode == 0 and out == want, f"{launcher}: a pause of {'all' if which is None else 'one'} for {seconds} s after {wait:.2f} s", said)
        (place.path / "out.csv").unlink(missing_ok=True)


def gradients(place, launcher):
    """A rank that is killed while others wait for its part of a gradient, or send theirs."""
    for k in range(ERRORS):
        rank, wait = k % 3, 0.7 + random.random()
        what = f"{launcher}: rank {rank} killed after {wait:.2f} s of training"
        p, ranks = running(place, launcher, "gradients", "--no-cache")
        time.sleep(wait)
        everyone = below(p.pid)
        kill(ranks[rank], signal.SIGKILL)
        status, out, said = end(p, everyone, what, (launcher, "a rank killed while it trains"))
        check(status == 4 and messages(said) == 1 and "E0920" in said, f"{what}: status {status}, one message", said)


def signals(place, launcher):
    """To each process in turn: the one that was started, the launchers, the ranks."""
    p, ranks = running(place, launcher, "long", "--no-cache")
    n = len([pid for pid in below(p.pid)])
    for k in range(-1, n):
        for how in (signal.SIGINT, signal.SIGTERM) if ALL or k in (-1, n - 1) else (signal.SIGTERM,):
            if k > -1 or how == signal.SIGTERM:
                p, ranks = running(place, launcher, "long", "--no-cache")
            time.sleep(0.7)
            everyone = below(p.pid)
            pid = p.pid if k < 0 else everyone[min(k, len(everyone) - 1)]
            what = f"{launcher}: {how.name} to process {k} ({pathlib.Path(f'/proc/{pid}/comm').read_text().strip()})"
            ignored = "proxy" in pathlib.Path(f"/proc/{pid}/comm").read_text()  # MPICH's, which then goes on to the end of the run
            os.kill(pid, how)
            status, out, said = (p.wait(), *p.communicate()) if ignored else end(p, everyone, what, (launcher, how.name))
            check(status == 128 + how if k < 0 else status != 0 or ignored, f"{what}: status {status}", said)
            check(messages(said) == (0 if status == 0 else 1), f"{what}: one message", said)


def launchers(place, launcher):
    """The process that was started, and the launcher, killed; the launcher stopped, and then asked to end as well."""
    for k in range(STOPS):
        for who, how, asks in (("starter", signal.SIGKILL, False), ("launcher", signal.SIGKILL, False), ("launcher", signal.SIGSTOP, False),
                               ("launcher", signal.SIGSTOP, True)):
            what = f"{launcher}: {how.name} to the {who}{', then SIGTERM' if asks else ''}"
            p, ranks = running(place, launcher, "long", "--no-cache")
            time.sleep(0.5 + random.random())
            everyone = below(p.pid)
            os.kill(p.pid if who == "starter" else everyone[0], how)
            if asks:
                p.terminate()
            status, out, said = end(p, everyone, what, (launcher, what.split(": ")[1]))
            want = -9 if who == "starter" else 143 if asks else 4
            check(status == want and messages(said) <= 1 and (who == "starter" or messages(said) == 1), f"{what}: {status}, one message", said)
            check(how != signal.SIGSTOP or asks or "was stopped" in said, f"{what}: found", said)


def stopped_late(place, launcher):
    """The launcher is stopped about when the run ends: what it has not handed on by then is lost, and that is said."""
    seconds = lasts(place, launcher)
    for k in range(STOPS):
        what = f"{launcher}: SIGSTOP to the launcher at the end"
        p, ranks = running(place, launcher, "slow", "--no-cache")
        time.sleep(seconds * random.uniform(0.6, 1.0))
        everyone = below(p.pid)
        kill(everyone[0] if everyone else p.pid, signal.SIGSTOP if everyone else 0)
        status, out, said = end(p, everyone, what, (launcher, what.split(": ")[1]))
        check(status in (0, 4) and messages(said) == (status == 4), f"{what}: {status}, one message", said)
        (place.path / "out.csv").unlink(missing_ok=True)


def slow_reader(place, launcher):
    """What was printed reaches a reader who takes nothing for longer than a launcher is waited for, whole, also before an error."""
    for name, status in (("prints", 0), ("fails", 1)):
        p = subprocess.Popen([FLOWC, "run", f"{name}.flow", "--ranks", "2", "--workers", "1", "--no-cache"], cwd=place.path, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=dict(place.env, FLOW_MPIRUN=launcher))
        time.sleep(14 * PATIENCE)
        out, said = p.communicate(timeout=120 * PATIENCE)
        check(p.returncode == status and out.splitlines() == [f"line {i} that is read late" for i in range(20000)] and messages(said) == status,
              f"{launcher}: {name}: a slow reader gets all ({len(out)} bytes)", (p.returncode, said))


def wrapped(place, launcher, name, before):
    """`mpirun -n 3` of a shell that does something at rank 1 before it becomes the script's binary."""
    text = f'if [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ]; then {before}; fi; exec {place.path}/{name} --no-cache --workers 1 --memory 20M'
    env = dict(place.env, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
               OMPI_MCA_orte_execute_quiet="1")
    begin = time.time()
    done = subprocess.run([launcher, "-n", "3", "sh", "-c", text], cwd=place.path, env=env, text=True, capture_output=True, timeout=120 * PATIENCE)
    return done, time.time() - begin


def errors(place, launcher):
    """A file that is missing, or another one, at one rank."""
    other = place.path / "other"
    other.mkdir(exist_ok=True)
    alone = place.run_binary("reads", "--no-cache")
    for k in range(ERRORS):
        if k % 2:
            (other / "data.csv").write_text("a\n" + "1\n" * 5000 + "x\n")
        else:
            (other / "data.csv").unlink(missing_ok=True)
        done, took = wrapped(place, launcher, "reads", f"cd {other}")
        check(done.returncode != 0 and messages(done.stderr) == 1 and "rank" in done.stderr and took < 20 * patience(),
              f"{launcher}: an error at one rank ({took:.1f} s) is said once, with a status", (done.returncode, done.stderr))
    check(alone.returncode == 1 and "E0" in alone.stderr, "the script by itself ends with its own error", alone.stderr)


def full_disks(place, launcher):
    """Small disks at one rank, which sees the others' folder as well."""
    small = "mount -t tmpfs -o size=1m tmpfs"
    hide = f"mount --bind {place.path} /mnt && {small} /tmp && {small} /var/tmp && mkdir -p {place.path} && mount --bind /mnt {place.path}"
    if subprocess.run(["unshare", "-m", "sh", "-c", hide], capture_output=True).returncode:
        return print("note: full disks were left out: they need root")
    place.env["OMPI_MCA_orte_tmpdir_base"] = str(place.path)
    text = f"unshare -m sh -c \"{hide} && export TMPDIR=/tmp && cd {place.path} && ./sorts --no-cache --workers 1 --memory 20M; "
    text += 'status=\\$?; test -z \\"\\$(ls /tmp | grep flow-spill)\\" || echo left behind >&2; exit \\$status"; exit'
    for k in range(DISKS):
        done, took = wrapped(place, launcher, "sorts", text)
        check(done.returncode == 4 and messages(done.stderr) == 1 and "rank 1" in done.stderr and "left behind" not in done.stderr
              and took < 60 * patience(), f"{launcher}: a full disk at one rank ({took:.1f} s)", (done.returncode, done.stdout[-200:], done.stderr))
    del place.env["OMPI_MCA_orte_tmpdir_base"]


def library_aborts(place, launcher):
    """A library below MPI that finds the memory of another rank gone, as UCX does where that one was killed, aborts: no fault of flow's."""
    (place.path / "gone.c").write_text("#include <errno.h>\nlong process_vm_readv(void) { errno = ESRCH; return -1; }\n")
    made = subprocess.run(["cc", "-shared", "-fPIC", "-o", place.path / "gone.so", place.path / "gone.c"], capture_output=True)
    if made.returncode or PATIENCE > 1:  # sanitizers want to be the first library
        return
    place.env["LD_PRELOAD"] = str(place.path / "gone.so")
    done = place.run("run", "sorts.flow", "--ranks", "2", "--workers", "1", "--no-cache")
    del place.env["LD_PRELOAD"]
    check((done.returncode == 0 and not done.stderr.count("error")) or (done.returncode == 4 and messages(done.stderr) == 1 and "itself failed" not in done.stderr),
          f"{launcher}: a library that aborts is no fault of flow's", (done.returncode, done.stderr))


place = Place(slow__flow=SCRIPT, long__flow=LONG, reads__flow=READS, gradients__flow=GRADIENTS)
place.write("sorts.flow", 'let a = [for i in 0..5000000: (i * 7919) % 5000011]\nlet s = sort(a)\nprint(s[0] + s[4999999])\n')
place.write("prints.flow", 'for i in 0..20_000 { print("line {i} that is read late") }\n')
place.write("fails.flow", (place.path / "prints.flow").read_text() + 'assert 1 > 2, "not so"\n')
place.write("data.csv", "a\n" + "".join(f"{k}\n" for k in range(5000)))
kept = place.path / "kept"
kept.mkdir()
place.env["TMPDIR"] = str(kept)
if not LAUNCHERS:
    print("note: no MPI is here (./build.sh deps --mpi): nothing was checked")
    check(True, "")
    finish()
alone = place.run("run", "slow.flow", "--no-cache")
table = (place.path / "out.csv").read_text()
(place.path / "out.csv").unlink()
check(alone.returncode == 0, "the script runs", alone.stderr)
for name in ("reads", "sorts"):
    place.run("build", "--ranks", f"{name}.flow", "-o", name)
for launcher in LAUNCHERS:
    place.env["FLOW_MPIRUN"] = launcher
    kills(place, launcher, alone.stdout)
    stops(place, launcher, alone.stdout)
    pauses(place, launcher, alone.stdout)
    gradients(place, launcher)
    signals(place, launcher)
    launchers(place, launcher)
    stopped_late(place, launcher)
    slow_reader(place, launcher)
    errors(place, launcher)
    library_aborts(place, launcher)
    full_disks(place, launcher)
for (launcher, kind), took in sorted(TIMES.items()):
    took.sort()
    if ALL:
        print(f"{launcher}: {kind}: {len(took)} times, seconds to the last process: least {took[0]:.2f}, median {took[len(took) // 2]:.2f}, "
              f"9 of 10 {took[len(took) * 9 // 10]:.2f}, most {took[-1]:.2f}, above five {sum(t > 5 for t in took)}; load {os.getloadavg()[0]:.0f}")
finish()
