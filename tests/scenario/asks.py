"""Rows of a file that a join drops are dropped while the file is read (opt/asks.c, part/key_set.c), and rows in memory by joins that stand
before; the answers are those of plain Python: keys of every type that is asked, near and far apart, with nulls, NaN and zeros of both signs;
few keys, most and none; joins of every kind, one after another, through filters and groups; with --memory, in every way of running and under
choices of what is asked (FLOW_JOINS); and the error of a row that a join would drop is that of the file read as a whole. usage: asks.py [COUNT] [SEED]"""
import math
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, PATIENCE, Place, check, finish

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 24 if ALL else 16
ROWS, SMALL = 30_000, 3_000
TABLES = """let floats = [0.0, -0.0, 0.0 / 0.0, 1.0 / 0.0, -1.5, 1e300, 2.5]
fn rows(n: i64, m: i64, by: i64) = table(i = [for k in 0..n: (k * by) % m - 50], far = [for k in 0..n: (k * by) % m * 1_000_003_000_007 - 77],
  d = [for k in 0..n: date("1995-01-01") + days((k * by) % m)], t = [for k in 0..n: datetime("1995-01-01 00:00:00") + seconds((k * by) % m * 3601)],
  x = [for k in 0..n: if k % 3 == 0 { floats[k * by % 7] } else { f64((k * by) % m) / 7 }], f = [for k in 0..n: f32((k * by) % m)], s = [for k in 0..n: i16((k * by) % m % 3000)],
  u = [for k in 0..n: u64((k * by) % m)], ni = [for k in 0..n: if k % 5 == 1 { null } else { (k * by) % m }], b = [for k in 0..n: k * by % 11 == 3],
  v = [for k in 0..n: k % 1000], w = [for k in 0..n: f64(k % 97) / 4], q = [for k in 0..n: "text {(k * by) % m}"], nq = [for k in 0..n: if k % 7 == 2 { null } else { "text {(k * by) % m % 300}" }])
"""
draw = random.Random(sys.argv[2] if len(sys.argv) > 2 else "asks")
MAKE = TABLES + f"let n = {ROWS}\n" + """write_arrow(rows(n, 9973, 7919), "large.arrow")
write_csv(rows(n, 9973, 7919), "large.csv", null = "?")
""" + "".join(f'write_arrow(rows({SMALL}, {m}, 31), "small{k}.arrow")\n' for k, m in enumerate((1, 41, 9973, 20011)))
AGAIN = ["arrow"]  # files that are read again for their groups
if os.path.exists(os.environ.get("FLOW_DUCKDB", "")):
    AGAIN.append("parquet")
    MAKE += 'write_parquet(rows(n, 9973, 7919), "large.parquet")\n'
FLOATS = [0.0, -0.0, math.nan, math.inf, -1.5, 1e300, 2.5]
KEYS = ["i", "far", "d", "t", "x", "f", "s", "u", "ni", "b", "q", "nq"]


def table(n, m, by):
    """The rows of a file; dates and times as the numbers that they are made of, which are equal where these are."""
    rows = []
    for k in range(n):
        j = k * by % m
        x = FLOATS[k * by % 7] if k % 3 == 0 else j / 7
        x = "nan" if x != x else x + 0.0
        rows.append(dict(i=j - 50, far=j, d=j, t=j, x=0.0 if x == 0 else x, f=j, s=j % 3000, u=j, ni=None if k % 5 == 1 else j, b=k * by % 11 == 3, v=k % 1000, w=k % 97 / 4, q=j, nq=None if k % 7 == 2 else j % 300))
    return rows


LARGE = table(ROWS, 9973, 7919)
SMALLS = [table(SMALL, m, 31) for m in (1, 41, 9973, 20011)]


def joined(left, right, keys, how):
    """(row of the left table, row of the right one or None) in order."""
    by = {}
    for r in right:
        k = tuple(r[b] for _, b in keys)
        if None not in k:
            by.setdefault(k, []).append(r)
    out = []
    for l in left:
        found = by.get(tuple(l[a] for a, _ in keys), [])
        if how in ("semi", "anti"):
            out += [(l, None)] if bool(found) == (how == "semi") else []
        else:
            out += [(l, r) for r in found] or ([(l, None)] if how == "left" else [])
    return out


def small(k):
    """A small side: its text, rows, and the names of its columns."""
    which, most = draw.randrange(4), draw.choice([0, 3, 60, 500, 1000])
    rows = [r for r in SMALLS[which] if r["v"] < most]
    table = draw.choice([f'read_arrow("small{which}.arrow")'] * 3 + [f"rows({SMALL}, {(1, 41, 9973, 20011)[which]}, 31)"])
    text = f"{table} |> where(v < {most})"
    if draw.random() < 0.3:
        return f"{text} |> distinct(i, s) |> select(i, s, v)", list({(r["i"], r["s"]): r for r in reversed(rows)}.values())[::-1], ["i", "s"]
    return f"{text} |> select({', '.join(KEYS)}, v)", rows, KEYS


def case(k):
    """Statements that print lines, and the lines."""
    text, rows, has = small(k)
    head, memory = [f"let o{k} = {text}"], k % 4 == 1
    source = draw.choice([f'read_arrow("large{k}.arrow")'] * 2 + [f'read_csv("large{k}.csv", null = "?", types = (far: i64, f: f32, s: i16, u: u64))'])
    if memory:
        source = f"rows({ROWS}, 9973, 7919)"
    left, chain = LARGE, []
    if draw.random() < 0.6:
        least = draw.choice([-60, 20, 500, 990])
        left, chain = [r for r in left if r["v"] > least], [f"where(v > {least})"]
    pairs = [(r, []) for r in left]
    for at in range(draw.choice([2, 2, 3] if memory else [1, 1, 2])):
        how = draw.choice(["inner", "semi", "inner", "semi", "left", "anti"])
        names = draw.sample(has, draw.choice([1, 1, 2]))
        if how in ("inner", "left") and not set(names) & {"far", "u", "t", "d", "i", "q"}:
            names.append("i")  # not many thousand partners of each row
        if len(pairs) > 3 * ROWS:
            break
        found = joined([dict(p[0], p_=p) for p in pairs], rows, [(n, n) for n in names], how)
        if len(found) > 40 * ROWS:
            continue
        pairs = [(l["p_"][0], l["p_"][1] + [r]) if how in ("inner", "left") else l["p_"] for l, r in found]
        columns = names + ([f"y{at} = v"] if how in ("inner", "left") else [])
        chain.append(f"join(o{k} |> select({', '.join(columns)}), on = ({', '.join(names)}), how = \"{how}\")")
        if draw.random() < 0.3:
            chain.append("derive(w2 = w * 2) |> where(w2 >= 3)")
            pairs = [p for p in pairs if p[0]["w"] * 2 >= 3]
            chain.append("drop(w2)")
    name = draw.choice(["i", "s", "v"])
    groups = {}
    for l, _ in pairs:
        groups.setdefault(l[name], []).append(l)
    lines = [f"{len(pairs)} {float(sum(l['w'] for l, _ in pairs))!r} {sum(l['v'] * 3 + l['s'] for l, _ in pairs)}", str(len(groups))]
    lines += [f"{g} {len(groups[g])} {float(sum(l['w'] for l in groups[g]))!r} {min(l['v'] for l in groups[g])}" for g in sorted(groups)[:5]]
    body = [f"let r{k} = {source}" + "".join(f"\n  |> {c}" for c in chain),
            f'print("{{len(r{k})}} {{sum(r{k}.w)}} {{sum(r{k}.v * 3) + sum([for z in r{k}.s: i64(z)])}}")',
            f"let g{k} = r{k} |> group_by(g = {name}) |> summarize(n = count(), w = sum(w), v = min(v))", f"print(len(g{k}))",
            f'for r in head(g{k}, 5) {{ print("{{r.g}} {{r.n}} {{r.w}} {{r.v}}") }}']
    return head + body, lines


def groups_case(k):
    """Rows of a table beside groups of its rows, of which few are wanted: a file is read twice, and rows in memory are filtered for the groups."""
    text, rows, has = small(k)
    name, key, how = draw.choice(["i", "s", "v", "far", "d"]), draw.choice([n for n in has if n != "ni"]), draw.choice(["semi", "inner", "inner", "left", "anti"])
    least, limit, most = draw.choice([-1, 300, 900]), draw.choice([1.0, 12.0]), draw.choice([0, 2, 5])
    groups = {}
    for r in LARGE:
        groups.setdefault(r[name], []).append(r)
    wanted = {}
    for g, of in groups.items():
        high = [r["v"] for r in of if r["w"] > limit]
        if len(of) > most and high:
            wanted[g] = (len(of), float(sum(r["w"] for r in of)), min(high), max(r["v"] for r in of))
    partners = {r[key] for r in rows}
    left = [r for r in LARGE if r["v"] > least and r[key] in partners]
    kept = [r for r in left if how == "left" or (r[name] in wanted) == (how != "anti")]
    lines = [f"{len(kept)} {float(sum(r['w'] for r in kept))!r}"]
    say = f'print("{{len(r{k})}} {{sum(r{k}.w)}}")'
    if how in ("inner", "left"):
        found = [wanted[r[name]] for r in kept if r[name] in wanted]
        lines += [" ".join([str(sum(f[0] for f in found)), repr(float(sum(f[1] for f in found))), str(sum(f[2] for f in found)), str(sum(f[3] for f in found))])]
        say += f'\nprint("{{sum(r{k}.n ?? 0)}} {{sum(r{k}.sw ?? 0)}} {{sum(r{k}.least ?? 0)}} {{sum(r{k}.top ?? 0)}}")' if how == "left" else (
            f'\nprint("{{sum(r{k}.n)}} {{sum(r{k}.sw)}} {{sum(r{k}.least ?? 0)}} {{sum(r{k}.top)}}")')
    source = f"rows({ROWS}, 9973, 7919)" if k % 8 == 3 else (lambda e: f'read_{e}("large{k}.{e}")')(draw.choice(AGAIN))
    return [f"let o{k} = {text}", f"let t{k} = {source}",
            f"let g{k} = t{k} |> derive(high = w > {limit}) |> group_by({name}) |> summarize(n = count(), sw = sum(w), least = min(if high {{ v }} else {{ null }}), top = max(v))"
            f" |> where(n > {most}, not is_null(least))",
            f'let r{k} = t{k} |> where(v > {least}) |> join(o{k} |> select({key}), on = ({key}), how = "semi") |> join(g{k}, on = ({name}), how = "{how}")', say], lines


place = Place()
place.write("make.flow", MAKE)
made = place.run("run", "make.flow")
check(made.returncode == 0, "the files are written", made.stderr)
cases = [groups_case(k) if k % 4 == 3 else case(k) for k in range(COUNT)]
for k in range(COUNT):  # a file of its own: equal reads are one
    for ending in *AGAIN, "csv":
        (place.path / f"large{k}.{ending}").hardlink_to(place.path / f"large.{ending}")
expected = [line for _, lines in cases for line in lines]
place.write("ask.flow", TABLES + "\n".join(line for text, _ in cases for line in text) + "\n")
# A sanitizer keeps memory of its own, which counts.
WAYS = [(["--workers", "1"], None), (["--workers", "3"], None), (["--memory", "40M" if PATIENCE == 1 else "8000M"], None), (["-O0"], None), (["--interp"], None),
        (["--workers", "2"], "always"), (["--workers", "2"], "never"), *((["--workers", "2"], str(draw.getrandbits(64))) for _ in range(3 if ALL else 1))]
for way, choice in WAYS:
    place.env.pop("FLOW_JOINS", None)
    if choice:
        place.env["FLOW_JOINS"] = choice
    early = [w for w in way if w in ("-O0", "--interp")]
    run = place.run("run", "--no-cache", *early, "ask.flow", *[w for w in way if w not in early])
    found = run.stdout.splitlines()
    check(len(found) == len(expected), f"{way}: as many lines as expected", f"{len(found)}, expected {len(expected)}\n{run.stderr[-1500:]}")
    for have, want in zip(found, expected):
        check(have == want, f"{way} {choice or ''}: {want}", have)
place.env.pop("FLOW_JOINS", None)
ir = place.run("build", "--emit=ir", "ask.flow").stdout
check(ir.count("= in_keys<") >= COUNT // 2, "readers ask", ir.count("= in_keys<"))
check(ir.count("= key_set<i=1") >= COUNT // 8, "joins ask, too", ir.count("= key_set<i=1"))
for ending in *AGAIN, "":
    source = f'read_{ending}("large.{ending}")' if ending else f"rows({ROWS}, 9973, 7919)"
    place.write("again.flow", f"""{TABLES}let t = {source}
let o = read_arrow("small1.arrow") |> where(v < 5)
let g = t |> group_by(i) |> summarize(n = count(), top = max(v)) |> where(n > 1)
print(len(t |> where(v > 7) |> join(o, on = (s), how = "semi") |> join(g, on = (i), how = "semi")))
""")
    ir = place.run("build", "--emit=ir", "again.flow").stdout
    if ending:
        check(ir.count("= table_parts<") == 2 and ir.count("= table_part<") == 3, f"the {ending} file is read again for its groups", ir)
    else:
        check(ir.count("= row_part ") == 1 and ir.count("= in_keys<") >= 2, "rows in memory are filtered for their groups", ir)

# ---- rows of which something knows the number ------------------------------------------------------------

NUMBERED = [
    ("t |> derive(z = [for i in 0..len(t): f64(i) / 2])", lambda k, r: k / 2),
    ("t |> derive(z = before) |> derive(z = z * 2)", lambda k, r: k * 1.5),
    ("t |> derive(z = before)", lambda k, r: k * 0.75),
    ("t |> derive(z = cumsum(w * 2)) |> derive(z = z + w)", lambda k, r: 2 * sums[k] + r["w"]),
    ("t |> derive(z = lag(w) ?? 0.5)", lambda k, r: LARGE[k - 1]["w"] if k else 0.5),
    ("t |> derive(z = [for i in 0..len(t): w[(i + 7) % len(t)]])", lambda k, r: LARGE[(k + 7) % ROWS]["w"]),
    ("t |> derive(z = [for i in 0..len(t): if i % 2 == 0 { w[i] } else { -1.0 }])", lambda k, r: r["w"] if k % 2 == 0 else -1.0),
    ("t |> derive(z = f64(row_number()))", lambda k, r: float(k)),
]
sums, total = [], 0.0
for r in LARGE:
    sums.append(total := total + r["w"])
few = {r["s"] for r in SMALLS[1] if r["v"] < 5}
script, expected = ['let o = read_arrow("small1.arrow") |> where(v < 5)', f"let before = [for i in 0..{ROWS}: f64(i) * 0.75]"], []
for at, (text, model) in enumerate(NUMBERED):
    for ending in "csv", "arrow":
        for kind, made in enumerate(("where(v > 990)", 'join(o, on = (s), how = "semi")', "where(v > 400) |> join(o |> select(s), on = (s))",
                                     'join(t |> group_by(i) |> summarize(top = max(z)) |> where(top > 100), on = (i)) |> join(o, on = (s), how = "semi")')):
            name = f"n{at}_{kind}.{ending}"
            (place.path / name).hardlink_to(place.path / f"large.{ending}")
            read = f'read_csv("{name}", null = "?", types = (far: i64, f: f32, s: i16, u: u64))' if ending == "csv" else f'read_arrow("{name}")'
            text_ = text.replace("t |>", f"t{len(script)} |>").replace("len(t)", f"len(t{len(script)})").replace("w[", f"t{len(script)}.w[")
            number = len(script)
            script.append(f"let t{number} = {read}\nlet u{number} = {text_}\nlet r{number} = u{number} |> {made.replace('join(t ', f'join(u{number} ')}\nprint(\"{{len(r{number})}} {{sum(r{number}.z)}}\")")
            rows = [(k, r, model(k, r)) for k, r in enumerate(LARGE)]
            tops = {}
            for k, r, z in rows:
                tops[r["i"]] = max(tops.get(r["i"], z), z)
            keep = [lambda k, r: r["v"] > 990, lambda k, r: r["s"] in few, lambda k, r: r["v"] > 400, lambda k, r: r["s"] in few and tops[r["i"]] > 100][kind]
            partners = {}
            for r in SMALLS[1]:
                if r["v"] < 5:
                    partners[r["s"]] = partners.get(r["s"], 0) + 1
            found = [z for k, r, z in rows if keep(k, r) for _ in range(partners.get(r["s"], 0) if kind == 2 else 1)]
            expected.append((f"{text} {made}", f"{len(found)} {math.fsum(found)!r}"))
place.write("numbered.flow", "\n".join(script) + "\n")
for way in ([], ["-O0"], ["--interp"]):
    run = place.run("run", "--no-cache", *way, "numbered.flow")
    found = run.stdout.splitlines()
    check(len(found) == len(expected), f"{way}: as many lines as expected", f"{len(found)}, expected {len(expected)}\n{run.stderr[-1500:]}")
    for have, (what, want) in zip(found, expected):
        check(have.split()[0] == want.split()[0] and math.isclose(float(have.split()[1]), float(want.split()[1]), rel_tol=1e-12), f"{way} {what}: {want}", have)

# ---- what is wrong in a row that no join keeps -----------------------------------------------------------

(place.path / "bad.csv").write_text((place.path / "large.csv").read_text() + "77777,1,1995-01-01,1995-01-01T00:00:00Z,1,1,1,1,1,true,5,none\n")
place.write("wrong.flow", 'let o = read_arrow("small1.arrow") |> where(v < 3)\nlet t = read_csv("bad.csv", null = "?", types = (w: f64))\nprint(sum((t |> where(v > 3) |> join(o, on = (i), how = "semi")).w))\n')
said = [place.run("run", *o, "wrong.flow") for o in ([], ["-O0"], ["--interp"])]
check(said[0].stderr.count("error E") == 1 and not said[0].stdout, "an error", said[0].stderr)
for other in said[1:]:
    check(said[0].stderr == other.stderr, "the same error as of the whole file", said[0].stderr + other.stderr)
place.write("wrong.flow", """let t = read_arrow("large.arrow", types = (ni: i64))
let o = read_arrow("small1.arrow") |> where(v < 5)
let g = t |> group_by(ni) |> summarize(n = count(), top = max(v)) |> where(n > 1)
print(len(t |> where(v > 7) |> join(o, on = (s), how = "semi") |> join(g, on = (ni), how = "semi")))
""")
said = [place.run("run", *o, "wrong.flow") for o in ([], ["-O0"], ["--interp"])]
check(said[0].stderr.count("error E") == 1 and not said[0].stdout, "an error of a file that is read twice", said[0].stderr)
for other in said[1:]:
    check(said[0].stderr == other.stderr, "the same error as of a file that is read once", said[0].stderr + other.stderr)
for text in ("join(one, on = a) |> derive(z = k // (v - 3)) |> join(few, on = c)", 'join(one, on = a, expect = "one") |> join(one |> select(a, u = v), on = a) |> join(few, on = c)',
             'join(one, on = a) |> join(few, on = c, expect = "one") |> join(one |> select(a, u = v), on = a)'):
    place.write("wrong.flow", f"""let t = table(a = [for k in 0..{ROWS}: k * 7919 % 503], c = [for k in 0..{ROWS}: k % 1001], k = [for k in 0..{ROWS}: k])
let one = table(a = [for j in 0..504: j % 503], v = [for j in 0..504: j % 11])
let few = table(c = [for j in 0..41: j % 40 * 7])
let r = t |> {text}
print(len(r))
print(sum([for row in r: {"row.z" if "z =" in text else "row.v"}]))
""")
    said = []
    for choice, *options in ((None,), ("always",), ("never",), (None, "-O0"), (None, "--interp")):
        place.env.pop("FLOW_JOINS", None)
        if choice:
            place.env["FLOW_JOINS"] = choice
        said.append(place.run("run", "--no-cache", *options, "wrong.flow"))
    check(said[0].stderr.count("error E") == 1 and not said[0].stdout, f"an error of {text}", said[0].stdout + said[0].stderr)
    for other in said[1:]:
        check(said[0].stderr == other.stderr, f"the same error of {text} whatever is asked", said[0].stderr + other.stderr)
finish()
