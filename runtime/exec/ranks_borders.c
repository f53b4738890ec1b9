/* ranks_borders.c: units of elements over rows that are in parts between ranks, and folds of such units.
 *
 * In: rows of which each rank has some, and a unit: a block of 4096 elements, a leaf of a fold of rows, a
 * tile of a product. Out: who runs which unit, the rows that he lacks, and the sum of what all gave. What
 * always holds: a unit is run whole, by the rank that has its first element; what is sent of a fold are the
 * largest complete subtrees of its tree, which all join as one rank does, and so to the same bits. */
#include "exec/ranks_borders.h"

#include "kern/kern.h"

#include <string.h>

/* ---- who runs what, and what he lacks --------------------------------------------------------------- */

/* The first element of rank k's rows. */
static int64_t row_at(const FlBorders *b, int32_t k) { return b->each * b->cut->at[k]; }

int64_t fl_borders_begin(const FlBorders *b, int32_t k) {
  int64_t at = (row_at(b, k) + b->unit - 1) / b->unit * b->unit;
  return at < b->n ? at : b->n;
}

/* The rank that runs the first element of rank k's rows, which is not k. */
static int32_t runner_of(const FlBorders *b, int32_t k) {
  int64_t unit = row_at(b, k) / b->unit * b->unit;
  int32_t runner = 0;
  while (fl_borders_begin(b, runner + 1) <= unit) runner++;
  return runner;
}

/* The first element behind those of rank k's rows that another rank runs. */
static int64_t border_end(const FlBorders *b, int32_t k) {
  int64_t end = fl_borders_begin(b, k), own = row_at(b, k + 1);
  return end < own ? end : own;
}

/* Rows up to the one in which element `at` is not the first. */
static int64_t row_end(const FlBorders *b, int64_t at) { return b->each ? (at + b->each - 1) / b->each : 0; }

bool fl_borders_cross(const FlBorders *b) {
  for (int32_t k = 1; k < b->cut->n; k++)
    if (row_at(b, k) % b->unit && row_at(b, k) < b->n) return true;
  return false;
}

FlStatus fl_borders_bring(const FlBorders *b, FlArray *a) {
  FlRanks *r = b->ctx->ranks;
  if (fl_dtype_is_text(a->dtype) && fl_borders_cross(b))
    return fl_fail_text(b->ctx, -1, FL_CODE_INTERNAL, "bug in flow: rows of texts are sent to another rank");
  int64_t width = fl_array_row_count(a), size = width * fl_dtype_info[a->dtype].bytes;
  FlStatus s =
      fl_array_open_rows(b->ctx, a, fl_cut_from(b->cut), row_end(b, fl_borders_begin(b, r->here + 1)));
  bool fine = true;
  for (int32_t k = 1; k < r->n && fine; k++) {
    int64_t from = b->cut->at[k], to = row_end(b, border_end(b, k));
    if (to <= from) continue;
    bool room = k == r->here || (runner_of(b, k) == r->here && !s);
    fine = fl_ranks_send(r, k, room ? (char *)a->data + from * size : NULL, (to - from) * size);
  }
  return fine ? s : fl_rows_lost(b->ctx);
}

bool fl_borders_return(const FlBorders *b, FlArray *a) {
  FlRanks *r = b->ctx->ranks;
  int64_t each = b->each > 0 ? b->each : 1;
  int64_t size = fl_array_row_count(a) / each * fl_dtype_info[a->dtype].bytes;
  bool fine = true;
  for (int32_t k = 1; k < r->n && fine; k++) {
    int64_t from = row_at(b, k), to = border_end(b, k);
    if (to <= from) continue;
    int32_t runner = runner_of(b, k);
    bool room = k == r->here || runner == r->here;
    fine = fl_ranks_send(r, runner, room ? (char *)a->data + from * size : NULL, (to - from) * size);
  }
  return fine;
}

void fl_borrow_rows(const FlArray *a, int64_t from, int64_t to, FlArray *view) {
  *view = *a;
  view->data = (char *)a->data + from * fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes;
  view->dims[0] = to - from;
}

/* ---- folds ------------------------------------------------------------------------------------------ */

int32_t fl_subtrees_of(int64_t begin, int64_t end, FlSubtree *out) {
  int32_t n = 0;
  for (int64_t size = 1; begin < end; begin += size) {
    size = 1;
    while (begin % (2 * size) == 0 && begin + 2 * size <= end) size *= 2;
    out[n++] = (FlSubtree){begin, size};
  }
  return n;
}

static int64_t leaf_of(const FlBorders *b, int32_t k) {
  return (fl_borders_begin(b, k) + b->unit - 1) / b->unit;
}

int32_t fl_borders_subtrees(const FlBorders *b, int32_t k, FlSubtree *out) {
  return fl_subtrees_of(leaf_of(b, k), leaf_of(b, k + 1), out);
}

int64_t fl_borders_subtrees_before(const FlBorders *b, int32_t k) {
  FlSubtree trees[FL_SUBTREES];
  int64_t n = 0;
  while (k-- > 0) n += fl_borders_subtrees(b, k, trees);
  return n;
}

/* left[i] += right[i]; false: a sum of integers has no place. */
#define ADD(T)                                                                                               \
  {                                                                                                          \
    T *x = left;                                                                                             \
    const T *y = right;                                                                                      \
    for (int64_t i = 0; i < n; i++) x[i] += y[i];                                                            \
    return true;                                                                                             \
  }

static bool add(int32_t dtype, void *left, const void *right, int64_t n) {
  if (dtype == FL_F64) ADD(double)
  if (dtype == FL_F32) ADD(float)
  int64_t *x = left;
  const int64_t *y = right;
  bool over = false;
  for (int64_t i = 0; i < n; i++) over |= __builtin_add_overflow(x[i], y[i], &x[i]);
  return !over;
}

void fl_one_nan(int32_t dtype, void *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (dtype == FL_F64) ((double *)x)[i] = fl_s_canon_f64(((double *)x)[i]);
    else if (dtype == FL_F32) ((float *)x)[i] = fl_s_canon_f32(((float *)x)[i]);
  }
}

/* A subtree that is not yet part of a larger one, and where its sum is. */
typedef struct Standing {
  FlSubtree tree;
  char *at;
} Standing;

static bool join(const FlBorders *b, int32_t dtype, int64_t width, char *states, char *out) {
  bool fits = true;
  int64_t bytes = width * fl_dtype_info[dtype].bytes;
  Standing stack[FL_SUBTREES];
  int32_t n = 0;
  for (int32_t k = 0; k < b->cut->n; k++) {
    FlSubtree trees[FL_SUBTREES];
    int32_t own = fl_borders_subtrees(b, k, trees);
    for (int32_t i = 0; i < own; i++, states += bytes) {
      stack[n++] = (Standing){trees[i], states};
      for (; n > 1; n--) { /* two that are halves of one */
        Standing *left = &stack[n - 2], *right = &stack[n - 1];
        if (left->tree.n != right->tree.n || left->tree.leaf % (2 * left->tree.n)) break;
        fits &= add(dtype, left->at, right->at, width);
        left->tree.n *= 2;
      }
    }
  }
  for (; n > 1; n--) fits &= add(dtype, stack[n - 2].at, stack[n - 1].at, width);
  memcpy(out, stack[0].at, (size_t)bytes);
  fl_one_nan(dtype, out, width);
  return fits;
}

FlStatus fl_borders_sum(const FlBorders *b, int32_t dtype, int64_t width, char *states, void *out,
                        bool *fits) {
  FlRanks *r = b->ctx->ranks;
  int64_t bytes = width * fl_dtype_info[dtype].bytes, at = 0;
  for (int32_t k = 0; k < r->n; k++) {
    FlSubtree trees[FL_SUBTREES];
    int64_t size = fl_borders_subtrees(b, k, trees) * bytes;
    if (size && !fl_ranks_send(r, k, states + at, size)) return fl_rows_lost(b->ctx);
    at += size;
  }
  *fits = join(b, dtype, width, states, out);
  return 0;
}

FlStatus fl_borders_fold(const FlBorders *b, int32_t site, int32_t dtype, int64_t width, char *states,
                         void *out, FlStatus failed) {
  FlCtx *ctx = b->ctx;
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = site,
                     .failed = !failed      ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY};
  bool fits;
  FlStatus s = fl_ranks_together(ctx, &mine);
  return s ? s : fl_borders_sum(b, dtype, width, states, out, &fits);
}
