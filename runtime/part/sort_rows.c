/* sort_rows.c: columns in the order of their rows' keys, where the order itself is not asked for.
 *
 * Comes in: keys, as sort.c takes them, and columns. Goes out: the columns' rows in order. Always holds: what
 * taking the columns by the order gives, bit for bit, however little memory there is.
 *
 * Where the order can be made in memory it is, and the columns are taken by it. Else whole rows move: they
 * are cut into parts by their words (cut_rows.c), and the words and values of each part, written behind each
 * other by one sweep (or, where the parts are few, found again by a sweep for each), come into memory, are
 * sorted, and go to the result. So the data is read once, written and read once more, and no rows are looked
 * up in any order but in memory. Rows that equal a cut are in order as they come. Of texts with codes the
 * codes move. */
#include "part/take_internal.h"

enum {
  FEW_PARTS = 4,         /* so many sweeps over all columns cost less than writing all rows once */
  SLICE = 1 << 13,       /* rows that are handed on at once, column by column: first the words, row by row; */
  SLICE_BYTES = 1 << 18, /* of wide rows as many as these hold */
  MOST_BYTES = 1 << 10,  /* of a row */
  OUT = 1 << 12          /* rows of the result that a worker makes at once */
};

typedef struct Rows {
  FlPartMem *m;
  FlPartCutting by;
  int64_t word_bytes, row_bytes; /* of a row: its words; all that moves */
  int64_t slice;                 /* rows that are handed on at once */
  int64_t widest;                /* bytes of a value */
  FlTakeColumn *columns;
  int32_t n_columns;
  FlScratch *scratch; /* NULL: each part is found again */
  int64_t part, base; /* the part at hand, and where it begins in the result */
  uint64_t *words;    /* its words, row by row */
  char **values;      /* [n_columns] its values */
  FlPartPair *pairs, *spare;
  int32_t w; /* of the word that is sorted by */
  bool first;
} Rows;

static int64_t rows_of(const Rows *r, int64_t part) { return r->by.start[part + 1] - r->by.start[part]; }

/* ---- rows on their way --------------------------------------------------------------------------------- */

/* Room for the rows of a chunk. */
typedef struct Chunk {
  uint64_t *words, *batch; /* of all of its rows */
  uint8_t *part;
  int32_t *sorted; /* its rows by parts */
  char *packed;    /* a slice */
} Chunk;

static bool open_chunk(const Rows *r, FlPool *pool, Chunk *c) {
  c->batch = malloc((size_t)r->word_bytes * FL_PART_BATCH);
  c->words = fl_counted_new(pool, (size_t)(FL_PART_CHUNK * r->word_bytes));
  c->part = fl_counted_new(pool, FL_PART_CHUNK);
  c->sorted = fl_counted_new(pool, FL_PART_CHUNK * sizeof *c->sorted);
  c->packed = fl_counted_new(pool, (size_t)(r->slice * r->row_bytes));
  return c->batch && c->words && c->part && c->sorted && c->packed;
}

static void close_chunk(Chunk *c) {
  free(c->batch);
  fl_counted_free(c->words);
  fl_counted_free(c->part);
  fl_counted_free(c->sorted);
  fl_counted_free(c->packed);
}

/* The rows at[0..n) of the chunk that begins at `from`. */
static void pack(const Rows *r, const Chunk *room, int64_t from, const int32_t *at, int64_t n) {
  char *to = fl_take_gather((const char *)room->words, r->word_bytes, at, n, room->packed);
  for (int32_t k = 0; k < r->n_columns; k++) {
    const FlTakeColumn *c = &r->columns[k];
    int64_t size = fl_take_size(c);
    to = fl_take_gather((const char *)fl_take_data(c) + from * size, size, at, n, to);
  }
}

/* Hands on n rows of the part at hand, which belong to `at` of it: to memory, or where they are in order as
 * they come, to the result. */
static void deliver(const Rows *r, FlPool *pool, const char *packed, int64_t n, int64_t at) {
  bool ordered = r->part & 1;
  if (!ordered) memcpy((char *)r->words + at * r->word_bytes, packed, (size_t)(n * r->word_bytes));
  packed += n * r->word_bytes;
  for (int32_t k = 0; k < r->n_columns; k++) {
    int64_t size = fl_take_size(&r->columns[k]);
    if (ordered) fl_take_put(pool, &r->columns[k], packed, NULL, r->base + at, n);
    else memcpy(r->values[k] + at * size, packed, (size_t)(n * size));
    packed += n * size;
  }
}

/* ---- by a file ----------------------------------------------------------------------------------------- */

static bool write_chunk(const Rows *r, int64_t c, const Chunk *room) {
  int64_t from, to, first = 0;
  int32_t at[2 * FL_PART_MOST_CUTS + 2] = {0};
  const FlPartCutting *by = &r->by;
  fl_part_chunk(c, by->codes->n, &from, &to);
  for (int64_t row = from; row < to; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, to - row);
    fl_part_find_parts(by, row, n, room->batch, room->part + (row - from));
    fl_part_read_rows(by->codes, row, n, room->words + (row - from) * by->codes->n_words);
  }
  for (int64_t i = 0; i < to - from; i++) at[room->part[i] + 1]++;
  for (int64_t k = 0; k < by->n_parts; k++) at[k + 1] += at[k];
  for (int64_t i = 0; i < to - from; i++) room->sorted[at[room->part[i]]++] = (int32_t)i;
  for (int64_t k = 0; k < by->n_parts; first = at[k], k++) { /* at[k]: where part k ends */
    int64_t place = by->place[c * by->n_parts + k] - first;
    for (int64_t row = first; row < at[k]; row += r->slice) {
      int64_t n = fl_part_min(r->slice, at[k] - row);
      pack(r, room, from, room->sorted + row, n);
      if (!fl_scratch_write(r->scratch, room->packed, n * r->row_bytes, (place + row) * r->row_bytes))
        return false;
    }
  }
  return true;
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rows *r = env;
  Chunk room = {0};
  bool done = open_chunk(r, ctx ? fl_ctx_pool(ctx) : NULL, &room);
  for (int64_t c = begin; c < end && done; c++) done = write_chunk(r, c, &room);
  close_chunk(&room);
  return !done;
}

/* What some chunks wrote of the part. */
static int32_t read_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rows *r = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  char *packed = fl_counted_new(pool, (size_t)(r->slice * r->row_bytes));
  bool done = packed != NULL;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t at = r->by.place[c * r->by.n_parts + r->part], last = at + fl_part_cut_count(&r->by, c, r->part);
    for (; at < last && done; at += r->slice) {
      int64_t n = fl_part_min(r->slice, last - at);
      done = fl_scratch_read(r->scratch, packed, n * r->row_bytes, at * r->row_bytes);
      if (done) deliver(r, pool, packed, n, at - r->base);
    }
  }
  fl_counted_free(packed);
  return !done;
}

/* ---- by a sweep for each part -------------------------------------------------------------------------- */

static void find_chunk(const Rows *r, FlPool *pool, int64_t c, const Chunk *room) {
  int64_t from, to, at = r->by.place[c * r->by.n_parts + r->part] - r->base, n = 0;
  fl_part_chunk(c, r->by.codes->n, &from, &to);
  for (int64_t row = from; row < to; row++) {
    room->sorted[n] = (int32_t)(row - from);
    n += r->by.part[row] == r->part;
  }
  if (n == 0) return;
  for (int64_t row = from; row < to; row += FL_PART_BATCH)
    fl_part_read_rows(r->by.codes, row, fl_part_min(FL_PART_BATCH, to - row),
                      room->words + (row - from) * r->by.codes->n_words);
  for (int64_t first = 0; first < n; first += r->slice) {
    int64_t here = fl_part_min(r->slice, n - first);
    pack(r, room, from, room->sorted + first, here);
    deliver(r, pool, room->packed, here, at + first);
  }
}

static int32_t find_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rows *r = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  Chunk room = {0};
  bool done = open_chunk(r, pool, &room);
  for (int64_t c = begin; c < end && done; c++) find_chunk(r, pool, c, &room);
  close_chunk(&room);
  return !done;
}

/* ---- a part -------------------------------------------------------------------------------------------- */

static int32_t key_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rows *r = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    int64_t row = r->first ? i : r->pairs[i].row;
    r->pairs[i] = (FlPartPair){r->words[row * r->by.codes->n_words + r->w], row};
  }
  return 0;
}

/* Afterwards r->pairs are in order. */
static FlStatus sort_part(Rows *r, int64_t n) {
  const FlPartCodes *codes = r->by.codes;
  for (r->w = codes->n_words - 1; r->w >= 0; r->w--) {
    FlPartPair *sorted = NULL;
    r->first = r->w == codes->n_words - 1;
    if (fl_part_for(r->m->ctx, key_body, r, n, 2.0) != 0) return 1;
    if (codes->n_words == 1 && fl_part_sort_even(r->m, r->pairs, r->spare, n, &sorted) != 0) return 1;
    if (sorted == NULL &&
        fl_part_sort_pairs(r->m, r->pairs, r->spare, n, codes->words[r->w].bits, &sorted) != 0)
      return 1;
    if (sorted != r->pairs) {
      r->spare = r->pairs;
      r->pairs = sorted;
    }
  }
  return 0;
}

static int32_t place_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rows *r = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  char *made = fl_counted_new(pool, (size_t)(OUT * r->widest));
  int32_t at[OUT];
  for (int64_t k = begin; k < end && made != NULL; k++) {
    int64_t from = k * OUT, n = fl_part_min(OUT, rows_of(r, r->part) - from);
    for (int64_t i = 0; i < n; i++) at[i] = (int32_t)r->pairs[from + i].row;
    for (int32_t c = 0; c < r->n_columns; c++) {
      fl_take_gather(r->values[c], fl_take_size(&r->columns[c]), at, n, made);
      fl_take_put(pool, &r->columns[c], made, NULL, r->base + from, n);
    }
  }
  fl_counted_free(made);
  return made == NULL;
}

/* The part, if there is one, is read soon; of equal rows there may be any number. */
static void soon(const Rows *r, int64_t part, int64_t most) {
  if (part < r->by.n_parts)
    fl_scratch_soon(r->scratch, fl_part_min(rows_of(r, part), most) * r->row_bytes,
                    r->by.start[part] * r->row_bytes);
}

static FlStatus move_part(Rows *r) {
  FlCtx *ctx = r->m->ctx;
  int64_t n = rows_of(r, r->part);
  r->base = r->by.start[r->part];
  if (n == 0) return 0;
  if (r->scratch != NULL) {
    if (fl_part_for(ctx, read_body, r, r->by.chunks, 2.0 * (double)n / (double)r->by.chunks) != 0)
      return fl_part_fail_scratch(r->m, r->scratch);
    soon(r, r->part + 1, n); /* while this one is sorted */
    soon(r, r->part + 2, n);
  } else if (fl_part_for(ctx, find_body, r, r->by.chunks, 2.0 * FL_PART_CHUNK) != 0) {
    return fl_part_fail_memory(r->m);
  }
  if (r->part & 1) return 0;
  if (sort_part(r, n) != 0) return 1;
  return fl_part_for(ctx, place_body, r, (n + OUT - 1) / OUT, 5.0 * OUT) == 0 ? 0 : fl_part_fail_memory(r->m);
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static FlStatus write_rows(Rows *r) {
  int64_t bytes = r->by.codes->n * r->row_bytes;
  if ((r->scratch = fl_scratch_new(r->m->ctx, bytes)) == NULL) return 1;
  r->m->on_disk += bytes;
  if (fl_part_for(r->m->ctx, write_body, r, r->by.chunks, 12.0 * FL_PART_CHUNK) == 0) return 0;
  return fl_part_fail_scratch(r->m, r->scratch);
}

/* Memory for the largest part that is sorted. */
static FlStatus make_room(Rows *r) {
  int64_t most = 1;
  for (int64_t k = 0; k < r->by.n_parts; k += 2) most = fl_part_max(most, rows_of(r, k));
  r->words = fl_part_near(r->m, most, (size_t)r->word_bytes);
  r->pairs = fl_part_near(r->m, most, sizeof *r->pairs);
  r->spare = fl_part_near(r->m, most, sizeof *r->spare);
  r->values = fl_part_zalloc(r->m, r->n_columns, sizeof *r->values);
  if (!r->words || !r->pairs || !r->spare || !r->values) return 1;
  for (int32_t k = 0; k < r->n_columns; k++)
    if ((r->values[k] = fl_part_near(r->m, most, (size_t)fl_take_size(&r->columns[k]))) == NULL) return 1;
  return 0;
}

/* Into how many parts the rows are cut, with so many bytes for one; more than there may be: rows are too
 * wide. */
static int64_t parts_wanted(const Rows *r, int64_t bytes) {
  int64_t row = r->row_bytes + 2 * (int64_t)sizeof(FlPartPair);
  return r->by.codes->n / fl_part_max(bytes / row, 1) + 1;
}

FlStatus fl_sort_rows_parts(FlPartMem *m, const FlPartCodes *codes, int64_t bytes, FlTakeColumn *columns,
                            int32_t n, bool *done) {
  Rows r = {.m = m,
            .by = {.codes = codes},
            .word_bytes = codes->n_words * (int64_t)sizeof(uint64_t),
            .columns = columns,
            .n_columns = n};
  bool plain = codes->n <= INT32_MAX;
  r.row_bytes = r.word_bytes;
  for (int32_t k = 0; k < n; k++) {
    plain &= columns[k].from->rank == 1 && columns[k].from->dtype != FL_LIST;
    r.row_bytes += fl_take_size(&columns[k]);
    r.widest = fl_part_max(r.widest, fl_take_size(&columns[k]));
  }
  r.slice = fl_part_max(1, fl_part_min(SLICE, SLICE_BYTES / r.row_bytes));
  int64_t wanted = parts_wanted(&r, bytes);
  *done = plain && r.row_bytes <= MOST_BYTES && wanted <= FL_PART_MOST_CUTS;
  if (!*done) return 0;
  FlStatus status = fl_part_cut_rows(m, &r.by, wanted, FEW_PARTS) != 0 || make_room(&r) != 0;
  for (int32_t k = 0; k < n && status == 0; k++) status = fl_take_make(m->ctx, codes->n, NULL, &columns[k]);
  if (status == 0 && r.by.part == NULL) status = write_rows(&r);
  for (r.part = 0; r.part < r.by.n_parts && status == 0; r.part++) status = move_part(&r);
  fl_scratch_free(r.scratch);
  return status;
}

/* By the order of all rows. What made the order is given back before the columns are made. */
static FlStatus take_rows(FlPartMem *m, FlPartCodes *codes, const FlOpDesc *desc, const FlSlot *arrays,
                          int32_t n, FlSlot *results) {
  FlArray *rows = fl_array_new(m->ctx, FL_I64, 1, &codes->n);
  FlOpDesc take = {.site = desc->site, .n_args = n + 1, .i = FL_TAKE_PROVEN | FL_TAKE_LAST};
  FlStatus status = rows == NULL || fl_part_order_codes(m, codes, rows->data) != 0;
  fl_part_note_disk(m, rows);
  fl_part_mem_reset(m);
  FlSlot *args = status == 0 ? fl_part_alloc(m, n + 1, sizeof *args) : NULL;
  if (args != NULL) {
    args[0].a = rows;
    memcpy(args + 1, arrays, (size_t)n * sizeof *args);
    status = fl_rt_take(m->ctx, &take, args, results);
  }
  fl_array_unref(rows);
  return args == NULL ? 1 : status;
}

/* Whole rows, where the order cannot be made in memory; *done: they were moved. */
static FlStatus move_rows(FlPartMem *m, FlPartCodes *codes, const FlSlot *arrays, int32_t n, FlSlot *results,
                          bool *done) {
  int64_t bytes = fl_part_order_bytes(codes), room = fl_pool_room(fl_part_pool(m), bytes);
  *done = false;
  if (room >= bytes) return 0;
  FlTakeColumn *columns = fl_part_zalloc(m, n, sizeof *columns);
  if (columns == NULL) return 1;
  for (int32_t k = 0; k < n; k++) fl_take_from(arrays[k].a, codes->n, &columns[k]);
  FlStatus status = fl_sort_rows_parts(m, codes, room / 4 * 3, columns, n, done);
  for (int32_t k = 0; k < n && *done; k++) {
    if (columns[k].to != NULL) fl_part_note_disk(m, columns[k].to);
    if (status == 0) results[k].a = fl_take_close(&columns[k]);
    else fl_take_drop(&columns[k]);
  }
  return status;
}

FlStatus fl_rt_sort_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  FlPartKey *keys;
  FlPartCodes codes;
  int32_t n_keys = 0;
  for (int32_t k = 0; k < desc->n_columns; k++)
    n_keys += 1 + (desc->columns[k].flags & FL_COLUMN_NULLS ? 1 : 0);
  int32_t n = desc->n_args - n_keys;
  bool done = false;
  FlStatus status = fl_part_keys(&mem, desc, args, &keys) != 0 ||
                    fl_part_encode(&mem, keys, desc->n_columns, 1, true, &codes) != 0 ||
                    move_rows(&mem, &codes, args + n_keys, n, results, &done) != 0;
  if (status == 0 && !done) status = take_rows(&mem, &codes, desc, args + n_keys, n, results);
  fl_part_mem_reset(&mem);
  return status;
}
