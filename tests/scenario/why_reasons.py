#!/usr/bin/env python3
"""Each reason that `flowc why` can give: what is edited between two runs, and what it must say. Compiled and with --interp."""
import sys

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

MAIN = """import "helper.flow" as helper
param least: f64 = 1.0
param name: text = "a b"
param step: i64? = null
let data = [1.0, 2.0, 3.0]
fn scaled(x: f64[n], by: f64) -> f64[n] = helper.times(x, by)
fn depth(n: i64) -> f64 = if n == 0 { 1.0 } else { depth(n - 1) + 1.0 }
stage total(x: f64[n], least: f64, name: text, step: i64?) -> f64 =
  sum(scaled(x, 2.0)) + least + f64(n_chars(name)) + f64(step ?? 0) + depth(2)
stage other(k: i64) -> i64 = k + 1
print(total(data, least, name, step), other(1))
"""
HELPER = """fn times(x: f64[n], by: f64) -> f64[n] = [for v in x: v * by + unchanged(v)]
fn unchanged(v: f64) -> f64 = 0.0
"""

# What is edited (file, old, new) or given on the command line; what `why` says of `total`.
CASES = [
    ([], ["--least", "5.0"], "total: run, least: 1.0 -> 5.0\n"),
    ([], ["--name", "c=d"], 'total: run, name: "a b" -> "c=d"\n'),
    ([], ["--least", "2.0", "--name", "x"], 'total: run, least: 1.0 -> 2.0; name: "a b" -> "x"\n'),
    ([("main.flow", "[1.0, 2.0, 3.0]", "[1.0, 2.5, 3.0]")], [], "total: run, `x` changed\n"),
    ([("main.flow", "depth(2)", "depth(3)")], [], "total: run, its code changed\n"),
    ([("main.flow", "(n - 1) + 1.0", "(n - 1) + 2.0")], [], "total: run, `depth` (main.flow) changed\n"),
    ([("helper.flow", "v * by", "by * v * 1.5")], [], "total: run, `times` (helper.flow) changed\n"),
    ([("helper.flow", "= 0.0", "= 0.5")], [], "total: run, `unchanged` (helper.flow) changed\n"),
    ([("helper.flow", "+ unchanged(v)", "+ 1.0")], [],
     "total: run, `times` (helper.flow) changed; it does not call `unchanged` (helper.flow) any longer\n"),
    ([("main.flow", "= helper.times(x, by)", "= helper.times(x, by + 0.5)")], [],
     "total: run, `scaled` (main.flow) changed\n"),
    ([("helper.flow", "fn times", "# a comment\nfn times"), ("helper.flow", "unchanged(v)]", "unchanged( v )]  # more")], [],
     "total: cached, its code and arguments are known\n"),
]

for edits, words, want in CASES:
    for mode in ([], ["--interp"]):
        p = Place()
        p.write("main.flow", MAIN)
        p.write("helper.flow", HELPER)
        first = p.run("run", *mode, "main.flow")
        check(first.returncode == 0, "it runs", first.stderr)
        for file, old, new in edits:
            p.edit(file, old, new)
        done = p.run("run", *mode, "main.flow", *words)
        check(done.returncode == 0, "it runs again", done.stderr)
        said = p.run("why", "main.flow", "total").stdout
        check(said == want, f"{edits} {words} {mode}: {want!r}", said)
        said = p.run("why", "main.flow", "other").stdout
        check(said == "other: cached, its code and arguments are known\n", "the other stage is known", said)
finish()
