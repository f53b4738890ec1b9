/* ranks_trade.c: rows that are in parts between ranks go to other ranks by their keys.
 *
 * In: arrays of which each rank has some rows, some of which are keys. Out: pieces of the order of keys, some
 * for each rank, one behind the other. What always holds: no rank has all rows. Some rows of all, which all
 * see, give cuts, each the words of a row's keys, and its number unless equal keys stay together; for keys
 * that are texts numbers stand there (ranks_texts.c), and the texts go along. Piece by piece each rank gives
 * each other one the rows of his. Those that come to a piece stand as they stood among all. Beside its rows
 * and what it makes of those that came a rank has memory for a piece. */
#include "exec/ranks_trade.h"
#include "exec/ranks_gives.h"

#include <stdlib.h>
#include <string.h>

enum {
  PIECE = 3,     /* rows of a piece at most, by those of which arrays stay in parts; */
  OF_GROUPS = 4, /* and of one of whole groups, whose tables a cache is to hold, such a share of these */
  MOST_BITS = 4
};

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

int fl_trade_bits(const FlRanks *r, int64_t rows, bool together) {
  int64_t most = PIECE * r->parts_from / (together ? OF_GROUPS : 1);
  int bits = 0;
  while (bits < MOST_BITS && (rows / r->n >> bits) > most &&
         (int64_t)r->n << (bits + 1) <= FL_ORDER_PIECES / 64)
    bits++;
  return bits;
}

static bool make_tables(FlTrade *t) {
  size_t most = (size_t)t->n_arrays + 1, ranks = (size_t)t->cut->n, pieces = ranks << t->bits;
  t->which = calloc(most, sizeof *t->which);
  t->here = calloc(most, sizeof *t->here);
  t->came = calloc(most, sizeof *t->came);
  t->given = calloc(most, sizeof *t->given);
  t->stands = calloc(most, sizeof *t->stands);
  t->gives = calloc(pieces, sizeof *t->gives);
  t->takes = calloc(pieces, sizeof *t->takes);
  t->to = calloc(most * ranks, sizeof *t->to);
  t->with = calloc(most * ranks, sizeof *t->with);
  return t->which && t->here && t->came && t->given && t->stands && t->gives && t->takes && t->to && t->with;
}

static FlStatus number_rows(FlTrade *t) {
  int64_t from = fl_cut_from(t->cut), n = fl_cut_to(t->cut) - from;
  FlArray *a = t->here[t->n++].a = fl_array_new(t->ctx, FL_I64, 1, &n);
  for (int64_t i = 0; a && i < n; i++) ((int64_t *)a->data)[i] = from + i;
  return a ? 0 : FL_STATUS_MEMORY;
}

static bool is_text(const FlSlot *array) { return fl_dtype_is_text(array->a->dtype); }

/* The own rows of the arrays, each array once; keys are among the columns more often than not. */
static FlStatus begin(FlTrade *t, const FlSlot *arrays) {
  if (!make_tables(t)) return no_memory(t);
  for (int32_t i = 0; i < t->n_arrays; i++) {
    int32_t same = 0;
    while (arrays[same].a != arrays[i].a) same++;
    t->which[i] = same < i ? t->which[same] : t->n;
    if (same < i) continue;
    t->here[t->n].a = fl_part_here(t->ctx, arrays[i].a, t->cut);
    if (!t->here[t->n++].a) return FL_STATUS_MEMORY;
  }
  return t->numbered ? number_rows(t) : 0;
}

/* Array i, if it is a key of texts for which no numbers stand yet; NULL. */
static FlArray *text_key(const FlTrade *t, int32_t i) {
  FlArray *a = t->here[t->which[i]].a;
  return fl_dtype_is_text(a->dtype) && !t->stands[t->which[i]].a ? a : NULL;
}

/* Of an order, all look at the same ones; how it went is the same at all ranks. */
static FlStatus number_texts(FlTrade *t, const int64_t *rows, const int64_t *n) {
  int32_t keys = fl_key_args(t->keys, t->keys->n_columns);
  FlStatus s = 0;
  for (int32_t i = 0; i < keys && !s; i++) {
    FlArray *texts = text_key(t, i);
    if (texts) s = fl_texts_in_order(t->ctx, t->keys->site, texts, rows, n, &t->stands[t->which[i]].a);
  }
  return s;
}

static FlStatus hash_texts(FlTrade *t) {
  int32_t keys = fl_key_args(t->keys, t->keys->n_columns);
  for (int32_t i = 0; i < keys; i++) {
    FlArray *texts = text_key(t, i), **numbers = &t->stands[t->which[i]].a;
    if (texts && !(*numbers = fl_texts_hashed(t->ctx, texts))) return FL_STATUS_MEMORY;
  }
  return 0;
}

static FlStatus make_trade(FlTrade *t) {
  FlSlot *all = calloc((size_t)t->n_arrays + 1, sizeof *all);
  FlStatus s = !all ? no_memory(t) : t->hashed ? hash_texts(t) : 0;
  for (int32_t i = 0; !s && i < t->n_arrays; i++) {
    const FlSlot *stands = &t->stands[t->which[i]];
    all[i] = stands->a ? *stands : t->here[t->which[i]];
  }
  if (!s) t->trade = fl_order_trade_new(t->ctx, t->keys, all, t->cut, t->bits, t->together);
  free(all);
  return s || t->trade ? s : FL_STATUS_MEMORY;
}

void fl_trade_end(FlTrade *t) {
  fl_order_trade_free(t->trade);
  fl_array_unref(t->packed);
  FlSlot *arrays[] = {t->came, t->given, t->stands, t->here};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    for (int32_t i = 0; arrays[k] && i < t->n; i++) fl_array_unref(arrays[k][i].a);
  void *tables[] = {t->which, t->here, t->came, t->given, t->stands, t->gives, t->takes, t->to, t->with};
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) free(tables[k]);
}

/* ---- who gets which rows ------------------------------------------------------------------------------- */

/* Which rows all see, of this rank, and how many, of each. */
typedef struct Looked {
  int64_t *rows, *n;
} Looked;

static FlStatus choose(const FlTrade *t, Looked *l) {
  l->n = calloc((size_t)t->cut->n, sizeof *l->n);
  if (!l->n) return no_memory(t);
  fl_order_sampled(t->cut, t->bits, l->n);
  l->rows = calloc((size_t)l->n[t->cut->here] + 1, sizeof *l->rows);
  if (!l->rows) return no_memory(t);
  fl_order_sampled_rows(t->cut, t->bits, l->rows);
  return 0;
}

/* All see their words; *sample, which the caller frees, has them. */
static FlStatus look(FlTrade *t, const Looked *l, uint64_t **sample) {
  FlRanks *r = t->ctx->ranks;
  int64_t at = 0, before = 0, width = fl_order_trade_width(t->trade);
  for (int32_t k = 0; k < r->n; at += l->n[k++])
    if (k == r->here) before = at;
  *sample = malloc((size_t)(at * width + 1) * sizeof **sample);
  if (*sample) fl_order_trade_sample(t->trade, l->rows, l->n[r->here], *sample + before * width);
  FlStatus s = fl_trade_meet(t, *sample ? 0 : no_memory(t));
  at = 0;
  for (int32_t k = 0; k < r->n && !s; at += l->n[k++] * width)
    if (l->n[k] && !fl_ranks_send(r, k, *sample + at, l->n[k] * width * (int64_t)sizeof **sample))
      s = fl_rows_lost(t->ctx);
  return s;
}

/* How many rows of each piece each gives and takes: all say it to each other. */
static FlStatus count(FlTrade *t) {
  int32_t n = t->cut->n;
  int64_t pieces = pieces_of(t), bytes = pieces * (int64_t)sizeof *t->gives;
  for (int64_t k = 0; k < n * pieces; k++) t->gives[k] = fl_order_trade_rows(t->trade, k);
  for (int32_t k = 0; k < n; k++)
    t->with[k] = (FlRankTrade){t->gives + k * pieces, bytes, t->takes + k * pieces, bytes};
  if (!fl_ranks_trade(t->ctx->ranks, t->with, 1)) return fl_rows_lost(t->ctx);
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

/* So many rows like those of `a`. */
static FlArray *room_like(const FlTrade *t, const FlArray *a, int64_t rows) {
  int64_t dims[FL_MAX_RANK];
  memcpy(dims, a->dims, sizeof dims);
  dims[0] = rows;
  return fl_array_new(t->ctx, a->dtype, a->rank, dims);
}

/* Of what goes to others and what comes of a piece. */
static FlStatus room_of_piece(FlTrade *t) {
  int64_t most = 0, all = 0, row = 0, pieces = pieces_of(t);
  for (int64_t p = 0; p < pieces; p++) {
    int64_t sent = 0, own = t->gives[t->cut->here * pieces + p];
    for (int32_t k = 0; k < t->cut->n; k++) sent += k == t->cut->here ? 0 : t->gives[k * pieces + p];
    if (sent > most) most = sent;
    if (sent + own > all) all = sent + own;
  }
  for (int32_t i = 0; i < t->n; i++) {
    const FlArray *a = t->here[i].a;
    bool text = is_text(&t->here[i]);
    FlSlot *room = text ? &t->given[i] : &t->came[i];
    if (!text) row += row_bytes(a);
    room->a = room_like(t, a, text ? all : t->most);
    if (!room->a) return FL_STATUS_MEMORY;
  }
  most = most * row + 64 * t->n * t->cut->n; /* each begins at a whole word */
  t->packed = fl_array_new(t->ctx, FL_U8, 1, &most);
  return t->packed ? 0 : FL_STATUS_MEMORY;
}

/* ---- a piece ------------------------------------------------------------------------------------------ */

/* Where the rows of array i for each rank are packed: all of texts to `given`. Of numbers those of others go
 * to `packed`, from `at` on, one array behind the other for each of them, and the own ones to where they
 * stand among those that come. Returns where `packed` goes on. */
static char *lay_out(const FlTrade *t, int64_t piece, int32_t i, char *at) {
  int32_t n = t->cut->n;
  int64_t pieces = pieces_of(t), size = row_bytes(t->here[i].a), before = 0;
  char *text = is_text(&t->here[i]) ? t->given[i].a->data : NULL;
  for (int32_t k = 0; k < n; k++) {
    bool own = k == t->cut->here;
    int64_t bytes = t->gives[k * pieces + piece] * size;
    t->to[i * n + k] = text ? text : own ? (char *)t->came[i].a->data + before * size : at;
    before += t->takes[k * pieces + piece];
    if (text) text += bytes;
    else if (!own) at += (bytes + 63) / 64 * 64;
  }
  return at;
}

static void pack(const FlTrade *t, int64_t piece) {
  char *at = t->packed->data;
  for (int32_t i = 0; i < t->n; i++) at = lay_out(t, piece, i, at);
  fl_order_trade_pack(t->trade, piece, t->here, t->n, t->to);
}

/* Texts come as an array of their own. */
static FlStatus move_texts(const FlTrade *t, int64_t piece, int32_t i) {
  FlCtx *ctx = t->ctx;
  FlGives rows;
  int64_t goes = 0, comes = 0, pieces = pieces_of(t);
  bool fine = fl_gives_init(&rows, ctx->ranks);
  for (int32_t k = 0; k < t->cut->n && fine; k++) {
    goes += rows.takes[k] = t->gives[k * pieces + piece]; /* as an answer */
    comes += rows.gives[k] = t->takes[k * pieces + piece];
  }
  fl_array_unref(t->came[i].a);
  FlArray *from = fine ? fl_array_view_rows(ctx, t->given[i].a, 0, goes) : NULL;
  t->came[i].a = from ? room_like(t, from, comes) : NULL;
  FlStatus s = fl_trade_meet(t, t->came[i].a ? 0 : fine ? FL_STATUS_MEMORY : no_memory(t));
  if (!s) s = fl_gives_return_texts(ctx, t->keys->site, &rows, from, t->came[i].a);
  fl_array_unref(from);
  fl_gives_reset(&rows);
  return s;
}

/* The numbers of array i, as a trade. */
static void lay_numbers(const FlTrade *t, int64_t piece, int32_t i, FlRankTrade *with) {
  int32_t n = t->cut->n;
  int64_t size = row_bytes(t->here[i].a), pieces = pieces_of(t);
  char *in = t->came[i].a->data;
  for (int32_t k = 0; k < n; k++) {
    with[k] = (FlRankTrade){t->to[i * n + k], t->gives[k * pieces + piece] * size, in,
                            t->takes[k * pieces + piece] * size};
    in += with[k].takes;
  }
}

FlStatus fl_trade_bring(const FlTrade *t, int64_t piece, int64_t *rows) {
  FlStatus s = 0;
  *rows = 0;
  int32_t numbers = 0;
  pack(t, piece);
  for (int32_t i = 0; i < t->n; i++)
    if (!is_text(&t->here[i])) lay_numbers(t, piece, i, t->with + numbers++ * t->cut->n);
  if (numbers && !fl_ranks_trade(t->ctx->ranks, t->with, numbers)) s = fl_rows_lost(t->ctx);
  for (int32_t i = 0; i < t->n && !s; i++)
    if (is_text(&t->here[i])) s = move_texts(t, piece, i);
  for (int32_t k = 0; k < t->cut->n; k++) *rows += t->takes[k * pieces_of(t) + piece];
  return s;
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
  for (int64_t p = 0; p < pieces; p++) {
    FlStatus brought = fl_trade_bring(t, p, &rows);
    *lost = brought != 0;
    if (*lost) return brought;
    FlSlot *came = s ? NULL : fl_trade_came(t, rows);
    if (!s) s = came ? piece(env, came, rows, at) : FL_STATUS_MEMORY;
    fl_trade_let_go(t, came);
    at += rows;
  }
  return s;
}

FlStatus fl_trade_begin(FlTrade *t, const FlSlot *arrays) {
  uint64_t *sample = NULL;
  Looked l = {0};
  if (!t->hashed) t->bits = fl_trade_bits(t->ctx->ranks, fl_cut_rows(t->cut), t->together);
  FlStatus s = begin(t, arrays);
  if (!s && !t->hashed) s = choose(t, &l);
  s = fl_trade_meet(t, s);
  if (!s && !t->hashed) s = number_texts(t, l.rows, l.n);
  if (!s) s = fl_trade_meet(t, make_trade(t));
  if (!s && !t->hashed) s = look(t, &l, &sample);
  if (!s && t->hashed) s = fl_trade_meet(t, fl_order_trade_hash(t->trade));
  else if (!s) s = fl_trade_meet(t, fl_order_trade_find(t->trade, sample));
  free(sample);
  free(l.rows);
  free(l.n);
  if (!s) s = count(t);
  return s ? s : fl_trade_meet(t, room_of_piece(t));
}
