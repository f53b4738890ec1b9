/* spawn.h: running another program to its end. */
#ifndef FL_COMPILER_SPAWN_H
#define FL_COMPILER_SPAWN_H

#include "base/base.h"

#include <signal.h>
#include <sys/types.h>

/* Runs args[0], which is looked for in PATH, with the words args, NULL behind the last, and waits for its
 * end; what it prints, on either output, is added to `said`. `signals`: its mask of signals, NULL: that of
 * this thread. Its exit status, 128 and the number of the signal that ended it, or -1: it could not be
 * started, and `said` says why. */
int fl_spawn(char *const *args, const sigset_t *signals, FlText1 *said);

/* One that runs beside this process: it reads what it is given from its descriptor FL_CHILD_INPUT. */
enum { FL_CHILD_INPUT = 3 };
typedef struct FlChild {
  pid_t pid;       /* 0: it does not run */
  int input, said; /* ends of pipes: to its descriptor, and from its error output */
  int output;      /* a file in memory, which is its standard output */
} FlChild;
/* As fl_spawn, but does not wait; fl_child_reset later. false: it could not be started, errno. */
bool fl_child_start(char *const *args, FlChild *child);
/* Gives it all of the input, and waits for its end: its exit status, as of fl_spawn. Its output is there. */
int fl_child_end(FlChild *child, const void *input, size_t size, FlText1 *said);
/* Ends it, whatever it does, and closes what there is of it. */
void fl_child_reset(FlChild *child);

#endif
