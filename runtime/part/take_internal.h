/* take_internal.h: what the ways to take rows share: an array and its rows that are taken. */
#ifndef FL_PART_TAKE_INTERNAL_H
#define FL_PART_TAKE_INTERNAL_H

#include "data/text_codes.h"
#include "part/part_internal.h"

typedef struct FlTakeColumn {
  FlArray *from, *to; /* borrowed; owned */
  int32_t result;     /* which one it is */
  size_t row_bytes;
  const FlTextCodes *known; /* of texts; NULL: none */
  const void *codes;        /* of the source's first row */
  FlBuffer *to_codes;
  bool checked;            /* the numbers are known to be rows of it */
  _Atomic int64_t bad;     /* the first place of a number that is not */
  _Atomic int32_t missing; /* some row is none of the source */
} FlTakeColumn;

/* Whether some array lives in a file and is larger than what may be looked up in any order. (take_far.c) */
bool fl_take_is_far(FlCtx *ctx, const FlTakeColumn *columns, int32_t n);
/* Takes the rows of all columns; the numbers are known to be rows of them, or -1. Only the last column may
 * stand in the place of the numbers. */
FlStatus fl_take_far(FlCtx *ctx, FlTakeColumn *columns, int32_t n, const int64_t *rows, int64_t m);

#endif
