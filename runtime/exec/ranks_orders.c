/* ranks_orders.c: orders of rows that are in parts between ranks.
 *
 * In: an operator that sorts rows, and arrays of which each rank has some rows. Out: its results, in parts:
 * each rank has those between two cuts of the order. What always holds: no rank has all rows. Some rows of
 * all, which all see, give cuts, each the words of a row's keys and its number, into pieces: some for each
 * rank, one behind the other. Piece by piece each rank gives each other one the rows of his, and runs the
 * operator on those that came, which stand as they stood among all: so it is the order of one rank, equal
 * rows included. Beside its rows and its results a rank has memory for a piece. */
#include "exec/ranks_args.h"
#include "exec/ranks_parts.h"
#include "part/order_trade.h"
#include "part/part.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 3, MOST_BITS = 4 }; /* rows of a piece at most, by those of which arrays stay in parts */

typedef struct Order {
  FlCtx *ctx;
  const FlOpDesc *desc;
  const FlCut *cut, *laid; /* how rows came in, and how the results lie */
  int bits;                /* each rank has 2^bits pieces */
  int32_t n;               /* different arguments; behind them the numbers of rows, where these are asked */
  int32_t *which;          /* of the operator's arguments: which of those it is */
  FlSlot *here;            /* [n] the own rows of them */
  FlSlot *came;            /* [n] room for those of a piece */
  FlOrderTrade *trade;
  FlArray *packed; /* what goes to others of a piece */
  /* Of the own pieces, or of one for another rank: [ranks << bits] by rank and piece. */
  int64_t *gives, *takes;
  int64_t *bytes;         /* [2 * ranks] of a trade */
  char **out, **in, **to; /* [ranks] of a trade; [n * ranks] of rows that are packed */
  int64_t rows, most;     /* of the own share, and of its largest piece */
} Order;

static bool wants_numbers(const FlOpDesc *desc) { return desc->run == fl_rt_sort_perm; }
static int64_t pieces_of(const Order *o) { return INT64_C(1) << o->bits; }

static FlStatus meet(const Order *o, FlStatus own) {
  FlCtx *ctx = o->ctx;
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = o->desc->site,
                     .failed = !own         ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .values = {0, 0, 0, o->rows}};
  return fl_ranks_together(ctx, &mine);
}

static FlStatus no_memory(const Order *o) {
  return fl_fail_op(o->ctx, o->desc, FL_FAULT_MEMORY, "out of memory");
}

/* ---- before ------------------------------------------------------------------------------------------- */

static int bits_of(const FlRanks *r, int64_t rows) {
  int bits = 0;
  while (bits < MOST_BITS && (rows / r->n >> bits) > PIECE * r->parts_from &&
         (int64_t)r->n << (bits + 1) <= FL_ORDER_PIECES / 64)
    bits++;
  return bits;
}

static bool make_tables(Order *o) {
  size_t most = (size_t)o->desc->n_args + 1, ranks = (size_t)o->cut->n, pieces = ranks << o->bits;
  o->which = calloc(most, sizeof *o->which);
  o->here = calloc(most, sizeof *o->here);
  o->came = calloc(most, sizeof *o->came);
  o->gives = calloc(pieces, sizeof *o->gives);
  o->takes = calloc(pieces, sizeof *o->takes);
  o->bytes = calloc(2 * ranks, sizeof *o->bytes);
  o->out = calloc(ranks, sizeof *o->out);
  o->in = calloc(ranks, sizeof *o->in);
  o->to = calloc(most * ranks, sizeof *o->to);
  return o->which && o->here && o->came && o->gives && o->takes && o->bytes && o->out && o->in && o->to;
}

static FlStatus number_rows(Order *o) {
  int64_t from = fl_cut_from(o->cut), n = fl_cut_to(o->cut) - from;
  FlArray *a = o->here[o->n++].a = fl_array_new(o->ctx, FL_I64, 1, &n);
  for (int64_t i = 0; a && i < n; i++) ((int64_t *)a->data)[i] = from + i;
  return a ? 0 : FL_STATUS_MEMORY;
}

/* The own rows of the arguments, each array once; keys are among the columns more often than not. */
static FlStatus begin(Order *o, const FlSlot *args) {
  const FlOpDesc *desc = o->desc;
  if (!make_tables(o)) return no_memory(o);
  FlSlot *all = calloc((size_t)desc->n_args, sizeof *all);
  FlStatus s = all ? 0 : no_memory(o);
  for (int32_t i = 0; i < desc->n_args && !s; i++) {
    int32_t same = 0;
    while (args[same].a != args[i].a) same++;
    o->which[i] = same < i ? o->which[same] : o->n;
    if (same == i) o->here[o->n++].a = fl_part_here(o->ctx, args[i].a, o->cut);
    all[i] = o->here[o->which[i]];
    if (!all[i].a) s = FL_STATUS_MEMORY;
  }
  o->trade = s ? NULL : fl_order_trade_new(o->ctx, desc, all, o->cut, o->bits);
  free(all);
  if (!o->trade) return FL_STATUS_MEMORY;
  return wants_numbers(desc) ? number_rows(o) : 0;
}

static void end(Order *o) {
  fl_order_trade_free(o->trade);
  fl_array_unref(o->packed);
  for (int32_t i = 0; o->came && i < o->n; i++) fl_array_unref(o->came[i].a);
  for (int32_t i = 0; o->here && i < o->n; i++) fl_array_unref(o->here[i].a);
  void *tables[] = {o->which, o->here, o->came, o->gives, o->takes, o->bytes, o->out, o->in, o->to};
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) free(tables[k]);
}

/* ---- who gets which rows ------------------------------------------------------------------------------- */

/* All see some rows of each; *sample, which the caller frees, has them. */
static FlStatus look(Order *o, uint64_t **sample) {
  FlRanks *r = o->ctx->ranks;
  int64_t *n = calloc((size_t)r->n, sizeof *n), at = 0, before = 0;
  int64_t width = n ? fl_order_trade_sampled(o->trade, n) : 0;
  for (int32_t k = 0; n && k < r->n; k++, at += n[k - 1])
    if (k == r->here) before = at;
  *sample = n ? malloc((size_t)(at * width + 1) * sizeof **sample) : NULL;
  if (*sample) fl_order_trade_sample(o->trade, *sample + before * width);
  FlStatus s = meet(o, *sample ? 0 : no_memory(o));
  at = 0;
  for (int32_t k = 0; k < r->n && !s; at += n[k++] * width)
    if (n[k] && !fl_ranks_send(r, k, *sample + at, n[k] * width * (int64_t)sizeof **sample))
      s = fl_rows_lost(o->ctx);
  free(n);
  return s;
}

static bool trade(const Order *o) {
  FlRankTrade t = {(const void *const *)o->out, o->bytes, (void *const *)o->in, o->bytes + o->cut->n};
  return fl_ranks_trade(o->ctx->ranks, &t);
}

/* How many rows of each piece each gives and takes: all say it to each other. */
static FlStatus count(Order *o) {
  int32_t n = o->cut->n;
  int64_t pieces = pieces_of(o);
  for (int64_t k = 0; k < n * pieces; k++) o->gives[k] = fl_order_trade_rows(o->trade, k);
  for (int32_t k = 0; k < n; k++) {
    o->out[k] = (char *)(o->gives + k * pieces);
    o->in[k] = (char *)(o->takes + k * pieces);
    o->bytes[k] = o->bytes[n + k] = pieces * (int64_t)sizeof *o->gives;
  }
  memcpy(o->takes + o->cut->here * pieces, o->gives + o->cut->here * pieces,
         (size_t)pieces * sizeof *o->takes);
  if (!trade(o)) return fl_rows_lost(o->ctx);
  for (int64_t p = 0; p < pieces; p++) {
    int64_t rows = 0;
    for (int32_t k = 0; k < n; k++) rows += o->takes[k * pieces + p];
    o->rows += rows;
    if (rows > o->most) o->most = rows;
  }
  return 0;
}

/* ---- room --------------------------------------------------------------------------------------------- */

static int64_t row_bytes(const FlArray *a) { return fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes; }

/* The argument whose rows result i has, but for the type of numbers of rows. */
static int32_t like(const FlOpDesc *desc, int32_t i) { return desc->n_args - desc->n_results + i; }

/* Of what goes to others and what comes of a piece. */
static FlStatus room_of_piece(Order *o) {
  int64_t most = 0, row = 0, pieces = pieces_of(o);
  for (int64_t p = 0; p < pieces; p++) {
    int64_t sent = 0;
    for (int32_t k = 0; k < o->cut->n; k++) sent += k == o->cut->here ? 0 : o->gives[k * pieces + p];
    if (sent > most) most = sent;
  }
  for (int32_t i = 0; i < o->n; i++) {
    const FlArray *a = o->here[i].a;
    int64_t dims[FL_MAX_RANK];
    memcpy(dims, a->dims, sizeof dims);
    dims[0] = o->most;
    row += row_bytes(a);
    o->came[i].a = fl_array_new(o->ctx, a->dtype, a->rank, dims);
    if (!o->came[i].a) return FL_STATUS_MEMORY;
  }
  most = most * row + 64 * o->n * o->cut->n; /* each begins at a whole word */
  o->packed = fl_array_new(o->ctx, FL_U8, 1, &most);
  return o->packed ? 0 : FL_STATUS_MEMORY;
}

/* The results, in parts by the cut that all know by now. */
static FlStatus room_of_results(Order *o, FlSlot *results) {
  const FlOpDesc *desc = o->desc;
  o->laid = fl_rows_cut_by(o->ctx, 3);
  for (int32_t i = 0; i < desc->n_results; i++) results[i].a = NULL;
  for (int32_t i = 0; i < desc->n_results && o->laid; i++) {
    const FlArray *a = o->here[o->which[like(desc, i)]].a;
    int64_t dims[FL_MAX_RANK];
    memcpy(dims, a->dims, sizeof dims);
    dims[0] = fl_cut_rows(o->laid);
    results[i].a = fl_array_new_part(o->ctx, desc->result_types[i].dtype, a->rank, dims, o->laid);
    if (!results[i].a) return FL_STATUS_MEMORY;
  }
  return o->laid ? 0 : FL_STATUS_MEMORY;
}

/* ---- a piece ------------------------------------------------------------------------------------------ */

/* The rows of others' pieces go to `packed`, one array behind the other for each of them; the own ones to
 * where they stand among those that come. */
static void pack(const Order *o, int64_t piece) {
  int32_t n = o->cut->n;
  int64_t pieces = pieces_of(o);
  char *at = o->packed->data;
  for (int32_t i = 0; i < o->n; i++) {
    int64_t size = row_bytes(o->here[i].a), before = 0;
    for (int32_t k = 0; k < n; k++) {
      bool own = k == o->cut->here;
      o->to[i * n + k] = own ? (char *)o->came[i].a->data + before * size : at;
      before += o->takes[k * pieces + piece];
      if (!own) at += (o->gives[k * pieces + piece] * size + 63) / 64 * 64;
    }
  }
  fl_order_trade_pack(o->trade, piece, o->here, o->n, o->to);
}

static bool move(const Order *o, int64_t piece, int32_t i) {
  int32_t n = o->cut->n;
  int64_t size = row_bytes(o->here[i].a), pieces = pieces_of(o);
  char *in = o->came[i].a->data;
  for (int32_t k = 0; k < n; k++) {
    o->out[k] = o->to[i * n + k];
    o->bytes[k] = o->gives[k * pieces + piece] * size;
    o->bytes[n + k] = o->takes[k * pieces + piece] * size;
    o->in[k] = in;
    in += o->bytes[n + k];
  }
  return trade(o);
}

typedef struct Numbers {
  int64_t *rows;
  const int64_t *number;
} Numbers;

static void number_body(void *env, int64_t from, int64_t to, int worker) {
  const Numbers *k = env;
  (void)worker;
  for (int64_t i = from; i < to; i++) k->rows[i] = k->number[k->rows[i]];
}

/* Rows [at, at + rows) of the results. */
static void put(const Order *o, FlSlot *sorted, int64_t at, int64_t rows, FlSlot *results) {
  if (wants_numbers(o->desc)) {
    Numbers k = {sorted[0].a->data, o->came[o->n - 1].a->data};
    fl_parallel_for(o->ctx, rows, 1 << 14, number_body, &k);
  }
  for (int32_t i = 0; i < o->desc->n_results; i++) {
    int64_t size = row_bytes(results[i].a), n = rows * size;
    if (n > 0) memcpy((char *)results[i].a->data + at * size, sorted[i].a->data, (size_t)n);
    fl_array_unref(sorted[i].a);
  }
}

/* The rows that came, in order. */
static FlStatus sort_piece(const Order *o, int64_t at, int64_t rows, FlSlot *results) {
  const FlOpDesc *desc = o->desc;
  FlSlot *args = calloc((size_t)(desc->n_args + desc->n_results), sizeof *args);
  FlStatus s = args ? 0 : no_memory(o);
  for (int32_t i = 0; i < desc->n_args && !s; i++) {
    args[i].a = fl_array_view_rows(o->ctx, o->came[o->which[i]].a, 0, rows);
    if (!args[i].a) s = FL_STATUS_MEMORY;
  }
  if (!s) s = desc->run(o->ctx, desc, args, args + desc->n_args);
  if (!s) put(o, args + desc->n_args, at, rows, results);
  for (int32_t i = 0; i < desc->n_args && args; i++) fl_array_unref(args[i].a);
  free(args);
  return s;
}

/* All pieces. Who fails goes on giving others their rows. */
static FlStatus sort_all(const Order *o, FlSlot *results) {
  int64_t at = fl_cut_from(o->laid), pieces = pieces_of(o);
  FlStatus s = 0;
  for (int64_t p = 0; p < pieces; p++) {
    int64_t rows = 0;
    pack(o, p);
    for (int32_t i = 0; i < o->n; i++)
      if (!move(o, p, i)) return fl_rows_lost(o->ctx);
    for (int32_t k = 0; k < o->cut->n; k++) rows += o->takes[k * pieces + p];
    if (!s) s = sort_piece(o, at, rows, results);
    at += rows;
  }
  return meet(o, s);
}

/* Those that must be whole, or are few. */
static FlStatus gather(const Order *o, FlSlot *results) {
  FlStatus s = 0;
  for (int32_t i = 0; i < o->desc->n_results && !s; i++) {
    int64_t elements = fl_array_row_count(results[i].a) * fl_cut_rows(o->laid);
    if (!o->desc->stays[i] || !fl_rows_are_many(o->ctx, elements))
      s = fl_rows_gather(o->ctx, o->desc->site, results[i].a);
  }
  return s;
}

FlStatus fl_ranks_order(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                        FlSlot *results) {
  Order o = {.ctx = ctx, .desc = desc, .cut = cut, .bits = bits_of(ctx->ranks, fl_cut_rows(cut))};
  uint64_t *sample = NULL;
  bool made = false;
  FlStatus s = meet(&o, begin(&o, args));
  if (!s) s = look(&o, &sample);
  if (!s) s = meet(&o, fl_order_trade_find(o.trade, sample));
  free(sample);
  if (!s) s = count(&o);
  if (!s) s = meet(&o, room_of_piece(&o));
  made = !s;
  if (!s) s = meet(&o, room_of_results(&o, results));
  if (!s) s = sort_all(&o, results);
  end(&o);
  if (!s) s = gather(&o, results);
  for (int32_t i = 0; i < desc->n_results && made && s; i++) fl_array_unref(results[i].a);
  return s;
}
