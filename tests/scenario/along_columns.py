"""Reductions along columns (codegen/llvm_columns.c), and along rows, are what Python says, bit for bit: sum, product, mean, extremes and their places, any and all, along the first
of two dimensions and the second of three, and along the last one, of every type, with `where`, NaN, infinities and zeros of both signs, of no row, few, and more than a block
has, of one column and of more than a tile has; compiled with 1 to 8 workers, without optimising, interpreted.
usage: along_columns.py [COUNT] [SEED]"""
import math
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 40
draw = random.Random(sys.argv[2] if len(sys.argv) > 2 else "columns")
ODD = [0.0, -0.0, math.nan, math.inf, -math.inf]
MAKE = {"f64": "if STEP > 1 and k % max(STEP, 1) == 1 { odd[k // max(STEP, 1) % 5] } else { f64(k * 7919 % 2003 - 1001) / 8.0 + f64(k % 3) / 3.0 }",
        "f32": "if STEP > 0 and k % max(STEP, 1) == 1 { f32(odd[k // max(STEP, 1) % 5]) } else { f32(f64(k * 7919 % 2003 - 1001) / 8.0) }",
        "i64": "k * 7919 % 2003 - 1001", "i32": "i32(k * 7919 % 2003 - 1001)", "u8": "u8(k * 7919 % 251)", "bool": "k * 7919 % 11 == 3"}
FUNCTIONS = {"f64": ["sum", "product", "mean", "min", "max", "argmin", "argmax"], "f32": ["sum", "min", "max", "argmax"], "i64": ["sum", "min", "max", "argmin", "argmax", "mean"],
             "i32": ["sum", "max", "argmin"], "u8": ["sum", "min", "argmax"], "bool": ["any", "all"]}


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def value(kind, k, s):
    if kind in ("f64", "f32"):
        if s > 0 and k % s == 1:
            return ODD[k // s % 5]
        x = (k * 7919 % 2003 - 1001) / 8.0
        return x + k % 3 / 3.0 if kind == "f64" else single(x)
    return {"i64": k * 7919 % 2003 - 1001, "i32": k * 7919 % 2003 - 1001, "u8": k * 7919 % 251, "bool": k * 7919 % 11 == 3}[kind]


def folded(values, kept, kind, product=False):
    """The fold of floats: 32 lanes, a butterfly, a tree of blocks of 4096 positions. What is left out adds nothing."""
    rounded = single if kind == "f32" else float
    def join(a, b):
        try:
            return rounded(a * b if product else a + b)
        except OverflowError:
            return math.copysign(math.inf, a * b if product else a + b)
    def tree(leaves):
        if len(leaves) <= 1:
            return leaves[0] if leaves else (1.0 if product else 0.0)
        left = 1 << (len(leaves) - 1).bit_length() - 1
        return join(tree(leaves[:left]), tree(leaves[left:]))
    leaves = []
    for at in range(0, len(values), 4096):
        lanes = [1.0 if product else 0.0] * 32
        for p, (v, k) in enumerate(zip(values[at:at + 4096], kept[at:at + 4096])):
            if k:
                lanes[p % 32] = join(lanes[p % 32], v)
        half = 16
        while half:
            lanes = [join(lanes[i], lanes[i + half]) for i in range(half)]
            half //= 2
        leaves.append(lanes[0])
    return tree(leaves)


def place(values, kept, least):
    best = -1
    for p, (v, k) in enumerate(zip(values, kept)):
        if k and (best < 0 or values[best] == values[best] and (v != v or (v < values[best] if least else v > values[best]))):
            best = p
    return best


def result(function, values, kept, kind):
    """A number, None for null."""
    if function in ("any", "all"):
        return any(v for v, k in zip(values, kept) if k) if function == "any" else all(v for v, k in zip(values, kept) if k)
    if function in ("min", "max", "argmin", "argmax"):
        at = place(values, kept, "min" in function)
        return None if at < 0 else at if "arg" in function else values[at]
    if function == "mean" and not any(kept):
        return None
    if kind in ("f64", "f32"):
        total = folded(values, kept, kind, function == "product")
        return total / sum(kept) if function == "mean" else total
    total = sum(v for v, k in zip(values, kept) if k)
    return total / sum(kept) if function == "mean" else total


def same(want, found):
    if want is None or found == "":
        return want is None and found == ""
    if isinstance(want, bool):
        return found == str(want).lower()
    if isinstance(want, int):
        return int(found) == want
    got = float(found)
    return got != got if want != want else got == want and math.copysign(1, got) == math.copysign(1, want)


site = Place()
site.env["FLOW_KERNELS"] = "first"  # all loops are the optimised ones
script, cases = ["let odd = [0.0, -0.0, 0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0]"], []
for case in range(COUNT):
    kind = draw.choice(["f64"] * 4 + ["f32", "i64", "i32", "u8", "bool"])
    rows = draw.choice([1, 2, 3, 5, 8, 31, 32, 33, 63, 64, 65, 95, 96, 97, 100, 127, 128, 129, 130, 180, 4096, 4097, 4240, 12300])
    columns = draw.choice([1, 2, 3, 8, 15, 16, 17, 63, 64, 65, 127, 130, 257, 600, 1030] if rows < 200 else [1, 3, 9])
    s = draw.choice([0, 0, 7, 1001]) if kind[0] == "f" else 0
    outer = draw.choice([0, 0, 0, 2, 3])
    where = draw.choice(["", "", f"((k // {columns}) * (k // {columns}) + k) % 3 != 1"]) if rows > 3 else ""  # it leaves each column some
    function = draw.choice(FUNCTIONS[kind])
    lies = draw.random() < 0.3  # the elements of a fold lie in a row
    if function in ("argmin", "argmax", "any", "all"):
        where = ""
    n = rows * columns * (outer or 1)
    sides = f"{columns}, {rows}" if lies else f"{rows}, {columns}"
    shape = f"{outer}, {sides}" if outer else sides
    axis = (1 if outer else 0) + lies
    script += [f"let a{case} = reshape([for k in 0..{n}: " + MAKE[kind].replace("STEP", str(s)) + f"], {shape})"]
    asked = ""
    if where:
        script.append(f"let w{case} = reshape([for k in 0..{n}: {where}], {shape})")
        asked = f", where = w{case}"
    script.append(f"let r{case} = {function}(a{case}, axis = {axis}{asked})")
    script.append(f'write_csv(table(r = reshape(r{case}, {(outer or 1) * columns})), "r{case}.csv")')
    want = []
    for o in range(outer or 1):
        for j in range(columns):
            at = [(o * columns + j) * rows + i if lies else (o * rows + i) * columns + j for i in range(rows)]
            kept = [not where or ((k // columns) ** 2 + k) % 3 != 1 for k in at]
            want.append((function, [value(kind, k, s) for k in at], kept, kind))
    cases.append((f"{function} of {kind} [{shape}] along {axis}{asked and ' where ' + where}", want))
site.write("columns.flow", "\n".join(script) + "\n")
expected = [[result(*w) for w in want] for _, want in cases]
for way in ["--workers", "1"], ["--workers", "2"], ["--workers", "3"], ["--workers", "8"], ["--workers", "2", "-O0"], ["--interp"]:
    done = site.run("run", "--no-cache", *way, "columns.flow")
    check(done.returncode == 0, f"runs with {' '.join(way)}", done.stderr[-2000:])
    for case, (what, _) in enumerate(cases):
        path = site.path / f"r{case}.csv"
        found = path.read_text().split("\n")[1:-1] if path.exists() else []
        path.unlink(missing_ok=True)
        bad = [f"column {j}: {b}, expected {a}" for j, (a, b) in enumerate(zip(expected[case], found)) if not same(a, b)]
        check(len(found) == len(expected[case]) and not bad, f"{what}, {' '.join(way)}", "\n".join(bad[:5]) or f"{len(found)} of {len(expected[case])}")
finish()
