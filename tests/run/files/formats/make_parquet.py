# Parquet files of all types that are read without DuckDB, in the codecs and pages that they come in: python3 make_parquet.py FOLDER
# (pyarrow). Beside them what a script prints of them (../parquet.out), computed here.
import datetime as dt
import math
import sys
from decimal import Decimal as D

import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]
N = 40
day = dt.datetime(2024, 2, 28, 23, 59, 59, 999000)


def some(values):
    return [None if k % 7 == 3 else v for k, v in enumerate(values)]


table = pa.table({
    "id": pa.array(range(N), pa.int64()),
    "b": pa.array(some([k % 3 == 0 for k in range(N)])),
    "i8": pa.array([k - 20 for k in range(N)], pa.int8()),
    "u16": pa.array(some([65535 - k for k in range(N)]), pa.uint16()),
    "u64": pa.array([(1 << 64) - 1 - k for k in range(N)], pa.uint64()),
    "f32": pa.array([k / 8 for k in range(N)], pa.float32()),
    "f64": pa.array(some([k * 1.1 for k in range(N)])),
    "few": pa.array(some([["AIR", "", "Zürich"][k % 3] for k in range(N)])),
    "many": pa.array([f"text number {k}" for k in range(N)]),
    "d": pa.array(some([dt.date(1969, 12, 31) + dt.timedelta(days=k) for k in range(N)])),
    "ms": pa.array([day + dt.timedelta(milliseconds=k) for k in range(N)], pa.timestamp("ms")),
    "ns": pa.array(some([day + dt.timedelta(microseconds=k) for k in range(N)]), pa.timestamp("ns", "UTC")),
    "p": pa.array(some([D(k - 20).scaleb(-2) for k in range(N)]), pa.decimal128(15, 2)),
})
layouts = {
    "plain": dict(compression="none", use_dictionary=False),
    "snappy": dict(compression="snappy", row_group_size=16, data_page_size=64, write_batch_size=5),
    "zstd": dict(compression="zstd", data_page_version="2.0", store_decimal_as_integer=True, row_group_size=30),
    "gzip": dict(compression="gzip", dictionary_pagesize_limit=20, data_page_size=64, write_batch_size=7),
    "lz4": dict(compression="lz4", use_dictionary=["few", "d"], data_page_version="2.0", store_decimal_as_integer=True),
}
for name, how in layouts.items():
    pq.write_table(table, f"{folder}/{name}.parquet", **how)
pq.write_table(table.slice(0, 0), f"{folder}/empty.parquet")

keep = table.filter(pa.array([k % 5 != 2 for k in range(N)]))


def shown(v):
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, dt.datetime):
        return v.replace(tzinfo=None).isoformat() + "Z"
    return "null" if v is None else str(v)


with open(f"{folder}/../parquet.out", "w") as out:
    lines = [",".join(map(shown, row.values())) for row in keep.to_pylist()]
    for name in layouts:
        print(name, N, f"{sum(k / 8 for k in range(N))}", *lines[:None if name == "plain" else 1], sep="\n", file=out)
    print("0", file=out)
    for name in layouts:
        if name == "plain":
            continue
        read = pq.read_table(f"{folder}/{name}.parquet").to_pydict()  # all rows, as pyarrow reads them back
        there = {column: [v for v in values if v is not None] for column, values in read.items()}
        print(name, len(read["id"]), sum(there["id"]), sum(there["b"]), len(there["b"]), sum(there["i8"]), sum(there["u16"]), len(there["u16"]),
              max(there["u64"]), min(there["u64"]), math.fsum(there["f64"]), sum(map(len, there["few"])), len(there["few"]),
              sum(map(len, there["many"])), min(there["d"]), max(there["d"]), len(there["d"]), sum(there["p"]), len(there["p"]), file=out)
