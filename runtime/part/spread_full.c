/* spread_full.c: variances and their like of groups whose floats are too far apart for sums in 128 bits, or
 * that have infinities or NaN.
 *
 * Comes in: which groups (agg_spread.c). Goes out: their values. Always holds: sums and sums of products are
 * exact for doubles of any exponents: sums in an accumulator of all bits (superacc.h), products in one of
 * twice as many. */
#include <math.h>

#include "part/spread_internal.h"
#include "part/superacc.h"

enum {
  LIMBS = 140, /* of 32 bits, from 2^-2148 on: products of two doubles, 2^63 of them */
  UNIT = -2148,
  CARRY_AFTER = 1 << 29
};

enum { PLUS = 1, MINUS = 2, NO_NUMBER = 4 }; /* products that are no finite numbers */

typedef struct Full {
  FlSuperacc sum[2];
  int64_t limb[FL_SPREAD_PRODUCTS][LIMBS]; /* signed, overlapping */
  int64_t terms;                           /* since the last carry */
  uint8_t special;
} Full;

static void carry(Full *f) {
  for (int p = 0; p < FL_SPREAD_PRODUCTS; p++) {
    int64_t over = 0;
    for (int k = 0; k < LIMBS - 1; k++) {
      int64_t v = f->limb[p][k] + over;
      over = v >> 32;
      f->limb[p][k] = v & 0xffffffff;
    }
    f->limb[p][LIMBS - 1] += over;
  }
  f->terms = 1;
}

/* A finite value: -1 or 1 times mantissa * 2^(bit - 1074). */
typedef struct Term {
  int64_t sign;
  uint64_t mantissa;
  int bit;
} Term;

static Term term_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent > 0) mantissa |= UINT64_C(1) << 52;
  return (Term){bits >> 63 ? -1 : 1, mantissa, exponent > 0 ? exponent - 1 : 0};
}

static void add_bits(int64_t *limb, int64_t sign, uint64_t v, int bit) {
  unsigned __int128 wide = (unsigned __int128)v << (bit & 31);
  limb += bit >> 5;
  limb[0] += sign * (int64_t)(wide & 0xffffffff);
  limb[1] += sign * (int64_t)(wide >> 32 & 0xffffffff);
  limb[2] += sign * (int64_t)(wide >> 64);
}

static void add_product(int64_t *limb, Term x, Term y) {
  unsigned __int128 v = (unsigned __int128)x.mantissa * y.mantissa;
  add_bits(limb, x.sign * y.sign, (uint64_t)v, x.bit + y.bit);
  add_bits(limb, x.sign * y.sign, (uint64_t)(v >> 64), x.bit + y.bit + 64);
}

static void add_whole(FlSuperacc *sum, Term t) {
  double high = (double)(t.mantissa >> 32) * 0x1p32, low = (double)(t.mantissa & 0xffffffff);
  fl_superacc_add(sum, t.sign < 0 ? -high : high);
  fl_superacc_add(sum, t.sign < 0 ? -low : low);
}

static bool has_values(const FlAgg *a, int64_t row) {
  for (int32_t k = 0; k < a->n_cols; k++)
    if (!fl_part_valid(a->col[k].valid, row)) return false;
  return true;
}

static void add_row(const FlSpread *s, Full *f, int64_t row) {
  const FlAgg *a = s->a;
  Term term[2] = {{0}};
  double x[2] = {0};
  bool finite = true;
  if (!has_values(a, row)) return;
  for (int32_t k = 0; k < a->n_cols; k++) {
    if (fl_spread_is_float(s, k)) {
      fl_part_read_f64(&a->col[k], row, 1, &x[k]);
      term[k] = term_of_double(x[k]);
      finite = finite && isfinite(x[k]);
      fl_superacc_add(&f->sum[k], x[k]);
    } else {
      int64_t v;
      fl_part_read_i64(&a->col[k], row, 1, &v);
      bool negative = v < 0 && a->col[k].dtype != FL_U64;
      term[k] = (Term){negative ? -1 : 1, negative ? 0 - (uint64_t)v : (uint64_t)v, 1074};
      x[k] = negative ? -1.0 : v != 0 ? 1.0 : 0.0; /* what matters beside an infinity */
      add_whole(&f->sum[k], term[k]);
    }
  }
  if (!finite) {
    double v = x[0] * x[1];
    f->special |= v != v ? NO_NUMBER : v > 0 ? PLUS : v < 0 ? MINUS : 0;
    return;
  }
  for (int32_t p = 0; p < s->n_products; p++)
    add_product(f->limb[p], term[s->product[p].a], term[s->product[p].b]);
  if (++f->terms == CARRY_AFTER) carry(f);
}

static void merge(Full *to, Full *from) {
  carry(to);
  carry(from);
  for (int k = 0; k < 2; k++) fl_superacc_merge(&to->sum[k], &from->sum[k]);
  for (int p = 0; p < FL_SPREAD_PRODUCTS; p++)
    for (int k = 0; k < LIMBS; k++) to->limb[p][k] += from->limb[p][k];
  to->terms = 2;
  to->special |= from->special;
}

/* A weighted mean with an infinity or NaN among its terms: as IEEE divides the sums. */
static double special_mean(Full *f) {
  double weights = fl_superacc_round(&f->sum[1]), sum = 0.0;
  if (f->special & NO_NUMBER || (f->special & PLUS && f->special & MINUS)) return NAN;
  if (f->special) sum = f->special & PLUS ? INFINITY : -INFINITY;
  double v = sum / weights;
  return v != v ? NAN : v == 0.0 ? 0.0 : v;
}

/* The value of group k. */
static double value_of(const FlSpread *s, int64_t group, Full *f) {
  FlSpreadSums sums;
  int64_t n = s->a->counts[group];
  if (!((const uint8_t *)s->a->valid->data)[group]) return 0.0;
  bool special = f->special;
  for (int k = 0; k < s->a->n_cols; k++) special |= f->sum[k].nan || f->sum[k].plus || f->sum[k].minus;
  if (special && s->kind != FL_SPREAD_MEAN) return NAN;
  if (special) return special_mean(f);
  carry(f);
  for (int k = 0; k < s->a->n_cols; k++) fl_superacc_big(&f->sum[k], &sums.sum[k]);
  for (int p = 0; p < s->n_products; p++) {
    uint64_t word[LIMBS / 2 + 1];
    for (int k = 0; k < LIMBS / 2; k++)
      word[k] = (uint64_t)f->limb[p][2 * k] | (uint64_t)f->limb[p][2 * k + 1] << 32;
    word[LIMBS / 2] = f->limb[p][LIMBS - 1] < 0 ? UINT64_MAX : 0;
    fl_big_set_words(&sums.product[p], word, LIMBS / 2 + 1, UNIT);
  }
  return fl_spread_value(s, n, &sums);
}

static void clear(Full *f) {
  memset(f, 0, sizeof *f);
  for (int k = 0; k < 2; k++) fl_superacc_init(&f->sum[k]);
}

/* ---- all rows ------------------------------------------------------------------------------------------ */

typedef struct Chunks {
  const FlSpread *s;
  Full *of; /* [chunks] */
} Chunks;

static int32_t chunk_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Chunks *c = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    int64_t from, to;
    fl_part_chunk(k, c->s->a->n, &from, &to);
    clear(&c->of[k]);
    for (int64_t row = from; row < to; row++) add_row(c->s, &c->of[k], row);
  }
  return 0;
}

static FlStatus one_group(FlSpread *s) {
  FlAgg *a = s->a;
  int64_t chunks = fl_part_chunks(a->n);
  Chunks c = {s, fl_part_alloc(a->m, chunks, sizeof *c.of)};
  if (c.of == NULL || fl_part_for(a->m->ctx, chunk_body, &c, chunks, 30.0 * FL_PART_CHUNK) != 0) return 1;
  for (int64_t k = 1; k < chunks; k++) merge(&c.of[0], &c.of[k]);
  fl_agg_store(a, 0, value_of(s, 0, &c.of[0]));
  fl_part_release(a->m, c.of);
  return 0;
}

/* ---- groups -------------------------------------------------------------------------------------------- */

typedef struct Groups {
  FlSpread *s;
  const FlPartPair *rows; /* by group */
  const int64_t *start;   /* [groups + 1] in rows */
} Groups;

static int32_t group_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Groups *t = env;
  Full f;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    int64_t group = (int64_t)t->rows[t->start[k]].key;
    clear(&f);
    for (int64_t i = t->start[k]; i < t->start[k + 1]; i++) add_row(t->s, &f, (int64_t)t->rows[i].row);
    fl_agg_store(t->s->a, group, value_of(t->s, group, &f));
  }
  return 0;
}

FlStatus fl_spread_full(FlSpread *s) {
  FlAgg *a = s->a;
  const int64_t *id = a->id;
  int64_t n = 0, groups = 0, at = 0;
  for (int64_t k = 0; k < a->g; k++) groups += atomic_load(&s->mark[k]) != 0;
  if (groups == 0) return 0;
  if (id == NULL) return one_group(s);
  for (int64_t i = 0; i < a->n; i++) n += atomic_load_explicit(&s->mark[id[i]], memory_order_relaxed) != 0;
  FlPartPair *pairs = fl_part_alloc(a->m, n, sizeof *pairs), *spare = fl_part_alloc(a->m, n, sizeof *spare),
             *rows;
  int64_t *start = fl_part_alloc(a->m, groups + 1, sizeof *start);
  if (pairs == NULL || spare == NULL || start == NULL) return 1;
  for (int64_t i = 0; i < a->n; i++) {
    if (atomic_load_explicit(&s->mark[id[i]], memory_order_relaxed) == 0) continue;
    pairs[at].key = (uint64_t)id[i];
    pairs[at++].row = i;
  }
  if (fl_part_sort_pairs(a->m, pairs, spare, n, fl_part_bits((uint64_t)a->g), &rows) != 0) return 1;
  groups = 0;
  for (int64_t i = 0; i < n; i++)
    if (i == 0 || rows[i].key != rows[i - 1].key) start[groups++] = i;
  start[groups] = n;
  Groups t = {s, rows, start};
  FlStatus status = fl_part_for(a->m->ctx, group_body, &t, groups, 600.0 + 30.0 * (double)n / (double)groups);
  fl_part_release(a->m, pairs);
  fl_part_release(a->m, spare);
  fl_part_release(a->m, start);
  return status;
}
