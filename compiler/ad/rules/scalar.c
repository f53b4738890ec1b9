/* scalar.c: the derivative of each scalar operator by its arguments, times a number: backwards the adjoint of
 * its result, forwards the tangent of one argument.
 *
 * A factor that may be infinite where the function is not (1 / x at 0) counts only where the adjoint is not
 * 0, so that `if_else(x > 0, sqrt(x), 0)` has the derivative 0 at 0. Formulas: M. Abramowitz, I. Stegun,
 * "Handbook of Mathematical Functions", 1964, chapters 4 and 7. */
#include "ad/rules/rules.h"

typedef struct Rule {
  FlAdFrame *f;
  const FlOp *op;
  FlValue *g, *x, *y, *z, *r; /* what the derivative is times; arguments; the result */
  int only;                   /* forwards: the argument whose part is wanted; else -1 */
  FlValue **sum;              /* forwards: the parts so far, or NULL */
} Rule;

static FlValue *number(const Rule *k, double v) {
  return fl_ir_const_f(&k->f->b, (FlDtype)k->g->type.dtype, v);
}
static FlValue *op1(const Rule *k, FlOpcode code, FlValue *a) { return fl_ir_unary(&k->f->b, code, a); }
static FlValue *op2(const Rule *k, FlOpcode code, FlValue *a, FlValue *b) {
  return fl_ir_binary(&k->f->b, code, a, b);
}
static FlValue *times(const Rule *k, FlValue *a, FlValue *b) { return op2(k, FL_OP_MUL, a, b); }
static FlValue *over(const Rule *k, FlValue *a, FlValue *b) { return op2(k, FL_OP_DIV, a, b); }
static FlValue *minus(const Rule *k, FlValue *a) { return op1(k, FL_OP_NEG, a); }
static FlValue *square(const Rule *k, FlValue *a) { return times(k, a, a); }
static FlValue *select(const Rule *k, FlValue *c, FlValue *yes, FlValue *no) {
  return fl_ir_select(&k->f->b, c, yes, no);
}

static bool wants(const Rule *k, int arg) {
  return k->only >= 0 ? arg == k->only : fl_ad_active(k->f->ad, k->op->args[arg]);
}
static void give(const Rule *k, int arg, FlValue *part) {
  if (k->only < 0) fl_ad_add(k->f, k->op->args[arg], part);
  else if (arg == k->only) *k->sum = *k->sum ? op2(k, FL_OP_ADD, *k->sum, part) : part;
}
/* The same where the factor may be infinite. */
static void give_where(const Rule *k, int arg, FlValue *part) {
  give(k, arg, fl_ad_where(&k->f->b, k->g, part));
}

static bool is_constant(const FlValue *v) { return v->op && v->op->code == FL_OP_CONST; }

static void divided(const Rule *k) {
  bool reciprocal = is_constant(k->x) && k->x->op->attrs.f == 1.0; /* r is 1 / y: no division is needed */
  FlValue *dx = reciprocal ? times(k, k->g, k->r) : over(k, k->g, k->y);
  if (wants(k, 0) && is_constant(k->y)) give(k, 0, dx);
  else if (wants(k, 0)) give_where(k, 0, dx);
  if (wants(k, 1)) give_where(k, 1, minus(k, times(k, dx, k->r)));
}

/* By x: y x^(y-1), 0 where y is 0; by y: x^y log x, 0 where x is 0. */
static void power(const Rule *k) {
  FlValue *zero = number(k, 0.0);
  if (wants(k, 0)) {
    FlValue *less = op2(k, FL_OP_POW, k->x, op2(k, FL_OP_SUB, k->y, number(k, 1.0)));
    FlValue *part = times(k, k->g, times(k, k->y, less));
    if (!is_constant(k->y) || k->y->op->attrs.f == 0.0)
      part = select(k, op2(k, FL_OP_EQ, k->y, zero), zero, part);
    give_where(k, 0, part);
  }
  if (wants(k, 1)) {
    FlValue *part = times(k, k->g, times(k, k->r, op1(k, FL_OP_LOG, k->x)));
    give_where(k, 1, select(k, op2(k, FL_OP_EQ, k->x, zero), zero, part));
  }
}

/* By the argument that `first` says, else by the other. */
static void one_of(const Rule *k, FlValue *first, int a, int b) {
  FlValue *zero = number(k, 0.0);
  if (wants(k, a)) give(k, a, select(k, first, k->g, zero));
  if (wants(k, b)) give(k, b, select(k, first, zero, k->g));
}

/* The angle of (x, y): (x dy - y dx) / (x^2 + y^2); the arguments are y, x. */
static void angle(const Rule *k) {
  FlValue *d = op2(k, FL_OP_ADD, square(k, k->x), square(k, k->y));
  if (wants(k, 0)) give_where(k, 0, over(k, times(k, k->g, k->y), d));
  if (wants(k, 1)) give_where(k, 1, minus(k, over(k, times(k, k->g, k->x), d)));
}

static FlValue *polygamma(const Rule *k, int64_t order) {
  return op2(k, FL_OP_POLYGAMMA, k->x, fl_ad_i64(&k->f->b, order));
}

/* Functions of floats. false: no rule. */
static bool function(const Rule *k) {
  FlValue *g = k->g, *x = k->x, *r = k->r, *one = number(k, 1.0);
  const double ln2 = 0.693147180559945309417, ln10 = 2.30258509299404568402,
               two_sqrt_pi = 1.12837916709551257390;
  switch (k->op->code) {
  case FL_OP_EXP: give_where(k, 0, times(k, g, r)); return true; /* 1 / (1 + exp(1000)) */
  case FL_OP_EXPM1: give(k, 0, times(k, g, op2(k, FL_OP_ADD, r, one))); return true;
  case FL_OP_LOG: give_where(k, 0, over(k, g, x)); return true;
  case FL_OP_LOG2: give_where(k, 0, over(k, g, times(k, x, number(k, ln2)))); return true;
  case FL_OP_LOG10: give_where(k, 0, over(k, g, times(k, x, number(k, ln10)))); return true;
  case FL_OP_LOG1P: give_where(k, 0, over(k, g, op2(k, FL_OP_ADD, one, x))); return true;
  case FL_OP_SIN: give(k, 0, times(k, g, op1(k, FL_OP_COS, x))); return true;
  case FL_OP_COS: give(k, 0, minus(k, times(k, g, op1(k, FL_OP_SIN, x)))); return true;
  case FL_OP_TAN: give_where(k, 0, times(k, g, op2(k, FL_OP_ADD, one, square(k, r)))); return true;
  case FL_OP_ASIN:
  case FL_OP_ACOS: {
    FlValue *root = op1(k, FL_OP_SQRT, op2(k, FL_OP_SUB, one, square(k, x))), *part = over(k, g, root);
    give_where(k, 0, k->op->code == FL_OP_ASIN ? part : minus(k, part));
    return true;
  }
  case FL_OP_ATAN: give(k, 0, over(k, g, op2(k, FL_OP_ADD, one, square(k, x)))); return true;
  case FL_OP_SINH: give(k, 0, times(k, g, op1(k, FL_OP_COSH, x))); return true;
  case FL_OP_COSH: give(k, 0, times(k, g, op1(k, FL_OP_SINH, x))); return true;
  case FL_OP_TANH: give(k, 0, times(k, g, op2(k, FL_OP_SUB, one, square(k, r)))); return true;
  case FL_OP_GAMMA: give(k, 0, times(k, g, times(k, r, polygamma(k, 0)))); return true;
  case FL_OP_LGAMMA: give(k, 0, times(k, g, polygamma(k, 0))); return true;
  case FL_OP_POLYGAMMA: {
    FlOp *order = k->y->op;
    if (!order || order->code != FL_OP_CONST) break;
    give(k, 0, times(k, g, polygamma(k, order->attrs.i + 1)));
    return true;
  }
  case FL_OP_ERF:
  case FL_OP_ERFC: {
    FlValue *bell = op1(k, FL_OP_EXP, minus(k, square(k, x)));
    double c = k->op->code == FL_OP_ERF ? two_sqrt_pi : -two_sqrt_pi;
    give(k, 0, times(k, g, times(k, number(k, c), bell)));
    return true;
  }
  case FL_OP_ATAN2: angle(k); return true;
  case FL_OP_HYPOT:
    if (wants(k, 0)) give_where(k, 0, over(k, times(k, g, x), r));
    if (wants(k, 1)) give_where(k, 1, over(k, times(k, g, k->y), r));
    return true;
  case FL_OP_CBRT: give_where(k, 0, over(k, g, times(k, number(k, 3.0), square(k, r)))); return true;
  case FL_OP_ROUND_DIGITS: return true; /* constant but at steps */
  case FL_OP_ROUND:                     /* gives integers */
  case FL_OP_FLOOR:
  case FL_OP_CEIL:
  case FL_OP_TRUNC:
  case FL_OPS_NOT_MATHS: break;
  }
  return false;
}

static bool rule_of(const Rule *k) {
  FlValue *g = k->g;
  switch (k->op->code) {
  case FL_OP_ADD:
    give(k, 0, g);
    give(k, 1, g);
    return true;
  case FL_OP_SUB:
    give(k, 0, g);
    if (wants(k, 1)) give(k, 1, minus(k, g));
    return true;
  case FL_OP_MUL:
    if (wants(k, 0)) give(k, 0, times(k, g, k->y));
    if (wants(k, 1)) give(k, 1, times(k, g, k->x));
    return true;
  case FL_OP_DIV: divided(k); return true;
  case FL_OP_POW: power(k); return true;
  case FL_OP_NEG: give(k, 0, minus(k, g)); return true;
  case FL_OP_ABS: give(k, 0, times(k, g, op1(k, FL_OP_SIGN, k->x))); return true;
  case FL_OP_FMA:
    if (wants(k, 0)) give(k, 0, times(k, g, k->y));
    if (wants(k, 1)) give(k, 1, times(k, g, k->x));
    give(k, 2, g);
    return true;
  case FL_OP_MIN: one_of(k, op2(k, FL_OP_LE, k->x, k->y), 0, 1); return true;
  case FL_OP_MAX: one_of(k, op2(k, FL_OP_GE, k->x, k->y), 0, 1); return true;
  case FL_OP_SELECT: one_of(k, k->x, 1, 2); return true;
  case FL_OP_CONVERT:
    give(k, 0,
         k->only < 0 ? fl_ir_convert(&k->f->b, g, (FlDtype)k->op->args[0]->type.dtype)
                     : fl_ir_convert(&k->f->b, g, (FlDtype)k->op->results[0]->type.dtype));
    return true;
  case FL_OP_MOD:
    give(k, 0, g);
    if (wants(k, 1)) give(k, 1, minus(k, times(k, g, op2(k, FL_OP_FLOORDIV, k->x, k->y))));
    return true;
  case FL_OP_SQRT: give_where(k, 0, over(k, times(k, g, number(k, 0.5)), k->r)); return true;
  case FL_OP_SIGN: /* constant but at steps */
  case FL_OP_FLOORDIV: return true;
  case FL_OPS_MATHS:
    if (function(k)) return true;
    break;
  case FL_OP_WRAP_ADD: /* of integers, bools, texts */
  case FL_OP_WRAP_SUB:
  case FL_OP_WRAP_MUL:
  case FL_OP_AND:
  case FL_OP_OR:
  case FL_OP_NOT:
  case FL_OP_IS_NAN:
  case FL_OP_IS_FINITE:
  case FL_OPS_ORDER:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_NOT_SCALAR: break;
  }
  return fl_ad_fail_op(k->f->ad, k->op, "");
}

FlValue *fl_ad_product_rest(FlBuilder *b, FlValue *v, FlValue *zeros, FlValue *others) {
  FlDtype d = (FlDtype)v->type.dtype;
  FlValue *zero = fl_ir_const_f(b, d, 0.0), *one = fl_ir_const_f(b, d, 1.0);
  FlValue *alone = fl_ir_select(b, fl_ir_binary(b, FL_OP_EQ, zeros, one), others, zero);
  FlValue *rest =
      fl_ir_select(b, fl_ir_binary(b, FL_OP_EQ, zeros, zero), fl_ir_binary(b, FL_OP_DIV, others, v), zero);
  return fl_ir_select(b, fl_ir_binary(b, FL_OP_EQ, v, zero), alone, rest);
}

static Rule make_rule(FlAdFrame *f, const FlOp *op, FlValue *g) {
  Rule k = {.f = f, .op = op, .g = g, .r = fl_ad_at(f, op->results[0]), .only = -1};
  if (op->n_args > 0) k.x = fl_ad_at(f, op->args[0]);
  if (op->n_args > 1) k.y = fl_ad_at(f, op->args[1]);
  if (op->n_args > 2) k.z = fl_ad_at(f, op->args[2]);
  return k;
}

bool fl_ad_scalar(FlAdFrame *f, const FlOp *op, FlValue *g) {
  Rule k = make_rule(f, op, g);
  return rule_of(&k);
}

bool fl_ad_scalar_forward(FlAdFrame *f, const FlOp *op, FlValue *const *tangents, FlValue **out) {
  *out = NULL;
  for (int i = 0; i < op->n_args; i++) {
    if (!tangents[i]) continue;
    Rule k = make_rule(f, op, tangents[i]);
    k.only = i;
    k.sum = out;
    if (!rule_of(&k)) return false;
  }
  return true;
}
