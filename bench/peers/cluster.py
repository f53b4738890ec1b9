"""cluster.py ENGINE PROGRAM FOLDER SMALL: one program of bench/cluster by one engine: dask, ray, spark or bodo, two processes of one thread.

Prints `begin`, then lines `answer` and numbers, then `end`. What always holds: before `begin` the cluster is up and has done the whole program once
on the tables of SMALL, a thousandth of those of FOLDER, so neither its start, nor imports, nor compilation count; after it
every row is read from the Parquet files. Learning is the same loop for all engines: only sums over each part's rows go to the driver.
bodo is to be started by mpiexec: each process runs this, and the first one prints."""
import pathlib
import sys

import numpy as np

import cluster_work as work

PROCESSES = 2
FITS = work.FITS_ROWS


def kmeans(engine, folder):
    parts = engine.parts(folder / "points.parquet")
    centers = work.first_rows(folder / "points.parquet", 16)
    for _ in range(10):
        sums, sizes, _ = engine.fold(parts, work.near_sums, centers)
        centers = sums / sizes[:, None]
    return [[10], [engine.fold(parts, work.near_sums, centers)[2]], *centers]


def logistic(engine, folder):
    parts = engine.parts(folder / "cases.parquet")
    w = np.zeros(20)
    rows = work.pyarrow.parquet.ParquetFile(folder / "cases.parquet").metadata.num_rows
    for _ in range(20):
        w = w - engine.fold(parts, work.gradient, w)[0] / rows
    return [w]


def fits(engine, folder):
    found = np.array(engine.fits(folder / "fits.parquet"))
    return [found.sum(0), (found ** 2).sum(0)]


def summed(partials):
    return [sum(of) for of in zip(*partials)]


class Dask:
    def __init__(self):
        import dask
        import distributed
        dask.config.set({"distributed.worker.memory.terminate": False, "distributed.worker.memory.pause": False})
        self.cluster = distributed.LocalCluster(n_workers=PROCESSES, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0)
        self.client = distributed.Client(self.cluster)

    def frame(self, path, columns):
        import dask.dataframe
        return dask.dataframe.read_parquet(path, columns=columns, split_row_groups=5)

    def groups(self, folder, key):
        import dask
        g = self.frame(folder / "groups.parquet", [key, "v"]).groupby(key, sort=False)["v"].agg(["sum", "count"], split_out=PROCESSES if key == "many" else 1)
        g = g.reset_index()
        g["s"], g["m"] = g["sum"], g["sum"] / g["count"]
        return dask.compute(g["s"].count(), (g["s"] * (g[key] % 7 + 1)).sum(), (g["m"] * (g[key] % 11 + 1)).sum())

    def join(self, folder):
        import pandas
        t = self.frame(folder / "groups.parquet", ["place", "v"]).merge(pandas.read_parquet(folder / "places.parquet"), on="place")
        t["x"] = t["v"] * t["w"]
        g = t.groupby("region")["x"].agg(["sum", "count"]).reset_index().compute()
        return len(g), (g["sum"] * (g["region"] % 7 + 1)).sum(), (g["count"] * (g["region"] % 11 + 1)).sum()

    def parts(self, path):
        return [self.client.submit(work.read_matrix, str(path), groups, pure=False) for groups in work.pieces(path, PROCESSES)]

    def fold(self, parts, function, argument):
        return summed(self.client.gather([self.client.submit(function, part, argument, pure=False) for part in parts]))

    def fits(self, path):
        sizes = [sum(work.pyarrow.parquet.ParquetFile(path).metadata.row_group(g).num_rows for g in groups) for groups in work.pieces(path, PROCESSES)]
        return self.client.gather([self.client.submit(work.fit, part, k, pure=False) for part, n in zip(self.parts(path), sizes) for k in range(n // FITS)])

    def close(self):
        self.client.close()
        self.cluster.close()


class Ray:
    def __init__(self):
        import ray
        ray.init(num_cpus=PROCESSES, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        self.ray = ray
        remote = {f: ray.remote(f) for f in (work.read_matrix, work.near_sums, work.gradient, work.fit, work.merged_groups, work.part_join)}
        self.remote = {**remote, work.part_groups: ray.remote(num_returns=PROCESSES)(work.part_groups)}

    def groups(self, folder, key):
        path = folder / "groups.parquet"
        found = [self.remote[work.part_groups].remote(path, groups, key, PROCESSES) for groups in work.pieces(path, PROCESSES)]
        return sum(self.ray.get([self.remote[work.merged_groups].remote(key, *of) for of in zip(*found)]))

    def join(self, folder):
        path = folder / "groups.parquet"
        places = self.ray.put(work.pyarrow.parquet.read_table(folder / "places.parquet"))
        return work.merged_join(self.ray.get([self.remote[work.part_join].remote(path, groups, places) for groups in work.pieces(path, PROCESSES)]))

    def parts(self, path):
        return [self.remote[work.read_matrix].remote(path, groups) for groups in work.pieces(path, PROCESSES)]

    def fold(self, parts, function, argument):
        given = self.ray.put(argument)
        return summed(self.ray.get([self.remote[function].remote(part, given) for part in parts]))

    def fits(self, path):
        sizes = [sum(work.pyarrow.parquet.ParquetFile(path).metadata.row_group(g).num_rows for g in groups) for groups in work.pieces(path, PROCESSES)]
        return self.ray.get([self.remote[work.fit].remote(part, k) for part, n in zip(self.parts(path), sizes) for k in range(n // FITS)])

    def close(self):
        self.ray.shutdown()


class Spark:
    def __init__(self):
        from pyspark.sql import SparkSession
        self.spark = (SparkSession.builder.master(f"local[{PROCESSES}]").config("spark.ui.enabled", "false").config("spark.driver.memory", "6g")
                      .config("spark.sql.shuffle.partitions", str(PROCESSES)).config("spark.driver.bindAddress", "127.0.0.1")
                      .config("spark.driver.host", "127.0.0.1").config("spark.sql.execution.arrow.maxRecordsPerBatch", str(FITS * 50))
                      .config("spark.log.level", "ERROR").getOrCreate())

    def groups(self, folder, key):
        from pyspark.sql import functions as f
        g = self.spark.read.parquet(str(folder / "groups.parquet")).groupBy(key).agg(f.sum("v").alias("s"), f.avg("v").alias("m"))
        return g.agg(f.count("s"), f.sum(g.s * (g[key] % 7 + 1)), f.sum(g.m * (g[key] % 11 + 1))).first()

    def join(self, folder):
        from pyspark.sql import functions as f
        t = self.spark.read.parquet(str(folder / "groups.parquet")).join(self.spark.read.parquet(str(folder / "places.parquet")), "place")
        g = t.groupBy("region").agg(f.sum(t.v * t.w).alias("s"), f.count("v").alias("n"))
        return g.agg(f.count("s"), f.sum(g.s * (g.region % 7 + 1)), f.sum(g.n * (g.region % 11 + 1))).first()

    def parts(self, path):
        return self.spark.read.parquet(str(path)).cache()

    def by_partition(self, frame, function):
        """What a function gives of each partition's matrix."""
        import pickle

        def worked(batches):
            import pyarrow
            found = list(batches)
            if found:
                yield pyarrow.RecordBatch.from_pydict({"b": [pickle.dumps(function(work.matrix(pyarrow.Table.from_batches(found))))]})

        return [pickle.loads(bytes(row.b)) for row in frame.mapInArrow(worked, "b binary").collect()]

    def fold(self, parts, function, argument):
        return summed(self.by_partition(parts, lambda x: function(x, argument)))

    def fits(self, path):
        return [w for part in self.by_partition(self.spark.read.parquet(str(path)), work.all_fits) for w in part]

    def close(self):
        self.spark.stop()


class Bodo:
    def __init__(self):
        import bodo
        import pandas as pd
        from mpi4py import MPI
        self.world = MPI.COMM_WORLD
        if self.world.size != PROCESSES:
            sys.exit(f"bodo: {self.world.size} processes of MPI, not {PROCESSES}")

        @bodo.jit
        def few(path):
            g = pd.read_parquet(path, columns=["few", "v"]).groupby("few", as_index=False).agg(s=pd.NamedAgg("v", "sum"), m=pd.NamedAgg("v", "mean"))
            return len(g), (g["s"] * (g["few"] % 7 + 1)).sum(), (g["m"] * (g["few"] % 11 + 1)).sum()

        @bodo.jit
        def many(path):
            g = pd.read_parquet(path, columns=["many", "v"]).groupby("many", as_index=False).agg(s=pd.NamedAgg("v", "sum"), m=pd.NamedAgg("v", "mean"))
            return len(g), (g["s"] * (g["many"] % 7 + 1)).sum(), (g["m"] * (g["many"] % 11 + 1)).sum()

        @bodo.jit
        def join(path, places):
            t = pd.read_parquet(path, columns=["place", "v"]).merge(pd.read_parquet(places), on="place")
            t["x"] = t["v"] * t["w"]
            g = t.groupby("region", as_index=False).agg(s=pd.NamedAgg("x", "sum"), n=pd.NamedAgg("x", "count"))
            return len(g), (g["s"] * (g["region"] % 7 + 1)).sum(), (g["n"] * (g["region"] % 11 + 1)).sum()

        @bodo.jit(distributed=["t"])
        def rows(path):
            t = pd.read_parquet(path)
            return t

        self.jitted = {"few": few, "many": many, "join": join, "rows": rows}

    def groups(self, folder, key):
        return self.jitted[key](str(folder / "groups.parquet"))

    def join(self, folder):
        return self.jitted["join"](str(folder / "groups.parquet"), str(folder / "places.parquet"))

    def parts(self, path):
        return np.ascontiguousarray(self.jitted["rows"](str(path)).to_numpy(dtype=float))

    def fold(self, parts, function, argument):
        return summed(self.world.allgather(function(parts, argument)))

    def fits(self, path):
        return [w for part in self.world.allgather(work.all_fits(self.parts(path))) for w in part]

    def close(self):
        pass


PROGRAMS = {"groups_few": lambda e, folder: [[v] for v in e.groups(folder, "few")], "groups_many": lambda e, folder: [[v] for v in e.groups(folder, "many")],
            "join": lambda e, folder: [[v] for v in e.join(folder)], "kmeans": kmeans, "logistic": logistic, "fits": fits}


def main():
    engine = {"dask": Dask, "ray": Ray, "spark": Spark, "bodo": Bodo}[sys.argv[1]]()
    program, folder, small = PROGRAMS[sys.argv[2]], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    first = not isinstance(engine, Bodo) or engine.world.rank == 0
    program(engine, small)
    if first:
        print("begin", flush=True)
    answer = program(engine, folder)
    if first:
        print("end", flush=True)
        for line in answer:
            print("answer", *(repr(float(v)) for v in line), flush=True)
    engine.close()


if __name__ == "__main__":
    main()
