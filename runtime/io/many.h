/* many.h: what operators that read one file or several share: columns one after the other. */
#ifndef FL_MANY_H
#define FL_MANY_H

#include "io/io_internal.h"

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

#endif
