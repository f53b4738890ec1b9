"""What runs again and what does not: example 03 after edits that mean something and edits that do not."""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish, stages

place = Place()
shutil.copytree(ROOT / "examples/data", place.path / "data")
shutil.copy(ROOT / "examples/03_penguins.flow", place.path / "p.flow")
original = (place.path / "p.flow").read_text()
data = (place.path / "data/penguins.csv").read_bytes()

first = place.run("run", "p.flow")
check(first.returncode == 0, "the example runs", first.stderr)
n = sum(stages(first) or (0, 0))
check(stages(first) == (n, 0) and n >= 3, "at first every stage runs", first.stderr)


def again(what, expected, same_output=True, args=(), how=()):
    done = place.run("run", *how, "p.flow", *args)
    check(done.returncode == 0 and stages(done) == expected, f"{what}: {expected} run and cached", done.stderr)
    if same_output:
        check(done.stdout == first.stdout, f"{what}: the same output", done.stdout)
    return done


again("nothing changed", (0, n))
place.edit("p.flow", "# Which penguins are male?", "# Another comment\n# Which penguins are male?")
again("a comment", (0, n))
place.edit("p.flow", "  let scaler = preprocess.standardise(x)\n  (scaler = scaler, model = linear.logistic(preprocess.apply(scaler, x)",
           "  let other_name = preprocess.standardise(x)\n\n  (scaler = other_name, model =   linear.logistic(preprocess.apply(other_name, x)")
again("a local's name and formatting", (0, n))
again("more workers", (0, n), args=("--workers", "3"))
again("unoptimised", (0, n), how=("-O0",))

place.edit("p.flow", 'adelie = if_else(species == "Adelie", 1.0, 0.0)', 'adelie = if_else(species == "Adelie", 2.0, 0.0)')
done = place.run("run", "p.flow")
check(done.returncode == 0 and stages(done) == (n, 0), "a constant in the first stage: all run", done.stderr)
place.write("p.flow", original)
again("back to the old text", (0, n))

done = place.run("run", "p.flow", "--lambda", "0.2")
check(done.returncode == 0 and stages(done) == (1, n - 1), "another penalty: only `train` runs", done.stderr)
again("back to the default", (0, n))

changed = data.replace(b"39.1", b"39.2", 1)
check(changed != data, "a byte of the data is changed")
(place.path / "data/penguins.csv").write_bytes(changed)
done = place.run("run", "p.flow")
check(done.returncode == 0 and stages(done) and stages(done)[0] >= 2, "a byte of the data: its stages run", done.stderr)
(place.path / "data/penguins.csv").write_bytes(data)
again("back to the old data", (0, n))

moved = Place()
shutil.copytree(place.path, moved.path, dirs_exist_ok=True)
check(moved.run("cache", "trust").returncode == 0, "the copy of the store is accepted")
done = moved.run("run", "p.flow")
check(done.stdout == first.stdout and stages(done) == (0, n), "in another folder: paths do not count", done.stderr)

# What a failed check would say names parameters and lines; neither is part of what a stage gives.
sized = "fn dot2(x: f64[n], y: f64[n]) -> f64 = sum(x * y)\nstage s(x: f64[n], k: i64) -> f64 = dot2(x, x[k..])\ns([1.0, 2.0], 0)\n"
place.write("sized.flow", sized)
check(stages(place.run("run", "sized.flow")) == (1, 0), "a stage with sizes to check runs")
place.write("sized.flow", "# moved down\n" + sized.replace("y: f64", "other: f64").replace("x * y", "x * other"))
done = place.run("run", "sized.flow")
check(stages(done) == (0, 1), "another line and parameter name in its checks: cached", done.stderr)

place.write("p.flow", original.replace("stage train(x", "stage train(x").replace("1.0, 0.0),\n", "1.0, 0.5),\n", 1))
why = place.run("why", "p.flow", "train")
check(why.returncode == 0 and "train" in why.stdout, "`flowc why` says something about a stage", why.stdout + why.stderr)
finish()
