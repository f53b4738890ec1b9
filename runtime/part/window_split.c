/* window_split.c: sums as two integers each, which can be added and taken away fast and are rounded once.
 *
 * Comes in: sums `high` and `low` of what fl_part_split gives, and of how many values they are. Goes out:
 * doubles. Always holds: the result is the exact sum, or mean, rounded once. Sums: after carrying, high and
 * low are below 2^53, so both are exact doubles, and their sum is the only rounding. Means: the quotient of
 * the rounded sum, and what is left of the sum over the count, are added; where that lies next to a middle of
 * two doubles, the mean is computed from the integers. */
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

static const int64_t LOWER = (INT64_C(1) << 51) - 1;

/* low >> 51: of numbers with a sign vectors have no such shift before AVX-512. */
static inline int64_t upper_bits(int64_t low) { return (int64_t)(((uint64_t)low >> 51) ^ 4096) - 4096; }

FL_PART_WIDE void fl_split_round(const FlSplit *s, const int64_t *high, const int64_t *low, int64_t n,
                                 double *out) {
  double unit_high = s->unit_high, unit_low = s->unit_low;
  for (int64_t i = 0; i < n; i++) {
    int64_t carry = upper_bits(low[i]), rest = low[i] & LOWER;
    out[i] = fl_part_double(high[i] + carry) * unit_high + fl_part_double(rest) * unit_low;
  }
}

/* open[i]: out[i] may be next to the nearest. */
FL_PART_WIDE static int64_t near_means(const FlSplit *s, const int64_t *high, const int64_t *low,
                                       const int64_t *count, int64_t n, double *out, int64_t *open) {
  double unit_high = s->unit_high, unit_low = s->unit_low;
  int64_t any = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t carry = upper_bits(low[i]), rest = low[i] & LOWER;
    double x = fl_part_double(high[i] + carry) * unit_high, y = fl_part_double(rest) * unit_low;
    double c = fl_part_double(count[i]);
    double sum = x + y, moved = sum - x, off = (x - (sum - moved)) + (y - moved); /* x + y = sum + off */
    double q = sum / c, wide = q * 0x1.0000002p27, head = wide - (wide - q), tail = q - head;
    double left = (sum - head * c) - tail * c; /* exact: head and tail have 26 bits, and c has no more */
    double more = (left + off) / c, v = q + more, error = (q - v) + more;
    open[i] = !(v + error * (1 + 0x1p-20) == v) | (c > 0x1p26);
    any |= open[i];
    out[i] = v;
  }
  return any;
}

void fl_split_mean(const FlSplit *s, const int64_t *high, const int64_t *low, const int64_t *count, int64_t n,
                   double *out) {
  int64_t open[FL_PART_BATCH];
  if (!near_means(s, high, low, count, n, out, open)) return;
  for (int64_t i = 0; i < n; i++) {
    if (!open[i]) continue;
    __int128 sum = (__int128)high[i] * (INT64_C(1) << 51) + low[i];
    out[i] = count[i] > 0 ? fl_exact_mean(sum, s->unit, count[i], 0) : 0.0;
  }
}

/* The greatest exponent field of n doubles. */
FL_PART_WIDE int fl_split_exponent(const double *x, int64_t n) {
  int64_t most = 0; /* vectors compare numbers with a sign */
  for (int64_t i = 0; i < n; i++) {
    int64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    bits &= INT64_MAX;
    most = bits > most ? bits : most;
  }
  return (int)(most >> 52);
}
