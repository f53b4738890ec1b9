"""Runs that write every kind of file, ended by TERM, INT, HUP or KILL at random moments: the status says so, each file is
the old one or the new one, whole, and nothing is left once another run has written there. Likewise binaries."""
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, SHORT, Place, check, finish

SCRIPT = """
param v: i64 = 0
let n = 60_000
let x = [for i in 0..n: f64(i * (v + 1))]
let t = table(a = [for i in 0..n: i + v], b = x, c = [for i in 0..n: "text {i % 7} {v}"])
write_csv(t, "out/t.csv")
write_json(t, "out/t.json")
write_jsonl(t, "out/t.jsonl")
write_npy(x, "out/x.npy")
write_npz((u = x, w = x), "out/x.npz")
save(t, "out/t.flowdata")
write_arrow(t, "out/t.arrow")
write_csv(t, "out/t.csv.gz")
SQLITEwrite_image([for i in 0..300, j in 0..300: u8((i + j + v) % 250)], "out/i.png")
write_plot(plot.line(head(t, 2000), a, b), "out/p.svg")
PARQUETprint("end")
"""
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]
KILLS = 12 if SHORT else 32


def has(line):
    """Whether what the line needs is on this machine."""
    place = Place(s__flow=line)
    return place.run("run", "s.flow").returncode == 0


def temporaries(folder):
    return [p.name for p in folder.rglob("*") if "tmp" in p.name]


table = "let t = table(a = [1])\n"
sqlite = 'write_sqlite(t, "out/t.sqlite", table = "t")\n'
parquet = 'write_parquet(t, "out/t.parquet")\n'
image = 'write_image([for i in 0..300, j in 0..300: u8((i + j + v) % 250)], "out/i.png")\n'
script = SCRIPT.replace("SQLITE", sqlite if has(table + sqlite) else "")
script = script.replace("PARQUET", parquet if has(table + parquet) else "")
if not has("let v = 1\n" + image):
    script = script.replace(image, "")

place = Place(s__flow=script)
out = place.path / "out"
good, span = [], 0
for v in (1, 2):
    place.run("run", "--no-cache", "s.flow", "--v", str(v))  # the first compiles
    started = time.monotonic()
    done = place.run("run", "--no-cache", "s.flow", "--v", str(v), "--report", "out/report.html", "--trace", "out/trace.json")
    span = max(span, time.monotonic() - started)
    check(done.returncode == 0 and done.stdout == "end\n", "the script runs", done.stderr)
    good.append({p.name: p.read_bytes() for p in out.iterdir()})
timed = {"report.html": b"</html>\n", "trace.json": b"]}\n"}  # these hold times: only their ends are the same
check(len(good[0]) >= 11 and good[0].keys() == good[1].keys(), "all writers are there", sorted(good[0]))

chance = random.Random(18)
wrong, torn, seen = [], [], set()
for i in range(KILLS):
    how = SIGNALS[i % len(SIGNALS)]
    run = place.start("run", "--no-cache", "s.flow", "--v", str(1 + i % 2), "--report", "out/report.html", "--trace",
                      "out/trace.json", restore_signals=True)
    time.sleep(chance.random() * span)
    ended = run.poll() is not None
    run.send_signal(how)
    stdout, stderr = run.communicate()
    # While it compiles the system's own way of ending is as good.
    if run.returncode == 0:
        ended = ended or how == signal.SIGKILL
    elif run.returncode not in (-how, 128 + how) or (how != signal.SIGKILL and run.returncode > 0 and "interrupted (SIG" not in stderr):
        wrong.append((how, run.returncode, stderr))
    if run.returncode == 0 and not ended and stdout != "end\n":
        wrong.append((how, "lost", stderr))
    seen.add(run.returncode)
    for name in good[0]:
        content = (out / name).read_bytes()
        if not (content.endswith(timed[name]) if name in timed else content in (good[0][name], good[1][name])):
            torn.append((i, how, name, len(content)))
check(not wrong, "the status says which signal, and a message", wrong[:3])
check(not torn, "each file is an old or a new one, whole", torn[:5])
check(any(code > 128 for code in seen), "some runs were interrupted while they wrote", seen)
last = place.run("run", "--no-cache", "s.flow", "--v", "1")
check(last.returncode == 0 and all((out / n).read_bytes() == good[0][n] for n in good[0] if n not in timed),
      "the next run writes all", last.stderr)
check(temporaries(out) == [], "and leaves no temporary file", temporaries(out))
if "t.sqlite" in good[0]:
    rows = sqlite3.connect(out / "t.sqlite").execute("select count(*), sum(a) from t").fetchone()
    check(rows == (60_000, sum(range(1, 60_001))), "the database is one", rows)

# A run that is waiting for the reader of a pipe, or computing, ends in two seconds; a second signal ends it at once.
place.write("busy.flow", 'print("before")\nfn f(n: i64) -> i64 { if n < 2 { n } else { f(n - 1) + f(n - 2) } }\nprint(f(60))\n')
for count in (1, 2):
    run = place.start("run", "--no-cache", "busy.flow")
    time.sleep(1.5)
    run.send_signal(signal.SIGINT)
    if count == 2:
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
    stdout, stderr = run.communicate(timeout=80 * PATIENCE)  # f(60) takes hours
    check(run.returncode in (130, -2), f"{count} times Ctrl-C end it", (run.returncode, stderr))
    check(run.returncode != 130 or (stdout.startswith("before\n") and "interrupted (SIGINT)" in stderr),
          "what was printed is there", (stdout, stderr))

# Many small files, opened and put in their places while a second signal gives them up.
place.write("many.flow", 'for i in 0..1_000_000 { write_csv(table(a = [i]), "many/{i}.csv") }\n')
for i in range(KILLS):
    run = place.start("run", "--no-cache", "many.flow", restore_signals=True)
    for tries in range(6000):
        if run.poll() is not None or (place.path / "many/40.csv").exists():
            break
        time.sleep(0.02)
    time.sleep(chance.random() / 20)
    run.send_signal(signal.SIGTERM)
    run.send_signal(signal.SIGINT)
    stdout, stderr = run.communicate()
    # Which of the two came first is not said.
    check(run.returncode in (130, 143, -2, -15) and stderr.count("\n") <= 1, "many files, given up", (run.returncode, stderr))
    shutil.move(place.path / "many", place.path / f"many{i}")
torn = [p.name for p in place.path.glob("many*/*.csv") if not re.fullmatch("a\n[0-9]+\n", p.read_text())]
check(not torn, "each of many files is whole", torn)

# What whoever started it wants to be ignored is (nohup).
run = place.start("run", "--no-cache", "s.flow", "--v", "1", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
time.sleep(0.3)
run.send_signal(signal.SIGHUP)
stdout, stderr = run.communicate()
check((run.returncode, stdout) == (0, "end\n"), "a signal that is ignored", (run.returncode, stderr))

# Binaries.
place.write("b.flow", "print(7)\n")
check(place.run("build", "b.flow", "-o", "bin/b").returncode == 0, "a binary")
started = time.monotonic()
place.run("build", "b.flow", "-o", "bin/b")
span = time.monotonic() - started
for i in range(KILLS // 2):
    run = place.start("build", "b.flow", "-o", "bin/b")
    time.sleep(chance.random() * span)
    run.send_signal(SIGNALS[i % len(SIGNALS)])
    said = run.communicate()
    check(run.returncode in (0, -SIGNALS[i % len(SIGNALS)]), "a build that was ended says so", (run.returncode, *said))
    ran = subprocess.run([place.path / "bin/b"], capture_output=True, text=True, env=place.env)
    check(ran.stdout == "7\n", "the binary is whole", ran)
place.run("build", "b.flow", "-o", "bin/b")
check(temporaries(place.path / "bin") == [], "nothing is left of a build", temporaries(place.path / "bin"))
finish()
