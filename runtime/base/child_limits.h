/* child_limits.h: what a forked process may take: called in the child, which leaves by _exit. */
#ifndef FL_BASE_CHILD_LIMITS_H
#define FL_BASE_CHILD_LIMITS_H

#include <stdint.h>

/* At most so many seconds of the processor, so many bytes of address space besides what the process has, and
 * no core file. What is bounded more tightly already stays so. */
void fl_child_limits(int64_t seconds, int64_t memory);

#endif
