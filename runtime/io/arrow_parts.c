/* arrow_parts.c: Arrow files that are read part by part (table_parts.c).
 *
 * What always holds: parts come from the file alone: some of its batches each, or rows of one that is large
 * and not packed. Columns that lie in one batch as arrays are used where they are. A dictionary is read with
 * each part, so where it is large, parts are. */
#include "io/arrow.h"
#include "io/tables.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a part: as many as a cache holds of some columns. A dictionary's values, times so much, are less.
 */
enum { FL_PART_ROWS = 1 << 16, FL_PER_VALUE = 16 };

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

static bool read_part(FlCtx *ctx, void *file, int64_t part, FlTableWanted *wanted, int32_t n, int64_t *rows,
                      FlIoError *e) {
  const ArrowParts *p = file;
  int64_t first = part < 0 ? 0 : p->first[part], last = part < 0 ? p->file.n_rows : p->first[part + 1];
  *rows = last - first;
  return fl_arrow_read_rows(ctx, &p->file, first, last - first, wanted, n, e);
}

static bool end_file(void *file, const char *path, FlIoError *e) {
  const ArrowParts *p = file;
  return fl_input_check(&p->in, path, e);
}

const FlTableParts fl_arrow_parts = {open_file, read_part, end_file, close_parts};
