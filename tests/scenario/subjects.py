"""Example 13, hundreds of fits: what the last stage asks may change, and only that stage runs again."""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish, stages

place = Place()
shutil.copy(ROOT / "examples/13_subjects.flow", place.path / "p.flow")
few = ("--subjects", "5", "--trials", "40")
count = 5 + 5 + 5 * 6 * 5 + 1  # record, bands, told, answer

first = place.run("run", "p.flow", *few)
check(first.returncode == 0 and stages(first) == (count, 0), "at first every stage runs", first.stderr)
again = place.run("run", "p.flow", *few)
check(stages(again) == (0, count) and again.stdout == first.stdout, "nothing changed: nothing runs", again.stderr)
asked = place.run("run", "p.flow", *few, "--level", "0.9")
check(stages(asked) == (1, count - 1), "another level: only the answer is computed", asked.stderr)
check(asked.stdout != first.stdout, "and it is another one", asked.stdout)
place.edit("p.flow", "mean = mean(accuracy), p =", "mean = mean(accuracy), worst = min(accuracy), p =")
edited = place.run("run", "p.flow", *few)
check(stages(edited) == (1, count - 1) and "worst" in edited.stdout, "another column of the answer: only that stage runs", edited.stderr)
more = place.run("run", "p.flow", "--subjects", "6", "--trials", "40")
check(stages(more) == (2 + 30 + 1, count - 1), "another subject: its own stages run, and the answer", more.stderr)
finish()
