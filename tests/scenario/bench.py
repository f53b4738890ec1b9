#!/usr/bin/env python3
"""flowc bench: calls and rows as Python counts them, times that agree with each other and with a clock outside; the last time beside it and what
was other about it; the last run stays what it was; nothing is left behind; failing runs and wrong words."""
import json
import os
import resource
import sys
import time

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

N = 200_000
place = Place()
place.write("t.csv", "a,b\n" + "".join(f"{i},{i * 7919 % 1000003}\n" for i in range(N)))
place.write("main.flow", """param least: i64 = 0
stage load() = read_csv("t.csv")
stage dear(t: _[n], least: i64) = t |> where(b >= least) |> sort(b)
stage add(x: i64) -> i64 = x + 1
let t = load()
show(dear(t, least) |> head(2))
print(sum([for i in 0..6: add(i % 3)]))
""")
temporary = place.path / "tmp"
temporary.mkdir()
place.env["TMPDIR"] = str(temporary)
place.run("run", "main.flow", "--least", "5")
why = place.run("why", "main.flow").stdout


def bench(*words, status=0):
    done = place.run("bench", *words, timeout=600)
    check(done.returncode == status, f"bench {words} ends with {status}", [done.returncode, done.stdout, done.stderr])
    return done


before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
done = bench("main.flow", "--runs", "3", "--json")
wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
found = json.loads(done.stdout)
stages = {s["name"]: s for s in found["stages"]}
check(found["runs"] == 3 and found["script"] == "main.flow" and found["words"] == "" and "before" not in found, "three runs, for the first time", found)
check(list(stages) == ["load", "dear", "add"], "stages in the order of their calls", list(stages))
check([stages[s]["calls"] for s in stages] == [1, 1, 3], "calls that run; of six `add` three have their result from others", stages)
check([stages[s].get("rows") for s in stages] == [N, N, None], "rows", stages)
for s in [found, *stages.values()]:
    t = s["seconds"]
    check(0 < t["least"] <= t["median"] <= found["seconds"]["median"] * 2, "least, median", s)
    if "rows" in s:
        check(abs(s["rows_a_second"] / (s["rows"] / t["median"]) - 1) < 1e-9, "rows a second", s)
check(found["seconds"]["least"] * 3 <= wall, "three runs take no longer than the command", [found["seconds"], wall])
check(0 < found["processor"] <= cpu, "nor more of the processors", [found["processor"], cpu])
check(16 * N <= stages["dear"]["held"] <= found["peak"], "two columns of eight bytes are held", stages)
check(place.run("why", "main.flow").stdout == why, "the last run stays what it was")
check(not os.listdir(temporary), "nothing is left", os.listdir(temporary))

# ---- beside the last time ----
text = bench("main.flow", "--runs=2", "--least", "900000").stdout
check("main.flow: 2 runs with" in text and "the last column: least times against those of" in text and "other words" in text, "the words are others", text)
check("another text" not in text and "other data" not in text and "%" in text, "what is the same is not said", text)
again = json.loads(bench("main.flow", "--json", "--runs", "2", "--least", "900000").stdout)
check(again["words"] == "--least 900000" and again["before"]["words"] == "--least 900000" and again["before"]["runs"] == 2, "the last time is there", again)
place.write("main.flow", (place.path / "main.flow").read_text() + "print(1)\n")
with open(place.path / "t.csv", "a") as f:
    f.write("1,2\n")
text = bench("main.flow", "--runs", "1", "--least", "900000").stdout
check("another text, other data\n" in text, "text and data are others", text)
check(json.loads(bench("main.flow", "--runs", "1", "--json").stdout)["stages"][0]["rows"] == N + 1, "the new row counts")

# ---- what fails ----
place.write("fails.flow", "param n: i64 = 7\nprint([1, 2][n])\n")
check("fails.flow:2" in bench("fails.flow", status=1).stderr, "the run says why")
place.write("wrong.flow", "print(nothing_of_this_name)\n")
check("E0" in bench("wrong.flow", status=3).stderr, "what does not compile says why")
for words, said in ((["main.flow", "--runs", "0"], "--runs takes"), (["main.flow", "--runs", "x"], "--runs takes"), (["-"], "name its file"),
                    (["main.flow", "--no-cache"], "without --no-cache"), (["--xyzzy", "main.flow"], "xyzzy")):
    check(said in bench(*words, status=2).stderr, f"bench {words}: {said}")
bench("none.flow", status=2)
check(not os.listdir(temporary), "nothing is left of what fails", os.listdir(temporary))
finish()
