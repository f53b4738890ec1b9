/* arrays.c: files of named arrays: what their operators share; see arrays.h. */
#include "io/arrays.h"
#include "base/spell.h"
#include "data/data.h"
#include "data/value_type.h"
#include "exec/exec.h"
#include "io/npy.h"

#include <stdlib.h>
#include <string.h>

/* ---- types, for the compiler -------------------------------------------------------------------------- */

bool fl_io_arrays_add(FlIoArrays *a, const char *name, FlDtype dtype, int32_t rank, const int64_t *dims,
                      const char *why) {
  FlIoArray *grown = realloc(a->at, ((size_t)a->n + 1) * sizeof *grown);
  if (!grown) return false;
  a->at = grown;
  FlIoArray *one = &grown[a->n];
  *one = (FlIoArray){.name = strdup(name), .dtype = dtype, .rank = rank, .why = why ? strdup(why) : NULL};
  for (int32_t k = 0; k < rank; k++) one->dims[k] = dims[k];
  if (!one->name || (why && !one->why)) {
    free((char *)(uintptr_t)one->name);
    return false;
  }
  a->n++;
  return true;
}

void fl_io_arrays_reset(FlIoArrays *a) {
  for (int32_t k = 0; k < a->n; k++) {
    free((char *)(uintptr_t)a->at[k].name);
    free((char *)(uintptr_t)a->at[k].why);
  }
  free(a->at);
  *a = (FlIoArrays){0};
}

/* ---- single values ------------------------------------------------------------------------------------ */

FlArray *fl_array_of_scalar(FlCtx *ctx, FlDtype dtype, FlSlot v) {
  static const int64_t one = 1;
  FlArray *a = fl_array_new(ctx, (int32_t)dtype, 1, &one);
  if (a) memcpy(a->data, &v, (size_t)fl_dtype_info[dtype].bytes); /* little endian */
  return a;
}

FlSlot fl_io_arrays_value(FlCtx *ctx, FlArray *a, FlType1 type) {
  if (type.rank) return (FlSlot){.a = a};
  FlSlot v = fl_array_slot(a, 0);
  /* Its bytes go with the array. */
  if (type.dtype == FL_TEXT) v.t = fl_heap_text(fl_ctx_heap(ctx), v.t.ptr, v.t.len);
  fl_array_unref(a);
  return v;
}

/* ---- operators ---------------------------------------------------------------------------------------- */

bool fl_io_array_fits(const char *label, const char *name, FlDtype dtype, int32_t rank, FlType1 want,
                      FlIoError *e) {
  const char *has = fl_dtype_info[dtype].name, *wants = fl_dtype_info[want.dtype].name;
  if (rank != want.rank)
    return fl_io_error(e, FL_E_NPY_TYPE, "`%s` of `%s` has %d dimension%s, but %d %s wanted", name, label,
                       rank, rank == 1 ? "" : "s", want.rank, want.rank == 1 ? "is" : "are");
  if (fl_io_widens(dtype, (FlDtype)want.dtype)) return true;
  fl_io_error(e, FL_E_NPY_TYPE, "`%s` of `%s` holds %s, but %s is wanted", name, label, has, wants);
  fl_io_help(e, "read it as %s and convert: %s(x)", has, wants);
  return false;
}

bool fl_io_no_array(const char *label, const char *name, const char *const *names, int32_t n, FlIoError *e) {
  fl_io_error(e, FL_E_NO_ARRAY, "there is no array `%.100s` in `%s`", name, label);
  int near = n ? fl_spell_closest(name, strlen(name), names, n) : -1;
  if (near >= 0) fl_io_help(e, "did you mean `%.100s`?", names[near]);
  else if (n == 1) fl_io_help(e, "it holds `%.100s`", names[0]);
  else if (n > 1)
    fl_io_help(e, "it holds `%.80s`, `%.80s`%s", names[0], names[1], n > 2 ? " and others" : "");
  return false;
}

FlArray *fl_io_all_valid(FlCtx *ctx, int32_t rank, const int64_t *dims) {
  FlArray *a = fl_array_new(ctx, FL_BOOL, rank, dims);
  if (a) memset(a->data, 1, (size_t)fl_array_count(a));
  return a;
}

/* Whether result k says which values of the one before are valid. */
static bool is_valid_of(const FlOpDesc *desc, int32_t k) {
  return k > 0 && k < desc->n_list && strcmp(desc->list[k - 1], desc->list[k]) == 0;
}

/* What the operator wants; its arrays are in one block, to be freed. NULL: out of memory. */
static void *wanted_of(const FlOpDesc *desc, FlArraysWanted *w) {
  size_t n = (size_t)desc->n_results + 1;
  char *block = calloc(n, 2 * sizeof(FlSlot) + sizeof(char *) + sizeof(FlType1) + sizeof(bool));
  FlSlot *values = (FlSlot *)block, *valid = values + n;
  const char **names = (const char **)(valid + n);
  FlType1 *types = (FlType1 *)(names + n);
  bool *nullable = (bool *)(types + n);
  *w = (FlArraysWanted){names, types, nullable, 0, values, valid};
  for (int32_t k = 0; block && k < desc->n_results; k++) {
    if (is_valid_of(desc, k)) {
      nullable[w->n - 1] = true;
      if (!desc->result_types[k].rank) valid[w->n - 1].i = 1;
      continue;
    }
    names[w->n] = desc->list[k];
    types[w->n++] = desc->result_types[k];
  }
  return block;
}

/* The results, of arrays that have no nulls with `valid` as well. */
static bool give(FlCtx *ctx, const FlOpDesc *desc, const FlArraysWanted *w, FlSlot *results, FlIoError *e) {
  for (int32_t k = 0, at = 0; k < w->n; k++) {
    const FlArray *a = w->types[k].rank ? w->values[k].a : NULL;
    results[at++] = w->values[k];
    if (!w->nullable[k]) continue;
    if (a && !w->valid[k].a) w->valid[k].a = fl_io_all_valid(ctx, a->rank, a->dims);
    results[at++] = w->valid[k];
    if (a && !w->valid[k].a)
      return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", desc->list[0]);
  }
  return true;
}

FlStatus fl_read_arrays(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                        FlArraysReader *read) {
  FlIoError e = {0};
  FlArraysWanted w;
  FlText file = args[0].t;
  char *path = fl_input_path(file, &e);
  void *block = wanted_of(desc, &w);
  FlStatus status = path ? fl_ctx_claim_input(ctx, desc->site, file.ptr, file.len) : 0;
  if (path && !block) fl_io_error(&e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  bool ok = path && block && !status && read(ctx, path, &w, &e) && give(ctx, desc, &w, results, &e);
  for (int32_t k = 0; !ok && block && k < w.n; k++) {
    if (!w.types[k].rank) continue;
    fl_array_unref(w.values[k].a);
    fl_array_unref(w.valid[k].a);
  }
  if (!ok && !status) status = fl_io_fail(ctx, desc->site, &e, file.ptr, file.len);
  free(block);
  free(path);
  return status;
}
