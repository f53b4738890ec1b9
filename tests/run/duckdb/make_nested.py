# Parquet files with decimals, lists that differ, structs, maps, infinite times: python3 make_nested.py FOLDER (pyarrow, DuckDB).
import sys
from decimal import Decimal as D

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]
pq.write_table(pa.table({
    "id": [1, 2, 3],
    "price": pa.array([D("1.10"), D("-0.05"), None], pa.decimal128(30, 2)),
    "big": pa.array([D("12345678901234567890123456789012345678"), D("-1"), D("0")], pa.decimal128(38, 0)),
    "ragged": pa.array([[1], [2, 3], None]),
    "st": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": 'y"z'}]),
    "names": pa.array([["a"], [], None]),
    "map": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int8())),
    "even": pa.array([[1.5, 2.5], [3.5, 4.5], [5.5, -0.0]]),
}), f"{folder}/nested.parquet")
duckdb.sql(f"""copy (select d, t from (values ('2020-01-01'::date, '2020-01-01'::timestamp), ('infinity'::date, '-infinity'::timestamp))
  v(d, t)) to '{folder}/infinite.parquet'""")
