/* linalg_blas.c: products of float matrices by OpenBLAS, one thread a tile, tiles over the pool.
 *
 * The result is cut in tiles of 512 rows by 512 columns aligned at row and column 0, each one call of gemm;
 * they have 256 rows where there are few, and where the second factor is small: OpenBLAS then copies neither.
 * Such a factor that is read transposed is turned first. When the whole result is one tile, k is cut in
 * pieces of at least 256 and a quarter of a million multiplications, 32 of them at most, whose products are
 * added from left to right. Products of at most 512 multiplications are summed here, in order, without
 * fusing. What the product is added to is added to by gemm, or follows the first piece. The cut depends on
 * the logical sizes alone; the bits are those of this OpenBLAS on this class of CPU. Of a matrix with its own
 * transpose what is on and above the diagonal is computed. */
#include <cblas.h>
#include <limits.h>

#include "part/linalg_internal.h"

enum {
  TILE = 512,
  LOW = 256,
  FEW = 16,
  FACTOR = 3840,
  DEPTH = 256,
  PIECE = 1 << 18,
  MOST_PIECES = 32,
  SMALL = 512
};

/* How much of k is a piece: a multiple of DEPTH, by the sizes alone. */
static int64_t depth_of(const FlProduct *p) {
  int64_t work = (PIECE / (p->m * p->n) + DEPTH - 1) / DEPTH, few = (p->k / MOST_PIECES + DEPTH - 1) / DEPTH;
  int64_t most = work > few ? work : few;
  return (most > 0 ? most : 1) * DEPTH;
}

typedef struct Tiles {
  const FlProduct *p;
  int64_t across; /* tiles in a row of the result, */
  int64_t rows;   /* each of so many rows */
  int64_t pieces; /* that k is cut in, */
  int64_t depth;  /* so long */
  void *partial;  /* [pieces][m * n], when there are several */
  bool turned;    /* the product is the transpose of the result: with pieces only */
} Tiles;

static void gemm(const FlProduct *p, int64_t i, int64_t j, int64_t from, int64_t m, int64_t n, int64_t k,
                 bool add, void *out) {
  CBLAS_TRANSPOSE ta = p->a_step == 1 ? CblasNoTrans : CblasTrans,
                  tb = p->b_step == 1 ? CblasNoTrans : CblasTrans;
  int64_t a = i * p->a_row + from * p->a_step, b = from * p->b_row + j * p->b_step;
  blasint lda = (blasint)(p->a_step == 1 ? p->a_row : p->a_step),
          ldb = (blasint)(p->b_step == 1 ? p->b_row : p->b_step);
  if (p->k == 1 && ldb < p->n)
    ldb = (blasint)p->n; /* a single row has no next one, but gemm looks at the distance */
  blasint bm = (blasint)m, bn = (blasint)n, bk = (blasint)k, ldc = (blasint)p->n;
  if (p->dtype == FL_F64) {
    cblas_dgemm(CblasRowMajor, ta, tb, bm, bn, bk, 1.0, (const double *)p->first + a, lda,
                (const double *)p->second + b, ldb, add ? 1.0 : 0.0, out, ldc);
  } else {
    cblas_sgemm(CblasRowMajor, ta, tb, bm, bn, bk, 1.0f, (const float *)p->first + a, lda,
                (const float *)p->second + b, ldb, add ? 1.0f : 0.0f, out, ldc);
  }
}

/* A tile on the diagonal of a matrix with its own transpose: what is on and above the diagonal. */
static void syrk(const FlProduct *p, int64_t i, int64_t from, int64_t n, int64_t k, void *out) {
  CBLAS_TRANSPOSE t = p->a_step == 1 ? CblasNoTrans : CblasTrans;
  int64_t a = i * p->a_row + from * p->a_step;
  blasint lda = (blasint)(p->a_step == 1 ? p->a_row : p->a_step), bn = (blasint)n, bk = (blasint)k,
          ldc = (blasint)p->n;
  if (p->dtype == FL_F64) {
    cblas_dsyrk(CblasRowMajor, CblasUpper, t, bn, bk, 1.0, (const double *)p->first + a, lda, 0.0, out, ldc);
  } else {
    cblas_ssyrk(CblasRowMajor, CblasUpper, t, bn, bk, 1.0f, (const float *)p->first + a, lda, 0.0f, out, ldc);
  }
}

/* The part [i, i + m) x [j, j + n) of the result, over k positions `from` on, added to `out` or written
 * there; of what is below the diagonal nothing. */
static void part_of(const FlProduct *p, int64_t i, int64_t j, int64_t from, int64_t m, int64_t n, int64_t k,
                    bool add, void *out) {
  if (!p->own || j > i) gemm(p, i, j, from, m, n, k, add, out);
  else if (i == j) syrk(p, i, from, m, k, out);
}

static int32_t tile_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Tiles *t = env;
  const FlProduct *p = t->p;
  int64_t size = fl_dtype_info[p->dtype].bytes;
  (void)ctx;
  for (int64_t item = begin; item < end; item++) {
    if (t->pieces > 1) {
      int64_t from = item * t->depth;
      part_of(p, 0, 0, from, p->m, p->n, fl_part_min(t->depth, p->k - from), false,
              (char *)t->partial + item * p->m * p->n * size);
      continue;
    }
    int64_t i = item / t->across * t->rows, j = item % t->across * TILE;
    part_of(p, i, j, 0, fl_part_min(t->rows, p->m - i), fl_part_min(TILE, p->n - j), p->k, p->add,
            (char *)p->out + (i * p->n + j) * size);
  }
  return 0;
}

/* Row i of the pieces, added up in the first one, goes to the result. */
#define ADD(T)                                                                                               \
  {                                                                                                          \
    T *row = (T *)t->partial + i * n, *to = (T *)t->p->out + (t->turned ? i : i * n);                        \
    if (t->p->add)                                                                                           \
      for (int64_t j = 0; j < n; j++) row[j] += to[j * step];                                                \
    for (int64_t k = 1; k < t->pieces; k++)                                                                  \
      for (int64_t j = 0; j < n; j++) row[j] += row[k * m * n + j];                                          \
    for (int64_t j = 0; j < n; j++) to[j * step] = row[j];                                                   \
  }

static int32_t add_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Tiles *t = env;
  int64_t m = t->p->m, n = t->p->n, step = t->turned ? m : 1;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    if (t->p->dtype == FL_F64) ADD(double) else ADD(float)
  }
  return 0;
}

/* Rows [begin, end) of the result below its diagonal, from above it. */
static int32_t mirror_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Tiles *t = env;
  int64_t n = t->p->n;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    for (int64_t j = 0; j < i; j++) {
      if (t->p->dtype == FL_F64) ((double *)t->p->out)[i * n + j] = ((const double *)t->p->out)[j * n + i];
      else ((float *)t->p->out)[i * n + j] = ((const float *)t->p->out)[j * n + i];
    }
  }
  return 0;
}

#define MULTIPLY(T)                                                                                          \
  {                                                                                                          \
    const T *a = p->first, *b = p->second;                                                                   \
    for (int64_t i = 0; i < p->m; i++) {                                                                     \
      for (int64_t j = 0; j < p->n; j++) {                                                                   \
        T sum = p->add ? ((const T *)p->out)[i * p->n + j] : 0;                                              \
        for (int64_t k = 0; k < p->k; k++)                                                                   \
          sum += a[i * p->a_row + k * p->a_step] * b[k * p->b_row + j * p->b_step];                          \
        ((T *)p->out)[i * p->n + j] = sum;                                                                   \
      }                                                                                                      \
    }                                                                                                        \
  }

static void multiply_small(const FlProduct *p) {
  if (p->dtype == FL_F64) MULTIPLY(double) else MULTIPLY(float)
}

FlStatus fl_linalg_matrix(FlPartMem *mem, const FlProduct *p) {
  double products = (double)p->m * (double)p->n * (double)p->k;
  if (products <= SMALL) {
    multiply_small(p);
    return 0;
  }
  if (p->k > INT_MAX || p->n > INT_MAX || p->m > INT_MAX) {
    return fl_fail_text(mem->ctx, -1, FL_CODE_RESOURCE,
                        "a matrix product has a side of more than %d elements", INT_MAX);
  }
  FlProduct q = *p;
  int64_t size = fl_dtype_info[p->dtype].bytes, vector = 64 / size;
  bool small = !p->own && p->n * p->k <= FACTOR, one_tile = p->m <= TILE && p->n <= TILE;
  if (small && p->b_step != 1) {
    void *second = fl_part_alloc(mem, p->n * p->k, (size_t)size);
    if (second == NULL) return 1;
    fl_linalg_flip(p->second, second, p->n, p->k, p->dtype);
    q.second = second;
    q.b_row = p->n;
    q.b_step = 1;
  }
  int64_t depth = one_tile ? depth_of(p) : 0, across = (p->n + TILE - 1) / TILE;
  int64_t pieces = one_tile && p->k >= 2 * depth ? (p->k + depth - 1) / depth : 1;
  bool low = !p->own && (small || (p->m + TILE - 1) / TILE * across < FEW);
  Tiles t = {&q, across, low ? LOW : TILE, pieces, depth, NULL, false};
  int64_t items = t.pieces > 1 ? t.pieces : (p->m + t.rows - 1) / t.rows * across;
  if (t.pieces > 1) {
    t.partial = fl_part_alloc(mem, t.pieces * p->m * p->n, (size_t)size);
    if (t.partial == NULL) return 1;
    t.turned = !p->own && p->n % vector != 0 && p->m % vector == 0;
    if (t.turned)
      q = (FlProduct){p->dtype, p->second, p->first, p->n,  p->m,   p->k,  p->b_step,
                      p->b_row, p->a_step, p->a_row, false, p->add, p->out};
  }
  if (fl_part_for(mem->ctx, tile_body, &t, items, 0.05 * products / (double)items) != 0) return 1;
  if (t.pieces > 1 && fl_part_for(mem->ctx, add_body, &t, q.m, 0.5 * (double)(q.n * t.pieces)) != 0) return 1;
  return p->own ? fl_part_for(mem->ctx, mirror_body, &t, p->m, 1.0 * (double)p->m) : 0;
}
