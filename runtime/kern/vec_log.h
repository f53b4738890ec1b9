/* vec_log.h: log, log2, log10, log1p for doubles, and the logarithm as a double-double that pow needs.
 *
 * x = 2^k m, sqrt(1/2) <= m < sqrt(2). With f = m - 1 and s = f / (2 + f): log m = 2 atanh s = f - f^2/2 +
 * s (f^2/2 + R(s^2)), the arrangement of K. C. Ng, "Error bounds" in the sources of fdlibm (1993): the
 * leading terms are exact, so the error of R hardly counts. R minimax by Remez exchange, error 2^-58.5. No
 * branch. Measured bounds (tests/unit/vecmath.c): log, log1p, log2, log10 1 ULP. */
#ifndef FL_VEC_LOG_H
#define FL_VEC_LOG_H

#include "kern/vec_base.h"

#define FL_LN2_HIGH 0x1.62e42feep-1 /* 32 bits: times any exponent exact */
#define FL_LN2_LOW 0x1.a39ef35793c76p-33

typedef struct FlLogParts {
  double k, m; /* k is an integer */
} FlLogParts;

/* x > 0 and finite; anything else gives some finite parts */
FL_KERN_HELPER FlLogParts fl_log_parts(double x) {
  bool tiny = x < 0x1p-1022;
  uint64_t bits = fl_bits_f64(tiny ? x * 0x1p54 : x);
  int64_t k = (int64_t)(bits - 0x3fe6a09e667f3bcdu) >> 52; /* sqrt(1/2) */
  double m = fl_f64_bits(bits - ((uint64_t)k << 52));
  double whole = fl_f64_bits(fl_bits_f64(0x1.8p52) + (uint64_t)k) - 0x1.8p52;
  return (FlLogParts){whole - (tiny ? 54.0 : 0.0), m};
}

/* -inf at 0, NaN below, inf and NaN as they are, else v */
FL_KERN_HELPER double fl_log_special(double x, double v) {
  double outside = x == 0 ? -__builtin_inf() : x < 0 ? __builtin_nan("") : x;
  return ((x > 0) & (x < __builtin_inf())) ? v : outside;
}

/* s (f^2/2 + R): what log(1 + f) has beyond f - f^2/2 */
FL_KERN_HELPER double fl_log_tail(double f, double half_square) {
  double s = f / (2.0 + f), z = s * s, w = z * z;
  double even = w * (0x1.999999997f9f9p-2 + w * (0x1.c71c51d7d096ap-3 + w * 0x1.39a095896384cp-3));
  double odd = z * (0x1.5555555555593p-1 +
                    w * (0x1.249249422a41ep-2 + w * (0x1.746649af76c47p-3 + w * 0x1.2f117fa0aa58p-3)));
  return s * (half_square + (even + odd));
}

FL_KERN_HELPER double fl_vec_log(double x) {
  FlLogParts p = fl_log_parts(x);
  double f = p.m - 1.0, half_square = 0.5 * f * f;
  double tail = fl_log_tail(f, half_square) + p.k * FL_LN2_LOW;
  return fl_log_special(x, p.k * FL_LN2_HIGH - ((half_square - tail) - f));
}

/* log(1 + x): 1 + x = u + c exactly; c, scaled like u, joins f. */
FL_KERN_HELPER double fl_vec_log1p(double x) {
  FlDd u = fl_dd_sum(1.0, x);
  FlLogParts p = fl_log_parts(u.hi);
  double back = u.lo * (p.m / u.hi);
  FlDd f = fl_dd_fast_sum(p.m - 1.0, back);
  f = p.k == 0 ? (FlDd){x, 0.0} : f;
  double half_square = 0.5 * f.hi * f.hi;
  double tail = fl_log_tail(f.hi, half_square) + (p.k * FL_LN2_LOW + f.lo);
  double r = p.k * FL_LN2_HIGH - ((half_square - tail) - f.hi);
  double outside = x == -1 ? -__builtin_inf() : x < -1 ? __builtin_nan("") : x;
  return x == 0 ? x : ((x > -1) & (x < __builtin_inf())) ? r : outside;
}

/* log m times (scale + scale_lo), to about 2^-63, with m = 1 + f */
FL_KERN_HELPER FlDd fl_log_scaled(double m, double scale, double scale_lo) {
  double f = m - 1.0;
  FlDd square = fl_dd_product(f, f);
  double half = 0.5 * square.hi;
  FlDd main = fl_dd_fast_sum(f, -half);
  double tail = fl_log_tail(f, half) - 0.5 * square.lo;
  main = fl_dd_fast_sum(main.hi, main.lo + tail);
  return fl_dd_mul(main, (FlDd){scale, scale_lo});
}

FL_KERN_HELPER double fl_vec_log2(double x) {
  FlLogParts p = fl_log_parts(x);
  FlDd r = fl_dd_add_f64(fl_log_scaled(p.m, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56), p.k);
  return fl_log_special(x, r.hi + r.lo);
}

FL_KERN_HELPER double fl_vec_log10(double x) {
  FlLogParts p = fl_log_parts(x);
  FlDd m = fl_log_scaled(p.m, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
  FlDd r = fl_dd_add_f64(m, p.k * 0x1.34413508p-2);
  return fl_log_special(x, r.hi + (r.lo + p.k * 0x1.f79fef311f12bp-34));
}

/* log x as a double-double to about 2^-67 of its size, x > 0 and finite: 2 atanh s, s and its first terms in
 * double doubles, the tail from s^7 on minimax with error 2^-71.8. */
FL_KERN_HELPER FlDd fl_log_dd(double x) {
  FlLogParts p = fl_log_parts(x);
  FlDd s = fl_dd_div((FlDd){p.m - 1.0, 0.0}, fl_dd_sum(p.m, 1.0));
  FlDd z = fl_dd_mul(s, s);
  double w = z.hi, w2 = w * w;
  double even = 0x1.24924924927d5p-2 +
                w2 * (0x1.745d17d85aedep-3 + w2 * (0x1.111ddb97970d4p-3 + w2 * 0x1.e7f41771195cap-4));
  double odd = 0x1.c71c71c6587fcp-3 + w2 * (0x1.3b1377e61891p-3 + w2 * 0x1.de9c3e0db42cbp-4);
  double tail = w * (0x1.999999999999ap-2 + w * (even + w * odd));
  FlDd inner = fl_dd_fast_sum(0x1.5555555555555p-1, tail + 0x1.5555555555555p-55);
  FlDd rest = fl_dd_mul(fl_dd_mul(s, z), inner);
  FlDd log_m = fl_dd_add((FlDd){2 * s.hi, 2 * s.lo}, rest);
  FlDd shift = fl_dd_fast_sum(p.k * FL_LN2_HIGH, p.k * FL_LN2_LOW);
  return fl_dd_add(shift, log_m);
}

#endif
