/* fill.h: arrays that are not written yet are, before somebody reads them (data/unwritten.h). */
#ifndef FL_PART_FILL_H
#define FL_PART_FILL_H

#include "data/data.h"

/* Writes the elements of an array, where it has some that are not: all chunks of its rows, by all workers.
 * NULL and arrays of any kind are allowed. Non-zero: there is no memory, or the run is stopped; recorded. */
FlStatus fl_part_fill(FlCtx *ctx, const FlArray *a);
/* May texts that the operator gives be codes alone, its result `of` be rows that are not copied yet? Not
 * where rows may be in parts: messages have elements. */
bool fl_part_gives_codes(const FlCtx *ctx, const FlOpDesc *desc);
bool fl_part_gives_apart(FlCtx *ctx, const FlOpDesc *desc, int32_t of);

#endif
