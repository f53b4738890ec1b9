/* duckdb_types.c: which types of DuckDB and of flow stand for each other; see duckdb.h. */
#include "io/duckdb.h"
#include "flow/dtypes.h"

#include <stdlib.h>
#include <string.h>

/* With more digits behind the point than a decimal has: a text of all of them. */
static FlDtype decimal_dtype(int scale) {
  if (scale > FL_DECIMAL_DIGITS) return FL_TEXT;
  return scale ? (FlDtype)(FL_DECIMAL0 + scale) : FL_I64;
}

static bool scalar_dtype(const FlDuckApi *api, FlDuckHandle type, FlDtype *out) {
  switch (api->get_type_id(type)) {
  case FL_DUCK_BOOLEAN: *out = FL_BOOL; return true;
  case FL_DUCK_TINYINT: *out = FL_I8; return true;
  case FL_DUCK_SMALLINT: *out = FL_I16; return true;
  case FL_DUCK_INTEGER: *out = FL_I32; return true;
  case FL_DUCK_BIGINT:
  case FL_DUCK_HUGEINT: *out = FL_I64; return true;
  case FL_DUCK_UTINYINT: *out = FL_U8; return true;
  case FL_DUCK_USMALLINT: *out = FL_U16; return true;
  case FL_DUCK_UINTEGER: *out = FL_U32; return true;
  case FL_DUCK_UBIGINT:
  case FL_DUCK_UHUGEINT: *out = FL_U64; return true;
  case FL_DUCK_FLOAT: *out = FL_F32; return true;
  case FL_DUCK_DOUBLE: *out = FL_F64; return true;
  case FL_DUCK_DECIMAL: *out = decimal_dtype(api->decimal_scale(type)); return true;
  case FL_DUCK_NULL:
  case FL_DUCK_ENUM:
  case FL_DUCK_VARCHAR: *out = FL_TEXT; return true;
  case FL_DUCK_DATE: *out = FL_DATE; return true;
  case FL_DUCK_TIMESTAMP:
  case FL_DUCK_TIMESTAMP_S:
  case FL_DUCK_TIMESTAMP_MS:
  case FL_DUCK_TIMESTAMP_NS:
  case FL_DUCK_TIMESTAMP_TZ: *out = FL_DATETIME; return true;
  case FL_DUCK_TIME:
  case FL_DUCK_INTERVAL: *out = FL_DURATION; return true;
  }
  return false;
}

bool fl_duck_dtype(const FlDuckApi *api, FlDuckHandle type, FlDtype *out, bool *arrays) {
  int id = api->get_type_id(type);
  *arrays = id == FL_DUCK_LIST || id == FL_DUCK_ARRAY;
  if (!*arrays) return scalar_dtype(api, type, out);
  FlDuckHandle child =
      id == FL_DUCK_LIST ? api->list_type_child_type(type) : api->array_type_child_type(type);
  bool known = scalar_dtype(api, child, out) && *out != FL_TEXT;
  api->destroy_logical_type(&child);
  return known;
}

const char *fl_duck_type_name(const FlDuckApi *api, FlDuckHandle type) {
  static const char *const names[] = {"of no type",
                                      "BOOLEAN",
                                      "TINYINT",
                                      "SMALLINT",
                                      "INTEGER",
                                      "BIGINT",
                                      "UTINYINT",
                                      "USMALLINT",
                                      "UINTEGER",
                                      "UBIGINT",
                                      "FLOAT",
                                      "DOUBLE",
                                      "TIMESTAMP",
                                      "DATE",
                                      "TIME",
                                      "INTERVAL",
                                      "HUGEINT",
                                      "VARCHAR",
                                      "BLOB",
                                      "DECIMAL",
                                      "TIMESTAMP_S",
                                      "TIMESTAMP_MS",
                                      "TIMESTAMP_NS",
                                      "ENUM",
                                      "LIST",
                                      "STRUCT",
                                      "MAP",
                                      "UUID",
                                      "UNION",
                                      "BIT",
                                      "TIME WITH TIME ZONE",
                                      "TIMESTAMP WITH TIME ZONE",
                                      "UHUGEINT",
                                      "ARRAY"};
  int id = api->get_type_id(type);
  if (id >= 0 && id < (int)(sizeof names / sizeof *names)) return names[id];
  return id == FL_DUCK_NULL ? "NULL" : "of a type that flow does not know";
}

FlDuckType fl_duck_type_of(FlDtype d) {
  switch (d) {
  case FL_BOOL: return FL_DUCK_BOOLEAN;
  case FL_I8: return FL_DUCK_TINYINT;
  case FL_I16: return FL_DUCK_SMALLINT;
  case FL_I32: return FL_DUCK_INTEGER;
  case FL_I64: return FL_DUCK_BIGINT;
  case FL_U8: return FL_DUCK_UTINYINT;
  case FL_U16: return FL_DUCK_USMALLINT;
  case FL_U32: return FL_DUCK_UINTEGER;
  case FL_U64: return FL_DUCK_UBIGINT;
  case FL_F32: return FL_DUCK_FLOAT;
  case FL_F64: return FL_DUCK_DOUBLE;
  case FL_DATE: return FL_DUCK_DATE;
  case FL_DATETIME: return FL_DUCK_TIMESTAMP;
  case FL_DURATION: return FL_DUCK_INTERVAL;
  case FL_ANY_DECIMAL: return FL_DUCK_DECIMAL;
  case FL_TEXT:
  case FL_FILE:
  case FL_LIST:
  case FL_CATEGORY:
  case FL_N_DTYPES: break;
  }
  return FL_DUCK_VARCHAR;
}

/* ---- columns of results ------------------------------------------------------------------------------- */

static bool no_type(const FlDuckApi *api, FlDuckHandle type, const char *name, FlIoError *e) {
  fl_io_error(e, FL_E_SQL_TYPE, "the column `%.100s` is %s, which no type of flow stands for", name,
              fl_duck_type_name(api, type));
  fl_io_help(e,
             "leave it out of the query, or of the row type that the script declares; or cast it in SQL: "
             "CAST(%.80s AS VARCHAR)",
             name);
  return false;
}

/* One block for all: the columns, then their names. */
static bool make_columns(FlDuck *d, FlDuckResult *result, FlIoSchema *out) {
  int32_t n = (int32_t)d->api.column_count(result);
  size_t bytes = ((size_t)n + 1) * sizeof *out->columns;
  for (int32_t k = 0; k < n; k++) bytes += strlen(d->api.column_name(result, (uint64_t)k)) + 1;
  *out = (FlIoSchema){.n_columns = n};
  out->own = calloc(1, bytes);
  if (!out->own) return false;
  out->columns = out->own;
  char *at = (char *)(out->columns + n + 1);
  for (int32_t k = 0; k < n; k++) {
    out->columns[k].name = strcpy(at, d->api.column_name(result, (uint64_t)k));
    at += strlen(at) + 1;
  }
  return true;
}

bool fl_duck_schema(FlDuck *d, FlDuckResult *result, bool json, FlIoSchema *out, FlIoError *e) {
  if (!make_columns(d, result, out)) return fl_io_error(e, FL_E_MEMORY, "out of memory");
  bool ok = true;
  for (int32_t k = 0; ok && k < out->n_columns; k++) {
    FlIoColumn *c = &out->columns[k];
    FlDuckHandle type = d->api.column_logical_type(result, (uint64_t)k);
    int id = d->api.get_type_id(type);
    bool nested = id == FL_DUCK_LIST || id == FL_DUCK_STRUCT || id == FL_DUCK_MAP || id == FL_DUCK_ARRAY;
    ok = fl_duck_dtype(&d->api, type, &c->dtype, &c->arrays);
    if (!ok && json && nested) {
      *c = (FlIoColumn){.name = c->name, .dtype = FL_TEXT};
      ok = true;
    }
    ok = ok || no_type(&d->api, type, c->name, e);
    c->nullable = !c->arrays;
    d->api.destroy_logical_type(&type);
  }
  if (!ok) fl_io_schema_reset(out);
  return ok;
}
