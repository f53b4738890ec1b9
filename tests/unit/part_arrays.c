/* part_arrays.c: the bulk operators of arrays, lists, labels, random rows and linear algebra against plain
 * loops. */
#include <stdint.h>

#include "exec/exec_internal.h"
#include "part_kit.h"

/* ---- arrays ------------------------------------------------------------------------------------------- */

static FlArray *make_array(Kit *k, int32_t dtype, int32_t rank, const int64_t *dims) {
  FlArray *a = fl_array_zeros(k->ctx, dtype, rank, dims);
  int64_t n = fl_array_count(a), bytes = fl_array_bytes(a);
  for (int64_t i = 0; i < n; i++) {
    switch (dtype) {
    case FL_F64: ((double *)a->data)[i] = (double)((int64_t)draw(k) >> 20) * 0x1p-43; break;
    case FL_F32: ((float *)a->data)[i] = (float)((int64_t)draw(k) >> 45) * 0x1p-18f; break;
    case FL_TEXT: ((FlText *)a->data)[i] = make_text(k, draw(k) & 1); break;
    case FL_BOOL: ((uint8_t *)a->data)[i] = draw(k) & 1; break;
    default: break;
    }
  }
  if (dtype == FL_TEXT && fl_array_keep(k->ctx, a, k->heap, NULL, 0) != 0) abort();
  if (dtype != FL_F64 && dtype != FL_F32 && dtype != FL_TEXT && dtype != FL_BOOL) {
    for (int64_t i = 0; i < bytes; i++) ((uint8_t *)a->data)[i] = (uint8_t)draw(k);
  }
  return a;
}

static FlArray *make_list(Kit *k, int32_t dtype, int32_t rank, int64_t n, bool same_size) {
  FlArray *list = fl_array_new(k->ctx, FL_LIST, 1, &n);
  for (int64_t i = 0; i < n; i++) {
    int64_t dims[3] = {same_size ? 4 : (int64_t)(draw(k) % 5), 3, 2};
    ((FlArray **)list->data)[i] = make_array(k, dtype, rank, dims);
  }
  return list;
}

/* Whether `count` elements from a[i] are those from b[j]. Lists share their elements. */
static bool same(const FlArray *a, int64_t i, const FlArray *b, int64_t j, int64_t count) {
  if (a->dtype != b->dtype) return false;
  if (a->dtype != FL_TEXT) {
    int64_t size = fl_dtype_info[a->dtype].bytes;
    return count == 0 ||
           memcmp((char *)a->data + i * size, (char *)b->data + j * size, (size_t)(count * size)) == 0;
  }
  for (int64_t c = 0; c < count; c++) {
    FlText x = ((FlText *)a->data)[i + c], y = ((FlText *)b->data)[j + c];
    if (x.len != y.len || (x.len > 0 && memcmp(x.ptr, y.ptr, (size_t)x.len) != 0)) return false;
  }
  return true;
}

static bool zeros(const FlArray *a, int64_t i, int64_t count) {
  int64_t size = fl_dtype_info[a->dtype].bytes;
  for (int64_t b = 0; b < count * size; b++)
    if (((char *)a->data)[i * size + b]) return false;
  return true;
}

static FlType1 type_of(const FlArray *a) { return (FlType1){(uint8_t)a->dtype, (uint8_t)a->rank, 0, 0}; }

/* Runs a call that must give `code` (0: succeed); true when results are owned. */
static bool runs(Kit *k, FlRuntimeOp *op, Call *c, FlSlot *r, int code, const char *what) {
  FlCtx own, *ctx = k->ctx; /* a context keeps its first error */
  fl_ctx_init(&own, fl_ctx_run(ctx), NULL);
  k->ctx = &own;
  FlStatus status = call(k, op, c, r);
  check(k, (status != 0) == (code != 0) && (code == 0 || fl_ctx_code(&own) == code), what);
  k->ctx = ctx;
  fl_ctx_reset(&own);
  return status == 0;
}

static FlArray *rows_of(Kit *k, int64_t m, int64_t least, int64_t n) {
  FlArray *rows = fl_array_new(k->ctx, FL_I64, 1, &m);
  for (int64_t i = 0; i < m; i++)
    ((int64_t *)rows->data)[i] = least + (int64_t)(draw(k) % (uint64_t)(n - least));
  return rows;
}

static void test_choosing(Kit *k, FlArray *a, const char *what) {
  int64_t n = a->dims[0], width = fl_array_row_count(a), m = n > 0 ? 2 * n / 3 + 1 : 0;
  FlSlot r[3];
  for (int missing = 0; missing < 2; missing++) {
    FlArray *rows = n > 0 || missing ? rows_of(k, n > 0 ? m : 3, missing ? -1 : 0, n) : rows_of(k, 0, 0, 1);
    Call c = {.i = missing};
    put_array(&c, rows);
    put_array(&c, a);
    put_array(&c, a);
    if (!runs(k, fl_rt_take, &c, r, 0, what)) continue;
    bool ok = r[0].a->dims[0] == rows->dims[0] && r[0].a->rank == a->rank;
    for (int64_t i = 0; ok && i < rows->dims[0]; i++) {
      int64_t row = ((int64_t *)rows->data)[i];
      ok = row < 0 ? zeros(r[0].a, i * width, width) : same(r[0].a, i * width, a, row * width, width);
    }
    check(k, ok && same(r[0].a, 0, r[1].a, 0, fl_array_count(r[0].a)), what);
    if (a->dtype != FL_LIST || !missing) see(k, r[0].a);
    fl_array_unref(r[0].a);
    fl_array_unref(r[1].a);
    fl_array_unref(rows);
  }
  FlArray *mask = make_array(k, FL_BOOL, 1, &n);
  Call c = {0};
  put_array(&c, mask);
  put_array(&c, a);
  if (runs(k, fl_rt_compress, &c, r, 0, what)) {
    int64_t at = 0;
    bool ok = r[0].i == r[1].a->dims[0];
    for (int64_t i = 0; ok && i < n; i++) {
      if (((uint8_t *)mask->data)[i]) ok = at < r[0].i && same(r[1].a, at++ * width, a, i * width, width);
    }
    check(k, ok && at == r[0].i, what);
    fl_array_unref(r[1].a);
  }
  fl_array_unref(mask);
  int64_t longer = n + 1;
  mask = make_array(k, FL_BOOL, 1, &longer);
  Call wrong = {0};
  put_array(&wrong, mask);
  put_array(&wrong, a);
  runs(k, fl_rt_compress, &wrong, r, 708, "a mask of another length");
  fl_array_unref(mask);
}

static void test_joining(Kit *k, FlArray *a, const char *what) {
  int64_t n = a->dims[0], width = fl_array_row_count(a);
  FlSlot r[1], view[1];
  Call rows = {0}, c = {.result_types = {type_of(a)}};
  if (a->dtype == FL_LIST) c.result_types[0] = (FlType1){FL_F64, 1, 1, 0};
  put_array(&rows, a);
  put_int(&rows, n / 3);
  put_int(&rows, n / 3 * 2);
  if (!runs(k, fl_rt_rows, &rows, view, 0, what)) return;
  check(k,
        view[0].a->dims[0] == n / 3 * 2 - n / 3 &&
            same(view[0].a, 0, a, n / 3 * width, view[0].a->dims[0] * width) &&
            view[0].a->buffer == a->buffer,
        what);
  put_array(&c, a);
  put_array(&c, view[0].a);
  put_array(&c, a);
  if (runs(k, fl_rt_concat, &c, r, 0, what)) {
    int64_t part = view[0].a->dims[0];
    check(k,
          r[0].a->dims[0] == 2 * n + part && same(r[0].a, 0, a, 0, n * width) &&
              same(r[0].a, n * width, view[0].a, 0, part * width) &&
              same(r[0].a, (n + part) * width, a, 0, n * width),
          what);
    see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  fl_array_unref(view[0].a);
  static const int64_t bounds[4][2] = {{-1, 0}, {1, 0}, {0, 1}, {1, 1}};
  for (int b = 0; b < 4; b++) {
    Call bad = {0};
    put_array(&bad, a);
    put_int(&bad, bounds[b][0] + (b >= 2 ? n : 0));
    put_int(&bad, bounds[b][1] + (b >= 2 ? n : 0));
    runs(k, fl_rt_rows, &bad, r, 704, "rows out of bounds");
  }
}

static void test_shapes(Kit *k, FlArray *a, const char *what) {
  int64_t n = a->dims[0], d = fl_array_row_count(a);
  FlSlot flat[1], matrix[1], flipped[1];
  Call one = {0}, two = {0}, bad = {0}, flip = {0};
  put_array(&one, a);
  put_int(&one, n * d);
  if (!runs(k, fl_rt_reshape, &one, flat, 0, what)) return;
  check(k, flat[0].a->rank == 1 && flat[0].a->dims[0] == n * d && flat[0].a->data == a->data, what);
  put_array(&two, flat[0].a);
  put_int(&two, n);
  put_int(&two, d);
  put_array(&bad, a);
  put_int(&bad, n * d + 1);
  runs(k, fl_rt_reshape, &bad, matrix, 708, "another number of elements");
  if (runs(k, fl_rt_reshape, &two, matrix, 0, what)) {
    put_array(&flip, matrix[0].a);
    if (runs(k, fl_rt_transpose, &flip, flipped, 0, what)) {
      bool ok = flipped[0].a->dims[0] == d && flipped[0].a->dims[1] == n;
      for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) ok &= same(flipped[0].a, j * n + i, a, i * d + j, 1);
      check(k, ok, what);
      fl_array_unref(flipped[0].a);
    }
    fl_array_unref(matrix[0].a);
  }
  fl_array_unref(flat[0].a);
}

/* Rows of a view that begins at an odd address. */
static void test_unaligned(Kit *k) {
  int64_t n = 1025, size = 4;
  FlArray *bytes = make_array(k, FL_U8, 1, &n);
  FlSlot tail[1], wide[1];
  Call c = {0}, shape = {0};
  put_array(&c, bytes);
  put_int(&c, 1);
  put_int(&c, n);
  if (runs(k, fl_rt_rows, &c, tail, 0, "a view")) {
    put_array(&shape, tail[0].a);
    put_int(&shape, (n - 1) / size);
    put_int(&shape, size);
    if (runs(k, fl_rt_reshape, &shape, wide, 0, "a view as matrix")) {
      test_choosing(k, wide[0].a, "an unaligned view");
      fl_array_unref(wide[0].a);
    }
    fl_array_unref(tail[0].a);
  }
  fl_array_unref(bytes);
}

/* ---- lists -------------------------------------------------------------------------------------------- */

static void test_lists(Kit *k, int32_t dtype, int32_t rank, int64_t n) {
  FlSlot r[1];
  FlArray *list = make_list(k, dtype, rank, n, false), *even = make_list(k, dtype, rank, n, true);
  FlArray **items = list->data;
  Call c = {.result_types = {{(uint8_t)dtype, (uint8_t)rank, 0, 0}}};
  put_array(&c, list);
  if (runs(k, fl_rt_list_concat, &c, r, 0, "list_concat")) {
    int64_t at = 0;
    bool ok = r[0].a->rank == rank && r[0].a->dtype == dtype;
    for (int64_t i = 0; i < n; i++) {
      ok &= same(r[0].a, at, items[i], 0, fl_array_count(items[i]));
      at += fl_array_count(items[i]);
    }
    check(k, ok && fl_array_count(r[0].a) == at, "list_concat");
    see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  Call stack = {.result_types = {{(uint8_t)dtype, (uint8_t)(rank + 1), 0, 0}}};
  put_array(&stack, even);
  if (runs(k, fl_rt_list_stack, &stack, r, 0, "list_stack")) {
    bool ok = r[0].a->rank == rank + 1 && r[0].a->dims[0] == n;
    int64_t each = n > 0 ? fl_array_count(((FlArray **)even->data)[0]) : 0;
    for (int64_t i = 0; i < n; i++) ok &= same(r[0].a, i * each, ((FlArray **)even->data)[i], 0, each);
    check(k, ok && fl_array_count(r[0].a) == n * each, "list_stack");
    see(k, r[0].a);
    /* texts stay readable when their sources are gone */
    fl_array_unref(even);
    even = NULL;
    (void)fl_array_digest(r[0].a);
    fl_array_unref(r[0].a);
  }
  if (n > 1) {
    Call of = {0}, uneven = {.result_types = {{(uint8_t)dtype, (uint8_t)(rank + 1), 0, 0}}};
    for (int64_t i = 0; i < 2; i++) put_array(&of, items[i]);
    if (runs(k, fl_rt_list_of, &of, r, 0, "list_of")) {
      check(k, r[0].a->dims[0] == 2 && ((FlArray **)r[0].a->data)[1] == items[1], "list_of");
      put_array(&uneven, r[0].a);
      if (items[0]->dims[0] != items[1]->dims[0]) {
        FlSlot none[1];
        runs(k, fl_rt_list_stack, &uneven, none, 708, "a stack of different sizes");
      }
      fl_array_unref(r[0].a);
    }
  }
  test_choosing(k, list, "rows of a list");
  test_joining(k, list, "parts of a list");
  fl_array_unref(list);
  fl_array_unref(even);
}

/* ---- labels ------------------------------------------------------------------------------------------- */

static double element(const FlArray *a, int64_t i) {
  return a->dtype == FL_F64 ? ((double *)a->data)[i] : (double)((float *)a->data)[i];
}
static int64_t integer(const FlArray *a, int64_t i) {
  switch (a->dtype) {
  case FL_I64: return ((int64_t *)a->data)[i];
  case FL_I32: return ((int32_t *)a->data)[i];
  default: return ((uint8_t *)a->data)[i];
  }
}

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

/* ---- linear algebra ----------------------------------------------------------------------------------- */

/* sum(for p: a[p] b[p]) in the language's order. */
static double ordered(const double *a, const double *b, int64_t n) {
  double sum = 0;
  for (int64_t from = 0; from < n; from += FL_BLOCK) {
    double lane[FL_LANES] = {0};
    for (int64_t p = 0; p < FL_BLOCK && from + p < n; p++)
      lane[p % FL_LANES] = fma(a[from + p], b[from + p], lane[p % FL_LANES]);
    for (int half = FL_LANES / 2; half > 0; half /= 2)
      for (int i = 0; i < half; i++) lane[i] += lane[i + half];
    sum = from == 0 ? lane[0] : sum + lane[0];
  }
  return sum;
}

/* [m, p] @ [p, n]; m or n 0: a vector there. */
static void test_matmul(Kit *k, int32_t dtype, int64_t m, int64_t p, int64_t n, int flips) {
  int64_t da[2] = {m, p}, db[2] = {p, n}, rows = m > 0 ? m : 1, columns = n > 0 ? n : 1;
  if (flips & 1) da[0] = p, da[1] = m;
  if (flips & 2) db[0] = n, db[1] = p;
  FlArray *a = m > 0 ? make_array(k, dtype, 2, da) : make_array(k, dtype, 1, &p);
  FlArray *b = n > 0 ? make_array(k, dtype, 2, db) : make_array(k, dtype, 1, &p);
  bool floats = dtype == FL_F64 || dtype == FL_F32;
  for (int64_t i = 0; dtype == FL_I64 && i < fl_array_count(a); i++) ((int64_t *)a->data)[i] >>= 36;
  for (int64_t i = 0; dtype == FL_I64 && i < fl_array_count(b); i++) ((int64_t *)b->data)[i] >>= 44;
  char what[96];
  snprintf(what, sizeof what, "matmul %s [%lld, %lld] by [%lld, %lld], flips %d", fl_dtype_info[dtype].name,
           (long long)m, (long long)p, (long long)p, (long long)n, flips);
  Call c = {.i = flips};
  FlSlot r[1];
  put_array(&c, a);
  put_array(&c, b);
  double *x = malloc((size_t)(p + 1) * 8), *y = malloc((size_t)(p + 1) * 8);
  if (runs(k, fl_rt_matmul, &c, r, 0, what)) {
    bool array = m > 0 || n > 0, ok = !array || fl_array_count(r[0].a) == rows * columns;
    for (int64_t i = 0; ok && i < rows; i++) {
      for (int64_t j = 0; j < columns; j++) {
        double size = 0, sum = 0;
        int64_t exact = 0;
        for (int64_t q = 0; q < p; q++) {
          int64_t at = flips & 1 ? q * m + i : i * p + q, to = flips & 2 ? j * p + q : q * columns + j;
          if (!floats) {
            exact += integer(a, at) * integer(b, to);
            continue;
          }
          x[q] = element(a, at);
          y[q] = element(b, to);
          sum += x[q] * y[q];
          size += fabs(x[q] * y[q]);
        }
        double got = !floats           ? 0
                     : array           ? element(r[0].a, i * columns + j)
                     : dtype == FL_F64 ? r[0].f
                                       : (double)r[0].f32;
        if (!floats) ok &= (array ? integer(r[0].a, i * columns + j) : r[0].i) == exact;
        else if (dtype == FL_F64 && (rows == 1 || columns == 1)) ok &= got == ordered(x, y, p);
        else ok &= fabs(got - sum) <= size * (dtype == FL_F64 ? 1e-13 : 1e-5);
      }
    }
    check(k, ok, what);
    if (array) see(k, r[0].a);
    if (array) fl_array_unref(r[0].a);
  }
  free(x);
  free(y);
  fl_array_unref(a);
  fl_array_unref(b);
}

static FlArray *integers(Kit *k, int32_t dtype, int64_t n, const int64_t *v) {
  FlArray *a = fl_array_new(k->ctx, dtype, 1, &n);
  memcpy(a->data, v, (size_t)n * 8);
  return a;
}

static void test_integer_limits(Kit *k) {
  static const int64_t least[4] = {INT64_MIN, INT64_MIN, INT64_MIN, 5},
                       other[4] = {INT64_MIN, INT64_MIN, INT64_MAX, 1};
  static const int64_t back[4] = {INT64_MIN, INT64_MIN, INT64_MAX, INT64_MAX};
  static const int64_t to_zero[4] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
  FlSlot r[1];
  FlArray *a = integers(k, FL_I64, 4, least), *b = integers(k, FL_I64, 4, other);
  Call over = {0}, u = {0};
  put_array(&over, a);
  put_array(&over, b);
  runs(k, fl_rt_matmul, &over, r, 701, "a product that does not fit");
  int64_t x[6] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, 7};
  int64_t y[6] = {INT64_MIN, INT64_MIN, INT64_MAX, INT64_MAX, 2, 3};
  FlArray *c = integers(k, FL_I64, 6, x), *d = integers(k, FL_I64, 6, y);
  Call fits = {0};
  put_array(&fits, c);
  put_array(&fits, d);
  /* 2^126 + 2^126 - 2 * 2^63 (2^63 - 1) - 2 * 2^63 + 21: beyond 127 bits on the way */
  if (runs(k, fl_rt_matmul, &fits, r, 0, "a product that passes 128 bits")) check(k, r[0].i == 21, "21");
  FlArray *e = integers(k, FL_U64, 4, back), *f = integers(k, FL_U64, 4, to_zero);
  put_array(&u, e);
  put_array(&u, f);
  runs(k, fl_rt_matmul, &u, r, 701, "a product of u64 that does not fit");
  FlArray *all[] = {a, b, c, d, e, f};
  for (int i = 0; i < 6; i++) fl_array_unref(all[i]);
}

static void test_solve(Kit *k, int32_t dtype, int64_t n, int64_t m) {
  int64_t da[2] = {n, n}, db[2] = {n, m};
  FlArray *a = make_array(k, dtype, 2, da), *b = make_array(k, dtype, m > 0 ? 2 : 1, db);
  for (int64_t i = 0; i < n; i++) { /* far from singular */
    if (dtype == FL_F64) ((double *)a->data)[i * n + (i + 1) % n] += 4.0 * (double)n;
    else ((float *)a->data)[i * n + (i + 1) % n] += 4.0f * (float)n * 64.0f;
  }
  FlSlot r[1];
  Call c = {0};
  int64_t sides = m > 0 ? m : 1;
  put_array(&c, a);
  put_array(&c, b);
  if (runs(k, fl_rt_solve, &c, r, 0, "solve")) {
    bool ok = r[0].a->rank == b->rank && r[0].a->dims[0] == n;
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < sides; j++) {
        double left = 0, size = fabs(element(b, i * sides + j));
        for (int64_t q = 0; q < n; q++) {
          double term = element(a, i * n + q) * element(r[0].a, q * sides + j);
          left += term;
          size += fabs(term);
        }
        ok &= fabs(left - element(b, i * sides + j)) <= size * (dtype == FL_F64 ? 1e-13 : 1e-4);
      }
    }
    check(k, ok, "solve");
    see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  if (n > 1 && dtype == FL_F64) {
    for (int64_t i = 0; i < n; i++) ((double *)a->data)[i * n + 1] = 0.0;
    runs(k, fl_rt_solve, &c, r, 970, "a singular matrix");
  }
  fl_array_unref(a);
  fl_array_unref(b);
}

static void tests(Kit *k) {
  static const int32_t dtypes[] = {FL_BOOL, FL_I16, FL_I32, FL_F64, FL_TEXT};
  static const int64_t sizes[] = {0, 1, 5, 700, 140000};
  for (int t = 0; t < 5; t++) {
    for (int s = 0; s < 5; s++) {
      for (int32_t rank = 1; rank <= (s == 4 ? 1 : 3); rank++) {
        int64_t dims[3] = {sizes[s], s == 1 ? 2 : 3, 2};
        FlArray *a = make_array(k, dtypes[t], rank, dims);
        char what[64];
        snprintf(what, sizeof what, "%s[%lld] of rank %d", fl_dtype_info[dtypes[t]].name, (long long)sizes[s],
                 rank);
        test_choosing(k, a, what);
        test_joining(k, a, what);
        test_shapes(k, a, what);
        fl_array_unref(a);
      }
    }
    for (int64_t n = 0; n < 40; n += n < 3 ? 1 : 17) {
      test_lists(k, dtypes[t], 1, n);
      test_lists(k, dtypes[t], 2, n);
    }
  }
  test_unaligned(k);
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
  static const int64_t sides[] = {0, 1, 2, 7, 40};
  static const int32_t multiplied[] = {FL_F64, FL_F32, FL_I64, FL_I32};
  for (int t = 0; t < 3; t++) {
    for (int x = 0; x < 125; x++) {
      int64_t m = sides[x % 5], p = sides[x / 5 % 5], n = sides[x / 25];
      for (int flips = 0; flips < 4; flips++)
        if ((m > 0 || !(flips & 1)) && (n > 0 || !(flips & 2))) test_matmul(k, multiplied[t], m, p, n, flips);
    }
    test_matmul(k, multiplied[t], 0, 20000, 0, 0);
    test_matmul(k, multiplied[t], 70, 9000, 0, 0);
    test_matmul(k, multiplied[t], 0, 9000, 70, 0);
    test_matmul(k, multiplied[t], 5, 20000, 6, 0);
  }
  test_matmul(k, FL_F64, 600, 3, 530, 0);
  test_matmul(k, FL_F64, 600, 1, 530, 3);
  test_integer_limits(k);
  for (int64_t n = 1; n < 70; n = n * 3 + 1) {
    for (int64_t m = 0; m < 4; m++) {
      test_solve(k, FL_F64, n, m);
      test_solve(k, FL_F32, n, m);
    }
  }
}

int main(void) { return run_kit(tests); }
