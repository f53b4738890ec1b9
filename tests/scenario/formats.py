"""Files of every format across runs: what is written reads back the same, a stage runs again when its file has other
content and only then, a binary starts without the libraries of formats and says which one is missing."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import HDF5, ROOT, STAGES, Place, check, finish

place = Place()
SAMPLES = ROOT / "tests/run/files/formats"
shutil.copytree(SAMPLES, place.path / "s")

# ---- what is written reads back --------------------------------------------------------------------------------

place.write("write.flow", '''
let words = category(["b", "a", "b", "c"], levels = ["c", "b", "a"])
let t = table(id = [1, 2, 3, 4], small = [i8(-1), i8(2), i8(3), i8(4)], x = [0.1, -0.5, 1e300, 2.5], name = ["", "ä", "x,y", "\\n"], ok = [true, false, true, true],
              day = [date("2026-01-31"), date("1969-12-31"), date("0001-01-01"), date("9999-12-31")],
              at = [datetime("2026-01-31T12:00:00.123456Z"), datetime("1950-01-01T00:00:00Z"), datetime("2000-01-01T00:00:00Z"), datetime("2001-01-01T00:00:00Z")],
              maybe = [1, 2, 3, 4]) |> derive(maybe = if_else(maybe > 2, maybe, null), gone = if_else(id == 2, null, name))
write_arrow(t |> derive(c = words, f = f32(x / 1e10), span = days(1) * id), "t.arrow")
write_arrow(t |> derive(c = words), "t.arrows")
write_sqlite(t, "t.db")
write_jsonl(t, "t.jsonl")
write_npz((x = t.x, m = [[1, 2], [3, 4]], day = t.day, one = 2.5, flag = t.ok, name = t.name, title = "äöü", grid = [["x", ""], ["", "😀"]]), "t.npz")
write_npz((x = t.x, m = [[1, 2], [3, 4]], day = t.day, one = 2.5, flag = t.ok, name = t.name, title = "äöü", grid = [["x", ""], ["", "😀"]]), "packed.npz", compress = true)
write_npy(t.name, "t.npy")
write_image([for i in 0..3, j in 0..5, c in 0..3: u8(i * 70 + j * 10 + c)], "t.png")
show(t, rows = 10)
''')
place.write("read.flow", '''
let t = read_arrow("t.arrow")
show(t |> drop(c, f, span), rows = 10)
assert levels(t.c)[0] == "c" and levels(t.c)[2] == "a"
assert all(t.f == f32(t.x / 1e10)) and all(t.span == days(1) * t.id)
let s = read_arrow("t.arrows")
assert all(text(s.c) == text(t.c)) and all(s.x == t.x) and all(s.at == t.at)
type Row = (id: i64, small: i8, x: f64, name: text, ok: bool, day: date, at: datetime, maybe: i64?, gone: text?)
let d: Row[_] = read_sqlite("t.db")
show(d, rows = 10)
let j: Row[_] = read_jsonl("t.jsonl")
show(j, rows = 10)
for path in ["t.npz", "packed.npz"] {
  let n: (x: f64[_], m: i64[_, _], day: date[_], one: f64, flag: bool[_], name: text[_], title: text, grid: text[_, _]) = read_npz(file(path))
  assert all(n.name == t.name) and n.title == "äöü" and n.grid[0, 0] == "x" and n.grid[1, 1] == "😀" and n.grid[1, 0] == ""
  assert all(n.x == t.x) and n.m[1, 0] == 3 and all(n.day == t.day) and n.one == 2.5 and all(n.flag == t.ok)
}
assert all(read_npy("t.npy") == t.name)
let p = read_image("t.png")
assert all(p == [for i in 0..3, j in 0..5, c in 0..3: u8(i * 70 + j * 10 + c)])
''')
written = place.run("run", "write.flow")
check(written.returncode == 0, "every format is written", written.stderr)
read = place.run("run", "read.flow")
check(read.returncode == 0, "every format is read", read.stderr)
check(read.stdout == written.stdout * 3, "what is written reads back", written.stdout + read.stdout)

# ---- keys ------------------------------------------------------------------------------------------------------

STORIES = {  # what a stage reads, a sample, another one
    "arrow": ("let t: (i8: i8)[_] = read_arrow(x)", "all.arrow", "two.arrows"),
    "npz": ("let t: (x: f64[_, _]) = read_npz(x)", "plain.npz", "packed.npz"),
    "sqlite": ('let t: (n: text)[_] = read_sqlite(x, table = "bad")', "shop.db", None),
    "image": ("let t = read_image(x)", "rgb.png", "gray.png"),
    "wav": ("let t = read_wav(x)", "short.wav", "mono.flac"),
    "hdf5": ('let t: f64[_, _] = read_hdf5(x, "x")', "some.h5", None),
    "mat": ('let t: f64[_, _] = read_mat(x, "x")', "plain.mat", "new.mat"),
}
for name, (reads, first, second) in STORIES.items():
    place.write("key.flow", f"param path: file\n@memo(always)\nstage f(x: file) -> _ {{\n{reads}\nt\n}}\nshow(f(path))\n")
    runs = []
    for sample in [first, first, second]:
        if sample:
            shutil.copy(SAMPLES / sample, place.path / "data")
            done = place.run("run", "key.flow", "--path", "data")
            check(done.returncode == 0 and STAGES.search(done.stderr), f"{name}: {sample} is read", done.stderr)
            runs.append((done.stdout, STAGES.search(done.stderr)[0] if STAGES.search(done.stderr) else ""))
    check("1 run, 0 cached" in runs[0][1] and "0 run, 1 cached" in runs[1][1], f"{name}: the same content is remembered", runs)
    check(runs[0][0] == runs[1][0], f"{name}: and gives the same", runs)
    check(not second or "1 run, 0 cached" in runs[2][1], f"{name}: other content runs again", runs)

# ---- libraries that are not there --------------------------------------------------------------------------------



def binary(*args, **env):
    return subprocess.run(["./one", *args], cwd=place.path, env=dict(place.env, **env), capture_output=True, text=True)


fake = place.path / "fake"
fake.mkdir()
LIBRARIES = {"libsqlite3.so.0": ('show(read_sqlite("s/shop.db", table = "sales"))', "libsqlite3-0"),
             "libpng16.so.16": ('show(read_image("s/rgb.png"))', "libpng16-16"),
             "libjpeg.so.62": ('show(read_image("s/flat.jpg"))', "libjpeg62-turbo"),
             "libsndfile.so.1": ('show(read_wav("s/short.wav"))', "libsndfile1"),
             HDF5[0]: ('show(read_hdf5("s/some.h5", "x"))', HDF5[1])}
for library, (script, package) in LIBRARIES.items():
    (fake / library).write_text("not a library")
    place.write("one.flow", f'param read: bool = true\nif read {{ {script} }}\nprint("done")\n')
    built = place.run("build", "one.flow", "-o", "one")
    check(built.returncode == 0, f"{library}: builds", built.stderr)
    done = binary()
    check(done.returncode == 0 and done.stdout.endswith("done\n"), f"{library}: a binary reads", done.stderr)
    if "FLOW_SANITIZE" in os.environ:
        continue  # whose libraries are found by the same paths
    done = binary("--help", LD_LIBRARY_PATH=str(fake))
    check(done.returncode == 0, f"{library}: a binary starts without it", done.stderr)
    done = binary("--read", "false", LD_LIBRARY_PATH=str(fake))
    check(done.returncode == 0 and done.stdout == "done\n", f"{library}: and runs what does not need it", done.stderr)
    done = binary(LD_LIBRARY_PATH=str(fake))
    check(done.returncode == 1 and "E0962" in done.stderr and package in done.stderr, f"{library}: missing is said", done.stderr)

# ---- files of other types than those that the program was compiled with -------------------------------------------

shutil.copy(SAMPLES / "two.arrows", place.path / "late.arrow")
place.write("late.flow", 'let t = read_arrow("late.arrow")\nprint(sum(t.i16))\n')
check(place.run("build", "late.flow", "-o", "late").returncode == 0, "builds with a file")
shutil.copy(SAMPLES / "delta.arrows", place.path / "late.arrow")
done = subprocess.run(["./late"], cwd=place.path, env=place.env, capture_output=True, text=True)
check(done.returncode == 1 and "no column `i16`" in done.stderr, "a file of other columns is an error", done.stderr)
finish()
