"""A CSV file that another program writes to while it is read, or while its texts are still in use, is an error: never values of
both, never a crash. One that is replaced by another of the same name goes on being the old one."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
data, ready, go = place.path / "t.csv", place.path / "ready", place.path / "go"
ROWS = 400_000  # more than is read at once: the file is mapped


def fill(letter):
    return "id,name\n" + "".join(f"{k},{letter}{k % 1000:06}\n" for k in range(ROWS))


# The script waits between reading and using: for a pipe that this test writes to.
SCRIPT = """param t: file = "t.csv"
param gate: file
stage names(f: file) -> text[_] = read_csv(f, types = (name: text)).name
let all = names(t)
print(len(all))
write_csv(table(n = [1]), "ready")
let open: (n: i64)[_] = read_csv(gate, header = true)
print(len(open), max(n_chars(all)), count(for s in all: starts_with(s, "a")))
"""
place.write("use.flow", SCRIPT)


def run_with(change, *options):
    place.path.joinpath("t.csv").unlink(missing_ok=True)
    place.write("t.csv", fill("a"))
    for path in (ready, go):
        path.unlink(missing_ok=True)
    os.mkfifo(go)
    process = place.start("run", "--no-cache", *options, "use.flow", "--gate", "go")
    for _ in range(3000):
        if ready.exists() or process.poll() is not None:
            break
        time.sleep(0.01)
    change()
    if process.poll() is None:
        with open(go, "w") as gate:
            gate.write("n\n1\n")
    out, err = process.communicate(timeout=100)
    return process.returncode, out, err


def append():
    with open(data, "a") as f:
        f.write("1,b\n")


def overwrite():
    with open(data, "r+") as f:
        f.seek(len("id,name\n"))
        f.write("0,b")
    os.utime(data)


def cut():
    os.truncate(data, 1000)


def replace():
    (place.path / "other").write_text(fill("b"))
    os.rename(place.path / "other", data)


status, out, err = run_with(lambda: None)
check(status == 0 and out == f"{ROWS}\n1 7 {ROWS}\n", "nothing changes", out + err)
status, out, err = run_with(replace)
check(status == 0 and out == f"{ROWS}\n1 7 {ROWS}\n", "replaced: the old one", out + err)
for change in (append, overwrite, cut):
    status, out, err = run_with(change)
    check(status == 1 and "E0937" in err and out in ("", f"{ROWS}\n"), f"{change.__name__}: an error", f"{status} {out} {err}")
finish()
