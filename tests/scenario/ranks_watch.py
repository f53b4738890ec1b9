#!/usr/bin/env python3
"""What a run of several ranks says of itself: the closing line and the page (bytes that were sent, share of the time in
messages, the slowest rank) against what is counted around the engine (build/tests/ranks_run -t), and the timeline: a process a
rank, whose spans nest, whose meetings are at the same time in all, and which all have the same stages."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from ranks import TOOL
from scenario_kit import PATIENCE, check, finish

CLOSING = re.compile(r"^(?:(\d+) stages?: (\d+) run, (\d+) cached(?:, (\d+) failed)?)?(?:; )?"
                     r"(\d+) ranks sent ([\d.]+) (B|kB|MB|GB), (less than 1|\d+)% of the time in messages(?:, rank (\d+) the slowest)?$", re.M)
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
SCRIPT = """stage f(n: i64) -> f64 = sum(for i in 0..n: sin(f64(i)))
stage g(k: i64) -> f64 = sum([for j in 0..6: f(1000 + 10 * k + j)])
print(sum([for k in 0..4: g(k)]))
let x = [for i in 0..60000: random(7, i)]
print(sum(x))
let t = table(a = x) |> where(a > 0.5) |> derive(b = a * 2.0)
show(t |> sort(b) |> head(2))
print(g(50))
"""
UNEVEN = """stage f(n: i64) -> f64 = sum(for i in 0..n: sin(f64(i)))
print(sum([for k in 0..20: f(k + if k % 5 == 2 { 3000000 } else { 60000 })]))
"""


def run(text, ways, *options):
    """For each way of (ranks, workers, delay): what rank 0 said, its timeline and page, and what was counted around the engine."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="flow-ranks-"))
    try:
        (top / "s.flow").write_text(text)
        words = []
        for number, (ranks, workers, delay) in enumerate(ways):
            (top / str(number)).mkdir()
            words.append(f"{top}/{number},,{ranks},{workers},{delay},-1,0")
        done = subprocess.run([TOOL, "-t", *options, "s.flow", *words], cwd=top, text=True, capture_output=True, timeout=300 * PATIENCE,
                              env=dict(os.environ, NO_COLOR="1"))
        if done.returncode:
            raise SystemExit(f"not so: {done.stdout}{done.stderr}")
        outcomes = []
        for number in range(len(ways)):
            read = lambda ending: (top / f"{number}.{ending}").read_text()
            came = [tuple(map(int, line.split())) for line in read("came").splitlines()]
            outcomes.append((read("err"), json.loads(read("json")), read("html"), came))
        return outcomes
    finally:
        shutil.rmtree(top, ignore_errors=True)


def closing(what, said, page, timeline, came, stages):
    """The line says what was counted around the engine, and the page says the same."""
    found = CLOSING.search(said)
    check(found, f"{what}: there is a closing line", said)
    if not found:
        return None
    ranks, sent, unit, share, slowest = int(found[5]), float(found[6]), UNITS[found[7]], found[8], found[9]
    check(ranks == len(came), f"{what}: the number of ranks", said)
    check(tuple(int(found[k] or 0) for k in (1, 2, 3)) == stages, f"{what}: stages {stages}", said)
    told = timeline["otherData"]["ranks"]
    bytes_came = sum(b for b, _ in came)
    check(sum(k["bytes"] for k in told) == bytes_came, f"{what}: what came is what was sent", (told, came))
    check(abs(sent * unit - bytes_came) <= 0.0501 * unit, f"{what}: {sent} of {bytes_came} bytes", said)
    inside, around = sum(k["messages_us"] for k in told), sum(ns for _, ns in came) / 1e3
    calls = sum(e["cat"] in ("meeting", "message", "exchange") for e in timeline["traceEvents"] if e["ph"] == "X")
    check(around <= inside <= around + 5000 * PATIENCE + calls * 100, f"{what}: time in messages ({inside:.0f} us; {around:.0f} in the engine)", told)
    part = 100 * around / sum(k["us"] for k in told)
    check(abs((0 if "less" in share else int(share)) - part) <= 2, f"{what}: {share}% of the time ({part:.1f})", told)
    check(f" {found[0].split('; ')[-1]}." in page, f"{what}: the page says it as well")
    return int(slowest) if slowest else None


def lanes(what, timeline, ranks, stages, each):
    """One process a rank; its spans nest in each row, and the meetings of all are at the same time."""
    events = timeline["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    check(set(names) == set(range(ranks)) and all(re.match(rf"rank {k}\b", name) for k, name in names.items()), f"{what}: a process a rank", names)
    spans = [e for e in events if e["ph"] == "X"]
    check({e["pid"] for e in spans} == set(range(ranks)), f"{what}: events of each")
    for lane in sorted({(e["pid"], e["tid"]) for e in spans}):
        open_until, wrong = [], []
        for e in sorted((e for e in spans if (e["pid"], e["tid"]) == lane), key=lambda e: (e["ts"], -e["dur"])):
            while open_until and open_until[-1] <= e["ts"] + 0.002:
                open_until.pop()
            if open_until and e["ts"] + e["dur"] > open_until[-1] + 0.5:
                wrong.append(e)
            open_until.append(e["ts"] + e["dur"])
        check(not wrong, f"{what}: spans of rank {lane[0]}, worker {lane[1]} nest", wrong[:3])
    met = [[e for e in sorted(spans, key=lambda e: e["ts"]) if e["pid"] == k and e["cat"] == "meeting"] for k in range(ranks)]
    check(len({tuple((e["name"], e["args"]["line"]) for e in one) for one in met}) == 1 and met[0], f"{what}: all meet for the same",
          [len(one) for one in met])
    apart = [together for together in zip(*met)
             if max(e["ts"] for e in together) > min(e["ts"] + e["dur"] for e in together) + 1]
    check(not apart, f"{what}: nobody leaves a meeting before all have come", apart[:1])
    for e in (e for e in spans if e["cat"] == "message"):
        check((e["name"] == "send") == (e["pid"] == e["args"]["from"]), f"{what}: who sends", e)
    calls = [sum(e["pid"] == k and e["cat"] == "stage" and e["name"] == each for e in spans) for k in range(ranks)]
    check(sum(e["cat"] == "stage" and e["args"]["how"] == "run" for e in spans) == stages, f"{what}: {stages} stages were run, over all lanes")
    check(all(calls), f"{what}: calls of {each} are in each lane", calls)


WAYS = [(2, 1, 0), (3, 1, 300), (5, 1, 0), (3, 3, 0)]
for options in ([], ["-i"]):
    for (ranks, workers, delay), (said, timeline, page, came) in zip(WAYS, run(SCRIPT, WAYS, *options)):
        what = f"{ranks} ranks of {workers}{' interpreted' if options else ''}"
        n = 5 + 30
        closing(what, said, page, timeline, came, (n, n, 0))
        lanes(what, timeline, ranks, n, "g")

# Who is longest at work by itself is the slowest; nobody is where all have the same to do, or where none waits.
said, timeline, page, came = run(UNEVEN, [(5, 1, 0)])[0]
slowest = closing("an uneven loop", said, page, timeline, came, (20, 20, 0))
check(slowest == 2, "rank 2 has the long elements", said)
lanes("an uneven loop", timeline, 5, 20, "f")
own = [sum(e["dur"] for e in timeline["traceEvents"] if e["ph"] == "X" and e["pid"] == k and e["name"] == "elements") for k in range(5)]
check(own.index(max(own)) == 2, "which its lane shows", own)

# A run alone has one process without a name, and says nothing of ranks.
said, timeline, page, came = run(SCRIPT, [(0, 1, 0)])[0]
check("ranks" not in said and "ranks sent" not in page and "otherData" not in timeline, "a run alone says nothing of ranks", said)
check({e["pid"] for e in timeline["traceEvents"]} == {1}, "and its events are of one process")

# A failure is told first, and what was sent up to then behind it; where a rank is lost nobody knows.
said, timeline, page, came = run("print(1)\nprint([for k in 0..7: 10 // (k - 5)])\n", [(2, 1, 0)])[0]
check("error E0702" in said.splitlines()[0] and CLOSING.search(said), "a failure has a closing line", said)
finish()
