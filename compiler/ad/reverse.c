/* reverse.c: the walk back over the ops of a region, last to first, and through both sides of an IF. */
#include "ad/rules/rules.h"

/* ---- IF: the way back is an IF too, of what either side reads ---- */

typedef struct Sides {
  FlAdFrame f[2];
  FlOp *op;
  FlVec(FlValue *) out[2]; /* what each yields */
} Sides;

static void yield_pair(FlAdFrame *f, Sides *s, int side, FlValue *v, FlValue *other) {
  fl_vec_push(f->ad->arena, &s->out[side], v);
  fl_vec_push(f->ad->arena, &s->out[1 - side], other);
}

/* The adjoints of values from outside that a side has, and the other may have. */
static void yield_adjoints(FlAdFrame *f, Sides *s, const FlOp *op, int side, FlValue **of) {
  for (int i = 0; i < s->f[side].adjoints.n; i++) {
    FlAdAdjoint a = s->f[side].adjoints.at[i];
    if (a.of->region == op->regions[side]) continue;
    FlValue *other = fl_ad_adjoint(&s->f[1 - side], a.of);
    if (side == 1 && other) continue; /* it came with side 0 */
    of[s->out[0].n] = a.of;
    yield_pair(f, s, side, a.value, other ? other : fl_ad_zero(&s->f[1 - side], a.of));
  }
}

/* The sinks of a side, with those of their indices, and their guards, that are computed in it. */
static void yield_sinks(FlAdFrame *f, Sides *s, int side) {
  FlAdFrame *mine = &s->f[side], *other = &s->f[1 - side];
  for (int i = 0; i < mine->sinks.n; i++) {
    FlAdSink *k = &mine->sinks.at[i];
    yield_pair(f, s, side, k->value, fl_ir_const_f(&other->b, (FlDtype)k->value->type.dtype, 0.0));
    for (int a = 0; a < k->n; a++)
      if (k->index[a]->region == s->op->regions[side])
        yield_pair(f, s, side, k->index[a], fl_ad_i64(&other->b, 0));
    if (k->guard) yield_pair(f, s, side, k->guard, fl_ir_const_i(&other->b, FL_BOOL, 0));
  }
}

static void take_sinks(FlAdFrame *f, Sides *s, int side, int *at) {
  FlValue *taken = s->op->args[0];
  if (side == 1 && s->f[side].sinks.n) taken = fl_ir_unary(&f->b, FL_OP_NOT, taken);
  for (int i = 0; i < s->f[side].sinks.n; i++) {
    FlAdSink k = s->f[side].sinks.at[i];
    k.value = s->op->results[(*at)++];
    for (int a = 0; a < k.n; a++)
      if (k.index[a]->region == s->op->regions[side]) k.index[a] = s->op->results[(*at)++];
    k.guard = k.guard ? s->op->results[(*at)++] : taken;
    fl_vec_push(f->ad->arena, &f->sinks, k);
  }
}

static bool walk_side(FlAdFrame *f, Sides *s, FlOp *op, int side) {
  FlBuilder b = f->b;
  b.region = fl_ir_region(&b, s->op, side, 0, NULL);
  b.before = NULL;
  s->f[side] = fl_ad_frame(f->ad, f, b, f->kernel, f->index);
  const FlRegion *from = op->regions[side];
  for (const FlOp *in = from->first; in; in = in->next)
    if (!fl_ir_is_check(in)) fl_ad_clone(&s->f[side], in);
  for (int k = 0; k < op->n_results; k++) {
    FlValue *g = fl_ad_adjoint(f, op->results[k]);
    if (g) fl_ad_add(&s->f[side], from->yields[k], g);
  }
  return fl_ad_walk(&s->f[side], from);
}

static bool walk_if(FlAdFrame *f, FlOp *op) {
  Sides s = {.op = NULL};
  FlValue *condition = fl_ad_at(f, op->args[0]);
  s.op = fl_ir_op(&f->b, FL_OP_IF, 1, &condition, 0, NULL, 2);
  if (!walk_side(f, &s, op, 0) || !walk_side(f, &s, op, 1)) return false;
  FlValue **of = FL_NEW_ARRAY(f->ad->arena, FlValue *, s.f[0].adjoints.n + s.f[1].adjoints.n + 1);
  yield_adjoints(f, &s, op, 0, of);
  yield_adjoints(f, &s, op, 1, of);
  int n = s.out[0].n;
  yield_sinks(f, &s, 0);
  yield_sinks(f, &s, 1);
  int all = s.out[0].n;
  FlType1 *types = FL_NEW_ARRAY(f->ad->arena, FlType1, all + 1);
  for (int k = 0; k < all; k++) types[k] = s.out[0].at[k]->type;
  for (int side = 0; side < 2; side++) fl_ir_yield(s.op->regions[side], f->b.module, all, s.out[side].at);
  fl_ir_add_results(&f->b, s.op, all, types);
  for (int k = 0; k < n; k++) fl_ad_add(f, of[k], s.op->results[k]);
  take_sinks(f, &s, 0, &n);
  take_sinks(f, &s, 1, &n);
  if (!all) fl_ir_remove(s.op);
  return true;
}

/* ---- functions with a derivative of their own ---- */

bool fl_ad_own(FlAdFrame *f, const FlOp *op, FlValue *const *adjoints, FlValue **out) {
  const FlRegion *from = op->regions[1];
  FlAdFrame in = fl_ad_frame(f->ad, f, f->b, f->kernel, f->index);
  int n = 0;
  for (int i = 0; i < op->n_args; i++) fl_ad_put(&in, from->params[n++], fl_ad_at(f, op->args[i]));
  for (int k = 0; k < op->n_results; k++) fl_ad_put(&in, from->params[n++], fl_ad_at(f, op->results[k]));
  for (int k = 0; k < op->n_results; k++) fl_ad_put(&in, from->params[n++], adjoints[k]);
  for (const FlOp *inner = from->first; inner; inner = inner->next) fl_ad_clone(&in, inner);
  for (int i = 0; i < op->n_args; i++) {
    out[i] = NULL;
    if (!fl_ad_active(f->ad, op->args[i])) continue;
    if (!fl_t_same(from->yields[i]->type, op->args[i]->type))
      return fl_ad_fail(
          f->ad, op->span,
          fl_arena_printf(f->ad->arena, "an argument that `%s` gives no derivative by", op->attrs.s));
    out[i] = fl_ad_at(&in, from->yields[i]);
  }
  return true;
}

static bool walk_custom(FlAdFrame *f, FlOp *op) {
  FlValue **adjoints = FL_NEW_ARRAY(f->ad->arena, FlValue *, op->n_results + 1),
          **parts = FL_NEW_ARRAY(f->ad->arena, FlValue *, op->n_args + 1);
  for (int k = 0; k < op->n_results; k++) {
    adjoints[k] = fl_ad_adjoint(f, op->results[k]);
    if (!adjoints[k]) adjoints[k] = fl_ad_zero(f, op->results[k]);
  }
  if (!fl_ad_own(f, op, adjoints, parts)) return false;
  for (int i = 0; i < op->n_args; i++)
    if (parts[i]) fl_ad_add(f, op->args[i], parts[i]);
  return true;
}

/* ---- the walk ---- */

static void add_sink(FlAdFrame *f, const FlOp *op, FlValue *g) {
  if (!fl_ad_active(f->ad, op->args[0])) return;
  FlAdSink s = {.load = op, .value = g};
  fl_ad_load_place(f, op, &s.n, s.index);
  fl_vec_push(f->ad->arena, &f->sinks, s);
}

static bool walk_op(FlAdFrame *f, FlOp *op) {
  bool any = false;
  for (int k = 0; k < op->n_results; k++) any = any || fl_ad_adjoint(f, op->results[k]);
  if (!any) return true;
  const FlOp *instead = fl_map_get(f->ad->instead, op);
  if (instead) {
    for (int k = 0; k < op->n_results; k++) {
      FlValue *g = fl_ad_adjoint(f, op->results[k]);
      if (g) fl_ad_add(f, instead->results[k], g);
    }
    return true;
  }
  f->b.span = op->span;
  if (fl_op_info[op->code].op_class == FL_CLASS_SCALAR)
    return fl_ad_scalar(f, op, fl_ad_adjoint(f, op->results[0])) && !f->ad->failed;
  switch (op->code) {
  case FL_OP_FAIL: return true; /* never reached */
  case FL_OP_IF: return walk_if(f, op);
  case FL_OP_CUSTOM: return walk_custom(f, op);
  case FL_OP_LOAD:
    if (!f->kernel && !(f->task && !fl_ir_made_within(op->args[0], f->task))) break;
    add_sink(f, op, fl_ad_adjoint(f, op->results[0]));
    return true;
  case FL_OP_MAP:
  case FL_OP_REDUCE:
  case FL_OP_COLLECT:
    if (f->kernel) return true; /* a level of its own, loops.c */
    return op->code == FL_OP_MAP && !fl_ad_nest_takes(f->ad, op) ? fl_ad_tasks(f, op) : fl_ad_loops(f, op);
  case FL_OP_FOR:
  case FL_OP_WHILE:
  case FL_OP_SCAN:
    if (f->kernel) break;
    return fl_ad_rounds(f, op);
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
  case FL_OPS_NOT_STRUCT: break;
  }
  return f->kernel ? fl_ad_fail_op(f->ad, op, " within a loop over elements") : fl_ad_bulk(f, op);
}

bool fl_ad_walk(FlAdFrame *f, const FlRegion *r) {
  FlVec(FlOp *) ops = {0}; /* as it is now: what is added may stand in the same region */
  for (FlOp *op = r->first; op; op = op->next) {
    FlOp *original = fl_map_get(f->ad->original, op);
    if (!fl_map_get(f->ad->instead, op)) fl_vec_push(f->ad->arena, &ops, op);
    if (original) fl_vec_push(f->ad->arena, &ops, original); /* its adjoints go to what stands for it */
  }
  for (int i = ops.n - 1; i >= 0; i--)
    if (!walk_op(f, ops.at[i])) return false;
  return true;
}

/* ---- the whole ---- */

void fl_ad_open(FlBuilder b, FlRegion *r, FlOpcode code, int n, FlValue **y) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) fl_ad_open(b, op->regions[i], code, n, y);
    if (op->code != code) continue;
    const FlRegion *body = code == FL_OP_STAGE ? op->attrs.func->body : op->regions[0];
    FlValue **results = FL_NEW_ARRAY(b.module->arena, FlValue *, body->n_yields + 1);
    b.region = r;
    b.before = op;
    if (code == FL_OP_STAGE) fl_ir_inline_call(&b, op, results);
    else fl_ir_inline_region(&b, body, op->args, results);
    for (int k = 0; k < op->n_results; k++) {
      fl_ir_replace(b.func, op->results[k], results[k]);
      for (int i = 0; i < n; i++)
        if (y[i] == op->results[k]) y[i] = results[k];
    }
    next = r->first; /* a stage may call stages */
    fl_ir_remove(op);
  }
}

bool fl_ad_reverse(FlBuilder *b, FlRegion *r, FlValue **y, FlValue *seed, int n, FlValue *const *x,
                   FlValue **out, FlAdFailure *why) {
  FlArena *arena = b->module->arena;
  FlAd ad = {.arena = arena,
             .active = fl_map_make(arena),
             .texts = fl_map_make(arena),
             .nests = fl_map_make(arena),
             .instead = fl_map_make(arena),
             .original = fl_map_make(arena),
             .own = fl_map_make(arena),
             .region = r,
             .result = y,
             .n = n,
             .by = x,
             .why = why};
  fl_ad_open(*b, r, FL_OP_STAGE, 1, y);
  fl_ir_read_transposed(r);
  fl_ad_mark(&ad);
  if (!fl_ad_normalize(&ad, *b, r)) return false;
  FlAdFrame f = fl_ad_frame(&ad, NULL, *b, false, NULL);
  fl_ad_add(&f, *y, seed);
  if (!fl_ad_walk(&f, r)) return false;
  for (int k = 0; k < n; k++) {
    out[k] = fl_ad_adjoint(&f, x[k]);
    if (!out[k]) out[k] = fl_ad_zero(&f, x[k]);
  }
  return true;
}
