/* linalg_blas.c: products of float matrices by OpenBLAS, one thread a tile, tiles over the pool.
 *
 * The result is cut in tiles of 512 rows by 512 columns aligned at row and column 0, each one call of gemm;
 * they have 256 rows where there are few, and where the second factor is small: OpenBLAS then copies neither.
 * Such a factor that is read transposed is turned first. k is cut in leaves by the size of the result alone
 * (SCALE 2): the least 256 * 2^j positions that are a quarter of a million multiplications and at least 4 m n
 * / (m + n), so that joining them costs little. Leaves are joined by the tree of folds; who computes which
 * complete subtree of them only schedules. What a product of one leaf is added to is added to by gemm, else
 * it is added last. Products of at most 512 multiplications are summed here, in order, without fusing. The
 * bits are those of this OpenBLAS on this class of CPU. Of a matrix with its own transpose what is on and
 * above the diagonal is computed. */
#include <cblas.h>
#include <limits.h>

#include "part/linalg_internal.h"

enum {
  TILE = 512,
  LOW = 256,
  FEW = 16,
  FACTOR = 3840,
  LEAST_LEAF = 256,
  LEAF_WORK = 1 << 18,
  ITEMS = 64, /* that the work is handed out in, if it has so many leaves */
  SMALL = 512
};

static int64_t all_m(const FlProduct *p) { return p->all_m ? p->all_m : p->m; }
static int64_t all_k(const FlProduct *p) { return p->all_k ? p->all_k : p->k; }

/* How much of k is a leaf. */
static int64_t leaf_of(const FlProduct *p) {
  double size = (double)all_m(p) * (double)p->n, sides = (double)all_m(p) + (double)p->n;
  int64_t leaf = LEAST_LEAF;
  while (leaf <= all_k(p) && ((double)leaf * size < LEAF_WORK || (double)leaf * sides < 4 * size)) leaf *= 2;
  return leaf;
}

typedef struct Tiles {
  const FlProduct *p;
  int64_t across;                /* tiles in a row of the result, */
  int64_t rows;                  /* each of so many rows, */
  int64_t tiles;                 /* in all */
  bool folds;                    /* there is more than one leaf, of all of k: */
  int64_t leaf, leaves, subtree; /* positions of a leaf; leaves; those of an item, a power of two, */
  int64_t subtrees;              /* in so many items for each tile */
  void *partial; /* [subtrees][m * n]; one subtree: the result itself, if it stands as it is made */
  char *levels;  /* [workers][n_levels][a tile], row-major and dense; NULL: a subtree is a leaf */
  int64_t n_levels;
  bool in_place;
  bool turned; /* the product is the transpose of the result */
} Tiles;

static void gemm(const FlProduct *p, int64_t i, int64_t j, int64_t from, int64_t m, int64_t n, int64_t k,
                 bool add, void *out, int64_t row) {
  CBLAS_TRANSPOSE ta = p->a_step == 1 ? CblasNoTrans : CblasTrans,
                  tb = p->b_step == 1 ? CblasNoTrans : CblasTrans;
  int64_t a = i * p->a_row + from * p->a_step, b = from * p->b_row + j * p->b_step;
  blasint lda = (blasint)(p->a_step == 1 ? p->a_row : p->a_step),
          ldb = (blasint)(p->b_step == 1 ? p->b_row : p->b_step);
  if (p->k == 1 && ldb < p->n)
    ldb = (blasint)p->n; /* a single row has no next one, but gemm looks at the distance */
  blasint bm = (blasint)m, bn = (blasint)n, bk = (blasint)k, ldc = (blasint)row;
  if (p->dtype == FL_F64) {
    cblas_dgemm(CblasRowMajor, ta, tb, bm, bn, bk, 1.0, (const double *)p->first + a, lda,
                (const double *)p->second + b, ldb, add ? 1.0 : 0.0, out, ldc);
  } else {
    cblas_sgemm(CblasRowMajor, ta, tb, bm, bn, bk, 1.0f, (const float *)p->first + a, lda,
                (const float *)p->second + b, ldb, add ? 1.0f : 0.0f, out, ldc);
  }
}

/* A tile on the diagonal of a matrix with its own transpose: what is on and above the diagonal. */
static void syrk(const FlProduct *p, int64_t i, int64_t from, int64_t n, int64_t k, void *out, int64_t row) {
  CBLAS_TRANSPOSE t = p->a_step == 1 ? CblasNoTrans : CblasTrans;
  int64_t a = i * p->a_row + from * p->a_step;
  blasint lda = (blasint)(p->a_step == 1 ? p->a_row : p->a_step), bn = (blasint)n, bk = (blasint)k,
          ldc = (blasint)row;
  if (p->dtype == FL_F64) {
    cblas_dsyrk(CblasRowMajor, CblasUpper, t, bn, bk, 1.0, (const double *)p->first + a, lda, 0.0, out, ldc);
  } else {
    cblas_ssyrk(CblasRowMajor, CblasUpper, t, bn, bk, 1.0f, (const float *)p->first + a, lda, 0.0f, out, ldc);
  }
}

/* The part [i, i + m) x [j, j + n) of the result, over k positions `from` on, added to `out` or written
 * there, whose rows are `row` apart; of what is below the diagonal nothing. */
static void part_of(const FlProduct *p, int64_t i, int64_t j, int64_t from, int64_t m, int64_t n, int64_t k,
                    bool add, void *out, int64_t row) {
  if (!p->own || j > i) gemm(p, i, j, from, m, n, k, add, out, row);
  else if (i == j) syrk(p, i, from, m, k, out, row);
}

/* Subtree `s` of the leaves of the tile at i, j of m x n goes to its place among the partials. */
static void fold_tile(FlCtx *ctx, const Tiles *t, int64_t s, int64_t i, int64_t j, int64_t m, int64_t n) {
  const FlProduct *p = t->p;
  int64_t size = fl_dtype_info[p->dtype].bytes, from = s * t->subtree;
  int64_t n_leaves = fl_part_min(t->subtree, t->leaves - from);
  char *out = (char *)t->partial + (s * p->m * p->n + i * p->n + j) * size;
  if (!t->levels) {
    part_of(p, i, j, from * t->leaf, m, n, fl_part_min(t->leaf, p->k - from * t->leaf), false, out, p->n);
    return;
  }
  int worker = ctx ? fl_sched_worker(fl_ctx_sched(ctx)) : 0;
  char *levels =
      t->levels + (worker < 0 ? 0 : worker) * t->n_levels * t->rows * fl_part_min(TILE, p->n) * size;
  for (int64_t k = 0; k < n_leaves; k++) {
    if (k > 0 && ctx) fl_pool_breathe(fl_ctx_pool(ctx)); /* each leaf reads pages of its own */
    int64_t at = (from + k) * t->leaf;
    char *next = levels + __builtin_ctzll(~(uint64_t)k) * m * n * size;
    part_of(p, i, j, at, m, n, fl_part_min(t->leaf, p->k - at), false, next, n);
    if (p->dtype == FL_F64) fl_fold_push_f64((double *)(void *)levels, m * n, k, (double *)(void *)next);
    else fl_fold_push_f32((float *)(void *)levels, m * n, k, (float *)(void *)next);
  }
  for (int64_t r = 0; r < m; r++, out += p->n * size, levels += n * size) {
    if (p->dtype == FL_F64)
      fl_fold_end_f64((double *)(void *)levels, n, m * n, n_leaves, (double *)(void *)out);
    else fl_fold_end_f32((float *)(void *)levels, n, m * n, n_leaves, (float *)(void *)out);
  }
}

static int32_t tile_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Tiles *t = env;
  const FlProduct *p = t->p;
  int64_t size = fl_dtype_info[p->dtype].bytes;
  for (int64_t item = begin; item < end; item++) {
    int64_t tile = item % t->tiles, i = tile / t->across * t->rows, j = tile % t->across * TILE;
    int64_t m = fl_part_min(t->rows, p->m - i), n = fl_part_min(TILE, p->n - j);
    if (p->own && j < i) continue;
    if (t->folds) {
      fold_tile(ctx, t, item / t->tiles, i, j, m, n);
      for (int64_t r = 0; t->in_place && r < m; r++)
        fl_linalg_one_nan(p->dtype, (char *)p->out + ((i + r) * p->n + j) * size, n);
      continue;
    }
    char *out = (char *)p->out + (i * p->n + j) * size;
    part_of(p, i, j, 0, m, n, p->k, p->add, out, p->n);
    bool whole = n == p->n; /* rows, which stand one behind the other */
    for (int64_t r = 0; r < (whole ? 1 : m); r++)
      fl_linalg_one_nan(p->dtype, out + r * p->n * size, whole ? m * n : n);
  }
  return 0;
}

/* Row i of the subtrees, folded in the first one, goes to the result. */
#define ADD(T, SUFFIX)                                                                                       \
  {                                                                                                          \
    T *row = (T *)t->partial + i * n, *to = (T *)t->p->out + (t->turned ? i : i * n);                        \
    fl_fold_rows_##SUFFIX(row, t->subtrees, m *n, n);                                                        \
    if (t->p->add) {                                                                                         \
      for (int64_t j = 0; j < n; j++) row[j] += to[j * step];                                                \
    }                                                                                                        \
    fl_linalg_one_nan(t->p->dtype, row, n);                                                                  \
    for (int64_t j = 0; j < n; j++) to[j * step] = row[j];                                                   \
  }

static int32_t add_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Tiles *t = env;
  int64_t m = t->p->m, n = t->p->n, step = t->turned ? m : 1;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    if (t->p->dtype == FL_F64) ADD(double, f64) else ADD(float, f32)
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
  if (p->dtype == FL_F64)
    MULTIPLY(double) else MULTIPLY(float) fl_linalg_one_nan(p->dtype, p->out, p->m * p->n);
}

static bool is_one_tile(const FlProduct *p) { return all_m(p) <= TILE && p->n <= TILE; }

static int64_t rows_of_tile(const FlProduct *p) {
  int64_t tiles = (all_m(p) + TILE - 1) / TILE * ((p->n + TILE - 1) / TILE);
  return !p->own && (p->n * all_k(p) <= FACTOR || tiles < FEW) ? LOW : TILE;
}

int64_t fl_linalg_unit(const FlProduct *p, bool folds) {
  bool large = p->k > INT_MAX || p->n > INT_MAX || p->m > INT_MAX;
  if (large || (double)p->m * (double)p->n * (double)p->k <= SMALL) return 0;
  int64_t leaf = leaf_of(p);
  if (!folds) return is_one_tile(p) ? 0 : rows_of_tile(p);
  return p->k > leaf ? leaf : 0;
}

FlStatus fl_linalg_matrix(FlPartMem *mem, const FlProduct *p) {
  double products = (double)p->m * (double)p->n * (double)p->k;
  if (products <= SMALL && !p->all_m && !p->all_k) {
    multiply_small(p);
    return 0;
  }
  if (p->k > INT_MAX || p->n > INT_MAX || p->m > INT_MAX) {
    return fl_fail_text(mem->ctx, -1, FL_CODE_RESOURCE,
                        "a matrix product has a side of more than %d elements", INT_MAX);
  }
  FlProduct q = *p;
  int64_t size = fl_dtype_info[p->dtype].bytes, vector = 64 / size;
  bool small = !p->own && p->n * all_k(p) <= FACTOR, one_tile = is_one_tile(p);
  if (small && p->b_step != 1) {
    void *second = fl_part_alloc(mem, p->n * p->k, (size_t)size);
    if (second == NULL) return 1;
    fl_linalg_flip(p->second, second, p->n, p->k, p->dtype);
    q.second = second;
    q.b_row = p->n;
    q.b_step = 1;
  }
  Tiles t = {.p = &q, .leaf = leaf_of(p), .subtree = 1};
  t.leaves = (p->k + t.leaf - 1) / t.leaf;
  t.folds = all_k(p) > t.leaf;
  t.turned = t.folds && one_tile && !p->own && p->n % vector != 0 && p->m % vector == 0;
  if (t.turned)
    q = (FlProduct){p->dtype,  p->second, p->first, p->n,   p->m,   p->k, p->b_step, p->b_row,
                    p->a_step, p->a_row,  false,    p->add, p->out, 0,    p->all_k};
  t.across = (q.n + TILE - 1) / TILE;
  t.rows = fl_part_min(rows_of_tile(p), q.m);
  t.tiles = (q.m + t.rows - 1) / t.rows * t.across;
  while (t.subtree < t.leaves && (t.leaves + t.subtree - 1) / t.subtree * t.tiles > ITEMS) t.subtree *= 2;
  t.subtrees = (t.leaves + t.subtree - 1) / t.subtree;
  t.n_levels = __builtin_ctzll((uint64_t)t.subtree) + 1;
  t.in_place = t.subtrees == 1 && !t.turned && !p->add;
  if (t.folds) {
    int64_t levels = fl_ctx_workers(mem->ctx) * t.n_levels * t.rows * fl_part_min(TILE, q.n);
    t.partial = t.in_place ? p->out : fl_part_alloc(mem, t.subtrees * p->m * p->n, (size_t)size);
    if (t.partial == NULL) return 1;
    /* Below the diagonal of a tile nothing is written, but it is added. */
    if (t.subtree > 1 && !(t.levels = p->own ? fl_part_zalloc(mem, levels, (size_t)size)
                                             : fl_part_alloc(mem, levels, (size_t)size)))
      return 1;
  }
  int64_t items = t.tiles * (t.folds ? t.subtrees : 1);
  if (fl_part_for(mem->ctx, tile_body, &t, items, 0.05 * products / (double)items) != 0) return 1;
  if (t.folds && !t.in_place &&
      fl_part_for(mem->ctx, add_body, &t, q.m, 0.5 * (double)(q.n * t.subtrees)) != 0)
    return 1;
  return p->own ? fl_part_for(mem->ctx, mirror_body, &t, p->m, 1.0 * (double)p->m) : 0;
}
