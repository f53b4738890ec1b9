#!/usr/bin/env bash
# peers.sh: makes a virtual environment with the programs that the benchmarks compare with, under build/peers.
# Prints the path of its Python. Does nothing when it is there already.
set -eu
cd "$(dirname "$0")/.."
if [ ! -x build/peers/bin/python ] || ! build/peers/bin/python -c 'import numpy, pandas, polars, duckdb' 2>/dev/null; then
  python3 -m venv build/peers
  build/peers/bin/pip --quiet install numpy pandas polars duckdb numba scikit-learn >&2
fi
echo "$PWD/build/peers/bin/python"
