/* arrow_file.c: the operators read_arrow and write_arrow: tables from and to Arrow IPC files and streams.
 *
 * A file whose name ends in .arrows is written as a stream, any other as a file; what is read says itself
 * which it is. */
#include "io/arrow.h"
#include "io/many.h"
#include "exec/exec.h"

#include <string.h>

static bool read_one(FlCtx *ctx, const char *path, const void *options, FlTableWanted *wanted, int32_t n,
                     int64_t *n_rows, FlIoError *e) {
  FlInput in;
  (void)options;
  if (!fl_input_open(ctx, path, &in, e)) return false;
  bool ok = fl_arrow_read(ctx, &in, path, true, wanted, n, n_rows, e);
  if (ok && !fl_input_check(&in, path, e)) {
    for (int32_t k = 0; k < n; k++) fl_table_wanted_reset(&wanted[k]);
    ok = false;
  }
  fl_input_close(&in);
  return ok;
}

FlStatus fl_rt_read_arrow(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_read_table(ctx, desc, args, results, &(FlTableReader){.read = read_one, .exact = true});
}

static bool ends_in(const char *path, const char *end) {
  size_t n = strlen(path), m = strlen(end);
  return n >= m && strcmp(path + n - m, end) == 0;
}

/* An FlPutFn of an FlTable. */
static bool put_arrow(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const FlTable *t = what;
  (void)ctx;
  return fl_arrow_write(t->columns, t->n_columns, t->n_rows, !ends_in(out->path, ".arrows"), out, e);
}

FlStatus fl_rt_write_arrow(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  return fl_write_table(ctx, desc, args, put_arrow);
}
