/* parts_whole.c: groups of a file of which most rows are groups of their own. Their states would be no fewer
 * than the rows, so the file is read as a whole, and what was to take states of groups takes its rows.
 *
 *   %g, %id, %first = group %k             %g, %v, %t = if %whole {
 *   %v = aggregate %g, %id, %x        ->     group, aggregate, take of the rows as they were
 *   %t = take %first, %k                   } else { of the states that all parts gave }
 *
 * In: the one fold of a reader, of groups of all its rows, whose operations may stand in one place. Out: that
 * branch; the fold is of the operations in its second side. What always holds: they stand where the last of
 * them stood; what is between fails in nothing and reads nothing of theirs, so errors come in their order. */
#include "opt/parts_internal.h"

static bool is_own(const FlPartFold *fold, const FlOp *op) {
  bool own = op == fold->group;
  for (int i = 0; i < fold->ops.n; i++) own |= fold->ops.at[i] == op;
  return own;
}

/* An operation between them that may stay before them all. */
static bool may_pass(const FlPartFold *fold, const FlOp *op) {
  if (op->n_regions || fl_ir_may_fault(op) || fl_ir_is_effect(op) || fl_opt_has_note(op)) return false;
  for (int i = 0; i < op->n_args; i++)
    if (op->args[i]->op && is_own(fold, op->args[i]->op)) return false;
  return true;
}

/* The last of them; NULL: they may not stand in one place. */
static FlOp *last_of(const FlPartFold *fold) {
  int left = fold->ops.n;
  for (FlOp *op = fold->group->next; op; op = op->next) {
    if (!is_own(fold, op) && !may_pass(fold, op)) return NULL;
    left -= is_own(fold, op);
    if (!left) return op;
  }
  return NULL;
}

static void add_columns(const FlParts *p, const FlPartFold *fold, const FlOp *op, FlPartValues *out) {
  for (int i = 0; i < op->n_args; i++) {
    FlValue *v = op->args[i];
    if (!v->type.rank || fl_part_space(p, v) != fold->space || fl_map_get(out->has, v)) continue;
    fl_map_set(out->has, v, v);
    fl_vec_push(p->arena, out, v);
  }
  for (int k = 0; k < op->n_regions; k++)
    for (const FlOp *in = op->regions[k]->first; in; in = in->next) add_columns(p, fold, in, out);
}

bool fl_parts_may_be_whole(const FlParts *p, FlPartValues *columns) {
  FlPartFold *fold = p->folds.n == 1 ? p->folds.at[0] : NULL;
  if (!fold || !fold->group || fold->space->index || p->rows || p->loud.n || !fold->ops.n) return false;
  if (!last_of(fold)) return false;
  columns->has = fl_map_make(p->arena);
  add_columns(p, fold, fold->group, columns);
  for (int i = 0; i < fold->ops.n; i++) add_columns(p, fold, fold->ops.at[i], columns);
  return true;
}

/* What the operations give to others: the number of groups, values, keys. */
static int gives(FlParts *p, const FlPartFold *fold, FlValue ***out, FlSpan **places) {
  int n = 1, at = 0;
  for (int i = 0; i < fold->ops.n; i++) n += fold->ops.at[i]->n_results;
  *out = FL_NEW_ARRAY(p->arena, FlValue *, n);
  *places = FL_NEW_ARRAY(p->func->module->arena, FlSpan, n);
  (*places)[at] = fl_ir_place(fold->group, 0);
  (*out)[at++] = fold->group->results[0];
  for (int i = 0; i < fold->ops.n; i++) {
    for (int k = 0; k < fold->ops.at[i]->n_results; k++) {
      (*places)[at] = fl_ir_place(fold->ops.at[i], k);
      (*out)[at++] = fold->ops.at[i]->results[k];
    }
  }
  return n;
}

/* The fold is of the operations in `copies`, which are as those in `originals`. */
static void go_on_with(FlPartFold *fold, const FlRegion *originals, const FlRegion *copies) {
  FlOp *copy = copies->first;
  FlOp *group = fold->group;
  for (const FlOp *op = originals->first; op; op = op->next, copy = copy->next) {
    if (op == group) fold->group = copy;
    for (int i = 0; i < fold->ops.n; i++)
      if (fold->ops.at[i] == op) fold->ops.at[i] = copy;
  }
}

void fl_parts_stand(FlParts *p, FlValue *whole, const FlPartValues *columns, FlValue *const *rows) {
  FlPartFold *fold = p->folds.at[0];
  FlOp *last = last_of(fold), *next;
  FlBuilder b = fl_opt_before(last);
  b.before = last->next;
  b.span = fold->group->span;
  FlModule *m = b.module;
  FlValue **given;
  FlSpan *places;
  int n = gives(p, fold, &given, &places);
  FlType1 *types = FL_NEW_ARRAY(m->arena, FlType1, n);
  for (int k = 0; k < n; k++) types[k] = given[k]->type;
  FlOp *either = fl_ir_op(&b, FL_OP_IF, 1, &whole, n, types, 2);
  either->places = places;
  FlRegion *of_rows = fl_ir_region(&b, either, 0, 0, NULL);
  for (FlOp *op = fold->group; op != either; op = next) { /* in their order */
    next = op->next;
    if (is_own(fold, op)) fl_ir_move_into(op->parent, op->prev, next, of_rows);
  }
  fl_ir_yield(of_rows, m, n, given);
  FlRegion *of_states = fl_ir_region(&b, either, 1, 0, NULL);
  FlBuilder in = {.module = m, .func = b.func, .region = of_states, .span = b.span};
  FlValue **copies = FL_NEW_ARRAY(p->arena, FlValue *, n);
  fl_ir_inline_region(&in, of_rows, NULL, copies);
  fl_ir_yield(of_states, m, n, copies);
  go_on_with(fold, of_rows, of_states);
  for (int i = 0; i < columns->n; i++) fl_ir_replace_in(of_rows, columns->at[i], rows[i]);
  FlSubst subst = {0};
  for (int k = 0; k < n; k++) fl_subst_set(&subst, given[k], either->results[k]);
  for (FlOp *op = either->next; op; op = op->next) {
    fl_subst_args(&subst, op);
    for (int k = 0; k < op->n_regions; k++) fl_subst_region(&subst, op->regions[k]);
  }
  fl_subst_yields(&subst, either->parent);
  fl_subst_reset(&subst);
}
