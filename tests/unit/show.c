/* show.c: what fl_rt_show prints for values of every shape. */
#include "check.h"
#include "data/data.h"
#include "exec/exec.h"
#include "io/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Output {
  char text[1 << 16];
  size_t len;
} Output;

static void collect(void *arg, const char *bytes, int64_t len) {
  Output *o = arg;
  memcpy(o->text + o->len, bytes, (size_t)len);
  o->len += (size_t)len;
  o->text[o->len] = 0;
}

static FlCtx *ctx;
static Output *output;

static const FlType1 i64 = {FL_I64, 0, 0, 0}, f64 = {FL_F64, 0, 0, 0}, boolean = {FL_BOOL, 0, 0, 0},
                     text = {FL_TEXT, 0, 0, 0}, texts = {FL_TEXT, 1, 0, 0}, f64s = {FL_F64, 1, 0, 0},
                     i64s = {FL_I64, 1, 0, 0}, bools = {FL_BOOL, 1, 0, 0}, matrix = {FL_F64, 2, 0, 0},
                     dates = {FL_DATE, 1, 0, 0}, list = {FL_F64, 1, 1, 0};

static void shows(const char *type, int n, const FlType1 *types, const FlSlot *args, const char *want) {
  FlOpDesc desc = {.site = -1, .n_args = n, .arg_types = types, .s = type};
  output->len = 0;
  output->text[0] = 0;
  bool same = fl_rt_show(ctx, &desc, args, NULL) == 0 && strcmp(output->text, want) == 0;
  check(same, "%s shows\n%s\nnot\n%s", type, output->text, want);
}

static FlSlot array_of(FlDtype d, int64_t n, const void *data) {
  FlArray *a = fl_array_new(ctx, (int32_t)d, 1, &n);
  memcpy(a->data, data, (size_t)fl_array_bytes(a));
  return (FlSlot){.a = a};
}

static void test_scalars(void) {
  shows("f64", 1, &f64, &(FlSlot){.f = 2}, "2.0\n");
  shows("f64", 1, &f64, &(FlSlot){.f = 0.1 + 0.2}, "0.30000000000000004\n");
  shows("text", 1, &text, &(FlSlot){.t = {"a\nb", 3}}, "a\nb\n");
  shows("f64?", 2, (FlType1[]){f64, boolean}, (FlSlot[]){{.f = 0}, {.i = 0}}, "null\n");
  shows("bool?", 2, (FlType1[]){boolean, boolean}, (FlSlot[]){{.i = 1}, {.i = 1}}, "true\n");
}

static void test_arrays(void) {
  double x[12] = {1, 2.5, -3, 0, 100.25, 6, 7, 8, 9, 10, 11, 12};
  FlSlot a = array_of(FL_F64, 3, x);
  shows("f64[_]", 1, &f64s, &a, "[ 1.0,  2.5, -3.0]\n");
  fl_array_unref(a.a);
  FlArray *m = fl_array_new(ctx, FL_F64, 2, (int64_t[]){2, 3});
  memcpy(m->data, x, 48);
  shows("f64[_, _]", 1, &matrix, &(FlSlot){.a = m},
        "[[  1.00,   2.50,  -3.00],\n [  0.00, 100.25,   6.00]]\n");
  fl_array_unref(m);
  double wide[3] = {1e-12, 1.23456789, (double)NAN};
  a = array_of(FL_F64, 3, wide);
  shows("f64[_]", 1, &f64s, &a, "[  1e-12, 1.23457,     nan]\n");
  fl_array_unref(a.a);
  int64_t n = 0;
  a = (FlSlot){.a = fl_array_new(ctx, FL_I64, 1, &n)};
  shows("i64[_]", 1, &i64s, &a, "[]\n");
  fl_array_unref(a.a);
  n = 2000;
  a = (FlSlot){.a = fl_array_new(ctx, FL_I64, 1, &n)};
  for (int64_t k = 0; k < n; k++) ((int64_t *)a.a->data)[k] = k;
  shows("i64[_]", 1, &i64s, &a, "[   0,    1,    2, ..., 1997, 1998, 1999]\n");
  fl_array_unref(a.a);
}

static void test_tables(void) {
  FlText names[3] = {{"a", 1}, {"b\tc", 3}, {"Zürich, the town at the end of the lake", 40}};
  int64_t counts[3] = {5, 12345, -7};
  double late[3] = {0.5, 0, 12.25};
  uint8_t valid[3] = {1, 0, 1};
  int32_t days[3] = {0, 1, 11016};
  FlSlot args[6] = {{.i = 3},
                    array_of(FL_TEXT, 3, names),
                    array_of(FL_I64, 3, counts),
                    array_of(FL_F64, 3, late),
                    array_of(FL_BOOL, 3, valid),
                    array_of(FL_DATE, 3, days)};
  shows("(name: text, n: i64, `how late`: f64?, day: date)[_]", 6,
        (FlType1[]){i64, texts, i64s, f64s, bools, dates}, args,
        "name                                  n  how late  day\n"
        "text                                i64      f64?  date\n"
        "────────────────────────────────  ─────  ────────  ──────────\n"
        "a                                     5      0.50  1970-01-01\n"
        "b\\tc                              12345      null  1970-01-02\n"
        "Zürich, the town at the end of …     -7     12.25  2000-02-29\n");
  FlSlot none[2] = {{.i = 0}, {.a = fl_array_view_rows(ctx, args[2].a, 0, 0)}};
  shows("(n: i64)[_]", 2, (FlType1[]){i64, i64s}, none, "  n\ni64\n───\n0 rows\n");
  fl_array_unref(none[1].a);
  for (int k = 1; k < 6; k++) fl_array_unref(args[k].a);
  int64_t n = 1000;
  FlSlot big[2] = {{.i = n}, {.a = fl_array_new(ctx, FL_I64, 1, &n)}};
  for (int64_t k = 0; k < n; k++) ((int64_t *)big[1].a->data)[k] = k;
  shows("(n: i64)[_]", 2, (FlType1[]){i64, i64s}, big,
        "  n\ni64\n───\n  0\n  1\n  2\n  3\n  4\n  5\n  6\n  7\n  8\n  9\n  …\n995\n996\n997\n998\n999\n1000 "
        "rows\n");
  fl_array_unref(big[1].a);
}

static void test_tuples_and_lists(void) {
  shows("(rmse: f64, n: i64)", 2, (FlType1[]){f64, i64}, (FlSlot[]){{.f = 0.5}, {.i = 3}},
        "(rmse = 0.5, n = 3)\n");
  double x[3] = {1, 2, 3};
  FlSlot a = array_of(FL_F64, 3, x), b = array_of(FL_F64, 2, x);
  shows("(w: f64[_], b: f64)", 2, (FlType1[]){f64s, f64}, (FlSlot[]){a, {.f = 7}},
        "w = [1.0, 2.0, 3.0]\nb = 7.0\n");
  int64_t two = 2;
  FlArray *l = fl_array_new(ctx, FL_LIST, 1, &two);
  ((FlArray **)l->data)[0] = a.a;
  ((FlArray **)l->data)[1] = b.a;
  shows("f64[_][_]", 1, &list, &(FlSlot){.a = l}, "list of 2 f64[_]\n0: [1.0, 2.0, 3.0]\n1: [1.0, 2.0]\n");
  FlSlot k = array_of(FL_I64, 2, (int64_t[]){4, 5});
  shows("(k: i64, x: f64[_])[_]", 2, (FlType1[]){i64s, list}, (FlSlot[]){k, {.a = l}},
        "list of 2 (k: i64, x: f64[_])\n0: k = 4\n   x = [1.0, 2.0, 3.0]\n1: k = 5\n   x = [1.0, 2.0]\n");
  fl_array_unref(k.a);
  fl_array_unref(l);
}

int main(void) {
  output = calloc(1, sizeof *output);
  FlRun *run =
      fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true, .out = collect, .out_arg = output});
  ctx = fl_run_ctx(run);
  test_scalars();
  test_arrays();
  test_tables();
  test_tuples_and_lists();
  fl_run_free(run);
  free(output);
  return finish();
}
