#!/usr/bin/env python3
"""Scripts that are checked together share what they import of the library: each must say what it says when it is checked alone. All
scripts of the library, the examples and tests/diag in one command, and each in its own; forwards and backwards, as who comes first
parses. Prints "N passed, N failed"."""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import scenario_kit as kit  # noqa: E402
from scenario_kit import ROOT, check  # noqa: E402

place = kit.Place()
scripts = [str(path.relative_to(ROOT)) for folder in ("stdlib", "examples", "tests/diag") for path in sorted((ROOT / folder).rglob("?*.flow"))]
if kit.SHORT:
    scripts = scripts[:60] + scripts[60::7]
# What is imported twice, by its path and as the library's, and by a script that is itself the library's.
place.write("by_path.flow", f'import "{ROOT}/stdlib/checks.flow"\nprint(len(checks.column_name(["a"], 0)))\nprint(checks.nothing)\n')
place.write("by_name.flow", 'import metrics\nprint(metrics.accuracy([true], [1]))\nprint(metrics.nothing)\n')
scripts += [str(place.path / "by_path.flow"), str(place.path / "by_name.flow"), str(place.path / "by_path.flow")]


def said(*paths):
    done = subprocess.run([kit.FLOWC, "check", "--json", *paths], cwd=ROOT, env=place.env, capture_output=True, text=True)
    found = json.loads(done.stdout)["results"]
    return {one["file"]: {key: value for key, value in one.items() if key != "seconds"} for one in found}


alone = {}
for path in scripts:
    alone.update(said(path))
for name, order in (("together", scripts), ("backwards", scripts[::-1])):
    found = said(*order)
    check(found.keys() == alone.keys(), f"{name}: all scripts are there")
    for path, one in alone.items():
        check(found.get(path) == one, f"{name}: {path} says what it says alone", f"{found.get(path)}\nalone {one}")
check(any(one["messages"] for one in alone.values()) and any(not one["status"] for one in alone.values()), "some have messages, some have none")

# A library with errors of syntax, of meaning, and in what others import: each file says, by the path that was given, what it says alone.
home = pathlib.Path(place.path) / "home"
(home / "build").mkdir(parents=True)
shutil.copy(kit.FLOWC, home / "build" / "flowc")
shutil.copytree(ROOT / "stdlib", home / "stdlib")
for name, wrong in (("checks", "fn wrong(x: i64) -> i64 = x + nothing_here\nlet sum_of = 1 + \"a\"\n"), ("metrics", "fn wrong(x: i64) = = x\n"),
                    ("stats", "let unused = nothing_at_all\n")):
    with open(home / "stdlib" / f"{name}.flow", "a") as file:
        file.write("\n" + wrong)
(home / "user.flow").write_text("import checks, stats\nprint(checks.nothing)\nprint(1 + true)\n")
(home / "link.flow").symlink_to(home / "stdlib" / "checks.flow")
names = [f"stdlib/{path.name}" for path in sorted((home / "stdlib").glob("?*.flow"))] + ["user.flow"]
other_names = ["./stdlib/../stdlib/stats.flow" if name.endswith("stats.flow") else "link.flow" if name.endswith("checks.flow") else name for name in names]


def texts(*paths):
    return subprocess.run([home / "build" / "flowc", "check", *paths], cwd=home, env=place.env, capture_output=True, text=True).stderr


for order in (names, names[::-1], other_names):
    apart = "".join(texts(name) for name in order)
    check(texts(*order) == apart and "nothing_here" in apart and "stdlib/metrics.flow:" in apart, "a library with errors says what it says alone",
          f"{texts(*order)}\nalone\n{apart}")
kit.finish()
