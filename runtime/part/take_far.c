/* take_far.c: rows by their numbers, of arrays that live in files and do not fit in memory.
 *
 * Comes in: columns (take_internal.h) and row numbers in any order. Goes out: the rows, in their places.
 * Always holds: what is written does not depend on the windows; the numbers of a slice are read before what
 * may stand in their place is written.
 *
 * The source is cut into windows that fit in memory. The numbers are written to a file by windows, those of a
 * window in their order. Then each window of a column comes into memory, and the rows that are wanted of it
 * go to a second file, in the order of their numbers. At last the numbers are gone through once more: the
 * next row of a number is the next one that its window wrote. So all is read and written in order, as often
 * however little memory there is. Of columns that fit in memory there are no windows: their rows are looked
 * up at last. */
#include "part/take_internal.h"

enum {
  MOST_WINDOWS = 1024,
  AROUND = 1 << 16, /* bytes that come into memory with a row that is looked up */
  AHEAD = 32 << 20, /* bytes of rows that the disk has been asked for */
  MOST_AHEAD = 1 << 14,
  SLICE = 1 << 19, /* bytes of rows that a worker has in hand */
  COPY = 1 << 18,  /* bytes of a window that a worker brings at once */
  PUT = 1 << 11    /* rows of the result that are made at once */
};

typedef struct Far {
  FlPartMem *m;
  FlPartRanges by;    /* numbers by windows of the source, as they stand in the files */
  FlScratch *numbers; /* rows within their windows, of 32 bits */
  FlTakeColumn *column;
  const char *from; /* the rows of the column, or their codes; `size` bytes each */
  int64_t size;
  FlScratch *values; /* NULL: the column fits in memory */
  int64_t window;    /* which one is in memory, */
  char *near;        /* and where */
} Far;

/* The bytes of a column that lives in a file; 0: it does not. */
static int64_t far_bytes(const FlTakeColumn *c) {
  const FlBuffer *b = c->known != NULL ? c->known->codes : c->from->buffer;
  return fl_buffer_in_file(b) ? c->from->dims[0] * fl_take_size(c) : 0;
}

static bool is_far(FlPool *pool, const FlTakeColumn *c) {
  int64_t bytes = far_bytes(c);
  return bytes > 0 && fl_pool_room(pool, bytes) < bytes;
}

/* Whether m rows, each with what comes into memory around it, are less than the column. */
static bool are_few(const FlTakeColumn *c, int64_t m) {
  return m < far_bytes(c) / (fl_take_size(c) + AROUND);
}

bool fl_take_is_far(FlCtx *ctx, FlTakeColumn *columns, int32_t n, int64_t m) {
  bool far = false;
  for (int32_t k = 0; k < n; k++) {
    bool large = is_far(ctx ? fl_ctx_pool(ctx) : NULL, &columns[k]);
    columns[k].few = large && are_few(&columns[k], m);
    far |= large && !columns[k].few;
  }
  return far;
}

static void announce(const FlTakeColumn *c, int64_t row) {
  const char *from = c->from->data;
  int64_t size = (int64_t)c->row_bytes;
  if (row >= 0 && row < c->from->dims[0]) fl_buffer_announce(c->from->buffer, from + row * size, size);
}

/* Numbers between a row and the one that is asked of the disk when it is taken. */
static int64_t ahead_of(const FlTakeColumn *c) {
  return fl_part_max(1, fl_part_min(AHEAD / (int64_t)c->row_bytes, MOST_AHEAD));
}

void fl_take_announce(const FlTakeColumn *c, const FlArray *numbers, const int64_t *rows, int64_t n) {
  const FlBuffer *b = numbers != NULL ? numbers->buffer : NULL;
  bool part = b != NULL && numbers->dtype == FL_I64 && b->kind == FL_BUFFER_MEMORY;
  int64_t before = part ? rows - (const int64_t *)b->data : 0, ahead = part ? ahead_of(c) : 0;
  int64_t from = before < n ? before : before + ahead; /* the others were announced by those before */
  int64_t to = part ? fl_part_min(before + ahead + n, b->bytes / (int64_t)sizeof *rows) : n;
  for (int64_t i = from; i < to; i++) announce(c, rows[i - before]);
}

void fl_take_few(const FlTakeColumn *c, const int64_t *rows, int64_t n, char *to) {
  const char *from = c->from->data;
  int64_t size = (int64_t)c->row_bytes;
  for (int64_t i = 0; i < n; i++, to += size) {
    if (rows[i] < 0) memset(to, 0, (size_t)size);
    else fl_buffer_copy(c->from->buffer, to, from + rows[i] * size, size);
  }
}

/* Rows of `size` bytes that are in hand at once. */
static int64_t slice_of(int64_t size) {
  return fl_part_max(1, fl_part_min(SLICE / fl_part_max(size, 1), FL_PART_CHUNK));
}

static void copy_row(char *to, const char *from, int64_t size) {
  switch (size) {
  case 1: *to = *from; break;
  case 2: memcpy(to, from, 2); break;
  case 4: memcpy(to, from, 4); break;
  case 8: memcpy(to, from, 8); break;
  case 16: memcpy(to, from, 16); break;
  default: memcpy(to, from, (size_t)size);
  }
}

/* ---- numbers, by windows ------------------------------------------------------------------------------- */

static int32_t write_numbers_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Far *f = env;
  uint32_t *sorted = fl_counted_new(ctx ? fl_ctx_pool(ctx) : NULL, FL_PART_CHUNK * sizeof *sorted);
  int64_t *at = malloc((size_t)f->by.n_ranges * sizeof *at), mask = (INT64_C(1) << f->by.shift) - 1;
  bool done = sorted != NULL && at != NULL;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t from, to, before = 0;
    fl_part_chunk(c, f->by.n, &from, &to);
    for (int64_t w = 0; w < f->by.n_ranges; before += fl_part_range_rows(&f->by, c, w), w++) at[w] = before;
    for (int64_t i = from; i < to; i++) {
      if (f->by.number[i] >= 0)
        sorted[at[f->by.number[i] >> f->by.shift]++] = (uint32_t)(f->by.number[i] & mask);
    }
    for (int64_t w = 0; w < f->by.n_ranges && done; w++) { /* at[w]: where those of window w end */
      int64_t n = fl_part_range_rows(&f->by, c, w), size = (int64_t)sizeof *sorted;
      done = fl_scratch_write(f->numbers, sorted + at[w] - n, n * size,
                              f->by.place[c * f->by.n_ranges + w] * size);
    }
  }
  fl_counted_free(sorted);
  free(at);
  return !done;
}

/* Windows of `height` rows or less, which is a power of two and at most 2^32. */
static FlStatus part_numbers(Far *f, int64_t most, int64_t height) {
  height = fl_part_max(height, (most + MOST_WINDOWS - 1) / MOST_WINDOWS);
  f->by.shift = fl_part_bits((uint64_t)fl_part_min(height, INT64_C(1) << 32)) - 1;
  if (most >> f->by.shift >= MOST_WINDOWS) f->by.shift++;
  f->by.n_ranges = (most >> f->by.shift) + 1;
  if (fl_part_ranges(f->m, &f->by) != 0) return 1;
  int64_t at = f->by.start[f->by.n_ranges];
  f->numbers = fl_scratch_new(f->m->ctx, fl_part_max(at, 1) * (int64_t)sizeof(uint32_t));
  if (f->numbers == NULL) return 1;
  if (fl_part_for(f->m->ctx, write_numbers_body, f, f->by.chunks, 3.0 * FL_PART_CHUNK) == 0) return 0;
  return fl_part_fail_scratch(f->m, f->numbers);
}

/* ---- rows, by windows ---------------------------------------------------------------------------------- */

static int32_t bring_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Far *f = env;
  int64_t first = f->window << f->by.shift,
          last = fl_part_min(first + (INT64_C(1) << f->by.shift), f->column->from->dims[0]);
  int64_t bytes = (last - first) * f->size;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    int64_t at = k * COPY;
    memcpy(f->near + at, f->from + first * f->size + at, (size_t)fl_part_min(COPY, bytes - at));
  }
  return 0;
}

static void look_up(const Far *f, const uint32_t *number, int64_t n, char *to) {
#define LOOK_UP(T)                                                                                           \
  {                                                                                                          \
    const T *from = (const T *)(const void *)f->near;                                                        \
    for (int64_t i = 0; i < n; i++) memcpy(to + i * (int64_t)sizeof(T), &from[number[i]], sizeof(T));        \
    return;                                                                                                  \
  }
  switch (f->size) {
  case 1: LOOK_UP(uint8_t)
  case 2: LOOK_UP(uint16_t)
  case 4: LOOK_UP(uint32_t)
  case 8: LOOK_UP(uint64_t)
  default:
    for (int64_t i = 0; i < n; i++) copy_row(to + i * f->size, f->near + number[i] * f->size, f->size);
  }
#undef LOOK_UP
}

static int32_t values_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Far *f = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  int64_t slice = slice_of(f->size), unit = (int64_t)sizeof(uint32_t);
  uint32_t *number = fl_counted_new(pool, (size_t)(slice * unit));
  char *found = fl_counted_new(pool, (size_t)(slice * f->size));
  bool done = number != NULL && found != NULL;
  for (int64_t k = begin; k < end && done; k++) {
    int64_t at = f->by.start[f->window] + k * slice, n = fl_part_min(slice, f->by.start[f->window + 1] - at);
    done = fl_scratch_read(f->numbers, number, n * unit, at * unit);
    if (done) look_up(f, number, n, found);
    done = done && fl_scratch_write(f->values, found, n * f->size, at * f->size);
  }
  fl_counted_free(number);
  fl_counted_free(found);
  return !done;
}

/* The rows of the column that are wanted, by windows. */
static FlStatus write_values(Far *f) {
  FlCtx *ctx = f->m->ctx;
  int64_t slice = slice_of(f->size), bytes = f->size << f->by.shift;
  f->values = fl_scratch_new(ctx, fl_part_max(f->by.start[f->by.n_ranges], 1) * f->size);
  f->near = f->values != NULL ? fl_part_near(f->m, bytes, 1) : NULL;
  if (f->near == NULL) return 1;
  for (f->window = 0; f->window < f->by.n_ranges; f->window++) {
    int64_t n = f->by.start[f->window + 1] - f->by.start[f->window];
    int64_t there = fl_part_min(bytes, (f->column->from->dims[0] - (f->window << f->by.shift)) * f->size);
    if (n == 0) continue;
    if (fl_part_for(ctx, bring_body, f, (there + COPY - 1) / COPY, 0.2 * COPY) != 0) return 1;
    if (fl_part_for(ctx, values_body, f, (n + slice - 1) / slice, 3.0 * (double)slice) != 0)
      return fl_part_fail_scratch(f->m, fl_scratch_why(f->values, NULL, 0) ? f->values : f->numbers);
  }
  fl_part_release(f->m, f->near);
  return 0;
}

/* ---- rows, in their places ----------------------------------------------------------------------------- */

/* What a worker has in hand. */
typedef struct Hand {
  char *read, *made; /* by windows; in their places */
  int64_t *cursor;   /* [windows] in the file, of the next row of the window */
  int64_t *at;       /* [windows] where it is in `read` */
} Hand;

/* The rows of the numbers [from, to), which the windows wrote one behind the other. */
static bool gather_far(const Far *f, const Hand *h, int64_t from, int64_t to) {
  int64_t before = 0;
  bool done = true;
  memset(h->at, 0, (size_t)f->by.n_ranges * sizeof *h->at);
  for (int64_t i = from; i < to; i++) {
    if (f->by.number[i] >= 0) h->at[f->by.number[i] >> f->by.shift]++;
  }
  for (int64_t w = 0; w < f->by.n_ranges && done; w++) {
    int64_t n = h->at[w];
    h->at[w] = before;
    done = fl_scratch_read(f->values, h->read + before * f->size, n * f->size, h->cursor[w] * f->size);
    h->cursor[w] += n;
    before += n;
  }
  for (int64_t i = from; i < to && done; i++) {
    char *place = h->made + (i - from) * f->size;
    if (f->by.number[i] < 0) memset(place, 0, (size_t)f->size);
    else copy_row(place, h->read + h->at[f->by.number[i] >> f->by.shift]++ * f->size, f->size);
  }
  return done;
}

static void gather_near(const Far *f, const Hand *h, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) {
    char *place = h->made + (i - from) * f->size;
    if (f->by.number[i] < 0) memset(place, 0, (size_t)f->size);
    else copy_row(place, f->from + f->by.number[i] * f->size, f->size);
  }
}

/* A code where it lies, which may be anywhere. */
static uint32_t code_at(const char *of, int64_t size) {
  uint32_t code = 0; /* the least byte comes first */
  memcpy(&code, of, (size_t)size);
  return code;
}

/* The texts of codes. Of a row that is none the code means nothing. */
static void put_texts(FlTakeOut *out, const char *codes, const int64_t *rows, int64_t at, int64_t n) {
  FlTakeColumn *c = out->column;
  const FlText *texts = c->known->dictionary->texts;
  int64_t size = c->known->width;
  int32_t missing = 0;
  FlText *text = c->coded ? NULL : fl_slice(&out->values, (FlText *)c->to->data + at);
  for (int64_t i = 0; i < n && text != NULL; i++) {
    uint32_t code = code_at(codes + i * size, size);
    bool none = rows != NULL && rows[i] < 0;
    missing |= none;
    text[i] = none ? (FlText){0} : texts[code];
  }
  if (text != NULL) fl_slice_done(&out->values, n * (int64_t)sizeof *text);
  memcpy(fl_slice(&out->codes, (char *)c->to_codes->data + at * size), codes, (size_t)(n * size));
  fl_slice_done(&out->codes, n * size);
  if (missing) atomic_store_explicit(&c->missing, 1, memory_order_relaxed);
}

FlTakeOut *fl_take_outs(FlCtx *ctx, FlTakeColumn *columns, int32_t n) {
  FlTakeOut *outs = calloc((size_t)n + 1, sizeof *outs);
  for (int32_t k = 0; k < n && outs != NULL; k++) {
    FlTakeColumn *c = &columns[k];
    outs[k].column = c;
    outs[k].values = fl_part_slices(ctx, c->to->data, PUT * (int64_t)c->row_bytes, n);
    if (c->known != NULL)
      outs[k].codes = fl_part_slices(ctx, c->to_codes->data, PUT * c->known->width, 2 * n);
  }
  return outs;
}

void fl_take_outs_end(FlTakeOut *outs, int32_t n) {
  for (int32_t k = 0; k < n && outs != NULL; k++) {
    fl_slices_end(&outs[k].values);
    fl_slices_end(&outs[k].codes);
  }
  free(outs);
}

void fl_take_put(FlTakeOut *out, const char *moved, const int64_t *rows, int64_t at, int64_t n) {
  const FlTakeColumn *c = out->column;
  int64_t size = fl_take_size(c);
  for (int64_t i = 0, some; i < n && size > 0; i += some, moved += some * size) {
    some = fl_part_min(PUT, n - i);
    if (c->known != NULL) {
      put_texts(out, moved, rows != NULL ? rows + i : NULL, at + i, some);
      continue;
    }
    memcpy(fl_slice(&out->values, (char *)c->to->data + (at + i) * size), moved, (size_t)(some * size));
    fl_slice_done(&out->values, some * size);
  }
}

char *fl_take_gather(const char *from, int64_t size, const int32_t *at, int64_t n, char *to) {
#define GATHER(T)                                                                                            \
  {                                                                                                          \
    for (int64_t i = 0; i < n; i++)                                                                          \
      memcpy(to + i * (int64_t)sizeof(T), from + at[i] * (int64_t)sizeof(T), sizeof(T));                     \
    break;                                                                                                   \
  }
  switch (size) {
  case 1: GATHER(uint8_t)
  case 2: GATHER(uint16_t)
  case 4: GATHER(uint32_t)
  case 8: GATHER(uint64_t)
  case 16: GATHER(FlText)
  default:
    for (int64_t i = 0; i < n; i++) memcpy(to + i * size, from + at[i] * size, (size_t)size);
  }
#undef GATHER
  return to + n * size;
}

static void share_lists(const Far *f, const char *made, int64_t from, int64_t to) {
  FlArray *const *lists = (FlArray *const *)(const void *)made;
  int64_t width = f->size / (int64_t)sizeof *lists;
  for (int64_t i = from; i < to; i++) {
    for (int64_t k = 0; f->by.number[i] >= 0 && k < width; k++)
      (void)fl_array_ref(lists[(i - from) * width + k]);
  }
}

static bool place_rows(FlTakeOut *out, const Far *f, const Hand *h, int64_t from, int64_t to) {
  if (f->values == NULL) gather_near(f, h, from, to);
  else if (!gather_far(f, h, from, to)) return false;
  if (f->column->from->dtype == FL_LIST) share_lists(f, h->made, from, to);
  fl_take_put(out, h->made, f->by.number + from, from, to - from);
  return true;
}

static int32_t place_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Far *f = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  int64_t slice = slice_of(f->size);
  size_t words = (size_t)f->by.n_ranges * sizeof(int64_t);
  Hand h = {fl_counted_new(pool, (size_t)(slice * f->size)), fl_counted_new(pool, (size_t)(slice * f->size)),
            malloc(words), malloc(words)};
  FlTakeOut *out = fl_take_outs(ctx, f->column, 1);
  bool done = h.read != NULL && h.made != NULL && h.cursor != NULL && h.at != NULL && out != NULL;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t from, to;
    fl_part_chunk(c, f->by.n, &from, &to);
    memcpy(h.cursor, f->by.place + c * f->by.n_ranges, words);
    for (; from < to && done; from += slice)
      done = place_rows(out, f, &h, from, fl_part_min(from + slice, to));
  }
  fl_take_outs_end(out, 1);
  fl_counted_free(h.read);
  fl_counted_free(h.made);
  free(h.cursor);
  free(h.at);
  return !done;
}

static FlStatus take_column(Far *f, FlTakeColumn *c) {
  f->column = c;
  f->size = fl_take_size(c);
  f->from = fl_take_data(c);
  if (f->size == 0) return 0;
  FlStatus status = is_far(fl_part_pool(f->m), c) ? write_values(f) : 0;
  if (status == 0 && fl_part_for(f->m->ctx, place_body, f, f->by.chunks, 6.0 * FL_PART_CHUNK) != 0)
    status = f->values != NULL ? fl_part_fail_scratch(f->m, f->values)
                               : fl_fail(f->m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
  fl_scratch_free(f->values);
  f->values = NULL;
  return status;
}

FlStatus fl_take_far(FlCtx *ctx, FlTakeColumn *columns, int32_t n, const int64_t *rows, int64_t m) {
  FlPartMem mem = {.ctx = ctx};
  Far f = {.m = &mem, .by = {.number = rows, .n = m}};
  int64_t widest = 1, most = 0;
  for (int32_t k = 0; k < n; k++) {
    most = fl_part_max(most, columns[k].from->dims[0]);
    if (is_far(fl_part_pool(&mem), &columns[k])) widest = fl_part_max(widest, fl_take_size(&columns[k]));
  }
  FlStatus status = part_numbers(&f, most, fl_pool_room(fl_part_pool(&mem), most * widest) / widest);
  for (int32_t k = 0; k < n && status == 0; k++) status = take_column(&f, &columns[k]);
  fl_scratch_free(f.numbers);
  fl_part_mem_reset(&mem);
  return status;
}
