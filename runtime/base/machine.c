/* machine.c: see machine.h. In: /proc and the control groups. Out: sizes. What always holds: what cannot be
 * read limits nothing. */
#include "base/machine.h"
#include "base/groups.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t fl_machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return lesser(pages > 0 && page > 0 ? (int64_t)pages * page : (int64_t)4 << 30, fl_group_limits("").memory);
}

int64_t fl_machine_available(void) {
  char line[128];
  long long kib = -1;
  FILE *f = fopen("/proc/meminfo", "re");
  while (f && kib < 0 && fgets(line, sizeof line, f)) {
    if (sscanf(line, "MemAvailable: %lld kB", &kib) != 1) kib = -1;
  }
  if (f) fclose(f);
  return lesser(kib < 0 ? INT64_MAX : kib * 1024, fl_group_limits("").memory_left);
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

int64_t fl_machine_own_counted(void) {
  char line[128];
  long long kib = -1;
  FILE *f = fopen("/proc/self/smaps_rollup", "re");
  while (f && kib < 0 && fgets(line, sizeof line, f)) {
    if (sscanf(line, "Anonymous: %lld kB", &kib) != 1) kib = -1;
  }
  if (f) fclose(f);
  return kib < 0 ? -1 : kib * 1024;
}

void fl_machine_trim(void) { malloc_trim(0); }
