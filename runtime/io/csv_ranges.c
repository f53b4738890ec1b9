/* csv_ranges.c: the body of a CSV text cut into ranges of whole rows.
 *
 * Method: chunks of fixed size are counted in parallel for both cases, beginning inside or outside of quotes;
 * then one pass over the counts decides which case each is, where its last row ends and how many rows came
 * before. Where quotes do not fit, the rows of the chunk are found one by one (csv_quotes.c), and its range
 * is marked. Quoted fields of many lines are looked at afterwards, in parallel; when one may hold rows, the
 * pass is done again and stops at each of them. What always holds: rows are those of csv_quotes.c, whatever
 * the size of chunks. */
#include "io/csv_internal.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdlib.h>

typedef struct FlCounting {
  const char *body;
  int64_t len, chunk;
  char sep;
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
    c->scan->count(c->body + at, n, c->sep, c->quote, at ? c->body[at - 1] : '\n', &c->counts[k]);
    if (c->rests) fl_buffer_rest_range(c->rests, c->body + at, c->body + at + n);
  }
}

/* The pass over the chunks: what is known where one begins. */
typedef struct FlCutting {
  const FlCsvFile *f;
  FlCsvWay way;
  int64_t most;      /* line ends in a field, from which on it is looked at closely; INT64_MAX: never */
  int64_t next;      /* where the last row begins that may not have ended */
  int64_t known;     /* its last byte, where that is known; else -1 */
  int64_t lines;     /* line ends in the quoted field that is open */
  bool inside;       /* whether the chunk begins in quotes */
  bool broken;       /* the row at `next` is one whose quotes do not fit */
  bool quotes, wide; /* in what belongs to the next range */
  int64_t rows;
  FlCsvRange *ranges;
  int32_t found;
  bool long_fields; /* of a range: some field has `long_from` line ends */
  int64_t long_from;
  bool *is_long; /* of each range */
} FlCutting;

static void add_range(FlCutting *c, const FlCsvCount *at, int64_t end, int64_t rows, bool broken) {
  c->is_long[c->found] = c->long_fields && !broken;
  c->ranges[c->found++] = (FlCsvRange){.begin = c->next,
                                       .end = end,
                                       .first_row = c->rows,
                                       .n_rows = rows,
                                       .quotes = c->quotes,
                                       .wide = c->wide,
                                       .broken = broken};
  c->rows += rows;
  c->next = end;
  c->quotes = at->quotes; /* the rest of this chunk belongs to the next range */
  c->wide = at->wide;
  c->long_fields = false;
}

/* The rows that end before `end`, one by one; what is left is the beginning of the row at `next`. */
static void cut_closely(FlCutting *c, const FlCsvCount *count, int64_t end) {
  int64_t rows = 0, at = c->next;
  c->known = -1;
  c->inside = c->broken = false;
  c->lines = 0;
  while (at < end) {
    FlCsvRow row = fl_csv_row_at(c->f->text, c->f->len, c->way, at, NULL);
    if (row.end >= end) {
      c->known = row.end;
      c->broken = row.why != FL_CSV_OK;
      break;
    }
    rows++;
    at = row.end + 1;
  }
  if (rows) add_range(c, count, at, rows, true);
  for (; !c->broken && at < end; at++) {
    c->inside ^= c->f->text[at] == c->way.quote && c->way.quote;
    c->lines += c->inside && c->f->text[at] == '\n';
  }
}

static void cut_chunk(FlCutting *c, const FlCsvCount *at, int64_t begin, int64_t end) {
  const FlCsvQuotes *seen = &at->seen[c->inside];
  c->quotes |= at->quotes;
  c->wide |= at->wide;
  if (c->known >= end) { /* the row goes on */
    c->inside ^= at->odd;
    return;
  }
  int64_t first = c->lines + seen->first, most = first > seen->most ? first : seen->most;
  if (c->broken || seen->bad || most >= c->most) {
    cut_closely(c, at, end);
    return;
  }
  c->known = -1;
  c->lines = seen->closed ? seen->rest : first;
  c->long_fields |= most >= c->long_from;
  if (at->lines[c->inside]) add_range(c, at, begin + at->last[c->inside] + 1, at->lines[c->inside], false);
  c->long_fields = c->long_fields || most >= c->long_from; /* it may be in what belongs to the next range */
  c->inside ^= at->odd;
}

/* Ranges of all chunks; closely: with a look at each quoted field of many lines. */
static void cut_all(FlCutting *c, const FlCounting *n, int64_t n_chunks, bool closely) {
  FlCutting now = {.f = c->f,
                   .way = c->way,
                   .next = c->f->body,
                   .known = -1,
                   .most = closely ? fl_csv_most_lines(c->way) : INT64_MAX,
                   .long_from = closely ? INT64_MAX : fl_csv_most_lines(c->way),
                   .ranges = c->ranges,
                   .is_long = c->is_long};
  for (int64_t k = 0; k < n_chunks; k++) {
    int64_t begin = c->f->body + k * n->chunk,
            end = begin + n->chunk < c->f->len ? begin + n->chunk : c->f->len;
    cut_chunk(&now, &n->counts[k], begin, end);
    if (end == c->f->len && now.next < end) cut_closely(&now, &n->counts[k], end); /* a quote is open */
  }
  *c = now;
}

typedef struct FlLookingClosely {
  const FlCutting *c;
  _Atomic bool found;
} FlLookingClosely;

static void look_closely(void *env, int64_t begin, int64_t end, int worker) {
  FlLookingClosely *l = env;
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    const FlCsvRange *r = &l->c->ranges[k];
    /* relaxed: one answer for all, read when all are done */
    for (int64_t at = r->begin; l->c->is_long[k] && at < r->end;) {
      FlCsvRow row = fl_csv_row_at(l->c->f->text, l->c->f->len, l->c->way, at, NULL);
      if (row.why != FL_CSV_OK) {
        atomic_store_explicit(&l->found, true, memory_order_relaxed);
        return;
      }
      at = row.end + 1;
    }
  }
}

/* Whether a quoted field of the ranges that were cut at first sight is taken for rows. */
static bool any_quoted_rows(FlCtx *ctx, const FlCutting *c) {
  FlLookingClosely l = {.c = c};
  bool any = false;
  atomic_init(&l.found, false);
  for (int32_t k = 0; k < c->found; k++) any = any || c->is_long[k];
  if (any) fl_parallel_for(ctx, c->found, 1, look_closely, &l);
  return atomic_load(&l.found);
}

FlCsvRange *fl_csv_ranges(FlCtx *ctx, const FlCsvFile *f, const FlCsvOptions *o, const FlCsvScan *scan,
                          int64_t chunk, int32_t *n_ranges, int64_t *n_rows, FlIoError *e) {
  int64_t len = f->len - f->body, n = (len + chunk - 1) / chunk;
  FlCounting counting = {
      f->text + f->body,        len, chunk, o->sep, o->quoting ? (unsigned char)o->quote : -1, scan, NULL,
      f->rests ? f->keep : NULL};
  FlCutting c = {.f = f, .way = fl_csv_way(o, f->n_columns)};
  if (n < INT32_MAX) {
    counting.counts = calloc((size_t)n + 1, sizeof *counting.counts);
    c.ranges = calloc((size_t)n + 2, sizeof *c.ranges); /* one more: an open quote at the end */
    c.is_long = calloc((size_t)n + 2, sizeof *c.is_long);
  }
  if (counting.counts && c.ranges && c.is_long) {
    fl_parallel_for(ctx, n, 1, count_chunks, &counting);
    cut_all(&c, &counting, n, false);
    if (any_quoted_rows(ctx, &c)) cut_all(&c, &counting, n, true);
    *n_ranges = c.found;
    *n_rows = c.rows;
  } else {
    free(c.ranges);
    c.ranges = NULL;
    fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  }
  free(counting.counts);
  free(c.is_long);
  return c.ranges;
}
