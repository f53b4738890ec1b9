/* fold.c: the tree of folds in each of its three forms, for any number of leaves, against its definition. */
#include "check.h"
#include "flow/abi.h"

#include <stdlib.h>
#include <string.h>

enum { LEAVES = 300, WIDTH = 5, APART = 7 };

static double value(int64_t i) { return (double)((i * 7919 + 13) % 1009) / 7 + (i % 3 == 0 ? 1e15 : 0); }
static double factor(int64_t i) { return 1 + (double)((i * 7919) % 1009) / 1e5; }

/* fold(n leaves) = fold(the first p) + fold(the rest), p the largest power of two below n. */
static double by_definition(double (*leaf)(int64_t), int64_t from, int64_t step, int64_t n, bool times) {
  int64_t p = 1;
  if (n == 1) return leaf(from);
  while (2 * p < n) p *= 2;
  double a = by_definition(leaf, from, step, p, times),
         b = by_definition(leaf, from + p * step, step, n - p, times);
  return times ? a * b : a + b;
}

static float by_definition32(int64_t from, int64_t n, bool times) {
  int64_t p = 1;
  if (n == 1) return (float)(times ? factor(from) : value(from));
  while (2 * p < n) p *= 2;
  float a = by_definition32(from, p, times), b = by_definition32(from + p, n - p, times);
  return times ? a * b : a + b;
}

/* The same over rows of numbers: leaf k of column i is number k * APART + i. */
static float rows32(int64_t from, int64_t n) {
  int64_t p = 1;
  if (n == 1) return (float)value(from);
  while (2 * p < n) p *= 2;
  return rows32(from, p) + rows32(from + p * APART, n - p);
}

/* join(n lanes) = join(each of the first half with its partner in the second). */
static void lanes_of_a_block(void) {
  double sums[FL_LANES], products[FL_LANES], left[FL_LANES], times[FL_LANES];
  float sums32[FL_LANES], products32[FL_LANES], left32[FL_LANES], times32[FL_LANES];
  for (int i = 0; i < FL_LANES; i++) {
    left[i] = sums[i] = value(i);
    left32[i] = sums32[i] = (float)value(i);
    times[i] = products[i] = factor(i);
    times32[i] = products32[i] = (float)factor(i);
  }
  for (int n = FL_LANES / 2; n >= 1; n /= 2)
    for (int i = 0; i < n; i++) {
      left[i] += left[n + i];
      left32[i] += left32[n + i];
      times[i] *= times[n + i];
      times32[i] *= times32[n + i];
    }
  CHECK(fl_lanes_sum_f64(sums) == left[0] && fl_lanes_sum_f32(sums32) == left32[0]);
  CHECK(fl_lanes_product_f64(products) == times[0] && fl_lanes_product_f32(products32) == times32[0]);
  fl_lanes_fill_f64(sums, 3);
  fl_lanes_fill_f32(sums32, 3);
  CHECK(fl_lanes_sum_f64(sums) == 96 && fl_lanes_sum_f32(sums32) == 96);
}

static void leaf_after_leaf(void) {
  double sums[FL_FOLD_LEVELS], products[FL_FOLD_LEVELS], sum = value(0), product = factor(0);
  float sums32[FL_FOLD_LEVELS], products32[FL_FOLD_LEVELS], sum32 = (float)value(0),
                                                            product32 = (float)factor(0);
  bool same = true;
  for (int64_t k = 1; k < LEAVES; k++) {
    sum = fl_fold_sum_f64(sums, k, sum, value(k));
    product = fl_fold_product_f64(products, k, product, factor(k));
    sum32 = fl_fold_sum_f32(sums32, k, sum32, (float)value(k));
    product32 = fl_fold_product_f32(products32, k, product32, (float)factor(k));
    same = same && sum == by_definition(value, 0, 1, k + 1, false);
    same = same && product == by_definition(factor, 0, 1, k + 1, true);
    same = same && sum32 == by_definition32(0, k + 1, false) && product32 == by_definition32(0, k + 1, true);
  }
  CHECK(same);
}

static void rows_of_numbers(void) {
  static double leaves[LEAVES * APART], levels[FL_FOLD_LEVELS * WIDTH], all[LEAVES * APART];
  static float levels32[FL_FOLD_LEVELS * WIDTH], all32[LEAVES * APART];
  double out[WIDTH];
  float out32[WIDTH];
  bool same = true, untouched = true;
  for (int64_t i = 0; i < LEAVES * APART; i++) leaves[i] = value(i);
  fl_fold_end_f64(levels, WIDTH, WIDTH, 0, out);
  for (int i = 0; i < WIDTH; i++) same = same && out[i] == 0;
  for (int64_t n = 1; n <= LEAVES; n++) {
    float next32[WIDTH];
    for (int i = 0; i < WIDTH; i++) next32[i] = (float)leaves[(n - 1) * APART + i];
    double *place = levels + __builtin_ctzll(~(uint64_t)(n - 1)) * WIDTH, *leaf = leaves + (n - 1) * APART;
    bool there = n % 2;
    if (there) memcpy(place, leaf, sizeof out);
    fl_fold_push_f64(levels, WIDTH, n - 1, there ? place : leaf);
    fl_fold_push_f32(levels32, WIDTH, n - 1, next32);
    fl_fold_end_f64(levels, WIDTH, WIDTH, n, out);
    fl_fold_end_f32(levels32, WIDTH, WIDTH, n, out32);
    memcpy(all, leaves, sizeof all);
    for (int64_t i = 0; i < LEAVES * APART; i++) all32[i] = (float)leaves[i];
    fl_fold_rows_f64(all, n, APART, WIDTH);
    fl_fold_rows_f32(all32, n, APART, WIDTH);
    for (int i = 0; i < WIDTH; i++) {
      double sum = by_definition(value, i, APART, n, false);
      same = same && out[i] == sum && all[i] == sum && out32[i] == all32[i] && all32[i] == rows32(i, n);
    }
    untouched = untouched && all[WIDTH] == leaves[WIDTH]; /* what stands behind the width */
  }
  CHECK(same);
  CHECK(untouched);
}

/* The part of a fold that is a complete subtree may be folded by itself. */
static void by_subtrees(void) {
  bool same = true;
  for (int64_t n = 1; n <= LEAVES; n++)
    for (int64_t subtree = 2; subtree <= 64; subtree *= 2) {
      double levels[FL_FOLD_LEVELS], parts[LEAVES];
      int64_t n_parts = (n + subtree - 1) / subtree;
      for (int64_t s = 0; s < n_parts; s++) {
        int64_t here = n - s * subtree < subtree ? n - s * subtree : subtree;
        parts[s] = value(s * subtree);
        for (int64_t k = 1; k < here; k++)
          parts[s] = fl_fold_sum_f64(levels, k, parts[s], value(s * subtree + k));
      }
      fl_fold_rows_f64(parts, n_parts, 1, 1);
      same = same && parts[0] == by_definition(value, 0, 1, n, false);
    }
  CHECK(same);
}

int main(void) {
  lanes_of_a_block();
  leaf_after_leaf();
  rows_of_numbers();
  by_subtrees();
  return finish();
}
