/* quiet.c: what may fail, in a part of a file: sums and products of whole numbers and decimals, which may not
 * fit their 64 bits. In the part they wrap around, and the part says whether any did; where the program has
 * them stands what finds the error, which is run only then.
 *
 *   %m = map %n { decimal_mul }      ->      in the part:   %m, %w = map %n { wrap_mul, product_overflows }
 *                                                           %f = reduce<any> %w
 *                                            in its place:  if any %f { the whole file, and all up to %m }
 *
 * What always holds: results that are used are exact, since else the program has ended; errors are those of
 * the program, where it has them and with their rows. */
#include "opt/parts_internal.h"

#include <string.h>

static bool is_whole(const FlType1 *t) {
  return t->rank == 0 && !t->depth && (t->dtype == FL_I64 || fl_dtype_is_decimal((FlDtype)t->dtype));
}

/* The digits that a DECIMAL_SCALE puts behind the point; -1: it is none, or takes some away. */
static int64_t more_digits(const FlOp *op) {
  int64_t more;
  bool scales = op->code == FL_OP_DECIMAL_SCALE && fl_ir_const_value_i(op->args[1], &more);
  return scales && more >= 0 && more <= 18 ? more : -1;
}

bool fl_parts_may_wrap(const FlOp *op) {
  bool one = op->code == FL_OP_NEG, two = op->code == FL_OP_ADD || op->code == FL_OP_SUB ||
                                          op->code == FL_OP_MUL || op->code == FL_OP_DECIMAL_MUL;
  if (one || two) return is_whole(&op->args[0]->type) && (one || is_whole(&op->args[1]->type));
  return more_digits(op) >= 0;
}

bool fl_parts_wraps(const FlOp *map) {
  for (const FlOp *op = map->regions[0]->first; op; op = op->next)
    if (fl_ir_may_fault(op)) return true;
  return false;
}

/* ---- what finds the error ------------------------------------------------------------------------------ */

FlOp *fl_parts_guard(FlOp *map) {
  FlBuilder b = fl_opt_before(map);
  FlValue *no = fl_ir_const_i(&b, FL_BOOL, 0);
  FlOp *guard = fl_ir_op(&b, FL_OP_IF, 1, &no, 0, NULL, 2);
  for (int k = 0; k < 2; k++) {
    fl_ir_region(&b, guard, k, 0, NULL);
    fl_ir_yield(guard->regions[k], b.module, 0, NULL);
  }
  return guard;
}

/* The operations of the part up to the map, of the whole file. */
static void find_error(FlOp *guard, const FlRegion *part, const FlOp *map) {
  static const char changed[] = "a file changed while it was being read";
  FlBuilder b = fl_opt_before(guard);
  FlRegion *r = guard->regions[0];
  FlBuilder in = {.module = b.module, .func = b.func, .region = r, .span = map->span};
  FlValue *whole = fl_ir_const_i(&in, FL_I64, -1);
  fl_ir_inline_region(&in, part, &whole, NULL);
  FlOp *copy = whole->op->next;
  for (const FlOp *op = part->first; op != map; op = op->next) copy = copy->next;
  while (r->last != copy) fl_ir_remove(r->last);
  FlValue *why = fl_ir_const_t(&in, changed, (int)strlen(changed));
  FlOp *fail = fl_ir_op(&in, FL_OP_FAIL, 1, &why, 0, NULL, 0);
  fail->attrs.i = FL_FAULT_ERROR;
}

/* ---- in the part --------------------------------------------------------------------------------------- */

static FlValue *units(FlBuilder *b, FlValue *v) {
  return v->type.dtype == FL_I64 ? v : fl_ir_convert(b, v, FL_I64);
}

/* The operation with a result that wraps around, in place of op; whether it did. */
static FlValue *wrap(FlOp *op, FlValue **result) {
  FlBuilder b = fl_opt_before(op);
  FlOpcode code = FL_OP_WRAP_MUL, asks = FL_OP_PRODUCT_OVERFLOWS;
  FlValue *x = units(&b, op->args[0]), *y;
  if (op->code == FL_OP_NEG) {
    y = x;
    x = fl_ir_const_i(&b, FL_I64, 0);
  } else if (op->code == FL_OP_DECIMAL_SCALE) {
    int64_t power = 1;
    for (int64_t k = more_digits(op); k > 0; k--) power *= 10;
    y = fl_ir_const_i(&b, FL_I64, power);
  } else {
    y = units(&b, op->args[1]);
  }
  if (op->code == FL_OP_ADD) {
    code = FL_OP_WRAP_ADD;
    asks = FL_OP_SUM_OVERFLOWS;
  } else if (op->code == FL_OP_SUB || op->code == FL_OP_NEG) {
    code = FL_OP_WRAP_SUB;
    asks = FL_OP_DIFFERENCE_OVERFLOWS;
  }
  FlDtype to = (FlDtype)op->results[0]->type.dtype;
  FlValue *wrapped = fl_ir_binary(&b, code, x, y);
  *result = to == FL_I64 ? wrapped : fl_ir_convert(&b, wrapped, to);
  FlType1 flag = fl_t_scalar(FL_BOOL);
  return fl_ir_op(&b, asks, 2, (FlValue *[]){x, y}, 1, &flag, 0)->results[0];
}

/* The map gives one result more: which of its elements wrapped around. */
static void make_quiet(FlParts *p, FlOp *map) {
  FlRegion *r = map->regions[0];
  FlBuilder b = fl_opt_before(map), in = {.module = b.module, .func = b.func, .region = r, .span = map->span};
  FlValue *any = NULL;
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    if (!fl_ir_may_fault(op)) continue;
    FlValue *result, *flag = wrap(op, &result);
    FlBuilder at = fl_opt_before(op);
    any = any ? fl_ir_binary(&at, FL_OP_OR, any, flag) : flag;
    fl_ir_replace_in(r, op->results[0], result);
    fl_ir_remove(op);
  }
  int n = r->n_yields;
  FlValue **yields = FL_NEW_ARRAY(p->arena, FlValue *, n + 1);
  for (int i = 0; i < n; i++) yields[i] = r->yields[i];
  yields[n] = any;
  fl_ir_yield(r, in.module, n + 1, yields);
  FlType1 *types = FL_NEW_ARRAY(p->arena, FlType1, n + 1);
  FlValue **results = map->results; /* which others have already */
  for (int i = 0; i < n; i++) types[i] = results[i]->type;
  types[n] = fl_t_array(FL_BOOL, 1);
  fl_ir_add_results(&b, map, n + 1, types);
  for (int i = 0; i < n; i++) map->results[i] = results[i];
}

/* Whether any of the flags is true. */
static FlValue *any_of(FlBuilder *b, FlValue *flags) {
  FlType1 index = fl_t_scalar(FL_I64), flag = fl_t_scalar(FL_BOOL);
  FlValue *n = fl_ir_dim(b, flags, 0);
  FlOp *any = fl_ir_op(b, FL_OP_REDUCE, 1, &n, 1, &flag, 1);
  fl_ir_set_reduction(any, FL_RED_ANY, false);
  FlRegion *r = fl_ir_region(b, any, 0, 1, &index);
  FlBuilder in = {.module = b->module, .func = b->func, .region = r, .span = b->span};
  FlValue *one = fl_ir_load(&in, flags, 1, r->params, true);
  fl_ir_yield(r, b->module, 1, &one);
  return any->results[0];
}

void fl_parts_quieten(FlParts *p, FlBuilder *in, FlPartValues *out) {
  FlType1 flags = fl_t_array(FL_BOOL, 1);
  for (int i = 0; i < p->loud.n; i++) find_error(p->loud.at[i].guard, in->region, p->loud.at[i].map);
  for (int i = 0; i < p->loud.n; i++) {
    FlPartLoud *l = &p->loud.at[i];
    make_quiet(p, l->map);
    in->span = l->map->span;
    FlValue *any = any_of(in, l->map->results[l->map->n_results - 1]);
    l->at = out->n;
    fl_vec_push(p->arena, out, fl_ir_op(in, FL_OP_ARRAY, 1, &any, 1, &flags, 0)->results[0]);
  }
}

void fl_parts_watch(FlParts *p, FlBuilder *b, FlValue *const *joined) {
  for (int i = 0; i < p->loud.n; i++) p->loud.at[i].guard->args[0] = any_of(b, joined[p->loud.at[i].at]);
}
