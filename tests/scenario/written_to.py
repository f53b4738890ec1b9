"""Mapped files of every format that another program writes to all the while a run reads them and works with their texts:
the run ends as runs do, with a result or an error, never by a signal.

Whoever looks at a text twice (counts, then stores) must not trust the first look. 4 rounds a format, one worker and two, wild and gentle damage; as many as the first
argument says, from the seed that the second says, of the formats that the others name. ./build.sh asan finds more."""
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, Place, check, finish

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 4
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
ROWS = 180000  # more than 4 MiB, up to which files are read and not mapped
place = Place()
os.chdir(place.path)

USES = """print(len(t), sum(t.a))
let u = t |> derive(b = upper(b), c = replace(b, "x", "yy"), d = "{b}:{c}", n = n_chars(b), p = slice(b, 0, 2))
print(len(u |> group_by(b) |> summarize(n = count())))
print(len(u |> sort(d)), sum(u.n), len(u |> distinct(p)))
print(len(t |> where(contains(b, "x1") or starts_with(c, "word"))))
print(len(split_text(join_text(u.d, ","), "x")))
print(len(t |> join(u |> distinct(b), on = b, how = "left")))
write_csv(u, "out.csv")
write_json(u, "out.json")
write_arrow(u, "out.arrow")
"""
MAKE = """let t = table(a = [for i in 0..%d: i], b = [for i in 0..%d: "x{i}, \\"y\\" {i * 31 %% 977}"], c = [for i in 0..%d: "wörd {i %% 50}"])
"""  % (ROWS, ROWS, ROWS)
TYPES = 'types = (a: i64, b: text, c: text)'
# name -> how it is written, how it is read; bytes that mean something in it
FORMATS = {
    "csv": ('write_csv(t, "f")', f'read_csv(f, {TYPES})', b',"\n\r x1-.\xc3\xff'),
    "collected": ('write_csv(t, "f")', f'read_csv(f, {TYPES}, on_error = "collect")', b',"\n\r x1-.\xc3\xff'),
    "latin": ('write_csv(t, "f")', f'read_csv(f, encoding = "latin-1", {TYPES})', b',"\n\r x1\xc3\xff\xe9'),
    "json": ('write_json(t, "f")', "read_json(f)", b'{}[]",:\\u1-.e \n\xc3'),
    "jsonl": ('write_jsonl(t, "f")', "read_jsonl(f)", b'{}[]",:\\u1-.e \n\xc3'),
    "arrow": ('write_arrow(t, "f")', "read_arrow(f)", bytes(range(256))),
}


def damage(path, marks, stay, chance, over):
    """Writes bytes anywhere until it is over; `stay` of them stay, the others are put back."""
    fd, size = os.open(path, os.O_RDWR), os.stat(path).st_size
    while not over.is_set():
        for _ in range(200):
            at = chance.randrange(size) if chance.random() < 0.9 else chance.choice([chance.randrange(4096), size - 1 - chance.randrange(4096)])
            old = os.pread(fd, 1, at)
            os.pwrite(fd, bytes([chance.choice(marks)]), at)
            if chance.random() >= stay:
                os.pwrite(fd, old, at)
        time.sleep(0)
    os.close(fd)


def main():
    ends = {}
    for name in sys.argv[3:] or FORMATS:
        writes, reads, marks = FORMATS[name]
        place.write("make.flow", MAKE + writes + "\n")
        place.write("x.flow", f'param f: file = "f"\nlet t = {reads}{".rows" if name == "collected" else ""}\n{USES}')
        done = place.run("run", "--no-cache", "make.flow")
        check(done.returncode == 0, f"{name}: the file is written", done.stderr)
        whole = pathlib.Path("f").read_bytes()
        check(len(whole) > 4 << 20, f"{name}: the file is mapped", len(whole))
        done = place.run("build", "x.flow", "-o", "x")
        check(done.returncode == 0, f"{name}: the script is compiled", done.stderr)
        begin = time.monotonic()
        done = place.run_binary("x", "--no-cache", "--quiet")
        seconds = time.monotonic() - begin
        check(done.returncode == 0, f"{name}: the whole file is read", done.stderr)
        for k in range(ROUNDS):
            chance, over = random.Random(f"{SEED} {name} {k}"), threading.Event()
            pathlib.Path("f").write_bytes(whole)
            gentle = k // 2 % 2 == 1  # most such runs get to the uses of texts
            writer = threading.Thread(target=damage, args=("f", b"xyZ\xc3" if gentle else marks, 0 if gentle else 0.3, chance, over))
            process = subprocess.Popen(["./x", "--no-cache", "--quiet", "--workers", str(1 + k % 2)], env=place.env, text=True,
                                       errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(chance.random() * seconds)  # what changes while one reader is at it is an error, so begin later, too
            writer.start()
            out, err = process.communicate(timeout=120 * PATIENCE)
            over.set()
            writer.join()
            ends[process.returncode] = ends.get(process.returncode, 0) + 1
            check(process.returncode in (0, 1), f"{name}, round {k}: the run ends as runs do", f"{process.returncode} {err[-1500:]}")
    print("ends:", ends)
    finish()


main()
