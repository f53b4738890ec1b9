/* ranks_sorts.c: orders of rows, over ranks.
 *
 * In: an operator that sorts rows. Out: its results: each rank has made those between two cuts of the order,
 * which all find alike; they stay there, or go to all. What always holds: the order of rows is one, so that
 * it shows nowhere who made which part of it. Rows that are in parts go to whoever puts them in order
 * (ranks_orders.c). Of rows that are whole at all ranks each takes its share out; where that does not
 * pay, or a rank has no room, each makes all. */
#include "exec/ranks_args.h"
#include "exec/ranks_parts.h"
#include "part/part.h"

/* Bytes that go to all of a row of the result; -1: not only numbers. */
static int64_t sent_of_row(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, int64_t rows) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < desc->n_results; i++) {
    FlType1 t = desc->result_types[i];
    int32_t from = desc->n_args - desc->n_results + i; /* what is sorted, or its last key, has such rows */
    int64_t each = from < 0 ? 1 : fl_array_row_count(args[from].a);
    if (t.depth) return -1;
    if (desc->stays[i] && fl_rows_are_many(ctx, rows * each)) continue;
    if (fl_dtype_is_text(t.dtype)) return -1;
    bytes += each * fl_dtype_info[t.dtype].bytes;
  }
  return bytes;
}

/* Whether all ranks can look up so many bytes. */
static FlStatus have_room(FlCtx *ctx, const FlOpDesc *desc, int64_t bytes, bool *all) {
  FlRanks *r = ctx->ranks;
  FlRankSlot mine = {
      .step = FL_RANKS_ROWS, .site = desc->site, .values = {fl_pool_room(ctx->run->pool, bytes) >= bytes}};
  FlStatus s = fl_ranks_together(ctx, &mine);
  *all = !s;
  for (int32_t k = 0; k < r->n && *all; k++) *all = r->slots[k].values[0] != 0;
  return s;
}

/* The own share, at its place. */
static FlStatus run_share(FlCtx *ctx, const FlOpDesc *desc, FlOpPart *part, const FlSlot *args,
                          FlSlot *results) {
  FlStatus s = fl_op_in_part(ctx, desc, args, part, results);
  bool own = !s;
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = desc->site,
                     .failed = !s           ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .values = {0, 0, 0, own ? results[0].a->dims[0] : 0}};
  s = fl_ranks_together(ctx, &mine);
  const FlCut *cut = s ? NULL : fl_rows_cut_by(ctx, 3);
  if (cut) return fl_rows_place(ctx, desc, cut, results);
  if (!s) s = FL_STATUS_MEMORY;
  for (int32_t i = 0; i < desc->n_results && own; i++) fl_array_unref(results[i].a);
  return s;
}

/* The cut of what it is given, where all are arrays of so many rows, and some are in parts. */
static FlStatus cut_of(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, const FlCut **cut) {
  FlRowArgs by_rows = {desc, args, FL_ROWS_MOVE, -1};
  *cut = NULL;
  for (int32_t i = 0; i < desc->n_args; i++) {
    FlType1 t = desc->arg_types[i];
    if (!fl_type_is_array(t) || t.depth) return 0;
    if (args[i].a->dims[0] != args[0].a->dims[0]) return 0;
  }
  by_rows.rows = args[0].a->dims[0];
  return fl_row_args_lay(ctx, &by_rows, cut);
}

FlStatus fl_ranks_sort(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done) {
  FlRanks *r = ctx->ranks;
  FlOpPart part = {.from = -1};
  const FlCut *cut;
  FlStatus s = cut_of(ctx, desc, args, &cut);
  *done = cut != NULL;
  if (s || cut) return s ? s : fl_ranks_order(ctx, desc, cut, args, results);
  s = fl_part_all_whole(ctx, desc->site, desc->name, desc->n_args, desc->arg_types, args);
  if (!s) s = fl_op_in_part(ctx, desc, args, &part, results);
  if (s) return s;
  int64_t sent = sent_of_row(ctx, desc, args, part.rows);
  if (!part.unit || sent < 0 || !fl_ranks_share(r, part.rows, part.cost, sent * part.rows)) return 0;
  s = have_room(ctx, desc, part.bytes, done);
  if (s || !*done) return s;
  part.from = r->here;
  part.to = r->n;
  return run_share(ctx, desc, &part, args, results);
}
