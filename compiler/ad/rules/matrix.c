/* matrix.c: small words for the rules of matrices: products, loops over elements, pieces. In: values where
 * the builder stands. Out: values of ops that it adds there. Always: what is added is ordinary IR, which a
 * derivative may go through again. */
#include "ad/rules/rules.h"

FlValue *fl_ad_matmul(FlBuilder *b, FlValue *x, FlValue *y, int transposed) {
  FlDtype d = (FlDtype)x->type.dtype;
  int rank = x->type.rank + y->type.rank - 2;
  FlType1 t = rank ? fl_t_array(d, rank) : fl_t_scalar(d);
  return fl_ad_op(b, FL_OP_MATMUL, 2, (FlValue *[]){x, y}, t, transposed);
}

FlValue *fl_ad_turned(FlBuilder *b, FlValue *a) { return fl_ad_op(b, FL_OP_TRANSPOSE, 1, &a, a->type, 0); }

FlValue *fl_ad_solve(FlBuilder *b, FlValue *a, FlValue *rhs) {
  return fl_ad_op(b, FL_OP_SOLVE, 2, (FlValue *[]){a, rhs}, rhs->type, 0);
}

FlValue *fl_ad_reshape(FlBuilder *b, FlValue *a, int n, FlValue *const *sizes) {
  FlValue *args[FL_MAX_RANK + 1] = {a};
  for (int i = 0; i < n; i++) args[i + 1] = sizes[i];
  return fl_ad_op(b, FL_OP_RESHAPE, n + 1, args, fl_t_array((FlDtype)a->type.dtype, n), 0);
}

/* ---- loops over elements ---- */

typedef struct Each {
  FlAdLoop loop;
  FlValue *const *index;
  FlDtype dtype;
} Each;

/* A MAP over the elements of an array. */
static Each each_begin(FlBuilder *b, FlValue *a) {
  FlValue *sizes[FL_MAX_RANK];
  fl_ad_sizes(b, a, sizes);
  Each e = {.loop = fl_ad_loop(b, FL_OP_MAP, a->type.rank, sizes), .dtype = (FlDtype)a->type.dtype};
  e.index = e.loop.region->params;
  return e;
}

static FlValue *each_end(FlBuilder *b, Each *e, FlValue *v) {
  fl_ad_loop_end(b, &e->loop, 1, &v);
  return e->loop.op->results[0];
}

static FlValue *here(FlBuilder *b, const Each *e, FlValue *a) {
  return fl_ir_load(b, a, a->type.rank, e->index, true);
}

static FlValue *pairwise(FlBuilder *b, FlOpcode op, FlValue *x, FlValue *y) {
  Each e = each_begin(b, x);
  return each_end(b, &e, fl_ir_binary(b, op, here(b, &e, x), here(b, &e, y)));
}

FlValue *fl_ad_minus(FlBuilder *b, FlValue *x, FlValue *y) { return pairwise(b, FL_OP_SUB, x, y); }
FlValue *fl_ad_times(FlBuilder *b, FlValue *x, FlValue *y) { return pairwise(b, FL_OP_MUL, x, y); }

FlValue *fl_ad_scaled(FlBuilder *b, FlValue *a, FlValue *c) {
  Each e = each_begin(b, a);
  return each_end(b, &e, fl_ir_binary(b, FL_OP_MUL, here(b, &e, a), c));
}

FlValue *fl_ad_scaled_by(FlBuilder *b, FlValue *a, double c) {
  return fl_ad_scaled(b, a, fl_ir_const_f(b, (FlDtype)a->type.dtype, c));
}

static FlValue *by_vector(FlBuilder *b, FlOpcode op, FlValue *m, FlValue *v, int axis) {
  Each e = each_begin(b, m);
  return each_end(b, &e, fl_ir_binary(b, op, here(b, &e, m), fl_ir_load(b, v, 1, &e.index[axis], true)));
}

FlValue *fl_ad_by_column(FlBuilder *b, FlOpcode op, FlValue *m, FlValue *v) {
  return by_vector(b, op, m, v, 1);
}

FlValue *fl_ad_by_row(FlBuilder *b, FlOpcode op, FlValue *m, FlValue *v) { return by_vector(b, op, m, v, 0); }

FlValue *fl_ad_diagonal_of(FlBuilder *b, FlValue *m) {
  FlValue *n = fl_ir_dim(b, m, 0);
  FlAdLoop loop = fl_ad_loop(b, FL_OP_MAP, 1, &n);
  FlValue *i = loop.region->params[0];
  FlValue *v = fl_ir_load(b, m, 2, (FlValue *[]){i, i}, true);
  fl_ad_loop_end(b, &loop, 1, &v);
  return loop.op->results[0];
}

FlValue *fl_ad_diagonal(FlBuilder *b, FlValue *v) {
  FlValue *n = fl_ir_dim(b, v, 0), *sizes[2] = {n, n};
  FlAdLoop loop = fl_ad_loop(b, FL_OP_MAP, 2, sizes);
  FlValue *const *i = loop.region->params;
  FlValue *zero = fl_ir_const_f(b, (FlDtype)v->type.dtype, 0.0);
  FlValue *x = fl_ir_select(b, fl_ir_binary(b, FL_OP_EQ, i[0], i[1]), fl_ir_load(b, v, 1, i, true), zero);
  fl_ad_loop_end(b, &loop, 1, &x);
  return loop.op->results[0];
}

FlValue *fl_ad_gaps(FlBuilder *b, FlValue *v, bool squares) {
  FlDtype d = (FlDtype)v->type.dtype;
  FlValue *n = fl_ir_dim(b, v, 0), *sizes[2] = {n, n};
  FlAdLoop loop = fl_ad_loop(b, FL_OP_MAP, 2, sizes);
  FlValue *const *i = loop.region->params;
  FlValue *x = fl_ir_load(b, v, 1, i, true), *y = fl_ir_load(b, v, 1, i + 1, true);
  FlValue *gap = fl_ir_binary(b, FL_OP_SUB, y, x);
  if (squares) gap = fl_ir_binary(b, FL_OP_MUL, gap, fl_ir_binary(b, FL_OP_ADD, x, y));
  FlValue *zero = fl_ir_const_f(b, d, 0.0), *over = fl_ir_binary(b, FL_OP_DIV, fl_ir_const_f(b, d, 1.0), gap);
  FlValue *f = fl_ir_select(b, fl_ir_binary(b, FL_OP_EQ, i[0], i[1]), zero, over);
  fl_ad_loop_end(b, &loop, 1, &f);
  return loop.op->results[0];
}

FlValue *fl_ad_weighted(FlBuilder *b, FlValue *p, double below, double on, double above) {
  Each e = each_begin(b, p);
  FlValue *low = fl_ir_const_f(b, e.dtype, below), *high = fl_ir_const_f(b, e.dtype, above);
  FlValue *side = fl_ir_select(b, fl_ir_binary(b, FL_OP_GT, e.index[0], e.index[1]), low, high);
  FlValue *same = fl_ir_binary(b, FL_OP_EQ, e.index[0], e.index[1]);
  FlValue *c = fl_ir_select(b, same, fl_ir_const_f(b, e.dtype, on), side);
  return each_end(b, &e, fl_ir_binary(b, FL_OP_MUL, here(b, &e, p), c));
}

FlValue *fl_ad_symmetric(FlBuilder *b, FlValue *a) {
  return fl_ad_scaled_by(b, fl_ad_plus(b, a, fl_ad_turned(b, a)), 0.5);
}

FlValue *fl_ad_outer(FlBuilder *b, FlValue *x, FlValue *y) {
  bool scalar = fl_t_is_scalar(x->type);
  FlValue *sizes[2];
  int n = 0;
  if (!scalar) sizes[n++] = fl_ir_dim(b, x, 0);
  sizes[n++] = fl_ir_dim(b, y, 0);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, n, sizes);
  FlValue *const *i = m.region->params;
  FlValue *left = scalar ? x : fl_ir_load(b, x, 1, i, true), *right = fl_ir_load(b, y, 1, i + n - 1, true);
  FlValue *v = fl_ir_binary(b, FL_OP_MUL, left, right);
  fl_ad_loop_end(b, &m, 1, &v);
  return m.op->results[0];
}

FlValue *fl_ad_sum_of(FlBuilder *b, FlValue *x, FlValue *y) {
  if (fl_t_is_scalar(x->type)) return fl_ir_binary(b, FL_OP_MUL, x, y);
  FlValue *sizes[FL_MAX_RANK];
  fl_ad_sizes(b, x, sizes);
  FlAdLoop red = fl_ad_loop(b, FL_OP_REDUCE, x->type.rank, sizes);
  FlValue *v = fl_ir_binary(b, FL_OP_MUL, fl_ir_load(b, x, x->type.rank, red.region->params, true),
                            fl_ir_load(b, y, x->type.rank, red.region->params, true));
  fl_ad_loop_end(b, &red, 1, &v);
  fl_ir_set_reduction(red.op, FL_RED_SUM, false);
  return red.op->results[0];
}

/* ---- pieces ---- */

FlValue *fl_ad_columns(FlBuilder *b, FlValue *m, FlValue *from, FlValue *to) {
  FlValue *sizes[2] = {fl_ir_dim(b, m, 0), fl_ir_binary(b, FL_OP_WRAP_SUB, to, from)};
  FlAdLoop loop = fl_ad_loop(b, FL_OP_MAP, 2, sizes);
  FlValue *j = fl_ir_binary(b, FL_OP_WRAP_ADD, loop.region->params[1], from);
  FlValue *v = fl_ir_load(b, m, 2, (FlValue *[]){loop.region->params[0], j}, true);
  fl_ad_loop_end(b, &loop, 1, &v);
  return loop.op->results[0];
}

FlValue *fl_ad_beside(FlBuilder *b, FlValue *x, FlValue *y) {
  FlValue *pair[2] = {fl_ad_turned(b, x), fl_ad_turned(b, y)};
  return fl_ad_turned(b, fl_ad_op(b, FL_OP_CONCAT, 2, pair, x->type, 0));
}

FlValue *fl_ad_both(FlBuilder *b, FlValue *x, FlValue *y) { return x && y ? fl_ad_plus(b, x, y) : x ? x : y; }
