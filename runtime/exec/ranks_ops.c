/* ranks_ops.c: runtime operators on arrays that are in parts between ranks.
 *
 * In: an operator, arrays of which each rank has some rows. Out: what it gives of its own rows, at each rank:
 * as many as it was given, or, of a filter, those that it kept, which then lie in other parts. Whoever needs
 * other rows gets whole arrays. What always holds: an operator's code sees no array that is in parts; where
 * it fails at some rank, all do it once more on whole arrays, and so fail as one rank does. */
#include "exec/ranks.h"

#include <string.h>

static bool is_parted(const FlOpDesc *desc, const FlSlot *args, int32_t i) {
  return fl_type_is_array(desc->arg_types[i]) && args[i].a && fl_array_cut(args[i].a);
}

/* The cut of the arrays that it works on by rows, all of which have as many; NULL: it does not. */
static const FlCut *cut_of(const FlOpDesc *desc, const FlSlot *args) {
  const FlCut *cut = NULL;
  for (int32_t i = 0; i < desc->n_args && desc->in_parts; i++)
    if (!cut && is_parted(desc, args, i) && desc->rows[i] == FL_ROWS_OWN) cut = fl_array_cut(args[i].a);
  for (int32_t i = 0; i < desc->n_args && cut; i++)
    if (desc->rows[i] == FL_ROWS_OWN && args[i].a->dims[0] != fl_cut_rows(cut)) cut = NULL;
  return cut;
}

static FlStatus make_whole(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, const FlCut *but) {
  FlStatus s = 0;
  for (int32_t i = 0; i < desc->n_args && !s; i++)
    if (is_parted(desc, args, i) && (fl_array_cut(args[i].a) != but || desc->rows[i] != FL_ROWS_OWN))
      s = fl_rows_gather(ctx, desc->site, args[i].a);
  return s;
}

FlStatus fl_rows_place(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, FlSlot *results) {
  FlStatus s = 0;
  int32_t array = 0;
  for (int32_t i = 0; i < desc->n_results; i++) {
    if (!fl_type_is_array(desc->result_types[i])) continue;
    FlArray *from = results[i].a;
    bool stays = desc->stays[array++] && fl_rows_are_many(ctx, fl_array_row_count(from) * fl_cut_rows(cut));
    results[i].a = s ? NULL : fl_part_place(ctx, from, cut);
    if (!s && !results[i].a) s = FL_STATUS_MEMORY;
    fl_array_unref(from);
    if (!s && !stays) s = fl_rows_gather(ctx, desc->site, results[i].a);
  }
  for (int32_t i = 0; i < desc->n_results && s; i++)
    if (fl_type_is_array(desc->result_types[i])) fl_array_unref(results[i].a);
  return s;
}

static FlStatus run_in_parts(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                             FlSlot *results) {
  FlStatus s = fl_part_run_here(ctx, desc, cut, args, results);
  bool kept = desc->in_parts == FL_PARTS_KEPT, own = !s;
  bool fault = s && ctx->error && ctx->error->status == 1; /* of the program, not of this machine */
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = desc->site,
                     .failed = !s || fault  ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .values = {fault, 0, 0, !s && kept ? results[0].i : 0}};
  if (fault) fl_fail_forget(ctx);
  s = fl_ranks_together(ctx, &mine);
  bool again = false;
  for (int32_t k = 0; k < ctx->ranks->n && !s; k++) again |= ctx->ranks->slots[k].values[0] != 0;
  if (!s && !again && kept) {
    cut = fl_rows_cut_by(ctx, 3);
    if (!cut) s = FL_STATUS_MEMORY;
    else results[0].i = fl_cut_rows(cut);
  }
  if (!s && !again) return fl_rows_place(ctx, desc, cut, results);
  for (int32_t i = 0; i < desc->n_results && own; i++)
    if (fl_type_is_array(desc->result_types[i])) fl_array_unref(results[i].a);
  if (!s) s = make_whole(ctx, desc, args, NULL);
  return s ? s : fl_ranks_op_whole(ctx, desc, args, results);
}

/* ---- joining lists ---------------------------------------------------------------------------------- */

/* The arrays of a list, of which each rank has some, as one array: each has the rows of its own. */
static FlStatus join_here(FlCtx *ctx, const FlOpDesc *desc, const FlArray *list, FlSlot *results) {
  const FlCut *cut = fl_array_cut(list);
  FlArray *const *arrays = list->data;
  int64_t rows = 0;
  for (int64_t i = fl_cut_from(cut); i < fl_cut_to(cut); i++) rows += arrays[i]->dims[0];
  FlStatus s = fl_ranks_together(
      ctx, &(FlRankSlot){.step = FL_RANKS_ROWS, .site = desc->site, .values = {0, 0, 0, rows}});
  const FlCut *laid = s ? NULL : fl_rows_cut_by(ctx, 3);
  if (s || !laid) return s ? s : FL_STATUS_MEMORY;
  int64_t total = fl_cut_rows(laid), at = fl_cut_from(laid);
  FlArray *a = fl_array_new_part(ctx, desc->result_types[0].dtype, 1, &total, laid);
  if (!a) return FL_STATUS_MEMORY;
  int64_t size = fl_dtype_info[a->dtype].bytes;
  for (int64_t i = fl_cut_from(cut); i < fl_cut_to(cut); at += arrays[i++]->dims[0])
    memcpy((char *)a->data + at * size, arrays[i]->data, (size_t)(arrays[i]->dims[0] * size));
  if (fl_dtype_is_text(a->dtype))
    s = fl_array_keep(ctx, a, NULL, arrays + fl_cut_from(cut), (int32_t)(fl_cut_to(cut) - fl_cut_from(cut)));
  if (!s && !fl_rows_are_many(ctx, total)) s = fl_rows_gather(ctx, desc->site, a);
  if (s) fl_array_unref(a);
  else results[0].a = a;
  return s;
}

/* ---- groups ----------------------------------------------------------------------------------------- */

/* By states of the own rows; else on whole arrays, by who asks. */
static FlStatus run_groups(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  const FlCut *cut = NULL;
  FlStatus s = 0;
  bool done = true;
  for (int32_t i = 0; i < desc->n_args; i++)
    if (!cut && is_parted(desc, args, i)) cut = fl_array_cut(args[i].a);
  for (int32_t i = 0; i < desc->n_args && !s; i++) {
    if (!fl_type_is_array(desc->arg_types[i])) continue;
    done &= args[i].a->dims[0] == fl_cut_rows(cut); /* who asks says that they differ */
    if (is_parted(desc, args, i) && fl_array_cut(args[i].a) != cut)
      s = fl_rows_gather(ctx, desc->site, args[i].a);
  }
  if (!s && done) s = fl_ranks_groups(ctx, desc, cut, args, results, &done);
  if (s || done) return s;
  s = fl_part_all_whole(ctx, desc->site, desc->name, desc->n_args, desc->arg_types, args);
  return s ? s : fl_ranks_op_whole(ctx, desc, args, results);
}

/* Of operators that say themselves how they can be cut (FlOpPart). */
static FlRanksOp *cut_op(const FlOpDesc *desc) {
  if (desc->in_parts == FL_PARTS_PRODUCT) return fl_ranks_product;
  if (desc->in_parts == FL_PARTS_ORDER) return fl_ranks_sort;
  if (desc->in_parts == FL_PARTS_TAKE) return fl_ranks_take;
  if (desc->in_parts == FL_PARTS_PAIRS) return fl_ranks_join;
  if (desc->in_parts == FL_PARTS_READ) return fl_ranks_read;
  if (desc->in_parts == FL_PARTS_SLICE) return fl_ranks_slice;
  return desc->in_parts == FL_PARTS_SWEEP ? fl_ranks_sweep : NULL;
}

FlStatus fl_ranks_op(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlRanksOp *op = cut_op(desc);
  if (op) {
    bool done;
    FlStatus s = op(ctx, desc, args, results, &done);
    return s || done ? s : fl_ranks_op_whole(ctx, desc, args, results);
  }
  bool any = false;
  for (int32_t i = 0; i < desc->n_args; i++) any |= is_parted(desc, args, i);
  if (!any) return fl_ranks_op_whole(ctx, desc, args, results);
  if (desc->in_parts == FL_PARTS_SUMS) return fl_ranks_op_whole(ctx, desc, args, results);
  if (desc->in_parts == FL_PARTS_JOIN) return join_here(ctx, desc, args[0].a, results);
  if (desc->in_parts == FL_PARTS_GROUPS) return run_groups(ctx, desc, args, results);
  const FlCut *cut = cut_of(desc, args);
  FlStatus s = make_whole(ctx, desc, args, cut);
  if (s) return s;
  return cut ? run_in_parts(ctx, desc, cut, args, results) : fl_ranks_op_whole(ctx, desc, args, results);
}
