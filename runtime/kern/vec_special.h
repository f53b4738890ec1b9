/* vec_special.h: erf, erfc, gamma, lgamma, hypot and cbrt for doubles. No data-dependent branch.
 *
 * erf: below 1/2 a minimax polynomial (error 2^-65.1); beyond, erfc(x) = e^(-x^2) (1 + Q(t)) / (1 + 2 x) with
 * t = (x - 3.75) / (x + 3.75), after M. Shepherd, J. Laframboise, "Chebyshev approximation of (1 + 2x)
 * exp(x^2) erfc x" (Math. Comp. 36, 1981); Q minimax on [1/2, 28], error 2^-57.7. gamma: the argument is
 * raised to 16 or more by its recurrence, then Stirling's series (Abramowitz and Stegun 6.1.40), whose first
 * omitted term is below 2^-62 there; below 1/2 by reflection (6.1.17). lgamma near 1 and 2, where it
 * vanishes, by minimax polynomials (errors 2^-56, 2^-75). Everything that could cancel is a double-double.
 * The short loops of gamma and lgamma keep those two scalar.
 * Measured bounds (tests/unit/vecmath.c): erf, hypot, cbrt 1 ULP; erfc, gamma 2 ULP; lgamma 2 units of the
 * last place of max(1, |result|), and 2 ULP for x > 0. */
#ifndef FL_VEC_SPECIAL_H
#define FL_VEC_SPECIAL_H

#include "kern/vec_exp.h"
#include "kern/vec_log.h"
#include "kern/vec_trig.h"

/* ---- hypot ------------------------------------------------------------------------------------------- */

FL_KERN_HELPER double fl_vec_hypot(double x, double y) {
  double a = __builtin_fabs(x), b = __builtin_fabs(y);
  double most = a > b ? a : b;
  double scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-500 ? 0x1p600 : 1.0;
  double back = most > 0x1p500 ? 0x1p600 : most < 0x1p-500 ? 0x1p-600 : 1.0;
  FlDd s = fl_dd_add(fl_dd_product(a * scale, a * scale), fl_dd_product(b * scale, b * scale));
  double h = __builtin_sqrt(s.hi);
  FlDd square = fl_dd_product(h, h);
  double rest = ((s.hi - square.hi) - square.lo + s.lo) / (2.0 * h);
  double r = h > 0 ? (h + rest) * back : 0.0;
  bool infinite = (a == __builtin_inf()) | (b == __builtin_inf());
  return infinite ? __builtin_inf() : ((a != a) | (b != b)) ? __builtin_nan("") : r;
}

/* ---- cbrt -------------------------------------------------------------------------------------------- */

/* A third of the exponent and of the mantissa, as of one number, is within 3.3% of the root (W. Kahan, 1991);
 * each of Halley's steps, t (t^3 + 2 a) / (2 t^3 + a), cubes the error; the last is Newton's, with the rest
 * in two doubles. */
FL_KERN_HELPER double fl_vec_cbrt(double x) {
  double a = __builtin_fabs(x);
  double scale = a > 0x1p900 ? 0x1p-900 : a < 0x1p-900 ? 0x1p900 : 1.0;
  double back = a > 0x1p900 ? 0x1p300 : a < 0x1p-900 ? 0x1p-300 : 1.0;
  double y = a * scale;
  uint64_t third = (fl_bits_f64(y) >> 32) * 0x55555556u >> 32;
  double t =
      fl_f64_bits((third + 715094163u) << 32); /* (1023 - 341 - 0.0331) 2^20: the bias of the exponent */
  double cube = t * t * t;
  t = t * ((cube + 2.0 * y) / (2.0 * cube + y));
  cube = t * t * t;
  t = t * ((cube + 2.0 * y) / (2.0 * cube + y));
  FlDd exact = fl_dd_mul_f64(fl_dd_product(t, t), t);
  t -= ((exact.hi - y) + exact.lo) / (3.0 * t * t);
  double r = __builtin_copysign(t * back, x);
  return a > 0 && a < __builtin_inf() ? r : x != x ? __builtin_nan("") : x;
}

/* ---- erf, erfc --------------------------------------------------------------------------------------- */

/* erf x for |x| <= 0.5 */
FL_KERN_HELPER FlDd fl_erf_small(double x) {
  double z = x * x, w = z * z;
  double even = -0x1.812746b0379e7p-2 +
                w * (-0x1.b82ce31280853p-6 + w * (-0x1.c02db25556131p-11 +
                                                  w * (-0x1.f4bc2810a54a6p-17 + w * -0x1.3a34f2048d55dp-23)));
  double odd = 0x1.ce2f21a042b4ap-4 +
               w * (0x1.565bcd0af1451p-8 + w * (0x1.f9a2ab0b1e828p-14 + w * 0x1.b77ed145d8d47p-20));
  bool tiny = __builtin_fabs(x) < 0x1p-900; /* the exact product would fall among the denormals */
  FlDd main = fl_dd_product(x, 0x1.20dd750429b6dp+0);
  double rest = (tiny ? 0.0 : main.lo) + x * (0x1.1ae3a914fed8p-56 + z * (even + z * odd));
  return fl_dd_fast_sum(main.hi, rest);
}

/* erfc x for x >= 0.5, as v 2^k */
FL_KERN_HELPER FlDd fl_erfc_large(double x, int64_t *k) {
  double t = (x - 3.75) / (x + 3.75), w = t * t;
  double even =
      0x1.e66d05aeaee14p-3 +
      w * (0x1.d5f294815b03fp-9 +
           w * (-0x1.bda9309a2b1bap-4 +
                w * (-0x1.e0d0fa6d76825p-5 +
                     w * (-0x1.3f603c518ec09p-7 +
                          w * (0x1.33fb429e42664p-12 +
                               w * (0x1.b13f80bf234bbp-15 +
                                    w * (-0x1.7fca12918800ep-17 +
                                         w * (0x1.d29238cfddab7p-20 + w * (-0x1.02554e938dd52p-22 +
                                                                           w * 0x1.a7cf76e0bbf55p-26)))))))));
  double odd =
      -0x1.1f367683f89a7p-3 +
      w * (0x1.510169d0967cap-4 +
           w * (0x1.7a14188a9a5f7p-4 +
                w * (0x1.d0b0037d92274p-6 + w * (0x1.cc3a0e4d4dba4p-10 +
                                                 w * (-0x1.303fa261b7e7fp-12 +
                                                      w * (0x1.778b87d87e379p-16 +
                                                           w * (-0x1.0566b45bb124ap-20 +
                                                                w * (-0x1.e4ae727d3cbe2p-25 +
                                                                     w * (0x1.7a8a131713e4ep-26 +
                                                                          w * -0x1.7dd1e84506a3ep-29)))))))));
  FlDd square = fl_dd_product(x, x);
  FlExpParts e = fl_exp_parts(-square.hi, -square.lo);
  *k = e.k;
  FlDd grown = fl_dd_add_f64(e.p, 1.0);
  FlDd shape = fl_dd_fast_sum(1.0, even + t * odd);
  return fl_dd_div(fl_dd_mul(grown, shape), fl_dd_sum(1.0, 2.0 * x));
}

FL_KERN_HELPER double fl_vec_erf(double x) {
  double a = __builtin_fabs(x);
  bool small = a < 0.5;
  FlDd near = fl_erf_small(small ? x : 0.25);
  int64_t k;
  FlDd far = fl_erfc_large(small ? 1.0 : a > 6.5 ? 6.5 : a, &k);
  double power = fl_power_of_two(k);
  FlDd rest = fl_dd_sum(1.0, -(far.hi * power));
  double large = rest.hi + (rest.lo - far.lo * power);
  double r = small ? near.hi + near.lo : __builtin_copysign(large, x);
  return x != x ? x : x == 0 ? x : r;
}

FL_KERN_HELPER double fl_vec_erfc(double x) {
  double a = __builtin_fabs(x);
  bool small = a < 0.5;
  FlDd near = fl_erf_small(small ? x : 0.25);
  FlDd middle = fl_dd_sum(1.0, -near.hi);
  int64_t k;
  FlDd far = fl_erfc_large(small ? 1.0 : a > 28.0 ? 28.0 : a, &k);
  double large = fl_scale_f64(far.hi + far.lo, k);
  double r = small ? middle.hi + (middle.lo - near.lo) : x < 0 ? 2.0 - large : large;
  return x != x ? x : r;
}

/* ---- gamma ------------------------------------------------------------------------------------------- */

FL_KERN_HELPER FlDd fl_dd_log(FlDd y) {
  FlDd r = fl_log_dd(y.hi);
  return fl_dd_fast_sum(r.hi, r.lo + y.lo / y.hi);
}

/* For x >= 1/2: log Gamma(x) = series - log(product), the product x (x + 1) ... up to 16. */
typedef struct FlStirling {
  FlDd series, product;
} FlStirling;

FL_KERN_HELPER FlStirling fl_stirling(FlDd x) {
  FlDd product = {1.0, 0.0}, y = x;
  for (int i = 0; i < 16; i++) { /* unrolled: always 16 steps */
    bool below = y.hi < 16.0;
    FlDd next = fl_dd_mul(product, y), up = fl_dd_add_f64(y, 1.0);
    product.hi = below ? next.hi : product.hi;
    product.lo = below ? next.lo : product.lo;
    y.hi = below ? up.hi : y.hi;
    y.lo = below ? up.lo : y.lo;
  }
  double v = 1.0 / y.hi, w = v * v;
  double tail = v * (0x1.5555555555555p-4 +
                     w * (-0x1.6c16c16c16c17p-9 +
                          w * (0x1.a01a01a01a01ap-11 +
                               w * (-0x1.3813813813814p-11 +
                                    w * (0x1.b951e2b18ff23p-11 +
                                         w * (-0x1.f6ab0d9993c7dp-10 + w * 0x1.a41a41a41a41ap-8))))));
  FlDd main = fl_dd_mul(fl_dd_add_f64(y, -0.5), fl_dd_log(y));
  main = fl_dd_add(main, (FlDd){-y.hi, -y.lo});
  main = fl_dd_add(main, (FlDd){0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55});
  return (FlStirling){fl_dd_add_f64(main, tail), product};
}

/* sin(pi x) for |x| < 2^51 */
FL_KERN_HELPER double fl_sin_pi(double x) {
  FlNearest n = fl_nearest(2.0 * x);
  FlDd r = fl_dd_mul_f64((FlDd){FL_PI_HIGH, FL_PI_LOW}, x - 0.5 * n.value);
  double s = fl_sin_part(r), c = fl_cos_part(r);
  uint64_t quarter = (uint64_t)n.integer;
  return fl_turn_sign(quarter & 1 ? c : s, quarter);
}

FL_KERN_HELPER double fl_vec_gamma(double x) {
  bool reflect = x < 0.5;
  double inside = fl_clamp_f64(x == x ? x : 1.0, -200.0, 200.0);
  FlStirling g = fl_stirling(reflect ? fl_dd_sum(1.0, -inside) : (FlDd){inside, 0.0});
  double sign = reflect ? -1.0 : 1.0;
  FlExpParts e = fl_exp_parts(fl_clamp_f64(sign * g.series.hi, -755.0, 755.0), sign * g.series.lo);
  FlDd grown = fl_dd_add_f64(e.p, 1.0);
  double turned = fl_sin_pi(reflect ? inside : 0.5);
  FlDd up = fl_dd_mul(fl_dd_mul(grown, g.product), (FlDd){FL_PI_HIGH, FL_PI_LOW});
  FlDd q = fl_dd_div(reflect ? up : grown, reflect ? (FlDd){turned == 0 ? 1.0 : turned, 0.0} : g.product);
  double r = fl_scale_f64(q.hi + q.lo, e.k);
  r = __builtin_fabs(x) < 0x1p-60 ? 1.0 / x : r;
  bool pole = (x < 0) & ((x - x != 0) | fl_is_whole(x));
  bool odd_side =
      !fl_is_whole(0.5 * __builtin_floor(x)); /* between -1 and 0, -3 and -2, ... it is negative */
  r = x < -190.0 ? (odd_side ? -0.0 : 0.0) : r;
  return x != x ? x : pole ? __builtin_nan("") : x == __builtin_inf() ? x : r;
}

/* log Gamma(c + t) / t, |t| <= 1/4, c = 1 or 2 */
FL_KERN_HELPER double fl_lgamma_near(double t, bool one) {
  static const double at1[18] = {-0x1.2788cfc6fb619p-1, 0x1.a51a6625307d3p-1,  -0x1.9a4d55beab174p-2,
                                 0x1.151322ac7da4fp-2,  -0x1.a8b9c17aefd38p-3, 0x1.5b40cb0ff4e39p-3,
                                 -0x1.2703a1adc5f8ap-3, 0x1.010b36a7502fap-3,  -0x1.c8068e8e4778cp-4,
                                 0x1.9a01f0f270953p-4,  -0x1.7486cec7a2003p-4, 0x1.556781797d8fp-4,
                                 -0x1.3badf37fb9c17p-4, 0x1.25013ed222908p-4,  -0x1.085cee16486e7p-4,
                                 0x1.f1a4fac238b32p-5,  -0x1.37bbbeac7fb28p-4, 0x1.22b6034f16f09p-4};
  static const double at2[18] = {0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-2,   -0x1.13e001a557607p-4,
                                 0x1.51322ac7d8483p-6,   -0x1.e404fc218f601p-8,  0x1.7add6eadb6ca4p-9,
                                 -0x1.38ac5c2bf676dp-10, 0x1.0b36af862d171p-11,  -0x1.d3fd4c7d077f6p-13,
                                 0x1.a127b108241f3p-14,  -0x1.78de575d91b2fp-15, 0x1.580dc2b8f5babp-16,
                                 -0x1.3cbe7b5b55d48p-17, 0x1.259b92cf75603p-18,  -0x1.113b932ed887cp-19,
                                 0x1.ff4ab7c1fe9d1p-21,  -0x1.00eb8415a425fp-21, 0x1.ee7f9aab7df16p-23};
  double r = one ? at1[17] : at2[17];
  for (int i = 16; i >= 0; i--) r = (one ? at1[i] : at2[i]) + t * r;
  return r;
}

FL_KERN_HELPER double fl_vec_lgamma(double x) {
  bool reflect = x < 0.5, plain = (x == x) & (__builtin_fabs(x) < 0x1p1000);
  double inside = plain ? x : 3.0;
  FlStirling g = fl_stirling(reflect ? fl_dd_sum(1.0, -inside) : (FlDd){inside, 0.0});
  FlDd up = fl_dd_log(g.product);
  FlDd r = fl_dd_add(g.series, (FlDd){-up.hi, -up.lo});
  double turned = __builtin_fabs(fl_sin_pi(fl_clamp_f64(reflect ? inside : 0.5, -0x1p50, 0x1p50)));
  bool tiny = __builtin_fabs(x) < 0x1p-60;
  turned = tiny ? __builtin_fabs(x == 0 ? 1.0 : x) : turned; /* sin(pi x) / pi = x */
  FlDd log_turned = fl_log_dd(turned == 0 ? 1.0 : turned);
  FlDd log_pi = {tiny ? 0.0 : 0x1.250d048e7a1bdp+0, tiny ? 0.0 : 0x1.7abf2ad8d5088p-57};
  FlDd reflected = fl_dd_add(log_pi, (FlDd){-log_turned.hi, -log_turned.lo});
  reflected = fl_dd_add(reflected, (FlDd){-r.hi, -r.lo});
  double v = reflect ? reflected.hi + reflected.lo : r.hi + r.lo;
  bool near_one = __builtin_fabs(x - 1.0) <= 0.25, near_two = __builtin_fabs(x - 2.0) <= 0.25;
  double t = near_one ? x - 1.0 : near_two ? x - 2.0 : 0.0;
  v = (near_one | near_two) ? t * fl_lgamma_near(t, near_one) + 0.0 : v; /* + 0: no -0 */
  double huge = x > 0x1.754d9278b51a7p+1014 ? __builtin_inf() : x * (fl_vec_log(plain ? 2.0 : x) - 1.0);
  bool pole = (x <= 0) & (fl_is_whole(x) | (x - x != 0));
  return x != x ? x : pole ? __builtin_inf() : (!plain & (x > 0)) ? huge : v;
}

#endif
