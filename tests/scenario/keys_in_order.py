#!/usr/bin/env python3
"""Tables whose keys ascend from row to row, and such that do until one row does not: integers, dates, texts and floats with NaN and both
zeros, with nulls and without, one key or two. Counts, sums, means, first and last values of groups give what a plain Python model
gives, sums and means rounded once; with one worker, two, little memory, interpreted, and with the rows in another order the same.

usage: keys_in_order.py [SEED TABLES]
"""
import csv
import fractions
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, Place, check, finish

KINDS = ["i64", "i32", "u8", "date", "text", "f64"]
SIZES = [1, 2, 30, 5000, 65_536, 65_537, 150_000]
VALUES = ["plain", "wide", "zeros", "infinite"]


def key(kind, k):
    """The key of group k, as a file has it; they ascend by k."""
    if kind == "date":
        return f"{1000 + k // 336:04}-{k // 28 % 12 + 1:02}-{k % 28 + 1:02}"
    if kind == "text":
        return f"key {k:09}"
    if kind == "f64":
        return repr((k - 40) / 8)
    return str(min(k, 255) if kind == "u8" else k - 70)


def keys(r, kind, n, each):
    """Of n rows, about so many a group, ascending: some NaN and nulls at the end, -0.0 among 0.0."""
    found, k = [], 0
    while len(found) < n:
        found += [key(kind, k)] * r.randint(1, 2 * each - 1)
        k += 1 if kind in ("u8", "date") else r.choice([1, 1, 1, 5])
    found = found[:n]
    if kind == "f64":
        found = [r.choice(["0.0", "-0.0"]) if v == "0.0" else v for v in found]
        found[n - n // 50:] = ["nan"] * (n // 50)
    if r.random() < 0.3:
        found[n - n // 40:] = [""] * (n // 40)
    return found


def value(r, shape):
    if shape == "wide" and r.random() < 0.3:
        return r.choice([-1, 1]) * 2.0 ** r.randint(-300, 300)
    if shape == "zeros" and r.random() < 0.9:
        return r.choice([0.0, -0.0])
    if shape == "infinite" and r.random() < 0.001:
        return r.choice([math.inf, -math.inf, math.nan])
    return r.uniform(-1000, 1000)


def total(values):
    """The sum, and the mean, each rounded once; None: there is none."""
    if not all(map(math.isfinite, values)):
        s = math.nan if any(map(math.isnan, values)) or {math.inf, -math.inf} <= set(values) else next(filter(math.isinf, values))
        return s, s
    s = sum(map(fractions.Fraction, values))
    return float(s) + 0.0, float(s / len(values)) + 0.0 if values else None


def same(text, expected):
    if expected is None or text == "":
        return expected is None and text == ""
    found = float(text)
    return math.isnan(found) and math.isnan(expected) or found == expected and math.copysign(1, found) == math.copysign(1, expected)


def model(kinds, rows):
    """A row a group, in the order of the keys: the keys, count, sum, mean, first value, sum of integers."""
    groups = {}
    for *of, v, i in rows:
        name = tuple("0.0" if kind == "f64" and k == "-0.0" else k for kind, k in zip(kinds, of))
        groups.setdefault(name, (of, []))[1].append((v, i))

    def place(item):
        return [(2, 0) if k == "" else (1, 0) if k == "nan" else (0, k if kind in ("text", "date") else float(k)) for kind, k in zip(kinds, item[0])]

    for _, (of, found) in sorted(groups.items(), key=place):
        values = [v for v, _ in found if v is not None]
        yield of, len(found), *total(values), values[0] if values else None, sum(i for _, i in found)


def agree(found, expected, kinds):
    of, count, s, mean, first, whole = expected
    if len(found) != len(kinds) + 5 or found[-5] != str(count) or found[-1] != str(whole):
        return False
    for kind, a, b in zip(kinds, found, of):
        if not (a == b or kind == "f64" and b not in ("", "nan") and a != "" and float(a) == float(b) or b == "nan" and a.lower() == "nan"):
            return False
    return same(found[-4], s) and same(found[-3], mean) and same(found[-2], first)


def main():
    seed, tables = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (7, 20)
    place = Place()
    for case in range(tables):
        r = random.Random(seed * 1000 + case)
        n, each, shape, nulls = r.choice(SIZES), r.choice([1, 1, 2, 4, 40]), r.choice(VALUES), r.random() < 0.3
        if case % 5 == 0:  # many groups, some of them across the borders of what a worker takes at once
            n, each, shape, nulls = 150_000, r.choice([2, 4, 40]), "plain", False
        kinds = [r.choice(KINDS) if case % 5 else "i64"]
        columns = [keys(r, kinds[0], n, each)]
        if r.random() < 0.3 and case % 5:
            kinds.append("i64")
            columns.append([str(r.randrange(3)) for _ in range(n)])
        rows = [(*of, None if nulls and r.random() < 0.2 else value(r, shape), r.randint(-2**40, 2**40)) for of in zip(*columns)]
        if r.random() < 0.4 and n > 2 and case % 5:  # one that is not where it belongs
            rows.insert(r.choice([1, n // 2, n - 1]), rows.pop(r.choice([0, n // 3, n - 1])))
        what = f"table {case}: {n} rows of {kinds}, about {each} a group, values {shape}{', nulls' if nulls else ''}"
        with open(place.path / "rows.csv", "w") as file:
            file.write(",".join([f"k{j}" for j in range(len(kinds))] + ["v", "i"]) + "\n")
            file.writelines(",".join([*of, "" if v is None else repr(v), str(i)]) + "\n" for *of, v, i in rows)
        by = ", ".join(f"k{j}" for j in range(len(kinds)))
        types = ", ".join([f"k{j}: {kind}{'?' if any(row[j] == '' for row in rows) else ''}" for j, kind in enumerate(kinds)]
                          + [f"v: f64{'?' if any(row[-2] is None for row in rows) else ''}", "i: i64"])
        asked = f"group_by({by}) |> summarize(n = count(), s = sum(v), m = mean(v), f = first(v), t = sum(i))"
        one = f"group_by({by}) |> summarize(s = sum(v))"
        read = f'let t = read_csv("rows.csv", types = ({types}), null = "")\nprint(t.i[0])\n'
        place.write("k.flow", read + f'write_csv(t |> {asked}, "groups.csv")\n'
                    f'write_csv(t |> derive(z_at = (row_number() * 7919) % {n}) |> sort(z_at) |> {one}, "other.csv")\n')
        place.write("one.flow", read + f'write_csv(t |> {one}, "one.csv")\n')
        kept = None
        for words in (["--workers", "1"], ["--workers", "2"], ["--memory", "20M" if PATIENCE == 1 else "8000M"], ["--interp"]):
            if words == ["--interp"] and n > 70_000:
                continue
            done = [place.run("run", "--no-cache", *words, script) for script in ("k.flow", "one.flow")]
            well = all(d.returncode == 0 for d in done)
            check(well, f"{what}, {words}: runs", "".join(d.stderr for d in done))
            files = {name: (place.path / f"{name}.csv").read_bytes() for name in ("groups", "one", "other")} if well else {}
            check(kept is None or files == kept, f"{what}, {words}: the same bytes")
            kept = files
        found = list(csv.reader(kept.get("groups", b"").decode().splitlines()))[1:]
        expected = list(model(kinds, rows))
        wrong = next(((a, b) for a, b in zip(found, expected) if not agree(a, b, kinds)), None)
        check(len(found) == len(expected) and wrong is None, what, f"{len(found)} rows, {len(expected)} expected; first that differ: {wrong}")
        sums = [list(csv.reader(kept.get(name, b"").decode().splitlines()))[1:] for name in ("one", "other")]
        check([row[-1] for row in sums[0]] == [row[-4] for row in found] == [row[-1] for row in sums[1]], f"{what}: sums alone, and of rows in another order")
    finish()


main()
