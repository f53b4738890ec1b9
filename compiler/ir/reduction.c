/* reduction.c: the kinds of a REDUCE and where their values are among the yields; see ir.h. */
#include "ir/ir.h"

const char *const fl_reduce_names[FL_N_REDUCE_KINDS] = {
    [FL_RED_SUM] = "sum",       [FL_RED_PRODUCT] = "product", [FL_RED_SUM_PRODUCT] = "sum_product",
    [FL_RED_MIN] = "min",       [FL_RED_MAX] = "max",         [FL_RED_ANY] = "any",
    [FL_RED_ALL] = "all",       [FL_RED_COUNT] = "count",     [FL_RED_ARGMIN] = "argmin",
    [FL_RED_ARGMAX] = "argmax", [FL_RED_EACH] = "each"};

bool fl_reduce_find(const char *name, FlReduceKind *out) {
  int k = 0;
  while (k < FL_N_REDUCE_KINDS && strcmp(fl_reduce_names[k], name) != 0) k++;
  if (k < FL_N_REDUCE_KINDS) *out = (FlReduceKind)k;
  return k < FL_N_REDUCE_KINDS;
}

bool fl_reduce_picks(FlReduceKind kind) {
  return kind == FL_RED_MIN || kind == FL_RED_MAX || kind == FL_RED_ARGMIN || kind == FL_RED_ARGMAX;
}

FlReduction fl_ir_reduction(const FlOp *op, int index) {
  FlReduction out = {0};
  int at = 0;
  for (int i = 0; i <= index; i++) {
    const FlReductionAttr *a = &op->attrs.reductions[i];
    out.kind = a->kind;
    out.first = at;
    out.n_values = a->kind == FL_RED_SUM_PRODUCT ? 2 : 1;
    at += out.n_values;
    out.keep = a->filtered ? at++ : -1;
  }
  return out;
}

void fl_ir_set_reductions(FlArena *arena, FlOp *op, int n, const FlReductionAttr *reductions) {
  op->attrs.reductions = fl_arena_copy(arena, reductions, (size_t)n * sizeof *reductions);
  op->attrs.n_reductions = n;
}

void fl_ir_set_reduction(FlOp *op, FlReduceKind kind, bool filtered) {
  fl_ir_set_reductions(op->parent->func->module->arena, op, 1, &(FlReductionAttr){kind, filtered});
}

bool fl_ir_same_reductions(const FlAttrs *a, const FlAttrs *b) {
  if (a->n_reductions != b->n_reductions) return false;
  for (int i = 0; i < a->n_reductions; i++)
    if (a->reductions[i].kind != b->reductions[i].kind ||
        a->reductions[i].filtered != b->reductions[i].filtered)
      return false;
  return true;
}

bool fl_ir_reduces_in_order(const FlOp *op) {
  for (int i = 0; i < op->attrs.n_reductions; i++) {
    FlReduction how = fl_ir_reduction(op, i);
    if (how.kind == FL_RED_PRODUCT && !fl_dtype_is_float(op->regions[0]->yields[how.first]->type.dtype))
      return true;
  }
  return false;
}
