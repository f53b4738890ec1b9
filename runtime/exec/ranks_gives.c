/* ranks_gives.c: each rank gives each other one some of what it has, and gets as much, or answers.
 *
 * In: how many things are for whom. Out: those that came, in the order of the ranks that gave them. What
 * always holds: what a rank gives to itself stands among them, too. Texts travel as parcels, of which who
 * takes them keeps the bytes. */
#include "exec/ranks_gives.h"

#include <stdlib.h>
#include <string.h>

bool fl_gives_init(FlGives *g, FlRanks *ranks) {
  size_t n = (size_t)ranks->n;
  *g = (FlGives){.ranks = ranks,
                 .gives = calloc(n, sizeof *g->gives),
                 .takes = calloc(n, sizeof *g->takes),
                 .with = calloc(n, sizeof *g->with)};
  return g->gives && g->takes && g->with;
}

void fl_gives_reset(FlGives *g) {
  void *tables[] = {g->gives, g->takes, g->with};
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) free(tables[k]);
  *g = (FlGives){0};
}

bool fl_gives_tell(FlGives *g) {
  for (int32_t k = 0; k < g->ranks->n; k++)
    g->with[k] = (FlRankTrade){&g->gives[k], sizeof *g->gives, &g->takes[k], sizeof *g->takes};
  return fl_ranks_trade(g->ranks, g->with, 1);
}

int64_t fl_gives_taken(const FlGives *g) {
  int64_t n = 0;
  for (int32_t k = 0; k < g->ranks->n; k++) n += g->takes[k];
  return n;
}

static bool move(FlGives *g, const int64_t *gives, const void *from, const int64_t *takes, void *to,
                 int64_t size) {
  const char *out = from;
  char *in = to;
  for (int32_t k = 0; k < g->ranks->n; k++) {
    g->with[k] = (FlRankTrade){out, gives[k] * size, in, takes[k] * size};
    out += gives[k] * size;
    in += takes[k] * size;
  }
  return fl_ranks_trade(g->ranks, g->with, 1);
}

bool fl_gives_trade(FlGives *g, const void *from, void *to, int64_t size) {
  return move(g, g->gives, from, g->takes, to, size);
}

bool fl_gives_return(FlGives *g, const void *from, void *to, int64_t size) {
  return move(g, g->takes, from, g->gives, to, size);
}

/* ---- texts, as parcels --------------------------------------------------------------------------------- */

static FlType1 texts_of(const FlArray *a) { return (FlType1){(uint8_t)a->dtype, (uint8_t)a->rank, 0, 0}; }

/* The bytes of what is served, one rank's behind the other's; `all` counts them. */
static FlArray *pack_texts(FlCtx *ctx, const FlGives *rows, const FlArray *from, FlGives *all) {
  int32_t n = rows->ranks->n;
  FlParcel *parcels = calloc((size_t)n, sizeof *parcels);
  FlType1 type = texts_of(from);
  int64_t bytes = 0, at = 0;
  bool fine = parcels != NULL;
  for (int32_t k = 0; k < n && fine; at += rows->takes[k++]) {
    FlSlot its = {.a = fl_array_view_rows(ctx, from, at, at + rows->takes[k])};
    fine = its.a && fl_parcel_pack(ctx, &its, &type, 1, &parcels[k]);
    fl_array_unref(its.a);
    bytes += all->gives[k] = parcels[k].bytes;
  }
  FlArray *packed = fine ? fl_array_new(ctx, FL_U8, 1, &bytes) : NULL;
  char *to = packed ? packed->data : NULL;
  for (int32_t k = 0; parcels && k < n; k++) {
    if (to && parcels[k].bytes) memcpy(to, parcels[k].buffer->data, (size_t)parcels[k].bytes);
    if (to) to += parcels[k].bytes;
    fl_parcel_reset(&parcels[k]);
  }
  free(parcels);
  return packed;
}

/* What came becomes texts, which `to` keeps. */
static FlStatus open_texts(FlCtx *ctx, const FlArray *packed, const FlGives *all, FlArray *to) {
  FlType1 type = texts_of(to);
  const char *from = packed->data;
  FlText *texts = to->data;
  FlStatus s = 0;
  for (int32_t k = 0; k < all->ranks->n && !s; from += all->takes[k++]) {
    FlParcel theirs = {fl_buffer_new(ctx, all->takes[k]), all->takes[k]};
    FlSlot rows;
    FlBuffer *keep = NULL;
    if (!theirs.buffer) return FL_STATUS_MEMORY;
    if (theirs.bytes) memcpy(theirs.buffer->data, from, (size_t)theirs.bytes);
    s = fl_parcel_open(ctx, &theirs, &type, 1, &rows, &keep);
    if (s) return s;
    if (fl_array_bytes(rows.a)) memcpy(texts, rows.a->data, (size_t)fl_array_bytes(rows.a));
    texts += fl_array_count(rows.a);
    s = fl_array_keep(ctx, to, NULL, &rows.a, 1);
    fl_array_unref(rows.a);
    fl_buffer_unref(keep);
  }
  return s;
}

FlStatus fl_gives_return_texts(FlCtx *ctx, int32_t site, const FlGives *rows, const FlArray *from,
                               FlArray *to) {
  FlGives all;
  bool fine = fl_gives_init(&all, ctx->ranks);
  FlArray *packed = fine ? pack_texts(ctx, rows, from, &all) : NULL, *taken = NULL;
  FlStatus s = fl_rows_meet(ctx, site, packed ? 0 : FL_STATUS_MEMORY);
  if (!s && !fl_gives_tell(&all)) s = fl_rows_lost(ctx);
  int64_t bytes = s ? 0 : fl_gives_taken(&all);
  if (!s) taken = fl_array_new(ctx, FL_U8, 1, &bytes);
  s = fl_rows_meet(ctx, site, s || taken ? s : FL_STATUS_MEMORY);
  if (!s && !fl_gives_trade(&all, packed->data, taken->data, 1)) s = fl_rows_lost(ctx);
  if (!s) s = open_texts(ctx, taken, &all, to);
  fl_array_unref(packed);
  fl_array_unref(taken);
  fl_gives_reset(&all);
  return fl_rows_meet(ctx, site, s);
}
