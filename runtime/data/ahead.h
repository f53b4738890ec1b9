/* ahead.h: bytes of a mapped file that somebody will read soon are asked of the disk by a thread of its own.
 * The system lets whoever asks wait while the disk has as many requests as it takes: for a worker that would
 * be time in which nothing is computed.
 *
 * What always holds: it is a hint. What was asked, or forgotten, changes no value, and whoever reads bytes
 * that are not there yet waits for these alone. */
#ifndef FL_DATA_AHEAD_H
#define FL_DATA_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct FlAhead FlAhead;

/* Starts the thread. NULL: not possible here. */
FlAhead *fl_ahead_new(void);
/* Ends the thread, before what is mapped goes: what it has not asked yet is forgotten. NULL is allowed. */
void fl_ahead_free(FlAhead *a);
/* Whole pages [at, at + bytes), which are mapped until fl_ahead_free, behind all that was handed in before.
 * false: too much waits already, and they are forgotten. Any thread; returns at once. */
bool fl_ahead_ask(FlAhead *a, void *at, size_t bytes);

#endif
