#!/usr/bin/env python3
"""An error in what is computed group by group says the group: every kind of fault x every type of key, in each verb of grouped
tables, as a binary, with -O0 and --interp. So does one in what is computed for all groups at once: FORMS of expressions x keys x
verbs, and WAYS to a table of groups. Which group fails, and how its key is written, is known here: the rows of one group have
values that sum to 0, all others do not. Prints "N passed, N failed"."""
import re
import sys

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

# Expressions of type f64 that fail where z is 0.
FAULTS = {
    "index": ("E0704", "[1.0, 2.0][z - z + if z == 0 { 5 } else { 0 }]"),
    "division": ("E0702", "f64(7 // z)"),
    "overflow": ("E0701", "f64(9223372036854775807 + if z == 0 { 1 } else { 0 })"),
    "assert": ("E0710", '{ assert z > 0, "z is {z}"; 1.0 }'),
    "error": ("E0711", 'if z == 0 { error("z is {z}") } else { 1.0 }'),
    "parse": ("E0706", 'parse_f64(if z == 0 { "x" } else { "1" })'),
    "cast": ("E0705", "f64(i8(if z == 0 { 300 } else { 1 }))"),
    "null": ("E0711", '(if z > 0 { 1.0 } else { null }) ?? error("no value")'),
    "shape": ("E0708", "sum([1.0, 2.0, 3.0] + [for i in 0..(if z == 0 { 4 } else { 3 }): 1.0])"),
    "category": ("E0261", 'f64(codes(category(["a", if z == 0 { "b" } else { "a" }], levels = ["a"]))[1])'),
    "cholesky": ("E0976", "cholesky([[f64(z), 0.0], [0.0, 1.0]])[0, 0]"),
    "empty": ("E0709", "max([for i in 0..z: 1.0])"),
}

# Keys: their columns as the script makes them, how the key of the group whose values are 0 is written (rows 1 and 4 are it), and
# their names, unless `a`.
KEYS = {
    "int": ("a = [7, -3, 7, 9, -3]", "a = -3"),
    "small": ("a = u8([7, 3, 7, 9, 3])", "a = 3"),
    "float": ("a = [0.5, -1.25e-9, 0.5, 2.0, -1.25e-9]", "a = -1.25e-9"),
    "bool": ("a = [true, false, true, true, false]", "a = false"),
    "text": ('a = ["x", "Zürich, 2", "x", "y", "Zürich, 2"]', 'a = "Zürich, 2"'),
    "category": ('a = category(["x", "y", "x", "z", "y"], levels = ["z", "y", "x"])', 'a = "y"'),
    "date": ('a = [date("2026-01-31"), date("1899-12-30"), date("2026-01-31"), date("2000-01-01"), date("1899-12-30")]',
             "a = 1899-12-30"),
    "datetime": ('a = [datetime("2026-01-31 10:00:00"), datetime("1999-12-31 23:59:58"), datetime("2026-01-31 10:00:00"), '
                 'datetime("2000-01-01 00:00:00"), datetime("1999-12-31 23:59:58")]', "a = 1999-12-31T23:59:58Z"),
    "duration": ("a = [days(1), hours(36), days(1), days(2), hours(36)]", "a = 1d 12:00:00"),
    "null": ("a = [1, null, 1, 2, null]", "a = null"),
    "null text": ('a = ["x", null, "x", "y", null]', "a = null"),
    "text or null": ('a = ["x", "", "x", null, ""]', 'a = ""'),
    "category or null": ('a = category(["x", "y", "x", null, "y"], levels = ["y", "x"])', 'a = "y"'),
    "two": ('a = [1, 1, 1, 2, 1], `b c` = ["p", "q", "p", "q", "q"]', 'a = 1, `b c` = "q"', "a, `b c`"),
    "three": ('a = [1, 1, 1, 1, 1], b = [null, true, null, true, true], `c\\`d` = [0.5, inf, 0.5, 0.5, inf]',
              "a = 1, b = true, `c\\`d` = inf", "a, b, `c\\`d`"),
}
VERBS = {
    "summarize": "summarize(r = f(v))",
    "derive": "derive(r = f(v))",
    "where": "where(f(v) > 0.0)",
    "sort": "sort(f(v))",
    "each": "derive(each(cols(\"v\"), x => f(x)))",
    "by": None,
}

BIG = 9223372036854775807
# Expressions of type f64 over columns, which are computed for all groups at once; they fail where v is 0. With each the row that
# fails first, where the verb's rows are what is computed: rows 1 and 4 are the group's.
FORMS = {
    "division": ("E0702", "f64(7 // sum(v))", 1),
    "of aggregates": ("E0702", "f64(sum(v) // max(v))", 1),
    "a row by its group": ("E0702", "f64(last(v) % max(v))", 1),
    "sum": ("E0701", f"f64(sum(if v == 0 {{ {BIG} }} else {{ v }}))", None),
    "sum of durations": ("E0701", f"f64(sum(if v == 0 {{ days(100000000) }} else {{ days(1) }}) / days(1))", None),
    "overflow": ("E0701", f"f64({BIG} + if max(v) == 0 {{ 1 }} else {{ 0 }})", 1),
    "error": ("E0711", 'if max(v) == 0 { error("no value") } else { 1.0 }', 1),
    "match": ("E0711", 'match sum(v) { 0 => error("no value"), _ => 1.0 }', 1),
    "cast": ("E0705", "f64(i8(if sum(v) == 0 { 300 } else { 1 }))", 1),
    "parse": ("E0706", 'parse_f64(if sum(v) == 0 { "x" } else { "1" })', 1),
    "null": ("E0711", '(if max(v) > 0 { 1.0 } else { null }) ?? error("no value")', 1),
    "function": ("E0710", "g(sum(v))", 1),
    "within an aggregate": ("E0702", "f64(sum(7 // max(v)))", "rows"),
    "mean of a sum": ("E0702", "mean(7 // sum(v))", "rows"),
    "running sum": ("E0701", f"f64(cumsum(if v == 0 {{ {BIG} }} else {{ 1 }}))", 4),
    "rolling sum": ("E0701", f"f64(rolling(if v == 0 {{ {BIG} }} else {{ 1 }}, 2, sum) ?? 0)", 4),
    "rolling": ("E0702", "f64(rolling(v, 2, w => 7 // sum(w)) ?? 0)", 4),
}
# How a table of groups comes about, of `r` = an expression over v, by `names`.
WAYS = {
    "filtered before": "t |> where(v < 9) |> group_by({names}) |> summarize(r = {e})",
    "filtered after": "t |> group_by({names}) |> where(count() < 9) |> summarize(r = {e})",
    "derived": "t |> derive(w = v + 1) |> derive(v = w - 1) |> group_by({names}) |> summarize(r = {e}) |> derive(q = r + 1)",
    "with others": "t |> group_by({names}) |> summarize(n = count(), m = mean(v), r = {e}, s = sum(v)) |> derive(q = 9 // n)",
    "joined": 'join(t, table(v = [0, 1, 2, 3]), on = (v)) |> group_by({names}) |> summarize(r = {e})',
    "stage": "in_stage(t)",
    "loop": "[for k in 1..3: sum((t |> group_by({names}) |> summarize(r = ({e}) * k)).r)]",
    "twice": "t |> group_by({names}) |> derive(u = 1) |> group_by({names}) |> summarize(r = {e})",
    "derivative": "grad(p => sum((t |> group_by({names}) |> summarize(r = p * ({e}))).r))(2.0)",
}


def at_once():
    """(key, form, verb): keys and verbs in turn."""
    verbs, n = ["summarize", "derive", "where", "sort", "by"], 0
    for i, form in enumerate(FORMS):
        for j, verb in enumerate(verbs):
            row = FORMS[form][2]
            if not (isinstance(row, int) and row == 4 and verb in ("summarize", "by")):
                yield list(KEYS)[n % len(KEYS)], form, verb
                n += 1


def notes(key, form, verb):
    row = FORMS[form][2]
    by_row = row == "rows" or (row is not None and verb not in ("summarize", "by"))
    return ([f"at position {1 if row == 'rows' else row}"] if by_row else []) + ["in the group " + KEYS[key][1]]


def many_script():
    lines = ["param which: i64 = -1", 'fn g(x: i64) -> f64 { assert x > 0, "no value"; 1.0 / f64(x) }']
    for i, (columns, *_) in enumerate(KEYS.values()):
        lines.append(f"let t{i} = table({columns}, v = [1, 0, 2, 3, 0])")
    want = []
    for key, form, verb in at_once():
        k, names, e = list(KEYS).index(key), KEYS[key][2] if len(KEYS[key]) > 2 else "a", FORMS[form][1]
        call = {"summarize": f"group_by({names}) |> summarize(r = {e})", "derive": f"group_by({names}) |> derive(r = {e})",
                "where": f"group_by({names}) |> where(({e}) > 0.0)", "sort": f"group_by({names}) |> sort({e})",
                "by": f"summarize(r = {e}, by = ({names}))"}[verb]
        lines.append(f"if which == {len(want)} {{ show(t{k} |> {call}) }}")
        want.append((f"{form} in {verb} by {key}", (FORMS[form][0], notes(key, form, verb))))
    for i, (way, code) in enumerate(WAYS.items()):
        key, form = list(KEYS)[-1 - i], list(FORMS)[i]
        names, e = KEYS[key][2] if len(KEYS[key]) > 2 else "a", FORMS[form][1]
        code = code.replace("{names}", names).replace("{e}", e).replace("t |>", f"t{list(KEYS).index(key)} |>")
        code = code.replace("(t,", f"(t{list(KEYS).index(key)},").replace("(t)", f"(t{list(KEYS).index(key)})")
        if way == "stage":
            k = list(KEYS).index(key)
            lines.insert(1, f"stage in_stage(t: _[n]) -> f64 = sum((t |> group_by({names}) |> summarize(r = {e})).r)")
        more = {"stage": ["in stage `in_stage`"], "loop": ["at position 0"]}.get(way, [])
        lines.append(f"if which == {len(want)} {{ show({code}) }}")
        want.append((f"{form}, {way} by {key}", (FORMS[form][0], notes(key, form, "summarize") + more)))
    return "\n".join(lines) + "\n", want


# A file that is read part by part, and so many groups that workers share them: group k is of the rows k and k + N, values that
# sum to 0 in group FAIL alone.
N, FAIL = 50_000, 31_234
FROM_FILE = f"""param which: i64 = 0
let t = read_csv("many.csv")
if which == 0 {{ show(t |> group_by(k) |> summarize(r = 7 // sum(v))) }}
if which == 1 {{ show(t |> group_by(k) |> derive(r = 7 // sum(v))) }}
if which == 2 {{ show(t |> group_by(k) |> summarize(r = sum(if v < 0 {{ {BIG} }} else {{ 1 + v }}))) }}
if which == 3 {{ show(t |> group_by(k) |> summarize(n = count(), r = sum(big), m = mean(v))) }}
if which == 4 {{ show(t |> group_by(k) |> pivot(name = w, value = sum(big), into = (one, two))) }}
"""


def from_file(p):
    rows = [f"g{i % N},{'one' if i % N % 2 else 'two'},{-1 if i == FAIL else 1},{BIG // 2 + 9 if i % N == FAIL else 1}" for i in range(2 * N)]
    p.write("many.csv", "k,w,v,big\n" + "\n".join(rows) + "\n")
    p.write("file.flow", FROM_FILE)
    done = p.run("build", "file.flow", "-o", "file")
    check(done.returncode == 0, "groups of a file are built", done.stderr[-2000:])
    key = f'in the group k = "g{FAIL}"'
    notes = [[key], [f"at position {FAIL}", key], [key], [key], ['in the group k = "g31234", w = "two"']]
    for n, code in enumerate(["E0702", "E0702", "E0701", "E0701", "E0701"]):
        ways = [p.run_binary("file", "--which", str(n), "--workers", w) for w in ("1", "2", "5")]
        if n == 3:
            ways += [p.run("run", way, "file.flow", "--which", str(n)) for way in ("-O0", "--interp")]
        for done in ways:
            check(said(done.stderr) == (code, notes[n]), f"groups of a file, {n}", done.stderr)


def cases():
    """(key, fault, verb): each key with each fault, verbs in turn."""
    verbs = list(VERBS)
    return [(k, f, verbs[(i + j) % len(verbs)]) for i, k in enumerate(KEYS) for j, f in enumerate(FAULTS)]


def script():
    lines = ["param which: i64 = -1"]
    for i, (_, expression) in enumerate(FAULTS.values()):
        lines.append(f"fn f{i}(x: i64[n]) -> f64 {{\n  let z = sum(x)\n  {expression}\n}}")
    for i, (columns, *_) in enumerate(KEYS.values()):
        lines.append(f"let t{i} = table({columns}, v = [1, 0, 2, 3, 0])")
    for n, (key, fault, verb) in enumerate(cases()):
        k, f = list(KEYS).index(key), list(FAULTS).index(fault)
        names = KEYS[key][2] if len(KEYS[key]) > 2 else "a"
        call = (f"summarize(r = f(v), by = ({names}))" if verb == "by" else f"group_by({names}) |> {VERBS[verb]}").replace("f(", f"f{f}(")
        lines.append(f"if which == {n} {{ show(t{k} |> {call}) }}")
    return "\n".join(lines) + "\n"


def said(text):
    first = re.search(r"error (E\d+)", text)
    return first and first[1], re.findall(r"note: (in the group .*|at position .*|in stage .*)", text)


def main():
    p = Place()
    p.write("main.flow", script())
    done = p.run("build", "main.flow", "-o", "main")
    check(done.returncode == 0, "the table of faults and keys is built", done.stderr[-2000:])
    for n, (key, fault, verb) in enumerate(cases()):
        want = (FAULTS[fault][0], ["in the group " + KEYS[key][1]])
        ways = [p.run_binary("main", "--which", str(n))]
        if n % 13 == 0:
            ways += [p.run("run", way, "main.flow", "--which", str(n)) for way in ("-O0", "--interp")]
        for done in ways:
            check(said(done.stderr) == want, f"{fault} in {verb} by {key}: {want}", done.stderr)
    text, wants = many_script()
    p.write("once.flow", text)
    done = p.run("build", "once.flow", "-o", "once")
    check(done.returncode == 0, "the table of forms is built", done.stderr[-2000:])
    for n, (name, want) in enumerate(wants):
        ways = [p.run_binary("once", "--which", str(n))]
        if n % 13 == 0:
            ways += [p.run("run", way, "once.flow", "--which", str(n)) for way in ("-O0", "--interp")]
        for done in ways:
            check(said(done.stderr) == want, f"{name}: {want}", done.stderr)
    from_file(p)
    finish()


main()
