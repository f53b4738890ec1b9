/* spawn.h: running another program to its end. */
#ifndef FL_COMPILER_SPAWN_H
#define FL_COMPILER_SPAWN_H

#include "base/base.h"

#include <signal.h>

/* Runs args[0], which is looked for in PATH, with the words args, NULL behind the last, and waits for its
 * end; what it prints, on either output, is added to `said`. `signals`: its mask of signals, NULL: that of
 * this thread. Its exit status, 128 and the number of the signal that ended it, or -1: it could not be
 * started, and `said` says why. */
int fl_spawn(char *const *args, const sigset_t *signals, FlText1 *said);

#endif
