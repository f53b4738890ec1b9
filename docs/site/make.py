#!/usr/bin/env python3
"""A static site of all pages of docs/, the library's reference and the pages of the messages: make.py FLOWC FOLDER.

In: Markdown of this repository, made into HTML by cmark-gfm (the dialect in which the pages are written), and the pages that `flowc doc --html`
writes, whose style is the style of all. Out: a folder that needs nothing else: no requests go out, also not by the search, which is a list in
its own page. What always holds: a link that led somewhere in the repository leads there in the site, or is plain text; a heading has the
name that links to it use; a link that leads nowhere fails."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TITLES = {"README.md": "flow", "docs/tutorial.md": "A first hour", "docs/language.md": "Language", "docs/builtins.md": "Functions", "docs/library.md": "Library, a guide",
          "docs/cookbook.md": "Cookbook", "docs/files.md": "Files", "docs/commands.md": "Commands", "CHANGELOG.md": "Changes"}
EXTRA = """
header nav ul{padding:0;margin:0 0 1rem;list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;border-bottom:1px solid var(--line)}
table{border-collapse:collapse;display:block;overflow-x:auto}
th,td{padding:.3rem .6rem;border:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:normal}
[aria-current]{font-weight:700}main img{max-width:100%}blockquote{margin:0;padding-left:1rem;border-left:3px solid var(--line)}
label{display:block;font-weight:600}#ask{width:100%;font:inherit;padding:.4rem;color:var(--fg);background:var(--bg);border:1px solid var(--dim);border-radius:.3rem}
"""


def pages():
    """Markdown files -> their paths in the site."""
    found = {"README.md": "index.html"}
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "editors/README.md", ROOT / "examples/data/README.md",
                 ROOT / "runtime/memo/README.md", ROOT / "tests/answers.md"]:
        name = str(path.relative_to(ROOT))
        if path.exists() and name not in found:
            found[name] = name.removesuffix(".md") + ".html"
    return found


def slug(text):
    """The name of a heading, as GitHub gives it."""
    text = html.unescape(re.sub(r"<[^>]*>", "", text)).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


class Site:
    def __init__(self, flowc, out):
        self.flowc, self.out = flowc, out
        self.pages = pages()
        self.wrong, self.found, self.places, self.links, self.copied = [], [], {}, [], set()

    def rise(self, name):
        return "../" * name.count("/")

    def frame(self, name, title, body, ways=""):
        here = self.pages_ways(name)
        return (f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                f"<title>{html.escape(title)}</title>\n<style>{self.style}{EXTRA}</style>\n</head>\n<body>\n"
                f'<a class="skip" href="#main">To the content</a>\n<header>{here}</header>\n<main id="main">\n{body}{ways}</main>\n</body>\n</html>\n')

    def pages_ways(self, name):
        rise = self.rise(name)
        ways = [(self.pages[page], title) for page, title in TITLES.items()]
        ways[4:4] = [("library/index.html", "Reference")]
        ways += [("docs/errors/index.html", "Messages"), ("docs/decisions/README.html", "Decisions"), ("search.html", "Search")]
        items = "".join(f'<li><a href="{rise}{to}"{" aria-current=page" if to == name else ""}>{title}</a></li>' for to, title in ways)
        return f'<nav aria-label="Pages"><ul>{items}</ul></nav>'

    def write(self, name, text):
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def link(self, page, name, to):
        """What a link of a page is in the site; None: plain text."""
        if re.match(r"[a-z]+:", to):
            return to
        file, _, place = to.partition("#")
        target = ((ROOT / page).parent / file).resolve() if file else ROOT / page
        try:
            inside = str(target.relative_to(ROOT))
        except ValueError:
            inside = None
        if inside is None or not target.exists():
            self.wrong.append(f"{page}: {to} leads nowhere")
            return None
        if inside == "stdlib":
            return self.rise(name) + "library/index.html"
        if target.is_dir():
            inside = inside + "/README.md" if inside + "/README.md" in self.pages else None
            if inside is None:
                return None
        if inside in self.pages:
            to = self.pages[inside]
            self.links.append((page, to, place))
        else:
            self.copied.add(inside)
            to = inside
        return self.rise(name) + to + (f"#{place}" if place else "")

    def render(self, page):
        name = self.pages[page]
        text = (ROOT / page).read_text()
        body = subprocess.run(["cmark-gfm", "-e", "table", "-e", "autolink", "--unsafe"], input=text, capture_output=True, text=True, check=True).stdout
        seen = {}

        def heading(m):
            base = slug(m[2])
            seen[base] = seen.get(base, -1) + 1
            place = base + (f"-{seen[base]}" if seen[base] else "")
            self.places.setdefault(name, set()).add(place)
            said = html.unescape(re.sub(r"<[^>]*>", "", m[2]))
            self.found.append((said, name + ("" if m[1] == "1" else f"#{place}"), title_of(text, page)))
            return f'<h{m[1]} id="{place}">{m[2]}</h{m[1]}>'

        def anchor(m):
            to = self.link(page, name, html.unescape(m[1]))
            return f'<a href="{html.escape(to)}">{m[2]}</a>' if to else m[2]

        body = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.S)
        body = re.sub(r'<a href="([^"]*)">(.*?)</a>', anchor, body, flags=re.S)
        body = re.sub(r"<table>", '<table tabindex="0">', body)
        self.write(name, self.frame(name, title_of(text, page), body))

    def messages(self):
        rows = []
        for path in sorted((ROOT / "docs/errors").glob("E*.md")) + sorted((ROOT / "docs/errors").glob("W*.md")):
            title = path.read_text().splitlines()[0].lstrip("# ")
            title = re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(title))
            rows.append(f'<li><a href="{path.stem}.html">{title}</a></li>')
        self.write("docs/errors/index.html", self.frame("docs/errors/index.html", "Messages", "<h1>Messages</h1>\n<ul>\n" + "\n".join(rows) + "\n</ul>\n"))

    def library(self):
        for path in sorted((self.out / "library").glob("*.html")):
            text = path.read_text()
            here = f"library/{path.name}"
            ways = self.pages_ways(here) + '<nav aria-label="Reference"><a href="index.html">All modules</a></nav>'
            text = re.sub(r"<header>.*?</header>", lambda m: f"<header>{ways}</header>", text, count=1)
            text = text.replace("</style>", EXTRA + "</style>", 1)
            path.write_text(text)
            for place, said in re.findall(r'<h3 id="([^"]*)"><a [^>]*>(.*?)</a></h3>', text):
                self.found.append((html.unescape(said), f"library/{path.name}#{place}", path.stem))

    def search(self):
        index = json.dumps(self.found, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        self.write("search.html", self.frame("search.html", "Search", f"""<h1>Search</h1>
<label for="ask">Headings, functions, messages</label><input id="ask" type="search" autocomplete="off">
<p id="count" role="status"></p>
<ul id="hits"></ul>
<script>
const all = {index}
const ask = document.getElementById("ask"), hits = document.getElementById("hits"), count = document.getElementById("count")
function look() {{
  const words = ask.value.toLowerCase().split(/\\s+/).filter(w => w)
  const rank = ([said]) => said.toLowerCase() === words.join(" ") ? 0 : said.toLowerCase().startsWith(words[0]) ? 1 : 2
  const found = words.length ? all.filter(([said, to, page]) => words.every(w => (said + " " + page).toLowerCase().includes(w))) : []
  found.sort((a, b) => rank(a) - rank(b))
  count.textContent = words.length ? found.length + " found" : ""
  hits.replaceChildren(...found.slice(0, 100).map(([said, to, page]) => {{
    const item = document.createElement("li"), way = document.createElement("a")
    way.href = to
    way.textContent = said
    item.append(way, said === page ? "" : " (" + page + ")")
    return item
  }}))
}}
ask.addEventListener("input", look)
</script>
"""))

    def make(self):
        subprocess.run([self.flowc, "doc", "--html", str(self.out / "library")], check=True)
        self.style = re.search(r"<style>(.*?)</style>", (self.out / "library/index.html").read_text(), re.S)[1]
        for page in self.pages:
            self.render(page)
        self.messages()
        self.library()
        self.search()
        for name in sorted(self.copied):
            (self.out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, self.out / name)
        for page, to, place in self.links:
            if place and place not in self.places.get(to, ()):
                self.wrong.append(f"{page}: there is no place #{place} in {to}")
        for line in self.wrong:
            print(line, file=sys.stderr)
        return 1 if self.wrong else 0


def title_of(text, page):
    first = re.search(r"^# (.*)$", text, re.M)
    return re.sub(r"[`*]", "", first[1]) if first else page


def main():
    flowc, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    status = Site(flowc, out).make()
    if not status:
        print(f"{out}/index.html: {sum(1 for _ in out.rglob('*.html'))} pages")
    sys.exit(status)


main()
