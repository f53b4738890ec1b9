/* child_limits.c: see child_limits.h. What always holds: nothing is taken from the heap. */
#include "base/child_limits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void bound(int what, rlim_t most) {
  struct rlimit limit;
  if (getrlimit(what, &limit) != 0 || limit.rlim_cur <= most) return;
  limit.rlim_cur = most;
  setrlimit(what, &limit);
}

/* Bytes of address space that the process has; 0: not known. */
static rlim_t space(void) {
  char text[64] = "";
  int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  long page = sysconf(_SC_PAGESIZE);
  return n > 0 && page > 0 ? (rlim_t)strtoull(text, NULL, 10) * (rlim_t)page : 0;
}

void fl_child_limits(int64_t seconds, int64_t memory) {
  bound(RLIMIT_CORE, 0);
  bound(RLIMIT_CPU, (rlim_t)seconds);
  rlim_t now = space();
  if (now) bound(RLIMIT_AS, now + (rlim_t)memory);
}
