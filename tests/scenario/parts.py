"""Filters and aggregates in the readers of CSV and Arrow files of several parts: the same output and the same errors as without optimisation, on
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

# ---- Arrow: parts are of 262,144 rows; from the ninth on a few groups are told from many (opt/parts.c) ----
N = 2_600_000
place.write("write.flow", f"""let n = {N}
write_arrow(table(i = [for i in 0..n: i], x = [for i in 0..n: f64(i % 64) - 10.0], k = [for i in 0..n: i * 7 % 1000],
    m = [for i in 0..n: if i % 5 == 0 {{ null }} else {{ i % 11 }}], big = [for i in 0..n: if i == n - 3 {{ 5000000000 }} else {{ i }}],
    name = [for i in 0..n: "n" + text(i % 300)]), "rows.arrow")
""")
done = place.run("run", "-q", "write.flow")
check(done.returncode == 0, "an Arrow file is written", done.stderr)
place.write("main.flow", """param f: file = "rows.arrow"
type Row = (i: i64, x: f64, k: i64, m: i64?, name: text)
let t: Row[_] = read_arrow(f)
print(t |> group_by(k) |> summarize(n = count(), s = sum(x), low = min(i), c = count(m), d = sum(m)) |> head(3))
print(t |> group_by(name) |> summarize(n = count(), s = sum(x)) |> head(2))
let most = t |> where(x < 30.0 and not is_null(m))
print("{len(most)} {sum(most.x)} {sum(most.i)} {most.name[-1]}")
let all = t |> summarize(s = sum(x), i = max(i), c = count(m))
print("{all.s[0]} {all.i[0]} {all.c[0]}")
""")
place.write("each.flow", """type Row = (i: i64, x: f64)
let t: Row[_] = read_arrow("rows.arrow")
let g = t |> group_by(i) |> summarize(s = sum(x))
print("{len(g)} {sum(g.s)} {g.s[-1]}")
""")
place.write("late.flow", """type Row = (k: i64, big: i32)
let t: Row[_] = read_arrow("rows.arrow")
print(t |> group_by(k) |> summarize(s = sum(big)) |> head(1))
""")


def x_of(i):
    return i % 64 - 10.0  # exact, and so are sums of it


kept = [i for i in range(N) if x_of(i) < 30 and i % 5]
whole = sum(map(x_of, range(N)))
said = f"{len(kept)} {sum(map(x_of, kept))} {sum(kept)} n{kept[-1] % 300}\n{whole} {N - 1} {N - N // 5}\n"
rows = {k: [i for i in range(k * 143 % 1000, N, 1000)] for k in range(3)}  # 7 * 143 = 1 modulo 1000
cells = [(k, len(of), sum(map(x_of, of)), of[0], sum(i % 5 > 0 for i in of), sum(i % 11 for i in of if i % 5)) for k, of in rows.items()]
names = [(f"n{k}", len(range(k, N, 300)), sum(map(x_of, range(k, N, 300)))) for k in (0, 1)]
plain = run("-O0")
check(plain[0] == 0 and plain[1].endswith(said), "Arrow: sums and counts of a plain model", (plain, said))
shown = [line.replace("│", " ").split() for line in plain[1].splitlines()]
for cell in cells + names:
    check(any([str(v).removesuffix(".0") for v in cell] == [w.replace(",", "").removesuffix(".0") for w in line] for line in shown),
          "Arrow: the row of a group", (cell, plain[1]))
for script in ("main.flow", "each.flow", "late.flow"):
    check("table_part" in place.run("build", "--emit=ir", script).stdout, f"{script}: aggregates are in the reader")
for options in (("--workers", "1"), ("--workers", "5"), ("--memory", "64M")):
    check(run(*options) == plain, f"Arrow: the same with {options}")
each = place.run("run", "-q", "each.flow")
check(each.stdout == f"{N} {whole} {x_of(N - 1)}\n", "a group for each row", (each, whole))
late = [place.run("run", "-q", *o, "late.flow") for o in (("-O0",), (), ("--workers", "4"))]
check(late[0].returncode == 1 and "5000000000" in late[0].stderr and f"row {N - 2}" in late[0].stderr, "a late value that does not fit", late[0])
check(all(found.stderr == late[0].stderr and found.returncode == 1 for found in late), "the same error wherever it is found", late)
finish()
