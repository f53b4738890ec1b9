/* slices.c: copies of leading rows that no loop took in are views. A slice in the body of a loop is a MAP,
 * since the body may become a kernel; where the body is host code after all, and the slice is still there,
 * its rows are read where they lie.
 *
 * What always holds: whether the copy is of whole rows, within the array, is looked at when it runs; else the
 * MAP does as before. */
#include "opt/opt_internal.h"

/* The LOAD that a MAP copies with: element (i, j, ...) is a[from + i, j, ...]; *from: NULL for 0. NULL: it is
 * no such copy. */
static const FlOp *copying(const FlOp *map, FlValue **from) {
  if (map->code != FL_OP_MAP || map->n_results != 1 || map->results[0]->type.depth || map->attrs.i)
    return NULL;
  const FlRegion *r = map->regions[0];
  const FlOp *load = r->last, *add = r->first;
  if (!load || load->code != FL_OP_LOAD || r->yields[0] != load->results[0] || load->attrs.i != 1)
    return NULL;
  const FlValue *a = load->args[0];
  if (a->type.depth || a->region == r || load->n_args != map->n_args + 1) return NULL;
  for (int k = 1; k < map->n_args; k++)
    if (load->args[k + 1] != r->params[k]) return NULL;
  *from = NULL;
  if (add == load) return load->args[1] == r->params[0] ? load : NULL;
  if (add->next != load || add->code != FL_OP_WRAP_ADD || load->args[1] != add->results[0]) return NULL;
  int own = add->args[0] == r->params[0] ? 0 : 1;
  if (add->args[own] != r->params[0] || add->args[1 - own]->region == r) return NULL;
  *from = add->args[1 - own];
  return load;
}

/* The row behind the last of `count` from `from` on. */
static FlValue *end_of(FlBuilder *b, FlValue *from, FlValue *count) {
  const FlOp *less = count->op;
  if (!from) return count;
  if (less && less->code == FL_OP_WRAP_SUB && less->args[1] == from) return less->args[0];
  return fl_ir_binary(b, FL_OP_WRAP_ADD, from, count);
}

/* Puts the MAP in the second branch of an IF, whose first one is the view. */
static FlOp *choice(FlOp *map, const FlOp *load, FlValue *from) {
  FlBuilder b = fl_opt_before(map);
  FlValue *a = load->args[0], *zero = fl_ir_const_i(&b, FL_I64, 0), *count = map->args[0];
  FlValue *to = end_of(&b, from, count);
  if (!from) from = zero;
  FlValue *ok = fl_ir_binary(&b, FL_OP_LE, to, fl_ir_dim(&b, a, 0));
  ok = fl_ir_binary(&b, FL_OP_AND, fl_ir_binary(&b, FL_OP_GE, from, zero), ok);
  ok = fl_ir_binary(&b, FL_OP_AND, fl_ir_binary(&b, FL_OP_GE, count, zero), ok);
  for (int k = 1; k < map->n_args; k++)
    ok = fl_ir_binary(&b, FL_OP_AND, fl_ir_binary(&b, FL_OP_EQ, map->args[k], fl_ir_dim(&b, a, k)), ok);
  return fl_opt_instead(map, ok, FL_OP_ROWS, 3, (FlValue *[]){a, from, to}, &a->type);
}

static void visit(FlSubst *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, op->regions[i]);
    FlValue *from;
    const FlOp *load = fl_opt_in_loop(r) ? copying(op, &from) : NULL;
    if (load) fl_subst_set(s, op->results[0], choice(op, load, from)->results[0]);
  }
  fl_subst_yields(s, r);
}

void fl_opt_slices(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    FlSubst s = {0};
    visit(&s, f->body);
    fl_subst_reset(&s);
  }
}
