/* bounds.c: between what an i64 value lies, from how it is defined and from what checks have shown. An index
 * that runs over a range of an array's size, shifted by constants as in a stencil, is bounded by that size.
 * See bounds.h. */
#include "opt/bounds.h"

enum { MAX_DEPTH = 12 };

static int64_t add_sat(int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

static int64_t neg_sat(int64_t a) { return a == INT64_MIN ? INT64_MAX : -a; }

static bool add_fits(int64_t a, int64_t b) {
  int64_t r;
  return !__builtin_add_overflow(a, b, &r);
}

static FlBounds bounds(const FlLearnt *l, const FlValue *v, int depth);

/* The operand that is a constant, and the other one; false: neither. */
static bool split_constant(const FlOp *op, const FlValue **x, int64_t *c) {
  bool minus = op->code == FL_OP_SUB || op->code == FL_OP_WRAP_SUB;
  if (fl_ir_const_value_i(op->args[1], c)) {
    if (minus && *c == INT64_MIN) return false;
    *x = op->args[0];
    if (minus) *c = -*c;
    return true;
  }
  *x = op->args[1];
  return !minus && fl_ir_const_value_i(op->args[0], c);
}

static void shift(const FlLearnt *l, const FlValue *x, const FlValue **base, int64_t *by, int depth) {
  *by = 0;
  for (; depth < MAX_DEPTH; depth++) {
    *base = x;
    const FlOp *op = x->op;
    if (!op) return;
    bool checked = op->code == FL_OP_ADD || op->code == FL_OP_SUB;
    if (!checked && op->code != FL_OP_WRAP_ADD && op->code != FL_OP_WRAP_SUB) return;
    const FlValue *y;
    int64_t c;
    if (x->type.dtype != FL_I64 || !split_constant(op, &y, &c) || !add_fits(*by, c)) return;
    if (!checked || l->wild) {
      FlBounds b = bounds(l, y, depth + 1);
      if (!add_fits(b.lo, c) || !add_fits(b.hi, c)) return;
    }
    *by += c;
    x = y;
  }
}

void fl_opt_shift(const FlLearnt *l, const FlValue *x, const FlValue **base, int64_t *by) {
  shift(l, x, base, by, 0);
}

/* At most `size` - 1. */
static FlBounds below(const FlLearnt *l, const FlValue *size, int64_t lo, int depth) {
  FlBounds s = bounds(l, size, depth), r = {.lo = lo, .hi = add_sat(s.hi, -1), .base = NULL};
  if (s.base) {
    r.base = s.base;
    r.by = add_sat(s.by, -1);
  }
  return r;
}

static FlBounds of_param(const FlLearnt *l, const FlValue *v, FlBounds any, int depth) {
  const FlOp *loop = v->region->owner;
  if (!loop) return any;
  if (fl_opt_is_loop(loop) && v->index < fl_opt_n_sizes(loop))
    return below(l, loop->args[v->index], 0, depth);
  if (loop->code == FL_OP_FOR && v->index == 0)
    return below(l, loop->args[1], bounds(l, loop->args[0], depth).lo, depth);
  return any;
}

static FlBounds of_product(FlBounds x, FlBounds y, FlBounds any) {
  int64_t limit = (int64_t)1 << 31;
  if (x.lo < -limit || x.hi > limit || y.lo < -limit || y.hi > limit) return any;
  int64_t p[] = {x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi};
  FlBounds r = {.lo = p[0], .hi = p[0]};
  for (int i = 1; i < 4; i++) {
    if (p[i] < r.lo) r.lo = p[i];
    if (p[i] > r.hi) r.hi = p[i];
  }
  return r;
}

/* The sum of x and y, where `y` is negated before for a difference. */
static FlBounds of_sum(FlBounds x, FlBounds y) {
  FlBounds r = {.lo = add_sat(x.lo, y.lo), .hi = add_sat(x.hi, y.hi), .base = NULL};
  const FlBounds *with = x.base ? &x : &y, *by = x.base ? &y : &x;
  if (with->base && by->hi < INT64_MAX && add_fits(with->by, by->hi)) {
    r.base = with->base;
    r.by = with->by + by->hi;
  }
  return r;
}

static FlBounds of_op(const FlLearnt *l, const FlValue *v, FlBounds any, int depth) {
  const FlOp *op = v->op;
  FlBounds x, y;
  switch (op->code) {
  case FL_OP_CONST: return (FlBounds){.lo = op->attrs.i, .hi = op->attrs.i};
  case FL_OP_DIM: return (FlBounds){.lo = 0, .hi = FL_LAST_POSITION};
  case FL_OP_ADD:
  case FL_OP_SUB:
  case FL_OP_WRAP_ADD:
  case FL_OP_WRAP_SUB: {
    bool minus = op->code == FL_OP_SUB || op->code == FL_OP_WRAP_SUB;
    x = bounds(l, op->args[0], depth);
    y = bounds(l, op->args[1], depth);
    if (minus) y = (FlBounds){.lo = neg_sat(y.hi), .hi = neg_sat(y.lo), .base = NULL};
    bool wraps = l->wild || op->code == FL_OP_WRAP_ADD || op->code == FL_OP_WRAP_SUB;
    return wraps && !(add_fits(x.lo, y.lo) && add_fits(x.hi, y.hi)) ? any : of_sum(x, y);
  }
  case FL_OP_MUL:
  case FL_OP_WRAP_MUL: return of_product(bounds(l, op->args[0], depth), bounds(l, op->args[1], depth), any);
  case FL_OP_MOD: y = bounds(l, op->args[1], depth); return y.lo > 0 ? below(l, op->args[1], 0, depth) : any;
  case FL_OP_FLOORDIV:
    x = bounds(l, op->args[0], depth);
    y = bounds(l, op->args[1], depth);
    return x.lo >= 0 && y.lo > 0 ? (FlBounds){.lo = 0, .hi = x.hi / y.lo} : any;
  case FL_OP_MIN:
    x = bounds(l, op->args[0], depth);
    y = bounds(l, op->args[1], depth);
    if (y.hi < x.hi || !x.base) x.base = y.base ? y.base : x.base, x.by = y.base ? y.by : x.by;
    return (FlBounds){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi, x.base, x.by};
  case FL_OP_MAX:
    x = bounds(l, op->args[0], depth);
    y = bounds(l, op->args[1], depth);
    return (FlBounds){.lo = x.lo > y.lo ? x.lo : y.lo, .hi = x.hi > y.hi ? x.hi : y.hi};
  case FL_OP_SELECT:
    x = bounds(l, op->args[1], depth);
    y = bounds(l, op->args[2], depth);
    return (FlBounds){.lo = x.lo < y.lo ? x.lo : y.lo, .hi = x.hi > y.hi ? x.hi : y.hi};
  case FL_OP_RANDOM_INT:
    if (l->wild) return any;
    return below(l, op->args[2], bounds(l, op->args[1], depth).lo, depth);
  case FL_OP_REDUCE: {
    FlReduceKind kind = op->attrs.reductions[v->index].kind;
    if (op->n_args != 1) return any;
    if (!l->wild && (kind == FL_RED_ARGMIN || kind == FL_RED_ARGMAX)) return below(l, op->args[0], 0, depth);
    return kind == FL_RED_COUNT ? (FlBounds){.lo = 0, .hi = FL_LAST_POSITION} : any;
  }
  case FL_OP_NEG:
  case FL_OP_ABS:
  case FL_OP_DIV:
  case FL_OP_POW:
  case FL_OP_SIGN:
  case FL_OP_FMA:
  case FL_OP_SQRT:
  case FL_OP_AND:
  case FL_OP_OR:
  case FL_OP_NOT:
  case FL_OP_CONVERT:
  case FL_OP_IS_NAN:
  case FL_OP_IS_FINITE:
  case FL_OP_RANDOM:
  case FL_OP_RANDOM_NORMAL:
  case FL_OP_SUBSEED:
  case FL_OP_ARRAY:
  case FL_OP_LOAD:
  case FL_OP_PICK:
  case FL_OP_STORE:
  case FL_OP_MAP:
  case FL_OP_SCAN:
  case FL_OP_COLLECT:
  case FL_OPS_ORDER:
  case FL_OPS_MATHS:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_CONTROL:
  case FL_OPS_CALLS:
  case FL_OPS_CHECKS:
  case FL_OPS_RUNTIME: break;
  }
  return any;
}

static FlBounds bounds(const FlLearnt *l, const FlValue *v, int depth) {
  FlBounds any = {.lo = INT64_MIN, .hi = INT64_MAX}, r = any;
  if (v->type.dtype != FL_I64 || !fl_t_is_scalar(v->type)) return any;
  if (depth < MAX_DEPTH) r = v->op ? of_op(l, v, any, depth + 1) : of_param(l, v, any, depth + 1);
  if (v->id < l->n && l->has[v->id]) {
    const FlBounds *more = &l->at[v->id];
    if (more->lo > r.lo) r.lo = more->lo;
    if (more->hi < r.hi) r.hi = more->hi;
    if (more->base) {
      r.base = more->base;
      r.by = more->by;
    }
  }
  if (!r.base && depth < MAX_DEPTH && !(v->op && v->op->code == FL_OP_CONST))
    shift(l, v, &r.base, &r.by, depth + 1);
  return r;
}

FlBounds fl_opt_bounds(const FlLearnt *l, const FlValue *v) { return bounds(l, v, 0); }

bool fl_opt_less(const FlLearnt *l, const FlValue *x, const FlValue *y, bool or_equal) {
  const FlValue *end = fl_opt_runs_to(x);
  if (end && fl_opt_same_size(end, y)) return true;
  FlBounds bx = bounds(l, x, 0), by = bounds(l, y, 0);
  if (or_equal ? bx.hi <= by.lo : bx.hi < by.lo) return true;
  const FlValue *base;
  int64_t at;
  shift(l, y, &base, &at, 0);
  if (!bx.base || !fl_opt_same_size(bx.base, base)) return false;
  return or_equal ? bx.by <= at : bx.by < at;
}

bool fl_opt_fits(const FlLearnt *l, const FlOp *op) {
  FlBounds x = bounds(l, op->args[0], 0), y = bounds(l, op->args[1], 0),
           any = {.lo = INT64_MIN, .hi = INT64_MAX};
  switch (op->code) {
  case FL_OP_ADD: return add_fits(x.lo, y.lo) && add_fits(x.hi, y.hi);
  case FL_OP_SUB: return y.lo != INT64_MIN && add_fits(x.lo, neg_sat(y.hi)) && add_fits(x.hi, neg_sat(y.lo));
  case FL_OP_MUL: return of_product(x, y, any).hi != INT64_MAX;
  case FL_OP_NEG:
  case FL_OP_ABS:
  case FL_OP_WRAP_ADD:
  case FL_OP_WRAP_SUB:
  case FL_OP_WRAP_MUL:
  case FL_OPS_NOT_SUMS: break;
  }
  return false;
}

bool fl_opt_is_index(const FlLearnt *l, const FlValue *index, const FlValue *array, int axis) {
  const FlValue *end = fl_opt_runs_to(index);
  if (end && fl_opt_is_dim(end, array, axis)) return true;
  FlBounds b = bounds(l, index, 0);
  const FlValue *size = fl_opt_size_of(array, axis);
  if (b.lo >= 0 && size && fl_opt_less(l, index, size, false)) return true;
  return b.lo >= 0 && b.base && b.by < 0 && fl_opt_is_dim(b.base, array, axis);
}

bool fl_opt_reads_inside(const FlOp *load) {
  FlLearnt wild = {.wild = true};
  for (int i = 1; i < load->n_args; i++)
    if (!fl_opt_is_index(&wild, load->args[i], load->args[0], i - 1)) return false;
  return true;
}
