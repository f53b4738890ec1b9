/* linalg_svd.c: the operators linalg_svd, linalg_pinv and linalg_lstsq: what stands on singular values
 * (LAPACK gesdd, gelsd).
 *
 * Comes in: a matrix of finite numbers, tall or wide, of any rank. Goes out: its thin decomposition; the
 * pseudo-inverse; the shortest of the solutions of least squares. Always holds: one thread a decomposition,
 * so the bits depend on the arguments alone (and this OpenBLAS on this class of CPU). */
#include <float.h>

#include "part/linalg_internal.h"

/* Rows of a are columns of its transpose, whose left vectors are a's right ones: nothing needs to be turned.
 */
static FlStatus decompose(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, FlArray *u, FlArray *s,
                          FlArray *vt) {
  int64_t m = a->dims[0], n = a->dims[1], k = fl_part_min(m, n);
  int32_t dtype = a->dtype;
  int rows = (int)n, columns = (int)m, least = (int)k, ldu = u != NULL ? rows : 1,
      ldvt = u != NULL ? least : 1;
  int ask = -1, lwork = 0, info = 0;
  const char *job = u != NULL ? "S" : "N";
  double asked[1] = {0}, none[1];
  size_t size = (size_t)fl_dtype_info[dtype].bytes;
  void *copy = fl_part_alloc(mem, m * n, size), *left = u != NULL ? vt->data : none,
       *right = u != NULL ? u->data : none;
  int *iwork = fl_part_alloc(mem, 8 * k, sizeof *iwork);
  if (copy == NULL || iwork == NULL) return 1;
  memcpy(copy, a->data, (size_t)(m * n) * size);
  FL_LAPACK_CALL(dtype, gesdd, job, &rows, &columns, copy, &rows, s->data, left, &ldu, right, &ldvt, asked,
                 &ask, iwork, &info, 1);
  void *work = fl_linalg_work(mem, desc, asked, &lwork);
  if (work == NULL) return 1;
  FL_LAPACK_CALL(dtype, gesdd, job, &rows, &columns, copy, &rows, s->data, left, &ldu, right, &ldvt, work,
                 &lwork, iwork, &info, 1);
  if (info != 0) return fl_linalg_stuck(mem, desc);
  for (int64_t i = 0; u != NULL && i < k; i++) {
    char *column = (char *)u->data + (size_t)i * size;
    if (!fl_linalg_points_down(column, m, k, dtype)) continue;
    fl_linalg_negate(column, m, k, dtype);
    fl_linalg_negate((char *)vt->data + (size_t)(i * n) * size, n, 1, dtype);
  }
  return 0;
}

FlStatus fl_linalg_svd(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, FlArray **u, FlArray **s,
                       FlArray **vt) {
  int64_t m = a->dims[0], n = a->dims[1], k = fl_part_min(m, n);
  if (fl_linalg_fits(mem, desc, m, n) != 0 || fl_linalg_finite(mem, desc, a, "") != 0) return 1;
  *s = fl_array_new(mem->ctx, a->dtype, 1, &k);
  if (*s == NULL) return 1;
  if (u != NULL) {
    *u = fl_array_new(mem->ctx, a->dtype, 2, (int64_t[]){m, k});
    *vt = fl_array_new(mem->ctx, a->dtype, 2, (int64_t[]){k, n});
    if (*u == NULL || *vt == NULL) return 1;
  }
  return k == 0 ? 0 : decompose(mem, desc, a, u != NULL ? *u : NULL, *s, u != NULL ? *vt : NULL);
}

static FlStatus svd(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  if (desc->i != 0) return fl_linalg_svd(mem, desc, args[0].a, NULL, &out[0], NULL);
  return fl_linalg_svd(mem, desc, args[0].a, &out[0], &out[1], &out[2]);
}

FlStatus fl_rt_linalg_svd(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, desc->i != 0 ? 1 : 3, svd);
}

/* ---- pinv and lstsq ----------------------------------------------------------------------------------- */

/* The share of the largest singular value below which one counts as zero; negative: numpy's default. */
static double share(const FlArray *a, double rcond) {
  if (rcond >= 0) return rcond;
  return (a->dtype == FL_F64 ? DBL_EPSILON : (double)FLT_EPSILON) *
         (double)fl_part_max(a->dims[0], a->dims[1]);
}

/* v / s for the values that count, times u'. */
static FlStatus pinv_of(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, double rcond, FlArray **parts,
                        FlArray *out) {
  if (fl_linalg_svd(mem, desc, a, &parts[0], &parts[1], &parts[2]) != 0) return 1;
  int64_t m = a->dims[0], n = a->dims[1], k = fl_part_min(m, n);
  int32_t dtype = a->dtype;
  double least = k > 0 ? share(a, rcond) * fl_linalg_at(parts[1]->data, 0, dtype) : 0.0;
  for (int64_t i = 0; i < k; i++) {
    double s = fl_linalg_at(parts[1]->data, i, dtype);
    for (int64_t j = 0; j < n; j++) {
      if (dtype == FL_F64) {
        double *v = (double *)parts[2]->data + i * n + j;
        *v = s > least ? *v / s : 0.0;
      } else {
        float *v = (float *)parts[2]->data + i * n + j;
        *v = s > least ? *v / (float)s : 0.0f;
      }
    }
  }
  if (k == 0) return 0; /* no element */
  FlProduct p = {dtype, parts[2]->data, parts[0]->data, n, m, k, 1, n, 1, k, false, false, out->data, 0, 0};
  return fl_linalg_product(mem, desc, &p);
}

static FlStatus pinv(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlArray *parts[3] = {NULL};
  *out = fl_array_new(mem->ctx, args[0].a->dtype, 2, (int64_t[]){args[0].a->dims[1], args[0].a->dims[0]});
  FlStatus status = *out == NULL ? 1 : pinv_of(mem, desc, args[0].a, args[1].f, parts, *out);
  for (int i = 0; i < 3; i++) fl_array_unref(parts[i]);
  return status;
}

FlStatus fl_rt_linalg_pinv(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, pinv);
}

typedef struct Squares {
  const FlArray *a, *b;
  double rcond;
  FlArray *x, *s;
  int rank;
} Squares;

static FlStatus lstsq_into(FlPartMem *mem, const FlOpDesc *desc, Squares *q) {
  int64_t m = q->a->dims[0], n = q->a->dims[1], given = q->b->rank == 2 ? q->b->dims[1] : 1,
          sides = fl_part_max(given, 1), tall = fl_part_max(m, n);
  int32_t dtype = q->a->dtype;
  size_t size = (size_t)fl_dtype_info[dtype].bytes;
  int rows = (int)m, columns = (int)n, right = (int)sides, ldb = (int)tall, ask = -1, lwork = 0, info = 0;
  double asked[1] = {0}, rcond = share(q->a, q->rcond);
  float rcond32 = (float)rcond;
  const void *least = dtype == FL_F64 ? (const void *)&rcond : (const void *)&rcond32;
  int integers[1] = {0};
  char *a = fl_part_alloc(mem, m * n, size), *b = fl_part_zalloc(mem, tall * sides, size),
       *turned = fl_part_alloc(mem, fl_part_max(m, n) * sides, size);
  if (a == NULL || b == NULL || turned == NULL) return 1;
  fl_linalg_flip(q->a->data, a, m, n, dtype);
  fl_linalg_flip(q->b->data, turned, m, given, dtype);
  for (int64_t j = 0; j < given; j++)
    memcpy(b + (size_t)(j * tall) * size, turned + (size_t)(j * m) * size, (size_t)m * size);
  FL_LAPACK_CALL(dtype, gelsd, &rows, &columns, &right, a, &rows, b, &ldb, q->s->data, least, &q->rank, asked,
                 &ask, integers, &info);
  void *work = fl_linalg_work(mem, desc, asked, &lwork);
  int *iwork = fl_part_alloc(mem, fl_part_max(integers[0], 1), sizeof *iwork);
  if (work == NULL || iwork == NULL) return 1;
  FL_LAPACK_CALL(dtype, gelsd, &rows, &columns, &right, a, &rows, b, &ldb, q->s->data, least, &q->rank, work,
                 &lwork, iwork, &info);
  if (info != 0) return fl_linalg_stuck(mem, desc);
  for (int64_t j = 0; j < given; j++)
    memcpy(turned + (size_t)(j * n) * size, b + (size_t)(j * tall) * size, (size_t)n * size);
  fl_linalg_flip(turned, q->x->data, given, n, dtype);
  return 0;
}

static FlStatus lstsq(FlPartMem *mem, const FlOpDesc *desc, Squares *q) {
  int64_t m = q->a->dims[0], n = q->a->dims[1], k = fl_part_min(m, n), dims[2] = {n, q->b->dims[1]};
  if (q->b->dims[0] != m) return fl_part_fail_shape(mem->ctx, desc, m, q->b->dims[0]);
  int64_t sides = q->b->rank == 2 ? q->b->dims[1] : 1;
  if (fl_linalg_fits(mem, desc, m, n) != 0 || fl_linalg_fits(mem, desc, sides, 1) != 0 ||
      fl_linalg_finite(mem, desc, q->a, "") != 0 ||
      fl_linalg_finite(mem, desc, q->b, " of the right side") != 0)
    return 1;
  q->x = fl_array_new(mem->ctx, q->a->dtype, q->b->rank, dims);
  q->s = fl_array_new(mem->ctx, q->a->dtype, 1, &k);
  if (q->x == NULL || q->s == NULL) return 1;
  if (k > 0) return lstsq_into(mem, desc, q);
  memset(q->x->data, 0, (size_t)(fl_array_count(q->x) * fl_dtype_info[q->x->dtype].bytes));
  return 0;
}

FlStatus fl_rt_linalg_lstsq(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  Squares q = {.a = args[0].a, .b = args[1].a, .rcond = args[2].f};
  FlStatus status = lstsq(&mem, desc, &q);
  fl_part_mem_reset(&mem);
  if (status != 0) {
    fl_array_unref(q.x);
    fl_array_unref(q.s);
    q.x = q.s = NULL;
  }
  results[0].a = q.x;
  results[1].i = q.rank;
  results[2].a = q.s;
  return status;
}
