/* table_rows.c: rows of a file that are read by themselves, where several ranks have some each
 * (exec/ranks_reads.c).
 *
 * In: READ_TABLE of one file, or TABLE_PART of an opened one. Out: how many rows there are; rows [from, to),
 * in their places in arrays of all. What always holds: no message is made of what is wrong with a file,
 * since all of it is read then. */
#include "exec/exec.h"
#include "io/tables.h"

#include <stdlib.h>
#include <string.h>

/* The arrays become those of the wanted columns. */
static void put_arrays(FlTableWanted *wanted, int32_t n, const FlSlot *arrays) {
  for (int32_t k = 0; k < n; k++) {
    wanted[k].values = wanted[k].place ? wanted[k - 1].values : (arrays++)->a;
    if (wanted[k].nullable) wanted[k].valid = (arrays++)->a;
  }
}

/* That rows cannot be read by themselves; no memory is a failure of its own. */
static FlStatus cannot(FlCtx *ctx, const FlOpDesc *desc, FlIoError *e) {
  if (e->code != FL_E_MEMORY) fl_io_error(e, FL_E_VALUE, "rows are not read by themselves");
  return fl_io_fail(ctx, desc->site, e, "", 0);
}

FlStatus fl_table_rows_opened(FlCtx *ctx, const FlOpDesc *desc, const FlTableParts *how, void *file,
                              FlOpPart *part) {
  FlIoError e = {0};
  if (part->from < 0) {
    part->rows = how->rows ? how->rows(file) : -1;
    return 0;
  }
  FlTableWanted *wanted = calloc((size_t)desc->n_columns + 1, sizeof *wanted);
  if (wanted) put_arrays(wanted, fl_table_wanted_all(desc, wanted), part->arrays + 1);
  bool ok = wanted && how->rows(file) == part->rows &&
            how->read_rows(ctx, file, part->from, part->to, wanted, desc->n_columns, &e);
  free(wanted);
  return ok ? 0 : cannot(ctx, desc, &e);
}

FlStatus fl_table_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlOpPart *part) {
  FlIoError e = {0};
  const FlTableParts *how = ((const FlTableReader *)desc->format)->parts;
  bool input = fl_io_is_standard_input(args[0].t.ptr, args[0].t.len);
  char *path = how && how->rows && !input ? fl_input_path(args[0].t, &e) : NULL;
  FlTableFrom from = {.path = path, .options = {desc->options, desc->n_options}};
  FlTableWanted *wanted = path ? calloc((size_t)desc->n_columns + 1, sizeof *wanted) : NULL;
  int64_t n_parts;
  void *file = NULL;
  if (wanted) fl_table_wanted_all(desc, wanted);
  FlStatus s = 0;
  if (path && part->from < 0) s = fl_table_agree(ctx, desc, path);
  if (wanted && !s) file = how->open(ctx, &from, wanted, desc->n_columns, &n_parts, &e);
  if (file) s = fl_table_rows_opened(ctx, desc, how, file, part);
  else if (part->from < 0) part->rows = -1;
  else s = cannot(ctx, desc, &e);
  if (file) how->close(file);
  free(wanted);
  free(path);
  return s;
}
