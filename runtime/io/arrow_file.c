/* arrow_file.c: tables from and to Arrow IPC files and streams.
 *
 * A file whose name ends in .arrows is written as a stream, any other as a file; what is read says itself
 * which it is. */
#include "io/arrow.h"
#include "io/tables.h"
#include "exec/exec.h"

#include <string.h>

static bool read_one(FlCtx *ctx, const FlTableFrom *from, FlTableWanted *wanted, int32_t n, int64_t *n_rows,
                     FlIoError *e) {
  const char *path = from->path;
  FlInput in;
  if (!fl_input_open(ctx, path, &in, e)) return false;
  bool ok = fl_arrow_read(ctx, &in, path, true, wanted, n, n_rows, e);
  if (ok && !fl_input_check(&in, path, e)) {
    for (int32_t k = 0; k < n; k++) fl_table_wanted_reset(&wanted[k]);
    ok = false;
  }
  fl_input_close(&in);
  return ok;
}

const FlTableReader fl_read_arrow = {.schema = fl_arrow_table_schema,
                                     .read = read_one,
                                     .parts = &fl_arrow_parts,
                                     .programs = &fl_arrow_programs};

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

const FlTableWriter fl_write_arrow = {.put = put_arrow};
