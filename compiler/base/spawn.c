/* spawn.c: see spawn.h. In: the words of a command. Out: its status, and what it printed. */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void read_all(int fd, FlText1 *out) {
  char part[4096];
  ssize_t n;
  while ((n = read(fd, part, sizeof part)) > 0 || (n < 0 && errno == EINTR))
    if (n > 0) fl_text_add(out, part, (size_t)n);
}

static int start(char *const *args, const sigset_t *signals, int output, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
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

int fl_spawn(char *const *args, const sigset_t *signals, FlText1 *said) {
  int fds[2], status = 0;
  pid_t pid;
  if (pipe2(fds, O_CLOEXEC) != 0) return fl_text_addf(said, "%s: %s", args[0], strerror(errno)), -1;
  int bad = start(args, signals, fds[1], &pid);
  close(fds[1]);
  if (!bad) read_all(fds[0], said);
  close(fds[0]);
  if (bad) return fl_text_addf(said, "%s: %s", args[0], strerror(bad)), -1;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
