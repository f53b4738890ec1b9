/* ranks_kernels.c: loops over elements, over ranks.
 *
 * In: a kernel that all ranks are about to run. Out: its results at all of them. Where it reads arrays that
 * are in parts, or makes such, each rank runs the elements of its own rows (ranks_parts.c). Where all arrays
 * are whole, each runs a part, where that pays, and what came of it goes to all: of a map its rows, of a fold
 * the states of its blocks, 32 bytes for 4096 elements. What always holds: parts are whole units, so that a
 * block is one rank's; who joins states does so as one rank does, and so to the same bits; an element that
 * fails fails everywhere, since then all look for the first one in all elements. */
#include "exec/ranks_parts.h"

enum {
  FIRST = 100,
  EACH = 32
}; /* for tests, that share what does not pay: these many kernels, and then every so many-th */
static const double MARGIN = 2; /* what is saved, against what it costs: costs of elements are estimates */

/* The first element of rank k's part. */
static int64_t part_at(const FlRanks *r, const FlKernel *kernel, int64_t n, int32_t k) {
  int64_t unit = kernel->unit < 1 ? 1 : kernel->unit, units = (n + unit - 1) / unit;
  int64_t at = (units / r->n * k + units % r->n * k / r->n) * unit;
  return at < n ? at : n;
}

/* Bytes that all elements give; -1: not only numbers, or what a filter keeps. */
static int64_t bytes_of(const FlKernel *kernel, const FlSlot *env, int64_t n) {
  const FlSlot *results = fl_kernel_results(kernel, env);
  if (kernel->n_places && !kernel->block_bytes) return -1;
  int64_t bytes = (n + FL_BLOCK - 1) / FL_BLOCK * kernel->block_bytes;
  for (int32_t i = 0; i < kernel->n_results; i++) {
    const FlArray *a = results[i].a;
    if (fl_dtype_is_text(a->dtype)) return -1;
    bytes += n * fl_dtype_info[a->dtype].bytes;
  }
  return kernel->n_results || kernel->block_bytes ? bytes : -1;
}

bool fl_ranks_share(FlRanks *r, int64_t n, double cost, int64_t bytes) {
  if (bytes < 0 || n < 2) return false;
  if (r->shares != FL_RANKS_SHARE_WHAT_PAYS) {
    int64_t turn = r->turn++;
    return turn < FIRST ? r->shares == FL_RANKS_SHARE_ALL || turn & 1 : turn % EACH == 0;
  }
  double saves = cost * (double)n * (1 - 1 / (double)r->n);
  return saves > MARGIN * (r->meeting_ns * (1 + r->n) + (double)bytes * r->byte_ns);
}

static bool gather(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n) {
  FlRanks *r = ctx->ranks;
  const FlSlot *results = fl_kernel_results(kernel, env);
  bool fine = true;
  for (int32_t k = 0; k < r->n && fine; k++) {
    int64_t from = part_at(r, kernel, n, k), to = part_at(r, kernel, n, k + 1);
    if (kernel->block_bytes) fine = fl_rows_send_states(ctx, k, kernel, env, from, to);
    for (int32_t i = 0; i < kernel->n_results && fine; i++)
      fine = fl_rows_send(ctx, k, results[i].a, from, to);
  }
  return fine;
}

/* This rank has run its part; the faults that any met. */
static FlStatus tell(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n, int32_t *faults) {
  FlRanks *r = ctx->ranks;
  FlRankSlot mine = {.step = FL_RANKS_KERNEL, .site = kernel->site, .values = {*faults}};
  if (*faults & FL_FAULT_MEMORY)
    mine.failed = fl_fail_text(ctx, kernel->site, FL_FAULT_MEMORY, "out of memory");
  FlStatus s = fl_ranks_together(ctx, &mine);
  if (s) return s;
  for (int32_t k = 0; k < r->n; k++) *faults |= (int32_t)r->slots[k].values[0];
  return *faults || gather(ctx, kernel, env, n) ? 0 : fl_rows_lost(ctx);
}

/* The first rows of arrays come to all. */
static FlStatus borrow(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, bool *some) {
  int64_t rows = env[kernel->n_uses].i;
  FlStatus s = 0;
  for (int32_t i = 0; i < kernel->n_uses; i++) {
    if (!fl_kernel_borrows(kernel, env, i)) continue;
    *some = true;
    if (!s) s = fl_array_borrow(ctx, env[i].a, rows);
  }
  if (*some) s = fl_rows_meet(ctx, kernel->site, s);
  for (int32_t i = 0; i < kernel->n_uses && *some && !s; i++) {
    if (!fl_kernel_borrows(kernel, env, i)) continue;
    const FlCut *cut = fl_array_cut(env[i].a);
    int64_t each = fl_array_row_count(env[i].a);
    for (int32_t k = 0; k < cut->n && cut->at[k] < rows && !s; k++) {
      int64_t to = cut->at[k + 1] < rows ? cut->at[k + 1] : rows;
      if (!fl_rows_send(ctx, k, env[i].a, cut->at[k] * each, to * each)) s = fl_rows_lost(ctx);
    }
  }
  return s;
}

static void give_back(const FlKernel *kernel, const FlSlot *env) {
  for (int32_t i = 0; i < kernel->n_uses; i++)
    if (fl_kernel_borrows(kernel, env, i)) fl_array_give_back(env[i].a, env[kernel->n_uses].i);
}

static FlStatus run_kernel(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n, double cost) {
  const FlCut *cut;
  FlStatus s = 0;
  bool done = false;
  if (kernel->in_parts == FL_PARTS_COLUMNS) s = fl_rows_columns(ctx, kernel, env, n, cost, &done);
  if (s || done) return s;
  s = fl_rows_of_kernel(ctx, kernel, env, n, &cut);
  if (s) return s;
  if (fl_ctx_is_stopped(ctx)) return fl_fail_stopped(ctx);
  if (cut) return fl_rows_kernel(ctx, kernel, env, cut, n, cost);
  if (n <= 0) return 0;
  FlRanks *r = ctx->ranks;
  bool shared = fl_ranks_share(r, n, cost, bytes_of(kernel, env, n));
  int64_t begin = shared ? part_at(r, kernel, n, r->here) : 0;
  int64_t end = shared ? part_at(r, kernel, n, r->here + 1) : n;
  int32_t faults = fl_kernel_range(ctx, kernel, env, begin, end, cost);
  if (fl_ctx_is_stopped(ctx)) return fl_fail_stopped(ctx);
  if (shared) s = tell(ctx, kernel, env, n, &faults);
  return s || !faults ? s : fl_kernel_first_fault(ctx, kernel, env, 0, n, faults);
}

FlStatus fl_ranks_kernel(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n, double cost) {
  bool some = false;
  FlStatus s = borrow(ctx, kernel, env, &some);
  if (s) return s; /* the run is over */
  s = run_kernel(ctx, kernel, env, n, cost);
  if (some) give_back(kernel, env);
  return s;
}
