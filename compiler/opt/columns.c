/* columns.c: which MAPs are sums along columns; see columns.h. */
#include "opt/columns.h"

static bool is_little(const FlOp *op) {
  switch (op->code) {
  case FL_OP_CONST:
  case FL_OP_DIM:
  case FL_OP_LOAD:
  case FL_OP_NEG:
  case FL_OP_ADD:
  case FL_OP_SUB:
  case FL_OP_MUL:
  case FL_OP_WRAP_ADD:
  case FL_OP_WRAP_SUB:
  case FL_OP_WRAP_MUL: return !fl_ir_may_fault(op);
  case FL_OP_ABS:
  case FL_OP_ARRAY:
  case FL_OP_STORE:
  case FL_OPS_ARITHMETIC:
  case FL_OPS_ORDER:
  case FL_OPS_LOGIC:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_LOOPS:
  case FL_OPS_CONTROL:
  case FL_OPS_CALLS:
  case FL_OPS_CHECKS:
  case FL_OPS_RUNTIME: break;
  }
  return false;
}

static bool sums_alone(const FlOp *reduce) {
  for (int i = 0; i < reduce->n_results; i++) {
    FlReduction how = fl_ir_reduction(reduce, i);
    if (how.keep >= 0) return false;
    if (how.kind != FL_RED_SUM && how.kind != FL_RED_SUM_PRODUCT) return false;
    if (!fl_dtype_is_float(reduce->regions[0]->yields[how.first]->type.dtype)) return false;
  }
  return true;
}

/* Its terms are straight code that cannot fail, reads rows along j, and reads nothing along i. */
static bool runs_along(const FlRegion *terms, const FlValue *i, const FlValue *j) {
  bool along = false;
  for (const FlOp *op = terms->first; op; op = op->next) {
    if (op->n_regions || fl_ir_may_fault(op) || op->code == FL_OP_RANDOM) return false;
    if (op->code != FL_OP_LOAD || op->n_args < 2) continue;
    if (op->args[op->n_args - 1] == i) return false;
    bool row = false;
    for (int k = 1; k + 1 < op->n_args; k++) row = row || op->args[k] == i;
    along = along || (row && op->args[op->n_args - 1] == j);
  }
  return along;
}

/* The only loop in the region; NULL: there is none, or more. */
static const FlOp *only_loop(const FlRegion *r) {
  const FlOp *found = NULL;
  for (const FlOp *op = r->first; op; op = op->next) {
    if (!op->n_regions) continue;
    if (found || op->code != FL_OP_REDUCE || op->n_args != 1) return NULL;
    found = op;
  }
  return found;
}

const FlOp *fl_opt_column_sum(const FlOp *map) {
  const FlRegion *r = map->regions[0];
  const FlOp *reduce = only_loop(r);
  if (!reduce || !sums_alone(reduce)) return NULL;
  const FlValue *n = reduce->args[0];
  bool fixed = n->op && n->op->code == FL_OP_CONST;
  if (!fixed) fixed = !fl_ir_made_inside(n, r);
  if (!fixed || !runs_along(reduce->regions[0], reduce->regions[0]->params[0], r->params[r->n_params - 1]))
    return NULL;
  for (const FlOp *op = r->first; op != reduce; op = op->next)
    if (!is_little(op)) return NULL;
  return reduce;
}
