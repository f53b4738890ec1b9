"""Failures x places x ways of running: nothing that was printed before is lost, once, and it stands before the message."""
import os
import pathlib
import pty
import resource
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

SANITIZED = "FLOW_SANITIZE" in os.environ  # they reserve terabytes, and stacks end otherwise
PRINTED = "for i in 0..12_000 { print(\"line {i}\") }\n"  # more than a buffer holds
LINES = "".join(f"line {i}\n" for i in range(12_000))
DEEP = "fn deep(n: i64) -> i64 { if n < 0 { 0 } else { 1 + deep(n + 1) * 3 } }\n"
SPIN = "fn f(n: i64) -> i64 { if n < 2 { n } else { f(n - 1) + f(n - 2) } }\n"

# name: text before, text of the failure, exit status, part of the message, limit of address space
FAILURES = {
    "assert": ("", "assert 1 > 2, \"not so\"", 1, "not so", 0),
    "error": ("", "let e: i64 = error(\"my own\")\nprint(e)", 1, "my own", 0),
    "bad data": ("param name: text = \"bad.csv\"\ntype R = (a: i64, b: i64)\n", "let t: R[_] = read_csv(file(name))\nshow(t)", 1, "bad.csv", 0),
    "no file": ("param name: text = \"nowhere.csv\"\ntype R = (a: i64, b: i64)\n", "let t: R[_] = read_csv(file(name))\nshow(t)", 1, "nowhere.csv", 0),
    "kernel": ("", "let x = [for i in 0..1000: i * 7]\nlet n = len([for v in x if v < 3000: v])\n"
                   "print(sum([for i in 0..1000: x[i + n]]))", 1, "out of bounds", 0),
    "stack": (DEEP, "print(deep(1))", 1, "too deeply", 0),
    "stack of a stage": (DEEP + "stage s(n: i64) -> i64 = deep(n)\n", "print(s(1))", 1, "too deeply", 0),
    "no memory": ("param n: i64 = 3_000_000_000_000\n", "print(sum(sort([for i in 0..n: f64(i * i)])))", 4, "memory", 0),
    "limited memory": ("param n: i64 = 400_000_000\n", "print(sum(sort([for i in 0..n: f64(i * i)])))", 4, "memory", 2 << 30),
}
# What is sent while the script computes: exit status, part of the message.
SENT = {signal.SIGTERM: (143, "SIGTERM"), signal.SIGINT: (130, "SIGINT"), signal.SIGHUP: (129, "SIGHUP"),
        signal.SIGSEGV: (None, "error: "), signal.SIGBUS: (1, "E0937"), signal.SIGABRT: (70, "abort"),
        signal.SIGFPE: (70, "division"), signal.SIGILL: (70, "instruction")}

place = Place(bad__csv="a,b\n1,2\n3,x\n")
place.env["FLOW_CACHE"] = ""


def command(way, name):
    if way == "binary":
        built = place.run("build", name, "-o", "model")
        check(built.returncode == 0, f"{name} is built", built.stderr)
        return [place.path / "model", "--no-cache"]
    return place.command("run", *({"compiled": [], "interp": ["--interp"]}[way]), "--no-cache", name)


def to_pipe(words, **options):
    """(status, standard output, standard error)"""
    done = subprocess.run(words, cwd=place.path, env=place.env, capture_output=True, text=True, **options)
    return done.returncode, done.stdout, done.stderr


def to_file(words, **options):
    """Both in one file: the order shows."""
    with open(place.path / "all.txt", "w") as out:
        done = subprocess.run(words, cwd=place.path, env=place.env, stdout=out, stderr=out, text=True, **options)
    text = (place.path / "all.txt").read_text()
    return done.returncode, text[:len(LINES)], text[len(LINES):]


def to_terminal(words, **options):
    """Likewise a terminal."""
    ours, theirs = pty.openpty()
    run = subprocess.Popen(words, cwd=place.path, env=place.env, stdout=theirs, stderr=theirs, **options)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 1 << 16):
            text += part
    except OSError:  # how a terminal says its end
        pass
    os.close(ours)
    text = text.decode().replace("\r\n", "\n")
    return run.wait(), text[:len(LINES)], text[len(LINES):]


def limit(most):
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))} if most else {}


PLACES = {"pipe": to_pipe, "file": to_file, "terminal": to_terminal}
for failure, (before, text, status, message, most) in FAILURES.items():
    if SANITIZED and (most or "stack" in failure):
        continue
    place.write("s.flow", before + PRINTED + text + "\nprint(\"after\")\n")
    for way in ("compiled", "interp", "binary"):
        if way == "interp" and failure == "limited memory":
            continue  # minutes
        if way == "binary" and failure not in ("assert", "stack", "stack of a stage", "no memory"):
            continue  # as compiled; linking takes a second
        words = command(way, "s.flow")
        for where, run in PLACES.items():
            if where != "pipe" and way != "compiled" and failure not in ("assert", "stack"):
                continue  # how it is written does not depend on what fails
            found, out, err = run(words, **limit(most))
            what = f"{failure}, {way}, {where}"
            check(out == LINES, f"{what}: all that was printed, once, in front", out[-200:] + err[:300])
            check(found == status and message in err and "after" not in err, f"{what}: the message", (found, err[:500]))

place.write("s.flow", SPIN + PRINTED + "print(f(70))\n")
for way in ("compiled", "binary"):
    words = command(way, "s.flow")
    for number, (status, message) in SENT.items():
        if SANITIZED and number not in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            continue
        with open(place.path / "all.txt", "w") as out:
            run = subprocess.Popen(words, cwd=place.path, env=place.env, stdout=out, stderr=out)
            for tries in range(600):  # until it has printed more than the buffer holds
                if (place.path / "all.txt").stat().st_size > 60_000 or run.poll() is not None:
                    break
                time.sleep(0.05)
            time.sleep(0.3)
            run.send_signal(number)
            found = run.wait(timeout=60)
        text = (place.path / "all.txt").read_text()
        check(text.startswith(LINES) and message in text[len(LINES):], f"{number.name}, {way}: all that was printed, then why",
              text[-300:])
        check(found == status if status else found in (1, 70), f"{number.name}, {way}: the status", found)

# Nobody reads any more: the run ends, as other programs do.
for way in ("compiled", "interp", "binary"):
    place.write("s.flow", "for i in 0..3_000_000 { print(\"line {i}\") }\nwrite_csv(table(a = [1]), \"never.csv\")\n")
    run = subprocess.Popen(command(way, "s.flow"), cwd=place.path, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = run.stdout.readline()
    run.stdout.close()
    err = run.stderr.read()
    check((first, run.wait(), err) == (b"line 0\n", 141, b"") and not (place.path / "never.csv").exists(),
          f"{way}: nobody reads", (first, run.returncode, err))

# Nobody reads, and the pipe is full: a signal ends the run all the same, and a second one as well.
place.write("s.flow", "for i in 0..3_000_000 { print(\"line {i}\") }\n")
for way in ("compiled", "interp", "binary"):
    words = command(way, "s.flow")
    for both in (False, True):
        for sent in ([signal.SIGTERM], [signal.SIGINT, signal.SIGTERM]):
            ours, theirs = os.pipe()
            run = subprocess.Popen(words, cwd=place.path, env=place.env, stdout=theirs, stderr=theirs if both else subprocess.DEVNULL)
            room = select.poll()
            room.register(theirs, select.POLLOUT)
            for tries in range(1200):  # until it waits
                if not room.poll(0):
                    break
                time.sleep(0.05)
            time.sleep(0.2)
            for number in sent:
                run.send_signal(number)
                time.sleep(0.1)
            try:
                found = run.wait(timeout=60)
            except subprocess.TimeoutExpired:
                run.kill()
                found = run.wait()
            os.close(ours)
            os.close(theirs)
            check(found == 128 + sent[0], f"{way}: a full pipe that nobody reads{', both' * both}, {sent}", found)

# Nobody listens from the start: no file that is opened gets what is printed.
place.write("s.flow", PRINTED + "write_csv(table(a = [1, 2]), \"o.csv\")\n" + PRINTED)
place.write("t.flow", "let n = len(read_csv(\"o.csv\").a)\n" + PRINTED + "print(n)\n")
for way in ("compiled", "interp", "binary"):
    for name in ("s.flow", "t.flow"):
        (place.path / "o.csv").write_text("a\n1\n2\n" if name == "t.flow" else "old")
        words = command(way, name)
        for closed in ((1,), (0, 1, 2)):
            run = subprocess.Popen(words, cwd=place.path, env=place.env, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: [os.close(fd) for fd in closed])
            err = run.communicate()[1]
            check(run.returncode == 4 and ("E0920" in err or 2 in closed), f"{way}, {name}: {closed} are closed", (run.returncode, err))
            check((place.path / "o.csv").read_text() in ("old", "a\n1\n2\n"), f"{way}, {name}: no file has it")
finish()
