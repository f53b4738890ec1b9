/* exec_csv.c: tables to and from programs as CSV: a header, separated by commas, as write_csv writes it. */
#include "io/csv_internal.h"

#include <stdlib.h>

static bool write_table(FlCtx *ctx, const FlTableColumn *columns, int32_t n_columns, int64_t n_rows,
                        FlBytes *to, FlIoError *e) {
  FlCsvOptions o;
  return fl_csv_options_fixed((FlOptions){0}, &o, e) &&
         fl_csv_encode(ctx, &o, columns, n_columns, n_rows, "input of a program", to, e);
}

static bool read_table(FlCtx *ctx, FlInput *in, const char *label, FlTableWanted *wanted, int32_t n,
                       int64_t *n_rows, FlIoError *e) {
  FlCsvOptions o;
  if (!fl_csv_options_fixed((FlOptions){0}, &o, e)) {
    fl_input_close(in);
    return false;
  }
  bool ok = fl_csv_read_bytes(ctx, in, label, &o, wanted, n, n_rows, e);
  if (!ok) e->help[0] = '\0'; /* which speaks of options of read_csv */
  return ok;
}

const FlTablePrograms fl_csv_programs = {"CSV with a header", write_table, read_table};
