/* duckdb_take.c: the rows of a result of DuckDB as columns of ours; see duckdb.h.
 *
 * In: chunks of vectors. Out: values, and validities where the wanted type has null. What always holds: each
 * value is checked against the wanted type; one that does not fit is an error with its row. Bytes of texts
 * are copied to a heap that the column keeps. */
#include "io/duckdb.h"
#include "data/data.h"
#include "data/number.h"
#include "io/arrow.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A column of the result, on its way into a wanted one. */
typedef struct Taking {
  const FlDuckApi *api;
  FlCtx *ctx;
  const char *label;
  FlTableWanted *w;
  uint64_t column;
  FlDuckHandle type;
  int id, stored; /* of the column, or of the elements of its arrays; how a decimal or enum is stored */
  int scale;      /* of a decimal */
  FlText *words;  /* of an enum, in the heap */
  FlHeap *heap;
  int64_t rows, row; /* of the result; the first of this chunk */
} Taking;

/* ---- errors ------------------------------------------------------------------------------------------- */

static const char *wanted_type(const FlTableWanted *w, char out[40]) {
  (void)snprintf(out, 40, "%s%s%s", fl_dtype_info[w->dtype].name, w->nullable ? "?" : "",
                 w->arrays ? "[_]" : "");
  return out;
}

static bool wrong_value(const Taking *t, int64_t row, int code, FlIoError *e, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static bool wrong_value(const Taking *t, int64_t row, int code, FlIoError *e, const char *fmt, ...) {
  char value[120], want[40];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(value, sizeof value, fmt, args);
  va_end(args);
  fl_io_error(e, code, "%s row %lld: column `%.*s` is %s, but here it is %s", t->label, (long long)(row + 1),
              t->w->name_len, t->w->name, wanted_type(t->w, want), value);
  if (t->w->arrays)
    fl_io_help(
        e,
        "rows hold arrays of one size, without nulls; read the column as JSON: `%.*s: text%s` (in SQL: "
        "to_json(...)::VARCHAR)",
        t->w->name_len, t->w->name, code == FL_E_NULL ? "?" : "");
  return false;
}

static bool no_memory(const Taking *t, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading %s", t->label);
}

/* ---- one value ---------------------------------------------------------------------------------------- */

/* What an element is, by its kind: a whole number, a real one, a text, or days or microseconds. */
typedef struct Value {
  __int128 i;
  double f;
  FlText t;
  const char *bad; /* not NULL: what it is, instead of one that fits */
} Value;

static __int128 load_whole(const char *data, int id, int64_t k) {
  int64_t v = 0;
  FlDuckHuge huge;
  switch (id) {
  case FL_DUCK_BOOLEAN:
  case FL_DUCK_UTINYINT: return ((const uint8_t *)data)[k];
  case FL_DUCK_TINYINT: return ((const int8_t *)data)[k];
  case FL_DUCK_SMALLINT: return memcpy(&v, data + 2 * k, 2), (int16_t)v;
  case FL_DUCK_USMALLINT: return memcpy(&v, data + 2 * k, 2), v;
  case FL_DUCK_DATE:
  case FL_DUCK_INTEGER: return memcpy(&v, data + 4 * k, 4), (int32_t)v;
  case FL_DUCK_UINTEGER: return memcpy(&v, data + 4 * k, 4), v;
  case FL_DUCK_UBIGINT: return memcpy(&v, data + 8 * k, 8), (__int128)(uint64_t)v;
  case FL_DUCK_HUGEINT:
  case FL_DUCK_UHUGEINT:
    memcpy(&huge, data + 16 * k, 16);
    return (__int128)((unsigned __int128)(uint64_t)huge.upper << 64 | huge.lower);
  }
  return memcpy(&v, data + 8 * k, 8), v;
}

/* v / 10^scale, rounded once. */
static double decimal_of(__int128 v, int scale) {
  static const double exact_below = 9007199254740992.0;
  double whole = (double)v, power = 1;
  if (scale <= 22 && fabs(whole) < exact_below) {
    for (int k = 0; k < scale; k++) power *= 10;
    return whole / power;
  }
  char digits[64], *at = digits + 50;
  unsigned __int128 rest = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
  (void)snprintf(at, 14, "e-%d", scale);
  do *--at = (char)('0' + (int)(rest % 10));
  while (rest /= 10);
  if (v < 0) *--at = '-';
  return strtod(at, NULL);
}

/* DuckDB's dates and times may be infinite: the greatest number of the type, or that below zero. */
static bool is_infinite(int id, __int128 v) {
  switch (id) {
  case FL_DUCK_DATE: return v == INT32_MAX || v == -INT32_MAX;
  case FL_DUCK_TIMESTAMP:
  case FL_DUCK_TIMESTAMP_S:
  case FL_DUCK_TIMESTAMP_MS:
  case FL_DUCK_TIMESTAMP_NS:
  case FL_DUCK_TIMESTAMP_TZ: return v == INT64_MAX || v == -INT64_MAX;
  }
  return false;
}

static void scale_time(Value *v, int64_t per_micro, int64_t micros) {
  if (v->i % per_micro) v->bad = "not a whole number of microseconds";
  v->i = v->i / per_micro * micros;
}

/* Element k, which is not null; texts come later. */
static Value load_value(const Taking *t, const char *data, int64_t k) {
  Value v = {0};
  FlDuckInterval span;
  float narrow;
  switch (t->id) {
  case FL_DUCK_FLOAT:
    memcpy(&narrow, data + 4 * k, 4);
    v.f = (double)narrow;
    break;
  case FL_DUCK_DOUBLE: memcpy(&v.f, data + 8 * k, 8); break;
  case FL_DUCK_INTERVAL:
    memcpy(&span, data + 16 * k, 16);
    if (span.months) v.bad = "a span of months, which have no fixed length";
    v.i = (__int128)span.days * 86400000000 + span.micros;
    break;
  default: v.i = load_whole(data, t->id == FL_DUCK_DECIMAL ? t->stored : t->id, k);
  }
  if (is_infinite(t->id, v.i)) {
    v.bad = v.i > 0 ? "infinity" : "-infinity";
    return v;
  }
  switch (t->id) {
  case FL_DUCK_TIMESTAMP_S: scale_time(&v, 1, 1000000); break;
  case FL_DUCK_TIMESTAMP_MS: scale_time(&v, 1, 1000); break;
  case FL_DUCK_TIMESTAMP_NS: scale_time(&v, 1000, 1); break;
  }
  return v;
}

static void print_whole(__int128 v, char out[48]) {
  char *at = out + 47;
  unsigned __int128 rest = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
  *at = '\0';
  do *--at = (char)('0' + (int)(rest % 10));
  while (rest /= 10);
  if (v < 0) *--at = '-';
  memmove(out, at, strlen(at) + 1);
}

static bool is_real(int id) { return id == FL_DUCK_FLOAT || id == FL_DUCK_DOUBLE; }

static bool put_real(const Taking *t, double v, char *at, int64_t row, FlIoError *e) {
  if (v != v) v = (double)NAN; /* the one NaN */
  float narrow = (float)v;
  if (t->w->dtype == FL_F64) memcpy(at, &v, 8);
  else memcpy(at, &narrow, 4);
  return t->w->dtype == FL_F64 || isinf(narrow) == isinf(v) || wrong_value(t, row, FL_E_VALUE, e, "%.17g", v);
}

/* A decimal as its digits say it: as a text, as one of ours, or as the nearest f32. */
static bool put_decimal(const Taking *t, __int128 v, char *at, int64_t row, FlIoError *e) {
  char text[FL_ARROW_DECIMAL_ROOM];
  int n = fl_arrow_decimal((const uint8_t *)&v, 128, t->scale, text);
  if (t->w->dtype == FL_TEXT) {
    FlText made = fl_heap_text(t->heap, text, n);
    memcpy(at, &made, sizeof made);
    return true;
  }
  if (fl_dtype_is_decimal(t->w->dtype) &&
      fl_parse_decimal(text, n, fl_decimal_scale(t->w->dtype), (int64_t *)(void *)at))
    return true;
  if (fl_dtype_is_decimal(t->w->dtype)) {
    wrong_value(t, row, FL_E_VALUE, e, "%s", text);
    fl_io_help(e, "read it rounded or with all its digits: types = (%.*s: f64) or types = (%.*s: text)",
               t->w->name_len, t->w->name, t->w->name_len, t->w->name);
    return false;
  }
  return fl_parse_f32(text, n, (float *)(void *)at) || wrong_value(t, row, FL_E_VALUE, e, "%s", text);
}

/* Stores a value; `row` is for messages. */
static bool put_value(const Taking *t, Value v, char *at, int64_t row, FlIoError *e) {
  FlDtype to = t->w->dtype;
  if (v.bad) return wrong_value(t, row, FL_E_VALUE, e, "%s", v.bad);
  if (is_real(t->id)) return put_real(t, v.f, at, row, e);
  bool units = fl_dtype_is_decimal(to) && t->scale == fl_decimal_scale(to) && v.i == (int64_t)v.i;
  if (to == FL_TEXT || to == FL_F32 || (fl_dtype_is_decimal(to) && !units))
    return put_decimal(t, v.i, at, row, e);
  if (to == FL_F64) return put_real(t, t->scale ? decimal_of(v.i, t->scale) : (double)v.i, at, row, e);
  int bits = fl_dtype_info[to].bytes * 8;
  bool positive = fl_dtype_info[to].kind == FL_KIND_UNSIGNED || to == FL_BOOL;
  __int128 most = ((__int128)1 << (positive ? bits : bits - 1)) - 1, least = positive ? 0 : -most - 1;
  if (v.i < least || v.i > most) {
    char shown[48];
    print_whole(v.i, shown);
    return wrong_value(t, row, FL_E_VALUE, e, "%s", shown);
  }
  int64_t narrow = (int64_t)v.i;
  memcpy(at, &narrow, (size_t)fl_dtype_info[to].bytes);
  return true;
}

/* ---- texts -------------------------------------------------------------------------------------------- */

static FlText text_of(const FlDuckText *v) {
  uint32_t n = v->inside.length;
  return (FlText){n <= FL_DUCK_INSIDE ? v->inside.bytes : v->outside.ptr, n};
}

static FlText copy_text(FlHeap *heap, FlText t) { return fl_heap_text(heap, t.ptr, t.len); }

/* Rows of a VARCHAR vector: their bytes go to one piece of the heap. */
static void take_texts(Taking *t, const FlDuckText *from, const uint8_t *valid, int64_t n, FlText *to) {
  int64_t total = 0;
  for (int64_t k = 0; k < n; k++)
    if (!valid || valid[k]) total += from[k].inside.length;
  char *at = total ? fl_heap_alloc(t->heap, total) : NULL;
  for (int64_t k = 0; k < n; k++) {
    FlText one = at && (!valid || valid[k]) ? text_of(&from[k]) : (FlText){NULL, 0};
    if (one.len) memcpy(at, one.ptr, (size_t)one.len);
    to[k] = one.len ? (FlText){at, one.len} : (FlText){NULL, 0};
    at = one.len ? at + one.len : at;
  }
}

static bool read_words(Taking *t) {
  uint32_t n = t->api->enum_dictionary_size(t->type);
  t->words = calloc((size_t)n + 1, sizeof *t->words);
  for (uint32_t k = 0; t->words && k < n; k++) {
    char *word = t->api->enum_dictionary_value(t->type, k);
    if (word) t->words[k] = copy_text(t->heap, (FlText){word, (int64_t)strlen(word)});
    t->api->free(word);
  }
  return t->words != NULL;
}

/* ---- vectors ------------------------------------------------------------------------------------------ */

static bool valid_at(const uint64_t *bits, int64_t k) { return !bits || bits[k / 64] >> k % 64 & 1; }

static bool is_time(int id) {
  return id == FL_DUCK_DATE || id == FL_DUCK_TIMESTAMP || id == FL_DUCK_TIMESTAMP_TZ;
}

/* Whether elements lie as ours do, but for NaNs and infinite times. */
static bool same_layout(int id, FlDtype to) {
  switch (id) {
  case FL_DUCK_DATE: return to == FL_DATE;
  case FL_DUCK_TIMESTAMP:
  case FL_DUCK_TIMESTAMP_TZ: return to == FL_DATETIME;
  case FL_DUCK_TIME: return to == FL_DURATION;
  case FL_DUCK_BOOLEAN:
  case FL_DUCK_TINYINT:
  case FL_DUCK_SMALLINT:
  case FL_DUCK_INTEGER:
  case FL_DUCK_BIGINT:
  case FL_DUCK_UTINYINT:
  case FL_DUCK_USMALLINT:
  case FL_DUCK_UINTEGER:
  case FL_DUCK_UBIGINT: return (int)fl_duck_type_of(to) == id;
  }
  return false;
}

/* Elements [first, first + n) of a vector to element `to` of the column; `per_row` of them are one row. */
static bool take_elements(Taking *t, FlDuckHandle vector, int64_t first, int64_t n, int64_t to,
                          int64_t per_row, FlIoError *e) {
  int64_t bytes = fl_dtype_info[t->w->dtype].bytes;
  char *values = (char *)t->w->values->data + to * bytes;
  uint8_t *valid = t->w->valid ? (uint8_t *)t->w->valid->data + to : NULL;
  const uint64_t *bits = t->api->vector_get_validity(vector);
  const char *data = t->api->vector_get_data(vector);
  bool nulls = t->id == FL_DUCK_NULL && n > 0;
  for (int64_t k = 0; k < n && (bits || nulls || valid); k++) {
    bool there = t->id != FL_DUCK_NULL && valid_at(bits, first + k);
    if (!there && !valid) return wrong_value(t, t->row + k / per_row, FL_E_NULL, e, "null");
    if (valid) valid[k] = there;
    nulls = nulls || !there;
  }
  if (t->id == FL_DUCK_VARCHAR) {
    take_texts(t, (const FlDuckText *)(const void *)data + first, valid, n, (FlText *)(void *)values);
    return true;
  }
  if (!nulls && same_layout(t->id, t->w->dtype)) {
    bool fits = true;
    for (int64_t k = 0; k < n && is_time(t->id); k++)
      fits = fits && !is_infinite(t->id, load_whole(data, t->id, first + k));
    if (n && fits) memcpy(values, data + first * bytes, (size_t)(n * bytes));
    if (fits) return true;
  }
  for (int64_t k = 0; k < n; k++) {
    char *at = values + k * bytes;
    if (valid && !valid[k]) memset(at, 0, (size_t)bytes);
    else if (t->words) memcpy(at, &t->words[load_whole(data, t->stored, first + k)], sizeof *t->words);
    else if (!put_value(t, load_value(t, data, first + k), at, t->row + k / per_row, e)) return false;
  }
  return true;
}

static bool make_column(Taking *t, int64_t size, FlIoError *e) {
  int64_t dims[2] = {t->rows, size};
  t->w->values = fl_array_new(t->ctx, (int32_t)t->w->dtype, t->w->arrays ? 2 : 1, dims);
  if (t->w->nullable) t->w->valid = fl_array_new(t->ctx, FL_BOOL, 1, dims);
  return (t->w->values && (t->w->valid || !t->w->nullable)) || no_memory(t, e);
}

/* Rows that are arrays: all of one size, none of them null. */
static bool take_arrays(Taking *t, FlDuckHandle vector, int64_t n, FlIoError *e) {
  bool fixed = t->api->get_type_id(t->type) == FL_DUCK_ARRAY;
  FlDuckHandle child = fixed ? t->api->array_vector_get_child(vector) : t->api->list_vector_get_child(vector);
  const FlDuckEntry *entries = fixed ? NULL : t->api->vector_get_data(vector);
  const uint64_t *bits = t->api->vector_get_validity(vector);
  int64_t width = fixed ? (int64_t)t->api->array_type_array_size(t->type) : 0, first_row = t->row;
  bool ok = true;
  for (int64_t k = 0; ok && k < n; k++) {
    if (!valid_at(bits, k)) return wrong_value(t, first_row + k, FL_E_NULL, e, "null");
    int64_t size = fixed ? width : (int64_t)entries[k].length;
    int64_t from = fixed ? k * width : (int64_t)entries[k].offset;
    if (!t->w->values && !make_column(t, size, e)) return false;
    if (size != t->w->values->dims[1])
      return wrong_value(t, first_row + k, FL_E_VALUE, e, "an array of %lld elements, after arrays of %lld",
                         (long long)size, (long long)t->w->values->dims[1]);
    t->row = first_row + k;
    ok = take_elements(t, child, from, size, (first_row + k) * size, size ? size : 1, e);
  }
  t->row = first_row;
  return ok;
}

static bool take_chunk(Taking *t, FlDuckHandle chunk, int64_t n, FlIoError *e) {
  FlDuckHandle vector = t->api->data_chunk_get_vector(chunk, t->column);
  return t->w->arrays ? take_arrays(t, vector, n, e) : take_elements(t, vector, 0, n, t->row, 1, e);
}

/* ---- columns ------------------------------------------------------------------------------------------ */

static bool converts(const Taking *t, FlDtype of, FlDtype to) {
  if (t->id == FL_DUCK_NULL || of == to) return true;
  FlKind from = fl_dtype_info[of].kind, kind = fl_dtype_info[to].kind;
  bool decimal = t->id == FL_DUCK_DECIMAL;
  if (decimal && !t->w->arrays && (to == FL_TEXT || to == FL_F32)) return true;
  if (decimal && (kind == FL_KIND_DECIMAL || to == FL_F64)) return true;
  if (kind == FL_KIND_DECIMAL || from == FL_KIND_DECIMAL) return false;
  if (from == FL_KIND_FLOAT) return kind == FL_KIND_FLOAT && (t->id != FL_DUCK_DECIMAL || to == FL_F64);
  bool whole = from == FL_KIND_SIGNED || from == FL_KIND_UNSIGNED;
  return whole && (kind == FL_KIND_SIGNED || kind == FL_KIND_UNSIGNED || to == FL_F64);
}

static bool no_column(FlDuck *d, FlDuckResult *result, const Taking *t, FlIoError *e) {
  fl_io_error(e, FL_E_NO_COLUMN, "%s has no column `%.*s`", t->label, t->w->name_len, t->w->name);
  FlBytes all = {0};
  uint64_t n = d->api.column_count(result);
  for (uint64_t k = 0; k < n && all.len < 250; k++)
    fl_bytes_addf(&all, "%s%.60s", k ? ", " : "", d->api.column_name(result, k));
  fl_bytes_add(&all, "", 1);
  if (!all.failed) fl_io_help(e, "its columns are: %.300s", all.at);
  fl_bytes_reset(&all);
  return false;
}

static bool find_column(FlDuck *d, FlDuckResult *result, Taking *t, FlIoError *e) {
  uint64_t n = d->api.column_count(result), k = 0;
  for (; k < n; k++) {
    const char *name = d->api.column_name(result, k);
    if (strlen(name) == (size_t)t->w->name_len && memcmp(name, t->w->name, strlen(name)) == 0) break;
  }
  if (k == n) return no_column(d, result, t, e);
  FlDtype of;
  bool arrays;
  char want[40];
  t->column = k;
  t->type = d->api.column_logical_type(result, k);
  bool known = fl_duck_dtype(&d->api, t->type, &of, &arrays);
  FlDuckHandle element = t->type;
  if (known && arrays)
    element = d->api.get_type_id(t->type) == FL_DUCK_LIST ? d->api.list_type_child_type(t->type)
                                                          : d->api.array_type_child_type(t->type);
  t->id = d->api.get_type_id(element);
  if (t->id == FL_DUCK_DECIMAL) {
    t->stored = d->api.decimal_internal_type(element);
    t->scale = d->api.decimal_scale(element);
  } else if (t->id == FL_DUCK_ENUM) {
    t->stored = d->api.enum_internal_type(element);
  }
  if (element != t->type) d->api.destroy_logical_type(&element);
  if (known && (arrays == t->w->arrays || t->id == FL_DUCK_NULL) && converts(t, of, t->w->dtype)) return true;
  return fl_io_error(e, FL_E_VALUE, "%s: column `%.*s` is %s, which does not become %s", t->label,
                     t->w->name_len, t->w->name, fl_duck_type_name(&d->api, t->type),
                     wanted_type(t->w, want));
}

static bool prepare(FlDuck *d, FlDuckResult *result, Taking *t, FlIoError *e) {
  if (!find_column(d, result, t, e)) return false;
  bool text = t->w->dtype == FL_TEXT;
  if (text && !(t->heap = fl_heap_new(t->ctx))) return no_memory(t, e);
  if (t->id == FL_DUCK_ENUM && !read_words(t)) return no_memory(t, e);
  return (t->w->arrays && t->rows > 0) || make_column(t, 0, e);
}

static bool take_all(FlDuck *d, FlDuckResult *result, Taking *columns, int32_t n, FlIoError *e) {
  bool ok = true;
  int64_t row = 0;
  for (FlDuckHandle chunk; ok && (chunk = d->api.fetch_chunk(*result)) != NULL;) {
    int64_t rows = (int64_t)d->api.data_chunk_get_size(chunk);
    for (int32_t k = 0; ok && k < n; k++) {
      columns[k].row = row;
      ok = row + rows <= columns[k].rows ? take_chunk(&columns[k], chunk, rows, e)
                                         : fl_duck_fail(e, "more rows than it said");
    }
    row += rows;
    d->api.destroy_data_chunk(&chunk);
  }
  return ok;
}

bool fl_duck_take(FlCtx *ctx, FlDuck *d, FlDuckResult *result, const char *label, FlTableWanted *wanted,
                  int32_t n_wanted, int64_t *n_rows, FlIoError *e) {
  Taking *columns = calloc((size_t)n_wanted + 1, sizeof *columns);
  bool ok = columns != NULL || fl_io_error(e, FL_E_MEMORY, "out of memory");
  *n_rows = (int64_t)d->api.row_count(result);
  for (int32_t k = 0; ok && k < n_wanted; k++) {
    columns[k] = (Taking){.api = &d->api, .ctx = ctx, .label = label, .w = &wanted[k], .rows = *n_rows};
    ok = prepare(d, result, &columns[k], e);
  }
  ok = ok && take_all(d, result, columns, n_wanted, e);
  for (int32_t k = 0; columns && k < n_wanted; k++) {
    Taking *t = &columns[k];
    if (ok && t->heap && fl_array_keep(ctx, wanted[k].values, t->heap, NULL, 0) != 0) ok = no_memory(t, e);
    if (t->heap) fl_heap_unref(t->heap);
    if (t->type) d->api.destroy_logical_type(&t->type);
    free(t->words);
  }
  for (int32_t k = 0; !ok && k < n_wanted; k++) {
    fl_array_unref(wanted[k].values);
    fl_array_unref(wanted[k].valid);
    wanted[k].values = wanted[k].valid = NULL;
  }
  free(columns);
  return ok;
}
