/* vec_base.h: the arithmetic under the vector mathematics: exact sums and products of doubles, powers of two.
 *
 * A double-double is hi + lo with |lo| <= ulp(hi) / 2. Sums: T. J. Dekker, "A floating-point technique for
 * extending the available precision" (1971); D. Knuth, TAOCP vol. 2, 4.2.2. Products are exact by splitting
 * each factor by its bits into 26 leading and 27 trailing ones, which needs no fused multiply-add and cannot
 * overflow. */
#ifndef FL_VEC_BASE_H
#define FL_VEC_BASE_H

#include "kern/scalar_types.h"

typedef struct FlDd {
  double hi, lo;
} FlDd;

/* |a| >= |b| or a == 0 */
FL_KERN_HELPER FlDd fl_dd_fast_sum(double a, double b) {
  double s = a + b;
  return (FlDd){s, b - (s - a)};
}
FL_KERN_HELPER FlDd fl_dd_sum(double a, double b) {
  double s = a + b, t = s - a;
  return (FlDd){s, (a - (s - t)) + (b - t)};
}
/* The leading 26 bits; a minus it is exact. */
FL_KERN_HELPER double fl_dd_head(double a) { return fl_f64_bits(fl_bits_f64(a) & 0xfffffffff8000000u); }

/* a * b, exactly, where neither overflows nor falls among the denormals */
FL_KERN_HELPER FlDd fl_dd_product(double a, double b) {
  double p = a * b, ah = fl_dd_head(a), al = a - ah, bh = fl_dd_head(b), bl = b - bh;
  return (FlDd){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
/* The following are right to about 2^-102 relative. */
FL_KERN_HELPER FlDd fl_dd_add(FlDd a, FlDd b) {
  FlDd s = fl_dd_sum(a.hi, b.hi);
  return fl_dd_fast_sum(s.hi, s.lo + (a.lo + b.lo));
}
FL_KERN_HELPER FlDd fl_dd_add_f64(FlDd a, double b) {
  FlDd s = fl_dd_sum(a.hi, b);
  return fl_dd_fast_sum(s.hi, s.lo + a.lo);
}
FL_KERN_HELPER FlDd fl_dd_mul(FlDd a, FlDd b) {
  FlDd p = fl_dd_product(a.hi, b.hi);
  return fl_dd_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
FL_KERN_HELPER FlDd fl_dd_mul_f64(FlDd a, double b) {
  FlDd p = fl_dd_product(a.hi, b);
  return fl_dd_fast_sum(p.hi, p.lo + a.lo * b);
}
FL_KERN_HELPER FlDd fl_dd_div(FlDd a, FlDd b) {
  double q = a.hi / b.hi;
  FlDd p = fl_dd_product(q, b.hi);
  double rest = ((a.hi - p.hi) - p.lo) + a.lo - q * b.lo;
  return fl_dd_fast_sum(q, rest / b.hi);
}

/* 2^k, -1022 <= k <= 1023 */
FL_KERN_HELPER double fl_power_of_two(int64_t k) { return fl_f64_bits((uint64_t)(k + 1023) << 52); }
/* v * 2^k, rounded once or (among the denormals) twice, for |k| <= 2044 */
FL_KERN_HELPER double fl_scale_f64(double v, int64_t k) {
  int64_t half = k >> 1;
  return v * fl_power_of_two(half) * fl_power_of_two(k - half);
}
/* The integer nearest to v as a double and as an integer, |v| < 2^51: added to 1.5 2^52, v leaves its integer
 * in the low bits. */
typedef struct FlNearest {
  double value;
  int64_t integer;
} FlNearest;
FL_KERN_HELPER FlNearest fl_nearest(double v) {
  double shifted = v + 0x1.8p52;
  return (FlNearest){shifted - 0x1.8p52, (int64_t)(fl_bits_f64(shifted) - fl_bits_f64(0x1.8p52))};
}

/* Where |v| < 2^52, adding and taking away 2^52 leaves an integer; larger doubles are integers. */
FL_KERN_HELPER bool fl_is_whole(double v) {
  double a = __builtin_fabs(v);
  return (a >= 0x1p52) | ((a + 0x1p52) - 0x1p52 == a);
}

#endif
