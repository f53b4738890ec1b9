/* resident.h: spans of memory whose pages may be dropped at any time, and the thread that drops them so that
 * the process stays within its limit.
 *
 * A span is a shared mapping of a file of ours, or the unwritten part of a mapped input: a page that is
 * dropped comes back from the file when it is touched. What always holds: dropping changes no value, so it
 * may happen under readers and writers alike. */
#ifndef FL_DATA_RESIDENT_H
#define FL_DATA_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FlResidents FlResidents;
typedef struct FlSpan FlSpan;

/* Starts the thread that keeps the process below `limit` bytes. NULL: not possible here. */
FlResidents *fl_residents_new(int64_t limit);
/* Ends the thread: from now on nothing is dropped. NULL is allowed; once. */
void fl_residents_stop(FlResidents *r);
/* After fl_residents_stop, when no span is left. NULL is allowed. */
void fl_residents_free(FlResidents *r);

/* The whole pages [at, at + bytes) may be dropped until fl_residents_remove. NULL: out of memory, or r is
 * NULL: then they stay. Any thread. */
FlSpan *fl_residents_add(FlResidents *r, void *at, size_t bytes);
void fl_residents_remove(FlResidents *r, FlSpan *span); /* NULL is allowed; before the pages are unmapped */

/* For workers, between pieces of work: looks at the resident size if nobody did so just now, and waits while
 * pages are dropped. So whoever fills memory makes room, also when the machine is too busy for the thread to
 * run. */
void fl_residents_breathe(FlResidents *r);

/* How much of the limit the memory takes that no file stands behind, which can only be given back by those
 * who have it: FULL is 95% of it. Any thread. */
typedef enum FlFill { FL_FILL_ROOM, FL_FILL_FULL, FL_FILL_PAST } FlFill;
/* When somebody looked last; r may be NULL. */
FlFill fl_residents_fill(const FlResidents *r);
/* Now, to the page. */
FlFill fl_residents_fill_now(FlResidents *r);

#endif
