/* linalg_eigen.c: the operators linalg_eigh and linalg_eig: eigenvalues and vectors (LAPACK syevd, geev).
 *
 * Comes in: a square matrix of finite numbers, of eigh a symmetric one. Goes out: values, and unit vectors as
 * columns. Of eig both are complex, as real and imaginary parts, in LAPACK's order, in which the two of a
 * pair stand together, the one above the real axis first. Always holds: one thread, so the bits depend on the
 * arguments alone (and this OpenBLAS on this class of CPU); signs are those of the rule of signs. */
#include <math.h>

#include "part/linalg_internal.h"

/* ---- symmetric ---------------------------------------------------------------------------------------- */

static FlStatus eigh_into(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, FlArray *w, FlArray *v) {
  int64_t n = a->dims[0];
  int32_t dtype = a->dtype;
  size_t size = (size_t)fl_dtype_info[dtype].bytes;
  int order = (int)n, ask = -1, lwork = 0, liwork = (int)(3 + 5 * n), info = 0, integers[1];
  double asked[1] = {0};
  char *copy = fl_part_alloc(mem, n * n, size);
  int *iwork = fl_part_alloc(mem, liwork, sizeof *iwork);
  if (copy == NULL || iwork == NULL) return 1;
  memcpy(copy, a->data, (size_t)(n * n) * size);
  FL_LAPACK_CALL(dtype, syevd, "V", "U", &order, copy, &order, w->data, asked, &ask, integers, &ask, &info, 1,
                 1);
  void *work = fl_linalg_work(mem, desc, asked, &lwork);
  if (work == NULL) return 1;
  FL_LAPACK_CALL(dtype, syevd, "V", "U", &order, copy, &order, w->data, work, &lwork, iwork, &liwork, &info,
                 1, 1);
  if (info != 0) return fl_linalg_stuck(mem, desc);
  for (int64_t j = 0; j < n; j++) {
    char *vector = copy + (size_t)(j * n) * size;
    if (fl_linalg_points_down(vector, n, 1, dtype)) fl_linalg_negate(vector, n, 1, dtype);
  }
  fl_linalg_flip(copy, v->data, n, n, dtype);
  return 0;
}

static FlStatus eigh(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *a = args[0].a;
  int64_t n = a->dims[0];
  if (fl_linalg_ready_symmetric(mem, desc, a) != 0) return 1;
  out[0] = fl_array_new(mem->ctx, a->dtype, 1, &n);
  out[1] = fl_array_new(mem->ctx, a->dtype, 2, a->dims);
  if (out[0] == NULL || out[1] == NULL) return 1;
  return n == 0 ? 0 : eigh_into(mem, desc, a, out[0], out[1]);
}

FlStatus fl_rt_linalg_eigh(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 2, eigh);
}

/* ---- any matrix --------------------------------------------------------------------------------------- */

/* LAPACK makes one of the largest elements of a complex vector real: of these the largest is to be positive.
 */
static bool pair_points_down(const void *re, const void *im, int64_t n, int32_t dtype) {
  double most = 0;
  for (int64_t i = 0; i < n; i++) {
    double x = fl_linalg_at(re, i, dtype);
    if (fl_linalg_at(im, i, dtype) == 0 && fabs(x) > fabs(most)) most = x;
  }
  return most < 0;
}

/* vr: vectors one after the other; those of a pair are the real and the imaginary part of the first. Becomes
 * the real parts, im the imaginary ones. */
static void split_vectors(char *vr, char *im, const void *wi, int64_t n, int32_t dtype) {
  size_t line = (size_t)(n * fl_dtype_info[dtype].bytes);
  memset(im, 0, (size_t)n * line);
  for (int64_t j = 0; j < n; j++) {
    char *first = vr + (size_t)j * line, *second = first + line;
    if (fl_linalg_at(wi, j, dtype) == 0) {
      if (fl_linalg_points_down(first, n, 1, dtype)) fl_linalg_negate(first, n, 1, dtype);
      continue;
    }
    if (pair_points_down(first, second, n, dtype)) fl_linalg_negate(first, 2 * n, 1, dtype);
    memcpy(im + (size_t)j * line, second, line);
    memcpy(im + (size_t)(j + 1) * line, second, line);
    fl_linalg_negate(im + (size_t)(j + 1) * line, n, 1, dtype);
    memcpy(second, first, line);
    j++;
  }
}

static FlStatus eig_into(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, FlArray **out) {
  int64_t n = a->dims[0];
  int32_t dtype = a->dtype;
  size_t size = (size_t)fl_dtype_info[dtype].bytes;
  int order = (int)n, one = 1, ask = -1, lwork = 0, info = 0;
  double asked[1] = {0}, none[1];
  void *copy = fl_part_alloc(mem, n * n, size), *vr = fl_part_alloc(mem, n * n, size),
       *im = fl_part_alloc(mem, n * n, size);
  if (copy == NULL || vr == NULL || im == NULL) return 1;
  fl_linalg_flip(a->data, copy, n, n, dtype);
  FL_LAPACK_CALL(dtype, geev, "N", "V", &order, copy, &order, out[0]->data, out[1]->data, none, &one, vr,
                 &order, asked, &ask, &info, 1, 1);
  void *work = fl_linalg_work(mem, desc, asked, &lwork);
  if (work == NULL) return 1;
  FL_LAPACK_CALL(dtype, geev, "N", "V", &order, copy, &order, out[0]->data, out[1]->data, none, &one, vr,
                 &order, work, &lwork, &info, 1, 1);
  if (info != 0) return fl_linalg_stuck(mem, desc);
  split_vectors(vr, im, out[1]->data, n, dtype);
  fl_linalg_flip(vr, out[2]->data, n, n, dtype);
  fl_linalg_flip(im, out[3]->data, n, n, dtype);
  return 0;
}

static FlStatus eig(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *a = args[0].a;
  int64_t n = a->dims[0];
  if (fl_linalg_square(mem, desc, a) != 0 || fl_linalg_fits(mem, desc, n, n) != 0 ||
      fl_linalg_finite(mem, desc, a, "") != 0)
    return 1;
  for (int k = 0; k < 4; k++) {
    out[k] = fl_array_new(mem->ctx, a->dtype, k < 2 ? 1 : 2, a->dims);
    if (out[k] == NULL) return 1;
  }
  return n == 0 ? 0 : eig_into(mem, desc, a, out);
}

FlStatus fl_rt_linalg_eig(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 4, eig);
}
