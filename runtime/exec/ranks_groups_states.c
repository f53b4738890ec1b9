/* ranks_groups_states.c: states of groups of the rows of a rank, and of all ranks.
 *
 * In: rows of which each rank has some, what is folded of them. Out: states of the own rows
 * (part/partial.c), then those of all, rank behind rank, at all of them, or in parts where they may be. What
 * always holds: a rank whose states would be as many as its rows makes none before all have said how many
 * they have. Numbers go to where they stand among those of all, array by array; where some are texts all go
 * as a parcel. */
#include "exec/ranks_gives.h"
#include "exec/ranks_groups.h"

#include <stdlib.h>
#include <string.h>

static int64_t rows_here(const FlGroups *g) { return fl_cut_to(g->cut) - fl_cut_from(g->cut); }

/* `rows`: rows are states. Else those of groups; where rows are, they are pending. */
static FlStatus fold(FlGroups *g, bool rows) {
  int32_t n_args = 2;
  FlSlot *args = calloc((size_t)(2 + g->n_key_args + 2 * g->n_states), sizeof *args);
  FlSlot *results = calloc((size_t)g->n_arrays + 1, sizeof *results);
  FlStatus s = args && results ? 0 : FL_STATUS_MEMORY;
  if (args) args[0].i = rows_here(g);
  if (args) args[1].i = rows;
  for (int32_t k = 0; k < g->n_key_args && !s; k++) {
    args[n_args].a = fl_part_here(g->ctx, g->args[k].a, g->cut);
    if (!args[n_args++].a) s = FL_STATUS_MEMORY;
  }
  for (int32_t k = 0; k < 2 * g->n_states && !s; k++) {
    int32_t arg = k % 2 ? g->states[k / 2].valid : g->states[k / 2].value;
    if (arg < 0) continue;
    args[n_args].a = fl_part_here(g->ctx, g->args[arg].a, g->cut);
    if (!args[n_args++].a) s = FL_STATUS_MEMORY;
  }
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = n_args,
                         .n_results = g->n_arrays + 1,
                         .result_types = g->types,
                         .i = 2, /* where groups have fewer rows, these stay rows */
                         .columns = g->columns,
                         .n_columns = g->n_keys + g->n_states,
                         .name = g->desc->name};
  g->pending = false;
  if (!s && rows) s = fl_rt_partial(g->ctx, &desc, args, results);
  else if (!s) s = fl_part_states(g->ctx, &desc, args, results, &g->pending);
  if (!s && !g->pending) memcpy(g->mine, results + 1, (size_t)g->n_arrays * sizeof *results);
  for (int32_t k = 2; args && k < n_args; k++) fl_array_unref(args[k].a);
  free(args);
  free(results);
  return s;
}

FlStatus fl_groups_fold(FlGroups *g) { return fold(g, false); }

/* ---- states of all ---------------------------------------------------------------------------------- */

/* What this rank has. */
typedef struct Mine {
  FlSlot *const *lists;
  int32_t n;
  bool texts;      /* some arrays are: */
  FlParcel parcel; /* then this is sent, once all is packed */
} Mine;

/* The arrays of n lists, one below the other. */
static FlStatus put_together(const FlGroups *g, FlSlot *const *all, int32_t n, FlSlot *out) {
  FlStatus s = 0;
  for (int32_t j = 0; j < g->n_arrays && !s; j++) {
    int64_t rows = 0, at = 0;
    for (int32_t k = 0; k < n; k++) rows += all[k][j].a->dims[0];
    FlArray *a = out[j].a = fl_array_new(g->ctx, g->types[1 + j].dtype, 1, &rows);
    for (int32_t k = 0; k < n && a && !s; k++) {
      int64_t bytes = fl_array_bytes(all[k][j].a);
      if (bytes) memcpy((char *)a->data + at, all[k][j].a->data, (size_t)bytes);
      at += bytes;
      s = fl_array_keep(g->ctx, a, NULL, &all[k][j].a, 1);
    }
    if (!a) s = FL_STATUS_MEMORY;
  }
  return s;
}

/* Those of all ranks, of which all have said how many theirs are, are half as many as rows. */
static bool are_many(const FlGroups *g) {
  const FlRanks *r = g->ctx->ranks;
  int64_t all = 0;
  bool can_go = g->n_keys > 0;
  for (int32_t k = 0; k < r->n; k++) all += r->slots[k].values[3];
  for (int32_t k = 0; k < g->desc->n_args; k++) can_go &= !g->desc->arg_types[k].depth;
  return can_go && 2 * all > fl_cut_rows(g->cut);
}

static bool has_texts(const FlGroups *g) {
  bool some = false;
  for (int32_t i = 0; i < g->n_arrays; i++) some |= fl_dtype_is_text(g->types[1 + i].dtype);
  return some;
}

static int64_t rows_of(const FlGroups *g, const Mine *m) {
  int64_t rows = 0;
  for (int32_t k = 0; k < m->n && g->n_arrays; k++)
    if (m->lists[k] && m->lists[k][0].a) rows += m->lists[k][0].a->dims[0];
  return rows;
}

static void let_go(FlSlot *arrays, int32_t n) {
  for (int32_t j = 0; arrays && j < n; j++) fl_array_unref(arrays[j].a);
  free(arrays);
}

static FlStatus pack(FlGroups *g, Mine *m) {
  FlSlot *one = calloc((size_t)g->n_arrays + 1, sizeof *one);
  FlStatus s = one ? put_together(g, m->lists, m->n, one) : FL_STATUS_MEMORY;
  if (!s && !fl_parcel_pack(g->ctx, one, g->types + 1, g->n_arrays, &m->parcel)) s = FL_STATUS_MEMORY;
  let_go(one, g->n_arrays);
  return s;
}

/* All say how many rows they have, and how many bytes these are where they are packed. */
static FlStatus meet(FlGroups *g, FlStatus status, Mine *m) {
  FlCtx *ctx = g->ctx;
  int64_t rows = g->pending ? rows_here(g) : status ? 0 : rows_of(g, m);
  if (!status && !g->pending && m->texts) status = pack(g, m);
  FlRankSlot slot = {.step = FL_RANKS_ROWS,
                     .site = g->desc->site,
                     .failed = !status      ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .bytes = m->parcel.bytes,
                     .values = {0, 0, g->pending, rows}};
  return fl_ranks_together(ctx, &slot);
}

/* Whether some have said that theirs are pending. */
static bool some_are_pending(const FlRanks *r) {
  bool some = false;
  for (int32_t k = 0; k < r->n; k++) some |= r->slots[k].values[2] != 0;
  return some;
}

/* Those of all, as parcels. */
static FlStatus join_parcels(FlGroups *g, Mine *m) {
  FlCtx *ctx = g->ctx;
  FlRanks *r = ctx->ranks;
  FlSlot **all = calloc((size_t)r->n, sizeof *all);
  FlStatus s = all ? 0 : FL_STATUS_MEMORY;
  for (int32_t k = 0; k < r->n && !s; k++)
    if (!(all[k] = calloc((size_t)g->n_arrays + 1, sizeof **all))) s = FL_STATUS_MEMORY;
  for (int32_t k = 0; k < r->n && !s; k++) {
    FlParcel theirs = {0}, *parcel = k == r->here ? &m->parcel : &theirs;
    FlBuffer *keep = NULL;
    s = fl_parcel_send(ctx, k, parcel);
    if (!s) s = fl_parcel_open(ctx, parcel, g->types + 1, g->n_arrays, all[k], &keep);
    fl_buffer_unref(keep);
  }
  if (!s) s = put_together(g, all, r->n, g->joined);
  for (int32_t k = 0; all && k < r->n; k++) let_go(all[k], g->n_arrays);
  free(all);
  return s;
}

static int64_t size_of(const FlGroups *g, int32_t i) { return fl_dtype_info[g->types[1 + i].dtype].bytes; }

/* Array i of the own lists, one behind the other. */
static void copy_lists(const Mine *m, int32_t i, char *to) {
  for (int32_t k = 0; k < m->n; k++) {
    int64_t bytes = fl_array_bytes(m->lists[k][i].a);
    if (bytes) memcpy(to, m->lists[k][i].a->data, (size_t)bytes);
    to += bytes;
  }
}

/* What one array's rows are, of this rank and of all, each behind the other's, as a trade; rank k has
 * rows[k]. */
static void lay_array(const FlGroups *g, const Mine *m, int32_t i, const int64_t *rows, FlRankTrade *with) {
  const FlRanks *r = g->ctx->ranks;
  int64_t size = size_of(g, i);
  char *at = g->joined[i].a->data;
  for (int32_t k = 0; k < r->n; k++) {
    with[k] = (FlRankTrade){.in = at, .takes = rows[k] * size};
    at += with[k].takes;
  }
  const FlRankTrade own = with[r->here];
  copy_lists(m, i, own.in);
  for (int32_t k = 0; k < r->n; k++) with[k].out = own.in, with[k].gives = own.takes;
}

static FlStatus join_numbers(FlGroups *g, const Mine *m) {
  FlRanks *r = g->ctx->ranks;
  FlRankTrade *with = calloc((size_t)(g->n_arrays * r->n) + 1, sizeof *with);
  int64_t *rows = calloc((size_t)r->n, sizeof *rows);
  bool apart = g->stays && fl_rows_lie_apart(g->ctx, g->total);
  const FlCut *cut = apart ? fl_rows_cut_by(g->ctx, 3) : NULL;
  FlStatus s = with && rows && (cut || !apart) ? 0 : FL_STATUS_MEMORY;
  for (int32_t k = 0; k < r->n && !s; k++) rows[k] = r->slots[k].values[3];
  for (int32_t i = 0; i < g->n_arrays && !s; i++) {
    int32_t dtype = g->types[1 + i].dtype;
    FlArray *a = g->joined[i].a = apart && g->stays[i] ? fl_array_new_part(g->ctx, dtype, 1, &g->total, cut)
                                                       : fl_array_new(g->ctx, dtype, 1, &g->total);
    if (!a) s = FL_STATUS_MEMORY;
  }
  s = fl_rows_meet(g->ctx, g->desc->site, s);
  int32_t sent = 0;
  for (int32_t i = 0; i < g->n_arrays && !s; i++) {
    if (!fl_array_cut(g->joined[i].a)) lay_array(g, m, i, rows, with + sent++ * r->n);
    else copy_lists(m, i, (char *)g->joined[i].a->data + fl_cut_from(cut) * size_of(g, i));
  }
  if (!s && sent && !fl_ranks_trade(r, with, sent)) s = fl_rows_lost(g->ctx);
  free(with);
  free(rows);
  return s;
}

FlStatus fl_groups_exchange(FlGroups *g, FlStatus status, FlSlot *const *lists, int32_t n, bool *many) {
  const FlRanks *r = g->ctx->ranks;
  Mine mine = {.lists = lists, .n = n, .texts = has_texts(g)};
  FlStatus s = meet(g, status, &mine);
  bool sends = !s;
  if (sends && many) sends = !(*many = are_many(g));
  if (sends && some_are_pending(r)) { /* few of all, so that these are sent as they are */
    s = meet(g, g->pending ? fold(g, true) : 0, &mine);
    sends = !s;
  }
  g->total = 0;
  for (int32_t k = 0; k < r->n; k++) g->total += r->slots[k].values[3];
  if (sends) s = mine.texts ? join_parcels(g, &mine) : join_numbers(g, &mine);
  fl_parcel_reset(&mine.parcel);
  return s;
}
