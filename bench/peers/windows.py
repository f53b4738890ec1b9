"""windows.py: the questions of programs/windows.flow with pandas, Polars and DuckDB; a line a measurement.

Comes in: library, rows, threads, rounds. Goes out: lines `question seconds`. What always holds: the table is in the
library's own memory before, and the new column after."""
import os
import sys
import time

library, rows, threads, rounds = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
os.environ["POLARS_MAX_THREADS"] = threads

import numpy as np  # noqa: E402  (after the number of threads is known)

rng = np.random.default_rng(1)
k = rng.integers(0, 100, rows)
g = rng.integers(0, rows // 100 + 1, rows)
x = rng.random(rows) * 100
ts = np.datetime64("2026-01-01") + np.arange(rows) * np.timedelta64(5_000_000, "us")


def with_pandas():
    import pandas as pd

    t = pd.DataFrame({"k": k, "g": g, "x": x, "ts": ts})
    timed = t.set_index("ts").x
    return {
        "lag_by_k": lambda: t.groupby("k").x.shift(1),
        "lag_by_g": lambda: t.groupby("g").x.shift(1),
        "cumsum_all": lambda: t.x.cumsum(),
        "cumsum_by_k": lambda: t.groupby("k").x.cumsum(),
        "cumsum_by_g": lambda: t.groupby("g").x.cumsum(),
        "rank_all": lambda: t.x.rank(method="min"),
        "rank_by_k": lambda: t.groupby("k").x.rank(method="min"),
        "row_number_by_k": lambda: t.groupby("k").cumcount(),
        "mean_7": lambda: t.x.rolling(7).mean(),
        "mean_7_by_k": lambda: t.groupby("k").x.rolling(7).mean(),
        "std_100": lambda: t.x.rolling(100).std(),
        "max_30_by_k": lambda: t.groupby("k").x.rolling(30).max(),
        "median_30": lambda: t.x.rolling(30).median(),
        "mean_hour": lambda: timed.rolling("1h").mean(),
    }


def with_polars():
    import polars as pl

    t = pl.DataFrame({"k": k, "g": g, "x": x, "ts": ts})
    c = pl.col("x")
    questions = {
        "lag_by_k": c.shift(1).over("k"),
        "lag_by_g": c.shift(1).over("g"),
        "cumsum_all": c.cum_sum(),
        "cumsum_by_k": c.cum_sum().over("k"),
        "cumsum_by_g": c.cum_sum().over("g"),
        "rank_all": c.rank("min"),
        "rank_by_k": c.rank("min").over("k"),
        "row_number_by_k": pl.int_range(pl.len()).over("k"),
        "mean_7": c.rolling_mean(7),
        "mean_7_by_k": c.rolling_mean(7).over("k"),
        "std_100": c.rolling_std(100),
        "max_30_by_k": c.rolling_max(30).over("k"),
        "median_30": c.rolling_median(30),
        "mean_hour": c.rolling_mean_by("ts", "1h"),
    }
    return {name: (lambda e: lambda: t.select(y=e))(e) for name, e in questions.items()}


def with_duckdb():
    import duckdb
    import pandas as pd

    base = duckdb.connect()
    base.execute(f"set threads = {threads}; set preserve_insertion_order = false")
    frame = pd.DataFrame({"i": np.arange(rows), "k": k, "g": g, "x": x, "ts": ts})
    base.register("frame", frame)
    base.execute("create table t as select * from frame")
    base.unregister("frame")
    by_k, by_g, whole = "partition by k order by i", "partition by g order by i", "order by i"
    questions = {
        "lag_by_k": f"lag(x) over ({by_k})",
        "lag_by_g": f"lag(x) over ({by_g})",
        "cumsum_all": f"sum(x) over ({whole})",
        "cumsum_by_k": f"sum(x) over ({by_k})",
        "cumsum_by_g": f"sum(x) over ({by_g})",
        "rank_all": "rank() over (order by x)",
        "rank_by_k": "rank() over (partition by k order by x)",
        "row_number_by_k": f"row_number() over ({by_k})",
        "mean_7": f"avg(x) over ({whole} rows 6 preceding)",
        "mean_7_by_k": f"avg(x) over ({by_k} rows 6 preceding)",
        "std_100": f"stddev_samp(x) over ({whole} rows 99 preceding)",
        "max_30_by_k": f"max(x) over ({by_k} rows 29 preceding)",
        "median_30": f"median(x) over ({whole} rows 29 preceding)",
        "mean_hour": "avg(x) over (order by ts range interval 3599 seconds preceding)",
    }

    def run(query):
        base.execute(f"create or replace temp table r as select i, {query} as y from t")

    return {name: (lambda q: lambda: run(q))(q) for name, q in questions.items()}


questions = {"pandas": with_pandas, "polars": with_polars, "duckdb": with_duckdb}[library]()
for _ in range(rounds):
    for name, question in questions.items():
        start = time.perf_counter()
        question()
        print(name, time.perf_counter() - start, flush=True)
