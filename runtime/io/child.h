/* child.h: work in a forked process, for libraries that may crash on a damaged file. Private to the room.
 *
 * The child is this process with one thread: the one that called. It may use what is not changed any more,
 * the memory of the C library, and libraries that were opened before and that no other thread is in; of the
 * run's blocks of memory it has those of fl_array_new_shared only, where it puts large results. All else that
 * it finds it says through a pipe, and whoever reads that believes nothing of it. */
#ifndef FL_CHILD_H
#define FL_CHILD_H

#include "io/io_internal.h"

/* What runs in the child: says bytes by fl_child_say, and ends. */
typedef void FlChildFn(void *env, int to);

/* In the child: adds to the answer. Does not return when nobody listens any more. */
void fl_child_say(int to, const void *bytes, size_t n);

typedef struct FlChild {
  FlChildFn *fn;
  void *env;
  const char *label;   /* the file that it reads, for messages */
  const char *library; /* that does the reading, for messages */
  int64_t most;        /* bytes of the answer; a longer one is an error */
  int64_t memory;      /* bytes that it may take besides what it begins with */
  int64_t seconds;     /* of processor time */
} FlChild;

/* Runs it to its end; the answer is the caller's, also on failure. false: the child ended by a signal (e has
 * code `code`), said too much, could not be started, or the run is to stop (FL_E_STOPPED). Nothing of the
 * child is left in any case. ctx may be NULL. */
bool fl_child_run(FlCtx *ctx, const FlChild *child, int code, FlBytes *answer, FlIoError *e);

#endif
