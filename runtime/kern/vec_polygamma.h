/* vec_polygamma.h: the derivatives of log gamma: psi(x) of order 0 (digamma), and its derivatives.
 *
 * From 1/2 on: the recurrence psi_m(x) = psi_m(x + 1) - (-1)^m m! / x^(m + 1) up to 24, there the asymptotic
 * series (M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 1964, 6.3.18, 6.4.11), whose first
 * omitted term is below 2^-60 of the value for orders up to 12. Below 1/2: the reflection (6.3.7, 6.4.7),
 * where derivatives of cot(pi x) are polynomials in it: p_0 = c, p_(m + 1) = -(1 + c^2) p_m'. Where it is
 * infinite: NaN, but where both sides are +inf (odd orders), that. Orders outside 0..12: NaN. Measured: 6
 * units of the last place of max(1, |psi|) for order 0 and of |psi_m| from 1/2 on, 15 below
 * (tests/unit/polygamma.c). */
#ifndef FL_VEC_POLYGAMMA_H
#define FL_VEC_POLYGAMMA_H

#include "kern/vec_log.h"
#include "kern/vec_special.h"

enum { FL_MOST_POLYGAMMA = 12 };

/* (-1)^(m + 1) psi_m(x) for m >= 1, -psi(x) for m = 0; x >= 1/2 */
FL_KERN_HELPER double fl_polygamma_right(int64_t m, double x) {
  static const double bernoulli[9] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,    5.0 / 66,
                                      -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798};
  double shifted = 0, y = x, factorial = 1;
  for (int64_t k = 2; k <= m; k++) factorial *= (double)k;
  for (int step = 0; step < 24; step++) {
    double power = y;
    for (int64_t k = 0; k < m; k++) power *= y;
    bool below = y < 24.0;
    shifted += below ? factorial / power : 0.0;
    y = below ? y + 1.0 : y;
  }
  double v = 1.0 / y, w = v * v, power = 1;
  for (int64_t k = 0; k < m; k++) power *= v;
  /* B_2k (2k + m - 1)! / (2k)! / y^(2k + m), from the last */
  double tail = 0;
  for (int k = 9; k >= 1; k--) {
    double c = bernoulli[k - 1];
    if (m == 0) c /= 2.0 * k;
    for (int64_t i = 1; i < m; i++) c *= (double)(2 * k + i);
    tail = (tail + c) * w;
  }
  double first = m == 0 ? 0.0 : factorial / (double)m;
  double series = power * (first + factorial * 0.5 * v + tail);
  double main = m == 0 ? series - fl_vec_log(y) : series;
  return shifted + main;
}

/* The derivative of order m of pi cot(pi x), over (-1)^m. */
FL_KERN_HELPER double fl_cot_slope(int64_t m, double x) {
  double near = x - __builtin_floor(x + 0.5), pi = 0x1.921fb54442d18p+1;
  double c = fl_sin_pi(0.5 - near) / fl_sin_pi(near), p[FL_MOST_POLYGAMMA + 2] = {0, 1.0}, scale = pi;
  for (int64_t order = 0; order < m; order++) { /* (1 + c^2) p' */
    double next[FL_MOST_POLYGAMMA + 2] = {0};
    for (int k = 1; k <= order + 1; k++) {
      next[k - 1] += (double)k * p[k];
      next[k + 1] += (double)k * p[k];
    }
    for (int k = 0; k < FL_MOST_POLYGAMMA + 2; k++) p[k] = next[k];
    scale *= pi;
  }
  double r = 0;
  for (int k = FL_MOST_POLYGAMMA + 1; k >= 0; k--) r = r * c + p[k];
  return scale * r;
}

FL_KERN_HELPER double fl_vec_polygamma(double x, int64_t m) {
  bool odd = (m & 1) != 0;
  if (x != x || m < 0 || m > FL_MOST_POLYGAMMA || x < -0x1p52) return __builtin_nan("");
  if (x == __builtin_inf()) return m == 0 ? x : 0.0;
  if (x <= 0 && fl_is_whole(x)) return odd ? __builtin_inf() : __builtin_nan("");
  if (x >= 0.5) {
    double r = fl_polygamma_right(m, x);
    return m == 0 || !odd ? -r : r;
  }
  /* psi_m(1 - x) (-1)^m - (pi cot(pi x))^(m) */
  double r = fl_polygamma_right(m, 1.0 - x), slope = fl_cot_slope(m, x);
  return m == 0 || !odd ? -r - slope : slope - r;
}

#endif
