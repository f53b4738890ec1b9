/* subst.c: replacement of values while walking forwards, and of an op by another one where something holds
 * when it runs; see opt_internal.h. */
#include "opt/opt_internal.h"

#include <stdlib.h>

void fl_subst_set(FlSubst *s, const FlValue *from, FlValue *to) {
  if (to && from->seen) fl_ir_see_instead(from, to);
  fl_subst_narrow(s, from, to);
}

void fl_subst_narrow(FlSubst *s, const FlValue *from, FlValue *to) {
  if (from->id >= s->n) {
    uint32_t n = from->region->func->next_id;
    FlValue **grown = fl_piece_grow(s->to, n * sizeof *grown);
    memset(grown + s->n, 0, (n - s->n) * sizeof *grown);
    s->to = grown;
    s->n = n;
  }
  s->to[from->id] = to;
}

FlValue *fl_subst_get(const FlSubst *s, FlValue *v) {
  while (v->id < s->n && s->to[v->id]) v = s->to[v->id];
  return v;
}

void fl_subst_args(const FlSubst *s, FlOp *op) {
  for (int i = 0; i < op->n_args; i++) op->args[i] = fl_subst_get(s, op->args[i]);
}

void fl_subst_yields(const FlSubst *s, FlRegion *r) {
  for (int i = 0; i < r->n_yields; i++) r->yields[i] = fl_subst_get(s, r->yields[i]);
}

void fl_subst_region(const FlSubst *s, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) fl_subst_region(s, op->regions[i]);
  }
  fl_subst_yields(s, r);
}

void fl_subst_reset(FlSubst *s) {
  fl_piece_free(s->to);
  *s = (FlSubst){0};
}

FlOp *fl_opt_instead(FlOp *map, FlValue *ok, FlOpcode code, int n, FlValue **args, const FlType1 *type) {
  FlBuilder b = fl_opt_before(map);
  FlOp *either = fl_ir_op(&b, FL_OP_IF, 1, &ok, 1, &map->results[0]->type, 2);
  FlRegion *first = fl_ir_region(&b, either, 0, 0, NULL), *second = fl_ir_region(&b, either, 1, 0, NULL);
  FlBuilder in = {.module = b.module, .func = b.func, .region = first, .span = b.span};
  fl_ir_yield(first, b.module, 1, fl_ir_op(&in, code, n, args, 1, type, 0)->results);
  fl_ir_move_into(map->parent, map->prev, map->next, second);
  fl_ir_yield(second, b.module, 1, map->results);
  return either;
}
