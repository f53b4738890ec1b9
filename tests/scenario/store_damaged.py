"""A flipped byte or a cut anywhere in the store: a warning, a recompute, the right answer."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish, stages

SCRIPT = """
stage block(k: i64) -> f64[_] = [for i in 0..50: sqrt(f64(i * k))]
stage name(k: i64) -> text = "block {k}"
for k in 0..3 { print("{name(k)} {sum(block(k)):.6f}") }
"""
place = Place(s__flow=SCRIPT)
good = place.run("run", "s.flow")
check(good.returncode == 0 and stages(good) == (6, 0), "the script runs", good.stderr)
entries = [p for p in place.store_files() if "objects" in p.parts]
check(len(entries) == 6, "six entries", entries)
chance = random.Random(7)


def rerun(what):
    done = place.run("run", "s.flow")
    check(done.returncode == 0 and done.stdout == good.stdout, f"{what}: the right answer", done.stdout + done.stderr)
    check("warning" in done.stderr and stages(done) == (1, 5), f"{what}: a warning and one stage again", done.stderr)
    done = place.run("run", "s.flow")
    check(stages(done) == (0, 6) and "warning" not in done.stderr, f"{what}: repaired", done.stderr)


for entry in entries:
    whole = entry.read_bytes()
    for _ in range(4):
        at = chance.randrange(len(whole))
        entry.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1:])
        rerun(f"byte {at} of {len(whole)}")
    cut = chance.randrange(len(whole))
    entry.write_bytes(whole[:cut])
    rerun(f"cut at {cut}")

entries[0].write_bytes(b"")
entries[1].write_bytes(entries[2].read_bytes())
verify = place.run("cache", "verify")
check("2 damaged" in verify.stdout, "verify finds both", verify.stdout + verify.stderr)
check(place.run("cache", "ls").returncode == 0 and place.run("cache", "gc").returncode == 0, "ls and gc run")
clear = place.run("cache", "clear")
check(clear.returncode == 0 and not [p for p in place.store_files() if "objects" in p.parts], "clear empties the store")
done = place.run("run", "s.flow")
check(done.stdout == good.stdout and stages(done) == (6, 0), "after clear all run", done.stderr)
finish()
