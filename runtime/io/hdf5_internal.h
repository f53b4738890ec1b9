/* hdf5_internal.h: HDF5 files as named arrays, also for MAT files of version 7.3, which are HDF5. */
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

#endif
