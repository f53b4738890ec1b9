"""--memory: scripts over data larger than it give the bytes that they give without, and the resident size (the peak that
the system counted, pages of files included) stays below the size given and 16 MiB. Where neither memory nor disk has
room the status is 4, and the message says what was missing and what to do."""
import gzip
import hashlib
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, Place, check, finish

ROWS = 250_000
sanitized = PATIENCE > 1  # a sanitizer's own memory counts too: then the limit is wide, and only values are compared
LIMIT = 8000 if sanitized else 40  # MiB: else less than the file, a fraction of file and columns
SOON = 16  # MiB that may come before the thread that watches gets a processor on a busy machine
TILES = 24  # the same for a product: the tiles that two workers are at read this much in one call each

MAKE = f"""
let n = {ROWS}
let u = [for i in 0..n: random(7, i)]
let t = table(
  id = [for i in 0..n: (i * 7919) % n],
  price = [for i in 0..n: floor(u[i] * 1e5) / 100],
  tax = [for i in 0..n: random(8, i)],
  x = [for i in 0..n: random(9, i) - 0.5],
  y = [for i in 0..n: random(10, i) * 1e6],
  z = [for i in 0..n: 3 * random(9, i) - 2 * random(8, i) + random(11, i)],
  town = [for i in 0..n: "town " + text(i * 31 % 97)],
  name = [for i in 0..n: "n" + text(i * 7 % 50000)],
)
write_csv(t, "rows.csv")
"""
SCRIPTS = {
    "group": """
let t = read_csv("rows.csv")
print(t |> group_by(town) |> summarize(n = count(), p = mean(price), z = max(z), s = std(x), m = median(tax)))
print(t |> group_by(name) |> summarize(n = count(), p = sum(price)) |> sort(desc(p), name) |> head(20))
""",
    "packed": """
let t = read_csv("rows.csv.gz")
print(t |> group_by(town) |> summarize(n = count(), p = mean(price), x = sum(x)))
""",
    "sort": """
let t = read_csv("rows.csv")
write_csv(t |> sort(town, desc(price), id), "sorted.csv")
""",
    "join": """
let t = read_csv("rows.csv")
let names = t |> group_by(name) |> summarize(n = count(), s = sum(price))
let j = t |> select(id, price, town, name) |> join(names, on = name) |> join(t |> select(id, tax, y), on = id)
write_csv(j |> sort(id), "joined.csv")
""",
    "regression": """
import linear
let t = read_csv("rows.csv")
let m = linear.ols(t |> select(price, tax, x, y) |> matrix, t.z)
print(m.coefficients)
print(m.intercept)
""",
    "product": """
let a = [for i in 0..1800, j in 0..1800: random(1, i, j)]
let b = [for i in 0..1800, j in 0..1800: random(2, i, j)]
let c = a @ b + b @ a
print("{sum(c)} {c[17, 1700]}")
""",
    "texts": f"""
let a = [for i in 0..{ROWS}: "some longer text with the number " + text(i) + ", so that bytes are needed"]
let b = [for i in 0..{ROWS}: a[{ROWS} - 1 - i] + "!"]
print("{{sum(for i in 0..{ROWS}: n_chars(a[i]) + n_chars(b[i]))}} {{a[1000]}} {{b[2000]}}")
""",
}
OUTPUTS = {"sort": "sorted.csv", "join": "joined.csv"}


def peak(place, *args):
    """Runs flowc; (status, digest of its output, errors, peak in MiB). Holds no large data itself: the peak of a new
    process begins at its parent's size."""
    with open(place.path / "out", "w+b") as out, open(place.path / "err", "w+b") as err:
        running = subprocess.Popen(place.command(*args), cwd=place.path, env=place.env, stdout=out, stderr=err)
        _, status, used = os.wait4(running.pid, 0)
        err.seek(0)
        return os.waitstatus_to_exitcode(status), digest(place.path / "out"), err.read().decode(), used.ru_maxrss / 1024


def least_peak(place, *args):
    """As peak; above the limit it is tried twice more, and the lowest counts: pages are given back by threads, which a
    busy machine may leave without a processor for a while."""
    found = peak(place, *args)
    for _ in range(2):
        if found[3] < LIMIT + SOON or found[0] != 0:
            break
        found = min(found, peak(place, *args), key=lambda run: run[3])
    return found


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


place = Place(make__flow=MAKE, **{name + "__flow": text for name, text in SCRIPTS.items()})
done = place.run("run", "-q", "make.flow")
check(done.returncode == 0, "the file is made", done.stderr)
with open(place.path / "rows.csv", "rb") as plain, gzip.open(place.path / "rows.csv.gz", "wb", compresslevel=1) as packed:
    shutil.copyfileobj(plain, packed)
for name in SCRIPTS:
    produced = place.path / OUTPUTS.get(name, "out")
    status, out, err, free = peak(place, "run", "-q", "--no-cache", f"{name}.flow")
    check(status == 0, f"{name}: runs", err)
    expected = out, digest(produced)
    status, out, err, most = least_peak(place, "run", "-q", "--no-cache", "--memory", f"{LIMIT}M", f"{name}.flow")
    check(status == 0, f"{name}: runs with --memory", err)
    check((out, digest(produced)) == expected, f"{name}: the same bytes with --memory")
    check(sanitized or free > 1.2 * LIMIT, f"{name}: needs more than the limit without it", free)
    soon = TILES if name == "product" else SOON
    check(sanitized or most < LIMIT + soon, f"{name}: stays below --memory {LIMIT}M and {soon} MiB", f"{most:.0f} MiB")

# Results of stages are read back with no more memory.
place.write("stage.flow", f"""
stage column(k: i64) -> f64[_] = [for i in 0..{ROWS * 20}: sqrt(f64(i + k)) + sin(f64(i))]
print(sum(column(1)))
""")
first = peak(place, "run", "-q", "--memory", f"{LIMIT}M", "stage.flow")
again = least_peak(place, "run", "-q", "--memory", f"{LIMIT}M", "stage.flow")
check(first[0] == again[0] == 0 and first[1] == again[1], "a large result is remembered", again[2])
check(sanitized or again[3] < LIMIT + SOON, "and read back within the limit", f"{again[3]:.0f} MiB")

# Texts are stored, and saved to a file, within the limit too. The first run compiles.
place.write("keep.flow", f"""
param k: i64 = 0
stage make(k: i64) -> text[_] = [for i in 0..{ROWS * 5}: "some longer text, so that bytes are needed: it says {{i + k}}"]
let a = make(k)
save(a, "a.flowdata")
print(n_chars(a[0]), a[{ROWS * 5 - 1}])
""")
runs = [peak(place, "run", "-q", "--memory", f"{LIMIT}M", "keep.flow", "--k", str(k)) for k in range(4)]
check(all(run[0] == 0 and not run[2] for run in runs), "texts are stored and saved", runs)
most = min(run[3] for run in runs[1:])
check(sanitized or most < LIMIT + SOON, f"texts are stored and saved below --memory {LIMIT}M and {SOON} MiB", f"{most:.0f} MiB")

# Nothing is left behind, also by a run that was killed.
left = [p for p in place.path.rglob("flow-memory*")]
check(not left, "no file is left", left)


def small_files():
    """As a full disk: no file grows beyond 1 MiB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


if not sanitized:
    done = place.run("run", "-q", "--no-cache", "--memory", f"{LIMIT}M", "product.flow", preexec_fn=small_files)
    check(done.returncode == 4, "no room on disk: status 4", (done.returncode, done.stderr))
    check(re.search(r"E0712.*MiB more are needed.*--memory is .*no disk has room", done.stderr),
          "no room on disk: what was missing", done.stderr)
    check("TMPDIR" in done.stderr and "--cache" in done.stderr, "no room on disk: what to do", done.stderr)

place.write("huge.flow", "param n: i64 = 4\nlet a = [for i in 0..n, j in 0..n: f64(i)]\nprint(sum(a))\n")
done = place.run("run", "-q", "--no-cache", "huge.flow", "--n", "10000000")
check(done.returncode == 4, "more than machine and disk have: status 4", (done.returncode, done.stderr))
check("E0712" in done.stderr and re.search("[GT]iB more are needed", done.stderr), "and how much was needed", done.stderr)
finish()
