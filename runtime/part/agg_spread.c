/* agg_spread.c: variance, standard deviation, covariance and correlation by group.
 *
 * Floats: with m = the rounded exact sum of x over the count, the terms are the products of the rounded
 * differences, fl(fl(x - mx) * fl(y - my)); their exact sum is rounded once and divided by count - ddof. Two
 * passes, so that no large numbers cancel (T. Chan, G. Golub, R. LeVeque, 1983, equation 1.2).
 *
 * Integers of at most 32 bits: count * sum(x y) - sum(x) * sum(y) in 128 bits, where nothing cancels, over
 * count * (count - ddof); one pass. */
#include <math.h>

#include "part/aggregate_internal.h"

/* Columns: one, or two of which both have a value. */
typedef struct Columns {
  const FlAgg *a;
  int32_t n;
  FlAggDoubles x[2];
  const double *mean; /* [n][g] */
} Columns;

static const double *read_columns(const void *env, int64_t row, int64_t n, double *room) {
  const Columns *c = env;
  if (c->n == 1) return fl_agg_read_doubles(&c->x[0], row, n, room);
  for (int32_t k = 0; k < c->n; k++) {
    double *to = room + k * FL_PART_TERMS;
    const double *x = fl_agg_read_doubles(&c->x[k], row, n, to);
    if (x != to) memcpy(to, x, (size_t)n * sizeof *to);
  }
  return room;
}

/* Differences of a column from its means, 0 where there is no value. */
static void differences(const Columns *c, int32_t k, int64_t row, int64_t n, double *out) {
  const int64_t *id = c->a->id;
  const double *x = fl_agg_read_doubles(&c->x[k], row, n, out), *mean = c->mean + k * c->a->g;
  for (int64_t i = 0; i < n; i++) out[i] = x[i] - mean[id != NULL ? id[row + i] : 0];
  for (int32_t v = 0; v < c->a->n_cols; v++) {
    const uint8_t *valid = c->a->col[v].valid;
    for (int64_t i = 0; valid != NULL && i < n; i++) out[i] = valid[row + i] ? out[i] : 0.0;
  }
}

static const double *read_square(const void *env, int64_t row, int64_t n, double *room) {
  differences(env, 0, row, n, room);
  for (int64_t i = 0; i < n; i++) room[i] *= room[i];
  return room;
}

static const double *read_product(const void *env, int64_t row, int64_t n, double *room) {
  double y[FL_PART_TERMS];
  differences(env, 0, row, n, room);
  differences(env, 1, row, n, y);
  for (int64_t i = 0; i < n; i++) room[i] *= y[i];
  return room;
}

/* x y, x x, y y */
static const double *read_products(const void *env, int64_t row, int64_t n, double *room) {
  double *xx = room + FL_PART_TERMS, *yy = xx + FL_PART_TERMS;
  differences(env, 0, row, n, xx);
  differences(env, 1, row, n, yy);
  for (int64_t i = 0; i < n; i++) {
    room[i] = xx[i] * yy[i];
    xx[i] *= xx[i];
    yy[i] *= yy[i];
  }
  return room;
}

/* ---- small integers ------------------------------------------------------------------------------------ */

typedef struct Whole {
  int64_t x, y;
  __int128 xy, xx, yy;
} Whole;

typedef struct Wholes {
  const FlAgg *a;
  FlAggCut cut;
  Whole *sums; /* [pieces][g] */
} Wholes;

/* So small that none of the sums, nor a product of two, leaves 128 bits. */
static bool is_whole(const FlAgg *a) {
  for (int32_t k = 0; k < a->n_cols; k++) {
    const FlDtypeInfo *d = &fl_dtype_info[a->col[k].dtype];
    if (d->kind == FL_KIND_FLOAT || d->bytes > 4) return false;
  }
  return a->n < INT32_MAX;
}

/* Rows of a column, 0 where one of the columns has no value. */
static void read_whole(const FlAgg *a, int32_t k, int64_t row, int64_t n, int64_t *out) {
  const uint8_t *other = a->n_cols > 1 ? a->col[1 - k].valid : NULL;
  fl_part_read_i64(&a->col[k], row, n, out);
  for (int64_t i = 0; other != NULL && i < n; i++) out[i] = other[row + i] ? out[i] : 0;
}

static int32_t wholes_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Wholes *s = env;
  const FlAgg *a = s->a;
  int64_t x[FL_PART_BATCH], y[FL_PART_BATCH];
  (void)ctx;
  for (int64_t t = begin; t < end; t++) {
    int64_t first, last, low;
    uint64_t width;
    fl_agg_task(&s->cut, a->n, a->g, t, &first, &last, &low, &width);
    Whole *sums = s->sums + t / s->cut.ranges * a->g;
    memset(sums + low, 0, width * sizeof *sums);
    for (int64_t row = first; row < last; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, last - row);
      read_whole(a, 0, row, n, x);
      if (a->n_cols > 1) read_whole(a, 1, row, n, y);
      for (int64_t i = 0; i < n; i++) {
        int64_t k = a->id != NULL ? a->id[row + i] : 0;
        if ((uint64_t)(k - low) >= width) continue;
        Whole *to = &sums[k];
        to->x += x[i];
        to->xx += (__int128)x[i] * x[i];
        if (a->n_cols == 1) continue;
        to->y += y[i];
        to->xy += (__int128)x[i] * y[i];
        to->yy += (__int128)y[i] * y[i];
      }
    }
  }
  return 0;
}

/* The sums of all pieces, in the first. */
static int32_t add_wholes_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Wholes *s = env;
  (void)ctx;
  for (int64_t p = 1; p < s->cut.pieces; p++) {
    for (int64_t k = begin; k < end; k++) {
      const Whole *from = &s->sums[p * s->a->g + k];
      Whole *to = &s->sums[k];
      *to =
          (Whole){to->x + from->x, to->y + from->y, to->xy + from->xy, to->xx + from->xx, to->yy + from->yy};
    }
  }
  return 0;
}

/* By group, count^2 times the moments, which are whole: of x, of y, of both; NULL: error recorded. */
static Whole *whole_moments(FlAgg *a) {
  Wholes s = {.a = a, .cut = fl_agg_cut(a->m->ctx, a->n, a->g)};
  s.sums = fl_part_alloc(a->m, s.cut.pieces * a->g, sizeof *s.sums);
  int64_t tasks = s.cut.pieces * s.cut.ranges;
  if (s.sums == NULL || fl_part_for(a->m->ctx, wholes_body, &s, tasks, 3.0 * (double)s.cut.piece) != 0)
    return NULL;
  if (fl_part_for(a->m->ctx, add_wholes_body, &s, a->g, 3.0 * (double)s.cut.pieces) != 0) return NULL;
  for (int64_t k = 0; k < a->g; k++) {
    Whole *w = &s.sums[k];
    int64_t n = a->counts[k];
    w->xy = n * w->xy - (__int128)w->x * w->y;
    w->xx = n * w->xx - (__int128)w->x * w->x;
    w->yy = n * w->yy - (__int128)w->y * w->y;
  }
  return s.sums;
}

/* ---- floats -------------------------------------------------------------------------------------------- */

static double *sums_of(FlAgg *a, FlPartTerms x) {
  double *sums = fl_part_alloc(a->m, (1 + x.more) * a->g, sizeof *sums);
  return sums == NULL || fl_part_exact_sums(a->m, x, a->id, a->n, a->g, sums) != 0 ? NULL : sums;
}

/* The first n columns with their means; false: error recorded. */
static bool open_columns(FlAgg *a, int32_t n, Columns *c) {
  *c = (Columns){.a = a, .n = n};
  for (int32_t k = 0; k < n; k++) c->x[k] = fl_agg_doubles(a, k);
  double *means = sums_of(a, (FlPartTerms){read_columns, c, n - 1});
  for (int32_t k = 0; means != NULL && k < n; k++) {
    for (int64_t g = 0; g < a->g; g++) {
      double *mean = &means[k * a->g + g];
      *mean = a->counts[g] > 0 ? *mean / (double)a->counts[g] : 0.0;
    }
  }
  c->mean = means;
  return means != NULL;
}

static int64_t least_count(const FlAgg *a) {
  int64_t ddof = (int64_t)a->desc->f;
  return fl_part_max(1, ddof + 1);
}

/* ---- the aggregates ------------------------------------------------------------------------------------ */

static FlStatus spread_whole(FlAgg *a, bool root) {
  const Whole *w = whole_moments(a);
  if (w == NULL || fl_agg_results(a, least_count(a)) != 0) return 1;
  for (int64_t k = 0; k < a->g; k++) {
    double n = (double)a->counts[k];
    double v = (double)(a->n_cols == 1 ? w[k].xx : w[k].xy) / (n * (n - a->desc->f));
    if (a->counts[k] < least_count(a)) v = 0.0;
    fl_agg_store(a, k, root ? sqrt(v) : v);
  }
  return 0;
}

static FlStatus spread(FlAgg *a, int32_t n, bool root) {
  Columns c;
  if (is_whole(a)) return spread_whole(a, root);
  if (!open_columns(a, n, &c) || fl_agg_results(a, least_count(a)) != 0) return 1;
  const double *sums = sums_of(a, (FlPartTerms){n == 1 ? read_square : read_product, &c, 0});
  if (sums == NULL) return 1;
  for (int64_t k = 0; k < a->g; k++) {
    double v = sums[k] / ((double)a->counts[k] - a->desc->f);
    if (a->counts[k] < least_count(a)) v = 0.0;
    fl_agg_store(a, k, root ? sqrt(v) : v);
  }
  return 0;
}

FlStatus fl_agg_var(FlAgg *a) { return spread(a, 1, false); }
FlStatus fl_agg_std(FlAgg *a) { return spread(a, 1, true); }
FlStatus fl_agg_cov(FlAgg *a) { return spread(a, 2, false); }

static void store_corr(FlAgg *a, int64_t k, double xy, double xx, double yy) {
  double v = xy / (sqrt(xx) * sqrt(yy));
  v = v > 1.0 ? 1.0 : v < -1.0 ? -1.0 : v;
  fl_agg_store(a, k, a->counts[k] < 2 ? 0.0 : v);
}

static FlStatus corr_whole(FlAgg *a) {
  const Whole *w = whole_moments(a);
  if (w == NULL || fl_agg_results(a, 2) != 0) return 1;
  for (int64_t k = 0; k < a->g; k++) store_corr(a, k, (double)w[k].xy, (double)w[k].xx, (double)w[k].yy);
  return 0;
}

FlStatus fl_agg_corr(FlAgg *a) {
  Columns c;
  if (is_whole(a)) return corr_whole(a);
  if (!open_columns(a, 2, &c) || fl_agg_results(a, 2) != 0) return 1;
  const double *xy = sums_of(a, (FlPartTerms){read_products, &c, 2});
  if (xy == NULL) return 1;
  for (int64_t k = 0; k < a->g; k++) store_corr(a, k, xy[k], xy[a->g + k], xy[2 * a->g + k]);
  return 0;
}
