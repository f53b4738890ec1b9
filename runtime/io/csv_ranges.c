/* csv_ranges.c: the body of a CSV text cut into ranges of whole rows.
 *
 * Method: chunks of fixed size are counted in parallel for both cases, beginning inside or outside of quotes;
 * then one pass over the counts decides which case each is, where its last row ends and how many rows came
 * before. */
#include "io/csv_internal.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdlib.h>

typedef struct FlCounting {
  const char *body;
  int64_t len, chunk;
  int quote;
  const FlCsvScan *scan;
  FlCsvCount *counts;
  FlBuffer *rests; /* NULL: it stays */
} FlCounting;

static void count_chunks(void *env, int64_t begin, int64_t end, int worker) {
  FlCounting *c = env;
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    int64_t at = k * c->chunk, n = c->len - at < c->chunk ? c->len - at : c->chunk;
    c->scan->count(c->body + at, n, c->quote, &c->counts[k]);
    if (c->rests) fl_buffer_rest_range(c->rests, c->body + at, c->body + at + n);
  }
}

FlCsvRange *fl_csv_ranges(FlCtx *ctx, const FlCsvFile *f, const FlCsvOptions *o, const FlCsvScan *scan,
                          int64_t chunk, int32_t *n_ranges, int64_t *n_rows, int64_t *open_quote,
                          FlIoError *e) {
  int64_t len = f->len - f->body, n = (len + chunk - 1) / chunk;
  FlCounting c = {f->text + f->body,        len, chunk, o->quoting ? (unsigned char)o->quote : -1, scan, NULL,
                  f->rests ? f->keep : NULL};
  FlCsvRange *ranges = NULL;
  if (n < INT32_MAX) {
    c.counts = calloc((size_t)n + 1, sizeof *c.counts);
    ranges = calloc((size_t)n + 1, sizeof *ranges);
  }
  if (!c.counts || !ranges) {
    free(c.counts);
    free(ranges);
    fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
    return NULL;
  }
  fl_parallel_for(ctx, n, 1, count_chunks, &c);
  int32_t found = 0, inside = 0;
  int64_t rows = 0, next = f->body;
  bool quotes = false, wide = false;
  for (int64_t k = 0; k < n; k++) {
    const FlCsvCount *at = &c.counts[k];
    quotes |= at->quotes;
    wide |= at->wide;
    if (at->lines[inside]) {
      int64_t end = f->body + k * chunk + at->last[inside] + 1;
      ranges[found++] = (FlCsvRange){.begin = next,
                                     .end = end,
                                     .first_row = rows,
                                     .n_rows = at->lines[inside],
                                     .quotes = quotes,
                                     .wide = wide};
      rows += at->lines[inside];
      next = end;
      quotes = at->quotes; /* the rest of this chunk belongs to the next range */
      wide = at->wide;
    }
    inside ^= at->odd;
  }
  free(c.counts);
  *n_ranges = found;
  *n_rows = rows;
  *open_quote = next < f->len ? next : -1;
  return ranges;
}
