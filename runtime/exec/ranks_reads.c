/* ranks_reads.c: rows of files that are read in parts between ranks, and a few neighbouring rows of arrays
 * that are in parts.
 *
 * In: READ_TABLE or TABLE_PART of all rows, of a file that says how many it has (io/table_rows.c); ROWS of
 * an array of which each rank has some. Out: columns that may stay in parts, of which each rank has read its
 * own rows, and the others, which each has read by itself; the rows of the slice, at all ranks. What always
 * holds: nothing of a file is sent; where rows cannot be read at some rank, all read the whole file, and so
 * fail as one rank does. */
#include "exec/ranks.h"

#include <stdlib.h>
#include <string.h>

typedef struct Reads {
  FlCtx *ctx;
  const FlOpDesc *desc;
  const FlSlot *args;
  FlSlot *results;
  FlColumnAttr *columns; /* [n_columns] of those that are read now */
  FlType1 *types;        /* [n_results] of them, behind the number of rows */
  FlSlot *some;          /* [n_results] what is read now */
} Reads;

static FlStatus ask(const Reads *r, const FlOpDesc *desc, FlOpPart *part, FlSlot *results) {
  return fl_op_in_part(r->ctx, desc, r->args, part, results);
}

/* Whether column k, whose values are result `at`, is read in parts: then its validity is, too. One of a
 * matrix is as the one before it. */
static bool is_in_parts(const Reads *r, int32_t k, int32_t at) {
  const FlOpDesc *d = r->desc;
  int32_t n = fl_column_results(&d->columns[k]), values = n ? at : at - 1;
  bool stays = d->stays[values - 1] && (n < 2 || d->stays[values]);
  return stays && !fl_dtype_is_text(d->result_types[values].dtype);
}

static int32_t count(const Reads *r, bool in_parts) {
  int32_t n = 0;
  for (int32_t k = 0, at = 1; k < r->desc->n_columns; at += fl_column_results(&r->desc->columns[k++]))
    n += is_in_parts(r, k, at) == in_parts;
  return n;
}

/* The operator for the columns that are in parts, or for the others. */
static FlOpDesc some_of(const Reads *r, bool in_parts) {
  FlOpDesc d = *r->desc;
  d.n_columns = 0;
  d.n_results = 1;
  d.columns = r->columns;
  d.result_types = r->types;
  d.stays = NULL;
  r->types[0] = r->desc->result_types[0];
  for (int32_t k = 0, at = 1; k < r->desc->n_columns; k++) {
    int32_t n = fl_column_results(&r->desc->columns[k]);
    bool takes = is_in_parts(r, k, at) == in_parts;
    if (takes) r->columns[d.n_columns++] = r->desc->columns[k];
    for (int32_t j = 0; j < n; j++, at++)
      if (takes) r->types[d.n_results++] = r->desc->result_types[at];
  }
  return d;
}

/* What was read goes to where the operator gives it. */
static void give(const Reads *r, bool in_parts) {
  int32_t from = 1;
  for (int32_t k = 0, at = 1; k < r->desc->n_columns; k++) {
    int32_t n = fl_column_results(&r->desc->columns[k]);
    bool takes = is_in_parts(r, k, at) == in_parts;
    for (int32_t j = 0; j < n; j++, at++)
      if (takes) r->results[at] = r->some[from++];
  }
}

static void let_go(const FlOpDesc *d, FlSlot *results) {
  for (int32_t i = 1; i < d->n_results; i++) {
    fl_array_unref(results[i].a);
    results[i].a = NULL;
  }
}

static FlStatus read_in_parts(const Reads *r, int64_t rows, const FlCut *cut) {
  FlOpDesc d = some_of(r, true);
  FlStatus s = 0;
  memset(r->some, 0, (size_t)d.n_results * sizeof *r->some);
  for (int32_t k = 0, i = 1; k < d.n_columns && !s; k++) {
    int64_t dims[2] = {rows, 1};
    while (k + dims[1] < d.n_columns && d.columns[k + dims[1]].flags & FL_COLUMN_BESIDE) dims[1]++;
    for (int32_t j = fl_column_results(&d.columns[k]); j > 0 && !s; j--, i++) {
      r->some[i].a = fl_array_new_part(r->ctx, d.result_types[i].dtype, d.result_types[i].rank, dims, cut);
      if (!r->some[i].a) s = FL_STATUS_MEMORY;
    }
  }
  FlOpPart part = {.rows = rows, .from = fl_cut_from(cut), .to = fl_cut_to(cut), .arrays = r->some};
  if (!s && part.from < part.to) s = ask(r, &d, &part, r->some);
  if (s) let_go(&d, r->some);
  else give(r, true);
  return s;
}

static FlStatus read_whole(const Reads *r) {
  FlOpDesc d = some_of(r, false);
  if (d.n_columns == 0) return 0;
  FlStatus s = d.run(r->ctx, &d, r->args, r->some);
  if (!s) give(r, false);
  return s;
}

/* Each its own part. *again: some cannot. */
static FlStatus read_all(const Reads *r, int64_t rows, const FlCut *cut, bool *again) {
  FlCtx *ctx = r->ctx;
  memset(r->results, 0, (size_t)r->desc->n_results * sizeof *r->results);
  FlStatus s = cut ? read_in_parts(r, rows, cut) : FL_STATUS_MEMORY;
  if (!s) s = read_whole(r);
  bool fault = s && ctx->error && ctx->error->status == 1; /* of the program, or the file */
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = r->desc->site,
                     .failed = !s || fault  ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .values = {fault}};
  if (fault) fl_fail_forget(ctx);
  s = fl_ranks_together(ctx, &mine);
  for (int32_t k = 0; k < ctx->ranks->n && !s; k++) *again |= ctx->ranks->slots[k].values[0] != 0;
  if (s || *again) let_go(r->desc, r->results);
  r->results[0].i = rows;
  return s;
}

FlStatus fl_ranks_read(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done) {
  Reads r = {.ctx = ctx, .desc = desc, .args = args, .results = results};
  FlOpPart part = {.rows = -1, .from = -1};
  int64_t least, most, n = count(&r, true);
  *done = false;
  if (!n) return 0;
  FlStatus s = ask(&r, desc, &part, NULL);
  if (!s) s = fl_ctx_agree(ctx, desc->site, part.rows, &least, &most);
  if (s || least != most || least < 0 || !fl_rows_are_many(ctx, least * n)) return s;
  r.columns = calloc((size_t)desc->n_columns + 1, sizeof *r.columns);
  r.types = calloc((size_t)desc->n_results + 1, sizeof *r.types);
  r.some = calloc((size_t)desc->n_results + 1, sizeof *r.some);
  bool again = false, room = r.columns && r.types && r.some;
  s = read_all(&r, least, room ? fl_rows_cut(ctx, least, 1) : NULL, &again);
  *done = !s && !again;
  free(r.columns);
  free(r.types);
  free(r.some);
  return s;
}

/* ---- slices ------------------------------------------------------------------------------------------- */

FlStatus fl_ranks_slice(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done) {
  FlArray *a = args[0].a;
  const FlCut *cut = fl_array_cut(a);
  int64_t from = args[1].i, to = args[2].i;
  *done = false;
  if (!cut) return 0;
  if (from < 0 || to < from || to > fl_cut_rows(cut)) return fl_rows_gather(ctx, desc->site, a);
  *done = true;
  int64_t dims[FL_MAX_RANK], *at = malloc((size_t)(cut->n + 1) * sizeof *at);
  for (int32_t k = 0; at && k <= cut->n; k++) {
    int64_t row = cut->at[k] < from ? from : cut->at[k] > to ? to : cut->at[k];
    at[k] = row - from;
  }
  const FlCut *laid = at ? fl_cut_of(ctx->run->cuts, at) : NULL;
  free(at);
  if (!laid) return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  memcpy(dims, a->dims, sizeof dims);
  dims[0] = to - from;
  FlArray *out = fl_array_new_part(ctx, a->dtype, a->rank, dims, laid);
  int64_t row = fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes;
  int64_t first = fl_cut_from(laid), n = fl_cut_to(laid) - first;
  if (out && n > 0)
    memcpy((char *)out->data + first * row, (char *)a->data + (from + first) * row, (size_t)(n * row));
  FlStatus s = out ? fl_array_keep(ctx, out, NULL, &a, 1) : FL_STATUS_MEMORY;
  s = fl_rows_meet(ctx, desc->site, s);
  if (!s) s = fl_rows_gather(ctx, desc->site, out);
  if (s) fl_array_unref(out);
  else results[0].a = out;
  return s;
}
