"""A store that came from elsewhere is not believed: it is refused with a message that says how to accept it, and what is in one
that was accepted, or that others may write to, is looked at before it is used. Entries of every kind of value are changed
and given the checksums that belong to them: nothing crashes, and no value shows that its type does not have."""
import ctypes
import os
import pathlib
import random
import shutil
import stat
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish, stages

place = Place(s__flow="""stage flags() -> bool[_] = [for i in 0..9: i % 3 == 0]
stage flag() -> bool = true
stage small() -> i8 = i8(-7)
stage byte() -> u8 = u8(7)
stage numbers() -> f64[_] = [1.5, -0.0, 0.0 / 0.0, 4.0]
stage number() -> f64 = 0.1
stage single() -> f32 = f32(0.5)
stage names() -> text[_] = [for i in 0..4: "Name ß{i}"]
stage name() -> text = "Straße {1 + 1}"
stage sizes() = table(size = category(["M", "S", null, "M"], levels = ["S", "M"]), n = [4, null, 2, 3])
stage dates() -> date[_] = [for i in 0..3: date("2024-01-01") + days(i)]
stage parts() = (a = [1, 2, 3], b = (c = "x", d = [true, false]))
stage lists() -> i64[_][_] = [for i in 0..4: [for j in 0..i: j]]
print("{flag()} {small()} {byte()} {number()} {single()} {name()}")
for b in flags() { print(if b { "yes" } else { "no" }) }
show(numbers())
for t in names() { print(upper(t), n_chars(t)) }
let t = sizes()
show(t)
show(t |> where(size >= "M") |> group_by(size) |> summarize(n = count()))
show(dates())
let p = parts()
print("{p.a[2]} {p.b.c} {count(p.b.d)}")
for l in lists() { print(len(l)) }
""")
first = place.run("run", "s.flow")
check(first.returncode == 0 and stages(first)[1] == 0, "all stages run", first.stdout + first.stderr)
truth, n = first.stdout, stages(first)[0]
again = place.run("run", "s.flow")
check(again.stdout == truth and stages(again) == (0, n) and "warning" not in again.stderr, "one's own store is used", again.stderr)
for path in place.store.rglob("*"):
    mode = stat.S_IMODE(path.stat().st_mode)
    check(mode & 0o077 == 0, f"nobody else may read or write {path.name}: {mode:o}")

# -- a folder that came along
whole = place.path / "whole"
shutil.copytree(place.store, whole)
shutil.rmtree(place.store)
shutil.copytree(whole, place.store)
foreign = place.run("run", "s.flow")
check(foreign.returncode == 0 and foreign.stdout == truth and stages(foreign) == (n, 0), "a copied store is not used", foreign.stderr)
check("flowc cache trust" in foreign.stderr and "not made by you" in foreign.stderr, "the message says how to accept it", foreign.stderr)
check(stages(place.run("run", "s.flow")) == (n, 0), "nothing of a refused store changes")
done = place.run("cache", "trust")
check(done.returncode == 0, "it is accepted", done.stdout + done.stderr)
done = place.run("run", "s.flow")
check(stages(done) == (0, n) and done.stdout == truth and "warning" not in done.stderr, "then it is used", done.stderr)
check(place.run("cache", "trust", "no/such").returncode == 2, "a folder that is not there is not accepted")
shutil.rmtree(place.store)
check(stages(place.run("run", "s.flow")) == (n, 0) and stages(place.run("run", "s.flow")) == (0, n), "a new one is one's own again")

# -- entries with other values and good checksums
xxh = ctypes.CDLL("libxxhash.so.0")


class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxh.XXH3_128bits.restype = Hash
xxh.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def digest(data):
    h = xxh.XXH3_128bits(bytes(data), len(data))
    return struct.pack("<QQ", h.low, h.high)


def parts_of(data):
    """(header, label, all before the payload, payload)"""
    label, key, payload = struct.unpack_from("<IQQ", data, 20)
    return data[128:128 + label].decode(), len(data) - payload


def crafted(data, payload):
    at = parts_of(data)[1]
    out = bytearray(data[:at] + payload)
    struct.pack_into("<Q", out, 32, len(payload))
    out[88:104] = digest(payload)
    out[112:128] = digest(out[:112])
    return bytes(out)


shutil.rmtree(place.store)
shutil.copytree(whole, place.store)
check(place.run("cache", "trust").returncode == 0, "the copy is accepted")
entries = {}
for path in (place.store / "objects").rglob("*"):
    if path.is_file():
        entries[parts_of(path.read_bytes())[0]] = path
good = {name: path.read_bytes() for name, path in entries.items()}
check(len(entries) == n and crafted(good["flag"], good["flag"][parts_of(good["flag"])[1]:]) == good["flag"], "entries are understood", entries)


def with_payload(name, change, what, must=True):
    """`must`: the changed value is none of its type, so what shows is what is so."""
    path, at = entries[name], parts_of(good[name])[1]
    payload = bytearray(good[name][at:])
    change(payload)
    path.write_bytes(crafted(good[name], bytes(payload)))
    done = place.run("run", "s.flow")
    check(done.returncode in ((0,) if must else (0, 1)), f"{name}, {what}: nothing crashes", f"{done.returncode}\n{done.stderr[-400:]}")
    if must:
        check(done.stdout == truth and "damaged" in done.stderr and stages(done) == (1, n - 1), f"{name}, {what}: computed again",
              done.stdout + done.stderr)
    path.write_bytes(good[name])


def find(name, pattern):
    at = parts_of(good[name])[1]
    place_of = good[name][at:].find(pattern)
    assert place_of >= 0, (name, pattern)
    return place_of


def put(name, pattern, new, what, offset=0):
    at = find(name, pattern) + offset

    def change(payload):
        payload[at:at + len(new)] = new
    with_payload(name, change, what)


BOOLS = bytes([1, 0, 0, 1, 0, 0, 1, 0, 0])
for value in 2, 7, 255:
    put("flags", BOOLS, bytes([value]), f"a bool of {value}", 4)
    put("flag", struct.pack("<4BQ", 0, 0, 0, 0, 1), struct.pack("<Q", value), f"a bool of {value}", 4)
put("parts", bytes([1, 0]) + bytes(62), b"\x03", "a bool of 3 in a tuple")
for value in -129, 128, 1 << 40, -(1 << 63):
    put("small", struct.pack("<q", -7), struct.pack("<q", value), f"an i8 of {value}")
for value in 256, -1, 1 << 63:
    put("byte", struct.pack("<Q", 7), struct.pack("<Q", value & (1 << 64) - 1), f"a u8 of {value}")
NAN = struct.pack("<Q", 0x7FF8000000000000)
for value in 0xFFF8000000000000, 0x7FF8000000000001, 0x7FF0000000000001:
    put("numbers", NAN, struct.pack("<Q", value), f"a NaN of {value:x}")
    put("number", struct.pack("<d", 0.1), struct.pack("<Q", value), f"a NaN of {value:x}")
put("single", struct.pack("<Q", 0x3F000000), struct.pack("<Q", 0x7FC00001), "an f32 NaN of other bits")
for bad in b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\x80":
    put("names", b"Name \xc3\x9f1", bad, f"a text of {bad!r}", 2)
    put("name", b"Stra\xc3\x9fe", bad, f"a text of {bad!r}", 1)
for row, value in [(0, 2), (0, -1), (1, 99), (3, 1 << 30), (3, -(1 << 31))]:
    put("sizes", struct.pack("<4i", 1, 0, 0, 1), struct.pack("<i", value), f"a code of {value} in row {row}", 4 * row)
put("sizes", struct.pack("<4i", 1, 0, 0, 1), struct.pack("<i", 1), "a code under a null", 8)
put("sizes", struct.pack("<4q", 4, 0, 2, 3), struct.pack("<q", 5), "a number under a null", 8)
put("sizes", bytes([1, 1, 0, 1]) + bytes(60), b"\x02", "a validity of 2")
put("sizes", b"SM" + bytes(62), b"S\xff", "a level that is no text")
for name, count in [("flags", 9), ("numbers", 4), ("names", 4), ("dates", 3)]:
    for value in count + 1, count - 1, 0, 1 << 40, 1 << 63, (1 << 64) - 1:
        put(name, struct.pack("<Q", count), struct.pack("<Q", value), f"{value} elements instead of {count}")
for value in 3, 5, 1 << 40, (1 << 64) - 1:
    put("sizes", struct.pack("<Q", 4), struct.pack("<Q", value), f"{value} rows instead of 4")
for offset in 0, 8, 16, 24, 32:
    for value in 0xFFFFFFFF, (1 << 64) - 8:
        put("names", struct.pack("<3Q", 0, 8, 16), struct.pack("<Q", value), f"the offset {value:x} at {offset}", offset)

# -- anything anywhere: whatever shows, nothing crashes
chance = random.Random(5)
for k in range(40 if SHORT else 300):
    name = chance.choice(sorted(entries))

    def change(payload):
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(payload))
            if chance.random() < 0.5:
                payload[at] ^= 1 << chance.randrange(8)
            else:
                word = chance.choice([0, 1, 255, 1 << 31, 1 << 32, (1 << 63) - 1, (1 << 64) - 1])
                payload[at // 8 * 8:at // 8 * 8 + 8] = struct.pack("<Q", word)[: len(payload) - at // 8 * 8]
        if chance.random() < 0.1:
            del payload[chance.randrange(len(payload)):]
    with_payload(name, change, f"change {k}", must=False)
done = place.run("run", "s.flow")
check(done.stdout == truth, "the entries as they were", done.stderr)

# -- a store that others may write to is looked at, too
shutil.rmtree(place.store)
check(stages(place.run("run", "s.flow")) == (n, 0), "a store of one's own")
for path in (place.store / "objects").rglob("*"):
    if path.is_file():
        entries[parts_of(path.read_bytes())[0]] = path
good = {name: path.read_bytes() for name, path in entries.items()}
os.chmod(place.store / "objects", 0o777)
put("flags", BOOLS, b"\x07", "in a folder that others may write to", 4)
finish()
