#!/usr/bin/env python3
"""Matrices of columns of a file that are read into them: random Parquet and Arrow files written by pyarrow (floats and whole numbers of 32 and 64 bits, some
as other types; codecs, dictionaries, sizes of pages and groups, both versions of pages, schemas that allow nulls), whose matrices are bit by bit numpy's columns
side by side, with other columns read beside them; over workers, --memory and ranks. Then what is wrong with a file (a null, a value that does not fit, damaged
bytes) is said as without the optimiser. Needs pyarrow: build/peers, or any other. Further ones: tests/scenario/read_beside.py COUNT SEED."""
import pathlib
import random
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from scenario_kit import SHORT, Place, check, finish, needs

needs(__file__, "numpy", "pyarrow")

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import ranks

# By 2 x ranks + workers (tests/ranks/run.c): from 2 elements on, from 100, as always.
WAYS = [(2, 2, 20, ""), (3, 1, 0, ""), (3, 2, 0, ""), (2, 1, 0, ""), (1, 2, 0, "")]
# Of columns: their type in flow and numpy; in the file. Matrices are of f64: others are converted between.
KINDS = [("f64", np.float64, [np.float64]), *[("f64", np.float64, [np.float64, np.float32]), ("f64", np.float64, [np.int32, np.float64, np.int64])] * 2,
         ("f32", np.float32, [np.float32]), ("i64", np.int64, [np.int32, np.int64, np.uint8]), ("i32", np.int32, [np.int32])]


def column(draw, dtype, n):
    """With few different values, or many; floats with all that floats may be."""
    make = np.random.default_rng(draw.randrange(1 << 30))
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        values = make.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    else:
        values = make.normal(size=n).astype(dtype)
        odd = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324], dtype=np.float64).astype(dtype)
        at = make.random(n) < draw.choice([0, 0.01])
        values[at] = odd[make.integers(0, len(odd), at.sum())]
    return values[make.integers(0, min(9, n), n)] if n and draw.random() < 0.3 else values


def write(draw, path, columns):
    schema = pa.schema([pa.field(name, pa.from_numpy_dtype(v.dtype), nullable=np.ma.isMaskedArray(v) or draw.random() < 0.6) for name, v in columns.items()])
    table = pa.table({name: pa.array(v) for name, v in columns.items()}, schema=schema)
    n = table.num_rows
    if path.suffix == ".arrow":
        how = dict(compression=draw.choice(["uncompressed", "zstd"]), chunksize=draw.choice([1000, 70_000, 10 ** 6]))
        pa.feather.write_feather(table, path, **how)
        return how
    how = dict(compression=draw.choice(["none", "none", "snappy", "zstd"]), use_dictionary=draw.choice([False, False, True]), data_page_version=draw.choice(["1.0", "2.0"]),
               row_group_size=draw.choice([max(1, n // 3), 100_000, 10 ** 6]) if n > 2000 else draw.choice([1, 64, 10 ** 6]),
               data_page_size=draw.choice([100, 5000, 10 ** 6]) if n < 50_000 else draw.choice([5000, 10 ** 6]), write_batch_size=draw.choice([7, 1000]))
    pa.parquet.write_table(table, path, **how)
    return how


def script_of(draw, path, kind, names):
    """The matrix, of some of the columns in any order, as it is and multiplied; the others."""
    some = draw.sample(names, draw.randrange(2, len(names) + 1))
    w = ", ".join(f"{draw.randrange(-2, 3)}.0" for _ in some)
    fields = ", ".join(f"{name}: {kind}" for name in names)
    text = f'let t: ({fields}, y: f64, o: i64?)[_] = read_{"arrow" if path.suffix == ".arrow" else "parquet"}("{path}")\nlet x = matrix(t, {", ".join(some)})\n'
    text += f'let z = x @ [{w}]\nprint("{{count(for v in z: v == v)}} {{x\' @ [for i in 0..len(z): if t.y[i] > 7 {{ 1.0 }} else {{ z[i] }}]}}")\n'
    text += 'write_npy(x, "x.npy")\nprint("{sum(t.y)} {len(t)} {sum(t.o ?? 3)} {count(for v in t.o: is_null(v))}")\n'
    left = [name for name in names if name not in some]
    if left and draw.random() < 0.5:
        text += f'write_npy(t.{left[0]}, "left.npy")\n'
        return text, some, left[0]
    return text, some, None


def same(found, wanted):
    """Bit by bit, but that all NaNs are one."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    both = np.ascontiguousarray(found), np.ascontiguousarray(wanted)
    if np.issubdtype(wanted.dtype, np.integer):
        return np.array_equal(*both)
    nan = np.isnan(both[1])
    bits = np.uint64 if wanted.dtype == np.float64 else np.uint32
    return np.array_equal(np.isnan(both[0]), nan) and np.array_equal(both[0].view(bits)[~nan], both[1].view(bits)[~nan])


def case(place, seed, number):
    draw = random.Random(f"beside {seed} {number}")
    kind, dtype, sources = draw.choice(KINDS)
    n = draw.choice([0, 1, 9, 700, 5000, 150_001, 150_001])  # from 65,536 rows on there are several pieces
    names = [f"c{k}" for k in range(draw.randrange(2, 9))]
    columns = {name: column(draw, draw.choice(sources), n) for name in names}
    others = {"y": np.arange(n, dtype=np.float64), "o": np.ma.masked_array(np.arange(n), np.arange(n) % 5 == 1)}
    path = place.path / f"in{number}.{draw.choice(['parquet', 'parquet', 'arrow'])}"
    order = draw.sample([*columns, *others], len(columns) + 2)
    everything = {name: {**columns, **others}[name] for name in order}
    how = write(draw, path, everything)
    text, some, left = script_of(draw, path, kind, names)
    wanted = np.column_stack([columns[name].astype(dtype).astype(np.float64) for name in some])
    what = f"{n} rows of {kind} of {path.suffix} {how} (seed {seed}, {number})"
    place.write("s.flow", text)
    for options in (["--workers", "1"], ["--workers", "2"], ["--workers", "2", "--memory", "24MB"], ["--workers", "1", "-O0"]):
        for name in ("x.npy", "left.npy"):
            (place.path / name).unlink(missing_ok=True)
        done = place.run("run", "s.flow", "--no-cache", *options)
        if not check_run(done, f"{what} {options}"):
            continue
        check(same(np.load(place.path / "x.npy"), wanted), f"the matrix of {what} {options}", text)
        told = [float(v) for v in done.stdout.split()[-4:]]
        known = [sum(range(n)), n, sum(3 if i % 5 == 1 else i for i in range(n)), sum(i % 5 == 1 for i in range(n))]
        check(told == known, f"what is beside the matrix of {what} {options}", f"{told} {known}")
        check(not left or same(np.load(place.path / "left.npy"), columns[left].astype(dtype)), f"a column beside the matrix of {what} {options}", text)
    script = ranks.scratch(text.replace('write_npy(x, "x.npy")\n', ""))  # which would have it whole
    wrong = ranks.compare(script, WAYS)
    check(not wrong, f"{what} over ranks", "\n".join(wrong) + text)
    shutil.rmtree(script.parent)
    path.unlink()


def check_run(done, what):
    check(done.returncode == 0, what, done.stderr)
    return done.returncode == 0


def faults(place, seed, count):
    """What is said is what is said where columns are read as such."""
    for number in range(count):
        draw = random.Random(f"faults {seed} {number}")
        n = draw.choice([50, 3000, 70_000])
        names = ["a", "b", "c"]
        columns = {name: np.random.default_rng(number).normal(size=n) for name in names}
        how = draw.randrange(3)
        at = draw.randrange(n)
        if how == 0:
            columns["b"] = np.ma.masked_array(columns["b"], np.arange(n) == at)
        if how == 1:
            columns["c"] = np.arange(n) + 0
            columns["c"][at] = 1 << 40
        path = place.path / f"bad.{'parquet' if number % 3 else 'arrow'}"
        layout = write(draw, path, columns)
        if how == 2:
            data = bytearray(path.read_bytes())
            for _ in range(draw.choice([1, 1, 5, 100])):
                data[draw.randrange(len(data))] = draw.randrange(256)
            path.write_bytes(data)
        kind = "i32" if how == 1 else "f64"
        fields = ", ".join(f"{name}: {kind if name == 'c' else 'f64'}" for name in names)
        matrix = "matrix(t |> derive(d = f64(c)), a, b, d)" if how == 1 else "matrix(t)"
        place.write("s.flow", f'let t: ({fields})[_] = read_{path.suffix[1:]}("{path}")\nlet x = {matrix}\nlet z = x @ [1.0, 2.0, 3.0]\n'
                              'print("{sum([for v in z: if v == v { v } else { 0.5 }])} {len(x)}")\n')
        runs = [place.run("run", "s.flow", "--no-cache", *options) for options in (["-O0"], [], ["--workers", "1"])]
        said = [(r.returncode, r.stdout, r.stderr) for r in runs]
        check(said[0] == said[1] == said[2], f"a file that is wrong ({how}, {layout}, seed {seed}, {number})", "\n".join(map(str, said)))
        check(how == 2 or said[0][0] == 1, f"that it is wrong ({how}, seed {seed}, {number})", said[0])


count, seed = (int(w) for w in sys.argv[1:3]) if len(sys.argv) > 2 else (6 if SHORT else 16, 1)
spot = Place()
spot.env["FLOW_DUCKDB"] = "/nowhere"
for k in range(count):
    case(spot, seed, k)
faults(spot, seed, count)
finish()
