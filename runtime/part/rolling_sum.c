/* rolling_sum.c: sums and means of windows.
 *
 * Comes in: windows, a column of numbers. Goes out: floats: the exact sum of the window, or its quotient by
 * the number of values, rounded once, as `sum` and `mean` of its rows; integers and durations: exact. Always
 * holds: what enters and leaves is added and taken away as integers, so nothing of what has left stays.
 *
 * Floats are two integers each where their exponents allow it (window_split.c), else integers against the
 * greatest exponent of the block's values (window_internal.h); a block some of whose values have bits below
 * that uses a full accumulator (superacc.h). */
#include "part/rolling_internal.h"
#include "part/superacc.h"

typedef struct Sum {
  FlRolling r; /* first: blocks get it */
  const double *x;
  const int64_t *ints;
  bool mean;
} Sum;

/* Where results go, at hand for a loop. */
typedef struct Out {
  double *restrict value;
  uint8_t *restrict valid;
  const int64_t *rows;
  int64_t least;
  bool mean;
} Out;

static Out out_of(const Sum *s) {
  return (Out){s->r.value->data, s->r.valid->data, s->r.rows, s->r.least, s->mean};
}

static inline void store_float(Out o, int64_t p, double v, int64_t values) {
  int64_t row = o.rows != NULL ? o.rows[p] : p;
  bool there = values >= o.least;
  o.valid[row] = there;
  o.value[row] = there ? v : 0.0;
}

/* What stands for the window whose sum is this. */
static inline double of_integer(Out o, __int128 sum, int unit, int64_t values) {
  if (!o.mean) return fl_fixed_round(sum, unit);
  if (unit == 0 && sum > -(INT64_C(1) << 53) && sum < INT64_C(1) << 53 && values > 0)
    return (double)(int64_t)sum / (double)values; /* of two doubles */
  return values > 0 ? fl_exact_mean(sum, unit, values, 0) : 0.0;
}

static double of_accumulator(Out o, FlSuperacc *sum, int64_t values) {
  if (!o.mean) return fl_superacc_round(sum);
  return values > 0 ? fl_superacc_mean(sum, values) : 0.0;
}

static int32_t float_block_fully(const Sum *s, int64_t from, int64_t to) {
  const FlRolling *r = &s->r;
  Out o = out_of(s);
  FlSuperacc sum, copy;
  FlSpecials specials = {0};
  int64_t values = 0;
  FlWindow w = fl_window_open(r, from);
  fl_superacc_init(&sum);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to; p++) {
    if (fl_window_move(r, &w, p)) {
      fl_superacc_init(&sum);
      specials = (FlSpecials){0};
      values = 0;
      lo = hi = w.lo;
    }
    for (; hi < w.hi; hi++) {
      values += fl_part_valid(r->x.valid, hi);
      if (isfinite(s->x[hi])) fl_superacc_add(&sum, s->x[hi]);
      else fl_specials_add(&specials, s->x[hi], 1);
    }
    for (; lo < w.lo; lo++) {
      values -= fl_part_valid(r->x.valid, lo);
      if (isfinite(s->x[lo])) fl_superacc_add(&sum, -s->x[lo]);
      else fl_specials_add(&specials, s->x[lo], -1);
    }
    copy = sum;
    store_float(o, p,
                fl_specials_any(&specials) ? fl_specials_sum(&specials) : of_accumulator(o, &copy, values),
                values);
  }
  return 0;
}

typedef struct Batch {
  int64_t high[FL_PART_BATCH], low[FL_PART_BATCH], count[FL_PART_BATCH];
} Batch;

/* Writes the windows of n positions from p on. */
static void write_batch(Out o, const FlSplit *split, const Batch *b, int64_t p, int64_t n) {
  double v[FL_PART_BATCH];
  if (o.mean) fl_split_mean(split, b->high, b->low, b->count, n, v);
  else fl_split_round(split, b->high, b->low, n, v);
  for (int64_t i = 0; i < n; i++) {
    int64_t row = o.rows != NULL ? o.rows[p + i] : p + i;
    bool there = b->count[i] >= o.least;
    o.valid[row] = there;
    o.value[row] = there ? v[i] : 0.0;
  }
}

/* The two integers of the positions from `low` on, and the sums of a window over them. */
typedef struct Moving {
  const int64_t *high_of, *low_of; /* by position - low */
  const uint8_t *ok;               /* by position - low, or NULL */
  int64_t low, high_sum, low_sum, values;
} Moving;

static inline void enter(Moving *m, int64_t p) {
  m->high_sum += m->high_of[p - m->low];
  m->low_sum += m->low_of[p - m->low];
  m->values += m->ok == NULL || m->ok[p - m->low];
}

static inline void leave(Moving *m, int64_t p) {
  m->high_sum -= m->high_of[p - m->low];
  m->low_sum -= m->low_of[p - m->low];
  m->values -= m->ok == NULL || m->ok[p - m->low];
}

static inline void keep(const Moving *m, Batch *b, int64_t i) {
  b->high[i] = m->high_sum;
  b->low[i] = m->low_sum;
  b->count[i] = m->values;
}

/* Often enough that the low sum never has more than 2048 terms. */
static void settle(Moving *m) { fl_split_carry(&m->high_sum, &m->low_sum); }

/* Moves over the positions [p, to), which are i and on of the batch, in one group; the window holds those
 * from `since` on, and then the last `width`. */
static void move_rows(Moving *moving, Batch *b, int64_t i, int64_t p, int64_t to, int64_t since,
                      int64_t width) {
  Moving m = *moving;
  int64_t full = fl_part_max(p, fl_part_min(to, since + width));
  for (; p < full; p++) {
    enter(&m, p);
    keep(&m, b, i++);
  }
  for (; p < to; p++) {
    enter(&m, p);
    leave(&m, p - width);
    keep(&m, b, i++);
  }
  *moving = m;
}

static void split_rows(const Sum *s, Moving m, const FlSplit *split, int64_t from, int64_t to) {
  const FlRolling *r = &s->r;
  int64_t width = fl_part_min(r->width, r->n);
  Batch b;
  FlWindow w = fl_window_open(r, from);
  int64_t since = w.lo;
  for (int64_t p = since; p < from; p++) {
    enter(&m, p);
    settle(&m);
  }
  for (int64_t p = from; p < to; p += FL_PART_BATCH) {
    int64_t end = fl_part_min(p + FL_PART_BATCH, to), q = p;
    while (q < end) {
      if (q >= w.end) {
        fl_window_enter(r, &w, q);
        m.high_sum = m.low_sum = m.values = 0;
        since = w.first;
      }
      int64_t stop = fl_part_min(end, w.end);
      move_rows(&m, &b, q - p, q, stop, since, width);
      q = stop;
    }
    settle(&m);
    write_batch(out_of(s), split, &b, p, end - p);
  }
}

static void split_by(const Sum *s, Moving m, const FlSplit *split, int64_t from, int64_t to) {
  const FlRolling *r = &s->r;
  Batch b;
  FlWindow w = fl_window_open(r, from);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to; p += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, to - p);
    for (int64_t i = 0; i < count; i++) {
      if (fl_window_move_by(r, &w, p + i)) {
        m.high_sum = m.low_sum = m.values = 0;
        lo = hi = w.lo;
      }
      for (; hi < w.hi; hi++) {
        enter(&m, hi);
        settle(&m);
      }
      for (; lo < w.lo; lo++) {
        leave(&m, lo);
        settle(&m);
      }
      keep(&m, &b, i);
    }
    write_batch(out_of(s), split, &b, p, count);
  }
}

/* The block with sums of two integers. false: that does not go. */
static bool split_block(const Sum *s, int64_t from, int64_t to, int64_t low, int64_t high) {
  const FlRolling *r = &s->r;
  FlSplit split;
  int64_t n = high - low, *high_of = fl_counted_new(fl_part_pool(r->m), (size_t)n * 2 * sizeof *high_of + 1);
  int count_bits = fl_part_bits((uint64_t)(r->by != NULL ? n : fl_part_min(n, r->width)));
  bool fits = high_of != NULL && fl_split_open(&split, fl_split_exponent(s->x + low, n), count_bits) &&
              fl_part_split(s->x + low, n, split.scale, high_of, high_of + n) == 0;
  Moving m = {.high_of = high_of, .low_of = high_of + n, .low = low};
  if (r->x.valid != NULL) m.ok = r->x.valid + low;
  if (fits && r->by == NULL) split_rows(s, m, &split, from, to);
  if (fits && r->by != NULL) split_by(s, m, &split, from, to);
  fl_counted_free(high_of);
  return fits;
}

static int32_t float_block(FlRolling *rolling, int64_t from, int64_t to) {
  const Sum *s = (const Sum *)rolling;
  const FlRolling *r = &s->r;
  int64_t low, high, values = 0;
  fl_rolling_reach(r, from, to, &low, &high);
  if (split_block(s, from, to, low, high)) return 0;
  int base = fl_rolling_base(s->x + low, high - low), unit = base - 1075;
  __int128 sum = 0;
  FlSpecials specials = {0};
  bool dropped = false;
  Out o = out_of(s);
  const double *x = s->x;
  const uint8_t *ok = r->x.valid;
  FlWindow w = fl_window_open(r, from);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to; p++) {
    if (fl_window_move(r, &w, p)) {
      sum = 0;
      specials = (FlSpecials){0};
      values = 0;
      lo = hi = w.lo;
    }
    for (; hi < w.hi; hi++) {
      FlFixed term = fl_fixed_of(x[hi], base);
      sum += term.v;
      dropped |= term.dropped;
      if (term.special) fl_specials_add(&specials, x[hi], 1);
      values += fl_part_valid(ok, hi);
    }
    for (; lo < w.lo; lo++) {
      FlFixed term = fl_fixed_of(x[lo], base);
      sum -= term.v;
      if (term.special) fl_specials_add(&specials, x[lo], -1);
      values -= fl_part_valid(ok, lo);
    }
    store_float(o, p,
                fl_specials_any(&specials) ? fl_specials_sum(&specials) : of_integer(o, sum, unit, values),
                values);
  }
  return dropped ? float_block_fully(s, from, to) : 0;
}

static int32_t int_block(FlRolling *rolling, int64_t from, int64_t to) {
  const Sum *s = (const Sum *)rolling;
  const FlRolling *r = &s->r;
  bool is_unsigned = r->x.dtype == FL_U64, to_unsigned = r->value->dtype == FL_U64;
  bool to_float = r->value->dtype == FL_F64;
  __int128 sum = 0;
  int64_t values = 0, *out = r->value->data;
  Out o = out_of(s);
  FlWindow w = fl_window_open(r, from);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to; p++) {
    if (fl_window_move(r, &w, p)) {
      sum = 0;
      values = 0;
      lo = hi = w.lo;
    }
    for (; hi < w.hi; hi++) {
      sum += is_unsigned ? (__int128)(uint64_t)s->ints[hi] : (__int128)s->ints[hi];
      values += fl_part_valid(r->x.valid, hi);
    }
    for (; lo < w.lo; lo++) {
      sum -= is_unsigned ? (__int128)(uint64_t)s->ints[lo] : (__int128)s->ints[lo];
      values -= fl_part_valid(r->x.valid, lo);
    }
    if (to_float) {
      store_float(o, p, of_integer(o, sum, 0, values), values);
      continue;
    }
    int64_t row = fl_rolling_row(r, p);
    bool there = values >= r->least;
    __int128 v = !there ? 0 : s->mean ? fl_part_divide_rounded(sum, values) : sum;
    if (to_unsigned ? v != (__int128)(uint64_t)v : v != (__int128)(int64_t)v) fl_part_first(r->overflow, row);
    ((uint8_t *)r->valid->data)[row] = there;
    out[row] = (int64_t)v;
  }
  return 0;
}

static FlStatus sum(FlRolling *r, bool mean) {
  if (fl_rolling_results(r) != 0) return 1;
  Sum s = {.r = *r, .mean = mean};
  if (fl_dtype_is_float(r->x.dtype)) {
    s.x = fl_rolling_doubles(r);
    return s.x == NULL ? 1 : fl_rolling_blocks(&s.r, float_block, 15.0);
  }
  s.ints = fl_rolling_ints(r);
  return s.ints == NULL ? 1 : fl_rolling_blocks(&s.r, int_block, 5.0);
}

FlStatus fl_rolling_sum(FlRolling *r) { return sum(r, false); }
FlStatus fl_rolling_mean(FlRolling *r) { return sum(r, true); }
