/* rows.c: choosing rows: take by number, compress by mask.
 *
 * Comes in: arrays of any type and rank, row numbers or a mask. Goes out: new arrays of those rows. Always
 * holds: rows of texts keep the bytes of their source alive, and its codes when it has any
 * (data/text_codes.h); rows of lists hold their own references. */
#include "part/part_internal.h"
#include "data/text_codes.h"

typedef struct Gather {
  const char *from;
  char *to;
  const int64_t *rows;
  size_t row_bytes;
  bool list;
} Gather;

/* The size of a row that can be copied as one word, 0 for others: views of narrow elements may begin
 * anywhere. */
static size_t word_of(const void *from, size_t row_bytes) {
  size_t unit = row_bytes < sizeof(uint64_t) ? row_bytes : sizeof(uint64_t);
  return unit > 0 && (uintptr_t)from % unit == 0 ? row_bytes : 0;
}

#define GATHER(T)                                                                                            \
  {                                                                                                          \
    const T *from = (const T *)(const void *)g->from;                                                        \
    T *to = (T *)(void *)g->to;                                                                              \
    for (int64_t i = begin; i < end; i++) to[i] = g->rows[i] < 0 ? (T){0} : from[g->rows[i]];                \
    return 0;                                                                                                \
  }

static int32_t gather_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Gather *g = env;
  (void)ctx;
  if (g->list) {
    FlArray *const *from = (FlArray *const *)(const void *)g->from;
    FlArray **to = (FlArray **)(void *)g->to;
    int64_t width = (int64_t)(g->row_bytes / sizeof *from);
    for (int64_t i = begin; i < end; i++) {
      for (int64_t k = 0; k < width && g->rows[i] >= 0; k++) {
        to[i * width + k] = fl_array_ref(from[g->rows[i] * width + k]);
      }
    }
    return 0;
  }
  switch (word_of(g->from, g->row_bytes)) {
  case 1: GATHER(uint8_t)
  case 2: GATHER(uint16_t)
  case 4: GATHER(uint32_t)
  case 8: GATHER(uint64_t)
  case 16: GATHER(FlText)
  }
  for (int64_t i = begin; i < end; i++) {
    char *to = g->to + i * (int64_t)g->row_bytes;
    if (g->rows[i] < 0) {
      memset(to, 0, g->row_bytes);
    } else {
      memcpy(to, g->from + g->rows[i] * (int64_t)g->row_bytes, g->row_bytes);
    }
  }
  return 0;
}

static bool is_text(const FlArray *a) { return a->dtype == FL_TEXT || a->dtype == FL_FILE; }

/* New array with m rows like those of `like`; texts keep what `like` keeps. NULL: error recorded. */
static FlArray *new_rows(FlCtx *ctx, FlArray *like, int64_t m) {
  int64_t dims[FL_MAX_RANK];
  memcpy(dims, like->dims, sizeof dims);
  dims[0] = m;
  FlArray *a = fl_array_new(ctx, like->dtype, like->rank, dims);
  if (a != NULL && is_text(a) && fl_array_keep(ctx, a, NULL, &like, 1) != 0) {
    fl_array_unref(a);
    return NULL;
  }
  return a;
}

/* ---- texts with codes -----------------------------------------------------------------------------------
 */

enum { FEW_ROWS = 1 << 12 }; /* fewer rows need no codes */

typedef struct Coded {
  const FlText *texts; /* of the dictionary */
  const void *codes;
  int32_t width;
  const int64_t *rows;
  FlText *to;
  void *to_codes;
  _Atomic int32_t missing; /* some row is none of the source */
} Coded;

#define TAKE_CODED(T)                                                                                        \
  for (int64_t i = begin; i < end; i++) {                                                                    \
    int64_t row = c->rows[i];                                                                                \
    T code = row < 0 ? (T)0 : ((const T *)c->codes)[row];                                                    \
    missing |= row < 0;                                                                                      \
    ((T *)c->to_codes)[i] = code;                                                                            \
    c->to[i] = row < 0 ? (FlText){0} : c->texts[code];                                                       \
  }                                                                                                          \
  break;

static int32_t take_coded_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Coded *c = (Coded *)(uintptr_t)env;
  int32_t missing = 0;
  (void)ctx;
  switch (c->width) {
  case 1: TAKE_CODED(uint8_t)
  case 2: TAKE_CODED(uint16_t)
  default: TAKE_CODED(uint32_t)
  }
  if (missing) atomic_store_explicit(&c->missing, 1, memory_order_relaxed);
  return 0;
}

/* Fills `to` with rows of texts that have codes; it gets theirs, unless some row is missing. */
static FlStatus take_coded(FlCtx *ctx, const FlTextCodes *known, const void *codes, const int64_t *rows,
                           int64_t m, FlArray *to) {
  FlBuffer *to_codes = fl_buffer_new(ctx, m * known->width);
  if (to_codes == NULL) return 1;
  Coded c = {.texts = known->dictionary->texts,
             .codes = codes,
             .width = known->width,
             .rows = rows,
             .to = to->data,
             .to_codes = to_codes->data};
  FlStatus status = fl_part_for(ctx, take_coded_body, &c, m, 2.5);
  if (status != 0 || atomic_load(&c.missing)) {
    fl_buffer_unref(to_codes);
  } else {
    (void)fl_text_codes_attach(to, fl_dictionary_ref(known->dictionary), to_codes, known->width);
  }
  return status;
}

FlArray *fl_part_take(FlCtx *ctx, FlArray *from, const int64_t *rows, int64_t m) {
  FlArray *to = new_rows(ctx, from, m);
  if (to == NULL) return NULL;
  size_t row_bytes = (size_t)fl_array_row_count(from) * (size_t)fl_dtype_info[from->dtype].bytes;
  Gather g = {from->data, to->data, rows, row_bytes, from->dtype == FL_LIST};
  const void *codes;
  const FlTextCodes *known = m >= FEW_ROWS && from->rank == 1 ? fl_text_codes(from, &codes) : NULL;
  FlStatus status = known != NULL   ? take_coded(ctx, known, codes, rows, m, to)
                    : row_bytes > 0 ? fl_part_for(ctx, gather_body, &g, m, 1.5 + 0.1 * (double)row_bytes)
                                    : 0;
  if (status != 0) {
    fl_array_unref(to);
    return NULL;
  }
  return to;
}

static int32_t has_row_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Gather *g = env;
  uint8_t *to = (uint8_t *)g->to;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) to[i] = g->rows[i] >= 0;
  return 0;
}

FlArray *fl_part_has_row(FlCtx *ctx, const int64_t *rows, int64_t m) {
  FlArray *to = fl_array_new(ctx, FL_BOOL, 1, &m);
  Gather g = {.rows = rows, .to = to != NULL ? to->data : NULL};
  if (to != NULL && fl_part_for(ctx, has_row_body, &g, m, 0.5) != 0) {
    fl_array_unref(to);
    return NULL;
  }
  return to;
}

/* ---- take --------------------------------------------------------------------------------------------- */

typedef struct Check {
  const int64_t *rows;
  int64_t least, n;
  _Atomic int64_t bad;
} Check;

static int32_t check_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Check *c = (Check *)(uintptr_t)env;
  int64_t bad = 0;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) bad |= (c->rows[i] < c->least) | (c->rows[i] >= c->n);
  for (int64_t i = begin; bad && i < end; i++) {
    if (c->rows[i] >= c->least && c->rows[i] < c->n) continue;
    fl_part_first(&c->bad, i);
    break;
  }
  return 0;
}

FlStatus fl_rt_take(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  const FlArray *index = args[0].a;
  int64_t m = index->dims[0];
  for (int32_t k = 1; k < desc->n_args; k++) {
    Check check = {index->data, desc->i == 1 ? -1 : 0, args[k].a->dims[0], INT64_MAX};
    bool repeated = k > 1 && args[k].a->dims[0] == args[k - 1].a->dims[0];
    FlStatus status = repeated ? 0 : fl_part_for(ctx, check_body, &check, m, 0.5);
    int64_t bad = atomic_load(&check.bad);
    if (status == 0 && bad != INT64_MAX) status = fl_part_fail_index(ctx, desc, check.rows[bad], check.n);
    if (status == 0) results[k - 1].a = fl_part_take(ctx, args[k].a, index->data, m);
    if (status != 0 || results[k - 1].a == NULL) {
      for (int32_t j = 0; j < k - 1; j++) fl_array_unref(results[j].a);
      return status != 0 ? status : 1;
    }
  }
  return 0;
}

/* ---- compress ----------------------------------------------------------------------------------------- */

typedef struct Filter {
  const uint8_t *mask;
  int64_t n;
  int64_t *place; /* [chunks + 1] */
  const char *from;
  char *to;
  size_t row_bytes;
  bool list;
} Filter;

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Filter *f = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, kept = 0;
    fl_part_chunk(c, f->n, &from, &to);
    for (int64_t i = from; i < to; i++) kept += f->mask[i] != 0;
    f->place[c + 1] = kept;
  }
  return 0;
}

/* Writes every row at the next place and moves on if it is kept; stops when the chunk's places are full. */
#define FILTER(T)                                                                                            \
  {                                                                                                          \
    const T *from = (const T *)(const void *)f->from;                                                        \
    T *to = (T *)(void *)f->to;                                                                              \
    for (int64_t i = first; at < end_at; i++) {                                                              \
      to[at] = from[i];                                                                                      \
      at += f->mask[i] != 0;                                                                                 \
    }                                                                                                        \
    break;                                                                                                   \
  }

static void filter_chunk(const Filter *f, int64_t first, int64_t at, int64_t end_at) {
  if (f->list) {
    FlArray *const *from = (FlArray *const *)(const void *)f->from;
    FlArray **to = (FlArray **)(void *)f->to;
    int64_t width = (int64_t)(f->row_bytes / sizeof *from);
    for (int64_t i = first; at < end_at; i++) {
      if (!f->mask[i]) continue;
      for (int64_t k = 0; k < width; k++) to[at * width + k] = fl_array_ref(from[i * width + k]);
      at++;
    }
    return;
  }
  switch (word_of(f->from, f->row_bytes)) {
  case 1: FILTER(uint8_t)
  case 2: FILTER(uint16_t)
  case 4: FILTER(uint32_t)
  case 8: FILTER(uint64_t)
  case 16: FILTER(FlText)
  default: {
    int64_t row_bytes = (int64_t)f->row_bytes;
    for (int64_t i = first; at < end_at; i++) {
      if (f->mask[i]) memcpy(f->to + at++ * row_bytes, f->from + i * row_bytes, f->row_bytes);
    }
  }
  }
}

static int32_t filter_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Filter *f = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) filter_chunk(f, c * FL_PART_CHUNK, f->place[c], f->place[c + 1]);
  return 0;
}

/* The kept rows' codes of texts. */
static FlStatus compress_codes(FlPartMem *m, const Filter *of, FlArray *from, int64_t kept, FlArray *to) {
  const void *codes;
  const FlTextCodes *known = kept >= FEW_ROWS && from->rank == 1 ? fl_text_codes(from, &codes) : NULL;
  if (known == NULL) return 0;
  FlBuffer *to_codes = fl_buffer_new(m->ctx, kept * known->width);
  if (to_codes == NULL) return 1;
  Filter f = *of;
  f.from = codes;
  f.to = to_codes->data;
  f.row_bytes = (size_t)known->width;
  FlStatus status = fl_part_for(m->ctx, filter_body, &f, fl_part_chunks(f.n), FL_PART_CHUNK);
  if (status != 0) {
    fl_buffer_unref(to_codes);
  } else {
    (void)fl_text_codes_attach(to, fl_dictionary_ref(known->dictionary), to_codes, known->width);
  }
  return status;
}

static FlStatus compress_one(FlPartMem *m, const FlOpDesc *desc, Filter *f, FlArray *from, int64_t kept,
                             FlArray **out) {
  if (from->dims[0] != f->n) return fl_part_fail_shape(m->ctx, desc, f->n, from->dims[0]);
  *out = new_rows(m->ctx, from, kept);
  if (*out == NULL) return 1;
  f->from = from->data;
  f->to = (*out)->data;
  f->row_bytes = (size_t)fl_array_row_count(from) * (size_t)fl_dtype_info[from->dtype].bytes;
  f->list = from->dtype == FL_LIST;
  if (f->row_bytes == 0) return 0;
  if (fl_part_for(m->ctx, filter_body, f, fl_part_chunks(f->n),
                  FL_PART_CHUNK * (0.7 + 0.1 * (double)f->row_bytes)) != 0)
    return 1;
  return compress_codes(m, f, from, kept, *out);
}

FlStatus fl_rt_compress(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  Filter f = {.mask = args[0].a->data, .n = args[0].a->dims[0]};
  int64_t chunks = fl_part_chunks(f.n);
  int32_t n_arrays = desc->n_args - 1;
  f.place = fl_part_alloc(&mem, chunks + 1, sizeof *f.place);
  FlStatus status = f.place == NULL ? 1 : fl_part_for(ctx, count_body, &f, chunks, 0.2 * FL_PART_CHUNK);
  if (status == 0) {
    f.place[0] = 0;
    for (int64_t c = 0; c < chunks; c++) f.place[c + 1] += f.place[c];
  }
  for (int32_t k = 0; k < n_arrays; k++) results[1 + k].a = NULL;
  for (int32_t k = 0; k < n_arrays && status == 0; k++) {
    status = compress_one(&mem, desc, &f, args[1 + k].a, f.place[chunks], &results[1 + k].a);
  }
  if (status == 0) {
    results[0].i = f.place[chunks];
  } else {
    for (int32_t k = 0; k < n_arrays; k++) fl_array_unref(results[1 + k].a);
  }
  fl_part_mem_reset(&mem);
  return status;
}
