/* place.h: where code goes: regions, MAPs over sizes, ranges, sizes that are known to be none below zero. */
#ifndef FL_SEMA_PLACE_H
#define FL_SEMA_PLACE_H

#include "sema/state.h"

void fl_sema_mark_size(FlSema *s, FlValue *v);
bool fl_sema_is_size(FlSema *s,
                     const FlValue *v); /* certainly >= 0: a dimension, a count, the rows of a table */
/* lo..hi by step. count is its length; reports and returns false when a bound is no integer. */
typedef struct FlRangeVal {
  FlValue *lo, *count;
  int64_t step;
} FlRangeVal;
bool fl_sema_range(FlSema *s, const FlExpr *e, FlRangeVal *out);
FlValue *fl_sema_range_at(FlSema *s, const FlRangeVal *r,
                          FlValue *i); /* cannot overflow for 0 <= i < count */
/* A bool that is not nullable, scalar; reports otherwise. NULL: reported. */
FlValue *fl_sema_condition(FlSema *s, FlVal v, FlSpan span, const char *what);

/* Runs `body` with the builder inside region `r`; scopes, aliases and the builder are as before afterwards.
 */
typedef struct FlSavedPlace {
  FlBuilder b;
  int n_aliases;
  FlScope *scope;
} FlSavedPlace;
FlSavedPlace fl_sema_enter(FlSema *s, FlRegion *r);
void fl_sema_leave(FlSema *s, FlSavedPlace saved);

/* An array by its elements: a MAP over the sizes, with the builder inside it until fl_sema_map_end, which
 * takes the element at `index` and gives the array. */
typedef struct FlSemaMap {
  FlOp *op;
  FlValue *const *index; /* [rank] */
  FlSavedPlace saved;
} FlSemaMap;
FlSemaMap fl_sema_map(FlSema *s, int rank, FlValue *const *sizes, FlDtype element);
FlValue *fl_sema_map_end(FlSema *s, const FlSemaMap *map, FlValue *element);

#endif
