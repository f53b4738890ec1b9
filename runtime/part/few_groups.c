/* few_groups.c: sums of integers by group, where groups are few.
 *
 * Comes in: some integers and the group of each. Goes out: a sum a group. Always holds: four groups are
 * summed at a time, each in registers of its own, so that no row waits for what the row before it has added
 * to the same place in memory; integers that are added are the same in any order. */
#include "part/part_internal.h"

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

void fl_part_few_add_terms(const int64_t *id, const int64_t *high, const int64_t *low, int64_t n, int64_t g,
                           __int128 *sums) {
  int64_t highs[FL_PART_FEW], lows[FL_PART_FEW];
  fl_part_few_sums(id, high, n, g, highs);
  fl_part_few_sums(id, low, n, g, lows);
  for (int64_t k = 0; k < g; k++) sums[k] += fl_part_exact_term(highs[k], lows[k]);
}

void fl_part_few_add(const int64_t *id, const int64_t *x, int64_t n, int64_t g, bool is_unsigned,
                     __int128 *sums) {
  int64_t high[FL_PART_BATCH], low[FL_PART_BATCH], highs[FL_PART_FEW], lows[FL_PART_FEW];
  for (int64_t i = 0; i < n; i++) {
    high[i] = is_unsigned ? (int64_t)((uint64_t)x[i] >> 32) : x[i] >> 32;
    low[i] = x[i] & UINT32_MAX;
  }
  fl_part_few_sums(id, high, n, g, highs);
  fl_part_few_sums(id, low, n, g, lows);
  for (int64_t k = 0; k < g; k++) sums[k] += (__int128)highs[k] * ((int64_t)1 << 32) + lows[k];
}
