/* linalg_vector.c: products with a vector, in the language's order of reductions.
 *
 * Every element of the result is sum(for p in 0..k: a[p] * b[p]) to the bit: blocks of 4096 positions, in
 * each 32 lanes by position mod 32 that start at +0.0 and take fused products, lanes joined by the butterfly
 * l[i] += l[i + 16], 8, 4, 2, 1, block results joined by the tree of folds (LANGUAGE 5). */
#include "part/linalg_internal.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

enum {
  STRIP = 64,      /* results of one task, whose lanes fit the first-level cache */
  GROUP = 8,       /* lanes that go together, and dense vectors whose lanes are joined side by side */
  AHEAD = 1 << 13, /* bytes of the matrix that come to the second-level cache before they are read */
  LINE = 64
};

/* `bytes` from `at` on will be read. */
static inline __attribute__((always_inline)) void ask_for(const void *at, int64_t bytes) {
  for (int64_t k = 0; k < bytes; k += LINE) __builtin_prefetch((const char *)at + k, 0, 2);
}

#define VECTOR_CODE(T, INT, FMA, SUFFIX)                                                                     \
  typedef T Eight_##SUFFIX __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T))));                  \
  typedef T Four_##SUFFIX __attribute__((vector_size(4 * sizeof(T))));                                       \
  typedef T Two_##SUFFIX __attribute__((vector_size(2 * sizeof(T))));                                        \
  typedef INT Lanes_##SUFFIX __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T))));                \
  /* The last numbers of a vector, fewer than GROUP, with zeros behind them, and which lanes they are. */    \
  typedef struct Rest_##SUFFIX {                                                                             \
    Eight_##SUFFIX b;                                                                                        \
    Lanes_##SUFFIX lanes;                                                                                    \
  } Rest_##SUFFIX;                                                                                           \
  /* The next products of GROUP lanes, of which there are at least 1, and count only n. */                   \
  static inline __attribute__((always_inline)) void group_##SUFFIX(const T *a, const T *b, int64_t n,        \
                                                                   Eight_##SUFFIX *sum) {                    \
    if (n >= GROUP) {                                                                                        \
      Eight_##SUFFIX x = *(const Eight_##SUFFIX *)a, y = *(const Eight_##SUFFIX *)b;                         \
      for (int i = 0; i < GROUP; i++) (*sum)[i] = FMA(x[i], y[i], (*sum)[i]);                                \
    } else {                                                                                                 \
      for (int i = 0; i < GROUP - 1; i++) {                                                                  \
        if (i < n) (*sum)[i] = FMA(a[i], b[i], (*sum)[i]);                                                   \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  /* The next products of GROUP lanes, of which n are there: where some are, all are read, and count not. */ \
  static inline __attribute__((always_inline)) void rest_##SUFFIX(                                           \
      const T *a, const T *b, int64_t n, const Rest_##SUFFIX *rest, Eight_##SUFFIX *sum) {                   \
    if (n >= GROUP) {                                                                                        \
      group_##SUFFIX(a, b, GROUP, sum);                                                                      \
    } else if (n > 0) {                                                                                      \
      Eight_##SUFFIX next = *sum;                                                                            \
      group_##SUFFIX(a, (const T *)&rest->b, GROUP, &next);                                                  \
      *sum =                                                                                                 \
          (Eight_##SUFFIX)(((Lanes_##SUFFIX)next & rest->lanes) | ((Lanes_##SUFFIX) * sum & ~rest->lanes));  \
    }                                                                                                        \
  }                                                                                                          \
  /* The lanes of a dense vector, the first two steps of the butterfly done. */                              \
  static inline __attribute__((always_inline)) void lanes_##SUFFIX(                                          \
      const T *a, const T *b, int64_t n, const Rest_##SUFFIX *rest, Eight_##SUFFIX *out) {                   \
    Eight_##SUFFIX s0 = {0}, s1 = s0, s2 = s0, s3 = s0;                                                      \
    for (; n >= FL_LANES; n -= FL_LANES, a += FL_LANES, b += FL_LANES) {                                     \
      group_##SUFFIX(a, b, GROUP, &s0);                                                                      \
      group_##SUFFIX(a + 8, b + 8, GROUP, &s1);                                                              \
      group_##SUFFIX(a + 16, b + 16, GROUP, &s2);                                                            \
      group_##SUFFIX(a + 24, b + 24, GROUP, &s3);                                                            \
    }                                                                                                        \
    rest_##SUFFIX(a, b, n, rest, &s0);                                                                       \
    rest_##SUFFIX(a + 8, b + 8, n - 8, rest, &s1);                                                           \
    rest_##SUFFIX(a + 16, b + 16, n - 16, rest, &s2);                                                        \
    rest_##SUFFIX(a + 24, b + 24, n - 24, rest, &s3);                                                        \
    *out = (s0 + s2) + (s1 + s3);                                                                            \
  }                                                                                                          \
  /* One block of each of GROUP dense vectors, whose last steps of the butterfly are done side by side. */   \
  static inline __attribute__((always_inline)) void eight_##SUFFIX(                                          \
      const T *a, int64_t step, const T *b, int64_t n, const Rest_##SUFFIX *rest, T *restrict out) {         \
    Eight_##SUFFIX s[GROUP], f[GROUP / 2], t[2];                                                             \
    const int64_t bytes = GROUP * step * (int64_t)sizeof(T);                                                 \
    if (bytes <= AHEAD) ask_for((const char *)a + AHEAD, bytes); /* longer ones the processor foresees */    \
    for (int k = 0; k < GROUP; k++) lanes_##SUFFIX(a + k * step, b, n, rest, &s[k]);                         \
    for (int k = 0; k < 4; k++)                                                                              \
      f[k] = __builtin_shufflevector(s[k], s[k + 4], 0, 1, 2, 3, 8, 9, 10, 11) +                             \
             __builtin_shufflevector(s[k], s[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);                            \
    for (int k = 0; k < 2; k++)                                                                              \
      t[k] = __builtin_shufflevector(f[k], f[k + 2], 0, 1, 8, 9, 4, 5, 12, 13) +                             \
             __builtin_shufflevector(f[k], f[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);                            \
    *(Eight_##SUFFIX *)out = __builtin_shufflevector(t[0], t[1], 0, 8, 2, 10, 4, 12, 6, 14) +                \
                             __builtin_shufflevector(t[0], t[1], 1, 9, 3, 11, 5, 13, 7, 15);                 \
  }                                                                                                          \
  /* One block of each of `count` dense vectors, `step` apart, with a dense vector; at `a` stand `there`     \
   * numbers, those of other vectors too. */                                                                 \
  WIDE static void dense_##SUFFIX(const T *a, int64_t step, const T *b, int64_t n, int64_t count,            \
                                  int64_t there, T *restrict out) {                                          \
    const int64_t whole = n / GROUP * GROUP;                                                                 \
    int64_t j = 0;                                                                                           \
    Rest_##SUFFIX rest = {0};                                                                                \
    for (int64_t i = whole; i < n; i++) {                                                                    \
      rest.b[i - whole] = b[i];                                                                              \
      rest.lanes[i - whole] = -1;                                                                            \
    }                                                                                                        \
    /* as long as what is read behind a vector is there */                                                   \
    for (; step > 0 && j + GROUP <= count && (j + GROUP - 1) * step + whole + GROUP <= there; j += GROUP) {  \
      eight_##SUFFIX(a, step, b, n, &rest, out + j);                                                         \
      a += GROUP * step;                                                                                     \
    }                                                                                                        \
    for (; j < count; j++, a += step) {                                                                      \
      Eight_##SUFFIX s0 = {0}, s1 = s0, s2 = s0, s3 = s0;                                                    \
      int64_t p = 0;                                                                                         \
      for (; p + FL_LANES <= n; p += FL_LANES) {                                                             \
        group_##SUFFIX(a + p, b + p, GROUP, &s0);                                                            \
        group_##SUFFIX(a + p + 8, b + p + 8, GROUP, &s1);                                                    \
        group_##SUFFIX(a + p + 16, b + p + 16, GROUP, &s2);                                                  \
        group_##SUFFIX(a + p + 24, b + p + 24, GROUP, &s3);                                                  \
      }                                                                                                      \
      if (p < n) group_##SUFFIX(a + p, b + p, n - p, &s0);                                                   \
      if (p + 8 < n) group_##SUFFIX(a + p + 8, b + p + 8, n - p - 8, &s1);                                   \
      if (p + 16 < n) group_##SUFFIX(a + p + 16, b + p + 16, n - p - 16, &s2);                               \
      if (p + 24 < n) group_##SUFFIX(a + p + 24, b + p + 24, n - p - 24, &s3);                               \
      Eight_##SUFFIX s = (s0 + s2) + (s1 + s3); /* the butterfly */                                          \
      Four_##SUFFIX f =                                                                                      \
          __builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7);             \
      Two_##SUFFIX t = __builtin_shufflevector(f, f, 0, 1) + __builtin_shufflevector(f, f, 2, 3);            \
      out[j] = t[0] + t[1];                                                                                  \
    }                                                                                                        \
  }                                                                                                          \
  /* One block of `count` neighbouring columns of a matrix (rows `row` apart), at most STRIP, with a dense   \
   * vector. */                                                                                              \
  WIDE static void columns_##SUFFIX(const T *restrict a, int64_t row, const T *restrict b, int64_t n,        \
                                    int64_t count, T *restrict out) {                                        \
    T lane[FL_LANES * STRIP];                                                                                \
    const int64_t bytes = count * (int64_t)sizeof(T), ahead = AHEAD / bytes * row;                           \
    int64_t width = (count + GROUP - 1) / GROUP * GROUP;                                                     \
    memset(lane, 0, sizeof(T) * (size_t)(FL_LANES * width));                                                 \
    for (int64_t p = 0; p < n; p++) {                                                                        \
      T *restrict l = lane + p % FL_LANES * width;                                                           \
      const T *x = a + p * row;                                                                              \
      T factor = b[p];                                                                                       \
      ask_for(x + ahead, bytes);                                                                             \
      for (int64_t c = 0; c < count; c++) l[c] = FMA(x[c], factor, l[c]);                                    \
    }                                                                                                        \
    for (int64_t half = FL_LANES / 2; half > 0; half /= 2) { /* the butterfly, of all columns at once */     \
      for (int64_t i = 0; i < half * width; i++) lane[i] += lane[half * width + i];                          \
    }                                                                                                        \
    memcpy(out, lane, sizeof(T) * (size_t)count);                                                            \
  }                                                                                                          \
  /* Results [first, last) of block `block`, at most STRIP, for a matrix whose reduced axis is dense, or     \
   * whose result axis is. */                                                                                \
  static void block_##SUFFIX(const Vector *v, int64_t block, int64_t first, int64_t last, T *out) {          \
    int64_t from = block * FL_BLOCK, n = fl_part_min(FL_BLOCK, v->k - from);                                 \
    const T *a = (const T *)v->matrix + first * v->result_step + from * v->reduce_step;                      \
    const T *b = (const T *)v->vector + from;                                                                \
    int64_t there = (v->results - 1 - first) * v->result_step + v->k - from;                                 \
    if (v->reduce_step == 1) dense_##SUFFIX(a, v->result_step, b, n, last - first, there, out);              \
    else columns_##SUFFIX(a, v->reduce_step, b, n, last - first, out);                                       \
  }

typedef struct Vector {
  int32_t dtype;
  const void *matrix, *vector;
  int64_t results, k;
  int64_t result_step, reduce_step; /* one of them is 1 */
  int64_t blocks;
  void *partial; /* [blocks][results]; `out` where there is one block */
  void *out;
} Vector;

VECTOR_CODE(double, int64_t, __builtin_fma, f64)
VECTOR_CODE(float, int32_t, __builtin_fmaf, f32)

/* Items are (block, strip of results). Where there is one block, it is the result. */
static int32_t block_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Vector *v = env;
  int64_t strips = (v->results + STRIP - 1) / STRIP;
  (void)ctx;
  for (int64_t item = begin; item < end; item++) {
    int64_t block = item / strips, first = item % strips * STRIP,
            last = fl_part_min(first + STRIP, v->results);
    char *out = (char *)v->partial + (block * v->results + first) * fl_dtype_info[v->dtype].bytes;
    if (v->dtype == FL_F64) block_f64(v, block, first, last, (double *)(void *)out);
    else block_f32(v, block, first, last, (float *)(void *)out);
    if (v->blocks == 1) fl_linalg_one_nan(v->dtype, out, last - first);
  }
  return 0;
}

/* Results [begin, end) of all blocks, folded in the first block's place. */
static int32_t join_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Vector *v = env;
  size_t size = (size_t)fl_dtype_info[v->dtype].bytes, n = (size_t)(end - begin) * size;
  char *first = (char *)v->partial + begin * (int64_t)size, *out = (char *)v->out + begin * (int64_t)size;
  (void)ctx;
  if (v->blocks == 0) {
    memset(out, 0, n);
    return 0;
  }
  if (v->dtype == FL_F64) fl_fold_rows_f64((double *)(void *)first, v->blocks, v->results, end - begin);
  else fl_fold_rows_f32((float *)(void *)first, v->blocks, v->results, end - begin);
  memcpy(out, first, n);
  fl_linalg_one_nan(v->dtype, out, end - begin);
  return 0;
}

/* A vector, or a matrix with one row or column, is dense however it is read. */
FlStatus fl_linalg_vector(FlPartMem *mem, const FlProduct *p) {
  Vector v = {.dtype = p->dtype, .k = p->k, .out = p->out};
  bool one_row = p->m == 1; /* the first factor is the vector */
  v.matrix = one_row ? p->second : p->first;
  v.vector = one_row ? p->first : p->second;
  v.results = one_row ? p->n : p->m;
  v.result_step = one_row ? p->b_step : p->a_row;
  v.reduce_step = one_row ? p->b_row : p->a_step;
  v.blocks = (p->k + FL_BLOCK - 1) / FL_BLOCK;
  v.partial = v.blocks == 1 ? v.out : fl_part_alloc(mem, v.blocks * v.results, sizeof(double));
  if (v.partial == NULL) return 1;
  int64_t strips = (v.results + STRIP - 1) / STRIP;
  double cost = 0.25 * (double)fl_part_min(STRIP, v.results) * (double)fl_part_min(FL_BLOCK, p->k);
  if (fl_part_for(mem->ctx, block_body, &v, v.blocks * strips, cost) != 0) return 1;
  if (v.blocks == 1) return 0;
  return fl_part_for(mem->ctx, join_body, &v, v.results, 1.0 + (double)v.blocks);
}
