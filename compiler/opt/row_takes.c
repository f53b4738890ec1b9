/* row_takes.c: copies of rows by their numbers that no loop took in are taken by an operator. `x[rows]` in
 * the body of a loop is a MAP, since the body may become a kernel; where the body is host code after all, and
 * the copy is still there, whole rows are moved, and of an array in a file those alone are read.
 *
 * What always holds: whether the copy is of whole rows, by numbers that are there, is looked at when it runs;
 * else the MAP does as before. Of numbers that are no rows both say the same. */
#include "opt/opt_internal.h"

/* Element (i, j, ...) is array[numbers[from + i], j, ...], where the number is below `size`. */
typedef struct Taking {
  FlValue *array, *numbers, *from; /* from: NULL for 0 */
  const FlOp *check;
} Taking;

static const FlOp *made_in(const FlRegion *r, const FlValue *v, FlOpcode code) {
  return v->region == r && v->op && v->op->code == code ? v->op : NULL;
}

static bool is_outside(const FlRegion *r, const FlValue *v) { return v->region != r; }

/* Whether `row` is numbers[from + i]; *n: operations of the body that say so. */
static bool is_number(const FlRegion *r, const FlValue *row, Taking *t, int *n) {
  const FlOp *load = made_in(r, row, FL_OP_LOAD);
  if (!load || load->n_args != 2 || load->attrs.i != 1 || !is_outside(r, load->args[0])) return false;
  const FlValue *at = load->args[1], *first = r->params[0];
  const FlOp *add = made_in(r, at, FL_OP_WRAP_ADD);
  t->numbers = load->args[0];
  t->from = NULL;
  *n = 1;
  if (at == first) return true;
  int own = add && add->args[0] == first ? 0 : 1;
  if (!add || add->args[own] != first || !is_outside(r, add->args[1 - own])) return false;
  t->from = add->args[1 - own];
  *n = 2;
  return true;
}

/* Whether the check in front of the last operation is that the row is one; it makes four operations. */
static bool is_checked(const FlRegion *r, const FlValue *row, const FlOp *check) {
  if (!check || check->code != FL_OP_CHECK || check->n_args != 3 || check->attrs.i != FL_FAULT_INDEX ||
      check->args[1] != row || !is_outside(r, check->args[2]))
    return false;
  const FlOp *both = made_in(r, check->args[0], FL_OP_AND);
  int64_t zero;
  for (int k = 0; both && k < 2; k++) {
    const FlOp *least = made_in(r, both->args[k], FL_OP_GE), *most = made_in(r, both->args[1 - k], FL_OP_LT);
    if (least && most && least->args[0] == row && most->args[0] == row && most->args[1] == check->args[2] &&
        fl_ir_const_value_i(least->args[1], &zero) && zero == 0)
      return true;
  }
  return false;
}

static bool is_taking(const FlOp *map, Taking *t) {
  if (map->code != FL_OP_MAP || map->n_results != 1 || map->n_args < 2 || map->attrs.i ||
      map->results[0]->type.depth || fl_dtype_is_text(map->results[0]->type.dtype))
    return false;
  const FlRegion *r = map->regions[0];
  const FlOp *load = r->last;
  if (!load || load->code != FL_OP_LOAD || r->yields[0] != load->results[0] || load->attrs.i != 1 ||
      load->n_args != map->n_args + 1 || load->args[0]->type.depth || !is_outside(r, load->args[0]))
    return false;
  for (int k = 1; k < map->n_args; k++)
    if (load->args[k + 1] != r->params[k]) return false;
  int n = 0, all = 0;
  if (!is_number(r, load->args[1], t, &n) || !is_checked(r, load->args[1], load->prev)) return false;
  for (const FlOp *op = r->first; op; op = op->next) all++;
  t->array = load->args[0];
  t->check = load->prev;
  return all == n + 5; /* the comparisons, `and`, the check and the load */
}

static FlValue * and (FlBuilder * b, FlValue *ok, FlOpcode code, FlValue *x, FlValue *y) {
  FlValue *more = fl_ir_binary(b, code, x, y);
  return ok ? fl_ir_binary(b, FL_OP_AND, ok, more) : more;
}

/* Puts the MAP in the second branch of an IF, whose first one is the operator. */
static FlOp *choice(FlOp *map, const Taking *t) {
  FlBuilder b = fl_opt_before(map);
  FlValue *zero = fl_ir_const_i(&b, FL_I64, 0), *from = t->from ? t->from : zero, *count = map->args[0];
  FlValue *to = t->from ? fl_ir_binary(&b, FL_OP_WRAP_ADD, from, count) : count;
  FlValue *ok = and(&b, NULL, FL_OP_LE, to, fl_ir_dim(&b, t->numbers, 0));
  ok = and(&b, ok, FL_OP_GE, from, zero);
  ok = and(&b, ok, FL_OP_GE, count, zero);
  ok = and(&b, ok, FL_OP_EQ, t->check->args[2], fl_ir_dim(&b, t->array, 0));
  for (int k = 1; k < map->n_args; k++) { /* without elements the MAP looks at no number */
    ok = and(&b, ok, FL_OP_EQ, map->args[k], fl_ir_dim(&b, t->array, k));
    ok = and(&b, ok, FL_OP_GT, map->args[k], zero);
  }
  FlOp *either = fl_opt_instead(map, ok, FL_OP_TAKE, 2, (FlValue *[]){t->numbers, t->array}, &t->array->type);
  FlOp *take = either->regions[0]->first;
  b = fl_opt_before(take);
  take->span = t->check->span;
  take->args[0] =
      fl_ir_op(&b, FL_OP_ROWS, 3, (FlValue *[]){t->numbers, from, to}, 1, &t->numbers->type, 0)->results[0];
  return either;
}

static void visit(FlSubst *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, op->regions[i]);
    Taking t;
    if (fl_opt_in_loop(r) && is_taking(op, &t)) fl_subst_set(s, op->results[0], choice(op, &t)->results[0]);
  }
  fl_subst_yields(s, r);
}

void fl_opt_row_takes(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    FlSubst s = {0};
    visit(&s, f->body);
    fl_subst_reset(&s);
  }
}
