/* agg_shares.h: aggregates of groups of rows that several have in parts, where the key is a whole number and
 * there are hardly more numbers than rows: each makes a table with a place for each number, and gives each
 * other one some of the places (agg_shares.c). */
#ifndef FL_PART_AGG_SHARES_H
#define FL_PART_AGG_SHARES_H

#include "part/part.h"

/* Of the rows of one of them. */
typedef struct FlAggShares FlAggShares;

/* What each says of his rows. */
typedef struct FlAggSaid {
  uint64_t least, greatest;     /* codes of their keys; none: the greatest is less */
  uint64_t most[FL_PART_SWEEP]; /* of each aggregate, as fl_sweep_most has it */
  int64_t words;                /* of a place */
  int64_t room;                 /* bytes that may be looked up in any order, */
  int64_t row;                  /* and that are read of a row */
} FlAggSaid;

/* Whether keys of this type may be such numbers. */
bool fl_agg_shares_key(int32_t dtype);
/* Of aggregates of columns without nulls, each of which fl_part_sweeps; `args` are as of fl_rt_aggregates, of
 * which the first two are not read. `all`: how many rows all have. The arguments outlive it. NULL: an error
 * is recorded. */
FlAggShares *fl_agg_shares_new(FlCtx *ctx, const FlOpDesc *desc, FlArray *key, const FlSlot *args,
                               int64_t all, FlAggSaid *said);
void fl_agg_shares_free(FlAggShares *s); /* NULL is allowed */
/* Given what n have said: how many places there are, the same whoever asks; 0: rows go faster, or a value has
 * no place. */
int64_t fl_agg_shares_agree(FlAggShares *s, const FlAggSaid *said, int32_t n);
/* Bytes of a place; the own table; *whole: false: it does not hold all of some value. */
int64_t fl_agg_shares_size(const FlAggShares *s);
FlStatus fl_agg_shares_run(FlAggShares *s, char **table, bool *whole);
/* Adds the places [from, to) of another one. */
FlStatus fl_agg_shares_add(FlAggShares *s, int64_t from, int64_t to, const char *theirs);
/* Of the groups of these places, by ascending keys: value and validity of each aggregate; their keys, which
 * the caller owns: NULL: recorded. Afterwards the table is of no use. */
FlArray *fl_agg_shares_give(FlAggShares *s, int64_t from, int64_t to, FlSlot *results);

#endif
