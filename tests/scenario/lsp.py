"""`flowc lsp` as an editor sees it: messages while typing, what names mean, completion, renaming, layout, colours; places in UTF-8 and
UTF-16; modules that are not saved; messages that are wrong.

What comes is compared with what was worked out by hand, with a model in Python of what an editor does with texts, and with
`flowc check --json`. Random edits: the server that saw each edit answers as a fresh one that sees the text as it is now.
FLOW_TEST_ROUNDS: how many edits; --all: 10,000. Each message is checked against the protocol's types where lsprotocol (PyPI) is there
(lsp_client.protocol)."""
import json
import os
import pathlib
import random
import re
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lsp_client import Client, applied, index_of, place, protocol, units, uri_of
from scenario_kit import ALL, PATIENCE, ROOT, SHORT, Place, check, finish

by_protocol = protocol()


def typed(method, message):
    why = by_protocol(method, message)
    check(why is None, f"{method} is as the protocol says", why)


folder = Place()
shutil.copytree(ROOT / "examples/data", folder.path / "data")

SCRIPT = '''## Flights that left late.
import "late.flow", linear
param least: i64 = 15  ## minutes

let t = read_csv("data/flights.csv")
type Pair = (x: f64, y: f64)

## The mean of what is late,
## in minutes.
fn late_mean(delay: i64?[_], from: i64) -> f64? {
  let kept = delay > from
  mean(delay, where = kept)
}

stage busiest(n: i64) {
  t
    |> where(dep_delay > least and not is_null(tailnum))
    |> group_by(carrier, month = origin)
    |> summarize(n = count(), late = late_mean(dep_delay, least))
    |> sort(-late)
    |> head(n)
}

let p: Pair = (x = 1.0, y = 2.0)
let `wide name` = [for k in 0..3: late.twice(f64(k)) + p.x]
busiest(5) |> show
print("{sum(`wide name`):.2f}, {late_mean([1, 20, 30], 15) ?? 0.0}")
test "late" {
  assert (late_mean([1, 20, 30], 15) ?? 0.0) == 25.0
}
'''
MODULE = '''## Twice as much.
fn twice(x: f64) -> f64 = x * 2.0

fn _own(x: f64) -> f64 = x
'''
folder.write("late.flow", MODULE)
folder.write("main.flow", SCRIPT)
MAIN, LATE = uri_of(folder.path / "main.flow"), uri_of(folder.path / "late.flow")


def spot(text, needle, nth=0, offset=0):
    at = -1
    for _ in range(nth + 1):
        at = text.index(needle, at + 1)
    return place(text, at + offset)


def shown(hover):
    return hover and hover["contents"]["value"]


client = Client(folder.path, check=typed)
check(client.info["serverInfo"]["name"] == "flow", "it says who it is")
client.open(MAIN, SCRIPT)
check(client.messages(MAIN) == [], "a script that is right has no messages", client.said)

# ---- hover: (name, which of them, what is shown)
HOVERS = [
    ("late_mean(dep_delay", 0, ["fn late_mean(delay: i64?[_], from: i64) -> f64?", "The mean of what is late,\nin minutes."]),
    ("least and", 0, ["least: i64", "minutes"]),
    ("dep_delay > least", 0, ["dep_delay: i64"]),
    ("carrier", 0, ["carrier: text"]),
    ("tailnum", 0, ["tailnum: text?"]),
    ("group_by", 0, ["group_by(t, ...)", "rows with equal keys together"]),
    ("twice(f64", 0, ["fn twice(x: f64) -> f64", "Twice as much."]),
    ("kept)", 0, ["kept: bool"]),
    ("busiest(5)", 0, ["stage busiest(n: i64)"]),
    ("Pair = (x = 1.0", 0, ["type Pair = (x: f64, y: f64)"]),
    ("p.x", 0, ["p: (x: f64, y: f64)"]),
    ("k)) + p", 0, ["k: i64"]),
]
for name, nth, wanted in HOVERS:
    found = shown(client.about("hover", MAIN, position=spot(SCRIPT, name, nth)))
    for part in wanted:
        check(found and part in found, f"hover of {name!r} says {part!r}", found)
check(client.about("hover", MAIN, position=spot(SCRIPT, "\n\nlet t", 0, 1)) is None, "nothing is said of an empty line")

# ---- definition, references, renaming
DEFINED = [("least and", 0, MAIN, "least: i64"), ("late_mean(dep", 0, MAIN, "late_mean(delay"), ("twice(f64", 0, LATE, "twice(x"),
           ("from\n", 0, MAIN, "from: i64"), ("n)\n}", 0, MAIN, "n: i64"), ("Pair = (x =", 0, MAIN, "Pair = (x: f64"),
           ("kept)", 0, MAIN, "kept = delay"), ("k)) + p", 0, MAIN, "k in 0")]
for name, nth, uri, wanted in DEFINED:
    found = client.about("definition", MAIN, position=spot(SCRIPT, name, nth))
    text = SCRIPT if uri == MAIN else MODULE
    check(found and found["uri"] == uri and found["range"]["start"] == spot(text, wanted), f"{name!r} is declared at {wanted!r}", found)
check(client.about("definition", MAIN, position=spot(SCRIPT, "group_by")) is None, "flow's own functions are declared nowhere")

for name in ["late_mean", "least", "kept", "busiest", "p", "t"]:
    first = re.search(rf"\b{name}\b(?=[(:= ])(?<!\.)", SCRIPT[SCRIPT.index("import"):])
    at = place(SCRIPT, SCRIPT.index("import") + first.start())
    uses = [m.start() for m in re.finditer(rf'(?<![.\w"/#]){name}\b(?!")', SCRIPT) if SCRIPT[SCRIPT.rfind("\n", 0, m.start()) + 1] != "#"]
    found = client.about("references", MAIN, position=at, context={"includeDeclaration": True}) or []
    check([r["range"]["start"] for r in found] == [place(SCRIPT, m) for m in uses], f"all places of {name!r} are found",
          f"{[r['range']['start'] for r in found]} instead of {[place(SCRIPT, m) for m in uses]}")
    marks = client.about("documentHighlight", MAIN, position=at) or []
    check([r["range"] for r in marks] == [r["range"] for r in found if r["uri"] == MAIN], f"and they are marked: {name!r}")
    can = client.about("prepareRename", MAIN, position=at)
    check(can and can["start"] == at, f"{name!r} can be renamed")
    done = client.about("rename", MAIN, position=at, newName="renamed_so")
    wanted = SCRIPT
    for m in reversed(uses):
        wanted = wanted[:m] + "renamed_so" + wanted[m + len(name):]
    check(done and applied(SCRIPT, done["changes"][MAIN]) == wanted, f"{name!r} is renamed everywhere")
done = client.about("rename", MAIN, position=spot(SCRIPT, "twice(f64"), newName="double it")
check(done and applied(MODULE, done["changes"][LATE]) == MODULE.replace("twice", "`double it`")
      and applied(SCRIPT, done["changes"][MAIN]) == SCRIPT.replace("twice", "`double it`"), "a name of a module is renamed there and here", done)
check(client.about("prepareRename", MAIN, position=spot(SCRIPT, "group_by")) is None, "flow's own functions keep their names")

# ---- symbols, folds, signatures, colours
symbols = client.about("documentSymbol", MAIN)
check([s["name"] for s in symbols] == ["least", "t", "Pair", "late_mean", "busiest", "p", "wide name", "late"], "what is at the top", symbols)
folds = client.about("foldingRange", MAIN)
line = lambda needle: SCRIPT[:SCRIPT.index(needle)].count("\n")
for first, last in [("fn late_mean", "stage busiest"), ("stage busiest", "let p: Pair"), ("test \"late\"", None)]:
    wanted = {"startLine": line(first), "endLine": (line(last) - 2 if last else SCRIPT.count("\n") - 1)}
    check(wanted in folds, f"{first!r} folds", f"{wanted} in {folds}")
check({"startLine": 7, "endLine": 8, "kind": "comment"} in folds, "comments fold", folds)
helped = client.about("signatureHelp", MAIN, position=spot(SCRIPT, "dep_delay, least))", 0, 11))
check(helped and helped["signatures"][0]["label"].startswith("fn late_mean(delay: i64?[_], from: i64)") and helped["activeParameter"] == 1,
      "which argument is being written", helped)
label = helped["signatures"][0]["label"]
check([label[a:b] for a, b in (p["label"] for p in helped["signatures"][0]["parameters"])] == ["delay: i64?[_]", "from: i64"], "its parameters", helped)
helped = client.about("signatureHelp", MAIN, position=spot(SCRIPT, "head(n)", 0, 5))
check(helped and helped["activeParameter"] == 1, "what is before `|>` is the first argument", helped)

kinds = client.info["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"]
data = client.about("semanticTokens/full", MAIN)["data"]
at_line = at_column = 0
colours = {}
for k in range(0, len(data), 5):
    step, column, length, kind, _ = data[k:k + 5]
    at_line, at_column = at_line + step, column if step else at_column + column
    start = index_of(SCRIPT, {"line": at_line, "character": at_column})
    colours[start] = (SCRIPT[start:start + length], kinds[kind])
for needle, word, kind in [("late_mean(dep", "late_mean", "function"), ("least and", "least", "parameter"), ("dep_delay > least", "dep_delay", "property"),
                           ("group_by", "group_by", "function"), ("Pair = (x =", "Pair", "type"), ("kept)", "kept", "variable")]:
    check(colours.get(SCRIPT.index(needle)) == (word, kind), f"{needle!r} is a {kind}", colours.get(SCRIPT.index(needle)))

# ---- completion in texts that are half written: what is typed behind the script, and names that are or are not offered
COLUMNS = ["dep_delay", "carrier", "distance"]
COMPLETED = [
    ("let z = t |> where(dep_d", COLUMNS + ["least", "mean"], ["kept"]),
    ("let z = t |> where(dep_delay > 3 and ", COLUMNS, []),
    ("let z = t |> where(dep_delay > 3 and )", COLUMNS, [], 1),
    ("let z = t\n  |> derive(far = distance > 1000)\n  |> group_by(fa", ["far"] + COLUMNS, []),
    ("let z = t |> group_by(carrier) |> summarize(late = mean(dep", COLUMNS, []),
    ("let z = t |> select(", COLUMNS, []),
    ("let z = t |> sort(-dis", COLUMNS, []),
    ("let z = p.", ["x", "y"], ["least", "mean"]),
    ("let z = t.", COLUMNS, ["least"]),
    ("let z = t.ca", COLUMNS, ["least"]),
    ("let z = late.", ["twice"], ["least", "x"]),
    ("let z = linear.", ["ridge"], ["least", "twice"]),
    ("let z = t |> gr", ["group_by", "busiest", "late_mean"], []),
    ("let z = quantile(t.distance, ", ["least", "`wide name`"], COLUMNS),
    ("fn g(first: f64, second: f64) = fir", ["first", "second", "least"], COLUMNS),
    ("fn g(first: f64) = {\n  let half = first / 2.0\n  let two = 2\n  ha", ["first", "half", "two"], COLUMNS),
    ("let z = [for i in 0..3, j in 0..i: ", ["i", "j"], ["kept"]),
    ("let z = map_rows(t, row => r", ["row"], []),
    ("wh", ["while"], []),
    ("let z = rank(t.distance, met", ["method"], []),
    ("let z = \"wh", [], ["while", "least"]),
    ('let z = "at {p.', ["x", "y"], ["least"]),
    ('let z = """\n  so "quoted" {p.', ["x", "y"], ["least"]),
    ('let z = """\n  so "quoted" wh', [], ["while", "least"]),
    ('let z = "{p.x} wh', [], ["while", "least"]),
    ('let z = "a\\" wh', [], ["while", "least"]),
    ('let z = r"\\" + le', ["least"], []),
    ('let z = t |> where(carrier == "', ["AA", "UA"], ["while", "least"]),
    ('let z = t |> where(carrier == "U', ["AA", "UA"], ["while", "least"]),
    ('let z = t |> where(carrier == "U")', ["AA", "UA"], [], 2),
    ('let z = t |> where(distance > 3 and carrier in ["AA", ""])', ["AA", "UA"], [], 3),
    ('let c = category(t.origin, levels = ["EWR", "JFK"])\nlet z = c == "', ["EWR", "JFK"], ["LGA"]),
    ('let z = t |> derive(carrier = lower(carrier)) |> where(carrier == "', [], ["AA", "aa"]),
    ('let z = read_csv("', ["data/"], ["main.flow"]),
    ('let z = read_csv("data/fl', ["data/flights.csv", "data/digits.csv"], []),
    ('let z = read_csv("data/fl", sep = ",")', ["data/flights.csv"], [], 13),
    ('import "', ["late.flow", "data/"], []),
    ('print("da', [], ["data/"]),
    ("# wh", [], ["while", "least"]),
    ("let z = 1", [], ["while", "least"]),
]
for typed_text, wanted, unwanted, *back in COMPLETED:
    text = SCRIPT + typed_text
    client.change(MAIN, {"text": text})
    found = client.about("completion", MAIN, position=place(text, len(text) - (back[0] if back else 0)))["items"]
    written = {item["insertText"] for item in found}
    check(set(wanted) <= written, f"{typed_text!r}: {wanted} are offered", f"lacks {set(wanted) - written} of {len(written)}")
    check(not written & set(unwanted), f"{typed_text!r}: {unwanted} are not", written & set(unwanted))
    columns = [item["insertText"] for item in sorted(found, key=lambda i: i["sortText"])]
    if wanted[:1] == COLUMNS[:1]:
        check(columns[0] not in ("abs", "let") and set(COLUMNS) <= set(columns[:20]), f"{typed_text!r}: columns first", columns[:20])

# ---- messages and what they propose, of a text that is not saved; a module that is not saved
text = SCRIPT.replace("dep_delay > least", "dep_delya > leest") + "print(late.twise(1.0))\n"
client.change(MAIN, {"text": text})
found = client.messages(MAIN)
check([m["code"] for m in found] and all(m["source"] == "flow" and m["severity"] == 1 for m in found), "messages about names", found)
check({place(text, text.index(w))["line"] for w in ("dep_delya", "twise")} <= {m["range"]["start"]["line"] for m in found}, "where the names are", found)
for m in found:
    actions = client.about("codeAction", MAIN, range=m["range"], context={"diagnostics": [m]})
    for action in actions:
        text_then = applied(text, action["edit"]["changes"][MAIN])
        check(text_then != text and action["kind"] == "quickfix", "an action edits")
fixed = text
for _ in range(6):  # the first proposal of the first message that has one, as somebody would who goes through them
    proposals = [a for m in client.messages(MAIN) for a in client.about("codeAction", MAIN, range=m["range"], context={"diagnostics": [m]})]
    if not proposals:
        break
    fixed = applied(fixed, proposals[0]["edit"]["changes"][MAIN])
    client.change(MAIN, {"text": fixed})
check(client.messages(MAIN) == [] and fixed == SCRIPT + "print(late.twice(1.0))\n", "proposals mend all of it", fixed[-200:])
client.change(MAIN, {"text": SCRIPT})
client.open(LATE, MODULE.replace("fn twice", "fn thrice"))
found = client.messages(MAIN)
check(len(found) == 1 and found[0]["range"]["start"] == spot(SCRIPT, "twice(f64"), "what a module lacks that is not saved", found)
client.change(LATE, {"text": MODULE.replace("x * 2.0", "x * \"two\"")})
found = client.messages(MAIN)
check(any(r["location"]["uri"] == LATE for m in found for r in m.get("relatedInformation", [])), "an error in a module says where it is", found)
client.change(LATE, {"text": MODULE})
check(client.messages(MAIN) == [] and client.messages(LATE) == [], "and both are right again")
client.tell("textDocument/didClose", textDocument={"uri": LATE})
while client.said[LATE].get("version"): client.read()
check(client.said[LATE]["diagnostics"] == [], "of a text that is closed there are no messages")

# ---- layout
loose = SCRIPT.replace("let p: Pair = (x = 1.0, y = 2.0)", "let   p:Pair=(x=1.0,y=2.0)").replace("  mean(", "      mean(")
client.change(MAIN, {"text": loose})
edits = client.about("formatting", MAIN, options={"tabSize": 2, "insertSpaces": True})
check(applied(loose, edits) == SCRIPT, "the layout of flowc fmt", edits)
client.change(MAIN, {"text": SCRIPT})
check(client.about("formatting", MAIN, options={}) == [], "what is laid out stays")
client.change(MAIN, {"text": SCRIPT + "let = "})
check(client.about("formatting", MAIN, options={}) is None, "what does not parse stays")

# ---- places in other units, and folders with names of all kinds
WIDE = 'let 气温 = [1.5, 2.5]  # 😀😀\nlet e = "😀é" + "x"; let s = mean(气温) + mean(温度)\r\nprint(s)\r\nlet k = "😀" + nothing\n'
odd = folder.path / "größe 100% & #1"
odd.mkdir()
for utf8 in (False, True):
    other = Client(folder.path, utf8=utf8, check=typed)
    uri = uri_of(odd / "ä b.flow")
    other.open(uri, WIDE)
    check(other.info["capabilities"]["positionEncoding"] == ("utf-8" if utf8 else "utf-16"), "the units that both know")
    found = other.messages(uri)
    starts = [m["range"]["start"] for m in found]
    wanted = place(WIDE, WIDE.index("温度"), utf8)
    check(wanted in starts, f"places after characters of 1 to 4 bytes (utf8: {utf8})", f"{wanted} in {starts}")
    check(place(WIDE, WIDE.index("nothing"), utf8) in starts, "and behind lines that end as on Windows", starts)
    at = place(WIDE, WIDE.index("气温) +"), utf8)
    declared = other.about("definition", uri, position=at)
    check(declared == {"uri": uri, "range": {"start": place(WIDE, 4, utf8), "end": place(WIDE, 6, utf8)}}, "the declaration of such a name", declared)
    check(other.end() == 0, "it ends well")

# ---- nothing that is wrong ends it, and it writes nothing
before = sorted(str(p) for p in folder.path.rglob("*"))
check(client.ask_whole("textDocument/nonsense", textDocument={"uri": MAIN})["error"]["code"] == -32601, "a request that is not known")
check(client.ask_whole("textDocument/hover", textDocument={"uri": "file:///not/open.flow"}, position=place("", 0))["error"]["code"] == -32602, "a text that is not open")
client.raw(b"nonsense\r\n\r\nContent-Length: 9\r\n\r\n{not json")
check(client.read()["error"]["code"] == -32700, "what is no JSON")
for wrong in ([], 5, {"id": 77}, {"id": {"a": 1}, "method": 5}, {"method": "textDocument/didChange", "params": 7},
              {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": 5, "text": []}}},
              {"method": "textDocument/didChange", "params": {"textDocument": {"uri": MAIN}, "contentChanges": [{"range": {}, "text": "x"}, 7, {"text": 5}]}},
              {"method": "$/cancelRequest", "params": {"id": 1}}):
    data = json.dumps(wrong).encode()
    client.raw(b"Content-Type: x\r\ncontent-length: %d\r\n\r\n" % len(data) + data)
for request in ("hover", "completion", "definition", "rename", "signatureHelp", "codeAction", "references"):
    for position in ({"line": 10**9, "character": 10**9}, {"line": -5, "character": -1}, {}, None, "x"):
        client.ask_whole("textDocument/" + request, textDocument={"uri": MAIN}, position=position, range=position, newName="x")
for head in ("stage heat(n]", "stage heat(n", "fn heat(n, k[1)", "fn heat((n)"):  # parameters lie within what is shown
    broken = head + " {\n  n\n}\nlet u = heat(3, 4)\n"
    client.change(MAIN, {"text": broken})
    helped = client.about("signatureHelp", MAIN, position=place(broken, broken.index("3, 4")))
    ends = [(p["label"][1], len(s["label"])) for s in (helped or {"signatures": []})["signatures"] for p in s["parameters"]]
    check(all(end <= whole for end, whole in ends), f"the parameters of `{head}`", helped)
client.change(MAIN, {"text": SCRIPT})
check(client.messages(MAIN) == [], "it goes on")
check(client.about("hover", MAIN, position=spot(SCRIPT, "carrier")) is not None, "and answers")
check(client.end() == 0, "it ends as it is told")
check(sorted(str(p) for p in folder.path.rglob("*")) == before, "it has written nothing")
early = Client(folder.path, start=False)
check(early.ask_whole("textDocument/hover")["error"]["code"] == -32002, "nothing before it is initialized")
early.raw(b"Content-Length: 50\r\n\r\n{\"half\": ")
check(early.drop() == 1, "an editor that is gone ends it")

# ---- random edits: as a fresh server
scripts = [p for p in sorted((ROOT / "examples").glob("?*.flow")) if p.stat().st_size < 6000]
BITS = ["(", ")", "{", "}", "\"", "|>", " ", "\n", ".", ",", "=", "let a = ", "t.", "sum(", "é😀", "# ", "=> ", "carrier", "1"]
rng = random.Random(int(os.environ.get("FLOW_TEST_SEED", "7")))
rounds = int(os.environ.get("FLOW_TEST_ROUNDS", "10000" if ALL else "60" if SHORT else "200"))
shutil.copytree(ROOT / "examples", folder.path / "examples", dirs_exist_ok=True)
old = Client(folder.path, check=typed)
slow = []


def answers(server, uri, text, spots):
    out = [server.messages(uri)]
    for request in ("documentSymbol", "foldingRange", "semanticTokens/full"):
        out.append(server.about(request, uri))
    for at in spots:
        for request in ("hover", "completion", "definition", "signatureHelp", "documentHighlight"):
            out.append(server.about(request, uri, position=place(text, at)))
    return out


def memory(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


done, used = 0, []
while done < rounds:
    path = folder.path / "examples" / rng.choice(scripts).name
    uri, text = uri_of(path), path.read_text()
    old.open(uri, text)
    for _ in range(8):
        changes = []
        for _ in range(rng.randrange(1, 4)):
            a = rng.randrange(len(text) + 1)
            b = min(len(text), a + rng.choice([0, 0, 1, 3, 30]))
            new = rng.choice(BITS) if rng.random() < 0.7 else ""
            changes.append({"range": {"start": place(text, a), "end": place(text, b)}, "text": new})
            text = text[:a] + new + text[b:]
        start = time.monotonic()
        old.change(uri, *changes)
        old.about("hover", uri, position=place(text, a))
        slow.append(time.monotonic() - start)
        done += 1
    spots = [rng.randrange(len(text) + 1) for _ in range(3)]
    fresh = Client(folder.path)
    fresh.open(uri, text)
    check(answers(old, uri, text, spots) == answers(fresh, uri, text, spots), f"{path.name}: as a fresh server", text)
    check(fresh.end() == 0, "the fresh one ends well")
    old.tell("textDocument/didClose", textDocument={"uri": uri})
    used.append(memory(old.process.pid))
if len(used) >= 200:  # what it keeps is of the texts that are open, not of the edits; by then each script was among them
    early, late = max(used[len(used) // 4:len(used) // 2]), max(used[len(used) * 3 // 4:])
    check(late < 1.25 * early + 8, "its memory stays", f"{early:.0f} MB, then {late:.0f} MB")
check(old.end() == 0, "it ends well after the edits")
slow.sort()
check(slow[len(slow) * 95 // 100] < 2 * PATIENCE, "edits are answered at once", slow[-5:])
if rounds > 200: print(f"edit and hover: median {slow[len(slow) // 2] * 1e3:.1f} ms, 95th percentile {slow[len(slow) * 95 // 100] * 1e3:.1f} ms")
finish()
