/* csv_scan.c: where the lines and fields of a CSV text end, 64 bytes at a time.
 *
 * In: bytes with at least 64 more readable behind them. Out: counts and offsets.
 * What always holds: the same result from each instruction set; which one runs is decided by the CPU. */
#include "io/csv_internal.h"

#include <string.h>

enum { FL_SCAN_AHEAD = 4096 }; /* what is counted comes from memory: so far ahead it is asked for */

/* ---- any CPU: eight bytes in a word -------------------------------------------------------------------- */

/* Bit k: the top bit of byte k. */
static inline uint64_t gather_tops(uint64_t x) {
  return ((x & 0x8080808080808080u) >> 7) * 0x0102040810204080u >> 56;
}

static inline uint64_t equal_words(const char *p, char c) {
  uint64_t pattern = 0x0101010101010101u * (unsigned char)c, mask = 0;
  for (int k = 0; k < 8; k++) {
    uint64_t x;
    memcpy(&x, p + 8 * k, 8);
    x ^= pattern;
    uint64_t zero = ~(((x & 0x7f7f7f7f7f7f7f7fu) + 0x7f7f7f7f7f7f7f7fu) | x);
    mask |= gather_tops(zero) << (8 * k);
  }
  return mask;
}

static inline uint64_t high_words(const char *p) {
  uint64_t mask = 0;
  for (int k = 0; k < 8; k++) {
    uint64_t x;
    memcpy(&x, p + 8 * k, 8);
    mask |= gather_tops(x) << (8 * k);
  }
  return mask;
}

static inline uint64_t prefix_parity_words(uint64_t x) {
  x ^= x << 1;
  x ^= x << 2;
  x ^= x << 4;
  x ^= x << 8;
  x ^= x << 16;
  return x ^ x << 32;
}

/* Eight at a time without asking: what is written beyond the count is overwritten by the next ones. */
static inline __attribute__((always_inline)) uint32_t *put_eights(uint32_t *to, uint64_t m, uint32_t base) {
  uint32_t *end = to + __builtin_popcountll(m);
  for (; to < end; to += 8) {
    for (int k = 0; k < 8; k++) {
      to[k] = base + (uint32_t)__builtin_ctzll(m | (uint64_t)1 << 63);
      m &= m - 1;
    }
  }
  return end;
}

static inline uint32_t *put_words(uint32_t *to, uint64_t m, uint32_t base) { return put_eights(to, m, base); }

#define TARGET
#define NAME(x) x##_words
#include "io/csv_scan.inc"
#undef TARGET
#undef NAME

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt,bmi,pclmul")))
TARGET static inline uint64_t equal_avx2(const char *p, char c) {
  __m256i want = _mm256_set1_epi8(c);
  __m256i a = _mm256_loadu_si256((const __m256i *)p), b = _mm256_loadu_si256((const __m256i *)(p + 32));
  uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, want));
  uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, want));
  return low | (uint64_t)high << 32;
}
TARGET static inline uint64_t high_avx2(const char *p) {
  uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)p));
  uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)(p + 32)));
  return low | (uint64_t)high << 32;
}
TARGET static inline uint64_t prefix_parity_avx2(uint64_t x) {
  __m128i ones = _mm_set1_epi8(-1), product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)x), ones, 0);
  return (uint64_t)_mm_cvtsi128_si64(product);
}
TARGET static inline uint32_t *put_avx2(uint32_t *to, uint64_t m, uint32_t base) {
  return put_eights(to, m, base);
}
#define NAME(x) x##_avx2
#include "io/csv_scan.inc"
#undef TARGET
#undef NAME

static const uint8_t numbers[64] __attribute__((aligned(64))) = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vbmi2,avx2,popcnt,bmi,pclmul")))
TARGET static inline uint64_t equal_avx512(const char *p, char c) {
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(c));
}
TARGET static inline uint64_t high_avx512(const char *p) {
  return _mm512_movepi8_mask(_mm512_loadu_si512(p));
}
TARGET static inline uint64_t prefix_parity_avx512(uint64_t x) {
  __m128i ones = _mm_set1_epi8(-1), product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)x), ones, 0);
  return (uint64_t)_mm_cvtsi128_si64(product);
}
TARGET static inline uint32_t *put_avx512(uint32_t *to, uint64_t m, uint32_t base) {
  const __m512i iota = _mm512_load_si512(numbers);
  uint32_t *end = to + __builtin_popcountll(m);
  __m512i at = _mm512_maskz_compress_epi8(m, iota), from = _mm512_set1_epi32((int32_t)base);
  _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(at)), from));
  while ((to += 16) < end) {
    at = _mm512_alignr_epi32(at, at, 4);
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(at)), from));
  }
  return end;
}
#define NAME(x) x##_avx512
#include "io/csv_scan.inc"
#undef TARGET
#undef NAME
#endif

const FlCsvScan *fl_csv_scan_at(int k) {
  static const FlCsvScan words = {"words", count_words, index_words, fl_csv_take_words};
#if defined(__x86_64__)
  static const FlCsvScan avx2 = {"avx2", count_avx2, index_avx2, fl_csv_take_vectors};
  static const FlCsvScan avx512 = {"avx512", count_avx512, index_avx512, fl_csv_take_vectors};
  bool has_bits =
      __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("pclmul");
  bool has_avx2 = has_bits && __builtin_cpu_supports("avx2"),
       has_avx512 = has_avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
  if (has_avx512 && k-- == 0) return &avx512;
  if (has_avx2 && k-- == 0) return &avx2;
#endif
  return k == 0 ? &words : NULL;
}

const FlCsvScan *fl_csv_scan_best(void) { return fl_csv_scan_at(0); }
