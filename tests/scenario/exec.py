"""Programs as stages: remembered by command, input and the content of what they depend on; refused without
--allow-exec; failures with what the program said; interrupted with all that it started; never a signal or a zombie."""
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, ROOT, Place, check, finish

place = Place()
(place.path / "embed.py").write_text("""import csv, pathlib, sys
log = pathlib.Path("calls")
log.write_text((log.read_text() if log.exists() else "") + "x")
rows = csv.DictReader(sys.stdin)
out = csv.writer(sys.stdout)
out.writerow(["id", "length"])
for row in rows:
    out.writerow([row["id"], len(row["name"]) * 1.5])
""")
SCRIPT = """type Emb = (id: i64, length: f64)
param last: text = "three"
stage embed(t: (id: i64, name: text)[n]) -> Emb[_] = exec("python3 embed.py", t, deps = ["embed.py"])
let e = embed(table(id = [1, 2], name = ["one", last]))
show(e)
print(sum(e.length))
"""
(place.path / "main.flow").write_text(SCRIPT)


def calls():
    log = place.path / "calls"
    return len(log.read_text()) if log.exists() else 0


def run(*args, script="main.flow"):
    return place.run("run", *args, script)


done = run()
check(done.returncode == 1 and "E0244" in done.stderr and "--allow-exec" in done.stderr and calls() == 0,
      "refused without --allow-exec, and nothing ran", done.stderr)
done = run("--allow-exec")
check(done.returncode == 0 and done.stdout.endswith("12.0\n") and calls() == 1, "it runs", done.stdout + done.stderr)
first = done.stdout
done = run()
check(done.returncode == 0 and done.stdout == first and calls() == 1, "remembered: nothing runs, nothing to allow", done.stderr)
done = place.run("run", "main.flow", "--allow-exec", "--last", "four")
check(calls() == 2 and done.stdout.endswith("10.5\n"), "another input: it runs again", done.stdout + done.stderr)
source = (place.path / "embed.py").read_text()
(place.path / "embed.py").write_text(source.replace("1.5", "2.5"))
done = run("--allow-exec")
check(calls() == 3 and done.stdout.endswith("20.0\n"), "what it depends on changed: it runs again", done.stdout + done.stderr)
(place.path / "embed.py").write_text(source)
done = run("--allow-exec")
check(calls() == 3 and done.stdout == first, "back to the old: nothing runs", done.stderr)
(place.path / "main.flow").write_text("# comment\n" + SCRIPT.replace("embed(", "vectors("))
done = run("--allow-exec")
check(calls() == 3 and done.stdout == first, "names and comments do not matter", done.stderr)
(place.path / "main.flow").write_text(SCRIPT.replace("python3 embed", "python3 -S embed"))
done = run("--allow-exec")
check(calls() == 4 and done.stdout == first, "another command: it runs", done.stderr)
done = run("--allow-exec", "--interp", "--no-cache")
check(calls() == 5 and done.stdout == first, "interpreted: the same", done.stderr)
built = place.run("build", "main.flow", "-o", "model")
model = [place.path / "model", "--no-cache"]
done = subprocess.run(model, cwd=place.path, env=place.env, capture_output=True, text=True)
check(done.returncode == 1 and "--allow-exec" in done.stderr, "a binary refuses too", done.stderr)
done = subprocess.run([*model, "--allow-exec"], cwd=place.path, env=place.env, capture_output=True, text=True)
check(done.returncode == 0 and done.stdout == first, "and is allowed", done.stderr)


def fails(command, code, *parts):
    (place.path / "bad.flow").write_text(f"let e: (id: i64, v: f64)[_] = exec(r\"{command}\")\nshow(e)\n")
    for way in ([], ["--interp"]):
        done = run("--allow-exec", *way, script="bad.flow")
        missing = [part for part in (code, *parts) if part not in done.stderr]
        check(done.returncode == 1 and not missing, f"`{command}` {way}: {missing}", str(done.returncode) + done.stderr)


fails("echo first >&2; echo last words >&2; exit 3", "E0245", "exit status 3", "last words")
fails("seq 100 >&2; exit 1", "E0245", "100", "89")
fails("no_such_program_here", "E0245", "127", "not found")
fails("kill -SEGV $$", "E0245", "signal 11")
fails("true", "E0944", "output of true")
fails("echo id; echo 1", "E0933", "`v`")
fails("echo id,v; echo 1,2.5; echo 2,much", "E0931", "row 2", "`v`", "much")
fails("echo id,v; echo 1,2.5; echo ,3", "E0932", "row 2", "`id`")
fails("echo id,v; printf '1,\\\\377\\\\n'", "E093", "`v`")
fails("echo trouble >&2; echo id", "trouble", "E0933")
STREAM = (ROOT / "tests/run/stages/pyarrow.arrows").read_bytes()
(place.path / "t.arrows").write_bytes(STREAM)
(place.path / "cut.arrows").write_bytes(STREAM[:2000])
(place.path / "file.arrow").write_bytes(b"ARROW1\0\0" + STREAM)


def refuses(row, command, *parts):
    (place.path / "bad.flow").write_text(f"type R = {row}\nlet e: R[_] = exec(r\"{command}\", format = \"arrow\")\nshow(e)\n")
    for way in ([], ["--interp"]):
        done = run("--allow-exec", *way, script="bad.flow")
        missing = [part for part in parts if part not in done.stderr]
        check(done.returncode == 1 and not missing, f"{row} of {command} {way}: {missing}", str(done.returncode) + done.stderr)


refuses("(i: i8)", "cat t.arrows", "E0931", "row 3", "`i`", "300")
refuses("(f: f64)", "cat t.arrows", "E0932", "row 2", "`f`", "null")
refuses("(d: i64)", "cat t.arrows", "E0931", "`d`", "dictionary")
refuses("(i: text)", "cat t.arrows", "E0931", "`i`", "int32", "text")
refuses("(i: i64[2])", "cat t.arrows", "E0931", "`i`", "i64[_]")
refuses("(v: i64[2])", "cat t.arrows", "E0931", "`v`", "list of float32")
refuses("(extra: i64)", "cat t.arrows", "E0931", "`extra`", "struct")
refuses("(nope: i64)", "cat t.arrows", "E0933", "`nope`", "extra, i, d")
refuses("(i: i64)", "cat cut.arrows", "E0249", "cut off")
refuses("(i: i64)", "cat file.arrow", "E0249", "cut off")
refuses("(i: i64)", "echo i; seq 100", "E0249", "not an Arrow file or stream")
refuses("(i: i64)", "true", "E0944", "empty")

(place.path / "bad.flow").write_text('let e: (id: i64)[_] = exec("echo id", deps = ["missing.py"])\nshow(e)\n')
done = run("--allow-exec", script="bad.flow")
check(done.returncode == 1 and "missing.py" in done.stderr, "a missing dependency is named", done.stderr)

# An interrupt ends the program and what it has started.
mark = f"7{os.getpid() % 100000:05d}"
(place.path / "slow.flow").write_text(f'let e: (id: i64)[_] = exec("sleep {mark} & sleep {mark}; echo id")\nshow(e)\n')
running = subprocess.Popen([FLOWC, "run", "--allow-exec", "slow.flow"], cwd=place.path, env=place.env,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def sleepers():
    found = []
    for p in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if p.read_bytes() == f"sleep\0{mark}\0".encode():
                found.append(p)
        except OSError:
            pass
    return found


limit = time.monotonic() + 20
while len(sleepers()) < 2 and time.monotonic() < limit:
    time.sleep(0.02)
check(len(sleepers()) == 2, "the program and its child run")
running.send_signal(signal.SIGINT)
out, err = running.communicate(timeout=20)
check(running.returncode == 130, "interrupted: status 130", str(running.returncode) + err.decode())
limit = time.monotonic() + 5
while sleepers() and time.monotonic() < limit:
    time.sleep(0.02)
check(not sleepers(), "nothing that it started is left")
finish()
