"""Products, loops over what they give and products that fold these are run strip by strip (docs/decisions/strips.md): random programs of that form print
the same bits where strips are used from the first byte on, where they never are, by the interpreter, of one worker and of three, and of one, two, three
and five ranks; and what a model in plain Python gives by math.fsum, within rounding. What is between may write over what is read, fail, or be asked for
afterwards; rows are NaN now and then."""
import math
import os
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ranks
from scenario_kit import SHARD, SHARDS, SHORT, Place, check, finish

ROUNDS = 8 if SHORT else 24
WAYS = [(from_byte, str(w)) for from_byte in ("1", str(1 << 60)) for w in (1, 3)]
RANKS = [(2, 1, 0, "", -1, 0, 6), (3, 1, 20, "", -1, 0, 7), (5, 2, 0, "", -1, 0, 3), (2, 2, 0, "", -1, 0, 8)]
os.environ["FLOW_STRIPS_FROM"] = "1"  # of what runs over ranks


def cell(i, j, seed):
    """What the script makes, too: small fractions of no pattern."""
    return ((i * 7919 + j * 104729 + seed * 31) % 1009) / 504.5 - 1


LOOPS = {  # text of an element by z and y, and the same in Python
    "1 / (1 + exp(-z[i])) - y[i]": lambda z, y: 1 / (1 + math.exp(-z)) - y,
    "z[i] - y[i]": lambda z, y: z - y,
    "if z[i] > y[i] { z[i] * z[i] } else { -y[i] }": lambda z, y: z * z if z > y else -y,
    "exp(z[i] * 0.1) * f64(i % 3)": None,
}


class Program:
    def __init__(self, draw):
        self.draw = draw
        self.n, self.d = draw.choice([1, 5, 4096, 4097, 9000, 20000, 33000, 50000]), draw.choice([1, 2, 7, 8, 20, 33, 64])
        self.seed, self.loop = draw.randrange(1000), draw.choice(list(LOOPS))
        self.rounds, self.narrow, self.turned = draw.choice([1, 3]), draw.random() < 0.3, draw.random() < 0.4
        self.twice, self.after, self.columns = draw.random() < 0.3, draw.random() < 0.15, draw.choice([0, 0, 0, 3])
        self.cost = draw.random() < 0.25
        self.odd, self.kept = draw.random() < 0.15, draw.random() < 0.5
        self.between = draw.choice(["", "", "", "", "  w[0] = w[0] + 1.0\n", "  print(len(z))\n", "  print(z[0])\n"]) if not self.columns else ""

    def text(self):
        n, d, t = self.n, self.d, "f32" if self.narrow else "f64"
        at = "kept[i]" if self.kept else "i"
        made = f"f64(({at} * 7919 + j * 104729 + {self.seed} * 31) % 1009) / 504.5 - 1"
        odd = f"if i == {n // 2} {{ nan }} else {{ {made} }}" if self.odd else made
        head = f"let kept = [for i in 0..{3 * n} if i % 3 == 1 or i % {n} == 0: i]\n" if self.kept else ""
        rows = "len(kept)" if self.kept else n
        head += (f"let x: {t}[_, _] = [for i in 0..{rows}, j in 0..{d}: {t}({odd})]\n"
                f"let y: {t}[_] = [for i in 0..{rows}: {t}(f64(i % 5) / 5)]\n")
        if self.columns:
            c = self.columns
            head += f"var w: {t}[_, _] = [for j in 0..{d}, k in 0..{c}: {t}(f64(j - k) / 50)]\n"
            body = (f"  let z = x @ w\n  let m = [for i in 0..{rows}: max(for k in 0..{c}: z[i, k])]\n"
                    f"  let r = [for i in 0..{rows}, k in 0..{c}: {t}(exp(z[i, k] - m[i]) - y[i])]\n")
            fold = "x' @ r"
            end = f"  w = [for j in 0..{d}, k in 0..{c}: w[j, k] - {t}(0.001) * g[j, k] / {t}({n})]\n"
        else:
            head += f"var w: {t}[_] = [for j in 0..{d}: {t}(f64(j % 7) / 30)]\n"
            body = f"  let z = x @ w\n{self.between}  let r = [for i in 0..{rows}: {t}({self.loop})]\n"
            if self.cost:
                body += f"  let c = sum(for i in 0..{rows}: log1p(abs(z[i])) * y[i]) / {t}({n}) + {t}(0.1) * sum(w * w)\n"
            if self.twice:
                body += f"  let q = [for i in 0..{rows}: r[i] * z[i]]\n"
            fold = ("q" if self.twice else "r") + " @ x" if self.turned else "x' @ " + ("q" if self.twice else "r")
            end = f"  w = [for j in 0..{d}: w[j] - {t}(0.01) * g[j] / {t}({n})]\n"
        after = "  print(sum(r))\n" + ("" if self.columns else "  print(z[len(z) - 1])\n") if self.after else ""
        if self.cost and not self.columns:
            after += "  print(c)\n"
        return f"{head}for k in 0..{self.rounds} {{\n{body}  let g = {fold}\n{after}{end}}}\nprint(\"answer {{w}}\")\n"

    def model(self):
        """The last w, of plain Python; None: not of this form."""
        if self.narrow or self.columns or self.odd or self.between[:4] == "  w[" or not LOOPS[self.loop] or self.n * self.d > 400000:
            return None
        kept = [i for i in range(3 * self.n) if i % 3 == 1 or i % self.n == 0] if self.kept else range(self.n)
        x = [[cell(i, j, self.seed) for j in range(self.d)] for i in kept]
        y, w = [i % 5 / 5 for i in range(len(kept))], [j % 7 / 30 for j in range(self.d)]
        for _ in range(self.rounds):
            z = [math.fsum(a * b for a, b in zip(row, w)) for row in x]
            r = [LOOPS[self.loop](a, b) for a, b in zip(z, y)]
            if self.twice:
                r = [a * b for a, b in zip(r, z)]
            w = [w[j] - 0.01 * math.fsum(row[j] * e for row, e in zip(x, r)) / self.n for j in range(self.d)]
        return w


place, modelled, used = Place(), 0, 0
for k in range(SHARD, ROUNDS, SHARDS):
    p = Program(random.Random(5200 + k))
    place.write("p.flow", p.text())
    said = {}
    for from_byte, workers in WAYS:
        place.env["FLOW_STRIPS_FROM"] = from_byte
        done = place.run("run", "--no-cache", "-q", "--workers", workers, "p.flow")
        said[f"{from_byte}, {workers}"] = (done.returncode, done.stdout)
    said["interp"] = (lambda done: (done.returncode, done.stdout))(place.run("run", "--no-cache", "-q", "--interp", "p.flow"))
    first = next(iter(said.values()))
    check(first[0] == 0, f"{k}: runs", p.text())
    check(len(set(said.values())) == 1, f"{k}: the same bits in all ways", f"{p.text()}{ {w: s[1][-200:] for w, s in said.items()} }")
    wrong = ranks.compare(ranks.scratch(p.text()), RANKS)
    check(not wrong, f"{k}: and over ranks", f"{p.text()}{wrong}")
    found, expected = [float(v) for v in re.findall(r"nan|-?\d[-+.\de]*", first[1].strip().splitlines()[-1])], p.model()
    used += "last of strips" in place.run("build", "--emit=plan", "p.flow").stdout
    if expected:
        modelled += 1
        check(len(found) == len(expected) and all(abs(a - b) <= 1e-12 for a, b in zip(found, expected)), f"{k}: what plain Python gives",
              f"{p.text()}{found[:5]} {expected[:5]}")
check(used * 2 >= ROUNDS // SHARDS, "most of them are run by strips", str(used))
check(modelled > 0 or SHARDS > 1, "some are modelled")
finish()
