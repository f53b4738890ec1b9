/* nearest.c: the nearest of some centers to each row, and what the rows of each center are together: the
 * sweep of k-means.
 *
 * Comes in: x f64[n, d], centers f64[k, d]. Goes out: for each row the position of the nearest center, the
 * first of equals, and its squared distance; for each center the sum of its rows and their number. One pass
 * over x.
 *
 * Order of sums: a distance adds the squares of the differences column by column, from the first to the last,
 * each product fused with its sum. Sums of rows are those of segment_sum: superblocks of 4096 * max(4, ceil(k
 * d / 1024)) rows, each in row order from +0.0, then the superblocks from left to right. A distance that is
 * NaN is never the smaller one. */
#include "part/part_internal.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

enum { WIDTH = 8, VECTORS = 8, ROWS = WIDTH * VECTORS }; /* rows whose distances are computed side by side */

typedef double Eight __attribute__((vector_size(64), aligned(8)));

typedef struct Nearest {
  const double *x, *centers;
  int64_t n, d, k, block, blocks;
  double *across;  /* [blocks][d][ROWS]: rows that are being looked at, column by column */
  double *sums;    /* [blocks][k * d] */
  int64_t *counts; /* [blocks][k] */
  int64_t *label;
  double *distance, *total;
  int64_t *count;
} Nearest;

/* Of ROWS rows, laid out column by column. The `n_next` numbers that are looked at next are fetched
 * meanwhile, a few with each center. */
WIDE static void nearest_of(const double *across, const double *centers, int64_t d, int64_t k,
                            const double *next, int64_t n_next, double *distance, int64_t *label) {
  enum { LINE = 8 };
  double best[ROWS];
  int64_t at[ROWS];
  for (int64_t c = 0; c < k; c++) {
    const double *center = centers + c * d;
    Eight zero = {0}, sums[VECTORS]; /* stay in registers: the loops over them are unrolled */
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; v++) sums[v] = zero;
    for (int64_t i = n_next * c / k / LINE; i < n_next * (c + 1) / k / LINE; i++)
      __builtin_prefetch(next + i * LINE, 0, 2);
    for (int64_t j = 0; j < d; j++) {
      const Eight *column = (const Eight *)(across + j * ROWS);
      double middle = center[j];
#pragma GCC unroll 8
      for (int v = 0; v < VECTORS; v++) {
        Eight off = column[v] - middle;
        for (int r = 0; r < WIDTH; r++) sums[v][r] = __builtin_fma(off[r], off[r], sums[v][r]);
      }
    }
    const double *sum = (const double *)sums;
    for (int64_t r = 0; r < ROWS; r++) {
      bool closer = c == 0 || sum[r] < best[r];
      best[r] = closer ? sum[r] : best[r];
      at[r] = closer ? c : at[r];
    }
  }
  memcpy(distance, best, sizeof best);
  memcpy(label, at, sizeof at);
}

typedef double Four __attribute__((vector_size(32), aligned(8)));

/* Four columns of four rows, which stand d apart, go to four places ROWS apart. */
static inline __attribute__((always_inline)) void turn_four(const double *x, int64_t d, double *across) {
  Four a = *(const Four *)x, b = *(const Four *)(x + d), c = *(const Four *)(x + 2 * d),
       e = *(const Four *)(x + 3 * d);
  Four ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6),
       ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  Four ce_even = __builtin_shufflevector(c, e, 0, 4, 2, 6),
       ce_odd = __builtin_shufflevector(c, e, 1, 5, 3, 7);
  *(Four *)across = __builtin_shufflevector(ab_even, ce_even, 0, 1, 4, 5);
  *(Four *)(across + ROWS) = __builtin_shufflevector(ab_odd, ce_odd, 0, 1, 4, 5);
  *(Four *)(across + 2 * ROWS) = __builtin_shufflevector(ab_even, ce_even, 2, 3, 6, 7);
  *(Four *)(across + 3 * ROWS) = __builtin_shufflevector(ab_odd, ce_odd, 2, 3, 6, 7);
}

/* Rows to columns; rows that are not there become zeros. */
WIDE static void turn(const double *x, int64_t rows, int64_t d, double *across) {
  int64_t whole = rows / 4 * 4, fours = d / 4 * 4;
  for (int64_t r = 0; r < whole; r += 4) {
    for (int64_t j = 0; j < fours; j += 4) turn_four(x + r * d + j, d, across + j * ROWS + r);
    for (int64_t j = fours; j < d; j++) {
      for (int64_t q = r; q < r + 4; q++) across[j * ROWS + q] = x[q * d + j];
    }
  }
  for (int64_t j = 0; whole < ROWS && j < d; j++) {
    for (int64_t r = whole; r < ROWS; r++) across[j * ROWS + r] = r < rows ? x[r * d + j] : 0;
  }
}

WIDE static void add_rows(const double *restrict x, int64_t rows, int64_t d, const int64_t *label,
                          double *restrict sums, int64_t *restrict counts) {
  for (int64_t r = 0; r < rows; r++) {
    double *restrict sum = sums + label[r] * d;
    counts[label[r]]++;
    for (int64_t j = 0; j < d; j++) sum[j] += x[r * d + j];
  }
}

static void look_at(const Nearest *s, int64_t b, int64_t from, int64_t to) {
  double *across = s->across + b * s->d * ROWS, *sums = s->sums + b * s->k * s->d, distance[ROWS];
  int64_t *counts = s->counts + b * s->k, label[ROWS];
  memset(sums, 0, (size_t)(s->k * s->d) * sizeof *sums);
  memset(counts, 0, (size_t)s->k * sizeof *counts);
  for (int64_t i = from; i < to; i += ROWS) {
    int64_t rows = fl_part_min(ROWS, to - i);
    const double *x = s->x + i * s->d;
    turn(x, rows, s->d, across);
    int64_t n_next = fl_part_min(ROWS, to - i - rows) * s->d;
    bool whole = rows == ROWS;
    nearest_of(across, s->centers, s->d, s->k, x + rows * s->d, n_next, whole ? s->distance + i : distance,
               whole ? s->label + i : label);
    if (!whole) {
      memcpy(s->label + i, label, (size_t)rows * sizeof *label);
      memcpy(s->distance + i, distance, (size_t)rows * sizeof *distance);
    }
    add_rows(x, rows, s->d, s->label + i, sums, counts);
  }
}

static int32_t block_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Nearest *s = env;
  (void)ctx;
  for (int64_t b = begin; b < end; b++) look_at(s, b, b * s->block, fl_part_min((b + 1) * s->block, s->n));
  return 0;
}

static FlStatus nearest(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *x = args[0].a, *centers = args[1].a;
  Nearest s = {
      .x = x->data, .centers = centers->data, .n = x->dims[0], .d = x->dims[1], .k = centers->dims[0]};
  if (centers->dims[1] != s.d) return fl_part_fail_shape(m->ctx, desc, s.d, centers->dims[1]);
  if (s.k == 0 && s.n > 0)
    return fl_fail_op(m->ctx, desc, FL_FAULT_DOMAIN, "there is no center to be near to");
  out[0] = fl_array_new(m->ctx, FL_I64, 1, &s.n);
  out[1] = out[0] ? fl_array_new(m->ctx, FL_F64, 1, &s.n) : NULL;
  out[2] = out[1] ? fl_array_new(m->ctx, FL_F64, 2, centers->dims) : NULL;
  out[3] = out[2] ? fl_array_new(m->ctx, FL_I64, 1, &s.k) : NULL;
  if (out[3] == NULL) return 1;
  s.label = out[0]->data;
  s.distance = out[1]->data;
  s.total = out[2]->data;
  s.count = out[3]->data;
  int64_t places = s.k * s.d;
  s.block = FL_BLOCK * fl_part_max(4, (places + 1023) / 1024);
  s.blocks = (s.n + s.block - 1) / s.block;
  s.across = fl_part_alloc(m, s.blocks * s.d * ROWS, sizeof *s.across);
  s.sums = s.across ? fl_part_alloc(m, s.blocks * places, sizeof *s.sums) : NULL;
  s.counts = s.sums ? fl_part_alloc(m, s.blocks * s.k, sizeof *s.counts) : NULL;
  if (s.counts == NULL) return 1;
  double row_cost = 2.0 + (double)s.d + 0.1 * (double)places;
  if (fl_part_for(m->ctx, block_body, &s, s.blocks, row_cost * (double)s.block) != 0) return 1;
  for (int64_t c = 0; c < places; c++) {
    double sum = s.blocks > 0 ? s.sums[c] : 0;
    for (int64_t b = 1; b < s.blocks; b++) sum += s.sums[b * places + c];
    s.total[c] = sum;
  }
  for (int64_t c = 0; c < s.k; c++) {
    s.count[c] = 0;
    for (int64_t b = 0; b < s.blocks; b++) s.count[c] += s.counts[b * s.k + c];
  }
  return 0;
}

FlStatus fl_rt_nearest(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 4, nearest);
}
