/* tape.c: what the way back through rounds needs of them: the loop writes down what it hands to each round.
 *
 * Of a long loop not all is kept at once. It is cut into pieces; what is handed to the first round of each
 * piece is kept, and all of the last piece; the rounds of the others run again, and are kept, when the way
 * back comes to them. With pieces of the square root of the number of rounds, twice that many states are
 * kept. Source: A. Griewank, A. Walther, "Evaluating Derivatives", 2nd edition, 2008, chapter 12. */
#include "ad/rounds.h"
#include "ad/rules/rules.h"

/* What a loop may keep whole, and rounds that are few enough whatever they keep. */
enum { WHOLE_BYTES = 64 << 20, FEW_ROUNDS = 16 };

static FlValue *elements(FlBuilder *b, FlValue *array) {
  FlValue *n = fl_ir_dim(b, array, 0);
  for (int d = 1; d < array->type.rank; d++) n = fl_ir_binary(b, FL_OP_WRAP_MUL, n, fl_ir_dim(b, array, d));
  return n;
}

FlValue *fl_rounds_none(FlAdFrame *f, FlType1 t) {
  FlValue *sizes[FL_MAX_RANK];
  bool real = t.dtype == FL_F64 || t.dtype == FL_F32;
  for (int d = 0; d < t.rank; d++) sizes[d] = fl_ad_i64(&f->b, 0);
  FlAdLoop m = {0};
  if (t.rank) m = fl_ad_loop(&f->b, FL_OP_MAP, t.rank, sizes);
  FlValue *zero =
      real ? fl_ir_const_f(&f->b, (FlDtype)t.dtype, 0.0) : fl_ir_const_i(&f->b, (FlDtype)t.dtype, 0);
  if (!t.rank) return zero;
  fl_ad_loop_end(&f->b, &m, 1, &zero);
  return m.op->results[0];
}

/* Room for `count` values like v: an array of scalars, a list of arrays. */
static FlValue *room(FlBuilder *b, FlValue *v, FlValue *count) {
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &count);
  FlType1 t = v->type;
  if (fl_t_is_scalar(t)) {
    bool real = t.dtype == FL_F64 || t.dtype == FL_F32;
    v = real ? fl_ir_const_f(b, (FlDtype)t.dtype, 0.0) : fl_ir_const_i(b, (FlDtype)t.dtype, 0);
  }
  fl_ad_tasks_end(b, &m, 1, &v);
  return m.op->results[0];
}

static FlValue *write_down(FlBuilder *b, FlValue *kept, FlValue *round, FlValue *v) {
  return fl_ad_op(b, FL_OP_STORE, 3, (FlValue *[]){kept, round, v}, kept->type, 1);
}

FlValue *fl_rounds_read(FlBuilder *b, FlValue *kept, FlValue *round) {
  return fl_ir_load(b, kept, 1, &round, true);
}

/* ---- all of the rounds ---- */

/* Is this kept: a value that is handed on, or behind these a read? */
static bool is_kept(const FlAdRounds *k, int i) {
  return i < k->n ? !k->by_element[i] : fl_rounds_uses(k, i - k->n);
}

FlValue *const *fl_rounds_keep(FlAdRounds *k) {
  FlAdFrame *f = k->f;
  FlArena *arena = f->ad->arena;
  int n = k->n, all = n, n_kept = n + k->reads.n;
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, n + n_kept + 2),
          **yields = FL_NEW_ARRAY(arena, FlValue *, n + n_kept + 1),
          **reads = FL_NEW_ARRAY(arena, FlValue *, k->reads.n + 1);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, n + n_kept + 1);
  FlValue *places = fl_ir_binary(&f->b, FL_OP_WRAP_ADD, k->room, fl_ad_i64(&f->b, 1));
  args[0] = k->lo;
  args[1] = fl_ir_binary(&f->b, FL_OP_WRAP_ADD, k->lo, k->count);
  for (int i = 0; i < n; i++) args[2 + i] = k->first[i];
  for (int i = 0; i < n_kept; i++) {
    if (!is_kept(k, i)) continue;
    FlValue *like = i < n ? k->first[i] : fl_rounds_none(f, fl_rounds_read_type(k, i - n));
    args[2 + all++] = k->tape ? k->tape[i] : room(&f->b, like, places);
  }
  types[0] = fl_t_scalar(FL_I64);
  for (int i = 0; i < all; i++) types[1 + i] = args[2 + i]->type;
  FlOp *loop = fl_ir_op(&f->b, FL_OP_FOR, all + 2, args, all, types + 1, 1);
  FlRegion *r = fl_ir_region(&f->b, loop, 0, all + 1, types);
  FlAdFrame in = fl_ad_frame(f->ad, f, fl_rounds_into(f->b, r), false, NULL);
  FlValue *round = fl_ir_binary(&in.b, FL_OP_WRAP_SUB, r->params[0], k->lo);
  if (k->skip) fl_ad_put(&in, k->body->params[0], r->params[0]);
  int at = n;
  for (int i = 0; i < n; i++) fl_ad_put(&in, k->body->params[k->skip + i], r->params[1 + i]);
  for (int i = 0; i < n; i++) {
    if (!is_kept(k, i)) continue;
    yields[at] = write_down(&in.b, r->params[1 + at], round, r->params[1 + i]);
    at++;
  }
  fl_rounds_run(k, &in, reads);
  for (int i = 0; i < k->reads.n; i++) {
    if (!is_kept(k, n + i)) continue;
    yields[at] = write_down(&in.b, r->params[1 + at], round, reads[i]);
    at++;
  }
  for (int i = 0; i < n; i++) yields[i] = fl_ad_at(&in, k->body->yields[k->says + i]);
  fl_ir_yield(r, f->b.module, all, yields);
  k->tape = FL_NEW_ARRAY(arena, FlValue *, n_kept + 1);
  at = n;
  for (int i = 0; i < n_kept; i++)
    if (is_kept(k, i)) k->tape[i] = loop->results[at++];
  for (int i = 0; i < n; i++)
    if (fl_rounds_next(k, i)) k->tape[i] = write_down(&f->b, k->tape[i], k->count, loop->results[i]);
  return loop->results;
}

FlValue *fl_rounds_count(const FlAdRounds *k) {
  FlAdFrame *f = k->f;
  int n = k->n;
  FlValue **args = FL_NEW_ARRAY(f->ad->arena, FlValue *, n + 1),
          **yields = FL_NEW_ARRAY(f->ad->arena, FlValue *, n + 2);
  FlType1 *types = FL_NEW_ARRAY(f->ad->arena, FlType1, n + 1);
  for (int i = 0; i < n; i++) {
    args[i] = k->first[i];
    types[i] = args[i]->type;
  }
  args[n] = fl_ad_i64(&f->b, 0);
  types[n] = fl_t_scalar(FL_I64);
  FlOp *loop = fl_ir_op(&f->b, FL_OP_WHILE, n + 1, args, n + 1, types, 1);
  FlRegion *r = fl_ir_region(&f->b, loop, 0, n + 1, types);
  FlAdFrame in = fl_ad_frame(f->ad, f, fl_rounds_into(f->b, r), false, NULL);
  for (int i = 0; i < n; i++) fl_ad_put(&in, k->body->params[i], r->params[i]);
  for (const FlOp *op = k->body->first; op; op = op->next)
    if (k->checks || !fl_ir_is_check(op)) fl_ad_clone(&in, op);
  for (int i = 0; i <= n; i++) yields[i] = fl_ad_at(&in, k->body->yields[i]);
  yields[n + 1] = fl_ir_binary(&in.b, FL_OP_WRAP_ADD, r->params[n], fl_ad_i64(&in.b, 1));
  fl_ir_yield(r, f->b.module, n + 2, yields);
  return loop->results[n];
}

FlValue *fl_rounds_handed(const FlAdRounds *k, FlAdFrame *in, int i, FlValue *round) {
  FlBuilder *b = &in->b;
  FlValue *start = k->first[i];
  if (!k->scan) return k->tape ? fl_rounds_read(b, k->tape[i], round) : start;
  /* A SCAN's results are the values after each round. */
  FlValue *first = fl_ir_binary(b, FL_OP_EQ, round, fl_ad_i64(b, 0));
  FlOp *choice = fl_ir_op(b, FL_OP_IF, 1, &first, 1, &start->type, 2);
  FlBuilder side = fl_rounds_into(*b, fl_ir_region(b, choice, 0, 0, NULL));
  fl_ir_yield(side.region, b->module, 1, &start);
  side = fl_rounds_into(*b, fl_ir_region(b, choice, 1, 0, NULL));
  FlValue *before = fl_ir_binary(&side, FL_OP_WRAP_SUB, round, fl_ad_i64(&side, 1));
  FlValue *v = fl_ir_load(&side, fl_ad_at(k->f, k->op->results[i]), 1, &before, true);
  fl_ir_yield(side.region, b->module, 1, &v);
  return choice->results[0];
}

/* ---- pieces ---- */

bool fl_rounds_short(const FlAdRounds *k) {
  int64_t n;
  for (int i = 0; i < k->n; i++)
    if (k->first[i]->type.depth) return true; /* there are no lists of lists */
  return k->scan || (fl_ir_const_value_i(k->count, &n) && n <= FEW_ROUNDS);
}

FlValue *fl_rounds_at_a_time(const FlAdRounds *k) {
  FlBuilder *b = &k->f->b;
  FlValue *values = fl_ad_i64(b, 0), *one = fl_ad_i64(b, 1), *state;
  for (int i = 0; i < k->n; i++) {
    if (k->by_element[i]) continue;
    FlValue *v = k->first[i];
    values = fl_ir_binary(b, FL_OP_WRAP_ADD, values, fl_t_is_scalar(v->type) ? one : elements(b, v));
  }
  state = values;
  for (int i = 0; i < k->reads.n; i++)
    if (fl_rounds_uses(k, i)) values = fl_ir_binary(b, FL_OP_WRAP_ADD, values, fl_rounds_read_size(k, i));
  FlValue *bytes = fl_ir_binary(b, FL_OP_WRAP_MUL, values, fl_ad_i64(b, 8));
  FlValue *rounds = fl_ir_convert(b, k->count, FL_F64);
  FlValue *all = fl_ir_binary(b, FL_OP_MUL, rounds, fl_ir_convert(b, bytes, FL_F64));
  FlValue *whole = fl_ir_binary(b, FL_OP_LE, all, fl_ir_const_f(b, FL_F64, WHOLE_BYTES));
  /* Of n / per pieces the state, of per rounds all: least where per is the root of n state / all. */
  FlValue *part =
      fl_ir_binary(b, FL_OP_DIV, fl_ir_convert(b, state, FL_F64), fl_ir_convert(b, values, FL_F64));
  FlValue *best = fl_ir_unary(b, FL_OP_SQRT, fl_ir_binary(b, FL_OP_MUL, rounds, part));
  FlValue *root = fl_ir_unary(b, FL_OP_CEIL, best);
  return fl_ir_binary(b, FL_OP_MAX, fl_ir_select(b, whole, k->count, root), one);
}

FlValue **fl_rounds_marks(const FlAdRounds *k, FlValue *per, FlValue *pieces) {
  FlAdFrame *f = k->f;
  FlArena *arena = f->ad->arena;
  int n = k->n;
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, 2 * n + 2),
          **yields = FL_NEW_ARRAY(arena, FlValue *, 2 * n + 1);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, 2 * n + 1);
  types[0] = fl_t_scalar(FL_I64);
  args[0] = fl_ad_i64(&f->b, 0);
  args[1] = pieces;
  for (int i = 0; i < n; i++) {
    args[2 + i] = k->first[i];
    args[2 + n + i] = room(&f->b, k->first[i], pieces);
  }
  for (int i = 0; i < 2 * n; i++) types[1 + i] = args[2 + i]->type;
  FlOp *outer = fl_ir_op(&f->b, FL_OP_FOR, 2 * n + 2, args, 2 * n, types + 1, 1);
  FlRegion *r = fl_ir_region(&f->b, outer, 0, 2 * n + 1, types);
  FlBuilder b = fl_rounds_into(f->b, r);
  for (int i = 0; i < n; i++)
    yields[n + i] = write_down(&b, r->params[1 + n + i], r->params[0], r->params[1 + i]);
  /* The rounds of the piece, none of the last. */
  FlValue *last =
      fl_ir_binary(&b, FL_OP_EQ, fl_ir_binary(&b, FL_OP_WRAP_ADD, r->params[0], fl_ad_i64(&b, 1)), pieces);
  args[0] = fl_ir_binary(&b, FL_OP_WRAP_ADD, k->lo, fl_ir_binary(&b, FL_OP_WRAP_MUL, r->params[0], per));
  args[1] = fl_ir_binary(&b, FL_OP_WRAP_ADD, args[0], fl_ir_select(&b, last, fl_ad_i64(&b, 0), per));
  for (int i = 0; i < n; i++) args[2 + i] = r->params[1 + i];
  FlOp *loop = fl_ir_op(&b, FL_OP_FOR, n + 2, args, n, types + 1, 1);
  FlRegion *inner = fl_ir_region(&b, loop, 0, n + 1, types);
  FlAdFrame in = fl_ad_frame(f->ad, f, fl_rounds_into(b, inner), false, NULL);
  for (int i = 1 - k->skip; i <= n; i++) fl_ad_put(&in, k->body->params[k->skip + i - 1], inner->params[i]);
  for (const FlOp *op = k->body->first; op; op = op->next)
    if (k->checks || !fl_ir_is_check(op)) fl_ad_clone(&in, op);
  for (int i = 0; i < n; i++) yields[i] = fl_ad_at(&in, k->body->yields[k->says + i]);
  fl_ir_yield(inner, b.module, n, yields);
  for (int i = 0; i < n; i++) yields[i] = loop->results[i];
  fl_ir_yield(r, b.module, 2 * n, yields);
  return outer->results;
}
