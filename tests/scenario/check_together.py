#!/usr/bin/env python3
"""Scripts that are checked together share what they import of the library: each must say what it says when it is checked alone. All
scripts of the library, the examples and tests/diag in one command, and each in its own; forwards and backwards, as who comes first
parses. Prints "N passed, N failed"."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import scenario_kit as kit  # noqa: E402
from scenario_kit import ROOT, check  # noqa: E402

place = kit.Place()
scripts = [str(path.relative_to(ROOT)) for folder in ("stdlib", "examples", "tests/diag") for path in sorted((ROOT / folder).rglob("*.flow"))]
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
kit.finish()
