#!/usr/bin/env python3
"""Files of several parts over ranks: filters and columns that are computed of them, groups few and many, aggregates of all rows, and
rows that are sorted and joined, are what they are alone; the rows of what is only folded are never sent; a row that does not
fit is told as by one rank, whichever rank reads it and whatever the script would do without it; a file that is another one
at some rank is an error."""
import pathlib
import random
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ranks
from scenario_kit import SHORT, check, finish

WAYS = [(2, 1, 0, ""), (3, 2, 50, ""), (2, 2, 0, "a"), (5, 1, 0, "a")]
ROWS = 60_000 if SHORT else 120_000
READ = """type Row = (id: i64, km: f64, x: f64, late: i64?, city: text, note: text?)
let t: Row[_] = read_{kind}("{name}")
"""
FOLDS = """let few = t |> where(km > 100 and not is_null(late)) |> derive(z = x * km)
few |> group_by(city) |> summarize(n = count(), s = sum(z), m = mean(late), top = max(km), first_note = first(note)) |> show
t |> summarize(n = count(), s = sum(x), least = min(km), late = sum(late)) |> show
print(len(few))
"""
GROUPS = """let g = t |> group_by(id) |> summarize(n = count(), s = sum(x * km))
print("{len(g)} {sum(g.s)} {g.n[7]}")
"""
MOVES = """let few = t |> where(km > 700) |> derive(z = x * km)
few |> sort(z) |> head(5) |> show
let cities = t |> group_by(city) |> summarize(most = max(km))
few |> join(cities, on = city) |> where(most > 999.9) |> summarize(n = count(), s = sum(z)) |> show
print("{sum(few.z)} {sum([for v in few.z: sin(v) * v])}")
"""
MISSES = """let few = t |> where(km > 700)
print(few.x[1000000])
"""


def row(draw, i):
    note = draw.choice(["plain", '"quoted, with ""quotes"""', '"two\nlines"', "", "a rather long note without quotes"])
    late = draw.choice(["", str(draw.randrange(-20, 90))])
    return f"{i},{draw.uniform(0, 1000):.3f},{draw.uniform(-5, 5):.6f},{late},city {i % 37},{note}\n"


def write(folder):
    """good.csv and bad_K.csv, in which a row does not fit, near each quarter."""
    draw = random.Random(5)
    lines = ["id,km,x,late,city,note\n", *(row(draw, i) for i in range(ROWS))]
    (folder / "good.csv").write_text("".join(lines))
    for k in range(1, 5):
        at = ROWS * k // 4 - 3
        (folder / f"bad_{k}.csv").write_text("".join(lines[:at]) + "7,many,1.0,,city 1,x\n" + "".join(lines[at:]))


def sent(script):
    """Bytes that all ranks of a way sent together."""
    return ranks.run(script, [(2, 1, 0, "")])[1].sent


folder = ranks.scratch("").parent
write(folder)
script = folder / "s.flow"
kinds = [("csv", "good.csv")]
script.write_text(READ.format(kind="csv", name="good.csv") + 'write_arrow(t, "good.arrow")\n')
made = ranks.run(script, [])[0].get("good.arrow")
if made:
    (folder / "good.arrow").write_bytes(made)
    kinds.append(("arrow", "good.arrow"))
check(made, "an Arrow file is written")
for kind, name in kinds:
    for what, body in (("folds", FOLDS), ("many groups", GROUPS), ("rows that move", MOVES)):
        script.write_text(READ.format(kind=kind, name=name) + body)
        wrong = ranks.compare(script, WAYS)
        check(not wrong, f"{kind}: {what} over ranks", "\n".join(wrong))
        said = ranks.run(script, [])[0]["err"]
        check(b"on disk" not in said, f"{kind}: {what}: columns that lie in the file are nothing that a step keeps", said)
    script.write_text(READ.format(kind=kind, name=name) + FOLDS)
    check(0 < sent(script) < 60_000, f"{kind}: states are sent, and no rows", f"{sent(script)} bytes")
for k in range(1, 5):
    for body in (FOLDS, MISSES):
        script.write_text(READ.format(kind="csv", name=f"bad_{k}.csv") + body)
        wrong = ranks.compare(script, WAYS)
        check(not wrong, f"bad_{k}.csv is told as by one rank", "\n".join(wrong))
shutil.rmtree(folder)
finish()
