"""What a message proposes, done: `flowc check --json` has the edit that writes what "did you mean" says, and a script with that
edit no longer has the message. All broken scripts of tests/diag, names misspelt in the examples, and names that need
backticks."""
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

# Where a name stands that a script of the examples may get wrong: called, a field, an attribute, a named argument.
NAMES = re.compile(r"(?<=\|> )[a-z_]{5,}(?=\()|(?<=\.)[a-z_]{5,}\b|(?<=@)[a-z_]{4,}|(?<=[(,] )[a-z_]{5,}(?= = )")
OWN = {
    "backticks": "let t = table(`total price` = [1, 2])\nprint(sum(t.`total prise`))\n",
    "newline": "let t = table(`two\\nlines` = [1, 2])\nprint(t.`two\\nlinez`)\n",
    "level": 'let c = category(["o"], levels = ["long \\"b\\" \\{c}\\\\", "o"])\nprint(c == "long \\"b\\" \\{d}\\\\")\n',
    "method": "let t = table(a = [2, 1])\nprint(rank(t.a, method = \"dens\"))\n",
    "plot": "let t = table(a = [2, 1])\nt |> scatter(x = a, y = a) |> show\n",
    "type": "let x: floot = 1.0\ntype Float = f64\nlet y: Flot = 1.0\n",
    "unit": 'print(date_trunc("mont", date("2024-05-06")))\n',
    "two": "let first = 1\nprint(frist + fisrt)\n",
}


def messages(place, folder):
    done = place.run("check", "--json", folder)
    return {r["file"]: r["messages"] for r in json.loads(done.stdout)["results"]}


def edited(text, edit):
    """`line` and `column` count characters from 1, `length` bytes."""
    lines = text.split("\n")
    start = len("\n".join(lines[:edit["line"] - 1] + [""]).encode() if edit["line"] > 1 else b"")
    start += len(lines[edit["line"] - 1][:edit["column"] - 1].encode())
    data = text.encode()
    return (data[:start] + edit["text"].encode() + data[start + edit["length"]:]).decode()


place = Place()
before = place.path / "before"
before.mkdir()
for path in sorted((ROOT / "tests/diag").rglob("?*.flow")):
    if "did you mean" not in (path.with_suffix(".err").read_text(errors="replace") if path.with_suffix(".err").exists() else ""): continue
    shutil.copy(path, before / f"diag_{path.parent.name}_{path.name}")
for other in (ROOT / "tests/diag").rglob("*"):
    if other.is_file() and other.suffix not in (".flow", ".err", ".out"): shutil.copy(other, before / other.name)
shutil.copytree(ROOT / "examples/data", before / "data")
for path in sorted((ROOT / "examples").glob("?*.flow")):
    text = path.read_text()
    spots = [m for m in NAMES.finditer(text) if "#" not in text[text.rfind("\n", 0, m.start()) + 1:m.start()]]
    for k, m in enumerate(spots[::max(1, len(spots) // 6)]):
        name = m.group()
        spoilt = text[:m.start()] + name[:-2] + name[-1] + name[-2] + text[m.end():]
        if name[-1] != name[-2]: (before / f"example_{path.stem}_{k}.flow").write_text(spoilt)
for name, text in OWN.items():
    (before / f"own_{name}.flow").write_text(text)
found = messages(place, "before")
after = place.path / "after"
shutil.copytree(before, after, ignore=shutil.ignore_patterns("*.flow"))
wanted = {}
for name, said in found.items():
    text = pathlib.Path(place.path / name).read_text()
    for k, m in enumerate(said):
        proposed = re.match(r"did you mean [`\"]|in flow(: | it is )`|the values of the column: `|a function stands before ", m["help"] or "")
        check(bool(m["edits"]) == bool(proposed), f"{name}: {m['message']}: an edit where a name is proposed, and only there", m)
        for edit in m["edits"]:
            new = pathlib.Path("after") / f"{k}_{pathlib.Path(name).name}"
            (place.path / new).write_text(edited(text, edit))
            wanted[str(new)] = (name, m, edit)
again = messages(place, "after")
for new, (name, m, edit) in wanted.items():
    left = [x for x in again[new] if (x["code"], x["message"]) == (m["code"], m["message"])]
    same = [x for x in found[name] if (x["code"], x["message"]) == (m["code"], m["message"])]
    check(len(left) < len(same), f"{name}: `{edit['text']}` at {edit['line']}:{edit['column']} mends: {m['message']}", again[new])
for name in OWN:
    check(any(w[0] == f"before/own_{name}.flow" for w in wanted.values()), f"{name}: has an edit", found[f"before/own_{name}.flow"])
check(len(wanted) > 60, f"{len(wanted)} edits are tried")
finish()
