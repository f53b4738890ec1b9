#!/usr/bin/env python3
"""What is computed of texts alone, predicates and numbers, is what a model in Python says where columns know codes of their texts and
where they do not (opt/codes.c, part/by_codes.c): random expressions of two columns, nulls, values in dictionaries that no row has,
dictionaries that differ from batch to batch, columns without rows, all null and of many texts; from Arrow files and streams,
Parquet, CSV and results of stages, in every way of running. Needs pyarrow: build/peers, or any other. More: text_predicates.py COUNT SEED."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish, needs

needs(__file__, "pyarrow")

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 8 if SHORT else 25
draw = random.Random(sys.argv[2] if len(sys.argv) > 2 else "text predicates")
WORDS = ["", "A", "N", "R", "AIR", "AIR REG", "MAIL", "12", "-7.5", "1e3", "Zürich", "日本", "DELIVER IN PERSON", "a text of more than sixteen bytes", "TAKE BACK RETURN"]
UNUSED = ["bad", "AI", "AIR REGX", "", "99x"]
place = Place()

# ---- expressions: their text in flow, and what they are of a row (None: null) --------------------------------


def number_of(column):
    """A number of a text."""
    kind = draw.randrange(3)
    if kind == 0:
        return f"n_chars({column})", lambda r: None if r[column] is None else len(r[column])
    if kind == 1:
        part = draw.choice(["A", "R", "I", "n"])
        return f"(if contains({column}, \"{part}\") ?? false {{ 3 }} else {{ n_chars({column}) }})", lambda r: None if r[column] is None else 3 if part in r[column] else len(r[column])
    return f"(if ({column} <= \"M\") ?? false {{ 1 }} else {{ 0 }})", lambda r: int(r[column] is not None and r[column].encode() <= b"M")


def leaf():
    column, word, kind = draw.choice("ab"), draw.choice(WORDS + UNUSED), draw.randrange(8)
    test = lambda f: lambda r: None if r[column] is None else f(r[column])
    if kind == 0:
        sign = draw.choice(["==", "!=", "<", "<=", ">", ">="])
        how = {"==": lambda x, y: x == y, "!=": lambda x, y: x != y, "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y}[sign]
        return f'{column} {sign} "{word}"', test(lambda x: how(x.encode(), word.encode()))
    if kind == 1:
        some = draw.sample(WORDS + UNUSED, draw.choice([1, 3, 14]))
        return f"{column} in [{', '.join(chr(34) + w + chr(34) for w in some)}]", test(lambda x: x in some)
    if kind == 2:
        name, how = draw.choice([("starts_with", str.startswith), ("ends_with", str.endswith), ("contains", str.__contains__)])
        word = word[:2]
        return f'{name}({column}, "{word}")', test(lambda x: how(x, word))
    if kind == 3:
        return f'lower(trim({column})) == "{word.lower()}"', test(lambda x: x.strip().lower() == word.lower())
    if kind == 4:
        text, model = number_of(column)
        k = draw.randrange(9)
        return f"{text} > {k}", lambda r: None if model(r) is None else model(r) > k
    if kind == 5:
        return f"is_null({column})", lambda r: r[column] is None
    if kind == 6:
        return "a == b", lambda r: None if None in (r["a"], r["b"]) else r["a"] == r["b"]
    k = draw.randrange(1000)
    return f"i % 1000 < {k}", lambda r: r["i"] % 1000 < k


def condition(depth):
    if not depth:
        return leaf()
    if draw.random() < 0.2:
        text, model = condition(depth - 1)
        return f"not ({text})", lambda r: None if model(r) is None else not model(r)
    word = draw.choice(["and", "or"])
    (left, one), (right, two) = condition(depth - 1), condition(draw.randrange(depth))
    stop = word == "or"

    def model(r):
        x, y = one(r), two(r)
        return stop if stop in (x, y) else None if None in (x, y) else not stop
    return f"({left} {word} {right})", model


# ---- files -------------------------------------------------------------------------------------------------------


def rows_of():
    n, few = draw.choice([0, 1, 900, 5000, 70_000 if draw.random() < 0.3 else 9000]), draw.choice([1, 3, 15])
    words, many = draw.sample(WORDS, few), draw.random() < 0.15
    nulls = draw.choice([0, 0, 0.2, 1 if draw.random() < 0.2 else 0.5])
    text = lambda: None if nulls and draw.random() < nulls else f"text number {draw.randrange(10**6)}" if many else draw.choice(words)
    return [dict(i=k * 7919 % 10007 - 300, a=text(), b=draw.choice(WORDS)) for k in range(n)], nulls > 0


def column(values, kind):
    """A column of Arrow; with a dictionary it also has values that no row has."""
    if kind == "plain":
        return pa.array(values, pa.string())
    pool = list(dict.fromkeys(v for v in values if v is not None)) + [w for w in UNUSED if w not in values]
    draw.shuffle(pool)
    place_of = {w: k for k, w in enumerate(pool)}
    return pa.DictionaryArray.from_arrays(pa.array([None if v is None else place_of[v] for v in values], draw.choice([pa.int8(), pa.int32(), pa.int64()]) if len(pool) < 120 else pa.int32()), pa.array(pool, pa.string()))


def write(name, rows, nulls, form):
    kind = "plain" if form == "plain" else "dictionary"
    make = lambda some, schema=None: pa.table({"i": pa.array([r["i"] for r in some], pa.int64()), "a": column([r["a"] for r in some], kind), "b": column([r["b"] for r in some], kind)}, schema=schema)
    fields = lambda t: pa.schema([pa.field(f.name, f.type, nullable=nulls and f.name == "a") for f in t.schema])
    path = str(place.path / f"{name}.{'parquet' if form == 'parquet' else 'arrow'}")
    size = draw.choice([500, 4000, 66_000])
    if form == "parquet":
        t = pa.table({"i": pa.array([r["i"] for r in rows], pa.int64()), "a": pa.array([r["a"] for r in rows], pa.string()), "b": pa.array([r["b"] for r in rows], pa.string())})
        pq.write_table(t.cast(fields(t)), path, row_group_size=size, use_dictionary=draw.random() < 0.8)
        return f'read_parquet("{name}.parquet")'
    if form == "stream" and rows:  # another dictionary in each batch; narrow indices, as all have one schema
        pools = [rows[k:k + size] for k in range(0, len(rows), size)]
        schema = pa.schema([pa.field("i", pa.int64(), nullable=False), pa.field("a", pa.dictionary(pa.int32(), pa.string()), nullable=nulls), pa.field("b", pa.dictionary(pa.int32(), pa.string()), nullable=False)])
        with ipc.new_stream(path, schema) as out:
            for some in pools:
                out.write_table(make(some).cast(schema))
        return f'read_arrow("{name}.arrow")'
    t = make(rows)
    with ipc.new_file(path, fields(t)) as out:
        out.write_table(t.cast(fields(t)), max_chunksize=size)
    return f'read_arrow("{name}.arrow")'


def write_csv(name, rows, nulls):
    (place.path / f"{name}.csv").write_text("i,a,b\n" + "".join(f"{r['i']},{'<n>' if r['a'] is None else chr(34) + r['a'] + chr(34)},\"{r['b']}\"\n" for r in rows))
    return f'read_csv("{name}.csv", null = "<n>", types = (i: i64, a: text{"?" if nulls else ""}, b: text))'


# ---- scripts -----------------------------------------------------------------------------------------------------


def sum_of(values):
    return sum(v for v in values if v is not None)


script, want = [], []
for case in range(COUNT):
    rows, nulls = rows_of()
    form = draw.choice(["plain", "dictionary", "dictionary", "stream", "parquet", "parquet", "csv"])
    reader = write_csv(f"t{case}", rows, nulls) if form == "csv" else write(f"t{case}", rows, nulls, form)
    if draw.random() < 0.25:  # what a stage gives has no codes until it is a key
        script += [f"stage rows{case}() {{ {reader} }}"]
        reader = f"rows{case}()"
    for query in range(3):
        name = f"{case}_{query}"
        (text, model), (count, number) = condition(draw.randrange(4)), number_of(draw.choice("ab"))
        kept = [r for r in rows if model(r) is True]
        use = draw.randrange(4)
        if use == 0:
            script += [f"let r{name} = {reader} |> where({text}) |> summarize(n = count(), s = sum(i), c = sum({count}))"]
            want += [f"{name} {len(kept)} {sum_of(r['i'] for r in kept)} {sum_of(number(r) for r in kept)}"]
            script += [f'print("{name} {{r{name}.n[0]}} {{r{name}.s[0]}} {{r{name}.c[0]}}")']
        elif use == 1:
            script += [f"let r{name} = {reader} |> where({text}) |> derive(k = {count})", f'print("{name} {{len(r{name})}} {{sum(r{name}.i)}} {{(r{name} |> summarize(c = sum(k))).c[0]}} {{len(r{name} |> distinct(a, b))}}")']
            want += [f"{name} {len(kept)} {sum_of(r['i'] for r in kept)} {sum_of(number(r) for r in kept)} {len({(r['a'], r['b']) for r in kept})}"]
        elif use == 2:
            script += [f"let r{name} = {reader} |> derive(q = {text}) |> group_by(b) |> summarize(n = count(), s = sum(i, where = q ?? false)) |> sort(b)", f'print("{name} {{join_text([for w in r{name}.b: w], "|")}} {{sum([for k in 0..len(r{name}): r{name}.s[k] * (k + 1)])}}")']
            groups = sorted({r["b"] for r in rows}, key=str.encode)
            sums = [sum_of(r["i"] for r in kept if r["b"] == w) for w in groups]
            want += [f"{name} {'|'.join(groups)} {sum(s * (k + 1) for k, s in enumerate(sums))}"]
        else:
            script += [f"let t{name} = {reader}", f"let u{name} = t{name} |> where({text})", f'print("{name} {{len(u{name})}} {{sum(u{name}.i)}} {{len(t{name} |> group_by(a) |> summarize(n = count()))}} {{len(t{name} |> where({text}))}}")']
            want += [f"{name} {len(kept)} {sum_of(r['i'] for r in kept)} {len({r['a'] for r in rows})} {len(kept)}"]
place.write("ask.flow", "\n".join(script) + "\n")
for way in ([], ["--workers", "1"], ["--workers", "3"], ["--workers", "8", "--memory", "60M"], ["-O0"], ["--interp"]):
    early = [w for w in way if w in ("-O0", "--interp")]
    run = place.run("run", *([] if not way or way == ["--workers", "1"] else ["--no-cache"]), *early, "ask.flow", *[w for w in way if w not in early])  # twice with a store
    found = run.stdout.splitlines()
    check(len(found) == len(want), f"{way}: as many lines as expected", f"{len(found)}, expected {len(want)}\n{run.stderr[-1500:]}")
    for have, expected in zip(found, want):
        check(have == expected, f"{way}: {expected}", have)
check("by_codes" in place.run("build", "--emit=ir", "ask.flow").stdout, "predicates are looked up by codes")

# Values that no row has, or that no row reaches, are not evaluated where that may fail; where a row has one, it is said with its row.
rows = [dict(i=k, a=draw.choice(["12", "-7.5", "1e3"]), b="A" if k % 2 else "bad") for k in range(9000)]
rows[8000]["a"] = "bad"
reader = write("fail", rows, False, "dictionary")
some = [r for r in rows if r["a"] != "bad"]
place.write("reached.flow", f'let t = {reader} |> where(a != "bad")\nprint(len(t |> where(parse_f64(a) > 0.0)))\nprint(len(t |> where(starts_with(b, "A") and parse_f64(a) > 13.0)))\n')
place.write("met.flow", f"print(len({reader} |> where(parse_f64(a) > 0.0)))\n")
for way in ([], ["-O0"], ["--interp"]):
    run = place.run("run", "--no-cache", *way, "reached.flow")
    expected = f"{sum(float(r['a']) > 0 for r in some)}\n{sum(r['b'] == 'A' and float(r['a']) > 13 for r in some)}\n"
    check(run.stdout == expected, f"{way}: values that no row has are no errors", run.stdout + run.stderr)
    run = place.run("run", "--no-cache", *way, "met.flow")
    check(run.returncode == 1 and "bad" in run.stderr and "8000" in run.stderr, f"{way}: the row that fails is said", run.stdout + run.stderr)
finish()
