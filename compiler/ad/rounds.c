/* rounds.c: the way back through FOR, WHILE and SCAN of host code, whose rounds hand values on.
 *
 * In: a loop whose results have adjoints. Out: the adjoints of what it starts from and of what its body
 * reads. The values at the beginning of each round are known (kept.c). Then a FOR goes from the last round to
 * the first and carries the adjoints of what is handed on, and the sums of those of what all rounds read; of
 * a long loop piece by piece. */
#include "ad/rounds.h"

static bool active(const FlAdRounds *k, int i) {
  return fl_ad_active(k->f->ad, k->body->params[k->skip + i]);
}

/* One round: `r` has its number from the end, the adjoints of what is handed on (of those that are active),
 * and, for each of `of`, the sum of its adjoints so far. Yields the same of the round before. */
static bool round_back(const FlAdRounds *k, FlRegion *r, int n_of, FlValue *const *of, FlAdFrame *out) {
  FlAdFrame *f = k->f;
  *out = fl_ad_frame(f->ad, f, fl_rounds_into(f->b, r), false, NULL);
  FlBuilder *b = &out->b;
  FlValue *last = fl_ir_binary(b, FL_OP_WRAP_SUB, k->count, fl_ad_i64(b, 1));
  FlValue *round = fl_ir_binary(b, FL_OP_WRAP_SUB, last, r->params[0]);
  if (k->skip) fl_ad_put(out, k->body->params[0], fl_ir_binary(b, FL_OP_WRAP_ADD, k->lo, round));
  for (int i = 0; i < k->n; i++)
    if (!k->by_element[i]) fl_ad_put(out, k->body->params[k->skip + i], fl_rounds_handed(k, out, i, round));
  fl_rounds_put_reads(k, out, round);
  for (const FlOp *op = k->body->first; op; op = op->next)
    if (op->code != FL_OP_CHECK) fl_ad_clone(out, op);
  int at = 1;
  FlValue **g = FL_NEW_ARRAY(f->ad->arena, FlValue *, k->n + n_of + 1);
  for (int i = 0; i < k->n; i++)
    if (active(k, i)) g[i] = r->params[at++];
  for (int i = 0; i < n_of; i++) fl_ad_add(out, of[i], r->params[at++]);
  for (int i = 0; i < k->n; i++) {
    if (!g[i]) continue;
    FlValue *seen = k->scan ? fl_ad_adjoint(f, k->op->results[i]) : NULL;
    if (seen) g[i] = fl_ir_binary(b, FL_OP_ADD, g[i], fl_ir_load(b, seen, 1, &round, true));
    fl_ad_add(out, k->body->yields[k->says + i], g[i]);
  }
  if (!fl_ad_walk(out, k->body)) return false;
  at = 0;
  for (int i = 0; i < k->n; i++) {
    if (!active(k, i)) continue;
    FlValue *v = fl_ad_adjoint(out, k->body->params[k->skip + i]);
    g[at++] = v ? v : fl_ad_zero(out, k->body->params[k->skip + i]);
  }
  for (int i = 0; i < n_of; i++) g[at++] = fl_ad_adjoint(out, of[i]);
  fl_ir_yield(r, f->b.module, at, g);
  return true;
}

/* A FOR from 0 that carries the adjoints: of what is handed on, then the sums. */
static FlOp *carrying(FlBuilder *b, FlArena *arena, FlValue *count, int n, FlValue *const *adjoints) {
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, n + 2);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, n + 1);
  types[0] = fl_t_scalar(FL_I64);
  args[0] = fl_ad_i64(b, 0);
  args[1] = count;
  for (int i = 0; i < n; i++) {
    args[2 + i] = adjoints[i];
    types[1 + i] = adjoints[i]->type;
  }
  FlOp *loop = fl_ir_op(b, FL_OP_FOR, n + 2, args, n, types + 1, 1);
  fl_ir_region(b, loop, 0, n + 1, types);
  return loop;
}

/* The rounds, from the last to the first. NULL: failed. */
static FlOp *back(const FlAdRounds *k, int n, FlValue *const *adjoints, int n_of, FlValue *const *of,
                  FlAdFrame *out) {
  FlOp *loop = carrying(&k->f->b, k->f->ad->arena, k->count, n, adjoints);
  return round_back(k, loop->regions[0], n_of, of, out) ? loop : NULL;
}

/* The same piece by piece, from the last to the first. */
static FlOp *back_by_pieces(const FlAdRounds *k, int n, FlValue *const *adjoints, int n_of,
                            FlValue *const *of) {
  FlAdFrame *f = k->f;
  FlBuilder *b = &f->b;
  FlValue *per = fl_rounds_at_a_time(k), *one = fl_ad_i64(b, 1);
  FlValue *up = fl_ir_binary(b, FL_OP_WRAP_ADD, k->count, fl_ir_binary(b, FL_OP_WRAP_SUB, per, one));
  FlValue *pieces = fl_ir_binary(b, FL_OP_FLOORDIV, up, per);
  FlValue **marks = fl_rounds_marks(k, per, pieces);
  FlOp *loop = carrying(b, f->ad->arena, pieces, n, adjoints);
  FlRegion *r = loop->regions[0];
  FlAdFrame in = fl_ad_frame(f->ad, f, fl_rounds_into(*b, r), false, NULL), seen;
  FlValue *last = fl_ir_binary(&in.b, FL_OP_WRAP_SUB, pieces, one);
  FlValue *piece = fl_ir_binary(&in.b, FL_OP_WRAP_SUB, last, r->params[0]);
  FlValue *before = fl_ir_binary(&in.b, FL_OP_WRAP_MUL, piece, per);
  FlAdRounds some = *k;
  some.f = &in;
  some.first = FL_NEW_ARRAY(f->ad->arena, FlValue *, k->n + 1);
  for (int i = 0; i < k->n; i++) some.first[i] = fl_rounds_read(&in.b, marks[i], piece);
  some.lo = fl_ir_binary(&in.b, FL_OP_WRAP_ADD, k->lo, before);
  some.count = fl_ir_binary(&in.b, FL_OP_MIN, per, fl_ir_binary(&in.b, FL_OP_WRAP_SUB, k->count, before));
  fl_rounds_keep(&some);
  FlOp *rounds = back(&some, n, r->params + 1, n_of, of, &seen);
  if (!rounds) return NULL;
  fl_ir_yield(r, b->module, n, rounds->results);
  return loop;
}

static bool can_be_kept(const FlType1 t) {
  return t.depth == 0 && t.dtype != FL_TEXT && t.dtype != FL_FILE && t.dtype != FL_LIST;
}

static FlAdRounds rounds_of(FlAdFrame *f, FlOp *op) {
  bool scan = op->code == FL_OP_SCAN, counted = op->code == FL_OP_FOR;
  FlAdRounds k = {.f = f, .op = op, .body = op->regions[0], .scan = scan, .n = op->n_results};
  k.start = op->args + (scan ? 1 : counted ? 2 : 0);
  k.skip = scan || counted;
  k.says = !k.skip;
  k.first = FL_NEW_ARRAY(f->ad->arena, FlValue *, k.n + 1);
  for (int i = 0; i < k.n; i++) k.first[i] = fl_ad_at(f, k.start[i]);
  k.lo = counted ? fl_ad_at(f, op->args[0]) : fl_ad_i64(&f->b, 0);
  if (scan) {
    k.count = fl_ad_at(f, op->args[0]);
  } else if (counted) {
    FlValue *all = fl_ir_binary(&f->b, FL_OP_SUB, fl_ad_at(f, op->args[1]), k.lo);
    k.count = fl_ir_binary(&f->b, FL_OP_MAX, all, fl_ad_i64(&f->b, 0));
  } else {
    k.count = fl_rounds_count(&k);
  }
  fl_rounds_by_element(&k);
  return k;
}

bool fl_ad_rounds(FlAdFrame *f, FlOp *op) {
  FlArena *arena = f->ad->arena;
  FlAdRounds k = rounds_of(f, op);
  for (int i = 0; i < op->n_results; i++)
    if (!k.scan && !k.by_element[i] && !can_be_kept(op->results[i]->type))
      return fl_ad_fail_op(f->ad, op, " that hands on texts or lists");
  FlVec(FlValue *) adjoints = {0}, of = {0};
  for (int i = 0; i < k.n; i++) {
    if (!active(&k, i)) continue;
    FlValue *g = k.scan ? NULL : fl_ad_adjoint(f, op->results[i]);
    fl_vec_push(arena, &adjoints, g ? g : fl_ad_zero(f, k.scan ? k.start[i] : op->results[i]));
  }
  /* Once for nothing, to see what the rounds read. */
  FlAdFrame seen;
  FlOp *loop = back(&k, adjoints.n, adjoints.at, 0, NULL, &seen);
  if (!loop) return false;
  for (int i = 0; i < seen.adjoints.n; i++)
    if (seen.adjoints.at[i].of->region != k.body) fl_vec_push(arena, &of, seen.adjoints.at[i].of);
  fl_ir_remove(loop);
  for (int i = 0; i < of.n; i++) fl_vec_push(arena, &adjoints, fl_ad_zero(f, of.at[i]));
  if (fl_rounds_short(&k)) {
    if (!k.scan) fl_rounds_keep(&k);
    loop = back(&k, adjoints.n, adjoints.at, of.n, of.at, &seen);
  } else {
    loop = back_by_pieces(&k, adjoints.n, adjoints.at, of.n, of.at);
  }
  if (!loop) return false;
  int at = 0;
  for (int i = 0; i < k.n; i++)
    if (active(&k, i)) fl_ad_add(f, k.start[i], loop->results[at++]);
  for (int i = 0; i < of.n; i++) fl_ad_add(f, of.at[i], loop->results[at++]);
  return true;
}
