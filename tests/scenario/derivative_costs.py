"""What the way back through rounds does not compute again: operators that take long, as many as in the loop itself."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

BODIES = {
    "v = tanh(m @ v)": {"tanh": 1},
    "v = 0.5 * tanh(m @ v) + exp(-v)": {"tanh": 1, "exp": 1},
    "let z = m @ v; v = 1 / (1 + exp(-z)) * tanh(v); t += sum(v^2)": {"exp": 1, "tanh": 1},
}
SCRIPT = """
fn f(p, m: f64[n, n], b: f64[n, n]) -> f64 {{
  var v = p * b
  var t = 0.0
  for _ in 0..10 {{ {body} }}
  sum(v) + t
}}
let m = [for i in 0..4, j in 0..4: random(1, i, j)]
print(grad(p => f(p, m, m))(0.5))
"""


def ir_of(body):
    place.write("costs.flow", SCRIPT.format(body=body))
    done = place.run("build", "costs.flow", "--emit=ir")
    check(done.returncode == 0, body, done.stderr)
    return done.stdout


place = Place()
for body, counts in BODIES.items():
    ir = ir_of(body)
    for name, n in counts.items():
        found = len(re.findall(rf"= {name}\b", ir))
        check(found == n, f"`{body}` computes {name} in {n} place", f"{found} places\n{ir}")
finish()
