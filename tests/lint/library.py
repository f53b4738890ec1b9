#!/usr/bin/env python3
"""The public names of the modules in stdlib/ are those of the table under "Every name" in docs/library.md, no more and no fewer:
what a module has for itself begins with `_`. Prints "N passed, N failed". `--write` writes the table as the modules are: look at
what is new, whether it is meant for users, and has a doc comment."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish

PAGE = ROOT / "docs/library.md"
HEAD = "| module | every name |\n| --- | --- |\n"


def public(text):
    """Names that a module declares, in the order of the file."""
    found = re.findall(r"^(?:fn|stage|param|type|let|var|extern fn)\s+(\w+)", text, re.M)
    for pattern in re.findall(r"^let \(([^)]*)\)", text, re.M):
        found += re.findall(r"\w+", pattern)
    return [name for name in dict.fromkeys(found) if not name.startswith("_")]


def documented(page):
    """Module -> names, of the table."""
    rows = page.split(HEAD)[1].split("\n\n")[0].splitlines() if HEAD in page else []
    cells = [[re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", cell))) for cell in row.split("|")[1:3]] for row in rows]
    return {module[0]: names for module, names in cells}


def main():
    modules = {path.stem: public(path.read_text()) for path in sorted((ROOT / "stdlib").glob("?*.flow"))}
    listed = re.findall(r'^FL_MODULE\("(\w+)"\)', (ROOT / "compiler/sema/library.def").read_text(), re.M)
    check(listed == list(modules), f"library.def has the modules of stdlib/: {sorted(set(listed) ^ set(modules))}")
    page = PAGE.read_text()
    if "--write" in sys.argv:
        old = HEAD + page.split(HEAD)[1].split("\n\n")[0]
        PAGE.write_text(page.replace(old, HEAD + "\n".join(f"| `{m}` | `{' '.join(names)}` |" for m, names in modules.items())))
        return
    told = documented(page)
    for module in sorted(modules.keys() | told.keys()):
        have, want = set(modules.get(module, [])), set(told.get(module, []))
        for name in sorted(have | want):
            check(name in want, f"{module}.{name}, which is public, is in docs/library.md: begin it with `_`, or enter it there")
            check(name in have, f"{module}.{name}, of docs/library.md, is public in the module")
    check(len(modules) >= 20, "the modules of stdlib/ are found")
    finish()


main()
