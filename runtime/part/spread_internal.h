/* spread_internal.h: what agg_spread.c, spread_full.c and spread_pairs.c share: which sums of a group an
 * aggregate of one or two columns needs, and its value by them. */
#ifndef FL_PART_SPREAD_INTERNAL_H
#define FL_PART_SPREAD_INTERNAL_H

#include "part/aggregate_internal.h"

enum { FL_SPREAD_PRODUCTS = 3 };

typedef enum FlSpreadKind {
  FL_SPREAD_VAR,
  FL_SPREAD_STD,
  FL_SPREAD_COV,
  FL_SPREAD_CORR,
  FL_SPREAD_MEAN
} FlSpreadKind;

/* A sum of products of two columns, or of the squares of one. */
typedef struct FlSpreadPair {
  int8_t a, b;
} FlSpreadPair;

/* What keeps a group from the fast way: a value with bits below the unit; an infinity or NaN. */
enum { FL_SPREAD_FULL = 1, FL_SPREAD_SPECIAL = 2 };

typedef struct FlSpread {
  FlAgg *a;
  FlSpreadKind kind;
  int32_t n_products;
  const FlSpreadPair *product; /* the first of x and y; of corr also of x and of y */
  bool specials;               /* some column has an infinity or NaN */
  _Atomic uint8_t *mark;       /* [g] */
} FlSpread;

/* Exact sums of the rows of a group where every column has a value. */
typedef struct FlSpreadSums {
  FlBig sum[2], product[FL_SPREAD_PRODUCTS];
} FlSpreadSums;
typedef void FlSpreadSumsFn(const void *env, int64_t k, FlSpreadSums *out);

static inline void fl_spread_mark(const FlSpread *s, int64_t k, uint8_t what) {
  atomic_fetch_or_explicit(&s->mark[k], what, memory_order_relaxed);
}
static inline bool fl_spread_is_float(const FlSpread *s, int32_t k) {
  return fl_dtype_is_float(s->a->col[k].dtype);
}
/* Rows of column k, 0 where some column has no value: floats in `room`, or where they are already; others as
 * 64 bits. */
const double *fl_spread_doubles(const FlSpread *s, int32_t k, int64_t row, int64_t n, double *room);
void fl_spread_ints(const FlSpread *s, int32_t k, int64_t row, int64_t n, int64_t *out);

/* The value of n rows with these sums. */
double fl_spread_value(const FlSpread *s, int64_t n, const FlSpreadSums *sums);
/* The same by the terms of the formula: what is divided, and what by: of var, std and cov n (n - ddof), of
 * corr the moments of x and of y. */
double fl_spread_of_terms(const FlSpread *s, const FlBig *term);
void fl_spread_count(const FlSpread *s, int64_t n, FlBig *out); /* n (n - ddof) */
/* The only group's value, which has rows enough for one. */
FlStatus fl_spread_store(FlSpread *s, double v);
/* Stores the value of the only group, with rows enough, if it is of floats; *done: false where that is left
 * to the others. (spread_pairs.c) */
FlStatus fl_spread_pairs(FlSpread *s, bool *done);
/* Stores the values of the groups that are not marked. */
FlStatus fl_spread_results(FlSpread *s, FlSpreadSumsFn *sums, const void *env);
/* Stores those of the others. (spread_full.c) */
FlStatus fl_spread_full(FlSpread *s);

#endif
