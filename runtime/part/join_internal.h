/* join_internal.h: what the joins of this room share: their kinds, their keys. */
#ifndef FL_PART_JOIN_INTERNAL_H
#define FL_PART_JOIN_INTERNAL_H

#include "part/part_internal.h"

enum {
  FL_HOW_INNER = 0,
  FL_HOW_LEFT = 1,
  FL_HOW_RIGHT = 2,
  FL_HOW_SEMI = 4,
  FL_HOW_ANTI = 8
}; /* full: left | right */

/* The kind by its name. */
int fl_join_how(const char *name);
/* Reads the columns of n_keys left and n_keys right keys, the first of desc->columns, from args[*at] on, and
 * moves *at. *null: of each left and each right row, is some key null; NULL: none is. */
FlStatus fl_join_sides(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, int32_t *at, FlPartKey *keys,
                       int32_t n_keys, uint8_t **null);
/* What `join`, the body of the operator, gives; of the rows with a key alone where these are few. */
FlStatus fl_join_few(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, FlPartBody *join);
/* How many rows of the result a left row with so many partners gives. */
static inline int64_t fl_join_rows(int how, int64_t found) {
  if (how == FL_HOW_SEMI) return found > 0;
  if (how == FL_HOW_ANTI) return found == 0;
  return found == 0 && (how & FL_HOW_LEFT) ? 1 : found;
}
/* A left row has several partners where one was expected. */
FlStatus fl_join_fail_many(FlCtx *ctx, const FlOpDesc *desc, int64_t row, int64_t found);

#endif
