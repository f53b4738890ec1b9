/* sqlite_read.c: reading SQLite databases, and the row type of a query while compiling.
 *
 * In: rows of a query (sqlite_open.c). Out: columns. What always holds: a value is stored as it is or is an
 * error with its row; a number never becomes another one. */
#include "io/sqlite_internal.h"
#include "io/tables.h"
#include "data/data.h"
#include "data/number.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>

enum { FL_SAMPLE = 1 << 17 }; /* rows that are looked at for types */

static bool no_memory(const FlSqliteQuery *q, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", q->path);
}

/* ---- types -------------------------------------------------------------------------------------------- */

enum { BLOB = 1 << 12 }; /* beside FL_SEEN_* */

/* What the values of a column were seen to be: numbers that are 0 or 1 are no bools by themselves. */
static int class_of(const FlSqliteQuery *q, int k) {
  int64_t micros;
  int32_t day;
  switch (q->api.column_type(q->rows, k)) {
  case SQLITE_INTEGER: return FL_SEEN_INT;
  case SQLITE_FLOAT: return FL_SEEN_FLOAT;
  case SQLITE_NULL: return FL_SEEN_EMPTY;
  case SQLITE_TEXT: break;
  default: return BLOB;
  }
  const char *s = (const char *)q->api.column_text(q->rows, k);
  int64_t n = q->api.column_bytes(q->rows, k);
  if (s && fl_parse_date(s, n, &day)) return FL_SEEN_DATE;
  return s && fl_parse_datetime(s, n, &micros) ? FL_SEEN_DATETIME : FL_SEEN_TEXT;
}

static bool says(const char *declared, const char *word) { return declared && strcasestr(declared, word); }

/* The type of a column by how it is declared, by SQLite's rules of affinity with bool, date and time before
 * them; where nothing is declared by the values. */
static FlDtype conclude(const char *declared, int seen) {
  int values = seen & ~FL_SEEN_EMPTY;
  bool dates = values && !(values & ~FL_SEEN_DATE),
       times = values && !(values & ~(FL_SEEN_DATE | FL_SEEN_DATETIME));
  if (says(declared, "BOOL")) return FL_BOOL;
  if (says(declared, "DATETIME") || says(declared, "TIMESTAMP")) {
    if (times) return FL_DATETIME;
  } else if (says(declared, "DATE") && dates) {
    return FL_DATE;
  }
  if (says(declared, "INT")) return FL_I64;
  if (says(declared, "CHAR") || says(declared, "CLOB") || says(declared, "TEXT")) return FL_TEXT;
  if (says(declared, "REAL") || says(declared, "FLOA") || says(declared, "DOUB")) return FL_F64;
  if (!values && says(declared, "DATE")) return says(declared, "TIME") ? FL_DATETIME : FL_DATE;
  if (!(values & ~FL_SEEN_INT) && values) return FL_I64;
  if (values && !(values & ~(FL_SEEN_INT | FL_SEEN_FLOAT))) return FL_F64;
  return !values && declared && says(declared, "NUM") ? FL_F64 : FL_TEXT;
}

static bool take_columns(FlSqliteQuery *q, const int *seen, int n, FlIoSchema *out, FlIoError *e) {
  size_t bytes = (size_t)n * sizeof *out->columns;
  for (int k = 0; k < n; k++) bytes += strlen(q->api.column_name(q->rows, k)) + 1;
  out->own = calloc(1, bytes + 1);
  if (!out->own) return no_memory(q, e);
  out->columns = out->own;
  char *to = (char *)(out->columns + n);
  for (int k = 0; k < n; k++) {
    const char *name = q->api.column_name(q->rows, k);
    int64_t len = (int64_t)strlen(name);
    if (fl_utf8_check(name, len) != len)
      return fl_io_error(e, FL_E_UTF8, "the name of column %d of the query is not UTF-8 text", k + 1);
    for (int i = 0; i < k; i++)
      if (strcmp(name, q->api.column_name(q->rows, i)) == 0)
        return fl_io_error(e, FL_E_HEADER, "columns %d and %d of the query are both called `%.100s`", i + 1,
                           k + 1, name);
    if (seen[k] & BLOB) continue;
    strcpy(to, name);
    out->columns[out->n_columns++] =
        (FlIoColumn){.name = to,
                     .dtype = conclude(q->api.column_decltype(q->rows, k), seen[k]),
                     .nullable = (seen[k] & FL_SEEN_EMPTY) != 0};
    to += strlen(name) + 1;
  }
  return out->n_columns ||
         fl_io_error(e, FL_E_SQLITE, "`%s`: the query gives no column of a type that flow has", q->path);
}

static bool schema_of(const char *path, FlOptions options, FlIoSchema *out, FlIoError *e) {
  FlSqliteQuery q;
  int *seen = NULL, n = 0, got = 0;
  memset(out, 0, sizeof *out);
  memset(e, 0, sizeof *e);
  bool ok = fl_sqlite_open(path, options, &q, e);
  if (ok) {
    n = q.api.column_count(q.rows);
    seen = calloc((size_t)n + 1, sizeof *seen);
    ok = seen || no_memory(&q, e);
  }
  for (; ok && out->n_rows < FL_SAMPLE && (got = fl_sqlite_step(&q, e)) > 0; out->n_rows++)
    for (int k = 0; k < n; k++) seen[k] |= class_of(&q, k);
  out->whole = got == 0;
  ok = ok && got >= 0 && take_columns(&q, seen, n, out, e) && fl_sqlite_check(&q, e);
  free(seen);
  fl_sqlite_close(&q);
  if (!ok) fl_io_schema_reset(out);
  return ok;
}

/* ---- values ------------------------------------------------------------------------------------------- */

/* A column that grows. */
typedef struct Column {
  FlTableWanted *w;
  int k; /* of the query */
  FlBytes values, valid;
} Column;

static bool int_fits(FlDtype d, int64_t v) {
  int bits = 8 * fl_dtype_info[d].bytes;
  if (fl_dtype_info[d].kind == FL_KIND_UNSIGNED) return v >= 0 && (bits == 64 || v >> bits == 0);
  return bits == 64 || (v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1));
}

static bool time_of(const FlTableWanted *w, const char *s, int64_t n, FlSlot *v) {
  int32_t day;
  if (!s) return false;
  if (fl_parse_date(s, n, &day)) {
    v->i = w->dtype == FL_DATE ? day : day * INT64_C(86400000000); /* a day alone is its midnight */
    return true;
  }
  return w->dtype == FL_DATETIME && fl_parse_datetime(s, n, &v->i);
}

/* The value of a column in the row that the query is at; false: it does not fit. */
static bool value_of(const FlSqliteQuery *q, const Column *c, FlHeap *heap, FlSlot *v) {
  int type = q->api.column_type(q->rows, c->k);
  bool integer = type == SQLITE_INTEGER;
  *v = (FlSlot){.t = {NULL, 0}};
  switch (fl_dtype_info[c->w->dtype].kind) {
  case FL_KIND_BOOL: v->i = q->api.column_int64(q->rows, c->k); return integer && (v->i == 0 || v->i == 1);
  case FL_KIND_SIGNED:
  case FL_KIND_UNSIGNED:
    v->i = q->api.column_int64(q->rows, c->k);
    return integer && int_fits(c->w->dtype, v->i);
  case FL_KIND_FLOAT:
    if (c->w->dtype == FL_F64) v->f = q->api.column_double(q->rows, c->k);
    else v->f32 = (float)q->api.column_double(q->rows, c->k);
    return integer || type == SQLITE_FLOAT;
  case FL_KIND_DECIMAL: /* texts and integers; a float is rounded already */
    return (integer || type == SQLITE_TEXT) &&
           fl_parse_decimal((const char *)q->api.column_text(q->rows, c->k),
                            q->api.column_bytes(q->rows, c->k), fl_decimal_scale(c->w->dtype), &v->i);
  case FL_KIND_TIME:
    return type == SQLITE_TEXT && time_of(c->w, (const char *)q->api.column_text(q->rows, c->k),
                                          q->api.column_bytes(q->rows, c->k), v);
  case FL_KIND_TEXT: {
    const char *s = type == SQLITE_BLOB ? NULL : (const char *)q->api.column_text(q->rows, c->k);
    int64_t n = s ? q->api.column_bytes(q->rows, c->k) : 0;
    if (n) v->t = fl_heap_text(heap, s, n);
    return s && fl_utf8_check(s, n) == n;
  }
  case FL_KIND_REF: break;
  }
  return false;
}

static bool misfit(const FlSqliteQuery *q, const Column *c, int64_t row, FlIoError *e) {
  const char *type = fl_dtype_info[c->w->dtype].name, *s = NULL;
  int kind = q->api.column_type(q->rows, c->k);
  if (kind == SQLITE_NULL) {
    fl_io_error(e, FL_E_NULL, "`%s` row %lld: `%.*s` is %s without nulls, but here it is null", q->path,
                (long long)row, c->w->name_len, c->w->name, type);
    fl_io_help(e, "allow null: types = (`%.*s`: %s?)", c->w->name_len, c->w->name, type);
    return false;
  }
  if (kind != SQLITE_BLOB) s = (const char *)q->api.column_text(q->rows, c->k);
  int64_t n = s ? q->api.column_bytes(q->rows, c->k) : 0, shown = n < 100 ? n : 100;
  if (s) shown = fl_utf8_check(s, shown);
  if (s)
    fl_io_error(e, FL_E_VALUE, "`%s` row %lld: `%.*s` is %s, but here it is `%.*s`", q->path, (long long)row,
                c->w->name_len, c->w->name, type, (int)shown, s);
  else
    fl_io_error(e, FL_E_VALUE, "`%s` row %lld: `%.*s` is %s, but here it is a blob", q->path, (long long)row,
                c->w->name_len, c->w->name, type);
  if (s && c->w->dtype != FL_TEXT)
    fl_io_help(e, "read it as text: types = (`%.*s`: text)", c->w->name_len, c->w->name);
  return false;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static bool find_column(const FlSqliteQuery *q, Column *c, FlIoError *e) {
  int n = q->api.column_count(q->rows);
  c->k = -1;
  for (int k = 0; k < n && c->k < 0; k++) {
    const char *name = q->api.column_name(q->rows, k);
    if (name && strlen(name) == (size_t)c->w->name_len && memcmp(name, c->w->name, strlen(name)) == 0)
      c->k = k;
  }
  return c->k >= 0 || fl_io_error(e, FL_E_NO_COLUMN, "no column `%.*s` in the rows that `%s` gives",
                                  c->w->name_len, c->w->name, q->path);
}

static bool take_row(const FlSqliteQuery *q, Column *columns, int32_t n, FlHeap *heap, int64_t row,
                     FlIoError *e) {
  for (int32_t i = 0; i < n; i++) {
    Column *c = &columns[i];
    FlSlot v = {.t = {NULL, 0}};
    bool null = q->api.column_type(q->rows, c->k) == SQLITE_NULL;
    if ((null && !c->w->nullable) || (!null && !value_of(q, c, heap, &v))) return misfit(q, c, row, e);
    fl_bytes_add(&c->values, (const char *)&v, (size_t)fl_dtype_info[c->w->dtype].bytes); /* little endian */
    if (c->w->nullable) fl_bytes_fill(&c->valid, (char)!null, 1);
  }
  return true;
}

static bool make_arrays(FlCtx *ctx, const FlSqliteQuery *q, Column *c, FlHeap *heap, int64_t rows,
                        FlIoError *e) {
  if (c->values.failed || c->valid.failed || !fl_table_make(ctx, c->w, rows, 0)) return no_memory(q, e);
  if (c->values.len) memcpy(c->w->values->data, c->values.at, c->values.len);
  if (c->valid.len) memcpy(c->w->valid->data, c->valid.at, c->valid.len);
  fl_bytes_reset(&c->values);
  return c->w->dtype != FL_TEXT || fl_array_keep(ctx, c->w->values, heap, NULL, 0) == 0 || no_memory(q, e);
}

static bool read_rows(FlCtx *ctx, FlSqliteQuery *q, Column *columns, int32_t n, int64_t *rows, FlIoError *e) {
  FlHeap *heap = fl_heap_new(ctx);
  bool ok = heap || no_memory(q, e);
  int got = 0;
  *rows = 0;
  for (int32_t i = 0; ok && i < n; i++) ok = find_column(q, &columns[i], e);
  for (; ok && (got = fl_sqlite_step(q, e)) > 0; ++*rows) ok = take_row(q, columns, n, heap, *rows + 1, e);
  ok = ok && got >= 0;
  for (int32_t i = 0; ok && i < n; i++) ok = make_arrays(ctx, q, &columns[i], heap, *rows, e);
  fl_heap_unref(heap);
  return ok;
}

static bool read_one(FlCtx *ctx, const FlTableFrom *from, FlTableWanted *wanted, int32_t n, int64_t *n_rows,
                     FlIoError *e) {
  FlSqliteQuery q = {.path = from->path};
  Column *columns = calloc((size_t)n + 1, sizeof *columns);
  for (int32_t k = 0; k < n; k++) wanted[k].values = wanted[k].valid = wanted[k].levels = NULL;
  bool ok = columns || no_memory(&q, e);
  for (int32_t k = 0; ok && k < n; k++)
    columns[k] = (Column){.w = &wanted[k],
                          .values = fl_counted_bytes(fl_ctx_pool(ctx)),
                          .valid = fl_counted_bytes(fl_ctx_pool(ctx))};
  ok = ok && fl_sqlite_open(from->path, from->options, &q, e) && read_rows(ctx, &q, columns, n, n_rows, e) &&
       fl_sqlite_check(&q, e);
  fl_sqlite_close(&q);
  for (int32_t k = 0; columns && k < n; k++) {
    fl_bytes_reset(&columns[k].values);
    fl_bytes_reset(&columns[k].valid);
  }
  free(columns);
  for (int32_t k = 0; !ok && k < n; k++) fl_table_wanted_reset(&wanted[k]);
  return ok;
}

static bool check(FlOptions options, FlIoError *e) {
  return !fl_option_text(options, "table") || !fl_option_text(options, "query") ||
         fl_io_error(e, FL_E_SQLITE, "either `table` or `query` says what is read");
}

const FlTableReader fl_read_sqlite = {.schema = schema_of, .read = read_one, .check = check};
