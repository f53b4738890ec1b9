"""A network that one script trains and saves is loaded by another script and by a binary, and predicts the same; loaded as
another type it is an error."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
place.write("net.flow", """import nn
type Layer[o, i] = (w: f64[o, i], b: f64[o])
type Filters[o, c, h, w] = (w: f64[o, c, h, w], b: f64[o])
type Net[o, k, d] = (filters: Filters[o, 1, 3, 3], out: Layer[k, d])
fn scores(p: Net[o, k, d], x: f64[n, c, h, w]) -> f64[n, k] =
  x |> nn.conv2d(p.filters) |> nn.relu |> nn.max_pool2d |> nn.rows |> nn.dense(p.out)
let images = reshape(uniform(1, 40 * 36), 40, 1, 6, 6)
""")
place.write("train.flow", """import nn, optim
import "net.flow" as net
let label = integers(2, 0, 3, 40)
let start: net.Net[4, 3, 16] = (filters = nn.conv2d_init(3, 4, 1), out = nn.dense_init(4, 3, 16))
stage train(seed: i64) -> net.Net[4, 3, 16] =
  optim.adam_batches((p, b) => nn.cross_entropy(net.scores(p, net.images[b.rows]), label[b.rows]), start, 40, epochs = 3,
                     batch = 16, seed = seed).x
let m = train(1)
save(m, "out/net.flowdata")
show(net.scores(m, net.images[0..3]))
""")
place.write("use.flow", """import "net.flow" as net
let m = load("out/net.flowdata")
show(net.scores(m, net.images[0..3]))
""")
place.write("wrong.flow", """import "net.flow" as net
let m: net.Layer[_, _] = load("out/net.flowdata")
show(m.b)
""")
trained = place.run("run", "train.flow")
check(trained.returncode == 0 and trained.stdout.count("\n") == 3, "a network is trained and saved", trained.stderr)
for how in ([], ["--interp"], ["-O0"], ["--workers", "1"]):
    used = place.run("run", *how, "use.flow")
    check(used.stdout == trained.stdout, f"it predicts the same where it is loaded {how}", used.stdout + used.stderr)
again = place.run("run", "train.flow")
check(again.stdout == trained.stdout and "1 cached" in again.stderr, "trained once, it is remembered", again.stderr)
check(place.run("build", "use.flow", "-o", "use").returncode == 0, "the script that uses it builds")
used = subprocess.run([str(place.path / "use"), "--no-cache"], cwd=place.path, capture_output=True, text=True)
check(used.stdout == trained.stdout, "the binary predicts the same", used.stdout + used.stderr)
wrong = place.run("run", "wrong.flow")
check(wrong.returncode != 0 and "error" in wrong.stderr, "of another type it is an error", wrong.stderr)
finish()
