/* log.h: bytes that are written in any order and stand in a file in the order in which they came, so that the
 * disk is written in order however small the pieces are: past the page cache, by a thread of its own.
 *
 * Without this, small pieces in many places would be pages that each are read back to be completed, would
 * wait in a control group for the disk, and would hold up whoever makes them. */
#ifndef FL_DATA_LOG_H
#define FL_DATA_LOG_H

#include "data/data_internal.h"

typedef struct FlLog FlLog;

/* Into an empty file opened with O_DIRECT, which is borrowed and must outlive the log. NULL: no memory, no
 * thread. `pool` counts what is in memory, and is told what goes past the page cache; may be NULL. */
FlLog *fl_log_new(FlPool *pool, int fd);
void fl_log_free(FlLog *l); /* NULL is allowed */

/* What stands at `at` from now on: any thread, no place twice, none after fl_log_end. errno; 0: taken. */
int fl_log_write(FlLog *l, const void *from, int64_t bytes, int64_t at);
/* Once nobody writes any more: all is in the file, which is read through the page cache from now on. Any
 * thread, any number of times. errno of what failed; 0: nothing did. */
int fl_log_end(FlLog *l);
/* After fl_log_end: where in the file the byte `at` stands; *bytes: how many follow it there. -1: none does.
 */
int64_t fl_log_place(const FlLog *l, int64_t at, int64_t *bytes);

#endif
