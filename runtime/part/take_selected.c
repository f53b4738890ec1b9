/* take_selected.c: rows by their numbers, of columns that are the rows which a filter keeps of others and are
 * not copied yet (data/unwritten.h).
 *
 * Comes in: what `take` is given. Goes out: the rows, taken from those other columns, by numbers that say
 * where a row is there. Always holds: what is taken is what it would be of the copies; where some number is
 * no row they are made, and that is told as ever. */
#include "part/fill.h"
#include "part/selection.h"
#include "part/take_internal.h"

/* ---- numbers ------------------------------------------------------------------------------------------ */

typedef struct Through {
  const FlSelected *by;
  const uint32_t *rows; /* of the selection; NULL: few are asked, each by itself */
  const int64_t *wide;  /* the numbers, or */
  const uint32_t *narrow;
  int64_t least, n; /* that are rows: from `least` on, and less than n */
  int64_t *to;
  _Atomic bool bad; /* some number is none */
} Through;

static int32_t through_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Through *t = (Through *)(uintptr_t)env;
  bool bad = false;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    int64_t at = t->wide != NULL ? t->wide[i] : t->narrow[i] == UINT32_MAX ? -1 : (int64_t)t->narrow[i];
    bool row = at >= 0 && at < t->n;
    bad |= !row && (at < t->least || at >= t->n);
    if (!row) t->to[i] = -1;
    else
      t->to[i] = t->rows != NULL ? t->rows[t->by->first + at]
                                 : fl_selection_row(t->by->selection, t->by->first + at);
  }
  if (bad) atomic_store_explicit(&t->bad, true, memory_order_relaxed);
  return 0;
}

/* Where the rows are from which an array of n is selected. NULL: recorded, or *bad: some number is no row. */
static FlArray *numbers_through(FlCtx *ctx, const FlSelected *by, const FlArray *numbers, bool or_zero,
                                int64_t n, bool *bad) {
  enum { FEW = 64 }; /* of so many rows one */
  int64_t m = numbers->dims[0];
  bool narrow = numbers->dtype == FL_U32, few = m < n / FEW;
  Through t = {.by = by, .least = or_zero ? -1 : 0, .n = n};
  t.wide = narrow ? NULL : numbers->data;
  t.narrow = narrow ? numbers->data : NULL;
  if (!few && (t.rows = fl_part_selection_rows(ctx, by->selection)) == NULL) return NULL;
  FlArray *to = fl_array_new(ctx, FL_I64, 1, &m);
  if (to == NULL) return NULL;
  t.to = to->data;
  FlStatus s = fl_part_for(ctx, through_body, &t, m, few ? 200.0 : 2.0);
  *bad = s == 0 && atomic_load_explicit(&t.bad, memory_order_relaxed);
  if (s == 0 && !*bad) return to;
  fl_array_unref(to);
  return NULL;
}

/* ---- arrays ------------------------------------------------------------------------------------------- */

typedef struct Group {
  FlCtx *ctx;
  const FlOpDesc *desc;
  FlSlot *args, *results; /* of those that are taken together: the numbers, and arrays */
  int32_t *of;            /* which results they are */
  int32_t n;
} Group;

static void add(Group *g, int32_t of, FlArray *a) {
  g->of[g->n] = of;
  g->args[++g->n].a = a;
}

/* Takes those of the group, by these numbers. */
static FlStatus take_group(Group *g, FlArray *numbers, int64_t how, FlSlot *results) {
  FlOpDesc part = *g->desc;
  part.n_args = g->n + 1;
  part.n_results = g->n;
  part.i = how;
  g->args[0].a = numbers;
  FlStatus s = g->n > 0 ? fl_take_plain(g->ctx, &part, g->args, g->results) : 0;
  for (int32_t k = 0; k < g->n && s == 0; k++) results[g->of[k]] = g->results[k];
  return s;
}

/* Those that are selected as array k is; of them `from` is given back and empty then. *bad: some number is no
 * row, and nothing was taken. */
static FlStatus take_through(Group *g, FlSelected *from, const FlSlot *args, int32_t k, FlSlot *results,
                             bool *bad) {
  const FlSelected by = from[k]; /* given back with the others */
  const int32_t n_arrays = g->desc->n_args - 1;
  FlArray *numbers =
      numbers_through(g->ctx, &by, args[0].a, g->desc->i & FL_TAKE_OR_ZERO, args[1 + k].a->dims[0], bad);
  if (numbers == NULL) return 1;
  for (int32_t j = k; j < n_arrays; j++)
    if (from[j].from != NULL && from[j].selection == by.selection && from[j].first == by.first &&
        args[1 + j].a->dims[0] == args[1 + k].a->dims[0])
      add(g, j, from[j].from);
  FlStatus s = take_group(g, numbers, g->desc->i | FL_TAKE_PROVEN | FL_TAKE_LAST, results);
  fl_array_unref(numbers);
  for (; g->n > 0; g->n--) {
    FlSelected *taken = &from[g->of[g->n - 1]];
    fl_selected_return(*taken);
    taken->from = NULL;
  }
  return s;
}

static FlStatus take_all(Group *g, FlSelected *from, const FlSlot *args, FlSlot *results) {
  const int32_t n_arrays = g->desc->n_args - 1;
  FlStatus s = 0;
  for (int32_t k = 0; k < n_arrays && s == 0; k++) {
    bool bad = false;
    if (from[k].from != NULL) s = take_through(g, from, args, k, results, &bad);
    if (!bad) continue;
    s = fl_part_fill(g->ctx, args[1 + k].a);
    fl_selected_return(from[k]);
    from[k].from = NULL;
  }
  for (int32_t k = 0; k < n_arrays && s == 0; k++)
    if (results[k].a == NULL) add(g, k, args[1 + k].a);
  return s == 0 ? take_group(g, args[0].a, g->desc->i, results) : s;
}

FlStatus fl_take_selected(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  const int32_t n = desc->n_args - 1;
  FlSelected *from = fl_part_zalloc(&mem, n, sizeof *from);
  Group g = {.ctx = ctx,
             .desc = desc,
             .args = fl_part_zalloc(&mem, n + 1, sizeof *g.args),
             .results = fl_part_zalloc(&mem, n, sizeof *g.results),
             .of = fl_part_zalloc(&mem, n, sizeof *g.of)};
  bool room = from != NULL && g.args != NULL && g.results != NULL && g.of != NULL;
  for (int32_t k = 0; k < n; k++) results[k].a = NULL;
  for (int32_t k = 0; k < n && room; k++) from[k] = fl_selected_borrow(args[1 + k].a);
  FlStatus s = room ? take_all(&g, from, args, results) : 1;
  for (int32_t k = 0; k < n && room; k++) fl_selected_return(from[k]);
  for (int32_t k = 0; k < n && s != 0; k++) fl_array_unref(results[k].a);
  fl_part_mem_reset(&mem);
  return s;
}
