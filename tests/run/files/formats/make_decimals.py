"""Columns of decimals as pyarrow writes them: decimals.arrow, decimals.parquet, and too_wide.arrow with a value of 21 digits."""
import decimal
import pathlib

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

D = decimal.Decimal
folder = pathlib.Path(__file__).parent
values = ["1.10", "-2.25", None, "1234567890.12", "0.00"]


def column(type, values=values):
    unit = D(1).scaleb(-type.scale)
    return pa.array([None if v is None else D(v).quantize(unit) for v in values], type)


columns = {"p12": column(pa.decimal128(12, 2)), "p38": column(pa.decimal128(38, 4)), "whole": column(pa.decimal128(10, 0), list("01234")),
           "fine": column(pa.decimal128(30, 22), ["0." + "1" * 22] * 5), "d18": column(pa.decimal128(18, 18), ["-0.000000000000000001", "0.999999999999999999", "0", "0.1", "-0.5"])}
pq.write_table(pa.table(columns), folder / "../../duckdb/decimals.parquet")
columns |= {"p60": column(pa.decimal256(60, 3)), "p9": column(pa.decimal32(9, 2), ["1.1", "2.2", None, "-9999999.99", "0"]),
            "p18": column(pa.decimal64(18, 2), ["1.1", "2.2", "7.07", "-3.3", "9999999999999999.99"]), "few": column(pa.decimal128(12, 2)).dictionary_encode()}
for name, table in ("decimals", pa.table(columns)), ("too_wide", pa.table({"x": column(pa.decimal128(30, 2), ["1.00", "123456789012345678901.00"])})):
    with ipc.new_file(folder / f"{name}.arrow", table.schema) as out:
        out.write_table(table)
