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

static double small_det(const void *a, int64_t n, int32_t dtype) {
  double lu[SMALL * SMALL];
  if (dtype == FL_F64) memcpy(lu, a, (size_t)(n * n) * sizeof *lu);
  else
    for (int64_t i = 0; i < n * n; i++) lu[i] = fl_linalg_at(a, i, dtype);
  switch (n) {
  case 2: return eliminate(lu, 2);
  case 3: return eliminate(lu, 3);
  case 4: return eliminate(lu, 4);
  default: return eliminate(lu, n);
  }
}

/* By LAPACK; lu is the matrix, and is written over. A matrix and its transpose have the same determinant. */
static double large_det(void *lu, int *pivots, int64_t n, int32_t dtype) {
  int order = (int)n, info = 0;
  double product = 1.0;
  FL_LAPACK_CALL(dtype, getrf, &order, &order, lu, &order, pivots, &info);
  for (int64_t i = 0; i < n; i++) {
    double d = fl_linalg_at(lu, i * n + i, dtype);
    product *= pivots[i] == i + 1 ? d : -d;
  }
  return info > 0 ? 0.0 : product; /* a pivot is exactly zero */
}

/* Of matrices side by side, n on a side. */
typedef struct Dets {
  const FlArray *a;
  char *out;
  int64_t n;
} Dets;

static void put_det(const Dets *t, int64_t k, double v) {
  if (t->a->dtype == FL_F64) ((double *)(void *)t->out)[k] = fl_s_canon_f64(v);
  else ((float *)(void *)t->out)[k] = fl_s_canon_f32((float)v);
}

static int32_t dets_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Dets *t = env;
  int64_t n = t->n, size = n * n * fl_dtype_info[t->a->dtype].bytes;
  bool small = n <= SMALL;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  char *lu = small ? NULL : fl_counted_new(pool, (size_t)size); /* of one matrix */
  int *pivots = small ? NULL : fl_counted_new(pool, (size_t)n * sizeof *pivots);
  bool room = small || (lu != NULL && pivots != NULL);
  for (int64_t k = begin; k < end && room; k++) {
    const char *one = (const char *)t->a->data + k * size;
    if (!small) memcpy(lu, one, (size_t)size);
    put_det(t, k,
            n == 0  ? 1.0
            : small ? small_det(one, n, t->a->dtype)
                    : large_det(lu, pivots, n, t->a->dtype));
  }
  fl_counted_free(lu);
  fl_counted_free(pivots);
  return !room;
}

/* The determinants of a[k, n, n], or of a[n, n]. */
static FlStatus dets(FlPartMem *mem, const FlArray *a, char *out) {
  int64_t count = a->rank == 3 ? a->dims[0] : 1, n = a->dims[a->rank - 1];
  Dets t = {.a = a, .out = out, .n = n};
  double side = (double)n, cost = 20.0 + side * side * (1.0 + 0.3 * side);
  bool done = count == 1 ? dets_body(mem->ctx, &t, 0, 1) == 0
                         : fl_part_for(mem->ctx, dets_body, &t, count, cost) == 0;
  return done ? 0 : fl_part_fail_memory(mem);
}

/* Each matrix of a[k, n, n] is looked at as one by itself, so that an error is that of a loop over them. */
static FlStatus all_finite(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a) {
  int64_t cells = a->dims[1] * a->dims[2], bytes = cells * fl_dtype_info[a->dtype].bytes;
  if (fl_linalg_first_odd(mem, a) == INT64_MAX) return 0;
  for (int64_t k = 0; k < a->dims[0]; k++) {
    FlArray one = *a;
    one.rank = 2;
    one.dims[0] = a->dims[1];
    one.dims[1] = a->dims[2];
    one.data = (char *)a->data + k * bytes;
    if (fl_linalg_finite(mem, desc, &one, "") == 0) continue;
    fl_fail_position(mem->ctx, 1, &k);
    return 1;
  }
  return 0;
}

static FlStatus ready(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a) {
  int64_t n = a->dims[a->rank - 1];
  if (a->rank == 3 && a->dims[0] == 0) return 0;
  if (fl_linalg_square(mem, desc, a) != 0 || fl_linalg_fits(mem, desc, n, n) != 0) return 1;
  return a->rank == 3 ? all_finite(mem, desc, a) : fl_linalg_finite(mem, desc, a, "");
}

static FlStatus many_dets(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *a = args[0].a;
  if (ready(mem, desc, a) != 0) return 1;
  *out = fl_array_new(mem->ctx, a->dtype, 1, a->dims);
  return *out == NULL ? 1 : dets(mem, a, (*out)->data);
}

FlStatus fl_rt_linalg_det(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  const FlArray *a = args[0].a;
  if (a->rank == 3) return fl_part_give(ctx, desc, args, results, 1, many_dets);
  FlPartMem mem = {.ctx = ctx};
  results[0] = (FlSlot){0};
  char *out = a->dtype == FL_F64 ? (char *)&results[0].f : (char *)&results[0].f32;
  FlStatus status = ready(&mem, desc, a) != 0 ? 1 : dets(&mem, a, out);
  fl_part_mem_reset(&mem);
  return status;
}
