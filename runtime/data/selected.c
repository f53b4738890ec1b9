/* selected.c: columns of the rows that a filter keeps, which are copied when somebody needs them together.
 *
 * In: a column and which of its rows stay. Out: an unwritten array (unwritten.h) of these. What always holds:
 * the column and the selection live as long as some chunk is not written or somebody has borrowed them, and
 * no longer, so that a filter never holds both for long; the column is whole memory, or a file's. */
#include "data/kept_rows.h"
#include "data/unwritten_internal.h"

#include <stdlib.h>

/* ---- which rows stay ---------------------------------------------------------------------------------- */

FlSelection *fl_selection_new(FlCtx *ctx, FlArray *mask) {
  int64_t n = mask->dims[0], blocks = (n + FL_KEPT_BLOCK - 1) / FL_KEPT_BLOCK;
  FlSelection *s = malloc(sizeof *s + (size_t)blocks * sizeof *s->before);
  if (!s) return fl_data_no_memory(ctx, (int64_t)sizeof *s + blocks * (int64_t)sizeof *s->before);
  s->mask = fl_array_ref(mask);
  s->n = n;
  s->kept = 0;
  atomic_init(&s->refs, 1);
  atomic_init(&s->rows, NULL);
  return s;
}

FlSelection *fl_selection_ref(FlSelection *s) {
  atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
  return s;
}

void fl_selection_unref(FlSelection *s) {
  /* acq_rel: whoever frees sees every other owner's last use. */
  if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
  fl_array_unref(s->mask);
  fl_array_unref(atomic_load_explicit(&s->rows, memory_order_acquire));
  free(s);
}

int64_t fl_selection_row(const FlSelection *s, int64_t of) {
  int64_t lo = 0, hi = (s->n + FL_KEPT_BLOCK - 1) / FL_KEPT_BLOCK;
  if (of >= s->kept) return s->n;
  while (hi - lo > 1) { /* the last block before which at most `of` stay: it has the row */
    int64_t mid = lo + (hi - lo) / 2;
    if (s->before[mid] <= of) lo = mid;
    else hi = mid;
  }
  const uint8_t *mask = s->mask->data;
  enum { STEP = 64 };
  int64_t row = lo * FL_KEPT_BLOCK;
  of -= s->before[lo];
  for (int64_t here; row + STEP <= s->n && (here = fl_count_true(mask + row, STEP)) <= of; row += STEP)
    of -= here;
  while (of > 0 || !mask[row]) of -= mask[row++] != 0;
  return row;
}

int64_t fl_selection_before(const FlSelection *s, int64_t row) {
  if (row >= s->n) return s->kept;
  int64_t block = row / FL_KEPT_BLOCK, from = block * FL_KEPT_BLOCK;
  return s->before[block] + fl_count_true((const uint8_t *)s->mask->data + from, row - from);
}

/* ---- columns ------------------------------------------------------------------------------------------ */

static void copy_rows(const FlArray *from, const FlSelection *s, int64_t first, int64_t n, void *to) {
  fl_keep_rows(s->mask->data, s->n, fl_selection_row(s, first), from->data,
               (size_t)fl_dtype_info[from->dtype].bytes, false, n, to);
}

/* Some chunk is not written, so that both are there. */
static void write_rows(FlUnwritten *u, int64_t first, int64_t n, void *to) {
  copy_rows(u->from, u->selection, first, n, to);
}

static void one_less(FlUnwritten *u) {
  /* acq_rel: whoever lets them go sees every other borrower's last use. */
  if (atomic_fetch_sub_explicit(&u->borrowers, 1, memory_order_acq_rel) != 1) return;
  fl_array_unref(u->from);
  fl_selection_unref(u->selection);
}

static bool one_more(FlUnwritten *u) {
  int64_t n = atomic_load_explicit(&u->borrowers, memory_order_acquire);
  while (n > 0 && !atomic_compare_exchange_weak_explicit(&u->borrowers, &n, n + 1, memory_order_acq_rel,
                                                         memory_order_acquire)) {}
  return n > 0;
}

static bool read_rows(FlUnwritten *u, int64_t first, int64_t n, void *to) {
  if (!one_more(u)) return false;
  copy_rows(u->from, u->selection, first, n, to);
  one_less(u);
  return true;
}

static void all_written(FlUnwritten *u) { one_less(u); }

static void release_selected(FlUnwritten *u) {
  if (atomic_load_explicit(&u->left, memory_order_acquire) > 0) one_less(u);
}

static const FlUnwrittenHow selected = {write_rows, read_rows, all_written, release_selected};

FlArray *fl_array_new_selected(FlCtx *ctx, FlArray *from, FlSelection *s) {
  FlArray *a = fl_array_new_unwritten(ctx, s->kept, from, &selected);
  if (!a) return NULL;
  FlUnwritten *u = fl_unwritten_of(a);
  u->from = fl_array_ref(from);
  u->selection = fl_selection_ref(s);
  atomic_init(&u->borrowers, 1);
  return a;
}

FlSelected fl_selected_borrow(const FlArray *a) {
  FlUnwritten *u = fl_unwritten_of(a);
  if (!u || u->how != &selected || !one_more(u)) return (FlSelected){0};
  return (FlSelected){u->from, u->selection, fl_unwritten_first(a), fl_buffer_ref(&u->base)};
}

void fl_selected_return(FlSelected s) {
  if (!s.from) return;
  one_less((FlUnwritten *)s.of);
  fl_buffer_unref(s.of);
}
