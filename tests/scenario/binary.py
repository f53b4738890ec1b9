"""A built binary by itself: help, options, errors, a machine with neither flowc nor LLVM."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

place = Place()
shutil.copytree(ROOT / "examples/data", place.path / "data")
shutil.copy(ROOT / "examples/03_penguins.flow", place.path)
built = place.run("build", "03_penguins.flow", "-o", "model")
check(built.returncode == 0, "the example builds", built.stderr)
expected = (ROOT / "examples/03_penguins.out").read_text()


def model(*args, **options):
    env = {"FLOW_CACHE": place.env["FLOW_CACHE"], "PATH": "/nonexistent"}
    return subprocess.run(["./model", *args], cwd=place.path, env=env, capture_output=True, text=True, **options)


done = model()
check(done.returncode == 0 and done.stdout == expected, "it prints what the script prints", done.stdout + done.stderr)
allowed = ["libc.so", "libm.so", "ld-linux", "linux-vdso", "statically", "not a dynamic"]
needed = subprocess.run(["ldd", "model"], cwd=place.path, capture_output=True, text=True).stdout
strange = [line for line in needed.splitlines()
           if not any(name in line for name in allowed)]
# With a sanitizer nothing is linked statically.
check(not strange or "FLOW_SANITIZE" in os.environ, "it needs nothing but libc", needed)
done = model("--help")
check(done.returncode == 0 and "--lambda" in done.stdout and "L2 penalty" in done.stdout, "--help lists the params", done.stdout)
done = model("--lamda", "0.2")
check(done.returncode == 2 and "--lambda" in done.stderr, "a misspelt option: status 2, a suggestion", done.stderr)
done = model("--lambda", "much")
check(done.returncode == 2 and "much" in done.stderr and "f64" in done.stderr, "a value of the wrong type: status 2", done.stderr)
done = model("--workers", "3")
check(done.returncode == 0 and done.stdout == expected, "--workers belongs to every binary", done.stderr)
(place.path / "data/penguins.csv").rename(place.path / "data/away.csv")
done = model()
check(done.returncode == 1 and "penguins.csv" in done.stderr, "a missing file: status 1, its name", done.stderr)
(place.path / "data/penguins.csv").write_text("species,island\nAdelie,Dream\n")
done = model()
check(done.returncode == 1 and "sex" in done.stderr or "bill_length_mm" in done.stderr, "a file without a column: named", done.stderr)
finish()
