/* vec_trig.h: sin, cos, tan and their inverses for doubles.
 *
 * Reduction of any argument without a branch, after M. Payne, R. Hanek, "Radian reduction for trigonometric
 * functions" (1983): x = M 2^E with a 53-bit integer M, times the 192 bits of 2/pi that matter for that E
 * (more significant ones give multiples of 4), in integers modulo 2^192. The two leading bits are the
 * quadrant, the rest the fraction of a quarter turn, right to 2^-122; no double comes closer than 2^-62 to a
 * multiple of pi/2. |x| < pi/4 is its own remainder. Polynomials minimax by Remez exchange (errors: sin
 * 2^-58, cos 2^-64, atan 2^-62.4, asin 2^-59.8). Measured bounds (tests/unit/vecmath.c): sin, cos, asin,
 * acos, atan 1 ULP; tan 1.1; atan2 2. */
#ifndef FL_VEC_TRIG_H
#define FL_VEC_TRIG_H

#include "kern/vec_base.h"

#define FL_PI_HIGH 0x1.921fb54442d18p+1
#define FL_PI_LOW 0x1.1a62633145c07p-53

/* 64 zeros, then the bits of 2/pi after the point */
static const uint64_t fl_two_over_pi[22] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d, 0xa9e391615ee61b08};

typedef struct FlQuarters {
  FlDd r;           /* in [-pi/4, pi/4], with the sign of x put in */
  uint64_t quarter; /* modulo 4 */
} FlQuarters;

/* An integer below 2^32 as a double: a widening instruction that all vector units have in this form. */
FL_KERN_HELPER double fl_word_f64(uint64_t v) { return fl_f64_bits(v | 0x4330000000000000u) - 0x1p52; }

FL_KERN_HELPER FlQuarters fl_quarters(double x) {
  const uint64_t low = 0xffffffff;
  uint64_t bits = fl_bits_f64(x) & 0x7fffffffffffffffu;
  uint64_t exponent = bits >> 52;
  exponent = exponent < 1020 ? 1020 : exponent > 2046 ? 2046 : exponent;
  uint64_t start = exponent - 1013; /* E - 2 bits into 2/pi, and the 64 zeros */
  uint64_t word = start >> 6, shift = start & 63;
  const uint64_t *t = fl_two_over_pi + word;
  uint64_t a = t[0] << shift | t[1] >> 1 >> (63 - shift);
  uint64_t b = t[1] << shift | t[2] >> 1 >> (63 - shift);
  uint64_t c = t[2] << shift | t[3] >> 1 >> (63 - shift);
  uint64_t m1 = (bits >> 32 & 0xfffff) | 0x100000, m0 = bits & low;
  /* top, mid: the two leading words of M * (a, b, c) modulo 2^192, but for some units of the last place */
  uint64_t b00 = m0 * (b & low), b01 = m0 * (b >> 32), b10 = m1 * (b & low), b11 = m1 * (b >> 32);
  uint64_t cross = (b00 >> 32) + (b01 & low) + (b10 & low);
  uint64_t b_low = (b00 & low) | cross << 32;
  uint64_t b_high = b11 + (b01 >> 32) + (b10 >> 32) + (cross >> 32);
  uint64_t c_high = m1 * (c >> 32) + (m1 * (c & low) >> 32) + (m0 * (c >> 32) >> 32);
  uint64_t mid = b_low + c_high;
  uint64_t top = m0 * (a & low) + ((m0 * (a >> 32) + m1 * (a & low)) << 32) + b_high + (mid < c_high);
  uint64_t high = top << 2 | mid >> 62, rest = mid << 2;
  uint64_t negative = (uint64_t)0 - (high >> 63); /* fraction >= 1/2: the next quarter, less a bit */
  uint64_t quarter = (top >> 62) + (high >> 63);
  high ^= negative;
  rest ^= negative;
  FlDd f = fl_dd_fast_sum(fl_word_f64(high >> 32) * 0x1p-32, fl_word_f64(high & low) * 0x1p-64);
  f = fl_dd_fast_sum(f.hi, f.lo + fl_word_f64(rest >> 32) * 0x1p-96 + fl_word_f64(rest & low) * 0x1p-128);
  FlDd r = fl_dd_mul(f, (FlDd){0.5 * FL_PI_HIGH, 0.5 * FL_PI_LOW});
  uint64_t x_sign = fl_bits_f64(x) & 0x8000000000000000u, sign = x_sign ^ (negative & 0x8000000000000000u);
  bool small = bits <= 0x3fe921fb54442d18u; /* pi / 4 */
  FlQuarters q;
  q.r.hi = small ? x : fl_f64_bits(fl_bits_f64(r.hi) ^ sign);
  q.r.lo = small ? 0 : fl_f64_bits(fl_bits_f64(r.lo) ^ sign);
  q.r.hi = bits >= 0x7ff0000000000000u ? __builtin_nan("") : q.r.hi;
  q.quarter = small ? 0 : x_sign ? 0 - quarter : quarter;
  return q;
}

/* sin and cos of |r| <= pi/4, to about 2^-56 */
FL_KERN_HELPER FlDd fl_sin_dd(FlDd r) {
  double z = r.hi * r.hi, w = z * z;
  double even = -0x1.5555555555549p-3 + w * (-0x1.a01a019c12035p-13 + w * -0x1.ae5e66886b318p-26);
  double odd = 0x1.111111110f87dp-7 + w * (0x1.71de3578166c7p-19 + w * 0x1.5d93185305fb2p-33);
  return (FlDd){r.hi, r.hi * z * (even + z * odd) + r.lo * (1.0 - 0.5 * z)};
}
FL_KERN_HELPER FlDd fl_cos_dd(FlDd r) {
  double z = r.hi * r.hi, w = z * z, half = 0.5 * z, main = 1.0 - half;
  double even = 0x1.555555555554cp-5 + w * (0x1.a01a019cb2161p-16 + w * 0x1.1ee9ec185d514p-29);
  double odd = -0x1.6c16c16c15181p-10 + w * (-0x1.27e4f80a33583p-22 + w * -0x1.8faeb5cbe88fap-37);
  return (FlDd){main, ((1.0 - main) - half) + (w * (even + z * odd) - r.hi * r.lo)};
}
FL_KERN_HELPER double fl_sin_part(FlDd r) {
  FlDd s = fl_sin_dd(r);
  return s.hi + s.lo;
}
FL_KERN_HELPER double fl_cos_part(FlDd r) {
  FlDd c = fl_cos_dd(r);
  return c.hi + c.lo;
}
/* v with its sign turned when bit 1 of quarter is set */
FL_KERN_HELPER double fl_turn_sign(double v, uint64_t quarter) {
  return fl_f64_bits(fl_bits_f64(v) ^ (quarter & 2) << 62);
}

FL_KERN_HELPER double fl_vec_sin(double x) {
  FlQuarters q = fl_quarters(x);
  double s = fl_sin_part(q.r), c = fl_cos_part(q.r);
  return x == 0 ? x : fl_turn_sign(q.quarter & 1 ? c : s, q.quarter);
}
FL_KERN_HELPER double fl_vec_cos(double x) {
  FlQuarters q = fl_quarters(x);
  double s = fl_sin_part(q.r), c = fl_cos_part(q.r);
  return fl_turn_sign(q.quarter & 1 ? s : c, q.quarter + 1);
}
FL_KERN_HELPER double fl_vec_tan(double x) {
  FlQuarters q = fl_quarters(x);
  FlDd s = fl_sin_dd(q.r), c = fl_cos_dd(q.r);
  s = fl_dd_fast_sum(s.hi, s.lo);
  c = fl_dd_fast_sum(c.hi, c.lo);
  bool odd = (q.quarter & 1) != 0;
  FlDd above = {odd ? -c.hi : s.hi, odd ? -c.lo : s.lo}, below = {odd ? s.hi : c.hi, odd ? s.lo : c.lo};
  FlDd t = fl_dd_div(above, below);
  return x == 0 ? x : t.hi + t.lo;
}

/* cos(2 pi v), 0 <= v <= 1 */
FL_KERN_HELPER double fl_vec_cos_turns(double v) {
  FlNearest n = fl_nearest(4 * v);
  FlDd r = fl_dd_product(v - 0.25 * n.value, 2 * FL_PI_HIGH);
  double s = fl_sin_part(r), c = fl_cos_part(r);
  uint64_t quarter = (uint64_t)n.integer;
  return fl_turn_sign(quarter & 1 ? -s : c, quarter);
}

/* ---- inverses ---------------------------------------------------------------------------------------- */

/* atan a for a >= 0: atan c + atan((a - c) / (1 + c a)) with c one of 0, 1/2, 1, 3/2, inf, so that the
 * argument of the polynomial stays within 7/16 (the cuts of fdlibm's s_atan.c). */
FL_KERN_HELPER double fl_atan_positive(double a) {
  bool over0 = a >= 0.4375, over1 = a >= 0.6875, over2 = a >= 1.1875, over3 = a >= 2.4375;
  double above = over3 ? -1.0 : over2 ? a - 1.5 : over1 ? a - 1.0 : over0 ? 2.0 * a - 1.0 : a;
  double below = over3 ? a : over2 ? 1.0 + 1.5 * a : over1 ? a + 1.0 : over0 ? 2.0 + a : 1.0;
  double base = over3   ? 0.5 * FL_PI_HIGH
                : over2 ? 0x1.f730bd281f69bp-1
                : over1 ? 0.25 * FL_PI_HIGH
                : over0 ? 0x1.dac670561bb4fp-2
                        : 0.0;
  double base_low = over3   ? 0.5 * FL_PI_LOW
                    : over2 ? 0x1.007887af0cbbdp-56
                    : over1 ? 0.25 * FL_PI_LOW
                    : over0 ? 0x1.a2b7f222f65e2p-56
                            : 0.0;
  double t = above / below, z = t * t, w = z * z;
  double even =
      -0x1.5555555555552p-2 +
      w * (-0x1.2492492445e04p-3 +
           w * (-0x1.745d11d042bfep-4 +
                w * (-0x1.11090df077be2p-4 + w * (-0x1.a9fe07074d839p-5 + w * -0x1.057689eb1ee4ap-5))));
  double odd = 0x1.9999999998fep-3 +
               w * (0x1.c71c71a16b4fp-4 +
                    w * (0x1.3b132ff45e611p-4 +
                         w * (0x1.e133199c1ac6fp-5 + w * (0x1.6b2728e6d96c2p-5 + w * 0x1.c0b20657fa1acp-7))));
  return base + (t + (base_low + t * z * (even + z * odd)));
}
FL_KERN_HELPER double fl_vec_atan(double x) {
  double r = fl_atan_positive(__builtin_fabs(x));
  return x == 0 ? x : __builtin_copysign(r, x);
}
/* The angle of (x, y), as C99 annex F defines the special cases. */
FL_KERN_HELPER double fl_vec_atan2(double y, double x) {
  double a = __builtin_fabs(y), b = __builtin_fabs(x);
  bool both_zero = (a == 0) & (b == 0), both_inf = (a == __builtin_inf()) & (b == __builtin_inf());
  double ratio = both_zero ? 0.0 : both_inf ? 1.0 : a / b;
  double angle = fl_atan_positive(ratio);
  bool left = fl_bits_f64(x) >> 63 != 0;
  double r = left ? FL_PI_HIGH - (angle - FL_PI_LOW) : angle;
  return ((x != x) | (y != y)) ? __builtin_nan("") : __builtin_copysign(r, y);
}

/* (asin t - t) / t for z = t^2 <= 1/4 */
FL_KERN_HELPER double fl_asin_tail(double z) {
  double w = z * z;
  double even =
      0x1.5555555555578p-3 +
      w * (0x1.6db6db722bfb6p-5 +
           w * (0x1.6e8bdfeaf24b3p-6 +
                w * (0x1.ca2149f82d033p-7 +
                     w * (0x1.618b8e28bcea5p-7 + w * (0x1.65052e7553df8p-6 + w * 0x1.0be5998ab8fcap-5)))));
  double odd = 0x1.333333332df05p-4 +
               w * (0x1.f1c71a8b6e493p-6 +
                    w * (0x1.1c49ddbd431fap-6 +
                         w * (0x1.757763730698dp-7 + w * (0x1.e14fdf61b8b0fp-9 + w * -0x1.59faa845b3c6p-6))));
  return z * (even + z * odd);
}
/* Beyond 1/2: asin a = pi/2 - 2 asin sqrt((1 - a) / 2), the root with its rounding error. */
FL_KERN_HELPER double fl_vec_asin(double x) {
  double a = __builtin_fabs(x);
  bool large = a > 0.5;
  double z = large ? 0.5 * (1.0 - a) : a * a;
  double root = __builtin_sqrt(large ? z : 1.0), tail = fl_asin_tail(z);
  double head = fl_dd_head(root), rest = (z - head * head) / (root + head);
  rest = root == 0 ? 0.0 : rest;
  double far = 0.25 * FL_PI_HIGH -
               ((2.0 * root * tail - (0.5 * FL_PI_LOW - 2.0 * rest)) - (0.25 * FL_PI_HIGH - 2.0 * head));
  double r = large ? far : a + a * tail;
  return a <= 1 ? __builtin_copysign(r, x) : __builtin_nan("");
}
FL_KERN_HELPER double fl_vec_acos(double x) {
  double a = __builtin_fabs(x);
  bool large = a > 0.5;
  double z = large ? 0.5 * (1.0 - a) : a * a;
  double root = __builtin_sqrt(large ? z : 1.0), tail = fl_asin_tail(z);
  double head = fl_dd_head(root), rest = (z - head * head) / (root + head);
  rest = root == 0 ? 0.0 : rest;
  double near_one = 2.0 * (head + (rest + root * tail));
  double near_minus_one = FL_PI_HIGH - 2.0 * (root + (root * tail - 0.5 * FL_PI_LOW));
  double middle = 0.5 * FL_PI_HIGH - (x - (0.5 * FL_PI_LOW - x * tail));
  double r = !large ? middle : x > 0 ? near_one : near_minus_one;
  return a <= 1 ? r : __builtin_nan("");
}

#endif
