/* crash.h: what the machine stops: a stack that ran out, a mapped file that was cut short. */
#ifndef FL_CRASH_H
#define FL_CRASH_H

#include <stdbool.h>

/* Installs the handlers of the process; the first call does. They say what happened on standard error and end
 * the process with status 1 (the script's recursion, a file changed by somebody else) or 70 (anything else: a
 * bug of flow; builds with sanitizers also show where). */
void fl_crash_install(void);

/* The same while a script is compiled: status 3 (it is nested too deeply for our stack) or 70. A run that
 * follows installs its own. */
void fl_crash_install_compiler(void);

/* Who knows whether the calling thread is within a library that aborts where it cannot go on, asked in a
 * signal handler: such an end is said to be that, with status 4. NULL: there is none. */
void fl_crash_ask(bool (*is_within)(const void *arg), const void *arg);

#endif
