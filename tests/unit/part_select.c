/* part_select.c: the k-th smallest of codes and the one after it, against qsort: of few and of many, of codes
 * that are all different, nearly all equal, in order, or such that a sample drawn evenly says nothing of
 * them; at both ends, in the middle and at random. */
#include "check.h"
#include "levels.h"
#include "part/part_internal.h"

#include <stdlib.h>
#include <string.h>

enum { N_SHAPES = 11, MOST = 1 << 17 };

static uint64_t seed = 3;
static uint64_t draw(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t x = seed ^ seed >> 29;
  return x * UINT64_C(0xbf58476d1ce4e5b9) ^ x >> 32;
}

static uint64_t code_of(int shape, int64_t i, int64_t n) {
  uint64_t r = draw();
  switch (shape) {
  case 0: return r - (r == UINT64_MAX);
  case 1: return r % 3;
  case 2: return (uint64_t)i << 20;
  case 3: return (uint64_t)(n - i);
  case 4: return r % 64 ? UINT64_C(1) << 40 : r >> 20;
  case 5: return r % 64 ? UINT64_MAX - 1 : r >> 1;
  case 6: return r % 64 ? 0 : r >> 1;
  case 7: return i < n / 2 + 5 ? 7 : UINT64_C(1) << 63 | r >> 9; /* two halves */
  case 8:
  case 9: return r >> 1 | 1;
  default: return (r % 97 ? UINT64_C(0x3fe) : r % 2048 / 2) << 52 | r >> 40;
  }
}

/* The places that select.c draws, of codes that are least or most: what it keeps then is not what it wants.
 */
static void mislead(uint64_t *codes, int64_t n, uint64_t code) {
  int64_t drawn = n / 16 < 1024 ? n / 16 : 1024;
  uint64_t state = (uint64_t)n;
  for (int64_t i = 0; i < drawn; i++) {
    int64_t each = n / drawn;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    codes[i * each + (int64_t)((state >> 33) % (uint64_t)each)] = code;
  }
}

static int compare(const void *x, const void *y) {
  uint64_t p = *(const uint64_t *)x, q = *(const uint64_t *)y;
  return (p > q) - (p < q);
}

static void test_all(void) {
  static const int64_t SIZES[] = {1, 2, 3, 48, 49, 511, 512, 513, 1000, 5000, 16384, 16391, 100003};
  static uint64_t codes[MOST], sorted[MOST], p[MOST];
  seed = 3;
  for (int shape = 0; shape < N_SHAPES; shape++)
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
      int64_t n = SIZES[s];
      for (int64_t i = 0; i < n; i++) codes[i] = code_of(shape, i, n);
      if (shape == 8 || shape == 9) mislead(codes, n, shape == 8 ? 0 : UINT64_MAX - 1);
      memcpy(sorted, codes, (size_t)n * sizeof *codes);
      qsort(sorted, (size_t)n, sizeof *sorted, compare);
      for (int t = 0; t < 24; t++) {
        int64_t at_end = t % 6, k = t < 6    ? at_end
                                    : t < 12 ? n - 1 - at_end
                                    : t < 18 ? n / 2 - 3 + at_end
                                             : -1;
        if (k < 0 || k >= n) k = (int64_t)(draw() % (uint64_t)n);
        uint64_t at, after, next = sorted[k + 1 < n ? k + 1 : k];
        memcpy(p, codes, (size_t)n * sizeof *codes);
        fl_part_select(p, n, k, &at, &after);
        check(at == sorted[k] && after == next, "shape %d: %lld of %lld", shape, (long long)k, (long long)n);
      }
    }
}

int main(void) {
  at_levels(test_all);
  return finish();
}
