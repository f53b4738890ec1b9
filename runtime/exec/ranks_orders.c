/* ranks_orders.c: orders of rows that are in parts between ranks.
 *
 * In: an operator that sorts rows, and arrays of which each rank has some rows. Out: its results, in parts:
 * each rank has those between two cuts of the order. What always holds: rows go to whoever has their part of
 * the order (ranks_trade.c), and stand there as they stood among all; so the operator, run on those that
 * came, gives the order of one rank, equal rows included. */
#include "exec/ranks_trade.h"
#include "part/part.h"

#include <stdlib.h>
#include <string.h>

typedef struct Order {
  FlTrade trade;
  const FlOpDesc *desc;
  const FlCut *laid; /* how the results lie */
  FlSlot *results;
} Order;

int32_t fl_key_args(const FlOpDesc *desc, int32_t n_columns) {
  int32_t n = 0;
  for (int32_t k = 0; k < n_columns; k++) n += desc->columns[k].flags & FL_COLUMN_NULLS ? 2 : 1;
  return n;
}

/* The argument whose rows result i has, but for the type of numbers of rows. */
static int32_t like(const FlOpDesc *desc, int32_t i) { return desc->n_args - desc->n_results + i; }

static int64_t row_bytes(const FlArray *a) { return fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes; }

/* The results, in parts by the cut that all know by now. */
static FlStatus make_room(Order *o, const FlSlot *args) {
  const FlOpDesc *desc = o->desc;
  FlCtx *ctx = o->trade.ctx;
  o->laid = fl_rows_cut_by(ctx, 3);
  for (int32_t i = 0; i < desc->n_results && o->laid; i++) {
    const FlArray *a = args[like(desc, i)].a;
    int64_t dims[FL_MAX_RANK];
    memcpy(dims, a->dims, sizeof dims);
    dims[0] = fl_cut_rows(o->laid);
    o->results[i].a = fl_array_new_part(ctx, desc->result_types[i].dtype, a->rank, dims, o->laid);
    if (!o->results[i].a) return FL_STATUS_MEMORY;
  }
  return o->laid ? 0 : FL_STATUS_MEMORY;
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

static FlStatus sort_piece(void *env, const FlSlot *arrays, int64_t rows, int64_t at) {
  const Order *o = env;
  const FlOpDesc *desc = o->desc;
  FlSlot *sorted = calloc((size_t)desc->n_results, sizeof *sorted);
  if (!sorted) return fl_fail_op(o->trade.ctx, desc, FL_FAULT_MEMORY, "out of memory");
  FlStatus s = desc->run(o->trade.ctx, desc, arrays, sorted);
  if (!s && o->trade.numbered) {
    Numbers k = {sorted[0].a->data, arrays[desc->n_args].a->data};
    fl_parallel_for(o->trade.ctx, rows, 1 << 14, number_body, &k);
  }
  bool made = !s;
  for (int32_t i = 0; i < desc->n_results && !s; i++) {
    int64_t size = row_bytes(o->results[i].a), n = rows * size;
    char *to = (char *)o->results[i].a->data + (fl_cut_from(o->laid) + at) * size;
    if (n > 0) memcpy(to, sorted[i].a->data, (size_t)n);
    if (fl_dtype_is_text(sorted[i].a->dtype))
      s = fl_array_keep(o->trade.ctx, o->results[i].a, NULL, &sorted[i].a, 1);
  }
  for (int32_t i = 0; i < desc->n_results && made; i++) fl_array_unref(sorted[i].a);
  free(sorted);
  return s;
}

/* Those that must be whole, or are few. */
static FlStatus gather(const Order *o) {
  FlStatus s = 0;
  FlCtx *ctx = o->trade.ctx;
  for (int32_t i = 0; i < o->desc->n_results && !s; i++) {
    int64_t elements = fl_array_row_count(o->results[i].a) * fl_cut_rows(o->laid);
    if (!o->desc->stays[i] || !fl_rows_are_many(ctx, elements))
      s = fl_rows_gather(ctx, o->desc->site, o->results[i].a);
  }
  return s;
}

FlStatus fl_ranks_order(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                        FlSlot *results) {
  Order o = {.trade = {.ctx = ctx,
                       .keys = desc,
                       .cut = cut,
                       .numbered = desc->run == fl_rt_sort_perm,
                       .n_arrays = desc->n_args},
             .desc = desc,
             .results = results};
  bool lost = false;
  for (int32_t i = 0; i < desc->n_results; i++) results[i].a = NULL;
  FlStatus s = fl_trade_begin(&o.trade, args);
  if (!s) s = fl_trade_meet(&o.trade, make_room(&o, args));
  if (!s) {
    s = fl_trade_pieces(&o.trade, sort_piece, &o, &lost);
    if (!lost) s = fl_trade_meet(&o.trade, s);
  }
  fl_trade_end(&o.trade);
  if (!s) s = gather(&o);
  for (int32_t i = 0; i < desc->n_results && s; i++) fl_array_unref(results[i].a);
  return s;
}
