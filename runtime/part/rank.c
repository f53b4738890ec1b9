/* rank.c: the rank of each row among the rows of its group.
 *
 * Comes in: the rows by group and then by a column, that column. Goes out: ranks from 1. Always holds: equal
 * values (as keys: -0.0 and 0.0, any two NaN) are one run, and what they get does not depend on how the rows
 * were cut.
 *
 * A flag a position says whether a group or a run begins there. Each chunk of positions tells where the last
 * of its groups and runs begin and how many runs that group has had; going over the chunks from both sides
 * says it for the begin and the end of each. */
#include "part/window_internal.h"
#include "data/text_order.h"

enum { RUN = 1, GROUP = 2 };
typedef enum Method { AVERAGE, LEAST, GREATEST, DENSE, FIRST } Method;

typedef struct Chunk {
  int64_t group, run; /* where the ones that reach into it begin */
  int64_t runs;       /* that began in that group before it */
  int64_t next;       /* where the first run after it begins */
} Chunk;

typedef struct Ranks {
  const int64_t *rows, *id; /* id NULL: one group */
  FlPartCol col;
  int64_t n, chunks;
  Method method;
  uint8_t *flag;
  Chunk *chunk;
  FlArray *out;
} Ranks;

#define SAME(T)                                                                                              \
  {                                                                                                          \
    const T *v = (const T *)r->col.data;                                                                     \
    return v[i] == v[j];                                                                                     \
  }
#define SAME_FLOATS(T)                                                                                       \
  {                                                                                                          \
    const T *v = (const T *)r->col.data;                                                                     \
    return v[i] == v[j] || (v[i] != v[i] && v[j] != v[j]);                                                   \
  }

static bool same(const Ranks *r, int64_t i, int64_t j) {
  bool known = fl_part_valid(r->col.valid, i);
  if (known != fl_part_valid(r->col.valid, j)) return false;
  if (!known) return true;
  if (r->col.dtype == FL_F64) SAME_FLOATS(double)
  if (r->col.dtype == FL_F32) SAME_FLOATS(float)
  if (r->col.dtype == FL_TEXT) {
    FlText a = ((const FlText *)r->col.data)[i], b = ((const FlText *)r->col.data)[j];
    return fl_text_same(a, b);
  }
  switch (fl_dtype_info[r->col.dtype].bytes) {
  case 1: SAME(uint8_t)
  case 2: SAME(uint16_t)
  case 4: SAME(uint32_t)
  default: SAME(uint64_t)
  }
}

static int32_t flag_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Ranks *r = env;
  (void)ctx;
  for (int64_t p = begin; p < end; p++) {
    int64_t i = r->rows[p], j = p == 0 ? i : r->rows[p - 1];
    bool group = p == 0 || (r->id != NULL && r->id[i] != r->id[j]);
    r->flag[p] = group ? RUN | GROUP : same(r, i, j) ? 0 : RUN;
  }
  return 0;
}

/* group, run: -1 when none begins in the chunk; runs: those since its last group began, or all; next: the
 * first. */
static int32_t chunk_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Ranks *r = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    Chunk k = {-1, -1, 0, -1};
    fl_part_chunk(c, r->n, &from, &to);
    for (int64_t p = from; p < to; p++) {
      if (!r->flag[p]) continue;
      if (r->flag[p] & GROUP) {
        k.group = p;
        k.runs = 0;
      }
      k.run = p;
      k.runs++;
      if (k.next < 0) k.next = p;
    }
    r->chunk[c] = k;
  }
  return 0;
}

/* From what each chunk says of itself to what comes into it and what follows it. */
static void join_chunks(Ranks *r) {
  Chunk in = {0, 0, 0, 0};
  for (int64_t c = 0; c < r->chunks; c++) {
    Chunk own = r->chunk[c];
    r->chunk[c] = (Chunk){in.group, in.run, in.runs, own.next};
    if (own.group >= 0) in.group = own.group;
    if (own.run >= 0) in.run = own.run;
    in.runs = own.group >= 0 ? own.runs : in.runs + own.runs;
  }
  int64_t next = r->n;
  for (int64_t c = r->chunks - 1; c >= 0; c--) {
    int64_t own = r->chunk[c].next;
    r->chunk[c].next = next;
    if (own >= 0) next = own;
  }
}

static int64_t run_end(const Ranks *r, int64_t p, int64_t to, int64_t next) {
  while (++p < to)
    if (r->flag[p]) return p;
  return next;
}

static int32_t rank_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Ranks *r = env;
  double *floats = r->out->data;
  int64_t *ints = r->out->data;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, run_to = -1;
    Chunk k = r->chunk[c];
    fl_part_chunk(c, r->n, &from, &to);
    for (int64_t p = from; p < to; p++) {
      if (r->flag[p] & GROUP) {
        k.group = p;
        k.runs = 0;
      }
      if (r->flag[p]) {
        k.run = p;
        k.runs++;
      }
      if (r->flag[p] || p == from) run_to = run_end(r, p, to, k.next);
      int64_t row = r->rows[p], least = k.run - k.group + 1, most = run_to - k.group, v = least;
      bool valid = fl_part_valid(r->col.valid, row);
      switch (r->method) {
      case AVERAGE: floats[row] = valid ? 0.5 * (double)(least + most) : 0.0; continue;
      case LEAST: break;
      case GREATEST: v = most; break;
      case DENSE: v = k.runs; break;
      case FIRST: v = p - k.group + 1; break;
      }
      ints[row] = valid ? v : 0;
    }
  }
  return 0;
}

static bool method_of(const char *name, Method *out) {
  static const char *const names[] = {"average", "min", "max", "dense", "first"};
  for (int k = 0; k < 5; k++) {
    if (strcmp(names[k], name) != 0) continue;
    *out = (Method)k;
    return true;
  }
  return false;
}

static FlStatus rank(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlCtx *ctx = m->ctx;
  Ranks r = {.rows = args[0].a->data, .id = desc->i == 1 ? NULL : args[1].a->data, .n = args[0].a->dims[0]};
  int32_t at = 2;
  if (!method_of(desc->s, &r.method))
    return fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "no rank by %s", desc->s);
  if (fl_part_col(ctx, desc, args, &at, &desc->columns[0], &r.col) != 0) return 1;
  if (r.col.n != r.n) return fl_part_fail_shape(ctx, desc, r.n, r.col.n);
  r.chunks = fl_part_chunks(r.n);
  r.flag = fl_part_alloc(m, r.n, 1);
  r.chunk = fl_part_alloc(m, r.chunks, sizeof *r.chunk);
  *out = r.out = fl_array_new(ctx, r.method == AVERAGE ? FL_F64 : FL_I64, 1, &r.n);
  if (r.flag == NULL || r.chunk == NULL || r.out == NULL) return 1;
  if (fl_part_for(ctx, flag_body, &r, r.n, 6.0) != 0) return 1;
  if (fl_part_for(ctx, chunk_body, &r, r.chunks, 1.0 * FL_PART_CHUNK) != 0) return 1;
  join_chunks(&r);
  return fl_part_for(ctx, rank_body, &r, r.chunks, 4.0 * FL_PART_CHUNK);
}

FlStatus fl_rt_rank(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, rank);
}
