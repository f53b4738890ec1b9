/* group_order.c: groups of rows by sorting, where tables of all groups do not fit in memory.
 *
 * Comes in: codes (encode.c), a number of bytes. Goes out: groups by ascending words, the first row of each.
 * Always holds: nothing depends on the bytes; memory that is looked up in any order is at most about them.
 *
 * The rows are sorted part by part (order_parts.c), so that the rows of a group stand together, the first one
 * first. The number of each row's group is then written window by window, of rows that fit in memory: by a
 * sweep over the sorted rows for each window where these are few; else one sweep writes what belongs to each
 * window to a file (scratch.h), in the order of the chunks that it comes from. */
#include "part/part_internal.h"

enum {
  FEW_WINDOWS = 3, /* so many sweeps cost less than writing all numbers once and reading them again */
  MOST_WINDOWS = 1024
};

/* What is written of a row: its place in the window, and how many groups begin from its chunk's begin to it.
 */
typedef struct Numbered {
  uint32_t row, groups;
} Numbered;

typedef struct Numbers {
  FlPartRanges by; /* the sorted rows, by windows where there is a file */
  const uint8_t *begins;
  int64_t *before;        /* [chunks + 1] groups that begin before the chunk */
  int64_t *id, *first;    /* id of the rows of the window; first row of groups */
  int64_t window, height; /* of the rows whose groups are written now */
  FlScratch *scratch;
} Numbers;

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *w = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, count = 0;
    fl_part_chunk(c, w->by.n, &from, &to);
    for (int64_t i = from; i < to; i++) count += w->begins[i];
    w->before[c + 1] = count;
  }
  return 0;
}

static int32_t first_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *w = env;
  int64_t size = (int64_t)sizeof *w->first;
  FlSlices slices = fl_part_slices(ctx, w->first, FL_PART_CHUNK * size, 1);
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, g = 0, *first = fl_slice(&slices, w->first + w->before[c]);
    fl_part_chunk(c, w->by.n, &from, &to);
    for (int64_t i = from; i < to; i++) {
      if (w->begins[i]) first[g++] = w->by.number[i];
    }
    fl_slice_done(&slices, g * size);
  }
  fl_slices_end(&slices);
  return 0;
}

static int32_t number_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *w = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, g = w->before[c] - 1;
    fl_part_chunk(c, w->by.n, &from, &to);
    for (int64_t i = from; i < to; i++) {
      g += w->begins[i];
      if ((uint64_t)(w->by.number[i] - w->window) < (uint64_t)w->height)
        w->id[w->by.number[i] - w->window] = g;
    }
  }
  return 0;
}

/* ---- by a file ----------------------------------------------------------------------------------------- */

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *w = env;
  Numbered *sorted = fl_counted_new(ctx ? fl_ctx_pool(ctx) : NULL, FL_PART_CHUNK * sizeof *sorted);
  int64_t at[MOST_WINDOWS], size = (int64_t)sizeof *sorted;
  bool done = sorted != NULL;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t from, to, before = 0;
    uint32_t groups = 0;
    fl_part_chunk(c, w->by.n, &from, &to);
    for (int64_t k = 0; k < w->by.n_ranges; before += fl_part_range_rows(&w->by, c, k), k++) at[k] = before;
    for (int64_t i = from; i < to; i++) {
      int64_t k = w->by.number[i] >> w->by.shift;
      groups += w->begins[i];
      sorted[at[k]++] = (Numbered){(uint32_t)(w->by.number[i] - (k << w->by.shift)), groups};
    }
    for (int64_t k = 0; k < w->by.n_ranges && done; k++) { /* at[k]: where those of window k end */
      int64_t n = fl_part_range_rows(&w->by, c, k);
      done = fl_scratch_write(w->scratch, sorted + at[k] - n, n * size,
                              w->by.place[c * w->by.n_ranges + k] * size);
    }
  }
  fl_counted_free(sorted);
  return !done;
}

/* The numbers of the window's rows. */
static int32_t read_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *w = env;
  Numbered *read = fl_counted_new(ctx ? fl_ctx_pool(ctx) : NULL, FL_PART_CHUNK * sizeof *read);
  int64_t window = w->window >> w->by.shift, size = (int64_t)sizeof *read;
  bool done = read != NULL;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t n = fl_part_range_rows(&w->by, c, window);
    done = fl_scratch_read(w->scratch, read, n * size, w->by.place[c * w->by.n_ranges + window] * size);
    for (int64_t i = 0; i < n && done; i++) w->id[read[i].row] = w->before[c] - 1 + read[i].groups;
  }
  fl_counted_free(read);
  return !done;
}

static FlStatus write_windows(FlPartMem *m, Numbers *w) {
  int64_t bytes = w->by.n * (int64_t)sizeof(Numbered);
  if (fl_part_ranges(m, &w->by) != 0) return 1;
  if ((w->scratch = fl_scratch_new(m->ctx, bytes)) == NULL) return 1;
  m->on_disk += bytes;
  if (fl_part_for(m->ctx, write_body, w, w->by.chunks, 4.0 * FL_PART_CHUNK) == 0) return 0;
  return fl_part_fail_scratch(m, w->scratch);
}

/* Writes the groups of all rows with about so many bytes. A window is filled in memory: in a file its pages
 * would be dropped while they are written in any order. */
static FlStatus number(FlPartMem *m, Numbers *w, int64_t bytes, int64_t *id) {
  int64_t n = w->by.n, all = n * (int64_t)sizeof *id, chunks = fl_part_chunks(n),
          room = fl_part_min(fl_pool_room(fl_part_pool(m), all), bytes);
  w->height = room < all ? fl_part_max(room / 2 / (int64_t)sizeof *id, FL_PART_CHUNK) : n;
  if (n > FEW_WINDOWS * w->height) {
    w->by.shift = fl_part_bits((uint64_t)w->height) - 1;
    while (n >> w->by.shift >= MOST_WINDOWS) w->by.shift++;
    w->height = INT64_C(1) << w->by.shift;
    w->by.n_ranges = ((n - 1) >> w->by.shift) + 1;
    if (w->by.shift <= 32 && write_windows(m, w) != 0) return 1; /* rows within a window have 32 bits */
  }
  w->id = w->height < n ? fl_part_near(m, w->height, sizeof *id) : id;
  if (w->id == NULL) return 1;
  for (w->window = 0; w->window < n; w->window += w->height) {
    if (w->scratch == NULL) {
      if (fl_part_for(m->ctx, number_body, w, chunks, 2.0 * FL_PART_CHUNK) != 0) return 1;
    } else if (fl_part_for(m->ctx, read_body, w, chunks, 2.0 * FL_PART_CHUNK / (double)w->by.n_ranges) != 0) {
      return fl_part_fail_scratch(m, w->scratch);
    }
    int64_t here = fl_part_min(w->height, n - w->window);
    if (w->id != id) fl_pool_fill(fl_part_pool(m), id + w->window, w->id, here * (int64_t)sizeof *id);
  }
  if (w->id != id) fl_part_release(m, w->id);
  fl_part_ranges_release(m, &w->by);
  return 0;
}

FlStatus fl_part_group_ordered(FlPartMem *m, FlPartCodes *codes, int64_t bytes, int64_t *id,
                               FlPartGroups *out) {
  int64_t n = codes->n, chunks = fl_part_chunks(n);
  int64_t *rows = fl_part_alloc(m, n, sizeof *rows);
  uint8_t *begins = fl_part_alloc(m, n, 1);
  Numbers w = {.by = {.number = rows, .n = n},
               .begins = begins,
               .before = fl_part_zalloc(m, chunks + 1, sizeof *w.before)};
  if (rows == NULL || begins == NULL || w.before == NULL) return 1;
  if (fl_part_order_parts(m, codes, bytes, rows, begins) != 0) return 1;
  if (fl_part_for(m->ctx, count_body, &w, chunks, 0.5 * FL_PART_CHUNK) != 0) return 1;
  for (int64_t c = 0; c < chunks; c++) w.before[c + 1] += w.before[c];
  *out = (FlPartGroups){.n = n, .g = w.before[chunks]};
  out->first = w.first = fl_part_alloc(m, out->g, sizeof *w.first);
  if (w.first == NULL || fl_part_for(m->ctx, first_body, &w, chunks, FL_PART_CHUNK) != 0) return 1;
  out->id = id != NULL ? id : fl_part_alloc(m, n, sizeof *w.id);
  if (out->id == NULL) return 1;
  FlStatus status = number(m, &w, bytes, out->id);
  fl_scratch_free(w.scratch);
  if (status != 0) return 1;
  fl_part_release(m, rows);
  fl_part_release(m, begins);
  fl_part_release(m, w.before);
  return 0;
}
