/* agg_spread.c: variance, standard deviation, covariance and correlation by group.
 *
 * With m = the rounded exact sum of x over the count, the terms are the products of the rounded differences,
 * fl(fl(x - mx) * fl(y - my)); their exact sum is rounded once and divided by count - ddof. Two passes, so
 * that no large numbers cancel (T. Chan, G. Golub, R. LeVeque, 1983, equation 1.2). */
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

static FlStatus spread(FlAgg *a, int32_t n, bool root) {
  Columns c;
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

FlStatus fl_agg_corr(FlAgg *a) {
  Columns c;
  if (!open_columns(a, 2, &c) || fl_agg_results(a, 2) != 0) return 1;
  const double *xy = sums_of(a, (FlPartTerms){read_products, &c, 2});
  if (xy == NULL) return 1;
  const double *xx = xy + a->g, *yy = xx + a->g;
  for (int64_t k = 0; k < a->g; k++) {
    double v = xy[k] / (sqrt(xx[k]) * sqrt(yy[k]));
    v = v > 1.0 ? 1.0 : v < -1.0 ? -1.0 : v;
    fl_agg_store(a, k, a->counts[k] < 2 ? 0.0 : v);
  }
  return 0;
}
