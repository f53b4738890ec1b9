/* selection.c: which rows a filter keeps: counted, copied, numbered, and those that a filter keeps of what
 * another kept. See selection.h. */
#include "part/selection.h"

#include "data/kept_rows.h"

enum { BLOCKS = FL_PART_CHUNK / FL_KEPT_BLOCK };
_Static_assert(FL_PART_CHUNK % FL_KEPT_BLOCK == 0, "chunks are whole blocks");

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  FlSelection *s = *(FlSelection *const *)env;
  const uint8_t *mask = s->mask->data;
  (void)ctx;
  for (int64_t at = begin * FL_PART_CHUNK; at < fl_part_min(end * FL_PART_CHUNK, s->n); at += FL_KEPT_BLOCK)
    s->before[at / FL_KEPT_BLOCK] = fl_count_true(mask + at, fl_part_min(FL_KEPT_BLOCK, s->n - at));
  return 0;
}

FlSelection *fl_part_selection(FlCtx *ctx, FlArray *mask) {
  FlSelection *s = fl_selection_new(ctx, mask);
  if (s == NULL) return NULL;
  if (fl_part_for(ctx, count_body, &s, fl_part_chunks(s->n), 0.2 * FL_PART_CHUNK) != 0) {
    fl_selection_unref(s);
    return NULL;
  }
  for (int64_t at = 0; at < s->n; at += FL_KEPT_BLOCK) {
    int64_t here = s->before[at / FL_KEPT_BLOCK];
    s->before[at / FL_KEPT_BLOCK] = s->kept;
    s->kept += here;
  }
  return s;
}

/* How many rows stay before a chunk. */
static int64_t before_chunk(const FlSelection *s, int64_t c) {
  return c * FL_PART_CHUNK < s->n ? s->before[c * BLOCKS] : s->kept;
}

/* ---- copied ------------------------------------------------------------------------------------------- */

typedef struct Copy {
  const FlSelection *s;
  const void *from;
  char *to;
  size_t row_bytes;
  bool lists;
} Copy;

static int32_t copy_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Copy *x = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t at = before_chunk(x->s, c), n = before_chunk(x->s, c + 1) - at;
    fl_keep_rows(x->s->mask->data, fl_part_min((c + 1) * FL_PART_CHUNK, x->s->n), c * FL_PART_CHUNK, x->from,
                 x->row_bytes, x->lists, n, x->to + at * (int64_t)x->row_bytes);
  }
  return 0;
}

FlStatus fl_part_keep_rows(FlCtx *ctx, const FlSelection *s, const void *from, size_t row_bytes, bool lists,
                           void *to) {
  Copy x = {s, from, to, row_bytes, lists};
  if (row_bytes == 0) return 0;
  return fl_part_for(ctx, copy_body, &x, fl_part_chunks(s->n),
                     FL_PART_CHUNK * (0.7 + 0.1 * (double)row_bytes));
}

/* ---- of what another kept ----------------------------------------------------------------------------- */

typedef struct Again {
  const FlSelection *of, *kept;
  int64_t first, from, to; /* of the rows that stay the first that `kept` is asked of; the rows between */
  uint8_t *mask;
} Again;

static int32_t again_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Again *g = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t row = g->from + c * FL_PART_CHUNK, rows = fl_part_min(FL_PART_CHUNK, g->to - row);
    int64_t at = fl_selection_before(g->of, row) - g->first;
    fl_keep_of_kept((const uint8_t *)g->of->mask->data + row, rows, (const uint8_t *)g->kept->mask->data + at,
                    g->mask + row - g->from);
  }
  return 0;
}

FlSelection *fl_part_selection_of(FlCtx *ctx, const FlSelected *s, const FlSelection *kept, int64_t *from,
                                  int64_t *to) {
  *from = fl_selection_row(s->selection, s->first);
  *to = fl_selection_row(s->selection, s->first + kept->n);
  int64_t rows = *to - *from;
  FlArray *mask = fl_array_new(ctx, FL_BOOL, 1, &rows);
  if (mask == NULL) return NULL;
  Again g = {s->selection, kept, s->first, *from, *to, mask->data};
  FlSelection *both = NULL;
  if (fl_part_for(ctx, again_body, &g, fl_part_chunks(rows), 0.3 * FL_PART_CHUNK) == 0)
    both = fl_part_selection(ctx, mask);
  fl_array_unref(mask);
  return both;
}

/* ---- numbered ----------------------------------------------------------------------------------------- */

typedef struct Number {
  const FlSelection *s;
  uint32_t *to;
} Number;

static int32_t number_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Number *x = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t at = before_chunk(x->s, c), n = before_chunk(x->s, c + 1) - at;
    fl_keep_numbers(x->s->mask->data, c * FL_PART_CHUNK, n, x->to + at);
  }
  return 0;
}

const uint32_t *fl_part_selection_rows(FlCtx *ctx, FlSelection *s) {
  FlArray *rows = atomic_load_explicit(&s->rows, memory_order_acquire);
  if (rows != NULL) return rows->data;
  rows = fl_array_new(ctx, FL_U32, 1, &s->kept);
  if (rows == NULL) return NULL;
  Number x = {s, rows->data};
  if (fl_part_for(ctx, number_body, &x, fl_part_chunks(s->n), 1.0 * FL_PART_CHUNK) != 0) {
    fl_array_unref(rows);
    return NULL;
  }
  FlArray *others = NULL;
  if (atomic_compare_exchange_strong_explicit(&s->rows, &others, rows, memory_order_acq_rel,
                                              memory_order_acquire))
    return rows->data;
  fl_array_unref(rows);
  return others->data;
}
