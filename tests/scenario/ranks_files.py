#!/usr/bin/env python3
"""Parquet and Arrow files of which each rank reads its own rows: matrices of their columns and products with vectors, columns with
nulls, texts beside numbers, a few first rows, sums along columns, k-means, groups of few rows (read as a whole, by their keys) and of many
give what one rank gives, and that is what a plain model says; groups of rows that end within a rank's rows, several files, a value that
does not fit (told as by one rank), a file that is cut off. Then that nothing of the rows is sent. Needs pyarrow: build/peers, or any other.

usage: ranks_files.py [SEED FILES]; 0 as SEED makes fresh ones, and says from which."""
import pathlib
import random
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from scenario_kit import SHORT, check, finish, needs

needs(__file__, "pyarrow")

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import ranks

# By 2 x ranks + workers (tests/ranks/run.c): from 2 elements on, from 100, as always.
WAYS = [(2, 2, 20, ""), (3, 1, 0, ""), (5, 2, 0, ""), (8, 2, 0, ""), (2, 1, 0, ""), (1, 2, 0, "")]
READ = """type Row = (k: i64, a: f64, b: f64, c: f64, y: f64, h: i64?, s: text)
let t: Row[_] = read_{kind}("{name}")
"""
# Whole numbers below 2^53 throughout, so that sums are the same in every order.
MATRIX = """let x = matrix(t, a, b, c)
let w = [2.0, -3.0, 5.0]
let z = x @ w
let n = len(t)
let r = [for i in 0..n: z[i] - t.y[i]]
print("{sum(z)} {x' @ r} {sum(x, axis = 0)} {sum(r)}")
print("{sum(t.h ?? 1000)} {count(for v in t.h: is_null(v))} {count(for v in t.s: v == "s3")}")
let few = x[0..min(n, 5)]
print("{sum(for i in 0..len(few), j in 0..3: few[i, j] * f64(i * 3 + j + 1))}")
if n >= 4 {
  let four = x[0..4]
  print("{four} {sum(for i in 0..4: t.a[i] * t.y[i])} {t.s[0..4]}")
}
let big = t |> where(b > 0 and s != "s1") |> derive(q = a * c)
print("{len(big)} {sum(big.q)} {sum(matrix(big, q, y) @ [1.0, 2.0])}")
"""
GROUPS = """let g = t |> group_by({by}) |> summarize(n = count(), s = sum(a), m = mean(b), most = max(c), one = first(y), hs = sum(h), ks = sum(k))
print("{len(g)} {sum(g.n)} {sum(for i in 0..len(g): g.s[i] * f64(i % 7 + 1))} {sum(for i in 0..len(g): g.m[i] * f64(g.n[i]) * f64(i % 5 + 1))}")
print("{sum(for i in 0..len(g): g.most[i] * f64(i % 3 + 1))} {sum(for i in 0..len(g): g.one[i] * f64(i % 11))} {sum(for i in 0..len(g): (g.hs[i] ?? -7) * (i % 13))} {sum(for i in 0..len(g): g.ks[i] * (i % 17))}")
let two = t |> group_by({by}) |> summarize(s = sum(y), m = mean(y))
print("{sum(for i in 0..len(two): two.s[i] * f64(two.k[i] % 7))} {sum(two.m)}")
"""
CLUSTERS = """import cluster
let x = matrix(t, a, b, c)
let m = cluster.kmeans(x, 3, init = x[0..3], iters = 4, tolerance = 0.0)
print("{m.centers} {sum(for v in m.label: v)}")
let e = cluster.kmeans(x, 3, init = [[9000.0, 9000.0, 9000.0], [0.0, 0.0, 0.0], [-9000.0, 9000.0, 0.0]], iters = 3, tolerance = 0.0)
print("{e.centers} {e.rounds}")
"""


def drawn(draw, n, keys):
    return [(draw.randrange(keys), draw.randrange(-99, 99), draw.randrange(-9, 20), draw.randrange(50), draw.randrange(-500, 500),
             None if draw.random() < 0.2 else draw.randrange(100), f"s{draw.randrange(6)}") for _ in range(n)]


def write(path, kind, rows, group, draw):
    types = [pa.int64(), *[pa.float64()] * 4, pa.int64(), pa.string()]
    columns = list(zip(*rows)) if rows else [[]] * 7
    table = pa.table({name: pa.array(of, t) for name, of, t in zip("k a b c y h s".split(), columns, types)})
    if kind == "parquet":
        pa.parquet.write_table(table, path, row_group_size=group, compression=draw.choice(["none", "snappy", "zstd"]), use_dictionary=draw.random() < 0.5,
                               data_page_size=draw.choice([200, 10 ** 6]))
    else:
        pa.feather.write_feather(table, path, compression="uncompressed" if draw.random() < 0.5 else "zstd", chunksize=group)


def told(text):
    return [float(word) for word in text.replace("[", " ").replace("]", " ").replace(",", " ").replace('"', " ").split() if not word.startswith("s")]


def model_of_matrix(rows):
    z = [2 * a - 3 * b + 5 * c for _, a, b, c, *_ in rows]
    r = [v - row[4] for v, row in zip(z, rows)]
    x = [row[1:4] for row in rows]
    out = [sum(z), *(sum(row[j] * v for row, v in zip(x, r)) for j in range(3)), *(sum(row[j] for row in x) for j in range(3)), sum(r)]
    out += [sum(1000 if row[5] is None else row[5] for row in rows), sum(row[5] is None for row in rows), sum(row[6] == "s3" for row in rows)]
    out += [sum(row[j] * (i * 3 + j + 1) for i, row in enumerate(x[:5]) for j in range(3))]
    if len(rows) >= 4:
        out += [v for row in x[:4] for v in row] + [sum(row[1] * row[4] for row in rows[:4])]
    big = [row for row in rows if row[2] > 0 and row[6] != "s1"]
    return out + [len(big), sum(row[1] * row[3] for row in big), sum(row[1] * row[3] + 2 * row[4] for row in big)]


def model_of_groups(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row[0], []).append(row)
    g = [groups[k] for k in sorted(groups)]
    known = [[r[5] for r in of if r[5] is not None] for of in g]
    return [len(g), len(rows), sum(sum(r[1] for r in of) * (i % 7 + 1) for i, of in enumerate(g)),
            sum(sum(r[2] for r in of) * (i % 5 + 1) for i, of in enumerate(g)), sum(max(r[3] for r in of) * (i % 3 + 1) for i, of in enumerate(g)),
            sum(of[0][4] * (i % 11) for i, of in enumerate(g)), sum(sum(of) * (i % 13) for i, of in enumerate(known)),
            sum(of[0][0] * len(of) * (i % 17) for i, of in enumerate(g)),
            sum(sum(r[4] for r in of) * (of[0][0] % 7) for of in g), sum(sum(r[4] for r in of) / len(of) for of in g)]


def nearest(x, centers):
    """Of each row the first of the nearest centers, and its squared distance."""
    far = [[sum((a - b) ** 2 for a, b in zip(row, c)) for c in centers] for row in x]
    return [f.index(min(f)) for f in far], [min(f) for f in far]


def model_of_clusters(rows):
    """Centers by Lloyd's method; one without rows takes the row that is farthest from its center, the next one the next."""
    x, out = [row[1:4] for row in rows], []
    for centers, iters in (x[:3], 4), ([[9000] * 3, [0] * 3, [-9000, 9000, 0]], 3):
        for _ in range(iters):
            label, away = nearest(x, centers)
            of = [[row for row, c in zip(x, label) if c == k] for k in range(3)]
            sums, sizes = [[sum(row[j] for row in rows_of) for j in range(3)] for rows_of in of], [len(rows_of) for rows_of in of]
            far = iter(sorted(range(len(x)), key=lambda i: -away[i]))
            for c in range(3):
                if not of[c]:
                    p = next(far)
                    sums[label[p]] = [a - b for a, b in zip(sums[label[p]], x[p])]
                    sums[c], sizes[c] = list(x[p]), 1
                    sizes[label[p]] -= 1
            centers = [[v / sizes[c] for v in sums[c]] if sizes[c] else centers[c] for c in range(3)]
        out += [v for c in centers for v in c] + [sum(nearest(x, centers)[0]) if not out else iters]
    return out


def compared(script, name, model=None):
    wrong = ranks.compare(script, WAYS)
    check(not wrong, f"{name} over ranks", "\n".join(wrong))
    if model is None:
        return
    got = told(ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode())
    same = len(got) == len(model) and all(abs(a - b) <= 1e-9 * max(1, abs(b)) for a, b in zip(got, model))
    check(same, f"{name} are those of the model", f"{got}\n{model}")


def files(seed, count):
    for number in range(count):
        draw = random.Random(f"files {seed} {number}")
        kind = ("parquet", "arrow")[number % 2]
        n = draw.choice([0, 1, 5, 700, 4097, 9000] + ([] if SHORT else [30_000]))
        group = draw.choice([7, 100, 1000, 4096, 10 ** 6]) if n < 5000 else draw.choice([500, 4096, 10 ** 6])
        rows = drawn(draw, n, draw.choice([3, 50, max(1, n), 10 * n + 1]))
        script = ranks.scratch("")
        write(script.parent / f"in.{kind}", kind, rows, group, draw)
        head = READ.format(kind=kind, name=script.parent / f"in.{kind}")
        what = f"{n} rows of {kind} in groups of {group} (seed {seed}, {number})"
        script.write_text(head + MATRIX)
        compared(script, f"matrices and columns of {what}", model_of_matrix(rows))
        if n:
            script.write_text(head + GROUPS.replace("{by}", "k"))
            compared(script, f"groups of {what}", model_of_groups(rows))
        if n >= 700:
            script.write_text(head + CLUSTERS)
            compared(script, f"k-means of {what}", model_of_clusters(rows))
        shutil.rmtree(script.parent)


def faults():
    draw = random.Random(5)
    script = ranks.scratch("")
    rows = drawn(draw, 6000, 9)
    for kind, at in ((kind, at) for kind in ("parquet", "arrow") for at in (3, 2990, 3010, 5999)):
        bad = [(2 ** 40 if i == at else row[0], *row[1:]) for i, row in enumerate(rows)]
        write(script.parent / f"bad.{kind}", kind, bad, 500, draw)
        for text in (f'print("{{sum(matrix(t) @ [1.0, 2.0])}}")\n', 'print("{t.k[7]} {sum(t.a)}")\n', 't |> group_by(k) |> summarize(s = sum(a)) |> len |> print\n'):
            script.write_text(f'let t: (k: i32, a: f64)[_] = read_{kind}("{script.parent}/bad.{kind}")\n{text}')
            compared(script, f"a value of {kind} that does not fit, in row {at}")
    write(script.parent / "part_2.parquet", "parquet", rows[:3000], 500, draw)
    write(script.parent / "part_1.parquet", "parquet", rows[3000:], 700, draw)
    script.write_text(f'let t: (k: i64, a: f64, b: f64)[_] = read_parquet(files("{script.parent}/part_?.parquet"))\n'
                      'print("{sum(matrix(t, a, b) @ [1.0, 2.0])} {sum(t.k)}")\n')
    compared(script, "several files", [sum(r[1] + 2 * r[2] for r in rows), sum(r[0] for r in rows)])
    whole = (script.parent / "part_2.parquet").read_bytes()
    (script.parent / "part_2.parquet").write_bytes(whole[:len(whole) // 2])
    script.write_text(f'let t: (k: i64, a: f64)[_] = read_parquet("{script.parent}/part_2.parquet")\nprint("{{sum(matrix(t) @ [1.0, 2.0])}}")\n')
    compared(script, "a file that is cut off")
    shutil.rmtree(script.parent)


def stays():
    """Bytes that two ranks send for 20,000 rows."""
    draw = random.Random(6)
    script = ranks.scratch("")
    for kind in "parquet", "arrow":
        write(script.parent / f"in.{kind}", kind, drawn(draw, 20_000, 30_000), 3000, draw)
        script.write_text(READ.format(kind=kind, name=script.parent / f"in.{kind}") + """let x = matrix(t, a, b, c)
var w = [0.0, 0.0, 0.0]
for k in 0..5 {
  let r = x @ w
  w = w - 1e-9 * (x' @ [for i in 0..len(t): r[i] - t.y[i]])
}
print("{w} {sum(x, axis = 0)} {sum(for i in 0..3: x[i, 1])}")
""")
        some = ranks.run(script, [(2, 2, 0, "")])[1].sent
        check(0 < some < 120_000, f"of 480,000 bytes of a matrix of {kind} only sums are sent", f"{some} bytes were sent")
    shutil.rmtree(script.parent)


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 3
seed = seed or int(time.time())
print(f"seed {seed}: tests/scenario/ranks_files.py {seed} {sys.argv[2] if len(sys.argv) > 2 else 8 if SHORT else 16}")
files(seed, int(sys.argv[2]) if len(sys.argv) > 2 else 8 if SHORT else 16)
if len(sys.argv) < 2:
    faults()
    stays()
finish()
