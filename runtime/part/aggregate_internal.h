/* aggregate_internal.h: what the files of the table aggregates share. */
#ifndef FL_PART_AGGREGATE_INTERNAL_H
#define FL_PART_AGGREGATE_INTERNAL_H

#include "part/part_internal.h"

/* One call of aggregate. `value` and `valid` are made by the function of the aggregate. */
typedef struct FlAgg {
  FlPartMem *m;
  const FlOpDesc *desc;
  int64_t n, g;
  const int64_t *id; /* [n]; NULL: all rows are group 0 */
  FlPartCol col[2];
  int32_t n_cols;
  int64_t *counts; /* [g] rows where every column has a value */
  FlArray *value, *valid;
} FlAgg;

typedef FlStatus FlAggFn(FlAgg *a);
FlAggFn fl_agg_count, fl_agg_any, fl_agg_all;                                            /* aggregate.c */
FlAggFn fl_agg_sum, fl_agg_mean, fl_agg_weighted_mean;                                   /* agg_sum.c */
FlAggFn fl_agg_var, fl_agg_std, fl_agg_cov, fl_agg_corr;                                 /* agg_spread.c */
FlAggFn fl_agg_min, fl_agg_max, fl_agg_argmin, fl_agg_argmax, fl_agg_first, fl_agg_last; /* agg_pick.c */
FlAggFn fl_agg_quantile, fl_agg_median, fl_agg_n_distinct, fl_agg_mode;                  /* agg_rank.c */

/* New result arrays: value of the wanted type (undefined), valid[k] = counts[k] >= least. */
FlStatus fl_agg_results(FlAgg *a, int64_t least);
/* Stores value k of a numeric result; v is cast to the result's type (integers: rounded half to even). */
void fl_agg_store(FlAgg *a, int64_t k, double v);
/* Rows counted by group: of those where both masks (NULL: all) hold. NULL: error recorded. */
int64_t *fl_agg_counts(FlAgg *a, const uint8_t *mask, const uint8_t *other, bool other_wanted);
/* Column k as doubles, 0 where any column of the aggregate has no value. NULL: error recorded. */
const double *fl_agg_doubles(FlAgg *a, int32_t k);
/* Pieces that rows are cut in so that a table of g places a piece stays small against n. */
void fl_agg_pieces(const FlAgg *a, int64_t *pieces, int64_t *piece);

#endif
