"""Writes values.txt: what the libraries give for what the table "Same name, another meaning" of docs/cookbook.md says of them. Run by a
Python that has pandas, Polars, numpy and DuckDB: `build/peers/bin/python tests/scenario/same_names/make.py`."""
import pathlib
import re
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl

ROOT = pathlib.Path(__file__).resolve().parents[3]
nan = float("nan")
x, y, gaps, holes, flags = [10.0, 20.0, 20.0, 40.0], [1.0, 2.0, 4.0, 9.0], [3.0, None, 1.0], [1.0, nan, 3.0], [True, False, None]
t = pd.DataFrame({"k": ["b", "a", None, "b"], "v": [1, 2, 3, 4]})
names = {"pd": pd, "np": np, "pl": pl, "re": re, "x": x, "y": y, "gaps": gaps, "holes": holes, "flags": flags, "t": t, "d": pd.Timestamp("2026-05-10")}
# Each vector is a table of that name for DuckDB, with its positions; d and t.v alone.
frames = {name: pd.DataFrame({"i": range(len(values)), name: values}) for name, values in (("x", x), ("y", y), ("gaps", gaps), ("flags", flags))}
frames["gaps"]["gaps"] = frames["gaps"]["gaps"].astype("Float64")
frames["flags"]["flags"] = frames["flags"]["flags"].astype("boolean")


def asked(code):
    """What DuckDB gives for an expression: of a vector that it names, its rows in their order."""
    con = duckdb.connect()
    found = re.search(r"\b(x|y|gaps|flags)\b", re.sub(r"'[^']*'", "", code))
    frame = frames[found[1]] if found else t[["v"]] if "OVER" in code else pd.DataFrame({"one": [1]})
    con.register("frame", frame)
    rows = con.sql(f"SELECT {code.replace('(d)', '(DATE ' + chr(39) + '2026-05-10' + chr(39) + ')')} FROM frame").fetchall()
    values = [row[0] for row in rows]
    return values if "OVER" in code else values[0]


def shown(value):
    if isinstance(value, (pd.Series, pl.Series, np.ndarray)):
        value = value.to_list() if not isinstance(value, np.ndarray) else value.tolist()
    if isinstance(value, list):
        return "[" + ", ".join(shown(v) for v in value) + "]"
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return "null"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return str(value.item() if isinstance(value, np.generic) else value)


def main():
    page = (ROOT / "docs/cookbook.md").read_text().split("## Same name, another meaning")[1]
    lines = []
    for row in re.findall(r"^\| `.*\|$", page, re.M):
        elsewhere = row.split(" | ")[2]
        for whose, code in re.findall(r"(\w+) `([^`]*)`", elsewhere):
            value = asked(code) if whose == "DuckDB" else sqlite3.connect(":memory:").execute(f"SELECT {code}").fetchone()[0] if whose == "SQLite" else eval(code, names)
            lines.append(f"{whose} ## {code} ## {shown(value)}\n")
    (pathlib.Path(__file__).parent / "values.txt").write_text("".join(lines))


main()
