/* spawn.c: see spawn.h. In: the words of a command, and what it reads. Out: its status, and what it
 * printed. */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void read_all(int fd, FlText1 *out) {
  char part[4096];
  ssize_t n;
  while ((n = read(fd, part, sizeof part)) > 0 || (n < 0 && errno == EINTR))
    if (n > 0) fl_text_add(out, part, (size_t)n);
}

/* input -1: it has no such descriptor. */
static int start(char *const *args, const sigset_t *signals, int input, int output, int said, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, said, 2);
  if (input >= 0) posix_spawn_file_actions_adddup2(&actions, input, FL_CHILD_INPUT);
  posix_spawnattr_init(&attributes);
  if (signals) {
    posix_spawnattr_setsigmask(&attributes, signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  }
  int bad = posix_spawnp(pid, args[0], &actions, &attributes, args, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return bad;
}

static int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int fl_spawn(char *const *args, const sigset_t *signals, FlText1 *said) {
  int fds[2];
  pid_t pid;
  if (pipe2(fds, O_CLOEXEC) != 0) return fl_text_addf(said, "%s: %s", args[0], strerror(errno)), -1;
  int bad = start(args, signals, -1, fds[1], fds[1], &pid);
  close(fds[1]);
  if (!bad) read_all(fds[0], said);
  close(fds[0]);
  if (bad) return fl_text_addf(said, "%s: %s", args[0], strerror(bad)), -1;
  return wait_for(pid);
}

/* ---- beside this process ------------------------------------------------------------------------------- */

/* A pipe whose ends are no descriptors that the child is to have. */
static bool make_pipe(int ends[2]) {
  int low[2], made = 0;
  if (pipe2(low, O_CLOEXEC) != 0) return false;
  for (int k = 0; k < 2; k++) {
    ends[k] = fcntl(low[k], F_DUPFD_CLOEXEC, FL_CHILD_INPUT + 1);
    made += ends[k] >= 0;
    close(low[k]);
  }
  if (made == 2) return true;
  for (int k = 0; k < 2; k++)
    if (ends[k] >= 0) close(ends[k]);
  return false;
}

bool fl_child_start(char *const *args, FlChild *child) {
  int pipes[3][2], n = 0;
  *child = (FlChild){0};
  while (n < 3 && make_pipe(pipes[n])) n++;
  int bad = n == 3 ? start(args, NULL, pipes[0][0], pipes[1][1], pipes[2][1], &child->pid) : errno;
  for (int k = 0; k < n; k++) { /* the child has the other ends */
    close(pipes[k][k == 0 ? 0 : 1]);
    if (bad) close(pipes[k][k == 0 ? 1 : 0]);
  }
  errno = bad;
  if (bad) return false;
  child->input = pipes[0][1];
  child->output = pipes[1][0];
  child->said = pipes[2][0];
  fcntl(child->input, F_SETFL, O_NONBLOCK);
  fcntl(child->output, F_SETPIPE_SZ, 1 << 20); /* as much as it may: it waits less often */
  return true;
}

/* What can be read of a descriptor, closed at its end, when it becomes -1. */
static void take(int *fd, FlText1 *out) {
  char part[1 << 16];
  ssize_t n = read(*fd, part, sizeof part);
  if (n > 0) {
    fl_text_add(out, part, (size_t)n);
  } else if (n == 0 || errno != EINTR) {
    close(*fd);
    *fd = -1;
  }
}

/* Writes what the pipe takes, and closes it behind the last, or where nobody reads it. */
static void give(int *fd, const char **input, size_t *size) {
  ssize_t n = *size ? write(*fd, *input, *size) : 0;
  if (n > 0) {
    *input += n;
    *size -= (size_t)n;
  }
  bool waits = n < 0 && (errno == EINTR || errno == EAGAIN);
  if (*size && (n > 0 || waits)) return;
  close(*fd);
  *fd = -1;
}

int fl_child_end(FlChild *child, const void *input, size_t size, FlText1 *output, FlText1 *said) {
  const char *rest = input;
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before); /* a child that ended reads nothing */
  while (child->input >= 0 || child->output >= 0 || child->said >= 0) {
    struct pollfd fds[3] = {{child->input, POLLOUT, 0}, {child->output, POLLIN, 0}, {child->said, POLLIN, 0}};
    if (poll(fds, 3, -1) < 0 && errno != EINTR) break;
    if (fds[0].revents) give(&child->input, &rest, &size);
    if (fds[1].revents) take(&child->output, output);
    if (fds[2].revents) take(&child->said, said);
  }
  int status = wait_for(child->pid);
  while (sigtimedwait(&pipe, NULL, &(struct timespec){0, 0}) == SIGPIPE) {}
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  *child = (FlChild){0};
  return status;
}

void fl_child_kill(FlChild *child) {
  if (!child->pid) return;
  kill(child->pid, SIGKILL);
  wait_for(child->pid);
  close(child->input);
  close(child->output);
  close(child->said);
  *child = (FlChild){0};
}
