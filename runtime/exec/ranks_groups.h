/* ranks_groups.h: aggregates of groups of a table that is in parts between ranks: what is asked, and those
 * who do it (ranks_groups.c, ranks_groups_ask.c, ranks_groups_states.c, ranks_groups_keys.c). */
#ifndef FL_EXEC_RANKS_GROUPS_H
#define FL_EXEC_RANKS_GROUPS_H

#include "exec/ranks.h"
#include "part/part.h"

/* A state of an aggregate: what is folded of which column, and where it stands among the joined arrays. */
typedef struct FlGroupState {
  const char *made;
  FlAggState kind;
  int32_t value, valid; /* arguments; -1: none */
  bool says;            /* its validity follows it */
  int32_t at;
} FlGroupState;

/* An aggregate that is wanted, of one state, or of the mean's two. */
typedef struct FlGroupWanted {
  const char *made;
  double f;
  int32_t state, count;
} FlGroupWanted;

typedef struct FlGroups {
  FlCtx *ctx;
  const FlOpDesc *desc;
  const FlSlot *args;
  const FlCut *cut;
  int32_t n_keys, n_key_args, n_wanted, n_states, n_taken, first_taken;
  FlGroupWanted *wanted;
  FlGroupState *states;
  FlColumnAttr *columns; /* of the partial */
  FlType1 *types;        /* of what it gives: a bool, then the arrays */
  int32_t n_arrays;
  FlSlot *mine, *joined; /* [n_arrays] */
  bool pending;          /* the own rows are their own states, which nobody has made yet */
  int64_t total;         /* of what was joined: how many there are of each */
  const uint8_t *stays;  /* [n_arrays] of what is joined: what need not go to all; NULL: all does */
} FlGroups;

static inline bool fl_groups_null(const FlColumnAttr *c) { return c->flags & FL_COLUMN_NULLS; }

/* Reads the call, and makes room for what is made. In any case fl_groups_reset is still to be called. */
FlStatus fl_groups_read(FlGroups *g);
void fl_groups_reset(FlGroups *g);

/* The states of the groups of the own rows, to `mine`; where these would be rows, they are pending. */
FlStatus fl_groups_fold(FlGroups *g);
/* What all ranks have, one list of arrays or several, goes to all, in the order of ranks, to `joined`.
 * `status`: how it came about here. *many: there are so many states that nothing was sent; NULL: nobody asks.
 */
FlStatus fl_groups_exchange(FlGroups *g, FlStatus status, FlSlot *const *lists, int32_t n, bool *many);

/* Instead states go by their keys, which are whole numbers, each to one rank: *made is what the aggregates
 * gave of the groups that came, for the caller to free, all that are before those of the next rank; NULL: it
 * does not serve, or failed at all ranks. Else `failed` says whether an aggregate has, here. */
FlStatus fl_groups_by_table(FlGroups *g, FlSlot **made, bool *failed);
/* Or rows go by their keys. *done: false: an aggregate failed somewhere, and nothing is made. */
FlStatus fl_groups_by_keys(FlGroups *g, FlSlot *results, bool *done);

#endif
