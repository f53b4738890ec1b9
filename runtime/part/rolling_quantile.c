/* rolling_quantile.c: quantiles and medians of windows.
 *
 * Comes in: windows, a column of numbers, q. Goes out: f64, by the rule of the aggregate `quantile`
 * (agg_rank.c). Always holds: it is the quantile of exactly the values in the window; a NaN among them gives
 * NaN.
 *
 * The order codes of a window stand sorted in leaves of at most LEAF; a code is found by the greatest codes
 * of the leaves. A leaf that is full is cut in two, an empty one goes. */
#include "part/rolling_internal.h"

enum { LEAF = 256 };

typedef struct Leaf {
  int32_t n;
  uint64_t code[LEAF];
} Leaf;

typedef struct Sorted {
  Leaf **leaf;
  uint64_t *most; /* of each leaf */
  int64_t leaves, room, count;
  Leaf *spare; /* one that is not used, or NULL */
} Sorted;

static void sorted_clear(Sorted *s) {
  for (int64_t k = 0; k < s->leaves; k++) free(s->leaf[k]);
  s->leaves = s->count = 0;
}

static void sorted_free(Sorted *s) {
  sorted_clear(s);
  free(s->spare);
  free(s->leaf);
  free(s->most);
}

/* Room for a new leaf at place k. NULL: no memory. */
static Leaf *new_leaf(Sorted *s, int64_t k) {
  if (s->leaves == s->room) {
    int64_t room = s->room == 0 ? 16 : 2 * s->room;
    Leaf **leaf = realloc(s->leaf, (size_t)room * sizeof *leaf);
    if (leaf != NULL) s->leaf = leaf;
    uint64_t *most = leaf != NULL ? realloc(s->most, (size_t)room * sizeof *most) : NULL;
    if (most == NULL) return NULL;
    s->most = most;
    s->room = room;
  }
  Leaf *made = s->spare != NULL ? s->spare : malloc(sizeof *made);
  s->spare = NULL;
  if (made == NULL) return NULL;
  memmove(s->leaf + k + 1, s->leaf + k, (size_t)(s->leaves - k) * sizeof *s->leaf);
  memmove(s->most + k + 1, s->most + k, (size_t)(s->leaves - k) * sizeof *s->most);
  s->leaf[k] = made;
  s->leaves++;
  made->n = 0;
  return made;
}

/* The first leaf whose greatest code is at least this one; the last when there is none. */
static int64_t leaf_of(const Sorted *s, uint64_t code) {
  int64_t low = 0, high = s->leaves - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (s->most[middle] < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

static int32_t place_in(const Leaf *l, uint64_t code) { /* the first that is not less */
  int32_t low = 0, high = l->n;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (l->code[middle] < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool sorted_add(Sorted *s, uint64_t code) {
  if (s->leaves == 0 && new_leaf(s, 0) == NULL) return false;
  int64_t k = leaf_of(s, code);
  Leaf *l = s->leaf[k];
  if (l->n == LEAF) {
    Leaf *upper = new_leaf(s, k + 1);
    if (upper == NULL) return false;
    l = s->leaf[k];
    upper->n = LEAF / 2;
    l->n = LEAF - LEAF / 2;
    memcpy(upper->code, l->code + l->n, sizeof *l->code * (size_t)upper->n);
    s->most[k + 1] = s->most[k];
    s->most[k] = l->code[l->n - 1];
    if (code > s->most[k]) l = s->leaf[++k];
  }
  int32_t at = place_in(l, code);
  memmove(l->code + at + 1, l->code + at, sizeof *l->code * (size_t)(l->n - at));
  l->code[at] = code;
  l->n++;
  s->most[k] = l->code[l->n - 1];
  s->count++;
  return true;
}

/* Takes one code away that is there. */
static void sorted_take(Sorted *s, uint64_t code) {
  int64_t k = leaf_of(s, code);
  Leaf *l = s->leaf[k];
  int32_t at = place_in(l, code);
  memmove(l->code + at, l->code + at + 1, sizeof *l->code * (size_t)(l->n - at - 1));
  l->n--;
  s->count--;
  if (l->n > 0) {
    s->most[k] = l->code[l->n - 1];
    return;
  }
  free(s->spare);
  s->spare = l;
  s->leaves--;
  memmove(s->leaf + k, s->leaf + k + 1, (size_t)(s->leaves - k) * sizeof *s->leaf);
  memmove(s->most + k, s->most + k + 1, (size_t)(s->leaves - k) * sizeof *s->most);
}

/* The i-th smallest code and the one after it (itself when it is the last). */
static void sorted_pair(const Sorted *s, int64_t i, uint64_t *at, uint64_t *after) {
  int64_t k = 0;
  while (i >= s->leaf[k]->n) i -= s->leaf[k++]->n;
  const Leaf *l = s->leaf[k];
  *at = l->code[i];
  if (i + 1 < l->n) *after = l->code[i + 1];
  else *after = k + 1 < s->leaves ? s->leaf[k + 1]->code[0] : *at;
}

static double sorted_quantile(const Sorted *s, double q) {
  if (s->most[s->leaves - 1] == UINT64_MAX) return NAN;
  double h = (double)(s->count - 1) * q, low = floor(h);
  uint64_t at, after;
  sorted_pair(s, fl_part_min((int64_t)low, s->count - 1), &at, &after);
  return fl_part_between(fl_part_of_code(at), fl_part_of_code(after), h - low);
}

/* ---- windows ------------------------------------------------------------------------------------------ */

typedef struct Quantile {
  FlRolling r; /* first: blocks get it */
  const double *x;
  double q;
} Quantile;

static int32_t quantile_block(FlRolling *rolling, int64_t from, int64_t to) {
  const Quantile *k = (const Quantile *)rolling;
  const FlRolling *r = &k->r;
  Sorted s = {0};
  int64_t low, high;
  fl_rolling_reach(r, from, to, &low, &high);
  uint64_t *code = fl_counted_new(fl_part_pool(r->m), (size_t)(high - low) * sizeof *code + 1);
  bool ok = code != NULL;
  FlPartCol x = {.dtype = FL_F64, .n = r->n, .data = k->x};
  if (ok) fl_part_read_code(&x, low, high - low, code);
  FlWindow w = fl_window_open(r, from);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to && ok; p++) {
    if (fl_window_move(r, &w, p)) {
      sorted_clear(&s);
      lo = hi = w.lo;
    }
    for (; hi < w.hi && ok; hi++)
      if (fl_part_valid(r->x.valid, hi)) ok = sorted_add(&s, code[hi - low]);
    for (; lo < w.lo && ok; lo++)
      if (fl_part_valid(r->x.valid, lo)) sorted_take(&s, code[lo - low]);
    int64_t row = fl_rolling_row(r, p);
    bool there = s.count >= r->least;
    ((uint8_t *)r->valid->data)[row] = there;
    ((double *)r->value->data)[row] = there && ok ? sorted_quantile(&s, k->q) : 0.0;
  }
  fl_counted_free(code);
  sorted_free(&s);
  return !ok;
}

static FlStatus quantile(FlRolling *r, double q) {
  if (!(q >= 0.0 && q <= 1.0))
    return fl_fail(r->m->ctx, FL_FAULT_DOMAIN, r->desc->site, FL_F64, (FlSlot){.f = q}, (FlSlot){0});
  if (fl_rolling_results(r) != 0) return 1;
  Quantile k = {.r = *r, .x = fl_rolling_doubles(r), .q = q};
  return k.x == NULL ? 1 : fl_rolling_blocks(&k.r, quantile_block, 60.0);
}

FlStatus fl_rolling_quantile(FlRolling *r) { return quantile(r, r->desc->f); }
FlStatus fl_rolling_median(FlRolling *r) { return quantile(r, 0.5); }
