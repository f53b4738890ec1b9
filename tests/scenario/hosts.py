#!/usr/bin/env python3
"""--hosts and `flowc doctor --hosts`, on machines that are namespaces of this one with ssh servers (tests/hosts_kit.py): scripts give
what one process gives, binaries are copied where they are not, ranks that are lost are named with their host, and each thing that is
missing on a host is said with what to do, by the run and by the doctor, within a bound. What needs root, sshd or an MPI is left out
where that is not here.

usage: hosts.py [--all]: all that may be missing, over each MPI; else a part of it over one
"""
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
from hosts_kit import Hosts, lacks
from scenario_kit import ALL, FLOWC, PATIENCE, Place, check, finish

# seconds: 60
if PATIENCE > 1:  # libraries of MPI leave memory behind, and nothing tells the sanitizer on another host not to look
    print("left out with sanitizers")
    finish()
LAUNCHERS = [name for name in ("mpirun.openmpi", "mpirun.mpich") if shutil.which(name)]
SCRIPTS = {
    "fails": "stage f(n: i64) -> i64 = 10 // (n - 5)\nprint(1)\nprint([for k in 0..9: f(k)])\n",
    "reads": 'type Row = (a: i64)\nlet t: Row[_] = read_csv("-")\nprint(len(t))\nprint([for k in 0..5: sum(t.a) * k])\n'
             'write_csv(t, "out.csv")\n',
    "slow": "stage f(n: i64) -> f64 = sum(for i in 0..n: sin(f64(i)))\nprint(0)\nprint([for k in 0..400: f(5000000 + k)])\n",
}

place = Place(**{f"{name}__flow": text for name, text in SCRIPTS.items()})
place.env["XDG_CACHE_HOME"] = str(place.path / "cache")
for words, what in (("a,,b", "a name is missing"), ("a:0", "how many workers"), ("a b", "no name of a host"), ("-x", "needs a value")):
    done = place.run("run", "fails.flow", "--hosts", words)
    check(done.returncode in (2, 4) and what in done.stderr, f"--hosts {words}: what is wrong is said", done.stderr)
done = place.run("run", "fails.flow", "--hosts", "a", "--ranks", "2")
check(done.returncode == 2 and "--ranks" in done.stderr, "--hosts and --ranks", done.stderr)
done = place.run("doctor", "--hosts", "a,,b")
check(done.returncode == 2 and "a name is missing" in done.stderr, "of the doctor as well", done.stderr)
missing = lacks() or ("" if LAUNCHERS else "an MPI (./build.sh deps --mpi)")
if missing:
    print(f"note: {missing} is not here: no host was started")
    finish()

hosts = Hosts("a", "b", "c")


def at(name, *words, given="", timeout=150, **env):
    """A command on a host, in the folder of the scripts."""
    return subprocess.run([*hosts.words(name), *words], cwd=place.path, env=hosts.environment(place.env) | env, text=True, capture_output=True,
                          input=given, timeout=timeout * PATIENCE)


def sh(name, text):
    subprocess.run([*hosts.words(name), "sh", "-c", text], check=True, cwd=place.path)


def rank(number, words):
    """The process that is a rank of this scenario's run."""
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if re.search(rb"(?:^|\0)(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=%d\0" % number, path.read_bytes()) and \
                    words in (path.parent / "cmdline").read_bytes():
                return int(path.parent.name)
        except OSError:
            pass
    return None


def same(launcher):
    """Scripts over hosts give what one process gives."""
    for name, given in (("fails", ""), ("reads", "a\n1\n2\n3\n")):
        outcomes = []
        for words in ([], ["--hosts", "a:1,b:2,c"], ["--hosts", "b,a"]):
            (place.path / "out.csv").unlink(missing_ok=True)
            done = at("a", FLOWC, "run", f"{name}.flow", "--no-cache", "--workers", "1", *words, given=given, FLOW_MPIRUN=launcher)
            wrote = place.path / "out.csv"
            said = re.sub(r"^(\d+ stages?: |\d+ ranks sent |\[\w+:\d+\] plm:rsh: Warning).*\n", "", done.stderr, flags=re.M)  # a race of mpirun's own
            outcomes.append((done.returncode, done.stdout, said, wrote.read_text() if wrote.exists() else ""))
        check(outcomes[0] == outcomes[1], f"{launcher}: {name} over a, b, c", outcomes)
        if "openmpi" in launcher:  # where rank 0 is elsewhere the other's launcher adds lines of its own
            check(outcomes[0] == outcomes[2], f"{launcher}: {name} over b, a", outcomes)


def copied(launcher):
    """A binary that other hosts do not have is copied there once, and is the same run."""
    own = place.path / "own"
    own.mkdir(exist_ok=True)
    sh("a", f"mount -t tmpfs tmpfs {own}")
    done = at("a", FLOWC, "build", "--ranks", "fails.flow", "-o", f"{own}/model")
    times = []
    for _ in range(2):
        done = at("a", f"{own}/model", "--no-cache", "--hosts", "a,b", FLOW_MPIRUN=launcher)
        check(done.returncode == 1 and done.stdout == "1\n" and "E0" in done.stderr, f"{launcher}: a binary that is copied runs", done)
        said = at("b", "sh", "-c", "stat -c '%a %Y %n' /var/tmp/flow-*/* && stat -c %a /var/tmp/flow-*").stdout
        times.append(said)
    check(times[0] == times[1] and times[0].startswith("700 ") and times[0].endswith("\n700\n"), "it is copied once, for this user alone", times)
    sh("a", f"umount {own}; rm -rf /var/tmp/flow-*")
    sh("b", "rm -rf /var/tmp/flow-*")


def ended(launcher):
    """A rank that is killed or stopped on another host, and an interrupt: all end, and the host is named."""
    at("a", FLOWC, "build", "--ranks", "slow.flow", "-o", "slow")
    for how, which, what in ((signal.SIGKILL, 1, ""), (signal.SIGSTOP, 2, "has not answered"), (signal.SIGINT, None, "interrupted (SIGINT)")):
        p = subprocess.Popen([*hosts.words("a"), "./slow", "--no-cache", "--workers", "1", "--hosts", "a,b,c"], cwd=place.path, text=True,
                             env=hosts.environment(place.env) | {"FLOW_MPIRUN": launcher}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             stdin=subprocess.DEVNULL)
        mark, until = str(place.path / "slow").encode(), time.time() + 60 * PATIENCE
        while time.time() < until and not all(rank(k, mark) for k in range(3)):
            time.sleep(0.1)
        time.sleep(1)
        os.kill(p.pid if which is None else rank(which, mark), how)  # nsenter has become the binary
        begin, limit = time.time(), 5 * PATIENCE * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        try:
            out, said = p.communicate(timeout=8 * limit)
        except subprocess.TimeoutExpired:
            p.kill()
            out, said = p.communicate()
        while time.time() < begin + 2 * limit and any(rank(k, mark) for k in range(3)):
            time.sleep(0.1)
        took = time.time() - begin
        check(took < limit and not any(rank(k, mark) for k in range(3)), f"{launcher}: {how.name}: all end ({took:.1f} s, limit {limit:.1f})", said)
        check(p.returncode == (130 if which is None else 4) and what in said, f"{launcher}: {how.name}: {p.returncode}, what is said", said)
        if how == signal.SIGSTOP:
            check(f"rank {which}" in said and " on c)" in said, "the rank and its host are named", said)


def doctor(*words, **env):
    done = at("a", FLOWC, "doctor", "--hosts", *words, "--json", **env)
    said = json.loads(done.stdout)
    check(done.returncode == (0 if said["well"] else 1) and done.stderr == "", f"doctor {words}: the status", (done.returncode, done.stderr))
    return {(c.get("host"), c["name"]): c for c in said["checks"]}


def lacking(launcher):
    """What may be missing on a host: (how to take it away, how to give it back, which check, what it says, what to do)."""
    mpi = "/usr/bin/orterun" if "openmpi" in launcher else os.path.realpath(shutil.which(launcher))
    place.write("older", f"#!/bin/sh\necho 'mpirun.openmpi (OpenRTE) 3.1.3'\n" if "openmpi" in launcher else "#!/bin/sh\necho '    Version:   3.0'\n")
    place.write("other", "#!/bin/sh\necho '    Version:   4.0.2'\n" if "openmpi" in launcher else "#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n")
    place.write("date", '#!/bin/sh\necho $(($(cat /proc/uptime | cut -d. -f1) * 0 + 1000)).0\n')
    place.write("cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 15\nflags\t\t: sse sse2\n\n")
    place.write("nothing", "")
    for name in ("older", "other", "date"):
        (place.path / name).chmod(0o755)
    drop = ("ip rule add pref 100 lookup local && ip rule add pref 10 ipproto tcp dport 30000-65534 iif eth0 blackhole && ip rule del pref 0",
            "ip rule add pref 0 lookup local && ip rule del pref 10 && ip rule del pref 100")
    bind = lambda name, to: (f"mount --bind {place.path}/{name} {to}", f"umount {to}")
    ways = [(*bind("nothing", mpi), "MPI", "no MPI is there", "apt install"),
            (*drop, "ports", "does not reach", "TCP ports"),
            (*bind("older", mpi), "MPI", "another version", "the same version"),
            (*bind("cpuinfo", "/proc/cpuinfo"), "processor", "another kind", "one kind"),
            (*bind("date", "/usr/bin/date"), "clock", "behind", "set it"),
            (f"mount -t tmpfs tmpfs {place.path}", f"umount {place.path}", "folder", "other files", "NFS"),
            (*bind("other", mpi), "MPI", "another MPI", "the same one"),
            (*bind("nothing", f"{hosts.place}/authorized"), "ssh", "Permission denied", "ssh-copy-id b"),
            ("ip link set eth0 down", f"ip link set eth0 up", "ssh", "cannot be reached", "ssh b")]
    for away, back, name, found, help in ways if ALL else ways[:6]:
        sh("b", away)
        begin = time.time()
        said = doctor("a,b", FLOW_MPIRUN=launcher).get(("b", name), {})
        took = time.time() - begin
        check(said.get("state") in ("wrong", "missing") and found in said["found"] and help in said["help"], f"{launcher}: doctor: {name}: {found}", said)
        check(took < 60 * PATIENCE, f"within a bound ({took:.1f} s)")
        if said.get("state") == "wrong" and (ALL or name != "ports"):
            begin = time.time()
            done = at("a", FLOWC, "run", "fails.flow", "--no-cache", "--hosts", "a,b", FLOW_MPIRUN=launcher)
            took = time.time() - begin
            says = "have not met" if name == "ports" else f"host b: {name}: "
            check(done.returncode == 4 and says in done.stderr and "help: " in done.stderr and took < 60 * PATIENCE,
                  f"{launcher}: the run: {name} ({took:.1f} s)", (done.returncode, done.stderr))
        sh("b", back)
    said = doctor("a,nowhere", FLOW_MPIRUN=launcher)[("nowhere", "ssh")]
    check(said["state"] == "wrong" and "resolve" in said["found"], "a name that is none", said)
    profile = hosts.place / "home/.bashrc"  # of a shell that has something to say, on both outputs
    place.write("talks", "echo there is mail; echo a shim is rebuilt >&2\n")
    sh("b", f"mount --bind {place.path}/talks {profile}")
    well = doctor("a,b,c", FLOW_MPIRUN=launcher)
    check(all(c["state"] == "ok" for c in well.values()) and (None, "ranks") in well, f"{launcher}: all is well again", well)
    sh("b", f"umount {profile}")


for launcher in LAUNCHERS if ALL else LAUNCHERS[:1]:
    same(launcher)
    copied(launcher)
    ended(launcher)
    lacking(launcher)
finish()
