/* many.h: what operators on tables share: columns of several files, one after the other; columns to a file.
 */
#ifndef FL_MANY_H
#define FL_MANY_H

#include "io/io_internal.h"

/* Who reads the wanted columns of one file; on failure no array is owned. */
typedef struct FlTableReader {
  bool (*read)(FlCtx *ctx, const char *path, const void *options, FlTableWanted *wanted, int32_t n_wanted,
               int64_t *n_rows, FlIoError *e);
  const void *options;
  bool exact;     /* columns may be durations, categories and arrays */
  bool durations; /* columns may be durations */
} FlTableReader;
/* What an operator that reads tables does with it: one file or several, as read_table.c says. */
FlStatus fl_read_table(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                       const FlTableReader *reader);

/* What an operator that reads one file or several was given: paths[0 .. n). */
typedef struct FlSources {
  const FlText *paths;
  int64_t n;
} FlSources;
/* Of the first argument: a file, or an array of files. `slot` must stay where it is while the sources are
 * used. */
FlSources fl_sources_of(const FlOpDesc *desc, const FlSlot *slot);

/* parts[0 .. n) of one dtype, rank and size but for the first dimension, one after the other: a new
 * reference; NULL: out of memory. One part is given as it is. The parts stay the caller's. */
FlArray *fl_many_concat(FlCtx *ctx, FlArray *const *parts, int64_t n, int32_t dtype);

/* The number of the part that each row comes from. */
FlArray *fl_many_index(FlCtx *ctx, const int64_t *rows, int64_t n);

/* A table that is written. */
typedef struct FlTable {
  FlTableColumn *columns;
  int32_t n_columns;
  int64_t n_rows;
  const char *const *options; /* what follows the columns in the attributes */
} FlTable;
/* What an operator that writes a table does: `put` is given an FlTable. */
FlStatus fl_write_table(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlPutFn *put);

#endif
