#!/usr/bin/env python3
"""Comments and documents name what there is: functions and constants of the C code (`fl_x`, `FL_X`, `FlX`) and files
(`part/top.c`) that they speak of exist, here or under the folder of the sources that they are written from. Prints
"N passed, N failed"."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish, git

CODE = {".c", ".h", ".def", ".re", ".y", ".inc"}
NAME = re.compile(r"\b(?:fl|FL)_[A-Za-z0-9_]*[A-Za-z0-9]\b(?![*<{]|_[*<{])|\bFl[A-Z][A-Za-z0-9]+\b")
FILE = re.compile(r"(?<![\w.*<>/{}-])((?:[a-z_0-9]+/)*[a-z_0-9]+\.(?:c|h|def|re|py|sh)|[a-z_0-9]{4,}\.y)\b(?![\w(])")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# Written while flow is built, of other projects, examples, ends of names.
ELSEWHERE = {"op_groups.h", "ir/op_groups.h", "unicode_categories.re", "s_atan.c", "f.py", "embed.py", "_internal.h"}


def tracked():
    listed = git("ls-files", "-z")
    found = [p for p in listed.split("\0") if p] if listed is not None else [
        str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file() and "build" not in p.parts]
    return [p for p in found if (ROOT / p).is_file()]


files = tracked()
there = set(files)
ends = {"/".join(p.split("/")[k:]) for p in files for k in range(p.count("/") + 1)}
known, made, spoken = set(), [], []
for name in files:
    path = ROOT / name
    if path.suffix in CODE:
        text = path.read_text(errors="replace")
        # A quote in a comment is no text: comments are cut out of what is left of texts.
        code = COMMENT.sub(" ", TEXT.sub(lambda m: m.group() if "\n" not in m.group() else " ", text))
        known.update(re.findall(r"[A-Za-z_]\w*", code))
        made += [re.compile(re.sub(r"##\w+(?:##)?", r"\\w+", re.sub(r"\s*##\s*", "##", m)))
                 for m in re.findall(r"\b(?:fl|FL|Fl)\w*\s*##\s*\w+(?:\s*##\s*\w+)*", code)]
        for m in COMMENT.finditer(text):
            spoken.append((name, text.count("\n", 0, m.start()) + 1, m.group()))
    elif path.suffix == ".md":
        spoken += [(name, k + 1, line) for k, line in enumerate(path.read_text(errors="replace").splitlines())]
    elif path.suffix == ".py":
        spoken += [(name, k + 1, line) for k, line in enumerate(path.read_text(errors="replace").splitlines()) if line.lstrip().startswith("#")]

for name, line, text in spoken:
    for word in NAME.findall(text):
        check(word in known or word.removesuffix("s") in known or any(m.fullmatch(word) for m in made), f"{name}:{line}: there is no `{word}`")
    for word in FILE.findall(text):
        check(word in ends or word in ELSEWHERE, f"{name}:{line}: there is no file `{word}`")
check(len(spoken) > 5000, "comments are found")
finish()
