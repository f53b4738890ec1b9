/* json_read.c: the wanted columns of a JSON file as arrays, and their types from the file.
 *
 * In: a path, column names with their types. Out: arrays with a row an object. What always holds: a number is
 * never rounded to an integer nor an integer to another one; a key that is not there is null; in a column of
 * texts what is no text is its JSON. The first object with a problem is the one that is reported. */
#include "io/json_internal.h"
#include "io/many.h"
#include "data/data.h"
#include "data/number.h"
#include "exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FL_JSON_PIECE = 256, FL_JSON_SAMPLE = 4 << 20 };

/* ---- one value ---------------------------------------------------------------------------------------- */

static bool as_integer(const json_t *v, int64_t *out) {
  if (json_is_integer(v)) {
    *out = json_integer_value(v);
    return true;
  }
  double x = json_is_real(v) ? json_real_value(v) : 0.5;
  if (x != (double)(int64_t)(x > -9e15 && x < 9e15 ? x : 0)) return false;
  *out = (int64_t)x;
  return true;
}

static bool store_integer(FlDtype d, void *to, int64_t row, int64_t v) {
  int bits = 8 * fl_dtype_info[d].bytes;
  bool is_signed = fl_dtype_info[d].kind == FL_KIND_SIGNED;
  if (!is_signed && v < 0) return false;
  if (bits < 64 && (is_signed ? v < -(INT64_C(1) << (bits - 1)) || v >= INT64_C(1) << (bits - 1)
                              : v >= INT64_C(1) << bits))
    return false;
  memcpy((char *)to + row * (bits / 8), &v, (size_t)bits / 8); /* little-endian */
  return true;
}

static void store_text(FlHeap *heap, FlText *to, const char *s, size_t n) {
  *to = (FlText){NULL, 0};
  if (!n) return;
  char *copy = fl_heap_alloc(heap, (int64_t)n);
  memcpy(copy, s, n);
  *to = (FlText){copy, (int64_t)n};
}

/* A string as it is, anything else as JSON; false: out of memory. */
static bool store_any_text(FlHeap *heap, FlText *to, const json_t *v) {
  if (json_is_string(v)) {
    store_text(heap, to, json_string_value(v), json_string_length(v));
    return true;
  }
  char *dump = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
  if (dump) store_text(heap, to, dump, strlen(dump));
  free(dump);
  return dump != NULL;
}

/* false: the value does not fit. */
static bool store(const FlTableWanted *w, FlHeap *heap, int64_t row, const json_t *v) {
  void *to = w->values->data;
  const char *s = json_string_value(v);
  int64_t len = s ? (int64_t)json_string_length(v) : 0, i;
  switch (fl_dtype_info[w->dtype].kind) {
  case FL_KIND_BOOL:
    if (!json_is_boolean(v)) return false;
    ((uint8_t *)to)[row] = json_is_true(v);
    return true;
  case FL_KIND_SIGNED:
  case FL_KIND_UNSIGNED: return as_integer(v, &i) && store_integer(w->dtype, to, row, i);
  case FL_KIND_FLOAT:
    if (!json_is_number(v)) return false;
    if (w->dtype == FL_F64) ((double *)to)[row] = json_number_value(v);
    else ((float *)to)[row] = (float)json_number_value(v);
    return true;
  case FL_KIND_TEXT: return store_any_text(heap, (FlText *)to + row, v);
  case FL_KIND_TIME: {
    int32_t day;
    if (!s) return false;
    if (w->dtype == FL_DATE) return fl_parse_date(s, len, (int32_t *)to + row);
    if (w->dtype != FL_DATETIME) return false;
    if (!fl_parse_date(s, len, &day)) return fl_parse_datetime(s, len, (int64_t *)to + row);
    ((int64_t *)to)[row] = day * INT64_C(86400000000); /* a day alone is its midnight */
    return true;
  }
  case FL_KIND_REF: break;
  }
  return false;
}

static void store_null(const FlTableWanted *w, int64_t row) {
  size_t size = (size_t)fl_dtype_info[w->dtype].bytes;
  memset((char *)w->values->data + row * (int64_t)size, 0, size);
  ((uint8_t *)w->valid->data)[row] = 0;
}

/* v NULL: the key is not there. */
static bool misfit(const FlTableWanted *w, const json_t *v, const char *path, int64_t line, FlIoError *e) {
  const char *type = fl_dtype_info[w->dtype].name;
  char *dump = v && !json_is_null(v) ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
  char name[sizeof e->column], value[sizeof e->value] = "";
  snprintf(name, sizeof name, "%.*s", w->name_len, w->name);
  if (dump) {
    snprintf(value, sizeof value, "%.100s", dump);
    value[fl_utf8_check(value, (int64_t)strlen(value))] = '\0';
    fl_io_error(e, FL_E_VALUE, "`%s` line %lld: `%s` is %s, but here it is `%s`", path, (long long)line, name,
                type, value);
    fl_io_help(e, "read it as text, types = (`%s`: text)", name);
  } else {
    fl_io_error(e, FL_E_NULL, "`%s` line %lld: `%s` is %s without nulls, but here %s", path, (long long)line,
                name, type, v ? "it is null" : "there is none");
    fl_io_help(e, "allow null: types = (`%s`: %s?)", name, type);
  }
  e->line = line;
  memcpy(e->column, name, sizeof name);
  memcpy(e->value, value, sizeof value);
  free(dump);
  return false;
}

/* ---- all objects -------------------------------------------------------------------------------------- */

typedef struct FlJsonReading {
  const char *path, *text;
  const FlJsonSpans *spans;
  const FlTableWanted *wanted;
  int32_t n_wanted;
  char **names; /* NUL-terminated */
  FlHeap *heap;
  FlIoError *errors; /* one a piece; code 0: none */
} FlJsonReading;

static bool read_object(const FlJsonReading *r, int64_t row, FlIoError *e) {
  json_t *o = fl_json_object(r->text, r->spans->at[row], r->path, e);
  bool ok = o != NULL;
  for (int32_t k = 0; ok && k < r->n_wanted; k++) {
    const FlTableWanted *w = &r->wanted[k];
    const json_t *v = json_object_get(o, r->names[k]);
    bool null = !v || json_is_null(v);
    if (null && w->nullable) {
      store_null(w, row);
      continue;
    }
    ok = !null && store(w, r->heap, row, v);
    if (ok && w->nullable) ((uint8_t *)w->valid->data)[row] = 1;
    if (ok) continue;
    misfit(w, v, r->path, fl_json_line_at(r->text, r->spans->at[row].at), e);
  }
  if (!ok) e->row = row + 1;
  json_decref(o);
  return ok;
}

static void read_pieces(void *env, int64_t begin, int64_t end, int worker) {
  const FlJsonReading *r = env;
  (void)worker;
  for (int64_t p = begin; p < end; p++) {
    int64_t from = p * FL_JSON_PIECE,
            to = from + FL_JSON_PIECE < r->spans->n ? from + FL_JSON_PIECE : r->spans->n;
    while (from < to && read_object(r, from, &r->errors[p])) from++;
  }
}

static bool make_arrays(FlCtx *ctx, FlJsonReading *r, FlTableWanted *wanted) {
  for (int32_t k = 0; k < r->n_wanted; k++) {
    FlTableWanted *w = &wanted[k];
    r->names[k] = strndup(w->name, (size_t)w->name_len);
    w->values = fl_array_new(ctx, (int32_t)w->dtype, 1, &r->spans->n);
    if (w->nullable) w->valid = fl_array_new(ctx, FL_BOOL, 1, &r->spans->n);
    if (!r->names[k] || !w->values || (w->nullable && !w->valid) ||
        fl_array_keep(ctx, w->values, r->heap, NULL, 0) != 0)
      return false;
  }
  return true;
}

static bool read_spans(FlCtx *ctx, FlJsonReading *r, FlTableWanted *wanted, FlIoError *e) {
  int64_t pieces = (r->spans->n + FL_JSON_PIECE - 1) / FL_JSON_PIECE;
  r->errors = calloc((size_t)pieces + 1, sizeof *r->errors);
  r->names = calloc((size_t)r->n_wanted + 1, sizeof *r->names);
  r->heap = fl_heap_new(ctx);
  bool ok = r->errors && r->names && r->heap && make_arrays(ctx, r, wanted);
  if (!ok) fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", r->path);
  if (ok) fl_parallel_for(ctx, pieces, 1, read_pieces, r);
  for (int64_t p = 0; ok && p < pieces; p++) {
    if (!r->errors[p].code) continue;
    *e = r->errors[p];
    ok = false;
  }
  for (int32_t k = 0; r->names && k < r->n_wanted; k++) free(r->names[k]);
  free(r->names);
  free(r->errors);
  fl_heap_unref(r->heap);
  return ok;
}

/* Where the objects are, of a text or of one of lines. */
static bool find_objects(const FlInput *in, bool lines, int64_t most, const char *path, FlJsonSpans *spans,
                         FlIoError *e) {
  return (lines ? fl_json_lines : fl_json_spans)(in->data, in->size, most, path, spans, e);
}

bool fl_json_read(FlCtx *ctx, const char *path, bool lines, FlTableWanted *wanted, int32_t n, int64_t *n_rows,
                  FlIoError *e) {
  FlInput in;
  FlJsonSpans spans;
  for (int32_t k = 0; k < n; k++) wanted[k].values = wanted[k].valid = NULL;
  if (!fl_input_open(ctx, path, &in, e)) return false;
  bool ok = find_objects(&in, lines, 0, path, &spans, e);
  FlJsonReading r = {.path = path, .text = in.data, .spans = &spans, .wanted = wanted, .n_wanted = n};
  ok = ok && read_spans(ctx, &r, wanted, e) && fl_input_check(&in, path, e);
  *n_rows = spans.n;
  free(spans.at);
  fl_input_close(&in);
  for (int32_t k = 0; !ok && k < n; k++) {
    fl_array_unref(wanted[k].values);
    fl_array_unref(wanted[k].valid);
  }
  return ok;
}

static bool read_one(FlCtx *ctx, const char *path, const void *options, FlTableWanted *wanted, int32_t n,
                     int64_t *n_rows, FlIoError *e) {
  return fl_json_read(ctx, path, options != NULL, wanted, n, n_rows, e); /* options: of lines something */
}

FlStatus fl_rt_read_json(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_read_table(ctx, desc, args, results, &(FlTableReader){.read = read_one});
}

FlStatus fl_rt_read_jsonl(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_read_table(ctx, desc, args, results, &(FlTableReader){.read = read_one, .options = ""});
}

/* ---- types from the file ------------------------------------------------------------------------------ */

typedef struct FlJsonKey {
  int seen;
  int64_t count; /* objects that have it */
} FlJsonKey;

static int class_of(const json_t *v) {
  int64_t micros, len = (int64_t)json_string_length(v);
  int32_t day;
  switch (json_typeof(v)) {
  case JSON_TRUE:
  case JSON_FALSE: return FL_SEEN_BOOL;
  case JSON_INTEGER: return FL_SEEN_INT;
  case JSON_REAL: return FL_SEEN_FLOAT;
  case JSON_NULL: return FL_SEEN_EMPTY;
  case JSON_STRING:
    if (fl_parse_date(json_string_value(v), len, &day)) return FL_SEEN_DATE;
    return fl_parse_datetime(json_string_value(v), len, &micros) ? FL_SEEN_DATETIME : FL_SEEN_TEXT;
  case JSON_OBJECT:
  case JSON_ARRAY: break;
  }
  return FL_SEEN_TEXT;
}

static FlIoColumn conclude(const char *name, FlJsonKey key, int64_t n_rows) {
  return (FlIoColumn){.name = name,
                      .dtype = fl_io_seen_dtype(key.seen),
                      .nullable = (key.seen & FL_SEEN_EMPTY) || key.count < n_rows};
}

/* Keys in the order in which they are first met: `order` holds their names, its values their places in
 * `keys`. */
static bool look(const char *text, const FlJsonSpans *spans, const char *path, json_t *order,
                 FlJsonKey **keys, FlIoError *e) {
  for (int64_t k = 0; k < spans->n; k++) {
    json_t *o = fl_json_object(text, spans->at[k], path, e), *v;
    const char *name;
    if (!o) return false;
    json_object_foreach(o, name, v) {
      json_t *place = json_object_get(order, name);
      size_t n = json_object_size(order), at = place ? (size_t)json_integer_value(place) : n;
      if (!place) {
        FlJsonKey *grown = realloc(*keys, (n + 1) * sizeof *grown);
        if (!grown || json_object_set_new(order, name, json_integer((json_int_t)n)) != 0) {
          if (grown) *keys = grown;
          json_decref(o);
          return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
        }
        *keys = grown;
        grown[n] = (FlJsonKey){0, 0};
      }
      (*keys)[at].seen |= class_of(v);
      (*keys)[at].count++;
    }
    json_decref(o);
  }
  return true;
}

static bool take_names(json_t *order, const FlJsonKey *keys, int64_t n_rows, const char *path,
                       FlIoSchema *out, FlIoError *e) {
  size_t n = json_object_size(order), bytes = n * sizeof(FlIoColumn);
  const char *name;
  json_t *v;
  json_object_foreach(order, name, v) bytes += strlen(name) + 1;
  out->own = malloc(bytes + 1);
  if (!out->own) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  out->columns = out->own;
  char *to = (char *)(out->columns + n);
  json_object_foreach(order, name, v) {
    strcpy(to, name);
    out->columns[out->n_columns] = conclude(to, keys[out->n_columns], n_rows);
    out->n_columns++;
    to += strlen(name) + 1;
  }
  out->n_rows = n_rows;
  return true;
}

static bool schema_of(const char *path, bool lines, FlIoSchema *out, FlIoError *e) {
  FlInput in;
  FlJsonSpans spans;
  FlJsonKey *keys = NULL;
  memset(out, 0, sizeof *out);
  memset(e, 0, sizeof *e);
  if (!fl_input_open(NULL, path, &in, e)) return false;
  json_t *order = json_object();
  bool ok = order || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  out->whole = in.size <= FL_JSON_SAMPLE;
  ok = find_objects(&in, lines, FL_JSON_SAMPLE, path, &spans, e) && ok &&
       look(in.data, &spans, path, order, &keys, e);
  if (ok && !json_object_size(order)) {
    ok = fl_io_error(e, FL_E_EMPTY, "`%s` holds no row, so it says nothing of its columns", path);
    fl_io_help(e, "write the type of a row: `let t: Trip[_] = read_json%s(f)`", lines ? "l" : "");
  }
  ok = ok && take_names(order, keys, spans.n, path, out, e) && fl_input_check(&in, path, e);
  free(spans.at);
  free(keys);
  json_decref(order);
  fl_input_close(&in);
  if (!ok) fl_io_schema_reset(out);
  return ok;
}

bool fl_io_json_schema(const char *path, const char *const *options, int32_t n_options, FlIoSchema *out,
                       FlIoError *e) {
  (void)options;
  (void)n_options;
  return schema_of(path, false, out, e);
}

bool fl_io_jsonl_schema(const char *path, const char *const *options, int32_t n_options, FlIoSchema *out,
                        FlIoError *e) {
  (void)options;
  (void)n_options;
  return schema_of(path, true, out, e);
}
