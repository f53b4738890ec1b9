/* launch_watch.c: waits for a launcher and for the ranks of this machine, and ends what does not end.
 *
 * In: a launcher, the note that its ranks share with this process, signals. Out: how it has ended. What
 * always holds: ranks end by themselves within two seconds of a signal, and at once when one is lost; this is
 * for those that do not. They are killed before their launcher, which then hands on what they have printed;
 * no rank of this machine, and not the launcher, lives when this returns. All is over four and a half seconds
 * after a signal or a stop, however a launcher behaves. Time in which this process stood still does not
 * count. */
#include "base/processes.h"
#include "process/launch.h"
#include "process/launch_note.h"
#include "ranks/ranks.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds from what makes it so until ranks are killed, and all. */
typedef struct Due {
  int ranks, all;
  bool reads; /* not while who reads the output is slow: then all that was printed is to reach him */
} Due;
static const Due after_signal = {2500, 3500, false}, after_loss = {500, 1000, false}, at_once = {0, 0, false},
                 after_failure = {3000, 4000, true}, after_all = {4000, 4750, true},
                 after_launcher = {1500, 1500, false};
_Static_assert(sizeof(((FlLaunchEnding *)0)->said) == FL_LAUNCH_SAID, "what is said fits");
enum { ROUND_MS = 100, LAST_ROUND_MS = 10, LONGEST_MS = 500 };
enum { STOOD_MS = 3000, SLOW_MS = 3000, GONE_MS = 1000 };
static const int64_t NEVER = INT64_MAX / 2;

typedef struct Watch {
  pid_t child;
  int fd;
  FlLaunchEnding e;
  bool over;             /* the launcher has ended */
  int64_t now, clock_ms; /* ms of rounds of this process; the clock's, of the last one */
  int64_t kill_ranks, kill_all;
  bool reads;
  int64_t full_at;             /* when nobody took the output, or all ranks stood, for the last time */
  int64_t stopped, stopped_at; /* a process that is stopped now; 0: none; since when */
} Watch;

static int64_t clock_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t sooner(int64_t a, int64_t b) { return a < b ? a : b; }

static void set_due(Watch *w, Due due) {
  if (w->kill_all == NEVER) w->reads = due.reads;
  w->reads &= due.reads;
  w->kill_ranks = sooner(w->kill_ranks, w->now + due.ranks);
  w->kill_all = sooner(w->kill_all, w->now + due.all);
}

/* ---- processes ----------------------------------------------------------------------------------------- */

static int seats(const Watch *w) {
  struct stat s;
  int64_t room = fstat(w->fd, &s) == 0 ? (int64_t)s.st_size - (int64_t)sizeof(FlLaunchNote) : 0;
  int64_t n = room > 0 ? room / (int64_t)sizeof(FlLaunchSeat) : 0;
  return (int)sooner(n, FL_RANKS_MAX);
}

/* Whether any rank of this machine lives; sends each a signal (0: none). */
static bool for_ranks(const Watch *w, int signal) {
  bool any = false;
  for (int k = 0; k < seats(w); k++) {
    FlLaunchSeat seat;
    if (!fl_launch_note_seat(w->fd, k, &seat)) continue;
    any = true;
    if (signal) kill((pid_t)seat.pid, signal);
  }
  return any;
}

static bool is_rank(const Watch *w, int64_t pid) {
  for (int k = 0; k < seats(w); k++) {
    FlLaunchSeat seat;
    if (fl_launch_note_seat(w->fd, k, &seat) && seat.pid == pid) return true;
  }
  return false;
}

/* Every rank of this machine is stopped, none has ended: they were all sent to sleep, as a laptop is. */
static bool all_stand(const Watch *w) {
  int n = seats(w);
  for (int k = 0; k < n; k++) {
    FlLaunchSeat seat;
    if (!fl_launch_note_seat(w->fd, k, &seat) || fl_process_state(seat.pid, NULL) != 'T') return false;
  }
  return n > 0;
}

enum { CHILDREN = 4096 };

/* The launcher, and what it has started on this machine: ranks, and helpers of its own. */
static void end_all(Watch *w) {
  int64_t children[CHILDREN];
  int n = w->over ? 0 : fl_process_children(w->child, children, CHILDREN);
  for_ranks(w, SIGKILL);
  for (int k = 0; k < n; k++) kill((pid_t)children[k], SIGKILL);
  w->e.cut |= !w->over;
  w->e.mute |= !w->over && fl_process_state(w->child, NULL) == 'T';
  if (!w->over) kill(w->child, SIGKILL);
}

/* A process that is stopped, of the launcher's and, until ranks look after each other, of theirs; 0: none. */
static int64_t find_stopped(const Watch *w, int64_t pid, int depth) {
  int64_t children[CHILDREN];
  if (fl_process_state(pid, NULL) == 'T' && !(w->e.met && is_rank(w, pid))) return pid;
  int n = depth ? fl_process_children(pid, children, CHILDREN) : 0;
  for (int k = 0; k < n; k++) {
    int64_t found = find_stopped(w, children[k], depth - 1);
    if (found) return found;
  }
  return 0;
}

static void look_for_stopped(Watch *w) {
  int64_t stopped = all_stand(w) ? 0 : find_stopped(w, w->child, w->e.met ? 1 : 3);
  if (!stopped || stopped != w->stopped) w->stopped_at = w->now;
  w->stopped = stopped;
  if (!stopped || w->now - w->stopped_at < STOOD_MS) return;
  w->e.stood = stopped;
  w->e.is_rank = stopped != w->child && (!w->e.met || is_rank(w, stopped));
  w->e.mute |= stopped == w->child;
  kill((pid_t)stopped, SIGKILL);
  set_due(w, stopped == w->child ? at_once : after_loss);
}

/* ---- rounds -------------------------------------------------------------------------------------------- */

/* Whoever reads what is printed takes no more for now. */
static bool is_full(void) {
  struct pollfd out[] = {{STDOUT_FILENO, POLLOUT, 0}, {STDERR_FILENO, POLLOUT, 0}};
  poll(out, 2, 0);
  return !out[0].revents || !out[1].revents;
}

static void take_signal(Watch *w, const siginfo_t *info) {
  int signal = info->si_signo;
  bool first = !w->e.ended_by;
  if (first && w->e.left < 0) fl_launch_note_asked(w->fd, signal); /* launchers pass on another one */
  if (first) w->e.ended_by = signal;
  set_due(w, first ? after_signal : after_loss);
  bool of_terminal = info->si_code == SI_KERNEL; /* which has sent it to the launcher, too */
  if (!of_terminal && !w->over) kill(w->child, signal == SIGINT ? SIGINT : SIGTERM);
}

static void read_note(Watch *w) {
  FlLaunchNote note = fl_launch_note_read(w->fd);
  w->e.met |= note.met != 0;
  w->e.sat |= seats(w) > 0;
  memcpy(w->e.said, note.said, sizeof note.said);
  w->e.said[sizeof note.said - 1] = 0;
  if (w->e.left >= 0 || !note.end.left) return;
  w->e.left = note.end.left - 1;
  set_due(w, note.end.lost ? after_loss : w->e.left ? after_failure : after_all);
}

static void see_launcher(Watch *w) {
  int status;
  if (waitpid(w->child, &status, WNOHANG) != w->child) return;
  w->over = true;
  w->e.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  w->e.killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  set_due(w, after_launcher);
}

static void go_round(Watch *w, int start_s) {
  int64_t at = clock_ms();
  w->now += sooner(at - w->clock_ms, LONGEST_MS);
  w->clock_ms = at;
  if (!w->over) { /* what ranks say later goes nowhere */
    see_launcher(w);
    read_note(w);
  }
  if (!w->over && is_full()) w->full_at = w->now;
  if (!w->over) look_for_stopped(w); /* also where all has ended but for that */
  if (w->kill_all == NEVER && start_s && !w->e.met && w->now > start_s * 1000) {
    w->e.unmet = true;
    set_due(w, at_once);
  }
  if (w->kill_all != NEVER && w->reads && all_stand(w)) w->full_at = w->now;
  bool slow = w->reads && w->now - w->full_at < SLOW_MS;
  if (w->now >= w->kill_ranks && !slow) for_ranks(w, SIGKILL);
  if (w->now >= w->kill_all && !slow) end_all(w);
}

/* What the system does not let go is left. */
static bool is_over(const Watch *w) {
  return w->over && (!for_ranks(w, 0) || (!w->reads && w->now > w->kill_all + GONE_MS));
}

FlLaunchEnding fl_launch_watch(pid_t child, const sigset_t *set, int fd, int start_s) {
  Watch w = {.child = child, .fd = fd, .e = {.left = -1}, .clock_ms = clock_ms(), .full_at = -SLOW_MS};
  w.kill_ranks = w.kill_all = NEVER;
  do {
    siginfo_t info;
    struct timespec moment = {.tv_nsec = (w.over ? LAST_ROUND_MS : ROUND_MS) * 1000000L};
    if (sigtimedwait(set, &info, &moment) > 0 && info.si_signo != SIGCHLD) take_signal(&w, &info);
    go_round(&w, start_s);
  } while (!is_over(&w));
  return w.e;
}
