"""A search over settings: every fit is remembered on its own, so a changed setting costs its own fits only."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish, stages

place = Place()
place.write("s.flow", """import linear, metrics
import model_selection as ms
let x = [for i in 0..200, j in 0..4: random(1, i, j)]
let y = [for i in 0..200: 3 * x[i, 0] - x[i, 2] + random(2, i)]
let settings = [for lambda in [0.01, 0.1, 1.0, 10.0], intercept in [true, false]: (lambda = lambda, intercept = intercept)]
let folds = ms.kfold(200, shuffle = true, seed = 1)
fn score(m, x: f64[n, d], y: f64[n]) -> f64 = metrics.r2(y, linear.predict(m, x))
let found = ms.grid_search(x, y, settings, (x, y, s) => linear.ridge(x, y, lambda = s.lambda, intercept = s.intercept), score, folds = folds)
show(found.results)
print("{found.setting.lambda} {found.model.intercept:.4f}")
""")
original = (place.path / "s.flow").read_text()


def expect(what, run, cached, *args):
    done = place.run("run", "s.flow", *args)
    check(done.returncode == 0 and stages(done) == (run, cached), f"{what}: {run} run, {cached} cached", done.stderr)
    return done.stdout


first = expect("8 settings of 5 folds, and the best of all rows", 41, 0)
check("true" in first and "0.01" in first, "the results are shown", first)
check(expect("nothing changed", 0, 41) == first, "the same output", first)
check(expect("one worker", 0, 41, "--workers", "1") == first, "the same output on one worker", first)

place.edit("s.flow", "10.0], intercept", "20.0], intercept")
changed = expect("another penalty: 2 settings of 5 folds", 10, 31)
check([line for line in changed.splitlines() if not line.startswith("20.0")][2:7] ==
      [line for line in first.splitlines() if not line.startswith("10.0")][2:7], "the other scores are the same", changed)
place.edit("s.flow", "20.0], intercept", "10.0, 20.0], intercept")
expect("both: all were there", 0, 51)

place.write("s.flow", original.replace("(x, y, s) =>", "(a, b, setting) =>")
            .replace("linear.ridge(x, y, lambda = s.lambda, intercept = s.intercept)",
                     "linear.ridge(a, b, intercept = setting.intercept, lambda = setting.lambda)"))
expect("other names, the same fit", 0, 41)

place.write("s.flow", original.replace("= metrics.r2", "= 2 * metrics.r2"))
expect("another score: all fits, but for the model of all rows where the same setting is best", 40, 1)
place.write("s.flow", original.replace("seed = 1", "seed = 2"))
expect("other folds: all but the model of all rows", 40, 1)
place.write("s.flow", original.replace("[0.01, 0.1,", "[0.1, 0.01,"))
other = expect("another order", 0, 41)
check(sorted(other.splitlines()[3:]) == sorted(first.splitlines()[3:]) and other != first, "the table follows the settings", other)
finish()
