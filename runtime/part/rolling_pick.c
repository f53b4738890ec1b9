/* rolling_pick.c: the row of each window that is least, greatest, first or last.
 *
 * Comes in: windows, a column of any type that has an order. Goes out: that row's value. Always holds: of
 * equal values the first row wins; a NaN wins over every number, as in min and max.
 *
 * Candidates of a window stand in a queue: each is better than all that come after it in the window, so the
 * first is the best (as in D. Lemire, 2006, "Streaming maximum-minimum filter"). */
#include "part/rolling_internal.h"

typedef enum Rule { LEAST, GREATEST, FIRST, LAST } Rule;

typedef struct Pick {
  FlRolling r; /* first: blocks get it */
  Rule rule;
  FlPartKey text; /* a column of texts, and its words by position, which sort as the texts do */
  FlPartCodes words;
  int64_t *picked; /* [n] by row: a row, -1 none */
} Pick;

/* Codes in which the lower wins, of the positions [lo, hi). */
static void read_codes(const Pick *k, int64_t lo, int64_t hi, uint64_t *code) {
  const FlRolling *r = &k->r;
  bool floats = fl_dtype_is_float(r->x.dtype);
  if (r->x.dtype == FL_TEXT) fl_part_read_words(&k->words, 0, lo, hi - lo, code);
  else fl_part_read_code(&r->x, lo, hi - lo, code);
  for (int64_t i = 0; i < hi - lo; i++) {
    if (k->rule == GREATEST) code[i] = ~code[i];
    else if (floats) code[i]++; /* NaN becomes 0; no number has the highest code */
  }
}

static int32_t best_block(FlRolling *r, int64_t from, int64_t to) {
  const Pick *k = (const Pick *)r;
  int64_t low, high, head = 0, tail = 0, values = 0;
  fl_rolling_reach(r, from, to, &low, &high);
  size_t reach = (size_t)(high - low);
  uint64_t *code = fl_counted_new(fl_part_pool(r->m), reach * sizeof *code + 1);
  int64_t *queue = fl_counted_new(fl_part_pool(r->m), reach * sizeof *queue + 1);
  if (code == NULL || queue == NULL) {
    fl_counted_free(code);
    fl_counted_free(queue);
    return 1;
  }
  read_codes(k, low, high, code);
  FlWindow w = fl_window_open(r, from);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to; p++) {
    if (fl_window_move(r, &w, p)) {
      head = tail = values = 0;
      lo = hi = w.lo;
    }
    for (; hi < w.hi; hi++) {
      if (!fl_part_valid(r->x.valid, hi)) continue;
      values++;
      while (tail > head && code[hi - low] < code[queue[tail - 1] - low]) tail--;
      queue[tail++] = hi;
    }
    for (; lo < w.lo; lo++) values -= fl_part_valid(r->x.valid, lo);
    while (head < tail && queue[head] < w.lo) head++;
    bool there = values >= r->least;
    k->picked[fl_rolling_row(r, p)] = there ? fl_rolling_row(r, queue[head]) : -1;
  }
  fl_counted_free(code);
  fl_counted_free(queue);
  return 0;
}

/* The first or last valid position of each window. */
static int32_t end_block(FlRolling *r, int64_t from, int64_t to) {
  const Pick *k = (const Pick *)r;
  int64_t values = 0, first = -1, last = -1;
  FlWindow w = fl_window_open(r, from);
  int64_t lo = w.lo, hi = w.lo;
  for (int64_t p = from; p < to; p++) {
    if (fl_window_move(r, &w, p)) {
      values = 0;
      lo = hi = w.lo;
    }
    for (; hi < w.hi; hi++) {
      if (!fl_part_valid(r->x.valid, hi)) continue;
      if (values == 0) first = hi;
      last = hi;
      values++;
    }
    for (; lo < w.lo; lo++) values -= fl_part_valid(r->x.valid, lo);
    while (values > 0 && (first < w.lo || !fl_part_valid(r->x.valid, first))) first++;
    bool there = values >= r->least;
    k->picked[fl_rolling_row(r, p)] = there ? fl_rolling_row(r, k->rule == FIRST ? first : last) : -1;
  }
  return 0;
}

static FlStatus text_words(Pick *k) {
  memset(&k->text, 0, sizeof k->text);
  k->text.side[0] = k->r.x;
  k->text.side[0].valid = NULL; /* null has the empty text, which is passed over */
  return fl_part_encode(k->r.m, &k->text, 1, 1, true, &k->words);
}

static FlStatus pick(FlRolling *r, Rule rule) {
  Pick k = {.r = *r, .rule = rule, .picked = fl_part_alloc(r->m, r->n, sizeof *k.picked)};
  FlCtx *ctx = r->m->ctx;
  bool best = rule == LEAST || rule == GREATEST;
  if (k.picked == NULL || (best && r->x.dtype == FL_TEXT && text_words(&k) != 0)) return 1;
  if (fl_rolling_blocks(&k.r, best ? best_block : end_block, 6.0) != 0) return 1;
  r->value = fl_part_take(ctx, r->from, k.picked, r->n);
  r->valid = fl_part_has_row(ctx, k.picked, r->n);
  return r->value == NULL || r->valid == NULL;
}

FlStatus fl_rolling_min(FlRolling *r) { return pick(r, LEAST); }
FlStatus fl_rolling_max(FlRolling *r) { return pick(r, GREATEST); }
FlStatus fl_rolling_first(FlRolling *r) { return pick(r, FIRST); }
FlStatus fl_rolling_last(FlRolling *r) { return pick(r, LAST); }
