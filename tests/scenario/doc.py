#!/usr/bin/env python3
"""flowc doc: every function and type of the library stands there with its head, its comment and its tests, as text and as HTML; pages are
well-formed, their links lead somewhere, and they need nothing else; what scripts hold is escaped; what cannot be read is said."""
import html.parser
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

place = Place()
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.links, self.tags, self.heads, self.text = [], [], [], [], set(), [], []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs.get("href"))
        if re.fullmatch("h[1-6]", tag):
            self.heads.append(int(tag[1]))
        if any(k.startswith("on") or k in ("src", "srcset") for k in attrs):
            self.wrong.append(f"{tag} {attrs}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


def words(text):
    return " ".join(text.split())


def run(*args, status=0):
    done = place.run("doc", *args)
    check(done.returncode == status, f"doc {args}: status {status}", f"{done.returncode} {done.stdout[-500:]}{done.stderr}")
    return done


# ---- what the modules hold, as their files say it ----
def declared(path):
    """[(name, comment)] of what others may use, and the names of tests."""
    comment, found, tests = [], [], []
    for line in path.read_text().splitlines():
        if line.startswith("## "):
            comment.append(line[3:])
            continue
        if line.startswith("@"):
            continue
        name = re.match(r"(?:fn|stage|type)\s+([A-Za-z]\w*)", line)
        if name and (comment or not line.startswith("type")):
            found.append((name[1], words(" ".join(comment))))
        test = re.match(r'test "(.*)" \{$', line)
        if test:
            tests.append(test[1])
        comment = []
    return found, tests


modules = {path.stem: declared(path) for path in sorted((ROOT / "stdlib").glob("?*.flow"))}
run("--html", "out")
pages = {p.stem: Page(p.read_text()) for p in (place.path / "out").glob("*.html")}
check(set(pages) == set(modules) | {"index", "builtins"}, "a page for each module, for flow's own functions, and a list", sorted(pages))
for name, (found, tests) in modules.items():
    text = words(run(name).stdout)
    page = words("".join(pages[name].text))
    plain = words("".join(pages[name].text).replace("`", ""))
    for item, comment in found:
        check(re.search(rf"(fn|stage|type) {item}\b", text) and comment in text, f"{name}.{item}, as text", text[:200])
        check(item in pages[name].ids and words(comment.replace("`", "")) in plain, f"{name}.{item}, as a page", page[:200])
    shown = [t for t in tests if f"Example: {t}" in text]
    check(len(shown) >= len(tests) - 2 and all(f"Example: {words(t)}" in page for t in shown), f"{name}: tests are examples", (tests, shown))
    one = run(f"{name}.{found[0][0]}").stdout
    check(re.match(rf"(fn|stage|type) {found[0][0]}\b", one), f"{name}.{found[0][0]} alone", one[:200])
listed = run().stdout
check(all(re.search(rf"^  {name} ", listed, re.M) for name in [*modules, "builtins"]), "without a word: the modules", listed)

rows = (ROOT / "compiler/sema/builtins/builtins.def").read_text()
builtins = re.findall(r'^FL_(?:BUILTIN|SCALAR|AGGREGATE\w*|WINDOW|BY_POSITION|VERB|COLUMNS|NAMING\w*)\((\w+), "([^"]*)".*"([^"]*)"\)', rows, re.M)
own = run("builtins").stdout
check(all(f"\n{name}({words(signature)})" in own for name, signature, _ in builtins), "every function that scripts know", own[:300])
check(all(name in pages["builtins"].ids for name, _, _ in builtins), "and on its page")

# ---- pages ----
for name, page in pages.items():
    check(not page.wrong, f"{name}: the page is well-formed, without events and sources", page.wrong[:5])
    check(len(set(page.ids)) == len(page.ids), f"{name}: each place has one name", [i for i in page.ids if page.ids.count(i) > 1])
    check(not page.tags & {"script", "link", "iframe", "object"}, f"{name}: it needs nothing else", page.tags)
    check(page.heads[0] == 1 and page.heads.count(1) == 1 and all(b <= a + 1 for a, b in zip(page.heads, page.heads[1:])), f"{name}: headings are in order", page.heads[:9])
    for link in page.links:
        file, _, place_name = link.partition("#")
        to = pages.get(file.removesuffix(".html") if file else name)
        check(to and (not place_name or place_name in to.ids), f"{name}: the link {link} leads somewhere")
links = pages["linear"].links
check("#Ridge" in links and "preprocess.html#standardise" in links and "#ridge_of" in links, "types, functions and other modules are linked", links[:40])
check("batches.html#sgd" in pages["optim"].links, "an alias is linked with what it stands for")
check(any(link.startswith("builtins.html#") for link in pages["linear"].links), "functions of flow are linked")

# ---- files of users ----
place.write("lib.flow", '''# lib: <b>what</b> & "how".
#
# Second paragraph.
# and its end.
import linear

## The `twice` of x, as `sum(x)`; see `linear.ridge`, not `nothing`.
fn twice(x: f64[n], sum: f64 = 0.0) -> Pair[n] = (a = x, b = x)
type Pair[n] = (a: f64[n], b: f64[n])
type Unused = (a: i64)
fn _hidden(x: i64) -> i64 = x
## A constant.
let answer: i64 = 42
let other = 3
## How many.
param many: i64 = 5

test "twice of <one>" {
  # a comment with "quotes"
  let t = twice([1.0])
  assert t.a[0] == 1.0, "no {t.a[0]} & {len("x")}"

    assert true
}
''')
said = run("lib.flow").stdout
check(all(s in said for s in ("fn twice(x: f64[n], sum: f64 = 0.0) -> Pair[n]\n", "type Pair[n] =", "let answer: i64", "param many: i64 = 5", "Second paragraph.")),
      "a file", said)
check(not any(s in said for s in ("_hidden", "Unused", "let other", "lib: ")), "what is not for others", said)
check("  Example: twice of <one>\n    # a comment with \"quotes\"\n    let t = twice([1.0])\n" in said and "\n\n      assert true\n" in said, "an example keeps its layout", said)
run("lib.flow", "linear", "builtins", "--html", "mine")
mine = Page((place.path / "mine/lib.html").read_text())
raw = (place.path / "mine/lib.html").read_text()
check(not mine.wrong and "<b>" not in raw and "&lt;b&gt;what&lt;/b&gt; &amp; &quot;how&quot;" in raw and "twice of &lt;one&gt;" in raw, "what is written is escaped", raw[-1500:])
check("linear.html#ridge" in mine.links and "#Pair" in mine.links and "#twice" in mine.links, "links of a file", mine.links)
check("builtins.html#sum" not in mine.links, "a parameter is no function", mine.links)
run("lib.flow", "--html", "alone")
alone = Page((place.path / "alone/lib.html").read_text())
check(not any(link.startswith("linear") for link in alone.links), "no link to a page that is not there", alone.links)
(place.path / "sub").mkdir()
place.write("sub/lib.flow", "## Other.\nfn other() -> i64 = 1\n")
run("lib.flow", "sub", "--html", "both")
check({p.name for p in (place.path / "both").iterdir()} == {"lib.html", "sub.lib.html", "index.html"}, "files of a folder")

# ---- types that nobody wrote ----
place.write("typed.flow", """import linear

## A.
fn half(x: f64) = x / 2.0
## B.
fn named(t: (a: i64, b: f64)[_]) = t |> summarize(s = sum(a), m = mean(b))
## C.
stage counted(n: i64) = [for i in 0..n: f64(i)]
## D.
fn any(x) = x
## E.
fn both(x: f64) { let y = x + 1.0
  (y, "t") }
## F.
fn said(x: i64) -> f64 = f64(x)
## G.
let table_of = table(a = [1], b = ["x"])
## H.
let plain: i64 = 4
## I.
fn fold(x: f64) = any(x) + f64(any(2))
""")
heads = [line for line in run("typed.flow").stdout.splitlines() if line.startswith(("fn ", "stage ", "let "))]
check(heads == ["fn half(x: f64) -> f64", "fn named(t: (a: i64, b: f64)[_]) -> (s: i64, m: f64?)[_]", "stage counted(n: i64) -> f64[_]", "fn any(x)",
                "fn both(x: f64) -> (f64, text)", "fn said(x: i64) -> f64", "fn fold(x: f64) -> f64", "let table_of: (a: i64, b: text)[_]", "let plain: i64"],
      "inferred types", "\n".join(heads))
place.write("wrong.flow", "## A.\nfn f(x: f64) = x + nope\n## B.\nfn g(x: f64) = x\n")
check("fn f(x: f64)\n" in run("wrong.flow").stdout and "fn g(x: f64) -> f64\n" in run("wrong.flow").stdout, "a module with an error")

# ---- what cannot be ----
place.write("bad.flow", "fn f( = 1\n")
check("bad.flow:1" in run("bad.flow", status=3).stderr, "a file that does not parse")
check("cannot read `nowhere.flow`" in run("nowhere.flow", status=2).stderr, "a file that there is not")
check("the library has a module `linear`" in run("lineer", status=2).stderr, "a module that is misspelt")
check("did you mean `ridge`?" in run("linear.rigde", status=2).stderr, "a name that is misspelt")
check("stands alone" in run("linear.ridge", "--html", "x", status=2).stderr, "one name is no page")
place.write("index.flow", "fn f() -> i64 = 1\n")
check("two pages would be" in run("index.flow", "--html", "x", status=2).stderr, "two pages of one name")
check("cannot write" in run("linear", "--html", "lib.flow", status=4).stderr, "a folder that is a file")
finish()
