/* linalg_batch.c: the operator linalg_products: many products of matrices side by side.
 *
 * Comes in: a[k, n, m] and b[k, m, p], f64 or f32. Goes out: [k, n, p], the product of each pair. Small
 * products are summed here, row by row with the middle index in order, unfused; larger ones are one gemm
 * each. Always holds: which of both is decided by n, m and p alone, so neither k nor the workers change bits.
 */
#include <cblas.h>
#include <limits.h>

#include "part/linalg_internal.h"

enum {
  SMALL = 4096
}; /* multiplications of one product, up to which a call of gemm costs more than it gains */

typedef struct Batch {
  const FlArray *a, *b;
  char *out;
  int64_t n, m, p;
} Batch;

/* An element of the result is the sum of its products in the order of the middle index. The sums of a row
 * stay in registers where b has this few columns. */
#define MULTIPLY_NARROW(T, P)                                                                                \
  for (int64_t i = 0; i < n; i++) {                                                                          \
    T sum[P] = {0};                                                                                          \
    for (int64_t q = 0; q < m; q++) {                                                                        \
      for (int j = 0; j < P; j++) sum[j] += a[i * m + q] * b[q * P + j];                                     \
    }                                                                                                        \
    memcpy(out + i * P, sum, sizeof sum);                                                                    \
  }

/* A row of the result is the sum of rows of b. */
#define MULTIPLY(T)                                                                                          \
  {                                                                                                          \
    const T *restrict a = (const T *)t->a->data + k * n * m, *restrict b =                                   \
                                                                 (const T *)t->b->data + k * m * p;          \
    T *restrict out = (T *)(void *)t->out + k * n * p;                                                       \
    if (p == 2) MULTIPLY_NARROW(T, 2)                                                                        \
    else if (p == 3) MULTIPLY_NARROW(T, 3)                                                                   \
    else if (p == 4) MULTIPLY_NARROW(T, 4)                                                                   \
    else                                                                                                     \
      for (int64_t i = 0; i < n; i++) {                                                                      \
        for (int64_t j = 0; j < p; j++) out[i * p + j] = 0;                                                  \
        for (int64_t q = 0; q < m; q++) {                                                                    \
          T x = a[i * m + q];                                                                                \
          for (int64_t j = 0; j < p; j++) out[i * p + j] += x * b[q * p + j];                                \
        }                                                                                                    \
      }                                                                                                      \
  }

static int32_t small_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Batch *t = env;
  int64_t n = t->n, m = t->m, p = t->p;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    if (t->a->dtype == FL_F64) MULTIPLY(double)
    else MULTIPLY(float)
  }
  fl_linalg_one_nan(t->a->dtype, t->out + begin * n * p * fl_dtype_info[t->a->dtype].bytes,
                    (end - begin) * n * p);
  return 0;
}

static int32_t gemm_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Batch *t = env;
  blasint n = (blasint)t->n, m = (blasint)t->m, p = (blasint)t->p;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    int64_t a = k * t->n * t->m, b = k * t->m * t->p, out = k * t->n * t->p;
    if (t->a->dtype == FL_F64) {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, p, m, 1.0, (const double *)t->a->data + a, m,
                  (const double *)t->b->data + b, p, 0.0, (double *)(void *)t->out + out, p);
    } else {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, p, m, 1.0f, (const float *)t->a->data + a, m,
                  (const float *)t->b->data + b, p, 0.0f, (float *)(void *)t->out + out, p);
    }
    fl_linalg_one_nan(t->a->dtype, (char *)t->out + out * fl_dtype_info[t->a->dtype].bytes, t->n * t->p);
  }
  return 0;
}

static FlStatus products(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *a = args[0].a, *b = args[1].a;
  if (a->dims[0] != b->dims[0]) return fl_part_fail_shape(mem->ctx, desc, a->dims[0], b->dims[0]);
  if (a->dims[2] != b->dims[1]) return fl_part_fail_shape(mem->ctx, desc, a->dims[2], b->dims[1]);
  int64_t k = a->dims[0], n = a->dims[1], m = a->dims[2], p = b->dims[2];
  *out = fl_array_new(mem->ctx, a->dtype, 3, (int64_t[]){k, n, p});
  if (*out == NULL) return 1;
  if (fl_part_max(n, fl_part_max(m, p)) > INT_MAX) {
    return fl_fail_op(mem->ctx, desc, FL_CODE_RESOURCE,
                      "a matrix product has a side of more than %d elements", INT_MAX);
  }
  Batch t = {a, b, (*out)->data, n, m, p};
  double work = (double)n * (double)m * (double)p;
  if (k == 0 || n == 0 || p == 0) return 0;
  return fl_part_for(mem->ctx, work <= SMALL ? small_body : gemm_body, &t, k,
                     work <= SMALL ? 10.0 + 0.3 * work + (double)(n * p) : 500.0 + 0.05 * work);
}

FlStatus fl_rt_linalg_products(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, products);
}
