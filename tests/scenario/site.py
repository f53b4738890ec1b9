#!/usr/bin/env python3
"""The site that `./build.sh docs` makes: every page of docs/ is there, every link leads somewhere, nothing is asked of others, the search finds
headings and functions. Left out, with a note, where cmark-gfm is missing."""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, ROOT, Place, check, finish

# seconds: 8
place = Place()


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.asks, self.heads = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs.get("href") or "")
        if tag in ("link", "iframe", "img", "script") and (attrs.get("src") or attrs.get("href")):
            self.asks.append(attrs)
        if re.fullmatch("h[1-6]", tag):
            self.heads.append(tag)


if not shutil.which("cmark-gfm"):
    print("note: the site is left out: cmark-gfm is not installed (./build.sh docs does)")
    check(True, "left out")
    finish()
out = place.path / "site"
done = subprocess.run([sys.executable, "-B", str(ROOT / "docs/site/make.py"), FLOWC, str(out)], env=place.env, capture_output=True, text=True)
check(done.returncode == 0 and "pages" in done.stdout, "the site is made", done.stdout + done.stderr)
pages = {str(p.relative_to(out)): Page(p.read_text()) for p in out.rglob("*.html")}
wanted = {str(p.relative_to(ROOT)).removesuffix(".md") + ".html" for p in [*(ROOT / "docs").rglob("*.md"), ROOT / "CHANGELOG.md", ROOT / "ARCHITECTURE.md"]}
check(wanted <= set(pages), "each page of docs/ is there", sorted(wanted - set(pages)))
check({f"library/{p.stem}.html" for p in (ROOT / "stdlib").glob("?*.flow")} <= set(pages), "and the reference of each module")
for name, page in pages.items():
    check(not page.asks, f"{name}: nothing is asked of others", page.asks)
    check(page.heads[:1] == ["h1"] and page.heads.count("h1") == 1, f"{name}: one title", page.heads)
    check(len(page.ids) == len(set(page.ids)), f"{name}: each place has one name", [i for i in page.ids if page.ids.count(i) > 1])
    for link in page.links:
        if re.match("[a-z]+:", link):
            continue
        file, _, part = urllib.parse.unquote(link).partition("#")
        to = (out / name).parent.joinpath(file).resolve() if file else out / name
        known = pages.get(str(to.relative_to(out.resolve())) if file else name)
        check(to.is_file() and (not part or (known and part in known.ids)), f"{name}: {link} leads somewhere")
index = json.loads(re.search(r"const all = (\[.*\])$", (out / "search.html").read_text(), re.M)[1])
check(["ridge", "library/linear.html#ridge", "linear"] in index and any(said == "A session" for said, _, _ in index) and
      any(said.startswith("E0601") for said, _, _ in index), "the search knows functions, headings, messages", len(index))
check(all((out / to.partition("#")[0]).is_file() for _, to, _ in index), "and where they are")
finish()
