/* ranks_orders.c: orders of rows that are in parts between ranks.
 *
 * In: an operator that sorts rows, and arrays of which each rank has some rows. Out: its results, in parts:
 * each rank has those between two cuts of the order. What always holds: no rank has all rows. Some rows of
 * all, which all see, give cuts, each the words of a row's keys and its number; each rank gives each other
 * one the rows between its cuts, column by column, and runs the operator on those that came, which stand as
 * they stood among all: so it is the order of one rank, equal rows included. */
#include "exec/ranks_args.h"
#include "exec/ranks_parts.h"
#include "part/order_trade.h"
#include "part/part.h"

#include <stdlib.h>
#include <string.h>

typedef struct Order {
  FlCtx *ctx;
  const FlOpDesc *desc;
  const FlCut *cut;
  int32_t n;           /* arguments, and behind them the numbers of rows, where these are asked for */
  FlSlot *here, *came; /* [n] rows of them: the own ones, and those of the own share of the order */
  FlOrderTrade *trade;
  FlArray *packed;        /* what goes to others of one argument */
  int64_t *gives, *takes; /* [ranks] rows */
  int64_t rows;           /* of the share */
} Order;

static bool wants_numbers(const FlOpDesc *desc) { return desc->run == fl_rt_sort_perm; }

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

static FlStatus number_rows(Order *o) {
  int64_t from = fl_cut_from(o->cut), n = fl_cut_to(o->cut) - from;
  FlArray *a = o->here[o->n++].a = fl_array_new(o->ctx, FL_I64, 1, &n);
  for (int64_t i = 0; a && i < n; i++) ((int64_t *)a->data)[i] = from + i;
  return a ? 0 : FL_STATUS_MEMORY;
}

static FlStatus begin(Order *o, const FlSlot *args) {
  size_t most = (size_t)o->desc->n_args + 1, ranks = (size_t)o->cut->n;
  o->here = calloc(most, sizeof *o->here);
  o->came = calloc(most, sizeof *o->came);
  o->gives = calloc(ranks, sizeof *o->gives);
  o->takes = calloc(ranks, sizeof *o->takes);
  if (!o->here || !o->came || !o->gives || !o->takes) return no_memory(o);
  while (o->n < o->desc->n_args) {
    FlArray *a = o->here[o->n].a = fl_part_here(o->ctx, args[o->n].a, o->cut);
    if (!a) return FL_STATUS_MEMORY;
    o->n++;
  }
  o->trade = fl_order_trade_new(o->ctx, o->desc, o->here, o->cut);
  if (!o->trade) return FL_STATUS_MEMORY;
  return wants_numbers(o->desc) ? number_rows(o) : 0;
}

static void release(FlSlot *slots, int32_t n) {
  for (int32_t i = 0; slots && i < n; i++) {
    fl_array_unref(slots[i].a);
    slots[i].a = NULL;
  }
}

/* What was needed of the rows here. */
static void let_go(Order *o) {
  release(o->here, o->n);
  fl_order_trade_free(o->trade);
  fl_array_unref(o->packed);
  o->trade = NULL;
  o->packed = NULL;
}

static void end(Order *o) {
  let_go(o);
  release(o->came, o->n);
  free(o->here);
  free(o->came);
  free(o->gives);
  free(o->takes);
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

/* Each gives each other its rows, of `of` bytes. */
static bool trade(const Order *o, char *const *out, char *const *in, int64_t of) {
  FlRanks *r = o->ctx->ranks;
  for (int32_t k = 0; k < r->n; k++) {
    o->gives[k] *= of;
    o->takes[k] *= of;
  }
  FlRankTrade t = {(const void *const *)out, o->gives, (void *const *)in, o->takes};
  bool fine = fl_ranks_trade(r, &t);
  for (int32_t k = 0; k < r->n && of; k++) {
    o->gives[k] /= of;
    o->takes[k] /= of;
  }
  return fine;
}

/* How many rows each gives and takes: all ask each other. */
static FlStatus count(Order *o) {
  FlRanks *r = o->ctx->ranks;
  int64_t *rows = calloc(2 * (size_t)r->n, sizeof *rows);
  char **out = calloc(2 * (size_t)r->n, sizeof *out), **in = out + r->n;
  FlStatus s = meet(o, rows && out ? 0 : no_memory(o));
  for (int32_t k = 0; k < r->n && !s; k++) {
    rows[k] = fl_order_trade_rows(o->trade, k);
    out[k] = (char *)&rows[k];
    in[k] = (char *)&rows[r->n + k];
    o->gives[k] = o->takes[k] = 1;
  }
  if (!s && !trade(o, out, in, sizeof *rows)) s = fl_rows_lost(o->ctx);
  for (int32_t k = 0; k < r->n && !s; k++) {
    o->gives[k] = rows[k];
    o->takes[k] = k == r->here ? rows[k] : rows[r->n + k];
    o->rows += o->takes[k];
  }
  free(rows);
  free(out);
  return s;
}

/* ---- the rows ----------------------------------------------------------------------------------------- */

static int64_t row_bytes(const FlArray *a) { return fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes; }

/* The argument before i that is the same array; i: none is. */
static int32_t same_as(const Order *o, int32_t i) {
  int32_t k = 0;
  while (o->here[k].a->data != o->here[i].a->data || row_bytes(o->here[k].a) != row_bytes(o->here[i].a)) k++;
  return k;
}

static FlStatus make_room(Order *o) {
  int64_t widest = 1, sent = -o->gives[o->cut->here];
  for (int32_t k = 0; k < o->cut->n; k++) sent += o->gives[k];
  for (int32_t i = 0; i < o->n; i++) {
    const FlArray *a = o->here[i].a;
    int64_t dims[FL_MAX_RANK];
    memcpy(dims, a->dims, sizeof dims);
    dims[0] = o->rows;
    if (row_bytes(a) > widest) widest = row_bytes(a);
    o->came[i].a = same_as(o, i) < i ? fl_array_ref(o->came[same_as(o, i)].a)
                                     : fl_array_new(o->ctx, a->dtype, a->rank, dims);
    if (!o->came[i].a) return FL_STATUS_MEMORY;
  }
  sent *= widest;
  o->packed = fl_array_new(o->ctx, FL_U8, 1, &sent);
  return o->packed ? 0 : FL_STATUS_MEMORY;
}

/* Those of one argument; `out` and `in`: room for a place a rank. */
static bool move(const Order *o, int32_t i, char **out, char **in) {
  int64_t size = row_bytes(o->here[i].a);
  char *to = o->came[i].a->data, *from = o->packed->data;
  for (int32_t k = 0; k < o->cut->n; k++) {
    bool own = k == o->cut->here;
    in[k] = to;
    out[k] = own ? to : from;
    to += o->takes[k] * size;
    from += own ? 0 : o->gives[k] * size;
  }
  fl_order_trade_pack(o->trade, o->here[i].a, out);
  return trade(o, out, in, size);
}

static FlStatus move_all(Order *o) {
  char **out = calloc(2 * (size_t)o->cut->n, sizeof *out);
  FlStatus s = meet(o, !out ? no_memory(o) : make_room(o));
  for (int32_t i = 0; i < o->n && !s; i++)
    if (same_as(o, i) == i && !move(o, i, out, out + o->cut->n)) s = fl_rows_lost(o->ctx);
  free(out);
  let_go(o);
  return s;
}

/* ---- their order -------------------------------------------------------------------------------------- */

typedef struct Numbers {
  int64_t *rows;
  const int64_t *number;
} Numbers;

static void number_body(void *env, int64_t from, int64_t to, int worker) {
  const Numbers *k = env;
  (void)worker;
  for (int64_t i = from; i < to; i++) k->rows[i] = k->number[k->rows[i]];
}

static FlStatus sort(Order *o, FlSlot *results) {
  const FlOpDesc *desc = o->desc;
  FlStatus s = desc->run(o->ctx, desc, o->came, results);
  bool own = !s;
  if (own && wants_numbers(desc)) {
    Numbers k = {results[0].a->data, o->came[desc->n_args].a->data};
    fl_parallel_for(o->ctx, o->rows, 1 << 14, number_body, &k);
  }
  release(o->came, o->n);
  s = meet(o, s);
  const FlCut *cut = s ? NULL : fl_rows_cut_by(o->ctx, 3);
  if (cut) return fl_rows_place(o->ctx, desc, cut, results);
  for (int32_t i = 0; i < desc->n_results && own; i++) fl_array_unref(results[i].a);
  return s ? s : FL_STATUS_MEMORY;
}

FlStatus fl_ranks_order(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                        FlSlot *results) {
  Order o = {.ctx = ctx, .desc = desc, .cut = cut};
  uint64_t *sample = NULL;
  FlStatus s = meet(&o, begin(&o, args));
  if (!s) s = look(&o, &sample);
  if (!s) s = meet(&o, fl_order_trade_find(o.trade, sample));
  free(sample);
  if (!s) s = count(&o);
  if (!s) s = move_all(&o);
  if (!s) s = sort(&o, results);
  end(&o);
  return s;
}
