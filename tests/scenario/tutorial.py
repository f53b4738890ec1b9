#!/usr/bin/env python3
"""docs/tutorial.md as a reader follows it, in one folder: its scripts are saved under the names that stand above them, its commands typed in
their order, and what they print is what stands below them. `--bless` writes that anew: read it."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, PATIENCE, ROOT, Place, check, finish

# seconds: 10
PAGE = ROOT / "docs/tutorial.md"
place = Place()
(place.path / "data").symlink_to(ROOT / "examples/data")
(place.path / "bin").mkdir()
(place.path / "bin/flowc").symlink_to(FLOWC)
env = dict(place.env, PATH=f"{place.path / 'bin'}:{os.environ['PATH']}")
text = PAGE.read_text()
BLOCK = re.compile(r"^```([\w-]+)\n(.*?)^```\n", re.S | re.M)
out, at, said, blocks = [], 0, None, 0
for m in BLOCK.finditer(text):
    between, (kind, body) = text[at:m.start()], m.groups()
    blocks += 1
    if kind.startswith("flow"):
        names = re.findall(r"`(\w+\.flow)`", between)
        check(names, f"the script of block {blocks} has a name above it", body[:80])
        place.write(names[-1] if names else "none.flow", body)
        said = None
    elif kind == "sh" and "cp -r" not in body:  # that one makes the folder
        done = subprocess.run(["bash", "-c", body], cwd=place.path, env=env, capture_output=True, text=True, timeout=120 * PATIENCE)
        lines = [line for line in done.stderr.splitlines() if not re.fullmatch(r"\d+ stages?: .*", line)]
        said = done.stdout + "".join(line + "\n" for line in lines)
        check(done.returncode == 0 or "flowc check" in body or "flowc diff" in body, f"block {blocks} goes well", said)
        check(text[m.end():m.end() + 8] == "```text\n", f"below block {blocks} stands what it prints", body)
    elif kind == "text" and said is not None:
        if said != body and "--bless" in sys.argv:
            out.append(text[at:m.start()] + f"```text\n{said}```\n")
            at = m.end()
            said = None
            continue
        check(said == body, f"what stands above block {blocks} prints it", f"wanted\n{body}\nfound\n{said}")
        said = None
    out.append(text[at:m.end()])
    at = m.end()
out.append(text[at:])
if "--bless" in sys.argv:
    PAGE.write_text("".join(out))
check(blocks > 15, "the page has its blocks", blocks)
finish()
