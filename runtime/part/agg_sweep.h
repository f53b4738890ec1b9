/* agg_sweep.h: a sweep over rows of which others have more, so that what is made of each group is added to
 * what they make: agg_sweep.c and agg_sweep_rows.c, as agg_shares.c sees them. */
#ifndef FL_PART_AGG_SWEEP_H
#define FL_PART_AGG_SWEEP_H

#include "part/part_internal.h"

typedef struct FlSweep FlSweep;

/* Of the aggregates of fl_rt_aggregates, each of which fl_part_sweeps, with these columns, which begin at
 * args[2]; the group of a row is its first word. `all`: how many rows all have. The arguments and codes
 * outlive it. NULL: recorded. */
FlSweep *fl_sweep_new(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, const FlPartCodes *codes,
                      int64_t all);
int64_t fl_sweep_words(const FlSweep *s);   /* of a group; the first is how many rows it has */
int32_t fl_sweep_columns(const FlSweep *s); /* that are read */
/* Of each aggregate the bits of the largest magnitude of the doubles that it sums, of the rows here; the
 * greatest of what all have said goes back. false: there are infinities or NaNs. */
void fl_sweep_most(const FlSweep *s, uint64_t *most);
bool fl_sweep_agree(FlSweep *s, const uint64_t *most);
/* A table of so many groups, of the rows here; beside it `pieces` - 1 more, as long as it is made. *whole:
 * false: it does not hold all of some value. */
FlStatus fl_sweep_run(FlSweep *s, int64_t g, int64_t pieces, int64_t **table, bool *whole);
/* Of the table's groups only those stay, in their order, that have rows: how many, and the first row of each.
 * What they have: of aggregate p, which is none of squares, the count or the sum of group k, which is in
 * units of the scale where it is of doubles; or the extreme, as the low bytes. */
FlStatus fl_sweep_groups(FlSweep *s, int64_t *g, int64_t **first);
__int128 fl_sweep_sum(const FlSweep *s, int32_t p, int64_t k);
double fl_sweep_unit(const FlSweep *s, int32_t p);
uint64_t fl_sweep_extreme(const FlSweep *s, int32_t p, int64_t k);
/* Adds what others have of the groups [from, to). */
FlStatus fl_sweep_add(const FlSweep *s, int64_t from, int64_t to, const int64_t *theirs);
/* Value and validity of each aggregate of g groups from `from` on; once. On failure some may be there. */
FlStatus fl_sweep_store(FlSweep *s, int64_t from, int64_t g, FlSlot *results);

#endif
