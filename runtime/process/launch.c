/* launch.c: --ranks: the same command line again, as several processes that a launcher of MPI starts; and
 * what
 * --hosts (launch_hosts.c) has in common with it.
 *
 * In: how many. Out: the exit status that one process would have had: rank 0 leaves it in a file, since a
 * launcher adds lines of its own to what fails. The file has no name but by this process (/proc), so that
 * nothing is left behind however that ends. What always holds: signals reach the ranks; when this process
 * dies, so do they; a launcher that does not end after its ranks, or a signal, is killed. */
#include "process/launch.h"
#include "ranks/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool fl_launch_is_ours(void) { return getenv("FLOW_RANKS_STATUS") != NULL; }

/* The variable names the machine as well: the same path is another file on another one. */
static const char *status_path(void) {
  const char *where = getenv("FLOW_RANKS_STATUS");
  unsigned long long machine = 0;
  int at = 0;
  if (!where || sscanf(where, "%llx:%n", &machine, &at) != 1 || !at) return NULL;
  return machine == fl_ranks_machine() ? where + at : NULL;
}

/* At once, in place of what stood there: who writes may be killed at any moment. */
static bool put_word(int fd, const char *mark, int value) {
  char text[32];
  int n = snprintf(text, sizeof text, "%s%-*d\n", mark, 14 - (int)strlen(mark), value);
  return pwrite(fd, text, (size_t)n, 0) == n;
}

bool fl_launch_leave_status(int status) {
  const char *path = status_path();
  int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
  bool left = fd >= 0 && put_word(fd, "", status);
  if (fd >= 0) close(fd);
  return left;
}

bool fl_launch_status_left(void) {
  const char *path = status_path();
  FILE *f = path ? fopen(path, "re") : NULL;
  int status = -1;
  bool left = f && fscanf(f, "%d", &status) == 1 && status >= 0;
  if (f) fclose(f);
  return left;
}

int fl_launch_asked(int signal) {
  const char *path = status_path();
  FILE *f = path ? fopen(path, "re") : NULL;
  int asked = 0;
  bool found = f && fscanf(f, "^%d", &asked) == 1 && asked > 0;
  if (f) fclose(f);
  return found ? asked : signal;
}

/* Where nothing else was said: workers go to any processor, more ranks than processors are allowed, and so is
 * root, who is alone in a container. */
static const char *const settings[][2] = {{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                          {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                          {"OMPI_MCA_orte_execute_quiet", "1"},
                                          {"OMPI_MCA_plm_rsh_args", "-o BatchMode=yes -o ConnectTimeout=10"},
                                          {"PRTE_MCA_hwloc_default_binding_policy", "none"},
                                          {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                                          {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};

bool fl_command_line_init(FlCommandWords *c) {
  int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  *c = (FlCommandWords){.bytes = calloc(FL_COMMAND_LONGEST, 1)};
  ssize_t n = fd < 0 || !c->bytes ? -1 : read(fd, c->bytes, FL_COMMAND_LONGEST - 1);
  if (fd >= 0) close(fd);
  c->words = n > 0 ? calloc((size_t)n + 1, sizeof *c->words) : NULL;
  for (char *word = c->bytes; c->words && word < c->bytes + n; word += strlen(word) + 1)
    c->words[c->n++] = word;
  if (c->words) return true;
  free(c->bytes);
  return false;
}

void fl_command_line_reset(FlCommandWords *c) {
  free(c->words);
  free(c->bytes);
}

const char *fl_launcher(void) {
  const char *named = getenv("FLOW_MPIRUN");
  return named && *named ? named : "mpirun";
}

static _Noreturn void become(char **words, const char *path, const sigset_t *before) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigprocmask(SIG_SETMASK, before, NULL);
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) setenv(settings[k][0], settings[k][1], 0);
  setenv("FLOW_RANKS_STATUS", path, 1);
  execvp(words[0], words);
  fprintf(stderr,
          "error: `--ranks` starts processes by %s, and it cannot be started: %s\n"
          "  help: install an MPI: ./build.sh deps --mpi, or on Debian apt install openmpi-bin\n",
          words[0], strerror(errno));
  _exit(4);
}

/* What rank 0 has left; -1: nothing. *begun: the ranks have met. */
static int read_status(int fd, bool *begun) {
  char text[16] = "";
  ssize_t n = pread(fd, text, sizeof text - 1, 0);
  bool whole = n > 0 && text[n - 1] == '\n';
  *begun |= whole;
  return whole && text[0] != '^' ? atoi(text) : -1;
}

/* How a launcher has ended. */
typedef struct Ending {
  int status;          /* its exit status; -1: it was killed by a signal, */
  int killed_by;       /* this one */
  int ended_by;        /* the first signal that reached this process; 0: none */
  bool hung;           /* it did not end after its ranks, or a signal */
  bool unmet;          /* the ranks did not meet in time */
  long stopped, stood; /* a process that is stopped; one that was for too long before they met */
  int still;           /* for how many rounds */
} Ending;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The state of a process, as ps shows it; 0: there is none. */
static char state_of(long pid) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *f = fopen(path, "re");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  const char *state = n ? strrchr(text, ')') : NULL;
  return state ? state[2] : '\0';
}

/* A process that was started by this one, or by those, and is stopped; 0: none. */
static long stopped_below(long pid, int depth) {
  char path[64], text[4096] = "";
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", pid, pid);
  FILE *f = fopen(path, "re");
  if (f) fread(text, 1, sizeof text - 1, f);
  if (f) fclose(f);
  char *end;
  for (char *at = text; *at; at = end) {
    long child = strtol(at, &end, 10);
    if (end == at) break;
    if (state_of(child) == 'T') return child;
    long below = depth ? stopped_below(child, depth - 1) : 0;
    if (below) return below;
  }
  return 0;
}

/* Until the ranks have met they cannot look after each other. */
static void look_for_stopped(pid_t child, Ending *e) {
  enum { ROUNDS = 12 }; /* of four a second */
  long stopped = stopped_below(child, 3);
  e->still = stopped && stopped == e->stopped ? e->still + 1 : 0;
  e->stopped = stopped;
  if (e->still < ROUNDS) return;
  e->stood = stopped;
  kill((pid_t)stopped, SIGKILL); /* and so the launcher ends the others */
}

/* Ends the launcher when it is due: some time after a signal, or what rank 0 has left. */
static void hurry(pid_t child, int fd, double start_by, double *end_by, Ending *e) {
  enum { AFTER_SIGNAL = 4, AFTER_FAILURE = 3, AFTER_ALL = 10 };
  double now = seconds();
  bool begun = false;
  int status = read_status(fd, &begun);
  if (!begun && !e->ended_by) look_for_stopped(child, e);
  if (*end_by == 0 && e->ended_by) *end_by = now + AFTER_SIGNAL;
  else if (*end_by == 0 && status >= 0) *end_by = now + (status ? AFTER_FAILURE : AFTER_ALL);
  e->unmet = start_by > 0 && !begun && now > start_by;
  e->hung = *end_by > 0 && now > *end_by;
  if (e->unmet || e->hung) kill(child, SIGKILL);
}

/* Waits for the launcher, to which signals are passed on; but not those of a terminal, which it has got
 * itself. */
static Ending await(pid_t child, const sigset_t *set, int fd, double start_by) {
  const struct timespec moment = {.tv_nsec = 250000000};
  Ending e = {0};
  double end_by = 0;
  for (;;) {
    siginfo_t info;
    int status, signal = sigtimedwait(set, &info, &moment);
    if (waitpid(child, &status, WNOHANG) == child) {
      e.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      e.killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      return e;
    }
    if (signal > 0 && signal != SIGCHLD) {
      bool left = read_status(fd, &(bool){false}) >= 0;
      if (!e.ended_by && !left) put_word(fd, "^", signal); /* which launchers pass on as another one */
      if (!e.ended_by) e.ended_by = signal;
      if (info.si_code != SI_KERNEL) kill(child, signal == SIGINT ? SIGINT : SIGTERM);
    }
    hurry(child, fd, start_by, &end_by, &e);
  }
}

/* A file that others find as `path` while this process lives; -1: there is none. */
static int status_file(char *path, size_t room) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, room, "%s/flow-ranks-XXXXXX", folder && *folder ? folder : "/tmp");
  int fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  if (fd >= 0)
    snprintf(path, room, "%llx:/proc/%ld/fd/%d", (unsigned long long)fl_ranks_machine(), (long)getpid(), fd);
  return fd;
}

/* The exit status, and a word where nobody else has said anything. */
static int judge(const Ending *e, int status, bool met, const char *launcher) {
  if (e->unmet)
    return fprintf(stderr, "error: the ranks have not met: the hosts cannot reach each other by MPI\n"
                           "  help: `flowc doctor --hosts ..` looks for the reason\n"),
           4;
  if (status >= 0) return status;
  if (e->stood)
    return fprintf(stderr, "error: a rank (process %ld) was stopped, and has not gone on for 3 seconds\n",
                   e->stood),
           4;
  if (e->ended_by) {
    fprintf(stderr, "interrupted (SIG%s): files that were being written are as they were before\n",
            sigabbrev_np(e->ended_by));
    return 128 + e->ended_by;
  }
  if (e->killed_by) {
    fprintf(stderr, "error: %s, which started the ranks, was ended by SIG%s\n", launcher,
            sigabbrev_np(e->killed_by));
    return 4;
  }
  if (e->status == SIGKILL || e->status == 128 + SIGKILL) /* MPICH says the one, Open MPI the other */
    return fprintf(stderr, "error E0920: a rank was killed\n"
                           "  help: stages that were stored are found by the next run\n"),
           4;
  if (!met && e->status != 4)
    return fprintf(stderr,
                   "error: %s has started no ranks (status %d)\n"
                   "  help: OMPI_MCA_orte_execute_quiet=0 in the environment lets Open MPI say why\n",
                   launcher, e->status),
           e->status ? e->status : 4;
  if (e->status != 4 && e->status != 0)
    fprintf(stderr, "error: a rank has ended before the others (status %d)\n", e->status);
  return e->status ? e->status : 4;
}

int fl_launch(char **words, bool near, int start_s) {
  char path[4096];
  int fd = status_file(path, sizeof path);
  if (fd < 0) return fprintf(stderr, "error: cannot start ranks: %s\n", strerror(errno)), 4;
  sigset_t set, before;
  sigemptyset(&set);
  for (size_t k = 0; k < 4; k++) sigaddset(&set, (int[]){SIGCHLD, SIGINT, SIGTERM, SIGHUP}[k]);
  sigprocmask(SIG_BLOCK, &set, &before);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) become(words, path, &before);
  Ending e = {.status = 4};
  if (child > 0) e = await(child, &set, fd, start_s ? seconds() + start_s : 0);
  bool begun = false;
  int status = read_status(fd, &begun);
  close(fd);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return judge(&e, status, begun || !near, words[0]);
}

int fl_launch_ranks(int n) {
  FlCommandWords c;
  char count[16], **words = NULL;
  snprintf(count, sizeof count, "%d", n);
  if (fl_command_line_init(&c)) words = calloc((size_t)c.n + 4, sizeof *words);
  if (!words) return fprintf(stderr, "error: out of memory\n"), 4;
  words[0] = (char *)(uintptr_t)fl_launcher();
  words[1] = (char *)(uintptr_t)"-n";
  words[2] = count;
  memcpy(words + 3, c.words, (size_t)c.n * sizeof *words);
  int status = fl_launch(words, true, 0);
  free(words);
  fl_command_line_reset(&c);
  return status;
}
