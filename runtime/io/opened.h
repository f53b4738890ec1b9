/* opened.h: libraries of formats that are opened when one of their functions is needed. Private to the room.
 *
 * Nothing of them is linked: a program that does not read such files needs none, and one that does starts
 * without them too. The table of a library's functions is a .def file with a row FL_SYMBOL(name) each; their
 * types are those of the library's header, which is needed to build flow. */
#ifndef FL_OPENED_H
#define FL_OPENED_H

#include "io/io_internal.h"

enum { FL_E_NO_LIBRARY = 962 };

typedef struct FlOpenedSymbol {
  const char *name;
  void *at; /* where its address goes: a pointer to a pointer to a function or to data */
} FlOpenedSymbol;

/* Finds functions of the library `file` ("libpng16.so.16"), which Debian has in `package`; false: e says that
 * it is missing. `what`: what it is needed for, "reading PNG images". */
bool fl_io_open_library(const char *file, const char *package, const char *what,
                        const FlOpenedSymbol *symbols, size_t n, FlIoError *e);

#endif
