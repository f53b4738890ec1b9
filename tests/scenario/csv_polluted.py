"""Files with one defect each (tests/pollute.py): with on_error = "collect" every good row is read and every bad line is counted,
with any number of workers; what stops otherwise says where and what to do."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import pollute
from scenario_kit import Place, check, finish

ROW = "(id: i64, when: date, amount: f64?, code: text, note: text?, src: text)"
place = Place()
expected = {}
total = 0
for group, name, data, good, bad in pollute.files():
    folder = place.path / group
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.csv").write_bytes(data)
    expected[f"{group}/{name}.csv"] = (good, bad)
    total += 1
script = ""
for group, options in pollute.OPTIONS.items():
    if not (place.path / group).exists():
        continue
    script += f"""let {group}: (rows: {ROW}[_], rejected: (src: text, line: i64, column: text, reason: text, text: text)[_]) =
  read_csv(files("{group}/*.csv"), {options}on_error = "collect", path = src)
write_jsonl(select({group}.rows, src, id, when, amount, code, note), "{group}.rows.jsonl")
write_jsonl({group}.rejected, "{group}.rejected.jsonl")
"""
place.write("read.flow", script)


def read_all(*options):
    """What the files say: by file its rows, and its (line, reason, text)."""
    done = place.run("run", *options, "read.flow")
    if done.returncode:
        return done.stderr, None, None
    rows, rejected = {}, {}
    for group in pollute.OPTIONS:
        if not (place.path / group).exists():
            continue
        for line in (place.path / f"{group}.rows.jsonl").read_text().split("\n")[:-1]:
            r = json.loads(line)
            rows.setdefault(r["src"], []).append(tuple(r[c] for c in pollute.COLUMNS))
        for line in (place.path / f"{group}.rejected.jsonl").read_text().split("\n")[:-1]:
            r = json.loads(line)
            rejected.setdefault(r["src"], []).append((r["line"], r["column"], r["reason"], r["text"]))
    return "", rows, rejected


def check_file(name, rows, rejected):
    good, bad = expected[name]
    check(rows.get(name, []) == good, f"{name}: the good rows",
          f"missing {[r for r in good if r not in rows.get(name, [])]}\nmore {[r for r in rows.get(name, []) if r not in good]}\n{rejected.get(name)}")
    lines = [r[0] for r in rejected.get(name, [])]
    check(lines == bad, f"{name}: the lines left out", f"expected {bad}\nfound {rejected.get(name)}")
    kind = name.split("/")[1]
    for line, column, reason, text in rejected.get(name, []):
        check(reason and (text or "null" in reason), f"{name}: line {line} says why", (column, reason, text))
        if re.search(r"field_(more|less|empty_more|first)", kind):
            check(re.fullmatch(r"\d+ fields? where the header has 5", reason) is not None, f"{name}: says how many fields", reason)
        elif "_quote_" in kind and "header" not in kind:
            check("quote" in reason, f"{name}: speaks of quotes", reason)


fault, rows, rejected = read_all("--workers", "1")
check(not fault, "the files are read", fault)
if not fault:
    for name in expected:
        check_file(name, rows, rejected)
    for workers in ("2", "7"):
        check(read_all("--workers", workers) == (fault, rows, rejected), f"the same with {workers} workers")

# The types are found in each of them, too; and what stops without `collect` says on which line.
names = [name for name in expected if name.startswith("plain/")]
done = place.run("schema", "on_error=collect", *names)
found = re.findall(r"^# (plain/.*): \d+ rows$", done.stdout, re.M)
check(done.returncode == 0 and found == names, "the types of all files are found", done.stderr)
check("not all of it fits" not in done.stdout, "and fit", done.stdout)
done = place.run("schema", *names)
said = dict(re.findall(r"^# (plain/.*): \d+ rows.*\n(?:# found.*\n)?# not all of it fits the types of its first rows: (.*)$", done.stdout, re.M))
said.update((name, message) for name, message in re.findall(r"^(plain/.*): error (.*)$", done.stderr, re.M))
for name in names:
    good, bad = expected[name]
    if re.search(r"_(field|quote)_|inches", name) and bad:
        check(f"line {bad[0]}:" in said.get(name, ""), f"{name}: line {bad[0]} stops", said.get(name))
place.write("empty.csv", "")
place.write("empty.flow", 'show(read_csv("empty.csv", on_error = "collect").rows)\n')
done = place.run("run", "empty.flow")
check(done.returncode == 3 and "`empty.csv` is empty" in done.stderr, "an empty file is an error", done.stderr)
print(f"{total} files")
finish()
