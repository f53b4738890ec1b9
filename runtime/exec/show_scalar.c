/* show_scalar.c: scalars as error messages show them.
 *
 * In: a value and its type. Out: short printable text; long texts are cut, control characters replaced. */
#include "exec/exec.h"
#include "data/data.h"
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
  if (fl_dtype_is_text(dtype)) show_text(out, v.t);
  else if (dtype == FL_LIST) strcpy(out, "a list");
  else out[fl_print_scalar(out, dtype, v)] = '\0';
  return out;
}
