"""There is one NaN wherever bits can be seen: what arithmetic, aggregates, windows, products and reductions make of infinities and NaNs is
written as 0x7ff8000000000000 (f32: 0x7fc00000), compiled, at -O0 and interpreted, whatever the processor makes of `inf - inf`."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

ARRAYS = """cumsum(x) cumprod(x) sort(x) [median(y)] [quantile(y,0.5)] [mean(x)] [std(x)] [var(x)] [sum(x)] [mad(y)] [corr(x,x)] [cov(x,x)]
[weighted_mean(x,x)] rolling(x,2,mean)??0.0 rolling(x,2,median)??0.0 rolling(x,2,sum)??0.0 rolling(x,2,std)??0.0 rolling(x,2,v=>var(v))??0.0
rolling(x,2,v=>v[0]-v[1])??0.0 m@m m'@m m@m' m@z z@m [z@z] z@m@z*[1.0] m@m+m wide@wide' (wide'@wide)[..40] tall@tall' stack([m,m])@stack([m,-m]) [det(m2)]
[norm(m)] [norm(x)] fft(x).re fft(x).im sum(m,axis=0) sum(m,axis=1) mean(m,axis=0) mean(m,axis=1) var(m,axis=0) std(m,axis=1) min(m,axis=0)
max(m,axis=1) [for_i_in_0..6:_x[i]-x[i]] [x[0]-x[0],x[0]*0.0,x[3],-x[3],sqrt(y[1]),log(y[1]),x[0]/x[1],x[0]%2.0] scan((s,q)=>s+q,0.0,x)
[fold((s,q)=>s+q,0.0,x)] stack([x,-x]) concat(x,-x) -m' abs(x-x) f32(x)-f32(x) f32(m)@f32(m) f32(m)@f32(z) -sqrt(-x) clamp(x,-1.0,x)
if_else(x>0,x-x,-(x-x)) min(x,-x) max(x,x-x) hypot(x,x) atan2(x,x-x) x^2.5 x%2.0 x//2.0 exp(x-x) grad(v=>sum(sqrt(v)))(x)
grad(v=>sum(log(v)*v))(x) [for_r_in_m:_sum(r)] [for_r_in_m:_mean(r)] [for_r_in_m:_median(r)] [for_r_in_m:_sum(for_v_in_r:_v*0.0)] x[argsort(x)]
[x[0]-x[0]][0]*x -(x-x) [sum(for_v_in_x:_v)] (x-mean(x))/std(x) products(x)""".split()
COLUMNS = """mean(v) sum(v) std(v) var(v) median(v) quantile(v,0.5) mad(v) min(v) max(v) first(v) last(v) mode(v) corr(v,w) cov(v,w) weighted_mean(v,w)
sum(v-v) mean(-v) median(-v) sum(v[v>0])-sum(v[v>0]) sum(if_else(g=="a",v,0.0)) sum(f32(v)) mean(f32(v)) median(f32(v))""".split()
WINDOWS = "cumsum(v) cumprod(v) lag(v) rolling(v,2,median) rolling(v,2,std) rolling(v,2,x=>sum(x)) v-mean(v) (v-mean(v))/std(v) v-lag(v)".split()

HEAD = """param k: f64 = 0.0
let x = [inf, -inf, 1.0, nan, -0.0, 2.0] + k
let y = x[..2]
let z = x[..3]
let m = [[inf, -inf, 1.0], [nan, 2.0, inf], [0.0, -inf, 3.0]] + k
let m2 = [[1e308, 2.0], [-1e308, 1e308]] + k
let wide = [for i in 0..5, j in 0..5000: if j % 1000 == i { inf } else { if j % 700 == i { -inf } else { 1.0 + k } }]
let tall = [for i in 0..150, j in 0..40: if i % 20 == j { -inf } else { 1.0 + k }]
let t = table(g = ["a", "a", "b", "b", "c", "c"], v = x, w = [1.0, 2.0, inf, 3.0, nan, 1.0])
let h = t |> head(2)
fn products(v: f64[n]) -> f64[n, n] = [for a in v, b in v: a * b]
"""

lines, names = [HEAD], []


def say(expression, from_table=None):
    names.append(expression if from_table is None else f"{from_table}: {expression}")
    value = expression.replace("_", " ") if "for_" in expression else expression
    if from_table is not None:
        lines.append(f"let s{len(names)} = {from_table.replace('Q', value)}")
        value = f"s{len(names)}.q"
        lines.append(f"let o{len(names)}: f64?[_] = {value}")
        value = f"o{len(names)} ?? 0.0"
    lines.append(f'write_npy({value}, "{len(names)}.npy")')


for e in ARRAYS:
    say(e)
for e in COLUMNS:
    say(e, "t |> group_by(g) |> summarize(q = Q)")
    say(e, "h |> summarize(q = Q)")
    say(e, "t |> group_by(g) |> derive(q = Q) |> ungroup()")
for e in WINDOWS:
    say(e, "t |> group_by(g) |> derive(q = Q) |> ungroup()")
    say(e, "t |> derive(q = Q)")

place = Place(nan__flow="\n".join(lines) + "\n")
ONE = {"<f8": ("Q", 0x7FF0000000000000, 0xFFFFFFFFFFFFF, 0x7FF8000000000000), "<f4": ("I", 0x7F800000, 0x7FFFFF, 0x7FC00000)}
seen = 0
for way in ([], ["--interp"], ["-O0"]):
    done = place.run("run", *way, "--no-cache", "nan.flow")
    check(done.returncode == 0, f"the script runs {way}", done.stderr[-2000:])
    for k, name in enumerate(names, 1):
        path = place.path / f"{k}.npy"
        if not path.exists():
            check(False, f"{name} {way}: nothing is written")
            continue
        data = path.read_bytes()
        head = data[10:10 + struct.unpack("<H", data[8:10])[0]].decode()
        letter, all_ones, rest, one = ONE["<f4" if "<f4" in head else "<f8"]
        body = data[10 + len(head):]
        values = struct.unpack(f"<{len(body) // struct.calcsize(letter)}{letter}", body)
        nans = [v for v in values if v & all_ones == all_ones and v & rest]
        seen += len(nans)
        check(all(v == one for v in nans), f"{name} {way}", [hex(v) for v in nans if v != one][:4])
        path.unlink()
check(seen > 500, "there are NaNs", seen)
finish()
