#!/usr/bin/env python3
"""Regular expressions that end with letters and `$`, and others that nearly do, on random texts: whether they match, where, how often and what
is put in their place, against Python's re. Texts of a few letters, with line ends and characters of several bytes.

`patterns_at_end.py SEED COUNT` tries COUNT patterns."""
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

seed, count = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (5, 150)
random.seed(seed)
PIECES = ["a", "b", "7", "x7", r"\d", r"\w", r"\.", r"\$", "[ab]", "[^a]", "[]a]", "[a$7]", ".", "é", "(b)", "(a|7)", "b*", "7?", "a+", "b{2}", "a{1,2}", "[0-9]+", "^", r"\b", " ", r"\x37", r"\\", "|"]
ENDS = ["$", "7$", "ab$", "a7$", "b+$", "7?$", "b", "(7$)", "7$|a", r"\$", r"\x37$", "é$", "[7]$", "7{1}$", "b$$", "b$^", "aab77$", r"\d7$", "77"]


def pattern():
    text = "".join(random.choice(PIECES) for _ in range(random.randint(0, 4))) + random.choice(ENDS)
    try:
        re.compile(text)
    except re.error:
        return pattern()
    return pattern() if "^$" in text or "|" in text[:1] else text


def value():
    end = random.choice(["", "", "7", "a7", "ab", "b", "aab77", "77", "é"]) + random.choice(["", "", "", "\n", "\n\n", "\r\n", " "])
    return "".join(random.choice("aab77 .é日\n$]x") for _ in range(random.randint(0, 12))) + end


def shown(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace('"', '\\"').replace("{", "\\{")


patterns, texts = [pattern() for _ in range(count)], [value() for _ in range(300)] + ["", "\n", "7\n", "7"]
place = Place()
place.write("t.csv", "s\n" + "".join('"' + t.replace('"', '""') + '"\n' for t in texts))
lines = ['let t = read_csv("t.csv", types = (s: text), null = ["no such text"])', "print(len(t))"]
wanted = [str(len(texts))]
for p in patterns:
    lines.append(f'print(sum(for s in t.s: if matches(s, "{shown(p)}") {{ 1 }} else {{ 0 }}), sum(for s in t.s: count_matches(s, "{shown(p)}")), '
                 f'sum(for s in t.s: n_chars(replace_regex(s, "{shown(p)}", "<>")) * n_chars(s)), count([for s in t.s: is_null(extract(s, "{shown(p)}"))]))')
    found = [re.search(p, t) for t in texts]
    groups = re.compile(p).groups
    wanted.append(" ".join(map(str, [sum(f is not None for f in found), sum(len(list(re.finditer(p, t))) for t in texts),
                                     sum(len(re.sub(p, "<>", t)) * len(t) for t in texts), sum(f is None or (groups > 0 and f.group(1) is None) for f in found)])))
place.write("x.flow", "\n".join(lines) + "\n")
for mode in ([], ["--interp"]):
    done = place.run("run", *mode, "--no-cache", "--quiet", "x.flow")
    check(done.returncode == 0, f"the script runs {mode}", done.stderr[:2000])
    for p, want, got in zip(["rows", *patterns], wanted, done.stdout.splitlines()):
        check(want == got, f"{p} {mode}", f"expected {want}, found {got}")
finish()
