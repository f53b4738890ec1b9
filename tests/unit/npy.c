/* npy.c: NPY files: what is written reads back; other programs' headers, orders and byte orders; damaged
 * files; and the identity of files. */
#include "check.h"
#include "data/data.h"
#include "exec/exec.h"
#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/flow_npy_XXXXXX", path[64];

/* A file with the given header text, padded as NumPy does, and data. */
static void put_npy(int version, const char *header, const void *data, size_t n) {
  FILE *f = fopen(path, "w");
  size_t len = strlen(header), at = version == 1 ? 10 : 12, padded = (at + len + 1 + 63) / 64 * 64 - at;
  fprintf(f, "\x93NUMPY%c%c%c%c", version, 0, (int)(padded & 0xff), (int)(padded >> 8));
  if (version > 1) fprintf(f, "%c%c", 0, 0);
  fprintf(f, "%-*s\n", (int)padded - 1, header);
  if (fwrite(data, 1, n, f) != n || fclose(f)) abort();
}

/* Reads as `type`; the code of the error, 0 for none. The array is the caller's. */
static int read_as(FlType1 type, FlArray **out) {
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 2, .quiet = true});
  FlCtx *ctx = fl_run_ctx(run);
  FlOpDesc desc = {.site = -1, .n_args = 1, .n_results = 1, .result_types = &type};
  FlSlot file = {.t = {path, (int64_t)strlen(path)}}, result = {.a = NULL};
  int code = fl_rt_read_npy(ctx, &desc, &file, &result) ? fl_ctx_code(ctx) : 0;
  *out = code ? NULL : result.a;
  fl_run_free(run);
  return code;
}

static FlType1 type_of(FlDtype d, int rank) { return (FlType1){(uint8_t)d, (uint8_t)rank, 0, 0}; }

static void test_back(FlDtype d, int rank, const int64_t *dims) {
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 2, .quiet = true});
  FlArray *a = fl_array_zeros(fl_run_ctx(run), (int32_t)d, rank, dims), *b;
  int32_t size = fl_dtype_info[d].bytes;
  for (int64_t k = 0; k < fl_array_count(a); k++) {
    double x = (double)k;
    float x32 = (float)k;
    int64_t i = d == FL_BOOL ? k % 2 : k % 100;
    memcpy((char *)a->data + k * size,
           d == FL_F64   ? (void *)&x
           : d == FL_F32 ? (void *)&x32
                         : (void *)&i,
           (size_t)size);
  }
  FlOpDesc desc = {.site = -1, .n_args = 2};
  FlSlot args[2] = {{.t = {path, (int64_t)strlen(path)}}, {.a = a}};
  check(fl_rt_write_npy(fl_run_ctx(run), &desc, args, NULL) == 0, "write");
  fl_run_free(run);
  check(read_as(type_of(d, rank), &b) == 0, fl_dtype_info[d].name);
  if (b) {
    FlDigest x = fl_array_digest(a), y = fl_array_digest(b);
    check(x.lo == y.lo && x.hi == y.hi, fl_dtype_info[d].name);
  }
  fl_array_unref(a);
  fl_array_unref(b);
}

static void test_round_trips(void) {
  static const FlDtype all[] = {FL_BOOL, FL_I8,  FL_I16, FL_I32, FL_I64,  FL_U8,       FL_U16,
                                FL_U32,  FL_U64, FL_F32, FL_F64, FL_DATE, FL_DATETIME, FL_DURATION};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    test_back(all[k], 1, (int64_t[]){5});
    test_back(all[k], 3, (int64_t[]){4, 3, 7});
  }
  test_back(FL_F64, 2, (int64_t[]){1000, 700});
  test_back(FL_F64, 2, (int64_t[]){0, 3});
}

static void expect_f64(int version, const char *header, const void *data, size_t n, int rank,
                       const double *want, int count) {
  FlArray *a;
  put_npy(version, header, data, n);
  int code = read_as(type_of(FL_F64, rank), &a);
  bool ok = code == 0 && fl_array_count(a) == count;
  for (int k = 0; ok && k < count; k++) ok = ((double *)a->data)[k] == want[k];
  check(ok, "%s", header);
  fl_array_unref(a);
}

static void test_headers(void) {
  const double x[6] = {1, 2, 3, 4, 5, 6}, turned[6] = {1, 3, 5, 2, 4, 6};
  const unsigned char big[8] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0}, bytes[3] = {1, 255, 7};
  const float halves[2] = {0.5f, -1.25f};
  const int16_t shorts[2] = {-3, 300};
  expect_f64(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", x, 48, 2, x, 6);
  expect_f64(2, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", x, 48, 2, x, 6);
  expect_f64(3, "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"=f8\"}", x, 48, 2, x, 6);
  expect_f64(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", x, 48, 2, turned, 6);
  expect_f64(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", big, 8, 1, &(double){1.5}, 1);
  expect_f64(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", halves, 8, 1,
             (double[]){0.5, -1.25}, 2);
  expect_f64(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", shorts, 4, 1,
             (double[]){-3, 300}, 2);
  expect_f64(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", bytes, 3, 1,
             (double[]){1, 255, 7}, 3);
  expect_f64(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", x, 48, 1, x, 1);
  FlIoArray a;
  FlIoError e;
  put_npy(1, "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 1), }", x, 8);
  check(fl_io_npy_type(path, &a, &e) && a.dtype == FL_I32 && a.rank == 2 && a.dims[0] == 2 && a.dims[1] == 1,
        "type of a file");
}

static void fails(const char *header, size_t n, FlType1 type, int code) {
  static const char data[64];
  FlArray *a;
  put_npy(1, header, data, n);
  int got = read_as(type, &a);
  if (got != code) printf("E%04d, not E%04d\n", got, code);
  check(got == code, "%s", header);
  fl_array_unref(a);
}

static void test_errors(void) {
  FlType1 f64 = type_of(FL_F64, 1);
  fails("{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }", 64, f64, 940);
  fails("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,), }", 64, f64, 940);
  fails("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", 64, f64, 940);
  fails("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }", 64, f64, 940);
  fails("{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", 64, f64, 940);
  fails("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", 64, f64, 940);
  fails("{'descr': '<f8', 'shape': (2,), }", 64, f64, 940);
  fails("{'descr': '<f8', 'fortran_order': False, 'shape': (2,) ", 64, f64, 940);
  fails("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'x': 1}", 64, f64, 940);
  fails("", 64, f64, 940);
  fails("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 64, f64, 941);
  fails("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 64, f64, 941);
  fails("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 64, type_of(FL_F32, 1), 941);
  fails("{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }", 64, type_of(FL_I64, 1), 941);
  FILE *f = fopen(path, "w");
  fputs("no array\n", f);
  fclose(f);
  FlArray *a;
  check(read_as(f64, &a) == 940, "not an NPY file");
  unlink(path);
  check(read_as(f64, &a) == 930, "no file");
}

static void test_identity(void) {
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 2, .quiet = true});
  FlCtx *ctx = fl_run_ctx(run);
  char other[80];
  snprintf(other, sizeof other, "%s/other", folder);
  double *x = calloc(400000, sizeof *x);
  put_npy(1, "{}", x, 3200000);
  FlText p = {path, (int64_t)strlen(path)}, q = {other, (int64_t)strlen(other)};
  FlDigest a, b, c;
  check(fl_file_digest(ctx, -1, p, &a) == 0 && fl_file_digest(ctx, -1, p, &b) == 0 && a.lo == b.lo,
        "a digest again");
  check(rename(path, other) == 0 && fl_file_digest(ctx, -1, q, &b) == 0 && a.lo == b.lo && a.hi == b.hi,
        "another path");
  x[399999] = 1;
  put_npy(1, "{}", x, 3200000);
  check(fl_file_digest(ctx, -1, p, &c) == 0 && (a.lo != c.lo || a.hi != c.hi), "the last byte counts");
  FlSlot arg = {.t = p}, result;
  FlOpDesc desc = {.site = -1, .n_args = 1, .n_results = 1};
  check(fl_rt_file_of(ctx, &desc, &arg, &result) == 0 && result.t.len == p.len, "a file of a path");
  arg.t.len--;
  check(fl_rt_file_of(ctx, &desc, &arg, &result) != 0 && fl_ctx_code(ctx) == 930, "no such file");
  free(x);
  fl_run_free(run);
  unlink(other);
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/x.npy", folder);
  test_round_trips();
  test_headers();
  test_errors();
  test_identity();
  unlink(path);
  rmdir(folder);
  return finish();
}
