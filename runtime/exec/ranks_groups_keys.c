/* ranks_groups_keys.c: groups of rows that go by their keys to ranks, where states are half as many as rows.
 *
 * In: GROUP_ROWS of a table of which each rank has some rows. Out: what it gives: rows go to whoever has
 * their part of the order of keys (ranks_trade.c), who has whole groups of them, piece by piece; what is made
 * of these stays there in parts, or goes to all. What always holds: groups are numbered by ascending keys, so
 * those of a piece stand behind those of the piece before. */
#include "exec/ranks_groups.h"
#include "exec/ranks_trade.h"

#include <stdlib.h>
#include <string.h>

static void let_go(FlSlot *arrays, int32_t n) {
  for (int32_t j = 0; arrays && j < n; j++) fl_array_unref(arrays[j].a);
}

enum { PIECES = 16 };

typedef struct Keyed {
  FlTrade trade;
  FlGroups *g;
  int32_t *of; /* of the operator's arguments: which of the arrays; -1: it is a number */
  FlSlot *made[PIECES];
  int32_t n_made;
  bool failed; /* an aggregate has, of a piece of this rank */
} Keyed;

/* Aggregate k of them, which begins at argument *at. */
static FlStatus aggregate_rows(const Keyed *k, int32_t n, int32_t *at, const FlSlot *arrays,
                               const FlSlot *groups, FlSlot *out) {
  const FlOpDesc *all = k->g->desc;
  const FlColumnAttr *c = &all->columns[k->g->n_keys + n];
  bool none = c->flags & FL_COLUMN_NONE;
  double f = k->g->args[(*at)++].f;
  FlSlot args[4] = {groups[0], groups[1]};
  int32_t n_args = 2;
  if (!none) args[n_args++] = arrays[k->of[(*at)++]];
  if (!none && fl_groups_null(c)) args[n_args++] = arrays[k->of[(*at)++]];
  const FlOpDesc desc = {.op = all->op,
                         .site = all->site,
                         .n_args = n_args,
                         .n_results = 2,
                         .result_types = all->result_types + 2 + 2 * n,
                         .f = f,
                         .s = c->made,
                         .columns = c,
                         .n_columns = !none,
                         .name = all->name};
  return fl_rt_aggregate(k->g->ctx, &desc, args, out);
}

/* The aggregates in one sweep; *done: false: some of them have none. */
static FlStatus sweep_rows(const Keyed *k, const FlSlot *arrays, const FlSlot *groups, FlSlot *out,
                           bool *done) {
  const FlOpDesc *all = k->g->desc;
  const FlColumnAttr *columns = all->columns + k->g->n_keys;
  int32_t n_args = 2, at = k->g->n_key_args, n = k->g->n_wanted;
  FlSlot args[2 + FL_PART_SWEEP] = {groups[0], groups[1]};
  *done = n > 1 && n <= FL_PART_SWEEP;
  for (int32_t i = 0; i < n && *done; i++) {
    bool none = columns[i].flags & FL_COLUMN_NONE;
    at++;
    int32_t arg = none ? -1 : at++;
    FlType1 t = none ? (FlType1){0} : all->arg_types[arg];
    *done = !fl_groups_null(&columns[i]) && (none || t.rank == 1) &&
            fl_part_sweeps(columns[i].made, none ? -1 : t.dtype);
    if (!none) args[n_args++] = arrays[k->of[arg]];
  }
  if (!*done) return 0;
  const FlOpDesc desc = {.op = all->op,
                         .site = all->site,
                         .n_args = n_args,
                         .n_results = 2 * n,
                         .result_types = all->result_types + 2,
                         .columns = columns,
                         .n_columns = n,
                         .name = all->name};
  FlStatus s = fl_rt_aggregates(k->g->ctx, &desc, args, out);
  if (s) memset(out, 0, (size_t)n * 2 * sizeof *out);
  return s;
}

static FlStatus take_rows(const Keyed *k, const FlSlot *arrays, FlSlot first, FlSlot *out) {
  const FlOpDesc *all = k->g->desc;
  int32_t n = k->g->n_taken;
  FlSlot *args = calloc((size_t)n + 1, sizeof *args);
  if (!args) return fl_fail_op(k->g->ctx, all, FL_FAULT_MEMORY, "out of memory");
  args[0] = first;
  for (int32_t i = 0; i < n; i++) args[1 + i] = arrays[k->of[k->g->first_taken + i]];
  const FlOpDesc desc = {.op = all->op,
                         .site = all->site,
                         .n_args = 1 + n,
                         .n_results = n,
                         .result_types = all->result_types + 2 + 2 * k->g->n_wanted,
                         .i = FL_TAKE_PROVEN,
                         .name = all->name};
  FlStatus s = n ? fl_rt_take(k->g->ctx, &desc, args, out) : 0;
  free(args);
  return s;
}

static FlStatus make_piece(Keyed *k, const FlSlot *arrays) {
  const FlGroups *g = k->g;
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = g->n_key_args,
                         .n_results = 3,
                         .arg_types = g->desc->arg_types,
                         .columns = g->desc->columns,
                         .n_columns = g->n_keys,
                         .name = g->desc->name};
  FlSlot groups[3], *made = k->made[k->n_made++] = calloc((size_t)g->desc->n_results, sizeof *made);
  if (!made) return fl_fail_op(g->ctx, g->desc, FL_FAULT_MEMORY, "out of memory");
  FlStatus s = fl_rt_group(g->ctx, &desc, arrays, groups);
  if (s) return s;
  int32_t at = g->n_key_args;
  bool done = false;
  s = sweep_rows(k, arrays, groups, made, &done);
  for (int32_t n = 0; n < g->n_wanted && !s && !done; n++)
    s = aggregate_rows(k, n, &at, arrays, groups, made + 2 * n);
  if (!s) s = take_rows(k, arrays, groups[2], made + 2 * g->n_wanted);
  fl_array_unref(groups[1].a);
  fl_array_unref(groups[2].a);
  return s;
}

/* Where an aggregate fails nothing more is made; the pieces go on coming, and meetings must not see the
 * error, since it is for the operators on whole arrays to say. */
static FlStatus group_piece(void *env, const FlSlot *arrays, int64_t rows, int64_t before) {
  Keyed *k = env;
  FlCtx *ctx = k->g->ctx;
  (void)rows;
  (void)before;
  FlStatus s = k->failed ? 0 : make_piece(k, arrays);
  if (!s || !ctx->error || ctx->error->status != 1) return s;
  fl_fail_forget(ctx);
  k->failed = true;
  return 0;
}

/* What all have made goes to all; *done: false: an aggregate failed somewhere. */
static FlStatus join_keyed(Keyed *k, FlStatus own, FlSlot *results, bool *done) {
  FlGroups *g = k->g;
  FlCtx *ctx = g->ctx;
  FlRanks *r = ctx->ranks;
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = g->desc->site,
                     .failed = !own         ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .values = {k->failed}};
  FlStatus s = fl_ranks_together(ctx, &mine);
  for (int32_t j = 0; j < r->n && !s; j++) *done &= !r->slots[j].values[0];
  if (s || !*done) return s;
  let_go(g->mine, g->n_arrays);
  memset(g->mine, 0, (size_t)g->n_arrays * sizeof *g->mine);
  g->n_arrays = g->desc->n_results - 2;
  memcpy(g->types + 1, g->desc->result_types + 2, (size_t)g->n_arrays * sizeof *g->types);
  g->pending = false;
  g->stays = g->desc->stays;
  s = fl_groups_exchange(g, 0, k->made, k->n_made, NULL);
  if (s) return s;
  results[0].i = 1;
  results[1].i = g->total;
  memcpy(results + 2, g->joined, (size_t)g->n_arrays * sizeof *results);
  memset(g->joined, 0, (size_t)g->n_arrays * sizeof *results);
  return 0;
}

/* Rows come, piece by piece. *lost: how it went is the same at all ranks. */
static FlStatus move_rows(Keyed *k, bool *lost) {
  FlGroups *g = k->g;
  const FlOpDesc *desc = g->desc;
  FlOpDesc keys = *desc;
  FlSlot *arrays = calloc((size_t)desc->n_args, sizeof *arrays);
  k->of = calloc((size_t)desc->n_args, sizeof *k->of);
  k->trade = (FlTrade){.ctx = g->ctx, .keys = &keys, .cut = g->cut, .together = true};
  keys.n_columns = g->n_keys;
  for (int32_t i = 0; i < desc->n_args && k->of && arrays; i++) {
    k->of[i] = fl_type_is_array(desc->arg_types[i]) ? k->trade.n_arrays++ : -1;
    if (k->of[i] >= 0) arrays[k->of[i]] = g->args[i];
  }
  FlStatus s = k->of && arrays ? 0 : fl_fail_op(g->ctx, desc, FL_FAULT_MEMORY, "out of memory");
  s = fl_trade_meet(&k->trade, s);
  if (!s) s = fl_trade_begin(&k->trade, arrays);
  *lost = s != 0;
  if (!s) s = fl_trade_pieces(&k->trade, group_piece, k, lost);
  fl_trade_end(&k->trade);
  free(arrays);
  free(k->of);
  return s;
}

FlStatus fl_groups_by_keys(FlGroups *g, FlSlot *results, bool *done) {
  Keyed k = {.g = g};
  FlStatus s = fl_groups_by_table(g, &k.made[0], &k.failed);
  bool all = s && !k.made[0]; /* it went so at all ranks */
  k.n_made = k.made[0] != NULL;
  if (!s && !k.n_made) s = move_rows(&k, &all);
  if (!all) s = join_keyed(&k, s, results, done);
  for (int32_t p = 0; p < k.n_made; p++) {
    let_go(k.made[p], g->desc->n_results - 2);
    free(k.made[p]);
  }
  return s;
}
