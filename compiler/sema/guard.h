/* guard.h: what a branch that is taken element by element needs besides its elements. */
#ifndef FL_SEMA_GUARD_H
#define FL_SEMA_GUARD_H

#include "sema/state.h"

/* An operation that costs about as much as asking whether it is needed: one is done again for each element.
 */
bool fl_guard_is_cheap(const FlOp *op);

/* A branch of an IF in the body of a MAP, and the ops in the region of the MAP that it was elaborated into,
 * from first (NULL: none) to last. */
typedef struct FlBranch {
  FlRegion *region;
  FlOp *first, *last;
} FlBranch;

/* `map` has both branches, complete; what stands behind them in its region compares their sizes. Those ops of
 * each that may fail, and what is made of them, are evaluated only where an element takes the branch, but for
 * the n values `outside`. true: some were moved. */
bool fl_guard_branches(FlSema *s, FlOp *map, const FlBranch branches[2], int n, FlValue *const *outside);

/* What stands for a value of this type where it is not evaluated; NULL: nothing can stand for a list. */
FlValue *fl_guard_nothing(FlSema *s, FlType1 t);

/* `iff` and `reader` are IFs of one condition, the second in the body of a loop. What the regions of the
 * second read of those of the first become results of that. false: some of it is a list, and nothing was
 * done. */
bool fl_guard_export(FlSema *s, FlOp *iff, FlOp *reader);

#endif
