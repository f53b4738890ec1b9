/* in_place.h: which element assignments of host code may write without asking whether the array is shared,
 * and which arrays stay one and the same while a loop goes round.
 *
 * An array is *alone* when everything that is done with a value of it is reading elements and sizes, and
 * handing it on: to a STORE or a loop that consumes it, or out of a region that owns it. Nothing then can
 * keep a reference. A fresh array that is alone has one reference until it is handed on, and so has the
 * result of a STORE that consumed it, and so on: these are `unique`.
 *
 * A loop holds a carried array *in place* when what it yields for it is what it was given, after any number
 * of such STOREs, branches and inner loops: then the array object is the same in each round, and it is unique
 * in all of them if it was before the loop, which is known, or seen to there.
 *
 * The analysis stands on that of lifetimes and lives as long. */
#ifndef FL_IN_PLACE_H
#define FL_IN_PLACE_H

#include "plan/lifetime.h"

typedef struct FlInPlace FlInPlace;

/* Of one function: `life` is its. */
FlInPlace *fl_in_place_make(FlArena *arena, const FlLifetime *life, const FlFunc *func);

/* How the FOR or WHILE `op` holds its carried value `index` (0 is the first after a FOR's bounds). */
typedef enum FlCarry {
  FL_CARRY_ANY,  /* not in place: a value of its own in each round */
  FL_CARRY_MAKE, /* in place, once it was made unique before the loop, if the loop runs at all */
  FL_CARRY_SAME  /* in place, and unique before the loop: it is the array that the loop was given */
} FlCarry;
FlCarry fl_in_place_carry(FlInPlace *p, const FlOp *op, int index);

/* Both branches of the IF `op` yield one and the same object as result `index`, and it is unique. */
bool fl_in_place_branches(FlInPlace *p, const FlOp *op, int index);

/* The value whose object v is: the first that stands for it. */
const FlValue *fl_in_place_object(FlInPlace *p, const FlValue *v);

/* The STORE `op` consumes an array that no one else has: it writes, and its result is the same object. */
bool fl_in_place_store(FlInPlace *p, const FlOp *op);

#endif
