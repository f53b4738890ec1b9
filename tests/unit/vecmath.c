/* vecmath.c: the own mathematics against long double and against what IEEE says of special values.
 *
 * Each function is compared at many random and all critical arguments with the 64-bit-mantissa functions of
 * libm; the largest error, in units of the last place of the double result, must stay within the bound that
 * the header states. (An extended reference is itself off by less than 0.001 of these units.) */
#include "check.h"
#include "kern/kern.h"
#include "splitmix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Distance of `got` from `want` in units of the last place of `want` as a double. */
static double ulps(double got, long double want) {
  double near = (double)want;
  if (isnan(want)) return isnan(got) ? 0 : INFINITY;
  if (isinf(near) || isinf(got)) {
    if (got == near) return 0;
    if (fabsl(want) > 0x1.fffffffffffff8p1023L && fabs(got) == 0x1.fffffffffffffp1023) return 1;
    return fabsl(want) > 0x1.fffffffffffffp1023L && isinf(got) ? 0.5 : INFINITY;
  }
  int exponent;
  frexpl(want, &exponent);
  if (exponent < -1021) exponent = -1021;
  return (double)(fabsl((long double)got - want) / ldexpl(1.0L, exponent - 53));
}

typedef double Fn(double);
typedef long double Ref(long double);

static uint64_t state;
static uint64_t next_word(void) { return splitmix(&state); }
static double between(double low, double high) {
  return low + (high - low) * (double)(next_word() >> 11) * 0x1p-53;
}
/* Any finite double: its bits are uniform. */
static double any_double(void) {
  for (;;) {
    double v = fl_f64_bits(next_word());
    if (v - v == 0) return v;
  }
}

static void unary(const char *name, Fn *fn, Ref *ref, double low, double high, double bound, int n) {
  static const double special[] = {0.0,
                                   -0.0,
                                   1.0,
                                   -1.0,
                                   0.5,
                                   -0.5,
                                   INFINITY,
                                   -INFINITY,
                                   NAN,
                                   0x1p-1074,
                                   -0x1p-1074,
                                   0x1p-1022,
                                   -0x1.8p-1030,
                                   0x1.fffffffffffffp1023,
                                   -0x1.fffffffffffffp1023,
                                   709.782712893384,
                                   709.79,
                                   -745.1332191019411,
                                   -745.2,
                                   -708.5,
                                   0x1.fffffffffffffp-1,
                                   0x1.0000000000001p0,
                                   1e22,
                                   1e300,
                                   -1e300,
                                   1.5707963267948966,
                                   3.141592653589793,
                                   0.7853981633974483,
                                   0x1.6ac5b262ca1ffp849,
                                   710.4758600739439,
                                   710.5,
                                   22.0,
                                   25.0,
                                   1e-8,
                                   -1e-8,
                                   1e-300};
  double worst = 0, where = 0;
  for (int i = 0; i < n + (int)(sizeof special / sizeof *special); i++) {
    double x = i >= n ? special[i - n] : i % 8 == 0 ? any_double() : between(low, high);
    double got = fn(x);
    long double want = ref((long double)x);
    double off = ulps(got, want);
    if (want == 0 && !signbit(want) != !signbit(got)) off = INFINITY;
    if (off > worst) worst = off, where = x;
  }
  printf("  %-8s [%g, %g] max %.3f ULP at %.17g\n", name, low, high, worst, where);
  check(worst <= bound, "%s at %a: got %a (%.3f)", name, where, fn(where), bound);
}

static double pow_fn(double x, double y) { return fl_vec_pow(x, y); }

static void binary(const char *name, double (*fn)(double, double),
                   long double (*ref)(long double, long double), double low, double high, double low2,
                   double high2, double bound, int n) {
  double worst = 0, where = 0, where2 = 0;
  for (int i = 0; i < n; i++) {
    double x = i % 8 == 0 ? any_double() : between(low, high),
           y = i % 16 == 0 ? any_double() : between(low2, high2);
    double off = ulps(fn(x, y), ref((long double)x, (long double)y));
    if (off > worst) worst = off, where = x, where2 = y;
  }
  printf("  %-8s max %.3f ULP at %.17g %.17g\n", name, worst, where, where2);
  check(worst <= bound, "%s at %a: got %a (%.3f)", name, where, fn(where, where2), bound);
}

static void special_pairs(const char *name, double (*fn)(double, double), double (*ref)(double, double)) {
  static const double v[] = {0.0,       -0.0,  1.0,    -1.0,      2.0,      -2.0,
                             3.0,       -3.0,  0.5,    -0.5,      INFINITY, -INFINITY,
                             NAN,       1e300, -1e300, 0x1p-1074, 0x1p53,   0x1.fffffffffffffp53,
                             -0x1p-1074};
  const int n = (int)(sizeof v / sizeof *v);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double got = fn(v[i], v[j]), want = ref(v[i], v[j]);
      bool same = isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want);
      if (!same && isfinite(want) && want != 0) same = ulps(got, (long double)want) <= 2;
      if (!same) printf("%s(%g, %g) = %g, not %g\n", name, v[i], v[j], got, want);
      check(same, "%s at %a: got %a (%.3f)", name, v[i], got, v[j]);
    }
}
#define WRAP(NAME)                                                                                           \
  static double v_##NAME(double x) { return fl_vec_##NAME(x); }
WRAP(exp)
WRAP(expm1)
WRAP(log)
WRAP(log2)
WRAP(log10)
WRAP(log1p)
WRAP(sin)
WRAP(cos)
WRAP(tan)
WRAP(asin) WRAP(acos) WRAP(atan) WRAP(sinh) WRAP(cosh) WRAP(tanh) WRAP(erf) WRAP(erfc)
    WRAP(gamma) /* Right of zero only; negative arguments have a test of their own. */
    static double v_lgamma_right(double x) {
  return x < 0 ? 0 : fl_vec_lgamma(x);
}
static long double lgammal_right(long double x) { return x < 0 ? 0 : lgammal(x); }
static void lgamma_left(void) {
  double worst = 0, where = 0;
  for (int i = 0; i < 60000; i++) {
    double x = between(-60, 0);
    long double want = lgammal(x), size = fabsl(want) < 1 ? 1 : fabsl(want);
    double off = (double)(fabsl(fl_vec_lgamma(x) - want) / size * 0x1p52L);
    if (off > worst) worst = off, where = x;
  }
  printf("  %-8s [-60, 0] max %.3f units at %.17g\n", "lgamma", worst, where);
  check(worst <= 2, "%s at %a: got %a (%.3f)", "lgamma", where, fl_vec_lgamma(where), 2.0);
}
static double v_cbrt(double x) { return fl_vec_cbrt(x); }
static double v_hypot(double x, double y) { return fl_vec_hypot(x, y); }
static double v_atan2(double y, double x) { return fl_vec_atan2(y, x); }

int main(void) {
  enum { N = 60000 };
  unary("exp", v_exp, expl, -745, 710, 1, N);
  unary("exp", v_exp, expl, -1, 1, 1, N);
  unary("expm1", v_expm1, expm1l, -40, 710, 1, N);
  unary("expm1", v_expm1, expm1l, -1, 1, 1, N);
  unary("log", v_log, logl, 0, 10, 1, N);
  unary("log", v_log, logl, 0.9, 1.1, 1, N);
  unary("log2", v_log2, log2l, 0, 10, 1, N);
  unary("log2", v_log2, log2l, 0.9, 1.1, 1, N);
  unary("log10", v_log10, log10l, 0, 10, 1, N);
  unary("log10", v_log10, log10l, 0.9, 1.1, 1, N);
  unary("log1p", v_log1p, log1pl, -1, 10, 1, N);
  unary("log1p", v_log1p, log1pl, -0.1, 0.1, 1, N);
  unary("sin", v_sin, sinl, -10, 10, 1, N);
  unary("sin", v_sin, sinl, -1e6, 1e6, 1, N);
  unary("cos", v_cos, cosl, -10, 10, 1, N);
  unary("cos", v_cos, cosl, -1e6, 1e6, 1, N);
  unary("tan", v_tan, tanl, -10, 10, 1.1, N);
  unary("asin", v_asin, asinl, -1, 1, 1, N);
  unary("acos", v_acos, acosl, -1, 1, 1, N);
  unary("atan", v_atan, atanl, -10, 10, 1, N);
  unary("sinh", v_sinh, sinhl, -711, 711, 1, N);
  unary("sinh", v_sinh, sinhl, -2, 2, 1, N);
  unary("cosh", v_cosh, coshl, -711, 711, 1, N);
  unary("cosh", v_cosh, coshl, -2, 2, 1, N);
  unary("tanh", v_tanh, tanhl, -22, 22, 1, N);
  unary("tanh", v_tanh, tanhl, -1, 1, 1, N);
  binary("pow", pow_fn, powl, 0, 10, -300, 300, 1, N);
  binary("pow", pow_fn, powl, 0.99, 1.01, -60000, 60000, 1, N);
  binary("pow", pow_fn, powl, 0, 1e5, -3, 3, 1, N);
  binary("atan2", v_atan2, atan2l, -10, 10, -10, 10, 2, N);
  binary("hypot", v_hypot, hypotl, -10, 10, -10, 10, 1, N);
  unary("cbrt", v_cbrt, cbrtl, -10, 10, 1, N);
  unary("cbrt", v_cbrt, cbrtl, -1e300, 1e300, 1, N);
  unary("cbrt", v_cbrt, cbrtl, -1e-310, 1e-310, 1, N);
  unary("erf", v_erf, erfl, -7, 7, 1, N);
  unary("erf", v_erf, erfl, -1, 1, 1, N);
  unary("erfc", v_erfc, erfcl, -7, 28, 2, N);
  unary("erfc", v_erfc, erfcl, -1, 3, 2, N);
  unary("gamma", v_gamma, tgammal, -30, 172, 2, N);
  unary("gamma", v_gamma, tgammal, -3, 5, 2, N);
  unary("lgamma", v_lgamma_right, lgammal_right, 0, 40, 2, N);
  unary("lgamma", v_lgamma_right, lgammal_right, 0.7, 2.4, 2, N);
  lgamma_left();
  special_pairs("hypot", v_hypot, hypot);
  special_pairs("pow", pow_fn, pow);
  special_pairs("atan2", v_atan2, atan2);
  return finish();
}
