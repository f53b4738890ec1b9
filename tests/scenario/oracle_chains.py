#!/usr/bin/env python3
"""Random pipelines of joins, filters and dictionary-encoded columns give what DuckDB says, in every order of their joins, and
whichever of these look before others for what they drop (tests/oracle/chains.py). Needs duckdb and pyarrow: build/peers, or any other.

usage: oracle_chains.py; more and others: build/peers/bin/python tests/oracle/chains.py --count 20000 --seed 7
"""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / name) for name in ("", "oracle")]
from scenario_kit import SHARD, SHARDS, SHORT, check, finish, needs

# shards: 2

needs(__file__, "duckdb", "pyarrow")

import chains

COUNT = 200 if SHORT else 1000
passed, differences, written, rows = chains.tried(COUNT, seed=17, part=(SHARD, SHARDS), choices=1)
for difference in differences:
    check(False, "flow and DuckDB agree", difference)
check(passed >= COUNT // SHARDS * 3 // 4, f"{COUNT} pipelines were tried", passed)
check(written > passed * 3 // 2 and rows > 10 * written, "in several orders, and with rows", f"{written} orders, {rows} rows")
finish()
