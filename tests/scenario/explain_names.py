#!/usr/bin/env python3
"""flowc explain NAME: every function and type of the library says the head and the comment that stand in its file, every
builtin its row of builtins.def, every name of habits.def what it is called here; codes with and without letter.

usage: explain_names.py [--all]; without it every fifth name of each kind."""
import re
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, ROOT, Place, check, finish

place = Place()
EVERY = 1 if ALL else 5
asked = 0


def explained(word):
    done = place.run("explain", word)
    return done.returncode, " ".join(done.stdout.split()), done.stderr


def words(text):
    return " ".join(text.split())


for path in sorted((ROOT / "stdlib").glob("?*.flow")):
    module, comment, public = path.stem, [], []
    for line in path.read_text().splitlines():
        if line.startswith("## "):
            comment.append(line[3:])
            continue
        if line.startswith("@"):
            continue
        name = re.match(r"(?:fn|stage|type)\s+([a-z]\w*|[A-Z]\w*)", line)
        if name:
            public.append(name[1])
            asked += 1
            if asked % EVERY:
                comment = []
                continue
            status, said, _ = explained(f"{module}.{name[1]}")
            check(status == 0 and re.match(rf"(fn|stage|type) {name[1]}\b", said) and words(" ".join(comment)) in said
                  and f"import {module}, then {module}.{name[1]}" in said, f"{module}.{name[1]} is explained", said)
        comment = []
    status, said, _ = explained(module)
    check(status == 0 and all(re.search(rf"(fn|stage|type) {name}\b", said) for name in public), f"{module} lists what is in it", said)

rows = (ROOT / "compiler/sema/builtins/builtins.def").read_text()
builtins = re.findall(r'^FL_(?:BUILTIN|SCALAR|AGGREGATE\w*|WINDOW|BY_POSITION|VERB|COLUMNS|NAMING\w*)\((\w+), "([^"]*)".*"([^"]*)"\)', rows, re.M)
check(len(builtins) > 250, "builtins.def is read", len(builtins))
for name, signature, doc in builtins[::EVERY]:
    status, said, _ = explained(name)
    check(status == 0 and f"{name}({words(signature)})" in said and words(doc) in said, f"{name} is explained", said)

for name in re.findall(r'^FL_(?:HABIT|SAYING)\("(\w+)"', (ROOT / "compiler/sema/habits.def").read_text(), re.M)[::EVERY]:
    status, said, _ = explained(name)
    check(status == 0 and said.startswith(name) and len(said) > len(name) + 8, f"{name} is known from elsewhere", said)

for word in ("E0601", "e0601", "601", "0601"):
    check(explained(word)[:2] == explained("E0601")[:2] and explained(word)[0] == 0, f"{word} is a code", "")
status, _, error = explained("srot")
check(status == 2 and "did you mean sort?" in error, "a name that is misspelt", error)
status, _, error = explained("linear.rigde")
check(status == 2 and "did you mean linear.ridge?" in error, "a name of the library that is misspelt", error)
status, _, error = explained("9999")
check(status == 2 and "no message has the code 9999" in error, "a code that there is not", error)
finish()
