/* scalar_decimal.h: decimals, which are whole numbers of units of 10^-scale; scales are of types.
 *
 * What always holds: a result is exact or a fault, but where a name says that it is rounded, and then it is
 * rounded once, ties to even. */
#ifndef FL_SCALAR_DECIMAL_H
#define FL_SCALAR_DECIMAL_H

#include "kern/scalar_arith.h"
#include "kern/scalar_convert.h"

/* 10^k for 0 <= k <= 18, the nearest of these for others */
FL_KERN_HELPER int64_t fl_whole_power_of_ten(int64_t k) {
  k = k < 0 ? 0 : k > 18 ? 18 : k;
  int64_t r = (k & 1) ? 10 : 1;
  r *= (k & 2) ? 100 : 1;
  r *= (k & 4) ? 10000 : 1;
  r *= (k & 8) ? 100000000 : 1;
  return r * ((k & 16) ? INT64_C(10000000000000000) : 1);
}

/* Units of one scale in those of another: `more` digits behind the point, or fewer where it is negative;
 * NARROW where digits would be lost. */
FL_KERN int64_t fl_s_decimal_scale(int64_t v, int64_t more, int32_t *fault) {
  int64_t power = fl_whole_power_of_ten(more < 0 ? -more : more);
  if (more < 0) {
    fl_fault_if(fault, v % power != 0, FL_FAULT_NARROW);
    return v / power;
  }
  bool over = (v > INT64_MAX / power) | (v < INT64_MIN / power);
  fl_fault_if(fault, over, FL_FAULT_OVERFLOW);
  return over ? 0 : v * power;
}

/* Without the last `digits` digits, rounded; 0: as it is. how: FL_DECIMAL_NEAREST.. */
FL_KERN int64_t fl_s_decimal_round(int64_t v, int64_t digits, int64_t how) {
  int64_t power = fl_whole_power_of_ten(digits), whole = v / power, rest = v % power;
  if (how == FL_DECIMAL_TRUNC) return whole;
  if (how == FL_DECIMAL_FLOOR) return whole - (rest < 0);
  if (how == FL_DECIMAL_CEIL) return whole + (rest > 0);
  int64_t half = power / 2, size = rest < 0 ? -rest : rest;
  bool away = (power > 1) & ((size > half) | ((size == half) & ((whole & 1) != 0)));
  return whole + (away ? (v < 0 ? -1 : 1) : 0);
}

FL_KERN int64_t fl_s_decimal_mul(int64_t a, int64_t b, int32_t *fault) { return fl_s_mul_i64(a, b, fault); }

/* -1, 0, 1: a with so many more digits is less than b with as many, equal, greater. */
FL_KERN int64_t fl_s_decimal_order(int64_t a, int64_t more_a, int64_t b, int64_t more_b) {
  __int128 x = (__int128)a * fl_whole_power_of_ten(more_a), y = (__int128)b * fl_whole_power_of_ten(more_b);
  return (x > y) - (x < y);
}

/* decimal.c: where the units are no double */
__attribute__((const, nothrow)) double fl_decimal_real_far(int64_t v, int64_t scale);
/* The double nearest to v * 10^-scale. */
FL_KERN double fl_s_decimal_real(int64_t v, int64_t scale) {
  bool exact = (v <= INT64_C(9007199254740992)) & (v >= -INT64_C(9007199254740992));
  return exact ? (double)v / fl_power_of_ten(scale) : fl_decimal_real_far(v, scale);
}

#endif
