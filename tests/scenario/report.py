#!/usr/bin/env python3
"""The page of --report: what it says of stages, arguments, rows, results that were kept or not, lines, notes in a run and over runs, plots and
the plan is what happened, and so are the first rows of tables; it is well-formed, escapes what scripts hold, asks nothing of others, and is small with 10,000 stages. `flowc why`
says when a result is too cheap to keep; progress on a terminal says what runs, with its arguments."""
import base64
import html
import html.parser
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, SHORT, Place, check, finish

# seconds: 15
place = Place()
# Elements that end where the next one begins, or that never have an end.
OPEN = {"meta", "img", "tr", "td", "th", "thead", "tbody", "path", "polyline", "br"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.links, self.heads, self.tables, self.images, self.asks = [], [], [], [], [], [], [], []
        self.regions = []
        self.feed(text)
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in OPEN:
            self.open.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        if re.fullmatch("h[1-6]", tag):
            self.heads.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr" and self.tables:
            self.tables[-1].append([])
        if tag in ("td", "th") and self.tables:
            self.tables[-1][-1].append("")
            self.cell = True
        if attrs.get("role") == "region":
            self.regions.append(attrs.get("aria-label"))
        if tag == "img":
            self.images.append(attrs)
        if tag == "svg" and not attrs.get("aria-label"):
            self.wrong.append("a picture without a name")
        if tag in ("script", "link", "iframe") or (attrs.get("src") or "data:")[:5] != "data:" or any(k.startswith("on") for k in attrs):
            self.asks.append((tag, attrs))

    def handle_endtag(self, tag):
        if tag in OPEN:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data):
        if self.tables and "table" in self.open:
            self.tables[-1][-1][-1] += data

    def rows(self, first):
        """The rows of the table whose first head is this, as {head: cell}."""
        for table in self.tables:
            heads = [c.strip() for c in table[0]]
            if heads[0] == first:
                return [dict(zip(heads, (c.strip() for c in row))) for row in table[1:]]
        return []


def page_of(script, *words, status=0):
    done = place.run("run", script, "--report", "r.html", *words)
    check(done.returncode == status, f"{script} {words}", done.stderr)
    text = (place.path / "r.html").read_text()
    page = Page(text)
    check(not page.wrong and text.endswith("</html>\n"), f"{script}: the page is well-formed", page.wrong[:5])
    check(not page.asks, f"{script}: it asks nothing of others", page.asks)
    check(page.heads[0] == "h1" and set(page.heads[1:]) <= {"h2"} and len(set(page.ids)) == len(page.ids), f"{script}: headings", page.heads)
    check(all(page.regions) and len(set(page.regions)) == len(page.regions), f"{script}: each region has a name of its own", page.regions)
    check(all(link[1:] in page.ids for link in page.links), f"{script}: links lead somewhere", (page.links, page.ids))
    return page, text


place.write("sales.csv", "shop,price\n" + "".join(f"{'abc'[i % 3]},{i}\n" for i in range(30000)))
place.write("shops.csv", "shop,size\na,1\nb,2\n")
place.write("main.flow", '''param low: f64 = 50.0
param k: text = "<b>&"
let sales = read_csv("sales.csv")
stage dear(t: _[n], low: f64, k: text) = t |> where(price > low and shop != k)
stage never(x: f64) -> f64 = x + 1.0
stage cheap(x: f64[n]) -> f64[_] = x[1..]
let d = dear(sales, low, k)
d |> join(read_csv("shops.csv"), on = shop) |> group_by(size) |> summarize(n = count()) |> sort(-n) |> show
note(total = never(1.0) + cheap(zeros(4000000))[3] + low + 4.0)
for i in 0..5 { note(loss = 1.0 / (1.0 + f64(i))) }
write_plot(plot.line(table(x = [1.0, 2.0], y = [3.0, 4.0]), x, y, title = "a < b"), "p.svg")
show(plot.bar(table(x = ["u", "v"], y = [3.0, 4.0]), x, y))
''')
page, text = page_of("main.flow")
stages = {row["stage"]: row for row in page.rows("stage")}
check(set(stages) == {"dear", "never", "cheap"} and all(row["calls"] == "1" and row["remembered"] == "0" for row in stages.values()), "stages", stages)
check(stages["dear"]["rows in"] == "30,000" and stages["dear"]["rows out"] == "29,949" and stages["dear"]["results"] == "1 kept", "rows, and that it was kept", stages["dear"])
check(stages["cheap"]["results"] == "1 too cheap to keep", "too cheap to keep", stages["cheap"])
check("low = 50.0, k = &quot;&lt;b&gt;&amp;&quot;" in text and "<b>" not in text, "arguments, escaped", re.findall("low = .{40}", text))
lines = {(row["line"], row["operator"]) for row in page.rows("line")}
check(any(line == "3" for line, _ in lines) and any(line == "8" for line, _ in lines), "operators by line", sorted(lines))
check("let sales = read_csv(&quot;sales.csv&quot;)" in text, "with what stands there")
notes = [row["note"] for row in page.rows("at")]
check(notes[0] == "total = 56.0" and notes[1:] == [f"loss = {1.0 / (1 + i)!r}" for i in range(5)], "notes", notes)
check("in this run: first 1, last 0.2, least 0.2, greatest 1" in text, "the line of a note")
check(len(page.images) == 2 and [i["alt"] for i in page.images] == ["the plot of line 11", "the plot of line 12"], "plots", page.images)
for image in page.images:
    picture = base64.b64decode(image["src"].split(",", 1)[1]).decode()
    check(xml.fromstring(picture).tag.endswith("svg"), "a plot is a picture", picture[:80])
check(base64.b64decode(page.images[0]["src"].split(",", 1)[1]).decode() == (place.path / "p.svg").read_text(), "the plot that was written")
check('id="plan"' in text and "sales.csv" in text.split('id="plan"')[1], "the plan")
check('class="join"' in text and 'class="run"' in text and 'id="runs"' not in text, "the timeline; no runs before")
why = place.run("why", "main.flow").stdout
check("cheap: run, there was no run before; its result is too cheap to keep" in why and "dear: run, there was no run before\n" in why, "why says so, too", why)

page, text = page_of("main.flow", "--low", "60")
stages = {row["stage"]: row for row in page.rows("stage")}
check(stages["cheap"]["remembered"] == "0" and stages["dear"]["results"] == "1 kept", "another param", stages)
page, text = page_of("main.flow", "--low", "60")
stages = {row["stage"]: row for row in page.rows("stage")}
check(stages["dear"]["remembered"] == "1" and 'class="cached"' in text.split("</style>")[1].split("lanes")[1], "what was remembered", stages)
runs = page.rows("began")
check(len(runs) == 3 and [row["total"] for row in runs] == ["66.0", "66.0", "56.0"] and runs[0]["began"] == "this run", "notes over runs", runs)
check("over runs: first 56, last 66, least 56, greatest 66" in text, "the line over runs")

place.write("fails.flow", 'stage bad(x: f64) -> f64 = error("no <way>")\nprint(bad(1.0))\n')
page, text = page_of("fails.flow", status=1)
check(page.rows("stage")[0]["failed"] == "1" and "Failed in" in text, "a stage that failed", page.rows("stage"))
place.write("none.flow", "print(1)\n")
page, text = page_of("none.flow", "--no-cache")
check("0 stages" in text and "<main>" in text, "a run without stages", text[-300:])

# ---- the first rows of tables ----
def tables_of(text):
    """{(line, what stands there, where): (rows, columns of the table, {name: (type, cells)})}."""
    found = {}
    for said, rest in re.findall(r'^<(?:details><summary|p)>(line \d.*?)</(?:summary|p)>\n(<p>\d+ of its columns:</p>\n<div.*?|<div.*?|)(?=<details|<p>|<h2|</main)', text, re.S | re.M):
        line, code, where, rows, columns = re.fullmatch(r"line (\d+), <code>(.*?)</code>(.*): ([\d,]+) rows?, (\d+) columns?", said, re.S).groups()
        heads = re.findall(r'<th scope="col"(?: class=n)?>(.*?) <small>(.*?)</small>', rest, re.S)
        cells = [[html.unescape(c) for c in re.split(r"<td(?: class=n)?>", row)[1:]] for row in re.findall(r"<tr>(<td.*?)\n(?=<tr>|</table>)", rest, re.S)]
        check(all(len(row) == len(heads) for row in cells), f"line {line}: a cell a column", (heads, cells))
        of = {html.unescape(name): (type_, [row[k] for row in cells]) for k, (name, type_) in enumerate(heads)}
        found[int(line), html.unescape(code), html.unescape(re.sub("</?code>", "", where))] = (int(rows.replace(",", "")), int(columns), of)
    return found


odd = ["<b>&amp;", "", "a\u0001b", "x" * 81, 'say "no"', "\u00e4" * 3]
listed = ", ".join('"' + s.replace('"', '\\"').replace("\1", "\\u{1}") + '"' for s in odd)
place.write("rows.flow", f"""let t = table(i = [for k in 0..30: k * k], `a<b` = [for k in 0..30: f64(k) / 4.0])
let u = t |> derive(even = i % 2 == 0, maybe = if i % 3 == 0 then null else i) |> where(i > 8)
let odd = table(t = [{listed}])
show(u |> group_by(even) |> summarize(n = count(), last = max(i)))
let wide = table({", ".join(f"c{k} = [{k}, {k + 1}]" for k in range(40))})
show(len(wide) + len(odd))
show(u)
show(wide)
show(odd)
""".replace("if i % 3 == 0 then null else i", "if_else(i % 3 == 0, null, i)"))
for words in ([], ["--no-cache"], ["--interp"], ["-O0"], ["--workers", "1"]):
    page, text = page_of("rows.flow", *words)
    found = tables_of(text)
    i = [k * k for k in range(30)]
    kept = [v for v in i if v > 8]
    u = found.get((2, "where(i > 8)", ""), (0, 0, {}))
    check(u[:2] == (27, 4) and u[2]["i"] == ("i64", [str(v) for v in kept[:20]]), f"{words}: the first 20 of the rows of a step", u)
    check(u[2]["a<b"] == ("f64", [repr(k / 4) for k in range(3, 23)]), f"{words}: a name that has to be escaped", u)
    check(u[2]["maybe"] == ("i64?", ["<i>null</i>" if v % 3 == 0 else str(v) for v in kept[:20]]), f"{words}: null", u)
    check(u[2]["even"][1] == [str(v % 2 == 0).lower() for v in kept[:20]], f"{words}: true and false", u)
    check(found.get((3, "odd", ""), (0, 0, {}))[2].get("t") == ("text", [{3: "x" * 80 + "\u2026", 2: "a\ufffdb"}.get(k, s) for k, s in enumerate(odd)]), f"{words}: texts of any kind", found.get((3, "odd", "")))
    groups = [v for key, v in found.items() if key[1].startswith("summarize(")]
    check(groups and groups[0][2] == {"even": ("bool", ["false", "true"]), "n": ("i64", [str(sum(v % 2 for v in kept)), str(sum(v % 2 == 0 for v in kept))]), "last": ("i64", ["841", "784"])}, f"{words}: groups", groups)
    check(found.get((5, "wide", ""), (0, 0, {}))[:2] == (2, 40) and len(found[5, "wide", ""][2]) == 30 and "<p>30 of its columns:</p>" in text, f"{words}: the first columns of many", found.get((5, "wide", "")))
    check(list(found) == sorted(found, key=lambda k: k[0]) and "<b>" not in text, f"{words}: by line, escaped", list(found))
place.env["FLOW_RECORD"] = "off"
check('id="tables"' not in page_of("rows.flow")[1], "FLOW_RECORD=off: none")
del place.env["FLOW_RECORD"]
place.write("loops.flow", """let t = table(a = [1, 2, 3, 4])
stage above(t: (a: i64)[n], least: i64) = t |> where(a > least)
for i in 0..3 { show(t |> derive(b = a * (10 + i))) }
show(above(t, 1))
show(above(t, 3))
""")
page, text = page_of("loops.flow")
found = tables_of(text)
check(found.get((3, "derive(b = a * (10 + i))", ", in the first round"), (0, 0, {}))[2] == {"a": ("i64", list("1234")), "b": ("i64", ["10", "20", "30", "40"])}, "in a loop", found)
check([found.get((2, "where(a > least)", f", in above(least = {k})"), (0, 0, {}))[2].get("a", ("", []))[1] for k in (1, 3)] == [list("234"), ["4"]], "of each call of a stage", found)
page, text = page_of("none.flow")
check('id="tables"' not in text, "a run without tables")
long = ", ".join(f"c{k} = [for i in 0..200: \"{'&' * 70} {{i}} {k}\"]" for k in range(30))
place.write("bounded.flow", f"let t0 = table({long})\n" + "".join(f"let t{k} = t{k - 1} |> where(contains(c{k}, \"&\"))\n" for k in range(1, 30)) + "show(len(t29))\n")
page, text = page_of("bounded.flow")
found = tables_of(text)
tables = text.split('id="tables"')[1].split("<h2")[0]
check(len(tables) < 320_000 and len(found) >= 29 and all(t[0] == 200 for t in found.values()) and {bool(t[2]) for t in found.values()} == {True, False},
      "tables that have no room are named", (len(tables), {k: (v[:2], len(v[2])) for k, v in found.items()}))

# ---- many stages ----
many = 1000 if SHORT else 10000
place.write("many.flow", f"stage work(i: i64, scale: f64) -> f64 = sqrt(f64(i) * scale)\nlet x = [for i in 0..{many}: work(i, 1.5)]\nprint(sum(x) > 0.0)\n")
page, text = page_of("many.flow", "--no-cache")
check(len(text) <= 2_000_000, f"{many} stages take at most 2 MB", len(text))
blocks = [table for table in page.tables if table[0][1].strip() == "arguments"]
check(all(len(b) <= 201 and b[0] == blocks[0][0] for b in blocks), "in tables that a browser lays out as they come into view", [len(b) for b in blocks])
calls = [row for table in blocks for row in table[1:]]
check(len(calls) == many and {row[1] for row in calls} == {f"i = {i}, scale = 1.5" for i in range(many)}, "each call, with its arguments", calls[:3])
check(page.rows("stage")[0]["calls"] == f"{many:,}", "and their sum", page.rows("stage"))

# ---- progress on a terminal ----
place.write("slow.flow", """stage slow(i: i64, n: i64) -> f64 = sum(for k in 0..n: sqrt(f64(k + i)))
let x = [for i in 0..4: slow(i, 20000000)]
print(sum(x) > 0.0)
""")


def on_terminal(script):
    main, other = pty.openpty()
    run = subprocess.Popen(place.command("run", script, "--workers", "1"), cwd=place.path, env=place.env, stdout=subprocess.PIPE, stderr=other)
    os.close(other)
    said = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    run.communicate(timeout=120 * PATIENCE)
    os.close(main)
    return said.decode()


said = on_terminal("slow.flow")
check(re.search(r"\d done: slow\(i = \d, n = 20000000\)", said), "progress names the call that runs", said)
check(re.search(r"  slow\(i = 3, n = 20000000\) +run +[\d.]+ m?s\r\n", said), "and what has ended", said)
place.edit("slow.flow", "sqrt(f64(k + i))", "sqrt(f64(k + i + 1))")
said = on_terminal("slow.flow")
check(re.search(r"\d of about 4: slow\(i = \d, n = 20000000\)", said), "how many of how many, by the last run", said)
finish()
