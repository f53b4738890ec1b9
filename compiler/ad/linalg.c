/* linalg.c: rules for products, systems and decompositions of matrices.
 *
 * M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation",
 * 2008; of `cholesky`: I. Murray, "Differentiation of the Cholesky decomposition", 2016, section 3. */
#include "ad/ad_internal.h"

static FlValue *matmul(const FlAdBulk *k, FlValue *x, FlValue *y, int transposed, int rank) {
  FlDtype d = (FlDtype)x->type.dtype;
  FlType1 t = rank ? fl_t_array(d, rank) : fl_t_scalar(d);
  return fl_ad_op(k->b, FL_OP_MATMUL, 2, (FlValue *[]){x, y}, t, transposed);
}

static FlValue *transposed(const FlAdBulk *k, FlValue *a) {
  return fl_ad_op(k->b, FL_OP_TRANSPOSE, 1, &a, a->type, 0);
}

static FlValue *solve(const FlAdBulk *k, FlValue *a, FlValue *b) {
  return fl_ad_op(k->b, FL_OP_SOLVE, 2, (FlValue *[]){a, b}, b->type, 0);
}

static FlValue *at(const FlAdBulk *k, FlValue *line, FlValue *i) {
  return fl_ir_load(k->b, line, 1, &i, true);
}

/* x[i] y[j]; or, with a scalar x, x y[j] of rank 1. */
static FlValue *outer(const FlAdBulk *k, FlValue *x, FlValue *y) {
  bool scalar = fl_t_is_scalar(x->type);
  FlValue *sizes[2];
  int n = 0;
  if (!scalar) sizes[n++] = fl_ir_dim(k->b, x, 0);
  sizes[n++] = fl_ir_dim(k->b, y, 0);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, n, sizes);
  FlValue *left = scalar ? x : at(k, x, m.region->params[0]), *right = at(k, y, m.region->params[n - 1]);
  FlValue *v = fl_ir_binary(k->b, FL_OP_MUL, left, right);
  fl_ad_loop_end(k->b, &m, 1, &v);
  return m.op->results[0];
}

static void products(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *b = fl_ad_arg(k, 1), *g = k->g, *da, *db;
  bool wa = fl_ad_wants(k, 0), wb = fl_ad_wants(k, 1);
  int ta = (int)k->op->attrs.i & 1, tb = (int)k->op->attrs.i & 2;
  int ra = a->type.rank, rb = b->type.rank;
  da = db = NULL;
  if (ra == 2 && rb == 2) {
    if (wa) da = ta ? matmul(k, b, g, (tb ? 1 : 0) | 2, 2) : matmul(k, g, b, tb ? 0 : 2, 2);
    if (wb) db = tb ? matmul(k, g, a, 1 | (ta ? 2 : 0), 2) : matmul(k, a, g, ta ? 0 : 1, 2);
  } else if (ra == 2) {
    if (wa) da = ta ? outer(k, b, g) : outer(k, g, b);
    if (wb) db = matmul(k, a, g, ta ? 0 : 1, 1);
  } else if (rb == 2) {
    if (wa) da = matmul(k, b, g, tb ? 1 : 0, 1);
    if (wb) db = tb ? outer(k, g, a) : outer(k, a, g);
  } else {
    if (wa) da = outer(k, g, b);
    if (wb) db = outer(k, g, a);
  }
  if (da) fl_ad_give(k, 0, da);
  if (db) fl_ad_give(k, 1, db);
}

/* The matrices of an array of matrices, each transposed. */
static FlValue *each_transposed(const FlAdBulk *k, FlValue *a) {
  FlValue *sizes[3] = {fl_ir_dim(k->b, a, 0), fl_ir_dim(k->b, a, 2), fl_ir_dim(k->b, a, 1)};
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, 3, sizes);
  FlValue *const *i = m.region->params;
  FlValue *v = fl_ir_load(k->b, a, 3, (FlValue *[]){i[0], i[2], i[1]}, true);
  fl_ad_loop_end(k->b, &m, 1, &v);
  return m.op->results[0];
}

static FlValue *pairs(const FlAdBulk *k, FlValue *x, FlValue *y) {
  return fl_ad_op(k->b, FL_OP_LINALG_PRODUCTS, 2, (FlValue *[]){x, y}, x->type, 0);
}

static void many_products(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *b = fl_ad_arg(k, 1);
  if (fl_ad_wants(k, 0)) fl_ad_give(k, 0, pairs(k, k->g, each_transposed(k, b)));
  if (fl_ad_wants(k, 1)) fl_ad_give(k, 1, pairs(k, each_transposed(k, a), k->g));
}

/* p[i, j] times a factor: below the diagonal, on it, above it. */
static FlValue *weighted(const FlAdBulk *k, FlValue *p, double below, double on, double above) {
  FlValue *sizes[2];
  FlDtype d = (FlDtype)p->type.dtype;
  fl_ad_sizes(k->b, p, sizes);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, 2, sizes);
  FlValue *i = m.region->params[0], *j = m.region->params[1];
  FlValue *low = fl_ir_const_f(k->b, d, below), *high = fl_ir_const_f(k->b, d, above);
  FlValue *side = fl_ir_select(k->b, fl_ir_binary(k->b, FL_OP_GT, i, j), low, high);
  FlValue *c = fl_ir_select(k->b, fl_ir_binary(k->b, FL_OP_EQ, i, j), fl_ir_const_f(k->b, d, on), side);
  FlValue *v = fl_ir_binary(k->b, FL_OP_MUL, fl_ir_load(k->b, p, 2, m.region->params, true), c);
  fl_ad_loop_end(k->b, &m, 1, &v);
  return m.op->results[0];
}

/* a x = b: b counts y where a' y = g, and a counts -y x'. */
static bool solved(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *x = fl_ad_at(k->f, k->op->results[0]);
  if (a->type.rank > 2) return fl_ad_fail_op(k->f->ad, k->op, " of many systems");
  FlValue *y = solve(k, transposed(k, a), k->g);
  if (fl_ad_wants(k, 1)) fl_ad_give(k, 1, y);
  if (!fl_ad_wants(k, 0)) return true;
  FlValue *p = x->type.rank == 1 ? outer(k, y, x) : matmul(k, y, x, 2, 2);
  fl_ad_give(k, 0, weighted(k, p, -1, -1, -1));
  return true;
}

/* a = l l': with p the lower triangle of l' g, its diagonal halved, a counts the symmetric part of
 * l'^-1 p l^-1. */
static bool cholesky(const FlAdBulk *k) {
  FlValue *l = fl_ad_at(k->f, k->op->results[0]);
  if (l->type.rank > 2) return fl_ad_fail_op(k->f->ad, k->op, " of many matrices");
  FlValue *turned = transposed(k, l), *p = weighted(k, matmul(k, l, k->g, 1, 2), 1, 0.5, 0);
  FlValue *s = solve(k, turned, transposed(k, solve(k, turned, p)));
  fl_ad_give(k, 0, weighted(k, fl_ad_plus(k->b, s, transposed(k, s)), 0.5, 0.5, 0.5));
  return true;
}

/* det(a): a counts g det(a) a'^-1. */
static bool determinant(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *d = fl_ad_at(k->f, k->op->results[0]), *sizes[2];
  if (a->type.rank > 2) return fl_ad_fail_op(k->f->ad, k->op, " of many matrices");
  FlValue *c = fl_ir_binary(k->b, FL_OP_MUL, k->g, d);
  fl_ad_sizes(k->b, a, sizes);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, 2, sizes);
  FlValue *diagonal = fl_ir_binary(k->b, FL_OP_EQ, m.region->params[0], m.region->params[1]);
  FlValue *v = fl_ir_select(k->b, diagonal, c, fl_ir_const_f(k->b, (FlDtype)a->type.dtype, 0.0));
  fl_ad_loop_end(k->b, &m, 1, &v);
  fl_ad_give(k, 0, solve(k, transposed(k, a), m.op->results[0]));
  return true;
}

bool fl_ad_linalg(const FlAdBulk *k) {
  switch ((int)k->op->code) {
  case FL_OP_MATMUL: products(k); return true;
  case FL_OP_LINALG_PRODUCTS: many_products(k); return true;
  case FL_OP_SOLVE: return solved(k);
  case FL_OP_LINALG_CHOLESKY: return cholesky(k);
  case FL_OP_LINALG_DET: return determinant(k);
  }
  return fl_ad_fail_op(k->f->ad, k->op, "");
}
