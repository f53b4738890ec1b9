"""Random pipelines of tables give what a model in Python says (tests/oracle/oracle.py): interpreted, at -O0, optimised.

usage: oracle_pipelines.py; more and other programs: python3 tests/oracle/oracle.py pipelines --count 30000 --seed 7
"""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / name) for name in ("", "oracle")]
import features
import oracle
from scenario_kit import ALL, SHARD, SHARDS, SHORT, check, finish

# shards: 4

COUNT = 1000 if ALL else 200 if SHORT else 700
passed, differences, used = oracle.tried("pipelines", COUNT, seed=14, part=(SHARD, SHARDS))
for difference in differences:
    check(False, "flow and the model agree", difference)
check(passed >= COUNT // SHARDS * 3 // 4, f"{COUNT} pipelines were tried", passed)
if not SHORT and SHARD == 0:
    covered = [name for name, where in features.COVERED.items() if "pipelines" in where]
    missing = [name for name in covered if name not in {*used, *features.IMPLICIT}]
    check(len(missing) < len(covered) / 20, "functions that count as covered occur, but for a few by chance", ", ".join(missing))
finish()
