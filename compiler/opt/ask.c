/* ask.c: questions about operations and regions that several passes have; see opt_internal.h. */
#include "opt/opt_internal.h"

bool fl_opt_has_note(const FlOp *op) {
  if (fl_op_info[op->code].flags & FL_OPF_NOTE) return true;
  for (int i = 0; i < op->n_regions; i++)
    for (const FlOp *in = op->regions[i]->first; in; in = in->next)
      if (fl_opt_has_note(in)) return true;
  return false;
}

FlOp *fl_opt_outermost(FlOp *op, const FlRegion *r) {
  while (op && op->parent != r) op = op->parent->owner;
  return op;
}

bool fl_opt_in_loop(const FlRegion *r) {
  for (const FlOp *op = r->owner; op; op = op->parent->owner)
    if (fl_opt_is_loop(op)) return true;
  return false;
}

const FlOp *fl_opt_within(FlOp *loop) {
  FlOp *op = (FlOp *)(uintptr_t)fl_ir_within(loop);
  if (op == NULL || fl_ir_may_fault(loop)) return op;
  fl_ir_remove(op);
  return NULL;
}

bool fl_opt_same_within(FlOp *a, FlOp *b) {
  const FlOp *x = fl_opt_within(a), *y = fl_opt_within(b);
  if (x == NULL || y == NULL) return x == y || !fl_ir_may_fault(x ? b : a);
  if (x->n_args != y->n_args || x->attrs.i != y->attrs.i) return false;
  for (int i = 1; i < x->n_args; i++)
    if (x->args[i] != y->args[i]) return false;
  return fl_ir_same_columns(&x->attrs, &y->attrs);
}

void fl_opt_move_within(FlOp *from, FlOp *to) {
  for (int i = 0; i < from->n_regions; i++) {
    to->regions[i] = from->regions[i];
    to->regions[i]->owner = to;
  }
  from->n_regions = 0;
}
