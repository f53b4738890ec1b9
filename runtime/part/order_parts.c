/* order_parts.c: the stable order of rows by their words where the pairs of all rows do not fit in memory.
 *
 * Comes in: codes (encode.c), a number of bytes. Goes out: row numbers in order, or only which rows are the
 * first of their words. Always holds: the order is unique, so neither the cut nor the bytes show in it;
 * memory that is looked up in any order is at most about the bytes.
 *
 * A sample of the rows gives cuts that part them into ranges of about the same size: the rows that equal a
 * cut, and those between two cuts. A first sweep counts the rows of each part. Where the parts
 * are few, it writes them down, and a sweep for each takes its rows out of the columns, and nothing is
 * written but the result; else one sweep sorts the rows of each chunk by their parts in a cache and writes
 * them to a file (scratch.h), each part behind the other. Each part is then sorted alone in memory, and its
 * row numbers written: blocks in files are read and written from their beginning to their end. Rows that
 * equal a cut are in order as they come. */
#include "part/part_internal.h"

enum {
  FEW_PARTS = 8, /* so many sweeps over the columns cost less than writing all rows once */
  READ = 1 << 14 /* rows that a worker reads at once */
};

typedef struct Parts {
  FlPartCutting by;
  int32_t n_words, width; /* of a row taken out: its words, its number */
  int64_t *rows;          /* the result; NULL: only marks are wanted */
  uint8_t *begins;        /* [n] the row at this place differs from the one before; NULL: nobody asks */
  uint64_t *marks;        /* a bit a row: it is the first of its words; NULL: nobody asks */
  _Atomic int64_t *least; /* [n_parts] where there are marks: the first row that equals a cut */
  uint64_t *taken;
  FlScratch *scratch;  /* where the parts are many: all rows taken out, part by part, */
  int64_t row_bytes;   /* of so many bytes each: a number of a row is of 32 bits where all fit */
  int64_t base;        /* the place in the result of the first row of `taken` */
  int64_t first, last; /* the parts that are taken out now */
} Parts;

/* ---- sweeps over the rows ------------------------------------------------------------------------------ */

/* A row that equals a cut: it stands in its place at once. */
static void put_equal(const Parts *p, int64_t part, int64_t at, int64_t row) {
  if (p->rows != NULL) p->rows[at] = row;
  else fl_part_first(&p->least[part], row);
}

/* Takes out the rows of the parts [first, last). */
static int32_t take_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Parts *p = env;
  (void)ctx;
  uint64_t *words = malloc((size_t)p->n_words * FL_PART_BATCH * sizeof *words);
  if (words == NULL) return 1;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, *place = p->by.place + c * p->by.n_parts;
    fl_part_chunk(c, p->by.codes->n, &from, &to);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row);
      fl_part_read_rows(p->by.codes, row, n, words);
      for (int64_t i = 0; i < n; i++) {
        int64_t part = p->by.part[row + i];
        if (part < p->first || part >= p->last) continue;
        int64_t at = place[part]++;
        if (part & 1) {
          put_equal(p, part, at, row + i);
          continue;
        }
        uint64_t *to_row = p->taken + (at - p->base) * p->width;
        for (int32_t w = 0; w < p->n_words; w++) to_row[w] = words[i * p->n_words + w];
        to_row[p->n_words] = (uint64_t)(row + i);
      }
    }
  }
  free(words);
  return 0;
}

/* Room for the rows of a chunk. */
typedef struct Chunk {
  uint64_t *words, *sorted;
  uint16_t *part;
} Chunk;

/* n rows as they stand in the file, in the place where they are. */
static void pack(const Parts *p, uint64_t *rows, int64_t n) {
  int64_t words = p->n_words * (int64_t)sizeof *rows, number = p->row_bytes - words;
  char *to = (char *)rows; /* little endian: the low bytes of a number come first */
  for (int64_t i = 0; i < n; i++, to += p->row_bytes) {
    memmove(to, rows + i * p->width, (size_t)words);
    memmove(to + words, rows + i * p->width + p->n_words, (size_t)number);
  }
}

/* n rows of the file, which stand at the end of their place. */
static void unpack(const Parts *p, uint64_t *rows, int64_t n) {
  int64_t words = p->n_words * (int64_t)sizeof *rows, number = p->row_bytes - words;
  const char *from = (const char *)(rows + n * p->width) - n * p->row_bytes;
  for (int64_t i = 0; i < n; i++, from += p->row_bytes) {
    uint64_t row = 0;
    memcpy(&row, from + words, (size_t)number);
    memmove(rows + i * p->width, from, (size_t)words);
    rows[i * p->width + p->n_words] = row;
  }
}

/* Sorts the rows of a chunk by their parts and writes those of each behind those of the chunk before. */
static bool write_chunk(const Parts *p, int64_t c, const Chunk *room) {
  int64_t from, to, *place = p->by.place + c * p->by.n_parts;
  int64_t at[2 * FL_PART_MOST_CUTS + 2] = {0}, start[2 * FL_PART_MOST_CUTS + 2];
  uint64_t *words = room->words;
  fl_part_chunk(c, p->by.codes->n, &from, &to);
  for (int64_t row = from; row < to; row += FL_PART_BATCH)
    fl_part_find_parts(&p->by, row, fl_part_min(FL_PART_BATCH, to - row), words, room->part + (row - from));
  for (int64_t i = 0; i < to - from; i++) at[room->part[i] + 1] += !(room->part[i] & 1);
  for (int64_t k = 0; k < p->by.n_parts; k++) at[k + 1] += at[k];
  memcpy(start, at, sizeof at);
  for (int64_t row = from; row < to; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, to - row);
    fl_part_read_rows(p->by.codes, row, n, words);
    for (int64_t i = 0; i < n; i++) {
      int64_t part = room->part[row - from + i];
      if (part & 1) {
        put_equal(p, part, place[part]++, row + i);
        continue;
      }
      uint64_t *to_row = room->sorted + at[part]++ * p->width;
      for (int32_t w = 0; w < p->n_words; w++) to_row[w] = words[i * p->n_words + w];
      to_row[p->n_words] = (uint64_t)(row + i);
    }
  }
  bool done = true;
  for (int64_t k = 0; k < p->by.n_parts && done; k += 2) {
    uint64_t *rows = room->sorted + start[k] * p->width;
    int64_t n = at[k] - start[k];
    pack(p, rows, n);
    done = fl_scratch_write(p->scratch, rows, n * p->row_bytes, place[k] * p->row_bytes);
  }
  return done;
}

static int32_t write_parts_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Parts *p = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  Chunk room = {malloc((size_t)p->n_words * FL_PART_BATCH * sizeof(uint64_t)),
                fl_counted_new(pool, (size_t)(FL_PART_CHUNK * p->width) * sizeof(uint64_t)),
                fl_counted_new(pool, FL_PART_CHUNK * sizeof(uint16_t))};
  bool done = room.words != NULL && room.sorted != NULL && room.part != NULL;
  for (int64_t c = begin; c < end && done; c++) done = write_chunk(p, c, &room);
  free(room.words);
  fl_counted_free(room.sorted);
  fl_counted_free(room.part);
  return !done;
}

/* ---- parts --------------------------------------------------------------------------------------------- */

typedef struct Written {
  const FlPartPair *sorted;
  int64_t n;
  const uint64_t *taken;
  int32_t width; /* 0: the pairs hold the row numbers */
  int64_t *rows;
  int32_t n_words;
  uint8_t *begins; /* NULL: nobody asks */
  uint64_t *marks; /* NULL: rows are wanted */
} Written;

static inline bool differ(const Written *w, int64_t i) {
  const FlPartPair *a = &w->sorted[i - 1], *b = &w->sorted[i];
  if (w->width == 0) return a->key != b->key;
  return fl_part_compare_words(w->taken + a->row * w->width, w->taken + b->row * w->width, w->n_words) != 0;
}

static void write_rows(FlPool *pool, const Written *w, int64_t begin, int64_t end) {
  enum { SLICE = 1 << 12 };
  int64_t rows[SLICE];
  for (int64_t from = begin; from < end; from += SLICE) {
    int64_t n = fl_part_min(SLICE, end - from);
    for (int64_t i = 0; i < n; i++) {
      int64_t at = w->sorted[from + i].row;
      rows[i] = w->width ? (int64_t)w->taken[at * w->width + w->width - 1] : at;
      if (w->begins != NULL) w->begins[from + i] = from + i == 0 || differ(w, from + i);
    }
    fl_pool_fill(pool, w->rows + from, rows, n * (int64_t)sizeof *rows);
  }
}

/* Marks the first of equal rows. */
static void mark_rows(const Written *w, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    if (i > 0 && !differ(w, i)) continue;
    int64_t at = w->sorted[i].row, row = w->width ? (int64_t)w->taken[at * w->width + w->width - 1] : at;
    __atomic_fetch_or(&w->marks[row / 64], UINT64_C(1) << row % 64, __ATOMIC_RELAXED);
  }
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Written *w = env;
  int64_t from, to;
  for (int64_t c = begin; c < end; c++) {
    fl_part_chunk(c, w->n, &from, &to);
    if (w->marks != NULL) mark_rows(w, from, to);
    else write_rows(ctx ? fl_ctx_pool(ctx) : NULL, w, from, to);
  }
  return 0;
}

typedef struct Keyed {
  FlPartPair *pairs;
  const uint64_t *taken;
  int32_t width, w;
  bool first;
} Keyed;

static int32_t key_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Keyed *k = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    int64_t row = k->first ? i : k->pairs[i].row;
    k->pairs[i] = (FlPartPair){k->taken[row * k->width + k->w], row};
  }
  return 0;
}

/* Sorts the rows of one part and writes their numbers. `a` and `spare`: pairs of as many rows; of one word
 * `a` is not needed, as the rows taken out are pairs. */
static FlStatus sort_part(FlPartMem *m, const Parts *p, uint64_t *taken, int64_t n, FlPartPair *a,
                          FlPartPair *spare, int64_t from) {
  Written done = {.n = n,
                  .taken = taken,
                  .width = p->n_words == 1 ? 0 : p->width,
                  .rows = p->rows != NULL ? p->rows + from : NULL,
                  .marks = p->marks,
                  .n_words = p->n_words,
                  .begins = p->begins != NULL ? p->begins + from : NULL};
  FlPartPair *sorted = NULL;
  if (p->n_words == 1) {
    FlPartPair *pairs = (FlPartPair *)taken;
    if (fl_part_sort_even(m, pairs, spare, n, &sorted) != 0) return 1;
    if (sorted == NULL && fl_part_sort_pairs(m, pairs, spare, n, p->by.codes->words[0].bits, &sorted) != 0)
      return 1;
  } else {
    for (int32_t w = p->n_words - 1; w >= 0; w--) {
      Keyed k = {a, taken, p->width, w, w == p->n_words - 1};
      if (fl_part_for(m->ctx, key_body, &k, n, 3.0) != 0) return 1;
      if (fl_part_sort_pairs(m, a, spare, n, p->by.codes->words[w].bits, &sorted) != 0) return 1;
      spare = sorted == a ? spare : a;
      a = sorted;
    }
  }
  done.sorted = sorted;
  return fl_part_for(m->ctx, write_body, &done, fl_part_chunks(n), 1.5 * FL_PART_CHUNK);
}

static FlStatus write_parts(FlPartMem *m, Parts *p) {
  bool narrow = p->by.codes->n <= (int64_t)UINT32_MAX;
  p->row_bytes =
      p->n_words * (int64_t)sizeof(uint64_t) + (int64_t)(narrow ? sizeof(uint32_t) : sizeof(uint64_t));
  int64_t bytes = p->by.codes->n * p->row_bytes;
  p->scratch = fl_scratch_new(m->ctx, bytes);
  if (p->scratch == NULL) return 1;
  m->on_disk += bytes;
  if (fl_part_for(m->ctx, write_parts_body, p, p->by.chunks, 8.0 * FL_PART_CHUNK) == 0) return 0;
  FlStatus status = fl_part_fail_scratch(m, p->scratch);
  fl_scratch_free(p->scratch);
  return status;
}

/* Bytes of the part that begins at p->base, from the file. */
static int32_t read_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Parts *p = env;
  int64_t n = p->by.start[p->first + 1] - p->base;
  bool done = true;
  (void)ctx;
  for (int64_t k = begin; k < end && done; k++) {
    int64_t row = k * READ, rows = fl_part_min(READ, n - row), bytes = rows * p->row_bytes;
    uint64_t *to = p->taken + row * p->width;
    done = fl_scratch_read(p->scratch, (char *)(to + rows * p->width) - bytes, bytes,
                           (p->base + row) * p->row_bytes);
    if (done) unpack(p, to, rows);
  }
  return !done;
}

static FlStatus sort_parts(FlPartMem *m, Parts *p) {
  int64_t most = 0;
  for (int64_t k = 0; k < p->by.n_parts; k += 2)
    most = fl_part_max(most, p->by.start[k + 1] - p->by.start[k]);
  p->taken = fl_part_near(m, most * p->width, sizeof *p->taken);
  FlPartPair *spare = fl_part_near(m, most, sizeof *spare);
  FlPartPair *a = p->n_words > 1 ? fl_part_near(m, most, sizeof *a) : NULL;
  if (p->taken == NULL || spare == NULL || (p->n_words > 1 && a == NULL)) return 1;
  for (int64_t k = 0; k < p->by.n_parts; k += 2) {
    int64_t from = p->by.start[k], n = p->by.start[k + 1] - from;
    p->first = k;
    p->last = fl_part_min(k + 2, p->by.n_parts);
    p->base = from;
    if (p->scratch != NULL) {
      if (fl_part_for(m->ctx, read_body, p, (n + READ - 1) / READ, 5.0 * READ) != 0)
        return fl_part_fail_scratch(m, p->scratch);
      if (k + 2 < p->by.n_parts) { /* while this one is sorted */
        int64_t next = p->by.start[k + 2],
                rows = p->by.start[k + 3 < p->by.n_parts ? k + 3 : p->by.n_parts] - next;
        fl_scratch_soon(p->scratch, rows * p->row_bytes, next * p->row_bytes);
      }
    } else if (fl_part_for(m->ctx, take_body, p, p->by.chunks, 4.0 * FL_PART_CHUNK) != 0) {
      return fl_part_fail_memory(m);
    }
    if (sort_part(m, p, p->taken, n, a, spare, from) != 0) return 1;
  }
  fl_part_release(m, p->taken);
  fl_part_release(m, spare);
  if (a != NULL) fl_part_release(m, a);
  return 0;
}

/* How many parts there are to be: what is sorted must be in memory, else each scattered row is a page of a
 * file, and parts of a sample are not all of one size. */
static int64_t parts_wanted(const FlPartMem *m, const Parts *p, int64_t bytes) {
  int64_t pairs = p->n_words > 1 ? 2 : 1,
          row = pairs * (int64_t)sizeof(FlPartPair) + p->width * (int64_t)sizeof(uint64_t);
  int64_t room = fl_pool_room(fl_part_pool(m), bytes) / 4 * 3;
  return fl_part_min(p->by.codes->n / fl_part_max(room / row, 1) + 1, FL_PART_MOST_CUTS);
}

static FlStatus order(FlPartMem *m, Parts *p, const FlPartCodes *codes, int64_t bytes) {
  p->by.codes = codes;
  p->by.chunk = FL_PART_CHUNK;
  p->n_words = codes->n_words;
  p->width = codes->n_words + 1;
  /* Where the parts are few each sweep asks for the parts of all rows. */
  if (fl_part_find_cuts(m, &p->by, parts_wanted(m, p, bytes)) != 0) return 1;
  bool few = p->by.n_cuts < FEW_PARTS;
  if (fl_part_count_parts(m, &p->by, few) != 0) return 1;
  if (p->marks != NULL && (p->least = fl_part_alloc(m, p->by.n_parts, sizeof *p->least)) == NULL) return 1;
  for (int64_t k = 0; k < p->by.n_parts && p->least != NULL; k++) atomic_init(&p->least[k], INT64_MAX);
  if (!few && write_parts(m, p) != 0) return 1;
  FlStatus status = sort_parts(m, p);
  fl_scratch_free(p->scratch);
  return status;
}

FlStatus fl_part_order_parts(FlPartMem *m, const FlPartCodes *codes, int64_t bytes, int64_t *rows,
                             uint8_t *begins) {
  Parts p = {.rows = rows, .begins = begins};
  if (order(m, &p, codes, bytes) != 0) return 1;
  for (int64_t k = 1; k < p.by.n_parts && begins != NULL; k += 2) { /* rows that equal a cut */
    int64_t n = p.by.start[k + 1] - p.by.start[k];
    if (n > 0) memset(begins + p.by.start[k], 0, (size_t)n);
    if (n > 0) begins[p.by.start[k]] = 1;
  }
  fl_part_cutting_release(m, &p.by);
  return 0;
}

FlStatus fl_part_first_parts(FlPartMem *m, const FlPartCodes *codes, int64_t bytes, uint64_t *first) {
  Parts p = {.marks = first};
  if (order(m, &p, codes, bytes) != 0) return 1;
  for (int64_t k = 1; k < p.by.n_parts; k += 2) {
    int64_t row = atomic_load(&p.least[k]);
    if (row != INT64_MAX) first[row / 64] |= UINT64_C(1) << row % 64;
  }
  fl_part_cutting_release(m, &p.by);
  fl_part_release(m, p.least);
  return 0;
}
