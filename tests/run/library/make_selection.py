"""Computes data/selection.npz, what scikit-learn gives for selection.flow. Run: python3 tests/run/library/make_selection.py (scikit-learn
1.9 is needed)."""
import pathlib

import numpy as np
from sklearn import datasets, linear_model, model_selection as ms

HERE = pathlib.Path(__file__).parent / "data"
x, y = datasets.load_diabetes(scaled=False, return_X_y=True)
x = (x - x.mean(axis=0)) / x.std(axis=0)
labels = (y // 60).astype(int)
groups = x[:, 0].round(1) * 10 // 4
out = {"x": x, "y": y, "groups": groups.astype(np.int64)}

# The fold that tests each row
n, k = len(y), 5
for name, splits in {
    "kfold": ms.KFold(k).split(x),
    "stratified": ms.StratifiedKFold(k).split(x, labels),
    "group": ms.GroupKFold(k).split(x, y, groups),
    "one_group": ms.LeaveOneGroupOut().split(x, y, groups),
}.items():
    fold = np.zeros(n, np.int64)
    for f, (_, test) in enumerate(splits):
        fold[test] = f
    out[name] = fold
out["time"] = np.array([[train[0], train[-1], test[0], test[-1]] for train, test in
                        ms.TimeSeriesSplit(6, max_train_size=90, test_size=30, gap=7).split(x)])

ridge = linear_model.Ridge(alpha=3.0)
out["scores"] = ms.cross_val_score(ridge, x, y)
out["predicted"] = ms.cross_val_predict(ridge, x, y, cv=ms.StratifiedKFold(k).split(x, labels))
grid = ms.GridSearchCV(linear_model.Ridge(), {"alpha": [0.1, 10.0, 30.0, 1000.0], "fit_intercept": [True, False]}, cv=ms.GroupKFold(k),
                       scoring="neg_root_mean_squared_error").fit(x, y, groups=groups)
for name in ("mean_test_score", "std_test_score", "rank_test_score"):
    out[name] = grid.cv_results_[name].astype(float)
out["best"] = grid.best_estimator_.coef_
train, test = ms.validation_curve(linear_model.Ridge(), x, y, param_name="alpha", param_range=[1.0, 100.0])
out["validation_train"], out["validation_test"] = train, test
size, train, test = ms.learning_curve(ridge, x, y)
out["learning_size"], out["learning_train"], out["learning_test"] = size, train, test
np.savez(HERE / "selection.npz", **out)
