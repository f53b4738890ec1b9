/* parquet_beside.c: columns of a Parquet file that are laid side by side as they are read.
 *
 * In: rows of the file, the columns of a matrix. Out: those rows of the matrix, a strip of it after the
 * other, each of which a cache holds. What always holds: values are those that parquet_column.c gives of the
 * columns. Rows are cut into pieces by the file alone: where groups of rows, and pages of the first column,
 * begin; a page of another one that two pieces share is unpacked for both. */
#include "io/parquet.h"
#include "data/data.h"
#include "data/lay.h"
#include "exec/exec.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { PIECE = 1 << 16 }; /* rows of a piece at least */

typedef struct Laying {
  FlCtx *ctx;
  const FlInput *in;
  const FlParquetFile *file;
  FlTableWanted *wanted;
  const FlParquetColumn **columns;
  int64_t from, to, strip, size;
  int64_t *cuts; /* rows of the file where pieces begin, and where the last one ends */
  int32_t n_pieces;
  _Atomic int failed;
} Laying;

static const FlParquetChunk *chunk_of(const Laying *l, int32_t group, int32_t k) {
  return &l->file->chunks[(int64_t)group * l->file->n_leaves + l->columns[k]->leaf];
}

/* ---- pieces ------------------------------------------------------------------------------------------- */

static bool add_cut(Laying *l, int64_t row) {
  int64_t *cuts = realloc(l->cuts, (size_t)(l->n_pieces + 2) * sizeof *cuts);
  if (!cuts) return false;
  l->cuts = cuts;
  l->cuts[++l->n_pieces] = row;
  return true;
}

/* Within a group, whose rows begin at `first`. What is damaged is found when it is read. */
static bool cut_group(Laying *l, int32_t group, int64_t first, int64_t end) {
  const FlParquetChunk *chunk = chunk_of(l, group, 0);
  const uint8_t *at = (const uint8_t *)l->in->data + chunk->offset;
  FlThrift t = {at, at + chunk->bytes, false};
  FlParquetPage page;
  for (int64_t row = first; row < end && fl_parquet_page(&t, &page);) {
    if (page.dictionary) continue;
    if (row - l->cuts[l->n_pieces] >= PIECE && end - row >= PIECE && !add_cut(l, row)) return false;
    row += page.n_values;
  }
  return add_cut(l, end);
}

static bool cut(Laying *l) {
  const int64_t *first = l->file->first;
  l->cuts = malloc(sizeof *l->cuts);
  if (!l->cuts) return false;
  l->cuts[0] = l->from;
  for (int32_t k = 0; k < l->file->n_groups; k++) {
    int64_t end = first[k + 1] < l->to ? first[k + 1] : l->to;
    if (first[k + 1] > l->from && first[k] < end && !cut_group(l, k, first[k], end)) return false;
  }
  return true;
}

/* ---- strips ------------------------------------------------------------------------------------------- */

static int lay_strips(const Laying *l, FlParquetValues **of, int64_t from, int64_t to) {
  const int64_t width = l->wanted->width;
  _Alignas(uint64_t) char column[FL_LAY_MOST * sizeof(uint64_t)];
  for (int64_t row = from, n; row < to; row += n) {
    n = to - row < l->strip ? to - row : l->strip;
    char *out = (char *)l->wanted->values->data + row * width * l->size;
    for (int64_t k = 0; k < width; k++, out += l->size) {
      int bad = fl_parquet_values_next(of[k], n, column);
      if (bad) return bad;
      fl_lay(column, n, l->size, width, out);
    }
  }
  return 0;
}

static int lay_piece(const Laying *l, FlParquetValues **of, int64_t from, int64_t to) {
  int32_t group = 0, width = l->wanted->width;
  int bad = 0;
  while (l->file->first[group + 1] <= from) group++;
  for (int32_t k = 0; k < width; k++) {
    of[k] = fl_parquet_values_open(l->ctx, l->in, l->columns[k], chunk_of(l, group, k), &l->wanted[k],
                                   from - l->file->first[group]);
    if (!of[k]) bad = FL_E_MEMORY;
  }
  if (!bad) bad = lay_strips(l, of, from, to);
  for (int32_t k = 0; k < width; k++) fl_parquet_values_close(of[k]);
  return bad;
}

static void lay_pieces(void *env, int64_t begin, int64_t end, int worker) {
  Laying *l = env;
  (void)worker;
  FlParquetValues **of = calloc((size_t)l->wanted->width, sizeof *of);
  if (!of) atomic_store(&l->failed, FL_E_MEMORY);
  for (int64_t k = begin; k < end && !atomic_load(&l->failed); k++) {
    int bad = lay_piece(l, of, l->cuts[k], l->cuts[k + 1]);
    if (bad) atomic_store(&l->failed, bad);
  }
  free(of);
}

int fl_parquet_lay(FlCtx *ctx, const FlInput *in, const FlParquetFile *f, FlTableWanted *wanted, int64_t from,
                   int64_t to) {
  const int32_t width = wanted->width;
  Laying l = {.ctx = ctx, .in = in, .file = f, .wanted = wanted, .from = from, .to = to};
  l.size = fl_dtype_info[wanted->dtype].bytes;
  l.strip = fl_lay_strip(width * l.size);
  l.columns = calloc((size_t)width, sizeof *l.columns);
  bool ok = l.columns != NULL;
  for (int32_t k = 0; k < width && ok; k++)
    l.columns[k] = fl_parquet_find(f, wanted[k].name, wanted[k].name_len);
  ok = ok && cut(&l);
  if (ok) fl_parallel_for(ctx, l.n_pieces, 1, lay_pieces, &l);
  free(l.cuts);
  free(l.columns);
  return ok ? atomic_load(&l.failed) : FL_E_MEMORY;
}
