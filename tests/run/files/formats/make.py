import pyarrow as pa, pyarrow.ipc as ipc, polars as pl, datetime as dt, sys
D=sys.argv[1]
t = pa.table({
 "b": pa.array([True, False, True]),
 "i8": pa.array([-1, 2, 3], pa.int8()), "u8": pa.array([1, 2, 255], pa.uint8()),
 "i16": pa.array([-300, 2, 3], pa.int16()), "u16": pa.array([1, 2, 65535], pa.uint16()),
 "i32": pa.array([-70000, 2, 3], pa.int32()), "u32": pa.array([1, 2, 4294967295], pa.uint32()),
 "i64": pa.array([-(1<<60), 2, 3]), "u64": pa.array([1, 2, (1<<64)-1], pa.uint64()),
 "f32": pa.array([1.5, float("nan"), 3.25], pa.float32()), "f64": pa.array([0.1, float("inf"), -0.0]),
 "s": pa.array(["one", "zwölf", ""]), "ls": pa.array(["x", None, "a longer text than twelve"], pa.large_string()),
 "sv": pa.array(["x", None, "a longer text than twelve"], pa.string_view()),
 "d": pa.array([dt.date(2026,1,31), dt.date(1969,12,31), dt.date(2000,2,29)]),
 "ts": pa.array([dt.datetime(2026,1,31,12), None, dt.datetime(1950,1,1)], pa.timestamp("ms")),
 "tz": pa.array([dt.datetime(2026,1,31,12)]*3, pa.timestamp("us", tz="UTC")),
 "ns": pa.array([1000, 2000, 3000], pa.timestamp("ns")),
 "du": pa.array([1, None, 3], pa.duration("s")),
 "cat": pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), pa.array(["low", "high"]), ordered=True),
 "v": pa.array([[1.0,2.0],[3.0,4.0],[5.0,6.0]], pa.list_(pa.float64(), 2)),
 "vl": pa.array([[1,2],[3,4],[5,6]], pa.list_(pa.int32())),
 "ni": pa.array([None, 5, None], pa.int64()),
 "nul": pa.nulls(3),
 "st": pa.array([{"a":1}]*3),
})
def w(name, tables, stream, **o):
    f = ipc.new_stream if stream else ipc.new_file
    with f(f"{D}/{name}", tables[0].schema, options=ipc.IpcWriteOptions(**o)) as x:
        for y in tables: x.write_table(y)
w("all.arrow", [t], False); w("all.arrows", [t], True); w("two.arrow", [t, t.slice(1,2)], False); w("two.arrows", [t, t.slice(1,2)], True)
# replaced and delta dictionaries
def cat(codes, levels): return pa.table({"c": pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(levels))})
w("repl.arrows", [cat([0,1],["a","b"]), cat([0,1],["b","c"])], True)
w("delta.arrows", [cat([0,1],["a","b"]), cat([0,2],["a","b","z"])], True, emit_dictionary_deltas=True)
w("delta.arrow", [cat([0,1],["a","b"]), cat([0,2],["a","b","z"])], False, emit_dictionary_deltas=True)
w("lz4.arrow", [t, t.slice(1,2)], False, compression="lz4")
w("zstd.arrows", [pa.concat_tables([t] * 40).combine_chunks()], True, compression="zstd")
w("none.arrow", [cat([],[]).cast(pa.schema({"c": pa.dictionary(pa.int8(), pa.string())}))], False)
p = pl.DataFrame({"id":[1,2,3], "name":["x","yy",None], "day":[dt.date(2026,1,1)]*3, "c": pl.Series(["u","v","u"], dtype=pl.Categorical), "e": pl.Series(["lo","hi","lo"], dtype=pl.Enum(["lo","mid","hi"])), "x":[1.5,None,2.5]})
p.write_ipc(f"{D}/polars.arrow"); p.write_ipc_stream(f"{D}/polars.arrows")
