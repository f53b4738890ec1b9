/* joining.h: operations of one region that become one operation, where the first of them stands. */
#ifndef FL_OPT_JOINING_H
#define FL_OPT_JOINING_H

#include "opt/opt_internal.h"

typedef struct FlJoining {
  int most;   /* operations that become one */
  int common; /* leading arguments that all of them share, as they do their code and attribute i; 1 or more */
  bool (*begins)(const FlOp *first);
  bool (*joins)(const FlOp *op); /* one that may begin may also stand further up: it cannot fail */
  /* The operation in place of ops[0..n), before ops[0]; its results are theirs, in order. */
  FlOp *(*make)(FlOp *const *ops, int n);
} FlJoining;

/* Joins in all regions. What always holds: an operation that moves reads only what is there before the first.
 */
void fl_opt_join(FlModule *m, const FlJoining *kind);

#endif
