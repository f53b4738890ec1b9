"""Names that people bring along (compiler/sema/habits*.def): what a message proposes is flow that compiles, whatever it proposes in
place of a name there is, and no name of pandas, Polars or numpy (habits/names.txt, which habits/make.py writes), nor a common one of dplyr, tidyr, stringr,
lubridate, R, SQL or Python (habits/words.txt), is taken for one that is spelt like it."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

PRELUDE = """let t = table(k = [1, 2, 2], x = [1.0, 2.0, 3.0], y = [3, 1, 2], s = ["u", "v", "v"], d = [date("2026-05-06"), date("2026-05-07"), date("2026-06-01")])
let other = table(k = [1, 2], x = [1.0, 2.5], z = [7, 8])
let a = [1.0, 2.0, 3.0]
let b = [2.0, 2.0, 2.0]
let m = [[1.0, 2.0, 0.5], [3.0, 4.0, 0.1], [5.0, 7.0, 0.3]]
let p = 2.5
let w = "12, x"
"""
ROW = re.compile(r'^FL_(HABIT|SAYING)\((.*)\)$', re.M)
CASES = [  # written from habit -> the message, or the script that its edit makes
    ("t.x.mean()", "mean(t.x)"), ("1 + a.sum()", "1 + sum(a)"), ("t.groupby(k)", "group_by(t, k)"), ('t.sort_values(-x)', "sort(t, -x)"),
    ("a.argmax()", "argmax(a)"), ("w.upper()", "upper(w)"), ('w.startswith("1")', 'starts_with(w, "1")'), ("t.head(2)", "head(t, 2)"),
    ('t |> group_by("k") |> summarize(n = count())', 't |> group_by(k) |> summarize(n = count())'),
    ('t |> join(other, on = "k")', "t |> join(other, on = k)"), ("t |> filter(x > 1)", "t |> where(x > 1)"),
    ("t |> mutate(q = x * 2)", "t |> derive(q = x * 2)"), ("print(True)", "print(true)"), ("t |> fillna(x = 0.0)", "t |> fill_null(x = 0.0)"),
    ("t |> order_by(x)", "t |> sort(x)"), ("t |> drop_duplicates(k)", "t |> distinct(k)"), ("print(str(p))", "print(text(p))"),
    ('t |> sort(x, descending = true)', "t |> sort(desc(x))"), ('t["x"]', "t.x"), ('print(f"{p}")', 'print("{p}")'),
    ('let q = ["a": 1]', "let q = (a = 1)"), ("let q = [2 * v for v in a]", "let q = [for v in a: 2 * v]"), ("q = 3", "let q = 3"),
    ("t |> group_by(k) |> mean(x)", "t |> group_by(k) |> summarize(x = mean(x))"), ("linear.ols(m, a)", "import linear\n"), ("kmeans(m, 2)", "`cluster.kmeans`, with `import cluster`"),
    ("sort(a, descending = true)", "a[argsort(-a)]"), ("t |> sort(x desc)", "t |> sort(desc(x))"), ("let q: i64 = len(a) / 2", "`//`"), ("import pandas as pd", ""),
    ("import linear\nprint(linear.ridge(m, a, alpha = 1.0))", "print(linear.ridge(m, a, lambda = 1.0))"),
    ("import linear\nprint(linear.logistic(m, [false, true, true], C = 2.0))", "print(linear.logistic(m, [false, true, true], lambda = 1 / 2.0))"), ("import linear\nprint(linear.ols(m, a, sample_weight = b))", "print(linear.ols(m, a, weights = b))"),
    ("import linear\nprint(linear.ridge(m, a, fit_intercept = false))", "print(linear.ridge(m, a, intercept = false))"),
    ("import cluster\nprint(cluster.kmeans(m, n_clusters = 2))", "print(cluster.kmeans(m, k = 2))"), ("import cluster\nprint(cluster.kmeans(m, 2, random_state = 2))", "print(cluster.kmeans(m, 2, seed = 2))"),
    ("import cluster\nprint(cluster.kmeans(m, 2, max_iter = 2))", "print(cluster.kmeans(m, 2, iters = 2))"), ("import cluster\nprint(cluster.kmeans(m, 2, verbose = true))", "print(cluster.kmeans(m, 2))"),
    ("import tree\nprint(tree.forest_regressor(m, a, n_estimators = 2))", "print(tree.forest_regressor(m, a, trees = 2))"),
    ("import tree\nprint(tree.boosting_regressor(m, a, n_estimators = 2))", "print(tree.boosting_regressor(m, a, rounds = 2))"), ("import tree\nprint(tree.forest(m, a))", "it has forest_classifier, forest_regressor"),
    ("import neighbors\nprint(neighbors.regressor(m, a, n_neighbors = 2))", "print(neighbors.regressor(m, a, k = 2))"), ("import neighbors\nprint(neighbors.knn(m, a))", "it has "),
    ("import model_selection\nprint(model_selection.kfold(10, n_splits = 2))", "print(model_selection.kfold(10, k = 2))"),
    ('t |> where("x" > 1)', "t |> where(x > 1)"), ('t |> where("s" == "u")', 't |> where(s == "u")'), ('t |> where("s" in ["u"])', 't |> where(s in ["u"])'),
    ('t |> derive((x * 2).alias("q"))', "t |> derive(q = (x * 2))"), ("t |> drop(columns = x)", "t |> drop(x)"), ("t |> drop_null(subset = x)", "t |> drop_null(x)"),
    ('t |> rename(x = "q")', "t |> rename(q = x)"), ("print(len t)", "`len(..)`"), ('t[, "x"]', "t.x"),
    ("print(n())", "print(count())"), ("t.shape", "[len(t), 5]"), ('t |> derive(u = s.str.upper())', "t |> derive(u = upper(s))"), ("t |> derive(z = x.fillna(0))", "t |> derive(z = x ?? 0)"),
    ("t |> derive(z = x.dropna())", "t |> drop_null(x)"), ("print(length(w))", "print(n_chars(w))"), ("t |> derive(z = ifnull(x, 0))", "t |> derive(z = x ?? 0)"),
    ("t |> select(across(x))", "each(numeric()"), ("print(least(a, b))", "print(min(a, b))"), ('print(left(w, 2))', "slice(w, 0, 3)"),
    ("let q = predict(p, m)", "linear.predict(model, x)"), ("print(round(p, places = 2))", "x, digits"), ("for i in range(3) { print(i) }", "for i in 0..3 { print(i) }"), ("np.mean(a)", "mean(a)"), ("np.where(a > 1, 1, 0)", "if a > 1 { 1 } else { 0 }"),
]


def text_of(literal):
    return re.sub(r"\\(.)", lambda m: {"t": "\\t"}.get(m.group(1), m.group(1)), literal)


def edited(text, edit):
    lines = text.split("\n")
    start = len("".join(line + "\n" for line in lines[: edit["line"] - 1]).encode()) + len(lines[edit["line"] - 1][: edit["column"] - 1].encode())
    data = text.encode()
    return (data[:start] + edit["text"].encode() + data[start + edit["length"] :]).decode()


def checked(folder, scripts):
    """Each script's messages; `scripts`: name -> text."""
    (place.path / folder).mkdir()
    for name, text in scripts.items():
        (place.path / folder / f"{name}.flow").write_text(text)
    done = place.run("check", "--json", folder)
    found = {pathlib.Path(r["file"]).stem: r["messages"] for r in json.loads(done.stdout)["results"]}
    assert found.keys() == scripts.keys(), done.stderr
    return found


place = Place()
(place.path / "x.csv").write_text("a\tb\n1\t2\n")
rows = {}
for kind, arguments in ROW.findall("".join((ROOT / f"compiler/sema/{name}.def").read_text() for name in ("habits", "habits_learning", "habits_dotted"))):
    fields = [text_of(f) for f in re.findall(r'"((?:[^"\\]|\\.)*)"', arguments)]
    check(fields[0] not in rows, f"{fields[0]} has one row")
    check(len(fields) == (4 if kind == "HABIT" else 2), f"{fields[0]}: a row of {kind}")
    rows[fields[0]] = fields if kind == "HABIT" else [fields[0], "", "", ""]

# the lines that are proposed, and the names
FILES = re.compile(r"read_\w+\(")
lines = {f"l{k}": (f"import {r[2]}\n" if r[2] else "") + PRELUDE + r[3] + "\n" for k, r in enumerate(rows.values()) if r[3] and not FILES.search(r[3])}
for name, messages in checked("lines", lines).items():
    errors = [m for m in messages if m["level"] == "error"]
    check(not errors, f"proposed: {lines[name].splitlines()[-1]}", errors)
RUNS = 25  # lines that run together; of those that do not run well each is looked at by itself
MORE = {"linear.ols(m, a)", "t |> kfold(5, seed = 1)", "neighbors.classifier(m, [0, 1, 0])"}  # they need more rows than there are here
together = [text for text in lines.values() if text.splitlines()[-1] not in MORE and not re.search(r"\b(write_\w+|save|exec|error|env)\(", text)]


def does(name, texts):
    imports = sorted({line for text in texts for line in text.splitlines() if line.startswith("import ")})
    (place.path / name).write_text("\n".join(imports) + "\n" + PRELUDE + "".join(text.splitlines()[-1] + "\n" for text in texts))
    return place.run("run", "-q", "--no-cache", name)


for k in range(0, len(together), RUNS):
    if does("run.flow", together[k:k + RUNS]).returncode == 0:
        check(True, "lines that are proposed run")
        continue
    for text in together[k:k + RUNS]:
        done = does("run.flow", [text])
        check(done.returncode == 0, f"proposed: {text.splitlines()[-1]} runs", done.stderr)
alone = {f"n{k}": PRELUDE + (f"print({r[0]}1))\n" if r[0].endswith("(") else f"print(t{r[0]})\n" if r[0][0] == "." else f"print({r[0]})\n") for k, r in enumerate(rows.values())}
for (name, messages), r in zip(sorted(checked("alone", alone).items(), key=lambda p: int(p[0][1:])), rows.values()):
    check(any("there is no" in m["message"] or ("." in r[0] and "has no fields" in m["message"]) for m in messages), f"`{r[0]}` stands for nothing in flow", messages)
instead = sorted({r[1] for r in rows.values() if r[1]})
for (name, messages), new in zip(checked("instead", {f"i{k:03}": f"let q = {v}\nprint(1)\n" for k, v in enumerate(instead)}).items(), instead):
    check(not any("there is no" in m["message"] for m in messages), f"there is `{new}`", messages)

# the names of others
names = sorted({w for file in ("names", "words") for w in (ROOT / f"tests/scenario/habits/{file}.txt").read_text().split()})
calls = {f"c{k}": PRELUDE + f"t |> {name}(x)\n" for k, name in enumerate(names)}
for key, messages in checked("calls", calls).items():
    name = names[int(key[1:])]
    meant = [m.get("help") or "" for m in messages if f"there is no function `{name}`" in m["message"]]
    check(not any("did you mean" in h and "plot." not in h for h in meant), f"`{name}` is no misspelt name", meant)

# as people write
found = checked("cases", {f"w{k}": PRELUDE + wrong + "\n" for k, (wrong, _) in enumerate(CASES)})
for k, (wrong, wanted) in enumerate(CASES):
    messages = [m for m in found[f"w{k}"] if m["level"] == "error"]
    made = [m["edits"][0]["text"] if m["edits"][0]["text"].startswith("import ") else edited(PRELUDE + wrong + "\n", m["edits"][0]).splitlines()[-1] for m in messages if m["edits"]]
    said = " ".join((m.get("help") or "") for m in messages)
    check(wanted in made or (not made and wanted in said), f"{wrong}", f"wanted {wanted}, edits {made}, said {said}")
finish()
