/* ranks_trade.c: rows that are in parts between ranks go to other ranks by their keys.
 *
 * In: arrays of numbers of which each rank has some rows, some of which are keys. Out: pieces of the order of
 * keys, some for each rank, one behind the other. What always holds: no rank has all rows. Some rows of all,
 * which all see, give cuts, each the words of a row's keys, and its number unless equal keys stay together;
 * piece by piece each rank gives each other one the rows of his. Those that come to a piece stand as they
 * stood among all. Beside its rows and what it makes of those that came a rank has memory for a piece. */
#include "exec/ranks_trade.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 3, MOST_BITS = 4 }; /* rows of a piece at most, by those of which arrays stay in parts */

static int64_t pieces_of(const FlTrade *t) { return INT64_C(1) << t->bits; }

FlStatus fl_trade_meet(const FlTrade *t, FlStatus own) {
  FlCtx *ctx = t->ctx;
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = t->keys->site,
                     .failed = !own         ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .values = {0, 0, 0, t->rows}};
  return fl_ranks_together(ctx, &mine);
}

static FlStatus no_memory(const FlTrade *t) {
  return fl_fail_op(t->ctx, t->keys, FL_FAULT_MEMORY, "out of memory");
}

/* ---- before ------------------------------------------------------------------------------------------- */

int fl_trade_bits(const FlRanks *r, int64_t rows) {
  int bits = 0;
  while (bits < MOST_BITS && (rows / r->n >> bits) > PIECE * r->parts_from &&
         (int64_t)r->n << (bits + 1) <= FL_ORDER_PIECES / 64)
    bits++;
  return bits;
}

static bool make_tables(FlTrade *t) {
  size_t most = (size_t)t->n_arrays + 1, ranks = (size_t)t->cut->n, pieces = ranks << t->bits;
  t->which = calloc(most, sizeof *t->which);
  t->here = calloc(most, sizeof *t->here);
  t->came = calloc(most, sizeof *t->came);
  t->gives = calloc(pieces, sizeof *t->gives);
  t->takes = calloc(pieces, sizeof *t->takes);
  t->bytes = calloc(2 * ranks, sizeof *t->bytes);
  t->out = calloc(ranks, sizeof *t->out);
  t->in = calloc(ranks, sizeof *t->in);
  t->to = calloc(most * ranks, sizeof *t->to);
  return t->which && t->here && t->came && t->gives && t->takes && t->bytes && t->out && t->in && t->to;
}

static FlStatus number_rows(FlTrade *t) {
  int64_t from = fl_cut_from(t->cut), n = fl_cut_to(t->cut) - from;
  FlArray *a = t->here[t->n++].a = fl_array_new(t->ctx, FL_I64, 1, &n);
  for (int64_t i = 0; a && i < n; i++) ((int64_t *)a->data)[i] = from + i;
  return a ? 0 : FL_STATUS_MEMORY;
}

/* The own rows of the arrays, each array once; keys are among the columns more often than not. */
static FlStatus begin(FlTrade *t, const FlSlot *arrays) {
  if (!make_tables(t)) return no_memory(t);
  FlSlot *all = calloc((size_t)t->n_arrays, sizeof *all);
  FlStatus s = all ? 0 : no_memory(t);
  for (int32_t i = 0; i < t->n_arrays && !s; i++) {
    int32_t same = 0;
    while (arrays[same].a != arrays[i].a) same++;
    t->which[i] = same < i ? t->which[same] : t->n;
    if (same == i) t->here[t->n++].a = fl_part_here(t->ctx, arrays[i].a, t->cut);
    all[i] = t->here[t->which[i]];
    if (!all[i].a) s = FL_STATUS_MEMORY;
  }
  t->trade = s ? NULL : fl_order_trade_new(t->ctx, t->keys, all, t->cut, t->bits, t->together);
  free(all);
  if (!t->trade) return FL_STATUS_MEMORY;
  return t->numbered ? number_rows(t) : 0;
}

void fl_trade_end(FlTrade *t) {
  fl_order_trade_free(t->trade);
  fl_array_unref(t->packed);
  for (int32_t i = 0; t->came && i < t->n; i++) fl_array_unref(t->came[i].a);
  for (int32_t i = 0; t->here && i < t->n; i++) fl_array_unref(t->here[i].a);
  void *tables[] = {t->which, t->here, t->came, t->gives, t->takes, t->bytes, t->out, t->in, t->to};
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) free(tables[k]);
}

/* ---- who gets which rows ------------------------------------------------------------------------------- */

/* All see some rows of each; *sample, which the caller frees, has them. */
static FlStatus look(FlTrade *t, uint64_t **sample) {
  FlRanks *r = t->ctx->ranks;
  int64_t *n = calloc((size_t)r->n, sizeof *n), at = 0, before = 0;
  int64_t width = n ? fl_order_trade_sampled(t->trade, n) : 0;
  for (int32_t k = 0; n && k < r->n; k++, at += n[k - 1])
    if (k == r->here) before = at;
  *sample = n ? malloc((size_t)(at * width + 1) * sizeof **sample) : NULL;
  if (*sample) fl_order_trade_sample(t->trade, *sample + before * width);
  FlStatus s = fl_trade_meet(t, *sample ? 0 : no_memory(t));
  at = 0;
  for (int32_t k = 0; k < r->n && !s; at += n[k++] * width)
    if (n[k] && !fl_ranks_send(r, k, *sample + at, n[k] * width * (int64_t)sizeof **sample))
      s = fl_rows_lost(t->ctx);
  free(n);
  return s;
}

static bool trade(const FlTrade *t) {
  FlRankTrade all = {(const void *const *)t->out, t->bytes, (void *const *)t->in, t->bytes + t->cut->n};
  return fl_ranks_trade(t->ctx->ranks, &all);
}

/* How many rows of each piece each gives and takes: all say it to each other. */
static FlStatus count(FlTrade *t) {
  int32_t n = t->cut->n;
  int64_t pieces = pieces_of(t);
  for (int64_t k = 0; k < n * pieces; k++) t->gives[k] = fl_order_trade_rows(t->trade, k);
  for (int32_t k = 0; k < n; k++) {
    t->out[k] = (char *)(t->gives + k * pieces);
    t->in[k] = (char *)(t->takes + k * pieces);
    t->bytes[k] = t->bytes[n + k] = pieces * (int64_t)sizeof *t->gives;
  }
  memcpy(t->takes + t->cut->here * pieces, t->gives + t->cut->here * pieces,
         (size_t)pieces * sizeof *t->takes);
  if (!trade(t)) return fl_rows_lost(t->ctx);
  for (int64_t p = 0; p < pieces; p++) {
    int64_t rows = 0;
    for (int32_t k = 0; k < n; k++) rows += t->takes[k * pieces + p];
    t->rows += rows;
    if (rows > t->most) t->most = rows;
  }
  return 0;
}

/* ---- room --------------------------------------------------------------------------------------------- */

static int64_t row_bytes(const FlArray *a) { return fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes; }

/* Of what goes to others and what comes of a piece. */
static FlStatus room_of_piece(FlTrade *t) {
  int64_t most = 0, row = 0, pieces = pieces_of(t);
  for (int64_t p = 0; p < pieces; p++) {
    int64_t sent = 0;
    for (int32_t k = 0; k < t->cut->n; k++) sent += k == t->cut->here ? 0 : t->gives[k * pieces + p];
    if (sent > most) most = sent;
  }
  for (int32_t i = 0; i < t->n; i++) {
    const FlArray *a = t->here[i].a;
    int64_t dims[FL_MAX_RANK];
    memcpy(dims, a->dims, sizeof dims);
    dims[0] = t->most;
    row += row_bytes(a);
    t->came[i].a = fl_array_new(t->ctx, a->dtype, a->rank, dims);
    if (!t->came[i].a) return FL_STATUS_MEMORY;
  }
  most = most * row + 64 * t->n * t->cut->n; /* each begins at a whole word */
  t->packed = fl_array_new(t->ctx, FL_U8, 1, &most);
  return t->packed ? 0 : FL_STATUS_MEMORY;
}

/* ---- a piece ------------------------------------------------------------------------------------------ */

/* The rows of others' pieces go to `packed`, one array behind the other for each of them; the own ones to
 * where they stand among those that come. */
static void pack(const FlTrade *t, int64_t piece) {
  int32_t n = t->cut->n;
  int64_t pieces = pieces_of(t);
  char *at = t->packed->data;
  for (int32_t i = 0; i < t->n; i++) {
    int64_t size = row_bytes(t->here[i].a), before = 0;
    for (int32_t k = 0; k < n; k++) {
      bool own = k == t->cut->here;
      t->to[i * n + k] = own ? (char *)t->came[i].a->data + before * size : at;
      before += t->takes[k * pieces + piece];
      if (!own) at += (t->gives[k * pieces + piece] * size + 63) / 64 * 64;
    }
  }
  fl_order_trade_pack(t->trade, piece, t->here, t->n, t->to);
}

static bool move(const FlTrade *t, int64_t piece, int32_t i) {
  int32_t n = t->cut->n;
  int64_t size = row_bytes(t->here[i].a), pieces = pieces_of(t);
  char *in = t->came[i].a->data;
  for (int32_t k = 0; k < n; k++) {
    t->out[k] = t->to[i * n + k];
    t->bytes[k] = t->gives[k * pieces + piece] * size;
    t->bytes[n + k] = t->takes[k * pieces + piece] * size;
    t->in[k] = in;
    in += t->bytes[n + k];
  }
  return trade(t);
}

bool fl_trade_bring(const FlTrade *t, int64_t piece, int64_t *rows) {
  bool fine = true;
  *rows = 0;
  pack(t, piece);
  for (int32_t i = 0; i < t->n && fine; i++) fine = move(t, piece, i);
  for (int32_t k = 0; k < t->cut->n; k++) *rows += t->takes[k * pieces_of(t) + piece];
  return fine;
}

void fl_trade_let_go(const FlTrade *t, FlSlot *came) {
  for (int32_t i = 0; i < t->n_arrays + 1 && came; i++) fl_array_unref(came[i].a);
  free(came);
}

FlSlot *fl_trade_came(const FlTrade *t, int64_t rows) {
  FlSlot *views = calloc((size_t)t->n_arrays + 1, sizeof *views);
  FlStatus s = views ? 0 : no_memory(t);
  for (int32_t i = 0; i < t->n_arrays + t->numbered && !s; i++) {
    int32_t which = i < t->n_arrays ? t->which[i] : t->n - 1;
    views[i].a = fl_array_view_rows(t->ctx, t->came[which].a, 0, rows);
    if (!views[i].a) s = FL_STATUS_MEMORY;
  }
  if (!s) return views;
  fl_trade_let_go(t, views);
  return NULL;
}

FlStatus fl_trade_pieces(const FlTrade *t, FlTradePiece *piece, void *env, bool *lost) {
  int64_t at = 0, rows, pieces = pieces_of(t);
  FlStatus s = 0;
  *lost = false;
  for (int64_t p = 0; p < pieces && !*lost; p++) {
    *lost = !fl_trade_bring(t, p, &rows);
    FlSlot *came = s || *lost ? NULL : fl_trade_came(t, rows);
    if (!s && !*lost) s = came ? piece(env, came, rows, at) : FL_STATUS_MEMORY;
    fl_trade_let_go(t, came);
    at += rows;
  }
  return *lost ? fl_rows_lost(t->ctx) : s;
}

FlStatus fl_trade_begin(FlTrade *t, const FlSlot *arrays) {
  uint64_t *sample = NULL;
  if (!t->hashed) t->bits = fl_trade_bits(t->ctx->ranks, fl_cut_rows(t->cut));
  FlStatus s = fl_trade_meet(t, begin(t, arrays));
  if (!s && !t->hashed) s = look(t, &sample);
  if (!s && t->hashed) s = fl_trade_meet(t, fl_order_trade_hash(t->trade));
  else if (!s) s = fl_trade_meet(t, fl_order_trade_find(t->trade, sample));
  free(sample);
  if (!s) s = count(t);
  return s ? s : fl_trade_meet(t, room_of_piece(t));
}
