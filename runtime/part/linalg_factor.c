/* linalg_factor.c: the operators linalg_cholesky, linalg_qr and linalg_det (LAPACK potrf, geqrf, getrf; small
 * determinants by elimination here).
 *
 * Comes in: a matrix of finite numbers. Goes out: factors of which each is unique: the diagonal of Cholesky's
 * and of r is not negative. Always holds: one thread, so the bits depend on the arguments alone (and this
 * OpenBLAS on this class of CPU). */
#include <math.h>

#include "part/linalg_internal.h"

static void set(void *data, int64_t i, int32_t dtype, double v) {
  if (dtype == FL_F64) ((double *)data)[i] = v;
  else ((float *)data)[i] = (float)v;
}

/* ---- cholesky ----------------------------------------------------------------------------------------- */

/* The rows of the lower factor are the columns of an upper one. */
static FlStatus cholesky(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *a = args[0].a;
  int64_t n = a->dims[0];
  if (fl_linalg_ready_symmetric(mem, desc, a) != 0) return 1;
  FlArray *l = *out = fl_array_new(mem->ctx, a->dtype, 2, a->dims);
  if (l == NULL) return 1;
  if (n == 0) return 0;
  int order = (int)n, info = 0;
  memcpy(l->data, a->data, (size_t)(n * n * fl_dtype_info[a->dtype].bytes));
  FL_LAPACK_CALL(a->dtype, potrf, "U", &order, l->data, &order, &info, 1);
  if (info > 0) {
    return fl_fail_op(mem->ctx, desc, FL_CODE(976),
                      "the matrix is not positive definite: its first %d row%s and column%s are not", info,
                      info == 1 ? "" : "s", info == 1 ? "" : "s");
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i + 1; j < n; j++) set(l->data, i * n + j, a->dtype, 0.0);
  }
  return 0;
}

FlStatus fl_rt_linalg_cholesky(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, cholesky);
}

/* ---- qr ----------------------------------------------------------------------------------------------- */

/* w: a by columns. It becomes r above the diagonal, then q. */
static FlStatus qr_into(FlPartMem *mem, const FlOpDesc *desc, void *w, int64_t m, int64_t n, FlArray *q,
                        FlArray *r) {
  int32_t dtype = q->dtype;
  int64_t k = fl_part_min(m, n);
  int rows = (int)m, columns = (int)n, least = (int)k, ask = -1, lwork = 0, info = 0;
  double asked[1] = {0};
  void *tau = fl_part_alloc(mem, k, sizeof(double));
  if (tau == NULL) return 1;
  FL_LAPACK_CALL(dtype, geqrf, &rows, &columns, w, &rows, tau, asked, &ask, &info);
  void *work = fl_linalg_work(mem, desc, asked, &lwork);
  if (work == NULL) return 1;
  FL_LAPACK_CALL(dtype, geqrf, &rows, &columns, w, &rows, tau, work, &lwork, &info);
  for (int64_t i = 0; i < k; i++) {
    for (int64_t j = 0; j < n; j++) {
      set(r->data, i * n + j, dtype, j < i ? 0.0 : fl_linalg_at(w, j * m + i, dtype));
    }
  }
  FL_LAPACK_CALL(dtype, orgqr, &rows, &least, &least, w, &rows, tau, asked, &ask, &info);
  work = fl_linalg_work(mem, desc, asked, &lwork);
  if (work == NULL) return 1;
  FL_LAPACK_CALL(dtype, orgqr, &rows, &least, &least, w, &rows, tau, work, &lwork, &info);
  size_t size = (size_t)fl_dtype_info[dtype].bytes;
  for (int64_t i = 0; i < k; i++) {
    if (!(fl_linalg_at(r->data, i * n + i, dtype) < 0)) continue;
    fl_linalg_negate((char *)r->data + (size_t)(i * n + i) * size, n - i, 1, dtype);
    fl_linalg_negate((char *)w + (size_t)(i * m) * size, m, 1, dtype);
  }
  fl_linalg_flip(w, q->data, k, m, dtype);
  return 0;
}

static FlStatus qr(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *a = args[0].a;
  int64_t m = a->dims[0], n = a->dims[1], k = fl_part_min(m, n);
  if (fl_linalg_fits(mem, desc, m, n) != 0 || fl_linalg_finite(mem, desc, a, "") != 0) return 1;
  out[0] = fl_array_new(mem->ctx, a->dtype, 2, (int64_t[]){m, k});
  out[1] = fl_array_new(mem->ctx, a->dtype, 2, (int64_t[]){k, n});
  void *w = fl_part_alloc(mem, m * n, (size_t)fl_dtype_info[a->dtype].bytes);
  if (out[0] == NULL || out[1] == NULL || w == NULL) return 1;
  if (k == 0) return 0;
  fl_linalg_flip(a->data, w, m, n, a->dtype);
  return qr_into(mem, desc, w, m, n, out[0], out[1]);
}

FlStatus fl_rt_linalg_qr(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 2, qr);
}

/* ---- det ---------------------------------------------------------------------------------------------- */

enum { SMALL = 16 }; /* the side of what is worked on here, in doubles: a call of LAPACK costs more */

/* By elimination with the largest element of each column, in the order of the columns. n is known where this
 * is inlined. */
static inline double eliminate(double *a, int64_t n) {
  double product = 1.0;
  for (int64_t k = 0; k < n; k++) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++) best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
    double pivot = a[best * n + k];
    if (pivot == 0.0) return 0.0;
    for (int64_t j = k; j < n && best != k; j++) {
      double above = a[k * n + j];
      a[k * n + j] = a[best * n + j];
      a[best * n + j] = above;
    }
    product *= best == k ? pivot : -pivot;
    for (int64_t i = k + 1; i < n; i++) {
      double factor = a[i * n + k] / pivot;
      for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return product;
}

static double small_det(const FlArray *a, int64_t n) {
  double lu[SMALL * SMALL];
  for (int64_t i = 0; i < n * n; i++) lu[i] = fl_linalg_at(a->data, i, a->dtype);
  switch (n) {
  case 2: return eliminate(lu, 2);
  case 3: return eliminate(lu, 3);
  case 4: return eliminate(lu, 4);
  default: return eliminate(lu, n);
  }
}

/* A matrix and its transpose have the same determinant. */
static FlStatus det(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, double *out) {
  int64_t n = a->dims[0];
  *out = 1.0;
  if (fl_linalg_square(mem, desc, a) != 0 || fl_linalg_fits(mem, desc, n, n) != 0 ||
      fl_linalg_finite(mem, desc, a, "") != 0)
    return 1;
  if (n == 0) return 0;
  if (n <= SMALL) {
    *out = small_det(a, n);
    return 0;
  }
  size_t size = (size_t)fl_dtype_info[a->dtype].bytes;
  void *lu = fl_part_alloc(mem, n * n, size);
  int *pivots = fl_part_alloc(mem, n, sizeof *pivots);
  if (lu == NULL || pivots == NULL) return 1;
  int order = (int)n, info = 0;
  memcpy(lu, a->data, (size_t)(n * n) * size);
  FL_LAPACK_CALL(a->dtype, getrf, &order, &order, lu, &order, pivots, &info);
  for (int64_t i = 0; i < n; i++) {
    double d = fl_linalg_at(lu, i * n + i, a->dtype);
    *out *= pivots[i] == i + 1 ? d : -d;
  }
  if (info > 0) *out = 0.0; /* a pivot is exactly zero */
  return 0;
}

FlStatus fl_rt_linalg_det(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  double v = 0;
  FlStatus status = det(&mem, desc, args[0].a, &v);
  fl_part_mem_reset(&mem);
  results[0] = (FlSlot){0};
  if (args[0].a->dtype == FL_F64) results[0].f = fl_s_canon_f64(v);
  else results[0].f32 = fl_s_canon_f32((float)v);
  return status;
}
