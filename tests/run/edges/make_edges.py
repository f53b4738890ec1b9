#!/usr/bin/env python3
"""Type x format x edge value: files that other programs write, a script for each format that prints every value, and what
it prints. Run here with pyarrow, NumPy and SciPy: python3 make_edges.py. Each value is what Python holds; what a
format does not have is left out of its files."""
import csv
import datetime as dt
import json
import pathlib
import sqlite3
import struct

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import scipy.io

HERE = pathlib.Path(__file__).parent
DATA = HERE / "data"
DATA.mkdir(exist_ok=True)
INF, NAN = float("inf"), float("nan")
F32 = lambda x: struct.unpack("f", struct.pack("f", x))[0]

# name: (flow's type, values of one length); a column `name_n` holds the same with the third value null
COLUMNS = {
    "b": ("bool", [True, False, True, False, True, False]),
    **{f"i{n}": (f"i{n}", [0, 1, -1, 2**(n - 1) - 1, -2**(n - 1), 100]) for n in (8, 16, 32, 64)},
    **{f"u{n}": (f"u{n}", [0, 1, 2, 2**n - 1, 2**(n - 1), 100]) for n in (8, 16, 32, 64)},
    "past": ("i64", [2**53 + 1, -2**53 - 1, 2**53, 2**62 + 1, -2**62 - 1, 9007199254740995]),
    "f32": ("f32", [0.0, -0.0, F32(0.1), F32(3.4028234663852886e38), F32(1e-45), F32(65537.0)]),
    "f64": ("f64", [0.0, -0.0, 0.1, 1.7976931348623157e308, 5e-324, 9007199254740992.0]),
    "odd": ("f64", [NAN, INF, -INF, -0.0, 2.2250738585072014e-308, -1.5]),
    "odd32": ("f32", [NAN, INF, -INF, -0.0, F32(1.1754943508222875e-38), -1.5]),
    "s": ("text", ["", "plain", "ä€😀", 'q"u,o;t\'e', "two\nlines\tand\\", " blanks "]),
    "words": ("text", ["NA", "null", "NaN", "true", "1", "2020-01-01"]),
    "d": ("date", [dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2000, 2, 29), dt.date(1582, 10, 15)]),
    "t": ("datetime", [dt.datetime(1970, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999),
                       dt.datetime(2026, 1, 5, 1, 2, 3), dt.datetime(2000, 2, 29, 0, 0, 0, 1)]),
    "w": ("duration", [dt.timedelta(0), dt.timedelta(microseconds=-1), dt.timedelta(days=1), dt.timedelta(microseconds=2**62), dt.timedelta(microseconds=-2**62), dt.timedelta(seconds=1)]),
}
ARROW = {"bool": pa.bool_(), "text": pa.string(), "f32": pa.float32(), "f64": pa.float64(), "date": pa.date32(), "datetime": pa.timestamp("us"),
         "duration": pa.duration("us"), **{f"i{n}": getattr(pa, f"int{n}")() for n in (8, 16, 32, 64)}, **{f"u{n}": getattr(pa, f"uint{n}")() for n in (8, 16, 32, 64)}}
NUMPY = {"bool": "?", "f32": "f4", "f64": "f8", "date": "M8[D]", "datetime": "M8[us]", "duration": "m8[us]", **{f"{k}{n}": f"{k}{n // 8}" for k in "iu" for n in (8, 16, 32, 64)}}


def with_null(values):
    return [None if k == 2 else v for k, v in enumerate(values)]


def shown(x, kind):
    """As flow prints it."""
    if x is None:
        return "null"
    if kind == "bool":
        return "true" if x else "false"
    if kind in ("f32", "f64"):
        text = str(np.float32(x)) if kind == "f32" else repr(float(x))
        return text if "e" not in text else text.split("e")[0].removesuffix(".0") + "e" + str(int(text.split("e")[1]))
    if kind == "date":
        return x.isoformat()
    if kind == "datetime":
        return x.isoformat() + "Z"
    if kind == "duration":
        micros = x // dt.timedelta(microseconds=1)
        days, rest = divmod(abs(micros), 86400000000)
        clock = f"{rest // 3600000000:02}:{rest // 60000000 % 60:02}:{rest // 1000000 % 60:02}"
        clock += f".{rest % 1000000:06}".rstrip("0") if rest % 1000000 else ""
        return ("-" if micros < 0 else "") + (f"{days}d " if days else "") + clock
    return str(x)


class Script:
    def __init__(self, name, read, needs=""):
        self.name, self.out = name, []
        self.lines = ([f"# needs: {needs}"] if needs else []) + ["# Edge values of every type that the format has: written by make_edges.py", f"let t = {read}"]

    def column(self, name, kind, values):
        self.lines.append(f'print("{name}: " + join_text([for x in t.{name}: "{{x}}"], "|"))')
        self.out.append(f"{name}: " + "|".join(shown(v, kind) for v in values))

    def write(self):
        (HERE / f"{self.name}.flow").write_text("\n".join(self.lines) + "\n")
        (HERE / f"{self.name}.out").write_text("\n".join(self.out) + "\n")


def arrow_table():
    columns = {}
    for name, (kind, values) in COLUMNS.items():
        columns[name] = pa.array(values, ARROW[kind])
        columns[name + "_n"] = pa.array(with_null(values), ARROW[kind])
    return pa.table(columns)


def every(script, without=(), also=lambda name, kind: kind):
    for name, (kind, values) in COLUMNS.items():
        if kind in without or name in without:
            continue
        script.column(name, also(name, kind), values)
        script.column(name + "_n", also(name, kind), with_null(values))
    script.write()


table = arrow_table()
for name, stream, codec in (("arrow_file", False, None), ("arrow_stream", True, "zstd")):
    path = DATA / f"{name}.arrow"
    with (ipc.new_stream if stream else ipc.new_file)(path, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as out:
        out.write_table(table)
    every(Script(name, f'read_arrow("data/{path.name}")'))
pq.write_table(table.drop_columns(["w", "w_n"]), DATA / "edges.parquet")
every(Script("parquet", 'read_parquet("data/edges.parquet")', "duckdb"), {"duration"})

# JSON: numbers without nan; integers beyond i64 by types; f32 by types
rows = [{} for _ in range(6)]
kept = [n for n in COLUMNS if not n.startswith("odd") and n != "w"]
for name in kept:
    kind, values = COLUMNS[name]
    for suffix, column in (("", values), ("_n", with_null(values))):
        for row, v in zip(rows, column):
            row[name + suffix] = shown(v, kind) if kind in ("date", "datetime") and v is not None else v
types = ", ".join(f"{n}: {COLUMNS[n][0]}, {n}_n: {COLUMNS[n][0]}?" for n in kept if COLUMNS[n][0] not in ("bool", "i64", "f64", "text", "date", "datetime"))
types += ", words: text, words_n: text?"
(DATA / "edges.json").write_text(json.dumps(rows, ensure_ascii=True, indent=1))
(DATA / "edges.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
for name in ("json", "jsonl"):
    every(Script(name, f'read_{name}("data/edges.{name}", types = ({types}))'), {"odd", "odd32", "w"})

# CSV: written by Python's csv; nulls are empty fields, and so are empty texts of it
kept = [n for n in COLUMNS if n not in ("w", "words", "s")]
with open(DATA / "edges.csv", "w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow([c for n in kept for c in (n, n + "_n")])
    for k in range(6):
        writer.writerow(["" if v is None else repr(float(v)) if COLUMNS[n][0] == "f64" else str(np.float32(v)) if COLUMNS[n][0] == "f32" else shown(v, COLUMNS[n][0]) for n in kept
                         for v in (COLUMNS[n][1][k], with_null(COLUMNS[n][1])[k])])
types = ", ".join(f"{n}: {COLUMNS[n][0]}, {n}_n: {COLUMNS[n][0]}?" for n in kept if COLUMNS[n][0] not in ("bool", "i64", "f64", "date", "datetime"))
every(Script("csv", f'read_csv("data/edges.csv", types = ({types}))'), {"w", "words", "s"})

# SQLite: integers of i64, doubles without nan (NULL) and -0.0 (0.0), times as texts
kept = [n for n in COLUMNS if n not in ("u64", "odd", "odd32", "w", "f64", "f32")]
(DATA / "edges.db").unlink(missing_ok=True)
db = sqlite3.connect(DATA / "edges.db")
declared = {"bool": "bool", "text": "text", "date": "date", "datetime": "datetime", "f64": "real", "f32": "real"}
db.execute("create table t (" + ", ".join(f"{c} {declared.get(COLUMNS[n][0], 'int')}" for n in kept + ["real"] if n != "real" for c in (n, n + "_n")) + ", x real)")
REAL = [0.1, 1.7976931348623157e308, 5e-324, 9007199254740992.0, INF, -INF]
for k in range(6):
    row = [shown(v, COLUMNS[n][0]) if COLUMNS[n][0] in ("date", "datetime") and v is not None else v for n in kept
           for v in (COLUMNS[n][1][k], with_null(COLUMNS[n][1])[k])]
    db.execute("insert into t values (" + ", ".join("?" * (len(row) + 1)) + ")", row + [REAL[k]])
db.commit()
db.close()
script = Script("sqlite", 'read_sqlite("data/edges.db")')
script.column("x", "f64", REAL)
every(script, {"u64", "odd", "odd32", "w", "f64", "f32"}, lambda name, kind: kind)

# NPZ: arrays of every type, of both byte orders
arrays = {}
script = Script("npz", 'read_npz("data/edges.npz")')
for name, (kind, values) in COLUMNS.items():
    if kind == "text":
        arrays[name] = np.array(values, "U")
        script.column(name, kind, values)
        continue
    arrays[name] = np.array(values, NUMPY[kind])
    script.column(name, kind, values)
    if len(NUMPY[kind]) > 1 and kind not in ("i8", "u8"):
        arrays[name + "_big"] = arrays[name].astype(arrays[name].dtype.newbyteorder(">"))
        script.column(name + "_big", kind, values)
    if kind in ("date", "datetime", "duration"):
        arrays[name + "_n"] = np.array(["NaT" if v is None else v for v in with_null(values)], NUMPY[kind]) if kind != "duration" else \
            np.where(np.arange(6) == 2, np.timedelta64("NaT", "us"), arrays[name])
        script.column(name + "_n", kind, with_null(values))
np.savez_compressed(DATA / "edges.npz", **arrays)
script.write()

# MATLAB: numbers
script = Script("mat", 'read_mat("data/edges.mat")')
numbers = {name: np.array(values, NUMPY[kind]).reshape(1, -1) for name, (kind, values) in COLUMNS.items() if kind[0] in "iuf"}
scipy.io.savemat(DATA / "edges.mat", numbers, do_compression=True)
for name, (kind, values) in COLUMNS.items():
    if kind[0] in "iuf":
        script.lines.append(f'print("{name}: " + join_text([for x in t.{name}[0, :]: "{{x}}"], "|"))')
        script.out.append(f"{name}: " + "|".join(shown(v, kind) for v in values))
script.write()
