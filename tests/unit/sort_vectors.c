/* sort_vectors.c: values that vectors sort where they stand, against a comparison: of every lane, every
 * length up to where all ways of sorting them begin and some beyond, in orders and with ends that are hard
 * for a quicksort; what stands before and behind them stays. */
#include "flow/abi.h"
#include "check.h"
#include "part/sort_vectors.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 16, MOST = 70000, SHAPES = 10 };

static uint64_t seed = 11;
static uint64_t draw(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t x = seed ^ seed >> 29;
  return x * UINT64_C(0xbf58476d1ce4e5b9) ^ x >> 32;
}

/* Some whole number for the value i of n. */
static int64_t number(int shape, int64_t i, int64_t n) {
  switch (shape) {
  case 0: return (int64_t)draw();
  case 1: return (int64_t)(draw() % 3);
  case 2: return i;
  case 3: return -i;
  case 4: return -1;
  case 5: return i < n / 2 ? i : n - i;
  case 6: return draw() % 8 ? INT64_MAX : (int64_t)draw();
  case 7: return draw() % 8 ? INT64_MIN : (int64_t)draw();
  case 8: return (int64_t)(draw() % 2 ? draw() % 100 : (uint64_t)i);
  default: return i % 17 * (draw() % 64 ? 1 : 1000);
  }
}

#define LANE(NAME, T, OF)                                                                                    \
  static int compare_##NAME(const void *x, const void *y) {                                                  \
    T a = *(const T *)x, b = *(const T *)y;                                                                  \
    return (a > b) - (a < b);                                                                                \
  }                                                                                                          \
  static bool right_##NAME(int shape, size_t n) {                                                            \
    static T found[MOST + 2 * AROUND], wanted[MOST + 2 * AROUND];                                            \
    for (size_t i = 0; i < n + 2 * AROUND; i++) {                                                            \
      int64_t v = number(shape, (int64_t)i, (int64_t)n + 2 * AROUND);                                        \
      found[i] = OF;                                                                                         \
    }                                                                                                        \
    memcpy(wanted, found, (n + 2 * AROUND) * sizeof *found);                                                 \
    qsort(wanted + AROUND, n, sizeof *wanted, compare_##NAME);                                               \
    fl_vectors_sort(FL_LANE_##NAME, found + AROUND, n);                                                      \
    return memcmp(found, wanted, (n + 2 * AROUND) * sizeof *found) == 0;                                     \
  }
LANE(I16, int16_t, (int16_t)v)
LANE(U16, uint16_t, (uint16_t)v)
LANE(I32, int32_t, (int32_t)v)
LANE(U32, uint32_t, (uint32_t)v)
LANE(I64, int64_t, v)
LANE(U64, uint64_t, (uint64_t)v)
LANE(F32, float, v == INT64_MIN ? -INFINITY : v == INT64_MAX ? INFINITY : (float)v + 0.0f)
LANE(F64, double, v == INT64_MIN ? -INFINITY : v == INT64_MAX ? INFINITY : (double)v / 8 + 0.0)

static bool right(FlLane lane, int shape, size_t n) {
  switch (lane) {
  case FL_LANE_I16: return right_I16(shape, n);
  case FL_LANE_U16: return right_U16(shape, n);
  case FL_LANE_I32: return right_I32(shape, n);
  case FL_LANE_U32: return right_U32(shape, n);
  case FL_LANE_F32: return right_F32(shape, n);
  case FL_LANE_I64: return right_I64(shape, n);
  case FL_LANE_U64: return right_U64(shape, n);
  case FL_LANE_F64: return right_F64(shape, n);
  }
  return false;
}

int main(void) {
  static const size_t longer[] = {1000, 2047, 2048, 8191, 8192, 8200, MOST};
  static const FlLane lanes[] = {FL_LANE_I16, FL_LANE_U16, FL_LANE_I32, FL_LANE_U32,
                                 FL_LANE_F32, FL_LANE_I64, FL_LANE_U64, FL_LANE_F64};
  if (fl_cpu_level() < 4) return finish();
  for (size_t l = 0; l < sizeof lanes / sizeof *lanes; l++) {
    for (int shape = 0; shape < SHAPES; shape++) {
      size_t wrong = 0;
      for (size_t n = 0; n < 700; n++) wrong += !right(lanes[l], shape, n);
      for (size_t k = 0; k < sizeof longer / sizeof *longer; k++) wrong += !right(lanes[l], shape, longer[k]);
      check(wrong == 0, "lane %d, shape %d: %zu lengths in another order", (int)lanes[l], shape, wrong);
    }
  }
  return finish();
}
