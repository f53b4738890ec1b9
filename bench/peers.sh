#!/usr/bin/env bash
# peers.sh: makes a virtual environment with the programs that the benchmarks compare with, under build/peers, and
# puts DuckDB's C library there (build/peers/libduckdb.so), which the tests of sql and read_parquet look for.
# Prints the path of its Python. Does nothing when it is there already.
set -eu
cd "$(dirname "$0")/.."
if [ ! -x build/peers/bin/python ] || ! build/peers/bin/python -c 'import numpy, pandas, polars, duckdb, dask, modin, distributed' 2>/dev/null; then
  python3 -m venv build/peers
  build/peers/bin/pip --quiet install numpy pandas polars duckdb "dask[dataframe]" distributed modin numba scikit-learn >&2
fi
if ! build/peers/bin/python -c 'import importlib.metadata as m; m.version("jax"); m.version("torch"); m.version("scipy")' 2>/dev/null; then
  build/peers/bin/pip --quiet install scipy jax torch >&2
fi
if [ ! -x build/peers/bin/tpchgen-cli ] || ! build/peers/bin/python -c 'import pyarrow' 2>/dev/null; then
  build/peers/bin/pip --quiet install pyarrow tpchgen-cli >&2
fi
if [ ! -e build/peers/libduckdb.so ]; then
  folder=$(mktemp -d)
  (cd "$folder" && npm pack --silent @duckdb/node-bindings-linux-x64 >&2 && tar xzf ./*.tgz)
  mv "$folder/package/libduckdb.so" build/peers/
  rm -r "$folder"
fi
echo "$PWD/build/peers/bin/python"
