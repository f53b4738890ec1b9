/* rolling_sum.c: sums and means of windows.
 *
 * Comes in: windows, a column of numbers. Goes out: floats: the exact sum of the window, rounded once, as
 * `sum` of its rows; integers and durations: exact. Always holds: what enters and leaves is added and taken
 * away as integers, so nothing of what has left stays.
 *
 * Floats are integers against the greatest exponent of the block's values (window_internal.h); a block some
 * of whose values have bits below that uses a full accumulator (superacc.h). */
#include "part/rolling_internal.h"
#include "part/superacc.h"

typedef struct Sum {
  FlRolling r; /* first: blocks get it */
  const double *x;
  const int64_t *ints;
  bool mean;
} Sum;

static void store_float(const Sum *s, int64_t p, double sum, int64_t values) {
  const FlRolling *r = &s->r;
  int64_t row = fl_rolling_row(r, p);
  bool there = values >= r->least;
  ((uint8_t *)r->valid->data)[row] = there;
  ((double *)r->value->data)[row] = !there ? 0.0 : s->mean ? sum / (double)values : sum;
}

static int32_t float_block_fully(const Sum *s, int64_t from, int64_t to) {
  const FlRolling *r = &s->r;
  FlSuperacc sum, copy;
  FlSpecials specials = {0};
  int64_t values = 0;
  FlWindow w;
  fl_superacc_init(&sum);
  fl_window_open(r, &w, from);
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
    store_float(s, p, fl_specials_any(&specials) ? fl_specials_sum(&specials) : fl_superacc_round(&copy),
                values);
  }
  return 0;
}

static int32_t float_block(FlRolling *rolling, int64_t from, int64_t to) {
  const Sum *s = (const Sum *)rolling;
  const FlRolling *r = &s->r;
  int64_t low, high, values = 0;
  fl_rolling_reach(r, from, to, &low, &high);
  int base = fl_fixed_base(fl_rolling_exponent(s->x + low, high - low), fl_part_bits((uint64_t)(high - low)));
  int unit = base - 1075;
  __int128 sum = 0;
  FlSpecials specials = {0};
  bool dropped = false;
  FlWindow w;
  fl_window_open(r, &w, from);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to; p++) {
    if (fl_window_move(r, &w, p)) {
      sum = 0;
      specials = (FlSpecials){0};
      values = 0;
      lo = hi = w.lo;
    }
    for (; hi < w.hi; hi++) {
      FlFixed term = fl_fixed_of(s->x[hi], base);
      sum += term.v;
      dropped |= term.dropped;
      if (term.special) fl_specials_add(&specials, s->x[hi], 1);
      values += fl_part_valid(r->x.valid, hi);
    }
    for (; lo < w.lo; lo++) {
      FlFixed term = fl_fixed_of(s->x[lo], base);
      sum -= term.v;
      if (term.special) fl_specials_add(&specials, s->x[lo], -1);
      values -= fl_part_valid(r->x.valid, lo);
    }
    store_float(s, p, fl_specials_any(&specials) ? fl_specials_sum(&specials) : fl_fixed_round(sum, unit),
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
  FlWindow w;
  fl_window_open(r, &w, from);
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
      store_float(s, p, (double)sum, values);
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
  if (fl_dtype_info[r->x.dtype].kind == FL_KIND_FLOAT) {
    s.x = fl_rolling_doubles(r);
    return s.x == NULL ? 1 : fl_rolling_blocks(&s.r, float_block, 15.0);
  }
  s.ints = fl_rolling_ints(r);
  return s.ints == NULL ? 1 : fl_rolling_blocks(&s.r, int_block, 5.0);
}

FlStatus fl_rolling_sum(FlRolling *r) { return sum(r, false); }
FlStatus fl_rolling_mean(FlRolling *r) { return sum(r, true); }
