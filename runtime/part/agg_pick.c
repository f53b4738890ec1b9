/* agg_pick.c: aggregates that pick one row of each group: min, max, argmin, argmax, first, last.
 *
 * Comes in: a column of any type but lists. Goes out: the row's value, or its position in the group. Always
 * holds: of equal values the first row wins; a NaN wins over every number, as in the scalar min and max; -0.0
 * equals 0.0. */
#include "part/aggregate_internal.h"
#include "data/text_order.h"

typedef enum Rule { LEAST, GREATEST, FIRST, LAST } Rule;

typedef struct Pick {
  const FlAgg *a;
  Rule rule;
  int64_t pieces, piece;
  uint64_t *code; /* [pieces][g] of the row picked so far; the lower wins */
  int64_t *row;   /* [pieces][g], -1: none */
} Pick;

/* Codes in which the lower wins. */
static void read_codes(const Pick *p, int64_t row, int64_t n, uint64_t *code) {
  const FlPartCol *col = &p->a->col[0];
  bool floats = fl_dtype_is_float(col->dtype);
  if (p->rule == FIRST || p->rule == LAST) {
    for (int64_t i = 0; i < n; i++) code[i] = p->rule == FIRST ? 0 : UINT64_MAX - (uint64_t)(row + i);
    return;
  }
  fl_part_read_code(col, row, n, code);
  if (p->rule == GREATEST) { /* NaN has the highest code */
    for (int64_t i = 0; i < n; i++) code[i] = ~code[i];
  } else if (floats) {
    for (int64_t i = 0; i < n; i++) code[i]++; /* NaN becomes 0; no number has the highest code */
  }
}

static int32_t pick_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Pick *p = env;
  const int64_t *id = p->a->id;
  const uint8_t *valid = p->a->col[0].valid;
  uint64_t next[FL_PART_BATCH];
  (void)ctx;
  for (int64_t piece = begin; piece < end; piece++) {
    uint64_t *code = p->code + piece * p->a->g;
    int64_t *picked = p->row + piece * p->a->g, last = fl_part_min((piece + 1) * p->piece, p->a->n);
    for (int64_t k = 0; k < p->a->g; k++) picked[k] = -1;
    for (int64_t row = piece * p->piece; row < last; row += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, last - row);
      read_codes(p, row, count, next);
      for (int64_t i = 0; i < count; i++) {
        int64_t k = id != NULL ? id[row + i] : 0;
        if (!fl_part_valid(valid, row + i) || (picked[k] >= 0 && next[i] >= code[k])) continue;
        code[k] = next[i];
        picked[k] = row + i;
      }
    }
  }
  return 0;
}

static int32_t merge_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Pick *p = env;
  (void)ctx;
  for (int64_t piece = 1; piece < p->pieces; piece++) {
    const uint64_t *code = p->code + piece * p->a->g;
    const int64_t *row = p->row + piece * p->a->g;
    for (int64_t k = begin; k < end; k++) {
      if (row[k] < 0 || (p->row[k] >= 0 && code[k] >= p->code[k])) continue;
      p->code[k] = code[k];
      p->row[k] = row[k];
    }
  }
  return 0;
}

static bool text_wins(const Pick *p, int64_t row, int64_t other) {
  const FlText *t = p->a->col[0].data;
  int order = fl_text_order(t[row], t[other]);
  return p->rule == LEAST ? order < 0 : order > 0;
}

static int32_t pick_text_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Pick *p = env;
  const int64_t *id = p->a->id;
  (void)ctx;
  for (int64_t piece = begin; piece < end; piece++) {
    int64_t *picked = p->row + piece * p->a->g, last = fl_part_min((piece + 1) * p->piece, p->a->n);
    for (int64_t k = 0; k < p->a->g; k++) picked[k] = -1;
    for (int64_t row = piece * p->piece; row < last; row++) {
      int64_t k = id != NULL ? id[row] : 0;
      if (!fl_part_valid(p->a->col[0].valid, row)) continue;
      if (picked[k] < 0 || text_wins(p, row, picked[k])) picked[k] = row;
    }
  }
  return 0;
}

static int32_t merge_text_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Pick *p = env;
  (void)ctx;
  for (int64_t piece = 1; piece < p->pieces; piece++) {
    const int64_t *row = p->row + piece * p->a->g;
    for (int64_t k = begin; k < end; k++) {
      if (row[k] >= 0 && (p->row[k] < 0 || text_wins(p, row[k], p->row[k]))) p->row[k] = row[k];
    }
  }
  return 0;
}

/* The row picked in each group, -1 without one. NULL: error recorded. */
static int64_t *pick_rows(FlAgg *a, Rule rule) {
  Pick p = {.a = a, .rule = rule};
  FlCtx *ctx = a->m->ctx;
  bool text = fl_dtype_info[a->col[0].dtype].kind == FL_KIND_TEXT && (rule == LEAST || rule == GREATEST);
  FlAggCut cut = fl_agg_cut(a->m->ctx, a->n, a->g);
  p.pieces = cut.pieces;
  p.piece = cut.piece;
  p.code = fl_part_alloc(a->m, p.pieces * a->g, sizeof *p.code);
  p.row = fl_part_alloc(a->m, p.pieces * a->g, sizeof *p.row);
  if (p.code == NULL || p.row == NULL) return NULL;
  if (fl_part_for(ctx, text ? pick_text_body : pick_body, &p, p.pieces, 2.0 * (double)p.piece) != 0)
    return NULL;
  if (fl_part_for(ctx, text ? merge_text_body : merge_body, &p, a->g, 2.0 * (double)p.pieces) != 0)
    return NULL;
  return p.row;
}

static FlStatus pick_value(FlAgg *a, Rule rule) {
  const int64_t *rows = pick_rows(a, rule);
  if (rows == NULL) return 1;
  a->value = fl_part_take(a->m->ctx, a->col[0].array, rows, a->g);
  a->valid = fl_part_has_row(a->m->ctx, rows, a->g);
  return a->value == NULL || a->valid == NULL;
}

FlStatus fl_agg_min(FlAgg *a) { return pick_value(a, LEAST); }
FlStatus fl_agg_max(FlAgg *a) { return pick_value(a, GREATEST); }
FlStatus fl_agg_first(FlAgg *a) { return pick_value(a, FIRST); }
FlStatus fl_agg_last(FlAgg *a) { return pick_value(a, LAST); }

/* Positions count all rows of the group, from 0. */
static FlStatus pick_position(FlAgg *a, Rule rule) {
  const int64_t *rows = pick_rows(a, rule);
  if (rows == NULL) return 1;
  int64_t *seen = fl_part_zalloc(a->m, a->g, sizeof *seen);
  if (seen == NULL || fl_agg_results(a, 1) != 0) return 1;
  int64_t *value = a->value->data;
  for (int64_t k = 0; k < a->g; k++) value[k] = a->id == NULL && rows[k] >= 0 ? rows[k] : 0;
  for (int64_t i = 0; a->id != NULL && i < a->n; i++) {
    int64_t k = a->id[i], position = seen[k]++;
    if (rows[k] == i) value[k] = position;
  }
  return 0;
}

FlStatus fl_agg_argmin(FlAgg *a) { return pick_position(a, LEAST); }
FlStatus fl_agg_argmax(FlAgg *a) { return pick_position(a, GREATEST); }
