/* part_few.c: sums of few groups are those that adding row by row gives, in 128 bits, of any 64 bits. */
#include "data/kept_rows.h"
#include "check.h"
#include "part/part_internal.h"
#include "splitmix.h"

static uint64_t state = 1;
static uint64_t draw(void) { return splitmix(&state); }

static int64_t any_integer(void) {
  static const int64_t edges[] = {INT64_MIN, INT64_MAX, -1, 0, 1, UINT32_MAX, -(INT64_C(1) << 32)};
  return draw() % 3 ? (int64_t)(draw() >> draw() % 64) : edges[draw() % 7];
}

/* n rows of g groups. */
static void test_sums(int64_t n, int64_t g) {
  int64_t id[FL_PART_BATCH], x[FL_PART_BATCH], high[FL_PART_BATCH], low[FL_PART_BATCH];
  int64_t small[FL_PART_BATCH], sums[FL_PART_FEW], small_sums[FL_PART_FEW] = {0};
  __int128 start[FL_PART_FEW], plain[FL_PART_FEW], positive[FL_PART_FEW], terms[FL_PART_FEW],
      found[FL_PART_FEW];
  for (int64_t k = 0; k < g; k++)
    terms[k] = positive[k] = plain[k] = start[k] = (__int128)any_integer() * ((__int128)1 << 40);
  for (int64_t i = 0; i < n; i++) {
    const int64_t k = id[i] = (int64_t)(draw() % (uint64_t)g);
    x[i] = any_integer();
    small[i] = x[i] >> 10;
    high[i] = x[i] >> 14; /* of 49 bits and 51, as terms have them */
    low[i] = any_integer() >> 13;
    plain[k] += x[i];
    positive[k] += (uint64_t)x[i];
    terms[k] += (__int128)high[i] * (INT64_C(1) << FL_EXACT_LOW) + low[i];
    small_sums[k] += small[i];
  }
  fl_part_few_sums(id, small, n, g, sums);
  CHECK(memcmp(sums, small_sums, sizeof sums) == 0);
  memcpy(found, start, sizeof found);
  fl_part_few_add(id, x, n, g, false, found);
  CHECK(memcmp(found, plain, (size_t)g * sizeof *found) == 0);
  memcpy(found, start, sizeof found);
  fl_part_few_add(id, x, n, g, true, found);
  CHECK(memcmp(found, positive, (size_t)g * sizeof *found) == 0);
  memcpy(found, start, sizeof found);
  fl_part_few_add_terms(id, high, low, n, g, found);
  CHECK(memcmp(found, terms, (size_t)g * sizeof *found) == 0);
}

/* Rows of each group, and bytes that are not 0, of any number of them. */
static void test_counts(int64_t n, int64_t g) {
  int64_t *id = malloc((size_t)(n + 1) * sizeof *id), counts[FL_PART_FEW] = {5}, plain[FL_PART_FEW] = {5};
  uint8_t *mask = malloc((size_t)n + 1);
  int64_t kept = 0;
  for (int64_t i = 0; i < n; i++) {
    plain[id[i] = (int64_t)(draw() % (uint64_t)g)]++;
    mask[i] = (uint8_t)(draw() % 3 ? draw() >> draw() % 64 : 0);
    kept += mask[i] != 0;
  }
  fl_part_few_count(id, n, g, counts);
  CHECK(memcmp(counts, plain, sizeof plain) == 0);
  for (int64_t from = 0; from < 3 && from <= n; from++) {
    CHECK(fl_count_true(mask + from, n - from) == kept);
    if (from < n) kept -= mask[from] != 0;
  }
  if (n > 0) memset(mask, UINT8_MAX, (size_t)n);
  CHECK(fl_count_true(mask, n) == n);
  free(id);
  free(mask);
}

int main(void) {
  for (int64_t g = 1; g <= FL_PART_FEW; g++) {
    for (int64_t n = 0; n < 20; n++) test_sums(n, g);
    for (int round = 0; round < 200; round++) test_sums((int64_t)(draw() % (FL_PART_BATCH + 1)), g);
    test_sums(FL_PART_BATCH, g);
    for (int64_t n = 0; n < 5000; n = 2 * n + 1 + g) test_counts(n, g);
  }
  return finish();
}
