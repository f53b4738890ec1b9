"""Orders of values and rows are Python's own, bit for bit, for few rows and for many: random, sorted, reversed, saw-tooth and few values, with NaN,
zeros of both signs, infinities and nulls, ascending and descending, by one key and by two, with one worker and with three."""
# seconds: 20
import array
import math
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

SCRIPT = """let x = read_npy("x.npy")
let k = read_npy("k.npy")
let t = table(a = x, b = k, c = read_npy("none.npy"), row = [for i in 0..len(x): i]) |> derive(n = if c > 0 { null } else { a })
write_npy(sort(x), "sort_x.npy")
write_npy(argsort(x), "argsort_x.npy")
write_npy(sort(k), "sort_k.npy")
write_npy(argsort(k), "argsort_k.npy")
write_npy((t |> sort(n)).row, "by_n.npy")
write_npy((t |> sort(desc(n))).row, "by_desc_n.npy")
write_npy((t |> sort(b, desc(n))).row, "by_k_n.npy")
write_npy((t |> sort(desc(b))).row, "by_desc_k.npy")
write_npy((t |> derive(z = rank(b, method = "min"))).z, "rank_k.npy")
write_npy((t |> derive(z = rank(a, method = "dense"))).z, "rank_x.npy")
"""
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1.0, 1.0]
SHAPES = {
    "random": lambda r, n: [r.random() for _ in range(n)],
    "normal": lambda r, n: [r.gauss(0, 1) for _ in range(n)],
    "wide": lambda r, n: [math.ldexp(r.random() - 0.5, r.randrange(-1000, 1000)) for _ in range(n)],
    "special": lambda r, n: [r.choice(SPECIAL) if r.random() < 0.3 else r.gauss(0, 1e3) for _ in range(n)],
    "few": lambda r, n: [float(r.randrange(5)) for _ in range(n)],
    "most one": lambda r, n: [0.5 if r.random() < 0.95 else r.random() for _ in range(n)],
    "sorted": lambda r, n: sorted(r.random() for _ in range(n)),
    "reversed": lambda r, n: sorted((r.random() for _ in range(n)), reverse=True),
    "saw-tooth": lambda r, n: [float(i % 1000) for i in range(n)],
    "nearly sorted": lambda r, n: [i + 20 * r.random() for i in range(n)],
}


def npy(kind, values):
    head = f"{{'descr': '<{ {'d': 'f8', 'q': 'i8'}[kind] }', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + array.array(kind, values).tobytes()


def body(data):
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def whole(r, v):
    """An integer for a value: of the whole type, or small."""
    return 0 if math.isnan(v) else r.randrange(-2**63, 2**63) if math.isinf(v) else int(max(min(v, 9e3), -9e3) * 1e15)


def ranks(keys, dense):
    order, out, rank = sorted(range(len(keys)), key=keys.__getitem__), [0] * len(keys), 0
    for at, row in enumerate(order):
        if at == 0 or keys[row] != keys[order[at - 1]]:
            rank = rank + 1 if dense else at + 1
        out[row] = rank
    return out


def expected(x, k, none):
    rows = range(len(x))
    up = [(1, 0.0) if math.isnan(v) else (0, v) for v in x]
    with_null = [(2, 0.0) if q else u for q, u in zip(none, up)]
    down = [(part, -v) for part, v in with_null]
    order = lambda keys: sorted(rows, key=keys.__getitem__)
    by_x, by_k = order(up), order(k)
    return {"sort_x": ("d", [x[i] for i in by_x]), "argsort_x": ("q", by_x), "sort_k": ("q", [k[i] for i in by_k]), "argsort_k": ("q", by_k),
            "by_n": ("q", order(with_null)), "by_desc_n": ("q", order(down)), "by_k_n": ("q", order(list(zip(k, down)))),
            "by_desc_k": ("q", order([-v for v in k])), "rank_k": ("q", ranks(k, False)), "rank_x": ("q", ranks(up, True))}


place = Place(orders__flow=SCRIPT)
for shape, values in SHAPES.items():
    for n in (0, 1, 2, 33, 3000, 140_000):
        r = random.Random(f"{shape} {n}")
        x = values(r, n)
        k = [whole(r, v) for v in x]
        none = [int(r.random() < 0.2) for _ in x]
        for name, kind, of in (("x", "d", x), ("k", "q", k), ("none", "q", none)):
            (place.path / f"{name}.npy").write_bytes(npy(kind, of))
        wanted = expected(x, k, none)
        for workers in ("1", "3"):
            done = place.run("run", "--workers", workers, "--no-cache", "orders.flow")
            check(done.returncode == 0, f"{shape}, {n} rows, {workers} workers", done.stderr[-2000:])
            for name, (kind, of) in wanted.items():
                found = body((place.path / f"{name}.npy").read_bytes())
                check(found == array.array(kind, of).tobytes(), f"{name}: {shape}, {n} rows, {workers} workers")
                (place.path / f"{name}.npy").unlink()
finish()
