/* agg_sum.c: sums and means by group.
 *
 * Floats: the exact sum of the terms, or its quotient by the count, rounded once (exact.c). Integers, bools
 * and durations: added in 128 bits; a sum is checked once against the result's type, a mean rounded once. */
#include <stdio.h>

#include "part/aggregate_internal.h"

static bool is_float(const FlPartCol *c) { return fl_dtype_is_float(c->dtype); }

typedef struct Ints {
  const FlAgg *a;
  const FlPartCol *col;
  FlAggCut cut;
  __int128 *sums; /* [pieces][g] */
} Ints;

static int32_t ints_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Ints *s = env;
  const FlPartCol *col = s->col;
  const int64_t *id = s->a->id;
  bool wide = col->dtype == FL_U64, few = id != NULL && fl_part_are_few(s->a->g);
  int64_t x[FL_PART_BATCH];
  (void)ctx;
  for (int64_t t = begin; t < end; t++) {
    int64_t first, last, low;
    uint64_t width;
    fl_agg_task(&s->cut, s->a->n, s->a->g, t, &first, &last, &low, &width);
    __int128 *sums = s->sums + t / s->cut.ranges * s->a->g;
    memset(sums + low, 0, width * sizeof *sums);
    for (int64_t row = first; row < last; row += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, last - row);
      fl_part_read_i64(col, row, count, x);
      if (few) fl_part_few_add(id + row, x, count, s->a->g, wide, sums);
      for (int64_t i = 0; !few && i < count; i++) {
        int64_t k = id != NULL ? id[row + i] : 0;
        if ((uint64_t)(k - low) < width) sums[k] += wide ? (__int128)(uint64_t)x[i] : (__int128)x[i];
      }
    }
  }
  return 0;
}

static int32_t add_ints_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Ints *s = env;
  (void)ctx;
  for (int64_t p = 1; p < s->cut.pieces; p++) {
    for (int64_t k = begin; k < end; k++) s->sums[k] += s->sums[p * s->a->g + k];
  }
  return 0;
}

/* Sums of column k by group; NULL: error recorded. */
static __int128 *int_sums(FlAgg *a, int32_t k) {
  Ints s = {.a = a, .col = &a->col[k], .cut = fl_agg_cut(a->m->ctx, a->n, a->g)};
  s.sums = fl_part_alloc(a->m, s.cut.pieces * a->g, sizeof *s.sums);
  int64_t tasks = s.cut.pieces * s.cut.ranges;
  if (s.sums == NULL || fl_part_for(a->m->ctx, ints_body, &s, tasks, 1.5 * (double)s.cut.piece) != 0)
    return NULL;
  if (fl_part_for(a->m->ctx, add_ints_body, &s, a->g, 1.0 * (double)s.cut.pieces) != 0) return NULL;
  return s.sums;
}

/* Sums of the first column, with `count` its means; NULL: error recorded. */
static double *float_sums(FlAgg *a, const int64_t *count) {
  FlAggDoubles x = fl_agg_doubles(a, 0);
  FlPartTerms terms = {fl_agg_read_doubles, &x};
  double *sums = fl_part_alloc(a->m, a->g, sizeof *sums);
  return sums == NULL || fl_part_exact_sums(a->m, terms, a->id, a->n, a->g, count, sums) != 0 ? NULL : sums;
}

/* Stores an integer result; false when it does not fit. */
static bool store_int(FlArray *value, int64_t k, __int128 v) {
#define STORE(T)                                                                                             \
  {                                                                                                          \
    ((T *)value->data)[k] = (T)v;                                                                            \
    return (__int128)((T *)value->data)[k] == v;                                                             \
  }
  switch ((FlDtype)value->dtype) {
  case FL_BOOL:
  case FL_U8: STORE(uint8_t)
  case FL_I8: STORE(int8_t)
  case FL_I16: STORE(int16_t)
  case FL_I32:
  case FL_DATE: STORE(int32_t)
  case FL_I64:
  case FL_DATETIME:
  case FL_DURATION:
  case FL_ANY_DECIMAL: STORE(int64_t)
  case FL_U16: STORE(uint16_t)
  case FL_U32: STORE(uint32_t)
  case FL_U64: STORE(uint64_t)
  case FL_F32: ((float *)value->data)[k] = (float)v; return true;
  case FL_F64: ((double *)value->data)[k] = (double)v; return true;
  case FL_TEXT:
  case FL_FILE:
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: break;
  }
#undef STORE
  return false;
}

static FlStatus fail_overflow(FlAgg *a, int64_t k) {
  const char *name = a->desc->columns[0].name, *type = fl_dtype_info[a->value->dtype].name;
  char of[80] = "";
  if (name != NULL) (void)snprintf(of, sizeof of, " of `%.64s`", name);
  FlStatus status = fl_fail_op(a->m->ctx, a->desc, FL_FAULT_OVERFLOW,
                               "integer overflow: the sum%s does not fit %s", of, type);
  int64_t group = a->base + k;
  if (a->id != NULL || a->few.id != NULL) fl_fail_position(a->m->ctx, 1, &group);
  return status;
}

FlStatus fl_agg_store_sums(FlAgg *a, const __int128 *ints, const double *floats) {
  if (fl_agg_results(a, 0) != 0) return 1;
  for (int64_t k = 0; floats != NULL && k < a->g; k++) fl_agg_store(a, k, floats[k]);
  for (int64_t k = 0; ints != NULL && k < a->g; k++) {
    if (!store_int(a->value, k, ints[k])) return fail_overflow(a, k);
  }
  return 0;
}

FlStatus fl_agg_sum(FlAgg *a) {
  if (is_float(&a->col[0]) && a->desc->result_types[0].dtype == FL_F64) {
    FlAggDoubles x = fl_agg_doubles(a, 0);
    if (fl_agg_results(a, 0) != 0) return 1;
    return fl_part_exact_sums(a->m, (FlPartTerms){fl_agg_read_doubles, &x}, a->id, a->n, a->g, NULL,
                              a->value->data);
  }
  const double *floats = is_float(&a->col[0]) ? float_sums(a, NULL) : NULL;
  const __int128 *ints = is_float(&a->col[0]) ? NULL : int_sums(a, 0);
  return floats == NULL && ints == NULL ? 1 : fl_agg_store_sums(a, ints, floats);
}

__int128 fl_part_divide_rounded(__int128 sum, int64_t count) {
  __int128 whole = sum / count, rest = sum % count;
  if (rest < 0) {
    whole--;
    rest += count;
  }
  return whole + (rest * 2 > count || (rest * 2 == count && (whole & 1)));
}

FlStatus fl_agg_store_means(FlAgg *a, const __int128 *ints, const double *means) {
  bool to_floats = fl_dtype_is_float(a->desc->result_types[0].dtype);
  int32_t of = a->col[0].dtype;
  int digits = fl_dtype_is_decimal(of) ? fl_decimal_scale(of) : 0;
  if (fl_agg_results(a, 1) != 0) return 1;
  for (int64_t k = 0; k < a->g; k++) {
    int64_t count = a->counts[k];
    if (count == 0) fl_agg_store(a, k, 0.0);
    else if (ints == NULL) fl_agg_store(a, k, means[k]);
    else if (to_floats) fl_agg_store(a, k, fl_exact_mean(ints[k], 0, count, digits));
    else (void)store_int(a->value, k, fl_part_divide_rounded(ints[k], count));
  }
  return 0;
}

FlStatus fl_agg_mean(FlAgg *a) {
  bool of_floats = is_float(&a->col[0]);
  const double *floats = of_floats ? float_sums(a, a->counts) : NULL;
  const __int128 *ints = of_floats ? NULL : int_sums(a, 0);
  return floats == NULL && ints == NULL ? 1 : fl_agg_store_means(a, ints, floats);
}

/* The mean of what parts of a table have left (partial.c): sums, and of how many values each is. */
FlStatus fl_agg_mean_of(FlAgg *a) {
  const __int128 *counts = int_sums(a, 1);
  int64_t *values = fl_part_alloc(a->m, a->g, sizeof *values);
  if (counts == NULL || values == NULL) return 1;
  for (int64_t k = 0; k < a->g; k++) values[k] = (int64_t)counts[k];
  a->counts = values;
  return fl_agg_mean(a);
}
