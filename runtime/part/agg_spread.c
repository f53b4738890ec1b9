/* agg_spread.c: variance, standard deviation, covariance and correlation by group.
 *
 * With m = the rounded exact sum of x over the count, the terms are the products of the rounded differences,
 * fl(fl(x - mx) * fl(y - my)); their exact sum is rounded once and divided by count - ddof. Two passes, so
 * that no large numbers cancel (T. Chan, G. Golub, R. LeVeque, 1983, equation 1.2). */
#include <math.h>

#include "part/aggregate_internal.h"

typedef struct Terms {
  const FlAgg *a;
  const double *x, *y;
  const double *mean_x, *mean_y;
  double *out;
} Terms;

static int32_t terms_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Terms *t = env;
  const uint8_t *valid = t->a->col[0].valid, *other = t->a->n_cols > 1 ? t->a->col[1].valid : NULL;
  const int64_t *id = t->a->id;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    int64_t k = id != NULL ? id[i] : 0;
    double dx = t->x[i] - t->mean_x[k], dy = t->y[i] - t->mean_y[k];
    t->out[i] = fl_part_valid(valid, i) && fl_part_valid(other, i) ? dx * dy : 0.0;
  }
  return 0;
}

static double *sums_of(FlAgg *a, const double *x) {
  double *sums = fl_part_alloc(a->m, a->g, sizeof *sums);
  if (x == NULL || sums == NULL || fl_part_exact_sums(a->m, x, a->id, a->n, a->g, sums) != 0) return NULL;
  return sums;
}

static double *means_of(FlAgg *a, const double *x) {
  double *means = sums_of(a, x);
  for (int64_t k = 0; means != NULL && k < a->g; k++) {
    means[k] = a->counts[k] > 0 ? means[k] / (double)a->counts[k] : 0.0;
  }
  return means;
}

/* Sums of the products of differences from the means. */
static double *moments(FlAgg *a, const double *x, const double *mean_x, const double *y,
                       const double *mean_y) {
  Terms t = {a, x, y, mean_x, mean_y, fl_part_alloc(a->m, a->n, sizeof *t.out)};
  if (t.out == NULL || fl_part_for(a->m->ctx, terms_body, &t, a->n, 1.5) != 0) return NULL;
  double *sums = sums_of(a, t.out);
  fl_part_release(a->m, t.out);
  return sums;
}

static int64_t least_count(const FlAgg *a) {
  int64_t ddof = (int64_t)a->desc->f;
  return fl_part_max(1, ddof + 1);
}

static FlStatus spread(FlAgg *a, int32_t second, bool root) {
  const double *x = fl_agg_doubles(a, 0);
  const double *y = second == 0 ? x : fl_agg_doubles(a, second);
  const double *mean_x = means_of(a, x), *mean_y = second == 0 ? mean_x : means_of(a, y);
  if (mean_x == NULL || mean_y == NULL || fl_agg_results(a, least_count(a)) != 0) return 1;
  const double *sums = moments(a, x, mean_x, y, mean_y);
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
  const double *x = fl_agg_doubles(a, 0), *y = fl_agg_doubles(a, 1);
  const double *mean_x = means_of(a, x), *mean_y = means_of(a, y);
  if (mean_x == NULL || mean_y == NULL || fl_agg_results(a, 2) != 0) return 1;
  const double *xx = moments(a, x, mean_x, x, mean_x), *yy = moments(a, y, mean_y, y, mean_y);
  const double *xy = moments(a, x, mean_x, y, mean_y);
  if (xx == NULL || yy == NULL || xy == NULL) return 1;
  for (int64_t k = 0; k < a->g; k++) {
    double v = xy[k] / (sqrt(xx[k]) * sqrt(yy[k]));
    v = v > 1.0 ? 1.0 : v < -1.0 ? -1.0 : v;
    fl_agg_store(a, k, a->counts[k] < 2 ? 0.0 : v);
  }
  return 0;
}
