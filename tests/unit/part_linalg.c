/* part_linalg.c: products and linear equations against plain loops; products with vectors in the language's
 * order of reductions, to the bit. */
#include "part_array_kit.h"

#include <cblas.h>

/* sum(for p: a[p] b[p]) in the language's order. */
static double ordered(const double *a, const double *b, int64_t n) {
  int64_t first = FL_BLOCK; /* blocks, as positions */
  if (n > FL_BLOCK) {
    while (2 * first < n) first *= 2;
    return ordered(a, b, first) + ordered(a + first, b + first, n - first);
  }
  double lane[FL_LANES] = {0};
  for (int64_t p = 0; p < n; p++) lane[p % FL_LANES] = fma(a[p], b[p], lane[p % FL_LANES]);
  for (int half = FL_LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) lane[i] += lane[i + half];
  return lane[0];
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
    for (int flips = 0; flips < 4; flips++) {
      test_matmul(k, multiplied[t], 300, 64, 25, flips);  /* a small second factor, in tiles of 256 rows */
      test_matmul(k, multiplied[t], 64, 1000, 25, flips); /* in pieces, the transpose of the result first */
      test_matmul(k, multiplied[t], 25, 1000, 64, flips); /* in pieces */
      test_matmul(k, multiplied[t], 530, 80, 90, flips);  /* few tiles */
    }
  }
  test_matmul(k, FL_F64, 600, 3, 530, 0);
  test_matmul(k, FL_F64, 600, 1, 530, 3);
  test_integer_limits(k);
  bool old = strcmp(openblas_get_corename(), "Prescott") == 0;
  check(k, getenv("OPENBLAS_CORETYPE") || !old || fl_cpu_level() < 3,
        "a processor with AVX2 that OpenBLAS does not know has no kernels of one without");
  for (int64_t n = 1; n < 70; n = n * 3 + 1) {
    for (int64_t m = 0; m < 4; m++) {
      test_solve(k, FL_F64, n, m);
      test_solve(k, FL_F32, n, m);
    }
  }
}

int main(void) { return run_kit(tests); }
