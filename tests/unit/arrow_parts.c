/* arrow_parts.c: rows of Arrow files and streams are the same whichever of them are read: any range of the
 * samples of other programs (tests/run/files/formats) against the same rows of the whole; and columns that
 * lie in a file page by page are used there, with the one NaN. */
#include "check.h"
#include "io/arrow.h"
#include "data/data.h"
#include "exec/exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };

static int32_t want_all(const FlIoSchema *s, FlTableWanted *w) {
  int32_t n = 0;
  for (int32_t k = 0; k < s->n_columns && n < MOST; k++) {
    const FlIoColumn *c = &s->columns[k];
    if (c->arrays) continue; /* files with such are read as a whole */
    w[n++] = (FlTableWanted){.name = c->name,
                             .name_len = (int32_t)strlen(c->name),
                             .dtype = c->dtype == FL_CATEGORY ? FL_TEXT : c->dtype,
                             .nullable = c->nullable};
  }
  return n;
}

/* Row i of a column against row j of another. */
static bool same_row(const FlTableWanted *a, int64_t i, const FlTableWanted *b, int64_t j) {
  if (a->nullable && ((uint8_t *)a->valid->data)[i] != ((uint8_t *)b->valid->data)[j]) return false;
  if (a->dtype == FL_TEXT) {
    FlText x = ((FlText *)a->values->data)[i], y = ((FlText *)b->values->data)[j];
    return x.len == y.len && (x.len == 0 || memcmp(x.ptr, y.ptr, (size_t)x.len) == 0);
  }
  int64_t bytes = fl_dtype_info[a->dtype].bytes;
  return memcmp((char *)a->values->data + i * bytes, (char *)b->values->data + j * bytes, (size_t)bytes) == 0;
}

static void release(FlTableWanted *w, int32_t n) {
  for (int32_t k = 0; k < n; k++) fl_table_wanted_reset(&w[k]);
}

/* Whether the rows [from, to) are those of the whole. */
static bool same_rows(FlCtx *ctx, const FlArrowFile *file, const FlTableWanted *whole, int32_t n,
                      int64_t from, int64_t to) {
  FlTableWanted part[MOST];
  FlIoError e = {0};
  for (int32_t k = 0; k < n; k++) part[k] = whole[k];
  if (!fl_arrow_read_rows(ctx, file, from, to - from, part, n, &e)) return false;
  bool same = true;
  for (int32_t k = 0; k < n; k++) {
    same &= part[k].values->dims[0] == to - from;
    for (int64_t i = from; i < to && same; i++) same &= same_row(&whole[k], i, &part[k], i - from);
  }
  release(part, n);
  return same;
}

static void ranges_of(FlCtx *ctx, const char *path) {
  FlIoSchema s;
  FlIoError e = {0};
  FlInput in;
  FlArrowFile file = {0};
  FlTableWanted whole[MOST];
  int64_t rows = 0, wrong = 0, tried = 0;
  if (!fl_arrow_table_schema(path, (FlOptions){0}, &s, &e) || !fl_input_open(ctx, path, &in, &e)) {
    check(false, "%s: %s", path, e.message);
    return;
  }
  int32_t n = want_all(&s, whole);
  bool ok =
      fl_arrow_read(ctx, &in, path, true, whole, n, &rows, &e) && fl_arrow_open(&in, path, true, &file, &e);
  check(ok, "%s is read: %s", path, e.message);
  int64_t step = rows > 40 ? rows / 13 : 1;
  for (int64_t from = 0; ok && from <= rows; from += step)
    for (int64_t to = from; to <= rows; to += step, tried++)
      wrong += !same_rows(ctx, &file, whole, n, from, to);
  check(wrong == 0 && (rows == 0 || tried > 1), "%s: %lld of %lld ranges of rows are others", path,
        (long long)wrong, (long long)tried);
  fl_arrow_close(&file);
  if (ok) release(whole, n);
  fl_io_schema_reset(&s);
  fl_input_close(&in);
}

/* ---- in place ------------------------------------------------------------------------------------------ */

enum { BATCH = 1 << 18 }; /* rows, as write_arrow has it */

static uint64_t odd_nan(void) { return UINT64_C(0xfff8000000000123); }

/* Columns x, and y with NaNs of other bits at some rows, k of a byte. */
static void write_file(const char *path, FlArray *x, FlArray *y, FlArray *k) {
  FlTableColumn columns[] = {{"x", 1, x, NULL, NULL}, {"y", 1, y, NULL, NULL}, {"k", 1, k, NULL, NULL}};
  FlBytes b = {0};
  FlIoError e = {0};
  FlOutput out = {.path = (char *)(uintptr_t)"memory", .memory = &b};
  check(fl_arrow_write(columns, 3, x->dims[0], true, &out, &e) && !b.failed, "a file is written");
  FILE *f = fopen(path, "wb");
  check(f && fwrite(b.at, 1, b.len, f) == b.len, "to %s", path);
  if (f) (void)fclose(f);
  fl_bytes_reset(&b);
}

static void in_place(FlCtx *ctx, int64_t rows, bool whole, int64_t from, int64_t to) {
  char path[] = "/tmp/flow_arrow_XXXXXX";
  int fd = mkstemp(path);
  if (fd >= 0) close(fd);
  FlArray *x = fl_array_new(NULL, FL_I64, 1, &rows), *y = fl_array_new(NULL, FL_F64, 1, &rows),
          *z = fl_array_new(NULL, FL_U8, 1, &rows);
  double one = (double)NAN;
  for (int64_t i = 0; i < rows; i++) {
    uint64_t odd = odd_nan();
    ((int64_t *)x->data)[i] = i * 3;
    ((double *)y->data)[i] = (double)i / 4;
    ((uint8_t *)z->data)[i] = (uint8_t)(i % 251);
    if (i % 100003 == 7) memcpy((double *)y->data + i, &odd, 8);
  }
  write_file(path, x, y, z);
  FlTableWanted w[] = {{.name = "x", .name_len = 1, .dtype = FL_I64},
                       {.name = "y", .name_len = 1, .dtype = FL_F64},
                       {.name = "k", .name_len = 1, .dtype = FL_U8}};
  FlInput in;
  FlArrowFile file = {0};
  FlIoError e = {0};
  int64_t n = to - from;
  bool ok = fl_input_open(ctx, path, &in, &e) && fl_arrow_open(&in, path, true, &file, &e) &&
            (whole ? fl_arrow_read(ctx, &in, path, true, w, 3, &n, &e)
                   : fl_arrow_read_rows(ctx, &file, from, n, w, 3, &e));
  check(ok && n == to - from, "%lld rows: %s", (long long)n, e.message);
  int64_t wrong = 0;
  for (int64_t i = from; ok && i < to; i++) {
    double *at = (double *)w[1].values->data + (i - from), is = (double)i / 4;
    wrong += ((int64_t *)w[0].values->data)[i - from] != i * 3 ||
             ((uint8_t *)w[2].values->data)[i - from] != i % 251;
    wrong += memcmp(at, i % 100003 == 7 ? &one : &is, 8) != 0;
  }
  check(wrong == 0, "%lld of the rows from %lld to %lld are others", (long long)wrong, (long long)from,
        (long long)to);
  for (int k = 0; ok && k < 3; k++)
    check((w[k].values->buffer->kind == FL_BUFFER_MAPPED) == (k != 1), "column %d is %s the file's", k,
          k == 1 ? "not" : "");
  fl_arrow_close(&file);
  if (ok) release(w, 3);
  fl_input_close(&in);
  unlink(path);
  fl_array_unref(x);
  fl_array_unref(y);
  fl_array_unref(z);
}

int main(int argc, char **argv) {
  static const char *const names[] = {"all.arrow",    "before.arrows", "delta.arrows",  "repl.arrows",
                                      "lz4.arrow",    "zstd.arrows",   "two.arrows",    "texts.arrow",
                                      "polars.arrow", "hostile.arrow", "nested.arrows", "nested_lz4.arrow",
                                      "no_end.arrows"};
  (void)argc;
  (void)argv;
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 2, .quiet = true});
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/run/files/formats/%s", FLOW_TESTS, names[k]);
    ranges_of(fl_run_ctx(run), path);
  }
  in_place(fl_run_ctx(run), 3 * BATCH + 5, true, 0, 3 * BATCH + 5); /* several batches, mapped once more */
  in_place(fl_run_ctx(run), 2 * BATCH, true, 0, 2 * BATCH);
  in_place(fl_run_ctx(run), BATCH, true, 0, BATCH);                  /* one batch */
  in_place(fl_run_ctx(run), 3 * BATCH, false, BATCH / 2 + 7, BATCH); /* rows of one batch */
  in_place(fl_run_ctx(run), 3 * BATCH + 5, false, BATCH, 3 * BATCH + 5);
  fl_run_free(run);
  return finish();
}
