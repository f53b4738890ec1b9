/* number.c: numbers, dates and texts into each other, against the C library and against big-integer
 * arithmetic. */
#include "check.h"
#include "data/number.h"
#include "data/number_internal.h"
#include "splitmix.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;
static uint64_t next(void) { return splitmix(&state); }

/* ---- the table of powers, by a big integer in 32-bit limbs --------------------------------------------- */

enum { LIMBS = 64 };

static int compare(const uint32_t *a, const uint32_t *b) {
  for (int k = LIMBS - 1; k >= 0; k--) {
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  }
  return 0;
}

static void add_shifted(uint32_t *a, const uint32_t *b, uint32_t factor) { /* a = a * factor + b */
  uint64_t carry = 0;
  for (int k = 0; k < LIMBS; k++) {
    carry += (uint64_t)a[k] * factor + b[k];
    a[k] = (uint32_t)carry;
    carry >>= 32;
  }
}

static int bit_length(const uint32_t *a) {
  for (int k = LIMBS - 1; k >= 0; k--) {
    if (a[k]) return 32 * k + 32 - __builtin_clz(a[k]);
  }
  return 0;
}

static int bit(const uint32_t *a, int at) { return at < 0 ? 0 : (int)(a[at / 32] >> at % 32) & 1; }

/* The top 128 bits of 5^n. */
static FlPower top_of(const uint32_t *a) {
  int n = bit_length(a);
  FlPower p = {0, 0};
  for (int k = 0; k < 128; k++) {
    uint64_t *half = k < 64 ? &p.hi : &p.lo;
    *half = *half << 1 | (uint64_t)bit(a, n - 1 - k);
  }
  return p;
}

/* 128 bits of 2^(bits - 1 + 128) / 5^n, by long division, plus one. */
static FlPower reciprocal_of(const uint32_t *a) {
  static const uint32_t zero[LIMBS];
  uint32_t rest[LIMBS] = {1};
  int n = bit_length(a);
  FlPower p = {0, 0};
  for (int k = 0; k < n - 1; k++) add_shifted(rest, zero, 2);
  for (int k = 0; k < 128; k++) {
    add_shifted(rest, zero, 2);
    int one = compare(rest, a) >= 0;
    if (one) {
      int64_t borrow = 0;
      for (int j = 0; j < LIMBS; j++) {
        borrow += (int64_t)rest[j] - a[j];
        rest[j] = (uint32_t)borrow;
        borrow >>= 32;
      }
    }
    uint64_t *half = k < 64 ? &p.hi : &p.lo;
    *half = *half << 1 | (uint64_t)one;
  }
  if (++p.lo == 0) p.hi++;
  return p;
}

static void test_powers(void) {
  static const uint32_t zero[LIMBS];
  uint32_t a[LIMBS] = {1};
  bool up = true, down = true;
  for (int q = 0; q <= -FL_POWER_MIN; q++) {
    FlPower p = top_of(a), r = reciprocal_of(a);
    if (q <= FL_POWER_MAX) {
      const FlPower *t = &fl_powers_of_five[q - FL_POWER_MIN];
      up = up && t->hi == p.hi && t->lo == p.lo;
    }
    if (q > 0) {
      const FlPower *t = &fl_powers_of_five[-q - FL_POWER_MIN];
      down = down && t->hi == r.hi && t->lo == r.lo;
    }
    add_shifted(a, zero, 5);
  }
  check(up, "positive powers");
  check(down, "negative powers");
}

/* ---- floats ------------------------------------------------------------------------------------------- */

static void prints(double x, const char *want) {
  char buf[FL_NUMBER_ROOM + 1], what[120];
  buf[fl_print_f64(buf, x)] = 0;
  snprintf(what, sizeof what, "print %.17g: %s, not %s", x, buf, want);
  check(strcmp(buf, want) == 0, "%s", what);
}

static void prints32(float x, const char *want) {
  char buf[FL_NUMBER_ROOM + 1], what[120];
  buf[fl_print_f32(buf, x)] = 0;
  snprintf(what, sizeof what, "print f32 %.9g: %s, not %s", (double)x, buf, want);
  check(strcmp(buf, want) == 0, "%s", what);
}

static void test_print(void) {
  prints(2, "2.0");
  prints(-0.0, "-0.0");
  prints(0, "0.0");
  prints(1e-9, "1e-9");
  prints(1e22, "1e22");
  prints(1e23, "1e23");
  prints(9007199254740993.0, "9007199254740992.0");
  prints(1e15, "1000000000000000.0");
  prints(1e16, "1e16");
  prints(0.0001, "0.0001");
  prints(0.00012345, "0.00012345");
  prints(0.00001, "1e-5");
  prints(1.5e-7, "1.5e-7");
  prints(0.1, "0.1");
  prints(0.1 + 0.2, "0.30000000000000004");
  prints(123456.789, "123456.789");
  prints(5e-324, "5e-324");
  prints(DBL_MIN, "2.2250738585072014e-308");
  prints(DBL_MAX, "1.7976931348623157e308");
  prints(9.5367431640625e-07, "9.5367431640625e-7");
  prints(HUGE_VAL, "inf");
  prints(-HUGE_VAL, "-inf");
  prints((double)NAN, "nan");
  prints(-(double)NAN, "nan");
  prints32(0.1f, "0.1");
  prints32(16777216.0f, "16777216.0");
  prints32(FLT_MAX, "3.4028235e38");
  prints32(1e-45f, "1e-45");
  prints32(3.0f, "3.0");
}

/* x prints to text that reads back the same, with as few digits as any text that does, and the closest of
 * those. */
static bool is_shortest(double x) {
  char buf[FL_NUMBER_ROOM + 1], ours[64], lib[64];
  double back = 0;
  int n = fl_print_f64(buf, x);
  buf[n] = 0;
  if (!fl_parse_f64(buf, n, &back) || memcmp(&back, &x, 8) || strtod(buf, NULL) != x) return false;
  int p = 0;
  do { snprintf(lib, sizeof lib, "%.*e", p++, x); } while (strtod(lib, NULL) != x);
  uint64_t digits;
  int exponent;
  fl_shortest_f64(x, &digits, &exponent);
  snprintf(ours, sizeof ours, "%llu", (unsigned long long)digits);
  if ((int)strlen(ours) != p)
    return (int)strlen(ours) < p; /* fewer: below a power of two the interval is lopsided */
  for (char *at = lib, *to = lib; (*to = *at); at++) to += *at != '.'; /* d.ddde+xx as ddde+xx */
  return strncmp(ours, lib, (size_t)p) == 0;
}

static void test_round_trip(void) {
  int bad = 0;
  for (int k = 0; k < 60000; k++) {
    uint64_t bits = next() & INT64_MAX;
    double x;
    memcpy(&x, &bits, 8);
    if (isfinite(x) && x != 0) bad += !is_shortest(x);
  }
  check(bad == 0, "random doubles are shortest and read back");
  for (int k = 0; k < 100000; k++) {
    double x = (double)(next() % 100000000) / 1000.0;
    if (x != 0) bad += !is_shortest(x);
  }
  check(bad == 0, "short decimals are shortest and read back");
  for (int e = 1; e < 2046; e++) {
    uint64_t bits = (uint64_t)e << 52;
    double x;
    memcpy(&x, &bits, 8);
    bad += !is_shortest(x) + !is_shortest(nextafter(x, 0)) + !is_shortest(nextafter(x, HUGE_VAL));
  }
  check(bad == 0, "powers of two and their neighbours");
  for (int k = 0; k < 200000; k++) {
    uint32_t bits = (uint32_t)next() & INT32_MAX;
    float x, back;
    char buf[FL_NUMBER_ROOM + 1];
    memcpy(&x, &bits, 4);
    if (!isfinite(x)) continue;
    int n = fl_print_f32(buf, x), p = 1;
    buf[n] = 0;
    bad += !fl_parse_f32(buf, n, &back) || back != x || strtof(buf, NULL) != x;
    char lib[64];
    do { snprintf(lib, sizeof lib, "%.*e", p++ - 1, (double)x); } while (strtof(lib, NULL) != x);
    int digits = 0;
    bool leading = true;
    for (char *c = buf; *c && *c != 'e'; c++) {
      if (*c >= '0' && *c <= '9' && (!leading || *c != '0')) {
        leading = false;
        digits++;
      }
    }
    bad += x != 0 && digits > p - 1 && strchr(buf, 'e');
  }
  check(bad == 0, "random floats");
}

static void reads(const char *s) {
  double x = 0, want = strtod(s, NULL);
  bool ok = fl_parse_f64(s, (int64_t)strlen(s), &x);
  float x32 = 0, want32 = strtof(s, NULL);
  bool ok32 = fl_parse_f32(s, (int64_t)strlen(s), &x32);
  if (isfinite(want) ? !ok || memcmp(&x, &want, 8) != 0 : ok) check(false, "%s", s);
  if (isfinite(want32) ? !ok32 || memcmp(&x32, &want32, 4) != 0 : ok32) check(false, "%s", s);
}

static void test_parse(void) {
  static const char *const hard[] = {"0",
                                     "-0",
                                     "0.0",
                                     "00012",
                                     "1.",
                                     ".5",
                                     "-.5e1",
                                     "+3",
                                     "1e0",
                                     "1E+2",
                                     "1e-2",
                                     "9007199254740993",
                                     "9007199254740992.5",
                                     "9007199254740993.00000000000000000000000000000001",
                                     "1e308",
                                     "1.7976931348623157e308",
                                     "1.7976931348623159e308",
                                     "1e309",
                                     "1e99999999999999",
                                     "-1e-99999999999",
                                     "2.2250738585072011e-308",
                                     "2.2250738585072014e-308",
                                     "4.9e-324",
                                     "2.4703282292062327e-324",
                                     "2.4703282292062328e-324",
                                     "1e-400",
                                     "0.000000000000000000000000000000000000000000000000000000000000000001",
                                     "123456789012345678901234567890",
                                     "0.1000000000000000055511151231257827021181583404541015625",
                                     "100000000000000016777215",
                                     "1e23",
                                     "8.5e22",
                                     "100000000000000016777216",
                                     "3.4028235e38",
                                     "3.4028236e38",
                                     "1.401298464324817e-45",
                                     "7.006492321624085e-46",
                                     "0.500000059604644775390625",
                                     "16777217",
                                     "16777217.0000000000000000000000000000000000000001",
                                     "6.631236871469758276785396630275967292e-73",
                                     "9.999999999999999999999999999999999999999e22"};
  for (size_t k = 0; k < sizeof hard / sizeof *hard; k++) reads(hard[k]);
  char s[100];
  for (int k = 0; k < 300000; k++) {
    int n = 1 + (int)(next() % 25), at = 0, point = (int)(next() % 26);
    for (int j = 0; j < n; j++) {
      if (j == point) s[at++] = '.';
      s[at++] = (char)('0' + next() % 10);
    }
    s[at] = 0;
    if (next() % 2) snprintf(s + at, 20, "e%d", (int)(next() % 660) - 340);
    reads(s);
  }
  for (int k = 0; k < 100000; k++) { /* just at and around halves */
    uint64_t bits = next() & INT64_MAX;
    double x;
    memcpy(&x, &bits, 8);
    if (!isfinite(x)) continue;
    snprintf(s, sizeof s, "%.*e", 15 + (int)(next() % 10), x);
    reads(s);
  }
  static const char *const wrong[] = {"",      "-",    "+",     ".",   "e5", "1e",   "1e+", "1 ",   " 1",
                                      "1.2.3", "0x10", "1_000", "--1", "in", "nanx", "1,5", "1e5.", "-.e1"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    double x;
    check(!fl_parse_f64(wrong[k], (int64_t)strlen(wrong[k]), &x), wrong[k]);
  }
  double x;
  check(fl_parse_f64("NaN", 3, &x) && isnan(x), "NaN");
  check(fl_parse_f64("-Inf", 4, &x) && x == -HUGE_VAL, "-Inf");
  check(fl_parse_f64("12345678|99", 8, &x) && x == 12345678, "stops at the length");
  char *zeros = malloc(5001);
  memset(zeros, '0', 5000);
  memcpy(zeros + 4990, "1234567.25", 10);
  check(fl_parse_f64(zeros, 5000, &x) && x == 1234567.25, "five thousand characters");
  free(zeros);
}

static void test_integers(void) {
  int64_t i = 0;
  uint64_t u = 0;
  char buf[FL_NUMBER_ROOM + 1];
  check(fl_parse_i64("-9223372036854775808", 20, &i) && i == INT64_MIN, "least i64");
  check(fl_parse_i64("9223372036854775807", 19, &i) && i == INT64_MAX, "greatest i64");
  check(!fl_parse_i64("9223372036854775808", 19, &i), "too great");
  check(!fl_parse_i64("-9223372036854775809", 20, &i), "too small");
  check(fl_parse_i64("+0000000000000000000000000012", 29, &i) && i == 12, "leading zeros");
  check(fl_parse_u64("18446744073709551615", 20, &u) && u == UINT64_MAX, "greatest u64");
  check(!fl_parse_u64("18446744073709551616", 20, &u), "u64 too great");
  check(!fl_parse_u64("-1", 2, &u), "negative u64");
  check(!fl_parse_i64("1.0", 3, &i) && !fl_parse_i64("", 0, &i) && !fl_parse_i64("-", 1, &i), "no integers");
  buf[fl_print_i64(buf, INT64_MIN)] = 0;
  check(strcmp(buf, "-9223372036854775808") == 0, "print least");
  buf[fl_print_u64(buf, UINT64_MAX)] = 0;
  check(strcmp(buf, "18446744073709551615") == 0, "print greatest");
  bool all = true;
  for (int k = 0; k < 100000; k++) {
    int64_t x = (int64_t)next() >> next() % 64;
    char lib[32];
    snprintf(lib, sizeof lib, "%lld", (long long)x);
    buf[fl_print_i64(buf, x)] = 0;
    all = all && !strcmp(buf, lib) && fl_parse_i64(buf, (int64_t)strlen(buf), &i) && i == x;
  }
  check(all, "random integers");
  bool b;
  check(fl_parse_bool("True", 4, &b) && b, "True");
  check(fl_parse_bool("false", 5, &b) && !b, "false");
  check(!fl_parse_bool("yes", 3, &b), "yes");
}

static void datetime(const char *s, int64_t want) {
  int64_t x = 0;
  check(fl_parse_datetime(s, (int64_t)strlen(s), &x) && x == want, "%s", s);
}

static void test_dates(void) {
  int32_t d = 0;
  char buf[FL_NUMBER_ROOM + 1];
  check(fl_parse_date("1970-01-01", 10, &d) && d == 0, "the first day");
  check(fl_parse_date("2000-02-29", 10, &d) && d == 11016, "a leap day");
  check(!fl_parse_date("1900-02-29", 10, &d) && !fl_parse_date("2026-13-01", 10, &d) &&
            !fl_parse_date("2026-1-01", 9, &d) && !fl_parse_date("2026-00-10", 10, &d) &&
            !fl_parse_date("2026/01/01", 10, &d) && !fl_parse_date("2026-04-31", 10, &d),
        "no dates");
  bool all = true;
  for (int32_t k = -719528; k < 2932897; k += 97) {
    int n = fl_print_date(buf, k);
    all = all && n == 10 && fl_parse_date(buf, n, &d) && d == k;
  }
  check(all, "dates of ten thousand years");
  datetime("1970-01-01 00:00", 0);
  datetime("1970-01-01T00:00:01Z", 1000000);
  datetime("1970-01-01T01:00:00+01:00", 0);
  datetime("1969-12-31T23:59:59.5Z", -500000);
  datetime("1970-01-01T00:00:00.123456789", 123456);
  datetime("1970-01-01T00:00-0030", 1800000000);
  int64_t t;
  check(!fl_parse_datetime("1970-01-01T24:00", 16, &t) && !fl_parse_datetime("1970-01-01T00:00:", 17, &t) &&
            !fl_parse_datetime("1970-01-01", 10, &t) && !fl_parse_datetime("1970-01-01T00:00+1", 18, &t),
        "no times");
  buf[fl_print_datetime(buf, -1)] = 0;
  check(strcmp(buf, "1969-12-31T23:59:59.999999Z") == 0, "%s", buf);
  buf[fl_print_duration(buf, 2 * 86400000000 + 3723500000)] = 0;
  check(strcmp(buf, "2d 01:02:03.5") == 0, "%s", buf);
  buf[fl_print_duration(buf, -1000000)] = 0;
  check(strcmp(buf, "-00:00:01") == 0, "%s", buf);
}

int main(void) {
  test_powers();
  test_print();
  test_round_trip();
  test_parse();
  test_integers();
  test_dates();
  return finish();
}
