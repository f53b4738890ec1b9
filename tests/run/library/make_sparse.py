"""Computes data/sparse.npz, what scipy.sparse and scikit-learn give for sparse.flow beside this file, and data/sparse_matrix.npz, the
matrix as scipy saves it. Run: python3 tests/run/library/make_sparse.py (numpy, scipy 1.17 and scikit-learn 1.9 are needed)."""
import pathlib

import numpy as np
from scipy import sparse
from sklearn import linear_model, preprocessing

HERE = pathlib.Path(__file__).parent / "data"
rng = np.random.default_rng(3)
n, d = 120, 60

# Triplets in no order, some places several times; a row and a column without entries
row, column = rng.integers(0, n - 1, 900), rng.integers(1, d, 900)
value = rng.normal(size=900)
x = sparse.coo_matrix((value, (row, column)), shape=(n, d)).tocsr()
x.sum_duplicates()
other = sparse.random(d, 40, 0.1, format="csr", random_state=4)
vector, dense = rng.normal(size=d), rng.normal(size=(d, 6))
out = {"row": row, "column": column, "value": value, "vector": vector, "dense": dense}
out |= {"starts": x.indptr.astype(np.int64), "columns": x.indices.astype(np.int64), "values": x.data}
out |= {"other_starts": other.indptr, "other_columns": other.indices, "other_values": other.data}
out |= {"matvec": x @ vector, "matmul": x @ dense, "matvec_t": x.T @ (x @ vector), "product": (x @ other).toarray()}
turned = x.T.tocsr()
turned.sort_indices()
out |= {"turned_starts": turned.indptr, "turned_columns": turned.indices, "turned_values": turned.data}
out["row_sums"], out["column_sums"] = np.ravel(x.sum(1)), np.ravel(x.sum(0))
out["column_counts"] = x.getnnz(0).astype(np.int64)
for norm in ("l1", "l2", "max"):
    out[f"normalised_{norm}"] = preprocessing.normalize(x, norm).toarray()
rows, columns = np.array([5, 0, n - 1, 5]), np.array([50, 3, 11])
out |= {"taken": x[rows].toarray(), "taken_columns": x[:, columns].toarray(), "sliced": x[17:30].toarray()}
out["stacked"] = sparse.vstack([sparse.hstack([x, 2 * x]), sparse.hstack([x[::-1], -x])]).toarray()
out["combined"] = (0.5 * x - 3 * x[::-1]).toarray()

# Models: the optimum to full precision
score = x @ vector + 0.3 * rng.normal(size=n)
yes, label = score > 0.1, np.digitize(score, [-0.7, 0.8]) * 3
exact = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}
for name, y, lam, intercept in (("logistic", yes, 0.5, True), ("origin", yes, 2.0, False), ("softmax", label, 0.3, True)):
    m = linear_model.LogisticRegression(C=1 / lam, fit_intercept=intercept, **exact).fit(x.toarray(), y)
    out[name] = np.c_[m.coef_, np.ravel(m.intercept_) if intercept else 0.0]
    out[f"{name}_prob"] = m.predict_proba(x.toarray())
    print(name, m.score(x.toarray(), y))
out |= {"yes": yes, "label": label.astype(np.int64)}

np.savez_compressed(HERE / "sparse.npz", **out)
sparse.save_npz(HERE / "sparse_matrix.npz", x)
