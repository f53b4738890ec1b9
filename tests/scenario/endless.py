"""Files that never end, and what is no file: commands that read a script stop with a message, at any depth of folders
and imports; so do readers of every format of formats.def, while compiling and when the script runs, in little memory; what
comes once, or says nothing of its size, is read as what it holds; under limits of address space (ulimit -v) a run gives its
result, or ends with 4 and says why."""
import os
import pathlib
import re
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, PATIENCE, ROOT, Place, check, finish

SANITIZED = "FLOW_SANITIZE" in os.environ  # needs address space without end
LIMIT = "unlimited" if SANITIZED else 8_000_000  # KiB: what runs away stops here

place = Place(
    a__flow="print(1 + 1)\n",
    zero__flow='import "/dev/zero"\nprint(1)\n',
    text__flow="@memo(never)\nstage f(n: i64) -> i64 { var s = \"\"; for i in 0..n { s = s + \"x{i}\" }; n_chars(s) }\n"
    "print(f(20000), sum([for i in 0..500000: f64(i)]))\n",
)
(place.path / "endless").mkdir()
(place.path / "endless/e.flow").symlink_to("/dev/zero")


def limited(kib, command, env=None):
    return subprocess.run(["bash", "-c", f"ulimit -v {kib}; {command}"], cwd=place.path, env=dict(place.env, **(env or {})),
                          capture_output=True, text=True, errors="replace", timeout=60 * PATIENCE)


for command in ("check /dev/zero", "fmt /dev/zero", "fmt endless", "run /dev/zero", "explain /dev/zero", "test /dev/zero",
                "build /dev/zero", "check zero.flow", "run zero.flow", "fmt /dev/urandom", "check ."):
    done = limited(LIMIT, f"{FLOWC} {command}")
    check(done.returncode in (1, 2, 3), f"flowc {command}: ends with a status for what is no script", done.returncode)
    check(done.stderr.strip() != "", f"flowc {command}: says why")
done = limited(LIMIT, f"yes | {FLOWC} fmt -")
check(done.returncode == 2 and "64 MB" in done.stderr, "flowc fmt - of text that never ends", done.stderr[:300])

# Data without an end: each format x device, pipe, standard input x types found while compiling or written. `read`: in any order.
FORMATS = re.findall(r"^FL_\w+_READER\((\w+),", (ROOT / "runtime/include/flow/formats.def").read_text(), re.M)
check(len(FORMATS) >= 10, "the formats of formats.def", FORMATS)
KINDS = {"npy": "f64[_]", "npz": "(x: f64[_])", "hdf5": "(x: f64[_])", "mat": "(x: f64[_])"}
SMALL = 1_500_000 if not SANITIZED else "unlimited"
pipe = place.path / "pipe"
os.mkfifo(pipe)


def pour(data):
    """Writes `data` into the pipe again and again, or once, until nobody reads."""
    try:
        with open(pipe, "wb", buffering=0) as f:
            while f.write(data) and len(data) > 1 << 15:
                pass
    except BrokenPipeError:
        pass


def run_of(script, data=None, files=100_000):
    place.write("x.flow", script)
    writer = threading.Thread(target=pour, args=(data,), daemon=True) if data else None
    if writer:
        writer.start()
    done = limited(SMALL, f"ulimit -f {files}; exec timeout 50 {FLOWC} run --quiet --no-cache x.flow")
    if writer and writer.is_alive():  # nobody has opened the pipe
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        writer.join()
    return done


for format_ in (f for f in FORMATS if f != "parquet" or pathlib.Path(os.environ.get("FLOW_DUCKDB", "none")).exists()):
    kind = KINDS.get(format_, "(a: i64, b: f64)[_]")
    for source in ("/dev/zero", "/dev/urandom", "pipe"):
        if source != "/dev/urandom":
            done = run_of(f'let t = read_{format_}("{source}")\nshow(t)\n')
            check(done.returncode == 3 and re.search(r"E0945|E0947|E0930|not known", done.stderr),
                  f"read_{format_} of {source}, types unknown: said while compiling", f"{done.returncode}: {done.stderr[:400]}")
        done = run_of(f'let t: {kind} = read_{format_}(file("{source}"))\nshow(t)\n', b"y\n" * 65536 if source == "pipe" else None)
        told = done.returncode == 1 and "E0930" in done.stderr or done.returncode == 4 and "E0712" in done.stderr
        check(told and source in done.stderr and "help:" in done.stderr, f"read_{format_} of {source}: a message",
              f"{done.returncode}: {done.stderr[:400]}")
done = limited(LIMIT, f"{FLOWC} schema /dev/zero")
check(done.returncode in (1, 2) and "64 MB" in done.stderr, "flowc schema /dev/zero", done.stderr[:300])
place.write("in.flow", 'param f: file\nlet t: (a: i64)[_] = read_csv(f)\nprint(sum(t.a))\n')
done = limited(SMALL, f"{FLOWC} run -q in.flow --f - < /dev/zero")
check(done.returncode in (1, 2) and "64 MB" in done.stderr, "standard input from a device", f"{done.returncode} {done.stderr[:300]}")
done = limited(SMALL, f"ulimit -f 20000; yes | {FLOWC} run -q in.flow --f -")
check(done.returncode in (1, 2, 4) and "no room" in done.stderr, "standard input without an end", f"{done.returncode} {done.stderr[:300]}")

# What ends is read: a pipe by its name, `<(..)`, and files of the system, whose size is said to be 0.
for mode in ("", "--interp"):
    writer = threading.Thread(target=pour, args=(b"a\n3\n4\n",), daemon=True)
    writer.start()
    done = limited(LIMIT, f"timeout 50 {FLOWC} run -q {mode} in.flow --f pipe")
    check(done.returncode == 0 and done.stdout == "7\n", f"a pipe by its name {mode}", done.stderr[:300])
    writer.join()
    done = limited(LIMIT, f"{FLOWC} run -q {mode} in.flow --f <(printf 'a\\n3\\n5\\n')")
    check(done.returncode == 0 and done.stdout == "8\n", f"a substituted process {mode}", done.stderr[:300])
place.write("proc.flow", 'let t = read_csv("/proc/self/environ", header = false)\nprint(len(t) > 0)\n'
            'stage rows(f: file) -> i64 { let t: (column_1: text)[_] = read_csv(f, header = false); len(t) }\n'
            'print(rows(file("/proc/self/environ")))\n')
done = limited(LIMIT, f"{FLOWC} run -q proc.flow")
check(done.returncode == 1 and done.stdout == "true\n" and "no identity" in done.stderr,
      "a file of the system is read as what it holds, and is no key of a stage", done.stdout + done.stderr[:300])

# A script whose compiling takes much more than loading the code generator does, so that memory ends in the midst of it.
place.write("large.flow", "let n = 1000\n" + "".join(
    f"let x{i} = [for i in 0..n: sin(f64(i) * {i}.5) + sqrt(f64(i + {i}))]\n"
    f"let t{i} = table(a = x{i}, b = [for i in 0..n: \"k{{i % 7}}\"])\n"
    f"print(t{i} |> group_by(b) |> summarize(s = sum(a), m = median(a)) |> sort(b) |> head(1))\n" for i in range(60)))
expected = "" if SANITIZED else place.run("run", "--quiet", "--no-cache", "large.flow").stdout
for step, kib in () if SANITIZED else enumerate([40_000, 70_000, *range(345_000, 375_000, 1500), 450_000]):
    done = limited(kib, f"{FLOWC} run --quiet --no-cache large.flow", {"FLOW_CODE_CACHE": str(place.path / f"large{step}")})
    fine = done.returncode == 0 and done.stdout == expected != ""
    told = done.returncode == 4 and "E0712" in done.stderr and done.stdout == ""
    check(fine or told, f"ulimit -v {kib}, a large script: the result, or 4 and a message",
          f"{done.returncode}: {done.stderr[:500]}")
for mode in () if SANITIZED else ("", "--interp"):
    for kib in (60_000, 100_000, 150_000, 220_000, 300_000, 500_000, 900_000):
        store = place.path / f"code{kib}{mode}"  # nothing is compiled already
        done = limited(kib, f"{FLOWC} run --quiet {mode} text.flow", {"FLOW_CODE_CACHE": str(store)})
        fine = done.returncode == 0 and done.stdout == "108890 124999750000.0\n"
        told = done.returncode == 4 and "memory" in done.stderr
        check(fine or told, f"ulimit -v {kib} {mode}: the result, or 4 and a message",
              f"{done.returncode}: {done.stdout} {done.stderr[:500]}")
finish()
