/* child.c: work in a forked process; see child.h.
 *
 * What always holds: the child ends with the thread that waits for it, however that ends, since the system
 * kills it then; it writes nothing to our standard output and error; its processor time and memory are
 * bounded; signals that end it are told as an error about the file.
 *
 * Forking a process with threads is sound here because the GNU C library makes its own memory and streams
 * usable in the child (fork(3), malloc's at-fork handlers), nothing else that another thread may have locked
 * is used, and the child leaves by _exit. */
#include "io/child.h"
#include "base/child_limits.h"
#include "data/data.h"
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FL_POLL_MS = 50, FL_CHUNK = 1 << 16 };

/* ---- in the child ------------------------------------------------------------------------------------- */

void fl_child_say(int to, const void *bytes, size_t n) {
  const char *at = bytes;
  while (n) {
    ssize_t done = write(to, at, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) _exit(1);
    at += done;
    n -= (size_t)done;
  }
}

/* Signals as a process has them at first, but those that a person sends: what to do then the parent decides.
 */
static void usual_signals(void) {
  static const int usual[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPIPE, SIGXCPU, SIGALRM};
  static const int left[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  sigset_t none;
  for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) signal(usual[k], SIG_DFL);
  for (size_t k = 0; k < sizeof left / sizeof *left; k++) signal(left[k], SIG_IGN);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void be_child(const FlChild *c, pid_t parent, int to) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1); /* it ended before the line above */
  usual_signals();
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0) _exit(1);
  fl_child_limits(c->seconds, c->memory);
  c->fn(c->env, to);
  _exit(0);
}

/* ---- in the parent ------------------------------------------------------------------------------------ */

static bool failed(const FlChild *c, int code, int status, FlIoError *e) {
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const char *how = signal == SIGXCPU ? "takes too long on it"
                    : signal == SIGKILL
                        ? "was killed by the system while reading it, perhaps for lack of memory"
                        : "crashes on it";
  fl_io_error(e, code, "`%s` cannot be read: the library %s %s", c->label, c->library, how);
  fl_io_help(e, signal == SIGKILL
                    ? "is there enough memory? else the file is damaged: get or make it anew"
                    : "the file is damaged: get or make it anew; what is whole in it another program "
                      "may save");
  return false;
}

/* Takes what there is; false: the answer has ended. */
static bool take(int from, FlBytes *answer) {
  char *room = fl_bytes_room(answer, FL_CHUNK);
  ssize_t n = room ? read(from, room, FL_CHUNK) : 0;
  if (n > 0) answer->len += (size_t)n;
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Whether the process has ended, or somebody else has waited for it; its status is then *status. */
static bool has_ended(pid_t pid, int flags, int *status) {
  pid_t got;
  do got = waitpid(pid, status, flags);
  while (got < 0 && errno == EINTR);
  if (got < 0) *status = 0;
  return got != 0;
}

/* Reads the answer to its end; false: e. */
static bool listen(FlCtx *ctx, const FlChild *c, int code, pid_t pid, int from, FlBytes *answer, bool *ended,
                   int *status, FlIoError *e) {
  for (bool more = true; more;) {
    if (ctx && fl_ctx_is_stopped(ctx)) return fl_io_error(e, FL_E_STOPPED, "stopped");
    struct pollfd fd = {from, POLLIN, 0};
    int n = poll(&fd, 1, FL_POLL_MS);
    if (n > 0) more = take(from, answer);
    if (n == 0 && *ended) more = false; /* a process that was started elsewhere holds the pipe open */
    if (n == 0 && !*ended) *ended = has_ended(pid, WNOHANG, status);
    if (answer->failed) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", c->label);
    if ((int64_t)answer->len > c->most)
      return fl_io_error(e, code, "`%s` cannot be read: what it holds is not explained by its size",
                         c->label);
  }
  return true;
}

bool fl_child_run(FlCtx *ctx, const FlChild *c, int code, FlBytes *answer, FlIoError *e) {
  int pipes[2], status = 0;
  pid_t self = getpid(), pid = -1;
  *answer = fl_counted_bytes(ctx ? fl_ctx_pool(ctx) : NULL);
  if (pipe2(pipes, O_CLOEXEC) == 0) {
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    pid = fork();
    if (pid == 0) be_child(c, self, pipes[1]);
    int why = errno;
    close(pipes[1]);
    if (pid < 0) close(pipes[0]);
    errno = why;
  }
  if (pid < 0)
    return fl_io_error(e, FL_E_RESOURCE, "`%s` cannot be read: no process can be started: %s", c->label,
                       strerror(errno));
  bool ended = false, ok = listen(ctx, c, code, pid, pipes[0], answer, &ended, &status, e);
  close(pipes[0]);
  if (!ok && !ended) kill(pid, SIGKILL);
  if (!ended) has_ended(pid, 0, &status);
  if (!ok) return false;
  return status == 0 || failed(c, code, status, e);
}
