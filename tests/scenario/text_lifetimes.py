"""Texts die with the round of a loop, or the call, that made them: each place where texts are made (loops, functions,
stages, folds, scans, recursion, comprehensions, reductions, columns, arrays written over and over), compiled, -O0 and
--interp. What each gives is computed here; the peak of memory would be far higher if it kept what it makes: 3,000 texts
of 20,000 bytes are 60 MB, and one loop of 300,000 short ones appended to each other would keep 270 GB."""
import os
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, Place, check, finish

SCRIPT = r"""
param place: text
param n: i64

## A text of 20,000 bytes and some digits.
fn long_one(i: i64) -> text = repeat_text("abcdefghij", 2000) + "{i}"

fn rest(s: text, from: i64) -> text = slice(s, from, n_chars(s))
fn last(s: text, n: i64) -> text = slice(s, n_chars(s) - n, n_chars(s))

@memo(never)
stage assigned(n: i64) -> i64 {
  var s = ""
  var total = 0
  for i in 0..n {
    s = long_one(i)
    total += n_chars(s)
  }
  total + n_chars(s)
}

@memo(never)
stage appended(n: i64) -> i64 {
  var s = ""
  for i in 0..100 * n { s = s + "x{i % 10}" }
  n_chars(s)
}

@memo(never)
stage prepended(n: i64) -> i64 {
  var s = ""
  for i in 0..n // 10 { s = "x{i % 10}" + s }
  n_chars(s)
}

@memo(never)
stage while_loop(n: i64) -> i64 {
  var s = long_one(0)
  var total = 0
  var i = 0
  while i < n and n_chars(s) > 0 {
    let t = upper(s)
    s = replace(long_one(i), "j", "JJ")
    total += n_chars(t) - n_chars(s)
    i += 1
  }
  total
}

@memo(never)
stage nested(n: i64) -> i64 {
  var best = ""
  for i in 0..n // 100 {
    var s = long_one(i)
    for j in 0..100 {
      let t = s + "{j}"
      if t > best { best = t }
      if j % 10 == 0 { s = long_one(i + j) }
    }
  }
  n_chars(best)
}

@memo(never)
stage two_carried(n: i64) -> text {
  var a = "a"
  var b = long_one(7)
  for i in 0..n {
    let c = a
    a = if i % 3 == 0 { b } else { long_one(i) }
    b = c + ""
    if i % 1000 == 999 { b = "b{i}" }
  }
  rest(a, 19998) + "|" + last(b, 3)
}

@memo(never)
stage folded(n: i64) -> i64 = n_chars(fold((s, i) => if i % 2 == 0 { long_one(i) } else { s + "{i}" }, "", [for i in 0..n: i]))

@memo(never)
stage scanned(n: i64) -> i64 {
  let ends = [for i in 0..n: i]
  let all = scan((s, i) => rest(upper(long_one(i)), 20000) + slice(s, 0, 1), "", ends)
  sum(for s in all: n_chars(s))
}

fn down(i: i64, s: text) -> text = if i == 0 { s } else { down(i - 1, rest(upper(long_one(i)), 19990)) }
fn both(i: i64) -> text = if i <= 1 { "{i}" } else { rest(replace(long_one(i), "a", ""), 18000) + slice(both(i - 1), 0, 1) + slice(both(i - 2), 0, 1) }

@memo(never)
stage recursive(n: i64) -> text {
  var s = ""
  for i in 0..n // 100 { s = down(100, s) }
  s
}

@memo(never)
stage called_twice(n: i64) -> text = both(if n > 1000 { 16 } else { 10 })

@memo(never)
stage inner(s: text, i: i64) -> text = upper(s) + "{i}"

@memo(never)
stage staged(n: i64) -> i64 {
  var total = 0
  for i in 0..n { total += n_chars(inner(long_one(i), i)) }
  total
}

@memo(never)
stage elements(n: i64) -> text {
  var names = ["", "b", "c"]
  for i in 0..n {
    names[i % 3] = long_one(i)
    if i % 7 == 0 { names = ["{i}", names[1], names[2]] }
  }
  last(names[0], 5) + last(names[1], 5) + last(names[2], 5)
}

@memo(never)
stage kept(n: i64) -> text {
  var all: text[_] = [for i in 0..20: "-"]
  for i in 0..n { if i % (n // 10) == 0 { all[2 * i // (n // 10)] = long_one(i) } else { let t = long_one(i); if t == "" { all[0] = t } } }
  join_text([for s in all: last(s, 3)], ",")
}

@memo(never)
stage tuples(n: i64) -> text {
  var best = (name = "", size = 0)
  for i in 0..n {
    let now = (name = long_one(i), size = (i * 7919) % 10007)
    if now.size > best.size { best = now }
  }
  last(best.name, 6) + "{best.size}"
}

@memo(never)
stage tables(n: i64) -> i64 {
  var total = 0
  for i in 0..n // 10 {
    let t = table(name = [long_one(i), "b", long_one(i + 1)], x = [i, 2, 3])
    total += n_chars((t |> sort(-x)).name[0])
  }
  total
}

@memo(never)
stage tasks(n: i64) -> text {
  let rows = [for i in 0..n // 10 { var s = ""; for j in 0..10 { s = long_one(i + j) }; let x = sort([i, 2 * i]); last(s, 4) + "{x[1]}" }]
  join_text(rows[n // 10 - 3..], ",")
}

@memo(never)
stage kernel(n: i64) -> text {
  let ends = [for i in 0..n: rest(upper(long_one(i)), 20000)]
  join_text(ends[n - 3..], ",")
}

@memo(never)
stage kernel_loop(n: i64) -> text {
  let ends = [for i in 0..n // 100 { var s = ""; for j in 0..100 { s = long_one(i) + slice(s, 0, 1) }; last(s, 7) }]
  join_text(ends[n // 100 - 3..], ",")
}

@memo(never)
stage kernel_sum(n: i64) -> i64 = sum(for i in 0..n: n_chars(upper(long_one(i))))

@memo(never)
stage kernel_min(n: i64) -> i64 = argmin(for i in 0..n: n_chars(upper(long_one((i * 7919 + 5) % 10007))))

@memo(never)
stage kernel_if(n: i64) -> i64 = count(for i in 0..n if n_chars(long_one(i)) > 20004: long_one(i) > "ab")

@memo(never)
stage chosen(n: i64) -> text {
  let some = [for i in 0..n if last(long_one(i), 1) == "7": last(long_one(i), 6)]
  join_text(some[len(some) - 3..], ",")
}

@memo(never)
stage nullable(n: i64) -> i64 {
  var s: text? = null
  var total = 0
  for i in 0..n {
    s = if i % 2 == 0 { long_one(i) } else { null }
    total += n_chars(s ?? "x")
  }
  total
}

@memo(never)
stage columns(n: i64) -> i64 {
  let t = table(i = [for i in 0..n: i])
  let u = t |> derive(end = rest(upper(long_one(i)), 20000)) |> where(last(long_one(i), 1) == "3")
  sum(for s in u.end: n_chars(s))
}

if place == "assigned" { print(assigned(n)) }
if place == "appended" { print(appended(n)) }
if place == "prepended" { print(prepended(n)) }
if place == "while_loop" { print(while_loop(n)) }
if place == "nested" { print(nested(n)) }
if place == "two_carried" { print(two_carried(n)) }
if place == "folded" { print(folded(n)) }
if place == "scanned" { print(scanned(n)) }
if place == "recursive" { print(recursive(n)) }
if place == "called_twice" { print(called_twice(n)) }
if place == "staged" { print(staged(n)) }
if place == "elements" { print(elements(n)) }
if place == "kept" { print(kept(n)) }
if place == "tuples" { print(tuples(n)) }
if place == "tables" { print(tables(n)) }
if place == "tasks" { print(tasks(n)) }
if place == "kernel" { print(kernel(n)) }
if place == "kernel_loop" { print(kernel_loop(n)) }
if place == "kernel_sum" { print(kernel_sum(n)) }
if place == "kernel_min" { print(kernel_min(n)) }
if place == "kernel_if" { print(kernel_if(n)) }
if place == "chosen" { print(chosen(n)) }
if place == "nullable" { print(nullable(n)) }
if place == "columns" { print(columns(n)) }
if place == "main" {
  var s = ""
  var total = 0
  for i in 0..n {
    s = long_one(i)
    total += n_chars(s)
  }
  print(total)
}
if place == "lambda" {
  let twice = (f, s) => f(f(s))
  var total = 0
  for i in 0..n { total += n_chars(twice(s => upper(s) + "y", long_one(i))) }
  print(total)
}
"""


def long_one(i):
    return "abcdefghij" * 2000 + str(i)


def assigned(n):
    return sum(len(long_one(i)) for i in range(n)) + len(long_one(n - 1))


def while_loop(n):
    s, total = long_one(0), 0
    for i in range(n):
        t = s.upper()
        s = long_one(i).replace("j", "JJ")
        total += len(t) - len(s)
    return total


def nested(n):
    best = ""
    for i in range(n // 100):
        s = long_one(i)
        for j in range(100):
            best = max(best, s + str(j))
            if j % 10 == 0:
                s = long_one(i + j)
    return len(best)


def two_carried(n):
    a, b = "a", long_one(7)
    for i in range(n):
        c = a
        a = b if i % 3 == 0 else long_one(i)
        b = c
        if i % 1000 == 999:
            b = f"b{i}"
    return a[19998:] + "|" + b[-3:]


def folded(n):
    s = ""
    for i in range(n):
        s = long_one(i) if i % 2 == 0 else s + str(i)
    return len(s)


def scanned(n):
    s, total = "", 0
    for i in range(n):
        s = long_one(i).upper()[20000:] + s[:1]
        total += len(s)
    return total


def recursive(n):
    s = ""
    for _ in range(n // 100):
        for i in range(100, 0, -1):
            s = long_one(i - 0).upper()[19990:]
    return s


def both(i):
    if i <= 1:
        return str(i)
    return long_one(i).replace("a", "")[18000:] + both(i - 1)[:1] + both(i - 2)[:1]


def elements(n):
    names = ["", "b", "c"]
    for i in range(n):
        names[i % 3] = long_one(i)
        if i % 7 == 0:
            names[0] = str(i)
    return "".join(s[-5:] for s in names)


def kept(n):
    every = ["-"] * 20
    for i in range(n):
        if i % (n // 10) == 0:
            every[2 * i // (n // 10)] = long_one(i)
    return ",".join(s[-3:] for s in every)


def tuples(n):
    name, size = "", 0
    for i in range(n):
        if i * 7919 % 10007 > size:
            name, size = long_one(i), i * 7919 % 10007
    return name[-6:] + str(size)


def tables(n):
    total = 0
    for i in range(n // 10):
        rows = sorted([(-i, 0, long_one(i)), (-2, 1, "b"), (-3, 2, long_one(i + 1))])
        total += len(rows[0][2])
    return total


def main(n):
    return sum(len(long_one(i)) for i in range(n))


N = 3000
EXPECTED = {
    "assigned": assigned(N),
    "appended": 2 * 100 * N,
    "prepended": 2 * (N // 10),
    "while_loop": while_loop(N),
    "nested": nested(N),
    "two_carried": two_carried(N),
    "folded": folded(N),
    "scanned": scanned(N),
    "recursive": recursive(N),
    "called_twice": both(16),
    "staged": main(N) + sum(len(str(i)) for i in range(N)),
    "elements": elements(N),
    "kept": kept(N),
    "tuples": tuples(N),
    "tables": tables(N),
    "tasks": ",".join(long_one(i + 9)[-4:] + str(2 * i) for i in range(N // 10 - 3, N // 10)),
    "kernel": ",".join(str(i) for i in range(N - 3, N)),
    "kernel_loop": ",".join((long_one(i) + "a")[-7:] for i in range(N // 100 - 3, N // 100)),
    "kernel_sum": main(N),
    "kernel_min": min(range(N), key=lambda i: len(str((i * 7919 + 5) % 10007))),
    "kernel_if": sum(len(str(i)) > 4 for i in range(N)),
    "chosen": ",".join(long_one(i)[-6:] for i in range(N) if i % 10 == 7)[-20:],
    "nullable": sum(len(long_one(i)) if i % 2 == 0 else 1 for i in range(N)),
    "columns": sum(len(str(i)) for i in range(N) if i % 10 == 3),
    "main": main(N),
    "lambda": main(N) + 2 * N,
}
# What is not fused is a column of its own, and that is what these have in mind.
COLUMNS = {"columns"}
LIMIT = 48 << 20

place = Place(texts__flow=SCRIPT)
sanitized = "FLOW_SANITIZE" in os.environ


def run(mode, name, n):
    """Output, status and peak of resident memory in bytes; what runs away is stopped."""
    command = [FLOWC, "run", *mode, "--quiet", "texts.flow", "--place", name, "--n", str(n)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    process = subprocess.Popen(command, cwd=place.path, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               preexec_fn=None if sanitized else limit)
    out = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return out.strip(), process.returncode, usage.ru_maxrss * 1024


for mode in ([], ["-O0"], ["--interp"]):
    run(mode, "none", 1)  # compiles, and remembers the code: compiling is not what is measured here
    how = " ".join(mode) or "compiled"
    for name, expected in EXPECTED.items():
        out, status, peak = run(mode, name, N)
        check(status == 0 and out == str(expected), f"{name}, {how}: gives {str(expected)[:60]}", f"{status}: {out[:300]}")
        if not sanitized and not (mode and name in COLUMNS):
            check(peak < LIMIT, f"{name}, {how}: stays below {LIMIT >> 20} MB", f"{peak >> 20} MB")
finish()
