"""Computes data/models.npz, what scikit-learn gives for the programs of linear models, decompositions, clusters,
preprocessing and metrics beside this file, and writes the data that only they read (digits.csv is a link to that of the examples). Run: python3
tests/run/library/make_models.py (numpy and scikit-learn 1.9 are needed)."""
import pathlib
import warnings

import numpy as np
from sklearn import datasets, linear_model, preprocessing

warnings.simplefilter("error")
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

np.savez_compressed(HERE / "models.npz", **out)
