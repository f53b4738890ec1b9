/* exact_ratio.c: quotients and roots of whole numbers that are hard to round, and made so: the product or
 * square of a double, or of the middle between two, times the divisor, and one more or less. */
#include "check.h"
#include "part/exact_ratio.h"

#include <math.h>

typedef unsigned __int128 Two;
static uint64_t state = 11;

static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* Of `bits` bits, the highest one set. */
static uint64_t draw_bits(int bits) { return draw() >> (64 - bits) | UINT64_C(1) << (bits - 1); }

/* v * 2^(2 * up), in four words. */
static FlWhole whole(uint64_t *word, Two v, int up) {
  int bits = 2 * up;
  word[0] = (uint64_t)(v << bits);
  word[1] = (uint64_t)(v << bits >> 64);
  word[2] = bits > 0 ? (uint64_t)(v >> (128 - bits)) : 0;
  word[3] = 0;
  return (FlWhole){word, 4, 2 * (int)(draw() % 900) - 900};
}

/* A double of 53 bits, or of 54 with the lowest set: then the middle of that below it and that above. */
static uint64_t draw_value(bool middle) { return middle ? draw_bits(53) << 1 | 1 : draw_bits(53); }

static double nearest(uint64_t value, bool middle, int side, int exponent) {
  if (!middle) return ldexp((double)value, exponent);
  uint64_t below = value >> 1, odd = below & 1;
  return ldexp((double)(below + (side > 0 || (side == 0 && odd))), exponent + 1);
}

/* A value times `by` and more, so that the result is just below, at, or just above it. */
static void one(bool root, bool middle) {
  uint64_t value = draw_value(middle), word[4];
  int most = root ? 127 - 2 * (53 + middle) : 64;
  uint64_t by = draw_bits(3 + (int)(draw() % (uint64_t)(most - 2)));
  int side = (int)(draw() % 3) - 1, up = (int)(draw() % 32);
  Two product = (root ? (Two)value * value : (Two)value) * by + (Two)(__int128)side;
  FlWhole a = whole(word, product, up), b = {&by, 1, 2 * (int)(draw() % 50)};
  int exponent = a.exponent + 2 * up - b.exponent;
  double out = root ? fl_exact_root(a, b) : fl_exact_ratio(a, b);
  double wanted = nearest(value, middle, side, root ? exponent / 2 : exponent);
  check(out == wanted, "root %d of middle %d, side %d: %a, not %a", root, middle, side, out, wanted);
}

/* The square of a root and what is below it, multiplied out: |r - root| is at most half a unit. */
static void any_root(void) {
  uint64_t a = draw() | 1, b = draw() >> (draw() % 60) | 1, word[2] = {0, a};
  double r = fl_exact_root((FlWhole){word, 2, -64}, (FlWhole){&b, 1, 0});
  long double half = ldexpl(1, ilogb(r) - 53), least = r - half, most = r + half;
  long double exact = sqrtl((long double)a / (long double)b);
  check(exact >= least * (1 - 0x1p-62L) && exact <= most * (1 + 0x1p-62L), "root of %llu / %llu: %a",
        (unsigned long long)a, (unsigned long long)b, r);
}

int main(void) {
  for (int k = 0; k < 50000; k++) {
    for (int kind = 0; kind < 4; kind++) one(kind & 1, kind >> 1);
    any_root();
  }
  /* the ends: subnormal, infinite, zero */
  uint64_t zero = 0, four = 4, is_one = 1;
  CHECK(fl_exact_root((FlWhole){&zero, 1, 0}, (FlWhole){&four, 1, 0}) == 0.0);
  CHECK(fl_exact_root((FlWhole){&four, 1, -2148}, (FlWhole){&is_one, 1, 0}) == 0x1p-1073);
  CHECK(fl_exact_root((FlWhole){&four, 1, 2046}, (FlWhole){&is_one, 1, 0}) == (double)INFINITY);
  CHECK(fl_exact_root((FlWhole){&is_one, 1, 2046}, (FlWhole){&is_one, 1, 0}) == 0x1p1023);
  return finish();
}
