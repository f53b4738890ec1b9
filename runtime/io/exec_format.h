/* exec_format.h: how tables go to programs and come back: one row a format. Private to the room. */
#ifndef FL_EXEC_FORMAT_H
#define FL_EXEC_FORMAT_H

#include "io/io_internal.h"

typedef struct FlExecFormat {
  const char *name, *says; /* says: what it is, for messages */
  bool (*write)(FlCtx *ctx, const FlTableColumn *columns, int32_t n_columns, int64_t n_rows, FlBytes *to,
                FlIoError *e);
  /* Closes `in`. On failure no array of `wanted` is owned. */
  bool (*read)(FlCtx *ctx, FlInput *in, const char *label, FlTableWanted *wanted, int32_t n_wanted,
               int64_t *n_rows, FlIoError *e);
} FlExecFormat;

extern const FlExecFormat fl_exec_csv, fl_exec_arrow;

#endif
