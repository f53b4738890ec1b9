#!/usr/bin/env python3
"""Random joins with conditions, and what DuckDB says that they are: `join .. on` of the same keys and condition, of tables some rows of
which `in` the column of the other table leaves out.

Tables of integers, floats with NaN, decimals, texts, dates, datetimes and categories, with nulls, duplicates and empty sides; comparisons of
columns and of sums, intervals, overlaps, conditions on one table and on both; from CSV, or from Arrow with texts dictionary-encoded. Every script runs interpreted, compiled with 1, 2, 3 and 8 workers, and
with little memory: all must write the same bytes.

By hand, with a Python that has duckdb and pyarrow: python tests/oracle/joins.py FLOWC --count 300 --seed 7 [--rows 2000]
"""
import argparse
import datetime
import decimal
import pathlib
import random
import subprocess
import sys
import tempfile

import duckdb
import pyarrow
import pyarrow.ipc

TYPES = {"i64": "bigint", "i32": "integer", "f64": "double", "f32": "float", "decimal(12, 2)": "decimal(12, 2)", "decimal(9, 4)": "decimal(9, 4)",
         "text": "varchar", "date": "date", "datetime": "timestamp", "category": "level", "bool": "boolean"}
LEVELS = ["small", "mid", "big"]
NUMBERS = ("i64", "i32", "f64", "f32", "decimal(12, 2)", "decimal(9, 4)")
KINDS = {"inner": "join", "left": "left join", "right": "right join", "full": "full join", "semi": "semi join", "anti": "anti join"}
WAYS = [["--interp"], ["--workers", "1"], ["--workers", "2"], ["--workers", "3", "-O0"], ["--workers", "8"], ["--memory", "64M"]]


def value(r, kind, spread):
    n = r.randrange(-spread, spread)
    if kind in ("i64", "i32"):
        return str(r.choice([n, n, n, 9007199254740993, -9007199254740993]) if kind == "i64" else n)
    if kind in ("f64", "f32"):
        return r.choice([str(n), str(n / 4), "nan", "inf", "-0.0"] + [str(n / 2)] * 6)
    if kind.startswith("decimal"):
        return f"{n}.{r.randrange(100):02d}" + ("00" if "4" in kind and r.random() < 0.5 else "07" if "4" in kind else "")
    if kind == "text":
        return r.choice(["", "a", "ab", "abc", "b", "ba", "é", "z"]) + r.choice(["", "", str(abs(n))])
    if kind == "date":
        return f"2024-{1 + abs(n) % 12:02d}-{1 + abs(n) // 12 % 28:02d}"
    if kind == "datetime":
        return f"2024-01-{1 + abs(n) % 3:02d}T{abs(n) // 3 % 24:02d}:{r.randrange(4) * 15:02d}:00"
    return r.choice(LEVELS) if kind == "category" else r.choice(["true", "false"])


class Table:
    def __init__(self, r, name, prefix, rows):
        self.name, self.n = name, r.choice([0, 1, rows // 4 + 1, rows, rows])
        self.kinds = {}
        for kind in r.sample(list(TYPES), r.randrange(3, 7)):
            for k in range(r.choice([1, 1, 2])):
                self.kinds[f"{prefix}{len(self.kinds)}"] = kind
        spread = r.choice([5, 40, rows])
        nulls = {c: r.choice([0, 0, 0.1, 0.4]) for c in self.kinds}
        self.rows = [[None if r.random() < nulls[c] else value(r, k, spread) for c, k in self.kinds.items()] for _ in range(self.n)]

    def csv(self):
        return "\n".join([",".join(["row_" + self.name, *self.kinds])] + [",".join([str(i), *["NULL" if v is None else f'"{v}"' for v in row]])
                                                                          for i, row in enumerate(self.rows)]) + "\n"

    def arrow(self):
        """The same as a table of Arrow, texts dictionary-encoded."""
        types = {"i64": pyarrow.int64(), "i32": pyarrow.int32(), "f64": pyarrow.float64(), "f32": pyarrow.float32(), "date": pyarrow.date32(), "bool": pyarrow.bool_(),
                 "datetime": pyarrow.timestamp("us"), "decimal(12, 2)": pyarrow.decimal128(12, 2), "decimal(9, 4)": pyarrow.decimal128(9, 4)}
        read = {"i64": int, "i32": int, "f64": float, "f32": float, "date": datetime.date.fromisoformat, "datetime": datetime.datetime.fromisoformat,
                "bool": lambda v: v == "true", "decimal(12, 2)": decimal.Decimal, "decimal(9, 4)": decimal.Decimal}
        columns = {"row_" + self.name: pyarrow.array(range(self.n), pyarrow.int64())}
        for at, (c, k) in enumerate(self.kinds.items()):
            values = [row[at] for row in self.rows]
            if k in ("text", "category"):
                columns[c] = pyarrow.array(values, pyarrow.string()).dictionary_encode()
            else:
                columns[c] = pyarrow.array([None if v is None else read[k](v) for v in values], types[k])
        return pyarrow.table(columns)

    def write_arrow(self, path):
        """As a file of Arrow, in batches of some rows."""
        table = self.arrow()
        with pyarrow.ipc.new_file(path, table.schema) as out:
            out.write_table(table, max_chunksize=max(1, self.n // 2))

    def flow(self, arrow):
        if arrow:
            made = "".join(f" |> derive({c} = category({c}, levels = levels))" for c, k in self.kinds.items() if k == "category")
            return f'let {self.name} = read_arrow("{self.name}.arrow"){made}\n'
        types = ", ".join([f"row_{self.name}: i64"] + [f"{c}: {'text' if k == 'category' else k}?" for c, k in self.kinds.items()])
        made = "".join(f" |> derive({c} = category({c}, levels = levels))" for c, k in self.kinds.items() if k == "category")
        return f'let {self.name} = read_csv("{self.name}.csv", null = "NULL", types = ({types})){made}\n'

    def fill(self, db):
        db.execute(f"create table {self.name} (row_{self.name} bigint, {', '.join(f'{c} {TYPES[k]}' for c, k in self.kinds.items())})")
        if self.n:
            db.executemany(f"insert into {self.name} values ({', '.join('?' * (len(self.kinds) + 1))})", [[i, *row] for i, row in enumerate(self.rows)])


def comparison(r, a, b):
    """(as in flow, as in SQL) of a column of each table, or None; NaN equals and is below nothing in flow."""
    pairs = [(x, y) for x in a.kinds for y in b.kinds if a.kinds[x] == b.kinds[y] != "bool" or a.kinds[x] in NUMBERS and b.kinds[y] in NUMBERS]
    pairs = [(x, y) for x, y in pairs if not ("decimal" in a.kinds[x] + b.kinds[y] and "f" in a.kinds[x][0] + b.kinds[y][0])]  # as floats, rounded
    pairs = [(x, y) for x, y in pairs if not ("i64" in (a.kinds[x], b.kinds[y]) and ("f" in a.kinds[x][0] + b.kinds[y][0]))]  # DuckDB compares as floats
    if not pairs:
        return None
    x, y = r.choice(pairs)
    sign = r.choice(["<", "<=", ">", ">=", "<", "<=", ">", ">=", "=="])
    left, right = x, y
    if a.kinds[x] == b.kinds[y] == "i32" and r.random() < 0.5:
        right = f"({y} + 3)"
    if a.kinds[x] == b.kinds[y] == "datetime" and r.random() < 0.5:
        right, shifted = f"({y} + hours(5))", f"({y} + interval 5 hours)"
    else:
        shifted = right
    floats = [c for c, k in ((x, a.kinds[x]), (y, b.kinds[y])) if k in ("f64", "f32")]
    sql = f"({left} {'=' if sign == '==' else sign} {shifted}" + "".join(f" and not isnan({c})" for c in floats) + ")"
    flow = f"{left} {sign} {right}"
    if r.random() < 0.3:
        flow = f"{right} { {'<': '>', '>': '<', '<=': '>=', '>=': '<=', '==': '=='}[sign]} {left}"
    return flow, sql


def condition(r, a, b):
    parts = [c for c in (comparison(r, a, b) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4]))) if c]
    if r.random() < 0.3:
        t = r.choice([a, b])
        some = [c for c, k in t.kinds.items() if k == "bool"]
        parts += [(c, c) for c in some[:1]]
    if r.random() < 0.3:
        parts.append((f"(row_{a.name} + row_{b.name}) % 3 != 1", f"(row_{a.name} + row_{b.name}) % 3 <> 1"))
    if r.random() < 0.2 and parts:
        some = comparison(r, a, b)
        parts.append((f"(row_{b.name} % 2 == 0 or {some[0]})", f"(row_{b.name} % 2 = 0 or {some[1]})") if some else ("true", "true"))
    parts = parts or [("true", "true")]
    return " and ".join(f for f, _ in parts), " and ".join(q for _, q in parts)


def case(seed, rows):
    """(script, tables, SQL, database) of one case."""
    r = random.Random(seed)
    arrow = r.random() < 0.5
    a, b = Table(r, "a", "x", rows), Table(r, "b", "y", rows)
    on = [(x, y) for x in a.kinds for y in b.kinds if a.kinds[x] == b.kinds[y] and a.kinds[x] not in ("f64", "f32")]
    on = r.sample(on, min(len(on), r.choice([0, 0, 0, 1, 1, 2])))
    how = r.choice(list(KINDS))
    flow, sql = condition(r, a, b)
    keys = f"on = ({', '.join(f'{x} = {y}' for x, y in on)}), " if on else ""
    filters, wheres = {}, {}
    for one, other in ((a, b), (b, a)):
        same = [(x, y) for x in one.kinds for y in other.kinds if one.kinds[x] == other.kinds[y] and one.kinds[x] in ("i64", "i32", "text", "date")]
        if same and r.random() < 0.4:
            (x, y), no = r.choice(same), r.random() < 0.4
            asked = f"{x} in drop_null({other.name}, {y}).{y}"
            filters[one.name] = f" |> where({f'not ({asked})' if no else asked})"
            wheres[one.name] = f" where {x} is not null and {x} {'not ' if no else ''}in (select {y} from {other.name} where {y} is not null)"
    kept = "" if how in ("semi", "anti") else ', keys = "both"'
    columns = ["row_a"] if how in ("semi", "anti") else ["row_a", "row_b"]
    script = f'let levels = [{", ".join(chr(34) + level + chr(34) for level in LEVELS)}]\n' + a.flow(arrow) + b.flow(arrow)
    script += f'a{filters.get("a", "")} |> join(b{filters.get("b", "")}, {keys}where = {flow}, how = "{how}"{kept}) |> select({", ".join(columns)}) |> write_csv("out.csv", null = "NULL")\n'
    db = duckdb.connect()
    db.execute(f"create type level as enum ({', '.join(repr(level) for level in LEVELS)})")
    a.fill(db)
    b.fill(db)
    ons = " and ".join([f"a.{x} = b.{y}" for x, y in on] + [f"({sql})"])
    query = f"select {', '.join(columns)} from (select * from a{wheres.get('a', '')}) a {KINDS[how]} (select * from b{wheres.get('b', '')}) b on {ons} order by row_a nulls last" + (", row_b nulls last" if len(columns) == 2 else "")
    return script, (a, b), query, db


def run(flowc, folder, way):
    out = folder / "out.csv"
    out.unlink(missing_ok=True)
    done = subprocess.run([flowc, "run", "--no-cache", *way, "case.flow"], cwd=folder, capture_output=True, text=True, timeout=600)
    return out.read_text() if done.returncode == 0 and out.exists() else f"status {done.returncode}\n{done.stderr}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("flowc")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=40)
    options = parser.parse_args()
    failed, pairs = 0, 0
    with tempfile.TemporaryDirectory(prefix="flow-joins-") as name:
        folder = pathlib.Path(name)
        for k in range(options.count):
            script, tables, query, db = case(options.seed * 1000003 + k, options.rows)
            (folder / "case.flow").write_text(script)
            for table in tables:
                (folder / f"{table.name}.csv").write_text(table.csv())
                table.write_arrow(folder / f"{table.name}.arrow")
            found = db.execute(query).fetchall()
            pairs += len(found)
            head = query[len("select "):query.index(" from")].replace(" ", "")
            want = "\n".join([head] + [",".join("NULL" if v is None else str(v) for v in row) for row in found]) + "\n"
            for way in WAYS if k % 4 == 0 else [WAYS[0], WAYS[2 + k % 3]]:
                got = run(str(pathlib.Path(options.flowc).resolve()), folder, way)
                if got != want:
                    failed += 1
                    print(f"--- seed {options.seed} case {k} {' '.join(way)}\n{script}{query}\n{got[:600]}\nexpected\n{want[:600]}")
                    break
    print(f"{options.count - failed} passed, {failed} failed, {pairs} rows")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
