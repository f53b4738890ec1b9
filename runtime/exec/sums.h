/* sums.h: sums of the arrays of a list, at once, or begun at one step of the program and asked for at a later
 * one: sums.c, over ranks ranks_sums.c, and before all vectors are there ranks_ahead.c. Their elements are
 * vectors to all of them. */
#ifndef FL_EXEC_SUMS_H
#define FL_EXEC_SUMS_H

#include "exec/exec_internal.h"
#include "part/vector_sums.h"
#include "ranks/ranks.h"

/* A part of each vector of a sum, which comes to be by itself: argument `operand` of the CONCAT. */
typedef struct FlSumPart {
  int64_t operand, size;
  int64_t at;     /* elements before it in the vector, */
  int64_t before; /* and in the order in which parts come to be */
} FlSumPart;

/* A sum that nobody has asked for yet; `work` first. */
typedef struct FlSum {
  FlRankWork work; /* over ranks, while it is `under_way` */
  bool under_way;
  struct FlSum *next;
  int64_t number;
  FlArray *value;
  FlArray **held;    /* [n_leaves * n_parts] what the vectors are made of */
  FlSumNode *leaves; /* [n_leaves], of these */
  int64_t n_leaves, n_parts;
  struct FlSumOver *over;   /* over ranks */
  struct FlSumAhead *ahead; /* begun before the vectors were there; else NULL */
  struct FlSumHabit *habit; /* of the loop that made them, which learns how long it took; or NULL */
} FlSum;

/* What is to be summed. */
typedef struct FlSumArgs {
  const FlArray *list;
  int32_t rank;
  int64_t dims[FL_MAX_RANK], k; /* of each array, and how many elements that is */
  int64_t first, apart, n;      /* n arrays, in the list at first, first + apart .. */
  const double *weight;         /* [n] */
} FlSumArgs;

/* Room for a sum of the vectors at places [from, to), of so many parts each, none of which is there. NULL:
 * out of memory, not recorded. */
FlSum *fl_sum_new(FlCtx *ctx, const FlSumArgs *a, int64_t from, int64_t to, int64_t n_parts);
/* With these vectors. NULL: out of memory, or one is of another size; recorded. */
FlSum *fl_sum_of(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, int64_t from, int64_t to);
void fl_sum_free(FlSum *sum);
/* The run has it, and gives it a number. */
int64_t fl_sum_put(FlRun *run, FlSum *sum);

/* ---- over ranks: ranks_sums.c ---------------------------------------------------------------------- */

/* Of the list that ranks have parts of: begun behind the program, or made at once. */
FlStatus fl_ranks_sum_begin(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, int64_t *number);
FlStatus fl_ranks_sum_now(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, FlArray **sum);
/* The vectors before those of rank k, of a list whose elements lie so: at[r] before those of rank r. */
int64_t fl_sum_vectors_before(const FlSumArgs *a, const int64_t *at, int32_t k);
/* What a sum of a list whose elements lie so needs over ranks; false: out of memory. `parts`, in the order in
 * which they come to be, are summed and sent when at least `chunk` elements of them are there. */
bool fl_sum_over(FlSum *s, const FlRanks *ranks, const FlSumArgs *a, const int64_t *at,
                 const FlSumPart *parts, int64_t n_parts, int64_t chunk);
void fl_sum_over_free(struct FlSumOver *over);
/* After a meeting in which nobody failed. */
void fl_sum_start(FlSum *s, FlRanks *ranks);

/* ---- before all vectors are there: ranks_ahead.c --------------------------------------------------- */

/* What the elements of a loop say of their vectors. */
typedef struct FlSumGives FlSumGives;
/* Before a loop whose elements ranks share, each some that follow each other. *gives: who is told by the own
 * elements; NULL: nobody is. Non-zero: as of fl_ranks_together. */
FlStatus fl_sum_gives_begin(FlCtx *ctx, const FlTasks *tasks, int64_t n, FlSumGives **gives);
/* Element i of the loop has this operand of its vector. Any worker. */
void fl_sum_give(FlSumGives *gives, int64_t i, int64_t operand, FlArray *part);
/* The own elements have run: whether all of their vectors that were wanted are there. */
bool fl_sum_gives_end(FlSumGives *gives);
/* The loop is over. `list`: its vectors, of which each rank has its own; NULL: it failed, or all have all.
 * `all`: fl_sum_gives_end has said so at all ranks. Consumes `gives`. */
void fl_sum_gives_keep(FlCtx *ctx, FlSumGives *gives, FlArray *list, bool all);
/* The sum of the list that was begun ahead; NULL: there is none, or of something else. */
FlSum *fl_sum_ahead_take(FlCtx *ctx, const FlSumArgs *a);
/* Such a sum is begun by a meeting, in which this rank says what it knows of the loop that made the list;
 * then all know whether the next one is begun ahead. NULL: nothing is known of the loop. */
struct FlSumHabit *fl_sum_habit_tell(FlCtx *ctx, const FlSumArgs *a, FlRankSlot *mine);
void fl_sum_habit_learn(FlCtx *ctx, struct FlSumHabit *habit);
/* The list is summed at once. */
void fl_sum_habit_let_go(FlRun *run, const FlArray *list);
/* It took so long at once (0: it waited for vectors), and so long the program waited for it. */
void fl_sum_habit_time(struct FlSumHabit *habit, int64_t ns, int64_t waited);
/* That it waited for the last sum of what the loop gave. */
int64_t fl_sum_waited(const FlRun *run, int32_t site);
/* Of the thread that sums: returns when parts [from, to) of all own vectors are there; false: they never will
 * be. */
bool fl_sum_ahead_wait(struct FlSumAhead *ahead, int64_t from, int64_t to);
void fl_sum_ahead_free(struct FlSumAhead *ahead);
void fl_run_free_habits(FlRun *run);

#endif
