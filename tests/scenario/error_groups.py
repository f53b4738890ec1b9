#!/usr/bin/env python3
"""An error in what is computed group by group says the group: every kind of fault x every type of key, in each verb of grouped
tables, as a binary, with -O0 and --interp. Which group fails, and how its key is written, is known here: the rows of the group
`FAILS` have values that sum to 0, all others do not. Prints "N passed, N failed"."""
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
    return first and first[1], re.findall(r"note: (in the group .*|at position .*)", text)


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
    finish()


main()
