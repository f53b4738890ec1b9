/* scalar.c: the scalar operators: checked integers, conversions, rounding, Philox, calendar, texts and
 * formats. */
#include "check.h"
#include "kern/kern.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- integers against 128-bit arithmetic ------------------------------------------------------------- */

static void integers(void) {
  static const int64_t v[] = {0,
                              1,
                              -1,
                              2,
                              -2,
                              3,
                              7,
                              10,
                              -10,
                              127,
                              -128,
                              INT32_MAX,
                              INT32_MIN,
                              3037000499,
                              3037000500,
                              -3037000500,
                              INT64_MAX,
                              INT64_MIN,
                              1ll << 62,
                              -(1ll << 62),
                              INT64_MAX - 1,
                              INT64_MIN + 1,
                              4294967296};
  const int n = (int)(sizeof v / sizeof *v);
  int wrong = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int64_t a = v[i], b = v[j];
      __int128 exact[3] = {(__int128)a + b, (__int128)a - b, (__int128)a * b};
      int32_t f[3] = {0, 0, 0};
      int64_t got[3] = {fl_s_add_i64(a, b, &f[0]), fl_s_sub_i64(a, b, &f[1]), fl_s_mul_i64(a, b, &f[2])};
      for (int k = 0; k < 3; k++)
        wrong += got[k] != (int64_t)exact[k] || f[k] != (got[k] == exact[k] ? 0 : FL_FAULT_OVERFLOW);
      uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
      int32_t uf = 0;
      wrong += fl_s_mul_u64(ua, ub, &uf) != ua * ub;
      wrong += (uf != 0) != ((unsigned __int128)ua * ub >> 64 != 0);
      int32_t df = 0, mf = 0;
      int64_t q = fl_s_floordiv_i64(a, b, &df), r = fl_s_mod_i64(a, b, &mf);
      if (b == 0) wrong += df != FL_FAULT_DIV_ZERO || mf != FL_FAULT_DIV_ZERO;
      else if (a == INT64_MIN && b == -1) wrong += df != FL_FAULT_OVERFLOW || mf != 0 || r != 0;
      else
        wrong += df != 0 || mf != 0 || (__int128)q * b + r != a || (r != 0 && (r < 0) != (b < 0)) ||
                 (b > 0 ? r >= b : r <= b);
    }
  CHECK(wrong == 0);
  wrong = 0;
  for (int a = -128; a < 128; a++)
    for (int b = -128; b < 128; b++) {
      int32_t f = 0;
      int8_t m = fl_s_mul_i8((int8_t)a, (int8_t)b, &f);
      wrong += m != (int8_t)(a * b) || (f != 0) != (a * b != (int8_t)(a * b));
      f = 0;
      fl_s_add_i8((int8_t)a, (int8_t)b, &f);
      wrong += (f != 0) != (a + b != (int8_t)(a + b));
      f = 0;
      fl_s_sub_u8((uint8_t)(a + 128), (uint8_t)(b + 128), &f);
      wrong += (f != 0) != (a < b);
    }
  CHECK(wrong == 0);
  int32_t f = 0;
  CHECK(fl_s_pow_i64(3, 39, &f) == 4052555153018976267 && f == 0);
  CHECK(fl_s_pow_i64(-2, 63, &f) == INT64_MIN && f == 0);
  CHECK(fl_s_pow_i64(0, 0, &f) == 1 && f == 0);
  fl_s_pow_i64(2, 63, &f);
  CHECK(f == FL_FAULT_OVERFLOW);
  f = 0;
  fl_s_pow_i64(2, -1, &f);
  CHECK(f == FL_FAULT_NEG_POWER);
  f = 0;
  fl_s_neg_i64(INT64_MIN, &f);
  CHECK(f == FL_FAULT_OVERFLOW);
  f = 0;
  fl_s_abs_i8(-128, &f);
  CHECK(f == FL_FAULT_OVERFLOW);
  CHECK(fl_s_sign_i64(-9) == -1 && fl_s_sign_u8(3) == 1 && fl_s_wrap_add_i8(127, 1) == -128);
}

/* ---- floats, conversions ----------------------------------------------------------------------------- */

static bool same(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void floats(void) {
  int32_t f = 0;
  CHECK(same(fl_s_mod_f64(7.5, -2, &f), -0.5) && same(fl_s_mod_f64(-7.5, 2, &f), 0.5));
  CHECK(same(fl_s_mod_f64(-4, 2, &f), 0.0) && isnan(fl_s_mod_f64(1, 0, &f)) &&
        same(fl_s_mod_f64(-1, INFINITY, &f), INFINITY));
  CHECK(same(fl_s_floordiv_f64(1.0, 0.1, &f), 9.0) && same(fl_s_floordiv_f64(-7, 2, &f), -4.0));
  CHECK(same(fl_s_floordiv_f64(-1, INFINITY, &f), -1.0) && same(fl_s_floordiv_f64(1, 0, &f), INFINITY));
  CHECK(same(fl_s_min_f64(NAN, 1), NAN) && same(fl_s_min_f64(1, NAN), NAN) &&
        same(fl_s_max_f64(0.0, -0.0), 0.0));
  CHECK(same(fl_s_min_f64(-0.0, 0.0), -0.0) && same(fl_s_min_f64(2, 1), 1) && fl_s_max_i64(2, 3) == 3);
  CHECK(fl_bits_f64(fl_s_canon_f64(-fl_f64_bits(0x7ff8000000001234))) == 0x7ff8000000000000);
  CHECK(same(fl_s_pow_f64(3, 2, &f), 9) && same(fl_s_pow_f64(2, 0.5, &f), sqrt(2)) &&
        same(fl_s_pow_f32(2, 10, &f), 1024));
  CHECK(same(fl_s_fma_f64(0x1p-30 + 1, 0x1p-30 + 1, -1), fma(0x1p-30 + 1, 0x1p-30 + 1, -1)));
  CHECK(same((double)fl_s_exp_f32(1.0f), (double)2.7182818f) && same(fl_s_sqrt_f64(2), sqrt(2)));
  CHECK(f == 0);

  CHECK(fl_s_convert_f64_i64(-0x1p63, &f) == INT64_MIN && f == 0);
  fl_s_convert_f64_i64(0x1p63, &f);
  CHECK(f == FL_FAULT_NARROW);
  f = 0;
  fl_s_convert_f64_i32(2.5, &f);
  CHECK(f == FL_FAULT_NARROW);
  f = 0;
  fl_s_convert_f64_u8(NAN, &f);
  CHECK(f == FL_FAULT_NARROW);
  f = 0;
  fl_s_convert_i64_u64(-1, &f);
  CHECK(f == FL_FAULT_NARROW);
  f = 0;
  fl_s_convert_u64_i64(UINT64_MAX, &f);
  CHECK(f == FL_FAULT_NARROW);
  f = 0;
  CHECK(fl_s_convert_i64_u8(255, &f) == 255 && fl_s_convert_u8_i8(127, &f) == 127 && f == 0);
  fl_s_convert_u8_i8(128, &f);
  CHECK(f == FL_FAULT_NARROW);
  f = 0;
  CHECK(isinf(fl_s_convert_f64_f32(1e300, &f)) && f == 0);
  CHECK(fl_s_convert_bool_i64(1, &f) == 1 && fl_s_convert_bool_f64(1, &f) == 1 && f == 0);

  CHECK(fl_s_round_f64(2.5, &f) == 2 && fl_s_round_f64(3.5, &f) == 4 && fl_s_round_f64(-0.5, &f) == 0);
  CHECK(fl_s_round_f64(0x1.fffffffffffffp-2, &f) == 0 && fl_s_floor_f64(-0.1, &f) == -1 &&
        fl_s_ceil_f64(0.1, &f) == 1);
  CHECK(fl_s_trunc_f64(-1.9, &f) == -1 && f == 0);
  fl_s_round_f64(INFINITY, &f);
  CHECK(f == FL_FAULT_NARROW);
  CHECK(same(fl_s_round_digits_f64(2.675, 2), 2.67) && same(fl_s_round_digits_f64(1.115, 2), 1.11));
  CHECK(same(fl_s_round_digits_f64(0.125, 2), 0.12) && same(fl_s_round_digits_f64(-1234.5, -2), -1200));
  CHECK(same(fl_s_round_digits_f64(1250, -2), 1200) && same(fl_s_round_digits_f64(1e300, 2), 1e300));
  CHECK(same(fl_s_round_digits_f64(1.5, 40), 1.5) && same(fl_s_round_digits_f64(1.5, -40), 0.0));
}

/* ---- random numbers ---------------------------------------------------------------------------------- */

/* Vectors of the authors' Random123 library, file kat_vectors, philox4x32 10. */
static void random_numbers(void) {
  static const uint32_t kat[3][10] = {{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                      {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
                                       0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
                                       0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  for (int i = 0; i < 3; i++) {
    const uint32_t *k = kat[i];
    FlRandomWords w = fl_philox(k[0], k[1], k[2], k[3], k[4], k[5]);
    CHECK((uint32_t)w.w0 == k[6] && (uint32_t)w.w1 == k[7] && (uint32_t)w.w2 == k[8] &&
          (uint32_t)w.w3 == k[9]);
  }
  CHECK(fl_s_random(0, 0, 0) == (double)(0xe169c58d6627e8d5u >> 11) * 0x1p-53);
  CHECK(fl_s_random(0, 1, 0) == (double)(0x9b00dbd8bc57ac4cu >> 11) * 0x1p-53);
  for (int bit = 0; bit < 64; bit++) {
    const uint64_t words[] = {(uint64_t)1 << bit, ((uint64_t)1 << bit) - 1, ~((uint64_t)1 << bit),
                              0 - ((uint64_t)1 << bit)};
    for (int k = 0; k < 4; k++)
      CHECK(fl_unit_f64(words[k] & 0xffffffff, words[k] >> 32) == (double)(words[k] >> 11) * 0x1p-53);
  }
  static const int64_t bases[] = {0, 64, 0xffffffc0, 0x100000000, 0x3fffffffffffffc0};
  for (int b = 0; b < 5; b++) {
    for (int64_t k = 0; k < 64; k++) {
      double second, first = fl_s_random_two(-5, bases[b], k, 3, &second);
      int64_t at = 2 * (bases[b] + k);
      CHECK(first == fl_s_random(-5, at, 3) && second == fl_s_random(-5, at + 1, 3));
    }
  }
  const int N = 200000;
  double sum = 0, squares = 0, normal = 0, normal2 = 0, normal4 = 0;
  bool inside = true;
  int64_t counts[7] = {0};
  int32_t f = 0;
  for (int i = 0; i < N; i++) {
    double u = fl_s_random(42, i, 0), z = fl_s_random_normal(42, i, 0);
    inside &= u >= 0 && u < 1;
    sum += u;
    squares += u * u;
    normal += z;
    normal2 += z * z;
    normal4 += z * z * z * z;
    int64_t k = fl_s_random_int(42, -3, 4, i, 0, &f);
    inside &= k >= -3 && k < 4;
    counts[(k + 3) % 7]++;
  }
  CHECK(inside && f == 0);
  CHECK(fabs(sum / N - 0.5) < 0.004 && fabs(squares / N - 1.0 / 3) < 0.004);
  CHECK(fabs(normal / N) < 0.012 && fabs(normal2 / N - 1) < 0.02 && fabs(normal4 / N - 3) < 0.15);
  for (int k = 0; k < 7; k++) CHECK(fabs((double)counts[k] - N / 7.0) < 900);
  CHECK(fl_s_random_int(1, INT64_MIN, INT64_MAX, 5, 5, &f) !=
        fl_s_random_int(1, INT64_MIN, INT64_MAX, 6, 5, &f));
  fl_s_random_int(1, 4, 4, 0, 0, &f);
  CHECK(f == FL_FAULT_DOMAIN);
  CHECK(fl_s_random(1, 2, 3) != fl_s_random(1, 3, 2) && fl_s_random(1, 0, -1) != fl_s_random(1, 0, 1));
  CHECK(fl_s_subseed(1, 0) != fl_s_subseed(1, 1) && fl_s_subseed(1, 0) != fl_s_subseed(2, 0));
}

/* ---- calendar ---------------------------------------------------------------------------------------- */

static int32_t date(int64_t y, int64_t m, int64_t d) { return (int32_t)fl_days_from_civil(y, m, d); }

static void calendar(void) {
  int wrong = 0;
  int64_t y = 1599, m = 12, d = 31;
  for (int32_t day = date(1600, 1, 1); day < date(2401, 1, 1); day++) { /* walk a calendar beside */
    if (++d > fl_month_length(y, m)) d = 1, m++;
    if (m > 12) m = 1, y++;
    wrong += fl_s_date_year(day) != y || fl_s_date_month(day) != m || fl_s_date_day(day) != d ||
             date(y, m, d) != day;
  }
  CHECK(wrong == 0);
  for (int64_t k = -14000; k < 14000; k++)
    wrong += fl_floor_div_near(k * 146097, 146097) != k || fl_floor_div_near(k * 146097 - 1, 146097) != k - 1;
  CHECK(wrong == 0);
  CHECK(fl_month_length(2000, 2) == 29 && fl_month_length(1900, 2) == 28 && fl_month_length(2023, 8) == 31 &&
        fl_month_length(2023, 9) == 30);
  CHECK(fl_s_date_weekday(0) == 4 && fl_s_date_weekday(-4) == 7 &&
        fl_s_date_weekday(date(2026, 11, 21)) == 6);
  int32_t f = 0, t = date(2026, 11, 21);
  CHECK(fl_s_date_trunc("month", 5, t, &f) == date(2026, 11, 1) &&
        fl_s_date_trunc("year", 4, t, &f) == date(2026, 1, 1));
  CHECK(fl_s_date_trunc("quarter", 7, t, &f) == date(2026, 10, 1) &&
        fl_s_date_trunc("week", 4, t, &f) == date(2026, 11, 16));
  CHECK(fl_s_date_trunc("day", 3, t, &f) == t && f == 0);
  fl_s_date_trunc("moon", 4, t, &f);
  CHECK(f == FL_FAULT_DOMAIN);
  f = 0;
  CHECK(fl_s_add_months(date(2024, 1, 31), 1, &f) == date(2024, 2, 29) &&
        fl_s_add_months(date(2024, 3, 31), -13, &f) == date(2023, 2, 28));
  CHECK(f == 0);
  fl_s_add_months(0, INT64_MAX, &f);
  CHECK(f == FL_FAULT_OVERFLOW);
  f = 0;
  fl_s_date_add(FL_DAY_MICROS, INT32_MAX, &f);
  CHECK(f == FL_FAULT_OVERFLOW);
  f = 0;
  CHECK(fl_s_date_add(-2 * FL_DAY_MICROS, 1, &f) == -1 && f == 0);
  fl_s_date_add(FL_DAY_MICROS / 2, 1, &f);
  CHECK(f == FL_FAULT_DOMAIN);
  f = 0;
  fl_s_date_to_datetime(INT32_MAX, &f);
  CHECK(f == FL_FAULT_OVERFLOW);
  f = 0;
  CHECK(fl_s_datetime_to_date(-1) == -1 && fl_s_datetime_hour(-1) == 23 && fl_s_datetime_minute(-1) == 59);
  CHECK(fl_s_date_to_datetime(-1, &f) == -FL_DAY_MICROS && fl_s_date_diff(3, 1) == 2 * FL_DAY_MICROS);
  f = 0;
  CHECK(fl_s_duration_ratio(3, 2, &f) == 1.5 && fl_s_duration_of(7, FL_DAY_MICROS, &f) == 7 * FL_DAY_MICROS &&
        f == 0);
}

/* Days as far as there are dates: each 400 years are the same calendar. */
static bool is_far_day(int32_t day) {
  int64_t eras = day / 146097, near = day % 146097;
  int32_t like = (int32_t)near;
  return fl_s_date_year(day) == fl_s_date_year(like) + 400 * eras &&
         fl_s_date_day(day) == fl_s_date_day(like) && fl_s_date_month(day) == fl_s_date_month(like) &&
         fl_s_date_weekday(day) == fl_s_date_weekday(like);
}

/* Moments as far as there are any, beside division of more bits. */
static bool is_moment(int64_t t) {
  const __int128 day = FL_DAY_MICROS, shifted = t + (day << 40); /* a multiple of days: not negative */
  int64_t days = (int64_t)(shifted / day - ((__int128)1 << 40)), of_day = (int64_t)(shifted % day);
  return fl_s_datetime_to_date(t) == days && fl_s_datetime_hour(t) == of_day / INT64_C(3600000000) &&
         fl_s_datetime_minute(t) == of_day / 60000000 % 60 &&
         fl_s_datetime_second(t) == of_day / 1000000 % 60;
}

static void far_calendar(void) {
  int wrong = 0;
  for (int64_t k = 0; k < 200000; k++) {
    uint64_t bits = (uint64_t)fl_s_subseed(7, k);
    int64_t t = (int64_t)bits >> (bits % 40), midnight = t / FL_DAY_MICROS * FL_DAY_MICROS;
    wrong += !is_far_day((int32_t)(bits >> 32)) + !is_moment(t);
    wrong += !is_moment(midnight) + !is_moment(midnight - 1);
    wrong += !is_moment(t / 3600000000 * 3600000000) + !is_moment(t / 3600000000 * 3600000000 - 1);
  }
  CHECK(wrong == 0);
  for (int64_t k = 0; k < 4; k++) {
    CHECK(is_moment(INT64_MIN + k) && is_moment(INT64_MAX - k) && is_moment(k - 2));
    CHECK(is_far_day((int32_t)(INT32_MIN + k)) && is_far_day((int32_t)(INT32_MAX - k)));
    CHECK(is_moment(-INT64_C(106751991) * FL_DAY_MICROS + k - 2) &&
          is_moment(INT64_C(106751991) * FL_DAY_MICROS + k - 2));
  }
}

/* ---- texts ------------------------------------------------------------------------------------------- */

/* The texts made here live in a heap of the test's own, so that nothing but the functions under test is
 * linked. */
struct FlHeap {
  char bytes[1 << 16];
  int64_t used;
};
static FlHeap own_heap, *heap = &own_heap;
char *fl_heap_alloc(FlHeap *h, int64_t bytes) {
  char *at = h->bytes + h->used;
  h->used += bytes;
  if (h->used > (int64_t)sizeof h->bytes) __builtin_trap();
  return at;
}
char *fl_heap_append(FlHeap *h, const char *text, int64_t n, int64_t more) {
  (void)text;
  return fl_heap_alloc(h, n + more);
}
FlText fl_heap_text(FlHeap *h, const char *text, int64_t n) {
  return n > 0 ? (FlText){memcpy(fl_heap_alloc(h, n), text, (size_t)n), n} : (FlText){NULL, 0};
}
#define S(s) (s), (int64_t)strlen(s)
static bool is(FlText t, const char *s) { return fl_s_eq_text(t.ptr, t.len, S(s)); }

static void texts(void) {
  CHECK(fl_s_n_chars(S("héllo😀")) == 6 && fl_s_n_chars(NULL, 0) == 0);
  char some[700]; /* of any bytes, also where what follows is not to be counted */
  uint32_t seed = 1;
  for (int round = 0; round < 2000; round++) {
    for (size_t i = 0; i < sizeof some; i++) some[i] = (char)((seed = seed * 1664525u + 1013904223u) >> 24);
    int64_t n = round % 701, leads = 0;
    for (int64_t i = 0; i < n; i++) leads += ((unsigned char)some[i] & 0xC0) != 0x80;
    CHECK(fl_s_n_chars(some, n) == leads);
  }
  CHECK(is(fl_s_text_slice(S("héllo😀!"), 1, 6), "éllo😀") && is(fl_s_text_slice(S("abc"), -5, 99), "abc") &&
        is(fl_s_text_slice(S("héllo"), -4, -1), "éll"));
  CHECK(is(fl_s_text_slice(S("abc"), 2, 1), "") && is(fl_s_text_slice(S("abc"), 7, 9), ""));
  CHECK(is(fl_s_lower(heap, S("ÀÉÎ Straße ΑΒΓ ЖЩ Ⱥ")), "àéî straße αβγ жщ ⱥ"));
  CHECK(is(fl_s_upper(heap, S("àéî straße αβγ жщ ⱥ ÿ")), "ÀÉÎ STRASSE ΑΒΓ ЖЩ Ⱥ Ÿ") &&
        is(fl_s_upper(heap, S("AB1")), "AB1"));
  CHECK(is(fl_s_trim(S("\t  a b\u00a0\u3000\n"), S("")), "a b") && is(fl_s_trim(S(" \n"), S("")), ""));
  CHECK(fl_s_contains(S("banana"), S("nan")) && !fl_s_contains(S("banana"), S("nab")) &&
        fl_s_contains(S("a"), S("")));
  CHECK(fl_s_starts_with(S("banana"), S("ban")) && fl_s_ends_with(S("banana"), S("ana")) &&
        !fl_s_ends_with(S("a"), S("ba")));
  CHECK(is(fl_s_replace(heap, S("aaaa"), S("aa"), S("b")), "bb") &&
        is(fl_s_replace(heap, S("abc"), S(""), S("x")), "abc"));
  CHECK(is(fl_s_replace(heap, S("a-b-c"), S("-"), S("")), "abc") &&
        is(fl_s_replace(heap, S("x"), S("y"), S("z")), "x"));
  CHECK(is(fl_s_split_part(S("a,b,,c"), S(","), 1), "b") && is(fl_s_split_part(S("a,b,,c"), S(","), 2), ""));
  CHECK(fl_s_count_pieces(S("a,b,,c"), S(",")) == 4 && fl_s_count_pieces(S("a,b"), S("")) == 1 &&
        fl_s_count_pieces(NULL, 0, S(",")) == 1 && fl_s_count_pieces(S("-----"), S("--")) == 3);
  CHECK(is(fl_s_split_part(S("a,b,,c"), S(","), 3), "c") && is(fl_s_split_part(S("a,b"), S(","), 9), ""));
  CHECK(is(fl_s_pad(heap, S("é"), 3, S("*")), "é**") && is(fl_s_pad(heap, S("7"), -3, S("0")), "007"));
  CHECK(is(fl_s_pad(heap, S("a"), 6, S("xyz")), "axyzxy") && is(fl_s_pad(heap, S("abc"), 2, S("x")), "abc"));
  CHECK(is(fl_s_text_concat(heap, S("ab"), S("é")), "abé") && is(fl_s_text_concat(heap, S(""), S("b")), "b"));
  CHECK(fl_s_lt_text(S("a"), S("ab")) && fl_s_gt_text(S("é"), S("z")) && fl_s_le_text(S("a"), S("a")) &&
        !fl_s_lt_text(S("b"), S("a")));
  int32_t f = 0;
  CHECK(fl_s_parse_i64(S("-42"), &f) == -42 && fl_s_parse_f64(S("2.5e3"), &f) == 2500 && f == 0);
  fl_s_parse_i64(S("42x"), &f);
  CHECK(f == FL_FAULT_PARSE);
  uint8_t valid;
  CHECK(fl_s_try_parse_i64(S("9223372036854775808"), &valid) == 0 && !valid);
  CHECK(fl_s_try_parse_f64(S(""), &valid) == 0 && !valid);
}

static void dates_as_text(void) {
  int32_t d = 0;
  int64_t t = 0;
  uint8_t valid;
  CHECK(fl_s_try_parse_date(S("31/01/2026"), S("%d/%m/%Y"), &valid) == date(2026, 1, 31) && valid);
  CHECK(fl_s_try_parse_date(S("2026-01-31"), S(""), &valid) == date(2026, 1, 31) && valid);
  fl_s_try_parse_date(S("2026-02-29"), S("%Y-%m-%d"), &valid);
  CHECK(!valid);
  fl_s_try_parse_date(S("2026-02-2x"), S("%Y-%m-%d"), &valid);
  CHECK(!valid);
  CHECK(fl_parse_date_by(S("Sat, 21 november 2026"), S("%a, %d %B %Y"), &d) && d == date(2026, 11, 21));
  CHECK(fl_parse_date_by(S("2024-366"), S("%Y-%j"), &d) && d == date(2024, 12, 31));
  CHECK(fl_parse_datetime_by(S("2026-11-21 04:05:06.5 PM +0130"), S("%Y-%m-%d %I:%M:%S.%f %p %z"), &t) &&
        t == INT64_C(1) * date(2026, 11, 21) * FL_DAY_MICROS + INT64_C(52506500000));
  CHECK(!fl_parse_date_by(S("2026-11-21 01"), S("%Y-%m-%d %H"), &d));
  CHECK(!fl_date_format_check(S("%Q"), true, NULL) && !fl_date_format_check(S("%"), true, NULL) &&
        fl_date_format_check(S("%Y%%"), true, NULL));
}

static void formats(void) {
  struct {
    double v;
    const char *format, *want;
  } f64[] = {{1234567.891, ",.2f", "1,234,567.89"},
             {3.14159, ".3f", "3.142"},
             {0.5, "", "0.5"},
             {2, "", "2.0"},
             {2, ">8", "     2.0"},
             {-1.5, "08.2f", "-0001.50"},
             {0.256, ".1%", "25.6%"},
             {12345.678, ".3e", "1.235e+04"},
             {0.0001, "g", "0.0001"},
             {NAN, ".2f", "nan"},
             {-INFINITY, "8", "    -inf"},
             {1, "+.1f", "+1.0"},
             {1e300, ",", "1e300"},
             {-0.0, ".1f", "-0.0"},
             {5, "*^7.1f", "**5.0**"},
             {999999, ",.0f", "999,999"}};
  for (size_t i = 0; i < sizeof f64 / sizeof *f64; i++) {
    FlText got = fl_s_to_text_f64(heap, f64[i].v, f64[i].format);
    if (!is(got, f64[i].want))
      printf("%s: '%.*s', not '%s'\n", f64[i].format, (int)got.len, got.ptr, f64[i].want);
    CHECK(fl_format_check(f64[i].format, FL_F64, NULL) && is(got, f64[i].want));
  }
  CHECK(is(fl_s_to_text_i64(heap, -1234567, ","), "-1,234,567") &&
        is(fl_s_to_text_i64(heap, 255, "08b"), "11111111"));
  CHECK(is(fl_s_to_text_i64(heap, 255, "x"), "ff") && is(fl_s_to_text_i64(heap, 7, ".2f"), "7.00"));
  CHECK(is(fl_s_to_text_i64(heap, INT64_MIN, ""), "-9223372036854775808") &&
        is(fl_s_to_text_u64(heap, UINT64_MAX, ""), "18446744073709551615"));
  CHECK(is(fl_s_to_text_i8(heap, -5, "04"), "-005") && is(fl_s_to_text_i64(heap, 100, ","), "100"));
  CHECK(is(fl_s_to_text_text(heap, S("héllo"), "-^9.4"), "--héll---"));
  CHECK(is(fl_s_to_text_text(heap, S("ab"), ">4"), "  ab") && is(fl_s_to_text_bool(heap, 1, ""), "true"));
  CHECK(is(fl_s_to_text_f32(heap, 0.1f, ""), "0.1"));
  int32_t d = date(2026, 1, 5);
  CHECK(is(fl_s_to_text_date(heap, d, ""), "2026-01-05") &&
        is(fl_s_to_text_date(heap, d, "%d.%m.%y %b %A %j"), "05.01.26 Jan Monday 005"));
  CHECK(is(fl_s_to_text_datetime(heap, d * FL_DAY_MICROS + 1000000, "%H:%M:%S %I%p"), "00:00:01 12AM"));
  CHECK(is(fl_s_to_text_date(heap, d, ">12"), "  2026-01-05"));
  struct {
    const char *format;
    FlDtype dtype;
  } bad[] = {{".f", FL_F64},    {"q", FL_F64},    {"d", FL_F64},   {".2", FL_I64},
             {",", FL_TEXT},    {".2f", FL_TEXT}, {"%Q", FL_DATE}, {"5.2ff", FL_F64},
             {"99999", FL_F64}, {",x", FL_I64},   {".2", FL_DATE}, {"f", FL_BOOL}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *why = NULL;
    CHECK(!fl_format_check(bad[i].format, bad[i].dtype, &why) && why != NULL);
  }
}

int main(void) {
  integers();
  floats();
  random_numbers();
  calendar();
  far_calendar();
  texts();
  dates_as_text();
  formats();
  return finish();
}
