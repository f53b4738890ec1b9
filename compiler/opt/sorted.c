/* sorted.c: values that are sorted by themselves are sorted without the numbers of their rows: SORT_PERM and
 * TAKE become SORT_VALUES.
 *
 * In: a SORT_PERM of one column, whose rows nobody asks for but a TAKE of that very column. Out: SORT_VALUES.
 * What always holds: it gives what the TAKE gave, bit for bit; half the memory, and no rows looked up in any
 * order. */
#include "opt/opt_internal.h"

/* Whether a column is one that SORT_VALUES takes. */
static bool is_plain(const FlOp *sort) {
  if (sort->n_args != 1 || sort->attrs.n_columns != 1 || sort->attrs.columns[0].flags & FL_COLUMN_NULLS)
    return false;
  int32_t d = sort->args[0]->type.dtype;
  return sort->args[0]->type.rank == 1 && !fl_dtype_is_text(d) && d != FL_CATEGORY && d != FL_LIST;
}

/* The TAKE that alone uses the order, in the same region; NULL: not that alone. */
static FlOp *take_of(FlSubst *s, const FlUses *uses, const FlOp *sort) {
  FlOp *take = fl_opt_only_use(uses, sort->results[0]);
  if (!take || take->code != FL_OP_TAKE || take->parent != sort->parent || take->n_args != 2) return NULL;
  fl_subst_args(s, take);
  return take->args[0] == sort->results[0] && take->args[1] == sort->args[0] ? take : NULL;
}

static void visit(FlSubst *s, const FlUses *uses, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, uses, op->regions[i]);
    FlOp *take = op->code == FL_OP_SORT_PERM && is_plain(op) ? take_of(s, uses, op) : NULL;
    if (!take) continue;
    FlBuilder b = fl_opt_before(op);
    b.span = op->span;
    FlOp *sorted = fl_ir_op(&b, FL_OP_SORT_VALUES, 1, op->args, 1, &take->results[0]->type, 0);
    fl_ir_set_columns(b.module->arena, sorted, 1, op->attrs.columns);
    fl_subst_set(s, take->results[0], sorted->results[0]);
    if (next == take) next = take->next;
    fl_ir_remove(take);
    fl_ir_remove(op);
  }
  fl_subst_yields(s, r);
}

void fl_opt_sorted(FlModule *m) { fl_opt_each_body(m, visit); }
