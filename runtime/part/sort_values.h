/* sort_values.h: the values of one column in order: what its ways share. */
#ifndef FL_PART_SORT_VALUES_H
#define FL_PART_SORT_VALUES_H

#include "part/part_internal.h"

/* A column of numbers, truths or times without nulls, and where its values go. */
typedef struct FlValues {
  FlPartCol from;
  FlPool *pool;
  uint64_t flip; /* all ones where the order is descending: codes, but NaN's, are turned over */
  int64_t n;
  FlArray *out;
} FlValues;

/* The order codes of n rows of an FlValues; an FlPartReadWords. */
void fl_values_codes(const void *env, int64_t row, int64_t n, uint64_t *code);
/* The values that have these codes, at `at` of the result. */
void fl_values_write(const FlValues *s, FlSlices *slices, const uint64_t *code, int64_t n, int64_t at);
FlSlices fl_values_slices(FlCtx *ctx, const FlValues *s);

/* All values in order, where they can be sorted as they are: *done (value_sides.c). */
FlStatus fl_values_by_vectors(FlPartMem *m, const FlValues *s, bool *done);
/* The same where they stand in `column`, which nobody reads afterwards and which is s->out then; else, and
 * where it is NULL, nothing is done. */
void fl_values_sort_there(FlPartMem *m, FlValues *s, FlArray *column);
/* All values in order (value_buckets.c), of those that are equal any; *differ: some are that differ in bits.
 */
FlStatus fl_values_by_buckets(FlPartMem *m, const FlValues *s, bool *differ);

#endif
