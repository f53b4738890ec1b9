"""Eight processes on the same stages at the same time: each stage is computed once, all print the same."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, STAGES, Place, check, finish

SCRIPT = """
stage slow(n: i64) -> f64 = sum(for i in 0..n: sin(f64(i)) * cos(f64(i)))
stage then(x: f64) -> f64 = x + 1.0
print("{then(slow(30_000_000)):.9f} {then(slow(20_000_000)):.9f}")
"""
place = Place(s__flow=SCRIPT)
runs = [place.start("run", "s.flow", "--workers", "1") for _ in range(8)]
done = [run.communicate(timeout=300 * PATIENCE) for run in runs]
check(all(run.returncode == 0 for run in runs), "all end well", done)
check(len({out for out, _ in done}) == 1 and done[0][0], "all print the same", done)
counts = [STAGES.search(err) for _, err in done]
check(all(counts) and sum(int(c[2]) for c in counts) == 4, "each of the four stages ran once", [err for _, err in done])
check(place.leftovers() == [], "no temporary files or locks are left", place.leftovers())
finish()
