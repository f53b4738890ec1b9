/* window_split.c: sums as two integers each, which can be added and taken away fast and are rounded once.
 *
 * Comes in: sums `high` and `low` of what fl_part_split gives. Goes out: doubles. Always holds: the result is
 * the exact sum, rounded once: after carrying, high and low are below 2^53, so both are exact doubles, and
 * their sum is the only rounding. */
#include "part/window_internal.h"

bool fl_split_open(FlSplit *s, int greatest, int count_bits) {
  int high_bits = 53 - 2 - count_bits, exponent = greatest - 1022; /* every |x| < 2^exponent */
  if (high_bits < 20 || exponent < -800 || exponent > 900) return false;
  if (high_bits > 49) high_bits = 49;
  s->scale = ldexp(1.0, high_bits - exponent);
  s->unit_high = ldexp(1.0, exponent - high_bits);
  s->unit = exponent - high_bits - 51;
  s->unit_low = ldexp(1.0, s->unit);
  return true;
}

FL_PART_WIDE void fl_split_round(const FlSplit *s, const int64_t *high, const int64_t *low, int64_t n,
                                 double *out) {
  double unit_high = s->unit_high, unit_low = s->unit_low;
  for (int64_t i = 0; i < n; i++) {
    int64_t carry = low[i] >> 51, rest = low[i] - carry * (INT64_C(1) << 51);
    out[i] = (double)(high[i] + carry) * unit_high + (double)rest * unit_low;
  }
}

FL_PART_WIDE void fl_split_mean(double *sum, const int64_t *count, int64_t n) {
  for (int64_t i = 0; i < n; i++) sum[i] = sum[i] / (double)count[i];
}

/* The greatest exponent field of n doubles. */
FL_PART_WIDE int fl_split_exponent(const double *x, int64_t n) {
  uint64_t most = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    bits &= UINT64_MAX >> 1;
    most = bits > most ? bits : most;
  }
  return (int)(most >> 52);
}
