/* csv_scan.c: where the lines and fields of a CSV text end, 64 bytes at a time.
 *
 * In: bytes with at least 64 more readable behind them. Out: counts and offsets.
 * What always holds: the same result from each instruction set; which one runs is decided by the CPU. */
#include "io/csv_internal.h"

#include <string.h>

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

#define TARGET
#define NAME(x) x##_words
#include "io/csv_scan.inc"
#undef TARGET
#undef NAME

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt,bmi")))
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
#define NAME(x) x##_avx2
#include "io/csv_scan.inc"
#undef TARGET
#undef NAME

#define TARGET __attribute__((target("avx512f,avx512bw,avx2,popcnt,bmi")))
TARGET static inline uint64_t equal_avx512(const char *p, char c) {
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(c));
}
TARGET static inline uint64_t high_avx512(const char *p) {
  return _mm512_movepi8_mask(_mm512_loadu_si512(p));
}
#define NAME(x) x##_avx512
#include "io/csv_scan.inc"
#undef TARGET
#undef NAME
#endif

const FlCsvScan *fl_csv_scan_at(int k) {
  static const FlCsvScan words = {"words", count_words, index_words};
#if defined(__x86_64__)
  static const FlCsvScan avx2 = {"avx2", count_avx2, index_avx2};
  static const FlCsvScan avx512 = {"avx512", count_avx512, index_avx512};
  bool has_bits = __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
  bool has_avx2 = has_bits && __builtin_cpu_supports("avx2"),
       has_avx512 = has_avx2 && __builtin_cpu_supports("avx512bw");
  if (has_avx512 && k-- == 0) return &avx512;
  if (has_avx2 && k-- == 0) return &avx2;
#endif
  return k == 0 ? &words : NULL;
}

const FlCsvScan *fl_csv_scan_best(void) { return fl_csv_scan_at(0); }
