/* column_stats.c: nulls, range and number of different values of one column; see table_stats.h.
 *
 * What always holds: the same column gives the same; no more memory than for a million hashes. */
#include "data/data.h"
#include "data/text_order.h"
#include "data/number.h"
#include "io/io_internal.h"
#include "io/table_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- different values: a set of their hashes ----------------------------------------------------------- */

typedef struct FlHashSet {
  uint64_t *at; /* 0: free */
  uint64_t mask;
  int64_t n;
} FlHashSet;

static void insert(FlHashSet *s, uint64_t hash) {
  uint64_t k = hash & s->mask;
  while (s->at[k] && s->at[k] != hash) k = (k + 1) & s->mask;
  s->n += s->at[k] == 0;
  s->at[k] = hash;
}

static bool grow(FlHashSet *s) {
  FlHashSet larger = {calloc((size_t)(s->mask + 1) * 2, sizeof *s->at), s->mask * 2 + 1, 0};
  if (!larger.at) return false;
  for (uint64_t k = 0; k <= s->mask; k++)
    if (s->at[k]) insert(&larger, s->at[k]);
  free(s->at);
  *s = larger;
  return true;
}

static void add(FlHashSet *s, const void *bytes, size_t n) {
  if (!s->at || s->n > FL_STATS_DISTINCT) return;
  if (s->n * 2 > (int64_t)s->mask && !grow(s)) {
    s->n = FL_STATS_DISTINCT + 1;
    return;
  }
  uint64_t hash = XXH3_64bits(bytes, n);
  insert(s, hash ? hash : 1);
}

/* ---- ranges -------------------------------------------------------------------------------------------- */

/* A value as what it is compared by. */
typedef struct FlKey {
  double real;
  int64_t whole;
  uint64_t natural;
  FlText text;
} FlKey;

static FlKey key_of(const FlArray *a, int64_t k) {
  const void *p = a->data;
  switch ((FlDtype)a->dtype) {
  case FL_BOOL: return (FlKey){.whole = ((const uint8_t *)p)[k]};
  case FL_I8: return (FlKey){.whole = ((const int8_t *)p)[k]};
  case FL_I16: return (FlKey){.whole = ((const int16_t *)p)[k]};
  case FL_I32:
  case FL_CATEGORY:
  case FL_DATE: return (FlKey){.whole = ((const int32_t *)p)[k]};
  case FL_I64:
  case FL_DATETIME:
  case FL_DURATION:
  case FL_ANY_DECIMAL: return (FlKey){.whole = ((const int64_t *)p)[k]};
  case FL_U8: return (FlKey){.natural = ((const uint8_t *)p)[k]};
  case FL_U16: return (FlKey){.natural = ((const uint16_t *)p)[k]};
  case FL_U32: return (FlKey){.natural = ((const uint32_t *)p)[k]};
  case FL_U64: return (FlKey){.natural = ((const uint64_t *)p)[k]};
  case FL_F32: return (FlKey){.real = (double)((const float *)p)[k] + 0.0};
  case FL_F64: return (FlKey){.real = ((const double *)p)[k] + 0.0}; /* -0.0 is 0.0 */
  case FL_TEXT: return (FlKey){.text = ((const FlText *)p)[k]};
  case FL_FILE:
  case FL_LIST:
  case FL_N_DTYPES: break;
  }
  return (FlKey){0};
}

static int compare(const FlKey *a, const FlKey *b) {
  if (a->real != b->real) return a->real < b->real ? -1 : 1;
  if (a->whole != b->whole) return a->whole < b->whole ? -1 : 1;
  if (a->natural != b->natural) return a->natural < b->natural ? -1 : 1;
  return fl_text_order(a->text, b->text);
}

static void add_key(FlHashSet *set, const FlKey *key, bool is_text) {
  if (is_text) add(set, key->text.ptr, (size_t)key->text.len);
  else add(set, key, offsetof(FlKey, text));
}

static void show_text(FlText t, char to[FL_STATS_SHOWN]) {
  enum { MOST = 20 };
  int64_t n = t.len < MOST ? t.len : MOST;
  int64_t good = fl_utf8_check(t.ptr, n);
  for (int64_t k = 0; k < good; k++)
    to[k] = (unsigned char)t.ptr[k] < ' ' || t.ptr[k] == 127 ? ' ' : t.ptr[k];
  strcpy(to + good, t.len > good ? "..." : "");
}

static void show(int32_t dtype, const FlKey *key, char to[FL_STATS_SHOWN]) {
  FlKind kind = fl_dtype_info[dtype].kind;
  FlSlot v = {.i = key->whole};
  if (kind == FL_KIND_UNSIGNED) v.u = key->natural;
  if (dtype == FL_F64) v.f = key->real;
  if (dtype == FL_F32) v.f32 = (float)key->real;
  if (kind == FL_KIND_TEXT) show_text(key->text, to);
  else to[fl_print_scalar(to, dtype, v)] = 0;
}

/* ---- together ------------------------------------------------------------------------------------------ */

void fl_column_stats(const FlArray *values, const FlArray *valid, const FlArray *levels, FlColumnStats *out) {
  *out = (FlColumnStats){0};
  int64_t n = fl_array_count(values);
  bool is_text = values->dtype == FL_TEXT, real = fl_dtype_is_float(values->dtype);
  FlHashSet set = {calloc(1024, sizeof *set.at), 1023, 0};
  FlKey low = {0}, high = {0}, last = {0};
  for (int64_t k = 0; k < n; k++) {
    if (valid && !((const uint8_t *)valid->data)[k]) {
      out->nulls++;
      continue;
    }
    FlKey key = key_of(values, k);
    if (real && isnan(key.real)) {
      if (!out->nans++) add(&set, "nan", 3);
      continue;
    }
    if (!out->range || compare(&key, &last) != 0) add_key(&set, &key, is_text); /* runs are common */
    if (!out->range || compare(&key, &low) < 0) low = key;
    if (!out->range || compare(&key, &high) > 0) high = key;
    last = key;
    out->range = true;
  }
  out->distinct = set.n;
  free(set.at);
  if (levels) out->range = false; /* codes say nothing to people */
  if (!out->range) return;
  show(values->dtype, &low, out->low);
  show(values->dtype, &high, out->high);
}
