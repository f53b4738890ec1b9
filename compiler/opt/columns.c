/* columns.c: which MAPs are reductions along columns; see columns.h. */
#include "opt/columns.h"

static bool is_little(const FlOp *op) {
  switch (op->code) {
  case FL_OP_CONST:
  case FL_OP_DIM:
  case FL_OP_LOAD:
  case FL_OP_PICK:
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

/* Does a column keep a state of few numbers, which rows are added to one by one? */
static bool is_by_rows(const FlReduction *how, FlDtype d) {
  bool number = !fl_dtype_is_text(d) && d != FL_BOOL;
  switch (how->kind) {
  case FL_RED_SUM:
  case FL_RED_ANY:
  case FL_RED_ALL:
  case FL_RED_COUNT: return true;
  case FL_RED_SUM_PRODUCT: return fl_dtype_is_float(d);
  case FL_RED_MIN:
  case FL_RED_MAX:
  case FL_RED_ARGMIN:
  case FL_RED_ARGMAX: return number;
  case FL_RED_PRODUCT:
  case FL_RED_EACH: break;
  }
  return false;
}

static bool all_by_rows(const FlOp *reduce) {
  for (int i = 0; i < reduce->n_results; i++) {
    FlReduction how = fl_ir_reduction(reduce, i);
    if (!is_by_rows(&how, (FlDtype)reduce->regions[0]->yields[how.first]->type.dtype)) return false;
  }
  return true;
}

/* Its terms are straight code that cannot fail, reads rows along j, and reads nothing along i. */
static bool runs_along(const FlRegion *terms, const FlValue *i, const FlValue *j) {
  bool along = false;
  for (const FlOp *op = terms->first; op; op = op->next) {
    if (op->n_regions || fl_ir_may_fault(op) || op->code == FL_OP_RANDOM) return false;
    if (op->code == FL_OP_PICK) along = along || (op->args[0] == i && op->args[1] == j);
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

const FlOp *fl_opt_column_fold(const FlOp *map) {
  const FlRegion *r = map->regions[0];
  const FlOp *reduce = only_loop(r);
  if (!reduce || !all_by_rows(reduce)) return NULL;
  const FlValue *n = reduce->args[0];
  bool fixed = n->op && n->op->code == FL_OP_CONST;
  if (!fixed) fixed = !fl_ir_made_inside(n, r);
  if (!fixed || !runs_along(reduce->regions[0], reduce->regions[0]->params[0], r->params[r->n_params - 1]))
    return NULL;
  for (const FlOp *op = r->first; op != reduce; op = op->next)
    if (!is_little(op)) return NULL;
  return reduce;
}
