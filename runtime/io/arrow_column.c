/* arrow_column.c: the rows of one column of one Arrow batch, as elements of our arrays.
 *
 * In: a field and its share of the batch's nodes and buffers. Out: values, and validities where the wanted
 * type has null. What always holds: a buffer is as long as its elements need before the first of them is
 * read; a value that does not fit the wanted type is an error with its row. */
#include "io/arrow.h"
#include "data/data.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------------------- */

static bool damaged(const FlArrowBatch *b, FlIoError *e) {
  return fl_io_error(e, FL_E_ARROW, "a batch of `%s` is damaged: its buffers do not fit its columns",
                     b->label);
}

static const char *wanted_type(const FlTableWanted *w, char out[40]) {
  (void)snprintf(out, 40, "%s%s%s", fl_dtype_info[w->dtype].name, w->nullable ? "?" : "",
                 w->arrays ? "[_]" : "");
  return out;
}

static bool wrong_type(const FlArrowBatch *b, const FlArrowField *f, const FlTableWanted *w, FlIoError *e) {
  char have[40], of[40], want[40];
  bool list = !f->dictionary && f->n_children == 1;
  fl_io_error(e, FL_E_VALUE, "`%s`: column `%.*s` is %s%s%s, which does not become %s", b->label, w->name_len,
              w->name, fl_arrow_type_name(f, have), list ? " of " : "",
              list ? fl_arrow_type_name(f->children, of) : "", wanted_type(w, want));
  if (f->dictionary) fl_io_help(e, "write plain values: the column without its dictionary");
  return false;
}

static bool wrong_value(const FlArrowBatch *b, const FlTableWanted *w, int64_t row, int code, FlIoError *e,
                        const char *fmt, ...) __attribute__((format(printf, 6, 7)));
static bool wrong_value(const FlArrowBatch *b, const FlTableWanted *w, int64_t row, int code, FlIoError *e,
                        const char *fmt, ...) {
  char value[120], want[40];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(value, sizeof value, fmt, args);
  va_end(args);
  return fl_io_error(e, code, "`%s` row %lld: column `%.*s` is %s, but here it is %s", b->label,
                     (long long)(b->first_row + row + 1), w->name_len, w->name, wanted_type(w, want), value);
}

/* ---- nodes and buffers -------------------------------------------------------------------------------- */

static bool next_node(FlArrowBatch *b, int64_t *n, int64_t *nulls) {
  if (b->node >= b->n_nodes) return false;
  uint32_t at = b->nodes + 16 * b->node++;
  *n = fl_flat_i64(b->meta, at);
  *nulls = fl_flat_i64(b->meta, at + 8);
  return *n >= 0;
}

typedef struct Bytes {
  const uint8_t *at;
  int64_t n;
} Bytes;

static bool buffer_at(const FlArrowBatch *b, uint32_t k, Bytes *out) {
  if (k >= b->n_buffers) return false;
  uint32_t at = b->buffers + 16 * k;
  int64_t offset = fl_flat_i64(b->meta, at), n = fl_flat_i64(b->meta, at + 8);
  if (offset < 0 || n < 0 || offset > b->body_size || n > b->body_size - offset) return false;
  *out = (Bytes){b->body + offset, n};
  return true;
}

static bool next_buffer(FlArrowBatch *b, Bytes *out) { return buffer_at(b, b->buffer++, out); }

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
  if (buffers < 0 || !next_node(b, &n, &nulls) || (view && !next_count(b, &views))) return damaged(b, e);
  b->buffer += (uint32_t)buffers + views;
  if (b->buffer > b->n_buffers) return damaged(b, e);
  for (int32_t k = 0; k < f->n_children && !f->dictionary; k++)
    if (!fl_arrow_skip(b, &f->children[k], e)) return false;
  return true;
}

/* ---- leaves: columns of scalars ----------------------------------------------------------------------- */

/* One node's elements, checked: `data` holds n of them, or their offsets or views. */
typedef struct Leaf {
  int64_t n;
  const uint8_t *valid; /* bits; NULL: all valid */
  Bytes data, texts;
  uint32_t first_view, n_views; /* buffers of a view column */
  bool all_null;
} Leaf;

static bool bit(const uint8_t *bits, int64_t k) { return bits[k / 8] >> k % 8 & 1; }

/* Bits of one element; 0: of no fixed size. */
static int64_t element_bits(const FlArrowField *f) {
  switch (f->type) {
  case FL_ARROW_BOOL: return 1;
  case FL_ARROW_INT: return f->width;
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
  return f->type == FL_ARROW_UTF8 || f->type == FL_ARROW_LARGE_UTF8;
}

static bool open_validity(FlArrowBatch *b, int64_t n, int64_t nulls, const uint8_t **valid) {
  Bytes bits;
  *valid = NULL;
  if (!next_buffer(b, &bits)) return false;
  if (nulls == 0) return true;
  *valid = bits.at;
  return bits.n >= n / 8 + (n % 8 != 0);
}

static bool open_leaf(FlArrowBatch *b, const FlArrowField *f, Leaf *l) {
  int64_t nulls, bits = element_bits(f), needed;
  *l = (Leaf){0};
  if (!next_node(b, &l->n, &nulls)) return false;
  l->all_null = f->type == FL_ARROW_NULL;
  if (l->all_null) return true;
  if (!open_validity(b, l->n, nulls, &l->valid) || !next_buffer(b, &l->data)) return false;
  int64_t count = l->n + (has_offsets(f) && l->n > 0);
  if (__builtin_mul_overflow(count, bits, &needed)) return false;
  if (l->data.n < needed / 8 + (needed % 8 != 0)) return false;
  if (has_offsets(f)) return next_buffer(b, &l->texts);
  if (f->type == FL_ARROW_UTF8_VIEW) {
    l->first_view = b->buffer;
    if (!next_count(b, &l->n_views)) return false;
    b->buffer += l->n_views;
    return b->buffer <= b->n_buffers;
  }
  return true;
}

/* ---- values ------------------------------------------------------------------------------------------- */

/* What one element is: the integer of ints, dates and times, the float, the text. */
typedef struct Value {
  int64_t i;
  double f;
  FlText t;
} Value;

static int64_t load(const uint8_t *at, int64_t bits, bool sign) {
  uint64_t v = 0;
  memcpy(&v, at, (size_t)bits / 8); /* little endian */
  if (sign && bits < 64 && v >> (bits - 1) & 1) v |= UINT64_MAX << bits;
  return (int64_t)v;
}

static bool load_text(const FlArrowBatch *b, const FlArrowField *f, const Leaf *l, int64_t k, FlText *out) {
  Bytes from = l->texts;
  int64_t begin, end;
  if (f->type == FL_ARROW_UTF8_VIEW) {
    const uint8_t *view = l->data.at + 16 * k;
    int64_t n = load(view, 32, true), which = load(view + 8, 32, true);
    begin = n > 12 ? load(view + 12, 32, true) : 0;
    end = begin + n;
    if (n < 0) return false;
    if (n <= 12) from = (Bytes){view + 4, 12};
    else if (which < 0 || which >= l->n_views || !buffer_at(b, l->first_view + (uint32_t)which, &from))
      return false;
  } else {
    int64_t bytes = element_bits(f) / 8;
    begin = load(l->data.at + k * bytes, bytes * 8, true);
    end = load(l->data.at + (k + 1) * bytes, bytes * 8, true);
  }
  if (begin < 0 || end < begin || end > from.n) return false;
  *out = end > begin ? (FlText){(const char *)from.at + begin, end - begin} : (FlText){NULL, 0};
  return true;
}

/* Microseconds, or days of a date; false: not a whole number of them, or out of range. */
static bool scale_time(const FlArrowField *f, int64_t *v) {
  static const int64_t micros[4] = {1000000, 1000, 1, 0};
  if (f->type == FL_ARROW_DATE) {
    if (f->width == 0) return true;
    bool whole = *v % 86400000 == 0;
    *v /= 86400000;
    return whole && *v == (int32_t)*v;
  }
  if (f->width < 3) return !__builtin_mul_overflow(*v, micros[f->width], v);
  bool whole = *v % 1000 == 0;
  *v /= 1000;
  return whole;
}

/* Does this type become the wanted one at all? */
static bool converts(const FlArrowField *f, FlDtype to) {
  if (f->dictionary) return false;
  FlKind kind = fl_dtype_info[to].kind;
  bool usual = f->width == 8 || f->width == 16 || f->width == 32 || f->width == 64;
  switch (f->type) {
  case FL_ARROW_NULL: return true;
  case FL_ARROW_BOOL: return to == FL_BOOL;
  case FL_ARROW_INT: return usual && (kind == FL_KIND_SIGNED || kind == FL_KIND_UNSIGNED || to == FL_F64);
  case FL_ARROW_FLOAT: return (f->width == 1 || f->width == 2) && kind == FL_KIND_FLOAT;
  case FL_ARROW_UTF8:
  case FL_ARROW_LARGE_UTF8:
  case FL_ARROW_UTF8_VIEW: return to == FL_TEXT;
  case FL_ARROW_DATE: return to == FL_DATE && (f->width == 0 || f->width == 1);
  case FL_ARROW_TIMESTAMP: return to == FL_DATETIME && f->width >= 0 && f->width <= 3;
  case FL_ARROW_DURATION: return to == FL_DURATION && f->width >= 0 && f->width <= 3;
  }
  return false;
}

/* Whether an integer of the field's type fits the wanted one. */
static bool int_fits(const FlArrowField *f, FlDtype to, int64_t v) {
  if (to == FL_F64) return true;
  int bits = fl_dtype_info[to].bytes * 8;
  bool negative = f->sign && v < 0;
  if (fl_dtype_info[to].kind == FL_KIND_UNSIGNED)
    return !negative && (bits == 64 || (uint64_t)v >> bits == 0);
  if (negative) return bits == 64 || v >= -((int64_t)1 << (bits - 1));
  return (uint64_t)v <= (uint64_t)INT64_MAX >> (64 - bits);
}

static void store(FlDtype to, char *at, int64_t v) { memcpy(at, &v, (size_t)fl_dtype_info[to].bytes); }

/* Element k, which is valid, to `at`. */
static bool take_value(const FlArrowBatch *b, const FlArrowField *f, const Leaf *l, int64_t k,
                       const FlTableWanted *w, char *at, int64_t row, FlIoError *e) {
  int64_t bits = element_bits(f), v;
  FlText t;
  switch (f->type) {
  case FL_ARROW_BOOL: store(FL_BOOL, at, bit(l->data.at, k)); return true;
  case FL_ARROW_INT:
    v = load(l->data.at + k * (bits / 8), bits, f->sign);
    if (!int_fits(f, w->dtype, v))
      return f->sign ? wrong_value(b, w, row, FL_E_VALUE, e, "%lld", (long long)v)
                     : wrong_value(b, w, row, FL_E_VALUE, e, "%llu", (unsigned long long)v);
    if (w->dtype == FL_F64) {
      double real = f->sign ? (double)v : (double)(uint64_t)v;
      memcpy(at, &real, 8);
    } else {
      store(w->dtype, at, v);
    }
    return true;
  case FL_ARROW_FLOAT: {
    double real;
    float narrow;
    if (bits == 64) memcpy(&real, l->data.at + k * 8, 8);
    else memcpy(&narrow, l->data.at + k * 4, 4), real = (double)narrow;
    if (real != real) real = (double)NAN; /* the one NaN */
    if (w->dtype == FL_F64) {
      memcpy(at, &real, 8);
      return true;
    }
    narrow = (float)real;
    memcpy(at, &narrow, 4);
    return isinf(narrow) == isinf(real) || wrong_value(b, w, row, FL_E_VALUE, e, "%.17g", real);
  }
  case FL_ARROW_DATE:
  case FL_ARROW_TIMESTAMP:
  case FL_ARROW_DURATION:
    v = load(l->data.at + k * (bits / 8), bits, true);
    if (!scale_time(f, &v))
      return wrong_value(b, w, row, FL_E_VALUE, e, "not a whole number of %s",
                         f->type == FL_ARROW_DATE ? "days" : "microseconds");
    store(w->dtype, at, v);
    return true;
  }
  if (!load_text(b, f, l, k, &t)) return damaged(b, e);
  memcpy(at, &t, sizeof t);
  return fl_utf8_check(t.ptr, t.len) == t.len || wrong_value(b, w, row, FL_E_UTF8, e, "not UTF-8");
}

/* Whether elements lie as the array has them. Bools are bits there, and floats may hold other NaNs. */
static bool same_layout(const FlArrowField *f, FlDtype to) {
  if (f->type == FL_ARROW_INT)
    return f->width == fl_dtype_info[to].bytes * 8 &&
           fl_dtype_info[to].kind == (f->sign ? FL_KIND_SIGNED : FL_KIND_UNSIGNED);
  if (f->type == FL_ARROW_DATE) return f->width == 0;
  return (f->type == FL_ARROW_TIMESTAMP || f->type == FL_ARROW_DURATION) && f->width == 2;
}

/* Elements [first, first + n) of a leaf to element `to` of w's arrays on; `per_row` of them are one row. */
static bool take_leaf(const FlArrowBatch *b, const FlArrowField *f, const Leaf *l, int64_t first, int64_t n,
                      FlTableWanted *w, int64_t to, int64_t per_row, FlIoError *e) {
  int64_t bytes = fl_dtype_info[w->dtype].bytes;
  char *values = (char *)w->values->data + to * bytes;
  uint8_t *valid = w->valid ? (uint8_t *)w->valid->data + to : NULL;
  if (!l->valid && !l->all_null && same_layout(f, w->dtype)) {
    if (n) memcpy(values, l->data.at + first * bytes, (size_t)(n * bytes));
    if (valid && n) memset(valid, 1, (size_t)n);
    return true;
  }
  for (int64_t k = 0; k < n; k++) {
    bool there = !l->all_null && (!l->valid || bit(l->valid, first + k));
    if (!there && !valid) return wrong_value(b, w, k / per_row, FL_E_NULL, e, "null");
    if (valid) valid[k] = there;
    if (!there) memset(values + k * bytes, 0, (size_t)bytes);
    else if (!take_value(b, f, l, first + k, w, values + k * bytes, k / per_row, e)) return false;
  }
  return true;
}

/* ---- lists: columns of arrays ------------------------------------------------------------------------- */

/* Where a row's elements begin in the child, and how many each row has; in *size -1 while no row said so. */
static bool list_shape(FlArrowBatch *b, const FlArrowField *f, const FlTableWanted *w, int64_t n,
                       int64_t *first, int64_t *size, FlIoError *e) {
  *first = 0;
  if (f->type == FL_ARROW_FIXED_LIST) {
    if (*size >= 0 && *size != f->width) return damaged(b, e);
    *size = f->width;
    return f->width >= 0 || damaged(b, e);
  }
  Bytes offsets;
  int64_t bytes = f->type == FL_ARROW_LIST ? 4 : 8, needed;
  if (!next_buffer(b, &offsets)) return damaged(b, e);
  if (n == 0) return true;
  if (__builtin_mul_overflow(n + 1, bytes, &needed) || offsets.n < needed) return damaged(b, e);
  *first = load(offsets.at, bytes * 8, true);
  for (int64_t k = 0, begin = *first; k < n; k++) {
    int64_t end = load(offsets.at + (k + 1) * bytes, bytes * 8, true);
    if (begin < 0 || end < begin) return damaged(b, e);
    if (*size < 0) *size = end - begin;
    if (end - begin != *size)
      return wrong_value(b, w, k, FL_E_VALUE, e, "an array of %lld elements, after arrays of %lld",
                         (long long)(end - begin), (long long)*size);
    begin = end;
  }
  return true;
}

static bool take_lists(FlArrowBatch *b, const FlArrowField *f, FlTableWanted *w, FlIoError *e) {
  const FlArrowField *child = f->children;
  int64_t n, nulls, first, total, size = w->values ? w->values->dims[1] : -1;
  const uint8_t *valid;
  Leaf l;
  if (!next_node(b, &n, &nulls) || n != b->n_rows || !open_validity(b, n, nulls, &valid))
    return damaged(b, e);
  for (int64_t k = 0; valid && k < n; k++)
    if (!bit(valid, k)) return wrong_value(b, w, k, FL_E_NULL, e, "null");
  if (!list_shape(b, f, w, n, &first, &size, e)) return false;
  if (!open_leaf(b, child, &l)) return damaged(b, e);
  if (n == 0) return true;
  if (__builtin_mul_overflow(n, size, &total) || total > l.n || first > l.n - total) return damaged(b, e);
  int64_t all;
  if (__builtin_mul_overflow(b->total_rows, size, &all) || all > b->most_elements) return damaged(b, e);
  if (!w->values && !fl_arrow_make(b->ctx, b->label, w, b->total_rows, size, e)) return false;
  return size == 0 || take_leaf(b, child, &l, first, total, w, b->first_row * size, size, e);
}

/* ---- together ----------------------------------------------------------------------------------------- */

bool fl_arrow_make(FlCtx *ctx, const char *label, FlTableWanted *w, int64_t rows, int64_t size,
                   FlIoError *e) {
  int64_t dims[2] = {rows, size};
  w->values = fl_array_new(ctx, (int32_t)w->dtype, w->arrays ? 2 : 1, dims);
  if (w->nullable) w->valid = fl_array_new(ctx, FL_BOOL, 1, dims);
  return (w->values && (w->valid || !w->nullable)) ||
         fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", label);
}

bool fl_arrow_take(FlArrowBatch *b, const FlArrowField *f, FlTableWanted *w, FlIoError *e) {
  bool list = !f->dictionary &&
              (f->type == FL_ARROW_LIST || f->type == FL_ARROW_LARGE_LIST || f->type == FL_ARROW_FIXED_LIST);
  if (list != w->arrays) return wrong_type(b, f, w, e);
  if (list) {
    if (f->n_children != 1 || !converts(f->children, w->dtype) || f->children->type == FL_ARROW_NULL)
      return wrong_type(b, f, w, e);
    return take_lists(b, f, w, e);
  }
  Leaf l;
  if (!converts(f, w->dtype)) return wrong_type(b, f, w, e);
  if (!open_leaf(b, f, &l) || l.n != b->n_rows) return damaged(b, e);
  if (!w->values && !fl_arrow_make(b->ctx, b->label, w, b->total_rows, 0, e)) return false;
  return take_leaf(b, f, &l, 0, l.n, w, b->first_row, 1, e);
}
