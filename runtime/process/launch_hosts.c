/* launch_hosts.c: --hosts: this program as ranks on other machines.
 *
 * In: names of hosts. Out: the exit status of one process. Each host is asked first, so that what is missing
 * is said in sentences before anything starts. The program must be the same file everywhere: where it is not
 * at its path it is copied to all under a name that is its digest, and stays there for a week of no use. What
 * always holds: rank k is on the k-th host that was named.
 */
#include "exec/command_line.h"
#include "process/hosts.h"
#include "process/launch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum { COPY_S = 600, START_S = 40 };

/* $1: a folder of ours, $2: a name in it, $3: whose folders, of another content, are to go when they are old.
 */
static const char place_it[] =
    "umask 077\n"
    "mkdir -p \"$1\" && [ -O \"$1\" ] && [ ! -L \"$1\" ] && chmod 700 \"$1\" || exit 9\n"
    "cat >\"$1/$2.$$\" && chmod 700 \"$1/$2.$$\" && mv -f \"$1/$2.$$\" \"$1/$2\" || exit 8\n"
    "touch \"$1\"\n"
    "find /var/tmp -maxdepth 1 -name \"$3-*\" -user \"$(id -u)\" -mtime +7 -exec rm -rf {} + 2>/dev/null\n"
    "exit 0\n";

/* Whether it is there already: the folder's name ends with the digest. */
static const char is_placed[] = "[ -O \"$1\" ] && [ -x \"$1/$2\" ] || exit 1\n"
                                "touch \"$1\"\n"
                                "case \"$1\" in *-\"$(sha256sum <\"$1/$2\" | cut -c1-32)\") exit 0 ;; esac\n"
                                "exit 1\n";

/* ---- what is there ------------------------------------------------------------------------------------- */

static bool say_problems(const FlHost *hosts, int n, const FlHost *here, const char *folder) {
  bool well = true;
  for (int k = 0; k < n; k++) {
    FlHostCheck checks[FL_HOST_CHECKS];
    char text[64];
    bool first =
        k == 0 && !fl_host_fact(&hosts[k], "folder", text, sizeof text); /* rank 0 prints and writes there */
    int n_checks = fl_host_checks(&hosts[k], here, folder, checks);
    for (int i = 0; i < n_checks; i++) {
      if (checks[i].well || !(checks[i].needed || (first && !strcmp(checks[i].name, "folder")))) continue;
      fprintf(stderr, "error: host %s: %s: %s\n  help: %s\n", hosts[k].name, checks[i].name, checks[i].found,
              checks[i].help);
      well = false;
    }
  }
  return well;
}

/* The file that runs, at a path that all hosts have; after a message false. */
static bool place_program(FlHost *hosts, int n, const FlHost *here, char path[PATH_MAX]) {
  bool same = true;
  char digest[256] = "", owner[64], folder[512], said[1024], name[PATH_MAX];
  for (int k = 0; k < n; k++) same &= fl_host_has_file(&hosts[k], here);
  if (same) return true;
  if (!fl_host_fact(here, "file", digest, sizeof digest))
    return fprintf(stderr, "error: %s cannot be read: %s\n", path, here->said), false;
  const char *slash = strrchr(path, '/');
  snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
  snprintf(owner, sizeof owner, "flow-%u", (unsigned)geteuid());
  snprintf(folder, sizeof folder, "/var/tmp/%s-%.32s", owner, digest);
  for (int k = 0; k < n; k++) {
    const char *const args[] = {folder, name, owner};
    if (fl_host_run(&hosts[k], is_placed, args, NULL, COPY_S, said, sizeof said) == 0) continue;
    int status = fl_host_run(&hosts[k], place_it, args, path, COPY_S, said, sizeof said);
    if (status == 0) continue;
    const char *reason = status == -2  ? "it takes too long"
                         : status == 9 ? "the folder is another user's"
                                       : said;
    fprintf(stderr,
            "error: host %s: the program is not there, and cannot be copied to %s: %.*s\n"
            "  help: free some space there, or put the program at one path that all hosts see\n",
            hosts[k].name, folder, (int)strcspn(reason, "\n"), reason);
    return false;
  }
  snprintf(path, PATH_MAX, "%s/%.255s", folder, name);
  return true;
}

/* ---- the launcher's words ------------------------------------------------------------------------------ */

typedef struct Words {
  char **at;
  int n;
} Words;

static void put(Words *w, const char *word) { w->at[w->n++] = (char *)(uintptr_t)word; }

/* Settings of flow go along; MPICH sends the whole environment. */
static void put_environment(Words *w) {
  for (char **e = environ; *e; e++) {
    if (strncmp(*e, "FLOW_", 5) != 0 && strncmp(*e, "NO_COLOR=", 9) != 0) continue;
    put(w, "-x");
    put(w, *e);
  }
  put(w, "-x");
  put(w, "FLOW_RANKS_STATUS");
}

static int count_environment(void) {
  int n = 0;
  for (char **e = environ; *e; e++) n += 2;
  return n + 2;
}

/* The names of all, once, as MPICH wants them. */
static char *host_list(const FlHost *hosts, int n) {
  char *list = calloc((size_t)n, FL_HOST_NAME + 4), *at = list;
  for (int k = 0; list && k < n; k++) at += sprintf(at, "%s%s:1", k ? "," : "", hosts[k].name);
  return list;
}

/* Each host has a part of the command line; with Open MPI it is named there. */
static char **launcher_words(const FlHost *hosts, int n, const char *list, const char *path,
                             const FlCommandWords *own, char (*counts)[16]) {
  bool open_mpi = !list;
  size_t each = (size_t)(own->n + count_environment() + 12);
  Words w = {.at = calloc((size_t)n * each + 4, sizeof *w.at)};
  if (!w.at) return NULL;
  put(&w, fl_launcher());
  if (list) put(&w, "-hosts"), put(&w, list);
  for (int k = 0; k < n; k++) {
    if (k) put(&w, ":");
    if (open_mpi) put(&w, "--host"), put(&w, hosts[k].name);
    put(&w, "-n");
    put(&w, "1");
    if (open_mpi) put_environment(&w);
    put(&w, path);
    for (int i = 1; i < own->n; i++) put(&w, own->words[i]);
    if (!hosts[k].workers) continue;
    snprintf(counts[k], sizeof counts[k], "%d", hosts[k].workers);
    put(&w, "--workers");
    put(&w, counts[k]);
  }
  return w.at;
}

/* A word that launchers would take for their own. */
static bool has_colon(const FlCommandWords *c) {
  for (int k = 1; k < c->n; k++)
    if (!strcmp(c->words[k], ":"))
      return fprintf(stderr, "error: a word `:` cannot go to other hosts\n"), true;
  return false;
}

/* ---- starting ------------------------------------------------------------------------------------------ */

static int start(FlHost *hosts, int n, const FlHost *here, char path[PATH_MAX], const FlCommandWords *own) {
  char mpi[256] = "", (*counts)[16] = calloc((size_t)n, sizeof *counts);
  fl_host_fact(here, "mpi", mpi, sizeof mpi);
  char *list = fl_host_open_mpi(mpi) ? NULL : host_list(hosts, n);
  bool well = counts && (list || fl_host_open_mpi(mpi)) && place_program(hosts, n, here, path);
  char **words = well ? launcher_words(hosts, n, list, path, own, counts) : NULL;
  int status = words ? fl_launch(words, hosts[0].here, hosts[0].here ? START_S : 0) : 4;
  free(words);
  free(list);
  free(counts);
  return status;
}

int fl_launch_hosts(const char *name, const char *text) {
  char why[512], folder[PATH_MAX], path[PATH_MAX];
  FlHost *hosts, here = {.name = "this machine", .here = true};
  FlCommandWords own;
  int n = fl_hosts_read(text, &hosts, why, sizeof why);
  if (n < 0) return fl_usage_error(name, "for example --hosts a:8,b:8", "`--hosts`: %s", why);
  ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
  path[len > 0 ? len : 0] = '\0';
  if (!getcwd(folder, sizeof folder)) folder[0] = '\0';
  int status = 4;
  if (fl_command_line_init(&own)) {
    fl_hosts_ask(&here, 1, fl_launcher(), folder, path);
    fl_hosts_ask(hosts, n, fl_launcher(), folder, path);
    if (!has_colon(&own) && say_problems(hosts, n, &here, folder))
      status = start(hosts, n, &here, path, &own);
    fl_command_line_reset(&own);
  } else {
    fprintf(stderr, "error: out of memory\n");
  }
  free(hosts);
  return status;
}
