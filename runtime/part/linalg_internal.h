/* linalg_internal.h: what the files of matrix products share. Only linalg*.c reach BLAS and LAPACK, so that a
 * static binary without linear algebra does not hold them. */
#ifndef FL_PART_LINALG_INTERNAL_H
#define FL_PART_LINALG_INTERNAL_H

#include "kern/kern.h"
#include "part/lapack.h"
#include "part/part_internal.h"

/* A product of logical sizes [m, k] by [k, n], rows by columns. The element (i, p) of the first factor is
 * a[i * a_row + p * a_step], (p, j) of the second b[p * b_row + j * b_step]; the result is dense. */
typedef struct FlProduct {
  int32_t dtype;
  const void *first, *second; /* their elements */
  int64_t m, n, k;
  int64_t a_row, a_step, b_row, b_step;
  bool own;             /* the second factor is the first one transposed */
  bool add;             /* matrix: to what is there already */
  void *out;            /* [m, n] */
  int64_t all_m, all_k; /* of the product of which this is a part; 0: m, k */
} FlProduct;

/* Each writes p->out. Vector: m or n is 1. */
FlStatus fl_linalg_vector(FlPartMem *mem, const FlProduct *p); /* linalg_vector.c: f64, f32 */
FlStatus fl_linalg_matrix(FlPartMem *mem, const FlProduct *p); /* linalg_blas.c: f64, f32 */
FlStatus fl_linalg_integer(FlPartMem *mem, const FlOpDesc *desc, const FlProduct *p); /* linalg_integer.c */
/* Rows of a tile, where a part is rows of the result, or of a leaf, where it is a fold of some of k (more
 * than a leaf); 0: it is not made in parts. linalg_blas.c */
int64_t fl_linalg_unit(const FlProduct *p, bool folds);
/* The algorithm that the sizes and the type say. */
FlStatus fl_linalg_product(FlPartMem *mem, const FlOpDesc *desc, const FlProduct *p); /* linalg.c */

/* ---- around LAPACK (linalg_lapack.c) ---------------------------------------------------------------- */

/* Element i of doubles or floats. */
static inline double fl_linalg_at(const void *data, int64_t i, int32_t dtype) {
  return dtype == FL_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}
/* The function of the language that an operator stands for: operators are called linalg_<function>. */
static inline const char *fl_linalg_name(const FlOpDesc *desc) { return desc->s != NULL ? desc->s : "solve"; }
/* Copies [n, m] to [m, n]: LAPACK wants columns. */
void fl_linalg_flip(const void *from, void *to, int64_t n, int64_t m, int32_t dtype);

/* Each records an error unless it holds. Finite: E0977 names the first that is not, and with `of` what it is
 * an element of ("" or " of the right side"). Square: SHAPE, of the last two dimensions. Symmetric (n, n
 * finite numbers): E0978 where two opposite ones differ by more than 2^-26 of the largest, 2^-11 for f32.
 * Fits: sizes that LAPACK can count. Stuck: E0979, always. */
int64_t fl_linalg_first_odd(FlPartMem *mem, const FlArray *a); /* the first that is not finite; INT64_MAX */
FlStatus fl_linalg_finite(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, const char *of);
FlStatus fl_linalg_square(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a);
FlStatus fl_linalg_symmetric(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a);
FlStatus fl_linalg_fits(FlPartMem *mem, const FlOpDesc *desc, int64_t m, int64_t n);
/* Square, fits, finite and symmetric. */
FlStatus fl_linalg_ready_symmetric(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a);
FlStatus fl_linalg_stuck(FlPartMem *mem, const FlOpDesc *desc);

/* The language's rule for the sign of a vector that is only known up to it: of its n elements, `step` apart,
 * the first whose size is within a thousandth of the largest is positive. Does this one break it? */
bool fl_linalg_points_down(const void *v, int64_t n, int64_t step, int32_t dtype);
void fl_linalg_negate(void *v, int64_t n, int64_t step, int32_t dtype);

/* The work that LAPACK asked for, in the element type, in *asked. NULL: error recorded. */
void *fl_linalg_work(FlPartMem *mem, const FlOpDesc *desc, const void *asked, int *lwork);

/* The thin singular value decomposition of a[m, n], k = min(m, n): u[m, k], s[k] descending, vt[k, n], with
 * the rule of signs for the columns of u. u and vt may be NULL, both: only s. (linalg_svd.c) */
FlStatus fl_linalg_svd(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, FlArray **u, FlArray **s,
                       FlArray **vt);

/* n computed elements, as they are stored in an array: with one NaN. (linalg.c) */
void fl_linalg_one_nan(int32_t dtype, void *data, int64_t n);

#endif
