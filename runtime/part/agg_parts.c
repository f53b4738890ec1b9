/* agg_parts.c: aggregates of more groups than fit in memory with what is kept of each: part by part.
 *
 * Comes in: an aggregate, its columns, the group of each row. Goes out: its values and validities. Always
 * holds: what the aggregate gives for the rows of some groups alone is what it gives for them among all rows,
 * so no bit depends on the parts; rows keep their order, and groups theirs.
 *
 * Tables of groups are filled in any order, which in a file is a page for each row. So one sweep sorts the
 * rows of each chunk by ranges of groups, in a cache, and writes what the aggregate reads of them to a file
 * that nobody maps (scratch.h), each range behind the other. Each range is then read back, and aggregated in
 * memory. */
#include "part/aggregate_internal.h"

enum {
  MOST_PARTS = 256,
  STATE = 64, /* bytes that an aggregate keeps of a group, at most about */
  ROW = 32    /* of a row, beside its values: its group, an order code with room to sort */
};

typedef struct Parts {
  const FlAgg *a;
  int64_t chunks, n_parts, height; /* groups of a part */
  int shift;                       /* height as a power of two */
  size_t size[2];                  /* of the values of each column */
  int64_t row_bytes;               /* in the file: the group in the part, values, validities */
  int64_t *place; /* [chunks][n_parts]: among all rows, of the chunk's first row of the part */
  int64_t *start; /* [n_parts + 1] */
  FlScratch *scratch;
  char *read;   /* the rows of a part as they are in the file */
  int64_t part; /* which */
  int64_t *id;  /* what they become */
  char *values[2];
  uint8_t *valid[2];
} Parts;

/* Bytes that the aggregate would look up in any order. */
static int64_t bytes_of(const FlAgg *a) {
  int64_t row = ROW;
  for (int32_t k = 0; k < a->n_cols; k++) row += fl_dtype_info[a->col[k].dtype].bytes;
  return a->g * STATE + a->n * row;
}

bool fl_agg_is_large(const FlAgg *a) {
  enum { MANY = 1 << 14 };
  if (a->id == NULL || a->g < MANY) return false;
  for (int32_t k = 0; k < a->n_cols; k++) {
    FlDtype d = (FlDtype)a->col[k].dtype;
    if (d == FL_LIST || (a->col[k].array != NULL && a->col[k].array->rank != 1)) return false;
  }
  int64_t tables = a->g * STATE;
  return fl_pool_room(fl_part_pool(a->m), tables) < tables;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Parts *p = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, *count = p->place + c * p->n_parts;
    fl_part_chunk(c, p->a->n, &from, &to);
    memset(count, 0, (size_t)p->n_parts * sizeof *count);
    for (int64_t i = from; i < to; i++) count[p->a->id[i] >> p->shift]++;
  }
  return 0;
}

/* Values of `size` bytes of the rows at[0..n) behind `from`, one after the other; returns where they end. */
static char *gather(char *to, const void *values, size_t size, const int32_t *at, int64_t n) {
#define GATHER(T)                                                                                            \
  {                                                                                                          \
    const T *from = values;                                                                                  \
    for (int64_t i = 0; i < n; i++) memcpy(to + i * (int64_t)sizeof(T), &from[at[i]], sizeof(T));            \
    break;                                                                                                   \
  }
  switch (size) {
  case 1: GATHER(uint8_t)
  case 2: GATHER(uint16_t)
  case 4: GATHER(uint32_t)
  case 8: GATHER(uint64_t)
  default:
    for (int64_t i = 0; i < n; i++)
      memcpy(to + (size_t)i * size, (const char *)values + (size_t)at[i] * size, size);
  }
#undef GATHER
  return to + (size_t)n * size;
}

/* What is read of the rows at[0..n) of the chunk that begins at `from`, column by column. */
static void pack(const Parts *p, int64_t from, const int32_t *at, int64_t n, char *to) {
  const FlAgg *a = p->a;
  int64_t mask = p->height - 1;
  for (int64_t i = 0; i < n; i++) {
    uint32_t group = (uint32_t)(a->id[from + at[i]] & mask);
    memcpy(to + i * (int64_t)sizeof group, &group, sizeof group);
  }
  to += n * (int64_t)sizeof(uint32_t);
  for (int32_t k = 0; k < a->n_cols; k++) {
    to = gather(to, (const char *)a->col[k].data + (size_t)from * p->size[k], p->size[k], at, n);
    if (a->col[k].valid != NULL) to = gather(to, a->col[k].valid + from, 1, at, n);
  }
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Parts *p = env;
  const int64_t *id = p->a->id;
  int32_t at[MOST_PARTS + 1];
  int32_t *sorted = malloc(FL_PART_CHUNK * sizeof *sorted);
  char *packed = malloc((size_t)(FL_PART_CHUNK * p->row_bytes));
  bool done = sorted != NULL && packed != NULL;
  (void)ctx;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t from, to, *place = p->place + c * p->n_parts;
    fl_part_chunk(c, p->a->n, &from, &to);
    memset(at, 0, sizeof at);
    for (int64_t i = from; i < to; i++) at[(id[i] >> p->shift) + 1]++;
    for (int64_t k = 0; k < p->n_parts; k++) at[k + 1] += at[k];
    for (int64_t i = from; i < to; i++) sorted[at[id[i] >> p->shift]++] = (int32_t)(i - from);
    for (int64_t k = 0; k < p->n_parts && done; k++) { /* at[k]: where part k ends */
      int64_t first = k > 0 ? at[k - 1] : 0, n = at[k] - first;
      if (n == 0) continue;
      pack(p, from, sorted + first, n, packed);
      done = fl_scratch_write(p->scratch, packed, n * p->row_bytes, place[k] * p->row_bytes);
    }
  }
  free(sorted);
  free(packed);
  return !done;
}

static FlStatus write_parts(FlPartMem *m, Parts *p) {
  p->chunks = fl_part_chunks(p->a->n);
  p->place = fl_part_alloc(m, p->chunks * p->n_parts, sizeof *p->place);
  p->start = fl_part_alloc(m, p->n_parts + 1, sizeof *p->start);
  if (p->place == NULL || p->start == NULL) return 1;
  if (fl_part_for(m->ctx, count_body, p, p->chunks, 1.5 * FL_PART_CHUNK) != 0) return 1;
  int64_t at = 0;
  for (int64_t k = 0; k < p->n_parts; k++) {
    p->start[k] = at;
    for (int64_t c = 0; c < p->chunks; c++) {
      int64_t count = p->place[c * p->n_parts + k];
      p->place[c * p->n_parts + k] = at;
      at += count;
    }
  }
  p->start[p->n_parts] = at;
  p->scratch = fl_scratch_new(m->ctx, at * p->row_bytes);
  if (p->scratch == NULL) return 1;
  m->on_disk += at * p->row_bytes;
  if (fl_part_for(m->ctx, write_body, p, p->chunks, 8.0 * FL_PART_CHUNK) == 0) return 0;
  return fl_part_fail_scratch(m, p->scratch);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* The rows of a part that one chunk wrote. */
static int32_t unpack_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Parts *p = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from = p->place[c * p->n_parts + p->part] - p->start[p->part];
    int64_t to = c + 1 < p->chunks ? p->place[(c + 1) * p->n_parts + p->part] - p->start[p->part]
                                   : p->start[p->part + 1] - p->start[p->part];
    int64_t n = to - from;
    const char *at = p->read + from * p->row_bytes;
    for (int64_t i = 0; i < n; i++) {
      uint32_t group;
      memcpy(&group, at + i * (int64_t)sizeof group, sizeof group);
      p->id[from + i] = group;
    }
    at += n * (int64_t)sizeof(uint32_t);
    for (int32_t k = 0; k < p->a->n_cols; k++) {
      memcpy(p->values[k] + (size_t)from * p->size[k], at, (size_t)n * p->size[k]);
      at += (size_t)n * p->size[k];
      if (p->valid[k] == NULL) continue;
      memcpy(p->valid[k] + from, at, (size_t)n);
      at += n;
    }
  }
  return 0;
}

/* Puts the results of a part behind those of the parts before. */
static void append(FlAgg *a, const FlAgg *part) {
  size_t size = (size_t)fl_dtype_info[a->value->dtype].bytes;
  memcpy((char *)a->value->data + (size_t)part->base * size, part->value->data, (size_t)part->g * size);
  memcpy((uint8_t *)a->valid->data + part->base, part->valid->data, (size_t)part->g);
}

/* The part's aggregate, of columns that are read into `arrays`. */
static FlStatus run_part(Parts *p, FlAgg *a, FlAgg *part, FlAggFn *fn, FlArray **arrays) {
  FlPartMem *m = part->m;
  int64_t n = p->start[p->part + 1] - p->start[p->part];
  part->n = n;
  part->id = p->id = fl_part_alloc(m, n, sizeof *p->id);
  p->read = fl_part_alloc(m, n, (size_t)p->row_bytes);
  if (p->id == NULL || p->read == NULL) return 1;
  for (int32_t k = 0; k < a->n_cols; k++) {
    arrays[k] = fl_part_new_rows(m->ctx, a->col[k].array, n);
    p->valid[k] = a->col[k].valid != NULL ? fl_part_alloc(m, n, 1) : NULL;
    if (arrays[k] == NULL || (a->col[k].valid != NULL && p->valid[k] == NULL)) return 1;
    p->values[k] = arrays[k]->data;
    part->col[k] = (FlPartCol){a->col[k].dtype, n, arrays[k]->data, p->valid[k], arrays[k]};
  }
  if (!fl_scratch_read(p->scratch, p->read, n * p->row_bytes, p->start[p->part] * p->row_bytes))
    return fl_part_fail_scratch(m, p->scratch);
  if (fl_part_for(m->ctx, unpack_body, p, p->chunks, 2.0 * (double)n / (double)p->chunks) != 0) return 1;
  fl_part_release(m, p->read);
  part->counts = fl_agg_counts_of(part);
  if (part->counts == NULL || fn(part) != 0) return 1;
  if (a->value == NULL) {
    FlDtype d = (FlDtype)part->value->dtype;
    a->value = fl_dtype_is_text(d) ? fl_part_new_rows(m->ctx, a->col[0].array, a->g)
                                   : fl_array_new(m->ctx, d, 1, &a->g);
    a->valid = fl_array_new(m->ctx, FL_BOOL, 1, &a->g);
  }
  if (a->value == NULL || a->valid == NULL) return 1;
  append(a, part);
  return 0;
}

FlStatus fl_agg_parts(FlAgg *a, FlAggFn *fn) {
  Parts p = {.a = a, .row_bytes = sizeof(uint32_t)};
  for (int32_t k = 0; k < a->n_cols; k++) {
    p.size[k] = (size_t)fl_dtype_info[a->col[k].dtype].bytes;
    p.row_bytes += (int64_t)p.size[k] + (a->col[k].valid != NULL);
  }
  int64_t bytes = bytes_of(a), room = fl_part_max(fl_pool_room(fl_part_pool(a->m), bytes) / 2, 1);
  int64_t parts = fl_part_min(bytes / room + 1, MOST_PARTS);
  p.shift = fl_part_bits((uint64_t)((a->g + parts - 1) / parts - 1));
  p.height = INT64_C(1) << p.shift;
  p.n_parts = (a->g + p.height - 1) / p.height;
  FlStatus status = write_parts(a->m, &p);
  for (p.part = 0; p.part < p.n_parts && status == 0; p.part++) {
    FlPartMem mem = {.ctx = a->m->ctx};
    FlArray *arrays[2] = {NULL};
    FlAgg part = {.m = &mem, .desc = a->desc, .n_cols = a->n_cols, .base = p.part * p.height};
    part.g = fl_part_min(p.height, a->g - part.base);
    status = run_part(&p, a, &part, fn, arrays);
    fl_array_unref(part.value);
    fl_array_unref(part.valid);
    for (int32_t k = 0; k < a->n_cols; k++) fl_array_unref(arrays[k]);
    fl_part_mem_reset(&mem);
  }
  fl_scratch_free(p.scratch);
  fl_part_release(a->m, p.place);
  fl_part_release(a->m, p.start);
  return status;
}
