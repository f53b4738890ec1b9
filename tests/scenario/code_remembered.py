"""Compiled code is remembered: an unchanged script does not load the code generator, a changed one does."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place(
    s__flow='import "helper.flow" as helper\nlet t = read_csv("data.csv")\nprint("{helper.twice(sum(t.x)):.1f}")\n',
    helper__flow="fn twice(x: f64) -> f64 = 2 * x\n",
    data__csv="x\n1.5\n2.5\n",
)
place.env["FLOW_CODE_CACHE"] = str(place.path / "code")
place.env["LD_DEBUG"] = "files"  # the loader says on standard error what it loads


def run(what, compiles, output, *args):
    done = place.run("run", *args, "s.flow")
    check(done.returncode == 0 and done.stdout == output, f"{what}: prints {output!r}", done.stdout + done.stderr[-500:])
    check(("libflow_llvm.so" in done.stderr) == compiles, f"{what}: {'compiles' if compiles else 'does not compile'}")


run("at first", True, "8.0\n")
run("unchanged", False, "8.0\n")
run("other options", True, "8.0\n", "-O0")
run("back", False, "8.0\n")
place.edit("s.flow", "{helper", "= {helper")
run("another text", True, "= 8.0\n")
run("the same again", False, "= 8.0\n")
place.edit("helper.flow", "2 * x", "3 * x")
run("another import", True, "= 12.0\n")
run("unchanged import", False, "= 12.0\n")
place.write("data.csv", "x\n1.5\n4.5\n")
run("other data", True, "= 18.0\n")
run("unchanged data", False, "= 18.0\n")

same = os.stat(place.path / "data.csv")
with open(place.path / "data.csv", "r+") as f:
    f.write("x\n10\n450\n")
os.utime(place.path / "data.csv", ns=(same.st_atime_ns, same.st_mtime_ns))
check(os.stat(place.path / "data.csv").st_size == same.st_size, "the same inode, size and time")
run("other data of the same inode, size and time", True, "= 1380.0\n")
os.utime(place.path / "data.csv")
run("the same data at another time", False, "= 1380.0\n")
place.write("data.csv", "x\n1.5\n4.5\n")
run("the data before, again", True, "= 18.0\n")

large = "x\n" + "1\n" * 3_000_000  # more than is read whole
place.write("data.csv", large)
run("a large file", True, "= 9000000.0\n")
run("the same large file", False, "= 9000000.0\n")
same = os.stat(place.path / "data.csv")
with open(place.path / "data.csv", "r+") as f:
    f.seek(3_000_002)
    f.write("2")
os.utime(place.path / "data.csv", ns=(same.st_atime_ns, same.st_mtime_ns))
run("a large file, changed in the middle, its time kept", True, "= 9000003.0\n")
place.write("data.csv", "x\n1.5\n4.5\n")
run("the small one", True, "= 18.0\n")

for entry in (place.path / "code/objects").rglob("*"):
    if entry.is_file():
        whole = bytearray(entry.read_bytes())
        whole[len(whole) // 2] ^= 1
        entry.write_bytes(whole)
run("damaged code", True, "= 18.0\n")
run("repaired", False, "= 18.0\n")
os.chmod(place.path / "code", 0o777)
run("a folder that others may write to is not trusted", True, "= 18.0\n")
os.chmod(place.path / "code", 0o700)
run("trusted again", False, "= 18.0\n")

place.write("w.flow", "let x = 1.5\nprint(x ?? 0.0)\n")
for what in "at first", "remembered":
    warned = place.run("run", "w.flow")
    check("warning W0001" in warned.stderr, f"{what}: a warning is given again", warned.stderr[-300:])
finish()
