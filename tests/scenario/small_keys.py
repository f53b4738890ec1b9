#!/usr/bin/env python3
"""Groups of a file by small keys, whose states are made in one sweep: counts, sums, means and extremes of doubles (of all magnitudes, and whole), and of whole numbers, by
keys of whole numbers, bools, dates, texts, two columns and with nulls, that are in order or not, are those of exact fractions, at any number of workers and without
the optimiser; so are sums that need more than one double, and values that no sum has."""
import fractions
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish

KEYS = {"i64": lambda k: k - 20, "i32": lambda k: 7 - k, "u8": lambda k: k % 250, "bool": lambda k: k % 2 == 1, "date": lambda k: f"2024-{k % 12 + 1:02}-{k % 28 + 1:02}",
        "text": lambda k: f"w{k}", "i64?": lambda k: None if k % 7 == 3 else 10 ** 15 + 3 * k}
AGGREGATES = ["n = count(), a = sum(x), m = mean(x)", "a = sum(x)", "n = count()", "m = mean(w)", "n = count(), a = sum(x), b = sum(w), m = mean(y)", "b = sum(w), a = mean(x), n = count()",
              "n = count(), lo = min(x), hi = max(w), a = sum(y)", "hi = max(x)", "lo = min(w), hi = max(y), a = mean(x)"]


def values(draw, n):
    how = draw.randrange(4)
    if how == 0:
        return [draw.gauss(0, 1) for _ in range(n)]
    if how == 1:
        return [draw.random() for _ in range(n)]  # their lower halves add up in one direction
    if how == 2:
        return [draw.gauss(0, 1) * 10.0 ** draw.randrange(-40, 40) for _ in range(n)]
    out = [float(draw.randrange(-99, 99)) for _ in range(n)]
    if draw.random() < 0.5:
        out[draw.randrange(n)] = -0.0
    for _ in range(draw.randrange(3)):
        out[draw.randrange(n)] = draw.choice([math.inf, -math.inf])
    return out


def shown(v):
    return "" if v is None else ("false", "true")[v] if isinstance(v, bool) else repr(v) if isinstance(v, float) else str(v)


def whole(numbers, mean):
    """Rounded once; infinities as they add up."""
    if not all(map(math.isfinite, numbers)):
        return sum(v for v in numbers if not math.isfinite(v))
    exact = sum(map(fractions.Fraction, numbers))
    return float(exact / len(numbers) if mean else exact) if mean or isinstance(numbers[0], float) else int(exact)


def wanted(rows, aggregate):
    function, column = aggregate[:-1].split("(")
    if function == "count":
        return len(rows)
    numbers = [row[column] for row in rows]
    return {"min": min, "max": max}[function](numbers) if function in ("min", "max") else whole(numbers, function == "mean")


def same(text, value):
    number = float(text) if text else math.nan
    return number == value or (math.isnan(number) and math.isnan(value))


def case(place, number):
    draw = random.Random(number)
    n, different, kind = draw.choice([60, 5000, 40_000]), draw.choice([1, 5, 9, 30, 100, 256, 257, 2000]), draw.choice(list(KEYS))
    if number % 3 == 0:  # a count and one sum of doubles are added by themselves
        n, different, kind = 30_000, draw.choice([9, 30, 250]), draw.choice(["i64", "i32", "u8"])
    keys = [draw.randrange(different) for _ in range(n)]
    if draw.random() < 0.3:
        keys = [k if draw.random() < 0.1 else 0 for k in keys]  # nearly all of one group
    if draw.random() < 0.2:
        keys.sort()
    two = draw.random() < 0.3
    x, y = values(draw, n), values(draw, n)
    rows = [{"k": KEYS[kind](k), "q": k * 7 % 3, "x": a, "y": b, "w": draw.randrange(-2 ** 40, 2 ** 40)} for k, a, b in zip(keys, x, y)]
    (place.path / "in.csv").write_text("k,q,x,y,w\n" + "".join(",".join(map(shown, row.values())) + "\n" for row in rows))
    by, made = ["k", "q"] if two else ["k"], draw.choice(AGGREGATES[:2] if number % 3 == 0 else AGGREGATES)
    what = f"{n} rows by {different} of {kind}, {by}, {made} ({number})"
    place.write("s.flow", f'let t: (k: {kind}, q: i64, x: f64, y: f64, w: i64)[_] = read_csv("in.csv")\n'
                          f'write_csv(t |> group_by({", ".join(by)}) |> summarize({made}), "out.csv")\n')
    groups = {}
    for row in rows:
        groups.setdefault(tuple(shown(row[c]) for c in by), []).append(row)
    told = []
    for options in (["--workers", "1"], ["--workers", "2"], ["-O0"]):
        done = place.run("run", "s.flow", "--no-cache", *options)
        told.append((place.path / "out.csv").read_text() if done.returncode == 0 else done.stderr)
        (place.path / "out.csv").unlink(missing_ok=True)
    check(told[0] == told[1] == told[2], f"{what}: the same bytes", "\n".join(t[:200] for t in told))
    names = [part.split(" = ")[0] for part in made.split(", ")]
    head, *lines = [line.split(",") for line in told[0].splitlines()]
    check(head == by + names and len(lines) == len(groups), f"{what}: {len(groups)} groups", told[0][:200])
    wrong = [line for line in lines if not all(same(text, wanted(groups.get(tuple(line[:len(by)]), rows[:1]), part.split(" = ")[1]))
                                               for text, part in zip(line[len(by):], made.split(", ")))]
    check(not wrong, f"{what}: every value", wrong[:2])


spot = Place()
for k in range(20 if SHORT else 60):
    case(spot, k)
finish()
