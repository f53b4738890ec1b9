/* csv_cells.c: the fields of one column in many rows as values, where they are as they mostly are: the
 * innermost loops of reading CSV.
 *
 * In: fields between their ends, and where their values go. Out: the values of those from one on up to the
 * first that is unusual, which is left to fl_csv_field. What always holds: a value is what fl_csv_field would
 * give; the same from each instruction set. 64 bytes from a field's start on may be read. */
#include "io/csv_internal.h"

#include <string.h>

static const double tens[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                              1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/* w / 10^decimals with a sign. Of 16 characters 15 are digits where one is a point, so that w is a double,
 * and rounded once; else w itself is. */
static inline double scaled(uint64_t w, int64_t decimals, uint64_t negative) {
  double x = (double)(int64_t)w / tens[decimals];
  uint64_t bits;
  memcpy(&bits, &x, 8);
  bits |= negative << 63;
  memcpy(&x, &bits, 8);
  return x;
}

/* A field without what is around it when it is quoted; false: it is empty, or its quotes are unusual. */
static inline bool bare_text(const FlCsvCells *c, FlText *t, bool *quoted) {
  *quoted = c->quotes && t->len && *t->ptr == c->quote;
  if (!*quoted) return t->len > 0;
  if (t->len < 3 || t->ptr[t->len - 1] != c->quote) return false;
  *t = (FlText){t->ptr + 1, t->len - 2};
  return true;
}

/* ---- any CPU: eight bytes in a word -------------------------------------------------------------------- */

static const uint64_t ZEROS = 0x3030303030303030u; /* "00000000" */

static inline uint64_t load(const char *p) {
  uint64_t x;
  memcpy(&x, p, 8);
  return x;
}

/* Whether a word is eight ASCII digits, and their value (the first in the lowest byte; as in number_parse.c).
 */
static inline bool all_digits(uint64_t v) {
  return ((v & 0xf0f0f0f0f0f0f0f0u) | (((v + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4)) ==
         0x3333333333333333u;
}
static inline uint64_t value_of(uint64_t v) {
  v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
  v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
  return (v & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
}

/* Up to 16 characters, right-aligned in 16 bytes with zeros in front: `a` the first eight, `b` the last. */
typedef struct FlSixteen {
  uint64_t a, b;
} FlSixteen;

static inline FlSixteen align_right(const char *p, int64_t len) {
  if (len <= 8) {
    int shift = (int)(8 - len) * 8;
    return (FlSixteen){ZEROS, load(p) << shift | (ZEROS & (((uint64_t)1 << shift) - 1))};
  }
  int shift = (int)(16 - len) * 8;
  uint64_t a = load(p), b = load(p + 8);
  return (FlSixteen){a << shift | (ZEROS & (((uint64_t)1 << shift) - 1)),
                     b << shift | (a >> 1) >> (63 - shift)};
}

/* The lowest byte that is a point, as its top bit; 0: none. */
static inline uint64_t point_in(uint64_t v) {
  uint64_t x = v ^ 0x2e2e2e2e2e2e2e2eu;
  return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

/* v without the byte at bit `at`: lower bytes move up, `fill` comes in at the bottom. */
static inline uint64_t close_gap(uint64_t v, int at, uint64_t fill) {
  uint64_t low = ((uint64_t)1 << at) - 1;
  return (v & ~low & ~((uint64_t)0xff << at)) | (v & low) << 8 | fill;
}

/* The value of 16 digits; false: some are none. len: of those that are not zeros in front. */
static inline bool sixteen_digits(FlSixteen v, int64_t len, uint64_t *w) {
  if (!all_digits(v.b)) return false;
  *w = value_of(v.b);
  if (len <= 8) return true;
  if (!all_digits(v.a)) return false;
  *w += value_of(v.a) * 100000000;
  return true;
}

/* digits [. digits] of at most 16 characters. */
static int64_t f64_words(const FlCsvCells *c, void *values, int64_t from) {
  double *out = values;
  for (int64_t i = from; i < c->n; i++) {
    FlText t = fl_csv_cell(c, i);
    bool quoted;
    if (!bare_text(c, &t, &quoted)) return i;
    uint64_t negative = *t.ptr == '-', point, w;
    t = (FlText){t.ptr + negative, t.len - (int64_t)negative};
    if ((uint64_t)(t.len - 1) >= 16) return i;
    FlSixteen v = align_right(t.ptr, t.len);
    int decimals = 0;
    if ((point = point_in(v.b))) {
      int at = __builtin_ctzll(point) - 7;
      decimals = 7 - at / 8;
      v.b = close_gap(v.b, at, v.a >> 56);
      v.a = v.a << 8 | '0';
    } else if ((point = point_in(v.a))) {
      int at = __builtin_ctzll(point) - 7;
      decimals = 15 - at / 8;
      v.a = close_gap(v.a, at, '0');
    }
    if ((point && t.len == 1) || !sixteen_digits(v, t.len, &w)) return i;
    out[i] = scaled(w, decimals, negative);
  }
  return c->n;
}

static int64_t i64_words(const FlCsvCells *c, void *values, int64_t from) {
  int64_t *out = values;
  for (int64_t i = from; i < c->n; i++) {
    FlText t = fl_csv_cell(c, i);
    bool quoted;
    if (!bare_text(c, &t, &quoted)) return i;
    int64_t negative = *t.ptr == '-';
    t = (FlText){t.ptr + negative, t.len - negative};
    uint64_t w;
    if ((uint64_t)(t.len - 1) >= 16 || !sixteen_digits(align_right(t.ptr, t.len), t.len, &w)) return i;
    out[i] = negative ? -(int64_t)w : (int64_t)w;
  }
  return c->n;
}

static int64_t text_words(const FlCsvCells *c, void *values, int64_t from) {
  FlText *out = values;
  for (int64_t i = from; i < c->n; i++) {
    FlText t = fl_csv_cell(c, i);
    bool quoted;
    if (!bare_text(c, &t, &quoted)) return i;
    if ((quoted || c->check) && (!fl_utf8_is_ascii(t.ptr, t.len) || memchr(t.ptr, c->quote, (size_t)t.len)))
      return i;
    out[i] = t;
  }
  return c->n;
}

FlCsvTakers fl_csv_take_words = {
    [FL_CSV_F64] = f64_words, [FL_CSV_I64] = i64_words, [FL_CSV_TEXT] = text_words};

/* ---- 16 bytes in a vector ------------------------------------------------------------------------------ */

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi")))

/* A number's first 16 bytes less '0', and of which of its characters say what. */
typedef struct FlNumber {
  __m128i bytes;
  uint32_t digits, points, all; /* bits by character */
} FlNumber;

TARGET static inline FlNumber look_at(FlText t) {
  __m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)t.ptr), _mm_set1_epi8('0'));
  FlNumber v = {.bytes = x, .all = ((uint32_t)1 << t.len) - 1};
  v.digits = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(9)), x)) & v.all;
  v.points = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('.' - '0'))) & v.all;
  return v;
}

/* Where the character at j of a number of `len` stands when they are moved to the right end. */
TARGET static inline __m128i to_the_right(int64_t len) {
  const __m128i iota = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm_add_epi8(iota, _mm_set1_epi8((char)(len - 16)));
}

/* Pairs of digits as numbers of 16 bits, fours as numbers of 32. */
TARGET static inline __m128i fours_of(__m128i digits) {
  const __m128i pairs = _mm_set1_epi16(1 << 8 | 10), fours = _mm_set1_epi32(1 << 16 | 100);
  return _mm_madd_epi16(_mm_maddubs_epi16(digits, pairs), fours);
}

/* The value of 16 digits. */
TARGET static inline uint64_t sixteen_value(__m128i digits) {
  __m128i fours = fours_of(digits);
  __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
  uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
  return (both & UINT32_MAX) * 100000000 + (both >> 32);
}

TARGET static int64_t f64_vectors(const FlCsvCells *c, void *values, int64_t from) {
  double *out = values;
  for (int64_t i = from; i < c->n; i++) {
    FlText t = fl_csv_cell(c, i);
    bool quoted;
    if (!bare_text(c, &t, &quoted)) return i;
    uint64_t negative = *t.ptr == '-';
    t = (FlText){t.ptr + negative, t.len - (int64_t)negative};
    if ((uint64_t)(t.len - 1) >= 16) return i;
    FlNumber v = look_at(t);
    if ((v.digits | v.points) != v.all || (v.points & (v.points - 1)) || !v.digits) return i;
    int behind = 31 - __builtin_clz(v.points << 1 | 1); /* how many characters the point ends; 0: none */
    __m128i from_at = to_the_right(t.len);
    from_at = _mm_add_epi8(from_at, _mm_cmpgt_epi8(_mm_set1_epi8((char)behind), from_at));
    uint64_t w = sixteen_value(_mm_shuffle_epi8(v.bytes, from_at));
    out[i] = scaled(w, behind ? t.len - behind : 0, negative);
  }
  return c->n;
}

TARGET static int64_t i64_vectors(const FlCsvCells *c, void *values, int64_t from) {
  int64_t *out = values;
  for (int64_t i = from; i < c->n; i++) {
    FlText t = fl_csv_cell(c, i);
    bool quoted;
    if (!bare_text(c, &t, &quoted)) return i;
    int64_t negative = *t.ptr == '-';
    t = (FlText){t.ptr + negative, t.len - negative};
    if ((uint64_t)(t.len - 1) >= 16) return i;
    FlNumber v = look_at(t);
    if (v.digits != v.all) return i;
    int64_t w = (int64_t)sixteen_value(_mm_shuffle_epi8(v.bytes, to_the_right(t.len)));
    out[i] = (w ^ -negative) + negative;
  }
  return c->n;
}

/* YYYY-MM-DD from the year 1 on; the 29th of February is left. Days: as in data/date.c, of years from March
 * on; `before` has the days of such a year before each month. */
TARGET static int64_t date_vectors(const FlCsvCells *c, void *values, int64_t from) {
  enum { DIGITS = 0x36f, DASHES = 0x90 }; /* bits by character */
  static const uint8_t days_in[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  static const int16_t before[13] = {0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275};
  const __m128i places = _mm_setr_epi8(-1, -1, -1, -1, 0, 1, 2, 3, -1, -1, 5, 6, -1, -1, 8, 9);
  int32_t *out = values;
  for (int64_t i = from; i < c->n; i++) {
    FlText t = fl_csv_cell(c, i);
    bool quoted;
    if (!bare_text(c, &t, &quoted) || t.len != 10) return i;
    FlNumber v = look_at(t);
    __m128i dashes = _mm_cmpeq_epi8(v.bytes, _mm_set1_epi8((char)('-' - '0')));
    if (v.digits != DIGITS || ((uint32_t)_mm_movemask_epi8(dashes) & DASHES) != DASHES) return i;
    __m128i fours = fours_of(_mm_shuffle_epi8(v.bytes, places));
    uint32_t year = (uint32_t)_mm_extract_epi32(fours, 1), month = (uint32_t)_mm_extract_epi32(fours, 2),
             day = (uint32_t)_mm_extract_epi32(fours, 3);
    if (year < 1 || month - 1 > 11 || day - 1 >= days_in[month]) return i;
    year -= month <= 2;
    out[i] = (int32_t)(year * 365 + year / 4 - year / 100 + year / 400 + day) + before[month] - 719469;
  }
  return c->n;
}

/* Whether the first n bytes have a quote, or one above 127. */
TARGET static inline bool is_odd(const char *s, int64_t n, __m256i quote) {
  for (; n > 0; n -= 32, s += 32) {
    __m256i x = _mm256_loadu_si256((const __m256i *)s);
    uint32_t odd = (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(x, _mm256_cmpeq_epi8(x, quote)));
    if (n < 32) odd &= ((uint32_t)1 << n) - 1;
    if (odd) return true;
  }
  return false;
}

TARGET static int64_t text_vectors(const FlCsvCells *c, void *values, int64_t from) {
  FlText *out = values;
  const __m256i quote = _mm256_set1_epi8(c->quote);
  for (int64_t i = from; i < c->n; i++) {
    FlText t = fl_csv_cell(c, i);
    bool quoted;
    if (!bare_text(c, &t, &quoted) || ((quoted || c->check) && is_odd(t.ptr, t.len, quote))) return i;
    out[i] = t;
  }
  return c->n;
}

FlCsvTakers fl_csv_take_vectors = {[FL_CSV_F64] = f64_vectors,
                                   [FL_CSV_I64] = i64_vectors,
                                   [FL_CSV_DATE] = date_vectors,
                                   [FL_CSV_TEXT] = text_vectors};
#endif
