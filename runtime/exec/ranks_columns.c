/* ranks_columns.c: sums along columns of arrays that are in parts between ranks, or that ranks share.
 *
 * In: a kernel that sums rows, which each rank has some of. Out: the sums of all, whole at all ranks. What
 * always holds: a rank sweeps the largest complete subtrees of blocks of 4096 rows that begin in its own,
 * each as if there were no other rows, so that each is what one rank has of it on its way; these states go to
 * all, which join them by the tree of folds: the bits of one rank. Who needs other rows gets whole arrays. */
#include "exec/ranks_parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct Columns {
  FlBorders borders;
  const FlKernel *kernel;
  const FlSlot *env;
  int64_t n;     /* columns */
  double cost;   /* of a row of a column */
  char **states; /* by result */
  FlSlot *part;  /* the environment of a subtree, */
  FlArray *rows; /* its rows of what is captured, and its results */
} Columns;

static bool folds(const FlKernel *k, const FlSlot *env, int32_t i) {
  return k->rows[i] == FL_ROWS_FOLD && env[i].a->dims[0] >= env[k->rows_at].i;
}

/* Arrays of which rows of others are needed, or other rows than by the cut, are gathered. */
static FlStatus lay(FlCtx *ctx, const FlKernel *k, const FlSlot *env, const FlCut **cut) {
  FlStatus s = 0;
  *cut = NULL;
  for (int32_t i = 0; i < k->n_uses && !*cut; i++)
    if (folds(k, env, i) && fl_array_cut(env[i].a) && env[i].a->dims[0] == env[k->rows_at].i)
      *cut = fl_array_cut(env[i].a);
  for (int32_t i = 0; i < k->n_uses && !s; i++) {
    const FlCut *its = k->rows[i] == FL_ROWS_NONE ? NULL : fl_array_cut(env[i].a);
    if (its && (its != *cut || !folds(k, env, i))) s = fl_rows_gather(ctx, k->site, env[i].a);
  }
  return s;
}

static FlStatus bring(const Columns *c) {
  FlStatus s = 0;
  for (int32_t i = 0; i < c->kernel->n_uses; i++) {
    if (c->kernel->rows[i] != FL_ROWS_FOLD || !fl_array_cut(c->env[i].a)) continue;
    FlStatus its = fl_borders_bring(&c->borders, c->env[i].a);
    if (!s) s = its;
  }
  return s;
}

static bool make_room(Columns *c) {
  const FlKernel *k = c->kernel;
  int64_t trees = fl_borders_subtrees_before(&c->borders, c->borders.cut->n);
  int32_t slots = k->n_uses + k->n_sizes + k->n_places + k->n_results;
  c->part = malloc((size_t)slots * sizeof *c->part);
  c->rows = calloc((size_t)(k->n_uses + k->n_results), sizeof *c->rows);
  c->states = calloc((size_t)k->n_results + 1, sizeof *c->states);
  bool fine = c->part && c->rows && c->states;
  if (fine) memcpy(c->part, c->env, (size_t)slots * sizeof *c->part);
  for (int32_t i = 0; i < k->n_results && fine; i++) {
    const FlArray *a = fl_kernel_results(k, c->env)[i].a;
    c->states[i] = malloc((size_t)(trees * c->n * fl_dtype_info[a->dtype].bytes) + 1);
    fine = c->states[i] != NULL;
  }
  return fine;
}

/* One subtree of rows: the kernel sees no others. `at`: which of all it is. */
static void sweep(Columns *c, FlSubtree tree, int64_t at) {
  const FlKernel *k = c->kernel;
  int64_t from = tree.leaf * FL_BLOCK, to = from + tree.n * FL_BLOCK;
  if (to > c->borders.n) to = c->borders.n;
  for (int32_t i = 0; i < k->n_uses; i++) {
    if (k->rows[i] != FL_ROWS_FOLD) continue;
    fl_borrow_rows(c->env[i].a, from, to, &c->rows[i]);
    c->part[i].a = &c->rows[i];
  }
  c->part[k->rows_at].i = to - from;
  FlSlot *results = c->part + (fl_kernel_results(k, c->env) - c->env);
  for (int32_t i = 0; i < k->n_results; i++) {
    FlArray *out = &c->rows[k->n_uses + i];
    *out = *fl_kernel_results(k, c->env)[i].a;
    out->data = c->states[i] + at * c->n * fl_dtype_info[out->dtype].bytes;
    results[i].a = out;
  }
  fl_kernel_range(c->borders.ctx, k, c->part, 0, c->n, c->cost * (double)(to - from));
}

static FlStatus sweep_own(Columns *c) {
  FlCtx *ctx = c->borders.ctx;
  int32_t here = ctx->ranks->here;
  FlSubtree trees[FL_SUBTREES];
  int64_t first = fl_borders_subtrees_before(&c->borders, here);
  int32_t n = fl_borders_subtrees(&c->borders, here, trees);
  for (int32_t i = 0; i < n; i++) {
    if (fl_ctx_is_stopped(ctx)) return fl_fail_stopped(ctx);
    sweep(c, trees[i], first + i);
  }
  return 0;
}

static FlStatus run(Columns *c, FlStatus s) {
  FlCtx *ctx = c->borders.ctx;
  const FlKernel *k = c->kernel;
  const FlSlot *results = fl_kernel_results(k, c->env);
  for (int32_t i = 0; i < k->n_results && !s; i++)
    if (fl_array_is_apart(results[i].a)) s = fl_array_open(ctx, results[i].a, 0, c->n);
  if (!s && !make_room(c)) s = FL_STATUS_MEMORY;
  if (!s) s = sweep_own(c);
  for (int32_t i = 0; i < k->n_results; i++) {
    s = fl_borders_fold(&c->borders, k->site, results[i].a->dtype, c->n, s ? NULL : c->states[i],
                        results[i].a->data, s);
    if (s) break; /* at all ranks */
  }
  for (int32_t i = 0; i < k->n_uses; i++)
    if (k->rows[i] == FL_ROWS_FOLD && fl_array_cut(c->env[i].a)) fl_array_shut(c->env[i].a);
  for (int32_t i = 0; c->states && i < k->n_results; i++) free(c->states[i]);
  free(c->states);
  free(c->rows);
  free(c->part);
  return s;
}

FlStatus fl_rows_columns(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n, double cost,
                         bool *done) {
  int64_t rows = env[kernel->rows_at].i, bytes = 0;
  const FlCut *cut;
  FlStatus s = lay(ctx, kernel, env, &cut);
  *done = s || cut;
  if (s || fl_ctx_is_stopped(ctx)) return s ? s : fl_fail_stopped(ctx);
  for (int32_t i = 0; i < kernel->n_results; i++) bytes += n * (int64_t)sizeof(double) * ctx->ranks->n;
  bool many = rows >= 2 * FL_BLOCK && n > 0;
  for (int32_t i = 0; i < kernel->n_uses; i++)
    many &= kernel->rows[i] != FL_ROWS_FOLD || folds(kernel, env, i);
  if (!cut && many && fl_ranks_share(ctx->ranks, n, cost, bytes)) {
    cut = fl_rows_cut(ctx, rows, 1);
    if (!cut) return FL_STATUS_MEMORY;
    *done = true;
  }
  if (!cut || n <= 0) return 0;
  Columns c = {.borders = {ctx, cut, rows, 1, FL_BLOCK},
               .kernel = kernel,
               .env = env,
               .n = n,
               .cost = cost / (double)(rows > 0 ? rows : 1)};
  return run(&c, bring(&c));
}
