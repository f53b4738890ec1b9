#!/usr/bin/env python3
"""Every builtin that takes arrays stands in an expression of tests/groups, so that none reads past its group unseen.

In: the rows of builtins.def by their kind, the scripts of tests/groups. Builtins that act on something else are named here.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish

NOT_THERE = {
    "a file, or what was read": "file files sql read_npy "
    "read_npz read_image read_wav read_hdf5 read_mat load exec",
    "an effect": "now today env print show write_plot write_json write_jsonl write_npy write_bytes write_npz write_image save note",
    "a table": "join join_asof split kfold describe complete plot.scatter plot.line plot.bar plot.hist plot.layers",
    "columns of a verb": "numeric cols except",
    "what was found before": "nearest_moved",
    "an array that is checked and handed back": "expect_columns expect_labels expect_probabilities",
    "a number": "subseed",
}


def main():
    rows = re.findall(r"^FL_([A-Z_]+)\(([\w.]+), ", (ROOT / "compiler/sema/builtins/builtins.def").read_text(), flags=re.M)
    scripts = "".join(path.read_text() for path in sorted((ROOT / "tests/groups").glob("?*.flow")))
    words = set(re.findall(r"[a-z_]\w*", scripts))
    left_out = set(" ".join(NOT_THERE.values()).split())
    of_arrays = [name for kind, name in rows if kind in ("BUILTIN", "COLUMNS", "AGGREGATE", "AGGREGATE_VERB", "WINDOW", "NAMING",
                                                         "NAMING_COLUMNS")]
    for name in of_arrays:
        check(name in words | left_out, f"`{name}` takes arrays: it stands in a row of tests/groups/generate.py")
    for name in sorted(left_out):
        check(name in {name for _, name in rows}, f"`{name}`, to be left out, is a builtin")
    check(len(of_arrays) >= 80, "the builtins of arrays are found")
    finish()


main()
