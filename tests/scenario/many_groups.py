"""More groups than a sweep has in a cache (2^18 and some), of about four rows: every aggregate that a sweep makes, alone and with others, gives what a
plain Python model gives; sums of doubles that need more bits than their column's integers are exact, too; by any number of workers, and by two keys,
the same bytes; a sum that overflows says the group."""
import csv
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

GROUPS, MORE = (1 << 18) + 5, 800_000
ALL = {"n": "count()", "s": "sum(w)", "big": "sum(wide)", "f": "sum(x)", "m": "mean(x)", "mw": "mean(w)", "lo": "min(w)", "hi": "max(wide)", "far": "sum(y)"}
draw = random.Random(6)
keys = list(range(GROUPS)) + [draw.randrange(GROUPS) for _ in range(MORE)]
draw.shuffle(keys)
rows = []  # x of so few bits that a mean is rounded once; y of more than an integer of its column holds
for k in keys:
    y = draw.choice([1e200, -1e200, 1e-200, 3.5]) if k % 1000 == 7 else draw.uniform(-1, 1)
    rows.append((k, draw.randrange(-10**6, 10**6), draw.randrange(-2**60, 2**60), draw.randrange(-4096, 4096) / 64, y))
place = Place()
with open(place.path / "rows.csv", "w") as file:
    file.write("k,w,wide,x,y\n" + "".join(f"{k},{w},{wide},{x!r},{y!r}\n" for k, w, wide, x, y in rows))
script = 'let all = read_csv("rows.csv")\nlet t = all |> derive(a = k // 512, b = k % 512, w = i32(w))\n'
script += f'write_csv(t |> group_by(k) |> summarize({", ".join(f"{name} = {text}" for name, text in ALL.items())}), "all.csv")\n'
script += 'write_csv(t |> group_by(a, b) |> summarize(s = sum(w), m = mean(x)), "two.csv")\n'
for name in ("n", "big", "m", "hi", "far"):
    script += f'write_csv(t |> group_by(k) |> summarize({name} = {ALL[name]}), "{name}.csv")\n'
place.write("g.flow", script + "print(sum(t.w))\n")
place.write("over.flow", 'let t = read_csv("rows.csv")\nprint(t |> group_by(k) |> summarize(n = count(), s = sum(if k == 99 { 9_000_000_000_000_000_000 } else { wide })) |> head(1))\n'
            "print(sum(t.w))\n")
groups = {}
for k, *row in rows:
    groups.setdefault(k, []).append(row)


def columns(name):
    with open(place.path / name) as file:
        lines = list(csv.reader(file))
    return dict(zip(lines[0], zip(*lines[1:])))


kept, failed = None, None
for words in (["--workers", "1"], ["--workers", "2"], ["--workers", "7"]):
    done = place.run("run", "--no-cache", *words, "g.flow")
    check(done.returncode == 0, f"{words}: runs", done.stderr)
    files = {path.name: path.read_bytes() for path in place.path.glob("*.csv") if path.name != "rows.csv"}
    check(kept is None or files == kept, f"{words}: the same bytes")
    kept = files
    done = place.run("run", "-q", "--no-cache", *words, "over.flow")
    check(done.returncode == 1 and "overflow" in done.stderr and "k = 99" in done.stderr, f"{words}: the sum overflows in a group", done.stderr)
    check(failed in (None, done.stderr), f"{words}: the same words", done.stderr)
    failed = done.stderr
model = {"n": [], "s": [], "big": [], "f": [], "m": [], "mw": [], "lo": [], "hi": [], "far": []}
for k in range(GROUPS):
    w, wide, x, y = zip(*groups[k])
    for name, value in (("n", len(w)), ("s", sum(w)), ("big", sum(wide)), ("f", math.fsum(x)), ("m", math.fsum(x) / len(x)), ("mw", sum(w) / len(w)),
                        ("lo", min(w)), ("hi", max(wide)), ("far", math.fsum(y))):
        model[name].append(value)
whole = columns("all.csv")
check(list(map(int, whole["k"])) == list(range(GROUPS)), "the groups")
for name, expected in model.items():
    check(list(map(type(expected[0]), whole[name])) == expected, f"{name} with others")
    if f"{name}.csv" in kept:
        check(list(map(type(expected[0]), columns(f"{name}.csv")[name])) == expected, f"{name} alone")
two = columns("two.csv")
check([int(a) * 512 + int(b) for a, b in zip(two["a"], two["b"])] == list(range(GROUPS)), "groups by two keys")
check(list(map(int, two["s"])) == model["s"] and list(map(float, two["m"])) == model["m"], "sums and means by two keys")
finish()
