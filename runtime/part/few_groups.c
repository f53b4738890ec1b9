/* few_groups.c: sums of integers by group, where groups are few.
 *
 * Comes in: some integers and the group of each. Goes out: a sum a group. Always holds: four groups are
 * summed at a time, each in registers of its own, so that no row waits for what the row before it has added
 * to the same place in memory; integers that are added are the same in any order. */
#include "part/part_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { AT_ONCE = 4, LANES = 4 };
_Static_assert(FL_PART_FEW % AT_ONCE == 0, "groups are summed so many at a time");

/* Of the groups [first, first + AT_ONCE), of n rows. */
static void some_sums(const int64_t *id, const int64_t *x, int64_t n, int64_t first, int64_t *sums) {
  for (int64_t i = 0; i < n; i++)
    if ((uint64_t)(id[i] - first) < AT_ONCE) sums[id[i] - first] += x[i];
}

#if defined(__x86_64__)
typedef int64_t Lanes __attribute__((vector_size(LANES * 8), aligned(8)));

/* The same of whole LANES of rows. */
__attribute__((target("avx2"))) static void lanes_sums(const int64_t *id, const int64_t *x, int64_t n,
                                                       int64_t first, int64_t *sums) {
  Lanes sum[AT_ONCE] = {0};
  for (int64_t i = 0; i < n; i += LANES) {
    const Lanes group = *(const Lanes *)(id + i) - first, value = *(const Lanes *)(x + i);
    for (int64_t k = 0; k < AT_ONCE; k++) sum[k] += value & (group == k);
  }
  for (int k = 0; k < AT_ONCE; k++)
    for (int i = 0; i < LANES; i++) sums[k] += sum[k][i];
}

/* The same of two integers a row, eight rows at a time: who is of a group is asked once for both. */
enum { WIDE = 8 };
__attribute__((target("avx512f"))) static void wide_sums(const int64_t *id, const int64_t *x,
                                                         const int64_t *y, int64_t n, int64_t first,
                                                         int64_t *xs, int64_t *ys) {
  __m512i sum_x[AT_ONCE], sum_y[AT_ONCE];
  for (int k = 0; k < AT_ONCE; k++) sum_x[k] = sum_y[k] = _mm512_setzero_si512();
  for (int64_t i = 0; i < n; i += WIDE) {
    const __m512i group = _mm512_loadu_si512(id + i), a = _mm512_loadu_si512(x + i),
                  b = _mm512_loadu_si512(y + i);
    for (int k = 0; k < AT_ONCE; k++) {
      const __mmask8 in = _mm512_cmpeq_epi64_mask(group, _mm512_set1_epi64(first + k));
      sum_x[k] = _mm512_mask_add_epi64(sum_x[k], in, sum_x[k], a);
      sum_y[k] = _mm512_mask_add_epi64(sum_y[k], in, sum_y[k], b);
    }
  }
  for (int k = 0; k < AT_ONCE; k++) {
    xs[k] += _mm512_reduce_add_epi64(sum_x[k]);
    ys[k] += _mm512_reduce_add_epi64(sum_y[k]);
  }
}

bool fl_part_few_pays(void) { return fl_cpu_level() >= 3; }
#else
bool fl_part_few_pays(void) { return false; }
#endif

void fl_part_few_sums(const int64_t *id, const int64_t *x, int64_t n, int64_t g, int64_t *sums) {
  int64_t done = 0;
  memset(sums, 0, FL_PART_FEW * sizeof *sums);
#if defined(__x86_64__)
  if (fl_part_few_pays()) {
    done = n / LANES * LANES;
    for (int64_t k = 0; k < g; k += AT_ONCE) lanes_sums(id, x, done, k, sums + k);
  }
#endif
  for (int64_t k = 0; done < n && k < g; k += AT_ONCE) some_sums(id + done, x + done, n - done, k, sums + k);
}

/* Of two integers a row. */
static void pair_sums(const int64_t *id, const int64_t *x, const int64_t *y, int64_t n, int64_t g,
                      int64_t *xs, int64_t *ys) {
  int64_t done = 0;
#if defined(__x86_64__)
  if (fl_cpu_level() >= 4) done = n / WIDE * WIDE;
#endif
  fl_part_few_sums(id + done, x + done, n - done, g, xs);
  fl_part_few_sums(id + done, y + done, n - done, g, ys);
#if defined(__x86_64__)
  for (int64_t k = 0; done > 0 && k < g; k += AT_ONCE) wide_sums(id, x, y, done, k, xs + k, ys + k);
#endif
}

void fl_part_few_count(const int64_t *id, int64_t n, int64_t g, int64_t *counts) {
  int64_t one[FL_PART_BATCH], found[FL_PART_FEW];
  for (int64_t i = 0; i < fl_part_min(n, FL_PART_BATCH); i++) one[i] = 1;
  for (int64_t i = 0; i < n; i += FL_PART_BATCH) {
    fl_part_few_sums(id + i, one, fl_part_min(FL_PART_BATCH, n - i), g, found);
    for (int64_t k = 0; k < g; k++) counts[k] += found[k];
  }
}

void fl_part_few_add_terms(const int64_t *id, const int64_t *high, const int64_t *low, int64_t n, int64_t g,
                           __int128 *sums) {
  int64_t highs[FL_PART_FEW], lows[FL_PART_FEW];
  pair_sums(id, high, low, n, g, highs, lows);
  for (int64_t k = 0; k < g; k++) sums[k] += fl_part_exact_term(highs[k], lows[k]);
}

void fl_part_few_add(const int64_t *id, const int64_t *x, int64_t n, int64_t g, bool is_unsigned,
                     __int128 *sums) {
  int64_t high[FL_PART_BATCH], low[FL_PART_BATCH], highs[FL_PART_FEW], lows[FL_PART_FEW];
  for (int64_t i = 0; i < n; i++) {
    high[i] = is_unsigned ? (int64_t)((uint64_t)x[i] >> 32) : x[i] >> 32;
    low[i] = x[i] & UINT32_MAX;
  }
  pair_sums(id, high, low, n, g, highs, lows);
  for (int64_t k = 0; k < g; k++) sums[k] += (__int128)highs[k] * ((int64_t)1 << 32) + lows[k];
}
