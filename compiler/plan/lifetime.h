/* lifetime.h: who owns array references in host-level code, and where each is given back.
 *
 * Only arrays and lists count here; scalars and texts need no release. The protocol that code generation
 * follows:
 *
 *  - A result of an op is a reference owned by the region that the op stands in. A region parameter of a FOR
 * or WHILE is owned by the iteration. Parameters of functions are borrowed: never released, never consumed.
 *  - A use inside a nested region borrows from the region around it: the value lives until the op that holds
 * the nested region is done (a value that a loop body reads dies after the loop).
 *  - Except that an IF which uses a value last hands it over where a branch has use for that (it yields it,
 * or could write over it): then each of the two branches owns it as if it were defined at its start.
 *  - An owned value is given back exactly once: it is moved by a yield, consumed by an op, or released right
 * after the op that uses it last. One that is never used is released right after the op that made it (a
 * region parameter: at the start of the region).
 *  - FOR and WHILE take over the initial values they carry, and STORE its array, when that is the value's
 * last use; otherwise they get a reference of their own (FOR, WHILE) or copy (STORE on a shared array). In a
 * branch of an IF the last use is that of the branch, where nothing behind the IF uses the value: then it is
 * released after the IF on the paths that did not take it over.
 *  - A yield of a value that the region owns moves it, the first time; a yield of anything else (borrowed,
 * defined outside, or yielded once already) takes a new reference.
 *
 * So on every path each reference is released once, and a value whose only reference is its definition's is
 * unique: it may be written in place by the op after which it dies (fl_array_reuse still asks at run time).
 *
 * The analysis lives in the arena it was made in and is void once the function is edited. */
#ifndef FL_LIFETIME_H
#define FL_LIFETIME_H

#include "ir/ir.h"

typedef struct FlLifetime FlLifetime;

/* Analyses a function; never fails. */
FlLifetime *fl_lifetime_make(FlArena *arena, const FlFunc *f);

/* The owned values to release right after `op`, in order of definition; the count is returned. Values that
 * `op` consumes are not among them; results of `op` itself that nobody uses are. */
int fl_lifetime_dead_after(const FlLifetime *l, const FlOp *op, FlValue *const **out);

/* The values to release at the start of `r`: carried ones that the body does not use, and those that an IF
 * handed over of which this branch makes no use. */
int fl_lifetime_dead_at_start(const FlLifetime *l, const FlRegion *r, FlValue *const **out);

/* `v` is owned by the region of `op` (or was handed over to it), `op` (or a region in it) uses it last, and
 * it is not yielded: after `op` its memory is free for others, and `op` may write into it while making its
 * results. */
bool fl_lifetime_dies_after(const FlLifetime *l, const FlOp *op, const FlValue *v);

/* `op` (FOR, WHILE: a carried initial value; STORE: its array) takes over the reference of args[arg]. */
bool fl_lifetime_consumes(const FlLifetime *l, const FlOp *op, int arg);

/* Yield `index` of `r` hands on the region's own reference; false: it must take a new one. */
bool fl_lifetime_moves(const FlLifetime *l, const FlRegion *r, int index);

#endif
