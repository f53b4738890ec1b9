/* groups.h: the limits of the control groups that this process is in: version 1, version 2, both at once,
 * nested. */
#ifndef FL_BASE_GROUPS_H
#define FL_BASE_GROUPS_H

#include <stdint.h>

typedef struct FlGroupLimits {
  int64_t memory;      /* bytes: the least limit of a group and those above it; INT64_MAX: none */
  int64_t memory_left; /* bytes that may still be taken, pages of files that nobody used lately counting as
                          free; INT64_MAX: no limit, or not known */
  int cpus;            /* the least quota, a part of a CPU counting as one; INT32_MAX: none */
} FlGroupLimits;

/* `root` stands before /proc and all that is mounted: empty but in tests. */
FlGroupLimits fl_group_limits(const char *root);

#endif
