#!/usr/bin/env python3
"""An error of syntax in one statement, an error of meaning in another: `flowc check` says both, and nothing else. Scripts of
examples/ and tests/run that check clean get `let nowhere_K = nowhere_name_K` somewhere, and another of their statements loses a
bracket or an operand, gets a token twice, a stray one, or an operand behind a `}`. Where that leaves the brackets of blocks or texts open, flowc says what is
wrong with the syntax alone; that is counted apart. Prints "N passed, N failed".

    both_errors.py [--count 400] [--seed 1] [--show N]"""
import argparse
import json
import pathlib
import random
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import scenario_kit as kit  # noqa: E402
from scenario_kit import check  # noqa: E402

TOKEN = re.compile(r'#[^\n]*|"""(?:.|\n)*?"""|r#".*?"#|r"[^"\n]*"|"(?:\\.|[^"\\\n])*"|`[^`\n]*`|\d[\w.]*(?:[eE][-+]\d+)?|[A-Za-z_]\w*'
                   r"|\|>|=>|->|==|!=|<=|>=|\.\.|//|\?\?|~=|\+=|[ \t]+|\n|.")
STRAY = ["?", ")", "]", ",", "=>", "in", "=", "else", ".", "|>", "+", "x y"]
OPERATORS = {"+", "*", "/", "-", "==", "<", ">", "<=", ">=", "^", "=", "|>", "and", "or", "=>"}
EXACT = 0.97  # of those whose blocks are whole: the least share that says both and nothing else

parser = argparse.ArgumentParser()
parser.add_argument("--count", type=int, default=400)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--show", type=int, default=5)
options = parser.parse_args()


def statements(text):
    """Where the statements at the top level begin and end: lines whose first character is no space, closing bracket or pipe."""
    lines = text.splitlines(keepends=True)
    starts, quoted = [], False
    for i, line in enumerate(lines):
        if i and lines[i - 1].startswith("@"):
            continue  # what an attribute is of
        if not quoted and re.match(r"[A-Za-z_@(\[]", line) and not line.startswith("else"):
            starts.append(i)
        quoted ^= line.count('"""') % 2 == 1
    return lines, starts


def broken(rng, text):
    """The text with one mistake of syntax, or None."""
    tokens = TOKEN.findall(text)
    kind = rng.choice(["bracket", "double", "stray", "operand", "behind"])
    solid = [i for i, t in enumerate(tokens) if t.strip() and not t.startswith("#")]
    if kind == "bracket":
        places = [i for i in solid if tokens[i] in ")]"]
    elif kind == "behind":
        places = [i for i in solid if tokens[i] == "}"]
    elif kind == "operand":
        places = [b for a, b in zip(solid, solid[1:]) if tokens[a] in OPERATORS and re.fullmatch(r"[\w.]+", tokens[b])]
    else:
        places = [i for i in solid if tokens[i] not in ("{", "}")]
    if not places:
        return None
    i = rng.choice(places)
    if kind in ("bracket", "operand"):
        tokens[i] = ""
    elif kind == "double":
        tokens[i] += " " + tokens[i]
    elif kind == "behind":
        tokens[i] += rng.choice([" 3", " f(1, 2)", " [4]", ' "t"', " (5)", " name + 1"])
    else:
        tokens[i] += " " + rng.choice(STRAY)
    return "".join(tokens)


def verdicts(place, files):
    """Messages of each file."""
    out = {}
    for k in range(0, len(files), 100):
        done = place.run("check", "--json", *files[k:k + 100])
        check(done.returncode in (0, 3), "flowc check ends with 0 or 3", done.stderr)
        for one in json.loads(done.stdout)["results"]:
            out[one["file"]] = one["messages"]
    return out


place = kit.Place()

# A module with an error of syntax: its other errors are said, and nobody misses what is damaged.
place.write("part.flow", "fn whole(x) = x + 1\nfn half(x = x / 2\ntype Pair = (a f64)\nlet wrong = nowhere_1\n")
place.write("user.flow", """import "part.flow" as part
import "open.flow" other
let a = part.whole(1) + part.half(4)
let b: part.Pair = (a = 1.0)
let c = part.none
let d = nowhere_2
""")
place.write("open.flow", "fn f(x) {\n  x + 1\nlet kept = 3\n")
place.write("user_of_open.flow", 'import "open.flow" as open\nlet a = open.f(1) + open.kept\nlet t: open.Row = 1\nlet b = nowhere_3\n')
for name, want in (("user.flow", ["part.flow:2 E0102", "part.flow:3 E0101", "part.flow:4 E0201", "user.flow:2 E0101", "user.flow:5 E0205",
                                  "user.flow:6 E0201"]),
                   ("user_of_open.flow", ["open.flow:1 E0102", "user_of_open.flow:4 E0201"])):
    said = verdicts(place, [name])[name]
    check(sorted(f"{m['file']}:{m['line']} {m['code']}" for m in said) == want, f"what is said of {name}", said)
    check([m["line"] for m in said if m["file"] == name] == sorted(m["line"] for m in said if m["file"] == name), "in the order of lines")

# An operand directly behind a block, and tokens too many in an attribute: each is one message, and the unknown name another.
BEHIND = ["({ 1 } X)", "[{ 1 } X, 2]", "abs({ 1 } X)", "{ 1 } X", "if k == 1 { 2 } else { 3 } X", "(match k { 1 => 2, _ => 3 } X)",
          "[match k { 1 => { 2 } X, _ => 3 }]", "({ 1 } X + 2)", "{ let z = ({ 1 } X); z }", "[for i in 0..3: { i } X]"]
for number, (form, operand) in enumerate((b, o) for b in BEHIND for o in ("name", "3", "f(1, 2)", "[4]", '"t"', "(5)")):
    place.write(f"behind_{number}.flow", f"let k = 1\nlet a = {form.replace('X', operand)}\nlet b = a\nlet d = nowhere\n")
for number, inside in enumerate(("(d ?)", "(d d)", "(d", "(d))", "(d .)", "(= d)", "(d in)", "(d else)", "(d |>)", "(d = )", "(, d)", " d",
                                 "(d]", "(d) 1", "(d +)", "(d,, d)", "((d)", "(d let)")):
    place.write(f"attribute_{number}.flow", "fn d(p: f64, y: f64, a: f64) -> f64 = a\n@derivative" + inside + "\nfn g(p: f64) -> f64 = p * p\n"
                "print(grad(g)(1.0))\nlet e = nowhere\n")
for name, said in verdicts(place, sorted(p.name for p in place.path.glob("[ab]*_*.flow"))).items():
    codes = [m["code"] for m in said]
    check(len(codes) == 2 and codes[0] < "E02" and codes[1] == "E0201", f"{name}: one message about syntax, one about the name",
          (place.path / name).read_text() + "\n".join(f"{m['line']}: {m['code']} {m['message']}" for m in said))

sources = []
for folder in ("examples", "tests/run"):
    to = place.path / folder
    shutil.copytree(kit.ROOT / folder, to, dirs_exist_ok=True)
    sources += sorted(str(p.relative_to(place.path)) for p in to.rglob("?*.flow") if p.stat().st_size < 6000)
rng = random.Random(options.seed)
rng.shuffle(sources)
sources = sources[:max(60, options.count // 4)]
clean = [f for f, said in verdicts(place, sources).items() if not said]
check(len(clean) > 30, "there are scripts that check clean", f"{len(clean)} of {len(sources)}")

mutants = {}
tries = 0
while len(mutants) < options.count and tries < options.count * 20:
    tries += 1
    name = rng.choice(clean)
    lines, starts = statements((place.path / name).read_text())
    if len(starts) < 3:
        continue
    k = rng.randrange(len(starts))
    from_, to = starts[k], starts[k + 1] if k + 1 < len(starts) else len(lines)
    bad = broken(rng, "".join(lines[from_:to]))
    at = rng.choice([s for s in starts if s != k] or starts)
    if bad is None or from_ < at < to or at == from_:
        continue
    unknown = f"nowhere_name_{len(mutants)}"
    wrong = f"let nowhere_{len(mutants)} = {unknown}\n"
    text = "".join(lines[:at]) + wrong + "".join(lines[at:from_]) + bad + "".join(lines[to:]) if at <= from_ else (
        "".join(lines[:from_]) + bad + "".join(lines[to:at]) + wrong + "".join(lines[at:]))
    file = f"{name[:-5]}.{len(mutants)}.flow"
    (place.path / file).write_text(text)
    mutants[file] = unknown

counts = {"exact": 0, "blocks": 0, "hidden": 0, "more": 0, "valid": 0}
shown = 0
SYNTAX = re.compile(r"E01\d\d|E00\d\d")
BLOCKS = re.compile(r"`[{}]`|`\"|text")
for file, said in verdicts(place, list(mutants)).items():
    errors = [m for m in said if m["level"] == "error"]
    syntax = [m for m in errors if SYNTAX.fullmatch(m["code"])]
    named = [m for m in errors if mutants[file] in m["message"]]
    others = [m for m in errors if m not in syntax and m not in named]
    if not syntax:
        kind = "valid"  # the change happens to be right
    elif not named and not others and any(m["code"] in ("E0102", "E0103") or BLOCKS.search(m["message"]) for m in syntax) and any(
            "{" in m["message"] or "}" in m["message"] for m in syntax):
        kind = "blocks"
    elif others:
        kind = "more"
    elif not named:
        kind = "hidden"
    else:
        kind = "exact"
    counts[kind] += 1
    if kind in ("more", "hidden") and shown < options.show:
        shown += 1
        print(f"{kind}: {file}")
        for m in errors:
            print(f"    {m['line']}: {m['code']} {m['message']}")
        if options.show > 5:
            for n in sorted({m["line"] for m in errors}):
                print(f"    {n:4} | " + (place.path / file).read_text().splitlines()[min(n, len((place.path / file).read_text().splitlines())) - 1])
n = counts["exact"] + counts["hidden"] + counts["more"]
print(counts, f"{counts['exact'] / max(n, 1):.3f} exact")
check(n >= options.count // 2, "most changes are errors of syntax", counts)
check(counts["exact"] >= EXACT * n, f"at least {EXACT:.0%} say both errors and nothing else", counts)
kit.finish()
