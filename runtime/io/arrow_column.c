/* arrow_column.c: the elements of a column of an Arrow batch as elements of our arrays.
 *
 * In: leaves (arrow_leaf.c). Out: values, and validities where the wanted type has null. What always holds: a
 * value that does not fit the wanted type is an error with its row; what is stored is the one NaN. */
#include "io/arrow.h"
#include "data/data.h"
#include "data/number.h"
#include "data/slices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- types -------------------------------------------------------------------------------------------- */

static bool wrong_type(const FlArrowBatch *b, const FlArrowField *f, const FlTableWanted *w, FlIoError *e) {
  char have[40], of[40];
  bool list = !f->dictionary && f->n_children == 1;
  return fl_io_error(e, FL_E_VALUE, "`%s`: column `%.*s` is %s%s%s%s, which does not become %s%s%s", b->label,
                     w->name_len, w->name, f->dictionary ? "a dictionary of " : "",
                     fl_arrow_type_name(f, have), list ? " of " : "",
                     list ? fl_arrow_type_name(f->children, of) : "", fl_dtype_info[w->dtype].name,
                     w->nullable ? "?" : "", w->arrays ? "[_]" : "");
}

/* Does a value of this type become the wanted one at all? */
static bool scalar_converts(const FlArrowField *f, FlDtype to) {
  FlKind kind = fl_dtype_info[to].kind;
  bool usual = f->width == 8 || f->width == 16 || f->width == 32 || f->width == 64;
  switch (f->type) {
  case FL_ARROW_NULL: return !f->dictionary;
  case FL_ARROW_BOOL: return to == FL_BOOL;
  case FL_ARROW_INT: return usual && (kind == FL_KIND_SIGNED || kind == FL_KIND_UNSIGNED || to == FL_F64);
  case FL_ARROW_FLOAT: return f->width >= 0 && f->width <= 2 && kind == FL_KIND_FLOAT;
  case FL_ARROW_DECIMAL:
    return (f->width == 128 || f->width == 256 || f->width == 64 || f->width == 32) &&
           f->scale >= -FL_ARROW_SCALE_MAX && f->scale <= FL_ARROW_SCALE_MAX &&
           (kind == FL_KIND_SIGNED || kind == FL_KIND_UNSIGNED || kind == FL_KIND_FLOAT ||
            kind == FL_KIND_DECIMAL || (to == FL_TEXT && !f->dictionary));
  case FL_ARROW_TIME:
    return to == FL_DURATION && f->scale == (f->width < 2 ? 32 : 64) && f->width >= 0 && f->width <= 3;
  case FL_ARROW_UTF8:
  case FL_ARROW_LARGE_UTF8:
  case FL_ARROW_UTF8_VIEW: return to == FL_TEXT || to == FL_CATEGORY;
  case FL_ARROW_DATE: return to == FL_DATE && (f->width == 0 || f->width == 1);
  case FL_ARROW_TIMESTAMP: return to == FL_DATETIME && f->width >= 0 && f->width <= 3;
  case FL_ARROW_DURATION: return to == FL_DURATION && f->width >= 0 && f->width <= 3;
  }
  return false;
}

bool fl_arrow_converts(const FlArrowBatch *b, const FlArrowField *f, const FlTableWanted *w, FlIoError *e) {
  bool list = !f->dictionary &&
              (f->type == FL_ARROW_LIST || f->type == FL_ARROW_LARGE_LIST || f->type == FL_ARROW_FIXED_LIST);
  bool ok = list == w->arrays;
  if (!w->arrays && w->dtype == FL_TEXT && !f->dictionary && fl_arrow_is_nested(f)) return true;
  if (ok && list)
    ok = f->n_children == 1 && !f->children->dictionary && scalar_converts(f->children, w->dtype) &&
         f->children->type != FL_ARROW_NULL;
  else if (ok) ok = scalar_converts(f, w->dtype) && (!f->dictionary || f->index_width != 0);
  return ok || wrong_type(b, f, w, e);
}

bool fl_arrow_same_layout(const FlArrowField *f, FlDtype to) {
  if (f->dictionary) return false;
  if (f->type == FL_ARROW_INT)
    return f->width == fl_dtype_info[to].bytes * 8 &&
           fl_dtype_info[to].kind == (f->sign ? FL_KIND_SIGNED : FL_KIND_UNSIGNED);
  if (f->type == FL_ARROW_DECIMAL)
    return f->width == 64 && fl_dtype_is_decimal(to) && f->scale == fl_decimal_scale(to);
  if (f->type == FL_ARROW_FLOAT) return f->width && to == (f->width == 1 ? FL_F32 : FL_F64);
  if (f->type == FL_ARROW_DATE) return f->width == 0;
  return (f->type == FL_ARROW_TIMESTAMP || f->type == FL_ARROW_DURATION) && f->width == 2;
}

/* ---- values ------------------------------------------------------------------------------------------- */

bool fl_arrow_text(const FlArrowBatch *b, const FlArrowLeaf *l, int64_t k, FlText *out) {
  FlArrowBytes from = l->texts;
  int64_t begin, end;
  if (l->field->type == FL_ARROW_UTF8_VIEW) {
    const uint8_t *view = l->data.at + 16 * k;
    int64_t n = fl_arrow_load(view, 32, true), which = fl_arrow_load(view + 8, 32, true);
    begin = n > 12 ? fl_arrow_load(view + 12, 32, true) : 0;
    end = begin + n;
    if (n < 0) return false;
    if (n <= 12) from = (FlArrowBytes){view + 4, 12};
    else if (which < 0 || which >= l->n_views || !fl_arrow_buffer(b, l->first_view + (uint32_t)which, &from))
      return false;
  } else {
    int64_t bytes = fl_arrow_bits(l->field) / 8;
    begin = fl_arrow_load(l->data.at + k * bytes, bytes * 8, true);
    end = fl_arrow_load(l->data.at + (k + 1) * bytes, bytes * 8, true);
  }
  if (begin < 0 || end < begin || end > from.n) return false;
  *out = end > begin ? (FlText){(const char *)from.at + begin, end - begin} : (FlText){NULL, 0};
  return true;
}

const char *fl_arrow_scale_time(const FlArrowField *f, int64_t *v) {
  static const int64_t micros[4] = {1000000, 1000, 1, 0};
  if (f->type == FL_ARROW_DATE) {
    if (f->width == 0) return NULL;
    if (*v % 86400000) return "not a whole number of days";
    *v /= 86400000;
    return *v == (int32_t)*v ? NULL : "too far away";
  }
  if (f->width < 3) return __builtin_mul_overflow(*v, micros[f->width], v) ? "too far away" : NULL;
  if (*v % 1000) return "not a whole number of microseconds";
  *v /= 1000;
  return NULL;
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

/* Bytes of a text that is made, in the column's heap. */
static void store_text(const FlArrowLeaf *l, const char *s, int64_t n, char *at) {
  FlText t = fl_heap_text(l->heap, s, n);
  memcpy(at, &t, sizeof t);
}

/* A decimal of the scale that is wanted, of up to 64 bits in so many. */
static bool take_units(const uint8_t *from, int64_t bits, char *at) {
  int64_t word[4] = {0};
  memcpy(word, from, (size_t)bits / 8);
  if (bits == 32) word[0] = (int32_t)word[0];
  for (int k = 1; k < bits / 64; k++)
    if (word[k] != word[0] >> 63) return false;
  memcpy(at, word, sizeof *word);
  return true;
}

static bool take_decimal(const FlArrowBatch *b, const FlArrowLeaf *l, int64_t k, const FlTableWanted *w,
                         char *at, int64_t row, FlIoError *e) {
  char text[FL_ARROW_DECIMAL_ROOM];
  int64_t bits = fl_arrow_bits(l->field), i;
  bool decimal = fl_dtype_is_decimal(w->dtype);
  if (decimal && l->field->scale == fl_decimal_scale(w->dtype) &&
      take_units(l->data.at + k * (bits / 8), bits, at))
    return true;
  int n = fl_arrow_decimal(l->data.at + k * (bits / 8), bits, l->field->scale, text), whole = n;
  uint64_t u;
  bool ok;
  switch (fl_dtype_info[w->dtype].kind) {
  case FL_KIND_TEXT: store_text(l, text, n, at); return true;
  case FL_KIND_DECIMAL:
    ok = fl_parse_decimal(text, n, fl_decimal_scale(w->dtype), (int64_t *)(void *)at);
    break;
  case FL_KIND_FLOAT:
    ok = w->dtype == FL_F64 ? fl_parse_f64(text, n, (double *)(void *)at)
                            : fl_parse_f32(text, n, (float *)(void *)at);
    break;
  default: /* an integer, where nothing but zeros follows the point */
    if (memchr(text, '.', (size_t)n)) {
      while (text[whole - 1] == '0') whole--;
      if (text[whole - 1] == '.') whole--;
    }
    if (*text == '-') {
      ok = fl_parse_i64(text, whole, &i);
      u = (uint64_t)i;
      ok = ok && int_fits(&(FlArrowField){.sign = true}, w->dtype, i);
    } else {
      ok = fl_parse_u64(text, whole, &u) && int_fits(&(FlArrowField){.sign = false}, w->dtype, (int64_t)u);
    }
    if (ok) store(w->dtype, at, (int64_t)u);
  }
  if (ok) return true;
  fl_arrow_wrong_value(b, w, row, FL_E_VALUE, e, "%s", text);
  if (decimal)
    fl_io_help(e, "read it rounded or with all its digits: types = (%.*s: f64) or types = (%.*s: text)",
               w->name_len, w->name, w->name_len, w->name);
  return false;
}

static bool take_nested(const FlArrowBatch *b, const FlArrowLeaf *l, int64_t k, char *at, FlIoError *e) {
  FlBytes json = {0};
  bool ok = fl_arrow_nested_put(b, l->nested, k, &json, e);
  if (ok && json.failed) ok = fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", b->label);
  if (ok) store_text(l, json.at, (int64_t)json.len, at);
  fl_bytes_reset(&json);
  return ok;
}

/* Element k, which is valid, to `at`. */
static bool take_value(const FlArrowBatch *b, const FlArrowLeaf *l, int64_t k, const FlTableWanted *w,
                       char *at, int64_t row, FlIoError *e) {
  const FlArrowField *f = l->field;
  int64_t bits = fl_arrow_bits(f), v;
  const char *why;
  FlText t;
  if (l->nested) return take_nested(b, l, k, at, e);
  switch (f->type) {
  case FL_ARROW_BOOL: store(FL_BOOL, at, fl_arrow_bit(l->data.at, k)); return true;
  case FL_ARROW_INT:
    v = fl_arrow_load(l->data.at + k * (bits / 8), bits, f->sign);
    if (!int_fits(f, w->dtype, v))
      return f->sign ? fl_arrow_wrong_value(b, w, row, FL_E_VALUE, e, "%lld", (long long)v)
                     : fl_arrow_wrong_value(b, w, row, FL_E_VALUE, e, "%llu", (unsigned long long)v);
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
    else if (bits == 16) real = (double)fl_arrow_half(l->data.at + k * 2);
    else memcpy(&narrow, l->data.at + k * 4, 4), real = (double)narrow;
    if (real != real) real = (double)NAN;
    if (w->dtype == FL_F64) {
      memcpy(at, &real, 8);
      return true;
    }
    narrow = (float)real;
    memcpy(at, &narrow, 4);
    return isinf(narrow) == isinf(real) || fl_arrow_wrong_value(b, w, row, FL_E_VALUE, e, "%.17g", real);
  }
  case FL_ARROW_DECIMAL: return take_decimal(b, l, k, w, at, row, e);
  case FL_ARROW_DATE:
  case FL_ARROW_TIME:
  case FL_ARROW_TIMESTAMP:
  case FL_ARROW_DURATION:
    v = fl_arrow_load(l->data.at + k * (bits / 8), bits, true);
    if ((why = fl_arrow_scale_time(f, &v))) return fl_arrow_wrong_value(b, w, row, FL_E_VALUE, e, "%s", why);
    store(w->dtype, at, v);
    return true;
  }
  if (!fl_arrow_text(b, l, k, &t)) return fl_arrow_damaged(b, e);
  memcpy(at, &t, sizeof t);
  return fl_utf8_check(t.ptr, t.len) == t.len || fl_arrow_wrong_value(b, w, row, FL_E_UTF8, e, "not UTF-8");
}

/* Element k of a column with a dictionary, which is valid. *there: the dictionary's value is no null. */
static bool take_entry(const FlArrowBatch *b, const FlArrowLeaf *l, const FlArrowPool *pool, int64_t k,
                       char *at, bool *there, FlIoError *e) {
  int64_t bits = fl_arrow_bits(l->field);
  int64_t index = fl_arrow_load(l->data.at + k * (bits / 8), bits, l->field->index_width < 0);
  if (index < 0 || index >= l->n_pool)
    return fl_io_error(e, FL_E_ARROW, "a batch of `%s` is damaged: an index is outside of its dictionary",
                       b->label);
  index += l->pool;
  if (pool->codes) {
    *there = pool->codes[index] >= 0;
    int32_t code = *there ? pool->codes[index] : 0;
    memcpy(at, &code, sizeof code);
    return true;
  }
  size_t bytes = (size_t)fl_dtype_info[pool->w.dtype].bytes;
  *there = ((const uint8_t *)pool->w.valid->data)[index] != 0;
  memcpy(at, (const char *)pool->w.values->data + (size_t)index * bytes, bytes);
  return true;
}

typedef double Doubles __attribute__((vector_size(16)));  /* as many as each processor compares at once */
typedef int64_t Answers __attribute__((vector_size(16))); /* one a double: all bits, or none */

/* Whether one of n doubles is a NaN. */
static bool has_nan(const char *at, int64_t n) {
  enum { AT_ONCE = sizeof(Doubles) / sizeof(double) };
  Answers found = {0};
  bool nan = false;
  int64_t k = 0;
  for (; k + AT_ONCE <= n; k += AT_ONCE) {
    Doubles x;
    memcpy(&x, at + 8 * k, sizeof x);
    found |= x != x;
  }
  for (; k < n; k++) {
    double x;
    memcpy(&x, at + 8 * k, sizeof x);
    nan |= x != x;
  }
  for (k = 0; k < AT_ONCE; k++) nan |= found[k] != 0;
  return nan;
}

/* NaNs become the one NaN; true: one of them was another. at NULL: they are only looked at. What was copied
 * is not read again, as it may be none of memory. */
static bool settle(FlDtype d, const char *there, char *at, int64_t n) {
  bool odd = false;
  if (d == FL_F64 && !has_nan(there, n)) return false;
  for (int64_t k = 0; d == FL_F64 && k < n; k++) {
    double x, one = (double)NAN;
    memcpy(&x, there + 8 * k, 8);
    if (x == x || memcmp(&x, &one, 8) == 0) continue;
    odd = true;
    if (at) memcpy(at + 8 * k, &one, 8);
  }
  for (int64_t k = 0; d == FL_F32 && k < n; k++) {
    float x, one = NAN;
    memcpy(&x, there + 4 * k, 4);
    if (x == x || memcmp(&x, &one, 4) == 0) continue;
    odd = true;
    if (at) memcpy(at + 4 * k, &one, 4);
  }
  return odd;
}

/* Texts all at once, as fl_arrow_take_texts has it; where they are to stand in a file, slice by slice. */
static bool take_texts(FlPool *pool_of, const FlArrowBatch *b, const FlArrowLeaf *l, const FlArrowPool *pool,
                       int64_t first, int64_t n, FlText *to, uint8_t *valid) {
  enum { SLICE = 1 << 12, MANY = 16 };
  FlSlices slices = fl_slices(pool_of, to, SLICE * (int64_t)sizeof *to, MANY);
  if (!slices.room) return fl_arrow_take_texts(b, l, pool, first, n, to, valid);
  bool ok = true;
  for (int64_t k = 0; k < n && ok; k += SLICE) {
    int64_t count = n - k < SLICE ? n - k : SLICE;
    ok = fl_arrow_take_texts(b, l, pool, first + k, count, fl_slice(&slices, to + k),
                             valid ? valid + k : NULL);
    if (ok) fl_slice_done(&slices, count * (int64_t)sizeof *to);
  }
  fl_slices_end(&slices);
  return ok;
}

bool fl_arrow_take(FlCtx *ctx, const FlArrowBatch *b, const FlArrowLeaf *l, const FlArrowPool *pool,
                   FlTableWanted *w, int64_t from, int64_t n, _Atomic bool *odd, FlIoError *e) {
  int64_t per_row = l->per_row < 0 ? 0 : l->per_row, bytes = fl_dtype_info[w->values->dtype].bytes;
  int64_t first = l->first + from * per_row, count = n * per_row;
  char *values = (char *)w->values->data + (b->first_row + from) * per_row * bytes;
  uint8_t *valid = w->valid ? (uint8_t *)w->valid->data + b->first_row + from : NULL;
  if (!count) return true;
  if (!l->valid && !l->all_null && fl_arrow_same_layout(l->field, w->dtype)) {
    const char *there = (const char *)l->data.at + first * bytes;
    if (odd) {
      if (settle(w->dtype, there, NULL, count)) atomic_store(odd, true);
      return true;
    }
    fl_pool_fill(ctx ? fl_ctx_pool(ctx) : NULL, values, there, count * bytes);
    if (valid) memset(valid, 1, (size_t)n);
    settle(w->dtype, there, values, count);
    return true;
  }
  if (w->dtype == FL_TEXT && !w->arrays && !l->nested && !l->all_null &&
      take_texts(ctx ? fl_ctx_pool(ctx) : NULL, b, l, pool, first, count, (FlText *)(void *)values, valid))
    return true;
  for (int64_t k = 0; k < count; k++) {
    int64_t row = from + k / per_row;
    bool there = !l->all_null && (!l->valid || fl_arrow_bit(l->valid, first + k));
    if (l->nested) there = fl_arrow_nested_valid(l->nested, k + from);
    if (there && pool) {
      if (!take_entry(b, l, pool, first + k, values + k * bytes, &there, e)) return false;
    } else if (there && !take_value(b, l, first + k, w, values + k * bytes, row, e)) {
      return false;
    }
    if (!there && !valid) return fl_arrow_wrong_value(b, w, row, FL_E_NULL, e, "null");
    if (valid) valid[k] = there;
    if (!there) memset(values + k * bytes, 0, (size_t)bytes);
  }
  return true;
}
