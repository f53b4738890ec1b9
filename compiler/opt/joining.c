/* joining.c: see joining.h. */
#include "opt/joining.h"

static bool is_ready(const FlSubst *s, const FlJoining *kind, const FlOp *op, const FlOp *first) {
  for (int i = 0; i < op->n_args; i++) {
    const FlValue *arg = fl_subst_get(s, op->args[i]);
    if (i < kind->common ? arg != first->args[i] : !fl_opt_is_before(arg, first)) return false;
  }
  return true;
}

/* The op and those behind it that join it; how many. */
static int gather(const FlSubst *s, const FlJoining *kind, FlOp *first, FlOp **ops) {
  int n = 0;
  if (!kind->begins(first)) return 0;
  ops[n++] = first;
  for (FlOp *op = first->next; op && n < kind->most; op = op->next)
    if (op->code == first->code && kind->joins(op, first) && is_ready(s, kind, op, first)) ops[n++] = op;
  return n;
}

static void visit(FlSubst *s, const FlJoining *kind, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    FlOp *ops[FL_JOINING_MOST];
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, kind, op->regions[i]);
    int n = gather(s, kind, op, ops);
    next = op->next;
    if (n < 2) continue;
    for (int k = 1; k < n; k++) fl_subst_args(s, ops[k]);
    FlOp *all = kind->make(ops, n);
    for (int k = 0, at = 0; k < n; k++) {
      for (int i = 0; i < ops[k]->n_results; i++) fl_subst_set(s, ops[k]->results[i], all->results[at++]);
      fl_ir_remove(ops[k]);
    }
    next = all->next;
  }
  fl_subst_yields(s, r);
}

void fl_opt_join(FlModule *m, const FlJoining *kind) {
  FlSubst s = {0};
  for (FlFunc *f = m->first; f; f = f->next) {
    visit(&s, kind, f->body);
    fl_subst_reset(&s);
  }
}
