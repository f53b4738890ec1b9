/* high.c: see high.h.
 *
 * `now` is what is held. Each thread has `high`, which everybody raises who takes bytes: the most that was
 * held since the thread put it back to what was held then; and `below`, which it alone writes: the most that
 * was held since the innermost thing began, as far as `high` does not say it. A beginning gives what both say
 * to whatever goes on around it, and an end gives it back.
 *
 * Orders: who takes bytes adds them to `now` and then looks at each `high`; a beginning puts `high` to 0 and
 * then looks at `now`. Both are seq_cst, so one of the two sees the other, and no rise is lost. Where `high`
 * is what is held now, it needs no other value. */
#include "base/high.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Of one thread, in a line of the cache by itself. */
typedef struct High {
  _Alignas(64) _Atomic int64_t high;
  _Atomic int64_t below;
} High;

struct FlHighs {
  _Alignas(64) _Atomic int64_t now;
  _Atomic int refs;
  int n;
  High of[];
};

FlHighs *fl_highs_new(int threads) {
  size_t n = threads > 0 ? (size_t)threads : 1, bytes = sizeof(FlHighs) + n * sizeof(High);
  FlHighs *h = aligned_alloc(64, bytes);
  if (!h) return NULL;
  atomic_init(&h->now, 0);
  atomic_init(&h->refs, 1);
  h->n = (int)n;
  for (size_t k = 0; k < n; k++) {
    atomic_init(&h->of[k].high, 0);
    atomic_init(&h->of[k].below, 0);
  }
  return h;
}

FlHighs *fl_highs_ref(FlHighs *h) {
  if (h) atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
  return h;
}

void fl_highs_unref(FlHighs *h) {
  /* acq_rel: the last one to leave sees all that the others did. */
  if (h && atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) == 1) free(h);
}

static void raise_to(_Atomic int64_t *high, int64_t bytes) {
  int64_t had = atomic_load(high);
  while (had < bytes && !atomic_compare_exchange_weak(high, &had, bytes)) continue;
}

void fl_highs_add(FlHighs *h, int64_t bytes) {
  if (!h) return;
  int64_t now = atomic_fetch_add(&h->now, bytes) + bytes;
  for (int k = 0; bytes > 0 && k < h->n; k++) raise_to(&h->of[k].high, now);
}

/* The most since the innermost thing of the thread began. */
static int64_t most_of(High *of) {
  int64_t high = atomic_load(&of->high), below = atomic_load_explicit(&of->below, memory_order_relaxed);
  return high > below ? high : below;
}

int64_t fl_highs_begin(FlHighs *h, int k) {
  if (!h) return 0;
  High *of = &h->of[k];
  int64_t begun = most_of(of);
  if (atomic_load(&of->high) != atomic_load(&h->now)) {
    int64_t high = atomic_exchange(&of->high, 0);
    if (high > begun) begun = high;
    raise_to(&of->high, atomic_load(&h->now));
  }
  atomic_store_explicit(&of->below, 0, memory_order_relaxed);
  return begun;
}

int64_t fl_highs_end(FlHighs *h, int k, int64_t begun) {
  if (!h) return 0;
  High *of = &h->of[k];
  int64_t most = most_of(of);
  atomic_store_explicit(&of->below, most > begun ? most : begun, memory_order_relaxed);
  return most;
}
