/* launch.h: starting ranks: --ranks, --hosts. As mpi.c of ranks/, it is only in programs that can open
 * libraries. */
#ifndef FL_LAUNCH_H
#define FL_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Runs this process's command line as n ranks, and gives the exit status, after a message where they do not
 * start. */
int fl_launch_ranks(int n) __attribute__((weak));
/* The same on the hosts that `hosts` names, as in a:8,b: a rank for each, with so many workers, or as many as
 * it has processors. `name`: of the program, in messages. */
int fl_launch_hosts(const char *name, const char *hosts) __attribute__((weak));
/* What a rank tells who started it so, and is told (launch_note.c). Whether that is how it was started; then
 * rank 0 leaves the status, and exits with 0. */
bool fl_launch_is_ours(void) __attribute__((weak));
/* This process is that rank. false: who started the ranks is on another machine, or no more. */
bool fl_launch_sit(int rank) __attribute__((weak));
void fl_launch_met(void) __attribute__((weak)); /* the ranks have met */
/* What is to be said on standard error before the status is left: launchers that are killed soon after may
 * not hand it on. false: who started the ranks cannot be told so, and it is for this process to say. */
bool fl_launch_say(const char *text) __attribute__((weak));
/* `lost`: since a rank is lost. */
bool fl_launch_leave_status(int status, bool lost) __attribute__((weak));
bool fl_launch_status_left(void) __attribute__((weak)); /* by any rank */
/* Of a rank that sits: the signal by which who started it wants all to end, SIGTERM where that one has ended
 * itself; 0: none. */
int fl_launch_wants(void) __attribute__((weak));

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

/* Of launch_watch.c, for launch.c: how a launcher has ended. */
typedef struct FlLaunchEnding {
  int status;     /* its exit status; -1: it was killed by a signal, */
  int killed_by;  /* this one */
  int ended_by;   /* the first signal that reached this process; 0: none */
  int left;       /* the status that a rank has left; -1: none has */
  char said[512]; /* what that one has left to be said on standard error; empty: nothing */
  bool mute;      /* it was stopped, and so has not handed on what they said */
  bool cut;       /* it did not end, and was killed: likewise, perhaps */
  bool sat, met;  /* some rank of this machine has begun; the ranks have met */
  bool unmet;     /* they did not in time, as start_s says */
  int64_t stood;  /* a process that was stopped for too long; 0: none */
  bool is_rank;   /* that one: else it is a launcher */
} FlLaunchEnding;
/* Waits for the launcher `child`, whose ranks share the note `fd`, and for all that it has started on this
 * machine; `set` are the signals, blocked, that are taken meanwhile. */
FlLaunchEnding fl_launch_watch(pid_t child, const sigset_t *set, int fd, int start_s);

#endif
