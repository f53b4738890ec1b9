/* shift.c: the operator shift_rows: for each row the row k places on among those of its group.
 *
 * Comes in: the group of each row, k, which may be negative. Goes out: row numbers, -1 where there is none.
 * Always holds: rows of a group are in the order in which they stand; nothing depends on how they were cut.
 *
 * Of neighbours (k is 1 or -1) one walk over the rows keeps the last row of each group. Pieces of the rows
 * are walked each by itself; the first row of a group in a piece gets its neighbour from the pieces before.
 * For other k the rows are put in the order of their groups. */
#include "part/window_internal.h"

typedef struct Ends {
  int64_t first, last; /* of a group in a piece, in the direction of the walk; -1: it has none */
} Ends;

typedef struct Shift {
  const int64_t *id;
  int64_t n, g, by;
  int64_t pieces, piece;
  Ends *ends;          /* [pieces][g] */
  const int64_t *rows; /* by group */
  int64_t *out;
} Shift;

static int32_t walk_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Shift *s = env;
  int64_t step = -s->by;
  (void)ctx;
  for (int64_t p = begin; p < end; p++) {
    int64_t from = p * s->piece, to = fl_part_min(from + s->piece, s->n);
    Ends *ends = s->ends + p * s->g;
    for (int64_t k = 0; k < s->g; k++) ends[k] = (Ends){-1, -1};
    int64_t row = step > 0 ? from : to - 1;
    for (int64_t i = from; i < to; i++, row += step) {
      Ends *e = &ends[s->id[row]];
      s->out[row] = e->last;
      if (e->last < 0) e->first = row;
      e->last = row;
    }
  }
  return 0;
}

/* The neighbours of the first rows, in pieces in the direction of the walk. */
static int32_t join_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Shift *s = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    int64_t last = -1;
    for (int64_t i = 0; i < s->pieces; i++) {
      const Ends *e = &s->ends[(s->by < 0 ? i : s->pieces - 1 - i) * s->g + k];
      if (e->first < 0) continue;
      s->out[e->first] = last;
      last = e->last;
    }
  }
  return 0;
}

static FlStatus neighbours(FlPartMem *m, Shift *s) {
  s->pieces = fl_window_pieces(s->n, s->g);
  s->piece = (s->n + s->pieces - 1) / s->pieces;
  s->ends = fl_part_alloc(m, s->pieces * s->g, sizeof *s->ends);
  return s->ends == NULL || fl_part_for(m->ctx, walk_body, s, s->pieces, 2.0 * (double)s->piece) != 0 ||
         fl_part_for(m->ctx, join_body, s, s->g, 5.0 * (double)s->pieces) != 0;
}

static int32_t shift_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Shift *s = env;
  (void)ctx;
  for (int64_t p = begin; p < end; p++) {
    int64_t row = s->rows[p], there = p + s->by;
    int64_t other = there >= 0 && there < s->n ? s->rows[there] : -1;
    s->out[row] = other >= 0 && s->id[other] == s->id[row] ? other : -1;
  }
  return 0;
}

static FlStatus by_order(FlPartMem *m, Shift *s) {
  int64_t *rows = fl_part_alloc(m, s->n, sizeof *rows), *start = fl_part_alloc(m, s->g + 1, sizeof *start);
  if (rows == NULL || start == NULL || fl_window_order(m, s->id, s->n, s->g, rows, start) != 0) return 1;
  if (s->by > s->n || s->by < -s->n) s->by = s->n; /* farther than any row is nowhere */
  s->rows = rows;
  return fl_part_for(m->ctx, shift_body, s, s->n, 4.0);
}

static FlStatus shift_rows(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  Shift s = {.id = args[1].a->data, .n = args[1].a->dims[0], .g = args[0].i, .by = args[2].i};
  (void)desc;
  *out = fl_array_new(m->ctx, FL_I64, 1, &s.n);
  if (*out == NULL) return 1;
  s.out = (*out)->data;
  if (s.n == 0) return 0;
  return s.by == 1 || s.by == -1 ? neighbours(m, &s) : by_order(m, &s);
}

FlStatus fl_rt_shift_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, shift_rows);
}
