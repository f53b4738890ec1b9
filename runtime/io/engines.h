/* engines.h: the libraries of others that formats and operators open when a script needs them: are they here?
 */
#ifndef FL_IO_ENGINES_H
#define FL_IO_ENGINES_H

#include "io/io.h"

typedef struct FlIoEngine {
  const char *name, *gives; /* "HDF5", "read_hdf5, read_mat" */
  bool there;
  FlIoError why; /* where it is not: what is missing, and what to do */
} FlIoEngine;

enum { FL_IO_ENGINES = 3 };

/* Opens each, as the first of its operators would. */
void fl_io_engines(FlIoEngine out[FL_IO_ENGINES]);

#endif
