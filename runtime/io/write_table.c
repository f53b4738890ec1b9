/* write_table.c: what the operators that write tables do: the columns that the attributes name, to a path.
 *
 * In: the path, the number of rows, the columns as table.c has them. What always holds: a path is claimed
 * before it is written. */
#include "io/many.h"
#include "exec/exec.h"

#include <stdlib.h>

FlStatus fl_write_table(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlTableWriter *write,
                        const void *options) {
  FlText to = args[0].t;
  FlIoError e = {0};
  int32_t n = (int32_t)desc->i;
  FlTableColumn *columns = calloc((size_t)n + 1, sizeof *columns);
  char *path = fl_input_path(to, &e);
  bool ok = path && (columns || fl_io_error(&e, FL_E_MEMORY, "out of memory"));
  FlStatus status = ok ? fl_ctx_claim_output(ctx, desc->site, to.ptr, to.len) : 0;
  if (ok && !status) {
    const FlSlot *at = args + 2;
    for (int32_t k = 0; k < n; k++) at = fl_table_column(desc->list[k], at, &columns[k]);
    ok = write(ctx, path, options, columns, n, args[1].i, &e);
  }
  if (!ok) status = fl_io_fail(ctx, desc->site, &e, to.ptr, to.len);
  free(columns);
  free(path);
  return status;
}
