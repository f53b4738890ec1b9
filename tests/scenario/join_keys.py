#!/usr/bin/env python3
"""Which keys a join keeps: random tables, with nulls and duplicates and with keys of one name and of two, against SQLite.
`keys = "both"`: the columns of both tables as SQL has them. Without it the left keys alone, filled from the right row where
there is no left one: coalesce(l.a, r.b). join_asof: the other table's `on` says which row was found.

usage: join_keys.py [SEED CASES]
"""
import json
import pathlib
import random
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, SHORT, Place, check, finish

KINDS = {"inner": "join", "left": "left join", "right": "right join", "full": "full join"}
TYPES = {"i64": "integer", "text": "text", "f64": "real"}
VALUES = {"i64": [0, 1, 2, -3], "text": ["", "a", "b", "é"], "f64": [0.5, 1.5, -2.0, 1e9]}


def tables(r):
    """Two tables (name -> type, values) and the pairs of their keys."""
    left, right, on = {}, {}, []
    for k in range(r.choice([1, 1, 2, 3])):
        kind, a = r.choice(list(TYPES)), f"k{k}"
        b = a if r.random() < 0.4 else f"q{k}"
        null = r.random() < 0.4
        for table, name, n in ((left, a, 0), (right, b, 1)):
            table[name] = kind, null and r.random() < 0.8
        on.append((a, b))
    left["v"], right["w"] = ("i64", False), ("text", r.random() < 0.5)
    if r.random() < 0.5:
        right["v"] = "f64", False
    for table in (left, right):
        names = list(table)
        r.shuffle(names)
        n = r.choice([1, 1, 4, 9])
        for name in names:
            kind, null = table.pop(name)
            values = [None if null and k and r.random() < 0.3 else r.choice(VALUES[kind]) for k in range(n)]
            table[name] = kind, null, values
    return left, right, on


def flow_table(name, table, rows):
    def value(v, kind):
        return "null" if v is None else f'"{v}"' if kind == "text" else repr(v)
    given = ", ".join(f"{n} = [{', '.join(value(v, kind) for v in values)}]" for n, (kind, _, values) in table.items())
    return f"let {name} = table({given}) |> head({rows})\n"


def fill(db, name, table, most=20):
    db.execute(f"create table {name} ({', '.join(f'{n} {TYPES[kind]}' for n, (kind, _, _) in table.items())})")
    rows = list(zip(*(values for _, _, values in table.values())))[:most]
    db.executemany(f"insert into {name} values ({', '.join('?' * len(table))})", rows)


def wanted(left, right, on, how, both, most):
    db = sqlite3.connect(":memory:")
    fill(db, "l", left, most[0]), fill(db, "r", right, most[1])
    of_left, of_right = dict(on), {b for _, b in on}
    says = [f"coalesce(l.{n}, r.{of_left[n]})" if n in of_left and not both else f"l.{n}" for n in left]
    names = list(left)
    for n in right:
        if both or n not in of_right:
            says.append(f"r.{n}")
            names.append(n + "_r" if n in left else n)
    equal = " and ".join(f"l.{a} = r.{b}" for a, b in on)
    rows = db.execute(f"select {', '.join(says)} from l {KINDS[how]} r on {equal} order by l.rowid is null, l.rowid, r.rowid")
    return [dict(zip(names, row)) for row in rows]


def one(r, place, k):
    left, right, on = tables(r)
    rows = [r.choice([0, 20, 20, 20]) for _ in range(2)]
    keys = ", ".join(a if a == b else f"{a} = {b}" for a, b in on)
    script, cases = flow_table("l", left, rows[0]) + flow_table("r", right, rows[1]), []
    for how in KINDS:
        for both in (False, True):
            option = ', keys = "both"' if both else ""
            script += f'l |> join(r, on = ({keys}), how = "{how}"{option}) |> write_json("{len(cases)}.json")\n'
            cases.append((how, both))
    place.write("x.flow", script)
    for mode in ((), ("--interp",)):
        p = place.run("run", "-q", *mode, "x.flow")
        check(p.returncode == 0, f"case {k} {mode} runs", script + p.stderr)
        for i, (how, both) in enumerate(cases if p.returncode == 0 else ()):
            found, want = json.loads((place.path / f"{i}.json").read_text()), wanted(left, right, on, how, both, rows)
            check([list(row.items()) for row in found] == [list(row.items()) for row in want], f"case {k} {mode} {how}, {'both' if both else 'one'}: {found} and not {want}", script)


def asof(r, place, k):
    left, right = sorted(r.sample(range(50), 6)), sorted(r.sample(range(50), 5))
    script = f'let l = table(at = {left})\nlet r = table(seen = {right}, w = {list(range(5))})\nl |> join_asof(r, on = (at = seen), keys = "both") |> write_json("a.json")\n'
    place.write("a.flow", script)
    p = place.run("run", "-q", "a.flow")
    db = sqlite3.connect(":memory:")
    fill(db, "l", {"at": ("i64", False, left)}), fill(db, "r", {"seen": ("i64", False, right)})
    want = [row for (row,) in db.execute("select (select max(seen) from r where seen <= at) from l order by l.rowid")]
    found = [row["seen"] for row in json.loads((place.path / "a.json").read_text())] if p.returncode == 0 else p.stderr
    check(found == want, f"join_asof {k}: {found} and not {want}", script)


def main():
    seed, n = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1, 150 if ALL else 40 if SHORT else 75)
    r = random.Random(seed)
    place = Place()
    for k in range(n):
        one(r, place, k)
        if k % 4 == 0:
            asof(r, place, k)
    finish()


main()
