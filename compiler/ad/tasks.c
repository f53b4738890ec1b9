/* tasks.c: the way back through a MAP whose elements are host code: tasks that make arrays, run loops with
 * rounds, call what works on whole arrays, and may give lists.
 *
 * In: such a MAP, of which some results have adjoints. Out: a MAP whose tasks each run forward once more and
 * then backward, and give the adjoints of what they read from outside; these are added in the order of the
 * tasks. Of an element that a task reads, and of an array that it takes from a list, its place is given, and
 * what is added there. */
#include "ad/rules/rules.h"

static FlValue *at(FlBuilder *b, FlValue *line, FlValue *i) { return fl_ir_load(b, line, 1, &i, true); }

static FlBuilder into(FlBuilder b, FlRegion *r) {
  b.region = r;
  b.before = NULL;
  return b;
}

/* What results stand for, in the order of the yields of the tasks. */
typedef struct Outside {
  FlVec(FlValue *) of;   /* values whose adjoint each task gives */
  FlVec(FlAdSink) sinks; /* reads: the value, then its indices */
  FlVec(FlValue *) yields;
} Outside;

/* The loop variables of task t. */
static void put_variables(FlAdFrame *in, const FlOp *op, FlValue *const *sizes, FlValue *t) {
  const FlRegion *r = op->regions[0];
  for (int d = op->n_args - 1; d > 0; d--) {
    fl_ad_put(in, r->params[d], fl_ir_binary(&in->b, FL_OP_MOD, t, sizes[d]));
    t = fl_ir_binary(&in->b, FL_OP_FLOORDIV, t, sizes[d]);
  }
  fl_ad_put(in, r->params[0], t);
}

static void seed(FlAdFrame *host, FlAdFrame *in, const FlOp *op) {
  const FlRegion *r = op->regions[0];
  FlValue *index[FL_MAX_RANK];
  for (int d = 0; d < op->n_args; d++) index[d] = fl_ad_at(in, r->params[d]);
  for (int k = 0; k < op->n_results; k++) {
    FlValue *g = fl_ad_adjoint(host, op->results[k]);
    if (!g) continue;
    if (g->type.depth) g = fl_ad_full(&in->b, at(&in->b, g, index[0]), fl_ad_at(in, r->yields[k]));
    else g = fl_ir_load(&in->b, g, op->n_args, index, true);
    fl_ad_add(in, r->yields[k], g);
  }
}

static bool find_outside(FlAdFrame *in, const FlOp *op, Outside *out) {
  FlArena *arena = in->ad->arena;
  for (int i = 0; i < in->adjoints.n; i++) {
    FlAdAdjoint a = in->adjoints.at[i];
    if (fl_ir_made_within(a.of, op)) continue;
    if (a.of->type.depth)
      return fl_ad_fail(in->ad, op->span, "a list that a branch or loop within these elements reads");
    fl_vec_push(arena, &out->of, a.of);
    fl_vec_push(arena, &out->yields, a.value);
  }
  for (int i = 0; i < in->sinks.n; i++) {
    FlAdSink s = in->sinks.at[i];
    fl_vec_push(arena, &out->sinks, s);
    fl_vec_push(arena, &out->yields, s.value);
    for (int k = 0; k < s.n; k++) fl_vec_push(arena, &out->yields, s.index[k]);
  }
  return true;
}

/* A FOR over the tasks that carries an adjoint; its region, in which `b` then stands. */
static FlOp *over_tasks(FlBuilder *b, FlValue *count, FlValue *start) {
  FlValue *args[3] = {fl_ad_i64(b, 0), count, start};
  FlType1 types[2] = {fl_t_scalar(FL_I64), start->type};
  FlOp *loop = fl_ir_op(b, FL_OP_FOR, 3, args, 1, &start->type, 1);
  *b = into(*b, fl_ir_region(b, loop, 0, 2, types));
  return loop;
}

static FlValue *sum_of_list(FlBuilder *b, FlValue *count, FlValue *list, FlValue *zero) {
  FlBuilder in = *b;
  FlOp *loop = over_tasks(&in, count, zero);
  FlValue *const *params = loop->regions[0]->params;
  FlValue *sum = fl_ad_sum_or(&in, params[1], at(&in, list, params[0]));
  fl_ir_yield(loop->regions[0], b->module, 1, &sum);
  return loop->results[0];
}

static FlValue *sum_of_scalars(FlBuilder *b, FlValue *count, FlValue *parts) {
  FlAdLoop red = fl_ad_loop(b, FL_OP_REDUCE, 1, &count);
  FlValue *v = at(b, parts, red.region->params[0]);
  fl_ad_loop_end(b, &red, 1, &v);
  fl_ir_set_reduction(red.op, FL_RED_SUM, false);
  return red.op->results[0];
}

/* Adds what the tasks read at their places. */
static void add_reads(FlAdFrame *host, FlValue *count, const FlAdSink *s, FlValue *const *parts) {
  FlValue *v = s->load->args[0], *so_far = fl_ad_adjoint(host, v);
  FlValue *start = so_far ? so_far : fl_ad_zero(host, v);
  FlBuilder in = host->b;
  FlOp *loop = over_tasks(&in, count, start);
  FlValue *const *params = loop->regions[0]->params;
  FlValue *args[FL_MAX_RANK + 2] = {params[1]}, *next;
  for (int k = 0; k < s->n; k++) args[k + 1] = at(&in, parts[k + 1], params[0]);
  FlValue *part = at(&in, parts[0], params[0]);
  if (v->type.depth) {
    next = fl_ad_list_add(&in, params[1], args[1], part);
  } else {
    FlValue *old = fl_ir_load(&in, params[1], s->n, args + 1, true);
    args[s->n + 1] = fl_ir_binary(&in, FL_OP_ADD, old, part);
    next = fl_ad_op(&in, FL_OP_STORE, s->n + 2, args, v->type, 1);
  }
  fl_ir_yield(loop->regions[0], host->b.module, 1, &next);
  if (so_far) fl_ad_set(host, v, loop->results[0]);
  else fl_ad_add(host, v, loop->results[0]);
}

/* Results that are a value from outside, once for each task. */
static bool repeats(FlAdFrame *host, FlOp *op, FlValue *count) {
  const FlRegion *r = op->regions[0];
  for (int k = 0; k < op->n_results; k++)
    if (r->first || !op->results[k]->type.depth || fl_ir_made_within(r->yields[k], op)) return false;
  for (int k = 0; k < op->n_results; k++) {
    FlValue *g = fl_ad_adjoint(host, op->results[k]), *v = r->yields[k];
    if (g && fl_ad_active(host->ad, v))
      fl_ad_add(host, v, sum_of_list(&host->b, count, g, fl_ad_zero(host, v)));
  }
  return true;
}

bool fl_ad_tasks(FlAdFrame *host, FlOp *op) {
  FlValue *sizes[FL_MAX_RANK], *count = NULL;
  for (int d = 0; d < op->n_args; d++) {
    sizes[d] = fl_ad_at(host, op->args[d]);
    count = count ? fl_ir_binary(&host->b, FL_OP_WRAP_MUL, count, sizes[d]) : sizes[d];
  }
  if (repeats(host, op, count)) return true;
  FlAdLoop m = fl_ad_loop(&host->b, FL_OP_MAP, 1, &count);
  FlAdFrame in = fl_ad_frame(host->ad, host, host->b, false, NULL);
  in.task = op;
  put_variables(&in, op, sizes, m.region->params[0]);
  for (const FlOp *source = op->regions[0]->first; source; source = source->next)
    if (!fl_ir_is_check(source)) fl_ad_clone(&in, source);
  seed(host, &in, op);
  Outside all = {0};
  if (!fl_ad_walk(&in, op->regions[0]) || !find_outside(&in, op, &all)) return false;
  fl_ad_tasks_end(&host->b, &m, all.yields.n, all.yields.at);
  FlValue *const *parts = m.op->results;
  for (int i = 0; i < all.of.n; i++) {
    FlValue *v = all.of.at[i], *part = *parts++;
    fl_ad_add(host, v,
              fl_t_is_scalar(v->type) ? sum_of_scalars(&host->b, count, part)
                                      : sum_of_list(&host->b, count, part, fl_ad_zero(host, v)));
  }
  for (int i = 0; i < all.sinks.n; i++) {
    add_reads(host, count, &all.sinks.at[i], parts);
    parts += 1 + all.sinks.at[i].n;
  }
  if (!all.yields.n) fl_ir_remove(m.op);
  return true;
}
