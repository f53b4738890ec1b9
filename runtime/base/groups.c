/* groups.c: see groups.h.
 *
 * In: /proc/self/cgroup (lines "number:controllers:path"), /proc/self/mountinfo, and the files of the groups.
 * Out: the least limits. A hierarchy's root is where mountinfo says; a mount may show a part of the hierarchy
 * only (of containers without a namespace of groups): its own root is then cut off the path, and a path that
 * is not below it stands for the mount itself. From the group of this process all folders up to the mount are
 * asked. What always holds: what cannot be read, or does not look as it should, limits nothing. */
#include "base/groups.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096, LINE = 3 * PATH };

/* The file's first bytes, ended by zero; false: it cannot be read. */
static bool read_file(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
  if (fd >= 0) close(fd);
  if (n > 0) text[n] = 0;
  return n > 0;
}

static const char *in_folder(char out[2 * PATH], const char *folder, const char *name) {
  snprintf(out, 2 * PATH, "%s/%s", folder, name);
  return out;
}

/* The number in a file; INT64_MAX when it holds none ("max", "-1") or cannot be read. */
static int64_t number_in(const char *folder, const char *name) {
  char path[2 * PATH], text[64];
  if (!read_file(in_folder(path, folder, name), text, sizeof text) || text[0] < '0' || text[0] > '9')
    return INT64_MAX;
  return strtoll(text, NULL, 10); /* INT64_MAX for what is larger */
}

/* The number behind a name at the start of a line of memory.stat; INT64_MAX: there is none. */
static int64_t stat_of(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
    if (!strncmp(line, name, n) && line[n] == ' ') return strtoll(line + n + 1, NULL, 10);
  }
  return INT64_MAX;
}

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t none_as_0(int64_t v) { return v == INT64_MAX ? 0 : v; }

/* What a limit leaves: pages of files that nobody used lately are given back when they are wanted. */
static int64_t left_of(int64_t limit, int64_t used, const char *stat, const char *inactive) {
  if (limit == INT64_MAX || used == INT64_MAX) return INT64_MAX;
  int64_t held = used - none_as_0(stat_of(stat, inactive));
  return held < limit ? limit - (held > 0 ? held : 0) : 0;
}

static void memory_of(const char *folder, bool unified, FlGroupLimits *out) {
  char path[2 * PATH], stat[8192] = "";
  int64_t limit;
  if (unified) {
    limit = lesser(number_in(folder, "memory.max"), number_in(folder, "memory.high"));
  } else {
    limit = number_in(folder, "memory.limit_in_bytes");
    if (limit >= INT64_MAX / 4096 * 4096) limit = INT64_MAX; /* how "no limit" is said: whole pages */
  }
  if (read_file(in_folder(path, folder, "memory.stat"), stat, sizeof stat) && !unified)
    limit = lesser(limit, stat_of(stat, "hierarchical_memory_limit")); /* of groups above the mount, too */
  if (limit >= INT64_MAX / 4096 * 4096) return;
  out->memory = lesser(out->memory, limit);
  int64_t used = number_in(folder, unified ? "memory.current" : "memory.usage_in_bytes");
  out->memory_left =
      lesser(out->memory_left, left_of(limit, used, stat, unified ? "inactive_file" : "total_inactive_file"));
}

/* "quota period" in one file, or each in a file; a part of a CPU counts as one. */
static void cpus_of(const char *folder, bool unified, FlGroupLimits *out) {
  char path[2 * PATH], text[96];
  long long quota = -1, period = 100000;
  if (unified) {
    if (!read_file(in_folder(path, folder, "cpu.max"), text, sizeof text)) return;
    if (sscanf(text, "%lld %lld", &quota, &period) < 1) return;
  } else {
    quota = number_in(folder, "cpu.cfs_quota_us");
    period = number_in(folder, "cpu.cfs_period_us");
    if (quota == INT64_MAX) return;
    if (period == INT64_MAX) period = 100000;
  }
  if (quota <= 0 || period <= 0) return;
  long long cpus = quota / period + (quota % period != 0);
  if (cpus < out->cpus) out->cpus = (int)cpus;
}

/* ---- where a hierarchy is ------------------------------------------------------------------------------ */

/* "\040" and the like, as mountinfo writes what would be seen as the end of a word; in place. */
static void unescape(char *s) {
  char *to = s;
  for (; *s; s++) {
    if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
        s[3] <= '7') {
      *to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
      s += 3;
    } else {
      *to++ = *s;
    }
  }
  *to = 0;
}

/* Whether a word is in a list with commas. */
static bool lists(const char *list, const char *word) {
  size_t n = strlen(word);
  for (const char *at = list, *comma; at; at = comma ? comma + 1 : NULL) {
    comma = strchr(at, ',');
    if (!strncmp(at, word, n) && (at[n] == ',' || at[n] == 0)) return true;
  }
  return false;
}

/* The mount of the controller's hierarchy ("": of version 2), and which folder of the hierarchy it shows. The
 * last one counts: it covers those before it. */
static bool find_mount(const char *mounts, const char *controller, char mount[PATH], char shown[PATH]) {
  char *line = malloc(LINE);
  FILE *f = fopen(mounts, "re");
  bool found = false;
  while (line && f && fgets(line, LINE, f)) {
    char type[64], options[PATH], *rest = strstr(line, " - ");
    char in[PATH], at[PATH];
    if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", in, at) != 2) continue;
    if (sscanf(rest, " - %63s %*s %4095s", type, options) != 2) continue;
    if (*controller ? strcmp(type, "cgroup") != 0 || !lists(options, controller)
                    : strcmp(type, "cgroup2") != 0)
      continue;
    unescape(in);
    unescape(at);
    memcpy(shown, in, PATH);
    memcpy(mount, at, PATH);
    found = true;
  }
  if (f) fclose(f);
  free(line);
  return found;
}

/* The part of the group's path below what the mount shows. */
static const char *below(const char *path, const char *shown) {
  size_t n = strlen(shown);
  if (!strcmp(shown, "/")) return path;
  return strncmp(path, shown, n) != 0 || (path[n] != '/' && path[n] != 0) ? "" : path + n;
}

typedef void Asked(const char *folder, bool unified, FlGroupLimits *out);

static void ask(const char *root, const char *controller, const char *path, Asked *of, FlGroupLimits *out) {
  char mounts[PATH], mount[PATH], shown[PATH], folder[2 * PATH];
  snprintf(mounts, sizeof mounts, "%s/proc/self/mountinfo", root);
  if (!find_mount(mounts, controller, mount, shown)) return;
  int top = snprintf(folder, sizeof folder, "%s%s", root, mount);
  if (top < 0 || top >= (int)sizeof folder) return;
  snprintf(folder + top, sizeof folder - (size_t)top, "%s", strstr(path, "/..") ? "" : below(path, shown));
  for (size_t n = strlen(folder); n > (size_t)top && folder[n - 1] == '/';) folder[--n] = 0;
  for (;;) {
    of(folder, !*controller, out);
    char *slash = strrchr(folder + top, '/');
    if (!slash) return;
    *slash = 0;
  }
}

FlGroupLimits fl_group_limits(const char *root) {
  FlGroupLimits out = {INT64_MAX, INT64_MAX, INT32_MAX};
  char groups[PATH], *line = malloc(LINE);
  snprintf(groups, sizeof groups, "%s/proc/self/cgroup", root);
  FILE *f = fopen(groups, "re");
  while (line && f && fgets(line, LINE, f)) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) continue;
    *controllers++ = 0;
    *path++ = 0;
    if (!*controllers) {
      ask(root, "", path, memory_of, &out);
      ask(root, "", path, cpus_of, &out);
    }
    if (lists(controllers, "memory")) ask(root, "memory", path, memory_of, &out);
    if (lists(controllers, "cpu")) ask(root, "cpu", path, cpus_of, &out);
  }
  if (f) fclose(f);
  free(line);
  return out;
}
