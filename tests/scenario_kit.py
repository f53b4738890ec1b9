"""What the scenarios of tests/scenario share: a scratch folder with a copy of the examples, running flowc there with
a store of its own, counting checks. A scenario prints "N passed, N failed" at its end."""
import atexit
import gc
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOWC = os.environ.get("FLOWC", str(ROOT / "build/flowc"))
SHORT = os.environ.get("FLOW_TEST_SHORT", "0") != "0"  # fewer repetitions of what is the same each time
ALL = "FLOW_TEST_ALL" in os.environ or "--all" in sys.argv[1:]  # all of what is sampled otherwise; other words stay
sys.argv[1:] = [word for word in sys.argv[1:] if word != "--all"]
SHARD, SHARDS = map(int, (os.environ.get("FLOW_TEST_SHARD") or "0/1").split("/"))  # which part of the seeds is done here
gc.disable()  # scenarios end soon, and to look for cycles among the rows of a model takes a fifth of their time
# Started in the background by a shell SIGINT is ignored, by nohup SIGHUP, and so they would be by what is started here; what has a
# handler here is as it is by default there.
signal.signal(signal.SIGINT, signal.default_int_handler)
for ignored in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGXCPU):
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, lambda number, frame: None)

PATIENCE = 5 if "FLOW_SANITIZE" in os.environ else 1  # factor on time limits: programs with sanitizers take longer
STAGES = re.compile(r"^(\d+) stages?: (\d+) run, (\d+) cached", re.M)


def without_ranks(said):
    """What is said on standard error, without what a closing line says of several ranks, which is by their clocks."""
    return re.sub(r"^\d+ ranks sent .*\n|; \d+ ranks sent .*$", "", said, flags=re.M)


# The library of HDF5 that Debian has, of version 1.10 or 1.14, and its package.
HDF5 = (("libhdf5_serial.so.310", "libhdf5-310") if list(pathlib.Path("/usr/lib").glob("*/libhdf5_serial.so.310"))
        else ("libhdf5_serial.so.103", "libhdf5-103-1"))

passed = failed = 0


def check(condition, what, detail=""):
    global passed, failed
    if condition:
        passed += 1
        return
    failed += 1
    print(f"not so: {what}")
    if detail:
        print("\n".join("    " + line for line in str(detail).splitlines()[-20:]))


def git(*words):
    """What git prints, asked in the repository; None in a source archive, and where there is no git."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def needs(script, *modules):
    """Goes on where this Python has the modules; else the script runs by build/peers, which has, or ends with a note."""
    peer = ROOT / "build/peers/bin/python"
    if all(map(importlib.util.find_spec, modules)):
        return
    if peer.exists() and "FLOW_PEER" not in os.environ:
        environment = dict(os.environ, FLOW_PEER="1", **({"FLOW_TEST_ALL": "1"} if ALL else {}))
        sys.exit(subprocess.run([peer, script, *sys.argv[1:]], env=environment).returncode)
    print(f"note: needs {' and '.join(modules)} (bench/peers.sh) and is left out")
    finish()


class Place:
    """A scratch folder: files, a store, and runs in it."""

    def __init__(self, **files):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="flow-scenario-"))
        atexit.register(shutil.rmtree, self.path, ignore_errors=True)
        self.store = self.path / ".flow"
        self.env = dict(os.environ, FLOW_CACHE=str(self.store), NO_COLOR="1", LC_ALL="C.UTF-8")
        self.env.setdefault("FLOW_KERNELS", "late")  # not tried before there is code
        self.env.setdefault("FLOW_CODE_CACHE", str(self.path / ".code"))
        self.env["XDG_STATE_HOME"] = str(self.path / ".state")
        for name, text in files.items():
            self.write(name.replace("__", "."), text)

    def write(self, name, text):
        (self.path / name).write_text(text)

    def edit(self, name, old, new):
        """Replaces one occurrence; a scenario whose script has changed should notice."""
        text = (self.path / name).read_text()
        assert old in text, f"{name} has no {old!r}"
        self.write(name, text.replace(old, new, 1))

    def command(self, *args):
        return [FLOWC, *args]

    def run(self, *args, timeout=300, **options):
        return subprocess.run(self.command(*args), cwd=self.path, env=self.env, capture_output=True, text=True,
                              timeout=timeout * PATIENCE, **options)

    def run_binary(self, name, *args, timeout=60):
        return subprocess.run([str(self.path / name), *args], cwd=self.path, env=self.env, capture_output=True, text=True,
                              timeout=timeout * PATIENCE)

    def run_bytes(self, *args, timeout=300):
        return subprocess.run(self.command(*args), cwd=self.path, env=self.env, capture_output=True,
                              timeout=timeout * PATIENCE)

    def start(self, *args, **options):
        return subprocess.Popen(self.command(*args), cwd=self.path, env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def store_files(self):
        return sorted(p for p in self.store.rglob("*") if p.is_file() and p.name != "CACHEDIR.TAG")

    def leftovers(self):
        """Temporary files and locks in the store."""
        return [p for p in self.store_files() if {"temp", "locks"} & set(p.relative_to(self.store).parts)]


def stages(done):
    """(run, cached) by the closing line of a run."""
    found = STAGES.search(done.stderr)
    return (int(found[2]), int(found[3])) if found else None
