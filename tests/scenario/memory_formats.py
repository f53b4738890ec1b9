"""--memory and formats: every writer and every reader of tables and arrays that are larger than the memory given, and what takes
much memory beside arrays (transforms, windows, categories, outputs of commands), gives its result and stays near that memory.
The table below is feature x format; results by arithmetic, files by Python where its library reads them. One program does all
of it, so it is compiled once."""
# seconds: 25
import csv
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, Place, check, finish

ROWS, WIDE, NUMBERS = 16_000, 4000, 8_000_000  # texts of 64 MB, numbers of 64 MB
LIMIT, MOST = 40, 96  # MiB; with a copy of the texts or numbers that is not counted it is more than 100
sanitized = PATIENCE > 1  # their own memory counts, too: then only results are compared

WRITERS = {
    "csv": 'write_csv(t, "t.csv")', "csv.gz": 'write_csv(t, "t.csv.gz")', "json": 'write_json(t, "t.json")',
    "nested json": 'write_json((n = 1, rows = t), "nested.json")', "jsonl": 'write_jsonl(t, "t.jsonl")',
    "arrow": 'write_arrow(t, "t.arrow")', "sqlite": 'write_sqlite(t, "t.db")', "save": 'save(t, "t.flowdata")',
    "npy": 'write_npy(x, "x.npy")', "npz": 'write_npz((x = x, y = x), "x.npz")', "packed npz": 'write_npz((y = x), "y.npz", compress = true)',
    "exec": 'print(sum(came.n))',
}
TABLE, NUMBER = f"{ROWS * (ROWS - 1) // 2}.0 {ROWS * WIDE}\n", f"{NUMBERS * (NUMBERS - 1) // 2}.0\n"
READERS = {
    **{name: (f'let r: R[_] = read_{name.split(".")[0]}(file(here + "t.{"db" if name == "sqlite" else name}"))', TABLE)
       for name in ("csv", "csv.gz", "json", "jsonl", "arrow", "sqlite")},
    "load": ('let r: R[_] = load(file(here + "t.flowdata"))', TABLE),
    "pipe": ('let r: R[_] = read_csv(file(here + "pipe"))', TABLE),
    "exec reads": ('let r: R[_] = exec("cat t.csv")', TABLE),
    "npy": ('let r: f64[_] = read_npy(file(here + "x.npy"))', NUMBER),
    "npz": ('let q: (x: f64[_]) = read_npz(file(here + "x.npz"))\n  let r = q.x', NUMBER),
    "packed npz": ('let q: (y: f64[_]) = read_npz(file(here + "y.npz"))\n  let r = q.y', NUMBER),
    "window": ('let r = [for v in rolling(made(), 4_000_000, max): v ?? 0.0]', None),
    "transform": ('let r = fft(made()[0..4_194_304]).re', None),
    "category": ('let r = [for s in category([for i in 0..700_000: "level {i}"]): f64(n_chars(text(s)))]', None),
}
lines = [f"""type R = (a: f64, b: text)
param what: text
param here: text = ""
fn made() = [for i in 0..{NUMBERS}: f64(i)]
fn rows() -> R[_] {{
  let s = repeat_text("abcdefghij", {WIDE // 10 - 1})
  table(a = [for i in 0..{ROWS}: f64(i)], b = [for i in 0..{ROWS}: s + text(1_000_000_000 + i)])
}}
"""]
for name, text in WRITERS.items():
    made = "let x = made()" if "x" in text.split("(", 1)[1] and "npy" in text or "npz" in text else "let t = rows()"
    if name == "exec":
        made += '\n  let came: (n: i64)[_] = exec("(echo n; wc -c)", t)'
    lines.append(f'if what == "write {name}" {{\n  {made}\n  {text}\n}}\n')
for name, (text, result) in READERS.items():
    show = "print(sum(r.a), sum(for s in r.b: n_chars(s)))" if result == TABLE else "print(sum(r))"
    lines.append(f'if what == "read {name}" {{\n  {text}\n  {show}\n}}\n')
place = Place(all__flow="".join(lines))
done = place.run("build", "all.flow", "-o", "all")
check(done.returncode == 0, "the program is built", done.stderr)
os.mkfifo(place.path / "pipe")


def run(what, *more):
    """(status, output, errors, peak in MiB)"""
    with open(place.path / "out", "w+b") as out, open(place.path / "err", "w+b") as err:
        started = subprocess.Popen(["./all", "-q", "--allow-exec", "--what", what, *more], cwd=place.path, env=place.env, stdout=out, stderr=err)
        _, status, used = os.wait4(started.pid, 0)
        err.seek(0)
        return os.waitstatus_to_exitcode(status), (place.path / "out").read_text(), err.read().decode(), used.ru_maxrss / 1024


for what in [*(f"write {name}" for name in WRITERS), *(f"read {name}" for name in READERS)]:
    cat = subprocess.Popen(["sh", "-c", "exec cat t.csv > pipe"], cwd=place.path) if what == "read pipe" else None
    status, out, err, peak = run(what, "--memory", f"{LIMIT}M")
    if cat:
        cat.kill() if status else None
        cat.wait()
    check(status == 0, f"{what}: runs with --memory {LIMIT}M", err[:400])
    for _ in range(2):  # pages are given back by a thread, which a busy machine may leave without a processor for a while
        if what != "read pipe" and peak > MOST and not sanitized:
            peak = min(peak, run(what, "--memory", f"{LIMIT}M")[3])
    check(sanitized or peak < MOST, f"{what}: near the memory given", f"{peak:.0f} MiB")
    result = READERS.get(what[5:], ("", None))[1] if what.startswith("read") else None
    check(result is None or out == result, f"{what}: the result", out)
    if what in ("read window", "read transform"):  # the same bits as without a limit
        check(run(what)[1] == out != "", f"{what}: the same with and without a limit", out)

# What was written, read by others.
with open(place.path / "t.csv") as f:
    rows = list(csv.reader(f))
check(len(rows) == ROWS + 1 and rows[-1] == [f"{ROWS - 1}.0", "abcdefghij" * (WIDE // 10 - 1) + str(1_000_000_000 + ROWS - 1)], "the CSV file")
del rows
for name in ("t.json", "nested.json"):
    value = json.loads((place.path / name).read_text())
    value = value["rows"] if name == "nested.json" else value
    check(len(value) == ROWS and all(row["a"] == k and row["b"].endswith(str(1_000_000_000 + k)) for k, row in enumerate(value)), name)
del value
with sqlite3.connect(place.path / "t.db") as db:
    table = db.execute("SELECT name FROM sqlite_master").fetchone()[0]
    check(db.execute(f'SELECT count(*), sum(a), sum(length(b)) FROM "{table}"').fetchone() ==
          (ROWS, ROWS * (ROWS - 1) / 2, ROWS * WIDE), "the database")
for name in ("x.npz", "y.npz"):
    with zipfile.ZipFile(place.path / name) as z:
        check(z.testzip() is None and all(i.file_size > 8 * NUMBERS for i in z.infolist()), f"the members of {name}")
finish()
