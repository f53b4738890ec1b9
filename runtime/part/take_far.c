/* take_far.c: rows by their numbers, of arrays that live in files and do not fit in memory.
 *
 * Comes in: columns (take_internal.h) and row numbers in any order. Goes out: the rows, in their places.
 * Always holds: what is written does not depend on the pieces; numbers are read before what may stand in
 * their place is written.
 *
 * The result is made piece by piece. The numbers of a piece, each with its place in the piece, are sorted by
 * the windows of the source that they fall in, and each array is read once from its beginning to its end for
 * a piece: pages come from the disk in order, and only what fits in memory is touched in any order. */
#include "part/take_internal.h"

enum {
  WINDOW = 14,   /* bits of the rows of a window: within it they may come in any order */
  FILL = 1 << 18 /* bytes of the result that are written at once */
};

typedef struct Piece {
  FlTakeColumn *column;
  const int64_t *rows; /* of the piece */
  int64_t begin, m;    /* its first place in the result; its places */
  uint64_t *words;     /* row number + 1 above the place in the piece */
  char *made;          /* the rows, until all of them are there */
  int place_bits;
} Piece;

static int32_t pack_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Piece *p = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++)
    p->words[i] = (uint64_t)(p->rows[i] + 1) << p->place_bits | (uint64_t)i;
  return 0;
}

#define EACH(T, NONE, VALUE)                                                                                 \
  {                                                                                                          \
    T *to = (T *)p->made;                                                                                    \
    for (int64_t i = begin; i < end; i++) {                                                                  \
      int64_t row = (int64_t)(p->words[i] >> p->place_bits) - 1;                                             \
      to[p->words[i] & mask] = row < 0 ? (T)NONE : (VALUE);                                                  \
    }                                                                                                        \
    break;                                                                                                   \
  }
#define PLAIN(T) EACH(T, {0}, ((const T *)c->from->data)[row])

static void gather_wide(const Piece *p, int64_t begin, int64_t end) {
  const FlTakeColumn *c = p->column;
  uint64_t mask = (UINT64_C(1) << p->place_bits) - 1;
  bool list = c->from->dtype == FL_LIST;
  for (int64_t i = begin; i < end; i++) {
    int64_t row = (int64_t)(p->words[i] >> p->place_bits) - 1, at = (int64_t)(p->words[i] & mask);
    char *to = p->made + at * (int64_t)c->row_bytes;
    const char *from = (const char *)c->from->data + row * (int64_t)c->row_bytes;
    if (row < 0) memset(to, 0, c->row_bytes);
    else memcpy(to, from, c->row_bytes);
    for (size_t k = 0; list && row >= 0 && k < c->row_bytes / sizeof(FlArray *); k++)
      (void)fl_array_ref(((FlArray *const *)(const void *)from)[k]);
  }
}

/* The rows that were made go to their places in the result. */
static int32_t fill_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Piece *p = env;
  int64_t size = (int64_t)p->column->row_bytes, all = p->m * size;
  char *to = (char *)p->column->to->data + p->begin * size;
  for (int64_t k = begin; k < end; k++)
    fl_pool_fill(ctx ? fl_ctx_pool(ctx) : NULL, to + k * FILL, p->made + k * FILL,
                 fl_part_min(FILL, all - k * FILL));
  return 0;
}

#define CODED(T)                                                                                             \
  for (int64_t i = begin; i < end; i++) {                                                                    \
    int64_t row = (int64_t)(p->words[i] >> p->place_bits) - 1,                                               \
            at = p->begin + (int64_t)(p->words[i] & mask);                                                   \
    T code = row < 0 ? (T)0 : ((const T *)c->codes)[row];                                                    \
    missing |= row < 0;                                                                                      \
    ((T *)c->to_codes->data)[at] = code;                                                                     \
    to[at] = row < 0 ? (FlText){0} : texts[code];                                                            \
  }                                                                                                          \
  break;

static void gather_coded(const Piece *p, int64_t begin, int64_t end) {
  FlTakeColumn *c = p->column;
  uint64_t mask = (UINT64_C(1) << p->place_bits) - 1;
  const FlText *texts = c->known->dictionary->texts;
  FlText *to = c->to->data;
  int32_t missing = 0;
  switch (c->known->width) {
  case 1: CODED(uint8_t)
  case 2: CODED(uint16_t)
  default: CODED(uint32_t)
  }
  if (missing) atomic_store_explicit(&c->missing, 1, memory_order_relaxed);
}

static int32_t gather_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Piece *p = env;
  const FlTakeColumn *c = p->column;
  uint64_t mask = (UINT64_C(1) << p->place_bits) - 1;
  (void)ctx;
  if (c->row_bytes == 0) return 0;
  if (c->known != NULL) {
    gather_coded(p, begin, end);
    return 0;
  }
  switch (c->from->dtype == FL_LIST ? 0 : fl_part_row_word(c->from->data, c->row_bytes)) {
  case 1: PLAIN(uint8_t)
  case 2: PLAIN(uint16_t)
  case 4: PLAIN(uint32_t)
  case 8: PLAIN(uint64_t)
  case 16: PLAIN(FlText)
  default: gather_wide(p, begin, end);
  }
  return 0;
}

bool fl_take_is_far(FlCtx *ctx, const FlTakeColumn *columns, int32_t n) {
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  int64_t far = 0;
  for (int32_t k = 0; k < n; k++) {
    const FlTakeColumn *c = &columns[k];
    if (c->known == NULL && fl_buffer_in_file(c->from->buffer))
      far = fl_part_max(far, c->from->dims[0] * (int64_t)c->row_bytes);
  }
  return far > 0 && fl_pool_room(pool, far) < far;
}

FlStatus fl_take_far(FlCtx *ctx, FlTakeColumn *columns, int32_t n, const int64_t *rows, int64_t m) {
  FlPartMem mem = {.ctx = ctx};
  size_t widest = 0;
  int64_t most = 0;
  for (int32_t k = 0; k < n; k++) {
    if (columns[k].row_bytes > widest) widest = columns[k].row_bytes;
    most = fl_part_max(most, columns[k].from->dims[0]);
  }
  int64_t place_bytes = (int64_t)(2 * sizeof(uint64_t) + widest);
  int64_t piece = fl_part_max(fl_pool_room(ctx ? fl_ctx_pool(ctx) : NULL, m * place_bytes) / place_bytes, 1);
  piece = fl_part_min(fl_part_min(piece, m), INT32_MAX);
  Piece p = {.place_bits = fl_part_bits((uint64_t)piece)};
  int row_bits = fl_part_bits((uint64_t)most + 1);
  uint64_t *words = fl_part_alloc(&mem, piece, sizeof *words),
           *spare = fl_part_alloc(&mem, piece, sizeof *spare);
  p.made = fl_part_alloc(&mem, piece, widest);
  FlStatus status = words == NULL || spare == NULL || p.made == NULL;
  for (int64_t begin = 0; begin < m && status == 0; begin += piece) {
    p.rows = rows + begin;
    p.begin = begin;
    p.m = fl_part_min(piece, m - begin);
    p.words = words;
    status = fl_part_for(ctx, pack_body, &p, p.m, 1.0);
    if (status == 0 && row_bits > WINDOW)
      status =
          fl_part_sort_words(&mem, words, spare, p.m, p.place_bits + WINDOW, row_bits - WINDOW, &p.words);
    for (int32_t k = 0; k < n && status == 0; k++) {
      p.column = &columns[k];
      status = fl_part_for(ctx, gather_body, &p, p.m, 5.0);
      int64_t bytes = p.column->known == NULL ? p.m * (int64_t)p.column->row_bytes : 0;
      if (status == 0) status = fl_part_for(ctx, fill_body, &p, (bytes + FILL - 1) / FILL, 0.1 * FILL);
    }
  }
  fl_part_mem_reset(&mem);
  return status;
}
