"""Training by mini-batches with shards, a delay and records that are read ahead gives what a model in plain Python gives, which takes
each step by its definition: the mean of the shards' gradients, each at the parameters that the steps before step t - delay have left."""
# seconds: 35
import math
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, PATIENCE, SHORT, Place, check, finish

SCRIPT = """import optim
param n: i64 = 10
param epochs: i64 = 2
param batch: i64 = 4
param shards: i64 = 1
param delay: i64 = 0
param top: f64 = 1e9
let t = read_csv("data.csv") |> head(n)
let x = matrix(t, a, b, c)
let y = t.y
fn cost(w: f64[d], x: f64[n, d], y: f64[n], seed: i64) -> f64 = mean((x @ w - y)^2) + random(seed, 0) * w[0]
let start = [0.1, -0.2, 0.3]
fn told(name: text, m: (x: f64[_], losses: f64[_])) -> text[_] = concat([for v in m.x: "{name}.x {v}"], [for v in m.losses: "{name}.losses {v}"])
let a = optim.sgd((w, b) => cost(w, x[b.rows], y[b.rows], b.seed), start, n, epochs = epochs, batch = batch, rate = 0.05,
  momentum = 0.9, nesterov = true, weight_decay = 0.01, decay = 0.5, seed = 3, shards = shards, delay = delay)
let b = optim.sgd_records((w, b) => cost(w, b.records.x, b.records.y, b.seed), start, n, rows => (x = x[rows], y = y[rows]), epochs = epochs,
  batch = batch, rate = 0.05, momentum = 0.9, nesterov = true, weight_decay = 0.01, decay = 0.5, seed = 3, shards = shards, delay = delay)
let c = optim.adam_batches((w, b) => cost(w, x[b.rows], y[b.rows], b.seed), start, n, epochs = epochs, batch = batch, rate = 0.05,
  weight_decay = 0.01, decay = 0.5, seed = 3, shards = shards, delay = delay)
let d = optim.adam_records((w, b) => mean(for r in b.records: (sum(r.x * w) - r.y)^2) + random(b.seed, 0) * w[0], start, n,
  rows => [for i in rows: (x = x[i], y = y[i])], epochs = epochs, batch = batch, rate = 0.05, weight_decay = 0.01, decay = 0.5, seed = 3,
  shards = shards, delay = delay)
# Of two layers, whose gradients come to be one after the other
fn far(p: (a: f64[d, h], b: f64[h], c: f64), x: f64[n, d], y: f64[n], seed: i64) -> f64 {
  assert p.c == 0.9 or max(y) < top, "{max(y)} is too far"
  mean(((x @ p.a) @ p.b + p.c - y)^2) + 0.1 * sum(p.a^2) + random(seed, 0) * p.b[0]
}
let layers = (a = [[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]], b = [0.7, -0.8], c = 0.9)
fn plain(m) = (x = flatten(m.x), losses = m.losses)
let f = optim.sgd((p, b) => far(p, x[b.rows], y[b.rows], b.seed), layers, n, epochs = epochs, batch = batch, rate = 0.05,
  momentum = 0.9, nesterov = true, weight_decay = 0.01, decay = 0.5, seed = 3, shards = shards, delay = delay)
let g = optim.adam_records((p, b) => far(p, b.records.x, b.records.y, b.seed), layers, n, rows => (x = x[rows], y = y[rows]), epochs = epochs,
  batch = batch, rate = 0.05, weight_decay = 0.01, decay = 0.5, seed = 3, shards = shards, delay = delay)
# The same loop with layers of other sizes
let r = [for h in [1, 2, 1] {
  let narrow = (a = layers.a[:, 0..h], b = layers.b[0..h], c = 0.9)
  let m = optim.sgd((p, b) => far(p, x[b.rows], y[b.rows], b.seed), narrow, n, epochs = epochs, batch = batch, rate = 0.05,
    momentum = 0.9, nesterov = true, weight_decay = 0.01, decay = 0.5, seed = 3, shards = shards, delay = delay)
  plain(m)
}]
for e in 0..epochs {
  for i in permutation(subseed(3, e), n) { print("order {i}") }
  for b in 0..((n + batch - 1) // batch) {
    let seed = subseed(subseed(3, e), b)
    for s in 0..shards { print("chance {random(if shards == 1 { seed } else { subseed(seed, s) }, 0)}") }
  }
}
for l in concat(told("a", a), told("b", b), told("c", c), told("d", d), told("f", plain(f)), told("g", plain(g)), told("h", r[0]), told("i", r[1]), told("j", r[2])) { print(l) }
"""


def shards_of(rows, shards):
    return [rows[s * len(rows) // shards:(s + 1) * len(rows) // shards] for s in range(shards)]


def gradient(w, rows, x, y, chance):
    """Loss and gradient of a shard."""
    off = [sum(p * q for p, q in zip(w, x[i])) - y[i] for i in rows]
    g = [2 * sum(o * x[i][k] for o, i in zip(off, rows)) / len(rows) for k in range(len(w))]
    g[0] += chance
    return sum(o * o for o in off) / len(rows) + chance * w[0], g


def gradient_far(p, rows, x, y, chance):
    """The same of two layers: a row by row, then b, then c."""
    h = (len(p) - 1) // 4
    a, b, c, m = [p[j * h:][:h] for j in range(3)], p[3 * h:4 * h], p[-1], len(rows)
    hidden = {i: [sum(x[i][j] * a[j][k] for j in range(3)) for k in range(h)] for i in rows}
    off = {i: sum(hidden[i][k] * b[k] for k in range(h)) + c - y[i] for i in rows}
    slope = [2 / m * sum(off[i] * x[i][j] for i in rows) * b[k] + 0.2 * a[j][k] for j in range(3) for k in range(h)]
    slope += [2 / m * sum(off[i] * hidden[i][k] for i in rows) for k in range(h)] + [2 / m * sum(off.values())]
    slope[3 * h] += chance
    return sum(o * o for o in off.values()) / m + 0.1 * sum(v * v for row in a for v in row) + chance * b[0], slope


def model(method, slope_of, start, x, y, orders, chances, batch, shards, delay):
    w, n, t = start, len(y), 0
    first, second, past, losses = [0.0] * len(w), [0.0] * len(w), [], []
    for e, order in enumerate(orders):
        losses.append(0.0)
        for b, at in enumerate(range(0, n, batch)):
            past.append(w)
            rows = order[at:at + batch]
            loss, slope = 0.0, [0.0] * len(w)
            for s, part in enumerate(shards_of(rows, shards)):
                if not part:
                    continue
                value, g = slope_of(past[max(0, t - delay)], part, x, y, chances[e][b][s])
                loss += value * len(part) / len(rows)
                slope = [a + c * len(part) / len(rows) for a, c in zip(slope, g)]
            slope = [g + 0.01 * v for g, v in zip(slope, w)]
            t += 1
            rate = 0.05 * 0.5 ** e
            if method == "sgd":
                first = [0.9 * v + g for v, g in zip(first, slope)]
                w = [v - rate * (g + 0.9 * m) for v, g, m in zip(w, slope, first)]
            else:
                first = [0.9 * m + 0.1 * g for m, g in zip(first, slope)]
                second = [0.999 * m + 0.001 * g * g for m, g in zip(second, slope)]
                w = [v - rate * (m / (1 - 0.9 ** t)) / (math.sqrt(s / (1 - 0.999 ** t)) + 1e-8) for v, m, s in zip(w, first, second)]
            losses[-1] += loss * len(rows) / n
    return w, losses


FLAT, FAR = (gradient, [0.1, -0.2, 0.3]), (gradient_far, [0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8, 0.9])
NARROW = gradient_far, [0.1, 0.3, -0.5, 0.7, 0.9]
random.seed(18)
X = [[random.uniform(-1, 1) for _ in range(3)] for _ in range(40)]
Y = [x[0] - 2 * x[1] + 0.5 * x[2] + random.gauss(0, 0.1) for x in X]
place = Place(**{"m__flow": SCRIPT, "data.csv": "a,b,c,y\n" + "".join(f"{x[0]!r},{x[1]!r},{x[2]!r},{y!r}\n" for x, y in zip(X, Y))})


def told(n, epochs, batch, shards, delay, *options):
    done = place.run("run", "--quiet", *options, "m.flow", 
                     *(f"--{name}={value}" for name, value in zip(("n", "epochs", "batch", "shards", "delay"), (n, epochs, batch, shards, delay))))
    check(done.returncode == 0, f"n {n}, batch {batch}, shards {shards}, delay {delay}: it runs", done.stderr)
    return done.stdout


def compare(text, n, epochs, batch, shards, delay):
    found = {}
    for name, value in (line.split() for line in text.splitlines()):
        found.setdefault(name, []).append(float(value))
    order = [int(v) for v in found.get("order", [])]
    batches = -(-n // batch)
    orders = [order[e * n:(e + 1) * n] for e in range(epochs)]
    chance = found.get("chance", [])
    chances = [[chance[(e * batches + b) * shards:][:shards] for b in range(batches)] for e in range(epochs)]
    for method, names, of in (("sgd", "ab", FLAT), ("adam", "cd", FLAT), ("sgd", "fi", FAR), ("adam", "g", FAR), ("sgd", "hj", NARROW)):
        w, losses = model(method, *of, X[:n], Y[:n], orders, chances, batch, shards, delay)
        for name in names:
            got = found.get(f"{name}.x", []), found.get(f"{name}.losses", [])
            near = all(len(p) == len(q) and all(abs(a - b) <= 1e-12 * max(1.0, abs(b)) for a, b in zip(p, q)) for p, q in zip(got, (w, losses)))
            check(near, f"{method} as {name}: n {n}, batch {batch}, shards {shards}, delay {delay}", f"{got}\n{w} {losses}")


SIZES = [(1, 2, 4), (10, 2, 4), (23, 3, 5), (7, 0, 7), (12, 3, 32), (9, 4, 1)]
for size in SIZES[:3] if SHORT else SIZES:
    for shards in (1, 2, 3, 7):
        for delay in (0, 1, 2, 5, 100):
            case = (*size, shards, delay)
            alone = told(*case, "--workers", "1")
            compare(alone, *case)
            check(told(*case, "--workers", "2") == alone, f"{case}: the same bits by two workers")
for case in ((23, 3, 5, 3, 2), (10, 2, 4, 7, 0), (10, 2, 4, 1, 5)):
    compare(told(*case, "--interp"), *case)
    compare(told(*case, "-O0"), *case)

# Over ranks that are threads of one process: all loops shared, every other one, or those that pay
TOOL = pathlib.Path(FLOWC).parent / "tests/ranks_run"
# (Sums of gradients come a round later where all workers have a shard; by their parts of 2 elements and more with 2 x 2, 4 x 1, 5 x 2;
# without a delay while shards are computed, part by part, but where the last batch of an epoch has other weights)
CASES = ((23, 3, 5, 3, 2), (10, 2, 4, 7, 1), (12, 3, 32, 2, 0), (9, 4, 1, 1, 5), (23, 2, 12, 5, 1), (23, 2, 12, 6, 3), (40, 2, 13, 11, 5),
         (40, 3, 10, 5, 0), (40, 2, 6, 7, 0), (36, 2, 6, 4, 0))
for number, case in enumerate(CASES):
    words = [f"--{name}={value}" for name, value in zip(("n", "epochs", "batch", "shards", "delay"), case)]
    ways = [(0, 1, ""), *((r, w, "" if case[4] else f",{3 * w - 3}") for r in (1, 2, 3, 4, 5) for w in (1, 2))]
    for k in range(len(ways)):
        (place.path / f"{number}.{k}").mkdir()
        for name in ("m.flow", "data.csv"):
            (place.path / f"{number}.{k}" / name).symlink_to(place.path / name)
    done = subprocess.run([TOOL, "-q", "m.flow", *(f"{place.path}/{number}.{k},,{r},{w},50,-1,0{form}" for k, (r, w, form) in enumerate(ways)), "--", *words],
                          cwd=place.path, env=place.env, capture_output=True, text=True, timeout=300 * PATIENCE)
    check(done.returncode == 0, f"{case}: it runs over ranks", done.stderr)
    printed = [pathlib.Path(f"{place.path}/{number}.{k}.out").read_text() for k in range(len(ways))]
    compare(printed[0], *case)
    for way, text in zip(ways, printed):
        check(text == printed[0], f"{case}: the same bits over (ranks, workers, form) {way}", text)


def over(name, ways, *words):
    """The script each of these ways, in folders of their own: (status, what it said) of each."""
    folders = [place.path / f"{name}.{k}" for k in range(len(ways))]
    for folder in folders:
        folder.mkdir()
        for file in ("m.flow", "data.csv"):
            (folder / file).symlink_to(place.path / file)
    done = subprocess.run([TOOL, "-q", "m.flow", *(f"{folder},{way}" for folder, way in zip(folders, ways)), "--", *words], cwd=place.path,
                          env=place.env, capture_output=True, text=True, timeout=300 * PATIENCE)
    check(done.returncode == 0, f"{name}: it ends", done.stderr)
    return [tuple(pathlib.Path(f"{folder}.{of}").read_text() for of in ("status", "err")) for folder in folders]


# A rank that is lost, also while sums are under way: all end, and say so
MEETINGS = range(3, 60, 12 if SHORT else 4)
for delay, form, words in ((3, 8, ["--n=23", "--batch=12", "--shards=6", "--delay=3"]), (0, 0, ["--n=40", "--batch=10", "--shards=5"])):
    for at, (status, said) in zip(MEETINGS, over(f"lost.{delay}", [f",4,1,200,{at % 4},{at},{form}" for at in MEETINGS], *words)):
        check(status == "4\n" and "E0920" in said, f"a rank that is lost at meeting {at}, delay {delay}: {status}", said)
# An example that fails, from the second step on, in one shard: the error of one rank, also where its gradient is being sent
for k, top in enumerate(sorted(Y, reverse=True)[:12:4 if SHORT else 1]):
    alone, *others = over(f"fails.{k}", [",0,1,0,-1,0", *(f",{ranks},1,100,-1,0,{form}" for ranks, form in ((2, 0), (3, 0), (5, 0), (4, 4)))], "--n=40",
                          "--batch=10", "--shards=5", "--epochs=2", f"--top={top!r}")
    check(alone[0] == "1\n" and "is too far" in alone[1], f"a row from {top} on fails: {alone[0]}", alone[1])
    for ranks, found in zip((2, 3, 5, 4), others):
        check(found == alone, f"a row from {top} on fails over {ranks} ranks alike", "\n".join(found))

for options, words in (({"shards": 0}, "one shard at least, not 0"), ({"shards": -2}, "one shard at least, not -2"),
                       ({"delay": -1}, "from 0 on, not -1"), ({"batch": 0}, "one in a batch"), ({"n": 0}, "at least one example")):
    done = place.run("run", "--quiet", "m.flow", *(f"--{name}={value}" for name, value in options.items()))
    check(done.returncode == 1 and words in done.stderr, f"{options} is an error", done.stderr)
finish()
