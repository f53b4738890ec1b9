/* arrays.h: what operators on files of named arrays share; private to the room. */
#ifndef FL_ARRAYS_H
#define FL_ARRAYS_H

#include "io/io_internal.h"

/* Reads the arrays of these names (`names` as the operator has them) as values of these types: one array has
 * rank 1 and more, a single value rank 0. results are zero before; what was put there is freed by the caller,
 * also on failure. */
typedef bool FlArraysReader(FlCtx *ctx, const char *path, const char *const *names, int32_t n,
                            const FlType1 *types, FlSlot *results, FlIoError *e);
/* What an operator does that reads them: its file, desc->list for the names. */
FlStatus fl_read_arrays(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                        FlArraysReader *read);

/* Adds an array to what is known of a file; `why`: what is wrong with it, else NULL. false: out of memory. */
bool fl_io_arrays_add(FlIoArrays *a, const char *name, FlDtype dtype, int32_t rank, const int64_t *dims,
                      const char *why);

/* A new array with one element; the bytes of a text stay where they are. NULL: out of memory. */
FlArray *fl_array_of_scalar(FlCtx *ctx, FlDtype dtype, FlSlot v);

/* The array, whose reference is given away, as a result of this type: of rank 0 its only element. */
FlSlot fl_io_arrays_value(FlCtx *ctx, FlArray *a, FlType1 type);

/* Whether an array with such elements and rank is one of the wanted type, or widens to it; else e. */
bool fl_io_array_fits(const char *label, const char *name, FlDtype dtype, int32_t rank, FlType1 want,
                      FlIoError *e);
/* "there is no `x` in `label`", with the closest of the names. Returns false. */
bool fl_io_no_array(const char *label, const char *name, const char *const *names, int32_t n, FlIoError *e);

#endif
