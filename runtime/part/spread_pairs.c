/* spread_pairs.c: variances and their like of all rows of floats, by sums of pairs of doubles.
 *
 * Comes in: one group of one or two columns of floats. Goes out: its value, wherever the sums leave no doubt
 * about it; else nothing, and the sums are made in whole numbers (agg_spread.c). Always holds: what is given
 * is the exact value, rounded once.
 *
 * A product is a double and what it was rounded by (Dekker 1971, by fma). In a block of rows a term is added
 * to a sum that begins with 1.5 * 2^K, where the terms of the block together are below 2^(K - 1): the sum
 * stays in [2^K, 2^(K + 1)], so what is lost of each term is known exactly (Dekker's sum of two ordered
 * numbers), and goes into a second sum. The first less 1.5 * 2^K is exact. The second adds at most 64 pairs
 * of numbers below 2^(K - 52) in each of 8 lanes: it is off by less than 2^(K - 88). Both go into
 * accumulators of all bits, and the bounds are added up. With them each sum of the formula is an interval;
 * where the formula gives one double at its least and at its greatest, that is the exact value's, as rounding
 * is monotone. */
#include <math.h>

#include "part/spread_internal.h"
#include "part/superacc.h"

enum {
  LANES = 8,
  BLOCK = FL_PART_BATCH,
  BLOCK_BITS = 9,      /* of the rows of a block */
  OFF_BITS = 88,       /* a block's sum is off by 2^(K - 88) */
  EXPONENT_MOST = 400, /* of a block's greatest value, so that no product nor what it lost is subnormal */
  LEAST_ROWS = 2048,
  MOST_COLS = 2,
  SUMS = MOST_COLS + FL_SPREAD_PRODUCTS
};
_Static_assert(BLOCK == 1 << BLOCK_BITS, "bits of a block");

/* Sums of x, y, x y, x x, y y: the terms, and what was lost of them. */
typedef struct BlockSums {
  double sum[SUMS], rest[SUMS];
  int64_t greatest[2]; /* bits of the magnitude */
} BlockSums;

/* Processors with fma have vectors of 8 doubles or of 4; without it the file is not used. Of vectors that are
 * wider than the processor's gcc makes one number after the other. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#define WIDE 8
#define NAME(x) x##_8
#define FUSED __attribute__((target("arch=x86-64-v4")))
#define LOST(A, B, TERM) (Lanes_8) _mm512_fmsub_pd((__m512d)A, (__m512d)B, (__m512d)TERM)
#include "part/spread_pairs.inc"
#undef WIDE
#undef NAME
#undef FUSED
#undef LOST
#define WIDE 4
#define NAME(x) x##_4
#define FUSED __attribute__((target("arch=x86-64-v3")))
#define LOST(A, B, TERM) (Lanes_4) _mm256_fmsub_pd((__m256d)A, (__m256d)B, (__m256d)TERM)
#include "part/spread_pairs.inc"
#define SUMS(HOW, ...) (fl_cpu_level() >= 4 ? HOW##_8(__VA_ARGS__) : HOW##_4(__VA_ARGS__))
#define HAS_FMA (fl_cpu_level() >= 3)
#else
#define WIDE 1
#define NAME(x) x##_1
#define FUSED
#define LOST(A, B, TERM)                                                                                     \
  (Lanes_1) { __builtin_fma(A[0], B[0], -TERM[0]) }
#include "part/spread_pairs.inc"
#define SUMS(HOW, ...) HOW##_1(__VA_ARGS__)
#define HAS_FMA __builtin_cpu_supports("fma")
#endif

/* ---- rows ---------------------------------------------------------------------------------------------- */

typedef struct Chunk {
  FlSuperacc sum[SUMS];
  double off[SUMS]; /* by how much it may be wrong */
} Chunk;

typedef struct Pairs {
  const FlSpread *s;
  int32_t n_cols, n_sums;
  Chunk *of;         /* [chunks] */
  _Atomic bool left; /* a block's values are too large, too small or no numbers */
} Pairs;

/* What blocks begin with whose values are below 2^exponent. */
typedef struct Scale {
  int exponent[2];
  double start[SUMS], off[SUMS];
} Scale;

static void set_scale(const Pairs *p, Scale *s) {
  for (int32_t k = 0; k < p->n_sums; k++) {
    const FlSpreadPair *pair = k < p->n_cols ? NULL : &p->s->product[k - p->n_cols];
    int top = pair == NULL ? s->exponent[k] : s->exponent[pair->a] + s->exponent[pair->b];
    s->start[k] = ldexp(1.5, top + BLOCK_BITS + 1);
    s->off[k] = ldexp(1.0, top + BLOCK_BITS + 1 - OFF_BITS);
  }
}

static void sum_up(const Pairs *p, const double *const *x, int64_t n, const Scale *scale, BlockSums *out) {
  if (p->n_sums == 2) SUMS(sums_of_one, x[0], n, scale->start, out);
  else if (p->n_sums == 3) SUMS(sums_of_two, x[0], x[1], n, scale->start, out);
  else SUMS(sums_of_three, x[0], x[1], n, scale->start, out);
}

enum { FITS, OTHER_SCALE, NOT_FOR_THESE };

/* Whether a block whose greatest values these are fits the scale, and else the scale that it does fit. A
 * block of much smaller values asks for one of its own. */
static int fit(const Pairs *p, const BlockSums *found, Scale *scale) {
  enum { FAR = 8 };
  int fits = FITS;
  for (int32_t k = 0; k < p->n_cols; k++) {
    int exponent = found->greatest[k] == 0 ? -EXPONENT_MOST : (int)(found->greatest[k] >> 52) - 1022;
    if (exponent < -EXPONENT_MOST || exponent > EXPONENT_MOST) return NOT_FOR_THESE;
    if (exponent <= scale->exponent[k] && exponent > scale->exponent[k] - FAR) continue;
    scale->exponent[k] = exponent;
    fits = OTHER_SCALE;
  }
  return fits;
}

static bool add_block(const Pairs *p, int64_t row, int64_t n, Scale *scale, Chunk *to) {
  double room[MOST_COLS][BLOCK];
  const double *x[MOST_COLS] = {NULL};
  int64_t filled = (n + LANES - 1) / LANES * LANES;
  for (int32_t k = 0; k < MOST_COLS && k < p->n_cols; k++) {
    x[k] = fl_spread_doubles(p->s, k, row, n, room[k]);
    if (filled == n) continue;
    if (x[k] != room[k]) memcpy(room[k], x[k], (size_t)n * sizeof *x[k]);
    memset(room[k] + n, 0, (size_t)(filled - n) * sizeof *x[k]);
    x[k] = room[k];
  }
  BlockSums found;
  sum_up(p, x, filled, scale, &found);
  int fits = fit(p, &found, scale);
  if (fits == NOT_FOR_THESE) return false;
  if (fits == OTHER_SCALE) {
    set_scale(p, scale);
    sum_up(p, x, filled, scale, &found);
  }
  for (int32_t k = 0; k < p->n_sums; k++) {
    to->off[k] += scale->off[k];
    fl_superacc_add(&to->sum[k], found.sum[k]);
    fl_superacc_add(&to->sum[k], found.rest[k]);
  }
  return true;
}

static int32_t chunk_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Pairs *p = (Pairs *)(uintptr_t)env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    Scale scale = {.exponent = {0}};
    set_scale(p, &scale);
    fl_part_chunk(c, p->s->a->n, &from, &to);
    memset(&p->of[c], 0, sizeof p->of[c]);
    for (int64_t row = from; row < to && !atomic_load_explicit(&p->left, memory_order_relaxed); row += BLOCK)
      if (!add_block(p, row, fl_part_min(BLOCK, to - row), &scale, &p->of[c]))
        atomic_store_explicit(&p->left, true, memory_order_relaxed);
  }
  return 0;
}

/* ---- the value ----------------------------------------------------------------------------------------- */

/* A number of which `by` is the most that it may be wrong. */
typedef struct About {
  FlBig v;
  double by;
} About;

static void set_about(About *a, FlSuperacc *sum, double off) {
  fl_superacc_big(sum, &a->v);
  a->by = 2.0 * off; /* also what adding the bounds lost */
}

static double size_of(FlSuperacc *sum) { return fabs(fl_superacc_round(sum)) * (1.0 + 0x1p-50); }

/* n x y less the product of the sums, and how wrong that may be. */
static void set_moment(About *m, const Pairs *p, int64_t n, int32_t product) {
  FlSpreadPair pair = p->s->product[product];
  int32_t k = p->n_cols + product;
  Chunk *c = &p->of[0];
  About xy, x, y;
  set_about(&xy, &c->sum[k], c->off[k]);
  set_about(&x, &c->sum[pair.a], c->off[pair.a]);
  set_about(&y, &c->sum[pair.b], c->off[pair.b]);
  fl_big_refine(&xy.v, x.v.exponent + y.v.exponent);
  fl_big_moment(&m->v, (uint64_t)n, &xy.v, &x.v, &y.v);
  m->by =
      ((double)n * xy.by + size_of(&c->sum[pair.a]) * y.by + size_of(&c->sum[pair.b]) * x.by + x.by * y.by) *
      (1.0 + 0x1p-40);
}

/* The terms of the formula, as fl_spread_of_terms takes them. */
static int32_t set_terms(About *term, const Pairs *p, int64_t n) {
  const FlSpread *s = p->s;
  if (s->kind == FL_SPREAD_MEAN) {
    set_about(&term[0], &p->of[0].sum[2], p->of[0].off[2]);
    set_about(&term[1], &p->of[0].sum[1], p->of[0].off[1]);
    return 2;
  }
  set_moment(&term[0], p, n, 0);
  if (s->kind == FL_SPREAD_CORR) {
    set_moment(&term[1], p, n, 1);
    set_moment(&term[2], p, n, 2);
    return 3;
  }
  fl_spread_count(s, n, &term[1].v);
  term[1].by = 0.0;
  return 2;
}

/* false: the sums do not say which double it is. */
static bool value_of(const Pairs *p, int64_t n, double *out) {
  About term[3];
  FlBig low[3], high[3];
  int32_t terms = set_terms(term, p, n);
  for (int32_t k = 0; k < terms; k++) {
    FlBig *less = k == 0 ? &low[k] : &high[k], *more = k == 0 ? &high[k] : &low[k]; /* of the quotient */
    if (!fl_big_around(&term[k].v, term[k].by, less, more)) return false;
  }
  double least = fl_spread_of_terms(p->s, low), most = fl_spread_of_terms(p->s, high);
  *out = least;
  return least == most;
}

FlStatus fl_spread_pairs(FlSpread *s, bool *done) {
  FlAgg *a = s->a;
  Pairs p = {.s = s, .n_cols = a->n_cols, .n_sums = a->n_cols + s->n_products};
  double v;
  *done = false;
  if (a->n < LEAST_ROWS || !HAS_FMA) return 0;
  for (int32_t k = 0; k < a->n_cols; k++)
    if (!fl_spread_is_float(s, k)) return 0;
  int64_t chunks = fl_part_chunks(a->n);
  p.of = fl_part_alloc(a->m, chunks, sizeof *p.of);
  if (p.of == NULL || fl_part_for(a->m->ctx, chunk_body, &p, chunks, 1.5 * FL_PART_CHUNK) != 0) return 1;
  for (int64_t c = 1; c < chunks; c++) {
    for (int32_t k = 0; k < p.n_sums; k++) {
      fl_superacc_merge(&p.of[0].sum[k], &p.of[c].sum[k]);
      p.of[0].off[k] += p.of[c].off[k];
    }
  }
  FlStatus status = 0;
  *done = !atomic_load(&p.left) && value_of(&p, a->counts[0], &v);
  if (*done) status = fl_spread_store(s, v);
  fl_part_release(a->m, p.of);
  return status;
}
