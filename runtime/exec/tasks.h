/* tasks.h: elements of a host-level loop that run as tasks: all of them, or those of one rank (loop.c,
 * ranks_tasks.c). */
#ifndef FL_TASKS_H
#define FL_TASKS_H

#include "exec/exec_internal.h"

/* What an element left behind besides its results: only kept when there is something. */
typedef struct FlTaskOutcome {
  int64_t index;
  bool elsewhere; /* it asked what rank 0 alone may ask, and has not run */
  FlNotes notes;
} FlTaskOutcome;

typedef struct FlTaskSet {
  FlCtx *ctx;
  FlHostFn fn;
  const FlSlot *env;
  int32_t n_env, n_dims, n_results;
  const int64_t *which; /* [n] indices of the elements, ascending; NULL: all of 0 .. n */
  int64_t n, batch;
  FlSlot *results;            /* [n * n_results] */
  const FlType1 *types;       /* of the results */
  FlHeap *heap;               /* of their texts; may be NULL */
  const uint8_t *is_stacked;  /* [n_results] 1: arrays that are only stacked; NULL: none is */
  _Atomic(FlArray *) *stacks; /* [n_results] where these are laid, once one is made; NULL: is_stacked is */
  struct FlSumGives *gives;   /* who is told of parts of what elements give to a sum; NULL: nobody */
  _Atomic int64_t next;       /* relaxed: elements are handed out in ascending order */
  _Atomic int64_t failed;     /* the first of `n` that failed, n: none. All before it have been handed out */
  pthread_mutex_t lock;       /* the rest */
  FlCtx error;                /* holds the error of element `failed` */
  FlTaskOutcome *outcomes;
  int64_t n_outcomes, cap_outcomes;
} FlTaskSet;

/* Runs the elements of a set, of which the first fields up to `heap` are filled in. Afterwards `failed` and
 * `error` say whether one failed, and `outcomes` are in the order of elements. */
void fl_task_set_run(FlTaskSet *set);
/* stacked.c: lays the results of element `at` that are only stacked where they stand in their stacks. */
void fl_task_lay(FlTaskSet *set, FlCtx *ctx, int64_t at, FlSlot *results);
/* The results of elements that succeeded are let go of. */
void fl_task_set_release(const FlTaskSet *set);
/* What is left of it, without results. */
void fl_task_set_reset(FlTaskSet *set);

/* ranks_pays.c: true: each rank runs the loop of so many elements whole, alike, until the end is told; that
 * then says false where the loop is to be shared all the same, since an element needs other ranks, and has
 * left nothing. */
bool fl_ranks_alike_begin(FlCtx *ctx, int32_t site, int64_t n);
bool fl_ranks_alike_end(FlCtx *ctx, int32_t site);
/* After the meeting that ended a loop of n elements: the slots' first values are the nanoseconds that the
 * ranks took, and those that they waited for sums of what it gave the last time. */
void fl_ranks_learn(FlRanks *ranks, int32_t site, int64_t n);

/* fl_map_tasks where other ranks have some of the elements: `results` are arrays that are to be filled.
 * `cut`: the elements are of rows of each rank (FlTaskRows); NULL: any rank may run any. */
FlStatus fl_ranks_tasks(FlCtx *ctx, const FlTasks *tasks, const FlSlot *env, int64_t n, const FlCut *cut,
                        FlSlot *results);

#endif
