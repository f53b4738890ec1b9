/* levels.c: the different texts among many, each with a number: what a category's levels are.
 *
 * A table of open addressing over the texts' XXH3; it is never more than half full. */
#include "io/io_internal.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct Set {
  int64_t *at; /* 1 + which of the levels; 0: free */
  uint64_t mask;
  FlText *levels;
  int64_t n, room;
  FlPool *pool; /* whose memory it is; may be NULL */
} Set;

static bool same(FlText a, FlText b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, (size_t)a.len) == 0);
}

static uint64_t place_of(const Set *s, FlText t) {
  uint64_t k = XXH3_64bits(t.len ? t.ptr : "", (size_t)t.len) & s->mask;
  while (s->at[k] && !same(s->levels[s->at[k] - 1], t)) k = (k + 1) & s->mask;
  return k;
}

static bool grow(Set *s) {
  int64_t room = s->room ? 2 * s->room : 32;
  FlText *levels = fl_counted_grow(s->pool, s->levels, (size_t)room * sizeof *levels);
  if (!levels) return false;
  s->levels = levels;
  int64_t *at = fl_counted_new_zero(s->pool, 2 * (size_t)room * sizeof *at);
  if (!at) return false;
  fl_counted_free(s->at);
  s->at = at;
  s->room = room;
  s->mask = 2 * (uint64_t)room - 1;
  for (int64_t k = 0; k < s->n; k++) s->at[place_of(s, s->levels[k])] = k + 1;
  return true;
}

/* The number of a text, a new one when it was not met before; -1: out of memory, or too many for a code. */
static int64_t number_of(Set *s, FlText t) {
  if (s->n == s->room && (s->n == INT32_MAX / 2 || !grow(s))) return -1;
  uint64_t k = place_of(s, t);
  if (s->at[k]) return s->at[k] - 1;
  s->levels[s->n] = t;
  s->at[k] = ++s->n;
  return s->n - 1;
}

typedef struct Ranked {
  FlText t;
  int64_t k;
} Ranked;

static int compare(const void *x, const void *y) {
  const Ranked *a = x, *b = y;
  int64_t n = a->t.len < b->t.len ? a->t.len : b->t.len;
  int c = n ? memcmp(a->t.ptr, b->t.ptr, (size_t)n) : 0;
  return c ? c : (a->t.len > b->t.len) - (a->t.len < b->t.len);
}

/* Puts the levels into their order and the codes after them. */
static bool sort(Set *s, int32_t *codes, int64_t n) {
  Ranked *ranked = fl_counted_new(s->pool, ((size_t)s->n + 1) * sizeof *ranked);
  int32_t *now = fl_counted_new(s->pool, ((size_t)s->n + 1) * sizeof *now);
  bool ok = ranked && now;
  for (int64_t k = 0; ok && k < s->n; k++) ranked[k] = (Ranked){s->levels[k], k};
  if (ok && s->n) qsort(ranked, (size_t)s->n, sizeof *ranked, compare);
  for (int64_t k = 0; ok && k < s->n; k++) {
    now[ranked[k].k] = (int32_t)k;
    s->levels[k] = ranked[k].t;
  }
  for (int64_t k = 0; ok && k < n; k++)
    if (codes[k] >= 0) codes[k] = now[codes[k]];
  fl_counted_free(ranked);
  fl_counted_free(now);
  return ok;
}

FlArray *fl_levels_find(FlCtx *ctx, const FlText *texts, const uint8_t *valid, int64_t n, bool sorted,
                        FlArray *from, int32_t *codes) {
  Set s = {.pool = ctx ? fl_ctx_pool(ctx) : NULL};
  bool ok = grow(&s);
  for (int64_t k = 0; ok && k < n; k++) {
    int64_t code = valid && !valid[k] ? -1 : number_of(&s, texts[k]);
    ok = code >= 0 || (valid && !valid[k]);
    codes[k] = (int32_t)code;
  }
  ok = ok && (!sorted || sort(&s, codes, n));
  FlArray *out = ok ? fl_array_new(ctx, FL_TEXT, 1, &s.n) : NULL;
  if (out && s.n) memcpy(out->data, s.levels, (size_t)s.n * sizeof *s.levels);
  if (out && from && fl_array_keep(ctx, out, NULL, &from, 1) != 0) {
    fl_array_unref(out);
    out = NULL;
  }
  fl_counted_free(s.levels);
  fl_counted_free(s.at);
  return out;
}
