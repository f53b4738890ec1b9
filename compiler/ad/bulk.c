/* bulk.c: a rule for each operator of host code that is no loop and no linear algebra: those that put
 * elements in other places. */
#include "ad/ad_internal.h"

static FlValue *rows(const FlAdBulk *k, FlValue *a, FlValue *from, FlValue *to) {
  return fl_ad_op(k->b, FL_OP_ROWS, 3, (FlValue *[]){a, from, to}, a->type, 0);
}

static FlValue *at(const FlAdBulk *k, FlValue *line, FlValue *i) {
  return fl_ir_load(k->b, line, 1, &i, true);
}

/* The element of the adjoint with g added, in place where there is one already. */
static void add_element(const FlAdBulk *k, FlValue *so_far) {
  int rank = so_far->type.rank;
  FlValue *args[FL_MAX_RANK + 2] = {so_far};
  for (int i = 0; i < rank; i++) args[i + 1] = fl_ad_arg(k, i + 1);
  FlValue *old = fl_ir_load(k->b, so_far, rank, args + 1, k->op->attrs.i != 0);
  args[rank + 1] = fl_ir_binary(k->b, FL_OP_ADD, old, k->g);
  fl_ad_set(k->f, k->op->args[0], fl_ad_op(k->b, FL_OP_STORE, rank + 2, args, so_far->type, k->op->attrs.i));
}

/* An array like arg 0 that is g where all indices are these, else 0. */
static void one_element(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *sizes[FL_MAX_RANK], *here = NULL;
  FlValue *so_far = fl_ad_adjoint(k->f, k->op->args[0]);
  if (so_far) {
    add_element(k, so_far);
    return;
  }
  fl_ad_sizes(k->b, a, sizes);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, a->type.rank, sizes);
  for (int i = 0; i < a->type.rank; i++) {
    FlValue *same = fl_ir_binary(k->b, FL_OP_EQ, m.region->params[i], fl_ad_arg(k, i + 1));
    here = here ? fl_ir_binary(k->b, FL_OP_AND, here, same) : same;
  }
  FlValue *v = fl_ir_select(k->b, here, k->g, fl_ir_const_f(k->b, (FlDtype)a->type.dtype, 0.0));
  fl_ad_loop_end(k->b, &m, 1, &v);
  fl_ad_give(k, 0, m.op->results[0]);
}

/* Rows [from, to) of an array: g there, else 0. */
static void some_rows(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *from = fl_ad_arg(k, 1), *to = fl_ad_arg(k, 2), *sizes[FL_MAX_RANK],
          *index[FL_MAX_RANK];
  fl_ad_sizes(k->b, a, sizes);
  FlType1 scalar = fl_t_scalar((FlDtype)a->type.dtype);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, a->type.rank, sizes);
  FlValue *i = m.region->params[0];
  FlValue *in = fl_ir_binary(k->b, FL_OP_AND, fl_ir_binary(k->b, FL_OP_LE, from, i),
                             fl_ir_binary(k->b, FL_OP_LT, i, to));
  FlOp *op = fl_ir_op(k->b, FL_OP_IF, 1, &in, 1, &scalar, 2);
  FlBuilder side = *k->b;
  side.region = fl_ir_region(&side, op, 0, 0, NULL);
  index[0] = fl_ir_binary(&side, FL_OP_WRAP_SUB, i, from);
  for (int d = 1; d < a->type.rank; d++) index[d] = m.region->params[d];
  FlValue *v = fl_ir_load(&side, k->g, a->type.rank, index, false);
  fl_ir_yield(side.region, side.module, 1, &v);
  side.region = fl_ir_region(&side, op, 1, 0, NULL);
  v = fl_ir_const_f(&side, (FlDtype)a->type.dtype, 0.0);
  fl_ir_yield(side.region, side.module, 1, &v);
  fl_ad_loop_end(k->b, &m, 1, op->results);
  fl_ad_give(k, 0, m.op->results[0]);
}

static void joined(const FlAdBulk *k) {
  FlValue *from = fl_ad_i64(k->b, 0);
  for (int i = 0; i < k->op->n_args; i++) {
    FlValue *to = fl_ir_binary(k->b, FL_OP_WRAP_ADD, from, fl_ir_dim(k->b, fl_ad_arg(k, i), 0));
    if (fl_ad_wants(k, i)) fl_ad_give(k, i, rows(k, k->g, from, to));
    from = to;
  }
}

static FlValue *reshaped(const FlAdBulk *k, FlValue *a, int n, FlValue *const *sizes) {
  FlValue *args[FL_MAX_RANK + 1] = {a};
  for (int i = 0; i < n; i++) args[i + 1] = sizes[i];
  return fl_ad_op(k->b, FL_OP_RESHAPE, n + 1, args, fl_t_array((FlDtype)a->type.dtype, n), 0);
}

/* Rows taken by number, the first of them result `from`: what stands for each counts where it was taken from.
 */
static bool rows_taken(const FlAdBulk *k, FlValue *label, int from) {
  for (int r = from; r < k->op->n_results; r++) {
    FlValue *g = fl_ad_adjoint(k->f, k->op->results[r]), *sizes[FL_MAX_RANK];
    int i = r - from + 1;
    if (!g || !fl_ad_wants(k, i)) continue;
    FlValue *a = fl_ad_arg(k, i);
    int rank = a->type.rank;
    fl_ad_sizes(k->b, a, sizes);
    if (rank > 2) { /* rows of numbers */
      FlValue *wide = sizes[1];
      for (int d = 2; d < rank; d++) wide = fl_ir_binary(k->b, FL_OP_WRAP_MUL, wide, sizes[d]);
      g = reshaped(k, g, 2, (FlValue *[]){fl_ir_dim(k->b, label, 0), wide});
    }
    FlValue *sum = fl_ad_op(k->b, FL_OP_SEGMENT_SUM, 3, (FlValue *[]){g, label, sizes[0]}, g->type, 0);
    fl_ad_give(k, i, rank > 2 ? reshaped(k, sum, rank, sizes) : sum);
  }
  return true;
}

static bool taken(const FlAdBulk *k) {
  if (k->op->attrs.i & FL_TAKE_OR_ZERO) return fl_ad_fail_op(k->f->ad, k->op, " of rows that may be missing");
  return rows_taken(k, fl_ad_arg(k, 0), 0);
}

/* Rows that a mask keeps: by their numbers, they are rows that were taken. */
static bool compressed(const FlAdBulk *k) {
  FlValue *mask = fl_ad_arg(k, 0), *n = fl_ir_dim(k->b, mask, 0);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, 1, &n);
  fl_ad_loop_end(k->b, &m, 1, m.region->params);
  FlType1 types[2] = {fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1)};
  FlOp *op = fl_ir_op(k->b, FL_OP_COMPRESS, 2, (FlValue *[]){mask, m.op->results[0]}, 2, types, 0);
  return rows_taken(k, op->results[1], 1);
}

/* Each row counts what the sum of its label does. */
static void segments(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *label = fl_ad_arg(k, 1), *sizes[FL_MAX_RANK], *index[FL_MAX_RANK];
  fl_ad_sizes(k->b, a, sizes);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, a->type.rank, sizes);
  index[0] = at(k, label, m.region->params[0]);
  for (int d = 1; d < a->type.rank; d++) index[d] = m.region->params[d];
  FlValue *v = fl_ir_load(k->b, k->g, a->type.rank, index, false);
  fl_ad_loop_end(k->b, &m, 1, &v);
  fl_ad_give(k, 0, m.op->results[0]);
}

/* One element replaced: its adjoint is the new value's, and the old one counts nothing. */
static void stored(const FlAdBulk *k) {
  int n = k->op->n_args;
  FlValue **args = FL_NEW_ARRAY(k->f->ad->arena, FlValue *, n);
  for (int i = 1; i < n - 1; i++) args[i] = fl_ad_arg(k, i);
  if (fl_ad_wants(k, n - 1))
    fl_ad_give(k, n - 1, fl_ir_load(k->b, k->g, n - 2, args + 1, k->op->attrs.i != 0));
  if (!fl_ad_wants(k, 0)) return;
  args[0] = k->g;
  args[n - 1] = fl_ir_const_f(k->b, (FlDtype)k->g->type.dtype, 0.0);
  fl_ad_give(k, 0, fl_ad_op(k->b, FL_OP_STORE, n, args, k->g->type, k->op->attrs.i));
}

static void listed(const FlAdBulk *k) {
  for (int i = 0; i < k->op->n_args; i++)
    if (fl_ad_wants(k, i)) fl_ad_give(k, i, at(k, k->g, fl_ad_i64(k->b, i)));
}

/* Arrays that were written side by side, as rows of one: each has its row of g. */
static bool stacked(const FlAdBulk *k) {
  const FlOp *list = k->op->args[0]->op;
  if (!list || list->code != FL_OP_LIST_OF) return fl_ad_fail_op(k->f->ad, k->op, " of a list");
  for (int i = 0; i < list->n_args; i++) {
    FlValue *v = list->args[i], *sizes[FL_MAX_RANK];
    if (!fl_ad_active(k->f->ad, v)) continue;
    fl_ad_sizes(k->b, fl_ad_at(k->f, v), sizes);
    FlValue *row = rows(k, k->g, fl_ad_i64(k->b, i), fl_ad_i64(k->b, i + 1));
    fl_ad_add(k->f, v, reshaped(k, row, v->type.rank, sizes));
  }
  return true;
}

bool fl_ad_bulk(FlAdFrame *f, FlOp *op) {
  FlAdBulk bulk = {f, &f->b, op, fl_ad_adjoint(f, op->results[0])};
  const FlAdBulk *k = &bulk;
  if (op->code == FL_OP_LIST_STACK) return stacked(k);
  for (int i = 0; i < op->n_args; i++)
    if (op->args[i]->type.depth) return fl_ad_fail_op(f->ad, op, " of a list");
  switch ((int)op->code) {
  case FL_OP_TRANSPOSE:
    fl_ad_give(k, 0, fl_ad_op(k->b, FL_OP_TRANSPOSE, 1, &k->g, k->g->type, 0));
    return true;
  case FL_OP_RESHAPE: {
    FlValue *sizes[FL_MAX_RANK], *a = fl_ad_arg(k, 0);
    fl_ad_sizes(k->b, a, sizes);
    fl_ad_give(k, 0, reshaped(k, k->g, a->type.rank, sizes));
    return true;
  }
  case FL_OP_LOAD: one_element(k); return true;
  case FL_OP_ROWS: some_rows(k); return true;
  case FL_OP_CONCAT: joined(k); return true;
  case FL_OP_TAKE: return taken(k);
  case FL_OP_COMPRESS: return compressed(k);
  case FL_OP_SEGMENT_SUM: segments(k); return true;
  case FL_OP_STORE: stored(k); return true;
  case FL_OP_ARRAY: listed(k); return true;
  case FL_OP_CALL: return fl_ad_fail(f->ad, op->span, "a function that calls itself");
  }
  return fl_ad_linalg(k);
}
