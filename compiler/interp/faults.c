/* faults.c: what happens when an operation fails, and which of several failures is the first. */
#include "interp/interp_internal.h"

const OpNote *note_of(const Frame *f, const FlOp *op) { return fl_map_get(f->in->notes, op); }

FlStatus raise_fault(Frame *f, Fault fault) {
  if (f->fault != NULL) {
    *f->fault = fault;
    return FAULTED;
  }
  const OpNote *note = note_of(f, fault.op);
  return fl_fail(f->ctx, fault.bits, note->sites ? note->sites[fault.part] : note->site, fault.type, fault.a,
                 fault.b);
}

/* Whichever of two operations the walk finishes first: -1 a, 1 b, 0 neither. */
static int first_finished(const FlRegion *r, const FlOp *a, const FlOp *b) {
  for (const FlOp *op = r->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->n_regions; i++) {
      int inside = first_finished(op->regions[i], a, b);
      if (inside != 0) return inside;
    }
    if (op == a) return -1;
    if (op == b) return 1;
  }
  return 0;
}
bool comes_before(const FlRegion *r, const Fault *a, const Fault *b) {
  return a->op == b->op ? a->part < b->part : first_finished(r, a->op, b->op) < 0;
}

/* The operands for the message are the arguments after the condition: two of one type, or the message itself.
 */
FlStatus run_check(Frame *f, const FlOp *op) {
  bool fail = op->code == FL_OP_FAIL;
  if (!fail && value_of(f, op->args[0]).i != 0) return 0;
  int first = fail ? 0 : 1, n = op->n_args - first;
  Fault fault = {.op = op, .type = FL_I64, .bits = (int32_t)op->attrs.i};
  if (fault.bits == 0) fault.bits = fail ? FL_FAULT_ERROR : FL_FAULT_ASSERT;
  if (n > 0) {
    fault.type = op->args[first]->type.dtype;
    fault.a = value_of(f, op->args[first]);
  }
  if (fl_ir_says_second(op, first)) fault.b = value_of(f, op->args[first + 1]);
  return raise_fault(f, fault);
}
