"""The chains of bench/programs/joins.flow in DuckDB or Polars: joins.py ENGINE ROWS OTHERS THREADS TIMES. Prints a line for each: which, seconds, what the processors took, rows, sum."""
import os
import sys
import time

engine, n, m, threads, times = sys.argv[1], *map(int, sys.argv[2:])
os.environ["POLARS_MAX_THREADS"] = str(threads)
import numpy as np

k, j = np.arange(n), np.arange(m)
facts = {"a": k * 7919 % m, "b": k * 104_729 % m, "c": k * 611_953 % 1_000_003 % m, "x": (k % 97) / 4}
one, two = {"key": j, "w1": (j * 31 % 13).astype(float)}, {"key": j, "w2": (j * 37 % 13).astype(float)}
few = {"key": j, "v": j * 41 % 1000, "w3": (j * 41 % 13).astype(float)}
if engine == "duckdb":
    import duckdb
    import pyarrow as pa

    db = duckdb.connect(config={"threads": threads})
    for name, table in (("facts", facts), ("one", one), ("two", two), ("few", few)):
        given = pa.table(table)
        db.register("given", given)
        db.execute(f"create table {name} as select * from given")
    last, middle = "join few on c = few.key", "join one on a = one.key join two on b = two.key"
    asked = {"worst": f"{middle} {last} where v < 20", "best": f"{last} {middle} where v < 20", "semi": f"{middle} where c in (select key from few where v < 20)"}
    ask = lambda what: db.execute(f"select count(*), sum(x * w1 + w2) from facts {asked[what]}").fetchall()[0]
else:
    import polars as pl

    facts, one, two, few = (pl.DataFrame(t).lazy() for t in (facts, one, two, few))

    def ask(what):
        some = few.filter(pl.col("v") < 20)
        joins = [(one, "a", "inner"), (two, "b", "inner"), (some, "c", "semi" if what == "semi" else "inner")]
        chain = facts
        for table, on, how in joins[2:] + joins[:2] if what == "best" else joins:
            chain = chain.join(table, left_on=on, right_on="key", how=how)
        return chain.select(pl.len(), (pl.col("x") * pl.col("w1") + pl.col("w2")).sum()).collect().row(0)

for _ in range(times):
    for what in ("worst", "best", "semi"):
        begin, taken = time.perf_counter(), time.process_time()
        rows, total = ask(what)
        print(what, time.perf_counter() - begin, time.process_time() - taken, rows, float(total))
