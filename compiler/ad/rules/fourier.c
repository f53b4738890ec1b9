/* fourier.c: rules for fft, rfft and irfft. In: adjoints of the parts of the transform, or tangents of what
 * is transformed. Out: those of the other side. Always: a transform is linear, so forwards it is the
 * transform of the tangent; backwards it is the transform with the sign of the exponent turned, scaled. */
#include "ad/rules/rules.h"

static FlOp *transform(FlBuilder *b, FlOpcode code, int n, FlValue *const *args, int n_results, int64_t i) {
  FlType1 types[2] = {args[0]->type, args[0]->type};
  FlOp *op = fl_ir_op(b, code, n, args, n_results, types, 0);
  op->attrs.i = i;
  return op;
}

static FlValue *last_size(FlBuilder *b, FlValue *x) { return fl_ir_dim(b, x, x->type.rank - 1); }

static FlValue *as_float(FlBuilder *b, FlValue *n, FlValue *like) {
  return fl_ir_convert(b, n, (FlDtype)like->type.dtype);
}

bool fl_ad_back_fft(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *g[2] = {fl_ad_of(k, 0), fl_ad_of(k, 1)}, *x = fl_ad_arg(k, 0);
  bool inverse = k->op->attrs.i == 1;
  for (int i = 0; i < 2; i++)
    if (!g[i]) g[i] = fl_ad_zero_like(b, fl_ad_result(k, i));
  FlOp *op = transform(b, FL_OP_FFT, 2, g, 2, inverse ? 0 : 1);
  FlValue *n = as_float(b, last_size(b, x), x);
  if (inverse) n = fl_ir_binary(b, FL_OP_DIV, fl_ir_const_f(b, (FlDtype)x->type.dtype, 1.0), n);
  for (int i = 0; i < k->op->n_args; i++)
    if (fl_ad_wants(k, i)) fl_ad_give(k, i, fl_ad_scaled(b, op->results[i], n));
  return true;
}

bool fl_ad_ahead_fft(const FlAdAhead *k) {
  FlValue *args[2];
  for (int i = 0; i < k->op->n_args; i++) args[i] = fl_ad_tangent_or_zero(k->f, k->op->args[i]);
  FlOp *op = transform(k->b, k->op->code, k->op->n_args, args, 2, k->op->attrs.i);
  k->out[0] = op->results[0];
  k->out[1] = op->results[1];
  return true;
}

/* An array with its last axis made n long, by zeros. */
static FlValue *padded(FlBuilder *b, FlValue *x, FlValue *n) {
  FlValue *sizes[FL_MAX_RANK];
  int last = x->type.rank - 1;
  fl_ad_sizes(b, x, sizes);
  FlValue *own = sizes[last];
  sizes[last] = n;
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, last + 1, sizes);
  FlValue *in = fl_ir_binary(b, FL_OP_LT, m.region->params[last], own);
  FlType1 scalar = fl_t_scalar((FlDtype)x->type.dtype);
  FlOp *choice = fl_ir_op(b, FL_OP_IF, 1, &in, 1, &scalar, 2);
  FlBuilder side = *b;
  side.region = fl_ir_region(b, choice, 0, 0, NULL);
  FlValue *v = fl_ir_load(&side, x, last + 1, m.region->params, false);
  fl_ir_yield(side.region, b->module, 1, &v);
  side.region = fl_ir_region(b, choice, 1, 0, NULL);
  v = fl_ir_const_f(&side, (FlDtype)x->type.dtype, 0.0);
  fl_ir_yield(side.region, b->module, 1, &v);
  fl_ad_loop_end(b, &m, 1, choice->results);
  return m.op->results[0];
}

bool fl_ad_back_rfft(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *x = fl_ad_arg(k, 0), *n = last_size(b, x), *g[2];
  for (int i = 0; i < 2; i++) {
    g[i] = fl_ad_of(k, i);
    if (!g[i]) g[i] = fl_ad_zero_like(b, fl_ad_result(k, i));
    g[i] = padded(b, g[i], n);
  }
  FlOp *op = transform(b, FL_OP_FFT, 2, g, 2, 1);
  fl_ad_give(k, 0, fl_ad_scaled(b, op->results[0], as_float(b, n, x)));
  return true;
}

/* The first and, for an even n, the last element count once, all others twice: they stand for two. */
bool fl_ad_back_irfft(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *n = fl_ad_arg(k, 2), *sizes[FL_MAX_RANK];
  FlDtype d = (FlDtype)k->g->type.dtype;
  FlOp *op = transform(b, FL_OP_RFFT, 1, &k->g, 2, 0);
  for (int i = 0; i < 2; i++) {
    if (!fl_ad_wants(k, i)) continue;
    FlValue *t = op->results[i], *zero = fl_ad_i64(b, 0);
    fl_ad_sizes(b, fl_ad_arg(k, i), sizes);
    int rank = t->type.rank;
    FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, rank, sizes);
    FlValue *j = m.region->params[rank - 1];
    FlValue *once = fl_ir_binary(b, FL_OP_OR, fl_ir_binary(b, FL_OP_EQ, j, zero),
                                 fl_ir_binary(b, FL_OP_EQ, fl_ir_binary(b, FL_OP_WRAP_ADD, j, j), n));
    FlValue *c = fl_ir_select(b, once, fl_ir_const_f(b, d, 1.0), fl_ir_const_f(b, d, 2.0));
    c = fl_ir_binary(b, FL_OP_DIV, c, fl_ir_convert(b, n, d));
    FlValue *v = fl_ir_binary(b, FL_OP_MUL, fl_ir_load(b, t, rank, m.region->params, true), c);
    if (i == 1) v = fl_ir_select(b, once, fl_ir_const_f(b, d, 0.0), v);
    fl_ad_loop_end(b, &m, 1, &v);
    fl_ad_give(k, i, m.op->results[0]);
  }
  return true;
}

bool fl_ad_ahead_irfft(const FlAdAhead *k) {
  FlValue *args[3];
  for (int i = 0; i < 2; i++) args[i] = fl_ad_tangent_or_zero(k->f, k->op->args[i]);
  args[2] = fl_ad_in(k, 2);
  k->out[0] = transform(k->b, FL_OP_IRFFT, 3, args, 1, 0)->results[0];
  return true;
}
