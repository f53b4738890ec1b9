"""classical.py: linear models, k-means, principal components, searches and trees beside numpy and scikit-learn, for bench/learning.

Data are in files that both read. A search of flow does what GridSearchCV does: a fit for each fold and setting, and one of the best to all rows;
`shared` is numpy where all settings of a fold share its products of columns."""
import pathlib

TITLE = "f64; data in memory before the clock runs"
ENGINES = ["numpy", "sklearn"]
FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "build/bench/learning"
PENALTIES = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 1e4, 1e5]


def case(name, what, data, bar, agree, calls, times, **more):
    x, y, start = (*data, None, None)[:3]
    files = [word for flag, file in (("--x", x), ("--y", y or x), ("--start", start or x)) for word in (flag, str(FOLDER / f"{file}.npy"))]
    return {"name": name, "what": what, "args": ["--what", what, "--times", str(times), *files], "stage": what, "bar": bar, "agree": agree,
            "calls": calls, **more}


CASES = [
    case("k-means, 1,000,000 × 16, k = 10, 20 iterations", "kmeans", ("kmeans", None, "kmeans_start"), [("sklearn", 3)], 1e-6, 3, 4),
    case("ridge, 1,000,000 × 50", "ridge", ("wide", "wide_y"), [("numpy", 1), ("sklearn", 1)], 1e-9, 5, 6),
    case("logistic, 1,000,000 × 50", "logistic", ("wide", "wide_label"), [("numpy", 1), ("sklearn", 1)], 1e-2, 2, 3),
    case("standardise, 1,000,000 × 50", "standardise", ("wide",), [("numpy", 3)], 1e-9, 5, 6),
    case("principal components, 100,000 × 100", "components", ("components",), [("numpy", 1 / 1.2)], 1e-9, 5, 6),
    case("ridge, 5 folds × 8 penalties, 100,000 × 50", "ridge_grid", ("grid", "grid_y"), [("sklearn", 6)], 1e-9, 1, 3),
    case("logistic, 5 folds × 8 penalties, 100,000 × 50", "logistic_grid", ("grid", "grid_label"), [("sklearn", 2)], 2e-3, 0, 2),
    case("random forest, 100,000 × 20, 100 trees of depth 10", "forest", ("trees", "trees_label"), [("sklearn", 3)], 0.01, 0, 2),
    case("gradient boosting, 100,000 × 20, 100 rounds", "boosting", ("trees", "trees_y"), [("sklearn", 1)], 0.01, 2, 3),
]


def prepare():
    """Makes the files that are not there."""
    import numpy as np

    FOLDER.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)

    def keep(name, make):
        if not (FOLDER / f"{name}.npy").exists():
            np.save(FOLDER / f"{name}.npy", make())
        return np.load(FOLDER / f"{name}.npy", mmap_mode="r")

    def labels(score):
        return rng.random(len(score)) < 1 / (1 + np.exp(-score))

    x = keep("kmeans", lambda: rng.normal(size=(1_000_000, 16)))
    keep("kmeans_start", lambda: x[::len(x) // 10][:10])
    x = keep("wide", lambda: rng.normal(size=(1_000_000, 50)) * rng.uniform(0.5, 2, 50) + rng.normal(size=50))
    score = x @ np.linspace(-1, 1, 50) / 5
    keep("wide_y", lambda: score + rng.normal(size=len(x)))
    keep("wide_label", lambda: labels(score - score.mean()))
    keep("components", lambda: rng.normal(size=(100_000, 100)) @ rng.normal(size=(100, 100)))
    x = keep("grid", lambda: rng.normal(size=(100_000, 50)))
    score = x @ np.linspace(-1, 1, 50)
    keep("grid_y", lambda: score + rng.normal(size=len(x)))
    keep("grid_label", lambda: labels(score / 2))
    x = keep("trees", lambda: rng.normal(size=(100_000, 20)))
    score = x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]) + 0.5 * x[:, 3] + 0.3 * rng.normal(size=len(x))
    keep("trees_y", lambda: score)
    keep("trees_label", lambda: (score > 0).astype(np.int64))


def ridge(np, x, y, penalty=1.0):
    """Normal equations: coefficients and intercept."""
    mx, my = x.mean(0), y.mean()
    w = np.linalg.solve(x.T @ x - len(x) * np.outer(mx, mx) + penalty * np.eye(x.shape[1]), x.T @ y - len(x) * my * mx)
    return w, my - mx @ w


def newton(np, x, y):
    """Logistic regression with penalty 1 / 2 |w|^2, by Newton's method."""
    t, a = y.astype(float), np.c_[x, np.ones(len(x))]
    w, penalty = np.zeros(a.shape[1]), np.r_[np.ones(x.shape[1]), 0.0]
    step = np.ones(1)
    while abs(step).max() > 1e-8:
        p = 1 / (1 + np.exp(-(a @ w)))
        step = np.linalg.solve(a.T @ (a * (p * (1 - p))[:, None]) + np.diag(penalty), a.T @ (p - t) + penalty * w)
        w = w - step
    return w


def with_numpy(np, what, x, y):
    if what == "ridge":
        return lambda: ridge(np, x, y)[0]
    if what == "logistic":
        return lambda: newton(np, x, y)[:-1]
    if what == "standardise":
        return lambda: ((x - x.mean(0)) / x.std(0))[:3].ravel()
    if what == "components":
        def components():
            c = x - x.mean(0)
            return np.linalg.eigh(c.T @ c / (len(x) - 1))[0][::-1]
        return components
    if what == "ridge_grid":
        return lambda: shared(np, x, y)
    return None


def shared(np, x, y):
    """Mean r2 of each penalty: products of all rows less those of the fold."""
    folds = [slice(f * len(x) // 5, (f + 1) * len(x) // 5) for f in range(5)]
    d, scores = x.shape[1], []
    sums = [(x[f].T @ x[f], x[f].T @ y[f], x[f].sum(0), y[f].sum(), len(x[f])) for f in folds]
    total = [sum(s[k] for s in sums) for k in range(5)]
    for f, own in zip(folds, sums):
        gram, xy, sx, sy, n = (a - b for a, b in zip(total, own))
        gram, xy = gram - np.outer(sx, sx) / n, xy - sx * sy / n
        w = np.stack([np.linalg.solve(gram + p * np.eye(d), xy) for p in PENALTIES], axis=1)
        left = y[f][:, None] - x[f] @ w - (sy / n - sx / n @ w)
        scores.append(1 - (left ** 2).sum(0) / ((y[f] - y[f].mean()) ** 2).sum())
    return np.mean(scores, axis=0)


def with_sklearn(np, what, x, y, start, threads):
    from sklearn import cluster, decomposition, ensemble, linear_model, model_selection, preprocessing

    cv = model_selection.KFold(5)
    if what == "kmeans":
        return lambda: [cluster.KMeans(10, init=start, n_init=1, max_iter=20, tol=0, algorithm="lloyd").fit(x).inertia_]
    if what == "ridge":
        return lambda: linear_model.Ridge().fit(x, y).coef_
    if what == "logistic":
        return lambda: linear_model.LogisticRegression().fit(x, y).coef_[0]
    if what == "standardise":
        return lambda: preprocessing.StandardScaler().fit_transform(x)[:3].ravel()
    if what == "components":
        return lambda: decomposition.PCA().fit(x).explained_variance_
    if what == "ridge_grid":
        search = model_selection.GridSearchCV(linear_model.Ridge(), {"alpha": PENALTIES}, cv=cv, n_jobs=threads)
        return lambda: search.fit(x, y).cv_results_["mean_test_score"]
    if what == "logistic_grid":
        settings = {"C": [1 / p for p in PENALTIES]}
        search = model_selection.GridSearchCV(linear_model.LogisticRegression(), settings, cv=cv, n_jobs=threads)
        return lambda: search.fit(x, y).cv_results_["mean_test_score"]
    if what == "forest":
        forest = ensemble.RandomForestClassifier(100, max_depth=10, n_jobs=threads, random_state=1)
        return lambda: [forest.fit(x, y).score(x[:1000], y[:1000])]
    return lambda: [ensemble.HistGradientBoostingRegressor(early_stopping=False).fit(x, y).score(x[:1000], y[:1000])]


def engine(name, case, threads):
    import numpy as np

    read = {"--x": None, "--y": None, "--start": None}
    for flag, path in zip(case["args"], case["args"][1:]):
        if flag in read:
            read[flag] = np.load(path)
    if name == "numpy":
        return with_numpy(np, case["what"], read["--x"], read["--y"])
    return with_sklearn(np, case["what"], *read.values(), threads)
