#!/usr/bin/env bash
# csv.sh: reading a CSV file of 10 numeric and 2 text columns, against Polars and DuckDB, in one run: medians and ratios.
# usage: bench/csv.sh [MEGABYTES=500] [THREADS=2] [ROUNDS=5]; needs ./build.sh to have built the runtime.
set -eu
cd "$(dirname "$0")/.."
megabytes=${1:-500} threads=${2:-2} rounds=${3:-5}
python=$(bench/peers.sh)
mkdir -p build/bench
file=build/bench/csv_$megabytes.csv
cc -O2 -o build/bench/csv_make bench/csv_make.c
ninja -C build --quiet csv_read >&2
[ -f "$file" ] || build/bench/csv_make "$file" "$megabytes"
cat "$file" >/dev/null # into the page cache

# One round reads with each in turn, so that noise of the machine meets all alike.
for _ in $(seq "$rounds"); do
  build/bench/csv_read "$file" "$threads" 3 2>/dev/null
  "$python" bench/csv_read.py "$file" "$threads" 1
done | awk '
  { times[$1] = times[$1] " " $2 }
  function median(text,  t, n, i, j, x) {
    n = split(text, t, " ")
    for (i = 2; i <= n; i++) for (j = i; j > 1 && t[j] + 0 < t[j - 1] + 0; j--) { x = t[j]; t[j] = t[j - 1]; t[j - 1] = x }
    return t[int((n + 1) / 2)]
  }
  END {
    flow = median(times["flow"])
    printf "flow   %.3f s\npolars %.3f s, %.2f times flow\nduckdb %.3f s, %.2f times flow\n", flow,
      median(times["polars"]), median(times["polars"]) / flow, median(times["duckdb"]), median(times["duckdb"]) / flow
  }'
