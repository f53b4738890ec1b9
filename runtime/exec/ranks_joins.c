/* ranks_joins.c: joins of tables that are in parts between ranks.
 *
 * In: JOIN, of keys of which each rank has some rows of a side, or of both. Out: its pairs, in parts: each
 * rank has those of its left rows. What always holds: pairs stand by left row, and then by right row, as
 * those of one rank do. The keys of a right table that has few rows go to all; else keys of both sides go to
 * whoever joins them (ranks_pairs.c). What `right` and `full` add, the right rows without a partner, stands
 * behind all pairs: of few right rows at the last rank, once all have said which they found, else all pairs
 * are laid anew, as evenly as can be. A join that fails somewhere is made once more, of all rows, by all. */
#include "exec/ranks_pairs.h"
#include "part/part.h"

#include <stdlib.h>
#include <string.h>

enum { RIGHT_SHARE = 2 }; /* so many times the right rows of all ranks are no more than the left ones */

typedef struct Join {
  FlCtx *ctx;
  const FlOpDesc *desc;
  const FlSlot *args;
  FlOpDesc own;             /* the join of the own left rows */
  int32_t n_left;           /* arguments of left keys */
  int64_t n, m;             /* rows of the left and the right table */
  const FlCut *cut, *right; /* of the rows of each side */
  bool few;                 /* right rows, which are whole at all ranks */
  bool rest;                /* right rows without a partner are added */
  bool several;             /* some left row has several partners, where that is known */
  FlSlot made[3];           /* rows, left rows, right rows: the own ones, counted from the first one */
  FlSlot alone;             /* of many right rows: the own ones without a partner */
} Join;

static FlStatus no_memory(const Join *j) {
  return fl_fail_op(j->ctx, j->desc, FL_FAULT_MEMORY, "out of memory");
}

static void let_go(Join *j) {
  for (int k = 1; k < 3; k++) {
    fl_array_unref(j->made[k].a);
    j->made[k].a = NULL;
  }
  fl_array_unref(j->alone.a);
  j->alone.a = NULL;
}

/* ---- the own left rows --------------------------------------------------------------------------------- */

static FlStatus join_here(Join *j) {
  const FlOpDesc *desc = j->desc;
  FlSlot *mine = calloc((size_t)desc->n_args + 1, sizeof *mine);
  FlStatus s = mine ? 0 : no_memory(j);
  for (int32_t i = 0; i < desc->n_args && !s; i++) {
    mine[i].a = i < j->n_left ? fl_part_here(j->ctx, j->args[i].a, j->cut) : fl_array_ref(j->args[i].a);
    if (!mine[i].a) s = FL_STATUS_MEMORY;
  }
  if (!s) s = desc->run(j->ctx, &j->own, mine, j->made);
  if (s) j->made[1].a = j->made[2].a = NULL;
  for (int32_t i = 0; i < desc->n_args && mine; i++) fl_array_unref(mine[i].a);
  free(mine);
  return s;
}

/* Both sides go by their keys. */
static FlStatus join_keyed(Join *j) {
  FlPairs p = {.ctx = j->ctx,
               .desc = j->desc,
               .args = j->args,
               .n_left = j->n_left,
               .left = j->cut,
               .right = j->right,
               .rest = j->rest};
  FlStatus s = fl_pairs_by_keys(&p);
  j->made[1] = p.lefts;
  j->made[2] = p.rights;
  j->alone = p.alone;
  j->several = p.several;
  return s;
}

/* Numbers that a join gives for `take` alone, as numbers: `by` more, where they are rows. */
typedef struct Plain {
  const FlArray *from;
  int64_t by, *to;
} Plain;

static void plain_body(void *env, int64_t from, int64_t to, int worker) {
  const Plain *p = env;
  const void *data = p->from->data;
  (void)worker;
  for (int64_t i = from; i < to; i++) {
    int64_t v = i;
    if (p->from->dtype == FL_I64) v = ((const int64_t *)data)[i];
    else if (p->from->dtype == FL_U32)
      v = ((const uint32_t *)data)[i] == UINT32_MAX ? -1 : (int64_t)((const uint32_t *)data)[i];
    p->to[i] = v < 0 ? v : v + p->by;
  }
}

static FlStatus make_plain(const Join *j, FlSlot *numbers, int64_t by) {
  if (numbers->a->dtype == FL_I64 && by == 0) return 0;
  int64_t n = numbers->a->dims[0];
  FlArray *plain = fl_array_reuse(numbers->a); /* where they stand, if they have 64 bits */
  if (plain && plain->dtype != FL_I64) {
    fl_array_unref(plain);
    plain = NULL;
  }
  if (!plain) plain = fl_array_new(j->ctx, FL_I64, 1, &n);
  if (!plain) return FL_STATUS_MEMORY;
  Plain p = {numbers->a, by, plain->data};
  fl_parallel_for(j->ctx, n, 1 << 16, plain_body, &p);
  fl_array_unref(numbers->a);
  numbers->a = plain;
  return 0;
}

/* ---- right rows without a partner ---------------------------------------------------------------------- */

/* `found`: of each right row, whether some rank has found it. */
static FlStatus find_found(const Join *j, uint8_t *found, uint8_t *theirs) {
  FlRanks *r = j->ctx->ranks;
  const int64_t *right = j->made[2].a->data;
  uint8_t *mine = found; /* all it knows so far */
  for (int64_t i = 0; i < j->made[2].a->dims[0]; i++)
    if (right[i] >= 0) mine[right[i]] = 1;
  uint8_t *own = theirs + j->m;
  memcpy(own, mine, (size_t)j->m);
  for (int32_t k = 0; k < r->n; k++) {
    if (!fl_ranks_send(r, k, k == r->here ? own : theirs, j->m)) return fl_rows_lost(j->ctx);
    for (int64_t i = 0; i < j->m && k != r->here; i++) found[i] |= theirs[i];
  }
  return 0;
}

/* They go behind the own pairs. */
static FlStatus add_rest(Join *j, const uint8_t *found) {
  int64_t n = j->made[1].a->dims[0], at = n, all = n;
  for (int64_t i = 0; i < j->m; i++) all += !found[i];
  FlArray *left = fl_array_new(j->ctx, FL_I64, 1, &all), *right = fl_array_new(j->ctx, FL_I64, 1, &all);
  FlStatus s = left && right ? 0 : FL_STATUS_MEMORY;
  if (!s && n) memcpy(left->data, j->made[1].a->data, (size_t)n * sizeof(int64_t));
  if (!s && n) memcpy(right->data, j->made[2].a->data, (size_t)n * sizeof(int64_t));
  for (int64_t i = 0; i < j->m && !s; i++) {
    if (found[i]) continue;
    ((int64_t *)left->data)[at] = -1;
    ((int64_t *)right->data)[at++] = i;
  }
  if (!s) let_go(j);
  if (!s) j->made[1].a = left, j->made[2].a = right;
  else fl_array_unref(left), fl_array_unref(right);
  return s;
}

static FlStatus join_rest(Join *j) {
  uint8_t *found = calloc((size_t)j->m + 1, 1), *theirs = malloc(2 * (size_t)j->m + 1);
  FlStatus s = fl_rows_meet(j->ctx, j->desc->site, found && theirs ? 0 : no_memory(j));
  if (!s && j->m) s = find_found(j, found, theirs);
  if (!s && j->ctx->ranks->here == j->ctx->ranks->n - 1) s = add_rest(j, found);
  free(found);
  free(theirs);
  return s;
}

/* How many rows two runs of rows share, and from which one on. */
static int64_t both(int64_t from, int64_t to, int64_t other_from, int64_t other_to, int64_t *begin) {
  *begin = from > other_from ? from : other_from;
  int64_t end = to < other_to ? to : other_to;
  return end > *begin ? end - *begin : 0;
}

/* The own rows of `from`, which stand among all of them as `at` says, and those behind row `before` of the
 * result, come to their places in it. */
static bool lay_anew(const Join *j, const FlArray *from, const FlCut *at, int64_t before, FlArray *to) {
  enum { SIZE = sizeof(int64_t) };
  FlRanks *r = j->ctx->ranks;
  const FlCut *laid = fl_array_cut(to);
  FlRankTrade *with = calloc((size_t)r->n, sizeof *with);
  int64_t begin, mine = before + fl_cut_from(at), here = fl_cut_from(laid);
  for (int32_t k = 0; with && k < r->n; k++) {
    with[k].gives = SIZE * both(mine, before + fl_cut_to(at), laid->at[k], laid->at[k + 1], &begin);
    with[k].out = (char *)from->data + (with[k].gives ? SIZE * (begin - mine) : 0);
    with[k].takes = SIZE * both(before + at->at[k], before + at->at[k + 1], here, fl_cut_to(laid), &begin);
    with[k].in = (char *)to->data + (with[k].takes ? SIZE * begin : 0);
  }
  bool fine = with && fl_ranks_trade(r, with, 1);
  free(with);
  return fine;
}

/* Own right rows without a partner, in parts as the ranks have them: all pairs, and then those. */
static FlStatus place_rest(Join *j, FlSlot *results) {
  FlCtx *ctx = j->ctx;
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = j->desc->site,
                     .values = {0, 0, j->alone.a->dims[0], j->made[1].a->dims[0]}};
  FlStatus s = fl_ranks_together(ctx, &mine);
  const FlCut *pairs = s ? NULL : fl_rows_cut_by(ctx, 3), *alone = pairs ? fl_rows_cut_by(ctx, 2) : NULL;
  int64_t n = alone ? fl_cut_rows(pairs) : 0, total = alone ? n + fl_cut_rows(alone) : 0;
  const FlCut *laid = alone ? fl_rows_cut(ctx, total, 1) : NULL;
  if (!s && !laid) s = FL_STATUS_MEMORY;
  for (int i = 1; i < 3 && !s; i++) {
    results[i].a = fl_array_new_part(ctx, FL_I64, 1, &total, laid);
    if (!results[i].a) s = FL_STATUS_MEMORY;
  }
  s = fl_rows_meet(ctx, j->desc->site, s);
  for (int i = 1; i < 3 && !s; i++)
    if (!lay_anew(j, j->made[i].a, pairs, 0, results[i].a)) s = fl_rows_lost(ctx);
  if (!s && !lay_anew(j, j->alone.a, alone, n, results[2].a)) s = fl_rows_lost(ctx);
  int64_t *left = s ? NULL : results[1].a->data;
  for (int64_t i = s ? 0 : fl_cut_from(laid); !s && i < fl_cut_to(laid); i++)
    if (i >= n) left[i] = -1;
  results[0].i = total;
  for (int32_t i = 1; i < 3 && !s; i++)
    if (!j->desc->stays[i - 1] || !fl_rows_are_many(ctx, total))
      s = fl_rows_gather(ctx, j->desc->site, results[i].a);
  for (int i = 1; i < 3 && s; i++) fl_array_unref(results[i].a);
  return s;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

/* *all: each left row of all ranks has one pair, and `take` alone reads the numbers. *again: it failed
 * somewhere, and nothing is made. */
static FlStatus meet(Join *j, FlStatus own, bool *all, bool *again) {
  FlCtx *ctx = j->ctx;
  bool fault = own && ctx->error && ctx->error->status == 1; /* of the program, not of this machine */
  bool each = !own && j->made[1].a->dtype == FL_BOOL && j->made[2].a->dtype == FL_U32;
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = j->desc->site,
                     .failed = !own || fault ? 0
                               : ctx->error  ? ctx->error->status
                                             : FL_STATUS_MEMORY,
                     .values = {fault || (j->several && j->desc->i & FL_JOIN_ONE), each}};
  if (fault) fl_fail_forget(ctx);
  FlStatus s = fl_ranks_together(ctx, &mine);
  *all = true;
  *again = false;
  for (int32_t k = 0; k < ctx->ranks->n && !s; k++) {
    *again |= ctx->ranks->slots[k].values[0] != 0;
    *all &= ctx->ranks->slots[k].values[1] != 0;
  }
  return s;
}

/* Each left row has one pair: the left rows need no numbers, and those of the right ones have 32 bits. */
static FlStatus place_taken(const Join *j, const FlCut *laid, FlSlot *results) {
  FlStatus s = 0;
  results[1].a = fl_part_all_rows(j->ctx, fl_cut_rows(laid));
  results[2].a = results[1].a ? fl_part_place(j->ctx, j->made[2].a, laid) : NULL;
  if (!results[2].a) s = FL_STATUS_MEMORY;
  if (!s && (!j->desc->stays[1] || !fl_rows_are_many(j->ctx, fl_cut_rows(laid))))
    s = fl_rows_gather(j->ctx, j->desc->site, results[2].a);
  for (int i = 1; i < 3 && s; i++) fl_array_unref(results[i].a);
  return s;
}

/* The pairs of all ranks; consumes the own ones. */
static FlStatus place(Join *j, bool all, FlSlot *results) {
  FlCtx *ctx = j->ctx;
  FlStatus s = 0;
  if (!all) s = make_plain(j, &j->made[1], fl_cut_from(j->cut));
  if (!s && !all) s = make_plain(j, &j->made[2], 0);
  if (j->rest) {
    s = fl_rows_meet(ctx, j->desc->site, s);
    if (!s && !j->few) return place_rest(j, results);
    if (!s) s = join_rest(j);
  }
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = j->desc->site,
                     .failed = !s           ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .values = {0, 0, 0, s ? 0 : j->made[1].a->dims[0]}};
  s = fl_ranks_together(ctx, &mine);
  const FlCut *laid = s ? NULL : fl_rows_cut_by(ctx, 3);
  if (!laid) return s ? s : FL_STATUS_MEMORY;
  results[0].i = j->made[0].i = fl_cut_rows(laid);
  if (all) return place_taken(j, laid, results);
  memcpy(results, j->made, sizeof j->made);
  j->made[1].a = j->made[2].a = NULL;
  return fl_rows_place(ctx, j->desc, laid, results);
}

/* The cut of the arguments [first, end), of so many rows, where some are in parts; those that are cut
 * otherwise are gathered. *fits: all have so many. */
static FlStatus lay(const Join *j, int32_t first, int32_t end, int64_t rows, const FlCut **cut, bool *fits) {
  FlStatus s = 0;
  *cut = NULL;
  for (int32_t i = first; i < end && !s; i++) {
    FlArray *a = j->args[i].a;
    const FlCut *its = fl_array_cut(a);
    *fits &= a->dims[0] == rows;
    if (!*cut) *cut = its;
    else if (its && its != *cut) s = fl_rows_gather(j->ctx, j->desc->site, a);
  }
  return s;
}

static FlStatus run(Join *j, FlSlot *results, bool *done) {
  bool all, again;
  FlStatus s = j->few ? join_here(j) : join_keyed(j);
  s = meet(j, s, &all, &again);
  if (!s && !again) s = place(j, all, results);
  let_go(j);
  *done = !again;
  return s;
}

/* Keys can go to others where each rank numbers its rows with 32 bits, and all right ones. */
static bool can_go(const Join *j) {
  bool fine = j->cut && j->right && j->m < UINT32_MAX;
  for (int32_t k = 0; fine && k < j->cut->n; k++) fine = j->cut->at[k + 1] - j->cut->at[k] < UINT32_MAX;
  return fine;
}

FlStatus fl_ranks_join(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done) {
  Join j = {
      .ctx = ctx, .desc = desc, .args = args, .own = *desc, .n_left = fl_key_args(desc, desc->n_columns / 2)};
  bool fits = true;
  *done = false;
  j.n = args[0].a->dims[0];
  j.m = args[j.n_left].a->dims[0];
  FlStatus s = lay(&j, 0, j.n_left, j.n, &j.cut, &fits);
  if (!s) s = lay(&j, j.n_left, desc->n_args, j.m, &j.right, &fits);
  if (s || (!j.cut && !j.right)) return s;
  j.few = j.cut && (!j.right || j.m <= j.n / RIGHT_SHARE / ctx->ranks->n);
  for (int32_t i = j.n_left; i < desc->n_args && !s && fits && j.few; i++)
    s = fl_part_whole(ctx, desc->site, desc->name, args[i].a);
  j.rest = strcmp(desc->s, "right") == 0 || strcmp(desc->s, "full") == 0;
  if (j.rest) {
    j.own.s = desc->s[0] == 'r' ? "inner" : "left";
    j.own.i = desc->i & FL_JOIN_ONE;
  }
  if (!s && !j.cut) j.cut = fl_rows_cut(ctx, j.n, 1);
  if (!s && !j.right) j.right = fl_rows_cut(ctx, j.m, 1);
  if (!s && fits && (j.few || can_go(&j))) s = run(&j, results, done);
  if (s || *done) return s;
  return fl_part_all_whole(ctx, desc->site, desc->name, desc->n_args, desc->arg_types, args);
}
