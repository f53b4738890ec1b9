/* rolling_internal.h: what the files of the rolling aggregates share: windows that move along the positions
 * of each group.
 *
 * The window of position p is [lo, hi) of its group's positions: the last `width` of them up to p, or with a
 * column `by` all whose value is in (by - width, by]. Both ends only move on within a group. */
#ifndef FL_PART_ROLLING_INTERNAL_H
#define FL_PART_ROLLING_INTERNAL_H

#include "part/window_internal.h"

typedef struct FlRolling {
  FlPartMem *m;
  const FlOpDesc *desc;
  int64_t n, g;
  const int64_t *rows;  /* [n] by position; NULL: positions are rows */
  const int64_t *start; /* [g + 1] */
  int64_t width, least; /* values that a window must hold */
  const int64_t *by;    /* [n] by position, or NULL */
  const uint8_t *by_valid;
  FlPartCol x;   /* by position */
  FlArray *from; /* the column as it was given */
  int64_t block; /* positions of a task */
  FlArray *value, *valid;
  _Atomic int64_t *overflow; /* first row whose sum does not fit */
} FlRolling;

/* A window on its way through the positions of a block. */
typedef struct FlWindow {
  int64_t k, first, end; /* the group and its positions */
  int64_t lo, hi;
} FlWindow;

/* The windows of the positions from p on: before the first call of fl_window_move. */
FlWindow fl_window_open(const FlRolling *r, int64_t p);
/* The window of p, which is one more than before. true: p begins a group. */
bool fl_window_move_by(const FlRolling *r, FlWindow *w, int64_t p);
void fl_window_enter(const FlRolling *r, FlWindow *w, int64_t p); /* p's group, with an empty window */
static inline bool fl_window_move(const FlRolling *r, FlWindow *w, int64_t p) {
  if (r->by != NULL) return fl_window_move_by(r, w, p);
  bool begins = p >= w->end;
  if (begins) fl_window_enter(r, w, p);
  w->lo = fl_part_max(w->first, p - r->width + 1);
  w->hi = p + 1;
  return begins;
}

static inline int64_t fl_rolling_row(const FlRolling *r, int64_t p) {
  return r->rows != NULL ? r->rows[p] : p;
}
/* The positions that the windows of the block [from, to) reach over: [*lo, *hi). */
void fl_rolling_reach(const FlRolling *r, int64_t from, int64_t to, int64_t *lo, int64_t *hi);

/* Runs body(r, from, to) for each block of positions; a body fails only for want of memory. */
typedef int32_t FlRollingBody(FlRolling *r, int64_t from, int64_t to);
FlStatus fl_rolling_blocks(FlRolling *r, FlRollingBody *body, double cost);

/* Each makes r->value and r->valid. */
typedef FlStatus FlRollingFn(FlRolling *r);
/* In rolling.c (count any all), rolling_sum.c, rolling_var.c, rolling_pick.c (min to last),
 * rolling_quantile.c. */
#define FL_AGG_ROLLS_YES(fn) FlRollingFn fn;
#define FL_AGG_ROLLS_NO(fn)
#define FL_AGG_ROW(NAME, text, COLUMNS, RESULT, NULLS, STATE, SWEEP, SLOPE, SETTING, ROLLS)                  \
  FL_AGG_ROLLS_##ROLLS(fl_rolling_##text)
#include "flow/aggregates.def"
#undef FL_AGG_ROW
#undef FL_AGG_ROLLS_YES
#undef FL_AGG_ROLLS_NO

/* The column by position as integers of 64 bits (u64 as it is, 0 under null). NULL: error recorded. */
const int64_t *fl_rolling_ints(FlRolling *r);

/* Infinities and NaN among the values of a window. */
typedef struct FlSpecials {
  int64_t nan, plus, minus;
} FlSpecials;
static inline void fl_specials_add(FlSpecials *s, double x, int64_t by) {
  if (x != x) s->nan += by;
  else if (x > 0) s->plus += by;
  else s->minus += by;
}
static inline bool fl_specials_any(const FlSpecials *s) { return (s->nan | s->plus | s->minus) != 0; }
static inline double fl_specials_sum(const FlSpecials *s) {
  if (s->nan > 0 || (s->plus > 0 && s->minus > 0)) return NAN;
  return s->plus > 0 ? INFINITY : -INFINITY;
}
/* The base (fl_fixed_base) with which sums of the finite among n doubles fit. */
int fl_rolling_base(const double *x, int64_t n);

/* New result arrays of desc's type. */
FlStatus fl_rolling_results(FlRolling *r);
/* The column by position as doubles (0 under null). NULL: error recorded. */
const double *fl_rolling_doubles(FlRolling *r);

#endif
