/* process.h: what belongs to a process, and not to a run: its command line, its signals, how it keeps memory.
 * Programs that flow made and flowc itself are such processes; nothing else of flow includes this room, so
 * that a run can live in the process of another program. */
#ifndef FL_PROCESS_H
#define FL_PROCESS_H

#include "exec/exec.h"
#include "flow/abi.h"

/* How a program came to be that is run: options of the same names (FlRunOptions). */
typedef struct FlMade {
  const FlKernelMaker *maker;
  int64_t tries;
  bool looks;
  const FlRunTaker *taker;
  void (*plan)(void *arg, FILE *to);
  void *plan_arg;
} FlMade;

/* fl_main for a program that was made from `script` just now (flowc run); argv[0] is what usage messages call
 * the program. With `tries` FL_RUN_AGAIN where it did not come to its end in that time, failed, or would have
 * acted on files: nothing was seen of it then. */
int fl_main_for(const FlProgram *program, const char *script, int argc, char **argv, const FlMade *made);

/* Tells the C library how much of what is freed it may keep: little of `limit` bytes, and much where there is
 * no limit (0). */
void fl_process_keep(int64_t limit);

/* Room for much that is small, in the calling thread: the C library asks the system for a thread's memory
 * page by page otherwise. */
void fl_process_room(void);

#endif
