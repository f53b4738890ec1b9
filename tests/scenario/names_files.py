"""Names of columns and arrays that come from files of each format, and that nobody expects: quotes, backticks, line ends, NUL, bytes that are no
UTF-8, 100 KB, empty, twice, right to left, names that look like types. Each name alone, by format: what is read has that name (Python compares what is
written as JSON), or the file is refused with a message; nothing crashes, and no control character reaches the terminal."""
# seconds: 10
import csv
import io
import json
import pathlib
import sqlite3
import struct
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

NAMES = {
    "backtick": b"a`b", "quotes": b"\"'", "line": b"a\nb", "return": b"a\rb", "escape": b"\x1b[31m", "NUL": b"a\0b", "no UTF-8": b"a\xff\xfe", "cut UTF-8": b"a\xe2\x82",
    "surrogate": b"\xed\xa0\x80", "long": b"x" * 100_000, "empty": b"", "space": b" ", "right to left": "\u202eשלום".encode(), "type": b"a: i64, b", "brackets": b")[_]",
    "braces": b"{x}", "comma": b"a,b", "percent": b"%s%n", "keyword": b"if", "number": b"0", "backslash": b"a\\", "slash": b"../a", "comment": b"# a", "dot": b".", "emoji": "👩‍🔬".encode(),
}
REFUSED = {"NUL", "no UTF-8", "cut UTF-8", "surrogate"}  # no text, or none that a name can be
TAKEN = set()
place = Place()


def npy(values):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * ((64 - (11 + len(head)) % 64) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}d", *values)


def make_csv(path, name):
    text = name.replace(b'"', b'""')
    path.write_bytes(b'k,"' + text + b'"\n1,2\n3,4\n')
    return True


def make_json(path, name):
    """What is no text stands there as its bytes."""
    try:
        path.write_text(json.dumps([{"k": 1, name.decode(): 2}, {"k": 3, name.decode(): 4}]))
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


MAKE = {"csv": (make_csv, "csv"), "json": (make_json, "json"), "sqlite": (make_sqlite, "db"), "npz": (make_npz, "npz")}
for format_, (make, end) in MAKE.items():
    for what, name in NAMES.items():
        path = place.path / f"f.{end}"
        try:
            if not make(path, name):
                continue
        except (UnicodeDecodeError, sqlite3.Error, ValueError):
            continue  # who writes such files cannot say it
        place.write("x.flow", f'let t = read_{format_}("f.{end}")\nshow(t)\nwrite_json(t, "out.json")\n' + ('write_arrow(t, "f.arrow")\nwrite_csv(t, "again.csv")\n' if format_ != "npz" else ""))
        (place.path / "out.json").unlink(missing_ok=True)
        done = place.run("run", "--quiet", "--no-cache", "--interp", "x.flow")
        label = f"{format_}, {what}"
        check(done.returncode in (0, 1, 3), f"{label}: the names are read, or a message", f"{done.returncode}\n{done.stderr[-400:]}")
        shown = done.stdout + done.stderr
        check(not any(c in shown for c in "\x1b\0\x07"), f"{label}: no control characters")
        if done.returncode:
            check(what in REFUSED and ("UTF-8" in shown or "E0286" in shown or "E0960" in shown), f"{label}: is refused for its name", shown[:300])
            continue
        check(what not in REFUSED or (format_, what) in TAKEN, f"{label}: is refused")
        value = json.loads((place.path / "out.json").read_text())
        keys = list(value) if format_ == "npz" else list(value[0])
        check(len(keys) == 2 and keys[0] == "k", f"{label}: two columns", [k[:50] for k in keys])
        has = keys[-1].encode("utf-8", "surrogatepass")
        check(has == name or (format_, what, has) == ("csv", "empty", b"column_2"), f"{label}: the name", repr(keys[-1])[:60])
        values = value[keys[-1]] if format_ == "npz" else [row[keys[-1]] for row in value]
        check([float(v) for v in values] == [2, 4], f"{label}: the values", values)
        if format_ == "json":
            place.write("y.flow", 'let t = read_arrow("f.arrow")\nwrite_json(t, "out.json")\nlet c = read_csv("again.csv")\nwrite_json(c, "csv.json")\n')
            again = place.run("run", "--quiet", "--no-cache", "--interp", "y.flow")
            check(again.returncode == 0 and json.loads((place.path / "out.json").read_text()) == value, f"{label}: through Arrow", again.stderr[-300:])
            check(what == "empty" or again.returncode == 0 and json.loads((place.path / "csv.json").read_text()) == value, f"{label}: through CSV", again.stderr[-300:])
finish()
