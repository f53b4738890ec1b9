#!/usr/bin/env python3
"""Writes aggregates_where.flow and what it has to print: every aggregate with `where = condition`, of every type, with nulls and without,
of groups, of whole tables, on each row and of plain arrays. What is expected is DuckDB's `f(x) filter (where condition)` of the same rows.

    build/peers/bin/python tests/run/tables/make_aggregates_where.py

Values are exact in binary, so that sums are; what is a root or a quotient is printed with six digits. flow's and DuckDB's meaning agree
but for these, which the query says: sums and counts of nothing are 0, `any` false, `all` true; mode is the least of equals; argmin and argmax
are places among all rows of the group (of plain arrays of the array), which `row_number` gives."""
import datetime
import pathlib
import re

import duckdb

HERE = pathlib.Path(__file__).resolve().parent
N = 41
FEW = 9  # rows that are shown where each has one
DAY = datetime.date(2024, 2, 27)


def scattered(k, m):
    return (k * 7919 + 13 * k * k) % m


COLUMNS = {
    "g": ("text", "varchar", ["abcd"[scattered(k, 4)] if k < N - 1 else "e" for k in range(N)]),
    "no": ("i64", "bigint", list(range(N))),
    "c": ("bool", "boolean", [scattered(k, 5) < 3 and k < N - 1 for k in range(N)]),
    "nc": ("bool?", "boolean", [None if k % 6 == 0 else scattered(k, 7) < 4 for k in range(N)]),
    "i": ("i64", "bigint", [scattered(k, 23) - 9 for k in range(N)]),
    "b": ("u8", "utinyint", [scattered(k, 200) for k in range(N)]),
    "x": ("f64", "double", [(scattered(k, 37) - 18) / 4 for k in range(N)]),
    "w": ("f64", "double", [(scattered(k + 5, 16) + 1) / 2 for k in range(N)]),
    "f": ("f32", "float", [(scattered(k, 31) - 11) / 2 for k in range(N)]),
    "nx": ("f64?", "double", [None if scattered(k, 4) == 1 else (scattered(k, 29) - 14) / 8 for k in range(N)]),
    "ni": ("i64?", "bigint", [None if scattered(k, 3) == 1 else scattered(k, 11) for k in range(N)]),
    "s": ("text", "varchar", [["fig", "pear", "a rather long name of a fruit", "", "kiwi"][scattered(k, 5)] for k in range(N)]),
    "ns": ("text?", "varchar", [None if k % 4 == 2 else ["fig", "pear", "plum"][scattered(k, 3)] for k in range(N)]),
    "d": ("date", "date", [DAY + datetime.timedelta(days=scattered(k, 500)) for k in range(N)]),
    "tm": ("datetime", "timestamp", [datetime.datetime(2024, 2, 27) + datetime.timedelta(minutes=scattered(k, 5000)) for k in range(N)]),
    "p": ("bool", "boolean", [scattered(k, 3) == 0 for k in range(N)]),
    "np": ("bool?", "boolean", [None if k % 5 == 1 else scattered(k, 4) == 0 for k in range(N)]),
}
NAMES = re.compile(rf"\b({'|'.join(COLUMNS)})\b(?! =)")
NUMBERS = ["i", "b", "x", "f", "nx", "ni"]
ORDERED = [*NUMBERS, "s", "ns", "d", "tm"]
# flow, DuckDB of column X with the filter F, the columns; near: printed with six digits.
TABLE = [
    ("sum(X, where = C)", "coalesce(sum(X) F, 0)", ["x", "f", "nx"], False), ("sum(X, where = C)", "coalesce(sum(X) F, 0)::bigint", ["i", "b", "ni"], False),
    ("mean(X, where = C)", "avg(X) F", NUMBERS, True), ("min(X, where = C)", "min(X) F", ORDERED, False), ("max(X, where = C)", "max(X) F", ORDERED, False),
    ("var(X, where = C)", "var_samp(X) F", NUMBERS, True), ("std(X, where = C, ddof = 0)", "stddev_pop(X) F", NUMBERS, True),
    ("median(X, where = C)", "median(X) F", NUMBERS, True), ("quantile(X, 0.25, where = C)", "quantile_cont(X, 0.25) F", ["i", "x", "nx", "ni"], True),
    ("mad(X, where = C)", "mad(X) F", ["i", "x", "nx"], True), ("first(X, where = C)", "first(X order by no) filter (where C and X is not null)", [*ORDERED, "p", "np"], False),
    ("last(X, where = C)", "last(X order by no) filter (where C and X is not null)", [*ORDERED, "p", "np"], False), ("count(X, where = C)", "count(X) F", ORDERED, False),
    ("n_distinct(X, where = C)", "count(distinct X) F", [*ORDERED, "p", "np"], False), ("any(X, where = C)", "coalesce(bool_or(X) F, false)", ["p", "np"], False),
    ("all(X, where = C)", "coalesce(bool_and(X) F, true)", ["p", "np"], False), ("count(X, where = C)", "count(*) filter (where C and X)", ["p", "np"], False),
    ("sum(X, where = C)", "count(*) filter (where C and X)", ["p", "np"], False), ("cov(X, w, where = C)", "covar_samp(X, w) F", ["x", "nx"], True),
    ("corr(X, w, where = C) ?? -2.0", "case when count(X) F < 2 then -2 else corr(X, w) F end", ["x", "nx"], True),
    ("weighted_mean(X, w, where = C)", "sum(X * w) F / sum(w) filter (where C and X is not null)", ["x", "nx", "i"], True),
    ("argmin(X, where = C)", "arg_min(place, (X, no)) filter (where C and X is not null)", ["i", "x", "nx", "d"], False),
    ("argmax(X, where = C)", "arg_max(place, (X, -no)) filter (where C and X is not null)", ["i", "x", "nx", "d"], False),
]
ONCE = [("count(where = C)", "count(*) F", False), ("sum(1, where = C)", "count(*) F", False), ("sum(12 // i, where = C and i != 0)", "coalesce(sum(floor(12 / i)) filter (where C and i <> 0), 0)::bigint", False),
        ("mean(x * w, where = C) ?? 0.0", "coalesce(avg(x * w) F, 0)", True), ("count(X, where = C)", "count(*) F", False)]
CONDITIONS = [("c", "c"), ("nc", "nc"), ("x > 0.5", "x > 0.5"), ("x > mean(x)", "x > mx"), ('s in ["fig", "kiwi"] and not c', "s in ('fig', 'kiwi') and not c"), ("nx < 1", "nx < 1")]


def literal(kind, v):
    if v is None:
        return "null"
    if kind.startswith("text"):
        return f'"{v}"'
    return {"date": f'date("{v}")', "datetime": f'datetime("{v}")'}.get(kind, str(v).lower())


def sql_literal(v):
    return "null" if v is None else repr(str(v)) if not isinstance(v, (bool, int, float)) else str(v)


def shown(v, near):
    if v is None:
        return "null"
    if near:
        return f"{v:.6f}" if abs(v) > 5e-7 or v != v else "0.000000"
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, datetime.datetime):
        return v.strftime("%Y-%m-%dT%H:%M:%SZ")
    return str(v)


def braces(expression, near):
    return f"{{{expression}{':.6f' if near else ''}}}"


def cases():
    """(flow, SQL, near) of every aggregate, type and condition; conditions go round."""
    k = 0
    for flow, sql, columns, near in TABLE:
        for column in columns:
            for _ in range(2):
                c, q = CONDITIONS[k % len(CONDITIONS)]
                k += 1
                yield flow.replace("X", column).replace("C", c), sql.replace("F", "filter (where C)").replace("X", column).replace("C", q), near
    for flow, sql, near in ONCE:
        for c, q in CONDITIONS:
            if "X" not in flow:
                yield flow.replace("C", c), sql.replace("F", "filter (where C)").replace("C", q), near


def main():
    db = duckdb.connect()
    db.execute(f"create table t ({', '.join(f'{n} {sql}' for n, (_, sql, _) in COLUMNS.items())})")
    db.execute("insert into t values " + ", ".join("(" + ", ".join(sql_literal(v[k]) for _, _, v in COLUMNS.values()) + ")" for k in range(N)))
    every = list(cases())
    columns = ", ".join(f"{name} = [{', '.join(literal(kind, v) for v in values)}]" + (f" |> (v => [for e in v: {kind.rstrip('?')}(e)])" if kind in ("u8", "f32") else "")
                        for name, (kind, _, values) in COLUMNS.items())
    out = [f"## every aggregate of some rows of a group, of a table and of an array: written by make_aggregates_where.py".replace("##", "#"),
           f"let t = table({columns})", ""]
    expected = []
    rows = {"whole": "select no, row_number() over (order by no) - 1 as place, avg(x) over () as mx, * exclude (no) from t",
            "group": "select no, row_number() over (partition by g order by no) - 1 as place, avg(x) over (partition by g) as mx, * exclude (no) from t"}
    for place, source, verb in [("group", "t |> group_by(g)", "summarize"), ("whole", "t", "summarize"), ("group", "t |> group_by(g)", "derive"),
                                ("whole", "t", "derive")]:
        for start in range(0, len(every), 40):
            some = every[start:start + 40]
            by = "group by g" if place == "group" else ""
            key = "g" if place == "group" else "''"
            found = db.execute(f"select {key}, {', '.join(sql for _, sql, _ in some)} from ({rows[place]}) {by} order by 1").fetchall()
            found = {row[0]: [shown(v, near) for v, (_, _, near) in zip(row[1:], some)] for row in found}
            arguments = ", ".join(f"e{k} = {flow}" for k, (flow, _, _) in enumerate(some))
            name = f"r{len(out)}"
            few = "" if verb == "summarize" else f" |> head({FEW})"
            out.append(f"let {name} = {source} |> {verb}({arguments}) |> ungroup{few}")
            out.append(f"for q in {name} {{ print(\"{' | '.join(braces(f'q.e{k}', near) for k, (_, _, near) in enumerate(some))}\") }}")
            keys = list(found) if verb == "summarize" else [g if place == "group" else "" for g in COLUMNS["g"][2][:FEW]]
            expected += [" | ".join(found[g]) for g in keys]
    out += [f"let a_{name} = t.{name}" for name in COLUMNS if name not in ("g", "no")]
    for flow, sql, near in every:  # of arrays: over nothing most are errors, and the mean of f32 is f32
        value = db.execute(f"select {sql} from ({rows['whole']})").fetchone()[0]
        if value is None or (near and "(f," in flow) or "corr" in flow:
            continue
        array = "".join(part if k % 2 else NAMES.sub(r"a_\1", part) for k, part in enumerate(re.split(r'(".*?")', flow.split(" ??")[0])))
        out.append(f'print("{braces(array, near)}")' if '"' not in array else f"let v{len(out)} = {array}\nprint(\"{braces(f'v{len(out)}', near)}\")")
        expected.append(shown(value, near))
    (HERE / "aggregates_where.flow").write_text("\n".join(out) + "\n")
    (HERE / "aggregates_where.out").write_text("\n".join(expected) + "\n")
    print(f"{len(every)} expressions")


main()
