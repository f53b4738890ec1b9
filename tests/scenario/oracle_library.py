"""Random calls of the library on awkward data give what models in Python give (tests/oracle/library.py): interpreted and compiled.

usage: oracle_library.py; more and other calls: python3 tests/oracle/library.py --count 4000 --seed 7 --ways interp,O0,compiled
"""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / name) for name in ("", "oracle")]
import library
from scenario_kit import check, finish

for seed, ways, each in ((1, ["interp"], 4), (2, ["compiled"], 1)):
    count = each * len(library.KINDS)
    passed, differences = library.tried(count, seed, ways)
    for difference in differences:
        check(False, "the library and the models agree", difference)
    check(passed == count, f"{count} cases agree", passed)
finish()
