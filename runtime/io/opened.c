/* opened.c: opening libraries of formats; see opened.h. */
#include "io/opened.h"
#include "base/library.h"

#include <string.h>

bool fl_io_open_library(const char *file, const char *package, const char *what,
                        const FlOpenedSymbol *symbols, size_t n, FlIoError *e) {
  char why[FL_LIBRARY_WHY];
  void *library = fl_library_open(file, why);
  if (!library) {
    fl_io_error(e, FL_E_NO_LIBRARY, "%s needs the library %s, which is not there", what, file);
    fl_io_help(e, "install the Debian package %s", package);
    return false;
  }
  for (size_t k = 0; k < n; k++) {
    void *found = fl_library_symbol(library, symbols[k].name);
    if (!found)
      return fl_io_error(e, FL_E_NO_LIBRARY, "%s needs another version of the library %s: it has no %s", what,
                         file, symbols[k].name);
    memcpy(symbols[k].at, &found, sizeof found);
  }
  return true;
}
