/* number_parse.c: texts as numbers, correctly rounded.
 *
 * Method: W. Clinger's exact case for short numbers, then D. Lemire, "Number parsing at a gigabyte per
 * second" (2021), section 5 to 8: one or two 64-bit products with a 128-bit power of five; the few that this
 * leaves open (and those of more than 19 digits whose neighbours differ) go to strtod. What always holds:
 * nothing beyond s[len - 1] is read. */
#include "data/number.h"
#include "data/number_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The format that a decimal is rounded to. */
typedef struct FlFormat {
  int fraction_bits, bias, max_biased; /* max_biased: of infinity */
  int even_min, even_max;              /* exponents of ten at which exact halves can occur */
} FlFormat;

/* w * 10^q rounded, as bits without sign; false: cannot tell. w may be zero. */
static bool round_decimal(FlFormat f, uint64_t w, int64_t q, uint64_t *bits) {
  if (w == 0 || q < -342) return *bits = 0, true;
  if (q > 308) return *bits = (uint64_t)f.max_biased << f.fraction_bits, true;
  int zeros = __builtin_clzll(w);
  w <<= zeros;
  FlPower p = fl_powers_of_five[q - FL_POWER_MIN];
  FlU128 product = (FlU128)w * p.hi;
  uint64_t mask = UINT64_MAX >> (f.fraction_bits + 3);
  if (((uint64_t)(product >> 64) & mask) == mask) product += ((FlU128)w * p.lo) >> 64;
  uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
  if (low == UINT64_MAX && (q < -27 || q > 55)) return false;
  int upper = (int)(high >> 63), shift = upper + 64 - f.fraction_bits - 3;
  uint64_t m = high >> shift;
  int64_t e = ((217706 * q) >> 16) + 63 + upper - zeros + f.bias;
  if (e <= 0) { /* subnormal, or rounded up to the least normal number */
    if (1 - e >= 64) return *bits = 0, true;
    m >>= 1 - e;
    m = (m + (m & 1)) >> 1;
    return *bits = m, true;
  }
  /* Exactly halfway: to even. */
  if (low <= 1 && q >= f.even_min && q <= f.even_max && (m & 3) == 1 && m << shift == high) m &= ~(uint64_t)1;
  m = (m + (m & 1)) >> 1;
  if (m >> (f.fraction_bits + 1)) {
    m >>= 1;
    e++;
  }
  if (e >= f.max_biased) return *bits = (uint64_t)f.max_biased << f.fraction_bits, true;
  *bits = (m & (((uint64_t)1 << f.fraction_bits) - 1)) | (uint64_t)e << f.fraction_bits;
  return true;
}

/* What a text says: (-1)^negative * w * 10^q, w its first 19 significant digits. */
typedef struct FlScanned {
  uint64_t w;
  int64_t q;
  bool negative, cut; /* cut: w leaves digits out that are not all zero */
} FlScanned;

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static bool eight_digits(uint64_t v) {
  return ((v & 0xf0f0f0f0f0f0f0f0u) | (((v + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4)) ==
         0x3333333333333333u;
}

/* Eight ASCII digits, the first in the lowest byte (Lemire, 2018). */
static uint32_t eight_value(uint64_t v) {
  v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
  v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
  return (uint32_t)((v & 0x0000ffff0000ffffu) * 42949672960001u >> 32);
}

static const char *scan_digits(const char *s, const char *end, uint64_t *w) {
  uint64_t x = *w, v;
  while (end - s >= 8 && (memcpy(&v, s, 8), eight_digits(v))) {
    x = x * 100000000 + eight_value(v);
    s += 8;
  }
  for (; s < end && is_digit(*s); s++) x = x * 10 + (uint64_t)(*s - '0');
  *w = x;
  return s;
}

/* w from the first 19 significant digits of a number that has more; q moves along. */
static void scan_long(const char *digits, const char *end, FlScanned *out) {
  uint64_t w = 0;
  int n = 0;
  int64_t dropped = 0, after_point = 0;
  bool point = false;
  out->cut = false;
  for (const char *s = digits; s < end && (is_digit(*s) || *s == '.'); s++) {
    if (*s == '.') {
      point = true;
      continue;
    }
    after_point += point;
    if (n < 19) {
      w = w * 10 + (uint64_t)(*s - '0');
      n += w != 0;
    } else {
      dropped++;
      out->cut |= *s != '0';
    }
  }
  out->w = w;
  out->q += dropped - after_point;
}

static bool scan(const char *s, const char *end, FlScanned *out) {
  *out = (FlScanned){0};
  if (s < end && (*s == '-' || *s == '+')) out->negative = *s++ == '-';
  const char *digits = s;
  s = scan_digits(s, end, &out->w);
  int64_t n = s - digits, fraction = 0;
  if (s < end && *s == '.') {
    const char *after = ++s;
    s = scan_digits(s, end, &out->w);
    fraction = s - after;
    n += fraction;
  }
  if (n == 0) return false;
  const char *digits_end = s;
  int64_t exponent = 0;
  if (s < end && (*s == 'e' || *s == 'E')) {
    bool minus = false;
    if (++s < end && (*s == '-' || *s == '+')) minus = *s++ == '-';
    if (s == end) return false;
    for (; s < end && is_digit(*s); s++) {
      if (exponent < 1000000) exponent = exponent * 10 + (*s - '0');
    }
    if (!is_digit(s[-1])) return false;
    if (minus) exponent = -exponent;
  }
  if (s != end) return false;
  out->q = exponent;
  if (n > 19) {
    scan_long(digits, digits_end, out);
  } else {
    out->q -= fraction;
  }
  return true;
}

static bool word_is(const char *s, const char *end, const char *word) {
  return (size_t)(end - s) == strlen(word) && strncasecmp(s, word, strlen(word)) == 0;
}

static bool parse_special(const char *s, const char *end, double *out) {
  bool negative = false;
  if (s < end && (*s == '-' || *s == '+')) negative = *s++ == '-';
  if (word_is(s, end, "nan")) {
    *out = (double)NAN;
  } else if (word_is(s, end, "inf") || word_is(s, end, "infinity")) {
    *out = negative ? -HUGE_VAL : HUGE_VAL;
  } else {
    return false;
  }
  return true;
}

/* The slow exact way; `single` rounds to f32. The text is a number. */
static double by_library(const char *s, int64_t len, bool single) {
  char small[1000], *copy = len < (int64_t)sizeof small ? small : malloc((size_t)len + 1);
  if (!copy) return HUGE_VAL;
  memcpy(copy, s, (size_t)len);
  copy[len] = 0;
  double x = single ? (double)strtof(copy, NULL) : strtod(copy, NULL);
  if (copy != small) free(copy);
  return x < 0 ? -x : x;
}

static bool round_scanned(FlFormat f, const FlScanned *n, uint64_t *bits) {
  uint64_t next;
  if (!round_decimal(f, n->w, n->q, bits)) return false;
  return !n->cut || (round_decimal(f, n->w + 1, n->q, &next) && next == *bits);
}

bool fl_parse_f64(const char *s, int64_t len, double *out) {
  static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  static const FlFormat format = {52, 1023, 0x7ff, -4, 23};
  FlScanned n;
  if (!scan(s, s + len, &n)) return parse_special(s, s + len, out);
  double x;
  if (n.w <= (uint64_t)1 << 53 && n.q >= -22 && n.q <= 22 && !n.cut) {
    x = n.q < 0 ? (double)n.w / tens[-n.q] : (double)n.w * tens[n.q];
  } else {
    uint64_t bits;
    if (round_scanned(format, &n, &bits)) {
      memcpy(&x, &bits, sizeof x);
    } else {
      x = by_library(s, len, false);
    }
    if (x > DBL_MAX) return false;
  }
  *out = n.negative ? -x : x;
  return true;
}

bool fl_parse_f32(const char *s, int64_t len, float *out) {
  static const FlFormat format = {23, 127, 0xff, -17, 10};
  FlScanned n;
  double wide;
  if (!scan(s, s + len, &n)) {
    if (!parse_special(s, s + len, &wide)) return false;
    *out = (float)wide;
    return true;
  }
  uint64_t bits;
  float x;
  if (round_scanned(format, &n, &bits)) {
    uint32_t narrow = (uint32_t)bits;
    memcpy(&x, &narrow, sizeof x);
  } else {
    x = (float)by_library(s, len, true);
  }
  if (x > FLT_MAX) return false;
  *out = n.negative ? -x : x;
  return true;
}

/* Digits alone; false: none, another character, or more than fits. */
static bool parse_magnitude(const char *s, const char *end, uint64_t *out) {
  if (s == end) return false;
  if (end - s <= 19) {
    uint64_t x = 0;
    if (scan_digits(s, end, &x) != end) return false;
    *out = x;
    return true;
  }
  uint64_t x = 0;
  for (; s < end; s++) {
    if (!is_digit(*s) || __builtin_mul_overflow(x, (uint64_t)10, &x) ||
        __builtin_add_overflow(x, (uint64_t)(*s - '0'), &x))
      return false;
  }
  *out = x;
  return true;
}

bool fl_parse_u64(const char *s, int64_t len, uint64_t *out) {
  bool plus = len && *s == '+';
  return parse_magnitude(s + plus, s + len, out);
}

bool fl_parse_i64(const char *s, int64_t len, int64_t *out) {
  bool negative = len && *s == '-', sign = negative || (len && *s == '+');
  uint64_t x;
  if (!parse_magnitude(s + sign, s + len, &x) || x > (uint64_t)INT64_MAX + negative) return false;
  *out = (int64_t)(negative ? -x : x);
  return true;
}

bool fl_parse_bool(const char *s, int64_t len, bool *out) {
  if (len == 4 && (!memcmp(s, "true", 4) || !memcmp(s, "True", 4) || !memcmp(s, "TRUE", 4))) {
    *out = true;
  } else if (len == 5 && (!memcmp(s, "false", 5) || !memcmp(s, "False", 5) || !memcmp(s, "FALSE", 5))) {
    *out = false;
  } else {
    return false;
  }
  return true;
}
