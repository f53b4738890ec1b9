/* window.c: rows in the order of their groups: the operator group_order.
 *
 * Comes in: the group of each row. Goes out: row numbers. Always holds: within a group rows keep their order;
 * nothing depends on how the rows were cut.
 *
 * Rows are counted by group in pieces, and then each piece puts its rows where they belong. With so many
 * groups that few pieces are left, the group numbers are sorted instead. */
#include "part/window_internal.h"

typedef struct Order {
  const int64_t *id;
  int64_t n, g, pieces, piece;
  int64_t *place; /* [pieces][g]: rows of the group in the piece, then where its next row goes */
  int64_t *rows;
  uint64_t *word;
} Order;

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t p = begin; p < end; p++) {
    int64_t *counts = o->place + p * o->g, last = fl_part_min((p + 1) * o->piece, o->n);
    memset(counts, 0, (size_t)o->g * sizeof *counts);
    for (int64_t i = p * o->piece; i < last; i++) counts[o->id[i]]++;
  }
  return 0;
}

static int32_t place_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t p = begin; p < end; p++) {
    int64_t *place = o->place + p * o->g, last = fl_part_min((p + 1) * o->piece, o->n);
    for (int64_t i = p * o->piece; i < last; i++) o->rows[place[o->id[i]]++] = i;
  }
  return 0;
}

static int32_t same_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) o->rows[i] = i;
  return 0;
}

static int32_t word_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) o->word[i] = (uint64_t)o->id[i];
  return 0;
}

/* start[k] from the counts of all pieces; the counts become places. */
static void place_groups(Order *o, int64_t *start) {
  int64_t at = 0;
  for (int64_t k = 0; k < o->g; k++) {
    start[k] = at;
    for (int64_t p = 0; p < o->pieces; p++) {
      int64_t count = o->place[p * o->g + k];
      o->place[p * o->g + k] = at;
      at += count;
    }
  }
  start[o->g] = at;
}

FlStatus fl_window_order(FlPartMem *m, const int64_t *id, int64_t n, int64_t g, int64_t *rows,
                         int64_t *start) {
  enum { FEW = 4 };
  Order o = {.id = id, .n = n, .g = g, .rows = rows};
  if (id == NULL || g == 1) {
    start[0] = 0;
    start[1] = n;
    return fl_part_for(m->ctx, same_body, &o, n, 0.7);
  }
  o.pieces = fl_window_pieces(n, g);
  o.piece = (n + o.pieces - 1) / o.pieces;
  o.place = fl_part_alloc(m, o.pieces * g, sizeof *o.place);
  if (o.place == NULL) return 1;
  if (fl_part_for(m->ctx, count_body, &o, o.pieces, 1.5 * (double)o.piece) != 0) return 1;
  place_groups(&o, start);
  FlStatus status = 1;
  if (o.pieces >= FEW || n < 4 * FL_PART_CHUNK) {
    status = fl_part_for(m->ctx, place_body, &o, o.pieces, 2.0 * (double)o.piece);
  } else {
    o.word = fl_part_alloc(m, n, sizeof *o.word);
    FlPartWord word = {.stored = o.word, .bits = fl_part_bits((uint64_t)g), .max = (uint64_t)g};
    FlPartCodes codes = {.n = n, .n_left = n, .n_words = 1, .words = &word};
    if (o.word != NULL && fl_part_for(m->ctx, word_body, &o, n, 0.7) == 0)
      status = fl_part_order_codes(m, &codes, rows);
    fl_part_release(m, o.word);
  }
  fl_part_release(m, o.place);
  return status;
}

/* ---- group_order -------------------------------------------------------------------------------------- */

typedef struct Ascending {
  const int64_t *rows, *start, *id;
  const uint64_t *code;
  const uint8_t *valid;
  int64_t n;
  _Atomic int32_t broken;
} Ascending;

static int32_t ascending_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Ascending *a = (Ascending *)(uintptr_t)env;
  bool broken = false;
  (void)ctx;
  for (int64_t p = fl_part_max(begin, 1); p < end; p++) {
    int64_t i = a->rows[p - 1], j = a->rows[p];
    bool known_i = fl_part_valid(a->valid, i), known_j = fl_part_valid(a->valid, j);
    bool fine = known_i ? !known_j || a->code[i] <= a->code[j] : !known_j;
    broken |= !fine && (a->id == NULL || a->id[i] == a->id[j]);
  }
  if (broken) atomic_store_explicit(&a->broken, 1, memory_order_relaxed);
  return 0;
}

typedef struct Code {
  const FlPartCol *col;
  uint64_t *code;
} Code;

static int32_t code_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Code *c = env;
  (void)ctx;
  fl_part_read_code(c->col, begin, end - begin, c->code + begin);
  return 0;
}

/* Rows by group, and within it by the column, ascending, null last; rows already are by group. */
static FlStatus order_by(FlPartMem *m, FlArray *id, const FlPartCol *by, int64_t *rows,
                         const int64_t *start) {
  Code c = {by, fl_part_alloc(m, by->n, sizeof *c.code)};
  if (c.code == NULL || fl_part_for(m->ctx, code_body, &c, by->n, 1.0) != 0) return 1;
  Ascending a = {.rows = rows,
                 .start = start,
                 .id = id != NULL ? id->data : NULL,
                 .code = c.code,
                 .valid = by->valid,
                 .n = by->n};
  if (fl_part_for(m->ctx, ascending_body, &a, by->n, 2.0) != 0) return 1;
  fl_part_release(m, c.code);
  if (!atomic_load(&a.broken)) return 0;
  FlPartKey keys[2];
  int32_t n_keys = 0;
  memset(keys, 0, sizeof keys);
  if (id != NULL)
    keys[n_keys++].side[0] = (FlPartCol){.dtype = FL_I64, .n = by->n, .data = id->data, .array = id};
  keys[n_keys++].side[0] = *by;
  FlPartCodes codes;
  if (fl_part_encode(m, keys, n_keys, 1, true, &codes) != 0) return 1;
  return fl_part_order_codes(m, &codes, rows);
}

static FlStatus group_order(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  bool one = desc->i == 1;
  FlArray *id = one ? NULL : args[1].a;
  int64_t n = args[1].a->dims[0], g = one ? 1 : args[0].i, starts = g + 1;
  int32_t at = 2;
  FlPartCol by = {0};
  if (desc->n_columns > 0 && fl_part_col(m->ctx, desc, args, &at, &desc->columns[0], &by) != 0) return 1;
  if (desc->n_columns > 0 && by.n != n) return fl_part_fail_shape(m->ctx, desc, n, by.n);
  out[0] = fl_array_new(m->ctx, FL_I64, 1, &n);
  out[1] = fl_array_new(m->ctx, FL_I64, 1, &starts);
  if (out[0] == NULL || out[1] == NULL) return 1;
  int64_t *rows = out[0]->data, *start = out[1]->data;
  if (fl_window_order(m, id != NULL ? id->data : NULL, n, g, rows, start) != 0) return 1;
  return desc->n_columns > 0 ? order_by(m, id, &by, rows, start) : 0;
}

FlStatus fl_rt_group_order(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 2, group_order);
}
