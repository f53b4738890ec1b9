/* table_read.c: the columns of a file, of which some are to be those of a matrix, row by row.
 *
 * In: a format, a file, what is wanted of it. Out: arrays, and matrices, each owned by the first of its
 * columns. What always holds: where a format says how many rows there are, and lays them itself, no column of
 * a matrix is in memory by itself; where it cannot, or something is wrong, the file is read into columns,
 * which says what, and these are laid side by side. */
#include "io/tables.h"
#include "data/data.h"
#include "data/lay.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>

static bool no_memory(const FlTableFrom *from, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", from->path);
}

/* The matrices of `rows` rows; each of their columns has them. false: no memory. */
static bool make_matrices(FlCtx *ctx, FlTableWanted *wanted, int32_t n, int64_t rows) {
  for (int32_t k = 0; k < n; k++) {
    FlTableWanted *w = &wanted[k];
    if (w->place) w->values = w[-1].values;
    else w->values = fl_array_new(ctx, w->dtype, 2, (int64_t[]){rows, w->width});
    if (!w->values) return false;
  }
  return true;
}

/* Only the first column of each owns it. */
static void own_matrices(FlTableWanted *wanted, int32_t n) {
  for (int32_t k = 0; k < n; k++)
    if (wanted[k].place) wanted[k].values = NULL;
}

static void reset_all(FlTableWanted *wanted, int32_t n) {
  for (int32_t k = 0; k < n; k++) fl_table_wanted_reset(&wanted[k]);
}

/* ---- by the format ------------------------------------------------------------------------------------ */

/* The first n_alone columns are arrays, the others of matrices. false: none is owned. */
static bool read_opened(FlCtx *ctx, const FlTableParts *how, void *file, const FlTableFrom *from,
                        FlTableWanted *wanted, int32_t n_alone, int32_t n, int64_t rows, FlIoError *e) {
  FlTableWanted *of = wanted + n_alone;
  int64_t read = rows;
  if (n_alone && !how->part(ctx, file, -1, wanted, n_alone, &read, e)) return false;
  bool ok = read == rows || fl_io_error(e, FL_E_VALUE, "the file has other rows");
  ok = ok && (make_matrices(ctx, of, n - n_alone, rows) || no_memory(from, e));
  ok = ok && how->read_rows(ctx, file, 0, rows, of, n - n_alone, e) && how->end(file, from->path, e);
  own_matrices(of, n - n_alone);
  if (!ok) reset_all(wanted, n);
  return ok;
}

/* In the order in which read_opened takes them, or back. */
static int32_t sort(FlTableWanted *wanted, FlTableWanted *sorted, int32_t n, bool back) {
  int32_t n_alone = 0, at = 0;
  for (int32_t k = 0; k < n; k++) n_alone += wanted[k].width == 0;
  for (int32_t k = 0, of = n_alone; k < n; k++) {
    FlTableWanted *to = &sorted[wanted[k].width ? of++ : at++];
    if (back) wanted[k] = *to;
    else *to = wanted[k];
  }
  return n_alone;
}

/* *done: false: the format does not, or something is wrong with the file. */
static bool read_laid(FlCtx *ctx, const FlTableParts *how, const FlTableFrom *from, FlTableWanted *wanted,
                      int32_t n, int64_t *n_rows, bool *done, FlIoError *e) {
  int64_t n_parts;
  FlTableWanted *sorted = calloc((size_t)n + 1, sizeof *sorted);
  if (!sorted) return no_memory(from, e);
  int32_t n_alone = sort(wanted, sorted, n, false);
  void *file = how->open(ctx, from, wanted, n, &n_parts, e);
  *n_rows = file ? how->rows(file) : -1;
  *done = *n_rows >= 0 && read_opened(ctx, how, file, from, sorted, n_alone, n, *n_rows, e);
  if (*done) sort(wanted, sorted, n, true);
  if (file) how->close(file);
  free(sorted);
  return e->code != FL_E_MEMORY && e->code != FL_E_CHANGED;
}

/* ---- by columns --------------------------------------------------------------------------------------- */

/* Columns of a matrix, which are arrays, become those of one. */
static bool lay(FlCtx *ctx, FlTableWanted *first, int64_t rows) {
  const int64_t width = first->width, size = fl_dtype_info[first->dtype].bytes;
  FlArray *out = fl_array_new(ctx, first->dtype, 2, (int64_t[]){rows, width});
  for (int64_t k = 0; out && k < width; k++) {
    fl_lay(first[k].values->data, rows, size, width, (char *)out->data + k * size);
    fl_table_wanted_reset(&first[k]);
  }
  first->values = out ? out : first->values;
  return out != NULL;
}

static bool read_columns(FlCtx *ctx, const FlTableReader *reader, const FlTableFrom *from,
                         FlTableWanted *wanted, int32_t n, int64_t *n_rows, FlIoError *e) {
  if (!reader->read(ctx, from, wanted, n, n_rows, e)) return false;
  bool ok = true;
  for (int32_t k = 0; k < n && ok; k++)
    if (wanted[k].width && !wanted[k].place) ok = lay(ctx, &wanted[k], *n_rows);
  if (ok) return true;
  reset_all(wanted, n);
  return no_memory(from, e);
}

bool fl_table_read(FlCtx *ctx, const FlTableReader *reader, const FlTableFrom *from, FlTableWanted *wanted,
                   int32_t n, int64_t *n_rows, FlIoError *e) {
  bool laid = false, done = false;
  for (int32_t k = 0; k < n; k++) laid |= wanted[k].width > 0;
  if (laid && reader->parts && reader->parts->rows) {
    if (!read_laid(ctx, reader->parts, from, wanted, n, n_rows, &done, e)) return false;
    if (done) return true;
    *e = (FlIoError){0};
  }
  return read_columns(ctx, reader, from, wanted, n, n_rows, e);
}
