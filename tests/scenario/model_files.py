"""Fitted models of the library: saved by one script and loaded by another and by a binary, they predict the same bits."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

# What fits, its type, and what is asked of the loaded model m.
MODELS = {
    "ols": ("linear.ols(x, y)", "linear.Ols[_]", "linear.predict(m, x)"),
    "ridge": ("linear.ridge(x, y, lambda = 2.0)", "linear.Ridge[_]", "linear.predict(m, x)"),
    "elastic_net": ("linear.elastic_net(x, y, lambda = 0.01)", "linear.ElasticNet[_]", "linear.predict(m, x)"),
    "logistic": ("linear.logistic(x, yes)", "linear.Logistic[_]", "linear.predict_prob(m, x)"),
    "softmax": ("linear.softmax(x, class)", "linear.Softmax[_, _]", "linear.predict_prob(m, x)"),
    "pca": ("decomposition.pca(x, n_components = 2, whiten = true)", "decomposition.Pca[_, _]", "decomposition.apply(m, x)"),
    "svd": ("decomposition.truncated_svd(x)", "decomposition.TruncatedSvd[_, _]", "decomposition.apply(m, x)"),
    "nmf": ("decomposition.nmf(x, 2)", "decomposition.Nmf[_, _]", "decomposition.apply(m, x)"),
    "kmeans": ("cluster.kmeans(x, 3)", "cluster.KMeans[_, _, _]", "cluster.apply(m, x)"),
    "dbscan": ("cluster.dbscan(x)", "cluster.Dbscan[_]", "m.label"),
    "agglomerative": ("cluster.agglomerative(x, k = 3)", "cluster.Agglomerative[_]", "m.height"),
    "scaler": ("preprocess.robust(x)", "preprocess.Scaler[_]", "preprocess.apply(m, x)"),
    "ordinal": ("preprocess.ordinal(word)", "preprocess.Ordinal[_]", "preprocess.apply(m, word)"),
    "one_hot": ("preprocess.one_hot_encoder(word)", "preprocess.OneHot[_]", "preprocess.apply(m, word)"),
    "imputer": ("preprocess.impute(x)", "preprocess.Imputer[_]", "preprocess.apply(m, x)"),
    "polynomial": ("preprocess.polynomial(x)", "preprocess.Polynomial", "preprocess.apply(m, x)"),
    "bins": ("preprocess.bins(x)", "preprocess.Bins[_, _]", "preprocess.apply(m, x)"),
}
HEAD = """import cluster, decomposition, linear, preprocess
let t = table(i = [for i in 0..60: i]) |> derive(a = random(1, i), b = random(2, i), word = "w{i % 3}")
let x = matrix(t, a, b, log1p(a * b))
let y = [for i in 0..60: 3 * x[i, 0] - x[i, 1] + 0.1 * random(3, i)]
let yes = y > 1
let class = [for i in 0..60: if y[i] > 1.5 { 7 } else if y[i] > 0.5 { 3 } else { -1 }]
let word = t.word
"""

place = Place()
save, load = HEAD, HEAD
for name, (fit, kind, ask) in MODELS.items():
    use = ask.replace("(m, ", f"({name}, ").replace("m.", f"{name}.") if ask.startswith("m.") else ask.replace("(m, ", f"({name}, ")
    save += f'let {name} = {fit}\nsave({name}, "out/{name}.flowdata")\nprint("{name}")\nshow({use})\n'
    load += f'let {name}: {kind} = load("out/{name}.flowdata")\nprint("{name}")\nshow({use})\n'
place.write("save.flow", save)
place.write("load.flow", load)
fitted = place.run("run", "--interp", "save.flow")
check(fitted.returncode == 0, "models are fitted and saved", fitted.stderr)
check(len(list((place.path / "out").iterdir())) == len(MODELS), "a file a model")
for how in (["--interp"], []):
    done = place.run("run", *how, "load.flow")
    check(done.returncode == 0 and done.stdout == fitted.stdout, f"loaded models say the same {how}", done.stdout + done.stderr)
# Other columns than those of the fit
place.write("other.flow", HEAD.replace("matrix(t, a, b, log1p(a * b))", "matrix(t, b, a, log1p(a * b))") + """
let m: linear.Ridge[_] = load("out/ridge.flowdata")
show(linear.predict(m, x))
""")
done = place.run("run", "--interp", "other.flow")
check(done.returncode == 1 and "a" in done.stderr and "column" in done.stderr, "other columns are an error", done.stderr)
finish()
