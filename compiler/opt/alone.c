/* alone.c: reductions along columns stand alone, so that each part of the rows can be swept by itself where
 * rows lie in parts (exec/ranks_columns.c): what is computed of them, as a mean of a sum, is a MAP behind
 * them, and how many rows there are is a value that is read, also where it is known.
 *
 * What always holds: no bit changes, and nothing fails elsewhere: reductions along columns cannot fail. */
#include "opt/columns.h"

enum { FEW_ROWS = 1024 }; /* as many lie in parts nowhere but in tests */

/* The array of which the terms read row i; NULL: there is none. */
static FlValue *rows_of(const FlOp *map, const FlOp *reduce) {
  const FlRegion *terms = reduce->regions[0];
  for (const FlOp *op = terms->first; op; op = op->next)
    if (op->code == FL_OP_LOAD && op->n_args > 2 && op->args[1] == terms->params[0] &&
        !fl_ir_made_within(op->args[0], map))
      return op->args[0];
  return NULL;
}

static bool stands_alone(const FlOp *map, const FlOp *reduce) {
  const FlRegion *r = map->regions[0];
  if (reduce->next || r->n_yields != reduce->n_results) return false;
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] != reduce->results[i]) return false;
  return true;
}

static FlOp *copy(FlBuilder *b, const FlSubst *s, const FlOp *op) {
  FlType1 types[16];
  for (int i = 0; i < op->n_results; i++) types[i] = op->results[i]->type;
  b->span = op->span;
  FlOp *new = fl_ir_op(b, op->code, op->n_args, op->args, op->n_results, types, op->n_regions);
  new->attrs = op->attrs;
  new->places = op->places;
  fl_subst_args(s, new);
  return new;
}

/* The number of rows, as a value: no row that is read is outside of the array. */
static FlValue *number_of(FlBuilder *b, FlValue *rows, FlValue *n) {
  int64_t known;
  if (!fl_ir_const_value_i(n, &known)) return n;
  n = fl_ir_const_i(b, FL_I64, known);
  FlOp *dim = known < FEW_ROWS ? NULL : fl_ir_op(b, FL_OP_DIM, 1, &rows, 1, &n->type, 0);
  return dim ? fl_ir_binary(b, FL_OP_MIN, dim->results[0], n) : n;
}

static bool is_short(const FlOp *map, const FlOp *reduce) {
  for (const FlOp *op = map->regions[0]->first; op; op = op->next)
    if (op->n_results > 16) return false;
  return reduce->n_results <= 16 && reduce->n_results > 0;
}

/* A MAP of the reductions alone, before this one, which then reads what they gave. */
static void split(FlSubst *outer, FlOp *map, FlOp *reduce, FlValue *rows) {
  FlBuilder b = fl_opt_before(map);
  FlRegion *r = map->regions[0];
  FlType1 arrays[16], index[FL_MAX_RANK];
  for (int k = 0; k < map->n_args; k++) index[k] = fl_t_scalar(FL_I64);
  for (int i = 0; i < reduce->n_results; i++)
    arrays[i] = fl_t_array((FlDtype)reduce->results[i]->type.dtype, map->n_args);
  FlValue *n = number_of(&b, rows, reduce->args[0]);
  FlOp *sums = fl_ir_op(&b, FL_OP_MAP, map->n_args, map->args, reduce->n_results, arrays, 1);
  FlRegion *body = fl_ir_region(&b, sums, 0, map->n_args, index);
  FlSubst s = {0};
  for (int k = 0; k < map->n_args; k++) fl_subst_set(&s, r->params[k], body->params[k]);
  FlBuilder in = b;
  in.region = body;
  in.before = NULL;
  for (const FlOp *op = r->first; op != reduce; op = op->next) {
    FlOp *again = copy(&in, &s, op);
    for (int i = 0; i < op->n_results; i++) fl_subst_set(&s, op->results[i], again->results[i]);
  }
  FlOp *alone = copy(&in, &s, reduce);
  alone->args[0] = n;
  alone->regions[0] = reduce->regions[0];
  alone->regions[0]->owner = alone;
  fl_subst_region(&s, alone->regions[0]);
  fl_ir_yield(body, b.module, alone->n_results, alone->results);
  FlBuilder at = fl_opt_before(reduce);
  for (int i = 0; i < reduce->n_results; i++)
    fl_subst_set(outer, reduce->results[i], fl_ir_load(&at, sums->results[i], map->n_args, r->params, true));
  fl_subst_reset(&s);
  fl_ir_remove(reduce);
  fl_subst_region(outer, r);
}

static void visit(FlSubst *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) visit(s, op->regions[i]);
    if (op->code != FL_OP_MAP || op->attrs.i || fl_opt_in_loop(r)) continue;
    FlOp *reduce = (FlOp *)(uintptr_t)fl_opt_column_fold(op);
    FlValue *rows = reduce ? rows_of(op, reduce) : NULL;
    if (!rows || !is_short(op, reduce)) continue;
    FlBuilder b = fl_opt_before(op);
    int64_t known;
    if (!stands_alone(op, reduce)) split(s, op, reduce, rows);
    else if (fl_ir_const_value_i(reduce->args[0], &known) && known >= FEW_ROWS)
      reduce->args[0] = number_of(&b, rows, reduce->args[0]);
  }
}

void fl_opt_alone(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    FlSubst s = {0};
    visit(&s, f->body);
    fl_subst_reset(&s);
  }
}
