"""csv_read.py: how long the peers take to read a CSV file whole, with a number of threads; one line each: name, seconds.

usage: csv_read.py PATH THREADS REPEATS, with the Python that bench/peers.sh prints"""
import os
import sys
import time

path, threads, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ["POLARS_MAX_THREADS"] = str(threads)
import duckdb
import polars


def with_polars():
    return polars.read_csv(path).height


def with_duckdb():
    c = duckdb.connect()
    c.execute(f"set threads = {threads}")
    c.execute(f"create table t as select * from read_csv('{path}')")
    return c.execute("select count(*) from t").fetchone()[0]


for name, run in (("polars", with_polars), ("duckdb", with_duckdb)):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    print(f"{name} {sorted(times)[len(times) // 2]:.3f}", flush=True)
