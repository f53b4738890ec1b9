/* frame.c: where the way back is: what stands for source values there, copies of ops, adjoints that add up.
 */
#include "ad/rules/rules.h"

/* ---- failing ---- */

bool fl_ad_fail(FlAd *ad, FlSpan span, const char *what) {
  if (!ad->failed) *ad->why = (FlAdFailure){what, span};
  ad->failed = true;
  return false;
}

bool fl_ad_fail_op(FlAd *ad, const FlOp *op, const char *where) {
  const char *name = op->code == FL_OP_CUSTOM ? "a function with `@derivative`"
                                              : fl_arena_printf(ad->arena, "`%s`", fl_op_info[op->code].name);
  return fl_ad_fail(ad, op->span, fl_arena_printf(ad->arena, "%s%s", name, where));
}

/* ---- values ---- */

FlAdFrame fl_ad_frame(FlAd *ad, FlAdFrame *outer, FlBuilder b, bool kernel, FlValue *const *index) {
  return (FlAdFrame){.ad = ad,
                     .b = b,
                     .outer = outer,
                     .to = fl_map_make(ad->arena),
                     .place = fl_map_make(ad->arena),
                     .kernel = kernel,
                     .index = index};
}

FlValue *fl_ad_at(const FlAdFrame *f, FlValue *v) {
  for (; f; f = f->outer) {
    FlValue *to = fl_map_get(f->to, v);
    if (to) return to;
  }
  return v;
}

void fl_ad_put(FlAdFrame *f, const FlValue *v, FlValue *stands_for_it) {
  fl_map_set(f->to, v, stands_for_it);
}

static FlAdNest *level_of(const FlAdFrame *f, const FlValue *array) {
  return array->op ? fl_map_get(f->ad->nests, array->op) : NULL;
}

FlValue *fl_ad_load_place(const FlAdFrame *f, const FlOp *load, int *n, FlValue **index) {
  FlValue *array = load->args[0];
  FlAdNest *level = f->kernel ? level_of(f, array) : NULL;
  *n = 0;
  for (int k = 0; level && level->results && k < level->outer; k++) index[(*n)++] = f->index[k];
  for (int k = 1; k < load->n_args; k++) index[(*n)++] = fl_ad_at(f, load->args[k]);
  return level && level->results ? level->results[array->index] : fl_ad_at(f, array);
}

/* What stands for values of the region does so within the copy only. */
static void clone_region(FlAdFrame *f, FlOp *fresh, int index, const FlRegion *from) {
  FlRegion *r = fl_ir_region(&f->b, fresh, index, 0, NULL);
  FlBuilder b = f->b;
  b.region = r;
  b.before = NULL;
  FlAdFrame in = fl_ad_frame(f->ad, f, b, f->kernel, f->index);
  for (int i = 0; i < from->n_params; i++)
    fl_ad_put(&in, from->params[i], fl_ir_param(r, from->params[i]->type));
  for (const FlOp *op = from->first; op; op = op->next) fl_ad_clone(&in, op);
  FlValue **yields = FL_NEW_ARRAY(f->ad->arena, FlValue *, from->n_yields + 1);
  for (int i = 0; i < from->n_yields; i++) yields[i] = fl_ad_at(&in, from->yields[i]);
  fl_ir_yield(r, f->b.module, from->n_yields, yields);
}

static bool is_left(const FlAdFrame *f, const FlOp *op) {
  for (; f; f = f->outer)
    if (f->left && fl_map_get(f->left, op)) return true;
  return false;
}

/* What an op of the elements of a MAP gives, where that is known; else NULL. */
static FlValue *known_element(FlAdFrame *f, const FlOp *op) {
  const FlRegion *r = op->parent;
  FlValue *array = NULL, *index[FL_MAX_RANK];
  for (const FlAdFrame *at = f; at && !array; at = at->outer)
    if (at->elements) array = fl_map_get(at->elements, op);
  if (!array) return NULL;
  for (int k = 0; k < r->n_params; k++) index[k] = fl_ad_at(f, r->params[k]);
  return fl_ir_load(&f->b, array, r->n_params, index, true);
}

void fl_ad_clone(FlAdFrame *f, const FlOp *op) {
  FlValue *known = known_element(f, op);
  if (known) {
    fl_ad_put(f, op->results[0], known);
    return;
  }
  if (is_left(f, op)) {
    if (op->code == FL_OP_STORE) fl_ad_put(f, op->results[0], fl_ad_at(f, op->args[0]));
    return;
  }
  FlAdNest *level =
      f->kernel && op->n_args && !fl_t_is_scalar(op->args[0]->type) ? level_of(f, op->args[0]) : NULL;
  if (level && level->results && op->code == FL_OP_DIM) {
    fl_ad_put(f, op->results[0], level->sizes[level->outer + (int)op->attrs.i]);
    return;
  }
  FlValue *place[FL_MAX_RANK], **args = FL_NEW_ARRAY(f->ad->arena, FlValue *, op->n_args + FL_MAX_RANK);
  FlType1 *types = FL_NEW_ARRAY(f->ad->arena, FlType1, op->n_results + 1);
  int n = op->n_args;
  for (int i = 0; i < n; i++) args[i] = fl_ad_at(f, op->args[i]);
  if (op->code == FL_OP_LOAD) {
    args[0] = fl_ad_load_place(f, op, &n, place);
    for (int i = 0; i < n; i++) args[i + 1] = place[i];
    n++;
  }
  for (int i = 0; i < op->n_results; i++) types[i] = op->results[i]->type;
  FlOp *fresh = fl_ir_op(&f->b, op->code, n, args, op->n_results, types, op->n_regions);
  fresh->span = op->span;
  fresh->attrs = op->attrs;
  for (int i = 0; i < op->n_regions; i++) clone_region(f, fresh, i, op->regions[i]);
  for (int i = 0; i < op->n_results; i++) fl_ad_put(f, op->results[i], fresh->results[i]);
}

FlValue *fl_ad_i64(FlBuilder *b, int64_t v) { return fl_ir_const_i(b, FL_I64, v); }

bool fl_ad_same_size(const FlValue *a, const FlValue *b) {
  int64_t x, y;
  return a == b || (fl_ir_const_value_i(a, &x) && fl_ir_const_value_i(b, &y) && x == y);
}

FlValue *fl_ad_op(FlBuilder *b, FlOpcode code, int n, FlValue *const *args, FlType1 type, int64_t i) {
  FlOp *op = fl_ir_op(b, code, n, args, 1, &type, 0);
  op->attrs.i = i;
  return op->results[0];
}

/* ---- loops that are added ---- */

FlAdLoop fl_ad_loop(FlBuilder *b, FlOpcode code, int n, FlValue *const *sizes) {
  FlType1 i64s[FL_MAX_RANK];
  for (int k = 0; k < n; k++) i64s[k] = fl_t_scalar(FL_I64);
  FlAdLoop m = {fl_ir_op(b, code, n, sizes, 0, NULL, 1), NULL, *b};
  m.region = fl_ir_region(b, m.op, 0, n, i64s);
  b->region = m.region;
  b->before = NULL;
  return m;
}

void fl_ad_loop_end(FlBuilder *b, FlAdLoop *m, int n, FlValue *const *yields) {
  FlType1 *types = FL_NEW_ARRAY(b->module->arena, FlType1, n + 1);
  fl_ir_yield(m->region, b->module, n, yields);
  *b = m->outer;
  for (int k = 0; k < n; k++) {
    types[k] = yields[k]->type;
    if (m->op->code == FL_OP_MAP) types[k].rank = (uint8_t)m->op->n_args;
  }
  fl_ir_add_results(b, m->op, n, types);
}

void fl_ad_list_end(FlBuilder *b, FlAdLoop *m, FlValue *yield) {
  fl_ir_yield(m->region, b->module, 1, &yield);
  *b = m->outer;
  FlType1 type = yield->type;
  type.depth++;
  fl_ir_add_results(b, m->op, 1, &type);
}

void fl_ad_sizes(FlBuilder *b, FlValue *array, FlValue **sizes) {
  for (int k = 0; k < array->type.rank; k++) sizes[k] = fl_ir_dim(b, array, k);
}

/* ---- adjoints ---- */

FlValue *fl_ad_adjoint(const FlAdFrame *f, const FlValue *v) {
  uintptr_t at = (uintptr_t)fl_map_get(f->place, v);
  return at ? f->adjoints.at[at - 1].value : NULL;
}

FlValue *fl_ad_plus(FlBuilder *b, FlValue *x, FlValue *y) {
  if (fl_t_is_scalar(x->type)) return fl_ir_binary(b, FL_OP_ADD, x, y);
  if (x->type.depth) return fl_ad_list_plus(b, x, y);
  FlValue *sizes[FL_MAX_RANK];
  fl_ad_sizes(b, x, sizes);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, x->type.rank, sizes);
  FlValue *sum = fl_ir_binary(b, FL_OP_ADD, fl_ir_load(b, x, x->type.rank, m.region->params, true),
                              fl_ir_load(b, y, x->type.rank, m.region->params, true));
  fl_ad_loop_end(b, &m, 1, &sum);
  return m.op->results[0];
}

void fl_ad_add(FlAdFrame *f, FlValue *v, FlValue *part) {
  if (!fl_ad_active(f->ad, v)) return;
  uintptr_t at = (uintptr_t)fl_map_get(f->place, v);
  if (at) {
    FlAdAdjoint *a = &f->adjoints.at[at - 1];
    a->value = fl_ad_plus(&f->b, a->value, part);
    return;
  }
  fl_vec_push(f->ad->arena, &f->adjoints, ((FlAdAdjoint){v, part}));
  fl_map_set(f->place, v, (void *)(uintptr_t)f->adjoints.n);
}

void fl_ad_set(FlAdFrame *f, const FlValue *v, FlValue *adjoint) {
  f->adjoints.at[(uintptr_t)fl_map_get(f->place, v) - 1].value = adjoint;
}

FlValue *fl_ad_zero(FlAdFrame *f, FlValue *v) {
  FlDtype d = (FlDtype)v->type.dtype;
  if (v->type.depth) return fl_ad_list_zero(&f->b, fl_ad_at(f, v));
  if (fl_t_is_scalar(v->type)) return d == FL_I64 ? fl_ad_i64(&f->b, 0) : fl_ir_const_f(&f->b, d, 0.0);
  FlValue *sizes[FL_MAX_RANK];
  fl_ad_sizes(&f->b, fl_ad_at(f, v), sizes);
  FlAdLoop m = fl_ad_loop(&f->b, FL_OP_MAP, v->type.rank, sizes);
  FlValue *zero = fl_ir_const_f(&f->b, d, 0.0);
  fl_ad_loop_end(&f->b, &m, 1, &zero);
  return m.op->results[0];
}

FlValue *fl_ad_where(FlBuilder *b, FlValue *g, FlValue *part) {
  FlValue *zero = fl_ir_const_f(b, (FlDtype)g->type.dtype, 0.0);
  return fl_ir_select(b, fl_ir_binary(b, FL_OP_EQ, g, zero), zero, part);
}
