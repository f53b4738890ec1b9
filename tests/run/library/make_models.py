"""Computes data/models.npz, what scikit-learn gives for the programs of linear models, decompositions, clusters,
preprocessing and metrics beside this file, and writes the data that only they read (digits.csv is a link to that of the examples). Run: python3
tests/run/library/make_models.py (numpy and scikit-learn 1.9 are needed)."""
import pathlib
import warnings

import numpy as np
from sklearn import cluster, datasets, decomposition, impute, linear_model, metrics, preprocessing

warnings.simplefilter("error")
warnings.filterwarnings("ignore", message="Bins whose width are too small")
HERE = pathlib.Path(__file__).parent / "data"
out = {}


def write(name, columns, x):
    rows = [",".join(columns)] + [",".join(f"{v:.10g}" for v in row) for row in x]
    (HERE / name).resolve().write_text("\n".join(rows) + "\n")


iris = datasets.load_iris()
diabetes = datasets.load_diabetes(scaled=False)
wine = datasets.load_wine()
cancer = datasets.load_breast_cancer()
digits = datasets.load_digits()
write("cancer.csv", [n.replace(" ", "_") for n in cancer.feature_names] + ["benign"], np.c_[cancer.data, cancer.target])
write("digits.csv", [f"p{i}{j}" for i in range(8) for j in range(8)] + ["digit"], np.c_[digits.data, digits.target])


def scaled(x):
    return (x - x.mean(0)) / x.std(0)


# Linear models. Coefficients, then the intercept. Weights of rows: 1, 2, 3, 1, 2, 3 ...
def coefficients(m):
    return np.r_[np.ravel(m.coef_), np.ravel(m.intercept_)]


xd, yd = diabetes.data, diabetes.target
zd = scaled(xd)
weights = np.arange(len(yd)) % 3 + 1.0
out["ols"] = coefficients(linear_model.LinearRegression().fit(xd, yd))
out["ols_weighted"] = coefficients(linear_model.LinearRegression().fit(xd, yd, sample_weight=weights))
out["ols_origin"] = coefficients(linear_model.LinearRegression(fit_intercept=False).fit(xd, yd))
out["ridge"] = coefficients(linear_model.Ridge(alpha=3.0).fit(xd, yd))
out["ridge_weighted"] = coefficients(linear_model.Ridge(alpha=3.0).fit(xd, yd, sample_weight=weights))
out["ridge_wide"] = coefficients(linear_model.Ridge(alpha=3.0).fit(zd[:7], yd[:7]))
exact = {"tol": 1e-14, "max_iter": 100000}
out["lasso"] = coefficients(linear_model.Lasso(alpha=2.0, **exact).fit(zd, yd))
out["elastic_net"] = coefficients(linear_model.ElasticNet(alpha=0.3, l1_ratio=0.7, **exact).fit(zd, yd))
out["elastic_default"] = coefficients(linear_model.ElasticNet().fit(zd, yd))

# Of classifiers the optimum to full precision: newton-cholesky, and a few more steps of Newton's method by hand for none
best = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}
xc, yc = scaled(cancer.data), cancer.target
row_weights = np.arange(len(yc)) % 3 + 1.0
m = linear_model.LogisticRegression(C=1.0, **best).fit(xc, yc)
out["logistic"], out["logistic_prob"] = coefficients(m), m.predict_proba(xc)[:, 1]
out["logistic_weighted"] = coefficients(linear_model.LogisticRegression(C=0.5, **best).fit(xc, yc, sample_weight=row_weights))
out["logistic_origin"] = coefficients(linear_model.LogisticRegression(fit_intercept=False, **best).fit(xc, yc))
for name, x, y in (("iris", iris.data, iris.target), ("wine", scaled(wine.data), wine.target), ("digits", digits.data / 16, digits.target)):
    m = linear_model.LogisticRegression(C=1.0, **best).fit(x, y)
    out[f"softmax_{name}"] = np.c_[m.coef_, m.intercept_]
    out[f"softmax_{name}_prob"] = m.predict_proba(x)[::50]
    print("softmax", name, m.score(x, y))

# Decompositions: components, then what they explain
for name, x in (("iris", iris.data), ("digits", digits.data / 16)):
    m = decomposition.PCA(svd_solver="full").fit(x)
    keep = 4 if name == "iris" else 10
    out[f"pca_{name}"] = m.components_[:keep]
    out[f"pca_{name}_variance"] = np.c_[m.explained_variance_, m.explained_variance_ratio_, m.singular_values_][:keep]
white = decomposition.PCA(5, whiten=True).fit(scaled(wine.data))
out["pca_white"], out["pca_noise"] = white.transform(scaled(wine.data)), np.array([white.noise_variance_])
out["pca_wide"] = decomposition.PCA(3).fit_transform(zd[:8])
m = decomposition.TruncatedSVD(5, algorithm="arpack").fit(digits.data)
out["svd"] = m.components_
out["svd_values"] = np.c_[m.singular_values_, m.explained_variance_, m.explained_variance_ratio_]
out["nmf_error"] = np.array([decomposition.NMF(k, max_iter=2000, tol=1e-5).fit(digits.data).reconstruction_err_ for k in (4, 10)])

# Clusters
zw = scaled(wine.data)
m = cluster.KMeans(3, init=zw[[0, 70, 150]], n_init=1).fit(zw)
out["kmeans"], out["kmeans_label"], out["kmeans_inertia"] = m.cluster_centers_, m.labels_.astype(np.int64), np.array([m.inertia_])
out["kmeans_digits"] = np.array([cluster.KMeans(10, n_init=10, random_state=s).fit(digits.data).inertia_ for s in range(3)])
print("k-means of digits", out["kmeans_digits"])
m = cluster.DBSCAN(eps=2.2, min_samples=6).fit(zw)
out["dbscan"] = m.labels_.astype(np.int64)
for linkage in ("ward", "complete", "average", "single"):
    out[f"merged_{linkage}"] = cluster.AgglomerativeClustering(4, linkage=linkage).fit(zw).labels_.astype(np.int64)

# Preprocessing of diabetes, half of it to learn from
half, rest = xd[::2], xd[1::2]
for name, m in (
    ("standard", preprocessing.StandardScaler()),
    ("minmax", preprocessing.MinMaxScaler((-1, 3))),
    ("maxabs", preprocessing.MaxAbsScaler()),
    ("robust", preprocessing.RobustScaler()),
    ("polynomial", preprocessing.PolynomialFeatures(3, interaction_only=True)),
    ("powers", preprocessing.PolynomialFeatures(2, include_bias=False)),
    ("bins", preprocessing.KBinsDiscretizer(6, encode="ordinal")),
    ("uniform", preprocessing.KBinsDiscretizer(4, encode="ordinal", strategy="uniform")),
):
    take = slice(0, 4) if name in ("polynomial", "powers") else slice(None)
    out[f"pre_{name}"] = m.fit(half[:, take]).transform(rest[:, take])
for name in ("l2", "l1", "max"):
    out[f"pre_{name}"] = preprocessing.normalize(rest, norm=name)
holes = rest.copy()
holes[np.arange(len(rest)) % 7 == 3, 2] = np.nan
holes[::5, 8] = np.nan
for name in ("mean", "median", "most_frequent"):
    out[f"pre_impute_{name}"] = impute.SimpleImputer(strategy=name).fit(holes).transform(holes)

# Metrics: labels and scores that are wrong here and there
row = np.arange(300)
y3 = (row * 7 % 11) % 3
p3 = np.where(row % 4 == 1, (row * 5 % 13) % 3, y3)
y2, p2 = (y3 > 0).astype(int), (p3 > 0).astype(int)
score = np.round(0.5 * y2 + 0.6 * ((row * 37 % 101) / 101), 2)
prob = np.clip(score / 1.2, 0.01, 0.99)
prob3 = np.c_[0.2 + 0.5 * (p3 == 0), 0.1 + 0.6 * (p3 == 1), 0.15 + 0.4 * (p3 == 2)]
prob3 /= prob3.sum(1)[:, None]
t = yd[:300]
guess = t + 30 * np.sin(row)
out |= {"y3": y3, "p3": p3, "score": score, "prob": prob, "prob3": prob3, "target": t, "guess": guess}
out["regression"] = np.array([f(t, guess) for f in (
    metrics.mean_squared_error, metrics.root_mean_squared_error, metrics.mean_absolute_error, metrics.median_absolute_error,
    metrics.max_error, metrics.mean_absolute_percentage_error, metrics.r2_score, metrics.explained_variance_score)])
many = []
for f in (metrics.precision_score, metrics.recall_score, metrics.f1_score):
    many += [f(y2, p2), *(f(y3, p3, average=a) for a in ("macro", "micro", "weighted"))]
many += [metrics.fbeta_score(y3, p3, beta=2, average="macro"), metrics.balanced_accuracy_score(y3, p3), metrics.matthews_corrcoef(y3, p3),
         metrics.matthews_corrcoef(y2, p2), metrics.cohen_kappa_score(y3, p3)]
out["classes"] = np.array(many)
out["confusion"] = metrics.confusion_matrix(y3, p3).astype(np.int64)
out["scores"] = np.array([metrics.log_loss(y2, prob), metrics.log_loss(y3, prob3), metrics.brier_score_loss(y2, prob),
                          metrics.roc_auc_score(y2, score), metrics.average_precision_score(y2, score)])
fpr, tpr, at = metrics.roc_curve(y2, score, drop_intermediate=False)
out["roc"] = np.c_[at, fpr, tpr]
precision, recall, at = metrics.precision_recall_curve(y2, score)
out["pr"] = np.c_[at, precision[:-1], recall[:-1]][::-1]
out["divisions"] = np.array([metrics.adjusted_rand_score(y3, p3), metrics.normalized_mutual_info_score(y3, p3),
                             metrics.silhouette_score(iris.data, iris.target), metrics.calinski_harabasz_score(iris.data, iris.target)])
np.savez_compressed(HERE / "models.npz", **out)
