#!/usr/bin/env python3
"""The language server on the last run: rows and columns at each |> of random scripts are those that a model in Python counts, or
not said, in every way of running; stale once the text or a file has changed; the lens over the script; nothing is written.
FLOW_TEST_SEED, FLOW_TEST_ROUNDS: which scripts, and how many. Answers are checked by lsprotocol (PyPI) where it is there."""
import os
import random
import re
import sys

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from lsp_client import Client, protocol, uri_of
from scenario_kit import SHORT, Place, check, finish

WRONG = protocol()
ROUNDS = int(os.environ.get("FLOW_TEST_ROUNDS", "12" if SHORT else "60"))
SEED = int(os.environ.get("FLOW_TEST_SEED", "1"))


def by_protocol(method, message):
    why = WRONG(method, message)
    check(why is None, f"{method} is as the protocol says", why)


def asked(place, text=None, script="main.flow", **options):
    """{(line, text before it on the line): label}, and the titles of the lenses."""
    path = place.path / script
    text = path.read_text() if text is None else text
    client = Client(place.path, env=place.env, start=not options, check=by_protocol)
    if options:
        client.info = client.ask("initialize", processId=None, rootUri=uri_of(place.path), capabilities={}, initializationOptions=options)
        client.tell("initialized")
    client.open(uri_of(path), text)
    end = {"line": text.count("\n") + 1, "character": 0}
    found = client.about("inlayHint", uri_of(path), range={"start": {"line": 0, "character": 0}, "end": end})
    lenses = client.about("codeLens", uri_of(path))
    client.end()
    lines = text.split("\n")
    hints = {(h["position"]["line"] + 1, lines[h["position"]["line"]][:h["position"]["character"]]): h["label"] for h in found}
    return hints, [x["command"]["title"] for x in lenses], client.info["capabilities"]


# ---- random scripts, and a model that counts ----
class Table:
    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows  # rows: dicts


def write(place, name, table):
    place.write(name, ",".join(table.columns) + "\n" + "".join(",".join(str(r[c]) for c in table.columns) + "\n" for r in table.rows))


class Writer:
    def __init__(self, draw):
        self.draw, self.fresh, self.want = draw, 0, {}
        self.files = {"a.csv": self.make(["k", "g", "x"], draw.randrange(1, 4000)), "b.csv": self.make(["k", "y"], draw.randrange(1, 60)),
                      "c.csv": self.make(["g", "z"], draw.randrange(1, 12))}
        self.tables, self.lines, self.shown = {}, [], []

    def make(self, columns, n):
        size = {"k": 50, "g": 7, "x": 100, "y": 100, "z": 100}
        return Table(columns, [{c: self.draw.randrange(size[c]) for c in columns} for _ in range(n)])

    def name(self):
        self.fresh += 1
        return f"n{self.fresh}"

    def step(self, t, depth=0):
        """A call behind |>, and what it gives."""
        draw, c = self.draw, self.draw.choice(t.columns)
        kind = draw.choice(["where", "where", "derive", "sort", "head", "tail", "distinct", "select", "join", "join", "where_in", "group", "drop", "semi"])
        if kind == "where":
            at = draw.randrange(100)
            return f"where({c} < {at})", Table(t.columns, [r for r in t.rows if r[c] < at])
        if kind == "where_in":
            some = sorted(draw.sample(range(50), 5))
            return f"where({c} in {some})", Table(t.columns, [r for r in t.rows if r[c] in some])
        if kind == "derive":
            new = self.name()
            return f"derive({new} = {c} + 1)", Table(t.columns + [new], [dict(r, **{new: r[c] + 1}) for r in t.rows])
        if kind == "sort":
            return f"sort({c})", Table(t.columns, sorted(t.rows, key=lambda r: r[c]))
        if kind in ("head", "tail"):
            n = draw.randrange(1, 300)
            return f"{kind}({n})", Table(t.columns, t.rows[:n] if kind == "head" else t.rows[-n:])
        if kind == "distinct":
            seen = {}
            for r in t.rows:
                seen.setdefault(r[c], r)
            return f"distinct({c})", Table(t.columns, list(seen.values()))
        if kind in ("select", "drop"):
            some = [x for x in t.columns if draw.random() < 0.6] or [c]
            if kind == "select":
                return f"select({', '.join(some)})", Table(some, t.rows)
            left = [x for x in t.columns if x not in some]
            return (f"drop({', '.join(some)})", Table(left, t.rows)) if left else self.step(t)
        if kind in ("join", "semi"):
            file = draw.choice(["b.csv", "c.csv"])
            other = self.files[file]
            on = other.columns[0]
            if on not in t.columns or other.columns[1] in t.columns or len(t.rows) > 20000:
                return self.step(t)
            at = draw.randrange(100)
            keys = {}
            for r in other.rows:
                if r[other.columns[1]] < at:
                    keys.setdefault(r[on], []).append(r)
            text = f'read_csv("{file}") |> where({other.columns[1]} < {at})'
            self.inner.append((text, Table(other.columns, other.rows), Table(other.columns, [r for r in other.rows if r[other.columns[1]] < at])))
            if kind == "semi":
                return f'join({text}, on = {on}, how = "semi")', Table(t.columns, [r for r in t.rows if r[on] in keys])
            return f"join({text}, on = {on})", Table(t.columns + [other.columns[1]], [dict(r, **o) for r in t.rows for o in keys.get(r[on], [])])
        groups = sorted({r[c] for r in t.rows})
        new = self.name()
        return f"group_by({c}) |> summarize({new} = count())", Table([c, new], [{c: g, new: sum(r[c] == g for r in t.rows)} for g in groups])

    def pipe(self, head, t, line):
        text = head
        for _ in range(self.draw.randrange(1, 5)):
            before, self.inner = t, []
            call, t = self.step(t)
            for inner, takes, gives in self.inner:
                at = call.index(inner)
                self.want[(line, f"{text} |> {call[:at]}{inner}")] = (takes, gives)
            text += f" |> {call}"
            self.want[(line, text)] = (None if "group_by" in call else before, t)
        return text, t

    def script(self):
        self.lines.append('let base = read_csv("a.csv")')
        self.tables["base"] = self.files["a.csv"]
        if self.draw.random() < 0.5:
            self.lines.append("fn few(t) = t |> where(k < 30)")
        for i in range(self.draw.randrange(2, 6)):
            name = self.draw.choice(list(self.tables))
            head, t = f"let t{i} = {name}", self.tables[name]
            line = len(self.lines) + 1
            if "few" in self.lines[1:2][0] if len(self.lines) > 1 else False:
                if "k" in t.columns and self.draw.random() < 0.4:
                    head += " |> few()"
                    before, t = t, Table(t.columns, [r for r in t.rows if r["k"] < 30])
                    self.want[(line, head)] = (before, t)
            text, t = self.pipe(head, t, line)
            self.lines.append(text)
            self.tables[f"t{i}"] = t
        for name, t in self.tables.items():
            how = self.draw.random()
            if how < 0.4:
                self.lines.append(f"show({name})")
            elif how < 0.8:
                self.lines.append(f"show({name} |> summarize(s = sum({t.columns[0]})))")
                self.want[(len(self.lines), self.lines[-1][:-1])] = (t, Table(["s"], [{}]))
        return "\n".join(self.lines) + "\n"


def rows_in_record(place, script="main.flow"):
    """{(line, column, length): (rows, columns of the table, {name: first cells})} of the steps in the record of a script."""
    for p in place.store.glob("records/*/*"):
        text = p.read_bytes()
        at = text.find(b"flow run 5\n")
        found = {}
        for words in (line.split(" ") for line in text[max(at, 0):].split(b"\n---\n")[0].decode().split("\n") if at >= 0):
            if words[0] == "rows":
                cells = {}
                if words[1] == "step":
                    found[int(words[3]), int(words[4]), int(words[5])] = (int(words[8]), int(words[9]), cells)
            elif words[0] == "cells":
                cells[words[2]] = [str(int(w, 16) - (1 << 64) * (int(w, 16) >> 63)) for w in words[4:]]
        if at >= 0:
            return found
    return {}


with_rows = without_rows = 0
SAYS = re.compile(r"^(?:([\d,]+) -> )?([\d,]+|\?) x (\d+)( in (\d+) goes)?( \(stale\))?$")
known = unknown = 0
for seed in range(SEED, SEED + ROUNDS):
    writer = Writer(random.Random(seed))
    place = Place()
    for file, table in writer.files.items():
        write(place, file, table)
    place.write("main.flow", writer.script())
    mode = writer.draw.choice([["--workers", "1"], ["--workers", "2"], ["--workers", "8"], ["-O0"], ["--interp"], ["--memory", "64M"]])
    options = [m for m in mode if m in ("-O0", "--interp")]
    done = place.run("run", *options, "main.flow", *[m for m in mode if m not in options])
    check(done.returncode == 0, f"seed {seed} runs", done.stderr + "\n".join(writer.lines))
    found = rows_in_record(place)
    at = {}
    for (line, column, length), has in found.items():
        at[line, writer.lines[line - 1][:column - 1 + length]] = has
    for key, (_, gives) in writer.want.items():
        if not all(gives.rows[:1]):
            continue
        n, of, cells = at.get(key, (None, 0, {}))
        with_rows, without_rows = with_rows + (n is not None), without_rows + (n is None)
        if n is None:
            continue
        want = {c: [str(r[c]) for r in gives.rows[:20]] for c in gives.columns}
        check((n, of) == (len(gives.rows), len(gives.columns)), f"seed {seed} {mode}: {key} has {len(gives.rows)} rows", (n, of))
        check(cells and all(cells[c] == want[c] for c in cells), f"seed {seed} {mode}: the first rows behind {key}", (cells, "\n".join(writer.lines)))
    hints, lenses, _ = asked(place)
    for (line, before), label in hints.items():
        says = SAYS.match(label)
        check(says, f"seed {seed}: a hint is rows and columns", label)
        if line == 2 and "few(t)" in before:
            continue
        check((line, before) in writer.want, f"seed {seed}: a hint stands behind a step", (line, before))
        takes, gives = writer.want.get((line, before), (None, None))
        if not says or not gives:
            continue
        number = lambda s: int(s.replace(",", ""))
        known, unknown = known + (says[2] != "?"), unknown + (says[2] == "?")
        if says[2] != "?":
            check(number(says[2]) == len(gives.rows), f"seed {seed} {mode}: line {line}, {len(gives.rows)} rows behind {before}", label + "\n" + "\n".join(writer.lines))
        check(int(says[3]) == len(gives.columns), f"seed {seed}: line {line}, {len(gives.columns)} columns behind {before}", label)
        if says[1] and takes:
            check(number(says[1]) == len(takes.rows), f"seed {seed} {mode}: line {line}, {len(takes.rows)} rows before {before}", label + "\n" + "\n".join(writer.lines))
        check(not says[6], f"seed {seed}: it is not stale", label)
    check(len(hints) >= len(writer.want), f"seed {seed}: each step has a hint", [len(hints), len(writer.want)])
print(f"{known} steps known, {unknown} not")
print(f"{with_rows} steps with rows, {without_rows} without")
check(with_rows > without_rows, "most steps have rows", [with_rows, without_rows])
check(known > 2 * unknown, "most steps are known", [known, unknown])

# ---- stale ----
place = Place(a__csv="k,x\n1,2\n2,3\n3,4\n", main__flow="""let t = read_csv("a.csv")
stage total(x: i64[n]) -> i64 = sum(x)
fn twice(x: i64) -> i64 = 2 * x
stage other(x: i64) -> i64 = twice(x)
let u = t |> where(k > 1)
print(total(u.x), other(3))
""")
text = (place.path / "main.flow").read_text()
hints, lenses, can = asked(place)
check(hints == {} and lenses == ["run"] and can["inlayHintProvider"] and "codeLensProvider" in can, "without a run", [hints, lenses])
place.run("run", "main.flow")
files = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in place.path.rglob("*")}
hints, lenses, _ = asked(place)
check(list(hints.values()) == ["2 x 2"] and re.match(r"run \u00b7 0 of 2 stages stale \u00b7 about [\d.e-]+ s$", lenses[0]), "after a run", [hints, lenses])
check(files == {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in place.path.rglob("*")}, "asking writes nothing")
hints, lenses, _ = asked(place, "# one more\n\n" + text)
check(hints == {(7, "let u = t |> where(k > 1)"): "2 x 2 (stale)"} and "0 of 2 stages stale, 2 unknown" in lenses[0], "other lines", [hints, lenses])
hints, lenses, _ = asked(place, text.replace("k > 1", "k > 2"))
check(list(hints.values()) == ["? x 2 (stale)"], "a line that is no more says nothing", hints)
hints, lenses, _ = asked(place, text.replace("2 * x", "3 * x"))
check("1 of 2 stages stale, 1 unknown" in lenses[0], "a function that a stage calls", lenses)
place.write("a.csv", "k,x\n1,2\n2,3\n3,4\n4,5\n")
hints, lenses, _ = asked(place)
check(list(hints.values()) == ["2 x 2 (stale)"] and "0 of 2 stages stale, 2 unknown" in lenses[0], "a file that has changed", [hints, lenses])
hints, lenses, can = asked(place, lastRun=False)
check(hints == {} and lenses == [] and not can["inlayHintProvider"] and "codeLensProvider" not in can, "switched off", [hints, lenses, can])
for p in place.store.glob("records/*/*"):
    data = p.read_bytes()
    for cut in (10, 200, len(data) - 5):
        p.write_bytes(data[:cut])
        check(asked(place)[0] == {}, "a record that is damaged is none")
finish()
