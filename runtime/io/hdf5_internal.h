/* hdf5_internal.h: HDF5 files as named arrays, also for MAT files of version 7.3, which are HDF5.
 *
 * libhdf5 is only ever called in a child process (child.h), since it may crash on damaged files:
 * hdf5_library.c holds what runs there, hdf5.c the run's side, which asks what is there, makes memory for it,
 * and has it filled. */
#ifndef FL_HDF5_INTERNAL_H
#define FL_HDF5_INTERNAL_H

#include "io/arrays.h"

enum { FL_E_HDF5 = 966 };

/* The datasets of a file; matlab: variables, whose dimensions are in the file the other way round, and what
 * only MATLAB itself needs is left out. */
bool fl_hdf5_arrays(const char *path, bool matlab, FlIoArrays *out, FlIoError *e);
/* Reads arrays by their names, see FlArraysReader. */
bool fl_hdf5_read(FlCtx *ctx, const char *path, bool matlab, const char *const *names, int32_t n,
                  const FlType1 *types, FlSlot *results, FlIoError *e);

/* The elements of `from` (column-major, sizes dims) in row-major order; to is as large. bytes: of one. */
void fl_transpose_bytes(FlCtx *ctx, const char *from, char *to, int32_t rank, const int64_t *dims, int bytes);

/* ---- the two sides ------------------------------------------------------------------------------------ */

/* Opens libhdf5; false: e says that it is missing. Before anything below, in the run. */
bool fl_hdf5_library(FlIoError *e);

/* What is asked of the child. */
typedef struct FlHdf5Job {
  const char *path;
  bool matlab;
  int64_t most;             /* elements, or bytes of texts, that the file's size explains */
  const char *const *names; /* NULL: all that are there */
  int32_t n;
  struct FlHdf5Wanted *wanted; /* of fl_hdf5_fetch: n */
} FlHdf5Job;

/* An array that is to be filled. */
typedef struct FlHdf5Wanted {
  FlDtype has, dtype; /* as it was told; of the elements in memory */
  int32_t rank;
  int64_t dims[FL_MAX_RANK], count; /* as it was told */
  void *data; /* shared with the child: in the file's order, not yet checked; NULL: texts, which are said */
} FlHdf5Wanted;

/* What the child says: for each array this, its name, and why it cannot be read; then one whose dtype is
 * FL_HDF5_END, and an FlIoError, of code 0 when all is well. */
typedef struct FlHdf5Told {
  int32_t dtype, rank; /* dtype: FL_N_DTYPES when it cannot be read */
  int64_t dims[FL_MAX_RANK];
  int32_t name, why; /* bytes that follow */
} FlHdf5Told;
enum { FL_HDF5_END = -1 };

/* FlChildFns of an FlHdf5Job. Tells which arrays there are, all or those that are named. */
void fl_hdf5_tell(void *job, int to);
/* Fills the wanted arrays, in order; of texts it says for each element its length (i64) and its bytes, in the
 * file's order. Then the end as above. */
void fl_hdf5_fetch(void *job, int to);

#endif
