"""Computes data/expected.npz, what scikit-learn and scipy give for the programs beside this file, and writes the data
that they read. Run: python3 tests/run/library/make.py (numpy, scipy 1.17 and scikit-learn 1.9 are needed)."""
import pathlib

import numpy as np
from scipy import stats
from sklearn import datasets, ensemble, metrics, naive_bayes, neighbors, tree

HERE = pathlib.Path(__file__).parent / "data"


def write(name, columns, x):
    rows = [",".join(columns)] + [",".join(f"{v:.10g}" for v in row) for row in x]
    (HERE / name).write_text("\n".join(rows) + "\n")


iris = datasets.load_iris()
diabetes = datasets.load_diabetes(scaled=False)
write("iris.csv", ["sepal_length", "sepal_width", "petal_length", "petal_width", "species"], np.c_[iris.data, iris.target])
write("diabetes.csv", [*diabetes.feature_names, "progress"], np.c_[diabetes.data, diabetes.target])
xi, yi = iris.data, iris.target
xd, yd = diabetes.data, diabetes.target
train_i, test_i = slice(0, None, 2), slice(1, None, 2)
out = {}

# Neighbours of which all are at different distances need no rule for ties: the columns are turned a little
turned = np.c_[xi[:, :1] + 0.1 * xi[:, 1:2] ** 2, xi[:, 1:] * [1.01, 1.003, 1.07]] * (1 + 1e-3 * np.sin(np.arange(150)))[:, None]
out["turned"] = turned
for weights in ["uniform", "distance"]:
    m = neighbors.KNeighborsClassifier(weights=weights, algorithm="brute").fit(turned[train_i], yi[train_i])
    out[f"knn_{weights}"] = m.predict_proba(turned[test_i])
    r = neighbors.KNeighborsRegressor(weights=weights, algorithm="brute").fit(xd[train_i], yd[train_i])
    out[f"knn_regressor_{weights}"] = r.predict(xd[test_i])

# Naive Bayes
out["gaussian"] = naive_bayes.GaussianNB().fit(xi[train_i], yi[train_i]).predict_proba(xi[test_i])
out["multinomial"] = naive_bayes.MultinomialNB().fit(xi[train_i], yi[train_i]).predict_proba(xi[test_i])
out["bernoulli"] = naive_bayes.BernoulliNB(binarize=3.0).fit(xi[train_i], yi[train_i]).predict_proba(xi[test_i])

# Trees. A tree of few leaves has one best split everywhere, so it is the same in every column order
out["tree"] = tree.DecisionTreeRegressor(max_leaf_nodes=8, min_samples_leaf=5).fit(xd[train_i], yd[train_i]).predict(xd[train_i])
out["boosting"] = ensemble.HistGradientBoostingRegressor(early_stopping=False).fit(xd[train_i], yd[train_i]).predict(xd[test_i])
# In the first rounds of the log loss many splits gain the same, so rows fall otherwise, but the loss is the same
high = (yd > 150).astype(int)
losses = []
for x, y, train, test in ((xi, yi, train_i, test_i), (xd, high, train_i, test_i)):
    one = ensemble.HistGradientBoostingClassifier(early_stopping=False, max_iter=1).fit(x[train], y[train])
    many = ensemble.HistGradientBoostingClassifier(early_stopping=False).fit(x[train], y[train])
    losses.append([metrics.log_loss(y[train], one.predict_proba(x[train])), many.score(x[test], y[test])])
    print("boosting: accuracy", losses[-1][1])
out["boosting_classes"] = np.array(losses)
for name, m, x, y in (
    ("forest", ensemble.RandomForestClassifier(random_state=1), xi, yi),
    ("forest of two classes", ensemble.RandomForestClassifier(random_state=1), xd, high),
    ("forest regression", ensemble.RandomForestRegressor(random_state=1), xd, yd),
):
    p = m.fit(x[train_i], y[train_i]).predict(x[test_i])
    print(name, m.score(x[test_i], y[test_i]), np.sqrt(np.mean((p - y[test_i]) ** 2)))

# Distributions: arguments and cdf, sf, ppf
rng = np.random.default_rng(1)
z = np.r_[rng.normal(size=20) * 3, [-30.0, -8.0, 0.0, 8.0]]
p = np.r_[rng.random(20), [1e-12, 1e-5, 0.5, 0.999]]
df1, df2 = rng.choice([1, 2, 3.5, 10, 50, 400], 24), rng.choice([1, 2, 4.5, 12, 70], 24)
x = np.exp(rng.normal(size=24) * 1.5) * df1
f = np.exp(rng.normal(size=24))
out |= {"z": z, "p": p, "df1": df1, "df2": df2, "x": x, "f": f}
out["normal"] = np.c_[stats.norm.cdf(z), stats.norm.sf(z), stats.norm.ppf(p)]
out["t"] = np.c_[stats.t.cdf(z, df2), stats.t.sf(z, df2), stats.t.ppf(p, df2)]
out["chi2"] = np.c_[stats.chi2.cdf(x, df1), stats.chi2.sf(x, df1), stats.chi2.ppf(p, df1)]
out["f_dist"] = np.c_[stats.f.cdf(f, df1, df2), stats.f.sf(f, df1, df2), stats.f.ppf(p, df1, df2)]
d = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.7])
n = np.array([3, 10, 47, 130])  # beyond 140 scipy takes an approximation of five digits
out |= {"ks_d": d, "ks_n": n, "ks": stats.kstwo.sf(d[:, None], n[None, :])}

# Tests, on the columns of diabetes: bmi, bp of patients by sex
bmi, bp, sex = xd[:, 2], xd[:, 3], xd[:, 1]
one = stats.ttest_1samp(bmi, 26.0)
welch = stats.ttest_ind(bmi[sex == 1], bmi[sex == 2], equal_var=False)
pooled = stats.ttest_ind(bmi[sex == 1], bmi[sex == 2])
paired = stats.ttest_rel(xd[:, 4], xd[:, 5] + 75)
out["t_tests"] = np.array([[t.statistic, t.df, t.pvalue] for t in (one, welch, pooled, paired)])
table = np.array([[np.sum((sex == s) & high_) for high_ in (high == 0, high == 1)] for s in (1, 2)], float)
yates, plain = stats.chi2_contingency(table), stats.chi2_contingency(table, correction=False)
fit = stats.chisquare([16, 18, 16, 14, 12, 12], [16, 16, 16, 16, 16, 8])
out["chi2_tests"] = np.array([[yates.statistic, yates.pvalue], [plain.statistic, plain.pvalue], [fit.statistic, fit.pvalue]])
groups = np.digitize(xd[:, 0], [35, 50, 60])
a = stats.f_oneway(*[yd[groups == g] for g in range(4)])
k1 = stats.kstest(bmi[:100], "norm", args=(26.0, 4.5))
k2 = stats.ks_2samp(turned[:50, 0], turned[50:, 1] + 3)
out["others"] = np.array([[a.statistic, a.pvalue], [k1.statistic, k1.pvalue], [k2.statistic, k2.pvalue]])
boot = [stats.bootstrap((bmi,), np.mean, n_resamples=20000, method=m, rng=1).confidence_interval for m in ("percentile", "BCa")]
out["bootstrap"] = np.array(boot)
np.savez_compressed(HERE / "expected.npz", **out)
