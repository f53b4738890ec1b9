/* tops.c: of rows that are sorted only for the first few of them the others are not sorted: SORT_PERM becomes
 * TOP_ROWS.
 *
 * In: a SORT_PERM whose rows one TAKE takes, of whose results nobody asks for more than ROWS from 0 to k.
 * Out: TOP_ROWS of k, its rows taken, and ROWS of these, which then are all. What always holds: TOP_ROWS
 * gives the first rows as they would be sorted, so k rows where there are k; where there are not, ROWS fails
 * as before. */
#include "opt/opt_internal.h"

/* A number of rows that is not negative. */
static bool counts(const FlValue *v) {
  int64_t n;
  if (fl_ir_const_value_i(v, &n)) return n >= 0;
  if (!v->op) return false;
  if (v->op->code == FL_OP_MAX) return counts(v->op->args[0]) || counts(v->op->args[1]);
  if (v->op->code == FL_OP_MIN) return counts(v->op->args[0]) && counts(v->op->args[1]);
  return v->op->code == FL_OP_DIM;
}

/* Up to which row of v the op wants, from 0 on; NULL: it wants more than that, or elsewhere. */
static FlValue *end_of(const FlValue *v, const FlOp *op) {
  int64_t from;
  bool leading = op && op->code == FL_OP_ROWS && op->args[0] == v && op->args[2] != v &&
                 fl_ir_const_value_i(op->args[1], &from) && from == 0 && counts(op->args[2]) &&
                 op->parent == v->region;
  return leading ? op->args[2] : NULL;
}

/* How many rows are wanted of all results of the TAKE, and the first op that wants some; NULL: not that
 * alone. */
static FlValue *wanted(const FlUses *uses, const FlOp *take, FlOp **first) {
  FlValue *end = NULL;
  *first = NULL;
  for (int k = 0; k < take->n_results; k++) {
    const FlValue *v = take->results[k];
    for (uint32_t i = 0; i < fl_opt_n_uses(uses, v); i++) {
      FlValue *its = end_of(v, fl_opt_use(uses, v, i));
      if (!its || (end && its != end)) return NULL;
      end = its;
    }
  }
  for (FlOp *op = take->next; op && end && !*first; op = op->next)
    if (op->code == FL_OP_ROWS && op->args[0]->op == take) *first = op;
  return end;
}

/* The TAKE by `sort`, and SORT_PERM before it, become a TAKE by TOP_ROWS in front of `at`. */
static void replace(FlSubst *s, FlOp *sort, FlOp *take, FlValue *end, FlOp *at) {
  FlBuilder b = fl_opt_before(at);
  FlArena *arena = b.module->arena;
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, sort->n_args + 1);
  args[0] = end;
  memcpy(args + 1, sort->args, sizeof *args * (size_t)sort->n_args);
  b.span = sort->span;
  FlOp *top = fl_ir_op(&b, FL_OP_TOP_ROWS, sort->n_args + 1, args, 1, &sort->results[0]->type, 0);
  fl_ir_set_columns(arena, top, sort->attrs.n_columns, sort->attrs.columns);
  FlValue **arrays = FL_NEW_ARRAY(arena, FlValue *, take->n_args);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, take->n_results + 1);
  memcpy(arrays, take->args, sizeof *arrays * (size_t)take->n_args);
  arrays[0] = top->results[0];
  for (int k = 0; k < take->n_results; k++) types[k] = take->results[k]->type;
  b.span = take->span;
  FlOp *rows = fl_ir_op(&b, FL_OP_TAKE, take->n_args, arrays, take->n_results, types, 0);
  rows->attrs.i = take->attrs.i;
  rows->places = take->places;
  for (int k = 0; k < take->n_results; k++) fl_subst_narrow(s, take->results[k], rows->results[k]);
  fl_ir_remove(take);
  fl_ir_remove(sort);
}

static void visit(FlSubst *s, const FlUses *uses, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, uses, op->regions[i]);
    if (op->code != FL_OP_SORT_PERM) continue;
    FlOp *take = fl_opt_only_use(uses, op->results[0]), *at;
    bool alone = take && take->code == FL_OP_TAKE && take->args[0] == op->results[0] && take->parent == r &&
                 take->attrs.i == FL_TAKE_PROVEN;
    FlValue *end = alone ? wanted(uses, take, &at) : NULL;
    if (!end || !at) continue;
    if (next == take) next = take->next;
    replace(s, op, take, end, at);
  }
  fl_subst_yields(s, r);
}

void fl_opt_tops(FlModule *m) { fl_opt_each_body(m, visit); }
