"""Derivatives through long loops: what a loop keeps for the way back grows with the square root of its rounds, and
updating one element in a round costs no copy of the array, forward or backward."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, SHORT, Place, check, finish

ROUNDS = 3_000 if SHORT else 10_000
N = 10_000

LONG = """
param rounds: i64
param n: i64
fn run(u: f64[n]) -> f64 {
  var v = u
  for _ in 0..rounds { v = v * 0.9999 + 1e-6 * v * v }
  sum(v)
}
let g = grad(run)([for i in 0..n: 1.0 + f64(i % 7)])
print("{g[0]:.12e} {g[5]:.12e} {g[n - 1]:.12e}")
"""

# Each round reads and writes one element.
ELEMENTS = """
param rounds: i64
param n: i64
fn run(u: f64[n]) -> f64 {
  var a = u
  for i in 0..rounds {
    let k = i % n
    if i % 3 != 0 { a[k] = a[k] * 0.5 + a[(k + 1) % n] } else { a[k] = sin(a[k]) }
  }
  sum(a)
}
let g = grad(run)([for i in 0..n: f64(i % 7) / 7])
print("{g[0]:.9e} {g[1]:.9e} {sum(g):.9e}")
"""


def measured(place, script, *args):
    """The bytes on standard output, the peak resident size in MiB and the processor time in seconds."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(place.path)
        os.environ.update(place.env)
        os.dup2(write, 1)
        command = place.command("run", script, "--workers", "1", *args)
        os.execv(command[0], command)
    os.close(write)
    with os.fdopen(read) as out:
        text = out.read()
    _, status, usage = os.wait4(child, 0)
    check(status == 0, f"{script} {args} ends well", status)
    return text, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def slopes(rounds):
    """The derivative of the loop of LONG by elements 0, 5 and the last: each by itself."""
    found = []
    for i in (0, 5, N - 1):
        v, d = 1.0 + i % 7, 1.0
        for _ in range(rounds):
            d *= 0.9999 + 2e-6 * v
            v = v * 0.9999 + 1e-6 * v * v
        found.append(d)
    return found


def by_elements(rounds, n):
    """The gradient of ELEMENTS, by an adjoint program of its own."""
    from math import cos, sin
    a = [i % 7 / 7 for i in range(n)]
    tape = []
    for i in range(rounds):
        k = i % n
        tape.append(a[k])
        a[k] = a[k] * 0.5 + a[(k + 1) % n] if i % 3 else sin(a[k])
    g = [1.0] * n
    for i in reversed(range(rounds)):
        k = i % n
        if i % 3:
            g[(k + 1) % n] += g[k]
            g[k] *= 0.5
        else:
            g[k] *= cos(tape[i])
    return g


place = Place(long__flow=LONG, elements__flow=ELEMENTS)

measured(place, "long.flow", "--rounds", str(ROUNDS), "--n", str(N))  # code and loops are remembered; making them takes memory too
text, size, _ = measured(place, "long.flow", "--rounds", str(ROUNDS), "--n", str(N))
expected = slopes(ROUNDS)
for got, want in zip(text.split(), expected):
    check(abs(float(got) - want) <= 1e-11 * abs(want), f"{got} is {want} to 1e-11")
_, idle, _ = measured(place, "long.flow", "--rounds", "1", "--n", str(N))
states = (size - idle) * 2**20 / (8 * N)
if PATIENCE == 1:
    check(states < 3 * ROUNDS**0.5, f"{ROUNDS} rounds keep {states:.0f} states")

n = 3000
text, _, _ = measured(place, "elements.flow", "--rounds", str(2 * n), "--n", str(n))
g = by_elements(2 * n, n)
for got, want in zip(text.split(), (g[0], g[1], sum(g))):
    check(abs(float(got) - want) <= 1e-8 * abs(want), f"{got} is {want} to 1e-8")
# 16 times the rounds on an array 16 times as long: with copies 256 times the work.
measured(place, "elements.flow", "--rounds", "6", "--n", "3")
_, _, short = measured(place, "elements.flow", "--rounds", "60000", "--n", "30000")
_, _, long = measured(place, "elements.flow", "--rounds", "960000", "--n", "480000")
if PATIENCE == 1:
    check(long < 32 * short + 1, f"16 times the rounds take {long:.2f} s after {short:.2f} s")

finish()
