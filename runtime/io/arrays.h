/* arrays.h: what operators on files of named arrays share; private to the room. */
#ifndef FL_ARRAYS_H
#define FL_ARRAYS_H

#include "io/io_internal.h"

/* The arrays that are wanted, by name, as values of these types: an array has rank 1 and more, a single value
 * rank 0. Out: the values, and of what is nullable which are valid (bool). They are zero before, valid single
 * values 1; what was put there is freed by the caller, also on failure. A format without nulls leaves
 * `valid`. */
typedef struct FlArraysWanted {
  const char *const *names;
  const FlType1 *types;
  const bool *nullable;
  int32_t n;
  FlSlot *values, *valid;
} FlArraysWanted;
typedef bool FlArraysReader(FlCtx *ctx, const char *path, const FlArraysWanted *wanted, FlIoError *e);
/* What an operator does that reads them: its file, desc->list for the names, one a result; a name twice in a
 * row is an array that may have nulls: its values, and which are valid. */
FlStatus fl_read_arrays(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                        FlArraysReader *read);

/* Adds an array to what is known of a file; `why`: what is wrong with it, else NULL. false: out of memory. */
bool fl_io_arrays_add(FlIoArrays *a, const char *name, FlDtype dtype, int32_t rank, const int64_t *dims,
                      const char *why);
/* An array of that shape, all true. NULL: out of memory. */
FlArray *fl_io_all_valid(FlCtx *ctx, int32_t rank, const int64_t *dims);

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
