/* rolling.c: aggregates of the last rows of each row's group: reads the call, moves windows, counts.
 *
 * Comes in: the rows by group, a width in rows or in units of a column, a column. Goes out: a value a row and
 * whether it is there. Always holds: a value depends on the rows in its window alone, not on how it came
 * there: sums are exact, so that what leaves a window leaves nothing behind.
 *
 * Blocks of positions are tasks; each begins with an empty window and takes in what is before it. */
#include "part/rolling_internal.h"

/* ---- windows ------------------------------------------------------------------------------------------ */

static bool by_known(const FlRolling *r, int64_t p) { return r->by_valid == NULL || r->by_valid[p] != 0; }

/* The greatest value that is already outside of a window that ends at t. */
static int64_t before_window(const FlRolling *r, int64_t t) {
  int64_t out;
  return __builtin_sub_overflow(t, r->width, &out) ? INT64_MIN : out;
}

void fl_window_enter(const FlRolling *r, FlWindow *w, int64_t p) {
  while (p >= r->start[w->k + 1]) w->k++;
  w->first = r->start[w->k];
  w->end = r->start[w->k + 1];
  w->lo = w->hi = w->first;
}

FlWindow fl_window_open(const FlRolling *r, int64_t p) {
  int64_t low = 0, high = r->g; /* start[low] <= p < start[high] */
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (r->start[middle] <= p) low = middle;
    else high = middle;
  }
  FlWindow w = {.k = low};
  fl_window_enter(r, &w, p);
  if (r->by == NULL) {
    w.lo = fl_part_max(w.first, p - r->width + 1);
  } else if (by_known(r, p)) {
    int64_t out = before_window(r, r->by[p]), from = w.first, to = p; /* by[to] > out */
    bool none = r->by[p] <= out;
    while (from < to && !none) {
      int64_t middle = from + (to - from) / 2;
      if (r->by[middle] > out) to = middle;
      else from = middle + 1;
    }
    w.lo = none ? p : from;
  } else {
    w.lo = p;
  }
  w.hi = w.lo;
  return w;
}

bool fl_window_move_by(const FlRolling *r, FlWindow *w, int64_t p) {
  bool begins = p >= w->end;
  if (begins) fl_window_enter(r, w, p);
  if (!by_known(r, p)) { /* they stand last */
    w->lo = w->hi = p;
    return begins;
  }
  const int64_t *by = r->by;
  int64_t t = by[p], out = before_window(r, t), lo = w->lo, hi = w->hi, end = w->end;
  while (hi < end && by_known(r, hi) && by[hi] <= t) hi++;
  while (lo < hi && by[lo] <= out) lo++;
  w->lo = lo;
  w->hi = hi;
  return begins;
}

void fl_rolling_reach(const FlRolling *r, int64_t from, int64_t to, int64_t *lo, int64_t *hi) {
  FlWindow w = fl_window_open(r, from);
  *lo = w.lo;
  *hi = to;
  if (r->by == NULL) return;
  w = fl_window_open(r, to - 1);
  (void)fl_window_move(r, &w, to - 1);
  *hi = fl_part_max(to, w.hi);
}

typedef struct Blocks {
  FlRolling *r;
  FlRollingBody *body;
} Blocks;

static int32_t block_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Blocks *b = env;
  int32_t failed = 0;
  (void)ctx;
  for (int64_t k = begin; k < end; k++)
    failed |= b->body(b->r, k * b->r->block, fl_part_min((k + 1) * b->r->block, b->r->n));
  return failed;
}

FlStatus fl_rolling_blocks(FlRolling *r, FlRollingBody *body, double cost) {
  Blocks b = {r, body};
  int64_t blocks = (r->n + r->block - 1) / r->block;
  if (fl_part_for(r->m->ctx, block_body, &b, blocks, cost * (double)r->block) == 0) return 0;
  return fl_fail(r->m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
}

/* Long against the windows, so that taking in what is before a block costs little. */
static int64_t block_size(const FlRolling *r) {
  enum { LEAST = 1 << 14, PROBES = 64 };
  int64_t most = r->by == NULL ? fl_part_min(r->width, r->n) : 0;
  for (int64_t k = 0; k < PROBES && r->by != NULL && r->n > 0; k++) {
    int64_t p = r->n / PROBES * k;
    FlWindow w = fl_window_open(r, p);
    most = fl_part_max(most, p - w.lo);
  }
  return fl_part_max(LEAST, 2 * most);
}

/* ---- results ------------------------------------------------------------------------------------------ */

FlStatus fl_rolling_results(FlRolling *r) {
  r->value = fl_array_new(r->m->ctx, r->desc->result_types[0].dtype, 1, &r->n);
  r->valid = fl_array_new(r->m->ctx, FL_BOOL, 1, &r->n);
  return r->value == NULL || r->valid == NULL;
}

typedef struct Read {
  const FlPartCol *col;
  double *out;
  int64_t *ints;
} Read;

static int32_t read_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Read *r = env;
  (void)ctx;
  if (r->out != NULL) fl_part_read_f64(r->col, begin, end - begin, r->out + begin);
  else fl_part_read_i64(r->col, begin, end - begin, r->ints + begin);
  return 0;
}

const double *fl_rolling_doubles(FlRolling *r) {
  if (r->x.dtype == FL_F64) return r->x.data; /* null has zero */
  Read read = {&r->x, fl_part_alloc(r->m, r->n, sizeof *read.out), NULL};
  if (read.out == NULL || fl_part_for(r->m->ctx, read_body, &read, r->n, 1.0) != 0) return NULL;
  return read.out;
}

const int64_t *fl_rolling_ints(FlRolling *r) {
  if (fl_dtype_info[r->x.dtype].bytes == 8) return r->x.data;
  Read read = {&r->x, NULL, fl_part_alloc(r->m, r->n, sizeof *read.ints)};
  if (read.ints == NULL || fl_part_for(r->m->ctx, read_body, &read, r->n, 1.0) != 0) return NULL;
  return read.ints;
}

int fl_rolling_base(const double *x, int64_t n) {
  int most = 0;
  for (int64_t i = 0; i < n; i++) {
    int e = fl_fixed_exponent(x[i]);
    e = e == 0x7ff ? 0 : e;
    most = e > most ? e : most;
  }
  return fl_fixed_base(most, fl_part_bits((uint64_t)n));
}

/* ---- counts -------------------------------------------------------------------------------------------- */

typedef enum Counted { COUNT, ANY, ALL } Counted;

static int32_t count_block(FlRolling *r, int64_t from, int64_t to, Counted what) {
  const uint8_t *x = r->x.data, *ok = r->x.valid;
  bool bools = r->x.dtype == FL_BOOL;
  int64_t values = 0, trues = 0;
  FlWindow w = fl_window_open(r, from);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to; p++) {
    if (fl_window_move(r, &w, p)) {
      values = trues = 0;
      lo = hi = w.lo;
    }
    for (; hi < w.hi; hi++) {
      values += fl_part_valid(ok, hi);
      trues += bools && fl_part_valid(ok, hi) && x[hi];
    }
    for (; lo < w.lo; lo++) {
      values -= fl_part_valid(ok, lo);
      trues -= bools && fl_part_valid(ok, lo) && x[lo];
    }
    int64_t row = fl_rolling_row(r, p), enough = what == COUNT ? w.hi - w.lo : values;
    bool there = enough >= r->least;
    ((uint8_t *)r->valid->data)[row] = there;
    if (what == COUNT) ((int64_t *)r->value->data)[row] = there ? bools ? trues : values : 0;
    else ((uint8_t *)r->value->data)[row] = there && (what == ANY ? trues > 0 : trues == values);
  }
  return 0;
}

static int32_t count_body(FlRolling *r, int64_t from, int64_t to) { return count_block(r, from, to, COUNT); }
static int32_t any_body(FlRolling *r, int64_t from, int64_t to) { return count_block(r, from, to, ANY); }
static int32_t all_body(FlRolling *r, int64_t from, int64_t to) { return count_block(r, from, to, ALL); }

static FlStatus counts(FlRolling *r, FlRollingBody *body) {
  return fl_rolling_results(r) != 0 || fl_rolling_blocks(r, body, 3.0) != 0;
}
FlStatus fl_rolling_count(FlRolling *r) { return counts(r, count_body); }
FlStatus fl_rolling_any(FlRolling *r) { return counts(r, any_body); }
FlStatus fl_rolling_all(FlRolling *r) { return counts(r, all_body); }

/* ---- reading the call ---------------------------------------------------------------------------------- */

enum { WHOLE = 1, BY = 2 };

typedef struct Micros {
  const FlPartCol *col;
  int64_t scale;
  int64_t *out;
} Micros;

static int32_t micros_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Micros *m = env;
  (void)ctx;
  fl_part_read_i64(m->col, begin, end - begin, m->out + begin);
  for (int64_t i = begin; i < end; i++) m->out[i] *= m->scale;
  return 0;
}

/* A column by position; its array is kept until the call ends. */
static FlStatus by_position(FlRolling *r, FlPartCol *c, FlArray **kept) {
  if (r->rows == NULL) return 0;
  kept[0] = fl_part_take(r->m->ctx, c->array, r->rows, r->n);
  if (kept[0] == NULL) return 1;
  c->array = kept[0];
  c->data = kept[0]->data;
  if (c->valid == NULL) return 0;
  FlArray flags = {.data = (void *)(uintptr_t)c->valid, .dims = {r->n}, .dtype = FL_BOOL, .rank = 1};
  kept[1] = fl_part_take(r->m->ctx, &flags, r->rows, r->n);
  if (kept[1] == NULL) return 1;
  c->valid = kept[1]->data;
  return 0;
}

static FlStatus read_by(FlRolling *r, FlPartCol *by, FlArray **kept) {
  if (by_position(r, by, kept) != 0) return 1;
  r->by_valid = by->valid;
  if (by->dtype == FL_I64 || by->dtype == FL_DATETIME || by->dtype == FL_DURATION) {
    r->by = by->data;
    return 0;
  }
  Micros m = {by, by->dtype == FL_DATE ? INT64_C(86400000000) : 1, fl_part_alloc(r->m, r->n, sizeof *m.out)};
  r->by = m.out;
  return m.out == NULL || fl_part_for(r->m->ctx, micros_body, &m, r->n, 1.0) != 0;
}

/* Everything but the column x, which has index *at among the arguments. */
static FlStatus open_call(FlRolling *r, const FlSlot *args, int32_t *at, FlArray **kept, int64_t *one) {
  const FlOpDesc *desc = r->desc;
  bool whole = desc->i & WHOLE;
  r->n = args[0].a->dims[0];
  one[0] = 0;
  one[1] = r->n;
  r->rows = whole ? NULL : args[0].a->data;
  r->start = whole ? one : args[1].a->data;
  r->g = whole ? 1 : args[1].a->dims[0] - 1;
  r->width = args[2].i;
  r->least = fl_part_max(1, args[3].i);
  *at = 4;
  if (desc->i & BY) {
    FlPartCol by;
    if (fl_part_col(r->m->ctx, desc, args, at, &desc->columns[0], &by) != 0 || read_by(r, &by, kept) != 0)
      return 1;
  }
  r->block = r->g > 0 ? block_size(r) : 1;
  return 0;
}

static FlRollingFn *find(const char *name) {
  static const struct {
    const char *name;
    FlRollingFn *fn;
  } all[] = {
#define FL_AGG_ROLLS_YES(text) {#text, fl_rolling_##text},
#define FL_AGG_ROLLS_NO(text)
#define FL_AGG_ROW(NAME, text, COLUMNS, RESULT, NULLS, STATE, SWEEP, SLOPE, SETTING, ROLLS)                  \
  FL_AGG_ROLLS_##ROLLS(text)
#include "flow/aggregates.def"
#undef FL_AGG_ROW
#undef FL_AGG_ROLLS_YES
#undef FL_AGG_ROLLS_NO
  };
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (strcmp(all[k].name, name) == 0) return all[k].fn;
  return NULL;
}

static FlStatus fail_overflow(FlRolling *r) {
  int64_t row = atomic_load(r->overflow);
  FlStatus status =
      fl_fail_op(r->m->ctx, r->desc, FL_FAULT_OVERFLOW, "integer overflow: the rolling sum does not fit %s",
                 fl_dtype_info[r->value->dtype].name);
  fl_fail_position(r->m->ctx, 1, &row);
  return status;
}

static FlStatus rolling(FlRolling *r, const FlSlot *args, FlArray **kept) {
  int32_t at;
  int64_t one[2];
  FlRollingFn *fn = find(r->desc->s);
  if (fn == NULL) return fl_fail_op(r->m->ctx, r->desc, FL_CODE_INTERNAL, "nothing rolls as %s", r->desc->s);
  if (open_call(r, args, &at, kept, one) != 0) return 1;
  if (fl_part_col(r->m->ctx, r->desc, args, &at, &r->desc->columns[r->desc->n_columns - 1], &r->x) != 0)
    return 1;
  r->from = r->x.array;
  if (r->x.n != r->n) return fl_part_fail_shape(r->m->ctx, r->desc, r->n, r->x.n);
  if (by_position(r, &r->x, kept + 2) != 0 || fn(r) != 0) return 1;
  return atomic_load(r->overflow) == INT64_MAX ? 0 : fail_overflow(r);
}

static FlStatus finish(FlRolling *r, FlArray **kept, FlStatus status, FlSlot *results) {
  fl_part_mem_reset(r->m);
  for (int k = 0; k < 4; k++) fl_array_unref(kept[k]);
  if (status != 0) {
    fl_array_unref(r->value);
    fl_array_unref(r->valid);
  }
  results[0].a = r->value;
  results[1].a = r->valid;
  return status;
}

FlStatus fl_rt_rolling(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  _Atomic int64_t overflow = INT64_MAX;
  FlRolling r = {.m = &mem, .desc = desc, .overflow = &overflow};
  FlArray *kept[4] = {NULL};
  return finish(&r, kept, rolling(&r, args, kept), results);
}

static int32_t bounds_body(FlRolling *r, int64_t from, int64_t to) {
  FlWindow w = fl_window_open(r, from);
  for (int64_t p = from; p < to; p++) {
    (void)fl_window_move(r, &w, p);
    int64_t row = fl_rolling_row(r, p);
    bool there = w.hi - w.lo >= r->least;
    ((int64_t *)r->value->data)[row] = there ? w.lo : 0;
    ((int64_t *)r->valid->data)[row] = there ? w.hi : 0;
  }
  return 0;
}

FlStatus fl_rt_rolling_bounds(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  _Atomic int64_t overflow = INT64_MAX;
  FlRolling r = {.m = &mem, .desc = desc, .overflow = &overflow};
  FlArray *kept[4] = {NULL};
  int32_t at;
  int64_t one[2];
  FlStatus status = open_call(&r, args, &at, kept, one);
  if (status == 0) {
    r.value = fl_array_new(ctx, FL_I64, 1, &r.n);
    r.valid = fl_array_new(ctx, FL_I64, 1, &r.n);
    status = r.value == NULL || r.valid == NULL || fl_rolling_blocks(&r, bounds_body, 3.0) != 0;
  }
  return finish(&r, kept, status, results);
}
