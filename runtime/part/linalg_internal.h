/* linalg_internal.h: what the files of matrix products share. Only linalg*.c reach BLAS and LAPACK, so that a
 * static binary without linear algebra does not hold them. */
#ifndef FL_PART_LINALG_INTERNAL_H
#define FL_PART_LINALG_INTERNAL_H

#include "part/part_internal.h"

/* A product of logical sizes [m, k] by [k, n], rows by columns. The element (i, p) of the first factor is
 * a[i * a_row + p * a_step], (p, j) of the second b[p * b_row + j * b_step]; the result is dense. */
typedef struct FlProduct {
  int32_t dtype;
  const FlArray *first, *second;
  int64_t m, n, k;
  int64_t a_row, a_step, b_row, b_step;
  void *out; /* [m, n] */
} FlProduct;

/* Each writes p->out. Vector: m or n is 1. */
FlStatus fl_linalg_vector(FlPartMem *mem, const FlProduct *p); /* linalg_vector.c: f64, f32 */
FlStatus fl_linalg_matrix(FlPartMem *mem, const FlProduct *p); /* linalg_blas.c: f64, f32 */
FlStatus fl_linalg_integer(FlPartMem *mem, const FlOpDesc *desc, const FlProduct *p); /* linalg_integer.c */

#endif
