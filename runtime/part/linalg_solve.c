/* linalg_solve.c: the operator solve: linear equations by LU with partial pivoting (LAPACK gesv of OpenBLAS).
 *
 * Comes in: a[n, n] and b[n] or b[n, m]; or k of them, a[k, n, n] and b[k, n] or b[k, n, m], side by side
 * over the pool. Goes out: x of b's shape with a @ x = b. Always holds: one thread a system, so the bits
 * depend on the arguments alone (and this OpenBLAS on this class of CPU). A pivot that is exactly zero is an
 * error, and so is NaN or infinity in what comes in. */
#include <limits.h>

#include "part/linalg_internal.h"

typedef struct Systems {
  const FlArray *a;
  const char *b;
  char *x;
  int64_t n, m, size; /* of one system; bytes of an element */
  char *lu, *columns;
  int *pivots;
  _Atomic int64_t bad; /* system * (n + 1) + info of the first that is singular */
} Systems;

static int32_t solve_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Systems *s = (Systems *)(uintptr_t)env;
  int64_t n = s->n, m = s->m;
  int32_t dtype = s->a->dtype;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    char *lu = s->lu + k * n * n * s->size, *columns = s->columns + k * n * m * s->size;
    int order = (int)n, sides = (int)m, info = 0;
    fl_linalg_flip((const char *)s->a->data + k * n * n * s->size, lu, n, n, dtype);
    fl_linalg_flip(s->b + k * n * m * s->size, columns, n, m, dtype);
    FL_LAPACK_CALL(dtype, gesv, &order, &sides, lu, &order, s->pivots + k * n, columns, &order, &info);
    if (info > 0) fl_part_first(&s->bad, k * (n + 1) + info);
    fl_linalg_flip(columns, s->x + k * n * m * s->size, m, n, dtype);
  }
  return 0;
}

static FlStatus solve_into(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, const FlArray *b,
                           FlArray *x) {
  bool batch = a->rank == 3;
  int64_t k = batch ? a->dims[0] : 1, n = a->dims[a->rank - 1],
          m = b->rank == a->rank ? b->dims[b->rank - 1] : 1;
  if (k == 0 || n == 0 || m == 0) return 0;
  if (n > INT_MAX || m > INT_MAX) {
    return fl_fail_op(mem->ctx, desc, FL_CODE_RESOURCE, "a system of more than %d equations", INT_MAX);
  }
  size_t size = (size_t)fl_dtype_info[a->dtype].bytes;
  Systems s = {.a = a, .b = b->data, .x = x->data, .n = n, .m = m, .size = (int64_t)size, .bad = INT64_MAX};
  s.lu = fl_part_alloc(mem, k * n * n, size);
  s.columns = fl_part_alloc(mem, k * n * m, size);
  s.pivots = fl_part_alloc(mem, k * n, sizeof *s.pivots);
  if (s.lu == NULL || s.columns == NULL || s.pivots == NULL) return 1;
  double side = (double)n;
  if (fl_part_for(mem->ctx, solve_body, &s, k, 200.0 + side * side * (2.0 + (double)m + 0.1 * side)) != 0)
    return 1;
  int64_t bad = atomic_load(&s.bad);
  if (bad == INT64_MAX) return 0;
  long long matrix = (long long)((bad - 1) / (n + 1)), column = (long long)((bad - 1) % (n + 1));
  if (batch) {
    return fl_fail_op(mem->ctx, desc, FL_CODE(970),
                      "matrix %lld is singular: column %lld depends on the columns before it", matrix,
                      column);
  }
  return fl_fail_op(mem->ctx, desc, FL_CODE(970),
                    "the matrix is singular: column %lld depends on the columns before it", column);
}

static FlStatus solve(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **x) {
  const FlArray *a = args[0].a, *b = args[1].a;
  if (fl_linalg_square(mem, desc, a) != 0) return 1;
  for (int k = 0; k < a->rank - 1; k++)
    if (b->dims[k] != a->dims[k]) return fl_part_fail_shape(mem->ctx, desc, a->dims[k], b->dims[k]);
  if (fl_linalg_finite(mem, desc, a, "") != 0 || fl_linalg_finite(mem, desc, b, " of the right side") != 0)
    return 1;
  *x = fl_array_new(mem->ctx, b->dtype, b->rank, b->dims);
  return *x == NULL ? 1 : solve_into(mem, desc, a, b, *x);
}

FlStatus fl_rt_solve(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, solve);
}
