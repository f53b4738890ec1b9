"""An NPY file that does not fit in memory is used where it lies: a script gives the same with a limit as without one, and reads only the
rows that it asks for; training on them stays within the limit. What lies otherwise in a file is read as ever."""
# seconds: 8
import array
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, Place, check, finish

CODES = {"d": "f8", "f": "f4", "q": "i8", "h": "i2", "B": "u1"}


def write_npy(path, values, shape, order="<", fortran=False, to=64):
    """An NPY file of an array.array; `to`: what its header is a multiple of."""
    code = ("|" if values.itemsize == 1 else order) + CODES[values.typecode]
    head = f"{{'descr': '{code}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % to) + b"\n"
    if order == ">":
        values = array.array(values.typecode, values)
        values.byteswap()
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
        values.tofile(out)


def run(script, *options):
    """Standard output, standard error, the status, and the most bytes that were seen to be read by calls."""
    most = 0
    with subprocess.Popen([FLOWC, "run", script, *options], cwd=place.path, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        while process.poll() is None:
            try:
                said = pathlib.Path(f"/proc/{process.pid}/io").read_text()
                most = max(most, int(said.split("rchar: ")[1].split()[0]))
            except (OSError, IndexError):
                pass
            time.sleep(0.002)
        return process.stdout.read(), process.stderr.read(), process.returncode, most


place = Place()
draw = random.Random(18)
ROWS, WIDTH = 12000, 1000
block = array.array("d", (draw.uniform(-1, 1) for _ in range(100_000)))
large = array.array("d")
for k in range(ROWS * WIDTH // len(block)):
    block[k % 7] = float(k)
    large.extend(block)
write_npy(place.path / "large.npy", large, (ROWS, WIDTH))
place.write("train.flow", f"""import optim
let x: f64[_, _] = read_npy("large.npy")
print("{{len(x)}} rows")
let m = optim.sgd_records((w, b) => mean((b.records @ w - 1)^2), zeros({WIDTH}), 4000, rows => x[3 * rows], epochs = 1, batch = 100,
  rate = 0.001, shards = 2, delay = 1)
print("{{m.losses[0]}} {{sum(m.x)}}")
let some = x[[for i in 0..50: i * 239 % {ROWS}]]
print("{{sum(some)}} {{some[49, 999]}} {{x[{ROWS} - 1, {WIDTH} - 1]}}")
""")
whole = run("train.flow", "--quiet")
check(whole[2] == 0 and whole[0].startswith(f"{ROWS} rows"), "training on all of it", whole[1])
last = large[(49 * 239 % ROWS) * WIDTH + 999]
check(whole[0].split()[-2:] == [repr(last), repr(large[-1])], "elements are the file's", whole[0])
for options in (("--memory", "60M"), ("--memory", "60M", "--workers", "1"), ("--memory", "60M", "--interp")):
    part = run("train.flow", *options)
    check(part[0] == whole[0] and part[2] == 0, f"{options}: the same", part[0] + part[1])
    check("on disk" not in part[1], f"{options}: no copy of it is on disk", part[1])
    check(part[3] < ROWS * WIDTH * 4, f"{options}: it is not read whole", f"{part[3]} bytes")
check(whole[3] > ROWS * WIDTH * 8 or whole[3] == 0, "without a limit it is", f"{whole[3]} bytes")

# Every way in which an array may lie in a file, with a limit and without one
COUNT = 2_400_000
for kind, wanted in (("d", "f64"), ("f", "f32"), ("f", "f64"), ("q", "i64"), ("h", "i16"), ("h", "i64"), ("B", "u8")):
    values = array.array(kind, (draw.randrange(0, 200) for _ in range(1000))) * (COUNT // 1000)
    for shape, order, fortran, to in (((COUNT,), "<", False, 64), ((COUNT // 6, 6), "<", False, 64), ((COUNT // 6, 2, 3), "<", False, 16),
                                      ((COUNT // 6, 6), ">", False, 64), ((COUNT // 6, 6), "<", True, 64)):
        if kind not in "df" and len(shape) == 3:
            continue
        write_npy(place.path / "v.npy", values, shape, order, fortran, to)
        rank = ", ".join("_" * len(shape))
        zero = ", 0" * (len(shape) - 1)
        place.write("v.flow", f'let x: {wanted}[{rank}] = read_npy("v.npy")\n'
                    f'let some = x[[for i in 0..40: i * 7919 % len(x)]]\n'
                    f'print("{{len(x)}} {{sum(x)}} {{sum(some)}} {{x[len(x) - 1{zero}]}} {{max(x)}}")\n')
        alone = run("v.flow", "--quiet")
        bound = run("v.flow", "--quiet", "--memory", "16M")
        case = f"{kind} as {wanted}, {shape}, {order}, fortran {fortran}, header to {to}"
        check(alone[2] == 0 and bound[:3] == alone[:3], f"{case}: the same with a limit", f"{alone}\n{bound}")
        total = float(sum(values))
        check(float(alone[0].split()[1]) == total, f"{case}: its sum", f"{alone[0]} {total}")

# What is assigned is a copy: the array and the file stay
place.write("stored.flow", """let x: f64[_, _] = read_npy("large.npy")
fn stored(x: f64[n, d]) -> f64 {
  var y = x
  for i in 0..n { y[i, 0] = f64(i) }
  sum(for i in 0..n: y[i, 0]) + y[1, 1]
}
print("{stored(x)} {sum(for i in 0..len(x): x[i, 0])} {sum(sqrt(abs(x)))}")
""")
before = (place.path / "large.npy").read_bytes()
alone, bound = run("stored.flow", "--quiet"), run("stored.flow", "--quiet", "--memory", "60M")
check(alone[2] == 0 and bound[:3] == alone[:3], "elements that are assigned", f"{alone}\n{bound}")
check(float(alone[0].split()[0]) == ROWS * (ROWS - 1) / 2 + large[WIDTH + 1], "are these", alone[0])
check((place.path / "large.npy").read_bytes() == before, "and the file is what it was")

# Rows that are not there, and no rows
for rows, words in (("[5, 12000]", "12000"), ("[0 - 1, 3]", "-1")):
    place.write("bad.flow", f'let x: f64[_, _] = read_npy("large.npy")\nlet rows = {rows}\nprint(sum(x[rows]))\n')
    alone, bound = run("bad.flow", "--quiet"), run("bad.flow", "--quiet", "--memory", "60M")
    check(alone[2] == 1 and words in alone[1] and bound[:3] == alone[:3], f"rows {rows} are an error", f"{alone}\n{bound}")
place.write("none.flow", 'let x: f64[_, _] = read_npy("large.npy")\nlet y = x[[for i in 0..0: i]]\nprint("{len(y)} {sum(y)}")\n')
check(run("none.flow", "--quiet", "--memory", "60M")[0] == "0 0.0\n", "no rows")
finish()
