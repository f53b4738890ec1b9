/* state_path.c: see state_path.h. */
#include "base/state_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

bool fl_state_path(const char *name, char out[PATH_MAX], bool make) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  int n = state && *state ? snprintf(out, PATH_MAX, "%s/flow/%s", state, name)
          : home && *home ? snprintf(out, PATH_MAX, "%s/.local/state/flow/%s", home, name)
                          : 0;
  if (n <= 0 || n >= PATH_MAX) return false;
  for (char *p = out + 1; make && *p; p++) {
    if (*p != '/') continue;
    *p = '\0';
    bool there = mkdir(out, 0700) == 0 || errno == EEXIST;
    *p = '/';
    if (!there) return false;
  }
  return true;
}
