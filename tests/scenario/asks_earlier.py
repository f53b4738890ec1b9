"""Keys of a file that the script names later are asked while the one before is read (opt/earlier.c): the answers are those of plain
Python, in every way of running; files are said to be wrong, or not there, in the order of the script; and where something acts on the
world between the readers all stays as it is. usage: asks_earlier.py [COUNT] [SEED]

# seconds: 30"""
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, SHORT, Place, check, finish

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 24 if ALL else 6 if SHORT else 12
draw = random.Random(sys.argv[2] if len(sys.argv) > 2 else "asks earlier")
FORMS = ["csv", "arrow"] + (["parquet"] if os.path.exists(os.environ.get("FLOW_DUCKDB", "")) else [])
BIG, FEW = "type Big = (k: i64, t: text, v: i64)\n", "type Few = (k: i64, w: i64)\n"
WAYS = [["-O0"], ["--interp"], *(["--workers", w] for w in "1238")]
place = Place()
place.env["FLOW_CACHE"] = ""


def in_every_way(what, script, moved, expected=None):
    """The same status, messages and answer however it runs; moved: whether the later file is opened earlier."""
    place.write("case.flow", script)
    done = place.run("build", "--emit=ir", "case.flow")
    check(("table_parts<i=1" in done.stdout) == moved, f"{what}: the later file is read {'earlier' if moved else 'later'}", done.stdout + done.stderr)
    first = None
    for way in WAYS:
        for path in "answer.csv", "between.csv":
            (place.path / path).unlink(missing_ok=True)
        done = place.run("run", "-q", *way, "case.flow")
        answer = place.path / "answer.csv"
        found = (done.returncode, done.stdout, done.stderr, answer.read_text() if answer.exists() else None)
        first = first or found
        check(found == first, f"{what} {way}: as without optimisation", (script, first, found))
        if expected is not None:
            check(found[3] == expected, f"{what} {way}: what Python says", (script, expected[:300], str(found[3])[:300], done.stderr))
    return first


def table(rows, header):
    return header + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows)


JOINS = {  # which table is on the left, and the rows of both that the answer has, few before big
    ("few", "inner"): lambda few, big: [(f, b) for f in few for b in big[f[0]]],
    ("few", "left"): lambda few, big: [(f, b) for f in few for b in big[f[0]] or [None]],
    ("few", "semi"): lambda few, big: [(f, None) for f in few if big[f[0]]],
}
for case in range(COUNT):
    many, span = draw.choice([20_000, 70_000]), draw.choice([50, 5_000, 10**6, 10**12])
    big = [(draw.randrange(span), draw.choice(["red", "green", "blue, dark", "ümlaut"]), i) for i in range(many)]
    few = [(draw.randrange(span) if draw.random() < 0.5 else draw.choice(big)[0], draw.randrange(100)) for _ in range(draw.choice([0, 30, 3000]) if span > 50 else 30)]
    place.write("big.csv", "k,t,v\n" + "".join(f'{k},"{t}",{v}\n' for k, t, v in big))
    place.write("few.csv", table(few, "k,w"))
    place.write("make.flow", BIG + FEW + 'let b: Big[_] = read_csv("big.csv")\nlet f: Few[_] = read_csv("few.csv")\n' +
                "".join(f'write_{x}(b, "big.{x}")\nwrite_{x}(f, "few.{x}")\n' for x in FORMS[1:]))
    check(place.run("run", "-q", "make.flow").returncode == 0, f"{case}: files are made")
    kept, form = [f for f in few if f[1] < 30], FORMS[case % len(FORMS)]
    rows_of = {k: [] for k, _ in few}
    for row in big:
        if row[0] in rows_of:
            rows_of[row[0]].append(row)
    how = draw.choice(["inner", "inner", "left", "semi"])
    readers = BIG + FEW + f'let big: Big[_] = read_{form}("big.{form}")\nlet few: Few[_] = read_{form}("few.{form}")\n'
    pairs = JOINS["few", how](kept, rows_of)
    quoted = {t: f'"{t}"' if "," in t else t for _, t, _ in big}
    expected = "k,w\n" if how == "semi" else "k,w,t,v\n"
    expected += "".join(f"{f[0]},{f[1]}" + ("" if how == "semi" else f",{quoted[b[1]]},{b[2]}" if b else ",,") + "\n" for f, b in pairs)
    in_every_way(f"{case} {form} few {how}", readers + f'few |> where(w < 30) |> join(big, on = (k), how = "{how}") |> write_csv("answer.csv")\n',
                 how != "left", expected)
    kept_keys = {f[0] for f in kept}
    total = sum(b[2] for b in big if b[0] in kept_keys)
    in_every_way(f"{case} {form} big semi", readers + 'big |> join(few |> where(w < 30), on = (k), how = "semi") |> summarize(s = sum(v)) |> write_csv("answer.csv")\n',
                 True, f"s\n{total}\n")

# -- what is wrong is said in the order of the script, and files that may change between are read in it
good_big, good_few = table([(i % 700, "t", i) for i in range(90_000)], "k,t,v"), table([(i, i % 100) for i in range(2_000)], "k,w")
bad = {"good": lambda text: text, "late": lambda text: text + "x,1,1\n", "ragged": lambda text: text + "1\n", "header": lambda text: "no" + text,
       "missing": lambda text: None, "empty": lambda text: ""}
QUERY = 'few |> where(w < 30) |> join(big, on = (k)) |> summarize(s = sum(v)) |> write_csv("answer.csv")\n'
for a, make_a in bad.items():
    for b, make_b in bad.items():
        for path, text in ("big.csv", make_a(good_big)), ("few.csv", make_b(good_few)):
            place.write(path, text or "")
            if text is None:
                (place.path / path).unlink()
        first = in_every_way(f"big {a}, few {b}", BIG + FEW + 'let big: Big[_] = read_csv("big.csv")\nlet few: Few[_] = read_csv("few.csv")\n' + QUERY, True)
        check((first[0] == 0) == (a == b == "good"), f"big {a}, few {b}: the status", first)
        wrong = "big.csv" if a != "good" else "few.csv"
        check(a == b == "good" or wrong in first[2], f"big {a}, few {b}: the first file is said to be wrong", first[2])
place.write("big.csv", good_big)
place.write("few.csv", good_few)
readers = 'let big: Big[_] = read_csv("big.csv")\n{}let few: Few[_] = read_csv("few.csv")\n'
for what, between in {"printed": 'print("between")\n', "written": 'write_csv(table(i = [1]), "between.csv")\n', "run": 'let r = rows(1, 2)\nprint("{r}")\n'}.items():
    in_every_way(what, BIG + FEW + "fn rows(a: i64, b: i64) = a + b\n" + readers.format(between) + QUERY, False)
finish()
