/* joining.h: operations of one region that become one operation, where the first of them stands. */
#ifndef FL_OPT_JOINING_H
#define FL_OPT_JOINING_H

#include "opt/opt_internal.h"

enum { FL_JOINING_MOST = 256 };

typedef struct FlJoining {
  int most;   /* operations that join, at most FL_JOINING_MOST */
  int common; /* leading arguments that all of them share */
  bool (*begins)(const FlOp *first);
  /* `op`, behind `first`, with the same leading arguments, may stand there: it cannot fail. */
  bool (*joins)(const FlOp *op, const FlOp *first);
  /* The operation in place of ops[0..n), before ops[0]; its results are theirs, in order. */
  FlOp *(*make)(FlOp *const *ops, int n);
} FlJoining;

/* Joins in all regions. What always holds: an operation that moves reads only what is there before the first.
 */
void fl_opt_join(FlModule *m, const FlJoining *kind);

#endif
