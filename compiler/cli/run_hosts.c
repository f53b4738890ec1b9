/* run_hosts.c: flowc run --hosts: the script as a binary, since flowc need not be on other machines.
 *
 * In: a script, its command line. Out: this process is that binary. It stands in the user's cache, one for
 * each script; results are remembered where they are when flowc runs the script here.
 */
#include "cli/run_hosts.h"

#include "cli/scripts.h"
#include "exec/exec.h"
#include "memo/memo.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool fl_run_names_hosts(int argc, char **argv) {
  for (int k = 1; k < argc; k++)
    if (!strcmp(argv[k], "--hosts") || !strncmp(argv[k], "--hosts=", 8)) return true;
  return false;
}

/* Makes the folders above a file. */
static void make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0777);
    *slash = '/';
  }
}

static bool binary_path(const FlCompilation *c, char *out, size_t room) {
  char cache[PATH_MAX], real[PATH_MAX];
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *what = fl_script_path(c->script->path);
  bool named = what && realpath(what, real);
  const char *text = named ? real : c->script->text, *slash = named ? strrchr(real, '/') : NULL;
  FlDigest d = fl_memo_digest(text, (int64_t)(named ? strlen(real) : c->script->len));
  if (xdg && *xdg) snprintf(cache, sizeof cache, "%s/flow", xdg);
  else if (home && *home) snprintf(cache, sizeof cache, "%s/.cache/flow", home);
  else snprintf(cache, sizeof cache, "/var/tmp/flow-%u", (unsigned)geteuid());
  const char *name = slash ? slash + 1 : "script";
  int n = snprintf(out, room, "%s/hosts/%016llx/%.*s", cache, (unsigned long long)d.lo,
                   (int)strcspn(name, "."), name);
  return n > 0 && (size_t)n < room && out[0] == '/';
}

/* As flowc has it: beside the script, and not beside the binary. */
static void keep_store(const FlCompilation *c) {
  char dir[PATH_MAX], here[PATH_MAX], whole[2 * PATH_MAX + 2];
  if (getenv("FLOW_CACHE") || !fl_cache_dir(fl_script_path(c->script->path), dir, sizeof dir)) return;
  bool absolute = dir[0] == '/' || !getcwd(here, sizeof here);
  snprintf(whole, sizeof whole, "%s%s%s", absolute ? "" : here, absolute ? "" : "/", dir);
  setenv("FLOW_CACHE", whole, 1);
}

int fl_run_on_hosts(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv) {
  char path[PATH_MAX];
  if (!binary_path(c, path, sizeof path))
    return fprintf(stderr, "error: no folder for a binary: set HOME or XDG_CACHE_HOME\n"), 4;
  make_folders(path);
  int status = fl_build_for_ranks(c, options, path);
  if (status) return status;
  keep_store(c);
  char **words = calloc((size_t)argc + 1, sizeof *words);
  for (int k = 1; words && k < argc; k++) words[k] = argv[k];
  if (words) words[0] = path;
  if (words) execv(path, words);
  fprintf(stderr, "error: cannot run %s: %s\n", path, strerror(errno));
  free(words);
  return 4;
}
