/* group_order.c: groups of rows by sorting, where tables of all groups do not fit in memory.
 *
 * Comes in: codes (encode.c), a number of bytes. Goes out: groups by ascending words, the first row of each.
 * Always holds: nothing depends on the bytes; memory that is looked up in any order is at most about them.
 *
 * The rows are sorted part by part (order_parts.c), so that the rows of a group stand together, the first one
 * first. The number of each row's group is then written window by window: a sweep over the sorted rows for
 * each window of rows that fits in memory. */
#include "part/part_internal.h"

typedef struct Numbers {
  const int64_t *rows; /* sorted */
  const uint8_t *begins;
  int64_t n, *before;     /* [chunks + 1] groups that begin before the chunk */
  int64_t *id, *first;    /* id of the rows of the window; first row of groups */
  int64_t window, height; /* of the rows whose groups are written now */
} Numbers;

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *w = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, count = 0;
    fl_part_chunk(c, w->n, &from, &to);
    for (int64_t i = from; i < to; i++) count += w->begins[i];
    w->before[c + 1] = count;
  }
  return 0;
}

static int32_t first_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *w = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, g = w->before[c];
    fl_part_chunk(c, w->n, &from, &to);
    for (int64_t i = from; i < to; i++) {
      if (w->begins[i]) w->first[g++] = w->rows[i];
    }
  }
  return 0;
}

static int32_t number_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *w = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, g = w->before[c] - 1;
    fl_part_chunk(c, w->n, &from, &to);
    for (int64_t i = from; i < to; i++) {
      g += w->begins[i];
      if ((uint64_t)(w->rows[i] - w->window) < (uint64_t)w->height) w->id[w->rows[i] - w->window] = g;
    }
  }
  return 0;
}

/* Writes the groups of all rows. A window is filled in memory: in a file its pages would be dropped while
 * they are written in any order. */
static FlStatus number(FlPartMem *m, Numbers *w, int64_t *id) {
  int64_t n = w->n, all = n * (int64_t)sizeof *id, room = fl_pool_room(fl_part_pool(m), all);
  w->height = room < all ? fl_part_max(room / 2 / (int64_t)sizeof *id, FL_PART_CHUNK) : n;
  w->id = w->height < n ? fl_part_near(m, w->height, sizeof *id) : id;
  if (w->id == NULL) return 1;
  for (w->window = 0; w->window < n; w->window += w->height) {
    if (fl_part_for(m->ctx, number_body, w, fl_part_chunks(n), 2.0 * FL_PART_CHUNK) != 0) return 1;
    int64_t here = fl_part_min(w->height, n - w->window);
    if (w->id != id) fl_pool_fill(fl_part_pool(m), id + w->window, w->id, here * (int64_t)sizeof *id);
  }
  if (w->id != id) fl_part_release(m, w->id);
  return 0;
}

FlStatus fl_part_group_ordered(FlPartMem *m, FlPartCodes *codes, int64_t bytes, int64_t *id,
                               FlPartGroups *out) {
  int64_t n = codes->n, chunks = fl_part_chunks(n);
  int64_t *rows = fl_part_alloc(m, n, sizeof *rows);
  uint8_t *begins = fl_part_alloc(m, n, 1);
  Numbers w = {
      .rows = rows, .begins = begins, .n = n, .before = fl_part_zalloc(m, chunks + 1, sizeof *w.before)};
  if (rows == NULL || begins == NULL || w.before == NULL) return 1;
  if (fl_part_order_parts(m, codes, bytes, rows, begins) != 0) return 1;
  if (fl_part_for(m->ctx, count_body, &w, chunks, 0.5 * FL_PART_CHUNK) != 0) return 1;
  for (int64_t c = 0; c < chunks; c++) w.before[c + 1] += w.before[c];
  *out = (FlPartGroups){.n = n, .g = w.before[chunks]};
  out->first = w.first = fl_part_alloc(m, out->g, sizeof *w.first);
  if (w.first == NULL || fl_part_for(m->ctx, first_body, &w, chunks, FL_PART_CHUNK) != 0) return 1;
  out->id = id != NULL ? id : fl_part_alloc(m, n, sizeof *w.id);
  if (out->id == NULL || number(m, &w, out->id) != 0) return 1;
  fl_part_release(m, rows);
  fl_part_release(m, begins);
  fl_part_release(m, w.before);
  return 0;
}
