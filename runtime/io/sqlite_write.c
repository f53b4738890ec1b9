/* sqlite_write.c: a table as a SQLite database of its own.
 *
 * The database is made under the temporary name of the output (output.c), so it appears whole or not at all.
 * bool is BOOLEAN (0, 1), integers INTEGER, floats REAL, dates and datetimes texts in ISO 8601 declared DATE
 * and DATETIME, durations whole microseconds, so that reading gives the same types. A NaN would silently
 * become null, and an u64 above i64 a float: these are errors. */
#include "io/sqlite_internal.h"
#include "io/tables.h"
#include "data/data.h"
#include "data/number.h"
#include "data/value_type.h"

#include <stdlib.h>
#include <string.h>

typedef struct Writing {
  FlSqliteApi api;
  sqlite3 *db;
  sqlite3_stmt *insert;
  const FlTable *t;
  const char *path;
} Writing;

static bool failed(const Writing *w, FlIoError *e) {
  return fl_io_error(e, FL_E_WRITE, "cannot write `%s`: %.300s", w->path,
                     w->db ? w->api.errmsg(w->db) : "out of memory");
}

static const char *declared(int32_t dtype) {
  switch (fl_dtype_info[dtype].kind) {
  case FL_KIND_BOOL: return "BOOLEAN";
  case FL_KIND_SIGNED:
  case FL_KIND_UNSIGNED: return "INTEGER";
  case FL_KIND_FLOAT: return "REAL";
  case FL_KIND_TIME: return dtype == FL_DATE ? "DATE" : dtype == FL_DATETIME ? "DATETIME" : "INTEGER";
  case FL_KIND_DECIMAL: /* digits are kept as they are: NUMERIC would make floats of them */
  case FL_KIND_TEXT:
  case FL_KIND_REF: break;
  }
  return "TEXT";
}

/* CREATE TABLE, then the INSERT with a ? for each column. */
static bool create(Writing *w, const char *name, FlIoError *e) {
  FlBytes make = {0}, insert = {0};
  fl_bytes_addz(&make, "CREATE TABLE ");
  fl_sqlite_quote(&make, name);
  fl_bytes_addz(&insert, "INSERT INTO ");
  fl_sqlite_quote(&insert, name);
  fl_bytes_addz(&insert, " VALUES ");
  for (int32_t k = 0; k < w->t->n_columns; k++) {
    const FlTableColumn *c = &w->t->columns[k];
    char *column = strndup(c->name, (size_t)c->name_len);
    fl_bytes_addz(&make, k ? ", " : " (");
    fl_sqlite_quote(&make, column ? column : "");
    fl_bytes_addf(&make, " %s%s", declared(c->values->dtype), c->valid ? "" : " NOT NULL");
    fl_bytes_addz(&insert, k ? ", ?" : "(?");
    free(column);
  }
  fl_bytes_add(&make, ")", 2);
  fl_bytes_add(&insert, ")", 2);
  bool ok = !make.failed && !insert.failed && w->api.exec(w->db, make.at, NULL, NULL, NULL) == SQLITE_OK &&
            w->api.prepare_v2(w->db, insert.at, -1, &w->insert, NULL) == SQLITE_OK;
  fl_bytes_reset(&make);
  fl_bytes_reset(&insert);
  return ok || failed(w, e);
}

static bool unfit(const Writing *w, const FlTableColumn *c, int64_t row, const char *what, FlIoError *e) {
  return fl_io_error(e, FL_E_WRITE,
                     "cannot write `%s`: `%.*s` in row %lld is %s, which SQLite has no value for", w->path,
                     c->name_len, c->name, (long long)(row + 1), what);
}

static bool bind_time(const Writing *w, int at, int32_t dtype, FlSlot v) {
  char text[FL_NUMBER_ROOM + 2];
  int n = dtype == FL_DATE ? fl_print_date(text, (int32_t)v.i) : fl_print_datetime(text, v.i);
  return w->api.bind_text64(w->insert, at, text, (sqlite3_uint64)n, SQLITE_TRANSIENT, SQLITE_UTF8) ==
         SQLITE_OK;
}

static bool bind_decimal(const Writing *w, int at, int32_t dtype, FlSlot v) {
  char text[FL_NUMBER_ROOM];
  int n = fl_print_decimal(text, v.i, fl_decimal_scale(dtype));
  return w->api.bind_text64(w->insert, at, text, (sqlite3_uint64)n, SQLITE_TRANSIENT, SQLITE_UTF8) ==
         SQLITE_OK;
}

static bool bind(const Writing *w, int32_t k, int64_t row, FlIoError *e) {
  const FlTableColumn *c = &w->t->columns[k];
  int at = k + 1;
  if (c->valid && !((const uint8_t *)c->valid->data)[row])
    return w->api.bind_null(w->insert, at) == SQLITE_OK || failed(w, e);
  FlSlot v = fl_array_slot(c->values, row);
  bool ok = true;
  switch (fl_dtype_info[c->values->dtype].kind) {
  case FL_KIND_UNSIGNED:
    if (v.u > INT64_MAX) return unfit(w, c, row, "above the largest i64", e);
    ok = w->api.bind_int64(w->insert, at, v.i) == SQLITE_OK;
    break;
  case FL_KIND_BOOL:
  case FL_KIND_SIGNED: ok = w->api.bind_int64(w->insert, at, v.i) == SQLITE_OK; break;
  case FL_KIND_FLOAT: {
    double x = c->values->dtype == FL_F64 ? v.f : (double)v.f32;
    if (x != x) return unfit(w, c, row, "nan", e);
    ok = w->api.bind_double(w->insert, at, x) == SQLITE_OK;
    break;
  }
  case FL_KIND_TIME:
    if (c->values->dtype == FL_DURATION) ok = w->api.bind_int64(w->insert, at, v.i) == SQLITE_OK;
    else ok = bind_time(w, at, c->values->dtype, v);
    break;
  case FL_KIND_DECIMAL: ok = bind_decimal(w, at, c->values->dtype, v); break;
  case FL_KIND_TEXT:
  case FL_KIND_REF:
    ok = w->api.bind_text64(w->insert, at, v.t.len ? v.t.ptr : "", (sqlite3_uint64)v.t.len, SQLITE_STATIC,
                            SQLITE_UTF8) == SQLITE_OK;
  }
  return ok || failed(w, e);
}

static bool insert_rows(const Writing *w, FlIoError *e) {
  for (int64_t row = 0; row < w->t->n_rows; row++) {
    for (int32_t k = 0; k < w->t->n_columns; k++)
      if (!bind(w, k, row, e)) return false;
    if (w->api.step(w->insert) != SQLITE_DONE || w->api.reset(w->insert) != SQLITE_OK) return failed(w, e);
  }
  return true;
}

static bool run(const Writing *w, const char *statement, FlIoError *e) {
  return w->api.exec(w->db, statement, NULL, NULL, NULL) == SQLITE_OK || failed(w, e);
}

/* An FlPutFn of an FlTable. */
static bool put_sqlite(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  Writing w = {.t = what, .path = out->path};
  (void)ctx;
  const char *name = fl_option_text(w.t->options, "table");
  if (!out->file.temporary)
    return fl_io_error(e, FL_E_WRITE, "cannot write `%s`: a database is an ordinary file", out->path);
  if (!fl_sqlite_api(&w.api, "writing SQLite databases", e)) return false;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  bool ok = w.api.open_v2(out->file.temporary, &w.db, flags, NULL) == SQLITE_OK || failed(&w, e);
  ok = ok && run(&w, "PRAGMA journal_mode = off", e) && run(&w, "PRAGMA synchronous = off", e) &&
       run(&w, "BEGIN", e) && create(&w, name ? name : "data", e) && insert_rows(&w, e) &&
       run(&w, "COMMIT", e);
  if (w.insert) w.api.finalize(w.insert);
  if (w.db && w.api.close(w.db) != SQLITE_OK && ok) ok = failed(&w, e);
  return ok;
}

const FlTableWriter fl_write_sqlite = {.put = put_sqlite};
