/* sort_vectors.h: values in ascending order by vectors of AVX-512. Everything here is only where
 * fl_cpu_level() is 4. */
#ifndef FL_PART_SORT_VECTORS_H
#define FL_PART_SORT_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum FlLane {
  FL_LANE_I16,
  FL_LANE_U16,
  FL_LANE_I32,
  FL_LANE_U32,
  FL_LANE_F32,
  FL_LANE_I64,
  FL_LANE_U64,
  FL_LANE_F64
} FlLane;

/* Sorts n values, none of them NaN, where they are; of zeros of both signs some may take the other's. */
void fl_vectors_sort(FlLane lane, void *values, size_t n);

/* Sides: n_cuts values that go up cut all others into n_cuts + 1, of which the first has those up to the
 * first cut, and so on. Counts n values, none of them NaN, by side, on top of what is in `count`. */
void fl_vectors_count(FlLane lane, const void *values, size_t n, const void *cuts, int n_cuts,
                      int64_t *count);
/* Writes each value where its side goes on, at place at[side] of `to`, and no others there. */
void fl_vectors_spread(FlLane lane, const void *values, size_t n, const void *cuts, int n_cuts, int64_t *at,
                       void *to);

#ifdef __cplusplus
}
#endif

#endif
