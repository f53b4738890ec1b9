/* agg_spread.c: variance, standard deviation, covariance and correlation by group.
 *
 * With m = the rounded exact sum of x over the count, the terms are the products of the rounded differences,
 * fl(fl(x - mx) * fl(y - my)); their exact sum is rounded once and divided by count - ddof. Two passes, so
 * that no large numbers cancel (T. Chan, G. Golub, R. LeVeque, 1983, equation 1.2). */
#include <math.h>

#include "part/aggregate_internal.h"

/* Products of differences from the means. */
typedef struct Terms {
  const FlAgg *a;
  FlAggDoubles x, y;
  const double *mean_x, *mean_y;
} Terms;

static const double *read_terms(const void *env, int64_t row, int64_t n, double *room) {
  const Terms *t = env;
  const uint8_t *valid = t->a->col[0].valid, *other = t->a->n_cols > 1 ? t->a->col[1].valid : NULL;
  const int64_t *id = t->a->id != NULL ? t->a->id + row : NULL;
  double more[FL_PART_TERMS];
  bool square = t->x.col == t->y.col;
  const double *x = fl_agg_read_doubles(&t->x, row, n, room);
  const double *y = square ? x : fl_agg_read_doubles(&t->y, row, n, more);
  for (int64_t i = 0; i < n; i++) {
    int64_t k = id != NULL ? id[i] : 0;
    double dx = x[i] - t->mean_x[k];
    room[i] = dx * (square ? dx : y[i] - t->mean_y[k]);
  }
  for (int64_t i = 0; (valid != NULL || other != NULL) && i < n; i++) {
    if (!fl_part_valid(valid, row + i) || !fl_part_valid(other, row + i)) room[i] = 0.0;
  }
  return room;
}

static double *sums_of(FlAgg *a, FlPartTerms x) {
  double *sums = fl_part_alloc(a->m, a->g, sizeof *sums);
  return sums == NULL || fl_part_exact_sums(a->m, x, a->id, a->n, a->g, sums) != 0 ? NULL : sums;
}

static double *means_of(FlAgg *a, const FlAggDoubles *x) {
  double *means = sums_of(a, (FlPartTerms){fl_agg_read_doubles, x});
  for (int64_t k = 0; means != NULL && k < a->g; k++) {
    means[k] = a->counts[k] > 0 ? means[k] / (double)a->counts[k] : 0.0;
  }
  return means;
}

/* Their sums; x and y may be the same. */
static double *moments(FlAgg *a, const FlAggDoubles *x, const double *mean_x, const FlAggDoubles *y,
                       const double *mean_y) {
  Terms t = {a, *x, *y, mean_x, mean_y};
  return sums_of(a, (FlPartTerms){read_terms, &t});
}

static int64_t least_count(const FlAgg *a) {
  int64_t ddof = (int64_t)a->desc->f;
  return fl_part_max(1, ddof + 1);
}

static FlStatus spread(FlAgg *a, int32_t second, bool root) {
  FlAggDoubles x = fl_agg_doubles(a, 0), y = fl_agg_doubles(a, second);
  const double *mean_x = means_of(a, &x), *mean_y = second == 0 ? mean_x : means_of(a, &y);
  if (mean_x == NULL || mean_y == NULL || fl_agg_results(a, least_count(a)) != 0) return 1;
  const double *sums = moments(a, &x, mean_x, &y, mean_y);
  if (sums == NULL) return 1;
  for (int64_t k = 0; k < a->g; k++) {
    double v = sums[k] / ((double)a->counts[k] - a->desc->f);
    if (a->counts[k] < least_count(a)) v = 0.0;
    fl_agg_store(a, k, root ? sqrt(v) : v);
  }
  return 0;
}

FlStatus fl_agg_var(FlAgg *a) { return spread(a, 0, false); }
FlStatus fl_agg_std(FlAgg *a) { return spread(a, 0, true); }
FlStatus fl_agg_cov(FlAgg *a) { return spread(a, 1, false); }

FlStatus fl_agg_corr(FlAgg *a) {
  FlAggDoubles x = fl_agg_doubles(a, 0), y = fl_agg_doubles(a, 1);
  const double *mean_x = means_of(a, &x), *mean_y = means_of(a, &y);
  if (mean_x == NULL || mean_y == NULL || fl_agg_results(a, 2) != 0) return 1;
  const double *xx = moments(a, &x, mean_x, &x, mean_x), *yy = moments(a, &y, mean_y, &y, mean_y);
  const double *xy = moments(a, &x, mean_x, &y, mean_y);
  if (xx == NULL || yy == NULL || xy == NULL) return 1;
  for (int64_t k = 0; k < a->g; k++) {
    double v = xy[k] / (sqrt(xx[k]) * sqrt(yy[k]));
    v = v > 1.0 ? 1.0 : v < -1.0 ? -1.0 : v;
    fl_agg_store(a, k, a->counts[k] < 2 ? 0.0 : v);
  }
  return 0;
}
