"""docs/builtins.md is what the compiler says of its own functions (`flowc doc builtins`), and has each of builtins.def and formats.def.
`--bless` writes it anew."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

PAGE = ROOT / "docs/builtins.md"
TOP = """# All functions

What every script knows without an import, as `flowc doc builtins` has it; `flowc explain sort` says one of them. What the modules of the library have:
[library.md](library.md). How something of pandas, SQL, numpy or R is called here: [cookbook.md](cookbook.md).

In the brackets `x=` may be left out, `*x=` is given by its name, and `...` takes all that follow: columns, sizes, values. A *verb* takes a table, and columns by their names; an *aggregate* makes one value of
a column (in `summarize` of each group's), or of an array; a *window* gives each row a value that others of its group decide.

"""


def page(told):
    """The Markdown of what `flowc doc builtins` prints."""
    out, rows = [TOP.rstrip("\n")], told.split("\n\n")
    for row in rows:
        head, _, doc = row.strip("\n").partition("\n")
        if head.startswith(" ") or head == "builtins":
            continue
        if "(" not in head:
            out.append(f"\n## {head}\n\n| call | what |\n| --- | --- |")
            continue
        out.append(f"| `{head}` | " + re.sub(r"([|<*])", r"\\\1", " ".join(doc.split())) + " |")
    return "\n".join(out) + "\n"


place = Place()
made = page(place.run("doc", "builtins").stdout)
if "--bless" in sys.argv:
    PAGE.write_text(made)
text = PAGE.read_text()
check(text == made, "the page is what `flowc doc builtins` says: bless it", [a for a in made.splitlines() if a not in text.splitlines()][:5])
rows = (ROOT / "compiler/sema/builtins/builtins.def").read_text()
names = re.findall(r"^FL_[A-Z_]+\(([\w.]+),", rows, re.M)
formats = re.findall(r"^FL_TABLE_(READ|WRIT)ER\((\w+),", (ROOT / "runtime/include/flow/formats.def").read_text(), re.M)
names += [f"{'read' if way == 'READ' else 'write'}_{name}" for way, name in formats]
check(len(names) > 250, "the tables have their rows", len(names))
for name in names:
    check(f"\n| `{name}(" in text, f"{name} is on the page", name)
finish()
