"""Groups that are few: their numbers take one byte or two, where keys allow, and eight where not. Every aggregate, alone and
with others, of keys just below and above what these hold, gives what a plain Python model gives; with all limits of memory and
numbers of workers the same bytes; sums that overflow say the group."""
import csv
import math
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, Place, check, finish

ROWS = 40_000
GREATEST = [0, 254, 255, 256, 16_382, 16_383, 16_384, 16_385]
ALONE = {"n": "count()", "s": "sum(w)", "f": "sum(x)", "m": "mean(w)", "g": "mean(x)", "lo": "min(w)", "hi": "max(w)", "xl": "min(x)",
         "yes": "sum(odd)", "some": "any(odd)", "zl": "1.0 / min(zero)", "zh": "1.0 / max(-zero)", "nl": "min(part)", "nh": "max(part)", "first": "first(w)", "last": "last(w)", "mid": "median(x)", "d": "n_distinct(odd)"}
MODEL = {"n": len, "s": lambda r: sum(w for w, _ in r), "f": lambda r: math.fsum(x for _, x in r), "m": lambda r: sum(w for w, _ in r) / len(r),
         "g": lambda r: math.fsum(x for _, x in r) / len(r), "lo": lambda r: min(w for w, _ in r), "hi": lambda r: max(w for w, _ in r),
         "xl": lambda r: min(x for _, x in r), "yes": lambda r: sum(w % 2 for w, _ in r), "some": lambda r: any(w % 2 for w, _ in r),
         "first": lambda r: r[0][0], "last": lambda r: r[-1][0], "mid": lambda r: statistics.median(x for _, x in r),
         "d": lambda r: len({w % 2 for w, _ in r}), "zl": lambda r: turned([zero(row) for row in r]), "zh": lambda r: -turned([zero(row) for row in r]),
         "nl": lambda r: of_parts(min, r), "nh": lambda r: of_parts(max, r)}


def zero(row):
    """Zeros of both signs, and else what is above them."""
    return [-0.0, 0.0, abs(row[1]) + 1][abs(row[0]) % 3]


def turned(zeros):
    """Over the least: of zeros of both signs the first one."""
    least = min(zeros)  # the first of those that are equal
    return 1 / least if least else math.copysign(math.inf, least)


def of_parts(end, rows):
    """A value that is none is before and behind all others."""
    return math.nan if any(w % 911 == 0 for w, _ in rows) else end(x if w % 5 else math.inf for w, x in rows)


def same(found, expected):
    return len(found) == len(expected) and all(f == e or f != f and e != e for f, e in zip(found, expected))


draw = random.Random(5)
keys = [[0 if i == 0 else most if i == 1 else draw.randrange(most + 1) for i in range(ROWS)] for most in GREATEST]
values = [(draw.randrange(-10**6, 10**6), draw.randrange(-4096, 4096) / 64) for _ in range(ROWS)]  # of so few bits that a mean is rounded once
place = Place()
with open(place.path / "rows.csv", "w") as file:
    file.write("w,x," + ",".join(f"k{j}" for j in range(len(keys))) + "\n")
    for i, (w, x) in enumerate(values):
        file.write(f"{w},{x}," + ",".join(str(k[i]) for k in keys) + "\n")
# The columns are read once for all groupings, so that these do not go into the reader.
script = 'let t = read_csv("rows.csv") |> derive(odd = w % 2 == 1 or w % 2 == -1, zero = if abs(w) % 3 == 0 { -0.0 } else if abs(w) % 3 == 1 { 0.0 } else { abs(x) + 1 }, '
script += 'part = if w % 911 == 0 { 0.0 * (x / 0.0) } else if w % 5 == 0 { 1.0 / 0.0 } else { x })\n'
for j in range(len(keys)):
    script += f"let all{j} = t |> group_by(k{j}) |> summarize({', '.join(f'{name} = {text}' for name, text in ALONE.items())})\n"
    script += f'write_csv(all{j}, "all{j}.csv")\n'
    for name, text in ALONE.items():
        script += f'write_csv(t |> group_by(k{j}) |> summarize({name} = {text}), "{name}{j}.csv")\n'
place.write("g.flow", script + "print(sum(t.w))\n")
place.write("over.flow", 'let t = read_csv("rows.csv")\nprint(t |> group_by(k1) |> summarize(s = sum(100_000_000_000_000_000 + w)) |> head(1))\nprint(sum(t.w))\n')


def rows_of(name):
    with open(place.path / name) as file:
        return list(csv.DictReader(file))


def value(text):
    return {"true": True, "false": False}[text] if text in ("true", "false") else float(text) if any(c in text for c in ".ean") else int(text)


kept, failed = None, None
# A sanitizer's own memory counts too: then the limit is wide.
for words in (["--workers", "1"], ["--workers", "3"], ["--memory", "30M" if PATIENCE == 1 else "8000M"], ["--interp"]):
    done = place.run("run", "--no-cache", *words, "g.flow")
    check(done.returncode == 0, f"{words}: runs", done.stderr)
    files = {path.name: path.read_bytes() for path in place.path.glob("*[0-9].csv")}
    check(kept is None or files == kept, f"{words}: the same bytes")
    kept = files
    done = place.run("run", "-q", "--no-cache", *words, "over.flow")
    check(done.returncode == 1 and "overflow" in done.stderr and "k1 = " in done.stderr, f"{words}: the sum overflows in a group", done.stderr)
    check(failed in (None, done.stderr), f"{words}: the same group", done.stderr)
    failed = done.stderr
for j, of in enumerate(keys):
    groups = {}
    for k, row in zip(of, values):
        groups.setdefault(k, []).append(row)
    found = rows_of(f"all{j}.csv")
    check([int(row[f"k{j}"]) for row in found] == sorted(groups), f"keys to {GREATEST[j]}: the groups")
    for name, model in MODEL.items():
        expected = [model(groups[k]) for k in sorted(groups)]
        check(same([value(row[name]) for row in found], expected), f"keys to {GREATEST[j]}: {name}")
        check(same([value(row[name]) for row in rows_of(f"{name}{j}.csv")], expected), f"keys to {GREATEST[j]}: {name} alone")
finish()
