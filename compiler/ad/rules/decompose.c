/* decompose.c: rules for qr, svd, eigh and eig. In: adjoints of their results, or the tangent of the matrix.
 * Out: the matrix's adjoint, or the tangents of the results. Always: what vectors count needs distinct values
 * (else it is infinite), what values count does not; `qr` needs independent columns, of a wide matrix those
 * of its square part.
 *
 * qr: S. Walter, L. Lehmann, "Algorithmic differentiation of linear algebra functions with application in
 * optimum experimental design", 2010; wide: D. Roberts, L. Roberts, "QR and LQ decomposition matrix
 * backpropagation algorithms for square, wide, and deep matrices", 2020. svd: J. Townsend, "Differentiating
 * the singular value decomposition", 2016. eigh, eig: M. Giles, 2008, section 3.1; the scale and phase of the
 * vectors of eig: C. Boeddeker et al., "On the computation of complex-valued gradients", 2017. */
#include "ad/rules/rules.h"

/* ---- qr: a = q r; of a wide a = [x y] with x square, r = [u w] ---- */

typedef struct Qr {
  FlValue *q, *r, *u, *width, *n;
} Qr;

static Qr qr_of(FlBuilder *b, FlValue *a, FlValue *q, FlValue *r) {
  Qr s = {q, r, NULL, fl_ir_dim(b, q, 1), fl_ir_dim(b, a, 1)};
  s.u = fl_ad_columns(b, r, fl_ad_i64(b, 0), s.width);
  return s;
}

static FlValue *first_columns(FlBuilder *b, const Qr *s, FlValue *m) {
  return fl_ad_columns(b, m, fl_ad_i64(b, 0), s->width);
}
static FlValue *last_columns(FlBuilder *b, const Qr *s, FlValue *m) {
  return fl_ad_columns(b, m, s->width, s->n);
}

/* z u^-1, and z u'^-1 */
static FlValue *over(FlBuilder *b, FlValue *z, FlValue *u, bool turned) {
  FlValue *left = turned ? u : fl_ad_turned(b, u);
  return fl_ad_turned(b, fl_ad_solve(b, left, fl_ad_turned(b, z)));
}

bool fl_ad_back_qr(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *a = fl_ad_arg(k, 0), *gq = fl_ad_of(k, 0), *gr = fl_ad_of(k, 1);
  Qr s = qr_of(b, a, fl_ad_result(k, 0), fl_ad_result(k, 1));
  if (!gq) gq = fl_ad_zero_like(b, s.q);
  if (!gr) gr = fl_ad_zero_like(b, s.r);
  FlValue *gu = fl_ad_weighted(b, first_columns(b, &s, gr), 0, 1, 1), *gw = last_columns(b, &s, gr);
  gq = fl_ad_plus(b, gq, fl_ad_matmul(b, last_columns(b, &s, a), gw, 2));
  FlValue *m = fl_ad_minus(b, fl_ad_matmul(b, s.u, gu, 2), fl_ad_matmul(b, gq, s.q, 1));
  FlValue *low = fl_ad_weighted(b, m, 1, 0.5, 0);
  FlValue *z = fl_ad_plus(b, gq, fl_ad_matmul(b, s.q, fl_ad_plus(b, low, fl_ad_turned(b, low)), 0));
  fl_ad_give(k, 0, fl_ad_beside(b, over(b, z, s.u, true), fl_ad_matmul(b, s.q, gw, 0)));
  return true;
}

bool fl_ad_ahead_qr(const FlAdAhead *k) {
  FlBuilder *b = k->b;
  FlValue *a = fl_ad_in(k, 0), *da = fl_ad_moves(k, 0);
  Qr s = qr_of(b, a, fl_ad_made(k, 0), fl_ad_made(k, 1));
  FlValue *c = over(b, first_columns(b, &s, da), s.u, false), *qc = fl_ad_matmul(b, s.q, c, 1);
  FlValue *low = fl_ad_weighted(b, qc, 1, 0, 0);
  FlValue *up = fl_ad_plus(b, fl_ad_minus(b, qc, low), fl_ad_turned(b, low)); /* du u^-1 */
  FlValue *dq = fl_ad_minus(b, c, fl_ad_matmul(b, s.q, up, 0));
  FlValue *dw = fl_ad_plus(b, fl_ad_matmul(b, dq, last_columns(b, &s, a), 1),
                           fl_ad_matmul(b, s.q, last_columns(b, &s, da), 1));
  k->out[0] = dq;
  k->out[1] = fl_ad_beside(b, fl_ad_matmul(b, up, s.u, 0), dw);
  return true;
}

/* ---- svd: a = u s v ---- */

/* f[i, j] m[i, j], and that with its transpose added, for f that changes its sign when transposed. */
static FlValue *gap_part(FlBuilder *b, FlValue *gaps, FlValue *m) {
  FlValue *j = fl_ad_times(b, gaps, m);
  return fl_ad_plus(b, j, fl_ad_turned(b, j));
}

/* All of u, s, v: those of the op, or, where it gives s alone, of another. */
static void svd_parts(FlBuilder *b, const FlOp *op, FlValue *a, FlValue *const *made, FlValue **out) {
  if (op->attrs.i == 0) {
    for (int i = 0; i < 3; i++) out[i] = made[i];
    return;
  }
  FlType1 types[3] = {a->type, fl_t_array((FlDtype)a->type.dtype, 1), a->type};
  FlOp *svd = fl_ir_op(b, FL_OP_LINALG_SVD, 1, &a, 3, types, 0);
  svd->attrs.s = op->attrs.s;
  for (int i = 0; i < 3; i++) out[i] = svd->results[i];
}

bool fl_ad_back_svd(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  bool whole = k->op->attrs.i == 0;
  FlValue *made[3], *p[3], *inner = NULL;
  for (int i = 0; i < k->op->n_results; i++) made[i] = fl_ad_result(k, i);
  svd_parts(b, k->op, fl_ad_arg(k, 0), made, p);
  FlValue *u = p[0], *s = p[1], *v = p[2];
  FlValue *gu = whole ? fl_ad_of(k, 0) : NULL, *gs = fl_ad_of(k, whole ? 1 : 0),
          *gv = whole ? fl_ad_of(k, 2) : NULL;
  FlValue *gaps = gu || gv ? fl_ad_gaps(b, s, true) : NULL, *outside = NULL;
  if (gs) inner = fl_ad_diagonal(b, gs);
  if (gu) {
    FlValue *m = fl_ad_matmul(b, u, gu, 1);
    inner = fl_ad_both(b, inner, fl_ad_by_column(b, FL_OP_MUL, gap_part(b, gaps, m), s));
    FlValue *rest = fl_ad_minus(b, gu, fl_ad_matmul(b, u, m, 0));
    outside = fl_ad_matmul(b, fl_ad_by_column(b, FL_OP_DIV, rest, s), v, 0);
  }
  if (gv) {
    FlValue *m = fl_ad_matmul(b, v, gv, 2);
    inner = fl_ad_both(b, inner, fl_ad_by_row(b, FL_OP_MUL, gap_part(b, gaps, m), s));
    FlValue *rest = fl_ad_minus(b, gv, fl_ad_matmul(b, fl_ad_matmul(b, gv, v, 2), v, 0));
    outside = fl_ad_both(b, outside, fl_ad_matmul(b, u, fl_ad_by_row(b, FL_OP_DIV, rest, s), 0));
  }
  FlValue *sum = fl_ad_matmul(b, fl_ad_matmul(b, u, inner, 0), v, 0);
  fl_ad_give(k, 0, fl_ad_both(b, sum, outside));
  return true;
}

bool fl_ad_ahead_svd(const FlAdAhead *k) {
  FlBuilder *b = k->b;
  FlValue *da = fl_ad_moves(k, 0), *made[3], *r[3];
  for (int i = 0; i < k->op->n_results; i++) made[i] = fl_ad_made(k, i);
  svd_parts(b, k->op, fl_ad_in(k, 0), made, r);
  FlValue *u = r[0], *s = r[1], *v = r[2];
  FlValue *av = fl_ad_matmul(b, da, v, 2), *ua = fl_ad_matmul(b, u, da, 1), *p = fl_ad_matmul(b, u, av, 1);
  k->out[k->op->attrs.i ? 0 : 1] = fl_ad_diagonal_of(b, p);
  if (k->op->attrs.i) return true;
  FlValue *gaps = fl_ad_gaps(b, s, true), *turned = fl_ad_turned(b, p);
  FlValue *left = fl_ad_plus(b, fl_ad_by_column(b, FL_OP_MUL, p, s), fl_ad_by_row(b, FL_OP_MUL, turned, s));
  FlValue *right = fl_ad_plus(b, fl_ad_by_row(b, FL_OP_MUL, p, s), fl_ad_by_column(b, FL_OP_MUL, turned, s));
  FlValue *u_rest = fl_ad_minus(b, av, fl_ad_matmul(b, u, p, 0));
  FlValue *v_rest = fl_ad_minus(b, ua, fl_ad_matmul(b, p, v, 0));
  k->out[0] = fl_ad_plus(b, fl_ad_matmul(b, u, fl_ad_times(b, gaps, left), 0),
                         fl_ad_by_column(b, FL_OP_DIV, u_rest, s));
  k->out[2] = fl_ad_plus(b, fl_ad_matmul(b, fl_ad_times(b, gaps, right), v, 1),
                         fl_ad_by_row(b, FL_OP_DIV, v_rest, s));
  return true;
}

/* ---- eigh: a = v w v' ---- */

bool fl_ad_back_eigh(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *w = fl_ad_result(k, 0), *v = fl_ad_result(k, 1), *gw = k->g, *gv = fl_ad_of(k, 1);
  FlValue *inner = gw ? fl_ad_diagonal(b, gw) : NULL;
  if (gv) inner = fl_ad_both(b, inner, fl_ad_times(b, fl_ad_gaps(b, w, false), fl_ad_matmul(b, v, gv, 1)));
  FlValue *sum = fl_ad_matmul(b, fl_ad_matmul(b, v, inner, 0), v, 2);
  fl_ad_give(k, 0, gv ? fl_ad_symmetric(b, sum) : sum);
  return true;
}

bool fl_ad_ahead_eigh(const FlAdAhead *k) {
  FlBuilder *b = k->b;
  FlValue *w = fl_ad_made(k, 0), *v = fl_ad_made(k, 1), *da = fl_ad_symmetric(b, fl_ad_moves(k, 0));
  FlValue *p = fl_ad_matmul(b, fl_ad_matmul(b, v, da, 1), v, 0);
  k->out[0] = fl_ad_diagonal_of(b, p);
  k->out[1] = fl_ad_matmul(b, v, fl_ad_times(b, fl_ad_gaps(b, w, false), p), 0);
  return true;
}

/* ---- eig: a v = v w, complex; a complex matrix is its parts, or `tall`: the one above the other ---- */

typedef struct Complex {
  FlValue *re, *im;
} Complex;

static FlValue *tall(FlBuilder *b, Complex z) {
  return fl_ad_op(b, FL_OP_CONCAT, 2, (FlValue *[]){z.re, z.im}, z.re->type, 0);
}

static Complex parts_of(FlBuilder *b, FlValue *tall_one, FlValue *n) {
  FlValue *all = fl_ir_binary(b, FL_OP_WRAP_ADD, n, n), *zero = fl_ad_i64(b, 0);
  return (Complex){fl_ad_op(b, FL_OP_ROWS, 3, (FlValue *[]){tall_one, zero, n}, tall_one->type, 0),
                   fl_ad_op(b, FL_OP_ROWS, 3, (FlValue *[]){tall_one, n, all}, tall_one->type, 0)};
}

/* The real matrix that does to tall ones what v does. */
static FlValue *acting(FlBuilder *b, Complex v) {
  FlValue *minus = fl_ad_scaled_by(b, v.im, -1);
  return fl_ad_beside(b, tall(b, v), tall(b, (Complex){minus, v.re}));
}

/* m[i, j] / (w[j] - w[i]), or divided by its conjugate; 0 on the diagonal, or there the diagonal `on`. */
static Complex over_gaps(FlBuilder *b, Complex m, Complex w, bool conjugate, const Complex *on) {
  FlDtype d = (FlDtype)w.re->type.dtype;
  FlValue *n = fl_ir_dim(b, w.re, 0), *sizes[2] = {n, n};
  FlAdLoop loop = fl_ad_loop(b, FL_OP_MAP, 2, sizes);
  FlValue *const *i = loop.region->params, *x[2];
  Complex gap;
  for (int part = 0; part < 2; part++) {
    FlValue *line = part ? w.im : w.re;
    x[part] =
        fl_ir_binary(b, FL_OP_SUB, fl_ir_load(b, line, 1, i + 1, true), fl_ir_load(b, line, 1, i, true));
  }
  gap = (Complex){x[0], conjugate ? fl_ir_unary(b, FL_OP_NEG, x[1]) : x[1]};
  FlValue *size = fl_ir_binary(b, FL_OP_ADD, fl_ir_binary(b, FL_OP_MUL, gap.re, gap.re),
                               fl_ir_binary(b, FL_OP_MUL, gap.im, gap.im));
  FlValue *re = fl_ir_load(b, m.re, 2, i, true), *im = fl_ir_load(b, m.im, 2, i, true);
  FlValue *up = fl_ir_binary(b, FL_OP_ADD, fl_ir_binary(b, FL_OP_MUL, re, gap.re),
                             fl_ir_binary(b, FL_OP_MUL, im, gap.im));
  FlValue *side = fl_ir_binary(b, FL_OP_SUB, fl_ir_binary(b, FL_OP_MUL, im, gap.re),
                               fl_ir_binary(b, FL_OP_MUL, re, gap.im));
  FlValue *same = fl_ir_binary(b, FL_OP_EQ, i[0], i[1]), *zero = fl_ir_const_f(b, d, 0.0);
  FlValue *out[2] = {fl_ir_binary(b, FL_OP_DIV, up, size), fl_ir_binary(b, FL_OP_DIV, side, size)};
  out[0] = fl_ir_select(b, same, on ? fl_ir_load(b, on->re, 1, i, true) : zero, out[0]);
  out[1] = fl_ir_select(b, same, on ? fl_ir_load(b, on->im, 1, i, true) : zero, out[1]);
  fl_ad_loop_end(b, &loop, 2, out);
  return (Complex){loop.op->results[0], loop.op->results[1]};
}

/* Of each vector the place of its largest element that is real: by that LAPACK chose its phase. */
static FlValue *anchors(FlBuilder *b, Complex v) {
  FlDtype d = (FlDtype)v.re->type.dtype;
  FlValue *n = fl_ir_dim(b, v.re, 0);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &n);
  FlAdLoop red = fl_ad_loop(b, FL_OP_REDUCE, 1, &n);
  FlValue *place[2] = {red.region->params[0], m.region->params[0]};
  FlValue *real = fl_ir_binary(b, FL_OP_EQ, fl_ir_load(b, v.im, 2, place, true), fl_ir_const_f(b, d, 0.0));
  FlValue *size = fl_ir_unary(b, FL_OP_ABS, fl_ir_load(b, v.re, 2, place, true));
  FlValue *x = fl_ir_select(b, real, size, fl_ir_const_f(b, d, -1.0));
  FlType1 i64 = fl_t_scalar(FL_I64);
  fl_ir_yield(red.region, b->module, 1, &x);
  *b = red.outer;
  fl_ir_set_reduction(red.op, FL_RED_ARGMAX, false);
  red.op->attrs.i = FL_REDUCE_SOME;
  fl_ir_add_results(b, red.op, 1, &i64);
  fl_ad_loop_end(b, &m, 1, red.op->results);
  return m.op->results[0];
}

/* For each column the real part of conj(x) y, summed; with `imaginary` its imaginary part. */
static FlValue *column_products(FlBuilder *b, Complex x, Complex y, bool imaginary) {
  FlValue *p = fl_ad_times(b, x.re, imaginary ? y.im : y.re),
          *q = fl_ad_times(b, x.im, imaginary ? y.re : y.im);
  FlValue *sum = imaginary ? fl_ad_minus(b, p, q) : fl_ad_plus(b, p, q), *n = fl_ir_dim(b, sum, 0);
  FlValue *turned = fl_ad_turned(b, sum);
  FlAdLoop ones = fl_ad_loop(b, FL_OP_MAP, 1, &n);
  FlValue *one = fl_ir_const_f(b, (FlDtype)sum->type.dtype, 1.0);
  fl_ad_loop_end(b, &ones, 1, &one);
  return fl_ad_matmul(b, turned, ones.op->results[0], 0);
}

/* Of each column j the element at[j] of m, over that of v. */
static FlValue *at_anchors(FlBuilder *b, FlValue *m, FlValue *v, FlValue *at) {
  FlValue *n = fl_ir_dim(b, at, 0);
  FlAdLoop loop = fl_ad_loop(b, FL_OP_MAP, 1, &n);
  FlValue *j = loop.region->params[0], *place[2] = {fl_ir_load(b, at, 1, &j, true), j};
  FlValue *x = fl_ir_binary(b, FL_OP_DIV, fl_ir_load(b, m, 2, place, true), fl_ir_load(b, v, 2, place, true));
  fl_ad_loop_end(b, &loop, 1, &x);
  return loop.op->results[0];
}

/* The tangents u of the vectors, changed along each vector so that its length and phase stay as they are. */
static Complex kept_in_place(FlBuilder *b, Complex v, Complex u) {
  FlValue *along = column_products(b, v, u, false), *turn = at_anchors(b, u.im, v.re, anchors(b, v));
  FlValue *re = fl_ad_minus(b, fl_ad_minus(b, u.re, fl_ad_by_column(b, FL_OP_MUL, v.re, along)),
                            fl_ad_scaled_by(b, fl_ad_by_column(b, FL_OP_MUL, v.im, turn), -1));
  FlValue *im = fl_ad_minus(b, fl_ad_minus(b, u.im, fl_ad_by_column(b, FL_OP_MUL, v.im, along)),
                            fl_ad_by_column(b, FL_OP_MUL, v.re, turn));
  return (Complex){re, im};
}

/* The way back of kept_in_place: adjoints of u from those of what it gives. */
static Complex back_in_place(FlBuilder *b, Complex v, Complex g) {
  FlValue *along = column_products(b, v, g, false), *turn = column_products(b, v, g, true),
          *at = anchors(b, v);
  FlValue *re = fl_ad_minus(b, g.re, fl_ad_by_column(b, FL_OP_MUL, v.re, along));
  FlValue *im = fl_ad_minus(b, g.im, fl_ad_by_column(b, FL_OP_MUL, v.im, along));
  FlValue *sizes[2];
  fl_ad_sizes(b, im, sizes);
  FlAdLoop loop = fl_ad_loop(b, FL_OP_MAP, 2, sizes);
  FlValue *const *i = loop.region->params;
  FlValue *here = fl_ir_binary(b, FL_OP_EQ, i[0], fl_ir_load(b, at, 1, i + 1, true));
  FlValue *part =
      fl_ir_binary(b, FL_OP_DIV, fl_ir_load(b, turn, 1, i + 1, true), fl_ir_load(b, v.re, 2, i, true));
  FlValue *x = fl_ir_load(b, im, 2, i, true);
  x = fl_ir_select(b, here, fl_ir_binary(b, FL_OP_SUB, x, part), x);
  fl_ad_loop_end(b, &loop, 1, &x);
  return (Complex){re, loop.op->results[0]};
}

/* a counts the real part of v^-H p v^H, with p the adjoint of v^-1 da v. */
bool fl_ad_back_eig(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  Complex w = {fl_ad_result(k, 0), fl_ad_result(k, 1)}, v = {fl_ad_result(k, 2), fl_ad_result(k, 3)};
  Complex gw = {fl_ad_of(k, 0), fl_ad_of(k, 1)}, gv = {fl_ad_of(k, 2), fl_ad_of(k, 3)}, p;
  FlValue *n = fl_ir_dim(b, v.re, 0), *acts = acting(b, v);
  if (!gw.re) gw.re = fl_ad_zero_like(b, w.re);
  if (!gw.im) gw.im = fl_ad_zero_like(b, w.im);
  if (gv.re || gv.im) {
    if (!gv.re) gv.re = fl_ad_zero_like(b, v.re);
    if (!gv.im) gv.im = fl_ad_zero_like(b, v.im);
    Complex c = parts_of(b, fl_ad_matmul(b, acts, tall(b, back_in_place(b, v, gv)), 1), n);
    p = over_gaps(b, c, w, true, &gw);
  } else {
    p = (Complex){fl_ad_diagonal(b, gw.re), fl_ad_diagonal(b, gw.im)};
  }
  Complex pv = {fl_ad_plus(b, fl_ad_matmul(b, p.re, v.re, 2), fl_ad_matmul(b, p.im, v.im, 2)),
                fl_ad_minus(b, fl_ad_matmul(b, p.im, v.re, 2), fl_ad_matmul(b, p.re, v.im, 2))};
  fl_ad_give(k, 0, parts_of(b, fl_ad_solve(b, fl_ad_turned(b, acts), tall(b, pv)), n).re);
  return true;
}

bool fl_ad_ahead_eig(const FlAdAhead *k) {
  FlBuilder *b = k->b;
  Complex w = {fl_ad_made(k, 0), fl_ad_made(k, 1)}, v = {fl_ad_made(k, 2), fl_ad_made(k, 3)};
  FlValue *da = fl_ad_moves(k, 0), *n = fl_ir_dim(b, v.re, 0), *acts = acting(b, v);
  Complex av = {fl_ad_matmul(b, da, v.re, 0), fl_ad_matmul(b, da, v.im, 0)};
  Complex p = parts_of(b, fl_ad_solve(b, acts, tall(b, av)), n), c = over_gaps(b, p, w, false, NULL);
  Complex dv = kept_in_place(b, v, parts_of(b, fl_ad_matmul(b, acts, tall(b, c), 0), n));
  k->out[0] = fl_ad_diagonal_of(b, p.re);
  k->out[1] = fl_ad_diagonal_of(b, p.im);
  k->out[2] = dv.re;
  k->out[3] = dv.im;
  return true;
}
