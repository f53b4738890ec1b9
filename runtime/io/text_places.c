/* text_places.c: see text_places.h. */
#include "io/text_places.h"
#include "data/text_order.h"

#include <stdlib.h>

typedef struct Placed {
  FlText text;
  int64_t at; /* in the file's dictionary */
} Placed;

static int by_text(const void *x, const void *y) {
  return fl_text_order(((const Placed *)x)->text, ((const Placed *)y)->text);
}

FlDictionary *fl_text_places(FlCtx *ctx, const FlText *texts, int64_t n, uint32_t *place) {
  Placed *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
  FlDictionary *d = sorted ? fl_dictionary_new(ctx, n) : NULL;
  int64_t used = 0;
  for (int64_t k = 0; d && k < n; k++) sorted[k] = (Placed){texts[k], k};
  if (d) qsort(sorted, (size_t)n, sizeof *sorted, by_text);
  for (int64_t k = 0; d && k < n; k++) {
    if (k == 0 || by_text(&sorted[k - 1], &sorted[k]) != 0) d->texts[used++] = sorted[k].text;
    place[sorted[k].at] = (uint32_t)(used - 1);
  }
  if (d) d->n = used;
  free(sorted);
  return d;
}
