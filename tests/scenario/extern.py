"""C functions in a library of one's own: every kind of argument and result, run, interpreted and built; keys that
follow the library's content; a library that is missing, changed or moved."""
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

SOURCE = r"""
#include <stdbool.h>
#include <stdint.h>
double dot(const double *x, int64_t n, const double *y, int64_t m) {
  double s = 0;
  for (int64_t i = 0; i < n && i < m; i++) s += x[i] * y[i];
  return s;
}
void scaled(const double *x, int64_t n, int64_t d, double f, double *out, int64_t out_n, int64_t out_d) {
  for (int64_t i = 0; i < out_n * out_d && i < n * d; i++) out[i] = FACTOR * f * x[i];
}
void half_filled(int64_t k, double *out, int64_t n) {
  for (int64_t i = 0; i < k / 2 && i < n; i++) out[i] = (double)i;
}
int8_t negated(int8_t a) { return (int8_t)-a; }
uint16_t next16(uint16_t a) { return (uint16_t)(a + 1); }
bool is_even(int64_t a) { return a % 2 == 0; }
float half(float a) { return a / 2; }
int64_t bytes(const char *s, int64_t n) { return s || n == 0 ? n : -1; }
int64_t hundredth(int64_t x) { return 100 / x; }
int32_t next_day(int32_t day) { return day + 1; }
double strange_nan(double x) {
  union { uint64_t u; double d; } v = {.u = 0xfff8000000000123u};
  return v.d + x;
}
void strange_bools(const int64_t *x, int64_t n, unsigned char *out, int64_t m) {
  for (int64_t i = 0; i < n && i < m; i++) out[i] = x[i] % 2 ? 0 : 7;
}
void strange_nans(double *out, int64_t n) {
  union { uint64_t u; double d; } v = {.u = 0xfff8000000000123u};
  for (int64_t i = 0; i < n; i++) out[i] = v.d;
}
"""
SCRIPT = """
extern fn dot(x: f64[n], y: f64[n]) -> f64 from "./libmine.so"
extern fn scaled(x: f64[n, d], f: f64) -> f64[n, d] from "./libmine.so"
extern fn half_filled(k: i64) -> f64[k] from "./libmine.so"
extern fn negated(a: i8) -> i8 from "./libmine.so"
extern fn next16(a: u16) -> u16 from "./libmine.so"
extern fn is_even(a: i64) -> bool from "./libmine.so"
extern fn half(a: f32) -> f32 from "./libmine.so"
extern fn bytes(a: text) -> i64 from "./libmine.so"
extern fn hundredth(x: i64) -> i64 from "./libmine.so"
extern fn next_day(d: date) -> date from "./libmine.so"
extern fn strange_nan(x: f64) -> f64 from "./libmine.so"
extern fn strange_bools(x: i64[n]) -> bool[n] from "./libmine.so"
extern fn strange_nans() -> f64[2] from "./libmine.so"
stage shrunk(x: f64[n, d]) -> f64[n, d] = scaled(x, 0.5)
stage other(x: f64[n, d]) -> f64 = sum(x)

let x = [1.0, 2.0, 3.0]
print(dot(x, x), negated(i8(5)), next16(u16(65535)), is_even(4), half(f32(3.0)), bytes("häh"), bytes(""))
show(half_filled(5))
show([for i in 0..6 if is_even(i): i])
show([for i in 0..5: if i > 0 { hundredth(i) } else { 0 }])
show(strange_bools([1, 2, 3, 4]))
print(next_day(date("2026-02-28")), strange_nan(1.0), count(strange_bools([2, 4])))
let t = table(k = ["x", "yy", "x"], a = [3.0, 5.0, 1.0], b = [4.0, 12.0, 1.0])
t |> derive(l = bytes(k)) |> show
t |> group_by(k) |> summarize(s = dot(a, b)) |> show
show([for v in x: dot(v * x, x)])
write_npy(strange_nans(), "out/nans.npy")
let m = [for i in 0..2, j in 0..3: f64(i + j)]
show(shrunk(m))
print(other(m))
"""
EXPECTED = """14.0 -5 0 true 1.5 4 0
[0.0, 1.0, 0.0, 0.0, 0.0]
[0, 2, 4]
[  0, 100,  50,  33,  25]
[false, true, false, true]
2026-03-01 nan 2
"""


def library(folder, factor=1):
    source = folder / "mine.c"
    source.write_text(SOURCE.replace("FACTOR", str(factor)))
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", folder / "libmine.so", source], check=True)
    source.unlink()


place = Place()
sub = place.path / "sub"
sub.mkdir()
library(sub)
(sub / "main.flow").write_text(SCRIPT)
(place.path / "user.flow").write_text('import "sub/main2.flow" as mine\nprint(mine.twice([1.0, 2.0]))\n')
(sub / "main2.flow").write_text('extern fn dot(x: f64[n], y: f64[n]) -> f64 from "./libmine.so"\n'
                                "fn twice(x: f64[n]) -> f64 = 2 * dot(x, x)\n")
first = place.run("run", "sub/main.flow")
check(first.returncode == 0 and first.stdout.startswith(EXPECTED), "the script runs", first.stdout + first.stderr)
nans = (place.path / "out/nans.npy").read_bytes()[-16:]
check(nans == bytes.fromhex("000000000000f87f") * 2, "there is one NaN", nans.hex())
for way in (["--workers", "1"], ["--workers", "8"], ["-O0"], ["--interp"]):
    done = place.run("run", "--no-cache", *way, "sub/main.flow")
    check(done.returncode == 0 and done.stdout == first.stdout, f"the same with {way}", done.stdout + done.stderr)
done = place.run("run", "user.flow")
check(done.returncode == 0 and done.stdout == "10.0\n", "paths are relative to the declaring file", done.stderr)

(sub / "guarded.flow").write_text("""extern fn hundredth(x: i64) -> i64 from "./libmine.so"
let w = [for x in [4, 2, 0, 1] {
  assert x > 0, "positive wanted, not {x}"
  hundredth(x)
}]
show(w)
""")
for way in ([], ["--interp"]):
    done = place.run("run", *way, "sub/guarded.flow")
    check(done.returncode == 1 and "positive wanted, not 0" in done.stderr,
          f"a function that would end the process is not called after a failure {way}", str(done.returncode) + done.stderr)

again = place.run("run", "sub/main.flow")
check("0 run, 2 cached" in again.stderr, "nothing changed: nothing runs", again.stderr)
library(sub, factor=2)
changed = place.run("run", "sub/main.flow")
check("1 run, 1 cached" in changed.stderr and changed.stdout != first.stdout,
      "another library: only the stage that calls it runs", changed.stderr + changed.stdout)
library(sub)
back = place.run("run", "sub/main.flow")
check("0 run, 2 cached" in back.stderr and back.stdout == first.stdout, "back to the old one: nothing runs", back.stderr)

built = place.run("build", "sub/main.flow", "-o", "model")
check(built.returncode == 0, "it builds", built.stderr)


def model(where):
    return subprocess.run([where / "model", "--no-cache"], cwd=place.path, env=place.env, capture_output=True, text=True)


done = model(place.path)
check(done.returncode == 0 and done.stdout == first.stdout, "the binary gives the same", done.stdout + done.stderr)
away = place.path / "away"
away.mkdir()
shutil.move(sub / "libmine.so", away)
shutil.copy(place.path / "model", away)
done = model(away)
check(done.returncode == 0 and done.stdout == first.stdout, "the library may lie beside the binary", done.stderr)
done = model(place.path)
check(done.returncode == 1 and "E0240" in done.stderr and "libmine.so" in done.stderr, "missing: status 1", done.stderr)
library(sub, factor=3)
done = model(place.path)
check(done.returncode == 1 and "not the one" in done.stderr, "another library than at compile time: status 1", done.stderr)
(sub / "libmine.so").unlink()
for way in ([], ["--interp"]):
    done = place.run("run", *way, "sub/main.flow")
    check(done.returncode == (3 if way else 1) or done.returncode == 3, "missing when compiling", done.stderr)
    check("E0240" in done.stderr and "libmine.so" in done.stderr, "and it says which", done.stderr)
finish()
