"""What links binaries: flow_lld beside flowc makes the bytes that ld.lld of the system makes; where it is not there or does not start,
the system's is taken; where it fails or is stopped, nothing is left."""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, PATIENCE, Place, check, finish

BUILD = pathlib.Path(FLOWC).parent
if not (BUILD / "flow_lld").exists():
    print("note: flow was built without a linker of its own (sanitizers, or no archives of lld), so this is left out")
    finish()
place = Place()
home = place.path / "home"  # an installation whose linker can be exchanged
home.mkdir()
flowc, own, work = home / "flowc", home / "flow_lld", place.path / "work"
work.mkdir()
shutil.copy(FLOWC, flowc)
for name in ("libflow_llvm.so", "libflowrt.a", "runtime/libflowstart.a"):
    (home / pathlib.Path(name).name).symlink_to(BUILD / name)
SCRIPTS = {
    "plain": "print(sum([for i in 0..100: i * 2.0]))\n",
    "table": 'let t = read_csv("a.csv")\nshow(t |> group_by(k) |> summarize(s = sum(x)) |> sort(k))\n',
    "matrix": "let a = [[2.0, 1.0], [1.0, 3.0]]\nprint(solve(a, [1.0, 2.0]), a @ a)\n",  # OpenBLAS, with names put in place of others
    "sqlite": 'show(read_sqlite("a.db", table = "a"))\n',  # opens a library: with the system's C library
}
for name, text in SCRIPTS.items():
    (work / f"{name}.flow").write_text(text)
(work / "a.csv").write_text("k,x\n2,0.5\n1,1.5\n2,4.0\n")
with sqlite3.connect(work / "a.db") as base:
    base.execute("create table a (n integer)")
    base.execute("insert into a values (1)")
base.close()
THERE = sorted(os.listdir(work))


def build(name, *words):
    """(what flowc says, the binary's bytes or None); nothing else is in the folder after it."""
    done = subprocess.run([flowc, "build", f"{name}.flow", "-o", "made", *words], cwd=work, env=place.env, capture_output=True, text=True)
    made = work / "made"
    what = made.read_bytes() if made.exists() else None
    made.unlink(missing_ok=True)
    check(sorted(os.listdir(work)) == THERE, f"{name} {words}: nothing else is left", sorted(os.listdir(work)))
    check((done.returncode == 0) == (what is not None), f"{name} {words}: the status", (done.returncode, done.stderr))
    return done, what


def stand_in(text, mode=0o755):
    own.unlink(missing_ok=True)
    own.write_text(text)
    own.chmod(mode)


def runs(binary):
    path = work / "made"
    path.write_bytes(binary)
    path.chmod(0o755)
    done = subprocess.run([path, "--quiet", "--no-cache"], cwd=work, env=place.env, capture_output=True, text=True)
    path.unlink()
    return done.stdout


# The same bytes as by the linker of the system, which is taken where there is no flow_lld, or one that may not be started.
by_system = {(name, level): build(name, *level)[1] for name in SCRIPTS for level in ((), ("-O0",))}
check(runs(by_system["plain", ()]) == "9900.0\n", "what the system's linker makes runs")
stand_in("", mode=0o644)
check(build("plain")[1] == by_system["plain", ()], "one that may not be started is not")
mark = place.path / "mark"
mark.touch()
stand_in(f'#!/bin/sh\necho >> {mark}\nexec {BUILD}/flow_lld "$@"\n')
if os.path.exists("/usr/lib/llvm-19/bin/ld.lld"):
    for (name, level), wanted in by_system.items():
        done, made = build(name, *level)
        check(made is not None and made == wanted, f"{name} {level}: the bytes of the system's linker", done.stderr)
    check(mark.read_text() == "\n" * len(by_system), "flow_lld made them, started once each", mark.read_text().count("\n"))

# One that does not start: another way is taken. One that fails, or is killed, is said.
stand_in("\x7fELF is no program\n")
done, made = build("plain")
check(made is not None and runs(made) == "9900.0\n", "one that cannot be executed: another linker is taken", done.stderr)
for text, what in (("kill -9 $$", "is killed"), ("echo out of luck >&2; exit 1", "fails"), ("exit 0", "makes nothing"),
                   ("exec 3<&-; echo out of luck >&2; exit 1", "reads nothing"), ("cat <&3 > /dev/null; kill -SEGV $$", "crashes at the end")):
    stand_in(f"#!/bin/sh\n{text}\n")
    done, made = build("plain")
    check(done.returncode == 1 and "cannot link made" in done.stderr, f"one that {what} is said", done)
    check("luck" not in text or "out of luck" in done.stderr, f"one that {what}: in its words", done.stderr)

# Asked to end while it links.
for number in (signal.SIGINT, signal.SIGTERM):
    stand_in(f"#!/bin/sh\necho >> {mark}\nexec sleep 100\n")
    mark.unlink(missing_ok=True)
    p = subprocess.Popen([flowc, "build", "plain.flow", "-o", "made"], cwd=work, env=place.env, stderr=subprocess.PIPE, start_new_session=True)
    end = time.monotonic() + 20 * PATIENCE
    while not mark.exists() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.3)
    os.killpg(p.pid, number)
    p.communicate(timeout=20 * PATIENCE)
    check(p.returncode == -number and sorted(os.listdir(work)) == THERE, f"{number.name} while it links", (p.returncode, sorted(os.listdir(work))))

# Archives that are damaged.
own.unlink()
shutil.copy(BUILD / "flow_lld", own)
archive = home / "libflowrt.a"
whole = archive.read_bytes()
archive.unlink()
for size in (0, 8, 1000, len(whole) // 2):
    archive.write_bytes(whole[:size])
    done, made = build("plain")
    check(made is None and "flow_lld: error" in done.stderr, f"an archive of {size} bytes", (done.returncode, done.stderr))
archive.unlink()
done, made = build("plain")
check(made is None and "libflowrt.a" in done.stderr, "no runtime", done.stderr)
finish()
