/* parquet.c: Parquet files: read_parquet, write_parquet, and the row type of a file; through DuckDB where the
 * columns are none of those that parquet_parts.c reads.
 *
 * What always holds: rows are in the order of the file; a file that is written appears whole or not at all.
 */
#include "io/duckdb.h"
#include "io/parquet.h"
#include "exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- reading ------------------------------------------------------------------------------------------ */

/* Which rows of a file: `n` from `first` on; n < 0: all. */
typedef struct Rows {
  int64_t first, n;
} Rows;

/* "SELECT <columns> FROM read_parquet('path')"; n < 0: all columns, no rows. json: of those it is made. */
static bool select_from(FlBytes *query, const char *path, Rows rows, const FlTableWanted *columns,
                        const bool *json, int32_t n, FlIoError *e) {
  fl_bytes_addz(query, "SELECT ");
  if (n < 0) fl_bytes_addz(query, "*");
  if (n == 0) fl_bytes_addz(query, "count(*)");
  for (int32_t k = 0; k < n; k++) {
    if (k) fl_bytes_addz(query, ", ");
    if (json[k]) fl_bytes_addz(query, "CAST(to_json(");
    fl_duck_quote(query, columns[k].name, (size_t)columns[k].name_len, '"');
    if (!json[k]) continue;
    fl_bytes_addz(query, ") AS VARCHAR) AS ");
    fl_duck_quote(query, columns[k].name, (size_t)columns[k].name_len, '"');
  }
  fl_bytes_addz(query, " FROM read_parquet(");
  if (!fl_duck_quote_path(query, path, e)) return false;
  fl_bytes_addz(query, n < 0 ? ") LIMIT 0" : ")");
  if (n >= 0 && rows.n >= 0)
    fl_bytes_addf(query, " WHERE file_row_number >= %lld AND file_row_number < %lld", (long long)rows.first,
                  (long long)(rows.first + rows.n));
  fl_bytes_add(query, "", 1);
  return !query->failed || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
}

static bool query_file(FlDuck *d, const char *path, Rows rows, const FlTableWanted *columns, const bool *json,
                       int32_t n, FlDuckResult *out, FlIoError *e) {
  FlBytes query = {0};
  bool ok = select_from(&query, path, rows, columns, json, n, e) && fl_duck_run(d, query.at, out, e);
  fl_bytes_reset(&query);
  return ok;
}

static const Rows all_rows = {0, -1};

/* Of which wanted columns of texts JSON is made: those that are nested. */
static void find_nested(FlDuck *d, FlDuckResult *result, const FlTableWanted *columns, int32_t n,
                        bool *json) {
  for (uint64_t i = 0; i < d->api.column_count(result); i++) {
    const char *name = d->api.column_name(result, i);
    FlDuckHandle type = d->api.column_logical_type(result, i);
    int id = d->api.get_type_id(type);
    d->api.destroy_logical_type(&type);
    bool nested = id == FL_DUCK_LIST || id == FL_DUCK_STRUCT || id == FL_DUCK_MAP || id == FL_DUCK_ARRAY;
    for (int32_t k = 0; nested && k < n; k++)
      if (columns[k].dtype == FL_TEXT && !columns[k].arrays && strlen(name) == (size_t)columns[k].name_len &&
          memcmp(name, columns[k].name, strlen(name)) == 0)
        json[k] = true;
  }
}

/* What is wrong with the name of column k of the file, which DuckDB calls otherwise. */
static bool renamed(const char *path, const FlText *names, int32_t k, const char *other, FlIoError *e) {
  FlText name = names[k];
  int len = (int)(name.len < 100 ? name.len : 100);
  if (!name.len)
    return fl_io_error(e, FL_E_HEADER, "column %d of `%s` has no name, and DuckDB calls it `%.100s`", k + 1,
                       path, other);
  if (memchr(name.ptr, 0, (size_t)name.len))
    return fl_io_error(e, FL_E_HEADER, "the name of column %d of `%s` has a zero byte", k + 1, path);
  for (int32_t i = 0; i < k; i++) {
    if (names[i].len != name.len || strncasecmp(names[i].ptr, name.ptr, (size_t)name.len) != 0) continue;
    if (memcmp(names[i].ptr, name.ptr, (size_t)name.len) == 0)
      return fl_io_error(e, FL_E_HEADER, "columns %d and %d of `%s` are both called `%.*s`", i + 1, k + 1,
                         path, len, name.ptr);
    return fl_io_error(e, FL_E_HEADER,
                       "columns %d and %d of `%s` are called `%.*s` and `%.*s`, one name for DuckDB, which "
                       "does not look at case",
                       i + 1, k + 1, path, len, names[i].ptr, len, name.ptr);
  }
  return fl_io_error(e, FL_E_HEADER, "column %d of `%s` is called `%.*s`, and DuckDB calls it `%.100s`",
                     k + 1, path, len, name.ptr, other);
}

/* Whether DuckDB calls the columns of the file, which `result` has, as the file does. */
static bool check_names(FlDuck *d, const char *path, FlDuckResult *result, FlIoError *e) {
  static const char name[] = "name", below[] = "below";
  FlBytes query = {0};
  FlDuckResult schema;
  FlTableWanted columns[2] = {{.name = name, .name_len = sizeof name - 1, .dtype = FL_TEXT},
                              {.name = below, .name_len = sizeof below - 1, .dtype = FL_I64}};
  int64_t n = 0;
  fl_bytes_addz(&query, "SELECT name, coalesce(num_children, 0)::BIGINT AS below FROM parquet_schema(");
  bool ok = fl_duck_quote_path(&query, path, e);
  fl_bytes_add(&query, ")", 2);
  if (ok && query.failed) ok = fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  ok = ok && fl_duck_run(d, query.at, &schema, e);
  fl_bytes_reset(&query);
  if (!ok) return false;
  ok = fl_duck_take(NULL, d, &schema, "the schema", columns, 2, &n, e);
  d->api.destroy_result(&schema);
  if (!ok) return false;
  FlText *names = columns[0].values->data; /* of the root, then of its fields, each with what is below it */
  const int64_t *children = columns[1].values->data;
  int32_t n_columns = (int32_t)d->api.column_count(result), k = 0;
  for (int64_t i = 1; ok && i < n && k < n_columns; k++) {
    const char *other = d->api.column_name(result, (uint64_t)k);
    names[k] = names[i];
    if (names[k].len != (int64_t)strlen(other) || memcmp(names[k].ptr, other, strlen(other)) != 0)
      ok = renamed(path, names, k, other, e);
    for (int64_t left = 1; left > 0 && i < n; i++) left += children[i] - 1;
  }
  fl_array_unref(columns[0].values);
  fl_array_unref(columns[1].values);
  return ok;
}

/* Whether all wanted columns are there, with types that become the wanted ones: said before rows are read. */
static bool check_columns(FlCtx *ctx, FlDuck *d, const char *path, const char *label,
                          const FlTableWanted *columns, bool *json, int32_t n, FlIoError *e) {
  FlDuckResult result;
  int64_t none;
  int32_t others = 0;
  FlTableWanted *copy = calloc((size_t)n + 1, sizeof *copy);
  if (!copy) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  bool ok = query_file(d, path, all_rows, NULL, NULL, -1, &result, e);
  if (ok) {
    ok = check_names(d, path, &result, e);
    find_nested(d, &result, columns, n, json);
    for (int32_t k = 0; k < n; k++)
      if (!json[k]) copy[others++] = columns[k];
    ok = ok && fl_duck_take(ctx, d, &result, label, copy, others, &none, e);
    d->api.destroy_result(&result);
  }
  for (int32_t k = 0; ok && k < others; k++) fl_table_wanted_reset(&copy[k]);
  free(copy);
  return ok;
}

static bool take_rows(FlCtx *ctx, FlDuck *d, const char *path, Rows which, const char *label,
                      FlTableWanted *columns, const bool *json, int32_t n, int64_t *rows, FlIoError *e) {
  FlDuckResult result;
  static const char name[] = "count_star()";
  FlTableWanted count = {.name = name, .name_len = sizeof name - 1, .dtype = FL_I64};
  if (!query_file(d, path, which, columns, json, n, &result, e)) return false;
  bool ok = fl_duck_take(ctx, d, &result, label, n ? columns : &count, n ? n : 1, rows, e);
  d->api.destroy_result(&result);
  if (ok && !n) {
    *rows = *rows == 1 ? *(const int64_t *)count.values->data : 0;
    fl_array_unref(count.values);
  }
  return ok;
}

bool fl_parquet_ask(FlCtx *ctx, const char *path, int64_t first, int64_t count, FlTableWanted *wanted,
                    int32_t n, int64_t *rows, FlIoError *e) {
  char label[256];
  (void)snprintf(label, sizeof label, "`%.240s`", path);
  FlDuck *d = fl_duck_open(count < 0 ? fl_ctx_workers(ctx) : 1, e);
  bool *json = d ? calloc((size_t)n + 1, sizeof *json) : NULL;
  bool ok = d && (json || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path)) &&
            check_columns(ctx, d, path, label, wanted, json, n, e) &&
            take_rows(ctx, d, path, (Rows){first, count}, label, wanted, json, n, rows, e);
  free(json);
  fl_duck_close(d);
  return ok;
}

void fl_parquet_needed_for(const char *path, const char *name, int32_t name_len, FlIoError *e) {
  char why[sizeof e->message];
  if (e->code != FL_E_NO_DUCKDB) return;
  memcpy(why, e->message, sizeof why);
  (void)snprintf(e->message, sizeof e->message,
                 "column `%.*s` of `%.150s` is not of those that are read without DuckDB: %.200s",
                 name_len < 100 ? name_len : 100, name, path, why);
}

/* The one part that is the whole file. */
static bool read_parquet(FlCtx *ctx, const FlTableFrom *from, FlTableWanted *wanted, int32_t n, int64_t *rows,
                         FlIoError *e) {
  int64_t n_parts;
  const FlTableParts *parts = &fl_parquet_parts;
  void *file = parts->open(ctx, from, wanted, n, &n_parts, e);
  bool ok = file && parts->part(ctx, file, -1, wanted, n, rows, e);
  if (ok && !parts->end(file, from->path, e)) {
    for (int32_t k = 0; k < n; k++) fl_table_wanted_reset(&wanted[k]);
    ok = false;
  }
  if (file) parts->close(file);
  return ok;
}

/* ---- row types ---------------------------------------------------------------------------------------- */

enum { MOST_NAMES = 10000 }; /* columns whose names are compared with each other here */

/* Columns of which the file itself says that no value is null. */
static bool find_nulls(FlDuck *d, const char *path, FlIoSchema *schema, FlIoError *e) {
  FlBytes query = {0};
  FlDuckResult result;
  fl_bytes_addz(&query,
                "SELECT path_in_schema, "
                "coalesce(sum(CASE WHEN stats_null_count IS NULL THEN 1 ELSE stats_null_count END), 1) "
                "FROM parquet_metadata(");
  bool ok = fl_duck_quote_path(&query, path, e);
  fl_bytes_add(&query, ") GROUP BY 1", 13);
  if (ok && query.failed) ok = fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  ok = ok && fl_duck_run(d, query.at, &result, e);
  fl_bytes_reset(&query);
  if (!ok) return false;
  FlTableWanted columns[2] = {{.dtype = FL_TEXT}, {.dtype = FL_I64}};
  for (uint64_t k = 0; k < 2; k++) {
    columns[k].name = d->api.column_name(&result, k);
    columns[k].name_len = (int32_t)strlen(columns[k].name);
  }
  int64_t n;
  ok = fl_duck_take(NULL, d, &result, "what the file says of its columns", columns, 2, &n, e);
  d->api.destroy_result(&result);
  for (int64_t i = 0; ok && i < n; i++) {
    FlText name = ((const FlText *)columns[0].values->data)[i];
    bool nulls = ((const int64_t *)columns[1].values->data)[i] != 0;
    for (int32_t k = 0; k < schema->n_columns; k++) {
      FlIoColumn *c = &schema->columns[k];
      if (strlen(c->name) == (size_t)name.len && memcmp(c->name, name.ptr, (size_t)name.len) == 0)
        c->nullable = c->nullable && nulls;
    }
  }
  if (ok) fl_array_unref(columns[0].values);
  if (ok) fl_array_unref(columns[1].values);
  return ok;
}

static bool count_rows(FlDuck *d, const char *path, FlIoSchema *schema, FlIoError *e) {
  schema->whole = true;
  return take_rows(NULL, d, path, all_rows, path, NULL, NULL, 0, &schema->n_rows, e);
}

/* How many columns, from the first on, are of those that are read here, with names that DuckDB has, too. */
static int32_t n_known(const FlParquetFile *f) {
  FlDtype dtype;
  for (int32_t k = 0; k < f->n_columns; k++) {
    FlText name = f->columns[k].name;
    bool known = name.len > 0 && name.len < INT32_MAX && !memchr(name.ptr, 0, (size_t)name.len) &&
                 fl_utf8_check(name.ptr, name.len) == name.len && fl_parquet_dtype(&f->columns[k], &dtype) &&
                 fl_parquet_find(f, name.ptr, (int32_t)name.len) == &f->columns[k];
    if (!known) return k;
  }
  return f->n_columns;
}

/* A column may hold null unless each of its chunks says that it has none. */
static bool may_be_null(const FlParquetFile *f, const FlParquetColumn *c) {
  for (int32_t g = 0; g < f->n_groups; g++)
    if (f->chunks[(int64_t)g * f->n_leaves + c->leaf].nulls != 0) return true;
  return f->n_groups == 0;
}

/* One block for all: the columns, then their names. */
static bool give_schema(const FlParquetFile *f, FlIoSchema *out, FlIoError *e) {
  size_t bytes = ((size_t)f->n_columns + 1) * sizeof *out->columns;
  for (int32_t k = 0; k < f->n_columns; k++) bytes += (size_t)f->columns[k].name.len + 1;
  *out = (FlIoSchema){
      .n_columns = f->n_columns, .n_rows = f->first[f->n_groups], .whole = true, .own = calloc(1, bytes)};
  if (!out->own) return fl_io_error(e, FL_E_MEMORY, "out of memory");
  out->columns = out->own;
  char *at = (char *)(out->columns + f->n_columns + 1);
  for (int32_t k = 0; k < f->n_columns; k++) {
    const FlParquetColumn *c = &f->columns[k];
    out->columns[k].name = memcpy(at, c->name.ptr, (size_t)c->name.len);
    out->columns[k].nullable = may_be_null(f, c);
    (void)fl_parquet_dtype(c, &out->columns[k].dtype);
    at += c->name.len + 1;
  }
  return true;
}

static bool schema_of(const char *path, FlOptions options, FlIoSchema *out, FlIoError *e) {
  (void)options;
  struct stat found;
  FlDuckResult result;
  FlInput in;
  FlParquetFile file;
  int fd = fl_input_ordinary(path, &found, e);
  if (fd < 0) return false;
  close(fd);
  if (!fl_input_open(NULL, path, &in, e)) return false;
  bool opened = fl_parquet_open(&in, &file);
  int32_t n = opened ? n_known(&file) : 0;
  bool known = opened && n == file.n_columns && n <= MOST_NAMES, given = known && give_schema(&file, out, e);
  FlDuck *d = known ? NULL : fl_duck_open(1, e);
  if (!known && !d && opened && n < file.n_columns)
    fl_parquet_needed_for(path, file.columns[n].name.ptr, (int32_t)file.columns[n].name.len, e);
  fl_parquet_close(&file);
  fl_input_close(&in);
  if (known) return given;
  bool ok = d && query_file(d, path, all_rows, NULL, NULL, -1, &result, e);
  if (ok) {
    ok = check_names(d, path, &result, e) && fl_duck_schema(d, &result, true, out, e);
    d->api.destroy_result(&result);
    if (ok && !(find_nulls(d, path, out, e) && count_rows(d, path, out, e))) {
      fl_io_schema_reset(out);
      ok = false;
    }
  }
  fl_duck_close(d);
  return ok;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static bool copy_to(FlDuck *d, const char *path, FlIoError *e) {
  FlBytes query = {0};
  fl_bytes_addz(&query, "COPY (SELECT * FROM t) TO ");
  fl_duck_quote(&query, path, strlen(path), '\'');
  fl_bytes_addz(&query, " (FORMAT parquet, USE_TMP_FILE false)");
  fl_bytes_add(&query, "", 1);
  bool ok = query.failed ? fl_io_error(e, FL_E_MEMORY, "out of memory") : fl_duck_run(d, query.at, NULL, e);
  fl_bytes_reset(&query);
  return ok;
}

/* An FlPutFn of an FlTable: DuckDB writes the temporary file. */
static bool put_parquet(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const FlTable *t = what;
  FlDuckTable table = {
      .name = "t", .name_len = 1, .columns = t->columns, .n_columns = t->n_columns, .n_rows = t->n_rows};
  (void)ctx;
  if (!out->file.temporary)
    return fl_io_error(e, FL_E_WRITE,
                       "cannot write `%s`: a Parquet file is not written to a device or a pipe", out->path);
  FlDuck *d = fl_duck_open(1, e);
  bool ok = d && fl_duck_show(d, &table, e) && copy_to(d, out->file.temporary, e);
  fl_duck_close(d);
  return ok;
}

const FlTableReader fl_read_parquet = {.schema = schema_of, .read = read_parquet, .parts = &fl_parquet_parts};
const FlTableWriter fl_write_parquet = {.put = put_parquet};
