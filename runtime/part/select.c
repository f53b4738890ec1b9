/* select.c: the k-th smallest of some order codes and the one after it, without sorting them.
 *
 * Comes in: codes, in any order, which are overwritten. Goes out: two of them. Always holds: exact, whatever
 * is drawn as a sample; the codes are read a bounded number of times.
 *
 * Of many, a sample tells two codes between which the k-th is almost surely; those outside are counted, the
 * others kept (R. Floyd, R. Rivest, Expected time bounds for selection, 1975). What is left narrows down to
 * the codes that share a longer and longer head with the k-th. */
#include <math.h>

#include "part/sort_values.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#define BY_VECTORS 1
#else
#define BY_VECTORS 0
#endif

enum {
  FEW = 48,      /* that are sorted */
  MANY = 1 << 9, /* from here on a sample is drawn */
  MOST_SAMPLED = 1 << 10,
  MOST_ROUNDS = 4
};

/* Codes of which k is looked for: those among them before, and the least that is behind all of them. */
typedef struct Left {
  uint64_t *p;
  int64_t n, k;
  uint64_t above;
} Left;

/* ---- by a sample --------------------------------------------------------------------------------------- */

FL_PART_WIDE static void count_around(const uint64_t *p, int64_t n, uint64_t low, uint64_t high,
                                      int64_t *below, int64_t *upto) {
  uint64_t before = 0, until = 0;
  for (int64_t i = 0; i < n; i++) before += p[i] < low;
  for (int64_t i = 0; i < n; i++) until += p[i] <= high;
  *below = (int64_t)before;
  *upto = (int64_t)until;
}

/* Keeps those of the codes from `begin` on that are from low to high, behind `kept` others. */
static int64_t keep_some(Left *l, int64_t begin, int64_t kept, uint64_t low, uint64_t high) {
  uint64_t above = l->above;
  for (int64_t i = begin; i < l->n; i++) {
    uint64_t code = l->p[i];
    l->p[kept] = code;
    kept += code >= low && code <= high;
    above = code > high && code < above ? code : above;
  }
  l->above = above;
  return kept;
}

#if BY_VECTORS
__attribute__((target("avx512f,popcnt"))) static int64_t keep_eights(Left *l, uint64_t low, uint64_t high) {
  enum { LANES = 8 };
  __m512i least = _mm512_set1_epi64((long long)low), most = _mm512_set1_epi64((long long)high),
          above = _mm512_set1_epi64((long long)l->above);
  int64_t kept = 0, i = 0;
  for (; i + LANES <= l->n; i += LANES) {
    __m512i code = _mm512_loadu_si512(l->p + i);
    __mmask8 behind = _mm512_cmpgt_epu64_mask(code, most), in = _mm512_cmpge_epu64_mask(code, least);
    above = _mm512_mask_min_epu64(above, behind, above, code);
    in = (__mmask8)(in & ~behind);
    _mm512_storeu_si512(l->p + kept,
                        _mm512_maskz_compress_epi64(in, code)); /* nothing that is not read yet */
    kept += __builtin_popcount(in);
  }
  l->above = _mm512_reduce_min_epu64(above);
  return keep_some(l, i, kept, low, high);
}
#endif

static void keep(Left *l, uint64_t low, uint64_t high) {
#if BY_VECTORS
  if (fl_cpu_level() >= 4) {
    l->n = keep_eights(l, low, high);
    return;
  }
#endif
  l->n = keep_some(l, 0, 0, low, high);
}

/* The sample's codes some standard deviations before the k-th and behind it bound what is kept. */
static void narrow(Left *l) {
  uint64_t sample[MOST_SAMPLED], spare[MOST_SAMPLED], seed = (uint64_t)l->n;
  int64_t n = fl_part_min(l->n / 16, MOST_SAMPLED), each = l->n / n, below, upto;
  for (int64_t i = 0; i < n; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    sample[i] = l->p[i * each + (int64_t)((seed >> 33) % (uint64_t)each)];
  }
  fl_part_sort_near_words(sample, spare, n);
  int64_t at = (int64_t)((double)l->k / (double)l->n * (double)n), off = (int64_t)(1.5 * sqrt((double)n)) + 1;
  uint64_t low = at >= off ? sample[at - off] : 0, high = at + off < n ? sample[at + off] : UINT64_MAX;
  count_around(l->p, l->n, low, high, &below, &upto);
  if (l->k < below) {
    high = low - 1;
    low = 0;
    below = 0;
  } else if (l->k >= upto) {
    low = high + 1;
    high = UINT64_MAX;
    below = upto;
  }
  keep(l, low, high);
  l->k -= below;
}

/* ---- the rest ------------------------------------------------------------------------------------------ */

/* All that are left then are equal. */
static void by_digits(Left *l) {
  for (int shift = 56; shift >= 0 && l->n > 1; shift -= 8) {
    int64_t counts[256] = {0}, bucket = 0, kept = 0;
    for (int64_t i = 0; i < l->n; i++) counts[l->p[i] >> shift & 0xff]++;
    while (l->k >= counts[bucket]) l->k -= counts[bucket++];
    for (int64_t i = 0; i < l->n; i++) {
      uint64_t code = l->p[i];
      int64_t digit = (int64_t)(code >> shift & 0xff);
      if (digit == bucket) l->p[kept++] = code;
      else if (digit > bucket && code < l->above) l->above = code;
    }
    l->n = kept;
  }
}

static void sort_all(uint64_t *p, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    uint64_t x = p[i];
    int64_t j = i;
    for (; j > 0 && p[j - 1] > x; j--) p[j] = p[j - 1];
    p[j] = x;
  }
}

void fl_part_select(uint64_t *p, int64_t n, int64_t k, uint64_t *at, uint64_t *after) {
  Left l = {p, n, k, UINT64_MAX};
  for (int round = 0; round < MOST_ROUNDS && l.n >= MANY; round++) narrow(&l);
  if (l.n > FEW) by_digits(&l);
  else sort_all(l.p, l.n);
  *at = l.p[l.k];
  *after = l.k + 1 < l.n ? l.p[l.k + 1] : l.above == UINT64_MAX ? *at : l.above;
}
