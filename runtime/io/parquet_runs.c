/* parquet_runs.c: numbers of a few bits, in runs of one number and in packed ones, as levels and places in a
 * dictionary are written.
 *
 * In: bytes, FL_PARQUET_SLACK more of which may be read behind them. Out: the numbers, a block at a time.
 * What always holds: the same numbers from each instruction set; which one runs is decided by the CPU. */
#include "io/parquet.h"

#include <string.h>

enum { EIGHT = 8, MOST_SHUFFLED = 25 }; /* bits of a number that lies within four bytes wherever it begins */

/* ---- packed numbers ----------------------------------------------------------------------------------- */

/* n numbers of `width` bits, the first at bit 0 of `at`; the largest of them. */
static uint32_t unpack_bits(const uint8_t *at, int width, uint32_t *to, int64_t n) {
  const uint64_t mask = ((uint64_t)1 << width) - 1;
  uint32_t most = 0;
  uint64_t word;
  for (int64_t k = 0, bit = 0; k < n; k++, bit += width) {
    memcpy(&word, at + bit / 8, sizeof word);
    to[k] = (uint32_t)(word >> bit % 8 & mask);
    most = to[k] > most ? to[k] : most;
  }
  return most;
}

#if defined(__x86_64__)
#include <immintrin.h>

/* Eights of numbers of at most MOST_SHUFFLED bits: the bytes of four of them go to a lane each, where they
 * are shifted and cut. */
__attribute__((target("avx2"))) static uint32_t unpack_eights(const uint8_t *at, int width, uint32_t *to,
                                                              int64_t n) {
  uint8_t bytes[32];
  uint32_t shifts[EIGHT], all[EIGHT], most = 0;
  const int half = 4 * width / 8; /* where the second four begin */
  for (int k = 0; k < EIGHT; k++) {
    int bit = k * width - (k < 4 ? 0 : 8 * half);
    shifts[k] = (uint32_t)(bit % 8);
    for (int i = 0; i < 4; i++) bytes[4 * k + i] = (uint8_t)(bit / 8 + i);
  }
  const __m256i places = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
  const __m256i shift = _mm256_loadu_si256((const __m256i *)(const void *)shifts);
  const __m256i mask = _mm256_set1_epi32((int)(((uint32_t)1 << width) - 1));
  __m256i largest = _mm256_setzero_si256();
  for (int64_t k = 0; k < n; k += EIGHT, at += width) {
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(at + half));
    __m256i v = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), places);
    v = _mm256_and_si256(_mm256_srlv_epi32(v, shift), mask);
    _mm256_storeu_si256((__m256i *)(void *)(to + k), v);
    largest = _mm256_max_epu32(largest, v);
  }
  _mm256_storeu_si256((__m256i *)(void *)all, largest);
  for (int k = 0; k < EIGHT; k++) most = all[k] > most ? all[k] : most;
  return most;
}
#endif

static uint32_t unpack(const uint8_t *at, int width, uint32_t *to, int64_t n) {
  uint32_t most = 0;
#if defined(__x86_64__)
  const int64_t eights = n / EIGHT * EIGHT;
  if (width <= MOST_SHUFFLED && fl_cpu_level() >= 3) {
    most = unpack_eights(at, width, to, eights);
    at += eights / EIGHT * width;
    to += eights;
    n -= eights;
  }
#endif
  const uint32_t other = unpack_bits(at, width, to, n);
  return other > most ? other : most;
}

/* ---- runs --------------------------------------------------------------------------------------------- */

/* The head of the next run: how many numbers it has, and whether they are packed. */
static bool next_run(FlParquetRuns *r) {
  const uint64_t head = fl_thrift_unsigned(&r->t), count = head >> 1;
  if (r->t.bad || count > INT32_MAX) return false;
  r->packed = head & 1;
  r->left = (int64_t)count * (r->packed ? EIGHT : 1);
  const int64_t bytes = r->packed ? (int64_t)count * r->width : (r->width + 7) / 8;
  return bytes <= r->t.end - r->t.at;
}

static uint32_t repeated(FlParquetRuns *r) {
  uint32_t v = 0;
  for (int k = 0; k < (r->width + 7) / 8; k++) v |= (uint32_t)*r->t.at++ << 8 * k;
  return v & (uint32_t)(((uint64_t)1 << r->width) - 1);
}

bool fl_parquet_runs(const uint8_t *at, const uint8_t *end, int width, FlParquetRuns *out) {
  *out = (FlParquetRuns){.t = {at, end, false}, .width = width};
  return width >= 0 && width <= 32;
}

int64_t fl_parquet_next(FlParquetRuns *r, int64_t n, uint32_t *to, uint32_t *most) {
  while (r->left == 0) {
    if (!next_run(r)) return 0;
    if (!r->packed) r->number = repeated(r);
  }
  int64_t some = r->left < n ? r->left : n;
  if (r->packed) {
    if (some > FL_PARQUET_BLOCK) some = FL_PARQUET_BLOCK;
    *most = unpack(r->t.at, r->width, to, some);
    r->t.at += (some + EIGHT - 1) / EIGHT * r->width;
  } else {
    *most = r->number;
  }
  r->left -= some;
  return some;
}
