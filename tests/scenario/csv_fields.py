"""CSV files of many chunks with odd fields: numbers of all forms, quotes and texts across the borders of chunks, carriage returns, no line end at
the end: whole, part by part, and grouped, they are what Python's csv, float and date say, with any number of workers."""
import csv
import datetime
import io
import json
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

CHUNK = 256 * 1024
NAMES = ["id", "x", "n", "d", "s", "t", "y"]


def number(draw):
    """A double as somebody may write it."""
    whole = str(draw.randrange(10 ** draw.randrange(1, 18)))
    form = draw.randrange(12)
    if form < 5:
        at = draw.randrange(len(whole) + 1)
        text = whole[:at] + "." + whole[at:]
    elif form < 8:
        text = whole
    elif form == 8:
        text = f"{whole}.{draw.randrange(10 ** 18):018}"
    elif form == 9:
        text = f"{whole[:3]}.5e{draw.randrange(-30, 30)}"
    else:
        text = draw.choice(["0", "0.0", ".5", "5.", "00012.50", "1e3", "9007199254740993", "9007199254740992", "0.1", "99999999.99999999",
                            "123456789012345.6", "1234567890123456", "12345678.9", "1234567.8", "100000000", "nan", "inf"])
    return draw.choice(["", "", "-"]) + text


def integer(draw):
    return str(draw.choice([1, -1]) * draw.randrange(10 ** draw.randrange(1, 19)))


def day(draw):
    if draw.randrange(8) == 0:
        return draw.choice(["0001-01-01", "9999-12-31", "1900-02-28", "2000-02-29", "2024-02-29", "1600-02-29", "1999-12-31", "2001-03-01", "0004-02-29"])
    return datetime.date.fromordinal(draw.randrange(1, 3652059)).isoformat()


def text(draw, longest):
    kind = draw.randrange(16)
    if kind < 9:
        return "".join(draw.choice("abc xyz-") for _ in range(draw.randrange(1, 90)))
    if kind < 12:
        return draw.choice(["é", "日本語 " * 9, "a😀b", "x" * 31 + "é", "x" * 32 + "ü" + "y" * 40])
    if kind < 14:
        return draw.choice(['say "hi"', "a,b", "two\nlines", "with\r\nreturn", "a\n" * 9, '"', '""', ",", "\n", "x" * 31 + '"', "x" * 64 + '"' + "y" * 9])
    return "q" * draw.randrange(longest) if kind == 14 and draw.randrange(200) == 0 else "plain"


def write(draw, rows, ending, quoting, close, blanks):
    """The bytes of a file, and its rows as texts; None: nothing stands there."""
    out, made = [",".join(NAMES)], []
    for k in range(rows):
        row = [str(k), number(draw), integer(draw), day(draw), text(draw, 3 * CHUNK), text(draw, 90), number(draw)]
        for c in (1, 2, 3, 5):
            if draw.randrange(9) == 0:
                row[c] = None
        cells = []
        for c, value in enumerate(row):
            if value is None:
                cells.append("" if c == 5 or draw.randrange(4) else "NA")
                continue
            asks = any(q in value for q in ',"\r\n')
            all_in = quoting == "all" or (quoting == "texts" and c in (4, 5)) or (quoting == "some" and draw.randrange(3) == 0)
            cells.append('"' + value.replace('"', '""') + '"' if asks or all_in else value)
        out.append(",".join(cells))
        made.append(row)
        if blanks and draw.randrange(400) == 0:
            out.append("")
    return (ending.join(out) + (ending if close else "")).encode(), made


def values(row):
    return [int(row[0]), None if row[1] is None else float(row[1]), None if row[2] is None else int(row[2]), row[3], row[4], row[5], float(row[6])]


def same(a, b):
    return len(a) == len(b) and all(x == y or (isinstance(x, float) and isinstance(y, float) and math.isnan(x) and math.isnan(y)) for x, y in zip(a, b))


def shown(row):
    """A row of a JSON file, where NaN and infinities are texts or null."""
    return [row[name] for name in NAMES]


SCRIPT = """type Row = (id: i64, x: f64?, n: i64?, d: date?, s: text, t: text?, y: f64)
let t: Row[_] = read_csv("FILE")
t |> where(y == y, y < inf, y > -inf, is_null(x) or (x == x and x < inf and x > -inf)) |> write_jsonl("rows.jsonl")
t |> derive(key = id % 7) |> group_by(key) |> summarize(rows = count(), n = count(n), first = min(d), last = max(d), least = min(s), most = max(col.t))
  |> sort(key) |> write_jsonl("groups.jsonl")
"""
WHOLE = """type Row = (id: i64, x: f64?, n: i64?, d: date?, s: text, t: text?, y: f64)
let t: Row[_] = read_csv("FILE")
print(len(t))
t |> sort(-id) |> where(y == y, y < inf, y > -inf, is_null(x) or (x == x and x < inf and x > -inf)) |> write_jsonl("rows.jsonl")
"""
csv.field_size_limit(1 << 30)
draw = random.Random(5)
place = Place()
sizes = [0, 1, 700, 9000] if len(sys.argv) < 2 else [int(n) for n in sys.argv[1:]]
ways = [("\n", "none", True, False), ("\r\n", "texts", True, False), ("\n", "all", False, False), ("\r\n", "some", False, True), ("\n", "some", True, True)]
for k, (ending, quoting, close, blanks) in enumerate(ways):
    for rows in sizes:
        name = f"f{k}_{rows}.csv"
        data, made = write(draw, rows, ending, quoting, close, blanks)
        (place.path / name).write_bytes(data)
        # What Python's csv reads is what was written.
        read = [r for r in csv.reader(io.StringIO(data.decode(), newline=""), strict=True) if r][1:]
        check(len(read) == rows and all((a or "") == (b if b != "NA" else b) or a is None for r, m in zip(read, made) for a, b in zip(m, r)), f"{name}: the model")
        wanted = [values(r) for r in made]
        finite = [r for r in wanted if math.isfinite(r[6]) and (r[1] is None or math.isfinite(r[1]))]
        groups = [[r for r in wanted if r[0] % 7 == key] for key in range(7)]
        for script, words in ((SCRIPT, ("1", "2", "3")), (WHOLE, ("1", "3"))):
            place.write("read.flow", script.replace("FILE", name))
            for workers in words:
                done = place.run("run", "--no-cache", "--workers", workers, "read.flow")
                what = f"{name}, {workers} workers"
                check(done.returncode == 0, f"{what}: it runs", done.stderr)
                if done.returncode:
                    continue
                got = [shown(json.loads(line)) for line in (place.path / "rows.jsonl").read_text().split("\n")[:-1]]
                expected = finite if script is SCRIPT else finite[::-1]
                check(len(got) == len(expected), f"{what}: {len(expected)} rows", len(got))
                wrong = next(((a, b) for a, b in zip(got, expected) if not same(a, b)), None)
                check(wrong is None, f"{what}: the rows", f"got {str(wrong and wrong[0])[:900]}\nnot {str(wrong and wrong[1])[:900]}")
                if script is WHOLE:
                    check(done.stdout.strip() == str(rows), f"{what}: how many rows", done.stdout)
                    continue
                found = [json.loads(line) for line in (place.path / "groups.jsonl").read_text().split("\n")[:-1]]
                for key, group in enumerate(g for g in groups if g):
                    days, texts = [r[3] for r in group if r[3] is not None], [r[5] for r in group if r[5] is not None]
                    right = {"key": key, "rows": len(group), "n": sum(r[2] is not None for r in group), "first": min(days, default=None), "last": max(days, default=None),
                             "least": min((r[4] for r in group), key=str.encode), "most": max(texts, key=str.encode, default=None)}
                    check(key < len(found) and found[key] == right, f"{what}: group {key}", f"{str(found[key:key + 1])[:600]}\n{str(right)[:600]}")
finish()
