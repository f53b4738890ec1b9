"""Functions that nobody calls and whose parameters have no types: copies of all functions of the repository's scripts with
types erased are right (nothing is said of what may be anything), and one name that stands for nothing in the body of
such a copy is found, wherever it stands: as what is called, and as a value."""
import json
import pathlib
import random
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, SHORT, Place, check, finish

HEAD = re.compile(r"^fn ([a-z_][a-z_0-9]*)\(", re.M)
TABLES = re.compile(r"\|>|\b(where|select|derive|summarize|group_by|sort|join|matrix|table|rolling|distinct|top|plot|pivot|"
                    r"unpivot|split|kfold|complete|value_counts|best|rename|drop|fill_null|drop_null|col|outer|path)\b")


def closing(text, at):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if not depth: return i + 1
    return len(text)


def pieces(text):
    depth, last, out = 0, 0, []
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            out.append(text[last:i])
            last = i + 1
    return [p for p in out + [text[last:]] if p.strip()]


def erased(parameter):
    """`x: f64[n] = d` is `x: _[n] = d`: names of sizes are values in the body; a scalar loses its type."""
    m = re.match(r"\s*([a-z_0-9]+)\s*:\s*([A-Za-z_][\w.]*\??)(\[[^]]*\])?\s*(=.*)?$", parameter, re.S)
    if not m: return parameter
    return f" {m[1]}" + (f": _{m[3]}" if m[3] else "") + (f" {m[4]}" if m[4] else "")


def functions(text):
    for m in HEAD.finditer(text):
        end = re.compile(r"^(?=[A-Za-z#@\[\"(])", re.M).search(text, m.end())
        whole = text[m.start():end.start() if end else len(text)].rstrip() + "\n"
        close = closing(text, m.end() - 1) - m.start()
        if "(" in whole[close - 1:close] or "#" in whole or len(re.findall(rf"^fn {m[1]}\(", text, re.M)) > 1: continue
        yield m[1], whole[len(m[0]):close - 1], whole[close:]


def spoilt(rng, parameters, body):
    """The body with one name that stands for nothing, or None: of a function that is called, or of a value in one that has
    nothing to do with tables, whose columns nobody knows."""
    calls = [m for m in re.finditer(r"(?<![\w.`\"])[a-z_][a-z_0-9]*(?=\()", body)
             if m[0] not in ("if", "match", "for", "in", "and", "or", "not", "else", "while")]
    own = [re.match(r"\s*([a-z_0-9]+)", p)[1] for p in parameters]
    values = [m for name in own for m in re.finditer(rf"(?<![\w.`]){name}\b(?!\s*[=:]|`)", body)
              if not TABLES.search(body) and not re.search(r"[{,(]\s*$", body[:m.start()][-2:] if "\"" in body else "")
              and not re.search(rf"\b(let|var|for)\b[^=\n]*\b{name}\b|\b{name}\b[^\n]*=>", body)]
    spots = [m for m in calls + values if body[:m.start()].count('"') % 2 == 0]
    if not spots: return None
    m = rng.choice(spots)
    return body[:m.start()] + "zq_nothing" + body[m.end():], m.group()


def said(place, folder):
    done = place.run("check", "--json", folder)
    return {pathlib.Path(r["file"]).name: r["messages"] for r in json.loads(done.stdout)["results"]}


place = Place()
rng = random.Random(5)
for folder in ("typed", "open", "spoilt"):
    (place.path / folder).mkdir()
for top in ("stdlib", "examples", "tests/run"):
    for path in sorted((ROOT / top).rglob("?*.flow")):
        text = path.read_text(errors="replace")
        if 'import "' in text or "read_" in text and top == "tests/run" or len(text) > 40000: continue
        found = list(functions(text))
        if not found: continue
        name = f"{path.parent.name}_{path.name}"
        typed = [f"fn again_{f}({p}){b}" for f, p, b in found]
        opened = [f"fn again_{f}({','.join(erased(q) for q in pieces(p))}){b}" for f, p, b in found]
        (place.path / "typed" / name).write_text(text + "\n" + "\n".join(typed))
        (place.path / "open" / name).write_text(text + "\n" + "\n".join(opened))
for other in ("examples/data", "tests/run/data"):
    for folder in ("typed", "open", "spoilt"):
        if (ROOT / other).exists(): shutil.copytree(ROOT / other, place.path / folder / "data", dirs_exist_ok=True)

well = {name for name, messages in said(place, "typed").items() if not messages}
after = said(place, "open")
for name in sorted(well):
    check(not after[name], f"{name}: nothing is wrong with its functions without types", after[name])
check(len(well) > 60, f"{len(well)} scripts have functions")

wanted = {}
names = sorted(well)
for k in range(120 if SHORT else 400):
    name = rng.choice(names)
    text = (place.path / "typed" / name).read_text()
    before = text[:text.index("\nfn again_")]
    f, p, b = rng.choice(list(functions(before)))
    bad = spoilt(rng, pieces(p), b)
    if not bad: continue
    new = f"{k}_{name}"
    (place.path / "spoilt" / new).write_text(before + f"\nfn again_{f}({','.join(erased(q) for q in pieces(p))}){bad[0]}")
    wanted[new] = (f, bad[1])
found = said(place, "spoilt")
for new, (f, was) in wanted.items():
    check(any("zq_nothing" in m["message"] for m in found[new]), f"{new}: `{was}` of `{f}`, misspelt, is found", found[new])
check(len(wanted) > 60, f"{len(wanted)} names are misspelt")
finish()
