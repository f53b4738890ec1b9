/* folders.c: where results are remembered when nobody says. In: a script, the environment. Out: a folder. */
#include "exec/exec.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool fl_cache_dir(const char *script, char *out, size_t size) {
  const char *own = getenv("FLOW_CACHE");
  char self[PATH_MAX];
  struct stat st;
  if (own) return fl_user_cache_dir(out, size);
  if (script && lstat(script, &st) == 0 && S_ISLNK(st.st_mode) && realpath(script, self)) {
    script = self; /* one script, one store, by whatever link it is called */
  } else if (!script) {
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    self[len > 0 ? len : 0] = '\0';
    script = self;
  }
  const char *slash = strrchr(script, '/');
  int dir = slash ? (int)(slash - script) : 1;
  const char *from = slash ? script : ".";
  int n = snprintf(out, size, "%.*s", dir, from);
  if (n <= 0 || (size_t)n >= size || access(out, W_OK) != 0) return fl_user_cache_dir(out, size);
  n = snprintf(out, size, "%.*s/.flow/cache", dir, from);
  return n > 0 && (size_t)n < size;
}

bool fl_user_cache_dir(char *out, size_t size) {
  const char *own = getenv("FLOW_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n = own             ? snprintf(out, size, "%s", own)
          : xdg && *xdg   ? snprintf(out, size, "%s/flow", xdg)
          : home && *home ? snprintf(out, size, "%s/.cache/flow", home)
                          : 0;
  return n > 0 && (size_t)n < size;
}

bool fl_record_is_off(void) {
  const char *word = getenv("FLOW_RECORD");
  return word && strcmp(word, "off") == 0;
}
