/* exec_arrow.c: tables to and from programs as Arrow IPC streams: exact, and with arrays in a row. */
#include "io/arrow.h"
#include "io/tables.h"

static bool write_table(FlCtx *ctx, const FlTableColumn *columns, int32_t n_columns, int64_t n_rows,
                        FlBytes *to, FlIoError *e) {
  (void)ctx;
  char label[] = "input of a program";
  FlOutput out = {.path = label, .memory = to};
  return fl_arrow_write(columns, n_columns, n_rows, false, &out, e);
}

static bool read_table(FlCtx *ctx, FlInput *in, const char *label, FlTableWanted *wanted, int32_t n,
                       int64_t *n_rows, FlIoError *e) {
  bool ok = fl_arrow_read(ctx, in, label, false, wanted, n, n_rows, e);
  fl_input_close(in);
  return ok;
}

const FlTablePrograms fl_arrow_programs = {"an Arrow IPC stream", write_table, read_table};
