#!/usr/bin/env python3
"""Writes the table of verbs x types: for each type a script TYPE.flow, and TYPE.out, what it has to print.

What is expected comes from other tools: relations (where, sort, group, join, windows ...) from SQLite, statistics from
pandas and numpy. Needed only to write the files again: `python3 tests/verbs/generate.py` with Debian's python3-pandas
(its python is /usr/bin/python3). `tests/run.py` runs the scripts, compiled and with --interp, and compares.

A case is a line "## NAME", then one line a row. A name that starts with ~ compares numbers within 1e-12.

How SQLite is told what flow means, which is all that is translated:
  - A value x enters as its place `c` in the order of its type (dense, from 0), so that one order and one equality
    serve all types: -0.0 and 0.0 have one place, NaN is one value behind all numbers, a text stands by code points, a
    category by its levels. `isnan` tells IEEE's comparisons from those of keys. What is printed is the x of a row.
  - Null comes last both ways: ORDER BY c IS NULL first. NaN comes behind the numbers both ways: then isnan.
  - Ties keep the order of rows: i, the number of the row, ends every ORDER BY.
  - Keys: null equals null in GROUP BY and DISTINCT, and matches nothing in joins: so it is in SQL.
  - `rank` gives ties the average of their places; `rank` and `ntile` pass over nulls (in SQL they count).
"""
import datetime
import fractions
import math
import pathlib
import sqlite3

import numpy
import pandas

HERE = pathlib.Path(__file__).resolve().parent
NAN, INF = float("nan"), float("inf")
MANY, STEP = 10000, 997  # rows of the large tables, of whose results every 997th row is printed

# ---- types: values of nine rows, of another table, how flow writes and prints them --------------------------------

K = ["b", "a", "c", "a", "b", "a", "c", "b", "d"]
VALID = [True, False, True, True, False, True, True, True, False]
EPOCH = datetime.datetime(1970, 1, 1)


def plain_list(values):
    return "[" + ", ".join(str(v) for v in values) + "]"


def text_list(values):
    return "[" + ", ".join(f'"{v}"' for v in values) + "]"


def flow_float(v):
    return "nan" if v != v else "inf" if v == INF else "-inf" if v == -INF else repr(v)


def show_float(v):
    return "nan" if v != v else "inf" if v == INF else "-inf" if v == -INF else repr(float(v))


def show_datetime(micros):
    at = EPOCH + datetime.timedelta(microseconds=micros)
    return at.strftime("%Y-%m-%dT%H:%M:%S") + (f".{at.microsecond:06d}" if at.microsecond else "") + "Z"


def show_duration(micros):
    sign, micros = ("-" if micros < 0 else ""), abs(micros)
    days, rest = divmod(micros, 86400 * 10**6)
    seconds, fraction = divmod(rest, 10**6)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if fraction:
        text += "." + f"{fraction:06d}".rstrip("0")
    return sign + (f"{days}d " if days else "") + text


class Type:
    """values: of the rows; other: of the table that is joined, the third of them in no row of the first."""

    def __init__(self, name, values, other, at, write, show, key=None, special=None, derive=None):
        self.name, self.values, self.other, self.constant = name, values, other, at
        self.write, self.show, self.special, self.derive = write, show, special, derive
        self.key = key or (lambda v: v)
        self.number = name in ("i64", "i32", "u8", "f64", "f32")
        self.float = name in ("f64", "f32")
        self.summed = self.number or name in ("bool", "duration")
        self.ordered = name != "bool"  # has min, max and their kin

    def place_key(self, v):
        if self.float:
            return (1, 0.0) if v != v else (0, v + 0.0)
        return self.key(v)


def ints(name):
    return lambda vs: plain_list(vs) if name == "i64" else f"{name}({plain_list(vs)})"


def floats(name):
    return lambda vs: ("" if name == "f64" else "f32") + "(" + plain_list(flow_float(v) for v in vs) + ")"


def micros(text):
    return (datetime.datetime.fromisoformat(text) - EPOCH) // datetime.timedelta(microseconds=1)


def iso(v):
    return (EPOCH + datetime.timedelta(microseconds=v)).isoformat(" ")


LEVELS = ["lo", "mid", "hi", "top"]
SIGNED = [5, -3, 7, 5, 0, 12, -3, 2, 7]
REAL = [0.5, -1.25, 3.0, 0.5, 100.25, 0.0, -1.25, 2.5, 3.0]
SPECIAL = [NAN, -0.0, 1.5, 0.0, INF, NAN, -INF, 1.5, -0.0]
TIMES = [micros(t) for t in ("2026-03-01 10:00:00", "2025-12-31 23:59:59.5", "1969-07-20 20:17:40", "2026-03-01 10:00:00",
                             "2000-02-29 00:00:00", "2026-03-01 10:00:00.000001", "1969-07-20 20:17:40",
                             "1900-01-01 00:00:00", "2025-12-31 23:59:59.5")]
DATES = ["2026-03-01", "2025-12-31", "1969-07-20", "2026-03-01", "2000-02-29", "2026-03-02", "1969-07-20", "1900-01-01",
         "2025-12-31"]
WORDS = ["pear", "", "fig", "pear", "über", "Zoo", "fig", "apple", "a b"]
SPANS = [3600, -60, 86400, 3600, 0, 90061, -60, 7, 86400]


def next_day(v):
    return (datetime.date.fromisoformat(v) + datetime.timedelta(days=1)).isoformat()


def types():
    yield Type("i64", SIGNED, [5, 7, 99, 5, 2], 5, ints("i64"), str, derive=("x * 2 - 1", lambda v: v * 2 - 1))
    yield Type("i32", SIGNED, [5, 7, 99, 5, 2], 5, ints("i32"), str, derive=("x * 2 - 1", lambda v: v * 2 - 1))
    yield Type("u8", [5, 3, 7, 5, 0, 120, 3, 2, 7], [5, 7, 99, 5, 2], 5, ints("u8"), str,
               derive=("x * 2 + 1", lambda v: v * 2 + 1))
    for name in ("f64", "f32"):
        yield Type(name, REAL, [0.5, 3.0, 9.75, 0.5, 2.5], 0.5, floats(name), show_float, special=SPECIAL,
                   derive=("x * 2.0 - 1.0", lambda v: v * 2.0 - 1.0))
    yield Type("bool", [True, False, True, True, False, False, True, True, False], [True, True], True,
               lambda vs: plain_list(str(v).lower() for v in vs), lambda v: str(v).lower(),
               derive=("not x", lambda v: not v))
    yield Type("text", WORDS, ["pear", "fig", "none", "pear", "apple"], "fig", text_list, str,
               derive=('upper(x) + "!"', lambda v: v.upper() + "!"))
    yield Type("date", DATES, ["2026-03-01", "1969-07-20", "1999-09-09", "2026-03-01", "1900-01-01"], "2000-02-29",
               lambda vs: f"date({text_list(vs)})", str, derive=("x + days(1)", next_day))
    yield Type("datetime", TIMES, [TIMES[0], TIMES[2], micros("1999-09-09 09:09:09"), TIMES[0], TIMES[7]], TIMES[4],
               lambda vs: f"datetime({text_list(map(iso, vs))})", show_datetime,
               derive=("x + hours(1)", lambda v: v + 3600 * 10**6))
    yield Type("duration", [v * 10**6 for v in SPANS], [v * 10**6 for v in (3600, 86400, 999, 3600, 7)], 3600 * 10**6,
               lambda vs: f"microseconds({plain_list(vs)})", show_duration, derive=("x * 2", lambda v: v * 2))
    yield Type("category", ["mid", "lo", "hi", "mid", "lo", "top", "hi", "mid", "lo"], ["mid", "hi"], "mid",
               lambda vs: f"category({text_list(vs)}, levels = {text_list(LEVELS)})", str, key=LEVELS.index,
               derive=("text(x)", lambda v: v))


# ---- tables: rows (k, x or None, i) ---------------------------------------------------------------------------------


def tables(t):
    """(name, flow, rows, nullable); every table is a part of `base` or `strange`."""
    def rows(values, nulls):
        return [(k, x if ok or not nulls else None, i) for i, (k, x, ok) in enumerate(zip(K, values, VALID))]

    def one_group(some):
        return [("a", x, i) for _, x, i in some]

    normal, nulls = rows(t.values, False), rows(t.values, True)
    all_null = [(k, None, i) for k, _, i in normal]
    yield "normal", "normal", normal, False
    yield "empty", "normal[0..0]", [], False
    yield "one", "normal[2..3]", normal[2:3], False
    yield "one group", 'normal |> derive(k = "a")', one_group(normal), False
    yield "nulls", "holes", nulls, True
    yield "empty?", "holes[0..0]", [], True
    yield "one null", "holes[1..2]", nulls[1:2], True
    yield "one group?", 'holes |> derive(k = "a")', one_group(nulls), True
    yield "all null", "nothing", all_null, True
    pool = t.special or t.values
    many = [(f"g{n * n % 23 // 2}", pool[n * (n + 3) % 31 % 9], n) for n in range(MANY)]
    yield "many", "many", many, False
    yield "many?", "many_nulls", [(k, x if i % 7 > 1 else None, i) for k, x, i in many], True
    if t.special:
        yield "special", "special", rows(t.special, False), False
        yield "special?", "special_nulls", rows(t.special, True), True


def flow_tables(t):
    """The declarations of the tables in the script."""
    other = len(t.other)
    lines = [
        f"type Row = (k: text, x: {t.name}, i: i64)",
        f"type RowN = (k: text, x: {t.name}?, i: i64)",
        f"type Other = (x: {t.name}, j: i64)",
        f"type OtherN = (x: {t.name}?, j: i64)",
        'fn thin(t: (line: text)[_], step: i64) -> text = join_text((t |> where(row_number() % step == 0)).line, "\\n")',
        f"let keys = {text_list(K)}",
        f"let there = {plain_list(str(v).lower() for v in VALID)}",
        "let rows = [for n in 0..9: n]",
        f"let normal: Row[_] = table(k = keys, x = {t.write(t.values)}, i = rows)",
        "let holes: RowN[_] = normal |> derive(x = if_else(there, x, null))",
        "let nothing: RowN[_] = normal |> derive(x = if_else(i < 0, x, null))",
        f"let other: Other[_] = table(x = {t.write(t.other)}, j = [for n in 0..{other}: n])",
        f"let other_nulls: OtherN[_] = other |> derive(x = if_else(j == 1, null, x))",
    ]
    lines += [
        "let many_rows = [for n in 0..MANY: n]".replace("MANY", str(MANY)),
        f"let pool = {t.write(t.special or t.values)}",
        'let many: Row[_] = table(k = [for n in many_rows: "g{n * n % 23 // 2}"], x = pool[[for n in many_rows: n * (n + 3) % 31 % 9]], i = many_rows)'
        if t.name != "category" else
        f'let many: Row[_] = table(k = [for n in many_rows: "g{{n * n % 23 // 2}}"], x = category({text_list(t.values)}[[for n in many_rows: n * (n + 3) % 31 % 9]], levels = {text_list(LEVELS)}), i = many_rows)',
        "let many_nulls: RowN[_] = many |> derive(x = if_else(i % 7 > 1, x, null))",
    ]
    if t.special:
        lines += [f"let special: Row[_] = table(k = keys, x = {t.write(t.special)}, i = rows)",
                  "let special_nulls: RowN[_] = special |> derive(x = if_else(there, x, null))"]
    return lines


class Data:
    """A table in SQLite: t(k, c, isnan, i) and u(c, j); x of row i, and of row j of the other table as 100 + j."""

    def __init__(self, t, rows, nullable):
        self.type, self.rows = t, rows
        others = [None if nullable and j == 1 else v for j, v in enumerate(t.other)]
        keys = {t.place_key(v) for v in [x for _, x, _ in rows] + others + [t.constant] if v is not None}
        place = {key: n for n, key in enumerate(sorted(keys))}

        def code(v):
            return None if v is None else place[t.place_key(v)]

        self.x = {i: v for _, v, i in rows} | {100 + j: v for j, v in enumerate(others)}
        self.constant = code(t.constant)
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE t(k TEXT, c INTEGER, isnan INTEGER, i INTEGER)")
        self.db.execute("CREATE TABLE u(c INTEGER, j INTEGER)")
        for k, v, i in rows:
            self.db.execute("INSERT INTO t VALUES(?, ?, ?, ?)", (k, code(v), int(v is not None and v != v), i))
        for j, v in enumerate(others):
            self.db.execute("INSERT INTO u VALUES(?, ?)", (code(v), j))

    def show(self, kind, v):
        """One value as flow prints it: x is the number of a row, b a bool, f a float."""
        if kind == "x" and v is not None:
            v = self.x[v]
            return "null" if v is None else self.type.show(v)
        if v is None:
            return "null"
        return {"b": lambda: "true" if v else "false", "f": lambda: show_float(v)}.get(kind, lambda: str(v))()

    def query(self, sql, kinds):
        found = self.db.execute(sql.replace("$C", str(self.constant)))
        return [" ".join(self.show(kind, v) for kind, v in zip(kinds, row)) for row in found]


# ---- verbs by SQLite: (name, flow, printed, SQL, kinds, who) -----------------------------------------------------------

SIX_JOINS = [
    ("inner", "SELECT t.k, t.i, t.i, u.j FROM t JOIN u ON t.c = u.c ORDER BY t.i, u.j"),
    ("left", "SELECT t.k, t.i, t.i, u.j FROM t LEFT JOIN u ON t.c = u.c ORDER BY t.i, u.j"),
    ("right", "SELECT t.k, coalesce(t.i, 100 + u.j), t.i, u.j FROM t RIGHT JOIN u ON t.c = u.c "
              "ORDER BY t.i IS NULL, t.i, u.j"),
    ("full", "SELECT t.k, coalesce(t.i, 100 + u.j), t.i, u.j FROM t FULL JOIN u ON t.c = u.c "
             "ORDER BY t.i IS NULL, t.i, u.j"),
    ("semi", "SELECT k, i, i FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.c = t.c) ORDER BY i"),
    ("anti", "SELECT k, i, i FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.c = t.c) ORDER BY i"),
]
UP = "c IS NULL, isnan, c, i"
DOWN = "c IS NULL, isnan, c DESC, i"
RANKS = {
    "average": "(rank() OVER w + rank() OVER w + count(*) OVER p - 1) / 2.0",
    "min": "rank() OVER w",
    "max": "rank() OVER w + count(*) OVER p - 1",
    "dense": "dense_rank() OVER w",
    "first": "row_number() OVER v",
}


def relational(t):
    """(name, flow from the table on, columns printed, SQL, kinds of its columns, nullable only?)"""
    kxi = ("k x i", "sxn")
    c = t.write([t.constant])
    literal = {"category": f'"{t.constant}"', "text": f'"{t.constant}"'}.get(t.name, f"({c})[0]")
    more = "SELECT k, i, i FROM t WHERE"
    yield "where ==", f"where(x == {literal})", *kxi, f"{more} c = $C ORDER BY i", False
    yield "where !=", f"where(x != {literal})", *kxi, f"{more} c <> $C ORDER BY i", False
    yield "where or", f"where(x == {literal} or i > 5)", *kxi, f"{more} c = $C OR i > 5 ORDER BY i", False
    yield "where and", f"where(x != {literal} and i > 2)", *kxi, f"{more} c <> $C AND i > 2 ORDER BY i", False
    if t.ordered:
        yield "where >", f"where(x > {literal})", *kxi, f"{more} c > $C AND NOT isnan ORDER BY i", False
        yield "where <=", f"where(x <= {literal})", *kxi, f"{more} c <= $C AND NOT isnan ORDER BY i", False
        yield ("where not", f"where(not (x > {literal}))", *kxi, f"{more} NOT (c > $C AND NOT isnan) ORDER BY i", False)
        yield ("where in", f"where(x >= {literal} and x < {literal})", *kxi, f"{more} 0", False)
    yield "where null", "where(is_null(x))", *kxi, f"{more} c IS NULL ORDER BY i", True
    yield "where not null", "where(not is_null(x))", *kxi, f"{more} c IS NOT NULL ORDER BY i", True
    yield "drop_null", "drop_null(x)", *kxi, f"{more} c IS NOT NULL ORDER BY i", True
    yield ("derive ==", f"derive(y = x == {literal})", "i y", "nb", "SELECT i, c = $C FROM t ORDER BY i", False)
    yield "derive null", "derive(y = is_null(x))", "i y", "nb", "SELECT i, c IS NULL FROM t ORDER BY i", True
    yield "select", "select(i, y = x)", "y i", "xn", "SELECT i, i FROM t ORDER BY i", False
    yield "drop", "drop(k)", "x i", "xn", "SELECT i, i FROM t ORDER BY i", False
    yield "rename", "rename(z = x)", "k z i", "sxn", "SELECT k, i, i FROM t ORDER BY i", False
    yield "sort", "sort(x)", *kxi, f"SELECT k, i, i FROM t ORDER BY {UP}", False
    yield "sort desc", "sort(desc(x))", *kxi, f"SELECT k, i, i FROM t ORDER BY {DOWN}", False
    if t.number and t.name != "u8":
        yield "sort minus", "sort(-x)", *kxi, f"SELECT k, i, i FROM t ORDER BY {DOWN}", False
    yield "sort k x", "sort(k, desc(x))", *kxi, f"SELECT k, i, i FROM t ORDER BY k, {DOWN}", False
    yield "sort x k", "sort(x, desc(k))", *kxi, "SELECT k, i, i FROM t ORDER BY c IS NULL, isnan, c, k DESC, i", False
    yield "head", "head(3)", *kxi, "SELECT k, i, i FROM t ORDER BY i LIMIT 3", False
    yield "head 0", "head(0)", *kxi, "SELECT k, i, i FROM t LIMIT 0", False
    yield "tail", "tail(4)", *kxi, "SELECT * FROM (SELECT k, i, i AS n FROM t ORDER BY i DESC LIMIT 4) ORDER BY n", False
    yield "top", "top(3, by = x)", *kxi, f"SELECT k, i, i FROM t ORDER BY {DOWN} LIMIT 3", False
    yield "distinct x", "distinct(x)", *kxi, "SELECT k, min(i), min(i) FROM t GROUP BY c ORDER BY min(i)", False
    yield "distinct k x", "distinct(k, x)", *kxi, "SELECT k, min(i), min(i) FROM t GROUP BY k, c ORDER BY min(i)", False
    yield ("group by x", "group_by(x) |> summarize(n = count(), a = min(i), b = max(i))", "x n a b", "xnnn",
           "SELECT min(i), count(*), min(i), max(i) FROM t GROUP BY c ORDER BY c IS NULL, isnan, c", False)
    yield ("group by k x", "group_by(k, x) |> summarize(n = count(), s = sum(i))", "k x n s", "sxnn",
           "SELECT k, min(i), count(*), sum(i) FROM t GROUP BY k, c ORDER BY k, c IS NULL, isnan, c", False)
    yield ("group where", "group_by(k) |> where(i == max(i)) |> ungroup", *kxi,
           "SELECT k, i, i FROM (SELECT k, i, max(i) OVER (PARTITION BY k) AS m FROM t) WHERE i = m ORDER BY i", False)
    yield ("group head", "group_by(k) |> head(1) |> ungroup", *kxi,
           "SELECT k, min(i), min(i) FROM t GROUP BY k ORDER BY min(i)", False)
    yield ("concat", "concat(t |> tail(2))", *kxi, "SELECT k, i, i FROM (SELECT 0 AS part, k, i FROM t UNION ALL SELECT * FROM "
           "(SELECT 1, k, i FROM t ORDER BY i DESC LIMIT 2)) ORDER BY part, i", False)
    for how, sql in SIX_JOINS:
        columns = "k x i" if how in ("semi", "anti") else "k x i j"
        yield (f"join {how}", f'join($OTHER, on = (x), how = "{how}")', columns, "sxnn"[:len(columns.split())], sql, False)
    over = "OVER (PARTITION BY k ORDER BY i)"
    yield "lag", "derive(y = lag(x))", "i y", "nx", "SELECT i, lag(i) OVER (ORDER BY i) FROM t ORDER BY i", False
    yield "lead 2", "derive(y = lead(x, 2))", "i y", "nx", "SELECT i, lead(i, 2) OVER (ORDER BY i) FROM t ORDER BY i", False
    yield "lag by k", "group_by(k) |> derive(y = lag(x)) |> ungroup", "i y", "nx", f"SELECT i, lag(i) {over} FROM t ORDER BY i", False
    yield "lead by k", "group_by(k) |> derive(y = lead(x)) |> ungroup", "i y", "nx", f"SELECT i, lead(i) {over} FROM t ORDER BY i", False
    yield ("row_number by k", "group_by(k) |> derive(y = row_number()) |> ungroup", "i y", "nn",
           f"SELECT i, row_number() {over} - 1 FROM t ORDER BY i", False)
    for by in ("", "k"):
        part = "PARTITION BY k, c IS NULL" if by else "PARTITION BY c IS NULL"
        windows = (f"WINDOW w AS ({part} ORDER BY c), v AS ({part} ORDER BY c, i), "
                   f"p AS ({part.replace('c IS NULL', 'c')})")
        group = "group_by(k) |> " if by else ""
        for method, sql in RANKS.items():
            say = "" if method == "average" else f', method = "{method}"'
            kind = "nf" if method == "average" else "nn"
            yield (f"rank {method}{' by k' if by else ''}", f"{group}derive(y = rank(x{say})){' |> ungroup' if by else ''}", "i y",
                   kind, f"SELECT i, CASE WHEN c IS NULL THEN NULL ELSE {sql} END FROM t {windows} ORDER BY i", False)
    for by in ("", "k"):
        part = "PARTITION BY k, c IS NULL" if by else "PARTITION BY c IS NULL"
        flow = "derive(y = ntile(3, by = x))"
        yield (f"ntile{' by k' if by else ''}", f"group_by(k) |> {flow} |> ungroup" if by else flow, "i y", "nn",
               f"SELECT i, CASE WHEN c IS NOT NULL THEN ntile(3) OVER ({part} ORDER BY c, i) END FROM t ORDER BY i", False)
    if t.number or t.name in ("date", "datetime", "duration"):
        for way, sign, order in (("backward", "<=", "c DESC, j DESC"), ("forward", ">=", "c, j")):
            yield (f"join_asof {way}", f'join_asof($OTHER, on = x, direction = "{way}")', "k x i j", "sxnn",
                   f"SELECT k, i, i, (SELECT j FROM u WHERE u.c {sign} t.c AND NOT t.isnan ORDER BY {order} LIMIT 1) "
                   "FROM t ORDER BY i", False)
    yield ("value_counts", "value_counts(x)", "x count", "xn",
           "SELECT min(i), count(*) AS n FROM t GROUP BY c ORDER BY n DESC, c IS NULL, isnan, c", False)
    yield ("value_counts k x", "value_counts(k, x)", "k x count", "sxn",
           "SELECT k, min(i), count(*) AS n FROM t GROUP BY k, c ORDER BY n DESC, k, c IS NULL, isnan, c", False)
    yield ("complete", "complete(k, x)", *kxi,
           "SELECT a.k, coalesce(t.i, b.i), t.i FROM (SELECT DISTINCT k FROM t) AS a "
           "JOIN (SELECT c, isnan, min(i) AS i FROM t GROUP BY c) AS b LEFT JOIN t ON t.k = a.k AND t.c IS b.c "
           "ORDER BY a.k, b.c IS NULL, b.isnan, b.c, t.i", False)
    yield ("pivot", "where(i < 4) |> distinct(k) |> select(k, x) |> pivot(name = k, value = x, into = (a, b, c, zz))", "a b c zz", "xxxx",
           "SELECT a, b, c, NULL FROM (SELECT min(CASE WHEN k = 'c' THEN i END) AS c, min(CASE WHEN k = 'a' THEN i END) AS a, min(CASE WHEN k = 'b' THEN i END) AS b "
           "FROM t WHERE i < 4)", False)
    yield ("unpivot", "derive(y = x) |> unpivot(x, y, name = which, value = v)", "k i which v", "snsx",
           "SELECT k, i, which, i FROM t JOIN (SELECT 'x' AS which UNION SELECT 'y') ORDER BY i, which", False)


# ---- statistics by pandas and numpy -----------------------------------------------------------------------------------


def grouped(rows, by):
    """(key, [(x, i)]) by ascending key; without key one group, which is there without rows too."""
    if not by:
        return [("", [(x, i) for _, x, i in rows])]
    found = {}
    for k, x, i in rows:
        found.setdefault(k, []).append((x, i))
    return sorted(found.items())


def total(values):
    """The sum, rounded once."""
    if any(v != v for v in values) or (INF in values and -INF in values):
        return NAN
    return math.fsum(values) if not any(abs(v) == INF for v in values) else [v for v in values if abs(v) == INF][0]


def extreme(values, pick):
    nans = [v for v in values if v != v]
    return nans[0] if nans else pick(values)


def most_frequent(t, values):
    counts = pandas.Series([t.place_key(v) for v in values]).value_counts()
    best = min(key for key, n in counts.items() if n == counts.max())
    return [v for v in values if t.place_key(v) == best][0]


def statistics(t):
    """(name, flow, function of the valid values and their positions i -> value or None, kind, tolerant?)"""
    def none_if_empty(f):
        return lambda values, at: f(values) if values else None

    def number(v):
        return float(v)

    yield "count", "count()", None, "n", False
    yield "n_distinct", "n_distinct(x)", lambda v, at: pandas.Series([str(t.place_key(x)) for x in v], dtype=object).nunique(), "n", False
    yield "first", "first(x)", lambda v, at: at[0] if at else None, "x", False
    yield "last", "last(x)", lambda v, at: at[-1] if at else None, "x", False
    yield "mode", "mode(x)", none_if_empty(lambda v: t.show(most_frequent(t, v))), "r", False
    if t.ordered:
        yield "min", "min(x)", none_if_empty(lambda v: t.show(extreme(v, lambda s: min(s, key=t.place_key)))), "r", False
        yield "max", "max(x)", none_if_empty(lambda v: t.show(extreme(v, lambda s: max(s, key=t.place_key)))), "r", False
    if t.name == "bool":
        yield "any", "any(x)", lambda v, at: "true" if any(v) else "false", "r", False
        yield "all", "all(x)", lambda v, at: "true" if all(v) else "false", "r", False
        yield "count x", "count(x)", lambda v, at: sum(v), "n", False
    if t.summed:
        if t.float:
            yield "sum", "sum(x)", lambda v, at: show_float(total(v)), "r", False
        elif t.name == "duration":
            yield "sum", "sum(x)", lambda v, at: show_duration(sum(v)), "r", False
        else:
            yield "sum", "sum(x)", lambda v, at: int(pandas.Series(v, dtype="int64").sum()), "n", False
    if t.number or t.name == "bool":
        def of(f, least=1):
            def value(v, at):
                with numpy.errstate(all="ignore"):
                    return float(f(numpy.array([number(x) for x in v]))) if len(v) >= least else None
            return value

        def deviations(f):
            return lambda a: NAN if not numpy.isfinite(a).all() else f(pandas.Series(a))

        def quantile(q):
            """Linear. numpy's a + (b - a) * q is NaN from -inf on: there (1 - q) * a + q * b. -0.0 is 0.0."""
            def of_values(a):
                if numpy.isnan(a).any():
                    return NAN
                if numpy.isfinite(a).all():
                    return numpy.quantile(a, q) + 0.0
                a, at = numpy.sort(a), q * (len(a) - 1)
                low, share = a[math.floor(at)], at - math.floor(at)
                return low if share == 0 else (1 - share) * low + share * a[math.ceil(at)]
            return of_values

        def mad(a):
            middle = quantile(0.5)(a)
            return NAN if math.isnan(middle) else quantile(0.5)(numpy.abs(a - middle))

        yield "mean", "mean(x)", of(lambda a: total(list(a)) / len(a)), "f", True
        yield "var", "var(x)", of(deviations(lambda s: s.var()), 2), "f", True
        yield "std", "std(x)", of(deviations(lambda s: s.std()), 2), "f", True
        yield "var ddof", "var(x, ddof = 0)", of(deviations(lambda s: s.var(ddof=0))), "f", True
        yield "median", "median(x)", of(quantile(0.5)), "f", True
        yield "mad", "mad(x)", of(mad), "f", True
        yield "quantile", "quantile(x, 0.25)", of(quantile(0.25)), "f", True
    if t.number:
        def both(f):
            def value(v, at):
                if len(v) < 2:
                    return None
                if not numpy.isfinite(numpy.array([number(x) for x in v])).all():
                    return NAN
                return float(f(pandas.Series([number(x) for x in v]), pandas.Series([number(i) for i in at])))
            return value

        yield "cov", "cov(x, i)", both(lambda a, b: a.cov(b)), "f", True
        yield "corr", "corr(x, i)", both(lambda a, b: NAN if a.std() == 0 else a.corr(b)), "f", True
        yield ("weighted_mean", "weighted_mean(x, i + 1)",
               lambda v, at: float(total([x * (i + 1) for x, i in zip(v, at)])) / sum(i + 1 for i in at) if v else None,
               "f", True)


def describe(t):
    """One line: of all rows, what describe says of x, each number as its aggregate says it."""
    known = {name: (function, kind) for name, _, function, kind, _ in statistics(t)}

    def lines(data):
        valid = [(x, i) for _, x, i in data.rows if x is not None]
        values, at = [x for x, _ in valid], [i for _, i in valid]
        columns = [str(len(values)), str(len(data.rows) - len(values))]
        for name in ("n_distinct", "mean", "std", "min", "median", "max"):
            told = name in known and (t.number or name in ("n_distinct", "min", "max") or name == "mean" and t.name == "bool")
            function, kind = known[name] if told else (lambda v, i: None, "r")
            columns.append(show_statistic(data, kind, function(values, at)))
        return [" ".join(columns)]

    return lines


def rolling(t):
    """(name, flow, lines(rows)): aggregates of the last three rows, by pandas; with NaN or inf by those above."""
    def windows(rows, by, function, least):
        seen = {}
        for k, x, i in rows:
            last = seen.setdefault(k if by else "", [])
            last.append(x)
            values = [v for v in last[-3:] if v is not None]
            yield f"{i} " + (t.show(function(values)) if len(values) >= least else "null")

    def by_pandas(name, by, least):
        def lines(rows):
            if any(x is not None and not math.isfinite(x) for _, x, _ in rows):
                how = total if name == "sum" else lambda v: extreme(v, lambda a: {"min": min, "max": max}[name](a, key=t.place_key))
                return list(windows(rows, by, how, least))
            frame = pandas.DataFrame(rows, columns=["k", "x", "i"])
            x = frame.assign(x=frame.x.astype("float64")).groupby("k" if by else lambda row: 0).x
            found = x.transform(lambda group: getattr(group.rolling(3, min_periods=least), name)()) if rows else []
            return [f"{i} " + ("null" if v != v else t.show(v if t.float else int(v))) for (_, _, i), v in zip(rows, found)]
        return lines

    for name in ("sum", "min", "max"):
        yield f"rolling {name}", f"derive(y = rolling(x, 3, {name}))", by_pandas(name, False, 3)
        yield f"rolling {name} of some", f"derive(y = rolling(x, 3, {name}, min_periods = 1))", by_pandas(name, False, 1)
        yield f"rolling {name} by k", f"group_by(k) |> derive(y = rolling(x, 3, {name})) |> ungroup", by_pandas(name, True, 3)


def show_statistic(data, kind, v):
    return "null" if v is None else str(v) if kind == "r" else data.show(kind, v)


def statistic_lines(data, function, kind, by):
    for k, members in grouped(data.rows, by):
        valid = [(x, i) for x, i in members if x is not None]
        value = function([x for x, _ in valid], [i for _, i in valid]) if function else len(members)
        yield (f"{k} " if by else "") + show_statistic(data, kind, value)


def elementwise(t):
    """(name, flow, columns, function of all rows -> one text a row, nullable only?)"""
    flow, function = t.derive
    literal = {"category": f'"{t.constant}"', "text": f'"{t.constant}"'}.get(t.name, f"({t.write([t.constant])})[0]")
    kind = (lambda v: str(v)) if t.name == "category" else t.show

    def each(f):
        return lambda rows: [f"{i} " + ("null" if x is None else f(x)) for _, x, i in rows]

    yield "derive", f"derive(y = {flow})", "i y", each(lambda v: kind(function(v))), False
    yield ("derive ??", f"derive(y = x ?? {literal})", "i y",
           lambda rows: [f"{i} {t.show(t.constant if x is None else x)}" for _, x, i in rows], True)
    yield ("fill_null", f"fill_null(x = {literal})", "i x",
           lambda rows: [f"{i} {t.show(t.constant if x is None else x)}" for _, x, i in rows], True)
    for verb, way in (("fill_down", "ffill"), ("fill_up", "bfill")):
        def carried(by, way=way):
            def lines(rows):
                values = pandas.Series([x for _, x, _ in rows], dtype=object)
                place = pandas.Series([float("nan") if x is None else j for j, (_, x, _) in enumerate(rows)], dtype="float64")
                from_ = getattr(place.groupby([k for k, _, _ in rows]) if by else place, way)() if rows else []
                return [f"{i} " + ("null" if p != p else t.show(values[int(p)])) for (_, _, i), p in zip(rows, from_)]
            return lines

        yield verb, f"{verb}(x)", "i x", carried(False), True
        yield f"{verb} by k", f"group_by(k) |> {verb} |> ungroup", "i x", carried(True), True
    if t.name != "category":  # one branch would be text
        yield ("if_else", f"derive(y = if_else(i % 2 == 0, x, {literal}))", "i y",
               lambda rows: [f"{i} " + ("null" if x is None and i % 2 == 0 else t.show(x if i % 2 == 0 else t.constant))
                             for _, x, i in rows], False)
    yield "text", "derive(y = text(x))", "i y", lambda rows: [f"{i} " + ("null" if x is None else t.show(x)) for _, x, i in rows], False
    if t.summed and t.name != "bool":
        show = show_float if t.float else t.show

        def running(by):
            def lines(rows):
                exact, odd = {}, {}  # of each group: the sum of what is finite; inf and nan, added up
                for k, x, i in rows:
                    k = k if by else ""
                    if x is None:
                        yield f"{i} null"
                        continue
                    finite = not t.float or math.isfinite(x)
                    exact[k] = exact.get(k, 0) + (fractions.Fraction(x) if finite else 0)
                    odd[k] = odd.get(k, 0.0) + (0.0 if finite else x)
                    sum_so_far = exact[k] if odd[k] == 0 else odd[k]
                    yield f"{i} " + show(float(sum_so_far) if t.float else int(sum_so_far))
            return lines

        yield "cumsum", "derive(y = cumsum(x))", "i y", running(False), False
        yield "cumsum by k", "group_by(k) |> derive(y = cumsum(x)) |> ungroup", "i y", running(True), False
    if t.number:
        def centred(rows):
            means = {k: total([float(x) for x, _ in some if x is not None]) / max(1, sum(x is not None for x, _ in some))
                     for k, some in grouped(rows, True)}
            for k, x, i in rows:
                yield f"{i} " + ("null" if x is None else show_float(float(x) - means[k]))

        yield "~spread by k", "group_by(k) |> derive(y = x - mean(x)) |> ungroup", "i y", centred, False
    if t.ordered:
        def extremes(pick):
            def lines(rows):
                best = None
                for _, x, i in rows:
                    if x is not None:
                        best = x if best is None else extreme([best, x], lambda s: pick(s, key=t.place_key))
                    yield f"{i} " + ("null" if x is None else t.show(best))
            return lines

        yield "cummin", "derive(y = cummin(x))", "i y", extremes(min), False
        yield "cummax", "derive(y = cummax(x))", "i y", extremes(max), False


# ---- writing ------------------------------------------------------------------------------------------------------------


def stage(name, n, nullable, flow, columns):
    """A stage that gives the printed rows of one verb, for tables with or without null in x."""
    line = " ".join("{" + column + "}" for column in columns.split())
    flow = flow.replace("$OTHER", "other_nulls" if nullable else "other")
    call = f"concat(t, {flow[7:-1]})" if flow.startswith("concat(") else f"t |> {flow}"
    return (f"stage v{n}{'n' if nullable else ''}(t: Row{'N' if nullable else ''}[_], step: i64) -> text =\n"
            f'  thin({call} |> select(line = "{line}"), step)  # {name}')


def verbs(t):
    """(name, flow, columns, lines(data), nullable only?) of every verb on this type."""
    for name, flow, columns, kinds, sql, nulls in relational(t):
        yield name, flow, columns, lambda data, q=sql, k=kinds: data.query(q, k), nulls
    for name, flow, columns, function, nulls in elementwise(t):
        yield name, flow, columns, lambda data, f=function: list(f(data.rows)), nulls
    yield ("~describe", "select(x) |> describe", "count nulls distinct mean std min median max", describe(t), False)
    for name, flow, function in rolling(t) if t.number else ():
        yield name, flow, "i y", lambda data, f=function: f(data.rows), False
    for name, flow, function, kind, tolerant in statistics(t):
        mark = "~" if tolerant else ""
        for by in ("k", ""):
            say = f"group_by(k) |> summarize(y = {flow})" if by else f"summarize(y = {flow})"
            yield (f"{mark}{name}{' by k' if by else ''}", say, "k y" if by else "y",
                   lambda data, f=function, k=kind, b=by: list(statistic_lines(data, f, k, b)), False)


def write(t):
    stages, calls, expected = [], [], []
    data = [(name, flow, nullable, Data(t, rows, nullable)) for name, flow, rows, nullable in tables(t)]
    for n, (name, flow, columns, lines, nulls) in enumerate(verbs(t)):
        for nullable in (False, True):
            if nullable or not nulls:
                stages.append(stage(name, n, nullable, flow, columns))
        for table, say, nullable, rows in data:
            if nulls and not nullable or name == "pivot" and len(rows.rows) == MANY:  # its columns are those of few keys
                continue
            calls.append(f'print("## {name}, {table}\\n{{v{n}{"n" if nullable else ""}({say}, {STEP if len(rows.rows) == MANY else 1})}}")')
            found = lines(rows)[::STEP if len(rows.rows) == MANY else 1]
            expected.append(f"## {name}, {table}\n" + "\n".join(found) + "\n")
    head = [f"# Written by generate.py: every verb on a column of {t.name}."]
    (HERE / f"{t.name}.flow").write_text("\n".join(head + flow_tables(t) + stages + calls) + "\n")
    (HERE / f"{t.name}.out").write_text("".join(expected))
    return len(calls)


def main():
    counts = {t.name: write(t) for t in types()}
    print(f"{sum(counts.values())} cases: {counts}")


if __name__ == "__main__":
    main()
