/* part.h: the bulk operators of ir/ops.def on arrays and tables.
 *
 * Every fl_rt_<name> is an FlRuntimeOp: args borrowed, results owned; on failure an error is recorded at
 * desc->site, a non-zero status is returned and no result is owned. `n` rows are dims[0] of an array. Errors
 * named INDEX, SHAPE, OVERFLOW, DOMAIN are faults (faults.def); E097x are rows of diag.def.
 *
 * What always holds: results depend on the arguments and attributes alone, never on the number of workers.
 * Columns that may be null come as values and bool validity, and the value under a null does not matter.
 * Texts of results point into the bytes of their sources, which are kept alive. Equality and order of keys
 * are LANGUAGE 4: null equals null, NaN equals NaN, -0.0 equals 0.0, texts compare by bytes. */
#ifndef FL_PART_H
#define FL_PART_H

#include "flow/abi.h"
#include "flow/aggregates.h"

/* ---- arrays ------------------------------------------------------------------------------------------- */

/* array, from, to -> a view of its leading rows [from, to). INDEX unless 0 <= from <= to <= n. */
FlRuntimeOp fl_rt_rows;
FlRuntimeOp fl_rt_row_part;
/* mask[n], arrays[n, ..] -> count of true, the kept rows of each array in order. SHAPE when n differs. */
FlRuntimeOp fl_rt_compress;
/* idx i64[m], arrays -> their rows idx[0..m). INDEX for the first number that is out of range of the first
 * array where one is; attribute i: FL_TAKE_OR_ZERO, FL_TAKE_PROVEN, FL_TAKE_LAST. */
FlRuntimeOp fl_rt_take;
/* The same, of arrays that fl_part_takes_to says yes of: their rows go to results[k].a, which are there. */
FlRuntimeOp fl_part_take_to;
bool fl_part_takes_to(const FlArray *from);
/* arrays of one type and rank -> joined along the leading dimension. SHAPE when other dimensions differ. */
FlRuntimeOp fl_rt_concat;
/* arrays -> the list of them. */
FlRuntimeOp fl_rt_list_of;
/* list -> its arrays joined as by concat; an empty list gives an array with all sizes 0. */
FlRuntimeOp fl_rt_list_concat;
/* list of arrays of one shape -> array of rank + 1. SHAPE when shapes differ; empty as list_concat. */
FlRuntimeOp fl_rt_list_stack;
/* array, sizes -> a view with those sizes. SHAPE when the number of elements differs. */
FlRuntimeOp fl_rt_reshape;
/* k arrays of n numbers -> [n, k], one column of each; which rows are made is the part's (FlOpPart). */
FlRuntimeOp fl_rt_beside;
/* [n, d] -> a new [d, n]; rank 1 is its own transpose. */
FlRuntimeOp fl_rt_transpose;

/* ---- linear algebra -------------------------------------------------------------------------------- */

/* Contracts the last dimension of the first array (rank 1 or 2) with the first of the second; attribute i:
 * bit 1 the first is read transposed, bit 2 the second. Two vectors give a scalar. SHAPE when the sizes
 * differ. floats, a vector among them: each element is sum(for p: a[p] * b[p]) in the language's order,
 * products fused; floats, two matrices: OpenBLAS on tiles that the logical sizes fix (linalg_blas.c);
 *   integers: exact; OVERFLOW when an element does not fit its type. */
FlRuntimeOp fl_rt_matmul;
/* c[m, n], and x, y as of matmul, f64 or f32 -> c + x @ y, [m, n], in the place of c where attribute i says
 * that nobody reads it (FL_MATMUL_LAST). How both are added is part of the algorithm that the sizes fix.
 * SHAPE. */
FlRuntimeOp fl_rt_matmul_add;
/* a[n, n], b[n] or b[n, m], f64 or f32 -> x with a @ x = b, by LU with partial pivoting (LAPACK gesv). SHAPE;
 * E0970 when a pivot is exactly zero. Of a[k, n, n] and b[k, n] or b[k, n, m]: k systems side by side. */
FlRuntimeOp fl_rt_solve;
/* a[k, n, m], b[k, m, p], f64 or f32 -> the k products, [k, n, p]. SHAPE. */
FlRuntimeOp fl_rt_linalg_products;
/* The decompositions take matrices of f64 or f32 and give the same type; E0977 for NaN or infinity in them.
 * Attribute s: the function's name, for messages. a[n, n] -> the lower factor l, a = l @ l'. E0978 unless
 * symmetric, E0976 unless positive definite. */
FlRuntimeOp fl_rt_linalg_cholesky;
/* a[m, n], k = min(m, n) -> q[m, k], r[k, n]; the diagonal of r is not negative. */
FlRuntimeOp fl_rt_linalg_qr;
/* a[m, n] -> u[m, k], s[k] descending, vt[k, n]; attribute i = 1: s alone. */
FlRuntimeOp fl_rt_linalg_svd;
/* a[n, n] -> values ascending [n], vectors in columns [n, n]. E0978 unless symmetric. */
FlRuntimeOp fl_rt_linalg_eigh;
/* a[n, n] -> values, real and imaginary parts [n]; vectors in columns, the same [n, n]. */
FlRuntimeOp fl_rt_linalg_eig;
/* a[m, n], b[m] or b[m, p], share of the largest singular value that counts as zero (negative: the default)
 * -> the shortest x with the least |a @ x - b|, the rank, the singular values. SHAPE. */
FlRuntimeOp fl_rt_linalg_lstsq;
/* a[m, n], the same share -> the pseudo-inverse [n, m]. */
FlRuntimeOp fl_rt_linalg_pinv;
/* a[n, n] -> its determinant, a scalar; a[k, n, n] -> those of each [n, n], an array of k: the same bits and
 * errors (opt/batch.c). */
FlRuntimeOp fl_rt_linalg_det;

/* ---- Fourier transforms along the last axis, rows in parallel ---------------------------------------- */

/* x, or re and im of one shape, f64 or f32 (computed in f64) -> re and im of the transform, sum over j of
 * x[j] e^(-2 pi i j k / n). Attribute i = 1: of the backward one, with e^(+..), divided by n. SHAPE; EMPTY
 * when n is 0. */
FlRuntimeOp fl_rt_fft;
/* x[.., n] -> re and im of the first n / 2 + 1, of which the others are the conjugates. EMPTY. */
FlRuntimeOp fl_rt_rfft;
/* re and im [.., n / 2 + 1], n -> the x[.., n] that has this rfft; the imaginary parts of those that are
 * their own conjugates do not matter. SHAPE when n / 2 + 1 is another number; EMPTY when n is below 1. */
FlRuntimeOp fl_rt_irfft;

/* ---- random rows (Philox; sample.c defines the bits) ----------------------------------------------- */

/* seed, n -> a permutation of 0..n. DOMAIN for negative n. */
FlRuntimeOp fl_rt_permutation;
/* seed, n, k -> k different rows of n, the first k of a permutation of its own stream; attribute i = 1: k
 * rows with replacement. DOMAIN for negative sizes, E0973 when there are too few rows. */
FlRuntimeOp fl_rt_choice;
/* n, fraction, seed [, stratum i64[n]] -> rows of train and of test, ascending. Of each stratum (all rows
 * without) fraction times its size, rounded half to even, goes to train. DOMAIN unless 0 <= fraction <= 1. */
FlRuntimeOp fl_rt_split_rows;
/* n, k, seed [, stratum i64[n]] -> lists of k: train and test rows, ascending. Every row is in one test;
 * sizes of tests differ by at most one, overall and for each stratum. E0974 unless 2 <= k <= n. */
FlRuntimeOp fl_rt_kfold_rows;

/* groups g, group i64[n], parts k, share, seed [, stratum i64[n]] -> the part of each row, i64[n], one for
 * all rows of a group (group_parts.c says which). Two parts of which the first has the share of the rows:
 * DOMAIN unless 0 <= share <= 1; attribute i = 1: k parts of equal shares, E0974 unless 2 <= k <= g. With
 * strata shares are of each stratum's rows. */
FlRuntimeOp fl_rt_group_parts;

/* ---- labels ------------------------------------------------------------------------------------------- */

/* x[n] or x[n, d], label i64[n], k -> sums of the rows of each label, [k] or [k, d]. Floats in an order that
 * n, k and d fix (segment.c); integers exact, OVERFLOW when one does not fit. INDEX for the first label
 * outside 0..k. */
FlRuntimeOp fl_rt_segment_sum;
/* label i64[n], k -> rows of each label, i64[k]. INDEX likewise. */
FlRuntimeOp fl_rt_segment_count;
/* x f64[n, d], centers f64[k, d] -> the nearest center of each row i64[n], the first of equals, its squared
 * distance f64[n]; sums f64[k, d] and number i64[k] of the rows of each center, in an order that n, k and d
 * fix (nearest.c). DOMAIN without centers. */
FlRuntimeOp fl_rt_nearest;
/* The same after the centers moved: x, centers, the centers before, the labels then i64[n], gaps f64[n] ->
 * labels, gaps, sums, numbers, and how many labels are other than before; labels and sums with the bits of
 * fl_rt_nearest. A gap is at most how much farther from the row every other center is than that of its label;
 * where it is 0 or less, or the label is none, the row is looked at. In place where nobody reads what came
 * in: attribute i, FL_NEAREST_LAST_LABEL, FL_NEAREST_LAST_GAP. */
FlRuntimeOp fl_rt_nearest_moved;

/* ---- tables ------------------------------------------------------------------------------------------- */

/* keys (columns: which go down) -> the rows in order, i64[n]. Stable; NaN, then null last in both
 * directions. */
FlRuntimeOp fl_rt_sort_perm;
FlRuntimeOp fl_rt_sort_values;
/* keys as sort_perm, then arrays -> the arrays' rows in that order (sort_rows.c). */
FlRuntimeOp fl_rt_sort_rows;
/* keys as group; of each aggregate its attr f and its columns; arrays -> whether they were made, groups, of
 * each aggregate its values and validities, the arrays' first rows of the groups (group_rows.c). */
FlRuntimeOp fl_rt_group_rows;
/* k, keys as sort_perm -> the first k rows in that order; attribute i = 1: the first key is the group of each
 * row (i64, from 0, without nulls), and it is the first k rows of each, by group. */
FlRuntimeOp fl_rt_top_rows;
/* keys -> groups g, group of each row i64[n], first row of each group i64[g]; groups by
 * ascending key, the leftmost first, NaN then null last. */
FlRuntimeOp fl_rt_group;
/* keys as group -> the first row of each group, ascending. */
FlRuntimeOp fl_rt_distinct;
/* left keys, right keys (columns: both; s: inner left right full semi anti) -> rows m, left row i64[m],
 * right row i64[m]. By left row, then right row, unmatched right rows last; -1: none. semi and anti give left
 * rows, with -1 on the right. A null key matches nothing. Attribute i, FL_JOIN_*: E0972 when a left row has
 * several matches; what the numbers may be where only `take` reads them. */
FlRuntimeOp fl_rt_join;
FlRuntimeOp fl_rt_join_range;
FlRuntimeOp fl_rt_join_rest;
/* keys (columns: these), none of them texts -> a set of them, for in_keys alone (key_set.c). */
FlRuntimeOp fl_rt_key_set; /* attribute i = 2: one column of any type, of which in_keys can then say all */
/* set, [mask bool[n] with attribute i = 1,] keys of n rows, of the set's types (columns) -> bool[n]: the row
 * is in the mask, and its keys may be among those of the set; it is wherever they are. None with a null key
 * is, but where most rows are. Attribute i = 2: set, x[n], the column that the set is of -> bool[n]: x is
 * equal to some value of it, as == says. */
FlRuntimeOp fl_rt_in_keys;
/* texts -> those that their codes stand for, where codes are known and few; else the texts themselves
 * (by_codes.c). */
FlRuntimeOp fl_rt_text_values;
/* a number or bool of each of these, the texts -> that of each text. */
FlRuntimeOp fl_rt_by_codes;

/* left, right: what the rows are ordered by, numbers or times of one type [, groups g,
 * group i64 of each left row, of each right row: attribute i has bit 4] [, the largest distance, f64 for
 * floats, else i64, microseconds for dates: bit 1] -> the right row of each left row, i64, -1 for none.
 * Attribute s: backward takes the last right row that is not after, forward the first that is not before,
 * nearest the nearer of both, backward when they are as near; bit 2: not those at the same place. Null and
 * NaN match nothing. DOMAIN for a distance below 0. */
FlRuntimeOp fl_rt_join_asof;
/* groups g, group of each row i64[n], its column i32[n], columns k [, numbers of the rows for messages]
 * (list: names of the columns) -> i64[k * g]: column by column the row of each group, -1 where there is none.
 * E0646 when a cell has two rows. */
FlRuntimeOp fl_rt_pivot_rows;

/* ---- windows: what a row gets from other rows of its group ------------------------------------------- */

/* g, group of each row i64[n] [, column] -> rows by group i64[n], where each group begins
 * i64[g + 1]. Within a group rows keep their order, or go by the column: ascending, stable, null last.
 * Attribute i = 1: all rows are one group; the group argument is only read for its length. */
FlRuntimeOp fl_rt_group_order;
/* g, group of each row i64[n], column -> value[n], 0 (empty) under null. Nulls are passed
 * over. Attribute i = 1: one group. Attribute s, each over the rows of the group up to the row itself:
 *   sum      floats: the exact sum, rounded once, f64; else exact, OVERFLOW at the first that does not fit
 *   product  floats: with twice the bits of f64 and any exponent, rounded to f64; else as sum
 *   min max  the first of equals; NaN wins
 *   count    without a column: how many rows of the group are before the row */
FlRuntimeOp fl_rt_running;
/* rows by group i64[n], group of each row i64[n], k -> of each row the row k positions on among those of its
 * group, -1 where there is none. */
FlRuntimeOp fl_rt_shift_rows;
/* rows by group and then by the column i64[n], group of each row i64[n], column -> rank[n],
 * from 1, 0 under null. Attribute i = 1: one group. Attribute s, what equal values get: average (f64), min,
 * max (i64) of their places; dense: one more than the next smaller value; first: each its own. */
FlRuntimeOp fl_rt_rank;
/* rows by group i64[n], where groups begin i64[g + 1] (as group_order gives them), width, least [, by], x
 * -> value[n], valid[n]: an aggregate of the window of each row. Attribute i: bit 1: one
 * group, rows in their order, and the first two arguments only have n rows; bit 2: `by` is there. The window
 * of a row are the last `width` rows of its group up to it; or those whose `by` is in (its own - width, its
 * own], where the rows of a group are ascending in it and a row without it has none; dates count in
 * microseconds. Nulls are passed over; a window with fewer than `least` values (count: rows) has no result.
 * Attribute s:
 *   sum mean     as the aggregates: exact sums, rounded once; OVERFLOW at the first that does not fit
 *   var std      as the aggregates; attribute f: ddof
 *   min max first last count any all   as the aggregates
 *   median quantile                    as the aggregates; attribute f: q, else DOMAIN */
FlRuntimeOp fl_rt_rolling;
/* As rolling, without x -> of each row where its window begins and ends among the rows by group; 0 and 0
 * where it has fewer than `least` rows. */
FlRuntimeOp fl_rt_rolling_bounds;

/* ---- categories: codes i32 are positions among levels text[k], each there once --------------------- */

/* texts, levels -> code of each text, 0 under null. LEVEL names the first row whose text is
 * no level; attribute i = 1: its code is -1 instead. LEVEL also for a level that is there twice. */
FlRuntimeOp fl_rt_encode_levels;
/* levels, text -> its code, -1 when it is none of them, and then the message that says so, else an empty
 * text. */
FlRuntimeOp fl_rt_level_code;
/* levels, levels -> whether they are the same in the same order, and if not how they differ. */
FlRuntimeOp fl_rt_same_levels;
/* names of columns that are wanted, names that are there -> whether they are the same in the same order, or
 * one side has none, and if not how they differ. */
FlRuntimeOp fl_rt_same_columns;
/* list of levels -> the levels, which must be the same in all (LEVELS); none without elements. */
FlRuntimeOp fl_rt_list_levels;

/* ---- aggregates ---------------------------------------------------------------------------------------- */

/* groups g, group of each row i64[n], columns (with names, where messages say them) -> value[g],
 * valid bool[g]. Attribute i = 1: all rows are one group, g is 1, and the group argument is only read for its
 * length when there is no column. Attribute s says which; where a group has no value the result is null but
 * for count, any, all, sum and n_distinct. Float results have the type of desc->result_types[0]; f32 columns
 * are computed in f64.
 *
 * - count: rows where the column has a value, and is true if it is bool; without a column, rows.
 * - any, all: of a bool column; false and true over nothing.
 * - sum: 0 over nothing. Floats: exact sum, rounded once to nearest even; integers and durations: exact,
 *   OVERFLOW when one does not fit; bool: the number of trues. NaN or both infinities give NaN.
 * - mean: the exact sum over count, rounded once, also where the sum is too large for a double; into an
 * integer type
 *   (durations): half to even. mean_of: of the sums x and the counts y of parts of a table, the same of all.
 * - With m(x, y) = count sum(x y) - sum(x) sum(y), exact: var, cov are m / (count (count - ddof)), std is the
 * root of var,
 *   corr m(x, y) / sqrt(m(x, x) m(y, y)), each rounded once. corr is NaN where a column is constant; all are
 * NaN of a
 *   group with an infinity or NaN. weighted_mean: of x, w: sum(x w) / sum(w), rounded once; IEEE's quotient
 * where the
 *   weights add up to 0 or something is no finite number.
 * - min, max: NaN wins; the first row of equals (-0.0 and 0.0 are).
 * - argmin, argmax: the position of that row among all rows of its group, from 0.
 * - first, last: the first and last value.
 * - quantile: attribute f: q in 0..1 (else DOMAIN); linear interpolation at (n - 1) q (agg_rank.c); NaN wins.
 * - median: quantile 0.5.
 * - mad: the median of the distances from the median.
 * - n_distinct: different values.
 * - mode: the most frequent value; the smallest of several, NaN last. */
FlRuntimeOp fl_rt_aggregate;
/* groups g, group of each row i64[n], columns without nulls -> value[g], valid bool[g] of each aggregate that
 * the columns have as `made`: count, and sum, mean, min, max of f64 (sum, mean) or integers. As one aggregate
 * after the other; an OVERFLOW is at the place of the first. */
FlRuntimeOp fl_rt_aggregates;
/* Whether `made` of a column of numbers without nulls (of none: -1) may be one of these, of which there are
 * FL_PART_SWEEP at most. */
bool fl_part_sweeps(const char *made, int32_t dtype);
enum { FL_PART_SWEEP = 16 };
/* rows n, whether rows shall stay rows, keys, columns -> whether they stayed rows, then rows of states: keys,
 * and a column a state. The columns are the keys and then, with `made`, the states: count, of rows or of a
 * column, sum, min, max, first, last, any, all; with FL_COLUMN_SAYS the validity of the state comes with it.
 * Grouped by the keys, states give what all rows give: the sum of the counts (i64), that of the sums (f64;
 * i64, u64 of integers), which for floats is exact, and of the others each the same aggregate again. There
 * are as many rows as groups, or more (partial.c). */
FlRuntimeOp fl_rt_partial;
/* The same, but where there are rows and they stay rows, *rows, nothing is made, and results are not set. */
FlStatus fl_part_states(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *rows);

/* Of which kind the states of an aggregate are; FL_STATE_NONE also of what is no aggregate. */
FlAggState fl_agg_state(const char *name);

/* The numbers of all n rows in their order, for `take` alone: bool without memory. NULL: error recorded. */
FlArray *fl_part_all_rows(FlCtx *ctx, int64_t n);

#endif
