/* rounds.c: the way back through FOR, WHILE and SCAN of host code, whose rounds hand values on.
 *
 * In: a loop whose results have adjoints. Out: the adjoints of what it starts from and of what its body
 * reads. The loop gives way to one that keeps the values at the beginning of each round (tape.c). Then a FOR
 * goes from the last round to the first and carries the adjoints of what is handed on, and the sums of those
 * of what all rounds read; of a long loop piece by piece. */
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
    if (!fl_ir_is_check(op)) fl_ad_clone(out, op);
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

/* ---- there, in the place of the loop ---- */

/* The loop as it stands in the frame; NULL: it does not, or gives all that is needed as it is. */
static FlOp *standing(const FlAdFrame *f, const FlOp *loop) {
  FlOp *op = fl_ad_at(f, loop->results[0])->op;
  if (!op || op->code != loop->code || op->code == FL_OP_SCAN) return NULL;
  for (int i = 0; i < loop->n_results; i++)
    if (fl_ad_at(f, loop->results[i]) != op->results[i]) return NULL;
  return op;
}

static FlAdFrame before(const FlAdFrame *f, FlOp *op) {
  FlAdFrame at = *f;
  at.b.region = op->parent;
  at.b.before = op;
  return at;
}

/* The values that the last round hands on are the loop's results from now on. */
static void replace(FlAdRounds *k, FlOp *loop, FlValue *const *results) {
  for (int i = 0; i < k->n; i++) {
    fl_ir_replace_in(loop->parent, loop->results[i], results[i]);
    if (*k->f->ad->result == loop->results[i]) *k->f->ad->result = results[i];
    fl_ad_put(k->f, k->op->results[i], results[i]);
  }
  fl_ir_remove(loop);
}

/* ---- piece by piece ---- */

typedef struct Pieces {
  FlValue *per, *n, *last; /* rounds of each, how many, the number of the last */
  FlValue **marks;         /* of each value, what it is at the beginning of each piece */
  FlAdRounds end;          /* the last piece, kept */
} Pieces;

/* Runs all rounds, of which the last piece is kept. Gives what the last round hands on. */
static FlValue *const *run_pieces(const FlAdRounds *k, Pieces *p) {
  FlBuilder *b = &k->f->b;
  FlValue *zero = fl_ad_i64(b, 0), *one = fl_ad_i64(b, 1);
  p->per = fl_rounds_at_a_time(k);
  FlValue *up = fl_ir_binary(b, FL_OP_WRAP_ADD, k->count, fl_ir_binary(b, FL_OP_WRAP_SUB, p->per, one));
  p->n = fl_ir_binary(b, FL_OP_FLOORDIV, up, p->per);
  p->last = fl_ir_binary(b, FL_OP_MAX, fl_ir_binary(b, FL_OP_WRAP_SUB, p->n, one), zero);
  FlValue **ends = fl_rounds_marks(k, p->per, p->n);
  FlValue *done = fl_ir_binary(b, FL_OP_WRAP_MUL, p->last, p->per);
  p->marks = ends + k->n;
  p->end = *k;
  p->end.first = ends;
  p->end.lo = fl_ir_binary(b, FL_OP_WRAP_ADD, k->lo, done);
  p->end.count = fl_ir_binary(b, FL_OP_WRAP_SUB, k->count, done);
  p->end.room = p->per;
  return fl_rounds_keep(&p->end);
}

/* The rounds, from the last piece to the first; those of all but the last piece run again. */
static FlOp *back_by_pieces(const FlAdRounds *k, const Pieces *p, int n, FlValue *const *adjoints, int n_of,
                            FlValue *const *of) {
  FlAdFrame *f = k->f;
  FlBuilder *b = &f->b;
  FlOp *loop = carrying(b, f->ad->arena, p->n, n, adjoints);
  FlRegion *r = loop->regions[0];
  FlAdFrame in = fl_ad_frame(f->ad, f, fl_rounds_into(*b, r), false, NULL), seen;
  FlValue *piece = fl_ir_binary(&in.b, FL_OP_WRAP_SUB, p->last, r->params[0]);
  FlValue *done = fl_ir_binary(&in.b, FL_OP_WRAP_MUL, piece, p->per);
  FlValue *is_last = fl_ir_binary(&in.b, FL_OP_EQ, piece, p->last);
  FlAdRounds some = p->end;
  some.f = &in;
  some.checks = false;
  some.first = FL_NEW_ARRAY(f->ad->arena, FlValue *, k->n + 1);
  for (int i = 0; i < k->n; i++) some.first[i] = fl_rounds_read(&in.b, p->marks[i], piece);
  some.lo = fl_ir_binary(&in.b, FL_OP_WRAP_ADD, k->lo, done);
  some.count = fl_ir_select(&in.b, is_last, fl_ad_i64(&in.b, 0), p->per);
  (void)fl_rounds_keep(&some);
  some.count = fl_ir_select(&in.b, is_last, p->end.count, p->per);
  FlOp *rounds = back(&some, n, r->params + 1, n_of, of, &seen);
  if (!rounds) return NULL;
  fl_ir_yield(r, b->module, n, rounds->results);
  return loop;
}

/* ---- the whole ---- */

static bool can_be_kept(const FlType1 t) {
  return t.depth == 0 && t.dtype != FL_TEXT && t.dtype != FL_FILE && t.dtype != FL_LIST;
}

static FlAdRounds rounds_of(FlAdFrame *f, FlOp *op, bool checks) {
  bool scan = op->code == FL_OP_SCAN, counted = op->code == FL_OP_FOR;
  FlAdRounds k = {.f = f, .op = op, .body = op->regions[0], .scan = scan, .n = op->n_results};
  k.checks = checks;
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
    k.checks = false;
  }
  k.room = k.count;
  fl_rounds_by_element(&k);
  k.stands = FL_NEW_ARRAY(f->ad->arena, FlValue *, k.reads.n + 1);
  return k;
}

/* What the way back is to carry: the adjoints of what is handed on, then zeros for what the rounds read. */
typedef struct Carried {
  FlVec(FlValue *) adjoints, of;
} Carried;

static bool carried_of(FlAdRounds *k, Carried *c) {
  FlAdFrame *f = k->f, seen;
  FlArena *arena = f->ad->arena;
  for (int i = 0; i < k->n; i++) {
    if (!active(k, i)) continue;
    FlValue *result = k->op->results[i], *g = k->scan ? NULL : fl_ad_adjoint(f, result);
    fl_vec_push(arena, &c->adjoints, g ? g : fl_ad_zero(f, k->scan ? k->start[i] : result));
  }
  /* Once for nothing, to see what the rounds read and what is to be kept of them. */
  FlOp *loop = back(k, c->adjoints.n, c->adjoints.at, 0, NULL, &seen);
  if (!loop) return false;
  for (int i = 0; i < seen.adjoints.n; i++)
    if (seen.adjoints.at[i].of->region != k->body) fl_vec_push(arena, &c->of, seen.adjoints.at[i].of);
  fl_rounds_find_unused(k, loop->regions[0]);
  fl_ir_remove(loop);
  for (int i = 0; i < c->of.n; i++) fl_vec_push(arena, &c->adjoints, fl_ad_zero(f, c->of.at[i]));
  return true;
}

bool fl_ad_rounds(FlAdFrame *f, FlOp *op) {
  FlOp *loop = standing(f, op);
  FlAdFrame there = loop ? before(f, loop) : *f, seen;
  FlAdRounds k = rounds_of(&there, op, loop != NULL);
  Carried c = {0};
  Pieces p;
  for (int i = 0; i < op->n_results; i++)
    if (!k.scan && !k.by_element[i] && !can_be_kept(op->results[i]->type))
      return fl_ad_fail_op(f->ad, op, " that hands on texts or lists");
  bool is_short = fl_rounds_short(&k);
  k.f = f;
  if (!carried_of(&k, &c)) return false;
  if (!k.scan) {
    k.f = loop ? &there : f;
    FlValue *const *results = is_short ? fl_rounds_keep(&k) : run_pieces(&k, &p);
    if (loop) replace(&k, loop, results);
    k.f = f;
  }
  FlOp *way_back = is_short ? back(&k, c.adjoints.n, c.adjoints.at, c.of.n, c.of.at, &seen)
                            : back_by_pieces(&k, &p, c.adjoints.n, c.adjoints.at, c.of.n, c.of.at);
  if (!way_back) return false;
  int at = 0;
  for (int i = 0; i < k.n; i++)
    if (active(&k, i)) fl_ad_add(f, k.start[i], way_back->results[at++]);
  for (int i = 0; i < c.of.n; i++) fl_ad_add(f, c.of.at[i], way_back->results[at++]);
  return true;
}
