#!/usr/bin/env python3
"""The first rows of tables in the record of a run: of every type as Python reads them out of the same file, in every way of running and of a
binary; long texts are cut, the record is bounded; functions, stages by their calls, branches, and the first round of loops; what is killed leaves rows; which can be switched off; records of
another version are none; an editor shows them until the text changes."""
import csv
import datetime
import decimal
import io
import pathlib
import re
import signal
import struct
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lsp_client import Client, place as position, uri_of
from scenario_kit import PATIENCE, Place, check, finish

HEAD = b"flow run 5\n"
NULL, UNKNOWN = None, object()
NONE = (None, None, {})


class Cut(str):
    pass


def value_of(type_, bits):
    """What a number of the record stands for, as flow writes it."""
    signed = lambda size: bits - (1 << size) if bits >> (size - 1) else bits
    if type_ in ("f64", "f32"):
        return repr(struct.unpack("<d" if type_ == "f64" else "<f", bits.to_bytes(8 if type_ == "f64" else 4, "little"))[0])
    if type_ == "bool":
        return ["false", "true"][bits]
    if type_.startswith("u"):
        return str(bits)
    if type_ == "date":
        return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=signed(32)))
    if type_ == "datetime":
        return str(datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=signed(64)))
    if type_.startswith("decimal"):
        return str(decimal.Decimal(signed(64)).scaleb(-int(re.search(r", (\d+)\)", type_)[1])))
    return str(signed(int(type_[1:])))


def cell(type_, word):
    if word in ("=", ":"):
        return NULL if word == "=" else UNKNOWN
    if type_ not in ("text", "category"):
        return value_of(type_, int(word, 16))
    text = urllib.parse.unquote(word.removesuffix("=")).removesuffix("\0" if word == "%00" else "none")
    return Cut(text) if word.endswith("=") else text


def raw(place, name="main.flow"):
    """The bytes of the record of a script, from its head on; None: there is none."""
    for p in place.store.glob("records/*/*"):
        data = p.read_bytes()
        at = data.find(HEAD)
        if at >= 0 and data.count(b"run of " + str((place.path / name).resolve()).encode(), 0, at + 1):
            return data[at:]
    return None


def tables(place, name="main.flow"):
    """{(kind, line) or, in a stage, (kind, line, call): (rows, columns of the table, {name: (type, cells)})}, of a line the last one."""
    found, calls = {}, []
    for words in (line.split(" ") for line in (raw(place, name) or b"").split(b"\n---\n")[0].decode().split("\n")):
        if words[0] == "stage":
            args = [w.split(":", 1)[1].replace("=", " = ") for w, next_ in zip(words[14:], words[15:] + [""]) if "=" in w and w.split(":")[1].split("=")[0] not in next_.split(":")]
            calls.append(f"{words[1]}({', '.join(args)})")
        elif words[0] == "rows":
            cells, stage = {}, int(words[10])
            found[(words[1], int(words[3])) + ((calls[stage],) if stage >= 0 else ())] = (int(words[8]), int(words[9]), cells)
        elif words[0] == "cells":
            type_ = urllib.parse.unquote(words[3])
            cells[urllib.parse.unquote(words[2])] = (type_, [cell(type_.removesuffix("?"), w) for w in words[4:]])
    return found


# ---- every type, as Python reads them ----
TEXTS = ["plain", "", "é ü ß", "two\nlines", "tab\there", "a=b:c%d", "\U0001f980", "x" * 80, "y" * 81, "ä" * 41, "日本語" * 20, " blank ", "%00"]
N = 40
place = Place()
out = io.StringIO()
write = csv.writer(out, lineterminator="\n")
write.writerow(["i", "f", "b", "t", "d", "at", "m", "c", "ni", "nt"])
for i in range(N):
    write.writerow([i * i - 50, repr(i / 7 - 1) if i else "1e300", str(i % 3 == 0).lower(), TEXTS[i % len(TEXTS)] or "-", datetime.date(2020, 2, 27) + datetime.timedelta(days=i),
                    datetime.datetime(1969, 12, 31, 23, 59, 30) + datetime.timedelta(seconds=7 * i), decimal.Decimal(i * 37 - 100) / 100,
                    ["low", "middle", "high"][i % 3], "" if i % 4 == 1 else i, "" if i % 5 == 2 else f"n{i}"])
place.write("types.csv", out.getvalue())
place.write("main.flow", """let t = read_csv("types.csv", types = (i: i64, f: f64, b: bool, t: text, d: date, at: datetime, m: decimal(18, 2), c: text, ni: i64?, nt: text?))
let u = t |> derive(k = category(c), x = i > 0) |> where(i > -1000)
show(u |> head(1))
""")
with open(place.path / "types.csv", newline="") as f:
    lines = list(csv.DictReader(f))


def as_float(s):
    return float(s)


WANT = {"i": ("i64", lambda r: r["i"]), "b": ("bool", lambda r: r["b"]), "t": ("text", lambda r: r["t"]), "d": ("date", lambda r: r["d"]),
        "m": ("decimal(18, 2)", lambda r: str(decimal.Decimal(r["m"]).quantize(decimal.Decimal("0.01")))), "c": ("text", lambda r: r["c"]),
        "ni": ("i64?", lambda r: r["ni"] or NULL), "nt": ("text?", lambda r: r["nt"] or NULL), "k": ("category", lambda r: r["c"]),
        "x": ("bool", lambda r: str(int(r["i"]) > 0).lower())}


def same_text(found, want):
    """Equal, or a beginning of at most 80 bytes, as long as characters allow."""
    if not isinstance(found, Cut):
        return found == want and (want is None or len(want.encode()) <= 80)
    size = len(found.encode())
    return want.startswith(found) and len(want.encode()) > 80 and size <= 80 and size + len(want[len(found)].encode()) > 80


first = None
for way in (["run"], ["run", "-O0"], ["run", "--interp"], ["run", "--workers", "1"], ["run", "--workers", "8"]):
    done = place.run(*way, "main.flow")
    check(done.returncode == 0, f"{way} runs", done.stderr)
    found = tables(place)
    n, of, cells = found.get(("step", 2), (0, 0, {}))
    check((n, of) == (N, 12), f"{way}: {N} rows of 12 columns", (n, of))
    for name, (type_, value) in WANT.items():
        its, values = cells.get(name, (None, []))
        want = [value(r) for r in lines[:20]]
        check(its == type_ and len(values) == 20 and all(map(same_text, values, want)), f"{way}: `{name}` as Python reads it", (its, values, want))
    check(cells["f"][0] == "f64" and [float(v) for v in cells["f"][1]] == [float(r["f"]) for r in lines[:20]], f"{way}: f64", cells.get("f"))
    check([datetime.datetime.fromisoformat(v) for v in cells["at"][1]] == [datetime.datetime.fromisoformat(r["at"]) for r in lines[:20]],
          f"{way}: datetime", cells.get("at"))
    both = {k: v for k, v in found.items() if k != ("let", 1)}  # which the optimiser reads already filtered
    check(first is None or both == first, f"{way}: the same rows as in other ways", (both, first))
    first = both
check(any(isinstance(v, Cut) for v in cells["t"][1]), "some texts are cut", cells["t"])

# ---- the same of a binary, whose store is beside it ----
place.write("staged.flow", (place.path / "main.flow").read_text() + "stage positive(x: i64[n]) -> i64 = sum([for v in x: max(v, 0)])\nprint(positive(u.i))\n")
check(place.run("build", "staged.flow", "-o", "model").returncode == 0, "it builds")
done = place.run_binary("model")
check(done.returncode == 0, "the binary runs", done.stderr)
check(tables(place, "model").get(("step", 2)) == first["step", 2], "and leaves the same rows", tables(place, "model"))

# ---- steps that run often, functions, stages; tables with few rows and none ----
place = Place(main__flow="""var s = 0
for i in 0..100 {
  let t = table(a = [for k in 0..5: k + i], b = [for k in 0..5: k * i]) |> where(a % 2 == 0)
  s += len(t) + sum(t.b)
  if i < 2 { show(t) }
}
fn twice(t) = t |> derive(z = a * 2)
let x = table(a = [1, 2, 3], b = ["x", "", "y=z"])
let y = twice(x)
let none = y |> where(a > 7)
stage most(t: (a: i64, z: i64)[n]) = t |> sort(a) |> head(2)
let m = most(y |> select(a, z))
if len(m) > 1 {
  show(x |> group_by(k = a % 2) |> summarize(n = count()))
} else {
  show(x |> derive(q = a))
}
stage above(t: (a: i64)[n], least: i64) = t |> where(a > least)
let p = above(x |> select(a), 1)
let q = above(x |> select(a), 2)
show(m)
show(none)
show(p)
show(q)
print(s)
""")
for way in (["run"], ["run", "--interp"], ["run", "-O0"]):
    place.run("cache", "clear")
    done = place.run(*way, "main.flow")
    check(done.returncode == 0, f"{way} runs", done.stderr)
    found = tables(place)
    check(found.get(("step", 3)) == (3, 2, {"a": ("i64", ["0", "2", "4"]), "b": ("i64", ["0", "0", "0"])}), f"{way}: the first round of a loop", found)
    check(found.get(("step", 7), NONE)[0] == 3 and found["step", 7][2]["z"] == ("i64", ["2", "4", "6"]), f"{way}: in a function", found)
    check(found.get(("let", 8), NONE)[2] == {"a": ("i64", ["1", "2", "3"]), "b": ("text", ["x", "", "y=z"])}, f"{way}: a let", found)
    check(found.get(("step", 10), NONE)[0] == 0 and found["step", 10][2]["z"] == ("i64", []), f"{way}: no rows", found)
    check(found.get(("let", 12), NONE)[2].get("z") == ("i64", ["2", "4"]), f"{way}: what a stage gave", found)
    check(found.get(("step", 11, "most()"), NONE)[0] == 2 and found["step", 11, "most()"][2]["z"] == ("i64", ["2", "4"]), f"{way}: in a stage that is called once", found)
    check(found.get(("step", 14), NONE)[2] == {"k": ("i64", ["0", "1"]), "n": ("i64", ["1", "2"])}, f"{way}: in a branch", found)
    check(("step", 16) not in found, f"{way}: but not in one that is not taken", found)
    check([found.get(("step", 18, f"above(least = {k})"), NONE)[2].get("a") for k in (1, 2)] == [("i64", ["2", "3"]), ("i64", ["3"])], f"{way}: in each call of a stage", found)
    check(found.get(("let", 19), NONE)[2].get("a") == ("i64", ["2", "3"]) and found.get(("let", 20), NONE)[2].get("a") == ("i64", ["3"]), f"{way}: but what each call gave", found)
place.run("run", "main.flow")
found = tables(place)
check(found.get(("let", 12), NONE)[2].get("z") == ("i64", ["2", "4"]) and not [k for k in found if k[:2] == ("step", 11)], "and what was remembered of it", found)

# ---- bounded: many wide tables of long texts ----
wide = ", ".join(f"c{k} = [for i in 0..200: \"{'w' * 70} {{i}} {k}\"]" for k in range(40))
place = Place(main__flow=f"let t0 = table({wide})\n" + "".join(f"let t{k} = t{k - 1} |> where(contains(c{k % 40}, \"w\"))\n" for k in range(1, 30)) + "show(len(t29))\n")
done = place.run("run", "main.flow")
check(done.returncode == 0, "many wide tables", done.stderr)
data, found = raw(place).split(b"\n---\n")[0], tables(place)
check(max(len(t[2]) for t in found.values()) <= 30 and {t[1] for t in found.values()} == {40}, "30 columns of 40", {k: (t[1], len(t[2])) for k, t in found.items()})
check(len(data) < 320_000 and {bool(t[2]) for t in found.values()} == {True, False}, "what has no room is left out", len(data))
check(all(t[0] == 200 for t in found.values()), "but for its rows", found.keys())

# ---- killed, failed, switched off, of another version ----
place = Place(main__flow="""let t = table(a = [1, 2, 3]) |> derive(b = a * 10)
show(t)
var s = 0.0
for i in 0..100000000 { s += sum(sort([1.0, f64(i), 3.0])) }
print(s)
""")
running = place.start("run", "main.flow")
until = time.time() + 30 * PATIENCE
while not tables(place).get(("step", 1)) and time.time() < until:
    time.sleep(0.05)
running.send_signal(signal.SIGKILL)
running.wait()
found = tables(place).get(("step", 1), NONE)
check(found[0] == 3 and found[2].get("b") == ("i64", ["10", "20", "30"]) and b"running" in raw(place).split(b"\n")[1], "a killed run leaves rows", raw(place))
TEXT = """let t = table(a = [1, 2, 3]) |> derive(b = a * 10)
show(t)
let u = t |> where(a > 1) |> sort(-b)
show(u)
"""
place.write("main.flow", TEXT + "assert len(u) == 7\n")
check(place.run("run", "main.flow").returncode == 1 and tables(place).get(("step", 1), NONE)[0] == 3, "so does one that fails", raw(place))
place.write("off.flow", TEXT)
place.env["FLOW_RECORD"] = "off"
check(place.run("run", "off.flow").returncode == 0 and raw(place, "off.flow") is None, "FLOW_RECORD=off: none")
del place.env["FLOW_RECORD"]


def hover(text, at, **options):
    client = Client(place.path, env=place.env, start=not options)
    if options:
        client.ask("initialize", processId=None, rootUri=uri_of(place.path), capabilities={}, initializationOptions=options)
        client.tell("initialized")
    uri = uri_of(place.path / "main.flow")
    client.open(uri, text)
    found = client.about("hover", uri, position=position(text, text.index(at)))
    client.end()
    return found["contents"]["value"] if found else ""


place.write("main.flow", TEXT)
place.run("run", "main.flow")
check(re.search(r"```text\n *a +b\n *i64 +i64\n[─ ]+\n *2 +20\n *3 +30\n```\n\n2 rows of the last run$", hover(TEXT, "where")), "an editor shows rows of the last run", hover(TEXT, "where"))
check("3 rows of the last run" in hover(TEXT, "derive") and re.search(r"3 +30\n *2 +20\n", hover(TEXT, "sort")), "of each step", hover(TEXT, "sort"))
for changed in (TEXT.replace("a > 1", "a > 2"), TEXT + "print(1)\n"):
    found = hover(changed, "where", rowsWithin=60_000)
    check("last run" not in found and "```text" in found, "of a text that has changed as it is now", found)
check("2 rows of the last run" in hover(TEXT, "u =") and "20\n" in hover(TEXT, "u ="), "of a `let` those of its last step", hover(TEXT, "u ="))
check("last run" not in hover(TEXT + "print(1)\n", "u ="), "unless the text has changed", hover(TEXT + "print(1)\n", "u ="))
plain = TEXT.replace("show(u)", "let v = table(k = [for i in 0..30: i * i])\nshow(v)")
place.write("main.flow", plain)
place.run("run", "main.flow")
check(re.search(r"\n *k\n *i64\n─+\n *0\n *1\n.* *81\n```\n\nthe first 10 of 30 rows of the last run$", hover(plain, "v ="), re.S), "of one without a pipe its own", hover(plain, "v ="))
looped = """stage above(t: (a: i64)[n], least: i64) = t |> where(a > least)
for i in 0..3 {
  let t = table(a = [1, 2, 3]) |> derive(b = a * (i + 1))
  show(above(t |> select(a), i + 1))
  show(t)
}
"""
place.write("main.flow", looped)
place.run("run", "main.flow")
check(re.search(r"3 +3\n```\n\n3 rows of the last run, in the first round$", hover(looped, "derive")), "of a loop", hover(looped, "derive"))
check(hover(looped, "t = table").split("---")[1:] == hover(looped, "derive").split("---")[1:], "also of the `let`", hover(looped, "t = table"))
found = hover(looped, "where")
check([f"rows of the last run, in `above(least = {k})`" in found.replace("1 row ", "1 rows ") for k in (1, 2, 3)] == [True] * 3 and found.count("```text") == 3, "of each call of a stage", found)
place.write("main.flow", TEXT)
place.run("run", "main.flow")
check("last run" not in hover(TEXT, "where", lastRun=False) and "```text" not in hover(TEXT, "where", rows=False), "either is switched off", hover(TEXT, "where", lastRun=False))
for p in place.store.glob("records/*/*"):
    data = p.read_bytes()
    for bad in (data.replace(HEAD, b"flow run 4\n"), data[:len(data) // 2], data.replace(b"\ncells ", b"\ncells x "), data.replace(b"rows step", b"rows step -7")):
        p.write_bytes(bad)
        check("last run" not in hover(TEXT, "where"), "a record of another version, or a damaged one, says no rows", hover(TEXT, "where"))
        check(place.run("why", "main.flow").returncode in (0, 1, 2, 3), "and is read", "")
    p.write_bytes(data.replace(HEAD, b"flow run 4\n"))
check(place.run("run", "main.flow").returncode == 0 and tables(place).get(("step", 1)), "the next run writes one of this version")
finish()
