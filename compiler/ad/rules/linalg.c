/* linalg.c: rules for products, systems and what stands near them: cholesky, det, pinv, lstsq. In: adjoints
 * of results, or tangents of arguments. Out: those of the other side. Always: matrices that are not of full
 * rank keep their rank as far as the rule can tell; where there is no inverse the run stops with the message
 * of `solve`.
 *
 * M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation",
 * 2008; of `cholesky`: I. Murray, "Differentiation of the Cholesky decomposition", 2016, section 3; of the
 * pseudo-inverse: G. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
 * problems whose variables separate", 1973, section 4. */
#include "ad/rules/rules.h"

/* ---- products ---- */

/* A matrix counts x y: that is added in place to what it counts already. What a MAP makes is better computed
 * where the sum is read. */
static void give_product(const FlAdBulk *k, int i, FlValue *x, FlValue *y, int transposed) {
  FlValue *of = k->op->args[i], *sum = fl_ad_adjoint(k->f, of);
  if (!sum || (sum->op && sum->op->code == FL_OP_MAP)) {
    fl_ad_give(k, i, fl_ad_matmul(k->b, x, y, transposed));
    return;
  }
  FlValue *args[3] = {sum, x, y};
  fl_ad_set(k->f, of, fl_ad_op(k->b, FL_OP_MATMUL_ADD, 3, args, sum->type, transposed));
}

/* The factors of a product of matrices are the arguments from `at` on. */
static void give_factors(const FlAdBulk *k, int at) {
  FlValue *a = fl_ad_arg(k, at), *c = fl_ad_arg(k, at + 1), *g = k->g;
  int ta = (int)k->op->attrs.i & 1, tc = (int)k->op->attrs.i & 2;
  if (fl_ad_wants(k, at)) {
    if (ta) give_product(k, at, c, g, (tc ? 1 : 0) | 2);
    else give_product(k, at, g, c, tc ? 0 : 2);
  }
  if (fl_ad_wants(k, at + 1)) {
    if (tc) give_product(k, at + 1, g, a, 1 | (ta ? 2 : 0));
    else give_product(k, at + 1, a, g, ta ? 0 : 1);
  }
}

bool fl_ad_back_matmul_add(const FlAdBulk *k) {
  if (fl_ad_wants(k, 0)) fl_ad_give(k, 0, k->g);
  give_factors(k, 1);
  return true;
}

bool fl_ad_ahead_matmul_add(const FlAdAhead *k) {
  FlValue *sum = fl_ad_moves(k, 0);
  int transposed = (int)k->op->attrs.i & 3;
  for (int i = 1; i <= 2; i++) {
    if (!fl_ad_moves(k, i)) continue;
    FlValue *x = i == 1 ? fl_ad_moves(k, 1) : fl_ad_in(k, 1),
            *y = i == 2 ? fl_ad_moves(k, 2) : fl_ad_in(k, 2);
    sum = fl_ad_both(k->b, sum, fl_ad_matmul(k->b, x, y, transposed));
  }
  k->out[0] = sum;
  return true;
}

bool fl_ad_back_matmul(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *c = fl_ad_arg(k, 1), *g = k->g, *da = NULL, *dc = NULL;
  bool wa = fl_ad_wants(k, 0), wc = fl_ad_wants(k, 1);
  int ta = (int)k->op->attrs.i & 1, tc = (int)k->op->attrs.i & 2;
  int ra = a->type.rank, rc = c->type.rank;
  FlBuilder *b = k->b;
  if (ra == 2 && rc == 2) {
    give_factors(k, 0);
  } else if (ra == 2) {
    if (wa) da = ta ? fl_ad_outer(b, c, g) : fl_ad_outer(b, g, c);
    if (wc) dc = fl_ad_matmul(b, a, g, ta ? 0 : 1);
  } else if (rc == 2) {
    if (wa) da = fl_ad_matmul(b, c, g, tc ? 1 : 0);
    if (wc) dc = tc ? fl_ad_outer(b, g, a) : fl_ad_outer(b, a, g);
  } else {
    if (wa) da = fl_ad_outer(b, g, c);
    if (wc) dc = fl_ad_outer(b, g, a);
  }
  if (da) fl_ad_give(k, 0, da);
  if (dc) fl_ad_give(k, 1, dc);
  return true;
}

/* The matrices of an array of matrices, each transposed. */
static FlValue *each_turned(FlBuilder *b, FlValue *a) {
  FlValue *sizes[3] = {fl_ir_dim(b, a, 0), fl_ir_dim(b, a, 2), fl_ir_dim(b, a, 1)};
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 3, sizes);
  FlValue *const *i = m.region->params;
  FlValue *v = fl_ir_load(b, a, 3, (FlValue *[]){i[0], i[2], i[1]}, true);
  fl_ad_loop_end(b, &m, 1, &v);
  return m.op->results[0];
}

static FlValue *pairs(FlBuilder *b, FlValue *x, FlValue *y) {
  return fl_ad_op(b, FL_OP_LINALG_PRODUCTS, 2, (FlValue *[]){x, y}, x->type, 0);
}

bool fl_ad_back_products(const FlAdBulk *k) {
  FlValue *x = fl_ad_arg(k, 0), *y = fl_ad_arg(k, 1);
  if (fl_ad_wants(k, 0)) fl_ad_give(k, 0, pairs(k->b, k->g, each_turned(k->b, y)));
  if (fl_ad_wants(k, 1)) fl_ad_give(k, 1, pairs(k->b, each_turned(k->b, x), k->g));
  return true;
}

/* Of a product of two: the sum of the op with either replaced by its tangent. */
bool fl_ad_ahead_bilinear(const FlAdAhead *k) {
  FlValue *sum = NULL;
  for (int i = 0; i < 2; i++) {
    if (!fl_ad_moves(k, i)) continue;
    FlValue *args[2] = {fl_ad_in(k, 0), fl_ad_in(k, 1)};
    args[i] = fl_ad_moves(k, i);
    FlValue *part = fl_ad_op(k->b, k->op->code, 2, args, k->op->results[0]->type, k->op->attrs.i);
    sum = fl_ad_both(k->b, sum, part);
  }
  k->out[0] = sum;
  return true;
}

/* ---- systems: a x = c ---- */

/* x and c as matrices, also where they are many vectors: [k, n, 1]. */
static FlValue *as_matrices(FlBuilder *b, FlValue *x) {
  FlValue *sizes[3] = {fl_ir_dim(b, x, 0), NULL, fl_ad_i64(b, 1)};
  if (x->type.rank == 3) return x;
  sizes[1] = fl_ir_dim(b, x, 1);
  return fl_ad_reshape(b, x, 3, sizes);
}

/* c counts y where a' y = g, and a counts -y x'. */
bool fl_ad_back_solve(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *a = fl_ad_arg(k, 0), *x = fl_ad_result(k, 0), *p;
  bool many = a->type.rank > 2;
  FlValue *y = fl_ad_solve(b, many ? each_turned(b, a) : fl_ad_turned(b, a), k->g);
  if (fl_ad_wants(k, 1)) fl_ad_give(k, 1, y);
  if (!fl_ad_wants(k, 0)) return true;
  if (many) p = pairs(b, as_matrices(b, y), each_turned(b, as_matrices(b, x)));
  else p = x->type.rank == 1 ? fl_ad_outer(b, y, x) : fl_ad_matmul(b, y, x, 2);
  fl_ad_give(k, 0, fl_ad_scaled_by(b, p, -1));
  return true;
}

/* dx = a^-1 (dc - da x) */
bool fl_ad_ahead_solve(const FlAdAhead *k) {
  FlBuilder *b = k->b;
  FlValue *a = fl_ad_in(k, 0), *x = fl_ad_made(k, 0), *da = fl_ad_moves(k, 0), *right = fl_ad_moves(k, 1);
  if (da) {
    FlValue *p, *sizes[FL_MAX_RANK];
    if (a->type.rank > 2) {
      p = pairs(b, da, as_matrices(b, x));
      fl_ad_sizes(b, x, sizes);
      if (x->type.rank == 2) p = fl_ad_reshape(b, p, 2, sizes);
    } else {
      p = fl_ad_matmul(b, da, x, 0);
    }
    right = right ? fl_ad_minus(b, right, p) : fl_ad_scaled_by(b, p, -1);
  }
  k->out[0] = right ? fl_ad_solve(b, a, right) : NULL;
  return true;
}

/* ---- cholesky: a = l l' ---- */

/* With p the lower triangle of l' g, its diagonal halved, a counts the symmetric part of l'^-1 p l^-1. */
bool fl_ad_back_cholesky(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *l = fl_ad_result(k, 0);
  FlValue *turned = fl_ad_turned(b, l), *p = fl_ad_weighted(b, fl_ad_matmul(b, l, k->g, 1), 1, 0.5, 0);
  FlValue *s = fl_ad_solve(b, turned, fl_ad_turned(b, fl_ad_solve(b, turned, p)));
  fl_ad_give(k, 0, fl_ad_symmetric(b, s));
  return true;
}

/* dl = l p, p the lower triangle of l^-1 da l'^-1, its diagonal halved */
bool fl_ad_ahead_cholesky(const FlAdAhead *k) {
  FlBuilder *b = k->b;
  FlValue *l = fl_ad_made(k, 0), *da = fl_ad_symmetric(b, fl_ad_moves(k, 0));
  FlValue *s = fl_ad_solve(b, l, fl_ad_turned(b, fl_ad_solve(b, l, da)));
  k->out[0] = fl_ad_matmul(b, l, fl_ad_weighted(b, s, 1, 0.5, 0), 0);
  return true;
}

/* ---- det ---- */

static FlValue *det(FlBuilder *b, FlValue *a) {
  FlType1 type = fl_t_scalar((FlDtype)a->type.dtype);
  FlOp *op = fl_ir_op(b, FL_OP_LINALG_DET, 1, &a, 1, &type, 0);
  op->attrs.s = "det";
  return op->results[0];
}

/* Of each element of a vector the product of all others. */
static FlValue *products_of_others(FlBuilder *b, FlValue *v) {
  FlDtype d = (FlDtype)v->type.dtype;
  FlValue *n = fl_ir_dim(b, v, 0);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &n);
  FlAdLoop red = fl_ad_loop(b, FL_OP_REDUCE, 1, &n);
  FlValue *same = fl_ir_binary(b, FL_OP_EQ, m.region->params[0], red.region->params[0]);
  FlValue *x = fl_ir_select(b, same, fl_ir_const_f(b, d, 1.0), fl_ir_load(b, v, 1, red.region->params, true));
  fl_ad_loop_end(b, &red, 1, &x);
  fl_ir_set_reduction(red.op, FL_RED_PRODUCT, false);
  fl_ad_loop_end(b, &m, 1, red.op->results);
  return m.op->results[0];
}

/* The cofactors of a, which are the derivative of its determinant d: d a'^-1; where d is 0, of a = u s v
 * det(u) det(v) u p v, with p the products of all other s. */
static FlValue *cofactors(FlBuilder *b, FlValue *a, FlValue *d) {
  FlDtype t = (FlDtype)a->type.dtype;
  FlValue *zero = fl_ir_const_f(b, t, 0.0), *singular = fl_ir_binary(b, FL_OP_EQ, d, zero);
  FlOp *choice = fl_ir_op(b, FL_OP_IF, 1, &singular, 1, &a->type, 2);
  FlBuilder in = *b;
  in.before = NULL;
  in.region = fl_ir_region(b, choice, 0, 0, NULL);
  FlType1 types[3] = {a->type, fl_t_array(t, 1), a->type};
  FlOp *svd = fl_ir_op(&in, FL_OP_LINALG_SVD, 1, &a, 3, types, 0);
  svd->attrs.s = "det";
  FlValue *const *r = svd->results;
  FlValue *u = fl_ad_by_column(&in, FL_OP_MUL, r[0], products_of_others(&in, r[1]));
  FlValue *sign = fl_ir_binary(&in, FL_OP_MUL, det(&in, r[0]), det(&in, r[2]));
  FlValue *c = fl_ad_scaled(&in, fl_ad_matmul(&in, u, r[2], 0), sign);
  fl_ir_yield(in.region, b->module, 1, &c);
  in.region = fl_ir_region(b, choice, 1, 0, NULL);
  FlValue *n = fl_ir_dim(&in, a, 0);
  FlAdLoop line = fl_ad_loop(&in, FL_OP_MAP, 1, &n);
  fl_ad_loop_end(&in, &line, 1, &d);
  c = fl_ad_solve(&in, fl_ad_turned(&in, a), fl_ad_diagonal(&in, line.op->results[0]));
  fl_ir_yield(in.region, b->module, 1, &c);
  return choice->results[0];
}

bool fl_ad_back_det(const FlAdBulk *k) {
  fl_ad_give(k, 0, fl_ad_scaled(k->b, cofactors(k->b, fl_ad_arg(k, 0), fl_ad_result(k, 0)), k->g));
  return true;
}

bool fl_ad_ahead_det(const FlAdAhead *k) {
  k->out[0] = fl_ad_sum_of(k->b, cofactors(k->b, fl_ad_in(k, 0), fl_ad_made(k, 0)), fl_ad_moves(k, 0));
  return true;
}

/* ---- pinv and lstsq; p is the pseudo-inverse of a ---- */

/* x - y z, and x - z y */
static FlValue *less(FlBuilder *b, FlValue *x, FlValue *y, FlValue *z) {
  return fl_ad_minus(b, x, fl_ad_matmul(b, y, z, 0));
}

/* a counts - p' g p' + (g' - a p g') p p' turned, + p' p (g' - g' p a), for dp = - p da p + p p' da' (1 - a
 * p)
 * + (1 - p a) da' p' p. */
bool fl_ad_back_pinv(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *a = fl_ad_arg(k, 0), *p = fl_ad_result(k, 0), *g = fl_ad_turned(b, k->g); /* as a */
  FlValue *first = fl_ad_matmul(b, fl_ad_matmul(b, p, k->g, 1), p, 2);
  FlValue *left = less(b, g, a, fl_ad_matmul(b, p, g, 0));
  FlValue *second = fl_ad_matmul(b, left, fl_ad_matmul(b, p, p, 2), 0);
  FlValue *right = less(b, g, fl_ad_matmul(b, g, p, 0), a);
  FlValue *third = fl_ad_matmul(b, fl_ad_matmul(b, p, p, 1), right, 0);
  fl_ad_give(k, 0, fl_ad_minus(b, fl_ad_plus(b, second, third), first));
  return true;
}

static FlValue *pinv_tangent(FlBuilder *b, FlValue *a, FlValue *p, FlValue *da) {
  FlValue *first = fl_ad_matmul(b, fl_ad_matmul(b, p, da, 0), p, 0), *dt = fl_ad_turned(b, da);
  FlValue *left = less(b, dt, fl_ad_matmul(b, dt, a, 0), p);
  FlValue *second = fl_ad_matmul(b, fl_ad_matmul(b, p, p, 2), left, 0);
  FlValue *right = less(b, dt, p, fl_ad_matmul(b, a, dt, 0));
  FlValue *third = fl_ad_matmul(b, right, fl_ad_matmul(b, p, p, 1), 0);
  return fl_ad_minus(b, fl_ad_plus(b, second, third), first);
}

bool fl_ad_ahead_pinv(const FlAdAhead *k) {
  k->out[0] = pinv_tangent(k->b, fl_ad_in(k, 0), fl_ad_made(k, 0), fl_ad_moves(k, 0));
  return true;
}

static FlValue *pinv_of(FlBuilder *b, FlValue *a, FlValue *rcond) {
  FlOp *op = fl_ir_op(b, FL_OP_LINALG_PINV, 2, (FlValue *[]){a, rcond}, 1, &a->type, 0);
  op->attrs.s = "lstsq";
  return op->results[0];
}

/* The thin u, s, v of a. */
static FlValue *const *svd_of(FlBuilder *b, FlValue *a) {
  FlType1 types[3] = {a->type, fl_t_array((FlDtype)a->type.dtype, 1), a->type};
  FlOp *op = fl_ir_op(b, FL_OP_LINALG_SVD, 1, &a, 3, types, 0);
  op->attrs.s = "svd";
  return op->results;
}

/* A vector as a matrix of one column; a matrix as it is. */
static FlValue *as_columns(FlBuilder *b, FlValue *x) {
  FlValue *sizes[2] = {NULL, fl_ad_i64(b, 1)};
  if (x->type.rank == 2) return x;
  sizes[0] = fl_ir_dim(b, x, 0);
  return fl_ad_reshape(b, x, 2, sizes);
}

/* x = p c: c counts p' g; a counts - p' g x' + (c - a x) (p p' g)' + p' x (g - p a g)'. s: as of `svd`. */
bool fl_ad_back_lstsq(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *a = fl_ad_arg(k, 0), *c = fl_ad_arg(k, 1), *gs = fl_ad_of(k, 2), *g = k->g;
  if (gs) {
    FlValue *const *r = svd_of(b, a);
    fl_ad_give(k, 0, fl_ad_matmul(b, fl_ad_by_column(b, FL_OP_MUL, r[0], gs), r[2], 0));
  }
  if (!g) return true;
  FlValue *p = pinv_of(b, a, fl_ad_arg(k, 2)), *y = fl_ad_matmul(b, p, g, 1);
  if (fl_ad_wants(k, 1)) fl_ad_give(k, 1, y);
  if (!fl_ad_wants(k, 0)) return true;
  FlValue *x = as_columns(b, fl_ad_result(k, 0)), *rest = less(b, as_columns(b, c), a, x);
  g = as_columns(b, g);
  y = as_columns(b, y);
  FlValue *first = fl_ad_matmul(b, y, x, 2);
  FlValue *second = fl_ad_matmul(b, rest, fl_ad_matmul(b, p, y, 0), 2);
  FlValue *left = less(b, g, p, fl_ad_matmul(b, a, g, 0));
  FlValue *third = fl_ad_matmul(b, fl_ad_matmul(b, p, x, 1), left, 2);
  fl_ad_give(k, 0, fl_ad_minus(b, fl_ad_plus(b, second, third), first));
  return true;
}

bool fl_ad_ahead_lstsq(const FlAdAhead *k) {
  FlBuilder *b = k->b;
  FlValue *a = fl_ad_in(k, 0), *c = fl_ad_in(k, 1), *da = fl_ad_moves(k, 0), *dc = fl_ad_moves(k, 1);
  FlValue *p = pinv_of(b, a, fl_ad_in(k, 2)), *dx = dc ? fl_ad_matmul(b, p, dc, 0) : NULL;
  if (da) {
    dx = fl_ad_both(b, dx, fl_ad_matmul(b, pinv_tangent(b, a, p, da), c, 0));
    FlValue *const *r = svd_of(b, a);
    FlValue *turned = fl_ad_matmul(b, fl_ad_matmul(b, r[0], da, 1), r[2], 2);
    k->out[2] = fl_ad_diagonal_of(b, turned);
  }
  k->out[0] = dx;
  return true;
}
