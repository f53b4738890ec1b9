/* exact_ratio.c: see exact_ratio.h for what comes in and goes out.
 *
 * A number stands for all of [mantissa, mantissa + 1) * 2^exponent, of 64 bits, the highest one set.
 * Quotients and roots of these are off by a few units of 2^-63; a double has 53 bits, so that one value in
 * some hundred lies too near to a middle, and is compared with it exactly. */
#include <math.h>
#include <string.h>

#include "part/exact_ratio.h"

typedef unsigned __int128 Two;

enum { LONG = 3 * FL_WHOLE_PRODUCT }; /* words of what is compared: a square, or three factors */

typedef struct Top {
  uint64_t mantissa; /* 0: the number is zero */
  int exponent;
  bool exact; /* nothing is below the mantissa */
} Top;

static Top top_of(FlWhole a) {
  int k = a.n - 1;
  while (k >= 0 && a.word[k] == 0) k--;
  if (k < 0) return (Top){0, 0, true};
  uint64_t head = a.word[k], next = k > 0 ? a.word[k - 1] : 0;
  int lead = __builtin_clzll(head);
  if (lead > 0) {
    head = head << lead | next >> (64 - lead);
    next <<= lead;
  }
  bool below = next != 0;
  for (int j = 0; j < k - 1 && !below; j++) below = a.word[j] != 0;
  return (Top){head, a.exponent + 64 * k - lead, !below};
}

/* ---- whole numbers ---------------------------------------------------------------------------------- */

typedef struct Long {
  uint64_t word[LONG];
  int n, exponent;
} Long;

static int trim(const uint64_t *word, int n) {
  while (n > 0 && word[n - 1] == 0) n--;
  return n;
}

/* out[0..n + m) = a * b */
static void multiply(uint64_t *out, const uint64_t *a, int n, const uint64_t *b, int m) {
  memset(out, 0, (size_t)(n + m) * sizeof *out);
  for (int i = 0; i < n; i++) {
    uint64_t carry = 0;
    for (int j = 0; j < m; j++) {
      Two t = (Two)a[i] * b[j] + out[i + j] + carry;
      out[i + j] = (uint64_t)t;
      carry = (uint64_t)(t >> 64);
    }
    out[i + m] = carry;
  }
}

static void times(Long *a, FlWhole b) {
  uint64_t word[LONG];
  int n = trim(b.word, b.n);
  multiply(word, a->word, a->n, b.word, n);
  a->n = trim(word, a->n + n);
  a->exponent += b.exponent;
  memcpy(a->word, word, (size_t)a->n * sizeof *word);
}

static Long long_of(FlWhole a) {
  Long out = {.n = trim(a.word, a.n), .exponent = a.exponent};
  memcpy(out.word, a.word, (size_t)out.n * sizeof *out.word);
  return out;
}

static int bits_of(const Long *a) { return a->n == 0 ? 0 : 64 * a->n - __builtin_clzll(a->word[a->n - 1]); }

static void shift_left(Long *a, int by) {
  int words = by / 64, bits = by % 64;
  for (int k = a->n; k >= 0; k--) {
    uint64_t high = k < a->n ? a->word[k] : 0, low = k > 0 ? a->word[k - 1] : 0;
    a->word[k + words] = bits > 0 ? high << bits | low >> (64 - bits) : high;
  }
  memset(a->word, 0, (size_t)words * sizeof *a->word);
  a->n = trim(a->word, a->n + words + 1);
  a->exponent -= by;
}

/* The sign of a - b. */
static int compare(Long *a, Long *b) {
  int of_a = bits_of(a) + a->exponent, of_b = bits_of(b) + b->exponent;
  if (a->n == 0 || b->n == 0) return (a->n > 0) - (b->n > 0);
  if (of_a != of_b) return of_a > of_b ? 1 : -1;
  if (a->exponent > b->exponent) shift_left(a, a->exponent - b->exponent);
  if (b->exponent > a->exponent) shift_left(b, b->exponent - a->exponent);
  for (int k = a->n - 1; k >= 0; k--)
    if (a->word[k] != b->word[k]) return a->word[k] > b->word[k] ? 1 : -1;
  return 0;
}

/* a / b, which has 64 bits: a < b * 2^64. */
static inline uint64_t divide_two(Two a, uint64_t b) {
#if defined(__x86_64__) && defined(__GNUC__)
  uint64_t q, rest;
  __asm__("divq %4" : "=a"(q), "=d"(rest) : "a"((uint64_t)a), "d"((uint64_t)(a >> 64)), "r"(b) : "cc");
  return q;
#else
  return (uint64_t)(a / b);
#endif
}

/* ---- rounding --------------------------------------------------------------------------------------- */

typedef struct Value {
  FlWhole a, b, c; /* a / b; sqrt(a / b); a / sqrt(b * c) */
  enum { RATIO, ROOT, COSINE } kind;
} Value;

/* The sign of the value less m * 2^exponent. */
static int beside(const Value *v, uint64_t m, int exponent) {
  FlWhole middle = {&m, 1, exponent};
  Long left = long_of(v->a), right = long_of(middle);
  if (v->kind != RATIO) times(&right, middle);
  if (v->kind == COSINE) times(&left, v->a);
  times(&right, v->b);
  if (v->kind == COSINE) times(&right, v->c);
  return compare(&left, &right);
}

static double scaled(uint64_t v, int exponent) {
  if (exponent < -1022 || exponent > 1023) return ldexp((double)v, exponent);
  uint64_t bits = (uint64_t)(1023 + exponent) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return (double)v * power;
}

/* q * 2^exponent, q off by at most `off` units, as a double; off 0: q's lowest bit says whether anything is
 * below. */
static double settle(const Value *v, uint64_t q, int exponent, uint64_t off) {
  int length = 64 - __builtin_clzll(q), drop = length - 53;
  if (drop == 11 && exponent > -1000 && exponent < 900) { /* as below, in 64 bits */
    const uint64_t half = 1 << 10;
    uint64_t rest = q & (2 * half - 1), kept = q >> 11;
    if (rest > half + off || rest + off < half) return scaled(kept + (rest > half), exponent + drop);
  }
  if (exponent + drop < -1074) drop = -1074 - exponent; /* subnormal numbers have fewer bits */
  if (drop <= 0) return scaled(q, exponent);            /* few bits, exact */
  if (drop > 65) return 0.0;
  Two half = (Two)1 << (drop - 1), rest = (Two)q & (2 * half - 1);
  uint64_t kept = drop < 64 ? q >> drop : 0;
  Two apart = rest > half ? rest - half : half - rest;
  int side = rest > half ? 1 : -1;
  if (apart <= off) side = off > 0 ? beside(v, 2 * kept + 1, exponent + drop - 1) : 0;
  return scaled(kept + (side > 0 || (side == 0 && (kept & 1))), exponent + drop);
}

static uint64_t root_of(Two v) { /* v >= 2^126 */
  double about = sqrt((double)v);
  uint64_t s = about >= 0x1p64 ? UINT64_MAX : (uint64_t)about;
  Two better = ((Two)s + ((uint64_t)(v >> 64) < s ? divide_two(v, s) : v / s)) >> 1;
  s = better >> 64 ? UINT64_MAX : (uint64_t)better;
  while ((Two)s * s > v) s--;
  while (s < UINT64_MAX && (Two)(s + 1) * (s + 1) <= v) s++;
  return s;
}

typedef struct Quotient {
  uint64_t q; /* 64 bits */
  int exponent;
  bool exact; /* then the lowest bit also says whether there is a remainder */
  bool whole; /* no remainder */
} Quotient;

static Quotient divide(Top a, Top b) {
  int shift = a.mantissa >= b.mantissa ? 63 : 64;
  Two head = (Two)a.mantissa << shift;
  uint64_t q = divide_two(head, b.mantissa);
  bool exact = a.exact && b.exact, whole = exact && (Two)q * b.mantissa == head;
  return (Quotient){q | (exact && !whole), a.exponent - b.exponent - shift, exact, whole};
}

double fl_exact_ratio(FlWhole a, FlWhole b) {
  Top top = top_of(a);
  if (top.mantissa == 0) return 0.0;
  Quotient q = divide(top, top_of(b));
  Value v = {.a = a, .b = b, .kind = RATIO};
  return settle(&v, q.q, q.exponent, q.exact ? 0 : 4);
}

/* The root of a / b by doubles: s, of 53 bits, and what is missing, (a / b - s^2) / 2s, the difference in
 * whole numbers. false: the error, 2^-10 units of s for the bits below both mantissas, leaves open which
 * double it is. */
static bool root_near(Top a, Top b, double *out) {
  enum { BITS = 52 }; /* of s, in (0.7, 2), below the point */
  const double off = 0x1p-9;
  int exponent = a.exponent - b.exponent, odd = exponent & 1;
  if (exponent < -1800 || exponent > 1800) return false;
  double below = (double)(int64_t)(b.mantissa >> 1), ratio = (double)(int64_t)(a.mantissa >> 1) / below;
  uint64_t s = (uint64_t)(sqrt(odd ? 2.0 * ratio : ratio) * 0x1p52);
  Two square = (Two)s * s;
  uint64_t more = (a.mantissa << (2 * BITS + odd - 64)) - (uint64_t)(square >> 64) * b.mantissa;
  int64_t rest = (int64_t)(more - (uint64_t)((Two)(uint64_t)square * b.mantissa >> 64));
  double is = (double)(int64_t)s, missing = (double)rest * (0x1p62 / (is * below));
  *out = is + (missing - off);
  if (*out != is + (missing + off)) return false;
  uint64_t power = (uint64_t)(1023 - BITS + (exponent - odd) / 2) << 52;
  double unit;
  memcpy(&unit, &power, sizeof unit);
  *out *= unit;
  return true;
}

double fl_exact_root(FlWhole a, FlWhole b) {
  Top top = top_of(a), below = top_of(b);
  double near;
  if (top.mantissa == 0) return 0.0;
  if (root_near(top, below, &near)) return near;
  Quotient q = divide(top, below);
  int shift = q.exponent & 1 ? 63 : 64;
  Two v = (Two)q.q << shift;
  uint64_t s = root_of(v);
  Value value = {.a = a, .b = b, .kind = ROOT};
  bool exact = q.whole;
  if (exact && (Two)s * s != v) s |= 1;
  return settle(&value, s, (q.exponent - shift) / 2, exact ? 0 : 8);
}

double fl_exact_cosine(FlWhole xy, FlWhole xx, FlWhole yy) {
  Top a = top_of(xy), x = top_of(xx), y = top_of(yy);
  if (a.mantissa == 0) return 0.0;
  int exponent = x.exponent + y.exponent, odd = exponent & 1;
  Two product = (Two)x.mantissa * y.mantissa;
  if (odd && product >> 127) {
    product >>= 1;
    exponent += 1;
  } else if (odd) {
    product <<= 1;
    exponent -= 1;
  }
  Top root = {root_of(product), exponent / 2, false};
  while (!(root.mantissa >> 63)) {
    root.mantissa <<= 1;
    root.exponent--;
  }
  Quotient q = divide(a, root);
  Value v = {.a = xy, .b = xx, .c = yy, .kind = COSINE};
  return settle(&v, q.q, q.exponent, 16);
}

double fl_exact_mean(__int128 sum, int exponent, int64_t count, int digits) {
  Two size = sum < 0 ? -(Two)sum : (Two)sum, by = (Two)count;
  for (int k = 0; k < digits; k++) by *= 10;
  uint64_t word[2] = {(uint64_t)size, (uint64_t)(size >> 64)}, n[2] = {(uint64_t)by, (uint64_t)(by >> 64)};
  double v = fl_exact_ratio((FlWhole){word, 2, exponent}, (FlWhole){n, n[1] ? 2 : 1, 0});
  return sum < 0 ? -v : v;
}

/* ---- numbers with a sign ---------------------------------------------------------------------------- */

void fl_big_set(FlBig *b, __int128 v, int exponent) {
  Two size = v < 0 ? -(Two)v : (Two)v;
  b->word[0] = (uint64_t)size;
  b->word[1] = (uint64_t)(size >> 64);
  b->n = 2;
  b->exponent = exponent;
  b->negative = v < 0;
}

void fl_big_set_words(FlBig *b, const uint64_t *word, int n, int exponent) {
  bool negative = word[n - 1] >> 63;
  uint64_t carry = negative, flip = negative ? UINT64_MAX : 0;
  for (int k = 0; k < n; k++) {
    uint64_t w = word[k] ^ flip;
    b->word[k] = w + carry;
    carry = b->word[k] < w;
  }
  b->n = n;
  b->exponent = exponent;
  b->negative = negative;
}

bool fl_big_is_zero(const FlBig *b) { return trim(b->word, b->n) == 0; }

static bool less(const uint64_t *a, const uint64_t *b, int n) {
  for (int k = n - 1; k >= 0; k--)
    if (a[k] != b[k]) return a[k] < b[k];
  return false;
}

/* out = a + b, or a - b where a >= b; all of n words. */
static void combine(uint64_t *out, const uint64_t *a, const uint64_t *b, int n, bool minus) {
  uint64_t carry = 0;
  for (int k = 0; k < n; k++) {
    Two t = minus ? (Two)a[k] - b[k] - carry : (Two)a[k] + b[k] + carry;
    out[k] = (uint64_t)t;
    carry = (uint64_t)(t >> 64) & 1;
  }
}

void fl_big_moment(FlBig *out, uint64_t n, const FlBig *xy, const FlBig *x, const FlBig *y) {
  uint64_t sum[FL_WHOLE_PRODUCT], product[FL_WHOLE_PRODUCT];
  int of_xy = trim(xy->word, xy->n), of_x = trim(x->word, x->n), of_y = trim(y->word, y->n);
  int length = (of_xy > of_x + of_y ? of_xy : of_x + of_y - 1) + 2;
  if (length > FL_WHOLE_PRODUCT) length = FL_WHOLE_PRODUCT;
  memset(sum, 0, (size_t)length * sizeof *sum);
  memset(product, 0, (size_t)length * sizeof *product);
  multiply(sum, xy->word, of_xy, &n, 1);
  multiply(product, x->word, of_x, y->word, of_y);
  bool negative = x->negative != y->negative; /* of the product, which is taken away */
  out->n = length;
  out->exponent = xy->exponent;
  out->negative = xy->negative;
  if (xy->negative != negative) {
    combine(out->word, sum, product, length, false);
    if (of_xy == 0) out->negative = !negative;
  } else if (less(sum, product, length)) {
    combine(out->word, product, sum, length, true);
    out->negative = !negative;
  } else {
    combine(out->word, sum, product, length, true);
  }
  if (fl_big_is_zero(out)) out->negative = false;
}

void fl_big_refine(FlBig *b, int exponent) {
  int by = b->exponent - exponent, words = by / 64, bits = by % 64, n = trim(b->word, b->n);
  uint64_t word[FL_WHOLE_PRODUCT] = {0};
  for (int k = 0; k <= n && k + words < FL_WHOLE_PRODUCT; k++) {
    uint64_t high = k < n ? b->word[k] : 0, low = k > 0 ? b->word[k - 1] : 0;
    word[k + words] = bits > 0 ? high << bits | low >> (64 - bits) : high;
  }
  b->n = FL_WHOLE_PRODUCT;
  b->exponent = exponent;
  memcpy(b->word, word, sizeof word);
}

bool fl_big_around(const FlBig *b, double by, FlBig *least, FlBig *most) {
  int exponent, n = trim(b->word, b->n);
  uint64_t mantissa = (uint64_t)ldexp(frexp(by, &exponent), 53);
  FlBig size = {{mantissa}, 1, exponent - 53, false}, from = *b;
  if (by > 0.0 && size.exponent < b->exponent) { /* rounded up to a unit */
    int drop = b->exponent - size.exponent;
    size.word[0] = drop < 64 ? (mantissa >> drop) + 1 : 1;
    size.exponent = b->exponent;
  }
  fl_big_refine(&size, by > 0.0 ? b->exponent : size.exponent);
  memset(from.word + n, 0, sizeof from.word - (size_t)n * sizeof *from.word);
  from.n = FL_WHOLE_PRODUCT;
  *least = *most = from;
  if (n == 0 || !less(size.word, from.word, FL_WHOLE_PRODUCT)) return false;
  combine(least->word, from.word, size.word, FL_WHOLE_PRODUCT, true);
  combine(most->word, from.word, size.word, FL_WHOLE_PRODUCT, false);
  return true;
}
