/* ranks_orders.c: orders of rows that are in parts between ranks.
 *
 * In: an operator that sorts rows by numbers, and arrays of which each rank has some rows. Out: its results,
 * in parts: each rank has those between two cuts of the order. What always holds: rows go to whoever has
 * their part of the order (ranks_trade.c), and stand there as they stood among all; so the operator, run on
 * those that came, gives the order of one rank, equal rows included. In the place of texts the numbers of
 * their rows go, by which they are taken then (ranks_take.c). */
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
  for (int32_t i = 0; i < desc->n_results && !s; i++) {
    int64_t size = row_bytes(o->results[i].a), n = rows * size;
    char *to = (char *)o->results[i].a->data + (fl_cut_from(o->laid) + at) * size;
    if (n > 0) memcpy(to, sorted[i].a->data, (size_t)n);
    fl_array_unref(sorted[i].a);
  }
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

static FlStatus order_numbers(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
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

/* ---- texts --------------------------------------------------------------------------------------------- */

int32_t fl_key_args(const FlOpDesc *desc, int32_t n_columns) {
  int32_t n = 0;
  for (int32_t k = 0; k < n_columns; k++) n += desc->columns[k].flags & FL_COLUMN_NULLS ? 2 : 1;
  return n;
}

/* SORT_ROWS as two steps: of keys, columns of numbers and the numbers of rows, and of the columns of texts,
 * which are taken by these. */
typedef struct Split {
  FlOpDesc sort, take;
  FlType1 *types; /* [args, then results of both] */
  uint8_t *stays;
  FlSlot *args, *texts, *sorted, *taken;
  int32_t n_texts;
} Split;

static bool is_text(const FlOpDesc *desc, int32_t result) {
  return fl_dtype_is_text(desc->result_types[result].dtype);
}

static bool make_split(Split *s, const FlOpDesc *desc) {
  size_t most = (size_t)desc->n_args + 2;
  s->types = calloc(4 * most, sizeof *s->types);
  s->stays = calloc(2 * most, sizeof *s->stays);
  s->args = calloc(most, sizeof *s->args);
  s->texts = calloc(most, sizeof *s->texts);
  s->sorted = calloc(most, sizeof *s->sorted);
  s->taken = calloc(most, sizeof *s->taken);
  return s->types && s->stays && s->args && s->texts && s->sorted && s->taken;
}

/* What is sorted, and what is taken; `numbers` stand behind all that is sorted. */
static void split(Split *s, const FlOpDesc *desc, const FlSlot *args, FlArray *numbers) {
  const FlType1 number = {.dtype = FL_I64, .rank = 1};
  FlType1 *of_sort = s->types, *given = of_sort + desc->n_args + 2, *of_take = given + desc->n_args + 2,
          *took = of_take + desc->n_args + 2;
  uint8_t *stay = s->stays, *stay_texts = s->stays + desc->n_args + 2;
  int32_t n_keys = fl_key_args(desc, desc->n_columns), n = 0;
  s->sort = s->take = *desc;
  memcpy(s->args, args, (size_t)n_keys * sizeof *args);
  memcpy(of_sort, desc->arg_types, (size_t)n_keys * sizeof *of_sort);
  of_take[0] = number;
  for (int32_t i = 0; i < desc->n_results; i++) {
    if (is_text(desc, i)) {
      s->texts[1 + s->n_texts] = args[n_keys + i];
      of_take[1 + s->n_texts] = took[s->n_texts] = desc->result_types[i];
      stay_texts[s->n_texts++] = desc->stays[i];
    } else {
      s->args[n_keys + n] = args[n_keys + i];
      of_sort[n_keys + n] = given[n] = desc->result_types[i];
      stay[n++] = desc->stays[i];
    }
  }
  s->args[n_keys + n].a = numbers;
  of_sort[n_keys + n] = given[n] = number;
  stay[n++] = 1;
  s->sort.n_args = n_keys + n;
  s->sort.n_results = n;
  s->sort.arg_types = of_sort;
  s->sort.result_types = given;
  s->sort.stays = stay;
  s->take.n_args = 1 + s->n_texts;
  s->take.n_results = s->n_texts;
  s->take.arg_types = of_take;
  s->take.result_types = took;
  s->take.stays = stay_texts;
  s->take.i = FL_TAKE_PROVEN;
  s->take.columns = NULL;
  s->take.n_columns = 0;
  s->take.run = fl_rt_take;
}

/* The numbers of all rows, in parts. */
static FlArray *number_rows(FlCtx *ctx, const FlCut *cut) {
  int64_t n = fl_cut_rows(cut);
  FlArray *a = fl_array_new_part(ctx, FL_I64, 1, &n, cut);
  for (int64_t i = fl_cut_from(cut); a && i < fl_cut_to(cut); i++) ((int64_t *)a->data)[i] = i;
  return a;
}

static FlStatus order_split(FlCtx *ctx, Split *s, const FlOpDesc *desc, const FlCut *cut, FlSlot *results) {
  FlStatus status = order_numbers(ctx, &s->sort, cut, s->args, s->sorted);
  if (status) return status;
  bool done;
  int32_t n = s->sort.n_results - 1, at = 0, text = 0;
  s->texts[0] = s->sorted[n];
  status = fl_ranks_take(ctx, &s->take, s->texts, s->taken, &done);
  if (!status && !done) status = fl_rt_take(ctx, &s->take, s->texts, s->taken); /* all is whole */
  fl_array_unref(s->sorted[n].a);
  for (int32_t i = 0; i < n && status; i++) fl_array_unref(s->sorted[i].a);
  for (int32_t i = 0; i < desc->n_results && !status; i++)
    results[i] = is_text(desc, i) ? s->taken[text++] : s->sorted[at++];
  return status;
}

FlStatus fl_ranks_order(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                        FlSlot *results) {
  bool texts = false;
  for (int32_t i = 0; i < desc->n_results; i++) texts |= is_text(desc, i);
  if (!texts) return order_numbers(ctx, desc, cut, args, results);
  Split s = {.n_texts = 0};
  FlArray *numbers = number_rows(ctx, cut);
  bool fine = make_split(&s, desc) && numbers;
  FlStatus status = fl_rows_meet(ctx, desc->site, fine ? 0 : FL_STATUS_MEMORY);
  if (!status) {
    split(&s, desc, args, numbers);
    status = order_split(ctx, &s, desc, cut, results);
  }
  fl_array_unref(numbers);
  void *tables[] = {s.types, s.stays, s.args, s.texts, s.sorted, s.taken};
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) free(tables[k]);
  return status;
}
