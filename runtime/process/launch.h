/* launch.h: starting ranks: --ranks. As mpi.c of ranks/, it is only in programs that can open libraries. */
#ifndef FL_LAUNCH_H
#define FL_LAUNCH_H

#include <stdbool.h>

/* Runs this process's command line as n ranks, and gives the exit status, after a message where they do not
 * start. */
int fl_launch_ranks(int n) __attribute__((weak));
/* Whether that is how this process was started; then rank 0 leaves the status, and exits with 0. */
bool fl_launch_is_ours(void) __attribute__((weak));
bool fl_launch_leave_status(int status) __attribute__((weak));

#endif
