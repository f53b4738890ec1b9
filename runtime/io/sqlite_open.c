/* sqlite_open.c: a SQLite database that is read, and the query whose rows are wanted; see sqlite_internal.h.
 *
 * What always holds: what is read is the file alone: a journal or a log beside it that holds changes is an
 * error; the query reads tables and calls no function that does not say the same each time. */
#include "io/sqlite_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool fl_sqlite_api(FlSqliteApi *api, const char *what, FlIoError *e) {
  const FlOpenedSymbol symbols[] = {
#define FL_SYMBOL(name) {"sqlite3_" #name, &api->name},
#include "io/sqlite.def"
#undef FL_SYMBOL
  };
  return fl_io_open_library("libsqlite3.so.0", "libsqlite3-0", what, symbols,
                            sizeof symbols / sizeof *symbols, e);
}

/* ---- what a query may do ------------------------------------------------------------------------------ */

static bool is_changing(const char *function) {
  static const char *const names[] = {
      "random",   "randomblob",     "current_date", "current_time",  "current_timestamp",
      "date",     "time",           "datetime",     "julianday",     "unixepoch",
      "strftime", "load_extension", "changes",      "total_changes", "last_insert_rowid"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strcasecmp(function, names[k]) == 0) return true;
  return false;
}

/* An authorizer: SQLite asks it for each thing that a query does. */
static int allow(void *env, int what, const char *a, const char *b, const char *c, const char *d) {
  (void)env;
  (void)a;
  (void)c;
  (void)d;
  if (what == SQLITE_SELECT || what == SQLITE_READ || what == SQLITE_RECURSIVE) return SQLITE_OK;
  if (what == SQLITE_FUNCTION && b && !is_changing(b)) return SQLITE_OK;
  return SQLITE_DENY;
}

static bool failed(const FlSqliteQuery *q, FlIoError *e) {
  fl_io_error(e, FL_E_SQLITE, "`%s`: SQLite says: %.300s", q->path, q->api.errmsg(q->db));
  if (strstr(e->message, "not authorized"))
    fl_io_help(e, "a query reads tables of this file, and has no functions of time or chance");
  if (strstr(e->message, "not a database")) fl_io_help(e, "a SQLite database begins with `SQLite format 3`");
  size_t n = strlen(e->message);
  for (size_t good; (good = (size_t)fl_utf8_check(e->message, (int64_t)n)) < n;) e->message[good] = '?';
  return false;
}

/* ---- opening ------------------------------------------------------------------------------------------ */

/* Changes that are not in the file itself. */
static bool check_beside(const char *path, FlIoError *e) {
  static const char *const ends[] = {"-wal", "-journal"};
  for (int k = 0; k < 2; k++) {
    struct stat there;
    char *beside;
    if (asprintf(&beside, "%s%s", path, ends[k]) < 0)
      return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
    bool changes = stat(beside, &there) == 0 && there.st_size > 0;
    if (changes) {
      fl_io_error(e, FL_E_SQLITE,
                  "`%s` is being changed, or was not closed: `%s` holds what is not in it yet", path, beside);
      fl_io_help(e, "close the program that writes it, or open and close it once with sqlite3");
    }
    free(beside);
    if (changes) return false;
  }
  return true;
}

/* The path as a URI that says not to change, lock or wait. */
static void put_uri(FlBytes *b, const char *path) {
  fl_bytes_addz(b, path[0] == '/' ? "file://" : "file:");
  for (const char *c = path; *c; c++) {
    bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                 strchr("/._-~", *c);
    if (plain) fl_bytes_add(b, c, 1);
    else fl_bytes_addf(b, "%%%02x", (unsigned)(unsigned char)*c);
  }
  fl_bytes_addz(b, "?mode=ro&immutable=1");
  fl_bytes_fill(b, '\0', 1);
}

/* The header: the mark, size:u16be of a page at 16 (1: 65,536), pages:u32be at 28 (0: not said). */
static bool check_header(const char *path, const unsigned char head[32], ssize_t n, int64_t size,
                         FlIoError *e) {
  if (n == 0) return fl_io_error(e, FL_E_EMPTY, "`%s` is empty", path);
  if (n != 32 || memcmp(head, "SQLite format 3", 16) != 0)
    return fl_io_error(e, FL_E_SQLITE, "`%s` is no SQLite database", path);
  int64_t page = head[16] << 8 | head[17];
  int64_t pages = (int64_t)head[28] << 24 | (int64_t)head[29] << 16 | (int64_t)head[30] << 8 | head[31];
  if (page == 1) page = 65536;
  if (page < 512 || size % page != 0 || size < page * pages)
    return fl_io_error(e, FL_E_SQLITE, "`%s` is cut off or damaged", path);
  return true;
}

static bool open_file(FlSqliteQuery *q, FlIoError *e) {
  FlBytes uri = {0};
  unsigned char head[32];
  int fd = fl_input_ordinary(q->path, &q->found, e);
  if (fd < 0) return false;
  ssize_t n = pread(fd, head, sizeof head, 0);
  close(fd);
  if (!check_header(q->path, head, n, q->found.st_size, e)) return false;
  if (!check_beside(q->path, e)) return false;
  put_uri(&uri, q->path);
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  bool ok = !uri.failed && q->api.open_v2(uri.at, &q->db, flags, NULL) == SQLITE_OK;
  fl_bytes_reset(&uri);
  if (!q->db) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", q->path);
  q->api.db_config(q->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  q->api.db_config(q->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  ok = ok && q->api.exec(q->db, "PRAGMA cell_size_check = on", NULL, NULL, NULL) == SQLITE_OK;
  return (ok && q->api.set_authorizer(q->db, allow, NULL) == SQLITE_OK) || failed(q, e);
}

/* ---- the query ---------------------------------------------------------------------------------------- */

void fl_sqlite_quote(FlBytes *query, const char *name) {
  fl_bytes_add(query, "\"", 1);
  for (; *name; name++) fl_bytes_add(query, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
  fl_bytes_add(query, "\"", 1);
}

static bool prepare(FlSqliteQuery *q, const char *query, FlIoError *e) {
  const char *rest = NULL;
  if (q->api.prepare_v2(q->db, query, -1, &q->rows, &rest) != SQLITE_OK) return failed(q, e);
  while (rest && strchr(" \t\r\n;", *rest) && *rest) rest++;
  if (q->rows && !*rest && q->api.column_count(q->rows) > 0) return true;
  return fl_io_error(e, FL_E_SQLITE, "a query is one SELECT that gives columns");
}

/* The only table: its name is added to the query. */
static bool add_only_table(FlSqliteQuery *q, FlBytes *query, FlIoError *e) {
  FlBytes names = {0};
  int n = 0;
  if (!prepare(
          q,
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
          " ORDER BY name",
          e))
    return false;
  int got;
  for (; (got = fl_sqlite_step(q, e)) > 0; n++) {
    const char *name = (const char *)q->api.column_text(q->rows, 0);
    if (!n) fl_sqlite_quote(query, name ? name : "");
    fl_bytes_addf(&names, n ? ", %s" : "%s", name ? name : "");
  }
  q->api.finalize(q->rows);
  q->rows = NULL;
  bool ok = got == 0;
  if (ok && n != 1) {
    ok = fl_io_error(e, FL_E_SQLITE, n ? "`%s` has several tables: %.200s" : "`%s` has no table", q->path,
                     n ? names.at : "");
    if (n) fl_io_help(e, "say which: table = \"...\", or query = \"select ...\"");
  }
  fl_bytes_reset(&names);
  return ok;
}

bool fl_sqlite_open(const char *path, FlOptions options, FlSqliteQuery *q, FlIoError *e) {
  FlBytes query = {0};
  const char *given = fl_option_text(options, "query"), *table = fl_option_text(options, "table");
  *q = (FlSqliteQuery){.path = path};
  if (!fl_sqlite_api(&q->api, "reading SQLite databases", e) || !open_file(q, e)) return false;
  fl_bytes_addz(&query, given ? given : "SELECT * FROM ");
  bool ok = true;
  if (!given && table) fl_sqlite_quote(&query, table);
  else if (!given) ok = add_only_table(q, &query, e);
  fl_bytes_fill(&query, '\0', 1);
  ok = ok && (!query.failed || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path));
  ok = ok && prepare(q, query.at, e);
  fl_bytes_reset(&query);
  return ok;
}

int fl_sqlite_step(FlSqliteQuery *q, FlIoError *e) {
  int got = q->api.step(q->rows);
  if (got == SQLITE_ROW) return 1;
  return got == SQLITE_DONE ? 0 : (int)failed(q, e) - 1;
}

bool fl_sqlite_check(const FlSqliteQuery *q, FlIoError *e) {
  struct stat now;
  if (stat(q->path, &now) == 0 && fl_input_same(&q->found, &now)) return check_beside(q->path, e);
  return fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", q->path);
}

void fl_sqlite_close(FlSqliteQuery *q) {
  if (q->rows) q->api.finalize(q->rows);
  if (q->db) q->api.close(q->db);
  q->rows = NULL;
  q->db = NULL;
}
