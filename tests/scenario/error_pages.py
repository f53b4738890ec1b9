#!/usr/bin/env python3
"""Every sample on the pages docs/errors/*.md is run. A block that is indented by four spaces, or fenced as ```flow, is a
script of its own; other languages are fenced with their names.

  - A line with a comment `# E0704` (or `# E0704: ...`) fails with that code on that line, and no other line fails.
    Of several such lines those that another one hides are tried without the others.
  - Without these lines, and where there are none, the script runs well: what a page advises is right.
  - `# E0281 when ...`: it may also run well, as on a machine that has what the code is about.
  - A line `# name.flow` begins a file of that name; the last one is the script. A line `# args: ...` is a command line.

The files that samples read are made here."""
import concurrent.futures
import io
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import struct
import subprocess
import sys
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from scenario_kit import Place, ROOT, check, finish

MARK = re.compile(r"#\s*([EW]\d{4})\b(.*)$")
FILE = re.compile(r"#\s*([a-z_]+\.flow)\s*$")
CODE = re.compile(r"^(\S+?\.flow)(?::(\d+):\d+)?: \w+ ([EW]\d{4}):", re.M)


def samples(text):
    """(line of the page, lines of the script) of each sample."""
    found, fence, body, start = [], None, [], 0
    for number, line in enumerate([*text.splitlines(), "end"], 1):
        if fence is not None:
            if line.startswith("```"):
                if fence == "flow":
                    found.append((start, body))
                fence, body = None, []
            else:
                body.append(line)
        elif line.startswith("    ") or (body and not line.strip()):
            start = start if body else number
            body.append(line[4:])
        else:
            while body and not body[-1].strip():
                body.pop()
            if body:
                found.append((start, body))
            body = []
            if line.startswith("```"):
                fence, start = line[3:].strip(), number + 1
    return found


def attempt(place, lines):
    """Runs these lines: exit status, {(code, line)} of what was said, and the text. Each file of the sample has
    its lines where they are in the sample."""
    files, name = {}, "sample.flow"
    for n, line in enumerate(lines):
        found = FILE.match(line)
        name = found[1] if found else name
        files.setdefault(name, [""] * n).append(line)
    for file, body in files.items():
        place.write(file, "\n".join(body) + "\n")
    args = [word for line in lines if line.startswith("# args:") for word in shlex.split(line[7:])]
    ran = place.run("run", "--quiet", name, *args, timeout=60)
    said = {(code, int(at or 0)) for _, at, code in CODE.findall(ran.stderr)}
    return ran.returncode, said, ran.stdout + ran.stderr


def try_sample(place, where, lines):
    """[(whether, what, detail)]"""
    marks = {n: MARK.search(line) for n, line in enumerate(lines, 1) if MARK.search(line)}
    status, said, text = attempt(place, lines)
    if any(code == "E0995" for code, _ in said) and not any(m[1] == "E0995" for m in marks.values()):
        return []  # DuckDB's library is not here
    if not marks:
        return [(status == 0, f"{where}: the sample runs well (status {status})", text)]
    stray = sorted(place for place in said if place[1] and place[1] not in marks)
    results = [(not stray, f"{where}: only the marked lines of the sample fail, not {stray}", text)]
    for n, mark in marks.items():
        ok = (mark[1], n) in said
        if not ok and len(marks) > 1:
            alone = [line if k == n or k not in marks else "" for k, line in enumerate(lines, 1)]
            status, said_alone, text = attempt(place, alone)
            ok = (mark[1], n) in said_alone
        ok = ok or (mark[2].strip().startswith("when ") and status == 0)
        results.append((ok, f"{where}: line {n} of the sample is {mark[1]}", text))
    status, said, text = attempt(place, ["" if k in marks else line for k, line in enumerate(lines, 1)])
    used = said and all(code in ("E0201", "E0202") for code, _ in said)  # what the marked lines declare
    results.append((status == 0 or used, f"{where}: the sample without its marked lines runs well", text))
    return results


def npy(values):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}d", *values)


def folder():
    """A folder with what samples read and import."""
    sales = "region,price,n,discount\nnorth,2.5,3,0.5\nsouth,,4,\nnorth,4.0,1,0.25\n"
    place = Place(**{"sales__csv": sales, "sales__npz": sales})
    for year in range(2020, 2023):
        place.write(f"sales_{year}.csv", sales)
    place.write("late.csv", "price\n2.5\n3.0\n\"12,50\"\n")
    place.write("stats.flow", "fn rmse(a: f64[n], b: f64[n]) -> f64 = sqrt(mean((a - b) ^ 2))\n")
    place.write("shapes.flow", "type Point = (x: f64, y: f64)\n")
    (place.path / "lib").mkdir()
    place.write("lib/shapes_2d.flow", "type Point = (x: f64, y: f64)\n")
    place.write("lib/statz.flow", "fn half(x: f64) -> f64 = x / 2\n")
    place.write("embed.py", "import sys\nsys.exit('no model here')\n")
    place.write("make.flow", 'type Model = (weights: f64[_])\nlet m: Model = (weights = [1.0, 2.0])\nsave(m, "model.flowdata")\n')
    made = place.run("run", "--quiet", "make.flow")
    check(made.returncode == 0, "the files that samples read are made", made.stderr)
    place.write("f.c", "void firsts(const double *x, long n, long k, double *out) {}\nvoid some(void) {}\nvoid f(void) {}\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libf.so", "f.c"], cwd=place.path, check=True)
    (place.path / "short.flowdata").write_bytes((place.path / "model.flowdata").read_bytes()[:-5])
    place.write("numbers.json", "[1, 2, 3]")
    (place.path / "x.npy").write_bytes(npy([1.0, 2.0]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("weights.npy", npy([1.0, 2.0]))
    (place.path / "data.npz").write_bytes(packed.getvalue())
    shop = sqlite3.connect(place.path / "shop.db")
    shop.executescript("create table sales (name text, n integer); insert into sales values ('pear', 3), ('fig', 4);")
    shop.close()
    return place


def try_page(page, made):
    name = page.relative_to(ROOT)
    place = Place()
    shutil.copytree(made.path, place.path, dirs_exist_ok=True)
    return [r for start, lines in samples(page.read_text()) for r in try_sample(place, f"{name}:{start}", lines)]


if __name__ == "__main__":
    pages = [p for p in sorted((ROOT / "docs/errors").glob("*.md")) if len(sys.argv) == 1 or p.stem in sys.argv[1:]]
    made = folder()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for results in pool.map(lambda page: try_page(page, made), pages):
            for result in results:
                check(*result)
    finish()
