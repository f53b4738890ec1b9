/* move_rows.c: see move_rows.h.
 *
 * Comes in: the words of rows (encode.c), columns of values. Goes out: the values, one part after the other.
 * Always holds: parts are by ascending words, the rows that equal a cut are a part of their own (cut_rows.c),
 * and rows keep their order within a part, however many parts there are.
 *
 * One sweep sorts the rows of each chunk by parts, in a cache, and writes their values to a file that nobody
 * maps (scratch.h), chunk by chunk; so the data is read once, written in order, and read once more, a piece
 * of each chunk for a part. Where the parts are few each is found again by a sweep of its own, and nothing is
 * written. */
#include "part/move_rows.h"
#include "part/take_internal.h"

enum {
  FEW_PARTS = 4,         /* so many sweeps over all columns cost less than writing all rows once */
  FINER = 2,             /* so many cuts for one that is wanted, as a sample is not exact */
  SLICE = 1 << 13,       /* rows that are handed on at once, column by column; */
  SLICE_BYTES = 1 << 18, /* of wide rows as many as these hold; as many are written at once */
  AHEAD_BYTES = 1 << 21, /* that are read soon at a time, */
  AHEAD_PARTS = 16,      /* and of how many parts they may be */
  MOST_BYTES = 1 << 10   /* of a row */
};

/* ---- rows on their way --------------------------------------------------------------------------------- */

/* Room for the rows of a chunk. */
typedef struct Chunk {
  uint64_t *batch;
  uint16_t *part;
  int32_t *sorted; /* its rows by parts */
  char *packed;    /* some slices */
} Chunk;

static bool open_chunk(const FlMove *v, FlPool *pool, Chunk *c) {
  c->batch = malloc((size_t)v->by.codes->n_words * sizeof *c->batch * FL_PART_BATCH);
  c->part = fl_counted_new(pool, (size_t)v->by.chunk * sizeof *c->part);
  c->sorted = fl_counted_new(pool, (size_t)v->by.chunk * sizeof *c->sorted);
  c->packed = fl_counted_new(pool, (size_t)fl_part_max(SLICE_BYTES, v->row_bytes));
  return c->batch && c->part && c->sorted && c->packed;
}

static void close_chunk(Chunk *c) {
  free(c->batch);
  fl_counted_free(c->part);
  fl_counted_free(c->sorted);
  fl_counted_free(c->packed);
}

/* The rows at[0..n) of the chunk that begins at `from`. */
static void pack(const FlMove *v, int64_t from, const int32_t *at, int64_t n, char *to) {
  for (int32_t k = 0; k < v->n_columns; k++) {
    const FlMovedColumn *c = &v->columns[k];
    to = fl_take_gather(c->from + from * c->size, c->size, at, n, to);
  }
}

/* Hands on n rows of the part, which belong to `at` of it. false: no memory. */
static bool deliver(const FlMove *v, FlCtx *ctx, const char *packed, int64_t n, int64_t at) {
  if (v->put != NULL) return v->put(v->env, ctx, packed, n, at);
  for (int32_t k = 0; k < v->n_columns; k++) {
    int64_t size = v->columns[k].size;
    memcpy(v->columns[k].to + at * size, packed, (size_t)(n * size));
    packed += n * size;
  }
  return true;
}

/* ---- by a file ----------------------------------------------------------------------------------------- */

/* Sorts the rows of a chunk by their parts. Afterwards by.place says how many each part has of it. */
static void sort_chunk(const FlMove *v, int64_t c, const Chunk *room) {
  int64_t from, to;
  int32_t at[2 * FL_PART_MOST_CUTS + 2] = {0};
  const FlPartCutting *by = &v->by;
  fl_part_cut_chunk(by, c, &from, &to);
  for (int64_t row = from; row < to; row += FL_PART_BATCH)
    fl_part_find_parts(by, row, fl_part_min(FL_PART_BATCH, to - row), room->batch, room->part + (row - from));
  for (int64_t i = 0; i < to - from; i++) at[room->part[i] + 1]++;
  for (int64_t k = 0; k < by->n_parts; k++) {
    by->place[c * by->n_parts + k] = at[k + 1];
    at[k + 1] += at[k];
    v->within[c * by->n_parts + k] = at[k];
  }
  for (int64_t i = 0; i < to - from; i++) room->sorted[at[room->part[i]]++] = (int32_t)i;
}

/* Writes them, the rows of each part slice by slice. */
static bool write_chunk(const FlMove *v, int64_t c, const Chunk *room) {
  int64_t from = c * v->by.chunk, place = from * v->row_bytes, filled = 0;
  const int64_t *count = v->by.place + c * v->by.n_parts;
  const int32_t *sorted = room->sorted;
  for (int64_t k = 0; k < v->by.n_parts; k++) {
    for (int64_t row = 0, n; row < count[k]; row += n, sorted += n) {
      n = fl_part_min(v->slice, count[k] - row);
      if (filled + n * v->row_bytes > SLICE_BYTES) {
        if (!fl_scratch_write(v->scratch, room->packed, filled, place)) return false;
        place += filled;
        filled = 0;
      }
      pack(v, from, sorted, n, room->packed + filled);
      filled += n * v->row_bytes;
    }
  }
  return fl_scratch_write(v->scratch, room->packed, filled, place);
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlMove *v = env;
  Chunk room = {0};
  bool done = open_chunk(v, ctx ? fl_ctx_pool(ctx) : NULL, &room);
  for (int64_t c = begin; c < end && done; c++) {
    sort_chunk(v, c, &room);
    done = write_chunk(v, c, &room);
  }
  close_chunk(&room);
  return !done;
}

/* Where what chunk c has of the part stands in the file. */
static int64_t place_of(const FlMove *v, int64_t c, int64_t part) {
  return (c * v->by.chunk + v->within[c * v->by.n_parts + part]) * v->row_bytes;
}

/* What some chunks wrote of the part. */
static int32_t read_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlMove *v = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  int64_t most = 0;
  for (int64_t c = begin; c < end; c++) most = fl_part_max(most, fl_part_cut_count(&v->by, c, v->part));
  char *packed = fl_counted_new(pool, (size_t)(fl_part_min(most, v->slice) * v->row_bytes));
  bool done = packed != NULL;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t n, rows = fl_part_cut_count(&v->by, c, v->part), place = place_of(v, c, v->part),
               at = v->by.place[c * v->by.n_parts + v->part] - v->by.start[v->part];
    for (int64_t row = 0; row < rows && done; row += n) {
      n = fl_part_min(v->slice, rows - row);
      done = fl_scratch_fetch(v->scratch, packed, n * v->row_bytes, place + row * v->row_bytes);
      done = done && deliver(v, ctx, packed, n, at + row);
    }
  }
  fl_counted_free(packed);
  return !done;
}

/* ---- by a sweep for each part -------------------------------------------------------------------------- */

static bool find_chunk(const FlMove *v, FlCtx *ctx, int64_t c, const Chunk *room) {
  int64_t from, to, at = v->by.place[c * v->by.n_parts + v->part] - v->by.start[v->part], n = 0;
  fl_part_cut_chunk(&v->by, c, &from, &to);
  for (int64_t row = from; row < to; row++) {
    room->sorted[n] = (int32_t)(row - from);
    n += v->by.part[row] == v->part;
  }
  for (int64_t first = 0; first < n; first += v->slice) {
    int64_t here = fl_part_min(v->slice, n - first);
    pack(v, from, room->sorted + first, here, room->packed);
    if (!deliver(v, ctx, room->packed, here, at + first)) return false;
  }
  return true;
}

static int32_t find_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlMove *v = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  Chunk room = {0};
  bool done = open_chunk(v, pool, &room);
  for (int64_t c = begin; c < end && done; c++) done = find_chunk(v, ctx, c, &room);
  close_chunk(&room);
  return !done;
}

/* ---- parts --------------------------------------------------------------------------------------------- */

bool fl_move_fits(int64_t row_bytes) { return row_bytes <= MOST_BYTES; }

/* Rows of a chunk: what a part has of one is a piece in the file, so as many as there is room for, as long as
 * all workers have some. A power of two: a chunk is read in any order, and columns in files come by pages of
 * 2 MiB, of which no chunk then begins one and ends in the next. */
static int64_t chunk_of(const FlPartMem *m, int64_t n, int64_t room) {
  enum { LEAST = 1 << 14, MOST = 1 << 18, EACH = 4, SORTED = sizeof(int32_t) + sizeof(uint16_t) };
  int64_t chunk = MOST, workers = fl_ctx_workers(m->ctx);
  while (chunk > LEAST && (chunk * SORTED * workers > room / 2 || chunk * EACH * workers > n)) chunk /= 2;
  return chunk;
}

FlStatus fl_move_cut(FlMove *v, const FlPartCodes *codes, int64_t bytes, int64_t row_memory, bool *done) {
  int64_t room = fl_pool_room(fl_part_pool(v->m), bytes) / 4 * 3;
  int64_t wanted = codes->n / fl_part_max(room / row_memory, 1) + 1;
  v->by.codes = codes;
  v->by.chunk = chunk_of(v->m, codes->n, room);
  *done = wanted <= FL_MOVE_MOST_PARTS && codes->n <= INT32_MAX;
  if (!*done) return 0;
  if (wanted >= FEW_PARTS) wanted = fl_part_min(FINER * wanted, FL_PART_MOST_CUTS);
  return fl_part_find_cuts(v->m, &v->by, wanted);
}

FlStatus fl_move_write(FlMove *v) {
  FlPartCutting *by = &v->by;
  v->row_bytes = 0;
  for (int32_t k = 0; k < v->n_columns; k++) v->row_bytes += v->columns[k].size;
  v->slice = fl_part_max(1, fl_part_min(SLICE, SLICE_BYTES / fl_part_max(v->row_bytes, 1)));
  if (by->n_cuts < FEW_PARTS) return fl_part_count_parts(v->m, by, true);
  int64_t bytes = by->codes->n * v->row_bytes, pieces = by->chunks * by->n_parts;
  if ((v->within = fl_part_alloc(v->m, pieces, sizeof *v->within)) == NULL) return 1;
  if ((v->scratch = fl_scratch_new(v->m->ctx, bytes)) == NULL) return 1;
  v->m->on_disk += bytes;
  if (fl_part_for(v->m->ctx, write_body, v, by->chunks, 12.0 * (double)by->chunk) != 0)
    return fl_part_fail_scratch(v->m, v->scratch);
  fl_part_places(by->chunks, by->n_parts, by->place, by->start);
  int64_t part = fl_part_max(1, bytes / (by->n_cuts + 1)); /* of those that equal a cut there are few rows */
  v->ahead = 2 * fl_part_max(1, fl_part_min(AHEAD_PARTS, AHEAD_BYTES / part));
  return 0;
}

/* The parts [first, last) are read soon; of equal rows there may be any number. */
static void soon(const FlMove *v, int64_t first, int64_t last, int64_t most) {
  const FlPartCutting *by = &v->by;
  last = fl_part_min(last, by->n_parts);
  for (int64_t c = 0; c < by->chunks && first < last; c++) {
    int64_t rows = 0;
    for (int64_t k = first; k < last; k++) rows += fl_part_cut_count(by, c, k);
    rows = fl_part_min(rows, most / by->chunks + 1);
    if (rows > 0) fl_scratch_soon(v->scratch, rows * v->row_bytes, place_of(v, c, first));
  }
}

FlStatus fl_move_read(FlMove *v) {
  FlCtx *ctx = v->m->ctx;
  int64_t n = fl_move_rows(v, v->part), ahead = v->ahead, most = 2 * AHEAD_BYTES / v->row_bytes;
  if (n == 0) return 0;
  if (v->scratch == NULL) {
    if (fl_part_for(ctx, find_body, v, v->by.chunks, 2.0 * (double)v->by.chunk) == 0) return 0;
    return fl_part_fail_memory(v->m);
  }
  if (v->part == 0) soon(v, 0, ahead, most);
  if (v->part % ahead == 0)
    soon(v, v->part + ahead, v->part + 2 * ahead, most); /* while these are worked on */
  double cost = 2000.0 + 2.0 * (double)n / (double)v->by.chunks;
  if (fl_part_for(ctx, read_body, v, v->by.chunks, cost) != 0) return fl_part_fail_scratch(v->m, v->scratch);
  return 0;
}

void fl_move_end(FlMove *v) {
  fl_scratch_free(v->scratch);
  v->scratch = NULL;
}
