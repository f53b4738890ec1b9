/* show_scalar.c: scalars as error messages show them.
 *
 * In: a value and its type. Out: short printable text; long texts are cut, control characters replaced. */
#include "exec/exec.h"
#include "data/number.h"

#include <string.h>

static void show_text(char *out, FlText t) {
  enum { KEEP = 60 };
  size_t n = 0, len = t.ptr ? (size_t)t.len : 0;
  bool cut = len > KEEP;
  if (cut) {
    len = KEEP;
    while (len > 0 && ((unsigned char)t.ptr[len] & 0xC0) == 0x80) len--;
  }
  out[n++] = '"';
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)t.ptr[i];
    out[n++] = c < 0x20 || c == 0x7F ? ' ' : (char)c;
  }
  strcpy(out + n, cut ? "\"..." : "\"");
}

const char *fl_show_scalar(char out[FL_SHOWN], int32_t dtype, FlSlot v) {
  int n = 0;
  switch ((FlDtype)dtype) {
  case FL_BOOL: strcpy(out, v.i ? "true" : "false"); return out;
  case FL_I8:
  case FL_I16:
  case FL_I32:
  case FL_I64: n = fl_print_i64(out, v.i); break;
  case FL_U8:
  case FL_U16:
  case FL_U32:
  case FL_U64: n = fl_print_u64(out, v.u); break;
  case FL_F32: n = fl_print_f32(out, v.f32); break;
  case FL_F64: n = fl_print_f64(out, v.f); break;
  case FL_TEXT:
  case FL_FILE: show_text(out, v.t); return out;
  case FL_DATE: n = fl_print_date(out, (int32_t)v.i); break;
  case FL_DATETIME: n = fl_print_datetime(out, v.i); break;
  case FL_DURATION: n = fl_print_duration(out, v.i); break;
  case FL_LIST: strcpy(out, "a list"); return out;
  case FL_CATEGORY:
  case FL_N_DTYPES: break;
  }
  out[n] = '\0';
  return out;
}
