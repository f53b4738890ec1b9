"""A flipped byte or a cut anywhere in the store: a warning, a recompute, the right answer. Likewise each field of an entry's header with
values that it cannot have, and what is no file, or no folder, where one should be: whatever it is, the answer is right and
nothing crashes or waits."""
import os
import pathlib
import random
import shutil
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish, stages

SCRIPT = """
stage block(k: i64) -> f64[_] = [for i in 0..50: sqrt(f64(i * k))]
stage name(k: i64) -> text = "block {k}"
for k in 0..3 { print("{name(k)} {sum(block(k)):.6f}") }
"""
place = Place(s__flow=SCRIPT)
good = place.run("run", "s.flow")
check(good.returncode == 0 and stages(good) == (6, 0), "the script runs", good.stderr)
entries = [p for p in place.store_files() if "objects" in p.parts]
check(len(entries) == 6, "six entries", entries)
chance = random.Random(7)


def rerun(what):
    done = place.run("run", "s.flow")
    check(done.returncode == 0 and done.stdout == good.stdout, f"{what}: the right answer", done.stdout + done.stderr)
    check("warning" in done.stderr and stages(done) == (1, 5), f"{what}: a warning and one stage again", done.stderr)
    done = place.run("run", "s.flow")
    check(stages(done) == (0, 6) and "warning" not in done.stderr, f"{what}: repaired", done.stderr)


for entry in entries:
    whole = entry.read_bytes()
    for _ in range(4):
        at = chance.randrange(len(whole))
        entry.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1:])
        rerun(f"byte {at} of {len(whole)}")
    cut = chance.randrange(len(whole))
    entry.write_bytes(whole[:cut])
    rerun(f"cut at {cut}")

# -- each field of the header (memo/entry.h: little-endian, the last 16 of its 128 bytes a digest of those before)
whole = entries[3].read_bytes()
FIELDS = {"magic": (0, 4), "version": (4, 4), "head 8": (8, 4), "head 12": (12, 4), "head 16": (16, 4), "length of the label": (20, 4),
          "length of the key": (24, 8), "length of the payload": (32, 8), "head 40": (40, 16), "head 56": (56, 16), "head 72": (72, 16),
          "digest of the payload": (88, 16), "head 104": (104, 8), "digest of the header": (112, 16)}
for name, (at, size) in FIELDS.items():
    for value in (b"\xff" * size, struct.pack("<Q", 1 << 62).ljust(16, b"\0")[-size:] if size < 8 else struct.pack("<Q", 1 << 62).ljust(size, b"\1")):
        if whole[at:at + size] != value:
            entries[3].write_bytes(whole[:at] + value + whole[at + size:])
            rerun(f"{name}: {value.hex()}")
            whole = entries[3].read_bytes()
for size in (1, 20, 127, 128, 129, len(whole) - 1):
    entries[3].write_bytes(whole[:size])
    rerun(f"{size} of {len(whole)} bytes")
    whole = entries[3].read_bytes()
entries[3].write_bytes(whole + b"more")
rerun("more behind the end")
with open(entries[3], "r+b") as f:
    f.truncate(1 << 40)
rerun("a file of 1 TB with a hole")

# -- no file where an entry should be
def answers(what):
    done = place.run("run", "s.flow")
    check(done.returncode == 0 and done.stdout == good.stdout, f"{what}: the right answer", f"{done.returncode} {done.stderr[-500:]}")
    for command in ("verify", "ls", "gc"):
        done = place.run("cache", command)
        check(done.returncode in (0, 1), f"{what}: cache {command} ends", f"{done.returncode} {done.stderr[-500:]}")


def removed(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


kept = place.path / "kept"
shutil.copytree(place.store, kept)
REPLACED = {
    "a folder": lambda p: p.mkdir(), "a full folder": lambda p: (p.mkdir(), (p / "x").write_text("x")), "a link to itself": lambda p: p.symlink_to(p.name),
    "a link to nothing": lambda p: p.symlink_to("no/such"), "a link to a folder above": lambda p: p.symlink_to(".."),
    "a link to the folder of the script": lambda p: p.symlink_to(place.path), "a link to a device": lambda p: p.symlink_to("/dev/zero"), "a pipe": os.mkfifo, "an empty file": lambda p: p.write_bytes(b""),
    "text": lambda p: p.write_text("no entry\n" * 100),
}
(place.path / "folder").mkdir()  # what links lead to stays
bystanders = [place.path / "mine.txt", place.path / "folder/mine.txt"]
for path in bystanders:
    path.write_text("not flow's\n")
subject = entries[2].relative_to(place.store)
PLACES = [subject, subject.parent, subject.parts[0] and pathlib.Path(subject.parts[0]), pathlib.Path("temp"),
          *(pathlib.Path(p.name) for p in sorted(place.store.iterdir()) if p.is_file())]
for where in dict.fromkeys(PLACES):
    for name, make in REPLACED.items():
        path = place.store / where
        removed(path)
        make(path)
        answers(f"{name} as {'an entry' if where == subject else where.parts[-1] if len(where.parts) == 1 else 'a folder of entries'}")
        check(all(p.exists() for p in bystanders), f"{name} as {where}: nothing outside of the store is removed")
        removed(place.store)
        shutil.copytree(kept, place.store)
removed(place.store)
place.run("run", "s.flow")
entries = [p for p in place.store_files() if "objects" in p.parts]

entries[0].write_bytes(b"")
entries[1].write_bytes(entries[2].read_bytes())
verify = place.run("cache", "verify")
check("2 damaged" in verify.stdout, "verify finds both", verify.stdout + verify.stderr)
check(place.run("cache", "ls").returncode == 0 and place.run("cache", "gc").returncode == 0, "ls and gc run")
clear = place.run("cache", "clear")
check(clear.returncode == 0 and not [p for p in place.store_files() if "objects" in p.parts], "clear empties the store")
done = place.run("run", "s.flow")
check(done.stdout == good.stdout and stages(done) == (6, 0), "after clear all run", done.stderr)
finish()
