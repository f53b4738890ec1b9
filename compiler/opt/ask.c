/* ask.c: questions about operations and regions that several passes have; see opt_internal.h. */
#include "opt/opt_internal.h"

bool fl_opt_inside(const FlRegion *r, const FlRegion *outer) {
  for (; r; r = r->owner ? r->owner->parent : NULL)
    if (r == outer) return true;
  return false;
}

bool fl_opt_region_faults(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next)
    if (fl_ir_may_fault(op)) return true;
  return false;
}

bool fl_opt_has_note(const FlOp *op) {
  if (fl_op_info[op->code].flags & FL_OPF_NOTE) return true;
  for (int i = 0; i < op->n_regions; i++)
    for (const FlOp *in = op->regions[i]->first; in; in = in->next)
      if (fl_opt_has_note(in)) return true;
  return false;
}

bool fl_opt_in_loop(const FlRegion *r) {
  for (const FlOp *op = r->owner; op; op = op->parent->owner)
    if (fl_opt_is_loop(op)) return true;
  return false;
}
