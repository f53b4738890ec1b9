/* running_sum.c: running sums of floats: of each row the exact sum of its group's rows up to it, rounded
 * once.
 *
 * Comes in: a column of floats. Goes out: f64. Always holds: each value is the correctly rounded exact sum,
 * so neither cuts nor order of work can matter, and the last of a group is its `sum`.
 *
 * Fast way: terms as two integers each (window_split.c). Next: as integers against the greatest exponent of
 * the column, added in 128 bits. When some term
 * has bits below that, the rows are walked by group with a full accumulator (superacc.h) instead. */
#include "part/running_internal.h"
#include "part/superacc.h"

typedef struct FloatSum {
  __int128 sum;
  uint64_t special; /* infinities and NaN so far */
} FloatSum;

/* One batch of rows, of one group or by id; true: some term was dropped. */
static inline bool add_batch(FloatSum *sums, const int64_t *id, const double *x, const uint8_t *valid,
                             int64_t n, int base, bool grouped, double *restrict out) {
  int unit = base - 1075;
  bool dropped = false;
  FloatSum one = sums[0];
  for (int64_t i = 0; i < n; i++) {
    FloatSum *sum = grouped ? &sums[id[i]] : &one;
    FlFixed term = fl_fixed_of(x[i], base);
    sum->sum += term.v;
    dropped |= term.dropped;
    if (__builtin_expect(term.special, 0)) sum->special |= fl_special_of(x[i]);
    if (out == NULL) continue;
    double v = __builtin_expect(sum->special != 0, 0) ? fl_special_sum(sum->special)
                                                      : fl_fixed_round(sum->sum, unit);
    out[i] = fl_part_valid(valid, i) ? v : 0.0;
  }
  if (!grouped) sums[0] = one;
  return dropped;
}

static void float_sum_walk(const FlRunning *r, void *states, int64_t begin, int64_t end, bool write) {
  FloatSum *sums = states;
  double read[FL_PART_BATCH], *out = write ? (double *)r->out->data : NULL;
  bool dropped = false, as_is = r->col.dtype == FL_F64; /* null has zero */
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, end - row);
    const double *x = as_is ? (const double *)r->col.data + row : read;
    const uint8_t *valid = r->col.valid != NULL ? r->col.valid + row : NULL;
    double *to = write ? out + row : NULL;
    if (!as_is) fl_part_read_f64(&r->col, row, count, read);
    if (r->id != NULL) dropped |= add_batch(sums, r->id + row, x, valid, count, r->base, true, to);
    else if (write) dropped |= add_batch(sums, NULL, x, valid, count, r->base, false, to);
    else dropped |= add_batch(sums, NULL, x, valid, count, r->base, false, NULL);
  }
  if (dropped) atomic_store_explicit(r->dropped, 1, memory_order_relaxed);
}

static void float_sum_join(void *prefix, const void *next) {
  FloatSum *p = prefix;
  const FloatSum *q = next;
  p->sum += q->sum;
  p->special |= q->special;
}

typedef struct SplitSum {
  int64_t high, low;
} SplitSum;

static void split_walk(const FlRunning *r, void *states, int64_t begin, int64_t end, bool write) {
  SplitSum *sums = states;
  double read[FL_PART_BATCH], *out = write ? (double *)r->out->data : NULL;
  int64_t high[FL_PART_BATCH], low[FL_PART_BATCH], dropped = 0;
  bool as_is = r->col.dtype == FL_F64; /* null has zero */
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, end - row);
    const double *x = as_is ? (const double *)r->col.data + row : read;
    if (!as_is) fl_part_read_f64(&r->col, row, count, read);
    dropped |= fl_part_split(x, count, r->split.scale, high, low);
    SplitSum one = sums[0];
    for (int64_t i = 0; r->id == NULL && i < count; i++) {
      high[i] = one.high += high[i];
      low[i] = one.low += low[i];
    }
    fl_split_carry(&one.high, &one.low);
    if (r->id == NULL) sums[0] = one;
    for (int64_t i = 0; r->id != NULL && i < count; i++) {
      SplitSum *sum = &sums[r->id[row + i]];
      sum->high += high[i];
      sum->low += low[i];
      fl_split_carry(&sum->high, &sum->low);
      high[i] = sum->high;
      low[i] = sum->low;
    }
    if (!write) continue;
    fl_split_round(&r->split, high, low, count, out + row);
    if (r->col.valid != NULL) fl_part_zero_nulls(r->col.valid + row, count, out + row);
  }
  if (dropped) atomic_store_explicit(r->dropped, 1, memory_order_relaxed);
}

static void split_join(void *prefix, const void *next) {
  SplitSum *p = prefix;
  const SplitSum *q = next;
  p->high += q->high;
  p->low += q->low;
  fl_split_carry(&p->high, &p->low);
}

static int32_t exponent_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlRunning *r = env;
  double read[FL_PART_BATCH];
  int most = 0;
  bool special = false, as_is = r->col.dtype == FL_F64; /* null has zero */
  (void)ctx;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, end - row);
    const double *x = as_is ? (const double *)r->col.data + row : read;
    if (!as_is) fl_part_read_f64(&r->col, row, count, read);
    int greatest = fl_split_exponent(x, count);
    if (greatest < 0x7ff) most = greatest > most ? greatest : most;
    for (int64_t i = 0; greatest == 0x7ff && i < count; i++) {
      int e = fl_fixed_exponent(x[i]);
      special |= e == 0x7ff;
      e = e == 0x7ff ? 0 : e;
      most = e > most ? e : most;
    }
  }
  if (special) atomic_store_explicit(r->dropped, 1, memory_order_relaxed);
  int32_t seen = atomic_load_explicit(r->greatest_exponent, memory_order_relaxed);
  while (most > seen && !atomic_compare_exchange_weak_explicit(r->greatest_exponent, &seen, most,
                                                               memory_order_relaxed, memory_order_relaxed)) {}
  return 0;
}

/* ---- the full accumulators ----------------------------------------------------------------------------- */

typedef struct Full {
  const FlRunning *r;
  const int64_t *rows;
  FlSuperacc *tail; /* [chunks] of the rows since the last group began in the chunk */
  bool *begins;     /* [chunks] whether one did */
  bool writing;
} Full;

static bool begins_at(const Full *f, int64_t p) {
  const int64_t *id = f->r->id;
  return p == 0 || (id != NULL && id[f->rows[p]] != id[f->rows[p - 1]]);
}

static int32_t full_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Full *f = env;
  const FlRunning *r = f->r;
  double *out = r->out->data;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    FlSuperacc sum, copy;
    int64_t from, to;
    fl_part_chunk(c, r->n, &from, &to);
    if (f->writing) sum = f->tail[c];
    else fl_superacc_init(&sum);
    f->begins[c] = false;
    for (int64_t p = from; p < to; p++) {
      int64_t row = f->rows[p];
      double x;
      if (begins_at(f, p)) {
        fl_superacc_init(&sum);
        f->begins[c] = true;
      }
      bool valid = fl_part_valid(r->col.valid, row);
      fl_part_read_f64(&r->col, row, 1, &x);
      if (valid) fl_superacc_add(&sum, x);
      if (!f->writing) continue;
      copy = sum;
      out[row] = valid ? fl_superacc_round(&copy) : 0.0;
    }
    if (!f->writing) f->tail[c] = sum;
  }
  return 0;
}

static FlStatus sum_fully(FlRunning *r) {
  FlPartMem *m = r->m;
  int64_t chunks = fl_part_chunks(r->n);
  int64_t *rows = fl_part_alloc(m, r->n, sizeof *rows), *start = fl_part_alloc(m, r->g + 1, sizeof *start);
  Full f = {.r = r,
            .rows = rows,
            .tail = fl_part_alloc(m, chunks, sizeof *f.tail),
            .begins = fl_part_alloc(m, chunks, sizeof *f.begins)};
  if (rows == NULL || start == NULL || f.tail == NULL || f.begins == NULL) return 1;
  if (fl_window_order(m, r->id, r->n, r->g, rows, start) != 0) return 1;
  if (fl_part_for(m->ctx, full_body, &f, chunks, 10.0 * FL_PART_CHUNK) != 0) return 1;
  FlSuperacc before, alone;
  fl_superacc_init(&before);
  for (int64_t c = 0; c < chunks; c++) { /* what comes into each chunk */
    alone = f.tail[c];
    f.tail[c] = before;
    if (f.begins[c]) before = alone;
    else fl_superacc_merge(&before, &alone);
  }
  f.writing = true;
  return fl_part_for(m->ctx, full_body, &f, chunks, 150.0 * FL_PART_CHUNK);
}

/* Runs one way of adding; true: it went without dropping a bit. *status: of the walks. */
static bool added(FlRunning *r, const FlRunningWay *way, FlStatus *status) {
  atomic_store(r->dropped, 0);
  r->way = way;
  *status = fl_running_walk(r);
  if (*status == 0 && !atomic_load(r->dropped)) return true;
  fl_part_release(r->m, r->states);
  return false;
}

FlStatus fl_running_float_sum(FlRunning *r) {
  static const FlRunningWay as_two = {split_walk, split_join, sizeof(SplitSum), true},
                            as_one = {float_sum_walk, float_sum_join, sizeof(FloatSum), true};
  _Atomic int32_t dropped = 0, greatest = 0;
  int count_bits = fl_part_bits((uint64_t)r->n);
  FlStatus status;
  r->dropped = &dropped;
  r->greatest_exponent = &greatest;
  if (fl_part_for(r->m->ctx, exponent_body, r, r->n, 0.5) != 0) return 1;
  bool finite = !atomic_load(&dropped);
  if (finite && fl_split_open(&r->split, atomic_load(&greatest), count_bits)) {
    if (added(r, &as_two, &status) || status != 0) return status;
  }
  r->base = fl_fixed_base(atomic_load(&greatest), count_bits);
  if (added(r, &as_one, &status) || status != 0) return status;
  return sum_fully(r);
}
