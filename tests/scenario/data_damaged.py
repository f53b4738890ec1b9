"""Damaged and crafted files of every format, read by a binary and by flowc: a table or a message about the file; never a signal,
never a bug in flow, never without end, never beyond the limit of memory.

60 files of each format; 15 with FLOW_TEST_SHORT=1; as many as the first argument says, from the seed that the second says,
of the formats that follow. Ways of damage: bits, bytes, numbers at the edges of their types, pieces cut out, doubled, moved,
the file cut off, signs and digits of texts; in packed formats also within what is packed."""
import gzip
import io
import random
import resource
import shutil
import subprocess
import sys
import zipfile
import zlib
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, FLOWC, PATIENCE, ROOT, SHARD, SHARDS, SHORT, Place, check, finish

# shards: 2
# seconds: 60
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 60 if ALL else 15 if SHORT else 30
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
SAMPLES = ROOT / "tests/run/files/formats"
LIMIT = 0 if PATIENCE > 1 else 6 << 30  # of addresses; programs with sanitizers need them all

ROW = "(id: i64, small: i8, x: f64?, name: text, ok: bool, day: date, at: datetime, maybe: i64?, gone: text?)"
PARTS = "(x: f64[_], m: i64[_, _], day: date[_], one: f64, flag: bool[_], name: text[_], title: text, grid: text[_, _])"
# format -> (file, what reads it, where types come from the file)
FORMATS = {
    "csv": ("t.csv", f"let t: {ROW}[_] = read_csv(path)", 'read_csv("t.csv")'),
    "csv.gz": ("t.csv.gz", f"let t: {ROW}[_] = read_csv(path)", 'read_csv("t.csv.gz")'),
    "tsv": ("t.tsv", f"let t: {ROW}[_] = read_csv(path)", 'read_csv("t.tsv")'),
    "json": ("t.json", f"let t: {ROW}[_] = read_json(path)", 'read_json("t.json")'),
    "jsonl": ("t.jsonl", f"let t: {ROW}[_] = read_jsonl(path)", 'read_jsonl("t.jsonl")'),
    "arrow": ("t.arrow", f"let t: {ROW}[_] = read_arrow(path)", 'read_arrow("t.arrow")'),
    "arrows": ("t.arrows", f"let t: {ROW}[_] = read_arrow(path)", 'read_arrow("t.arrows")'),
    "arrow.lz4": ("lz4.arrow", "", 'read_arrow("lz4.arrow")'),
    "arrow.nested": ("nested.arrows", "", 'read_arrow("nested.arrows", types = (ragged: text?, holes: text?, money: text?, times: text?))'),
    "sqlite": ("t.db", f'let t: {ROW}[_] = read_sqlite(path, table = "t")', 'read_sqlite("t.db", table = "t")'),
    "npy": ("x.npy", "let t: f64[_, _] = read_npy(path)", 'read_npy("x.npy")'),
    "npz": ("plain.npz", f"let t: {PARTS} = read_npz(path)", 'read_npz("plain.npz")'),
    "npz.packed": ("packed.npz", f"let t: {PARTS} = read_npz(path)", 'read_npz("packed.npz")'),
    "mat": ("texts.mat", "let t: (word: text, rows: text[_], cell: text[_, _]) = read_mat(path)", 'read_mat("texts.mat", "rows")'),
    "hdf5": ("some.h5", "let t: (x: f64[_, _], rate: f32, packed: u32[_, _], big: i64[_]) = read_hdf5(path)", 'read_hdf5("some.h5", "x")'),
    "png": ("rgb.png", "let t: u8[_, _, _] = read_image(path)", 'read_image("rgb.png")'),
    "jpeg": ("flat.jpg", "let t: u8[_, _, _] = read_image(path)", 'read_image("flat.jpg")'),
    "wav": ("short.wav", "let t = read_wav(path)", 'read_wav("short.wav")'),
    "saved": ("t.flowdata", f"let t: {ROW}[_] = load(path)", ""),
}
wanted = sys.argv[3:] or list(FORMATS)[SHARD::SHARDS]

place = Place(write__flow='''
let t = table(id = [1, 2, 3, 4], small = [i8(-1), i8(2), i8(3), i8(4)], x = [0.1, -0.5, null, 2.5], name = ["a", "ä", "x,y", "\\n"],
              ok = [true, false, true, true], day = [date("2026-01-31"), date("1969-12-31"), date("0001-01-01"), date("9999-12-31")],
              at = [datetime("2026-01-31T12:00:00.123456Z"), datetime("1950-01-01T00:00:00Z"), datetime("2000-01-01T00:00:00Z"), datetime("2001-01-01T00:00:00Z")])
  |> derive(maybe = if_else(id > 2, id, null), gone = if_else(id == 2, null, name))
t |> write_csv("t.csv")
t |> write_csv("t.csv.gz")
t |> write_tsv("t.tsv")
t |> write_json("t.json")
t |> write_jsonl("t.jsonl")
t |> write_arrow("t.arrow")
t |> write_arrow("t.arrows")
write_sqlite(t, "t.db", table = "t")
save(t, "t.flowdata")
write_npy([for i in 0..5, j in 0..3: i * 0.5 - j], "x.npy")
let parts = (x = [0.5, 1.5], m = [[1, 2], [3, 4]], day = t.day, one = 2.5, flag = t.ok, name = t.name, title = "äöü", grid = [["x", ""], ["", "y"]])
write_npz(parts, "plain.npz")
write_npz(parts, "packed.npz", compress = true)
''')
written = place.run("run", "--no-cache", "write.flow")
check(written.returncode == 0, "the files are written", written.stderr)
for sample in ("lz4.arrow", "nested.arrows", "texts.mat", "some.h5", "rgb.png", "flat.jpg", "short.wav"):
    shutil.copy(SAMPLES / sample, place.path)
readers = "".join(f'if kind == "{name}" {{\n  {reading}\n  show(t)\n}}\n' for name, (_, reading, _) in FORMATS.items() if reading)
place.write("read.flow", f'param path: file\nparam kind: text = "none"\n{readers}print("end")\n')
built = place.run("build", "read.flow", "-o", "read")
check(built.returncode == 0, "the binary builds", built.stderr)

EDGES = [0, 1, -1, 127, 128, 255, 32767, 65535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 32) + 1, (1 << 62), (1 << 63) - 1, -(1 << 63)]
WORDS = [b"null", b"nan", b"1e999", b"-", b'"', b"'", b",", b"\n", b"\r", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"99999999999999999999", b"{", b"}", b"[", b"]",
         b"2024-02-30", b"1_000", b"\\u0000", b"\\ud800", b"\xc0\x80", b"0x10", b"true"]


def damaged(whole, chance):
    """Other bytes, made from good ones."""
    data = bytearray(whole)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        at = chance.randrange(max(len(data), 1))
        length = chance.choice([1, 2, 4, 8, 16, 64])
        source = chance.randrange(max(len(data), 1))
        how = chance.randrange(11)
        if how == 0 and data:
            data[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            data[at : at + 1] = chance.choice([b"\0", b"\x7f", b"\x80", b"\xff"])
        elif how in (2, 3, 4):  # a number of some width at its natural place
            width = chance.choice([2, 4, 8])
            at -= at % chance.choice([width, 1])
            data[at : at + width] = (chance.choice(EDGES) & ((1 << 8 * width) - 1)).to_bytes(width, chance.choice(["little", "little", "big"]))
        elif how == 5:
            del data[at : at + length]
        elif how == 6:
            data[at:at] = data[source : source + length]
        elif how == 7:
            data[at : at + length] = data[source : source + length]
        elif how == 8:
            data[at:at] = chance.choice(WORDS)
        elif how == 9:
            del data[at:]
        else:
            data[at : at + length] = bytes(length)
    return bytes(data)


def repacked(name, whole, chance):
    """A packed file with other content, or None where nothing is packed."""
    if name == "csv.gz":
        return gzip.compress(damaged(gzip.decompress(whole), chance))
    if name.startswith("npz"):
        out, read = io.BytesIO(), zipfile.ZipFile(io.BytesIO(whole))
        victim = chance.choice(read.namelist())
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if name == "npz.packed" else zipfile.ZIP_STORED) as z:
            for member in read.namelist():
                z.writestr(member, damaged(read.read(member), chance) if member == victim else read.read(member))
        return out.getvalue()
    if name == "png":  # each block of it with the checksum that it should have
        data, at, out = bytearray(whole), 8, bytearray(whole[:8])
        while at + 12 <= len(data):
            n = int.from_bytes(data[at : at + 4], "big")
            kind, body = bytes(data[at + 4 : at + 8]), bytes(data[at + 8 : at + 8 + n])
            body = damaged(body, chance) if chance.random() < 0.5 else body
            out += len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")
            at += 12 + n
        return bytes(out)
    return None


def limited():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if LIMIT:
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def tried(command, what, statuses, path):
    try:
        done = subprocess.run(command, cwd=place.path, env=place.env, capture_output=True, timeout=60 * PATIENCE, preexec_fn=limited)
    except subprocess.TimeoutExpired:
        check(False, f"{what}: comes to an end")
        return
    said = done.stderr.decode("utf-8", "replace")
    check(done.returncode in statuses, f"{what}: status {statuses}, not {done.returncode}", said[-1500:])
    check(done.returncode == 0 or path in said, f"{what}: the message names the file", said[-1500:])


for name in wanted:
    path, reading, inferred = FORMATS[name]
    whole = (place.path / path).read_bytes()
    chance = random.Random(f"{SEED} {name}")
    if reading:
        good = subprocess.run(["./read", "--path", path, "--kind", name], cwd=place.path, env=place.env, capture_output=True)
        check(good.returncode == 0 and len(good.stdout) > 20, f"{name}: the good file is read", good.stderr)
    if inferred:
        place.write("infer.flow", f"let t = {inferred}\nshow(t)\n")
        good = place.run("run", "--no-cache", "infer.flow")
        check(good.returncode == 0, f"{name}: the good file is read by flowc", good.stderr)
    for k in range(COUNT):
        crafted = repacked(name, whole, chance) if k % 2 else None
        (place.path / path).write_bytes(damaged(whole, chance) if crafted is None else crafted)
        what = f"{name}, file {k} of seed {SEED}"
        if reading:
            tried(["./read", "--path", path, "--kind", name], what, (0, 1, 4), path)
        if inferred and (k % 4 == 0 or not reading):
            tried([FLOWC, "run", "--no-cache", "infer.flow"], f"{what}, by flowc", (0, 1, 3, 4), path)
    (place.path / path).write_bytes(whole)
finish()
