/* aggregate.c: one value a group from columns: reads the call, finds the aggregate, counts.
 *
 * Comes in: the group of each row, one or two columns with or without nulls, the name of the aggregate. Goes
 * out: a value and its validity for each group. Always holds: nulls are skipped; the value under an invalid
 * result is zero; what is said in part.h about each aggregate, for any cut of the rows. */
#include <math.h>

#include "kern/kern.h"
#include "part/aggregate_internal.h"

FlAggCut fl_agg_cut(FlCtx *ctx, int64_t n, int64_t g) {
  enum { FEW = 4, MANY_GROUPS = 1 << 18 };
  int64_t most = fl_part_max(8, 4 * (int64_t)fl_ctx_workers(ctx));
  FlAggCut c = {.ranges = 1};
  c.pieces = fl_part_max(1, fl_part_min(most, n / fl_part_max(2 * g, FL_PART_CHUNK)));
  c.piece = (n + c.pieces - 1) / c.pieces;
  if (c.pieces < FEW && g >= MANY_GROUPS) c.ranges = FEW;
  c.range = (g + c.ranges - 1) / c.ranges;
  return c;
}

/* ---- counting ----------------------------------------------------------------------------------------- */

typedef struct Count {
  const FlAgg *a;
  const uint8_t *mask, *other;
  uint8_t wanted;
  FlAggCut cut;
  int64_t *counts; /* [pieces][g] */
} Count;

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Count *c = env;
  const int64_t *id = c->a->id;
  (void)ctx;
  for (int64_t t = begin; t < end; t++) {
    int64_t row, last, low;
    uint64_t width;
    fl_agg_task(&c->cut, c->a->n, c->a->g, t, &row, &last, &low, &width);
    int64_t *counts = c->counts + t / c->cut.ranges * c->a->g;
    memset(counts + low, 0, width * sizeof *counts);
    for (int64_t from = row; c->cut.ranges > 1 && from < last; from += FL_PART_BATCH) {
      int32_t at[FL_PART_BATCH];
      int64_t found = fl_agg_in_range(id + from, fl_part_min(FL_PART_BATCH, last - from), low, width, at);
      for (int64_t j = 0; j < found; j++) {
        int64_t i = from + at[j], ahead = from + at[fl_part_min(j + FL_AGG_AHEAD, found - 1)];
        __builtin_prefetch(&counts[id[ahead]], 1);
        bool in = fl_part_valid(c->mask, i) && (c->other == NULL || (c->other[i] != 0) == c->wanted);
        counts[id[i]] += in;
      }
    }
    if (c->cut.ranges > 1) continue;
    if (id != NULL && c->mask == NULL && c->other == NULL) {
      if (fl_part_are_few(c->a->g)) fl_part_few_count(id + row, last - row, c->a->g, counts);
      else
        for (int64_t i = row; i < last; i++) counts[id[i]]++;
      continue;
    }
    if (id != NULL && c->mask != NULL && c->other == NULL) {
      for (int64_t i = row; i < last; i++) counts[id[i]] += c->mask[i] != 0;
      continue;
    }
    for (int64_t i = row; i < last; i++) {
      bool in = fl_part_valid(c->mask, i) && (c->other == NULL || (c->other[i] != 0) == c->wanted);
      counts[id != NULL ? id[i] : 0] += in;
    }
  }
  return 0;
}

static int32_t add_counts_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Count *c = env;
  (void)ctx;
  for (int64_t p = 1; p < c->cut.pieces; p++) {
    for (int64_t k = begin; k < end; k++) c->counts[k] += c->counts[p * c->a->g + k];
  }
  return 0;
}

int64_t *fl_agg_counts(FlAgg *a, const uint8_t *mask, const uint8_t *other, bool other_wanted) {
  Count c = {
      .a = a, .mask = mask, .other = other, .wanted = other_wanted, .cut = fl_agg_cut(a->m->ctx, a->n, a->g)};
  c.counts = fl_part_alloc(a->m, c.cut.pieces * a->g, sizeof *c.counts);
  if (c.counts == NULL || a->g == 0) return c.counts;
  if (a->id == NULL && mask == NULL && other == NULL) {
    c.counts[0] = a->n;
    return c.counts;
  }
  if (fl_part_for(a->m->ctx, count_body, &c, c.cut.pieces * c.cut.ranges, 1.2 * (double)c.cut.piece) != 0)
    return NULL;
  if (fl_part_for(a->m->ctx, add_counts_body, &c, a->g, 1.0 * (double)c.cut.pieces) != 0) return NULL;
  return c.counts;
}

FlStatus fl_agg_make(FlAgg *a, const FlAggRow *row) {
  const uint8_t *valid = a->n_cols > 0 ? a->col[0].valid : NULL;
  if (row->state != FL_STATE_SUM) { /* a sum does not ask of how many */
    a->counts = fl_agg_counts(a, valid, a->n_cols > 1 ? a->col[1].valid : NULL, true);
    if (a->counts == NULL) return 1;
  }
  return row->fn(a);
}

/* ---- groups ------------------------------------------------------------------------------------------- */

void fl_agg_read_ids(const FlArray *ids, const int64_t **id, FlAggFew *few) {
  if (ids->dtype == FL_I64) *id = ids->data;
  else *few = (FlAggFew){ids->data, fl_dtype_info[ids->dtype].bytes};
}

typedef struct Widen {
  FlAggFew few;
  int64_t *to;
} Widen;

static int32_t widen_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Widen *w = env;
  (void)ctx;
  if (w->few.bytes == 1)
    for (int64_t i = begin; i < end; i++) w->to[i] = ((const uint8_t *)w->few.id)[i];
  else
    for (int64_t i = begin; i < end; i++) w->to[i] = ((const uint16_t *)w->few.id)[i];
  return 0;
}

FlStatus fl_agg_widen(FlAgg *a) {
  if (a->few.id == NULL) return 0;
  Widen w = {a->few, fl_part_alloc(a->m, a->n, sizeof *w.to)};
  if (w.to == NULL || fl_part_for(a->m->ctx, widen_body, &w, a->n, 0.5) != 0) return 1;
  a->id = w.to;
  a->few = (FlAggFew){0};
  return 0;
}

/* ---- results ------------------------------------------------------------------------------------------ */

FlStatus fl_agg_results(FlAgg *a, int64_t least) {
  a->value = fl_array_new(a->m->ctx, a->desc->result_types[0].dtype, 1, &a->g);
  a->valid = fl_array_new(a->m->ctx, FL_BOOL, 1, &a->g);
  if (a->value == NULL || a->valid == NULL) return 1;
  uint8_t *valid = a->valid->data;
  for (int64_t k = 0; k < a->g; k++) valid[k] = least == 0 || a->counts[k] >= least;
  return 0;
}

void fl_agg_store(FlAgg *a, int64_t k, double v) {
  void *data = a->value->data;
  double whole = nearbyint(v);
  switch ((FlDtype)a->value->dtype) {
  case FL_F64: ((double *)data)[k] = fl_s_canon_f64(v); break;
  case FL_F32: ((float *)data)[k] = fl_s_canon_f32((float)v); break;
  case FL_I64:
  case FL_DATETIME:
  case FL_DURATION:
  case FL_ANY_DECIMAL: ((int64_t *)data)[k] = (int64_t)whole; break;
  case FL_DATE:
  case FL_I32: ((int32_t *)data)[k] = (int32_t)whole; break;
  case FL_I16: ((int16_t *)data)[k] = (int16_t)whole; break;
  case FL_I8: ((int8_t *)data)[k] = (int8_t)whole; break;
  case FL_U64: ((uint64_t *)data)[k] = (uint64_t)whole; break;
  case FL_U32: ((uint32_t *)data)[k] = (uint32_t)whole; break;
  case FL_U16: ((uint16_t *)data)[k] = (uint16_t)whole; break;
  case FL_U8:
  case FL_BOOL: ((uint8_t *)data)[k] = (uint8_t)whole; break;
  case FL_TEXT:
  case FL_FILE:
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: break;
  }
}

FlAggDoubles fl_agg_doubles(const FlAgg *a, int32_t k) {
  return (FlAggDoubles){&a->col[k], a->n_cols > 1 ? a->col[1 - k].valid : NULL};
}

const double *fl_agg_read_doubles(const void *env, int64_t row, int64_t n, double *room) {
  const FlAggDoubles *d = env;
  if (d->col->dtype == FL_F64 && d->col->valid == NULL && d->other == NULL)
    return (const double *)d->col->data + row;
  fl_part_read_f64(d->col, row, n, room);
  if (d->other != NULL) fl_part_zero_nulls(d->other + row, n, room);
  return room;
}

/* ---- counting aggregates ------------------------------------------------------------------------------- */

static FlStatus store_i64(FlAgg *a, const int64_t *values) {
  if (values == NULL || fl_agg_results(a, 0) != 0) return 1;
  if (a->value->dtype == FL_I64) memcpy(a->value->data, values, (size_t)a->g * sizeof *values);
  else
    for (int64_t k = 0; k < a->g; k++) fl_agg_store(a, k, (double)values[k]);
  return 0;
}

FlStatus fl_agg_count(FlAgg *a) {
  bool of_bools = a->n_cols > 0 && a->col[0].dtype == FL_BOOL;
  if (!of_bools) return store_i64(a, a->counts);
  return store_i64(a, fl_agg_counts(a, a->col[0].valid, a->col[0].data, true));
}

static FlStatus has(FlAgg *a, bool wanted, bool result) {
  const int64_t *found = fl_agg_counts(a, a->col[0].valid, a->col[0].data, wanted);
  if (found == NULL || fl_agg_results(a, 0) != 0) return 1;
  uint8_t *value = a->value->data;
  for (int64_t k = 0; k < a->g; k++) value[k] = (found[k] > 0) == result;
  return 0;
}

FlStatus fl_agg_any(FlAgg *a) { return has(a, true, true); }
FlStatus fl_agg_all(FlAgg *a) { return has(a, false, false); }

/* ---- the operator ------------------------------------------------------------------------------------- */

const FlAggRow *fl_agg_find(const char *name, size_t length) {
  static const FlAggRow rows[] = {
#define FL_AGG_ROW(NAME, text, COLUMNS, RESULT, NULLS, STATE, SWEEP, ...)                                    \
  {#text, fl_agg_##text, COLUMNS, FL_STATE_##STATE, FL_SWEEP_##SWEEP},
#include "flow/aggregates.def"
#undef FL_AGG_ROW
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (strncmp(name, rows[k].name, length) == 0 && rows[k].name[length] == 0) return &rows[k];
  return NULL;
}

FlAggState fl_agg_state(const char *name) {
  const FlAggRow *row = fl_agg_find(name, strlen(name));
  return row != NULL ? row->state : FL_STATE_NONE;
}

static FlStatus aggregate(FlAgg *a, const FlSlot *args) {
  const FlOpDesc *desc = a->desc;
  FlCtx *ctx = a->m->ctx;
  int32_t at = 2;
  const FlAggRow *row = fl_agg_find(desc->s, strlen(desc->s));
  a->n_cols = desc->n_columns;
  if (row == NULL || a->n_cols < row->n_cols || a->n_cols > 2) {
    return fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "no aggregate %s of %d columns", desc->s, (int)a->n_cols);
  }
  for (int32_t k = 0; k < a->n_cols; k++) {
    if (fl_part_col(ctx, desc, args, &at, &desc->columns[k], &a->col[k]) != 0) return 1;
  }
  bool one = desc->i == 1;
  a->g = one ? 1 : args[0].i;
  if (!one) fl_agg_read_ids(args[1].a, &a->id, &a->few);
  a->n = one && a->n_cols > 0 ? a->col[0].n : args[1].a->dims[0];
  for (int32_t k = 0; k < a->n_cols; k++) {
    if (a->col[k].n != a->n) return fl_part_fail_shape(ctx, desc, a->n, a->col[k].n);
  }
  if (a->few.id != NULL && fl_agg_sweeps(a, row)) return fl_agg_sweep_one(a, row);
  if (fl_agg_widen(a) != 0) return 1;
  if (fl_agg_is_large(a)) return fl_agg_parts(&(FlAggWanted){a, row}, 1);
  return fl_agg_make(a, row);
}

FlStatus fl_rt_aggregate(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  FlAgg a = {.m = &mem, .desc = desc};
  FlStatus status = aggregate(&a, args);
  fl_part_mem_reset(&mem);
  if (status != 0) {
    fl_array_unref(a.value);
    fl_array_unref(a.valid);
    return status;
  }
  results[0].a = a.value;
  results[1].a = a.valid;
  return 0;
}
