/* lists.c: lists of arrays, on their way back.
 *
 * The adjoint of a list is a list as long. What always holds: an element of it either has the sizes of the
 * element of the list, or no elements at all: then it is all zero. */
#include "ad/rules/rules.h"

static FlBuilder into(FlBuilder b, FlRegion *r) {
  b.region = r;
  b.before = NULL;
  return b;
}

/* An array of no elements. */
static FlValue *nothing(FlBuilder *b, FlType1 t) {
  FlValue *sizes[FL_MAX_RANK];
  for (int d = 0; d < t.rank; d++) sizes[d] = fl_ad_i64(b, 0);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, t.rank, sizes);
  FlValue *zero = fl_ir_const_f(b, (FlDtype)t.dtype, 0.0);
  fl_ad_loop_end(b, &m, 1, &zero);
  return m.op->results[0];
}

static FlValue *zeros_like(FlBuilder *b, FlValue *array) {
  FlValue *sizes[FL_MAX_RANK];
  fl_ad_sizes(b, array, sizes);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, array->type.rank, sizes);
  FlValue *zero = fl_ir_const_f(b, (FlDtype)array->type.dtype, 0.0);
  fl_ad_loop_end(b, &m, 1, &zero);
  return m.op->results[0];
}

static FlValue *at(FlBuilder *b, FlValue *list, FlValue *i) { return fl_ir_load(b, list, 1, &i, true); }

static FlOp *if_nothing(FlBuilder *b, FlValue *array) {
  FlValue *n = fl_ir_dim(b, array, 0), *args[1];
  for (int d = 1; d < array->type.rank; d++) n = fl_ir_binary(b, FL_OP_WRAP_MUL, n, fl_ir_dim(b, array, d));
  args[0] = fl_ir_binary(b, FL_OP_EQ, n, fl_ad_i64(b, 0));
  return fl_ir_op(b, FL_OP_IF, 1, args, 1, &array->type, 2);
}

FlValue *fl_ad_full(FlBuilder *b, FlValue *g, FlValue *like) {
  FlOp *choice = if_nothing(b, g);
  FlBuilder side = into(*b, fl_ir_region(b, choice, 0, 0, NULL));
  FlValue *zeros = zeros_like(&side, like);
  fl_ir_yield(side.region, b->module, 1, &zeros);
  fl_ir_yield(fl_ir_region(b, choice, 1, 0, NULL), b->module, 1, &g);
  return choice->results[0];
}

FlValue *fl_ad_more(FlBuilder *b, FlValue *so_far, FlValue *part) {
  FlOp *choice = if_nothing(b, so_far);
  fl_ir_yield(fl_ir_region(b, choice, 0, 0, NULL), b->module, 1, &part);
  FlBuilder side = into(*b, fl_ir_region(b, choice, 1, 0, NULL));
  FlValue *sum = fl_ad_plus(&side, so_far, part);
  fl_ir_yield(side.region, b->module, 1, &sum);
  return choice->results[0];
}

FlValue *fl_ad_sum_or(FlBuilder *b, FlValue *so_far, FlValue *part) {
  FlOp *choice = if_nothing(b, part);
  fl_ir_yield(fl_ir_region(b, choice, 0, 0, NULL), b->module, 1, &so_far);
  FlBuilder side = into(*b, fl_ir_region(b, choice, 1, 0, NULL));
  FlValue *sum = fl_ad_more(&side, so_far, part);
  fl_ir_yield(side.region, b->module, 1, &sum);
  return choice->results[0];
}

void fl_ad_tasks_end(FlBuilder *b, FlAdLoop *m, int n, FlValue *const *yields) {
  FlType1 *types = FL_NEW_ARRAY(b->module->arena, FlType1, n + 1);
  fl_ir_yield(m->region, b->module, n, yields);
  *b = m->outer;
  for (int k = 0; k < n; k++) {
    types[k] = yields[k]->type;
    if (fl_t_is_scalar(types[k])) types[k].rank = (uint8_t)m->op->n_args;
    else types[k].depth++;
  }
  fl_ir_add_results(b, m->op, n, types);
}

FlValue *fl_ad_list_zero(FlBuilder *b, FlValue *list) {
  FlValue *n = fl_ir_dim(b, list, 0);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &n);
  FlValue *zero = nothing(b, list->type);
  fl_ad_list_end(b, &m, zero);
  return m.op->results[0];
}

FlValue *fl_ad_list_plus(FlBuilder *b, FlValue *x, FlValue *y) {
  FlValue *n = fl_ir_dim(b, x, 0);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &n);
  FlValue *i = m.region->params[0], *sum = fl_ad_sum_or(b, at(b, x, i), at(b, y, i));
  fl_ad_list_end(b, &m, sum);
  return m.op->results[0];
}

FlValue *fl_ad_list_add(FlBuilder *b, FlValue *list, FlValue *i, FlValue *part) {
  FlValue *sum = fl_ad_more(b, at(b, list, i), part);
  return fl_ad_op(b, FL_OP_STORE, 3, (FlValue *[]){list, i, sum}, list->type, 1);
}

/* ---- rules ---- */

static void loaded(const FlAdBulk *k) {
  FlValue *list = k->op->args[0], *so_far = fl_ad_adjoint(k->f, list);
  if (!so_far) {
    so_far = fl_ad_list_zero(k->b, fl_ad_arg(k, 0));
    fl_ad_add(k->f, list, so_far);
  }
  fl_ad_set(k->f, list, fl_ad_list_add(k->b, so_far, fl_ad_arg(k, 1), k->g));
}

static void stored(const FlAdBulk *k) {
  FlValue *i = fl_ad_arg(k, 1);
  if (fl_ad_wants(k, 2)) fl_ad_give(k, 2, fl_ad_full(k->b, at(k->b, k->g, i), fl_ad_arg(k, 2)));
  if (!fl_ad_wants(k, 0)) return;
  FlValue *args[3] = {k->g, i, nothing(k->b, k->op->args[2]->type)};
  fl_ad_give(k, 0, fl_ad_op(k->b, FL_OP_STORE, 3, args, k->g->type, 1));
}

static void listed(const FlAdBulk *k) {
  for (int i = 0; i < k->op->n_args; i++)
    if (fl_ad_wants(k, i))
      fl_ad_give(k, i, fl_ad_full(k->b, at(k->b, k->g, fl_ad_i64(k->b, i)), fl_ad_arg(k, i)));
}

bool fl_ad_is_of_list(const FlOp *op) {
  return op->code == FL_OP_LIST_OF ||
         ((op->code == FL_OP_LOAD || op->code == FL_OP_STORE) && op->args[0]->type.depth);
}

bool fl_ad_of_list(const FlAdBulk *k) {
  if (k->op->code == FL_OP_LOAD) loaded(k);
  else if (k->op->code == FL_OP_STORE) stored(k);
  else listed(k);
  return true;
}
