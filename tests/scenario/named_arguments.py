#!/usr/bin/env python3
"""Names of arguments that no parameter has: every builtin is called with one, alone and misspelt from each parameter that has a
name. The message names it; a neighbour that it proposes is a parameter, and its edit makes that of the script. Where a
function takes any number of arguments, the name is refused too, unless its row says that names mean something."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

TEXT = (ROOT / "compiler/sema/builtins/builtins.def").read_text()
ROWS = [row for row in re.findall(r'^FL_([A-Z_]+)\(([\w.]+), "([^"]*)", \w+,', TEXT, re.M)]
SETS = {"numeric", "cols", "except", "each"}  # of columns: they stand in verbs
place = Place()


def first_error(script):
    place.write("x.flow", script)
    found = json.loads(place.run("check", "--json", "x.flow").stdout)["results"][0]["messages"]
    return found[0] if found else None


def called(name, argument):
    """A call with this argument by name, and whatever stands before it."""
    return f"let r = table(x = [1]) |> select({name}({argument}))\n" if name in SETS else f"let r = {name}({argument})\n"


def misspelt(name):
    """Without its second letter."""
    return [name[0] + name[2:]] if len(name) > 2 else []


def main():
    check(len(ROWS) > 250, f"builtins.def is read: {len(ROWS)} functions")
    refused = proposed = 0
    for kind, name, params in ROWS:
        rest = "..." in params
        if rest and kind.startswith("NAMING"):
            continue
        words = [p.strip(" *") for p in params.split(",") if p.strip() and "..." not in p]
        by_name = [p.rstrip("=") for p in words if p.endswith("=") or not rest]
        for wrong, right in [("zzqqzz", None)] + [(m, p) for p in by_name for m in misspelt(p) if m not in by_name]:
            script = called(name, f"{wrong} = 1")
            d = first_error(script)
            check(d and d["code"] == "E0209" and f"`{wrong}`" in d["message"] and f"`{name}`" in d["message"],
                  f"{name}({wrong} = 1) names {wrong}", d)
            refused += 1
            if not d or not d["edits"]:
                check(right is None or len(right) < 4, f"{name}({wrong} = 1) proposes `{right}`", d)
                continue
            proposed += 1
            check(right is not None and d["edits"][0]["text"] == right, f"{name}({wrong} = 1) becomes `{right}`", d)
    check(refused > 400 and proposed > 150, f"{refused} refused, {proposed} with a proposal")
    # Names between arguments: where there are others, nothing is taken for one more of them.
    head = "let a = [1.0, 2.0]\nlet t = table(x = [1, 2])\n"
    for call in ("min(a, initial = 0)", "max(a, a, axs = 0)", "zeros(2, fill = 1)", "random(1, 2, size = 1)", "reshape(a, 2, order = 1)",
                 "any(each(x, c => c > 1), were = true)", "distinct(t, keep = x)", "drop(t, axis = x)", "unpivot(t, x, nme = \"n\")"):
        if call.startswith("any"):
            call = f"t |> derive(y = {call})"
        d = first_error(head + f"let r = {call}\n")
        check(d and d["code"] == "E0209", f"{call} is refused", d)
    d = first_error(head + "let r = sum(x = a)\n")
    check(d and d["code"] == "E0209" and "`x` by position" in d["message"], "sum(x = a) says that x has no name", d)
    finish()


main()
