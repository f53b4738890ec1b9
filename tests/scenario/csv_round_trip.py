"""Tables of all types written as CSV: the file's content is what a plain model says, and read back without a word about it, types
and values are the same; integers come back as i64, floats as f64."""
import csv
import datetime
import gzip
import io
import json
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

# Texts, and whether they stand in quotes although no separator asks for it: because they look like something else.
TEXTS = [("plain", False), ("two words", False), ("é", False), ("02134", False), ("1.2.3", False), ("1e", False), ("true story", False),
         ("P1", False), ("PT", False), ("P1Y", False), ("NAN1", False), ("2024-13-01", False), ("99999999999999999999", False),
         ("-", False), ("None", False), ("tRUE", False), ("1 2", False), ("12:30", False), ("0x1F", False), ("n/a", False),
         ("1", True), ("-3", True), ("+4", True), ("1.5", True), ("1,5", True), (".5", True), ("1e3", True), ("-1E-3", True), ("inf", True),
         ("nan", True), ("true", True), ("False", True), ("TRUE", True), ("2020-01-01", True), ("2020-01-01T10:00:00Z", True),
         ("2020-01-01 10:00:00", True), ("PT1H30M", True), ("-P1D", True), ("P2W", True), ("NA", True), ("N/A", True), ("NULL", True),
         ("null", True), ("", True), (" lead", True), ("trail ", True), ('say "hi"', True), ("a\nb", True), ("'q'", True), ("#c", True), ("0", True)]
QUOTED = dict(TEXTS)


def duration(micros):
    """ISO 8601, by hand."""
    size, sign = abs(micros), "-" if micros < 0 else ""
    days, rest = divmod(size, 86400 * 10**6)
    hours, rest = divmod(rest, 3600 * 10**6)
    minutes, rest = divmod(rest, 60 * 10**6)
    seconds, rest = divmod(rest, 10**6)
    said = f"{seconds}." + f"{rest:06}".rstrip("0") if rest else str(seconds)
    time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") + (f"{said}S" if seconds or rest or not size else "")
    return sign + "P" + (f"{days}D" if days else "") + ("T" + time if time else "")


def literal(text):
    return json.dumps(text, ensure_ascii=False)


def random_time(r):
    return datetime.datetime(1900, 1, 1) + datetime.timedelta(days=r.randrange(90000), seconds=r.randrange(86400), microseconds=r.choice([0, 0, 1, 500000]))


def said_time(t):
    return t.isoformat() + "Z"


# kind: (a random value, how flow writes an array of them, the field in the file, what JSON says when it is read back, the type read back)
KINDS = {
    "text": (lambda r: r.choice(TEXTS)[0], lambda v: literal(v), lambda v: v, lambda v: v, "text"),
    "category": (lambda r: r.choice(TEXTS)[0], lambda v: literal(v), lambda v: v, lambda v: v, "text"),
    "i64": (lambda r: r.choice([0, -1, 2**63 - 1, -(2**63) + 1, r.randrange(10**6)]), str, str, lambda v: v, "i64"),
    "i8": (lambda r: r.randrange(-128, 128), str, str, lambda v: v, "i64"),
    "u32": (lambda r: r.choice([0, 2**32 - 1, r.randrange(2**32)]), str, str, lambda v: v, "i64"),
    "f64": (lambda r: r.choice([0.5, -2.0, 1e300, 5e-324, 0.1 + 0.2, r.random()]), repr, None, lambda v: v, "f64"),
    "bool": (lambda r: r.random() < 0.5, lambda v: str(v).lower(), lambda v: str(v).lower(), lambda v: v, "bool"),
    "date": (lambda r: random_time(r).date(), lambda v: f'"{v}"', str, str, "date"),
    "datetime": (random_time, lambda v: f'"{said_time(v)}"', said_time, said_time, "datetime"),
    "duration": (lambda r: r.choice([0, 1, -1, 5400000000, 90061000001, -(10**15), r.randrange(-(10**12), 10**12)]), str, duration, lambda v: v, "duration"),
}
MAKE = {"category": "category({})", "i8": "i8({})", "u32": "u32({})", "date": "date({})", "datetime": "datetime({})", "duration": "microseconds({})"}
NAMES = ["a", "b c", "2019", "2020-01-01", "x,y", 'q"q', "true", "NA", "#n", "é", "a;b", "t\tt"]
BARE_NAMES = ["a", "b c", "é"]
WAYS = [("csv", "csv", "", ",", ""), ("semi", "csv", ', sep = ";", decimal = ","', ";", ","), ("tabs", "tsv", "", "\t", ""), ("pack", "csv.gz", "", ",", "")]


def make_table(r, k):
    columns = []
    names = r.sample(NAMES, r.randrange(1, 7))
    n = r.randrange(1, 8)
    for name in names:
        kind = r.choice(["text"] * 4 + list(KINDS))
        some = r.random() < 0.3
        values = [None if some and r.random() < 0.4 else KINDS[kind][0](r) for _ in range(n)]
        if kind == "category":
            values = [v if v is not None else "plain" for v in values]
        if all(v is None for v in values):
            values[0] = KINDS[kind][0](r)
        columns.append((name, kind, values))
    return columns


def array(kind, values):
    said = "[" + ", ".join("null" if v is None else KINDS[kind][1](v) for v in values) + "]"
    return MAKE.get(kind, "{}").format(said)


def raw_fields(line, sep):
    """The fields of a line, quotes and all."""
    found, field, inside = [], "", False
    for c in line:
        if c == '"':
            inside = not inside
        if c == sep and not inside:
            found.append(field)
            field = ""
        else:
            field += c
    return found + [field]


def check_content(name, text, columns, sep, decimal):
    rows = [row or [""] for row in csv.reader(io.StringIO(text, newline=""), delimiter=sep)]
    check(rows[0] == [c[0] for c in columns], f"{name}: names", rows[0])
    raws, inside, line = [], False, ""
    for c in text.split("\n", 1)[1]:
        inside ^= c == '"'
        if c == "\n" and not inside:
            raws.append(raw_fields(line, sep))
            line = ""
        else:
            line += c
    for k, (_, kind, values) in enumerate(columns):
        for i, v in enumerate(values):
            field, raw = rows[1 + i][k], raws[i][k]
            if v is None:
                check(raw == "", f"{name}: a null is an empty field", raw)
            elif kind == "f64":
                check(float(field.replace(decimal or ".", ".")) == v, f"{name}: {v}", raw)
            else:
                check(field == KINDS[kind][2](v), f"{name}: {v!r}", raw)
                quoted = kind in ("text", "category") and (QUOTED[v] or sep in v)
                check(raw.startswith('"') == quoted, f"{name}: quotes only where they are needed", raw)


place = Place()
r = random.Random(14)
tables = []
write, read = "", ""
for k in range(60):
    columns = make_table(r, k)
    way = WAYS[k % len(WAYS)]
    file = f"{way[0]}{k}.{way[1]}"
    if all(name not in BARE_NAMES for name, _, _ in columns):
        columns.append(("last", "text", ["plain"] * len(columns[0][2])))  # in a file that puts everything in quotes, they say nothing
    tables.append((file, columns, way))
    write += f"let t{k} = table(" + ", ".join(f"`{name}` = {array(kind, values)}" for name, kind, values in columns) + ")\n"
    write += f'write_{"tsv" if way[1] == "tsv" else "csv"}(t{k}, "{file}"{way[2]})\n'
    read += f'write_jsonl(read_csv("{file}"), "{file}.jsonl")\n'
place.write("write.flow", write)
place.write("read.flow", read)
done = place.run("run", "write.flow")
check(done.returncode == 0, "tables are written", done.stderr)
done = place.run("run", "read.flow")
check(done.returncode == 0, "and read", done.stderr)
for file, columns, way in tables if done.returncode == 0 else []:
    data = (place.path / file).read_bytes()
    text = (gzip.decompress(data) if file.endswith(".gz") else data).decode()
    check_content(file, text, columns, way[3], way[4])
    got = [json.loads(line) for line in (place.path / f"{file}.jsonl").read_text().split("\n")[:-1]]
    for name, kind, values in columns:
        want = [None if v is None else KINDS[kind][3](v) for v in values]
        there = [row.get(name, "no such column") for row in got]
        check(there == want, f"{file}: the values of {name}", f"{want}\n{there}\n{text}")
done = place.run("schema", *[file for file, _, _ in tables])
types = re.findall(r"^type Row = \(\n(.*?)^\)", done.stdout, re.M | re.S)
check(done.returncode == 0 and len(types) == len(tables), "the types of all files are told", done.stderr)
for (file, columns, _), said in zip(tables, types):
    lines = said.splitlines()
    for (name, kind, values), line in zip(columns, lines):
        want = KINDS[kind][4] + ("?" if None in values else "")
        check(line.endswith(f": {want},"), f"{file}: {name} is {want}", line)
finish()
