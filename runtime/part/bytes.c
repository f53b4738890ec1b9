/* bytes.c: the operator bytes_of: an array of numbers, or a text, as the bytes of which it is made, in the
 * order in which they lie (little-endian). */
#include "part/part_internal.h"

FlStatus fl_rt_bytes_of(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  bool text = desc->i != 0;
  const void *from = text ? (const void *)args[0].t.ptr : args[0].a->data;
  int64_t n = text ? args[0].t.len : fl_array_count(args[0].a) * fl_dtype_info[args[0].a->dtype].bytes;
  results[0].a = fl_array_new(ctx, FL_U8, 1, &n);
  if (results[0].a == NULL) return 1;
  if (n > 0) memcpy(results[0].a->data, from, (size_t)n);
  return 0;
}
