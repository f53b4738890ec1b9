/* number_print.c: numbers as text; floats as the shortest text that reads back the same.
 *
 * Method: Schubfach, R. Giulietti, "The Schubfach way to render doubles" (2020), with the 128-bit powers
 * rounded up. What always holds: of the shortest decimals inside the rounding interval the closest to x is
 * taken. */
#include "data/number.h"
#include "data/number_internal.h"

#include <string.h>

const FlPower fl_powers_of_five[FL_POWER_MAX - FL_POWER_MIN + 1] = {
#include "data/powers.inc"
};

static const char two_digits[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

/* ---- integers ----------------------------------------------------------------------------------------- */

static int count_digits(uint64_t x) {
  int n = 1;
  for (; x >= 10000; x /= 10000) n += 4;
  return n + (x >= 10) + (x >= 100) + (x >= 1000);
}

/* Exactly n digits, ending at buf + n. */
static void put_digits(char *buf, uint64_t x, int n) {
  char *at = buf + n;
  while (n >= 2) {
    at -= 2;
    memcpy(at, two_digits + 2 * (x % 100), 2);
    x /= 100;
    n -= 2;
  }
  if (n) at[-1] = (char)('0' + x % 10);
}

int fl_print_u64(char *buf, uint64_t x) {
  int n = count_digits(x);
  put_digits(buf, x, n);
  return n;
}

int fl_print_i64(char *buf, int64_t x) {
  if (x >= 0) return fl_print_u64(buf, (uint64_t)x);
  *buf = '-';
  return 1 + fl_print_u64(buf + 1, -(uint64_t)x);
}

/* ---- shortest digits ---------------------------------------------------------------------------------- */

typedef struct FlDecimal {
  uint64_t digits;
  int exponent;
} FlDecimal;

static int floor_log2_pow10(int e) { return (e * 1741647) >> 19; }

/* 10^k to 128 bits, rounded up unless exact (0 <= k <= 55). */
static FlPower power_up(int k) {
  FlPower g = fl_powers_of_five[k - FL_POWER_MIN];
  if (k > 55 && ++g.lo == 0) g.hi++;
  return g;
}

/* The product's integer part, its lowest bit set when anything but a rounding trace was cut off. */
static uint64_t round_to_odd_128(FlPower g, uint64_t c) {
  FlU128 low = (FlU128)g.lo * c;
  FlU128 high = (FlU128)g.hi * c + (uint64_t)(low >> 64);
  return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static uint64_t round_to_odd_64(uint64_t g, uint32_t c) {
  FlU128 p = (FlU128)g * c;
  return (uint64_t)(p >> 64) | ((uint32_t)(p >> 32) > 1);
}

/* Chooses among the candidates: vb is four times the value in units of 10^k, [low, high] the interval
 * likewise. */
static FlDecimal choose(uint64_t low, uint64_t vb, uint64_t high, int k) {
  uint64_t s = vb / 4;
  if (s >= 10) {
    uint64_t t = s / 10;
    bool below = low <= 40 * t, above = 40 * t + 40 <= high;
    if (below != above) return (FlDecimal){t + above, k + 1};
  }
  bool below = low <= 4 * s, above = 4 * s + 4 <= high;
  if (below != above) return (FlDecimal){s + above, k};
  uint64_t middle = 4 * s + 2;
  bool up = vb > middle || (vb == middle && (s & 1));
  return (FlDecimal){s + up, k};
}

static FlDecimal shortest(uint64_t fraction, int biased, int fraction_bits, int bias) {
  uint64_t hidden = (uint64_t)1 << fraction_bits;
  uint64_t c = biased ? fraction | hidden : fraction;
  int q = (biased ? biased : 1) - bias - fraction_bits;
  if (q <= 0 && -q <= fraction_bits && (c & (((uint64_t)1 << -q) - 1)) == 0) return (FlDecimal){c >> -q, 0};
  bool closer = fraction == 0 && biased > 1; /* the lower neighbour is half as far */
  uint64_t odd = c & 1;
  int k = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
  int h = q + floor_log2_pow10(-k) + 1;
  FlPower g = power_up(-k);
  uint64_t low = 4 * c - 2 + closer, vb = 4 * c, high = 4 * c + 2;
  if (fraction_bits == 52) {
    low = round_to_odd_128(g, low << h);
    vb = round_to_odd_128(g, vb << h);
    high = round_to_odd_128(g, high << h);
  } else {
    uint64_t g64 = g.hi + (g.lo != 0);
    low = round_to_odd_64(g64, (uint32_t)(low << h));
    vb = round_to_odd_64(g64, (uint32_t)(vb << h));
    high = round_to_odd_64(g64, (uint32_t)(high << h));
  }
  return choose(low + odd, vb, high - odd, k);
}

static FlDecimal without_zeros(FlDecimal d) {
  while (d.digits % 100 == 0) {
    d.digits /= 100;
    d.exponent += 2;
  }
  if (d.digits % 10 == 0) {
    d.digits /= 10;
    d.exponent++;
  }
  return d;
}

/* ---- floats ------------------------------------------------------------------------------------------- */

static int put_exponent(char *buf, int e) {
  int n = 0;
  buf[n++] = 'e';
  if (e < 0) {
    buf[n++] = '-';
    e = -e;
  }
  return n + fl_print_u64(buf + n, (uint64_t)e);
}

/* Plain notation for 1e-4 <= x < 1e16, else with an exponent. */
static int put_decimal(char *buf, FlDecimal d) {
  int n = count_digits(d.digits), point = n + d.exponent; /* the value is 0.digits * 10^point */
  if (point > 16 || point < -3) {
    put_digits(buf + 1, d.digits, n);
    buf[0] = buf[1];
    if (n == 1) return 1 + put_exponent(buf + 1, point - 1);
    buf[1] = '.';
    return n + 1 + put_exponent(buf + n + 1, point - 1);
  }
  if (point <= 0) {
    memcpy(buf, "0.0000", 6);
    put_digits(buf + 2 - point, d.digits, n);
    return 2 - point + n;
  }
  if (d.exponent >= 0) {
    put_digits(buf, d.digits, n);
    memset(buf + n, '0', (size_t)d.exponent);
    memcpy(buf + point, ".0", 2);
    return point + 2;
  }
  put_digits(buf + 1, d.digits, n);
  memmove(buf, buf + 1, (size_t)point);
  buf[point] = '.';
  return n + 1;
}

static int put_special(char *buf, bool negative, bool nan) {
  if (nan) {
    memcpy(buf, "nan", 3);
    return 3;
  }
  memcpy(buf, "-inf", 4);
  if (negative) return 4;
  memcpy(buf, "inf", 3);
  return 3;
}

static int put_zero(char *buf) {
  memcpy(buf, "0.0", 3);
  return 3;
}

int fl_print_f64(char *buf, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bool negative = bits >> 63;
  int biased = (int)(bits >> 52) & 0x7ff;
  uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  if (biased == 0x7ff) return put_special(buf, negative, fraction != 0);
  *buf = '-';
  if (!biased && !fraction) return negative + put_zero(buf + negative);
  return negative + put_decimal(buf + negative, without_zeros(shortest(fraction, biased, 52, 1023)));
}

int fl_print_f32(char *buf, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bool negative = bits >> 31;
  int biased = (int)(bits >> 23) & 0xff;
  uint32_t fraction = bits & ((1u << 23) - 1);
  if (biased == 0xff) return put_special(buf, negative, fraction != 0);
  *buf = '-';
  if (!biased && !fraction) return negative + put_zero(buf + negative);
  return negative + put_decimal(buf + negative, without_zeros(shortest(fraction, biased, 23, 127)));
}

void fl_shortest_f64(double x, uint64_t *digits, int *exponent) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  FlDecimal d =
      without_zeros(shortest(bits & (((uint64_t)1 << 52) - 1), (int)(bits >> 52) & 0x7ff, 52, 1023));
  *digits = d.digits;
  *exponent = d.exponent;
}
