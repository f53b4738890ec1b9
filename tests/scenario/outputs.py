"""What writers do where the path is no ordinary file: links are followed, devices and pipes are written as they stand,
folders are an error. Rights of files that are replaced, temporary files of others, several writers of one file."""
import fcntl
import json
import os
import pathlib
import struct
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

WRITERS = {"csv": "write_csv(t, {path})", "json": "write_json(t, {path})", "npy": "write_npy([1.5, 2.5], {path})",
           "flowdata": "save(t, {path})"}
CSV = "x\n1\n2\n"


def script(writer, path):
    return "let t = table(x = [1, 2])\nprint(\"before\")\n" + WRITERS[writer].format(path=f'"{path}"') + '\nprint("after")\n'


def run(writer, path, **options):
    place.write("w.flow", script(writer, path))
    return place.run("run", "w.flow", **options)


place = Place()
here = place.path
plain = {}
for writer in WRITERS:
    done = run(writer, f"plain.{writer}")
    check(done.returncode == 0, f"{writer}: an ordinary file", done.stderr)
    plain[writer] = (here / f"plain.{writer}").read_bytes()

    (here / "real").mkdir(exist_ok=True)
    file, link, chain = here / f"real/{writer}", here / f"link.{writer}", here / f"chain.{writer}"
    file.write_text("old")
    link.symlink_to(f"real/{writer}")
    chain.symlink_to(link)
    done = run(writer, chain.name)
    check(done.returncode == 0 and link.is_symlink() and chain.is_symlink(), f"{writer}: links stay", done.stderr)
    check(file.read_bytes() == plain[writer] and not file.is_symlink(), f"{writer}: what they point to is replaced")

    file.unlink()
    done = run(writer, link.name)
    check(done.returncode == 0 and link.is_symlink() and file.read_bytes() == plain[writer],
          f"{writer}: a link to a file that is not there yet makes it", done.stderr)

    done = run(writer, "real")
    check(done.returncode == 1 and "it is a folder" in done.stderr and (here / "real").is_dir(), f"{writer}: a folder",
          done.stderr)

    pipe, got = here / f"pipe.{writer}", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    done = run(writer, pipe.name)
    reader.join(timeout=0 if done.returncode else 30)
    if reader.is_alive():  # nobody wrote: let it go
        os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))
    check(done.returncode == 0 and got == [plain[writer]] and pipe.is_fifo(), f"{writer}: a pipe", done.stderr)

(here / "around").symlink_to("around")
done = run("csv", "around")
check(done.returncode == 1 and "around" in done.stderr and (here / "around").is_symlink(), "links in a circle", done.stderr)

device = os.stat("/dev/null")
done = run("csv", "/dev/null")
check(done.returncode == 0 and os.stat("/dev/null").st_rdev == device.st_rdev, "a device", done.stderr)
for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
    done = run("csv", path)
    check(done.stdout == f"before\n{CSV}after\n", f"{path}: in its place among what is printed", done.stdout + done.stderr)
    with open(here / "all.txt", "w") as out:
        out.write("first\n")
        out.flush()
        done = subprocess.run(place.command("run", "w.flow"), cwd=here, env=place.env, stdout=out,
                              stderr=subprocess.PIPE, text=True)
    check((here / "all.txt").read_text() == f"first\nbefore\n{CSV}after\n", f"{path}: sent to a file",
          (here / "all.txt").read_text() + done.stderr)
done = run("csv", "/dev/fd/77")
check(done.returncode == 1 and "/dev/fd/77" in done.stderr, "a descriptor that is not open", done.stderr)

# Devices that are full, reports among what is printed, reports that cannot be written.
done = run("csv", "/dev/full")
check(done.returncode == 4 and "/dev/full" in done.stderr, "a device that is full", (done.returncode, done.stderr))
run("csv", "plain.csv")
done = place.run("run", "w.flow", "--report", "/dev/stdout")
check(done.returncode == 0 and done.stdout.startswith("before\nafter\n<!doctype html>"), "a report on standard output", done.stdout[:200])
for option in ("--report", "--trace"):
    done = place.run("run", "w.flow", option, "real")
    check(done.returncode == 4 and "real: Is a directory" in done.stderr, f"{option}: a folder", (done.returncode, done.stderr))
    (here / "link.page").unlink(missing_ok=True)
    (here / "real/page").write_text("old")
    (here / "link.page").symlink_to("real/page")
    done = place.run("run", "w.flow", option, "link.page")
    check(done.returncode == 0 and (here / "link.page").is_symlink() and (here / "real/page").read_text() != "old",
          f"{option}: a link is followed", done.stderr)

# What a stage took, by the clock and of processors, stands in the timeline.
(here / "s.flow").write_text("stage total(n: i64) -> f64 = sum(for i in 0..n: sqrt(f64(i)))\nprint(total(1000) > 0)\n")
done = place.run("run", "s.flow", "--no-cache", "--trace", "s.json")
stages = [e for e in json.loads((here / "s.json").read_text())["traceEvents"] if e["cat"] == "stage"]
check(len(stages) == 1 and stages[0]["dur"] > 0 and stages[0]["args"]["work"] > 0, "a stage in the timeline", stages)

# The rights of the file that is replaced stay; a new one has those that the umask leaves. A file that may not be written is not
# replaced (who is root may write all).
os.umask(0o027)
for mode in (0o600, 0o664, 0o4755):
    (here / "rights.csv").write_text("old")
    (here / "rights.csv").chmod(mode)
    done = run("csv", "rights.csv")
    check(done.returncode == 0 and (here / "rights.csv").stat().st_mode & 0o7777 == mode & 0o777, f"rights {mode:o} stay", done.stderr)
done = run("csv", "fresh.csv")
check((here / "fresh.csv").stat().st_mode & 0o7777 == 0o640, "a new file has what the umask leaves", done.stderr)
for words in (("--report", "r.html"), ("--trace", "t.json")):
    (here / words[1]).write_text("old")
    (here / words[1]).chmod(0o604)
    done = place.run("run", *words, "w.flow")
    check(done.returncode == 0 and (here / words[1]).stat().st_mode & 0o777 == 0o604 and
          len((here / words[1]).read_text()) > 20, f"{words[0]}: likewise", done.stderr)
os.umask(0o022)

# The timeline and the page say what reading, joining and grouping took, by the lines of the script.
place.write("steps.csv", "k,x\n" + "".join(f"{i % 1000},{i}\n" for i in range(50_000)))
place.write("u.csv", "k,y\n" + "".join(f"{i * 2},{i}\n" for i in range(2000)))
place.write("steps.flow", """let t = read_csv("steps.csv")
let u = read_csv("u.csv")
t
  |> join(u, on = (k))
  |> group_by(k)
  |> summarize(s = sum(x))
  |> show
""")
done = place.run("run", "steps.flow", "--trace", "steps.json", "--report", "steps.html")
events = json.loads((here / "steps.json").read_text())["traceEvents"] if done.returncode == 0 else []
page = (here / "steps.html").read_text() if done.returncode == 0 else ""
seen = {(e["args"]["line"], e["name"]) for e in events if e["cat"] == "operator"}
for line, names in (1, {"read_table", "table_part"}), (4, {"join"}), (5, {"group"}):
    check(any((line, name) in seen for name in names), f"the timeline has {' or '.join(sorted(names))} of line {line}", (sorted(seen), done.stderr))
    check(any(f"<td class=n>{line}<td>{name}<" in page for name in names), f"the page has {' or '.join(sorted(names))} of line {line}")


def entry(tag, rights, who=0xFFFFFFFF):
    return struct.pack("<HHI", tag, rights, who)


# A list of who may read it stays, so that the owning group gets no right that only its mask shows; without one, the list that
# the folder gives its new files is not taken.
ACCESS, GIVEN = "system.posix_acl_access", "system.posix_acl_default"
for group in (0, 4):
    access = struct.pack("<I", 2) + b"".join((entry(1, 6), entry(2, 6, 2000), entry(4, group), entry(16, 6), entry(32, 0)))
    (here / "listed.csv").write_text("old")
    (here / "listed.csv").chmod(0o600)
    try:
        os.setxattr(here / "listed.csv", ACCESS, access)
    except OSError:  # a file system without lists
        break
    done = run("csv", "listed.csv")
    check(done.returncode == 0 and (here / "listed.csv").read_text() == CSV and os.getxattr(here / "listed.csv", ACCESS) == access,
          f"a list with {group} for the group stays", done.stderr)
    (here / "giving").mkdir(exist_ok=True)
    (here / "giving/plain.csv").write_text("old")
    (here / "giving/plain.csv").chmod(0o640)
    os.setxattr(here / "giving", GIVEN, access)
    done = run("csv", "giving/plain.csv")
    check(done.returncode == 0 and os.listxattr(here / "giving/plain.csv") == [] and
          (here / "giving/plain.csv").stat().st_mode & 0o777 == 0o640, "no list of the folder's", done.stderr)

if os.geteuid() != 0:
    (here / "rights.csv").chmod(0o444)
    done = run("csv", "rights.csv")
    check(done.returncode == 1 and "Permission denied" in done.stderr and "help: an output replaces" in done.stderr, "a file that may not be written",
          done.stderr)
(here / "real/locked").mkdir()
(here / "real/locked").chmod(0o555)
done = run("csv", "real/locked/x.csv")
check(os.geteuid() == 0 or (done.returncode == 1 and "real/locked/x.csv" in done.stderr), "a folder that may not be written", done.stderr)
(here / "real/locked").chmod(0o755)
name = "n" * 255
done = run("csv", name)
check(done.returncode == 0 and (here / name).read_text() == CSV, "a name as long as names can be", done.stderr)

# Leftovers of who is no more go with the next run; what a living process of whatever number writes stays, and what others
# have made.
dead, alive = here / f"plain.csv.{'0123456789abcdef'}.flow-tmp", here / f"other.csv.{'fedcba9876543210'}.flow-tmp"
scratch, foreign = here / f"b.{'00112233445566ff'}.flow-tmp", here / "mine.0123.flow-tmp"
for path in (dead, alive, foreign):
    path.write_text("part")
scratch.mkdir()
(scratch / "script.o").write_text("part")
outside = here / "outside"
outside.write_text("precious")
trap = here / f"trap.{'a' * 16}.flow-tmp"
trap.symlink_to(outside)
with open(alive, "r+") as held:
    fcntl.flock(held, fcntl.LOCK_EX)
    done = run("csv", "plain.csv")
    check(not dead.exists() and not scratch.exists(), "leftovers go", done.stderr)
    check(alive.read_text() == "part" and foreign.exists() and outside.read_text() == "precious", "nothing else does", done.stderr)
run("csv", "plain.csv")
check(not alive.exists(), "once its writer is gone that is a leftover, too")
trap.unlink()
foreign.unlink()

# Many at once: each reader finds a whole file of one of them.
place.write("many.flow", 'param v: i64 = 0\nfor i in 0..40 { write_csv(table(x = [for k in 0..2000: v]), "many{i}.csv") }\n')
place.run("run", "many.flow")
runs = [place.start("run", "--no-cache", "many.flow", "--v", str(v)) for v in range(4)]
whole = {"x\n" + f"{v}\n" * 2000 for v in range(4)}
torn = 0
while any(r.poll() is None for r in runs):
    torn += any((here / f"many{i}.csv").read_text() not in whole for i in range(40))
check(torn == 0 and all(r.wait() == 0 for r in runs), "several write one output", [r.communicate()[1] for r in runs])

left = [p.name for p in here.rglob("*tmp")]
check(left == [], "nothing is left", left)
place.write("plain.flow", "print(1)\n")
done = place.run("build", "plain.flow", "-o", "/dev/null")
check(done.returncode != 0 and "ordinary file" in done.stderr and os.stat("/dev/null").st_rdev == device.st_rdev,
      "a binary does not replace a device", done.stderr)
(here / "old").write_text("old")
(here / "old").chmod(0o640)
done = place.run("build", "plain.flow", "-o", "old")
check(done.returncode == 0 and (here / "old").stat().st_mode & 0o777 == 0o750, "a binary in place of a file can be run by who may read it", done.stderr)
place.write("untidy.flow", "print( 1 )\n")
(here / "tidy.flow").symlink_to("untidy.flow")
done = place.run("fmt", "tidy.flow")
check((here / "tidy.flow").is_symlink() and (here / "untidy.flow").read_text() == "print(1)\n", "fmt follows links", done.stderr)
finish()
