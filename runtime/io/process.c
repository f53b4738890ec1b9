/* process.c: a program run by the shell.
 *
 * In: a command and bytes for its standard input. Out: its standard output, the end of its standard error,
 * its status. What always holds: all three pipes are served by one poll, so that neither side waits for the
 * other; the program is waited for in any case; it has a process group of its own, which is ended when the
 * run is interrupted; writing to a program that reads no more is no signal to us, as runs ignore SIGPIPE. */
#include "io/process.h"
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
  FL_POLL_MS = 50,   /* how soon an interrupt is seen */
  FL_GRACE_MS = 500, /* between asking a program to end and ending it */
  FL_CHUNK = 1 << 16
};

typedef struct Pipes {
  int in[2], out[2], err[2]; /* read end, write end; -1: closed */
} Pipes;

static void shut(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void shut_all(Pipes *p) {
  for (int k = 0; k < 2; k++) {
    shut(&p->in[k]);
    shut(&p->out[k]);
    shut(&p->err[k]);
  }
}

static bool open_pipes(Pipes *p) {
  *p = (Pipes){{-1, -1}, {-1, -1}, {-1, -1}};
  if (pipe2(p->in, O_CLOEXEC) == 0 && pipe2(p->out, O_CLOEXEC) == 0 && pipe2(p->err, O_CLOEXEC) == 0 &&
      fcntl(p->in[1], F_SETFL, O_NONBLOCK) == 0 && fcntl(p->out[0], F_SETFL, O_NONBLOCK) == 0 &&
      fcntl(p->err[0], F_SETFL, O_NONBLOCK) == 0)
    return true;
  int why = errno;
  shut_all(p);
  errno = why;
  return false;
}

/* 0, or an errno. The program gets default signals, none blocked, and a process group of its own. */
static int spawn(const char *command, Pipes *p, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  sigaddset(&usual, SIGXFSZ);
  sigaddset(&usual, SIGINT);
  sigaddset(&usual, SIGTERM);
  int bad = posix_spawn_file_actions_init(&actions);
  if (bad) return bad;
  bad = posix_spawnattr_init(&attributes);
  if (!bad) {
    posix_spawn_file_actions_adddup2(&actions, p->in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, p->out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, p->err[1], 2);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    char *words[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
    bad = posix_spawn(pid, "/bin/sh", &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  shut(&p->in[0]);
  shut(&p->out[1]);
  shut(&p->err[1]);
  return bad;
}

/* ---- the pipes ---------------------------------------------------------------------------------------- */

static void feed(FlProcess *p, Pipes *pipes, int64_t *at) {
  int64_t left = p->input.len - *at;
  ssize_t n = left ? write(pipes->in[1], p->input.ptr + *at, (size_t)(left < FL_CHUNK ? left : FL_CHUNK)) : 0;
  if (n > 0) *at += n;
  bool again = n < 0 && (errno == EAGAIN || errno == EINTR);
  if (!again && (n < 0 || *at == p->input.len)) shut(&pipes->in[1]);
}

/* Reads what is there; closes at the end. */
static void take_output(FlProcess *p, int *fd) {
  char *room = fl_bytes_room(&p->output, FL_CHUNK);
  if (!room) {
    shut(fd);
    return;
  }
  ssize_t n = read(*fd, room, FL_CHUNK);
  if (n > 0) p->output.len += (size_t)n;
  else if (n == 0 || (errno != EAGAIN && errno != EINTR)) shut(fd);
}

/* Keeps the last FL_PROCESS_SAID bytes. */
static void take_messages(FlProcess *p, size_t *len, int *fd) {
  char part[4096];
  ssize_t n = read(*fd, part, sizeof part);
  if (n <= 0) {
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) shut(fd);
    return;
  }
  size_t add = (size_t)n, from = 0;
  if (add > FL_PROCESS_SAID) from = add - FL_PROCESS_SAID, add = FL_PROCESS_SAID;
  size_t drop = *len + add > FL_PROCESS_SAID ? *len + add - FL_PROCESS_SAID : 0;
  memmove(p->said, p->said + drop, *len - drop);
  memcpy(p->said + *len - drop, part + from, add);
  *len += add - drop;
  p->said[*len] = '\0';
}

/* ---- its end ------------------------------------------------------------------------------------------ */

/* Whether the program has ended; its status is then in p. */
static bool has_ended(FlProcess *p, pid_t pid, int flags) {
  int status;
  pid_t got;
  do got = waitpid(pid, &status, flags);
  while (got < 0 && errno == EINTR);
  if (got == pid) p->status = status;
  return got != 0;
}

static void end_group(FlProcess *p, pid_t pid) {
  bool ended = false;
  kill(-pid, SIGTERM);
  for (int waited = 0; waited < FL_GRACE_MS && !ended; waited += 10) {
    const struct timespec nap = {.tv_nsec = 10 * 1000 * 1000};
    nanosleep(&nap, NULL);
    ended = has_ended(p, pid, WNOHANG);
  }
  kill(-pid, SIGKILL); /* also what the program has started and left behind */
  if (!ended) (void)has_ended(p, pid, 0);
}

/* Serves the pipes until the output ends, and the messages too unless the program has ended: what it started
 * in the background may hold them open. false: stopped, or out of memory. */
static bool serve(FlCtx *ctx, FlProcess *p, Pipes *pipes, pid_t pid, bool *ended) {
  int64_t at = 0;
  size_t said = 0;
  while (pipes->out[0] >= 0 || (pipes->err[0] >= 0 && !*ended)) {
    if (p->output.failed || fl_ctx_is_stopped(ctx)) return false;
    struct pollfd fds[] = {
        {pipes->in[1], POLLOUT, 0}, {pipes->out[0], POLLIN, 0}, {pipes->err[0], POLLIN, 0}};
    int n = poll(fds, 3, FL_POLL_MS);
    if (n > 0 && fds[0].revents) feed(p, pipes, &at);
    if (n > 0 && fds[1].revents) take_output(p, &pipes->out[0]);
    if (n > 0 && fds[2].revents) take_messages(p, &said, &pipes->err[0]);
    if (n == 0 && pipes->out[0] < 0 && !*ended) *ended = has_ended(p, pid, WNOHANG);
  }
  return true;
}

FlStatus fl_process_run(FlCtx *ctx, int32_t site, FlProcess *p) {
  Pipes pipes;
  pid_t pid;
  p->said[0] = '\0';
  if (!open_pipes(&pipes))
    return fl_fail_text(ctx, site, FL_CODE_RESOURCE, "cannot run `%.200s`: %s", p->command, strerror(errno));
  int bad = spawn(p->command, &pipes, &pid);
  if (bad) {
    shut_all(&pipes);
    return fl_fail_text(ctx, site, FL_CODE_RESOURCE, "cannot run `%.200s`: %s", p->command, strerror(bad));
  }
  bool ended = false, whole = serve(ctx, p, &pipes, pid, &ended);
  shut_all(&pipes);
  if (!whole) end_group(p, pid);
  else if (!ended) whole = has_ended(p, pid, 0);
  if (p->output.failed)
    return fl_fail_text(ctx, site, FL_FAULT_MEMORY, "out of memory for the output of `%.200s`", p->command);
  if (!whole) return fl_fail_stopped(ctx);
  return 0;
}
