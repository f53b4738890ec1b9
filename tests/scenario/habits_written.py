"""Programs as people write them who know other languages (habits/written.txt): the edits that messages propose, applied one after the other,
give a program that shows what was meant; where there is no edit, the message says the way. At least nine of ten are helped so."""
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

PRELUDE = """let t = table(k = [1, 2, 2], x = [1.0, 2.0, 3.0], y = [3, 1, 2], s = ["u", "v", "v"], d = [date("2026-05-06"), date("2026-05-07"), date("2026-06-01")])
let other = table(k = [1, 2], x = [1.0, 2.5], z = [7, 8])
let a = [1.0, 2.0, 3.0]
let m = [[1.0, 2.0, 0.5], [3.0, 4.0, 0.1], [5.0, 7.0, 0.3]]
let p = 2.5
let sales = table(region = ["north", "south", "north", "west", "south"], product = ["a", "b", "a", "b", "a"], amount = [10.0, 25.5, 7.25, 40.0, 3.0],
  qty = [1, 2, 1, 4, 1], day = [date("2024-01-03"), date("2024-02-11"), date("2024-02-20"), date("2024-03-01"), date("2024-03-15")], note = ["x", null, "z", null, "q"])
let stores = table(region = ["north", "south", "east"], size = [3, 5, 2])
let xs = [1.5, 2.5, 4.0]
"""
FILES = sorted((ROOT / "tests/scenario/habits").glob("*.csv"))
SALES = """region,product,amount,qty,day
north,a,10.0,1,2024-01-03
south,b,25.5,2,2024-02-11
north,a,7.25,1,2024-02-20
west,b,40.0,4,2024-03-01
south,a,3.0,1,2024-03-15
"""
EDITS = 8  # so many may follow one after the other


def with_files(folder):
    (folder / "sales.csv").write_text(SALES)
    for path in FILES:
        shutil.copy(path, folder)


def script(line):
    read = "".join(f'let {f.stem} = read_csv("{f.name}")\n' for f in FILES if re.search(rf"\b{f.stem}\b(?!\.csv)", line))
    return PRELUDE + read + (line[1:].replace("\\n", "\n") if line[0] == "!" else f"{line} |> show" if "|>" in line else f"show({line})") + "\n"


def errors(folder, scripts):
    """The errors of each script; `scripts`: number -> text."""
    (place.path / folder).mkdir()
    with_files(place.path / folder)
    for k, text in scripts.items():
        (place.path / folder / f"c{k}.flow").write_text(text)
    done = place.run("check", "--json", folder)
    found = {int(pathlib.Path(r["file"]).stem[1:]): [m for m in r["messages"] if m["level"] == "error"] for r in json.loads(done.stdout)["results"]}
    assert found.keys() == scripts.keys(), done.stderr
    return found


def edited(text, edit):
    data = text.encode()
    start = len(b"".join(data.splitlines(keepends=True)[: edit["line"] - 1])) + edit["column"] - 1
    return (data[:start] + edit["text"].encode() + data[start + edit["length"] :]).decode()


def shown(name, text):
    (place.path / name).write_text(text)
    done = place.run("run", "-q", "--no-cache", name)
    return done.stdout if done.returncode == 0 else None


def same_kind(wrong, right):
    return "!" + right if wrong[0] == "!" and right[:1] not in ("", "!") else right


lines = [line for line in (ROOT / "tests/scenario/habits/written.txt").read_text().splitlines() if not line.startswith("#")]
fields = [[f.strip() for f in re.split(r" ##(?= |$)", line)] for line in lines]
place = Place()
with_files(place.path)
cases = {k: (wrong, same_kind(wrong, right), says) for k, (wrong, right, says) in enumerate(fields)}
texts = {k: script(wrong) for k, (wrong, _, _) in cases.items()}
found = errors("written", texts)
for k, messages in found.items():
    check(messages, f"{cases[k][0]}: is wrong")
first = dict(found)
last = dict(first)
for go in range(EDITS):  # only while there is something to mend
    proposed = {k: [m["edits"][0] for m in messages if m["edits"]] for k, messages in found.items()}
    open_now = {k for k, edits in proposed.items() if edits}
    for k in open_now:
        texts[k] = edited(texts[k], proposed[k][0])
    found |= errors(f"go{go}", {k: texts[k] for k in open_now})
    last |= {k: found[k] for k in open_now if found[k]}
rights = errors("rights", {k: script(right) for k, (_, right, _) in cases.items() if right})
helped = 0
for k, (wrong, right, says) in cases.items():
    if right:
        check(not rights[k], f"{right}: is right", rights[k])
    if says == "-":
        continue
    if says:
        ok = any(says in (m["help"] or "") for m in first[k] + last[k])
    else:
        ok = not found[k] and (not right or shown("made.flow", texts[k]) == shown("right.flow", script(right)))
    helped += ok
    check(ok, wrong, f"wanted {says or right}, made {texts[k][len(PRELUDE):]}, said {last[k][0]['message']} / {last[k][0]['help']}")
check(len(cases) >= 150 and helped >= 0.9 * len(cases), f"{helped} of {len(cases)} are helped")
finish()
