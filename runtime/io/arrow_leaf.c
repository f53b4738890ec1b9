/* arrow_leaf.c: where the elements of one column of one Arrow batch are.
 *
 * In: a field and its share of the batch's nodes and buffers. Out: a leaf. What always holds: a buffer is as
 * long as its elements need before the first of them is read. */
#include "io/arrow.h"
#include "data/data.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------------------- */

bool fl_arrow_damaged(const FlArrowBatch *b, FlIoError *e) {
  return fl_io_error(e, FL_E_ARROW, "a batch of `%s` is damaged: its buffers do not fit its columns",
                     b->label);
}

/* Returns false. */
static bool lists_help(const FlTableWanted *w, bool null, FlIoError *e) {
  fl_io_help(e,
             "rows hold arrays of one size, without nulls; read the column as JSON: types = (`%.*s`: text%s)",
             w->name_len, w->name, null ? "?" : "");
  return false;
}

bool fl_arrow_wrong_value(const FlArrowBatch *b, const FlTableWanted *w, int64_t row, int code, FlIoError *e,
                          const char *fmt, ...) {
  char value[120];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(value, sizeof value, fmt, args);
  va_end(args);
  return fl_io_error(e, code, "`%s` row %lld: column `%.*s` is %s%s%s, but here it is %s", b->label,
                     (long long)(b->first_row + row + 1), w->name_len, w->name, fl_dtype_info[w->dtype].name,
                     w->nullable ? "?" : "", w->arrays ? "[_]" : "", value) ||
         (w->arrays && lists_help(w, code == FL_E_NULL, e));
}

/* ---- nodes and buffers -------------------------------------------------------------------------------- */

bool fl_arrow_node(FlArrowBatch *b, int64_t *n, int64_t *nulls) {
  if (b->node >= b->n_nodes) return false;
  uint32_t at = b->nodes + 16 * b->node++;
  *n = fl_flat_i64(b->meta, at);
  *nulls = fl_flat_i64(b->meta, at + 8);
  return *n >= 0;
}

bool fl_arrow_has_nulls(const FlArrowBatch *b) {
  return b->node < b->n_nodes && fl_flat_i64(b->meta, b->nodes + 16 * b->node + 8) != 0;
}

bool fl_arrow_buffer(const FlArrowBatch *b, uint32_t k, FlArrowBytes *out) {
  if (k >= b->n_buffers) return false;
  if (b->unpacked) {
    *out = b->unpacked[k];
    return true;
  }
  uint32_t at = b->buffers + 16 * k;
  int64_t offset = fl_flat_i64(b->meta, at), n = fl_flat_i64(b->meta, at + 8);
  if (offset < 0 || n < 0 || offset > b->body_size || n > b->body_size - offset) return false;
  *out = (FlArrowBytes){b->body + offset, n};
  return true;
}

bool fl_arrow_next_buffer(FlArrowBatch *b, FlArrowBytes *out) { return fl_arrow_buffer(b, b->buffer++, out); }

/* How many buffers a node of this type has, without children and view data; -1: not known. */
static int buffers_of(const FlArrowField *f) {
  if (f->dictionary) return 2;
  switch ((FlArrowType)f->type) {
  case FL_ARROW_NULL:
  case FL_ARROW_RUN_END: return 0;
  case FL_ARROW_STRUCT:
  case FL_ARROW_FIXED_LIST: return 1;
  case FL_ARROW_INT:
  case FL_ARROW_FLOAT:
  case FL_ARROW_BOOL:
  case FL_ARROW_DECIMAL:
  case FL_ARROW_DATE:
  case FL_ARROW_TIME:
  case FL_ARROW_TIMESTAMP:
  case FL_ARROW_INTERVAL:
  case FL_ARROW_DURATION:
  case FL_ARROW_FIXED_BINARY:
  case FL_ARROW_LIST:
  case FL_ARROW_MAP:
  case FL_ARROW_LARGE_LIST:
  case FL_ARROW_BINARY_VIEW:
  case FL_ARROW_UTF8_VIEW: return 2;
  case FL_ARROW_BINARY:
  case FL_ARROW_UTF8:
  case FL_ARROW_LARGE_BINARY:
  case FL_ARROW_LARGE_UTF8:
  case FL_ARROW_LIST_VIEW:
  case FL_ARROW_LARGE_LIST_VIEW: return 3;
  case FL_ARROW_UNION: return f->width == 1 ? 2 : 1;
  }
  return -1;
}

/* The number of data buffers of a view column. */
static bool next_count(FlArrowBatch *b, uint32_t *n) {
  if (b->count >= b->n_counts) return false;
  int64_t v = fl_flat_i64(b->meta, b->counts + 8 * b->count++);
  *n = (uint32_t)v;
  return v >= 0 && v <= (int64_t)b->n_buffers;
}

bool fl_arrow_skip(FlArrowBatch *b, const FlArrowField *f, FlIoError *e) {
  int64_t n, nulls;
  uint32_t views = 0;
  int buffers = buffers_of(f);
  bool view = !f->dictionary && (f->type == FL_ARROW_BINARY_VIEW || f->type == FL_ARROW_UTF8_VIEW);
  if (buffers < 0 || !fl_arrow_node(b, &n, &nulls) || (view && !next_count(b, &views)))
    return fl_arrow_damaged(b, e);
  b->buffer += (uint32_t)buffers + views;
  if (b->buffer > b->n_buffers) return fl_arrow_damaged(b, e);
  for (int32_t k = 0; k < f->n_children && !f->dictionary; k++)
    if (!fl_arrow_skip(b, &f->children[k], e)) return false;
  return true;
}

/* ---- scalars ------------------------------------------------------------------------------------------ */

int64_t fl_arrow_bits(const FlArrowField *f) {
  if (f->dictionary) return f->index_width < 0 ? -f->index_width : f->index_width;
  switch (f->type) {
  case FL_ARROW_BOOL: return 1;
  case FL_ARROW_INT:
  case FL_ARROW_DECIMAL: return f->width;
  case FL_ARROW_TIME: return f->scale;
  case FL_ARROW_FLOAT: return f->width == 0 ? 16 : f->width == 1 ? 32 : 64;
  case FL_ARROW_DATE: return f->width == 0 ? 32 : 64;
  case FL_ARROW_TIMESTAMP:
  case FL_ARROW_DURATION:
  case FL_ARROW_LARGE_UTF8: return 64;
  case FL_ARROW_UTF8: return 32;
  case FL_ARROW_UTF8_VIEW: return 128;
  }
  return 0;
}

static bool has_offsets(const FlArrowField *f) {
  return !f->dictionary && (f->type == FL_ARROW_UTF8 || f->type == FL_ARROW_LARGE_UTF8);
}

bool fl_arrow_validity(FlArrowBatch *b, int64_t n, int64_t nulls, const uint8_t **valid) {
  FlArrowBytes bits;
  *valid = NULL;
  if (!fl_arrow_next_buffer(b, &bits)) return false;
  if (nulls == 0) return true;
  *valid = bits.at;
  return bits.n >= n / 8 + (n % 8 != 0);
}

bool fl_arrow_scalars(FlArrowBatch *b, const FlArrowField *f, FlArrowLeaf *l) {
  int64_t nulls, bits = fl_arrow_bits(f), needed;
  *l = (FlArrowLeaf){.field = f, .per_row = 1};
  if (!fl_arrow_node(b, &l->n, &nulls)) return false;
  l->all_null = !f->dictionary && f->type == FL_ARROW_NULL;
  if (l->all_null) return true;
  if (!fl_arrow_validity(b, l->n, nulls, &l->valid) || !fl_arrow_next_buffer(b, &l->data)) return false;
  int64_t count = l->n + (has_offsets(f) && l->n > 0);
  if (__builtin_mul_overflow(count, bits, &needed)) return false;
  if (l->data.n < needed / 8 + (needed % 8 != 0)) return false;
  if (has_offsets(f)) return fl_arrow_next_buffer(b, &l->texts);
  if (f->type == FL_ARROW_UTF8_VIEW && !f->dictionary) {
    l->first_view = b->buffer;
    if (!next_count(b, &l->n_views)) return false;
    b->buffer += l->n_views;
    return b->buffer <= b->n_buffers;
  }
  return true;
}

/* ---- lists -------------------------------------------------------------------------------------------- */

/* Where a row's elements begin in the child, and how many each row has. */
static bool list_shape(FlArrowBatch *b, const FlArrowField *f, const FlTableWanted *w, int64_t n,
                       int64_t *first, int64_t *size, FlIoError *e) {
  *first = 0;
  *size = -1;
  if (f->type == FL_ARROW_FIXED_LIST) {
    *size = f->width;
    return f->width >= 0 || fl_arrow_damaged(b, e);
  }
  FlArrowBytes offsets;
  int64_t bytes = f->type == FL_ARROW_LIST ? 4 : 8, needed;
  if (!fl_arrow_next_buffer(b, &offsets)) return fl_arrow_damaged(b, e);
  if (n == 0) return true;
  if (__builtin_mul_overflow(n + 1, bytes, &needed) || offsets.n < needed) return fl_arrow_damaged(b, e);
  *first = fl_arrow_load(offsets.at, bytes * 8, true);
  for (int64_t k = 0, begin = *first; k < n; k++) {
    int64_t end = fl_arrow_load(offsets.at + (k + 1) * bytes, bytes * 8, true);
    if (begin < 0 || end < begin) return fl_arrow_damaged(b, e);
    if (*size < 0) *size = end - begin;
    if (end - begin != *size)
      return fl_arrow_wrong_value(b, w, k, FL_E_VALUE, e, "an array of %lld elements, after arrays of %lld",
                                  (long long)(end - begin), (long long)*size);
    begin = end;
  }
  return true;
}

static bool open_lists(FlArrowBatch *b, const FlArrowField *f, const FlTableWanted *w, FlArrowLeaf *l,
                       FlIoError *e) {
  int64_t n, nulls, first, total = 0, size;
  const uint8_t *valid;
  if (!fl_arrow_node(b, &n, &nulls) || n != b->n_rows || !fl_arrow_validity(b, n, nulls, &valid))
    return fl_arrow_damaged(b, e);
  for (int64_t k = 0; valid && k < n; k++)
    if (!fl_arrow_bit(valid, k)) return fl_arrow_wrong_value(b, w, k, FL_E_NULL, e, "null");
  if (!list_shape(b, f, w, n, &first, &size, e)) return false;
  if (!fl_arrow_scalars(b, f->children, l)) return fl_arrow_damaged(b, e);
  if (n && (__builtin_mul_overflow(n, size, &total) || total > l->n || first > l->n - total))
    return fl_arrow_damaged(b, e);
  l->first = first;
  l->per_row = size;
  return true;
}

bool fl_arrow_leaf(FlArrowBatch *b, const FlArrowField *f, const FlTableWanted *w, FlArrowLeaf *out,
                   FlIoError *e) {
  if (w->arrays) return open_lists(b, f, w, out, e);
  if (w->dtype == FL_TEXT && !f->dictionary && fl_arrow_is_nested(f)) {
    *out = (FlArrowLeaf){.field = f, .n = b->n_rows, .per_row = 1};
    return fl_arrow_nested(b, f, &out->nested, e);
  }
  return (fl_arrow_scalars(b, f, out) && out->n == b->n_rows) || fl_arrow_damaged(b, e);
}
