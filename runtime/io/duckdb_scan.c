/* duckdb_scan.c: tables of ours as DuckDB sees them: a function that gives one, behind a view; see duckdb.h.
 *
 * In: columns that stay where they are. Out: vectors of rows, of the columns that the query asks for. What
 * always holds: each scan begins at the first row, however often a query reads the table; texts are not
 * copied, a vector points to their bytes. */
#include "io/duckdb.h"
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One scan. */
typedef struct Scan {
  const FlDuckTable *table;
  int64_t row;
  uint64_t n; /* columns that are asked for; a number behind the last is asked for nothing */
  uint64_t columns[];
} Scan;

/* ---- vectors ------------------------------------------------------------------------------------------ */

static void fill_texts(FlDuckText *to, const FlText *from, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    uint32_t length = (uint32_t)from[k].len;
    to[k] = (FlDuckText){.inside = {length, {0}}};
    if (length <= FL_DUCK_INSIDE) {
      if (length) memcpy(to[k].inside.bytes, from[k].ptr, length);
      continue;
    }
    memcpy(to[k].outside.first, from[k].ptr, sizeof to[k].outside.first);
    to[k].outside.ptr = from[k].ptr;
  }
}

/* n elements of a, from element `from` on. */
static void fill_values(void *to, const FlArray *a, int64_t from, int64_t n) {
  if (fl_dtype_is_text(a->dtype)) {
    fill_texts(to, (const FlText *)a->data + from, n);
  } else if (a->dtype == FL_DURATION) {
    const int64_t *micros = (const int64_t *)a->data + from;
    for (int64_t k = 0; k < n; k++) ((FlDuckInterval *)to)[k] = (FlDuckInterval){0, 0, micros[k]};
  } else if (n) {
    size_t bytes = (size_t)fl_dtype_info[a->dtype].bytes;
    memcpy(to, (const char *)a->data + (size_t)from * bytes, (size_t)n * bytes);
  }
}

static void fill_column(const FlDuckApi *api, FlDuckHandle vector, const FlTableColumn *c, int64_t row,
                        int64_t n) {
  const FlArray *a = c->values;
  if (a->rank == 2) {
    FlDuckHandle child = api->array_vector_get_child(vector);
    fill_values(api->vector_get_data(child), a, row * a->dims[1], n * a->dims[1]);
    return;
  }
  fill_values(api->vector_get_data(vector), a, row, n);
  const uint8_t *valid = c->valid ? (const uint8_t *)c->valid->data + row : NULL;
  if (!valid || !memchr(valid, 0, (size_t)n)) return;
  api->vector_ensure_validity_writable(vector);
  uint64_t *bits = api->vector_get_validity(vector);
  for (int64_t k = 0; k < n; k++)
    if (!valid[k]) bits[k / 64] &= ~((uint64_t)1 << k % 64);
}

/* ---- what DuckDB calls -------------------------------------------------------------------------------- */

/* A function of DuckDB's that leads from what a callback gets to what is ours: only that holds the others. */
static void *ours_of(FlDuckHandle info, const char *symbol) {
  void *(*get)(FlDuckHandle) = NULL;
  void *found = fl_duck_symbol(symbol);
  memcpy(&get, &found, sizeof get);
  return get ? get(info) : NULL;
}

static void add_column(const FlDuckTable *t, FlDuckHandle info, const FlTableColumn *c) {
  const FlDuckApi *api = t->api;
  int32_t dtype = c->values->dtype;
  FlDuckHandle type = fl_dtype_is_decimal(dtype)
                          ? api->create_decimal_type(FL_DECIMAL_DIGITS, (uint8_t)fl_decimal_scale(dtype))
                          : api->create_logical_type((int)fl_duck_type_of((FlDtype)dtype));
  if (c->values->rank == 2) {
    FlDuckHandle element = type;
    type = api->create_array_type(element, (uint64_t)c->values->dims[1]);
    api->destroy_logical_type(&element);
  }
  char *name = strndup(c->name, (size_t)c->name_len);
  if (name) api->bind_add_result_column(info, name, type);
  free(name);
  api->destroy_logical_type(&type);
}

static void on_bind(FlDuckHandle info) {
  const FlDuckTable *t = ours_of(info, "duckdb_bind_get_extra_info");
  if (!t) return; /* a function without columns, which DuckDB refuses */
  for (int32_t k = 0; k < t->n_columns; k++) add_column(t, info, &t->columns[k]);
  t->api->bind_set_cardinality(info, (uint64_t)t->n_rows, true);
}

static void on_init(FlDuckHandle info) {
  const FlDuckTable *t = ours_of(info, "duckdb_init_get_extra_info");
  if (!t) return;
  uint64_t n = t->api->init_get_column_count(info);
  Scan *scan = malloc(sizeof *scan + n * sizeof *scan->columns);
  if (!scan) {
    t->api->init_set_error(info, "out of memory");
    return;
  }
  *scan = (Scan){.table = t, .n = n};
  for (uint64_t k = 0; k < n; k++) scan->columns[k] = t->api->init_get_column_index(info, k);
  t->api->init_set_max_threads(info, 1);
  t->api->init_set_init_data(info, scan, free);
}

static void on_next(FlDuckHandle info, FlDuckHandle chunk) {
  Scan *scan = ours_of(info, "duckdb_function_get_init_data");
  if (!scan) return;
  const FlDuckTable *t = scan->table;
  int64_t most = (int64_t)t->api->vector_size(), left = t->n_rows - scan->row, n = left < most ? left : most;
  for (uint64_t k = 0; k < scan->n && n > 0; k++)
    if (scan->columns[k] < (uint64_t)t->n_columns)
      fill_column(t->api, t->api->data_chunk_get_vector(chunk, k), &t->columns[scan->columns[k]], scan->row,
                  n);
  scan->row += n;
  t->api->data_chunk_set_size(chunk, (uint64_t)n);
}

/* ---- the public function ------------------------------------------------------------------------------ */

static int by_letters(const void *a, const void *b) {
  return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

/* DuckDB has names for all columns, that differ by more than case; others it changes. */
static bool check_names(const FlDuckTable *t, FlIoError *e) {
  const char **names = malloc(((size_t)t->n_columns + 1) * sizeof *names);
  if (!names) return fl_io_error(e, FL_E_MEMORY, "out of memory");
  for (int32_t k = 0; k < t->n_columns; k++) names[k] = t->columns[k].name;
  qsort(names, (size_t)t->n_columns, sizeof *names, by_letters);
  bool ok = true;
  for (int32_t k = 0; ok && k < t->n_columns; k++) {
    if (!*names[k]) ok = fl_io_error(e, FL_E_SQL_TYPE, "a column has no name, and DuckDB's have");
    else if (k && strcasecmp(names[k - 1], names[k]) == 0)
      ok = fl_io_error(
          e, FL_E_SQL_TYPE,
          "the columns `%.100s` and `%.100s` are one name for DuckDB, which does not look at case",
          names[k - 1], names[k]);
  }
  if (!ok) fl_io_help(e, "give it another name: `rename(...)`");
  free(names);
  return ok;
}

static bool check_columns(const FlDuckTable *t, FlIoError *e) {
  for (int32_t k = 0; k < t->n_columns; k++) {
    const FlArray *a = t->columns[k].values;
    for (int64_t i = 0; a->dtype == FL_TEXT && i < a->dims[0]; i++)
      if (((const FlText *)a->data)[i].len > INT32_MAX)
        return fl_io_error(e, FL_E_SQL_TYPE, "a text of more than 2 GB cannot go to DuckDB");
    int64_t n = a->rank == 2 ? a->dims[0] * a->dims[1] : a->dims[0];
    for (int64_t i = 0; fl_dtype_is_decimal(a->dtype) && i < n; i++)
      if (!fl_decimal_fits(((const int64_t *)a->data)[i]))
        return fl_io_error(e, FL_E_SQL_TYPE, "a decimal in column `%.*s` has more than %d digits",
                           t->columns[k].name_len, t->columns[k].name, FL_DECIMAL_DIGITS);
    if (a->rank == 2 && (a->dims[1] < 1 || a->dims[1] > 100000))
      return fl_io_error(e, FL_E_SQL_TYPE,
                         "the column `%.*s` has arrays of %lld elements; DuckDB takes 1 to 100,000",
                         t->columns[k].name_len, t->columns[k].name, (long long)a->dims[1]);
  }
  if (t->n_columns > 0) return check_names(t, e);
  return fl_io_error(e, FL_E_SQL_TYPE, "the table `%.*s` has no columns, and DuckDB's have", t->name_len,
                     t->name);
}

bool fl_duck_show(FlDuck *d, FlDuckTable *table, FlIoError *e) {
  table->api = &d->api;
  if (!check_columns(table, e)) return false;
  char name[32];
  (void)snprintf(name, sizeof name, "flow_table_%d", table->number);
  FlDuckHandle f = d->api.create_table_function();
  d->api.table_function_set_name(f, name);
  d->api.table_function_set_extra_info(f, table, NULL);
  d->api.table_function_set_bind(f, on_bind);
  d->api.table_function_set_init(f, on_init);
  d->api.table_function_set_function(f, on_next);
  d->api.table_function_supports_projection_pushdown(f, true);
  bool ok = d->api.register_table_function(d->connection, f) == 0 || fl_duck_fail(e, "a table is refused");
  d->api.destroy_table_function(&f);
  FlBytes query = {0};
  fl_bytes_addz(&query, "CREATE VIEW ");
  fl_duck_quote(&query, table->name, (size_t)table->name_len, '"');
  fl_bytes_addf(&query, " AS SELECT * FROM %s()", name);
  fl_bytes_add(&query, "", 1);
  if (ok && query.failed) ok = fl_io_error(e, FL_E_MEMORY, "out of memory");
  ok = ok && fl_duck_run(d, query.at, NULL, e);
  fl_bytes_reset(&query);
  return ok;
}
