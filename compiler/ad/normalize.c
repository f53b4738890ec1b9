/* normalize.c: loops over elements that nest.c cannot take become loops that it can, in a copy.
 *
 * In: the ops of a function, marked. Out: behind each MAP, REDUCE or COLLECT of host code that has a FOR or
 * WHILE in it, a loop under an IF, or a loop whose size depends on another loop, ops that give the same
 * results by plain loops. Derivatives go through these; the original stays, with its value and its errors.
 * Method: loop distribution and interchange, R. Allen, K. Kennedy, "Optimizing Compilers for Modern
 * Architectures", 2002, chapters 2 and 5. */
#include "ad/normalize.h"
#include "ad/rules/rules.h"

#include <string.h>

enum { UNROLL_ROUNDS = 8, UNROLL_OPS = 160 };

static FlRegion *body(const FlOp *loop) { return loop->regions[0]; }
static bool over_elements(const FlOp *op) {
  return op->code == FL_OP_MAP || op->code == FL_OP_REDUCE || op->code == FL_OP_COLLECT;
}

/* ---- pieces ---- */

FlBuilder fl_norm_before(const FlNorm *p, FlOp *op) {
  FlBuilder b = p->b;
  b.region = op->parent;
  b.before = op;
  b.span = op->span;
  return b;
}

FlBuilder fl_norm_into(const FlNorm *p, FlRegion *r) {
  FlBuilder b = p->b;
  b.region = r;
  b.before = NULL;
  return b;
}

FlValue *fl_norm_zero(FlBuilder *b, FlType1 t) {
  if (t.dtype == FL_F64 || t.dtype == FL_F32) return fl_ir_const_f(b, (FlDtype)t.dtype, 0.0);
  return t.dtype == FL_TEXT ? fl_ir_const_t(b, "", 0) : fl_ir_const_i(b, (FlDtype)t.dtype, 0);
}

FlAdLoop fl_norm_map(FlNorm *p, FlBuilder *b, int n, FlValue *const *sizes) {
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, n, sizes);
  fl_map_set(p->ad->own, m.op, m.op);
  return m;
}

FlValue *fl_norm_most(const FlNorm *p, FlBuilder *b, int n, FlValue *const *sizes, FlNormValue *value,
                      void *env) {
  FlValue *some = NULL, *zero = fl_ad_i64(b, 0);
  for (int k = 0; k < n; k++) {
    FlValue *c = fl_ir_binary(b, FL_OP_GT, sizes[k], zero);
    some = some ? fl_ir_binary(b, FL_OP_AND, some, c) : c;
  }
  FlType1 i64 = fl_t_scalar(FL_I64);
  FlOp *choice = fl_ir_op(b, FL_OP_IF, 1, &some, 1, &i64, 2);
  FlBuilder in = fl_norm_into(p, fl_ir_region(b, choice, 0, 0, NULL));
  FlAdLoop red = fl_ad_loop(&in, FL_OP_REDUCE, n, sizes);
  FlValue *v = value(&in, red.region->params, env);
  fl_ad_loop_end(&in, &red, 1, &v);
  fl_ir_set_reduction(red.op, FL_RED_MAX, false);
  FlValue *most = fl_ir_binary(&in, FL_OP_MAX, red.op->results[0], zero);
  fl_ir_yield(choice->regions[0], b->module, 1, &most);
  fl_ir_region(b, choice, 1, 0, NULL);
  fl_ir_yield(choice->regions[1], b->module, 1, &zero);
  return choice->results[0];
}

/* ---- copies of what a value needs ---- */

/* Calls `see` for each value that the op or its regions read and that is defined outside of it. */
typedef void See(void *env, FlValue *v);
static void captured(const FlOp *top, const FlRegion *r, See *see, void *env) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (!fl_ir_made_within(op->args[i], top)) see(env, op->args[i]);
    for (int i = 0; i < op->n_regions; i++) captured(top, op->regions[i], see, env);
  }
  for (int i = 0; i < r->n_yields; i++)
    if (!fl_ir_made_within(r->yields[i], top)) see(env, r->yields[i]);
}

static void reads(const FlOp *op, See *see, void *env) {
  for (int i = 0; i < op->n_args; i++) see(env, op->args[i]);
  for (int i = 0; i < op->n_regions; i++) captured(op, op->regions[i], see, env);
}

typedef struct Pull {
  FlAdFrame *f;
  const FlOp *top;
} Pull;

static void pull_one(void *env, FlValue *v) {
  Pull *p = env;
  fl_norm_pull(p->f, p->top, v);
}

FlValue *fl_norm_pull(FlAdFrame *f, const FlOp *top, FlValue *v) {
  if (!fl_ir_made_within(v, top) || fl_map_get(f->to, v) || !v->op) return fl_ad_at(f, v);
  Pull p = {f, top};
  if (v->op->code == FL_OP_DIM && v->op->args[0]->op && v->op->args[0]->op->code == FL_OP_MAP &&
      fl_ir_made_within(v->op->args[0], top)) { /* the size, without the array */
    fl_ad_put(f, v, fl_norm_pull(f, top, v->op->args[0]->op->args[v->op->attrs.i]));
    return fl_ad_at(f, v);
  }
  reads(v->op, pull_one, &p);
  fl_ad_clone(f, v->op);
  return fl_ad_at(f, v);
}

/* ---- values that are kept over the loop ---- */

/* Costs no more to compute than to read. */
static bool cheap(const FlValue *v) {
  const FlOp *op = v->op;
  if (!op) return true; /* a loop variable */
  if (op->code == FL_OP_CONST || op->code == FL_OP_DIM) return true;
  bool integers = !op->n_regions && fl_op_info[op->code].op_class == FL_CLASS_SCALAR;
  for (int i = 0; i < op->n_args; i++) {
    FlType1 t = op->args[i]->type;
    integers = integers && (t.dtype == FL_I64 || t.dtype == FL_BOOL);
  }
  return integers || op->code == FL_OP_LOAD;
}

typedef struct Need {
  const FlNorm *p;
  FlNormSaved *kept;
} Need;

static void need_one(void *env, FlValue *v) {
  Need *n = env;
  if (!fl_ir_made_within(v, n->p->top) || !v->op) return;
  if (cheap(v) || !fl_t_is_scalar(v->type)) reads(v->op, need_one, env);
  else fl_norm_need(n->p, n->kept, v);
}

void fl_norm_need(const FlNorm *p, FlNormSaved *k, FlValue *v) {
  for (int i = 0; i < k->of.n; i++)
    if (k->of.at[i] == v) return;
  fl_vec_push(p->ad->arena, &k->of, v);
}

void fl_norm_find_needed(const FlNorm *p, FlNormSaved *k, const FlOp *op) {
  Need n = {p, k};
  reads(op, need_one, &n);
}

void fl_norm_keep(FlNorm *p, FlNormSaved *k) {
  if (!k->of.n) return;
  FlRegion *r = body(p->top);
  FlAdLoop m = fl_norm_map(p, &p->b, p->top->n_args, p->top->args);
  FlAdFrame f = fl_ad_frame(p->ad, NULL, p->b, false, NULL);
  for (int i = 0; i < r->n_params; i++) fl_ad_put(&f, r->params[i], m.region->params[i]);
  FlValue **yields = FL_NEW_ARRAY(p->ad->arena, FlValue *, k->of.n);
  for (int i = 0; i < k->of.n; i++) yields[i] = fl_norm_pull(&f, p->top, k->of.at[i]);
  fl_ad_loop_end(&p->b, &m, k->of.n, yields);
  k->arrays = m.op->results;
}

void fl_norm_put_kept(const FlNorm *p, FlAdFrame *f, const FlNormSaved *k, FlValue *const *index) {
  for (int i = 0; i < k->of.n; i++)
    fl_ad_put(f, k->of.at[i], fl_ir_load(&f->b, k->arrays[i], p->top->n_args, index, true));
}

/* ---- loops in loops that are computed before ---- */

static bool has_rounds(const FlAd *ad, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_ir_is_rounds(op) && fl_ad_touches(ad, op)) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (has_rounds(ad, op->regions[i])) return true;
  }
  return false;
}

/* Reads of the array become reads of one that has the loop variables of `top` first. */
static void read_instead(const FlNorm *p, FlRegion *r, const FlValue *array, FlValue *wide) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) read_instead(p, op->regions[i], array, wide);
    if (!op->n_args || op->args[0] != array) continue;
    int n = p->top->n_args;
    if (op->code == FL_OP_DIM) {
      fl_ir_replace_in(body(p->top), op->results[0], array->op->args[op->attrs.i]);
      fl_ir_remove(op);
      continue;
    }
    FlValue **args = FL_NEW_ARRAY(p->ad->arena, FlValue *, op->n_args + n);
    args[0] = wide;
    memcpy(args + 1, body(p->top)->params, (size_t)n * sizeof *args);
    memcpy(args + 1 + n, op->args + 1, (size_t)(op->n_args - 1) * sizeof *args);
    op->args = args;
    op->n_args += n;
  }
}

/* What a loop in the loop computes of each element is computed before, as arrays over both. */
static void take_out(FlNorm *p, FlOp *inner) {
  FlRegion *r = body(inner), *around = body(p->top);
  FlValue *sizes[FL_MAX_RANK], *index[FL_MAX_RANK];
  int n = p->top->n_args, all = n + inner->n_args;
  FlNormSaved kept = {0};
  fl_norm_find_needed(p, &kept, inner);
  fl_norm_keep(p, &kept);
  FlAdFrame host = fl_ad_frame(p->ad, NULL, p->b, false, NULL);
  for (int i = 0; i < all; i++)
    sizes[i] = i < n ? p->top->args[i] : fl_norm_pull(&host, p->top, inner->args[i - n]);
  FlAdLoop m = fl_norm_map(p, &p->b, all, sizes);
  FlAdFrame f = fl_ad_frame(p->ad, NULL, p->b, false, NULL);
  for (int i = 0; i < n; i++) fl_ad_put(&f, around->params[i], m.region->params[i]);
  for (int i = n; i < all; i++) fl_ad_put(&f, r->params[i - n], m.region->params[i]);
  fl_norm_put_kept(p, &f, &kept, m.region->params);
  FlValue **yields = FL_NEW_ARRAY(p->ad->arena, FlValue *, r->n_yields);
  for (int i = 0; i < r->n_yields; i++) yields[i] = fl_norm_pull(&f, p->top, r->yields[i]);
  fl_ad_loop_end(&p->b, &m, r->n_yields, yields);
  if (inner->code == FL_OP_MAP) {
    for (int i = 0; i < inner->n_results; i++) read_instead(p, around, inner->results[i], m.op->results[i]);
    fl_ir_remove(inner);
    return;
  }
  r->first = r->last = NULL;
  FlBuilder in = fl_norm_into(p, r);
  for (int i = 0; i < all; i++) index[i] = i < n ? around->params[i] : r->params[i - n];
  for (int i = 0; i < r->n_yields; i++) yields[i] = fl_ir_load(&in, m.op->results[i], all, index, true);
  fl_ir_yield(r, p->b.module, r->n_yields, yields);
}

/* ---- small loops of rounds are written out ---- */

static void write_out(const FlNorm *p, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) write_out(p, op->regions[i]);
    int64_t lo, hi;
    if (op->code != FL_OP_FOR || !fl_ir_const_value_i(op->args[0], &lo) ||
        !fl_ir_const_value_i(op->args[1], &hi))
      continue;
    if (hi - lo > UNROLL_ROUNDS || (hi - lo) * fl_ir_n_ops(body(op)) > UNROLL_OPS) continue;
    FlValue **args = FL_NEW_ARRAY(p->ad->arena, FlValue *, op->n_args), **out = op->args + 2;
    FlBuilder b = fl_norm_before(p, op);
    for (int64_t k = lo; k < hi; k++) {
      args[0] = fl_ad_i64(&b, k);
      for (int i = 0; i < op->n_results; i++) args[i + 1] = out[i];
      out = FL_NEW_ARRAY(p->ad->arena, FlValue *, op->n_results + 1);
      fl_ir_inline_region(&b, body(op), args, out);
    }
    for (int i = 0; i < op->n_results; i++) fl_ir_replace_in(r, op->results[i], out[i]);
    fl_ir_remove(op);
  }
}

/* ---- one loop ---- */

static bool even_all(FlNorm *p, int n, FlOp **chain);

/* Loops within the last of the chain have sizes that host code has. */
static bool even_within(FlNorm *p, int n, FlOp **chain) {
  for (FlOp *op = body(chain[n - 1])->first, *next; op; op = next) {
    next = op->next;
    if (!over_elements(op)) continue;
    chain[n] = op;
    if (!even_all(p, n + 1, chain)) return false;
  }
  return true;
}

static bool even_all(FlNorm *p, int n, FlOp **chain) {
  int sizes = 0;
  for (int k = 0; k < n; k++) sizes += chain[k]->n_args;
  if (sizes > FL_MAX_RANK)
    return fl_ad_fail(p->ad, chain[n - 1]->span,
                      "more loops within each other than an array can have dimensions");
  return fl_norm_even(p, n, chain) && even_within(p, n, chain);
}

static FlOp *last_rounds(const FlAd *ad, const FlRegion *r) {
  FlOp *op = r->last;
  while (op && !(fl_ir_is_rounds(op) && fl_ad_touches(ad, op))) op = op->prev;
  return op;
}

static bool make_plain(FlNorm *p) {
  FlRegion *r = body(p->top);
  FlOp *chain[FL_MAX_RANK + 1] = {p->top};
  write_out(p, r);
  fl_ad_mark(p->ad);
  fl_norm_hoist(p, r);
  fl_ad_mark(p->ad);
  FlOp *last = last_rounds(p->ad, r);
  bool before = last;
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    if (op == last) before = false;
    if (fl_ir_is_rounds(op) && fl_ad_touches(p->ad, op)) {
      fl_norm_spread(p, op);
    } else if (over_elements(op)) {
      chain[1] = op;
      bool whole = has_rounds(p->ad, body(op)) || (before && op->code == FL_OP_MAP);
      if (p->top->n_args + op->n_args > FL_MAX_RANK || !whole) {
        if (!even_all(p, 2, chain)) return false;
      } else {
        if (!fl_norm_even(p, 2, chain)) return false;
        take_out(p, op);
      }
    }
  }
  return true;
}

/* ---- which loops ---- */

static bool only_read(const FlRegion *r, const FlValue *array) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (op->args[i] == array && (i || (op->code != FL_OP_LOAD && op->code != FL_OP_DIM))) return false;
    for (int i = 0; i < op->n_regions; i++)
      if (!only_read(op->regions[i], array)) return false;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == array) return false;
  return true;
}

/* Scalars and loops over them, whose arrays are read by element. */
static bool of_scalars(const FlRegion *r) {
  for (int i = 0; i < r->n_params; i++)
    if (!fl_t_is_scalar(r->params[i]->type)) return false;
  for (int i = 0; i < r->n_yields; i++)
    if (!fl_t_is_scalar(r->yields[i]->type)) return false;
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_regions; i++)
      if (!of_scalars(op->regions[i])) return false;
    switch (op->code) {
    case FL_OP_CONST:
    case FL_OP_DIM:
    case FL_OP_LOAD:
    case FL_OP_CHECK:
    case FL_OP_KEEP:
    case FL_OP_WITHIN:
    case FL_OP_FAIL:
    case FL_OP_IF:
    case FL_OP_FOR:
    case FL_OP_WHILE:
    case FL_OP_REDUCE:
      for (int i = 0; i < op->n_results; i++)
        if (!fl_t_is_scalar(op->results[i]->type)) return false;
      continue;
    case FL_OP_MAP:
      for (int i = 0; i < op->n_results; i++)
        if (!only_read(r, op->results[i])) return false;
      continue;
    case FL_OP_ARRAY:
    case FL_OP_PICK:
    case FL_OP_STORE:
    case FL_OP_SCAN:
    case FL_OP_COLLECT:
    case FL_OPS_CALLS:
    case FL_OPS_NOT_STRUCT: break;
    }
    if (fl_op_info[op->code].op_class != FL_CLASS_SCALAR) return false;
  }
  return true;
}

/* A REDUCE or COLLECT of host code becomes a MAP, and one of its results. */
static void map_first(FlAd *ad, FlBuilder b, FlOp *op) {
  FlNorm p = {ad, b, op};
  FlRegion *r = body(op);
  p.b.region = op->parent;
  p.b.before = op->next;
  FlAdLoop m = fl_ad_loop(&p.b, FL_OP_MAP, op->n_args, op->args);
  FlValue **yields = FL_NEW_ARRAY(ad->arena, FlValue *, r->n_yields + 1);
  FlType1 *types = FL_NEW_ARRAY(ad->arena, FlType1, op->n_results + 1);
  fl_ir_inline_region(&p.b, r, m.region->params, yields);
  fl_ad_loop_end(&p.b, &m, r->n_yields, yields);
  FlAdLoop l = fl_ad_loop(&p.b, op->code, op->n_args, op->args);
  for (int k = 0; k < r->n_yields; k++)
    yields[k] = fl_ir_load(&p.b, m.op->results[k], op->n_args, l.region->params, true);
  fl_ir_yield(l.region, p.b.module, r->n_yields, yields);
  for (int k = 0; k < op->n_results; k++) types[k] = op->results[k]->type;
  fl_ir_add_results(&l.outer, l.op, op->n_results, types);
  l.op->attrs = op->attrs;
  l.op->span = m.op->span = op->span;
  fl_map_set(ad->instead, op, l.op);
  fl_map_set(ad->original, l.op, op);
  fl_ad_mark(ad);
}

/* Makes the ops that stand for a loop; the first of them, or NULL: failed. */
static FlOp *stand_in(FlAd *ad, FlBuilder b, FlOp *op) {
  FlNorm p = {ad, b, op};
  bool own = fl_map_get(ad->own, op) != NULL;
  FlOp *before = own ? op->prev : op;
  if (!own) {
    b.region = op->parent;
    b.before = op->next;
    FlAdFrame f = fl_ad_frame(ad, NULL, b, false, NULL);
    fl_ad_clone(&f, op);
    p.top = op->next;
    fl_map_set(ad->own, p.top, p.top);
    fl_map_set(ad->instead, op, p.top);
    fl_map_set(ad->original, p.top, op);
    fl_ad_mark(ad);
  }
  FlRegion *home = p.top->parent;
  p.b = fl_norm_before(&p, p.top);
  fl_map_set(ad->own, p.top, ad); /* it is as plain as it can be */
  if (!make_plain(&p)) return NULL;
  fl_ad_mark(ad);
  return before ? before->next : home->first;
}

bool fl_ad_normalize(FlAd *ad, FlBuilder b, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    if (!op->n_regions || !fl_ad_touches(ad, op)) continue;
    if (over_elements(op) && of_scalars(body(op))) {
      if (fl_map_get(ad->own, op) == ad || fl_ad_nest_takes(ad, op)) continue;
      next = stand_in(ad, b, op); /* what was made is looked at too */
      if (!next) return false;
      continue;
    }
    if ((op->code == FL_OP_REDUCE || op->code == FL_OP_COLLECT) && !fl_ad_nest_takes(ad, op)) {
      map_first(ad, b, op);
      next = op->next;
      continue;
    }
    for (int i = 0; i < op->n_regions; i++)
      if (!fl_ad_normalize(ad, b, op->regions[i])) return false;
  }
  return true;
}
