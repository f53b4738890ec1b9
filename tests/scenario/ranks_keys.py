#!/usr/bin/env python3
"""Groups by one key of whole numbers of tables that stay in parts between ranks: each rank makes a table with a place for each number,
and states go, not rows (part/agg_shares.c). Keys of all types of whole numbers, dense, from far below zero, and too far apart for a
table; counts, sums, means, least and greatest of columns of many types; doubles that are far apart, infinite, NaN, zeros of both signs; a
sum that has no place. One rank and plain Python have the same, bit by bit. Then that no rows are sent.
"""
import fractions
import math
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ranks
from scenario_kit import SHORT, check, finish

WAYS = [(1, 2, 0, ""), (2, 1, 0, ""), (2, 2, 20, ""), (3, 1, 0, "a"), (3, 2, 0, ""), (5, 2, 0, ""), (8, 1, 20, "")]
MADE = """
let n = {n}
let k = [for i in 0..n: i * 7919 % {few}]
let t = table(v = [for i in 0..n: i * 31 % 1009 - 300], s = [for i in 0..n: i32(i * 17 % 65536 - 30000)], u = [for i in 0..n: u64(i) * 1000003],
  r = [for i in 0..n: f64(i * 7919 % 1009 - 500) * 2.0 ^ f64(i * 31 % {apart})], z = [for i in 0..n: if i % 7 == 2 {{ -0.0 }} else {{ f64(i % 7 - 2) }}],
  odd = [for i in 0..n: if k[i] == 3 {{ inf }} else if k[i] == 5 {{ nan }} else if i % 7 == 2 {{ -0.0 }} else if i % 7 == 4 {{ 0.0 }} else {{ f64(i % 50 - 20) }}])
"""
# Each by keys of its own: of the same ones rows are grouped once, whole. `at` more than the keys before.
TOLD = ["sr = sum(r), mr = mean(r), rows = count()", "v = sum(v)", "s = sum(s), m = mean(s), least = min(s), most = max(u), all = sum(u)",
        "least = min(r), most = max(r), sr = sum(r)", "rows = count()", "s = sum(odd), least = min(odd), m = mean(odd)", "s = sum(z), least = min(z)"]
ONE = """
let g{at} = t |> derive(key = [for w in k: {key}]) |> group_by(key) |> summarize({told})
print("{{[for v in g{at}.key: v]}} {lists}")
"""
FAILS = """
let big = table(key = [for w in k: {key}], v = [for i in 0..n: if k[i] == {few} // 2 {{ 9000000000000000000 }} else {{ 1 }}]) |> group_by(key) |> summarize(s = sum(v), m = max(v))
print("{{sum(big.m)}}")
"""


def numbers(line):
    """Its lists."""
    return [[number(word) for word in part.split(",") if word.strip()] for part in line.replace("]", "").split("[")[1:]]


def number(word):
    word = word.strip()
    return word if word in ("nan", "inf", "-inf") else int(word) if word.lstrip("-").isdigit() else float(word)


def exact(values, count=1):
    return float(sum(map(fractions.Fraction, values)) / count)


def told(value):
    return "nan" if value != value else str(value) if math.isinf(value) else value


def model(n, few, step, low, apart):
    rows = range(n)
    k = [i * 7919 % few for i in rows]
    r = [(i * 7919 % 1009 - 500) * 2.0 ** (i * 31 % apart) for i in rows]
    odd = [math.inf if k[i] == 3 else math.nan if k[i] == 5 else float(i % 50 - 20) if i % 7 not in (2, 4) else 0.0 for i in rows]
    groups = {}
    for i in rows:
        groups.setdefault(k[i] * step + low, []).append(i)
    g = [of for _, of in sorted(groups.items())]
    keys, sizes = sorted(groups), [len(of) for of in g]
    v, s, u = [i * 31 % 1009 - 300 for i in rows], [i * 17 % 65536 - 30000 for i in rows], [i * 1000003 for i in rows]
    sums = [exact([r[i] for i in of]) for of in g]
    found = [[sums, [exact([r[i] for i in of], len(of)) for of in g], sizes],
            [[sum(v[i] for i in of) for of in g]],
            [[sum(s[i] for i in of) for of in g], [exact([s[i] for i in of], len(of)) for of in g], [min(s[i] for i in of) for of in g], [max(u[i] for i in of) for of in g],
             [sum(u[i] for i in of) for of in g]],
            [[min(r[i] for i in of) for of in g], [max(r[i] for i in of) for of in g], sums],
            [sizes],
            [[told(math.fsum(odd[i] for i in of)) for of in g], [told(math.nan if any(map(math.isnan, (odd[i] for i in of))) else min(odd[i] for i in of)) for of in g],
             [told(math.fsum(odd[i] for i in of) / len(of)) for of in g]],
            [[math.fsum(i % 7 - 2 for i in of) for of in g], [min(i % 7 - 2 for i in of) for of in g]]]
    return [[[key + step * at for key in keys], *of] for at, of in enumerate(found)]


def script_of(n, few, apart, key):
    names = lambda told: [word.split(" =")[0] for word in told.split(", ")]
    return MADE.format(n=n, few=few, apart=apart) + "".join(
        ONE.format(at=at, key=key.format(f"(w + {at})"), told=told, lists=" ".join(f"{{[for v in g{at}.{name}: v]}}" for name in names(told))) for at, told in enumerate(TOLD))


def groups(n, few, kind, step=1, low=0, apart=40, key=None):
    """`key` is what the key is of a number, where it is not as simple."""
    key = key or f"{kind}({{}} * {step} + {low})"
    made = script_of(n, few, apart, key)
    case = f"groups of {n} rows by {few} keys of {kind}, {step} apart, from {low}"
    script = ranks.scratch(made)
    wrong = ranks.compare(script, WAYS)
    check(not wrong, f"{case}, over ranks", "\n".join(wrong))
    got, expected = [numbers(line) for line in ranks.run(script, [(2, 2, 0, "")])[1]["out"].decode().splitlines()], model(n, few, step, low, apart)
    other = [f"{i}, {j}: {a[:9]} is {b[:9]}" for i, (found, of) in enumerate(zip(got, expected)) for j, (a, b) in enumerate(zip(found, of)) if a != b]
    check(len(got) == len(expected) and not other, f"{case}, are those of Python", "\n".join(other))
    shutil.rmtree(script.parent)
    if low == 0:
        script = ranks.scratch(MADE.format(n=n, few=few, apart=apart) + FAILS.format(few=few, key=key.format("w")))
        wrong = ranks.compare(script, WAYS)
        check(not wrong, f"{case}: a sum that has no place", "\n".join(wrong))
        shutil.rmtree(script.parent)


def sent(n, few, step):
    """Bytes that two ranks sent together, who keep arrays in parts from 100 elements on."""
    script = ranks.scratch(f"let n = {n}\nlet t = table(k = [for i in 0..n: i * 7919 % {few} * {step}], r = [for i in 0..n: random(7, i)])\n"
                           "let g = t |> group_by(k) |> summarize(s = sum(r), m = mean(r))\nprint(sum(for i in 0..len(g): g.s[i] * f64(i % 7) + g.m[i]))\n")
    alone, got = ranks.run(script, [(2, 2, 0, "")])
    shutil.rmtree(script.parent)
    check(got["out"] == alone["out"], "the same is printed", got["err"])
    return got.sent


def moves():
    """Half of the places of each rank go to the other one, of three words each; of keys that are far apart, rows."""
    n, few = 100_000, 10_000
    some, rows = sent(n, few, 1), sent(n, few, 1_000_003)
    less = n * 16 / 2 - few * 24
    check(some < rows - less, "states go to the other rank, and no rows", f"{some} bytes were sent, where rows went {rows}, and {less} less were expected")


if __name__ == "__main__":
    moves()
    groups(0, 9, "i64")
    groups(1, 9, "i64")
    groups(40, 12, "i16", low=-30000)
    # For 2, 3, 5, 8 ranks: so many groups that rows would go, and few enough for a table.
    groups(4001, 1300, "i64", low=-2000)
    groups(4001, 850, "i32")
    groups(4001, 500, "u64", low=2**64 - 600, apart=90, key="u64({}) + 18446744073709551016")
    groups(4001, 320, "u32", low=2**32 - 400, apart=900)
    groups(4001, 1300, "i64", low=-2**63, key="{} - 9223372036854775807 - 1")
    groups(4001, 1300, "i64", step=1_000_003)
    groups(600, 190, "u8", low=60)
    groups(600, 190, "i8", low=-100)
    if not SHORT:
        groups(4001, 600, "u16", step=2, low=60_000)
        groups(70_001, 11_000, "i64")
    finish()
