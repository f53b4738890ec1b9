/* many.c: see many.h. */
#include "io/many.h"
#include "data/data.h"

#include <string.h>

FlSources fl_sources_of(const FlOpDesc *desc, const FlSlot *slot) {
  if (desc->arg_types[0].rank == 0) return (FlSources){&slot->t, 1};
  return (FlSources){slot->a->data, slot->a->dims[0]};
}

FlArray *fl_many_concat(FlCtx *ctx, FlArray *const *parts, int64_t n, int32_t dtype) {
  if (n == 1) return fl_array_ref(parts[0]);
  int64_t dims[FL_MAX_RANK] = {0}, at = 0, size = fl_dtype_info[dtype].bytes;
  int32_t rank = n ? parts[0]->rank : 1;
  for (int64_t k = 0; k < n; k++) dims[0] += parts[k]->dims[0];
  for (int32_t d = 1; d < rank; d++) dims[d] = parts[0]->dims[d];
  FlArray *out = fl_array_new(ctx, dtype, rank, dims);
  if (!out) return NULL;
  for (int64_t k = 0; k < n; at += fl_array_count(parts[k++]))
    if (fl_array_count(parts[k]))
      memcpy((char *)out->data + at * size, parts[k]->data, (size_t)(fl_array_count(parts[k]) * size));
  if (n && fl_array_keep(ctx, out, NULL, parts, (int32_t)n) != 0) {
    fl_array_unref(out);
    return NULL;
  }
  return out;
}

FlArray *fl_many_index(FlCtx *ctx, const int64_t *rows, int64_t n) {
  int64_t all = 0;
  for (int64_t k = 0; k < n; k++) all += rows[k];
  FlArray *out = fl_array_new(ctx, FL_I64, 1, &all);
  int64_t *to = out ? out->data : NULL;
  for (int64_t k = 0; out && k < n; k++)
    for (int64_t i = 0; i < rows[k]; i++) *to++ = k;
  return out;
}
