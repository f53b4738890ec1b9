/* aggregate_internal.h: what the files of the table aggregates share. */
#ifndef FL_PART_AGGREGATE_INTERNAL_H
#define FL_PART_AGGREGATE_INTERNAL_H

#include "flow/aggregates.h"
#include "part/part_internal.h"

/* The group of each row where the groups are few: numbers of 1 or 2 bytes; NULL: they are not given so. */
typedef struct FlAggFew {
  const void *id;
  int32_t bytes;
} FlAggFew;

/* One call of aggregate. `value` and `valid` are made by the function of the aggregate. */
typedef struct FlAgg {
  FlPartMem *m;
  const FlOpDesc *desc;
  int64_t n, g;
  const int64_t *id; /* [n]; NULL: all rows are group 0, or `few` says which */
  FlAggFew few;
  FlPartCol col[2];
  int32_t n_cols;
  int64_t base;    /* the group that group 0 is, of a part of them */
  int64_t *counts; /* [g] rows where every column has a value; NULL for a sum */
  FlArray *value, *valid;
} FlAgg;

typedef FlStatus FlAggFn(FlAgg *a);
/* In aggregate.c (count any all), agg_sum.c, agg_spread.c (var to weighted_mean), agg_pick.c (min to last),
 * agg_rank.c. */
#define FL_AGG_ROW(NAME, text, ...) FlAggFn fl_agg_##text;
#include "flow/aggregates.def"
#undef FL_AGG_ROW

/* Words of a sum of doubles and of their squares, as integers of 128 bits: of the terms, of the squares of
 * their high parts (fl_part_split), of the products of both parts, of the squares of the low ones; and of how
 * many rows there may be. */
enum { FL_SPREAD_WORDS = 8, FL_SPREAD_ROWS = 1 << 24 };
/* Stores variances, or their roots, by such words: of group k at table + k * words. */
FlStatus fl_agg_store_spread(FlAgg *a, bool root, const FlExactScale *scale, const int64_t *table, int words);

/* A row of flow/aggregates.def. */
typedef struct FlAggRow {
  const char *name;
  FlAggFn *fn;
  int32_t n_cols;
  FlAggState state;
  FlAggSweep sweep;
} FlAggRow;
/* Makes value and valid, and before that the counts where the aggregate asks for them. */
FlStatus fl_agg_make(FlAgg *a, const FlAggRow *row);
/* The one of this name, of so many bytes; NULL: there is none. */
const FlAggRow *fl_agg_find(const char *name, size_t length);

/* What the array says of the rows' groups: *id, or *few. */
void fl_agg_read_ids(const FlArray *ids, const int64_t **id, FlAggFew *few);
/* `few` becomes `id`: for functions that know no `few`, which are all. */
FlStatus fl_agg_widen(FlAgg *a);
/* Whether an aggregate may be made by a sweep: as what aggregates joins (compiler/opt/aggregates.c).
 * (agg_sweep.c) */
bool fl_agg_sweeps(const FlAgg *a, const FlAggRow *row);
/* Makes it so, alone. */
FlStatus fl_agg_sweep_one(FlAgg *a, const FlAggRow *row);
/* New result arrays: value of the wanted type (undefined), valid[k] = counts[k] >= least. */
FlStatus fl_agg_results(FlAgg *a, int64_t least);
/* Results from sums of the column, ints or floats (the other is NULL); a sum of integers must fit (OVERFLOW).
 * Means are made of sums of ints, or are there as doubles. */
FlStatus fl_agg_store_sums(FlAgg *a, const __int128 *ints, const double *floats);
FlStatus fl_agg_store_means(FlAgg *a, const __int128 *ints, const double *means);
/* Stores value k of a numeric result; v is cast to the result's type (integers: rounded half to even). */
void fl_agg_store(FlAgg *a, int64_t k, double v);
/* Rows counted by group: of those where both masks (NULL: all) hold. NULL: error recorded. */
int64_t *fl_agg_counts(FlAgg *a, const uint8_t *mask, const uint8_t *other, bool other_wanted);
/* Whether the groups are so many that what an aggregate keeps of them does not fit in memory; then
 * fl_agg_parts gives what `fn` gives, part by part, and makes its own counts. (agg_parts.c) */
bool fl_agg_is_large(const FlAgg *a);
/* Of several aggregates of the same groups: one of them, and what it is. */
typedef struct FlAggWanted {
  FlAgg *agg;
  const FlAggRow *row;
} FlAggWanted;
FlStatus fl_agg_parts(const FlAggWanted *of, int32_t n);
/* The first n elements of `found` become those of `all` from `at` on: what a part gives, behind the parts
 * before. */
FlStatus fl_agg_append(FlPartMem *m, FlArray *all, int64_t at, const FlArray *found, int64_t n);
/* A column as doubles, 0 where any column of the aggregate has no value. */
typedef struct FlAggDoubles {
  const FlPartCol *col;
  const uint8_t *other; /* validity of the other column; NULL: none */
} FlAggDoubles;
FlAggDoubles fl_agg_doubles(const FlAgg *a, int32_t k);
FlPartTermsFn fl_agg_read_doubles; /* env: an FlAggDoubles */
/* How n rows of g groups are cut into tasks: pieces of rows with a table of g places each, which stay small
 * against n; where few pieces are left, the groups are cut in ranges, too, and each task passes over the rows
 * of other groups. */
typedef struct FlAggCut {
  int64_t pieces, piece, ranges, range;
} FlAggCut;
FlAggCut fl_agg_cut(FlCtx *ctx, int64_t n, int64_t g);
/* Task t of pieces * ranges: its rows [row, last) and its groups [low, low + width). */
static inline void fl_agg_task(const FlAggCut *c, int64_t n, int64_t g, int64_t t, int64_t *row,
                               int64_t *last, int64_t *low, uint64_t *width) {
  int64_t p = t / c->ranges, r = t % c->ranges;
  *row = fl_part_min(p * c->piece, n);
  *last = fl_part_min((p + 1) * c->piece, n);
  *low = fl_part_min(r * c->range, g);
  *width = (uint64_t)(fl_part_min((r + 1) * c->range, g) - *low);
}
/* Positions of the ids [low, low + width) among n, at most FL_PART_CHUNK of them; returns how many there are.
 */
static inline int64_t fl_agg_in_range(const int64_t *id, int64_t n, int64_t low, uint64_t width,
                                      int32_t *at) {
  int64_t found = 0;
  for (int64_t i = 0; i < n; i++) {
    at[found] = (int32_t)i;
    found += (uint64_t)(id[i] - low) < width;
  }
  return found;
}
/* Rows ahead whose places are fetched while a large table of groups is filled. */
enum { FL_AGG_AHEAD = 16 };

#endif
