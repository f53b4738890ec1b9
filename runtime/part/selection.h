/* selection.h: which rows a filter keeps, and whose rows these are (data/unwritten.h). */
#ifndef FL_PART_SELECTION_H
#define FL_PART_SELECTION_H

#include "data/unwritten.h"
#include "part/part_internal.h"

/* The rows that a mask keeps, counted. One reference. NULL: recorded. */
FlSelection *fl_part_selection(FlCtx *ctx, FlArray *mask);
/* Of those that `s` has of a column the rows that `kept` keeps, as rows of that column's [*from, *to). */
FlSelection *fl_part_selection_of(FlCtx *ctx, const FlSelected *s, const FlSelection *kept, int64_t *from,
                                  int64_t *to);
/* Copies the rows that stay of n, each of row_bytes, to `to`. `lists`: as of fl_keep_rows. */
FlStatus fl_part_keep_rows(FlCtx *ctx, const FlSelection *s, const void *from, size_t row_bytes, bool lists,
                           void *to);
/* Where each row that stays is: its `rows`, made once. NULL: recorded. Borrowed. */
const uint32_t *fl_part_selection_rows(FlCtx *ctx, FlSelection *s);

#endif
