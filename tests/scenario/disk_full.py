"""No space for the store, or for an output: the run ends right, or with status 4 and a clear message, and leaves
nothing half-written."""
import pathlib
import resource
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

SCRIPT = """
stage block(k: i64) -> f64[_] = [for i in 0..100_000: sqrt(f64(i + k))]
print("{sum(block(1)) + sum(block(2)):.6f}")
"""
WRITER = """
let t = table(x = [for i in 0..200_000: sqrt(f64(i))])
write_csv(t, "small/out.csv")
print("written")
"""


def small_files():
    """As a full disk: no file grows beyond 64 KiB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))


good = Place(s__flow=SCRIPT).run("run", "s.flow")
check(good.returncode == 0, "the script runs", good.stderr)

place = Place(s__flow=SCRIPT)
done = place.run("run", "--interp", "s.flow", preexec_fn=small_files)
check(done.returncode == 0 and done.stdout == good.stdout, "files are limited: the right answer", done.stderr)
check("no space" in done.stderr, "files are limited: a warning", done.stderr)
check(place.leftovers() == [], "files are limited: nothing is left", place.leftovers())

place = Place(w__flow=WRITER)
(place.path / "small").mkdir()
mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "flow-test", str(place.path / "small")],
                         capture_output=True).returncode == 0
try:
    if mounted:
        done = place.run("run", "w.flow")
    else:
        done = place.run("run", "--interp", "w.flow", preexec_fn=small_files)
    check(done.returncode == 4 and "written" not in done.stdout, "a full disk: status 4", (done.returncode, done.stderr))
    check("out.csv" in done.stderr, "a full disk: the message names the file", done.stderr)
    check(list((place.path / "small").iterdir()) == [], "a full disk: no half-written file")
    if mounted:
        place.write("s.flow", SCRIPT)
        place.env["FLOW_CACHE"] = str(place.path / "small/store")
        done = place.run("run", "s.flow")
        check(done.returncode == 0 and done.stdout == good.stdout, "a full store: the right answer", done.stderr)
finally:
    if mounted:
        subprocess.run(["umount", str(place.path / "small")], check=True)
finish()
