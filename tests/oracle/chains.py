#!/usr/bin/env python3
"""Random pipelines of joins and filters, and what DuckDB says that they are, each in several orders of its joins and filters.

A main table goes through inner, left, semi and anti joins with tables that are filtered themselves (the first join may be a right or full one), or with groups of such
a table or of the main one; through filters, `x in column`, joins and filters on columns that earlier joins brought, and columns that are computed; then its rows, some of them, or
groups are written. Texts are dictionary-encoded in Arrow and Parquet files, or plain, or in CSV, and may be read as categories. The order of a
pipeline's joins is the script's, so `--orders` writes each pipeline in that many orders: same rows, which come as the joins then stand. Way by
turns: compiled with 1, 2, 3, 8 workers, little memory, -O0, interpreted; then under so many `--choices` of which joins look before others for
what they drop (FLOW_JOINS): always, never, and any of them by random bits.

By hand, with a Python that has duckdb and pyarrow: python tests/oracle/chains.py --count 1000 --seed 7 [--orders 3] [--rows 40]
"""
import argparse
import collections
import csv
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import duckdb
import joins
import pyarrow
import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLOWC = os.environ.get("FLOWC", str(ROOT / "build/flowc"))
PATIENCE = 5 if "FLOW_SANITIZE" in os.environ else 1
PACK = 10
WAYS = [["--workers", "2"], ["--interp"], ["--workers", "1"], ["--workers", "3", "-O0"], ["--workers", "8"], ["--workers", "2", "--memory", "64M"]]
SMALL = 100  # rows of a table whose keys may be of few values
MOST, WIDEST = 5000, 100_000  # rows of a result, and before a filter in any order
KEYS = ("i64", "i32", "text", "date")
SHOWN = (*KEYS, "bool", "decimal(12, 2)")


class Table(joins.Table):
    """A table in a file; `name` is its name in the script, `origin` what it lies in. Keys of all tables are of one range, so that they meet."""

    def __init__(self, r, name, prefix, rows, spread, words):
        self.name, self.row, self.n = name, "row_" + name, r.choice([0, 1, rows // 4 + 1] + [rows] * 12)
        self.origin = r.choice(["csv", "arrow", "arrow", "arrow", "parquet"])
        kinds = ["i64", "text", *r.choices([*KEYS, "text", "text", "bool", "datetime", "f64", "decimal(12, 2)", "category"], k=r.randrange(1, 4))]
        self.kinds = {f"{prefix}{k}": kind for k, kind in enumerate(kinds)}
        nulls = {c: r.choice([0, 0, 0.1, 0.4]) for c in self.kinds}
        self.rows = [[None if r.random() < nulls[c] else r.choice(words) if k == "text" else joins.value(r, k, spread) for c, k in self.kinds.items()] for _ in range(self.n)]
        self.plain, self.memory = r.random() < 0.2, r.random() < 0.4

    def repeats(self, columns):
        """How many rows have equal values in these columns, at most."""
        places = [list(self.kinds).index(c) for c in columns]
        return max([1, *collections.Counter(tuple(row[p] for p in places) for row in self.rows).values()])

    def write(self, folder):
        if self.origin == "csv":
            (folder / f"{self.name}.csv").write_text(self.csv())
        elif self.origin == "arrow":
            self.write_arrow(folder / f"{self.name}.arrow")
        else:
            pyarrow.parquet.write_table(self.arrow(), folder / f"{self.name}.parquet", row_group_size=max(1, self.n // 3))

    def arrow(self):
        table = super().arrow()
        if not self.plain:
            return table
        return pyarrow.table({c: table[c].cast(pyarrow.string()) if pyarrow.types.is_dictionary(table[c].type) else table[c] for c in table.column_names})

    def flow(self):
        """As it is read, or in memory."""
        text = super().flow(self.origin != "csv").rstrip("\n")
        if self.origin == "parquet":
            text = text.replace(f'read_arrow("{self.name}.arrow")', f'read_parquet("{self.name}.parquet")')
        return text + (f" |> sort({self.row})" if self.memory else "")

    def fill(self, db):
        db.register("given", super().arrow())
        casts = ", ".join(f"cast({c} as {joins.TYPES[k]}) {c}" for c, k in self.kinds.items())
        db.execute(f"create or replace table {self.name} as select {self.row}, {casts} from given")
        db.unregister("given")


class Groups:
    """Groups of a table by one of its columns, whose value is the number of the row."""

    def __init__(self, r, name, prefix, of):
        self.name, self.row, self.n, self.key = name, "row_" + name, of.n, prefix + "k"
        key, values = r.choice([c for c, k in of.kinds.items() if k == "i64"]), [c for c, k in of.kinds.items() if k in ("i64", "i32", "date")]
        made = [(f"{prefix}n", "count()", "count(*)", "i64")]
        for at, c in enumerate(r.sample(values, min(len(values), 2))):
            made.append((f"{prefix}v{at}", *r.choice([(f"max({c})", f"max({c})", of.kinds[c]), (f"min({c})", f"min({c})", of.kinds[c]), (f"n_distinct({c})", f"count(distinct {c})", "i64")])))
        self.kinds = {self.key: "i64"} | {column: kind for column, _, _, kind in made}
        given = ", ".join(f"{column} = {flow}" for column, flow, _, _ in made)
        self.flow = f"{of.name} |> group_by({self.key} = {key}) |> summarize({given}) |> derive({self.row} = {self.key})"
        self.sql = f"select {key} {self.row}, {key} {self.key}, {', '.join(f'{sql} {column}' for column, _, sql, _ in made)} from {of.name} group by {key}"

    def repeats(self, columns):
        return 1 if self.key in columns else max(1, self.n)


class Verb:
    """One of a pipeline: its text in flow, what it makes of a query, and the columns that it needs and gives."""

    def __init__(self, flow, sql, needs, gives=None, row=None):
        self.flow, self.sql, self.needs, self.gives, self.row = flow, sql, set(needs), gives or {}, row


def predicate(r, kinds, row=None, depth=1):
    """(flow, SQL, columns) of a condition on columns {name: kind}."""
    if depth and r.random() < 0.3:
        a, b = predicate(r, kinds, row, 0), predicate(r, kinds, row, 0)
        word = r.choice(["and", "or"])
        return f"({a[0]} {word} {b[0]})", f"({a[1]} {word} {b[1]})", a[2] | b[2]
    if row and r.random() < 0.1:
        return f"{row} % 3 != 1", f"{row} % 3 <> 1", {row}
    c = r.choice(list(kinds))
    kind, sign = kinds[c], r.choice(["<", "<=", ">", ">=", "<", "<=", ">", ">=", "==", "!=", "!=", "!="])
    same = [o for o in kinds if o != c and kinds[o] == kind]
    sql = {"==": "=", "!=": "<>"}.get(sign, sign)
    if same and kind in KEYS and r.random() < 0.2:
        o = r.choice(same)
        return f"{c} {sign} {o}", f"{c} {sql} {o}", {c, o}
    if r.random() < 0.1 or kind in ("f64", "decimal(12, 2)"):
        no = "not " if r.random() < 0.8 else ""
        return f"{no}is_null({c})", f"({no}({c} is null))", {c}
    if kind in ("i64", "i32"):
        if r.random() < 0.3:
            some = ", ".join(str(r.randrange(-9, 9)) for _ in range(12))
            return f"{c} in [{some}]", f"{c} in ({some})", {c}
        k = r.randrange(-4, 4)
        return f"{c} {sign} {k}", f"{c} {sql} {k}", {c}
    if kind == "bool":
        return (c, c, {c}) if r.random() < 0.5 else (f"not {c}", f"(not {c})", {c})
    if kind == "date":
        d = f"2024-{r.randrange(1, 13):02d}-03"
        return f'{c} {sign} date("{d}")', f"{c} {sql} date '{d}'", {c}
    if kind == "datetime":
        d = f"2024-01-{r.randrange(1, 4):02d} {r.randrange(24):02d}:00:00"
        return f'{c} {sign} datetime("{d}")', f"{c} {sql} timestamp '{d}'", {c}
    if kind == "category":
        level = r.choice(joins.LEVELS)
        return f'{c} {sign} "{level}"', f"{c} {sql} '{level}'::level", {c}
    word = r.choice(["", "a", "ab", "b", "é"])
    form = r.randrange(5)
    if form == 0:
        return f'{c} in ["{word}", "a", "b", "b2", "abc"]', f"{c} in ('{word}', 'a', 'b', 'b2', 'abc')", {c}
    if form == 1:
        name, its = r.choice([("contains", "contains"), ("starts_with", "starts_with"), ("ends_with", "ends_with")])
        return f'{name}({c}, "{word}")', f"{its}({c}, '{word}')", {c}
    if form == 2:
        return f"n_chars({c}) {sign} 1", f"length({c}) {sql} 1", {c}
    return f'{c} {sign} "{word}"', f"{c} {sql} '{word}'", {c}


class Chain:
    """A pipeline over tables. `verbs` in the script's order; `orders` are all orders in which it is written, `seen` those whose first so many verbs have a
    name, by which another statement counts their rows; `lets` what it reads beside."""

    def __init__(self, r, name, rows, orders):
        self.r, self.name, self.tables, self.lets, spread = r, name, [], [], r.choice([3, 10, 20]) if rows <= SMALL else rows
        self.grouped = 0
        self.rows, self.spread, self.words = rows, spread, [joins.value(r, "text", 4) for _ in range(r.choice([2, 5, 20]))]
        main = self.table("x")
        self.main, self.kinds, self.widest = main, dict(main.kinds), rows
        self.verbs, self.fixed = [], 0
        if r.random() < 0.15:
            verb = self.join(r.choice(["right", "full"]))
            self.verbs, self.fixed = [verb] if verb else [], 1 if verb else 0
        for _ in range(r.randrange(1, 6)):
            verb = r.choice([self.filter, self.join, self.join, self.join, self.member, self.derive])()
            if verb:
                self.kinds.update(verb.gives)
                self.verbs.append(verb)
        self.last()
        self.orders = [self.verbs]
        for _ in range(20):
            if len(self.orders) < orders:
                order = self.shuffled()
                if order not in self.orders:
                    self.orders.append(order)
        self.seen = [(k, r.randrange(1, len(order))) for k, order in enumerate(self.orders) if len(order) > 1 and r.random() < 0.3]

    def table(self, prefix):
        table = Table(self.r, f"{self.name}_{len(self.tables)}", prefix, self.rows, self.spread, self.words)
        self.tables.append(table)
        return table

    def fresh(self, prefix):
        return f"{prefix}{len(self.tables)}_"

    def filter(self):
        flow, sql, needs = predicate(self.r, self.kinds, self.main.row)
        return Verb(f"where({flow})", lambda q, sql=sql: f"select * from ({q}) where {sql}", needs)

    def other(self):
        """(table, as in flow, as in SQL): another table, or groups of it or of the main one, filtered or not."""
        if self.r.random() < 0.2:
            self.grouped += 1
            of = self.r.choice([self.main, self.main, self.table(self.fresh("y"))])
            table = Groups(self.r, f"{self.name}_g{self.grouped}", f"z{self.grouped}_", of)
            flow, sql = table.flow, f"select * from ({table.sql})"
        else:
            table = self.table(self.fresh("y"))
            flow, sql = table.name, f"select * from {table.name}"
        if self.r.random() < 0.6:
            p = predicate(self.r, table.kinds, None if isinstance(table, Groups) else table.row)
            flow, sql = f"{flow} |> where({p[0]})", f"{sql} where {p[1]}"
        return table, flow, sql

    def join(self, how=None):
        r = self.r
        how = how or r.choice(["inner", "inner", "inner", "semi", "left", "anti"])
        table, flow, sql = self.other()
        pairs = [(a, b) for a, k in self.kinds.items() for b, o in table.kinds.items() if k == o and k in (KEYS if self.rows <= SMALL else KEYS[:1])]
        if not pairs:
            return None
        on = r.sample(pairs, min(len(pairs), r.choice([1, 1, 1, 1, 2])))
        if len({a for a, _ in on}) + len({b for _, b in on}) < 2 * len(on):
            on = on[:1]
        if how not in ("semi", "anti"):
            if self.widest * table.repeats([b for _, b in on]) > WIDEST:
                return None
            self.widest *= table.repeats([b for _, b in on])
        if r.random() < 0.5:
            self.lets.append(f"let {table.name}_ = {flow}")
            flow = table.name + "_"
        narrow, both = how in ("semi", "anti"), how in ("right", "full") or r.random() < 0.3
        gone = [] if both else [b for _, b in on]
        gives = {} if narrow else {c: k for c, k in table.kinds.items() if c not in gone}
        text = f"join({flow}, on = ({', '.join(f'{a} = {b}' for a, b in on)}), how = \"{how}\"{', keys = ' + chr(34) + 'both' + chr(34) if both and not narrow else ''})"
        given = ", ".join(["p.*", *([] if narrow else [f"o.{c}" for c in [table.row, *gives]])])
        test = " and ".join(f"p.{a} = o.{b}" for a, b in on)
        return Verb(text, lambda q: f"select {given} from ({q}) p {joins.KINDS[how]} ({sql}) o on {test}", {a for a, _ in on}, gives, None if narrow else table.row)

    def member(self):
        table, flow, sql = self.other()
        pairs = [(a, b) for a, k in self.kinds.items() for b, o in table.kinds.items() if k == o and k in KEYS]
        if not pairs:
            return None
        (a, b), no = self.r.choice(pairs), self.r.choice(["", "", "not "])
        self.lets.append(f"let {table.name}_ = {flow} |> drop_null({b})")
        asked = f"{a} in {table.name}_.{b}"
        column = f"select {b} from ({sql}) where {b} is not null"
        return Verb(f"where({f'not ({asked})' if no else asked})",
                    lambda q: f"select * from ({q}) where {a} is not null and {a} {no}in ({column})", {a})

    def derive(self):
        texts, numbers = ([c for c, k in self.kinds.items() if k in kinds] for kinds in (("text",), ("i64", "i32")))
        new = f"d{len(self.verbs)}"
        if texts and self.r.random() < 0.7:
            c = self.r.choice(texts)
            flow, sql = self.r.choice([("upper({})", "upper({})"), ("slice({}, 0, 1)", "substr({}, 1, 1)"), ('"{{{}}}-"', "coalesce({}, 'null') || '-'"), ("{} ?? \"none\"", "coalesce({}, 'none')"),
                                       ("replace({}, \"a\", \"o\")", "replace({}, 'a', 'o')")])
            kind = "text"
        elif numbers:
            c, kind = self.r.choice(numbers), "i64"
            flow, sql = self.r.choice([("i64({}) - 3", "{}::bigint - 3"), ("{} ?? i64(0)", "coalesce({}, 0)::bigint"), ("abs(i64({}))", "abs({}::bigint)")])
            if "??" in flow and self.kinds[c] == "i32":
                flow = "i64({}) ?? 0"
        else:
            return None
        return Verb(f"derive({new} = {flow.format(c)})", lambda q: f"select *, {sql.format(c)} as {new} from ({q})", {c}, {new: kind})

    def last(self):
        """What is written of the rows: (flow, SQL of its table without an order)."""
        r, shown = self.r, [c for c, k in self.kinds.items() if k in SHOWN]
        self.form = r.choice(["rows", "rows", "head", "sort", "groups", "groups", "all"])
        self.shown = r.sample(shown, min(len(shown), r.randrange(1, 4)))
        numbers = [c for c, k in self.kinds.items() if k in ("i64", "i32")]
        if self.form in ("groups", "all"):
            some = [("n", "count()", "count(*)")]
            for c in self.shown:
                kind = self.kinds[c]
                made = [(f"d_{c}", f"n_distinct({c})", f"count(distinct {c})"), (f"c_{c}", f"count({c})", f"count({c})" if kind != "bool" else f"count(case when {c} then 1 end)")]  # of bools flow counts those that are true
                made += [(f"l_{c}", f"min({c})", f"min({c})"), (f"g_{c}", f"max({c})", f"max({c})")] if kind not in ("bool", "text") else []
                made += [(f"s_{c}", f"sum({c})", f"coalesce(sum({c}), 0)")] if c in numbers and kind == "i32" else []
                some += r.sample(made, min(2, len(made)))
            if not self.fixed:
                some.append(("f", f"first({self.main.row})", f"min({self.main.row})"))
            by = r.sample(shown, min(len(shown), r.choice([1, 1, 2]))) if self.form == "groups" else []
            listed = ", ".join(by)
            self.flow = (f"group_by({listed}) |> " if by else "") + f"summarize({', '.join(f'{n} = {f}' for n, f, _ in some)})"
            self.query = f"select {', '.join(by + [f'{s} {n}' for n, _, s in some])} from chain" + (f" group by {listed} order by {', '.join(f'{c} nulls last' for c in by)}" if by else "")
            self.head = [*by, *[n for n, _, _ in some]]

    def shuffled(self):
        """Another order of the verbs, each behind those whose columns it needs."""
        left, out, has = self.verbs[self.fixed:], self.verbs[:self.fixed], set(self.main.kinds) | {self.main.row}
        for verb in out:
            has |= set(verb.gives)
        while left:
            verb = self.r.choice([v for v in left if v.needs <= has])
            left = [v for v in left if v is not verb]
            out, has = [*out, verb], has | set(verb.gives)
        return out

    def written(self, order):
        """(flow, SQL, header) of the end of a pipeline in that order."""
        if self.form in ("groups", "all"):
            return self.flow, self.query, self.head
        rows = [self.main.row, *[v.row for v in order if v.row]]
        given, ordered = [*rows, *self.shown], ", ".join(f"{c} nulls last" for c in rows)
        flow, query = f"select({', '.join(given)})", f"select {', '.join(given)} from chain order by "
        if self.form == "head":
            return f"{flow} |> head(7)", f"{query}{ordered} limit 7", given
        if self.form == "sort":
            a = self.shown[0]
            return f"sort(desc({a})) |> {flow}", f"{query}{a} desc nulls last, {ordered}", given
        return flow, query + ordered, given

    def script(self):
        lines = [table.flow() for table in self.tables] + self.lets
        middle = dict(self.seen)
        for k, order in enumerate(self.orders):
            begin, at = self.main.name, middle.get(k, 0)
            if at:
                lines.append(" |> ".join([f"let {self.name}_m{k} = {begin}", *[v.flow for v in order[:at]]]))
                begin = f"{self.name}_m{k}"
            lines.append(" |> ".join([begin, *[v.flow for v in order[at:]], self.written(order)[0], f'write_csv("{self.name}r_{k}.csv", null = "NULL")']))
        for n, (k, _) in enumerate(self.seen):
            lines.append(f'{self.name}_m{k} |> summarize(n = count(), rows = n_distinct({self.main.row})) |> write_csv("{self.name}r_{len(self.orders) + n}.csv")')
        return "\n".join(lines) + "\n"

    def expected(self, db):
        """What each order's file says, then each count's: lists of rows of texts, or None where the pipeline has no or too many rows. DuckDB asks it once, in the
        script's order."""
        for table in self.tables:
            table.fill(db)
        query = f"select * from {self.main.name}"
        for verb in self.verbs:
            query = verb.sql(query)
        db.execute(f"create or replace temp table chain as {query} limit {MOST + 1}")
        found, n = [], db.execute("select count(*) from chain").fetchall()[0][0]
        for order in self.orders if (n or self.r.random() < 0.2) and n <= MOST else []:
            _, asked, head = self.written(order)
            rows = db.execute(asked).fetchall()
            found.append([head] + [["NULL" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in row] for row in rows])
        for k, at in self.seen if found else []:
            query = f"select * from {self.main.name}"
            for verb in self.orders[k][:at]:
                query = verb.sql(query)
            found.append([["n", "rows"], *[list(map(str, row)) for row in db.execute(f"select count(*), count(distinct {self.main.row}) from ({query})").fetchall()]])
        for table in self.tables:
            db.execute(f"drop table {table.name}")
        return found or None


def drawn(seed, k, rows, orders, db):
    """(chain, what it should give), of which most have rows."""
    r = random.Random(f"{seed} {k}")
    while True:
        chain = Chain(r, f"t{k}", 20 * rows if r.random() < 0.1 else rows, orders)
        want = chain.expected(db)
        if want:
            return chain, want


def run(script, folder, way, choice=None):
    for old in folder.glob("*_*.csv"):
        if old.stem.count("_") == 1 and old.stem.startswith("r"):
            old.unlink()
    (folder / "case.flow").write_text(f'let levels = [{", ".join(chr(34) + level + chr(34) for level in joins.LEVELS)}]\n' + script)
    env = dict(os.environ, FLOW_CACHE=str(folder / ".flow"), FLOW_CODE_CACHE="", NO_COLOR="1") | ({"FLOW_JOINS": choice} if choice else {})
    return subprocess.run([FLOWC, "run", "--no-cache", *way, "case.flow"], cwd=folder, env=env, capture_output=True, text=True, timeout=600 * PATIENCE)


def wrong(chain, folder, want):
    """The first order of a chain whose file is not what it should be, with both; or None."""
    for k, rows in enumerate(want):
        path = folder / f"{chain.name}r_{k}.csv"
        if not path.exists():
            return k, "nothing was written", rows
        found = list(csv.reader(path.read_text().splitlines()))
        if found != rows:
            return k, found, rows
    return None


def ways(seed, at, choices):
    """(options, what FLOW_JOINS says or None) of the runs of the scripts from number `at` on: by turns, and by so many choices."""
    r, way = random.Random(f"{seed} {at} choices"), WAYS[at // PACK % len(WAYS)]
    drawn = ["always", "never", *[str(r.getrandbits(64)) for _ in range(choices)]]
    some = r.sample(drawn, 1) if choices == 1 else drawn[:choices]
    return [(way, None)] + [(way if "-O0" not in way else WAYS[0], choice) for choice in some]


def tried(count, seed, orders=3, rows=40, part=(0, 1), choices=3):
    """(chains that agree, texts of differences, orders that were written, rows of their files) of so many random chains. part (k, n): every n-th script, from the k-th on."""
    passed, differences, written, total = 0, [], 0, 0
    db = duckdb.connect(config={"threads": 1})
    db.execute(f"create type level as enum ({', '.join(repr(level) for level in joins.LEVELS)})")
    with tempfile.TemporaryDirectory(prefix="flow-chains-") as name:
        folder = pathlib.Path(name)
        for at in range(0, count, PACK):
            if at // PACK % part[1] != part[0]:
                continue
            for old in folder.glob("*.*"):
                old.unlink()
            chains, wants = zip(*(drawn(seed, k, rows, orders, db) for k in range(at, min(at + PACK, count))))
            for chain in chains:
                for table in chain.tables:
                    table.write(folder)
            written, total = written + sum(map(len, wants)), total + sum(len(want) for some in wants for want in some)
            agree = set(range(len(chains)))
            for way, choice in ways(seed, at, choices):
                done = run("".join(chain.script() for chain in chains), folder, way, choice)
                for k, (chain, want) in enumerate(zip(chains, wants)):
                    bad = wrong(chain, folder, want)
                    if not bad:
                        continue
                    agree.discard(k)
                    alone = run(chain.script(), folder, way, choice)
                    if done.returncode and not alone.returncode and not wrong(chain, folder, want):
                        continue  # another one of the script failed, which is said
                    differences.append(f"--- seed {seed} chain {chain.name}, order {bad[0]} {' '.join(way)} {choice or ''}: status {done.returncode}, alone {alone.returncode}\n{chain.script()}"
                                       f"{alone.stderr[-1500:]}\nfound {str(bad[1])[:800]}\nexpected {str(bad[2])[:800]}")
                    print(differences[-1], flush=True)
            passed += len(agree)
            if len(differences) >= 10:
                break
    return passed, differences, written, total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--orders", type=int, default=3, help="in how many orders of its verbs each pipeline is written")
    parser.add_argument("--rows", type=int, default=40, help="of a table; of every tenth pipeline twenty times as many")
    parser.add_argument("--choices", type=int, default=3, help="of the joins that look before others, under which each pipeline is run, too")
    options = parser.parse_args()
    passed, differences, written, total = tried(options.count, options.seed, options.orders, options.rows, choices=options.choices)
    print(f"{passed} passed, {len(differences)} failed; {written} orders, {total} rows")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
