/* engines.c: see engines.h. In: nothing. Out: of each library of others whether its operators would find it.
 */
#include "io/engines.h"
#include "io/duckdb.h"
#include "io/hdf5_internal.h"
#include "io/sqlite_internal.h"

static bool has_duckdb(FlIoError *e) {
  FlDuck *d = fl_duck_open(1, e);
  if (d) fl_duck_close(d);
  return d != NULL;
}

static bool has_sqlite(FlIoError *e) {
  FlSqliteApi api;
  return fl_sqlite_api(&api, "reading SQLite databases", e);
}

void fl_io_engines(FlIoEngine out[FL_IO_ENGINES]) {
  static const struct {
    const char *name, *gives;
    bool (*has)(FlIoError *e);
  } all[FL_IO_ENGINES] = {{"DuckDB", "`sql`, and Parquet files that are written, or nested", has_duckdb},
                          {"HDF5", "HDF5 files, and those of MATLAB", fl_hdf5_library},
                          {"SQLite", "SQLite databases", has_sqlite}};
  for (int k = 0; k < FL_IO_ENGINES; k++) {
    out[k] = (FlIoEngine){.name = all[k].name, .gives = all[k].gives};
    out[k].there = all[k].has(&out[k].why);
  }
}
