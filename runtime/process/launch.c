/* launch.c: --ranks: the same command line again, as several processes that a launcher of MPI starts.
 *
 * In: how many. Out: the exit status that one process would have had: rank 0 leaves it in a file, since a
 * launcher adds lines of its own to what fails. The file has no name but by this process (/proc), so that
 * nothing is left behind however that ends. What always holds: signals reach the ranks; when this process
 * dies, so do they. */
#include "process/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

bool fl_launch_is_ours(void) { return getenv("FLOW_RANKS_STATUS") != NULL; }

bool fl_launch_leave_status(int status) {
  const char *path = getenv("FLOW_RANKS_STATUS");
  FILE *f = path ? fopen(path, "w") : NULL;
  if (f) fprintf(f, "%d\n", status);
  return f && fclose(f) == 0;
}

/* Where nothing else was said: workers go to any processor, more ranks than processors are allowed, and so is
 * root, who is alone in a container. */
static const char *const settings[][2] = {{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                          {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                          {"PRTE_MCA_hwloc_default_binding_policy", "none"},
                                          {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                                          {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};

enum { LONGEST = 1 << 20 }; /* bytes of a command line, with a zero behind each word */

/* The words of this process's command line, behind those of the launcher, in `bytes`; NULL: no memory. */
static char **command_line(const char *launcher, const char *count, char *bytes) {
  int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, bytes, LONGEST - 1);
  if (fd >= 0) close(fd);
  char **words = n > 0 ? calloc((size_t)n + 5, sizeof *words) : NULL;
  if (!words) return NULL;
  int at = 0;
  words[at++] = (char *)(uintptr_t)launcher;
  words[at++] = (char *)(uintptr_t) "-n";
  words[at++] = (char *)(uintptr_t)count;
  for (char *word = bytes; word < bytes + n; word += strlen(word) + 1) words[at++] = word;
  return words;
}

static _Noreturn void become(const char *launcher, char **words, const char *path, const sigset_t *before) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigprocmask(SIG_SETMASK, before, NULL);
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) setenv(settings[k][0], settings[k][1], 0);
  setenv("FLOW_RANKS_STATUS", path, 1);
  execvp(launcher, words);
  fprintf(stderr, "error: `--ranks` starts processes by %s, and it cannot be started: %s\n"
                  "  help: install an MPI: ./build.sh deps --mpi, or on Debian apt install openmpi-bin\n",
          launcher, strerror(errno));
  _exit(4);
}

/* Waits for the launcher, to which signals are passed on; but not those of a terminal, which it has got
 * itself. */
static int await(pid_t child, const sigset_t *set, int *ended_by) {
  for (;;) {
    siginfo_t info;
    int status, signal = sigwaitinfo(set, &info);
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (signal <= 0 || signal == SIGCHLD) continue;
    if (!*ended_by) *ended_by = signal;
    if (info.si_code != SI_KERNEL) kill(child, signal == SIGINT ? SIGINT : SIGTERM);
  }
}

/* What rank 0 has left; -1: nothing. */
static int read_status(int fd) {
  char text[16] = "";
  ssize_t n = pread(fd, text, sizeof text - 1, 0);
  return n > 0 && text[n - 1] == '\n' ? atoi(text) : -1;
}

/* A file that others find as `path` while this process lives; -1: there is none. */
static int status_file(char *path, size_t room) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, room, "%s/flow-ranks-XXXXXX", folder && *folder ? folder : "/tmp");
  int fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  if (fd >= 0) snprintf(path, room, "/proc/%ld/fd/%d", (long)getpid(), fd);
  return fd;
}

int fl_launch_ranks(int n) {
  const char *launcher = getenv("FLOW_MPIRUN");
  char path[4096], count[16];
  if (!launcher || !*launcher) launcher = "mpirun";
  snprintf(count, sizeof count, "%d", n);
  char *bytes = calloc(LONGEST, 1), **words = bytes ? command_line(launcher, count, bytes) : NULL;
  int fd = words ? status_file(path, sizeof path) : -1, ended_by = 0;
  if (fd < 0)
    return fprintf(stderr, "error: cannot start ranks: %s\n", strerror(errno)), free(words), free(bytes), 4;
  sigset_t set, before;
  sigemptyset(&set);
  for (size_t k = 0; k < 4; k++) sigaddset(&set, (int[]){SIGCHLD, SIGINT, SIGTERM, SIGHUP}[k]);
  sigprocmask(SIG_BLOCK, &set, &before);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) become(launcher, words, path, &before);
  int its = child < 0 ? 4 : await(child, &set, &ended_by), status = read_status(fd);
  close(fd);
  free(words);
  free(bytes);
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (status >= 0) return status;
  if (ended_by) return 128 + ended_by;
  if (its != 4 && its != 0) fprintf(stderr, "error: a rank has ended before the others (status %d)\n", its);
  return its ? its : 4;
}
