/* agg_rank.c: aggregates that need the order or the equality of values: quantile, median, mad, n_distinct,
 * mode.
 *
 * quantile(q) of n values: with h = (n - 1) q, k = floor(h) and f = h - k it is x[k] + f (x[k+1] - x[k]) of
 * the ascending values (R. Hyndman, Y. Fan, 1996, type 7), written x[k] (1 - f) + x[k+1] f where the signs
 * differ so that nothing overflows, and where x[k] is -inf; x[k] itself where f is 0 or both are equal. Zeros
 * are +0.0. A NaN among the values gives NaN. n_distinct and mode use the equality of keys; mode is the
 * smallest of the most frequent values, NaN last. mad is the median of the distances from the median. */
#include <math.h>
#include <string.h>

#include "part/aggregate_internal.h"

/* ---- quantiles ---------------------------------------------------------------------------------------- */

typedef struct Quantile {
  FlAgg *a;
  double q;
  FlAggCut cut;
  int64_t *place;       /* [pieces][g] where the next value of a group goes that is found in a piece */
  uint64_t *code;       /* order codes of the values, by group */
  const int64_t *start; /* [g + 1] */
  double *out;
  bool distances; /* then the same once more, of the distances from it */
  uint64_t *kept; /* [n] the codes once more, when they are needed afterwards */
} Quantile;

/* Values of each group in a piece of the rows: counted, or with `code` put where they belong. */
static void each_value(const Quantile *q, int64_t task, uint64_t *code) {
  const FlPartCol *col = &q->a->col[0];
  const int64_t *id = q->a->id;
  double x[FL_PART_BATCH];
  uint64_t found[FL_PART_BATCH];
  FlPartCol block = {.dtype = FL_F64, .data = x};
  int64_t first, last, low;
  uint64_t width;
  fl_agg_task(&q->cut, q->a->n, q->a->g, task, &first, &last, &low, &width);
  int64_t *place = q->place + task / q->cut.ranges * q->a->g;
  for (int64_t row = first; row < last; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, last - row);
    if (code != NULL) {
      fl_part_read_f64(col, row, count, x);
      fl_part_read_code(&block, 0, count, found);
    }
    for (int64_t i = 0; i < count; i++) {
      int64_t k = id != NULL ? id[row + i] : 0;
      if ((uint64_t)(k - low) >= width || !fl_part_valid(col->valid, row + i)) continue;
      if (code != NULL) code[place[k]] = found[i];
      place[k]++;
    }
  }
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  (void)ctx;
  for (int64_t t = begin; t < end; t++) each_value(env, t, NULL);
  return 0;
}

static int32_t scatter_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Quantile *q = env;
  (void)ctx;
  for (int64_t t = begin; t < end; t++) each_value(q, t, q->code);
  return 0;
}

/* From counts to places: group by group, in each the pieces one behind the other. */
static int32_t place_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Quantile *q = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    int64_t at = q->start[k];
    for (int64_t p = 0; p < q->cut.pieces; p++) {
      int64_t count = q->place[p * q->a->g + k];
      q->place[p * q->a->g + k] = at;
      at += count;
    }
  }
  return 0;
}

double fl_part_between(double x, double y, double f) {
  if (f == 0.0 || x == y) return x;
  return (x < 0) != (y < 0) || isinf(x) ? x * (1.0 - f) + y * f : x + f * (y - x);
}

FL_PART_WIDE static bool has_nan(const uint64_t *code, int64_t n) {
  uint64_t found = 0;
  for (int64_t i = 0; i < n; i++) found |= code[i] == UINT64_MAX;
  return found != 0;
}

static double quantile_of(uint64_t *p, int64_t n, double q) {
  if (n == 0) return 0.0;
  if (has_nan(p, n)) return NAN;
  double h = (double)(n - 1) * q, low = floor(h), f = h - low;
  int64_t k = fl_part_min((int64_t)low, n - 1);
  uint64_t at, after;
  fl_part_select(p, n, k, &at, &after);
  double x = fl_part_of_code(at), y = fl_part_of_code(after);
  return fl_part_between(x, y, f);
}

/* From codes of values to those of their distances from `x`, in place. */
static uint64_t *distances(uint64_t *p, int64_t n, double x) {
  double value;
  FlPartCol one = {.dtype = FL_F64, .data = &value};
  for (int64_t i = 0; i < n; i++) {
    value = fabs(fl_part_of_code(p[i]) - x);
    fl_part_read_code(&one, 0, 1, &p[i]);
  }
  return p;
}

static int32_t quantile_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Quantile *q = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    int64_t from = q->start[k], n = q->start[k + 1] - from;
    if (q->distances && n > 0) memcpy(q->kept + from, q->code + from, (size_t)n * sizeof *q->kept);
    q->out[k] = quantile_of(q->code + from, n, q->q);
    if (q->distances) q->out[k] = quantile_of(distances(q->kept + from, n, q->out[k]), n, q->q);
  }
  return 0;
}

static FlStatus quantile(FlAgg *a, double at, bool of_distances) {
  Quantile q = {.a = a, .q = at, .distances = of_distances};
  int64_t n = a->n, g = a->g;
  if (!(at >= 0.0 && at <= 1.0)) {
    return fl_fail(a->m->ctx, FL_FAULT_DOMAIN, a->desc->site, FL_F64, (FlSlot){.f = at}, (FlSlot){0});
  }
  q.cut = fl_agg_cut(a->m->ctx, n, g);
  q.place = fl_part_zalloc(a->m, q.cut.pieces * g, sizeof *q.place);
  q.code = fl_part_alloc(a->m, n, sizeof *q.code);
  if (of_distances && (q.kept = fl_part_alloc(a->m, n, sizeof *q.kept)) == NULL) return 1;
  int64_t *start = fl_part_alloc(a->m, g + 1, sizeof *start), tasks = q.cut.pieces * q.cut.ranges;
  q.out = fl_part_alloc(a->m, g, sizeof *q.out);
  if (q.place == NULL || q.code == NULL || start == NULL || q.out == NULL || fl_agg_results(a, 1) != 0)
    return 1;
  q.start = start;
  start[0] = 0;
  for (int64_t k = 0; k < g; k++) start[k + 1] = start[k] + a->counts[k];
  if (fl_part_for(a->m->ctx, count_body, &q, tasks, 1.5 * (double)q.cut.piece) != 0) return 1;
  if (fl_part_for(a->m->ctx, place_body, &q, g, 2.0 * (double)q.cut.pieces) != 0) return 1;
  if (fl_part_for(a->m->ctx, scatter_body, &q, tasks, 4.0 * (double)q.cut.piece) != 0) return 1;
  double mean_rows = (double)n / (double)fl_part_max(g, 1);
  if (fl_part_for(a->m->ctx, quantile_body, &q, g, 20.0 + 10.0 * mean_rows) != 0) return 1;
  for (int64_t k = 0; k < g; k++) fl_agg_store(a, k, q.out[k]);
  return 0;
}

FlStatus fl_agg_quantile(FlAgg *a) { return quantile(a, a->desc->f, false); }
FlStatus fl_agg_median(FlAgg *a) { return quantile(a, 0.5, false); }
FlStatus fl_agg_mad(FlAgg *a) { return quantile(a, 0.5, true); }

/* ---- distinct values ----------------------------------------------------------------------------------- */

/* The group, where there are several, and the value; nulls are a value of their own. */
static FlStatus encode_values(FlAgg *a, bool ordered, FlPartCodes *codes) {
  FlPartKey *keys = fl_part_zalloc(a->m, 2, sizeof *keys);
  int32_t n_keys = 0;
  if (keys == NULL) return 1;
  if (a->id != NULL) keys[n_keys++].side[0] = (FlPartCol){.dtype = FL_I64, .n = a->n, .data = a->id};
  keys[n_keys++].side[0] = a->col[0];
  return fl_part_encode(a->m, keys, n_keys, 1, ordered, codes);
}

FlStatus fl_agg_n_distinct(FlAgg *a) {
  FlPartCodes codes;
  FlPartGroups groups = {.g = 0};
  if (encode_values(a, false, &codes) != 0 || fl_agg_results(a, 0) != 0) return 1;
  const FlPartDigit *d = &codes.digits[0];
  bool counted = a->id == NULL && d->rank != NULL; /* texts, of which the different ones had to be found */
  if (!counted && fl_part_group_codes(a->m, &codes, false, NULL, &groups) != 0) return 1;
  int64_t *found = fl_part_zalloc(a->m, a->g, sizeof *found);
  if (found == NULL) return 1;
  if (counted && d->least <= d->greatest) found[0] = (int64_t)(d->greatest - d->least) + 1;
  for (int64_t k = 0; k < groups.g; k++) {
    int64_t row = groups.first[k];
    found[a->id != NULL ? a->id[row] : 0] += fl_part_valid(a->col[0].valid, row);
  }
  for (int64_t k = 0; k < a->g; k++) fl_agg_store(a, k, (double)found[k]);
  return 0;
}

FlStatus fl_agg_mode(FlAgg *a) {
  FlPartGroups groups;
  FlPartCodes codes;
  if (encode_values(a, true, &codes) != 0 || fl_part_group_codes(a->m, &codes, true, NULL, &groups) != 0)
    return 1;
  int64_t *rows = fl_part_alloc(a->m, a->g, sizeof *rows), *most = fl_part_zalloc(a->m, a->g, sizeof *most);
  FlAgg pairs = {.m = a->m, .n = a->n, .g = groups.g, .id = groups.id};
  const int64_t *counts = fl_agg_counts(&pairs, NULL, NULL, false);
  if (rows == NULL || most == NULL || counts == NULL) return 1;
  for (int64_t k = 0; k < a->g; k++) rows[k] = -1;
  for (int64_t k = 0; k < groups.g; k++) {
    int64_t row = groups.first[k], group = a->id != NULL ? a->id[row] : 0;
    if (!fl_part_valid(a->col[0].valid, row) || counts[k] <= most[group]) continue;
    most[group] = counts[k];
    rows[group] = row;
  }
  a->value = fl_part_take(a->m->ctx, a->col[0].array, rows, a->g);
  a->valid = fl_part_has_row(a->m->ctx, rows, a->g);
  return a->value == NULL || a->valid == NULL;
}
