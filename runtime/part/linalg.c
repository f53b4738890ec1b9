/* linalg.c: the operator matmul: reads the call and chooses the algorithm, by types and sizes alone.
 *
 * Comes in: two arrays of rank 1 or 2, each perhaps to be read transposed. Goes out: the last dimension of
 * the first contracted with the first of the second. Always holds: the same arguments give the same bits on
 * any number of workers. */
#include "part/linalg_internal.h"

/* Sizes and strides of a factor: rows and columns as the product sees them. A vector is a row when it is
 * first and a column when it is second. */
typedef struct Factor {
  int64_t rows, columns, row, step;
} Factor;

static Factor factor(const FlArray *a, bool transposed, bool first) {
  if (a->rank == 1) {
    int64_t n = a->dims[0];
    return first ? (Factor){1, n, n, 1} : (Factor){n, 1, 1, 1};
  }
  int64_t n = a->dims[0], d = a->dims[1];
  return transposed ? (Factor){d, n, 1, d} : (Factor){n, d, d, 1};
}

FlStatus fl_linalg_product(FlPartMem *m, const FlOpDesc *desc, const FlProduct *p) {
  if (p->m == 0 || p->n == 0) return 0;
  if (fl_dtype_info[p->dtype].kind != FL_KIND_FLOAT) return fl_linalg_integer(m, desc, p);
  return p->m == 1 || p->n == 1 ? fl_linalg_vector(m, p) : fl_linalg_matrix(m, p);
}

FlStatus fl_rt_matmul(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  const FlArray *a = args[0].a, *b = args[1].a;
  Factor x = factor(a, desc->i & 1, true), y = factor(b, desc->i & 2, false);
  if (x.columns != y.rows) return fl_part_fail_shape(ctx, desc, x.columns, y.rows);
  FlProduct p = {a->dtype, a->data, b->data, x.rows, y.columns, x.columns, x.row, x.step, y.row, y.step, (desc->i & 4) != 0, NULL};
  FlPartMem mem = {.ctx = ctx};
  FlArray *out = NULL;
  uint64_t scalar = 0;
  int32_t rank = a->rank + b->rank - 2;
  if (rank > 0) {
    int64_t dims[2] = {a->rank == 2 ? p.m : p.n, p.n};
    out = fl_array_new(ctx, p.dtype, rank, dims);
    if (out == NULL) return 1;
  }
  p.out = out != NULL ? out->data : &scalar;
  FlStatus status = fl_linalg_product(&mem, desc, &p);
  fl_part_mem_reset(&mem);
  if (status != 0) {
    fl_array_unref(out);
    return status;
  }
  if (out != NULL) {
    results[0].a = out;
    return 0;
  }
  switch (fl_dtype_info[p.dtype].bytes * (fl_dtype_info[p.dtype].kind == FL_KIND_SIGNED ? -1 : 1)) {
  case -1: results[0].i = (int8_t)scalar; break;
  case -2: results[0].i = (int16_t)scalar; break;
  case -4: results[0].i = (int32_t)scalar; break;
  default: results[0].u = scalar; break; /* floats are their own bits */
  }
  return 0;
}
