/* ranks_kernels.c: loops over elements of numbers, over ranks: each runs the elements of its part, and what
 * they gave goes to all: of a map its rows, of a fold the states of its blocks, 32 bytes for 4096 elements.
 *
 * In: a kernel that all ranks are about to run, on arrays that all have whole. Out: the same results at all.
 * What always holds: parts are whole units, so that a block is one rank's; who joins states does so as one
 * rank does, and so to the same bits; an element that fails fails everywhere, since then all look for the
 * first one in all elements. */
#include "exec/ranks.h"

enum {
  FIRST = 100,
  EACH = 32
}; /* for tests, that share what does not pay: these many kernels, and then every so many-th */
static const double MARGIN = 2;  /* what is saved, against what it costs: costs of elements are estimates */

/* The first element of rank k's part. */
static int64_t part_at(const FlRanks *r, const FlKernel *kernel, int64_t n, int32_t k) {
  int64_t unit = kernel->unit < 1 ? 1 : kernel->unit, units = (n + unit - 1) / unit;
  int64_t at = (units / r->n * k + units % r->n * k / r->n) * unit;
  return at < n ? at : n;
}

/* Bytes that all elements give; -1: not only numbers. */
static int64_t bytes_of(const FlKernel *kernel, const FlSlot *results, int64_t n) {
  if (kernel->block_bytes) return (n + FL_BLOCK - 1) / FL_BLOCK * kernel->block_bytes;
  int64_t bytes = 0;
  for (int32_t i = 0; i < kernel->n_results; i++) {
    const FlArray *a = results[i].a;
    if (fl_dtype_is_text(a->dtype)) return -1;
    bytes += n * fl_dtype_info[a->dtype].bytes;
  }
  return kernel->n_results ? bytes : -1;
}

static bool is_shared(FlRanks *r, int64_t n, double cost, int64_t bytes) {
  if (bytes < 0 || n < 2) return false;
  if (r->shares != FL_RANKS_SHARE_WHAT_PAYS) {
    int64_t turn = r->turn++;
    return turn < FIRST ? r->shares == FL_RANKS_SHARE_ALL || turn & 1 : turn % EACH == 0;
  }
  double saves = cost * (double)n * (1 - 1 / (double)r->n);
  return saves > MARGIN * (r->meeting_ns * (1 + r->n) + (double)bytes * r->byte_ns);
}

bool fl_ranks_kernel_begin(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n, double cost,
                           int64_t *begin, int64_t *end) {
  FlRanks *r = ctx->ranks;
  const FlSlot *results = env + kernel->n_uses + kernel->n_sizes;
  if (!is_shared(r, n, cost, bytes_of(kernel, results, n))) return false;
  *begin = part_at(r, kernel, n, r->here);
  *end = part_at(r, kernel, n, r->here + 1);
  return true;
}

/* Elements [from, to), `bytes` each, of rank k to all. */
static bool send(FlRanks *r, int32_t k, char *at, int64_t from, int64_t to, int64_t bytes) {
  return to <= from || fl_ranks_send(r, k, at + from * bytes, (to - from) * bytes);
}

static bool gather(FlRanks *r, const FlKernel *kernel, const FlSlot *results, int64_t n) {
  bool fine = true;
  for (int32_t k = 0; k < r->n && fine; k++) {
    int64_t from = part_at(r, kernel, n, k), to = part_at(r, kernel, n, k + 1);
    if (kernel->block_bytes)
      fine = send(r, k, (char *)results[0].a, from / FL_BLOCK, (to + FL_BLOCK - 1) / FL_BLOCK,
                  kernel->block_bytes);
    for (int32_t i = 0; i < kernel->n_results && fine; i++)
      fine = send(r, k, results[i].a->data, from, to, fl_dtype_info[results[i].a->dtype].bytes);
  }
  return fine;
}

FlStatus fl_ranks_kernel_end(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n,
                             int32_t *faults) {
  FlRanks *r = ctx->ranks;
  FlRankSlot mine = {.step = FL_RANKS_KERNEL, .site = kernel->site, .values = {*faults}};
  if (*faults & FL_FAULT_MEMORY)
    mine.failed = fl_fail_text(ctx, kernel->site, FL_FAULT_MEMORY, "out of memory");
  FlStatus s = fl_ranks_together(ctx, &mine);
  if (s) return s;
  for (int32_t k = 0; k < r->n; k++) *faults |= (int32_t)r->slots[k].values[0];
  if (*faults || gather(r, kernel, env + kernel->n_uses + kernel->n_sizes, n)) return 0;
  return fl_ranks_together(ctx, &(FlRankSlot){.step = FL_RANKS_END, .site = -1});
}
