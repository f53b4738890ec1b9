# Arrow files with what other programs write: decimals, lists that differ, structs, times, half floats, streams without an end,
# the framing before 0.15: python3 make_arrow.py FOLDER (pyarrow) writes them and prints arrow_types.out.
import datetime as dt
import decimal
import json
import re
import struct
import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc

D = decimal.Decimal
folder = sys.argv[1]
huge = D("99999999999999999999999999999999999999")
decimal.getcontext().prec = 100


def column(t, name):
    return t.column(name).to_pylist()


def shown(x):
    """As flow prints a value."""
    if x is None:
        return "null"
    if isinstance(x, float):
        text = re.sub("e[+]?(-?)0*", r"e\1", repr(x))
        return text if any(c in text for c in ".enf") else text + ".0"
    if isinstance(x, bool):
        return str(x).lower()
    if isinstance(x, dt.timedelta):
        micros = x // dt.timedelta(microseconds=1)
        days, rest = divmod(abs(micros), 86400000000)
        clock = f"{rest // 3600000000:02}:{rest // 60000000 % 60:02}:{rest // 1000000 % 60:02}"
        clock += f".{rest % 1000000:06}".rstrip("0") if rest % 1000000 else ""
        return ("-" if micros < 0 else "") + (f"{days}d " if days else "") + clock
    if isinstance(x, dt.time):
        return shown(dt.datetime.combine(dt.date.min, x) - dt.datetime.min)
    if isinstance(x, dt.datetime):
        x = x.astimezone(dt.timezone.utc) if x.tzinfo else x
        return x.strftime("%Y-%m-%dT%H:%M:%S") + (f".{x.microsecond:06}" if x.microsecond else "") + "Z"
    return str(x)


def as_json(x):
    """As a text of JSON; a decimal is written with its digits, durations in microseconds."""
    if isinstance(x, dict):
        return "{" + ",".join(json.dumps(k) + ":" + as_json(v) for k, v in x.items()) + "}"
    if isinstance(x, tuple):  # of a map
        return as_json({"key": x[0], "value": x[1]})
    if isinstance(x, list):
        return "[" + ",".join(map(as_json, x)) + "]"
    if isinstance(x, (dt.datetime, dt.date)):
        return '"' + shown(x) + '"'
    if isinstance(x, dt.timedelta):
        return str(x // dt.timedelta(microseconds=1))
    if isinstance(x, D):
        return f"{x:f}"
    if isinstance(x, float):
        return shown(x) if x - x == 0 else f'"{shown(x)}"'
    return json.dumps(x, ensure_ascii=False)


plain = pa.table({
    "d2": pa.array([D("1.10"), D("-0.05"), None, D("12345678901234567890.12")], pa.decimal128(30, 2)),
    "d0": pa.array([D(1), D(-7), D(2**62), D(0)], pa.decimal128(20, 0)),
    "dn": pa.array([D("1200"), D("-300"), None, D("0")], pa.decimal128(5, -2)),
    "d38": pa.array([huge, -huge, D(0), D(1)], pa.decimal128(38, 0)),
    "d256": pa.array([D("0.10000000000000000000"), D("-0.33333333333333333333"), None, D(10) ** 40 + D("0.123")], pa.decimal256(76, 20)),
    "half": pa.array(np.array([1.5, -0.0, np.inf, 6e-8], np.float16)),
    "t32s": pa.array([dt.time(1, 2, 3), dt.time(0), None, dt.time(23, 59, 59)], pa.time32("s")),
    "t32m": pa.array([dt.time(1, 2, 3, 4000), dt.time(0), None, dt.time(23, 59, 59, 999000)], pa.time32("ms")),
    "t64u": pa.array([dt.time(1, 2, 3, 4), dt.time(0), None, dt.time(23, 59, 59, 999999)], pa.time64("us")),
    "t64n": pa.array([dt.time(1, 2, 3, 4), dt.time(0), None, dt.time(23, 59, 59, 999999)], pa.time64("ns")),
    **{f"du_{u}": pa.array([0, None, -86400000, 5000], pa.duration(u)) for u in ("s", "ms", "us", "ns")},
    **{f"ts_{u}": pa.array([0, None, -86400000, 5000], pa.timestamp(u)) for u in ("s", "ms", "us", "ns")},
    "tz": pa.array([0, None, -86400000000, 253402300799999999], pa.timestamp("us", tz="America/New_York")),
    "d64": pa.array([0, None, -86400000, 253402214400000], pa.date64()),
    "dict": pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1], pa.int8()), pa.array([9007199254740993, -1])),
    "large": pa.array(["", "ä", None, "x" * 20], pa.large_string()),
    "nul": pa.nulls(4),
})
nested = pa.table({
    "ragged": pa.array([[1], [2, 3], [], None], pa.list_(pa.int64())),
    "holes": pa.array([[1.5, None], [float("nan"), -0.0], None, [float("inf"), 1e300]], pa.list_(pa.float64(), 2)),
    "large": pa.array([["a", 'b"\\'], ["ä\n\x01"], [None], []], pa.large_list(pa.string())),
    "st": pa.array([{"a": 1, "b c": [True]}, {"a": None, "b c": []}, None, {"a": 2**53 + 1, "b c": [None, False]}],
                   pa.struct([("a", pa.int64()), ("b c", pa.list_(pa.bool_()))])),
    "map": pa.array([[("k", 1)], [], None, [("x", None), ("y", -2)]], pa.map_(pa.string(), pa.int8())),
    "money": pa.array([[D("1.10")], [D("-0.01"), D("0.00")], [], None], pa.list_(pa.decimal128(10, 2))),
    "times": pa.array([[dt.datetime(2026, 1, 5, 1, 2, 3)], [None], [], None], pa.list_(pa.timestamp("ms"))),
    "deep": pa.array([[[1], []], [[2, 3]], [], None], pa.list_(pa.list_(pa.uint8()))),
    "fixed": pa.array([[1, 2], [3, 4], [5, 6], [7, 8]], pa.list_(pa.int32(), 2)),
})


def write(name, tables, stream, **options):
    with (ipc.new_stream if stream else ipc.new_file)(f"{folder}/{name}", tables[0].schema, options=ipc.IpcWriteOptions(**options)) as out:
        for t in tables:
            out.write_table(t)


write("types.arrow", [plain], False)
write("nested.arrows", [nested, nested.slice(1, 2)], True)
write("nested_lz4.arrow", [nested], False, compression="lz4")
both = plain.drop_columns(["d38"])  # what is read without saying how
both = both.set_column(0, "d2", pa.array([D("1.10"), D("-0.05"), None, D("1234567890123456.12")], pa.decimal128(30, 2)))
for name in ("large", "st", "map", "deep"):
    both = both.append_column("n_" + name, nested.column(name))
write("hostile.arrow", [both], False)
small = pa.table({"x": [1, 2, 3], "s": ["a", "bb", None]})
write("ended.arrows", [small, small], True)
write("before.arrows", [small, small], True, use_legacy_format=True)
data = open(f"{folder}/ended.arrows", "rb").read()
assert data.endswith(b"\xff\xff\xff\xff\0\0\0\0")
open(f"{folder}/no_end.arrows", "wb").write(data[:-8])
old = open(f"{folder}/before.arrows", "rb").read()
assert struct.unpack("<i", old[:4])[0] > 0 and old.endswith(b"\0\0\0\0")
open(f"{folder}/before_no_end.arrows", "wb").write(old[:-4])
write("cut_list.arrow", [nested.select(["ragged"]).slice(0, 2)], False)
write("list_holes.arrow", [nested.select(["holes"]).slice(0, 1)], False)
write("far.arrow", [pa.table({"t": pa.array([0, 2**60], pa.timestamp("s"))})], False)
write("not_whole.arrow", [pa.table({"d": pa.array([D("1.00"), D("1.50")], pa.decimal128(9, 2))})], False)

script = ["# What other programs put into Arrow: written by formats/make_arrow.py, with what is expected",
          'let t = read_arrow("formats/types.arrow", types = (d2: f64?, d256: f64?))']
out = []
for name in plain.column_names:
    values = column(plain, name) if not name.endswith("ns") and name != "t64n" else None
    if name in ("du_ns", "ts_ns"):
        unit = np.array([0, 0, -86400000, 5000], "i8")
        values = [None if k == 1 else (dt.timedelta(microseconds=int(v) // 1000) if name == "du_ns" else
                  dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=int(v) // 1000)) for k, v in enumerate(unit)]
    if name == "t64n":
        values = column(plain, "t64u")
    if name == "d38":
        continue
    if name in ("d2", "d256"):
        values = [None if v is None else float(v) for v in values]
    if name in ("d0", "dn"):
        values = [None if v is None else int(v) for v in values]
    if name == "half":
        values = [float(np.float32(v)) for v in values]
        values[3] = float(str(np.float32(np.float16(6e-8))))  # flow prints it as the f32 it is
    script.append(f'print("{name}: " + join_text([for x in t.{name}: "{{x}}"], "|"))')
    out.append(f"{name}: " + "|".join(map(shown, values)))
script.append('let d = read_arrow("formats/types.arrow", types = (d2: text?, d0: text, dn: text?, d38: text, d256: text?))')
for name in ("d2", "d0", "dn", "d38", "d256"):
    script.append(f'print("{name} as text: " + join_text([for x in d.{name}: "{{x}}"], "|"))')
    out.append(f"{name} as text: " + "|".join("null" if v is None else f"{v:f}" for v in column(plain, name)))
script.append('let f = read_arrow("formats/types.arrow", types = (d2: f32?, d38: f64, dn: f64?, d0: i64))')
script.append('print(join_text([for x in f.d38: "{x}"], "|"), join_text([for x in f.d2: "{x}"], "|"), join_text([for x in f.dn: "{x}"], "|"))')
out.append(" ".join(["|".join(shown(float(v)) for v in column(plain, "d38")), "|".join("null" if v is None else re.sub("e[+]?", "e", str(np.float32(v))) for v in column(plain, "d2")),
                     "|".join("null" if v is None else shown(float(v)) for v in column(plain, "dn"))]))
for file, rows in (("nested.arrows", nested.to_pylist() + nested.slice(1, 2).to_pylist()), ("nested_lz4.arrow", nested.to_pylist())):

    script.append(f'let n_{len(script)} = read_arrow("formats/{file}", types = (ragged: text?, holes: text?, money: text?, times: text?))')
    t = script[-1].split()[1]
    for name in nested.column_names:
        if name == "fixed":
            script.append(f'print("{name}: {{sum({t}.{name})}} {{{t}.{name}[1, 1]}}")')
            out.append(f"{name}: {sum(sum(r[name]) for r in rows)} {rows[1][name][1]}")
            continue
        script.append(f'print("{name}: " + join_text([for x in {t}.{name}: "{{x}}"], "|"))')
        out.append(f"{name}: " + "|".join("null" if r[name] is None else as_json(r[name]) for r in rows))
for file in ("ended", "no_end", "before", "before_no_end"):
    script.append(f'print("{file}: " + join_text([for r in read_arrow("formats/{file}.arrows"): "{{r.x}} {{r.s}}"], "|"))')
    out.append(f"{file}: " + "|".join(["1 a", "2 bb", "3 null"] * 2))
open(f"{folder}/../arrow_types.flow", "w").write("\n".join(script) + "\n")
print("\n".join(out))
