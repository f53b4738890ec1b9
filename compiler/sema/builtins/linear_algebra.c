/* linear_algebra.c: equations and decompositions: solve(a, b), svd(a), eigh(a), lstsq(a, b), norm(x) ...
 *
 * In: matrices of numbers; integers become f64. Out: one operator a call (`inv` is `solve` of the identity,
 * `norm` is made of reductions), results as named tuples with the names of numpy. Sizes that are known to be
 * equal are one from then on. */
#include <math.h>

#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/place.h"
#include "sema/value.h"

/* An argument as an array of floats of rank least..most; false: reported. */
static bool read_floats(FlSema *s, FlCallSite *c, FlActual *a, int least, int most, const char *takes,
                        FlVal *out) {
  FlVal v = *out = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  const FlType *t = v.type;
  if (t->kind != FL_TY_ARRAY || t->rank < least || t->rank > most || t->nullable ||
      !fl_dtype_is_number(t->dtype)) {
    FlDiag *d = fl_sema_report(s, FL_E0325, a->span, "`%s` takes %s, and this is %s", c->builtin->name, takes,
                               fl_val_text(s, v));
    if (t->kind == FL_TY_ARRAY && t->nullable)
      fl_diag_help(s->sink, d, "fill it with `?? 0` or drop those rows first");
    return false;
  }
  if (fl_dtype_is_float(t->dtype)) return true;
  *out = fl_val_coerce(s, v, fl_type_array(s->types, FL_F64, false, t->rank), a->span, "the matrix");
  return !fl_val_bad(*out);
}

static bool read_square(FlSema *s, FlCallSite *c, int most, FlVal *a) {
  if (!read_floats(s, c, &c->args[0], 2, most, "a square matrix", a)) return false;
  const char *message = fl_arena_printf(
      s->arena, "`%s` takes a square matrix, and this has {a} rows and {b} columns", c->builtin->name);
  int rank = a->type->rank;
  return fl_sema_same_size(s, fl_sema_dim(s, *a, rank - 2), fl_sema_dim(s, *a, rank - 1), c->args[0].span,
                           message);
}

/* Makes two arguments one type of float. */
static bool same_floats(FlSema *s, FlVal *a, FlVal *b, FlSpan span) {
  FlVal pair[2] = {*a, *b};
  if (!fl_sema_same_numbers(s, pair, span)) return false;
  *a = pair[0];
  *b = pair[1];
  return true;
}

static FlOp *decomposition(FlSema *s, FlCallSite *c, int n_args, FlValue *const *args, int n_results,
                           const FlType1 *results) {
  FlOp *op = fl_ir_op(&s->b, c->builtin->op, n_args, args, n_results, results, 0);
  op->attrs.s = c->builtin->name;
  return op;
}

/* Size `axis` of a result is this one. */
static void has_size(FlSema *s, FlVal v, int axis, FlValue *size) {
  FlValue *own = fl_ir_dim(&s->b, v.parts[0], axis);
  if (own != fl_sema_size(s, size)) fl_sema_alias(s, own, fl_sema_size(s, size));
}

static FlVal tuple_of(FlSema *s, int n, const char *const *names, const FlVal *values) {
  const char *fields[5];
  for (int i = 0; i < n; i++) fields[i] = fl_intern_z(s->names, names[i]);
  return fl_val_tuple(s, n, fields, values, NULL);
}

/* ---- equations ---- */

FlVal fl_builtin_solve(FlSema *s, FlCallSite *c) {
  FlVal a, b;
  if (!read_square(s, c, 3, &a)) return fl_val_error(s);
  int rank = a.type->rank;
  if (!read_floats(
          s, c, &c->args[1], rank - 1, rank,
          rank == 2 ? "a vector or a matrix on the right" : "as many vectors or matrices on the right", &b) ||
      !same_floats(s, &a, &b, c->span))
    return fl_val_error(s);
  for (int k = 0; k < rank - 1; k++)
    if (!fl_sema_same_size(s, fl_sema_dim(s, a, k), fl_sema_dim(s, b, k), c->args[1].span,
                           rank == 3 && k == 0 ? "{a} matrices, but {b} right sides"
                                               : "the matrix has {a} rows, the right side {b}"))
      return fl_val_error(s);
  FlType1 out = b.parts[0]->type;
  FlOp *op = fl_ir_op(&s->b, FL_OP_SOLVE, 2, (FlValue *[]){a.parts[0], b.parts[0]}, 1, &out, 0);
  return fl_val_array(s, b.type->dtype, b.type->rank, op->results[0]);
}

FlVal fl_builtin_inv(FlSema *s, FlCallSite *c) {
  FlVal a;
  if (!read_square(s, c, 3, &a)) return fl_val_error(s);
  int rank = a.type->rank;
  FlDtype d = a.type->dtype;
  FlValue *sizes[3] = {0};
  FlType1 out = fl_t_array(d, rank);
  for (int k = 0; k < rank; k++) sizes[k] = fl_sema_dim(s, a, k);
  FlSemaMap map = fl_sema_map(s, rank, sizes, d);
  FlValue *v = fl_ir_select(&s->b, fl_sema_op2(s, FL_OP_EQ, map.index[rank - 2], map.index[rank - 1]),
                            fl_ir_const_f(&s->b, d, 1), fl_ir_const_f(&s->b, d, 0));
  FlValue *identity = fl_sema_map_end(s, &map, v);
  FlOp *op = decomposition(s, c, 2, (FlValue *[]){a.parts[0], identity}, 1, &out);
  return fl_val_array(s, d, rank, op->results[0]);
}

/* The share of the largest singular value that counts as zero; negative: the default. */
static bool read_rcond(FlSema *s, FlActual *a, FlValue **out) {
  *out = fl_ir_const_f(&s->b, FL_F64, -1);
  return !fl_actual_given(a) || fl_actual_f64(s, a, out);
}

FlVal fl_builtin_lstsq(FlSema *s, FlCallSite *c) {
  FlVal a, b;
  FlValue *rcond;
  if (!read_floats(s, c, &c->args[0], 2, 2, "a matrix", &a) ||
      !read_floats(s, c, &c->args[1], 1, 2, "a vector or a matrix on the right", &b) ||
      !same_floats(s, &a, &b, c->span) || !read_rcond(s, &c->args[2], &rcond) ||
      !fl_sema_same_size(s, fl_sema_dim(s, a, 0), fl_sema_dim(s, b, 0), c->args[1].span,
                         "the matrix has {a} rows, the right side {b}"))
    return fl_val_error(s);
  FlDtype d = a.type->dtype;
  int rank = b.type->rank;
  FlType1 types[3] = {fl_t_array(d, rank), fl_t_scalar(FL_I64), fl_t_array(d, 1)};
  FlOp *op = decomposition(s, c, 3, (FlValue *[]){a.parts[0], b.parts[0], rcond}, 3, types);
  FlVal out[3] = {fl_val_array(s, d, rank, op->results[0]), fl_val_scalar(s, FL_I64, op->results[1]),
                  fl_val_array(s, d, 1, op->results[2])};
  has_size(s, out[0], 0, fl_sema_dim(s, a, 1));
  if (rank == 2) has_size(s, out[0], 1, fl_sema_dim(s, b, 1));
  return tuple_of(s, 3, (const char *const[]){"x", "rank", "s"}, out);
}

FlVal fl_builtin_pinv(FlSema *s, FlCallSite *c) {
  FlVal a;
  FlValue *rcond;
  if (!read_floats(s, c, &c->args[0], 2, 2, "a matrix", &a) || !read_rcond(s, &c->args[1], &rcond))
    return fl_val_error(s);
  FlType1 type = fl_t_array(a.type->dtype, 2);
  FlOp *op = decomposition(s, c, 2, (FlValue *[]){a.parts[0], rcond}, 1, &type);
  FlVal out = fl_val_array(s, a.type->dtype, 2, op->results[0]);
  has_size(s, out, 0, fl_sema_dim(s, a, 1));
  has_size(s, out, 1, fl_sema_dim(s, a, 0));
  return out;
}

/* What both sweeps of k-means begin with: rows and centers of the same width, in floats. */
static bool read_centers(FlSema *s, FlCallSite *c, FlVal *x, FlVal *centers) {
  if (!read_floats(s, c, &c->args[0], 2, 2, "a matrix", x) ||
      !read_floats(s, c, &c->args[1], 2, 2, "a matrix of centers", centers))
    return false;
  const FlType *matrix = fl_type_array(s->types, FL_F64, false, 2);
  *x = fl_val_coerce(s, *x, matrix, c->args[0].span, "the matrix");
  *centers = fl_val_coerce(s, *centers, matrix, c->args[1].span, "the centers");
  return !fl_val_bad(*x) && !fl_val_bad(*centers) &&
         fl_sema_same_size(s, fl_sema_dim(s, *x, 1), fl_sema_dim(s, *centers, 1), c->args[1].span,
                           "the matrix has {a} columns, the centers {b}");
}

/* With what was before (`moved`) each row gets its gap, else its distance. */
static FlVal swept(FlSema *s, FlCallSite *c, FlValue *const *args, FlVal x, FlVal centers, bool moved) {
  FlType1 types[5] = {fl_t_array(FL_I64, 1), fl_t_array(FL_F64, 1), fl_t_array(FL_F64, 2),
                      fl_t_array(FL_I64, 1), fl_t_scalar(FL_I64)};
  FlOp *op = decomposition(s, c, moved ? 5 : 2, args, moved ? 5 : 4, types);
  FlVal out[5];
  for (int i = 0; i < 4; i++) {
    out[i] = fl_val_array(s, (FlDtype)types[i].dtype, types[i].rank, op->results[i]);
    has_size(s, out[i], 0, fl_sema_dim(s, i < 2 ? x : centers, 0));
  }
  has_size(s, out[2], 1, fl_sema_dim(s, centers, 1));
  if (moved) out[4] = fl_val_scalar(s, FL_I64, op->results[4]);
  const char *const names[5] = {"label", moved ? "gap" : "distance", "total", "size", "changed"};
  return tuple_of(s, moved ? 5 : 4, names, out);
}

FlVal fl_builtin_nearest_centers(FlSema *s, FlCallSite *c) {
  FlVal x, centers;
  if (!read_centers(s, c, &x, &centers)) return fl_val_error(s);
  return swept(s, c, (FlValue *[]){x.parts[0], centers.parts[0]}, x, centers, false);
}

static FlVal numbers(FlSema *s, FlActual *a, FlDtype d, const char *what) {
  FlVal v = fl_actual_value(s, a, NULL);
  return fl_val_bad(v) ? v : fl_val_coerce(s, v, fl_type_array(s->types, d, false, 1), a->span, what);
}

FlVal fl_builtin_nearest_moved(FlSema *s, FlCallSite *c) {
  FlVal x, centers, before, label, gap;
  if (!read_centers(s, c, &x, &centers) ||
      !read_floats(s, c, &c->args[2], 2, 2, "the centers before", &before))
    return fl_val_error(s);
  before =
      fl_val_coerce(s, before, fl_type_array(s->types, FL_F64, false, 2), c->args[2].span, "the centers");
  label = numbers(s, &c->args[3], FL_I64, "labels");
  gap = numbers(s, &c->args[4], FL_F64, "gaps");
  if (fl_val_bad(before) || fl_val_bad(label) || fl_val_bad(gap)) return fl_val_error(s);
  for (int axis = 0; axis < 2; axis++) {
    if (!fl_sema_same_size(s, fl_sema_dim(s, centers, axis), fl_sema_dim(s, before, axis), c->args[2].span,
                           axis ? "the centers have {a} columns, and {b} before"
                                : "{a} centers, and {b} before"))
      return fl_val_error(s);
  }
  FlValue *rows = fl_sema_dim(s, x, 0);
  if (!fl_sema_same_size(s, rows, fl_sema_dim(s, label, 0), c->args[3].span, "{a} rows, but {b} labels") ||
      !fl_sema_same_size(s, rows, fl_sema_dim(s, gap, 0), c->args[4].span, "{a} rows, but {b} gaps"))
    return fl_val_error(s);
  FlValue *args[5] = {x.parts[0], centers.parts[0], before.parts[0], label.parts[0], gap.parts[0]};
  return swept(s, c, args, x, centers, true);
}

/* ---- factors ---- */

static FlValue *det_of(FlSema *s, FlCallSite *c, FlValue *matrix) {
  FlType1 type = fl_t_scalar((FlDtype)matrix->type.dtype);
  return decomposition(s, c, 1, &matrix, 1, &type)->results[0];
}

/* Of many, that of each. */
FlVal fl_builtin_det(FlSema *s, FlCallSite *c) {
  FlVal a;
  if (!read_square(s, c, 3, &a)) return fl_val_error(s);
  FlDtype d = a.type->dtype;
  if (a.type->rank == 2) return fl_val_scalar(s, d, det_of(s, c, a.parts[0]));
  FlValue *sizes[3];
  for (int k = 0; k < 3; k++) sizes[k] = fl_sema_dim(s, a, k);
  FlSemaMap each = fl_sema_map(s, 1, sizes, d), one = fl_sema_map(s, 2, sizes + 1, d);
  FlValue *at[3] = {each.index[0], one.index[0], one.index[1]};
  FlValue *matrix = fl_sema_map_end(s, &one, fl_ir_load(&s->b, a.parts[0], 3, at, true));
  return fl_val_array(s, d, 1, fl_sema_map_end(s, &each, det_of(s, c, matrix)));
}

FlVal fl_builtin_cholesky(FlSema *s, FlCallSite *c) {
  FlVal a;
  if (!read_square(s, c, 2, &a)) return fl_val_error(s);
  FlType1 type = fl_t_array(a.type->dtype, 2);
  return fl_val_array(s, a.type->dtype, 2, decomposition(s, c, 1, a.parts, 1, &type)->results[0]);
}

FlVal fl_builtin_qr(FlSema *s, FlCallSite *c) {
  FlVal a;
  if (!read_floats(s, c, &c->args[0], 2, 2, "a matrix", &a)) return fl_val_error(s);
  FlDtype d = a.type->dtype;
  FlType1 types[2] = {fl_t_array(d, 2), fl_t_array(d, 2)};
  FlOp *op = decomposition(s, c, 1, a.parts, 2, types);
  FlVal out[2] = {fl_val_array(s, d, 2, op->results[0]), fl_val_array(s, d, 2, op->results[1])};
  has_size(s, out[0], 0, fl_sema_dim(s, a, 0));
  has_size(s, out[1], 0, fl_sema_dim(s, out[0], 1));
  has_size(s, out[1], 1, fl_sema_dim(s, a, 1));
  return tuple_of(s, 2, (const char *const[]){"q", "r"}, out);
}

FlVal fl_builtin_svd(FlSema *s, FlCallSite *c) {
  FlVal a;
  if (!read_floats(s, c, &c->args[0], 2, 2, "a matrix", &a)) return fl_val_error(s);
  FlDtype d = a.type->dtype;
  FlType1 types[3] = {fl_t_array(d, 2), fl_t_array(d, 1), fl_t_array(d, 2)};
  FlOp *op = decomposition(s, c, 1, a.parts, 3, types);
  FlVal out[3] = {fl_val_array(s, d, 2, op->results[0]), fl_val_array(s, d, 1, op->results[1]),
                  fl_val_array(s, d, 2, op->results[2])};
  has_size(s, out[0], 0, fl_sema_dim(s, a, 0));
  has_size(s, out[0], 1, fl_sema_dim(s, out[1], 0));
  has_size(s, out[2], 0, fl_sema_dim(s, out[1], 0));
  has_size(s, out[2], 1, fl_sema_dim(s, a, 1));
  return tuple_of(s, 3, (const char *const[]){"u", "s", "vt"}, out);
}

/* ---- eigenvalues ---- */

FlVal fl_builtin_eigh(FlSema *s, FlCallSite *c) {
  FlVal a;
  if (!read_square(s, c, 2, &a)) return fl_val_error(s);
  FlDtype d = a.type->dtype;
  FlType1 types[2] = {fl_t_array(d, 1), fl_t_array(d, 2)};
  FlOp *op = decomposition(s, c, 1, a.parts, 2, types);
  FlVal out[2] = {fl_val_array(s, d, 1, op->results[0]), fl_val_array(s, d, 2, op->results[1])};
  FlValue *n = fl_sema_dim(s, a, 0);
  has_size(s, out[0], 0, n);
  has_size(s, out[1], 0, n);
  has_size(s, out[1], 1, n);
  return tuple_of(s, 2, (const char *const[]){"values", "vectors"}, out);
}

FlVal fl_builtin_eig(FlSema *s, FlCallSite *c) {
  FlVal a;
  if (!read_square(s, c, 2, &a)) return fl_val_error(s);
  FlDtype d = a.type->dtype;
  FlType1 types[4] = {fl_t_array(d, 1), fl_t_array(d, 1), fl_t_array(d, 2), fl_t_array(d, 2)};
  FlOp *op = decomposition(s, c, 1, a.parts, 4, types);
  FlValue *n = fl_sema_dim(s, a, 0);
  FlVal parts[4], pairs[2];
  for (int k = 0; k < 4; k++) {
    parts[k] = fl_val_array(s, d, k < 2 ? 1 : 2, op->results[k]);
    has_size(s, parts[k], 0, n);
    if (k >= 2) has_size(s, parts[k], 1, n);
  }
  for (int k = 0; k < 2; k++) pairs[k] = tuple_of(s, 2, (const char *const[]){"re", "im"}, parts + 2 * k);
  return tuple_of(s, 2, (const char *const[]){"values", "vectors"}, pairs);
}

/* ---- norms ---- */

/* A function of the language applied to a value, with or without axis =. */
static FlVal apply(FlSema *s, const char *name, FlVal x, int axis, FlSpan span) {
  FlActual args[2] = {{.value = x, .span = span}, {.value = fl_val_i64(s, axis), .span = span}};
  args[1].name.text = fl_intern_z(s->names, "axis");
  const FlBuiltin *f = fl_builtin_find(s, fl_intern_z(s->names, name));
  return fl_sema_call_builtin(s, f, axis < 0 ? 1 : 2, args, span, NULL);
}

/* The root of the sum of squares of all elements. */
static FlVal length_of(FlSema *s, FlVal x, FlSpan span) {
  FlValue *flat = x.parts[0];
  if (x.type->rank == 2) {
    FlType1 line = fl_t_array(x.type->dtype, 1);
    FlValue *args[2] = {flat, fl_sema_op2(s, FL_OP_MUL, fl_sema_dim(s, x, 0), fl_sema_dim(s, x, 1))};
    fl_sema_mark_size(s, args[1]);
    flat = fl_ir_op(&s->b, FL_OP_RESHAPE, 2, args, 1, &line, 0)->results[0];
  }
  FlVal v = fl_val_array(s, x.type->dtype, 1, flat);
  FlActual both[2] = {{.value = v, .span = span}, {.value = v, .span = span}};
  const FlBuiltin *dot = fl_builtin_find(s, fl_intern_z(s->names, "dot"));
  return apply(s, "sqrt", fl_sema_call_builtin(s, dot, 2, both, span, NULL), -1, span);
}

static FlVal largest_singular_value(FlSema *s, FlCallSite *c, FlVal x) {
  FlType1 type = fl_t_array(x.type->dtype, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_LINALG_SVD, 1, x.parts, 1, &type, 0);
  op->attrs.i = 1;
  op->attrs.s = c->builtin->name;
  return apply(s, "max", fl_val_array(s, x.type->dtype, 1, op->results[0]), -1, c->span);
}

/* 1, 2 or inf, known while compiling; 0: the default; false: reported. */
static bool read_order(FlSema *s, FlActual *a, double *out) {
  *out = 0;
  if (!fl_actual_given(a)) return true;
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  int64_t k;
  const FlOp *op = v.type->kind == FL_TY_SCALAR ? v.parts[0]->op : NULL;
  if (fl_val_const_i(v, &k)) *out = (double)k;
  else if (op && op->code == FL_OP_CONST && fl_dtype_is_float(v.type->dtype)) *out = op->attrs.f;
  if (*out == 1 || *out == 2 || (isinf(*out) && *out > 0)) return true;
  fl_sema_error(s, FL_E0325, a->span, "`norm` takes `ord = 1`, `2` or `inf`, known while compiling");
  return false;
}

FlVal fl_builtin_norm(FlSema *s, FlCallSite *c) {
  FlVal x;
  double order;
  if (!read_floats(s, c, &c->args[0], 1, 2, "a vector or a matrix", &x) ||
      !read_order(s, &c->args[1], &order))
    return fl_val_error(s);
  bool matrix = x.type->rank == 2;
  if (order == 0 || (order == 2 && !matrix)) return length_of(s, x, c->span);
  if (order == 2) return largest_singular_value(s, c, x);
  FlVal sizes = apply(s, "abs", x, -1, c->span);
  if (!matrix) return apply(s, order == 1 ? "sum" : "max", sizes, -1, c->span);
  return apply(s, "max", apply(s, "sum", sizes, order == 1 ? 0 : 1, c->span), -1, c->span);
}
