#!/usr/bin/env python3
"""Keys of integers of every type, of dates, datetimes and decimals: near zero, and at both ends of what the type holds, with nulls
and without, upwards and downwards. Groups, sorts, different rows, joins, ranks and tops give what a plain Python model gives;
with one worker, three, and little memory the same bytes.

usage: keys_integer.py [SEED TABLES]
"""
import collections
import csv
import datetime
import decimal
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, Place, check, finish

DAY, EPOCH = datetime.timedelta(days=1), datetime.datetime(1970, 1, 1)
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64, "date": 32, "datetime": 64, "decimal(12, 2)": 64}
SIZES = [1, 2, 700, 20_000]
SHAPES = ["few", "dense", "wide", "ends", "low end", "high end"]


def limits(kind):
    """The least and greatest number of a type; dates and datetimes as far as Python's calendar reaches."""
    if kind == "date":
        return (datetime.date.min - EPOCH.date()).days, (datetime.date.max - EPOCH.date()).days
    if kind == "datetime":
        return (datetime.datetime.min - EPOCH) // datetime.timedelta(microseconds=1), (datetime.datetime.max - EPOCH) // datetime.timedelta(microseconds=1)
    if kind == "decimal(12, 2)":
        return -(10**12 - 1), 10**12 - 1
    return (0, 2**BITS[kind] - 1) if kind[0] == "u" else (-(2**(BITS[kind] - 1)), 2**(BITS[kind] - 1) - 1)


def drawn(r, kind, shape, n):
    low, high = limits(kind)
    middle = r.randrange(low // 4, high // 2 + 1)
    ranges = {"few": [(middle, middle + 5)], "dense": [(middle, middle + n // 2 + 1)], "wide": [(low, high)], "ends": [(low, low + 2), (high - 2, high)],
              "low end": [(low, low + 40)], "high end": [(high - 40, high)]}[shape]
    return [r.randint(max(low, a), min(high, b)) for a, b in (r.choice(ranges) for _ in range(n))]


def text(kind, value):
    """How a CSV file has it."""
    if value is None:
        return ""
    if kind == "date":
        return (EPOCH.date() + value * DAY).isoformat()
    if kind == "datetime":
        return (EPOCH + datetime.timedelta(microseconds=value)).isoformat(timespec="microseconds" if value % 10**6 else "seconds") + "Z"
    return str(decimal.Decimal(value).scaleb(-2)) if kind.startswith("decimal") else str(value)


def before(value, down):
    """Sorts as the key does: null last in both directions."""
    return (1, 0) if value is None else (0, -value if down else value)


def table(r, n):
    """Two keys and a number: their types, and the rows."""
    kinds = [r.choice(list(BITS)) for _ in range(2)]
    columns = [drawn(r, kind, r.choice(SHAPES), n) for kind in kinds]
    for column in columns:
        if r.random() < 0.3:
            column[:] = [None if r.random() < 0.1 else value for value in column]
    return kinds, list(zip(*columns, range(n)))


def model(kinds, rows, down):
    """{name of a file: its rows, as texts}."""
    def said(keys, of):
        return [[text(kinds[k], value) if k < keys else str(value) for k, value in enumerate(row)] for row in of]

    groups, right = {}, {}
    for row in rows:
        groups.setdefault(row[:2], []).append(row[2])
    for row in rows[::3]:
        right.setdefault(row[:2], row[2])
    single = collections.Counter(row[0] for row in rows)
    ordered = [sorted(rows, key=lambda row: (before(row[0], a), before(row[1], b))) for a, b in (down, [True, True])]
    return {"groups": said(2, [[*key, len(groups[key]), sum(groups[key])] for key in sorted(groups, key=lambda key: [before(v, False) for v in key])]),
            "single": said(1, sorted(single.items(), key=lambda item: before(item[0], False))),
            "different": said(2, groups), "sorted": said(2, ordered[0]), "top": said(2, ordered[1][:5]),
            "joined": said(2, [[*row, right[row[:2]]] for row in rows if None not in row[:2] and row[:2] in right])}


def script(kinds, rows, down):
    types = ", ".join(f"k{k}: {kind}{'?' if any(row[k] is None for row in rows) else ''}" for k, kind in enumerate(kinds))
    a, b = ("desc(k0)" if down[0] else "k0"), ("desc(k1)" if down[1] else "k1")
    lines = [f'let t = read_csv("rows.csv", types = ({types}, v: i64), null = "")',
             "let other = t |> where(v % 3 == 0) |> derive(w = v) |> select(k0, k1, w) |> distinct(k0, k1)",
             'write_csv(t |> group_by(k0, k1) |> summarize(n = count(), s = sum(v)), "groups.csv")',
             'write_csv(t |> group_by(k0) |> summarize(n = count()), "single.csv")',
             f'write_csv(t |> sort({a}, {b}), "sorted.csv")', 'write_csv(t |> top(5, by = (k0, k1)), "top.csv")',
             'write_csv(t |> select(k0, k1) |> distinct(), "different.csv")',
             'write_csv(t |> join(other, on = (k0, k1)), "joined.csv")']
    return "\n".join(lines) + "\n"


def main():
    seed, tables = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (11, 24)
    place = Place()
    for case in range(tables):
        r = random.Random(seed * 1000 + case)
        n, down = r.choice(SIZES), [r.random() < 0.5 for _ in range(2)]
        kinds, rows = table(r, n)
        what = f"table {case}: {n} rows of {kinds}, down {down}"
        with open(place.path / "rows.csv", "w") as file:
            file.write("k0,k1,v\n" + "".join(f"{text(kinds[0], a)},{text(kinds[1], b)},{v}\n" for a, b, v in rows))
        place.write("k.flow", script(kinds, rows, down))
        kept = None
        for words in (["--workers", "1"], ["--workers", "3"], ["--memory", "20M" if PATIENCE == 1 else "8000M"]):
            done = place.run("run", "--no-cache", *words, "k.flow")
            check(done.returncode == 0, f"{what}, {words}: runs", done.stderr)
            files = {name: (place.path / f"{name}.csv").read_bytes() for name in ("groups", "single", "sorted", "different", "joined", "top")} if done.returncode == 0 else {}
            check(kept is None or files == kept, f"{what}, {words}: the same bytes")
            kept = files
        for name, expected in model(kinds, rows, down).items():
            found = list(csv.reader(kept.get(name, b"").decode().splitlines()))[1:]
            check(found == expected, f"{what}: {name}", f"{len(found)} rows, {len(expected)} expected; first that differ: " +
                  str(next(((a, b) for a, b in zip(found, expected) if a != b), "none")))
    finish()


main()
