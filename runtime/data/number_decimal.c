/* number_decimal.c: decimals as text. In: units and their scale; a text. Out: digits, as many behind the
 * point as the scale says; units, where the text is exactly so many of them. */
#include "data/number.h"

#include <string.h>

int fl_print_decimal(char *buf, int64_t units, int scale) {
  char digits[24];
  int n = 0, at = 0;
  uint64_t rest = units < 0 ? 0 - (uint64_t)units : (uint64_t)units;
  for (; rest || n <= scale; rest /= 10) digits[n++] = (char)('0' + rest % 10);
  if (units < 0) buf[at++] = '-';
  while (n) {
    if (n == scale) buf[at++] = '.';
    buf[at++] = digits[--n];
  }
  return at;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* What follows e or E; false: it is no exponent. */
static bool exponent_of(const char *s, const char *end, int64_t *out) {
  bool minus = s < end && *s == '-';
  if (s < end && (*s == '-' || *s == '+')) s++;
  if (s == end) return false;
  *out = 0;
  for (; s < end && is_digit(*s); s++)
    if (*out < 1000000) *out = *out * 10 + (*s - '0');
  if (minus) *out = -*out;
  return s == end;
}

bool fl_parse_decimal(const char *s, int64_t len, int scale, int64_t *out) {
  const char *end = s + len;
  bool negative = len && *s == '-', point = false, over = false;
  int64_t n = 0, zeros = 0, exponent = 0, power = 0; /* the value is w * 10^(power + zeros) */
  uint64_t w = 0;
  if (len && (*s == '-' || *s == '+')) s++;
  for (; s < end && (is_digit(*s) || (*s == '.' && !point)); s++) {
    if (*s == '.') {
      point = true;
      continue;
    }
    n++;
    power -= point;
    zeros++; /* those at the end are kept apart */
    if (*s == '0') continue;
    for (; zeros > 1; zeros--) over |= __builtin_mul_overflow(w, 10, &w);
    over |= __builtin_mul_overflow(w, 10, &w) || __builtin_add_overflow(w, (uint64_t)(*s - '0'), &w);
    zeros = 0;
  }
  if (!n || (s < end && *s != 'e' && *s != 'E') || (s < end && !exponent_of(s + 1, end, &exponent)))
    return false;
  power += zeros + exponent + scale;
  if (over || (w && power < 0)) return false;
  for (; w && power > 0; power--)
    if (__builtin_mul_overflow(w, 10, &w)) return false;
  if (w > (uint64_t)INT64_MAX + negative) return false;
  *out = (int64_t)(negative ? 0 - w : w);
  return true;
}
