/* parquet_parts.c: Parquet files that are read part by part (table_parts.c), or as a whole by the same way.
 *
 * What always holds: parts come from the file alone: a group of rows each, or some of its rows where these
 * stand in it as they are, if all columns that are wanted are of those that are read here; else there is one
 * part. Where anything is not as it is read here, DuckDB reads it, and says what is wrong. */
#include "io/parquet.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct ParquetParts {
  FlInput in;
  FlParquetFile file;
  char *path;
  bool opened;
  bool here;      /* all columns that are wanted are read here */
  int64_t *first; /* row of each part, and behind the last */
  int32_t n_parts;
} ParquetParts;

static void close_parts(void *file) {
  ParquetParts *p = file;
  fl_parquet_close(&p->file);
  fl_input_close(&p->in);
  free(p->first);
  free(p->path);
  free(p);
}

/* How many of the columns, from the first on, are read here. */
static int32_t n_read(const ParquetParts *p, const FlTableWanted *wanted, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    const FlParquetColumn *c = fl_parquet_find(&p->file, wanted[k].name, wanted[k].name_len);
    if (!c || !fl_parquet_reads(&p->file, c, &wanted[k])) return k;
  }
  return n;
}

/* Whether any rows of the group can be read at no more than what they are. */
static bool is_plain(const FlParquetFile *f, int32_t group, const FlTableWanted *wanted, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    const FlParquetColumn *c = fl_parquet_find(f, wanted[k].name, wanted[k].name_len);
    const FlParquetChunk *chunk = &f->chunks[(int64_t)group * f->n_leaves + c->leaf];
    if (!chunk->plain || !fl_parquet_width(c) || (c->nullable && chunk->nulls != 0)) return false;
  }
  return true;
}

/* Parts of plain groups have as many rows as a cache holds of some columns. */
static bool cut(ParquetParts *p, const FlTableWanted *wanted, int32_t n) {
  enum { ROWS = 1 << 16 };
  const int64_t *first = p->file.first;
  int64_t most = first[p->file.n_groups] / ROWS + p->file.n_groups + 1;
  p->first = most < INT32_MAX ? malloc((size_t)most * sizeof *p->first) : NULL;
  if (!p->first) return false;
  p->first[0] = 0;
  for (int32_t k = 0; k < p->file.n_groups; k++) {
    int64_t rows = first[k + 1] - first[k], pieces = is_plain(&p->file, k, wanted, n) ? rows / ROWS : 1;
    for (int64_t j = 1; j < pieces; j++) p->first[++p->n_parts] = first[k] + rows / pieces * j;
    if (rows > 0) p->first[++p->n_parts] = first[k + 1];
  }
  return true;
}

static bool open_input(FlCtx *ctx, ParquetParts *p, FlIoError *e) {
  struct stat found;
  int fd = fl_input_ordinary(p->path, &found, e); /* DuckDB opens it anew */
  if (fd < 0) return false;
  close(fd);
  return fl_input_open(ctx, p->path, &p->in, e);
}

static void *open_file(FlCtx *ctx, const FlTableFrom *from, const FlTableWanted *wanted, int32_t n,
                       int64_t *n_parts, FlIoError *e) {
  ParquetParts *p = calloc(1, sizeof *p);
  if (p) p->in.fd = -1;
  bool ok = p && (p->path = strdup(from->path)) != NULL;
  if (!ok) fl_io_error(e, FL_E_MEMORY, "out of memory while reading files");
  ok = ok && open_input(ctx, p, e);
  if (!ok && p) close_parts(p);
  if (!ok) return NULL;
  p->opened = fl_parquet_open(&p->in, &p->file);
  p->here = p->opened && n_read(p, wanted, n) == n;
  if (p->here && !cut(p, wanted, n)) {
    fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", p->path);
    close_parts(p);
    return NULL;
  }
  *n_parts = p->here ? p->n_parts : 1;
  return p;
}

/* ---- a part ------------------------------------------------------------------------------------------- */

/* What is read: rows [from, to), of groups [group, group + n_groups), of the wanted columns. */
typedef struct Reading {
  FlCtx *ctx;
  const ParquetParts *p;
  int32_t group, n_groups;
  int64_t from, to;
  int64_t first; /* row of the file that is row 0 of the arrays */
  FlTableWanted *wanted;
  FlHeap **heaps; /* one a column of texts */
  _Atomic int failed;
  _Atomic int32_t column; /* one that failed */
} Reading;

/* Those of a group. */
static FlParquetRows rows_of(const Reading *r, int64_t group) {
  const int64_t *first = r->p->file.first + group;
  return (FlParquetRows){.first = first[0] - r->first,
                         .from = r->from > first[0] ? r->from - first[0] : 0,
                         .to = (r->to < first[1] ? r->to : first[1]) - first[0]};
}

static void take_chunks(void *env, int64_t begin, int64_t end, int worker) {
  Reading *r = env;
  const FlParquetFile *f = &r->p->file;
  (void)worker;
  for (int64_t k = begin; k < end && !atomic_load(&r->failed); k++) {
    int64_t column = k / r->n_groups, group = r->group + k % r->n_groups;
    FlTableWanted *w = &r->wanted[column];
    const FlParquetColumn *c = fl_parquet_find(f, w->name, w->name_len);
    int bad = fl_parquet_take(r->ctx, &r->p->in, c, &f->chunks[group * f->n_leaves + c->leaf],
                              r->heaps[column], w, rows_of(r, group));
    if (bad) atomic_store(&r->column, (int32_t)column);
    if (bad) atomic_store(&r->failed, bad);
  }
}

static bool make_columns(Reading *r, int32_t n, int64_t rows) {
  for (int32_t k = 0; k < n; k++) {
    FlTableWanted *w = &r->wanted[k];
    if (!fl_table_make(r->ctx, w, rows, 0)) return false;
    if (w->dtype != FL_TEXT) continue;
    r->heaps[k] = fl_heap_new(r->ctx);
    if (!r->heaps[k] || fl_array_keep(r->ctx, w->values, r->heaps[k], NULL, 0) != 0) return false;
  }
  return true;
}

/* Nothing points into the file: its pages need not be in memory any more. Of some rows of a group they are
 * about where these are. */
static void let_rest(const Reading *r, int32_t n) {
  const FlParquetFile *f = &r->p->file;
  for (int32_t k = 0; k < n; k++) {
    const FlParquetColumn *c = fl_parquet_find(f, r->wanted[k].name, r->wanted[k].name_len);
    for (int32_t g = r->group; g < r->group + r->n_groups; g++) {
      const FlParquetChunk *chunk = &f->chunks[(int64_t)g * f->n_leaves + c->leaf];
      const char *at = r->p->in.data + chunk->offset;
      const FlParquetRows rows = rows_of(r, g);
      if (rows.from >= rows.to) continue;
      const double row = (double)chunk->bytes / (double)(f->first[g + 1] - f->first[g]);
      fl_buffer_rest_range(r->p->in.buffer, at + (int64_t)(row * (double)rows.from),
                           at + (int64_t)(row * (double)rows.to));
    }
  }
}

/* Reads groups here; false: FL_E_MEMORY, or something is not as it is read here. */
static bool read_groups(Reading *r, int32_t n, int64_t rows, FlIoError *e) {
  r->heaps = calloc((size_t)n + 1, sizeof *r->heaps);
  bool ok = r->heaps && make_columns(r, n, rows);
  int failed = ok ? 0 : FL_E_MEMORY;
  if (ok) fl_parallel_for(r->ctx, (int64_t)n * r->n_groups, 1, take_chunks, r);
  if (ok) failed = atomic_load(&r->failed);
  if (ok) let_rest(r, n);
  for (int32_t k = 0; r->heaps && k < n; k++) fl_heap_unref(r->heaps[k]);
  for (int32_t k = 0; failed && k < n; k++) fl_table_wanted_reset(&r->wanted[k]);
  free(r->heaps);
  if (failed == FL_E_MEMORY) fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", r->p->path);
  return !failed;
}

static bool read_part(FlCtx *ctx, void *file, int64_t part, FlTableWanted *wanted, int32_t n, int64_t *rows,
                      FlIoError *e) {
  const ParquetParts *p = file;
  bool all = part < 0 || !p->here;
  int64_t first = 0, count = -1;
  int32_t column = p->opened ? n_read(p, wanted, n) : n;
  if (p->here) {
    Reading r = {.ctx = ctx,
                 .p = p,
                 .n_groups = all ? p->file.n_groups : 1,
                 .first = all ? 0 : p->first[part],
                 .to = p->first[all ? p->n_parts : part + 1],
                 .wanted = wanted};
    while (!all && p->file.first[r.group + 1] <= r.first) r.group++;
    r.from = first = r.first;
    *rows = count = r.to - first;
    if (read_groups(&r, n, count, e)) return true;
    if (e->code == FL_E_MEMORY) return false;
    column = atomic_load(&r.column);
  }
  if (fl_parquet_ask(ctx, p->path, first, all ? -1 : count, wanted, n, rows, e)) return true;
  if (column < n) fl_parquet_needed_for(p->path, wanted[column].name, wanted[column].name_len, e);
  return false;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static int64_t n_rows(void *file) {
  const ParquetParts *p = file;
  return p->here ? p->file.first[p->file.n_groups] : -1;
}

/* To where they stand in arrays of all. Of groups at the ends others have some rows. */
static bool read_rows(FlCtx *ctx, void *file, int64_t from, int64_t to, const FlTableWanted *wanted,
                      int32_t n, FlIoError *e) {
  const ParquetParts *p = file;
  const int64_t *first = p->file.first;
  Reading r = {.ctx = ctx, .p = p, .from = from, .to = to};
  while (r.group < p->file.n_groups && first[r.group + 1] <= from) r.group++;
  while (r.group + r.n_groups < p->file.n_groups && first[r.group + r.n_groups] < to) r.n_groups++;
  FlTableWanted *all = malloc((size_t)(n + 1) * sizeof *all);
  r.heaps = calloc((size_t)n + 1, sizeof *r.heaps); /* of texts: none */
  int failed = all && r.heaps ? 0 : FL_E_MEMORY;
  for (int32_t at = 0, of; !failed && at < n; at += of) {
    of = fl_table_beside(wanted + at, n - at);
    r.wanted = memcpy(all + at, wanted + at, (size_t)of * sizeof *all);
    if (r.wanted->width) {
      failed = fl_parquet_lay(ctx, &p->in, &p->file, r.wanted, from, to);
    } else {
      fl_parallel_for(ctx, (int64_t)of * r.n_groups, 1, take_chunks, &r);
      failed = atomic_load(&r.failed);
    }
  }
  r.wanted = all;
  if (!failed) let_rest(&r, n);
  free(all);
  free(r.heaps);
  if (failed == FL_E_MEMORY) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", p->path);
  return !failed || fl_io_error(e, FL_E_VALUE, "rows are read as a whole"); /* which finds what is wrong */
}

static bool end_file(void *file, const char *path, FlIoError *e) {
  const ParquetParts *p = file;
  return fl_input_check(&p->in, path, e);
}

const FlTableParts fl_parquet_parts = {open_file, read_part, n_rows, read_rows, end_file, close_parts};
