/* sums.h: sums of the arrays of a list, at once, or begun at one step of the program and asked for at a later
 * one: sums.c, and over ranks ranks_sums.c. Their elements are vectors to both. */
#ifndef FL_EXEC_SUMS_H
#define FL_EXEC_SUMS_H

#include "exec/exec_internal.h"
#include "part/vector_sums.h"
#include "ranks/ranks.h"

/* A sum that nobody has asked for yet; `work` first. */
typedef struct FlSum {
  FlRankWork work; /* over ranks, while it is `under_way` */
  bool under_way;
  struct FlSum *next;
  int64_t number;
  FlArray *value;
  FlArray **held;    /* vectors that it is made of */
  FlSumNode *leaves; /* [n_leaves], of these */
  int64_t n_leaves;
  struct FlSumParts *parts; /* over ranks */
} FlSum;

/* What is to be summed. */
typedef struct FlSumArgs {
  const FlArray *list;
  int32_t rank;
  int64_t dims[FL_MAX_RANK], k; /* of each array, and how many elements that is */
  int64_t first, apart, n;      /* n arrays, in the list at first, first + apart .. */
  const double *weight;         /* [n] */
} FlSumArgs;

/* With the vectors at places [from, to) of the sum. NULL: out of memory, or one is of another size;
 * recorded. */
FlSum *fl_sum_new(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, int64_t from, int64_t to);
void fl_sum_free(FlSum *sum);
/* The run has it, and gives it a number. */
int64_t fl_sum_put(FlRun *run, FlSum *sum);
/* Of the list that ranks have parts of: begun behind the program, or made at once. */
FlStatus fl_ranks_sum_begin(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, int64_t *number);
FlStatus fl_ranks_sum_now(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, FlArray **sum);
void fl_sum_parts_free(struct FlSumParts *parts);

#endif
