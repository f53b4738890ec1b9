/* launch.c: --ranks: the same command line again, as several processes that a launcher of MPI starts; and
 * what
 * --hosts (launch_hosts.c) has in common with it.
 *
 * In: how many. Out: the exit status that one process would have had: rank 0 leaves it in a note
 * (launch_note.h), since a launcher adds lines of its own to what fails. What always holds: signals reach the
 * ranks; when this process dies, so do they; what does not end in time is killed (launch_watch.c). */
#include "process/launch.h"
#include "process/launch_note.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Where nothing else was said: workers go to any processor, more ranks than processors are allowed, and so is
 * root, who is alone in a container. */
static const char *const settings[][2] = {{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                          {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                          {"OMPI_MCA_orte_execute_quiet", "1"},
                                          {"OMPI_MCA_plm_rsh_args", "-o BatchMode=yes -o ConnectTimeout=10"},
                                          {"UCX_HANDLE_ERRORS", "none"}, /* no list of functions */
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

static _Noreturn void become(char **words, const char *path, const sigset_t *before, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(4); /* it ended before the line above */
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

/* The exit status, and a word where nobody else has said anything. */
static int judge(const FlLaunchEnding *e, bool near, const char *launcher) {
  if (e->unmet)
    return fprintf(stderr, "error: the ranks have not met: the hosts cannot reach each other by MPI\n"
                           "  help: `flowc doctor --hosts ..` looks for the reason\n"),
           4;
  if (e->left == 0 && (e->status || e->mute)) /* rank 0 had ended well, and its output is the launcher's */
    return fprintf(stderr,
                   "error E0920: a rank, or %s, was ended before the others: what was printed may "
                   "not be whole\n  help: stages that were stored are found by the next run\n",
                   launcher),
           4;
  if (e->said[0]) return fputs(e->said, stderr), e->left > 0 ? e->left : e->ended_by ? 128 + e->ended_by : 4;
  if (e->left >= 0 && !e->mute) {
    if (e->cut)
      fprintf(stderr, "note: %s did not end and was killed: what was said may not be whole\n", launcher);
    return e->left;
  }
  if (e->stood && !e->ended_by)
    return fprintf(stderr, "error: %s%s (process %lld) was stopped, and has not gone on for 3 seconds\n",
                   e->is_rank ? "a rank" : launcher, e->is_rank ? "" : ", which started the ranks,",
                   (long long)e->stood),
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
  if (near && !e->sat && e->status != 4)
    return fprintf(stderr,
                   "error: %s has started no ranks (status %d)\n"
                   "  help: OMPI_MCA_orte_execute_quiet=0 in the environment lets Open MPI say why\n",
                   launcher, e->status),
           e->status ? e->status : 4;
  if ((e->status != 4 && e->status != 0) || near) /* else rank 0, which is elsewhere, has said what it was */
    fprintf(stderr, "error E0920: a rank has ended before the others (status %d)\n", e->status);
  return e->status && !near ? e->status : 4;
}

int fl_launch(char **words, bool near, int start_s) {
  char path[4096];
  int fd = fl_launch_note_new(path, sizeof path);
  if (fd < 0) return fprintf(stderr, "error: cannot start ranks: %s\n", strerror(errno)), 4;
  sigset_t set, before;
  sigemptyset(&set);
  for (size_t k = 0; k < 4; k++) sigaddset(&set, (int[]){SIGCHLD, SIGINT, SIGTERM, SIGHUP}[k]);
  sigprocmask(SIG_BLOCK, &set, &before);
  fflush(stdout);
  pid_t parent = getpid(), child = fork();
  if (child == 0) become(words, path, &before, parent);
  FlLaunchEnding e = {.status = 4, .left = -1};
  if (child > 0) e = fl_launch_watch(child, &set, fd, start_s);
  close(fd);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return judge(&e, near, words[0]);
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
