/* window_internal.h: what the files of the window functions share: rows in the order of their groups, wide
 * fixed-point sums.
 *
 * A *position* counts along that order; the rows of group k are at positions [start[k], start[k + 1]), in the
 * order in which they stand in the table, or by a key. */
#ifndef FL_PART_WINDOW_INTERNAL_H
#define FL_PART_WINDOW_INTERNAL_H

#include <math.h>

#include "part/part_internal.h"

/* rows[0..n): the rows by group, stable; start[0..g]: where each group begins. id NULL: one group. */
FlStatus fl_window_order(FlPartMem *m, const int64_t *id, int64_t n, int64_t g, int64_t *rows,
                         int64_t *start);

/* Pieces that n rows are cut in so that a table of g places a piece stays small against n. */
static inline int64_t fl_window_pieces(int64_t n, int64_t g) {
  return fl_part_max(1, fl_part_min(64, n / fl_part_max(2 * g, FL_PART_CHUNK)));
}

/* ---- doubles as integers ---------------------------------------------------------------------------- */

/* Terms are integers times 2^(base - 1075): `base` is an exponent field of a double, at least 1. */
enum { FL_FIXED_BITS = 126 }; /* of a sum, with its sign */

typedef struct FlFixed {
  __int128 v;
  bool special; /* the double is an infinity or a NaN; v is 0 */
  bool dropped; /* it has bits below the base */
} FlFixed;

static inline int fl_fixed_exponent(double x) { /* the exponent field */
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (int)(bits >> 52 & 0x7ff);
}

static inline FlFixed fl_fixed_of(double x, int base) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent == 0x7ff) return (FlFixed){0, true, false};
  if (exponent == 0) exponent = 1;
  else mantissa |= UINT64_C(1) << 52;
  int shift = exponent - base;
  FlFixed out = {0, false, false};
  if (shift >= 0) {
    out.v = (__int128)((unsigned __int128)mantissa << shift);
  } else if (shift > -53) {
    out.v = (__int128)(mantissa >> -shift);
    out.dropped = (mantissa & ((UINT64_C(1) << -shift) - 1)) != 0;
  } else {
    out.dropped = mantissa != 0;
  }
  if (bits >> 63) out.v = -out.v;
  return out;
}

/* The least base with which sums of 2^count_bits terms of exponent field `greatest` fit. */
static inline int fl_fixed_base(int greatest, int count_bits) {
  int base = greatest - (FL_FIXED_BITS - 1 - 53 - count_bits);
  return base < 1 ? 1 : base;
}

/* v * 2^scale. */
static inline double fl_fixed_scale(double v, int scale) {
  if (scale < -1022 || scale > 1023) return ldexp(v, scale);
  uint64_t bits = (uint64_t)(1023 + scale) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return v * power;
}

/* sum * 2^unit, rounded to nearest even. What is below the normal numbers has few bits and is exact. */
static inline double fl_fixed_round(__int128 sum, int unit) {
  bool negative = sum < 0;
  unsigned __int128 u = negative ? -(unsigned __int128)sum : (unsigned __int128)sum;
  uint64_t high = (uint64_t)(u >> 64);
  double v;
  if (high == 0) {
    v = fl_fixed_scale((double)(uint64_t)u, unit);
  } else { /* 63 bits, of which the lowest says whether anything is below */
    int lead = __builtin_clzll(high);
    u <<= lead;
    uint64_t top = (uint64_t)(u >> 64), low = (uint64_t)u;
    v = fl_fixed_scale((double)(int64_t)(top >> 1 | (top & 1) | (low != 0)), unit + 65 - lead);
  }
  return negative ? -v : v;
}

/* ---- doubles as two integers: window_split.c --------------------------------------------------------- */

typedef struct FlSplit {
  double scale; /* for fl_part_split */
  double unit_high, unit_low;
  int unit; /* unit_low is 2^unit */
} FlSplit;

/* Moves what exceeds 51 bits of low to high: at least once in 2048 terms. */
static inline void fl_split_carry(int64_t *high, int64_t *low) {
  int64_t carry = *low >> 51;
  *high += carry;
  *low -= carry * (INT64_C(1) << 51);
}

/* For sums of up to 2^count_bits terms whose greatest exponent field is `greatest`. false: not for these. */
bool fl_split_open(FlSplit *s, int greatest, int count_bits);
/* out[i] = the sum that high[i] and low[i] stand for, rounded once. */
void fl_split_round(const FlSplit *s, const int64_t *high, const int64_t *low, int64_t n, double *out);
/* The sum over count[i], rounded once; at most FL_PART_BATCH of them. 0 of nothing. */
void fl_split_mean(const FlSplit *s, const int64_t *high, const int64_t *low, const int64_t *count, int64_t n,
                   double *out);
/* The greatest exponent field among n doubles: 0x7ff with an infinity or NaN. */
int fl_split_exponent(const double *x, int64_t n);

/* What stands for a sum with infinities and NaN in it. */
enum { FL_SPECIAL_NAN = 1, FL_SPECIAL_PLUS = 2, FL_SPECIAL_MINUS = 4 };
static inline uint64_t fl_special_of(double x) {
  return x != x ? FL_SPECIAL_NAN : x > 0 ? FL_SPECIAL_PLUS : FL_SPECIAL_MINUS;
}
static inline double fl_special_sum(uint64_t special) {
  if (special == FL_SPECIAL_PLUS) return INFINITY;
  return special == FL_SPECIAL_MINUS ? -INFINITY : NAN;
}

#endif
