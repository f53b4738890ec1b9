/* spawn.c: see spawn.h. In: the words of a command, and what it reads. Out: its status, and what it
 * printed. */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
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

static void close_one(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* The same as one of those that the child is not to have; -1 is none. */
static int above(int fd) {
  int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FL_CHILD_INPUT + 1);
  close_one(&fd);
  return high;
}

static bool make_pipe(int ends[2]) {
  int low[2] = {-1, -1}, made = pipe2(low, O_CLOEXEC);
  for (int k = 0; k < 2; k++) ends[k] = above(low[k]);
  return made == 0 && ends[0] >= 0 && ends[1] >= 0;
}

bool fl_child_start(char *const *args, FlChild *child) {
  int input[2] = {-1, -1}, said[2] = {-1, -1}, pid = 0;
  *child = (FlChild){0, -1, -1, above(memfd_create("output", MFD_CLOEXEC))};
  bool made = child->output >= 0 && make_pipe(input) && make_pipe(said);
  int bad = made ? start(args, NULL, input[0], child->output, said[1], &pid) : errno;
  close_one(&input[0]); /* these ends are the child's */
  close_one(&said[1]);
  child->input = input[1];
  child->said = said[0];
  child->pid = bad ? 0 : pid;
  if (!bad) fcntl(child->input, F_SETFL, O_NONBLOCK);
  else fl_child_reset(child);
  errno = bad;
  return !bad;
}

/* What can be read of a descriptor, closed at its end, when it becomes -1. */
static void take(int *fd, FlText1 *out) {
  char part[4096];
  ssize_t n = read(*fd, part, sizeof part);
  if (n > 0) fl_text_add(out, part, (size_t)n);
  else if (n == 0 || errno != EINTR) close_one(fd);
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
  close_one(fd);
}

int fl_child_end(FlChild *child, const void *input, size_t size, FlText1 *said) {
  const char *rest = input;
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before); /* a child that ended reads nothing */
  while (child->input >= 0 || child->said >= 0) {
    struct pollfd fds[2] = {{child->input, POLLOUT, 0}, {child->said, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
    if (fds[0].revents) give(&child->input, &rest, &size);
    if (fds[1].revents) take(&child->said, said);
  }
  int status = wait_for(child->pid);
  while (sigtimedwait(&pipe, NULL, &(struct timespec){0, 0}) == SIGPIPE) {}
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  child->pid = 0;
  return status;
}

void fl_child_reset(FlChild *child) {
  if (child->pid) {
    kill(child->pid, SIGKILL);
    wait_for(child->pid);
  }
  child->pid = 0;
  close_one(&child->input);
  close_one(&child->output);
  close_one(&child->said);
}
