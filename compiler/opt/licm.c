/* licm.c: what a loop computes anew in each round, though it is always the same, is computed once before it.
 * Only what cannot fail moves: the loop may have no rounds at all, or fail before. A read moves when the
 * loops around it prove it within bounds (a proof by a check in the body would not hold before the loop).
 * Inner loops come first, so that a value leaves as many loops as it can. */
#include "opt/opt_internal.h"

/* A candidate to leave the loop region `r`. Constants move along with what uses them. */
typedef struct Candidate {
  const FlRegion *r;
  const FlOp *op;
} Candidate;

static bool is_fixed(const Candidate *c, const FlValue *v) {
  if (!fl_ir_made_inside(v, c->r) || fl_ir_made_within(v, c->op)) return true;
  return v->region == c->r && v->op && v->op->code == FL_OP_CONST;
}

/* `op` is the candidate or stands inside of it. */
static bool op_is_fixed(const Candidate *c, const FlOp *op) {
  int flags = fl_op_info[op->code].flags;
  if (flags & (FL_OPF_EFFECT | FL_OPF_NOTE | FL_OPF_HEAP)) return false;
  if (op->code == FL_OP_WHILE) return false; /* it may never end */
  if (op->code == FL_OP_LOAD && (op->args[0]->type.depth || !fl_opt_loops_prove(op))) return false;
  for (int i = 0; i < op->n_args; i++)
    if (!is_fixed(c, op->args[i])) return false;
  for (int k = 0; k < op->n_regions; k++) {
    const FlRegion *in = op->regions[k];
    for (const FlOp *o = in->first; o; o = o->next)
      if (!op_is_fixed(c, o)) return false;
    for (int i = 0; i < in->n_yields; i++)
      if (!is_fixed(c, in->yields[i])) return false;
  }
  return true;
}

static void lift_constants(const FlRegion *r, const FlOp *op, FlOp *loop) {
  for (int i = 0; i < op->n_args; i++)
    if (op->args[i]->region == r) fl_ir_move_before(op->args[i]->op, loop);
  for (int k = 0; k < op->n_regions; k++) {
    const FlRegion *in = op->regions[k];
    for (const FlOp *o = in->first; o; o = o->next) lift_constants(r, o, loop);
    for (int i = 0; i < in->n_yields; i++)
      if (in->yields[i]->region == r) fl_ir_move_before(in->yields[i]->op, loop);
  }
}

static void visit(FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next)
    for (int i = 0; i < op->n_regions; i++) visit(op->regions[i]);
  FlOp *loop = r->owner;
  if (!loop || loop->code == FL_OP_IF) return;
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    if (op->code == FL_OP_CONST || op->n_results == 0 || fl_ir_may_fault(op)) continue;
    Candidate c = {r, op};
    if (!op_is_fixed(&c, op)) continue;
    if (fl_opt_is_host_op(op) && !fl_opt_may_turn(r)) continue;
    lift_constants(r, op, loop);
    fl_ir_move_before(op, loop);
  }
}

void fl_opt_licm(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) visit(f->body);
}
