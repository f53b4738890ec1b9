"""Rows of a step of a pipe, as an editor shows them: random scripts, and a model in Python of what each step gives; what is switched off; what
is not run; large files, of which a sample is read; and names that are renamed in files that nobody has opened.
FLOW_TEST_SEED, FLOW_TEST_ROUNDS: which scripts, and how many."""
# seconds: 20
import os
import pathlib
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lsp_client import Client, applied, place as position, protocol, uri_of
from scenario_kit import SHORT, Place, check, finish

ROUNDS = int(os.environ.get("FLOW_TEST_ROUNDS", "10" if SHORT else "40"))
rng = random.Random(int(os.environ.get("FLOW_TEST_SEED", "3")))
wrong = protocol()


def typed(method, message):
    why = wrong(method, message)
    check(why is None, f"{method} is as the protocol says", why)


def shown(client, uri, text, at):
    """(columns, rows, how many there are, of which files a sample) of the hover at a place of the text; None: no rows."""
    hover = client.about("hover", uri, position=position(text, at))
    found = hover and re.search(r"```text\n(.*?)```\n\n(?:the first 5 of )?([\d,]+) rows?(?: of a sample, what is read first of (.*))?$",
                                hover["contents"]["value"], re.S)
    if not found:
        return None
    lines = [re.split(r" {2,}", line.strip()) for line in found[1].splitlines()]
    return lines[0], [] if lines[3:] == [["0 rows"]] else lines[3:], int(found[2].replace(",", "")), found[3]


# ---- random scripts and a model: a table is columns, and rows as dictionaries of integers
class Writer:
    def __init__(self):
        self.lines, self.tables, self.wanted, self.n = [], {}, [], 0
        self.vars = {"least": rng.randrange(0, 40)}
        self.lines.append(f"var least = {self.vars['least']}")

    def fresh(self, stem):
        self.n += 1
        return f"{stem}{self.n}"

    def named(self, stem):
        name = self.fresh(stem)
        return f"`{name} ä`" if rng.random() < 0.3 else name

    def step(self, table, names):
        """(text, table) of a verb; names: values of names that it may use."""
        columns, rows = table
        c = rng.choice(columns)
        kind = rng.choice(["where", "where", "sort", "head", "derive", "summarize", "select", "join"])
        if kind == "where":
            name = rng.choice([*names, None])
            bound = names[name] if name else rng.randrange(0, 60)
            return f"where({c} >= {name or bound})", (columns, [r for r in rows if r[c] >= bound])
        if kind == "sort":
            down = rng.random() < 0.5
            return f"sort({'-' if down else ''}{c})", (columns, sorted(rows, key=lambda r: -r[c] if down else r[c]))
        if kind == "head":
            n = rng.randrange(0, 30)
            return f"head({n})", (columns, rows[:n])
        if kind == "derive":
            new, d = self.fresh("d"), rng.choice(columns)
            return f"derive({new} = {c} * 2 + {d})", (columns + [new], [dict(r, **{new: r[c] * 2 + r[d]}) for r in rows])
        if kind == "select" and len(columns) > 1:
            kept = rng.sample(columns, rng.randrange(1, len(columns)))
            return f"select({', '.join(kept)})", (kept, rows)
        if kind == "join" and "k" in columns and "y" not in columns:
            by = {r["k"]: r for r in self.tables["b"][1]}
            return "join(b, on = k)", (columns + ["y"], [dict(r, y=by[r["k"]]["y"]) for r in rows if r["k"] in by])
        groups = {}
        for r in rows:
            groups.setdefault(r[c], []).append(r)
        d, new, many = rng.choice(columns), self.fresh("s"), self.fresh("n")
        out = [{c: g, many: len(groups[g]), new: sum(r[d] for r in groups[g])} for g in sorted(groups)]
        return f"group_by({c}) |> summarize({many} = count(), {new} = sum({d}))", ([c, many, new], out)

    def pipe(self, source, names, indent=""):
        """Text of a pipe, its table; each step is wanted, by where it begins in the text."""
        text, table = source, self.tables[source]
        spots = []
        for _ in range(rng.randrange(1, 5)):
            step, table = self.step(table, names)
            text += rng.choice([" |> ", f"\n{indent}  |> "])
            at = len(text) + (step.index("|> ") + 3 if "|> " in step else 0)
            spots.append((at, table))
            text += step
        return text, table, spots

    def want(self, offset, spots):
        base = sum(len(line) + 1 for line in self.lines) + offset
        self.wanted += [(base + at, table) for at, table in spots]

    def statement(self):
        source = rng.choice(list(self.tables))
        kind = rng.choice(["let", "let", "show", "stage", "fn", "assign", "loop"])
        if kind == "loop":
            n = rng.randrange(1, 4)
            self.lines.append(f"for i in 0..{n} {{ least += i + 1 }}")
            self.vars["least"] += sum(range(1, n + 1))
        elif kind == "assign":
            self.vars["least"] = rng.randrange(0, 50)
            self.lines.append(f"least = {self.vars['least']}")
        elif kind == "show":
            text, _, spots = self.pipe(source, self.vars)
            self.want(0, spots)
            self.lines.append(text + " |> show")
        elif kind == "let":
            name = self.named("t")
            text, table, spots = self.pipe(source, self.vars)
            self.want(len(f"let {name} = "), spots)
            self.lines.append(f"let {name} = {text}")
            self.tables[name] = table
        else:
            name, given, before = self.named("f"), rng.randrange(0, 50), rng.random() < 0.5
            head = f"stage {name}(from: i64) {{\n  " if kind == "stage" else f"fn {name}(t: _, from: i64) {{\n  "
            inner = "" if not before else f"let more = from + 1\n  "
            local = "t" if kind == "fn" else source
            if kind == "fn":
                self.tables["t"] = self.tables[source]
            text, table, spots = self.pipe(local, {"from": given, **({"more": given + 1} if before else {})}, "  ")
            self.tables.pop("t", None)
            self.want(len(head + inner), spots)
            self.lines.append(head + inner + text + "\n}")
            call = f"{name}({given})" if kind == "stage" else rng.choice([f"{name}({source}, {given})", f"{source} |> {name}({given})"])
            out = self.named("t")
            self.lines.append(f"let {out} = {call}")
            self.tables[out] = table


def table(columns, n):
    return columns, [{c: rng.randrange(0, 60 if c != "g" else 5) for c in columns} for _ in range(n)]


def write(place, name, columns, rows):
    place.write(name, "\n".join([",".join(columns)] + [",".join(str(r[c]) for c in columns) for r in rows]) + "\n")


found = asked = 0
for k in range(ROUNDS):
    place = Place()
    w = Writer()
    w.tables = {"a": table(["k", "g", "x"], rng.choice([1, 30, 400])), "b": (["k", "y"], [{"k": i, "y": rng.randrange(9)} for i in range(0, 60, 2)])}
    for name in ("a", "b"):
        write(place, name + ".csv", *w.tables[name])
        w.lines.append(f'let {name} = read_csv("{name}.csv")')
    w.lines += ['import "m.flow"', 'print("here", a |> len)']
    place.write("m.flow", "fn one() = 1\n")
    for _ in range(8):
        w.statement()
    text = "\n".join(w.lines) + "\n"
    place.write("main.flow", text)
    client, uri = Client(place.path, env=place.env, check=typed), uri_of(place.path / "main.flow")
    client.open(uri, text)
    said = client.messages(uri)
    check(all(m["severity"] != 1 for m in said), "the script is right", f"{said}\n{text}")
    for at, (columns, rows) in w.wanted:
        got = shown(client, uri, text, at)
        asked += 1
        found += got is not None
        if got is None:
            check(False, "rows are shown", f"{text[at:at + 40]!r} of\n{text}")
            continue
        wanted = (columns, [[str(r[c]) for c in columns] for r in rows[:5]], len(rows), None)
        check(got == wanted, f"the rows of {text[at:at + 40]!r}", f"{got}\n{wanted}\n{text}")
    check(client.end() == 0, "it ends well")
check(found == asked and asked > 5 * ROUNDS, "all steps were shown", f"{found} of {asked}")

# ---- nothing is run that does more than print, and nothing is written
place = Place(t__csv="k,x\n1,2\n3,4\n")
(place.path / "sub").mkdir()
TEXT = '''let t = read_csv("t.csv")
let made = exec("touch made; echo 5", allow = true)
extern fn hypot(x: f64, y: f64) -> f64 from "m"
t |> write_csv("out.csv")
let far = t |> where(x > 1) |> derive(h = hypot(f64(x), 1.0))
let u = t |> sort(-x) |> head(1)
let slow = t |> derive(s = sum(for i in 0..2_000_000_000: f64(i) * f64(x)))
let wrong = t |> where(nothing > 1)
let rows = [for n in 1..3: len(t |> where(x > n))]
let f = t => t |> where(x > 100)
let few = t |> derive(t = x) |> where(len(t |> head(1)) > 0)
let grouped = t |> group_by(k)
let ran = table(a = [exec("touch ran; echo 5", allow = true)]) |> head(2)
let told = table(a = [env("HOME") ?? ""]) |> head(3)
let queried = sql("select 1 as one") |> head(4)
fn never(t: _) = t |> head(5)
var n = 0
while n < 100_000_000_000 { n += 1 }
let waits = t |> where(k > n)
'''
client, uri = Client(place.path, env=place.env, check=typed, options={"rowsWithin": 3000}), uri_of(place.path / "main.flow")
client.open(uri, TEXT)
at = lambda needle: TEXT.index(needle)
check(shown(client, uri, TEXT, at("sort(-x)")) == (["k", "x"], [["3", "4"], ["1", "2"]], 2, None), "rows, in a script with errors elsewhere, and with an effect before",
      shown(client, uri, TEXT, at("sort(-x)")))
check(shown(client, uri, TEXT, at("|> sort(-x)")) == shown(client, uri, TEXT, at("sort(-x)")), "also at the |>")
for needle, why in (("derive(h", "a C function"), ("derive(s", "what takes too long"), ("where(k > n", "what is behind that"), ("where(nothing", "what is wrong"), ("where(x > n", "in a loop"), ("where(x > 100", "in a lambda"),
                    ("head(1)) > 0", "where names are columns"), ("group_by(k", "groups"),
                    ("head(2)", "a program"), ("head(3)", "the environment"), ("head(4)", "a query"), ("head(5)", "a function that nobody calls")):
    start = time.monotonic()
    check(shown(client, uri, TEXT, at(needle)) is None, f"no rows of {why}")
    check(time.monotonic() - start < 30, f"no more time than it has: {why}", time.monotonic() - start)
check(sorted(p.name for p in place.path.iterdir() if not p.name.startswith(".")) == ["sub", "t.csv"], "nothing was written", list(place.path.iterdir()))
processes = subprocess.run(["ps", "--ppid", str(client.process.pid), "-o", "pid="], capture_output=True, text=True).stdout.split()
check(processes == [], "no process is left", processes)
check(client.end() == 0, "it ends well")

# ---- killed while it waits for rows: nothing is left
client = Client(place.path, env=place.env)
client.open(uri, TEXT)
client.messages(uri)
client.send({"id": 77, "method": "textDocument/hover", "params": {"textDocument": {"uri": uri}, "position": position(TEXT, at("where(k > n"))}})
children = []
for _ in range(200):
    children = subprocess.run(["ps", "--ppid", str(client.process.pid), "-o", "pid="], capture_output=True, text=True).stdout.split() or children
    if children:
        break
    time.sleep(0.02)
check(len(children) == 1, "a process of its own", children)
client.process.kill()
client.process.wait()
for _ in range(200):
    left = [p for p in children if pathlib.Path(f"/proc/{p}").exists() and pathlib.Path(f"/proc/{p}/stat").read_text().split()[2] != "Z"]
    if not left:
        break
    time.sleep(0.02)
check(left == [], "it ends with the server", left)
client.process.stdin.close()
client.process.stdout.close()

# ---- a sample of a large file; paths in the folder that is open; a file that changes
lines = ["k,note"] + [f'{k},"a\nb{k}"' for k in range(200000)]
place.write("big.csv", "\n".join(lines) + "\n")
first = (place.path / "big.csv").read_bytes()[:1 << 20].decode()
whole = [r for r in re.findall(r'(\d+),"a\nb\d+"\n', first)]
TEXT = f'let t = read_csv("big.csv") |> where(k % 2 == 0)\nlet far = read_csv("{place.path}/big.csv") |> head(9)\nlet u = read_csv("t.csv") |> where(x > 1)\n'
client = Client(place.path, env=place.env, check=typed)
for name in ("main.flow", "sub/other.flow"):
    uri = uri_of(place.path / name)
    client.open(uri, TEXT)
    got = shown(client, uri, TEXT, TEXT.index("where"))
    check(got and got[2] == sum(int(k) % 2 == 0 for k in whole) and got[3] == "`big.csv`", f"{name}: a sample of a large file", f"{got} of {len(whole)}")
    got = shown(client, uri, TEXT, TEXT.index("head(9)"))
    check(got and got[2] == 9 and got[3] == f"`{place.path}/big.csv`", f"{name}: by its whole path", got)
    check(shown(client, uri, TEXT, TEXT.index("where(x")) == (["k", "x"], [["1", "2"], ["3", "4"]], 2, None), f"{name}: a small one", shown(client, uri, TEXT, TEXT.index("where(x")))
place.write("t.csv", "k,x\n5,6\n")
check(shown(client, uri, TEXT, TEXT.index("where(x"))[1] == [["5", "6"]], "a file that has changed")
place.write("t.csv", "k,y\n5,6\n")
client.tell("textDocument/didSave", textDocument={"uri": uri})
check(any("`x`" in m["message"] for m in client.messages(uri)), "a file whose columns have changed", client.messages(uri))
time.sleep(0.3)
check(any("`x`" in m["message"] for m in client.messages(uri)), "also when it is asked again")
place.write("t.csv", "k,x\n5,6\n")
client.tell("textDocument/didSave", textDocument={"uri": uri})
check(client.messages(uri) == [], "and back", client.messages(uri))
check(client.end() == 0, "it ends well")
off = Client(place.path, env=place.env, check=typed, options={"rows": False})
off.open(uri, TEXT)
check(shown(off, uri, TEXT, TEXT.index("where")) is None, "rows are switched off")
check(off.end() == 0, "it ends well")

# ---- a name is renamed in files of the folder that nobody has opened or imported
FILES = {"lib.flow": "## Twice.\nfn twice(x: f64) = x * 2.0\nfn other(x: f64) = twice(x)\nfn _own() = 1\ntype Pair = (a: f64, b: f64)\n",
         "a.flow": 'import "lib.flow"\nprint(lib.twice(1.0))\nlet twice = 3\nprint(twice)\n',
         "sub/b.flow": 'import "../lib.flow" as l\nfn f(p: l.Pair) = l.twice(p.a)  # twice\nprint("{l.twice(2.0)}")\n',
         "sub/c.flow": "fn twice(x: f64) = x\nprint(twice(1.0))\n",
         "sub/d.flow": 'import "c.flow"\nprint(c.twice(1.0))\n',
         ".hidden/e.flow": 'import "../lib.flow"\nprint(lib.twice(1.0))\n', "broken.flow": 'import "lib.flow"\nlet = \nprint(lib.twice(1.0), )(\n'}
place = Place()
for name, text in FILES.items():
    (place.path / name).parent.mkdir(exist_ok=True)
    place.write(name, text)
LIB = FILES["lib.flow"]
for opened in (["lib.flow"], ["lib.flow", "sub/b.flow"], ["a.flow"]):
    client = Client(place.path, env=place.env, check=typed)
    for name in opened:
        client.open(uri_of(place.path / name), FILES[name])
    name = opened[0]
    done = client.about("rename", uri_of(place.path / name), position=position(FILES[name], FILES[name].index("twice(")), newName="double")["changes"]
    then = {path: applied(text, done.get(uri_of(place.path / path), [])) for path, text in FILES.items()}
    for path, text in FILES.items():
        right = {"lib.flow": LIB.replace("twice(", "double("), "a.flow": text.replace("lib.twice", "lib.double"), "sub/b.flow": text.replace("l.twice", "l.double")}.get(path, text)
        check(then[path] == right or path == "broken.flow", f"{opened} is open: renamed in {path}", then[path])
    uses = client.about("references", uri_of(place.path / name), position=position(FILES[name], FILES[name].index("twice(")), context={"includeDeclaration": True})
    check(sorted(u["uri"].rsplit("/", 1)[1] for u in uses if "broken" not in u["uri"]) == ["a.flow", "b.flow", "b.flow", "lib.flow", "lib.flow"], f"{opened} is open: all uses", uses)
    check(client.end() == 0, "it ends well")
finish()
