/* launch.h: starting ranks: --ranks, --hosts. As mpi.c of ranks/, it is only in programs that can open
 * libraries. */
#ifndef FL_LAUNCH_H
#define FL_LAUNCH_H

#include <stdbool.h>

/* Runs this process's command line as n ranks, and gives the exit status, after a message where they do not
 * start. */
int fl_launch_ranks(int n) __attribute__((weak));
/* The same on the hosts that `hosts` names, as in a:8,b: a rank for each, with so many workers, or as many as
 * it has processors. `name`: of the program, in messages. */
int fl_launch_hosts(const char *name, const char *hosts) __attribute__((weak));
/* Whether that is how this process was started; then rank 0 leaves the status, and exits with 0; -1: that the
 * ranks have met. */
bool fl_launch_is_ours(void) __attribute__((weak));
bool fl_launch_leave_status(int status) __attribute__((weak));
/* Whether a rank has left one. */
bool fl_launch_status_left(void) __attribute__((weak));
/* The signal that was sent to who asked for ranks, where a launcher has passed on another one. */
int fl_launch_asked(int signal) __attribute__((weak));

/* Of launch.c, for launch_hosts.c. The words of this process's command line. */
enum { FL_COMMAND_LONGEST = 1 << 20 }; /* bytes, with a zero behind each word */
typedef struct FlCommandWords {
  char *bytes, **words;
  int n;
} FlCommandWords;
bool fl_command_line_init(FlCommandWords *out); /* false: out of memory, or it cannot be read */
void fl_command_line_reset(FlCommandWords *words);
/* The program that starts ranks. */
const char *fl_launcher(void);
/* Runs a launcher's command line, NULL behind its words, to its end. `near`: rank 0 is on this machine, and
 * so says when the ranks have met; start_s: within how many seconds; 0: as long as it takes. */
int fl_launch(char **words, bool near, int start_s);

#endif
