/* ranks_groups_table.c: groups by one key of whole numbers that are hardly more than rows, between ranks.
 *
 * In: GROUP_ROWS of a table of which each rank has some rows. Out: what it gives of the groups whose numbers
 * are this rank's share: each rank makes a table of its rows with a place for each number, gives each other
 * one his share of it, and adds what comes (part/agg_shares.c). What always holds: no row is sent; shares
 * ascend by rank, as groups do; where a table does not serve, all go on alike, and nothing is made. */
#include "exec/ranks_gives.h"
#include "exec/ranks_groups.h"
#include "part/agg_shares.h"

#include <stdlib.h>

enum { STRIP = 2 << 20 }; /* bytes of a share that go at once, so that a cache holds what comes */

typedef struct Shares {
  FlGroups *g;
  FlOpDesc desc; /* of the aggregates alone */
  FlSlot key, args[2 + FL_PART_SWEEP];
  FlAggShares *shares;
  FlAggSaid *said;       /* [ranks] */
  int64_t places, strip; /* of the table; of a share that go at once */
  char *table;
  FlArray *came; /* those of others of the own places, one behind the other */
  FlGives gives;
} Shares;

static FlStatus no_memory(const Shares *s) {
  return fl_fail_op(s->g->ctx, s->g->desc, FL_FAULT_MEMORY, "out of memory");
}

/* Whether all that is asked is of a kind that a table has: the same at all ranks. */
static bool is_of_table(const FlGroups *g) {
  const FlOpDesc *d = g->desc;
  bool fits = g->n_keys == 1 && g->n_key_args == 1 && fl_agg_shares_key(d->arg_types[0].dtype) &&
              g->n_wanted > 0 && g->n_wanted <= FL_PART_SWEEP;
  for (int32_t n = 0, at = g->n_key_args; n < g->n_wanted && fits; n++) {
    const FlColumnAttr *c = &d->columns[g->n_keys + n];
    bool none = c->flags & FL_COLUMN_NONE;
    int32_t arg = ++at;
    fits = !fl_groups_null(c) && (none || d->arg_types[arg].rank == 1) &&
           fl_part_sweeps(c->made, none ? -1 : d->arg_types[arg].dtype);
    at += !none;
  }
  for (int32_t k = 0; k < g->n_taken && fits; k++) fits = g->args[g->first_taken + k].a == g->args[0].a;
  return fits;
}

/* The own rows of what is asked, and what is said of them. */
static FlStatus look(Shares *s) {
  FlGroups *g = s->g;
  const FlOpDesc *all = g->desc;
  s->desc = (FlOpDesc){.op = all->op,
                       .site = all->site,
                       .n_args = 2,
                       .n_results = 2 * g->n_wanted,
                       .result_types = all->result_types + 2,
                       .columns = all->columns + g->n_keys,
                       .n_columns = g->n_wanted,
                       .name = all->name};
  if ((s->said = calloc((size_t)g->ctx->ranks->n, sizeof *s->said)) == NULL) return no_memory(s);
  if ((s->key.a = fl_part_here(g->ctx, g->args[0].a, g->cut)) == NULL) return FL_STATUS_MEMORY;
  for (int32_t n = 0, at = g->n_key_args; n < g->n_wanted; n++) {
    at++;
    if (s->desc.columns[n].flags & FL_COLUMN_NONE) continue;
    FlArray *a = fl_part_here(g->ctx, g->args[at++].a, g->cut);
    if (a == NULL) return FL_STATUS_MEMORY;
    s->args[s->desc.n_args++].a = a;
  }
  s->shares = fl_agg_shares_new(g->ctx, &s->desc, s->key.a, s->args, fl_cut_rows(g->cut),
                                &s->said[g->ctx->ranks->here]);
  return s->shares ? 0 : FL_STATUS_MEMORY;
}

/* All learn what all say: behind a meeting in which nobody failed. */
static FlStatus tell(Shares *s) {
  FlRanks *r = s->g->ctx->ranks;
  for (int32_t k = 0; k < r->n; k++)
    if (!fl_ranks_send(r, k, &s->said[k], sizeof *s->said)) return fl_rows_lost(s->g->ctx);
  s->places = fl_agg_shares_agree(s->shares, s->said, r->n);
  return 0;
}

/* Where the share of rank k begins, or its strip i, if it has so many. */
static int64_t share(const Shares *s, int32_t k) {
  return (int64_t)((__int128)s->places * k / s->g->ctx->ranks->n);
}

static int64_t strip(const Shares *s, int32_t k, int64_t i) {
  int64_t at = share(s, k) + i * s->strip, end = share(s, k + 1);
  return at < end ? at : end;
}

/* The own table, and room for what comes. */
static FlStatus make_table(Shares *s, bool *whole) {
  FlRanks *r = s->g->ctx->ranks;
  int64_t size = fl_agg_shares_size(s->shares), most = s->places / r->n + 1;
  s->strip = STRIP / size < most ? STRIP / size : most;
  int64_t bytes = (r->n - 1) * s->strip * size;
  if (!fl_gives_init(&s->gives, r)) return no_memory(s);
  if (fl_agg_shares_run(s->shares, &s->table, whole)) return FL_STATUS_MEMORY;
  s->came = fl_array_new(s->g->ctx, FL_U8, 1, &bytes);
  return s->came ? 0 : FL_STATUS_MEMORY;
}

/* All say whether theirs holds all. */
static FlStatus meet(const Shares *s, FlStatus own, bool *whole) {
  FlCtx *ctx = s->g->ctx;
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = s->g->desc->site,
                     .failed = !own         ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .values = {*whole}};
  FlStatus status = fl_ranks_together(ctx, &mine);
  for (int32_t k = 0; k < ctx->ranks->n && !status; k++) *whole &= ctx->ranks->slots[k].values[0] != 0;
  return status;
}

/* Each gives each other one a strip of his share. false: a rank is lost. */
static bool trade(const Shares *s, int64_t i) {
  FlRanks *r = s->g->ctx->ranks;
  FlRankTrade *with = s->gives.with;
  int64_t size = fl_agg_shares_size(s->shares), own = strip(s, r->here, i + 1) - strip(s, r->here, i);
  char *in = s->came->data;
  for (int32_t k = 0; k < r->n; k++) {
    with[k] = (FlRankTrade){.in = in};
    if (k == r->here) continue;
    with[k].out = s->table + strip(s, k, i) * size;
    with[k].gives = (strip(s, k, i + 1) - strip(s, k, i)) * size;
    in += with[k].takes = own * size;
  }
  return fl_ranks_trade(r, with, 1);
}

/* All strips come, and are added. *lost: a rank is; else who fails goes on giving. */
static FlStatus add_all(const Shares *s, bool *lost) {
  const FlRanks *r = s->g->ctx->ranks;
  int64_t size = fl_agg_shares_size(s->shares), strips = (s->places / r->n + s->strip) / s->strip;
  FlStatus status = 0;
  for (int64_t i = 0; i < strips; i++) {
    if ((*lost = !trade(s, i))) return fl_rows_lost(s->g->ctx);
    int64_t from = strip(s, r->here, i), to = strip(s, r->here, i + 1);
    const char *its = s->came->data;
    for (int32_t k = 0; k < r->n - 1 && !status; k++, its += (to - from) * size)
      status = fl_agg_shares_add(s->shares, from, to, its);
  }
  return status;
}

/* What is made of the own places; an aggregate that fails is for the operators on whole arrays to say. */
static FlStatus give(const Shares *s, FlSlot *out, bool *failed) {
  FlGroups *g = s->g;
  int32_t here = g->ctx->ranks->here;
  FlArray *keys = fl_agg_shares_give(s->shares, share(s, here), share(s, here + 1), out);
  for (int32_t k = 0; k < g->n_taken && keys; k++) out[2 * g->n_wanted + k].a = fl_array_ref(keys);
  fl_array_unref(keys);
  *failed = !keys && g->ctx->error && g->ctx->error->status == 1;
  if (*failed) fl_fail_forget(g->ctx);
  return keys || *failed ? 0 : FL_STATUS_MEMORY;
}

static FlStatus by_table(Shares *s, FlSlot **made, bool *failed) {
  bool whole = true;
  FlSlot *out = calloc((size_t)s->g->desc->n_results, sizeof *out);
  FlStatus status = fl_rows_meet(s->g->ctx, s->g->desc->site, out ? look(s) : no_memory(s));
  if (!status) status = tell(s);
  if (!status && s->places) status = meet(s, make_table(s, &whole), &whole);
  bool lost = status || !s->places || !whole;
  if (!lost) status = add_all(s, &lost);
  if (lost) {
    free(out);
    return status;
  }
  *made = out;
  return status ? status : give(s, out, failed);
}

FlStatus fl_groups_by_table(FlGroups *g, FlSlot **made, bool *failed) {
  Shares s = {.g = g};
  *made = NULL;
  if (!is_of_table(g)) return 0;
  FlStatus status = by_table(&s, made, failed);
  fl_agg_shares_free(s.shares);
  fl_gives_reset(&s.gives);
  fl_array_unref(s.came);
  fl_array_unref(s.key.a);
  for (int32_t k = 2; k < s.desc.n_args; k++) fl_array_unref(s.args[k].a);
  free(s.said);
  return status;
}
