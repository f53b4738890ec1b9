/* strips.h: steps that follow each other over the same rows are run strip by strip, so that what one of them
 * reads or gives is still in a cache for the next: a product by rows, `x @ w`, loops over its elements, and a
 * product that folds these with the same rows, `x' @ r` (docs/decisions/strips.md).
 *
 * Which steps do is the compiler's to say (FlStrips); whether they do, that of the first one when it runs. It
 * then gives an array that nothing is written to; so do the loops; the last step runs them all. Nobody else
 * looks at these arrays between. */
#ifndef FL_EXEC_STRIPS_H
#define FL_EXEC_STRIPS_H

#include "exec/ranks.h"

/* The first step. `part`: what it says of itself; `out`: its result, with memory for the rows that are here;
 * cut: of these, NULL: all are. `done`: it waits for the others. */
FlStatus fl_strips_begin(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, const FlOpPart *part,
                         FlArray *out, const FlCut *cut, bool *done);
/* The same of a run that has no ranks, which makes the result. */
FlStatus fl_strips_first(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done);
/* A loop. `done`: it waits; else those before it are done. */
FlStatus fl_strips_kernel(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n, double cost,
                          bool *done);
/* The last step, which says so of itself: whether others wait for it. Else those are done. */
FlStatus fl_strips_wait(FlCtx *ctx, const FlSlot *args, const FlOpPart *part, bool *waits);
/* The same of a run that has no ranks; `done`: all are. */
FlStatus fl_strips_last(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done);

/* The leaves of a fold over rows. */
typedef struct FlStripsFold {
  const FlOpDesc *desc;
  const FlSlot *args;
  FlOpPart part;
  int64_t size;  /* bytes of a number */
  int64_t first; /* leaf, */
  char *states;  /* whose numbers stand here; those of the next leaves behind them */
} FlStripsFold;
/* Leaf `leaf` of the fold, to its place. */
FlStatus fl_strips_leaf(FlCtx *ctx, const FlStripsFold *fold, int64_t leaf);
/* The sum of so many leaves from one on, a complete subtree or all, to `out`; it is made where they stand. */
void fl_strips_sum(const FlStripsFold *fold, int64_t from, int64_t leaves, void *out);
/* Runs what waits over the rows [from, to), and of the fold (NULL: none) the leaves whose rows all are among
 * them. Nothing waits any more, also after a failure. */
FlStatus fl_strips_run(FlCtx *ctx, int64_t from, int64_t to, const FlStripsFold *fold);
/* Nothing waits any more, and what did is not done: the context ends, or begins anew. */
void fl_strips_drop(FlCtx *ctx);
/* Nanoseconds of the last run that were not its last step's; then none. */
int64_t fl_strips_elsewhere(FlCtx *ctx);

#endif
