/* rounds.c: the way back through FOR, WHILE and SCAN of host code, whose rounds hand values on.
 *
 * In: a loop whose results have adjoints. Out: the adjoints of what it starts from and of what its body
 * reads. The values at the beginning of each round are kept: those of a SCAN are its results, a FOR is run
 * once more and writes them down. Then a FOR goes from the last round to the first and carries the adjoints
 * of what is handed on, and the sums of those of what all rounds read. Always: the sizes of what is handed on
 * stay the same, else the run stops with a message. */
#include "ad/ad_internal.h"

typedef struct Rounds {
  FlAdFrame *f;
  FlOp *op;
  FlRegion *body; /* parameters: the position (not of WHILE), then what is handed on */
  bool scan;
  int skip, says; /* how many parameters come before what is handed on, and how many yields (WHILE: go on?) */
  int n;          /* how many values are handed on */
  FlValue **start;     /* source: what they are before the first round */
  FlValue *lo, *count; /* of the frame: the first position, the number of rounds */
  FlValue **kept;      /* of FOR: of each its values by round: [round], or [round, element] of arrays */
} Rounds;

static FlBuilder into(FlBuilder b, FlRegion *r) {
  b.region = r;
  b.before = NULL;
  return b;
}

static FlValue *elements(FlBuilder *b, FlValue *array) {
  FlValue *n = fl_ir_dim(b, array, 0);
  for (int d = 1; d < array->type.rank; d++) n = fl_ir_binary(b, FL_OP_WRAP_MUL, n, fl_ir_dim(b, array, d));
  return n;
}

static FlValue *zeros(FlBuilder *b, FlDtype d, int n, FlValue *const *sizes) {
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, n, sizes);
  bool real = d == FL_F64 || d == FL_F32;
  FlValue *zero = real ? fl_ir_const_f(b, d, 0.0) : fl_ir_const_i(b, d, 0);
  fl_ad_loop_end(b, &m, 1, &zero);
  return m.op->results[0];
}

/* ---- the values of each round, of a FOR ---- */

/* Sizes of an array that is handed on are those that it started with. */
static void check_sizes(FlBuilder *b, FlValue *now, FlValue *start) {
  for (int d = 0; d < now->type.rank; d++) {
    FlValue *args[3] = {NULL, fl_ir_dim(b, now, d), fl_ir_dim(b, start, d)};
    args[0] = fl_ir_binary(b, FL_OP_EQ, args[1], args[2]);
    FlOp *check = fl_ir_op(b, FL_OP_CHECK, 3, args, 0, NULL, 0);
    check->attrs.i = FL_FAULT_SHAPE;
    check->attrs.s =
        "an array has {a} elements after a round of this loop and had {b} before it; no derivative goes "
        "through loops that change sizes";
  }
}

/* `kept` with a value written down as that of a round. */
static FlValue *write_down(FlBuilder *b, FlValue *kept, FlValue *round, FlValue *v) {
  if (fl_t_is_scalar(v->type))
    return fl_ad_op(b, FL_OP_STORE, 3, (FlValue *[]){kept, round, v}, kept->type, 1);
  FlValue *n = elements(b, v), *args[3] = {fl_ad_i64(b, 0), n, kept};
  FlType1 line = fl_t_array((FlDtype)v->type.dtype, 1), types[2] = {fl_t_scalar(FL_I64), kept->type};
  FlValue *flat = fl_ad_op(b, FL_OP_RESHAPE, 2, (FlValue *[]){v, n}, line, 0);
  FlOp *loop = fl_ir_op(b, FL_OP_FOR, 3, args, 1, &kept->type, 1);
  FlRegion *r = fl_ir_region(b, loop, 0, 2, types);
  FlBuilder in = into(*b, r);
  FlValue *element = fl_ir_load(&in, flat, 1, r->params, true);
  FlValue *place[4] = {r->params[1], round, r->params[0], element};
  FlValue *next = fl_ad_op(&in, FL_OP_STORE, 4, place, kept->type, 1);
  fl_ir_yield(r, b->module, 1, &next);
  return loop->results[0];
}

/* The loop once more, with what it hands on written down at the beginning of each round. */
static void keep(Rounds *k) {
  FlAdFrame *f = k->f;
  FlArena *arena = f->ad->arena;
  int n = k->n;
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, 2 * n + 2),
          **yields = FL_NEW_ARRAY(arena, FlValue *, 2 * n + 1);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, 2 * n + 1);
  types[0] = fl_t_scalar(FL_I64);
  args[0] = k->lo;
  args[1] = fl_ir_binary(&f->b, FL_OP_WRAP_ADD, k->lo, k->count);
  for (int i = 0; i < n; i++) {
    FlValue *v = fl_ad_at(f, k->start[i]);
    bool scalar = fl_t_is_scalar(v->type);
    FlValue *sizes[2] = {k->count, scalar ? NULL : elements(&f->b, v)};
    args[2 + i] = v;
    args[2 + n + i] = zeros(&f->b, (FlDtype)v->type.dtype, scalar ? 1 : 2, sizes);
    types[1 + i] = v->type;
    types[1 + n + i] = args[2 + n + i]->type;
  }
  FlOp *loop = fl_ir_op(&f->b, FL_OP_FOR, 2 * n + 2, args, 2 * n, types + 1, 1);
  FlRegion *r = fl_ir_region(&f->b, loop, 0, 2 * n + 1, types);
  FlAdFrame in = fl_ad_frame(f->ad, f, into(f->b, r), false, NULL);
  FlValue *round = fl_ir_binary(&in.b, FL_OP_WRAP_SUB, r->params[0], k->lo);
  if (k->skip) fl_ad_put(&in, k->body->params[0], r->params[0]);
  for (int i = 0; i < n; i++) fl_ad_put(&in, k->body->params[k->skip + i], r->params[1 + i]);
  for (int i = 0; i < n; i++)
    yields[n + i] = write_down(&in.b, r->params[1 + n + i], round, r->params[1 + i]);
  for (const FlOp *op = k->body->first; op; op = op->next)
    if (op->code != FL_OP_CHECK) fl_ad_clone(&in, op);
  for (int i = 0; i < n; i++) {
    yields[i] = fl_ad_at(&in, k->body->yields[k->says + i]);
    check_sizes(&in.b, yields[i], args[2 + i]);
  }
  fl_ir_yield(r, f->b.module, 2 * n, yields);
  k->kept = loop->results + n;
}

/* How many rounds a WHILE has: it is run once more, and counts. */
static FlValue *count_rounds(const Rounds *k) {
  FlAdFrame *f = k->f;
  int n = k->n;
  FlValue **args = FL_NEW_ARRAY(f->ad->arena, FlValue *, n + 1),
          **yields = FL_NEW_ARRAY(f->ad->arena, FlValue *, n + 2);
  FlType1 *types = FL_NEW_ARRAY(f->ad->arena, FlType1, n + 1);
  for (int i = 0; i < n; i++) {
    args[i] = fl_ad_at(f, k->start[i]);
    types[i] = args[i]->type;
  }
  args[n] = fl_ad_i64(&f->b, 0);
  types[n] = fl_t_scalar(FL_I64);
  FlOp *loop = fl_ir_op(&f->b, FL_OP_WHILE, n + 1, args, n + 1, types, 1);
  FlRegion *r = fl_ir_region(&f->b, loop, 0, n + 1, types);
  FlAdFrame in = fl_ad_frame(f->ad, f, into(f->b, r), false, NULL);
  for (int i = 0; i < n; i++) fl_ad_put(&in, k->body->params[i], r->params[i]);
  for (const FlOp *op = k->body->first; op; op = op->next)
    if (op->code != FL_OP_CHECK) fl_ad_clone(&in, op);
  for (int i = 0; i <= n; i++) yields[i] = fl_ad_at(&in, k->body->yields[i]);
  yields[n + 1] = fl_ir_binary(&in.b, FL_OP_WRAP_ADD, r->params[n], fl_ad_i64(&in.b, 1));
  fl_ir_yield(r, f->b.module, n + 2, yields);
  return loop->results[n];
}

/* What was handed to a round, in the frame `in`. */
static FlValue *handed(const Rounds *k, FlAdFrame *in, int i, FlValue *round) {
  FlBuilder *b = &in->b;
  FlValue *start = fl_ad_at(k->f, k->start[i]);
  if (!k->scan) {
    if (fl_t_is_scalar(start->type)) return fl_ir_load(b, k->kept[i], 1, &round, true);
    FlValue *next = fl_ir_binary(b, FL_OP_WRAP_ADD, round, fl_ad_i64(b, 1)), *args[FL_MAX_RANK + 1];
    args[0] = fl_ad_op(b, FL_OP_ROWS, 3, (FlValue *[]){k->kept[i], round, next}, k->kept[i]->type, 0);
    fl_ad_sizes(b, start, args + 1);
    return fl_ad_op(b, FL_OP_RESHAPE, start->type.rank + 1, args, start->type, 0);
  }
  /* A SCAN's results are the values after each round. */
  FlValue *first = fl_ir_binary(b, FL_OP_EQ, round, fl_ad_i64(b, 0));
  FlOp *choice = fl_ir_op(b, FL_OP_IF, 1, &first, 1, &start->type, 2);
  FlBuilder side = into(*b, fl_ir_region(b, choice, 0, 0, NULL));
  fl_ir_yield(side.region, b->module, 1, &start);
  side = into(*b, fl_ir_region(b, choice, 1, 0, NULL));
  FlValue *before = fl_ir_binary(&side, FL_OP_WRAP_SUB, round, fl_ad_i64(&side, 1));
  FlValue *v = fl_ir_load(&side, fl_ad_at(k->f, k->op->results[i]), 1, &before, true);
  fl_ir_yield(side.region, b->module, 1, &v);
  return choice->results[0];
}

/* ---- the rounds, backwards ---- */

static bool active(const Rounds *k, int i) { return fl_ad_active(k->f->ad, k->body->params[k->skip + i]); }

/* One round: `r` has its number from the end, the adjoints of what is handed on (of those that are active),
 * and, for each of `of`, the sum of its adjoints so far. Yields the same of the round before. */
static bool round_back(Rounds *k, FlRegion *r, int n_of, FlValue *const *of, FlAdFrame *out) {
  FlAdFrame *f = k->f;
  *out = fl_ad_frame(f->ad, f, into(f->b, r), false, NULL);
  FlBuilder *b = &out->b;
  FlValue *last = fl_ir_binary(b, FL_OP_WRAP_SUB, k->count, fl_ad_i64(b, 1));
  FlValue *round = fl_ir_binary(b, FL_OP_WRAP_SUB, last, r->params[0]);
  if (k->skip) fl_ad_put(out, k->body->params[0], fl_ir_binary(b, FL_OP_WRAP_ADD, k->lo, round));
  for (int i = 0; i < k->n; i++) fl_ad_put(out, k->body->params[k->skip + i], handed(k, out, i, round));
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

/* The loop over the rounds, from the last to the first. NULL: failed. */
static FlOp *loop_back(Rounds *k, int n_of, FlValue *const *of, FlAdFrame *out) {
  FlAdFrame *f = k->f;
  FlValue **args = FL_NEW_ARRAY(f->ad->arena, FlValue *, k->n + n_of + 2);
  FlType1 *types = FL_NEW_ARRAY(f->ad->arena, FlType1, k->n + n_of + 1);
  int n = 0;
  types[n++] = fl_t_scalar(FL_I64);
  args[0] = fl_ad_i64(&f->b, 0);
  args[1] = k->count;
  for (int i = 0; i < k->n; i++) {
    if (!active(k, i)) continue;
    FlValue *g = k->scan ? NULL : fl_ad_adjoint(f, k->op->results[i]);
    args[1 + n] = g ? g : fl_ad_zero(f, k->start[i]);
    types[n] = args[1 + n]->type;
    n++;
  }
  for (int i = 0; i < n_of; i++, n++) {
    args[1 + n] = fl_ad_zero(f, of[i]);
    types[n] = of[i]->type;
  }
  FlOp *loop = fl_ir_op(&f->b, FL_OP_FOR, n + 1, args, n - 1, types + 1, 1);
  FlRegion *r = fl_ir_region(&f->b, loop, 0, n, types);
  return round_back(k, r, n_of, of, out) ? loop : NULL;
}

static bool can_be_kept(const FlType1 t) {
  return t.depth == 0 && t.dtype != FL_TEXT && t.dtype != FL_FILE && t.dtype != FL_LIST;
}

bool fl_ad_rounds(FlAdFrame *f, FlOp *op) {
  bool scan = op->code == FL_OP_SCAN, counted = op->code == FL_OP_FOR;
  Rounds k = {.f = f, .op = op, .body = op->regions[0], .scan = scan, .n = op->n_results};
  k.start = op->args + (scan ? 1 : counted ? 2 : 0);
  k.skip = scan || counted;
  k.says = !k.skip;
  for (int i = 0; i < k.n; i++)
    if (!can_be_kept(k.start[i]->type)) return fl_ad_fail_op(f->ad, op, " that hands on texts or lists");
  k.lo = counted ? fl_ad_at(f, op->args[0]) : fl_ad_i64(&f->b, 0);
  if (scan) {
    k.count = fl_ad_at(f, op->args[0]);
  } else if (counted) {
    FlValue *all = fl_ir_binary(&f->b, FL_OP_SUB, fl_ad_at(f, op->args[1]), k.lo);
    k.count = fl_ir_binary(&f->b, FL_OP_MAX, all, fl_ad_i64(&f->b, 0));
  } else {
    k.count = count_rounds(&k);
  }
  if (!scan) keep(&k);
  /* Once for nothing, to see what the rounds read. */
  FlAdFrame seen;
  FlOp *loop = loop_back(&k, 0, NULL, &seen);
  if (!loop) return false;
  FlVec(FlValue *) of = {0};
  for (int i = 0; i < seen.adjoints.n; i++)
    if (seen.adjoints.at[i].of->region != k.body) fl_vec_push(f->ad->arena, &of, seen.adjoints.at[i].of);
  fl_ir_remove(loop);
  loop = loop_back(&k, of.n, of.at, &seen);
  if (!loop) return false;
  int at = 0;
  for (int i = 0; i < k.n; i++)
    if (active(&k, i)) fl_ad_add(f, k.start[i], loop->results[at++]);
  for (int i = 0; i < of.n; i++) fl_ad_add(f, of.at[i], loop->results[at++]);
  return true;
}
