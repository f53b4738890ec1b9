"""Damaged pieces of programs as people write them who know other languages (habits/written.txt): the check of each ends soon, without a bug of flow."""
import json
import random
import re
import subprocess
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, ROOT, Place, check, finish

SIGNS = ["", "(", ")", "[", "]", "{", "}", '"', "'", "`", "|", ":", ",", ".", "=>", "\n", "for ", "in ", "=", "é", "$", "#", "return "]
COUNT = 1500
place = Place()
random.seed(3)
prelude = re.search(r'PRELUDE = """(.*?)"""', (ROOT / "tests/scenario/habits_written.py").read_text(), re.S)[1]
lines = [line.split(" ## ")[0].lstrip("!").replace("\\n", "\n") for line in (ROOT / "tests/scenario/habits/written.txt").read_text().splitlines()
         if line and line[0] != "#"]
(place.path / "damaged").mkdir()
for k in range(COUNT):
    a, b = random.choice(lines), random.choice(lines)
    text = a if random.random() < 0.5 else a[: random.randrange(len(a) + 1)] + b[random.randrange(len(b) + 1) :]
    for _ in range(random.randrange(4)):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(SIGNS) + text[at + random.randrange(3) :]
    (place.path / f"damaged/{k}.flow").write_text(f"{prelude}{text}\n")
try:
    done = subprocess.run([FLOWC, "check", "--json", "damaged"], cwd=place.path, capture_output=True, text=True, timeout=300)
    results = json.loads(done.stdout)["results"] if done.returncode in (0, 3) else []
    check(len(results) == COUNT, "each is checked", (done.returncode, done.stderr))
except subprocess.TimeoutExpired:
    check(False, "all are checked within five minutes")
finish()
