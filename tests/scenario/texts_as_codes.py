#!/usr/bin/env python3
"""Columns of few texts, of which there are codes alone until somebody reads them, in all places where texts are read, as a plain Python
model has them: tables that joins, filters, sorts, slices and rows by number gave, one after the other; written, shown, compared, computed with,
read by index and in loops, given to functions, stages that remember and tasks, grouped, sorted, joined by, put behind others; texts that may be
null. With FLOW_CODES_FROM small tables are so, too. usage: texts_as_codes.py [CASES] [SEED]"""
import csv
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, SHORT, Place, check, finish, stages

WORDS = ["a", "ab", "b", "a text longer than sixteen bytes", "k", "Zoë", "9"]
TYPES = "types = (i: i64, k: i64, s: text, t: text?, u: text, x: f64)"


def table(place, name, columns, rows):
    with open(place.path / name, "w", newline="") as to:
        out = csv.writer(to, lineterminator="\n")
        out.writerow(columns)
        out.writerows(["" if row[c] is None else row[c] for c in columns] for row in rows)


def group_null_last(value):
    return (value is None, value or "")


# ---- what gives tables: (name of the one before, name) -> text; and the rows ----------------------------------


def steps(r, rows, small):
    """One step: the verb, and the rows that it gives."""
    n, w = r.randrange(1, 9), r.choice(WORDS)
    kind = r.randrange(9)
    if kind == 0:
        return f"where(i % {n + 1} != 0)", [q for q in rows if q["i"] % (n + 1) != 0]
    if kind == 1:
        return f'where(s != "{w}")', [q for q in rows if q["s"] != w]
    if kind == 2:
        return f'where(t == "{w}" or x < 0.7)', [q for q in rows if q["t"] == w or q["x"] < 0.7]
    if kind == 3:
        return "sort(-x, i)", sorted(rows, key=lambda q: (-q["x"], q["i"]))
    if kind == 4:
        return "sort(s, -i)", sorted(rows, key=lambda q: (q["s"].encode(), -q["i"]))
    if kind == 5 and "n" not in (rows[0] if rows else {"n": 0}):
        names = {q["k"]: q["n"] for q in small}
        return "join(d, on = k)", [q | {"n": names[q["k"]]} for q in rows if q["k"] in names]
    if kind == 6 and len(rows) > 4:
        return f"tail({len(rows) - 3})", rows[3:]
    if kind == 7:
        return 'join(d |> where(n != "n1"), on = k, how = "semi")', [q for q in rows if any(z["k"] == q["k"] and z["n"] != "n1" for z in small)]
    return f"top({max(1, len(rows) // 2)}, by = (x, i))", sorted(rows, key=lambda q: (q["x"], q["i"]), reverse=True)[: max(1, len(rows) // 2)]


# ---- what reads texts: lines of the script, and what it prints -------------------------------------------------


def readers(r, name, rows):
    """Some uses of the table: (text, lines)."""
    out, n = [], len(rows)
    texts = [q["s"] for q in rows]
    at = r.randrange(n) if n else 0

    def use(text, *lines):
        out.append((text, lines))

    use(f'print("chars {{sum(for v in {name}.s: n_chars(v))}}")', f"chars {sum(map(len, texts))}")
    use(f'print("ends {{count({name} |> where(ends_with(s, "b")))}}")', f"ends {sum(v.endswith('b') for v in texts)}")
    use(f'print("joined {{join_text(head({name}.s, 5), "|")}}")', f"joined {'|'.join(texts[:5])}")
    use(f'let up = {name} |> derive(z = upper(s) + "!")\nprint("upper {{join_text(tail(up.z, 2), ";")}}")', f"upper {';'.join(v.upper() + '!' for v in texts[-2:])}")
    use(f'print("nulls {{sum(for v in {name}.t: if is_null(v) {{ 1 }} else {{ 0 }})}} {{join_text([for v in head({name}.t, 6): v ?? "-"], ",")}}")',
        f"nulls {sum(q['t'] is None for q in rows)} {','.join(q['t'] or '-' for q in rows[:6])}")
    groups = {}
    for q in rows:
        groups.setdefault((q["s"], q["t"]), []).append(q)
    keys = sorted(groups, key=lambda g: (g[0].encode(), g[1] is None, (g[1] or "").encode()))
    use(f"{name} |> group_by(s, t) |> summarize(n = count(), last = last(u), low = min(s), other = n_distinct(t)) |> write_csv(\"g.csv\")\nprint(\"groups\")", "groups")
    out[-1] += ({"g.csv": [[s, t or "", len(groups[s, t]), groups[s, t][-1]["u"], s, int(t is not None)] for s, t in keys]},)
    use(f"print(\"kinds {{join_text(({name} |> distinct(s)).s, \"|\")}}\")", f"kinds {'|'.join(dict.fromkeys(texts))}")
    use(f"let m_{name} = {name} |> derive(before = lag(s, 1)) |> tail(3)\nprint(\"lag {{join_text([for v in m_{name}.before: v ?? \"?\"], \"|\")}}\")",
        "lag " + "|".join(([None] + texts)[:n][k] or "?" for k in range(max(0, n - 3), n)))
    use(f"{name} |> select(i, s, t, u) |> write_csv(\"w.csv\")\nprint(\"written\")", "written")
    out[-1] += ({"w.csv": [[q["i"], q["s"], q["t"] or "", q["u"]] for q in rows]},)
    use(f"concat({name} |> select(i, s), {name} |> select(i, s)) |> write_csv(\"c.csv\")\nprint(\"both\")", "both")
    out[-1] += ({"c.csv": 2 * [[q["i"], q["s"]] for q in rows]},)
    use(f"fn longest(v: text[n]) -> i64 = max([for a in v: n_chars(a)])\nprint(\"longest {{if len({name}) > 0 {{ longest({name}.s) }} else {{ -1 }}}}\")", f"longest {max(map(len, texts), default=-1)}")
    use(f"stage kept(v: _[n]) = v |> where(s != \"a\")\nlet again = kept({name})\nprint(\"stage {{len(again)}} {{join_text(head(again.s, 3), \"|\")}}\")",
        f"stage {sum(v != 'a' for v in texts)} {'|'.join([v for v in texts if v != 'a'][:3])}")
    use(f"print(\"same {{sum([for a in 0..len({name}): if {name}.s[a] == {name}.s[len({name}) - 1 - a] {{ 1 }} else {{ 0 }}])}}\")", f"same {sum(a == b for a, b in zip(texts, texts[::-1]))}")
    use(f"fn third(v: _[n], a: i64) = (v |> where(i % 3 == a)).s\nlet lists = [for a in 0..3: third({name}, a)]\nprint(\"lists {{join_text(head(concat(lists), 9), \"|\")}}\")",
        "lists " + "|".join([q["s"] for a in range(3) for q in rows if q["i"] % 3 == a][:9]))
    use(f"let c_{name} = category({name}.s)\nprint(\"levels {{join_text(levels(c_{name}), \"|\")}}\")", f"levels {'|'.join(sorted(set(texts), key=str.encode))}")
    use(f"print(\"sorted {{join_text(head(sort({name}.s), 4), \"|\")}}\")", f"sorted {'|'.join(sorted(texts, key=str.encode)[:4])}")
    if n:
        use(f'print("at {{{name}.s[{at}]}} {{{name}.u[-1]}}")', f"at {texts[at]} {rows[-1]['u']}")
        use(f'var all_{name} = ""\nfor a in 0..min(4, len({name})) {{ all_{name} = all_{name} + {name}.s[a] }}\nprint("loop {{all_{name}}}")', f"loop {''.join(texts[:4])}")
        use(f"let p_{name} = {name}.s[[{at}, 0, {n - 1}]]\nprint(\"picked {{join_text(p_{name}, \"|\")}}\")", f"picked {texts[at]}|{texts[0]}|{texts[-1]}")
        use(f"print(\"tasks {{sum([for a in 0..3: sum(for v in {name}.s: n_chars(v) * a)])}}\")", f"tasks {3 * sum(map(len, texts))}")
    lists = [o for o in out if "lists" in o[0] and r.random() < 0.3]
    return lists + r.sample(out, r.randint(2, 6))


def one(r, place, k):
    rows = [{"i": j, "k": r.randrange(40), "s": r.choice(WORDS), "t": r.choice([None, *WORDS[:3]]), "u": f"u{j}", "x": r.randrange(1000) / 1000}
            for j in range(r.choice([0, 1, 30, 400, 5000, 70000 if r.random() < 0.3 else 300]))]
    small = [{"k": j, "n": f"n{j % 3}"} for j in range(r.choice([0, 20, 40]))]
    table(place, "t.csv", ["i", "k", "s", "t", "u", "x"], rows)
    table(place, "d.csv", ["k", "n"], small)
    form = r.choice(["csv", "csv", "arrow"])
    script = f'let t0 = read_csv("t.csv", {TYPES})\nlet d = read_csv("d.csv", types = (k: i64, n: text))\n'
    if form == "arrow":  # dictionaries of files
        script += 'let made = t0 |> derive(s = category(s))\nmade |> write_arrow("t.arrow")\n'
        place.write("make.flow", script)
        done = place.run("run", "--no-cache", "-q", "make.flow")
        check(done.returncode == 0, f"case {k}: the file", done.stderr)
        script = script.splitlines()[1] + '\nlet t0 = read_arrow("t.arrow", types = (i: i64, k: i64, s: text, t: text?, u: text, x: f64))\n'
    if r.random() < 0.8:  # finds their codes
        script += "print(\"n {len(t0 |> group_by(s) |> summarize(n = count()))} {len(d |> group_by(n) |> summarize(m = count()))} {len(t0 |> group_by(t) |> summarize(n = count()))}\")\n"
    want, files, name = [], {}, "t0"
    for step in range(r.randint(1, 4)):
        text, rows = steps(r, rows, small)
        script += f"let v{step} = {name} |> {text}\n"
        name = f"v{step}"
        if r.random() < 0.3:
            script += f'print("rows {{len({name})}}")\n'
            want.append(f"rows {len(rows)}")
    used = set()
    for text, lines, *wanted in readers(r, name, rows):
        if text in used:
            continue
        used.add(text)
        script += text + "\n"
        want += lines
        files |= wanted[0] if wanted else {}
    place.write("x.flow", script)
    modes = [()] if k % 4 else [(), ("--workers", "1"), ("-O0",), ("--interp",)]
    for mode in modes:
        for from_row in ("2", "") if mode == () else ("2",):
            place.env["FLOW_CODES_FROM"] = from_row
            for again in (False, True) if mode == () and from_row else (False,):
                p = place.run("run", *(() if mode == () and from_row else ("--no-cache",)), *mode, "x.flow")
                found = [line for line in p.stdout.splitlines() if not line.startswith("n ")]
                check(p.returncode == 0 and found == want, f"case {k} {mode} from {from_row} {'again' if again else ''}: {found}, wanted {want}", script + p.stderr)
                if again and "stage kept" in script and p.returncode == 0:
                    check(stages(p)[0] == 0, f"case {k}: the stage is remembered", script + p.stderr)
                for file, wanted in files.items():
                    if p.returncode:
                        continue
                    with open(place.path / file, newline="") as lines:
                        have = list(csv.reader(lines))[1:]
                    check(have == [[str(v) for v in row] for row in wanted], f"case {k} {mode} from {from_row}: {file}", script)


def main():
    words = [int(w) for w in sys.argv[1:]] + [None, None]
    r = random.Random(words[1] or 1)
    place = Place()
    for k in range(words[0] or (300 if ALL else 40 if SHORT else 80)):
        one(r, place, k)
    finish()


main()
