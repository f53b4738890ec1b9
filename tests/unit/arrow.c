/* arrow.c: tests of Arrow IPC streams: tables of every type through memory and back, batches, other layouts,
 * and streams that are cut off or damaged anywhere. (Streams of other programs:
 * tests/run/stages/exec_arrow.flow.) */
#include "check.h"
#include "io/arrow.h"
#include "data/data.h"
#include "exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20 };

typedef struct Table {
  int32_t n;
  int64_t rows;
  char names[MOST][24];
  FlTableColumn columns[MOST];
  FlArray *own[2 * MOST];
  int32_t n_own;
} Table;

static FlArray *add_array(Table *t, int32_t dtype, int64_t rows, int64_t size) {
  int64_t dims[2] = {rows, size};
  return t->own[t->n_own++] = fl_array_zeros(NULL, dtype, size >= 0 ? 2 : 1, dims);
}

static const char *const words[] = {
    "", "a", "twelve bytes", "thirteen byte", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "the quick brown fox"};

static void fill(FlArray *a, uint64_t seed) {
  int64_t n = fl_array_count(a), bytes = fl_dtype_info[a->dtype].bytes;
  for (int64_t k = 0; k < n; k++) {
    uint64_t v = (seed + (uint64_t)k) * 0x9e3779b97f4a7c15u;
    char *at = (char *)a->data + k * bytes;
    double real = k % 7 == 0 ? (double)NAN : (double)(int64_t)v / 3.0;
    float narrow = (float)real;
    const char *word = words[v % 6];
    FlText text = {*word ? word : NULL, (int64_t)strlen(word)};
    if (a->dtype == FL_BOOL) *at = v >> 40 & 1;
    else if (a->dtype == FL_F64) memcpy(at, &real, 8);
    else if (a->dtype == FL_F32) memcpy(at, &narrow, 4);
    else if (a->dtype == FL_TEXT) memcpy(at, &text, 16);
    else memcpy(at, &v, (size_t)bytes);
  }
}

static void add_column(Table *t, int32_t dtype, bool nullable, int64_t size) {
  int32_t k = t->n++;
  FlTableColumn *c = &t->columns[k];
  (void)snprintf(t->names[k], sizeof t->names[k], "c%d_%s", k, fl_dtype_info[dtype].name);
  FlArray *values = add_array(t, dtype, t->rows, size), *valid = NULL;
  fill(values, (uint64_t)k * 1000);
  if (nullable) {
    valid = add_array(t, FL_BOOL, t->rows, -1);
    fill(valid, 77 + (uint64_t)k);
    for (int64_t r = 0; r < t->rows; r++)
      if (!((uint8_t *)valid->data)[r])
        memset((char *)values->data + r * fl_dtype_info[dtype].bytes, 0, (size_t)fl_dtype_info[dtype].bytes);
  }
  *c = (FlTableColumn){t->names[k], (int32_t)strlen(t->names[k]), values, valid, NULL};
}

static void make(Table *t, int64_t rows) {
  static const FlDtype all[] = {FL_BOOL, FL_I8,  FL_I16, FL_I32, FL_I64,  FL_U8,   FL_U16,
                                FL_U32,  FL_U64, FL_F32, FL_F64, FL_TEXT, FL_DATE, FL_DATETIME};
  *t = (Table){.rows = rows};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) add_column(t, (int32_t)all[k], k % 2, -1);
  add_column(t, FL_DURATION, true, -1);
  add_column(t, FL_TEXT, true, -1);
  add_column(t, FL_F64, false, 3);
  add_column(t, FL_BOOL, false, 5);
}

static void drop(Table *t) {
  for (int32_t k = 0; k < t->n_own; k++) fl_array_unref(t->own[k]);
}

static FlBytes write_all(const Table *t) {
  FlBytes b = {0};
  FlIoError e = {0};
  FlOutput out = {.path = (char *)(uintptr_t)"memory", .memory = &b};
  check(fl_arrow_write(t->columns, t->n, t->rows, false, &out, &e) && !b.failed, "the table is written");
  return b;
}

static void want(const Table *t, FlTableWanted *w) {
  for (int32_t k = 0; k < t->n; k++) {
    const FlTableColumn *c = &t->columns[k];
    w[k] = (FlTableWanted){.name = c->name,
                           .name_len = c->name_len,
                           .dtype = (FlDtype)c->values->dtype,
                           .nullable = c->valid != NULL,
                           .arrays = c->values->rank == 2};
  }
}

static bool read_bytes(const char *bytes, size_t n, FlTableWanted *w, int32_t n_wanted, int64_t *rows,
                       FlIoError *e) {
  FlInput in;
  memset(e, 0, sizeof *e);
  bool ok = fl_input_of_bytes(NULL, bytes, n, "stream", &in, e) &&
            fl_arrow_read(NULL, &in, "stream", false, w, n_wanted, rows, e);
  fl_input_close(&in);
  return ok;
}

static bool same_array(FlArray *a, FlArray *b) {
  if (!a || !b) return a == b;
  FlDigest x = fl_array_digest(a), y = fl_array_digest(b);
  return x.lo == y.lo && x.hi == y.hi;
}

static void release(FlTableWanted *w, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    fl_array_unref(w[k].values);
    fl_array_unref(w[k].valid);
  }
}

static void round_trip(int64_t rows) {
  Table t;
  FlTableWanted w[MOST];
  FlIoError e;
  int64_t got = -1;
  make(&t, rows);
  FlBytes b = write_all(&t);
  want(&t, w);
  bool ok = read_bytes(b.at, b.len, w, t.n, &got, &e);
  check(ok && got == rows, ok ? "all rows come back" : e.message);
  for (int32_t k = 0; ok && k < t.n; k++) {
    char what[80];
    (void)snprintf(what, sizeof what, "column %s of %lld rows", t.names[k], (long long)rows);
    check(same_array((FlArray *)(uintptr_t)t.columns[k].values, w[k].values) &&
              same_array((FlArray *)(uintptr_t)t.columns[k].valid, w[k].valid),
          what);
  }
  if (ok) release(w, t.n);
  /* Some columns, in another order, the rest passed over. */
  FlTableWanted two[2] = {w[16], w[3]};
  ok = read_bytes(b.at, b.len, two, 2, &got, &e);
  check(ok && same_array((FlArray *)(uintptr_t)t.columns[16].values, two[0].values) &&
            same_array((FlArray *)(uintptr_t)t.columns[3].values, two[1].values),
        "two columns of many");
  if (ok) release(two, 2);
  fl_bytes_reset(&b);
  drop(&t);
}

/* One i64 column read as another type. */
static bool read_as(const FlBytes *b, FlDtype dtype, bool nullable, const char *says) {
  FlTableWanted w = {.name = "x", .name_len = 1, .dtype = dtype, .nullable = nullable};
  FlIoError e;
  int64_t rows;
  bool ok = read_bytes(b->at, b->len, &w, 1, &rows, &e);
  if (ok) release(&w, 1);
  return says ? !ok && strstr(e.message, says) : ok;
}

static void conversions(void) {
  Table t = {.rows = 3};
  add_column(&t, FL_I64, false, -1);
  t.columns[0].name = "x";
  t.columns[0].name_len = 1;
  int64_t *x = t.columns[0].values->data;
  x[0] = 0, x[1] = 127, x[2] = 128;
  FlBytes b = write_all(&t);
  check(read_as(&b, FL_U8, false, NULL) && read_as(&b, FL_F64, true, NULL) &&
            read_as(&b, FL_U64, false, NULL),
        "integers become what they fit");
  check(read_as(&b, FL_I8, false, "row 3") && read_as(&b, FL_I8, false, "128"),
        "and name the one that does not");
  check(read_as(&b, FL_TEXT, false, "int64") && read_as(&b, FL_BOOL, false, "int64") &&
            read_as(&b, FL_F32, false, "int64"),
        "other types do not convert");
  fl_bytes_reset(&b);
  x[0] = INT64_MIN;
  b = write_all(&t);
  check(read_as(&b, FL_U64, false, "row 1") && read_as(&b, FL_I32, false, "-9223372036854775808"),
        "nor negative ones");
  fl_bytes_reset(&b);
  drop(&t);
  t = (Table){.rows = 1};
  add_column(&t, FL_I8, false, -1);
  t.columns[0].name = "x";
  t.columns[0].name_len = 1;
  *(int8_t *)t.columns[0].values->data = -128;
  b = write_all(&t);
  check(read_as(&b, FL_I64, false, NULL) && read_as(&b, FL_I8, false, NULL) &&
            read_as(&b, FL_U64, false, "-128"),
        "negative ones keep their sign");
  fl_bytes_reset(&b);
  drop(&t);
}

/* Reads whatever it is: an error or a table, whose elements are all touched. */
static uint64_t touch(const char *bytes, size_t n, const Table *t) {
  FlTableWanted w[MOST];
  FlIoError e;
  int64_t rows;
  uint64_t sum = 0;
  want(t, w);
  if (!read_bytes(bytes, n, w, t->n, &rows, &e)) return e.message[0] ? 0 : 1;
  for (int32_t k = 0; k < t->n; k++) sum += fl_array_digest(w[k].values).lo;
  release(w, t->n);
  return sum | 1;
}

static void damage(void) {
  Table t;
  make(&t, 5);
  FlBytes b = write_all(&t);
  char *copy = malloc(b.len);
  if (!copy) exit(4);
  bool all = true;
  for (size_t n = 0; n < b.len - 8; n++) {
    /* what lies behind the end must not be seen: a copy of exactly this size */
    char *cut = malloc(n ? n : 1);
    if (!cut) exit(4);
    memcpy(cut, b.at, n);
    bool whole = touch(cut, n, &t) != 0;
    all = all && (!whole || n % 8 == 0);
    free(cut);
  }
  check(all, "a stream that is cut off is an error");
  static const unsigned char flips[] = {0x01, 0x80, 0xff, 0x40};
  for (size_t k = 0; k < b.len; k++)
    for (size_t f = 0; f < sizeof flips; f++) {
      memcpy(copy, b.at, b.len);
      copy[k] = (char)(copy[k] ^ flips[f]);
      (void)touch(copy, b.len, &t);
    }
  check(true, "a damaged stream is an error or other values");
  free(copy);
  fl_bytes_reset(&b);
  drop(&t);
}

int main(void) {
  round_trip(0);
  round_trip(1);
  round_trip(100);
  round_trip((1 << 18) + 3);
  conversions();
  damage();
  return finish();
}
