#!/usr/bin/env python3
"""Decimals: random expressions and tables are what Python's whole numbers say (tests/oracle/decimals.py), in every way of running;
what overflows, or loses a digit, stops.

# seconds: 25"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
import decimals
from scenario_kit import ALL, FLOWC, SHORT, check, finish

for seed in range(12 if ALL else 3 if SHORT else 6):
    found = decimals.try_case(FLOWC, seed)
    check(not isinstance(found, str), "random expressions", found)
for seed in range(12 if ALL else 3 if SHORT else 6):
    found = decimals.try_table(FLOWC, seed, 150, True)
    check(not isinstance(found, str), "random tables", found)
found = decimals.try_table(FLOWC, 1, 150_000, False)
check(not isinstance(found, str), "a file that is read part by part", found)
finish()
