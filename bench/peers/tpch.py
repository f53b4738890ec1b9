#!/usr/bin/env python3
"""tpch.py ENGINE QUERY FORMAT FOLDER THREADS SF ANSWER [LIMIT]: one query of TPC-H, asked once (twice on DuckDB's own tables), its answer as a CSV file.

Comes in: ENGINE `duckdb`, `own` (DuckDB on its own tables) or `polars`; the number of the query; the form of the files (bench/tpch_data.py);
the most memory in megabytes. Goes out: the answer, and on standard output the seconds of the last time, those of the processors, and the kilobytes of memory of its own
that the process had before. What always holds: the clock runs from the opening of the files to the whole answer in memory; libraries
are loaded before."""
import csv
import os
import pathlib
import re
import sys
import time

engine, query, form, folder, threads, scale, answer = sys.argv[1:8]
limit = sys.argv[8] if len(sys.argv) > 8 else ""
os.environ["POLARS_MAX_THREADS"] = threads
TABLES = "region nation supplier customer part partsupp orders lineitem".split()
HERE = pathlib.Path(__file__).resolve().parent


def anonymous():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon"))


def duckdb_answer():
    import duckdb
    import pyarrow
    import pyarrow.ipc
    pyarrow.set_cpu_count(int(threads))
    text = (HERE.parent / f"tpch_queries/q{query}.sql").read_text().replace("$sf", str(float(scale)))
    base = anonymous()
    seconds = None
    for _ in range(2 if engine == "own" else 1):
        if seconds is None or engine != "own":
            begin, work = time.perf_counter(), time.process_time()
            connection = duckdb.connect(f"{folder}/tpch.duckdb" if engine == "own" else ":memory:", read_only=engine == "own")
            connection.execute(f"set threads = {threads}")
            if limit:
                connection.execute(f"set memory_limit = '{limit}MB'")
            for name in [t for t in TABLES if re.search(rf"\b{t}\b", text)] if engine != "own" else []:
                path = f"{folder}/{form}/{name}.{form if form in ('csv', 'parquet') else 'arrow'}"
                if form in ("csv", "parquet"):
                    connection.execute(f"create view {name} as from '{path}'")
                else:
                    connection.register(name, pyarrow.ipc.open_file(pyarrow.memory_map(path)).read_all())
        else:
            begin, work = time.perf_counter(), time.process_time()
        cursor = connection.execute(text)
        names, rows = [d[0] for d in cursor.description], cursor.fetchall()
        seconds, worked = time.perf_counter() - begin, time.process_time() - work
    return seconds, worked, base, names, rows


def polars_answer():
    import polars
    sys.path.insert(0, str(HERE))
    import tpch_polars
    base = anonymous()
    begin, work = time.perf_counter(), time.process_time()

    def scan(name):
        if form == "csv":
            return polars.scan_csv(f"{folder}/csv/{name}.csv", try_parse_dates=True)
        frame = polars.scan_parquet(f"{folder}/parquet/{name}.parquet") if form == "parquet" else polars.scan_ipc(f"{folder}/{form}/{name}.arrow")
        return frame.with_columns(polars.selectors.decimal().cast(polars.Float64))  # a product of its decimals has no more digits than they

    frame = getattr(tpch_polars, f"q{query}")(scan, float(scale)).collect(engine="streaming")
    return time.perf_counter() - begin, time.process_time() - work, base, frame.columns, frame.rows()


seconds, worked, base, names, rows = polars_answer() if engine == "polars" else duckdb_answer()
print(f"{seconds:.6f} {worked:.6f} {base}")
with open(answer, "w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(names)
    writer.writerows(rows)
sys.stdout.flush()
os._exit(0)
