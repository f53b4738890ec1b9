/* fold.c: the tree by which the leaves of every float fold are joined (LANGUAGE 5, SCALE 2).
 *
 * In: leaves from left to right, or all at once. Out: their fold. What always holds: a leaf's number says
 * with what it is joined, as a carry runs through the bits of a counter: level j holds the fold of 2^j leaves
 * as long as bit j of the number of leaves is set. */
#include "flow/abi.h"

#include <string.h>

#define LANES(T, SUFFIX)                                                                                     \
  void fl_lanes_fill_##SUFFIX(T *lanes, T v) {                                                               \
    for (int i = 0; i < FL_LANES; i++) lanes[i] = v;                                                         \
  }                                                                                                          \
  T fl_lanes_sum_##SUFFIX(T *lanes) {                                                                        \
    for (int half = FL_LANES / 2; half >= 1; half /= 2)                                                      \
      for (int i = 0; i < half; i++) lanes[i] = lanes[i] + lanes[i + half];                                  \
    return lanes[0];                                                                                         \
  }                                                                                                          \
  T fl_lanes_product_##SUFFIX(T *lanes) {                                                                    \
    for (int half = FL_LANES / 2; half >= 1; half /= 2)                                                      \
      for (int i = 0; i < half; i++) lanes[i] = lanes[i] * lanes[i + half];                                  \
    return lanes[0];                                                                                         \
  }

LANES(double, f64)
LANES(float, f32)

#define FOLD(NAME, T, OP)                                                                                    \
  T NAME(T *levels, int64_t leaf, T so_far, T next) {                                                        \
    int64_t count = leaf;                                                                                    \
    int j = 0;                                                                                               \
    if (leaf == 1) levels[0] = so_far;                                                                       \
    for (; count & 1; count >>= 1) next = levels[j++] OP next;                                               \
    levels[j] = next;                                                                                        \
    for (; count; count >>= 1, j++)                                                                          \
      if (count & 1) next = levels[j] OP next;                                                               \
    return next;                                                                                             \
  }

FOLD(fl_fold_sum_f64, double, +)
FOLD(fl_fold_sum_f32, float, +)
FOLD(fl_fold_product_f64, double, *)
FOLD(fl_fold_product_f32, float, *)

#define FOLD_ROWS(T, SUFFIX)                                                                                 \
  /* right[i] = left[i] + right[i] */                                                                        \
  static void add_##SUFFIX(const T *left, T *right, int64_t n) {                                             \
    for (int64_t i = 0; i < n; i++) right[i] = left[i] + right[i];                                           \
  }                                                                                                          \
  void fl_fold_push_##SUFFIX(T *levels, int64_t width, int64_t leaf, const T *next) {                        \
    int j = __builtin_ctzll(~(uint64_t)leaf);                                                                \
    T *to = levels + j * width;                                                                              \
    if (width > 0 && to != next) memcpy(to, next, (size_t)width * sizeof *to);                               \
    for (int i = 0; i < j; i++) add_##SUFFIX(levels + i * width, to, width);                                 \
  }                                                                                                          \
  void fl_fold_end_##SUFFIX(const T *levels, int64_t width, int64_t apart, int64_t leaves, T *out) {         \
    bool first = true;                                                                                       \
    if (width > 0) memset(out, 0, (size_t)width * sizeof *out);                                              \
    for (int j = 0; leaves >> j && width > 0; j++) {                                                         \
      if (!(leaves >> j & 1)) continue;                                                                      \
      if (first) memcpy(out, levels + j * apart, (size_t)width * sizeof *out);                               \
      else add_##SUFFIX(levels + j * apart, out, width);                                                     \
      first = false;                                                                                         \
    }                                                                                                        \
  }                                                                                                          \
  void fl_fold_rows_##SUFFIX(T *leaf, int64_t leaves, int64_t step, int64_t width) {                         \
    for (int64_t apart = 1; apart < leaves; apart *= 2) {                                                    \
      for (int64_t b = 0; b + apart < leaves; b += 2 * apart) {                                              \
        T *to = leaf + b * step;                                                                             \
        const T *from = to + apart * step;                                                                   \
        for (int64_t i = 0; i < width; i++) to[i] += from[i];                                                \
      }                                                                                                      \
    }                                                                                                        \
  }

FOLD_ROWS(double, f64)
FOLD_ROWS(float, f32)
