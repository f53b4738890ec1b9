"""Texts that a script compares a column of a file with: a warning where no row has the text and one that is spelt like it is there, and none
else. Files are drawn at random, and a model in Python says what stands in them; columns come through verbs that keep their values, or not."""
import os
import pathlib
import random
import re
import string
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish

rng = random.Random(int(os.environ.get("FLOW_TEST_SEED", "5")))
place = Place()


def distance(a, b):
    """Letters that are put in, left out or replaced, and neighbours that are swapped; no letter twice."""
    rows = [list(range(len(b) + 1))]
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            row.append(min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1])))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                row[j] = min(row[j], rows[i - 2][j - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


def digits(text):
    return re.sub(r"\D", "", text)


def near(text, values):
    """Which values the text may be a misspelling of; those at the least distance."""
    if text in values or len(values) > 256:
        return set()
    if same := {v for v in values if v.lower() == text.lower()}:
        return same
    found = {v: distance(text, v) for v in values if len(v) >= 4 and len(text) >= 4 and digits(v) == digits(text)}
    found = {v: d for v, d in found.items() if d <= max(1, len(text) // 3) and d < len(v)}
    return {v for v, d in found.items() if d == min(found.values())}


def word():
    letters = "".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randrange(1, 10)))
    return letters + (str(rng.randrange(1000)) if rng.random() < 0.2 else "")


def bent(text):
    """A text spelt nearly like another one, or quite."""
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        k = rng.randrange(len(text) + 1)
        text = rng.choice([text[:k] + text[k + 1:], text[:k] + rng.choice("aeiouxyz7") + text[k:], text[:k] + text[k + 1:k + 2] + text[k:k + 1] + text[k + 2:],
                           text.upper(), text[:k] + rng.choice("aeiouxyz7") + text[k + 1:]])
    return text


# The table that is filtered, and whether its column k still has texts of the file alone.
SOURCES = [("{t}", True), ("{t} |> where(x > 3)", True), ("{t} |> sort(-x) |> head(4)", True), ("{t} |> select(k, x)", True),
           ("{t} |> where(not is_null(k))", True), ("{t} |> join({t} |> distinct(k), on = k)", True), ("{t} |> group_by(k) |> summarize(x = sum(x))", True),
           ("{t} |> derive(y = x + 1) |> drop(x) |> rename(x = y)", True), ("{t} |> derive(k = upper(k ?? \"\"))", False),
           ("{t} |> derive(k = \"a\" + (k ?? \"\"))", False)]
CONDITIONS = ["k == \"{}\"", "\"{}\" == k", "k != \"{}\"", "x > 0 and k == \"{}\"", "k in [\"{}\"]", "k in [k_there, \"{}\"]", "not (k == \"{}\")"]


def said(text):
    done = place.run("check", "main.flow")
    check(done.returncode == 0, "the script is right", done.stderr + text)
    return re.findall(r'warning W0003: no `k` in (\S+) is "(.*?)"\n.*\n.*\n(?:.*\n)*?  help: did you mean "(.*?)"\?', done.stderr)


for k in range(25 if SHORT else 80):
    values = [word() for _ in range(rng.choice([2, 5, 20, 40]))]
    rows = [rng.choice(values) for _ in range(60)]
    there = set(rows)
    if rng.random() < 0.5:
        name, read = "t.csv", "read_csv"
        lines = ["k,x"] + [f'{"" if rng.random() < 0.1 else v},{i % 9}' for i, v in enumerate(rows)]
        there = {line.split(",")[0] for line in lines[1:]} - {""}
    else:
        name, read = "t.jsonl", "read_jsonl"
        lines = [f'{{"k": "{v}", "x": {i % 9}}}' for i, v in enumerate(rows)]
    if not all(re.search(r"[a-z]", v) for v in there) or len(there) < 2:
        continue
    place.write(name, "\n".join(lines) + "\n")
    script, wanted = [f'let t = {read}("{name}")', 'let k_there = "zzz"'], []
    for n in range(12):
        text = bent(rng.choice(values))
        if not text:
            continue
        source, from_file = rng.choice(SOURCES)
        condition = rng.choice(CONDITIONS).format(text)
        source = source.format(t="t")
        if rng.random() < 0.3:
            script.append(f"stage s{n}(least: i64) = {source} |> where({condition}) |> head(least)\nprint(len(s{n}(2)))")
        else:
            script.append(f"print(len({source} |> where({condition})))")
        if from_file and near(text, there):
            wanted.append((text, near(text, there)))
    text = "\n".join(script) + "\n"
    place.write("main.flow", text)
    found = said(text)
    check([t for _, t, _ in found] == [t for t, _ in wanted], "the texts that are warned about", f"{found}\n{wanted}\n{text}")
    for (file, t, meant), (_, possible) in zip(found, wanted):
        check(file == name and meant in possible, "what was meant is among the nearest", f"{t}: {meant} of {possible}")

# ---- where not all values are known nothing is said
place.write("few.csv", "k,x\nnorth,1\nsouth,2\n")
place.write("many.csv", "k,x\n" + "".join(f"north{chr(97 + n // 26)}{chr(97 + n % 26)},{n}\n" for n in range(300)))
place.write("large.csv", "k,x\n" + "north,1\n" * 700000)
place.write("main.flow", 'param given: file = "few.csv"\nlet texts = ["norht"]\n'
            'print(len(read_csv("many.csv") |> where(k == "norhtab")), len(read_csv("large.csv") |> where(k == "norht")))\n'
            'print(len(read_csv(given) |> where(k == "norht")), len(read_csv(files("few*.csv")) |> where(k == "norht")))\n'
            'print(len(read_csv("few.csv") |> where(k == texts[0])))\n')
check(said("") == [], "of many texts, of a large file, of a file that is given, of several", said(""))
place.write("make.flow", 'write_arrow(read_csv("large.csv"), "large.arrow")\nwrite_arrow(read_csv("few.csv"), "few.arrow")\n')
done = place.run("run", "--no-cache", "make.flow")
check(done.returncode == 0 and (place.path / "large.arrow").stat().st_size > 4 << 20, "Arrow files are made", done.stderr)
place.write("main.flow", 'print(len(read_arrow("large.arrow") |> where(k == "norht")))\n')
check(said("") == [], "of a large Arrow file, which says its types", said(""))
place.write("main.flow", 'print(len(read_arrow("few.arrow") |> where(k == "norht")))\n')
check([t for _, t, _ in said("")] == ["norht"], "of a small one", said(""))
place.write("main.flow", 'let c = category(read_csv("few.csv").k)\nprint(sum(c == "norht"))\n')
check([t for _, t, _ in said("")] == ["norht"], "levels that are found in a file", said(""))
finish()
