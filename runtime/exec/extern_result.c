/* extern_result.c: arrays that C functions write their results into: made before the call, settled after it.
 * What always holds: an array that leaves here as a value has one NaN and bools of 0 and 1, like all others.
 */
#include "data/data.h"
#include "exec/exec.h"
#include "kern/kern.h"

FlArray *fl_extern_result(FlCtx *ctx, int32_t site, int32_t dtype, int32_t rank, const int64_t *dims) {
  for (int32_t k = 0; k < rank; k++)
    if (dims[k] < 0) {
      fl_fail_text(ctx, site, FL_CODE(243), "the result of this C function would have a size of %lld",
                   (long long)dims[k]);
      return NULL;
    }
  return fl_array_zeros(ctx, dtype, rank, dims);
}

void fl_extern_settle(FlArray *a) {
  int64_t n = fl_array_count(a);
  if (a->dtype == FL_F64) {
    double *x = a->data;
    for (int64_t i = 0; i < n; i++) x[i] = fl_s_canon_f64(x[i]);
  } else if (a->dtype == FL_F32) {
    float *x = a->data;
    for (int64_t i = 0; i < n; i++) x[i] = fl_s_canon_f32(x[i]);
  } else if (a->dtype == FL_BOOL) {
    uint8_t *x = a->data;
    for (int64_t i = 0; i < n; i++) x[i] = x[i] != 0;
  }
}
