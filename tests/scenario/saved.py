"""Saved values: the same bytes however the script runs, and loaded again by another script and a binary."""
import hashlib
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
place.write("save.flow", """type Model = (weights: f64[_], name: text)
let t = table(id = [1, 2, 3], price = [1.5, 2.5, 3.5], who = ["x", "", "drü"])
let model: Model = (weights = [0.5, nan, inf], name = "first")
save(model, "out/model.flowdata")
save(t |> derive(n = try_parse_i64(who)), "out/t.flowdata")
save([for i in 0..3: head(t, i)], "out/tables.flowdata")
save((1, "two", null ?? true), "out/mixed.flowdata")
save(date("2026-01-31"), "out/day.flowdata")
""")
place.write("load.flow", """type Model = (weights: f64[_], name: text)
fn describe(m: Model) -> text = "{m.name} {m.weights[0]} {len(m.weights)}"
print(describe(load("out/model.flowdata")))
show(load("out/t.flowdata"))
show(load("out/tables.flowdata"))
show(load("out/mixed.flowdata"))
show(load("out/day.flowdata"))
""")


def digest():
    return hashlib.sha256(b"".join(p.read_bytes() for p in sorted((place.path / "out").iterdir()))).hexdigest()


seen = set()
for how in ([], ["--interp"], ["-O0"]):
    done = place.run("run", *how, "save.flow", "--workers", "3")
    check(done.returncode == 0, f"save {how}", done.stderr)
    seen.add(digest())
check(len(seen) == 1, "the same bytes however the script runs", str(seen))
check(len(list((place.path / "out").iterdir())) == 5, "no other files are left")
outputs = set()
for how in ([], ["--interp"], ["-O0"]):
    done = place.run("run", *how, "load.flow")
    check(done.returncode == 0 and "first 0.5 3" in done.stdout, f"load {how}", done.stdout + done.stderr)
    outputs.add(done.stdout)
check(len(outputs) == 1, "the same values however the script runs")
check(place.run("build", "load.flow", "-o", "loader").returncode == 0, "the loader builds")
said = place.run("schema", "out/model.flowdata", "out/t.flowdata")
check(said.returncode == 0 and "Model(weights: f64[_], name: text)" in said.stdout and
      "(id: i64, price: f64, who: text, n: i64?)[_]" in said.stdout, "schema of saved values", said.stdout + said.stderr)
place.write("rows.jsonl", '{"id": 1, "on": "2026-01-31"}\n{"id": 2}\n')
said = place.run("schema", "rows.jsonl")
check(said.returncode == 0 and "id: i64" in said.stdout and "on: date?" in said.stdout, "schema of JSON lines", said.stdout)
model = place.path / "out/model.flowdata"
whole = model.read_bytes()
model.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
done = subprocess.run([str(place.path / "loader"), "--no-cache"], cwd=place.path, capture_output=True, text=True)
check(done.returncode == 1 and "E0283" in done.stderr, "a damaged file", done.stderr)
model.write_bytes((place.path / "out/t.flowdata").read_bytes())
done = subprocess.run([str(place.path / "loader"), "--no-cache"], cwd=place.path, capture_output=True, text=True)
check(done.returncode == 1 and "E0284" in done.stderr, "a file of another type", done.stderr)
finish()
