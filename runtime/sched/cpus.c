/* cpus.c: how many CPUs this process may use.
 *
 * In: the affinity mask, and the CPU quota of the control group (version 2: cpu.max of the own group and
 * those above; version 1: cpu.cfs_quota_us). Out: the smaller of the two, a part of a CPU counting as one. */
#include "sched/sched.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int affinity(void) {
  for (int n = 1024; n <= 1 << 16; n *= 4) { /* masks larger than the machine's are refused, not cut */
    cpu_set_t *set = CPU_ALLOC((size_t)n);
    if (!set) break;
    size_t size = CPU_ALLOC_SIZE((size_t)n);
    int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

/* CPUs of "quota period" in a file's first line (or quota in one, period in the other); 0: no limit. */
static int quota_of(const char *file, const char *period_file) {
  char line[96];
  long long quota = -1, period = 100000;
  FILE *f = fopen(file, "re");
  if (!f) return 0;
  if (fgets(line, sizeof line, f) && sscanf(line, "%lld %lld", &quota, &period) < 1) quota = -1;
  fclose(f);
  if (period_file && (f = fopen(period_file, "re"))) {
    if (fscanf(f, "%lld", &period) != 1) period = 100000;
    fclose(f);
  }
  if (quota <= 0 || period <= 0) return 0;
  long long cpus = (quota + period - 1) / period;
  return cpus < 1 << 16 ? (int)cpus : 0;
}

static int smaller(int limit, int other) { return other > 0 && other < limit ? other : limit; }

int fl_sched_cpus(void) {
  int cpus = affinity();
  cpus =
      smaller(cpus, quota_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  char line[512], path[600];
  FILE *f = fopen("/proc/self/cgroup", "re");
  while (f && fgets(line, sizeof line, f)) {
    if (strncmp(line, "0::/", 4) != 0) continue;
    line[strcspn(line, "\n")] = '\0';
    for (char *group = line + 3; group;) {
      snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", strcmp(group, "/") ? group : "");
      cpus = smaller(cpus, quota_of(path, NULL));
      char *slash = strrchr(group, '/');
      if (slash && slash != group) *slash = '\0';
      else if (group[1]) group[1] = '\0';
      else group = NULL;
    }
  }
  if (f) fclose(f);
  return cpus;
}
