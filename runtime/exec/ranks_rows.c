/* ranks_rows.c: arrays that stay in parts between ranks (docs/decisions/parted-arrays.md): how they are laid,
 * how they become whole, and how ranks agree on what came of a step that each did for its rows.
 *
 * In: arrays with a cut, which is the same at all ranks, and steps that all of them do. Out: arrays with all
 * rows; one error for all. What always holds: which arrays have a cut, and which, is decided by sizes that
 * all know, so that all come to the same meetings. */
#include "exec/ranks.h"

#include <stdlib.h>
#include <string.h>

/* Whether they are at least `from`, and a share of them has room. */
static bool are_enough(const FlCtx *ctx, int64_t n, int64_t from) {
  enum { EACH = sizeof(int64_t), ROOM = 4 }; /* a share is at most one of so many parts of --memory */
  const FlRanks *r = ctx->ranks;
  if (r->n <= 1 || n <= 0 || n < from) return false;
  int64_t most = ctx->run->options.memory; /* said to all ranks alike */
  return most <= 0 || n / r->n <= most / (EACH * ROOM);
}

bool fl_rows_are_many(const FlCtx *ctx, int64_t n) {
  return ctx->ranks && are_enough(ctx, n, ctx->ranks->parts_from);
}

bool fl_rows_lie_apart(const FlCtx *ctx, int64_t n) {
  enum { SENDING = 4 }; /* so many rows to all takes as long as the meetings that parts of them ask for */
  return are_enough(ctx, n, ctx->ranks->parts_from / SENDING);
}

/* ---- cuts ------------------------------------------------------------------------------------------- */

static FlStatus no_memory(FlCtx *ctx) { return fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory"); }

enum { BLOCKS_OF_ROWS = 8 }; /* that a rank has, so that one more or less is no matter */

/* `units` of the ranks before k, of all; for tests of growing size, the first one may have none. */
static int64_t units_before(const FlRanks *r, int64_t units, int32_t k, bool uneven) {
  if (uneven) return units * k / r->n * k / r->n;
  return units / r->n * k + units % r->n * k / r->n;
}

const FlCut *fl_rows_cut(FlCtx *ctx, int64_t rows, int64_t each) {
  FlRanks *r = ctx->ranks;
  int64_t unit = each > 0 && FL_BLOCK % each == 0 ? FL_BLOCK / each : FL_BLOCK; /* rows of whole blocks */
  bool uneven = r->uneven && r->turn++ % 3 == 0;
  if (rows / FL_BLOCK >= BLOCKS_OF_ROWS * r->n) unit = FL_BLOCK; /* of sums along columns, too */
  if (rows / unit < 2 * r->n) unit = 1;
  int64_t *at = malloc((size_t)(r->n + 1) * sizeof *at);
  const FlCut *cut = NULL;
  for (int32_t k = 0; at && k <= r->n; k++) {
    at[k] = units_before(r, (rows + unit - 1) / unit, k, uneven) * unit;
    if (at[k] > rows) at[k] = rows;
  }
  if (at) cut = fl_cut_of(ctx->run->cuts, at);
  free(at);
  if (!cut) no_memory(ctx);
  return cut;
}

const FlCut *fl_rows_cut_by(FlCtx *ctx, int value) {
  FlRanks *r = ctx->ranks;
  int64_t *at = calloc((size_t)r->n + 1, sizeof *at);
  const FlCut *cut = NULL;
  for (int32_t k = 0; at && k < r->n; k++) at[k + 1] = at[k] + r->slots[k].values[value];
  if (at) cut = fl_cut_of(ctx->run->cuts, at);
  free(at);
  if (!cut) no_memory(ctx);
  return cut;
}

/* ---- sending ---------------------------------------------------------------------------------------- */

FlStatus fl_rows_lost(FlCtx *ctx) {
  return fl_ranks_together(ctx, &(FlRankSlot){.step = FL_RANKS_END, .site = -1});
}

FlStatus fl_rows_meet(FlCtx *ctx, int32_t site, FlStatus own) {
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = site,
                     .failed = !own         ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY};
  return fl_ranks_together(ctx, &mine);
}

bool fl_rows_send(FlCtx *ctx, int32_t k, FlArray *a, int64_t from, int64_t to) {
  int64_t size = fl_dtype_info[a->dtype].bytes;
  return to <= from || fl_ranks_send(ctx->ranks, k, (char *)a->data + from * size, (to - from) * size);
}

/* ---- gathering -------------------------------------------------------------------------------------- */

static FlType1 type_of(const FlArray *a) { return (FlType1){(uint8_t)a->dtype, (uint8_t)a->rank, 0, 0}; }

/* Its texts that are here, as bytes. */
static bool pack_here(FlCtx *ctx, const FlArray *a, FlParcel *out) {
  FlSlot here = {.a = fl_array_rows_here(ctx, a)};
  FlType1 type = type_of(a);
  bool fine = here.a && fl_parcel_pack(ctx, &here, &type, 1, out);
  fl_array_unref(here.a);
  return fine;
}

/* The texts of rank k, which has sent them, come to their places. */
static FlStatus place_texts(FlCtx *ctx, FlArray *a, int64_t from, FlParcel *parcel) {
  FlSlot theirs;
  FlBuffer *keep = NULL;
  FlType1 type = type_of(a);
  FlStatus s = fl_parcel_open(ctx, parcel, &type, 1, &theirs, &keep);
  if (s) return s;
  memcpy((FlText *)a->data + from, theirs.a->data, (size_t)fl_array_bytes(theirs.a));
  s = fl_array_keep(ctx, a, NULL, &theirs.a, 1);
  fl_array_unref(theirs.a);
  fl_buffer_unref(keep);
  return s;
}

static FlStatus send_texts(FlCtx *ctx, FlArray *a, const FlCut *cut, FlParcel *mine) {
  FlRanks *r = ctx->ranks;
  int64_t each = fl_array_row_count(a);
  FlStatus s = 0;
  for (int32_t k = 0; k < r->n && !s; k++) {
    FlParcel theirs = {0};
    if (cut->at[k] == cut->at[k + 1]) continue;
    s = fl_parcel_send(ctx, k, k == r->here ? mine : &theirs);
    if (!s && k != r->here) s = place_texts(ctx, a, each * cut->at[k], &theirs);
  }
  return s;
}

/* Each gives its rows of numbers to each other one. NULL: no memory, recorded. */
static FlRankTrade *trade_rows(FlCtx *ctx, const FlArray *a, const FlCut *cut) {
  int64_t row = fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes;
  char *data = a->data, *own = data + row * fl_cut_from(cut);
  FlRankTrade *with = calloc((size_t)cut->n, sizeof *with);
  if (!with) no_memory(ctx);
  for (int32_t k = 0; with && k < cut->n; k++)
    with[k] = (FlRankTrade){own, row * (fl_cut_to(cut) - fl_cut_from(cut)), data + row * cut->at[k],
                            row * (cut->at[k + 1] - cut->at[k])};
  return with;
}

FlStatus fl_rows_gather(FlCtx *ctx, int32_t site, FlArray *a) {
  const FlCut *cut = fl_array_cut(a);
  if (!cut) return 0;
  FlParcel mine = {0};
  FlRankTrade *numbers = NULL;
  bool texts = fl_dtype_is_text(a->dtype);
  FlStatus s = fl_array_open(ctx, a, 0, fl_array_count(a));
  if (!s && !(texts ? pack_here(ctx, a, &mine) : (numbers = trade_rows(ctx, a, cut)) != NULL))
    s = FL_STATUS_MEMORY;
  FlRankSlot slot = {.step = FL_RANKS_GATHER,
                     .site = site,
                     .failed = !s           ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .bytes = mine.bytes};
  s = fl_ranks_together(ctx, &slot);
  if (!s && texts) s = send_texts(ctx, a, cut, &mine);
  if (!s && !texts && !fl_ranks_trade(ctx->ranks, numbers, 1)) s = fl_rows_lost(ctx);
  fl_parcel_reset(&mine);
  free(numbers);
  if (!s) fl_array_become_whole(a);
  return s;
}

/* ---- agreeing --------------------------------------------------------------------------------------- */

/* The rank whose fault is the first in the program, then by element; -1: there is none. */
static int32_t first_fault(const FlRanks *r) {
  int32_t first = -1;
  for (int32_t k = 0; k < r->n; k++) {
    const int64_t *its = r->slots[k].values, *best = first < 0 ? NULL : r->slots[first].values;
    if (!its[0]) continue;
    if (!best || its[1] < best[1] || (its[1] == best[1] && its[2] < best[2])) first = k;
  }
  return first;
}

FlStatus fl_rows_agree(FlCtx *ctx, FlRankSlot *mine, const FlRowsFault *fault) {
  FlRanks *r = ctx->ranks;
  FlParcel parcel = {0};
  FlSlot texts[FL_ERROR_TEXTS];
  FlError *own = NULL;
  mine->step = FL_RANKS_ROWS;
  if (fault->failed && !mine->failed) {
    own = ctx->error; /* it is the program's, and no failure of this rank */
    ctx->error = NULL;
    fl_error_put(own, texts);
    if (!fl_parcel_pack(ctx, texts, fl_error_types, FL_ERROR_TEXTS, &parcel)) mine->failed = FL_STATUS_MEMORY;
    mine->values[0] = 1;
    mine->values[1] = fault->rank;
    mine->values[2] = fault->pos;
    mine->bytes = parcel.bytes;
  }
  FlStatus s = fl_ranks_together(ctx, mine);
  int32_t first = s ? -1 : first_fault(r);
  FlParcel theirs = {0};
  if (first >= 0) s = fl_parcel_send(ctx, first, first == r->here ? &parcel : &theirs);
  if (first == r->here && !s) {
    fl_error_free(ctx->error);
    ctx->error = own;
    own = NULL;
    s = ctx->error->status;
  } else if (first >= 0 && !s) {
    s = fl_error_open(ctx, &theirs);
    if (!s) s = ctx->error->status;
  }
  fl_error_free(own);
  fl_parcel_reset(&parcel);
  return s;
}
