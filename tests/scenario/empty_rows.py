"""Arrays with rows beyond number and no element (a shape of (4e18, 0) needs 128 bytes of a file): what can be done with
them is done at once, what needs something for each row says so. Values by numpy: nothing is added up to 0, shapes are
those of the operands. Every step runs compiled and by the interpreter, in a limited address space."""
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, PATIENCE, Place, check, finish

LIMIT = "unlimited" if "FLOW_SANITIZE" in os.environ else 8_000_000  # KiB
N = 4 * 10**18
place = Place()


def npy(descr, shape):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * ((64 - (11 + len(head)) % 64) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()


TYPES = {"f64": "<f8", "i8": "|i1", "datetime": "<M8[us]", "text": "<U4", "bool": "|b1", "f32": ">f4"}
SHAPES = {"tall": (N, 0), "flat": (0, N), "deep": (3, 0, N // 4), "box": (2, N // 4, 0)}
for name, shape in SHAPES.items():
    for type_, descr in TYPES.items():
        (place.path / f"{name}_{type_}.npy").write_bytes(npy(descr, shape))
(place.path / "none.npy").write_bytes(npy("<f8", (N, N, 0)))  # no count of rows
(place.path / "full.npy").write_bytes(npy("<f8", (N, 1)))


def run(script, mode="--interp"):
    place.write("x.flow", script)
    return subprocess.run(["bash", "-c", f"ulimit -v {LIMIT}; ulimit -f 20000; {FLOWC} run --quiet --no-cache {mode} x.flow"],
                          cwd=place.path, env=place.env, capture_output=True, text=True, errors="replace",
                          timeout=60 * PATIENCE)


READ = "".join(f'let {name}: f64[{", ".join("_" * len(shape))}] = read_npy("{name}_f64.npy")\n'
               for name, shape in SHAPES.items())
TALL = "[[],\n [],\n [],\n ...,\n [],\n [],\n []]\n"
for mode in ("", "--interp"):
    script = "".join(f'let x{i}: {t}[_, _] = read_npy("tall_{t}.npy")\nshow(x{i})\nprint(len(x{i}))\n' for i, t in enumerate(TYPES))
    done = run(script, mode)
    check(done.stdout == (TALL + f"{N}\n") * len(TYPES), f"{mode} shown at once, of every type", (done.stdout, done.stderr))
    done = run(READ + f"""
print(len(flat), sum(flat), sum(tall), sum(deep), sum(box))
show(flat)
show(transpose(flat))
show(transpose(tall))
show(tall + tall)
show(tall[5..8, ..])
show(concat(tall, tall))
show(box[1, 7, ..])
write_npy(tall, "tall.npy")
write_json(flat, "flat.json")
write_json(deep, "deep.json")
stage f(a: f64[_, _]) -> f64[_, _] = a * 2.0
show(f(tall))
""", mode)
    wanted = "0 0.0 0.0 0.0 0.0\n[]\n" + TALL + "[]\n" + TALL + "[[],\n [],\n []]\n" + TALL + "[]\n" + TALL
    check(done.returncode == 0 and done.stdout == wanted, f"{mode} what needs nothing for a row", (done.stdout, done.stderr))
    if done.returncode == 0:
        written = (place.path / "tall.npy").read_bytes()
        check(b"(%d, 0," % N in written and len(written) < 1000, f"{mode} write_npy", written)
        check((place.path / "flat.json").read_text() == "[]\n", f"{mode} write_json of no rows")
        check((place.path / "deep.json").read_text() == "[[], [], []]\n", f"{mode} write_json of three empty rows")

# A loop over so many rows is as long as one over so many numbers: it runs, and an interrupt ends it, with what was printed.
for mode in ([], ["--interp"]):
    place.write("loop.flow", 'let tall: f64[_, _] = read_npy("tall_f64.npy")\nprint("before")\nvar k = 0\nfor r in tall { k = k + 1 }\nprint(k)\n')
    started = subprocess.Popen([FLOWC, "run", "--quiet", "--no-cache", *mode, "loop.flow"], cwd=place.path, env=place.env,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2)  # it may be compiling still: then it ends, too, and has printed nothing
    started.send_signal(signal.SIGTERM)
    try:
        out, err = started.communicate(timeout=60 * PATIENCE)
        check(started.returncode in (143, -signal.SIGTERM) and out in ("before\n", ""), f"{mode} an interrupted loop over rows without elements",
              (started.returncode, out, err))
    except subprocess.TimeoutExpired:
        started.kill()
        check(False, f"{mode} an interrupt ends a loop over rows without elements")

for what, words in {
    "show([for r in tall: sum(r)])": ("E0712", "beyond any computer"),
    "show(sum(tall, axis = 1))": ("E0712", "beyond any computer"),
    "show(concat(tall, tall, tall))": ("E0712", "beyond any computer"),
    "show(concat(tall, tall, tall, tall, tall))": ("E0712", "beyond any computer"),
    'write_json(tall, "x.json")': ("E0942", "16 million rows"),
    'write_json(box, "x.json")': ("E0942", "16 million rows"),
    'let z: f64[_, _, _] = read_npy("none.npy")\nshow(z)': ("E0940", "no array is as large"),
    'let z: f64[_, _] = read_npy("full.npy")\nshow(z)': ("E0940", "no array is as large"),
}.items():
    done = run(READ + what + "\n")
    check(done.returncode in (1, 3, 4) and all(word in done.stderr for word in words), what,
          (done.returncode, done.stdout[:200], done.stderr[:500]))
finish()
