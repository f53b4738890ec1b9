/* part_labels.c: sums and counts by label, random rows, splits and folds against plain loops. */
#include "part_array_kit.h"

/* ---- labels ------------------------------------------------------------------------------------------- */

static void test_segments(Kit *k, int32_t dtype, int64_t n, int64_t d, int64_t segments) {
  int64_t dims[2] = {n, d > 0 ? d : 1};
  FlArray *x = make_array(k, dtype, d > 0 ? 2 : 1, dims), *label = rows_of(k, n, 0, segments);
  bool floats = dtype == FL_F64 || dtype == FL_F32;
  int32_t out = floats ? dtype : FL_I64;
  if (dtype == FL_I64)
    for (int64_t i = 0; i < n * dims[1]; i++) ((int64_t *)x->data)[i] >>= 16;
  FlSlot r[1];
  Call c = {.result_types = {{(uint8_t)out, (uint8_t)x->rank, 0, 0}}}, count = {0};
  put_array(&c, x);
  put_array(&c, label);
  put_int(&c, segments);
  double *sums = calloc((size_t)(segments * dims[1]) + 1, 8),
         *sizes = calloc((size_t)(segments * dims[1]) + 1, 8);
  int64_t *exact = calloc((size_t)(segments * dims[1]) + 1, 8), *rows = calloc((size_t)segments + 1, 8);
  for (int64_t i = 0; i < n; i++) {
    int64_t s = ((int64_t *)label->data)[i];
    rows[s]++;
    for (int64_t j = 0; j < dims[1]; j++) {
      if (floats) sums[s * dims[1] + j] += element(x, i * dims[1] + j);
      if (floats) sizes[s * dims[1] + j] += fabs(element(x, i * dims[1] + j));
      if (!floats) exact[s * dims[1] + j] += integer(x, i * dims[1] + j);
    }
  }
  if (runs(k, fl_rt_segment_sum, &c, r, 0, "segment_sum")) {
    bool ok = r[0].a->dims[0] == segments && r[0].a->rank == x->rank;
    for (int64_t i = 0; ok && i < segments * dims[1]; i++) {
      ok = floats ? fabs(element(r[0].a, i) - sums[i]) <= sizes[i] * (dtype == FL_F64 ? 1e-13 : 1e-4)
                  : integer(r[0].a, i) == exact[i];
    }
    check(k, ok, "segment_sum");
    see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  put_array(&count, label);
  put_int(&count, segments);
  if (runs(k, fl_rt_segment_count, &count, r, 0, "segment_count")) {
    check(k, r[0].a->dims[0] == segments && memcmp(rows, r[0].a->data, (size_t)segments * 8) == 0,
          "segment_count");
    fl_array_unref(r[0].a);
  }
  if (n > 0) {
    ((int64_t *)label->data)[n / 2] = segments;
    runs(k, fl_rt_segment_sum, &c, r, 704, "a label out of range");
    runs(k, fl_rt_segment_count, &count, r, 704, "a label out of range");
  }
  free(sums);
  free(sizes);
  free(exact);
  free(rows);
  fl_array_unref(x);
  fl_array_unref(label);
}

/* ---- random rows -------------------------------------------------------------------------------------- */

/* Marks rows in `seen`; false when one is out of range or was there. */
static bool mark(uint8_t *seen, const FlArray *rows, int64_t n, bool ascending) {
  for (int64_t i = 0; i < rows->dims[0]; i++) {
    int64_t row = ((int64_t *)rows->data)[i];
    if (row < 0 || row >= n || seen[row]++) return false;
    if (ascending && i > 0 && row <= ((int64_t *)rows->data)[i - 1]) return false;
  }
  return true;
}

static void test_random(Kit *k, int64_t n) {
  uint8_t *seen = calloc((size_t)n + 1, 1);
  FlSlot r[2], all[1];
  Call p = {0}, c = {0};
  put_int(&p, 5);
  put_int(&p, n);
  if (runs(k, fl_rt_permutation, &p, r, 0, "permutation")) {
    check(k, r[0].a->dims[0] == n && mark(seen, r[0].a, n, false), "permutation");
    see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  put_int(&c, -9);
  put_int(&c, n);
  put_int(&c, n);
  if (runs(k, fl_rt_choice, &c, all, 0, "choice of all")) {
    int64_t few[4] = {0, n / 50, n / 3, n};
    for (int t = 0; t < 4; t++) { /* both ways agree */
      memset(seen, 0, (size_t)n);
      c.args[2].i = few[t];
      if (!runs(k, fl_rt_choice, &c, r, 0, "choice")) continue;
      check(k,
            r[0].a->dims[0] == few[t] && mark(seen, r[0].a, n, false) && same(r[0].a, 0, all[0].a, 0, few[t]),
            "choice");
      fl_array_unref(r[0].a);
    }
    fl_array_unref(all[0].a);
  }
  c.args[2].i = n + 1;
  runs(k, fl_rt_choice, &c, r, 973, "more rows than there are");
  c.args[2].i = -1;
  runs(k, fl_rt_choice, &c, r, 707, "a negative number of rows");
  c.i = 1;
  c.args[2].i = 3 * n;
  if (runs(k, fl_rt_choice, &c, r, 0, "choice with replacement")) {
    bool ok = r[0].a->dims[0] == 3 * n;
    for (int64_t i = 0; i < 3 * n; i++)
      ok &= ((int64_t *)r[0].a->data)[i] >= 0 && ((int64_t *)r[0].a->data)[i] < n;
    check(k, ok, "choice with replacement");
    see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  free(seen);
}

enum { STRATA = 4 };
static void count_strata(const FlArray *rows, const FlArray *stratum, int64_t *counts) {
  memset(counts, 0, STRATA * sizeof *counts);
  for (int64_t i = 0; i < rows->dims[0]; i++)
    counts[stratum != NULL ? ((int64_t *)stratum->data)[((int64_t *)rows->data)[i]] : 0]++;
}

static void test_splits(Kit *k, int64_t n, bool stratified) {
  FlArray *stratum = stratified ? rows_of(k, n, 0, STRATA) : NULL;
  uint8_t *seen = calloc((size_t)n + 1, 1);
  int64_t total[STRATA] = {stratified ? 0 : n}, part[STRATA];
  for (int64_t i = 0; stratified && i < n; i++) total[((int64_t *)stratum->data)[i]]++;
  FlSlot r[2];
  static const double fractions[] = {0.0, 0.25, 0.8, 1.0};
  for (int f = 0; f < 4; f++) {
    Call c = {0};
    put_int(&c, n);
    put_float(&c, fractions[f]);
    put_int(&c, 3);
    if (stratified) put_array(&c, stratum);
    if (!runs(k, fl_rt_split_rows, &c, r, 0, "split_rows")) continue;
    memset(seen, 0, (size_t)n);
    bool ok =
        mark(seen, r[0].a, n, true) && mark(seen, r[1].a, n, true) && r[0].a->dims[0] + r[1].a->dims[0] == n;
    count_strata(r[0].a, stratum, part);
    for (int s = 0; s < STRATA; s++) ok &= part[s] == (int64_t)nearbyint(fractions[f] * (double)total[s]);
    check(k, ok, "split_rows");
    see(k, r[0].a);
    fl_array_unref(r[0].a);
    fl_array_unref(r[1].a);
  }
  Call bad = {0}, folds = {0};
  put_int(&bad, n);
  put_float(&bad, NAN);
  put_int(&bad, 3);
  runs(k, fl_rt_split_rows, &bad, r, 707, "a fraction that is no number");
  int64_t kinds[3] = {2, 5, n};
  for (int t = 0; t < 3; t++) {
    int64_t folds_wanted = kinds[t];
    folds = (Call){0};
    put_int(&folds, n);
    put_int(&folds, folds_wanted);
    put_int(&folds, 8);
    if (stratified) put_array(&folds, stratum);
    if (folds_wanted < 2 || folds_wanted > n) {
      runs(k, fl_rt_kfold_rows, &folds, r, 974, "too few rows for the folds");
      continue;
    }
    if (folds_wanted > 100 || !runs(k, fl_rt_kfold_rows, &folds, r, 0, "kfold_rows")) continue;
    uint8_t *tested = calloc((size_t)n + 1, 1);
    bool ok = r[0].a->dims[0] == folds_wanted && r[1].a->dims[0] == folds_wanted;
    for (int64_t j = 0; j < folds_wanted; j++) {
      const FlArray *train = ((FlArray **)r[0].a->data)[j], *test = ((FlArray **)r[1].a->data)[j];
      memset(seen, 0, (size_t)n);
      ok &= mark(seen, train, n, true) && mark(seen, test, n, true) && mark(tested, test, n, true);
      ok &= train->dims[0] + test->dims[0] == n && labs(test->dims[0] * folds_wanted - n) < folds_wanted;
      count_strata(test, stratum, part);
      for (int s = 0; s < STRATA; s++) ok &= labs(part[s] * folds_wanted - total[s]) < folds_wanted;
    }
    check(k, ok, "kfold_rows");
    see(k, r[1].a);
    fl_array_unref(r[0].a);
    fl_array_unref(r[1].a);
    free(tested);
  }
  free(seen);
  fl_array_unref(stratum);
}

static void tests(Kit *k) {
  static const int32_t summed[] = {FL_F64, FL_F32, FL_I64, FL_I32, FL_BOOL, FL_U8};
  for (int t = 0; t < 6; t++) {
    test_segments(k, summed[t], 0, 0, 3);
    test_segments(k, summed[t], 1000, 0, 7);
    test_segments(k, summed[t], 50000, 0, 3000);
    test_segments(k, summed[t], 40000, 3, 5);
  }
  for (int64_t n = 1; n < 200000; n = n * 7 + 3) {
    test_random(k, n);
    test_splits(k, n, false);
    test_splits(k, n, true);
  }
}

int main(void) { return run_kit(tests); }
