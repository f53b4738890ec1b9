/* group_rows.h: groups of rows that move part by part: what is asked for (group_rows.c), and those who work
 * on parts (group_lanes.c). */
#ifndef FL_PART_GROUP_ROWS_H
#define FL_PART_GROUP_ROWS_H

#include <pthread.h>

#include "part/aggregate_internal.h"
#include "part/move_rows.h"
#include "part/take_internal.h"

/* One aggregate: its call as aggregate's, the first of its arguments, what it results in. */
typedef struct FlRowsWanted {
  const FlAggRow *row;
  FlOpDesc desc;
  int32_t at;
  FlArray *value, *valid;
} FlRowsWanted;

/* Whose turn it is: parts are begun and written in their order, and what is between is done at the same time.
 */
typedef struct FlRowsTurns {
  pthread_mutex_t lock;
  pthread_cond_t passed;
  int64_t next;           /* the parts from here on nobody has begun */
  int64_t begun, written; /* parts that were begun; whose groups are written, */
  int64_t g;              /* and how many these are */
  bool over;              /* somebody failed, or met what does not fit */
  bool fits;
} FlRowsTurns;

typedef struct FlGroupRows {
  FlMove move;
  const FlOpDesc *desc;
  const FlSlot *args;
  int64_t n, most; /* rows; of the largest part */
  int32_t n_keys, n_wanted, first_taken, n_taken, lanes;
  FlRowsWanted *wanted;
  FlTakeColumn *moved;  /* arrays that move */
  int32_t n_moved, *of; /* of each argument: which of those that move, -1: none */
  FlTakeColumn *taken;
  FlRowsTurns turns;
} FlGroupRows;

/* All parts, by several workers, each with memory of its own for one part. Where an aggregate fails
 * turns.fits is false afterwards, and no error recorded. */
FlStatus fl_group_rows_parts(FlGroupRows *r);

#endif
