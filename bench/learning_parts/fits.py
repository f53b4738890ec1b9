"""fits.py: many fits at once, whose products are large enough for BLAS to use threads of its own, for bench/learning.

The experiment: outer workers and threads of BLAS inside of each fight for the cores. `processes` are two of joblib with as many threads of
BLAS as there are cores, as is the default of a process; `threads` are two with the same; `one_each` are two threads whose BLAS has one.
In flow one pool does both."""
import pathlib

TITLE = "ridge, rows of one matrix of 128 columns, f64"
ENGINES = ["one_each", "threads", "processes"]
FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "build/bench/learning"
CASES = [{"name": f"{fits:,} fits of {rows:,} rows", "args": ["--x", str(FOLDER / "fits.npy"), "--fits", str(fits), "--rows", str(rows), "--times", "4"],
          "stage": "fit_all", "fits": fits, "rows": rows, "bar": [("one_each", 1), ("threads", 1), ("processes", 1)], "agree": 1e-9, "calls": 2}
         for fits, rows in ((500, 200), (200, 1_000), (40, 10_000))]


def prepare():
    import numpy as np

    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / "fits.npy").exists():
        np.save(FOLDER / "fits.npy", np.random.default_rng(2).normal(size=(50_000, 129)))


def fit(x, y):
    import numpy as np

    return np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y).sum()


def engine(name, case, threads):
    import joblib
    import numpy as np
    import threadpoolctl

    data = np.load(FOLDER / "fits.npy")
    x, y, rows = data[:, :128].copy(), data[:, 128].copy(), case["rows"]
    starts = [f * (len(x) - rows) // case["fits"] for f in range(case["fits"])]
    if name == "one_each":
        threadpoolctl.threadpool_limits(1)
    elif name == "processes":
        joblib.parallel_config(backend="loky", inner_max_num_threads=threads)

    def work():
        jobs = (joblib.delayed(fit)(x[s:s + rows], y[s:s + rows]) for s in starts)
        return [sum(joblib.Parallel(n_jobs=threads, backend=None if name == "processes" else "threading")(jobs))]

    return work
