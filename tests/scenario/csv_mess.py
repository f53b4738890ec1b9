"""Random CSV texts with many defects at once (tests/csv_mess.py): rows and lines left out are those of a plain model of the rules."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import csv_mess
from scenario_kit import Place, check, finish

place = Place()
expected = {}
for k, (n, text) in enumerate(csv_mess.texts(int(sys.argv[1]) if len(sys.argv) > 1 else 300)):
    (place.path / f"m{n}").mkdir(exist_ok=True)
    (place.path / f"m{n}/{k}.csv").write_bytes(text.encode())
    expected[f"m{n}/{k}.csv"] = csv_mess.read(text, n)
script = ""
for n in csv_mess.WIDTHS:
    columns = ", ".join(f"{c}: text?" for c in "abcdef"[:n])
    script += f"""let t{n}: (rows: ({columns}, src: text)[_], rejected: (src: text, line: i64, column: text, reason: text, text: text)[_]) =
  read_csv(files("m{n}/*.csv"), sep = ",", header = true, comment = "", on_error = "collect", path = src)
write_jsonl(t{n}.rows, "rows{n}.jsonl")
write_jsonl(t{n}.rejected, "rejected{n}.jsonl")
"""
place.write("read.flow", script)
for workers in ("1", "3"):
    done = place.run("run", "--workers", workers, "read.flow")
    check(done.returncode == 0, "the files are read", done.stderr)
    rows, rejected = {}, {}
    for n in csv_mess.WIDTHS if done.returncode == 0 else ():
        for line in (place.path / f"rows{n}.jsonl").read_text().split("\n")[:-1]:
            r = json.loads(line)
            rows.setdefault(r["src"], []).append(tuple(r[c] for c in "abcdef"[:n]))
        for line in (place.path / f"rejected{n}.jsonl").read_text().split("\n")[:-1]:
            r = json.loads(line)
            rejected.setdefault(r["src"], []).append(r["line"])
    for name, (good, bad) in expected.items():
        check(rows.get(name, []) == good, f"{name}: the good rows", f"{good[:9]}\n{rows.get(name, [])[:9]}")
        check(rejected.get(name, []) == bad, f"{name}: the lines left out", f"{bad}\n{rejected.get(name)}")
finish()
