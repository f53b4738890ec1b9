/* linalg.c: the operators matmul and matmul_add: reads the call and chooses the algorithm, by types and sizes
 * alone.
 *
 * Comes in: two arrays of rank 1 or 2, each perhaps to be read transposed. Goes out: the last dimension of
 * the first contracted with the first of the second, of matmul_add added to a third. Always holds: the same
 * arguments give the same bits on any number of workers. */
#include "part/linalg_internal.h"

#include <string.h>

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

/* Nearly always there is none, and elements are only read: a sum with a NaN is one. So is that of infinities,
 * where there may be none after all. */
#define ONE_NAN(T, CANON)                                                                                    \
  {                                                                                                          \
    enum { LANES = 64 / sizeof(T) };                                                                         \
    typedef T Lanes __attribute__((vector_size(64), aligned(sizeof(T))));                                    \
    T *x = data, rest = 0;                                                                                   \
    Lanes sums[4] = {{0}};                                                                                   \
    int64_t i = 0;                                                                                           \
    for (; i + 4 * LANES <= n; i += 4 * LANES) {                                                             \
      const Lanes *v = (const Lanes *)(x + i);                                                               \
      for (int k = 0; k < 4; k++) sums[k] += v[k];                                                           \
    }                                                                                                        \
    sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);                                                     \
    for (int lane = 0; lane < LANES; lane++) rest += sums[0][lane];                                          \
    for (; i < n; i++) rest += x[i];                                                                         \
    if (rest == rest) return;                                                                                \
    for (i = 0; i < n; i++) x[i] = CANON(x[i]);                                                              \
  }

FL_PART_WIDE void fl_linalg_one_nan(int32_t dtype, void *data, int64_t n) {
  if (dtype == FL_F64) ONE_NAN(double, fl_s_canon_f64)
  else ONE_NAN(float, fl_s_canon_f32)
}

FlStatus fl_linalg_product(FlPartMem *m, const FlOpDesc *desc, const FlProduct *p) {
  if (p->m == 0 || p->n == 0) return 0;
  if (!fl_dtype_is_float(p->dtype)) return fl_linalg_integer(m, desc, p);
  return p->m == 1 || p->n == 1 ? fl_linalg_vector(m, p) : fl_linalg_matrix(m, p);
}

/* Says how the product can be made in parts, and makes the one that is asked for. */
static FlStatus in_part(FlCtx *ctx, const FlOpDesc *desc, FlOpPart *part, FlProduct p, int32_t rank) {
  bool vector = p.m == 1 || p.n == 1, none = p.m == 0 || p.n == 0 || p.k == 0 || !fl_dtype_is_float(p.dtype);
  int64_t size = fl_dtype_info[p.dtype].bytes, from = part->from, to = part->to;
  if (from >= 0) {
    if (part->folds) p.all_k = p.k;
    else p.all_m = p.m;
    *(part->folds ? &p.k : &p.m) = to - from;
    p.first = (const char *)p.first + from * (part->folds ? p.a_step : p.a_row) * size;
    if (part->folds) p.second = (const char *)p.second + from * p.b_row * size;
    p.out = part->out;
    FlPartMem mem = {.ctx = ctx};
    FlStatus s = vector ? fl_linalg_vector(&mem, &p) : fl_linalg_matrix(&mem, &p);
    fl_part_mem_reset(&mem);
    return s;
  }
  bool folds = part->folds = rank == 1 || (desc->i & 1);
  part->rows = folds ? p.k : p.m;
  part->width = folds ? p.m * p.n : p.n;
  part->dims[0] = rank == 2 ? p.m : p.n;
  part->dims[1] = p.n;
  part->cost = 0.05 * (double)p.n * (double)(folds ? p.m : p.k);
  if (vector) part->unit = folds ? (p.k > FL_BLOCK ? FL_BLOCK : 0) : p.m > 1;
  else part->unit = none ? 0 : fl_linalg_unit(&p, folds);
  if (none) part->unit = 0;
  return 0;
}

FlStatus fl_rt_matmul(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  const FlArray *a = args[0].a, *b = args[1].a;
  Factor x = factor(a, desc->i & 1, true), y = factor(b, desc->i & 2, false);
  if (x.columns != y.rows) {
    if (fl_ctx_op_part(ctx)) return 0; /* who asks for all of it is told */
    return fl_part_fail_shape(ctx, desc, x.columns, y.rows);
  }
  FlProduct p = {a->dtype,           a->data, b->data, x.rows, y.columns,
                 x.columns,          x.row,   x.step,  y.row,  y.step,
                 (desc->i & 4) != 0, false,   NULL,    0,      0};
  FlOpPart *part = fl_ctx_op_part(ctx);
  if (part) return in_part(ctx, desc, part, p, a->rank);
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
  switch (fl_dtype_info[p.dtype].bytes * (fl_dtype_is_signed(p.dtype) ? -1 : 1)) {
  case -1: results[0].i = (int8_t)scalar; break;
  case -2: results[0].i = (int16_t)scalar; break;
  case -4: results[0].i = (int32_t)scalar; break;
  default: results[0].u = scalar; break; /* floats are their own bits */
  }
  return 0;
}

/* The product by itself, then the sum. */
static FlStatus add_apart(FlPartMem *m, const FlOpDesc *desc, FlProduct p) {
  void *sum = p.out;
  p.add = false;
  p.out = fl_part_alloc(m, p.m * p.n, (size_t)fl_dtype_info[p.dtype].bytes);
  if (p.out == NULL || fl_linalg_product(m, desc, &p) != 0) return 1;
  for (int64_t i = 0; i < p.m * p.n; i++) {
    if (p.dtype == FL_F64) ((double *)sum)[i] += ((const double *)p.out)[i];
    else ((float *)sum)[i] += ((const float *)p.out)[i];
  }
  return 0;
}

FlStatus fl_rt_matmul_add(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlArray *c = args[0].a;
  const FlArray *a = args[1].a, *b = args[2].a;
  Factor x = factor(a, desc->i & 1, true), y = factor(b, desc->i & 2, false);
  if (x.columns != y.rows) return fl_part_fail_shape(ctx, desc, x.columns, y.rows);
  if (x.rows != c->dims[0]) return fl_part_fail_shape(ctx, desc, c->dims[0], x.rows);
  if (y.columns != c->dims[1]) return fl_part_fail_shape(ctx, desc, c->dims[1], y.columns);
  FlArray *out = desc->i & FL_MATMUL_LAST ? fl_array_reuse(c) : NULL;
  if (out == NULL) {
    out = fl_array_new(ctx, c->dtype, 2, c->dims);
    if (out == NULL) return 1;
    memcpy(out->data, c->data, (size_t)fl_array_bytes(c));
  }
  FlProduct p = {c->dtype, a->data, b->data, x.rows, y.columns, x.columns, x.row, x.step,
                 y.row,    y.step,  false,   true,   out->data, 0,         0};
  FlPartMem mem = {.ctx = ctx};
  FlStatus status = 0;
  if (p.m > 0 && p.n > 0 && p.k > 0)
    status = p.m == 1 || p.n == 1 ? add_apart(&mem, desc, p) : fl_linalg_matrix(&mem, &p);
  fl_part_mem_reset(&mem);
  if (status != 0) {
    fl_array_unref(out);
    return status;
  }
  results[0].a = out;
  return 0;
}
