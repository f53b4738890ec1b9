/* spare.c: see spare.h. */
#include "data/spare.h"

#include <string.h>
#include <sys/mman.h>

static size_t pages_of(const FlSpare *spare) { return spare->to - spare->from; }

static FlSpare remove_at(FlSpares *s, int k) {
  FlSpare spare = s->of[k];
  memmove(&s->of[k], &s->of[k + 1], (size_t)(--s->n - k) * sizeof *s->of);
  return spare;
}

/* Under the lock. */
static void drop_first(FlSpares *s) {
  FlSpare oldest = remove_at(s, 0);
  munmap(oldest.at, oldest.bytes);
}

void fl_spares_init(FlSpares *s) {
  *s = (FlSpares){0};
  pthread_mutex_init(&s->lock, NULL);
}

void fl_spares_close(FlSpares *s) {
  pthread_mutex_lock(&s->lock);
  s->closed = true;
  while (s->n > 0) drop_first(s);
  pthread_mutex_unlock(&s->lock);
}

void fl_spares_reset(FlSpares *s) { pthread_mutex_destroy(&s->lock); }

bool fl_spares_put(FlSpares *s, FlSpare spare) {
  if (!s || pages_of(&spare) == 0 || pages_of(&spare) > FL_SPARE_BYTES) return false;
  pthread_mutex_lock(&s->lock);
  bool kept = !s->closed && mprotect(spare.at, spare.bytes, PROT_NONE) == 0;
  size_t all = pages_of(&spare);
  for (int k = 0; k < s->n; k++) all += pages_of(&s->of[k]);
  while (kept && (s->n == FL_SPARES || all > FL_SPARE_BYTES)) {
    all -= pages_of(&s->of[0]);
    drop_first(s);
  }
  if (kept) s->of[s->n++] = spare;
  pthread_mutex_unlock(&s->lock);
  return kept;
}

bool fl_spares_take(FlSpares *s, size_t bytes, FlSpare *out) {
  if (!s) return false;
  pthread_mutex_lock(&s->lock);
  int k = s->n - 1;
  while (k >= 0 && s->of[k].bytes != bytes) k--;
  if (k >= 0) *out = remove_at(s, k);
  pthread_mutex_unlock(&s->lock);
  return k >= 0;
}
