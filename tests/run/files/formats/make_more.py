# The samples of SQLite, images, sounds, HDF5 and MATLAB: python3 make_more.py FOLDER
# (NumPy 2, SciPy 1, h5py 3, Pillow 12, soundfile 0.13).
import sqlite3
import struct
import sys

import h5py
import numpy as np
import scipy.io
import soundfile
from PIL import Image

folder = sys.argv[1]

db = sqlite3.connect(f"{folder}/shop.db")
db.executescript('''
create table sales (id integer primary key, name text not null, price real, n int, paid boolean, day date, at datetime,
                    code varchar(10), mixed numeric, picture blob);
insert into sales values (1, 'apple', 1.5, 3, 1, '2026-01-31', '2026-01-31 12:00:00', '007', 1, x'00ff'),
  (2, 'pear', 2, null, 0, '2026-02-01', '2026-02-01T00:00:00', '12', 2.5, null),
  (3, 'plüm', null, -4, 1, null, null, 'x', 3, null);
create table "odd name" (a, "b ""c""");
insert into "odd name" values ('t', 1), ('u', 2);
create table bad (n int);
insert into bad values (1), ('many'), (3);
''')
db.close()

rgb = np.arange(2 * 3 * 3, dtype="u1").reshape(2, 3, 3) * 10
Image.fromarray(rgb).save(f"{folder}/rgb.png")
Image.fromarray(255 - rgb).save(f"{folder}/rgb2.png")
Image.fromarray(rgb[:, :, 0]).save(f"{folder}/gray.png")
Image.fromarray(np.dstack([rgb, rgb[:, :, :1]])).save(f"{folder}/alpha.png")
Image.fromarray(rgb).convert("P", palette=Image.Palette.ADAPTIVE).save(f"{folder}/palette.png")
Image.fromarray(np.full((8, 8, 3), (200, 100, 50), "u1")).save(f"{folder}/flat.jpg", quality=95)
Image.fromarray(np.full((8, 16), 77, "u1")).save(f"{folder}/flat_gray.jpg", quality=95)

t = np.arange(8)
soundfile.write(f"{folder}/short.wav", np.stack([t / 8, -t / 8], 1), 8000, "PCM_16")
soundfile.write(f"{folder}/mono.flac", t / 8 - 0.5, 44100, "PCM_16")

with h5py.File(f"{folder}/some.h5", "w") as f:
    f["x"] = np.arange(6.0).reshape(2, 3)
    f["run/speed"] = np.arange(-2, 3, dtype="i2")
    f["run/on"] = np.array([True, False])
    f["rate"] = np.float32(2.5)
    f.create_dataset("packed", data=np.arange(1000, dtype="u4").reshape(10, 100), compression="gzip", chunks=(5, 50))
    f["big"] = np.arange(3, dtype=">i8")
    f["names"] = ["a", "b"]
    f["out"] = h5py.ExternalLink("other.h5", "/x")

variables = dict(x=np.arange(6.0).reshape(2, 3), n=np.array([[1, -2]], "i4"), s=np.float32([[1.5], [2.5]]),
                 flag=np.array([[True, False]]), cube=np.arange(24, dtype="u1").reshape(2, 3, 4), one=3.0,
                 word="text", cell=np.array([["a", 1]], object))
scipy.io.savemat(f"{folder}/plain.mat", variables)
scipy.io.savemat(f"{folder}/packed.mat", variables, do_compression=True)
with h5py.File(f"{folder}/new.mat", "w", userblock_size=512) as f:
    for name, value, kind in [("x", variables["x"].T, b"double"), ("flag", np.array([[1], [0]], "u1"), b"logical"),
                              ("cube", variables["cube"].T, b"uint8"), ("word", np.array([[116]], "u2"), b"char")]:
        f[name] = value
        f[name].attrs["MATLAB_class"] = np.bytes_(kind)
with open(f"{folder}/new.mat", "r+b") as f:
    f.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")

with h5py.File(f"{folder}/texts.h5", "w") as f:
    f["words"] = ["a", "zwölf", ""]
    f["grid"] = np.array([["a", "bc"], ["d", ""]], dtype=object).astype(h5py.string_dtype())
    f["fixed"] = np.array([b"ab", b"c", b""], "S4")
    f.create_dataset("utf8", data=np.array(["ä".encode(), b"xyz"], dtype=h5py.string_dtype("utf-8", 5)))
    f["title"] = "one text"
    f["none"] = np.array([], dtype="S3")
    f["x"] = np.arange(3.0)


def units(rows):  # as MATLAB has char arrays
    return np.array([np.frombuffer(r.encode("utf-16le"), "u2") for r in rows], "u2").T


with h5py.File(f"{folder}/texts73.mat", "w", userblock_size=512) as f:
    def put(name, value, kind, empty=False):
        f[name] = value
        f[name].attrs["MATLAB_class"] = np.bytes_(kind)
        if empty:
            f[name].attrs["MATLAB_empty"] = np.uint8(1)
        return f[name].ref
    put("word", units(["täxt"]), "char")
    put("rows", units(["ab ", "cde"]), "char")
    put("nothing", np.zeros(2, "u8"), "char", True)
    put("zero", np.array([0, 3], "u8"), "double", True)
    refs = [put(f"#refs#/{n}", units([t]) if t else np.zeros(2, "u8"), "char", not t)
            for n, t in zip("abcdef", ["one", "two", "", "fo\U0001F600r", "five", "six"])]
    put("cell", np.array([[refs[0], refs[1]], [refs[2], refs[3]], [refs[4], refs[5]]], dtype=h5py.ref_dtype), "cell")
    put("mixed", np.array([[refs[0]], [put("#refs#/n", np.array([[1.0]]), "double")]], dtype=h5py.ref_dtype), "cell")
with open(f"{folder}/texts73.mat", "r+b") as f:
    f.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")

texts = dict(word="täxt", rows=np.array(["ab ", "cde"]), nothing="", long="a text of more than four bytes",
             cell=np.array([["one", "", "five"], ["two", "fo\U0001F600r", "six"]], object),
             mixed=np.array([["a", 1.0]], object), x=np.arange(3.0))
scipy.io.savemat(f"{folder}/texts.mat", texts)
scipy.io.savemat(f"{folder}/texts_packed.mat", texts, do_compression=True)


def element(kind, data):  # of a big-endian MAT file
    return struct.pack(">II", kind, len(data)) + data + bytes(-len(data) % 8)


def chars(name, rows, kind=4):  # UTF-16 as MATLAB writes it, or bytes
    codes = [r.encode("utf-16be" if kind == 4 else "latin-1") for r in rows]
    step = 2 if kind == 4 else 1
    n = len(codes[0]) // step
    data = b"".join(c[k * step:(k + 1) * step] for k in range(n) for c in codes)
    return matrix(name, 4, (len(rows), n), element(kind, data))


def matrix(name, kind, dims, parts):
    return element(14, element(6, struct.pack(">II", kind, 0)) + element(5, struct.pack(f">{len(dims)}i", *dims)) +
                   element(1, name.encode()) + parts)


with open(f"{folder}/texts_big.mat", "wb") as f:
    f.write(b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI")
    f.write(chars("word", ["fo\U0001F600r"]) + chars("rows", ["ab ", "cdé"]) + chars("latin", ["dé"], 2))
    f.write(matrix("cell", 1, (2, 1), chars("", ["one"]) + chars("", ["zwölf"])))
