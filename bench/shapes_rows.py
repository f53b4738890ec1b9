"""shapes_rows.py: the table of bench/shapes: data of awkward shapes, and what is done with them in flow and in its peers.

DATA: for each shape a function that gives its tables and arrays by name, which flow and the peers all know by these names, and texts of
files by their names. ROWS: (operation, shape, flow, {peer: what it is there}[, "any"]); an operation whose rows have no order says "any". What always holds: the
answers are the same, as bench/shapes compares them. In flow an operation is a stage of the data; of DuckDB it is a query, of the others an expression: polars and
pandas know tables as their frames, numpy as dictionaries of columns. Data are the same in every run (seeds)."""
import gzip
import json

import numpy as np
import pyarrow as pa

WORDS = ["alpha", "beta", "gamma", "naïve", "Zürich", "日本語", "delta", "epsilon"]
LANDS = [f"{a}{b}" for a in ("North", "South", "New ", "Old ", "Upper ") for b in ("land", "mark", "burg", "stan", "wick", "shire", "ham", "ton", "dorf", "by")]


def nulls(rng, values, share):
    return pa.array(values, mask=rng.random(len(values)) < share)


def tall():
    r, n = np.random.default_rng(1), 2_000_000
    up = np.sort(r.random(n))
    day = np.datetime64("2020-01-01") + r.integers(0, 2000, n)
    t = pa.table({"k": r.integers(0, 100, n), "g": r.integers(0, n // 10, n), "x": r.random(n), "y": r.normal(size=n), "i": r.integers(-2**62, 2**62, n),
                  "up": up, "down": up[::-1].copy(), "day": pa.array(day)})
    dim = pa.table({"g": np.arange(0, n // 10, 2), "name": r.random(n // 20)})
    return {"t": t, "dim": dim}


def large():
    return {"v": np.random.default_rng(2).random(10_000_000)}


def wide():
    r, n = np.random.default_rng(3), 20_000
    t = pa.table({"k": r.integers(0, 20, n), **{f"c{j:03}": r.random(n) for j in range(200)}})
    rows = r.permutation(200 * 1000)
    cells = pa.table({"row": rows // 1000, "name": pa.array([f"n{j:04}" for j in range(1000)]).take(pa.array(rows % 1000)), "x": r.random(len(rows))})
    return {"w": t, "cells": cells}


def texts():
    r, n = np.random.default_rng(4), 500_000
    words, lengths = np.array(WORDS, dtype=object), r.integers(1, 9, n)
    drawn, at = words[r.integers(0, len(words), lengths.sum())], np.concatenate([[0], np.cumsum(lengths)])
    s = [" ".join(drawn[a:b]) + str(k) for k, (a, b) in enumerate(zip(at, at[1:]))]
    key = r.permutation(n)
    numbers = r.integers(0, 1000, (n, 4))
    day = np.datetime64("2020-01-01") + r.integers(0, 2000, n)
    t = pa.table({"s": s, "land": pa.array(LANDS).take(pa.array(r.integers(0, len(LANDS), n))),
                  "long": [f"https://example.org/some/rather/long/path/to/the/document/{k:09}/index.html" for k in key],
                  "list": [",".join(map(str, q[:c])) for q, c in zip(numbers.tolist(), r.integers(1, 5, n).tolist())],
                  "day": day.astype(str).tolist(), "number": [f"{q:.4f}" for q in r.normal(size=n) * 100], "x": r.random(n)})
    return {"t": t, "other": pa.table({"long": t["long"].take(pa.array(r.permutation(n)[:n // 2])), "y": r.random(n // 2)})}


def nulled():
    r, n = np.random.default_rng(5), 2_000_000
    return {"t": pa.table({"k": nulls(r, r.integers(0, 1000, n), 0.1), "x": nulls(r, r.random(n), 0.5), "y": nulls(r, r.random(n), 0.05),
                           "i": nulls(r, r.integers(0, 50, n), 0.5), "rare": nulls(r, r.random(n), 0.99)})}


def skewed():
    r, n = np.random.default_rng(6), 2_000_000
    k = np.minimum(r.zipf(1.3, n), 1_000_000)
    few = pa.array([f"kind {q}" for q in range(1000)])
    return {"t": pa.table({"k": k, "most": np.where(r.random(n) < 0.95, 0, r.integers(0, 100_000, n)), "x": r.random(n),
                           "s": few.take(pa.array(np.minimum(k, 999)))}),
            "dim": pa.table({"k": np.arange(1, 1_000_001), "z": r.random(1_000_000)})}


def tiny():
    r = np.random.default_rng(7)
    return {"t": pa.table({"k": np.arange(20) % 4, "x": r.random(20)}), "m": r.random((100_000, 4, 4)), "b": r.random((100_000, 4)),
            "g": pa.table({"k": np.sort(r.integers(0, 300_000, 1_000_000)), "x": r.random(1_000_000)})}


def nested():
    r = np.random.default_rng(8)
    return {"a": r.random((3, 3_000_000)), "b": r.random((100, 100, 500)), "m": r.random((2000, 2000)), "p": r.random((1000, 30, 30)), "f": r.random((1000, 1024))}


def files():
    r, n = np.random.default_rng(9), 200_000
    k, x, s = r.integers(0, 1000, n).tolist(), np.round(r.random(n) + 0.5, 6).tolist(), [WORDS[j] for j in r.integers(0, len(WORDS), n)]
    flat = "".join(json.dumps({"k": a, "x": b, "s": c, "ok": a % 2 == 0}, ensure_ascii=False) + "\n" for a, b, c in zip(k, x, s))
    deep = "".join(json.dumps({"k": a, "at": {"x": b, "who": {"s": c}}}, ensure_ascii=False, separators=(",", ":")) + "\n" for a, b, c in zip(k, x, s))
    lines = "k,x,s,u,v,w\n" + "".join(f"{a},{b},{c},{b * 3:.4f},{a * 7},{c} {a}\n" for a, b, c in zip(k, x, s)) * 3
    flat, deep, lines = flat.encode(), deep.encode(), lines.encode()
    return {"flat.jsonl": flat, "deep.jsonl": deep, "lines.csv": lines, "lines.csv.gz": gzip.compress(lines, 6), "t": pa.table({"k": k, "x": x, "s": s})}


DATA = {f.__name__: f for f in (tall, large, wide, texts, nulled, skewed, tiny, nested, files)}
C = [f"c{j:03}" for j in range(200)]

ROWS = [
    # -- tall: two million rows --
    ("sort of f64", "tall", "sort(t.x)", {"numpy": "np.sort(t['x'])", "polars": "t['x'].sort()", "duckdb": "select x from t order by x"}),
    ("sort of i64", "tall", "sort(t.i)", {"numpy": "np.sort(t['i'])", "polars": "t['i'].sort()", "duckdb": "select i from t order by i"}),
    ("sort of what is sorted", "tall", "sort(t.up)", {"numpy": "np.sort(t['up'])", "polars": "t['up'].sort()", "duckdb": "select up from t order by up"}),
    ("sort of what goes down", "tall", "sort(t.down)", {"numpy": "np.sort(t['down'])", "polars": "t['down'].sort()", "duckdb": "select down from t order by down"}),
    ("order of f64", "tall", "argsort(t.x)", {"numpy": "np.argsort(t['x'], stable=True)", "polars": "t['x'].arg_sort()"}),
    ("sort of 10^7 f64", "large", "sort(v)", {"numpy": "np.sort(v)"}),
    ("median of 10^7 f64", "large", "median(v)", {"numpy": "np.median(v)"}),
    ("sort by two keys", "tall", "t |> select(k, x, y) |> sort(k, x)",
     {"polars": "t.select('k', 'x', 'y').sort('k', 'x')", "duckdb": "select k, x, y from t order by k, x", "pandas": "t[['k', 'x', 'y']].sort_values(['k', 'x'])"}),
    ("the largest 100", "tall", "t |> top(100, by = x)",
     {"polars": "t.top_k(100, by='x')", "duckdb": "select * from t order by x desc limit 100", "pandas": "t.nlargest(100, 'x')"}),
    ("sum by 100 keys", "tall", "t |> group_by(k) |> summarize(s = sum(x), m = max(y))",
     {"polars": "t.group_by('k').agg(s=pl.col('x').sum(), m=pl.col('y').max())", "duckdb": "select k, sum(x) s, max(y) m from t group by k",
      "pandas": "t.groupby('k').agg(s=('x', 'sum'), m=('y', 'max')).reset_index()"}, "any"),
    ("mean by 200,000 keys", "tall", "t |> group_by(g) |> summarize(s = mean(x), n = count())",
     {"polars": "t.group_by('g').agg(s=pl.col('x').mean(), n=pl.len())", "duckdb": "select g, avg(x) s, count(*) n from t group by g",
      "pandas": "t.groupby('g').agg(s=('x', 'mean'), n=('x', 'size')).reset_index()"}, "any"),
    ("median by 100 keys", "tall", "t |> group_by(k) |> summarize(s = median(x))",
     {"polars": "t.group_by('k').agg(pl.col('x').median())", "duckdb": "select k, median(x) from t group by k", "pandas": "t.groupby('k')['x'].median().reset_index()"}, "any"),
    ("how many different", "tall", "n_distinct(t.g)", {"polars": "t['g'].n_unique()", "duckdb": "select count(distinct g) from t", "pandas": "t['g'].nunique()"}),
    ("different pairs", "tall", "t |> select(k, g) |> distinct(k, g)",
     {"polars": "t.select('k', 'g').unique()", "duckdb": "select distinct k, g from t", "pandas": "t[['k', 'g']].drop_duplicates()"}, "any"),
    ("half of the rows", "tall", "t |> where(x > 0.5)", {"polars": "t.filter(pl.col('x') > 0.5)", "duckdb": "select * from t where x > 0.5", "pandas": "t[t['x'] > 0.5]"}),
    ("nearly all rows", "tall", "t |> where(x > 0.02)", {"polars": "t.filter(pl.col('x') > 0.02)", "duckdb": "select * from t where x > 0.02", "pandas": "t[t['x'] > 0.02]"}),
    ("join with 100,000 rows", "tall", "t |> select(g, x) |> join(dim, on = g)",
     {"polars": "t.select('g', 'x').join(dim, on='g', maintain_order='left')", "duckdb": "select t.g, x, name from t join dim using (g)", "pandas": "t[['g', 'x']].merge(dim, on='g')"}, "any"),
    ("rows without a match", "tall", 't |> select(g, x) |> join(dim, on = g, how = "anti")',
     {"polars": "t.select('g', 'x').join(dim, on='g', how='anti')", "duckdb": "select g, x from t anti join dim using (g)"}, "any"),
    ("arithmetic and a sum", "tall", "sum(sqrt(t.x^2 + t.y^2) * exp(-t.x))",
     {"numpy": "np.sum(np.sqrt(t['x']**2 + t['y']**2) * np.exp(-t['x']))", "polars": "t.select((((pl.col('x')**2 + pl.col('y')**2).sqrt()) * (-pl.col('x')).exp()).sum()).item()",
      "duckdb": "select sum(sqrt(x * x + y * y) * exp(-x)) from t"}),
    ("correlation", "tall", "corr(t.x, t.y)", {"numpy": "np.corrcoef(t['x'], t['y'])[0, 1]", "polars": "t.select(pl.corr('x', 'y')).item()", "duckdb": "select corr(x, y) from t"}),
    ("running sum", "tall", "(t |> derive(z = cumsum(x))).z", {"numpy": "np.cumsum(t['x'])", "polars": "t['x'].cum_sum()"}),
    ("rolling mean of 100", "tall", "(t |> derive(z = rolling(x, 100, mean))).z",
     {"polars": "t['x'].rolling_mean(100)", "pandas": "t['x'].rolling(100).mean()"}),
    ("rolling function of the user", "tall", "(t |> derive(z = rolling(x, 10, v => max(v) - min(v)))).z",
     {"polars": "t['x'].rolling_max(10) - t['x'].rolling_min(10)", "pandas": "t['x'].rolling(10).max() - t['x'].rolling(10).min()"}),
    ("rolling weights", "tall", "(t |> derive(z = rolling(x, 4, v => 0.1 * v[0] + 0.2 * v[1] + 0.3 * v[2] + 0.4 * v[3]))).z",
     {"polars": "t['x'].rolling_mean(4, weights=[0.1, 0.2, 0.3, 0.4])", "numpy": "np.concatenate([np.full(3, np.nan), np.convolve(t['x'], [0.4, 0.3, 0.2, 0.1], 'valid')])"}),
    ("change within groups", "tall", "(t |> derive(by = k, z = x - lag(x))).z",
     {"polars": "t.select((pl.col('x') - pl.col('x').shift(1)).over('k')).to_series()", "pandas": "t.groupby('k')['x'].diff()"}),
    ("rank", "tall", '(t |> derive(z = rank(x, method = "min"))).z', {"polars": "t['x'].rank('min')", "pandas": "t['x'].rank(method='min')"}),
    ("sum by month", "tall", 't |> derive(m = date_trunc("month", day)) |> group_by(m) |> summarize(s = sum(x))',
     {"polars": "t.group_by(m=pl.col('day').dt.truncate('1mo')).agg(pl.col('x').sum())", "duckdb": "select date_trunc('month', day) m, sum(x) from t group by m"}, "any"),
    ("scores within groups", "tall", "(t |> derive(by = k, z = (x - mean(x)) / std(x))).z",
     {"polars": "t.select(((pl.col('x') - pl.col('x').mean()) / pl.col('x').std()).over('k')).to_series()", "duckdb": "select (x - avg(x) over (partition by k)) / stddev_samp(x) over (partition by k) from t"}),
    ("five figures by 100 keys", "tall", "t |> group_by(k) |> summarize(n = count(), m = mean(x), s = std(x), a = min(y), b = max(y))",
     {"polars": "t.group_by('k').agg(n=pl.len(), m=pl.col('x').mean(), s=pl.col('x').std(), a=pl.col('y').min(), b=pl.col('y').max())", "duckdb": "select k, count(*) n, avg(x) m, stddev_samp(x) s, min(y) a, max(y) b from t group by k"}, "any"),
    ("three quantiles", "tall", "[quantile(t.x, 0.1), quantile(t.x, 0.5), quantile(t.x, 0.9)]", {"numpy": "np.quantile(t['x'], [0.1, 0.5, 0.9])"}),
    ("counts by year and month", "tall", "t |> derive(a = year(day), m = month(day)) |> group_by(a, m) |> summarize(n = count(), s = sum(x))",
     {"polars": "t.group_by(a=pl.col('day').dt.year().cast(pl.Int64), m=pl.col('day').dt.month().cast(pl.Int64)).agg(n=pl.len(), s=pl.col('x').sum())", "duckdb": "select year(day) a, month(day) m, count(*) n, sum(x) s from t group by a, m"}, "any"),
    ("one of three", "tall", "[for r in t: if r.x > 0.5 { r.y } else if r.x > 0.2 { 0 } else { -r.y }]",
     {"polars": "t.select(pl.when(pl.col('x') > 0.5).then('y').when(pl.col('x') > 0.2).then(0.0).otherwise(-pl.col('y'))).to_series()", "numpy": "np.where(t['x'] > 0.5, t['y'], np.where(t['x'] > 0.2, 0.0, -t['y']))"}),
    ("histogram of 50", "tall", "t |> derive(b = floor(x * 50)) |> group_by(b) |> summarize(n = count())",
     {"polars": "t.group_by(b=(pl.col('x') * 50).floor()).agg(n=pl.len())", "duckdb": "select floor(x * 50) b, count(*) n from t group by b"}, "any"),
    ("first and last by key", "tall", "t |> group_by(g) |> summarize(a = first(x), b = last(x))",
     {"polars": "t.group_by('g').agg(a=pl.col('x').first(), b=pl.col('x').last())", "pandas": "t.groupby('g')['x'].agg(['first', 'last']).reset_index()"}, "any"),
    ("joined by two keys", "tall", "t |> select(k, g, x) |> join(t |> distinct(k, g) |> select(k, g, y), on = (k, g)) |> summarize(s = sum(x * y), n = count())",
     {"polars": "t.select('k', 'g', 'x').join(t.unique(['k', 'g'], keep='first').select('k', 'g', 'y'), on=['k', 'g']).select(s=(pl.col('x') * pl.col('y')).sum(), n=pl.len())"}),
    ("share of the group", "tall", "(t |> derive(by = g, z = x / sum(x))).z", {"polars": "t.select(pl.col('x') / pl.col('x').sum().over('g')).to_series()", "pandas": "t['x'] / t.groupby('g')['x'].transform('sum')"}),
    ("rows numbered within groups", "tall", "(t |> derive(by = k, z = row_number() + 1)).z", {"polars": "t.select(pl.int_range(1, pl.len() + 1).over('k')).to_series()", "pandas": "t.groupby('k').cumcount() + 1"}),
    ("five tables below each other", "tall", "concat(t, t, t, t, t) |> group_by(k) |> summarize(s = sum(x), m = max(y))",
     {"polars": "pl.concat([t, t, t, t, t]).group_by('k').agg(s=pl.col('x').sum(), m=pl.col('y').max())", "pandas": "pd.concat([t, t, t, t, t]).groupby('k').agg(s=('x', 'sum'), m=('y', 'max')).reset_index()"}, "any"),
    ("texts cleaned", "texts", 'replace(lower(trim(t.s)), " ", "_")', {"polars": "t['s'].str.strip_chars().str.to_lowercase().str.replace_all(' ', '_', literal=True)", "duckdb": "select replace(lower(trim(s)), ' ', '_') from t"}),
    ("ten commonest", "texts", "t |> value_counts(land) |> top(10, by = (count, land))", {"duckdb": "select land, count(*) n from t group by land order by n desc, land desc limit 10", "polars": "t['land'].value_counts(name='n').sort(['n', 'land'], descending=True).head(10)"}),
    ("texts of dates", "texts", 'format(parse_date(t.day), "%d.%m.%Y")', {"polars": "t['day'].str.to_date('%Y-%m-%d').dt.strftime('%d.%m.%Y')", "duckdb": "select strftime(day::date, '%d.%m.%Y') from t"}),
    ("different texts", "texts", "n_distinct(t.s)", {"polars": "t['s'].n_unique()", "duckdb": "select count(distinct s) from t"}),
    ("texts joined by group", "texts", 't |> group_by(land) |> summarize(s = join_text(slice(s, 0, 3), ","))', {"polars": "t.group_by('land', maintain_order=True).agg(pl.col('s').str.slice(0, 3).str.join(','))"}, "any"),
    # -- wide: 200 columns; 200,000 cells of a table with 1,000 columns --
    ("sums of 200 columns", "wide", "w |> drop(k) |> summarize(each(all(), sum))", {"polars": "w.drop('k').sum()", "duckdb": "select sum(columns(* exclude (k))) from w", "pandas": "w.drop(columns='k').sum().to_frame().T"}),
    ("sums of rows", "wide", "sum(matrix(w, except = k), axis = 1)",
     {"polars": "w.drop('k').sum_horizontal()", "pandas": "w.drop(columns='k').sum(axis=1)"}),
    ("half of the rows of 200 columns", "wide", "w |> where(c000 > 0.5)", {"polars": "w.filter(pl.col('c000') > 0.5)", "duckdb": "select * from w where c000 > 0.5", "pandas": "w[w['c000'] > 0.5]"}),
    ("200 columns sorted by one", "wide", "w |> sort(c000)", {"polars": "w.sort('c000')", "duckdb": "select * from w order by c000", "pandas": "w.sort_values('c000')"}),
    ("200 columns centred", "wide", "w |> derive(each(except(k), x => x - mean(x)))",
     {"polars": "w.with_columns(pl.exclude('k') - pl.exclude('k').mean())", "pandas": "w.assign(**(w.drop(columns='k') - w.drop(columns='k').mean()))"}),
    ("means of 200 columns by 20 keys", "wide", "w |> group_by(k) |> summarize(each(all(), mean))",
     {"polars": "w.group_by('k').mean()", "duckdb": "select k, avg(columns(* exclude (k))) from w group by k", "pandas": "w.groupby('k').mean().reset_index()"}, "any"),
    ("columns become rows", "wide", 'w |> unpivot(except(k), name = c, value = x) |> select(k, x)',
     {"polars": "w.unpivot(index='k').select('k', 'value')", "duckdb": "select k, x from (unpivot w on columns(* exclude (k)) into name c value x)"}, "any"),
    ("rows become 1,000 columns", "wide", f"cells |> pivot(name = name, value = x, into = ({', '.join(f'n{j:04}' for j in range(1000))}))",
     {"polars": "cells.pivot('name', index='row', values='x', sort_columns=True).sort('row')", "pandas": "cells.pivot(index='row', columns='name', values='x').reset_index()"}),
    # -- texts: half a million of 4 to 70 characters of one to three bytes --
    ("characters", "texts", "sum(n_chars(t.s))", {"polars": "t['s'].str.len_chars().sum()", "duckdb": "select sum(length(s)) from t"}),
    ("characters of slices", "texts", "sum(n_chars(slice(t.s, 0, 3)))", {"polars": "t['s'].str.slice(0, 3).str.len_chars().sum()", "duckdb": "select sum(length(substring(s, 1, 3))) from t"}),
    ("slices", "texts", "slice(t.s, 2, 12)", {"polars": "t['s'].str.slice(2, 10)", "duckdb": "select substring(s, 3, 10) from t"}),
    ("upper case", "texts", "upper(t.s)", {"polars": "t['s'].str.to_uppercase()", "duckdb": "select upper(s) from t"}),
    ("texts with a part", "texts", 'sum(for s in t.s: if contains(s, "Zürich d") { 1 } else { 0 })',
     {"polars": "t['s'].str.contains('Zürich d', literal=True).sum()", "duckdb": "select count(*) from t where contains(s, 'Zürich d')"}),
    ("rows with a part", "texts", 't |> where(contains(s, "gamma")) |> select(s, x)',
     {"polars": "t.lazy().filter(pl.col('s').str.contains('gamma', literal=True)).select('s', 'x').collect()", "duckdb": "select s, x from t where contains(s, 'gamma')"}),
    ("parts replaced", "texts", 'replace(t.s, "delta", "d")', {"polars": "t['s'].str.replace_all('delta', 'd', literal=True)", "duckdb": "select replace(s, 'delta', 'd') from t"}),
    ("a pattern", "texts", r't |> where(matches(s, r"a\d+7$")) |> select(s)', {"polars": r"t.lazy().filter(pl.col('s').str.contains(r'a\d+7$')).select('s').collect()", "duckdb": r"select s from t where regexp_matches(s, 'a\d+7$')"}),
    ("first match", "texts", r'[for s in t.s: extract(s, r"(\d+)")]', {"polars": r"t['s'].str.extract(r'(\d+)')", "duckdb": r"select regexp_extract(s, '(\d+)', 1) from t"}),
    ("how many matches", "texts", r'[for s in t.list: len(extract_all(s, r"\d+"))]', {"polars": r"t['list'].str.extract_all(r'\d+').list.len()", "duckdb": r"select len(regexp_extract_all(list, '\d+')) from t"}),
    ("how many pieces", "texts", '[for s in t.list: len(split_text(s, ","))]', {"polars": "t['list'].str.split(',').list.len()", "duckdb": "select len(string_split(list, ',')) from t"}),
    ("first piece", "texts", 'split_part(t.list, ",", 0)', {"polars": "t['list'].str.split(',').list.first()", "duckdb": "select split_part(list, ',', 1) from t"}),
    ("white space off", "texts", 'trim(t.land)', {"polars": "t['land'].str.strip_chars()", "duckdb": "select trim(land) from t"}),
    ("texts put together", "texts", '[for r in t: r.land + ": " + r.s]', {"polars": "t['land'] + ': ' + t['s']", "duckdb": "select land || ': ' || s from t"}),
    ("dates read", "texts", "parse_date(t.day)", {"polars": "t['day'].str.to_date('%Y-%m-%d')", "duckdb": "select day::date from t"}),
    ("numbers read", "texts", "parse_f64(t.number)", {"polars": "t['number'].cast(pl.Float64)", "duckdb": "select number::double from t"}),
    ("sum by 50 texts", "texts", "t |> group_by(land) |> summarize(s = sum(x))", {"polars": "t.group_by('land').agg(pl.col('x').sum())", "duckdb": "select land, sum(x) from t group by land"}, "any"),
    ("sum by half a million long texts", "texts", "t |> group_by(long) |> summarize(s = sum(x))",
     {"polars": "t.group_by('long').agg(pl.col('x').sum())", "duckdb": "select long, sum(x) from t group by long"}, "any"),
    ("sort of texts", "texts", "sort(t.s)", {"polars": "t['s'].sort()", "duckdb": "select s from t order by s"}),
    ("join by long texts", "texts", "t |> select(long, x) |> join(other, on = long)",
     {"polars": "t.select('long', 'x').join(other, on='long', maintain_order='left')", "duckdb": "select t.long, x, y from t join other using (long)"}, "any"),
    ("rows of some texts", "texts", 't |> where(land in ["Northland", "Old ham", "Upper by"]) |> select(land, x)',
     {"polars": "t.lazy().filter(pl.col('land').is_in(['Northland', 'Old ham', 'Upper by'])).select('land', 'x').collect()", "duckdb": "select land, x from t where land in ('Northland', 'Old ham', 'Upper by')"}),
    # -- nulls: half of two million values, some, nearly all --
    ("mean of what is half null", "nulled", "mean(t.x)", {"polars": "t['x'].mean()", "duckdb": "select avg(x) from t", "pandas": "t['x'].mean()"}),
    ("sum by keys with nulls", "nulled", "t |> group_by(k) |> summarize(s = sum(x), n = count(y))",
     {"polars": "t.group_by('k').agg(s=pl.col('x').sum(), n=pl.col('y').count())", "duckdb": "select k, coalesce(sum(x), 0) s, count(y) n from t group by k"}, "any"),
    ("rows without null", "nulled", "t |> drop_null(x, i)", {"polars": "t.drop_nulls(['x', 'i'])", "duckdb": "select * from t where x is not null and i is not null", "pandas": "t.dropna(subset=['x', 'i'])"}),
    ("nulls filled", "nulled", "(t |> fill_null(x = 0)).x", {"polars": "t['x'].fill_null(0.0)", "duckdb": "select coalesce(x, 0) from t", "pandas": "t['x'].fillna(0.0)"}),
    ("nulls filled from above", "nulled", "(t |> fill_down(rare)).rare", {"polars": "t['rare'].forward_fill()", "pandas": "t['rare'].ffill()"}),
    ("the first that is there", "nulled", "[for r in t: r.rare ?? r.x ?? r.y]", {"polars": "t.select(pl.coalesce('rare', 'x', 'y')).to_series()", "duckdb": "select coalesce(rare, x, y) from t"}),
    ("sort with nulls", "nulled", "t |> select(x, y) |> sort(x)", {"polars": "t.select('x', 'y').sort('x', nulls_last=True, maintain_order=True)", "pandas": "t[['x', 'y']].sort_values('x', kind='stable')"}),
    ("sums and products of nulls", "nulled", "sum(t.x * t.y)", {"polars": "t.select((pl.col('x') * pl.col('y')).sum()).item()", "duckdb": "select sum(x * y) from t"}),
    ("nulls by key", "nulled", "t |> group_by(i) |> summarize(n = count(is_null(x)), d = n_distinct(k))",
     {"polars": "t.group_by('i').agg(n=pl.col('x').null_count(), d=pl.col('k').drop_nulls().n_unique())", "duckdb": "select i, count(*) - count(x) n, count(distinct k) d from t group by i"}, "any"),
    # -- skewed: Zipf's keys, and one key of 95% of two million rows --
    ("sum by Zipf's keys", "skewed", "t |> group_by(k) |> summarize(s = sum(x))", {"polars": "t.group_by('k').agg(pl.col('x').sum())", "duckdb": "select k, sum(x) from t group by k"}, "any"),
    ("median where one key is most", "skewed", "t |> group_by(most) |> summarize(s = median(x))", {"polars": "t.group_by('most').agg(pl.col('x').median())", "duckdb": "select most, median(x) from t group by most"}, "any"),
    ("join by Zipf's keys", "skewed", "t |> select(k, x) |> join(dim, on = k)", {"polars": "t.select('k', 'x').join(dim, on='k', maintain_order='left')", "duckdb": "select t.k, x, z from t join dim using (k)"}, "any"),
    ("two largest of each key", "skewed", "t |> select(most, x) |> group_by(most) |> top(2, by = x) |> ungroup",
     {"polars": "t.group_by('most').agg(pl.col('x').top_k(2)).explode('x')", "duckdb": "select most, x from (select most, x, row_number() over (partition by most order by x desc) q from t) where q <= 2"}, "any"),
    ("counts of skewed texts", "skewed", "t |> value_counts(s)", {"polars": "t['s'].value_counts()", "duckdb": "select s, count(*) from t group by s"}, "any"),
    ("ranks within skewed keys", "skewed", '(t |> derive(by = most, z = rank(x, method = "min"))).z', {"polars": "t.select(pl.col('x').rank('min').over('most')).to_series()", "pandas": "t.groupby('most')['x'].rank(method='min')"}),
    # -- tiny: many small tables, groups and matrices --
    ("1,000 tables of 20 rows", "tiny", "[for j in 0..1000: sum((t |> where(x > j / 1000) |> group_by(k) |> summarize(s = max(x))).s)]",
     {"polars": "np.array([t.filter(pl.col('x') > j / 1000).group_by('k').agg(pl.col('x').max())['x'].sum() for j in range(1000)])"}),
    ("300,000 groups of 3 rows", "tiny", "g |> group_by(k) |> summarize(s = sum(x), sd = max(x) - min(x))",
     {"polars": "g.group_by('k').agg(s=pl.col('x').sum(), sd=pl.col('x').max() - pl.col('x').min())", "duckdb": "select k, sum(x), max(x) - min(x) from g group by k"}, "any"),
    ("100,000 determinants", "tiny", "[for q in m: det(q)]", {"numpy": "np.linalg.det(m)"}),
    ("100,000 systems of 4", "tiny", "solve(m, b)", {"numpy": "np.linalg.solve(m, b[:, :, None])[:, :, 0]"}),
    ("100,000 inverses", "tiny", "inv(m)", {"numpy": "np.linalg.inv(m)"}),
    ("100,000 products", "tiny", "m @ m", {"numpy": "m @ m"}),
    # -- nested: arrays of two and three dimensions --
    ("sum(axis = 0) of [3, 3 10^6]", "nested", "sum(a, axis = 0)", {"numpy": "a.sum(axis=0)"}),
    ("sum(axis = 1) of [3, 3 10^6]", "nested", "sum(a, axis = 1)", {"numpy": "a.sum(axis=1)"}),
    ("sum(axis = 1) of [100, 100, 500]", "nested", "sum(b, axis = 1)", {"numpy": "b.sum(axis=1)"}),
    ("sum(axis = 2) of [100, 100, 500]", "nested", "sum(b, axis = 2)", {"numpy": "b.sum(axis=2)"}),
    ("max(axis = 0) of 2000 x 2000", "nested", "max(m, axis = 0)", {"numpy": "m.max(axis=0)"}),
    ("std(axis = 0) of 2000 x 2000", "nested", "std(m, axis = 0, ddof = 0)", {"numpy": "m.std(axis=0)"}),
    ("argmax(axis = 1) of 2000 x 2000", "nested", "argmax(m, axis = 1)", {"numpy": "m.argmax(axis=1)"}),
    ("rows sorted, 2000 x 2000", "nested", "stack([for q in m: sort(q)])", {"numpy": "np.sort(m, axis=1)"}),
    ("rows and columns swapped", "nested", "m'", {"numpy": "np.ascontiguousarray(m.T)"}),
    ("columns normed", "nested", "(m - mean(m, axis = 0)) / std(m, axis = 0, ddof = 0)", {"numpy": "(m - m.mean(axis=0)) / m.std(axis=0)"}),
    ("1,000 products of 30 x 30", "nested", "p @ p", {"numpy": "p @ p"}),
    ("1,000 transforms of 1,024", "nested", "rfft(f).re", {"numpy": "np.fft.rfft(f).real"}),
    ("rows above a limit", "nested", "m[m[:, 0] > 0.5]", {"numpy": "m[m[:, 0] > 0.5]"}),
    # -- files: of two hundred thousand rows, and of six --
    ("JSON lines", "files", 'read_jsonl("flat.jsonl")', {"polars": "pl.read_ndjson('flat.jsonl')", "duckdb": "select * from read_json('flat.jsonl')"}),
    ("nested JSON lines", "files", 'read_jsonl("deep.jsonl")',
     {"duckdb": "select * from read_json('deep.jsonl', columns = {'k': 'bigint', 'at': 'json'})"}),
    ("CSV", "files", 'read_csv("lines.csv")', {"polars": "pl.read_csv('lines.csv')", "duckdb": "select * from read_csv('lines.csv')"}),
    ("CSV compressed", "files", 'read_csv("lines.csv.gz")', {"polars": "pl.read_csv('lines.csv.gz')", "duckdb": "select * from read_csv('lines.csv.gz')"}),
]
