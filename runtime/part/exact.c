/* exact.c: exact sums and means of doubles by group, rounded once.
 *
 * Comes in: doubles and the group of each. Goes out: a double a group. Always holds: the result is the
 * correctly rounded exact sum, or its quotient by a count, so neither the order of rows nor how they were cut
 * can matter, and a mean is there where the sum is too large for a double.
 *
 * Fast way: against the largest exponent e of the column a term is hi * 2^(e-h) + lo * 2^(e-h-51), hi and lo
 * integers of h and 51 bits, found by two multiplications by powers of two and two truncations, all exact; hi
 * * 2^51 + lo is added to a 128-bit integer. h leaves room for the number of rows. A term with bits below
 * that is set aside, and the groups of such terms are summed in full accumulators (superacc.h), to which the
 * integer is added. Groups that stand in the order of the rows need no table of them (exact_runs.c). When
 * there are many of them, or an infinity or a NaN occurs, all groups are. One sum of many terms is tried
 * first against an exponent that some of them let expect, so that terms are read once. */
#include <math.h>

#include "part/aggregate_internal.h"
#include "part/superacc.h"

enum { LOW = FL_EXACT_LOW, HIGH_MOST = 49, BLOCK = FL_PART_TERMS };

const double *fl_part_stored_terms(const void *env, int64_t row, int64_t n, double *room) {
  (void)n;
  (void)room;
  return (const double *)env + row;
}

typedef struct Sums {
  FlPartTerms x;
  const int64_t *id;
  int64_t n, g;
  const int64_t *count; /* [g], or NULL: sums are wanted */
  FlAggCut cut;
  FlExactScale scale;
  uint64_t tried;  /* bits that no magnitude may pass, where the scale was made of some terms; 0: of all */
  __int128 *sums;  /* [pieces][g] */
  double *out;     /* [g] */
  FlPartPair *odd; /* group, and bits of the terms that are set aside */
  int64_t room;    /* how many of them there may be */
  _Atomic int64_t *n_odd; /* of a trial: not 0, where some term does not fit */
} Sums;

FL_PART_WIDE uint64_t fl_part_greatest(const double *x, int64_t n) {
  int64_t most = 0; /* vectors compare numbers with a sign */
  for (int64_t i = 0; i < n; i++) {
    int64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    bits &= INT64_MAX;
    most = bits > most ? bits : most;
  }
  return (uint64_t)most;
}

typedef struct Greatest {
  FlPartTerms x;
  _Atomic uint64_t bits; /* of the magnitudes */
} Greatest;

static int32_t greatest_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Greatest *g = (Greatest *)(uintptr_t)env;
  uint64_t most = 0;
  double room[BLOCK];
  (void)ctx;
  for (int64_t row = begin; row < end; row += BLOCK) {
    int64_t n = fl_part_min(BLOCK, end - row);
    uint64_t here = fl_part_greatest(g->x.read(g->x.env, row, n, room), n);
    most = here > most ? here : most;
  }
  uint64_t seen = atomic_load_explicit(&g->bits, memory_order_relaxed);
  while (most > seen && !atomic_compare_exchange_weak_explicit(&g->bits, &seen, most, memory_order_relaxed,
                                                               memory_order_relaxed)) {}
  return 0;
}

FlExactScale fl_part_exact_scale_of(uint64_t bits, int64_t n) {
  double most;
  int exponent; /* |x| < 2^exponent */
  memcpy(&most, &bits, sizeof most);
  if (!isfinite(most)) return (FlExactScale){0};
  (void)frexp(most, &exponent);
  if (exponent < -900) exponent = -900;
  int high_bits = (int)fl_part_min(HIGH_MOST, 126 - LOW - fl_part_bits((uint64_t)n));
  /* The unit is at least 2^-1000: its products are no subnormals. */
  int unit = exponent - high_bits - LOW;
  return (FlExactScale){ldexp(1.0, high_bits - exponent), ldexp(1.0, unit), unit, true};
}

FlStatus fl_part_exact_most(FlPartMem *m, FlPartTerms x, int64_t n, uint64_t *bits) {
  Greatest g = {.x = x};
  FlStatus status = fl_part_for(m->ctx, greatest_body, &g, n, 0.3);
  *bits = atomic_load(&g.bits);
  return status;
}

FlStatus fl_part_exact_scale(FlPartMem *m, FlPartTerms x, int64_t n, FlExactScale *out) {
  uint64_t bits;
  FlStatus status = fl_part_exact_most(m, x, n, &bits);
  *out = fl_part_exact_scale_of(bits, n);
  return status;
}

FL_PART_ROUNDS int64_t fl_part_split(const double *x, int64_t n, double scale, int64_t *high, int64_t *low) {
  int64_t dropped = 0;
  for (int64_t i = 0; i < n; i++) {
    double scaled = x[i] * scale, upper = trunc(scaled);
    double rest = (scaled - upper) * 0x1p51, lower = trunc(rest);
    high[i] = fl_part_integer(upper);
    low[i] = fl_part_integer(lower);
    dropped |= fl_part_lost(x[i], upper, rest, lower);
  }
  return dropped;
}

/* What all are above as bits is taken away from the sums, once. As fl_part_lost: both parts are 0 of what is
 * not, and nothing of `rest` is left, where `scaled` is 0 already. */
FL_PART_ROUNDS int64_t fl_part_split_sum(const double *x, int64_t n, double scale, int64_t *high_sum,
                                         int64_t *low_sum) {
  int64_t dropped = 0;
  uint64_t highs = 0, lows = 0;
  for (int64_t i = 0; i < n; i++) {
    double scaled = x[i] * scale, upper = trunc(scaled);
    double rest = (scaled - upper) * 0x1p51, lower = trunc(rest);
    int64_t odd = rest != lower ? -1 : 0, some = x[i] != 0.0 ? -1 : 0, none = scaled == 0.0 ? -1 : 0;
    dropped |= odd | (some & none);
    highs += fl_part_above(upper);
    lows += fl_part_above(lower);
  }
  *high_sum = (int64_t)(highs - (uint64_t)n * FL_PART_ABOVE);
  *low_sum = (int64_t)(lows - (uint64_t)n * FL_PART_ABOVE);
  return dropped;
}

/* Terms that have bits below the scale: their integers become 0. Term i is of row at[i] (NULL: i) of `id`. */
static void set_aside(const Sums *s, const double *x, int64_t n, const int64_t *id, const int32_t *at,
                      int64_t *high, int64_t *low) {
  for (int64_t i = 0; i < n; i++) {
    if (!fl_part_split(&x[i], 1, s->scale.high, &high[i], &low[i])) continue;
    int64_t place = atomic_fetch_add_explicit(s->n_odd, 1, memory_order_relaxed);
    high[i] = low[i] = 0;
    if (place >= s->room) continue;
    s->odd[place].key = (uint64_t)(id == NULL ? 0 : id[at != NULL ? at[i] : i]);
    memcpy(&s->odd[place].row, &x[i], sizeof x[i]);
  }
}

/* Integers of n terms, of the rows at[i] (NULL: i) of id. */
typedef struct Block {
  int64_t high[BLOCK], low[BLOCK];
} Block;

static void split_block(const Sums *s, const double *x, int64_t n, const int64_t *id, const int32_t *at,
                        Block *b) {
  if (fl_part_split(x, n, s->scale.high, b->high, b->low)) set_aside(s, x, n, id, at, b->high, b->low);
}

static void add_single(__int128 *sum, const Sums *s, const double *x, int64_t n, Block *b) {
  bool whole = (s->tried == 0 || fl_part_greatest(x, n) <= s->tried) &&
               !fl_part_split_sum(x, n, s->scale.high, b->high, b->low);
  if (!whole && s->tried != 0) {
    atomic_store_explicit(s->n_odd, 1, memory_order_relaxed);
    return;
  }
  if (!whole) set_aside(s, x, n, NULL, NULL, b->high, b->low);
  for (int64_t i = 0; i < (whole ? 1 : n); i++) *sum += fl_part_exact_term(b->high[i], b->low[i]);
}

/* The rows of a range of the groups only. */
static void add_range(__int128 *sums, const Sums *s, const double *terms, const int64_t *id, int64_t n,
                      int64_t from, uint64_t width, Block *b) {
  int32_t at[BLOCK];
  double x[BLOCK];
  int64_t found = fl_agg_in_range(id, n, from, width, at);
  for (int64_t j = 0; j < found; j++) x[j] = terms[at[j]];
  split_block(s, x, found, id, at, b);
  for (int64_t j = 0; j < found; j++) {
    __builtin_prefetch(&sums[id[at[fl_part_min(j + FL_AGG_AHEAD, found - 1)]]], 1);
    sums[id[at[j]]] += fl_part_exact_term(b->high[j], b->low[j]);
  }
}

/* All rows of the block. */
static void add_block(__int128 *sums, const Sums *s, const int64_t *id, int64_t n, const Block *b) {
  if (!fl_part_are_few(s->g)) {
    for (int64_t i = 0; i < n; i++) sums[id[i]] += fl_part_exact_term(b->high[i], b->low[i]);
    return;
  }
  for (int64_t i = 0; i < n; i += FL_PART_BATCH) {
    const int64_t some = fl_part_min(FL_PART_BATCH, n - i);
    fl_part_few_add_terms(id + i, b->high + i, b->low + i, some, s->g, sums);
  }
}

static int32_t sum_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sums *s = env;
  Block b;
  double room[BLOCK];
  (void)ctx;
  for (int64_t task = begin; task < end; task++) {
    int64_t first, last, from;
    uint64_t width;
    fl_agg_task(&s->cut, s->n, s->g, task, &first, &last, &from, &width);
    __int128 *sums = s->sums + task / s->cut.ranges * s->g;
    memset(sums + from, 0, width * sizeof *sums);
    for (int64_t row = first; row < last; row += BLOCK) {
      int64_t count = fl_part_min(BLOCK, last - row);
      if (s->tried != 0 && atomic_load_explicit(s->n_odd, memory_order_relaxed) != 0) return 0;
      const double *terms = s->x.read(s->x.env, row, count, room);
      const int64_t *id = s->id != NULL ? s->id + row : NULL;
      if (id == NULL) {
        add_single(sums, s, terms, count, &b);
      } else if (s->cut.ranges > 1) {
        add_range(sums, s, terms, id, count, from, width, &b);
      } else {
        split_block(s, terms, count, id, NULL, &b);
        add_block(sums, s, id, count, &b);
      }
    }
  }
  return 0;
}

static __int128 sum_of(const Sums *s, int64_t k) {
  __int128 sum = 0;
  for (int64_t p = 0; p < s->cut.pieces; p++) sum += s->sums[p * s->g + k];
  return sum;
}

static int32_t round_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sums *s = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    __int128 sum = sum_of(s, k);
    s->out[k] = s->count == NULL ? fl_part_exact_round(&s->scale, sum)
                                 : fl_part_exact_mean(&s->scale, sum, s->count[k]);
  }
  return 0;
}

static double round_full(FlSuperacc *sum, const int64_t *count, int64_t k) {
  return count == NULL ? fl_superacc_round(sum) : fl_superacc_mean(sum, count[k]);
}

/* The sums to which terms belong that were set aside once more, with them. */
static FlStatus add_odd(FlPartMem *m, const Sums *s, int64_t n) {
  FlPartPair *spare = fl_part_alloc(m, n, sizeof *spare), *odd;
  if (spare == NULL || fl_part_sort_pairs(m, s->odd, spare, n, fl_part_bits((uint64_t)s->g), &odd) != 0)
    return 1;
  for (int64_t i = 0; i < n;) {
    int64_t k = (int64_t)odd[i].key;
    FlSuperacc all;
    fl_superacc_init(&all);
    __int128 sum = sum_of(s, k);
    double unit = s->scale.unit;
    for (; sum != 0; sum >>= 50, unit *= 0x1p50) { /* ends: what is left of a negative number is -1 */
      __int128 part = sum == -1 ? -1 : sum & ((INT64_C(1) << 50) - 1);
      fl_superacc_add(&all, (double)part * unit);
      if (sum == -1) break;
    }
    for (; i < n && odd[i].key == (uint64_t)k; i++) {
      double x;
      memcpy(&x, &odd[i].row, sizeof x);
      fl_superacc_add(&all, x);
    }
    s->out[k] = round_full(&all, s->count, k);
  }
  fl_part_release(m, spare);
  return 0;
}

/* ---- the full accumulators ------------------------------------------------------------------------- */

typedef struct Full {
  FlPartTerms x;
  const int64_t *id, *count;
  int64_t n;
  FlPartPair *pairs;    /* group and bits of the term, by group */
  const int64_t *start; /* [g + 1] */
  FlSuperacc *partial;  /* one a chunk, when there is one group */
  double *out;
} Full;

static int32_t full_chunk_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Full *f = env;
  double room[BLOCK];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    fl_part_chunk(c, f->n, &from, &to);
    fl_superacc_init(&f->partial[c]);
    for (int64_t row = from; row < to; row += BLOCK) {
      int64_t n = fl_part_min(BLOCK, to - row);
      const double *terms = f->x.read(f->x.env, row, n, room);
      for (int64_t i = 0; i < n; i++) fl_superacc_add(&f->partial[c], terms[i]);
    }
  }
  return 0;
}

static int32_t full_pair_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Full *f = env;
  double room[BLOCK];
  (void)ctx;
  for (int64_t row = begin; row < end; row += BLOCK) {
    int64_t n = fl_part_min(BLOCK, end - row);
    const double *terms = f->x.read(f->x.env, row, n, room);
    for (int64_t i = 0; i < n; i++) {
      f->pairs[row + i].key = (uint64_t)f->id[row + i];
      memcpy(&f->pairs[row + i].row, &terms[i], sizeof(double));
    }
  }
  return 0;
}

static int32_t full_group_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Full *f = env;
  FlSuperacc sum;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    fl_superacc_init(&sum);
    for (int64_t i = f->start[k]; i < f->start[k + 1]; i++) {
      double x;
      memcpy(&x, &f->pairs[i].row, sizeof x);
      fl_superacc_add(&sum, x);
    }
    f->out[k] = round_full(&sum, f->count, k);
  }
  return 0;
}

static FlStatus sum_fully(FlPartMem *m, const Sums *s) {
  const int64_t *id = s->id;
  int64_t n = s->n, g = s->g;
  Full f = {.x = s->x, .id = id, .count = s->count, .n = n, .out = s->out};
  if (id == NULL) {
    int64_t chunks = fl_part_chunks(n);
    FlSuperacc sum;
    f.partial = fl_part_alloc(m, chunks, sizeof *f.partial);
    if (f.partial == NULL || fl_part_for(m->ctx, full_chunk_body, &f, chunks, 6.0 * FL_PART_CHUNK) != 0)
      return 1;
    fl_superacc_init(&sum);
    for (int64_t c = 0; c < chunks; c++) fl_superacc_merge(&sum, &f.partial[c]);
    s->out[0] = round_full(&sum, s->count, 0);
    fl_part_release(m, f.partial);
    return 0;
  }
  FlPartPair *pairs = fl_part_alloc(m, n, sizeof *pairs), *spare = fl_part_alloc(m, n, sizeof *spare);
  int64_t *start = fl_part_zalloc(m, g + 1, sizeof *start);
  if (pairs == NULL || spare == NULL || start == NULL) return 1;
  f.pairs = pairs;
  f.start = start;
  if (fl_part_for(m->ctx, full_pair_body, &f, n, 1.0) != 0) return 1;
  if (fl_part_sort_pairs(m, pairs, spare, n, fl_part_bits((uint64_t)g), &f.pairs) != 0) return 1;
  for (int64_t i = 0; i < n; i++) start[f.pairs[i].key + 1]++;
  for (int64_t k = 0; k < g; k++) start[k + 1] += start[k];
  FlStatus status =
      fl_part_for(m->ctx, full_group_body, &f, g, 50.0 + 6.0 * (double)n / (double)fl_part_max(g, 1));
  fl_part_release(m, pairs);
  fl_part_release(m, spare);
  fl_part_release(m, start);
  return status;
}

/* The integers of all groups. */
static FlStatus sum_pieces(FlPartMem *m, Sums *s) {
  s->cut = fl_agg_cut(m->ctx, s->n, s->g);
  s->sums = fl_part_alloc(m, s->cut.pieces * s->g, sizeof *s->sums);
  return s->sums == NULL ||
         fl_part_for(m->ctx, sum_body, s, s->cut.pieces * s->cut.ranges, 3.0 * (double)s->cut.piece) != 0;
}

static FlStatus round_all(FlPartMem *m, const Sums *s) {
  return fl_part_for(m->ctx, round_body, s, s->g, 4.0 + (double)s->cut.pieces);
}

/* The greatest magnitude that a few terms, here and there, let expect; 0: they say nothing. */
static uint64_t expected(const Sums *s) {
  enum { PLACES = 16, SOME = 8, ROOM = 16 /* others may be so many powers of two greater */ };
  const uint64_t room = (uint64_t)ROOM << 52;
  double terms[SOME];
  uint64_t most = 0;
  for (int64_t k = 0; k < PLACES; k++) {
    int64_t row = fl_part_sampled((s->n - SOME) / PLACES * k, (s->n - SOME) / PLACES * (k + 1), k);
    uint64_t here = fl_part_greatest(s->x.read(s->x.env, row, SOME, terms), SOME);
    most = here > most ? here : most;
  }
  return most == 0 || most >= (UINT64_C(0x7ff) << 52) - room ? 0 : most + room;
}

/* One sum against what is expected; *done is false where some term does not fit that. */
static FlStatus try_single(FlPartMem *m, const Sums *all, bool *done) {
  _Atomic int64_t n_odd = 0;
  Sums s = *all;
  s.n_odd = &n_odd;
  s.tried = expected(&s);
  if (s.tried == 0) return 0;
  s.scale = fl_part_exact_scale_of(s.tried, s.n);
  if (sum_pieces(m, &s) != 0) return 1;
  *done = atomic_load(&n_odd) == 0;
  FlStatus status = *done ? round_all(m, &s) : 0;
  fl_part_release(m, s.sums);
  return status;
}

FlStatus fl_part_exact_sums(FlPartMem *m, FlPartTerms x, const int64_t *id, int64_t n, int64_t g,
                            const int64_t *count, double *out) {
  enum { FEW = 256, AT_LEAST = 4096 }; /* one row in so many may be set aside, and some more */
  enum { NEAR = 1 << 12 };             /* terms that a cache holds, so that they may be read twice */
  _Atomic int64_t n_odd = 0;
  Sums s = {.x = x, .id = g == 1 ? NULL : id, .n = n, .g = g, .count = count, .out = out, .n_odd = &n_odd};
  bool done = false;
  if (g == 0) return 0;
  if (s.id == NULL && n > NEAR && try_single(m, &s, &done) != 0) return 1;
  if (done) return 0;
  if (fl_part_exact_scale(m, x, n, &s.scale) != 0) return 1;
  if (!s.scale.fits) return sum_fully(m, &s);
  if (fl_part_exact_runs(m, x, s.id, n, g, count, &s.scale, out, &done) != 0) return 1;
  if (done) return 0;
  bool huge = s.scale.unit > 0x1p800; /* pieces of the integer could be infinite */
  s.room = n / FEW + AT_LEAST;
  s.odd = fl_part_alloc(m, s.room, sizeof *s.odd);
  if (s.odd == NULL || sum_pieces(m, &s) != 0) return 1;
  int64_t odd = atomic_load(&n_odd);
  bool full = odd > s.room || (odd > 0 && huge);
  FlStatus status = full ? sum_fully(m, &s) : round_all(m, &s);
  if (status == 0 && odd > 0 && !full) status = add_odd(m, &s, odd);
  fl_part_release(m, s.sums);
  fl_part_release(m, s.odd);
  return status;
}
