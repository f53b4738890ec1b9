#!/usr/bin/env python3
"""Parquet files of other writers, read without DuckDB's library: random tables in random layouts (codecs, versions of pages, sizes of
pages and groups, dictionaries or none, nulls), written by pyarrow, whose values are known before. flow's columns, read as a whole, by
parts and as other types, are these. Needs pyarrow: build/peers, or any other. Further ones: tests/scenario/parquet.py COUNT SEED."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish, needs

needs(__file__, "pyarrow")

import datetime as dt
import decimal
import math

import pyarrow as pa
import pyarrow.parquet as pq

WORDS = ["", "a", "AIR", "DELIVER IN PERSON", "Zürich", "日本", "x" * 300, "line\nbreak", '"quoted"', "🙂🙂"]
EPOCH = dt.datetime(1970, 1, 1)


def real(r):
    return r.choice([0.0, -0.0, math.inf, -math.inf, math.nan, 1e300, 5e-324, r.uniform(-1e6, 1e6), float(r.randint(-99, 99))])


def whole(bits, sign):
    low, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1)
    return lambda r: r.choice([low, most, r.randint(low, most), r.randint(max(low, -9), 9)])


def units(digits, scale):
    return lambda r: decimal.Decimal(r.choice([0, 10 ** digits - 1, 1 - 10 ** digits, r.randint(-9999, 9999) % 10 ** digits])).scaleb(-scale)


def moment(unit):
    step = {"ms": 1000, "us": 1, "ns": 1}[unit]
    far = 9 * 10 ** 15 if unit == "ns" else 6 * 10 ** 16
    return lambda r: EPOCH + dt.timedelta(microseconds=r.randint(-far, far) // step * step)


# Of each column: its type in the file, as flow has it, and how a value is drawn.
KINDS = {
    "b": (pa.bool_(), "bool", lambda r: r.random() < 0.5),
    "i8": (pa.int8(), "i8", whole(8, True)), "i16": (pa.int16(), "i16", whole(16, True)),
    "i32": (pa.int32(), "i32", whole(32, True)), "i64": (pa.int64(), "i64", whole(64, True)),
    "u8": (pa.uint8(), "u8", whole(8, False)), "u16": (pa.uint16(), "u16", whole(16, False)),
    "u32": (pa.uint32(), "u32", whole(32, False)), "u64": (pa.uint64(), "u64", whole(64, False)),
    "f32": (pa.float32(), "f32", lambda r: r.choice([0.0, -0.0, math.inf, math.nan, 1.5, r.randint(-999, 999) / 8])),
    "f64": (pa.float64(), "f64", real),
    "t": (pa.string(), "text", lambda r: r.choice(WORDS)),
    "many": (pa.string(), "text", lambda r: f"{r.choice(WORDS)}{r.randint(0, 10 ** 6)}"),
    "d": (pa.date32(), "date", lambda r: dt.date(1970, 1, 1) + dt.timedelta(days=r.randint(-200000, 200000))),
    "ms": (pa.timestamp("ms"), "datetime", moment("ms")), "us": (pa.timestamp("us"), "datetime", moment("us")),
    "ns": (pa.timestamp("ns", "UTC"), "datetime", moment("ns")),
    "p4": (pa.decimal128(4, 1), "decimal(18, 1)", units(4, 1)), "p15": (pa.decimal128(15, 2), "decimal(18, 2)", units(15, 2)),
    "p18": (pa.decimal128(18, 6), "decimal(18, 6)", units(18, 6)), "p9": (pa.decimal128(9, 0), "i64", units(9, 0)),
}
# As what else columns may be asked for; a value there may not fit, then what is drawn is small.
OTHERS = {"i8": ["i64", "f64"], "u8": ["i16", "i64"], "u32": ["i64", "f64"], "i32": ["i64", "f64"], "f32": ["f64"], "p15": ["f64"], "p18": ["f64"], "p4": ["f64"], "p9": ["i32", "f64"]}


def drawn(r):
    n = r.choice([0, 1, 7, 100, 1000, 5000, 20000])
    columns, fields = {"row": pa.array(range(n), pa.int32())}, [pa.field("row", pa.int32(), nullable=False)]
    for name in r.sample(sorted(KINDS), r.randint(1, 6)):
        kind, _, value = KINDS[name]
        nulls = r.choice([0, 0, 0.05, 0.6, 1])
        few = [value(r) for _ in range(r.choice([1, 2, 30]))] if r.random() < 0.5 else None
        values, run = [], None
        for _ in range(n):
            if run is None or r.random() > 0.3:
                run = None if r.random() < nulls else r.choice(few) if few else value(r)
            values.append(run)
        columns[name] = pa.array(values, kind)
        fields.append(pa.field(name, kind, nullable=nulls > 0 or r.random() < 0.5))
    return pa.table(columns, schema=pa.schema(fields))


def layout(r, table):
    out = dict(compression=r.choice(["none", "snappy", "gzip", "zstd", "lz4"]), use_dictionary=r.choice([True, False, True]),
               data_page_version=r.choice(["1.0", "2.0"]), row_group_size=r.choice([1, 64, 1000, 10 ** 6]) if table.num_rows < 2000 else r.choice([1000, 10 ** 6]),
               data_page_size=r.choice([64, 1000, 10 ** 6]), write_batch_size=r.choice([1, 10, 1000]), store_decimal_as_integer=r.random() < 0.5,
               dictionary_pagesize_limit=r.choice([50, 10 ** 6]), write_statistics=r.random() < 0.8)
    return out


def shown(v, as_type):
    """A value as flow writes it into a CSV file, or near enough: see same."""
    if v is None:
        return "NULL"
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, dt.datetime):
        return v.replace(tzinfo=None)
    if as_type == "f64" or isinstance(v, float):
        return float(v)
    return str(v) if not isinstance(v, decimal.Decimal) else v


def same(text, v):
    if isinstance(v, float):
        return (math.isnan(v) and text.lower() == "nan") or (text != "" and float(text) == v and math.copysign(1, float(text)) == math.copysign(1, v))
    if isinstance(v, decimal.Decimal):
        return decimal.Decimal(text) == v
    if isinstance(v, dt.datetime):
        return dt.datetime.fromisoformat(text.replace("Z", "")) == v
    return text == v


def compare(place, what, table, types):
    import csv
    with open(place.path / "out.csv", newline="") as lines:
        found = list(csv.reader(lines))[1:]
    names = table.column_names
    expected = list(zip(*[[shown(v, types[c]) for v in table.column(c).to_pylist()] for c in names]))
    check(len(found) == len(expected), f"{what}: {len(expected)} rows", str(len(found)))
    wrong = [(k, a, b) for k, (a, b) in enumerate(zip(found, expected)) if not all(same(x, y) for x, y in zip(a, b))]
    check(not wrong, f"{what}: every value", str(wrong[:1])[:600])


def main():
    count, seed = (int(w) for w in (sys.argv[1:] + ["", ""])[:2] if w) if len(sys.argv) > 2 else (12, 1)
    place = Place()
    place.env["FLOW_DUCKDB"] = "/nowhere"
    for k in range(count):
        r = random.Random(seed * 1000003 + k)
        table = drawn(r)
        how = layout(r, table)
        pq.write_table(table, place.path / "t.parquet", **how)
        types = {c: KINDS[c][1] for c in table.column_names if c in KINDS} | {"row": "i32"}
        what = f"table {k} of seed {seed}, {table.schema.names} {how}"
        kept = table
        if r.random() < 0.6:  # a filter goes into the reader
            kept = table.filter(pa.array([k % 3 != 1 for k in range(table.num_rows)], pa.bool_()))
        condition = " |> where(row % 3 != 1)" if kept is not table else ""
        texts = [c for c in ("t", "many") if c in table.column_names]
        if texts and r.random() < 0.5:  # the filter asks about texts, of which there may be codes alone
            asked, word = table.column(texts[0]).to_pylist(), r.choice(WORDS[:4])
            kept = table.filter(pa.array([v is not None and v != word for v in asked], pa.bool_()))
            fits = f"not is_null({texts[0]}) and {texts[0]} != \"{word}\"" if None in asked else f'{texts[0]} != "{word}"'
            condition = f" |> where({fits})"
        place.env["FLOW_UNWRITTEN_FROM"] = r.choice(["1", "50", "100000"])
        place.write("read.flow", f'read_parquet("t.parquet"){condition} |> write_csv("out.csv", null = "NULL")\n')
        done = place.run("run", "read.flow", "--workers", r.choice(["1", "2", "3"]), *(["--interp"] if r.random() < 0.2 else []))
        check(done.returncode == 0, what, done.stderr)
        if done.returncode == 0:
            compare(place, what, kept, types)
        first = table.column_names[1]
        place.write("nulls.flow", f'let t = read_parquet("t.parquet")\nprint("{{len(t)}} {{sum(is_null(t.{first}))}}")\n'
                    if table.column(first).null_count else f'let t = read_parquet("t.parquet")\nprint("{{len(t)}} 0")\n')
        done = place.run("run", "nulls.flow")
        check(done.stdout == f"{table.num_rows} {table.column(first).null_count}\n", f"{what}: nulls of {first}", done.stdout + done.stderr)
        others = {c: r.choice(OTHERS[c]) for c in table.column_names if c in OTHERS}
        if others and table.num_rows:
            row = ", ".join(f"{c}: {t}{'?' if table.column(c).null_count or r.random() < 0.3 else ''}" for c, t in others.items())
            place.write("read.flow", f'let t: ({row})[_] = read_parquet("t.parquet")\nt |> write_csv("out.csv", null = "NULL")\n')
            done = place.run("run", "read.flow")
            check(done.returncode == 0, f"{what} as {others}", done.stderr)
            if done.returncode == 0:
                compare(place, f"{what} as {others}", table.select(list(others)), others)
    finish()


main()
