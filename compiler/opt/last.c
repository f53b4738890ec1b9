/* last.c: a TAKE that is the last to read its numbers says so, so that their memory can be used while it
 * makes its results; likewise a MATMUL_ADD the last to read what it adds to, and a NEAREST_MOVED the last
 * to read labels or gaps. Changes attributes only. */
#include "opt/lifetime.h"
#include "opt/opt_internal.h"

/* Whether this argument, which is read in no other place, is not read after the op. */
static bool is_last(const FlLifetime *l, const FlOp *op, int arg) {
  if (!fl_lifetime_dies_after(l, op, op->args[arg])) return false;
  for (int i = 0; i < op->n_args; i++)
    if (i != arg && op->args[i] == op->args[arg]) return false;
  return true;
}

static void visit(const FlLifetime *l, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_regions; i++) visit(l, op->regions[i]);
    bool proven = op->code == FL_OP_TAKE && op->attrs.i & FL_TAKE_PROVEN;
    if (proven && is_last(l, op, 0)) op->attrs.i |= FL_TAKE_LAST;
    if (op->code == FL_OP_MATMUL_ADD && is_last(l, op, 0)) op->attrs.i |= FL_MATMUL_LAST;
    if (op->code == FL_OP_NEAREST_MOVED) {
      if (is_last(l, op, 3)) op->attrs.i |= FL_NEAREST_LAST_LABEL;
      if (is_last(l, op, 4)) op->attrs.i |= FL_NEAREST_LAST_GAP;
    }
  }
}

void fl_opt_last(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) visit(fl_lifetime_make(m->arena, f), f->body);
}
