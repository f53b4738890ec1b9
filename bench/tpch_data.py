#!/usr/bin/env python3
"""tpch_data.py FOLDER SF TOOL FORMS: the tables of TPC-H in a folder, once in each form that bench/tpch asks about.

Comes in: the folder, the scale factor, the path of tpchgen-cli, the forms with commas between. Goes out: FOLDER/csv/NAME.csv and FOLDER/parquet/NAME.parquet as the
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


def in_batches(path, form):
    """The rows of a Parquet file in a form, batch by batch: SF 10 need not be in memory, but for dictionaries, of which a column has one."""
    file = pyarrow.parquet.ParquetFile(path)
    rows = [file.read()] if form == "dict" else file.iter_batches(batch_size=BATCH)
    for some in rows:
        columns = [column(name, some.column(name), form) for name in some.schema.names]
        fields = [pyarrow.field(f.name, c.type, f.nullable) for f, c in zip(some.schema, columns)]
        if form == "dict":
            yield from pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields)).combine_chunks().to_batches(BATCH)
        else:
            yield pyarrow.record_batch(columns, schema=pyarrow.schema(fields))


def arrow(folder, form):
    def make(part):
        part.mkdir(exist_ok=True)
        for name in TABLES:
            out = None
            for batch in in_batches(folder / f"parquet/{name}.parquet", form):
                out = out or pyarrow.ipc.new_file(part / f"{name}.arrow", batch.schema)
                out.write_batch(batch)
            out.close()
    return make


def own(folder):
    def make(part):
        part.unlink(missing_ok=True)
        with duckdb.connect(str(part)) as base:
            for name in TABLES:
                base.execute(f"create table {name} as from '{folder}/parquet/{name}.parquet'")
    return make


def main():
    folder, scale, tool, forms = pathlib.Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4].split(",")
    folder.mkdir(parents=True, exist_ok=True)
    whole(folder / "parquet", generate(tool, "parquet", scale))  # the other forms are made from it, and answers by it
    for form in forms:
        if form != "parquet":
            whole(folder / form, generate(tool, form, scale) if form == "csv" else arrow(folder, form))
    whole(folder / "tpch.duckdb", own(folder))


main()
