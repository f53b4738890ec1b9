/* elements.c: what is kept of a round besides what it was handed.
 *
 * In: the body of a loop. Out: which of the arrays that it hands on are used for nothing but LOAD, STORE and
 * their sizes, in branches too. Of these not the array is kept for each round, but what was read of it, so
 * that a round costs no more than its reads and writes; its adjoint is written in place in the same way. And
 * products of matrices, whose sizes can be told before the rounds run, and what a round hands on, which is
 * what the next one was handed: the way back does not compute them again. */
#include "ad/rounds.h"

/* One array, in all its states within a round. */
typedef struct States {
  const FlAdRounds *k;
  FlMap *of; /* set of values */
  FlVec(FlOp *) reads, writes;
} States;

static bool is_state(const States *s, const FlValue *v) { return fl_map_get(s->of, v) != NULL; }

static bool uses_any(const States *s, const FlOp *op) {
  for (int i = 0; i < op->n_args; i++)
    if (is_state(s, op->args[i])) return true;
  for (int i = 0; i < op->n_regions; i++) {
    const FlRegion *r = op->regions[i];
    for (const FlOp *in = r->first; in; in = in->next)
      if (uses_any(s, in)) return true;
    for (int y = 0; y < r->n_yields; y++)
      if (is_state(s, r->yields[y])) return true;
  }
  return false;
}

static bool follow(States *s, const FlRegion *r);

static bool follow_op(States *s, FlOp *op) {
  bool first = op->n_args && is_state(s, op->args[0]);
  if (op->code == FL_OP_IF) {
    if (!follow(s, op->regions[0]) || !follow(s, op->regions[1])) return false;
    for (int i = 0; i < op->n_results; i++) {
      bool yes = is_state(s, op->regions[0]->yields[i]), no = is_state(s, op->regions[1]->yields[i]);
      if (yes != no) return false;
      if (yes) fl_map_set(s->of, op->results[i], op);
    }
    return true;
  }
  if (first && op->code == FL_OP_DIM) return true;
  if (first && op->code == FL_OP_LOAD) {
    fl_vec_push(s->k->f->ad->arena, &s->reads, op);
    return true;
  }
  if (first && op->code == FL_OP_STORE) {
    fl_map_set(s->of, op->results[0], op);
    fl_vec_push(s->k->f->ad->arena, &s->writes, op);
    return true;
  }
  return !uses_any(s, op);
}

static bool follow(States *s, const FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next)
    if (!follow_op(s, op)) return false;
  return true;
}

/* ---- products ---- */

static FlValue *size_of(const FlAdRounds *k, FlValue *array, int axis);

/* A number of the body, as of its first round; NULL: not known. */
static FlValue *number_of(const FlAdRounds *k, FlValue *v) {
  int64_t known;
  if (!fl_ir_made_within(v, k->op)) return fl_ad_at(k->f, v);
  if (fl_ir_const_value_i(v, &known)) return fl_ad_i64(&k->f->b, known);
  return v->op && v->op->code == FL_OP_DIM ? size_of(k, v->op->args[0], (int)v->op->attrs.i) : NULL;
}

static FlValue *size_of(const FlAdRounds *k, FlValue *array, int axis) {
  if (!fl_ir_made_within(array, k->op)) return fl_ir_dim(&k->f->b, fl_ad_at(k->f, array), axis);
  for (int i = 0; i < k->n; i++)
    if (array == k->body->params[k->skip + i]) return fl_ir_dim(&k->f->b, k->first[i], axis);
  const FlOp *op = array->op;
  if (!op || array->type.depth) return NULL;
  if (op->code == FL_OP_MAP) return number_of(k, op->args[axis]);
  if (op->code != FL_OP_MATMUL || array->type.rank != 2) return NULL;
  return axis == 0 ? size_of(k, op->args[0], op->attrs.i & 1 ? 1 : 0)
                   : size_of(k, op->args[1], op->attrs.i & 2 ? 0 : 1);
}

FlValue *fl_rounds_read_size(const FlAdRounds *k, int i) {
  const FlOp *read = k->reads.at[i], *map = fl_rounds_elements(k, read);
  FlValue *v = map ? map->results[0] : read->results[0], *n = fl_ad_i64(&k->f->b, 1);
  for (int d = 0; d < v->type.rank; d++) n = fl_ir_binary(&k->f->b, FL_OP_WRAP_MUL, n, size_of(k, v, d));
  return n;
}

bool fl_rounds_size_known(const FlAdRounds *k, FlValue *array) {
  for (int d = 0; d < array->type.rank; d++)
    if (!size_of(k, array, d)) return false;
  return true;
}

static void keep_products(FlAdRounds *k) {
  for (FlOp *op = k->body->first; op && !k->scan; op = op->next) {
    if (op->code != FL_OP_MATMUL || op->results[0]->type.rank != 2) continue;
    if (!fl_rounds_size_known(k, op->results[0])) continue;
    fl_vec_push(k->f->ad->arena, &k->reads, op);
    fl_map_set(k->left, op, op);
  }
}

/* ---- what is handed on ---- */

bool fl_rounds_next(const FlAdRounds *k, int i) {
  FlValue *next = k->body->yields[k->says + i];
  const FlOp *op = next->op;
  return !k->scan && !k->by_element[i] && next->type.rank && op && op->parent == k->body &&
         op->n_results == 1 && op->code != FL_OP_STORE;
}

static void keep_next(FlAdRounds *k) {
  for (int i = 0; i < k->n; i++) {
    FlOp *op = k->body->yields[k->says + i]->op;
    if (fl_rounds_next(k, i)) fl_map_set(k->left, op, op);
  }
}

/* ---- arrays by element ---- */

void fl_rounds_by_element(FlAdRounds *k) {
  FlArena *arena = k->f->ad->arena;
  k->by_element = FL_NEW_ARRAY(arena, bool, k->n + 1);
  k->left = fl_map_make(arena);
  for (int i = 0; i < k->n && !k->scan; i++) {
    FlValue *v = k->body->params[k->skip + i];
    if (fl_t_is_scalar(v->type) || v->type.dtype == FL_TEXT) continue;
    States s = {.k = k, .of = fl_map_make(arena)};
    fl_map_set(s.of, v, v);
    bool ok = follow(&s, k->body) && s.writes.n;
    for (int y = 0; ok && y < k->n; y++) ok = is_state(&s, k->body->yields[k->says + y]) == (y == i);
    if (!ok) continue;
    k->by_element[i] = true;
    for (int r = 0; r < s.reads.n; r++) {
      fl_vec_push(arena, &k->reads, s.reads.at[r]);
      fl_map_set(k->left, s.reads.at[r], s.reads.at[r]);
    }
    for (int w = 0; w < s.writes.n; w++) fl_map_set(k->left, s.writes.at[w], s.writes.at[w]);
  }
  keep_products(k);
  fl_rounds_keep_costly(k);
  keep_next(k);
}

void fl_rounds_put_reads(const FlAdRounds *k, FlAdFrame *in, FlValue *round) {
  in->left = k->left;
  in->elements = fl_map_make(in->ad->arena);
  for (int i = 0; i < k->n; i++)
    if (k->by_element[i]) fl_ad_put(in, k->body->params[k->skip + i], k->first[i]);
  for (int i = 0; i < k->reads.n; i++) {
    const FlOp *read = k->reads.at[i];
    if (!fl_rounds_uses(k, i)) continue;
    FlValue *v = k->tape ? fl_rounds_read(&in->b, k->tape[k->n + i], round)
                         : fl_rounds_none(in, fl_rounds_read_type(k, i));
    if (fl_rounds_elements(k, read)) fl_map_set(in->elements, read, v);
    else fl_ad_put(in, read->results[0], v);
    if (!k->tape) k->stands[i] = v;
  }
  for (int i = 0; i < k->n; i++) {
    if (!fl_rounds_next(k, i)) continue;
    FlValue *v = k->body->yields[k->says + i];
    FlValue *after = fl_ir_binary(&in->b, FL_OP_WRAP_ADD, round, fl_ad_i64(&in->b, 1));
    fl_ad_put(in, v, k->tape ? fl_rounds_read(&in->b, k->tape[i], after) : fl_rounds_none(in, v->type));
  }
}

/* ---- one round, with what it reads ---- */

static bool holds_read(const FlAdRounds *k, const FlOp *op) {
  for (int i = 0; i < k->reads.n; i++)
    if (fl_ir_made_within(k->reads.at[i]->results[0], op)) return true;
  return false;
}

static void run(const FlAdRounds *k, FlAdFrame *in, const FlRegion *r, FlValue **reads);

/* The branches give what is read in them, too. */
static void run_if(const FlAdRounds *k, FlAdFrame *in, const FlOp *op, FlValue **reads) {
  FlArena *arena = k->f->ad->arena;
  int n = op->n_results, all = n + k->reads.n;
  FlValue *c = fl_ad_at(in, op->args[0]);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, all + 1);
  FlOp *fresh = fl_ir_op(&in->b, FL_OP_IF, 1, &c, 0, NULL, 2);
  for (int side = 0; side < 2; side++) {
    const FlRegion *from = op->regions[side];
    FlRegion *to = fl_ir_region(&in->b, fresh, side, 0, NULL);
    FlAdFrame f = fl_ad_frame(in->ad, in, fl_rounds_into(in->b, to), false, NULL);
    FlValue **out = FL_NEW_ARRAY(arena, FlValue *, all + 1);
    run(k, &f, from, out + n);
    for (int i = 0; i < n; i++) out[i] = fl_ad_at(&f, from->yields[i]);
    int at = n;
    for (int i = 0; i < k->reads.n; i++) {
      if (!fl_ir_made_within(k->reads.at[i]->results[0], op)) continue;
      FlValue *v = out[n + i] ? out[n + i] : fl_rounds_none(&f, fl_rounds_read_type(k, i));
      out[at++] = v;
    }
    for (int i = 0; i < at; i++) types[i] = out[i]->type;
    fl_ir_yield(to, in->b.module, at, out);
    all = at;
  }
  fl_ir_add_results(&in->b, fresh, all, types);
  for (int i = 0; i < n; i++) fl_ad_put(in, op->results[i], fresh->results[i]);
  for (int i = 0, at = n; i < k->reads.n; i++)
    if (fl_ir_made_within(k->reads.at[i]->results[0], op)) reads[i] = fresh->results[at++];
}

static void run(const FlAdRounds *k, FlAdFrame *in, const FlRegion *r, FlValue **reads) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_ir_is_check(op) && !k->checks) continue;
    if (op->code == FL_OP_IF && holds_read(k, op)) {
      run_if(k, in, op, reads);
      continue;
    }
    if (fl_rounds_run_elements(k, in, op, reads)) continue;
    fl_ad_clone(in, op);
    for (int i = 0; i < k->reads.n; i++)
      if (k->reads.at[i] == op) reads[i] = fl_ad_at(in, op->results[0]);
  }
}

void fl_rounds_run(const FlAdRounds *k, FlAdFrame *in, FlValue **reads) { run(k, in, k->body, reads); }
