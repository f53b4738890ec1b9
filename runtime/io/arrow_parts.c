/* arrow_parts.c: Arrow files that are read part by part (table_parts.c).
 *
 * What always holds: parts come from the file alone: some of its batches each, or rows of one that is large
 * and not packed. Columns that lie in one batch as arrays are used where they are. A dictionary is read with
 * each part, so where it is large, parts are. */
#include "io/arrow.h"
#include "io/tables.h"
#include "data/data.h"
#include "data/lay.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a part: as many as a cache holds of some columns. A dictionary's values, times so much, are less.
 */
enum { FL_PART_ROWS = 1 << 16, FL_PER_VALUE = 16 };

/* So many parts are at hand at a time, or fewer: pages of those before are no longer needed. They are given
 * back so many parts at a time, as other threads have to forget where they were. */
enum { FL_AT_HAND = 16, FL_AT_ONCE = 16 };

typedef struct ArrowParts {
  FlInput in;
  FlArrowFile file;
  char *path;
  int64_t *first; /* [n_parts + 1] row of each part */
  int64_t n_parts;
} ArrowParts;

static void close_parts(void *file) {
  ArrowParts *p = file;
  fl_arrow_close(&p->file);
  fl_input_close(&p->in);
  free(p->first);
  free(p->path);
  free(p);
}

/* Rows of a part at least, but of the last. */
static int64_t least_rows(const FlArrowFile *f, const FlTableWanted *wanted, int32_t n, FlIoError *e) {
  int64_t least = FL_PART_ROWS;
  for (int32_t i = 0; i < n; i++) {
    const FlArrowField *field = &f->root.children[fl_arrow_field_find(&f->root, &wanted[i], f->label, e)];
    int64_t values = 0;
    for (int32_t k = 0; field->dictionary && k < f->n_dictionaries; k++)
      if (f->dictionaries[k].id == field->dictionary_id) values += f->dictionaries[k].values.n_rows;
    if (values > least / FL_PER_VALUE)
      least = values < INT64_MAX / FL_PER_VALUE ? values * FL_PER_VALUE : INT64_MAX;
  }
  return least;
}

static void end_part(ArrowParts *p, int64_t row) {
  if (row > p->first[p->n_parts]) p->first[++p->n_parts] = row;
}

/* Parts end where batches do, or within those that need not be unpacked, where bits of one byte stay
 * together. */
static bool cut(ArrowParts *p, int64_t least, FlIoError *e) {
  int64_t most = p->file.n_rows / least + p->file.n_batches + 1;
  p->first = malloc(((size_t)most + 1) * sizeof *p->first);
  if (!p->first) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", p->path);
  p->first[0] = 0;
  for (int32_t k = 0; k < p->file.n_batches; k++) {
    const FlArrowBatch *b = &p->file.batches[k];
    int64_t end = b->first_row + b->n_rows;
    if (end - p->first[p->n_parts] > 2 * least) end_part(p, b->first_row);
    for (int64_t row = b->first_row + least; !b->codec && end - row >= least; row += least) end_part(p, row);
    if (end - p->first[p->n_parts] >= least) end_part(p, end);
  }
  end_part(p, p->file.n_rows);
  return true;
}

static void *open_file(FlCtx *ctx, const FlTableFrom *from, const FlTableWanted *wanted, int32_t n,
                       int64_t *n_parts, FlIoError *e) {
  ArrowParts *p = calloc(1, sizeof *p);
  if (p) p->in.fd = -1;
  bool ok = p && (p->path = strdup(from->path)) != NULL;
  if (!ok) fl_io_error(e, FL_E_MEMORY, "out of memory while reading files");
  ok = ok && fl_input_open(ctx, p->path, &p->in, e) && fl_arrow_open(&p->in, p->path, true, &p->file, e) &&
       fl_arrow_check(&p->file, wanted, n, e) && cut(p, least_rows(&p->file, wanted, n, e), e);
  if (ok) *n_parts = p->n_parts;
  if (!ok && p) close_parts(p);
  return ok ? p : NULL;
}

/* The first batch that ends behind the row. */
static int32_t batch_behind(const FlArrowFile *f, int64_t row) {
  int32_t from = 0, to = f->n_batches;
  while (from < to) {
    const int32_t mid = from + (to - from) / 2;
    const FlArrowBatch *b = &f->batches[mid];
    if (b->first_row + b->n_rows > row) to = mid;
    else from = mid + 1;
  }
  return from;
}

/* Pages of batches that end in FL_AT_ONCE parts before this one need not be in memory until somebody reads
 * them again: when the file is closed, one thread would give them all back. */
static void let_rest(const ArrowParts *p, int64_t part) {
  if (part < FL_AT_ONCE || part % FL_AT_ONCE != 0) return;
  const int32_t first = batch_behind(&p->file, p->first[part - FL_AT_ONCE]),
                last = batch_behind(&p->file, p->first[part]);
  const FlArrowBatch *from = &p->file.batches[first], *to = from + (last - first - 1);
  if (first < last)
    fl_buffer_rest_range(p->in.buffer, (const char *)from->body, (const char *)to->body + to->body_size);
}

static bool read_part(FlCtx *ctx, void *file, int64_t part, FlTableWanted *wanted, int32_t n, int64_t *rows,
                      FlIoError *e) {
  const ArrowParts *p = file;
  int64_t first = part < 0 ? 0 : p->first[part], last = part < 0 ? p->file.n_rows : p->first[part + 1];
  *rows = last - first;
  let_rest(p, part - FL_AT_HAND);
  return fl_arrow_read_rows(ctx, &p->file, first, last - first, wanted, n, e);
}

static int64_t n_rows(void *file) {
  const ArrowParts *p = file;
  return p->file.n_rows;
}

/* `place`: which column of them, where they are of a matrix. */
static void copy_rows(const FlArray *from, FlArray *to, int64_t row, int32_t place) {
  int64_t size = fl_dtype_info[to->dtype].bytes, width = fl_array_row_count(to);
  fl_lay(from->data, from->dims[0], size, width, (char *)to->data + (row * width + place) * size);
}

/* Rows [from, to) of the file. */
typedef struct Rows {
  FlCtx *ctx;
  const ArrowParts *p;
  int64_t from, to;
  const FlTableWanted *wanted;
  int32_t n;
  _Atomic int failed; /* FL_E_..; 0: nothing did */
} Rows;

static int copy_part(const Rows *r, int64_t from, int64_t to, FlTableWanted *some) {
  FlIoError e = {0};
  memcpy(some, r->wanted, (size_t)r->n * sizeof *some);
  if (!fl_arrow_read_rows(r->ctx, &r->p->file, from, to - from, some, r->n, &e)) return e.code;
  for (int32_t k = 0; k < r->n; k++) {
    copy_rows(some[k].values, r->wanted[k].values, from, some[k].place);
    if (some[k].valid) copy_rows(some[k].valid, r->wanted[k].valid, from, 0);
    fl_table_wanted_reset(&some[k]);
  }
  return 0;
}

static void copy_parts(void *env, int64_t begin, int64_t end, int worker) {
  Rows *r = env;
  FlTableWanted *some = malloc((size_t)(r->n + 1) * sizeof *some);
  (void)worker;
  if (!some) atomic_store(&r->failed, FL_E_MEMORY);
  for (int64_t k = begin; k < end && !atomic_load(&r->failed); k++) {
    const int64_t *first = r->p->first + k, from = first[0] > r->from ? first[0] : r->from,
                  to = first[1] < r->to ? first[1] : r->to;
    int bad = from < to ? copy_part(r, from, to, some) : 0;
    if (bad) atomic_store(&r->failed, bad);
  }
  free(some);
}

static bool read_rows(FlCtx *ctx, void *file, int64_t from, int64_t to, const FlTableWanted *wanted,
                      int32_t n, FlIoError *e) {
  const ArrowParts *p = file;
  Rows r = {.ctx = ctx, .p = p, .from = from, .to = to, .wanted = wanted, .n = n};
  fl_parallel_for(ctx, p->n_parts, 1, copy_parts, &r);
  int failed = atomic_load(&r.failed);
  return !failed || fl_io_error(e, failed, "rows are not read by themselves");
}

static bool end_file(void *file, const char *path, FlIoError *e) {
  const ArrowParts *p = file;
  return fl_input_check(&p->in, path, e);
}

const FlTableParts fl_arrow_parts = {open_file, read_part, n_rows, read_rows, end_file, close_parts};
