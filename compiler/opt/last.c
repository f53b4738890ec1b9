/* last.c: a TAKE that is the last to read its numbers says so, so that their memory can be used while it
 * makes its results; likewise a MATMUL_ADD the last to read what it adds to. Changes attributes only. */
#include "opt/lifetime.h"
#include "opt/opt_internal.h"

static bool is_last(const FlLifetime *l, const FlOp *op) {
  if (!fl_lifetime_dies_after(l, op, op->args[0])) return false;
  for (int i = 1; i < op->n_args; i++)
    if (op->args[i] == op->args[0]) return false;
  return true;
}

static void visit(const FlLifetime *l, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_regions; i++) visit(l, op->regions[i]);
    bool proven = op->code == FL_OP_TAKE && op->attrs.i & FL_TAKE_PROVEN;
    if (proven && is_last(l, op)) op->attrs.i |= FL_TAKE_LAST;
    if (op->code == FL_OP_MATMUL_ADD && is_last(l, op)) op->attrs.i |= FL_MATMUL_LAST;
  }
}

void fl_opt_last(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) visit(fl_lifetime_make(m->arena, f), f->body);
}
