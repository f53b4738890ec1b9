#!/usr/bin/env python3
"""Params that are lists: random elements as Python's csv writes them come back as they were, from the command line and as
defaults in the script, compiled, interpreted and in a binary; in the stages' keys every element counts.

usage: param_lists.py [SEED CASES]
"""
import csv
import io
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish

PIECES = ["a", "b", "Zz", " ", ",", ",,", '"', '""', "é", "日本", "\n", "\t", "\\", "'", "null", "(", ")", "{", "}", "-", "--x", "=", "0", "1.5", "true"]


def written(elements):
    """A line of CSV; one empty element alone would be no element."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(elements)
    return out.getvalue()


def literal(text):
    for a, b in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("{", "\\{")):
        text = text.replace(a, b)
    return f'"{text}"'


def case(r):
    texts = ["".join(r.choice(PIECES) for _ in range(r.randrange(0, 4))) for _ in range(r.randrange(0, 6))]
    ints = [r.choice([0, -1, 7, 2**63 - 1, -(2**63), r.randrange(-(10**6), 10**6)]) for _ in range(r.randrange(0, 6))]
    floats = [r.choice([0.0, 0.1, -2.5, 1e300, 5e-324, r.uniform(-9, 9)]) for _ in range(r.randrange(0, 6))]
    days = [f"{r.randrange(1900, 2100)}-{r.randrange(1, 13):02}-{r.randrange(1, 29):02}" for _ in range(r.randrange(0, 6))]
    return texts, ints, floats, days


BODY = """
stage count_of(c: text[_], i: i64[_], x: f64[_], d: date[_]) -> i64 = len(c) + len(i) + len(x) + len(d)
print(count_of(c, i, x, d))
table(v = c) |> write_json("c.json")
table(v = i) |> write_json("i.json")
table(v = x) |> write_json("x.json")
table(v = d) |> write_json("d.json")
"""
HEAD = "param c: text[_]{}\nparam i: i64[_]{}\nparam x: f64[_]{}\nparam d: date[_]{}\n"


def found(place):
    return tuple([row["v"] for row in json.loads((place.path / f"{n}.json").read_text())] for n in "cixd")


def main():
    seed, n = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1, 25 if SHORT else 100)
    r = random.Random(seed)
    place = Place()
    place.write("given.flow", HEAD.format("", "", "", "") + BODY)
    check(place.run("build", "given.flow", "-o", "given").returncode == 0, "a script with lists builds")
    for k in range(n):
        values = case(r)
        args = [f"--{name}={written(v)}" for name, v in zip("cixd", values)]
        for how, run in (("compiled", lambda: place.run("run", "-q", "given.flow", *args)),
                         ("interpreted", lambda: place.run("run", "-q", "--interp", "given.flow", *args)),
                         ("a binary", lambda: place.run_binary("given", "--quiet", *args))):
            p = run()
            check(p.returncode == 0 and found(place) == values, f"{how}, case {k}: {args}", p.stderr)
        texts, ints, floats, days = values
        defaults = [[literal(t) for t in texts], map(str, ints), map(repr, floats), [f'date("{d}")' for d in days]]
        place.write("default.flow", HEAD.format(*(f" = [{', '.join(v)}]" for v in defaults)) + BODY)
        if -(2**63) in ints:
            continue  # no literal
        p = place.run("run", "-q", "default.flow")
        check(p.returncode == 0 and found(place) == values, f"defaults, case {k}: {args}", p.stderr)
    # In the keys of stages every element counts, and where one ends; `why` names the argument.
    place.write("k.flow", "param c: text[_] = [\"a\", \"b\"]\nstage s(c: text[_]) -> i64 = len(c)\nprint(s(c))\n")
    ran = [place.run("run", "k.flow", *args).stderr for args in ([], ["--c", "a,b"], ["--c", "ab"], ["--c", "a,b,"], ["--c", "b,a"], ["--c", '"a",b'])]
    check([("1 run" in e) for e in ran] == [True, False, True, True, True, False], "each other list is another key", ran)
    check("c" in place.run("why", "k.flow", "s").stdout, "why says of a stage of a list")
    # Of a module: --feat.codes; what is private has its default.
    place.write("feat.flow", "param codes: text[_] = [\"p\"]\nparam _own: i64[_] = [1, 2]\nfn both() -> i64 = len(codes) * 10 + sum(_own)\n")
    place.write("m.flow", "import \"feat.flow\" as feat\nprint(feat.both())\n")
    for args, out in (([], "13\n"), (["--feat.codes", "a,b"], "23\n"), (["--feat.codes="], "3\n")):
        p = place.run("run", "-q", "m.flow", *args)
        check(p.stdout == out, f"a module's list: {args}", p.stdout + p.stderr)
    check('(default "a,b",c)' in (place.write("h.flow", 'param c: text[_] = ["a,b", "c"]  ## which\nshow(c)\n'),
                                  place.run("run", "h.flow", "--help").stdout)[1], "--help says the default as it would be given")
    finish()


main()
