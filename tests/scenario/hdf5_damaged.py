"""HDF5 and MATLAB 7.3 files with other bytes anywhere: libhdf5, which may crash on such, never takes a program with it.
Always status 0 or 1 and a message about the file; a library that crashes, or does not come to an end, is one too."""
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, HDF5, PATIENCE, ROOT, Place, check, finish

place = Place()
SAMPLES = ROOT / "tests/run/files/formats"
TIMES = 50 if ALL else 20  # of each sample


def build(name, types, reads):
    place.write(f"{name}.flow", f"param path: file\nlet d: ({types}) = {reads}(path)\nshow(d)\n")
    built = place.run("build", f"{name}.flow", "-o", name)
    check(built.returncode == 0, f"{name} builds", built.stderr)


def run(name, path, **env):
    """With less processor time than a library gets (see below), as one that is caught in a damaged file takes all of it."""
    def hasten():
        resource.setrlimit(resource.RLIMIT_CPU, (4 * PATIENCE, resource.RLIM_INFINITY))

    return subprocess.run([f"./{name}", "--path", path], cwd=place.path, env=dict(place.env, **env), capture_output=True,
                          timeout=120 * PATIENCE, preexec_fn=hasten)


def damage(data, chance):
    for _ in range(chance.choice([1, 1, 2, 4, 16])):
        at = chance.randrange(len(data))
        how = chance.randrange(5)
        if how == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            data[at] = chance.choice([0, 127, 128, 255])
        elif how == 2:
            data[at : at + 8] = chance.choice([b"\xff" * 8, bytes(8), chance.randbytes(8)])
        elif how == 3:
            source = chance.randrange(len(data))
            data[at : at + 16] = data[source : source + 16]
        else:
            del data[at : at + chance.randrange(1, 64)]


# ---- damaged files --------------------------------------------------------------------------------------------------

build("numbers", "x: f64[_, _], rate: f32, packed: u32[_, _], big: i64[_]", "read_hdf5")
build("texts", "words: text[_], grid: text[_, _], fixed: text[_], title: text, x: f64[_]", "read_hdf5")
build("matlab", "word: text, rows: text[_], cell: text[_, _], zero: f64[_, _]", "read_mat")
for seed, (program, sample) in enumerate([("numbers", "some.h5"), ("texts", "texts.h5"), ("matlab", "texts73.mat")]):
    whole = (SAMPLES / sample).read_bytes()
    chance = random.Random(seed)
    (place.path / "data").write_bytes(whole)
    done = run(program, "data")
    check(done.returncode == 0, f"{sample} is read", done.stderr)
    for k in range(TIMES):
        data = bytearray(whole)
        damage(data, chance)
        (place.path / "data").write_bytes(data)
        done = run(program, "data")
        what = f"{sample} with other bytes, {k} of seed {seed}"
        check(done.returncode in (0, 1), f"{what}: status 0 or 1, not {done.returncode}", done.stderr)
        said = re.search(rb"error E09\d\d: .*data", done.stderr)
        check(done.returncode == 0 or said, f"{what}: the message names the file", done.stderr)
        check(not re.search(rb"E0929|Sanitizer|SIG|signal", done.stderr), f"{what}: and nothing else", done.stderr)

# ---- a library that does not come back --------------------------------------------------------------------------------

NAMES = re.findall(r"FL_SYMBOL\((\w+)\)", (ROOT / "runtime/io/hdf5.def").read_text())
TYPES = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FLOAT", "DOUBLE"]


def library(does):
    """A libhdf5 whose first function does this."""
    folder = place.path / "fake"
    folder.mkdir(exist_ok=True)
    lines = ["#include <signal.h>", "#include <unistd.h>", f"int H5open(void) {{ {does} return 0; }}"]
    lines += [f"long H5{name}(void) {{ return -1; }}" for name in [*NAMES, "Lget_info1"] if name != "open"]  # the last: its name in 1.14
    lines += [f"long H5T_NATIVE_{name}_g;" for name in TYPES]
    (folder / "fake.c").write_text("\n".join(lines))
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", folder / HDF5[0], folder / "fake.c"], check=True)
    return dict(LD_LIBRARY_PATH=str(folder))


def children():
    """Of the processes of the program that are left: the seconds of the processor that they may take."""
    left = []
    for p in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if p.read_bytes().startswith(b"./numbers\0") and (p.parent / "cwd").resolve() == place.path.resolve():
                left.append(re.search(r"Max cpu time +(\w+)", (p.parent / "limits").read_text())[1])
        except OSError:
            pass
    return left


if "FLOW_SANITIZE" not in os.environ:  # whose libraries are found by the same paths
    shutil.copy(SAMPLES / "some.h5", place.path / "data")
    for does, says in [("*(volatile int *)0 = 1;", b"crashes on it"), ("raise(SIGABRT);", b"crashes on it"),
                       ("raise(SIGBUS);", b"crashes on it"), ("_exit(3);", b"crashes on it"),
                       ("raise(SIGXCPU);", b"takes too long"), ("raise(SIGKILL);", b"was killed")]:
        done = run("numbers", "data", **library(does))
        check(done.returncode == 1 and says in done.stderr and b"E0966" in done.stderr, f"{does} is an error of the file",
              done.stderr)
        check(b"`data`" in done.stderr and b"help:" in done.stderr, f"{does}: which file, and what to do", done.stderr)
    env = dict(place.env, **library("for (;;) pause();"))
    for way in [signal.SIGINT, signal.SIGKILL]:
        running = subprocess.Popen(["./numbers", "--path", "data"], cwd=place.path, env=env, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        bounds = []
        while not bounds and running.poll() is None:  # of the process that the library is in
            bounds = [c for c in children() if c != "unlimited"]
            time.sleep(0.05)
        check(len(bounds) == 1 and 10 < int(bounds[0]) < 60, "what the library may take of the processor has a bound", bounds)
        running.send_signal(way)
        check(running.wait(timeout=60) in (130, -way), f"a library that hangs is stopped by {way.name}", running.returncode)
        until = time.monotonic() + 60
        while children() and time.monotonic() < until:
            time.sleep(0.05)
        check(not children(), f"{way.name}: no process is left", children())
finish()
