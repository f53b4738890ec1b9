"""cluster_data.py FOLDER SMALL: the tables of bench/cluster, once as Parquet files, in FOLDER and a thousandth of them in SMALL.

What always holds: all numbers come from one seed; a file has row groups of ROWS_OF_GROUP rows, so that several processes can read it at
once, no compression and plain columns; what is there already is not made again, and nothing is there by halves."""
import pathlib
import sys

import numpy as np
import pyarrow
import pyarrow.parquet

ROWS_OF_GROUP = 250_000
FITS_ROWS = 1_000
SIZES = {"groups": 10_000_000, "few": 100, "many": 1_000_000, "places": 100_000, "points": 2_000_000, "cases": 1_000_000, "fits": 500}


def matrix(x, **more):
    return {**{f"x{j}": x[:, j] for j in range(x.shape[1])}, **more}


def tables(n):
    """Name: a function that gives the columns."""
    draw = np.random.default_rng(18)

    def groups():
        rows = n["groups"]
        return {"few": draw.integers(0, n["few"], rows), "many": draw.integers(0, n["many"], rows), "place": draw.integers(0, n["places"], rows),
                "v": draw.random(rows)}

    def places():
        return {"place": draw.permutation(n["places"]), "region": draw.integers(0, 100, n["places"]), "w": draw.random(n["places"])}

    def points():
        middles = draw.random((16, 16)) * 4
        return matrix(middles[draw.integers(0, 16, n["points"])] + draw.normal(size=(n["points"], 16)))

    def cases():
        x = draw.normal(size=(n["cases"], 20))
        return matrix(x, y=(draw.random(n["cases"]) < 1 / (1 + np.exp(-x @ np.linspace(-1, 1.3, 20)))).astype(float))

    def fits():
        rows = n["fits"] * FITS_ROWS
        x = draw.normal(size=(rows, 10)) + 0.5
        return matrix(x, y=x @ np.linspace(0.5, 1.5, 10) + 2 + draw.normal(size=rows))

    return {f.__name__: f for f in (groups, places, points, cases, fits)}


def main():
    for folder, part in ((pathlib.Path(sys.argv[1]), 1), (pathlib.Path(sys.argv[2]), 1000)):
        folder.mkdir(parents=True, exist_ok=True)
        sizes = {k: max(v // part, 100 if k in ("few", "many", "places") else 2) for k, v in SIZES.items()}
        for name, columns in tables(sizes).items():
            path, unfinished = folder / f"{name}.parquet", folder / f"{name}.part"
            if path.exists():
                continue
            pyarrow.parquet.write_table(pyarrow.table(columns()), unfinished, row_group_size=ROWS_OF_GROUP, compression="none", use_dictionary=False)
            unfinished.rename(path)


main()
