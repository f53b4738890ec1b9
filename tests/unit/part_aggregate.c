/* part_aggregate.c: every aggregate against plain loops over the rows of each group, sums against an integer
 * of 2304 bits; nulls hide values that would be noticed. */
#include <float.h>

#include "part_kit.h"

/* ---- exact sums --------------------------------------------------------------------------------------- */

enum { WORDS = 36 };
typedef struct Big { /* two's complement, lowest bit 2^-1074 */
  uint64_t word[WORDS];
  bool nan, plus, minus;
} Big;

static void big_add(Big *b, double x) {
  if (!isfinite(x)) {
    b->nan |= isnan(x);
    b->plus |= x > 0;
    b->minus |= x < 0;
    return;
  }
  int exponent;
  double fraction = frexp(fabs(x), &exponent);
  if (exponent < -1021) { /* below the normal numbers: multiples of 2^-1074 */
    fraction = ldexp(fraction, exponent + 1021);
    exponent = -1021;
  }
  unsigned __int128 bits = (unsigned __int128)ldexp(fraction, 53);
  int at = exponent - 53 + 1074;
  bits <<= at % 64;
  uint64_t add[WORDS] = {0};
  add[at / 64] = (uint64_t)bits;
  add[at / 64 + 1] = (uint64_t)(bits >> 64);
  unsigned __int128 carry = x < 0;
  for (int w = 0; w < WORDS; w++) {
    carry += (unsigned __int128)b->word[w] + (x < 0 ? ~add[w] : add[w]);
    b->word[w] = (uint64_t)carry;
    carry >>= 64;
  }
}

static double big_round(Big b) {
  if (b.nan || (b.plus && b.minus)) return NAN;
  if (b.plus || b.minus) return b.plus ? INFINITY : -INFINITY;
  bool negative = b.word[WORDS - 1] >> 63;
  unsigned __int128 carry = 1;
  for (int w = 0; negative && w < WORDS; w++) {
    carry += ~b.word[w];
    b.word[w] = (uint64_t)carry;
    carry >>= 64;
  }
#define BIT(k) (b.word[(k) / 64] >> ((k) % 64) & 1)
  int top = 64 * WORDS - 1;
  while (top >= 0 && !BIT(top)) top--;
  if (top < 0) return 0.0;
  int low = top > 52 ? top - 52 : 0;
  uint64_t kept = 0;
  for (int k = top; k >= low; k--) kept = kept << 1 | BIT(k);
  if (low > 0 && BIT(low - 1)) {
    bool more = kept & 1;
    for (int k = 0; k < low - 1; k++) more |= BIT(k);
    kept += more;
  }
  double v = ldexp((double)kept, low - 1074);
  return negative ? -v : v;
}

/* ---- columns ------------------------------------------------------------------------------------------ */

enum {
  QUARTERS,
  ODD,
  PLAIN,
  WIDE,
  CANCEL,
  LARGE,
  TINY,
  F32S,
  I64S,
  I32S,
  U8S,
  U64S,
  BITS,
  DATES,
  SPANS,
  LABELS,
  N_
};

static double make_float(Kit *k, int kind, double before) {
  uint64_t r = draw(k);
  double unit = (double)(int64_t)r * 0x1p-63;
  switch (kind) {
  case QUARTERS: return (double)((int64_t)(r >> 32) % 50) * 0.25 - 5.0;
  case ODD: return odd_float(k);
  case PLAIN:
  case F32S: return unit * 1e6;
  case WIDE: return ldexp(unit, (int)(draw(k) % 1900) - 950);
  case CANCEL: return draw(k) % 2 ? -before : ldexp(unit, (int)(draw(k) % 200) - 100);
  case LARGE: return r % 3 ? (r % 2 ? DBL_MAX : -DBL_MAX) : unit * 1e300;
  default: return unit * 0x1p-1060;
  }
}

static Column make(Kit *k, int kind, int64_t n, int nulls) {
  static const int32_t dtypes[N_] = {FL_F64, FL_F64, FL_F64, FL_F64, FL_F64,  FL_F64,  FL_F64,      FL_F32,
                                     FL_I64, FL_I32, FL_U8,  FL_U64, FL_BOOL, FL_DATE, FL_DURATION, FL_TEXT};
  if (kind == LABELS) return make_column(k, TEXTS, n, nulls);
  Column c = {fl_array_zeros(k->ctx, dtypes[kind], 1, &n),
              nulls ? fl_array_new(k->ctx, FL_BOOL, 1, &n) : NULL};
  double before = 1.0;
  for (int64_t i = 0; i < n; i++) {
    bool valid = nulls == 0 || (nulls > 1 && draw(k) % (uint64_t)nulls != 0);
    if (c.valid != NULL) ((uint8_t *)c.valid->data)[i] = valid;
    void *data = c.value->data;
    uint64_t r = draw(k);
    switch (c.value->dtype) {
    case FL_F64: ((double *)data)[i] = before = valid ? make_float(k, kind, before) : NAN; break;
    case FL_F32: ((float *)data)[i] = valid ? (float)make_float(k, kind, 0) : -INFINITY; break;
    case FL_I64: ((int64_t *)data)[i] = valid ? (int64_t)(r % 2001) - 1000 : INT64_MIN; break;
    case FL_DURATION: ((int64_t *)data)[i] = valid ? (int64_t)(r % 15) - 7 : INT64_MAX; break;
    case FL_U64: ((uint64_t *)data)[i] = valid ? r >> 20 : UINT64_MAX; break;
    case FL_I32:
    case FL_DATE: ((int32_t *)data)[i] = valid ? (int32_t)(r % 61) - 30 : INT32_MIN; break;
    default:
      ((uint8_t *)data)[i] = c.value->dtype == FL_BOOL ? (valid ? r & 1 : 1)
                             : valid                   ? (uint8_t)(r % 256)
                                                       : 255;
    }
  }
  return c;
}

static bool has(Column c, int64_t i) { return c.valid == NULL || ((uint8_t *)c.valid->data)[i]; }

static __int128 whole(const FlArray *a, int64_t i) {
  switch (a->dtype) {
  case FL_I64:
  case FL_DURATION: return ((int64_t *)a->data)[i];
  case FL_U64: return ((uint64_t *)a->data)[i];
  case FL_I32:
  case FL_DATE: return ((int32_t *)a->data)[i];
  default: return ((uint8_t *)a->data)[i];
  }
}
static double number(const FlArray *a, int64_t i) {
  if (a->dtype == FL_F64) return ((double *)a->data)[i];
  if (a->dtype == FL_F32) return (double)((float *)a->data)[i];
  return (double)whole(a, i);
}

/* -1, 0, 1 by the order of keys. */
static int order(const FlArray *a, int64_t i, int64_t j) {
  if (a->dtype == FL_TEXT) {
    FlText x = ((FlText *)a->data)[i], y = ((FlText *)a->data)[j];
    int64_t n = x.len < y.len ? x.len : y.len;
    int bytes = n > 0 ? memcmp(x.ptr, y.ptr, (size_t)n) : 0;
    return bytes != 0 ? (bytes > 0) - (bytes < 0) : (x.len > y.len) - (x.len < y.len);
  }
  if (fl_dtype_info[a->dtype].kind != FL_KIND_FLOAT) {
    __int128 x = whole(a, i), y = whole(a, j);
    return (x > y) - (x < y);
  }
  double x = number(a, i), y = number(a, j);
  if (isnan(x) || isnan(y)) return (int)isnan(x) - (int)isnan(y);
  return (x > y) - (x < y);
}
static int by_order(const void *x, const void *y, void *array) {
  int64_t i = *(const int64_t *)x, j = *(const int64_t *)y;
  int o = order(array, i, j);
  return o != 0 ? o : (i > j) - (i < j);
}

/* ---- the wanted result of one group ------------------------------------------------------------------- */

typedef struct Wanted {
  bool valid, overflow, of_row;
  int64_t row;   /* the value is this row's */
  double f, off; /* off: of a value that is not known to the last bit */
  __int128 i;
} Wanted;

typedef struct Group {
  Column x, y;         /* y.value NULL: one column */
  int64_t *all, n_all; /* rows of the group */
  int64_t *rows, n;    /* those that count */
} Group;

static double sum_terms(const double *t, int64_t n) {
  Big b = {0};
  for (int64_t i = 0; i < n; i++) big_add(&b, t[i]);
  return big_round(b);
}

/* 113 bits and any exponent that products of doubles have: what var and its like are compared with, within a
 * unit of the last place. That they are exact is tests/scenario/exact_aggregates.py. */
typedef __float128 Quad;

static Quad quad_mean(const Group *g, const FlArray *a) {
  Quad sum = 0;
  for (int64_t i = 0; i < g->n; i++) sum += (Quad)number(a, g->rows[i]);
  return sum / (Quad)g->n;
}

/* Sum of products of differences from the means. */
static Quad moment(const Group *g, const FlArray *a, const FlArray *b) {
  Quad ma = quad_mean(g, a), mb = quad_mean(g, b), sum = 0;
  for (int64_t i = 0; i < g->n; i++)
    sum += ((Quad)number(a, g->rows[i]) - ma) * ((Quad)number(b, g->rows[i]) - mb);
  return sum;
}

static Quad quad_root(Quad v) {
  int exponent = 0;
  if (!(v > 0)) return v;
  for (; v > 0x1p100; v *= 0x1p-100) exponent += 50;
  for (; v < 0x1p-100; v *= 0x1p100) exponent -= 50;
  Quad s = (Quad)sqrt((double)v);
  s = (s + v / s) / 2;
  for (; exponent > 0; exponent -= 50) s *= 0x1p50;
  for (; exponent < 0; exponent += 50) s *= 0x1p-50;
  return s;
}

static double quantile(const Group *g, double q) {
  int64_t *r = malloc((size_t)g->n * sizeof *r);
  memcpy(r, g->rows, (size_t)g->n * sizeof *r);
  qsort_r(r, (size_t)g->n, sizeof *r, by_order, g->x.value);
  double h = (double)(g->n - 1) * q, f = h - floor(h);
  int64_t k = (int64_t)floor(h);
  double x = number(g->x.value, r[k]), y = number(g->x.value, r[k + 1 < g->n ? k + 1 : k]);
  bool nan = isnan(number(g->x.value, r[g->n - 1]));
  free(r);
  if (nan) return NAN;
  x += 0.0; /* zeros are +0.0 */
  y += 0.0;
  if (f == 0.0 || x == y) return x;
  return (x < 0) != (y < 0) || isinf(x) ? x * (1.0 - f) + y * f : x + f * (y - x);
}

/* Runs of equal values: their number, and the first row of the longest. */
static int64_t runs(const Group *g, int64_t *most) {
  int64_t *r = malloc((size_t)(g->n + 1) * sizeof *r), found = 0, longest = 0;
  memcpy(r, g->rows, (size_t)g->n * sizeof *r);
  if (g->n > 0) qsort_r(r, (size_t)g->n, sizeof *r, by_order, g->x.value);
  for (int64_t i = 0, j; i < g->n; i = j) {
    for (j = i; j < g->n && order(g->x.value, r[i], r[j]) == 0;) j++;
    found++;
    if (j - i <= longest) continue;
    longest = j - i;
    *most = r[i];
  }
  free(r);
  return found;
}

static Wanted want(const Group *g, const char *s, double f, int32_t result) {
  const FlArray *x = g->x.value;
  bool floats = x != NULL && fl_dtype_info[x->dtype].kind == FL_KIND_FLOAT;
  Wanted w = {.valid = g->n > 0, .row = -1};
  double *t = calloc((size_t)g->n + 1, sizeof *t);
  __int128 sum = 0;
  int64_t trues = 0;
  for (int64_t i = 0; x != NULL && i < g->n && x->dtype != FL_TEXT; i++) {
    t[i] = number(x, g->rows[i]);
    sum += floats ? 0 : whole(x, g->rows[i]);
    trues += t[i] != 0;
  }
  if (strcmp(s, "count") == 0) {
    w.valid = true;
    w.i = x != NULL && x->dtype == FL_BOOL ? trues : g->n;
  } else if (strcmp(s, "any") == 0 || strcmp(s, "all") == 0) {
    w.valid = true;
    w.i = s[1] == 'n' ? trues > 0 : trues == g->n;
  } else if (strcmp(s, "sum") == 0) {
    w.valid = true;
    w.f = floats ? sum_terms(t, g->n) : 0;
    w.i = sum;
    w.overflow = !floats && (result == FL_U64 ? (unsigned __int128)sum > UINT64_MAX : sum != (int64_t)sum);
  } else if (strcmp(s, "mean") == 0 && g->n > 0) {
    w.f = (double)(floats ? quad_mean(g, x) : (Quad)sum / (Quad)g->n);
    for (int64_t i = 0; floats && i < g->n; i++) w.off = fmax(w.off, 0x1p-100 * fabs(t[i]));
    w.off += floats ? 0x1p-52 * fabs(w.f) : 0;
    w.i = (__int128)nearbyint(w.f); /* sums of durations are small here */
  } else if (strcmp(s, "weighted_mean") == 0 && g->n > 0) {
    Quad top = 0, below = 0, size = 0;
    for (int64_t i = 0; i < g->n; i++) {
      Quad y = (Quad)number(g->y.value, g->rows[i]), p = (Quad)t[i] * y;
      top += p;
      below += y;
      size += p > 0 ? p : -p;
    }
    w.f = (double)(top / below);
    w.off = 0x1p-51 * fabs(w.f) + (double)(size / (below > 0 ? below : -below) * 0x1p-100);
  } else if (strcmp(s, "var") == 0 || strcmp(s, "std") == 0 || strcmp(s, "cov") == 0) {
    w.valid = (double)g->n > f && g->n > 0;
    const FlArray *y = s[0] == 'c' ? g->y.value : x;
    Quad free = (Quad)g->n - (Quad)f, v = w.valid ? moment(g, x, y) / free : 0;
    Quad size = w.valid ? quad_root(moment(g, x, x)) * quad_root(moment(g, y, y)) / free : 0;
    w.f = (double)(s[0] == 's' ? quad_root(v) : v);
    w.off = 0x1p-52 * fabs(w.f) + (s[0] == 'c' ? (double)(size * 0x1p-95) : 0);
  } else if (strcmp(s, "corr") == 0) {
    const FlArray *y = g->y.value;
    w.valid = g->n > 1;
    if (w.valid) w.f = (double)(moment(g, x, y) / (quad_root(moment(g, x, x)) * quad_root(moment(g, y, y))));
    w.off = 0x1p-52;
  } else if (strcmp(s, "quantile") == 0 || strcmp(s, "median") == 0) {
    if (g->n > 0) w.f = quantile(g, s[0] == 'm' ? 0.5 : f);
  } else if (strcmp(s, "n_distinct") == 0) {
    w.valid = true;
    w.i = runs(g, &w.row);
  } else if (strcmp(s, "mode") == 0) {
    w.of_row = true;
    (void)runs(g, &w.row);
  } else if (strcmp(s, "first") == 0 || strcmp(s, "last") == 0) {
    w.of_row = true;
    if (g->n > 0) w.row = g->rows[s[0] == 'f' ? 0 : g->n - 1];
  } else if (strstr(s, "min") != NULL || strstr(s, "max") != NULL) {
    int sign = strstr(s, "max") != NULL ? 1 : -1;
    for (int64_t i = 0; i < g->n; i++) {
      int64_t row = g->rows[i];
      bool nan = floats && isnan(t[i]), best_nan = floats && w.row >= 0 && isnan(number(x, w.row));
      if (w.row < 0 || (nan && !best_nan) || (!nan && !best_nan && sign * order(x, row, w.row) > 0))
        w.row = row;
    }
    w.of_row = s[0] != 'a';
    for (int64_t i = 0; i < g->n_all; i++) {
      if (g->all[i] == w.row) w.i = i;
    }
  }
  free(t);
  return w;
}

/* ---- calls -------------------------------------------------------------------------------------------- */

static bool same(const FlArray *got, int64_t k, const Wanted *w, const FlArray *x) {
  size_t size = (size_t)fl_dtype_info[got->dtype].bytes;
  const char *at = (const char *)got->data + (size_t)k * size;
  static const char zeros[16];
  if (!w->valid) return memcmp(at, zeros, size) == 0;
  if (w->of_row && got->dtype == FL_TEXT) {
    FlText a = ((FlText *)got->data)[k], b = ((FlText *)x->data)[w->row];
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, (size_t)a.len) == 0);
  }
  if (w->of_row) return memcmp(at, (const char *)x->data + (size_t)w->row * size, size) == 0;
  if (fl_dtype_info[got->dtype].kind != FL_KIND_FLOAT) return whole(got, k) == w->i;
  double v = number(got, k), wanted = got->dtype == FL_F32 ? (double)(float)w->f : w->f;
  if (w->off > 0 && fabs(v - wanted) <= w->off) return true;
  return (isnan(v) && isnan(wanted)) || memcmp(&v, &wanted, sizeof v) == 0;
}

static int32_t result_type(const char *s, int32_t dtype) {
  if (strcmp(s, "count") == 0 || strcmp(s, "n_distinct") == 0 || strncmp(s, "arg", 3) == 0) return FL_I64;
  if (strcmp(s, "any") == 0 || strcmp(s, "all") == 0) return FL_BOOL;
  if (dtype == FL_F32 || dtype == FL_DURATION) return dtype;
  if (strcmp(s, "sum") == 0 && dtype != FL_F64) return dtype == FL_U64 ? FL_U64 : FL_I64;
  return FL_F64;
}

/* ids NULL: all rows are one group. */
static void test(Kit *k, const char *s, double f, Column x, Column y, FlArray *ids, int64_t g, int64_t n) {
  Call c = {.s = s, .f = f, .i = ids == NULL};
  int32_t dtype = x.value != NULL ? x.value->dtype : FL_I64;
  FlArray *none = fl_array_zeros(k->ctx, FL_I64, 1, &n);
  FlSlot r[2];
  char what[128];
  snprintf(what, sizeof what, "%s(%g) of %s, %lld rows, %lld groups, %s %s", s, f, fl_dtype_info[dtype].name,
           (long long)n, (long long)g, ids == NULL ? "ungrouped" : "", x.valid != NULL ? "nulls" : "");
  put_int(&c, g);
  put_array(&c, ids != NULL ? ids : none);
  if (x.value != NULL) put_column(&c, x, false);
  if (y.value != NULL) put_column(&c, y, false);
  int32_t type = result_type(s, dtype);
  c.result_types[0] = (FlType1){(uint8_t)type, 1, 0, 0};
  int64_t *start = calloc((size_t)g + 2, 8), *all = malloc((size_t)(n + 1) * 8),
          *rows = malloc((size_t)(n + 1) * 8);
  for (int64_t i = 0; i < n; i++) start[(ids != NULL ? ((int64_t *)ids->data)[i] : 0) + 2]++;
  for (int64_t q = 0; q < g; q++) start[q + 2] += start[q + 1];
  for (int64_t i = 0; i < n; i++) all[start[(ids != NULL ? ((int64_t *)ids->data)[i] : 0) + 1]++] = i;
  bool failed = call(k, fl_rt_aggregate, &c, r) != 0;
  check(k, !failed && r[0].a->dims[0] == g && r[1].a->dims[0] == g, what);
  for (int64_t q = 0; q < g && !failed; q++) {
    Group group = {x, y, all + start[q], start[q + 1] - start[q], rows, 0};
    for (int64_t i = 0; i < group.n_all; i++) {
      int64_t row = group.all[i];
      if ((x.value == NULL || has(x, row)) && (y.value == NULL || has(y, row))) rows[group.n++] = row;
    }
    Wanted w = want(&group, s, f, type);
    check(k, !w.overflow && ((uint8_t *)r[1].a->data)[q] == w.valid && same(r[0].a, q, &w, x.value), what);
  }
  if (!failed) {
    see(k, r[0].a);
    see(k, r[1].a);
    fl_array_unref(r[0].a);
    fl_array_unref(r[1].a);
  }
  fl_array_unref(none);
  free(start);
  free(all);
  free(rows);
}

static FlArray *make_ids(Kit *k, int64_t n, int64_t g) { /* every fifth group is empty */
  FlArray *ids = fl_array_new(k->ctx, FL_I64, 1, &n);
  for (int64_t i = 0; i < n; i++) {
    int64_t q = (int64_t)(draw(k) % (uint64_t)g);
    ((int64_t *)ids->data)[i] = g > 4 && q % 5 == 3 ? q - 1 : q;
  }
  return ids;
}

static void test_kind(Kit *k, int kind, int64_t n, int64_t g, int nulls) {
  static const char *const any_type[] = {"count",  "first",  "last",       "min", "max",
                                         "argmin", "argmax", "n_distinct", "mode"};
  Column x = make(k, kind, n, nulls), none = {NULL, NULL};
  Column y = make(k, kind == PLAIN ? QUARTERS : kind, n, nulls == 1 ? 0 : nulls / 2);
  FlArray *ids = g > 0 ? make_ids(k, n, g) : NULL;
  int64_t groups = g > 0 ? g : 1;
  test(k, "count", 0, none, none, ids, groups, n);
  for (size_t s = 0; s < sizeof any_type / sizeof *any_type; s++)
    test(k, any_type[s], 0, x, none, ids, groups, n);
  if (kind == BITS) {
    test(k, "any", 0, x, none, ids, groups, n);
    test(k, "all", 0, x, none, ids, groups, n);
  }
  if (kind < DATES || kind == SPANS) {
    test(k, "sum", 0, x, none, ids, groups, n);
    test(k, "mean", 0, x, none, ids, groups, n);
  }
  if (kind < BITS) {
    test(k, "median", 0, x, none, ids, groups, n);
    test(k, "quantile", 0, x, none, ids, groups, n);
    test(k, "quantile", 1, x, none, ids, groups, n);
    test(k, "quantile", 0.9, x, none, ids, groups, n);
    test(k, "var", 1, x, none, ids, groups, n);
    test(k, "std", 0, x, none, ids, groups, n);
    test(k, "cov", 1, x, y, ids, groups, n);
    test(k, "corr", 0, x, y, ids, groups, n);
    test(k, "weighted_mean", 0, x, y, ids, groups, n);
  }
  drop_column(x);
  drop_column(y);
  fl_array_unref(ids);
}

/* Sums do not depend on the order of rows. */
static void test_orders(Kit *k, int kind, int64_t n) {
  Column x = make(k, kind, n, 0);
  double *v = x.value->data;
  uint64_t first = 0;
  for (int round = 0; round < 4; round++) {
    Call c = {.s = "sum", .i = 1, .result_types = {{FL_F64, 1, 0, 0}}};
    FlSlot r[2];
    put_int(&c, 1);
    put_array(&c, x.value);
    put_column(&c, x, false);
    bool ok = call(k, fl_rt_aggregate, &c, r) == 0;
    check(k, ok, "a sum");
    if (!ok) break;
    uint64_t bits;
    memcpy(&bits, r[0].a->data, 8);
    if (round == 0) first = bits;
    check(k, bits == first, "a sum in another order");
    fl_array_unref(r[0].a);
    fl_array_unref(r[1].a);
    for (int64_t i = n - 1; i > 0; i--) {
      int64_t j = (int64_t)(draw(k) % (uint64_t)(i + 1));
      double t = v[i];
      v[i] = v[j];
      v[j] = t;
    }
  }
  drop_column(x);
}

static void tests(Kit *k) {
  static const int64_t sizes[] = {0, 1, 2, 40, 1500};
  for (int kind = 0; kind < N_; kind++) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      for (int nulls = 0; nulls < 5; nulls += nulls == 1 ? 3 : 1) {
        test_kind(k, kind, sizes[s], 0, nulls);
        test_kind(k, kind, sizes[s], 6, nulls);
      }
    }
    test_kind(k, kind, 0, 3, 0);
    test_kind(k, kind, 900, 400, 3);
  }
  for (int kind = QUARTERS; kind <= TINY; kind++) test_orders(k, kind, 3000);
  Column none = {NULL, NULL};
  static const int large[] = {PLAIN, WIDE, I64S, LABELS};
  for (size_t s = 0; s < sizeof large / sizeof *large; s++) { /* rows in several pieces */
    static const char *const names[] = {"count", "min", "last", "argmax", "sum", "median"};
    Column x = make(k, large[s], 280000, 9);
    FlArray *ids = make_ids(k, 280000, 12);
    for (size_t t = 0; t < (large[s] == LABELS ? 4 : 6); t++) {
      test(k, names[t], 0, x, none, ids, 12, 280000);
      test(k, names[t], 0, x, none, NULL, 1, 280000);
    }
    drop_column(x);
    fl_array_unref(ids);
  }
}

static void overflows(Kit *k) {
  for (int last = 0; last < 2; last++) {
    int64_t n = 3;
    Column x = {fl_array_new(k->ctx, FL_I64, 1, &n), NULL};
    int64_t values[3] = {INT64_MAX, 5, last == 0 ? -5 : -4};
    memcpy(x.value->data, values, sizeof values);
    Call c = {.s = "sum", .i = 1, .result_types = {{FL_I64, 1, 0, 0}}};
    FlSlot r[2];
    put_int(&c, 1);
    put_array(&c, x.value);
    put_column(&c, x, false);
    bool ok = call(k, fl_rt_aggregate, &c, r) == 0;
    check(k, ok == (last == 0), "a sum fits when its total does");
    if (ok) {
      check(k, *(int64_t *)r[0].a->data == INT64_MAX, "the greatest sum");
      fl_array_unref(r[0].a);
      fl_array_unref(r[1].a);
    } else {
      check(k, fl_ctx_code(k->ctx) == 701, "an overflow is E0701");
    }
    drop_column(x);
  }
}

static void all_tests(Kit *k) {
  tests(k);
  overflows(k);
}

int main(void) { return run_kit(all_tests); }
