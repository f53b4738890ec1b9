"""Code is remembered function by function: an edited script runs with code of before where nothing of a function changed, and prints
what a script does that is compiled anew: results, messages, places, chains of calls.

Every third script of tests/run that fails is run (with --all every one, in short runs some), with code beside it that makes it worth cutting; then again with lines
added above, which moves all its places: with the code that is remembered, and with none. Counted is how often functions were made."""
# seconds: 40
# shards: 2
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, ROOT, SHARD, SHARDS, SHORT, Place, check, finish

place = Place()
TERMS = " + ".join(f"v * {k}.5" for k in range(1, 80))
BESIDE = f"\nstage beside_it(x: f64[n]) -> f64 = sum(for v in x: {TERMS})\nprint(beside_it([1.0, 2.0]))\n"
ABOVE = "# a line\n\n# another line\n"


def functions(code):
    """How many functions are remembered there."""
    return sum(b"flow.unit" in p.read_bytes()[:4096] for p in pathlib.Path(code).rglob("*") if p.is_file())


def run(folder, name, code, text):
    (folder / name).write_text(text)
    place.env["FLOW_CODE_CACHE"] = str(code)
    done = place.run("run", "--no-cache", "-q", str(folder / name))
    return done.returncode, done.stdout, done.stderr


def fresh(name):
    path = place.path / name
    shutil.rmtree(path, ignore_errors=True)
    return path


# ---- places and messages

scripts = sorted(p.with_suffix(".flow") for p in (ROOT / "tests/run").rglob("*.err"))
scripts = [p for p in scripts if "duckdb" not in p.read_text() and "extern" not in p.read_text()]
scripts = scripts[SHARD::SHARDS * (1 if ALL else 6 if SHORT else 3)]
cut = 0
for script in scripts:
    folder = fresh("here")
    folder.mkdir()
    for beside in script.parent.iterdir():
        if beside.suffix != ".flow" or beside != script:
            os.symlink(beside, folder / beside.name)
    text = script.read_text() + BESIDE
    code, none = fresh("code"), fresh("none")
    first = run(folder, script.name, code, text)
    made = functions(code) if code.exists() else 0
    cut += made > 0
    again, anew = run(folder, script.name, code, ABOVE + text), run(folder, script.name, none, ABOVE + text)
    check(again == anew, f"{script.relative_to(ROOT)}: with lines above, what it says with code that is remembered", f"{again}\n{anew}")
    check(first[1] == again[1], f"{script.relative_to(ROOT)}: prints the same", f"{first}\n{again}")
    check(made == 0 or functions(code) == made, f"{script.relative_to(ROOT)}: no function is made again", f"{made} {functions(code)}")
check(cut > len(scripts) // 2, "most scripts are cut", f"{cut} of {len(scripts)}")

if SHARD > 0:
    finish()  # what follows is done once

# ---- which functions are made after an edit

MODEL = f"""fn larger(x: f64) -> f64 = {" + ".join(f"x * {k}.25" for k in range(1, 90))}
stage one(x: f64[n]) -> f64[n] = [for v in x: larger(v) + 1.0]
stage two(x: f64[n], k: i64) -> f64 {{
  let y = [for v in x: larger(v) * 2.0]
  assert len(y) > 0, "nothing for two"
  y[k] + {" + ".join(f"y[{k % 3}] * {k}.0" for k in range(1, 90))}
}}
let x = one([1.0, 2.0, 3.0])
print("{{sum(x):.3f}}")
print("{{two(x, 1):.3f}}")
"""
folder = fresh("model")
folder.mkdir()
code = fresh("code")
run(folder, "m.flow", code, MODEL)
all_of_it = functions(code)
check(all_of_it == 3, "the script and two stages", str(all_of_it))
EDITS = [
    ("a stage", "larger(v) + 1.0", "larger(v) + 1.5", 1),
    ("what two stages call", "x * 7.25", "x * 7.5", 2),
    ("the script", 'print("{sum(x):.3f}")', 'print("sum {sum(x):.3f}")', 1),
    ("a comment", "let x =", "# x\nlet x =", 0),
    ("the text of an assertion", "nothing for two", "there is nothing for two", 1),
    ("what fails", "two(x, 1)", "two(x, 7)", 1),
    ("what fails, moved", "let x =", "\n\nlet x =", 0),
]
for what, old, new, made in EDITS:
    assert old in MODEL
    MODEL = MODEL.replace(old, new, 1)
    before = functions(code)
    again, anew = run(folder, "m.flow", code, MODEL), run(folder, "m.flow", fresh("none"), MODEL)
    check(again == anew, f"{what} changed: as compiled anew", f"{again}\n{anew}")
    check(functions(code) == before + made, f"{what} changed: {made} are made", f"{before} {functions(code)}")
check("m.flow:8" in again[2] or "m.flow" in again[2], "the error says where", again[2])

# ---- functions that are equal before an edit, or after it: recursive ones are called, all others are part of who calls them

def twins(k, l, kind="f64"):
    one = "1.0" if kind == "f64" else "1"
    return f"""fn rec(g, n: i64, x: {kind}) -> {kind} = if n <= 0 {{ x }} else {{ g(rec(g, n - 1, x)) }}
fn left(n: i64, x: {kind}) -> {kind} = if n <= 0 {{ x }} else {{ left(n - 1, x) * {k} }}
fn right(n: i64, x: {kind}) -> {kind} = if n <= 0 {{ x }} else {{ right(n - 1, x) * {l} }}
param n: i64 = 3
print(rec(v => v * {k}, n, {one}), rec(v => v * {l}, n, {one}), left(n, {one}), right(n, {one}))
stage p(n: i64) -> {kind} = rec(v => v * {k}, n, {one}) + left(n, {one})
stage q(n: i64) -> {kind} = rec(v => v * {l}, n, {one}) + right(n, {one})
print(p(n), q(n)){BESIDE}"""


for kind in ("f64", "i64"):
    remembered = fresh("twins")
    for k, l in ((2, 2), (2, 3), (3, 3), (3, 2), (4, 4), (5, 4)):
        factors = (k, l) if kind == "i64" else (float(k), float(l))
        done = run(folder, "twins.flow", remembered, twins(*factors, kind))
        want = " ".join(str(x**3) for x in (factors * 2)) + "\n" + " ".join(str(2 * x**3) for x in factors) + "\n"
        check(done[0] == 0 and done[1].startswith(want), f"functions of one body, {kind}, factors {k} and {l}", f"{want}{done}")

# ---- between scripts

other = MODEL.replace("two(x, 7)", "two(x, 2)") + "print(1)\n"
before = functions(code)
again, anew = run(folder, "other.flow", code, other), run(folder, "other.flow", fresh("none"), other)
check(again == anew and again[0] == 0, "another script", f"{again}\n{anew}")
check(functions(code) == before + 1, "another script with these stages makes its own functions", f"{before} {functions(code)}")

# ---- damage: what does not verify is made anew

for p in pathlib.Path(code).rglob("*"):
    if p.is_file() and p.stat().st_size > 2000:
        bytes_of = bytearray(p.read_bytes())
        bytes_of[-200] ^= 0xFF
        p.chmod(0o600)
        p.write_bytes(bytes_of)
again = run(folder, "other.flow", code, other)
check(again[:2] == anew[:2], "damaged code is not used", f"{again}\n{anew}")
finish()
