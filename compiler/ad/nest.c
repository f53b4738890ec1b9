/* nest.c: loops within loops, forward.
 *
 * In: a MAP, REDUCE or COLLECT of host code. Out: its levels. A level is the straight code of one loop; the
 * loops within it are levels of their own, and what these give is computed once more as an array over the
 * loops around them, so that every level, with the straight code of those around it, is a kernel by itself.
 * Always: sizes of inner loops do not depend on outer ones, else it fails. */
#include "ad/rules/rules.h"

static const FlOp *top_of(const FlAdNest *level) {
  while (level->parent) level = level->parent;
  return level->op;
}

/* Makes a size of two. */
static bool joins_sizes(const FlOp *op) {
  switch (op->code) {
  case FL_OP_ADD:
  case FL_OP_SUB:
  case FL_OP_MUL:
  case FL_OP_WRAP_ADD:
  case FL_OP_WRAP_SUB:
  case FL_OP_WRAP_MUL:
  case FL_OP_MIN:
  case FL_OP_MAX: return true;
  case FL_OP_NEG:
  case FL_OP_ABS:
  case FL_OP_DIV:
  case FL_OP_FLOORDIV:
  case FL_OP_MOD:
  case FL_OP_POW:
  case FL_OP_SIGN:
  case FL_OP_FMA:
  case FL_OP_SQRT:
  case FL_OPS_ORDER:
  case FL_OPS_LOGIC:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_NOT_SCALAR: break;
  }
  return false;
}

/* A size as host code has it; NULL: it depends on a loop. */
static FlValue *size_outside(FlAdFrame *host, const FlOp *top, FlValue *v) {
  if (!fl_ir_made_within(v, top)) return fl_ad_at(host, v);
  FlValue *known = fl_map_get(host->to, v);
  if (known) return known;
  const FlOp *op = v->op;
  if (!op || op->n_regions || op->n_results != 1) return NULL;
  FlValue *args[3];
  switch (op->code) {
  case FL_OP_CONST: return fl_ad_i64(&host->b, op->attrs.i);
  case FL_OP_DIM: {
    FlAdNest *level = op->args[0]->op ? fl_map_get(host->ad->nests, op->args[0]->op) : NULL;
    if (level) return level->sizes[level->outer + (int)op->attrs.i];
    if (fl_ir_made_within(op->args[0], top)) return NULL;
    return fl_ir_dim(&host->b, fl_ad_at(host, op->args[0]), (int)op->attrs.i);
  }
  case FL_OP_ARRAY:
  case FL_OP_LOAD:
  case FL_OP_PICK:
  case FL_OP_STORE:
  case FL_OPS_NOT_ACCESS: break;
  }
  if (!joins_sizes(op)) return NULL;
  for (int i = 0; i < 2; i++) {
    args[i] = size_outside(host, top, op->args[i]);
    if (!args[i]) return NULL;
  }
  return fl_ir_binary(&host->b, op->code, args[0], args[1]);
}

/* ---- making ---- */

static FlAdNest *make(FlAdFrame *host, FlOp *op, FlAdNest *parent, bool *ragged) {
  FlAdNest *l = FL_NEW(host->ad->arena, FlAdNest);
  *ragged = false;
  l->op = op;
  l->parent = parent;
  l->outer = parent ? parent->n : 0;
  l->n = l->outer + op->n_args;
  if (l->n > FL_MAX_RANK) {
    fl_ad_fail(host->ad, op->span, "more loops within each other than an array can have dimensions");
    return NULL;
  }
  for (int k = 0; k < l->outer; k++) l->sizes[k] = parent->sizes[k];
  const FlOp *top = parent ? top_of(parent) : op;
  for (int k = 0; k < op->n_args; k++) {
    l->sizes[l->outer + k] = size_outside(host, top, op->args[k]);
    if (!l->sizes[l->outer + k]) *ragged = true;
  }
  l->adjoints = FL_NEW_ARRAY(host->ad->arena, FlValue *, op->n_results + 1);
  l->first = FL_NEW_ARRAY(host->ad->arena, FlValue *, op->n_results + 1);
  l->others = FL_NEW_ARRAY(host->ad->arena, FlValue *, op->n_results + 1);
  return l;
}

static void yields_of(FlAdFrame *f, const FlAdNest *level, const void *env, FlValue **out) {
  (void)env;
  const FlRegion *r = level->op->regions[0];
  for (int k = 0; k < r->n_yields; k++) out[k] = fl_ad_at(f, r->yields[k]);
}

/* What an inner loop gives, over the loops around it. */
static void compute(FlAdFrame *host, FlAdNest *l) {
  FlOp *op = l->op;
  FlValue **results = FL_NEW_ARRAY(host->ad->arena, FlValue *, op->n_results + 1);
  const FlRegion *r = op->regions[0];
  if (op->code == FL_OP_REDUCE) {
    results[0] = fl_ad_nest_reduce(host, l, op->attrs.reductions[0].kind, r->n_yields, yields_of, NULL,
                                   (FlDtype)op->results[0]->type.dtype);
  } else {
    FlAdLoop m = fl_ad_loop(&host->b, FL_OP_MAP, l->n, l->sizes);
    FlAdFrame f = fl_ad_frame(host->ad, host, host->b, true, m.region->params);
    fl_ad_nest_emit(&f, l);
    FlValue **yields = FL_NEW_ARRAY(host->ad->arena, FlValue *, r->n_yields + 1);
    yields_of(&f, l, NULL, yields);
    fl_ad_loop_end(&host->b, &m, r->n_yields, yields);
    for (int k = 0; k < op->n_results; k++) results[k] = m.op->results[k];
  }
  l->results = results;
}

static bool straight(const FlAd *ad, const FlRegion *r);

/* May the op stand in straight code? What no derivative passes through may be a whole loop. */
static bool straight_op(const FlAd *ad, const FlOp *op) {
  if (!fl_ad_touches(ad, op)) return true;
  for (int i = 0; i < op->n_results; i++)
    if (!fl_t_is_scalar(op->results[i]->type)) return false;
  if (fl_op_info[op->code].op_class == FL_CLASS_SCALAR) return true;
  switch (op->code) {
  case FL_OP_LOAD: return op->args[0]->type.depth == 0;
  case FL_OP_CONST:
  case FL_OP_DIM:
  case FL_OP_CHECK:
  case FL_OP_KEEP:
  case FL_OP_WITHIN:
  case FL_OP_FAIL: return true;
  case FL_OP_IF: return straight(ad, op->regions[0]) && straight(ad, op->regions[1]);
  case FL_OP_CUSTOM:
    for (int i = 0; i < op->n_args; i++)
      if (!fl_t_is_scalar(op->args[i]->type) && fl_ad_active(ad, op->args[i])) return false;
    return true;
  case FL_OP_ARRAY:
  case FL_OP_PICK:
  case FL_OP_STORE:
  case FL_OP_FOR:
  case FL_OP_WHILE:
  case FL_OP_CALL:
  case FL_OP_STAGE:
  case FL_OP_EXTERN:
  case FL_OPS_LOOPS:
  case FL_OPS_NOT_STRUCT: break;
  }
  return false;
}

static const FlOp *crooked(const FlAd *ad, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next)
    if (!straight_op(ad, op)) return op;
  return NULL;
}

static bool straight(const FlAd *ad, const FlRegion *r) { return !crooked(ad, r); }

/* The op that is in the way, within IFs. */
static const FlOp *culprit(const FlAd *ad, const FlOp *op) {
  while (op->code == FL_OP_IF) {
    const FlOp *in = crooked(ad, op->regions[0]);
    if (!in) in = crooked(ad, op->regions[1]);
    if (!in) break;
    op = in;
  }
  return op;
}

static bool fill(FlAdFrame *host, FlAdNest *l);

static bool inner_loop(FlAdFrame *host, FlAdNest *l, FlOp *op) {
  bool ragged, active = fl_ad_touches(host->ad, op);
  for (int k = 0; k < op->regions[0]->n_yields; k++)
    if (!fl_t_is_scalar(op->regions[0]->yields[k]->type))
      return fl_ad_fail(host->ad, op->span, "a loop in a loop that gives arrays");
  FlAdNest *child = make(host, op, l, &ragged);
  if (!child) return false;
  if (ragged && !active && op->code == FL_OP_REDUCE) return true; /* stays in the straight code */
  if (ragged)
    return fl_ad_fail(host->ad, op->span, "a loop whose number of rounds depends on the loop around it");
  fl_vec_push(host->ad->arena, &l->children, child);
  fl_map_set(host->ad->nests, op, child);
  if (!fill(host, child)) return false;
  compute(host, child);
  return true;
}

/* Arrays that inner loops make are there for loads and their sizes alone. */
static bool only_loads(const FlAd *ad, const FlOp *op) {
  for (int i = 0; i < op->n_args; i++) {
    const FlValue *v = op->args[i];
    bool made = !fl_t_is_scalar(v->type) && v->op && fl_map_get(ad->nests, v->op);
    if (made && op->code != FL_OP_LOAD && op->code != FL_OP_DIM) return false;
  }
  for (int i = 0; i < op->n_regions; i++)
    for (const FlOp *in = op->regions[i]->first; in; in = in->next)
      if (!only_loads(ad, in)) return false;
  return true;
}

static bool fill(FlAdFrame *host, FlAdNest *l) {
  FlOp *op = l->op;
  if (op->attrs.n_reductions > 1) return fl_ad_fail_op(host->ad, op, " of several kinds");
  for (FlOp *in = op->regions[0]->first; in; in = in->next) {
    if (in->code == FL_OP_MAP || in->code == FL_OP_REDUCE) {
      if (!inner_loop(host, l, in)) return false;
      continue;
    }
    if (!only_loads(host->ad, in))
      return fl_ad_fail_op(host->ad, in, " of an array that is made within a loop");
    if (!straight_op(host->ad, in)) {
      const FlOp *way = culprit(host->ad, in);
      if (way->code == FL_OP_REDUCE || way->code == FL_OP_MAP)
        return fl_ad_fail(host->ad, way->span, "a loop in an `if` within a loop over elements");
      return fl_ad_fail_op(host->ad, way,
                           in == way ? " within a loop over elements" : " within an `if` of a loop");
    }
  }
  return true;
}

FlAdNest *fl_ad_nest_make(FlAdFrame *host, FlOp *op) {
  bool ragged;
  for (int k = 0; k < op->n_results; k++)
    if (op->results[k]->type.depth) {
      fl_ad_fail(host->ad, op->span, "a list of arrays");
      return NULL;
    }
  FlAdNest *l = make(host, op, NULL, &ragged);
  return l && fill(host, l) ? l : NULL;
}

/* ---- would it go well? ---- */

bool fl_ad_size_is_fixed(const FlOp *top, const FlValue *v) {
  if (!fl_ir_made_within(v, top)) return true;
  const FlOp *op = v->op;
  if (!op || op->n_regions || op->n_results != 1) return false;
  switch (op->code) {
  case FL_OP_CONST: return true;
  case FL_OP_DIM: {
    const FlOp *map = op->args[0]->op;
    if (!fl_ir_made_within(op->args[0], top)) return true;
    return map && map->code == FL_OP_MAP && fl_ad_size_is_fixed(top, map->args[op->attrs.i]);
  }
  case FL_OP_ARRAY:
  case FL_OP_LOAD:
  case FL_OP_PICK:
  case FL_OP_STORE:
  case FL_OPS_NOT_ACCESS: break;
  }
  return joins_sizes(op) && fl_ad_size_is_fixed(top, op->args[0]) && fl_ad_size_is_fixed(top, op->args[1]);
}

/* Arrays that loops of the nest make are there for loads and their sizes alone. */
static bool reads_elements(const FlOp *top, const FlOp *op) {
  for (int i = 0; i < op->n_args; i++) {
    const FlOp *by = op->args[i]->op;
    bool made = by && by->code == FL_OP_MAP && fl_ir_made_within(op->args[i], top) &&
                by->parent->owner->code != FL_OP_IF;
    if (made && op->code != FL_OP_LOAD && op->code != FL_OP_DIM) return false;
  }
  for (int i = 0; i < op->n_regions; i++)
    for (const FlOp *in = op->regions[i]->first; in; in = in->next)
      if (!reads_elements(top, in)) return false;
  return true;
}

static bool takes(const FlAd *ad, const FlOp *top, const FlOp *op, int outer) {
  const FlRegion *r = op->regions[0];
  int n = outer + op->n_args;
  bool even = true;
  if (n > FL_MAX_RANK || op->attrs.n_reductions > 1) return false;
  for (int k = 0; k < op->n_args; k++) even = even && fl_ad_size_is_fixed(top, op->args[k]);
  if (!even && op->code == FL_OP_REDUCE && !fl_ad_touches(ad, op)) return true;
  for (int k = 0; k < r->n_yields; k++)
    if (!fl_t_is_scalar(r->yields[k]->type)) return false;
  for (const FlOp *in = r->first; in && even; in = in->next) {
    bool loop = in->code == FL_OP_MAP || in->code == FL_OP_REDUCE;
    if (loop ? !takes(ad, top, in, n) : !reads_elements(top, in) || !straight_op(ad, in)) return false;
  }
  return even;
}

bool fl_ad_nest_takes(const FlAd *ad, const FlOp *op) { return takes(ad, op, op, 0); }

/* ---- emitting ---- */

/* The ops of a level before `until`; NULL: all. */
static void emit(FlAdFrame *f, const FlAdNest *l, const FlOp *until) {
  if (l->parent) emit(f, l->parent, l->op);
  const FlRegion *r = l->op->regions[0];
  for (int k = 0; k < r->n_params; k++) fl_ad_put(f, r->params[k], f->index[l->outer + k]);
  for (const FlOp *op = r->first; op != until; op = op->next) {
    FlAdNest *child = fl_map_get(f->ad->nests, op);
    if (child && op->code == FL_OP_REDUCE)
      fl_ad_put(f, op->results[0], fl_ir_load(&f->b, child->results[0], l->n, f->index, true));
    else if (!child && !fl_ir_is_check(op)) fl_ad_clone(f, op);
  }
}

void fl_ad_nest_emit(FlAdFrame *f, const FlAdNest *level) { emit(f, level, NULL); }

FlValue *fl_ad_nest_reduce(FlAdFrame *host, const FlAdNest *l, FlReduceKind kind, int n_yields,
                           FlAdYields *yields, const void *env, FlDtype result) {
  FlBuilder *b = &host->b;
  FlValue *index[FL_MAX_RANK], *out[4];
  FlAdLoop map = {0};
  if (l->outer) map = fl_ad_loop(b, FL_OP_MAP, l->outer, l->sizes);
  for (int k = 0; k < l->outer; k++) index[k] = map.region->params[k];
  FlAdLoop red = fl_ad_loop(b, FL_OP_REDUCE, l->n - l->outer, l->sizes + l->outer);
  for (int k = l->outer; k < l->n; k++) index[k] = red.region->params[k - l->outer];
  FlAdFrame f = fl_ad_frame(host->ad, host, *b, true, index);
  fl_ad_nest_emit(&f, l);
  yields(&f, l, env, out);
  fl_ir_yield(red.region, b->module, n_yields, out);
  *b = red.outer;
  fl_ir_set_reduction(red.op, kind, l->op->attrs.reductions[0].filtered);
  red.op->attrs.i = l->op->attrs.i & FL_REDUCE_SOME;
  FlType1 type = fl_t_scalar(result);
  fl_ir_add_results(b, red.op, 1, &type);
  if (!l->outer) return red.op->results[0];
  fl_ad_loop_end(b, &map, 1, red.op->results);
  return map.op->results[0];
}
