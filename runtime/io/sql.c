/* sql.c: the operator sql: a query over tables of ours, scalars and files, by DuckDB; and its row type.
 *
 * In: the query; inputs as attributes, each with its arguments:
 *   table   its rows; the columns follow,
 *   (none of these words) a column of it, as fl_table_column takes it
 *   scalar  $name in the query; perhaps null
 *   file    a Parquet file is a table, a DuckDB database has tables name.main.x
 * With the option `parallel` as many threads as the run has workers.
 * Out: rows and columns. What always holds: the query only reads, and only what it was given; with one thread
 * random() begins at the same place, so that the same query of the same inputs gives the same rows. */
#include "io/duckdb.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { FL_STATEMENT_SELECT = 1 };

typedef struct Scalar {
  const char *name;
  FlDtype dtype;
  bool null;
  FlSlot value;
} Scalar;

typedef struct Sql {
  FlDuck *d;
  const FlColumnAttr *inputs;
  int32_t n_inputs;
  FlTableColumn *columns;
  FlDuckTable *tables;
  Scalar *scalars;
  char **paths;
  int32_t n_columns, n_tables, n_scalars, n_paths;
  bool parallel;
} Sql;

static bool no_memory(FlIoError *e) { return fl_io_error(e, FL_E_MEMORY, "out of memory"); }

/* ---- inputs ------------------------------------------------------------------------------------------- */

static bool sql_init(Sql *q, const FlColumnAttr *inputs, int32_t n, FlIoError *e) {
  *q = (Sql){.inputs = inputs, .n_inputs = n};
  size_t room = (size_t)n + 1;
  q->columns = calloc(room, sizeof *q->columns);
  q->tables = calloc(room, sizeof *q->tables);
  q->scalars = calloc(room, sizeof *q->scalars);
  q->paths = calloc(room, sizeof *q->paths);
  return (q->columns && q->tables && q->scalars && q->paths) || no_memory(e);
}

static void sql_reset(Sql *q) {
  fl_duck_close(q->d);
  for (int32_t k = 0; k < q->n_paths; k++) free(q->paths[k]);
  free(q->columns);
  free(q->tables);
  free(q->scalars);
  free(q->paths);
}

static const FlSlot *take_scalar(Sql *q, const FlColumnAttr *a, const FlSlot *at) {
  bool nullable = (a->flags & FL_COLUMN_NULLS) != 0;
  q->scalars[q->n_scalars++] = (Scalar){a->name, (FlDtype)a->dtype, nullable && at[1].i == 0, at[0]};
  return at + 1 + nullable;
}

static bool take_file(FlCtx *ctx, int32_t site, Sql *q, FlText path, FlStatus *status, FlIoError *e) {
  if (ctx) *status = fl_ctx_claim_input(ctx, site, path.ptr, path.len);
  if (*status) return false;
  q->paths[q->n_paths] = fl_input_path(path, e);
  if (!q->paths[q->n_paths]) return false;
  q->n_paths++;
  return true;
}

/* Sorts the inputs by kind. */
static bool take_inputs(FlCtx *ctx, int32_t site, Sql *q, const FlSlot *at, FlStatus *status, FlIoError *e) {
  for (int32_t k = 0; k < q->n_inputs; k++) {
    const FlColumnAttr *a = &q->inputs[k];
    FlDuckTable *t = q->n_tables ? &q->tables[q->n_tables - 1] : NULL;
    if (a->flags & FL_COLUMN_TABLE) {
      q->tables[q->n_tables] = (FlDuckTable){.name = a->name,
                                             .name_len = (int32_t)strlen(a->name),
                                             .columns = q->columns + q->n_columns,
                                             .number = q->n_tables,
                                             .n_rows = (at++)->i};
      q->n_tables++;
    } else if (a->flags & FL_COLUMN_SCALAR) {
      at = take_scalar(q, a, at);
    } else if (a->flags & FL_COLUMN_FILE) {
      if (!take_file(ctx, site, q, (at++)->t, status, e)) return false;
    } else {
      at = fl_table_column(a, at, &q->columns[q->n_columns++]);
      if (t) t->n_columns++;
    }
  }
  return true;
}

static bool has_end(const char *path, const char *end) {
  size_t n = strlen(path), m = strlen(end);
  return n > m && strcasecmp(path + n - m, end) == 0;
}

static bool open_file(FlDuck *d, const char *name, const char *path, FlIoError *e) {
  FlBytes query = {0};
  bool database = has_end(path, ".duckdb") || has_end(path, ".ddb"), ok = true;
  struct stat found;
  int fd = fl_input_ordinary(path, &found, e);
  if (fd < 0) return false;
  close(fd);
  if (!database && !has_end(path, ".parquet") && !has_end(path, ".pq")) {
    fl_io_error(e, FL_E_SQL_TYPE, "`%s` is no Parquet file and no database of DuckDB, by its name", path);
    fl_io_help(e, "read it with one of the readers, and pass the table: t = read_csv(f)");
    return false;
  }
  fl_bytes_addz(&query, database ? "ATTACH " : "CREATE VIEW ");
  if (database) fl_duck_quote(&query, path, strlen(path), '\'');
  fl_bytes_addz(&query, database ? " AS " : "");
  fl_duck_quote(&query, name, strlen(name), '"');
  fl_bytes_addz(&query, database ? " (READ_ONLY" : " AS SELECT * FROM read_parquet(");
  ok = database || fl_duck_quote_path(&query, path, e);
  fl_bytes_add(&query, ")", 2);
  if (ok && query.failed) ok = no_memory(e);
  ok = ok && fl_duck_run(d, query.at, NULL, e);
  fl_bytes_reset(&query);
  return ok;
}

static bool open_all(Sql *q, FlIoError *e) {
  bool ok = fl_duck_run(q->d, "SELECT setseed(0.5)", NULL, e);
  int32_t file = 0;
  for (int32_t k = 0; ok && k < q->n_tables; k++) ok = fl_duck_show(q->d, &q->tables[k], e);
  for (int32_t k = 0; ok && k < q->n_inputs; k++)
    if (q->inputs[k].flags & FL_COLUMN_FILE) ok = open_file(q->d, q->inputs[k].name, q->paths[file++], e);
  return ok && fl_duck_seal(q->d, (const char *const *)q->paths, q->n_paths, e);
}

/* ---- the query ---------------------------------------------------------------------------------------- */

static bool bind(Sql *q, FlDuckHandle s, uint64_t index, const Scalar *v, FlIoError *e) {
  const FlDuckApi *api = &q->d->api;
  FlDuckState bad = 1;
  if (v->null) return api->bind_null(s, index) == 0 || fl_duck_fail(e, "a parameter is refused");
  switch (v->dtype) {
  case FL_BOOL: bad = api->bind_boolean(s, index, v->value.i != 0); break;
  case FL_I8:
  case FL_I16:
  case FL_I32:
  case FL_I64: bad = api->bind_int64(s, index, v->value.i); break;
  case FL_U8:
  case FL_U16:
  case FL_U32:
  case FL_U64: bad = api->bind_uint64(s, index, v->value.u); break;
  case FL_F32: bad = api->bind_float(s, index, v->value.f32); break;
  case FL_F64: bad = api->bind_double(s, index, v->value.f); break;
  case FL_TEXT:
    bad = api->bind_varchar_length(s, index, v->value.t.len ? v->value.t.ptr : "", (uint64_t)v->value.t.len);
    break;
  case FL_DATE: bad = api->bind_date(s, index, (FlDuckDate){(int32_t)v->value.i}); break;
  case FL_DATETIME: bad = api->bind_timestamp(s, index, (FlDuckTime){v->value.i}); break;
  case FL_ANY_DECIMAL: {
    FlDuckHuge units = {(uint64_t)v->value.i, v->value.i < 0 ? -1 : 0};
    uint8_t digits = FL_DECIMAL_DIGITS + !fl_decimal_fits(v->value.i);
    bad = api->bind_decimal(s, index, (FlDuckDecimal){digits, (uint8_t)fl_decimal_scale(v->dtype), units});
    break;
  }
  case FL_DURATION: bad = api->bind_interval(s, index, (FlDuckInterval){0, 0, v->value.i}); break;
  case FL_FILE:
  case FL_LIST:
  case FL_CATEGORY:
  case FL_N_DTYPES: break;
  }
  return bad == 0 || fl_duck_fail(e, "a parameter is refused");
}

static const Scalar *find_scalar(const Sql *q, const char *name) {
  for (int32_t k = 0; k < q->n_scalars; k++) {
    const Scalar *v = &q->scalars[k];
    if (strcasecmp(name, v->name) == 0) return v;
  }
  return NULL;
}

static bool no_scalar(const char *name, FlIoError *e) {
  fl_io_error(e, FL_E_SQL, "the query has a parameter `$%.100s`, and no argument of that name", name);
  fl_io_help(e, "pass it: sql(\"...\", %.100s = value)", name[0] >= '0' && name[0] <= '9' ? "name" : name);
  return false;
}

static bool bind_all(Sql *q, FlDuckHandle s, FlIoError *e) {
  bool ok = true;
  for (uint64_t k = 1, n = q->d->api.nparams(s); ok && k <= n; k++) {
    const char *name = q->d->api.parameter_name(s, k);
    const Scalar *v = name ? find_scalar(q, name) : NULL;
    ok = v ? bind(q, s, k, v, e) : no_scalar(name ? name : "?", e);
    if (name) q->d->api.free((void *)(uintptr_t)name);
  }
  return ok;
}

/* Runs a query that must only read. */
static bool run_query(Sql *q, const char *text, FlDuckResult *out, FlIoError *e) {
  const FlDuckApi *api = &q->d->api;
  FlDuckHandle s = NULL;
  FlDuckResult result = {0};
  bool ok = api->prepare(q->d->connection, text, &s) == 0 || fl_duck_fail(e, api->prepare_error(s));
  if (ok && api->prepared_statement_type(s) != FL_STATEMENT_SELECT) {
    ok = fl_io_error(e, FL_E_SQL, "a query of `sql` gives a table and does nothing else: this is no SELECT");
    fl_io_help(e, "write it as SELECT, WITH or FROM; files are written with write_parquet or write_csv");
  }
  ok = ok && bind_all(q, s, e);
  if (ok && api->execute_prepared(s, &result) != 0) {
    ok = fl_duck_fail(e, api->result_error(&result));
    api->destroy_result(&result);
  }
  api->destroy_prepare(&s);
  if (ok) *out = result;
  return ok;
}

/* ---- running ------------------------------------------------------------------------------------------ */

static bool run_sql(FlCtx *ctx, Sql *q, const char *text, FlTableWanted *wanted, int32_t n, int64_t *rows,
                    FlIoError *e) {
  FlDuckResult result;
  q->d = fl_duck_open(q->parallel ? fl_ctx_workers(ctx) : 1, e);
  if (!q->d || !open_all(q, e) || !run_query(q, text, &result, e)) return false;
  bool ok = fl_duck_take(ctx, q->d, &result, "the result of `sql`", wanted, n, rows, e);
  q->d->api.destroy_result(&result);
  return ok;
}

FlStatus fl_rt_sql(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlStatus status = fl_ctx_ask(ctx); /* which rows come first may be left to DuckDB */
  if (status) return status;
  FlIoError e = {0};
  Sql q = {0};
  int32_t n = (int32_t)desc->i;
  int64_t rows = 0;
  FlTableWanted *wanted = calloc((size_t)n + 1, sizeof *wanted);
  char *text = fl_input_path(args[0].t, &e);
  bool ok = text && (wanted || no_memory(&e)) && sql_init(&q, desc->columns + n, desc->n_columns - n, &e);
  q.parallel = desc->n_options > 0;
  for (int32_t k = 0; ok && k < n; k++) wanted[k] = fl_table_wanted(&desc->columns[k]);
  ok = ok && take_inputs(ctx, desc->site, &q, args + 1, &status, &e);
  ok = ok && run_sql(ctx, &q, text, wanted, n, &rows, &e);
  if (!ok && !status) status = fl_io_fail(ctx, desc->site, &e, "", 0);
  if (!status) {
    FlSlot *to = results;
    (to++)->i = rows;
    for (int32_t k = 0; k < n; k++) {
      (to++)->a = wanted[k].values;
      if (wanted[k].nullable) (to++)->a = wanted[k].valid;
    }
  }
  sql_reset(&q);
  free(wanted);
  free(text);
  return status;
}

/* ---- row types ---------------------------------------------------------------------------------------- */

/* Arguments that stand for the inputs while compiling: tables without rows, zeros, the files as they are. */
typedef struct Standing {
  FlSlot *slots;
  FlArray **arrays;
  int32_t n, n_arrays;
} Standing;

static bool add_column(Standing *s, const FlColumnAttr *column, FlIoError *e) {
  FlTableWanted w = fl_table_wanted(column);
  static const int64_t dims[2] = {0, 1};
  for (int k = 0; k < 1 + w.nullable; k++) {
    FlArray *a = fl_array_new(NULL, k ? FL_BOOL : (int32_t)w.dtype, w.arrays && !k ? 2 : 1, dims);
    if (!a) return no_memory(e);
    s->arrays[s->n_arrays++] = a;
    s->slots[s->n++].a = a;
  }
  return true;
}

static bool stand_in(Standing *s, const FlColumnAttr *inputs, int32_t n, const char *const *paths,
                     FlIoError *e) {
  s->slots = calloc(2 * (size_t)n + 1, sizeof *s->slots);
  s->arrays = calloc(2 * (size_t)n + 1, sizeof *s->arrays);
  bool ok = (s->slots && s->arrays) || no_memory(e);
  for (int32_t k = 0, file = 0; ok && k < n; k++) {
    const int flags = inputs[k].flags;
    if (flags & FL_COLUMN_TABLE) {
      s->slots[s->n++].i = 0;
    } else if (flags & FL_COLUMN_SCALAR) {
      s->n += 1 + ((flags & FL_COLUMN_NULLS) != 0);
    } else if (flags & FL_COLUMN_FILE) {
      s->slots[s->n++].t = (FlText){paths[file], (int64_t)strlen(paths[file])};
      file++;
    } else {
      ok = add_column(s, &inputs[k], e);
    }
  }
  return ok;
}

/* The query as a part of one that gives no rows; NULL: out of memory. */
static char *without_rows(const char *text) {
  size_t n = strlen(text);
  while (n && strchr(" \t\r\n;", text[n - 1])) n--;
  char *out = NULL;
  return asprintf(&out, "SELECT * FROM (%.*s\n) LIMIT 0", (int)n, text) < 0 ? NULL : out;
}

/* Names stand once in a table; DuckDB itself gives the second column of a name another one in a part of a
 * query. */
static bool check_names(Sql *q, const char *text, FlIoError *e) {
  const FlDuckApi *api = &q->d->api;
  FlDuckHandle s = NULL;
  bool ok = api->prepare(q->d->connection, text, &s) == 0 || fl_duck_fail(e, api->prepare_error(s));
  uint64_t n = ok ? api->prepared_statement_column_count(s) : 0;
  for (uint64_t k = 1; ok && k < n; k++) {
    const char *name = api->prepared_statement_column_name(s, k);
    for (uint64_t i = 0; ok && i < k; i++) {
      const char *other = api->prepared_statement_column_name(s, i);
      if (strcmp(name, other) == 0) {
        ok = fl_io_error(e, FL_E_SQL_TYPE, "the result has two columns `%.100s`", name);
        fl_io_help(e, "give one of them another name: `%.80s AS ...`", name);
      }
      api->free((void *)(uintptr_t)other);
    }
    api->free((void *)(uintptr_t)name);
  }
  api->destroy_prepare(&s);
  return ok;
}

static bool ask(Sql *q, const char *text, FlIoSchema *out, FlIoError *e) {
  FlDuckResult result;
  q->d = fl_duck_open(1, e);
  if (!q->d || !open_all(q, e)) return false;
  char *empty = without_rows(text);
  if (!empty) return no_memory(e);
  bool ok = run_query(q, empty, &result, e) || run_query(q, text, &result, e);
  free(empty);
  if (!ok) return false;
  ok = fl_duck_schema(q->d, &result, false, out, e);
  q->d->api.destroy_result(&result);
  if (ok && !check_names(q, text, e)) {
    fl_io_schema_reset(out);
    ok = false;
  }
  return ok;
}

bool fl_io_sql_schema(const char *query, const FlColumnAttr *inputs, int32_t n, const char *const *paths,
                      FlIoSchema *out, FlIoError *e) {
  Standing s = {0};
  Sql q = {0};
  FlStatus unused = 0;
  bool ok = stand_in(&s, inputs, n, paths, e) && sql_init(&q, inputs, n, e) &&
            take_inputs(NULL, -1, &q, s.slots, &unused, e) && ask(&q, query, out, e);
  sql_reset(&q);
  for (int32_t k = 0; k < s.n_arrays; k++) fl_array_unref(s.arrays[k]);
  free(s.arrays);
  free(s.slots);
  return ok;
}
