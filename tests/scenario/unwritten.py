#!/usr/bin/env python3
"""Columns that are written when somebody first reads them (texts of which there are codes alone, rows that a filter keeps) in all places where
elements are read, as a plain Python model has them: tables that joins, filters, sorts, slices and rows by number gave, one after the other;
written, shown, compared, computed with, read by index and in loops, given to functions, stages that remember and tasks, grouped, sorted, joined
by, put behind others, and where an error says which row it is; of ten types, some of which may be null. With FLOW_UNWRITTEN_FROM small tables are
so, too. usage: unwritten.py [CASES] [SEED]"""
import csv
import datetime
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, SHORT, Place, check, finish, stages

WORDS = ["a", "ab", "b", "a text longer than sixteen bytes", "k", "Zoë", "9"]
COLUMNS = ["i", "k", "s", "t", "u", "x", "y", "b", "w", "day", "m"]
TYPES = "types = (i: i64, k: i64, s: text, t: text?, u: text, x: f64, y: f64?, b: bool, w: i32, day: date, m: decimal(9, 2))"
FIRST = datetime.date(2020, 2, 27)
FIRST_USES = ["by number", "asked", "halves", "itself", "derived", "few"]
CHAINS = [(9, 6, 11), (12, 6, 13, 8), (10, 16, 9), (9, 6, 5), (11, 9, 10), (9, 6), (9,), (10,)]  # filters of filters' rows, of slices of these


def shown(value):
    return "" if value is None else ("false", "true")[value] if isinstance(value, bool) else str(value)


def number(cents):
    """Of a decimal, without the zeros behind it."""
    return f"{cents // 100}.{cents % 100:02}"


def table(place, name, columns, rows):
    with open(place.path / name, "w", newline="") as to:
        out = csv.writer(to, lineterminator="\n")
        out.writerow(columns)
        out.writerows([shown(row[c]) for c in columns] for row in rows)


def group_null_last(value):
    return (value is None, value or "")


# ---- what gives tables: (name of the one before, name) -> text; and the rows ----------------------------------


def steps(r, rows, small, kind):
    """One step, of a kind or None: the verb, and the rows that it gives."""
    n, w = r.randrange(1, 9), r.choice(WORDS)
    kind = r.randrange(18) if kind is None else kind
    if kind >= 16 and len(rows) > 4:
        return f"head({len(rows) - 2})", rows[:-2]
    kind = 6 if kind in (14, 15) else kind
    if kind == 9:
        return f"where(x > {n / 100})", [q for q in rows if q["x"] > n / 100]
    if kind == 10:
        return "where(b)", [q for q in rows if q["b"]]
    if kind == 11:
        return "drop_null(y)", [q for q in rows if q["y"] is not None]
    if kind == 12:
        return f'where(w > {n - 5} and (y ?? 1.0) < 20.0)', [q for q in rows if q["w"] > n - 5 and (1 if q["y"] is None else q["y"]) < 20]
    if kind == 13:
        return f'where(day != date("{FIRST + datetime.timedelta(n)}"))', [q for q in rows if q["day"] != FIRST + datetime.timedelta(n)]
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
    out += numbers(r, name, rows)
    lists = [o for o in out if "lists" in o[0] and r.random() < 0.3]
    first = [o for o in out if any(name in o[0] for name in FIRST_USES)]  # what they read nobody has written before
    return r.sample(first, r.randrange(2)) + lists + r.sample(out, r.randint(1, r.choice([2, 9])))


def numbers(r, name, rows):
    """Uses of the columns that are no texts."""
    out, n = [], len(rows)
    at, by = r.randrange(n) if n else 0, r.randrange(2, 6)

    def use(text, *lines):
        out.append((text, lines))

    i, w = [q["i"] for q in rows], [q["w"] for q in rows]
    use(f'print("sum {{sum({name}.i * {by})}} {{sum(for v in {name}.w: i64(v))}}")', f"sum {sum(i) * by} {sum(w)}")
    use(f'let e_{name} = {name} |> derive(z = i * {by} + i64(w), h = (y ?? 0.0) * 4.0, o = not b)\n'
        f'print("derived {{sum(e_{name}.z)}} {{i64(sum(e_{name}.h))}} {{count(e_{name}.o)}}")\ne_{name} |> select(z, h, o, i) |> write_csv("e.csv")',
        f"derived {sum(a * by + b for a, b in zip(i, w))} {int(sum((q['y'] or 0) * 4 for q in rows))} {sum(not q['b'] for q in rows)}")
    out[-1] += ({"e.csv": [[q["i"] * by + q["w"], shown_float((q["y"] or 0) * 4), shown(not q["b"]), q["i"]] for q in rows]},)
    use(f'print("days {{join_text([for v in head({name}.day, 3): "{{v}}"], " ")}}")', "days " + " ".join(str(q["day"]) for q in rows[:3]))
    use(f'print("money {{sum({name}.m)}}")', f"money {number(sum(q['m'] for q in rows))}")
    groups = {}
    for q in rows:
        groups.setdefault((q["k"], q["b"]), []).append(q)
    use(f'{name} |> group_by(k, b) |> summarize(n = count(), low = min(w), top = max(i), v = count(y), d = min(day), u = first(u)) |> write_csv("k.csv")\nprint("by numbers")', "by numbers")
    out[-1] += ({"k.csv": [[k, shown(b), len(g), min(q["w"] for q in g), max(q["i"] for q in g), sum(q["y"] is not None for q in g), min(q["day"] for q in g), g[0]["u"]]
                          for (k, b), g in sorted(groups.items())]},)
    use(f'{name} |> write_csv("all.csv")\nprint("all")', "all")
    out[-1] += ({"all.csv": [[*(shown_float(q[c]) if c in "xy" else number(q[c]) if c == "m" else shown(q[c]) for c in COLUMNS), *([q["n"]] if "n" in q else [])] for q in rows]},)
    use(f'print("sorted {{join_text([for v in head(sort({name}.w), 4): "{{v}}"], " ")}}")', "sorted " + " ".join(map(str, sorted(w)[:4])))
    use(f'let c_{name} = [for a in 0..len({name}): if a > 0 {{ {name}.i[a] - {name}.i[a - 1] }} else {{ 0 }}]\nprint("steps {{sum(c_{name})}}")', f"steps {i[-1] - i[0] if n else 0}")
    use(f'let g_{name} = {name} |> derive(before = lag(i, 2), run = cumsum(i64(w))) |> tail(3)\nprint("window {{join_text([for q in g_{name}: "{{q.before ?? -1}} {{q.run}}"], ", ")}}")',
        "window " + ", ".join(f"{i[k - 2] if k > 1 else -1} {sum(w[:k + 1])}" for k in range(max(0, n - 3), n)))
    use(f'stage add_{name}(v: _[n]) = v |> derive(z = i + k)\nlet st_{name} = add_{name}({name})\nprint("numbers kept {{sum(st_{name}.z)}}")', f"numbers kept {sum(q['i'] + q['k'] for q in rows)}")
    use(f'fn odd(v: i64[n], a: i64) = [for q in v if q % 3 == a: q]\nprint("number lists {{join_text([for v in head(concat([for a in 0..3: odd({name}.i, a)]), 9): "{{v}}"], " ")}}")',
        "number lists " + " ".join(map(str, [v for a in range(3) for v in i if v % 3 == a][:9])))
    use(f'print("tasks of numbers {{sum([for a in 0..4: sum(for v in {name}.i: (v + a) % 7)])}}")', f"tasks of numbers {sum((v + a) % 7 for a in range(4) for v in i)}")
    use(f'let at_{name} = {name} |> where(i % 2 == 0) |> where(w != 3)\nprint("twice more {{len(at_{name})}} {{sum(at_{name}.i)}}")',
        f"twice more {sum(v % 2 == 0 and u != 3 for v, u in zip(i, w))} {sum(v for v, u in zip(i, w) if v % 2 == 0 and u != 3)}")
    use(f'let s_{name} = {name} |> derive(r = i64(w) * 100000 - i) |> sort(r) |> head(4)\nprint("first of all {{join_text([for q in s_{name}: "{{q.i}} {{q.day}} {{q.m}}"], ", ")}}")',
        "first of all " + ", ".join(f"{q['i']} {q['day']} {number(q['m'])}" for q in sorted(rows, key=lambda q: q["w"] * 100000 - q["i"])[:4]))
    use(f'let o_{name} = {name} |> join({name} |> select(i, other = w, seen = b), on = i)\nprint("itself {{sum(for q in o_{name}: i64(q.other) * (if q.seen {{ 1 }} else {{ 0 }}))}}")',
        f"itself {sum(q['w'] * q['b'] for q in rows)}")
    use(f'let n_{name} = t0.w[{name}.i]\nprint("by number {{sum(for v in n_{name}: i64(v))}} {{n_{name} |> head(2) |> len}}")', f"by number {sum(w)} {min(n, 2)}")
    last = sorted(rows[max(0, n - 200):], key=lambda q: (q["i"] * 7 % 1009, q["i"]), reverse=True)[:2]
    use(f'let tp_{name} = tail({name}, 200) |> top(2, by = (i * 7 % 1009, i))\nprint("few {{join_text([for q in tp_{name}: "{{q.i}} {{q.w}}"], ", ")}}")', "few " + ", ".join(f"{q['i']} {q['w']}" for q in last))
    use(f'let a_{name} = read_csv("t.csv", {TYPES}) |> join({name} |> select(i, mark = w, seen = y), on = i)\nprint("asked {{sum(for v in a_{name}.mark: i64(v))}} {{count(a_{name}.seen)}}")',
        f"asked {sum(w)} {sum(q['y'] is not None for q in rows)}")
    even, odd = [q["i"] for q in rows if q["i"] % 5 != 0], [q["i"] for q in rows if q["i"] % 5 != 1]
    pairs = [(a, b) for a, b in zip(even, odd) if a % 4 != 0]
    chosen = sorted(pairs, key=lambda q: (q[0] * 7919 + q[1] * 31) % 1009)[:5]
    use(f'let ev_{name} = {name} |> where(i % 5 != 0)\nlet od_{name} = {name} |> where(i % 5 != 1)\nlet h_{name} = min(len(ev_{name}), len(od_{name}))\n'
        f'print("halves {{sum(ev_{name}.i * 3)}} {{sum(od_{name}.i * 5)}}")\nlet pairs_{name} = table(p = head(ev_{name}.i, h_{name}), q = head(od_{name}.i, h_{name})) |> where(p % 4 != 0)\n'
        f'print("pairs {{sum(pairs_{name}.p * 2)}} {{sum(pairs_{name}.q * 3)}}")\nlet best_{name} = pairs_{name} |> top(5, by = -((p * 7919 + q * 31) % 1009))\nprint("best {{join_text([for v in best_{name}: "{{v.p}} {{v.q}}"], ", ")}}")',
        f"halves {sum(even) * 3} {sum(odd) * 5}", f"pairs {sum(a for a, _ in pairs) * 2} {sum(b for _, b in pairs) * 3}", "best " + ", ".join(f"{a} {b}" for a, b in chosen))
    if n:
        use(f'print("one {{{name}.i[{at}]}} {{{name}.day[-1]}} {{{name}.b[0]}}")', f"one {i[at]} {rows[-1]['day']} {shown(rows[0]['b'])}")
        use(f'let p_{name} = {name}.i[[{at}, 0, {n - 1}]]\nprint("chosen {{sum(p_{name})}}")', f"chosen {i[at] + i[0] + i[-1]}")
        use(f'var t_{name} = 0\nfor a in 0..min(4, len({name})) {{ t_{name} += {name}.i[a] * (a + 1) }}\nprint("rounds {{t_{name}}}")', f"rounds {sum(v * (a + 1) for a, v in enumerate(i[:4]))}")
        use(f'var ch_{name} = {name}.i\nch_{name}[{at}] = -5\nprint("changed {{sum(ch_{name})}} {{sum({name}.i)}}")', f"changed {sum(i) - i[at] - 5} {sum(i)}")
    return out


def shown_float(value):
    return "" if value is None else repr(float(value))


def fails(r, name, rows):
    """A use that fails at a row: its text, and what the message says."""
    bad = [k for k, q in enumerate(rows) if q["i"] % 11 == 3]
    return (f"let f_{name} = [for v in {name}.i: 100 // (v % 11 - 3)]\nprint(sum(f_{name}))", bad[0]) if bad else None


def one(r, place, k):
    rows = [{"i": j, "k": r.randrange(40), "s": r.choice(WORDS), "t": r.choice([None, *WORDS[:3]]), "u": f"u{j}", "x": r.randrange(1000) / 1000,
             "y": r.choice([None, *(v / 4 for v in range(100))]), "b": r.random() < 0.9, "w": r.randrange(-3, 9), "day": FIRST + datetime.timedelta(r.randrange(9)), "m": r.randrange(100000)}
            for j in range(r.choice([0, 1, 30, 400, 5000, 150000 if r.random() < 0.3 else 300]))]
    small = [{"k": j, "n": f"n{j % 3}"} for j in range(r.choice([0, 20, 40]))]
    table(place, "t.csv", COLUMNS, [q | {"m": number(q["m"])} for q in rows])
    table(place, "d.csv", ["k", "n"], small)
    form = r.choice(["csv", "csv", "arrow"])
    script = f'let t0 = read_csv("t.csv", {TYPES})\nlet d = read_csv("d.csv", types = (k: i64, n: text))\n'
    if form == "arrow":  # dictionaries of files
        script += 'let made = t0 |> derive(s = category(s))\nmade |> write_arrow("t.arrow")\n'
        place.write("make.flow", script)
        done = place.run("run", "--no-cache", "-q", "make.flow")
        check(done.returncode == 0, f"case {k}: the file", done.stderr)
        script = script.splitlines()[1] + f'\nlet t0 = read_arrow("t.arrow", {TYPES})\n'
    if r.random() < 0.7:  # no filter goes into the reader
        script = script.replace("let t0 = ", "let read = ") + "let t0 = read |> sort(i)\n"
    if r.random() < 0.8:  # finds their codes
        script += "print(\"n {len(t0 |> group_by(s) |> summarize(n = count()))} {len(d |> group_by(n) |> summarize(m = count()))} {len(t0 |> group_by(t) |> summarize(n = count()))}\")\n"
    want, files, name = [], {}, "t0"
    kinds = r.choice(CHAINS) if r.random() < 0.6 else [None] * r.randint(1, 4)
    for step, kind in enumerate(kinds):
        text, rows = steps(r, rows, small, kind)
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
    fault = fails(r, name, rows) if r.random() < 0.4 else None
    if fault:
        script += fault[0] + "\n"
    place.write("x.flow", script)
    modes = [()] if k % 4 else [(), ("--workers", "1"), ("-O0",), ("--interp",)]
    for mode in modes:
        for from_row in ("", "2") if mode == () else ("2",):  # the first run of a script may be interpreted
            place.env["FLOW_UNWRITTEN_FROM"] = from_row
            for again in (False, True) if mode == () and from_row else (False,):
                p = place.run("run", *(() if mode == () and from_row else ("--no-cache",)), *mode, "x.flow")
                found = [line for line in p.stdout.splitlines() if not line.startswith("n ")]
                check(p.returncode == (1 if fault else 0) and found == want, f"case {k} {mode} from {from_row} {'again' if again else ''}: {found}, wanted {want}", script + p.stderr)
                if fault:
                    check(f"position {fault[1]}" in p.stderr or f"[{fault[1]}]" in p.stderr, f"case {k} {mode} from {from_row}: the row is {fault[1]}", script + p.stderr)
                if again and "stage kept" in script and p.returncode == 0:
                    check(stages(p)[0] == 0, f"case {k}: the stage is remembered", script + p.stderr)
                for file, wanted in files.items():
                    if p.returncode and not fault:
                        continue
                    with open(place.path / file, newline="") as lines:
                        have = list(csv.reader(lines))[1:]
                    wanted = [[str(v) for v in row] for row in wanted]
                    differ = [(a, b) for a, b in zip(have, wanted) if a != b][:2]
                    check(have == wanted, f"case {k} {mode} from {from_row}: {file}: {len(have)} rows of {len(wanted)}, {differ}", script)


def main():
    words = [int(w) for w in sys.argv[1:]] + [None, None]
    r = random.Random(words[1] or 1)
    place = Place()
    for k in range(words[0] or (300 if ALL else 40 if SHORT else 80)):
        one(r, place, k)
    finish()


main()
