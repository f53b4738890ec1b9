/* sorts.c: tables that are sorted move as they are, without the numbers of their rows: SORT_PERM and TAKE
 * become SORT_ROWS. JOIN and DISTINCT are told where only TAKEs read their rows' numbers.
 *
 * In: a SORT_PERM whose order nobody asks for but one TAKE, behind the pass that joins TAKEs. Out: SORT_ROWS.
 * What always holds: it gives what the TAKE gave, bit for bit; where the order does not fit in memory, rows
 * are written and read once, and none looked up in a file. */
#include "opt/opt_internal.h"

/* The TAKE that alone uses the order, in the same region; NULL: not that alone. */
static FlOp *take_of(const FlUses *uses, const FlOp *sort) {
  FlOp *take = fl_opt_only_use(uses, sort->results[0]);
  bool fits = take && take->code == FL_OP_TAKE && take->parent == sort->parent &&
              take->args[0] == sort->results[0] && take->attrs.i == FL_TAKE_PROVEN;
  return fits ? take : NULL;
}

static void replace(FlSubst *s, FlOp *sort, FlOp *take) {
  FlBuilder b = fl_opt_before(take);
  FlArena *arena = b.module->arena;
  int n = take->n_args - 1;
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, sort->n_args + n);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, n);
  memcpy(args, sort->args, sizeof *args * (size_t)sort->n_args);
  memcpy(args + sort->n_args, take->args + 1, sizeof *args * (size_t)n);
  for (int k = 0; k < n; k++) types[k] = take->results[k]->type;
  b.span = sort->span;
  FlOp *rows = fl_ir_op(&b, FL_OP_SORT_ROWS, sort->n_args + n, args, n, types, 0);
  fl_ir_set_columns(arena, rows, sort->attrs.n_columns, sort->attrs.columns);
  rows->places = take->places;
  for (int k = 0; k < n; k++) fl_subst_set(s, take->results[k], rows->results[k]);
  fl_ir_remove(take);
  fl_ir_remove(sort);
}

/* Whether all that read v take rows by it, all of which are known to be there, or ask how many they are. */
static bool only_takes(const FlUses *uses, const FlValue *v) {
  for (uint32_t k = 0; k < fl_opt_n_uses(uses, v); k++) {
    const FlOp *use = fl_opt_use(uses, v, k);
    if (use && use->code == FL_OP_DIM) continue;
    if (!use || use->code != FL_OP_TAKE || !(use->attrs.i & FL_TAKE_PROVEN) || use->args[0] != v)
      return false;
    for (int i = 1; i < use->n_args; i++)
      if (use->args[i] == v) return false;
  }
  return true;
}

static void tell_join(const FlUses *uses, FlOp *join) {
  if (only_takes(uses, join->results[1])) join->attrs.i |= FL_JOIN_LEFT_TAKEN;
  if (only_takes(uses, join->results[2])) join->attrs.i |= FL_JOIN_RIGHT_TAKEN;
}

static void visit(FlSubst *s, const FlUses *uses, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, uses, op->regions[i]);
    if (op->code == FL_OP_JOIN) tell_join(uses, op);
    if (op->code == FL_OP_DISTINCT && only_takes(uses, op->results[0])) op->attrs.i = FL_DISTINCT_TAKEN;
    FlOp *take = op->code == FL_OP_SORT_PERM ? take_of(uses, op) : NULL;
    if (!take) continue;
    fl_subst_args(s, take);
    if (next == take) next = take->next;
    replace(s, op, take);
  }
  fl_subst_yields(s, r);
}

void fl_opt_sorts(FlModule *m) { fl_opt_each_body(m, visit); }
