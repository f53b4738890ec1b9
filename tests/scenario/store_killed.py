"""200 (short: 20) runs killed at random moments, then one that is not: right answer, a store that verifies, no leftovers."""
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish, stages

SCRIPT = """
param base: i64 = 0
stage block(k: i64, n: i64) -> f64[n] = [for i in 0..n: sqrt(f64(i + k))]
stage total(x: f64[n]) -> f64 = sum(x)
let parts = [for k in 0..12: total(block(base + k, 20000))]
print("{sum(parts):.6f}")
"""
KILLS = 20 if SHORT else 200

place = Place(s__flow=SCRIPT)
calm = place.run("run", "s.flow", "--base", "1000000")
check(calm.returncode == 0, "the script runs", calm.stderr)
chance = random.Random(1)
started = time.monotonic()
place.run("run", "s.flow", "--base", "2000000")
span = time.monotonic() - started  # how long a run takes: kills fall anywhere within

for i in range(KILLS):
    run = place.start("run", "s.flow", "--base", str(100 * (i // 4)))
    time.sleep(chance.random() * span)
    run.kill()
    run.communicate()

for base in (0, 100 * ((KILLS - 1) // 4), 1000000):
    done = place.run("run", "s.flow", "--base", str(base))
    fresh = Place(s__flow=SCRIPT).run("run", "s.flow", "--base", str(base))
    check(done.returncode == 0 and done.stdout == fresh.stdout != "", f"base {base}: the right answer", done.stderr)
    check("warning" not in done.stderr, f"base {base}: no warning", done.stderr)
check(stages(done) == (0, 24), "what was finished before is still remembered", done.stderr)
check(place.leftovers() == [], "no temporary files or locks are left", place.leftovers())
verify = place.run("cache", "verify")
check(verify.returncode == 0 and "0 damaged" in verify.stdout, "the store verifies", verify.stdout + verify.stderr)
finish()
