"""Derivatives of every operator: forward and reverse mode against central differences of order 6 of the function's own
values, second derivatives both ways round; of each operator of compiler/ad/rules/rules.def there is a row, and each operator of
ir/ops.def that could pass floats on is in rules.def. With `soak` as argument: more seeds; with names: these rows."""
import concurrent.futures
import pathlib
import re
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "derivatives"))
from rows import REFUSED, ROWS
from scenario_kit import ROOT, Place, check, finish
from tables import check_tables

WORST = 1e-7
PRELUDE = """import linear, metrics, nn
stage squares(x: f64[n]) -> f64[n] = x^2
fn along(f, x: f64[n], v: f64[n]) -> f64[_] { let (y, d) = jvp(f)(x, v); d }
# Central differences of order 6, of f along v.
fn slope(f, x: f64[n], v: f64[n]) -> f64[_] {
  let h = 2e-3
  let c = [-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]
  let at = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]
  let start = 0.0 * f(x)
  fold((s, i) => s + c[i] * f(x + h * at[i] * v), start, 0..6) / (60 * h)
}
fn far(a: f64[n], b: f64[m]) -> f64 {
  assert n == m, "{n} values, and {m} differences"
  if n == 0 { 0.0 } else { max(for i in 0..n: abs(a[i] - b[i])) / max(1.0, max(for i in 0..n: abs(b[i]))) }
}
fn unit(n: i64, k: i64) -> f64[n] = [for i in 0..n: if_else(i == k, 1.0, 0.0)]
"""
def program(rows, seed):
    text = [PRELUDE]
    for k, row in enumerate(rows):
        sizes = ", ".join(f"[{n}, {d}]" for n, d in row["shapes"])
        text.append(f"""# {row['name']}
for c in 0..{len(row['shapes'])} {{
  let shape = [{sizes}][c]
  let n = shape[0]
  let d = shape[1]
  let size = {row['size']}
  let z = normal({seed + zlib.crc32(row['name'].encode()) % 1000} + c, size)
  let here = {row['domain']}
  {row['before']}
  let f = u => {row['body']}
  let value_ = f(here)
  let weight_ = normal({seed} + 7 + c, len(value_))
  let along_ = normal({seed} + 8 + c, size)
  let loss = u => sum(weight_ * f(u))
  let gradient_ = {"grad(loss)(here)" if row["reverse"] else "here"}
  var ahead = 0.0
  var back = 0.0
  for j in 0..size {{
    let unit_ = unit(size, j)
    let slope_ = slope(f, here, unit_)
    ahead = max(ahead, far(along(f, here, unit_), slope_))
    {"" if row["reverse"] else "# "}back = max(back, abs(gradient_[j] - sum(weight_ * slope_)) / max(1.0, abs(sum(weight_ * slope_))))
  }}""")
        if row["second"]:
            text.append("""  let bend_ = slope(grad(loss), here, along_)
  let over = far(along(grad(loss), here, along_), bend_)
  let under = far(grad(u => sum(weight_ * along(f, u, along_)))(here), bend_)""")
        else:
            text.append("  let over = 0.0\n  let under = 0.0")
        text.append(f"""  print("{k}", c, ahead, back, over, under)
}}
""")
    return "\n".join(text)


def run(place, name, rows, seed):
    """What the program of these rows printed, by row and shape; on failure the message."""
    place.write(name, program(rows, seed))
    done = place.run("run", "--interp", name)
    found = {}
    for line in done.stdout.splitlines():
        words = line.split()
        found[int(words[0]), int(words[1])] = [float(w) for w in words[2:]]
    return found, (done.stderr or f"exit status {done.returncode}") if done.returncode else ""


def judge(row, name, found):
    for c, shape in enumerate(row["shapes"]):
        errors = found.get(name, {}).get(c)
        what = f"{row['name']} of {shape}"
        check(errors is not None, f"{what} is computed")
        for error, kind in zip(errors or [], ["forward", "reverse", "forward over reverse", "reverse over forward"]):
            limit = WORST if kind in ("forward", "reverse") else 10 * WORST
            check(error <= limit, f"{what}, {kind}: {error:.2g} off")


def run_all(rows, seed):
    place = Place()
    parts = [rows[i:i + 8] for i in range(0, len(rows), 8)]

    def part(i):
        found, message = run(place, f"part{i}.flow", parts[i], seed)
        if not message:
            return [(row, {c: e for (k, c), e in found.items() if k == at}, "") for at, row in enumerate(parts[i])]
        out = []
        for at, row in enumerate(parts[i]):  # one by one: which it is
            found, message = run(place, f"row{i}_{at}.flow", [row], seed)
            out.append((row, {c: e for (_, c), e in found.items()}, message))
        return out

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for rows_of_part in pool.map(part, range(len(parts))):
            for row, found, message in rows_of_part:
                check(not message, f"{row['name']} runs", message)
                judge(row, "it", {"it": found})


def refusals():
    place = Place()
    for op, text, words, line in REFUSED:
        place.write("no.flow", text + "\n")
        done = place.run("check", "no.flow")
        if "E0995" in done.stderr:  # there is no DuckDB here
            continue
        check(f"no.flow:{line}:" in done.stderr and "E0720" in done.stderr and words in done.stderr, f"{op} is refused",
              done.stderr)


def main():
    words = sys.argv[1:]
    soak = words[:1] == ["soak"]
    names = words[1:] if soak else words
    rows = [r for r in ROWS if not names or r["name"] in names]
    for seed in range(1, 21 if soak else 2):
        run_all(rows, 1000 * seed)
    if not names:
        refusals()
        check_tables(ROOT, ROWS, REFUSED, check)
    finish()


main()
