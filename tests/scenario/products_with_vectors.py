"""Products of a matrix with a vector, from either side: of 1 to 40 rows of 1 to 100 numbers each bit is that of a model in plain Python, by exact
fractions: 32 lanes of fused products, put together by the butterfly. Rows of NaN and infinity stand between others, matrices are views of wider
ones and lie either way, and end where a file does; by the interpreter, too."""
import fractions
import math
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

SHAPES = [(m, k) for k in (1, 2, 3, 7, 8, 9, 15, 16, 17, 20, 24, 25, 31, 32, 33, 40, 57, 63, 64, 65, 100) for m in (1, 7, 8, 9, 16, 23, 40)]
draw = random.Random(12)


def number():
    """Now and then zero of either sign, or so small that a product vanishes."""
    return draw.choice([0.0, -0.0, 1e-170, -1e-170]) if draw.random() < 0.15 else draw.uniform(-1, 1) * 2.0 ** draw.randrange(-30, 30)


def fused(a, b, c):
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = fractions.Fraction(a) * fractions.Fraction(b) + fractions.Fraction(c)
    return float(exact) if exact else a * b + c


def product(a, b):
    lanes = [0.0] * 32
    for p, (x, y) in enumerate(zip(a, b)):
        lanes[p % 32] = fused(x, y, lanes[p % 32])
    half = 16
    while half:
        lanes = [lanes[i] + lanes[i + half] for i in range(half)]
        half //= 2
    return lanes[0]


def write_npy(path, dtype, rows):
    shape = (len(rows), len(rows[0])) if isinstance(rows[0], list) else (len(rows),)
    header = f"{{'descr': '<{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    flat = [x for row in rows for x in row] if len(shape) == 2 else rows
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(flat)}{'d' if dtype == 'f8' else 'f'}", *flat))


def read_npy(path, letter):
    data = path.read_bytes()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack(f"<{(len(data) - begin) // (8 if letter == 'd' else 4)}{letter}", data[begin:]))


def alike(found, expected):
    return len(found) == len(expected) and all((math.isnan(x) and math.isnan(y)) or struct.pack("<d", x) == struct.pack("<d", y)
                                               for x, y in zip(found, expected))


place, script, expected = Place(), "", {}
for n, (m, k) in enumerate(SHAPES):
    wide = [[number() for _ in range(k + 5)] for _ in range(m)]
    for i in range(m):
        if i % 5 == 2:
            wide[i] = [draw.choice([math.nan, math.inf, -math.inf]) for _ in wide[i]]
    x, w = [row[:k] for row in wide], [number() for _ in range(k)]
    inner = [row[2:2 + k] for row in wide]
    whole = [[float(draw.randrange(-99, 100)) for _ in range(k)] for _ in range(m)]
    of = [float(draw.randrange(-99, 100)) for _ in range(k)]
    for name, rows in ((f"x{n}", x), (f"wide{n}", wide), (f"w{n}", w)):
        write_npy(place.path / f"{name}.npy", "f8", rows)
    for name, rows in ((f"f{n}", whole), (f"v{n}", of)):
        write_npy(place.path / f"{name}.npy", "f4", rows)
    script += f'let x{n}: f64[_, _] = read_npy("x{n}.npy")\nlet wide{n}: f64[_, _] = read_npy("wide{n}.npy")\nlet w{n}: f64[_] = read_npy("w{n}.npy")\n'
    script += f'let f{n}: f32[_, _] = read_npy("f{n}.npy")\nlet v{n}: f32[_] = read_npy("v{n}.npy")\n'
    script += f'let turned{n} = [for j in 0..{k}, i in 0..{m}: x{n}[i, j]]\n'
    for name, text, rows, by in (("a", f"x{n} @ w{n}", x, w), ("b", f"w{n} @ x{n}'", x, w), ("c", f"wide{n}[:, 2..{2 + k}] @ w{n}", inner, w),
                                 ("d", f"turned{n}' @ w{n}", x, w), ("e", f"w{n} @ turned{n}", x, w), ("f", f"f{n} @ v{n}", whole, of)):
        script += f'write_npy({text}, "{name}{n}_out.npy")\n'
        expected[f"{name}{n}_out.npy"] = (f"{m} x {k}: {text}", "f" if name == "f" else "d", [product(row, by) for row in rows])
place.write("p.flow", script)
for words in ([], ["--workers", "3"], ["--interp"]):
    done = place.run("run", "--no-cache", "-q", *words, "p.flow")
    check(done.returncode == 0, f"{words}: runs", done.stderr)
    wrong = [text for name, (text, letter, values) in expected.items() if not alike(read_npy(place.path / name, letter), values)]
    check(not wrong, f"{words}: each bit is the model's", f"{len(wrong)} of {len(expected)}: {wrong[:5]}")
    for name in expected:
        (place.path / name).unlink()
finish()
