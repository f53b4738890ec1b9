/* linalg_solve.c: the operator solve: linear equations by LU with partial pivoting (LAPACK gesv of OpenBLAS).
 *
 * Comes in: a[n, n] and b[n] or b[n, m]. Goes out: x of b's shape with a @ x = b. Always holds: one thread,
 * so the bits depend on the arguments alone (and this OpenBLAS on this class of CPU). A pivot that is exactly
 * zero is an error. */
#include <limits.h>

#include "part/linalg_internal.h"

extern void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *pivots, double *b,
                   const int *ldb, int *info);
extern void sgesv_(const int *n, const int *nrhs, float *a, const int *lda, int *pivots, float *b,
                   const int *ldb, int *info);

/* Copies [n, m] to [m, n]: LAPACK wants columns. */
static void flip(const void *from, void *to, int64_t n, int64_t m, int32_t dtype) {
  enum { TILE = 32 };
  for (int64_t i0 = 0; i0 < n; i0 += TILE) {
    for (int64_t j = 0; j < m; j++) {
      for (int64_t i = i0; i < fl_part_min(i0 + TILE, n); i++) {
        if (dtype == FL_F64) {
          ((double *)to)[j * n + i] = ((const double *)from)[i * m + j];
        } else {
          ((float *)to)[j * n + i] = ((const float *)from)[i * m + j];
        }
      }
    }
  }
}

static FlStatus solve_into(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, const FlArray *b,
                           FlArray *x) {
  int64_t n = a->dims[0], m = fl_array_row_count(b);
  if (n == 0 || m == 0) return 0;
  if (n > INT_MAX || m > INT_MAX) {
    return fl_fail_op(mem->ctx, desc, FL_CODE_RESOURCE, "a system of more than %d equations", INT_MAX);
  }
  size_t size = (size_t)fl_dtype_info[a->dtype].bytes;
  void *lu = fl_part_alloc(mem, n * n, size), *columns = fl_part_alloc(mem, n * m, size);
  int *pivots = fl_part_alloc(mem, n, sizeof *pivots);
  int order = (int)n, sides = (int)m, info = 0;
  if (lu == NULL || columns == NULL || pivots == NULL) return 1;
  flip(a->data, lu, n, n, a->dtype);
  flip(b->data, columns, n, m, a->dtype);
  if (a->dtype == FL_F64) {
    dgesv_(&order, &sides, lu, &order, pivots, columns, &order, &info);
  } else {
    sgesv_(&order, &sides, lu, &order, pivots, columns, &order, &info);
  }
  if (info > 0) {
    return fl_fail_op(mem->ctx, desc, FL_CODE(970),
                      "the matrix is singular: column %d depends on the columns before it", info - 1);
  }
  flip(columns, x->data, m, n, a->dtype);
  return 0;
}

static FlStatus solve(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **x) {
  const FlArray *a = args[0].a, *b = args[1].a;
  if (a->dims[0] != a->dims[1]) {
    return fl_fail_op(mem->ctx, desc, FL_FAULT_SHAPE,
                      "the matrix has %lld rows and %lld columns, expected a square one",
                      (long long)a->dims[0], (long long)a->dims[1]);
  }
  if (b->dims[0] != a->dims[0]) return fl_part_fail_shape(mem->ctx, desc, a->dims[0], b->dims[0]);
  *x = fl_array_new(mem->ctx, b->dtype, b->rank, b->dims);
  return *x == NULL ? 1 : solve_into(mem, desc, a, b, *x);
}

FlStatus fl_rt_solve(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, solve);
}
