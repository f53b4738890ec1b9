/* ranks_sweeps.c: operators that sweep rows which are in parts between ranks, or that ranks share: the
 * nearest center of each row, sums and counts of rows by label.
 *
 * In: such an operator, which says how many rows a leaf of its fold has. Out: what it says of each row, at
 * the ranks that have it; what it sums over all, whole at all ranks. What always holds: a rank sweeps the
 * largest complete subtrees of leaves that begin in its rows, each as if there were no other rows; their sums
 * go to all, which join them by the tree of folds: the bits of one rank. Where one fails, all do it once more
 * on whole arrays, and so fail as one rank does. */
#include "exec/ranks_args.h"
#include "exec/ranks_parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct Sweep {
  FlBorders borders;
  const FlOpDesc *desc;
  const FlSlot *args;
  FlRowArgs by_rows;
  bool parted; /* some of them were in parts, and so results stay */
  FlOpPart part;
  FlSlot *results; /* sums of no rows at first */
  FlSlot *given;   /* of a subtree: its arguments, then its results */
  FlArray *views;  /* its rows of the arguments */
  FlArray **rows;  /* by result: of each row, in parts; NULL: it is a sum */
  char **states;   /* by result: of sums */
} Sweep;

static bool is_of_rows(const Sweep *s, int32_t i) { return i < s->part.of_rows; }

static FlStatus ask(Sweep *s, const FlSlot *args, FlSlot *results) {
  return fl_op_in_part(s->borders.ctx, s->desc, args, &s->part, results);
}

/* Rows [from, to) alone. */
static FlStatus ask_rows(Sweep *s, int64_t from, int64_t to, FlSlot *results) {
  for (int32_t i = 0; i < s->desc->n_args; i++) {
    s->given[i] = s->args[i];
    if (!fl_row_args_has(&s->by_rows, i)) continue;
    fl_borrow_rows(s->args[i].a, from, to, &s->views[i]);
    s->given[i].a = &s->views[i];
  }
  s->part.from = from;
  s->part.to = to;
  for (int32_t i = 0; i < s->part.of_rows; i++) {
    FlArray *rows = s->rows[i];
    int64_t bytes = rows ? fl_array_row_count(rows) * fl_dtype_info[rows->dtype].bytes : 0;
    s->part.to_rows[i] = rows ? (char *)rows->data + from * bytes : NULL;
  }
  return ask(s, s->given, results);
}

static void unref_all(const FlOpDesc *desc, FlSlot *results) {
  for (int32_t i = 0; i < desc->n_results; i++)
    if (fl_type_is_array(desc->result_types[i])) fl_array_unref(results[i].a);
}

/* How many numbers a sum has, and of which type. */
static int64_t width_of(const Sweep *s, int32_t i, int32_t *dtype) {
  bool array = fl_type_is_array(s->desc->result_types[i]);
  *dtype = s->desc->result_types[i].dtype;
  return array ? fl_array_count(s->results[i].a) : 1;
}

static int64_t state_bytes(const Sweep *s, int32_t i) {
  int32_t dtype;
  int64_t width = width_of(s, i, &dtype);
  return width * fl_dtype_info[dtype].bytes;
}

/* ---- before ------------------------------------------------------------------------------------------- */

/* Sums of no rows say how large sums are. */
static FlStatus begin(Sweep *s) {
  const FlOpDesc *desc = s->desc;
  size_t n = (size_t)(desc->n_args + desc->n_results + 1);
  s->given = calloc(n, sizeof *s->given);
  s->views = calloc(n, sizeof *s->views);
  s->rows = calloc(n, sizeof *s->rows);
  s->states = calloc(n, sizeof *s->states);
  if (!s->given || !s->views || !s->rows || !s->states)
    return fl_fail_op(s->borders.ctx, desc, FL_FAULT_MEMORY, "out of memory");
  return ask_rows(s, 0, 0, s->results);
}

static void end(Sweep *s) {
  for (int32_t i = 0; s->states && i < s->desc->n_results; i++) free(s->states[i]);
  free(s->states);
  free(s->rows);
  free(s->views);
  free(s->given);
}

/* All rows are whole at all ranks: whether each does its part of them, by what is sent. */
static bool is_shared(const Sweep *s) {
  FlRanks *r = s->borders.ctx->ranks;
  int64_t sent = 0, array = 0;
  if (s->part.rows < 2 * s->part.unit) return false;
  for (int32_t i = 0; i < s->desc->n_results; i++) {
    bool stays = fl_type_is_array(s->desc->result_types[i]) && s->desc->stays[array++] &&
                 fl_rows_are_many(s->borders.ctx, s->part.rows);
    if (!is_of_rows(s, i)) sent += state_bytes(s, i) * r->n * 2; /* subtrees of a rank: a few */
    else if (!stays) sent += s->part.rows * fl_dtype_info[s->desc->result_types[i].dtype].bytes;
  }
  return fl_ranks_share(r, s->part.rows, s->part.cost, sent);
}

/* Of each row: in the place of what came in, or in new memory. */
static FlArray *make_rows(Sweep *s, int32_t i) {
  FlCtx *ctx = s->borders.ctx;
  int32_t from = s->part.in_place[i];
  bool same = from >= 0 && fl_array_cut(s->args[from].a) == s->borders.cut;
  FlArray *own = same ? fl_array_reuse(s->args[from].a) : NULL;
  if (own) return own;
  int64_t dims[FL_MAX_RANK];
  const FlArray *none = s->results[i].a;
  memcpy(dims, none->dims, sizeof dims);
  dims[0] = s->part.rows;
  return fl_array_new_part(ctx, none->dtype, none->rank, dims, s->borders.cut);
}

static FlStatus make_room(Sweep *s) {
  FlCtx *ctx = s->borders.ctx;
  int32_t here = ctx->ranks->here;
  int64_t trees = fl_borders_subtrees_before(&s->borders, s->borders.cut->n);
  int64_t from = fl_borders_begin(&s->borders, here), to = fl_borders_begin(&s->borders, here + 1);
  FlStatus status = 0;
  for (int32_t i = 0; i < s->desc->n_results && !status; i++) {
    if (is_of_rows(s, i)) {
      s->rows[i] = make_rows(s, i);
      if (!s->rows[i]) status = FL_STATUS_MEMORY;
      else if (from < to) status = fl_array_open_rows(ctx, s->rows[i], from, to);
    } else {
      s->states[i] = malloc((size_t)(trees * state_bytes(s, i)) + 1);
      if (!s->states[i]) status = fl_fail_op(ctx, s->desc, FL_FAULT_MEMORY, "out of memory");
    }
  }
  return status;
}

/* ---- the sweep ---------------------------------------------------------------------------------------- */

/* The sums of a subtree go to their places; `at`: which of all it is. */
static void put(Sweep *s, FlSlot *results, int64_t at) {
  for (int32_t i = s->part.of_rows; i < s->desc->n_results; i++) {
    bool array = fl_type_is_array(s->desc->result_types[i]);
    int64_t bytes = state_bytes(s, i);
    memcpy(s->states[i] + at * bytes, array ? results[i].a->data : (const void *)&results[i], (size_t)bytes);
  }
  unref_all(s->desc, results);
}

static FlStatus sweep_own(Sweep *s) {
  FlCtx *ctx = s->borders.ctx;
  FlSubtree trees[FL_SUBTREES];
  int32_t here = ctx->ranks->here, n = fl_borders_subtrees(&s->borders, here, trees);
  int64_t first = fl_borders_subtrees_before(&s->borders, here);
  FlSlot *results = s->given + s->desc->n_args;
  FlStatus status = 0;
  for (int32_t i = 0; i < n && !status; i++) {
    if (fl_ctx_is_stopped(ctx)) return fl_fail_stopped(ctx);
    int64_t from = trees[i].leaf * s->part.unit, to = from + trees[i].n * s->part.unit;
    status = ask_rows(s, from, to < s->part.rows ? to : s->part.rows, results);
    if (!status) put(s, results, first + i);
  }
  return status;
}

/* The ranks meet. *again: at one of them a row failed. */
static FlStatus agree(Sweep *s, FlStatus own, bool *again) {
  FlCtx *ctx = s->borders.ctx;
  bool fault = own && ctx->error && ctx->error->status == 1; /* of the program, not of this machine */
  int32_t failed = !own || fault ? 0 : ctx->error ? ctx->error->status : FL_STATUS_MEMORY;
  FlRankSlot mine = {
      .step = FL_RANKS_ROWS, .site = s->desc->site, .failed = failed, .values = {fault, 0, 0, 0}};
  if (fault) fl_fail_forget(ctx);
  FlStatus status = fl_ranks_together(ctx, &mine);
  for (int32_t k = 0; k < ctx->ranks->n && !status; k++) *again |= ctx->ranks->slots[k].values[0] != 0;
  return status;
}

/* What all gave, together; *again: a sum of integers has no place. */
static FlStatus join(Sweep *s, bool *again) {
  FlCtx *ctx = s->borders.ctx;
  FlStatus status = 0;
  int32_t array = 0;
  for (int32_t i = 0; i < s->desc->n_results && !status; i++) {
    bool is_in_array = fl_type_is_array(s->desc->result_types[i]), fits = true;
    bool many = s->parted || fl_rows_are_many(ctx, s->part.rows);
    bool stays = is_in_array && s->desc->stays[array++] && many;
    if (is_of_rows(s, i)) {
      if (!fl_borders_return(&s->borders, s->rows[i])) status = fl_rows_lost(ctx);
      if (!status) fl_array_shut(s->rows[i]);
      if (!status && !stays) status = fl_rows_gather(ctx, s->desc->site, s->rows[i]);
    } else {
      int32_t dtype;
      int64_t width = width_of(s, i, &dtype);
      void *out = is_in_array ? s->results[i].a->data : (void *)&s->results[i];
      if (width) status = fl_borders_sum(&s->borders, dtype, width, s->states[i], out, &fits);
      *again |= !fits;
    }
  }
  return status;
}

static FlStatus run(Sweep *s, bool *again) {
  FlStatus status = fl_row_args_bring(&s->by_rows, &s->borders);
  if (!status) status = make_room(s);
  if (!status) status = sweep_own(s);
  status = agree(s, status, again);
  if (!status && !*again) status = join(s, again);
  fl_row_args_shut(&s->by_rows);
  for (int32_t i = 0; i < s->part.of_rows; i++) {
    bool given = !status && !*again;
    fl_array_unref(given ? s->results[i].a : s->rows[i]);
    if (given) s->results[i].a = s->rows[i];
  }
  return status;
}

FlStatus fl_ranks_sweep(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done) {
  Sweep s = {.borders = {.ctx = ctx}, .desc = desc, .args = args, .part = {.from = -1}, .results = results};
  const FlCut *cut = NULL;
  bool again = false;
  FlStatus status = ask(&s, args, results);
  s.by_rows = (FlRowArgs){desc, args, FL_ROWS_FOLD, s.part.rows};
  if (!status) status = fl_row_args_lay(ctx, &s.by_rows, &cut);
  *done = status != 0;
  if (status || s.part.rows < 1) return status;
  status = begin(&s);
  s.parted = cut != NULL;
  if (!cut && !status && is_shared(&s)) {
    cut = fl_rows_cut(ctx, s.part.rows, 1);
    if (!cut) status = FL_STATUS_MEMORY;
  }
  *done = status || cut;
  if (*done && !status) {
    s.borders = (FlBorders){ctx, cut, s.part.rows, 1, s.part.unit};
    status = run(&s, &again);
  }
  if (status || again || !cut) unref_all(desc, results);
  if (!status && again) {
    status = fl_part_all_whole(ctx, desc->site, desc->name, desc->n_args, desc->arg_types, args);
    *done = status != 0;
  }
  end(&s);
  return status;
}
