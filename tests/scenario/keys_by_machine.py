"""Products by BLAS have the bits of one class of processor: stages with them, also in what they call, are computed again where
OpenBLAS has other kernels; no other stage is."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish, stages

place = Place(s__flow="""fn product(n: i64) -> f64[_, _] { let a = uniform(1, n, n)
  a @ a }
stage inner(n: i64) -> f64 = sum(product(n))
stage above(n: i64) -> f64 = inner(n) + 1
stage none(n: i64) -> f64 = sum(uniform(1, n))
print("{above(40) + inner(30):.6f} {none(9):.6f}")
""")
place.env["OPENBLAS_CORETYPE"] = "Prescott"
first = place.run("run", "s.flow")
check(first.returncode == 0 and stages(first) == (4, 0), "at first all run", first.stderr)
check(stages(place.run("run", "s.flow")) == (0, 3), "all are remembered")
place.env["OPENBLAS_CORETYPE"] = "Nehalem"
for mode in [], ["--interp"]:
    other = place.run("run", *mode, "s.flow")
    check(other.stdout == first.stdout, "the same to six digits", other.stdout)
    check(stages(other) == ((0, 3) if mode else (3, 1)), f"other kernels: products again, once {mode}", other.stderr)
check(place.run("build", "s.flow", "-o", "binary").returncode == 0, "a binary is built")
here = str(place.path / "binary")
for core, expected in ("Nehalem", (0, 3)), ("Prescott", (0, 3)), ("Core2", (3, 1)):
    place.env["OPENBLAS_CORETYPE"] = core
    done = subprocess.run([here], cwd=place.path, env=place.env, capture_output=True, text=True)
    check(stages(done) == expected, f"a binary with the kernels of {core}: {expected}", done.stderr)
finish()
