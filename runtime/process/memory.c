/* memory.c: how the C library gets memory from the system, and how much of what is freed it keeps. In: a
 * limit. What always holds: it is one setting for all of the process, so that only its owner may change it.
 */
#include "process/process.h"

#include <malloc.h>
#include <stdlib.h>

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* Without a limit arrays of some megabytes come and go all the time: given back to the system, their pages
 * would be cleared when they are asked for again. With one, what is kept here is not there for others: each
 * thread has an arena of its own. */
void fl_process_keep(int64_t limit) {
  enum { LEAST = 64 << 10, MOST = 32 << 20 };
  int64_t part = limit ? limit / 1024 : MOST;
  int most = (int)(part < LEAST ? LEAST : lesser(part, MOST));
  mallopt(M_MMAP_THRESHOLD, most);
  mallopt(M_TRIM_THRESHOLD, 2 * most);
}

/* What is asked for at once stays with the thread when it is freed, and has no pages before they are written.
 */
void fl_process_room(void) {
  enum { ROOM = 24 << 20 };
  fl_process_keep(0);
  void *volatile room = malloc(ROOM);
  free(room);
}
