/* cut.c: the cuts of a run; see cut.h.
 *
 * In: offsets. Out: the one cut that has them. Always holds: cuts are few, one for each way in which the rows
 * of some table were laid, so a list that is searched does. */
#include "data/cut.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Known {
  FlCut cut;
  struct Known *next;
  int64_t at[];
} Known;

struct FlCuts {
  pthread_mutex_t lock;
  int32_t n, here;
  Known *first;
};

FlCuts *fl_cuts_new(int32_t n, int32_t here) {
  FlCuts *cuts = calloc(1, sizeof *cuts);
  if (!cuts) return NULL;
  pthread_mutex_init(&cuts->lock, NULL);
  cuts->n = n;
  cuts->here = here;
  return cuts;
}

void fl_cuts_free(FlCuts *cuts) {
  if (!cuts) return;
  for (Known *k = cuts->first, *next; k; k = next) {
    next = k->next;
    free(k);
  }
  pthread_mutex_destroy(&cuts->lock);
  free(cuts);
}

/* Under the lock. */
static Known *add(FlCuts *cuts, const int64_t *at, size_t bytes) {
  Known *k = malloc(sizeof *k + bytes);
  if (!k) return NULL;
  memcpy(k->at, at, bytes);
  k->cut = (FlCut){cuts->n, cuts->here, k->at};
  k->next = cuts->first;
  return cuts->first = k;
}

const FlCut *fl_cut_of(FlCuts *cuts, const int64_t *at) {
  size_t bytes = (size_t)(cuts->n + 1) * sizeof *at;
  pthread_mutex_lock(&cuts->lock);
  Known *k = cuts->first;
  while (k && memcmp(k->at, at, bytes) != 0) k = k->next;
  if (!k) k = add(cuts, at, bytes);
  pthread_mutex_unlock(&cuts->lock);
  return k ? &k->cut : NULL;
}

const FlCut *fl_cut_even(FlCuts *cuts, int64_t rows) {
  int64_t *at = malloc((size_t)(cuts->n + 1) * sizeof *at);
  if (!at) return NULL;
  for (int32_t p = 0; p <= cuts->n; p++) {
    int64_t more = rows % cuts->n;
    at[p] = rows / cuts->n * p + (p < more ? p : more);
  }
  const FlCut *cut = fl_cut_of(cuts, at);
  free(at);
  return cut;
}
