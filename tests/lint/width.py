#!/usr/bin/env python3
"""No line of C is longer than .clang-format says, but rows of tables within comments, which it leaves as they are."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish

style = (ROOT / ".clang-format").read_text()
most = int(re.search(r"^ColumnLimit: (\d+)$", style, re.M)[1])
row = re.compile(re.search(r"^CommentPragmas: '(.*)'$", style, re.M)[1])
files = [path for folder in ("compiler", "runtime", "tests") for path in (ROOT / folder).rglob("*.[ch]")]
check(len(files) > 500, "the files are found", len(files))
for path in files:
    for number, line in enumerate(path.read_text().split("\n"), 1):
        within = re.match(r" *(/?\*+)(.*)", line)
        if len(line) > most and not (within and row.match(within[2])):
            check(False, f"{path.relative_to(ROOT)}:{number} has {len(line)} columns, and {most} are wanted: clang-format", line)
finish()
