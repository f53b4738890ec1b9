#!/usr/bin/env python3
"""Joins of a small left table with a far larger right one, and the other way round, as a plain Python model has them: whole numbers that
lie close or far apart, doubles, texts, two keys; nulls on both sides; keys that few or most rows of the right table have; every kind,
`expect = "one"`, and no partner at all. Rows are told by their numbers, in their order. usage: joins_uneven.py [CASES] [SEED]"""
import csv
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, SHORT, Place, check, finish

HOWS = ("inner", "left", "right", "full", "semi", "anti")
KEYS = {  # type of the column, value of the number that a row's key is made of
    "close": ("i64", lambda j: j - 50),
    "sparse": ("i64", lambda j: j * 1_000_003),
    "far": ("i64", lambda j: (j * 0x9E3779B97F4A7C15 & (1 << 63) - 1) * (-1) ** j),
    "double": ("f64", lambda j: j / 8 - 1000),
    "word": ("text", lambda j: f"w{j}"),
    "long": ("text", lambda j: f"a longer text of which all begin alike {j}"),
    "few": ("text", lambda j: "abcdefgh"[j % 8]),
}


def column(r, numbers, of, nulls):
    return [None if r.random() < nulls else of(j) for j in numbers]


def write(place, name, columns):
    with open(place.path / f"{name}.csv", "w", newline="") as to:
        out = csv.writer(to, quoting=csv.QUOTE_MINIMAL)
        out.writerow(columns)
        for row in zip(*columns.values()):
            out.writerow("" if v is None else repr(v) if isinstance(v, float) else v for v in row)


def tables(r):
    """Left and right keys, row by row: tuples of values, None where one is null."""
    small, large = r.choice([0, 1, 7, 300, 1500]), r.choice([17000, 20000, 40000])
    span = r.choice([large // 4, large, large * 6])
    right = [r.randrange(span) for _ in range(large)] if r.random() < 0.5 else r.sample(range(span), large) if span > large else list(range(large))
    hit = r.choice([0.0, 0.1, 0.9, 1.0])
    left = [r.choice(right) if r.random() < hit else span + r.randrange(1000) for _ in range(small)]
    if r.random() < 0.2:  # nearly all of the right table has a key of the left one
        right = [r.choice(left) if left and r.random() < 0.97 else j for j in right[:17000]]
        left = list(dict.fromkeys(left))
    kinds = [r.choice(list(KEYS))] + ([r.choice(list(KEYS))] if r.random() < 0.3 else [])
    if "few" in kinds and len(kinds) == 1:
        left = left[:20]
    nulls = [r.choice([0, 0, 0.3, 0.97]) for _ in range(2)]
    sides = {}
    for name, numbers, share in (("l", left, nulls[0]), ("r", right, nulls[1])):
        sides[name] = {f"k{i}": column(r, numbers, KEYS[kind][1], share) for i, kind in enumerate(kinds)}
        sides[name][f"{name}n"] = list(range(len(numbers)))
    if r.random() < 0.3:
        left, right = ({k: v for k, v in sides[s].items() if k[0] == "k"} for s in "lr")
        sides["l"], sides["r"] = right | {"ln": sides["r"]["rn"]}, left | {"rn": sides["l"]["ln"]}
    return sides, kinds


def pairs(sides, n_keys, how):
    """Pairs of row numbers in order; rows of the left table alone of semi and anti."""
    keys = {s: list(zip(*(sides[s][f"k{i}"] for i in range(n_keys)))) for s in "lr"}
    where = {}
    for row, key in enumerate(keys["r"]):
        if None not in key:
            where.setdefault(key, []).append(row)
    found, out = set(), []
    for row, key in enumerate(keys["l"]):
        partners = [] if None in key else where.get(key, [])
        if how in ("semi", "anti"):
            if bool(partners) == (how == "semi"):
                out.append((row,))
            continue
        found.update(partners)
        out += [(row, p) for p in partners]
        if not partners and how in ("left", "full"):
            out.append((row, None))
    if how in ("right", "full"):
        out += [(None, row) for row in range(len(keys["r"])) if row not in found]
    return out, where, keys


def one(r, place, k):
    sides, kinds = tables(r)
    n_keys = len(kinds)
    types = {s: ", ".join(f"k{i}: {KEYS[kind][0]}{'?' if None in sides[s][f'k{i}'] else ''}" for i, kind in enumerate(kinds)) for s in "lr"}
    for side in "lr":
        write(place, side, sides[side])
    on = ", ".join(f"k{i}" for i in range(n_keys))
    lets = "".join(f'let {s} = read_csv("{s}.csv", types = ({types[s]}, {s}n: i64))\n' for s in "lr")
    hows = [h for h in HOWS if r.random() < 0.6 and len(pairs(sides, n_keys, h)[0]) < 200_000]
    script = lets + "".join(
        f'l |> join(r, on = ({on}), how = "{h}") |> select({"ln" if h in ("semi", "anti") else "ln, rn"}) |> write_csv("{h}.csv")\n' for h in hows)
    place.write("x.flow", script)
    modes = ((), ("--workers", "1"), ("--interp",))
    for mode in modes if k % 3 == 0 else modes[:1]:
        p = place.run("run", "-q", "--no-cache", *mode, "x.flow")
        check(p.returncode == 0, f"case {k} {mode} runs", script + p.stderr)
        for h in hows if p.returncode == 0 else ():
            want = pairs(sides, n_keys, h)[0]
            with open(place.path / f"{h}.csv", newline="") as lines:
                found = [tuple(int(v) if v else None for v in row) for row in list(csv.reader(lines))[1:]]
            first = next((i for i, (a, b) in enumerate(zip(found, want)) if a != b), min(len(found), len(want)))
            check(found == want, f"case {k} {mode} {kinds} {h}: {len(found)} rows, {len(want)} wanted; row {first}: {found[first:first + 2]}, wanted {want[first:first + 2]}", script)
    _, where, keys = pairs(sides, n_keys, "inner")
    many = next((row for row, key in enumerate(keys["l"]) if None not in key and len(where.get(key, [])) > 1), None)
    place.write("y.flow", lets + f'print(len(l |> join(r, on = ({on}), expect = "one")))\n')
    p = place.run("run", "-q", "--no-cache", "y.flow")
    if many is None:
        check(p.stdout.strip() == str(sum(len(where.get(key, [])) for key in keys["l"] if None not in key)), f"case {k} one: {p.stdout}", p.stderr)
    else:
        said = f"row {many} of the left table matches {len(where[keys['l'][many]])} rows"
        check(p.returncode == 1 and said in p.stderr, f"case {k} one: {said}", p.stderr)


def main():
    words = [int(w) for w in sys.argv[1:]] + [None, None]
    r = random.Random(words[1] or 1)
    place = Place()
    for k in range(words[0] or (120 if ALL else 20 if SHORT else 45)):
        one(r, place, k)
    finish()


main()
