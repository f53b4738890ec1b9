/* forward.c: forward mode: the ops of a region once more, each with the op that gives its tangent behind it.
 *
 * In: a region, some of its parameters and their tangents. Out: a copy of its ops with those that compute
 * tangents; the ops that were there are removed. What always holds: errors and their order are those of the
 * region; a value without a tangent has the tangent 0, and nothing is computed for it. A loop hands tangents
 * on beside its values, so it keeps nothing of its rounds; loops may stand in each other in any way.
 * Operators of host code are in bulk.c and what rules.def names, scalar ones in scalar.c.
 *
 * Method: A. Griewank, A. Walther, "Evaluating Derivatives", 2nd edition, 2008, section 3.1. */
#include "ad/rules/rules.h"

#include <string.h>

/* ---- tangents of source values ---- */

FlValue *fl_ad_tangent(const FlAdFrame *f, const FlValue *v) { return fl_map_get(f->ad->tangents, v); }

static void put_tangent(const FlAdFrame *f, const FlValue *v, FlValue *tangent) {
  fl_map_set(f->ad->tangents, v, tangent);
}

FlValue *fl_ad_zero_like(FlBuilder *b, FlValue *v) {
  FlDtype d = (FlDtype)v->type.dtype;
  FlValue *sizes[FL_MAX_RANK], *zero;
  if (fl_t_is_scalar(v->type)) return fl_ir_const_f(b, d, 0.0);
  if (v->type.depth) { /* a list: an array, or a list, of zeros for each */
    FlValue *n = fl_ir_dim(b, v, 0);
    FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &n);
    zero = fl_ad_zero_like(b, fl_ir_load(b, v, 1, m.region->params, true));
    fl_ad_list_end(b, &m, zero);
    return m.op->results[0];
  }
  fl_ad_sizes(b, v, sizes);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, v->type.rank, sizes);
  zero = fl_ir_const_f(b, d, 0.0);
  fl_ad_loop_end(b, &m, 1, &zero);
  return m.op->results[0];
}

FlValue *fl_ad_tangent_or_zero(FlAdFrame *f, FlValue *v) {
  FlValue *t = fl_ad_tangent(f, v);
  return t ? t : fl_ad_zero_like(&f->b, fl_ad_at(f, v));
}

/* ---- regions ---- */

static bool walk(FlAdFrame *f, const FlRegion *from);

static bool active(const FlAdFrame *f, const FlValue *v) { return fl_ad_active(f->ad, v); }

/* An op like `op` with these arguments, whose results come with its regions. */
static FlOp *like(FlAdFrame *f, const FlOp *op, int n, FlValue *const *args) {
  FlOp *fresh = fl_ir_op(&f->b, op->code, n, args, 0, NULL, op->n_regions);
  fresh->attrs = op->attrs;
  return fresh;
}

/* Region `index` of `fresh`, with copies of the parameters of `from`, and a frame in it. */
static FlAdFrame enter(FlAdFrame *f, FlOp *fresh, int index, const FlRegion *from) {
  FlRegion *r = fl_ir_region(&f->b, fresh, index, 0, NULL);
  FlBuilder b = f->b;
  b.region = r;
  b.before = NULL;
  FlAdFrame in = fl_ad_frame(f->ad, f, b, false, NULL);
  for (int i = 0; i < from->n_params; i++) {
    fl_ad_put(&in, from->params[i], fl_ir_param(r, from->params[i]->type));
    put_tangent(f, from->params[i], NULL);
  }
  return in;
}

/* The results of `fresh` beyond those of `op` are the tangents of the active ones, from `first` on. */
static void take_results(FlAdFrame *f, const FlOp *op, const FlOp *fresh) {
  int at = op->n_results;
  for (int k = 0; k < op->n_results; k++) {
    fl_ad_put(f, op->results[k], fresh->results[k]);
    put_tangent(f, op->results[k], active(f, op->results[k]) ? fresh->results[at++] : NULL);
  }
}

static void give_results(FlAdFrame *f, const FlOp *op, FlOp *fresh) {
  FlType1 *types = FL_NEW_ARRAY(f->ad->arena, FlType1, 2 * op->n_results + 1);
  int n = op->n_results;
  for (int k = 0; k < op->n_results; k++) types[k] = op->results[k]->type;
  for (int k = 0; k < op->n_results; k++)
    if (active(f, op->results[k])) types[n++] = op->results[k]->type;
  fl_ir_add_results(&f->b, fresh, n, types);
  take_results(f, op, fresh);
}

/* Yields of a region: its own, then the tangents of those that stand for active results, `first` on. */
static void yield_both(FlAdFrame *in, const FlOp *op, const FlRegion *from, int first) {
  FlValue **out = FL_NEW_ARRAY(in->ad->arena, FlValue *, 2 * from->n_yields + 1);
  int n = 0;
  for (int k = 0; k < from->n_yields; k++) out[n++] = fl_ad_at(in, from->yields[k]);
  for (int k = first; k < from->n_yields; k++)
    if (active(in, op->results[k - first])) out[n++] = fl_ad_tangent_or_zero(in, from->yields[k]);
  fl_ir_yield(in->b.region, in->b.module, n, out);
}

/* ---- MAP, COLLECT, IF: results are what the region yields ---- */

static FlValue **arguments(FlAdFrame *f, const FlOp *op, int more) {
  FlValue **args = FL_NEW_ARRAY(f->ad->arena, FlValue *, op->n_args + more + 1);
  for (int i = 0; i < op->n_args; i++) args[i] = fl_ad_at(f, op->args[i]);
  return args;
}

static bool regions(FlAdFrame *f, const FlOp *op) {
  FlOp *fresh = like(f, op, op->n_args, arguments(f, op, 0));
  for (int i = 0; i < op->n_regions; i++) {
    FlAdFrame in = enter(f, fresh, i, op->regions[i]);
    if (!walk(&in, op->regions[i])) return false;
    /* The first yield of a COLLECT says whether to keep; its first result, how many were. */
    yield_both(&in, op, op->regions[i], 0);
  }
  give_results(f, op, fresh);
  return true;
}

/* ---- FOR, WHILE, SCAN: tangents are handed on beside the values ---- */

static bool rounds(FlAdFrame *f, const FlOp *op) {
  bool is_while = op->code == FL_OP_WHILE;
  int before = is_while ? 0 : op->code == FL_OP_SCAN ? 1 : 2; /* arguments before what is handed on */
  int skip = is_while ? 0 : 1, n = op->n_args;
  const FlRegion *from = op->regions[0];
  FlValue **args = arguments(f, op, op->n_results);
  for (int k = 0; k < op->n_results; k++)
    if (active(f, op->results[k])) args[n++] = fl_ad_tangent_or_zero(f, op->args[before + k]);
  FlOp *fresh = like(f, op, n, args);
  FlAdFrame in = enter(f, fresh, 0, from);
  for (int k = 0; k < op->n_results; k++)
    if (active(f, op->results[k]))
      put_tangent(f, from->params[skip + k], fl_ir_param(in.b.region, from->params[skip + k]->type));
  if (!walk(&in, from)) return false;
  yield_both(&in, op, from, is_while ? 1 : 0);
  give_results(f, op, fresh);
  return true;
}

/* ---- REDUCE ---- */

typedef struct Sweep {
  FlAdLoop loop;
  FlAdFrame in;
  FlValue *value, *other, *keep; /* what the region yields */
} Sweep;

/* A REDUCE over the same sizes, with the ops of the region and, if wanted, the tangents of its yields. */
static bool sweep_begin(FlAdFrame *f, const FlOp *op, bool tangents, Sweep *s) {
  const FlRegion *from = op->regions[0];
  FlValue **sizes = arguments(f, op, 0);
  s->loop = fl_ad_loop(&f->b, FL_OP_REDUCE, op->n_args, sizes);
  s->in = fl_ad_frame(f->ad, f, f->b, false, NULL);
  f->b = s->loop.outer;
  for (int i = 0; i < from->n_params; i++) {
    fl_ad_put(&s->in, from->params[i], s->loop.region->params[i]);
    put_tangent(f, from->params[i], NULL);
  }
  if (tangents && !walk(&s->in, from)) return false;
  for (const FlOp *in = from->first; in && !tangents; in = in->next) fl_ad_clone(&s->in, in);
  bool pair = fl_ir_reduces(op, FL_RED_SUM_PRODUCT);
  s->value = fl_ad_at(&s->in, from->yields[0]);
  s->other = pair ? fl_ad_at(&s->in, from->yields[1]) : NULL;
  s->keep = op->attrs.reductions[0].filtered ? fl_ad_at(&s->in, from->yields[pair ? 2 : 1]) : NULL;
  return true;
}

static FlValue *sweep_end(FlAdFrame *f, const FlOp *op, Sweep *s, FlReduceKind kind, FlValue *v, FlDtype d) {
  fl_ir_yield(s->loop.region, f->b.module, s->keep ? 2 : 1, (FlValue *[]){v, s->keep});
  fl_ir_set_reduction(s->loop.op, kind, s->keep != NULL);
  s->loop.op->attrs.i = op->attrs.i & FL_REDUCE_SOME;
  FlType1 type = fl_t_scalar(d);
  fl_ir_add_results(&f->b, s->loop.op, 1, &type);
  return s->loop.op->results[0];
}

/* The position within the loops, row-major. */
static FlValue *position(Sweep *s) {
  const FlRegion *r = s->loop.region;
  FlBuilder *b = &s->in.b;
  FlValue *at = r->params[0];
  for (int k = 1; k < r->n_params; k++)
    at = fl_ir_binary(b, FL_OP_WRAP_ADD, fl_ir_binary(b, FL_OP_WRAP_MUL, at, s->loop.op->args[k]),
                      r->params[k]);
  return at;
}

/* The tangent of the element that is the smallest or largest. */
static FlValue *of_the_first(FlAdFrame *f, const FlOp *op) {
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  Sweep s;
  sweep_begin(f, op, false, &s);
  FlReduceKind place = fl_ir_reduces(op, FL_RED_MIN) ? FL_RED_ARGMIN : FL_RED_ARGMAX;
  FlValue *where = sweep_end(f, op, &s, place, s.value, FL_I64);
  if (!sweep_begin(f, op, true, &s)) return NULL;
  FlBuilder *b = &s.in.b;
  FlValue *t = fl_ad_tangent_or_zero(&s.in, op->regions[0]->yields[0]);
  FlValue *here = fl_ir_binary(b, FL_OP_EQ, position(&s), where);
  FlValue *v = fl_ir_select(b, here, t, fl_ir_const_f(b, d, 0.0));
  return sweep_end(f, op, &s, FL_RED_SUM, v, d);
}

/* The sum of each tangent times the product of all other elements, which is not 0 only where no other is. */
static FlValue *of_product(FlAdFrame *f, const FlOp *op) {
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  FlValue *all[2];
  for (int k = 0; k < 2; k++) { /* how many zeros; the product of all that are not zero */
    Sweep s;
    sweep_begin(f, op, false, &s);
    FlBuilder *b = &s.in.b;
    FlValue *zero = fl_ir_const_f(b, d, 0.0), *one = fl_ir_const_f(b, d, 1.0);
    FlValue *is_zero = fl_ir_binary(b, FL_OP_EQ, s.value, zero);
    FlValue *v = k ? fl_ir_select(b, is_zero, one, s.value) : fl_ir_select(b, is_zero, one, zero);
    all[k] = sweep_end(f, op, &s, k ? FL_RED_PRODUCT : FL_RED_SUM, v, d);
  }
  Sweep s;
  if (!sweep_begin(f, op, true, &s)) return NULL;
  FlBuilder *b = &s.in.b;
  FlValue *t = fl_ad_tangent_or_zero(&s.in, op->regions[0]->yields[0]);
  FlValue *rest = fl_ad_product_rest(b, s.value, all[0], all[1]);
  return sweep_end(f, op, &s, FL_RED_SUM, fl_ir_binary(b, FL_OP_MUL, t, rest), d);
}

static FlValue *of_sum(FlAdFrame *f, const FlOp *op) {
  const FlRegion *from = op->regions[0];
  Sweep s;
  if (!sweep_begin(f, op, true, &s)) return NULL;
  FlBuilder *b = &s.in.b;
  FlValue *dx = fl_ad_tangent(&s.in, from->yields[0]), *v = dx;
  if (s.other) {
    FlValue *dy = fl_ad_tangent(&s.in, from->yields[1]);
    v = dx ? fl_ir_binary(b, FL_OP_MUL, dx, s.other) : NULL;
    FlValue *w = dy ? fl_ir_binary(b, FL_OP_MUL, s.value, dy) : NULL;
    v = v && w ? fl_ir_binary(b, FL_OP_ADD, v, w) : v ? v : w;
  }
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  return sweep_end(f, op, &s, FL_RED_SUM, v ? v : fl_ir_const_f(b, d, 0.0), d);
}

static bool reduction(FlAdFrame *f, const FlOp *op) {
  if (op->attrs.n_reductions > 1) return fl_ad_fail_op(f->ad, op, " of several kinds");
  fl_ad_clone(f, op);
  FlValue *t;
  if (fl_ir_reduces(op, FL_RED_SUM) || fl_ir_reduces(op, FL_RED_SUM_PRODUCT)) t = of_sum(f, op);
  else if (fl_ir_reduces(op, FL_RED_PRODUCT)) t = of_product(f, op);
  else t = of_the_first(f, op); /* min and max: the others give no floats */
  if (!t) return false;
  put_tangent(f, op->results[0], t);
  return true;
}

/* The sum of the products of what a function's own derivative gives the arguments and of their tangents,
 * NULL: zero; in the frame `in`. false: failed. */
static bool along(FlAdFrame *in, const FlOp *op, FlValue *const *adjoints, FlDtype d, FlValue **sum) {
  FlValue **parts = FL_NEW_ARRAY(in->ad->arena, FlValue *, op->n_args + 1);
  *sum = NULL;
  if (!fl_ad_own(in, op, adjoints, parts)) return false;
  for (int i = 0; i < op->n_args; i++) {
    FlValue *t = parts[i] ? fl_ad_tangent(in, op->args[i]) : NULL;
    if (t) *sum = fl_ad_both(&in->b, *sum, fl_ir_convert(&in->b, fl_ad_sum_of(&in->b, parts[i], t), d));
  }
  return true;
}

/* What a function's own derivative gives is linear in the adjoints of its results: the tangents of these are
 * the derivatives of `along` by the adjoints, wherever those are. Of one float it is `along` at the
 * adjoint 1. */
static bool custom(FlAdFrame *f, const FlOp *op) {
  int n = op->n_results;
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  FlValue *sum, *one = fl_ir_const_f(&f->b, d, 1.0);
  if (n == 1 && fl_t_is_scalar(op->results[0]->type)) {
    if (!along(f, op, &one, d, &sum)) return false;
    put_tangent(f, op->results[0], sum);
    return true;
  }
  FlType1 *types = FL_NEW_ARRAY(f->ad->arena, FlType1, n + 1);
  FlValue **zeros = FL_NEW_ARRAY(f->ad->arena, FlValue *, n + 1),
          **out = FL_NEW_ARRAY(f->ad->arena, FlValue *, n + 1);
  for (int k = 0; k < n; k++) types[k] = op->results[k]->type;
  for (int k = 0; k < n; k++) zeros[k] = fl_ad_zero_like(&f->b, fl_ad_at(f, op->results[k]));
  FlOp *holder = fl_ir_op(&f->b, FL_OP_IF, 0, NULL, 0, NULL, 1); /* holds the region while it is made */
  FlRegion *r = fl_ir_region(&f->b, holder, 0, n, types);
  FlBuilder b = f->b;
  b.region = r;
  FlAdFrame in = fl_ad_frame(f->ad, f, b, false, NULL);
  FlAdFailure why;
  if (!along(&in, op, r->params, d, &sum)) return false;
  if (sum && !fl_ad_reverse(&in.b, r, &sum, one, n, r->params, out, &why))
    return fl_ad_fail(f->ad, why.span, why.what);
  if (sum) fl_ir_yield(r, b.module, n, out);
  if (sum) fl_ir_inline_region(&f->b, r, zeros, out);
  fl_ir_remove(holder);
  for (int k = 0; k < n; k++) put_tangent(f, op->results[k], sum ? out[k] : NULL);
  return true;
}

/* ---- the walk ---- */

static bool scalar(FlAdFrame *f, const FlOp *op) {
  FlValue *tangents[FL_MAX_RANK] = {0}, *t;
  for (int i = 0; i < op->n_args; i++)
    if (fl_map_get(f->ad->texts, op->args[i])) return fl_ad_fail_op(f->ad, op, "");
  for (int i = 0; i < op->n_args; i++) tangents[i] = fl_ad_tangent(f, op->args[i]);
  if (!fl_ad_scalar_forward(f, op, tangents, &t)) return false;
  put_tangent(f, op->results[0], t);
  return true;
}

/* The element of an array, or array of a list. */
static void element(FlAdFrame *f, const FlOp *op) {
  FlValue *t = fl_ad_tangent(f, op->args[0]);
  if (!t) return;
  FlValue **args = arguments(f, op, 0);
  args[0] = t;
  put_tangent(f, op->results[0],
              fl_ad_op(&f->b, FL_OP_LOAD, op->n_args, args, op->results[0]->type, op->attrs.i));
}

static bool walk_op(FlAdFrame *f, const FlOp *op) {
  bool any = false;
  for (int k = 0; k < op->n_results; k++) {
    any = any || active(f, op->results[k]);
    put_tangent(f, op->results[k], NULL);
  }
  f->b.span = op->span;
  if (!any) {
    fl_ad_clone(f, op);
    return true;
  }
  switch (op->code) {
  case FL_OP_MAP:
  case FL_OP_COLLECT:
  case FL_OP_IF: return regions(f, op);
  case FL_OP_FOR:
  case FL_OP_WHILE:
  case FL_OP_SCAN: return rounds(f, op);
  case FL_OP_REDUCE: return reduction(f, op);
  case FL_OPS_ACCESS:
  case FL_OPS_CALLS:
  case FL_OPS_CHECKS:
  case FL_OPS_NOT_STRUCT: break;
  }
  fl_ad_clone(f, op);
  if (fl_op_info[op->code].op_class == FL_CLASS_SCALAR) return scalar(f, op) && !f->ad->failed;
  switch (op->code) {
  case FL_OP_FAIL: return true; /* never reached */
  case FL_OP_LOAD: element(f, op); return true;
  case FL_OP_CUSTOM: return custom(f, op);
  case FL_OP_CONST:
  case FL_OP_ARRAY:
  case FL_OP_DIM:
  case FL_OP_PICK:
  case FL_OP_STORE:
  case FL_OP_CALL:
  case FL_OP_STAGE:
  case FL_OP_EXTERN:
  case FL_OP_CHECK:
  case FL_OP_KEEP:
  case FL_OP_WITHIN:
  case FL_OPS_LOOPS:
  case FL_OPS_CONTROL:
  case FL_OPS_NOT_STRUCT: break;
  }
  int n = op->n_results;
  FlValue **out = FL_NEW_ARRAY(f->ad->arena, FlValue *, n + 1);
  if (!fl_ad_bulk_forward(f, op, out)) return false;
  for (int k = 0; k < n; k++) put_tangent(f, op->results[k], active(f, op->results[k]) ? out[k] : NULL);
  return true;
}

static bool walk(FlAdFrame *f, const FlRegion *from) {
  for (const FlOp *op = from->first; op; op = op->next)
    if (!walk_op(f, op)) return false;
  return true;
}

static void mark_used(FlMap *used, const FlOp *op) {
  for (int i = 0; i < op->n_args; i++) fl_map_set(used, op->args[i], op->args[i]);
  for (int i = 0; i < op->n_regions; i++) {
    const FlRegion *r = op->regions[i];
    for (const FlOp *in = r->first; in; in = in->next) mark_used(used, in);
    for (int k = 0; k < r->n_yields; k++) fl_map_set(used, r->yields[k], r->yields[k]);
  }
}

/* Removes the first `n` ops of the region, but for those that the others use: sizes of its parameters, which
 * the builder finds where they were. */
static void remove_source(FlArena *arena, int n, FlOp *const *ops) {
  FlMap *used = fl_map_make(arena);
  for (const FlOp *op = ops[n - 1]->next; op; op = op->next) mark_used(used, op);
  for (int i = n - 1; i >= 0; i--) {
    bool kept = false;
    for (int k = 0; k < ops[i]->n_results; k++) kept = kept || fl_map_get(used, ops[i]->results[k]);
    if (kept) mark_used(used, ops[i]);
    else fl_ir_remove(ops[i]);
  }
}

bool fl_ad_forward(FlBuilder *b, FlRegion *r, int n, FlValue *const *x, FlValue *const *dx, int n_y,
                   FlValue **y, FlValue **out, FlAdFailure *why) {
  FlArena *arena = b->module->arena;
  FlAd ad = {.arena = arena,
             .active = fl_map_make(arena),
             .texts = fl_map_make(arena),
             .tangents = fl_map_make(arena),
             .region = r,
             .n = n,
             .by = x,
             .why = why};
  fl_ad_open(*b, r, FL_OP_STAGE, n_y, y);
  fl_ad_mark(&ad);
  FlAdFrame f = fl_ad_frame(&ad, NULL, *b, false, NULL);
  for (int k = 0; k < n; k++) put_tangent(&f, x[k], dx[k]);
  FlVec(FlOp *) ops = {0}; /* those that were there: what is added stands in the same region */
  for (FlOp *op = r->first; op; op = op->next) fl_vec_push(arena, &ops, op);
  for (int i = 0; i < ops.n; i++)
    if (!walk_op(&f, ops.at[i])) return false;
  for (int k = 0; k < n_y; k++) {
    out[k] = fl_ad_tangent_or_zero(&f, y[k]);
    y[k] = fl_ad_at(&f, y[k]);
  }
  if (ops.n) remove_source(arena, ops.n, ops.at);
  return true;
}
