/* in_order.c: whether rows are in order already, or in the order that is turned over.
 *
 * Comes in: what reads the words of rows. Goes out: which way they go. Always holds: a chunk is left at the
 * first batch that shows that they go neither way, and so is each chunk that begins later. */
#include "part/part_internal.h"

typedef struct Ways {
  FlPartReadWords *read;
  const void *env;
  int64_t n;
  _Atomic int32_t falls, rises; /* some word is less than the one before; some is not */
} Ways;

static int32_t ways_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Ways *w = (Ways *)(uintptr_t)env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    fl_part_chunk(c, w->n, &from, &to);
    /* Batches overlap by a row, so that each pair of neighbours is in one. relaxed: the answer is read when
     * the loop is over. */
    for (int64_t row = fl_part_max(from - 1, 0); row + 1 < to; row += FL_PART_BATCH - 1) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row), falls = 0;
      w->read(w->env, row, n, word);
      for (int64_t i = 1; i < n; i++) falls += word[i] < word[i - 1];
      if (falls > 0) atomic_store_explicit(&w->falls, 1, memory_order_relaxed);
      if (falls < n - 1) atomic_store_explicit(&w->rises, 1, memory_order_relaxed);
      if (atomic_load_explicit(&w->falls, memory_order_relaxed) &&
          atomic_load_explicit(&w->rises, memory_order_relaxed))
        return 0;
    }
  }
  return 0;
}

/* Whether the first few rows show already that they go neither way, as they mostly do: what a batch of them
 * costs is felt where there are not many more. */
static bool are_mixed(FlPartReadWords *read, const void *env, int64_t n) {
  enum { FIRST = 16 };
  uint64_t word[FIRST];
  int64_t some = fl_part_min(FIRST, n), falls = 0;
  read(env, 0, some, word);
  for (int64_t i = 1; i < some; i++) falls += word[i] < word[i - 1];
  return falls > 0 && falls < some - 1;
}

FlStatus fl_part_in_order(FlCtx *ctx, FlPartReadWords *read, const void *env, int64_t n, int *way) {
  Ways w = {.read = read, .env = env, .n = n};
  *way = 0;
  if (are_mixed(read, env, n)) return 0;
  if (fl_part_for(ctx, ways_body, &w, fl_part_chunks(n), FL_PART_CHUNK) != 0) return 1;
  /* relaxed: the loop is over. */
  bool falls = atomic_load_explicit(&w.falls, memory_order_relaxed),
       rises = atomic_load_explicit(&w.rises, memory_order_relaxed);
  *way = !falls ? 1 : !rises ? -1 : 0;
  return 0;
}
