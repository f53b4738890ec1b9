/* kept_rows.c: rows that a mask keeps, one behind the other.
 *
 * In: a mask, a byte a row, and where the rows are. Out: those that it keeps, from some row on. What always
 * holds: no row is read behind the last one that is kept, nothing is written behind its place. By vectors
 * where the processor has those that close gaps. */
#include "data/kept_rows.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { EIGHT = 8, FEW = 16 }; /* FEW: of so many rows one is kept, at most */
static const uint64_t ALL_EIGHT = UINT64_C(0x0101010101010101);

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

size_t fl_row_word(const void *from, size_t row_bytes) {
  size_t unit = row_bytes < sizeof(uint64_t) ? row_bytes : sizeof(uint64_t);
  return unit > 0 && (uintptr_t)from % unit == 0 ? row_bytes : 0;
}

int64_t fl_count_true(const uint8_t *mask, int64_t n) {
  enum { WORD = 8, MOST = UINT8_MAX }; /* words until a byte of their sum is full */
  const uint64_t low = ALL_EIGHT * INT8_MAX, evens = UINT64_C(0x00ff00ff00ff00ff),
                 sum_up = UINT64_C(0x0001000100010001);
  int64_t ones = 0, i = 0;
  while (i + WORD <= n) {
    uint64_t sum = 0, word;
    int64_t last = least(n / WORD * WORD, i + WORD * MOST);
    for (; i < last; i += WORD) {
      memcpy(&word, mask + i, sizeof word);
      sum += (((word & low) + low) | word) >> 7 & ALL_EIGHT; /* of each byte: is it more than 0 */
    }
    ones += (int64_t)(((sum & evens) + (sum >> 8 & evens)) * sum_up >> 48);
  }
  for (; i < n; i++) ones += mask[i] != 0;
  return ones;
}

typedef struct Kept {
  const uint8_t *mask;
  const char *from;
  char *to;
  size_t row_bytes;
} Kept;

#if defined(__x86_64__)
/* The first row from i on of which one of 64 may be kept, where few are; `to`: behind the last. */
__attribute__((target("avx512f,avx512bw"))) static inline int64_t skip_dropped(const uint8_t *mask, int64_t i,
                                                                               int64_t to) {
  enum { ROWS = 64 };
  while (i + ROWS <= to &&
         _mm512_test_epi8_mask(_mm512_loadu_si512(mask + i), _mm512_loadu_si512(mask + i)) == 0)
    i += ROWS;
  return i;
}

/* Rows by vectors, while as many as a vector has are still to be kept, so that nothing is written behind the
 * places: where the others begin. `kept`: a bit for each row of the vector that is kept. */
#define BY_VECTORS(NAME, FEATURES, T, N, KEPT, COMPRESS)                                                     \
  __attribute__((target("avx512f,avx512bw,avx512vl,popcnt" FEATURES))) static int64_t NAME(                  \
      const Kept *f, int64_t i, int64_t to_row, int64_t *place, int64_t n) {                                 \
    const T *from = (const T *)(const void *)f->from;                                                        \
    const uint8_t *mask = f->mask;                                                                           \
    T *to = (T *)(void *)f->to;                                                                              \
    int64_t at = *place;                                                                                     \
    bool few = (n - at) * FEW < to_row - i;                                                                  \
    for (; at + (N) <= n; i += (N)) {                                                                        \
      if (few) i = skip_dropped(mask, i, to_row);                                                            \
      uint64_t kept = KEPT;                                                                                  \
      _mm512_storeu_si512(to + at, COMPRESS(kept, _mm512_loadu_si512(from + i)));                            \
      at += __builtin_popcountll(kept);                                                                      \
    }                                                                                                        \
    *place = at;                                                                                             \
    return i;                                                                                                \
  }
#define KEPT_64 _mm512_test_epi8_mask(_mm512_loadu_si512(mask + i), _mm512_loadu_si512(mask + i))
#define KEPT_32                                                                                              \
  _mm256_test_epi8_mask(_mm256_loadu_si256((const __m256i *)(const void *)(mask + i)),                       \
                        _mm256_loadu_si256((const __m256i *)(const void *)(mask + i)))
#define KEPT_16                                                                                              \
  _mm_test_epi8_mask(_mm_loadu_si128((const __m128i *)(const void *)(mask + i)),                             \
                     _mm_loadu_si128((const __m128i *)(const void *)(mask + i)))
#define KEPT_8                                                                                               \
  _mm_test_epi8_mask(_mm_loadl_epi64((const __m128i *)(const void *)(mask + i)),                             \
                     _mm_loadl_epi64((const __m128i *)(const void *)(mask + i)))
#define KEPT_4 _mm_test_epi8_mask(_mm_loadu_si32(mask + i), _mm_loadu_si32(mask + i))
#define COMPRESS_8(k, x) _mm512_maskz_compress_epi8((__mmask64)(k), x)
#define COMPRESS_16(k, x) _mm512_maskz_compress_epi16((__mmask32)(k), x)
#define COMPRESS_32(k, x) _mm512_maskz_compress_epi32((__mmask16)(k), x)
#define COMPRESS_64(k, x) _mm512_maskz_compress_epi64((__mmask8)(k), x)
#define COMPRESS_128(k, x) _mm512_maskz_compress_epi64((__mmask8)(_pdep_u32((uint32_t)(k), 0x55) * 3), x)
BY_VECTORS(filter_bytes, ",avx512vbmi2", uint8_t, 64, KEPT_64, COMPRESS_8)
BY_VECTORS(filter_pairs, ",avx512vbmi2", uint16_t, 32, KEPT_32, COMPRESS_16)
BY_VECTORS(filter_halves, "", uint32_t, 16, KEPT_16, COMPRESS_32)
BY_VECTORS(filter_words, "", uint64_t, 8, KEPT_8, COMPRESS_64)
BY_VECTORS(filter_texts, ",bmi2", FlText, 4, KEPT_4, COMPRESS_128)

static int64_t by_vectors(const Kept *f, size_t word, int64_t i, int64_t to, int64_t *place, int64_t n) {
  if (fl_cpu_level() < 4) return i;
  const bool small = __builtin_cpu_supports("avx512vbmi2");
  switch (word) {
  case 1: return small ? filter_bytes(f, i, to, place, n) : i;
  case sizeof(uint16_t): return small ? filter_pairs(f, i, to, place, n) : i;
  case sizeof(uint32_t): return filter_halves(f, i, to, place, n);
  case sizeof(uint64_t): return filter_words(f, i, to, place, n);
  case sizeof(FlText): return filter_texts(f, i, to, place, n);
  default: return i;
  }
}
#endif

/* Writes every row at the next place and moves on if it is kept, until all places are full. Eight rows at
 * once where all or none of them are kept. */
#define FILTER(T)                                                                                            \
  {                                                                                                          \
    const T *from = (const T *)(const void *)f->from;                                                        \
    T *to = (T *)(void *)f->to;                                                                              \
    for (uint64_t kept; at + EIGHT <= n; i += EIGHT) {                                                       \
      memcpy(&kept, f->mask + i, sizeof kept);                                                               \
      if (kept == 0) continue;                                                                               \
      if (kept == ALL_EIGHT) {                                                                               \
        memcpy(to + at, from + i, EIGHT * sizeof *to);                                                       \
        at += EIGHT;                                                                                         \
        continue;                                                                                            \
      }                                                                                                      \
      for (int64_t k = i; k < i + EIGHT; k++) {                                                              \
        to[at] = from[k];                                                                                    \
        at += f->mask[k] != 0;                                                                               \
      }                                                                                                      \
    }                                                                                                        \
    for (; at < n; i++) {                                                                                    \
      to[at] = from[i];                                                                                      \
      at += f->mask[i] != 0;                                                                                 \
    }                                                                                                        \
    return i;                                                                                                \
  }

static int64_t keep_lists(const Kept *f, int64_t i, int64_t n) {
  FlArray *const *from = (FlArray *const *)(const void *)f->from;
  FlArray **to = (FlArray **)(void *)f->to;
  int64_t width = (int64_t)(f->row_bytes / sizeof *from);
  for (int64_t at = 0; at < n; i++) {
    if (!f->mask[i]) continue;
    for (int64_t k = 0; k < width; k++) to[at * width + k] = fl_array_ref(from[i * width + k]);
    at++;
  }
  return i;
}

static int64_t keep_wide(const Kept *f, int64_t i, int64_t n) {
  int64_t row_bytes = (int64_t)f->row_bytes;
  for (int64_t at = 0; at < n; i++)
    if (f->mask[i]) memcpy(f->to + at++ * row_bytes, f->from + i * row_bytes, f->row_bytes);
  return i;
}

/* From row i on, the places [at, n). */
static int64_t keep_words(const Kept *f, size_t word, int64_t i, int64_t at, int64_t n) {
  switch (word) {
  case 1: FILTER(uint8_t)
  case 2: FILTER(uint16_t)
  case 4: FILTER(uint32_t)
  case 8: FILTER(uint64_t)
  case 16: FILTER(FlText)
  default: return keep_wide(f, i, n);
  }
}
#undef FILTER

int64_t fl_keep_rows(const uint8_t *mask, int64_t rows, int64_t first, const void *from, size_t row_bytes,
                     bool lists, int64_t n, void *to) {
  const Kept f = {mask, from, to, row_bytes};
  if (lists) return keep_lists(&f, first, n);
  int64_t at = 0;
  size_t word = fl_row_word(from, row_bytes);
#if defined(__x86_64__)
  first = by_vectors(&f, word, first, rows, &at, n);
#else
  (void)rows;
#endif
  return keep_words(&f, word, first, at, n);
}

int64_t fl_keep_numbers(const uint8_t *mask, int64_t first, int64_t n, uint32_t *to) {
  int64_t i = first;
  for (int64_t at = 0; at < n; i++) {
    to[at] = (uint32_t)i;
    at += mask[i] != 0;
  }
  return i;
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt"))) static int64_t
kept_by_vectors(const uint8_t *mask, int64_t rows, const uint8_t *of, uint8_t *to, int64_t *read) {
  enum { ROWS = 64 };
  int64_t i = 0, at = 0;
  for (; i + ROWS <= rows; i += ROWS) {
    const __mmask64 kept = _mm512_test_epi8_mask(_mm512_loadu_si512(mask + i), _mm512_loadu_si512(mask + i));
    _mm512_storeu_si512(to + i, _mm512_maskz_expandloadu_epi8(kept, of + at));
    at += __builtin_popcountll(kept);
  }
  *read = at;
  return i;
}
#endif

int64_t fl_keep_of_kept(const uint8_t *mask, int64_t rows, const uint8_t *of, uint8_t *to) {
  int64_t i = 0, at = 0;
#if defined(__x86_64__)
  if (fl_cpu_level() >= 4 && __builtin_cpu_supports("avx512vbmi2"))
    i = kept_by_vectors(mask, rows, of, to, &at);
#endif
  for (; i < rows; i++) to[i] = mask[i] ? of[at++] : 0;
  return at;
}
