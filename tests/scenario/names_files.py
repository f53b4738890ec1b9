"""Names of columns and arrays that come from files of each format, and that nobody expects: quotes, backticks, line ends, NUL, bytes that are no
UTF-8, 100 KB, empty, twice, right to left, names that look like types. Each name alone, by format: what is read has that name (Python compares what is
written as JSON), or the file is refused with a message; nothing crashes, and no control character reaches the terminal."""
# seconds: 25
import csv
import ctypes
import io
import json
import os
import pathlib
import sqlite3
import struct
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import HDF5, Place, check, finish

NAMES = {
    "backtick": b"a`b", "quotes": b"\"'", "line": b"a\nb", "return": b"a\rb", "escape": b"\x1b[31m", "NUL": b"a\0b", "no UTF-8": b"a\xff\xfe", "cut UTF-8": b"a\xe2\x82",
    "surrogate": b"\xed\xa0\x80", "long": b"x" * 100_000, "empty": b"", "space": b" ", "right to left": "\u202eשלום".encode(), "type": b"a: i64, b", "brackets": b")[_]",
    "braces": b"{x}", "comma": b"a,b", "percent": b"%s%n", "keyword": b"if", "number": b"0", "backslash": b"a\\", "slash": b"../a", "comment": b"# a", "dot": b".", "emoji": "👩‍🔬".encode(),
    "twice": b"k", "twice but for case": b"K",
}
REFUSED = {"NUL", "no UTF-8", "cut UTF-8", "surrogate", "twice"}  # no text, or none that a name can be
ONE_NAME = {("parquet", "twice but for case")}  # to DuckDB
DUCKDB = os.environ.get("FLOW_DUCKDB", "")
place = Place()
place.env["FLOW_DUCKDB"] = DUCKDB


def npy(values):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * ((64 - (11 + len(head)) % 64) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}d", *values)


# What messages say of a name, or their codes.
WHY = ("UTF-8", "zero byte", "E0249", "E0286", "E0935", "E0960", "E0966", "Invalid unicode")


def make_csv(path, name):
    text = name.replace(b'"', b'""')
    path.write_bytes(b'k,"' + text + b'"\n1,2\n3,4\n')
    return True


def make_json(path, name):
    """What is no text stands there as its bytes."""
    try:
        text = json.dumps(name.decode())
        path.write_text(f'[{{"k": 1, {text}: 2}}, {{"k": 3, {text}: 4}}]')
    except UnicodeDecodeError:
        path.write_bytes(b'[{"k": 1, "' + name + b'": 2}, {"k": 3, "' + name + b'": 4}]')
    return True


def make_sqlite(path, name):
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as db:
        try:
            text, replaced = name.decode(), None
        except UnicodeDecodeError:  # in the text of the table's declaration
            text = replaced = "Q" * len(name)
        quoted = '"' + text.replace('"', '""') + '"'
        db.execute(f"CREATE TABLE t (k INTEGER NOT NULL, {quoted} INTEGER NOT NULL)")
        db.executemany("INSERT INTO t VALUES (?, ?)", [(1, 2), (3, 4)])
    db.close()
    if replaced:
        path.write_bytes(path.read_bytes().replace(f'"{replaced}"'.encode(), b'"' + name + b'"'))
    return True


def make_npz(path, name):
    """The name in both headers, as bytes: zipfile takes texts alone, so a name of its length is replaced."""
    stand_in = "Q" * len(name + b".npy")
    if len(stand_in) > 60_000:  # no archive can say it
        return False
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("k.npy", npy([1, 3]))
        z.writestr(stand_in, npy([2, 4]))
    path.write_bytes(out.getvalue().replace(stand_in.encode(), name + b".npy"))
    return True


def make_mat(path, name):
    """MATLAB 5: the header, then a matrix a variable: elements flags, dims, name, numbers, each filled up to 8 bytes."""
    def element(kind, data):
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)

    if not 0 < len(name) < 64:  # no name that flow takes
        return False
    out = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    for called, values in ((b"k", [1, 3]), (name, [2, 4])):
        out += element(14, element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", 1, 2)) + element(1, called)
                       + element(9, struct.pack("<2d", *values)))
    path.write_bytes(out)
    return True


def make_hdf5(path, name):
    """By the library; what it does not take as the name of an object is left out."""
    if b"\0" in name or b"/" in name or name in (b"", b"."):
        return False
    lib = ctypes.CDLL(HDF5[0])
    for called in ("H5Fcreate", "H5Screate_simple", "H5Dcreate2"):
        getattr(lib, called).restype = ctypes.c_int64
    lib.H5open()
    lib.H5Eset_auto2(ctypes.c_int64(0), None, None)
    double = ctypes.c_int64.in_dll(lib, "H5T_NATIVE_DOUBLE_g")
    none, ok = ctypes.c_int64(0), True
    file = lib.H5Fcreate(bytes(path), ctypes.c_uint(2), none, none)
    space = lib.H5Screate_simple(1, (ctypes.c_uint64 * 1)(2), None)
    for called, values in ((b"k", (1, 3)), (name, (2, 4))):
        made = lib.H5Dcreate2(ctypes.c_int64(file), called, double, ctypes.c_int64(space), none, none, none)
        ok = ok and made >= 0
        if ok:
            lib.H5Dwrite(ctypes.c_int64(made), double, none, none, none, (ctypes.c_double * 2)(*values))
            lib.H5Dclose(ctypes.c_int64(made))
    lib.H5Fclose(ctypes.c_int64(file))
    return ok


def by_flow(path, name, write):
    """Written by flow with a name of the same length, which is then replaced wherever it stands."""
    stand_in = "Q" * len(name)
    if not stand_in:  # what comes through JSON has it
        return False
    place.write("make.flow", f'write_{write}(table(k = [1, 3], {stand_in} = [2, 4]), "{path.name}")\n')
    done = place.run("run", "--quiet", "--no-cache", "--interp", "make.flow")
    check(done.returncode == 0, f"{write}: a file is made", done.stderr[-300:])
    path.write_bytes(path.read_bytes().replace(stand_in.encode(), name))
    return True


def make_arrow(path, name):
    return by_flow(path, name, "arrow")


def make_parquet(path, name):
    return by_flow(path, name, "parquet")


MAKE = {"csv": (make_csv, "csv"), "json": (make_json, "json"), "sqlite": (make_sqlite, "db"), "npz": (make_npz, "npz"),
        "mat": (make_mat, "mat"), "hdf5": (make_hdf5, "h5"), "arrow": (make_arrow, "arrow")}
ARRAYS = {"npz", "mat", "hdf5"}
if pathlib.Path(DUCKDB).is_file():
    MAKE["parquet"] = (make_parquet, "parquet")
else:
    print("note: Parquet needs DuckDB's library (FLOW_DUCKDB) and is left out")
for format_, (make, end) in MAKE.items():
    for what, name in NAMES.items():
        path = place.path / f"f.{end}"
        try:
            if not make(path, name):
                continue
        except (UnicodeDecodeError, sqlite3.Error, ValueError):
            continue  # who writes such files cannot say it
        place.write("x.flow", f'let t = read_{format_}("f.{end}")\nshow(t)\nwrite_json(t, "out.json")\n' + ('write_arrow(t, "f.arrow")\nwrite_csv(t, "again.csv")\n' if format_ == "json" else ""))
        (place.path / "out.json").unlink(missing_ok=True)
        done = place.run("run", "--quiet", "--no-cache", "--interp", "x.flow")
        label = f"{format_}, {what}"
        check(done.returncode in (0, 1, 3), f"{label}: the names are read, or a message", f"{done.returncode}\n{done.stderr[-400:]}")
        shown = done.stdout + done.stderr
        check(not any(c in shown for c in "\x1b\0\x07"), f"{label}: no control characters")
        if done.returncode:
            refused = what in REFUSED or (format_, what) in ONE_NAME
            check(refused and any(why in shown for why in WHY), f"{label}: is refused for its name", shown[:300])
            if format_ == "hdf5":
                place.write("y.flow", 'show(read_hdf5("f.h5", name = "k"))\n')
                again = place.run("run", "--quiet", "--no-cache", "--interp", "y.flow")
                check(again.returncode == 0 and again.stdout, f"{label}: the others can be read by their names", again.stderr[-300:])
            continue
        value = json.loads((place.path / "out.json").read_text())
        keys = list(value) if format_ in ARRAYS else list(value[0])
        keys.sort(key=lambda key: key != "k")  # HDF5 has them by name
        check(what not in REFUSED and (format_, what) not in ONE_NAME, f"{label}: is refused")
        check(len(keys) == 2 and keys[0] == "k", f"{label}: two columns", [k[:50] for k in keys])
        has = keys[-1].encode("utf-8", "surrogatepass")
        check(has == name or (format_, what, has) == ("csv", "empty", b"column_2"), f"{label}: the name", repr(keys[-1])[:60])
        values = value[keys[-1]] if format_ in ARRAYS else [row[keys[-1]] for row in value]
        values = values[0] if format_ == "mat" else values  # matrices
        check([float(v) for v in values] == [2, 4], f"{label}: the values", values)
        if format_ == "json":
            place.write("y.flow", 'let t = read_arrow("f.arrow")\nwrite_json(t, "out.json")\nlet c = read_csv("again.csv")\nwrite_json(c, "csv.json")\n')
            again = place.run("run", "--quiet", "--no-cache", "--interp", "y.flow")
            check(again.returncode == 0 and json.loads((place.path / "out.json").read_text()) == value, f"{label}: through Arrow", again.stderr[-300:])
            check(what == "empty" or again.returncode == 0 and json.loads((place.path / "csv.json").read_text()) == value, f"{label}: through CSV", again.stderr[-300:])
finish()
