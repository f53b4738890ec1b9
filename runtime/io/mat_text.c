/* mat_text.c: texts in MATLAB files of version 5: arrays of characters, and cells of them.
 *
 * A row of characters is a text; the blanks that fill several rows up are none of theirs. Stored are code
 * units of UTF-16 (types 4 and 17), UTF-8 (16) or code points of one byte (1 and 2), column by column. What
 * always holds: what is asked for is in proportion to what is stored. */
#include "io/mat_internal.h"
#include "io/hdf5_internal.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>

static const char damaged[] = "its texts are damaged",
                  other[] = "it is a cell array of other things than texts";

/* ---- shapes ------------------------------------------------------------------------------------------- */

/* Rows of characters, and characters in each; a matrix without any is one empty text. */
static int64_t rows_of(const FlMatrix *m, int64_t *columns) {
  int64_t rows = m->count ? m->dims[0] : 1;
  *columns = m->count / rows;
  return rows;
}

static const char *chars_shape(const FlMatrix *m) {
  if (m->rank != 2) return "it is a text of more than two dimensions";
  int64_t stored = m->data.n;
  switch (m->type) {
  case 1:
  case 2:
  case 16: break; /* UTF-8: as many bytes as characters, or more */
  case 4:
  case 17: stored /= 2; break;
  default: stored = -1;
  }
  return !m->count || stored >= m->count ? NULL : damaged;
}

/* The next of the cells, from *rest on. */
static const char *next_cell(FlMatBytes *rest, FlMatrix *cell) {
  FlMatElement e;
  if (!fl_mat_element(*rest, false, &e)) return damaged;
  *rest = fl_mat_behind(*rest, &e);
  if (e.type != FL_MAT_MATRIX) return damaged;
  memset(cell, 0, sizeof *cell);
  if (!e.data.n) return other; /* an empty cell */
  if (!fl_mat_matrix(e.data, false, cell)) return damaged;
  if (cell->form != FL_MAT_CHARS) return other;
  int64_t columns;
  const char *why = chars_shape(cell);
  return why ? why : rows_of(cell, &columns) > 1 ? "a cell of it holds a text of several rows" : NULL;
}

const char *fl_mat_text_shape(const FlMatrix *m, int32_t *rank, int64_t dims[FL_MAX_RANK]) {
  const char *why = NULL;
  if (m->form == FL_MAT_CELLS) {
    FlMatBytes rest = m->data;
    FlMatrix cell;
    *rank = m->rank;
    memcpy(dims, m->dims, sizeof m->dims);
    for (int64_t k = 0; !why && k < m->count; k++) why = next_cell(&rest, &cell);
    return why;
  }
  why = chars_shape(m);
  if (why) return why;
  int64_t columns;
  dims[0] = rows_of(m, &columns);
  *rank = dims[0] == 1 ? 0 : 1;
  return NULL;
}

/* ---- characters --------------------------------------------------------------------------------------- */

/* The code points of UTF-8, checked; how many, at most `room`. */
static int64_t points_of(const FlMatBytes *data, uint32_t *out, int64_t room) {
  int64_t n = 0;
  const unsigned char *s = (const unsigned char *)data->at, *end = s + data->n;
  while (s < end && n < room) {
    int bytes = *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
    uint32_t c = bytes == 1 ? *s : *s & (0x7fu >> bytes);
    for (int k = 1; k < bytes; k++) c = c << 6 | (s[k] & 0x3f);
    out[n++] = c;
    s += bytes;
  }
  return n;
}

/* All characters, in the file's order; *size: of units of what, as fl_utf8_of_units has it. NULL: why. */
static uint32_t *units_of(const FlMatrix *m, int *size, const char **why) {
  uint32_t *units = calloc((size_t)m->count + 1, sizeof *units);
  *why = units ? NULL : "there is no memory for it";
  if (!units) return NULL;
  bool utf8 = m->type == 16, wide = m->type == 4 || m->type == 17;
  *size = wide ? 2 : 4;
  if (utf8 && fl_utf8_check(m->data.at, m->data.n) == m->data.n) {
    if (points_of(&m->data, units, m->count) != m->count) *why = damaged;
  } else if (utf8) {
    *why = damaged;
  }
  for (int64_t k = 0; !utf8 && k < m->count; k++)
    units[k] = (uint32_t)fl_mat_load(m->data.at + (wide ? 2 * k : k), wide ? 2 : 1, m->data.big);
  if (!*why) return units;
  free(units);
  return NULL;
}

static void put_unit(char *to, uint32_t unit, int size) {
  for (int k = 0; k < size; k++) to[k] = (char)(unit >> (8 * k));
}

/* The rows of a matrix that chars_shape finds good, to `out`. NULL, or why not. */
static const char *put_rows(const FlMatrix *m, FlHeap *heap, FlText *out) {
  int64_t columns, rows = rows_of(m, &columns);
  int size;
  const char *why;
  uint32_t *units = m->count ? units_of(m, &size, &why) : NULL;
  if (!m->count) return NULL;
  if (!units) return why;
  char *row = malloc((size_t)columns * 4), *text = malloc((size_t)columns * 4);
  if (!row || !text) why = "there is no memory for it";
  for (int64_t r = 0; !why && r < rows; r++) {
    int64_t n = columns;
    while (rows > 1 && n && units[(n - 1) * rows + r] == ' ') n--;
    for (int64_t k = 0; k < n; k++) put_unit(row + k * size, units[k * rows + r], size);
    int64_t bytes = fl_utf8_of_units(row, n, size, false, text);
    if (bytes < 0) why = damaged;
    if (bytes > 0) out[r] = fl_heap_text(heap, text, bytes);
  }
  free(text);
  free(row);
  free(units);
  return why;
}

static const char *put_cells(const FlMatrix *m, FlHeap *heap, FlText *out) {
  FlMatBytes rest = m->data;
  FlMatrix cell;
  const char *why = NULL;
  for (int64_t k = 0; !why && k < m->count; k++) {
    why = next_cell(&rest, &cell);
    if (!why) why = put_rows(&cell, heap, &out[k]);
  }
  return why;
}

/* ---- values ------------------------------------------------------------------------------------------- */

static bool no_texts(const char *path, const FlMatrix *m, const char *why, FlIoError *e) {
  return fl_io_error(e, FL_E_NO_ARRAY, "the array `%s` of `%s` cannot be read: %s", m->name, path, why);
}

/* Cells lie column by column. */
static FlArray *turned(FlCtx *ctx, FlArray *a) {
  FlArray *out = fl_array_new(ctx, FL_TEXT, a->rank, a->dims);
  if (out && fl_array_keep(ctx, out, NULL, &a, 1) == 0) {
    fl_transpose_bytes(ctx, a->data, out->data, a->rank, a->dims, (int)sizeof(FlText));
  } else {
    fl_array_unref(out);
    out = NULL;
  }
  fl_array_unref(a);
  return out;
}

FlArray *fl_mat_texts(FlCtx *ctx, const char *path, const FlMatrix *m, FlType1 type, FlIoError *e) {
  int32_t rank;
  int64_t dims[FL_MAX_RANK];
  const char *why = fl_mat_text_shape(m, &rank, dims);
  if (why) {
    no_texts(path, m, why, e);
    return NULL;
  }
  int32_t seen = rank == 0 && type.rank == 1 ? 1 : rank;
  if (!fl_io_array_fits(path, m->name, FL_TEXT, seen, type, e)) return NULL;
  FlArray *a = fl_array_zeros(ctx, FL_TEXT, rank ? rank : 1, dims);
  FlHeap *heap = fl_heap_new(ctx);
  bool ok = (a && fl_array_keep(ctx, a, heap, NULL, 0) == 0) ||
            fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  if (ok) why = m->form == FL_MAT_CELLS ? put_cells(m, heap, a->data) : put_rows(m, heap, a->data);
  fl_heap_unref(heap);
  ok = ok && (!why || no_texts(path, m, why, e));
  if (ok && m->form == FL_MAT_CELLS) {
    a = turned(ctx, a);
    ok = a || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  }
  if (ok) return a;
  fl_array_unref(a);
  return NULL;
}
