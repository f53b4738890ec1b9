"""What the terminal shows of a message's edit are the lines that the edit makes, at most eight; nothing where the help quotes it. Of all programs as
people write them who know other languages (habits/written.txt), and in colour."""
import json
import os
import pathlib
import pty
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, ROOT, Place, check, finish

MOST, WIDEST = 8, 200
LONG = 'let t = table(x = [1.0, 2.0])\nt["y"] = t["x"].map(lambda v: v * 2)\n' + "".join(f'print("{k}", t["y"].sum())\n' for k in range(12))


def edited(text, edit):
    data = text.encode()
    start = len(b"".join(data.splitlines(keepends=True)[: edit["line"] - 1])) + edit["column"] - 1
    return (data[:start] + edit["text"].encode() + data[start + edit["length"] :]).decode()


def shown(output):
    """The lines that each message of an output says are written, with their numbers, by file, line and column."""
    out, at = {}, None
    for line in output.splitlines():
        head = re.match(r"(\S+\.flow):(\d+):(\d+): ", line)
        if head: at = (head[1], int(head[2]), int(head[3]))
        made = re.match(r"(?: *(\d+) |      )\+ (.*)$", line)
        if made: out.setdefault(at, []).append((int(made[1] or 0), made[2]))
    return out


place = Place()
prelude = re.search(r'PRELUDE = """(.*?)"""', (ROOT / "tests/scenario/habits_written.py").read_text(), re.S)[1]
lines = [line.split(" ## ")[0].lstrip("!").replace("\\n", "\n") for line in (ROOT / "tests/scenario/habits/written.txt").read_text().splitlines()
         if line and line[0] != "#"]
texts = {f"all/{k}.flow": f"{prelude}{line}\n" for k, line in enumerate(lines)} | {"all/long.flow": LONG}
(place.path / "all").mkdir()
for name, text in texts.items(): (place.path / name).write_text(text)
found = {r["file"]: r["messages"] for r in json.loads(place.run("check", "--json", "all").stdout)["results"]}
plus = shown(place.run("check", "all").stderr)
n_shown = n_quoted = n_several = 0
for name, messages in found.items():
    for m in messages:
        said = plus.get((name, m["line"], m["column"]), [])
        if not m["edits"]:
            check(not said, f"{name}: no edit, and nothing is shown", said)
            continue
        edit = m["edits"][0]
        written = edit["text"].strip(" \n")
        if written in (m["help"] or ""):
            n_quoted += 1
            check(not said, f"{name}: what the help quotes is not shown again", said)
            continue
        last = edit["line"] + edit["text"].count("\n")
        wanted = list(enumerate(edited(texts[name], edit).splitlines()[edit["line"] - 1 : last], edit["line"]))
        cut = [(k, line if len(line) <= WIDEST else line[:WIDEST] + "...") for k, line in wanted[:MOST]]
        n_shown += 1
        n_several += len(wanted) > 1
        if len(wanted) > MOST: cut.append((0, "..."))
        check(said == cut, f"{name}: {m['message']}: is shown as it is written", f"{said}\n{cut}")
check(n_shown > 100 and n_quoted > 500 and n_several > 50, f"{n_shown} are shown, {n_several} of several lines, {n_quoted} quoted")
check(any((0, "...") in said for at, said in plus.items() if at[0] == "all/long.flow"), "what is longer is cut", plus)
master, slave = pty.openpty()
subprocess.run([FLOWC, "check", "all/long.flow"], cwd=place.path, stdout=slave, stderr=slave, env={k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"})
os.close(slave)
colored = b""
try:
    while piece := os.read(master, 65536): colored += piece
except OSError:
    pass
plain = re.sub(r"\x1b\[[0-9;]*m", "", colored.decode())
check("\x1b[32m" in colored.decode() and shown(plain) == {k: v for k, v in plus.items() if k[0] == "all/long.flow"}, "in colour they are the same", plain)
finish()
