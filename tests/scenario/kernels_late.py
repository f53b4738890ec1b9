"""Loops are optimised when they pay (docs/decisions/kernels-when-they-pay.md): what a script prints is the same whenever that is, and
forms that were made are found again, after an edit and by other scripts. Counted is how many forms are remembered."""
# seconds: 20
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

# Of each kind of kernel one: elements, filters, sums, by rows, texts, dates, random numbers, draws in tiles, fused, checked.
LOOPS = """
param n: i64 = 300
let x = [for i in 0..n: sin(f64(i)) * 3.0]
let r = [for i in 0..n: random(7, i)]
let kept = [for v in x if v > 0.5: v * v]
let m = [for i in 0..n // 10, j in 0..10: x[i * 10 + j] / (f64(j) + 1.0)]
let rows = [for i in 0..n // 10: sum(for j in 0..10: m[i, j] * exp(-abs(m[i, j])))]
let names = [for i in 0..n: "row {i % 13}"]
let long = [for s in names if n_chars(s) > 5: upper(s)]
let k = [for i in 0..n: i // (i % 3 + 1)]
fn steps(v: i64) -> i64 {
  var c = v
  var many = 0
  while c > 1 and many < 200 {
    c = if c % 2 == 0 { c // 2 } else { 3 * c + 1 }
    many += 1
  }
  many
}
print(sum(x), sum(kept), len(kept), max(rows), mean(r), sum(k))
print(len(long), long[0], max([for i in 0..n: steps(i + 1)]))
print(sum(for i in 0..n: x[i] * r[i]), var(x), median(rows))
let t = table(a = k, v = x) |> derive(w = v * 2.0 + f64(a), big = v > 1.0)
show(t |> where(big) |> group_by(parity = a % 2) |> summarize(s = sum(w), most = max(v)))
print(sum(for i in 0..n: 10 // (if i == n - 1 { FAULT } else { 1 })))
"""
# Loops of host code: in place, over a copy, with texts, of unknown length, in tasks, within each other, beside a stage call that runs.
HOST_LOOPS = """
param n: i64 = 300
stage slow(x: f64[m]) -> f64 = sum(x) / 2.0
let x = [for i in 0..n: sin(f64(i))]
let early = slow(x)
var a = [for i in 0..n: 0.0]
var s = 0.0
for i in 0..n { # in place, beside a number
  s = s * 0.5 + x[i]
  a[i] = s
}
var twin = a
for i in 1..n { twin[i] = twin[i - 1] + a[i] } # a stays as it is
var words = ["", ""]
var word = "w"
for i in 0..n { # texts that go on from round to round
  word = if i % 7 == 0 { "w{i}" } else { word + "." }
  if n_chars(word) > n_chars(words[0]) { words[0] = word }
}
var v = 27
var many = 0
while v > 1 and many < n { # nobody knows how often
  v = if v % 2 == 0 { v // 2 } else { 3 * v + 1 }
  many += 1
}
let so_far = scan((acc, e) => max(acc, e), 0.0, a)
fn walk(start: f64[k], rounds: i64) -> f64[k] {
  var b = start
  for r in 0..rounds {
    for i in 1..len(b) { b[i] = (b[i] + b[i - 1]) / 2.0 }
    if r == 3 { break }
  }
  b
}
let walked = walk(x, n // 10)
let each = [for j in 0..5 { var t = 0; for i in 0..n { t = (t * 31 + i) % (j + 7) }; t }]
print(s, a[n - 1], twin[n - 1], words[0], word)
print(many, v, so_far[n - 1], walked[n - 1], x[n - 1], early)
print(each)
var last = 0
for i in 0..n { last = (last + i) // (if i == n - 1 { FAULT } else { 1 }) }
print(last)
"""
place = Place(sound__flow=LOOPS.replace("FAULT", "2"), fails__flow=LOOPS.replace("FAULT", "i - i"),
              host_sound__flow=HOST_LOOPS.replace("FAULT", "2"), host_fails__flow=HOST_LOOPS.replace("FAULT", "i - i"))
WAYS = {"interp": (["--interp"], ""), "O0": (["-O0"], ""), "first": ([], "first"), "once": ([], "once"), "late": ([], ""), "one worker": (["--workers", "1"], "")}


def forms(code):
    """How many forms are remembered there."""
    return sum(b"flow.kernel" in p.read_bytes()[:4096] for p in pathlib.Path(code).rglob("*") if p.is_file())


def run(script, words, kernels, code, *args):
    place.env.update(FLOW_KERNELS=kernels, FLOW_CODE_CACHE=str(place.path / code))
    done = place.run("run", "--no-cache", "-q", *words, script, *args)
    return done.returncode, done.stdout, done.stderr


for script, status in (("sound.flow", 0), ("fails.flow", 1), ("host_sound.flow", 0), ("host_fails.flow", 1)):
    for n in ("300", "200000"):
        if n == "200000" and not script.startswith("host"):
            place.edit(script, "many < 200", "many < 30")  # the interpreter walks them all
        want = run(script, [], "first", "code first", "--n", n)
        check(want[0] == status and (status == 0 or "integer division by zero" in want[2]), f"{script}, {n}: as expected", want)
        for way, (words, kernels) in WAYS.items():
            if way == "interp" and n == "200000":
                continue
            found = run(script, words, kernels, f"code {way}", "--n", n)
            check(found == want, f"{script}, {n} rows, {way}: the same", f"{want}\n{found}")
check(forms(place.path / "code first") == 0, "nothing is made later where all is made first")
check(forms(place.path / "code once") > 10, "each loop is made when it runs", forms(place.path / "code once"))

run("sound.flow", [], "", "small", "--n", "300")
check(forms(place.path / "small") == 0, "few elements are not worth optimised loops", forms(place.path / "small"))
run("sound.flow", [], "", "small", "--n", "400000")
made = forms(place.path / "small")
check(made > 3, "many are", made)
run("sound.flow", [], "", "small", "--n", "400000")
check(forms(place.path / "small") == made, "and what was made is not made again", forms(place.path / "small"))
run("host_sound.flow", [], "", "host", "--n", "300")
unknown = forms(place.path / "host")
check(unknown <= 2, "a loop of host code that runs shortly has no form, if that is known", unknown)
run("host_sound.flow", [], "", "host", "--n", "400000")
check(forms(place.path / "host") >= unknown + 3, "one that runs long has", forms(place.path / "host"))
place.write("other.flow", "# another script\nprint(\"it has these loops, too\")\n" + (place.path / "sound.flow").read_text())
run("other.flow", [], "", "small", "--n", "400000")
check(forms(place.path / "small") == made, "nor for another script", forms(place.path / "small"))
for path in (place.path / "small").rglob("*"):  # what does not verify is made again
    if path.is_file() and b"flow.kernel" in path.read_bytes()[:4096]:
        damaged = bytearray(path.read_bytes())
        damaged[-100] ^= 1
        path.chmod(0o600)
        path.write_bytes(damaged)
want, found = run("sound.flow", [], "first", "none", "--n", "400000"), run("sound.flow", [], "", "small", "--n", "400000")
check(want[:2] == found[:2], "forms that are damaged are not used", f"{want}\n{found}")
finish()
