"""Writes names.txt, the public names of pandas, Polars and numpy: run with a Python that has them."""
import pathlib

import numpy
import pandas
import polars


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


grouped = pandas.DataFrame({"a": [1]}).groupby("a")
names = public(pandas.DataFrame) | public(pandas.Series) | public(grouped) | public(pandas.Series.str) | public(pandas.Series.dt)
names |= public(polars.DataFrame) | public(polars.LazyFrame) | public(polars.Series) | public(polars.Expr) | public(polars.Expr.str)
names |= public(polars.Expr.dt) | public(polars.dataframe.group_by.GroupBy) | public(numpy.ndarray)
for module in (pandas, polars, numpy):
    names |= {name for name in public(module) if name.islower()}
(pathlib.Path(__file__).parent / "names.txt").write_text("\n".join(sorted(names)) + "\n")
