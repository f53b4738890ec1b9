#!/usr/bin/env python3
"""tpch_data.py FOLDER SF TOOL: the tables of TPC-H in a folder, once in each form that bench/tpch asks about.

Comes in: the folder, the scale factor, the path of tpchgen-cli. Goes out: FOLDER/csv/NAME.csv and FOLDER/parquet/NAME.parquet as the
tool writes them; FOLDER/arrow/NAME.arrow, uncompressed Arrow files as pyarrow writes them, prices as doubles and texts as utf8;
FOLDER/dict/, the same with texts of few values in dictionaries; FOLDER/decimal/, the same as arrow/ with prices as decimals; and
FOLDER/tpch.duckdb, DuckDB's own tables. What always holds: what is there already is not made again, and nothing is there by halves."""
import pathlib
import subprocess
import sys

import duckdb
import pyarrow
import pyarrow.compute
import pyarrow.ipc
import pyarrow.parquet

TABLES = "region nation supplier customer part partsupp orders lineitem".split()
FEW = {"r_name", "n_name", "c_mktsegment", "p_mfgr", "p_brand", "p_type", "p_container", "o_orderstatus", "o_orderpriority", "l_returnflag",
       "l_linestatus", "l_shipinstruct", "l_shipmode"}
BATCH = 65536  # rows, as pyarrow.feather.write_feather has them


def whole(path, make):
    """Makes a file or a folder under another name, and gives it its own when it is whole."""
    if not path.exists():
        part = path.with_name(path.name + ".part")
        make(part)
        part.rename(path)


def generate(tool, form, scale):
    return lambda part: subprocess.run([tool, form, "-s", str(scale), "-o", str(part), "--quiet", "--overwrite"], check=True)


def column(name, values, form):
    kind = values.type
    if pyarrow.types.is_decimal(kind) and form != "decimal":
        return values.cast(pyarrow.float64())
    if kind == pyarrow.string_view():
        plain = values.cast(pyarrow.string())
        return pyarrow.compute.dictionary_encode(plain).unify_dictionaries() if form == "dict" and name in FEW else plain
    return values


def arrow(folder, form):
    def make(part):
        part.mkdir(exist_ok=True)
        for name in TABLES:
            table = pyarrow.parquet.read_table(folder / f"parquet/{name}.parquet")
            columns = [column(field.name, table.column(field.name), form) for field in table.schema]
            fields = [pyarrow.field(f.name, c.type, f.nullable) for f, c in zip(table.schema, columns)]
            made = pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields)).combine_chunks()
            with pyarrow.ipc.new_file(part / f"{name}.arrow", made.schema) as out:
                out.write_table(made, max_chunksize=BATCH)
    return make


def own(folder):
    def make(part):
        part.unlink(missing_ok=True)
        with duckdb.connect(str(part)) as base:
            for name in TABLES:
                base.execute(f"create table {name} as from '{folder}/parquet/{name}.parquet'")
    return make


def main():
    folder, scale, tool = pathlib.Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    for form in "csv", "parquet":
        whole(folder / form, generate(tool, form, scale))
    for form in "arrow", "dict", "decimal":
        whole(folder / form, arrow(folder, form))
    whole(folder / "tpch.duckdb", own(folder))


main()
