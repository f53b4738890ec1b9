/* agg_sweep_rows.h: what a sweep over rows adds to tables of groups, as agg_sweep.c, which decides what that
 * is, and agg_sweep_rows.c, which does it, share it. */
#ifndef FL_PART_AGG_SWEEP_ROWS_H
#define FL_PART_AGG_SWEEP_ROWS_H

#include "part/agg_sweep.h"
#include "part/aggregate_internal.h"

enum {
  FL_SWEEP_FEW = 1 << 6,     /* groups, whose rows are put in order, */
  FL_SWEEP_AT_ONCE = 1 << 11 /* of so many */
};

/* How the words of a part are made: none, a count being in the first word of a group; integers of at most 32
 * bits; others; doubles against a scale; and their squares; codes; none, it is made by itself. */
typedef enum FlSweptKind {
  FL_SWEPT_COUNT,
  FL_SWEPT_NARROW,
  FL_SWEPT_WIDE,
  FL_SWEPT_EXACT,
  FL_SWEPT_SPREAD,
  FL_SWEPT_LEAST,
  FL_SWEPT_GREATEST,
  FL_SWEPT_ALONE
} FlSweptKind;

typedef struct FlSweepPart {
  FlAgg agg;
  FlOpDesc desc;
  FlSweptKind kind;
  const FlAggRow *row;
  bool mean;
  int32_t sum;   /* the part that adds the words: another one, where both are of the same sum */
  int at;        /* in the row of a group, whose first word counts */
  uint64_t most; /* of a sum of doubles: bits of the largest magnitude of the rows that are here */
  FlExactScale scale;
} FlSweepPart;

struct FlSweep {
  FlPartMem *m;
  FlSweepPart *part;
  int32_t n_parts;
  int64_t n, g, pieces, piece;
  int64_t all; /* rows whose sums come to one, of which n are here */
  const int64_t *id;
  FlAggFew few;                /* or these; */
  const FlPartCodes *words_of; /* or the first words */
  int words;                   /* a group */
  bool ordered;                /* sums of doubles take rows in the order of their groups */
  bool far;                    /* the table is larger than a cache: places are fetched a batch ahead */
  int64_t *table;
  _Atomic uint32_t dropped; /* a bit a part */
};

typedef __int128 FlSweepWide __attribute__((aligned(8)));

/* Makes the tables of the pieces [begin, end) of a sweep; notes the parts that these do not hold. */
int32_t fl_sweep_rows(FlCtx *ctx, const void *sweep, int64_t begin, int64_t end);
/* Adds what the tables behind the first one have of the groups [begin, end) to that. */
int32_t fl_sweep_merge(FlCtx *ctx, const void *sweep, int64_t begin, int64_t end);

#endif
