"""peers/shapes.py: the peers' side of bench/shapes, in the folder of one shape: what rows.json names.

`make` writes the shape's data and prints what they are; `time` prints for each row and peer milliseconds of the processor and by the clock, the least of two calls; `compare`
prints the rows in which an answer of flow (opN.arrow, opN.npy) differs from that of a peer."""
import json
import pathlib
import sys
import time

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

import shapes_rows

given = json.load(open("rows.json"))
rows = [row for name in given["names"] for row in shapes_rows.ROWS if row[0] == name and row[1] == given["shape"]]


def read(name):
    return ipc.open_file(pa.memory_map(name + ".arrow")).read_all() if known[name] == "table" else np.load(name + ".npy")


def askers():
    """What calls each peer: of an expression or a query a function without arguments."""
    tables = {name: read(name) for name, what in known.items() if what == "table"}
    arrays = {name: np.load(name + ".npy") for name, what in known.items() if what == "npy"}
    con = duckdb.connect()
    con.execute("set threads = 1")
    for name, source in tables.items():
        con.execute(f"create table {name} as select * from source")
    plain = {name: {c: table[c].to_numpy() for c in table.column_names if not pa.types.is_string(table[c].type) and not table[c].null_count} for name, table in tables.items()}
    spaces = {"polars": {"pl": pl, "np": np, **{name: pl.from_arrow(table).rechunk() for name, table in tables.items()}},
              "pandas": {"pd": pd, "np": np, **{name: table.to_pandas() for name, table in tables.items()}}, "numpy": {"np": np, **plain, **arrays}}
    return {"duckdb": lambda text: lambda: con.sql(text).to_arrow_table(),
            **{who: lambda text, space=space: eval(f"lambda: {text}", space) for who, space in spaces.items()}}


def answer(value):
    """As a table, or an array of two dimensions or more."""
    if isinstance(value, pl.Series):
        value = value.to_frame()
    if isinstance(value, pl.DataFrame):
        return value.to_arrow()
    if isinstance(value, pd.Series):
        value = value.to_frame()
    if isinstance(value, pd.DataFrame):
        return pa.table({f"{k}": pa.array(value.iloc[:, k]) for k in range(value.shape[1])})
    if isinstance(value, pa.Table) or getattr(value, "ndim", 0) > 1:
        return value
    return pa.table({"x": pa.array(np.atleast_1d(value))})


def kind(value):
    if getattr(value, "ndim", 0) > 1 and isinstance(value, np.ndarray):
        return "npy"
    return "table" if isinstance(value, (pl.DataFrame, pd.DataFrame, pa.Table)) else "array" if isinstance(value, (pl.Series, pd.Series)) or getattr(value, "ndim", 0) else "scalar"


def plain(column):
    """Numbers as f64 with NaN for null, all else as text."""
    column = pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column
    if pa.types.is_temporal(column.type):
        return np.array(pc.cast(column, pa.date32()).to_numpy().astype(str), dtype=object)
    if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        return pc.cast(column, pa.float64(), safe=False).to_numpy().astype(float)
    return np.array(pc.fill_null(pc.cast(column, pa.string()), "\0").to_pylist(), dtype=object)


def same(found, expected, in_order):
    if isinstance(found, np.ndarray):
        return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-9, atol=1e-9)
    if (found.num_rows, found.num_columns) != (expected.num_rows, expected.num_columns):
        return False
    sides = [[plain(c) for c in table.columns] for table in (found, expected)]
    if not in_order:
        sides = [[c[k] for c in side] for side in sides for k in [np.lexsort([np.nan_to_num(c, nan=np.inf) if c.dtype == float else c.astype(str) for c in side[::-1]])]]
    return all(np.allclose(a, b, rtol=1e-9, atol=1e-9 * max(1, np.nanmax(np.abs(b), initial=0)), equal_nan=True) if b.dtype == float and a.dtype == float
               else np.array_equal(a, b) for a, b in zip(*sides))


def make():
    data = shapes_rows.DATA[given["shape"]]()
    for name, value in data.items():
        if isinstance(value, bytes):
            pathlib.Path(name).write_bytes(value)
        elif isinstance(value, pa.Table):
            with ipc.new_file(name + ".arrow", value.schema) as to:
                to.write_table(value)
        else:
            np.save(name + ".npy", value)
    known.update({name: "table" if isinstance(value, pa.Table) else "npy" for name, value in data.items() if not isinstance(value, bytes)})
    json.dump(known, open("known.json", "w"))
    ask = askers()
    kinds = [kind(next(ask[who](text)() for who, text in sorted(row[3].items(), key=lambda peer: peer[0] == "duckdb"))) for row in rows]
    return {"data": [(name, 1 if known[name] == "table" else data[name].ndim) for name in known], "tables": [n for n in known if known[n] == "table"], "kinds": kinds}


def timed():
    ask, found = askers(), []
    for row in rows:
        found.append({})
        for who, text in row[3].items():
            call, least = ask[who](text), (np.inf, np.inf)
            for _ in range(2):
                work, clock = time.process_time(), time.perf_counter()
                value = call()
                least = min(least[0], time.process_time() - work), min(least[1], time.perf_counter() - clock)
                del value
            found[-1][who] = [1000 * t for t in least]
    return found


def compared():
    ask, wrong = askers(), []
    for k, row in enumerate(rows):
        for who, text in row[3].items():
            expected = answer(ask[who](text)())
            found = np.load(f"op{k}.npy") if isinstance(expected, np.ndarray) else ipc.open_file(f"op{k}.arrow").read_all()
            if not same(found, expected, len(row) < 5):
                wrong.append(f"{row[0]} beside {who}")
                print(found.shape, str(found)[:600], expected.shape, str(expected)[:600], sep="\n", file=sys.stderr)
    return wrong


known = {} if sys.argv[1] == "make" else json.load(open("known.json"))
print(json.dumps({"make": make, "time": timed, "compare": compared}[sys.argv[1]]()))
