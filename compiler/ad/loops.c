/* loops.c: the way back through a nest of loops.
 *
 * In: a MAP, REDUCE or COLLECT of host code whose results have adjoints. Out: the adjoints of what it reads.
 * Each level is run backwards after the levels within it: its straight code is computed again, its adjoints
 * go from its yields to what it reads. What it reads is one of four things: a scalar or an array of host
 * code, a scalar of a level around it, or an array that such a level made. Its adjoint is a MAP over the
 * loops that index it of the sum over the others; where an index is no loop variable, nor one and a fixed
 * distance (shifts.c), the parts and their places become arrays, for `segment_sum`. */
#include "ad/rules/rules.h"

#include <string.h>

static bool is(const FlAdNest *l, FlReduceKind kind) { return fl_ir_reduces(l->op, kind); }

static bool has_keep(const FlAdNest *l) {
  return l->op->code == FL_OP_REDUCE && l->op->attrs.reductions[0].filtered;
}
static FlValue *yield(const FlAdNest *l, int k) { return l->op->regions[0]->yields[k]; }
static FlDtype dtype(const FlAdNest *l) { return (FlDtype)l->op->results[0]->type.dtype; }

/* Of a value that a REDUCE has for each turn of the loops around it: that of this turn. */
static FlValue *of_turn(FlAdFrame *f, const FlAdNest *l, FlValue *v) {
  return l->outer ? fl_ir_load(&f->b, v, l->outer, f->index, true) : v;
}

/* ---- what min, max and product need to know ---- */

static void element_yields(FlAdFrame *f, const FlAdNest *l, const void *env, FlValue **out) {
  const char *what = env;
  FlValue *v = fl_ad_at(f, yield(l, 0));
  FlDtype d = (FlDtype)v->type.dtype;
  FlValue *zero = fl_ir_const_f(&f->b, d, 0.0), *one = fl_ir_const_f(&f->b, d, 1.0);
  out[0] = v;
  if (strcmp(what, "zeros") == 0)
    out[0] = fl_ir_select(&f->b, fl_ir_binary(&f->b, FL_OP_EQ, v, zero), one, zero);
  if (strcmp(what, "others") == 0)
    out[0] = fl_ir_select(&f->b, fl_ir_binary(&f->b, FL_OP_EQ, v, zero), one, v);
  if (has_keep(l)) out[1] = fl_ad_at(f, yield(l, 1));
}

static FlValue *reduce(FlAdFrame *host, const FlAdNest *l, FlReduceKind kind, const char *what, FlDtype d) {
  return fl_ad_nest_reduce(host, l, kind, 1 + has_keep(l), element_yields, what, d);
}

static void prepare(FlAdFrame *host, FlAdNest *l) {
  if (is(l, FL_RED_MIN)) l->first[0] = reduce(host, l, FL_RED_ARGMIN, "value", FL_I64);
  if (is(l, FL_RED_MAX)) l->first[0] = reduce(host, l, FL_RED_ARGMAX, "value", FL_I64);
  if (is(l, FL_RED_PRODUCT)) {
    l->first[0] = reduce(host, l, FL_RED_SUM, "zeros", dtype(l));
    l->others[0] = reduce(host, l, FL_RED_PRODUCT, "others", dtype(l));
  }
}

/* ---- from the results to the yields ---- */

/* The position within the level's own loops, row-major. */
static FlValue *position(FlAdFrame *f, const FlAdNest *l) {
  FlValue *at = f->index[l->outer];
  for (int k = l->outer + 1; k < l->n; k++)
    at = fl_ir_binary(&f->b, FL_OP_WRAP_ADD, fl_ir_binary(&f->b, FL_OP_WRAP_MUL, at, l->sizes[k]),
                      f->index[k]);
  return at;
}

static FlValue *product_part(FlAdFrame *f, const FlAdNest *l, FlValue *g) {
  FlValue *rest = fl_ad_product_rest(&f->b, fl_ad_at(f, yield(l, 0)), of_turn(f, l, l->first[0]),
                                     of_turn(f, l, l->others[0]));
  return fl_ir_binary(&f->b, FL_OP_MUL, g, rest);
}

static void seed(FlAdFrame *f, const FlAdNest *l) {
  FlBuilder *b = &f->b;
  if (l->op->code != FL_OP_REDUCE) {
    for (int k = 0; k < l->op->n_results; k++)
      if (l->adjoints[k]) fl_ad_add(f, yield(l, k), fl_ir_load(b, l->adjoints[k], l->n, f->index, true));
    return;
  }
  if (!l->adjoints[0]) return;
  FlValue *g = of_turn(f, l, l->adjoints[0]), *zero = fl_ir_const_f(b, dtype(l), 0.0);
  if (has_keep(l)) {
    FlValue *keep = fl_ad_at(f, yield(l, l->op->regions[0]->n_yields - 1));
    g = fl_ir_select(b, keep, g, zero);
  }
  if (is(l, FL_RED_SUM_PRODUCT)) {
    FlValue *x = fl_ad_at(f, yield(l, 0)), *y = fl_ad_at(f, yield(l, 1));
    if (fl_ad_active(f->ad, yield(l, 0))) fl_ad_add(f, yield(l, 0), fl_ir_binary(b, FL_OP_MUL, g, y));
    if (fl_ad_active(f->ad, yield(l, 1))) fl_ad_add(f, yield(l, 1), fl_ir_binary(b, FL_OP_MUL, g, x));
    return;
  }
  if (is(l, FL_RED_MIN) || is(l, FL_RED_MAX))
    g = fl_ir_select(b, fl_ir_binary(b, FL_OP_EQ, position(f, l), of_turn(f, l, l->first[0])), g, zero);
  if (is(l, FL_RED_PRODUCT)) g = product_part(f, l, g);
  fl_ad_add(f, yield(l, 0), g);
}

/* The level's code, forward and backward, in a frame with its loop variables. */
static bool run(FlAdFrame *f, const FlAdNest *l) {
  fl_ad_nest_emit(f, l);
  seed(f, l);
  for (int k = 0; k < l->locals.n; k++)
    fl_ad_add(f, l->locals.at[k].of, fl_ir_load(&f->b, l->locals.at[k].value, l->n, f->index, true));
  return fl_ad_walk(f, l->op->regions[0]);
}

/* ---- what a level reads ---- */

/* Something whose adjoint the level adds to: a scalar, or an array that it loads from. */
typedef struct Target {
  FlValue *scalar;
  int sink; /* arrays: the first of its sinks */
  bool direct;
  int axes[FL_MAX_RANK];        /* direct: the loop that is each index, */
  FlValue *shifts[FL_MAX_RANK]; /* plus this; NULL: nothing */
  bool shifted;                 /* any of these */
  FlValue *shared; /* what the level adds to it, as an array over all loops; NULL: not computed */
} Target;
typedef FlVec(Target) Targets;

static FlAdNest *maker(const FlAdFrame *f, const FlValue *array) {
  return array->op ? fl_map_get(f->ad->nests, array->op) : NULL;
}

/* Is each index a loop variable, and none twice? */
static bool is_direct(const FlAdFrame *f, const FlAdNest *l, const FlAdSink *s, int *axes) {
  bool taken[FL_MAX_RANK] = {0};
  for (int a = 0; a < s->n; a++) {
    int k = 0;
    while (k < l->n && f->index[k] != s->index[a]) k++;
    if (k == l->n || taken[k]) return false;
    taken[k] = true;
    axes[a] = k;
  }
  return true;
}

static bool same_place(const FlAdFrame *f, const FlAdNest *l, const FlAdSink *s, const Target *t,
                       const FlAdSink *of) {
  int axes[FL_MAX_RANK];
  if (t->shifted)
    return s->load->n_args == of->load->n_args &&
           memcmp(s->load->args, of->load->args, sizeof(FlValue *) * (size_t)of->load->n_args) == 0;
  return t->direct && s->load->args[0] == of->load->args[0] && is_direct(f, l, s, axes) &&
         memcmp(axes, t->axes, sizeof *axes * (size_t)s->n) == 0;
}

/* What the level adds to the target, in a frame where it was run. */
static FlValue *pick(FlAdFrame *f, const FlAdNest *l, const Target *t) {
  if (t->scalar) return fl_ad_adjoint(f, t->scalar);
  FlValue *sum = f->sinks.at[t->sink].value;
  for (int i = t->sink + 1; i < f->sinks.n; i++)
    if (same_place(f, l, &f->sinks.at[i], t, &f->sinks.at[t->sink]))
      sum = fl_ir_binary(&f->b, FL_OP_ADD, sum, f->sinks.at[i].value);
  return sum;
}

/* Runs the level for nothing, to see what it reads. */
static bool look(FlAdFrame *host, const FlAdNest *l, FlAdFrame *out) {
  FlAdLoop m = fl_ad_loop(&host->b, FL_OP_MAP, l->n, l->sizes);
  *out = fl_ad_frame(host->ad, host, host->b, true, m.region->params);
  bool ok = run(out, l);
  host->b = m.outer;
  fl_ir_remove(m.op);
  return ok;
}

/* The array that a MAP gives as it is, or NULL. */
static FlValue *copied(const FlOp *map) {
  const FlRegion *r = map->regions[0];
  const FlOp *load = r->yields[0]->op;
  if (!load || load->code != FL_OP_LOAD || load->n_args != r->n_params + 1) return NULL;
  FlValue *array = load->args[0];
  if (!array->op || array->op->code != FL_OP_MAP || array->op->parent != map->parent) return NULL;
  for (int k = 0; k < r->n_params; k++)
    if (load->args[k + 1] != r->params[k] || !fl_ad_same_size(array->op->args[k], map->args[k])) return NULL;
  return array;
}

static FlValue *both(FlBuilder *b, FlValue *c, FlValue *d) {
  return c ? fl_ir_binary(b, FL_OP_AND, c, d) : d;
}

/* The sum over the loops that are not in `axes`, as an array over those (a scalar when there are none), of
 * these sizes: where a loop ends before its axis does, or has not begun, nothing is added. */
static FlValue *sum_over(FlAdFrame *host, const FlAdNest *l, const Target *t, int n, const int *axes,
                         FlValue *const *sizes) {
  FlBuilder *b = &host->b;
  FlValue *index[FL_MAX_RANK] = {0}, *rest[FL_MAX_RANK], *within = NULL, *v;
  int others[FL_MAX_RANK], n_others = 0;
  FlAdLoop map = {0}, red = {0};
  if (n) map = fl_ad_loop(b, FL_OP_MAP, n, sizes);
  for (int a = 0; a < n; a++) {
    FlValue *shift = t->shifts[a], *i = index[axes[a]] = map.region->params[a], *size = l->sizes[axes[a]];
    if (shift) {
      i = index[axes[a]] = fl_ir_binary(b, FL_OP_WRAP_SUB, i, shift);
      within = both(b, within, fl_ir_binary(b, FL_OP_GE, i, fl_ad_i64(b, 0)));
    }
    if (shift || !fl_ad_same_size(sizes[a], size))
      within = both(b, within, fl_ir_binary(b, FL_OP_LT, i, size));
  }
  FlBuilder guarded = *b;
  FlOp *guard = within ? fl_ir_op(b, FL_OP_IF, 1, &within, 0, NULL, 2) : NULL;
  if (guard) b->region = fl_ir_region(b, guard, 0, 0, NULL), b->before = NULL;
  for (int k = 0; k < l->n; k++)
    if (!index[k]) {
      rest[n_others] = l->sizes[k];
      others[n_others++] = k;
    }
  if (n_others) red = fl_ad_loop(b, FL_OP_REDUCE, n_others, rest);
  for (int k = 0; k < n_others; k++) index[others[k]] = red.region->params[k];
  FlAdFrame f = fl_ad_frame(host->ad, host, *b, true, index);
  if (t->shared) {
    v = fl_ir_load(&f.b, t->shared, l->n, index, true);
  } else {
    run(&f, l);
    v = pick(&f, l, t);
  }
  if (n_others) {
    fl_ad_loop_end(b, &red, 1, &v);
    fl_ir_set_reduction(red.op, FL_RED_SUM, false);
    v = red.op->results[0];
  }
  if (guard) {
    fl_ir_yield(guard->regions[0], b->module, 1, &v);
    b->region = fl_ir_region(b, guard, 1, 0, NULL);
    FlValue *zero = fl_ir_const_f(b, (FlDtype)v->type.dtype, 0.0);
    fl_ir_yield(guard->regions[1], b->module, 1, &zero);
    *b = guarded;
    fl_ir_add_results(b, guard, 1, &zero->type);
    v = guard->results[0];
  }
  if (!n) return v;
  fl_ad_loop_end(b, &map, 1, &v);
  FlValue *same = copied(map.op);
  if (!same) return map.op->results[0];
  fl_ir_remove(map.op);
  return same;
}

static FlValue *reshaped(FlBuilder *b, FlValue *array, int n, FlValue *const *sizes) {
  FlValue *args[FL_MAX_RANK + 1] = {array};
  for (int k = 0; k < n; k++) args[k + 1] = sizes[k];
  FlType1 t = fl_t_array((FlDtype)array->type.dtype, n);
  return fl_ir_op(b, FL_OP_RESHAPE, n + 1, args, 1, &t, 0)->results[0];
}

static FlValue *product_of(FlBuilder *b, int n, FlValue *const *sizes) {
  FlValue *all = sizes[0];
  for (int k = 1; k < n; k++) all = fl_ir_binary(b, FL_OP_WRAP_MUL, all, sizes[k]);
  return all;
}

/* Parts added by their places among the elements of an array of these sizes. */
static FlValue *by_place(FlBuilder *b, FlValue *parts, FlValue *places, int n, FlValue *const *sizes) {
  /* Of no element at all there is still one place: that of parts that count nothing. */
  FlValue *all = product_of(b, n, sizes), *some = fl_ir_binary(b, FL_OP_MAX, all, fl_ad_i64(b, 1));
  FlType1 line = fl_t_array((FlDtype)parts->type.dtype, 1);
  FlValue *sums = fl_ad_op(b, FL_OP_SEGMENT_SUM, 3, (FlValue *[]){parts, places, some}, line, 0);
  sums = fl_ad_op(b, FL_OP_ROWS, 3, (FlValue *[]){sums, fl_ad_i64(b, 0), all}, line, 0);
  return n > 1 ? reshaped(b, sums, n, sizes) : sums;
}

/* The parts and their places, over all loops, added by place: an array of these sizes. */
static FlValue *scatter(FlAdFrame *host, const FlAdNest *l, const Target *t, int n, FlValue *const *sizes) {
  FlBuilder *b = &host->b;
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, l->n, l->sizes);
  FlAdFrame f = fl_ad_frame(host->ad, host, *b, true, m.region->params);
  run(&f, l);
  const FlAdSink *s = &f.sinks.at[t->sink];
  FlValue *place = s->index[0];
  for (int a = 1; a < n; a++)
    place =
        fl_ir_binary(&f.b, FL_OP_WRAP_ADD, fl_ir_binary(&f.b, FL_OP_WRAP_MUL, place, sizes[a]), s->index[a]);
  if (s->guard) place = fl_ir_select(&f.b, s->guard, place, fl_ad_i64(&f.b, 0));
  fl_ad_loop_end(b, &m, 2, (FlValue *[]){s->value, place});
  FlValue *parts = m.op->results[0], *places = m.op->results[1];
  if (l->n > 1) {
    FlValue *count = product_of(b, l->n, l->sizes);
    parts = reshaped(b, parts, 1, &count);
    places = reshaped(b, places, 1, &count);
  }
  return by_place(b, parts, places, n, sizes);
}

static void add_array(FlAdFrame *host, FlValue **to, FlValue *part) {
  *to = *to ? fl_ad_plus(&host->b, *to, part) : part;
}

static void add_local(FlAdFrame *host, FlAdNest *l, FlValue *v, FlValue *part) {
  for (int k = 0; k < l->locals.n; k++)
    if (l->locals.at[k].of == v) {
      add_array(host, &l->locals.at[k].value, part);
      return;
    }
  fl_vec_push(host->ad->arena, &l->locals, ((FlAdAdjoint){v, part}));
}

static const int all_axes[FL_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};

static void add_scalar(FlAdFrame *host, FlAdNest *l, const Target *t) {
  for (FlAdNest *p = l->parent; p; p = p->parent)
    if (t->scalar->region == p->op->regions[0]) {
      add_local(host, p, t->scalar, sum_over(host, l, t, p->n, all_axes, p->sizes));
      return;
    }
  fl_ad_add(host, t->scalar, sum_over(host, l, t, 0, NULL, NULL));
}

static void add_loaded(FlAdFrame *host, FlAdNest *l, const FlAdSink *s, const Target *t) {
  FlValue *array = s->load->args[0], *sizes[FL_MAX_RANK];
  FlAdNest *by = maker(host, array);
  if (by) memcpy(sizes, by->sizes, sizeof sizes);
  else fl_ad_sizes(&host->b, fl_ad_at(host, array), sizes);
  FlValue *part = t->direct ? sum_over(host, l, t, s->n, t->axes, sizes) : scatter(host, l, t, s->n, sizes);
  if (by) add_array(host, &by->adjoints[array->index], part);
  else fl_ad_add(host, array, part);
}

/* What the level loads: of its child `only`, or, NULL, of all but its children. */
static void find_loaded(FlAdFrame *host, FlAdNest *l, const FlAdFrame *seen, const FlAdNest *only,
                        Targets *out) {
  for (int i = 0; i < seen->sinks.n; i++) {
    const FlAdSink *s = &seen->sinks.at[i];
    FlAdNest *by = maker(host, s->load->args[0]);
    if (only ? by != only : by && by->parent == l) continue;
    Target t = {.sink = i};
    t.direct = is_direct(seen, l, s, t.axes);
    if (!t.direct) t.direct = t.shifted = fl_ad_shifts(host, seen, l, s, t.axes, t.shifts);
    bool done = false;
    for (int k = 0; k < i && !done; k++) done = same_place(seen, l, &seen->sinks.at[k], &t, s);
    if (!done) fl_vec_push(host->ad->arena, out, t);
  }
}

static void find_scalars(FlAdFrame *host, FlAdNest *l, const FlAdFrame *seen, Targets *out) {
  for (int i = 0; i < seen->adjoints.n; i++)
    if (seen->adjoints.at[i].of->region != l->op->regions[0])
      fl_vec_push(host->ad->arena, out, ((Target){.scalar = seen->adjoints.at[i].of}));
}

/* Where one of several targets needs its parts over all loops anyway, the parts of all are computed with it,
 * once. */
static void share(FlAdFrame *host, FlAdNest *l, const FlAdFrame *seen, Targets *all) {
  bool whole = false;
  int n = 0;
  for (int i = 0; i < all->n; i++) {
    const Target *t = &all->at[i];
    whole = whole || (!t->scalar && t->direct && seen->sinks.at[t->sink].n == l->n);
    n += t->scalar || t->direct;
  }
  if (!whole || n < 2) return;
  FlAdLoop m = fl_ad_loop(&host->b, FL_OP_MAP, l->n, l->sizes);
  FlAdFrame f = fl_ad_frame(host->ad, host, host->b, true, m.region->params);
  run(&f, l);
  FlValue **parts = FL_NEW_ARRAY(host->ad->arena, FlValue *, n);
  int *which = FL_NEW_ARRAY(host->ad->arena, int, all->n), n_parts = 0;
  for (int i = 0; i < all->n; i++) {
    const Target *t = &all->at[i];
    if (!t->scalar && !t->direct) continue;
    FlValue *v = pick(&f, l, t);
    for (which[i] = 0; which[i] < n_parts && parts[which[i]] != v;) which[i]++;
    if (which[i] == n_parts) parts[n_parts++] = v;
  }
  fl_ad_loop_end(&host->b, &m, n_parts, parts);
  for (int i = 0; i < all->n; i++)
    if (all->at[i].scalar || all->at[i].direct) all->at[i].shared = m.op->results[which[i]];
}

static void add_targets(FlAdFrame *host, FlAdNest *l, const FlAdFrame *seen, Targets *all) {
  share(host, l, seen, all);
  for (int i = 0; i < all->n; i++) {
    const Target *t = &all->at[i];
    if (t->scalar) add_scalar(host, l, t);
    else add_loaded(host, l, &seen->sinks.at[t->sink], t);
  }
}

/* ---- levels, innermost and last first ---- */

static bool back(FlAdFrame *host, FlAdNest *l) {
  bool any = false;
  for (int k = 0; k < l->op->n_results; k++) any = any || l->adjoints[k];
  if (!any) return true;
  prepare(host, l);
  for (int c = l->children.n - 1; c >= 0; c--) {
    FlAdNest *child = l->children.at[c];
    FlAdFrame seen;
    if (!look(host, l, &seen)) return false;
    FlValue *result = child->op->results[0];
    if (child->op->code == FL_OP_MAP) {
      Targets of_child = {0};
      find_loaded(host, l, &seen, child, &of_child);
      add_targets(host, l, &seen, &of_child);
    } else if (fl_ad_adjoint(&seen, result)) {
      Target t = {.scalar = result};
      child->adjoints[0] = sum_over(host, l, &t, l->n, all_axes, l->sizes);
    }
    if (!back(host, child)) return false;
  }
  FlAdFrame seen;
  if (!look(host, l, &seen)) return false;
  Targets all = {0};
  find_scalars(host, l, &seen, &all);
  find_loaded(host, l, &seen, NULL, &all);
  add_targets(host, l, &seen, &all);
  return !host->ad->failed;
}

/* The positions that a COLLECT keeps. */
static FlValue *kept_positions(FlAdFrame *host, const FlAdNest *l) {
  FlAdLoop m = fl_ad_loop(&host->b, FL_OP_COLLECT, l->n, l->sizes);
  FlAdFrame f = fl_ad_frame(host->ad, host, host->b, true, m.region->params);
  fl_ad_nest_emit(&f, l);
  fl_ir_yield(m.region, host->b.module, 2, (FlValue *[]){fl_ad_at(&f, yield(l, 0)), position(&f, l)});
  host->b = m.outer;
  fl_ir_add_results(&host->b, m.op, 2, (FlType1[]){fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1)});
  return m.op->results[1];
}

bool fl_ad_loops(FlAdFrame *host, FlOp *op) {
  FlAdNest *l = fl_ad_nest_make(host, op);
  if (!l) return false;
  FlValue *kept = op->code == FL_OP_COLLECT ? kept_positions(host, l) : NULL;
  for (int k = 0; k < op->n_results; k++) {
    FlValue *g = fl_ad_adjoint(host, op->results[k]);
    l->adjoints[k] = g && kept ? by_place(&host->b, g, kept, l->n, l->sizes) : g;
  }
  return back(host, l);
}
