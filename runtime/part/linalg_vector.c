/* linalg_vector.c: products with a vector, in the language's order of reductions.
 *
 * Every element of the result is sum(for p in 0..k: a[p] * b[p]) to the bit: blocks of 4096 positions, in
 * each 32 lanes by position mod 32 that start at +0.0 and take fused products, lanes joined by the butterfly
 * l[i] += l[i + 16], 8, 4, 2, 1, block results added from left to right (LANGUAGE 5). */
#include "part/linalg_internal.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

enum {
  COLUMNS = 16
}; /* of a matrix that is walked down: lanes of so many columns stay in the first-level cache */

#define VECTOR_CODE(T, FMA, SUFFIX)                                                                          \
  static T butterfly_##SUFFIX(T *lane) {                                                                     \
    for (int64_t half = FL_LANES / 2; half > 0; half /= 2) {                                                 \
      for (int64_t i = 0; i < half; i++) lane[i] += lane[i + half];                                          \
    }                                                                                                        \
    return lane[0];                                                                                          \
  }                                                                                                          \
  /* One block of two dense vectors. */                                                                      \
  WIDE static void dense_##SUFFIX(const T *a, const T *b, int64_t n, T *lane) {                              \
    T l[FL_LANES] = {0};                                                                                     \
    int64_t p = 0;                                                                                           \
    for (; p + FL_LANES <= n; p += FL_LANES) {                                                               \
      for (int64_t i = 0; i < FL_LANES; i++) l[i] = FMA(a[p + i], b[p + i], l[i]);                           \
    }                                                                                                        \
    for (int64_t i = 0; p + i < n; i++) l[i] = FMA(a[p + i], b[p + i], l[i]);                                \
    memcpy(lane, l, sizeof l);                                                                               \
  }                                                                                                          \
  /* One block of `count` neighbouring columns of a matrix (rows `row` apart), at most COLUMNS, with a dense \
   * vector: their sums are the first lanes. */                                                                                \
  static inline __attribute__((always_inline)) void walk_##SUFFIX(const T *a, int64_t row, const T *b,       \
                                                                  int64_t n, int64_t count, T *lane) {       \
    memset(lane, 0, sizeof(T) * FL_LANES * COLUMNS);                                                         \
    for (int64_t p = 0; p < n; p++) {                                                                        \
      T *l = lane + p % FL_LANES * COLUMNS, factor = b[p];                                                   \
      const T *x = a + p * row;                                                                              \
      for (int64_t c = 0; c < count; c++) l[c] = FMA(x[c], factor, l[c]);                                    \
    }                                                                                                        \
    for (int64_t half = FL_LANES / 2; half > 0; half /= 2) { /* the butterfly, of all columns at once */     \
      for (int64_t i = 0; i < half; i++) {                                                                   \
        T *to = lane + i * COLUMNS, *from = to + half * COLUMNS;                                             \
        for (int64_t c = 0; c < COLUMNS; c++) to[c] += from[c];                                              \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  WIDE static void columns_##SUFFIX(const T *a, int64_t row, const T *b, int64_t n, T *lane) {               \
    walk_##SUFFIX(a, row, b, n, COLUMNS, lane);                                                              \
  }                                                                                                          \
  WIDE static void few_columns_##SUFFIX(const T *a, int64_t row, const T *b, int64_t n, int64_t count,       \
                                        T *lane) {                                                           \
    walk_##SUFFIX(a, row, b, n, count, lane);                                                                \
  }                                                                                                          \
  /* Results [first, last) of block `block`, for a matrix whose reduced axis is dense, or whose result axis  \
   * is. */                                                                                                  \
  static void block_##SUFFIX(const Vector *v, int64_t block, int64_t first, int64_t last, T *out) {          \
    int64_t from = block * FL_BLOCK, n = fl_part_min(FL_BLOCK, v->k - from);                                 \
    const T *b = (const T *)v->vector + from;                                                                \
    T lane[FL_LANES * COLUMNS];                                                                              \
    for (int64_t j = first; j < last;) {                                                                     \
      const T *a = (const T *)v->matrix + j * v->result_step + from * v->reduce_step;                        \
      int64_t count = v->reduce_step == 1 ? 1 : fl_part_min(COLUMNS, last - j);                              \
      if (v->reduce_step == 1) {                                                                             \
        dense_##SUFFIX(a, b, n, lane);                                                                       \
        lane[0] = butterfly_##SUFFIX(lane);                                                                  \
      } else if (count == COLUMNS) {                                                                         \
        columns_##SUFFIX(a, v->reduce_step, b, n, lane);                                                     \
      } else {                                                                                               \
        few_columns_##SUFFIX(a, v->reduce_step, b, n, count, lane);                                          \
      }                                                                                                      \
      memcpy(out + (j - first), lane, sizeof(T) * (size_t)count);                                            \
      j += count;                                                                                            \
    }                                                                                                        \
  }

typedef struct Vector {
  int32_t dtype;
  const void *matrix, *vector;
  int64_t results, k;
  int64_t result_step, reduce_step; /* one of them is 1 */
  int64_t blocks;
  void *partial; /* [blocks][results] */
  void *out;
} Vector;

VECTOR_CODE(double, __builtin_fma, f64)
VECTOR_CODE(float, __builtin_fmaf, f32)

enum { STRIP = 64 }; /* results of one task */

/* Items are (block, strip of results). */
static int32_t block_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Vector *v = env;
  int64_t strips = (v->results + STRIP - 1) / STRIP;
  (void)ctx;
  for (int64_t item = begin; item < end; item++) {
    int64_t block = item / strips, first = item % strips * STRIP,
            last = fl_part_min(first + STRIP, v->results);
    if (v->dtype == FL_F64) {
      block_f64(v, block, first, last, (double *)v->partial + block * v->results + first);
    } else {
      block_f32(v, block, first, last, (float *)v->partial + block * v->results + first);
    }
  }
  return 0;
}

static int32_t join_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Vector *v = env;
  (void)ctx;
  for (int64_t j = begin; j < end; j++) {
    if (v->dtype == FL_F64) {
      const double *partial = v->partial;
      double sum = v->blocks > 0 ? partial[j] : 0.0;
      for (int64_t b = 1; b < v->blocks; b++) sum += partial[b * v->results + j];
      ((double *)v->out)[j] = sum;
    } else {
      const float *partial = v->partial;
      float sum = v->blocks > 0 ? partial[j] : 0.0f;
      for (int64_t b = 1; b < v->blocks; b++) sum += partial[b * v->results + j];
      ((float *)v->out)[j] = sum;
    }
  }
  return 0;
}

/* A vector, or a matrix with one row or column, is dense however it is read. */
FlStatus fl_linalg_vector(FlPartMem *mem, const FlProduct *p) {
  Vector v = {.dtype = p->dtype, .k = p->k, .out = p->out};
  bool one_row = p->m == 1; /* the first factor is the vector */
  v.matrix = one_row ? p->second->data : p->first->data;
  v.vector = one_row ? p->first->data : p->second->data;
  v.results = one_row ? p->n : p->m;
  v.result_step = one_row ? p->b_step : p->a_row;
  v.reduce_step = one_row ? p->b_row : p->a_step;
  v.blocks = (p->k + FL_BLOCK - 1) / FL_BLOCK;
  v.partial = fl_part_alloc(mem, v.blocks * v.results, sizeof(double));
  if (v.partial == NULL) return 1;
  int64_t strips = (v.results + STRIP - 1) / STRIP;
  double cost = 0.4 * (double)fl_part_min(STRIP, v.results) * (double)fl_part_min(FL_BLOCK, p->k);
  if (fl_part_for(mem->ctx, block_body, &v, v.blocks * strips, cost) != 0) return 1;
  return fl_part_for(mem->ctx, join_body, &v, v.results, 1.0 + (double)v.blocks);
}
