/* ranks_pairs.h: the pairs of a join of two tables that are in parts between ranks: ranks_pairs.c, as
 * ranks_joins.c sees it. */
#ifndef FL_EXEC_RANKS_PAIRS_H
#define FL_EXEC_RANKS_PAIRS_H

#include "exec/ranks.h"

typedef struct FlPairs {
  FlCtx *ctx;
  const FlOpDesc *desc; /* the join */
  const FlSlot *args;
  int32_t n_left;            /* arguments of left keys */
  const FlCut *left, *right; /* of the rows of each side, none of whose parts has 2^32 of them */
  bool rest;                 /* right rows without a partner are wanted */
  /* Made: the pairs of the own left rows, which are counted from the first own one: as JOIN gives them. */
  FlSlot lefts, rights;
  FlSlot alone; /* i64: the own right rows without a partner, where they are wanted */
  bool several; /* some left row has several partners */
} FlPairs;

/* All ranks; how it went is the same at all of them. What is made is the caller's, also where it failed. */
FlStatus fl_pairs_by_keys(FlPairs *p);

#endif
