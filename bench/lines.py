#!/usr/bin/env python3
"""Lines of the compiler and the runtime by room, at a commit and in the working tree: bench/lines COMMIT. Code is what is left
without comments and empty lines."""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENDS = (".c", ".h", ".def", ".re", ".y")


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout


def count(files):
    rooms = collections.defaultdict(lambda: [0, 0])
    for name, text in files:
        room = "/".join(name.split("/")[:2]) if name.count("/") > 1 else name.split("/")[0]
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        rooms[room][0] += text.count("\n")
        rooms[room][1] += sum(1 for line in code.split("\n") if line.strip())
    return rooms


def at(commit):
    for name in git("ls-tree", "-r", "--name-only", commit, "compiler", "runtime").split("\n"):
        if name.endswith(ENDS):
            yield name, git("show", f"{commit}:{name}")


def here():
    for name in git("ls-files", "compiler", "runtime").split("\n"):
        if name.endswith(ENDS) and (ROOT / name).is_file():
            yield name, (ROOT / name).read_text()


before, now = count(at(sys.argv[1])), count(here())
print(f"{'room':20} {'lines':>7} {'now':>7} {'':>7} {'code':>7} {'now':>7}")
rows = [(room, before[room], now[room]) for room in sorted(set(before) | set(now))]
for top in ("compiler", "runtime"):
    of = [row for row in rows if row[0].split("/")[0] == top]
    rows.append((f"{top}, all", *([sum(row[k][i] for row in of) for i in range(2)] for k in (1, 2))))
for room, a, b in rows:
    print(f"{room:20} {a[0]:7} {b[0]:7} {b[0] - a[0]:+7} {a[1]:7} {b[1]:7} {b[1] - a[1]:+7}")
