#!/usr/bin/env python3
"""Every function of builtins.def is tried by the oracles of tests/oracle, or listed there with the reason why not.
Prints "N passed, N failed"."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish
sys.path.insert(0, str(ROOT / "tests/oracle"))
import features

rows = re.findall(r"^FL_TABLE_(READER|WRITER)\((\w+),", (ROOT / "runtime/include/flow/formats.def").read_text(), re.M)
of_formats = {("read_" if kind == "READER" else "write_") + name for kind, name in rows}  # tests/lint/formats.py asks for their tests
names = re.findall(r"^FL_[A-Z_]+\(([\w.]+),", (ROOT / "compiler/sema/builtins/builtins.def").read_text(), re.M)
for name in sorted({*names, *features.COVERED, *features.NOT_COVERED} - (of_formats - features.NOT_COVERED.keys())):
    places = [name in names, name in features.COVERED, name in features.NOT_COVERED]
    check(places in ([True, True, False], [True, False, True]),
          f"{name}, in builtins.def {places[0]}, is either COVERED ({places[1]}) or NOT_COVERED ({places[2]}) of tests/oracle/features.py")
finish()
