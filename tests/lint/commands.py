#!/usr/bin/env python3
"""Tables that say one thing in several places: every getenv of the tree is a row of environment.def, which is the table of docs/commands.md; every
command and option of commands.def is on that page. Prints "N passed, N failed"."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish

page = (ROOT / "docs/commands.md").read_text()
rows = dict(re.findall(r'^FL_ENVIRONMENT\("(\w+)", ("[^"]*", "[^"]*")\)', (ROOT / "runtime/base/environment.def").read_text(), re.M))
shown = {name: f'"{readers}", "{means}"' for name, readers, means in re.findall(r"^\| `([A-Z_]+)` \| (.*?) \| (.*?) \|$", page, re.M)}
check(rows and rows == shown, f"docs/commands.md has the rows of environment.def: {sorted(set(rows.items()) ^ set(shown.items()))}")
check(list(rows) == sorted(rows), "the rows are sorted")
read = {}
for path in [p for top in ("compiler", "runtime") for p in sorted((ROOT / top).rglob("*")) if p.suffix in {".c", ".h", ".re", ".y", ".inc"}]:
    for call in re.findall(r"\b(?:secure_)?getenv\s*\(([^)]*)\)", path.read_text()):
        read.setdefault(call.strip(), []).append(str(path.relative_to(ROOT)))
read.pop("z", None)  # env("NAME") of scripts: runtime/exec/outside.c
for call, where in sorted(read.items()):
    name = call.strip('"')
    check(call == f'"{name}"' and name in rows, f"{where}: getenv({call}) is a row of environment.def")
for name in rows:
    check(f'"{name}"' in read, f"{name} of environment.def is read somewhere")
table = (ROOT / "compiler/cli/commands.def").read_text()
for name in re.findall(r'^FL_COMMAND\(\w+, "(\w+)"', table, re.M):
    check(re.search(rf"^\| `{name}\b", page, re.M), f"docs/commands.md: the command {name}")
for option in re.findall(r'^FL_FLAG\(\w+, [^"]*"(-[\w-]+)"', table, re.M):
    check(option in page, f"docs/commands.md: the option {option}")
finish()
