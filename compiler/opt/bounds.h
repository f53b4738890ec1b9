/* bounds.h: between what an i64 value lies, for passes that prove indices and sizes. */
#ifndef FL_OPT_BOUNDS_H
#define FL_OPT_BOUNDS_H

#include "opt/opt_internal.h"

/* lo <= v <= hi, and v <= base + by (base NULL: nothing more is known). No loop comes to its element number
 * FL_LAST_POSITION. */
typedef struct FlBounds {
  int64_t lo, hi;
  const FlValue *base;
  int64_t by;
} FlBounds;
#define FL_LAST_POSITION ((int64_t)1 << 62)

/* What was learnt about values besides what their definitions say, by id; ids from n on: nothing. `wild`: an
 * operation that failed may have left any value behind, as in the fast form of a kernel. */
typedef struct FlLearnt {
  FlBounds *at;
  bool *has;
  uint32_t n;
  bool wild;
} FlLearnt;

FlBounds fl_opt_bounds(const FlLearnt *l, const FlValue *v);
/* x < y (or x <= y) for sure. */
bool fl_opt_less(const FlLearnt *l, const FlValue *x, const FlValue *y, bool or_equal);
/* The checked i64 operation cannot overflow. */
bool fl_opt_fits(const FlLearnt *l, const FlOp *op);
/* The index is one of that axis of the array. */
bool fl_opt_is_index(const FlLearnt *l, const FlValue *index, const FlValue *array, int axis);
/* The read stays within its array even where something before it failed. */
bool fl_opt_reads_inside(const FlOp *load);
/* x is base + by, exactly; x + 0 when nothing else is known. */
void fl_opt_shift(const FlLearnt *l, const FlValue *x, const FlValue **base, int64_t *by);

#endif
