/* agg_spread.c: variance, standard deviation, covariance, correlation and weighted mean by group.
 *
 * Comes in: one or two columns of numbers. Goes out: a double a group: the exact value, rounded once, of
 *   var, cov        m / (n (n - ddof)), m = n sum(x y) - sum(x) sum(y)
 *   std             its root
 *   corr            m(x, y) / sqrt(m(x, x) m(y, y)), so of x with itself 1; NaN where a column is constant
 *   weighted_mean   sum(x w) / sum(w)
 * Always holds: all sums are exact whole numbers, so neither the order of rows nor how they were cut can
 * matter.
 *
 * Integers of at most 32 bits: the sums in 64 and 128 bits, products as they are. Others: x is high *
 * 2^low_bits + low, in units of 2^exponent (floats: against the largest exponent of the column), and the
 * products of both parts are added in 128 bits each. Groups of which a float has bits below its unit are
 * summed again, in accumulators for all exponents (spread_full.c). Infinities and NaN are no terms: a group
 * with one has NaN, but for weighted_mean. Of floats in one group pairs of doubles come first, which nearly
 * always say which double it is (spread_pairs.c). */
#include <math.h>

#include "part/spread_internal.h"

/* ---- values -------------------------------------------------------------------------------------------- */

static int64_t least_count(const FlSpread *s) {
  if (s->kind == FL_SPREAD_MEAN) return 1;
  return s->kind == FL_SPREAD_CORR ? 2 : fl_part_max(1, (int64_t)s->a->desc->f + 1);
}

static double signed_value(double v, bool negative) { return negative ? -v : v; }

void fl_spread_count(const FlSpread *s, int64_t n, FlBig *out) {
  fl_big_set(out, (__int128)n * (n - (int64_t)s->a->desc->f), 0);
}

double fl_spread_of_terms(const FlSpread *s, const FlBig *term) {
  bool zero = fl_big_is_zero(&term[0]);
  FlWhole top = fl_big_whole(&term[0]), below = fl_big_whole(&term[1]);
  if (s->kind == FL_SPREAD_MEAN && fl_big_is_zero(&term[1]))
    return zero ? (double)NAN : signed_value(INFINITY, term[0].negative);
  if (s->kind == FL_SPREAD_MEAN)
    return zero ? 0.0 : signed_value(fl_exact_ratio(top, below), term[0].negative != term[1].negative);
  if (s->kind == FL_SPREAD_CORR) {
    if (fl_big_is_zero(&term[1]) || fl_big_is_zero(&term[2])) return (double)NAN;
    return signed_value(fl_exact_cosine(top, below, fl_big_whole(&term[2])), term[0].negative);
  }
  return signed_value(s->kind == FL_SPREAD_STD ? fl_exact_root(top, below) : fl_exact_ratio(top, below),
                      term[0].negative);
}

double fl_spread_value(const FlSpread *s, int64_t n, const FlSpreadSums *sums) {
  const FlBig *x = &sums->sum[0], *y = &sums->sum[s->a->n_cols - 1], *xy = &sums->product[0];
  FlBig term[3];
  if (n < least_count(s)) return 0.0;
  if (s->kind == FL_SPREAD_MEAN) {
    term[0] = *xy;
    term[1] = *y;
    return fl_spread_of_terms(s, term);
  }
  fl_big_moment(&term[0], (uint64_t)n, xy, x, y);
  if (s->kind == FL_SPREAD_CORR) {
    fl_big_moment(&term[1], (uint64_t)n, &sums->product[1], x, x);
    fl_big_moment(&term[2], (uint64_t)n, &sums->product[2], y, y);
  } else {
    fl_spread_count(s, n, &term[1]);
  }
  return fl_spread_of_terms(s, term);
}

FlStatus fl_spread_store(FlSpread *s, double v) {
  if (fl_agg_results(s->a, least_count(s)) != 0) return 1;
  fl_agg_store(s->a, 0, v);
  return 0;
}

typedef struct Results {
  FlSpread *s;
  FlSpreadSumsFn *sums;
  const void *env;
} Results;

static int32_t results_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Results *r = env;
  FlSpread *s = r->s;
  FlSpreadSums sums;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    uint8_t mark = atomic_load_explicit(&s->mark[k], memory_order_relaxed);
    if (mark != 0) continue;
    if (s->a->counts[k] >= least_count(s)) {
      r->sums(r->env, k, &sums);
      fl_agg_store(s->a, k, fl_spread_value(s, s->a->counts[k], &sums));
    } else {
      fl_agg_store(s->a, k, 0.0);
    }
  }
  return 0;
}

FlStatus fl_spread_results(FlSpread *s, FlSpreadSumsFn *sums, const void *env) {
  Results r = {s, sums, env};
  if (fl_agg_results(s->a, least_count(s)) != 0) return 1;
  return fl_part_for(s->a->m->ctx, results_body, &r, s->a->g, 150.0 * s->n_products);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

const double *fl_spread_doubles(const FlSpread *s, int32_t k, int64_t row, int64_t n, double *room) {
  FlAggDoubles column = fl_agg_doubles(s->a, k);
  const double *x = fl_agg_read_doubles(&column, row, n, room);
  return x;
}

void fl_spread_ints(const FlSpread *s, int32_t k, int64_t row, int64_t n, int64_t *out) {
  const FlAgg *a = s->a;
  const uint8_t *other = a->n_cols > 1 ? a->col[1 - k].valid : NULL;
  fl_part_read_i64(&a->col[k], row, n, out);
  for (int64_t i = 0; other != NULL && i < n; i++) out[i] = other[row + i] ? out[i] : 0;
}

/* ---- small integers ------------------------------------------------------------------------------------ */

typedef struct Whole {
  int64_t x, y;
  __int128 xy, xx, yy;
} Whole;

typedef struct Wholes {
  const FlSpread *s;
  const FlAgg *a;
  FlAggCut cut;
  Whole *sums; /* [pieces][g] */
} Wholes;

/* So small that none of the sums, nor a product of two, leaves 128 bits. */
static bool is_whole(const FlAgg *a) {
  for (int32_t k = 0; k < a->n_cols; k++) {
    const FlDtypeInfo *d = &fl_dtype_info[a->col[k].dtype];
    if (d->kind == FL_KIND_FLOAT || d->bytes > 4) return false;
  }
  return a->n < INT32_MAX;
}

static int32_t wholes_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Wholes *s = env;
  const FlAgg *a = s->a;
  int64_t x[FL_PART_BATCH], y[FL_PART_BATCH];
  (void)ctx;
  for (int64_t t = begin; t < end; t++) {
    int64_t first, last, low;
    uint64_t width;
    fl_agg_task(&s->cut, a->n, a->g, t, &first, &last, &low, &width);
    Whole *sums = s->sums + t / s->cut.ranges * a->g;
    memset(sums + low, 0, width * sizeof *sums);
    for (int64_t row = first; row < last; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, last - row);
      fl_spread_ints(s->s, 0, row, n, x);
      if (a->n_cols > 1) fl_spread_ints(s->s, 1, row, n, y);
      for (int64_t i = 0; i < n; i++) {
        int64_t k = a->id != NULL ? a->id[row + i] : 0;
        if ((uint64_t)(k - low) >= width) continue;
        Whole *to = &sums[k];
        to->x += x[i];
        to->xx += (__int128)x[i] * x[i];
        if (a->n_cols == 1) continue;
        to->y += y[i];
        to->xy += (__int128)x[i] * y[i];
        to->yy += (__int128)y[i] * y[i];
      }
    }
  }
  return 0;
}

/* The sums of all pieces, in the first. */
static int32_t add_wholes_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Wholes *s = env;
  (void)ctx;
  for (int64_t p = 1; p < s->cut.pieces; p++) {
    for (int64_t k = begin; k < end; k++) {
      const Whole *from = &s->sums[p * s->a->g + k];
      Whole *to = &s->sums[k];
      *to =
          (Whole){to->x + from->x, to->y + from->y, to->xy + from->xy, to->xx + from->xx, to->yy + from->yy};
    }
  }
  return 0;
}

static void whole_sums(const void *env, int64_t k, FlSpreadSums *out) {
  const Wholes *s = env;
  const Whole *w = &s->sums[k];
  bool one = s->a->n_cols == 1;
  fl_big_set(&out->sum[0], w->x, 0);
  fl_big_set(&out->sum[1], w->y, 0);
  fl_big_set(&out->product[0], one ? w->xx : w->xy, 0);
  if (s->s->n_products == 1) return;
  fl_big_set(&out->product[1], w->xx, 0);
  fl_big_set(&out->product[2], w->yy, 0);
}

static FlStatus wholes(FlSpread *of) {
  FlAgg *a = of->a;
  Wholes s = {.s = of, .a = a, .cut = fl_agg_cut(a->m->ctx, a->n, a->g)};
  s.sums = fl_part_alloc(a->m, s.cut.pieces * a->g, sizeof *s.sums);
  int64_t tasks = s.cut.pieces * s.cut.ranges;
  if (s.sums == NULL || fl_part_for(a->m->ctx, wholes_body, &s, tasks, 3.0 * (double)s.cut.piece) != 0)
    return 1;
  if (fl_part_for(a->m->ctx, add_wholes_body, &s, a->g, 3.0 * (double)s.cut.pieces) != 0) return 1;
  FlStatus status = fl_spread_results(of, whole_sums, &s);
  fl_part_release(a->m, s.sums);
  return status;
}

/* ---- sums of products of two limbs --------------------------------------------------------------------- */

enum { BLOCK = FL_PART_BATCH, LOW_MOST = 51, HIGH_MOST = 49, SUM_BITS = 126 };

/* One pass: table[piece][group] has a sum of each column, and of each product of columns sums of high * high,
 * of the mixed ones, of low * low. */
typedef struct Limbs {
  FlSpread *s;
  FlAggCut cut;
  int32_t words; /* of 128 bits a group */
  int low_bits;
  double low_unit, scale[2]; /* 2^low_bits; of floats: what makes the high limb */
  int exponent[2];           /* of the unit of a column */
  __int128 *table;
} Limbs;

typedef struct Block {
  int64_t high[2][BLOCK], low[2][BLOCK];
} Block;

typedef struct Greatest {
  const FlSpread *s;
  int32_t column;
  _Atomic int64_t exponent;
  _Atomic bool special; /* there is an infinity or NaN */
} Greatest;

static int32_t greatest_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Greatest *g = (Greatest *)(uintptr_t)env;
  double x[BLOCK];
  int64_t most = INT64_MIN;
  (void)ctx;
  for (int64_t row = begin; row < end; row += BLOCK) {
    int64_t n = fl_part_min(BLOCK, end - row);
    const double *values = fl_spread_doubles(g->s, g->column, row, n, x);
    uint64_t here = fl_part_greatest(values, n);
    if (here >= UINT64_C(0x7ff) << 52) {
      atomic_store_explicit(&g->special, true, memory_order_relaxed);
      here = 0;
      for (int64_t i = 0; i < n; i++) {
        uint64_t one = fl_part_greatest(&values[i], 1);
        if (one < UINT64_C(0x7ff) << 52) here = one > here ? one : here;
      }
    }
    most = fl_part_max(most, (int64_t)(here >> 52) - 1022); /* every |x| < 2^most */
  }
  int64_t seen = atomic_load_explicit(&g->exponent, memory_order_relaxed);
  while (most > seen && !atomic_compare_exchange_weak_explicit(&g->exponent, &seen, most,
                                                               memory_order_relaxed, memory_order_relaxed)) {}
  return 0;
}

static FlStatus open_limbs(FlSpread *s, Limbs *l) {
  FlAgg *a = s->a;
  int count_bits = fl_part_bits((uint64_t)a->n);
  int low = (int)fl_part_min(LOW_MOST, (SUM_BITS - 1 - count_bits) / 2),
      high = (int)fl_part_min(HIGH_MOST, low);
  *l = (Limbs){.s = s, .low_bits = low, .low_unit = ldexp(1.0, low), .words = a->n_cols + 3 * s->n_products};
  for (int32_t k = 0; k < a->n_cols; k++) {
    if (!fl_spread_is_float(s, k)) continue;
    Greatest g = {.s = s, .column = k, .exponent = INT64_MIN};
    if (fl_part_for(a->m->ctx, greatest_body, &g, a->n, 0.5) != 0) return 1;
    int exponent =
        (int)fl_part_max(atomic_load(&g.exponent), -900); /* products of the scale are no subnormals */
    l->scale[k] = ldexp(1.0, high - exponent);
    l->exponent[k] = exponent - high - low;
    s->specials = s->specials || atomic_load(&g.special);
  }
  l->cut = fl_agg_cut(a->m->ctx, a->n, a->g * l->words);
  l->cut.range = (a->g + l->cut.ranges - 1) / l->cut.ranges;
  l->table = fl_part_alloc(a->m, l->cut.pieces * a->g * l->words, sizeof *l->table);
  return l->table == NULL;
}

/* Non-zero: some x has bits below the low limb. */
FL_PART_ROUNDS static int64_t split(const double *x, int64_t n, double scale, double low_unit, int64_t *high,
                                    int64_t *low) {
  int64_t dropped = 0;
  for (int64_t i = 0; i < n; i++) {
    double scaled = x[i] * scale, upper = trunc(scaled);
    double rest = (scaled - upper) * low_unit, lower = trunc(rest);
    high[i] = fl_part_integer(upper);
    low[i] = fl_part_integer(lower);
    dropped |= fl_part_lost(x[i], upper, rest, lower);
  }
  return dropped;
}

/* Marks the group of value i, of the row at[i] (NULL: i) behind `row`. */
static void mark(const Limbs *l, int64_t row, int64_t i, const int32_t *at, uint8_t what) {
  const int64_t *id = l->s->a->id;
  fl_spread_mark(l->s, id == NULL ? 0 : id[row + (at != NULL ? at[i] : i)], what);
}

static void drop_specials(const Limbs *l, int64_t row, double *x, int64_t n, const int32_t *at) {
  for (int64_t i = 0; i < n; i++) {
    if (isfinite(x[i])) continue;
    mark(l, row, i, at, FL_SPREAD_SPECIAL);
    x[i] = 0.0;
  }
}

/* Limbs of n values of column k; marks groups that they do not hold. */
static void split_column(const Limbs *l, int32_t k, int64_t row, const double *x, int64_t n,
                         const int32_t *at, Block *b) {
  if (!split(x, n, l->scale[k], l->low_unit, b->high[k], b->low[k])) return;
  for (int64_t i = 0; i < n; i++) {
    if (!split(&x[i], 1, l->scale[k], l->low_unit, &b->high[k][i], &b->low[k][i])) continue;
    mark(l, row, i, at, FL_SPREAD_FULL);
  }
}

static void read_block(const Limbs *l, int64_t row, int64_t n, const int32_t *at, int64_t found, Block *b) {
  for (int32_t k = 0; k < l->s->a->n_cols; k++) {
    if (fl_spread_is_float(l->s, k)) {
      double room[BLOCK], x[BLOCK];
      const double *values = fl_spread_doubles(l->s, k, row, n, room);
      bool copy = at != NULL || l->s->specials;
      for (int64_t i = 0; copy && i < found; i++) x[i] = values[at != NULL ? at[i] : i];
      if (l->s->specials) drop_specials(l, row, x, found, at);
      split_column(l, k, row, copy ? x : values, found, at, b);
      continue;
    }
    int64_t x[BLOCK];
    bool is_unsigned = l->s->a->col[k].dtype == FL_U64;
    fl_spread_ints(l->s, k, row, n, x);
    for (int64_t i = 0; i < found; i++) {
      int64_t v = x[at != NULL ? at[i] : i];
      b->high[k][i] = is_unsigned ? (int64_t)((uint64_t)v >> l->low_bits) : v >> l->low_bits;
      b->low[k][i] = v & ((INT64_C(1) << l->low_bits) - 1);
    }
  }
}

static inline __int128 shifted(int64_t v, int bits) { /* negative ones, too */
  return (__int128)((unsigned __int128)(__int128)v << bits);
}

static inline void add_product(__int128 *to, int64_t ah, int64_t al, int64_t bh, int64_t bl, bool square) {
  to[0] += (__int128)ah * bh;
  to[1] += square ? (__int128)ah * bl : (__int128)ah * bl + (__int128)al * bh;
  to[2] += (__int128)al * bl;
}

/* Row i of the block. The shape is that of the aggregate and known where this is inlined. */
static inline void add_row(__int128 *to, const Block *b, int64_t i, int low_bits, int n_cols,
                           int n_products) {
  int64_t h = b->high[0][i], l = b->low[0][i];
  to[0] += shifted(h, low_bits) + l;
  if (n_cols == 1) {
    add_product(to + 1, h, l, h, l, true);
    return;
  }
  int64_t yh = b->high[1][i], yl = b->low[1][i];
  to[1] += shifted(yh, low_bits) + yl;
  add_product(to + 2, h, l, yh, yl, false);
  if (n_products == 1) return;
  add_product(to + 5, h, l, h, l, true);
  add_product(to + 8, yh, yl, yh, yl, true);
}

#define ADD_ROWS(COLUMNS, PRODUCTS)                                                                          \
  {                                                                                                          \
    enum { WORDS = (COLUMNS) + 3 * (PRODUCTS) };                                                             \
    if (id == NULL) {                                                                                        \
      __int128 sums[WORDS];                                                                                  \
      memcpy(sums, table, sizeof sums);                                                                      \
      for (int64_t i = 0; i < n; i++) add_row(sums, b, i, low_bits, COLUMNS, PRODUCTS);                      \
      memcpy(table, sums, sizeof sums);                                                                      \
      return;                                                                                                \
    }                                                                                                        \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      int64_t ahead = fl_part_min(i + FL_AGG_AHEAD, n - 1);                                                  \
      __builtin_prefetch(&table[id[at != NULL ? at[ahead] : ahead] * WORDS], 1);                             \
      add_row(table + id[at != NULL ? at[i] : i] * WORDS, b, i, low_bits, COLUMNS, PRODUCTS);                \
    }                                                                                                        \
    return;                                                                                                  \
  }
static void add_rows(const Limbs *l, __int128 *table, const int64_t *id, const int32_t *at, int64_t n,
                     const Block *b) {
  int low_bits = l->low_bits;
  if (l->s->a->n_cols == 1) ADD_ROWS(1, 1)
  if (l->s->n_products == 1) ADD_ROWS(2, 1)
  ADD_ROWS(2, 3)
}
#undef ADD_ROWS

static int32_t limbs_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Limbs *l = env;
  const FlAgg *a = l->s->a;
  Block b;
  int32_t places[BLOCK];
  (void)ctx;
  for (int64_t task = begin; task < end; task++) {
    int64_t first, last, from;
    uint64_t width;
    fl_agg_task(&l->cut, a->n, a->g, task, &first, &last, &from, &width);
    __int128 *table = l->table + task / l->cut.ranges * a->g * l->words;
    memset(table + from * l->words, 0, width * (size_t)l->words * sizeof *table);
    for (int64_t row = first; row < last; row += BLOCK) {
      int64_t n = fl_part_min(BLOCK, last - row), found = n;
      const int64_t *id = a->id != NULL ? a->id + row : NULL;
      const int32_t *at = l->cut.ranges > 1 ? places : NULL;
      if (at != NULL) found = fl_agg_in_range(id, n, from, width, places);
      read_block(l, row, n, at, found, &b);
      add_rows(l, table, id, at, found, &b);
    }
  }
  return 0;
}

/* high * 2^(2 low_bits) + mixed * 2^(low_bits or one more) + low */
static void set_product(FlBig *out, const __int128 *sums, int low_bits, bool square, int exponent) {
  uint64_t word[4] = {0};
  int shift[3] = {2 * low_bits, low_bits + square, 0};
  for (int t = 0; t < 3; t++) {
    uint64_t low = (uint64_t)sums[t], high = (uint64_t)(sums[t] >> 64), sign = sums[t] < 0 ? UINT64_MAX : 0;
    uint64_t part[6] = {low, high, sign, sign, sign, sign};
    int words = shift[t] / 64, bits = shift[t] % 64;
    unsigned __int128 carry = 0;
    for (int k = words; k < 4; k++) {
      int j = k - words;
      uint64_t v = bits == 0 ? part[j] : part[j] << bits | (j > 0 ? part[j - 1] >> (64 - bits) : 0);
      carry += (unsigned __int128)word[k] + v;
      word[k] = (uint64_t)carry;
      carry >>= 64;
    }
  }
  fl_big_set_words(out, word, 4, exponent);
}

static void limbs_sums(const void *env, int64_t k, FlSpreadSums *out) {
  const Limbs *l = env;
  const FlSpread *s = l->s;
  __int128 all[2 + 3 * FL_SPREAD_PRODUCTS];
  memcpy(all, l->table + k * l->words, (size_t)l->words * sizeof *all);
  for (int64_t p = 1; p < l->cut.pieces; p++) {
    const __int128 *more = l->table + (p * s->a->g + k) * l->words;
    for (int32_t w = 0; w < l->words; w++) all[w] += more[w];
  }
  for (int32_t c = 0; c < s->a->n_cols; c++) fl_big_set(&out->sum[c], all[c], l->exponent[c]);
  for (int32_t p = 0; p < s->n_products; p++) {
    FlSpreadPair pair = s->product[p];
    set_product(&out->product[p], all + s->a->n_cols + 3 * p, l->low_bits, pair.a == pair.b,
                l->exponent[pair.a] + l->exponent[pair.b]);
  }
}

static FlStatus limbs(FlSpread *s) {
  Limbs l;
  FlAgg *a = s->a;
  if (open_limbs(s, &l) != 0) return 1;
  int64_t tasks = l.cut.pieces * l.cut.ranges;
  if (fl_part_for(a->m->ctx, limbs_body, &l, tasks,
                  3.0 * (double)(s->n_products + 1) * (double)l.cut.piece) != 0)
    return 1;
  if (fl_spread_results(s, limbs_sums, &l) != 0) return 1;
  fl_part_release(a->m, l.table);
  return fl_spread_full(s);
}

/* ---- sums of a sweep ----------------------------------------------------------------------------------- */

typedef struct Swept {
  const FlExactScale *scale;
  const int64_t *table;
  int words;
} Swept;

static void swept_sums(const void *env, int64_t k, FlSpreadSums *out) {
  const Swept *s = env;
  __int128 all[FL_SPREAD_WORDS / 2];
  memcpy(all, s->table + k * s->words, sizeof all);
  fl_big_set(&out->sum[0], all[0], s->scale->exponent);
  set_product(&out->product[0], all + 1, FL_EXACT_LOW, true, 2 * s->scale->exponent);
}

FlStatus fl_agg_store_spread(FlAgg *a, bool root, const FlExactScale *scale, const int64_t *table,
                             int words) {
  static const FlSpreadPair square = {0, 0};
  FlSpread s = {.a = a, .kind = root ? FL_SPREAD_STD : FL_SPREAD_VAR, .n_products = 1, .product = &square};
  s.mark = fl_part_zalloc(a->m, a->g, sizeof *s.mark);
  if (s.mark == NULL || fl_spread_results(&s, swept_sums, &(Swept){scale, table, words}) != 0) return 1;
  fl_part_release(a->m, (void *)s.mark);
  return 0;
}

/* ---- the aggregates ------------------------------------------------------------------------------------ */

static FlStatus spread(FlAgg *a, FlSpreadKind kind) {
  static const FlSpreadPair one[] = {{0, 0}}, two[] = {{0, 1}, {0, 0}, {1, 1}};
  FlSpread s = {.a = a, .kind = kind, .n_products = kind == FL_SPREAD_CORR ? FL_SPREAD_PRODUCTS : 1};
  bool of_one = kind == FL_SPREAD_VAR || kind == FL_SPREAD_STD;
  s.product = of_one ? one : two;
  bool done = false;
  if (a->id == NULL && a->counts[0] >= least_count(&s) && fl_spread_pairs(&s, &done) != 0) return 1;
  if (done) return 0;
  s.mark = fl_part_zalloc(a->m, a->g, sizeof *s.mark);
  if (s.mark == NULL) return 1;
  FlStatus status = is_whole(a) ? wholes(&s) : limbs(&s);
  fl_part_release(a->m, (void *)s.mark);
  return status;
}

FlStatus fl_agg_var(FlAgg *a) { return spread(a, FL_SPREAD_VAR); }
FlStatus fl_agg_std(FlAgg *a) { return spread(a, FL_SPREAD_STD); }
FlStatus fl_agg_cov(FlAgg *a) { return spread(a, FL_SPREAD_COV); }
FlStatus fl_agg_corr(FlAgg *a) { return spread(a, FL_SPREAD_CORR); }
FlStatus fl_agg_weighted_mean(FlAgg *a) { return spread(a, FL_SPREAD_MEAN); }
