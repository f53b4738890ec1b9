/* filters.c: a filter of what another filter kept is one filter: rows are put together once.
 *
 *   %n, %a = compress %m, %c                   %n = compress %m        (how many rows the first one keeps)
 *   %k = map %n { .. %a[i] .. }         ->     %k = map (rows of %m) { .. %c[i] .. and %m[i] }
 *   %p, %b = compress %k, %a                   %p, %b = compress %k, %c
 *
 * In: a filter whose columns only the next one reads, each row at its own place. What always holds: what the
 * second one asks cannot fail, and costs so little that asking it of all rows is less than putting those that
 * the first one keeps together; the record of a run has the rows of both. */
#include "opt/opt_internal.h"

enum { MOST_OPS = 24 };       /* of what is asked, */
static const double MOST = 1; /* each of which costs so much at most */

/* The column that the first filter made `v` of; NULL: it is no column of it. */
static FlValue *source(const FlOp *first, const FlValue *v) {
  return v->op == first && v->index > 0 ? first->args[v->index] : NULL;
}

static bool is_own_row(const FlOp *load, const FlOp *map, const FlValue *column) {
  return load && load->code == FL_OP_LOAD && load->n_args == 2 && load->args[0] == column &&
         load->args[1] == map->regions[0]->params[0];
}

/* Whether columns of the first filter are read by the second one alone, and by what that asks. */
static bool only_feeds(const FlUses *uses, const FlOp *first, const FlOp *map, const FlOp *second) {
  for (int k = 1; k < first->n_results; k++) {
    const FlValue *column = first->results[k];
    for (uint32_t u = 0; u < fl_opt_n_uses(uses, column); u++) {
      const FlOp *by = fl_opt_use(uses, column, u);
      if (by != second && !(is_own_row(by, map, column) && by->parent == map->regions[0])) return false;
    }
  }
  return true;
}

/* Whether the number of the row is used to read columns of the first filter alone. */
static bool asks_columns(const FlUses *uses, const FlOp *first, const FlOp *map) {
  const FlValue *row = map->regions[0]->params[0];
  for (uint32_t u = 0; u < fl_opt_n_uses(uses, row); u++) {
    const FlOp *by = fl_opt_use(uses, row, u);
    if (!by || by->code != FL_OP_LOAD || !source(first, by->args[0]) || !is_own_row(by, map, by->args[0]))
      return false;
  }
  return fl_opt_n_uses(uses, row) > 0;
}

static bool is_text(const FlValue *v) { return fl_dtype_is_text((FlDtype)v->type.dtype); }

/* Numbers are computed and compared, texts are asked whether they are the same. */
static bool is_cheap(const FlRegion *r) {
  int n = 0;
  for (const FlOp *op = r->first; op; op = op->next) {
    if (n++ >= MOST_OPS || op->n_results != 1 || !fl_t_is_scalar(op->results[0]->type)) return false;
    if (op->code == FL_OP_CONST || (op->code == FL_OP_LOAD && op->n_args == 2)) continue;
    const FlOpInfo *info = &fl_op_info[op->code];
    if (op->n_regions || info->op_class != FL_CLASS_SCALAR || info->cost > MOST) return false;
    for (int i = 0; i < op->n_args; i++)
      if (is_text(op->args[i]) && op->code != FL_OP_EQ && op->code != FL_OP_NE) return false;
  }
  return true;
}

/* The filter before, of whose rows all columns are; NULL: the two are not one. */
static FlOp *first_of(const FlUses *uses, FlOp *second) {
  FlOp *map = second->args[0]->op;
  if (!map || map->code != FL_OP_MAP || map->n_args != 1 || map->n_results != 1 ||
      map->parent != second->parent || fl_opt_only_use(uses, map->results[0]) != second)
    return NULL;
  FlOp *first = map->args[0]->op;
  if (!first || first->code != FL_OP_COMPRESS || first->parent != second->parent ||
      map->args[0] != first->results[0] || fl_ir_may_fault(map) || fl_opt_has_note(map) ||
      !is_cheap(map->regions[0]))
    return NULL;
  for (int k = 1; k < second->n_args; k++)
    if (!source(first, second->args[k])) return NULL;
  return only_feeds(uses, first, map, second) && asks_columns(uses, first, map) ? first : NULL;
}

static void make_one(FlOp *first, FlOp *second) {
  FlOp *map = second->args[0]->op;
  FlRegion *r = map->regions[0];
  FlBuilder b = fl_opt_before(map);
  for (FlOp *op = r->first; op; op = op->next) {
    FlValue *from = op->code == FL_OP_LOAD ? source(first, op->args[0]) : NULL;
    if (from) op->args[0] = from;
  }
  map->args[0] = fl_ir_dim(&b, first->args[0], 0);
  b = (FlBuilder){.module = b.module, .func = b.func, .region = r, .span = map->span};
  FlValue *kept = fl_ir_load(&b, first->args[0], 1, r->params, true);
  kept->op->attrs.i = 2;
  FlValue *both = fl_ir_binary(&b, FL_OP_AND, kept, r->yields[0]);
  fl_ir_yield(r, b.module, 1, &both);
  for (int k = 1; k < second->n_args; k++) second->args[k] = source(first, second->args[k]);
  second->attrs.chained = true;
  first->n_args = first->n_results = 1;
  first->attrs.counts = true;
}

static void visit(FlSubst *s, const FlUses *uses, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_regions; i++) visit(s, uses, op->regions[i]);
    FlOp *first = op->code == FL_OP_COMPRESS ? first_of(uses, op) : NULL;
    if (first) make_one(first, op);
  }
}

void fl_opt_filters(FlModule *m) { fl_opt_each_body(m, visit); }
