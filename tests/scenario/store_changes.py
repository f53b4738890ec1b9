"""Files that change while they are read: rename, write in place (also with the times and the size kept), truncate, append,
replace and put back, links that lead elsewhere, commits into a write-ahead log; at random moments of a run, for every format,
files by a pattern, files of `exec`, and row types that the code cache remembers. What a run says meanwhile is its own; but
afterwards, whatever content there is, a run with the store gives what one with --no-cache gives.

60 rounds; 30 with FLOW_TEST_SHORT=1; as many as the first argument says, from the seed that the second says."""
import gzip
import os
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
import wave
import zipfile
import io

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, ROOT, SHARD, SHARDS, SHORT, Place, check, finish

# shards: 3

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else (30 if SHORT else 60) // SHARDS
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1 + SHARD
chance = random.Random(SEED)
place = Place()
os.chdir(place.path)

# Between the key of the stage and its reading lies a loop; the moments of change are spread over all of it.
LOOP = """ var i = 0
 var k = 0
 while k < 6000000 { i = (i * 31 + k) % 1000003
 k = k + 1 }
 let zero = if i < 0 { 1 } else { 0 }
"""


def stage(reading, value, *, file="t"):
    return f'param f: file = "{file}"\nstage g(f: file) {{\n{LOOP} let t = {reading}\n ({value}, zero) }}\nlet (a, b) = g(f)\nprint("{{a}} {{b}}")\n'


def csv(rows, step, kind=int):
    return "".join(["a,b\n"] + [f"{kind(k % 97 * step)},x{k % 13 * step}\n" for k in range(rows)]).encode()


def npy(values):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)},), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}d", *values)


def npz(values):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo("a.npy"), npy(values))
    return out.getvalue()


def wav(step):
    out = io.BytesIO()
    with wave.open(out, "wb") as w:
        w.setnchannels(1), w.setsampwidth(2), w.setframerate(8000)
        w.writeframes(struct.pack("<1000h", *[k * step % 3000 for k in range(1000)]))
    return out.getvalue()


def made_by_flow(text, name):
    """The bytes of the file that a script writes."""
    place.write("make.flow", text)
    done = place.run("run", "--no-cache", "make.flow")
    assert done.returncode == 0, done.stderr
    data = (place.path / name).read_bytes()
    (place.path / name).unlink()
    return data


def database(values):
    pathlib.Path("d.tmp").unlink(missing_ok=True)
    c = sqlite3.connect("d.tmp")
    c.execute("create table t(a int)")
    c.executemany("insert into t values (?)", [(v,) for v in values])
    c.commit()
    c.close()
    data = pathlib.Path("d.tmp").read_bytes()
    pathlib.Path("d.tmp").unlink()
    return data


def json_of(step, end, mark):
    return (mark[0] + end.join('{"a": %d}' % (k * step) for k in range(2000)) + mark[1]).encode()


def mat(values):
    """A MATLAB file of version 5 with one array, y."""
    def element(kind, data):
        return struct.pack("<2I", kind, len(data)) + data + b"\0" * (-len(data) % 8)
    array = element(6, struct.pack("<2I", 6, 0)) + element(5, struct.pack("<2i", len(values), 1)) + element(1, b"y")
    array += element(9, struct.pack(f"<{len(values)}d", *values))
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM" + element(14, array)


# No library here writes HDF5: a file that h5py made, and one with other numbers in its array x.
HDF5 = (ROOT / "tests/run/files/formats/some.h5").read_bytes()
HDF5_OTHER = HDF5.replace(struct.pack("<3d", 1, 2, 3), struct.pack("<3d", 7, 2, 3))

TABLE = "sum(t.a)"
FORMATS = {
    "csv": (stage("read_csv(f)", 'sum(t.a) + count(starts_with(t.b, "x1"))'), csv(3000, 1), csv(3000, 3)),
    "csv, same size": (stage("read_csv(f)", TABLE), csv(900, 1), csv(900, 1).replace(b"96,x", b"69,x")),
    "csv, mapped": (stage("read_csv(f)", 'sum(t.a) + count(starts_with(t.b, "x1"))'), csv(700000, 1), csv(700000, 3)),
    "csv.gz": (stage("read_csv(f)", TABLE, file="t.csv.gz"), gzip.compress(csv(9000, 1), mtime=0), gzip.compress(csv(9000, 3), mtime=0)),
    "csv, types sampled": ('stage g(n: i64) = sum(read_csv("t").a) + n\nlet t = read_csv("t")\nprint(t.a[1], g(1))\n', csv(500, 1),
                           csv(500, 3, float)),
    "csv, sampled, same size": ('let t = read_csv("t")\nprint(t.a[0], sum(t.a))\n', b"a\n1.5\n2.5\n", b"a\n100\n250\n"),
    "csv, in main": ('let t = read_csv("t")\nstage g(a: i64[n]) -> i64 {\n' + LOOP + ' sum(a) + zero }\nprint(g(t.a))\n', csv(3000, 1), csv(3000, 3)),
    "npy": (stage("read_npy(f)", "sum(t)"), npy([1.0, 2.0] * 500), npy([5.0, 6.0] * 500)),
    "npz": (stage("read_npz(f)", "sum(t.a)"), npz([1.0, 2.0] * 500), npz([5.0, 6.0] * 500)),
    "json": (stage("read_json(f)", TABLE), json_of(1, ", ", "[]"), json_of(3, ", ", "[]")),
    "jsonl": (stage("read_jsonl(f)", TABLE), json_of(1, "\n", ["", "\n"]), json_of(3, "\n", ["", "\n"])),
    "arrow": (stage("read_arrow(f)", TABLE), *[made_by_flow(f'write_arrow(table(a = [for i in 0..3000: {s} * i]), "t.arrow")', "t.arrow") for s in (1, 3)]),
    "load": ('param f: file = "t"\nstage g(f: file) -> i64 {\n' + LOOP + " let t: (a: i64[_], b: text) = load(f)\n sum(t.a) + zero }\nprint(g(f))\n",
             *[made_by_flow(f'save((a = [for i in 0..3000: {s} * i], b = "x"), "t.v")', "t.v") for s in (1, 3)]),
    "image": (stage("read_image(f)", "sum(for p in reshape(t, 300): i64(p))"),
              *[made_by_flow(f'write_image([for i in 0..10, j in 0..10, c in 0..3: u8(i * {s} + j)], "t.png")', "t.png") for s in (1, 3)]),
    "sound": (stage("read_wav(f)", "sum(for s in reshape(t.samples, 1000): f64(s))"), wav(1), wav(3)),
    "hdf5": (stage('read_hdf5(f, "x")', "sum(reshape(t, 6))"), HDF5, HDF5_OTHER),
    "mat": (stage('read_mat(f, "y")', "sum(reshape(t, 500))"), mat([1.0, 2.0] * 250), mat([5.0, 6.0] * 250)),
    "sqlite": (stage('read_sqlite(f, table = "t")', TABLE), database(range(50)), database(range(0, 150, 3))),
    "exec": ('stage g(n: i64) -> (a: i64)[_] = exec("sleep 0.03; cat t; sleep 0.02", deps = ["t"])\nprint(sum(g(1).a))\n',
             b"a\n1\n2\n", b"a\n5\n6\n"),
    "pattern": ('stage g(f: file[n]) -> i64 {\n' + LOOP + ' let t = read_csv(f, types = (a: i64, b: text))\n sum(t.a) + zero }\nprint(g(files("t*").file))\n',
                csv(300, 1), csv(300, 3)),
}


def put(path, data):
    """By rename, as careful writers do."""
    for beside in ("-wal", "-shm", "-journal"):
        pathlib.Path(path + beside).unlink(missing_ok=True)
    pathlib.Path("n.tmp").write_bytes(data)
    os.rename("n.tmp", path)


def in_place(path, data):
    with open(path, "r+b") as f:
        f.write(data[: len(data) // 2])
        f.flush()
        f.write(data[len(data) // 2 :])
        f.truncate()


def in_place_quietly(path, data):
    """The time of modification as it was."""
    before = os.stat(path)
    in_place(path, data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def there_and_back(path, data):
    old = pathlib.Path(path).read_bytes()
    put(path, data)
    time.sleep(chance.random() * 0.05)
    put(path, old)


def through_link(path, data):
    old = pathlib.Path(path).read_bytes()
    pathlib.Path("one.old").write_bytes(old)
    pathlib.Path("one.new").write_bytes(data)
    for target in ["one.new"] + ["one.old"] * chance.randrange(2):
        pathlib.Path("l.tmp").unlink(missing_ok=True)
        os.symlink(target, "l.tmp")
        os.rename("l.tmp", path)
        time.sleep(chance.random() * 0.03)


def truncate(path, data):
    os.truncate(path, chance.randrange(max(os.stat(path).st_size, 1)))


def append(path, data):
    with open(path, "ab") as f:
        f.write(b"7,x\n" if b"a,b" in data[:4] else data[-20:])


def commit(path, data):
    """Rows committed into the write-ahead log; the connection stays open, or closes and so moves them into the file."""
    c = sqlite3.connect(path)
    c.execute("pragma journal_mode = wal")
    c.execute("pragma wal_autocheckpoint = 0")
    c.execute("insert into t values (?)", (chance.randrange(1000),))
    c.commit()
    if chance.random() < 0.4:
        c.close()
    else:
        opened.append(c)


def vanish(path, data):
    os.unlink(path)
    time.sleep(chance.random() * 0.02)
    pathlib.Path(path).write_bytes(data)


CHANGES = [put, in_place, in_place_quietly, there_and_back, through_link, truncate, append, vanish]
opened = []
if len(sys.argv) > 3:  # only these formats
    FORMATS = {name: FORMATS[name] for name in sys.argv[3:]}
truths = {}
hits = changed_runs = 0


def outcome(done):
    return done.returncode, done.stdout if done.returncode == 0 else ""


def files_now(path):
    return tuple((str(p), p.read_bytes()) for p in sorted(pathlib.Path(".").glob("t*")) if not str(p).endswith("-shm"))


def compare(name, path, how, what):
    """A run with the store, against the interpreter's without any, which need not wait for a change."""
    global hits
    with_store = place.run("run", "--allow-exec", "x.flow")
    key = (name, files_now(path))
    if key not in truths:
        place.write("sure.flow", FORMATS[name][0].replace(LOOP, " let zero = 0\n"))
        truths[key] = outcome(subprocess.run([FLOWC, "run", "--interp", "--allow-exec", "--no-cache", "sure.flow"], capture_output=True,
                                             text=True, env=dict(place.env, FLOW_CODE_CACHE="")))
    hits += " 0 run" in with_store.stderr
    status = truths[key][0]
    check(outcome(with_store) == truths[key] or (status and with_store.returncode), f"{name}, {how}, {what}: the store gives what is so",
          f"store {outcome(with_store)}, truth {truths[key]}\n{with_store.stderr[-300:]}")


for k in range(ROUNDS):
    name = list(FORMATS)[k % len(FORMATS)]
    script, first, second = FORMATS[name]
    for old in list(pathlib.Path(".").glob("t*")) + list(pathlib.Path(".").glob("one.*")):
        old.unlink()
    for c in opened:
        c.close()
    opened.clear()
    shutil.rmtree(".flow", ignore_errors=True)
    path = "t.csv.gz" if name == "csv.gz" else "t1" if name == "pattern" else "t"
    change = chance.choice([commit] * 3 + CHANGES if name == "sqlite" else CHANGES)
    how = change.__name__
    if name == "pattern":
        put("t0", first)
    put(path, first)
    place.write("x.flow", script)
    process = place.start("run", "--allow-exec", "x.flow")
    time.sleep(chance.random() ** 2 * 0.25)
    changed_runs += process.poll() is None
    change(path, second)
    out, err = process.communicate(timeout=100)
    check(process.returncode in (0, 1, 3), f"{name}, {how}: the run ends as runs do", f"{process.returncode} {err[-500:]}")
    compare(name, path, how, "as it is now")
    for c in opened:
        c.close()
    opened.clear()
    compare(name, path, how, "closed")
    again = [first, second]
    chance.shuffle(again)
    for data in again:
        pathlib.Path(path).unlink(missing_ok=True)
        put(path, data)
        compare(name, path, how, "the first" if data is first else "the second")
        check(truths[name, files_now(path)][0] == 0, f"{name}: a whole file is read")
print(f"{ROUNDS} rounds, {changed_runs} changed during the run, {hits} hits")
finish()
