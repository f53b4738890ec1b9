"""tables.py: the questions of bench/tables, asked of one engine in Python.

Usage: tables.py ENGINE FOLDER THREADS SET QUESTION TIMES; ENGINE is duckdb polars pandas dask modin numpy, SET is
group join sort random, QUESTION is a name of the set or `all`. Prints `NAME SECONDS ROWS PROCESSOR_SECONDS` for each answer, then
`peak BYTES`: the most memory resident since the data was there. What always holds: each engine holds the data
in memory in its own best form before a clock runs (texts of few values as ENUM or categories, integers of 32 bits),
and an answer is a whole table in memory."""
import os
import sys
import time

engine, folder, threads, asked, question, times = sys.argv[1:7]
os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["MODIN_CPUS"] = threads
os.environ["MODIN_ENGINE"] = "dask"
TEXTS = {"G1": ["id1", "id2", "id3"], "x": ["id4", "id5", "id6"], "small": ["id4"], "medium": ["id4", "id5"], "big": ["id4", "id5", "id6"]}
INTS = {"G1": ["id4", "id5", "id6", "v1", "v2"], "x": ["id1", "id2", "id3"], "small": ["id1"], "medium": ["id1", "id2"], "big": ["id1", "id2", "id3"]}
FLOATS = {"G1": ["v3"], "x": ["v1"], "small": ["v2"], "medium": ["v2"], "big": ["v2"]}
COLUMNS = {"q1": "id1 v1", "q2": "id1 id2 v1", "q3": "id3 v1 v3", "q4": "id4 v1 v2 v3", "q5": "id6 v1 v2 v3", "q6": "id4 id5 v3",
           "q7": "id3 v1 v2", "q8": "id6 v3", "q9": "id2 id4 v1 v2"}
# Texts of nearly as many values as rows (id6 of the tables to join) are no categories in any engine.
PLAIN = {("x", "id6"), ("big", "id6")}
TABLES = {"group": ["G1"], "sort": ["G1"], "join": ["x", "small", "medium", "big"], "random": []}[asked]
RANDOM_ROWS = 25_000_000


def only(table):
    """The columns that are held: those of the question when there is one, else all."""
    if asked == "group" and question in COLUMNS:
        return COLUMNS[question].split()
    return INTS[table] + TEXTS[table] + FLOATS[table]


def wanted_tables():
    """The tables that are held: those of the question when there is one, else all of the set."""
    right = {"j1": "small", "j2": "medium", "j3": "medium", "j4": "medium", "j5": "big"}
    return ["x", right[question]] if question in right else TABLES


def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


def forget_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


# ---- DuckDB ----
def with_duckdb():
    import duckdb
    con = duckdb.connect()
    con.execute(f"SET threads = {threads}; SET preserve_insertion_order = false")
    for name in wanted_tables():
        columns = only(name)
        types = {c: "INTEGER" for c in INTS[name]} | {c: "DOUBLE" for c in FLOATS[name]} | {c: "VARCHAR" for c in TEXTS[name]}
        con.execute(f"CREATE TABLE raw AS SELECT {', '.join(columns)} FROM read_csv('{folder}/{name}.csv', header = true, columns = {types_in(name, types)})")
        shown = []
        for c in columns:
            if c in TEXTS[name] and (name, c) not in PLAIN:
                con.execute(f"CREATE TYPE {name}_{c} AS ENUM ({enum_values(name, c)})")
                shown.append(f"CAST({c} AS {name}_{c}) AS {c}")
            else:
                shown.append(c)
        con.execute(f"CREATE TABLE {name} AS SELECT {', '.join(shown)} FROM raw; DROP TABLE raw")
    sql = {
        "q1": "SELECT id1, sum(v1) AS v1 FROM G1 GROUP BY id1",
        "q2": "SELECT id1, id2, sum(v1) AS v1 FROM G1 GROUP BY id1, id2",
        "q3": "SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM G1 GROUP BY id3",
        "q4": "SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM G1 GROUP BY id4",
        "q5": "SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM G1 GROUP BY id6",
        "q6": "SELECT id4, id5, quantile_cont(v3, 0.5) AS median_v3, stddev(v3) AS sd_v3 FROM G1 GROUP BY id4, id5",
        "q7": "SELECT id3, max(v1) - min(v2) AS range_v1_v2 FROM G1 GROUP BY id3",
        "q8": "SELECT id6, unnest(max(v3, 2)) AS v3 FROM G1 GROUP BY id6",
        "q9": "SELECT id2, id4, pow(corr(v1, v2), 2) AS r2 FROM G1 GROUP BY id2, id4",
        "q10": "SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS n FROM G1 GROUP BY id1, id2, id3, id4, id5, id6",
        "j1": "SELECT x.*, small.id4 AS id4_r, v2 FROM x JOIN small USING (id1)",
        "j2": "SELECT x.*, medium.id1 AS id1_r, medium.id4 AS id4_r, medium.id5 AS id5_r, v2 FROM x JOIN medium USING (id2)",
        "j3": "SELECT x.*, medium.id1 AS id1_r, medium.id4 AS id4_r, medium.id5 AS id5_r, v2 FROM x LEFT JOIN medium USING (id2)",
        "j4": "SELECT x.*, medium.id1 AS id1_r, medium.id2 AS id2_r, medium.id4 AS id4_r, v2 FROM x JOIN medium USING (id5)",
        "j5": "SELECT x.*, big.id1 AS id1_r, big.id2 AS id2_r, big.id4 AS id4_r, big.id5 AS id5_r, big.id6 AS id6_r, v2 FROM x JOIN big USING (id3)",
        "s1": "SELECT * FROM G1 ORDER BY id4, v3 DESC",
    }

    def ask(name):
        con.execute("DROP TABLE IF EXISTS ans")
        start = time.perf_counter()
        con.execute(f"CREATE TABLE ans AS {sql[name]}")
        rows = con.execute("SELECT count(*) FROM ans").fetchone()[0]
        return time.perf_counter() - start, rows

    return ask


def enum_values(table, column):
    """All values that the column has in any table: keys that are joined are of one type."""
    if table == "G1":
        return f"SELECT DISTINCT {column} FROM raw ORDER BY 1"
    files = [n for n in TABLES if column in TEXTS[n]]
    return " UNION ".join(f"SELECT {column} FROM read_csv('{folder}/{n}.csv', header = true)" for n in files) + " ORDER BY 1"


def types_in(table, types):
    """The columns of the file in their order, as DuckDB's read_csv wants them."""
    with open(f"{folder}/{table}.csv") as file:
        header = file.readline().strip().split(",")
    return "{" + ", ".join(f"'{c}': '{types[c]}'" for c in header) + "}"


# ---- Polars ----
def with_polars():
    import polars as pl
    table = {}
    for name in wanted_tables():
        types = {c: pl.Int32 for c in INTS[name]} | {c: pl.Float64 for c in FLOATS[name]} | {c: pl.String for c in TEXTS[name]}
        read = pl.read_csv(f"{folder}/{name}.csv", columns=only(name), schema_overrides=types)
        categories = [c for c in TEXTS[name] if c in read.columns and (name, c) not in PLAIN]
        table[name] = read.with_columns(pl.col(categories).cast(pl.Categorical)).rechunk()
        del read
    lazy = {name: t.lazy() for name, t in table.items()}
    c = pl.col
    queries = {
        "q1": lambda: lazy["G1"].group_by("id1").agg(c("v1").sum()),
        "q2": lambda: lazy["G1"].group_by("id1", "id2").agg(c("v1").sum()),
        "q3": lambda: lazy["G1"].group_by("id3").agg(c("v1").sum(), c("v3").mean()),
        "q4": lambda: lazy["G1"].group_by("id4").agg(c("v1", "v2", "v3").mean()),
        "q5": lambda: lazy["G1"].group_by("id6").agg(c("v1", "v2", "v3").sum()),
        "q6": lambda: lazy["G1"].group_by("id4", "id5").agg(c("v3").median().alias("median_v3"), c("v3").std().alias("sd_v3")),
        "q7": lambda: lazy["G1"].group_by("id3").agg((c("v1").max() - c("v2").min()).alias("range_v1_v2")),
        "q8": lambda: lazy["G1"].select("id6", "v3").group_by("id6").agg(c("v3").top_k(2)).explode("v3"),
        "q9": lambda: lazy["G1"].group_by("id2", "id4").agg((pl.corr("v1", "v2") ** 2).alias("r2")),
        "q10": lambda: lazy["G1"].group_by("id1", "id2", "id3", "id4", "id5", "id6").agg(c("v3").sum(), c("v1").count().alias("n")
                                                                                          if "v1" in table["G1"].columns else pl.len().alias("n")),
        "j1": lambda: lazy["x"].join(lazy["small"], on="id1", suffix="_r"),
        "j2": lambda: lazy["x"].join(lazy["medium"], on="id2", suffix="_r"),
        "j3": lambda: lazy["x"].join(lazy["medium"], on="id2", how="left", suffix="_r"),
        "j4": lambda: lazy["x"].join(lazy["medium"], on="id5", suffix="_r"),
        "j5": lambda: lazy["x"].join(lazy["big"], on="id3", suffix="_r"),
        "s1": lambda: lazy["G1"].sort("id4", "v3", descending=[False, True]),
    }

    def ask(name):
        start = time.perf_counter()
        answer = queries[name]().collect()
        return time.perf_counter() - start, answer.height

    return ask


# ---- pandas, Modin, Dask ----
def frame_types(name):
    return {c: "int32" for c in INTS[name]} | {c: "float64" for c in FLOATS[name]} | \
        {c: "str" if (name, c) in PLAIN else "category" for c in TEXTS[name]}


def with_frames(pd):
    table = {n: pd.read_csv(f"{folder}/{n}.csv", dtype=frame_types(n), usecols=only(n)) for n in wanted_tables()}
    group = lambda keys: table["G1"].groupby(keys, as_index=False, sort=False, observed=True, dropna=False)
    join = lambda right, key, how="inner": table["x"].merge(table[right], on=key, how=how, suffixes=("", "_r"))

    def largest():
        return table["G1"][["id6", "v3"]].sort_values("v3", ascending=False).groupby("id6", as_index=False, sort=False).head(2)

    def spread():
        answer = group("id3").agg({"v1": "max", "v2": "min"})
        return answer.assign(range_v1_v2=answer["v1"] - answer["v2"])[["id3", "range_v1_v2"]]

    queries = {
        "q1": lambda: group("id1").agg({"v1": "sum"}),
        "q2": lambda: group(["id1", "id2"]).agg({"v1": "sum"}),
        "q3": lambda: group("id3").agg({"v1": "sum", "v3": "mean"}),
        "q4": lambda: group("id4").agg({"v1": "mean", "v2": "mean", "v3": "mean"}),
        "q5": lambda: group("id6").agg({"v1": "sum", "v2": "sum", "v3": "sum"}),
        "q6": lambda: group(["id4", "id5"]).agg({"v3": ["median", "std"]}),
        "q7": spread,
        "q8": largest,
        "q9": lambda: table["G1"][["id2", "id4", "v1", "v2"]].groupby(["id2", "id4"], observed=True)[["v1", "v2"]].corr().iloc[0::2]["v2"] ** 2,
        "q10": lambda: group(["id1", "id2", "id3", "id4", "id5", "id6"]).agg({"v3": "sum", "v1": "size"}),
        "j1": lambda: join("small", "id1"), "j2": lambda: join("medium", "id2"), "j3": lambda: join("medium", "id2", "left"),
        "j4": lambda: join("medium", "id5"), "j5": lambda: join("big", "id3"),
        "s1": lambda: table["G1"].sort_values(["id4", "v3"], ascending=[True, False]),
    }

    def ask(name):
        start = time.perf_counter()
        answer = queries[name]()
        if engine == "modin":
            import modin.utils
            modin.utils.execute(answer)
        return time.perf_counter() - start, len(answer)

    return ask


def with_pandas():
    import pandas
    return with_frames(pandas)


def with_modin():
    import distributed
    distributed.Client(n_workers=int(threads), threads_per_worker=1, memory_limit=0, dashboard_address=None)
    import modin.pandas
    return with_frames(modin.pandas)


def with_dask():
    import dask
    import dask.dataframe as dd
    dask.config.set(scheduler="threads", num_workers=int(threads))
    table = {n: dd.read_csv(f"{folder}/{n}.csv", dtype=frame_types(n), usecols=only(n)).persist() for n in wanted_tables()}
    if asked == "join":
        table = {n: t.repartition(npartitions=1).persist() if n in ("small", "medium") else t for n, t in table.items()}
    group = lambda keys: table["G1"].groupby(keys, sort=False, observed=True, dropna=False)
    join = lambda right, key, how="inner": table["x"].merge(table[right], on=key, how=how, suffixes=("", "_r"))

    def spread():
        answer = group("id3").agg({"v1": "max", "v2": "min"})
        return answer.assign(range_v1_v2=answer["v1"] - answer["v2"])[["range_v1_v2"]]

    queries = {
        "q1": lambda: group("id1").agg({"v1": "sum"}), "q2": lambda: group(["id1", "id2"]).agg({"v1": "sum"}),
        "q3": lambda: group("id3").agg({"v1": "sum", "v3": "mean"}),
        "q4": lambda: group("id4").agg({"v1": "mean", "v2": "mean", "v3": "mean"}),
        "q5": lambda: group("id6").agg({"v1": "sum", "v2": "sum", "v3": "sum"}),
        "q7": spread,
        "j1": lambda: join("small", "id1"), "j2": lambda: join("medium", "id2"), "j3": lambda: join("medium", "id2", "left"),
        "j4": lambda: join("medium", "id5"),
    }

    def ask(name):
        if name not in queries:
            return None
        start = time.perf_counter()
        answer = queries[name]().compute()
        return time.perf_counter() - start, len(answer)

    return ask


# ---- a column of random numbers added to: numpy, Dask, pandas ----
def with_random():
    import numpy as np
    rng = np.random.default_rng(1)
    if engine == "numpy":
        column = np.arange(RANDOM_ROWS) % 1000 * 1.0
        add = lambda: column + 100 + rng.random(RANDOM_ROWS)
    elif engine == "dask":
        import dask
        import dask.array as da
        dask.config.set(scheduler="threads", num_workers=int(threads))
        column = da.from_array(np.arange(RANDOM_ROWS) % 1000 * 1.0, chunks=1_000_000)
        add = lambda: (column + 100 + da.random.default_rng(1).random(RANDOM_ROWS, chunks=1_000_000)).compute()
    else:
        import pandas
        import random
        # a twenty-fifth of the rows: the time of all is 25 times that
        column = pandas.Series(np.arange(RANDOM_ROWS // 25) % 1000 * 1.0)
        add = lambda: column.apply(lambda v: v + 100 + random.random())

    def ask(name):
        start = time.perf_counter()
        answer = add()
        return (time.perf_counter() - start) * (RANDOM_ROWS / len(answer)), RANDOM_ROWS

    return ask


def main():
    makers = {"duckdb": with_duckdb, "polars": with_polars, "pandas": with_pandas, "modin": with_modin, "dask": with_dask}
    ask = with_random() if asked == "random" else makers[engine]()
    all_names = {"group": [f"q{k}" for k in range(1, 11)], "join": [f"j{k}" for k in range(1, 6)], "sort": ["s1"], "random": ["random"]}[asked]
    names = all_names if question == "all" else [question]
    forget_peak()
    for _ in range(int(times)):
        for name in names:
            before = time.process_time()
            answer = ask(name)
            if answer:
                print(f"{name} {answer[0]:.6f} {answer[1]} {time.process_time() - before:.6f}", flush=True)
    print(f"peak {status('VmHWM')}")


if __name__ == "__main__":
    main()
