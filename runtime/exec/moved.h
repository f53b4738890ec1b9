/* moved.h: how many bytes a loop or an operator reads and writes, for the record of a run.
 *
 * Each byte counts once that a loop goes over or an operator is given in full, and each that it gives, as if
 * nothing were in a cache and no element were left out. -1: not known, as of texts, whose bytes lie anywhere,
 * of what is looked up in any order, of files, and of arrays that are here in part. */
#ifndef FL_EXEC_MOVED_H
#define FL_EXEC_MOVED_H

#include "flow/abi.h"

/* Of n elements; before it runs, as it may write in place. */
int64_t fl_moved_by_kernel(const FlKernel *kernel, const FlSlot *env, int64_t n);
/* What an operator is given, before it runs; and that and what it gave. */
int64_t fl_moved_to_op(const FlOpDesc *desc, const FlSlot *args);
int64_t fl_moved_by_op(const FlOpDesc *desc, int64_t given, const FlSlot *results);

#endif
