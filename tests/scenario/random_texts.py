"""Random functions of texts in loops against Python (tests/random/texts.py), compiled, -O0, --interp, by several workers.

    random_texts.py [SEED ...]"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "random"))
from scenario_kit import Place, check, finish  # noqa: E402
from texts import script  # noqa: E402

FUNCTIONS = 12
place = Place()
for seed in [int(word) for word in sys.argv[1:]] or [1, 2, 3]:
    text, expected = script(seed, FUNCTIONS)
    place.write("texts.flow", text)
    for mode in ([], ["-O0"], ["--interp"], ["--workers", "4"]):
        done = place.run("run", *mode, "--no-cache", "--quiet", "texts.flow")
        got = done.stdout
        lines = zip(got.splitlines(), expected.splitlines())
        first = next((k for k, (a, b) in enumerate(lines) if a != b), None)
        check(got == expected, f"seed {seed}, {' '.join(mode) or 'compiled'}: the texts are Python's",
              f"status {done.returncode}, line {first}: {got.splitlines()[first][:300] if first is not None else done.stderr[-500:]}")
finish()
