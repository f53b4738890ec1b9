/* library.h: C functions in shared libraries, by the names that scripts give them.
 *
 * A library is a path when it holds a '/'; a file name that the system looks for when it holds ".so"
 * ("libz.so.1"); else a short name: "m" is libm.so, or its version with the highest number (libm.so.6) where
 * the plain file is missing or no library. Opened libraries stay open: addresses are good for the life of the
 * process. Any thread. */
#ifndef FL_LIBRARY_H
#define FL_LIBRARY_H

#include "flow/abi.h"

/* Room for a message of the two functions below. */
enum { FL_LIBRARY_WHY = 512 };

/* Opens a library, or finds it open; NULL: `why` says what the system said. Runs the library's own
 * initialisers. */
void *fl_library_open(const char *library, char why[FL_LIBRARY_WHY]);
/* The address of a function in an open library; NULL: it has none of that name. */
void *fl_library_symbol(void *opened, const char *symbol);

/* XXH3-128 of a file's bytes; false: it cannot be read. */
bool fl_library_digest(const char *path, FlDigest *out);

#endif
