#!/usr/bin/env python3
"""Every example and every script of tests/run gives the same as one rank alone, as several ranks that are threads of one
process (build/tests/ranks_run): what it prints, says, writes and returns, over ranks x workers x store, with random delays.
Then ranks that are lost at each of the first meetings: the others end, with a message.

usage: ranks.py [--all | WORD ...]: all scripts, each three of all ways: a cold store, one that another number of ranks has warmed, and a warm
one; or those whose path holds a word, all of WAYS. Without words the examples and every sixteenth script take one.
"""
import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ALL, FLOWC, PATIENCE, ROOT, SHARD, SHARDS, check, finish, without_ranks

# shards: 4
TOOL = pathlib.Path(FLOWC).parent / "tests/ranks_run"
# (ranks, workers, microseconds of delay, store): a store that is named was filled by the ways before. Behind them may stand a rank that dies,
# and when (-1: none), and a form (tests/ranks/run.c).
WAYS = [(1, 1, 0, "a"), (2, 1, 0, "b"), (3, 1, 100, "b"), (5, 1, 0, ""), (1, 2, 0, ""), (2, 2, 100, ""), (3, 2, 0, "c"),
        (5, 2, 100, "c")]
RANKS, WORKERS = (1, 2, 3, 5, 8), (1, 2)
COUNTS = re.compile(rb"^\d+ stages?: .*\n", re.M)


def some_ways(seed):
    """Six ways of all: each number of ranks with each of workers, stores that are cold, warm, and warmed by another number of ranks,
    what is shared and what stays in parts, with random delays or without."""
    draw = random.Random(seed)
    pairs = draw.sample([(r, w) for r in RANKS for w in WORKERS], 5)
    way = lambda pair, store: (*pair, draw.choice((0, 0, 20, 100)), store, -1, 0, draw.randrange(3) * 3 + draw.choice((0, 0, 0, 1, 2)))
    return [way(pairs[at], store) for at, store in ((0, "a"), (1, "a"), (1, "a"), (2, "b"), (3, "b"), (4, ""))]


def directives(script):
    text = script.read_bytes().decode("utf-8", "replace")
    found = dict(re.findall(r"^\s*#\s*(status|args|modes|tolerance|needs):\s*(.*?)\s*$", text, re.M))
    return text, found


def fits(text, found):
    """Left out: output that hangs on the time or on libraries that are not everywhere, and what uses the stack up, which
    only a process of its own survives, and command lines that are wrong."""
    return "needs" not in found and found.get("status") != "2" and not re.search(r"\b(now|today)\(\)|endless|without an end|too deeply", text)


def lay(folder, script):
    """Links to the script and what it names of what lies beside it."""
    folder.mkdir()
    text = script.read_text(errors="replace")
    for path in script.parent.iterdir():
        if path == script or (path.suffix != ".flow" and path.suffix not in {".out", ".err"}) or path.stem in text:
            (folder / path.name).symlink_to(path)


def written(folder):
    """The files that a run left behind, and their bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*"))
            if p.is_file() and p.name != "ran.txt" and not p.is_symlink() and ".store" not in p.parts and not any(q.is_symlink() for q in p.parents)}


def outcome(folder, count):
    """What a way gave; the line that counts stages is left out where the store was not empty."""
    said, ran = without_ranks(pathlib.Path(f"{folder}.err").read_bytes().decode(errors="surrogateescape")), folder / "ran.txt"
    said = said.encode(errors="surrogateescape")
    status = pathlib.Path(f"{folder}.status").read_text()
    count &= status == "0\n"  # how many stages had begun, or failed, when a run knew that it has failed hangs on its workers, also alone
    return {"ran": sorted(ran.read_text().splitlines()) if ran.exists() else [],
            "status": status, "out": pathlib.Path(f"{folder}.out").read_bytes(),
            "err": said if count else COUNTS.sub(b"", said), **written(folder)}


class Outcome(dict):
    """What a way gave, and how many bytes its ranks sent."""
    sent = 0


def run(script, ways, *options, given=None, arguments=()):
    """What each way gives, the first alone."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="flow-ranks-"))
    try:
        lay(top / "at", script)
        words = []
        for number, (ranks, workers, delay, store, *death) in enumerate([(0, 1, 0, "alone"), *ways]):
            folder = top / str(number)
            lay(folder, script)
            if given is not None:
                pathlib.Path(f"{folder}.in").write_text(given)
            dies, dies_at, *form = death or (-1, 0)
            place = top / f"{store}.store" if store else ""
            words.append(",".join(map(str, (folder, place, ranks, workers, delay, dies, dies_at, *form))))
        done = subprocess.run([TOOL, *options, script.name, *words, "--", *arguments], cwd=top / "at", text=True,
                              capture_output=True, timeout=600 * PATIENCE, env=dict(os.environ, NO_COLOR="1"))
        if done.returncode:
            raise RuntimeError(f"{done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        seen = set()
        outcomes = []
        for number, (_, _, _, store, *_) in enumerate([(0, 1, 0, "alone"), *ways]):
            outcomes.append(Outcome(outcome(top / str(number), bool(store) and store not in seen)))
            outcomes[-1].sent = int((top / f"{number}.sent").read_text())
            seen.add(store)
        return outcomes
    finally:
        shutil.rmtree(top, ignore_errors=True)


def compare(script, ways, *options, given=None):
    """The differences of the ways from the run alone."""
    _, found = directives(script)
    try:
        alone, *others = run(script, ways, *options, given=given, arguments=shlex.split(found.get("args", "")))
    except (RuntimeError, subprocess.TimeoutExpired, FileNotFoundError) as reason:
        return [str(reason)]
    wrong = []
    for way, got in zip(ways, others):
        uncounted = {k: COUNTS.sub(b"", v) if k == "err" else v for k, v in alone.items()}
        if got != alone and got != uncounted:
            names = [k for k in {*got, *alone} if got.get(k) != alone.get(k)]
            wrong.append(f"ranks, workers, delay, store {way}: {names[0]}: {str(got.get(names[0]))[:600]}\n"
                         f"    alone: {str(alone.get(names[0]))[:600]}")
    return wrong


def all_scripts():
    scripts = sorted((ROOT / "examples").glob("?*.flow")) + sorted((ROOT / "tests/run").rglob("?*.flow"))
    kept = [s for s in scripts if fits(*directives(s))]
    words = sys.argv[1:]
    every = 1 if words or ALL else 16
    chosen = [(n, s) for n, s in enumerate(kept) if n % every == 0 or s.parent.name == "examples"]
    chosen = [c for k, c in enumerate(chosen) if k % SHARDS == SHARD]
    if words:
        chosen = [(n, s) for n, s in chosen if any(word in str(s) for word in words)]
    several = (1, 2, 3, 5, 7)
    pick = lambda n: WAYS if words else some_ways(n)[:3] if ALL else [WAYS[several[n // every % 5]]]
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as pool:
        for (n, script), wrong in zip(chosen, pool.map(lambda c: compare(c[1], pick(c[0])), chosen)):
            check(not wrong, f"{script.relative_to(ROOT)} gives the same over ranks", "\n".join(wrong))


def scratch(text, beside=()):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flow-ranks-script-"))
    (folder / "s.flow").write_text(text)
    for path in beside:
        (folder / path.name).symlink_to(path)
    return folder / "s.flow"


def written_over():
    """Elements of a list that one rank made, and others were sent, are operands of results in parts: which these are hangs on no owner."""
    for name in ("derivatives/lists.flow", "control/written_over_elements.flow"):
        wrong = compare(ROOT / "tests/run" / name, [(2, 2, 0, "", -1, 0, 3), (3, 1, 0, "", -1, 0, 3), (2, 1, 0, "", -1, 0, 0), (5, 2, 0, "", -1, 0, 1)])
        check(not wrong, f"results in parts of lists that some ranks own: {name}", "\n".join(wrong))


FAILING = """
let x = [for i in 0..64: random(61, i) * 4.0 - 2.0]
let t = table(a = x, b = [for i in 0..64: (1000 // (i - 4097))]) |> where(a > -1.0)
show(t |> derive(g = b % 40, some = if_else(b % 4 == 1, null, "{b % 77}")) |> group_by(g) |> summarize(n = count(), least = min(some), s = sum(b * 3037000500 * 3037000499)))
print(fold((s, v) => 0.5 * s + v, 0.0, t.a))
"""


READ_LAST = """
let x = [for i in 0..9001: random(70, i) * 4.0 - 2.0]
let all = [x, x]
let y = [for i in 0..len(x): all[0][i] + x[i]]
if sum(y) > -1000000.0 { error("{y[3]} {y[8003]} {sum(y)}") }
"""


def error_reads():
    """What is said of elements of an array that was written over a whole one, in parts."""
    script = scratch(READ_LAST)
    wrong = compare(script, [(2, 1, 0, "", -1, 0, 0), (3, 2, 0, "", -1, 0, 3), (5, 1, 20, "", -1, 0, 6)], "-q")
    check(not wrong, "elements that an error names", "\n".join(wrong))
    shutil.rmtree(script.parent)


def group_fails():
    """An aggregate that fails in a piece of one rank, while texts of the next pieces come, is said as by one rank."""
    script = scratch(FAILING)
    wrong = compare(script, [(2, 1, 20, "", -1, 0, 0), (3, 1, 0, "", -1, 0, 0), (5, 2, 0, "", -1, 0, 3)], "-q")
    check(not wrong, "a sum that is too large, beside texts", "\n".join(wrong))
    shutil.rmtree(script.parent)


INPUT = """
type Row = (a: i64, b: text)
param data: file = "-"
let t: Row[_] = read_csv(data)
print(len(t))
stage total(t: Row[n]) -> i64 = sum(t.a)
print(total(t))
stage read_it(f: file) -> Row[_] = read_csv(f)
show(read_it(data))
print(env("FLOW_NOTHING", default = "none"))
"""
PROGRAMS = """
type Row = (n: i64)
stage one(k: i64) -> Row[_] = exec("echo run {k} >> ran.txt; echo n; echo {k}; echo 7")
stage noted(k: i64) -> i64 { note(k = k)
  k }
let t: Row[_] = exec("echo run >> ran.txt; echo n; echo 1")
print(t.n)
print(sum(one(40).n))
print([for k in 0..7: sum(one(k).n)])
for k in 0..7 {
  print([for i in 0..3: if k < 2 { i } else { sum(one(100 + k * 3 + i).n) }])
  print([for i in 0..3: if k < 4 or i == 1 { i } else { noted(k * 10 + i) }])
}
print([for k in 10..17: sum(one(k).n) // (k - 16)])
"""


def outside():
    """What rank 0 alone sees comes to all, and is asked for once."""
    script = scratch(INPUT)
    for options in ([], ["-i"]):
        wrong = compare(script, WAYS, *options, given="a,b\n1,x\n2,y\n39,z\n")
        check(not wrong, f"standard input comes to all ranks {options}", "\n".join(wrong))
    shutil.rmtree(script.parent)
    script = scratch(PROGRAMS)
    wrong = compare(script, [(r, 1, d, f"new {k}") for k, (r, _, d, _) in enumerate(WAYS)])
    check(not wrong, "programs are run once, by rank 0", "\n".join(wrong))
    shutil.rmtree(script.parent)


def lost():
    """A rank that ends at the k-th meeting: all end, and rank 0, where it is not the one, says so."""
    script = scratch("stage f(n: i64) = sum(for i in 0..n: f64(i))\nfor k in 0..4 { print([for i in 0..6: f(i + k * 10)]) }\n")
    ways = [(3, 1, 50, "", 1 + k % 2, k) for k in range(1, 18)]
    try:
        alone, *others = run(script, ways)
        for way, got in zip(ways, others):
            said = b"has ended before the others" in got["err"] and got["status"] == "4\n"
            check(said and alone["out"].startswith(got["out"]), f"rank {way[4]} is lost at meeting {way[5]}", got)
    except (RuntimeError, subprocess.TimeoutExpired) as reason:
        check(False, "ranks end when one is lost", reason)
    shutil.rmtree(script.parent)


if __name__ == "__main__":
    if SHARD == 0:
        outside()
        written_over()
        group_fails()
        error_reads()
        lost()
    all_scripts()
    finish()
