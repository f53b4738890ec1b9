"""data/metrics.npz: what scikit-learn's metrics give for many small cases, odd ones among them.

scikit-learn 1.9: python3 make_metrics.py. Rows of *_true and *_pred are cases; those of the results follow them, a column a metric in
the order in which metrics_cases.flow computes them. What scikit-learn does not define is left out there, or is nan in both.
"""
import pathlib
import warnings

import numpy as np
from sklearn import metrics

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).resolve().parent
rng = np.random.default_rng(14)
out = {}
N = 24

# Labels of 1 to 5 classes, by chance, nearly right, all right and all wrong; classes that one side lacks
true, pred = [], []
for k in range(1, 6):
    for share in (0.0, 0.3, 0.8, 1.0):
        for offset in (0, -2):
            y = rng.integers(0, k, N)
            p = np.where(rng.random(N) < share, y, rng.integers(0, k, N))
            true.append(3 * (y + offset)), pred.append(3 * (p + offset))
true += [np.zeros(N, int), np.ones(N, int), np.arange(N) % 2, np.arange(N) % 2, np.arange(N) % 3, np.full(N, 7)]
pred += [np.ones(N, int), np.zeros(N, int), 1 - np.arange(N) % 2, np.zeros(N, int), np.full(N, 4), np.arange(N) % 3]
rows = []
for y, p in zip(true, pred):
    row = [metrics.accuracy_score(y, p), metrics.balanced_accuracy_score(y, p), metrics.matthews_corrcoef(y, p), metrics.cohen_kappa_score(y, p)]
    for average in ("macro", "micro", "weighted"):
        row += [metrics.precision_score(y, p, average=average, zero_division=0), metrics.recall_score(y, p, average=average, zero_division=0),
                metrics.f1_score(y, p, average=average, zero_division=0), metrics.fbeta_score(y, p, beta=0.5, average=average, zero_division=0)]
    row += [metrics.adjusted_rand_score(y, p), metrics.normalized_mutual_info_score(y, p)]
    rows.append(row)
out |= {"label_true": np.array(true), "label_pred": np.array(pred), "label_want": np.array(rows)}

# Yes and no
true, pred = [], []
for share in (0.0, 0.1, 0.5, 0.9, 1.0):
    for right in (0.0, 0.5, 0.9, 1.0):
        y = rng.random(N) < share
        true.append(y), pred.append(np.where(rng.random(N) < right, y, rng.random(N) < 0.5))
rows = [[metrics.precision_score(y, p, zero_division=0), metrics.recall_score(y, p, zero_division=0), metrics.f1_score(y, p, zero_division=0),
         metrics.fbeta_score(y, p, beta=2, zero_division=0)] for y, p in zip(true, pred)]
out |= {"yes_true": np.array(true), "yes_pred": np.array(pred), "yes_want": np.array(rows)}

# Probabilities: of both outcomes, with ties, with 0 and 1 on either side
true, prob = [], []
for digits in (1, 2, 9):
    for right in (0.0, 0.3, 1.0):
        y = rng.random(N) < 0.4
        y[:2] = (True, False)
        true.append(y), prob.append(np.round(np.clip(right * (y - 0.5) + rng.random(N), 0, 1), digits))
true += [np.arange(N) % 2 == 0] * 3
prob += [(np.arange(N) % 2 == 0) * 1.0, (np.arange(N) % 2) * 1.0, np.full(N, 0.5)]
rows = [[metrics.log_loss(y, p), metrics.brier_score_loss(y, p), metrics.roc_auc_score(y, p), metrics.average_precision_score(y, p)]
        for y, p in zip(true, prob)]
out |= {"prob_true": np.array(true), "prob": np.array(prob), "prob_want": np.array(rows)}
true = [np.r_[0, 1, 2, rng.integers(0, 3, N - 3)] for _ in range(6)]
prob = [rng.dirichlet(np.full(3, a), N) for a in (0.05, 0.5, 1, 5, 50)] + [np.eye(3)[true[5]]]
out |= {"many_true": np.array(true), "many_prob": np.array(prob), "many_want": np.array([metrics.log_loss(y, p) for y, p in zip(true, prob)])}

# Numbers: near and far, shifted, constant, zero, huge
true = [rng.normal(size=N), rng.normal(size=N), 1e6 + rng.normal(size=N), np.full(N, 3.0), np.full(N, 3.0), np.zeros(N), 1e100 * rng.random(N),
        np.exp(rng.normal(size=N))]
pred = [true[0] + 0.1 * rng.normal(size=N), rng.normal(size=N), true[2] + 5, np.full(N, 3.0), np.full(N, 2.0), rng.normal(size=N),
        1e100 * rng.random(N), np.zeros(N)]
rows = [[metrics.mean_squared_error(y, p), metrics.root_mean_squared_error(y, p), metrics.mean_absolute_error(y, p), metrics.median_absolute_error(y, p),
         metrics.max_error(y, p), metrics.mean_absolute_percentage_error(y, p), metrics.r2_score(y, p), metrics.explained_variance_score(y, p)]
        for y, p in zip(true, pred)]
out |= {"number_true": np.array(true), "number_pred": np.array(pred), "number_want": np.array(rows)}

# Clusters of points; one alone in its cluster
x = [rng.normal(size=(N, 3)) for _ in range(4)]
label = [np.arange(N) % 2, np.r_[5, np.arange(N - 1) % 3], np.arange(N) // 2, np.r_[[9] * 12, [-1] * 12]]
out |= {"cluster_x": np.array(x), "cluster_label": np.array(label),
        "cluster_want": np.array([[metrics.silhouette_score(a, b), metrics.calinski_harabasz_score(a, b)] for a, b in zip(x, label)])}
np.savez_compressed(HERE / "data/metrics.npz", **out)
