#!/usr/bin/env python3
"""What is known of each operator stands in its row of ops.def, and is not listed a second time: sizes are said by the
functions that rows name, and no switch or condition lists by hand just the operators that a column says: a family, those
with a flag, of a size rule, of a behaviour over rows. Prints "N passed, N failed"."""
import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish

ROW = re.compile(r'^FL_OP\((\w+), "\w+", (\w+), "[^"]*:([^"]*)", ([A-Z |0]+), (\w+), (\w+), [\d.]+, \d+\)', re.M)
FEWEST = 3  # two operators may be treated alike by chance
text = (ROOT / "compiler/ir/ops.def").read_text()
rows = ROW.findall(text)
check(len(rows) == len(re.findall(r"^FL_OP\(", text, re.M)) > 200, f"every row of ops.def is read ({len(rows)})")

facts = collections.defaultdict(set)
for name, family, gives, flags, size, dist in rows:
    scalars = not set(gives) & set("A*?")
    check((size == "none") == scalars, f"{name}: the size rule is `none` where it gives nothing but scalars ({size})")
    for fact in [f"the family {family}", f"the size rule {size}", f"DIST {dist}"]:
        facts[fact].add(name)
    for flag in flags.split("|"):
        if flag.strip() != "0":
            facts[f"the flag {flag.strip()}"].add(name)

LABELS = re.compile(r"(?:case FL_OP_\w+:\s*)+")
NAMED = r"[\w.>-]+ {} FL_OP_\w+"
CONDITION = re.compile("|".join(rf"{NAMED.format(sign)}(?:\s*{joined}\s*{NAMED.format(sign)})+"
                                for sign, joined in (("==", r"\|\|"), ("!=", "&&"))))
seen = 0
for path in sorted((ROOT / "compiler").rglob("*.[ch]")):
    name, source = str(path.relative_to(ROOT)), path.read_text()
    check("kind = FL_EXTENT_" not in source or path.name == "extent.c", f"{name}: the rules of sizes are those of ir/extent.c")
    for m in [*LABELS.finditer(source), *CONDITION.finditer(source)]:
        listed = set(re.findall(r"FL_OP_(\w+)", m.group()))
        seen += len(listed) >= FEWEST
        for fact, named in facts.items():
            if len(listed) >= FEWEST:
                check(listed != named, f"{name}:{source.count(chr(10), 0, m.start()) + 1}: lists the operators of {fact} by hand")
check(seen > 50, f"lists of operators are found ({seen})")
finish()
