/* parted.c: the door through which steps get arrays, where these may be here in part
 * (docs/decisions/parted-arrays.md).
 *
 * In: a step, what it takes, and which rows it needs of each. Out: the step run on the rows that are here,
 * its results parted as what it takes; or, where it needs rows that are in other parts, on whole arrays, of
 * several ranks (ranks_ops.c, ranks_parts.c), and else an error that names it. What always holds: an
 * operator's code sees whole arrays alone, a kernel the elements alone whose rows are here. A run in which
 * nothing is parted pays for asking whether it is one. */
#include "exec/exec_internal.h"
#include "exec/moved.h"
#include "exec/ranks.h"
#include "exec/strips.h"
#include "data/unwritten.h"
#include "part/fill.h"

#include <stdlib.h>
#include <string.h>

bool fl_run_parts(FlRun *run, int32_t n, int32_t here) {
  run->cuts = fl_cuts_new(n, here);
  run->shared |= run->cuts != NULL;
  return run->cuts != NULL;
}

FlCuts *fl_ctx_cuts(const FlCtx *ctx) { return ctx && ctx->run ? ctx->run->cuts : NULL; }
int64_t fl_ctx_first_row(const FlCtx *ctx) { return ctx ? ctx->first_row : 0; }
FlOpPart *fl_ctx_op_part(const FlCtx *ctx) { return ctx ? ctx->op_part : NULL; }

FlStatus fl_op_in_part(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlOpPart *part,
                       FlSlot *results) {
  ctx->op_part = part;
  FlStatus s = desc->run(ctx, desc, args, results);
  ctx->op_part = NULL;
  return s;
}

/* The compiler parts no array that such a step takes. */
static FlStatus refuse(FlCtx *ctx, int32_t site, const char *what, const char *why) {
  return fl_fail_text(ctx, site, FL_CODE_INTERNAL, "bug in flow: `%s` %s, and the array is here in part",
                      what, why);
}

static const char *const needs[FL_N_ROWS] = {[FL_ROWS_NEAR] = "needs rows of its neighbours",
                                             [FL_ROWS_FOLD] = "folds all rows",
                                             [FL_ROWS_MOVE] = "exchanges rows",
                                             [FL_ROWS_ANY] = "needs any row"};

FlStatus fl_loop_cut(FlCtx *ctx, const FlLoopTakes *t, const FlSlot *values, int64_t length,
                     const FlCut **cut) {
  *cut = NULL;
  for (int32_t i = 0; i < t->n; i++) {
    if (ctx->ranks && t->rows[i] != FL_ROWS_NONE) {
      FlStatus s = fl_part_whole(ctx, t->site, t->what, values[i].a);
      if (s) return s;
    }
    const FlCut *c = t->rows[i] == FL_ROWS_NONE ? NULL : fl_array_cut(values[i].a);
    if (!c) continue;
    if (t->rows[i] != FL_ROWS_OWN) return refuse(ctx, t->site, t->what, needs[t->rows[i]]);
    if (!t->by_rows) return refuse(ctx, t->site, t->what, "gives its result whole");
    if (fl_cut_rows(c) != length) return refuse(ctx, t->site, t->what, "goes over other rows");
    if (*cut && *cut != c) return refuse(ctx, t->site, t->what, "takes rows that are cut in two ways");
    *cut = c;
  }
  return 0;
}

FlStatus fl_part_has(FlCtx *ctx, int32_t site, const FlArray *a, int64_t row) {
  const FlCut *cut = fl_array_cut(a);
  if (!cut || (row >= fl_cut_from(cut) && row < fl_cut_to(cut))) return 0;
  return refuse(ctx, site, "load", "needs a row of another part");
}

FlStatus fl_part_whole(FlCtx *ctx, int32_t site, const char *what, FlArray *a) {
  if (!fl_ctx_cuts(ctx) || !a || !fl_array_cut(a)) return 0;
  return ctx->ranks ? fl_rows_gather(ctx, site, a) : refuse(ctx, site, what, needs[FL_ROWS_ANY]);
}

FlStatus fl_gather(FlCtx *ctx, int32_t site, FlArray *a) { return fl_part_whole(ctx, site, "load", a); }

FlStatus fl_part_all_whole(FlCtx *ctx, int32_t site, const char *what, int32_t n, const FlType1 *types,
                           const FlSlot *values) {
  FlStatus s = 0;
  for (int32_t i = 0; fl_ctx_cuts(ctx) && i < n && !s; i++)
    if (fl_type_is_array(types[i])) s = fl_part_whole(ctx, site, what, values[i].a);
  return s;
}

FlArray *fl_array_new_apart(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims) {
  int64_t n = 1;
  for (int32_t k = 0; ctx->ranks && k < rank; k++)
    if (dims[k] <= 0 || __builtin_mul_overflow(n, dims[k], &n)) n = 0, k = rank;
  if (fl_rows_are_many(ctx, n)) return fl_array_new_addresses(ctx, dtype, rank, dims);
  return fl_array_new(ctx, dtype, rank, dims);
}

/* ---- arrays that are not written yet ------------------------------------------------------------------- */

/* `stay`: FL_CODES_TAKEN, FL_SELECTED_TAKEN. */
static FlStatus fill(FlCtx *ctx, int32_t n, const FlType1 *types, const FlSlot *values, int32_t stay) {
  FlStatus s = 0;
  for (int32_t i = 0; i < n && !s; i++) {
    const FlArray *a = fl_type_is_array(types[i]) && !types[i].depth ? values[i].a : NULL;
    if (!a || !fl_array_is_unwritten(a)) continue;
    if (!(stay & (fl_array_is_coded(a) ? FL_CODES_TAKEN : FL_SELECTED_TAKEN))) s = fl_part_fill(ctx, a);
  }
  return s;
}

FlStatus fl_fill_all(FlCtx *ctx, int32_t n, const FlType1 *types, const FlSlot *values) {
  return fill(ctx, n, types, values, 0);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

FlStatus fl_part_kernel(FlCtx *ctx, const FlKernel *k, const FlSlot *env, int64_t *begin, int64_t *end) {
  const FlLoopTakes takes = {k->name, k->site, k->n_uses, k->rows, k->by_rows};
  const FlSlot *sizes = env + k->n_uses, *results = sizes + k->n_sizes;
  const FlCut *cut;
  int64_t rows = sizes[0].i;
  FlStatus s = fl_loop_cut(ctx, &takes, env, rows, &cut);
  if (s || !cut) return s;
  int64_t each = rows > 0 ? *end / rows : 0; /* elements of a row */
  *begin = each * fl_cut_from(cut);
  *end = each * fl_cut_to(cut);
  for (int32_t i = 0; i < k->n_results && !s; i++) {
    bool filled = false; /* it is written over what it is computed from */
    for (int32_t j = 0; j < k->n_uses; j++) filled |= k->rows[j] == FL_ROWS_OWN && env[j].a == results[i].a;
    s = fl_array_become_part(ctx, results[i].a, cut, filled ? *begin : *end, *end);
  }
  return s;
}

/* ---- runtime operators -------------------------------------------------------------------------------- */

FlArray *fl_part_place(FlCtx *ctx, FlArray *from, const FlCut *cut) {
  int64_t dims[FL_MAX_RANK];
  memcpy(dims, from->dims, sizeof dims);
  dims[0] = fl_cut_rows(cut);
  FlArray *a = fl_array_new_part(ctx, from->dtype, from->rank, dims, cut);
  int64_t row = fl_array_row_count(from) * fl_dtype_info[from->dtype].bytes, n = fl_array_bytes(from);
  if (a && n) memcpy((char *)a->data + row * fl_cut_from(cut), from->data, (size_t)n);
  if (a && fl_array_keep(ctx, a, NULL, &from, 1)) {
    fl_array_unref(a);
    return NULL;
  }
  return a;
}

/* What the operator gave of the rows that are here, as rows of the whole. */
static FlStatus place_results(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, FlSlot *results) {
  FlStatus s = 0;
  for (int32_t i = 0; i < desc->n_results; i++) {
    FlArray *from = results[i].a;
    bool fits = from->dims[0] == fl_cut_to(cut) - fl_cut_from(cut);
    if (!fits && !s) s = fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "bug in flow: an operator gave other rows");
    results[i].a = s ? NULL : fl_part_place(ctx, from, cut);
    if (!s && !results[i].a) s = FL_FAULT_MEMORY;
    fl_array_unref(from);
  }
  for (int32_t i = 0; i < desc->n_results && s; i++) fl_array_unref(results[i].a);
  return s;
}

FlArray *fl_part_here(FlCtx *ctx, const FlArray *a, const FlCut *cut) {
  if (fl_array_cut(a)) return fl_array_rows_here(ctx, a);
  return fl_array_view_rows(ctx, a, fl_cut_from(cut), fl_cut_to(cut));
}

FlStatus fl_part_run_here(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                          FlSlot *results) {
  FlSlot *mine = malloc((size_t)(desc->n_args + 1) * sizeof *mine);
  if (!mine) return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  FlStatus s = 0;
  for (int32_t i = 0; i < desc->n_args; i++) {
    mine[i] = args[i];
    if (desc->rows[i] != FL_ROWS_OWN) continue;
    mine[i].a = s ? NULL : fl_part_here(ctx, args[i].a, cut);
    if (!mine[i].a) s = FL_FAULT_MEMORY;
  }
  int64_t before = ctx->first_row;
  ctx->first_row = fl_cut_from(cut);
  if (!s) s = desc->run(ctx, desc, mine, results);
  ctx->first_row = before;
  for (int32_t i = 0; i < desc->n_args; i++)
    if (desc->rows[i] == FL_ROWS_OWN) fl_array_unref(mine[i].a);
  free(mine);
  return s;
}

static FlStatus run_and_place(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                              FlSlot *results) {
  FlStatus s = fl_part_run_here(ctx, desc, cut, args, results);
  return s ? s : place_results(ctx, desc, cut, results);
}

static FlStatus run_parted(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  const FlLoopTakes takes = {desc->name, desc->site, desc->n_args, desc->rows, desc->by_rows};
  int64_t rows = -1;
  for (int32_t i = 0; i < desc->n_args; i++) {
    if (desc->rows[i] != FL_ROWS_OWN) continue;
    if (rows >= 0 && rows != args[i].a->dims[0]) rows = INT64_MAX; /* it says itself that they differ */
    else if (rows < 0) rows = args[i].a->dims[0];
  }
  const FlCut *cut;
  FlStatus s = fl_loop_cut(ctx, &takes, args, rows, &cut);
  if (s) return s;
  return cut ? run_and_place(ctx, desc, cut, args, results) : desc->run(ctx, desc, args, results);
}

/* An operator that is run strip by strip with others; over ranks ranks_products.c sees to it. */
static FlStatus run_strips(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                           bool *done) {
  *done = false;
  if (!desc->strips || ctx->ranks || (ctx->run->cuts && !ctx->run->options.ranks)) return 0;
  return desc->strips == FL_STRIPS_FIRST ? fl_strips_first(ctx, desc, args, results, done)
                                         : fl_strips_last(ctx, desc, args, results, done);
}

static FlStatus run_op(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  bool done;
  if (desc->strips == FL_STRIPS_FIRST) fl_strips_drop(ctx); /* of steps whose last one never came */
  FlStatus s = fill(ctx, desc->n_args, desc->arg_types, args, desc->codes);
  if (!s) s = run_strips(ctx, desc, args, results, &done);
  if (s || done) return s;
  if (!ctx->run || !ctx->run->shared) return desc->run(ctx, desc, args, results);
  if (ctx->ranks) return fl_ranks_op(ctx, desc, args, results);
  if (ctx->run->options.ranks) return desc->run(ctx, desc, args, results); /* of a task: all is whole there */
  return ctx->run->cuts ? run_parted(ctx, desc, args, results) : desc->run(ctx, desc, args, results);
}

/* What an operator was given and gave, for the record. Rows in: of its first array. Rows out: the number that
 * it says, else of its first array; one that says first whether it gives any (`group_rows`), and gives none,
 * has none. */
typedef struct Moved {
  int64_t rows_in, rows_out, bytes;
} Moved;

static int64_t rows_given(const FlOpDesc *desc, const FlSlot *args) {
  for (int32_t i = 0; i < desc->n_args; i++)
    if (fl_type_is_array(desc->arg_types[i]) && args[i].a) return args[i].a->dims[0];
  return -1;
}

static Moved moved_by(const FlOpDesc *desc, int64_t rows_in, const FlSlot *results) {
  Moved m = {rows_in, -1, 0};
  int32_t first =
      desc->n_results && desc->result_types[0].dtype == FL_BOOL && !fl_type_is_array(desc->result_types[0]);
  if (first && !results[0].i) return m;
  for (int32_t i = first; i < desc->n_results; i++) {
    FlType1 t = desc->result_types[i];
    if (!fl_type_is_array(t) && t.dtype == FL_I64 && i == first) m.rows_out = results[i].i;
    if (!fl_type_is_array(t) || !results[i].a) continue;
    if (m.rows_out < 0) m.rows_out = results[i].a->dims[0];
    /* Of its own type: row numbers may be smaller than others think, or have no memory. */
    if (!t.depth && results[i].a->buffer) m.bytes += fl_array_bytes(results[i].a);
  }
  return m;
}

static FlStatus run_told(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlStatus tried = fl_tried_op(ctx, desc, args);
  if (tried) return tried;
  FlReport *report = ctx->run ? ctx->run->report : NULL;
  if (!report) return run_op(ctx, desc, args, results);
  int worker = fl_sched_worker(ctx->run->sched);
  FlPlaceMark mark = fl_report_begin(report, worker, desc->name, desc->site);
  /* Before they are written in place, or let go of. */
  int64_t rows_in = rows_given(desc, args), given = fl_report_times(mark) ? fl_moved_to_op(desc, args) : -1;
  FlStatus s = run_op(ctx, desc, args, results);
  if (desc->strips && mark.begin >= 0) mark.begin += fl_strips_elsewhere(ctx);
  Moved m = s ? (Moved){rows_in, -1, 0} : moved_by(desc, rows_in, results);
  if (desc->passes == FL_PASSES_FEWER) m.rows_in = m.rows_out = -1;
  if (desc->passes == FL_PASSES_CHAINED) m.rows_in = -1;
  int64_t moved = s ? -1 : fl_moved_by_op(desc, given, results);
  int64_t end = fl_report_end(report, mark, m.rows_in, m.rows_out, m.bytes, moved);
  if (end >= 0 && fl_report_wants_operators(report)) {
    const FlProgram *p = ctx->run->program;
    int32_t line = p && desc->site >= 0 && desc->site < p->n_sites ? p->sites[desc->site].line : 0;
    fl_report_operator(report, desc->name, line, worker, mark.begin, end);
  }
  return s;
}

FlStatus fl_run_op(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlStatus s = run_told(ctx, desc, args, results);
  if (desc->seen && !s) fl_seen(ctx, desc->seen, results);
  return s;
}
