/* json_write.c: any value as JSON: the operator write_json.
 *
 * A table is an array of objects, one a line; in a file whose name ends in .jsonl or .ndjson one object a
 * line and nothing else. A tuple is an object, or an array when its fields have no names; arrays and lists
 * are arrays; null is null; dates and datetimes are texts in ISO 8601, durations whole microseconds. What
 * always holds: a float is the shortest text that reads back the same; JSON has no nan and no infinity, so
 * these are errors; the bytes do not depend on how rows were cut into pieces. */
#include "io/io_internal.h"
#include "data/data.h"
#include "data/number.h"
#include "data/value_type.h"
#include "exec/exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FL_PIECE_ROWS = 4096, FL_WAVE = 4, FL_MOST_EMPTY = 1 << 24 };

typedef struct FlJsonOut {
  FlBytes bytes;
  bool no_number; /* a nan or an infinity was met */
  /* an array of more than FL_MOST_EMPTY rows without an element, which take no memory but here */
  bool hollow;
} FlJsonOut;

static void put_text(FlBytes *b, const char *s, int64_t n) {
  fl_bytes_add(b, "\"", 1);
  for (int64_t from = 0, k = 0; k <= n; k++) {
    bool plain = k < n && (unsigned char)s[k] >= 0x20 && s[k] != '"' && s[k] != '\\';
    if (plain) continue;
    if (k > from) fl_bytes_add(b, s + from, (size_t)(k - from));
    from = k + 1;
    if (k == n) break;
    if (s[k] == '"') fl_bytes_addz(b, "\\\"");
    else if (s[k] == '\\') fl_bytes_addz(b, "\\\\");
    else if (s[k] == '\n') fl_bytes_addz(b, "\\n");
    else if (s[k] == '\t') fl_bytes_addz(b, "\\t");
    else fl_bytes_addf(b, "\\u%04x", (unsigned)(unsigned char)s[k]);
  }
  fl_bytes_add(b, "\"", 1);
}

/* Dates and times are texts, durations numbers of microseconds. */
static void put_scalar(FlJsonOut *o, FlDtype d, FlSlot v) {
  char text[FL_NUMBER_ROOM];
  if (fl_dtype_is_text(d)) {
    put_text(&o->bytes, v.t.ptr, v.t.len);
    return;
  }
  if (d == FL_BOOL) v.u &= 1;
  if (d == FL_F32) o->no_number |= !isfinite(v.f32);
  if (d == FL_F64) o->no_number |= !isfinite(v.f);
  int n = fl_print_scalar(text, d == FL_DURATION ? (int32_t)FL_I64 : (int32_t)d, v);
  bool quoted = d == FL_DATE || d == FL_DATETIME;
  if (quoted) fl_bytes_addz(&o->bytes, "\"");
  fl_bytes_add(&o->bytes, text, (size_t)n);
  if (quoted) fl_bytes_addz(&o->bytes, "\"");
}

static void put_null(FlJsonOut *o) { fl_bytes_addz(&o->bytes, "null"); }

/* The level that a code stands for. */
static FlSlot level_of(const FlSlot *parts, const FlValueType *t, int64_t code) {
  return fl_array_slot(parts[t->n_parts - 1].a, code);
}

/* Whether there are more rows from `axis` on than anybody means, all empty. */
static bool is_hollow(const FlArray *a, int32_t axis) {
  int64_t rows = 1;
  for (int32_t k = axis; k < a->rank; k++) {
    if (a->dims[k] == 0) return rows > FL_MOST_EMPTY;
    if (a->dims[k] > FL_MOST_EMPTY) rows = FL_MOST_EMPTY + 1;
    else rows = rows > FL_MOST_EMPTY ? rows : rows * a->dims[k];
  }
  return false;
}

/* Element `at` of an array (of type `t`, in `parts`) in row-major order; and nested arrays from dimension
 * `axis` on, `at` its first element. */
static void put_elements(FlJsonOut *o, const FlValueType *t, const FlSlot *parts, int32_t axis, int64_t at) {
  const FlArray *a = parts[0].a, *valid = t->nullable ? parts[1].a : NULL;
  if (axis == a->rank) {
    if (valid && !((const uint8_t *)valid->data)[at]) put_null(o);
    else if (t->dtype == FL_CATEGORY) put_scalar(o, FL_TEXT, level_of(parts, t, fl_array_slot(a, at).i));
    else put_scalar(o, (FlDtype)a->dtype, fl_array_slot(a, at));
    return;
  }
  if (is_hollow(a, axis)) {
    o->hollow = true;
    return;
  }
  int64_t step = 1;
  for (int32_t k = axis + 1; k < a->rank; k++) step = (int64_t)((uint64_t)step * (uint64_t)a->dims[k]);
  fl_bytes_add(&o->bytes, "[", 1);
  for (int64_t k = 0; k < a->dims[axis]; k++) {
    if (k) fl_bytes_add(&o->bytes, ", ", 2);
    put_elements(o, t, parts, axis + 1, at + k * step);
  }
  fl_bytes_add(&o->bytes, "]", 1);
}

static void put_name(FlJsonOut *o, const char *name, int32_t k) {
  if (k) fl_bytes_add(&o->bytes, ", ", 2);
  if (!name) return;
  put_text(&o->bytes, name, (int64_t)strlen(name));
  fl_bytes_add(&o->bytes, ": ", 2);
}

static void put_row(FlJsonOut *o, const FlValueType *row, const FlSlot *columns, int64_t at) {
  fl_bytes_add(&o->bytes, "{", 1);
  for (int32_t k = 0; k < row->n_fields; k++) {
    const FlValueType *f = &row->fields[k];
    put_name(o, f->name ? f->name : "", k);
    put_elements(o, f, columns, 1, at * fl_array_row_count(columns[0].a));
    columns += f->n_parts;
  }
  fl_bytes_add(&o->bytes, "}", 1);
}

static void put_value(FlJsonOut *o, const FlValueType *t, const FlSlot *parts);

static void put_list(FlJsonOut *o, const FlValueType *t, const FlSlot *parts) {
  FlSlot *element = malloc(((size_t)t->n_parts + 1) * sizeof *element);
  int64_t len = t->n_parts ? parts[0].a->dims[0] : 0;
  o->bytes.failed |= !element;
  fl_bytes_add(&o->bytes, "[", 1);
  for (int64_t k = 0; element && k < len; k++) {
    for (int32_t p = 0; p < t->n_parts; p++) element[p] = fl_array_slot(parts[p].a, k);
    if (k) fl_bytes_add(&o->bytes, ", ", 2);
    put_value(o, t->fields, element);
  }
  fl_bytes_add(&o->bytes, "]", 1);
  free(element);
}

static void put_value(FlJsonOut *o, const FlValueType *t, const FlSlot *parts) {
  switch (t->kind) {
  case FL_VALUE_SCALAR:
    if (t->nullable && !(parts[1].u & 1)) put_null(o);
    else if (t->dtype == FL_CATEGORY) put_scalar(o, FL_TEXT, level_of(parts, t, parts[0].i));
    else put_scalar(o, t->dtype, parts[0]);
    break;
  case FL_VALUE_ARRAY: put_elements(o, t, parts, 0, 0); break;
  case FL_VALUE_TUPLE: {
    bool named = t->n_fields == 0 || t->fields[0].name;
    fl_bytes_add(&o->bytes, named ? "{" : "[", 1);
    for (int32_t k = 0; k < t->n_fields; parts += t->fields[k++].n_parts) {
      put_name(o, t->fields[k].name, k);
      put_value(o, &t->fields[k], parts);
    }
    fl_bytes_add(&o->bytes, named ? "}" : "]", 1);
    break;
  }
  case FL_VALUE_TABLE:
    fl_bytes_add(&o->bytes, "[", 1);
    for (int64_t k = 0; k < parts[0].i; k++) {
      if (k) fl_bytes_add(&o->bytes, ", ", 2);
      put_row(o, t->fields, parts + 1, k);
    }
    fl_bytes_add(&o->bytes, "]", 1);
    break;
  case FL_VALUE_LIST: put_list(o, t, parts); break;
  }
}

/* ---- a table, in pieces of rows ----------------------------------------------------------------------- */

typedef struct FlJsonWriting {
  const FlValueType *row;
  const FlSlot *parts; /* of the table */
  bool lines;
  int64_t first; /* piece */
  FlJsonOut *pieces;
} FlJsonWriting;

static void put_pieces(void *env, int64_t begin, int64_t end, int worker) {
  const FlJsonWriting *w = env;
  (void)worker;
  int64_t n = w->parts[0].i;
  for (int64_t p = begin; p < end; p++) {
    FlJsonOut *o = &w->pieces[p];
    int64_t from = (w->first + p) * FL_PIECE_ROWS, to = from + FL_PIECE_ROWS < n ? from + FL_PIECE_ROWS : n;
    o->bytes.len = 0;
    for (int64_t k = from; k < to; k++) {
      put_row(o, w->row, w->parts + 1, k);
      fl_bytes_addz(&o->bytes, w->lines || k + 1 == n ? "\n" : ",\n");
    }
  }
}

static bool put_out(FlJsonOut *o, FlOutput *out, FlIoError *e) {
  if (o->bytes.failed) return fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  if (o->hollow) {
    fl_io_error(e, FL_E_WRITE, "cannot write `%s`: an array has more than 16 million rows, and all are empty",
                out->path);
    fl_io_help(e, "is its shape meant? `write_npy` writes such arrays");
    return false;
  }
  if (!o->no_number) return fl_output_write(out, o->bytes.at, o->bytes.len, e);
  fl_io_error(e, FL_E_JSON_NUMBER,
              "cannot write `%s`: the value holds a nan or an infinity, and JSON has none", out->path);
  fl_io_help(e, "leave these rows out, or make the column nullable: if_else(is_finite(x), x, null)");
  return false;
}

static bool put_table(FlCtx *ctx, FlJsonWriting *w, FlOutput *out, FlIoError *e) {
  int64_t n = (w->parts[0].i + FL_PIECE_ROWS - 1) / FL_PIECE_ROWS,
          wave = (int64_t)fl_ctx_workers(ctx) * FL_WAVE;
  w->pieces = calloc((size_t)wave, sizeof *w->pieces);
  bool ok = w->pieces || fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  for (int64_t k = 0; ok && k < wave; k++) w->pieces[k].bytes = fl_output_bytes(out);
  ok = ok && (w->lines || fl_output_write(out, "[\n", 2, e));
  for (; ok && w->first < n; w->first += wave) {
    int64_t now = n - w->first < wave ? n - w->first : wave;
    fl_parallel_for(ctx, now, 1, put_pieces, w);
    for (int64_t k = 0; ok && k < now; k++) ok = put_out(&w->pieces[k], out, e);
  }
  for (int64_t k = 0; w->pieces && k < wave; k++) fl_bytes_reset(&w->pieces[k].bytes);
  free(w->pieces);
  return ok && (w->lines || fl_output_write(out, "]\n", 2, e));
}

static bool ends_with(const char *path, const char *end) {
  size_t n = strlen(path), m = strlen(end);
  return n >= m && strcmp(path + n - m, end) == 0;
}

/* A value to be written, and its type. */
typedef struct FlJsonValue {
  const FlValueType *type;
  const FlSlot *parts;
  bool lines; /* a table is written as lines, whatever the file's name */
} FlJsonValue;

/* An FlPutFn of an FlJsonValue. */
static bool put_json(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const FlJsonValue *v = what;
  if (v->type->kind == FL_VALUE_TABLE) {
    bool lines = v->lines || ends_with(out->path, ".jsonl") || ends_with(out->path, ".ndjson");
    FlJsonWriting w = {.row = v->type->fields, .parts = v->parts, .lines = lines};
    return put_table(ctx, &w, out, e);
  }
  FlJsonOut o = {.bytes = fl_output_bytes(out)};
  put_value(&o, v->type, v->parts);
  fl_bytes_add(&o.bytes, "\n", 1);
  bool ok = put_out(&o, out, e);
  fl_bytes_reset(&o.bytes);
  return ok;
}

FlStatus fl_rt_write_json(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  FlText to = args[0].t;
  FlJsonValue v = {fl_value_type_new(desc->s, strlen(desc->s)), args + 1, desc->i != 0};
  FlIoError e = {0};
  if (!v.type) fl_io_error(&e, FL_E_MEMORY, "out of memory"); /* the compiler wrote the type: it is one */
  FlStatus status = v.type ? fl_io_write_file(ctx, desc, to, put_json, &v)
                           : fl_io_fail(ctx, desc->site, &e, to.ptr, to.len);
  fl_value_type_free((FlValueType *)(uintptr_t)v.type);
  return status;
}
