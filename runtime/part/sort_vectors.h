/* sort_vectors.h: values in ascending order by vectors of AVX-512. */
#ifndef FL_PART_SORT_VECTORS_H
#define FL_PART_SORT_VECTORS_H

#include <stddef.h>

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

/* Sorts n values, none of them NaN, where they are; of zeros the signs may be others than before. Only where
 * fl_cpu_level() is 4. */
void fl_vectors_sort(FlLane lane, void *values, size_t n);

#ifdef __cplusplus
}
#endif

#endif
