/* part_sweep.c: several aggregates in one sweep against the same ones alone, bit for bit; those from AGAIN on
 * are of columns of which the sweep has a sum already, or has one of squares. */
#include "part_kit.h"

enum { N_PARTS = 12, AGAIN = 7 };

static FlArray *doubles(Kit *k, int64_t n, int shape) {
  FlArray *a = fl_array_new(k->ctx, FL_F64, 1, &n);
  for (int64_t i = 0; i < n; i++) {
    double v = (double)((int64_t)(draw(k) % 2001) - 1000) / 7;
    if (shape == 1) v = ldexp(v, (int)(draw(k) % 400) - 200); /* no common unit of 100 bits */
    if (shape == 2) v = draw(k) % 1000 == 0 ? NAN : draw(k) % 1000 == 1 ? INFINITY : v;
    if (shape == 3) v = draw(k) & 1 ? -0.0 : 0.0;
    if (shape == 4) v = ldexp(v, -1060);
    if (shape == 5) v = i == 0 ? 0x1p45 : floor(v) / 128; /* only low parts beside one */
    ((double *)a->data)[i] = v;
  }
  return a;
}

static FlArray *integers(Kit *k, int64_t n, int32_t dtype) {
  FlArray *a = fl_array_new(k->ctx, dtype, 1, &n);
  for (int64_t i = 0; i < n; i++) {
    uint64_t r = draw(k);
    if (dtype == FL_I64) r = (uint64_t)((int64_t)r >> 20);
    if (dtype == FL_U64) r >>= 20;
    memcpy((char *)a->data + i * fl_dtype_info[dtype].bytes, &r, (size_t)fl_dtype_info[dtype].bytes);
  }
  return a;
}

static void test_sweep(Kit *k, int64_t n, int64_t g, int shape) {
  static const int32_t dtypes[] = {FL_I8, FL_U8, FL_I16, FL_U32, FL_I32, FL_U64, FL_I64};
  static const char *const kinds[N_PARTS] = {"sum",  "mean", "count", "min", "max", "sum",
                                             "mean", "mean", "mean",  "std", "var", "std"};
  static const int same[] = {5, 0, 6, 5, 6}; /* from AGAIN on: the column of which part */
  char what[64];
  snprintf(what, sizeof what, "%lld rows, %lld groups, shape %d", (long long)n, (long long)g, shape);
  FlArray *id = fl_array_new(k->ctx, FL_I64, 1, &n), *columns[N_PARTS] = {0};
  for (int64_t i = 0; i < n; i++) ((int64_t *)id->data)[i] = (int64_t)(draw(k) % (uint64_t)g);
  FlType1 types[2 * N_PARTS];
  FlSlot args[2 + N_PARTS] = {{.i = g}, {.a = id}}, all[2 * N_PARTS];
  FlColumnAttr attrs[N_PARTS];
  int n_args = 2;
  for (int p = 0; p < N_PARTS; p++) {
    attrs[p] = (FlColumnAttr){.made = kinds[p], .flags = p == 2 ? FL_COLUMN_NONE : 0};
    int32_t dtype = dtypes[draw(k) % 7], result = FL_F64;
    if (p == 5 || p == 6) dtype = FL_F64;
    if (p >= AGAIN) columns[p] = fl_array_ref(columns[same[p - AGAIN]]);
    else if (p != 2)
      columns[p] = dtype == FL_F64 ? doubles(k, n,
                                             p == 5   ? shape
                                             : p == 6 ? shape / 2
                                                      : 0)
                                   : integers(k, n, dtype);
    if (p == 0) result = fl_dtype_info[dtype].kind == FL_KIND_UNSIGNED ? FL_U64 : FL_I64;
    if (p == 2) result = FL_I64;
    if (p == 3 || p == 4) result = dtype;
    types[2 * p] = (FlType1){(uint8_t)result, 1, 0, 0};
    types[2 * p + 1] = (FlType1){FL_BOOL, 1, 0, 0};
    if (columns[p] != NULL) args[n_args++].a = columns[p];
  }
  FlOpDesc desc = {.site = -1,
                   .n_args = n_args,
                   .n_results = 2 * N_PARTS,
                   .result_types = types,
                   .f = 1,
                   .columns = attrs,
                   .n_columns = N_PARTS};
  check(k, fl_rt_aggregates(k->ctx, &desc, args, all) == 0, what);
  for (int p = 0; p < N_PARTS; p++) {
    Call one = {.s = kinds[p], .f = 1};
    FlSlot alone[2];
    put_int(&one, g);
    put_array(&one, id);
    if (columns[p] != NULL) put_column(&one, (Column){columns[p], NULL}, false);
    memcpy(one.result_types, types + 2 * p, 2 * sizeof *types);
    check(k, call(k, fl_rt_aggregate, &one, alone) == 0, what);
    for (int r = 0; r < 2; r++) {
      FlArray *x = all[2 * p + r].a, *y = alone[r].a;
      check(k,
            x->dtype == y->dtype && x->dims[0] == g &&
                memcmp(x->data, y->data, (size_t)fl_array_bytes(x)) == 0,
            what);
      see(k, x);
      fl_array_unref(x);
      fl_array_unref(y);
    }
    fl_array_unref(columns[p]);
  }
  fl_array_unref(id);
}

static void tests(Kit *k) {
  static const int64_t sizes[] = {1, 40, 3000, 200000}, groups[] = {1, 3, 8, 9, 50, 2000};
  for (int s = 0; s < 4; s++) {
    for (int g = 0; g < 6; g++) {
      for (int shape = 0; shape < 6; shape++) {
        if (s == 3 && g != 1 && g != 5) continue;
        test_sweep(k, sizes[s], groups[g], shape);
      }
    }
  }
  test_sweep(k, 300000, 270000, 0);
  test_sweep(k, 1200000, 20, 5); /* in several pieces */
}

int main(void) { return run_kit(tests); }
