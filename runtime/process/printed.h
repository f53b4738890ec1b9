/* printed.h: what was printed and waits to be written: nothing of it is lost however the process ends, unless
 * it is killed or nobody reads it. */
#ifndef FL_PRINTED_H
#define FL_PRINTED_H

/* Gives standard output a buffer that can be reached from a signal handler. Where the standard descriptors
 * are closed, puts something there that cannot be used, so that no file that is opened gets them and is
 * printed into. Before anything was printed or opened; a second call does nothing. */
void fl_printed_begin(void);
/* Writes what waits. Safe in signal handlers; to be followed by the end of the process. */
void fl_printed_rescue(void);
/* A sentence on standard error, past its stream, whose lock may be held: by whoever waits for a reader. Where
 * nobody reads, it is waited for a moment, and nothing is said. Safe in signal handlers. */
void fl_printed_say(const char *text);

#endif
