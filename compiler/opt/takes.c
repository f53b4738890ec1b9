/* takes.c: rows of several arrays by the same numbers become one operation, which reads the numbers once:
 * TAKEs of one region become one TAKE.
 *
 * What always holds: those that join move up to the first of them, so they read only what is there before it,
 * and cannot fail. */
#include "opt/joining.h"

enum { MOST = 256 };

static FlOp *join(FlOp *const *ops, int n) {
  FlBuilder b = fl_opt_before(ops[0]);
  FlArena *arena = b.module->arena;
  int n_arrays = 0, at = 0;
  for (int k = 0; k < n; k++) n_arrays += ops[k]->n_results;
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, n_arrays + 1);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, n_arrays);
  FlSpan *places = FL_NEW_ARRAY(arena, FlSpan, n_arrays);
  args[0] = ops[0]->args[0];
  for (int k = 0; k < n; k++)
    for (int r = 0; r < ops[k]->n_results; r++, at++) {
      args[at + 1] = ops[k]->args[r + 1];
      types[at] = ops[k]->results[r]->type;
      places[at] = fl_ir_place(ops[k], r);
    }
  FlOp *all = fl_ir_op(&b, FL_OP_TAKE, n_arrays + 1, args, n_arrays, types, 0);
  all->attrs.i = ops[0]->attrs.i;
  all->places = places;
  return all;
}

static bool joins(const FlOp *op) { return op->code == FL_OP_TAKE && !fl_ir_may_fault(op); }

void fl_opt_takes(FlModule *m) {
  fl_opt_join(m, &(FlJoining){.most = MOST, .common = 1, joins, joins, join});
}
