"""Derivatives of random programs of loops, branches and reads by index within each other, against differences of fourth
order, to 1e-5 of the larger of 1 and the slope. FLOW_RANDOM_PROGRAMS: how many, by default a few."""
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

HEAD = """
fn moved(x: f64[n], k: i64, h: f64) -> f64[n] { [for i in 0..n: x[i] + if_else(i == k, h, 0.0)] }
fn off(f, x: f64[n]) -> f64 {
  let h = 1e-3
  let g = grad(f)(x)
  max(for k in 0..n: abs(g[k] - (8 * (f(moved(x, k, h)) - f(moved(x, k, -h))) - (f(moved(x, k, 2 * h)) - f(moved(x, k, -2 * h)))) / (12 * h)) / max(1.0, abs(g[k])))
}
let n = 5
let x = [0.3, -0.7, 0.9, 0.45, -0.2]
"""


class Maker:
    """Makes smooth bounded expressions: every value that is carried goes through sin or tanh."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = 0

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def index(self, loops):
        if loops and self.r.random() < 0.7:
            return f"({self.r.choice(loops)} + {self.r.randrange(5)}) % n"
        return str(self.r.randrange(5))

    def leaf(self, scalars, loops):
        if scalars and self.r.random() < 0.5:
            return self.r.choice(scalars)
        return f"u[{self.index(loops)}]"

    def expr(self, scalars, loops, depth):
        a = self.leaf(scalars, loops)
        kind = self.r.randrange(9) if depth > 0 else 0
        inner = lambda: self.expr(scalars, loops, depth - 1)
        if kind <= 1:
            return a
        if kind == 2:
            return f"sin({inner()} + {a})"
        if kind == 3:
            return f"({inner()} * {a} * 0.5)"
        if kind == 4:
            j = self.name()
            limit = self.r.choice(["n", "3"] + loops)
            return f"sum(for {j} in 0..{limit}: {self.expr(scalars, loops + [j], depth - 1)}) / 5"
        if kind == 5:
            i = self.r.choice(loops) if loops else "2"
            return f"(if {i} % 2 == {self.r.randrange(2)} {{ {inner()} }} else {{ {inner()} }})"
        if kind == 6:
            return self.loop(scalars, loops, depth - 1)
        if kind == 7:
            j = self.name()
            return f"sum([for {j} in 0..n: {self.expr(scalars, loops + [j], depth - 1)}] * u) / 5"
        return f"tanh({inner()} - {a})"

    def loop(self, scalars, loops, depth):
        v, k = self.name(), self.name()
        step = self.expr(scalars + [v], loops + [k], depth)
        start = self.leaf(scalars, loops)
        if self.r.random() < 0.25:
            return f"{{ var {v} = {start}; var {k} = 0; while {k} < {self.r.randrange(1, 4)} {{ {v} = sin({step}); {k} += 1 }}; {v} }}"
        limit = self.r.choice([str(self.r.randrange(12)), "n"] + loops)
        return f"{{ var {v} = {start}; for {k} in 0..{limit} {{ {v} = sin({step} + {v} * 0.3) }}; {v} }}"


count = int(os.environ.get("FLOW_RANDOM_PROGRAMS", "8"))
place = Place()
for base in range(0, count, 8):
    bodies = []
    for seed in range(base, min(base + 8, count)):
        maker = Maker(seed)
        i = maker.name()
        bodies.append(f"sum(for {i} in 0..n: {maker.expr([], [i], 3)} + {maker.loop([], [i], 2)})")
    place.write("loops.flow", HEAD + "".join(f"print(off(u => {body}, x))\n" for body in bodies))
    run = place.run("run", "-q", "loops.flow")
    found = run.stdout.split()
    check(len(found) == len(bodies), f"programs from {base} on run", run.stderr)
    for body, error in zip(bodies, found):
        check(float(error) < 1e-5, f"off by {error}: {body}")

finish()
