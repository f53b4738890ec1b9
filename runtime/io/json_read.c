/* json_read.c: the wanted columns of a JSON file as arrays.
 *
 * In: a path, column names with their types. Out: arrays with a row an object. What always holds: a number is
 * never rounded to an integer, and to a float once, from its digits; a key that is not there is null; in a
 * column of texts what is no text is its JSON as it is written, a number with all its digits. The first
 * object with a problem is the one that is reported. */
#include "io/json_internal.h"
#include "io/many.h"
#include "data/data.h"
#include "data/number.h"
#include "exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FL_JSON_PIECE = 256 };

/* ---- one value ---------------------------------------------------------------------------------------- */

static bool store_integer(FlDtype d, void *to, int64_t row, FlJsonValue v) {
  bool negative, is_signed = fl_dtype_is_signed(d);
  int bits = 8 * fl_dtype_info[d].bytes;
  uint64_t m;
  if (v.kind != FL_JSON_NUMBER || !fl_json_whole(v, &negative, &m)) return false;
  uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
  if (m > most + (negative && is_signed) || (negative && m && !is_signed)) return false;
  if (negative) m = -m;
  memcpy((char *)to + row * (bits / 8), &m, (size_t)bits / 8); /* little-endian */
  return true;
}

static bool store_float(FlDtype d, void *to, int64_t row, FlJsonValue v) {
  if (v.kind != FL_JSON_NUMBER) return false;
  return d == FL_F64 ? fl_parse_f64(v.at, v.len, (double *)to + row)
                     : fl_parse_f32(v.at, v.len, (float *)to + row);
}

/* A text as it is, anything else as it is written. */
static void store_text(FlHeap *heap, FlText *to, FlJsonValue v) {
  *to = (FlText){NULL, 0};
  if (!v.len) return;
  char *copy = fl_heap_alloc(heap, v.len);
  int64_t n = v.len;
  if (!copy) return; /* the run is stopped */
  if (v.kind == FL_JSON_NESTED) n = fl_json_compact(v, copy);
  else if (v.kind == FL_JSON_TEXT && !v.plain) n = fl_json_unescape(v, copy);
  else memcpy(copy, v.at, (size_t)n);
  *to = (FlText){copy, n};
}

static bool store_time(FlDtype d, void *to, int64_t row, FlJsonValue v) {
  char text[64];
  int32_t day;
  if (v.kind != FL_JSON_TEXT || v.len > (int64_t)sizeof text) return false;
  int64_t len = fl_json_unescape(v, text);
  if (d == FL_DATE) return fl_parse_date(text, len, (int32_t *)to + row);
  if (d != FL_DATETIME) return false;
  if (!fl_parse_date(text, len, &day)) return fl_parse_datetime(text, len, (int64_t *)to + row);
  ((int64_t *)to)[row] = day * INT64_C(86400000000); /* a day alone is its midnight */
  return true;
}

/* false: the value does not fit. */
static bool store(const FlTableWanted *w, FlHeap *heap, int64_t row, FlJsonValue v) {
  void *to = w->values->data;
  switch (fl_dtype_info[w->dtype].kind) {
  case FL_KIND_BOOL:
    if (v.kind != FL_JSON_TRUE && v.kind != FL_JSON_FALSE) return false;
    ((uint8_t *)to)[row] = v.kind == FL_JSON_TRUE;
    return true;
  case FL_KIND_SIGNED:
  case FL_KIND_UNSIGNED: return store_integer(w->dtype, to, row, v);
  case FL_KIND_FLOAT: return store_float(w->dtype, to, row, v);
  case FL_KIND_TEXT: store_text(heap, (FlText *)to + row, v); return true;
  case FL_KIND_DECIMAL:
    return v.kind == FL_JSON_NUMBER &&
           fl_parse_decimal(v.at, v.len, fl_decimal_scale(w->dtype), (int64_t *)to + row);
  case FL_KIND_TIME: return store_time(w->dtype, to, row, v);
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
static bool misfit(const FlTableWanted *w, const FlJsonValue *v, const char *path, int64_t line,
                   FlIoError *e) {
  const char *type = fl_dtype_info[w->dtype].name;
  char name[sizeof e->column], value[sizeof e->value] = "";
  snprintf(name, sizeof name, "%.*s", w->name_len, w->name);
  if (v && v->kind != FL_JSON_NULL) {
    const char *at = v->at - (v->kind == FL_JSON_TEXT); /* with its quotes */
    int64_t len = v->len + 2 * (v->kind == FL_JSON_TEXT), n = 0;
    for (int64_t k = 0; k < len && n < 100; k++) value[n++] = (unsigned char)at[k] < ' ' ? ' ' : at[k];
    value[fl_utf8_check(value, n)] = '\0';
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
  return false;
}

/* ---- all objects -------------------------------------------------------------------------------------- */

typedef struct FlJsonReading {
  const char *path, *text;
  const FlJsonSpans *spans;
  const FlTableWanted *wanted;
  int32_t n_wanted;
  FlHeap *heap;
  FlIoError *errors; /* one a piece; code 0: none */
} FlJsonReading;

/* The k-th key of the object before, and which wanted column it is; objects mostly have the same keys in the
 * same order. */
typedef struct FlJsonGuess {
  FlJsonValue key;
  int32_t column; /* -1: none */
} FlJsonGuess;

enum { FL_JSON_GUESSES = 256 };

/* What reads the objects of one piece. */
typedef struct FlJsonPiece {
  const FlJsonReading *r;
  FlJsonGuess guesses[FL_JSON_GUESSES];
  int64_t n_guesses;
  int64_t *met; /* for each wanted column the last row that has it, from 1 */
} FlJsonPiece;

static bool is_called(const FlTableWanted *w, FlJsonValue key) {
  if (key.plain) return key.len == w->name_len && memcmp(key.at, w->name, (size_t)key.len) == 0;
  char *name = key.len < (1 << 16) ? malloc((size_t)key.len) : NULL; /* no name of a column is as long */
  bool same =
      name && fl_json_unescape(key, name) == w->name_len && memcmp(name, w->name, (size_t)w->name_len) == 0;
  free(name);
  return same;
}

/* The wanted column that the k-th key of an object is; -1: none. */
static int32_t column_of(FlJsonPiece *p, int64_t k, FlJsonValue key) {
  FlJsonGuess *g = k < FL_JSON_GUESSES ? &p->guesses[k] : NULL;
  if (g && k < p->n_guesses && g->key.len == key.len && memcmp(g->key.at, key.at, (size_t)key.len) == 0)
    return g->column;
  int32_t column = 0;
  while (column < p->r->n_wanted && !is_called(&p->r->wanted[column], key)) column++;
  if (column == p->r->n_wanted) column = -1;
  if (g && k <= p->n_guesses) {
    *g = (FlJsonGuess){key, column};
    if (k == p->n_guesses) p->n_guesses++;
  }
  return column;
}

static bool read_member(FlJsonPiece *p, int64_t row, const FlTableWanted *w, FlJsonValue v, FlIoError *e) {
  bool null = v.kind == FL_JSON_NULL;
  if (null && w->nullable) {
    store_null(w, row);
    return true;
  }
  if (null || !store(w, p->r->heap, row, v))
    return misfit(w, &v, p->r->path, fl_json_line_at(p->r->text, v.at - p->r->text), e);
  if (w->nullable) ((uint8_t *)w->valid->data)[row] = 1;
  return true;
}

static bool read_object(FlJsonPiece *p, int64_t row, FlIoError *e) {
  const FlJsonReading *r = p->r;
  FlJsonSpan span = r->spans->at[row];
  FlJsonScan s;
  FlJsonValue key, v;
  if (!fl_json_open(&s, r->text + span.at, span.len)) return fl_json_wrong(&s, r->text, r->path, e);
  for (int64_t k = 0; fl_json_next(&s, &key, &v); k++) {
    int32_t column = column_of(p, k, key);
    if (column < 0) continue;
    if (p->met[column] == row + 1) return fl_json_twice(key, r->text, r->path, e);
    p->met[column] = row + 1;
    if (!read_member(p, row, &r->wanted[column], v, e)) return false;
  }
  if (s.bad) return fl_json_wrong(&s, r->text, r->path, e);
  for (int32_t k = 0; k < r->n_wanted; k++) {
    if (p->met[k] == row + 1) continue;
    if (!r->wanted[k].nullable)
      return misfit(&r->wanted[k], NULL, r->path, fl_json_line_at(r->text, span.at), e);
    store_null(&r->wanted[k], row);
  }
  return true;
}

static void read_pieces(void *env, int64_t begin, int64_t end, int worker) {
  const FlJsonReading *r = env;
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    FlJsonPiece *p = calloc(1, sizeof *p + ((size_t)r->n_wanted + 1) * sizeof *p->met);
    FlIoError *e = &r->errors[k];
    int64_t row = k * FL_JSON_PIECE,
            to = row + FL_JSON_PIECE < r->spans->n ? row + FL_JSON_PIECE : r->spans->n;
    if (!p) fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", r->path);
    if (p) {
      p->r = r;
      p->met = (int64_t *)(p + 1);
      while (row < to && read_object(p, row, e)) row++;
      if (e->code) e->row = row + 1;
    }
    free(p);
  }
}

static bool make_arrays(FlCtx *ctx, FlJsonReading *r, FlTableWanted *wanted) {
  for (int32_t k = 0; k < r->n_wanted; k++) {
    FlTableWanted *w = &wanted[k];
    w->values = fl_array_new(ctx, (int32_t)w->dtype, 1, &r->spans->n);
    if (w->nullable) w->valid = fl_array_new(ctx, FL_BOOL, 1, &r->spans->n);
    if (!w->values || (w->nullable && !w->valid) || fl_array_keep(ctx, w->values, r->heap, NULL, 0) != 0)
      return false;
  }
  return true;
}

static bool read_spans(FlCtx *ctx, FlJsonReading *r, FlTableWanted *wanted, FlIoError *e) {
  int64_t pieces = (r->spans->n + FL_JSON_PIECE - 1) / FL_JSON_PIECE;
  r->errors = calloc((size_t)pieces + 1, sizeof *r->errors);
  r->heap = fl_heap_new(ctx);
  bool ok = r->errors && r->heap && make_arrays(ctx, r, wanted);
  if (!ok) fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", r->path);
  if (ok) fl_parallel_for(ctx, pieces, 1, read_pieces, r);
  for (int64_t p = 0; ok && p < pieces; p++) {
    if (!r->errors[p].code) continue;
    *e = r->errors[p];
    ok = false;
  }
  free(r->errors);
  fl_heap_unref(r->heap);
  return ok;
}

bool fl_json_wrong(const FlJsonScan *s, const char *text, const char *path, FlIoError *e) {
  int64_t line = fl_json_line_at(text, s->bad - text), n = s->end - s->bad, some = 0;
  char near[32];
  while (some < n && some < 20 && (unsigned char)s->bad[some] >= ' ') some++;
  some = fl_utf8_check(s->bad, some);
  snprintf(near, sizeof near, "%.*s", (int)some, s->bad);
  if (some) fl_io_error(e, FL_E_JSON, "`%s` line %lld: %s, at `%s`", path, (long long)line, s->why, near);
  else if (!n)
    fl_io_error(e, FL_E_JSON, "`%s` line %lld: %s, at the end of the object", path, (long long)line, s->why);
  else
    fl_io_error(e, FL_E_JSON, "`%s` line %lld: %s: a byte 0x%02x", path, (long long)line, s->why,
                (unsigned)(unsigned char)*s->bad);
  if (strcmp(s->why, FL_JSON_NO_NAN) == 0)
    fl_io_help(e, "write null in its place; in Python, json.dumps(x, allow_nan = False) finds it");
  e->line = line;
  return false;
}

bool fl_json_twice(FlJsonValue key, const char *text, const char *path, FlIoError *e) {
  int64_t line = fl_json_line_at(text, key.at - text),
          some = fl_utf8_check(key.at, key.len < 80 ? key.len : 80);
  e->line = line;
  return fl_io_error(e, FL_E_JSON, "`%s` line %lld: the key `%.*s` is there twice in one object", path,
                     (long long)line, (int)some, key.at);
}

bool fl_json_objects(const FlInput *in, bool lines, int64_t most, const char *path, FlJsonSpans *spans,
                     FlIoError *e) {
  return (lines ? fl_json_lines : fl_json_spans)(in->data, in->size, most, path, spans, e);
}

bool fl_json_read(FlCtx *ctx, const char *path, bool lines, FlTableWanted *wanted, int32_t n, int64_t *n_rows,
                  FlIoError *e) {
  FlInput in;
  FlJsonSpans spans = {.pool = fl_ctx_pool(ctx)};
  for (int32_t k = 0; k < n; k++) wanted[k].values = wanted[k].valid = NULL;
  if (!fl_input_open(ctx, path, &in, e)) return false;
  bool ok = fl_json_objects(&in, lines, 0, path, &spans, e);
  FlJsonReading r = {.path = path, .text = in.data, .spans = &spans, .wanted = wanted, .n_wanted = n};
  ok = ok && read_spans(ctx, &r, wanted, e) && fl_input_check(&in, path, e);
  *n_rows = spans.n;
  fl_counted_free(spans.at);
  fl_input_close(&in);
  for (int32_t k = 0; !ok && k < n; k++) {
    fl_array_unref(wanted[k].values);
    fl_array_unref(wanted[k].valid);
  }
  return ok;
}

static bool read_values(FlCtx *ctx, const FlTableFrom *from, FlTableWanted *wanted, int32_t n,
                        int64_t *n_rows, FlIoError *e) {
  return fl_json_read(ctx, from->path, false, wanted, n, n_rows, e);
}

static bool read_lines(FlCtx *ctx, const FlTableFrom *from, FlTableWanted *wanted, int32_t n, int64_t *n_rows,
                       FlIoError *e) {
  return fl_json_read(ctx, from->path, true, wanted, n, n_rows, e);
}

const FlTableReader fl_read_json = {.schema = fl_json_schema, .read = read_values};
const FlTableReader fl_read_jsonl = {.schema = fl_jsonl_schema, .read = read_lines};
