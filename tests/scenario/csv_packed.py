"""Compressed CSV files: what flow writes, gzip and zstd read, and flow reads back; damaged ones are errors, not values."""
import gzip
import pathlib
import random
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
place.write("make.flow", """param n: i64
let t = table(i = [for i in 0..n: i], x = [for i in 0..n: i / 3], s = [for i in 0..n: "ä,{i}"])
write_csv(t, "t.csv")
write_csv(t, "t.csv.gz")
write_csv(t, "t.csv.zst")
""")
place.write("same.flow", """type Row = (i: i64, x: f64, s: text)
let want: Row[_] = read_csv("t.csv")
let a: Row[_] = read_csv("t.csv.gz")
let b: Row[_] = read_csv("t.csv.zst")
assert len(a) == len(want) and len(b) == len(want)
for t in [1, 2] {
  let u = if t == 1 { a } else { b }
  assert all(u.i == want.i) and all(u.x == want.x) and all(u.s == want.s)
}
print(len(want))
""")
for n in (0, 1, 8192, 20000):
    done = place.run("run", "make.flow", "--n", str(n))
    check(done.returncode == 0, f"writes {n} rows", done.stderr)
    plain = (place.path / "t.csv").read_bytes()
    check(gzip.decompress((place.path / "t.csv.gz").read_bytes()) == plain, f"gzip reads {n} rows")
    if shutil.which("zstd"):
        unpacked = subprocess.run(["zstd", "-dc", place.path / "t.csv.zst"], capture_output=True)
        check(unpacked.stdout == plain, f"zstd reads {n} rows", unpacked.stderr)
    one = {name: (place.path / name).read_bytes() for name in ("t.csv.gz", "t.csv.zst")}
    place.run("run", "--workers", "1", "make.flow", "--n", str(n))
    for name, bytes_ in one.items():
        check((place.path / name).read_bytes() == bytes_, f"the same bytes on one worker, {name}, {n} rows")
    done = place.run("run", "same.flow")
    check(done.stdout == f"{n}\n", f"reads {n} rows back", done.stdout + done.stderr)

# Any byte changed or any end missing: an error that says so, or the same values; never others.
place.write("sum.flow", """let t: (i: i64, x: f64, s: text)[_] = read_csv(file("d.csv"))
print(len(t), sum(t.i), sum(t.x), count(for s in t.s: contains(s, "7")))
""")
good = {}
for name in ("t.csv.gz", "t.csv.zst"):
    shutil.copy(place.path / name, place.path / "d.csv")
    good[name] = place.run("run", "sum.flow").stdout
check(good["t.csv.gz"] == good["t.csv.zst"] != "", "both sums", good)
chance = random.Random(8)
for name in good:
    whole = (place.path / name).read_bytes()
    for k in range(12):
        damaged = bytearray(whole)
        if k % 3 == 0:
            del damaged[chance.randrange(4, len(whole)):]
        else:
            damaged[chance.randrange(4, len(whole))] ^= 1 << chance.randrange(8)
        (place.path / "d.csv").write_bytes(damaged)
        done = place.run("run", "sum.flow")
        # A cut between two members is a shorter file that is whole.
        whole_rows = done.returncode == 0 and (done.stdout == good[name] or k % 3 == 0)
        check(whole_rows or (done.returncode == 1 and "E0951" in done.stderr), f"{name} damaged, {k}",
              done.stdout + done.stderr)

# Members of gzip as others write them: of much or little, one or several, with what may stand behind them and what may not.
row = b"7,0.5,some text that returns\n"
heads = {"lines that repeat": gzip.compress(b"i,x,s\n" + row * 200000), "of hardly anything": gzip.compress(b"i,x,s\n" + row),
         "random": gzip.compress(b"i,x,s\n" + b"".join(b"%d,%r,%x\n" % (k, chance.random(), chance.getrandbits(64)) for k in range(5000)))}
tails = {"alone": b"", "with zeros": bytes(700), "with a small member": gzip.compress(row * 3), "with a large member": gzip.compress(row * 90000, 1),
         "with empty members": gzip.compress(b"") * 3}
for head, packed in heads.items():
    for tail, more in tails.items():
        (place.path / "d.csv").write_bytes(gzip.decompress(packed + more))
        want = place.run("run", "sum.flow").stdout
        for ways in ["--workers", "1"], ["--memory", "200M"]:
            (place.path / "d.csv").write_bytes(packed + more)
            done = place.run("run", *ways, "sum.flow")
            check(want and done.stdout == want, f"{head}, {tail}, {ways}", done.stdout + done.stderr)
    for what, at in ("the sum", -8), ("the size", -4):
        bad = bytearray(packed)
        bad[at] ^= 1
        (place.path / "d.csv").write_bytes(bad)
        done = place.run("run", "sum.flow")
        check(done.returncode == 1 and "is compressed with gzip and damaged" in done.stderr, f"{head}: {what} is another", done.stdout + done.stderr)
    (place.path / "d.csv").write_bytes(packed + b"more")
    done = place.run("run", "sum.flow")
    check(done.returncode == 1 and "followed by bytes that are not" in done.stderr, f"{head}, then what is none", done.stdout + done.stderr)
finish()
