/* rolling_var.c: variances and standard deviations of windows.
 *
 * Comes in: windows, a column of numbers, ddof. Goes out: f64. Always holds: of the n values of a window
 * n * sum(x^2) - sum(x)^2 is exact; its quotient by n * (n - ddof), or the root of that, is rounded once, as
 * `var` and `std` of its rows; what has left a window leaves nothing behind.
 *
 * In windows of up to 4095 rows values are two integers (window_split.c), whose squares and product are added
 * in 128 bits each. Else values are integers against the greatest exponent of the block's values
 * (window_internal.h), their squares are added in 256 bits. In a block some of whose values have bits below
 * that, each window is computed anew in as many bits as doubles can need. */
#include "part/rolling_internal.h"

typedef struct Var {
  FlRolling r;         /* first: blocks get it */
  const double *x;     /* NULL: */
  const int64_t *ints; /* integers of 64 bits */
  int64_t ddof;
  bool root;
} Var;

/* Where results go, at hand for a loop. */
typedef struct Out {
  double *restrict value;
  uint8_t *restrict valid;
  const int64_t *rows;
  int64_t least, ddof;
  bool root;
} Out;

static Out out_of(const Var *v) {
  return (Out){v->r.value->data, v->r.valid->data, v->r.rows, v->r.least, v->ddof, v->root};
}

/* `d`: of n values n sum(x^2) - sum(x)^2. */
static inline void store(Out o, int64_t p, const FlSpecials *specials, FlWhole d, int64_t values) {
  int64_t row = o.rows != NULL ? o.rows[p] : p;
  bool there = values >= o.least && values > o.ddof;
  double out = 0.0;
  if (there && fl_specials_any(specials)) {
    out = NAN;
  } else if (there) {
    unsigned __int128 by = (unsigned __int128)values * (uint64_t)(values - o.ddof);
    uint64_t word[2] = {(uint64_t)by, (uint64_t)(by >> 64)};
    FlWhole n = {word, 2, 0};
    out = o.root ? fl_exact_root(d, n) : fl_exact_ratio(d, n);
  }
  o.valid[row] = there;
  o.value[row] = out;
}

/* ---- 256 bits ----------------------------------------------------------------------------------------- */

typedef struct Wide {
  uint64_t word[4]; /* the lowest first */
} Wide;

static inline Wide square(__int128 t) {
  unsigned __int128 u = t < 0 ? -(unsigned __int128)t : (unsigned __int128)t;
  uint64_t low = (uint64_t)u, high = (uint64_t)(u >> 64);
  unsigned __int128 ll = (unsigned __int128)low * low, hl = (unsigned __int128)low * high << 1,
                    hh = (unsigned __int128)high * high;
  unsigned __int128 c = (ll >> 64) + (uint64_t)hl;
  Wide out = {{(uint64_t)ll, (uint64_t)c, 0, 0}};
  c = (c >> 64) + (hl >> 64) + (uint64_t)hh;
  out.word[2] = (uint64_t)c;
  out.word[3] = (uint64_t)(c >> 64) + (uint64_t)(hh >> 64);
  return out;
}

static inline void wide_add(Wide *a, const Wide *b) {
  unsigned __int128 c = 0;
  for (int k = 0; k < 4; k++) {
    c += (unsigned __int128)a->word[k] + b->word[k];
    a->word[k] = (uint64_t)c;
    c >>= 64;
  }
}

static inline void wide_take(Wide *a, const Wide *b) {
  uint64_t borrow = 0;
  for (int k = 0; k < 4; k++) {
    unsigned __int128 d = (unsigned __int128)a->word[k] - b->word[k] - borrow;
    a->word[k] = (uint64_t)d;
    borrow = (uint64_t)(d >> 64) & 1;
  }
}

static inline Wide wide_times(const Wide *a, uint64_t n) {
  Wide out;
  unsigned __int128 c = 0;
  for (int k = 0; k < 4; k++) {
    c += (unsigned __int128)a->word[k] * n;
    out.word[k] = (uint64_t)c;
    c >>= 64;
  }
  return out;
}

static inline FlWhole wide_whole(const Wide *a, int unit) { return (FlWhole){a->word, 4, 2 * unit}; }

/* ---- as many bits as doubles can need ------------------------------------------------------------------ */

enum { DIGITS = 72, DIGITS2 = 2 * DIGITS + 4 }; /* of 32 bits; the lowest bit is 2^-1074 */

static void digits_add(uint64_t *digit, uint64_t v, int bit) {
  unsigned __int128 wide = (unsigned __int128)v << (bit & 31);
  digit += bit >> 5;
  digit[0] += (uint64_t)wide & 0xffffffff;
  digit[1] += (uint64_t)(wide >> 32) & 0xffffffff;
  digit[2] += (uint64_t)(wide >> 64);
}

static void digits_carry(uint64_t *digit, int n) {
  uint64_t c = 0;
  for (int k = 0; k < n; k++) {
    c += digit[k];
    digit[k] = c & 0xffffffff;
    c >>= 32;
  }
}

static bool digits_less(const uint64_t *a, const uint64_t *b, int n) {
  for (int k = n - 1; k >= 0; k--)
    if (a[k] != b[k]) return a[k] < b[k];
  return false;
}

static void digits_take(uint64_t *a, const uint64_t *b, int n) { /* a >= b */
  uint64_t borrow = 0;
  for (int k = 0; k < n; k++) {
    uint64_t d = a[k] - b[k] - borrow;
    borrow = d >> 63;
    a[k] = d & 0xffffffff;
  }
}

static void digits_square(const uint64_t *a, uint64_t *out) {
  unsigned __int128 c = 0;
  for (int k = 0; k < DIGITS2; k++) {
    int from = k < DIGITS ? 0 : k - DIGITS + 1;
    for (int i = from; i <= k && i < DIGITS; i++) c += (unsigned __int128)a[i] * a[k - i];
    out[k] = (uint64_t)c & 0xffffffff;
    c >>= 32;
  }
}

/* Into word[DIGITS2 / 2], in units of 2^-2148. */
static void spread_fully(const Var *v, int64_t lo, int64_t hi, int64_t values, uint64_t *word) {
  uint64_t plus[DIGITS] = {0}, minus[DIGITS] = {0}, squares[DIGITS2] = {0}, of_sum[DIGITS2];
  for (int64_t p = lo; p < hi; p++) {
    uint64_t bits;
    memcpy(&bits, &v->x[p], sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0x7ff) continue;
    if (exponent > 0) mantissa |= UINT64_C(1) << 52;
    int bit = exponent > 0 ? exponent - 1 : 0;
    digits_add(bits >> 63 ? minus : plus, mantissa, bit);
    unsigned __int128 square_of = (unsigned __int128)mantissa * mantissa;
    digits_add(squares, (uint64_t)square_of, 2 * bit);
    digits_add(squares, (uint64_t)(square_of >> 64), 2 * bit + 64);
  }
  digits_carry(plus, DIGITS);
  digits_carry(minus, DIGITS);
  digits_carry(squares, DIGITS2);
  bool negative = digits_less(plus, minus, DIGITS);
  digits_take(negative ? minus : plus, negative ? plus : minus, DIGITS);
  digits_square(negative ? minus : plus, of_sum);
  unsigned __int128 c = 0;
  for (int k = 0; k < DIGITS2; k++) {
    c += (unsigned __int128)squares[k] * (uint64_t)values;
    squares[k] = (uint64_t)c & 0xffffffff;
    c >>= 32;
  }
  digits_take(squares, of_sum, DIGITS2);
  for (int k = 0; k < DIGITS2 / 2; k++) word[k] = squares[2 * k] | squares[2 * k + 1] << 32;
}

static int32_t block_fully(const Var *v, int64_t from, int64_t to) {
  const FlRolling *r = &v->r;
  Out o = out_of(v);
  FlWindow w = fl_window_open(r, from);
  for (int64_t p = from; p < to; p++) {
    int64_t values = 0;
    FlSpecials specials = {0};
    (void)fl_window_move(r, &w, p);
    for (int64_t q = w.lo; q < w.hi; q++) {
      values += fl_part_valid(r->x.valid, q);
      if (!isfinite(v->x[q])) fl_specials_add(&specials, v->x[q], 1);
    }
    bool wanted = values >= r->least && values > v->ddof && !fl_specials_any(&specials);
    uint64_t word[DIGITS2 / 2];
    if (wanted) spread_fully(v, w.lo, w.hi, values, word);
    store(o, p, &specials, (FlWhole){word, DIGITS2 / 2, -2148}, values);
  }
  return 0;
}

/* ---- windows ------------------------------------------------------------------------------------------ */

/* Sums over a window of the two integers h and l of its values. */
typedef struct Moments {
  int64_t h, l, values;
  __int128 hh, hl, ll;
} Moments;

static inline void moments_add(Moments *m, int64_t h, int64_t l) {
  m->h += h;
  m->l += l;
  m->hh += (__int128)h * h;
  m->hl += (__int128)h * l;
  m->ll += (__int128)l * l;
}

static inline void moments_take(Moments *m, int64_t h, int64_t l) {
  m->h -= h;
  m->l -= l;
  m->hh -= (__int128)h * h;
  m->hl -= (__int128)h * l;
  m->ll -= (__int128)l * l;
}

/* v * 2^(64 * word + bit), bit > 0. */
static inline Wide wide_shifted(__int128 v, int word, int bit) {
  uint64_t low = (uint64_t)v, high = (uint64_t)((unsigned __int128)v >> 64), sign = v < 0 ? UINT64_MAX : 0;
  Wide out = {{0, 0, 0, sign}};
  out.word[word] = low << bit;
  out.word[word + 1] = high << bit | low >> (64 - bit);
  out.word[word + 2] = sign << bit | high >> (64 - bit);
  return out;
}

/* n times the sum of squares less the square of the sum, each value being h * 2^51 + l. */
static inline Wide moments_spread(const Moments *m) {
  __int128 n = m->values, low = n * m->ll - (__int128)m->l * m->l;
  Wide sum = wide_shifted(n * m->hh - (__int128)m->h * m->h, 1, 38);
  Wide middle = wide_shifted(n * m->hl - (__int128)m->h * m->l, 0, 52);
  uint64_t sign = low < 0 ? UINT64_MAX : 0;
  Wide least = {{(uint64_t)low, (uint64_t)((unsigned __int128)low >> 64), sign, sign}};
  wide_add(&sum, &middle);
  wide_add(&sum, &least);
  return sum;
}

/* The block with values as two integers. false: that does not go. */
static bool split_block(const Var *v, int64_t from, int64_t to, int64_t low, int64_t high) {
  enum { MOST_BITS = 12 };
  const FlRolling *r = &v->r;
  int64_t n = high - low;
  int count_bits = fl_part_bits((uint64_t)fl_part_min(n, r->width));
  FlSplit split;
  if (r->by != NULL || count_bits > MOST_BITS ||
      !fl_split_open(&split, fl_split_exponent(v->x + low, n), count_bits))
    return false;
  int64_t *h = fl_counted_new(fl_part_pool(r->m), (size_t)n * 2 * sizeof *h + 1), *l = h + n;
  bool fits = h != NULL && fl_part_split(v->x + low, n, split.scale, h, l) == 0;
  const uint8_t *ok = r->x.valid;
  const FlSpecials none = {0};
  Out o = out_of(v);
  FlWindow w = fl_window_open(r, from);
  int64_t lo = w.lo, hi = w.lo;
  Moments m = {0};
  for (int64_t p = from; fits && p < to; p++) {
    if (fl_window_move(r, &w, p)) {
      m = (Moments){0};
      lo = hi = w.lo;
    }
    for (; hi < w.hi; hi++) {
      moments_add(&m, h[hi - low], l[hi - low]);
      m.values += fl_part_valid(ok, hi);
    }
    for (; lo < w.lo; lo++) {
      moments_take(&m, h[lo - low], l[lo - low]);
      m.values -= fl_part_valid(ok, lo);
    }
    Wide spread = moments_spread(&m);
    store(o, p, &none, wide_whole(&spread, split.unit), m.values);
  }
  fl_counted_free(h);
  return fits;
}

static inline FlFixed value_at(const Var *v, int64_t p, int base) {
  if (v->ints == NULL) return fl_fixed_of(v->x[p], base);
  return (FlFixed){.v = v->r.x.dtype == FL_U64 ? (__int128)(uint64_t)v->ints[p] : (__int128)v->ints[p]};
}

static int32_t var_block(FlRolling *rolling, int64_t from, int64_t to) {
  const Var *v = (const Var *)rolling;
  const FlRolling *r = &v->r;
  int64_t low, high, values = 0;
  int base = 0, unit = 0;
  fl_rolling_reach(r, from, to, &low, &high);
  if (v->x != NULL) {
    if (split_block(v, from, to, low, high)) return 0;
    base = fl_rolling_base(v->x + low, high - low);
    unit = base - 1075;
  }
  __int128 sum = 0;
  Wide squares = {{0}};
  FlSpecials specials = {0};
  Out o = out_of(v);
  const uint8_t *ok = r->x.valid;
  FlWindow w = fl_window_open(r, from);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to; p++) {
    if (fl_window_move(r, &w, p)) {
      sum = 0;
      squares = (Wide){{0}};
      specials = (FlSpecials){0};
      values = 0;
      lo = hi = w.lo;
    }
    for (; hi < w.hi; hi++) {
      FlFixed term = value_at(v, hi, base);
      if (term.dropped) return block_fully(v, from, to);
      if (term.special) fl_specials_add(&specials, v->x[hi], 1);
      Wide more = square(term.v);
      sum += term.v;
      wide_add(&squares, &more);
      values += fl_part_valid(ok, hi);
    }
    for (; lo < w.lo; lo++) {
      FlFixed term = value_at(v, lo, base);
      if (term.special) fl_specials_add(&specials, v->x[lo], -1);
      Wide less = square(term.v);
      sum -= term.v;
      wide_take(&squares, &less);
      values -= fl_part_valid(ok, lo);
    }
    Wide spread = wide_times(&squares, (uint64_t)values), of_sum = square(sum);
    wide_take(&spread, &of_sum);
    store(o, p, &specials, wide_whole(&spread, unit), values);
  }
  return 0;
}

static FlStatus spread(FlRolling *r, bool root) {
  if (fl_rolling_results(r) != 0) return 1;
  Var v = {.r = *r, .ddof = (int64_t)r->desc->f, .root = root};
  bool wide = !fl_dtype_is_float(r->x.dtype) && fl_dtype_info[r->x.dtype].bytes == 8;
  if (wide) v.ints = fl_rolling_ints(r);
  else v.x = fl_rolling_doubles(r);
  return v.x == NULL && v.ints == NULL ? 1 : fl_rolling_blocks(&v.r, var_block, 30.0);
}

FlStatus fl_rolling_var(FlRolling *r) { return spread(r, false); }
FlStatus fl_rolling_std(FlRolling *r) { return spread(r, true); }
