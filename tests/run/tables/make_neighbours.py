#!/usr/bin/env python3
"""Writes neighbours.flow and what it has to print: lag, lead, fill_down, fill_up and rolling functions over 140,000 rows, which are cut in
pieces, of groups few and many, by pandas.

    build/peers/bin/python tests/run/tables/make_neighbours.py

Each line is the sum of the values, weighted by their places, and how many are null; all numbers are whole."""
import pathlib

import numpy as np
import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
N = 140_000
I = np.arange(N, dtype=np.int64)
GROUPS = {"k7": (I * 7919 + I * I * 13) % 7, "k1000": (I * 31 + I // 3) % 1000, "runs": I // 70_000, "many": (I * 104729) % 90_001, "one": I * 0}
# Values, and which of them are there: nearly none, half, nearly all, none in the first 100,000.
VALUES = {"rare": I % 997 == 5, "half": (I * 7 + I // 5) % 2 == 0, "most": I % 50 != 7, "late": I >= 100_000}
X = (I * 7919) % 10_007

t = pd.DataFrame({**GROUPS, "x": X})
for name, there in VALUES.items():
    t[name] = pd.array(np.where(there, X, 0), dtype="Int64")
    t.loc[~there, name] = pd.NA

lines = ["# Neighbours and windows over many rows in pieces: written by make_neighbours.py", "# modes: compiled", f"let n = {N}",
         "let t = table(k7 = [for i in 0..n: (i * 7919 + i * i * 13) % 7], k1000 = [for i in 0..n: (i * 31 + i // 3) % 1000], runs = [for i in 0..n: i // 70000], "
         "many = [for i in 0..n: (i * 104729) % 90001], one = [for i in 0..n: i * 0], x = [for i in 0..n: (i * 7919) % 10007], rare = [for i in 0..n: if i % 997 == 5 { (i * 7919) % 10007 } else { null }], "
         "half = [for i in 0..n: if (i * 7 + i // 5) % 2 == 0 { (i * 7919) % 10007 } else { null }], most = [for i in 0..n: if i % 50 != 7 { (i * 7919) % 10007 } else { null }], "
         "late = [for i in 0..n: if i >= 100000 { (i * 7919) % 10007 } else { null }])",
         "fn shown(v: i64?[n]) -> text = \"{sum(for i in 0..n: (v[i] ?? 0) * (i % 1000 + 1))} {count(is_null(v))}\""]
wanted = []


def expect(code, values):
    v = pd.array(values, dtype="Int64")
    there = ~pd.isna(v)
    lines.append(f"print(shown({code}))")
    wanted.append(f"{int((np.where(there, v.to_numpy(dtype='int64', na_value=0), 0) * (I % 1000 + 1)).sum())} {int((~there).sum())}")


for by in GROUPS:
    for column in ("x", "half"):
        for call, k in (("lag", 1), ("lead", 1), ("lag", 2), ("lead", 5), ("lag", 0), ("lag", -1))[:2 if column == "half" else 6]:
            expect(f"(t |> derive(by = {by}, z = {call}({column}, {k}))).z", t.groupby(by)[column].shift(k if call == "lag" else -k).astype("Int64"))
    for column in VALUES:
        expect(f"(t |> group_by({by}) |> fill_down({column}) |> ungroup).{column}", t.groupby(by)[column].ffill())
        expect(f"(t |> group_by({by}) |> fill_up({column}) |> ungroup).{column}", t.groupby(by)[column].bfill())
for column in VALUES:
    expect(f"(t |> fill_down({column})).{column}", t[column].ffill())
    expect(f"(t |> fill_up({column})).{column}", t[column].bfill())
for width, least in ((1, 1), (4, 4), (4, 2), (7, 1)):
    rolled = t["x"].rolling(width, min_periods=least)
    expect(f"(t |> derive(z = rolling(x, {width}, v => max(v) - min(v), min_periods = {least}))).z", (rolled.max() - rolled.min()).astype("Int64"))
    some = t["most"].astype(float).rolling(width, min_periods=least)
    expect(f"(t |> derive(z = rolling(most, {width}, v => max(v) - min(v), min_periods = {least}))).z", (some.max() - some.min()).astype("Int64"))
(HERE / "neighbours.flow").write_text("\n".join(lines) + "\n")
(HERE / "neighbours.out").write_text("\n".join(wanted) + "\n")
