#!/usr/bin/env python3
"""Names that functions have elsewhere (compiler/sema/foreign.def): none is there twice or is one of flow's own, and
each stands for one of these. Prints "N passed, N failed"."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish

text = (ROOT / "compiler/sema/builtins/builtins.def").read_text()
own = set(re.findall(r"^FL_[A-Z_]+\(([\w.]+), \"", text, re.M))
for way, name in re.findall(r"FL_TABLE_(READ|WRIT)ER\((\w+),", (ROOT / "runtime/include/flow/formats.def").read_text()):
    own.add({"READ": "read_", "WRIT": "write_"}[way] + name)
rows = re.findall(r"^FL_FOREIGN(_FORM)?\((\w+), (?:(\w+)|\"(.*)\")\)$", (ROOT / "compiler/sema/foreign.def").read_text(), re.M)
check(len(rows) > 50, "the table is read")
for form, name, meant, _ in rows:
    check(name not in own, f"`{name}` is a function of flow")
    check(bool(form) or meant in own, f"`{meant}`, for `{name}`, is no function of flow")
    check(sum(r[1] == name for r in rows) == 1, f"`{name}` is there twice")
finish()
