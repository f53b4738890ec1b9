"""What is nested is elaborated once: each form of the language 20 deep in itself, and in turn with each other one, is checked in
memory that any doubling by level would go far past; and comprehensions of every shape in each other give what Python gives."""
import os
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
DEPTH = 20
HEAD = """param p: f64 = 1.5
param q: i64 = 3
param n: f64? = null
fn g(x: f64) = x * 1.5 + 1.0
let v = [p, 2.0]
let w = [q, 1]
let t = table(a = [p, 2.0], k = [q, 1])
"""
# From a float @ to a float; # is a number of its own.
FORMS = {
    "sum": "sum(for i# in 0..2: @)",
    "sum where": "sum(for i# in 0..2 if i# > 0: @)",
    "sum over a filter": "sum(for i# in 0..2 if @ > 1.0: 1.5)",
    "sum of products": "sum(for i# in 0..2: 0.5 * @)",
    "sum over axes": "sum(for i# in 0..2, j# in 0..2: @)",
    "sum over what depends": "sum(for i# in 0..2, j# in 0..i#: @)",
    "sum over an array": "sum(for i# in [@, 1.0]: i#)",
    "sum over an array that decides": "sum(for i# in [@, 1.0], j# in 0..i64(min(1.0, i#)): 1.5)",
    "best": "best(for i# in 0..2: (a = @, b = i#), by = b).a",
    "array": "sum([for i# in 0..2: @])",
    "axes": "sum([for i# in 0..2, j# in 0..2: @])",
    "filter": "sum([for i# in 0..2 if i# > 0: @])",
    "filter of it": "sum([for i# in 0..2 if @ > 1.0: 1.5])",
    "filter of it, rows": "sum([for i# in 0..2 if @ > 1.0: [1.5, 2.0]])",
    "filter, block": "sum([for i# in 0..2 if i# > 0: { let y# = @\\n y# }])",
    "rows": "sum([for i# in 0..2: [@, 1.0]])",
    "rows over axes": "sum([for i# in 0..2, j# in 0..2: [@, 1.0]])",
    "rows over a filter": "sum([for i# in 0..2 if i# > 0: [@, 1.0]])",
    "rows over axes and a filter": "sum([for i# in 0..2, j# in 0..2 if i# > j#: [@, 1.0]])",
    "rows that are sorted": "sum([for i# in 0..2, j# in 0..2: sort([@, 1.0])])",
    "what depends": "sum([for i# in 0..2, j# in 0..i#: @])",
    "what depends, rows": "sum([for i# in 0..2, j# in 0..i#: [@, 1.0]])",
    "what depends on a filter": "sum([for i# in 0..2 if i# > 0, j# in 0..i#: @])",
    "tuples": "sum([for i# in 0..2: (a = @, b = 1.0)].a)",
    "tuples over axes": "sum([for i# in 0..2, j# in 0..2: (a = @, b = 1.0)].a)",
    "tuples with arrays": "sum([for i# in 0..2 if i# > 0: (a = @, b = [1.0])].a)",
    "lists": "f64(count([for i# in 0..2 if i# > 0: [for k# in 0..i#: @]]))",
    "lists over axes": "f64(count([for i# in 0..2, j# in 0..2: [for k# in 0..i#: @]]))",
    "tables": "f64(count([for i# in 0..2 if i# > 0: table(a = [@])]))",
    "if": "(if p > 0.0 { @ } else { 0.5 })",
    "else": "(if p > 0.0 { 0.5 } else { @ })",
    "condition": "(if @ > 0.0 { 1.0 } else { 0.5 })",
    "match": "(match q { 0 => 0.5, _ => @ })",
    "match of it": "(match @ { 0.0 => 0.5, _ => 2.0 })",
    "guard": "(match q { x# if @ > f64(x#) => 0.5, _ => 2.0 })",
    "if by element": "sum(if v > 1.0 { v * @ } else { 0.5 })",
    "if by element, scalar": "sum(if v > 1.0 { @ } else { 0.5 })",
    "condition by element": "sum(if v > @ { v } else { 0.5 })",
    "match by element": "sum(match w { 0 => 0.5, _ => v * @ })",
    "default by element": "sum([1.0, null] ?? @)",
    "default": "(n ?? @)",
    "logic by element": "f64(count(if (v > 1.0) and (v > @) { v } else { 0.5 }))",
    "lambda": "(x# => x# + @)(1.0)",
    "fold": "fold((a#, b#) => a# + b# * @, 0.5, v)",
    "fold from it": "fold((a#, b#) => a# + b#, @, v)",
    "scan": "sum(scan((a#, b#) => a# + b# * @, 0.5, v))",
    "literal": "sum([[@, 1.0], [2.0, 3.0]])",
    "tuple": "(a = @, b = 1.0).a",
    "block": "{ let y# = @\\n y# + 1.0 }",
    "loop": "{ var s# = 0.5\\n for i# in 0..2 { s# += @ }\\n s# }",
    "loop that ends": "{ var s# = 0.5\\n for i# in 0..2 { s# += @\\n if s# > 9.0 { break } }\\n s# }",
    "loop that goes on": "{ var s# = 0.5\\n for i# in 0..2 { if s# > 9.0 { continue }\\n s# += @ }\\n s# }",
    "while": "{ var s# = 0.5\\n while s# < @ { s# += 1.0 }\\n s# }",
    "element set": "{ var s# = v\\n s#[i64(min(0.0, @))] = 1.0\\n sum(s#) }",
    "element added to": "{ var s# = v\\n s#[i64(min(0.0, @))] += 1.0\\n sum(s#) }",
    "field's element": "{ var s# = (a = v, b = 1.0)\\n s#.a[i64(min(0.0, @))] = 1.0\\n s#.b }",
    "element of an element": "{ var s# = (a = [v, v], b = 1.0)\\n s#.a[0, i64(min(0.0, @))] += 1.0\\n s#.b }",
    "assert": "{ assert @ > 0.0\\n 1.0 }",
    "derive": "sum((t |> derive(b = a * @)).b)",
    "where": "sum((t |> where(a > @)).a)",
    "sort": "sum((t |> sort(a * @)).a)",
    "summarize": "(t |> summarize(b = sum(a) * @)).b[0]",
    "groups": "sum((t |> group_by(k) |> summarize(b = sum(a) * @)).b)",
    "groups, derive": "sum((t |> group_by(k) |> derive(b = sum(a) * @) |> ungroup).b)",
    "groups, each": "sum((t |> group_by(k) |> summarize(b = sort(a)[0] * @)).b)",
    "columns": "sum((t |> derive(each(a, x# => x# * @))).a)",
    "grad": "grad(x# => x# * @)(1.0)",
    "grad at it": "grad(x# => x# * x#)(@)",
    "index": "v[i64(min(0.0, @))]",
    "slice": "sum(v[0..i64(max(1.0, min(1.0, @)))])",
    "pipe": "(@ |> abs)",
    "new": "sum(v[:, new] * @)",
    "minus": "(-(@))",
    "concat": "sum(concat(v, [@]))",
    "in": "(if 1.0 in [@, 2.0] { 1.0 } else { 2.0 })",
    "call": "g(@)",
}


def nest(forms, depth):
    text = "p"
    for k in reversed(range(depth)):
        text = FORMS[forms[k % len(forms)]].replace("\\n", "\n").replace("#", str(k)).replace("@", text)
    return f"print({text})"


def memory(lines):
    """MB that checking takes; None: it failed, and what it said is in the file `said`."""
    place.write("forms.flow", HEAD + "\n".join(lines) + "\n")
    limit = None if "FLOW_SANITIZE" in os.environ else lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    with open(place.path / "said", "w") as said:
        process = subprocess.Popen(place.command("check", "forms.flow"), cwd=place.path, env=place.env, preexec_fn=limit, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
    return used.ru_maxrss / 1024 if status == 0 else None


for name in FORMS:
    lines = [nest((name, other), DEPTH) for other in FORMS]
    found = memory(lines)
    check(found is not None and ("FLOW_SANITIZE" in os.environ or found < 100), f"{name}, in turn with each form, {DEPTH} deep", f"{found} MB\n" + (place.path / "said").read_text()[:600])

# Shapes of comprehensions in each other, three deep, with what is around them in each element: (flow, Python).
SHAPES = {
    "array": ("sum([for i# in 0..3: @ + f64(i#)])", "sum(@ + i# for i# in range(3))"),
    "axes": ("sum([for i# in 0..2, j# in 0..3: @ * f64(i# - j#)])", "sum(@ * (i# - j#) for i# in range(2) for j# in range(3))"),
    "filter": ("sum([for i# in 0..4 if i# % 2 == 1: @ + f64(i#)])", "sum(@ + i# for i# in range(4) if i# % 2 == 1)"),
    "filter of it": ("sum([for i# in 0..4 if @ + f64(i#) > 2.0: [f64(i#), 1.0]])", "sum(i# + 1.0 for i# in range(4) if @ + i# > 2.0)"),
    "rows over axes": ("sum([for i# in 0..2, j# in 0..3: sort([@, f64(i# * j#)])[0]])", "sum(min(@, i# * j#) for i# in range(2) for j# in range(3))"),
    "rows over a filter": ("sum([for x# in [3.0, 1.0, 2.0] if x# > 1.5: [@, x#]])", "sum(@ + x# for x# in (3.0, 1.0, 2.0) if x# > 1.5)"),
    "rows of rows": ("sum([for r# in [[3.0, 1.0], [2.0, 5.0]], j# in 0..2 if r#[j#] > 1.5: r# + @])",
                     "sum(r# [0] + r# [1] + 2 * @ for r# in ((3.0, 1.0), (2.0, 5.0)) for j# in range(2) if r# [j#] > 1.5)"),
    "rows as they are": ("sum([for r# in [[3.0, 1.0], [2.0, 5.0]] if r#[0] > 2.5: r#]) + @", "(4.0 + @)"),
    "lists": ("f64(sum([for l# in [for i# in 0..4 if i# > 0: [for k# in 0..i#: @ + f64(k#)]]: sum(l#)]))",
              "sum(@ + k# for i# in range(1, 4) for k# in range(i#))"),
    "lists over axes": ("sum([for l# in [for i# in 0..2, j# in 0..2: [for k# in 0..i# + j#: @ + f64(k#)]]: sum(l#)])",
                        "sum(@ + k# for i# in range(2) for j# in range(2) for k# in range(i# + j#))"),
    "tuples": ("sum([for i# in 0..3 if i# != 1: (a = @ + f64(i#), b = [1.0])].a)", "sum(@ + i# for i# in (0, 2))"),
    "what depends": ("sum([for i# in 0..4 if i# > 1, j# in 0..i#: [@, f64(j#)]])", "sum(@ + j# for i# in (2, 3) for j# in range(i#))"),
    "element": ("{ var s# = [1.0, 2.0, 4.0]\n s#[i64(floor(abs(@))) % 3] += @\n  (s#[2] + s#[1] * 0.5) }",
                "(lambda at: [1.0, 2.0, 4.0][2] + (@ if at == 2 else 0) + ([1.0, 2.0, 4.0][1] + (@ if at == 1 else 0)) * 0.5)(int(abs(@)) % 3)"),
}
lines, meant = [], []
for a in SHAPES:
    for b in SHAPES:
        flow, python = "p", "1.5"
        for k, shape in enumerate((a, b, a)):
            flow, python = (SHAPES[shape][side].replace("#", str(k)).replace("@", f"({of})") for side, of in ((0, flow), (1, python)))
        lines.append(f"print({flow})")
        meant.append(f"{a} of {b} of {a}: {float(eval(python))!r}")
place.write("shapes.flow", "param p: f64 = 1.5\n" + "\n".join(lines) + "\n")
for way in ([], ["--interp"]):
    done = place.run("run", "--no-cache", *way, "shapes.flow")
    found = done.stdout.splitlines()
    check(len(found) == len(meant), f"all shapes {way}", done.stderr[-600:])
    for line, is_so in zip(found, meant):
        what, value = is_so.rsplit(": ", 1)
        check(abs(float(line) - float(value)) <= 1e-12 * abs(float(value)), f"{what} {way}: {value}", line)
finish()
