/* duckdb_open.c: finding DuckDB's library, databases in memory, and queries; see duckdb.h.
 *
 * The library is the one that FLOW_DUCKDB names, else the loader's libduckdb.so. */
#include "io/duckdb.h"
#include "base/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the library -------------------------------------------------------------------------------------- */

static bool no_library(FlIoError *e, const char *named, const char *why) {
  if (named) fl_io_error(e, FL_E_NO_DUCKDB, "DuckDB's library `%s` cannot be used: %s", named, why);
  else fl_io_error(e, FL_E_NO_DUCKDB, "this needs DuckDB's library, libduckdb.so, which is not found");
  fl_io_help(
      e,
      "%s FLOW_DUCKDB to its path; it is the C library of duckdb.org/install, and also part of the npm "
      "package @duckdb/node-bindings-linux-x64",
      named ? "set" : "install it, or set");
  return false;
}

/* What FLOW_DUCKDB says; NULL: nothing. */
static const char *named_library(void) {
  const char *named = getenv("FLOW_DUCKDB");
  return named && *named ? named : NULL;
}

static void *open_library(char why[FL_LIBRARY_WHY]) {
  const char *named = named_library();
  return fl_library_open(named ? named : "duckdb", why);
}

void *fl_duck_symbol(const char *name) {
  char why[FL_LIBRARY_WHY];
  void *library = open_library(why);
  return library ? fl_library_symbol(library, name) : NULL;
}

static bool load_api(FlDuckApi *api, FlIoError *e) {
  char why[FL_LIBRARY_WHY] = "";
  const char *named = named_library();
  void *library = open_library(why);
  if (!library) return no_library(e, named, why);
  struct {
    const char *name;
    void *at;
  } symbols[] = {
#define FL_DUCKDB(result, name, parameters) {"duckdb_" #name, &api->name},
#include "io/duckdb.def"
#undef FL_DUCKDB
  };
  for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
    void *found = fl_library_symbol(library, symbols[k].name);
    if (!found) {
      (void)snprintf(why, sizeof why, "it has no function %s, so it is another library or another version",
                     symbols[k].name);
      return no_library(e, named ? named : "libduckdb.so", why);
    }
    memcpy(symbols[k].at, &found, sizeof found);
  }
  return true;
}

/* ---- errors ------------------------------------------------------------------------------------------- */

/* The first line is the message; of the rest, up to the place that DuckDB marks in the query, becomes help.
 */
bool fl_duck_fail(FlIoError *e, const char *message) {
  size_t n = message ? strcspn(message, "\n") : 0;
  fl_io_error(e, FL_E_SQL, "DuckDB says: %.*s", n > 400 ? 400 : (int)n, n ? message : "nothing");
  const char *rest = n ? message + n : "";
  while (*rest == '\n') rest++;
  const char *marked = strstr(rest, "LINE ");
  size_t most = marked ? (size_t)(marked - rest) : strlen(rest), at = 0;
  for (size_t k = 0; k < most && at + 2 < sizeof e->help && at < 300; k++) {
    if (rest[k] != '\n') e->help[at++] = rest[k];
    else if (at && e->help[at - 1] != ' ') e->help[at++] = ' ';
  }
  while (at && e->help[at - 1] == ' ') at--;
  e->help[at] = '\0';
  if (message && strstr(message, "file system operations are disabled"))
    fl_io_help(e, "a query sees no files but those that it is given: sql(\"select * from f\", f = "
                  "file(\"x.parquet\"))");
  for (size_t good; (good = (size_t)fl_utf8_check(e->help, (int64_t)at)) < at;) e->help[good] = '?';
  n = strlen(e->message);
  for (size_t good; (good = (size_t)fl_utf8_check(e->message, (int64_t)n)) < n;) e->message[good] = '?';
  return false;
}

/* ---- databases ---------------------------------------------------------------------------------------- */

static bool open_database(FlDuck *d, int threads, FlIoError *e) {
  char number[16], *why = NULL;
  FlDuckHandle config = NULL;
  (void)snprintf(number, sizeof number, "%d", threads < 1 ? 1 : threads);
  if (d->api.create_config(&config) != 0) return fl_duck_fail(e, "out of memory");
  bool ok = d->api.set_config(config, "threads", number) == 0 &&
            d->api.set_config(config, "preserve_insertion_order", "true") == 0 &&
            d->api.set_config(config, "autoinstall_known_extensions", "false") == 0 &&
            d->api.set_config(config, "temp_directory", "") == 0;
  ok = ok && d->api.open_ext(":memory:", &d->database, config, &why) == 0;
  d->api.destroy_config(&config);
  if (!ok) fl_duck_fail(e, why ? why : "this version does not know a setting that flow uses");
  if (why) d->api.free(why);
  return ok && (d->api.connect(d->database, &d->connection) == 0 || fl_duck_fail(e, "no connection"));
}

FlDuck *fl_duck_open(int threads, FlIoError *e) {
  FlDuck *d = calloc(1, sizeof *d);
  if (!d) {
    fl_io_error(e, FL_E_MEMORY, "out of memory");
    return NULL;
  }
  if (load_api(&d->api, e) && open_database(d, threads, e)) return d;
  fl_duck_close(d);
  return NULL;
}

void fl_duck_close(FlDuck *d) {
  if (!d) return;
  if (d->connection) d->api.disconnect(&d->connection);
  if (d->database) d->api.close(&d->database);
  free(d);
}

bool fl_duck_run(FlDuck *d, const char *query, FlDuckResult *out, FlIoError *e) {
  FlDuckHandle statement = NULL;
  FlDuckResult result = {0};
  bool ok = d->api.prepare(d->connection, query, &statement) == 0;
  if (!ok) fl_duck_fail(e, d->api.prepare_error(statement));
  if (ok && d->api.execute_prepared(statement, &result) != 0) {
    ok = fl_duck_fail(e, d->api.result_error(&result));
    d->api.destroy_result(&result);
  }
  d->api.destroy_prepare(&statement);
  if (ok && out) *out = result;
  else if (ok) d->api.destroy_result(&result);
  return ok;
}

bool fl_duck_seal(FlDuck *d, const char *const *paths, int n_paths, FlIoError *e) {
  FlBytes query = {0};
  fl_bytes_addz(&query, "SET allowed_paths = [");
  for (int k = 0; k < n_paths; k++) {
    if (k) fl_bytes_addz(&query, ", ");
    fl_duck_quote(&query, paths[k], strlen(paths[k]), '\'');
  }
  fl_bytes_add(&query, "]", 2);
  bool ok = query.failed ? fl_io_error(e, FL_E_MEMORY, "out of memory")
                         : n_paths == 0 || fl_duck_run(d, query.at, NULL, e);
  fl_bytes_reset(&query);
  return ok && fl_duck_run(d, "SET enable_external_access = false", NULL, e);
}

/* ---- texts of queries --------------------------------------------------------------------------------- */

void fl_duck_quote(FlBytes *query, const char *s, size_t n, char quote) {
  fl_bytes_add(query, &quote, 1);
  for (size_t k = 0; k < n; k++) {
    if (s[k] == quote) fl_bytes_add(query, &quote, 1);
    fl_bytes_add(query, s + k, 1);
  }
  fl_bytes_add(query, &quote, 1);
}

bool fl_duck_quote_path(FlBytes *query, const char *path, FlIoError *e) {
  if (strpbrk(path, "*?[")) {
    fl_io_error(e, FL_E_OPEN, "cannot read `%s`: DuckDB would take this path for a pattern", path);
    fl_io_help(e, "give the file a name without * ? [");
    return false;
  }
  fl_duck_quote(query, path, strlen(path), '\'');
  return true;
}
