"""The table "Same name, another meaning" of docs/cookbook.md: flow gives what its second column says, the libraries what the fourth one says
(same_names/values.txt, which same_names/make.py writes by running them), these differ, and the last column gives in flow what they give."""
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

place = Place()
section = (ROOT / "docs/cookbook.md").read_text().split("## Same name, another meaning")[1].split("\n## ")[0]
prelude = re.search(r"^```flow\n(.*?)^```", section, re.S | re.M)[1]
stored = dict(line.rsplit(" ## ", 1) for line in (ROOT / "tests/scenario/same_names/values.txt").read_text().splitlines())


def value(text):
    """What is printed, as numbers, texts and lists of these; null is None."""
    if text.startswith("["):
        return [value(part) for part in text[1:-1].split(", ")]
    if text == "null":
        return None
    try:
        return float(text)
    except ValueError:
        return text


def alike(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(alike(u, v) for u, v in zip(a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-14) or (a != a and b != b)
    return a == b


def code(cell):
    found = re.fullmatch(r"`([^`]*)`", cell.strip())
    return found[1] if found else ""


rows = [[cell.strip() for cell in re.split(r" \| ?", row[2:-1])] for row in re.findall(r"^\| `.*\|$", section, re.M)]
asked = [code(row[k]) for row in rows for k in (0, 4) if code(row[k])]
place.write("asked.flow", prelude + "".join(f'print("|")\nprint({text})\n' for text in asked))
done = place.run("run", "asked.flow")
check(done.returncode == 0, "what the table has in flow runs", done.stderr)
told = dict(zip(asked, [value(" ".join(out.split())) for out in done.stdout.split("|\n")[1:]]))
used = set()
for flow, gives, elsewhere, there, same in rows:
    flow, gives, there, same = code(flow), value(code(gives)), value(code(there)), code(same)
    check(alike(told.get(flow), gives), f"{flow} gives {gives}", told.get(flow))
    check(not alike(gives, there), f"{flow} differs from {elsewhere}", there)
    libraries = re.findall(r"(\w+) `([^`]*)`", elsewhere)
    check(libraries, f"{elsewhere} names a library", flow)
    for whose, text in libraries:
        used.add(f"{whose} ## {text}")
        check(alike(value(stored.get(f"{whose} ## {text}", "-")), there), f"{whose}'s {text} gives {there}", stored.get(f"{whose} ## {text}"))
    check(not same or alike(told.get(same), there), f"{same} gives {there}", told.get(same))
check(used == stored.keys(), "values.txt has what the table says, no more", used ^ stored.keys())
check(len(rows) >= 30, "the table has its rows", len(rows))
finish()
