/* csv_ranges.c: the body of a CSV text cut into ranges of whole rows.
 *
 * Method: chunks of fixed size are counted for both cases, beginning inside or outside of quotes, by any
 * thread and in any order; one pass over the counts, chunk by chunk as far as they are there, decides which
 * case each is, where its last row ends and how many rows came before. Where quotes do not fit, or a quoted
 * field of many lines may hold rows, the rows of the chunk are found one by one (csv_quotes.c), and a range
 * of which some do not fit is marked. So whoever reads a file part by part has each part counted when it is
 * to be read, while it is at hand. What always holds: rows are those of csv_quotes.c, whatever the size of
 * chunks and whoever asks first. */
#include "io/csv_internal.h"
#include "data/data.h"
#include "exec/exec.h"

#include <pthread.h>
#include <stdlib.h>

struct FlCsvCuts {
  const FlCsvFile *f;
  const FlCsvScan *scan;
  FlCsvWay way;
  char sep;
  int quote;
  int64_t chunk, n_chunks;
  pthread_mutex_t lock; /* of all that follows */
  pthread_cond_t counted;
  FlCsvCount *counts; /* of each chunk */
  bool *is_counted;
  int64_t claimed, cut; /* chunks before this one are counted by somebody; are in ranges */
  /* what is known where the next chunk begins */
  int64_t next;      /* where the last row begins that may not have ended */
  int64_t known;     /* its last byte, where that is known; else -1 */
  int64_t lines;     /* line ends in the quoted field that is open */
  bool inside;       /* whether the chunk begins in quotes */
  bool broken;       /* the row at `next` is one whose quotes do not fit */
  bool quotes, wide; /* in what belongs to the next range */
  int64_t rows;
  FlCsvRange *ranges;
  int32_t n_ranges;
  int32_t *first; /* of each chunk, and behind the last: its first range */
};

/* ---- from counts to ranges ---------------------------------------------------------------------------- */

static void add_range(FlCsvCuts *c, const FlCsvCount *at, int64_t end, int64_t rows, bool broken) {
  c->ranges[c->n_ranges++] = (FlCsvRange){.begin = c->next,
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
}

/* The rows that end before `end`, one by one; what is left is the beginning of the row at `next`. */
static void cut_closely(FlCsvCuts *c, const FlCsvCount *count, int64_t end) {
  int64_t rows = 0, at = c->next;
  bool broken = false;
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
    broken = broken || row.why != FL_CSV_OK;
    rows++;
    at = row.end + 1;
  }
  if (rows) add_range(c, count, at, rows, broken);
  for (; !c->broken && at < end; at++) {
    c->inside ^= c->f->text[at] == c->way.quote && c->way.quote;
    c->lines += c->inside && c->f->text[at] == '\n';
  }
}

static void cut_chunk(FlCsvCuts *c, const FlCsvCount *at, int64_t begin, int64_t end) {
  const FlCsvQuotes *seen = &at->seen[c->inside];
  c->quotes |= at->quotes;
  c->wide |= at->wide;
  if (c->known >= end) { /* the row goes on */
    c->inside ^= at->odd;
    return;
  }
  int64_t first = c->lines + seen->first, most = first > seen->most ? first : seen->most;
  if (c->broken || seen->bad || most >= fl_csv_most_lines(c->way)) {
    cut_closely(c, at, end);
    return;
  }
  c->known = -1;
  c->lines = seen->closed ? seen->rest : first;
  if (at->lines[c->inside]) add_range(c, at, begin + at->last[c->inside] + 1, at->lines[c->inside], false);
  c->inside ^= at->odd;
}

/* ---- counting ----------------------------------------------------------------------------------------- */

static int64_t begin_of(const FlCsvCuts *c, int64_t chunk) {
  int64_t at = c->f->body + chunk * c->chunk;
  return at < c->f->len ? at : c->f->len;
}

/* The lock is held: the chunks that can be cut are. */
static void cut_counted(FlCsvCuts *c) {
  for (; c->cut < c->n_chunks && c->is_counted[c->cut]; c->cut++) {
    int64_t begin = begin_of(c, c->cut), end = begin_of(c, c->cut + 1);
    const FlCsvCount *count = &c->counts[c->cut];
    cut_chunk(c, count, begin, end);
    if (end == c->f->len && c->next < end) cut_closely(c, count, end); /* a quote is open */
    c->first[c->cut + 1] = c->n_ranges;
  }
}

/* Counts the first chunk that nobody has; the lock is held, but not meanwhile. stays: its first chunk whose
 * text is wanted soon. */
static void count_one(FlCsvCuts *c, int64_t stays) {
  int64_t k = c->claimed++, begin = begin_of(c, k), end = begin_of(c, k + 1);
  const char *s = c->f->text + begin;
  pthread_mutex_unlock(&c->lock);
  fl_buffer_come(c->f->keep, s, c->f->text + end);
  c->scan->count(s, end - begin, c->sep, c->quote, k ? s[-1] : '\n', &c->counts[k]);
  if (c->f->rests && k < stays) fl_buffer_rest_range(c->f->keep, s, c->f->text + end);
  pthread_mutex_lock(&c->lock);
  c->is_counted[k] = true;
  cut_counted(c);
  pthread_cond_broadcast(&c->counted);
}

static void count_some(void *env, int64_t begin, int64_t end, int worker) {
  FlCsvCuts *c = env;
  (void)worker;
  pthread_mutex_lock(&c->lock);
  for (int64_t k = begin; k < end; k++) count_one(c, 0);
  pthread_mutex_unlock(&c->lock);
}

/* ---- together ----------------------------------------------------------------------------------------- */

FlCsvCuts *fl_csv_cuts_new(const FlCsvFile *f, const FlCsvOptions *o, const FlCsvScan *scan, int64_t chunk,
                           FlIoError *e) {
  int64_t n = (f->len - f->body + chunk - 1) / chunk;
  FlCsvCuts *c = n < INT32_MAX - 2 ? calloc(1, sizeof *c) : NULL;
  if (c) {
    *c = (FlCsvCuts){.f = f, .scan = scan, .way = fl_csv_way(o, f->n_columns), .sep = o->sep};
    c->quote = o->quoting ? (unsigned char)o->quote : -1;
    c->chunk = chunk;
    c->n_chunks = n;
    c->next = f->body;
    c->known = -1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->counted, NULL);
    c->counts = calloc((size_t)n + 1, sizeof *c->counts);
    c->is_counted = calloc((size_t)n + 1, sizeof *c->is_counted);
    c->ranges = calloc((size_t)n + 2, sizeof *c->ranges); /* one more: an open quote at the end */
    c->first = calloc((size_t)n + 1, sizeof *c->first);
    if (c->counts && c->is_counted && c->ranges && c->first) return c;
  }
  fl_csv_cuts_free(c);
  fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  return NULL;
}

void fl_csv_cuts_free(FlCsvCuts *c) {
  if (!c) return;
  for (int32_t k = 0; c->ranges && k < c->n_ranges; k++) free(c->ranges[k].rejects);
  free(c->counts);
  free(c->is_counted);
  free(c->ranges);
  free(c->first);
  pthread_mutex_destroy(&c->lock);
  pthread_cond_destroy(&c->counted);
  free(c);
}

int64_t fl_csv_chunks(const FlCsvCuts *c) { return c->n_chunks; }

const FlCsvRange *fl_csv_ranges_of(FlCsvCuts *c, int64_t from, int64_t to, int32_t *n) {
  to = to < c->n_chunks ? to : c->n_chunks;
  pthread_mutex_lock(&c->lock);
  while (c->cut < to) {
    if (c->claimed < to) count_one(c, from);
    else pthread_cond_wait(&c->counted, &c->lock);
  }
  *n = c->first[to] - c->first[from];
  pthread_mutex_unlock(&c->lock);
  return c->ranges + c->first[from];
}

FlCsvRange *fl_csv_ranges_all(FlCtx *ctx, FlCsvCuts *c, int32_t *n, int64_t *n_rows) {
  fl_parallel_for(ctx, c->n_chunks - c->claimed, 1, count_some, c);
  *n = c->n_ranges;
  *n_rows = c->rows;
  return c->ranges;
}
