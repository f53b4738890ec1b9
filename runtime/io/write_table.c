/* write_table.c: what the operators that write tables do: the columns that the attributes name, to a file.
 *
 * In: the path, the number of rows, the columns as table.c has them. */
#include "io/many.h"
#include "exec/exec.h"

#include <stdlib.h>

FlStatus fl_write_table(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlPutFn *put) {
  int32_t n = (int32_t)desc->i;
  FlTable t = {.n_columns = n, .n_rows = args[1].i, .options = desc->list + n};
  t.columns = calloc((size_t)n + 1, sizeof *t.columns);
  if (!t.columns) return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  const FlSlot *at = args + 2;
  for (int32_t k = 0; k < n; k++) at = fl_table_column(desc->list[k], at, &t.columns[k]);
  FlStatus status = fl_io_write_file(ctx, desc, args[0].t, put, &t);
  free(t.columns);
  return status;
}
