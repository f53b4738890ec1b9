/* opt_internal.h: what the passes share: substitution during one forward walk, sizes, and builders at an op.
 */
#ifndef FL_OPT_INTERNAL_H
#define FL_OPT_INTERNAL_H

#include "ir/ir.h"
#include "opt/opt.h"

#define FL_PASS(name, level) void fl_opt_##name(FlModule *m);
#include "opt/passes.def"
#undef FL_PASS

/* Values that were replaced, by id. A pass that walks a function forwards rewrites each op's arguments as it
 * comes to it, so any number of replacements costs one walk. Heap; reset frees. */
typedef struct FlSubst {
  FlValue **to;
  uint32_t n;
} FlSubst;
void fl_subst_set(FlSubst *s, const FlValue *from, FlValue *to);
/* The same where `to` has not all rows of `from`: it is not what somebody would see of that. */
void fl_subst_narrow(FlSubst *s, const FlValue *from, FlValue *to);
FlValue *fl_subst_get(const FlSubst *s, FlValue *v);
void fl_subst_args(const FlSubst *s, FlOp *op);
void fl_subst_yields(const FlSubst *s, FlRegion *r);
void fl_subst_region(const FlSubst *s, FlRegion *r); /* everything inside, at any depth */
void fl_subst_reset(FlSubst *s);

/* Who uses the values of a function: as they were when it was asked. Of the value v they are by[from[v->id]]
 * up to by[from[v->id + 1]], in program order; one that uses it twice is there twice, and NULL stands for a
 * region that gives it. Heap; reset frees. */
typedef struct FlUses {
  uint32_t *from;
  FlOp **by;
} FlUses;
FlUses fl_opt_uses(const FlFunc *f);
void fl_opt_uses_reset(FlUses *u);
/* Visits the body of each function with who uses its values, and nothing to be put in place of any yet. */
void fl_opt_each_body(FlModule *m, void (*visit)(FlSubst *s, const FlUses *uses, FlRegion *body));
static inline uint32_t fl_opt_n_uses(const FlUses *u, const FlValue *v) {
  return u->from[v->id + 1] - u->from[v->id];
}
static inline FlOp *fl_opt_use(const FlUses *u, const FlValue *v, uint32_t k) {
  return u->by[u->from[v->id] + k];
}
/* The op that alone uses v, once; NULL: it is none. */
static inline FlOp *fl_opt_only_use(const FlUses *u, const FlValue *v) {
  return fl_opt_n_uses(u, v) == 1 ? fl_opt_use(u, v, 0) : NULL;
}

/* A builder that puts ops before `op`, with its span. */
static inline FlBuilder fl_opt_before(FlOp *op) {
  return (FlBuilder){.module = op->parent->func->module,
                     .func = op->parent->func,
                     .region = op->parent,
                     .before = op,
                     .span = op->span};
}

/* An IF in the place of `map`, of one result: where ok holds it is an operator of n arguments, the only one
 * of its first branch; else it is the map, which moves into the second. */
FlOp *fl_opt_instead(FlOp *map, FlValue *ok, FlOpcode code, int n, FlValue **args, const FlType1 *type);

/* The op itself may fault, apart from what its regions hold. */
bool fl_opt_own_fault(const FlOp *op);

/* Removes what is unused. keep_faults: an op that may fault stays even when unused (its error would be lost).
 */
void fl_opt_sweep(FlModule *m, bool keep_faults);

/* A loop over an index space whose region computes scalars: MAP, REDUCE, COLLECT, SCAN. */
static inline bool fl_opt_is_loop(const FlOp *op) { return fl_op_info[op->code].family == FL_FAMILY_LOOPS; }
/* How many of a loop's arguments are sizes. */
static inline int fl_opt_n_sizes(const FlOp *op) { return op->code == FL_OP_SCAN ? 1 : op->n_args; }

/* ---- same.c ---- */

/* The two compute the same. Equal ones have equal hashes. */
uint64_t fl_opt_hash(const FlOp *op);
bool fl_opt_same(const FlOp *a, const FlOp *b);

/* ---- ask.c ---- */

/* The op, or one in its regions, is a NOTE. */
bool fl_opt_has_note(const FlOp *op);
/* The operation of the region that op is, or is in; NULL: op is NULL, or elsewhere. */
FlOp *fl_opt_outermost(FlOp *op, const FlRegion *r);
/* `r` is in the body of a loop over an index space. */
bool fl_opt_in_loop(const FlRegion *r);
/* The WITHIN of the loop, which is removed where nothing in it can fail; NULL: none. */
const FlOp *fl_opt_within(FlOp *loop);
/* The loops, one of which is to become part of the other, say the same of where they fail; nothing is said of
 * what cannot fail. */
bool fl_opt_same_within(FlOp *a, FlOp *b);
/* The region of a runtime operator, which says the group where it fails, becomes that of another one. */
void fl_opt_move_within(FlOp *from, FlOp *to);

/* ---- parts.c ---- */

/* A reader of one file whose filters may be asked while it is read. */
bool fl_opt_is_parted(const FlOp *op);

/* ---- sizes.c ---- */

/* The same SSA value, or equal constants. */
bool fl_opt_same_size(const FlValue *a, const FlValue *b);
/* `size` is the size of that axis of `array`, as far as its producers tell. */
bool fl_opt_is_dim(const FlValue *size, const FlValue *array, int axis);
/* A value that is the size of that axis wherever the array is there: also of what loops and branches hand on,
 * where all they hand on has one size. A DIM where none is known. */
FlValue *fl_opt_dim(FlBuilder *b, FlValue *array, int axis);
/* The value that is the size of that axis, where the array is made; NULL: none is. */
const FlValue *fl_opt_size_of(const FlValue *array, int axis);
/* The size that the index of a loop runs up to, from 0 or above; NULL: it is none of a loop. */
const FlValue *fl_opt_runs_to(const FlValue *index);
/* The indices of a LOAD of a scalar each run over the array's own size. */
bool fl_opt_loops_prove(const FlOp *load);
/* A LOAD of a scalar that is marked as proven, or that the loops around it prove. */
bool fl_opt_in_bounds(const FlOp *load);

/* ---- order.c ---- */

/* The loops around `r` that are host code may become kernels, by a pass that takes an operation of host level
 * out of `r`, and the first error stays the first; the outermost one may be marked for that, which means
 * nothing while it is host code. */
bool fl_opt_may_turn(const FlRegion *r);
/* Not something that a kernel may hold. */
bool fl_opt_is_host_op(const FlOp *op);

/* Passes an AGGREGATE of groups, or AGGREGATES, over the rows once, with a small state for each group? */
bool fl_opt_sweeps(const FlOp *op);

#endif
