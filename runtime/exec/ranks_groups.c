/* ranks_groups.c: aggregates of groups of a table that is in parts between ranks.
 *
 * In: GROUP_ROWS, with keys, columns and the first rows of keys, or an AGGREGATE of all rows, of which each
 * rank has some. Out: what it gives, whole at all ranks: each folds its own rows to states of groups, which
 * go to all (ranks_groups_states.c), and are grouped and aggregated once more, as those of parts of a file
 * are (compiler/opt/folds.c); or rows go by their keys (ranks_groups_keys.c). What always holds: the same
 * bits as of all rows; where an aggregate fails, nothing was made, and who asks calls the operators on whole
 * arrays, so that they fail as ever. */
#include "exec/ranks_groups.h"

#include <stdlib.h>

static FlStatus aggregate(FlGroups *g, const FlGroupWanted *w, FlSlot groups, FlSlot ids,
                          const FlType1 *types, FlSlot *out) {
  const FlGroupState *s = &g->states[w->state];
  bool mean = w->count >= 0;
  FlColumnAttr columns[2] = {{.flags = !mean && s->says ? FL_COLUMN_NULLS : 0}, {0}};
  FlSlot args[4] = {groups, ids, g->joined[s->at]};
  if (mean) args[3] = g->joined[g->states[w->count].at];
  else if (s->says) args[3] = g->joined[s->at + 1];
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = 3 + (mean || s->says),
                         .n_results = 2,
                         .result_types = types,
                         .i = g->n_keys ? 0 : 1,
                         .f = w->f,
                         .s = mean                        ? "mean_of"
                              : s->kind == FL_STATE_COUNT ? "sum"
                                                          : w->made,
                         .columns = columns,
                         .n_columns = 1 + mean,
                         .name = g->desc->name};
  return fl_rt_aggregate(g->ctx, &desc, args, out);
}

/* The first rows of the groups, of an argument that is a key, too; -1: it is none. */
static int32_t key_of(const FlGroups *g, int32_t arg) {
  for (int32_t k = 0; k < g->n_key_args; k++)
    if (g->args[k].a == g->args[arg].a) return k;
  return -1;
}

static FlStatus take(FlGroups *g, FlSlot first, FlSlot *results) {
  int32_t n = g->n_taken;
  FlSlot *args = calloc((size_t)n + 1, sizeof *args);
  FlType1 *types = calloc((size_t)n + 1, sizeof *types);
  FlStatus s = args && types ? 0 : FL_STATUS_MEMORY;
  for (int32_t k = 0; k < n && !s; k++) {
    args[1 + k] = g->joined[key_of(g, g->first_taken + k)];
    types[k] = g->desc->arg_types[g->first_taken + k];
  }
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = 1 + n,
                         .n_results = n,
                         .result_types = types,
                         .i = FL_TAKE_PROVEN,
                         .name = g->desc->name};
  if (!s) args[0] = first;
  if (!s && n) s = fl_rt_take(g->ctx, &desc, args, results);
  free(args);
  free(types);
  return s;
}

static FlStatus aggregate_groups(FlGroups *g, FlSlot *results) {
  const FlType1 column = {.dtype = FL_I64, .rank = 1}, types[3] = {{.dtype = FL_I64}, column, column};
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = g->n_key_args,
                         .n_results = 3,
                         .arg_types = g->types + 1,
                         .result_types = types,
                         .columns = g->columns,
                         .n_columns = g->n_keys,
                         .name = g->desc->name};
  FlSlot groups[3];
  FlStatus s = fl_rt_group(g->ctx, &desc, g->joined, groups);
  if (s) return s;
  int32_t made = 0;
  for (; made < g->n_wanted && !s; made++)
    s = aggregate(g, &g->wanted[made], groups[0], groups[1], g->desc->result_types + 2 + 2 * made,
                  results + 2 + 2 * made);
  if (!s) s = take(g, groups[2], results + 2 + 2 * g->n_wanted);
  else made--;
  for (int32_t k = 0; k < 2 * made && s; k++) fl_array_unref(results[2 + k].a);
  results[0].i = 1;
  results[1].i = groups[0].i;
  fl_array_unref(groups[1].a);
  fl_array_unref(groups[2].a);
  return s;
}

/* *done: false: an aggregate failed, at all ranks alike, and nothing is made. */
static FlStatus aggregate_all(FlGroups *g, FlSlot *results, bool *done) {
  FlSlot one = {.i = 1}; /* group; whose it is nobody asks */
  FlStatus s = g->n_keys ? aggregate_groups(g, results)
                         : aggregate(g, &g->wanted[0], one, g->joined[0], g->desc->result_types, results);
  *done = !s;
  if (!s || !g->ctx->error || g->ctx->error->status != 1) return s;
  fl_fail_forget(g->ctx);
  return 0;
}

FlStatus fl_ranks_groups(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                         FlSlot *results, bool *done) {
  FlGroups g = {.ctx = ctx, .desc = desc, .args = args, .cut = cut};
  *done = true;
  FlStatus s = fl_groups_read(&g);
  for (int32_t k = 0; k < g.n_taken && !s; k++) *done &= key_of(&g, g.first_taken + k) >= 0;
  if (*done) {
    bool many = false;
    if (!s) s = fl_groups_fold(&g);
    s = fl_groups_exchange(&g, s, &g.mine, 1, &many);
    if (!s) s = many ? fl_groups_by_keys(&g, results, done) : aggregate_all(&g, results, done);
  }
  fl_groups_reset(&g);
  return s;
}
