/* dtypes.c: what is asked of element types by their rows of flow/dtypes.def. */
#include "data/data.h"
#include "data/number.h"

#include <string.h>

#define FL_DTYPE(NAME, text, ctype, size, kind)                                                              \
  _Static_assert(sizeof(ctype) == (size), "dtypes.def says another size for " text);
#include "flow/dtypes.def"
#undef FL_DTYPE

bool fl_dtype_named(const char *name, size_t len, FlDtype *out) {
  for (int k = 0; k < FL_N_DTYPES; k++) {
    if (strlen(fl_dtype_info[k].name) == len && memcmp(fl_dtype_info[k].name, name, len) == 0) {
      *out = (FlDtype)k;
      return true;
    }
  }
  return false;
}

bool fl_dtype_holds(int32_t dtype, __int128 v) {
  int bits = 8 * fl_dtype_info[dtype].bytes;
  FlKind kind = fl_dtype_info[dtype].kind;
  if (kind == FL_KIND_UNSIGNED || kind == FL_KIND_BOOL) return v >= 0 && v >> bits == 0;
  return v >> (bits - 1) == 0 || v >> (bits - 1) == -1;
}

int fl_print_scalar(char *buf, int32_t dtype, FlSlot v) {
  switch (fl_dtype_info[dtype].kind) {
  case FL_KIND_BOOL: return (int)(stpcpy(buf, v.i ? "true" : "false") - buf);
  case FL_KIND_SIGNED: return fl_print_i64(buf, v.i);
  case FL_KIND_UNSIGNED: return fl_print_u64(buf, v.u);
  case FL_KIND_FLOAT: return dtype == FL_F32 ? fl_print_f32(buf, v.f32) : fl_print_f64(buf, v.f);
  case FL_KIND_DECIMAL: return fl_print_decimal(buf, v.i, fl_decimal_scale(dtype));
  case FL_KIND_TIME:
    if (dtype == FL_DATE) return fl_print_date(buf, (int32_t)v.i);
    return dtype == FL_DATETIME ? fl_print_datetime(buf, v.i) : fl_print_duration(buf, v.i);
  case FL_KIND_TEXT:
  case FL_KIND_REF: break;
  }
  return 0;
}
