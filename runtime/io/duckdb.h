/* duckdb.h: DuckDB as an engine for tables and as a reader and writer of Parquet. Private to the room.
 *
 * Its library is opened when the first of its functions is needed: nothing else of flow depends on it. A
 * database lives in memory, for one operator: what flow passes in is shown to it where it lies, by functions
 * of ours that give tables (duckdb_scan.c); what it gives is copied into our columns (duckdb_take.c).
 *
 * What always holds: with one thread the same query gives the same rows in the same order; each result is
 * given back before its database is closed. One thread of ours uses a database at a time. */
#ifndef FL_DUCKDB_H
#define FL_DUCKDB_H

#include "io/io_internal.h"

enum { FL_E_NO_DUCKDB = 995, FL_E_SQL = 996, FL_E_SQL_TYPE = 997 };

/* ---- the library: duckdb_open.c ----------------------------------------------------------------------- */

typedef void *FlDuckHandle; /* each kind of object is a pointer that says nothing */
typedef int FlDuckState;    /* 0: it went well */
typedef struct FlDuckResult {
  uint64_t unused[3];
  void *more[3];
} FlDuckResult;
typedef struct FlDuckDate {
  int32_t days;
} FlDuckDate;
typedef struct FlDuckTime {
  int64_t micros;
} FlDuckTime;
typedef struct FlDuckInterval {
  int32_t months, days;
  int64_t micros;
} FlDuckInterval;
typedef struct FlDuckHuge {
  uint64_t lower;
  int64_t upper;
} FlDuckHuge;
typedef struct FlDuckDecimal {
  uint8_t digits, scale;
  FlDuckHuge units;
} FlDuckDecimal;
typedef struct FlDuckEntry { /* of a list: where its elements stand in the child */
  uint64_t offset, length;
} FlDuckEntry;
typedef union FlDuckText { /* up to 12 bytes stand inside */
  struct {
    uint32_t length;
    char bytes[12];
  } inside;
  struct {
    uint32_t length;
    char first[4];
    const char *ptr;
  } outside;
} FlDuckText;
enum { FL_DUCK_INSIDE = 12 };

/* Numbers of duckdb_type. */
typedef enum FlDuckType {
  FL_DUCK_BOOLEAN = 1,
  FL_DUCK_TINYINT = 2,
  FL_DUCK_SMALLINT = 3,
  FL_DUCK_INTEGER = 4,
  FL_DUCK_BIGINT = 5,
  FL_DUCK_UTINYINT = 6,
  FL_DUCK_USMALLINT = 7,
  FL_DUCK_UINTEGER = 8,
  FL_DUCK_UBIGINT = 9,
  FL_DUCK_FLOAT = 10,
  FL_DUCK_DOUBLE = 11,
  FL_DUCK_TIMESTAMP = 12,
  FL_DUCK_DATE = 13,
  FL_DUCK_TIME = 14,
  FL_DUCK_INTERVAL = 15,
  FL_DUCK_HUGEINT = 16,
  FL_DUCK_VARCHAR = 17,
  FL_DUCK_DECIMAL = 19,
  FL_DUCK_TIMESTAMP_S = 20,
  FL_DUCK_TIMESTAMP_MS = 21,
  FL_DUCK_TIMESTAMP_NS = 22,
  FL_DUCK_ENUM = 23,
  FL_DUCK_LIST = 24,
  FL_DUCK_STRUCT = 25,
  FL_DUCK_MAP = 26,
  FL_DUCK_TIMESTAMP_TZ = 31,
  FL_DUCK_UHUGEINT = 32,
  FL_DUCK_ARRAY = 33,
  FL_DUCK_NULL = 36
} FlDuckType;

typedef struct FlDuckApi {
#define FL_DUCKDB(result, name, parameters) result(*name) parameters;
#include "io/duckdb.def"
#undef FL_DUCKDB
} FlDuckApi;

typedef struct FlDuck {
  FlDuckApi api;
  FlDuckHandle database, connection;
} FlDuck;

/* A database in memory that uses this many threads, the caller's among them. It downloads nothing. NULL: e
 * says why, how to get the library where that is missing. */
FlDuck *fl_duck_open(int threads, FlIoError *e);
void fl_duck_close(FlDuck *d); /* NULL is allowed */
/* A function of the library, which is open; NULL: it has none of that name. */
void *fl_duck_symbol(const char *name);

/* Runs a query without parameters; the result, if `out` is not NULL, is the caller's (destroy_result). */
bool fl_duck_run(FlDuck *d, const char *query, FlDuckResult *out, FlIoError *e);
/* From now on this database opens no files but those at `paths`. */
bool fl_duck_seal(FlDuck *d, const char *const *paths, int n_paths, FlIoError *e);
/* Fills e from a message of DuckDB's. */
bool fl_duck_fail(FlIoError *e, const char *message);

/* Adds a text or a name to a query, in the quotes of SQL. */
void fl_duck_quote(FlBytes *query, const char *s, size_t n, char quote);
/* Adds a path for read_parquet; false: DuckDB would take it for a pattern. */
bool fl_duck_quote_path(FlBytes *query, const char *path, FlIoError *e);

/* ---- types: duckdb_types.c ---------------------------------------------------------------------------- */

/* The type of ours that a column of a result has: all of its values, or an error that names one. `arrays`: of
 * arrays of that in each row. false: none has it. */
bool fl_duck_dtype(const FlDuckApi *api, FlDuckHandle type, FlDtype *out, bool *arrays);
/* How a type is called in messages. */
const char *fl_duck_type_name(const FlDuckApi *api, FlDuckHandle type);
/* The type of DuckDB for values of ours. */
FlDuckType fl_duck_type_of(FlDtype d);
/* The columns of a result; every one may hold null. json: what is nested and no array is text. */
bool fl_duck_schema(FlDuck *d, FlDuckResult *result, bool json, FlIoSchema *out, FlIoError *e);

/* ---- tables of ours: duckdb_scan.c -------------------------------------------------------------------- */

/* Columns under a name that queries see, as a view. They must stay until the database is closed, and so must
 * this. */
typedef struct FlDuckTable {
  const FlDuckApi *api;
  const char *name;
  int32_t name_len;
  const FlTableColumn *columns;
  int32_t n_columns, number; /* number: its own among the tables of the database */
  int64_t n_rows;
} FlDuckTable;
bool fl_duck_show(FlDuck *d, FlDuckTable *table, FlIoError *e);

/* ---- results: duckdb_take.c --------------------------------------------------------------------------- */

/* The wanted columns of a result, by name. `label` is what messages call it. Integers and floats convert
 * where every value fits. On failure no array is owned. */
bool fl_duck_take(FlCtx *ctx, FlDuck *d, FlDuckResult *result, const char *label, FlTableWanted *wanted,
                  int32_t n_wanted, int64_t *n_rows, FlIoError *e);

#endif
