"""Filters in the reader of CSV files of several parts: the same output and the same errors as without optimisation, on
any number of workers, wherever quotes, blank lines and bad values stand."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish

place = Place()
place.env["FLOW_CACHE"] = ""
random.seed(11)
ROWS = 20_000 if SHORT else 60_000


def row(i):
    note = random.choice(["plain", '"quoted, with ""quotes"""', '"two\nlines"', "", "a rather long note without quotes"])
    late = random.choice(["", str(random.randrange(-20, 90))])
    return f"{i},{random.uniform(0, 1000):.3f},{random.uniform(-5, 5):.6f},{late},city {i % 37},{note}\n"


lines = ["id,km,x,late,city,note\n"]
for i in range(ROWS):
    lines.append(row(i))
    if random.random() < 0.01:
        lines.append("\n")
place.write("good.csv", "".join(lines))
bad = {"value": f"7,many,1.0,,city 1,x\n", "ragged": "7,1.0,1.0\n", "quote": '7,1.0,1.0,,city "1,x\n'}
for name, text in bad.items():
    for where in (ROWS // 3, ROWS - 5):
        place.write(f"{name}_{where}.csv", "".join(lines[:where]) + text + "".join(lines[where:]))
place.write("open.csv", "".join(lines) + '9,1.0,1.0,,"city\n')
place.write("main.flow", """param f: file = "good.csv"
type Row = (id: i64, km: f64, x: f64, late: i64?, city: text, note: text?)
let t: Row[_] = read_csv(f)
let few = t |> where(km > 990 and not is_null(late)) |> derive(z = x * km)
few |> head(8) |> show
few |> group_by(city) |> summarize(n = count(), s = sum(z), m = mean(late)) |> head(5) |> show
let most = t |> where(km < 900)
print("{len(few)} {len(most)} {sum(few.z)} {sum(most.x)} {sum(most.id)} {most.note[-1] ?? "none"}")
""")


def run(*options, script_args=()):
    done = place.run("run", "-q", *options, "main.flow", *script_args)
    return done.returncode, done.stdout, done.stderr


plain = run("-O0")
check(plain[0] == 0, "it runs", plain[2])
done = place.run("build", "--emit=ir", "main.flow")
check("table_part" in done.stdout, "the filter is in the reader", done.stdout)
for workers in ("1", "2", "5"):
    check(run("--workers", workers) == plain, f"the same with {workers} workers")
for path in sorted(place.path.glob("*.csv")):
    if path.name == "good.csv":
        continue
    args = ("--f", path.name)
    expected = run("-O0", script_args=args)
    check(expected[0] == 1 and "error" in expected[2], f"{path.name} is an error", expected)
    for workers in ("1", "4"):
        found = run("--workers", workers, script_args=args)
        check(found == expected, f"{path.name}: the same error with {workers} workers", (expected[2], found[2]))
finish()
