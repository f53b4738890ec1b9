/* ranks_parts.h: kernels on arrays that are in parts between ranks: ranks_parts.c, as ranks_kernels.c sees
 * it. */
#ifndef FL_EXEC_RANKS_PARTS_H
#define FL_EXEC_RANKS_PARTS_H

#include "exec/ranks.h"
#include "exec/ranks_borders.h"

/* Of a kernel's environment: where its places begin, and its results. */
static inline const FlSlot *fl_kernel_places(const FlKernel *k, const FlSlot *env) {
  return env + k->n_uses + k->n_sizes;
}
static inline const FlSlot *fl_kernel_results(const FlKernel *k, const FlSlot *env) {
  return env + k->n_uses + k->n_sizes + k->n_places;
}

/* The cut by which ranks run the kernel; NULL: all arrays that it takes and gives are whole, those that are
 * not so by now were gathered, and what it gives has memory. */
FlStatus fl_rows_of_kernel(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n,
                           const FlCut **cut);
/* Whether the kernel goes over a few rows, which are the first ones of array i, that is in parts: these come
 * to all ranks for as long as it runs. */
bool fl_kernel_borrows(const FlKernel *kernel, const FlSlot *env, int32_t i);
/* Runs it by that, as fl_run_kernel. */
FlStatus fl_rows_kernel(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, const FlCut *cut, int64_t n,
                        double cost);
/* Whether its own elements may run later, when others do: it has its rows by the cut, or whole, and nobody
 * need know how it went. Its results have memory then. */
FlStatus fl_rows_kernel_waits(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, const FlCut *cut,
                              int64_t n, bool *waits);
/* Sums along columns, ranks_columns.c: of rows in parts, or shared where that pays. *done false: neither; all
 * arrays are whole then. */
FlStatus fl_rows_columns(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n, double cost,
                         bool *done);
/* ranks_kernels.c: whether `n` elements of this cost are shared, after which so many bytes are sent; the same
 * at all ranks. */
bool fl_ranks_share(FlRanks *r, int64_t n, double cost, int64_t bytes);
/* The states of the blocks of elements [from, to), which rank k has, to all. false: a rank is lost. */
bool fl_rows_send_states(FlCtx *ctx, int32_t k, const FlKernel *kernel, const FlSlot *env, int64_t from,
                         int64_t to);

#endif
