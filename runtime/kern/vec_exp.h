/* vec_exp.h: exp, expm1, sinh, cosh, tanh for doubles.
 *
 * x = k ln 2 + r with |r| <= 0.347 (W. Cody, W. Waite, "Software manual for the elementary functions",
 * chapter 6: k times the leading 32 bits of ln 2 is exact); e^r - 1 = r + r^2/2 + r^3 P(r), P minimax by
 * Remez exchange, relative error 2^-61.7. Everything after is kept as an unevaluated sum until the last
 * addition. No branch. Measured bounds (tests/unit/vecmath.c): exp, expm1, sinh, cosh, tanh 1 ULP. */
#ifndef FL_VEC_EXP_H
#define FL_VEC_EXP_H

#include "kern/vec_base.h"

/* e^(x + x_lo) = (1 + p) 2^k, p a double-double in [-0.3, 0.42]. |x| <= 760, |x_lo| tiny beside x. */
typedef struct FlExpParts {
  FlDd p;
  int64_t k;
} FlExpParts;

FL_KERN_HELPER FlExpParts fl_exp_parts(double x, double x_lo) {
  FlNearest n = fl_nearest(x * 0x1.71547652b82fep+0);
  double high = x - n.value * 0x1.62e42feep-1, low = n.value * 0x1.a39ef35793c76p-33;
  double r = high - low, r_lo = ((high - r) - low) + x_lo;
  double z = r * r;
  double even = 0x1.5555555555559p-3 +
                z * (0x1.111111110f651p-7 +
                     z * (0x1.a01a01b01434p-13 + z * (0x1.71ddf7c800205p-19 + z * 0x1.af5fd27f0e115p-26)));
  double odd = 0x1.5555555555559p-5 +
               z * (0x1.6c16c16c149c6p-10 +
                    z * (0x1.a01a01afa4122p-16 + z * (0x1.27e4c7348f918p-22 + z * 0x1.1f93a41f95f79p-29)));
  double rest = z * r * (even + r * odd);
  FlDd s = fl_dd_fast_sum(r, 0.5 * z);
  return (FlExpParts){{s.hi, s.lo + (rest + (r_lo + r_lo * (s.hi + rest)))}, n.integer};
}

FL_KERN_HELPER double fl_clamp_f64(double x, double lowest, double highest) {
  double v = x < lowest ? lowest : x;
  return v > highest ? highest : v;
}

/* exp(x + x_lo) */
FL_KERN_HELPER double fl_vec_exp_sum(double x, double x_lo) {
  FlExpParts e = fl_exp_parts(fl_clamp_f64(x, -750.0, 711.0), x_lo);
  FlDd s = fl_dd_fast_sum(1.0, e.p.hi);
  return fl_scale_f64(s.hi + (s.lo + e.p.lo), e.k);
}
FL_KERN_HELPER double fl_vec_exp(double x) { return fl_vec_exp_sum(x, -0.0); } /* v + -0 is v */

/* (e^x - 1) 2^-k as a double-double; e.k is that k */
FL_KERN_HELPER FlDd fl_expm1_scaled(FlExpParts e) {
  FlDd one = fl_dd_sum(1.0, -fl_power_of_two(e.k > 1000 ? -1000 : -e.k));
  FlDd s = fl_dd_sum(one.hi, e.p.hi);
  return fl_dd_fast_sum(s.hi, s.lo + (one.lo + e.p.lo));
}

FL_KERN_HELPER double fl_vec_expm1(double x) {
  FlExpParts e = fl_exp_parts(fl_clamp_f64(x, -60.0, 711.0), 0.0);
  FlDd s = fl_expm1_scaled(e);
  return x == 0 ? x : fl_scale_f64(s.hi + s.lo, e.k);
}

/* t / (t + 2) with t = e^(2|x|) - 1 */
FL_KERN_HELPER double fl_vec_tanh(double x) {
  double a = fl_clamp_f64(__builtin_fabs(x), 0.0, 22.0);
  FlExpParts e = fl_exp_parts(2 * a, 0.0);
  FlDd t = fl_expm1_scaled(e);
  double power = fl_power_of_two(e.k);
  t.hi *= power;
  t.lo *= power;
  FlDd q = fl_dd_div(t, fl_dd_add_f64(t, 2.0));
  return x == 0 ? x : __builtin_copysign(q.hi + q.lo, x);
}

/* t (t + 2) / (2 (t + 1)) with t = e^|x| - 1; from 25 on e^|x| / 2 */
FL_KERN_HELPER double fl_vec_sinh(double x) {
  FlExpParts e = fl_exp_parts(fl_clamp_f64(__builtin_fabs(x), 0.0, 711.0), 0.0);
  FlDd t = fl_expm1_scaled(e);
  double power = fl_power_of_two(e.k > 60 ? 60 : e.k);
  t.hi *= power;
  t.lo *= power;
  FlDd q = fl_dd_div(t, fl_dd_add_f64(t, 1.0)); /* 1 - e^-|x| */
  FlDd small = fl_dd_add(t, q);
  FlDd one = fl_dd_fast_sum(1.0, e.p.hi);
  double big = fl_scale_f64(one.hi + (one.lo + e.p.lo), e.k - 1);
  double r = __builtin_fabs(x) < 25.0 ? 0.5 * (small.hi + small.lo) : big;
  return x == 0 ? x : __builtin_copysign(r, x);
}

/* (e^|x| + e^-|x|) / 2; from 25 on e^|x| / 2 */
FL_KERN_HELPER double fl_vec_cosh(double x) {
  FlExpParts e = fl_exp_parts(fl_clamp_f64(__builtin_fabs(x), 0.0, 711.0), 0.0);
  FlDd one = fl_dd_fast_sum(1.0, e.p.hi);
  FlDd grown = fl_dd_fast_sum(one.hi, one.lo + e.p.lo);
  double big = fl_scale_f64(grown.hi, e.k - 1);
  double power = fl_power_of_two(e.k > 60 ? 60 : e.k);
  double h = grown.hi * power, l = grown.lo * power, inverse = 1.0 / h;
  FlDd s = fl_dd_fast_sum(h, inverse);
  return __builtin_fabs(x) < 25.0 ? 0.5 * (s.hi + (s.lo + (l - l * inverse * inverse))) : big;
}

#endif
