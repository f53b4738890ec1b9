/* write_table.c: the operator write_table: columns to a file of any format.
 *
 * In: the path, the number of rows, the columns as table.c has them; the format says who writes. */
#include "io/tables.h"
#include "exec/exec.h"

#include <stdlib.h>

FlStatus fl_rt_write_table(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  const FlTableWriter *writer = desc->format;
  FlTable t = {
      .n_columns = desc->n_columns, .n_rows = args[1].i, .options = {desc->options, desc->n_options}};
  t.columns = calloc((size_t)t.n_columns + 1, sizeof *t.columns);
  if (!t.columns) return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  const FlSlot *at = args + 2;
  for (int32_t k = 0; k < t.n_columns; k++) at = fl_table_column(&desc->columns[k], at, &t.columns[k]);
  FlStatus status = fl_io_write_file(ctx, desc, args[0].t, writer->put, &t);
  free(t.columns);
  return status;
}
