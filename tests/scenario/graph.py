"""flowc graph: what uses what, over statements that share names with columns, parameters of lambdas and loops; against what Python finds in a
generated script, where each statement says itself what it uses. Forms: the same edges in all. What the last run took, and remembered."""
import json
import pathlib
import random
import re
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish  # noqa: E402

place = Place()


def graph(script, *options):
    done = place.run("graph", script, *options)
    check(done.returncode == 0, f"graph {script} {options}", done.stderr)
    return done.stdout


def uses(text):
    """Line -> what the text form says it is made of."""
    out, line = {}, 0
    for row in text.splitlines():
        head = re.match(r"\s*(\d+) ([?<*> ]) ", row)
        if head:
            line = int(head[1])
            out[line] = []
        else:
            said = re.match(r"\s+from ([^;]*)", row)
            out[line] = said[1].split(", ") if said else []
    return out


def join_names(names):
    """The names again that hold a comma."""
    return [n for n in ", ".join(names).replace("(u, v)", "(u; v)").replace("; ", "; ").split(", ")] if names else []


# Names of columns, parameters and loops that hide those of the script.
place.write("hidden.flow", """let price = 3.0
let day = 7
let t = table(price = [1.0, 2.0], day = [1, 2])
let a = t |> where(col.price > 1.0)
let b = t |> derive(x = col.price * outer.price)
let f = [for day in 0..3: day]
let g = t.price |> map(price => price * 2.0)
fn twice(day: i64) = day * 2
let h = twice(day)
var s = 0
for i in f {
  s += i
}
print("{s}")
let (u, v) = (h, g[0])
assert u > 0, "none"
print("{v}")
""".replace("t.price |> map(price => price * 2.0)", "[for price in t.price: price * 2.0]"))
WANT = {1: [], 2: [], 3: [], 4: ["t"], 5: ["price", "t"], 6: [], 7: ["t"], 9: ["day"], 10: [], 11: ["f", "s"], 14: ["s", "line 11"],
        15: ["h", "g"], 16: ["(u, v)"], 17: ["(u, v)"]}
found = uses(graph("hidden.flow"))
for line, names in WANT.items():
    check(sorted(join_names(found.get(line, ["?"]))) == sorted(join_names(names)), f"hidden.flow:{line} uses {names}", found.get(line))
check(set(found) == set(WANT), "the statements that are there", sorted(found))

# Random scripts that say themselves what they use.
for seed in range(5):
    draw = random.Random(seed)
    lines, want = [], {}
    for i in range(40):
        parts = sorted(draw.sample(range(i), min(i, draw.randrange(4))))
        lines.append(f"let x{i} = [for k in 0..3: k{''.join(f' + x{p}[k]' for p in parts)}]" if draw.random() < 0.7 or not parts else
                     f"let x{i} = pass(x{parts[0]})" + "")
        want[i + 3] = [f"x{p}" for p in (parts if "for k" in lines[-1] else parts[:1])]
    text = "fn pass(v: i64[n]) = [for q in v: q + 1]\nstage unused(v: i64[n]) = sum(v)\n" + "\n".join(lines) + "\nprint(\"{" + " + ".join(f"x{i}[0]" for i in range(40)) + "}\")\n"
    place.write("random.flow", text)
    found = uses(graph("random.flow"))
    wrong = {line: (found.get(line), names) for line, names in want.items() if found.get(line) != names}
    check(not wrong, f"seed {seed}: each statement uses what it says", wrong)
    check(len(found.get(43, [])) == 40, "the last one uses all", found.get(43))

# All forms have the same edges.
place.write("sales.csv", "day,price\n" + "".join(f"{i % 30},{i % 97}\n" for i in range(20000)))
place.write("forms.flow", """param low: f64 = 50.0
stage model(t: _[n]) = t |> group_by(day) |> summarize(m = mean(price))
let sales = read_csv("sales.csv")
let big = sales |> where(price > low)
let m = model(big)
print("<{len(m)}> & \\"{len(big)}\\"")
""")
EDGES = {(0, 2), (1, 2), (2, 3), (3, 4), (2, 4)}
dot, mermaid, svg = (graph("forms.flow", "--form", form) for form in ("dot", "mermaid", "svg"))
check({(int(a), int(b)) for a, b in re.findall(r"n(\d+) -> n(\d+);", dot)} == EDGES, "edges of DOT", dot)
check({(int(a), int(b)) for a, b in re.findall(r"n(\d+) --> n(\d+)", mermaid)} == EDGES, "edges of Mermaid", mermaid)
tree = xml.fromstring(svg)
SPACE = "{http://www.w3.org/2000/svg}"
check(len(tree.findall(f"{SPACE}path")) == len(EDGES) and [g.get("class") for g in tree.findall(f"{SPACE}g")] == ["param", "file", "value", "stage", "output"],
      "boxes and edges of SVG", svg[-2000:])
boxes = [(float(r.get("x")), float(r.get("y")), float(r.get("width")), float(r.get("height"))) for r in tree.iter(f"{SPACE}rect")]
apart = all(a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]
            for i, a in enumerate(boxes) for b in boxes[:i])
check(apart, "boxes lie apart", boxes)
check(all(x + w <= float(tree.get("width")) and y + h <= float(tree.get("height")) for x, y, w, h in boxes), "and within the picture", boxes)

# The last run.
check(" ms" not in graph("forms.flow") and "remembered" not in graph("forms.flow"), "nothing of a run that was not")
place.run("run", "forms.flow")
first = graph("forms.flow")
check(re.search(r"^ +4 .*\n +from low, sales; [\d.]+ m?s$", first, re.M) or re.search(r"^ +3 < .*\n +[\d.]+ m?s$", first, re.M), "times of the last run", first)
check("remembered" not in first, "nothing was remembered", first)
place.run("run", "forms.flow")
check(re.search(r"^ +5 \* .*\n +from big; remembered$", graph("forms.flow"), re.M), "what was remembered", graph("forms.flow"))
place.edit("forms.flow", "let sales", "# a line\nlet sales")
check(re.search(r"^ +6 \* .*\n +from big; remembered$", graph("forms.flow"), re.M), "found though the text has moved", graph("forms.flow"))

# Times stand with lines: where two statements share one, neither has its time.
place.write("shared.flow", "let n = 3000000\nlet a = sum([for i in 0..n: sqrt(f64(i))]); let b = 1\nlet c = sum([for i in 0..n: exp(f64(i % 7))])\nprint(\"{a} {b} {c}\")\n")
place.run("run", "shared.flow")
said = graph("shared.flow")
check(not re.search(r"^ +2 .*\n.*\d m?s$", said, re.M), "no time where two share a line", said)
check(re.search(r"^ +3 .*\n.*\d m?s$", said, re.M), "a time where one stands alone", said)

# What cannot be drawn.
done = place.run("graph", "forms.flow", "--form", "pdf")
check(done.returncode == 2 and "text, dot, mermaid or svg" in done.stderr, "an unknown form", done.stderr)
place.write("wrong.flow", "let x = y\n")
done = place.run("graph", "wrong.flow")
check(done.returncode == 3 and "there is no `y`" in done.stderr, "a script that does not compile", done.stderr)
finish()
