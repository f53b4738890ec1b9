"""flowc explain of a script: nothing runs and nothing is written; the last run's stages are said; wrong words."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
place.write("main.flow", """param n: i64 = 10
@memo(always)
stage heavy(k: i64) -> f64 = sum(for i in 0..k: sqrt(f64(i)))
write_csv(table(x = [heavy(n), heavy(n + 1)]), "out/x.csv")
""")
done = place.run("explain", "main.flow")
check(done.returncode == 0 and "heavy: remembered\n" in done.stdout and "write_csv" in done.stdout, "a plan", done.stdout)
check(not (place.path / "out").exists() and not place.store_files(), "nothing ran")
place.run("run", "main.flow")
done = place.run("explain", "main.flow")
check("last run: 2 computed, 0 remembered" in done.stdout, "what the last run computed", done.stdout)
place.run("run", "main.flow")
done = place.run("explain", "main.flow")
check("last run: 0 computed, 2 remembered" in done.stdout, "what it remembered", done.stdout)
done = place.run("explain", "none.flow")
check(done.returncode == 2 and "cannot read none.flow" in done.stderr, "a script that is not there", done.stderr)
done = place.run("explain", "E0601")
check(done.returncode == 0 and done.stdout.startswith("# E0601"), "the page of a message", done.stdout)
done = place.run("explain", "main.flow", "E0601")
check(done.returncode == 2 and "usage" in done.stderr, "one at a time", done.stderr)
finish()
