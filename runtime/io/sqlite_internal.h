/* sqlite_internal.h: SQLite databases: opening them, the query that is read; shared by reader and writer. */
#ifndef FL_SQLITE_INTERNAL_H
#define FL_SQLITE_INTERNAL_H

#include "io/opened.h"
#include "io/tables.h"

#include <sqlite3.h>

enum { FL_E_SQLITE = 963 };

typedef struct FlSqliteApi {
#define FL_SYMBOL(name) __typeof__(&sqlite3_##name) name;
#include "io/sqlite.def"
#undef FL_SYMBOL
} FlSqliteApi;

/* Fills the table of functions. `what`: see fl_io_open_library. */
bool fl_sqlite_api(FlSqliteApi *api, const char *what, FlIoError *e);

/* A database that is read, and its query, not yet stepped. */
typedef struct FlSqliteQuery {
  FlSqliteApi api;
  sqlite3 *db;
  sqlite3_stmt *rows;
  const char *path;
  struct stat found;
} FlSqliteQuery;

/* options: `table` or `query`; with neither the only table. Nothing that a query can do
 * changes the file, reads another, or gives other rows tomorrow. To be closed in any case. */
bool fl_sqlite_open(const char *path, FlOptions options, FlSqliteQuery *q, FlIoError *e);
/* Goes to the next row: 1; 0: there is none; -1: e. */
int fl_sqlite_step(FlSqliteQuery *q, FlIoError *e);
/* false: the file is not what it was when it was opened. */
bool fl_sqlite_check(const FlSqliteQuery *q, FlIoError *e);
void fl_sqlite_close(FlSqliteQuery *q);

/* Adds a name to a query, in quotes. */
void fl_sqlite_quote(FlBytes *query, const char *name);

#endif
