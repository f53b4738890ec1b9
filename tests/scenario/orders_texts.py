"""Orders of texts are Python's own, of their bytes: shapes of texts from all different to all the same, with beginnings in common that are shorter and longer
than a word, extensions of each other, characters of one to four bytes, zero bytes, empty texts and nulls; few rows and many; by the text alone, up and down, by a
text and a number, by a number and two texts; groups, ranks and different texts of the same columns; whole columns and slices of them; with one worker and three, with and without AVX-512, and with little memory."""
# seconds: 30
import json
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish

SCRIPT = """let t = read_jsonl("t.jsonl", types = (s: text?, k: i64, u: text)) |> derive(row = [for i in 0..n_rows: i])
let some = t[1..]
let pairs = table(a = sort(t.u), b = (t |> sort(u)).u)
write_csv((t |> sort(s)) |> select(row), "up.csv")
write_csv((t |> sort(desc(s))) |> select(row), "down.csv")
write_csv((t |> sort(k, desc(s))) |> select(row), "by_k.csv")
write_csv((t |> sort(u, s)) |> select(row), "by_two.csv")
write_csv(table(row = argsort(t.u)), "alone.csv")
write_csv((some |> sort(u)) |> select(row), "slice.csv")
write_csv(table(n = [len(pairs)], same = [sum(for p in pairs: if p.a == p.b { 1 } else { 0 })]), "values.csv")
write_csv(t |> group_by(s) |> summarize(n = count(), first = min(row), total = sum(k)) |> select(n, first, total), "groups.csv")
write_csv(t |> group_by(s, k) |> summarize(n = count(), first = min(row)) |> select(n, first), "groups_two.csv")
write_csv(t |> derive(z = rank(u, method = "dense")) |> select(z), "ranks.csv")
write_csv(t |> distinct(u) |> select(row), "distinct.csv")
"""
LETTERS = ["a", "b", "z", "~", "\x7f", "é", "ß", "日", "🎉", "\u0001"]


def some(r, least, most):
    return "".join(r.choices(LETTERS, k=r.randrange(least, most + 1)))


SHAPES = {
    "short": lambda r, n: [some(r, 0, 3) for _ in range(n)],
    "words": lambda r, n: [" ".join(r.choices(["alpha", "beta", "gamma", "delta", "Zürich"], k=r.randrange(1, 9))) + str(k) for k in range(n)],
    "addresses": lambda r, n: [f"https://example.org/some/rather/long/path/{k:09}/index.html" for k in r.sample(range(n), n)],
    "extensions": lambda r, n: ["abcdefg" * r.randrange(0, 6) + "abcdefg"[:r.randrange(0, 8)] for _ in range(n)],
    "one": lambda r, n: ["the same text, longer than two words of a machine"] * n,
    "pairs": lambda r, n: [f"{k // 2:07} and what is behind it {k % 3 // 2}" for k in r.sample(range(n), n)],
    "mixed": lambda r, n: [some(r, 0, 30) if r.random() < 0.5 else f"prefix {r.randrange(n)}" for _ in range(n)],
    "sorted": lambda r, n: sorted(f"{some(r, 1, 9)}{k}" for k in range(n)),
    "zeros": lambda r, n: ["ab\0" * r.randrange(0, 4) + "\0" * r.randrange(0, 9) for _ in range(n)],
}


def groups(keys, rows):
    """Rows of each key, keys in order."""
    found = {}
    for row, key in zip(rows, keys):
        found.setdefault(key, []).append(row)
    return [found[key] for key in sorted(found)]


def expected(s, k, u):
    rows = range(len(s))
    up = [(1, b"") if v is None else (0, v.encode()) for v in s]
    down = sorted(rows, key=lambda i: up[i][1], reverse=True)  # stable: equal ones stay in their order
    down = [i for i in down if s[i] is not None] + [i for i in rows if s[i] is None]
    place = {}
    for at, i in enumerate(down):
        place.setdefault(up[i], at)
    other = [v.encode() for v in u]
    dense = {v: z + 1 for z, v in enumerate(sorted(set(other)))}
    alone = sorted(rows, key=other.__getitem__)
    first = {}
    for i in rows:
        first.setdefault(u[i], i)
    one, two = groups(up, rows), groups(list(zip(up, k)), rows)
    return {"up": [[i] for i in sorted(rows, key=up.__getitem__)], "down": [[i] for i in down],
            "by_k": [[i] for i in sorted(rows, key=lambda i: (k[i], place[up[i]]))], "by_two": [[i] for i in sorted(rows, key=lambda i: (other[i], up[i]))],
            "alone": [[i] for i in alone], "slice": [[i] for i in alone if i > 0], "values": [[len(s), len(s)]],
            "groups": [[len(g), g[0], sum(k[i] for i in g)] for g in one], "groups_two": [[len(g), g[0]] for g in two],
            "ranks": [[dense[v]] for v in other], "distinct": [[i] for i in first.values()]}


place = Place()
WAYS = [["--workers", "1"], ["--workers", "3"], *([] if "FLOW_SANITIZE" in os.environ else [["--workers", "2", "--memory", "12M"]])]  # which need more memory by themselves
for shape, values in SHAPES.items():
    for n in ((1, 2, 16, 17, 70, 3000) if SHORT else (1, 2, 16, 17, 63, 64, 300, 2049, 8192, 8193, 40_000)) + ((140_000,) if shape == "pairs" else ()):
        r = random.Random(f"{shape} {n}")
        u = values(r, n)
        s = [None if r.random() < 0.1 else v for v in values(r, n)]
        k = [r.randrange(-2, 3) for _ in range(n)]
        (place.path / "t.jsonl").write_text("".join(json.dumps({"s": a, "k": b, "u": c}) + "\n" for a, b, c in zip(s, k, u)))
        place.write("orders.flow", SCRIPT.replace("n_rows", str(n)))
        wanted = expected(s, k, u)
        for words in WAYS:
            place.env["FLOW_CPU_LEVEL"] = "3" if "1" in words else "4"
            done = place.run("run", *words, "--no-cache", "orders.flow")
            check(done.returncode == 0, f"{shape}, {n} rows, {words}", done.stderr[-2000:])
            for name, rows in wanted.items():
                path = place.path / f"{name}.csv"
                found = [[int(cell) for cell in line.split(",")] for line in path.read_text().splitlines()[1:]] if path.exists() else None
                check(found == rows, f"{name}: {shape}, {n} rows, {words}")
                path.unlink(missing_ok=True)
finish()
