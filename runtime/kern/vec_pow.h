/* vec_pow.h: x to the power y for doubles, as C99 annex F defines the special cases.
 *
 * exp(y log|x|) with the logarithm and the product as double-doubles, so that the absolute error of the
 * exponent stays below 2^-57 wherever the result is finite. No branch. Measured bound (tests/unit/vecmath.c):
 * 1 ULP. */
#ifndef FL_VEC_POW_H
#define FL_VEC_POW_H

#include "kern/vec_exp.h"
#include "kern/vec_log.h"

FL_KERN_HELPER double fl_vec_pow(double x, double y) {
  double a = __builtin_fabs(x);
  bool plain = (a > 0) & (a < __builtin_inf());
  FlDd log_a = fl_log_dd(plain ? a : 2.0);
  double special = a == 0 ? -__builtin_inf() : a; /* 0, inf and NaN: the sign of their logarithm decides */
  FlDd exact = fl_dd_mul_f64(log_a, y);
  double rough = (plain ? log_a.hi : special) * y;
  bool inside = plain & (__builtin_fabs(rough) < 760.0);
  double r = fl_vec_exp_sum(inside ? exact.hi : rough, inside ? exact.lo : 0.0);
  bool whole = fl_is_whole(y), odd = whole & !fl_is_whole(0.5 * y);
  bool negative = fl_bits_f64(x) >> 63 != 0;
  r = (negative & odd) ? -r : r;
  r = ((x < 0) & !whole & plain) ? __builtin_nan("") : r;
  r = ((x != x) | (y != y)) ? __builtin_nan("") : r;
  bool one = (y == 0) | (x == 1) | ((x == -1) & (__builtin_fabs(y) == __builtin_inf()));
  return one ? 1.0 : r;
}

#endif
