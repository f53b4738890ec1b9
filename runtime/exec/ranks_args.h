/* ranks_args.h: the arguments of an operator of which it works on rows that may be in parts between ranks, as
 * ranks_products.c and ranks_sweeps.c see them. ranks_args.c */
#ifndef FL_EXEC_RANKS_ARGS_H
#define FL_EXEC_RANKS_ARGS_H

#include "exec/ranks_borders.h"

typedef struct FlRowArgs {
  const FlOpDesc *desc;
  const FlSlot *args;
  FlRows how;   /* what the operator says of those arguments */
  int64_t rows; /* that each of them has; less than 0: there are none */
} FlRowArgs;

/* Whether argument i is one of them. */
bool fl_row_args_has(const FlRowArgs *a, int32_t i);
/* The cut that they have, NULL: all are whole. Arrays of which other rows are needed, or that are cut
 * otherwise, are gathered. */
FlStatus fl_row_args_lay(FlCtx *ctx, const FlRowArgs *a, const FlCut **cut);
/* The rows of them that are run here and are others' come here: all ranks do this. After a failure, too, all
 * have taken part. The second lets go of them. */
FlStatus fl_row_args_bring(const FlRowArgs *a, const FlBorders *borders);
void fl_row_args_shut(const FlRowArgs *a);

#endif
