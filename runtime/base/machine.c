/* machine.c: see machine.h. In: /proc and /sys/fs/cgroup. Out: sizes. What always holds: what cannot be read
 * limits nothing. */
#include "base/machine.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number in a file, INT64_MAX when it holds none ("max") or cannot be read. */
static int64_t number_in(const char *path) {
  char text[32];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (n <= 0 || text[0] < '0' || text[0] > '9') return INT64_MAX;
  text[n] = 0;
  return strtoll(text, NULL, 10);
}

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* The least limit of one hierarchy, from the group of this process up to the root. */
static int64_t least_limit(const char *root, const char *group, const char *name) {
  char folder[2048], path[2200];
  int64_t least = INT64_MAX;
  snprintf(folder, sizeof folder, "%s%s", root, group);
  for (size_t root_len = strlen(root); strlen(folder) >= root_len;) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    least = lesser(least, number_in(path));
    *strrchr(folder, '/') = 0;
  }
  return least;
}

/* Lines of `groups` are number:controllers:path. */
int64_t fl_machine_group_limit(const char *groups, const char *root) {
  char line[1200], memory[1024];
  int64_t least = INT64_MAX;
  FILE *f = fopen(groups, "re");
  snprintf(memory, sizeof memory, "%s/memory", root);
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) continue;
    *path++ = 0;
    if (!strcmp(path, "/")) path++; /* the root is its own folder */
    if (!strcmp(controllers, ":")) least = lesser(least, least_limit(root, path, "memory.max"));
    else if (!strcmp(controllers, ":memory"))
      least = lesser(least, least_limit(memory, path, "memory.limit_in_bytes"));
  }
  if (f) fclose(f);
  return least;
}

int64_t fl_machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return lesser(pages > 0 && page > 0 ? (int64_t)pages * page : (int64_t)4 << 30,
                fl_machine_group_limit("/proc/self/cgroup", "/sys/fs/cgroup"));
}

int64_t fl_machine_available(void) {
  char line[128];
  long long kib = -1;
  FILE *f = fopen("/proc/meminfo", "re");
  while (f && kib < 0 && fgets(line, sizeof line, f)) {
    if (sscanf(line, "MemAvailable: %lld kB", &kib) != 1) kib = -1;
  }
  if (f) fclose(f);
  return kib < 0 ? INT64_MAX : kib * 1024;
}

int fl_machine_resident_open(void) { return open("/proc/self/statm", O_RDONLY | O_CLOEXEC); }

bool fl_machine_resident(int fd, FlResident *out) {
  char text[128];
  long long size, resident, shared;
  ssize_t n = pread(fd, text, sizeof text - 1, 0);
  if (n <= 0) return false;
  text[n] = 0;
  if (sscanf(text, "%lld %lld %lld", &size, &resident, &shared) != 3) return false;
  long long page = sysconf(_SC_PAGESIZE);
  out->all = resident * page;
  out->own = resident > shared ? (resident - shared) * page : 0;
  return true;
}
