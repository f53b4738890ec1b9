/* agg_parts.c: aggregates of more groups than fit in memory with what is kept of each: part by part.
 *
 * Comes in: aggregates of the same groups, their columns, the group of each row. Goes out: their values and
 * validities. Always holds: what an aggregate gives for the rows of some groups alone is what it gives for
 * them among all rows, so no bit depends on the parts; rows keep their order, and groups theirs.
 *
 * Tables of groups are filled in any order, which in a file is a page for each row. So one sweep sorts the
 * rows of each chunk by ranges of groups, in a cache, and writes what the aggregates read of them to a file
 * that nobody maps (scratch.h), each range behind the other. For one aggregate after the other, so that the
 * first one that fails is the one that is told, each range is then read back and aggregated in memory. */
#include "part/aggregate_internal.h"

enum {
  MOST_PARTS = 256,
  SLICE = 1 << 13, /* rows that are written at once, column by column */
  STATE = 64,      /* bytes that an aggregate keeps of a group, at most about, */
  ORDER = 24,      /* and of a row: an order code with room to sort */
  SWEPT = 40       /* of a group, where it sweeps over the rows and keeps nothing of them */
};

/* A column that some aggregate reads. */
typedef struct Column {
  FlPartCol from;
  size_t size;    /* of a value */
  int64_t before; /* bytes of a row that are written before its */
} Column;

/* Where a column of the aggregate is read to. */
typedef struct Read {
  const Column *column;
  FlArray *room, *values; /* for the largest part, NULL: none; of this one */
  uint8_t *valid;         /* NULL: all are */
} Read;

typedef struct Parts {
  FlPartMem *m;
  FlPartRanges by;   /* rows by ranges of groups, of which each is a part */
  int64_t g, height; /* groups; of a part, a power of two */
  Column *columns;
  int32_t n_columns;
  int64_t row_bytes; /* in the file: the group in the part, values, validities */
  FlScratch *scratch;
  int64_t part; /* which is read */
  int64_t *id;
  Read read[2];
  int32_t n_read;
} Parts;

bool fl_agg_is_large(const FlAgg *a) {
  if (a->id == NULL || a->g < FL_PART_FEW_GROUPS) return false;
  for (int32_t k = 0; k < a->n_cols; k++) {
    FlDtype d = (FlDtype)a->col[k].dtype;
    if (d == FL_LIST || (a->col[k].array != NULL && a->col[k].array->rank != 1)) return false;
  }
  int64_t tables = a->g * STATE;
  return fl_pool_room(fl_part_pool(a->m), tables) < tables;
}

/* ---- what is read -------------------------------------------------------------------------------------- */

static Column *column_of(const Parts *p, const FlPartCol *col) {
  Column *c = p->columns;
  while (c < p->columns + p->n_columns && (c->from.data != col->data || c->from.valid != col->valid)) c++;
  return c;
}

/* Bytes of memory that an aggregate wants for all groups and rows. */
static int64_t bytes_of(const FlAggWanted *wanted) {
  const FlAgg *a = wanted->agg;
  bool swept = wanted->row->sweep != FL_SWEEP_ALONE && wanted->row->sweep != FL_SWEEP_SPREAD;
  int64_t row = (int64_t)sizeof *a->id + (swept ? 0 : ORDER);
  for (int32_t k = 0; k < a->n_cols; k++)
    row += fl_dtype_info[a->col[k].dtype].bytes + (a->col[k].valid != NULL);
  return a->g * (swept ? SWEPT : STATE) + a->n * row;
}

/* The columns of all aggregates, each once, and the height of the parts. */
static FlStatus plan(Parts *p, const FlAggWanted *of, int32_t n) {
  int64_t most = 0, bytes = 0;
  for (int32_t k = 0; k < n; k++) {
    most += of[k].agg->n_cols;
    bytes = fl_part_max(bytes, bytes_of(&of[k]));
  }
  p->columns = fl_part_alloc(p->m, most, sizeof *p->columns);
  if (p->columns == NULL) return 1;
  p->row_bytes = sizeof(uint32_t);
  for (int32_t k = 0; k < n; k++) {
    for (int32_t j = 0; j < of[k].agg->n_cols; j++) {
      const FlPartCol *col = &of[k].agg->col[j];
      Column *c = column_of(p, col);
      if (c < p->columns + p->n_columns) continue;
      *c = (Column){*col, (size_t)fl_dtype_info[col->dtype].bytes, p->row_bytes};
      p->n_columns++;
      p->row_bytes += (int64_t)c->size + (col->valid != NULL);
    }
  }
  int64_t room = fl_part_max(fl_pool_room(fl_part_pool(p->m), bytes) / 4 * 3, 1);
  int64_t parts = fl_part_min(fl_part_min(bytes / room + 1, MOST_PARTS / 2), p->g);
  p->by.shift = fl_part_bits((uint64_t)(p->g / parts)) - 1; /* not higher than a part may be */
  p->height = INT64_C(1) << p->by.shift;
  p->by.n_ranges = (p->g + p->height - 1) / p->height;
  return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

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
  int64_t mask = p->height - 1;
  for (int64_t i = 0; i < n; i++) {
    uint32_t group = (uint32_t)(p->by.number[from + at[i]] & mask);
    memcpy(to + i * (int64_t)sizeof group, &group, sizeof group);
  }
  to += n * (int64_t)sizeof(uint32_t);
  for (int32_t k = 0; k < p->n_columns; k++) {
    const Column *c = &p->columns[k];
    to = gather(to, (const char *)c->from.data + (size_t)from * c->size, c->size, at, n);
    if (c->from.valid != NULL) to = gather(to, c->from.valid + from, 1, at, n);
  }
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Parts *p = env;
  const int64_t *id = p->by.number;
  int32_t at[MOST_PARTS + 1];
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  int32_t *sorted = fl_counted_new(pool, FL_PART_CHUNK * sizeof *sorted);
  char *packed = fl_counted_new(pool, (size_t)(SLICE * p->row_bytes));
  bool done = sorted != NULL && packed != NULL;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t from, to, *place = p->by.place + c * p->by.n_ranges;
    fl_part_chunk(c, p->by.n, &from, &to);
    memset(at, 0, sizeof at);
    for (int64_t i = from; i < to; i++) at[(id[i] >> p->by.shift) + 1]++;
    for (int64_t k = 0; k < p->by.n_ranges; k++) at[k + 1] += at[k];
    for (int64_t i = from; i < to; i++) sorted[at[id[i] >> p->by.shift]++] = (int32_t)(i - from);
    for (int64_t k = 0; k < p->by.n_ranges; k++) { /* at[k]: where part k ends */
      int64_t first = k > 0 ? at[k - 1] : 0;
      for (int64_t row = first; row < at[k] && done; row += SLICE) {
        int64_t n = fl_part_min(SLICE, at[k] - row);
        pack(p, from, sorted + row, n, packed);
        done =
            fl_scratch_write(p->scratch, packed, n * p->row_bytes, (place[k] + row - first) * p->row_bytes);
      }
    }
  }
  fl_counted_free(sorted);
  fl_counted_free(packed);
  return !done;
}

static FlStatus write_parts(Parts *p) {
  if (fl_part_ranges(p->m, &p->by) != 0) return 1;
  int64_t at = p->by.start[p->by.n_ranges];
  p->scratch = fl_scratch_new(p->m->ctx, at * p->row_bytes);
  if (p->scratch == NULL) return 1;
  p->m->on_disk += at * p->row_bytes;
  if (fl_part_for(p->m->ctx, write_body, p, p->by.chunks, 8.0 * FL_PART_CHUNK) == 0) return 0;
  return fl_part_fail_scratch(p->m, p->scratch);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* The groups of n rows from `at` on in the file: they are read into the second half of their place. */
static bool read_groups(const Parts *p, int64_t *id, int64_t n, int64_t at) {
  char *read = (char *)id + n * (int64_t)sizeof(uint32_t);
  if (!fl_scratch_read(p->scratch, read, n * (int64_t)sizeof(uint32_t), at)) return false;
  for (int64_t i = 0; i < n; i++) {
    uint32_t group;
    memcpy(&group, read + i * (int64_t)sizeof group, sizeof group);
    id[i] = group;
  }
  return true;
}

/* A slice of the part: n rows, from `row` on. */
static bool read_slice(const Parts *p, int64_t row, int64_t n) {
  int64_t at = (p->by.start[p->part] + row) * p->row_bytes;
  bool done = read_groups(p, p->id + row, n, at);
  for (int32_t k = 0; k < p->n_read && done; k++) {
    const Read *r = &p->read[k];
    int64_t size = (int64_t)r->column->size, from = at + n * r->column->before;
    done = fl_scratch_read(p->scratch, (char *)r->values->data + row * size, n * size, from);
    if (done && r->valid != NULL) done = fl_scratch_read(p->scratch, r->valid + row, n, from + n * size);
  }
  return done;
}

/* The rows of the part that some chunks wrote. */
static int32_t read_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Parts *p = env;
  bool done = true;
  (void)ctx;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t row = p->by.place[c * p->by.n_ranges + p->part] - p->by.start[p->part];
    int64_t last = row + fl_part_range_rows(&p->by, c, p->part);
    for (; row < last && done; row += SLICE) done = read_slice(p, row, fl_part_min(SLICE, last - row));
  }
  return !done;
}

/* Memory for the largest part, which all parts of an aggregate use. */
static FlStatus make_room(Parts *p, const FlAgg *a) {
  int64_t most = 0;
  for (int64_t k = 0; k < p->by.n_ranges; k++) most = fl_part_max(most, p->by.start[k + 1] - p->by.start[k]);
  if (p->id == NULL && (p->id = fl_part_near(p->m, most, sizeof *p->id)) == NULL) return 1;
  while (p->n_read < a->n_cols) {
    const FlPartCol *col = &a->col[p->n_read];
    Read *r = &p->read[p->n_read++];
    *r = (Read){.column = column_of(p, col)};
    bool text = fl_dtype_is_text((FlDtype)col->dtype); /* what is known of texts is kept with their buffer */
    if (!text && (r->room = fl_array_new_near(p->m->ctx, (FlDtype)col->dtype, 1, &most)) == NULL) return 1;
    if (col->valid != NULL && (r->valid = fl_part_near(p->m, most, 1)) == NULL) return 1;
  }
  return 0;
}

static void give_room(Parts *p) {
  for (int32_t k = 0; k < p->n_read; k++) {
    fl_array_unref(p->read[k].room);
    fl_array_unref(p->read[k].values);
    fl_part_release(p->m, p->read[k].valid);
  }
  p->n_read = 0;
}

/* Reads the columns of a part. */
static FlStatus read_part(Parts *p) {
  FlCtx *ctx = p->m->ctx;
  int64_t n = p->by.start[p->part + 1] - p->by.start[p->part];
  for (int32_t k = 0; k < p->n_read; k++) {
    Read *r = &p->read[k];
    FlArray *room = r->room;
    fl_array_unref(r->values);
    r->values = room != NULL ? fl_array_over(ctx, room->buffer, room->data, (FlDtype)room->dtype, 1, &n)
                             : fl_part_new_rows(ctx, r->column->from.array, n);
    if (r->values == NULL) return 1;
  }
  double cost = 2.0 * (double)n / (double)p->by.chunks;
  return fl_part_for(ctx, read_body, p, p->by.chunks, cost) == 0 ? 0 : fl_part_fail_scratch(p->m, p->scratch);
}

/* ---- aggregates of a part ------------------------------------------------------------------------------ */

typedef struct Copy {
  FlPool *pool;
  char *to;
  const char *from;
  int64_t bytes;
} Copy;

enum { PIECE = 1 << 18 };

static int32_t copy_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Copy *c = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    int64_t at = k * PIECE;
    fl_pool_fill(c->pool, c->to + at, c->from + at, fl_part_min(PIECE, c->bytes - at));
  }
  return 0;
}

FlStatus fl_agg_append(FlPartMem *m, FlArray *all, int64_t at, const FlArray *found, int64_t n) {
  int64_t size = (int64_t)fl_dtype_info[all->dtype].bytes;
  Copy c = {fl_part_pool(m), (char *)all->data + at * size, found->data, n * size};
  return fl_part_for(m->ctx, copy_body, &c, (c.bytes + PIECE - 1) / PIECE, 0.2 * (double)PIECE);
}

static FlStatus store_part(FlAgg *a, const FlAgg *part) {
  FlCtx *ctx = a->m->ctx;
  if (a->value == NULL) {
    FlDtype d = (FlDtype)part->value->dtype;
    a->value =
        fl_dtype_is_text(d) ? fl_part_new_rows(ctx, a->col[0].array, a->g) : fl_array_new(ctx, d, 1, &a->g);
    a->valid = fl_array_new(ctx, FL_BOOL, 1, &a->g);
  }
  if (a->value == NULL || a->valid == NULL) return 1;
  return fl_agg_append(part->m, a->value, part->base, part->value, part->g) != 0 ||
         fl_agg_append(part->m, a->valid, part->base, part->valid, part->g) != 0;
}

static FlStatus run_part(const Parts *p, const FlAggWanted *wanted) {
  FlAgg *a = wanted->agg;
  FlPartMem mem = {.ctx = p->m->ctx, .near = true};
  FlAgg part = {.m = &mem, .desc = a->desc, .n_cols = a->n_cols, .id = p->id, .base = p->part * p->height};
  part.n = p->by.start[p->part + 1] - p->by.start[p->part];
  part.g = fl_part_min(p->height, p->g - part.base);
  for (int32_t k = 0; k < a->n_cols; k++) {
    const Read *r = &p->read[k];
    part.col[k] = (FlPartCol){a->col[k].dtype, part.n, r->values->data, r->valid, r->values};
  }
  FlStatus status = fl_agg_make(&part, wanted->row) != 0 || store_part(a, &part) != 0;
  fl_array_unref(part.value);
  fl_array_unref(part.valid);
  fl_part_mem_reset(&mem);
  return status;
}

static FlStatus run_all(Parts *p, const FlAggWanted *wanted) {
  FlStatus status = make_room(p, wanted->agg);
  for (p->part = 0; p->part < p->by.n_ranges && status == 0; p->part++)
    status = read_part(p) != 0 || run_part(p, wanted) != 0;
  give_room(p);
  return status;
}

FlStatus fl_agg_parts(const FlAggWanted *of, int32_t n) {
  const FlAgg *a = of[0].agg;
  Parts p = {.m = a->m, .by = {.number = a->id, .n = a->n}, .g = a->g};
  FlStatus status = plan(&p, of, n) != 0 || write_parts(&p) != 0;
  for (int32_t k = 0; k < n && status == 0; k++) status = run_all(&p, &of[k]);
  fl_scratch_free(p.scratch);
  fl_part_release(p.m, p.columns);
  fl_part_ranges_release(p.m, &p.by);
  fl_part_release(p.m, p.id);
  return status;
}
