"""Groups that do not fit in --memory: aggregates of nearly as many groups as rows, by keys of every kind, give what a plain Python
model gives, with any limit and any number of workers; so do sums that overflow, which say the same group, and the first rows of
keys that nearly all differ.

usage: limits_groups.py [--all]: the model of every group, and two limits with each number of workers. Without it the model of each
forty-eighth group, for each second key, of others: of the run without a limit, with which those with one are compared byte for byte."""
import csv
import itertools
import math
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, PATIENCE, Place, check, finish

# seconds: 40

ROWS = 300_000  # of fewer rows nobody asks whether their groups are many
sanitized = PATIENCE > 1  # a sanitizer's own memory counts too: then the limit is wide, and only values are compared
LIMITS = {"8000M": "138"} if sanitized else {"26M": "138", "40M": "138"} if ALL else {"26M": "3"}  # with these numbers of workers
AGGREGATES = "n = count(), s = sum(f), m = mean(f), lo = min(w), hi = max(w), mid = median(f), a = first(w), b = last(w), t = first(name), d = n_distinct(w)"
KEYS = {"sparse": "key", "float": "real", "null": "maybe", "two": "name, key", "wide": "real, maybe, name"}
FIRSTS = ["whole", "hardly", "key", "real"]  # of the first two, two in a thousand rows are no first ones
SCRIPT = 'let t = read_csv("groups.csv")\n' + "".join(
    f'write_csv(t |> group_by({keys}) |> summarize({AGGREGATES}), "{name}.csv")\n' for name, keys in KEYS.items()
) + "".join(f'write_csv(t |> distinct({key}) |> select(id), "first_{key}.csv")\n' for key in FIRSTS) + 'print("done")\n'
FAILS = 'let t = read_csv("groups.csv")\nprint(t |> group_by(key) |> summarize(s = sum(huge), m = mean(f)) |> head(1))\n'
COLUMNS = ["id", "key", "real", "maybe", "name", "f", "w", "huge", "whole", "hardly"]


def make():
    draw = random.Random(11)
    rows = []
    for i in range(ROWS):
        key = draw.randrange(2 * ROWS) * 1_000_003 - 5_000_000
        real = float("nan") if draw.random() < 0.01 else draw.choice([-0.0, 0.0]) if draw.random() < 0.01 else draw.uniform(-1e9, 1e9)
        maybe = None if draw.random() < 0.01 else draw.randrange(-(1 << 62), 1 << 62)
        f = draw.choice([draw.uniform(-1, 1) * 10.0 ** draw.randrange(-9, 9), 0.1, -0.25])
        w = None if draw.random() < 0.2 else draw.randrange(5)
        rows.append((i, key, real, maybe, f"n{draw.randrange(700)}", f, w, draw.randrange(1 << 62)))
        other = rows[draw.randrange(len(rows) - 1)][8] if len(rows) > 1 and draw.random() < 0.002 else i
        same = draw.choice([-0.0, 0.0, float("nan"), -2.5]) if draw.random() < 0.002 else i * 1.25 + 0.125
        rows[-1] += ((other if other != i else (i - ROWS // 2) * 1_000_003), same)
    rows[-1] = rows[-1][:1] + (rows[77][1],) + rows[-1][2:7] + ((1 << 63) - 1,) + rows[-1][8:]
    rows[77] = rows[77][:7] + ((1 << 63) - 2,) + rows[77][8:]
    return rows


def order(v):
    """NaN behind other values, null last; both zeros are one."""
    if v is None:
        return (2, 0)
    return (1, 0) if v != v else (0, v)


def summary(group):
    f, w = [r[5] for r in group], [r[6] for r in group if r[6] is not None]
    picked = [min(w), max(w)] if w else [None, None]
    ends = [w[0], w[-1]] if w else [None, None]
    return [len(group), math.fsum(f), statistics.median(f)] + picked + ends + [group[0][4], len(set(w))]


def value(text):
    return None if text == "" else float(text)


def agrees(found, keys, group):
    n, s, m, lo, hi, mid, a, b, t, d = found[len(keys):]
    count, total, middle, least, most, first, last, name, different = summary(group)
    for k, place in enumerate(keys):
        v = group[0][place]
        if isinstance(v, str):
            if found[k] != v:
                return False
        elif order(value(found[k])) != order(None if v is None else float(v)):
            return False
    numbers = [value(x) for x in (n, s, lo, hi, a, b, d)]
    return (
        numbers == [count, total, least, most, first, last, different]
        and t == name
        and math.isclose(float(mid), middle, rel_tol=1e-15, abs_tol=0.0)
        and math.isclose(float(m), total / count, rel_tol=1e-15, abs_tol=0.0)
    )


def compare_model(place, rows, name):
    keys = [COLUMNS.index(k) for k in KEYS[name].split(", ")]
    groups = {}
    for r in rows:
        groups.setdefault(tuple(order(r[k]) if not isinstance(r[k], str) else (0, r[k]) for k in keys), []).append(r)
    with open(place.path / f"{name}.csv", newline="") as file:
        found = list(csv.reader(file))[1:]
    each = 1 if ALL else 48  # Python takes a second for 20,000 of them
    pairs = itertools.islice(enumerate(zip(found, sorted(groups))), list(KEYS).index(name) % each, None, each)
    wrong = next((i for i, (row, key) in pairs if not agrees(row, keys, groups[key])), None)
    check(len(found) == len(groups) and wrong is None, f"{name}: as the model says", (len(found), len(groups), wrong, wrong is not None and found[wrong]))


def compare_firsts(place, rows, name):
    k, seen = COLUMNS.index(name), {}
    for r in rows:
        seen.setdefault(order(r[k]), r[0])
    found = [int(x) for x in (place.path / f"first_{name}.csv").read_text().split()[1:]]
    check(found == list(seen.values()), f"first rows of {name}: as the model says", (len(found), len(seen)))


place = Place(groups__flow=SCRIPT, fails__flow=FAILS)
rows = make()
with open(place.path / "groups.csv", "w") as file:
    file.write(",".join(COLUMNS) + "\n")
    for r in rows:
        file.write(",".join("" if v is None else "NaN" if v != v else repr(v) if isinstance(v, float) else str(v) for v in r) + "\n")
done = place.run("run", "--no-cache", "groups.flow")
check(done.returncode == 0, "without a limit", done.stderr)
for name in list(KEYS)[:: 1 if ALL else 2]:
    compare_model(place, rows, name)
for name in FIRSTS:
    compare_firsts(place, rows, name)
del rows
GIVEN = list(KEYS) + [f"first_{key}" for key in FIRSTS]
files = {name: (place.path / f"{name}.csv").read_bytes() for name in GIVEN}
fails = place.run("run", "--no-cache", "fails.flow")
check(fails.returncode == 1 and "sum" in fails.stderr and "key = " in fails.stderr, "a sum overflows", fails.stderr)
for limit, numbers in LIMITS.items():
    for workers in numbers:
        done = place.run("run", "--no-cache", "--memory", limit, "--workers", workers, "groups.flow")
        check(done.returncode == 0, f"--memory {limit}, {workers} workers: runs", done.stderr)
        for name in GIVEN:
            check((place.path / f"{name}.csv").read_bytes() == files[name], f"--memory {limit}, {workers} workers: {name}")
        done = place.run("run", "-q", "--no-cache", "--memory", limit, "--workers", workers, "fails.flow")
        check((done.returncode, done.stderr) == (1, fails.stderr), f"--memory {limit}, {workers} workers: the same error", done.stderr)
finish()
