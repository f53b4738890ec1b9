#!/usr/bin/env python3
"""Every function of builtins.def is tried by the oracles of tests/oracle, or listed there with the reason why not.
Prints "N passed, N failed"."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/oracle"))
import features

passed = failed = 0
rows = re.findall(r"^FL_TABLE_(READER|WRITER)\((\w+),", (ROOT / "runtime/include/flow/formats.def").read_text(), re.M)
of_formats = {("read_" if kind == "READER" else "write_") + name for kind, name in rows}  # tests/lint/formats.py asks for their tests
names = re.findall(r"^FL_[A-Z_]+\(([\w.]+),", (ROOT / "compiler/sema/builtins/builtins.def").read_text(), re.M)
for name in sorted({*names, *features.COVERED, *features.NOT_COVERED} - (of_formats - features.NOT_COVERED.keys())):
    places = [name in names, name in features.COVERED, name in features.NOT_COVERED]
    if places in ([True, True, False], [True, False, True]):
        passed += 1
        continue
    failed += 1
    print(f"{name}: in builtins.def {places[0]}, COVERED {places[1]}, NOT_COVERED {places[2]} (tests/oracle/features.py)")
print(f"{passed} passed, {failed} failed")
raise SystemExit(failed != 0)
