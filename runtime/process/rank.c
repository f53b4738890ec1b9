/* rank.c: a process that is one of several ranks: its beginning, its end, and what others tell it between.
 *
 * In: a launcher's environment. Out: ranks that have met; an exit status. What always holds: rank 0 speaks,
 * and where it is lost the next one; the status is left before anything that may not come to an end.
 */
#include "process/rank.h"
#include "process/crash.h"
#include "process/launch.h"
#include "process/printed.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* `lost`: 1 + a rank; one that was called lost itself says nothing. */
static bool speaks(const FlRankLife *l, int lost) {
  return lost != l->launched + 1 && (l->launched == 0 || (l->launched == 1 && lost == 1));
}

void fl_rank_say(const FlRankLife *l, const char *text) {
  if (!l->sits || !fl_launch_say(text)) fl_printed_say(text);
}

/* At once, and with the status, since a launcher may end this process in a moment. */
static void say_lost(const FlRankLife *l, int lost, const char *why) {
  char text[512];
  if (!speaks(l, lost) || fl_launch_status_left()) return; /* rank 0 has said what it was */
  snprintf(text, sizeof text, "error E0920: %s\n  help: stages that were stored are found by the next run\n",
           why);
  fl_rank_say(l, text);
  if (fl_launch_is_ours()) fl_launch_leave_status(4, true);
}

static void ends(void *arg, int signal, int lost, const char *why) {
  FlRankLife *l = arg;
  if (why) say_lost(l, lost, why);
  pthread_mutex_lock(&l->lock);
  if (l->run) fl_run_stop(l->run, signal);
  else if (!l->ends) l->ends = signal;
  pthread_mutex_unlock(&l->lock);
}

/* Files that are being written go, as fl_run_give_up has it, unless who holds the lock is in the way. */
static void drop_files(FlRankLife *l) {
  if (pthread_mutex_trylock(&l->lock)) return;
  if (l->run) fl_run_give_up(l->run, 0);
}

/* The run does not end by itself, or MPI does not. */
static void late(void *arg, int signal, int lost, const char *why) {
  FlRankLife *l = arg;
  int status = l->status >= 0 ? l->status : signal ? 128 + signal : 4;
  char text[128];
  drop_files(l);
  fl_printed_rescue();
  snprintf(text, sizeof text, "interrupted (SIG%s): files that were being written are as they were before\n",
           signal ? sigabbrev_np(signal) : "");
  bool tells = speaks(l, lost);
  if (why && !lost) say_lost(l, 0, why);
  else if (tells && signal && l->status < 0) fl_rank_say(l, text);
  if (tells && fl_launch_is_ours()) fl_launch_leave_status(status, lost != 0);
  _exit(status);
}

static int wants(void *arg) { return ((FlRankLife *)arg)->sits ? fl_launch_wants() : 0; }

static bool is_calling(const void *arg) { return fl_mpi_is_calling(arg); }

bool fl_rank_begin(FlRankLife *l, const char *name) {
  char why[FL_MPI_WHY] = "";
  *l = (FlRankLife){.name = name, .launched = fl_mpi_rank(), .status = -1};
  pthread_mutex_init(&l->lock, NULL);
  bool first = l->launched == 0;
  l->sits = fl_launch_is_ours() && fl_launch_sit(l->launched);
  if (fl_mpi_start(&l->ranks, &(FlRankNews){ends, late, wants, l}, why)) {
    if (l->sits) fl_launch_met();
    fl_crash_ask(is_calling, &l->ranks);
    return true;
  }
  if (first) fprintf(stderr, "%s: error: %s\n", name, why);
  if (first && fl_launch_is_ours()) fl_launch_leave_status(4, false);
  return false;
}

void fl_rank_lives(FlRankLife *l, FlRun *run) {
  pthread_mutex_lock(&l->lock);
  l->run = run;
  if (run && l->ends) fl_run_stop(run, l->ends);
  pthread_mutex_unlock(&l->lock);
}

int fl_rank_asked(FlRankLife *l) { return wants(l); }

void fl_rank_told(FlRankLife *l, int status) {
  if (status && !l->ranks.lost && l->launched == 0 && fl_launch_is_ours())
    fl_launch_leave_status(status, false);
}

int fl_rank_end(FlRankLife *l, int status) {
  bool lost = l->ranks.lost != 0, tells = speaks(l, l->ranks.lost), first = l->launched == 0;
  fflush(stdout);
  if (lost && !first) status = 4;
  l->status = status;
  bool left = tells && fl_launch_is_ours() && (lost || fl_launch_leave_status(status, false));
  bool hurries = fl_launch_is_ours() && status > 128;
  fl_crash_ask(NULL, NULL);
  bool well = fl_mpi_end(&l->ranks, hurries);
  if (!well && lost) _exit(status ? status : 4); /* so that the launcher ends what is left */
  pthread_mutex_destroy(&l->lock);
  return first && !left ? status : 0;
}
