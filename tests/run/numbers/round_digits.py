#!/usr/bin/env python3
"""Writes round_digits.csv: floats, digits, and what Python's `round` makes of them, which rounds the exact value, ties
to even. `python3 round_digits.py` in this folder."""
import random
import struct

random.seed(20)
rows = []


def add(x, digits):
    try:
        want = round(x, digits)
    except OverflowError:
        want = float("inf") if x > 0 else float("-inf")
    rows.append((x, digits, want))


for x in [0.5, 1.5, 2.5, -2.5, 2.675, 1.005, 0.1, 1e22, 1e23, 5e22, 2.5e23, 1.5e300, 9.5e307, 1.7e308, 5e-324, 1e-300,
          9007199254740993.0, 4503599627370497.5, 4503599627370496.5, 2251799813685248.25, 0.0, -0.0, 99.995, 999999.5,
          1.2345678901234567e30, 123456789.123456789, 4.35, 5e15, 12345678912345.678, 562949953421312.06]:
    for digits in [-400, -310, -309, -308, -301, -300, -24, -23, -22, -21, -5, -2, -1, 0, 1, 2, 3, 5, 14, 15, 16, 20, 21, 22, 23,
                   24, 30, 300, 320, 322, 323, 324, 330, 345, 2000]:
        add(x, digits)
for _ in range(800):
    x = struct.unpack("<d", random.randbytes(8))[0]
    if x - x != 0:
        continue
    place = -int(f"{abs(x):e}".split("e")[1])
    add(x, place + random.randint(-2, 18))
for _ in range(800):  # halves, and numbers near them
    digits = random.randint(-30, 30)
    x = float(f"{random.randint(0, 10 ** random.randint(1, 15))}5e{-digits - 1}")
    add(random.choice([x, -x]), digits)
for _ in range(300):  # from 2^52 units on
    digits = random.randint(-22, 22)
    add(random.uniform(2**51, 2**55) * 10.0**-digits, digits)

with open("round_digits.csv", "w") as out:
    out.write("x,digits,want\n")
    for x, digits, want in rows:
        out.write(f"{x!r},{digits},{want!r}\n")
