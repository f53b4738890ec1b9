/* takes.c: rows of several arrays by the same numbers become one operation, which reads the numbers once:
 * TAKEs of one region become one TAKE.
 *
 * What always holds: those that join move up to the first of them, so they read only what is there before it,
 * and cannot fail. */
#include "opt/opt_internal.h"

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

/* The op and those behind it that join it; how many. */
static int gather(const FlSubst *s, FlOp *first, FlOp **ops) {
  int n = 0;
  if (first->code != FL_OP_TAKE || fl_ir_may_fault(first)) return 0;
  ops[n++] = first;
  for (FlOp *op = first->next; op && n < MOST; op = op->next) {
    if (op->code != FL_OP_TAKE || op->attrs.i != first->attrs.i) continue;
    bool ready = fl_subst_get(s, op->args[0]) == first->args[0];
    for (int i = 1; i < op->n_args && ready; i++)
      ready = fl_opt_is_before(fl_subst_get(s, op->args[i]), first);
    if (ready) ops[n++] = op;
  }
  return n;
}

static void visit(FlSubst *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    FlOp *ops[MOST];
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, op->regions[i]);
    int n = gather(s, op, ops);
    next = op->next;
    if (n < 2) continue;
    for (int k = 1; k < n; k++) fl_subst_args(s, ops[k]);
    FlOp *all = join(ops, n);
    for (int k = 0, at = 0; k < n; k++) {
      for (int i = 0; i < ops[k]->n_results; i++) fl_subst_set(s, ops[k]->results[i], all->results[at++]);
      fl_ir_remove(ops[k]);
    }
    next = all->next;
  }
  fl_subst_yields(s, r);
}

void fl_opt_takes(FlModule *m) {
  FlSubst s = {0};
  for (FlFunc *f = m->first; f; f = f->next) {
    visit(&s, f->body);
    fl_subst_reset(&s);
  }
}
