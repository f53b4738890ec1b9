/* hosts.c: asking other machines by ssh. In: names. Out: lines of facts, as a script of sh there prints them.
 * What always holds: each question has an end: ssh asks nobody for a password, and what takes too long is
 * killed. */
#include "process/hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { ASK_S = 20 };

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- a command with an end ----------------------------------------------------------------------------- */

static int start(char *const *words, const char *input, int output, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, input ? input : "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  posix_spawnattr_setpgroup(&attributes, 0); /* so that what it starts can be killed with it */
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int bad = posix_spawnp(pid, words[0], &actions, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return bad;
}

/* Reads to the end of what is printed; false: not by then. */
static bool read_until(int fd, double end_by, char *said, size_t room) {
  size_t at = 0;
  for (;;) {
    char rest[512];
    double left = end_by - seconds_of(CLOCK_MONOTONIC);
    struct pollfd in = {fd, POLLIN, 0};
    int ready = left > 0 ? poll(&in, 1, (int)(left * 1000) + 1) : 0;
    if (ready == 0) return false;
    if (ready < 0) continue; /* a signal */
    bool full = at + 1 >= room;
    ssize_t n = read(fd, full ? rest : said + at, full ? sizeof rest : room - 1 - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    if (!full) said[at += (size_t)n] = '\0';
  }
}

int fl_ask(char *const *words, const char *input, double seconds, char *said, size_t room) {
  int fds[2], status = 0;
  pid_t pid;
  said[0] = '\0';
  if (pipe2(fds, O_CLOEXEC) != 0) return snprintf(said, room, "%s: %s", words[0], strerror(errno)), -1;
  int bad = start(words, input, fds[1], &pid);
  close(fds[1]);
  bool in_time = bad || read_until(fds[0], seconds_of(CLOCK_MONOTONIC) + seconds, said, room);
  close(fds[0]);
  if (bad) return snprintf(said, room, "%s: %s", words[0], strerror(bad)), -1;
  if (!in_time) kill(-pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  if (!in_time) return -2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* Whether an address is one of this machine's. */
static bool is_own(const struct sockaddr *a, const struct ifaddrs *own) {
  for (; own; own = own->ifa_next) {
    const struct sockaddr *b = own->ifa_addr;
    if (!b || b->sa_family != a->sa_family) continue;
    if (a->sa_family == AF_INET &&
        !memcmp(&((const struct sockaddr_in *)a)->sin_addr, &((const struct sockaddr_in *)b)->sin_addr,
                sizeof(struct in_addr)))
      return true;
    if (a->sa_family == AF_INET6 &&
        !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &((const struct sockaddr_in6 *)b)->sin6_addr,
                sizeof(struct in6_addr)))
      return true;
  }
  return false;
}

static bool is_here(const char *name) {
  char own_name[FL_HOST_NAME] = "";
  struct addrinfo *found = NULL;
  struct ifaddrs *own = NULL;
  bool here = false;
  if (!strcmp(name, "localhost") ||
      (gethostname(own_name, sizeof own_name - 1) == 0 && !strcmp(name, own_name)))
    return true;
  if (getifaddrs(&own) != 0) return false;
  if (getaddrinfo(name, NULL, &(struct addrinfo){.ai_socktype = SOCK_STREAM}, &found) == 0)
    for (const struct addrinfo *a = found; a && !here; a = a->ai_next) here = is_own(a->ai_addr, own);
  if (found) freeaddrinfo(found);
  freeifaddrs(own);
  return here;
}

static bool read_host(const char *at, size_t len, FlHost *h, char *why, size_t room) {
  const char *colon = memchr(at, ':', len);
  size_t n = colon ? (size_t)(colon - at) : len;
  char *end = NULL;
  *h = (FlHost){.status = -1};
  if (n == 0) return snprintf(why, room, "a name is missing between commas"), false;
  if (n >= sizeof h->name) return snprintf(why, room, "a name is too long"), false;
  memcpy(h->name, at, n);
  if (h->name[strspn(h->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] ||
      h->name[0] == '-')
    return snprintf(why, room, "`%s` is no name of a host", h->name), false;
  if (!colon) return true;
  long workers = strtol(colon + 1, &end, 10);
  if (end == colon + 1 || end != at + len || workers < 1 || workers > 4096)
    return snprintf(why, room, "behind `%s:` stands how many workers its rank has, a number from 1 to 4096",
                    h->name),
           false;
  h->workers = (int)workers;
  return true;
}

int fl_hosts_read(const char *text, FlHost **out, char *why, size_t room) {
  int n = 1;
  for (const char *c = text; *c; c++) n += *c == ',';
  *out = NULL;
  if (n > FL_HOSTS_MAX) return snprintf(why, room, "there are more than %d hosts", FL_HOSTS_MAX), -1;
  FlHost *hosts = calloc((size_t)n, sizeof *hosts);
  if (!hosts) return snprintf(why, room, "out of memory"), -1;
  for (int k = 0; k < n; k++, text += *text == ',') {
    size_t len = strcspn(text, ",");
    if (!read_host(text, len, &hosts[k], why, room)) return free(hosts), -1;
    hosts[k].here = is_here(hosts[k].name);
    text += len;
  }
  *out = hosts;
  return n;
}

/* ---- asking -------------------------------------------------------------------------------------------- */

/* A word for a shell: within quotes, which it may hold itself. */
static char *quote(char *to, const char *word) {
  *to++ = '\'';
  for (; *word; word++) {
    if (*word == '\'') to = stpcpy(to, "'\\'");
    *to++ = *word;
  }
  *to++ = '\'';
  *to = '\0';
  return to;
}

int fl_host_run(const FlHost *h, const char *script, const char *const args[3], const char *input,
                double seconds, char *said, size_t room) {
  if (h->here) {
    char *words[] = {(char *)(uintptr_t)"sh",    (char *)(uintptr_t)"-c",
                     (char *)(uintptr_t)script,  (char *)(uintptr_t)"sh",
                     (char *)(uintptr_t)args[0], (char *)(uintptr_t)args[1],
                     (char *)(uintptr_t)args[2], NULL};
    return fl_ask(words, input, seconds, said, room);
  }
  size_t size = 4 * (strlen(script) + strlen(args[0]) + strlen(args[1]) + strlen(args[2])) + 64;
  char *command = malloc(size), *at = command;
  if (!command) return snprintf(said, room, "out of memory"), -1;
  at = quote(stpcpy(at, "exec sh -c "), script);
  at = stpcpy(at, " sh");
  for (int k = 0; k < 3; k++) at = quote(stpcpy(at, " "), args[k]);
  char *words[] = {(char *)(uintptr_t)"ssh",
                   (char *)(uintptr_t)"-o",
                   (char *)(uintptr_t)"BatchMode=yes",
                   (char *)(uintptr_t)"-o",
                   (char *)(uintptr_t)"ConnectTimeout=8",
                   (char *)(uintptr_t)h->name,
                   command,
                   NULL};
  int status = fl_ask(words, input, seconds, said, room);
  free(command);
  return status;
}

/* $1: the launcher, $2: a folder, $3: a file. Each line that counts begins with `flow-`. */
static const char questions[] = "PATH=$PATH:/usr/local/bin:/usr/bin:/bin\n"
                                "echo \"flow-name $(uname -n)\"\n"
                                "echo \"flow-system $(uname -sm)\"\n"
                                "if command -v \"$1\" >/dev/null; then echo \"flow-mpi $(\"$1\" --version "
                                "2>&1 | grep -iE \"open ?(mpi|rte)|version:\" | "
                                "head -n 1)\"; fi\n"
                                "echo \"flow-processor $(grep -m 3 -E \"^(vendor_id|cpu "
                                "family|model)[[:space:]]*:\" /proc/cpuinfo | cut -d: -f2 | "
                                "tr -d \"\\n\")\"\n"
                                "echo \"flow-flags $(grep -m 1 ^flags /proc/cpuinfo | tr \" \" \"\\n\" | "
                                "grep -E \"^(avx|fma|bmi|sse|f16c)\" | sort | "
                                "cksum)\"\n"
                                "echo \"flow-cpus $(nproc)\"\n"
                                "echo \"flow-at $SSH_CONNECTION\"\n"
                                "if [ -d \"$2\" ]; then echo \"flow-folder $(ls -a \"$2\" | cksum)\"; fi\n"
                                "if [ -x \"$3\" ]; then echo \"flow-file $(sha256sum <\"$3\")\"; fi\n"
                                "echo \"flow-clock $(date +%s.%N)\"\n";

typedef struct Question {
  FlHost *host;
  const char *args[3];
  pthread_t thread;
  bool started;
} Question;

static void *ask_one(void *arg) {
  Question *q = arg;
  FlHost *h = q->host;
  char clock[64];
  double begin = seconds_of(CLOCK_REALTIME);
  h->status = fl_host_run(h, questions, q->args, NULL, ASK_S, h->said, sizeof h->said);
  double end = seconds_of(CLOCK_REALTIME);
  h->took = end - begin;
  if (!fl_host_fact(h, "clock", clock, sizeof clock)) return NULL;
  double its = strtod(clock, NULL);
  h->clock_off = its > end ? its - end : its < begin ? its - begin : 0;
  return NULL;
}

void fl_hosts_ask(FlHost *hosts, int n, const char *launcher, const char *folder, const char *file) {
  Question *all = calloc((size_t)n, sizeof *all);
  for (int k = 0; all && k < n; k++) {
    all[k] = (Question){.host = &hosts[k], .args = {launcher, folder, file}};
    all[k].started = pthread_create(&all[k].thread, NULL, ask_one, &all[k]) == 0;
    if (!all[k].started) ask_one(&all[k]);
  }
  for (int k = 0; all && k < n; k++)
    if (all[k].started) pthread_join(all[k].thread, NULL);
  free(all);
}

bool fl_host_fact(const FlHost *h, const char *name, char *out, size_t room) {
  char mark[64];
  int len = snprintf(mark, sizeof mark, "flow-%s ", name);
  for (const char *at = h->said; at; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (strncmp(at, mark, (size_t)len) != 0) continue;
    at += len;
    snprintf(out, room, "%.*s", (int)strcspn(at, "\n"), at);
    return out[0] != '\0';
  }
  return false;
}
