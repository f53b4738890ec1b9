/* task_blocks.h: loops of tasks of which each reads a block of rows (FL_TASK_BLOCKS), over arrays that are in
 * parts between ranks, as steps.c and ranks_tasks.c see them. task_blocks.c */
#ifndef FL_EXEC_TASK_BLOCKS_H
#define FL_EXEC_TASK_BLOCKS_H

#include "exec/ranks_borders.h"

/* The cut by which ranks run the loop; NULL: any may run any task. Arrays that it captures and that are not
 * read by that are made whole. */
FlStatus fl_task_blocks_lay(FlCtx *ctx, const FlTasks *t, const FlSlot *env, const FlCut **cut);
/* How many tasks the ranks before k run. */
int64_t fl_task_blocks_before(FlCtx *ctx, const FlTasks *t, const FlSlot *env, const FlCut *cut, int32_t k);
/* Rows of others that are read here come here: all ranks do this, and after a failure have taken part. The
 * second lets go of them; the third makes the arrays whole, as before tasks that another rank runs. */
FlStatus fl_task_blocks_bring(FlCtx *ctx, const FlTasks *t, const FlSlot *env, const FlCut *cut);
void fl_task_blocks_shut(const FlTasks *t, const FlSlot *env);
/* What n tasks gave: views of rows that they read become copies. `results`: [n * t->n_results]. */
FlStatus fl_task_blocks_own(FlCtx *ctx, const FlTasks *t, const FlSlot *env, int64_t n, FlSlot *results);
FlStatus fl_task_blocks_whole(FlCtx *ctx, const FlTasks *t, const FlSlot *env);

#endif
