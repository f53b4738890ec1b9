/* flowdata.c: saved values: written and loaded again; and files that were changed in any byte, with a digest
 * that fits the change, are refused or hold a value that is whole. */
#include "check.h"
#include "data/data.h"
#include "data/value_type.h"
#include "exec/exec.h"
#include "io/io_internal.h"
#include "io/value_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static char folder[] = "/tmp/flow_saved_XXXXXX", path[80];

static FlArray *array_of(int32_t dtype, int32_t rank, const int64_t *dims, const void *values) {
  FlArray *a = fl_array_new(NULL, dtype, rank, dims);
  if (!a) abort();
  memcpy(a->data, values, (size_t)fl_array_bytes(a));
  return a;
}

static const char type_text[] =
    "Pair(table: (x: f64?, `a \\``: text, v: i32[_])[_], lists: [[f64[_]]], flag: bool, on: date?)";
enum { PARTS = 10, MOST = 4096 };

static FlArray *list_of(FlArray **items, int64_t n) {
  FlArray *l = fl_array_new(NULL, FL_LIST, 1, &n);
  if (!l) abort();
  memcpy(l->data, items, (size_t)n * sizeof *items);
  return l;
}

static void make_parts(FlSlot *s) {
  static const double x[3] = {1.5, 0, -2};
  static const uint8_t valid[3] = {1, 0, 1};
  static const FlText texts[3] = {{"one", 3}, {NULL, 0}, {"dr\xc3\xbc", 4}};
  static const int32_t v[6] = {1, 2, 3, 4, 5, 6};
  static const double f[4] = {1, 2, 3, 4};
  int64_t three = 3, grid[2] = {3, 2}, two = 2;
  int64_t sizes[3] = {0, 2, 4};
  FlArray *items[3], *outer[2];
  for (int k = 0; k < 3; k++) items[k] = array_of(FL_F64, 1, &sizes[k], f);
  outer[0] = list_of(items, 2);
  outer[1] = list_of(items + 2, 1);
  s[0].i = 3;
  s[1].a = array_of(FL_F64, 1, &three, x);
  s[2].a = array_of(FL_BOOL, 1, &three, valid);
  s[3].a = array_of(FL_TEXT, 1, &three, texts);
  s[4].a = array_of(FL_I32, 2, grid, v);
  s[5].a = list_of(outer, two);
  s[6].u = 1;
  s[7].i = 20000;
  s[8].u = 1;
}

static int64_t read_file(char *to) {
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(to, 1, MOST, f) : 0;
  if (f) fclose(f);
  return (int64_t)n;
}

static void write_file(const char *bytes, int64_t n) {
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(bytes, 1, (size_t)n, f) != (size_t)n || fclose(f)) abort();
}

/* The digest of what follows the head, put in its place. */
static void fix_digest(char *bytes, int64_t n) {
  XXH128_canonicalFromHash((XXH128_canonical_t *)(void *)(bytes + 32),
                           XXH3_128bits(bytes + 48, (size_t)n - 48));
}

/* Loads; the value is whole when it loads. Returns whether it did. */
static bool try_load(const FlType1 *types, int32_t n, FlSlot *out) {
  FlIoError e = {0};
  bool ok = fl_flowdata_load(NULL, path, type_text, types, n, out, &e);
  if (!ok && e.code != 283 && e.code != 284) {
    check(false, "a file that is refused is refused as damaged");
    printf("  code %d: %s\n", e.code, e.message);
  }
  if (ok) {
    FlValueType *t = fl_value_type_new(type_text, strlen(type_text));
    if (!fl_value_check(t, out)) check(false, "what is loaded is whole");
    fl_value_type_free(t);
  }
  return ok;
}

static void release(const FlSlot *s, const FlType1 *types, int32_t n) {
  for (int32_t k = 0; k < n; k++)
    if (types[k].rank || types[k].depth) fl_array_unref(s[k].a);
}

static void test_types(void) {
  static const char *const good[] = {"f64",         "text?",          "i8[_, _]",
                                     "()",          "(a: f64, bool)", "linear.Ridge(w: f64[_])",
                                     "(x: f64)[_]", "[[f64[_]]]",     "[(a: i64)[_]]"};
  static const char *const bad[] = {"",          "f65",     "f64[",
                                    "f64[_",     "(a: f64", "(a: (b: f64))[_]",
                                    "file",      "list",    "f64[_]]",
                                    "[f64",      "(a f64)", "f64 ",
                                    "(`a: f64)", "[]",      "f64[_, _, _, _, _, _, _, _, _]"};
  for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
    FlValueType *t = fl_value_type_new(good[k], strlen(good[k]));
    check(t != NULL, good[k]);
    fl_value_type_free(t);
  }
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    FlValueType *t = fl_value_type_new(bad[k], strlen(bad[k]));
    check(!t, bad[k]);
    fl_value_type_free(t);
  }
  char deep[4000];
  memset(deep, '[', sizeof deep);
  check(!fl_value_type_new(deep, sizeof deep), "a type without end");
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/x.flowdata", folder);
  test_types();
  FlValueType *t = fl_value_type_new(type_text, strlen(type_text));
  check(t && t->n_parts == PARTS - 1, "the parts of the type");
  if (!t) return 1;
  FlType1 types[PARTS];
  types[0] = (FlType1){.dtype = FL_TEXT};
  fl_value_type_parts(t, types + 1);
  FlSlot args[PARTS] = {{.t = {path, (int64_t)strlen(path)}}}, back[PARTS];
  make_parts(args + 1);
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
  FlOpDesc desc = {.site = -1, .n_args = PARTS, .arg_types = types, .s = type_text};
  check(fl_rt_save_value(fl_run_ctx(run), &desc, args, NULL) == 0, "save");
  fl_run_free(run);
  check(try_load(types + 1, PARTS - 1, back), "load");
  bool same = back[0].i == 3 && back[6].u == 1 && back[7].i == 20000;
  for (int k = 1; k < 6; k++) {
    FlDigest a = fl_array_digest(args[1 + k].a), b = fl_array_digest(back[k].a);
    same = same && a.lo == b.lo && a.hi == b.hi;
  }
  check(same, "what is loaded is what was saved");
  release(back, types + 1, PARTS - 1);

  static char bytes[MOST], changed[MOST];
  int64_t n = read_file(bytes), loaded = 0, tried = 0;
  check(n > 512 && n < MOST, "the file has a length that can be tried byte by byte");
  static const unsigned char flips[] = {1, 0x80, 0xff};
  for (int64_t k = 0; k < n; k++) {
    memcpy(changed, bytes, (size_t)n);
    changed[k] = (char)(changed[k] ^ flips[k % 3]);
    if (k % 16 == 0) { /* the digest does not fit */
      write_file(changed, n);
      check(!try_load(types + 1, PARTS - 1, back), "a changed file");
    }
    fix_digest(changed, n);
    write_file(changed, n);
    tried++;
    if (!try_load(types + 1, PARTS - 1, back)) continue;
    loaded++;
    release(back, types + 1, PARTS - 1);
  }
  for (int64_t k = 0; k < n; k += 37) {
    write_file(bytes, k);
    check(!try_load(types + 1, PARTS - 1, back), "a file that was cut");
  }
  check(loaded > 0 && loaded < tried, "some changes give another value, others are refused");
  release(args + 1, types + 1, PARTS - 1);
  fl_value_type_free(t);
  unlink(path);
  rmdir(folder);
  return finish();
}
