"""cluster_work.py: what the processes of a cluster compute on their rows, for bench/peers/cluster.py: numpy and pyarrow of one thread each.

What always holds: rows are worked on in blocks that stay in a cache; sums over rows are given, never rows."""
import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.parquet

BLOCK = 8192
FITS_ROWS = 1_000
pyarrow.set_cpu_count(1)


def pieces(path, count):
    """The row groups of each of `count` parts of a file."""
    groups = pyarrow.parquet.ParquetFile(path).num_row_groups
    cuts = [groups * k // count for k in range(count + 1)]
    return [list(range(a, b)) for a, b in zip(cuts, cuts[1:]) if a < b]


def read(path, groups, columns=None):
    return pyarrow.parquet.ParquetFile(path, memory_map=True).read_row_groups(groups, columns=columns, use_threads=False)


def matrix(table):
    """The columns of a table as rows of one matrix."""
    out = np.empty((table.num_rows, table.num_columns))
    for j, column in enumerate(table.columns):
        out[:, j] = column
    return out


def read_matrix(path, groups):
    return matrix(read(path, groups))


def first_rows(path, count):
    return matrix(pyarrow.Table.from_batches([next(pyarrow.parquet.ParquetFile(path).iter_batches(count))]))


def near_sums(x, centers):
    """Of each center the sum of the points that are nearest to it, and their number; and the sum of all squared distances."""
    k = len(centers)
    sums, sizes, inertia = np.zeros(centers.shape), np.zeros(k), 0.0
    turned, squares = -2 * centers.T, (centers ** 2).sum(1)
    for begin in range(0, len(x), BLOCK):
        rows = x[begin:begin + BLOCK]
        far = rows @ turned
        far += squares
        label = far.argmin(1)
        one = np.zeros((len(rows), k))
        one[np.arange(len(rows)), label] = 1
        sums += one.T @ rows
        sizes += one.sum(0)
        inertia += far[np.arange(len(rows)), label].sum() + np.einsum("ij,ij->", rows, rows)
    return [sums, sizes, inertia]


def gradient(data, w):
    """The sum of the gradients of the logistic loss; the last column is the answer."""
    total = np.zeros(len(w))
    for begin in range(0, len(data), BLOCK):
        rows = data[begin:begin + BLOCK]
        x = rows[:, :-1]
        total += (1 / (1 + np.exp(-(x @ w))) - rows[:, -1]) @ x
    return [total]


def fit(data, k):
    """Ridge regression of the k-th thousand of rows: coefficients, and the intercept last."""
    rows = data[k * FITS_ROWS:(k + 1) * FITS_ROWS]
    middle = rows.mean(0)
    rows = rows - middle
    x, y = rows[:, :-1], rows[:, -1]
    w = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y)
    return np.append(w, middle[-1] - middle[:-1] @ w)


def all_fits(data):
    return [fit(data, k) for k in range(len(data) // FITS_ROWS)]


def part_groups(path, groups, key, ways):
    """Sums and counts of the rows of a part, as a table for each of those that put them together."""
    found = read(path, groups, [key, "v"]).group_by(key, use_threads=False).aggregate([("v", "sum"), ("v", "count")])
    of = found[key].to_numpy() % ways
    return [found.filter(pyarrow.array(of == k)) for k in range(ways)]


def merged_groups(key, *tables):
    """Their number, and the two sums over groups that are the answer."""
    found = pyarrow.concat_tables(tables).group_by(key, use_threads=False).aggregate([("v_sum", "sum"), ("v_count", "sum")])
    keys, sums, counts = (found[name].to_numpy() for name in (key, "v_sum_sum", "v_count_sum"))
    return np.array([len(keys), (sums * (keys % 7 + 1)).sum(), (sums / counts * (keys % 11 + 1)).sum()])


def part_join(path, groups, places):
    """By region: sums of v * w and counts."""
    t = read(path, groups, ["place", "v"]).join(places, "place", join_type="inner", use_threads=False)
    t = t.append_column("x", pyarrow.compute.multiply(t["v"], t["w"]))
    return t.group_by("region", use_threads=False).aggregate([("x", "sum"), ("x", "count")])


def merged_join(tables):
    found = pyarrow.concat_tables(tables).group_by("region").aggregate([("x_sum", "sum"), ("x_count", "sum")])
    region, sums, counts = (found[name].to_numpy() for name in ("region", "x_sum_sum", "x_count_sum"))
    return [len(region), (sums * (region % 7 + 1)).sum(), (counts * (region % 11 + 1)).sum()]
