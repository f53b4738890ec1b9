/* cpus.c: how many CPUs this process may use.
 *
 * In: the affinity mask, which also says what the control group's cpuset allows, and the quota of the control
 * groups (base/groups.h). Out: the smaller of the two, a part of a CPU counting as one. */
#include "sched/sched.h"
#include "base/groups.h"

#include <sched.h>
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

int fl_sched_cpus(void) {
  int cpus = affinity(), quota = fl_group_limits("").cpus;
  return quota < cpus ? quota : cpus;
}
